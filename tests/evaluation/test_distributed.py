"""A cluster of two worker processes gives the same bits as threads, also when a worker dies in
mid-sweep.

The cluster is started once; the worker that dies is replaced.
"""

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
from frkit.scores import tensor

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::frkit.DataWarning")]


@pytest.fixture(scope="module")
def cluster():
    """Two processes of one thread each; the dashboard listens on loopback only."""
    options = dict(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", memory_limit="1.5GB"
    )
    with distributed.LocalCluster(
        dashboard_address="127.0.0.1:0", silence_logs=50, **options
    ) as local:
        yield local


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Many blocks of few images."""
    monkeypatch.setattr(tensor, "TILE", 16)


@contextmanager
def on_both(cluster):
    """What is computed here is computed on both workers."""
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        before = client.run(steps)
        yield
        after = client.run(steps)
    assert len(after) == 2 and all(after[worker] > before[worker] for worker in after), (
        "a worker did nothing"
    )


def steps(dask_worker):
    """What a worker has done until now."""
    return dask_worker.state.transition_counter


def evaluation(faces, similarity="cosine"):
    """Groups and replicates of a hundred images."""
    scores = fk.score_tensor(faces, similarity)
    return fk.evaluate(scores, far=FAR, by="gender", resampling=fk.Resampling("image", n=8))


def assert_same_bits(first, second):
    """Every variable of every node agrees in every bit."""
    for node in ("empirical", "vstatistic", "replicates"):
        assert first[node].data_vars.keys() == second[node].data_vars.keys()
        for name, values in first[node].data_vars.items():
            np.testing.assert_array_equal(values, second[node][name], err_msg=f"{name} in {node}")


def test_two_workers_give_the_same_bits(cluster):
    faces = people([5] * 20, dim=40)
    with on_both(cluster):
        on_cluster = evaluation(faces)
    assert_same_bits(on_cluster, evaluation(faces))


def test_workers_of_little_memory_read_an_embedding_on_disk(cluster, tmp_path):
    """No embedding travels: workers get the name of the file and read the rows they compare."""
    faces = people([5] * 60, dim=40)
    np.save(tmp_path / "faces.npy", faces.embedding.values)
    columns = {name: faces[name].values for name in ("image", "identity", "gender")}
    pd.DataFrame(columns).to_csv(tmp_path / "faces.csv", index=False)
    on_disk = fk.score_tensor(fk.open_data(tmp_path / "faces.npy", labels=tmp_path / "faces.csv"))
    assert len(pickle.dumps(on_disk.data.__dask_graph__())) < faces.embedding.nbytes / 2
    options = dict(far=FAR, by="gender", resampling=fk.Resampling("image", n=8))
    with distributed.Client(cluster):
        on_cluster = fk.evaluate(on_disk, **options)
    assert_same_bits(on_cluster, fk.evaluate(fk.score_tensor(faces), **options))


def dying(probe, reference, *, folder, survivor, calls):
    """Inner products; the worker that makes the call of this number dies, once."""
    here = Path(folder)
    (here / f"{os.getpid()}-{os.urandom(8).hex()}").touch()
    late = len(list(here.iterdir())) > calls
    if late and os.getpid() != survivor and not (here / "dead").exists():
        (here / "dead").touch()
        os._exit(1)
    return probe @ reference.T


def test_a_worker_killed_in_mid_sweep_changes_nothing(cluster, tmp_path):
    faces = people([5] * 20, dim=16, ties=True)
    options = dict(folder=str(tmp_path), survivor=os.getpid())
    with distributed.Client(cluster):
        killed = evaluation(faces, partial(dying, calls=12, **options))
    assert (tmp_path / "dead").exists(), "no worker died"
    assert_same_bits(killed, evaluation(faces, partial(dying, calls=10**9, **options)))
