"""Where the project lies, and data that is not part of it."""

from pathlib import Path

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").exists())
SHARED = ROOT.parent / "shared" / "data"  # tests that need it are skipped where it is absent
