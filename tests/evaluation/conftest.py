"""Small data that are thinned as large data are."""

import pytest

from frkit.engine import selection, sweep
from frkit.evaluation import sweep as public


@pytest.fixture
def few_are_kept(monkeypatch):
    """A sweep that thins small data as the real one thins large data."""
    monkeypatch.setattr(selection, "PRECISE", 4_000)
    for module in (sweep, public):
        monkeypatch.setattr(module, "PRECISE", 4_000)
        monkeypatch.setattr(module, "PRECISE_IN_GROUP", 1_000)
    monkeypatch.setattr(public, "WHOLE", 10_000)
