"""A score matrix among named arrays, as in an .npz, with labels of its rows and its columns."""

import numpy as np

from frkit.data.labels import can_be_named
from frkit.data.names import NAMES, WEAK, simplified
from frkit.data.pair_roles import role_of_score
from frkit.data.roles import SIDES, WHO, given_roles
from frkit.data.sides import side_columns
from frkit.scores.matrix import score_matrix
from frkit.scores.matrix_names import failed_mark, people_of_matrix

PEOPLE = NAMES["identity"] | WEAK["identity"]


def matrix_roles(columns, given=None):
    """Find out which array is a matrix of scores, and which are labels of both its sides.

    It is the only array with rows and columns, and is called a score or a distance, or has labels
    of two sides.

    Parameters
    ----------
    columns : dict of str to array
    given : mapping, optional
        What the user says: role or attribute to column(s).

    Returns
    -------
    Roles or None
        None where no array is clearly a matrix of scores.
    """
    roles = given_roles("pairs", given, list(columns))
    tables = [name for name, array in columns.items() if np.ndim(array) == 2]
    if not roles.scores():
        if len(tables) != 1 or simplified(tables[0]) in NAMES["embedding"]:
            return None
        role = role_of_score(tables[0])
        if role is None and not _arrays_of_sides(roles, columns, columns[tables[0]].shape):
            return None
        roles.columns[role or "score"] = tables
    if roles.scores()[0] not in tables:
        return None
    labels = _labels(roles, columns, columns[roles.scores()[0]].shape)
    for stem, sides in labels.items():
        if simplified(stem) in PEOPLE and not any(map(roles.column, WHO)):
            roles.columns |= {role: [name] for role, name in zip(WHO, sides)}
        elif simplified(stem) in NAMES["image"] and not any(map(roles.column, SIDES)):
            roles.columns |= {role: [name] for role, name in zip(SIDES, sides)}
        elif can_be_named(stem):
            roles.attributes.setdefault(stem, list(sides))
    roles.unused += [*{*roles.free(columns)}.difference(*labels.values())]
    return roles


def _arrays_of_sides(roles, columns, shape):
    """Return the arrays that are labels of rows and of columns, by what their names share."""
    lengths = [(length,) for length in shape]
    sides_by_stem = side_columns(roles.free(columns))
    return {
        stem: sides
        for stem, sides in sides_by_stem.items()
        if [np.shape(columns[name]) for name in sides] == lengths
    }


def _labels(roles, columns, shape):
    """Return the same; of a square, an array without the mark of a side is labels of both."""
    labels = _arrays_of_sides(roles, columns, shape)
    if shape[0] != shape[1]:
        return labels
    free = roles.free(columns)
    alone = [name for name in free if not any(name in sides for sides in labels.values())]
    of_both = [name for name in alone if np.shape(columns[name]) == shape[:1]]
    return labels | {name: (name, name) for name in of_both}


def matrix_of_arrays(columns, given=None, *, distance=None, **options):
    """Return the score tensor of named arrays, with what `matrix_roles` says of them."""
    roles = matrix_roles(columns, given)
    header = list(columns)
    if roles is None:
        given_roles("pairs", given, header).ask(
            header, "no array is clearly a matrix of scores", {"score": "..."}
        )
    if distance:
        roles.columns["distance"] = roles.scores()
        roles.columns.pop("score", None)
    values = columns[roles.scores()[0]]
    options["missing"], failed = failed_mark(values, options.get("missing"))
    people, images = (
        [columns[roles.column(role)] if roles.column(role) else None for role in names]
        for names in (WHO, SIDES)
    )
    is_distance = bool(roles.column("distance"))
    if people[0] is None and images[0] is not None:
        people, images, roles.who = people_of_matrix(values, images, is_distance)
        images = images or [None, None]
    if any(side is None for side in people):
        roles.ask(
            header,
            "no array says who is on each row and each column of the matrix",
            {"probe_identity": "...", "reference_identity": "..."},
        )
    options["attributes"] = {
        name: tuple(columns[side] for side in (sides * 2)[:2])
        for name, sides in roles.attributes.items()
    }
    scores = score_matrix(
        values, *people, probe=images[0], reference=images[1], distance=is_distance, **options
    )
    attrs = roles.attrs()
    attrs["columns"] += failed and f"\nscores{failed}"
    return scores.assign_attrs(attrs)
