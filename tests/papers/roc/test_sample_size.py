"""Plans: how many people until an interval is narrow enough, or a difference is seen."""

import make_sample_size
import numpy as np
import pytest
import xarray as xr
from paths import ROOT
from refusals import refused
from scipy import stats

import frkit as fk
from frkit import vmf

FAR = 0.05
LAW = vmf.IdentityLaw(16, kappa=(10, 60))
pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


def plan_of(data, goal, size=None, far=FAR, **options):
    return fk.studies.sample_size(data, goal, size, far=far, **options)


@pytest.fixture(scope="module")
def pilot():
    return LAW.draw(100, 1).sample(6, seed=2)


@pytest.fixture(scope="module")
def plan(pilot):
    return plan_of(pilot, "relative_half_width", 0.15)


def test_the_data_themselves_have_the_interval_of_band(pilot):
    band = fk.band(fk.evaluate(fk.score_tensor(pilot), far=[FAR]), "frr").squeeze()
    plan = plan_of(pilot, "relative_half_width", 0.2)
    half_width = float(band.upper - band.lower) / 2
    assert float(plan.value_now) == pytest.approx(half_width / float(band.estimate))
    assert float(plan.n_effective_now) == pytest.approx(float(band.n_effective))
    assert int(plan.n_identities_now) == 100


@pytest.mark.slow
def test_the_goal_is_reached_or_cannot_be_decided(pilot, plan):
    assert float(plan.predicted) == pytest.approx(0.15, rel=1e-6)
    assert "these data are enough" not in plan.answer.item()
    assert "these data are enough" in plan_of(pilot, "relative_half_width", 0.5).answer.item()
    far_off = plan_of(pilot, "relative_half_width", 0.002)
    assert np.isnan(far_off.n_identities) and np.isnan(far_off.predicted)
    assert "more than 100 times as many people" in far_off.answer.item()


@pytest.mark.slow
def test_new_people_have_the_half_width_that_was_planned(pilot):
    """Three new data sets with as many people; the pilot's own error is that of 100 people."""
    plan = plan_of(pilot, "relative_half_width", 0.2)
    frr = LAW.population_roc(FAR).frr.values[0]
    halves = []
    for seed in range(100, 103):
        faces = LAW.draw(int(plan.n_identities), seed).sample(6, seed)
        band = fk.band(fk.evaluate(fk.score_tensor(faces), far=[FAR]), "frr")
        halves.append(float((band.upper - band.lower)[0]) / 2 / frr)
    assert np.mean(halves) == pytest.approx(0.2, rel=0.2)


@pytest.mark.slow
def test_the_effect_is_that_of_the_data():
    first = LAW.draw(100, 1)
    second = first.correlated(centroid_correlation=0.9, concentration_factor=0.9, seed=2)
    pair = vmf.sample_encoders({"A": first, "B": second}, 6, seed=3, correlation=0.8)
    rates = fk.evaluate(fk.score_tensor(pair), far=[FAR])["empirical"].frr.values.ravel()
    plan = plan_of(pair, "difference")
    assert float(plan.effect) == pytest.approx(rates[1] - rates[0])
    assert "the one that these data show" in plan.answer.item()


@pytest.mark.slow
def test_the_power_of_a_difference_by_hand():
    """The paired t-test of K people has K - 1 degrees of freedom, and their standard error."""
    first = LAW.draw(100, 1)
    second = first.correlated(centroid_correlation=0.9, concentration_factor=0.9, seed=2)
    pair = vmf.sample_encoders({"A": first, "B": second}, 6, seed=3, correlation=0.8)
    plan = plan_of(pair, "difference", 0.05)
    difference = fk.compare(fk.evaluate(fk.score_tensor(pair), far=[FAR]), "frr")
    people = plan.curve_identities.values
    shift = 0.05 / (difference.se.item() * np.sqrt(100 / people))
    expected = stats.nct.sf(stats.t.ppf(0.975, people - 1), people - 1, shift)
    np.testing.assert_allclose(plan.curve_value, expected, rtol=1e-6)


@pytest.mark.parametrize("far", [FAR, pytest.param(1e-3, marks=pytest.mark.slow)])
def test_at_least_ten_errors_are_expected(pilot, far):
    """A wide interval needs next to nobody, but ten rejected and ten accepted pairs."""
    rates = fk.evaluate(fk.score_tensor(pilot), far=[far])["empirical"]
    rejects, accepts = int(rates.false_rejects[0]), int(rates.false_accepts[0])
    plan = plan_of(pilot, "relative_half_width", 20, far)
    fewest = max(10 / rejects, np.sqrt(10 / accepts))
    assert int(plan.n_identities) == np.ceil(100 * max(fewest, 0.02))


@pytest.mark.slow
def test_it_is_said_where_ten_errors_decide(pilot, plan):
    """Different goals take the same number of people there, so each has a number of its own."""
    assert int(plan.n_for_goal) == int(plan.n_identities)
    assert "10 errors" not in plan.answer.item()
    plans = [plan_of(pilot, "relative_half_width", size, far=1e-3) for size in (0.5, 0.9)]
    assert plans[0].n_identities == plans[1].n_identities
    numbers = [int(plan.n_for_goal) for plan in plans]
    assert numbers[0] > numbers[1]
    for plan, number in zip(plans, numbers):
        assert "10 errors of either kind" in plan.answer.item()
        assert f"the goal alone takes about {number}." in plan.answer.item()


@pytest.mark.slow
def test_faces_scores_and_a_list_give_the_same_plan(pilot, plan):
    scores = fk.score_tensor(pilot)
    xr.testing.assert_allclose(plan_of(scores, "relative_half_width", 0.15), plan)
    i, j = np.triu_indices(pilot.sizes["image"], 1)
    names, who = pilot.image.values.astype(str), pilot.identity.values
    listed = fk.pairs(
        scores.values[i, j], probe=names[i], reference=names[j],
        probe_identity=who[i], reference_identity=who[j],
    )  # fmt: skip
    plan_of_list = plan_of(listed, "relative_half_width", 0.15)
    assert int(plan_of_list.n_identities) == pytest.approx(int(plan.n_identities), abs=2)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "goal"), [("band", 0.2), ("models", 0.8)])
def test_a_stored_plan_is_that_of_today_and_was_confirmed(name, goal):
    """By sixty new data sets with as many people as it names, in data/make_sample_size.py."""
    with xr.open_datatree(ROOT / "data/sample_size.nc", engine="h5netcdf") as tree:
        plan = tree[name].to_dataset().load()
    assert float(plan.goal_value) == goal
    noise = 2 * float(plan.confirmed_se)
    assert float(plan.confirmed) == pytest.approx(goal, abs=0.1 * goal + noise)
    pilot = make_sample_size.faces(name, make_sample_size.PILOT, make_sample_size.IMAGES, 0)
    size = None if name == "band" else make_sample_size.exact(name)
    today = fk.studies.sample_size(pilot, **{"size": size} | make_sample_size.GOALS[name])
    assert int(today.n_identities) == pytest.approx(int(plan.n_identities), abs=1)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("ratio", 2), {}, "goal"),
        (("relative_half_width",), {}, "relative_half_width"),
        (("relative_half_width", 0.1), {"far": 0.999999}, "errors"),
    ],
)
def test_bad_input_is_named(pilot, arguments, options, message):
    with refused(message):
        plan_of(pilot, *arguments, **options)


def test_the_figure_draws_the_plan(plan):
    ax = fk.plot.sample_size(plan)
    (curve,) = [line for line in ax.get_lines() if len(line.get_xdata()) == plan.sizes["curve"]]
    np.testing.assert_array_equal(curve.get_ydata(), plan.curve_value)
