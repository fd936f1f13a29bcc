"""Files that would end or hang the process: each ends in one message that says what to do."""

import os

import pytest
from refusals import refused

import frkit as fk
from frkit.data.files import file_kind

NEEDS_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@NEEDS_PIPES
@pytest.mark.parametrize("name", ["f.csv", "f.npz", "f.npy", "f.mat", "f.nc", "f.zarr", "f"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    with refused("pipe"):
        fk.open_data(pipe)


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    for name in ("x" * 5000, "a\0b"):
        with pytest.raises(fk.InputError, match="cannot be opened"):
            file_kind(tmp_path / name)
