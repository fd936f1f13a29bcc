"""N-Sigma: how far groups lie apart, in standard deviations of a reference group's error."""

from frkit.nsigma.sensitivity import by_subset_size, by_subsets, floor, p_value
from frkit.nsigma.statistics import RISK_LEVELS, n_sigma, parity, summarise, with_risk
from frkit.nsigma.subsets import subset_rates

__all__ = [
    "RISK_LEVELS",
    "by_subset_size",
    "by_subsets",
    "floor",
    "n_sigma",
    "p_value",
    "parity",
    "subset_rates",
    "summarise",
    "with_risk",
]
