"""Fairness indices of whole score distributions (SFI, CFI, DFI): what `fairness_indices` reads."""

from frkit.papers.indices.distributions import distributions

__all__ = ["distributions"]
