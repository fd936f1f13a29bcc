"""From a table of pairs, by the roles of its columns, to the arguments of `frkit.pairs`."""

import numpy as np
import pandas as pd

from frkit.base import InputError, require, warn
from frkit.data.evidence import joint_codes, people_of_names
from frkit.data.pair_roles import pair_roles, truth_column, verdicts, warn_of_unconfirmed
from frkit.data.roles import SIDES, WHO
from frkit.data.tables import refuse_cells, to_numbers

UNSAID = (
    "no column says which pairs are genuine: it takes a column such as genuine or label (1 or 0), "
    "identities of both sides such as id1 and id2, or names of images that say who it is, with "
    "identity='{name}_{number}.jpg'"
)


def of_table(table, columns=None, distance=None):
    """Return the arguments of `frkit.pairs` for a table, and attributes that say what was read."""
    require(len(table) > 0, "the table has no row")
    roles = pair_roles(table, columns, distance=distance)
    arguments = pair_arguments(table, roles)
    arguments = with_people(arguments, roles, table)
    arguments = once_each(arguments, table.index, roles)
    attributes = arguments.pop("attributes")
    return {**attributes, **arguments}, roles.attrs()


def pair_arguments(table, roles):
    """Return columns of a table as arguments of `frkit.pairs`, its attributes as a mapping."""
    attributes = {}
    for name, columns in roles.attributes.items():
        labels = tuple(column and table[column] for column in columns)
        attributes[name] = labels[0] if len(labels) == 1 else labels
    out = {"attributes": attributes}
    scores = {}
    distances = []
    for role in ("score", "distance"):
        for column in roles.columns.get(role, []):
            name = roles.models.get(column, column)
            scores[name] = to_numbers(table[column])
            distances += [name] if role == "distance" else []
    if len(scores) == 1 and not roles.models:
        out |= {"score": next(iter(scores.values())), "distance": bool(distances)}
    elif scores:
        out |= {"score": scores, "distance": distances}
    for role in ("genuine", "impostor"):
        if roles.columns.get(role):
            out["genuine"] = _verdicts(table[roles.one(role)], role)
    for names in (SIDES, WHO):
        columns = {name: table[roles.one(name)] for name in names if roles.columns.get(name)}
        for column in columns.values():
            refuse_cells(column, column.isna().to_numpy(), "names nobody")
        if len(columns) == 2:  # of both sides together, so that each name is looked at once
            codes, distinct = joint_codes(columns.values())
            columns = dict(zip(names, (pd.Categorical.from_codes(c, distinct) for c in codes)))
        out |= columns
    trials = roles.columns.get("trial", [])
    if trials:
        out["trial"] = {roles.models.get(name, name): table[name] for name in trials}
    return out


def _verdicts(column, role):
    """Return which pairs are genuine; a blank cell says neither, and is refused."""
    is_genuine, is_impostor = verdicts(column)
    words = "use 1, true, yes, genuine, mated, match, target or same; or 0, false, no, impostor ..."
    reason = f"does not say whether the pair is genuine; {words}"
    refuse_cells(column, ~is_genuine & ~is_impostor, reason)
    return truth_column(column, role)


def with_people(arguments, roles, table=None, linked=False):
    """Return the arguments with who is on both sides, where names or the truth say it.

    Parameters
    ----------
    linked : bool
        Whether names that genuine pairs link, directly or by way of others, are one person.
    """
    genuine = arguments.get("genuine")
    has_images = all(side in arguments for side in SIDES)
    if not has_images and WHO[0] not in arguments and table is not None:
        warn_of_unconfirmed(roles, table)
    if WHO[0] in arguments or not has_images:
        require(genuine is not None or WHO[0] in arguments, UNSAID)
        return arguments
    sides = [arguments[side] for side in SIDES]
    people, roles.who = people_of_names(sides, genuine, _similarities(arguments))
    if people is None and linked and genuine is not None:
        people, roles.who = _linked(sides, genuine)
    if people is not None:
        return arguments | dict(zip(WHO, people))
    if table is not None:
        warn_of_unconfirmed(roles, table)
    if genuine is None:
        roles.ask(table, UNSAID)
    return arguments


def _similarities(arguments):
    """Return the scores of the first model, larger for pairs that are more alike."""
    scores, distance = arguments["score"], arguments["distance"]
    if not isinstance(scores, dict):
        return -scores if distance else scores
    model, values = next(iter(scores.items()))
    return -values if distance is True or distance is not False and model in distance else values


def _linked(sides, genuine):
    """Return people as components of the graph of genuine pairs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    places, names = joint_codes(sides)
    both = np.array(places)
    links = both[:, genuine]
    graph = coo_array((np.ones(links.shape[1]), links), shape=(len(names), len(names)))
    _, component = connected_components(graph, directed=False)
    n_alone = len(names) - len(np.unique(links))
    if n_alone > 0:
        warn(
            f"the list does not say who is who; {n_alone:,} of {len(names):,} names stand in no "
            "genuine pair: each counts as a person of its own"
        )
    person = np.array([f"person {number}" for number in range(component.max() + 1)], object)
    people = [person[component[side]] for side in both]
    return people, "names that genuine pairs link are one person"


def once_each(arguments, lines, roles):
    """Return each ordered pair once; refuse one with two scores, or called genuine and impostor."""
    if not all(side in arguments for side in SIDES):
        return arguments
    codes, names = joint_codes([arguments[side] for side in SIDES])
    pair = pd.Series(codes[0].astype(np.int64) * len(names) + codes[1])
    rows = np.flatnonzero(pair.duplicated(keep=False))
    if len(rows) == 0:
        return arguments
    scores = arguments["score"]
    scores = scores if isinstance(scores, dict) else {"": scores}
    twice = pd.DataFrame({f"score {name}": scores[name][rows] for name in scores}, rows)
    twice["genuine"] = arguments["genuine"][rows] if "genuine" in arguments else False
    twice["pair"] = pair[rows]
    distinct = twice.drop_duplicates()
    wrong = distinct.pair[distinct.pair.duplicated()]
    if len(wrong) > 0 and roles.one("reference") == roles.one("reference_identity"):
        warn(
            "a probe meets a person several times with different scores: the file names no "
            "template of the reference, so intervals draw people and no images"
        )
        return {name: value for name, value in arguments.items() if name not in SIDES}
    if len(wrong) > 0:
        first, second, *_ = distinct.index[distinct.pair == wrong.iloc[0]]
        is_same = twice.genuine[first] == twice.genuine[second]
        what = "has two scores" if is_same else "is called genuine and impostor"
        shown = [names[code[first]] for code in codes]
        where = f"lines {lines[first]} and {lines[second]}"
        raise InputError(f"the pair {shown[0]!r}, {shown[1]!r} {what} ({where}): leave one out")
    repeated = rows[twice.pair.duplicated().to_numpy()]
    warn(f"{len(repeated):,} pairs stand twice with the same score: each counts once")
    keep = np.ones(len(pair), bool)
    keep[repeated] = False
    return _rows(arguments, keep)


def _rows(value, keep):
    """Return some of the rows of all arguments."""
    if isinstance(value, dict):
        return {name: _rows(each, keep) for name, each in value.items()}
    if isinstance(value, tuple):
        return tuple(_rows(each, keep) for each in value)
    return value[keep] if np.ndim(value) else value
