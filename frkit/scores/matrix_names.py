"""Names on both sides of a matrix of scores: whose images they are, and whether scores agree."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import require
from frkit.data.alignment import aligned
from frkit.data.evidence import CLEAR, people_of_names, share_above
from frkit.data.joins import WAYS, people_by_name
from frkit.data.roles import SIDES
from frkit.data.sides import Sides
from frkit.data.tables import as_numbers

COMPARED = 500_000  # scores of whole rows that show who is who
SHOWN = 30  # rows and columns that show what a table contains
DISTANCES = (
    "strangers have higher scores than images of one person: are these distances? Say "
    "distance=True, or distance=False where larger means more alike"
)


def is_matrix(table):
    """Return whether a table has names in its header and its first column, and else numbers."""
    if len(table.columns) < 3 or len(table) < 2:
        return False
    for place in range(1, min(len(table.columns), SHOWN)):
        values, is_missing = as_numbers(table.iloc[:SHOWN, place])
        if not (np.isfinite(values) | is_missing).all():
            return False
    names = {*map(str, table.columns[1:])}
    rows = {*table.iloc[:, 0].astype(str)}
    return len(names & rows) >= min(len(names), len(rows)) / 2


def people_of_matrix(values, names, distance=None):
    """Find out whether names are people, or images that say who is in them.

    They are images where each stands once on each side and the scores of those who are one person
    by a usual pattern are clearly higher.

    Parameters
    ----------
    values : array, (probe, reference)
    names : pair of sequences of str
    distance : bool, optional
        Whether smaller is more alike; None where nobody said it.

    Returns
    -------
    people : pair of arrays
    images : pair of arrays or None
    how : str
        How people were read from names of images.
    """
    names = [np.asarray(side, str) for side in names]
    rows = slice(None, None, max(1, values.size // COMPARED))
    some = np.asarray(values[rows], float)
    if all(len(np.unique(side)) == len(side) for side in names):
        distinct, places = np.unique(np.concatenate(names), return_inverse=True)
        probe, reference = np.split(places, [len(names[0])])
        sides = np.repeat(probe[rows], len(reference)), np.tile(reference, len(some))
        images = Sides(*sides, distinct)
        _, way = people_of_names(images, scores=(-some if distance else some).ravel())
        if not way and distance is None:
            require(not people_of_names(images, scores=-some.ravel())[1], DISTANCES)
        if way:
            people = [people_by_name(side, WAYS[way]).astype(str) for side in names]
            return people, names, f"from names of images, {way}"
    if distance is None:
        genuine = names[0][rows, None] == names[1]
        area, errors = share_above(some.ravel(), genuine.ravel())
        require(area >= 0.5 or errors > -CLEAR, DISTANCES)
    return names, None, ""


def with_names(values, identities, images, attributes):
    """Return a matrix without labels, and identities, images and attributes of both sides.

    A DataFrame's index and columns, or a DataArray's coordinates, are names of images, or of people
    where no identities are given. What has labels is brought into their order.
    """
    labels = labels_of_matrix(values)
    if isinstance(values, xr.DataArray):
        values = values.data
    elif isinstance(values, pd.DataFrame):
        values = values.to_numpy()
    sides = []
    for place, side in enumerate(SIDES):
        given = {f"{side}_identity": identities[place], side: images[place]}
        given |= {f"{side} {name}": both[place] for name, both in attributes.items()}
        if labels[place] is not None:
            given = {"the matrix": pd.Series(range(len(labels[place])), labels[place])} | given
        sides.append(aligned(given))
    identities = [given[f"{side}_identity"] for side, given in zip(SIDES, sides)]
    images = [given[side] for side, given in zip(SIDES, sides)]
    attributes = {
        name: tuple(given[f"{side} {name}"] for side, given in zip(SIDES, sides))
        for name in attributes
    }
    has_labels = all(label is not None for label in labels)
    if identities[0] is None and identities[1] is None:
        words = "give probe_identity= and reference_identity=, who is on each row and column"
        require(has_labels, words)
        identities, names, _ = people_of_matrix(values, labels)
        images = images if names is None else names
    elif images[0] is None and has_labels and all(label.is_unique for label in labels):
        images = [label.astype(str).to_numpy() for label in labels]
    return values, identities, images, attributes


def labels_of_matrix(values):
    """Return the labels of rows and of columns that pandas or xarray gives a matrix."""
    if isinstance(values, pd.DataFrame):
        labels = [values.index, values.columns]
    elif isinstance(values, xr.DataArray):
        labels = [values.indexes.get(dim) for dim in values.dims]
    else:
        return [None, None]
    return [None if isinstance(label, pd.RangeIndex) else label for label in labels]
