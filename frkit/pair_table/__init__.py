"""Scored pair lists: from arrays, and from the files that the field keeps them in."""

from frkit.pair_table.making import pairs
from frkit.pair_table.opening import open_pairs

__all__ = ["open_pairs", "pairs"]
