"""A mixture that several files of tests use."""

import pytest

from frkit import vmf


@pytest.fixture(scope="package")
def small():
    """120 identities in dimension 32 with two unlike groups."""
    groups = {"a": {}, "b": {"kappa": (30, 90), "cohesion": 8}}
    return vmf.mixture(120, 32, kappa=(40, 200), groups=groups, seed=3)
