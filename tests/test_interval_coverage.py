"""Coverage of the default intervals: the stored study, and a small one of its own."""

from pathlib import Path

import pandas as pd
import pytest

import frkit as fk

TABLE = Path(__file__).resolve().parents[1] / "data/interval_coverage.csv"
TARGETS = ("these people", "new people")


@pytest.fixture(scope="module")
def study():
    return pd.read_csv(TABLE, comment="#")


def pooled(rows):
    """Coverage of several places together, each data set counting once."""
    return (rows.coverage * rows.data_sets).sum() / rows.data_sets.sum()


def test_the_table_says_how_it_was_made(study):
    command, versions, _ = TABLE.read_text(encoding="utf-8").split("\n", 2)
    assert "make_interval_coverage.py" in command
    assert "numpy" in versions and "seed" in versions
    assert set(study.target) == set(TARGETS)
    assert (study.data_sets >= 25).all()


@pytest.mark.parametrize("target", TARGETS)
def test_default_intervals_of_frr_hold_and_recentered_ones_do_not(target, study):
    rows = study[(study.measure == "frr") & (study.target == target)].set_index("method")
    default, recentered = rows.loc["influence"], rows.loc["recentered"]
    many = default.accepts >= 10
    assert pooled(default[many & (default.rejects >= 10)]) > 0.93
    assert pooled(default[many & (default.rejects < 10)]) > 0.93
    assert pooled(default[~many]) > 0.93  # the threshold is one of the largest impostor scores
    assert default.coverage.min() > 0.85
    assert pooled(recentered[recentered.rejects < 3]) < 0.6


@pytest.mark.parametrize("target", TARGETS)
def test_rates_at_a_found_threshold_and_equal_errors_hold(target, study):
    rows = study[study.target == target]
    assert pooled(rows[rows.measure == "far"]) > 0.93
    assert pooled(rows[rows.measure == "eer"]) > 0.93


def test_inverted_intervals_hold_at_equality(study):
    fair = study[study.population.fillna("").str.startswith("fair") & (study.method == "inverted")]
    assert pooled(fair) > 0.93
    assert fair.called.max() < 0.1  # the size of the floor, too
    assert (fair.called * fair.data_sets).sum() / fair.data_sets.sum() < 0.08
    contrasts = study[study.population.fillna("").str.startswith("fair") & (study.method == "contrast")]
    assert contrasts.called.max() < 0.1  # ten people of a group among them
    assert (contrasts.called * contrasts.data_sets).sum() / contrasts.data_sets.sum() < 0.05


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("target", TARGETS)
def test_the_default_holds_in_a_small_study(target):
    """20 data sets at two levels: more than 7 of 40 misses have probability .001 if levels miss one by one."""
    far, law = [3e-3, 3e-2], fk.vmf.IdentityLaw(32, kappa=(30, 120))
    same = law.draw(40, seed=77)
    truth = (same if target == "these people" else law).population_roc(far).frr.values
    missed = 0
    for seed in range(20):
        people = same if target == "these people" else law.draw(40, seed=7700 + seed)
        band = fk.band(fk.evaluate(fk.score_tensor(people.sample(5, seed=seed)), far=far), "frr", target=target)
        assert band.attrs["method"] == "influence"
        assert (band.lower < band.upper).all()
        missed += int(((band.lower.values > truth) | (band.upper.values < truth)).sum())
    assert missed <= 7
