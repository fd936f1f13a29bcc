"""The engine against the slow twin where the plan matters: a floor, many bins, few pairs kept."""

import numpy as np
import pytest
from engine_cases import check_evaluation, looked_up, people

import frkit as fk
from frkit.engine import pilot, rates

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
FAR = (2e-4, 1e-3, 1e-2, 0.1)
UNEQUAL = [2 + (index * 7) % 9 for index in range(40)]


@pytest.fixture(autouse=True)
def small_plan(monkeypatch):
    """Look at few pairs and keep few, so that data of a hundred images go the way of data of ten thousand."""
    monkeypatch.setattr(pilot, "PILOT_PAIRS", 256)
    monkeypatch.setattr(pilot, "TAIL_PAIRS", 20)
    monkeypatch.setattr(pilot, "TOP_PAIRS", 5)


def evaluate_and_check(scores, far=FAR, **options):
    """Compare point, centre and replicates with the twin."""
    check_evaluation(fk.evaluate(scores, far=far, **options), scores, far=far, **options)


@pytest.mark.parametrize("scheme", ["image", "identity", "two-level"])
@pytest.mark.parametrize(("sizes", "weighting"), [([6] * 40, "identity"), (UNEQUAL, "identity"), (UNEQUAL, "pair")])
def test_schemes_and_weightings(sizes, weighting, scheme):
    scores = fk.score_tensor(people(sizes, dim=20, groups=("f", "m", "x", "unknown", "m")), chunks=64)
    resampling = fk.Resampling(scheme, n=2, seed=1)
    evaluate_and_check(scores, by="gender", resampling=resampling, weighting=weighting)


@pytest.mark.parametrize("impostors", ["all", "same-group"])
def test_ties(impostors):
    scores = fk.score_tensor(people(UNEQUAL, ties=True), chunks=100)
    evaluate_and_check(scores, by="gender", resampling=fk.Resampling("image", n=2), impostors=impostors)


def test_fixed_thresholds():
    scores = fk.score_tensor(people(UNEQUAL, dim=20), chunks=50)
    options = dict(threshold=[-0.9, 0.2, 0.21, 0.5, 0.99], by="gender", resampling=fk.Resampling("image", n=2))
    check_evaluation(fk.evaluate(scores, **options), scores, **options)


def misleading(which, shift, seed=9):
    """Sixteen people of eight images; scores between special images of different people are shifted."""
    identity = np.repeat([f"id{index:02d}" for index in range(16)], 8)
    special = np.isin(np.arange(128) % 8, which)
    rng = np.random.default_rng(seed)
    score = rng.normal(size=(128, 128)) + 3 * (identity[:, None] == identity)
    score = np.maximum(score, score.T) + shift * (special[:, None] & special)
    np.fill_diagonal(score, 99)
    gender = np.where(identity < "id05", "f", "m")
    return looked_up(score.astype(np.float32), fk.faces(np.ones((128, 2)), identity, gender=gender), chunks=16)


@pytest.mark.parametrize("shift", [-30.0, 30.0])
@pytest.mark.parametrize("which", [[0], [7], [3, 4], [0, 1, 2, 3], range(1, 8)], ids=str)
def test_a_level_that_the_kept_pairs_do_not_cover_is_swept_again(which, shift):
    options = dict(far=[1e-3, 1e-2, 0.1], by="gender", resampling=fk.Resampling("image", n=2))
    evaluate_and_check(misleading(list(which), shift), **options)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("outlier", [0.0, 1e9])
def test_the_scale_of_the_scores_does_not_matter(scale, outlier):
    identity = np.repeat([f"id{index:02d}" for index in range(30)], 4)
    score = np.random.default_rng(3).normal(size=(120, 120))
    score = (scale * np.maximum(score, score.T)).astype(np.float32)
    score[0, 7] = score[7, 0] = outlier
    scores = looked_up(score, fk.faces(np.ones((120, 2)), identity, gender=identity), chunks=50)
    evaluate_and_check(scores, resampling=fk.Resampling("image", n=2))


@pytest.mark.parametrize("scheme", ["identity", "image"])
def test_replicates_far_from_the_data(scheme):
    """One person makes nearly all false accepts, so replicates need scores far from the point's."""
    identity = np.repeat([f"id{index:02d}" for index in range(30)], 3)
    score = np.random.default_rng(12).normal(size=(90, 90))
    wolf = (identity == "id00")[:, None] | (identity == "id00")
    score = np.maximum(score, score.T) + 20 * wolf + 40 * (identity[:, None] == identity)
    scores = looked_up(score.astype(np.float32), fk.faces(np.ones((90, 2)), identity, gender=identity))
    evaluate_and_check(scores, far=[1e-2, 0.05, 0.1], resampling=fk.Resampling(scheme, n=8, seed=1))


def floor_too_high(*_, **__):
    """A plan that takes nothing below a score that hardly any pair reaches."""
    return pilot.Ladder(0.9, 0.9, 100.0, np.zeros(11, np.int16), np.ones(1, bool))


def nothing_kept(*_, **__):
    """A plan with twenty bins over all scores, of which no pair is kept."""
    bins = (np.arange(201) // 10).astype(np.int16)
    return pilot.Ladder(-1.0, -np.inf, 100.0, bins, np.zeros(21, bool))


@pytest.mark.parametrize(("make_plan", "sweeps"), [(floor_too_high, 3), (nothing_kept, 2)])
def test_a_plan_that_fails_costs_sweeps_and_no_exactness(make_plan, sweeps, monkeypatch):
    def counted(*arguments, **options):
        calls.append(arguments)
        return sweep(*arguments, **options)

    calls, sweep = [], rates.sweep
    monkeypatch.setattr(rates, "sweep", counted)
    monkeypatch.setattr(pilot, "make_plan", make_plan)
    scores = fk.score_tensor(people(UNEQUAL, dim=20), chunks=64)
    evaluate_and_check(scores, by="gender", resampling=fk.Resampling("image", n=2))
    assert len(calls) == sweeps
