"""Embeddings of an .npy or a Zarr store stay on disk, and give the same bits as in memory."""

import warnings

import dask.array as da
import numpy as np
import pytest
import xarray as xr
from refusals import refused

import frkit as fk
from frkit.data import checks
from frkit.scores import tensor

N = 600
PEOPLE = np.random.default_rng(1).normal(size=(N // 6, 5))
VALUES = np.random.default_rng(0).normal(size=(N, 5)) + PEOPLE.repeat(6, 0)
WHO = [f"p{k // 6}" for k in range(N)]
GENDER = ["f", "m"] * (N // 2)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    for module in (checks, tensor):
        monkeypatch.setattr(module, "ROWS", 64)


def in_memory(values=VALUES, **more):
    return fk.faces(values, WHO, gender=GENDER, **more)


def write_npy(path, values=VALUES):
    np.save(path / "faces.npy", values)
    rows = [f"{who},{gender}" for who, gender in zip(WHO, GENDER, strict=True)]
    (path / "faces.csv").write_text("\n".join(["identity,gender", *rows]))
    return path / "faces.npy"


def write_zarr(path, values=VALUES):
    pytest.importorskip("zarr")
    faces = in_memory().assign(embedding=(("image", "feature"), values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fixed-length text in Zarr 3
        faces.chunk(image=50).to_zarr(path / "faces.zarr")
    return path / "faces.zarr"


def open_npy(path, values=VALUES):
    return fk.open_data(write_npy(path, values), labels=path / "faces.csv")


def open_zarr(path, values=VALUES):
    return fk.faces(xr.open_zarr(write_zarr(path, values)))


READERS = {"npy": open_npy, "zarr": open_zarr}


@pytest.mark.slow
@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize("kind", READERS)
def test_results_are_the_same_to_the_bit(tmp_path, kind, similarity):
    stored = READERS[kind](tmp_path)
    assert isinstance(stored.embedding.data, da.Array)
    # a Zarr store has names of images
    names = {"image": stored.image.values} if kind == "zarr" else {}
    resampling = fk.Resampling("image", n=5)
    options = dict(far=[1e-3, 1e-1], by="gender", varying="keep", resampling=resampling)
    trees = []
    for faces in (in_memory(**names), stored):
        trees.append(fk.evaluate(fk.score_tensor(faces, similarity), **options))
    assert trees[0].attrs == trees[1].attrs
    for name in trees[0].children:
        xr.testing.assert_identical(trees[0][name].to_dataset(), trees[1][name].to_dataset())


PARTS = [
    (slice(3, 130), slice(64, 128)),
    (slice(0, 0), slice(5, 6)),
    ([1, 70, 599], slice(None)),
    (slice(9, 400, 7), [5]),
]
SIMILARITIES = ["cosine", "euclidean", lambda a, b: a @ b.T]


@pytest.mark.parametrize("similarity", SIMILARITIES, ids=["cosine", "euclidean", "own"])
def test_any_part_is_that_of_the_scores_in_memory(tmp_path, similarity):
    stored = fk.score_tensor(open_npy(tmp_path), similarity)
    whole = fk.score_tensor(in_memory(), similarity)
    for probe, reference in PARTS:
        part = {"probe": probe, "reference": reference}
        np.testing.assert_array_equal(stored.isel(part), whole.isel(part), err_msg=str(part))


def test_encoders_that_are_stacked_stay_on_disk_too(tmp_path):
    pytest.importorskip("zarr")
    both = fk.open_data({"A": in_memory(), "B": in_memory(VALUES[:, ::-1] + 1)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both.to_zarr(tmp_path / "faces.zarr")
    stored = fk.faces(xr.open_zarr(tmp_path / "faces.zarr"))
    assert isinstance(stored.embedding.data, da.Array)
    for similarity in ("cosine", "euclidean"):
        ours, theirs = fk.score_tensor(both, similarity), fk.score_tensor(stored, similarity)
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(ours.isel(model=1), theirs.isel(model=1))


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize(("value", "message"), [(np.nan, "row 70, column 2"), (0, "row 70")])
def test_a_bad_row_on_disk_is_named(tmp_path, kind, value, message):
    values = VALUES.copy()
    values[70, 2 if value else slice(None)] = value
    with refused(message):
        READERS[kind](tmp_path, values)


def test_a_file_that_went_away_is_named(tmp_path):
    scores = fk.score_tensor(open_npy(tmp_path))
    (tmp_path / "faces.npy").unlink()
    with pytest.raises(fk.InputError, match=r"faces\.npy"):
        fk.evaluate(scores, far=[0.1])
