"""N-Sigma: how far groups lie apart, in standard deviations of a reference group's error."""

from frkit.nsigma.sensitivity import floor
from frkit.nsigma.statistics import RISK_LEVELS, n_sigma, p_value, parity, summarise, with_risk
from frkit.nsigma.subsets import subset_rates

__all__ = [
    "RISK_LEVELS",
    "floor",
    "n_sigma",
    "p_value",
    "parity",
    "subset_rates",
    "summarise",
    "with_risk",
]
