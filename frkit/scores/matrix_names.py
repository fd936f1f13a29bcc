"""Names on both sides of a matrix of scores: whose images they are, and whether scores agree."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import require, warn
from frkit.data.alignment import aligned
from frkit.data.evidence import CLEAR, people_of_names, share_above
from frkit.data.joins import WAYS, people_by_name
from frkit.data.labels import clean_labels
from frkit.data.sides import Sides
from frkit.data.square import role_of_square, with_both_halves
from frkit.data.tables import as_numbers
from frkit.scores.pair_list import failed_as_nan, marks_apart, warn_of_marks

GUESS = "guess"  # of `missing`: as `failed_mark` says
MARK = -1  # of a failed comparison, in matrices of many systems
SHOW_MARKS = 100_000  # scores of whole rows that show marks such as -1, and the direction
FEWEST_ROWS = 20
COMPARED = 500_000  # scores of whole rows that show who is who
SHOWN = 30  # rows and columns that show what a table contains
THEY_ARE_PEOPLE = "the ids are people"
DISTANCES = (
    "strangers have higher scores than images of one person: are these distances? Say "
    "distance=True, or distance=False where larger means more alike"
)


def is_matrix(table):
    """Return whether a table has names in its header and its first column, and else numbers."""
    if len(table.columns) < 3 or len(table) < 2:
        return False
    for name in range(1, min(len(table.columns), SHOWN)):
        values, is_missing = as_numbers(table.iloc[:SHOWN, name])
        if not (np.isfinite(values) | is_missing).all():
            return False
    names = [*map(str, table.columns[1:])]
    rows = clean_labels(table.iloc[:, 0], len(table), "ids").tolist()
    if are_places(rows):  # as pandas numbers rows: perhaps of embeddings in columns 0, 1, ...
        corner = _corner(table.iloc[:, 1:])
        area, errors = share_above(corner, np.eye(len(corner), dtype=bool))
        is_clear = abs(errors) > CLEAR or area in (0, 0.5, 1)  # 0.5: no scores on the diagonal
        return rows == names[: len(rows)] and is_clear
    n_shared = len({*names}.intersection(rows))
    return n_shared >= min(len({*names}), len({*rows})) / 2


def as_written(columns, rows):
    """Return names of columns as they were before pandas numbered repeated ones: a, a.1, a.2."""
    texts, rows = pd.Index(columns).astype(str), pd.Index(rows).astype(str)
    bare = texts.str.replace(r"\.[0-9]+$", "", regex=True)
    is_numbered = ~texts.isin(rows) & bare.isin(rows) & bare.isin(texts)
    return texts.where(~is_numbered, bare) if is_numbered.any() else columns


def are_places(names):
    """Return whether a list of names counts from 0 or 1, as pandas numbers rows."""
    return any(names == [*map(str, range(k, k + len(names)))] for k in (0, 1))


def is_nameless(table):
    """Return whether the first rows of a table are those of a square matrix without names."""
    return are_places(table.columns.tolist()) and role_of_square(_corner(table)) is not None


def _corner(table):
    """Return the largest square at the beginning of a table as numbers."""
    n = min(table.shape)
    return np.column_stack([as_numbers(table.iloc[:n, place])[0] for place in range(n)])


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
    rows = slice(None, None, max(1, values.shape[0] * values.shape[1] // COMPARED))
    scores = failed_as_nan(np.asarray(values[rows]), missing, is_distance)
    places, distinct = pd.factorize(np.concatenate(names))
    probe, reference = np.split(places, [len(names[0])])
    probe = probe[rows].repeat(len(reference))
    images = Sides(probe, np.tile(reference, len(scores)), distinct)
    _, way = people_of_names(images, scores=scores.ravel())
    if way:
        people = [people_by_name(side, WAYS[way]).astype(str) for side in names]
        return people, names, f"from names of images, {way}"
    is_turned = not is_direction_known and people_of_names(images, scores=-scores.ravel())[1]
    require(not is_turned, DISTANCES)
    return names, None, THEY_ARE_PEOPLE


def check_direction(values, people, missing, is_distance, is_guess):
    """Refuse scores of one person that are lower, and a guess that is not clearly confirmed."""
    rows, scores = _some_rows(values)
    scores = failed_as_nan(scores, missing, is_distance)
    probe, reference = (np.asarray(side).astype(str) for side in people)
    area, errors = share_above(scores, probe[rows, None] == reference)
    is_clear = errors > CLEAR or area == 1
    require(is_clear if is_guess else area >= 0.5 or errors > -CLEAR, DISTANCES)


def failed_mark(values, missing):
    """Return the marks of failed comparisons.

    Unless the user names marks, -1 is one where all other scores are positive or far from it.

    Parameters
    ----------
    values : array, (probe, reference)
        In memory, or on disk: then some rows are read.
    missing : float, sequence of float, None or "guess"
    """
    if not (isinstance(missing, str) and missing == GUESS):
        return missing
    _, scores = _some_rows(values)
    distinct, counts = np.unique(scores[~np.isnan(scores)], return_counts=True)
    others = distinct[distinct != MARK]
    is_apart = len(others) > 0 and others[0] >= 0 or MARK in marks_apart(distinct, counts)
    if MARK not in distinct or not is_apart:
        warn_of_marks(scores)
        return None
    warn(
        f"the score {MARK} is read as a failed comparison, because the others are from "
        f"{others[0]:g} to {others[-1]:g}; if it is a score, give missing=[]"
    )
    return MARK


def _some_rows(values):
    """Return places of some rows, and their scores; in a square, NaN of images with themselves."""
    n_rows, n_columns = values.shape
    step = max(1, min(n_rows * n_columns // SHOW_MARKS, n_rows // FEWEST_ROWS))
    rows = np.arange(0, n_rows, step)
    scores = np.array(values[::step], float)
    if n_rows == n_columns:
        scores[np.arange(len(rows)), rows] = np.nan
    return rows, scores


def with_names(values, probes, references, distance):
    """Return a matrix without its labels, and the labels of probes and of references.

    A DataFrame's index and columns, or a DataArray's coordinates, are names of images, or of people
    where no identities are given. What has labels is brought into their order.

    Parameters
    ----------
    values : array, DataFrame or DataArray
    probes, references : dict of labels or None
        `identity`, `image` and attributes.
    distance : bool
        Whether smaller is more alike.
    """
    names = _names_of_matrix(values)
    if isinstance(values, (pd.DataFrame, xr.DataArray)):
        values = values.to_numpy() if isinstance(values, pd.DataFrame) else values.data
    sides = []
    for labels, own_names in zip((probes, references), names):
        matrix = None if own_names is None else pd.Series(range(len(own_names)), own_names)
        ordered = aligned({"the matrix": matrix, **labels})
        sides.append({key: ordered[key] for key in labels})
    has_names = all(own_names is not None for own_names in names)
    if all(labels["identity"] is None for labels in sides):
        require(
            has_names, "give probe_identity= and reference_identity=, who is on each row and column"
        )
        values = with_both_halves(values)
        people, images, _ = people_of_matrix(values, names, None, distance, distance)
        if not distance:
            check_direction(values, people, None, False, False)
        for place, labels in enumerate(sides):
            labels["identity"] = people[place]
            if images is not None:
                labels["image"] = images[place]
    elif sides[0]["image"] is None and has_names and all(each.is_unique for each in names):
        for labels, own_names in zip(sides, names):
            labels["image"] = own_names.astype(str).to_numpy()
    return values, *sides


def _names_of_matrix(values):
    """Return the labels of rows and of columns that pandas or xarray gives a matrix."""
    names = [None, None]
    if isinstance(values, pd.DataFrame):
        names = [values.index, as_written(values.columns, values.index)]
    elif isinstance(values, xr.DataArray):
        names = [values.indexes.get(dim) for dim in values.dims]
    return [None if isinstance(each, pd.RangeIndex) else each for each in names]
