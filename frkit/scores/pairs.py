"""Scored pair lists: which images were compared, who they show, and the scores of every model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import UNKNOWN, listed, real_numbers, require, require_exact, require_one_of, warn
from frkit.data.alignment import aligned
from frkit.data.evidence import show_two_people
from frkit.data.labels import check_names, clean_labels, complete_codes, model_names, one_each
from frkit.data.roles import SIDES, WHO, as_mapping
from frkit.scores.kept import kept_list, refuse_file_name
from frkit.scores.pair_columns import of_table

FAILED = ("left out", "rejected")  # what a failed comparison may count as
BETWEEN = " x "  # in a label that names both sides, such as "Asian x White"


def pairs(
    score: ArrayLike | Mapping[str, ArrayLike] | pd.DataFrame,
    genuine: ArrayLike | None = None,
    *,
    probe: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    probe_identity: ArrayLike | None = None,
    reference_identity: ArrayLike | None = None,
    model: Sequence[str] | None = None,
    distance: bool | Sequence[str] = False,
    missing: ArrayLike | None = None,
    failed: str = "left out",
    trial: Mapping | None = None,
    columns: Mapping | None = None,
    **attributes: ArrayLike | tuple,
) -> xr.DataTree:
    """Collect scored pairs, with what is known of their two sides, as kept pairs.

    pandas and xarray inputs are joined by their labels.

    Parameters
    ----------
    score : array-like, shape (n_pairs,) or (n_models, n_pairs), or mapping of model name to scores
        Any finite numbers, larger = more alike unless `distance`. NaN is a comparison that failed.
        Or a DataFrame with a row for each pair: what its columns are is guessed as in `open_data`,
        and `columns` says it, or the other arguments, which then name columns.
    genuine : array-like of bool (or 0 and 1), shape (n_pairs,), optional
        Whether both sides are the same person. May be left out where both identities are given.
    probe, reference : array-like of str, shape (n_pairs,), optional
        Image names; a name stands for the same image wherever it occurs. Without them images cannot
        be drawn.
    probe_identity, reference_identity : array-like of str, shape (n_pairs,), optional
        Who the images show. Without them only the pair bootstrap is possible, which is too narrow.
    model : sequence of str, shape (n_models,), optional
        Names of the models where `score` has two dimensions.
    distance : bool or sequence of str
        True where smaller means more alike: the sign is changed. Or the names of the models whose
        scores are distances.
    missing : float or sequence of float, optional
        The value(s), before a change of sign, that mark a comparison which failed.
    failed : {"left out", "rejected"}
        What a failed comparison counts as: it is left out of every rate, which a warning counts, or
        it is rejected at every threshold (its score becomes one just below all others).
    trial : mapping of name to labels, array-like of str, shape (n_pairs,), optional
        Attributes of the comparison and not of people, such as occlusion or an age gap in classes:
        each pair counts in the group of its own label.
    columns : mapping, optional
        Of a DataFrame: what its columns are, such as {"genuine": "mated?", "distance": "l2"}.
    **attributes : array-like of str, shape (n_pairs,), or a tuple of two such
        One label per pair (both sides have it), or a tuple (labels of probes, labels of
        references). A label such as "Asian x White" names both sides. Missing labels become
        "unknown". Where one side of the tuple is None, a pair counts in the group of the other
        side's label.

    Returns
    -------
    xr.DataTree
        Kept pairs, as `sweep` makes them of a tensor, in the order given. Variable `score` float64
        over ([model,] pair), larger = more alike, NaN where the comparison failed; coordinates over
        pair: `genuine` (bool) and, where given, `probe`, `reference`,
        `probe_identity`, `reference_identity`, `probe_<attribute>`, `reference_<attribute>`,
        `<attribute of the trial>`. A pair belongs to a group where both sides have that label;
        otherwise it is a cross-group pair.

    Raises
    ------
    InputError
        Where lengths differ, scores are no finite numbers, names or identities are given for one
        side only or are missing, an image shows two people, or `genuine` contradicts the
        identities. Pairs are counted from 0.

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
    require_one_of("failed", failed, FAILED)
    refuse_file_name(score)
    if isinstance(score, pd.DataFrame):
        sides = dict(zip((*SIDES, *WHO), (probe, reference, probe_identity, reference_identity)))
        sides |= {"genuine": genuine, "trial": trial}
        given = {role: names for role, names in sides.items() if names is not None}
        given |= as_mapping(columns) | attributes
        arguments, attrs = of_table(score.rename(columns=str), given, distance or None)
        out = pairs(**arguments, missing=missing, failed=failed)
        out.attrs.update(attrs)
        return out
    require(columns is None, "columns= says what the columns of a DataFrame are")
    inputs = {"score": score, "genuine": genuine, "probe": probe, "reference": reference}
    inputs |= dict(zip(WHO, (probe_identity, reference_identity)))
    inputs, trial, attributes = _in_one_order(inputs, trial or {}, attributes)
    values, models, is_distance = _scores(inputs["score"], model, missing, distance)
    labels = _labels(inputs, trial, attributes, values.shape[-1])
    coords = {name: ("pair", values) for name, values in labels.items()}
    if models is not None:
        coords["model"] = models
    values = _settle_failed(values, labels["genuine"], failed)
    attrs = {"long_name": "similarity score", "similarity": "given", "distance": int(is_distance)}
    score = ("model", "pair")[-values.ndim :], values, attrs
    return kept_list(xr.Dataset({"score": score}, coords=coords))


def _in_one_order(inputs, trial, attributes):
    """Bring all inputs that have labels of their own into one order."""
    scores = inputs.pop("score")
    by_model = scores if isinstance(scores, Mapping) else {"score": scores}
    named = {("score", name): values for name, values in by_model.items()}
    named |= {("input", name): values for name, values in inputs.items()}
    named |= {("trial", name): values for name, values in trial.items()}
    named |= {("attribute", name): values for name, values in attributes.items()}
    ordered = aligned(named, "pair")
    groups = {}
    for (group, name), values in ordered.items():
        groups.setdefault(group, {})[name] = values
    scores = groups["score"] if isinstance(scores, Mapping) else groups["score"]["score"]
    return (
        {"score": scores, **groups["input"]},
        groups.get("trial", {}),
        groups.get("attribute", {}),
    )


def _labels(inputs, trial, attributes, n):
    """Clean labels of all pairs: whether they are genuine, names, people and attributes."""
    images = _both_sides(inputs, SIDES, n)
    people = _both_sides(inputs, WHO, n)
    if images and people:
        _check_images(images, people)
    labels = {"genuine": _genuine(inputs["genuine"], people, n)}
    for codes_of_sides in (images, people):
        for name, (codes, words) in codes_of_sides.items():
            labels[name] = words[codes]
    labels |= attribute_labels(attributes, n)
    return labels | _attributes_of_trials(trial, labels, n)


def _scores(score, model, missing, distance):
    """Scores in float64, larger = more alike, NaN where missing; models; whether all are turned."""
    if isinstance(score, Mapping):
        require(model is None, "score is a mapping from model names already: leave model= out")
        model = list(score)
        score = [real_numbers("score", values) for values in score.values()]
    if isinstance(score, xr.DataArray) and "pair" in score.dims:
        score = score.transpose(..., "pair")
    values = failed_as_nan(real_numbers("score", score), missing, False)
    require(
        values.ndim == (1 if model is None else 2) and values.size > 0,
        "score must have shape (pairs,), or (models, pairs) together with model= names, got shape "
        f"{values.shape}",
    )
    require(not np.isinf(values).any(), "some scores are infinite; mark them, missing=np.inf, say")
    require(not np.isnan(values).all(), "every score is missing: there is nothing to evaluate")
    models = None if model is None else model_names(model, len(values))
    is_turned = _turned(distance, models)
    values = np.where(is_turned[..., None], -values, values)
    if is_turned.any() and not is_turned.all():
        words = f"scores of {listed(models[is_turned])} are distances: they and their thresholds"
        warn(f"{words} are shown with the sign changed, so that larger means more alike")
    return values, models, bool(is_turned.all())


def _turned(distance, models):
    """Which models' scores are distances."""
    if isinstance(distance, (bool, np.bool_)):
        return np.full(() if models is None else len(models), bool(distance))
    is_list = isinstance(distance, (list, tuple)) and models is not None
    absent = [name for name in distance if name not in models] if is_list else [distance]
    words = f"distance must be True, False or names of models, got {distance!r}"
    require(not absent, words)
    return np.isin(models, distance)


def failed_as_nan(scores: np.ndarray, missing, distance: bool) -> np.ndarray:
    """Scores in float64, larger = more alike, NaN where marked as missing."""
    require_exact("score", scores)
    values = scores.astype(float)
    marks = [] if missing is None else real_numbers("missing", missing).ravel().tolist()
    for mark in marks:
        values[scores == mark] = np.nan  # a mark is rounded as the scores were
    return -values if distance else values


def _both_sides(inputs, names, n):
    """Names of both sides, as places among all names, and these; nothing where none are given."""
    absent = [inputs[name] is None for name in names]
    if all(absent):
        return {}
    require(
        not any(absent),
        f"give {'= and '.join(names)}= together: one side alone says nothing about who shares what",
    )
    categories = [getattr(inputs[name], "categories", None) for name in names]
    if categories[0] is not None and categories[0] is categories[1]:
        both = pd.Categorical.from_codes(
            np.concatenate([inputs[name].codes for name in names]), categories[0]
        )
        codes, words = complete_codes(both, 2 * n, " and ".join(names), "pair")
        return {name: (code, words) for name, code in zip(names, np.split(codes, 2))}
    coded = [complete_codes(inputs[name], n, name, "pair") for name in names]
    words = np.unique(np.concatenate([labels for _, labels in coded]))
    codes = [np.searchsorted(words, labels)[codes] for codes, labels in coded]
    return {name: (code, words) for name, code in zip(names, codes)}


def _check_images(images, people):
    """Refuse an image that shows two people."""
    image, person = (
        np.concatenate([codes for codes, _ in sides.values()]) for sides in (images, people)
    )
    wrong = image[show_two_people(image, person)][:1]
    [*_, (_, names)], [*_, (_, who)] = images.values(), people.values()
    shown = np.unique(who[person[np.isin(image, wrong)]])
    words = f"image {listed(names[wrong])} shows {listed(shown)}"
    require(len(wrong) == 0, f"{words}; give different images different names")


def _genuine(genuine, people, n):
    """Which pairs are genuine: what was given, or what the identities say."""
    codes = [codes for codes, _ in people.values()]
    require(
        genuine is not None or len(codes) == 2,
        "say which pairs are genuine: give genuine=, or probe_identity= and reference_identity=",
    )
    if genuine is None:
        return codes[0] == codes[1]
    flags = one_each(real_numbers("genuine", genuine), n, "genuine", "pair")
    absent = np.flatnonzero(np.isnan(flags))
    words = f"genuine is missing in pair(s) {listed(absent)} (counted from 0)"
    require(len(absent) == 0, f"{words}; say True or False there, or leave these pairs out")
    odd = np.flatnonzero(~np.isin(flags, [0, 1]))
    words = f"genuine must be True or False (1 or 0), but is {listed(flags[odd])} in pairs"
    require(len(odd) == 0, f"{words} {listed(odd)} (counted from 0)")
    flags = flags.astype(bool)
    if people:
        wrong = np.flatnonzero(flags != (codes[0] == codes[1]))
        words = f"genuine contradicts the identities in {len(wrong)} pair(s): {listed(wrong)}"
        require(len(wrong) == 0, f"{words} (counted from 0)")
    return flags


def attribute_labels(attributes: dict, n: int) -> dict[str, np.ndarray]:
    """Clean labels of both sides, or of one, for every attribute."""
    check_names(attributes)
    labels = {}
    for name, values in attributes.items():
        if isinstance(values, tuple) and any(np.ndim(side) == 1 for side in values):
            require(len(values) == 2, f"{name} must be (labels of probes, labels of references)")
            sides = [v if v is None else clean_labels(v, n, name, "pair") for v in values]
        else:
            sides = _split(clean_labels(values, n, name, "pair"))
        for side, clean in zip(("probe", "reference"), sides):
            if clean is not None:
                labels[f"{side}_{name}"] = clean
    return labels


def _split(labels):
    """Both sides of labels: "Asian x White" is Asian on one and White on the other."""
    words, code = np.unique(labels, return_inverse=True)
    sides = []
    for word in words.tolist():
        both = [label.strip() or UNKNOWN for label in word.split(BETWEEN)]
        sides.append(both if len(both) == 2 else [word, word])
    return np.array(sides, str).T[:, code]


def _attributes_of_trials(trial, labels, n):
    """Clean labels of the attributes of trials, under their bare names."""
    check_names(trial)
    taken = {"pair", *labels}
    again = [name for name in trial if {name, f"probe_{name}", f"reference_{name}"} & taken]
    require(not again, f"trial names {listed(again)}, which the pairs have already: rename it")
    return {name: clean_labels(values, n, name, "pair") for name, values in trial.items()}


def _settle_failed(scores, genuine, failed):
    """Scores whose failed comparisons (NaN) are counted in a warning, or rejected everywhere."""
    is_nan = np.isnan(scores)
    if failed == "left out":
        warn_of_failed(int((is_nan & genuine).sum()), int((is_nan & ~genuine).sum()))
        return scores
    lowest = np.nanmin(scores, -1, keepdims=True)
    highest = np.nanmax(scores, -1, keepdims=True)
    return np.where(is_nan, below(lowest, highest), scores)


def below(lowest: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """A score that is rejected wherever one of these is."""
    return lowest - np.maximum(highest - lowest, 1.0) / 100


def warn_of_failed(n_genuine: int, n_impostor: int) -> None:
    """Say how many comparisons are left out."""
    if n_genuine or n_impostor:
        warn(
            f"{n_genuine} genuine and {n_impostor} impostor comparisons failed (NaN or marked as "
            "missing): they are left out of every rate; failed='rejected' rejects them"
        )
