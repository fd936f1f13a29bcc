"""Mixtures of von Mises-Fisher distributions: synthetic faces with exact population rates."""

from frkit.vmf.law import IdentityLaw
from frkit.vmf.mixture import Mixture
from frkit.vmf.random_mixture import mixture, subspace_mixture
from frkit.vmf.sampling import sample_encoders

__all__ = ["IdentityLaw", "Mixture", "mixture", "sample_encoders", "subspace_mixture"]
