"""The demo data are what their script makes and their card says."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import frkit as fk

DATA = Path(__file__).resolve().parent.parent / "data"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_demo", DATA / "make_demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(script):
    return script.faces()


@pytest.fixture(scope="module")
def truth():
    with xr.open_dataset(DATA / "demo_truth.nc", engine="h5netcdf") as stored:
        return stored.load()


def test_the_folder_is_small():
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 5e6


def test_stored_faces_are_those_of_the_script(made):
    with np.load(DATA / "demo_faces.npz", allow_pickle=False) as stored:
        np.testing.assert_allclose(stored["embedding"], made.embedding.values, atol=1e-6)
        for name in ("identity", "image", "model", "gender", "race", "age"):
            np.testing.assert_array_equal(stored[name], made[name].values)
        assert stored["image_attributes"].tolist() == ["age"]


def test_sizes_are_those_of_the_card(made):
    _, counts = np.unique(made.identity, return_counts=True)
    assert dict(made.sizes) == {"model": 3, "image": 2809, "feature": 64}
    assert (len(counts), counts.min(), np.median(counts), counts.max()) == (360, 2, 7, 20)


def test_age_varies_within_some_identities_and_nothing_else_does(made):
    table = made.drop_vars("embedding").to_dataframe().groupby("identity")
    assert 0.4 < (table["age"].nunique() > 1).mean() < 0.5
    assert table["gender"].nunique().max() == table["race"].nunique().max() == 1


def test_stored_truth_is_that_of_the_script(script, truth):
    xr.testing.assert_allclose(truth, script.truth(), rtol=1e-9)
    assert float(truth.error_bound.max()) < 1e-9


def test_two_encoders_are_close_and_one_is_worse(truth):
    frr = truth.frr.sel(far_level=[1e-5, 1e-4, 1e-3], method="nearest")
    assert np.all(np.abs(frr.sel(model="Birch") / frr.sel(model="Ash") - 1) < 0.08)
    assert np.all(frr.sel(model="Cedar") > 2 * frr.sel(model="Ash"))
    assert np.all((0.02 < frr) & (frr < 0.35))


def test_disparities_are_built_in(truth):
    at = truth.sel(model="Ash").sel(far_level=1e-3, method="nearest")
    assert float(at.frr_group.sel(group="female") / at.frr_group.sel(group="male")) > 1.5
    assert float(at.far_group.sel(group="African") / at.far_group.sel(group="Caucasian")) > 2
    assert float(at.frr_group.sel(group="Asian") / at.frr_group.sel(group="Caucasian")) > 3


def test_stored_evaluation_is_that_of_the_faces(script, made):
    with xr.open_datatree(DATA / "demo_evaluation.nc", engine="h5netcdf") as tree:
        stored, draws = tree["empirical"].to_dataset().load(), tree["replicates"].sizes["replicate"]
    found = fk.evaluate(fk.score_tensor(made), far=script.FAR, by="gender")[
        "empirical"
    ].to_dataset()
    assert draws == 200
    for name in ("threshold", "frr", "far", "far_group", "frr_group"):
        np.testing.assert_allclose(found[name], stored[name], rtol=1e-5)


def test_the_data_meet_their_truth(made, truth, script):
    """Counted FAR at the exact thresholds, within a few times its spread."""
    for model in ("Ash", "Cedar"):
        at = truth.sel(model=model).sel(far_level=[1e-2, 1e-3], method="nearest")
        scores = fk.score_tensor(made.sel(model=[model]))
        found = fk.evaluate(scores, threshold=at.threshold.values)["empirical"].to_dataset()
        np.testing.assert_allclose(found.far.values.ravel(), at.far, rtol=0.1)
        np.testing.assert_allclose(found.frr.values.ravel(), at.frr, rtol=0.25)


def test_demo_data_have_functions_of_their_own():
    xr.testing.assert_identical(fk.demo_faces(), fk.open_faces(DATA / "demo_faces.npz"))
    xr.testing.assert_identical(
        fk.demo_evaluation(), fk.open_evaluation(DATA / "demo_evaluation.nc")
    )


def test_demo_data_come_with_the_wheel(tmp_path):
    """Built as pip builds it, unpacked where there is no checkout."""
    build = pytest.importorskip("hatchling.build")
    here = os.getcwd()
    try:
        os.chdir(DATA.parent)
        wheel = build.build_wheel(str(tmp_path))
    finally:
        os.chdir(here)
    with zipfile.ZipFile(tmp_path / wheel) as archive:
        archive.extractall(tmp_path / "site")
        data = sorted(name for name in archive.namelist() if name.startswith("frkit/demo/"))
        files = [path.name for path in DATA.iterdir() if path.suffix in (".nc", ".npz", ".csv")]
        assert data == sorted(f"frkit/demo/{name}" for name in files)
    code = "import frkit as fk; print(fk.__file__, *fk.demo_faces().sizes.values(), *fk.demo_evaluation().children)"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert answer.returncode == 0, answer.stderr
    where, *rest = answer.stdout.split()
    assert Path(where).is_relative_to(tmp_path) and rest[:4] == ["3", "2809", "64", "empirical"]


def test_a_demo_that_was_lost_says_so(monkeypatch):
    from frkit.data import opening

    monkeypatch.setattr(opening, "__file__", "/nowhere/frkit/data/opening.py")
    with pytest.raises(fk.InputError, match="demo_faces.npz did not come with this installation"):
        fk.demo_faces()


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")  # few errors at the highest levels
@pytest.mark.parametrize("measure", ["frr", "frr_max_min"])
@pytest.mark.parametrize("target", ["these people", "new people"])
def test_the_stored_evaluation_has_the_default_intervals(script, made, measure, target):
    fresh = fk.evaluate(fk.score_tensor(made.sel(model=["Cedar"])), far=script.FAR, by="gender")
    stored, own = (fk.band(ev, measure, target=target) for ev in (fk.demo_evaluation(), fresh))
    stored = stored.sel(model=["Cedar"])
    assert (
        stored.attrs["method"] == own.attrs["method"]
        and stored.attrs["target"] == own.attrs["target"]
    )
    for end in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(stored[end], own[end], rtol=1e-3)
