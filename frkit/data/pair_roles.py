"""Which column of a list of pairs is what: guessed from names and contents, then checked."""

import numpy as np
import pandas as pd

from frkit.base import listed, warn
from frkit.data.evidence import CLEAR, share_above
from frkit.data.labels import can_be_named, clean_labels
from frkit.data.names import (
    DECISION,
    NAMES,
    NO_SCORE,
    NO_TRUTH,
    WEAK,
    simplified,
    words_of,
    words_of_truth,
)
from frkit.data.roles import FLAGS, SIDES, WHO, given_roles, some_rows
from frkit.data.sides import side_columns
from frkit.data.tables import as_numbers, is_number_column

OTHER = {"score": "distance", "distance": "score", "genuine": "impostor", "impostor": "genuine"}
WORDS = {
    "distance": frozenset("distance distances dist l2 euclidean".split()),
    "score": frozenset("score scores similarity sim cosine cos".split()),
}
IDS = ("", "id", "ids", "name", "names")  # of people or of images: the data say which
FEWEST = 20  # pairs that can show a system's own decisions


def looks_like_pairs(table):
    """Return whether names, and words of truth, are those of a list of pairs."""
    scores = [name for name in table if simplified(name) in NAMES["score"] | NAMES["distance"]]
    sides = side_columns([name for name in table if name not in scores])
    if any(simplified(stem) in (*IDS[1:3], *NAMES["identity"]) for stem in sides):
        return True
    has_score = bool(scores) or any(_word_role(name) for name in table)
    has_truth = any(_says_truth(name, table[name]) for name in table)
    return has_score + has_truth + bool(sides) >= 2


def pair_roles(table, columns=None, *, needs_score=True, distance=None, said=()):
    """Find out what the columns of a list of pairs are.

    Parameters
    ----------
    table : pd.DataFrame
    columns : mapping, optional
        Role or attribute to column(s), as the user or a format says.
    needs_score : bool
        False where the scores are in another file.
    distance : bool, optional
        Whether all columns of scores are distances, whatever their names say.
    said : set of str
        The roles that the user said, and not the format.
    """
    roles = given_roles("pairs", columns, list(table.columns))
    sample = some_rows(table)
    is_found = not needs_score or roles.given & {"score", "distance"}
    if not is_found:
        _find_named_scores(roles, sample)
    if not roles.given & {"genuine", "impostor"}:
        _find_truth(roles, table, sample)
    _find_sides(roles, table)
    if needs_score and not roles.scores():
        _find_other_scores(roles, table, sample)
    for name in roles.free(sample):
        is_text = np.ndim(sample[name].iloc[0]) == 0 and not is_number_column(sample[name])
        is_text = is_text and not words_of(name) & DECISION
        if is_text and can_be_named(name) and name not in roles.unused:
            roles.attributes[name] = [name]
    roles.unused += [name for name in roles.free(sample) if name not in roles.unused]
    roles.given &= said
    if needs_score and distance is not None:
        role = "distance" if distance else "score"
        roles.columns |= {OTHER[role]: [], role: roles.scores()}
    elif needs_score:
        _check_directions(roles, table)
    return roles


# --- scores --------------------------------------------------------------------------------------


def _find_named_scores(roles, sample):
    """Take the columns whose whole names, but for a mark of a model, are scores or distances."""
    for name in roles.free(sample):
        bare = simplified(name)
        stems = {bare, bare[:-1] if bare.endswith(("1", "2", "a", "b")) else bare}
        for role in ("score", "distance"):
            if stems & NAMES[role] and is_number_column(sample[name]):
                roles.columns.setdefault(role, []).append(name)


def _word_role(name):
    """Return "score" or "distance" where a word of the name says so, else None."""
    words = words_of(name)
    roles = [role for role in WORDS if words & WORDS[role] and not words & NO_SCORE]
    return roles[0] if roles else None


def _find_other_scores(roles, table, sample):
    """Take columns of which a word says what they are, or the only fractions; if they agree."""
    numbers = [
        name
        for name in roles.free(table)
        if is_number_column(sample[name]) and not words_of(name) & NO_SCORE
    ]
    candidates = {name: _word_role(name) for name in numbers if _word_role(name)}
    if not candidates:
        fractions = [name for name in numbers if (as_numbers(sample[name])[0] % 1 > 0).any()]
        candidates = dict.fromkeys(fractions, "score")
        if len(fractions) > 1:
            why = f"{listed(fractions)} could be scores; which are, and are they distances?"
            roles.ask(table, why, {"score": fractions})
    if not candidates:
        why = "no column looks like scores; name one as score, or as distance"
        roles.ask(table, why, {"score": "..."})
    genuine = truth_of(roles, table)
    for name, role in candidates.items():
        area, errors = _separation(table[name], genuine, role)
        if errors < CLEAR and area < 1:
            why = f"{name!r} may be the {role}, but the data do not show that"
            roles.ask(table, why, {role: name})
        roles.columns.setdefault(role, []).append(name)


def _separation(column, genuine, role):
    """Return how clearly genuine pairs are more alike, if a column is read as this role."""
    if genuine is None:
        return 0.5, 0.0
    values, _ = as_numbers(column)
    return share_above(values if role == "score" else -values, genuine)


def _check_directions(roles, table):
    """Stop where genuine scores lie below impostors' in a column whose direction was guessed."""
    genuine = truth_of(roles, table)
    for name in roles.scores():
        role = "distance" if name in roles.columns.get("distance", []) else "score"
        if role in roles.given:
            continue
        area, errors = _separation(table[name], genuine, role)
        if area < 0.5 and (errors < -2 or area == 0):
            why = f"read as {role}, {name!r} says that strangers are more alike than one person"
            truth = "impostor" if roles.one("impostor") else "genuine"
            column = roles.one(truth)
            remedies = [{OTHER[role]: name}]
            if column and truth not in roles.given and not roles.one(WHO[0]):
                remedies.append({OTHER[truth]: column})
            roles.ask(table, why, *remedies)


# --- truth ---------------------------------------------------------------------------------------


def _find_truth(roles, table, sample):
    """Take the column that says which pairs are genuine, or which are impostors."""
    candidates = {
        name: "impostor" if simplified(name) in NAMES["impostor"] else "genuine"
        for name in roles.free(table)
        if _says_truth(name, sample[name])
    }
    truths = [says(role, table[name]) for name, role in candidates.items()]
    if any(not np.array_equal(truths[0], other) for other in truths[1:]):
        why = f"{listed(candidates)} could all say which pairs are genuine"
        roles.ask(table, why, {"genuine": next(iter(candidates))})
    for name, role in list(candidates.items())[:1]:
        roles.columns[role] = [name]
    roles.unused += list(candidates)[1:]


def _says_truth(name, cells):
    """Return whether a column says which pairs are genuine, by its name or by its words."""
    is_genuine, is_impostor = words_of_truth(cells)
    if not (is_genuine | is_impostor | cells.isna().to_numpy()).all():
        return False
    bare = simplified(name)
    if bare in NAMES["genuine"] | NAMES["impostor"] | WEAK["genuine"]:
        return is_genuine.any() or is_impostor.any()
    # words such as "mated" need no name; 1, true and yes may be anything
    is_flag = bool({*cells.astype(str).str.lower()} & FLAGS)
    says_both = is_genuine.any() and is_impostor.any()
    return says_both and not is_flag and not words_of(name) & NO_TRUTH


def says(role, column):
    """Return where a column says "genuine", or "impostor"; each distinct word is read once."""
    codes, words = pd.factorize(column)
    is_genuine, is_impostor = words_of_truth(pd.Series(words))
    return np.append(is_genuine if role == "genuine" else is_impostor, False)[codes]


def truth_of(roles, table):
    """Return which pairs are genuine, by the truth or by the identities; None if neither says."""
    for role in ("genuine", "impostor"):
        if roles.one(role):
            return says(role, table[roles.one(role)])
    if all(roles.one(role) for role in WHO):
        return _is_same(table, [roles.one(role) for role in WHO])
    return None


def _is_same(table, columns):
    """Return where two columns have the same text."""
    first, second = (table[name] for name in columns)
    if not first.dtype == second.dtype == "str":
        first, second = (clean_labels(each, len(each), each.name) for each in (first, second))
    return np.asarray(first == second, bool)


def warn_of_unconfirmed(roles, table):
    """Say what nothing else in the file can show about a truth that was guessed."""
    truth = roles.one("genuine")
    role = "distance" if roles.columns.get("distance") else "score"
    name = roles.one(role)
    if truth is None or name is None or roles.given & {"genuine", "impostor"}:
        return
    genuine = truth_of(roles, table)
    if _separation(table[name], genuine, role)[0] == 1 and len(genuine) >= FEWEST:
        warn(
            f"column {name!r} separates all genuine pairs of {truth!r} from all impostors: make "
            f"sure that {truth!r} is not the system's own decision"
        )
    is_flag = {*table[truth].astype(str).unique()[:4]} <= FLAGS
    if is_flag and simplified(truth) in WEAK["genuine"] and role not in roles.given:
        turned = {"impostor": truth, OTHER[role]: name}
        warn(
            f"1 in {truth!r} is read as genuine, {name!r} as a {role}, and nothing else in the "
            f"file confirms both; if both are the other way round, say columns={turned!r}"
        )


# --- the two sides -------------------------------------------------------------------------------


def _find_sides(roles, table):
    """Say of columns of both sides whether they are identities, images or attributes."""
    for names in (SIDES, WHO):
        _add_other_side(roles, names, table)
    sides = side_columns(roles.free(table))
    people = _identities(roles, sides, table)
    if people is not None and not roles.given & {*WHO}:
        roles.columns |= {role: [name] for role, name in zip(WHO, sides.pop(people))}
    for stem, columns in sides.items():
        is_image = simplified(stem) in NAMES["image"] or simplified(stem) in (*IDS, "p")
        is_free = not any(roles.one(side) for side in SIDES) and not roles.given & {*SIDES}
        if is_image and is_free:
            roles.columns |= {side: [name] for side, name in zip(SIDES, columns)}
        elif stem in roles.unused or not can_be_named(stem or columns[0]):
            roles.unused += columns
        else:
            roles.attributes.setdefault(stem or columns[0], list(columns))


def _add_other_side(roles, names, table):
    """Where one side was given, take the column of the other side."""
    given = [name for name in names if roles.one(name)]
    if len(given) == 1:
        column = roles.one(given[0])
        [other] = {*names} - {*given}
        twins = [both for both in side_columns(list(table)).values() if column in both]
        if not twins:
            roles.ask(table, f"{given[0]} is {column!r}; name the other side, too", {other: "..."})
        roles.columns[other] = [name for name in twins[0] if name != column]


def _identities(roles, sides, table):
    """Return which columns of both sides are identities: by name, and as the truth says."""
    truth = truth_of(roles, table)
    for stem, columns in sides.items():
        if simplified(stem) in NAMES["identity"]:
            if truth is not None:
                _check_truth(roles, columns, _is_same(table, columns) != truth, table)
            return stem
    for stem, columns in sides.items():
        if truth is None and simplified(stem) in IDS and _is_same(table, columns).any():
            return stem
        if truth is not None and simplified(stem) in (*IDS, *WEAK["identity"]):
            if np.array_equal(_is_same(table, columns), truth):
                return stem
    return None


def _check_truth(roles, columns, is_wrong, table):
    """Stop where the truth contradicts identities."""
    name = roles.one("genuine") or roles.one("impostor")
    n_wrong = int(is_wrong.sum())
    if n_wrong > 0:
        why = f"{name!r} contradicts the identities {listed(columns)} in {n_wrong:,} pairs"
        is_turned = roles.one("genuine") and n_wrong > 0.9 * len(table)
        roles.ask(table, why, {"impostor": name} if is_turned else {"genuine": None})
