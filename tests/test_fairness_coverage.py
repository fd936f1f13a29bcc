"""Coverage of disparity intervals and the size of the floor: the stored study, and a small one of its own."""

from pathlib import Path

import pandas as pd
import pytest

import frkit as fk

TABLE = Path(__file__).resolve().parents[1] / "data/fairness_coverage.csv"
GEOMEAN = ["frr_max_geomean", "far_max_geomean"]


@pytest.fixture(scope="module")
def study():
    table = pd.read_csv(TABLE, comment="#")
    return table[table.measure.isin(GEOMEAN)].set_index(["method", "population", "scheme"]).sort_index()


def test_the_table_says_how_it_was_made_and_is_whole(study):
    command, versions, _ = TABLE.read_text(encoding="utf-8").split("\n", 2)
    assert "fairness" in command and "--datasets 200" in command
    assert (TABLE.parent / command.split()[2].removeprefix("data/")).is_file()
    assert "numpy" in versions
    assert (study.datasets == 200).all()
    assert len(study) == 2 * 2 * 2 * 3 * 5  # schemes, populations, measures, levels, methods


def test_inverted_intervals_hold_whether_fair_or_not_and_the_others_do_not(study):
    assert study.loc["inverted"].share.min() >= 0.94
    assert study.loc["recentered", "fair"].share.max() < 0.5
    assert study.loc["recentered", "unfair"].share.min() > 0.9
    assert study.loc["pivotal", "fair"].share.min() > 0.9
    assert 0.8 < study.loc["pivotal", "unfair"].share.min() < 0.9


def test_the_size_of_the_floor(study):
    size = study.loc["floor", "fair"]
    assert size.loc["image"].share.max() <= 0.09  # FAR of these people: more than the nominal .05
    assert size.loc["identity"].share.max() <= 0.14
    assert study.loc["floor", "unfair"].share.min() > 0.4


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_fair_model_is_seldom_called_unfair():
    """At size .05 more than three of twelve has probability .002."""
    fair = fk.vmf.mixture(12, 16, kappa=(15, 40), seed=0).rotated_copies()
    rejected, covered = 0, 0
    for seed in range(12):
        scores = fk.score_tensor(fair.sample(8, seed=seed))
        ev = fk.evaluate(scores, far=[0.02], by="group", resampling=fk.Resampling("image", n=60, seed=seed))
        band = fk.band(ev, "frr_max_min")
        covered += bool((band.lower <= 1) & (band.upper >= 1))
        rejected += bool(fk.floor(ev, "frr_max_min").p <= 0.05)
    assert rejected <= 3
    assert covered >= 9
