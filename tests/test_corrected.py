"""The corrected interval by hand, what `auto` takes, and what is refused."""

import warnings
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
import xarray as xr
from trees import FAR, tree

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
N = 50
DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def evaluation():
    """An evaluation made by hand, with all that the corrected interval reads."""
    rng = np.random.default_rng(3)
    found = tree(copies=True)
    dims, moved = ("replicate", "far_level"), rng.normal(0, 0.01, (N, 4))
    data = found["empirical"].frr.values + moved
    far = FAR * (1 - 5 * moved)
    empirical = {"frr_variance": ("far_level", [4e-4, 3e-4, 2e-4, 0.0]), "far_variance": ("far_level", 1e-4 * FAR**2)}
    replicates = {"far_data": (dims, far), "frr_data": (dims, data), "frr_rescaled": (dims, data + moved / 3)}
    found["empirical"] = found["empirical"].to_dataset().assign(empirical)
    found["replicates"] = found["replicates"].to_dataset().assign(replicates)
    return found


def ends_by_hand(evaluation, level, nominal):
    """The formula of the module's docstring, in sums."""
    found = evaluation["empirical"].to_dataset().isel(far_level=level)
    each = evaluation["replicates"].to_dataset().isel(far_level=level)
    moved, own = each.frr_data.values, each.frr_rescaled.values - each.frr_data.values
    mean = lambda values: sum(values) / len(values)  # noqa: E731
    var = lambda x, y: sum((x - mean(x)) * (y - mean(y))) / (len(x) - 1)  # noqa: E731
    scale = float(found.far_variance) / var(each.far_data.values, each.far_data.values)
    own_scale = float(found.frr_variance) / var(own, own)
    variance = float(found.frr_variance) + scale * var(moved, moved)
    variance += 2 * (scale * own_scale) ** 0.5 * var(moved, own)
    theta, z = float(found.frr), NormalDist().inv_cdf((1 + nominal) / 2)
    u = variance / theta
    root, half = (theta + 3 * u / 8) ** 0.5, z * u**0.5 / 2
    return [(root - half) ** 2 - 3 * u / 8, (root + half) ** 2 - 3 * u / 8]


@pytest.mark.parametrize("nominal", [0.5, 0.95])
def test_ends_equal_the_formula(evaluation, nominal):
    band = fk.band(evaluation, "frr", method="corrected", level=nominal)
    for level in range(FAR.size):
        found = [float(band.lower[level]), float(band.upper[level])]
        np.testing.assert_allclose(found, ends_by_hand(evaluation, level, nominal), rtol=1e-12)
    assert band.attrs["method"] == "corrected"


def test_ten_errors_on_paper(evaluation):
    """FRR .1 with variance .001 and no part of the threshold: ten errors, so √(10 + 3/8) ± 1.96/2 errors."""
    evaluation["empirical"] = evaluation["empirical"].to_dataset().assign(frr_variance=("far_level", [0.001] * 4))
    still = evaluation["replicates"].to_dataset().assign(frr_data=lambda one: 0 * one.frr_data + 0.1)
    evaluation["replicates"] = still
    band = fk.band(evaluation, "frr", method="corrected").isel(far_level=2)
    np.testing.assert_allclose([band.lower, band.upper], [0.046473, 0.172734], atol=1e-6)


def test_several_models_are_done_one_by_one(evaluation):
    nodes = {}
    for name, child in evaluation.children.items():
        one = child.to_dataset()
        nodes[name] = xr.concat(
            [one, one.assign(frr=1.5 * one.frr)], dim=xr.Variable("model", ["A", "B"]), data_vars="all"
        )
    both = xr.DataTree.from_dict(nodes)
    both.attrs = dict(evaluation.attrs)
    np.testing.assert_allclose(
        fk.band(both, "frr", method="corrected").lower.sel(model="A"),
        fk.band(evaluation, "frr", method="corrected").lower,
    )


def test_it_warns_where_nobody_has_four_images(evaluation):
    for most, warns in ((3, True), (4, False)):
        evaluation.attrs["provenance"] = tree(copies=True, images_per_identity=[2, 2.0, most]).attrs["provenance"]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fk.band(evaluation, "frr", method="corrected")
        assert any("difficult person" in str(one.message) for one in caught) == warns
        assert not any("covers less than its level" in str(one.message) for one in caught)


def test_where_nothing_is_rejected_the_interval_is_zero(evaluation):
    evaluation["empirical"] = evaluation["empirical"].to_dataset().map(np.zeros_like)
    evaluation["replicates"] = evaluation["replicates"].to_dataset().map(np.zeros_like)
    band = fk.band(evaluation, "frr", method="corrected")
    assert band.lower.values.tolist() == band.upper.values.tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("measure", "known", "method"),
    [
        ("frr", {}, "corrected"),
        ("frr", {"copies": False}, "recentered"),
        ("threshold", {}, "recentered"),
        (lambda rates: rates.frr**2, {}, "rescaled"),
        (lambda rates: rates.eer, {}, "recentered"),
        ("ratio_for_auto", {}, "pivotal"),
    ],
)
def test_auto_takes_what_fits_and_says_why(evaluation, measure, known, method):
    fk.measures.register("ratio_for_auto", scale="log", fair=1.0)(lambda rates: 1 + rates.frr)
    for name in ("empirical", "vstatistic", "replicates"):
        evaluation[name] = (
            evaluation[name].to_dataset().assign(eer=evaluation[name].frr, threshold=evaluation[name].frr)
        )
    if known:
        evaluation.attrs["provenance"] = tree(**known).attrs["provenance"]
    band = fk.band(evaluation, measure, method="auto")
    assert band.attrs["method"] == method and len(band.attrs["rule"]) > 10
    named = fk.band(evaluation, measure, method=method)
    np.testing.assert_array_equal(band.lower, named.lower)
    assert "rule" not in named.attrs


def test_without_variances_corrected_is_refused_and_auto_takes_another():
    with pytest.raises(fk.InputError, match="no variances over draws of images.*method='auto'"):
        fk.band(tree(), "frr", method="corrected")
    assert fk.band(tree(), "frr", method="auto").attrs["method"] == "recentered"


@pytest.mark.parametrize("measure", ["frr_group", "far"])
def test_other_measures_are_refused(evaluation, measure):
    frr = evaluation["replicates"].frr
    for name in ("empirical", "vstatistic", "replicates"):
        one = evaluation[name].to_dataset()
        evaluation[name] = one.assign(frr_group=one.frr, far=0 * one.frr + 0.5)
    assert frr.sizes["replicate"] == N
    with pytest.raises(fk.InputError, match="known for 'frr' alone"):
        fk.band(evaluation, measure, method="corrected")


def test_a_difference_has_no_corrected_interval(evaluation):
    with pytest.raises(fk.InputError, match="rates of one model"):
        fk.compare(evaluation, evaluation, "frr", method="corrected")
    assert fk.compare(evaluation, evaluation, "frr", method="auto").attrs["method"] == "rescaled"


def test_bands_at_fixed_thresholds():
    mix = fk.vmf.mixture(40, 32, kappa=(20, 60), seed=0)
    scores = fk.score_tensor(mix.sample(4, seed=1))
    ev = fk.evaluate(scores, threshold=[0.3, 0.5], resampling=fk.Resampling("image", n=60, seed=0))
    assert "far_data" not in ev["replicates"]
    assert fk.band(ev, "far", method="auto").attrs["method"] == "recentered"
    band, found = fk.band(ev, "frr", method="auto"), ev["empirical"].to_dataset()
    assert band.attrs["method"] == "corrected"
    one_error = found.frr_variance / found.frr
    spread = found.frr_variance + 3 / 8 * one_error**2
    np.testing.assert_allclose((band.upper - band.lower) / 2, 1.959964 * np.sqrt(spread), rtol=1e-6)


def test_with_two_images_it_holds_where_the_papers_interval_fails():
    """40 data sets of 300 identities with two images: FRR .19 at FAR 1e-3; exact truth."""
    mix = fk.vmf.mixture(300, 64, kappa=(50, 100), seed=0)
    methods = ("recentered", "corrected", "auto")
    how = {"n_datasets": 40, "per_identity": 2, "far": [1e-3], "methods": methods, "levels": (0.95,), "replicates": 100}
    study = fk.studies.coverage(mix, **how, progress=False)
    paper, ours, auto = study.coverage.values.ravel()
    assert ours == auto >= 0.875
    assert paper < 0.85 and paper < ours


def test_the_stored_comparison_says_what_the_data_card_says():
    """Of the places with ten expected errors of either kind: how many lie within .92 to .98, and the extremes."""
    with xr.open_dataset(DATA / "methods_coverage.nc", engine="h5netcdf") as study:
        study = study.sel(level=0.95).load()
    resolved = (study.false_rejects >= 10) & (study.false_accepts >= 10)
    covers = {name: study.coverage.sel({"method": name}).where(resolved) for name in ("auto", "recentered")}
    within = {name: int(((share > 0.9199) & (share < 0.9801)).sum()) for name, share in covers.items()}
    assert (int(resolved.sum()), within) == (129, {"auto": 113, "recentered": 67})
    assert [round(float(end), 3) for end in (covers["auto"].min(), covers["auto"].max())] == [0.9, 0.995]
    few = covers["auto"].sel(per_identity=["2", "3"])
    assert int((few > 0.9801).sum()) == 11 and int((few < 0.9199).sum()) == 0
