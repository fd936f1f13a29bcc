"""A list of scored pairs, from clean or raw columns to kept pairs: every check of one."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import (
    listed,
    real_numbers,
    refuse_infinite,
    require,
    require_exact,
    require_one_of,
    warn,
)
from frkit.data.labels import check_names, model_names
from frkit.data.sides import SIDES, WHO, Sides, coded_sides
from frkit.io.cells import several_marks
from frkit.io.notices import (
    warn_of_spellings,
    warn_of_strangers,
)
from frkit.io.repeated import first_of_each, repeated_rows, warn_of_equal_rows
from frkit.scores.kept import REJECTED, kept_list

FAILED = ("left out", "rejected")  # what a failed comparison may count as
FEWEST_OTHERS = 3  # distinct scores beside a mark
FEWEST_DISTINCT = 20  # scores that can show several marks, and marks by their frequency
FAR = 10  # times the spread of so few others, by which a mark is apart
MOST_CODES = 10  # of failures in one system
APART = 0.1  # share of the spread of other scores by which one is apart from them
TWICE = 2  # times as often as any fraction, a whole number is a mark
PEAK = 5  # times as often as those near it, any score is one
FEWEST_EQUAL = 10  # that make a peak; 1 % of all if that is less, and of whole scores always
NEAR = 5  # distinct scores on either side


def listed_pairs(
    score,
    genuine,
    images,
    people,
    attributes,
    *,
    model=None,
    distance=False,
    missing=None,
    failed="left out",
    each_once=True,
) -> xr.DataTree:
    """Return columns as kept pairs; the arguments are those of `frkit.pairs`.

    `images` and `people` are the names on both sides: two columns, or Sides, or None. With
    `each_once` a pair that is there twice with one score counts once.
    """
    require_one_of("failed", failed, FAILED)
    values, models, is_distance = _scores(score, model, missing, distance)
    n = values.shape[1]
    images = _sides(images, SIDES, n)
    people = _sides(people, WHO, n)
    is_genuine = _genuine(genuine, people, n)
    is_of_two = ~images.is_same() if images else np.ones(n, bool)
    for turned, scores_of_model in zip(is_distance, values):
        given = scores_of_model[is_of_two]
        ask_about_marks(-given if turned else given, missing, turned, ~is_genuine[is_of_two])
    check_names(attributes)
    of_pairs = {name: _labels_of_attribute(name, each, n) for name, each in attributes.items()}
    labels = {"identity": people} | of_pairs if people else of_pairs
    warn_of_strangers(values[0], is_genuine, people, of_pairs, images)
    warn_of_spellings({name: [sides.names] for name, sides in labels.items()})
    sides = {"image": images} | labels if images else labels
    if each_once and images:
        repeated = repeated_rows(images, dict(enumerate(values)) | {"genuine": is_genuine})
        keep = first_of_each(repeated, n)
        values, is_genuine = values[:, keep], is_genuine[keep]
        sides = {name: names.rows(keep) for name, names in sides.items()}
    elif people and not images:
        warn_of_equal_rows(people, values[0])
    values, rejected = _settle_failed(values, is_genuine, failed, models)
    attrs = {"similarity": "given", "distance": int(is_distance.all()), **rejected}
    score = ("model", "pair"), values, attrs
    pairs = xr.Dataset({"score": score}, coords={"genuine": ("pair", is_genuine)})
    pairs = pairs.isel(model=0) if models is None else pairs.assign_coords(model=models)
    return kept_list(pairs, sides)


# --- scores --------------------------------------------------------------------------------------


def _scores(score, model, missing, distance):
    """Return scores, models (None without names), and which of them are distances.

    Scores are (model, pair), larger = more alike, NaN if missing; without models there is one row.
    """
    if isinstance(score, Mapping):
        require(model is None, "score is a mapping from model names already: leave model= out")
        model = list(score)
        score = [real_numbers("score", values) for values in score.values()]
    values = failed_as_nan(real_numbers("score", score), missing, False)
    require(
        values.ndim == (1 if model is None else 2) and values.size > 0,
        "score must have shape (pairs,), or (models, pairs) together with model= names, got shape "
        f"{values.shape}",
    )
    refuse_infinite(values)
    require(not np.isnan(values).all(), "every score is missing: there is nothing to evaluate")
    models = None if model is None else model_names(model, len(values))
    is_distance = np.atleast_1d(_is_distance(distance, models))
    values = np.where(is_distance[:, None], -values, values)
    if is_distance.any() and not is_distance.all():
        warn_of_distances(models[is_distance])
    return values, models, is_distance


def warn_of_distances(models) -> None:
    """Warn that the scores of some models, but not of all, are distances."""
    warn(
        f"scores of {listed(models)} are distances: they and their thresholds are shown with the "
        "sign changed, so that larger means more alike"
    )


def ask_about_marks(scores, missing=None, is_distance=False, of_strangers=False) -> None:
    """Ask about scores apart from all others, which may mark failed comparisons.

    Parameters
    ----------
    scores : array, (pair,)
        As they were given, NaN where missing.
    missing : number, word or sequence of such, optional
        The marks that the user names. Another one is a notice then; `[]` says that there is none.
    is_distance : bool
        Whether smaller is more alike.
    of_strangers : array of bool, (pair,)
        Which pairs are of two people; False for a matrix, where copies may be compared.
    """
    if missing is not None and not several_marks(missing):
        return
    distinct, counts = np.unique(scores[np.isfinite(scores)], return_counts=True)
    if len(distinct) <= FEWEST_OTHERS:
        return
    most_alike = distinct[0] if is_distance else distinct[-1]
    n_strangers = np.sum((scores == most_alike) & of_strangers)
    are_copies = n_strangers <= counts.sum() / 100 and most_alike != 0  # which failures have, too
    is_frequent = _are_frequent(distinct, counts) & ~(are_copies & (distinct == most_alike))
    marks = distinct[_are_apart(distinct, counts) | is_frequent].tolist()
    if not marks:
        return
    what = "distance" if is_distance else "score"
    shown = " and ".join(f"{mark:g}" for mark in marks)
    question = (
        f"the {what} {shown} is apart from all others, or far more frequent: does it mark failed "
        "comparisons, or images compared with themselves?"
    )
    require(missing is not None, question, [{"missing": marks}, {"missing": []}])
    warn(f"{question} The option missing says so")


def _are_apart(distinct, counts):
    """Return which scores may be codes, such as -1, 999 or -101 and -103, by their value.

    They are negative whole numbers where no other score is negative; whole numbers, or repeated
    ones, beyond other scores; or a few scores beyond a gap that is wider than the range of others.
    """
    are_few = len(distinct) < FEWEST_DISTINCT
    most = 1 if are_few else MOST_CODES
    is_whole = distinct % 1 == 0
    is_apart = distinct < 0
    if is_apart.sum() > most or not is_whole[is_apart].all():
        is_apart = np.zeros(len(distinct), bool)
    gaps = np.diff(distinct)
    is_above = distinct > distinct[gaps.argmax()]
    is_beyond = is_above if is_above.mean() < 1 / 2 else ~is_above
    spread = np.ptp(distinct[~is_beyond])
    if is_beyond.sum() <= most and gaps.max() > (FAR if are_few else 1) * spread:
        is_apart |= is_beyond
    if are_few:
        return is_apart
    are_fractions = is_whole.mean() < 1 / 2
    usual = distinct[~is_whole] if are_fractions else distinct[1:-1]
    margin = APART * np.ptp(usual)
    is_outside = (distinct < usual[0] - margin) | (distinct > usual[-1] + margin)
    return is_apart | is_outside & (is_whole & are_fractions | (counts > 2))


def _are_frequent(distinct, counts):
    """Return which scores are far more frequent than others.

    Fractions hardly repeat, so that a whole number among them does so conspicuously. Any other one
    is compared with those near it. Where these are frequent, too, strangers may have a whole score
    at an end, such as 0.
    """
    is_whole = distinct % 1 == 0
    are_fractions = is_whole.mean() < 1 / 2
    if len(distinct) < FEWEST_DISTINCT:
        return np.zeros(len(distinct), bool)
    is_frequent = is_whole & are_fractions & (counts > TWICE * counts[~is_whole].max(initial=1))
    second = np.sort(counts)[-2]
    fewest = counts.sum() / 100
    if are_fractions:
        fewest = min(fewest, FEWEST_EQUAL)
    below = pd.Series(counts).rolling(NEAR, min_periods=1).max().shift(1)
    above = pd.Series(counts[::-1]).rolling(NEAR, min_periods=1).max().shift(1)[::-1]
    near = np.fmax(below.to_numpy(), above.to_numpy())
    is_peak = (counts > fewest) & (counts > PEAK * near)
    return is_frequent | is_peak & (are_fractions | (second > 2 * near))


def _is_distance(distance, models):
    """Return which models' scores are distances."""
    if isinstance(distance, (bool, np.bool_)):
        return np.full(np.shape(models), bool(distance))
    is_list = isinstance(distance, (list, tuple)) and models is not None
    require(
        is_list and {*distance} <= {*models.tolist()},
        f"distance must be True, False or names of models, got {distance!r}",
    )
    return np.isin(models, distance)


def number_marks(missing) -> list[float]:
    """Return the numbers that mark failed comparisons; words do so in a table alone."""
    numbers = [mark for mark in several_marks(missing) if not isinstance(mark, str)]
    return real_numbers("missing", numbers).tolist() if numbers else []


def failed_as_nan(scores: np.ndarray, missing, distance: bool) -> np.ndarray:
    """Return scores in float64, larger = more alike, NaN where marked as missing."""
    require_exact("score", scores)
    values = scores.astype(float)
    for mark in number_marks(missing):
        values[scores == mark] = np.nan  # a mark is rounded as the scores were
    return -values if distance else values


def _settle_failed(scores, genuine, failed, models):
    """Return scores whose failed comparisons are counted in a warning, or rejected everywhere.

    In the latter case also the score of failed comparisons, as an attribute.
    """
    is_failed = np.isnan(scores)
    whose = [""] if models is None else [f" in {model!r}" for model in models.tolist()]
    for model, of_model in zip(whose, is_failed):
        warn_of_failed((of_model & genuine).sum(), (of_model & ~genuine).sum(), failed, model)
    if failed == "left out":
        return scores, {}
    lowest = np.nanmin(scores, -1, keepdims=True)
    highest = np.nanmax(scores, -1, keepdims=True)
    lowest = below(lowest, highest)
    rejected = {REJECTED: float(lowest.max())} if is_failed.any() else {}
    return np.where(is_failed, lowest, scores), rejected


def below(lowest: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """Return a score that is rejected wherever one of these is."""
    return lowest - np.maximum(highest - lowest, 1.0) / 100


def warn_of_failed(n_genuine: int, n_impostor: int, failed: str, whose: str = "") -> None:
    """Warn how many comparisons are left out, or count as rejected; whose : such as " in 'a'"."""
    consequence = "they count as rejected at every threshold"
    if failed == "left out":
        consequence = "they are left out of every rate; the option failed can reject them"
    if n_genuine or n_impostor:
        warn(
            f"{n_genuine} genuine and {n_impostor} impostor comparisons failed{whose}, or were not "
            f"made (NaN or marked as missing): {consequence}"
        )


# --- the two sides -------------------------------------------------------------------------------


def _sides(columns, names, n):
    """Return the names of both sides as numbers; None where none are given."""
    if columns is None or isinstance(columns, Sides):
        return columns
    n_absent = sum(column is None for column in columns)
    require(
        n_absent != 1,
        f"give {'= and '.join(names)}= together: one side alone says nothing about who shares what",
    )
    return None if n_absent else coded_sides(columns, names, n)


def _genuine(genuine, people, n):
    """Return which pairs are genuine, as given or as the identities say."""
    require(
        genuine is not None or people,
        "say which pairs are genuine: give genuine=, or probe_identity= and reference_identity=",
    )
    if genuine is None:
        return people.is_same()
    flags = real_numbers("genuine", genuine)
    require(
        flags.shape == (n,),
        f"lengths differ: genuine has {flags.size} labels, but there are {n} pairs; give one label "
        "per pair",
    )
    odd = np.flatnonzero(~np.isin(flags, [0, 1]))
    require(
        len(odd) == 0,
        f"genuine must be True or False (1 or 0), but is {listed(flags[odd])} in pairs "
        f"{listed(odd)} (counted from 0): correct these pairs, or leave them out",
    )
    flags = flags.astype(bool)
    wrong = np.flatnonzero(flags != people.is_same()) if people else []
    require(
        len(wrong) == 0,
        f"genuine contradicts the identities in {len(wrong)} pair(s): {listed(wrong)} (counted "
        "from 0)",
    )
    return flags


# --- attributes ----------------------------------------------------------------------------------


def _labels_of_attribute(name, values, n):
    """Return the labels of both sides; without a reference where they are of the pair."""
    has_sides = isinstance(values, tuple) and any(np.ndim(side) == 1 for side in values)
    sides = values if has_sides else (values, None)
    require(len(sides) == 2, f"{name} must be (labels of probes, labels of references)")
    labels = coded_sides(sides, (name, name), n, complete=False)
    return labels if has_sides else labels._replace(reference=labels.probe)
