"""Score matrices from files: which array is the matrix, and which are labels of both its sides."""

import numpy as np
import pandas as pd

from frkit.base import listed, require, warn
from frkit.data.files import not_read
from frkit.data.labels import clean_labels
from frkit.data.sides import SIDES, WHO
from frkit.io.arrays import CELLS
from frkit.io.cells import (
    are_names_of_rows,
    as_numbers,
    to_numbers,
    without_words,
)
from frkit.io.joins import identities_from, is_pattern
from frkit.io.labels_table import attributes_by_name, labels_in_order, occur_again
from frkit.io.matrix import as_written, ask_whom, check_direction, score_matrix
from frkit.io.names import ATTRIBUTES, NAMES, WEAK, are_places, side_columns, simplified, words_of
from frkit.io.pair_list import FAILED
from frkit.io.pair_roles import OPPOSITE, fractions, role_of_score
from frkit.io.roles import as_mapping, ask_about_others, roles_of_user

SHOWN = 30  # rows and columns that show what a table contains
NO_NAMES = "a pattern reads names of images, but it is not clear which arrays have them"
NO_PEOPLE = (
    "no array says who is on each row and each column of the matrix; a table of labels may have a "
    "row for each image\n"
    "  where both sides are the same images: fk.score_matrix(values, identity, identity, "
    "same_images=True)\n"
    "  where they are other images: fk.score_matrix(values, people_of_rows, people_of_columns)\n"
    "  where rows are pairs and columns are models: fk.pairs(values.T, labels, model=['a', 'b'])"
)
OTHERS = (
    "nothing says what {0} may be. Labels of images or people, such as groups, are attributes, and "
    "what means nothing is None. Where it says which images count, such as those of a test, keep "
    "their rows, columns and labels of all arrays first"
)
NO_ROW_NAMES = (
    "the first column has scores, and no names of rows; where they are in the order of the "
    "columns: fk.open_data(frame.set_axis(frame.columns), kind='matrix'), with frame = "
    "pd.read_csv(path)"
)
NO_SCORES = "only one array has the scores; one that says which of them count makes others NaN"
NO_MATRIX = (
    "no array is clearly a matrix of scores: which one is it?\n"
    "  where they are of several models: fk.open_data({name: fk.score_matrix(data[name], people, "
    "people, same_images=True, distance='dist' in name) for name in NAMES}), with data = "
    "np.load(path), people = data['labels']\n"
    "  where one array has those of all models, one matrix behind another: fk.open_data({str(k): "
    "fk.score_matrix(values, people, people, same_images=True) for k, values in "
    "enumerate(np.load('stack.npy'))})\n"
    "  where one has scores of one set of images, and one the truth: fk.pairs(scores[rows], "
    "genuine[rows], *rows), with rows = np.triu_indices(len(scores), 1)\n"
    "  where it has those of two sets: fk.pairs(scores.ravel(), genuine.ravel())"
)


def matrix_of_contents(contents, options):
    """Return the score matrix of a file or table; options : of `open_data`."""
    missing, labels = options.get("missing"), options.get("labels")
    pattern = options.get("identity") if is_pattern(options.get("identity")) else None
    arrays = _arrays(contents, missing)
    are_named = any(np.ndim(array) == 1 for array in arrays.values())
    if labels is not None and not are_named:
        arrays |= {name: column.to_numpy() for name, column in labels_in_order(labels).items()}
    user_columns = both_sides(options.get("columns"), None if pattern else options.get("identity"))
    roles = matrix_roles(arrays, user_columns, is_certain=True)
    not_read([name for name in roles.free(arrays) if np.ndim(arrays[name]) == 2], NO_SCORES)
    who, attributes = _labels(arrays, roles)
    if pattern is not None:
        who = _by_pattern(who, pattern, arrays, roles)
    if labels is not None and are_named and who:
        attributes |= attributes_by_name(labels, who, attributes)
        if "identity" in attributes:
            who["identity"] = attributes.pop("identity")
            roles.who = "by the table of labels"
    [name] = roles.scores()
    reading = {
        "missing": missing,
        "same_images": options.get("same_images"),
        "distance": bool(roles.column("distance")),
    }
    if not who:
        _ask_who(arrays, roles, name, are_named or labels is not None)
    if "identity" not in who:
        ask_whom(arrays[name], who["image"], **reading)
        who = {"identity": who["image"]}
    others = [name for name in roles.free(arrays) if np.ndim(arrays[name]) == 1]
    ask_about_others(roles, arrays, others, why=OTHERS)
    images = dict(zip(SIDES, who.get("image", ())))
    reading["failed"] = options.get("failed", FAILED[0])
    scores = score_matrix(
        arrays[name], *who["identity"], attributes=attributes, **images, **reading
    )
    if not roles.from_user & {*OPPOSITE}:
        check_direction(scores, name)
    return scores.assign_attrs(roles.attrs())


def _ask_who(arrays, roles, name, has_labels):
    """Ask who is on the rows and columns of a matrix, where no array says it."""
    is_square = len({*arrays[name].shape}) == 1
    remedies = [dict.fromkeys(WHO, "..."), {"identity": "..."}]
    answers = [] if has_labels else [{"labels": "..."}]
    roles.ask(arrays, NO_PEOPLE, *remedies[: 1 + is_square], answers=answers)


def _labels(arrays, roles):
    """Return identities and names of images of both sides, as far as roles say them; attributes."""
    who = {
        kind: [arrays[roles.column(role)] for role in sides]
        for kind, sides in {"identity": WHO, "image": SIDES}.items()
        if all(map(roles.column, sides))
    }
    attributes = {
        attribute: tuple(arrays[side] for side in (sides * 2)[:2])
        for attribute, sides in roles.attributes.items()
    }
    return who, attributes


def _by_pattern(who, pattern, arrays, roles):
    """Return names of images of both sides, and who is in them by a pattern."""
    if not who:
        roles.ask(arrays, NO_NAMES, dict.fromkeys(SIDES, "..."))
    roles.who = f"by the pattern {pattern!r} of names of images"
    images = who.get("image") or who["identity"]
    both = identities_from(np.concatenate(images), pattern)
    return {"image": images, "identity": np.split(both, [len(images[0])])}


def both_sides(columns, identity=None):
    """Return roles of a matrix; identity and image stand for those of both sides."""
    user_columns = as_mapping(columns)
    if identity is not None:
        user_columns["identity"] = identity
    for role, sides in (("identity", WHO), ("image", SIDES)):
        if role in user_columns:
            user_columns |= dict.fromkeys(sides, user_columns.pop(role))
    return user_columns


# --- arrays of a file, and labels ----------------------------------------------------------------


def _arrays(contents, missing):
    """Return arrays, one of which may be a matrix; missing : marks of the user."""
    if not contents.is_table():
        return dict(contents.data)
    table = without_words(contents.data, missing)
    numbered = [name for name in table if name.isdigit()]
    is_square = are_places(numbered) and len(table) == len(numbered)
    return _numbered_square(table, numbered) if is_square else _named_table(table)


def _numbered_square(table, numbered):
    """Return the scores of a square whose columns are numbered, and its columns of labels."""
    values = np.column_stack([to_numbers(table[name]) for name in numbered])
    labels = {name or "names": table[name] for name in table if name not in numbered}
    if "" in table and not are_names_of_rows(table[""]):
        del labels["names"]
    return {CELLS: values} | {name: column.to_numpy() for name, column in labels.items()}


def _named_table(table):
    """Return scores with the names of rows, the first column, and of columns, the header."""
    require(
        len(table.columns) > 1,
        "a matrix has names in its first column, and scores in others; this file has one column",
    )
    texts = [name for name, column in [*table.items()][1:] if _is_text(column)]
    require(
        not texts,
        f"columns {listed(texts)} are no scores, and a matrix has names in its first column alone: "
        f"fk.open_data(frame.set_index({texts[:1]!r})[columns], kind='matrix') takes those of rows "
        "from another one",
    )
    ids = table.iloc[:, 0].rename("the probes' ids")
    require(not fractions(table.iloc[:, :1]), NO_ROW_NAMES)
    values = np.column_stack([to_numbers(column) for _, column in [*table.items()][1:]])
    header = as_written(table.columns[1:], ids)
    rows, columns = (clean_labels(each, len(each), "ids") for each in (ids, header))
    _warn_of_columns(rows, columns)
    if occur_again(rows) or occur_again(columns):
        return {CELLS: values} | dict(zip(WHO, (rows, columns)))
    places = pd.Index(columns)
    if places.is_unique and {*rows} == {*columns}:  # in one order
        values, columns = values[:, places.get_indexer(rows)], rows
    return {CELLS: values, "probe_image": rows, "reference_image": columns}


def _warn_of_columns(rows, columns):
    """Warn of columns of images or people that are on no row, while others are."""
    is_stranger = ~np.isin(columns, rows)
    if 0 < is_stranger.sum() < len(columns) / 2:
        names = np.unique(columns[is_stranger]).tolist()
        warn(
            f"columns {listed(names)} are taken as images or people that are on no row; if they "
            f"are labels or measurements, leave them out by fk.open_data(frame.drop(columns={names}"
            "))"
        )


def _is_text(column):
    """Return whether no cell of a column is a number, and some are not blank."""
    values, is_missing = as_numbers(column)
    return np.isnan(values).all() and not is_missing.all()


# --- roles ---------------------------------------------------------------------------------------


def matrix_roles(columns, user_columns=None, is_certain=False):
    """Find out which array is a matrix of scores, and which are labels of both its sides.

    It is the only array with rows and columns, and is called a score or a distance, or has labels
    of two sides.

    Parameters
    ----------
    columns : dict of str to array
    user_columns : mapping, optional
        What the user says: role or attribute to column(s).
    is_certain : bool
        Whether the only array with rows and columns is a matrix of scores, as the user says.

    Returns
    -------
    Roles or None
        None where no array is clearly a matrix of scores.
    """
    roles = roles_of_user("pairs", user_columns, list(columns))
    tables = [name for name, array in columns.items() if np.ndim(array) == 2]
    candidates = [name for name in roles.scores() or tables if name in tables]
    if len(candidates) != 1:
        if is_certain:
            named = [name for name in tables if role_of_score(name)] or tables
            why = NO_MATRIX.replace("NAMES", str(named or ["a", "b"]))
            roles.ask(columns, why, *({role_of_score(name) or "score": name} for name in named))
        return None
    [name] = candidates
    labels = _labels_of_sides(columns, roles.free(columns), columns[name].shape)
    if not roles.scores():
        role = role_of_score(name)
        who, _ = _labels(columns, roles)
        of_user = [[*map(np.size, both)] for both in who.values()]
        has_sides = role or any(probe != other for probe, other in labels.values())
        has_sides = has_sides or [*columns[name].shape] in of_user
        if not is_certain and (not has_sides or simplified(name) in NAMES["embedding"]):
            return None
        roles.columns[role or "score"] = [name]
    for stem, sides in labels.items():
        roles_of_names = _roles_of_names(stem, [columns[name] for name in sides])
        if roles_of_names and not any(map(roles.column, roles_of_names)):
            roles.columns |= {role: [name] for role, name in zip(roles_of_names, sides)}
        elif words_of(stem) & ATTRIBUTES:
            roles.attributes.setdefault(stem, list(sides))
    return roles


def _roles_of_names(stem, labels):
    """Return the roles that labels of both sides have by their name; () if they are attributes."""
    stem = simplified(stem)
    if stem in WEAK["identity"]:  # of people or of images
        return WHO if any(map(occur_again, labels)) else SIDES
    if stem in NAMES["identity"]:
        return WHO
    return SIDES if stem in NAMES["image"] else ()


def _labels_of_sides(columns, free, shape):
    """Return the arrays that are labels of rows and of columns, by what their names share.

    Of a square, an array without the mark of a side is labels of both.

    free : names of the columns that may be labels
    """
    lengths = [(length,) for length in shape]
    labels = {
        stem: sides
        for stem, sides in side_columns(free).items()
        if [np.shape(columns[name]) for name in sides] == lengths
    }
    if shape[0] == shape[1]:
        alone = [name for name in free if not any(name in sides for sides in labels.values())]
        labels |= {name: (name, name) for name in alone if np.shape(columns[name]) == shape[:1]}
    return labels


# --- which table is a matrix ----------------------------------------------------------------------


def is_matrix(table):
    """Return whether a table has names in its header and first column, and numbers elsewhere."""
    if len(table.columns) < 3 or len(table) < 2:
        return False
    for _, cells in table.iloc[:SHOWN, 1:SHOWN].items():
        values, is_missing = as_numbers(cells)
        if not (np.isfinite(values) | is_missing).all():
            return False
    names = {*map(str, table.columns[1:])}
    rows = clean_labels(table.iloc[:, 0], len(table), "ids").tolist()
    # as pandas numbers rows: perhaps of embeddings in columns 0, 1, ...
    return not are_places(rows) and len(names & {*rows}) >= min(len(names), len({*rows})) / 2
