"""Intervals from effective numbers of comparisons: published values, bounds and coverage."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from refusals import noticed, refused
from scipy import stats

import frkit as fk
from frkit.intervals.effective import jeffreys
from frkit.intervals.pooled import Groups, p_of_equality
from frkit.measures.registry import measure, names, with_reads

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


def faces(n_people=40, n_images=5, seed=0, groups=("a", "b"), spread=(20, 80)):
    kinds = {name: {} for name in groups}
    mixture = fk.vmf.mixture(n_people, 24, kappa=spread, seed=seed, groups=kinds)
    return mixture.sample(n_images, seed=seed + 1)


# --- published values -----------------------------------------------------------------------------


def test_jeffreys_interval_is_a_beta_quantile_and_covers_as_published():
    """Half an error of one comparison gives a uniform law; coverage as Brown et al. (2001)."""
    lower, upper = jeffreys(np.array([0.5]), np.array([1.0]), 0.95)
    np.testing.assert_allclose([lower[0], upper[0]], [0.025, 0.975])
    n, errors = 50, np.arange(51)
    lower, upper = jeffreys(errors / n, np.full(51, float(n)), 0.95)
    truth = np.linspace(0.1, 0.9, 161)
    covers = (lower <= truth[:, None]) & (truth[:, None] <= upper)
    coverage = (stats.binom.pmf(errors, n, truth[:, None]) * covers).sum(1)
    assert abs(coverage.mean() - 0.95) < 0.005
    assert coverage.min() > 0.9


def test_an_interval_contains_its_estimate_also_with_a_part_of_an_error():
    lower, upper = jeffreys(np.array([1e-6, 1 - 1e-6]), np.full(2, 2.0), 0.95)
    assert lower[0] == 1e-6 and upper[1] == 1 - 1e-6
    assert upper[0] > 0.5 and lower[1] < 0.5


@pytest.mark.parametrize("rate", [[0.12, 0.13], [0.04, 0.06], [0.0, 0.1]])
def test_equality_of_independent_comparisons_is_the_chi_square_test(rate):
    n = np.array([6000.0, 1000.0])  # more than 30 errors in each
    p = p_of_equality(Groups(np.array(rate), n, np.inf))
    errors = np.array(rate) * n
    expected = stats.chi2_contingency([errors, n - errors], correction=False)
    np.testing.assert_allclose(p, expected.pvalue, rtol=1e-6, atol=1e-15)


# --- what an interval must keep to ----------------------------------------------------------------


@pytest.mark.parametrize("target", ["new people", "these people"])
def test_intervals_contain_the_estimate_and_have_a_width(target):
    evaluation = fk.evaluate(fk.score_tensor(faces()), far=[0.003, 0.1], by="group", histogram=50)
    for name in ("frr", "far", "frr_group", "far_cross", "eer", "auc_group"):
        band = fk.band(evaluation, name, target=target)
        assert bool(((band.lower <= band.estimate) & (band.estimate <= band.upper)).all())
        assert bool((band.upper > band.lower).all())
        assert bool(((band.lower >= 0) & (band.upper <= 1)).all())
        assert bool((band.n_effective > 0).all())


@pytest.fixture(scope="module")
def unequal():
    """Evaluations of two groups, of which some differ and some do not."""
    samples = [faces(60, seed=seed, spread=(5, 25)) for seed in range(4)]
    return [fk.evaluate(fk.score_tensor(sample), far=[0.05, 0.2], by="group") for sample in samples]


@pytest.mark.parametrize(
    "measure",
    [
        "frr_max_min",
        "far_gini",
        pytest.param("frr_log_geomean", marks=pytest.mark.slow),
        pytest.param("ir", marks=pytest.mark.slow),
        "garbe",
    ],
)
def test_a_ratio_includes_the_fair_value_exactly_where_equality_is_accepted(unequal, measure):
    alpha = 0.05
    for evaluation in unequal:
        band = fk.band(evaluation, measure)
        np.testing.assert_array_equal(band.includes_fair.values == 1, band.p.values >= alpha)
        assert bool(((band.lower <= band.estimate) & (band.estimate <= band.upper)).all())


def test_without_an_error_a_person_counts_as_one_comparison():
    evaluation = fk.evaluate(fk.score_tensor(faces(spread=(300, 400))), far=[0.1])
    band = fk.band(evaluation, "frr").isel(far_level=0)
    assert float(band.estimate) == 0
    few_people = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 39)) ** 2
    np.testing.assert_allclose(band.n_effective, 40 * few_people)
    assert float(band.upper) > 0.04


def test_an_infinite_ratio_has_no_upper_end_and_no_p_value_of_a_comparison():
    tree = fk.evaluate(fk.score_tensor(faces(12, 4, spread=(60, 400))), far=[0.02, 0.2], by="group")
    band = fk.band(tree, "frr_max_min")
    rates = tree["empirical"].frr_group
    a_rate_is_zero = ((rates == 0).any("group") & (rates > 0).any("group")).values
    assert np.isinf(band.upper.values[a_rate_is_zero]).all()
    with noticed("frr_group", "frr_max_min", "FAR 0.02 to 0.2"):
        comparison = fk.compare(tree, tree, "frr_max_min")
    undefined = ~np.isfinite(comparison.estimate.values)
    assert undefined.any()
    assert np.isnan(comparison.p.values[undefined]).all()


def test_a_worse_model_is_seen():
    good = faces(60, spread=(30, 90))
    rng = np.random.default_rng(0)
    noise = rng.normal(size=good.embedding.shape) * 0.12
    worse = good.assign(embedding=good.embedding + noise.astype(np.float32))
    trees = [fk.evaluate(fk.score_tensor(model), far=[0.01, 0.1]) for model in (good, worse)]
    comparison = fk.compare(trees[1], trees[0], "frr")
    assert float(comparison.estimate[0]) > 0
    assert float(comparison.p[0]) < 0.01
    assert bool(
        (comparison.lower <= comparison.estimate).all()
        & (comparison.estimate <= comparison.upper).all()
    )


def test_simultaneous_bands_are_wider_and_for_each_model_its_own():
    data = faces(60)
    stacked = fk.open_data({"A": data, "B": data.assign(embedding=data.embedding**3)})
    scores = fk.score_tensor(stacked)
    both = fk.evaluate(scores, far=[0.01, 0.05, 0.2], by="group")
    model_a = fk.evaluate(scores.sel(model="A"), far=[0.01, 0.05, 0.2], by="group")
    at_once, alone = fk.band(both, "frr", simultaneous=True), fk.band(both, "frr")
    assert bool((at_once.upper - at_once.lower >= alone.upper - alone.lower).all())
    again = fk.band(model_a, "frr", simultaneous=True)
    np.testing.assert_allclose(at_once.upper.sel(model="A"), again.upper, rtol=1e-9)
    with refused("eer"):
        fk.band(model_a, "eer", simultaneous=True)
    with refused("method"):
        fk.band(model_a, "frr", simultaneous=True, method="naive")
    with refused("target", "nobody"):
        fk.band(model_a, "frr", method="naive", target="nobody")


def test_targets_are_checked_and_these_people_need_a_whole_square():
    people = ["a", "a", "b", "b"], ["a", "b", "a", "b"]
    matrix = fk.score_matrix(np.eye(4), *people, same_images=False)
    tree = fk.evaluate(matrix, far=[0.4])
    with refused("target='new people'"):
        fk.band(tree, "frr", target="these people")
    with refused("target", "nobody"):
        fk.band(tree, "frr", target="nobody")


@pytest.mark.parametrize("varying", ["split", "keep"])
def test_these_people_need_labels_that_do_not_vary_within_a_person(varying):
    data = faces(12, 4, spread=(5, 40))
    data = data.assign_coords(pose=("image", ["left", "right"] * 24))
    tree = fk.evaluate(fk.score_tensor(data), far=[0.1], by="pose", varying=varying)
    with refused("target='new people'"):
        fk.band(tree, "frr_group", target="these people")


# --- functions of rates ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rates_of_all_kinds():
    data = faces(30, 4, spread=(5, 40))
    return fk.evaluate(fk.score_tensor(data), far=[0.01, 0.1], by="group", histogram=50)


def test_a_function_of_rates_has_one_interval_however_it_asks_for_them(rates_of_all_kinds):
    plain = fk.band(rates_of_all_kinds, lambda t: t.frr + t.eer)
    by_get = fk.band(rates_of_all_kinds, lambda t: t.frr + t.get("eer", 0))
    xr.testing.assert_equal(plain, by_get)
    assert plain.attrs["method"] == "effective"


@pytest.mark.parametrize("name", ["frr", "eer", "auc", "frr_group"])
def test_a_rate_as_a_function_has_the_variance_of_the_rate(rates_of_all_kinds, name):
    """The normal interval p ± z √(p (1 - p) / n), with the n of the rate itself."""
    rate = fk.band(rates_of_all_kinds, name)
    twice = fk.band(rates_of_all_kinds, lambda t: 2 * t[name])
    sd = np.sqrt(rate.estimate * (1 - rate.estimate) / rate.n_effective)
    half = twice.upper - twice.estimate
    np.testing.assert_allclose(half, 2 * stats.norm.ppf(0.975) * sd, rtol=1e-3)


def test_a_threshold_that_was_given_has_no_error_of_its_own():
    faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    ev = fk.evaluate(fk.score_tensor(faces), threshold=[0.3, 0.4])
    of_rates = fk.band(ev, lambda rates: rates.frr + rates.far)
    with_threshold = fk.band(ev, lambda rates: rates.frr + rates.far + rates.threshold)
    width = with_threshold.upper - with_threshold.lower
    np.testing.assert_allclose(width, of_rates.upper - of_rates.lower)
    with refused("thresholds", "given"):
        fk.compare(ev, ev, "threshold")


def test_what_is_read_besides_rates_asks_for_replicates(rates_of_all_kinds):
    with refused("resampling=Resampling(...)"):
        fk.band(rates_of_all_kinds, lambda t: t.frr + 0 * t.get("false_rejects", 0))


@pytest.mark.slow
def test_registered_measures_read_what_they_say(rates_of_all_kinds):
    data = rates_of_all_kinds["empirical"].to_dataset()
    for name in names():
        chosen = measure(name)
        if {*(chosen.reads or ())} <= {*data}:
            reads = with_reads(replace(chosen, reads=None), data)
            assert {*reads.reads} == {*(chosen.reads or reads.reads)}, name


def test_a_registered_function_is_given_what_it_says_to_read(rates_of_all_kinds):
    read_more = fk.measures.Measure("more", lambda t: t.frr + t.eer, reads=("frr",))
    with pytest.raises(AttributeError, match="eer"):
        fk.band(rates_of_all_kinds, read_more)


# --- coverage in small studies --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("target", ["new people", "these people"])
def test_the_default_covers_in_a_small_study(target):
    """20 data sets at two levels: more than 7 of 40 misses have probability .001 at .05 each."""
    far, law = [3e-3, 3e-2], fk.vmf.IdentityLaw(32, kappa=(30, 120))
    same = law.draw(40, seed=77)
    truth = (same if target == "these people" else law).population_roc(far).frr.values
    missed = 0
    for seed in range(20):
        people = same if target == "these people" else law.draw(40, seed=7700 + seed)
        scores = fk.score_tensor(people.sample(5, seed=seed))
        band = fk.band(fk.evaluate(scores, far=far), "frr", target=target)
        missed += int(((truth < band.lower.values) | (truth > band.upper.values)).sum())
    assert missed <= 7


@pytest.mark.slow
def test_equal_groups_of_a_list_are_seldom_called_different():
    """One of 20 is expected at size .05, and fewer here: both groups have the same people."""
    fair = fk.vmf.mixture(30, 24, kappa=(10, 40), seed=0).rotated_copies()
    rejected = 0
    for seed in range(20):
        data = fair.sample(4, seed=seed)
        scores = fk.score_tensor(data)
        who, group = data.identity.values, data.group.values
        row, col = np.triu_indices(len(who), 1)
        rng = np.random.default_rng(seed)
        keep = (who[row] == who[col]) | ((group[row] == group[col]) & (rng.random(len(row)) < 0.1))
        row, col = row[keep], col[keep]
        pairs = fk.pairs(
            scores.values[row, col].astype(float),
            probe_identity=who[row], reference_identity=who[col],
            group=(group[row], group[col]),
        )  # fmt: skip
        names = tuple(np.unique(group)[:2])
        comparison = fk.compare(
            fk.evaluate(pairs, far=[0.01], by="group"), "frr_group", groups=names
        )
        rejected += float(comparison.p[0]) < 0.05
    assert rejected <= 2


@pytest.mark.slow
def test_all_pairs_of_models_and_every_result_as_a_frame():
    """As the pairs one by one; a result of one number is a frame of one row."""
    views = {name: faces(seed=seed) for seed, name in enumerate("ABC")}
    views = {name: view.assign_coords(views["A"].coords) for name, view in views.items()}
    scores = fk.score_tensor(fk.open_data(views))
    tree = fk.evaluate(scores, far=[0.01, 0.1])
    comparison = fk.compare(tree, "frr", models="all")
    pairs = list(zip(comparison.a.values.tolist(), comparison.b.values.tolist()))
    assert pairs == [("A", "B"), ("A", "C"), ("B", "C")]
    for place, pair in enumerate(pairs):
        alone = fk.compare(tree, "frr", models=pair)
        np.testing.assert_array_equal(comparison.estimate[place], alone.estimate)
        np.testing.assert_array_equal(comparison.p[place], alone.p)
    assert bool((comparison.p_holm >= comparison.p).all())
    model_a = tree.sel(model="A")
    for result in (fk.band(model_a, "eer"), fk.compare(tree, "eer", models=("A", "B"))):
        assert len(result.to_dataframe()) == 1
    with pytest.raises(fk.InputError, match="several models"):
        fk.compare(model_a, "frr", models="all")


def test_groups_are_compared_at_the_threshold_that_was_found_without_its_own_error():
    tree = fk.evaluate(fk.score_tensor(faces()), far=[0.01, 0.1], by="group")
    fixed = fk.evaluate(
        fk.score_tensor(faces()), threshold=tree["empirical"].threshold.values, by="group"
    )
    for name in ("frr_max_min", "far_max_difference"):
        bands = [fk.band(each, name) for each in (tree, fixed)]
        for number in ("n_effective", "p", "lower", "upper"):
            np.testing.assert_allclose(bands[0][number], bands[1][number], rtol=1e-6)
    apart = fk.compare(tree, "frr_group", groups=("a", "b"))
    np.testing.assert_allclose(apart.n_effective, fk.band(tree, "frr_max_min").n_effective)
