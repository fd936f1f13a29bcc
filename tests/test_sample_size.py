"""Plans: the variance is that of the data, it falls as the law says, and what is recommended holds."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

import frkit as fk
from frkit import InputError, vmf
from frkit.studies.plan import Contrast, Plan, terms

FAR = 0.05
QUICK = dict(far=FAR, progress=False)
LFW = Path(__file__).resolve().parents[2] / "shared" / "data"
LAW = vmf.IdentityLaw(16, kappa=(10, 60))


@pytest.fixture(scope="module")
def pilot():
    return LAW.draw(100, 1).sample(6, seed=2)


@pytest.fixture(scope="module")
def pair():
    first = LAW.draw(100, 1)
    second = first.correlated(centroid_correlation=0.9, concentration_factor=0.8, seed=2)
    return vmf.sample_encoders({"A": first, "B": second}, 6, seed=3, correlation=0.8)


@pytest.fixture(scope="module")
def groups():
    law = vmf.IdentityLaw(16, groups={"a": {"kappa": (20, 40)}, "b": {"kappa": (12, 30)}})
    return law.draw(120, 1).sample(5, seed=2)


@pytest.fixture(scope="module")
def plan(pilot):
    return fk.studies.sample_size(pilot, "relative_half_width", 0.15, **QUICK)


def replicates_of(faces, by=None, **how):
    """The draws of a plan, made once more."""
    draws = fk.Resampling("identity", n=400, seed=0)
    tree = fk.evaluate(fk.score_tensor(faces), far=[FAR], by=by, resampling=draws, **how)
    return [tree[name].to_dataset().isel(far_level=0) for name in ("empirical", "replicates")]


def half(plan, people):
    """Half of an interval of so many people, in standard deviations."""
    even, few = plan.attrs["width"]
    return even + few / people**2


# ---- what is measured


def test_the_half_width_of_the_data_themselves_is_met(pilot):
    plan = fk.studies.sample_size(pilot, "half_width", 0.05, **QUICK)
    _, replicates = replicates_of(pilot)
    assert float(plan.part_value[-1]) == pytest.approx(half(plan, 100) * float(replicates.frr.std(ddof=1)))
    np.testing.assert_allclose(plan.part_predicted, plan.part_value, rtol=0.15)
    assert plan.part_images.values.tolist() == [2, 3, 5, 6]


def test_a_difference_is_measured_paired(pair):
    plan = fk.studies.sample_size(pair, "difference", **QUICK)
    rates, replicates = replicates_of(pair)
    assert plan.attrs["effect"] == pytest.approx(float(rates.frr[1] - rates.frr[0]))
    error = float((replicates.frr.sel(model="B") - replicates.frr.sel(model="A")).std(ddof=1))
    assert plan.attrs["effect_se"] == pytest.approx(error)
    power = norm.cdf(abs(plan.attrs["effect"]) / error - half(plan, 100))
    assert float(plan.part_value[-1]) == pytest.approx(power)


def test_intervals_are_as_wide_as_the_kit_makes_them(pair):
    """Of all people, and of quarters of them, whose intervals are wider than a normal law's."""
    plan, rng = fk.studies.sample_size(pair, "difference", **QUICK), np.random.default_rng(3)
    error, names, found = plan.attrs["effect_se"], np.unique(pair.identity), {100: [], 12: []}
    for people, widths in found.items():
        for _ in range(1 if people == 100 else 8):
            some = pair.isel(image=np.isin(pair.identity, rng.permutation(names)[:people]))
            apart = fk.compare(fk.evaluate(fk.score_tensor(some), far=[FAR]), "frr", models=("A", "B"))
            widths.append((apart.upper - apart.lower).item() / 2 / (error * np.sqrt(100 / people)))
    for people, widths in found.items():
        assert half(plan, people) == pytest.approx(max(np.mean(widths), 1.96), rel=0.2), people
    assert half(plan, 12) > 1.3 * half(plan, 100)


@pytest.mark.parametrize("weighting", ["pair", "by person"])
def test_weights_are_followed(weighting):
    """Twice as many images make six times as many genuine pairs; or every third person weighs three times as much."""
    faces = LAW.draw(60, 1).sample(np.resize([3, 6], 60), seed=2)
    names = np.unique(faces.identity)
    given = dict(zip(names, np.resize([1, 1, 3], 60))) if weighting == "by person" else weighting
    plan = fk.studies.sample_size(faces, "half_width", 0.05, weighting=given, per_identity=(6,), **QUICK)
    rates, replicates = replicates_of(faces, weighting=given)
    assert plan.attrs["frr"] == pytest.approx(float(rates.frr))
    assert float(plan.part_value[-1]) == pytest.approx(half(plan, 60) * float(replicates.frr.std(ddof=1)))
    share = np.resize([1, 1, 3], 60) if weighting == "by person" else np.resize([6, 30], 60)
    law, images = plan.law.values, np.resize([3, 6], 60)
    variance = np.sum((share / share.sum()) ** 2 * (terms(images) @ law))
    assert float(plan.part_predicted[-1]) == pytest.approx(half(plan, 60) * np.sqrt(variance))
    effective = 1 if weighting == "pair" else np.mean(share**2) / np.mean(share) ** 2  # new people have 6 images each
    n = int(plan.n_identities[0])
    assert float(plan.predicted[0]) == pytest.approx(half(plan, n) * np.sqrt(terms(6) @ law * effective / n))
    assert ("Genuine pairs weigh alike" if weighting == "pair" else "People weigh") in plan.attrs["answer"]


def test_a_ratio_is_measured_by_its_logarithm(groups):
    plan = fk.studies.sample_size(groups, "ratio", by="group", **QUICK)
    rates, replicates = replicates_of(groups, "group")
    frr, drawn = rates.frr_group, replicates.frr_group
    assert plan.attrs["size"] == pytest.approx(float(frr.max() / frr.min()))
    error = float((drawn / frr).sel(group="b").values.__sub__((drawn / frr).sel(group="a").values).std(ddof=1))
    assert plan.attrs["effect_se"] == pytest.approx(error)


def test_scores_and_faces_give_the_same_plan(pilot, plan):
    scores = fk.score_tensor(pilot)
    xr.testing.assert_allclose(fk.studies.sample_size(scores, "relative_half_width", 0.15, **QUICK), plan)


# ---- how it is solved


def solver(goal="half_width", wished=0.01, power=0.8, frr=0.1):
    contrast = Contrast(goal, None, np.nan, xr.DataArray(frr), frr, True)
    return Plan(
        contrast, wished, FAR, 0.95, power, np.full(60, 20), np.ones(60), False, np.array([norm.ppf(0.975), 0]), 2
    )


def test_the_law_of_variances_is_found_from_exact_numbers():
    true = np.array([0.3, 0.5, 0.2])
    plan = solver().result({n: true @ terms(n) / 60 for n in (2, 5, 20)}, (5,), observed=False)
    np.testing.assert_allclose(plan.law, true, rtol=1e-9)
    half_width = 1.959964 * np.sqrt(true @ terms(5))
    assert int(plan.n_identities[0]) == int(np.ceil((half_width / 0.01) ** 2))


def test_a_test_has_the_power_that_was_asked_for():
    found = solver("difference", wished=0.02, power=0.9)
    needed = found.needed(0.3, 5)
    assert found.value(0.3, needed).item() == pytest.approx(0.9, abs=1e-3)
    assert needed > solver("difference", wished=0.02, power=0.5).needed(0.3, 5)


def test_ten_errors_of_either_kind_are_expected():
    assert solver(wished=10).needed(0.3, 2) == int(np.ceil(10 / 0.1))  # rejects
    assert solver(wished=10, frr=0.9).needed(0.3, 5) == int(np.ceil(np.sqrt(2 * 10 / FAR) / 5))  # accepts


def test_the_recommendation_is_the_smallest(plan):
    for number, needed in zip(plan.per_identity.values, plan.n_identities.values):
        sizes = np.array([needed, needed - 1])
        at_least, less = half(plan, sizes) * np.sqrt(plan.law.values @ terms(number) / sizes)
        assert at_least <= 0.15 < less
    np.testing.assert_array_equal(plan.n_images, plan.n_identities * plan.per_identity)
    assert plan.n_identities.values[0] > plan.n_identities.values[1], "more images of a person need fewer people"


def test_same_seed_same_plan(pilot, plan):
    again, other = (fk.studies.sample_size(pilot, "relative_half_width", 0.15, seed=seed, **QUICK) for seed in (0, 5))
    xr.testing.assert_identical(plan, again)
    assert not np.array_equal(plan.part_value, other.part_value)


# ---- whether it holds


def test_new_people_have_the_half_width_that_was_planned(plan):
    """Thirty new data sets of the recommended size; the variance itself was measured on 100 people."""
    best = plan.isel(per_identity=int(plan.n_images.values.argmin()))
    frr = LAW.population_roc(FAR).frr.values[0]
    estimates = [
        float(fk.evaluate(fk.score_tensor(faces), far=[FAR])["empirical"].frr[0]) / frr
        for faces in (
            LAW.draw(int(best.n_identities), seed).sample(int(best.per_identity), seed) for seed in range(100, 130)
        )
    ]
    assert 1.96 * np.std(estimates, ddof=1) == pytest.approx(0.15, rel=0.4)


@pytest.mark.skipif(not LFW.is_dir(), reason="the LFW embeddings are not here")
def test_parts_of_real_people_see_the_difference_as_often_as_planned():
    """Subsets of 63 of the 158 people: planned .48 for new people, seen in 38 % of sixty when it was counted first."""
    names = ("facenet", "insightface")
    faces = fk.stack_models({name: fk.open_faces(LFW / f"lfw158_{name}.npz") for name in names})
    plan = fk.studies.sample_size(faces, "difference", far=1e-3, per_identity=(10,), progress=False)
    assert 110 < int(plan.n_identities[0]) < 190
    planned = float(
        plan.curve_value[0].interp(curve=np.interp(63, plan.curve_identities, np.arange(plan.sizes["curve"])))
    )
    people, rng, seen = np.unique(faces.identity.values), np.random.default_rng(0), 0
    for _ in range(20):
        some = np.isin(faces.identity.values, rng.choice(people, 63, replace=False))
        ev = fk.evaluate(fk.score_tensor(faces.isel(image=some)), far=[1e-3])
        difference = fk.compare(ev, "frr", models=names)
        seen += float(difference.upper[0]) < 0 or float(difference.lower[0]) > 0
    assert seen / 20 == pytest.approx(planned, abs=0.25)


@pytest.mark.filterwarnings("ignore:fewer than ten errors")
@pytest.mark.skipif(not LFW.is_dir(), reason="the LFW embeddings are not here")
def test_few_people_see_the_difference_as_often_as_planned():
    """At FAR 1e-2 a normal law recommends 28 people, of whom half of the subsets see it: their intervals are wider."""
    names = ("facenet", "insightface")
    faces = fk.stack_models({name: fk.open_faces(LFW / f"lfw158_{name}.npz") for name in names})
    plan = fk.studies.sample_size(faces, "difference", far=1e-2, per_identity=(10,), progress=False)
    people, rng, seen = np.unique(faces.identity.values), np.random.default_rng(0), 0
    for _ in range(60):
        some = np.isin(faces.identity.values, rng.choice(people, int(plan.n_identities[0]), replace=False))
        ev = fk.evaluate(fk.score_tensor(faces.isel(image=some)), far=[1e-2])
        seen += float(fk.compare(ev, "frr", models=names).p[0]) <= 0.05
    assert seen / 60 == pytest.approx(0.8, abs=0.12)


@pytest.mark.parametrize(("name", "goal"), [("band", 0.2), ("models", 0.8), ("groups", 0.8)])
def test_a_stored_plan_was_confirmed(name, goal):
    with xr.open_datatree(Path(__file__).resolve().parents[1] / "data/sample_size.nc", engine="h5netcdf") as tree:
        plan = tree[name].to_dataset().load()
    assert plan.attrs["line"] == goal
    assert plan.attrs["command"] == f"python data/make_sample_size.py {name}"
    noise = 2 * float(plan.confirmed_se)
    assert float(plan.confirmed) == pytest.approx(goal, abs=0.1 * goal + noise)


# ---- what is said


def test_the_answer_says_what_limits_it(pilot, plan, pair, groups):
    best = plan.isel(per_identity=int(plan.n_images.values.argmin()))
    answer = plan.attrs["answer"]
    assert f"about {int(best.n_identities):,} people with {int(best.per_identity)} images" in answer
    assert "half-width of the 95% band to 15% of FRR" in answer
    assert "new people like the 100 whose variance was measured" in answer
    assert "No person here has 10 images" in answer and "observed" not in answer
    assert plan.attrs["target"] == "new identities"
    observed = fk.studies.sample_size(pair, "difference", **QUICK).attrs["answer"]
    assert "The effect is the one observed, with a standard error of" in observed
    assert "Were it one smaller, " in observed and "people would be needed" in observed
    asked = fk.studies.sample_size(groups, "ratio", 1.05, by="group", **QUICK).attrs["answer"]
    assert "highest and the lowest FRR here, b and a" in asked and "times as many people as there are" in asked
    assert "observed" not in asked


def test_a_plan_can_be_stored(plan, tmp_path):
    plan.to_netcdf(tmp_path / "plan.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "plan.nc", engine="h5netcdf") as again:
        xr.testing.assert_identical(again.load(), plan)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("width", 1), {}, "goal must be one of half_width"),
        (("half_width",), {}, "needs a size"),
        (("ratio", 0.5), {}, r"must lie in \(1, inf"),
        (("half_width", -1), {}, r"must lie in \(0, inf"),
        (("difference", 0), {}, r"must lie in \(0, inf"),
        (("half_width", 0.1), {"far": 2}, r"far must lie in \(0, 1\)"),
        (("half_width", 0.1), {"power": 1}, r"power must lie in \(0, 1\)"),
        (("half_width", 0.1), {"per_identity": (1, 3)}, "at least 2"),
        (("ratio", 2), {}, "name an attribute"),
        (("ratio", 2), {"by": "age"}, "no attribute"),
        (("difference", 0.1), {}, "takes two models"),
    ],
)
def test_bad_input_is_named(pilot, arguments, options, message):
    with pytest.raises(InputError, match=message):
        fk.studies.sample_size(pilot, *arguments, **{**QUICK, **options})


def test_other_data_are_named(pilot, pair):
    with pytest.raises(InputError, match="got IdentityLaw"):
        fk.studies.sample_size(LAW, "half_width", 0.1, **QUICK)
    with pytest.raises(InputError, match="about one model"):
        fk.studies.sample_size(pair, "half_width", 0.1, **QUICK)
    with pytest.raises(InputError, match="two images"):
        fk.studies.sample_size(LAW.draw(10).sample(1), "half_width", 0.1, **QUICK)
    scores = fk.score_tensor(pilot)
    with pytest.raises(InputError, match="all images against all"):
        fk.studies.sample_size(scores[:100, 20:120], "half_width", 0.1, **QUICK)


# ---- the figure


def test_the_figure_draws_the_plan(plan):
    ax = fk.plot.sample_size(plan)
    curves = [line for line in ax.get_lines() if len(line.get_xdata()) == plan.sizes["curve"]]
    np.testing.assert_array_equal(curves[1].get_ydata(), plan.curve_value[1])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "3 images per identity" in labels and "measured in the data given" in labels
    assert ax.get_ylabel() == "half the width of the band of FRR,\nas a share of FRR"
    with pytest.raises(InputError, match="plan must be what"):
        fk.plot.sample_size(xr.Dataset())


@pytest.mark.parametrize("goal", ["half_width", "relative_half_width"])
def test_two_people_tell_no_variance(goal):
    faces = fk.vmf.mixture(2, 32, kappa=(10, 20), seed=0).sample(3, seed=0)
    with pytest.raises(fk.InputError, match="2 people are too few .* take data of more people"):
        fk.studies.sample_size(faces, goal, 0.2, far=0.1, progress=False)
