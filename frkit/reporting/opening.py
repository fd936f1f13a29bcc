"""Any file of faces or scores, recognised by its name and its header; several of them as models."""

import logging
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import (
    DataWarning,
    InputError,
    listed,
    require,
    require_path,
    require_sequence,
    require_text,
    with_cautions,
)
from frkit.data.arrays import OnDisk
from frkit.data.dataset import stack_models
from frkit.data.face_roles import has_embedding
from frkit.data.files import KINDS, file_kind, named, require_data
from frkit.data.json_files import read_json
from frkit.data.names import NAMES, PREFIXES, words_of, words_of_truth
from frkit.data.opening import PREVIEW, column_names, open_faces, read_columns
from frkit.data.pair_roles import fractions, looks_like_pairs, role_of_score
from frkit.data.questions import asking
from frkit.data.roles import OF_PAIRS as ROLES_OF_PAIRS
from frkit.data.roles import as_mapping
from frkit.data.sides import side_columns
from frkit.data.tables import check_header, is_number_column, read_frame, without_words
from frkit.scores.combined import stack_lists, stack_matrices
from frkit.scores.kept import contains_kept_pairs, is_kept, is_list, open_kept
from frkit.scores.matrix_files import (
    OF_ARRAYS,
    are_places,
    both_sides,
    is_matrix,
    matrix_roles,
    names_people,
    open_scores,
)
from frkit.scores.pair_formats import (
    LINES,
    format_of_header,
    kinds_of_scores,
    read_table,
    recognised_format,
)
from frkit.scores.pairs import open_pairs

LOG = logging.getLogger("frkit")  # the command line shows what it says
OF_FACES = "columns labels identity metadata".split()
OF_MATRIX = "columns missing distance same_images labels identity metadata failed".split()
OF_PAIRS = "columns scores labels metadata distance missing identity failed".split()
ENDINGS = (*sorted(KINDS, key=len, reverse=True), ".txt", ".gz")
ARRAYS = ("npz", "npy", "mat", "hdf5", "zarr", "netcdf", "folder")


def open_data(
    path: str | Path | Sequence[str | Path] | pd.DataFrame,
    *others,
    format: str | None = None,
    columns: Mapping | None = None,
    score: Iterable[str] | None = None,
    **options,
) -> xr.Dataset | xr.DataArray:
    r"""Open a file of embeddings, a matrix of scores or a list of scored pairs, whichever it is.

    The role of a column is guessed from its name and contents, if only one column can have it and
    the data agree. Otherwise an error shows the columns and says what to give as `columns`.

    Parameters
    ----------
    path : str or Path, a list of such, or pd.DataFrame
        Several files are models, named after their files, of the same images or pairs.
    *others
        Refused: several files are given as a list.
    format : str, optional
        "faces", "matrix", or a format of `open_pairs`, where names and contents leave it open.
    columns : mapping, optional
        What columns are: role to column, or to several. The roles are, for pairs, `score` (larger
        is more alike), `distance` (smaller is), `genuine`, `impostor` (the opposite of genuine),
        `probe`, `reference` (names of images), `probe_identity`, `reference_identity`, `model`
        (which one scored the pair of a row); for embeddings `embedding`, `identity`, `image`. Any
        other name is an attribute, with one column or with one for each side. Several columns of
        scores or embeddings are models. None says that no column has the role.
    score : list of str, optional
        Columns of scores, as `columns={"score": ...}`; those whose name says "distance" or "l2" are
        distances.
    **options
        Of `open_faces`, `open_scores` or `open_pairs`, whichever reads the file; None means the
        default.

    Returns
    -------
    xr.Dataset or xr.DataArray
        What that function returns; the attribute `columns` says in lines what was read as what.

    Raises
    ------
    InputError
        As that function; where files of several models differ in images or names; where it is not
        clear what a column is.

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
    given = {"format": format, "columns": columns, "score": score} | options
    with asking(path, given):
        if isinstance(path, (list, tuple)):
            return _opened_files(by_model(path), given)
        data = _opened(path, format, columns, score, options)
    if not isinstance(path, pd.DataFrame):
        LOG.info("%s", path)
    for line in columns_read(data):
        LOG.info("  %s", line)
    return data


def open_with_names(paths, **options):
    """Open data, and return the first file's columns even if the data are refused.

    Parameters
    ----------
    paths : Path or list of Path
    **options
        Of `open_data`.

    Returns
    -------
    names : list of str
        Of the columns of the first file.
    rows : pd.DataFrame or None
        The first rows, of a table.
    data : xr.Dataset, xr.DataArray or InputError
        The error says why there are no data. Its attribute `roles`, if any, contains the columns of
        the roles that are clear.
    """
    first = paths[0] if isinstance(paths, list) else paths
    with named(first):
        names, rows = column_names(first)
    try:
        return names, rows, open_data(paths, **options)
    except InputError as error:
        return names, rows, error


def columns_read(data):
    """Return lines that say which column was read as what."""
    return data.attrs.get("columns", "").splitlines()


def _opened_files(files, options):
    """Open several files by name: models, or the genuine and the impostor scores of one."""
    kinds = kinds_of_scores(files)
    if kinds is None:
        return together({name: open_data(file, **options) for name, file in files.items()})
    scores = [files[kinds[kind]] for kind in ("genuine", "impostor")]
    given = {name: value for name, value in options.items() if name != "format" and value}
    LOG.info("%s", listed(scores))
    return _read(scores, "vectors", given)


def _opened(path, format, columns, score, options):
    """Open one file or DataFrame."""
    options = {name: value for name, value in options.items() if value is not None}
    if score is not None:
        names = require_sequence("score", score, "names of columns")
        columns = score_roles(names) | as_mapping(columns)
    if columns is not None:
        options["columns"] = as_mapping(columns)
    path = require_data("path", path)
    with named(path):
        if contains_kept_pairs(path):
            return open_kept(path)
        require_text("format", format or "")
        if file_kind(path) == "folder" and format is None:
            files = [file for file in path.iterdir() if not file.name.startswith(".")]
            if len(files) == 2 and kinds_of_scores(by_model(files)):
                return _opened_files(by_model(files), options)
            arrays = [file for file in files if file.suffix == ".npy" and OnDisk(file).ndim > 1]
            if len(arrays) == 1 < len(files):
                path = arrays[0]  # with labels next to it
        return _read(path, format or guess_format(path, options), options)


def _read(path, format, options):
    """Read data of a known format."""
    takes = {"faces": OF_FACES, "matrix": OF_MATRIX}.get(format, OF_PAIRS)
    extra = listed(name for name in options if name not in takes)
    hint = "; if it is a matrix of scores, say format='matrix'" if format == "faces" else ""
    require(not extra, f"read as {format}, it takes no {extra}; it takes {', '.join(takes)}{hint}")
    if format == "faces":
        return open_faces(path, **options)
    if format == "matrix":
        return open_scores(path, **options)
    if "labels" in options:  # of images, by their names
        options = {"metadata": options["labels"], **options}
        del options["labels"]
    try:
        return open_pairs(path, format=format, **options)
    except InputError as error:
        for answer in error.answers:
            if format in LINES and "columns" in answer:  # they have names only in this format
                answer["format"] = format
        raise


def score_roles(names):
    """Return columns of scores as roles: score, or distance for those that are called so."""
    roles = {}
    for name in names:
        roles.setdefault(role_of_score(name) or "score", []).append(name)
    return roles


def guess_format(path, options):
    """Return "faces", "matrix" or a format of `open_pairs`, from a file's content."""
    kind = file_kind(path)
    if kind == "json":
        contents = read_json(path)
        is_table = isinstance(contents, pd.DataFrame)
        return kind_of_table(contents, options) if is_table else "faces"
    columns = options.get("columns", {})
    are_faces = bool({*columns} & {"embedding", "image"})
    if kind == "npy" and not are_faces:
        _ask_square("the array", OnDisk(path).shape)
    if kind in OF_ARRAYS and not are_faces:
        arrays = read_columns(path)
        if kinds_of_scores(arrays):
            return "columns"
        given = {} if "labels" in options else both_sides(columns)
        if matrix_roles(arrays, given) is not None:
            return "matrix"
        tables = [name for name, array in arrays.items() if np.ndim(array) > 1]
        if len(tables) == 1 and not words_of(tables[0]) & (NAMES["embedding"] | PREFIXES):
            _ask_square(f"array {tables[0]!r}", arrays[tables[0]].shape)
        has_rows = bool(tables)
        if not has_rows or {*columns} & {*ROLES_OF_PAIRS}:
            with warnings.catch_warnings(action="ignore", category=DataWarning):  # read again later
                return kind_of_table(read_table(path)[0], options)
    if kind in ARRAYS:
        return "faces"
    if kind == "text" and not options.get("columns"):
        format = recognised_format(path)
        if format is not None:
            return format
    table = without_words(read_frame(path, n_rows=PREVIEW), options.get("missing"))
    numbered = [name for name in table if str(name).isdigit()]
    if are_places(numbered) and not are_faces and len(table) == min(len(numbered), PREVIEW):
        _ask_square("the table", (len(read_frame(path)), len(numbered)))
    return format_of_header(table) or kind_of_table(table, options)


def _ask_square(what, shape):
    """Ask whether an array is a matrix of scores, if it is square."""
    if len(shape) == 2 and shape[0] == shape[1]:
        n = shape[0]
        _ask_format(f"{what} has {n} rows and {n} columns: are these scores of {n} images")


def _ask_format(why):
    """Ask whether a table or array is a matrix of scores."""
    raise InputError(
        f"{why}, or features of images? Say format='matrix' or format='faces'",
        [{"format": "matrix"}, {"format": "faces"}],
    )


def kind_of_table(table, options):
    """Return "faces", "matrix" or "columns" (pairs), from names and contents of a table."""
    columns = options.get("columns") or {}
    if "scores" in options or {*columns} & {*ROLES_OF_PAIRS}:
        return "columns"
    if {"embedding", "image"} & {*columns}:
        return "faces"
    if is_matrix(table):
        header = [*map(str, table.columns)]
        if {columns.get("identity"), options.get("identity")} & {*header}:
            return "faces"
        if are_places(header) or are_places(header[1:]):
            _ask_format(
                "the columns are numbered, and the first column has such numbers, too: are these "
                "scores of images or people with these numbers"
            )
        return "matrix"
    if "identity" in columns or "labels" in options and not looks_like_pairs(table):
        return "faces"
    header = list(table.columns)
    are_numbers = all(is_number_column(table.iloc[:, place]) for place in range(1, len(header)))
    if len({*header}) < len(header) and are_numbers:  # of a table, names would be distinct
        return "matrix"
    check_header(header)
    if are_numbers and names_people(table):
        _ask_format(
            "names in the first column contain names of other columns: are these scores of images "
            "(rows) with people (columns)"
        )
    is_pairs = looks_like_pairs(table) or kinds_of_scores(header)
    if has_embedding(table) and not (is_pairs and side_columns(header)):
        return "faces"
    if is_pairs:
        return "columns"
    if header[0] == "" and are_numbers:
        return "matrix"
    truths = [name for name in header if all(np.logical_or(*words_of_truth(table[name])))]
    scores = fractions(table)
    answers = [
        {"columns": {"genuine": truth, role: score}}
        for truth in truths
        for score in scores
        for role in ("score", "distance")
    ]
    raise InputError(
        "this is not clearly a table of embeddings (an identity and numbered columns such as f0, "
        "f1, ...), a list of pairs (a score, and identities of both sides or a column such as "
        f"genuine) or a matrix of scores\ncolumns: {listed(header, 30)}\nsay what they are: "
        "columns={'score': '...', 'genuine': '...'} (or 'distance'; or 'probe_identity' and "
        "'reference_identity'), or columns={'embedding': '...', 'identity': '...'}, or "
        "format='matrix'" + "".join(f"\nperhaps columns={it['columns']!r}" for it in answers),
        answers,
    )


@dataclass
class Opened:
    """Data that were opened, the paths that they came from, and notices about them.

    `paths` is one path, a mapping of model to path, or None where not all came from files.
    """

    data: xr.Dataset | xr.DataArray
    paths: str | dict | None
    notices: list


def opened(data, opening):
    """Open what a report is about: data, a path, a DataFrame, or a mapping of models to such."""
    if isinstance(data, Opened):
        return data
    (data, paths), notices = with_cautions(_with_paths, data, opening)
    return Opened(data, paths, notices)


def _with_paths(data, opening):
    if isinstance(data, (str, Path)):
        return open_data(data, **opening), str(data)
    if isinstance(data, pd.DataFrame):
        return open_data(data, **opening), None
    if not isinstance(data, Mapping) or isinstance(data, (xr.Dataset, xr.DataTree)):
        return data, None
    if kinds_of_scores(data):
        return _opened_files(data, opening), {name: str(path) for name, path in data.items()}
    models = {str(name): _with_paths(part, opening) for name, part in data.items()}
    paths = {name: path for name, (_, path) in models.items()}
    data = together({name: part for name, (part, _) in models.items()})
    return data, paths if all(paths.values()) else None


# --- several models -------------------------------------------------------------------------------


def together(models):
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
    if kinds == {"faces"}:
        return stack_models(models)
    require(not several, f"{listed(several)} contains several models already")
    require(
        kinds != {"kept pairs"},
        "kept pairs of several models must come from one call: "
        "fk.sweep(fk.score_tensor(fk.stack_models(faces_by_model)))",
    )
    return stack_lists(models) if kinds == {"pairs"} else stack_matrices(models)


def kind_of(data):
    """Return whether something is faces, pairs, kept pairs or a score tensor."""
    if is_kept(data):
        return "pairs" if is_list(data) else "kept pairs"
    dims = set(getattr(data, "dims", ()))
    if {"image", "feature"} <= dims:
        return "faces"
    if {"probe", "reference"} <= dims:
        return "a score tensor"
    raise InputError(
        "a report is made from faces, scores or the path of a file of such, got "
        f"{type(data).__name__}"
    )


def by_model(paths):
    """Return files by the names of their models: the files' names without their endings."""
    endings = re.compile(rf"({'|'.join(map(re.escape, ENDINGS))})+$", re.IGNORECASE)
    names = [endings.sub("", require_path("each file", path).name) for path in paths]
    require(
        len(set(names)) == len(names),
        f"files of several models need distinct names, got {listed(names)}: rename one",
    )
    return dict(zip(names, paths))
