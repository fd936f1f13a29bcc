"""Evaluations of the same kind: the same numbers as `evaluate`, with plan and draws kept."""

from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import pytest
from engine_cases import FAR, people
from test_engine_properties import assert_same

import frkit as fk
from frkit.engine import pilot
from frkit.evaluation import evaluate as evaluating
from frkit.evaluation.evaluate import prepared
from frkit.intervals import provenance

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
SIZES = {"equal": [6] * 40, "unequal": [2 + (index * 7) % 9 for index in range(40)]}


@pytest.fixture(autouse=True)
def small_plan(monkeypatch):
    """Look at few pairs and keep few, so that small data go the way of large ones."""
    monkeypatch.setattr(pilot, "PILOT_PAIRS", 256)
    monkeypatch.setattr(pilot, "TAIL_PAIRS", 20)
    monkeypatch.setattr(pilot, "TOP_PAIRS", 5)


def data_sets(sizes, n=3):
    """Scores of the same people, with new images in each data set."""
    mix = fk.vmf.mixture(40, 20, kappa=(5, 20), seed=0)
    return [fk.score_tensor(mix.sample(SIZES[sizes], seed=seed), chunks=64) for seed in range(n)]


@pytest.mark.parametrize("options", [{}, {"by": "group"}, {"histogram": 100}, {"threshold": [0.1, 0.4]}], ids=str)
@pytest.mark.parametrize(("sizes", "tolerance"), [("equal", 0.0), ("unequal", 1e-12)])
def test_prepared_on_one_data_set_it_gives_what_evaluate_gives_for_all(sizes, tolerance, options):
    some = [scores.assign_coords(_groups(scores)) for scores in data_sets(sizes)]
    options = (
        {"resampling": fk.Resampling("image", n=5, seed=3)} | ({} if "threshold" in options else {"far": FAR}) | options
    )
    kind = prepared(some[0], **options)
    for scores in some:
        assert_same(kind(scores), fk.evaluate(scores, **options), tolerance)


def _groups(scores):
    """A group for each identity, on both sides."""
    return {
        f"{side}_group": (side, np.where(scores[f"{side}_identity"].values < "id20", "f", "m"))
        for side in ("probe", "reference")
    }


def test_another_seed_draws_other_replicates():
    scores = data_sets("equal", 1)[0]
    kind = prepared(scores, far=FAR, resampling=fk.Resampling("two-level", n=5, seed=0))
    wanted = fk.evaluate(scores, far=FAR, resampling=fk.Resampling("two-level", n=5, seed=8))
    other = kind(scores, resampling=fk.Resampling("two-level", n=5, seed=8))
    assert_same(other, wanted)
    assert provenance(other) == provenance(wanted)
    assert not np.array_equal(kind(scores)["replicates"].far, wanted["replicates"].far)


def test_preparing_saves_the_pilot_and_the_draws(monkeypatch):
    some, calls = data_sets("equal"), []
    kind = prepared(some[0], far=FAR, resampling=fk.Resampling("image", n=5))
    for room, name in ((pilot, "take_pilot"), (evaluating, "make_protocol")):
        given = getattr(room, name)
        monkeypatch.setattr(room, name, lambda *a, name=name, given=given: calls.append(name) or given(*a))
    kind(some[1])
    assert calls == []
    other = some[2].assign_coords(probe_identity=some[2].probe_identity.str.upper())
    other = other.assign_coords(reference_identity=("reference", other.probe_identity.values))
    assert_same(kind(other), fk.evaluate(other, far=FAR, resampling=fk.Resampling("image", n=5)))
    assert calls == ["make_protocol", "make_protocol", "take_pilot"]


@pytest.mark.parametrize("shift", [-3.0, 3.0])
def test_scores_that_the_plan_does_not_fit_are_swept_again(shift):
    scores = data_sets("equal", 1)[0]
    kind = prepared(scores, far=FAR, resampling=fk.Resampling("image", n=5))
    shifted = (scores + np.float32(shift)).assign_attrs(scores.attrs | {"self_score": 1.0 + shift})
    assert_same(kind(shifted), fk.evaluate(shifted, far=FAR, resampling=fk.Resampling("image", n=5)))


def test_several_threads_may_call_it_at_once():
    some = data_sets("unequal", 4)
    kind = prepared(some[0], far=FAR, resampling=fk.Resampling("image", n=5))
    with dask.config.set(scheduler="sync"):
        alone = [kind(scores) for scores in some]
        with ThreadPoolExecutor(2) as pool:
            together = list(pool.map(kind, some))
    for one, other in zip(alone, together, strict=True):
        assert_same(one, other)


def test_stacked_models_and_pair_lists_go_the_same_way():
    faces = people("equal", dim=16)
    both = fk.score_tensor(fk.stack_models({"A": faces, "B": faces.assign(embedding=faces.embedding**3)}))
    options = dict(far=[0.1], resampling=fk.Resampling("identity", n=4))
    assert_same(prepared(both, **options)(both), fk.evaluate(both, **options))
    rng = np.random.default_rng(0)
    pairs = fk.pairs(rng.normal(size=200), np.arange(200) % 2 == 0)
    options = dict(far=[0.1], resampling=fk.Resampling("pair", n=4))
    assert_same(prepared(pairs, **options)(pairs), fk.evaluate(pairs, **options))
