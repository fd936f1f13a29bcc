"""Score tensors from matrices of scores that exist already."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
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
from frkit.data.checks import is_lazy
from frkit.data.labels import (
    check_names,
    clean_labels,
    complete_labels,
    image_names,
)
from frkit.data.notices import warn_of_decisions, warn_of_spellings
from frkit.data.roles import SIDES
from frkit.data.square import FEW_SCORES, WINDOW, equals_transpose, with_both_halves
from frkit.scores.matrix_names import with_names
from frkit.scores.pair_list import FAILED, below, failed_as_nan, warn_of_failed
from frkit.scores.tensor import block_size, labelled_tensor

ATTRIBUTES = '{"gender": (labels_of_probes, labels_of_references)}'  # for messages


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

    probes = {"identity": probe_identity, "image": probe}
    references = {"identity": reference_identity, "image": reference}
    attributes = {} if attributes is None else attributes
    require_mapping("attributes", attributes, ATTRIBUTES, 0)
    for name, sides in attributes.items():
        is_pair = isinstance(sides, (tuple, list)) and len(sides) == 2
        require(is_pair, f"attributes[{name!r}] must be labels of both sides, as in {ATTRIBUTES}")
        probes[name], references[name] = sides
    require_flag("distance", distance)
    values, probes, references = with_names(values, probes, references, distance)
    values = with_both_halves(_checked(values))
    require_one_of("failed", failed, FAILED)
    has_names = _on_both_sides(probes, references)
    for side, labels, n in zip(SIDES, (probes, references), values.shape):
        labels["identity"] = complete_labels(labels["identity"], n, f"{side}_identity", side)
        names = labels["image"] if has_names else [f"{side} {place}" for place in range(n)]
        labels["image"] = image_names(names, n, side)
    _add_attributes(probes, references, attributes)
    names = ("identity", *attributes)
    warn_of_spellings({name: [probes[name], references[name]] for name in names})
    if isinstance(values, np.ndarray):
        warn_of_decisions(values)
    labels = [name for name in probes if has_names or name != "image"]
    symmetric = False
    if all(np.array_equal(probes[name], references[name]) for name in labels):
        symmetric = _is_one_set_of_images(values, missing, has_names)
    if symmetric:
        references["image"] = probes["image"]
    side = block_size(chunks, max(values.shape))
    lazy = values if is_lazy(values) else da.from_array(values, chunks=side)
    lazy = da.map_blocks(failed_as_nan, lazy, missing, distance, dtype=float).rechunk(side)
    if failed == "rejected":
        low = below(*da.compute(da.nanmin(lazy), da.nanmax(lazy)))
        lazy = da.where(da.isnan(lazy), low, lazy)
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


def _add_attributes(probes, references, attributes):
    """Clean the labels of both sides."""
    check_names(attributes)
    for name in attributes:
        for side in (probes, references):
            side[name] = clean_labels(side[name], len(side["image"]), name)


def _is_one_set_of_images(values, missing, has_names):
    """Whether a matrix with equal labels on both sides compares one set of images with itself."""
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
