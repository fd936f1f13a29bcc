"""A cluster of two worker processes gives the same bits as threads, also when a worker dies in mid-sweep."""

import os
import pickle
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from engine_cases import FAR, people

import frkit as fk
from frkit.engine import sweep

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@contextmanager
def two_workers(**more):
    """Two processes of one thread each; the dashboard listens on loopback only."""
    options = dict(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1") | more
    with (
        distributed.LocalCluster(dashboard_address="127.0.0.1:0", silence_logs=50, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def evaluation(faces, similarity="cosine", chunks=16):
    """Groups and replicates of a hundred images, in about thirty blocks."""
    scores = fk.score_tensor(faces, similarity, chunks=chunks)
    return fk.evaluate(scores, far=FAR, by="gender", resampling=fk.Resampling("image", n=8))


def assert_same_bits(one, other):
    """Every variable of every node agrees in every bit."""
    for node in ("empirical", "vstatistic", "replicates"):
        assert one[node].data_vars.keys() == other[node].data_vars.keys()
        for name, values in one[node].data_vars.items():
            np.testing.assert_array_equal(values, other[node][name], err_msg=f"{name} in {node}")


def test_two_workers_give_the_same_bits():
    faces = people([5] * 20, dim=40)
    with two_workers() as client:
        on_cluster = evaluation(faces)
        tasks = client.run(lambda dask_worker: len(dask_worker.state.log))
    assert len(tasks) == 2 and all(tasks.values()), "the sweep did not run on both workers"
    assert_same_bits(on_cluster, evaluation(faces))


def test_workers_of_little_memory_read_an_embedding_on_disk(tmp_path, monkeypatch):
    """No embedding travels: workers get the name of the file, and read the rows that they compare."""
    faces = people([5] * 60, dim=40)
    np.save(tmp_path / "faces.npy", faces.embedding.values)
    columns = {name: faces[name].values for name in ("image", "identity", "gender")}
    pd.DataFrame(columns).to_csv(tmp_path / "faces.csv", index=False)
    on_disk = fk.score_tensor(fk.open_faces(tmp_path / "faces.npy"), chunks=16)
    assert len(pickle.dumps(sweep.source_of(on_disk.data))) < faces.embedding.nbytes / 2
    monkeypatch.setattr(sweep, "FEW_BLOCKS", 10)
    monkeypatch.setattr(sweep, "BATCH", 20)
    monkeypatch.setattr(sweep, "HELD_PAIRS", 1000)
    options = dict(far=FAR, by="gender", resampling=fk.Resampling("image", n=8))
    with two_workers(memory_limit="1.5GB"):
        on_cluster = fk.evaluate(on_disk, **options, checkpoint=tmp_path / "checkpoint")
    assert_same_bits(on_cluster, fk.evaluate(fk.score_tensor(faces, chunks=16), **options))


def dying(probe, reference, *, folder, survivor, calls):
    """Inner products; the worker that makes the call of this number dies, once."""
    here = Path(folder)
    (here / f"{os.getpid()}-{os.urandom(8).hex()}").touch()
    late = len(list(here.iterdir())) > calls
    if late and os.getpid() != survivor and not (here / "dead").exists():
        (here / "dead").touch()
        os._exit(1)
    return probe @ reference.T


def test_a_worker_killed_in_mid_sweep_changes_nothing(tmp_path):
    faces = people([5] * 20, dim=16, ties=True)
    options = dict(folder=str(tmp_path), survivor=os.getpid())
    with two_workers():
        killed = evaluation(faces, partial(dying, calls=12, **options))
    assert (tmp_path / "dead").exists(), "no worker died"
    assert_same_bits(killed, evaluation(faces, partial(dying, calls=10**9, **options)))
