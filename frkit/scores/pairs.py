"""Scored pair lists: which images were compared, who they show, and the scores of one or several models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    GENUINE,
    IDENTITY,
    MODEL,
    PAIR,
    PROBE,
    REFERENCE,
    UNKNOWN,
    InputError,
    listed,
    real_numbers,
    require,
    require_flag,
    require_one_of,
    warn,
)
from frkit.data.labels import check_names, clean_labels, complete_labels, model_names, one_each

FAILED = ("left out", "rejected")  # what a failed comparison may count as
BETWEEN = " x "  # in a label that names both sides, such as "Asian x White"


def pairs(
    score: ArrayLike | Mapping[str, ArrayLike],
    genuine: ArrayLike | None = None,
    *,
    probe: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    probe_identity: ArrayLike | None = None,
    reference_identity: ArrayLike | None = None,
    model: Sequence[str] | None = None,
    distance: bool = False,
    missing: ArrayLike | None = None,
    failed: str = "left out",
    trial: Mapping | None = None,
    **attributes: ArrayLike | tuple,
) -> xr.Dataset:
    """Collect scored pairs, with what is known of their two sides, in one checked Dataset.

    Parameters
    ----------
    score : array-like, shape (n_pairs,) or (n_models, n_pairs), or mapping of model name to (n_pairs,)
        Any finite numbers, larger = more alike unless `distance`. NaN is a comparison that failed.
    genuine : array-like of bool (or 0 and 1), shape (n_pairs,), optional
        Whether both sides are the same person. May be left out where both identities are given.
    probe, reference : array-like of str, shape (n_pairs,), optional
        Image names; a name stands for the same image wherever it occurs. Without them images cannot be drawn.
    probe_identity, reference_identity : array-like of str, shape (n_pairs,), optional
        Who the images show. Without them only the pair bootstrap is possible, which is too narrow.
    model : sequence of str, shape (n_models,), optional
        Names of the models where `score` has two dimensions.
    distance : bool
        True where smaller means more alike: the sign is changed.
    missing : float or sequence of float, optional
        The value(s), before a change of sign, that mark a comparison which failed.
    failed : {"left out", "rejected"}
        What a failed comparison counts as: it is left out of every rate, which a warning counts, or it is rejected at
        every threshold (its score becomes one just below all others).
    trial : mapping of name to labels, array-like of str, shape (n_pairs,), optional
        Attributes of the comparison and not of people, such as occlusion or an age gap in classes: each pair counts in
        the group of its own label.
    **attributes : array-like of str, shape (n_pairs,), or a tuple of two such
        One label per pair (both sides have it), or a tuple (labels of probes, labels of references). A label
        such as "Asian x White" names both sides. Missing labels become "unknown". Where one side of the tuple is None,
        a pair counts in the group of the other side's label.

    Returns
    -------
    xr.Dataset
        Variable `score` float64 over ([model,] pair), larger = more alike, NaN where the comparison failed;
        coordinates over pair: `genuine` (bool) and, where given, `probe`, `reference`, `probe_identity`,
        `reference_identity`, `probe_<attribute>`, `reference_<attribute>`, `<attribute of the trial>`. A pair belongs
        to a group where both sides have that label; otherwise it is a cross-group pair.

    Raises
    ------
    InputError
        Where lengths differ, scores are no finite numbers, names or identities are given for one side only or
        are missing, an image shows two people, or `genuine` contradicts the identities. Pairs are counted
        from 0.

    Warns
    -----
    DataWarning
        Where comparisons failed: how many genuine and how many impostor ones are left out.

    Examples
    --------
    >>> import frkit as fk
    >>> ds = fk.pairs([0.9, 0.2, 0.4], [True, False, False], race=["Asian", "Asian x White", None])
    >>> ds.probe_race.values.tolist(), ds.reference_race.values.tolist()
    (['Asian', 'Asian', 'unknown'], ['Asian', 'White', 'unknown'])
    """
    values, names = _scores(score, model, missing)
    n = values.shape[-1]
    images = _both_sides({PROBE: probe, REFERENCE: reference}, n)
    people = _both_sides(
        {f"{PROBE}_{IDENTITY}": probe_identity, f"{REFERENCE}_{IDENTITY}": reference_identity}, n
    )
    if images and people:
        _check_images(*(np.concatenate([*side.values()]) for side in (images, people)))
    labels = {
        GENUINE: _genuine(genuine, [*people.values()], n),
        **images,
        **people,
        **_attributes(attributes, n),
    }
    coords = {
        name: (PAIR, labels)
        for name, labels in (labels | _of_trials(trial or {}, labels, n)).items()
    }
    if names is not None:
        coords[MODEL] = names
    distance = require_flag("distance", distance)
    values = settle_failed(-values if distance else values, labels[GENUINE], failed)
    attrs = {"long_name": "similarity score", "similarity": "given", "distance": int(distance)}
    return xr.Dataset({"score": ((MODEL, PAIR)[-values.ndim :], values, attrs)}, coords=coords)


def _scores(score, model, missing) -> tuple[np.ndarray, np.ndarray | None]:
    """Scores in float64, NaN where missing, and the models' names."""
    if isinstance(score, Mapping):
        require(model is None, "score is a mapping from model names already: leave model= out")
        require(len(score) > 0, "score is an empty mapping: give at least one model's scores")
        model, score = list(score), [real_numbers("score", one) for one in score.values()]
        many = [np.size(one) for one in score]
        require(len(set(many)) == 1, f"lengths differ: models {listed(model)} have {many} scores")
    values = real_numbers("score", score)
    fits = values.ndim == (1 if model is None else 2)
    require(
        fits and values.shape[-1] > 0,
        f"score must have shape (pairs,), or (models, pairs) together with model= names, got shape {values.shape} "
        f"{'without' if model is None else 'with'} model names",
    )
    values = without_failed(values, marks_of(missing))
    endless = np.isinf(values)
    where = int(np.argmax(endless.any(tuple(range(values.ndim - 1)))))
    require(
        not endless.any(),
        f"score of pair {where} is infinite ({int(endless.sum())} such); mark it as missing",
    )
    require(not np.isnan(values).all(), "every score is missing: there is nothing to evaluate")
    return values, None if model is None else model_names(model, len(values))


def marks_of(missing) -> list[float]:
    """The values that mark a failed comparison."""
    return (
        [] if missing is None else np.atleast_1d(real_numbers("missing", missing)).ravel().tolist()
    )


def without_failed(scores: np.ndarray, marks: list[float], distance: bool = False) -> np.ndarray:
    """Scores in float64, larger = more alike, NaN where masked or marked; a mark is rounded as the scores were."""
    values = np.array(scores, float)
    values[np.ma.getmaskarray(scores)] = np.nan
    for mark in marks:
        values[np.ma.getdata(scores) == mark] = np.nan
    return -values if distance else values


def settle_failed(scores: np.ndarray, genuine: np.ndarray, failed: str) -> np.ndarray:
    """Scores, larger = more alike, whose failed comparisons (NaN) are counted in a warning, or rejected everywhere."""
    require_one_of("failed", failed, FAILED)
    gone = np.isnan(scores)
    if failed == "left out":
        warn_of_failed(*(int((gone & kind).sum()) for kind in (genuine, ~genuine)))
        return scores
    ends = (extreme.reduce(scores, -1, keepdims=True) for extreme in (np.fmin, np.fmax))
    return np.where(gone, below(*ends), scores)


def below(lowest: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """A score that is rejected wherever one of these is."""
    return lowest - np.maximum(highest - lowest, 1.0) / 100


def warn_of_failed(genuine: int, impostor: int) -> None:
    """Say how many comparisons are left out."""
    if genuine or impostor:
        words = "failed (NaN or marked as missing): they are left out of every rate; failed='rejected' rejects them"
        warn(f"{genuine} genuine and {impostor} impostor comparisons {words}")


def _both_sides(given: dict, n: int) -> dict[str, np.ndarray]:
    """Complete names of both sides; none where neither is given."""
    absent = [name for name, values in given.items() if values is None]
    if len(absent) == 2:
        return {}
    both = "= and ".join(given)
    require(not absent, f"give {both}= together: one side alone says nothing about who shares what")
    return {name: complete_labels(values, n, name, PAIR) for name, values in given.items()}


def _genuine(genuine, people, n: int) -> np.ndarray:
    """Which pairs are genuine, as told or as the identities say."""
    said = genuine is not None or len(people) == 2
    require(
        said,
        "say which pairs are genuine: give genuine=, or probe_identity= and reference_identity=",
    )
    same = people[0] == people[1] if people else None
    if genuine is None:
        return same
    require(
        not np.ma.is_masked(genuine),
        "genuine is masked in some pairs: say of each which it is, or leave it out",
    )
    told = one_each(genuine, n, GENUINE, PAIR)
    bad = np.flatnonzero(~np.isin(told, [0, 1])) if told.dtype.kind in "biufO" else np.arange(n)
    if len(bad):
        raise InputError(
            f"genuine must be True or False (1 or 0); pair {bad[0]} has {told[bad[:1]].tolist()[0]!r}"
        )
    told = told.astype(bool)
    if same is not None and not np.array_equal(told, same):
        at = int(np.argmax(told != same))
        raise InputError(
            f"genuine contradicts the identities in {int((told != same).sum())} pair(s): pair {at} is "
            f"{'genuine' if told[at] else 'impostor'}, but shows {people[0][at]!s} and {people[1][at]!s}"
        )
    return told


def _check_images(names: np.ndarray, identity: np.ndarray) -> None:
    """One image shows one person."""
    seen = pd.DataFrame({"image": names, "person": identity}).drop_duplicates()
    again = seen.image[seen.image.duplicated()]
    if len(again):
        shown = sorted(seen.person[seen.image == again.iloc[0]])
        raise InputError(
            f"image {again.iloc[0]!r} shows {listed(shown)}; give different images different names"
        )


def _attributes(attributes: dict, n: int) -> dict[str, np.ndarray]:
    """Clean labels of both sides, for every attribute."""
    check_names(attributes)
    out = {}
    for name, values in attributes.items():
        two = (
            isinstance(values, tuple)
            and len(values) == 2
            and any(np.ndim(side) == 1 for side in values)
        )
        given = values if two else (values,)
        clean = [None if side is None else clean_labels(side, n, name, PAIR) for side in given]
        both = zip(
            (f"{side}_{name}" for side in (PROBE, REFERENCE)), clean if two else _split(clean[0])
        )
        out |= {name: labels for name, labels in both if labels is not None}
    return out


def _of_trials(trial: Mapping, taken: dict, n: int) -> dict[str, np.ndarray]:
    """Clean labels of the attributes of trials, under their bare names."""
    require(
        isinstance(trial, Mapping), f"trial must be a mapping of names to labels, got {trial!r}"
    )
    check_names(trial)
    names = {
        GENUINE,
        PAIR,
        *(name.removeprefix(f"{side}_") for side in (PROBE, REFERENCE) for name in taken),
    }
    again = [name for name in trial if name in names]
    require(not again, f"trial names {listed(again)}, which the pairs have already: rename it")
    return {name: clean_labels(labels, n, name, PAIR) for name, labels in trial.items()}


def _split(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A label such as "Asian x White" is Asian on one side and White on the other; any other is that of both sides."""
    words, code = np.unique(labels, return_inverse=True)
    parts = [
        word.split(BETWEEN) if word.count(BETWEEN) == 1 else [word, word] for word in words.tolist()
    ]
    sides = [
        np.array([part[side].strip() or UNKNOWN for part in parts], str)[code] for side in range(2)
    ]
    return sides[0], sides[1]
