"""Score matrices: values, ids of both sides, and failed comparisons."""

import gzip
import pickle
import tracemalloc
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import frkit as fk
from frkit.base import InputError

pytestmark = pytest.mark.filterwarnings(
    "ignore:[0-9]+ genuine and [0-9]+ impostor comparisons failed"
)

SHARED = Path(__file__).parents[2] / "shared" / "data"
SCORES = np.array([[0.9, 0.1, -1.0], [0.2, 0.8, 0.3]])
PROBES, REFERENCES = ["anna", "bo"], ["anna", "bo", "anna"]


def write_csv(path, values=SCORES, probes=PROBES, references=REFERENCES):
    lines = ["," + ",".join(references)]
    rows = zip(probes, values.tolist(), strict=True)
    lines += [f"{probe}," + ",".join(map(str, row)) for probe, row in rows]
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def ids(scores):
    return scores.probe_identity.values.tolist(), scores.reference_identity.values.tolist()


@pytest.mark.parametrize("name", ["s.csv", "s.csv.gz"])
def test_a_text_matrix_with_repeated_ids(tmp_path, name):
    write_csv(tmp_path / name)
    scores = fk.open_scores(tmp_path / name)
    np.testing.assert_array_equal(scores, np.where(SCORES == -1, np.nan, SCORES))
    assert ids(scores) == (PROBES, REFERENCES)


@pytest.mark.parametrize(("missing", "n_missing"), [(-1, 1), (None, 0), ([-1, 0.2], 2), (7, 0)])
def test_the_marks_of_failed_comparisons(tmp_path, missing, n_missing):
    write_csv(tmp_path / "s.csv")
    assert np.isnan(fk.open_scores(tmp_path / "s.csv", missing=missing)).sum() == n_missing
    np.save(tmp_path / "s.npy", SCORES)
    (tmp_path / "s_probe.txt").write_text("\n".join(PROBES))
    (tmp_path / "s_reference.txt").write_text("\n".join(REFERENCES))
    assert np.isnan(fk.open_scores(tmp_path / "s.npy", missing=missing)).sum() == n_missing


def test_blank_cells_are_missing_whatever_the_mark(tmp_path):
    (tmp_path / "s.csv").write_text(",a,b\na,,NA\nb,nan,0.5\n")
    assert np.isnan(fk.open_scores(tmp_path / "s.csv", missing=None)).sum() == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_an_npy_matrix_stays_on_disk_until_it_is_computed(tmp_path, dtype):
    np.save(tmp_path / "s.npy", (SCORES * 10).astype(dtype))
    np.save(tmp_path / "p.npy", np.array(PROBES))
    (tmp_path / "r.csv").write_text("subject_id,age\nanna,20\nbo,30\nanna,40\n")
    labels = (tmp_path / "p.npy", tmp_path / "r.csv")
    scores = fk.open_scores(tmp_path / "s.npy", missing=-10, labels=labels)
    assert isinstance(scores.data, da.Array)
    assert scores.dtype == scores.compute().dtype == np.float64
    assert ids(scores) == (PROBES, REFERENCES)
    expected = np.where(SCORES == -1, np.nan, SCORES * 10)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_a_large_matrix_is_neither_loaded_nor_sent(tmp_path):
    np.save(tmp_path / "s.npy", np.zeros((2000, 2000)))
    (tmp_path / "ids.txt").write_text("\n".join(map(str, range(2000))))
    tracemalloc.start()
    values = fk.open_scores(tmp_path / "s.npy", labels=tmp_path / "ids.txt").data
    task = pickle.dumps(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6 < values.nbytes
    assert len(task) < 1e5
    np.testing.assert_array_equal(pickle.loads(task)[:3, 1990:].compute(), np.zeros((3, 10)))


def test_one_file_of_ids_serves_both_sides(tmp_path):
    np.save(tmp_path / "s.npy", np.eye(2))
    (tmp_path / "ids.txt").write_text("a\nb\n")
    assert ids(fk.open_scores(tmp_path / "s.npy", labels=tmp_path / "ids.txt")) == (
        ["a", "b"],
        ["a", "b"],
    )


@pytest.mark.parametrize(("missing", "n_missing"), [(-1, 1), (None, 0), (0.2, 1)])
def test_the_public_door_takes_marks_and_files_of_ids(tmp_path, missing, n_missing):
    np.save(tmp_path / "s.npy", SCORES)
    (tmp_path / "p.txt").write_text("\n".join(PROBES))
    (tmp_path / "r.txt").write_text("\n".join(REFERENCES))
    labels = (tmp_path / "p.txt", tmp_path / "r.txt")
    scores = fk.open_scores(tmp_path / "s.npy", missing=missing, labels=labels)
    assert scores.dims == ("probe", "reference")
    assert scores.reference_identity.values.tolist() == REFERENCES
    assert int(np.isnan(scores).sum()) == n_missing


def test_labels_are_cleaned_as_those_of_faces():
    references = np.array([b"anna", 7.0, "cy"], object)
    scores = fk.score_matrix(
        SCORES, [" anna", "7"], references, attributes={"age": ([20, None], ["", 30, 40])}
    )
    assert ids(scores) == (["anna", "7"], ["anna", "7", "cy"])
    assert (
        scores.probe_age.values.tolist() == ["20", "unknown"]
        and scores.reference_age.values[0] == "unknown"
    )
    with pytest.raises(InputError, match="probe_identity is missing or .unknown. in 1 probe.s.: 1"):
        fk.score_matrix(SCORES, ["anna", None], REFERENCES)


BAD = {
    "corner": ("id,a,b\na,1,2\n", "the first cell must be blank .*got 'id'"),
    "short": (",a,b\na,1,2\nb,1\n", r"s\.csv: line 3 has 2 cells; the first line has 3 cells"),
    "word": (",a,b\na,1,2\nb,1,x\n", "line 3, column 'b': 'x' is not a finite number"),
    "infinite": (",a,b\na,inf,2\n", "line 2, column 'a': 'inf' is not a finite number"),
    "no rows": (",a,b\n", "a header but no row"),
    "no references": ("\n \na\n", "a header but no row"),
    "probe id": (",a,b\na,1,2\n,3,4\n", "line 3: the probe's id in the first column is missing"),
    "reference id": (",a,\na,1,2\n", "reference_identity is missing or 'unknown' in 1 reference.s.: 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_text_matrix_is_refused_with_its_line(tmp_path, case):
    text, message = BAD[case]
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        fk.open_scores(tmp_path / "s.csv")


def test_bad_npy_matrices_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        fk.open_scores(tmp_path / "s.npy")
    np.save(tmp_path / "s.npy", SCORES)
    with pytest.raises(
        InputError, match="needs ids: no s_probe.txt, _probe.csv, _probe.npy beside it; say labels="
    ):
        fk.open_scores(tmp_path / "s.npy")
    (tmp_path / "ids.txt").write_text("a\nb\n")
    with pytest.raises(
        InputError,
        match="lengths differ: reference_identity has 2 labels, but there are 3 references",
    ):
        fk.open_scores(tmp_path / "s.npy", labels=tmp_path / "ids.txt")
    with pytest.raises(InputError, match="one path or a pair of paths, got 3"):
        fk.open_scores(tmp_path / "s.npy", labels=["a", "b", "c"])
    for bad, message in [
        (np.zeros(3), "two dimensions"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[None]]), "unpickling"),
    ]:
        np.save(tmp_path / "s.npy", bad)
        with pytest.raises(InputError, match=message):
            fk.open_scores(tmp_path / "s.npy", labels=tmp_path / "ids.txt")
    np.savez(tmp_path / "s.npz", SCORES)
    with pytest.raises(InputError, match="a score matrix is read from"):
        fk.open_scores(tmp_path / "s.npz")


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=1, max_size=4))
def test_any_numbers_come_back_to_the_last_bit(tmp_path, rows):
    values = np.array(rows)
    write_csv(tmp_path / "s.csv", values, [f"p{k}" for k in range(len(values))], ["a", "b"])
    np.testing.assert_array_equal(fk.open_scores(tmp_path / "s.csv", missing=None), values)


@pytest.mark.skipif(not SHARED.exists(), reason="the folder of real data is not here")
def test_a_real_matrix():
    """That a matrix as NIST stores it opens; the format itself is held by the tests above."""
    values = fk.open_scores(SHARED / "bssr1_face_c.csv.gz")
    assert values.shape == (517, 517)
    probes, references = ids(values)
    assert set(probes) == set(references) and len(set(probes)) == 517
    values = values.values
    assert np.isnan(values).all(axis=0).sum() == 1
    assert np.isnan(values).sum() == 517


@pytest.mark.filterwarnings("ignore::frkit.base.DataWarning")
@pytest.mark.parametrize(
    "weighting", ["identity", "pair", {name: 0.1 + 0.07 * k for k, name in enumerate("abcdefg")}]
)
@pytest.mark.parametrize("impostors", ["all", {"team": "other"}])
def test_a_group_without_a_comparison_that_counts_has_no_rate(weighting, impostors):
    identity = np.repeat(
        list("abcdefg"), [3, 2, 4, 3, 2, 3, 2]
    )  # weights whose sums leave rounding behind
    team = np.where(np.isin(identity, list("abc")), "red", "blue")
    values = np.random.default_rng(0).normal(size=(19, 19)) + 2 * (identity[:, None] == identity)
    red = (team == "red")[:, None] & (team == "red")
    if impostors == "all":
        values = np.where(red, np.nan, values)
    names = [f"image {i}" for i in range(19)]
    labels = {"team": (team, team)}
    scores = fk.score_matrix(
        values, identity, identity, probe=names, reference=names, attributes=labels
    )
    options = {"weighting": weighting, "impostors": impostors, "histogram": 10}
    evaluation = fk.evaluate(
        scores, far=[0.1], by="team", resampling=fk.Resampling("identity", n=5), **options
    )
    none = ["far_group", "far_cross", "eer_group", "auc_group", "impostor_mean_group"]
    for node in ("empirical", "vstatistic", "replicates"):
        found = evaluation[node].sel(group="red", reference_group="red")
        assert all(found[name].isnull().all() for name in none), node
    assert (
        fk.band(evaluation, "far_cross")
        .sel(group="red", reference_group="red")
        .lower.isnull()
        .all()
    )
