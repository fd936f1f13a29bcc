"""From a table of pairs, by the roles of its columns, to kept pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, real_numbers, require, warn
from frkit.data.files import named
from frkit.data.sides import SIDES, WHO, coded_sides
from frkit.io.cells import (
    WITH_FRAME,
    is_number_column,
    refuse_cells,
    refuse_repeated_index,
    to_numbers,
    without_words,
)
from frkit.io.combined import stack_lists
from frkit.io.file_contents import read_file, table_of
from frkit.io.frames import check_header
from frkit.io.joins import CORRELATED, ask_who, best_pattern, identities_from
from frkit.io.labels_table import attributes_by_name
from frkit.io.models import names_models, read_by_model
from frkit.io.names import (
    NAMES,
    side_columns,
    simplified,
    truth_of,
)
from frkit.io.pair_list import listed_pairs
from frkit.io.pair_roles import (
    OPPOSITE,
    OTHER_WORDS,
    TRUTH,
    WORDS,
    check_scores,
    fractions,
    pair_roles,
)
from frkit.io.repeated import (
    are_of_themselves,
    differing_rows,
    repeated_rows,
)
from frkit.io.roles import MOST_MODELS, Roles, ask_about_others

UNSAID = (
    "no column says which pairs are genuine. What may say it is\n"
    f"  a column such as genuine or label (1 or 0); {OTHER_WORDS}\n"
    "  identities of both sides, such as person1 and person2\n"
    "  a pattern of names of images, such as '{name}_{number}.jpg'\n"
    "  a list of these pairs: fk.open_data('trials.txt', scores='scores.txt')\n"
    f"  ({WITH_FRAME})"
)
TWO_DIRECTIONS = (
    "remove one; where scores depend on which image is the probe, join both tables: "
    "fk.open_data(trials.merge(scores, on=['probe', 'reference'], validate='1:1')), with trials "
    "and scores of pd.read_csv"
)
OTHER_SCORES = (
    "a line of scores is: score, or two names and a score; it has {} cells\n"
    "  by a number of the pair: fk.open_data(pd.read_csv('trials.csv').merge("
    "pd.read_csv('scores.csv'), on='pair', validate='1:1'))\n"
    "  scores in the order of the list: fk.open_data('trials.csv', "
    "scores=pd.read_csv('scores.csv')['score'])"
)
NAMES_NOBODY = (
    f"names nobody; such rows are left out by fk.open_data(frame.dropna(subset={{}})), {WITH_FRAME}"
)
SHOWN = 200  # characters of scores in a message
TWO_SCORES = (
    "remove one; scores of several models need a column each, or a column that says which model a "
    "row is of. Names of images that are numbers within people, or name people, are no such names"
)


def pairs_of_contents(contents, options):
    """Return the kept pairs of a file or table; options : of `open_data`."""
    if names_models(options) and not contents.roles:
        return stack_lists(read_by_model(contents, options, pairs_of_contents))
    options = {name: value for name, value in options.items() if name != "kind"}
    table = table_of(contents)
    require(len(table) > 0, "the table has no row")
    check_header([*table])
    table = table.loc[:, [np.ndim(cell) == 0 for cell in table.iloc[0]]]
    columns = dict(options.pop("columns", {}))
    table = without_words(table, options.get("missing"))
    if "model" not in table:  # None says that no column has this role
        columns.pop("model", None)
    return _list_of_pairs(table, columns, preset=contents.roles, rule=contents.who, **options)


@dataclass
class Lines:
    """The lines of a list of pairs, and what was read from their columns.

    Attributes
    ----------
    table : pd.DataFrame
    roles : Roles
    genuine : array (line,) or None
        Which pairs are genuine, where a column or identities say it.
    images, people : Sides or None
    scores : dict of model to array (line,)
    distances : list of str
        The models whose scores are distances.
    """

    table: pd.DataFrame
    roles: Roles
    genuine: Any
    images: Any = None
    people: Any = None
    scores: dict = field(default_factory=dict)
    distances: list = field(default_factory=list)


def _list_of_pairs(
    table,
    user_columns,
    *,
    preset=None,
    rule="",
    scores=None,
    labels=None,
    identity=None,
    **options,
):
    """Return the kept pairs of a table of one model, or with a column for each of several.

    Parameters
    ----------
    table : pd.DataFrame
    user_columns : dict
        Roles to columns, as the user says.
    preset, rule
        Roles to columns, and who is who, of a form; see `file_contents`.
    scores, labels, identity, **options
        As in `open_data`.
    """
    are_apart = scores is not None
    directions = {
        role: user_columns.pop(role) for role in WORDS if are_apart and role in user_columns
    }
    lines = _columns_read(table, user_columns, preset, not are_apart)
    roles = lines.roles
    if are_apart:
        _take_other_scores(lines, scores, "distance" if "distance" in directions else "score")
    else:
        lines.scores = {name: to_numbers(lines.table[name]) for name in roles.scores()}
    lines.distances = roles.columns.get("distance", [])
    if lines.images and rule != "repeats":
        _refuse_differing(lines)
    attributes = _attributes(lines.table, roles)
    is_said = lines.people or identity or lines.genuine is not None
    if labels is not None and lines.images and not is_said:  # the labels may say it
        lines.people = _with_labels(labels, lines, attributes)
        labels = None
    _find_people(lines, identity, rule)
    if lines.genuine is None:
        lines.genuine = lines.people.is_same()
    roles.from_user |= {*directions}
    is_confirmed = lines.people or (preset and not rule)
    check_scores(roles, lines.table, lines.genuine, lines.scores, is_confirmed)
    _ask_about_copies(lines)
    _ask_about_others(lines)
    if labels is not None:
        lines.people = _with_labels(labels, lines, attributes)
    values, distance = lines.scores, lines.distances
    if len(values) == 1:
        [values] = values.values()
        distance = bool(distance)
    pairs = listed_pairs(
        values,
        lines.genuine,
        lines.images,
        lines.people,
        attributes,
        distance=distance,
        each_once=rule != "repeats",
        **options,
    )
    pairs.attrs.update(roles.attrs())
    return pairs


def _columns_read(table, user_columns, preset, has_scores):
    """Return the lines of a table with their roles, and with the names in their columns."""
    columns = {
        role: source
        for role, source in (preset or {}).items()
        # as where the user calls scores distances, or names of images people
        if OPPOSITE.get(role) not in user_columns and source not in user_columns.values()
    }
    roles, genuine = pair_roles(
        table, columns | user_columns, needs_score=has_scores, from_user=user_columns
    )
    images, people = _sides(table, roles, SIDES), _sides(table, roles, WHO)
    return Lines(table, roles, genuine, images, people)


def _take_other_scores(lines, scores, role):
    """Take scores of a file or an array; role : "score" or "distance", as the user says."""
    require(not lines.roles.scores(), "the file contains its scores: leave the other ones out")
    if isinstance(scores, (str, Path)):
        with named(scores):
            values = _scores_of_file(Path(scores), lines)
    else:
        values = real_numbers("scores", scores)
    n_pairs = len(lines.table)
    require(
        values.shape == (n_pairs,),
        f"there are {n_pairs} pairs, but scores have shape {values.shape}: {str(scores)[:SHOWN]}",
    )
    lines.scores = {role: values}
    lines.roles.columns[role] = [role]


def _find_people(lines, identity, rule):
    """Find out who is in the images, by a pattern or by their names; ask where nothing says it."""
    roles, images = lines.roles, lines.images
    if identity:
        if not images:
            why = "a pattern reads names of images, but it is not clear which columns have them"
            names = {side: roles.column(who) or "..." for side, who in zip(SIDES, WHO)}
            roles.ask(lines.table, why, names)
        lines.people = images.mapped(identities_from(images.names, identity))
        roles.who = f"by the pattern {identity!r} of names of images"
    elif images and not lines.people:
        if lines.genuine is None:
            answers = [{"genuine": "..."}]
            model, values = next(iter(lines.scores.items()))
            if images.is_same().any() and not are_of_themselves(images, values):
                answers.append({who: roles.column(side) for who, side in zip(WHO, SIDES)})
            similarity = -values if model in lines.distances else values
            ask_who(roles, lines.table, UNSAID, images, similarity, *answers)
        lines.people = _people_by_name(lines, rule)
    if not lines.people and lines.genuine is None:
        roles.ask(lines.table, UNSAID, {"genuine": "..."})


def _ask_about_copies(lines):
    """Ask about names of people that may be images, which were compared with themselves."""
    score = next(iter(lines.scores.values()))
    if lines.people and not lines.images and are_of_themselves(lines.people, score):
        why = (
            "names that are paired with themselves always have one score: these are images, "
            "compared with themselves, and no people"
        )
        sides = {side: lines.roles.column(who) for side, who in zip(SIDES, WHO)}
        lines.roles.ask(lines.table, why, sides | dict.fromkeys(WHO))


def _ask_about_others(lines):
    """Ask about columns without a usual name; others may be further scores, too."""
    roles, table = lines.roles, lines.table
    others = roles.free(table)
    if roles.from_user & {"genuine", "impostor"}:  # other columns are not the truth
        others = [name for name in others if truth_of(name) not in TRUTH]
    scores = [] if roles.from_user & {*WORDS} else fractions(table[others])
    ask_about_others(roles, table, others, scores, _may_be_images(lines, others))
    refuse_repeated_index(table)


def _may_be_images(lines, names):
    """Return the columns of two sides that have more names than there are people, if any."""
    if lines.images or not lines.people:
        return {}
    for columns in side_columns(names).values():
        cells = lines.table[[*columns]]
        n_names = pd.concat([cells[name] for name in cells]).nunique()
        if n_names > len(lines.people.names) and not fractions(cells):
            return dict(zip(SIDES, columns))
    return {}


def _with_labels(labels, lines, attributes):
    """Put the labels of a table among the attributes; return people, of whom they may know."""
    people = lines.people
    names = {"image": lines.images, "identity": people}
    names = {kind: sides.columns() for kind, sides in names.items() if sides}
    others = attributes_by_name(labels, names, attributes)
    if people:
        _refuse_others(people, others)
    attributes |= others
    who = attributes.pop("identity", None)
    return people if who is None else coded_sides(who, WHO, len(who[0]))


def _refuse_others(people, attributes):
    """Refuse labels that say who is in the images, where the list says something else.

    People may have other names there, but each name of one stands for one of the other.
    """
    for name, sides in attributes.items():
        if simplified(name) in NAMES["identity"]:
            in_list, in_labels = people.both(), np.concatenate(sides)
            require(
                not _name_several(in_list, in_labels) and not _name_several(in_labels, in_list),
                f"column {name!r} of the labels contradicts the people of the list: correct one of "
                "them, or remove the column",
            )


def _sides(table, roles, names):
    """Return the names in two columns as numbers; None where a column is absent."""
    columns = [table[roles.column(name)] for name in names if roles.column(name)]
    for column in columns:
        refuse_cells(column, column.isna().to_numpy(), NAMES_NOBODY.format([column.name]))
    return coded_sides(columns, names, len(table)) if len(columns) == 2 else None


def _attributes(table, roles):
    """Return labels of both sides, or of the pair, for each attribute."""
    attributes = {}
    for name, columns in roles.attributes.items():
        labels = [column and table[column] for column in columns]
        attributes[name] = labels[0] if len(labels) == 1 else tuple(labels)
    return attributes


def _people_by_name(lines, rule):
    """Return who is in images by their names, or by the genuine pairs that link them; or None."""
    roles, images, genuine, table = lines.roles, lines.images, lines.genuine, lines.table
    role = "genuine" if roles.column("genuine") else "impostor"
    truth = roles.column(role)
    pattern, people, share = best_pattern(images, genuine)
    if share == 1:
        roles.who = f"by the pattern {pattern!r}, which {truth!r} confirms in every pair"
        return people
    if abs(share) > CORRELATED and role not in roles.from_user:
        n_wrong = np.sum(people.is_same() != genuine)
        why = (
            f"{truth!r} contradicts the names of images in {n_wrong:,} pairs, if these say who it "
            f"is by {pattern!r}; which of both is the truth?"
        )
        names = {"columns": {role: None}, "identity": pattern}
        roles.ask(table, why, {role if share > 0 else OPPOSITE[role]: truth}, answers=[names])
    if rule == "linked":
        roles.who = "names that genuine pairs link are one person"
        return _linked(images, genuine)
    return None


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
            f"the list does not say who is who; {n_alone:,} of {n_names:,} names occur in no "
            "genuine pair: each counts as a person of its own"
        )
    return images.mapped([f"person {number}" for number in component])


def _refuse_differing(lines):
    """Refuse a pair with two scores, or called genuine and impostor; or names of people."""
    images, genuine, roles = lines.images, lines.genuine, lines.roles
    values = {f"score {name}": values for name, values in lines.scores.items()}
    values |= {} if genuine is None else {"genuine": genuine}
    differing = differing_rows(repeated_rows(images, values).drop(columns="either_way"))
    if len(differing) == 0:
        return
    is_same = genuine is None or len({*genuine[differing]}) == 1
    what = "has two scores" if is_same else "is called genuine and impostor"
    answers = [
        {"columns": {"model": name}}
        for name in roles.free(lines.table)
        if 1 < lines.table[name].nunique() <= MOST_MODELS
        and lines.table[name].iloc[differing].is_unique
    ]
    people = lines.people or images
    is_number = _name_several(images.both(), people.both())  # within people
    if is_number and not roles.from_user & {*SIDES}:
        answers.append({"columns": dict.fromkeys(SIDES)})
    elif genuine is None or np.array_equal(images.is_same(), genuine):
        answers.append({"columns": dict(zip(WHO, map(roles.column, SIDES)))})
    first, second = differing
    pair = listed(images.names[[images.probe[first], images.reference[first]]])
    where = f"lines {lines.table.index[first]} and {lines.table.index[second]}"
    raise InputError(f"the pair {pair} {what} ({where}): {TWO_SCORES}", answers)


def _name_several(names, others):
    """Return whether one name stands beside two others."""
    both = pd.DataFrame({"name": names, "other": others}).dropna().drop_duplicates()
    return both["name"].duplicated().any()


# --- scores from a separate file ------------------------------------------------------------------


def _scores_of_file(path, lines):
    """Read one score per line, or lines of two names and a score in any order."""
    scored = table_of(read_file(path))
    n_cells = len(scored.columns)
    require(
        n_cells == 1 or (n_cells == 3 and lines.images),
        OTHER_SCORES.format(n_cells),
    )
    numbers = [name for name in scored if is_number_column(scored[name])]
    score = scored.pop((numbers or [*scored])[-1])
    values = to_numbers(score.rename("score"))
    return values if n_cells == 1 else _scores_by_names(scored, values, lines)


def _scores_by_names(names, values, lines):
    """Return the scores of pairs of images, whichever of both names stands first.

    names : pd.DataFrame of two columns, the names to which the values belong
    """
    n_pairs = len(lines.table)
    both = [[*side, *names[name]] for side, name in zip(lines.images.columns(), names)]
    pairs = coded_sides(both, SIDES, n_pairs + len(values)).either_way()
    scored = pd.DataFrame({"pair": pairs[n_pairs:], "score": values}, names.index)
    differing = differing_rows(scored)
    pair = listed(names.loc[differing[:1]].to_numpy().ravel())
    where = " and ".join(map(str, differing))
    require(
        len(differing) == 0, f"the pair {pair} has two scores (lines {where}): {TWO_DIRECTIONS}"
    )
    scored = scored.drop_duplicates()
    places = pd.Index(scored["pair"]).get_indexer(pairs[:n_pairs])
    absent = lines.table.index[places < 0]
    require(len(absent) == 0, f"there is no score for the trials of lines {listed(absent)}")
    return scored["score"].to_numpy()[places]
