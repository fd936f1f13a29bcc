"""Small data that are thinned as large data are."""

import pytest

from frkit.evaluation import sweep as public
from frkit.scores import blocks, selection


@pytest.fixture
def few_are_kept(monkeypatch):
    """A sweep that thins small data as the real one thins large data."""
    monkeypatch.setattr(selection, "PRECISE", 4_000)
    for module in (blocks, public):
        monkeypatch.setattr(module, "PRECISE", 4_000)
        monkeypatch.setattr(module, "PRECISE_IN_GROUP", 1_000)
    monkeypatch.setattr(public, "WHOLE", 10_000)
