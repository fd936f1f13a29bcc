"""Simultaneous bands: sup-t by hand, wider than pointwise ones, and only for what runs over levels."""

import numpy as np
import pytest
import xarray as xr
from engine_cases import people
from test_intervals import quantile_by_hand, sd_by_hand

import frkit as fk


@pytest.fixture(scope="module")
def evaluation():
    faces = people([6, 7, 9, 5, 8, 6, 10, 7, 6, 8, 9, 6], groups=["a", "b", "c"], dim=3)
    return fk.evaluate(
        fk.score_tensor(faces), far=(0.1, 0.25), by="gender", resampling=fk.Resampling("image", n=12, seed=3)
    )


def test_a_simultaneous_band_by_hand():
    rng = np.random.default_rng(0)
    far = np.array([0.01, 0.03, 0.1])
    data, centre = np.array([0.4, 0.3, 0.1]), np.array([0.38, 0.28, 0.09])
    replicates = centre * rng.normal(1, 0.05, (40, 3))
    tree = xr.DataTree.from_dict(
        {
            "empirical": xr.Dataset({"frr": ("far_level", data), "resolved": ("far_level", [True, True, False])}),
            "vstatistic": xr.Dataset({"frr": ("far_level", centre)}),
            "replicates": xr.Dataset({"frr": (("replicate", "far_level"), replicates)}),
        }
    ).map_over_datasets(lambda node: node.assign_coords(far_level=far) if node.data_vars else node)
    tree.attrs["provenance"] = '{"scheme": "image", "n": 40, "target": "", "n_images": 30, "n_identities": 3}'
    with pytest.warns(fk.DataWarning, match="fewer than ten errors"):
        band = fk.band(tree, "frr", simultaneous=True, level=0.9)
    shift = 3 / (8 * 135)  # 3 identities with 10 images: 3 * 45 genuine pairs
    root = lambda rate: (rate + shift) ** 0.5  # noqa: E731
    gaps = [[root(row[k]) - root(centre[k]) for row in replicates] for k in range(3)]
    sds = [sd_by_hand(gap) for gap in gaps]
    largest = [max(abs(gaps[k][b]) / sds[k] for k in range(2)) for b in range(40)]
    critical = quantile_by_hand(largest, 0.9)
    for k in range(3):
        ends = [(root(data[k]) + sign * critical * sds[k]) ** 2 - shift for sign in (-1, 1)]
        np.testing.assert_allclose([band.lower[k], band.upper[k]], ends)
    assert band.attrs["method"] == "sup-t"


@pytest.mark.filterwarnings("ignore:fewer than ten errors:frkit.DataWarning")
def test_a_simultaneous_band_is_wider(evaluation):
    for name in ("frr", "frr_max_min", "frr_gini"):
        at_once, alone = fk.band(evaluation, name, simultaneous=True), fk.band(evaluation, name, method="influence")
        assert bool((at_once.upper - at_once.lower > alone.upper - alone.lower).all())
        assert at_once.estimate.dims == ("far_level",)


@pytest.mark.filterwarnings("ignore:fewer than ten errors:frkit.DataWarning")
def test_a_simultaneous_band_of_two_models_is_that_of_each():
    faces = people([6] * 10, groups=["f", "m"])
    scores = fk.score_tensor(fk.stack_models({"a": faces, "b": faces.assign(embedding=faces.embedding**3)}))
    both = fk.band(fk.evaluate(scores, far=(0.1, 0.25)), "frr", simultaneous=True)
    for model in ("a", "b"):
        one = fk.band(fk.evaluate(scores.sel(model=model), far=(0.1, 0.25)), "frr", simultaneous=True)
        np.testing.assert_allclose(both.sel(model=model)["upper"], one["upper"], rtol=1e-9)


def test_a_simultaneous_band_needs_levels_and_takes_no_method(evaluation):
    with pytest.raises(fk.InputError, match="runs over levels, but 'eer'"):
        fk.band(evaluation, "eer", simultaneous=True)
    with pytest.raises(fk.InputError, match="leave method out"):
        fk.band(evaluation, "frr", simultaneous=True, method="naive")
