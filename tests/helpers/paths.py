"""Where the project lies, and data that is not part of it."""

import os
from pathlib import Path

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").exists())
# tests that need it are skipped where it is absent; CONTRIBUTING names its files
REAL_DATA = Path(os.environ.get("FRKIT_REAL_DATA", ROOT.parent / "shared" / "data"))
