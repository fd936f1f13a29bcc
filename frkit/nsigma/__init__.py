"""N-Sigma: how far groups lie apart, in standard deviations of a reference group's error over subsets."""

from frkit.nsigma.baseline import floor
from frkit.nsigma.dependence import by_subset_size, by_subsets, p_value
from frkit.nsigma.intervals import eer_intervals
from frkit.nsigma.published import published
from frkit.nsigma.rates import subset_rates
from frkit.nsigma.risk import RISK_LEVELS, with_risk
from frkit.nsigma.statistics import n_sigma, parity, summarise

__all__ = [
    "RISK_LEVELS",
    "by_subset_size",
    "by_subsets",
    "eer_intervals",
    "floor",
    "n_sigma",
    "p_value",
    "parity",
    "published",
    "subset_rates",
    "summarise",
    "with_risk",
]
