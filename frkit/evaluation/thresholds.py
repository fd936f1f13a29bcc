"""A threshold that keeps to a FAR level in every group (Conti & Clémençon 2024, Remark 2).

The threshold at a level of the whole population (D.1) is `walk_levels` in `frkit.engine.levels_and_eer`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import FAR_LEVEL, GROUP, IDENTITY, PAIR, PERSON, PROBE, REFERENCE, UNKNOWN, listed, require, warn
from frkit.evaluation.evaluate import evaluate
from frkit.scores.groups import People, checked_scores, is_symmetric, people, shares, turned

OWN = "frkit_own"


def threshold_for_all_groups(
    scores: xr.DataArray,
    far: ArrayLike,
    *,
    by: str | list[str],
    weighting: ArrayLike | Mapping[str, float] | None = None,
    varying: str = "error",
) -> xr.Dataset:
    """Find the smallest threshold at which the FAR of every group keeps to a level.

    It is the largest of the groups' own thresholds FAR_a^{-1}(α), each the smallest observed impostor score of the
    group at which FAR_a <= α. Give the result to `evaluate(scores, threshold=..., by=...)`.

    Parameters
    ----------
    scores : xr.DataArray
        From `score_tensor`, `score_matrix` or `open_scores`; each group's own block is swept once.
    far : sequence of float
        FAR levels α in (0, 1).
    by : str or list of str
        Attribute(s) whose groups must keep to the level; a list crosses them.
    weighting, varying
        As in `evaluate`.

    Returns
    -------
    xr.Dataset
        `threshold` over (model,) far_level, and `threshold_group` also over group: NaN for a group of one
        identity, or of whom nobody stands on one of the sides, which has no FAR and so no say.

    Raises
    ------
    InputError
        As `evaluate`, where no group has two identities, and for a list of pairs.

    Warns
    -----
    DataWarning
        For groups without a FAR, by name; for levels below the weight of one of a group's pairs.

    References
    ----------
    Conti & Clémençon (2024), Remark 2; Conti et al. (2022).

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, seed=0, groups={"a": {}, "b": {"cohesion": 9}})
    >>> scores = fk.score_tensor(mix.sample(4, seed=1))
    >>> found = fk.threshold_for_all_groups(scores, [0.1], by="group")
    >>> ev = fk.evaluate(scores, threshold=found.threshold, by="group")
    >>> bool((ev["empirical"].far_group <= 0.1).all())
    True
    """
    scores = checked_scores(scores)
    require(
        PAIR not in scores.dims,
        "a list of pairs has no threshold for all groups yet: evaluate each group's pairs with "
        "fk.evaluate(pairs.isel(pair=...), far=...), and take the largest threshold",
    )
    who = people(scores, by, varying)
    require(len(who.groups) > 0, "a threshold for all groups needs groups: name an attribute with by=")
    if not (weighting is None or isinstance(weighting, str)):
        names = np.unique(who.identity)
        weighting = dict(zip(names.tolist(), shares(weighting, names).tolist(), strict=True))
    scores = who.relabel(scores)
    found = [_of_group(scores, who, name, far, weighting) for name in who.groups]
    lost = [name for name, value in zip(who.groups, found, strict=True) if value is None]
    if lost:
        warn(f"no FAR for {listed(lost)}: it takes two people in the group who are compared; it has no say")
    held = [value for value in found if value is not None]
    require(held, f"no group of {by!r} has two people, so none has a FAR")
    levels = [xr.full_like(held[0], np.nan) if value is None else value for value in found]
    groups = xr.concat(levels, xr.Variable(GROUP, who.groups)).transpose(..., FAR_LEVEL, GROUP)
    strictest = groups.min(GROUP) if turned(scores) else groups.max(GROUP)
    return xr.Dataset({"threshold": strictest, "threshold_group": groups})


def _of_group(scores: xr.DataArray, who: People, name: str, far, weighting) -> xr.DataArray | None:
    """Thresholds of one group, or None where it has no impostor pair.

    The group's own block suffices; where it holds no genuine pair, which `evaluate` needs, the whole tensor is
    taken with everybody else in no group.
    """
    own = {side: who.group[images] == name for side, images in ((PROBE, who.probe), (REFERENCE, who.reference))}
    inside = [scores[f"{side}_{IDENTITY}"].values[own[side]] for side in own]
    persons = np.unique(np.concatenate([scores[f"{side}_{PERSON}"].values[own[side]] for side in own]))
    if len(persons) < 2 or not all(map(len, inside)):
        return None
    if is_symmetric(scores):
        genuine = len(np.unique(inside[0])) < len(inside[0])
    else:
        genuine = len(np.intersect1d(*inside)) > 0
    label = {f"{side}_{OWN}": (side, np.where(own[side], name, UNKNOWN)) for side in own}
    scores = scores.assign_coords(label)
    if genuine:
        scores = scores.isel({side: np.flatnonzero(own[side]) for side in own})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no FRR for")
        found = evaluate(scores, far=far, by=OWN, impostors="same-group", weighting=weighting)
    return found["empirical"].threshold.drop_attrs()
