"""For all tests: no window is opened, and a slow machine fails no property test."""

import os

os.environ["MPLBACKEND"] = "agg"

from hypothesis import settings

settings.register_profile("frkit", deadline=None)
settings.load_profile("frkit")
