"""Identities read from names of images by a pattern; labels joined from a table of metadata."""

import re

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, listed, require, require_text, warn
from frkit.data.files import named, not_read, require_data
from frkit.data.labels import can_be_named, clean_labels
from frkit.data.tables import read_frame

PERSON_FIELDS = ("identity", "name", "person", "subject", "speaker", "id")
DIGIT_FIELDS = ("number", "n")
ENDING = r"(?:\.[A-Za-z]\w{1,3})?$"
WAYS = {  # usual patterns of image names that contain the identity
    **{f"folder {k + 1}": rf"^(?:[^/]*/){{{k}}}([^/]*)/" for k in range(6)},
    "up to a number": rf"^(?:.*/)?([^/]+?)(?:[_-][0-9]+)?{ENDING}",
    "up to '-'": rf"^(?:.*/)?([^/][^-/]*?)(?:-[^/]*)?{ENDING}",
    "up to '_'": rf"^(?:.*/)?([^/][^_/]*?)(?:_[^/]*)?{ENDING}",
    "up to the last digits": rf"^(?:.*/)?([^/]*[^/0-9])[0-9]+{ENDING}",
}


def is_pattern(text):
    """Return whether identity= is a pattern of image names and not the name of a column."""
    return isinstance(text, str) and "{" in text


def identities_from(names, pattern):
    """Read who is in each image from its name, by a pattern such as "{name}_{number}.jpg".

    A field matches any text without a slash, {number} and {n} digits only; {identity} (or
    name, person, subject, speaker, id) is the person. Folders in front of the pattern are ignored.
    A name that does not fit is an error.
    """
    require_text("identity=", pattern, "a pattern of image names such as '{name}_{number}.jpg'")
    fields = re.findall(r"\{(\w+)\}", pattern)
    person = {*fields} & {*PERSON_FIELDS}
    require(
        len(person) == 1,
        f"identity={pattern!r} must be a pattern with one field that says who it is: "
        f"{', '.join(PERSON_FIELDS)}",
    )
    expression = re.escape(pattern.replace("\\", "/"))
    for field in fields:
        characters = "[0-9]+" if field in DIGIT_FIELDS else "[^/]+"
        escaped = re.escape("{" + field + "}")
        expression = expression.replace(escaped, f"(?P<{field}>{characters})", 1)
        expression = expression.replace(escaped, f"(?P={field})")  # the same again
    people = _paths(names).str.extract(rf"\A(?:.*/)?{expression}\Z")[person.pop()]
    odd = np.unique(np.asarray(names, str)[people.isna()])
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
        Attributes that exist already: the table must not contain them.

    Returns
    -------
    dict
        Attribute, in lower case, to the labels of each side; None where the table lacks the name.
    """
    keys = {
        kind: [clean_labels(side, len(side), kind) for side in sides]
        for kind, sides in keys.items()
        if all(side is not None for side in sides)
    }
    require(keys, "metadata= is joined by names of images or people, but this file has neither")
    path = require_data("metadata", metadata)
    with named(metadata):
        table = read_frame(path).drop(columns="", errors="ignore")
        rows = table.apply(lambda column: clean_labels(column, len(table), column.name))
        kind, key = _best_column(rows, keys)
        rows = rows[rows[key] != UNKNOWN].drop_duplicates()
        attributes = _attributes(rows, key)
        again = [name for name in attributes if name.lower() in taken]
        require(
            not again,
            f"columns {listed(again)} are also in the file of scores or embeddings: leave one out",
        )
    labels = rows.drop_duplicates(key).set_index(key)[attributes].rename(columns=str.lower)
    names = np.unique(np.concatenate(keys[kind]))
    absent = np.setdiff1d(names, labels.index)
    if len(absent) > 0:
        warn(
            f"{metadata}: column {key!r} lacks {len(absent)} of {len(names)} {kind} names "
            f"({listed(absent, 3)}): they are in no group"
        )
    sides = [labels.reindex(side) for side in keys[kind]]
    return {name: tuple(side[name].to_numpy(object) for side in sides) for name in labels}


def _best_column(rows, keys):
    """Return which names identify the rows, and the column that contains most of them."""
    names = {kind: np.unique(np.concatenate(sides)) for kind, sides in keys.items()}
    shares = {
        (kind, column): np.isin(names[kind], rows[column]).mean()
        for kind in names
        for column in rows
    }
    best = max(shares, key=shares.get)
    examples = [f"{kind} names such as {listed(names[kind][:1])}" for kind in names]
    require(
        shares[best] > 0,
        f"no column contains {' nor '.join(examples)}, so nothing can be joined; the columns are "
        f"{listed(rows, 12)}",
    )
    return best


def _attributes(rows, key):
    """Return the columns with one label for each name in the key; a warning lists the others."""
    others = rows.columns.drop(key)
    varying = others[rows.groupby(key)[others].nunique().max() > 1]
    if len(varying) > 0:
        warn(f"not read: {listed(varying)} (rows of one {key!r} differ in them)")
    attributes = [name for name in others.drop(varying) if can_be_named(name.lower())]
    not_read(others.drop(varying).drop(attributes), "frkit uses such a name itself; rename it")
    require(attributes, f"has no column of labels besides {key!r}")
    return attributes
