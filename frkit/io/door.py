"""`open_data`: a file, a table, or several of them, as faces, a matrix or a list of pairs."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import InputError, listed, require, require_path, warn
from frkit.data.alignment import require_one_order
from frkit.data.checks import NUMBERED
from frkit.data.files import KINDS, named, require_data
from frkit.io.combined import stack_lists, stack_matrices
from frkit.io.faces import faces_of_contents, stacked_faces
from frkit.io.file_contents import read_contents, read_two_kinds
from frkit.io.kinds import guessed_kind
from frkit.io.matrix_files import matrix_of_contents
from frkit.io.names import kinds_of_scores
from frkit.io.pair_table import pairs_of_contents
from frkit.io.questions import asking
from frkit.io.roles import as_mapping
from frkit.scores.kept import contains_kept_pairs, is_kept, is_list, open_kept

LOG = logging.getLogger("frkit")  # the command line shows what it says
READERS = {"faces": faces_of_contents, "matrix": matrix_of_contents}
TAKES = {  # the options of each kind
    "faces": ("kind", "columns", "identity", "labels"),
    "matrix": ("kind", "columns", "identity", "labels", "missing", "failed", "same_images"),
    "pairs": ("kind", "columns", "identity", "labels", "scores", "missing", "failed"),
}
OF_A_LIST = "each of a list (records are pd.DataFrame(records), tables of models {'a': frame})"
ENDINGS = (*sorted(KINDS, key=len, reverse=True), ".txt", ".gz")


def open_data(
    path: str | Path | Sequence[str | Path] | Mapping | pd.DataFrame,
    *others,
    kind: str | None = None,
    columns: Mapping | None = None,
    identity: str | None = None,
    labels: str | Path | pd.DataFrame | None = None,
    scores: str | Path | ArrayLike | None = None,
    missing: ArrayLike | None = None,
    failed: str | None = None,
    same_images: bool | None = None,
) -> xr.Dataset | xr.DataArray | xr.DataTree:
    r"""Open embeddings, a matrix of scores or a list of scored pairs, whichever it is.

    What a column is follows from its name, if only one reading is possible and every row agrees
    with it. Otherwise, and about columns without a usual name, an error shows the columns and the
    calls that answer the question.

    Parameters
    ----------
    path : str or Path, a list of such, a mapping of model to such, or pd.DataFrame
        Files: .csv, .tsv and text of any other name (plain or .gz), .parquet, .json, .jsonl,
        .npz, .npy (mapped into memory; with labels), .mat, .h5; kept pairs (.nc) as
        `sweep` makes them. Nothing is unpickled.
        Several files, or data that were opened, are models of the same images or pairs.
    *others
        Refused: several files are given as a list.
    kind : str, optional
        "faces", "matrix" or "pairs", where names and contents leave it open.
    columns : mapping, optional
        What columns are: role to column, or to several. The roles are, for pairs, `score` (larger
        is more alike), `distance` (smaller is), `genuine`, `impostor` (the opposite of genuine),
        `probe`, `reference` (names of images), `probe_identity`, `reference_identity`, `model`
        (which one scored the pair of a row); for embeddings `embedding`, `identity`, `image`. Any
        other name is an attribute, with one column or with one for each side. Several columns of
        scores or embeddings are models. None says that no column has the role.
    identity : str, optional
        The column of identities, or a pattern of image names that says who is in them, such as
        "{name}_{number}.jpg".
    labels : path or pd.DataFrame, optional
        A table of images or people, in any order: it is joined on the column that has the names
        which are in the data, and its other columns become labels. Where the data name nothing, as
        an .npy, it has a row for each image, in their order (or one label in each line).
    scores : path or array, optional
        The scores of a list without scores: one in a line, in its order; or two names and a score.
    missing : number, word, or sequence of such, optional
        What marks a failed comparison; [] for nothing. Blank cells, NaN, NA and FTA always do.
        Where a score such as -1 stands apart from all others, frkit asks.
    failed : {"left out", "rejected"}, optional
        What a failed comparison counts as: it is left out of all rates (the default, with a warning
        that counts them), or is rejected at every threshold.
    same_images : bool, optional
        Of a square matrix without names of images: whether row i and column i are one image.

    Returns
    -------
    xr.Dataset, xr.DataArray or xr.DataTree
        As `faces` makes it: `embedding` ([model,] image, feature); as `score_matrix`: scores
        ([model,] probe, reference); or as `pairs`. The attribute `columns` says in lines what was
        read as what, `roles` in JSON.

    Raises
    ------
    InputError
        Where the file is absent, malformed (with its line), pickled or of an unknown kind; where it
        is not clear what a column is, or who is who; where the data contradict each other; where
        files of several models differ in images.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pairs.csv")
    >>> _ = path.write_text("id1,id2,mated?,l2\nann,ann,yes,0.1\nann,bob,no,0.9\n")
    >>> data = open_data(path)
    >>> data["pairs"].genuine.values.tolist()
    [True, False]
    >>> print(data.attrs["columns"])
    distance: 'l2' (smaller is more alike)
    genuine: 'mated?'
    probe_identity: 'id1'
    reference_identity: 'id2'
    """
    require(
        not others,
        "give several models as a list, fk.open_data(['a.npz', 'b.npz']), and a file of labels by "
        "its name, labels='labels.csv'",
    )
    options = {
        "kind": kind,
        "columns": None if columns is None else as_mapping(columns),
        "identity": identity,
        "labels": labels,
        "scores": scores,
        "missing": missing,
        "failed": failed,
        "same_images": same_images,
    }
    options = {name: value for name, value in options.items() if value is not None}
    with asking(path, options):
        models = by_model(path) if isinstance(path, (list, tuple)) else path
        is_several = isinstance(models, Mapping) and not hasattr(models, "dims")
        return _several(models, options) if is_several else _opened(models, options)


def by_model(paths) -> dict:
    """Return files by the names of their models: the files' names without their endings."""
    endings = re.compile(rf"({'|'.join(map(re.escape, ENDINGS))})+$", re.IGNORECASE)
    names = [endings.sub("", require_path(OF_A_LIST, path).name) for path in paths]
    require(
        len(set(names)) == len(names),
        f"files of several models need distinct names, got {listed(names)}: rename one",
    )
    return dict(zip(names, paths))


def columns_read(data) -> list[str]:
    """Return lines that say which column was read as what."""
    return data.attrs.get("columns", "").splitlines()


def _opened(path, options):
    """Open one file or table, unless it is opened already; the log shows its columns."""
    if hasattr(path, "dims"):
        kind_of(path)  # refuses others
        require(
            not options,
            f"data that were opened already take no {listed(options)}: give it where each file is "
            "opened",
        )
        return path
    path = require_data("path", path)
    scores = options.get("scores")
    if scores is not None and not isinstance(scores, (str, Path)):
        require_one_order({"path": path}, {"scores": scores})
    with named(path):
        data = _read(path, options)
    if not isinstance(path, pd.DataFrame):
        LOG.info("%s", path)
    for line in columns_read(data):
        LOG.info("  %s", line)
    return data


def _read(path, options):
    """Read one file or table."""
    if contains_kept_pairs(path):
        return open_kept(path)
    contents = read_contents(path, options)
    kind = contents.kind or guessed_kind(contents, options, path)
    _check_options(kind, options)
    return READERS.get(kind, pairs_of_contents)(contents, options)


def _check_options(kind, options):
    """Refuse options that data of this kind do not have."""
    extra = listed(name for name in options if name not in TAKES[kind])
    takes = ", ".join(TAKES[kind])
    answers = [{"kind": "matrix"}] if kind == "faces" else []
    require(not extra, f"read as {kind}, it takes no {extra}; it takes {takes}", answers)


# --- several models -------------------------------------------------------------------------------


def _several(models, options):
    """Open the data of several models, or the genuine and the impostor scores of one."""
    kinds = kinds_of_scores(models)
    if kinds is None or any(hasattr(source, "dims") for source in models.values()):
        opened = {name: _opened(source, options) for name, source in models.items()}
        are_files = all(isinstance(source, (str, Path)) for source in models.values())
        images = [data["image"] for data in opened.values() if "image" in data.coords]
        if are_files and len(images) > 1 and all(NUMBERED in names.attrs for names in images):
            warn(f"nothing names the images of {listed(models)}: row k of each is the same image")
        return together(opened)
    sources = [models[kinds[kind]] for kind in ("genuine", "impostor")]
    LOG.info("%s", listed(sources))
    _check_options("pairs", options)
    return pairs_of_contents(read_two_kinds(*sources), options)


def together(models: dict) -> xr.Dataset | xr.DataArray | xr.DataTree:
    """Return the faces or scores of several models of the same images as one."""
    require(models, "there is no model; give at least one")
    kinds = {kind_of(model) for model in models.values()}
    several = [name for name, model in models.items() if "model" in model.dims]
    if len(models) == 1 and several:
        return models[several[0]]  # whose models have names
    require(
        len(kinds) == 1,
        f"models must all be of one kind, but there are {' and '.join(sorted(kinds))}",
    )
    require(not several, f"{listed(several)} contains several models already")
    require(
        kinds != {"kept pairs"},
        "kept pairs of several models must come from one call: "
        "fk.sweep(fk.score_tensor(fk.open_data(faces_by_model)))",
    )
    if kinds == {"faces"}:
        return stacked_faces(models)
    return stack_lists(models) if kinds == {"pairs"} else stack_matrices(models)


def kind_of(data) -> str:
    """Return whether something is faces, pairs, kept pairs or a score tensor."""
    if is_kept(data):
        return "pairs" if is_list(data) else "kept pairs"
    dims = set(getattr(data, "dims", ()))
    if {"image", "feature"} <= dims:
        return "faces"
    if {"probe", "reference"} <= dims:
        require(
            "probe_identity" in data.coords,
            "this DataArray does not say who is on its rows and columns: "
            "fk.open_data(values.to_pandas(), kind='matrix') reads their names",
        )
        return "a score tensor"
    raise InputError(
        f"this {type(data).__name__} contains neither faces nor scores as frkit makes them: "
        "fk.faces, fk.score_matrix and fk.pairs do so"
    )
