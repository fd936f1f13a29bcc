"""Coverage studies: counted as by hand, and known laws."""

import make_bootstrap_laws
import numpy as np
import pytest
import xarray as xr
from refusals import refused
from scipy.stats import norm

import frkit as fk
from frkit.measures import measure
from frkit.papers.roc.coverage import count_covering

FAR = [0.02, 0.1, 0.3]
HOW = dict(
    per_identity=5,
    far=FAR,
    schemes=("image", "identity"),
    levels=(0.5, 0.9),
    replicates=20,
    progress=False,
)
LAW = fk.vmf.IdentityLaw(12, kappa=(10, 40))
pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def mixture():
    return fk.vmf.mixture(24, 12, kappa=(10, 40), seed=0)


def draw(population, number, scheme, n_identities=None, **options):
    """The evaluation of one data set of a study."""
    children = np.random.SeedSequence(0, spawn_key=(number,)).spawn(3)
    people, images, seed = (int(child.generate_state(1, np.uint64)[0]) for child in children)
    if n_identities is not None:
        population = population.draw(n_identities, people)
    scores = fk.score_tensor(population.sample(per_identity=5, seed=images))
    resampling = fk.Resampling(scheme, n=20, seed=seed, strata=options.get("by"))
    return fk.evaluate(scores, far=FAR, resampling=resampling, **options)


# --- counting ------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["image", "identity"])
def test_the_study_counts_what_a_loop_counts(mixture, scheme):
    options = HOW | {"schemes": (scheme,)}
    methods = ("recentered", "naive")
    study = fk.studies.coverage(mixture, n_datasets=4, methods=methods, **options)
    truth = mixture.population_roc(FAR).frr.values
    evaluations = [draw(mixture, number, scheme) for number in range(4)]
    for method in methods:
        for level in (0.5, 0.9):
            ends = [fk.band(ev, "frr", method=method, level=level) for ev in evaluations]
            lower = np.array([band.lower for band in ends])
            upper = np.array([band.upper for band in ends])
            counted = study.sel({"scheme": scheme, "method": method, "level": level})
            covered = ((lower <= truth) & (truth <= upper)).mean(0)
            np.testing.assert_allclose(counted.coverage, covered)
            np.testing.assert_allclose(counted.miss_below, (upper < truth).mean(0))
            np.testing.assert_allclose(counted.miss_above, (lower > truth).mean(0))
            np.testing.assert_allclose(counted.width, (upper - lower).mean(0))
            np.testing.assert_allclose(counted.coverage_se, np.sqrt(covered * (1 - covered) / 4))


@pytest.mark.slow
@pytest.mark.parametrize(("people", "target"), [(None, "these people"), (24, "new people")])
def test_the_effective_method_has_the_target_of_the_study(mixture, people, target):
    """Other methods are the same beside it."""
    population = mixture if people is None else LAW
    options = dict(n_identities=people, n_datasets=2, **HOW)
    options["schemes"] = "image"
    before = fk.studies.coverage(population, methods="naive", **options)
    study = fk.studies.coverage(population, methods=("naive", "effective"), **options)
    np.testing.assert_array_equal(study.width[:, 0], before.width[:, 0])
    ends = [
        fk.band(draw(population, number, "image", people), "frr", target=target, level=0.9)
        for number in range(2)
    ]
    width = np.mean([band.upper - band.lower for band in ends], axis=0)
    assert study.attrs["target"] == target
    effective = study.sel({"method": "effective", "level": 0.9}).width[0]
    np.testing.assert_allclose(effective, width, rtol=1e-9)


@pytest.mark.slow
def test_a_disparity_is_counted_as_by_a_loop():
    mix = fk.vmf.mixture(60, 12, seed=0, groups={"a": {"kappa": (10, 40)}, "b": {"kappa": (6, 30)}})
    options = HOW | dict(schemes="identity", n_identities=24, by="group", n_datasets=3)
    study = fk.studies.coverage(mix, "frr_max_min", methods=("pivotal", "effective"), **options)
    truth = measure("frr_max_min")(mix.population_roc(FAR, by="group"))
    covered, unfair = 0, 0
    for number in range(3):
        ev = draw(mix, number, "identity", 24, by="group")
        ends = fk.band(ev, "frr_max_min", method="pivotal", level=0.9)
        covered += (ends.lower <= truth) & (truth <= ends.upper)
        unfair += fk.fair_floor(ev, "frr_max_min").p <= 0.05
    pivotal = study.coverage.sel({"level": 0.9, "method": "pivotal"})
    np.testing.assert_allclose(pivotal.squeeze(), covered / 3)
    np.testing.assert_allclose(study.called_unfair.squeeze(), unfair / 3)
    with pytest.raises(fk.InputError, match="'eer_group' has no exact value"):
        fk.studies.coverage(mix, "eer_group", **options)


# --- laws ----------------------------------------------------------------------------------------
def simulated(centre=0.0, n_datasets=500, n=200, sd=0.1, truth=0.5):
    """Estimates that are normal around the truth, and replicates normal around their centre."""
    rng = np.random.default_rng(1)
    estimate = truth + sd * rng.standard_normal((n_datasets, 1))
    replicates = estimate[:, None] + centre + sd * rng.standard_normal((n_datasets, n, 1))
    dims, level = ("data_set", "far_level"), {"far_level": [0.1]}
    drawn = ("data_set", "replicate", "far_level"), replicates
    nodes = {
        "empirical": xr.Dataset({"frr": (dims, estimate)}, level),
        "vstatistic": xr.Dataset({"frr": (dims, estimate + centre)}, level),
        "replicates": xr.Dataset({"frr": drawn}, level),
    }
    return xr.DataTree.from_dict(nodes), xr.DataArray([truth], level, "far_level")


@pytest.mark.slow
def test_coverage_of_normal_errors_is_as_computed():
    tree, truth = simulated(centre=-0.15)
    tree.attrs["provenance"] = "{}"
    methods = ("recentered", "gaussian", "naive")
    study = count_covering({"image": tree}, truth, measure("frr"), methods, (0.5, 0.9))
    coverage = study.isel(scheme=0, far_level=0)
    for level in (0.5, 0.9):
        z = norm.ppf((1 + level) / 2)
        for method in ("recentered", "gaussian"):
            share = coverage.coverage.sel({"method": method, "level": level})
            assert float(share) == pytest.approx(level, abs=4 * 0.022)
        # the naive interval is the normal one moved by 1.5 standard deviations
        naive = coverage.sel({"method": "naive", "level": level})
        expected = norm.cdf(z + 1.5) - norm.cdf(1.5 - z)
        assert float(naive.coverage) == pytest.approx(expected, abs=4 * 0.022)
        assert float(naive.miss_below) == pytest.approx(norm.sf(z - 1.5), abs=4 * 0.022)
        assert float(naive.coverage + naive.miss_below + naive.miss_above) == pytest.approx(1)


@pytest.mark.slow
def test_laws_of_one_data_set_are_those_of_its_own_replicates(mixture):
    """Distances to the actual errors by the steps of both distribution functions."""
    laws = make_bootstrap_laws.error_laws(
        mixture, per_identity=(5,), far=0.1, n_datasets=12, bootstrapped=2, replicates=15, seed=3,
    ).squeeze("per_identity")  # fmt: skip
    truth = mixture.population_roc([0.1]).frr.item()
    draws = fk.Resampling("image", n=15, seed=3)
    data_sets = [fk.score_tensor(mixture.sample(5, seed=3 + number)) for number in range(12)]
    evaluations = [fk.evaluate(scores, far=[0.1], resampling=draws) for scores in data_sets]
    rates = np.array([evaluation["empirical"].frr.item() for evaluation in evaluations])
    for number in range(2):
        replicates = evaluations[number]["replicates"].frr.values.ravel()
        centres = {"naive": rates[number], "recentered": rates[number] * (1 - 1 / 5)}
        for errors, centre in centres.items():
            places = {"errors": errors, "data_set": number}
            pair = replicates - centre, rates - truth
            assert float(laws.distance.sel(places)) == pytest.approx(largest_step(*pair))
            pair = np.abs(pair[0]), np.abs(pair[1])
            assert float(laws.distance_absolute.sel(places)) == pytest.approx(largest_step(*pair))
    shift = laws.law.sel(law_of="recentered") - laws.law.sel(law_of="naive")
    np.testing.assert_allclose(shift, rates[0] / 5)


def largest_step(first, second):
    """The largest difference of two distribution functions, point by point."""
    places = [*first, *second]
    return max(abs(np.mean(first <= place) - np.mean(second <= place)) for place in places)


# --- data sets -----------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_small_study_is_the_first_part_of_a_large_one(mixture):
    """Data sets depend on their number alone, so those of two and of three are the same two."""
    two, three = (fk.studies.coverage(mixture, n_datasets=n, **HOW) for n in (2, 3))
    third = draw(mixture, 2, "image")["empirical"].frr
    estimate = (2 * two.estimate.sel(scheme="image") + third) / 3
    np.testing.assert_allclose(three.estimate.sel(scheme="image"), estimate)


def test_wrong_arguments_are_named_before_anything_is_drawn(mixture):
    with refused("by="):
        fk.studies.coverage(mixture, "frr_max_min", n_datasets=2, **HOW)
    with refused("sfi_normal"):
        fk.studies.coverage(mixture, "sfi_normal", n_datasets=2, **HOW)
    with refused("n_identities="):
        fk.studies.coverage(LAW, n_datasets=2, **HOW)
