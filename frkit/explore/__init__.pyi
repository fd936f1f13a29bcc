# The explorers and where they live.

from .app import own_data as own_data
from .group_explorers import fairness as fairness
from .group_explorers import fairness_indices as fairness_indices
from .group_explorers import n_sigma as n_sigma
from .guess import predict as predict
from .rates import roc as roc
from .rates import threshold as threshold
from .steppers import intervals as intervals
from .steppers import resample as resample
from .studies import bootstrap_bias as bootstrap_bias
from .studies import consistency as consistency
from .studies import coverage as coverage
from .studies import representation_bias as representation_bias

__all__: list[str]
