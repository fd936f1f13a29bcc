"""What would take all memory, or for ever, is refused; what crashes a library's reader is refused; disks may fail."""

import builtins
import errno
import os
import subprocess
import sys
import time
import zipfile

import h5py
import numpy as np
import pytest
import xarray as xr

import frkit as fk
from frkit.base import InputError
from frkit.studies.store import Store

# One group of four people, labelled at random, has its equal error rate among the bulk of the scores.
BAD_GROUP = """
import sys, resource
import numpy as np, frkit as fk, xarray
rng = np.random.default_rng(0)
people, n = 600, 6000
centre = rng.normal(size=(people, 32)).astype("float32")
embedding = np.repeat(centre, 10, 0) + rng.normal(size=(n, 32)).astype("float32")
group = np.repeat(["a", "b"], n // 2).astype(object)
group[:40], embedding[:40] = "bad", rng.normal(size=(40, 32))
scores = fk.score_tensor(fk.faces(embedding, np.repeat(np.arange(people), 10), group=group))
few = scores.isel(probe=slice(200), reference=slice(200))
fk.evaluate(few, far=[0.01], by="group", resampling=fk.Resampling("image", n=2))  # all is imported and compiled
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ev = fk.evaluate(scores, far=[0.01, 0.5, 0.9], by="group", resampling=fk.Resampling("image", n=200))
assert ev["empirical"].eer_group.sel(group="bad") > 0.4
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_bad_group_and_levels_in_the_bulk_take_little_memory():
    """Six thousand images have 18 million pairs: kept one by one they would take a gigabyte."""
    pytest.importorskip("resource")
    answer = subprocess.run([sys.executable, "-W", "ignore", "-c", BAD_GROUP], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert int(answer.stdout) / 1000 < 400


def faces():
    return fk.vmf.mixture(12, 8, seed=0).sample(3, seed=0)


HUGE = {
    "bins": (lambda: fk.evaluate(fk.score_tensor(faces()), histogram=10**9), "must be a number of bins up to 100,000"),
    "replicates": (
        lambda: fk.evaluate(fk.score_tensor(faces()), resampling=fk.Resampling("image", n=10**9)),
        "would take 96 GB of memory, the limit is 8 GB: 1,000,000,000 replicates of 36 images",
    ),
    "concentration": (lambda: fk.vmf.mixture(5, 8, kappa=1e12), "concentrations must be at most 1e.07, got 1e.12"),
}  # fmt: skip


@pytest.mark.parametrize("name", HUGE)
def test_what_would_take_for_ever_is_refused_at_once(name):
    call, message = HUGE[name]
    began = time.process_time()
    with pytest.raises(InputError, match=message):
        call()
    assert time.process_time() - began < 5


def test_a_small_archive_that_unpacks_to_a_large_one_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "f.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("embedding.npy", "w") as entry:
            for _ in range(300):
                entry.write(bytes(1_000_000))
    with pytest.raises(InputError, match=r"it unpacks to 0.3 GB, the limit for a file of its size is 0.2 GB"):
        fk.open_faces(tmp_path / "f.npz")


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "f.npz")
    for name in ("f.npz", "f.mat", "f.nc"):
        if name != "f.npz":
            os.mkfifo(tmp_path / name)
        with pytest.raises(InputError, match=f"{name}: is neither a file nor a folder"):
            fk.open_faces(tmp_path / name)


def linked_in_a_circle(file, other):
    file.create_group("a")["b"] = file


def linked_softly(file, other):
    file["x"] = h5py.SoftLink("/x")


def linked_outside(file, other):
    file["x"] = h5py.ExternalLink(str(other), "/x")


def stored_outside(file, other):
    file.create_dataset("x", (4,), "u1", external=[(str(other), 0, 4)])


def virtual(file, other):
    layout = h5py.VirtualLayout((4,), "u1")
    layout[:] = h5py.VirtualSource(str(other), "x", (4,))
    file.create_virtual_dataset("x", layout)


def declared_huge(file, other):
    file.create_dataset("x", (10**12,), "f8", chunks=(10**6,))


HDF5 = {
    linked_in_a_circle: "its groups link to one another in a circle",
    linked_softly: "'x' is a link to another place or file",
    linked_outside: "'x' is a link to another place or file",
    stored_outside: "the values of 'x' are in another file",
    virtual: "the values of 'x' are in another file",
    declared_huge: "it unpacks to 8e.03 GB, the limit for a file of its size is 0.2 GB",
}


@pytest.mark.parametrize("make", HDF5, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", ["f.nc", "f.mat"])
def test_hdf5_reads_no_other_file_and_comes_to_an_end(tmp_path, make, name):
    (tmp_path / "secret").write_bytes(b"key!")
    with h5py.File(tmp_path / name, "w") as file:
        make(file, tmp_path / "secret")
    with pytest.raises(InputError, match=f"{name}: .*{HDF5[make]}"):
        fk.open_faces(tmp_path / name)


def test_text_in_another_code_is_named(tmp_path):
    for code, word in (("latin-1", "Latin-1"), ("utf-16", "UTF-16")):
        (tmp_path / "f.csv").write_bytes("identity,f0\nçy,1\n".encode(code))
        with pytest.raises(InputError, match=f"f.csv: not UTF-8 text but, it seems, {word}"):
            fk.open_faces(tmp_path / "f.csv")


def test_a_store_passes_over_what_was_half_written(tmp_path):
    part = tmp_path / "study.123.part"
    part.write_bytes(b"{")
    store = Store(tmp_path, {"seed": 1})
    assert part.exists()  # it is young: another process may be writing it
    store.write(0, {"x": np.arange(3)})
    os.utime(part, (0, 0))
    store = Store(tmp_path, {"seed": 1})
    assert not part.exists() and store.finished(1)[0]["x"].tolist() == [0, 1, 2]


def test_damaged_files_of_a_store_are_named(tmp_path):
    store = Store(tmp_path, {"seed": 1})
    for content in (b"", b"no archive", b"PK\3\4"):
        store.path(0).write_bytes(content)
        with pytest.raises(InputError, match="data_set_000000.npz cannot be read .*delete it"):
            store.finished(1)
    for content in ("", "[1, 2]", "{", "\xff"):
        (tmp_path / "study.json").write_text(content, encoding="latin-1")
        with pytest.raises(InputError, match="study.json cannot be read .*give another store"):
            Store(tmp_path, {"seed": 1})


def test_a_full_disk_is_named_and_loses_nothing(tmp_path, monkeypatch):
    store = Store(tmp_path, {"seed": 1})
    store.write(0, {"x": np.arange(3)})

    def full(*arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(InputError, match=r"data_set_000001.npz cannot be written .No space left.*what is finished"):
        store.write(1, {"x": np.arange(3)})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data_set_000000.npz", "study.json"]
    assert list(store.finished(2)) == [0]


def test_what_images_add_stays_in_the_file_of_a_finished_data_set(tmp_path):
    store, large, small = Store(tmp_path, {"seed": 1}), "image/influence/accepted", "image/empirical/far"
    written = store.write(0, {large: np.arange(3.0), small: np.ones(2)})
    for record in (written, store.finished(1)[0]):
        assert set(record) == {small} and record[large].tolist() == [0, 1, 2]
        with pytest.raises(InputError, match="cannot be read"):
            record["image/influence/square"]


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_disk_that_cannot_be_written_is_named_and_loses_nothing(tmp_path, monkeypatch, number):
    store = Store(tmp_path, {"seed": 1})
    store.write(0, {"x": np.arange(3)})
    there = builtins.open

    def refused(path, mode="r", **more):
        if "w" in mode:
            raise OSError(number, os.strerror(number), path)
        return there(path, mode, **more)

    monkeypatch.setattr(builtins, "open", refused)
    with pytest.raises(InputError, match=r"data_set_000001.npz cannot be written .*what is finished is kept"):
        store.write(1, {"x": np.arange(3)})
    assert list(Store(tmp_path, {"seed": 1}).finished(2)) == [0]  # what is there can be read from there


def test_an_evaluation_comes_back_from_its_file(tmp_path):
    ev = fk.evaluate(fk.score_tensor(faces()), far=[0.1])
    ev.to_netcdf(tmp_path / "ev.nc", engine="h5netcdf")
    again = fk.open_evaluation(tmp_path / "ev.nc")
    xr.testing.assert_identical(again["empirical"].to_dataset(), ev["empirical"].to_dataset())
