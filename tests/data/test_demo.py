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
from paths import ROOT

import frkit as fk

DATA = ROOT / "data"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_demo", DATA / "make_demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def scripted(script):
    return script.faces()


@pytest.fixture(scope="module")
def truth():
    with xr.open_dataset(DATA / "demo_truth.nc", engine="h5netcdf") as stored:
        return stored.load()


def test_stored_faces_are_those_of_the_script_and_its_card(scripted):
    faces = fk.demo_faces()
    np.testing.assert_allclose(faces.embedding, scripted.embedding, atol=1e-6)
    for name in ("identity", "image", "model", "gender", "race", "age"):
        np.testing.assert_array_equal(faces[name], scripted[name])
    _, counts = np.unique(faces.identity, return_counts=True)
    assert dict(faces.sizes) == {"model": 3, "image": 2809, "feature": 64}
    assert (len(counts), counts.min(), np.median(counts), counts.max()) == (360, 2, 7, 20)
    people = scripted.drop_vars("embedding").to_dataframe().groupby("identity")
    assert 0.4 < (people["age"].nunique() > 1).mean() < 0.5
    assert people["gender"].nunique().max() == people["race"].nunique().max() == 1


@pytest.mark.slow
def test_stored_truth_is_that_of_the_script(script, truth):
    xr.testing.assert_allclose(truth, script.truth(), rtol=1e-9)
    assert float(truth.error_bound.max()) < 1e-9


@pytest.mark.slow
def test_the_data_meet_their_truth(scripted, truth):
    """Counted FAR at the exact thresholds, within a few times its spread."""
    exact = truth.sel(model="Cedar").sel(far_level=[1e-2, 1e-3], method="nearest")
    scores = fk.score_tensor(scripted.sel(model=["Cedar"]))
    rates = fk.evaluate(scores, threshold=exact.threshold.values)["empirical"].to_dataset()
    np.testing.assert_allclose(rates.far.values.ravel(), exact.far, rtol=0.1)
    np.testing.assert_allclose(rates.frr.values.ravel(), exact.frr, rtol=0.25)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")  # few errors at the highest levels
def test_stored_evaluation_is_that_of_the_faces_with_its_intervals(script, scripted):
    stored = fk.demo_evaluation()
    assert stored["replicates"].sizes["replicate"] == 200
    fresh = fk.evaluate(fk.score_tensor(scripted.sel(model=["Cedar"])), far=script.FAR, by="gender")
    rates, old = (tree["empirical"].to_dataset() for tree in (fresh, stored))
    for name in ("threshold", "frr", "far", "far_group", "frr_group"):
        np.testing.assert_allclose(rates[name], old[name].sel(model=["Cedar"]), rtol=1e-5)
    for measure, target in (("frr", "these people"), ("frr_max_min", "new people")):
        old, new = (fk.band(tree, measure, target=target) for tree in (stored, fresh))
        assert old.attrs["method"] == new.attrs["method"]
        for end in ("estimate", "lower", "upper"):
            np.testing.assert_allclose(old[end].sel(model=["Cedar"]), new[end], rtol=1e-3)


@pytest.mark.slow
def test_demo_data_come_with_the_wheel(tmp_path, monkeypatch):
    """Built as pip builds it, unpacked where there is no checkout."""
    build = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(DATA.parent)
    wheel = build.build_wheel(str(tmp_path))
    with zipfile.ZipFile(tmp_path / wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = "import frkit as fk; print(fk.__file__, *fk.demo_faces().sizes.values())"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    where, *sizes = answer.stdout.split()
    assert Path(where).is_relative_to(tmp_path) and sizes == ["3", "2809", "64"]


def test_labels_stand_in_the_order_of_the_file(tmp_path):
    """And not in another one in each process: the app chooses the first."""
    names = [f"age {number}" for number in (3, 1, 4, 0, 5, 9, 2, 6)]
    arrays = {"embedding": np.eye(4), "identity": ["a", "a", "b", "b"]}
    np.savez(tmp_path / "faces.npz", **arrays, **dict.fromkeys(names, ["x", "x", "y", "y"]))
    coords = [*fk.open_data(tmp_path / "faces.npz").coords]
    assert [name for name in coords if name.startswith("age")] == names
