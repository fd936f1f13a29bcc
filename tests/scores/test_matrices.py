"""Score matrices: values, ids of both sides, and failed comparisons."""

import pickle
import re
import tracemalloc

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused
from scipy.io import savemat
from scipy.sparse import csr_array

import frkit as fk

pytestmark = pytest.mark.filterwarnings(
    "ignore:[0-9]+ genuine and [0-9]+ impostor comparisons failed"
)

SCORES = np.array([[0.9, 0.1, -1.0], [0.2, 0.8, 0.3]])
PROBES, REFERENCES = ["anna", "bo"], ["anna", "bo", "anna"]


def ids(scores):
    return scores.probe_identity.values.tolist(), scores.reference_identity.values.tolist()


@pytest.mark.parametrize("name", ["s.csv", "s.csv.gz"])
def test_a_text_matrix_with_repeated_ids(tmp_path, name):
    pd.DataFrame(SCORES, PROBES, REFERENCES).to_csv(tmp_path / name)
    with refused(-1, "missing=") as question:
        fk.open_data(tmp_path / name, kind="matrix")
    assert question.value.answers == [{"missing": [-1]}, {"missing": []}]
    scores = fk.open_data(tmp_path / name, kind="matrix", missing=-1)
    np.testing.assert_array_equal(scores, np.where(SCORES == -1, np.nan, SCORES))
    whole = fk.open_data(tmp_path / name, kind="matrix", missing=[], columns={"score": "all cells"})
    np.testing.assert_array_equal(whole, SCORES)
    assert ids(scores) == (PROBES, REFERENCES)
    (tmp_path / name.removesuffix(".gz")).write_text(",a,b\na,, NA\nb,0.5,nan\n")
    path = tmp_path / name.removesuffix(".gz")
    options = {"same_images": False, "columns": {"score": "all cells"}}
    blank = fk.open_data(path, kind="matrix", missing=None, **options)
    assert np.isnan(blank).sum() == 3


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_an_npy_matrix_stays_on_disk_until_it_is_computed(tmp_path, dtype):
    square = np.vstack([SCORES, [[0.7, 0.1, 0.6]]])
    people = REFERENCES
    np.save(tmp_path / "s.npy", (square * 10).astype(dtype))
    labels = tmp_path / "who.csv"
    pd.DataFrame({"subject_id": people, "age": [20, 30, 40]}).to_csv(labels, index=False)
    options = {"labels": labels, "same_images": False, "columns": {"score": "all cells"}}
    scores = fk.open_data(tmp_path / "s.npy", kind="matrix", missing=-10, **options)
    assert isinstance(scores.data, da.Array)
    assert scores.dtype == scores.compute().dtype == np.float64
    assert ids(scores) == (people, people)
    expected = np.where(square == -1, np.nan, square * 10)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_a_large_matrix_is_neither_loaded_nor_sent(tmp_path):
    np.save(tmp_path / "s.npy", np.tile(np.arange(2000.0), (2000, 1)))
    (tmp_path / "ids.txt").write_text("\n".join(str(k // 2) for k in range(2000)))
    options = {"labels": tmp_path / "ids.txt", "same_images": False}
    options["columns"] = {"score": "all cells"}
    fk.open_data(tmp_path / "s.npy", kind="matrix", **options)  # imports are no matrix
    tracemalloc.start()
    values = fk.open_data(tmp_path / "s.npy", kind="matrix", **options).data
    task = pickle.dumps(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < values.nbytes / 3
    assert len(task) < 1e5
    rows = np.tile(np.arange(1990.0, 2000), (3, 1))
    np.testing.assert_array_equal(pickle.loads(task)[:3, 1990:].compute(), rows)


IDS = [*"aabbccdd"]
BAD = {
    "infinite": (",a,b\na,inf,2\n", "line 2, column 'a': 'inf'"),
    "probe id": (",a,b\na,1,2\n,3,4\n", "probe_identity"),
    "reference id": (",a,\na,1,2\n", "reference"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_text_matrix_is_refused_with_its_line(tmp_path, case):
    text, message = BAD[case]
    (tmp_path / "s.csv").write_text(text)
    with refused(message):
        fk.open_data(tmp_path / "s.csv", kind="matrix", same_images=False)


def test_bad_npy_matrices_are_refused(tmp_path):
    path, ids = tmp_path / "s.npy", tmp_path / "ids.txt"
    np.save(path, SCORES)
    with refused("s.npy", "labels"):
        fk.open_data(path, kind="matrix")
    ids.write_text("a\nb\n")
    with refused("row", "column"):
        fk.open_data(path, kind="matrix", missing=-1, labels=ids)
    with refused("labels"):
        fk.open_data(path, kind="matrix", missing=-1, labels=[ids, ids])


@pytest.mark.slow
def test_minus_one_among_other_scores_is_a_score(tmp_path):
    """Where it may be a mark, frkit asks."""
    who = np.repeat([f"p{k}" for k in range(10)], 6)
    rng = np.random.default_rng(0)
    failed = rng.random((60, 60)) < 0.05
    near = rng.normal(size=(60, 60)) + 2 * (who[:, None] == who)
    pd.DataFrame(np.where(failed, -1, near), who, who).to_csv(tmp_path / "near.csv")
    with refused(-1):
        fk.open_data(tmp_path / "near.csv", same_images=False)
    scores = fk.open_data(tmp_path / "near.csv", same_images=False, missing=[])
    assert not np.isnan(scores).any()
    far = pd.DataFrame(np.where(failed, -1, near + 10), who, who)
    far.to_csv(tmp_path / "far.csv")
    for opened in (
        lambda **options: fk.open_data(tmp_path / "far.csv", same_images=False, **options),
        lambda **options: fk.open_data(far, same_images=False, **options),
    ):
        with refused(-1):
            opened()
        assert np.isnan(opened(missing=-1)).sum() == failed.sum()
        assert not np.isnan(opened(missing=[])).any()


@pytest.mark.parametrize("empty", [np.nan, 0])
@pytest.mark.parametrize("half", [np.triu, np.tril])
def test_a_matrix_with_one_half_is_refused_with_the_line_that_completes_it(half, empty):
    who = np.repeat(list("abcdefgh"), 3)
    names = [f"image {k}" for k in range(24)]
    values = np.random.default_rng(0).normal(size=(24, 24)) + 3 * (who[:, None] == who)
    whole = np.triu(values, 1) + np.triu(values, 1).T
    table = np.where(half(np.ones((24, 24)), 1 if half is np.triu else -1), whole, empty)
    with refused(answers=[{"same_images": True}, {"same_images": False}]):
        fk.score_matrix(table, who, who)
    for options in ({"same_images": True}, {"probe": names, "reference": names}):
        with refused("half"):
            fk.score_matrix(table, who, who, **options)
    table = np.where(np.isnan(table) | (table == 0), table.T, table)
    scores = fk.score_matrix(table, who, who, probe=names, reference=names)
    assert scores.attrs["symmetric"] == 1
    np.testing.assert_array_equal(scores.values[whole != 0], whole[whole != 0])


def test_ids_of_a_symmetric_matrix_that_stand_once_are_no_people(tmp_path):
    values = np.random.default_rng(0).normal(size=(9, 9))
    ids = [f"{k:03d}x" for k in range(9)]
    pd.DataFrame(values + values.T, ids, ids).to_csv(tmp_path / "m.csv")
    with refused("m.csv"):
        fk.open_data(tmp_path / "m.csv")


def test_identities_of_one_side_alone_are_refused():
    with refused("probe_identity", "reference_identity"):
        fk.score_matrix(np.eye(3), ["a", "a", "b"])


SHARES = {name: 0.1 + 0.07 * k for k, name in enumerate("abcdefg")}  # sums leave rounding behind


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("weighting", ["identity", "pair", SHARES])
def test_a_group_without_a_comparison_that_counts_has_no_rate(weighting):
    identity = np.repeat(list("abcdefg"), [3, 2, 4, 3, 2, 3, 2])
    team = np.where(np.isin(identity, list("abc")), "red", "blue")
    values = np.random.default_rng(0).normal(size=(19, 19)) + 2 * (identity[:, None] == identity)
    red = team == "red"
    values[np.ix_(red, red)] = np.nan
    names = [f"image {i}" for i in range(19)]
    labels = {"team": (team, team)}
    sides = dict(probe=names, reference=names, attributes=labels)
    evaluation = fk.evaluate(
        fk.score_matrix(values, identity, identity, **sides),
        far=[0.1],
        by="team",
        resampling=fk.Resampling("identity", n=5),
        weighting=weighting,
        histogram=10,
    )
    none = ["far_group", "far_cross", "eer_group", "impostor_mean_group"]
    for node in ("empirical", "vstatistic", "replicates"):
        rates = evaluation[node].sel(group="red", reference_group="red")
        assert all(rates[name].isnull().all() for name in none), node
    band = fk.band(evaluation, "far_cross").sel(group="red", reference_group="red")
    assert band.lower.isnull().all()


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_one_image_that_is_unlike_itself_is_rejected_as_a_copy():
    """Where some score on the diagonal was changed, the whole diagonal is read as it is."""
    rng = np.random.default_rng(0)
    scores = fk.score_tensor(fk.faces(rng.normal(size=(12, 8)), np.repeat(list("abcd"), 3)))
    values = scores.values.copy()
    np.fill_diagonal(values, 1.0)
    values[5, 5] = 0.0
    changed = scores.copy(data=da.from_array(values))
    read = changed.copy()
    del read.attrs["self_score"]
    options = dict(threshold=[0.9], resampling=fk.Resampling("image", n=20, seed=1))
    frr, frr_read, frr_exact = (
        fk.evaluate(each, **options)["replicates"].frr for each in (changed, read, scores)
    )
    np.testing.assert_array_equal(frr, frr_read)
    assert (frr > frr_exact).any()


# --- one set of images or two ---

TWENTY = np.repeat(np.arange(20), 2)
UNEQUAL = np.random.default_rng(0).random((40, 40)) + 0.4 * np.equal.outer(TWENTY, TWENTY)
EQUAL = (UNEQUAL + UNEQUAL.T) / 2
SCALES = {
    "as it is": lambda scores: scores,
    "far from 0": lambda scores: scores + 1e6,
    "below 0": lambda scores: 1e3 * (scores - 5),
    "tiny": lambda scores: 1e-12 * scores,
    "single precision": lambda scores: (scores + 1e4).astype(np.float32),
}


def images(scores, **options):
    names = [f"image {k}" for k in range(40)]
    options |= {"probe": names, "reference": names, "same_images": True}
    return fk.score_matrix(scores, TWENTY, TWENTY, **options)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("on_disk", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_neither_shift_nor_scale_makes_scores_symmetric(scale, on_disk):
    for scores, symmetric in ((UNEQUAL, 0), (EQUAL, 1)):
        scores = SCALES[scale](scores)
        matrix = images(da.from_array(scores) if on_disk else scores)
        assert matrix.symmetric == symmetric
        rates = fk.evaluate(matrix, far=[0.1, 0.3])["empirical"].frr
        off = ~np.eye(40, dtype=bool)  # in a symmetric one both halves say the same
        genuine = np.equal.outer(TWENTY, TWENTY) & off
        impostors = np.sort(scores[~genuine & off])
        for level, frr in zip((0.1, 0.3), rates.values):
            threshold = impostors[len(impostors) - int(level * len(impostors) + 1e-9) - 1]
            rejected = scores <= threshold
            expected = np.mean([rejected[k][genuine[k]].mean() for k in range(40)])
            assert frr == pytest.approx(expected, abs=1e-6)


def test_rounding_and_marks_of_failure_leave_scores_symmetric():
    noise = np.random.default_rng(1).normal(scale=1e-8, size=EQUAL.shape)
    assert images(EQUAL + noise).symmetric == 1
    failed = EQUAL.copy()
    failed[3, 7] = failed[7, 3] = -1e9
    assert images(failed, missing=-1e9).symmetric == 1
    failed = UNEQUAL.copy()
    failed[np.triu_indices(40, 20)] = failed[np.tril_indices(40, -20)] = -1e9
    assert images(failed, missing=-1e9).symmetric == 0


def test_a_plain_data_array_is_read_like_its_array():
    for values in (UNEQUAL, da.from_array(UNEQUAL)):
        from_data_array = images(xr.DataArray(values))
        np.testing.assert_array_equal(from_data_array, images(UNEQUAL))


REFUSED = {
    "names of references alone": (
        lambda: fk.score_matrix(UNEQUAL, TWENTY, TWENTY, reference=np.arange(40)),
        "probe= and reference=",
    ),
    "names of probes alone": (
        lambda: fk.score_matrix(UNEQUAL, TWENTY, TWENTY, probe=np.arange(40)),
        "probe= and reference=",
    ),
    "a sparse matrix": (
        lambda: fk.score_matrix(csr_array(np.eye(2)), ["a", "b"], ["a", "b"]),
        "sparse matrix",
    ),
    "whole numbers beyond float64's": (
        lambda: fk.score_matrix(2**60 + np.eye(2, dtype=int), *[["a", "b"]] * 2, same_images=False),
        "float64",
    ),
    "such numbers on disk, when they are read": (
        lambda: fk.score_matrix(
            da.from_array(2**60 + np.eye(2, 3, dtype=int)), ["a", "b"], ["a", "b", "c"]
        ).compute(),
        "float64",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_scores_that_would_give_a_wrong_number_are_refused(case):
    call, message = REFUSED[case]
    with refused(message):
        call()


@pytest.mark.parametrize("write", [np.savez, lambda path, **arrays: savemat(path, arrays)])
def test_a_matrix_among_named_arrays_has_labels_of_both_sides(tmp_path, write):
    path = tmp_path / ("m.npz" if write is np.savez else "m.mat")
    sides = {"probe_ids": PROBES, "gallery_ids": REFERENCES}
    sexes = {"probe_sex": list("fm" * len(PROBES))[: len(PROBES)]}
    sexes["gallery_sex"] = list("fm" * len(REFERENCES))[: len(REFERENCES)]
    arrays = {name: np.array(labels) for name, labels in (sides | sexes).items()}
    write(path, scores=SCORES, **arrays)
    scores = fk.open_data(path, missing=-1)
    assert ids(scores) == (PROBES, REFERENCES)
    np.testing.assert_array_equal(scores, np.where(SCORES == -1, np.nan, SCORES))
    assert scores["probe_sex"].values.tolist() == sexes["probe_sex"]
    columns = {"distance": "scores", "probe_identity": "probe_sex"}
    columns["reference_identity"] = "gallery_sex"
    with refused("probe_ids", "gallery_ids"):
        fk.open_data(path, columns=columns, missing=-1)
    columns |= {"probe_ids": None, "gallery_ids": None}
    turned = fk.open_data(path, columns=columns, missing=-1)
    np.testing.assert_array_equal(turned, -scores)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_square_matrix_may_have_one_array_of_people(tmp_path):
    rng = np.random.default_rng(0)
    who = np.repeat(list("abcdefgh"), 3)
    square = rng.normal(size=(24, 24)) + 3 * (who[:, None] == who)
    np.savez(tmp_path / "m.npz", similarity=square + square.T, labels=who)
    with refused(answers=[{"same_images": True}, {"same_images": False}]):
        fk.open_data(tmp_path / "m.npz")
    scores = fk.open_data(tmp_path / "m.npz", same_images=True)
    assert ids(scores) == (who.tolist(), who.tolist()) and scores.attrs["symmetric"]


def test_embeddings_with_as_many_features_as_images_are_asked_about(tmp_path):
    rng = np.random.default_rng(0)
    embedding = rng.normal(size=(8, 24)).repeat(3, 0) + 0.3 * rng.normal(size=(24, 24))
    np.savez(tmp_path / "f.npz", facenet=embedding, labels=np.repeat(list("abcdefgh"), 3))
    with refused("kind='matrix'", "kind='faces'"):
        fk.open_data(tmp_path / "f.npz")
    faces = fk.open_data(tmp_path / "f.npz", kind="faces", identity="labels")
    assert faces.embedding.shape == (24, 24)


def test_repeated_ids_that_pandas_numbered_are_people(tmp_path):
    """It reads a header a,a,b,b as a, a.1, b, b.1."""
    values = np.random.default_rng(0).normal(size=(8, 8)) + 3 * np.equal.outer(IDS, IDS)
    pd.DataFrame(values, IDS, IDS).to_csv(tmp_path / "m.csv")
    square = pd.read_csv(tmp_path / "m.csv", index_col=0)
    for frame in (square, square[::2]):
        frame.to_csv(tmp_path / "again.csv")
        for source in (frame, tmp_path / "again.csv"):
            scores = fk.open_data(source, kind="matrix", same_images=False)
            assert ids(scores) == (frame.index.tolist(), IDS)


def test_other_images_of_the_same_people_are_a_set_of_their_own():
    """As of eyes: the diagonal of the square has genuine pairs."""
    people = np.repeat(["a", "b", "c", "d"], 3)
    left, right = ([f"{who}_{k}_{eye}" for k, who in enumerate(people)] for eye in "LR")
    values = np.random.default_rng(0).normal(size=(12, 12)) + (people[:, None] == people)
    scores = fk.score_matrix(values, people, people, probe=left, reference=right)
    assert scores.reference.values.tolist() == right and scores.symmetric == 0
    who = scores["probe_identity"].values[:, None] == scores["reference_identity"].values
    rates = fk.evaluate(scores, threshold=[0.5], weighting="pair")["empirical"]
    assert rates.frr.item() == pytest.approx(np.mean(scores.values[who] <= 0.5))


@pytest.mark.parametrize("form", ["endings", "folders", "numbers", "same_images"])
def test_a_symmetric_matrix_has_no_second_set_of_images(form):
    """Its diagonal, images with themselves, would be genuine, and each pair would count twice."""
    people = np.repeat([*"abcdefgh"], 3)
    values = np.random.default_rng(0).normal(size=(24, 24))
    values += values.T
    names = np.array([f"{who}_{k}.jpg" for k, who in enumerate(people)])
    columns = {
        "endings": [name[:-4] + ".png" for name in names],
        "folders": [f"other/{name}" for name in names],
        "numbers": np.arange(24).astype(str),
        "same_images": None,
    }[form]
    options = {"probe": names, "reference": columns}
    if columns is None:
        options = {"same_images": False}
    with refused("symmetric"):
        fk.score_matrix(values, people, people, **options)
    values[0, 1] += 1
    fk.score_matrix(values, people, people, **options)


def below_each_other(models, names):
    """Two models' symmetric matrices in one table, as pd.concat makes it."""
    return pd.concat([pd.DataFrame(values, names, names) for values in models.values()])


@pytest.mark.parametrize("form", ["people", "images"])
def test_matrices_of_two_models_below_each_other_are_refused(form):
    """Images compared with themselves would be genuine pairs of both models."""
    people = np.repeat([*"abcdefgh"], 3)
    values = np.random.default_rng(0).normal(size=(24, 24)) + 3 * (people[:, None] == people)
    models = {"a": values + values.T, "b": 2 * (values + values.T)}
    names = people if form == "people" else [f"{who}{k}" for k, who in enumerate(people)]
    with refused("several models"):
        fk.open_data(below_each_other(models, names), kind="matrix")
    frame = below_each_other(models, people)
    n = len(frame.columns)
    parts = {"a": frame[:n], "b": frame[n:]}
    opened = fk.open_data(parts, kind="matrix", same_images=True)
    np.testing.assert_array_equal(opened, [*models.values()])
    of_sessions = {"a": values, "b": values + 1}  # not symmetric: probes of two days
    assert fk.open_data(below_each_other(of_sessions, people), kind="matrix").shape == (48, 24)


def test_columns_beside_those_of_people_are_noticed(tmp_path):
    rng = np.random.default_rng(0)
    probes = np.repeat([*"abcdefgh"], 3)
    values = rng.normal(size=(24, 8)) + 3 * (probes[:, None] == probes[::3])
    frame = pd.DataFrame(values, probes, probes[::3])
    expected = fk.open_data(frame, missing=[])
    frame["quality"] = rng.uniform(size=24)
    frame.to_csv(tmp_path / "m.csv")
    with pytest.warns(fk.DataWarning, match="quality") as notices:
        fk.open_data(tmp_path / "m.csv", missing=[])
    (line,) = re.findall(r"fk.open_data\((frame.drop.*?\]\))", str(notices[0].message))
    read = fk.open_data(eval(line, {"frame": frame}), missing=[])
    np.testing.assert_array_equal(read, expected)


def test_a_column_beside_those_of_images_is_noticed():
    people = np.repeat([*"abcdefgh"], 3)
    images = [f"{who}_{k}.jpg" for k, who in enumerate(people)]
    values = np.random.default_rng(0).normal(size=(24, 24)) + 3 * (people[:, None] == people)
    frame = pd.DataFrame(values + values.T, images, images)
    options = {"identity": "{name}_{number}.jpg"}
    expected = fk.open_data(frame, **options)
    with pytest.warns(fk.DataWarning, match="mean") as notices, refused("mean"):
        fk.open_data(frame.assign(mean=values.mean(1)), **options)
    (line,) = re.findall(r"fk.open_data\((frame.drop.*?\]\))", str(notices[0].message))
    read = fk.open_data(eval(line, {"frame": frame.assign(mean=0.5)}), **options)
    np.testing.assert_array_equal(read, expected)


@pytest.mark.parametrize("names", [("query", "target"), ("rows", "cols")])
def test_a_matrix_of_any_name_has_the_sides_that_the_user_gives(tmp_path, names):
    people = np.repeat([*"abcdefgh"], 3)
    values = np.random.default_rng(0).normal(size=(24, 16))
    values += 3 * (people[:, None] == people[:16])
    np.savez(tmp_path / "m.npz", S=values, **dict(zip(names, (people, people[:16]))))
    roles = dict(zip(("probe_identity", "reference_identity"), names))
    scores = fk.open_data(tmp_path / "m.npz", columns=roles)
    assert ids(scores) == (people.tolist(), people[:16].tolist())


def test_a_mark_in_one_row_of_a_large_matrix_is_asked_about():
    people = np.arange(1200) // 2
    values = np.random.default_rng(0).uniform(size=(1200, 1200))
    values = (values + values.T) / 2
    values[1, 2:6] = values[2:6, 1] = -1
    with refused(-1) as asked:
        fk.score_matrix(values, people, people, same_images=True)
    assert {"missing": [-1.0]} in asked.value.answers


def test_arrays_without_a_usual_name_beside_a_matrix_are_asked_about(tmp_path):
    rng = np.random.default_rng(0)
    who = np.repeat(list("abcdefgh"), 3)
    square = rng.normal(size=(24, 24)) + 3 * (who[:, None] == who)
    arrays = {"identity": who, "gender": np.resize(["f", "m"], 24)}
    arrays |= {"room": np.resize(["north", "south"], 24), "thresholds": np.arange(5)}
    np.savez(tmp_path / "m.npz", similarity=square + square.T, **arrays)
    with pytest.raises(fk.InputError) as question:
        fk.open_data(tmp_path / "m.npz", same_images=True)
    read = [eval(call, {"fk": fk}) for call in question.value.calls]
    assert ["probe_room" in scores.coords for scores in read] == [True, False]
    assert all("probe_gender" in scores.coords for scores in read)
