"""Which person each image resembles most, beside its own: where labels may be wrong."""

import numpy as np
import xarray as xr

from frkit.base import UNKNOWN, InputError, require
from frkit.scores.groups import checked_scores, turned


def nearest_people(scores: xr.DataArray) -> xr.Dataset:
    """Compare each image with its own person, and with the other person whom it resembles most.

    An image with a wrong label resembles the person whom it shows more than its own: it comes
    first in the result. If one person has two labels, each label is the nearest of the other.

    Parameters
    ----------
    scores : xr.DataArray
        A tensor or matrix of scores from `score_tensor`, `score_matrix` or `open_scores`, without
        a model dimension (select one with .sel). One row of its blocks is in memory at a time.

    Returns
    -------
    xr.Dataset
        (image,): `identity`, `other_identity` (the nearest other person), `own_score` and
        `other_score` (means over the pairs with images of these two, without the image itself;
        distances where the scores were read with distance=True), and `difference`, by how much
        the image resembles its own person more. The smallest difference comes first. Scores are
        NaN, and the nearest person is "unknown", where no comparison is left: where the image is
        its person's only one, or all its comparisons failed.

    Raises
    ------
    InputError
        For lists of pairs, kept pairs, several models, or fewer than two people.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=30, seed=0).sample(4, seed=1)
    >>> names = faces.identity.values.copy()
    >>> names[0] = "id0007"  # a wrong label
    >>> nearest = fk.nearest_people(fk.score_tensor(faces.assign_coords(identity=("image", names))))
    >>> first = nearest.isel(image=0)
    >>> first.image.item(), first.identity.item(), first.other_identity.item()
    ('0', 'id0007', 'id0000')
    """
    checked = checked_scores(scores)
    if isinstance(checked, xr.DataTree):
        raise InputError("every image must be compared with every other: give a tensor or a matrix")
    scores = checked
    require(
        "model" not in scores.dims, "scores contain several models: select one with .sel(model=...)"
    )
    people, person = np.unique(scores["reference_identity"].values, return_inverse=True)
    require(len(people) > 1, "the references show one person only")
    images, place = np.unique(
        [*scores["probe"].values, *scores["reference"].values], return_inverse=True
    )
    n_probes = scores.sizes["probe"]
    identity = scores["probe_identity"].values
    blocks = []
    start = 0
    for n_rows in scores.chunksizes["probe"]:
        rows = slice(start, start + n_rows)
        block = scores.isel(probe=rows).values.astype(float)
        block[place[rows, None] == place[n_probes:]] = np.nan  # an image and itself
        blocks.append(_nearest(block, person, identity[rows, None] == people))
        start += n_rows
    own_score, other_score, nearest = map(np.concatenate, zip(*blocks))
    other_identity = np.where(np.isnan(other_score), UNKNOWN, people[nearest].astype(str))
    sign = -1.0 if turned(scores) else 1.0
    columns = {
        "identity": identity,
        "other_identity": other_identity,
        "own_score": 0.0 + sign * own_score,
        "other_score": 0.0 + sign * other_score,
        "difference": own_score - other_score,
    }
    variables = {name: ("image", values) for name, values in columns.items()}
    return xr.Dataset(variables, {"image": scores["probe"].values}).sortby("difference")


def _nearest(score, person, is_own):
    """Mean scores with the own person and with the nearest other one, and who that is.

    score : (probe, reference), NaN where there is none; person : of each reference; is_own :
    (probe, person).
    """
    by_person = np.argsort(person, kind="stable")
    first = np.searchsorted(person[by_person], np.arange(is_own.shape[1]))
    score = score[:, by_person]
    finite = np.isfinite(score)
    n_scores = np.add.reduceat(finite, first, axis=1, dtype=float)
    total = np.add.reduceat(np.where(finite, score, 0.0), first, axis=1)
    mean = np.divide(total, n_scores, out=np.full(total.shape, -np.inf), where=n_scores > 0)
    own_score = np.where(is_own, mean, -np.inf).max(1)
    score_with_others = np.where(is_own, -np.inf, mean)
    other_score = score_with_others.max(1)
    return (
        np.where(np.isfinite(own_score), own_score, np.nan),
        np.where(np.isfinite(other_score), other_score, np.nan),
        score_with_others.argmax(1),
    )
