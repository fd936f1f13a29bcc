"""Which column of a list of pairs is what: guessed from names and contents, then checked."""

import numpy as np

from frkit.base import listed, warn
from frkit.data.sides import SIDES, WHO, coded_sides
from frkit.io.cells import WITH_FRAME, as_numbers, is_number_column, refuse_cells, to_numbers
from frkit.io.joins import CORRELATED, agreement, share_above
from frkit.io.names import (
    ATTRIBUTES,
    IDS,
    NAMES,
    NO_SCORE,
    WEAK,
    side_columns,
    simplified,
    truth_of,
    words_of,
    words_of_truth,
)
from frkit.io.roles import FLAGS, MOST_MODELS, roles_of_user, some_rows

OPPOSITE = {"score": "distance", "distance": "score", "genuine": "impostor", "impostor": "genuine"}
TRUTH = NAMES["genuine"] | NAMES["impostor"] | WEAK["genuine"]
WORDS = {  # within a name, that say which of both it is
    "distance": NAMES["distance"],
    "score": frozenset("score scores similarity sim cosine cos".split()),
}
MOST = 0.5  # share of numbers above which a column called "score" is one
FEWEST = 20  # pairs that can show a system's own decisions, or who is who
TURNED = 2  # standard errors below one half from which on a direction is asked about
TURNED_TRUTH = 0.9  # share of pairs that contradict a truth which means the opposite
OTHER_WORDS = (
    "other words of truth are written anew, such as "
    "fk.open_data(frame.assign(label=frame['label'] == 'G'))"
)
NO_VERDICT = (
    "does not say whether the pair is genuine; use 1, true, yes, genuine, mated, match, target or "
    "same; or 0, false, no, impostor ...\n"
    "  blank rows are left out by fk.open_data(frame.dropna(subset=[TRUTH]))\n"
    "  if a blank means impostor: fk.open_data(frame.fillna({TRUTH: 0}))\n"
    f"  OTHERS\n  ({WITH_FRAME})"
)
THIRD_CLASS = "rows of a third class are left out by fk.open_data(frame[frame[TRUTH].isin(WORDS)])"
OTHER_CLASSES = (
    "others are written anew, such as fk.open_data(frame.assign(**{TRUTH: frame[TRUTH] == WORD}))"
)


def looks_like_pairs(table):
    """Return whether a table looks like a list of pairs, by names and words of truth."""
    scores = {name for name in table if simplified(name) in NAMES["score"] | NAMES["distance"]}
    sides = side_columns([name for name in table if name not in scores])
    if any(simplified(stem) in {"id", "ids"} | NAMES["identity"] for stem in sides):
        return True
    has_score = bool(scores) or any(map(role_of_score, table))
    has_truth = any(_says_truth(name, table[name]) for name in table)
    return has_score + has_truth + bool(sides) >= 2


def pair_roles(table, columns=None, *, needs_score=True, from_user=()):
    """Find out what the columns of a list of pairs are.

    Parameters
    ----------
    table : pd.DataFrame
    columns : mapping, optional
        Role or attribute to column(s), as the user or a format says.
    needs_score : bool
        False where the scores are in another file.
    from_user : set of str
        The roles that the user gave, and not the format.

    Returns
    -------
    Roles
    np.ndarray or None
        Which pairs are genuine, where a column or identities say it.
    """
    roles = roles_of_user("pairs", columns, list(table.columns))
    sample = some_rows(table)
    if not roles.from_user & {*WORDS}:
        scores = _find_scores(roles, sample)
        roles.columns |= scores if needs_score else {}
        roles.unused += [] if needs_score else [name for names in scores.values() for name in names]
    if not roles.from_user & {"genuine", "impostor"}:
        _find_truth(roles, table, sample)
    genuine = _truth(roles, table)
    _find_sides(roles, table, genuine)
    if genuine is None and all(map(roles.column, WHO)):
        genuine = _is_same(table, map(roles.column, WHO))
    if needs_score and not roles.scores():
        _ask_scores(roles, table, sample)
    roles.from_user &= {*from_user}
    return roles, genuine


# --- scores --------------------------------------------------------------------------------------


def _find_scores(roles, sample):
    """Find columns that are called score or distance; else those with a word that says so."""
    numbers = [name for name in roles.free(sample) if is_number_column(sample[name], MOST)]
    usual = {name: role for role in WORDS for name in numbers if simplified(name) in NAMES[role]}
    by_word = {name: role_of_score(name) for name in numbers if role_of_score(name)}
    role_of = usual or by_word
    return {role: [name for name in role_of if role_of[name] == role] for role in WORDS}


def role_of_score(name):
    """Return "score" or "distance" where a word of the name says so, else None."""
    name_words = words_of(name)
    name_words |= {word.rstrip("0123456789") for word in name_words}
    roles = [role for role in WORDS if name_words & WORDS[role] and not name_words & NO_SCORE]
    return roles[0] if roles else None


def _ask_scores(roles, table, sample):
    """Ask which columns are scores, where no name says it."""
    for name in filter(role_of_score, roles.free(table)):
        to_numbers(table[name])  # which names the cell that is no number
    names = fractions(sample[roles.free(table)])
    if names:
        why = f"{listed(names)} could be scores; which are, and are they distances?"
        roles.ask(table, why, {"score": names}, {"distance": names})
    why = (
        "no column looks like scores; name one as score, or as distance, or give their file: "
        "fk.open_data('trials.txt', scores='scores.txt')"
    )
    roles.ask(table, why, answers=[{"scores": "..."}])


def fractions(table):
    """Return the columns of numbers that are not all whole."""
    numbers = [name for name in table if is_number_column(table[name])]
    return [name for name in numbers if (as_numbers(table[name])[0] % 1 > 0).any()]


def check_scores(roles, table, genuine, scores, is_confirmed):
    """Ask where scores contradict the truth, if one of both was guessed, or separate it wholly.

    A warning says that both may be the opposite, where nothing confirms a weak name of the truth.

    Parameters
    ----------
    scores : dict of array, by column
    is_confirmed
        True where people, or the form of the file, confirm a truth that was guessed.
    """
    truth = next(filter(roles.column, ("impostor", "genuine")), None)
    is_guess = truth and not is_confirmed and not roles.from_user & {"genuine", "impostor"}
    column = roles.column(truth)
    turned_truth = {OPPOSITE[truth]: column} if is_guess else {}
    for name in roles.scores():
        role = "distance" if name in roles.columns.get("distance", []) else "score"
        area, errors = share_above(scores[name] if role == "score" else -scores[name], genuine)
        if role not in roles.from_user and (area == 0 or errors < -TURNED):
            why = f"read as {role}, {name!r} says that strangers are more alike than one person"
            roles.ask(table, why, _with_role(roles, name, OPPOSITE[role]), turned_truth)
        if is_guess and area == 1 and len(genuine) >= FEWEST:
            why = f"{name!r} separates all genuine pairs of {column!r} from all impostors, as the "
            why += "system's own decision would: is it the truth? If not, say what is"
            people = {truth: None} | dict.fromkeys(WHO, "...")
            roles.ask(table, why, {truth: column}, {"genuine": "..."}, people)
    is_weak = is_guess and simplified(column) in WEAK["genuine"]
    if is_weak and role not in roles.from_user and {*table[column].astype(str).unique()} <= FLAGS:
        warn(
            f"1 in {column!r} is read as genuine, {name!r} as a {role}, and nothing else in the "
            f"file confirms both; they may be impostor and {OPPOSITE[role]}"
        )


def _with_role(roles, name, role):
    """Return the columns of scores and distances where one of them gets this role."""
    opposite = OPPOSITE[role]
    others = [other for other in roles.columns[opposite] if other != name]
    turned = {role: [*roles.columns.get(role, []), name]}
    return turned | {opposite: others} if others else turned


# --- truth ---------------------------------------------------------------------------------------


def _find_truth(roles, table, sample):
    """Take the column that says which pairs are genuine, or which are impostors."""
    candidates = [name for name in roles.free(table) if _says_truth(name, sample[name])]
    if not candidates:
        return
    truths = [_verdicts(table[name], _role_of_truth(name)) for name in candidates]
    if any(not np.array_equal(truths[0], other) for other in truths):
        why = f"{listed(candidates)} could all say which pairs are genuine"
        unused = dict.fromkeys(candidates)
        roles.ask(table, why, *(unused | {_role_of_truth(name): name} for name in candidates))
    roles.columns[_role_of_truth(candidates[0])] = candidates[:1]
    roles.unused += candidates[1:]


def _role_of_truth(name):
    """Return whether a column says by its name which pairs are genuine, or which are impostors."""
    return "impostor" if truth_of(name) in NAMES["impostor"] else "genuine"


def _verdicts(column, role):
    """Return which cells say that a pair is genuine."""
    return words_of_truth(column)[role == "impostor"]


def _says_truth(name, cells):
    """Return whether a column says by its name which pairs are genuine, and most cells do."""
    if truth_of(name) not in TRUTH:
        return False
    if truth_of(name) not in WEAK["genuine"] and cells.nunique() == 2:
        return True  # with other words, which are refused
    is_genuine, is_impostor = words_of_truth(cells)
    is_clear = is_genuine | is_impostor | cells.isna().to_numpy()
    return is_clear.mean() > MOST and (is_genuine | is_impostor).any()


def _truth(roles, table):
    """Return which pairs are genuine according to the column of truth; None without one."""
    for role in ("genuine", "impostor"):
        if roles.column(role):
            column = table[roles.column(role)]
            # the column may say something else, and names who is who
            remedies = [{"columns": {role: None}}] if side_columns(list(table)) else []
            is_clear = np.logical_or(*words_of_truth(column))
            why = NO_VERDICT.replace("OTHERS", _line_of_others(column, is_clear))
            refuse_cells(column, ~is_clear, why.replace("TRUTH", repr(column.name)), remedies)
            return _verdicts(column, role)
    return None


def _line_of_others(column, is_clear):
    """Return the line of pandas that leaves out a third class, or says what other words mean."""
    words = column[is_clear].drop_duplicates()
    if len(words) > 1:
        values, is_missing = as_numbers(column)
        if (np.isfinite(values) | is_missing).all():  # as pandas reads them
            words, _ = as_numbers(words)
        return THIRD_CLASS.replace("WORDS", str(words.tolist()))
    return OTHER_CLASSES.replace("WORD", "2" if is_number_column(column) else "'...'")


def _is_same(table, columns):
    """Return in which rows two columns have the same label."""
    columns = list(columns)
    labels = [table[name] for name in columns]
    return coded_sides(labels, columns, len(table), complete=False).is_same()


# --- the two sides -------------------------------------------------------------------------------


def _find_sides(roles, table, truth):
    """Decide whether columns of both sides are identities, images or attributes."""
    for names in (SIDES, WHO):
        named = [role for role in names if roles.column(role)]
        if len(named) == 1:
            why = f"{named[0]} is {roles.column(named[0])!r}; name the other side, too"
            roles.ask(table, why, dict.fromkeys({*names}.difference(named), "..."))
    # sysA_score and sysB_score are scores of two models
    sides = side_columns([name for name in roles.free(table) if not role_of_score(name)])
    if not roles.from_user & {*WHO}:
        people = _identities(roles, sides, table, truth)
        roles.columns |= {role: [name] for role, name in zip(WHO, sides.pop(people, []))}
    if not roles.from_user & {*SIDES}:
        usual = [
            stem for names in (NAMES["image"], IDS) for stem in sides if simplified(stem) in names
        ]
        images = sides.pop(usual[0]) if usual else []
        roles.columns |= {side: [name] for side, name in zip(SIDES, images)}
        if not any(map(roles.column, (*SIDES, *WHO))):
            _ask_about_names(roles, table)
    for stem, columns in sides.items():
        if {*columns} <= {*roles.free(table)}:
            are_other_images = {*SIDES} & roles.from_user and simplified(stem) in NAMES["image"]
            if stem in roles.from_user or are_other_images:
                roles.unused += columns
            elif words_of(stem) & ATTRIBUTES:
                roles.attributes[stem] = list(columns)


def _ask_about_names(roles, table):
    """Ask about columns of many names where none has the usual name of a side."""
    names = [name for name in roles.free(table) if _are_names(table[name])]
    if len(names) > 1:
        why = f"{listed(names)} contain many names: which two name the images of a pair, or people?"
        answers = (dict(zip(sides, names)) for sides in (SIDES, WHO))
        roles.ask(table, why, *answers, dict.fromkeys(names))


def _are_names(column):
    """Return whether a column contains many names, as of images; whole numbers may be names."""
    values = some_rows(column)
    are_whole = not (as_numbers(values)[0] % 1 > 0).any()
    return are_whole and values.nunique() > min(MOST_MODELS, len(values) / 2)


def _identities(roles, sides, table, truth):
    """Return what the names of the columns of identities share; None if there are none.

    Their name says so, or the truth agrees with them in every pair; or two equal names have several
    scores. Ask where the truth contradicts them.
    """
    named = [stem for stem in sides if simplified(stem) in NAMES["identity"]]
    if truth is None:
        scores = roles.scores() or fractions(table)
        others = [stem for stem in sides if simplified(stem) in IDS]
        named += [stem for stem in others if _meet_again(table, sides[stem], scores)]
        return next(iter(named), None)
    usual = IDS | WEAK["identity"]
    for stem in named or [stem for stem in sides if simplified(stem) in usual]:
        columns = list(sides[stem])
        is_same = _is_same(table, columns)
        if np.array_equal(is_same, truth):
            return stem
        if named or abs(agreement(is_same, truth)) > CORRELATED:
            _ask_truth(roles, table, columns, is_same, truth)
    return None


def _meet_again(table, columns, scores):
    """Return whether a pair of two equal names has several scores: these are people, not images."""
    pairs = table.loc[_is_same(table, columns), [*columns, *scores]]
    return pairs.drop_duplicates().duplicated(list(columns)).any()


def _ask_truth(roles, table, columns, is_same, truth):
    """Ask what is right where the truth contradicts columns that may name people."""
    is_wrong = is_same != truth
    role = "genuine" if roles.column("genuine") else "impostor"
    name = roles.column(role)
    images = dict(zip(SIDES, columns))
    remedies = [{role: None} | dict(zip(WHO, columns))]
    if not {*columns} & {*SIDES}:  # whose names are roles
        remedies.append(dict.fromkeys(columns))
    if not table.duplicated(columns).any():
        remedies.append(images)
    if is_wrong.mean() > TURNED_TRUTH:
        remedies = [{OPPOSITE[role]: name}]
    elif not is_same.any():
        remedies = [images]
    why = f"{name!r} contradicts the names in {listed(columns)} in {is_wrong.sum():,} pairs"
    roles.ask(table, why, *remedies)
