"""No call changes what another call returned or will return, or what it was given."""

import copy

import numpy as np
import pytest
import xarray as xr

import frkit as fk
from frkit.intervals import provenance

pytestmark = pytest.mark.filterwarnings("ignore")  # cautions of small data

SHARP = fk.vmf.mixture(24, 8, kappa=(8, 30), seed=0, groups={"a": {}, "b": {}})
BLURRED = SHARP.correlated(concentration_factor=0.7)
ENCODERS = fk.vmf.sample_encoders({"A": SHARP, "B": BLURRED}, per_identity=5)
SCORES = fk.score_tensor(ENCODERS)
IMAGE_DRAWS = fk.Resampling("image", n=20, seed=3)


def evaluated():
    return fk.evaluate(
        SCORES, far=[0.02, 0.1, 0.3], by="group", resampling=IMAGE_DRAWS, histogram=20
    )


def draw(plot, *results):
    """The numbers that a figure shows."""
    ax = plot(*results)
    return np.concatenate([line.get_xydata().ravel() for line in np.ravel(ax)[0].lines])


METHODS = ("recentered", "naive", "gaussian", "pivotal")
READERS = {
    **{
        f"band of {measure}": lambda ev, measure=measure: fk.band(ev, measure)
        for measure in ("frr", "far_group", "frr_max_min", "fdr", "threshold", "eer", "far_cross")
    },
    **{
        f"{method} band": lambda ev, method=method: fk.band(ev, "frr", method=method)
        for method in METHODS
    },
    "band of images": lambda ev: fk.band(ev, "frr", target="these people"),
    "simultaneous band": lambda ev: fk.band(ev, "frr", simultaneous=True),
    "own measure": lambda ev: fk.band(ev, lambda rates: rates.frr + rates.far),
    "recentered band of groups": lambda ev: fk.band(ev, "frr_max_min", method="recentered"),
    "uncertainty": lambda ev: fk.uncertainty(ev, "frr"),
    "replicate curves": lambda ev: fk.replicate_curves(ev),
    "recentered curves": lambda ev: fk.replicate_curves(ev, recentered=True),
    "recentered curves of groups": lambda ev: fk.replicate_curves(
        ev, "frr_max_min", recentered=True
    ),
    "two models": lambda ev: fk.compare(ev, "frr"),
    "two models by replicates": lambda ev: fk.compare(ev, "frr", method="recentered"),
    "two groups": lambda ev: fk.compare(ev, "frr_group", groups="all"),
    "floor": lambda ev: fk.fair_floor(ev, "frr_max_min"),
    "provenance": provenance,
    "rates as a table": lambda ev: fk.table(fk.band(ev, "frr")),
    "figure of curves": lambda ev: draw(fk.plot.roc, fk.band(ev, "frr")),
    "figure of groups": lambda ev: draw(fk.plot.fairness, fk.band(ev, "frr_max_min")),
}
ASKERS = {
    "evaluation": lambda scores: fk.evaluate(scores, far=[0.1], by="group"),
    "evaluation of draws": lambda scores: fk.evaluate(scores, far=[0.1], resampling=IMAGE_DRAWS),
    "evaluation of thresholds": lambda scores: fk.evaluate(scores, threshold=[0.4, 0.6]),
    "sweep": lambda scores: fk.sweep(scores),
    "errors by person": lambda scores: fk.errors_by_person(scores, far=0.1),
    "nearest people": lambda scores: fk.nearest_people(scores.sel(model="A")),
    "worst pairs": lambda scores: fk.worst_pairs(
        scores.sel(model="A"),
        fk.errors_by_person(scores.sel(model="A"), far=0.1).isel(far_level=0),
    ),
    "plan": lambda scores: fk.studies.sample_size(
        scores.sel(model="A"), "relative_half_width", 0.2, far=0.1
    ),
    "indices": lambda scores: fk.fairness_indices(
        scores, by="group", resampling=fk.Resampling("identity", n=5)
    ),
    "n_sigma": lambda scores: fk.n_sigma(scores, by="group", subsets=5, fpr=0.1),
    "verification": lambda scores: fk.verification_metrics(scores),
}


def same(first, second):
    """Whether two results are equal to the bit."""
    if isinstance(first, xr.DataTree):
        first, second = ({n.path: n.to_dataset() for n in r.subtree} for r in (first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if hasattr(first, "identical"):
        return first.identical(second)
    if hasattr(first, "equals"):
        return first.equals(second)
    return np.array_equal(first, second, equal_nan=np.asarray(first).dtype.kind == "f")


def results_in_random_order(calls, argument, seed):
    """Each call twice, in random order, on one argument: its name, its result and a copy of it."""
    order = np.random.default_rng(seed).permutation([*calls, *calls])
    for name in order:
        result = calls[name](argument)
        yield name, result, copy.deepcopy(result)


@pytest.mark.slow
def test_no_reader_of_an_evaluation_changes_a_result():
    evaluation = evaluated()
    before = evaluation.copy(deep=True)
    alone = {name: call(before.copy(deep=True)) for name, call in READERS.items()}
    results = [*results_in_random_order(READERS, evaluation, seed=0)]
    for name, result, as_returned in results:
        assert same(as_returned, alone[name]), name
        assert same(result, as_returned), name
    assert same(evaluation, before)


@pytest.mark.slow
@pytest.mark.parametrize("scores", [SCORES, fk.sweep(SCORES)], ids=["tensor", "kept pairs"])
def test_no_question_about_scores_changes_a_result(scores):
    before = copy.deepcopy(scores)
    calls = dict(ASKERS)
    if isinstance(scores, xr.DataTree):
        calls.pop("nearest people")
    alone = {name: call(copy.deepcopy(scores)) for name, call in calls.items()}
    results = [*results_in_random_order(calls, scores, seed=0)]
    for name, result, as_returned in results:
        assert same(as_returned, alone[name]), name
        assert same(result, as_returned), name
    assert same(scores, before)


def test_a_call_that_changes_its_result_in_place_is_noticed():
    evaluation = evaluated()
    shared = fk.replicate_curves(evaluation)

    def changing(_):
        shared["replicates"] = shared.replicates + 1
        return shared

    calls = {"curves": lambda _: shared, "changing": changing}
    results = results_in_random_order(calls, evaluation, seed=0)
    assert not all(same(result, as_returned) for _, result, as_returned in [*results])
