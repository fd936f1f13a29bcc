"""Mixtures whose groups use different parts of the embedding: what fine-tuning to one group can help or hurt."""

from collections.abc import Mapping

import numpy as np

from frkit.base import require
from frkit.vmf.mixture import Mixture, group_sizes, interval


def subspace_mixture(
    groups: Mapping[str, Mapping],
    *,
    n_identities: int = 400,
    dim: int = 64,
    common: int = 16,
    own: int = 8,
    own_share: float = 0.5,
    seed: int = 0,
) -> Mixture:
    """A mixture in which every group tells its people apart by common directions and by some of its own.

    The mean direction of an identity has the share `own_share` of its squared length in the subspace of its group,
    the rest in a subspace that all groups use. Images scatter in all directions, so a subspace that a group does
    not use holds nothing but noise for it: a layer that is tuned to one group damps the subspaces of the others.

    Parameters
    ----------
    groups : group name to options: `share` of the identities (default: equal shares) and `kappa`, a
        concentration or (low, high) (default: (40, 120)).
    n_identities : number of identities, at least two in each group.
    dim : dimension of the embeddings.
    common, own : dimensions of the common subspace and of each group's own; together at most `dim`.
    own_share : in [0, 1].
    seed : seed of directions and concentrations.

    Returns
    -------
    Mixture with the attribute "group"; its group rates are exact, as for every mixture.

    Raises
    ------
    InputError : subspaces that do not fit into `dim`, an unknown option, a share outside [0, 1], tiny groups.

    References
    ----------
    A synthetic stand-in for the data of DeAlcala et al. (2023), section IV-A.

    Examples
    --------
    >>> subspace_mixture({"a": {}, "b": {"kappa": 60}}, n_identities=20, dim=32, common=8, own=4)
    <vMF mixture: 20 identities, dim 32, kappa 45.03 to 117, group: a, b>
    """
    used = common + own * len(groups)
    require(min(common, own) >= 1, f"subspaces need a dimension of at least 1, got common={common}, own={own}")
    require(used <= dim, f"{common} common and {len(groups)} x {own} own dimensions make {used}, more than dim={dim}")
    require(0 <= own_share <= 1, f"own_share must lie in [0, 1], got {own_share}")
    for name, options in groups.items():
        unknown = set(options) - {"share", "kappa"}
        require(not unknown, f"group {name!r}: unknown options {sorted(unknown)}; use share, kappa")
    sizes = group_sizes(n_identities, [options.get("share", 1) for options in groups.values()])
    rng = np.random.default_rng(seed)
    directions = np.zeros((n_identities, dim))
    directions[:, :common] = np.sqrt(1 - own_share) * _unit(rng, n_identities, common)
    concentrations, last = [], np.cumsum(sizes)
    for place, (options, size) in enumerate(zip(groups.values(), sizes, strict=True)):
        columns = slice(common + place * own, common + (place + 1) * own)
        directions[last[place] - size : last[place], columns] = np.sqrt(own_share) * _unit(rng, size, own)
        concentrations.append(rng.uniform(*interval(options.get("kappa", (40, 120))), size))
    return Mixture(directions, np.concatenate(concentrations), np.repeat([str(name) for name in groups], sizes))


def _unit(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Directions uniform on the sphere."""
    points = rng.standard_normal((n, dim))
    return points / np.linalg.norm(points, axis=1, keepdims=True)
