"""What an embedding tells about a protected attribute, without a look at scores."""

from frkit.representation.bias import representation_bias
from frkit.representation.convergence import convergence
from frkit.representation.training import Critic
from frkit.representation.truth import shifted_classes

__all__ = ["Critic", "convergence", "representation_bias", "shifted_classes"]
