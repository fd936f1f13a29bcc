"""Score tensors from matrices of scores that exist already, and who is on their two sides."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    InputError,
    real_numbers,
    require,
    require_flag,
    require_mapping,
    require_one_of,
)
from frkit.data.alignment import require_one_order
from frkit.data.checks import FEWEST_SHARED, WINDOW, equals_transpose, is_lazy, refuse_half
from frkit.data.labels import labels_of_images
from frkit.data.sides import SIDES, WHO, Sides
from frkit.io.joins import CLEAR, ask_who, share_above
from frkit.io.labels_table import occur_again
from frkit.io.notices import warn_of_spellings, warn_of_strangers
from frkit.io.pair_list import (
    FAILED,
    ask_about_marks,
    below,
    failed_as_nan,
    number_marks,
    warn_of_failed,
)
from frkit.io.pair_roles import role_of_score
from frkit.io.roles import Roles
from frkit.scores.kept import REJECTED
from frkit.scores.tensor import block_side, labelled_tensor

ATTRIBUTES = '{"gender": (labels_of_probes, labels_of_references)}'  # for messages
FEWEST_ROWS = 20  # that show what a matrix contains
SHOWN_SCORES = 200_000  # of whole rows that show who is who, and the direction
LIKE_ITSELF = 0.9  # share of other genuine scores above which those of an image with itself are
DOUBTFUL = 2.0  # standard errors below one half from which on a direction by name is asked about
SAME_IMAGES = (
    "the same people are on the rows and the columns of this square matrix. Are row i and column i "
    "one image, so that the diagonal compares images with themselves and is left out? Or are they "
    "two images of one person, a genuine pair? Where the matrix is symmetric, they are one image. "
    "One set of images is in one order on both sides: bring it into one, or give names of images"
)
IMAGES_OR_PEOPLE = (
    "names of rows and columns, such as {!r}, occur once on each side: they may be names of images "
    "or of people, where a row and a column of one name are two images of that person, and not the "
    "same; nothing says whom an image shows"
)
EQUAL_NAMES = (
    "a row and a column of one name, such as {!r}, score above other pairs of one person in only "
    "{:.2f} of cases, and an image is most like itself. Are they one image, whose scores with "
    "itself are left out, or two, as of two cameras?"
)
OF_IMAGES = (
    "the matrix is symmetric, so a row and a column of one name are one image, and no two images "
    "of one person"
)
OTHER_NAMES = (
    "the matrix, or the square at its beginning, is symmetric, so row i and column i are one "
    "image, compared with itself; but their names or people differ, or same_images=False says that "
    "they are two, or there are more rows or columns\n"
    "  give them one name on both sides, as in frame.set_axis(frame.index, axis=1), or say "
    "same_images=True\n"
    "  matrices of several models, one below the other, are opened one by one: "
    "fk.open_data({'a': frame[:n], 'b': frame[n:]}, kind='matrix'), with n = len(frame.columns)"
)
NOBODY_SHARED = (
    "no name is on a row and on a column, so nothing says which pairs are genuine\n"
    "  where rows are images and columns are people, say whom the rows show, in their order: "
    "fk.score_matrix(frame.to_numpy(), people_of_rows, frame.columns)\n"
    "  where both are the same images in one order: fk.open_data(frame.set_axis(frame.index, "
    "axis=1), kind='matrix')\n"
    "  (with frame = pd.read_csv(path, index_col=0), of a file without names of columns "
    "pd.read_csv(path, index_col=0, header=None))"
)
DISTANCES = (
    "scores of one person are not clearly higher than those of strangers: are these distances?"
)


def score_matrix(
    values: ArrayLike,
    probe_identity: ArrayLike | None = None,
    reference_identity: ArrayLike | None = None,
    *,
    probe: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    same_images: bool | None = None,
    missing: ArrayLike | None = None,
    distance: bool = False,
    failed: str = "left out",
    attributes: Mapping[str, tuple] | None = None,
) -> xr.DataArray:
    """Make a score tensor of scores that exist already; some comparisons may have failed.

    Parameters
    ----------
    values : array, (probe, reference)
        NumPy array, memory map or dask array; not copied, not loaded whole where it is lazy. Or a
        DataFrame or DataArray, whose labels name the images if they are distinct. One whose labels
        are people, or name images by a pattern, is opened by `open_data`.
    probe_identity, reference_identity : sequences of str
        Who is in each row and each column; they are equal for a genuine pair.
    probe, reference : sequences of str, optional
        Image names, of both sides or of none. A row and a column of the same name are the same
        image: that comparison is the diagonal, not a genuine pair (see `same_images`).
    same_images : bool, optional
        Whether row i and column i are one image, or a row and a column of one name. Needed where
        the same people are on both sides and images have no names, or where an image is hardly
        like the one of its name on the other side.
    missing : float or sequence of float, optional
        The value(s) that mark a failed comparison; [] for none. Where a score such as -1 stands
        apart from all others, frkit asks.
    distance : bool, default False
        True where smaller means more alike: the sign is changed.
    failed : {"left out", "rejected"}
        What a failed comparison counts as: it is left out of every rate, or it is rejected at
        every threshold (its score becomes one just below all others, for which all are read once).
    attributes : mapping of name to (probe labels, reference labels), optional
        Missing ones (None, NaN, blank) become "unknown".

    Returns
    -------
    xr.DataArray
        `score` over (probe, reference), lazy, NaN where missing. Attribute `symmetric` is 1 where
        both sides are the same images in the same order with scores that do not depend on which of
        them is the probe: each pair then counts once. Of an array on disk, or of dask, three
        windows of 500 images are read to see that.

    Raises
    ------
    InputError
        Where lengths differ, an identity is missing (or "unknown"), images of one side alone have
        names, or names repeat within a side, or values or marks are not real numbers; infinite
        scores are refused when they are computed. Where only one half of the matrix has scores.
        Where it is not clear which rows and columns are one image.

    Warns
    -----
    DataWarning
        How many genuine and impostor comparisons failed (of an array in memory: one on disk, or of
        dask, is not read for that).

    Examples
    --------
    >>> import frkit as fk
    >>> people = ["ann", "bob"]
    >>> fk.score_matrix([[9.0, 1.0], [0.0, 7.0]], people, people, same_images=False).shape
    (2, 2)
    """
    require_one_of("failed", failed, FAILED)
    require_flag("distance", distance)
    require_flag("same_images", bool(same_images) if same_images is None else same_images)
    labels = {"identity": (probe_identity, reference_identity), "image": (probe, reference)}
    attributes = {} if attributes is None else attributes
    require_mapping("attributes", attributes, ATTRIBUTES, 0)
    for name, both in attributes.items():
        is_pair = isinstance(both, (tuple, list)) and len(both) == 2
        require(is_pair, f"attributes[{name!r}] must be labels of both sides, as in {ATTRIBUTES}")
    labels |= attributes
    _check_both_sides(labels)
    scores, names = _checked(values), _names_of_matrix(values)
    if probe is None and all(rows is not None and rows.is_unique for rows in names):
        labels["image"] = [np.asarray(rows, str) for rows in names]
    probes, references = _both_sides(scores, labels, names, same_images)
    is_in_memory = isinstance(scores, np.ndarray)
    is_part = is_in_memory and {*probes.index} != {*references.index}
    refuse_half(scores, probes.index, references.index, equal_cells=is_part)
    n_both = min(scores.shape)
    square = scores[:n_both, :n_both] if is_in_memory else scores
    is_symmetric = _is_symmetric(square, missing)
    require(references is probes or not is_symmetric or n_both < FEWEST_ROWS, OTHER_NAMES)
    ask_about_marks(_scores_with_ends(scores, missing), missing, distance)
    if is_in_memory:
        of_images = labels["image"][0] is not None and same_images is None and not is_symmetric
        _check_pairs(scores, probes, references, of_images, missing, distance)
    attrs = {
        "similarity": "given",
        "symmetric": int(references is probes and is_symmetric),
        "distance": int(distance),
        "long_name": "similarity score",
    }
    lazy = _in_blocks(scores, missing, distance)
    if is_in_memory:
        _warn_of_failed(lazy, probes, references, attrs["symmetric"], failed)
    if failed == "rejected":
        lazy, attrs[REJECTED] = _with_failed_rejected(lazy)
    of_probes, of_references = (
        {name: column.to_numpy(str) for name, column in table.reset_index(names="image").items()}
        for table in (probes, references)
    )
    return labelled_tensor(lazy, of_probes, of_references, attrs)


def _in_blocks(scores, missing, distance):
    """Return scores as lazy blocks, larger = more alike, NaN where missing."""
    import dask.array as da

    side = block_side(max(scores.shape))
    lazy = scores if is_lazy(scores) else da.from_array(scores, chunks=side)
    return da.map_blocks(failed_as_nan, lazy, missing, distance, dtype=float).rechunk(side)


def _with_failed_rejected(lazy):
    """Return scores in which failed comparisons are just below all others, and that score."""
    import dask.array as da

    lowest = float(below(*da.compute(da.nanmin(lazy), da.nanmax(lazy))))
    return da.where(da.isnan(lazy), lowest, lazy), lowest


def _both_sides(scores, labels, names, same_images):
    """Return the labels of probes and of references by names of images; one table where equal."""
    probes, references = (
        _labels_of_side(labels, number, rows, n)
        for number, (rows, n) in enumerate(zip(names, scores.shape))
    )
    warn_of_spellings({name: [probes[name], references[name]] for name in probes})
    require(probes["identity"].isin(references["identity"]).any(), NOBODY_SHARED)
    has_names = labels["image"][0] is not None
    if has_names and same_images is False:
        for side, table in zip(SIDES, (probes, references)):
            table.index = f"{side}/" + table.index
    are_one = _are_one_set(probes, references, has_names, same_images)
    return probes, probes if are_one else references


def _checked(values):
    """Return scores as an array of real numbers, which may be lazy."""
    require(
        not type(values).__module__.startswith("scipy.sparse"),
        "values is a sparse matrix, whose zeros may be scores or comparisons that were not made; "
        "give an array with NaN in place of the latter",
    )
    if isinstance(values, xr.DataArray):
        values = values.data
    if isinstance(values, np.ma.MaskedArray) or not hasattr(values, "dtype"):
        values = real_numbers("values", values)
    shape = tuple(values.shape)
    require(len(shape) == 2, f"values: a score matrix has two dimensions, got shape {shape}")
    require(values.dtype.kind in "fiub", f"values must be real numbers, got {values.dtype}")
    return values


def _check_both_sides(labels):
    """Refuse identities, or names of images, of one side alone."""
    require(
        all(side is not None for side in labels["identity"]),
        "give probe_identity= and reference_identity=, who is on each row and column; where both "
        "are the same images, give the identities twice. A DataFrame whose index and columns say "
        "it is opened by fk.open_data(frame, kind='matrix')",
    )
    probe, reference = labels["image"]
    require(
        (probe is None) == (reference is None),
        "give probe= and reference= together: with names on one side alone, comparisons of images "
        "with themselves would count as genuine pairs",
    )


def _labels_of_side(labels, number, rows, n):
    """Return the checked labels of one side, with numbers in place of names.

    number : 0 for probes; rows : names that pandas or xarray gives the n images, or None
    """
    side, of_side = SIDES[number], {name: both[number] for name, both in labels.items()}
    matrix = None if rows is None else pd.Series(0, rows)
    require_one_order({"matrix": matrix}, of_side, named_by="image")
    images, people = of_side.pop("image"), of_side.pop("identity")
    images = [f"{side} {place}" for place in range(n)] if images is None else images
    return labels_of_images(n, images, people, of_side, side)


def _is_symmetric(scores, missing):
    """Return whether a score does not depend on which image is the probe."""
    is_square = scores.shape[0] == scores.shape[1]
    return is_square and equals_transpose(scores, number_marks(missing))


def _are_one_set(probes, references, has_names, same_images):
    """Return whether row i and column i are one image, by names of images or the user's word."""
    are_equal = np.array_equal(probes, references)
    if has_names:
        is_shared = probes.index.isin(references.index).any()
        require(is_shared or not same_images, "no name of an image is on a row and on a column")
        return are_equal and probes.index.equals(references.index)
    require(
        are_equal or not same_images,
        "one set of images is a square with the same labels on rows and columns",
    )
    are_people = sorted(probes["identity"]) == sorted(references["identity"])
    require(
        same_images is not None or not are_people,
        SAME_IMAGES,
        [{"same_images": answer} for answer in (True, False) if are_equal or not answer],
    )
    return bool(same_images)


def _check_pairs(scores, probes, references, of_images, missing, distance):
    """Ask about equal names that may be two images; warn of people whose images are unlike.

    of_images : whether equal names are taken as one image, though nothing says so
    """
    both = {name: (probes[name], references[name]) for name in probes}
    both["image"] = probes.index, references.index
    sides, shown = shown_scores(scores, both, missing, distance)
    if of_images:
        _ask_about_equal_names(shown, sides)
    images, people = sides.pop("image"), sides.pop("identity")
    shown[images.is_same()] = np.nan
    warn_of_strangers(shown, people.is_same(), people, sides, images)


def _ask_about_equal_names(scores, sides):
    """Ask whether equal names of both sides are one image, if it is hardly like itself.

    scores, sides : as `shown_scores` returns them
    """
    images = sides["image"]
    is_self = images.is_same() & np.isfinite(scores)
    if is_self.sum() < FEWEST_ROWS:
        return
    is_genuine = sides["identity"].is_same()
    area, _ = share_above(scores[is_genuine], is_self[is_genuine])
    name = images.names[images.probe[is_self][0]]
    why = EQUAL_NAMES.format(str(name), area)
    require(area > LIKE_ITSELF, why, [{"same_images": answer} for answer in (True, False)])


def _are_images(scores, rows, columns, missing):
    """Return whether the scores of several names that are on both sides are symmetric."""
    shared = rows.intersection(columns)[:WINDOW]
    if not rows.equals(columns):
        of_rows = scores[rows.get_indexer(shared)]
        scores = np.asarray(of_rows[:, columns.get_indexer(shared)])
    return len(shared) >= FEWEST_SHARED and _is_symmetric(scores, missing)


def _warn_of_failed(lazy, probes, references, symmetric, failed):
    """Count the genuine and the impostor comparisons that failed; a triangle counts once."""
    row, col = np.nonzero(np.isnan(lazy).compute())
    is_of_two_images = probes.index[row] != references.index[col]
    same_person = probes["identity"].to_numpy()[row] == references["identity"].to_numpy()[col]
    orders = 2 if symmetric else 1
    n_genuine = np.sum(same_person & is_of_two_images)
    warn_of_failed(n_genuine // orders, np.sum(~same_person) // orders, failed)


# --- names of rows and columns --------------------------------------------------------------------


def _names_of_matrix(values):
    """Return the labels of rows and of columns that pandas or xarray gives a matrix."""
    names = [None, None]
    if isinstance(values, pd.DataFrame):
        require(
            values.index.nlevels == values.columns.nlevels == 1,
            "names of rows and of columns have one level: keep that of images, as in "
            "frame.droplevel('person').droplevel('person', axis=1), and give probe_identity= and "
            "reference_identity=",
        )
        names = [values.index, values.columns]
    elif isinstance(values, xr.DataArray):
        names = [values.indexes.get(dim) for dim in values.dims]
    return [None if isinstance(labels, pd.RangeIndex) else labels for labels in names]


def as_written(columns, rows):
    """Return names of columns as they were before pandas numbered repeated ones: a, a.1, a.2."""
    texts, rows = pd.Series(columns, dtype=str), rows.astype(str)
    bare = texts.str.replace(r"\.[0-9]+$", "", regex=True)
    return texts.mask(~texts.isin(rows) & bare.isin(rows) & bare.isin(texts), bare)


def ask_whom(values, names, missing=None, same_images=None, distance=False):
    """Ask who is on the rows and columns of a matrix, if their names occur once on each side.

    The user may say that the same people are in other images there; but a symmetric matrix compares
    images with themselves.

    Parameters
    ----------
    values : array, (probe, reference)
        In memory, or on disk: then some rows are read.
    names : pair of arrays of str
    missing, same_images, distance : as in `score_matrix`
    """
    if any(map(occur_again, names)):
        return
    both = [*map(pd.Index, names)]
    refuse_half(values, *both)
    is_symmetric = _are_images(values, *both, missing)
    if same_images is False:
        require(not is_symmetric, f"{OF_IMAGES}: leave the option same_images out")
        return
    sides, scores = shown_scores(values, {"image": names}, missing, distance)
    images = sides["image"]
    scores[images.is_same()] = np.nan
    why, answers = NOBODY_SHARED, {}
    if np.isin(*names).any():
        why, answers = IMAGES_OR_PEOPLE.format(str(images.names[0])), {"same_images": False}
    if is_symmetric:
        why, answers = f"{OF_IMAGES}; nothing says whom an image shows", {"labels": "..."}
    ask_who(Roles(), {}, why, images, scores, **answers)


def check_direction(tensor, name):
    """Ask where scores of one person are not clearly higher than those of strangers.

    Where the name of the matrix says whether these are distances: only where they are lower.

    Parameters
    ----------
    tensor : xr.DataArray
    name : str
        That of the array in a file.
    """
    area, errors = share_above(*shown_kinds(tensor))
    fewest = -DOUBTFUL if role_of_score(name) else CLEAR
    if area == 0 or area < 1 and errors < fewest:
        raise InputError(DISTANCES, [{"columns": {role: name}} for role in ("distance", "score")])


def shown_kinds(tensor):
    """Return some scores of a tensor, and whether they are genuine."""
    labels = {roles: [tensor[role].values for role in roles] for roles in (SIDES, WHO)}
    sides, scores = shown_scores(tensor.data, labels, tensor.attrs.get(REJECTED))
    is_self = sides[SIDES].is_same()
    return scores[~is_self], sides[WHO].is_same()[~is_self]


def shown_scores(values, labels, missing=None, is_distance=False):
    """Return labels of both sides of some scores, and these scores, NaN where they are missing.

    Parameters
    ----------
    values : array, (probe, reference)
        Of one on disk, some rows are read.
    labels : dict of str to pair of arrays of str
    missing : float, sequence of float or None
        Marks of failed comparisons.
    is_distance : bool
        Whether smaller is more alike; its scores change their sign.

    Returns
    -------
    dict of str to Sides
    np.ndarray
    """
    n_rows, n_columns = values.shape
    step = max(1, min(n_rows * n_columns // SHOWN_SCORES, n_rows // FEWEST_ROWS))
    rows = np.arange(0, n_rows, step)
    scores = failed_as_nan(np.asarray(values[::step]), missing, is_distance)
    sides = {}
    for name, both in labels.items():
        codes, distinct = pd.factorize(np.concatenate(both))
        probe, reference = np.split(codes, [n_rows])
        sides[name] = Sides(probe[rows].repeat(n_columns), np.tile(reference, len(rows)), distinct)
    return sides, scores.ravel()


def _scores_with_ends(scores, missing):
    """Return scores that show marks which nobody named: of some rows, and the ends of others.

    The diagonal of a square is left out. Of an array on disk, or of dask, a corner is read.
    """
    if not isinstance(scores, np.ndarray):
        scores = np.asarray(scores[:WINDOW, :WINDOW])
    step = max(1, scores.size // SHOWN_SCORES)
    shown = []
    for start in range(0, len(scores), WINDOW):
        rows = failed_as_nan(scores[start : start + WINDOW], missing, False)
        if scores.shape[0] == scores.shape[1]:
            np.fill_diagonal(rows[:, start:], np.nan)
        is_shown = np.isin(rows, [np.fmin.reduce(rows, None), np.fmax.reduce(rows, None)])
        is_shown[::step] = True
        shown.append(rows[is_shown])
    return np.concatenate(shown)
