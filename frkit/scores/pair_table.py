"""From a table of pairs, by the roles of its columns, to a list of scored pairs."""

import numpy as np

from frkit.base import InputError, listed, require, warn
from frkit.data.evidence import people_of_names
from frkit.data.joins import identities_from, joined
from frkit.data.pair_roles import pair_roles, warn_of_unconfirmed
from frkit.data.roles import SIDES, WHO
from frkit.data.sides import coded_sides, show_two_people
from frkit.data.tables import refuse_cells, to_numbers
from frkit.scores.pair_list import listed_pairs
from frkit.scores.pair_scores import read_scores, repeats

UNSAID = (
    "no column says which pairs are genuine: it takes a column such as genuine or label (1 or 0), "
    "identities of both sides such as id1 and id2, or names of images that say who it is, with "
    "identity='{name}_{number}.jpg'"
)


def pairs_of_table(
    table,
    given,
    *,
    preset=None,
    rule="",
    scores=None,
    metadata=None,
    identity=None,
    distance=None,
    **options,
):
    """Return the kept pairs of a table.

    Parameters
    ----------
    table : pd.DataFrame
    given, preset : dict
        Roles to columns, as the user and as a format says.
    rule : str
        Of a format: "linked", "models" or "repeats" (see `pair_formats`).
    scores, metadata, identity, distance, **options
        As in `open_pairs`.
    """
    require(len(table) > 0, "the table has no row")
    preset = preset or {}
    needs_score = scores is None
    roles, genuine = pair_roles(
        table, preset | given, needs_score=needs_score, distance=distance, said={*given}
    )
    images = _sides(table, roles, SIDES)
    people = _sides(table, roles, WHO)
    require(images or not identity, "identity= reads the names of images, but this file has none")
    scores, distances = _scores(table, roles, scores, images, distance)
    if rule == "models" and images:
        images = images.apart()
    if images and people and not preset and not roles.given & {*SIDES}:
        images = _unless_two_people(images, people, roles)
    if images and (identity or not people):
        model, values = next(iter(scores.items()))
        similarity = -values if model in distances else values
        people = _people(images, genuine, similarity, rule, identity, roles)
    if not people:
        if genuine is None:
            roles.ask(table, UNSAID)
        warn_of_unconfirmed(roles, table, genuine)
    if images and rule != "repeats":
        keep, images = _first_of_each(table, images, scores, genuine, roles)
        if not keep.all():
            table, images = table[keep], images.rows(keep)
            people = people and people.rows(keep)
            genuine = genuine if genuine is None else genuine[keep]
            scores = {name: values[keep] for name, values in scores.items()}
    attributes = {}
    for name, columns in roles.attributes.items():
        labels = [column and table[column] for column in columns]
        attributes[name] = labels[0] if len(labels) == 1 else tuple(labels)
    if metadata is not None:
        sides = {"image": images, "identity": people}
        keys = {kind: names.columns() for kind, names in sides.items() if names}
        attributes |= joined(metadata, keys, attributes)
    trial = {roles.models.get(name, name): table[name] for name in roles.columns.get("trial", [])}
    if len(scores) == 1 and not (roles.models and needs_score):
        [scores] = scores.values()
        distances = bool(distances)
    pairs = listed_pairs(
        scores, genuine, images, people, trial, attributes, distance=distances, **options
    )
    pairs.attrs.update(roles.attrs())
    return pairs


def _scores(table, roles, scores, images, distance):
    """Return scores by model, and the models of distances."""
    if scores is None:
        models = {name: roles.models.get(name, name) for name in roles.scores()}
        scores = {model: to_numbers(table[name]) for name, model in models.items()}
        return scores, [models[name] for name in roles.columns.get("distance", [])]
    require(not roles.scores(), "the file contains its scores: leave scores= out")
    scores = read_scores(scores, table, images)
    return scores, [*scores] if distance else []


def _sides(table, roles, names):
    """Return the names in two columns as numbers; None where a column is absent."""
    columns = [table[roles.column(name)] for name in names if roles.column(name)]
    for column in columns:
        refuse_cells(column, column.isna().to_numpy(), "names nobody")
    return coded_sides(columns, names, len(table)) if len(columns) == 2 else None


def _unless_two_people(images, people, roles):
    """Return names of images that were guessed, unless one would show two people."""
    if not show_two_people(images, people).any():
        return images
    for side in SIDES:
        roles.unused += roles.columns.pop(side)
    return None


def _people(images, genuine, similarity, rule, pattern, roles):
    """Return who is in images, by their names, or as genuine pairs link them; else None."""
    if pattern is not None:
        roles.who = f"by the pattern {pattern!r} of names of images"
        return images.mapped(identities_from(images.names, pattern))
    people, way = people_of_names(images, genuine, similarity)
    if people is not None:
        roles.who = f"from names of images, {way}"
    elif rule == "linked" and genuine is not None:
        roles.who = "names that genuine pairs link are one person"
        people = _linked(images, genuine)
    return people


def _linked(images, genuine):
    """Return people as components of the graph of genuine pairs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = images.rows(genuine)
    n_names = len(images.names)
    graph = coo_array((genuine[genuine], (links.probe, links.reference)), shape=(n_names,) * 2)
    _, component = connected_components(graph, directed=False)
    n_alone = n_names - len(np.unique(links.both()))
    if n_alone > 0:
        warn(
            f"the list does not say who is who; {n_alone:,} of {n_names:,} names stand in no "
            "genuine pair: each counts as a person of its own"
        )
    return images.mapped([f"person {number}" for number in component])


def _first_of_each(table, images, scores, genuine, roles):
    """Return which rows are the first of their ordered pair; and the images, unless they are none.

    A pair with two scores, or called genuine and impostor, is refused.
    """
    values = {f"score {name}": values for name, values in scores.items()}
    again, differing = repeats(images, values | ({} if genuine is None else {"genuine": genuine}))
    keep = np.ones(len(table), bool)
    if len(differing) == 0:
        keep[again] = False
        return keep, images
    if roles.column("reference") == roles.column("reference_identity"):
        warn(
            "a probe meets a person several times with different scores: the file names no "
            "template of the reference, so intervals draw people and no images"
        )
        return keep, None
    first, second = differing
    is_same = genuine is None or genuine[first] == genuine[second]
    columns = [roles.column(side) for side in SIDES]
    remedy = "leave one out"
    if not roles.given & {*SIDES} and not roles.column(WHO[0]):
        people = dict(zip(WHO, columns))
        remedy += f"; or, if {listed(columns)} name people and no images, columns={people!r}"
    pair = listed(images.names[[images.probe[first], images.reference[first]]])
    raise InputError(
        f"the pair {pair} {'has two scores' if is_same else 'is called genuine and impostor'} "
        f"(lines {table.index[first]} and {table.index[second]}): {remedy}"
    )
