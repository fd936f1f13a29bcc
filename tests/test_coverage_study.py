"""Coverage studies: counted as by hand, the same bits after a kill, a store that is not mixed up, known laws."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import ks_2samp, norm, wasserstein_distance

import frkit as fk
from frkit.measures import measure
from frkit.studies.collecting import Study, collect
from frkit.studies.coverage import _counted, read
from frkit.studies.error_laws import FINE, error_laws, kolmogorov, wasserstein
from frkit.studies.store import Store

FAR = [0.02, 0.1, 0.3]
HOW = dict(
    per_identity=5,
    far=FAR,
    schemes=("image", "identity"),
    levels=(0.5, 0.9),
    replicates=20,
    progress=False,
)
RUN = """
import sys
import frkit as fk
mix = fk.vmf.mixture(24, 12, kappa=(10, 40), seed=0)
fk.studies.coverage(mix, n_datasets=400, per_identity=5, far=[0.02, 0.1, 0.3], schemes=("image", "identity"),
                    replicates=20, progress=False, store=sys.argv[1])
"""


LAW = fk.vmf.IdentityLaw(12, kappa=(10, 40))


@pytest.fixture(scope="module")
def mixture():
    return fk.vmf.mixture(24, 12, kappa=(10, 40), seed=0)


def plan(population, n_identities=None, schemes=("image",), far=FAR):
    how = dict(
        per_identity=np.asarray(5), far=np.asarray(far), schemes=schemes, replicates=20, seed=0
    )
    return Study(population=population, n_identities=n_identities, **how)


# --- counting -----------------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_the_study_counts_what_a_loop_counts(mixture):
    study = fk.studies.coverage(mixture, n_datasets=6, methods=("recentered", "naive"), **HOW)
    truth = mixture.population_roc(FAR).frr.values
    for scheme in HOW["schemes"]:
        for method in ("recentered", "naive"):
            held, below, above, width = np.zeros((4, 2, 3))
            for number in range(6):
                _, images, replicates = plan(mixture).seeds(number)
                scores = fk.score_tensor(mixture.sample(per_identity=5, seed=images))
                ev = fk.evaluate(
                    scores, far=FAR, resampling=fk.Resampling(scheme, n=20, seed=replicates)
                )
                for place, level in enumerate((0.5, 0.9)):
                    ends = fk.band(ev, "frr", method=method, level=level)
                    held[place] += (ends.lower.values <= truth) & (truth <= ends.upper.values)
                    below[place] += ends.upper.values < truth
                    above[place] += ends.lower.values > truth
                    width[place] += ends.upper.values - ends.lower.values
            found = study.sel({"scheme": scheme, "method": method})
            for name, total in zip(
                ("coverage", "miss_below", "miss_above", "width"), (held, below, above, width)
            ):
                np.testing.assert_allclose(found[name], total / 6, rtol=1e-12, err_msg=name)
            np.testing.assert_allclose(found.coverage_se, np.sqrt(held / 6 * (1 - held / 6) / 6))


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize(("people", "target"), [(None, "these people"), (24, "new people")])
def test_methods_without_replicates_take_the_target_of_the_study(mixture, tmp_path, people, target):
    """Data sets stored without what people add are evaluated again."""
    population = mixture if people is None else LAW
    how = dict(
        n_identities=people, n_datasets=2, per_identity=5, far=[0.1], levels=(0.9,), replicates=5
    )
    before = fk.studies.coverage(
        population, methods=("naive",), store=tmp_path, progress=False, **how
    )
    study = fk.studies.coverage(
        population, methods=("naive", "effective"), store=tmp_path, progress=False, **how
    )
    np.testing.assert_array_equal(study.width.isel(method=0), before.width.isel(method=0))
    widths = []
    for number in range(2):
        draw = plan(population, people, far=[0.1])
        ev = fk.evaluate(draw.scores(number), far=[0.1])
        ends = fk.band(ev, "frr", target=target, level=0.9)
        widths.append(float((ends.upper - ends.lower)[0]))
    assert study.attrs["target"] == target
    np.testing.assert_allclose(
        study.width.sel({"method": "effective"}).item(), np.mean(widths), rtol=2e-3
    )


def simulated(centre=0.0, n_datasets=2000, n=400, sd=0.1, truth=0.5):
    """Evaluations whose estimates are normal around the truth, and replicates normal around their centre."""
    rng = np.random.default_rng(1)
    estimate = truth + sd * rng.standard_normal((n_datasets, 1))
    replicates = estimate[:, None] + centre + sd * rng.standard_normal((n_datasets, n, 1))
    lone, one = ("data_set", "far_level"), {"far_level": [0.1]}
    facts = {"resolved": (lone, estimate > 0), "false_rejects": (lone, estimate)}
    tree = xr.DataTree.from_dict({
        "empirical": xr.Dataset({"frr": (lone, estimate), **facts}, one),
        "vstatistic": xr.Dataset({"frr": (lone, estimate + centre)}, one),
        "replicates": xr.Dataset({"frr": (("data_set", "replicate", "far_level"), replicates)}, one),
    })  # fmt: skip
    tree.attrs["provenance"] = "{}"
    return tree, xr.DataArray([truth], {"far_level": [0.1]}, "far_level")


def test_coverage_of_normal_errors_is_nominal_and_that_of_the_naive_bootstrap_as_computed():
    tree, truth = simulated(centre=-0.15)
    study = read(
        {"image": tree}, truth, ("recentered", "gaussian", "naive"), (0.5, 0.9), 0, "frr"
    ).isel(scheme=0)
    for method in ("recentered", "gaussian"):
        np.testing.assert_allclose(
            study.coverage.sel({"method": method})[:, 0], [0.5, 0.9], atol=4 * 0.011
        )
    # the naive interval is the normal one moved by 1.5 standard deviations
    for level in (0.5, 0.9):
        z = norm.ppf((1 + level) / 2)
        found = study.sel({"method": "naive", "level": level}).isel(far_level=0)
        assert float(found.coverage) == pytest.approx(
            norm.cdf(z + 1.5) - norm.cdf(1.5 - z), abs=4 * 0.011
        )
        assert float(found.miss_below) == pytest.approx(norm.sf(z - 1.5), abs=4 * 0.011)
        assert float(found.coverage + found.miss_below + found.miss_above) == pytest.approx(1)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_disparity_is_counted_as_by_a_loop_and_its_store_serves_other_measures(
    tmp_path, monkeypatch
):
    mix = fk.vmf.mixture(60, 12, seed=0, groups={"a": {"kappa": (10, 40)}, "b": {"kappa": (6, 30)}})
    how = HOW | dict(
        schemes=("identity",), n_identities=24, by="group", n_datasets=4, store=tmp_path
    )
    study = fk.studies.coverage(mix, "frr_max_min", methods=("pivotal",), **how).isel(
        scheme=0, method=0
    )
    truth, held, unfair = measure("frr_max_min")(mix.population_roc(FAR, by="group")), 0, 0
    design = Study(
        population=mix,
        n_identities=24,
        per_identity=np.asarray(5),
        far=None,
        schemes=(),
        replicates=20,
        seed=0,
    )
    for number in range(4):
        people = design.mixture(number)
        assert np.unique(people.groups["group"], return_counts=True)[1].tolist() == [12, 12]
        _, images, seed = design.seeds(number)
        draws = fk.Resampling("identity", n=20, seed=seed, strata="group")
        ev = fk.evaluate(
            fk.score_tensor(people.sample(5, seed=images)), far=FAR, by="group", resampling=draws
        )
        ends = fk.band(ev, "frr_max_min", method="pivotal", level=0.9)
        held += (ends.lower <= truth) & (truth <= ends.upper)
        unfair += fk.fair_floor(ev.drop_nodes("people"), "frr_max_min").p <= 0.05
    np.testing.assert_allclose(study.coverage.sel(level=0.9), held / 4)
    np.testing.assert_allclose(study.called_unfair, unfair / 4)
    monkeypatch.setattr(Study, "data_set", None)  # all further measures are read from the files
    assert fk.studies.coverage(mix, "eer_group", **how).coverage.dims == (
        "scheme",
        "method",
        "level",
        "group",
    )


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_indices_are_held_against_exact_distributions():
    fair = fk.vmf.mixture(8, 12, kappa=(10, 40), seed=0).rotated_copies()
    study = fk.studies.coverage(
        fair, "sfi_normal", by="group", n_datasets=3, **{**HOW, "schemes": ("image",)}
    )
    assert float(study.truth) == pytest.approx(1) and study.coverage.dims == (
        "scheme",
        "method",
        "level",
    )
    assert float(study.estimate[0]) < 1


# --- laws ---------------------------------------------------------------------------------------------------
def test_distances_of_laws_agree_with_scipy():
    rng = np.random.default_rng(0)
    fine, sample = np.sort(rng.normal(size=50 * FINE)), np.sort(rng.normal(0.3, 1.2, 50))
    assert kolmogorov(fine, sample[None])[0] == pytest.approx(ks_2samp(fine, sample).statistic)
    assert wasserstein(fine, sample[None])[0] == pytest.approx(wasserstein_distance(fine, sample))
    tied = np.sort(rng.integers(0, 4, 50).astype(float))
    coarse = np.sort(rng.integers(0, 4, 50 * FINE).astype(float))
    assert kolmogorov(coarse, tied[None])[0] == pytest.approx(ks_2samp(coarse, tied).statistic)


def test_equal_laws_lie_within_chance_and_shifted_ones_as_far_apart_as_the_shift():
    tree, truth = simulated(n_datasets=200)
    same = error_laws(tree, truth, 0, measure("frr"))
    assert float(same.kolmogorov[0]) < float(same.kolmogorov_chance[0]) < 0.13
    moved = error_laws(tree, truth - 0.2, 0, measure("frr"))
    assert float(moved.wasserstein[0]) == pytest.approx(0.2, abs=0.02)
    assert float(moved.kolmogorov[0]) > 3 * float(moved.kolmogorov_chance[0])
    gap = moved.law.sel(errors="actual") - moved.law.sel(errors="bootstrap")
    assert float(gap.sel(probability=0.505, method="nearest").item()) == pytest.approx(
        0.2, abs=0.03
    )


# --- the store ----------------------------------------------------------------------------------------------
def test_a_killed_study_goes_on_to_the_same_bits(mixture, tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RUN, str(tmp_path)], env=os.environ
    )
    until = time.monotonic() + 60
    while len(list(tmp_path.glob("*.npz"))) < 3:
        assert child.poll() is None and time.monotonic() < until, (
            "the study ended before it could be killed"
        )
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    finished = len(list(tmp_path.glob("*.npz")))
    assert 3 <= finished < 390
    resumed = fk.studies.coverage(mixture, n_datasets=finished + 5, store=tmp_path, **HOW)
    whole = fk.studies.coverage(mixture, n_datasets=finished + 5, **HOW)
    xr.testing.assert_identical(resumed, whole)


def test_a_finished_study_is_read_from_its_files(mixture, tmp_path, monkeypatch):
    first = fk.studies.coverage(mixture, n_datasets=3, store=tmp_path, **HOW)
    (tmp_path / "data_set_000002.77.part").write_bytes(b"left over by a kill")
    monkeypatch.setattr(Study, "data_set", None)
    again = fk.studies.coverage(mixture, n_datasets=3, store=tmp_path, **HOW)
    xr.testing.assert_identical(first, again)
    smaller = fk.studies.coverage(
        mixture, n_datasets=2, store=tmp_path, methods=("pivotal",), **HOW
    )
    assert smaller.coverage.dims == ("scheme", "method", "level", "far_level")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"replicates": 30}, "replicates 20 there, 30 here"),
        ({"seed": 1}, "seed 0 there"),
        ({"far": [0.1]}, "far"),
    ],
)
def test_a_store_of_another_study_is_refused(mixture, tmp_path, other, words):
    fk.studies.coverage(mixture, n_datasets=2, store=tmp_path, **HOW)
    with pytest.raises(fk.InputError, match=f"other parameters.*{words}"):
        fk.studies.coverage(mixture, n_datasets=2, store=tmp_path, **(HOW | other))


def test_a_store_of_another_population_or_of_other_files_is_refused(mixture, tmp_path):
    Store(tmp_path / "study", plan(mixture).parameters())
    other = fk.vmf.mixture(24, 12, kappa=(10, 40), seed=1)
    with pytest.raises(fk.InputError, match="population"):
        Store(tmp_path / "study", plan(other).parameters())
    with pytest.raises(fk.InputError, match="holds other files"):
        Store(tmp_path, plan(mixture).parameters())
    with pytest.raises(fk.InputError, match="is a file"):
        Store(Path(__file__), plan(mixture).parameters())


def test_a_damaged_file_is_named(mixture, tmp_path):
    fk.studies.coverage(mixture, n_datasets=2, store=tmp_path, **HOW)
    (tmp_path / "data_set_000001.npz").write_bytes(b"PK damaged")
    with pytest.raises(fk.InputError, match="data_set_000001.npz cannot be read"):
        fk.studies.coverage(mixture, n_datasets=2, store=tmp_path, **HOW)


def test_a_study_that_is_interrupted_stops_its_threads_and_keeps_what_is_finished(
    mixture, tmp_path, monkeypatch
):
    begun = []
    draw = Study.data_set

    def counted(self, number):
        begun.append(number)
        if number == 3:
            raise KeyboardInterrupt
        return draw(self, number)

    monkeypatch.setattr(Study, "data_set", counted)
    with pytest.raises(KeyboardInterrupt):
        fk.studies.coverage(mixture, n_datasets=200, store=tmp_path, **HOW)
    assert len(begun) < 100
    assert not any(thread.name.startswith("data sets") for thread in threading.enumerate())
    assert 0 < len(list(tmp_path.glob("*.npz"))) < 100


# --- drawing ------------------------------------------------------------------------------------------------
def test_fixed_identities_stay_and_fresh_ones_change(mixture):
    assert plan(mixture).mixture(0) is plan(mixture).mixture(1) is mixture
    one, other = (plan(LAW, 24).mixture(number) for number in (0, 1))
    assert one.n_identities == 24
    assert not np.allclose(one.concentrations, other.concentrations)
    study = fk.studies.coverage(LAW, n_identities=24, n_datasets=3, **HOW)
    assert study.coverage.shape == (2, 3, 2, 3)


def test_records_do_not_depend_on_the_number_of_data_sets(mixture):
    few, many = (collect(plan(mixture), n, None, progress=False) for n in (2, 4))
    for one, other in zip(few, many):
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[key], other[key]) for key in one)
    assert not np.array_equal(many[0]["image/replicates/frr"], many[1]["image/replicates/frr"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_identities": 30}, "of 24 identities 30 cannot be drawn"),
        ({"measure": "frr_max_min"}, "no exact value in this population without by="),
        ({"measure": "best"}, "no measure is called 'best'"),
        ({"n_datasets": 1}, "at least 2, got 1"),
        ({"per_identity": 1}, "at least 2, one for all"),
        ({"per_identity": [5, 5]}, "each of 24 identities"),
        ({"replicates": 1}, "replicates. must be a whole number of at least 2"),
        ({"schemes": ("images",)}, "unknown scheme 'images'"),
        ({"schemes": "image"}, "sequence of names"),
        ({"methods": ("best",)}, "unknown method 'best'"),
        ({"levels": (0.5, 1.0)}, "got 1.0"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_drawn(mixture, change, words):
    with pytest.raises(fk.InputError, match=words):
        fk.studies.coverage(mixture, **({"n_datasets": 2} | HOW | change))


def test_a_law_needs_the_number_of_identities():
    with pytest.raises(fk.InputError, match="needs n_identities="):
        fk.studies.coverage(LAW, n_datasets=2, **HOW)
    with pytest.raises(fk.InputError, match="Mixture or a vmf IdentityLaw"):
        fk.studies.coverage("mixture", n_datasets=2, **HOW)


def test_rounding_of_an_exact_value_decides_nothing():
    """An interval that ends at the fair value holds it, although the exact ratio is 1 but for its last bit."""
    ends = xr.Dataset(
        {"lower": ("data_set", [1.0, 1.0, 1.01]), "upper": ("data_set", [1.0, 1.5, 1.5])}
    )
    for truth in (1 - 1e-16, 1.0, 1 + 2e-16):
        counted = _counted(ends, xr.DataArray(truth))
        assert float(counted.coverage) == pytest.approx(2 / 3) and float(
            counted.miss_above
        ) == pytest.approx(1 / 3)
        assert float(counted.miss_below) == 0
