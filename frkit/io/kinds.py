"""Whether contents are embeddings, a matrix of scores or a list of pairs, from names and cells."""

import numpy as np
import pandas as pd

from frkit.base import InputError, listed
from frkit.io.arrays import CELLS
from frkit.io.cells import is_number_column, without_words
from frkit.io.face_roles import has_embedding
from frkit.io.file_contents import table_of
from frkit.io.frames import check_header
from frkit.io.matrix_files import both_sides, is_matrix, matrix_roles, name_columns
from frkit.io.names import (
    NAMES,
    PREFIXES,
    are_places,
    kinds_of_scores,
    side_columns,
    words_of,
    words_of_truth,
)
from frkit.io.pair_roles import fractions, looks_like_pairs
from frkit.io.roles import OF_PAIRS

GAPS = [  # answers where nothing is known
    {"columns": {"score": "...", "genuine": "..."}},
    {"columns": {"score": "...", "probe_identity": "...", "reference_identity": "..."}},
    {"columns": {"embedding": "...", "identity": "..."}},
    {"kind": "matrix"},
]
PREVIEW = 200  # rows that show what a table contains


def guessed_kind(contents, options):
    """Return "faces", "matrix" or "pairs"; ask where names and cells leave it open.

    Parameters
    ----------
    contents : Contents
    options : dict
        Of `open_data`.
    """
    columns = options.get("columns", {})
    if CELLS in columns.values() and "embedding" not in columns:
        return "matrix"
    are_faces = bool({*columns} & {"embedding", "image"})
    are_pairs = "scores" in options or bool({*columns} & {*OF_PAIRS})
    if not contents.is_table():
        return _kind_of_arrays(contents, options, are_faces, are_pairs)
    table = without_words(contents.data.head(PREVIEW), options.get("missing"))
    numbered = [name for name in table if str(name).isdigit()]
    n_rows = len(contents.data)
    if are_places(numbered) and not are_faces and n_rows == len(numbered):
        _ask_square("the table", (n_rows, len(numbered)))
    return _kind_of_table(table, options, are_faces, are_pairs)


def _kind_of_arrays(contents, options, are_faces, are_pairs):
    """Return what arrays are: a matrix, embeddings, or columns of one length."""
    arrays = contents.data
    if are_faces:
        return "faces"
    if kinds_of_scores(arrays):
        return "pairs"
    roles = {} if "labels" in options else both_sides(options.get("columns"))
    if CELLS not in arrays and matrix_roles(arrays, roles) is not None:
        return "matrix"
    tables = [name for name, array in arrays.items() if np.ndim(array) > 1]
    if len(tables) == 1 and not words_of(tables[0]) & (NAMES["embedding"] | PREFIXES):
        name, shape = tables[0], arrays[tables[0]].shape
        _ask_square(f"array {name!r}", shape)
        labels = [pd.Series(array) for array in arrays.values() if np.shape(array) == shape[:1]]
        if any(column.nunique() == shape[1] for column in labels):
            _ask_kind(
                f"array {name!r} has as many columns as there are labels, {shape[1]}: are these "
                "scores of images (rows) with people (columns)"
            )
    if tables and not are_pairs:
        return "faces"
    contents.data = table_of(contents)
    return _kind_of_table(contents.data.head(PREVIEW), options, are_faces, are_pairs)


def _kind_of_table(table, options, are_faces, are_pairs):
    """Return what a table is, from its names and its first rows."""
    if are_pairs:
        return "pairs"
    columns = options.get("columns", {})
    header = [*map(str, table.columns)]
    if "embedding" in columns:
        return "faces"
    if is_matrix(table) and not are_faces:
        if {columns.get("identity"), options.get("identity")} & {*header}:
            return "faces"
        if are_places(header) or are_places(header[1:]):
            _ask_kind(
                "the columns are numbered, and the first column has such numbers, too: are these "
                "scores of images or people with these numbers"
            )
        return "matrix"
    are_faces |= "identity" in columns
    are_faces |= "labels" in options and not looks_like_pairs(table)
    are_numbers = all(is_number_column(table.iloc[:, number]) for number in range(1, len(header)))
    if not are_faces and len({*header}) < len(header) and are_numbers:
        return "matrix"  # of a table, names would be distinct
    check_header(header)
    ask_about_people(table, [table[name] for name in header])
    if are_faces:
        return "faces"
    is_list = looks_like_pairs(table) or kinds_of_scores(header)
    if has_embedding(table) and not (is_list and side_columns(header)):
        return "faces"
    if is_list:
        return "pairs"
    if header[0] == "" and are_numbers:
        return "matrix"
    _ask_what(table)


def ask_about_people(table, labels):
    """Ask whether a table with columns that are called like people has scores of images with them.

    labels : columns that may contain people
    """
    numbers = {name for name in table if is_number_column(table[name])}
    are_numbered = any(str(name).isdigit() for name in numbers)
    labels = [column for column in labels if are_numbered or column.name not in numbers]
    if any(name_columns(column, numbers - {column.name}) for column in labels):
        _ask_kind(
            "labels of the rows contain names of columns: are these scores of images (rows) with "
            "people (columns)"
        )


def _ask_square(what, shape):
    """Ask whether an array is a matrix of scores, if it is square."""
    if len(shape) == 2 and shape[0] == shape[1]:
        n = shape[0]
        _ask_kind(f"{what} has {n} rows and {n} columns: are these scores of {n} images")


def _ask_kind(why):
    """Ask whether a table or array is a matrix of scores."""
    raise InputError(
        f"{why}, or features of images?",
        [{"kind": "matrix"}, {"kind": "faces"}],
    )


def _ask_what(table):
    """Ask what a table is whose columns have no usual names."""
    truths = [name for name in table if all(np.logical_or(*words_of_truth(table[name])))]
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
        f"genuine) or a matrix of scores\ncolumns: {listed(table, 30)}",
        answers or GAPS,
    )
