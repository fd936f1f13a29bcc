"""What names say: who is in an image, if the scores agree, and which labels a table gives it."""

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
COMPARED = 20_000  # scores of each kind that show whether genuine ones are higher
FIRST = 2_000  # pairs that show whether a pattern of names can be right
CLEAR = 4.0  # scores agree with their direction if this many standard errors from one half
ALIKE = 0.75  # share of genuine scores above impostors' where names say who it is


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
    misfits = np.unique(np.asarray(names, str)[people.isna()])
    require(
        len(misfits) == 0,
        f"identity={pattern!r} does not fit the image names {listed(misfits, 3)}",
    )
    return people.to_numpy(str)


def people_by_name(names, pattern):
    """Return who is in images by a pattern of WAYS; None if it does not fit all names."""
    people = _paths(names).str.extract(pattern)[0]
    return None if people.isna().any() else people.to_numpy(object)


def _paths(names):
    """Return names of images with slashes between folders."""
    return pd.Series(np.asarray(names, object), dtype=str).str.replace("\\", "/", regex=False)


# --- what scores say about names ------------------------------------------------------------------


def people_of_names(images, genuine=None, scores=None):
    """Read who is who from names of images, if the data agree with one way to read them.

    Parameters
    ----------
    images : Sides
    genuine : array of bool, optional
        The truth: people must agree with it in every pair.
    scores : array, optional
        Where there is no truth: larger is more alike, and the same person's must be higher.

    Returns
    -------
    Sides or None, str
        Who is on both sides, and the way of WAYS; None and "" where names do not say.
    """
    for way, pattern in WAYS.items():
        if genuine is not None:  # a few of many pairs suffice to rule a pattern out
            is_same_at_first = _is_same_at_first(images, pattern)
            if not np.array_equal(is_same_at_first, genuine[:FIRST]):
                continue
        names = people_by_name(images.names, pattern)
        if names is None:
            continue
        people = images.mapped(names)
        is_same = people.is_same()
        if is_same.all() or not is_same.any():
            continue
        if genuine is None:
            is_other = ~images.is_same()
            agrees = _are_clearly_higher(scores[is_other], is_same[is_other])
        else:
            agrees = np.array_equal(is_same, genuine)
        if agrees:
            return people, way
    return None, ""


def strangers_called_genuine(images, genuine, scores):
    """Return how many of the first genuine pairs show two people by their names, and of how many.

    None are counted unless the scores say so, too. Then the truth may be of something else, such as
    the same sex.
    """
    genuine = genuine[:FIRST]
    scores = scores[:FIRST][genuine]
    for pattern in WAYS.values():
        is_same = _is_same_at_first(images, pattern)
        if is_same is not None and is_same.any() and genuine[is_same].all():
            is_same = is_same[genuine]
            if _are_clearly_higher(scores, is_same):
                return np.sum(~is_same), len(is_same)
    return 0, 0


def _is_same_at_first(images, pattern):
    """Return which of the first pairs show one person by a pattern; None if it does not fit."""
    sides = [images.names[side[:FIRST]] for side in images[:2]]
    people = people_by_name(np.concatenate(sides), pattern)
    if people is None:
        return None
    probe, reference = np.split(people, 2)
    return probe == reference


def _are_clearly_higher(scores, genuine):
    """Return whether genuine scores are as high as those of one person are."""
    area, errors = share_above(scores, genuine)
    return errors > CLEAR and area > ALIKE


def share_above(scores, genuine):
    """Return the share of genuine scores above impostors', and by how many standard errors.

    Parameters
    ----------
    scores : array of float
        NaN is left out; of many scores some are taken.
    genuine : array of bool
    """
    genuine_scores = _some(scores[genuine])
    impostor_scores = _some(scores[~genuine])
    n_genuine = len(genuine_scores)
    n_impostor = len(impostor_scores)
    if n_genuine == 0 or n_impostor == 0:
        return 0.5, 0.0
    ranks = pd.Series(np.concatenate([genuine_scores, impostor_scores])).rank().to_numpy()
    above = ranks[:n_genuine].sum() - n_genuine * (n_genuine + 1) / 2
    area = above / (n_genuine * n_impostor)
    error = np.sqrt((n_genuine + n_impostor + 1) / (12 * n_genuine * n_impostor))
    return area, (area - 0.5) / error


def _some(scores):
    """Return some of the scores that are not missing, at most twice COMPARED."""
    scores = scores[np.isfinite(scores)]
    return scores[:: max(1, len(scores) // COMPARED)]


# --- a table of metadata --------------------------------------------------------------------------


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
        names_of_kinds = {kind: np.unique(np.concatenate(sides)) for kind, sides in keys.items()}
        kind, key = _best_column(rows, names_of_kinds)
        rows = rows[rows[key] != UNKNOWN].drop_duplicates()
        attributes = _attributes(rows, key)
        again = [name for name in attributes if name.lower() in taken]
        require(
            not again,
            f"columns {listed(again)} are also in the file of scores or embeddings: remove one",
        )
    labels = rows.drop_duplicates(key).set_index(key)[attributes].rename(columns=str.lower)
    names = names_of_kinds[kind]
    absent = np.setdiff1d(names, labels.index)
    if len(absent) > 0:
        warn(
            f"{metadata}: column {key!r} lacks {len(absent)} of {len(names)} {kind} names "
            f"({listed(absent, 3)}): they are in no group"
        )
    sides = [labels.reindex(side) for side in keys[kind]]
    return {name: tuple(side[name].to_numpy(object) for side in sides) for name in labels}


def _best_column(rows, names):
    """Return which kind of names identifies the rows, and the column that contains most of them."""
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
