"""Which other person each image resembles most: where labels may be wrong."""

import numpy as np
import xarray as xr
from scipy import sparse

from frkit.base import UNKNOWN, InputError, require
from frkit.scores.groups import checked_scores, turned


def nearest_people(scores: xr.DataArray) -> xr.Dataset:
    """Compare each image with its own person, and with the other person that it resembles most.

    An image with a wrong label resembles the person in it more than the person of its label. Such
    images come first in the result. If one person has two labels, each label is the nearest of the
    other.

    Parameters
    ----------
    scores : xr.DataArray
        A tensor or matrix of scores from `score_tensor`, `score_matrix` or `open_data`, without
        a model dimension (select one with .sel). One row of its blocks is in memory at a time.

    Returns
    -------
    xr.Dataset
        (image,): `identity`, `other_identity` (the nearest other person), `own_score` and
        `other_score` (means over the pairs with images of these two, without the image itself;
        distances where the scores were read as distances), and `difference`, by how much
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
        raise InputError(
            "every image must be compared with every other, but lists and kept pairs leave out "
            "impostor pairs: give a tensor or a matrix"
        )
    scores = checked
    require(
        "model" not in scores.dims, "scores contain several models: select one with .sel(model=...)"
    )
    people, person = np.unique(scores["reference_identity"].values, return_inverse=True)
    require(len(people) > 1, "the references show one person only")
    same_person = sparse.csr_array((np.ones(len(person)), (np.arange(len(person)), person)))
    identity = scores["probe_identity"].values
    names = np.append(scores["probe"].values, scores["reference"].values)
    image = np.unique(names, return_inverse=True)[1]
    blocks = []
    start = 0
    for n_rows in scores.chunksizes["probe"]:
        rows = slice(start, start + n_rows)
        score = scores.isel(probe=rows).values.astype(float)
        score[image[rows, None] == image[len(identity) :]] = np.nan  # an image and itself
        blocks.append(_nearest(score, same_person, identity[rows, None] == people))
        start += n_rows
    own_score, other_score, nearest = map(np.concatenate, zip(*blocks))
    sign = -1.0 if turned(scores) else 1.0
    columns = {
        "identity": identity,
        "other_identity": np.where(np.isnan(other_score), UNKNOWN, people[nearest].astype(str)),
        "own_score": 0.0 + sign * own_score,
        "other_score": 0.0 + sign * other_score,
        "difference": own_score - other_score,
    }
    variables = {name: ("image", values) for name, values in columns.items()}
    coords = {"image": scores["probe"].values}
    return xr.Dataset(variables, coords, {"kind": "nearest_people"}).sortby("difference")


def _nearest(score, same_person, is_own):
    """Mean scores with the own person and with the nearest other one, and who that is.

    score : (probe, reference), NaN where there is none. same_person : (reference, person), 1 where
    a reference shows a person. is_own : (probe, person).
    """
    is_scored = np.isfinite(score)
    n_scores = is_scored.astype(float) @ same_person
    mean = np.full(is_own.shape, np.nan)
    np.divide(np.where(is_scored, score, 0.0) @ same_person, n_scores, mean, where=n_scores > 0)
    own_score = np.fmax.reduce(np.where(is_own, mean, np.nan), axis=1)
    others_mean = np.where(is_own, np.nan, mean)
    nearest = np.where(np.isnan(others_mean), -np.inf, others_mean).argmax(1)
    return own_score, np.fmax.reduce(others_mean, axis=1), nearest
