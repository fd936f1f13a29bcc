"""Files that would end or hang the process: each ends in one message that says what to do."""

import os

import bad_readers
import numpy as np
import pytest

import frkit as fk
from frkit.data.files import file_kind
from frkit.explore.app import OwnData
from frkit.explore.separate_process import read_apart

NEEDS_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
N = 12
WHO = [f"person {k // 3}" for k in range(N)]


@NEEDS_PIPES
@pytest.mark.parametrize("name", ["f.csv", "f.npz", "f.npy", "f.mat", "f.nc", "f.zarr", "f"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    with pytest.raises(fk.InputError, match="is a pipe.*write its contents into a file"):
        fk.open_data(pipe)


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    for name in ("x" * 5000, "a\0b"):
        with pytest.raises(fk.InputError, match="cannot be opened"):
            file_kind(tmp_path / name)


# --- Zarr ---


# --- the app ---


@pytest.mark.parametrize(
    ("reader", "seconds", "message"),
    [
        (bad_readers.crash, 300, "crash of a library"),
        (bad_readers.fail, 300, "ZeroDivisionError"),
        (bad_readers.never_end, 1, "did not end within"),
    ],
)
def test_a_reader_that_ends_its_process_ends_in_a_message(tmp_path, reader, seconds, message):
    path = tmp_path / "faces.mat"
    path.write_bytes(b"anything")
    with pytest.raises(fk.InputError, match=rf"faces\.mat.*{message}.*copy or write it again"):
        read_apart(reader, path, seconds=seconds)


def test_the_app_outlives_a_crash(tmp_path, monkeypatch):
    path = tmp_path / "faces.npz"
    np.savez(path, embedding=np.eye(N), identity=WHO)
    monkeypatch.setattr("frkit.explore.app.open_data", bad_readers.crash)
    app = OwnData(path)
    assert "crash of a library" in app.status.value and app.work.button.disabled
    monkeypatch.undo()
    app.read_button.click()
    assert "12 images" in app.status.value and not app.work.button.disabled


def test_what_is_read_apart_is_the_same_with_the_same_warnings(tmp_path):
    path = tmp_path / "faces.npz"
    contents = {"embedding": np.eye(N), "identity": WHO, "pixels": np.zeros((N, 2))}
    np.savez(path, **contents)
    with pytest.warns(fk.DataWarning, match="not read: 'pixels'"):
        direct = fk.open_data(path)
    for _ in range(2):  # in a helper, then here
        with pytest.warns(fk.DataWarning, match="not read: 'pixels'"):
            assert read_apart(fk.open_data, path).identical(direct)
    with pytest.raises(fk.InputError, match="there is no such file"):
        read_apart(fk.open_data, tmp_path / "absent.npz")
