"""Damaged files are read or end in an InputError that names the file, never in another error.

FRKIT_FUZZ=500 makes so many mutations of each format in place of a few. HDF5 itself hangs or
crashes over some damaged files, so only its form for MATLAB is here.
"""

import gzip
import json
import os
import zlib

import numpy as np
import pandas as pd
import pytest

import frkit as fk

MUTATIONS = int(os.environ.get("FRKIT_FUZZ", 12))
N = 8
IDENTITY = np.array([f"p{k // 2}" for k in range(N)])
EMBEDDING = np.random.default_rng(0).normal(size=(N, 3))
FACES = pd.DataFrame(EMBEDDING).add_prefix("f").assign(identity=IDENTITY, group=list("aabbaabb"))
PAIRS = pd.DataFrame({"id1": list("aabbc"), "id2": list("abbcc"), "genuine": [1, 0, 1, 0, 1]})
PAIRS["score"] = [5, 1, 4, 2, 3]
CELLS = [b"\0", b'"', b"\xff\xfe", b"nan", b"1e999", b"\n", b",", b"\xe7", b"1_0", b"NA"]


def write_npz(path):
    np.savez(path, embedding=EMBEDDING, identity=IDENTITY)


def write_mat(path):
    from scipy.io import savemat

    cells = np.array(IDENTITY, object)
    savemat(path, {"embedding": EMBEDDING, "identity": cells}, do_compression=True)


def write_mat73(path):
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in (("embedding", EMBEDDING.T), ("identity", np.arange(N)[None] // 2)):
            file.create_dataset(name, data=values).attrs["MATLAB_class"] = np.bytes_("double")
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")


def write_gz(path):
    path.write_bytes(gzip.compress(FACES.to_csv(index=False).encode()))


def write_json(path):
    path.write_text(json.dumps(PAIRS.to_dict("list")))


def write_lfw(path):
    path.write_text("1\t2\nann\t1\t2\nbob\t1\t3\nann\t1\tbob\t1\nbob\t2\tcid\t1\n")


def open_pairs(format, **options):
    return lambda path: fk.open_pairs(path, format=format, **options)


COLUMNS = {"probe_identity": "id1", "reference_identity": "id2", "genuine": "genuine"}
COLUMNS["score"] = "score"
FORMATS = {
    "csv": ("f.csv", lambda path: FACES.to_csv(path, index=False), fk.open_faces),
    "csv.gz": ("f.csv.gz", write_gz, fk.open_faces),
    "npz": ("f.npz", write_npz, fk.open_faces),
    "parquet": ("f.parquet", FACES.to_parquet, fk.open_faces),
    "mat 5": ("f.mat", write_mat, fk.open_faces),
    "mat 7.3": ("f.mat", write_mat73, fk.open_faces),
    "matrix": ("m.csv", pd.DataFrame(np.eye(N) + 1, IDENTITY, IDENTITY).to_csv, fk.open_scores),
    "pairs": ("p.csv", PAIRS.to_csv, open_pairs("columns", columns=COLUMNS)),
    "json": ("p.json", write_json, open_pairs("json", columns=COLUMNS)),
    "lfw": ("pairs.txt", write_lfw, open_pairs("lfw", scores=np.arange(4.0))),
}


def mutated(content, rng):
    """Bytes changed, cut out, put in, doubled, or the end cut off."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(content) + 1))
        stop = place + int(rng.integers(1, 9))
        kind = rng.integers(6)
        if kind == 0:
            content[place:stop] = rng.bytes(len(content[place:stop]))
        elif kind == 1:
            content[place : place + 1] = [int(rng.integers(256))]
        elif kind == 2:
            del content[place:stop]
        elif kind == 3:
            content[place:place] = CELLS[rng.integers(len(CELLS))]
        elif kind == 4:
            content[place:place] = content[place : place + 50]
        else:
            del content[place:]
    return bytes(content)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_read_or_refused(tmp_path, name):
    file, write, load = FORMATS[name]
    write(tmp_path / file)
    load(tmp_path / file)
    whole = (tmp_path / file).read_bytes()
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(MUTATIONS):
        (tmp_path / file).write_bytes(mutated(whole, rng))
        try:
            load(tmp_path / file)
        except fk.InputError as error:
            assert file in str(error)
