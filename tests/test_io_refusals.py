"""Files that do not fit are refused by name and line, and nothing is ever unpickled."""

import json
import pickle
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from frkit.base import InputError
from frkit.data.opening import open_faces

IDENTITY = ["anna", "anna", "bo", "bo", "çy"]


def embedding():
    return np.random.default_rng(0).normal(size=(5, 3))


HEAD = "identity,f0,f1\na,1,2\n"
BAD_TABLES = {
    "short line": (HEAD + "\na,1\n", "f.csv: line 4 has 2 cells; the first line has 3 cells"),
    "long line": (HEAD + "a,1,2,3\n", "line 3 has 4 cells"),
    "word": (HEAD + "a,1,x\n", "line 3, column 'f1': 'x' is not a finite number"),
    "gap": (HEAD + "a,,2\n", "line 3, column 'f0': '' is not a finite number"),
    "infinite": (HEAD + "a,1,inf\n", "line 3, column 'f1': 'inf' is not a finite number"),
    "no rows": ("identity,f0,f1\n", "a header but no row"),
    "empty": ("", "the file is empty"),
    "no numbers": ("identity,age\na,1\n", "no numbered columns.*the columns are 'identity', 'age'"),
    "no identity": ("f0,f1\n1,2\n", "no identity; say identity='name'; there is "),
    "two sets": ("identity,f0,f1,x1,x2\na,1,2,3,4\n", "'f' .2 columns., 'x' .2 columns.; say embedding="),
    "number absent": ("identity,f0,f2\na,1,2\n", "but '1' is absent before 'f2'"),
    "starts late": ("identity,f2,f3\na,1,2\n", "but '1' is absent|but '0', '1' is absent"),
    "column twice": ("identity,f0,f0\na,1,2\n", "column names must be distinct, but 'f0'"),
    "column unnamed": ("identity,,f0\na,1,2\n", "column '2' has no name"),
    "quote open": ('identity,f0,f1\n"a,1,2\n', "the table cannot be read"),
    "identity missing": (HEAD + "NA,1,2\n", "identity is missing or .unknown. in 1 image.s.: 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_refused_with_its_line(tmp_path, case):
    text, message = BAD_TABLES[case]
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        open_faces(tmp_path / "f.csv")


def test_text_of_another_code_is_refused(tmp_path):
    (tmp_path / "f.csv").write_bytes("identity,f0\nçy,1\n".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        open_faces(tmp_path / "f.csv")


class Bomb:
    """Unpickling it writes a file."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))


def bomb_npz(path, bomb):
    np.savez(path, embedding=embedding(), identity=np.array([bomb] * 5, object), allow_pickle=True)


def bomb_npy(path, bomb):
    np.save(path, np.array([[bomb] * 5], object), allow_pickle=True)


def bomb_plain(path, bomb):
    path.write_bytes(pickle.dumps(bomb))


def bomb_zarr(path, bomb):
    (path / "embedding").mkdir(parents=True)
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    meta = {"zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "|O", "order": "C"}
    meta |= {
        "fill_value": None,
        "compressor": None,
        "filters": [{"id": "vlen-utf8"}, {"id": "pickle"}],
    }
    (path / "embedding" / ".zarray").write_text(json.dumps(meta))
    (path / "embedding" / ".zattrs").write_text('{"_ARRAY_DIMENSIONS": ["image", "feature"]}')
    (path / "embedding" / "0.0").write_bytes(pickle.dumps(bomb))


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        ("f.npz", bomb_npz, "array 'identity' can only be read by unpickling.*save numbers as"),
        ("f.npy", bomb_npy, "the array can only be read by unpickling"),
        ("raw.npz", bomb_plain, "can only be read by unpickling"),
        ("f.pkl", bomb_plain, "a .pkl file can only be read by unpickling"),
        ("f.zarr", bomb_zarr, "array .embedding. can only be read by unpickling"),
    ],
)
def test_nothing_is_ever_unpickled(tmp_path, name, write, message):
    (tmp_path / "f.csv").write_text("identity\na\n")
    write(tmp_path / name, Bomb(tmp_path / "exploded"))
    with pytest.raises(InputError, match=message):
        open_faces(tmp_path / name)
    assert not (tmp_path / "exploded").exists()


def test_files_that_are_not_there_or_not_what_they_say(tmp_path):
    with pytest.raises(InputError, match="absent.npz: there is no such file"):
        open_faces(tmp_path / "absent.npz")
    for name in ("f.npz", "f.npy", "f.mat", "f.nc", "f.parquet", "f.zarr.zip", "f.csv.gz"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(InputError, match=f"{name}: .*(cannot be read|unpickling)"):
            open_faces(tmp_path / name)
    (tmp_path / "f.docx").write_bytes(b"")
    with pytest.raises(InputError, match="unknown format; frkit reads .npz, .npy"):
        open_faces(tmp_path / "f.docx")


def test_truncated_archives_are_refused(tmp_path):
    np.savez(tmp_path / "f.npz", embedding=embedding(), identity=IDENTITY)
    data = bytearray((tmp_path / "f.npz").read_bytes())
    data[200] ^= 255
    (tmp_path / "f.npz").write_bytes(data)
    with pytest.raises(InputError, match="cannot be read"):
        open_faces(tmp_path / "f.npz")
    assert zipfile.is_zipfile(tmp_path / "f.npz")


def test_npy_without_labels_and_transposed_embeddings(tmp_path):
    np.save(tmp_path / "f.npy", embedding().T)
    with pytest.raises(
        InputError,
        match=r"an .npy needs labels: no f.csv, .csv.gz, .*, .txt beside it; say labels=",
    ):
        open_faces(tmp_path / "f.npy")
    (tmp_path / "f.csv").write_text("identity\n" + "\n".join(IDENTITY), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"embedding \(3, 5\) has a column, not a row.*transpose it"
    ):
        open_faces(tmp_path / "f.npy")


def test_a_netcdf_3_whose_variables_share_their_bytes_is_refused(tmp_path):
    """A small file whose many variables all point at one place would unpack to far more than it holds."""
    from scipy.io import netcdf_file

    path = tmp_path / "f.nc"
    with netcdf_file(path, "w") as file:
        file.createDimension("image", 100)
        for k in range(30):
            file.createVariable(f"v{k:02d}", "f8", ("image",))[:] = np.ones(100)
    whole = path.read_bytes()
    first = len(whole) - 30 * 800
    for k in range(1, 30):
        assert whole.count(int.to_bytes(first + 800 * k, 4)) == 1
        whole = whole.replace(int.to_bytes(first + 800 * k, 4), int.to_bytes(first, 4))
    path.write_bytes(whole[: first + 800])
    with pytest.raises(
        InputError, match=r"it unpacks to 2\.4e-05 GB, the limit for a file of its size is"
    ):
        open_faces(path)


@pytest.mark.filterwarnings("ignore")
def test_stored_text_that_is_no_text_is_refused(tmp_path):
    """Python itself breaks over a character that does not exist, with a SystemError, when such text is read."""
    pytest.importorskip("zarr")
    labels = ("image", np.array(IDENTITY, "U4"))
    stored = xr.Dataset({"embedding": (("image", "feature"), embedding())}, {"identity": labels})
    stored.to_zarr(tmp_path / "f.zarr", zarr_format=2, consolidated=False)
    chunk = tmp_path / "f.zarr" / "identity" / "0"
    text = bytearray(chunk.read_bytes())
    at = bytes(text).index("anna".encode("utf-32-le"))  # too little to be packed
    text[at : at + 4] = b"\xff\xff\xff\x7f"
    chunk.write_bytes(text)
    with pytest.raises(InputError, match="'identity' holds what is no text"):
        open_faces(tmp_path / "f.zarr")


@pytest.mark.parametrize("kind", ["f.zarr", "f.zarr.zip"])
@pytest.mark.parametrize("many", [20, 87, 111])
def test_a_chunk_that_was_cut_is_refused(tmp_path, kind, many):
    """Blosc reads on behind the end of its chunk: what other memory held became part of the embedding."""
    pytest.importorskip("zarr")
    stored = xr.Dataset(
        {"embedding": (("image", "feature"), embedding()), "identity": ("image", IDENTITY)}
    )
    stored.to_zarr(tmp_path / "f.zarr", zarr_format=2, consolidated=False)
    chunk = tmp_path / "f.zarr/embedding/0.0"
    chunk.write_bytes(chunk.read_bytes()[:many])
    shutil.make_archive(str(tmp_path / "f.zarr"), "zip", tmp_path / "f.zarr")
    with pytest.raises(InputError, match="a chunk of it was cut"):
        open_faces(tmp_path / kind)
