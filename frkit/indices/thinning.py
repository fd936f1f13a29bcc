"""Part of a group's people, or scores: what imbalance does to the indices."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from frkit.base import IDENTITY, PAIR, PROBE, REFERENCE, require
from frkit.evaluation.evaluate import checked_scores
from frkit.scores.groups import labels_of_sides


def thinned(scores: xr.DataArray | xr.Dataset, *, by: str | list[str], keep: Mapping[str, float], seed: int = 0):
    """Keep a share of some groups' people at random, so that groups become unequal.

    Parameters
    ----------
    scores : symmetric score tensor or pair table. Of a pair table without people, scores are kept.
    by : attribute(s) of the groups.
    keep : mapping of group to the share of its people that stay, in (0, 1].
    seed : the order in which people leave: a smaller share is a part of a larger one.

    Returns
    -------
    xr.DataArray : part of the scores, as lazy as they were.

    Raises
    ------
    InputError : a share outside (0, 1], an unknown group or attribute.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.canonical_scores("fair", sizes=[500, 500])
    >>> fk.indices.thinned(scores, by="group", keep={"group 1": 0.1}).sizes["pair"]
    1100
    """
    scores = checked_scores(scores)
    dim = PAIR if PAIR in scores.dims else PROBE
    group, _ = labels_of_sides(scores, by)
    owner = f"{PROBE}_{IDENTITY}"
    unit = scores[owner].values.astype(str) if owner in scores.coords else np.arange(scores.sizes[dim])
    stays = np.ones(len(group), bool)
    rng = np.random.default_rng(seed)
    for name, share in sorted(keep.items()):
        require(0 < share <= 1, f"keep must hold shares in (0, 1], got {share!r} for {name!r}")
        own = np.flatnonzero(group == name)
        require(len(own) > 0, f"no group is called {name!r}; there are {', '.join(np.unique(group))}")
        people = rng.permutation(np.unique(unit[own]))
        stays[own] = np.isin(unit[own], people[: max(1, round(share * len(people)))])
    at = np.flatnonzero(stays)
    return scores.isel({PAIR: at} if dim == PAIR else {PROBE: at, REFERENCE: at})
