"""Score tensors from matrices of scores that exist already: rectangular, asymmetric, with failed comparisons."""

from __future__ import annotations

from collections.abc import Mapping

import dask.array as da
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    IDENTITY,
    IMAGE,
    PROBE,
    REFERENCE,
    UNKNOWN,
    real_numbers,
    require,
    require_flag,
    require_one_of,
    warn,
)
from frkit.data.labels import (
    check_names,
    clean_labels,
    complete_labels,
    image_names,
    resolve_varying,
)
from frkit.scores.pairs import FAILED, below, marks_of, warn_of_failed, without_failed
from frkit.scores.tensor import block_size, labelled_tensor

WINDOW = 500  # rows and columns, at both ends and in the middle, that tell it of a matrix on disk


def score_matrix(
    values: ArrayLike,
    probe_identity: ArrayLike,
    reference_identity: ArrayLike,
    *,
    probe: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    missing: ArrayLike | None = None,
    distance: bool = False,
    failed: str = "left out",
    attributes: Mapping[str, tuple] | None = None,
    chunks: int | str = "auto",
) -> xr.DataArray:
    """A score tensor from scores that exist already: rectangular, asymmetric, with failed comparisons.

    Parameters
    ----------
    values : array, (probe, reference)
        NumPy array, memory map or dask array; not copied, not loaded whole where it is lazy.
    probe_identity, reference_identity : sequences of str
        Who is on each row and each column; a genuine pair has equal ones.
    probe, reference : sequences of str, optional
        Image names. A row and a column of the same name are the same image: that comparison is the
        diagonal, not a genuine pair. By default every row and column is an image of its own, but in
        a symmetric square with the same people on both sides: there row i and column i are one image.
    missing : float or sequence of float, optional
        The value(s) that mark a failed comparison; those pairs are left out of every rate and counted.
    distance : bool
        True where smaller means more alike: the sign is changed.
    failed : {"left out", "rejected"}
        What a failed comparison counts as: it is left out of every rate, or it is rejected at every threshold (its
        score becomes one just below all others, for which all are read once).
    attributes : mapping of name to (probe labels, reference labels), optional
        Missing ones (None, NaN, blank) become "unknown". None in place of one side's labels: the people of the other
        side have the same there, and strangers have none.
    chunks : int or "auto"

    Returns
    -------
    xr.DataArray
        `score` over (probe, reference), lazy, NaN where missing. Attribute `symmetric` is 1 where
        both sides are the same images in the same order with scores that do not depend on which of
        them is the probe: each pair then counts once. Of an array on disk, or of dask, three windows
        of 500 images are read to see that.

    Raises
    ------
    InputError
        Where lengths differ, an identity is missing (or "unknown"), image names repeat within a side, or values or
        marks are no real numbers; infinite scores are refused when they are computed.

    Warns
    -----
    DataWarning
        For a symmetric square without image names: row i and column i are taken as one image. How many
        genuine and impostor comparisons failed (of an array in memory: one on disk, or of dask, is not
        read for that).

    Examples
    --------
    >>> import frkit as fk
    >>> fk.score_matrix([[9.0, 1.0], [0.0, 7.0]], ["ann", "bob"], ["ann", "bob"]).shape
    (2, 2)
    """
    values = values if hasattr(values, "dtype") else real_numbers("values", values)
    require(
        not hasattr(values, "toarray"),
        "values: in a sparse matrix nothing says which scores are missing: fill it",
    )
    require(
        values.ndim == 2,
        f"values: a score matrix has two dimensions, got shape {tuple(values.shape)}",
    )
    require(values.dtype.kind in "fiub", f"values must be real numbers, got {values.dtype}")
    names, labels = [], []
    people, images = (probe_identity, reference_identity), (probe, reference)
    for side, n, who, image in zip((PROBE, REFERENCE), values.shape, people, images, strict=True):
        default = np.char.add(f"{side} ", np.arange(n).astype(str))
        names.append(default if image is None else image_names(image, n, side))
        labels.append({IDENTITY: complete_labels(who, n, f"{side}_{IDENTITY}", side)})
    attributes = {} if attributes is None else attributes
    require(
        isinstance(attributes, Mapping),
        f"attributes must be a mapping of names, got {attributes!r}",
    )
    check_names(attributes)
    for name, both in attributes.items():
        two = (
            isinstance(both, (tuple, list))
            and len(both) == 2
            and any(side is not None for side in both)
        )
        require(
            two,
            f"attributes[{name!r}] must be (labels of probes, labels of references), one of them may be None",
        )
        for side, given, n in zip(labels, both, values.shape, strict=True):
            if given is not None:
                side[name] = clean_labels(given, n, name)
        _fill_other_side(labels, name)
    lazy = values
    if not isinstance(values, da.Array):
        lazy = da.from_array(values, chunks=block_size(chunks, max(values.shape)))
    lazy = da.map_blocks(
        without_failed, lazy, marks_of(missing), require_flag("distance", distance), dtype=float
    )
    symmetric = _one_set_of_images(
        values, names, labels, named=not (probe is None and reference is None)
    )
    if symmetric:
        names = [names[0], names[0]]
    lazy = _settle_failed(
        lazy, names, labels, failed, symmetric, counted=isinstance(values, np.ndarray)
    )
    attrs = {"similarity": "given", "symmetric": int(symmetric), "distance": int(distance)}
    attrs["long_name"] = "similarity score"
    return labelled_tensor(lazy, chunks, *names, *labels, attrs)


def _fill_other_side(labels: list[dict], name: str) -> None:
    """Give the people of the side without labels those that they have on the other side."""
    known, other = sorted(labels, key=lambda side: name not in side)
    if name not in other:
        one, _, _ = resolve_varying(known[name], known[IDENTITY], "error", name)
        labels_of = dict(zip(known[IDENTITY].tolist(), one.tolist()))
        other[name] = np.array(
            [labels_of.get(who, UNKNOWN) for who in other[IDENTITY].tolist()], str
        )


def _settle_failed(
    lazy: da.Array, names: list, labels: list[dict], failed: str, symmetric: bool, *, counted: bool
) -> da.Array:
    """The scores, their failed comparisons counted in a warning (all are read once for that) or rejected."""
    require_one_of("failed", failed, FAILED)
    if failed == "rejected":
        low = below(*da.compute(da.nanmin(lazy), da.nanmax(lazy)))
        return da.where(da.isnan(lazy), low, lazy)
    if counted:
        sides = [
            [da.from_array(part, chunks=(sizes,)) for part in (image, side[IDENTITY])]
            for image, side, sizes in zip(names, labels, lazy.chunks, strict=True)
        ]
        (row, probe), (column, reference) = sides
        gone, same = da.isnan(lazy), probe[:, None] == reference
        kinds = (gone & same & (row[:, None] != column)).sum(), (gone & ~same).sum()
        orders = 2 if symmetric else 1
        warn_of_failed(*(int(count) // orders for count in da.compute(*kinds)))
    return lazy


def _one_set_of_images(values, names: list, labels: list[dict], *, named: bool) -> bool:
    """Whether a matrix compares every image of one set with every other, whichever is the probe."""
    who = list(labels[0].items())
    if any(not np.array_equal(one, labels[1].get(name)) for name, one in who):
        return False
    if named and not np.array_equal(*names):
        return False
    if not _equals_transpose(values, few=not named):
        return False
    if not named:
        warn(
            "the matrix is square and symmetric, with the same people on both sides: row i and "
            "column i are taken as one image, so that its diagonal is left out and each pair counts "
            "once; name the images, probe=names, reference=names, if they are others"
        )
    return True


def _equals_transpose(values, *, few: bool) -> bool:
    """Whether scores are symmetric; where only `few` of them differ, as in a toy, that says nothing."""
    n = values.shape[0]
    if few and len(np.unique(np.triu(np.asarray(values[:WINDOW, :WINDOW], float), 1))) <= 3:
        return False
    if isinstance(values, np.ndarray):
        strips = [slice(begin, begin + WINDOW) for begin in range(0, n, WINDOW)]
        return all(np.allclose(values[one], values[:, one].T, equal_nan=True) for one in strips)
    begins = 0, max((n - WINDOW) // 2, 0), max(n - WINDOW, 0)
    squares = (np.asarray(values[at : at + WINDOW, at : at + WINDOW]) for at in begins)
    return all(np.allclose(square, square.T, equal_nan=True) for square in squares)
