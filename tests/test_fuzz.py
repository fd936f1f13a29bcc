"""Damaged files are read or end in an InputError that names the file: never in another error, and soon.

FRKIT_FUZZ=2000 python -m pytest -s tests/test_fuzz.py makes so many mutations per loader in place of a few; the child
process of every file is then a fork of this one, because Python would take most of the time to start.
"""

import gzip
import os
import shutil
import time
import warnings
import zlib
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
import xarray as xr

import frkit as fk
from frkit.base import InputError
from frkit.data import files, trial

MUTATIONS = int(os.environ.get("FRKIT_FUZZ", 0))
SLOW = 2.0  # seconds of work for one file, on top of those that the whole file takes
HUNG = 20.0  # seconds on the clock, on a busy machine; readers in a process of their own are stopped after four of work
MOST_MEMORY = 300  # MB that one file may take, on top of what the whole file takes
N = 8
IDENTITY = [f"p{k // 2}" for k in range(N)]
PAIRS = [
    ("p0", "p0", 1),
    ("p1", "p1", 1),
    ("p0", "p1", 0),
    ("p2", "p0", 0),
    ("p1", "p2", 0),
    ("p2", "p2", 1),
]


def embedding():
    return np.random.default_rng(0).normal(size=(N, 3))


def dataset():
    coords = {"identity": ("image", IDENTITY), "group": ("image", list("aabbaabb"))}
    return xr.Dataset({"embedding": (("image", "feature"), embedding().astype(np.float32))}, coords)


def write_npz(path):
    np.savez_compressed(path, embedding=embedding(), identity=IDENTITY)


def write_npy(path):
    np.save(path, embedding())
    path.with_suffix(".csv").write_text("identity\n" + "\n".join(IDENTITY))


def write_text(path, mark=","):
    rows = [
        mark.join([who, *map(str, row)]) for who, row in zip(IDENTITY, embedding(), strict=True)
    ]
    text = "\n".join([mark.join(["identity", "f0", "f1", "f2"]), *rows]).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def write_tsv(path):
    write_text(path, "\t")


def write_parquet(path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    pd.DataFrame(embedding(), columns=["f0", "f1", "f2"]).assign(identity=IDENTITY).to_parquet(path)


def write_mat(path):
    from scipy.io import savemat

    savemat(
        path,
        {"embedding": embedding(), "identity": np.array(IDENTITY, object)},
        do_compression=True,
    )


def write_mat_hdf5(path):
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("embedding", data=embedding().T).attrs["MATLAB_class"] = np.bytes_(
            "double"
        )
        file.create_dataset("identity", data=np.arange(N)[None] // 2).attrs["MATLAB_class"] = (
            np.bytes_("double")
        )


def write_netcdf(path):
    dataset().to_netcdf(path, engine="h5netcdf")


def write_netcdf3(path):
    dataset().to_netcdf(path, engine="scipy")


def write_zarr(path):
    pytest.importorskip("zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset().to_zarr(path, zarr_format=2, consolidated=False)


def write_zarr_zip(path):
    write_zarr(path.with_name("folder.zarr"))
    shutil.make_archive(str(path.with_suffix("")), "zip", path.with_name("folder.zarr"))


def write_matrix(path):
    rows = [
        ",".join([name, *map(str, row)])
        for name, row in zip(IDENTITY[::2], np.eye(4) + 0.5, strict=True)
    ]
    path.write_text("\n".join([",".join(["", *IDENTITY[::2]]), *rows]))


def write_ids(path):
    np.save(path.with_name("m.npy"), np.eye(N))
    path.write_text("\n".join(IDENTITY))


def write_lines(form):
    def write(path):
        lines = [form.format(a=a, b=b, y=y, s=0.1 * k) for k, (a, b, y) in enumerate(PAIRS)]
        path.write_text("\n".join(lines))

    return write


def write_columns(path):
    head = "p1,p2,id1,id2,label,score"
    lines = [f"{a}_{k},{b}_x{k},{a},{b},{y},{0.1 * k}" for k, (a, b, y) in enumerate(PAIRS)]
    path.write_text("\n".join([head, *lines]))


def write_bob_csv(path):
    head = "probe_subject_id,probe_template_id,bio_ref_subject_id,bio_ref_template_id,score"
    path.write_text(
        "\n".join(
            [head, *(f"{a},{a}_{k},{b},{b}_x,{0.1 * k}" for k, (a, b, _) in enumerate(PAIRS))]
        )
    )


def write_lfw(path):
    path.write_text("1\t2\nann\t1\t2\nbob\t1\t3\nann\t1\tbob\t1\nbob\t2\tcid\t1\n")


def write_evaluation(path):
    faces = fk.faces(embedding(), IDENTITY)
    fk.evaluate(fk.score_tensor(faces), far=[0.2]).to_netcdf(path, engine="h5netcdf")


def open_trials(path):
    return fk.open_pairs(path, format="voxceleb", scores=np.arange(6.0))


def pairs_of(format, **options):
    return lambda path: fk.open_pairs(path, format=format, **options)


COLUMNS = {"probe": "p1", "reference": "p2", "genuine": "label", "score": "score"}
BOB = "{b} {a} {a}/1 {s}"
TEXT = {
    "csv": ("f.csv", write_text, fk.open_faces),
    "tsv": ("f.tsv", write_tsv, fk.open_faces),
    "csv.gz": ("f.csv.gz", write_text, fk.open_faces),
    "matrix": ("m.csv", write_matrix, fk.open_scores),
    "ids": ("i.txt", write_ids, lambda path: fk.open_scores(path.with_name("m.npy"), labels=path)),
    "bob4": ("b.txt", write_lines(BOB), pairs_of("bob4")),
    "bob5": ("b.txt", write_lines("{b} m{b} {a} {a}/1 {s}"), pairs_of("bob5")),
    "bob-csv": ("b.csv", write_bob_csv, pairs_of("bob-csv")),
    "voxceleb": ("v.txt", write_lines("{y} {a}/1/2.wav {b}/3/4.wav"), open_trials),
    "kaldi": ("k.txt", write_lines("{a}-1 {b}-2 {y}"), pairs_of("kaldi", scores=np.arange(6.0))),
    "ijbc": ("i.txt", write_lines("{a} {b} {y}"), pairs_of("ijbc", scores=np.arange(6.0))),
    "lfw": ("pairs.txt", write_lfw, pairs_of("lfw", scores=np.arange(4.0))),
    "bfw": ("bfw.csv", write_columns, pairs_of("bfw", columns=["score"])),
    "columns": ("c.csv", write_columns, pairs_of("columns", columns=COLUMNS)),
}
ARRAYS = {
    "npz": ("f.npz", write_npz, fk.open_faces),
    "npy": ("f.npy", write_npy, fk.open_faces),
    "parquet": ("f.parquet", write_parquet, fk.open_faces),
}
IN_CHILD = {
    "mat 5": ("f.mat", write_mat, fk.open_faces),
    "mat 7.3": ("f.mat", write_mat_hdf5, fk.open_faces),
    "netCDF": ("f.nc", write_netcdf, fk.open_faces),
    "netCDF 3": ("f.nc", write_netcdf3, fk.open_faces),
    "zarr": ("f.zarr", write_zarr, fk.open_faces),
    "zarr.zip": ("f.zarr.zip", write_zarr_zip, fk.open_faces),
    "evaluation": ("e.nc", write_evaluation, fk.open_evaluation),
}
LOADERS = TEXT | ARRAYS | IN_CHILD
FEW = {name: 3 if name in IN_CHILD else 60 for name in LOADERS}


def mutated(data, rng):
    """Bytes changed, cut out, put in, doubled, or the end cut off."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        kind, at = rng.integers(6), int(rng.integers(len(data) + 1))
        many = int(rng.integers(1, 9))
        if kind == 0:
            data[at : at + many] = rng.bytes(len(data[at : at + many]))
        elif kind == 1:
            data[at : at + 1] = [data[at] ^ (1 << int(rng.integers(8)))] if at < len(data) else []
        elif kind == 2:
            del data[at : at + many]
        elif kind == 3:
            data[at:at] = rng.choice(
                [b"\0", b'"', b"\xff\xfe", b"nan", b"1e999", b"\n", b",", b"\xe7", b"\x7f" * 8]
            )
        elif kind == 4:
            data[at:at] = data[at : at + 50]
        else:
            del data[at:]
    return bytes(data)


def forked(command, **_options):
    """Stands in for `subprocess.run` of trial.py: the same work in a fork of this process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, 1)
        try:
            trial.main(Path(command[3]), int(command[4]), int(command[5]))
        except Exception as error:
            os.write(1, " ".join((str(error) or type(error).__name__).split()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        said = pipe.read()
    _, status, used = os.wait4(child, 0)
    forked.memory = max(forked.memory, used.ru_maxrss / 1000)
    return CompletedProcess(command, os.waitstatus_to_exitcode(status), said)


forked.memory = 0.0


def peak():
    """The most memory of this process since the last call, in MB; 0 where the system does not tell."""
    try:
        held = [
            line
            for line in Path("/proc/self/status").read_text().splitlines()
            if line.startswith("VmHWM")
        ]
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0.0
    memory, forked.memory = max(float(held[0].split()[1]) / 1000, forked.memory), 0.0
    return memory


def worked():
    """Seconds of processor time of this process and of its children."""
    return sum(os.times()[:4])


def outcome(load, path):
    """What became of it: "read", "refused", or the error that should not have been raised."""
    began = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load(path)
        found = "read"
    except InputError as error:
        found = "refused" if error.args[0].strip() else "refused without a word"
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    return (
        found
        if time.monotonic() - began < HUNG
        else f"{found}, after {time.monotonic() - began:.0f} s"
    )


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # left open
@pytest.mark.parametrize("name", LOADERS)
def test_damaged_files_are_read_or_refused(tmp_path, name, monkeypatch):
    if MUTATIONS and hasattr(os, "fork"):
        monkeypatch.setattr(files.subprocess, "run", forked)
    file, write, load = LOADERS[name]
    whole = tmp_path / file
    write(whole)
    assert (
        outcome(load, whole) == "read"
    )  # this loads the library, the next time shows what a file takes
    peak()
    began = worked()
    assert outcome(load, whole) == "read"
    usual, held, slowest, largest = worked() - began, peak(), 0.0, 0.0
    parts = (
        sorted(part for part in whole.rglob("*") if part.is_file()) if whole.is_dir() else [whole]
    )
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    counts, bad = {"read": 0, "refused": 0}, []
    for number in range(MUTATIONS or FEW[name]):
        part = parts[int(rng.integers(len(parts)))]
        kept = part.read_bytes()
        part.write_bytes(mutated(kept, rng))
        began = worked()
        found = outcome(load, whole)
        more, memory = worked() - began - usual, peak() - held
        slowest, largest = max(slowest, more), max(largest, memory)
        part.write_bytes(kept)
        if more > SLOW or memory > MOST_MEMORY:
            found += f", {more:.1f} s, {memory:.0f} MB"
        if found in counts:
            counts[found] += 1
        else:
            bad.append((number, part.name, found))
    print(name, counts, len(bad), f"slowest {slowest:.2f} s, largest {largest:.0f} MB")
    assert bad == [], f"{len(bad)} of {MUTATIONS or FEW[name]}; the rest {counts}"
