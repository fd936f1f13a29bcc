"""Identities read from names of images by a pattern; labels joined from a table of metadata."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, listed, require, warn
from frkit.data.files import named
from frkit.data.labels import RESERVED, clean_labels
from frkit.data.tables import read_frame

PERSON_FIELDS = ("identity", "name", "person", "subject", "speaker", "id")
DIGIT_FIELDS = ("number", "n")
ENDING = r"(?:\.[A-Za-z]\w{1,3})?$"
WAYS = {  # in which names of images usually say who it is
    **{f"folder {k + 1}": rf"^(?:[^/]*/){{{k}}}([^/]*)/" for k in range(6)},
    "up to a number": rf"^(?:.*/)?([^/]+?)(?:[_-][0-9]+)?{ENDING}",
    "up to '-'": rf"^(?:.*/)?([^/][^-/]*?)(?:-[^/]*)?{ENDING}",
    "up to '_'": rf"^(?:.*/)?([^/][^_/]*?)(?:_[^/]*)?{ENDING}",
}


def is_pattern(text):
    """Return whether identity= is a pattern of image names and not the name of a column."""
    return isinstance(text, str) and "{" in text


def identities_from(names, pattern):
    """Read who is in each image from its name, by a pattern such as "{name}_{number}.jpg".

    A field stands for any text without a slash, {number} and {n} for digits only; {identity} (or
    name, person, subject, speaker, id) is the person. Folders in front of the pattern are ignored.
    A name that does not fit is an error.
    """
    fields = re.findall(r"\{(\w+)\}", pattern)
    person = sorted(set(fields) & set(PERSON_FIELDS))
    words = f"must be a pattern with one field that says who it is: {', '.join(PERSON_FIELDS)}"
    require(len(person) == 1, f"identity={pattern!r} {words}")
    expression = re.escape(pattern.replace("\\", "/"))
    for field in fields:
        characters = "[0-9]+" if field in DIGIT_FIELDS else "[^/]+"
        escaped = re.escape("{" + field + "}")
        expression = expression.replace(escaped, f"(?P<{field}>{characters})", 1)
        expression = expression.replace(escaped, f"(?P={field})")  # the same again
    images = pd.Series(np.asarray(names, str))
    people = _paths(images).str.extract(rf"\A(?:.*/)?{expression}\Z")[person[0]]
    odd = images[people.isna()].unique()
    require(len(odd) == 0, f"identity={pattern!r} does not fit the image names {listed(odd, 3)}")
    return people.to_numpy(str)


def people_by_name(names, pattern):
    """Return who is in images by a pattern of WAYS; None where it does not fit a name."""
    people = _paths(names).str.extract(pattern)[0]
    return None if people.isna().any() else people.to_numpy(object)


def _paths(names):
    """Return names of images with slashes between folders."""
    return pd.Series(np.asarray(names, object), dtype=str).str.replace("\\", "/", regex=False)


def joined(metadata, keys, taken=()):
    """Return labels of every side from a table, joined on its column that names these images.

    Parameters
    ----------
    metadata : path
        A table with a header.
    keys : mapping of str to list of sequences
        Names that may identify its rows, e.g. {"identity": [probes', references']}; those with None
        in place of a side are passed over.
    taken : names of attributes, optional
        Attributes that exist already, which the table must not have.

    Returns
    -------
    dict
        Attribute, in lower case, to the labels of each side; None where the table lacks the name.
    """
    names_of_sides = {}
    for kind, sides in keys.items():
        if all(side is not None for side in sides):
            names_of_sides[kind] = [clean_labels(side, len(side), kind) for side in sides]
    words = "metadata= is joined by names of images or people, but this file has neither"
    require(len(names_of_sides) > 0, words)
    with named(metadata):
        table = read_frame(Path(metadata)).drop(columns="", errors="ignore")
        rows = table.apply(lambda column: clean_labels(column, len(table), column.name))
        kind, key = _best_column(rows, names_of_sides)
        rows = rows[rows[key] != UNKNOWN].drop_duplicates()
        attributes = _attributes(rows, key)
        again = [name for name in attributes if name.lower() in taken]
        words = "stand in the file of the scores or embeddings too: leave one out"
        require(not again, f"columns {listed(again)} {words}")
    labels = rows.drop_duplicates(key).set_index(key)[attributes].rename(columns=str.lower)
    names = np.unique(np.concatenate(names_of_sides[kind]))
    absent = np.setdiff1d(names, labels.index)
    if len(absent) > 0:
        words = f"column {key!r} lacks {len(absent)} of {len(names)} {kind} names"
        warn(f"{metadata}: {words} ({listed(absent, 3)}): they are in no group")
    sides = [labels.reindex(side) for side in names_of_sides[kind]]
    return {name: tuple(side[name].to_numpy(object) for side in sides) for name in labels}


def _best_column(rows, keys):
    """Return which names identify the rows, and the column that contains most of them."""
    shares = {}
    examples = []
    for kind, sides in keys.items():
        names = np.unique(np.concatenate(sides))
        examples.append(f"{kind} names such as {listed(names[:1])}")
        for column in rows:
            shares[kind, column] = np.isin(names, rows[column]).mean()
    best = max(shares, key=shares.get)
    words = f"no column contains {' nor '.join(examples)}, so nothing can be joined"
    require(shares[best] > 0, f"{words}; the columns are {listed(rows, 12)}")
    return best


def _attributes(rows, key):
    """Return the columns with one label for each name in the key; a warning lists the others."""
    attributes = []
    others = []
    for name in rows.columns.drop(key):
        if name.lower() in RESERVED or "/" in name:
            others.append(f"{name!r} (frkit uses the name itself, or cannot store it; rename it)")
        elif rows.groupby(key)[name].nunique().max() > 1:
            others.append(f"{name!r} (rows of one {key!r} differ in it)")
        else:
            attributes.append(name)
    if others:
        warn(f"not read: {', '.join(others)}")
    require(len(attributes) > 0, f"has no column of labels beside {key!r}")
    return attributes
