"""Random mixtures: identities spread over the sphere, in groups, or in subspaces of the groups."""

from collections.abc import Mapping

import numpy as np

from frkit.base import (
    real_numbers,
    require,
    require_mapping,
    require_number,
    require_whole,
    seed_sequence,
)
from frkit.vmf.mixture import Mixture, group_sizes
from frkit.vmf.sampling import points_around, radial_parts


def mixture(
    n_identities: int = 1000,
    dim: int = 128,
    kappa: float | tuple[float, float] = (100, 800),
    seed: int = 0,
    groups: Mapping[str, Mapping] | None = None,
) -> Mixture:
    """A random mixture: mean directions uniform on the sphere, concentrations in an interval.

    Parameters
    ----------
    n_identities, dim : int
        K and p; the defaults of all arguments are the paper's (Conti & Clemencon 2024, B.1).
    kappa : (low, high) or float
        Range of the concentrations.
    groups : mapping of group name to options, optional
        Options are `share` (default: equal shares of the identities), `kappa` (default: as above)
        and `cohesion` (default 0): the concentration of the group's mean directions around one
        direction. Faces of a group with cohesion look more alike, so its FAR
        is higher; a lower kappa makes its FRR higher.

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
    options, shares = options_of_groups(groups, ("share", "kappa", "cohesion"))
    sizes = group_sizes(n_identities, shares)
    require_whole("dim", dim, 3)
    rng = np.random.default_rng(seed_sequence(seed))
    directions = []
    concentrations = []
    for group, size in zip(options.values(), sizes):
        cohesion = require_number("cohesion", group.get("cohesion", 0), 0)
        directions.append(_directions(size, dim, cohesion, rng))
        low, high = kappa_range(group.get("kappa", kappa))
        concentrations.append(rng.uniform(low, high, size))
    labels = None if groups is None else np.repeat(list(options), sizes)
    return Mixture(np.concatenate(directions), np.concatenate(concentrations), labels)


def _directions(size, dim, cohesion, rng):
    """Mean directions of one group: uniform, or concentrated around one direction."""
    points = rng.standard_normal((size, dim))
    if cohesion == 0:
        return points
    axis = _uniform_directions(rng, 1, dim)
    radial = rng.standard_normal(size)
    radial_row = radial_parts(np.array([cohesion]), dim)
    return points_around(axis, radial_row, np.zeros(size, int), radial, points)


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
    """A mixture whose groups distinguish people by common directions and by their own ones.

    The mean direction of an identity has the share `own_share` of its squared length in the
    subspace of its group, and the rest in a subspace that all groups use. Images scatter in all
    directions, so a subspace that a group does not use contains only noise for it: a layer that
    is tuned to one group damps the subspaces of the others.

    Parameters
    ----------
    groups : mapping of group name to options
        Options are `share` of the identities (default: equal shares) and `kappa`, a concentration
        or (low, high) (default: (40, 120)).
    n_identities : int
        At least two in each group.
    dim : int
        Dimension of the embeddings.
    common, own : int
        Dimensions of the common subspace and of each group's own; together at most `dim`.
    own_share : float
        In [0, 1].
    seed : int
        Seed of directions and concentrations.

    Returns
    -------
    Mixture
        With the attribute "group"; its group rates are exact, as for every mixture.

    Raises
    ------
    InputError
        For subspaces that do not fit into `dim`, an unknown option, a share outside [0, 1], or
        groups of fewer than two identities.

    References
    ----------
    A synthetic stand-in for the data of DeAlcala et al. (2023), section IV-A.

    Examples
    --------
    >>> from frkit.vmf import subspace_mixture
    >>> subspace_mixture({"a": {}, "b": {"kappa": 60}}, n_identities=20, dim=32, common=8, own=4)
    <vMF mixture: 20 identities, dim 32, kappa 45.03 to 117, group: a, b>
    """
    options, shares = options_of_groups(groups, ("share", "kappa"))
    for name, size in {"dim": dim, "common": common, "own": own}.items():
        require_whole(name, size, 1)
    require(
        common + own * len(options) <= dim,
        f"{common} common and {len(options)} x {own} own dimensions are more than dim={dim}",
    )
    own_share = require_number("own_share", own_share, 0, 1)
    labels = np.repeat(list(options), group_sizes(n_identities, shares))
    rng = np.random.default_rng(seed_sequence(seed))
    directions = np.zeros((n_identities, dim))
    concentrations = np.empty(n_identities)
    common_directions = _uniform_directions(rng, n_identities, common)
    directions[:, :common] = np.sqrt(1 - own_share) * common_directions
    start = common
    for name, group in options.items():
        rows = labels == name
        size = rows.sum()
        end = start + own
        own_directions = _uniform_directions(rng, size, own)
        directions[rows, start:end] = np.sqrt(own_share) * own_directions
        low, high = kappa_range(group.get("kappa", (40, 120)))
        concentrations[rows] = rng.uniform(low, high, size)
        start = end
    return Mixture(directions, concentrations, labels)


def _uniform_directions(rng, n, dim):
    points = rng.standard_normal((n, dim))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def kappa_range(kappa):
    """Return (low, high), from a range of concentrations or from one number for both."""
    ends = real_numbers("kappa", kappa)
    low, high = np.broadcast_to(ends, 2).tolist() if ends.shape in ((), (1,), (2,)) else (0, 0)
    require(
        0 < low <= high < np.inf,
        f"kappa must be a number or (low, high) with 0 < low <= high, got {kappa}",
    )
    return low, high


def options_of_groups(groups, allowed):
    """Return options by group name, and shares (groups,); None is one group, named ""."""
    if groups is not None:
        require_mapping("groups", groups, '{"a": {"share": 2}, "b": {}}')
    options_of = {"": {}} if groups is None else dict(groups)
    for name, options in options_of.items():
        require_mapping(f"groups[{name!r}]", options, '{"share": 2}', 0)
        unknown = set(options).difference(allowed)
        message = f"unknown options {unknown}; use {', '.join(allowed)}"
        require(not unknown, f"group {name!r}: {message}")
    shares = real_numbers("share", [options.get("share", 1) for options in options_of.values()])
    positive = np.all(shares > 0)
    require(positive, f"shares must be positive, got {shares.tolist()}")
    return options_of, shares
