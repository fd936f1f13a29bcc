"""Score tensors from matrices of scores that exist already: rectangular, asymmetric, with failed comparisons."""

from collections.abc import Mapping
from pathlib import Path

import dask.array as da
import numpy as np
import xarray as xr

from frkit.base import IDENTITY, PROBE, REFERENCE, require
from frkit.scores.tensor import CHUNK, labelled_tensor


def score_matrix(
    values,
    probe_identity,
    reference_identity,
    *,
    probe=None,
    reference=None,
    missing: float | None = None,
    distance: bool = False,
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
        diagonal, not a genuine pair. By default every row and column is an image of its own.
    missing : float, optional
        The value that marks a failed comparison; those pairs are left out of every rate and counted.
    distance : bool
        True where smaller means more alike: the sign is changed.
    attributes : mapping of name to (probe labels, reference labels), optional
    chunks : int or "auto"

    Returns
    -------
    xr.DataArray
        `score` over (probe, reference), lazy, NaN where missing; attribute `symmetric` is 0.

    Raises
    ------
    InputError
        Where lengths differ, or image names repeat within a side.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.score_matrix([[9.0, 1.0], [-1.0, 7.0]], ["ann", "bob"], ["ann", "bob"], missing=-1).shape
    (2, 2)
    """
    values = values if hasattr(values, "shape") else np.asarray(values, float)
    sides = [np.asarray(probe_identity, str), np.asarray(reference_identity, str)]
    shape = tuple(len(side) for side in sides)
    require(
        tuple(values.shape) == shape,
        f"the matrix has shape {tuple(values.shape)}, but there are {shape[0]} probe identities (rows) and "
        f"{shape[1]} reference identities (columns)",
    )
    names = [
        _image_names(given, len(side), label)
        for given, side, label in zip((probe, reference), sides, (PROBE, REFERENCE), strict=True)
    ]
    labels = [{IDENTITY: side} for side in sides]
    for name, both in (attributes or {}).items():
        for side, given, size in zip(labels, both, shape, strict=True):
            require(len(given) == size, f"attribute {name!r} has {len(given)} labels for {size} images")
            side[name] = np.asarray(given, str)
    size = CHUNK if chunks == "auto" else chunks
    lazy = values if isinstance(values, da.Array) else da.from_array(values, chunks=size)
    lazy = da.map_blocks(_clean, lazy, missing, distance, dtype=float)
    attrs = {"similarity": "given", "symmetric": 0, "long_name": "similarity score"}
    return labelled_tensor(lazy, chunks, *names, *labels, attrs)


def _clean(block: np.ndarray, missing: float | None, distance: bool) -> np.ndarray:
    scores = np.array(block, float)
    if missing is not None:
        scores[block == missing] = np.nan
    return -scores if distance else scores


def _image_names(given, size: int, side: str) -> np.ndarray:
    names = np.char.add(f"{side} ", np.arange(size).astype(str)) if given is None else np.asarray(given, str)
    require(len(names) == size, f"{side} names {len(names)} images, but the matrix has {size} there")
    first, count = np.unique(names, return_counts=True)
    require(
        len(first) == size,
        f"{side} image name {first[count > 1][:1]} stands more than once; names must be unique",
    )
    return names


def open_scores(path: str | Path, *, missing: float | None = -1, labels=None, **options) -> xr.DataArray:
    """A score tensor from a matrix file: CSV with ids as header and first column, or .npy with label files.

    Parameters
    ----------
    path : str or Path
        `.csv`, `.csv.gz`, or `.npy` with label files beside it (see `frkit.scores.matrix_files.read_matrix`).
    missing : float, optional
        The value that marks a failed comparison (-1 by default; None where there is none).
    labels : path or pair of paths, optional
        For .npy: the files with the ids of probes and of references, where they do not stand beside it.
    **options
        As in `score_matrix`.

    Returns
    -------
    xr.DataArray
        As from `score_matrix`.

    Raises
    ------
    InputError
        For a malformed file, with its name and line number.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.open_scores("scores.csv.gz", missing=-1)  # doctest: +SKIP
    """
    from frkit.scores.matrix_files import read_matrix

    values, probe_identity, reference_identity = read_matrix(path, missing, labels=labels)
    return score_matrix(values, probe_identity, reference_identity, **options)
