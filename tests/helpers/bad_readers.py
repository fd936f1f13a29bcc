"""Readers that do to their process what libraries do over some damaged files."""

import os
import time


def crash(paths, **_options):
    os.abort()


def never_end(paths, **_options):
    time.sleep(600)


def fail(paths, **_options):
    raise ZeroDivisionError("nothing to divide by")
