"""What names of images say about who is in them, by a pattern that the user confirms."""

import re

import numpy as np
import pandas as pd

from frkit.base import listed, require, require_text

PERSON_FIELDS = ("identity", "name", "person", "subject", "speaker", "id")
DIGIT_FIELDS = ("number", "n")
ENDING = r"(?:\.[A-Za-z]\w{1,3})?$"
FIELDS = "abcdefgh"  # of a proposed pattern, beside the person's and the number
COMPARED = 20_000  # scores of each kind that show whether genuine ones are higher
FIRST = 2_000  # names that show whether a pattern can be right
CLEAR = 4.0  # scores agree with their direction if this many standard errors from one half
CORRELATED = 1 / 3  # correlation of two truths from which on either may be right
NEARLY = 0.1  # by which patterns that separate about equally well differ at most in that share


def is_pattern(text):
    """Return whether identity= is a pattern of image names and not the name of a column."""
    return isinstance(text, str) and "{" in text


def identities_from(names, pattern):
    """Read who is in each image from its name, by a pattern such as "{name}_{number}.jpg".

    A field matches any text without a slash, {number} and {n} digits only; {identity} (or
    name, person, subject, speaker, id) is the person. Folders in front of the pattern are ignored.
    A name that does not fit may be a person that other names contain; else it is an error.
    """
    require_text("identity", pattern, "a pattern of image names such as '{name}_{number}.jpg'")
    require(
        len({*_fields(pattern)} & {*PERSON_FIELDS}) == 1,
        f"the pattern {pattern!r} must have one field that says who it is: "
        f"{', '.join(PERSON_FIELDS)}",
    )
    people = _people_by_pattern(names, pattern)
    misfits = np.unique(np.asarray(names, str)[people.isna()])
    require(
        len(misfits) == 0,
        f"the pattern {pattern!r} does not fit the image names {listed(misfits, 3)}",
    )
    return people.to_numpy(str)


def _fields(pattern):
    """Return the names of the fields of a pattern."""
    return re.findall(r"\{(\w+)\}", pattern)


def _people_by_pattern(names, pattern):
    """Return who is in each image; NaN where a name does not fit."""
    expression = re.escape(pattern.replace("\\", "/"))
    fields = _fields(pattern)
    for field in fields:
        characters = "(?<![0-9])[0-9]+" if field in DIGIT_FIELDS else "[^/]+"
        escaped = re.escape("{" + field + "}")
        expression = expression.replace(escaped, f"(?P<{field}>{characters})", 1)
        expression = expression.replace(escaped, f"(?P={field})")  # the same again
    person = next(field for field in fields if field in PERSON_FIELDS)
    paths = [str(name).replace("\\", "/") for name in names]
    matches = map(re.compile(rf"(?:.*/)?{expression}\Z").match, paths)
    people = [match and match[person] for match in matches]
    distinct = {*people}
    whole = [path if path in distinct else None for path in paths]
    return pd.Series(people, dtype="str").fillna(pd.Series(whole, dtype="str"))


# --- what patterns would say ----------------------------------------------------------------------


def best_pattern(images, genuine):
    """Return the pattern like the names of images that agrees best with the truth, or None.

    Of several, it is the one with fewest people: else intervals might be too narrow. Where none
    agrees better, the truth may say the opposite.

    Parameters
    ----------
    images : Sides
    genuine : array of bool

    Returns
    -------
    str or None
    Sides or None
        Who is who by this pattern.
    float
        How well it agrees, as in `agreement`.
    """
    best, who, highest = None, None, (0, 0, 0)
    for pattern, people, _ in _readings(images):
        share = agreement(people.is_same(), genuine)
        rank = abs(share), share, -len(people.names)
        if rank > highest:
            best, who, highest = pattern, people, rank
    return best, who, highest[1]


def _readings(images):
    """Yield patterns like the longest name, who is who by them, and whether all names fit.

    Those by which some pairs of two images are genuine, but not all. A name that does not fit is a
    person.
    """
    names = [str(name) for name in images.names[:FIRST]]
    endings = {re.search(ENDING, name)[0] for name in names} - {""} or {""}
    ending = endings.pop() if len(endings) == 1 else ".{ending}"
    for pattern in _patterns_like(max(names, key=len), ending):
        who = _people_by_pattern(images.names, pattern)
        people = images.mapped(who.fillna(pd.Series(images.names)))  # such as names of models
        is_same = people.is_same()[~images.is_same()]
        if is_same.any() and not is_same.all():
            yield pattern, people, who.notna().all()


def agreement(is_same, genuine):
    """Return the correlation of two truths of the same pairs, which by chance is near 0."""
    with np.errstate(invalid="ignore"):  # where all pairs are genuine
        return np.nan_to_num(np.corrcoef(is_same, genuine)[0, 1]).round(9)


def patterns_of_names(images, scores):
    """Return what patterns of names of images would say about who is who, for a question.

    Parameters
    ----------
    images : Sides
    scores : array, (pair,)
        Larger is more alike.

    Returns
    -------
    dict of str to str
        Pattern to a line for people; those come first that separate scores, which may be distances,
        nearly as well as the best one, and of these the one with the fewest people.
    """
    is_other = ~images.is_same()
    lines = {}  # of patterns that say the same, the first
    for pattern, people, is_whole in _readings(images):
        if not is_whole:
            continue
        is_genuine = people.is_same() & is_other
        area, _ = share_above(scores[is_other], is_genuine[is_other])
        n_people, n_genuine = len(people.names), len(np.unique(images.either_way()[is_genuine]))
        line = (
            f"{pattern}: {n_people:,} people, {n_genuine:,} genuine pairs, which score above "
            f"others in {area:.2f} of cases"
        )
        lines.setdefault((max(area, 1 - area), n_people, n_genuine), (pattern, line))
    best = max((area for area, *_ in lines), default=0)
    order = sorted(lines, key=lambda numbers: (numbers[0] < best - NEARLY, *numbers[1:]))
    return dict(lines[numbers] for numbers in order)


def _patterns_like(name, ending):
    """Yield patterns that fit an image name: up to a mark, up to the last digits, or a folder.

    What stands before the first mark, such as a session, may not belong to the person.
    """
    *folders, file = name.replace("\\", "/").split("/")
    stem = re.sub(ENDING, "", file)
    cells = re.split("([-_. ])", stem)
    last = "{number}" if cells[-1].isdigit() else "{last}"
    rest = last + ending
    marks = cells[-2::-2]
    for number, mark in enumerate(marks):
        yield "{name}" + mark + rest
        if number + 1 < len(marks):
            yield "{first}" + marks[-1] + "{name}" + mark + rest
        rest = f"{{{FIELDS[number % len(FIELDS)]}}}" + mark + rest
    if re.search("[^0-9][0-9]+$", stem):
        yield "{name}{number}" + ending
    rest = "{file}"
    for number, _ in enumerate(folders):
        yield "{name}/" + rest
        rest = f"{{{FIELDS[number % len(FIELDS)]}}}/" + rest


def ask_who(roles, header, why, images, scores, *remedies, **options):
    """Ask who is who, and show what patterns of names of images would say.

    images, scores : as in `patterns_of_names`; others : further answers, as in `Roles.ask`.
    """
    lines = patterns_of_names(images, scores)
    if lines:
        why = (
            f"{why}\nnames such as {str(images.names[0])!r} may say it. frkit does not guess who "
            "is who; by these patterns there would be\n  "
            + "\n  ".join(lines.values())
            + "\n  or by another, such as {name}x{number}.jpg"
        )
    roles.ask(header, why, *remedies, identity=next(iter(lines), None), **options)


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
