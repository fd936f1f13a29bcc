"""Damaged files are read or end in an InputError that names the file, never in another error.

FRKIT_FUZZ=500 makes so many mutations of each format in place of a few. HDF5 itself hangs or
crashes over some damaged files, so only its form for MATLAB is here.
"""

import json
import os
import zlib
from functools import partial

import numpy as np
import pandas as pd
import pytest
from door_files import FORMS
from face_files import WRITERS, as_arrays, faces_of_an_encoder

import frkit as fk

MUTATIONS = int(os.environ.get("FRKIT_FUZZ", 12))
PAIRS = pd.DataFrame({"id1": list("aabbc"), "id2": list("abbcc"), "genuine": [1, 0, 1, 0, 1]})
PAIRS["score"] = [5, 1, 4, 2, 3]
MATRIX = pd.DataFrame(np.eye(4) + 1, list("aabb"), list("aabb"))
CELLS = [b"\0", b'"', b"\xff\xfe", b"nan", b"1e999", b"\n", b",", b"\xe7", b"1_0", b"NA"]


def write_faces(path):
    faces = faces_of_an_encoder()
    if path.suffix == ".npz":
        np.savez(path, **as_arrays(faces))
    else:
        WRITERS[path.name](faces, path)


def open_faces(path):
    return fk.open_data(path)


def write_json(path):
    path.write_text(json.dumps(PAIRS.to_dict("records")))


def write_lfw(path):
    path.write_text("1\t2\nann\t1\t2\nbob\t1\t3\nann\t1\tbob\t1\nbob\t2\tcid\t1\n")


def open_pairs(kind, **options):
    return lambda path: fk.open_data(path, kind=kind, **options)


COLUMNS = {"probe_identity": "id1", "reference_identity": "id2", "genuine": "genuine"}
COLUMNS["score"] = "score"
TABLES = ("faces.csv", "faces.csv.gz", "faces.npz", "lists.parquet", "five.mat", "seven.mat")
OF_ONE_SET = {"same_images": True, "columns": {"score": "all cells"}}
FORMATS = {name: (write_faces, open_faces) for name in TABLES}
FORMATS |= {
    "matrix.csv": (MATRIX.to_csv, partial(fk.open_data, kind="matrix", **OF_ONE_SET)),
    "pairs.csv": (PAIRS.to_csv, open_pairs("pairs", columns=COLUMNS)),
    "pairs.json": (write_json, open_pairs("pairs", columns=COLUMNS)),
    "pairs.txt": (write_lfw, open_pairs("pairs", scores=np.arange(4.0, 0.0, -1))),
}
# files of which everything is guessed
GUESSED = ("odd_names.csv", "pairs.jsonl", "speechbrain.txt")
FORMATS |= {name: (FORMS[name][0], fk.open_data) for name in GUESSED}
with_pattern = partial(fk.open_data, identity="{name}_{number}.jpg")
FORMATS["named_index.csv"] = FORMS["named_index.csv"][0], with_pattern


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


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_read_or_refused(tmp_path, name):
    write, load = FORMATS[name]
    path = tmp_path / name
    write(path)
    load(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(MUTATIONS):
        path.write_bytes(mutated(whole, rng))
        try:
            load(path)
        except fk.InputError as error:
            assert name in str(error)
