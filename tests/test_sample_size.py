"""Plans: what they recommend holds when it is simulated, and the populations they imagine are as asked."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

import frkit as fk
from frkit import InputError, vmf
from frkit.studies import people as room
from frkit.studies.plan import Plan

FAR = 0.05
QUICK = dict(far=FAR, progress=False)
TWO = {"a": {}, "b": {}}


@pytest.fixture(scope="module")
def law():
    return vmf.IdentityLaw(16, kappa=(10, 60))


@pytest.fixture(scope="module")
def plan(law):
    """A small plan that is simulated again at the size it recommends."""
    how = dict(per_identity=(3, 6), support=(50, 100), data_sets=8, confirm=12)
    return fk.studies.sample_size(law, "relative_half_width", 0.15, **how, **QUICK)


# ---- the plan


def test_the_recommended_size_does_what_it_should(plan):
    """New data sets at that size: the half-width is the one asked for, within Monte Carlo error and 7 %."""
    assert float(plan.confirmed) == pytest.approx(0.15, abs=3 * float(plan.confirmed_se) + 0.07 * 0.15)
    assert float(plan.confirmed_se) < 0.01
    np.testing.assert_allclose(plan.support_value, plan.support_predicted, rtol=0.12)


def test_the_recommendation_is_the_smallest(plan):
    for number, needed in zip(plan.per_identity.values, plan.n_identities.values):
        variance = plan.law.values[0] @ [1, 1 / number, 1 / (number * (number - 1))]
        at_least, less = np.sqrt(variance / [needed, needed - 1]) / plan.attrs["frr"]
        assert at_least <= 0.15 < less
    np.testing.assert_array_equal(plan.n_images, plan.n_identities * plan.per_identity)
    assert plan.n_identities.values[0] > plan.n_identities.values[1], "more images of a person need fewer people"


def test_the_answer_is_a_sentence(plan):
    best = plan.isel(per_identity=int(plan.n_images.values.argmin()))
    assert f"about {int(best.n_identities):,} identities with {int(best.per_identity)} images" in plan.attrs["answer"]
    assert "half-width of the 95% band to 15% of FRR" in plan.attrs["answer"]
    assert "Simulated at that size: 0.1" in plan.attrs["answer"]
    assert plan.attrs["target"] == "new identities"


def test_a_plan_can_be_stored(plan, tmp_path):
    plan.to_netcdf(tmp_path / "plan.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "plan.nc", engine="h5netcdf") as again:
        xr.testing.assert_identical(again.load(), plan)


def test_same_seed_same_plan(law):
    how = dict(per_identity=(3,), support=(30,), data_sets=5, **QUICK)
    first, again = (fk.studies.sample_size(law, "half_width", 0.05, **how) for _ in range(2))
    other = fk.studies.sample_size(law, "half_width", 0.05, resampling=fk.Resampling("identity", seed=5), **how)
    xr.testing.assert_identical(first, again)
    assert not np.array_equal(first.support_value, other.support_value)


def test_more_power_needs_more_people(law):
    pair = {"A": law.draw(60, 1), "B": law.draw(60, 1).correlated(concentration_factor=0.8)}
    how = dict(per_identity=(4,), support=(60,), data_sets=8, **QUICK)
    weak, strong = (fk.studies.sample_size(pair, "difference", 0.03, power=p, **how) for p in (0.5, 0.9))
    assert int(weak.n_identities[0]) < int(strong.n_identities[0])
    critical, spread = np.sqrt(strong.law.values @ [1, 1 / 4, 1 / 12] / int(strong.n_identities[0]))
    assert float(strong.predicted[0]) == pytest.approx(norm.cdf((0.03 - critical) / spread))
    assert float(strong.predicted[0]) == pytest.approx(0.9, abs=0.02)


def test_groups_are_told_apart_as_often_as_predicted():
    law = vmf.IdentityLaw(16, kappa=(20, 40), groups=TWO)
    how = dict(by="group", per_identity=(5,), support=(120,), data_sets=20, confirm=20, **QUICK)
    found = fk.studies.sample_size(law, "ratio", 1.5, **how)
    assert found.attrs["value"] == "power"
    assert float(found.confirmed) == pytest.approx(0.8, abs=0.25)


def test_the_law_of_variances_is_found_from_exact_numbers(law):
    """Half-widths that follow the law are fitted to its own coefficients."""
    true = np.array([0.3, 0.5, 0.2])
    points = [(n, k) for n in (2, 5, 20) for k in (50, 100)]
    width = [np.sqrt(true @ [1, 1 / n, 1 / (n * (n - 1))] / k) for n, k in points]
    runs = [np.column_stack([np.zeros(5), np.full(5, w), np.ones(5)]) for w in width]
    plan = Plan(None, "half_width", 0.01, FAR, 0.95, 0.8, fk.Resampling("identity"), 0.1, 1.0)
    found = plan.fitted_law(points, runs)
    np.testing.assert_allclose(found[0], true, rtol=1e-9)
    assert plan.needed(found, 5) == int(np.ceil(true @ [1, 1 / 5, 1 / 20] / 1e-4))


def test_the_image_scheme_keeps_the_people(law):
    who = room.people(law, FAR, "half_width", 0.1, None)
    first, second = (who.faces(20, 3, (0, number), (0, 20)).embedding.values for number in (0, 1))
    assert not np.allclose(first, second)
    same = np.einsum("ip,ip->i", first.reshape(20, 3, 16).mean(1), second.reshape(20, 3, 16).mean(1))
    other = np.einsum(
        "ip,ip->i", first.reshape(20, 3, 16).mean(1), np.roll(second.reshape(20, 3, 16).mean(1), 1, axis=0)
    )
    assert same.mean() > other.mean() + 0.3


# ---- the people it imagines


def test_the_ratio_is_in_the_people():
    law = vmf.IdentityLaw(16, kappa=(20, 40), groups=TWO)
    who = room.people(law, FAR, "ratio", 2.0, "group")
    frr = who.frr()
    assert frr.max() / frr.min() == pytest.approx(2, rel=1e-3)
    drawn = who._scaled(law.draw(1500, 3)).population_roc(FAR, by="group").frr_group.values[0]
    assert drawn.max() / drawn.min() == pytest.approx(2, rel=0.15)


def test_the_difference_is_in_the_people(law):
    first = law.draw(80, 1)
    pair = {"A": first, "B": first.correlated(centroid_correlation=0.9, concentration_factor=0.7)}
    who = room.people(pair, FAR, "difference", 0.05, None)
    models = who._models(who._scaled(who.law.draw(800, 3)), 4)
    frr = {name: float(mix.population_roc(FAR).frr[0]) for name, mix in models.items()}
    assert frr["B"] - frr["A"] == pytest.approx(0.05, abs=0.01)
    assert who.second["centroid_correlation"] == pytest.approx(0.9, abs=0.05)
    exact = [float(mix.population_roc(FAR).frr[0]) for mix in pair.values()]
    assert room.people(pair, FAR, "difference", None, None).difference == pytest.approx(exact[1] - exact[0])


def test_faces_of_two_models_tell_how_they_go_together(law):
    first = law.draw(150, 1)
    second = first.correlated(centroid_correlation=0.9, concentration_factor=0.7, seed=2)
    faces = vmf.sample_encoders({"A": first, "B": second}, 8, seed=3, correlation=0.8)
    who = room.people(faces, FAR, "difference", None, None)
    assert who.second["correlation"] == pytest.approx(0.8, abs=0.1)
    assert who.second["centroid_correlation"] == pytest.approx(0.9, abs=0.06)
    assert who.second["wobble"] < 0.15
    data = fk.evaluate(fk.score_tensor(faces), far=[FAR])["empirical"].frr.values[:, 0]
    assert float(who.frr() @ who.share) == pytest.approx(data[0], rel=1e-3)
    assert who.difference == pytest.approx(data[1] - data[0])


def test_people_like_faces_have_their_rate_and_their_noise(law):
    faces = law.draw(100, 1).sample(6, seed=2)
    who = room.people(faces, FAR, "half_width", 0.1, None)
    data = float(fk.evaluate(fk.score_tensor(faces), far=[FAR])["empirical"].frr[0])
    assert float(who.frr() @ who.share) == pytest.approx(data, rel=1e-3)
    assert who.law.dim in (15, 16)


def test_the_band_of_the_faces_themselves_is_met(law):
    """At the size of the faces the plan predicts the half-width that their own band has."""
    faces = law.draw(80, 1).sample(4, seed=2)
    plan = fk.studies.sample_size(faces, "half_width", 0.05, per_identity=(4,), support=(80,), data_sets=6, **QUICK)
    how = dict(far=[FAR], resampling=fk.Resampling("identity"))
    own = fk.band(fk.evaluate(fk.score_tensor(faces), **how), "frr")
    assert float(plan.support_predicted[0, 0]) == pytest.approx(float(own.upper[0] - own.lower[0]) / 2)
    assert plan.attrs["calibration"] == pytest.approx(1, abs=0.35)
    assert "times as wide as in their likeness, counted in here" in plan.attrs["answer"]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("width", 1), {}, "goal must be one of half_width"),
        (("half_width",), {}, "needs a size"),
        (("ratio", 0.5), {}, "above 1"),
        (("half_width", -1), {}, "positive"),
        (("half_width", 0.1), {"far": 2}, r"far must lie in \(0, 1\)"),
        (("half_width", 0.1), {"power": 1}, r"power must lie in \(0, 1\)"),
        (("half_width", 0.1), {"per_identity": (1, 3)}, ">= 2"),
        (("half_width", 0.1), {"data_sets": 2}, "at least 5"),
        (("half_width", 0.1), {"support": (2,)}, ">= 4"),
        (("half_width", 0.1), {"resampling": fk.Resampling("subset")}, "scheme must be one of"),
        (("ratio", 2), {}, "name an attribute"),
        (("difference", 0.1), {}, "takes two models"),
    ],
)
def test_bad_input_is_named(law, arguments, options, message):
    with pytest.raises(InputError, match=message):
        fk.studies.sample_size(law, *arguments, **{**QUICK, **options})


def test_other_populations_are_named(law):
    with pytest.raises(InputError, match="got int"):
        fk.studies.sample_size(3, "half_width", 0.1, **QUICK)
    two = fk.stack_models({"A": law.draw(5).sample(2), "B": law.draw(5).sample(2)})
    with pytest.raises(InputError, match="about one model"):
        fk.studies.sample_size(two, "half_width", 0.1, **QUICK)


# ---- the figure


def test_the_figure_draws_the_plan(plan):
    ax = fk.plot.sample_size(plan)
    curves = [line for line in ax.get_lines() if len(line.get_xdata()) == plan.sizes["curve"]]
    np.testing.assert_array_equal(curves[1].get_ydata(), plan.curve_value[1])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "3 images per identity" in labels and "simulated at the size recommended" in labels
    assert ax.get_ylabel() == "half the width of the band of FRR,\nas a share of FRR"
    with pytest.raises(InputError, match="no plan"):
        fk.plot.sample_size(xr.Dataset())
