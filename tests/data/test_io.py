"""Files: each format comes back as it was written; what does not fit is refused by its line."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from face_files import (
    AGE,
    GENDER,
    IDENTITY,
    WRITERS,
    as_arrays,
    embedding,
    faces_of_an_encoder,
    write_mat,
    write_mat73,
    write_table,
    write_zarr,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused

import frkit as fk
from frkit.base import DataWarning
from frkit.io.faces import faces


def two_encoders():
    return fk.open_data({"A": faces_of_an_encoder(), "B": faces_of_an_encoder(5)})


CASES = {"plain": faces_of_an_encoder, "stacked": two_encoders}


def check_same(back, ds):
    """Everything comes back; images that were only numbered have names from then on."""
    for dataset in (back, ds):
        dataset.image.attrs.pop("numbered", None)
        dataset.attrs.clear()
    xr.testing.assert_identical(back, ds)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["faces.nc", "faces.zarr", "faces.npz"])
def test_any_faces_dataset_comes_back(tmp_path, case, name):
    ds, path = CASES[case](), tmp_path / name
    if name.endswith("npz"):
        np.savez(path, **as_arrays(ds))
        back = fk.open_data(path)
    elif name.endswith("nc"):
        ds.to_netcdf(path)
        with refused("fk.faces(xr.open_dataset(path))"):
            fk.open_data(path)
        with xr.open_dataset(path) as stored:
            back = faces(stored)
    else:
        write_zarr(ds, path)
        back = faces(xr.open_zarr(path, consolidated=False)).compute()
    check_same(back, ds)
    assert back.embedding.dtype == np.float32


@pytest.mark.parametrize("name", WRITERS)
def test_tables_and_matlab_files_come_back(tmp_path, name):
    ds, path = faces_of_an_encoder(), tmp_path / name
    WRITERS[name](ds, path)
    labels = path.with_suffix(".csv") if name.endswith(".npy") else None
    check_same(fk.open_data(path, labels=labels), ds)


def test_what_matlab_keeps_to_itself_is_named(tmp_path):
    from scipy.io import savemat

    columns = {"emb": embedding(), "id": [1, 1, 2, 2, 3]}
    columns |= {"info": {"a": 1}, "phase": 1j * embedding()}
    savemat(tmp_path / "f.mat", columns)
    with pytest.warns(DataWarning, match="not read: .info., .phase."):
        faces = fk.open_data(tmp_path / "f.mat", columns={"identity": "id"})
    assert faces.identity.values.tolist() == list("11223")


def test_other_names_are_found_and_the_caller_may_say_which(tmp_path):
    labels = dict(subject_id=IDENTITY, filename=list("vwxyz"), age=AGE, box=np.zeros((5, 4)))
    np.savez(tmp_path / "f.npz", emb=embedding(), **labels)
    with pytest.warns(DataWarning, match="not read: 'box'"):
        assert fk.open_data(tmp_path / "f.npz").identity.values.tolist() == IDENTITY
    with pytest.warns(DataWarning, match="not read: 'box'"):
        ds = fk.open_data(tmp_path / "f.npz", identity="subject_id", columns={"age": None})
    assert ds.identity.values.tolist() == IDENTITY
    assert ds.image.values.tolist() == list("vwxyz")
    assert "age" not in ds


def test_labels_from_another_file(tmp_path):
    np.save(tmp_path / "f.npy", embedding())
    who = tmp_path / "who.txt"
    who.write_text("\n".join(IDENTITY) + "\n", encoding="utf-8")
    with refused("label", "classes") as asked:
        fk.open_data(tmp_path / "f.npy", labels=who)
    faces = fk.open_data(tmp_path / "f.npy", labels=who, **asked.value.answers[0])
    assert faces.identity.values.tolist() == IDENTITY
    names = np.array(list("xzvyw"))
    np.savez(tmp_path / "f.npz", embedding=embedding(), photo=names)
    more = pd.DataFrame({"img": names, "person": IDENTITY, "gender": GENDER})
    more[::-1].to_csv(tmp_path / "more.csv")
    ds = fk.open_data(tmp_path / "f.npz", labels=tmp_path / "more.csv")
    assert ds.gender.values.tolist() == GENDER and ds.identity.values.tolist() == IDENTITY
    more.drop(columns="img").to_csv(tmp_path / "more.csv")
    with refused("photo", "person", "gender"):
        fk.open_data(tmp_path / "f.npz", labels=tmp_path / "more.csv")


@pytest.mark.filterwarnings("ignore:.*leading zeros:frkit.DataWarning")
def test_labels_stay_as_they_are_written(tmp_path):
    text = '\ufeffidentity;f0;f1\n"a;x";1;2\n"a;x";3;4\nb;5;6\n'
    (tmp_path / "f.csv").write_text(text, encoding="utf-8")
    assert fk.open_data(tmp_path / "f.csv").identity.values.tolist() == ["a;x", "a;x", "b"]
    rows = [
        "identity,country,f0,f1",
        "007,010, 1,0.5",
        "007,010,2 ,1",
        "7,NO ,1,1e-3",
        "NA007, ,2,3",
    ]
    (tmp_path / "g.csv").write_text("\n".join([*rows, ",,,", ""]))
    ds = fk.open_data(tmp_path / "g.csv")
    assert ds.identity.values.tolist() == ["007", "007", "7", "NA007"]
    assert ds.country.values.tolist() == ["010", "010", "NO", "unknown"]


letters = st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp", "Cs", "Cn"])
people = st.lists(st.text(letters, min_size=1), min_size=2, max_size=4, unique=True)
FIXTURE = [HealthCheck.function_scoped_fixture]


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=FIXTURE, deadline=None)
@given(people, st.sampled_from(["f.csv", "f.tsv", "f.npz"]))
@pytest.mark.filterwarnings("ignore:[0-9] labels of .* may mean the same")  # such as pA and pa
def test_any_text_and_any_number_come_back(tmp_path, people, name):
    people = [f"p{word}" for word in people]
    who = [*people, people[0]]
    values = np.random.default_rng(len(people)).lognormal(0, 5, size=(len(who), 4))
    ds = faces(values, who, race=[word[::-1] for word in who])
    if name.endswith("npz"):
        np.savez(tmp_path / name, **as_arrays(ds))
    else:
        write_table(ds, tmp_path / name)
    check_same(fk.open_data(tmp_path / name), ds)


HEAD = "identity,f0,f1\na,1,2\n"
BAD_TABLES = {
    "short line": (HEAD + "\na,1\n", "f.csv: line 4"),
    "another code": (HEAD.encode() + b"\xe7y,1,2\n", "UTF-8"),
    "two sets": ("identity,f0,x1\na,1,2\n", "'f0', 'x1'"),
    "number absent": ("identity,f0,f2\na,1,2\n", "'f0', 'f2'"),
    "column twice": ("identity,f0,f0\na,1,2\n", "f0"),
    "quote closes later": ('identity,f0,f1\n"a,1,2\nb",1,2\n', "line 2"),
    "underscore": (HEAD + "a,1_0,2\n", "line 3, column 'f0': '1_0'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_refused_with_its_line(tmp_path, case):
    text, message = BAD_TABLES[case]
    (tmp_path / "f.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with refused(message):
        fk.open_data(tmp_path / "f.csv", kind="faces")


class Bomb:
    """Unpickling it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def bomb_npz(path, bomb):
    np.savez(path, embedding=embedding(), identity=np.array([bomb] * 5, object), allow_pickle=True)


def bomb_zarr(path, bomb):
    pytest.importorskip("zarr")
    (path / "embedding").mkdir(parents=True)
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    meta = {"zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "|O", "order": "C"}
    meta |= {"fill_value": None, "compressor": None}
    meta["filters"] = [{"id": "vlen-utf8"}, {"id": "pickle"}]
    (path / "embedding" / ".zarray").write_text(json.dumps(meta))
    (path / "embedding" / ".zattrs").write_text('{"_ARRAY_DIMENSIONS": ["image", "feature"]}')
    (path / "embedding" / "0.0").write_bytes(pickle.dumps(bomb))


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        ("f.npz", bomb_npz, "identity"),
        ("f.zarr", bomb_zarr, "fk.faces(xr.open_zarr(path))"),
    ],
)
def test_nothing_is_ever_unpickled(tmp_path, name, write, message):
    write(tmp_path / name, Bomb(tmp_path / "exploded"))
    with refused(message):
        fk.open_data(tmp_path / name)
    assert not (tmp_path / "exploded").exists()


def test_files_that_are_not_there_or_not_what_they_say(tmp_path):
    with refused("absent.npz"):
        fk.open_data(tmp_path / "absent.npz")
    for name in ("f.npz", "f.npy", "f.mat", "f.parquet", "f.csv.gz"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with refused(name):
            fk.open_data(tmp_path / name)
    (tmp_path / "f.docx").write_bytes(b"")
    with refused("f.docx", ".npz"):
        fk.open_data(tmp_path / "f.docx")
    np.save(tmp_path / "lone.npy", embedding())
    with refused("lone.npy", "labels"):
        fk.open_data(tmp_path / "lone.npy")


LIMITED = """
import resource, sys, os
import frkit as fk
resource.setrlimit(resource.RLIMIT_AS, (8_000_000 * 1024,) * 2)
for path in sys.argv[1:]:
    fk.open_data(path)
    if os.fork() == 0:
        os._exit(fk.open_data(path).sizes["image"])
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 5, path
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_files_open_under_a_limit_of_memory_and_in_a_forked_process(tmp_path):
    paths = [tmp_path / name for name in ("f.csv", "f.mat", "f7.mat", "f.parquet")]
    for path, write in zip(paths, (write_table, write_mat, write_mat73, write_table)):
        write(faces_of_an_encoder(), path)
    subprocess.run([sys.executable, "-c", LIMITED, *map(str, paths)], check=True)


def test_a_note_in_brackets_is_no_list_of_numbers(tmp_path):
    path = tmp_path / "faces.csv"
    path.write_text("id,note,f0,f1\na,[blurred],1,2\na,[,2,1\nb,x,1,1\n")
    faces = fk.open_data(path, identity="id")
    assert faces.note.values.tolist() == ["[blurred]", "[", "x"]
