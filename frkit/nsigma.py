"""N-Sigma: how far groups lie apart, in standard deviations of a reference group's error."""

from frkit.papers.nsigma.floor import floor
from frkit.papers.nsigma.statistics import p_value, parity, summarise

__all__ = ["floor", "p_value", "parity", "summarise"]
