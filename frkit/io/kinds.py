"""Whether contents are embeddings, a matrix of scores or a list of pairs, from names and cells."""

import numpy as np

from frkit.base import InputError, require
from frkit.io.arrays import CELLS
from frkit.io.cells import WITH_FRAME, is_number_column
from frkit.io.face_roles import EMBEDDING_OF_COLUMNS, MANY, has_embedding
from frkit.io.file_contents import table_of
from frkit.io.frames import check_header
from frkit.io.matrix_files import both_sides, is_matrix, matrix_roles
from frkit.io.names import (
    NAMES,
    PREFIXES,
    are_places,
    kinds_of_scores,
    numbered_runs,
    side_columns,
    words_of,
)
from frkit.io.pair_roles import OTHER_WORDS, looks_like_pairs, role_of_score
from frkit.io.roles import OF_PAIRS, Roles, some_rows

GAPS = [  # roles where nothing is known
    {"score": "...", "genuine": "..."},
    {"distance": "...", "genuine": "..."},
    {"score": "...", "probe": "...", "reference": "..."},
    {"score": "...", "probe_identity": "...", "reference_identity": "..."},
]
MANY_ARRAYS = (
    "has many arrays of one length; how are they named?\n"
    "  by images: fk.open_data(pd.DataFrame({'image': [*arrays], 'embedding': [*arrays.values()]}"
    "), identity='{name}_{number}.jpg')\n"
    "  by people: fk.faces(np.concatenate([*arrays.values()]), np.repeat([*arrays], "
    "[*map(len, arrays.values())]))\n"
    "  (with arrays = dict(np.load(path)), or of .h5 {name: array[()] for name, array in "
    "h5py.File(path).items()})"
)
NO_LABELS = (
    "one column does not say which pairs are genuine. Scores and their labels, 1 for genuine, are "
    "fk.pairs(np.load('scores.npy'), np.load('labels.npy')), of text fk.pairs("
    "np.loadtxt('scores.txt'), np.loadtxt('labels.txt'))"
)
PREVIEW = 200  # rows that show what a table contains


def guessed_kind(contents, options, path):
    """Return "faces", "matrix" or "pairs"; ask where names and cells leave it open.

    Parameters
    ----------
    contents : Contents
    options : dict
        Of `open_data`.
    path : Path or pd.DataFrame
    """
    columns = options.get("columns", {})
    if not columns:
        _ask_about_kinds(contents.data)
    if CELLS in columns.values():
        return "matrix"
    if "embedding" in columns:
        return "faces"
    are_pairs = "scores" in options or bool({*columns} & {*OF_PAIRS})
    kind = None if contents.is_table() else _kind_of_arrays(contents.data, options, path, are_pairs)
    if kind is None:
        contents.data = table_of(contents)
        kind = "pairs" if are_pairs else _kind_of_table(contents.data, options)
    return kind


def _ask_about_kinds(data):
    """Ask for one column of scores where genuine and impostor scores are apart.

    data : pd.DataFrame or dict of array, of which single numbers, such as thresholds, do not count
    """
    kinds = kinds_of_scores([name for name in data if np.size(data[name]) > 1])
    if kinds is not None:
        genuine, impostor = kinds["genuine"], kinds["impostor"]
        raise InputError(
            f"{genuine!r} and {impostor!r} may be genuine and impostor scores; frkit reads\n"
            f"  one column of scores: fk.open_data(pd.concat({{1: pd.Series(data[{genuine!r}]), 0: "
            f"pd.Series(data[{impostor!r}])}}, names=['genuine']).dropna().droplevel(1)"
            ".reset_index(name='score'))\n"
            "  or a file of scores for each: fk.open_data(['genuine.txt', 'impostor.txt'])\n"
            "  (with data = pd.read_csv(path), np.load(path) or scipy.io.loadmat(path, "
            "squeeze_me=True))"
        )


def _kind_of_arrays(arrays, options, path, are_pairs):
    """Return what arrays are: a matrix, embeddings, or None for the columns of a table."""
    shapes = {(np.shape(array)[-1:], array.dtype.kind) for array in arrays.values()}
    require(len(arrays) <= MANY or len(shapes) > 1, MANY_ARRAYS)
    roles = {} if "labels" in options else both_sides(options.get("columns"))
    if CELLS not in arrays and matrix_roles(arrays, roles) is not None:
        return "matrix"
    tables = [name for name, array in arrays.items() if np.ndim(array) > 1]
    if are_pairs or not tables:
        return None
    if any(words_of(name) & (NAMES["embedding"] | PREFIXES) for name in tables):
        return "faces"
    if any(map(role_of_score, tables)):
        return "matrix"
    [name, *others] = tables
    n_rows, n_columns = arrays[name].shape[-2:]
    is_called_so = name == CELLS and n_columns > 2 and role_of_score(path.stem)
    if not others and (n_rows == n_columns or is_called_so):
        ask_kind(f"array {name!r} has {n_rows} rows and {n_columns} columns")
    return "faces"


def _kind_of_table(table, options):
    """Return what a table is, from its names and its first rows."""
    columns = options.get("columns", {})
    some, table = some_rows(table), table.head(PREVIEW)
    header = [*map(str, table.columns)]
    has_vectors = table.columns.is_unique and has_embedding(table)
    is_named = has_vectors or not are_places(header)  # else lines have no header
    require(has_vectors or len(header) > 1, NO_LABELS)
    if is_named and "image" not in columns and is_matrix(table):
        if are_places(header) or are_places(header[1:]):
            ask_kind("the columns have numbers, such as the first column has")
        return "matrix"
    check_header(header)
    is_list = looks_like_pairs(table)
    are_faces = bool({"image", "identity"} & {*columns}) or "labels" in options and not is_list
    if are_faces or has_vectors and not (is_list and side_columns(header)):
        return "faces"
    if is_list:
        return "pairs"
    _ask_what(some, is_named)


def ask_kind(why):
    """Ask whether a table or array is a matrix of scores."""
    raise InputError(
        f"{why}: are these scores of images (rows) with images or people (columns), or features of "
        "images?",
        [{"kind": "matrix"}, {"kind": "faces"}],
    )


def _ask_what(table, is_named):
    """Ask what a table is whose columns have no usual names, or no names at all."""
    runs = numbered_runs([*table.columns])
    embeddings = [{"embedding": prefix} for prefix, names in runs.items() if len(names) >= MANY]
    is_first_number, *are_numbers = (is_number_column(column) for _, column in table.items())
    if len(are_numbers) >= MANY and all(are_numbers) and not (is_first_number or embeddings):
        ask_kind("the first column has names, and all others have numbers")
    Roles().ask(
        table,
        "this is not clearly a table of embeddings, a list of pairs or a matrix of scores: which "
        "columns are what?"
        "\n  embeddings have an identity, and numbered columns such as f0, f1, ..., which are "
        f"named by the text before the number; columns without numbers: {EMBEDDING_OF_COLUMNS}"
        "\n  a list of pairs has a score, and identities of both sides or a column such as "
        f"genuine; {OTHER_WORDS}"
        "\n  a matrix has names in its header and first column, and scores elsewhere"
        f"\n  ({WITH_FRAME})",
        *GAPS,
        *embeddings,
        answers=[{"kind": "matrix"}] if is_named else [],
    )
