"""Kept pairs that wait in a file, squares of blocks, and sweeps that are interrupted and go on: the same bits."""

import builtins
import errno
import os

import numpy as np
import pytest
from engine_cases import check_evaluation, looked_up, people, table

import frkit as fk
from frkit.engine import pilot, store, sweep

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
UNEQUAL = [2 + (index * 7) % 9 for index in range(40)]
OPTIONS = dict(far=(2e-4, 1e-3, 1e-2, 0.1), by="gender", resampling=fk.Resampling(n=3, seed=1))


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch):
    """Data of two hundred images go the way of a million: squares of blocks, in many batches, most pairs in a file."""
    for name, value in dict(PILOT_PAIRS=256, TAIL_PAIRS=20, TOP_PAIRS=5).items():
        monkeypatch.setattr(pilot, name, value)
    monkeypatch.setattr(sweep, "HELD_PAIRS", 200)
    monkeypatch.setattr(sweep, "FEW_BLOCKS", 10)
    monkeypatch.setattr(sweep, "BATCH", 3)


def scores_of(sizes, chunks=16):
    return fk.score_tensor(people(sizes, dim=20, groups=("f", "m", "x", "unknown", "m")), chunks=chunks)


def same_bits(one, other):
    """Every variable of every node."""
    for node in ("empirical", "vstatistic", "replicates", "influence"):
        for name, values in other[node].data_vars.items():
            np.testing.assert_array_equal(one[node][name].values, values.values, err_msg=f"{name} in {node}")


@pytest.mark.parametrize(("sizes", "weighting"), [([6] * 40, "identity"), (UNEQUAL, "identity"), (UNEQUAL, "pair")])
def test_many_blocks_have_the_rates_of_the_twin(sizes, weighting, monkeypatch):
    written = []
    monkeypatch.setattr(
        store.Store, "_put", lambda self, pairs, put=store.Store._put: written.append(put(self, pairs)) or written[-1]
    )
    scores = scores_of(sizes)
    check_evaluation(fk.evaluate(scores, weighting=weighting, **OPTIONS), scores, weighting=weighting, **OPTIONS)
    assert sum(part.n for part in written) > 0, "no pair went to the file"


def test_many_blocks_and_few_have_the_same_bits(monkeypatch):
    scores = scores_of([6] * 40)
    many = fk.evaluate(scores, **OPTIONS)
    monkeypatch.undo()
    for name, value in dict(PILOT_PAIRS=256, TAIL_PAIRS=20, TOP_PAIRS=5).items():
        monkeypatch.setattr(pilot, name, value)
    same_bits(many, fk.evaluate(scores, **OPTIONS))


class Interrupted(Exception):
    """What ends a sweep half way."""


@pytest.mark.parametrize("after", [0, 1, 4])
@pytest.mark.parametrize("sizes", [[6] * 40, UNEQUAL], ids=["equal", "unequal"])
def test_an_interrupted_sweep_goes_on_with_the_same_bits(sizes, after, tmp_path, monkeypatch):
    scores, folder = scores_of(sizes), tmp_path / "checkpoint"
    whole, runs, run = fk.evaluate(scores, **OPTIONS), [], sweep.run

    def counted(*given):
        runs.append(1)
        if len(runs) > after:
            raise Interrupted
        return run(*given)

    monkeypatch.setattr(sweep, "run", counted)
    with pytest.raises(Interrupted):
        fk.evaluate(scores, **OPTIONS, checkpoint=folder)
    (folder / "sweep-1.part").write_text("half written")
    if (folder / "sweep-1.kept").exists():  # pairs that were written, but not yet noted in the state
        with open(folder / "sweep-1.kept", "ab") as file:
            file.write(b"some bytes")
    runs.clear()
    monkeypatch.setattr(sweep, "run", lambda *given: runs.append(1) or run(*given))
    same_bits(fk.evaluate(scores, **OPTIONS, checkpoint=folder), whole)
    rest = len(runs)
    runs.clear()
    same_bits(fk.evaluate(scores, **OPTIONS, checkpoint=folder), whole)
    assert runs == [], "a finished sweep was swept again"
    runs.clear()
    fk.evaluate(scores, **OPTIONS)
    assert len(runs) == rest + after, "finished batches were swept again"
    assert not list(folder.glob("*.part"))


def test_a_stacked_tensor_and_a_matrix_go_on_too(tmp_path):
    score, faces = table([4] * 12)
    for name, scores in (
        ("one", looked_up(score, faces, chunks=8)),
        (
            "matrix",
            fk.score_matrix(
                score.astype(float),
                faces.identity.values,
                faces.identity.values,
                probe=faces.image.values,
                reference=faces.image.values,
            ),
        ),
    ):
        options = dict(far=[0.02, 0.1], resampling=fk.Resampling("identity", n=2))
        whole = fk.evaluate(scores, **options)
        for _ in range(2):
            same_bits(fk.evaluate(scores, **options, checkpoint=tmp_path / name), whole)


def test_a_checkpoint_knows_what_it_was_begun_with(tmp_path):
    folder, scores = tmp_path / "checkpoint", scores_of([6] * 20)
    fk.evaluate(scores, **OPTIONS, checkpoint=folder)
    others = [
        (scores, OPTIONS | dict(far=[0.1])),
        (scores, OPTIONS | dict(by=None)),
        (scores, OPTIONS | dict(weighting="pair")),
        (scores, OPTIONS | dict(resampling=fk.Resampling(n=3, seed=2))),
        (scores_of([6] * 20, chunks=32), OPTIONS),
        (fk.score_tensor(people([6] * 20, dim=20, seed=5, groups=("f", "m", "x", "unknown", "m")), chunks=16), OPTIONS),
    ]
    for other, options in others:
        with pytest.raises(fk.InputError, match="another evaluation"):
            fk.evaluate(other, **options, checkpoint=folder)


def test_folders_that_cannot_be_used(tmp_path):
    scores = scores_of([6] * 20)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(fk.InputError, match="is a file"):
        fk.evaluate(scores, **OPTIONS, checkpoint=tmp_path / "file")
    with pytest.raises(fk.InputError, match="holds other files"):
        fk.evaluate(scores, **OPTIONS, checkpoint=tmp_path)
    fk.evaluate(scores, **OPTIONS, checkpoint=tmp_path / "checkpoint")
    (tmp_path / "checkpoint" / "sweep-1.npz").write_bytes(b"no state")
    with pytest.raises(fk.InputError, match="damaged"):
        fk.evaluate(scores, **OPTIONS, checkpoint=tmp_path / "checkpoint")


@pytest.mark.parametrize(("module", "name", "number"), [(np, "savez", errno.ENOSPC), (os, "fsync", errno.EROFS)])
def test_a_full_disk_is_named_and_what_is_finished_is_kept(tmp_path, monkeypatch, module, name, number):
    scores, folder, call, made = scores_of([6] * 40), tmp_path / "checkpoint", getattr(module, name), []

    def refused(*given, **more):
        made.append(1)
        if len(made) > 4:
            raise OSError(number, os.strerror(number))
        return call(*given, **more)

    with monkeypatch.context() as full:
        full.setattr(module, name, refused)
        with pytest.raises(fk.InputError, match=f"checkpoint cannot be written .*{os.strerror(number)}.*what is fin"):
            fk.evaluate(scores, **OPTIONS, checkpoint=folder)
    assert (folder / "sweep-1.npz").exists()
    same_bits(fk.evaluate(scores, **OPTIONS, checkpoint=folder), fk.evaluate(scores, **OPTIONS))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_no_pair_is_lost_where_the_disk_for_temporary_files_is_full(monkeypatch):
    """The last bytes wait in a buffer, where some functions lose them in silence."""
    monkeypatch.setattr(store, "TemporaryFile", lambda: open("/dev/full", "w+b"))
    with pytest.raises(fk.InputError, match="temporary file of pairs cannot be written .No space left.*TMPDIR"):
        fk.evaluate(scores_of([6] * 40), **OPTIONS)


def test_a_checkpoint_that_was_cut_short_or_cannot_be_written(tmp_path, monkeypatch):
    scores, folder = scores_of([6] * 40), tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "evaluation.txt").touch()  # what a full disk leaves of the first file
    whole, there = fk.evaluate(scores, **OPTIONS, checkpoint=folder), builtins.open

    def refused(path, mode="r", **more):
        if set(mode) & set("wa+"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return there(path, mode, **more)

    with monkeypatch.context() as read_only:
        read_only.setattr(builtins, "open", refused)
        with pytest.raises(fk.InputError, match="checkpoint cannot be written .Permission denied"):
            fk.evaluate(scores, **OPTIONS, checkpoint=folder)
    same_bits(fk.evaluate(scores, **OPTIONS, checkpoint=folder), whole)
    os.truncate(folder / "sweep-1.kept", (folder / "sweep-1.kept").stat().st_size - 1)
    with pytest.raises(fk.InputError, match="is damaged .sweep-1.kept has .* bytes.; delete its folder"):
        fk.evaluate(scores, **OPTIONS, checkpoint=folder)


def test_a_checkpoint_of_another_version_is_told_from_a_damaged_one(tmp_path):
    folder, scores = tmp_path / "checkpoint", scores_of([6] * 20)
    fk.evaluate(scores, **OPTIONS, checkpoint=folder)
    note = folder / "evaluation.txt"
    note.write_text(note.read_text().partition(": ")[2])  # as earlier versions wrote it: the fingerprint alone
    with pytest.raises(fk.InputError, match="of another version of frkit"):
        fk.evaluate(scores, **OPTIONS, checkpoint=folder)
