"""Score tensors from matrices of scores that exist already, and who is on their two sides."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    real_numbers,
    require,
    require_flag,
    require_mapping,
    require_one_of,
    warn,
)
from frkit.data.alignment import aligned
from frkit.data.checks import FEW_SCORES, WINDOW, equals_transpose, is_lazy, with_both_halves
from frkit.data.joins import CLEAR, WAYS, people_by_name, people_of_names, share_above
from frkit.data.labels import check_names, clean_labels, complete_labels, image_names
from frkit.data.notices import warn_of_decisions, warn_of_spellings
from frkit.data.roles import SIDES
from frkit.data.sides import Sides
from frkit.scores.pair_list import FAILED, below, failed_as_nan, warn_of_failed
from frkit.scores.tensor import block_size, labelled_tensor

ATTRIBUTES = '{"gender": (labels_of_probes, labels_of_references)}'  # for messages
FEWEST_ROWS = 20  # that show what a matrix contains
SHOWN_SCORES = 200_000  # of whole rows that show who is who, and the direction
THEY_ARE_PEOPLE = "the ids are people"
DISTANCES = (
    "strangers have higher scores than images of one person: are these distances? Say "
    "distance=True, or distance=False where larger means more alike"
)


def score_matrix(
    values: ArrayLike,
    probe_identity: ArrayLike | None = None,
    reference_identity: ArrayLike | None = None,
    *,
    probe: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    missing: ArrayLike | None = None,
    distance: bool = False,
    failed: str = "left out",
    attributes: Mapping[str, tuple] | None = None,
    chunks: int | str = "auto",
) -> xr.DataArray:
    """Make a score tensor of scores that exist already; some comparisons may have failed.

    Parameters
    ----------
    values : array, (probe, reference)
        NumPy array, memory map or dask array; not copied, not loaded whole where it is lazy. Or a
        DataFrame or DataArray, whose labels name the images; or the people, where no identities are
        given.
    probe_identity, reference_identity : sequences of str
        Who is in each row and each column; they are equal for a genuine pair. Optional if the
        labels of `values` say it.
    probe, reference : sequences of str, optional
        Image names, of both sides or of none. A row and a column of the same name are the same
        image: that comparison is the diagonal, not a genuine pair. By default every row and every
        column is a separate image, except in a symmetric square with the same people on both sides,
        where row i and column i are one image.
    missing : float or sequence of float, optional
        The value(s) that mark a failed comparison.
    distance : bool
        True where smaller means more alike: the sign is changed.
    failed : {"left out", "rejected"}
        What a failed comparison counts as: it is left out of every rate, or it is rejected at
        every threshold (its score becomes one just below all others, for which all are read once).
    attributes : mapping of name to (probe labels, reference labels), optional
        Missing ones (None, NaN, blank) become "unknown".
    chunks : int or "auto"
        As in `score_tensor`.

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
        scores are refused when they are computed.

    Warns
    -----
    DataWarning
        For a symmetric square without image names: row i and column i are taken as one image. How
        many genuine and impostor comparisons failed (of an array in memory: one on disk, or of
        dask, is not read for that).

    Examples
    --------
    >>> import frkit as fk
    >>> fk.score_matrix([[9.0, 1.0], [0.0, 7.0]], ["ann", "bob"], ["ann", "bob"]).shape
    (2, 2)
    """
    import dask.array as da

    require_flag("distance", distance)
    require_one_of("failed", failed, FAILED)
    attributes = {} if attributes is None else attributes
    require_mapping("attributes", attributes, ATTRIBUTES, 0)
    check_names(attributes)
    probes = {"identity": probe_identity, "image": probe}
    references = {"identity": reference_identity, "image": reference}
    for name, labels in attributes.items():
        is_pair = isinstance(labels, (tuple, list)) and len(labels) == 2
        require(is_pair, f"attributes[{name!r}] must be labels of both sides, as in {ATTRIBUTES}")
        probes[name], references[name] = labels
    names = _names_of_matrix(values)
    if isinstance(values, (pd.DataFrame, xr.DataArray)):
        values = values.to_numpy() if isinstance(values, pd.DataFrame) else values.data
    values = with_both_halves(_checked(values))
    sides = []
    for names_of_side, labels in zip(names, (probes, references)):
        order = None if names_of_side is None else pd.Series(0, names_of_side)
        _, in_order = aligned({"the matrix": order}, labels)
        sides.append(in_order)
    probes, references = sides
    _take_names(values, names, sides, missing, distance)
    has_names = _on_both_sides(probes, references)
    for side, labels, n in zip(SIDES, sides, values.shape):
        if not has_names:
            labels["image"] = [f"{side} {place}" for place in range(n)]
        labels["identity"] = complete_labels(labels["identity"], n, f"{side}_identity", side)
        labels["image"] = image_names(labels["image"], n, side)
        labels |= {name: clean_labels(labels[name], n, name) for name in attributes}
    warn_of_spellings(
        {name: [probes[name], references[name]] for name in ("identity", *attributes)}
    )
    if isinstance(values, np.ndarray):
        warn_of_decisions(values)
    compared = [name for name in probes if has_names or name != "image"]
    has_equal_sides = all(np.array_equal(probes[name], references[name]) for name in compared)
    symmetric = has_equal_sides and _is_one_set_of_images(values, missing, has_names)
    if symmetric:
        references["image"] = probes["image"]
    side = block_size(chunks, max(values.shape))
    lazy = values if is_lazy(values) else da.from_array(values, chunks=side)
    lazy = da.map_blocks(failed_as_nan, lazy, missing, distance, dtype=float).rechunk(side)
    if failed == "rejected":
        lowest, highest = da.compute(da.nanmin(lazy), da.nanmax(lazy))
        lazy = da.where(da.isnan(lazy), below(lowest, highest), lazy)
    elif isinstance(values, np.ndarray):
        _warn_of_failed(lazy, probes, references, symmetric)
    attrs = {
        "similarity": "given",
        "symmetric": int(symmetric),
        "distance": int(distance),
        "long_name": "similarity score",
    }
    return labelled_tensor(lazy, probes, references, attrs)


def _checked(values):
    """Return scores as an array of real numbers, which may be lazy."""
    require(
        not type(values).__module__.startswith("scipy.sparse"),
        "values is a sparse matrix, whose zeros may be scores or comparisons that were not made; "
        "give an array with NaN in place of the latter",
    )
    if isinstance(values, np.ma.MaskedArray) or not hasattr(values, "dtype"):
        values = real_numbers("values", values)
    shape = tuple(values.shape)
    require(len(shape) == 2, f"values: a score matrix has two dimensions, got shape {shape}")
    require(values.dtype.kind in "fiub", f"values must be real numbers, got {values.dtype}")
    return values


def _on_both_sides(probes, references):
    """Return whether images have names; refuse identities or names of one side alone."""
    require(
        (probes["identity"] is None) == (references["identity"] is None),
        "give probe_identity and reference_identity together; where rows and columns are the same "
        "images, give the identities twice",
    )
    has_names = probes["image"] is not None
    require(
        has_names == (references["image"] is not None),
        "give probe= and reference= together: with names on one side alone, comparisons of images "
        "with themselves would count as genuine pairs",
    )
    return has_names


def _is_one_set_of_images(values, missing, has_names):
    """Return whether a matrix with equal labels on both sides compares one set of images."""
    if not equals_transpose(values, [] if missing is None else missing):
        return False
    if has_names:
        return True
    corner = np.asarray(values[:WINDOW, :WINDOW], float)
    if len(np.unique(np.triu(corner, 1))) <= FEW_SCORES:
        return False  # a toy
    warn(
        "the matrix is square and symmetric, with the same people on both sides: row i and "
        "column i are taken as one image, so that its diagonal is left out and each pair counts "
        "once; if they are different images, fk.score_matrix(..., probe=names, reference=names) "
        "names them"
    )
    return True


def _warn_of_failed(lazy, probes, references, symmetric):
    """Count the genuine and the impostor comparisons that failed; a triangle counts once."""
    row, col = np.nonzero(np.isnan(lazy).compute())
    is_of_two_images = probes["image"][row] != references["image"][col]
    same_person = probes["identity"][row] == references["identity"][col]
    orders = 2 if symmetric else 1
    n_genuine = np.sum(same_person & is_of_two_images)
    warn_of_failed(n_genuine // orders, np.sum(~same_person) // orders)


# --- names of rows and columns --------------------------------------------------------------------


def _names_of_matrix(values):
    """Return the labels of rows and of columns that pandas or xarray gives a matrix."""
    names = [None, None]
    if isinstance(values, pd.DataFrame):
        names = [values.index, as_written(values.columns, values.index)]
    elif isinstance(values, xr.DataArray):
        names = [values.indexes.get(dim) for dim in values.dims]
    return [None if isinstance(labels, pd.RangeIndex) else labels for labels in names]


def as_written(columns, rows):
    """Return names of columns as they were before pandas numbered repeated ones: a, a.1, a.2."""
    texts, rows = pd.Index(columns).astype(str), pd.Index(rows).astype(str)
    bare = texts.str.replace(r"\.[0-9]+$", "", regex=True)
    is_numbered = ~texts.isin(rows) & bare.isin(rows) & bare.isin(texts)
    return texts.where(~is_numbered, bare) if is_numbered.any() else columns


def _take_names(values, names, sides, missing, distance):
    """Take the names of rows and columns as images, or as people if no identities are given."""
    has_names = all(names_of_side is not None for names_of_side in names)
    if all(labels["identity"] is None for labels in sides):
        require(
            has_names, "give probe_identity= and reference_identity=, who is on each row and column"
        )
        people, images, _ = people_of_matrix(values, names, missing, distance, distance)
        if not distance:
            check_direction(values, people, missing, False, False)
        for place, labels in enumerate(sides):
            labels["identity"] = people[place]
            if images is not None:
                labels["image"] = images[place]
    elif sides[0]["image"] is None and has_names and all(labels.is_unique for labels in names):
        for names_of_side, labels in zip(names, sides):
            labels["image"] = names_of_side.astype(str).to_numpy()


def people_of_matrix(values, names, missing, is_distance, is_direction_known):
    """Find out whether names are people, or images that say who is in them.

    They are images if each occurs once on each side, and if scores are clearly higher where a usual
    pattern finds the same person in both names.

    Parameters
    ----------
    values : array, (probe, reference)
        In memory, or on disk: then some rows are read.
    names : pair of sequences of str
    missing : float, sequence of float or None
        Marks of failed comparisons.
    is_distance : bool
        Whether smaller is more alike.
    is_direction_known : bool
        Whether somebody, or the diagonal, says which is more alike.

    Returns
    -------
    people : pair of arrays
    images : pair of arrays or None
    source : str
        How it is known who is who.
    """
    names = [np.asarray(side, str) for side in names]
    if any(pd.Series(side).duplicated().any() for side in names):
        return names, None, THEY_ARE_PEOPLE
    rows, scores = some_rows(values)
    scores = failed_as_nan(scores, missing, is_distance).ravel()
    places, distinct = pd.factorize(np.concatenate(names))
    probe, reference = np.split(places, [len(names[0])])
    images = Sides(probe[rows].repeat(len(reference)), np.tile(reference, len(rows)), distinct)
    _, way = people_of_names(images, scores=scores)
    if way:
        people = [people_by_name(side, WAYS[way]).astype(str) for side in names]
        return people, names, f"from names of images, {way}"
    is_turned = not is_direction_known and people_of_names(images, scores=-scores)[1]
    require(not is_turned, DISTANCES)
    return names, None, THEY_ARE_PEOPLE


def check_direction(values, people, missing, is_distance, is_guess):
    """Refuse genuine scores that are lower than impostors', and a guess that is not confirmed."""
    rows, scores = some_rows(values)
    scores = failed_as_nan(scores, missing, is_distance)
    probe, reference = (np.asarray(side).astype(str) for side in people)
    area, errors = share_above(scores, probe[rows, None] == reference)
    is_clear = errors > CLEAR or area == 1
    require(is_clear if is_guess else area >= 0.5 or errors > -CLEAR, DISTANCES)


def some_rows(values):
    """Return places of some rows, and their scores; in a square, NaN of images with themselves."""
    n_rows, n_columns = values.shape
    step = max(1, min(n_rows * n_columns // SHOWN_SCORES, n_rows // FEWEST_ROWS))
    rows = np.arange(0, n_rows, step)
    scores = np.array(values[::step], float)
    if n_rows == n_columns:
        scores[np.arange(len(rows)), rows] = np.nan
    return rows, scores
