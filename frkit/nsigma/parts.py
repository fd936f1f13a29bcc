"""The scores of each group apart: what N-Sigma evaluates, one group after the other."""

import dask.array as da
import numpy as np
import xarray as xr

from frkit.base import IDENTITY, MODEL, PAIR, PROBE, REFERENCE, UNKNOWN, InputError, listed, require
from frkit.evaluation.evaluate import checked_scores
from frkit.scores.groups import check_attributes, labels_of_sides, people

WITHOUT_NAN = ("cosine", "euclidean")  # similarities that embeddings always have


def parts(scores, by, varying: str) -> dict[str, xr.DataArray]:
    """The scores within each group, by the group's label; pairs across groups and of unknown people are left out."""
    scores = checked_scores(scores)
    require(by is not None, "N-Sigma compares groups: name an attribute with by=")
    check_attributes(scores, by)
    require_no_nan(scores)
    found = _of_pairs(scores, by) if PAIR in scores.dims else _of_tensor(scores, by, varying)
    require(len(found) >= 2, f"N-Sigma compares groups, but {by!r} has only one: {listed(found)}")
    return found


def people_of(part: xr.DataArray) -> int:
    """Number of people with an image in one group's scores."""
    return len(np.unique(np.concatenate([part[f"{side}_{IDENTITY}"].values for side in (PROBE, REFERENCE)])))


def named(error: InputError, group: str) -> InputError:
    """The same error with the group in front."""
    return InputError(f"group {group!r}: {error}")


def require_no_nan(scores: xr.DataArray) -> None:
    """Refuse scores that are missing: a group with more failed comparisons would only look better."""
    if scores.attrs.get("similarity") in WITHOUT_NAN:
        return
    lost = int(da.isnan(da.asarray(scores.data)).sum())
    require(
        lost == 0,
        f"{lost} of {scores.size} scores are NaN (failed comparisons): every subset needs all of its pairs; leave out "
        "the images that failed, or give their comparisons a score (the lowest one counts as a rejection)",
    )


def _of_tensor(scores: xr.DataArray, by, varying: str) -> dict[str, xr.DataArray]:
    one = scores.isel({MODEL: 0}) if MODEL in scores.dims else scores
    who = people(one, by, varying)
    places = {
        group: {
            PROBE: np.flatnonzero(who.group[who.probe] == group),
            REFERENCE: np.flatnonzero(who.group[who.reference] == group),
        }
        for group in who.groups
    }
    for group, sides in places.items():
        for side, images in sides.items():
            require(len(images) > 0, f"group {group!r} has no {side} image: it makes no pairs")
    return {str(group): scores.isel(sides) for group, sides in places.items()}


def _of_pairs(scores: xr.DataArray, by) -> dict[str, xr.DataArray]:
    require(
        f"{PROBE}_{IDENTITY}" in scores.coords,
        "these pairs carry no identities, and subsets are drawn of people: give probe_identity= and "
        "reference_identity= to frkit.pairs",
    )
    probe, reference = labels_of_sides(scores, by)
    groups = [group for group in np.unique(probe) if group != UNKNOWN]
    return {
        str(group): scores.isel({PAIR: np.flatnonzero((probe == group) & (reference == group))}) for group in groups
    }
