"""A score matrix among named arrays, as in an .npz, with labels of its rows and its columns."""

import numpy as np

from frkit.base import require, warn
from frkit.data.joins import identities_from, joined
from frkit.data.labels import can_be_named
from frkit.data.names import NAMES, WEAK, simplified
from frkit.data.pair_roles import OPPOSITE, role_of_score
from frkit.data.roles import SIDES, WHO, given_roles
from frkit.data.sides import side_columns
from frkit.data.square import role_of_square
from frkit.scores.matrix import score_matrix
from frkit.scores.matrix_names import GUESS, check_direction, failed_mark, people_of_matrix
from frkit.scores.pair_list import failed_as_nan

PEOPLE = NAMES["identity"] | WEAK["identity"]
AS_DISTANCES = (
    "the matrix is read as distances (smaller is more alike): it is symmetric with 0 on its "
    "diagonal, and one person's values are lower; if larger means more alike, say distance=False"
)


def matrix_roles(columns, given=None):
    """Find out which array is a matrix of scores, and which are labels of both its sides.

    It is the only array with rows and columns, and is called a score or a distance, has labels of
    two sides, or is symmetric with a diagonal as of images with themselves.

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
        is_matrix = role or role_of_square(columns[tables[0]])
        if not is_matrix and not _arrays_of_sides(roles, columns, columns[tables[0]].shape):
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
    shared = [name for name in alone if np.shape(columns[name]) == shape[:1]]
    return labels | {name: (name, name) for name in shared}


def matrix_of_arrays(
    columns, given=None, *, distance=None, missing=GUESS, identity=None, metadata=None, **options
):
    """Return the score tensor of named arrays, one of which is a matrix of scores.

    Parameters
    ----------
    columns, given
        As in `matrix_roles`.
    distance : bool, optional
        Whether smaller is more alike. Default: as the diagonal says, if genuine pairs agree, or the
        name.
    missing, identity, metadata, **options
        As in `open_scores`.
    """
    roles = _roles_of_matrix(columns, given)
    [name] = roles.scores()
    values = columns[name]
    is_said = distance is not None or bool(roles.given & {*OPPOSITE})
    role = role_of_square(values)
    if not is_said and role is not None:
        roles.columns |= {role: [name], OPPOSITE[role]: []}
    elif distance is not None:
        roles.columns |= {"distance": [name] * distance, "score": [name] * (not distance)}
    missing, failed = failed_mark(values, missing)
    is_distance = bool(roles.column("distance"))
    people, images = _who(columns, roles, missing, identity, is_said or is_distance)
    if not is_said and tuple(map(len, people)) == tuple(values.shape):  # others are refused below
        is_guess = is_distance and role_of_score(name) != "distance"
        check_direction(values, people, missing, is_distance, is_guess)
        if is_guess:
            warn(AS_DISTANCES)
    attributes = {
        attribute: tuple(columns[side] for side in (sides * 2)[:2])
        for attribute, sides in roles.attributes.items()
    }
    attributes |= options.pop("attributes", None) or {}
    keys = {"identity": people}
    if images is not None:
        options |= dict(zip(SIDES, images))
        keys = {"image": images} | keys
    if metadata is not None:
        attributes |= joined(metadata, keys, attributes)
    options |= {"attributes": attributes or None, "distance": is_distance, "missing": missing}
    scores = score_matrix(values, *people, **options)
    _require_genuine_pairs(scores)
    attrs = roles.attrs()
    attrs["columns"] += failed and f"\nscores{failed}"
    return scores.assign_attrs(attrs)


def _roles_of_matrix(columns, given):
    """Return the roles of named arrays, one of which the user calls a matrix of scores."""
    roles = matrix_roles(columns, given)
    tables = [name for name, array in columns.items() if np.ndim(array) == 2]
    if roles is None and len(tables) == 1:
        roles = matrix_roles(columns, {"score": tables[0]} | dict(given or {}))
        roles.given.discard("score")
    if roles is None:
        roles = given_roles("pairs", given, list(columns))
        roles.ask(columns, "no array is clearly a matrix of scores", {"score": "..."})
    return roles


def _who(columns, roles, missing, pattern, is_direction_known):
    """Return people, and images or None, of both sides: by their roles, or by names of images."""
    people, images = (
        [columns[roles.column(role)] for role in names] if all(map(roles.column, names)) else None
        for names in (WHO, SIDES)
    )
    if pattern is not None:
        names = images or people
        require(names, "identity= reads the names of images, but this file has none")
        roles.who = f"by the pattern {pattern!r} of names of images"
        return [identities_from(side, pattern) for side in names], names
    if people is None and images is not None:
        values = columns[roles.scores()[0]]
        people, images, roles.who = images, None, "the ids are people"
        if isinstance(values, np.ndarray):  # and not on disk
            scores = failed_as_nan(values, missing, bool(roles.column("distance")))
            people, images, roles.who = people_of_matrix(scores, people, is_direction_known)
    if people is None:
        roles.ask(
            columns,
            "no array says who is on each row and each column of the matrix; labels= is a table "
            "with a row for each image",
            {"probe_identity": "...", "reference_identity": "..."},
        )
    return people, images


def _require_genuine_pairs(scores):
    """Refuse a symmetric matrix in which each person has one image: the ids may be images."""
    people = scores["probe_identity"].values
    require(
        not scores.attrs["symmetric"] or len(np.unique(people)) < len(people),
        f"no id occurs twice, so there is no genuine pair; if ids such as {str(people[0])!r} are "
        "names of images, say who is in them: identity='{name}_{number}.jpg'",
    )
