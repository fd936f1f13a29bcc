"""Mixtures made at random: identities spread over the sphere, in groups, or in subspaces of the groups."""

from collections.abc import Mapping

import numpy as np

from frkit.base import affordable, real_numbers, require, require_whole
from frkit.vmf import sampling
from frkit.vmf.densities import RadialInverse
from frkit.vmf.mixture import Mixture, group_sizes


def mixture(
    n_identities: int = 1000,
    dim: int = 128,
    kappa: float | tuple[float, float] = (100, 800),
    seed: int = 0,
    groups: Mapping[str, Mapping] | None = None,
) -> Mixture:
    """A random mixture: mean directions uniform on the sphere, concentrations uniform on an interval.

    Parameters
    ----------
    n_identities, dim : int
        K and p; the defaults of all arguments are the paper's (Conti & Clemencon 2024, B.1).
    kappa : (low, high) or float
        Range of the concentrations.
    groups : mapping of group name to options, optional
        Options are `share` (default: equal shares of the identities), `kappa` (default: as above) and
        `cohesion` (default 0): the concentration of the group's mean directions around a direction of the
        group's own. Faces of a group with cohesion look more alike, so its FAR is higher; a lower kappa makes
        its FRR higher.

    Returns
    -------
    Mixture
        With the attribute "group" when groups are given.

    Raises
    ------
    InputError
        For an unknown option, a group with fewer than two identities, or an impossible range.

    Examples
    --------
    >>> mixture(100, dim=32, groups={"a": {"share": 3}, "b": {"share": 1, "cohesion": 20}})
    <vMF mixture: 100 identities, dim 32, kappa 106.8 to 799.7, group: a, b>
    """
    options_of, shares = checked_groups(groups, ("share", "kappa", "cohesion"))
    numbers = (("n_identities", n_identities, 1), ("dim", dim, 1), ("seed", seed, 0))
    n_identities, dim, seed = (require_whole(*one) for one in numbers)
    affordable(
        16 * n_identities * dim,
        f"directions of {n_identities:,} identities in {dim:,} dimensions: take fewer",
    )
    sizes = group_sizes(n_identities, shares)
    rng = np.random.default_rng(seed)
    directions, concentrations = [], []
    for options, size in zip(options_of.values(), sizes):
        directions.append(_directions(size, dim, options.get("cohesion", 0), rng))
        concentrations.append(rng.uniform(*interval(options.get("kappa", kappa)), size))
    labels = None if groups is None else np.repeat(list(options_of), sizes)
    return Mixture(np.concatenate(directions), np.concatenate(concentrations), labels)


def _directions(size: int, dim: int, cohesion: float, rng) -> np.ndarray:
    """Mean directions of one group: uniform, or concentrated around one direction."""
    require(cohesion >= 0, f"cohesion must be 0 or more, got {cohesion}")
    points = rng.standard_normal((size, dim))
    if cohesion == 0:
        return points
    axis, radial = _unit(rng, 1, dim), rng.standard_normal(size)
    inverse = RadialInverse(np.array([float(cohesion)]), dim)
    return sampling.place(axis, inverse, np.zeros(size, int), radial, points)


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
    >>> from frkit.vmf import subspace_mixture
    >>> subspace_mixture({"a": {}, "b": {"kappa": 60}}, n_identities=20, dim=32, common=8, own=4)
    <vMF mixture: 20 identities, dim 32, kappa 45.03 to 117, group: a, b>
    """
    used = common + own * len(groups)
    require(
        min(common, own) >= 1,
        f"subspaces need a dimension of at least 1, got common={common}, own={own}",
    )
    require(
        used <= dim,
        f"{common} common and {len(groups)} x {own} own dimensions make {used}, more than dim={dim}",
    )
    require(0 <= own_share <= 1, f"own_share must lie in [0, 1], got {own_share}")
    groups, shares = checked_groups(groups, ("share", "kappa"))
    sizes = group_sizes(n_identities, shares)
    rng = np.random.default_rng(seed)
    directions = np.zeros((n_identities, dim))
    directions[:, :common] = np.sqrt(1 - own_share) * _unit(rng, n_identities, common)
    concentrations, members = [], np.split(np.arange(n_identities), np.cumsum(sizes))
    for place, (options, rows) in enumerate(zip(groups.values(), members)):
        columns = common + place * own + np.arange(own)
        directions[np.ix_(rows, columns)] = np.sqrt(own_share) * _unit(rng, len(rows), own)
        concentrations.append(rng.uniform(*interval(options.get("kappa", (40, 120))), len(rows)))
    return Mixture(directions, np.concatenate(concentrations), np.repeat(list(groups), sizes))


def _unit(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Directions uniform on the sphere."""
    points = rng.standard_normal((n, dim))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def checked_groups(
    groups: Mapping | None, known: tuple[str, ...]
) -> tuple[dict[str, dict], np.ndarray]:
    """Options by group name, and shares; one group "" for None. Raises InputError for what cannot be."""
    items = (
        {"": {}}.items()
        if groups is None
        else groups.items()
        if isinstance(groups, Mapping)
        else ()
    )
    named = items and all(
        isinstance(name, str | int) and isinstance(own, Mapping) for name, own in items
    )
    require(
        named,
        f"groups must map names of groups to options, {{'a': {{'kappa': 9}}, 'b': {{}}}}; got {groups!r}",
    )
    groups = {str(name): dict(options) for name, options in items}
    for name, options in groups.items():
        unknown = sorted(set(options) - set(known))
        require(not unknown, f"group {name!r}: unknown options {unknown}; use {', '.join(known)}")
    shares = np.array([options.get("share", 1) for options in groups.values()], np.float64)
    require(bool(np.all(shares > 0)), f"shares must be positive, got {shares.tolist()}")
    return groups, shares


def interval(kappa) -> tuple[float, float]:
    """(low, high) from a range of concentrations or from one number for both; raises InputError."""
    given = real_numbers("kappa", kappa).astype(float)
    low, high = np.broadcast_to(given, 2) if given.shape in ((), (1,), (2,)) else (np.nan, np.nan)
    require(
        0 < low <= high < np.inf,
        f"kappa must be a number or (low, high) with 0 < low <= high < inf, got {kappa}",
    )
    return low, high
