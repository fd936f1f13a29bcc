# The explorers and where they live.

from .app import own_data as own_data
from .guess import predict as predict
from .steppers import intervals as intervals
from .steppers import resample as resample
from .steppers import threshold as threshold
from .study import study as study

__all__: list[str]
