"""Which column of a list of pairs is what: guessed from names and contents, then checked."""

import numpy as np

from frkit.base import listed, warn
from frkit.data.labels import can_be_named
from frkit.data.sides import SIDES, WHO, coded_sides
from frkit.io.cells import WITH_FRAME, as_numbers, is_number_column, refuse_cells, to_numbers
from frkit.io.joins import agree_mostly, share_above
from frkit.io.names import (
    ATTRIBUTES,
    IDS,
    NAMES,
    NO_SCORE,
    OF_IMAGES,
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
FEWEST = 20  # pairs that can show a system's own decisions
OTHER_WORDS = (
    "other words of truth are written anew, such as "
    f"fk.open_data(frame.assign(label=frame['label'] == 'G')), {WITH_FRAME}"
)
NO_VERDICT = (
    "does not say whether the pair is genuine; use 1, true, yes, genuine, mated, match, target or "
    "same; or 0, false, no, impostor ... Blank rows are left out by "
    "fk.open_data(frame.dropna(subset=[TRUTH])); if a blank means impostor, it is "
    "fk.open_data(frame.fillna({TRUTH: 0})); others are written anew, such as "
    "fk.open_data(frame.assign(**{TRUTH: frame[TRUTH] == WORD})), " + WITH_FRAME
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
    if needs_score and not roles.from_user & {*WORDS}:
        _find_scores(roles, sample)
    if not roles.from_user & {"genuine", "impostor"}:
        _find_truth(roles, table, sample)
    genuine = _truth(roles, table)
    _find_sides(roles, table, genuine)
    if genuine is None and all(map(roles.column, WHO)):
        genuine = _is_same(table, map(roles.column, WHO))
    if needs_score and not roles.scores():
        _ask_scores(roles, table, sample)
    for name in roles.free(table):
        is_attribute = bool(words_of(name) & ATTRIBUTES) and not is_number_column(sample[name])
        if is_attribute and can_be_named(name):
            roles.attributes[name] = [name]
        else:
            roles.unused.append(name)
    roles.from_user &= {*from_user}
    return roles, genuine


# --- scores --------------------------------------------------------------------------------------


def _find_scores(roles, sample):
    """Take the columns that are called score or distance; else those with a word that says so.

    Ask where other columns may be scores, too: by such a word, or as fractions without a name that
    says what they are.
    """
    numbers = [name for name in roles.free(sample) if is_number_column(sample[name], MOST)]
    worded = {name: role_of_score(name) for name in numbers if role_of_score(name)}
    named = {name: role for role in WORDS for name in numbers if simplified(name) in NAMES[role]}
    scores = named or worded
    others = {name: role for name, role in worded.items() if name not in scores}
    if worded and not named:
        of_sides = {name for pair in side_columns(numbers).values() for name in pair}
        unclear = [
            name
            for name in fractions(sample[numbers])
            if not (name in {*worded, *of_sides} or words_of(name) & NO_SCORE)
        ]
        others = dict.fromkeys(unclear, next(iter(worded.values())))
    if others:
        why = f"{listed(others)} may be scores, too, or other values"
        roles.ask(sample, why, _by_role(scores), _by_role(scores | others))
    roles.columns |= _by_role(scores)


def _by_role(role_of_column):
    """Return the columns of each role."""
    columns = {}
    for name, role in role_of_column.items():
        columns.setdefault(role, []).append(name)
    return columns


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
    numbers = [
        name
        for name in roles.free(table)
        if is_number_column(sample[name]) and not words_of(name) & NO_SCORE
    ]
    names = fractions(sample[numbers])
    if names:
        why = f"{listed(names)} could be scores; which are, and are they distances?"
        roles.ask(table, why, {"score": names}, {"distance": names})
    why = "no column looks like scores; name one as score, or as distance, or give their file"
    roles.ask(table, why, answers=[{"scores": "..."}])


def fractions(table):
    """Return the columns that contain numbers which are not whole."""
    return [name for name in table if (as_numbers(table[name])[0] % 1 > 0).any()]


def check_directions(roles, table, genuine, scores):
    """Stop where genuine scores lie below impostors' in a column whose direction was guessed.

    scores : dict of array, by column
    """
    for role in {*WORDS} - roles.from_user if genuine is not None else ():
        for name in roles.columns.get(role, []):
            values = scores[name] if role == "score" else -scores[name]
            area, errors = share_above(values, genuine)
            if area == 0 or area < 0.5 and errors < -2:
                others = [other for other in roles.columns[role] if other != name]
                turned = [*roles.columns.get(OPPOSITE[role], []), name]
                remedies = [{OPPOSITE[role]: turned if len(turned) > 1 else name}]
                if others:
                    remedies[0][role] = others
                truth = next(filter(roles.column, ("impostor", "genuine")), None)
                if truth and truth not in roles.from_user and not roles.column(WHO[0]):
                    remedies.append({OPPOSITE[truth]: roles.column(truth)})
                why = f"read as {role}, {name!r} says that strangers are more alike than one person"
                roles.ask(table, why, *remedies)


# --- truth ---------------------------------------------------------------------------------------


def _find_truth(roles, table, sample):
    """Take the column that says which pairs are genuine, or which are impostors."""
    candidates = [name for name in roles.free(table) if _says_truth(name, sample[name])]
    if not candidates:
        return
    first, *others = candidates
    is_genuine = {}
    for name in candidates:
        means_impostor = truth_of(name) in NAMES["impostor"]
        is_genuine[name] = words_of_truth(table[name])[means_impostor]
    if any(not np.array_equal(is_genuine[first], is_genuine[other]) for other in others):
        why = f"{listed(candidates)} could all say which pairs are genuine"
        roles.ask(table, why, *({"genuine": name} for name in candidates))
    roles.columns["impostor" if truth_of(first) in NAMES["impostor"] else "genuine"] = [first]
    roles.unused += others


def _says_truth(name, cells):
    """Return whether a column says by its name which pairs are genuine, and most cells do."""
    if truth_of(name) not in TRUTH:
        return False
    is_genuine, is_impostor = words_of_truth(cells)
    is_clear = is_genuine | is_impostor | cells.isna().to_numpy()
    return is_clear.mean() > MOST and (is_genuine | is_impostor).any()


def _truth(roles, table):
    """Return which pairs are genuine according to the column of truth; None without one."""
    for side, role in enumerate(("genuine", "impostor")):
        if roles.column(role):
            column = table[roles.column(role)]
            verdicts = words_of_truth(column)
            # the column may say something else, and names who is who
            remedies = [{"columns": {role: None}}] if side_columns(list(table)) else []
            word = "2" if is_number_column(column) else "'...'"
            why = NO_VERDICT.replace("TRUTH", repr(column.name)).replace("WORD", word)
            refuse_cells(column, ~(verdicts[0] | verdicts[1]), why, remedies)
            return verdicts[side]
    return None


def _is_same(table, columns):
    """Return in which rows two columns have the same label."""
    columns = list(columns)
    labels = [table[name] for name in columns]
    return coded_sides(labels, columns, len(table), complete=False).is_same()


def check_unconfirmed(roles, table, genuine, scores, is_preset):
    """Ask, or warn, about a truth that was guessed and that nothing else in the file confirms.

    scores : dict of model to array
    """
    truth = roles.column("genuine")
    role = "distance" if roles.columns.get("distance") else "score"
    name = roles.column(role)
    if truth is None or name is None or roles.from_user & {"genuine", "impostor"}:
        return
    area, _ = share_above(scores[name] if role == "score" else -scores[name], genuine)
    is_separated = area == 1 and len(genuine) >= FEWEST
    if is_separated and not is_preset:
        why = f"{name!r} separates all genuine pairs of {truth!r} from all impostors, as the "
        why += "system's own decision would: is it the truth? If not, say what is"
        people = dict.fromkeys(WHO, "...")
        roles.ask(table, why, {"genuine": truth}, {"genuine": "..."}, {"genuine": None} | people)
    is_flag = {*table[truth].astype(str).unique()[:4]} <= FLAGS
    if is_flag and simplified(truth) in WEAK["genuine"] and role not in roles.from_user:
        warn(
            f"1 in {truth!r} is read as genuine, {name!r} as a {role}, and nothing else in the "
            f"file confirms both; they may be impostor and {OPPOSITE[role]}"
        )


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
    people = _identities(roles, sides, table, truth)
    if people is not None and not roles.from_user & {*WHO}:
        roles.columns |= {role: [name] for role, name in zip(WHO, sides.pop(people))}
    if not roles.from_user & {*SIDES}:
        _find_images(roles, sides)
        if not any(map(roles.column, (*SIDES, *WHO))):
            _find_names(roles, table, truth)
    for stem, columns in sides.items():
        if {*columns} <= {*roles.free(table)}:
            if stem in roles.unused or not can_be_named(stem or columns[0]):
                roles.unused += columns
            else:
                roles.attributes.setdefault(stem or columns[0], list(columns))


def _find_images(roles, sides):
    """Take the first two columns of both sides that are called images, or have no other name."""
    usual = NAMES["image"] | IDS
    images = [columns for stem, columns in sides.items() if simplified(stem) in usual]
    if images:
        roles.columns |= {side: [name] for side, name in zip(SIDES, images[0])}


def _find_names(roles, table, truth):
    """Take two columns of many names, if words of their own say of what; ask about others."""
    names = [name for name in roles.free(table) if _are_names(table[name])]
    images = [name for name in names if words_of(name) & OF_IMAGES]
    if len(images) == 2:
        is_same = _is_same(table, images)
        are_people = truth is not None and is_same.any() and np.array_equal(is_same, truth)
        if truth is None or are_people or not (is_same & ~truth).any():
            of_names = WHO if are_people else SIDES
            roles.columns |= {role: [name] for role, name in zip(of_names, images)}
            return
    if len(names) > 1:
        why = f"{listed(names)} contain many names: which two name the images of a pair, or people?"
        answers = (dict(zip(sides, names)) for sides in (SIDES, WHO))
        roles.ask(table, why, *answers, dict.fromkeys(names))


def _are_names(column):
    """Return whether a column contains many names, as of images; whole numbers may be names."""
    values = some_rows(column)
    if np.ndim(values.iloc[0]) > 0 or role_of_score(column.name):
        return False
    if is_number_column(values):
        is_other = words_of(column.name) & NO_SCORE - {"id"}
        if is_other or (as_numbers(values)[0] % 1 > 0).any():
            return False
    return values.nunique() > min(MOST_MODELS, len(values) / 2)


def _identities(roles, sides, table, truth):
    """Return what the names of the columns of identities share; None if there are none.

    Their name says so, and the truth does not contradict them; or they alone are equal in every
    genuine pair and in no impostor pair.
    """
    for stem, columns in sides.items():
        if simplified(stem) in NAMES["identity"]:
            if truth is not None:
                is_wrong = _is_same(table, columns) != truth
                refuse_truth(roles, table, f"the identities {listed(columns)}", is_wrong, columns)
            return stem
    usual = IDS if truth is None else IDS | WEAK["identity"]
    for stem, columns in sides.items():
        if simplified(stem) in usual:
            is_same = _is_same(table, columns)
            if truth is None:
                values = roles.scores() or fractions(table)
                are_people = _meet_again(table.loc[is_same, [*columns, *values]], columns)
            else:
                are_people = np.array_equal(is_same, truth)
                _refuse_few(roles, table, stem, columns, is_same, truth)
            if are_people:
                return stem
    if truth is None or len(truth) < FEWEST or truth.all() or not truth.any():
        return None
    agreeing = [stem for stem in sides if np.array_equal(_is_same(table, sides[stem]), truth)]
    return agreeing[0] if len(agreeing) == 1 else None


def _refuse_few(roles, table, stem, columns, is_same, truth):
    """Stop if the truth contradicts columns that may name people, in few pairs."""
    if agree_mostly(is_same, truth):
        truth_role = "genuine" if roles.column("genuine") else "impostor"
        people = {truth_role: None} | dict(zip(WHO, columns))
        attribute = {stem or columns[0]: list(columns)}
        refuse_truth(roles, table, listed(columns), is_same != truth, answers=[people, attribute])


def _meet_again(pairs, columns):
    """Return whether a pair of two equal names has several scores: these are people, not images."""
    return pairs.drop_duplicates().duplicated(list(columns)).any()


def refuse_truth(roles, table, others, is_wrong, columns=(), answers=()):
    """Stop if the truth contradicts identities in two columns, or names of images.

    answers : ways to read these columns; by default one follows from `columns`
    """
    if is_wrong.any():
        role = "genuine" if roles.column("genuine") else "impostor"
        name = roles.column(role)
        why = f"{name!r} contradicts {others} in {is_wrong.sum():,} pairs"
        is_turned = is_wrong.mean() > 0.9
        remedies = [{OPPOSITE[role]: name} if is_turned else {role: None}]
        if columns and not is_turned:  # which may be numbers within sites, say
            remedies.append(dict.fromkeys(columns))
        if columns and not _is_same(table, columns).any():  # images, then
            remedies = [dict(zip(SIDES, columns))]
        roles.ask(table, why, *(answers or remedies))
