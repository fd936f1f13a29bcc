"""Coverage of the intervals of the fairness indices, and the size of their floor: stored, and a small study."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import frkit as fk

TABLE = Path(__file__).resolve().parents[1] / "data/indices_coverage.csv"
NINE = [f"{index}_{variant}" for index in ("sfi", "cfi", "dfi") for variant in ("normal", "extremal", "weighted")]
pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def study():
    return pd.read_csv(TABLE, comment="#").set_index(["method", "setting", "index"]).sort_index()


def test_the_table_says_how_it_was_made_and_is_whole(study):
    command, versions, _ = TABLE.read_text(encoding="utf-8").split("\n", 2)
    assert "indices_coverage.py --datasets" in command and "numpy" in versions
    settings = set(study.index.get_level_values("setting"))
    assert {"image unfair", "pair unfair", "pair fair"} <= settings
    assert len(study) == 3 * len(settings) * 9  # methods, settings, indices
    assert study.datasets.min() >= 40
    assert study.truth.notna().all()


def test_pivotal_intervals_hold_the_truth(study):
    assert study.loc["pivotal"].share.min() > 0.8
    assert study.loc["pivotal"].share.mean() > 0.93


def test_recentered_intervals_fail_at_equality(study):
    """SFI, CFI and DFI of equal groups are 1, and an interval around an estimate below 1 does not reach it."""
    assert study.loc["recentered", "pair fair"].share.max() < 0.2


def test_the_size_of_the_floor(study):
    """Scores that could change groups: the floor is an exact test. Unfair systems are found."""
    floor = study.loc["floor"]
    assert floor.loc["pair fair"].share.max() <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / floor.datasets.min())
    assert floor.loc["image unfair"].loc[["sfi_normal", "dfi_normal"]].share.min() > 0.9


def test_a_small_study_of_a_mixture_with_exact_moments():
    """At coverage .95 fewer than 8 of 12 has probability 1e-4; above all, DFI's own bias must not spoil it."""
    groups = {"a": {}, "b": {"kappa": (6, 10)}, "c": {"cohesion": 8}}
    mix = fk.vmf.mixture(18, 8, kappa=(10, 25), groups=groups, seed=0)
    truth = mix.population_distributions(6, by="group", bins=20)
    hits = dict.fromkeys(NINE, 0)
    for seed in range(12):
        drawn = fk.Resampling("image", n=60, seed=seed)
        scores = fk.score_tensor(mix.sample(6, seed=100 + seed))
        ev = fk.indices.evaluate(scores, by="group", bins=20, resampling=drawn, deals=0)
        for name in NINE:
            band, exact = fk.band(ev, name), float(fk.measures.measure(name)(truth))
            hits[name] += bool(band.lower <= exact <= band.upper)
    assert min(hits.values()) >= 8, hits
