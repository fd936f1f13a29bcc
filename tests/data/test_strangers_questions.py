"""What a stranger's files are refused with can be copied, and does not ask the same again."""

import re
import warnings
from contextlib import nullcontext

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import xarray as xr
from named import named
from refusals import noticed, refused

import frkit as fk
from frkit.__main__ import main

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
RNG = np.random.default_rng(7)
WHO = np.repeat(np.arange(20), 4)
VECTORS = RNG.normal(size=(20, 16))[WHO] + 0.7 * RNG.normal(size=(80, 16))
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
COSINE = VECTORS @ VECTORS.T
PEOPLE = np.array([f"p{k:02d}" for k in WHO])
IMAGES = np.array([f"p{k:02d}_{shot}.jpg" for k, shot in zip(WHO, np.tile(range(4), 20))])
FIRST, SECOND = np.triu_indices(80, 1)
SAME = WHO[FIRST] == WHO[SECOND]
SCORES = COSINE[FIRST, SECOND]
NAMED = pd.DataFrame({"image1": IMAGES[FIRST], "image2": IMAGES[SECOND]})
LABELLED = pd.DataFrame({"score": SCORES, "genuine": SAME.astype(int)})
BY_NUMBER = "{name}_{number}.jpg"


def asked_about(source, **options):
    """The question about a file or table: its message, and the calls that it proposes."""
    with pytest.raises(fk.InputError) as question:
        fk.open_data(source, **options)
    return str(question.value), question.value.calls


def line_in(message, beginning="fk.open_data("):
    """The first call in a message, up to its last bracket."""
    start = message.index(beginning)
    depth = 0
    for end in range(start, len(message)):
        depth += (message[end] == "(") - (message[end] == ")")
        if depth == 0 and message[end] == ")":
            return message[start : end + 1]


def run(line, **names):
    return eval(line, {"fk": fk, "pd": pd, "np": np, **names})


def scores_of(data):
    return named(data).score.values, named(data).genuine.values


# --- numbers that mark failures -------------------------------------------------------------------


@pytest.mark.parametrize("column", ["distance", "score"])
@pytest.mark.parametrize("nearest, step", [(2, 0.01), (5, 1)])
def test_zeros_of_failures_among_true_numbers_are_asked_about(column, nearest, step):
    numbers = np.round(70 * (1 - SCORES) / 2 if column == "distance" else 35 * (1 + SCORES))
    numbers += nearest - numbers.min()
    is_failed = RNG.random(len(numbers)) < 0.06
    table = LABELLED[["genuine"]].assign(**{column: np.where(is_failed, 0, numbers) * step})
    message, calls = asked_about(table)
    assert f"the {column} 0 " in message
    scores, _ = scores_of(run(calls[0], frame=table))
    np.testing.assert_array_equal(np.isnan(scores), is_failed)
    scores, _ = scores_of(run(calls[1], frame=table))
    assert not np.isnan(scores).any()


@pytest.mark.parametrize("column", ["distance", "score"])
def test_whole_numbers_without_a_mark_are_not_asked_about(column):
    numbers = np.round(70 * (1 - SCORES) / 2 if column == "distance" else 35 * (1 + SCORES))
    table = LABELLED[["genuine"]].assign(**{column: numbers - numbers.min()})
    assert not np.isnan(scores_of(fk.open_data(table))[0]).any()


@pytest.mark.parametrize(
    "code, column", [(0.5, "score"), (1.0, "distance"), (1.01, "score"), (1.01, "distance")]
)
def test_codes_of_failure_among_the_scores_are_asked_about(code, column):
    scores = 0.49 * (1 + SCORES)
    is_failed = RNG.random(len(scores)) < 0.06
    given = np.where(is_failed, code, scores)
    if column == "distance":
        given = 1.1 - given
    table = LABELLED[["genuine"]].assign(**{column: given})
    _, calls = asked_about(table)
    read, _ = scores_of(run(calls[0], frame=table))
    np.testing.assert_array_equal(np.isnan(read), is_failed)
    assert not np.isnan(scores_of(run(calls[1], frame=table))[0]).any()


@pytest.mark.parametrize("decimals", [1, 2, 3])
def test_rounded_scores_and_those_of_copies_are_not_asked_about(decimals):
    rounded = (0.49 * (1 + SCORES)).round(decimals)
    assert len(scores_of(fk.open_data(LABELLED.assign(score=rounded)))[0]) == len(SCORES)
    copies = np.where(SAME & (np.arange(len(SCORES)) % 3 > 0), 1.0, 0.49 * (1 + SCORES))
    assert len(scores_of(fk.open_data(LABELLED.assign(score=copies)))[0]) == len(SCORES)


# --- rows of several models, two eyes, copies, thresholds -----------------------------------------


@pytest.mark.parametrize(
    "form, name, labels",
    [
        ("in blocks", "run", ["a", "b"]),
        ("pair by pair", "variant", "xy"),
        ("people", "epoch", [1, 2]),
    ],
)
def test_the_same_pairs_of_several_models_are_asked_about(form, name, labels):
    rows = LABELLED
    if form == "people":
        rows = pd.DataFrame({"person1": PEOPLE[FIRST], "person2": PEOPLE[SECOND], "score": SCORES})
    noise = 0.1 * RNG.normal(size=len(rows))
    second = rows.assign(score=SCORES + noise)
    table = pd.concat([rows.assign(**{name: labels[0]}), second.assign(**{name: labels[1]})])
    if form == "pair by pair":
        table = table.sort_index(kind="stable")
    table = table.reset_index(drop=True)
    _, calls = asked_about(table)
    scores, _ = scores_of(run(calls[0], frame=table))
    np.testing.assert_allclose(scores, [SCORES, SCORES + noise])
    assert scores_of(run(calls[1], frame=table))[0].shape == (2 * len(SCORES),)


@pytest.mark.parametrize("in_order", [True, False])
def test_parts_of_one_list_are_no_models(in_order):
    """Folds, or groups, of as many pairs with one truth are other pairs."""
    table = LABELLED.iloc[:3000].sort_values("genuine", kind="stable", ignore_index=True)
    half = np.arange(3000) % 2
    table = table.assign(part=np.array(["x", "y"])[half])
    if in_order:
        table = table.sort_values("part", kind="stable", ignore_index=True)
    calls = asked_about(table)[1]
    assert scores_of(run(calls[-1], frame=table))[0].shape == (3000,)


@pytest.mark.parametrize(
    "form, name", [("faces", "eye"), ("people", "frgp"), ("genuine", "site"), ("matrix", "eye")]
)
def test_eyes_or_people_of_two_sites_under_one_name_are_no_silent_genuine_pairs(form, name):
    subject, part = np.char.add("q", (WHO // 2).astype(str)), np.array(["A", "B"])[WHO % 2]

    def opened(people):
        if form == "faces":
            return fk.faces(VECTORS, people, **{name: part})
        if form == "matrix":
            sides = {name: (part, part)}
            return fk.score_matrix(COSINE, people, people, attributes=sides, same_images=True)
        columns = {f"{name}_1": part[FIRST], f"{name}_2": part[SECOND], "score": SCORES}
        is_same = people[FIRST] == people[SECOND]
        who = {"person1": people[FIRST], "person2": people[SECOND]}
        columns |= who if form == "people" else {"genuine": is_same.astype(int)}
        attribute = {name: [f"{name}_1", f"{name}_2"]}
        return fk.open_data(pd.DataFrame(columns), columns=attribute)

    with noticed(name):
        opened(subject)
    with warnings.catch_warnings(action="error", category=fk.DataWarning):
        opened(np.char.add(subject, part))
        opened(PEOPLE)


def test_a_threshold_of_distances_has_no_minus():
    distances = fk.pairs(1 - SCORES, SAME, distance=True)
    with refused("threshold", "minus"):
        fk.evaluate(distances, threshold=[0.4, -0.4])
    below = SCORES - 1  # distances may be below 0
    fk.evaluate(fk.pairs(below, ~SAME, distance=True), threshold=[-0.4])
    fk.evaluate(fk.pairs(SCORES, SAME), threshold=[-0.4])


# --- names of rows and columns --------------------------------------------------------------------


def test_the_calls_for_a_labelled_array_run():
    values = xr.DataArray(
        COSINE + 0.01 * RNG.normal(size=COSINE.shape),
        dims=("probe", "reference"),
        coords={"probe": IMAGES, "reference": IMAGES},
    )
    with pytest.raises(fk.InputError) as question:
        fk.score_matrix(values)
    frame = values.to_pandas()
    line = line_in(str(question.value))
    with pytest.raises(fk.InputError) as question:
        run(line, frame=frame)
    for call in question.value.calls:
        assert run(call, frame=frame).shape == (80, 80)
    by_pattern = run(question.value.calls[0], frame=frame)
    assert by_pattern.probe_identity.values.tolist() == PEOPLE.tolist()


def test_images_in_rows_and_people_in_columns_get_a_line(tmp_path):
    gallery = VECTORS @ VECTORS[::4].T
    rows = [f"img{k}" for k in range(80)]
    pd.DataFrame(gallery, rows, PEOPLE[::4]).to_csv(tmp_path / "gallery.csv")
    frame = pd.read_csv(tmp_path / "gallery.csv", index_col=0)
    for same_images in (None, False):
        message, calls = asked_about(
            tmp_path / "gallery.csv", kind="matrix", same_images=same_images
        )
        assert calls == []
        scores = run(line_in(message, "fk.score_matrix("), frame=frame, people_of_rows=PEOPLE)
        genuine = scores.probe_identity.values[:, None] == scores.reference_identity.values
        assert genuine.sum() == 80


# --- the truth ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["genuine", "label"])
@pytest.mark.parametrize("table", [NAMED, NAMED[[]]], ids=["images", "no images"])
def test_labels_one_and_two_get_a_line_of_pandas(tmp_path, name, table):
    path = tmp_path / "pairs.csv"
    table.assign(**{name: SAME + 1}, score=SCORES).to_csv(path, index=False)
    message, calls = asked_about(path)
    data = run(line_in(message.split("others are")[1]), frame=pd.read_csv(path))
    np.testing.assert_array_equal(scores_of(data)[1], SAME)
    if calls:
        further, _ = asked_about(path, columns={"genuine": None})
        assert further != message and f"'genuine': '{name}'" not in further


@pytest.mark.parametrize("share", [0.2, 1])
def test_a_blank_truth_is_not_proposed(tmp_path, share):
    path = tmp_path / "pairs.csv"
    truth = pd.Series(SAME.astype(int)).where(RNG.random(len(SAME)) >= share)
    NAMED.assign(genuine=truth, score=SCORES).to_csv(path, index=False)
    message, calls = asked_about(path)
    assert not any("'genuine': 'genuine'" in call or "..." in call for call in calls)
    if share < 1:
        data = run(line_in(message), frame=pd.read_csv(path))
        assert len(scores_of(data)[0]) == truth.notna().sum()
    else:
        np.testing.assert_array_equal(scores_of(run(calls[0]))[1], SAME)


def test_the_only_column_that_can_be_meant_is_named(tmp_path):
    names = {"probe": IMAGES[FIRST], "other": IMAGES[SECOND]}
    table = pd.DataFrame(names | {"score": SCORES, "truth": SAME.astype(int)})
    _, [call] = asked_about(table, columns={"probe": "probe"})
    assert "'reference': 'other'" in call
    np.testing.assert_array_equal(scores_of(run(call, frame=table))[0], SCORES)


# --- arrays, and cells that are no numbers --------------------------------------------------------


@pytest.mark.parametrize("name", ["scores.npz", "scores.csv"])
def test_genuine_and_impostor_scores_get_a_line(tmp_path, name):
    path = tmp_path / name
    kinds = {"positive": SCORES[SAME], "negative": SCORES[~SAME]}
    if name == "scores.npz":
        np.savez(path, **kinds, threshold=0.4)
    else:
        pd.DataFrame({kind: pd.Series(each) for kind, each in kinds.items()}).to_csv(
            path, index=False
        )
    message, _ = asked_about(path)
    with np.load(path) if name == "scores.npz" else nullcontext(pd.read_csv(path)) as data:
        scores, genuine = scores_of(run(line_in(message), data=data))
    np.testing.assert_array_equal(scores, np.r_[SCORES[SAME], SCORES[~SAME]])
    assert genuine.tolist() == [True] * SAME.sum() + [False] * (~SAME).sum()


def test_attacks_in_an_npz_say_what_the_frame_is(tmp_path):
    path = tmp_path / "scores.npz"
    kind = np.where(SAME, "genuine", "impostor")
    kind[::9] = "attack"
    np.savez(path, score=SCORES, kind=kind)
    message, _ = asked_about(path)
    frame = run(line_in(message, "pd.DataFrame("), path=path)
    others = run(re.search(r"frame\[frame\[.*?isin\(.*?\)\]", message)[0], frame=frame)
    scores, genuine = scores_of(fk.open_data(others))
    is_pair = np.arange(len(SCORES)) % 9 > 0
    np.testing.assert_array_equal(scores, SCORES[is_pair])
    np.testing.assert_array_equal(genuine, SAME[is_pair])


def test_columns_that_are_not_numbered_become_an_embedding_by_a_line():
    columns = list("abcdefghijklmnop")
    frame = pd.DataFrame(VECTORS, columns=columns).assign(person=PEOPLE)
    for options in ({}, {"columns": {"embedding": columns, "identity": "person"}}):
        message, _ = asked_about(frame, **options)
        faces = run(line_in(message, "fk.faces("), frame=frame, columns=columns)
        np.testing.assert_allclose(faces.embedding, VECTORS, atol=1e-6)


@pytest.mark.parametrize("of", ["images", "people"])
def test_an_array_for_each_name_gets_a_line(tmp_path, of):
    path = tmp_path / "many.npz"
    by_person = {name: VECTORS[PEOPLE == name] for name in np.unique(PEOPLE)}
    np.savez(path, **(dict(zip(IMAGES, VECTORS)) if of == "images" else by_person))
    message, _ = asked_about(path)
    line = line_in(message, "fk.open_data(" if of == "images" else "fk.faces(")
    with np.load(path) as arrays:
        faces = run(line, arrays=arrays)
    np.testing.assert_allclose(faces.embedding, VECTORS, atol=1e-6)
    assert faces.identity.values.tolist() == PEOPLE.tolist()


@pytest.mark.parametrize("form", ["{:.1f} %", "{:.1f}%", "{:,.1f}"])
def test_percentages_and_thousands_are_refused_by_their_line(tmp_path, form):
    path = tmp_path / "pairs.csv"
    texts = [form.format(number) for number in 1000 * (2 + SCORES)]
    LABELLED.assign(score=texts).to_csv(path, index=False)
    with refused("line 2", "score"):
        fk.open_data(path)


def test_a_struct_of_matlab_is_called_so(tmp_path):
    scipy.io.savemat(tmp_path / "faces.mat", {"T": {"features": VECTORS, "people": [1, 2]}})
    with refused("faces.mat", "T", "struct"):
        fk.look(tmp_path / "faces.mat")


def test_labels_with_two_people_in_an_image_say_nobody(tmp_path):
    labels = pd.DataFrame({"image": IMAGES, "person": PEOPLE, "light": ["day", "night"] * 40})
    labels = pd.concat([labels, labels.iloc[[3]].assign(person="p07")])
    np.savez(tmp_path / "faces.npz", embedding=VECTORS, image=IMAGES)
    for source in (tmp_path / "faces.npz", NAMED.assign(score=SCORES)):
        with noticed("person", "image"), refused("{name}_{number}.jpg"):
            fk.open_data(source, labels=labels)


# --- sentences ------------------------------------------------------------------------------------


def test_a_broken_file_is_not_called_a_pickle(tmp_path):
    for name in ("broken.npy", "broken.npz"):
        (tmp_path / name).write_bytes(b"no array at all")
        message, _ = asked_about(tmp_path / name)
        assert "damaged" in message and "can only be read by unpickling" not in message


def test_what_is_no_data_is_called_by_its_type():
    message, _ = asked_about(xr.DataArray([1.0, 2.0], dims="x"))
    assert "DataArray" in message and "report" not in message


# --- several models and files ---------------------------------------------------------------------


@pytest.mark.parametrize("form", ["one table", "two files"])
def test_one_model_of_similarities_and_one_of_distances_get_a_line(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    rows = NAMED.assign(genuine=SAME.astype(int))
    models = {"a": rows.assign(score=SCORES), "b": rows.assign(score=1 - SCORES)}
    for name, table in models.items():
        table.to_csv(f"{name}.csv", index=False)
    frame = pd.concat([table.assign(model=name) for name, table in models.items()])
    frame.to_csv("long.csv", index=False)
    columns = {"model": "model"} if form == "one table" else {}
    source = "long.csv" if columns else ["a.csv", "b.csv"]
    _, calls = asked_about(source, columns=columns)
    with pytest.raises(fk.InputError) as question:  # as the first call calls all of them distances
        run(calls[0])
    line = line_in(str(question.value))
    if form == "one table":
        for name in "ab":
            rows = f"frame[frame['model'] == '{name}'].drop(columns='model')"
            line = line.replace(f"'{name}.csv'", rows)
    data = run(line, frame=frame)
    a, b = (data["pairs"].score.sel(model=name).values for name in "ab")
    np.testing.assert_allclose(a - a.mean(), b - b.mean(), atol=1e-9)
    assert a[SAME].mean() > a[~SAME].mean()


def test_one_matrix_of_similarities_and_one_of_distances_are_refused(tmp_path):
    few = slice(0, 32)
    for name, values in {"a": COSINE, "b": 1 - COSINE}.items():
        frame = pd.DataFrame(values[few, few], IMAGES[few], IMAGES[few])
        frame.to_csv(tmp_path / f"{name}.csv")
    options = {"kind": "matrix", "identity": BY_NUMBER}
    for columns in ({"distance": "all cells"}, {"score": "all cells"}):
        with refused("similarities", "distances", "a" if "distance" in columns else "b"):
            fk.open_data([tmp_path / "a.csv", tmp_path / "b.csv"], columns=columns, **options)
    a = fk.open_data(tmp_path / "a.csv", **options)
    b = fk.open_data(tmp_path / "b.csv", columns={"distance": "all cells"}, **options)
    assert fk.open_data({"a": a, "b": b}).sizes["model"] == 2


def test_a_list_of_pairs_and_a_file_of_scores_get_a_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"sep": " ", "header": False, "index": False}
    NAMED.assign(genuine=SAME.astype(int))[["genuine", "image1", "image2"]].to_csv(
        "trials.txt", **options
    )
    NAMED.assign(score=SCORES).to_csv("scores.txt", **options)
    for order in (["trials.txt", "scores.txt"], ["scores.txt", "trials.txt"]):
        message, _ = asked_about(order)
        scores, genuine = scores_of(run(line_in(message, "fk.open_data('trials.txt'")))
        np.testing.assert_allclose(scores, SCORES)
        np.testing.assert_array_equal(genuine, SAME)


def test_people_of_a_list_without_images_have_no_number_of_images():
    names = {"person1": PEOPLE[FIRST], "person2": PEOPLE[SECOND]}
    report = fk.report(fk.open_data(pd.DataFrame(names | {"score": SCORES})), quick=True)
    [table] = [table for name, table in report.tables.items() if name.startswith("False rejects")]
    assert "images" not in table


def test_several_words_of_failure_are_proposed_together():
    """One answer after the other would drop the first."""
    table = pd.DataFrame({"genuine": [1, 0] * 30, "score": np.linspace(0, 1, 60).astype(str)})
    table.loc[[3, 9, 12], "score"] = ["timeout", "no face", "timeout"]
    table.loc[[4], "score"] = None
    with pytest.raises(fk.InputError) as refusal:
        fk.open_data(table)
    [answer] = refusal.value.answers
    assert answer == {"missing": ["timeout", "no face"]}
    assert fk.open_data(table, **answer)["pairs"].score.isnull().sum() == 4


def test_a_column_of_truth_is_not_proposed_as_one_of_models():
    pairs = {"image1": ["a", "a", "b"], "image2": ["b", "b", "c"], "genuine": [1, 1, 0]}
    table = pd.DataFrame(pairs | {"score": [0.9, 0.8, 0.1], "run": ["x", "y", "x"]})
    with pytest.raises(fk.InputError) as refusal:
        fk.open_data(table)
    models = [answer["columns"].get("model") for answer in refusal.value.answers]
    assert "genuine" not in models


def stacked_matrix():
    """A matrix of scores of images with each other, as pandas stacks it."""
    names = [f"p{person}_{image}.jpg" for image, person in enumerate(WHO)]
    return pd.DataFrame(COSINE, names, names).stack().to_frame("score")


def test_a_stacked_matrix_is_proposed_with_both_levels_of_its_index():
    with pytest.raises(fk.InputError) as refusal:
        fk.open_data(stacked_matrix())
    sides = {"probe": "level_0", "reference": "level_1"}
    assert {"columns": {"score": "score"} | sides} in refusal.value.answers


@pytest.mark.parametrize("ending", ["", "_identity"])
def test_images_compared_with_themselves_are_no_genuine_pairs_of_people(ending):
    """Called people, each would have one genuine pair, with the highest score: an FRR of 0."""
    columns = {"score": "score", f"probe{ending}": "level_0", f"reference{ending}": "level_1"}
    with pytest.raises(fk.InputError) as refusal:
        fk.open_data(stacked_matrix(), columns=columns)
    people = [answer.get("columns", {}).get("probe_identity") for answer in refusal.value.answers]
    assert not any(people)
    columns = {"score": "score", "probe": "level_0", "reference": "level_1"}
    pairs = fk.open_data(stacked_matrix(), columns=columns, identity="{name}_{number}.jpg")
    is_genuine = (WHO[:, None] == WHO)[np.triu_indices(80, 1)]
    rejected = COSINE[np.triu_indices(80, 1)][is_genuine] <= 0.6
    frr = fk.evaluate(pairs, threshold=[0.6])["empirical"].frr.item()
    assert frr == pytest.approx(rejected.mean())


def test_people_with_one_genuine_pair_each_stay_people():
    names = [f"p{person}" for person in range(20)]
    scores = VECTORS[::4] @ VECTORS[1::4].T
    frame = pd.DataFrame(scores, names, names).stack().to_frame("score")
    columns = {"score": "score", "probe_identity": "level_0", "reference_identity": "level_1"}
    assert fk.open_data(frame, columns=columns)["pairs"].genuine.sum() == 20


# --- dead ends ------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [NAMED.assign(genuine=SAME, score=SCORES), LABELLED])
def test_two_halves_of_a_list_get_a_line(tmp_path, table):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, rows in zip(paths, np.array_split(np.arange(len(table)), 2)):
        table.iloc[rows].to_csv(path, index=False)
    message, _ = asked_about(paths)
    scores, genuine = scores_of(run(line_in(message), paths=paths))
    np.testing.assert_allclose(scores, SCORES)
    np.testing.assert_array_equal(genuine, SAME)


@pytest.mark.parametrize("names", [("emb1", "emb2"), ("features_probe", "features_gallery")])
def test_embeddings_of_both_images_of_pairs_get_a_line(tmp_path, names):
    sides = dict(zip(names, (3 * VECTORS[FIRST], VECTORS[SECOND])))
    np.savez(tmp_path / "pairs.npz", **sides, label=SAME.astype(int))
    message, _ = asked_about(tmp_path / "pairs.npz")
    a, b = (sides[name] for name in names)
    scores, genuine = scores_of(run(line_in(message, "fk.pairs("), a=a, b=b, genuine=SAME))
    np.testing.assert_allclose(scores, SCORES)
    np.testing.assert_array_equal(genuine, SAME)


@pytest.mark.parametrize(
    "names", ["X_train y_train X_test y_test", "gallery gallery_id probe probe_id"]
)
@pytest.mark.parametrize("n_first", [7, len(VECTORS) // 2])
def test_embeddings_of_two_sets_get_a_line(tmp_path, names, n_first):
    parts = (VECTORS[:n_first], PEOPLE[:n_first], VECTORS[n_first:], PEOPLE[n_first:])
    sets = dict(zip(names.split(), parts))
    np.savez(tmp_path / "sets.npz", **sets)
    message, _ = asked_about(tmp_path / "sets.npz")
    line = line_in(message, "fk.faces(")
    for general, name in zip(("X_a", "people_a", "X_b", "people_b"), sets):
        line = line.replace(f"'{general}'", f"'{name}'")
    faces = run(line, data=sets)
    np.testing.assert_allclose(faces.embedding, VECTORS, rtol=1e-5)
    np.testing.assert_array_equal(faces.identity, PEOPLE)


@pytest.mark.parametrize("who", ["identity", "subject"])
def test_embeddings_with_a_column_for_each_image_get_a_line(tmp_path, who):
    arrays = {"features": VECTORS.T, "gender": WHO % 2, who: PEOPLE}
    np.savez(tmp_path / "faces.npz", **arrays)
    with refused("16 rows", who, 80) as refusal:
        fk.open_data(tmp_path / "faces.npz")
    line = line_in(str(refusal.value), "fk.faces(")
    faces = run(line.replace("embeddings", "features").replace("labels", who), data=arrays)
    np.testing.assert_allclose(faces.embedding, VECTORS, rtol=1e-5)
    np.testing.assert_array_equal(faces.identity, PEOPLE)


def test_a_blank_that_means_impostor_gets_a_line(tmp_path):
    path = tmp_path / "pairs.csv"
    NAMED.assign(genuine=np.where(SAME, "1", ""), score=SCORES).to_csv(path, index=False)
    message, _ = asked_about(path)
    line = line_in(message[message.index("means impostor") :])
    np.testing.assert_array_equal(scores_of(run(line, frame=pd.read_csv(path)))[1], SAME)


def test_genuine_and_impostor_scores_of_matlab_get_a_line(tmp_path):
    path = tmp_path / "scores.mat"
    scipy.io.savemat(path, {"genuine": SCORES[SAME], "impostor": SCORES[~SAME]})
    message, _ = asked_about(path)
    data = run(line_in(message, "scipy.io.loadmat("), path=path, scipy=scipy)
    scores, genuine = scores_of(run(line_in(message), data=data))
    np.testing.assert_allclose(scores[genuine], SCORES[SAME])


@pytest.mark.parametrize("label, score", [("", ""), ("1", "mean"), ("mean", "0.1")])
def test_a_total_below_the_data_is_refused_by_its_line(tmp_path, label, score):
    path = tmp_path / "pairs.csv"
    text = NAMED.assign(genuine=SAME.astype(int), score=SCORES).to_csv(index=False)
    path.write_text(f"{text}Total,Total,{label},{score}\n")
    with refused("line 3162"):
        fk.open_data(path)


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("place", [0, 2])
def test_scores_of_names_in_any_order(tmp_path, header, place):
    """Which name comes first differs between lines, and the score may come first."""
    trials = NAMED.assign(genuine=SAME.astype(int))[["genuine", "image1", "image2"]]
    trials.to_csv(tmp_path / "trials.txt", sep=" ", index=False, header=False)
    is_turned = RNG.random(len(NAMED)) < 0.5
    scored = pd.DataFrame(
        {
            "file": np.where(is_turned, NAMED.image2, NAMED.image1),
            "other": np.where(is_turned, NAMED.image1, NAMED.image2),
        }
    )
    scored.insert(place, "score", SCORES)
    scored = scored.iloc[RNG.permutation(len(scored))]
    scored.to_csv(tmp_path / "scores.txt", sep=" ", index=False, header=header)
    data = fk.open_data(tmp_path / "trials.txt", scores=tmp_path / "scores.txt")
    np.testing.assert_allclose(scores_of(data)[0], SCORES)


def test_trials_with_a_header_are_asked_for_their_scores(tmp_path):
    rows = {"label": SAME.astype(int), "path1": NAMED.image1, "path2": NAMED.image2}
    pd.DataFrame(rows).to_csv(tmp_path / "trials.txt", sep=" ", index=False)
    np.savetxt(tmp_path / "scores.txt", SCORES)
    with pytest.raises(fk.InputError) as question:
        fk.open_data(tmp_path / "trials.txt")
    assert [*question.value.answers] == [{"scores": "..."}]
    data = fk.open_data(tmp_path / "trials.txt", scores=tmp_path / "scores.txt")
    np.testing.assert_allclose(scores_of(data)[0], SCORES)


def test_a_symmetric_matrix_of_names_does_not_ask_in_a_circle(tmp_path):
    names = [f"x{k}y" for k in range(80)]
    pd.DataFrame(COSINE, names, names).to_csv(tmp_path / "matrix.csv")
    with refused("symmetric", "same_images", answers=[]):
        fk.open_data(tmp_path / "matrix.csv", same_images=False)
    with pytest.raises(fk.InputError) as question:
        fk.open_data(tmp_path / "matrix.csv")
    [answer] = question.value.answers
    labels = pd.DataFrame({"image": names, "person": PEOPLE})
    scores = fk.open_data(tmp_path / "matrix.csv", **answer | {"labels": labels})
    assert scores.probe_identity.values.tolist() == PEOPLE.tolist()


# --- what stands among the data and is none ------------------------------------------------------


@pytest.mark.parametrize("name", ["All", "mean"])
def test_margins_of_a_matrix_are_nobody(name):
    frame = pd.DataFrame(COSINE, PEOPLE, PEOPLE)
    with_margins = frame.copy()
    with_margins.loc[name] = frame.mean()
    with_margins[name] = with_margins.mean(axis=1)
    with refused(name):
        fk.open_data(with_margins, same_images=True)


def test_a_mean_below_a_list_is_nobody():
    sides = {"probe_identity": PEOPLE[FIRST], "reference_identity": PEOPLE[SECOND]}
    table = pd.DataFrame(sides | {"score": SCORES})
    table.loc[len(table)] = ["Mean", "Mean", SCORES.mean()]
    with refused("Mean"):
        fk.open_data(table)


def test_a_table_of_counts_gets_the_line_that_repeats_its_rows():
    rounded = LABELLED.round({"score": 1})
    frame = rounded.groupby(["score", "genuine"]).size().rename("count").reset_index()
    message, _ = asked_about(frame)
    pairs = run(line_in(message), frame=frame)
    np.testing.assert_array_equal(np.sort(scores_of(pairs)[0]), np.sort(rounded.score))


def test_codes_of_bits_are_compared_by_hamming():
    with refused("bool") as refusal:
        fk.faces(VECTORS > 0, PEOPLE)
    line = line_in(str(refusal.value), "fk.score_matrix(")
    scores = run(line, scipy=scipy, codes=VECTORS > 0, identity=PEOPLE)
    expected = -np.mean((VECTORS[3] > 0) != (VECTORS[70] > 0))
    assert scores.values[3, 70] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["scores.npy", "cosine_arcface.npy", "dist.npy"])
def test_an_array_that_is_called_scores_is_asked_about(tmp_path, name):
    np.save(tmp_path / name, COSINE[:, ::2])
    with refused(name, answers=[{"kind": "matrix"}, {"kind": "faces"}]):
        fk.open_data(tmp_path / name, labels=pd.DataFrame({"person": PEOPLE}))
    (tmp_path / name).rename(tmp_path / "arcface.npy")
    fk.open_data(tmp_path / "arcface.npy", labels=pd.DataFrame({"person": PEOPLE}))


@pytest.mark.parametrize("form", ["packed bits", "features"])
def test_bytes_are_packed_bits_or_features_with_another_zero(form):
    if form == "packed bits":
        stored = np.packbits(VECTORS > 0, axis=1)
        others = {"codes": np.unpackbits(stored, axis=1), "identity": PEOPLE}
        expected = -np.mean((VECTORS[3] > 0) != (VECTORS[70] > 0))
    else:
        stored = np.round(255 * (VECTORS + 1) / 2).astype(np.uint8)
        others = {"features": stored, "zero": 127.5, "identity": PEOPLE}
        expected = VECTORS[3] @ VECTORS[70]
    with refused("bytes") as refusal:
        fk.faces(stored, PEOPLE)
    beginning = "fk.score_matrix(" if form == "packed bits" else "fk.faces("
    data = run(line_in(str(refusal.value), beginning), scipy=scipy, **others)
    scores = data if form == "packed bits" else fk.score_tensor(data)
    assert scores.values[3, 70] == pytest.approx(expected, abs=0.02)


def test_lists_of_unequal_length_in_a_column_are_refused():
    cells = [np.ones(4), np.arange(4.0), np.ones(3), np.ones(4)]
    with refused("embedding"):
        fk.open_data(pd.DataFrame({"identity": list("aabb"), "embedding": cells}))


@pytest.mark.parametrize("name", [0, "0"])
def test_the_line_for_several_levels_of_columns_runs(name):
    columns = pd.MultiIndex.from_product([["f"], np.arange(16).astype(type(name))])
    df = pd.DataFrame(VECTORS, columns=columns)
    df[("identity", name)] = PEOPLE
    with refused() as refusal:
        fk.open_data(df)
    line = str(refusal.value).split("such as df.columns = ")[1].split("\n")[0]
    df.columns = eval(line, {"df": df})
    assert fk.open_data(df, columns={"identity": "identity_0"}).sizes["feature"] == 16


def test_the_line_for_a_matrix_with_two_levels_of_names_runs():
    levels = pd.MultiIndex.from_arrays([PEOPLE, IMAGES], names=["person", "image"])
    frame = pd.DataFrame(VECTORS @ VECTORS.T, levels, levels)
    with refused() as refusal:
        fk.open_data(frame)
    scores = run(line_in(str(refusal.value), "fk.score_matrix("), df=frame)
    assert scores.probe_identity.values.tolist() == [*PEOPLE]
    assert scores.probe.values.tolist() == [*IMAGES] and scores.symmetric == 1


def test_the_line_for_groups_of_people_in_hdf5_runs(tmp_path):
    people = np.asarray(PEOPLE)
    with h5py.File(tmp_path / "faces.h5", "w") as file:
        for person in np.unique(people):
            file[f"{person}/features"] = VECTORS[people == person]
        with refused() as refusal:
            fk.open_data(tmp_path / "faces.h5")
        faces = run(line_in(str(refusal.value), "fk.faces(np.concatenate("), file=file)
    assert faces.identity.values.tolist() == sorted(PEOPLE)


def test_the_line_for_matrices_of_several_models_in_one_array_runs(tmp_path, monkeypatch):
    people = np.asarray(PEOPLE)
    stack = np.stack([VECTORS @ VECTORS.T, 2 * VECTORS @ VECTORS.T])
    monkeypatch.chdir(tmp_path)
    np.save("stack.npy", stack)
    with refused() as refusal:
        fk.open_data("stack.npy", kind="matrix")
    scores = run(line_in(str(refusal.value), "fk.open_data({str("), people=people)
    np.testing.assert_allclose(scores, stack)


def test_scores_by_a_number_of_the_pair_and_by_row_get_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trials = NAMED.assign(genuine=SAME.astype(int), pair=range(len(NAMED)))
    trials.to_csv("trials.csv", index=False)
    scores = trials[["pair"]].assign(score=SCORES)
    for beginning, rows in (
        ("fk.open_data('trials.csv'", scores),
        ("fk.open_data(pd.read_csv(", scores.sample(frac=1, random_state=0)),
    ):
        rows.to_csv("scores.csv", index=False)
        message, _ = asked_about("trials.csv", scores="scores.csv")
        opened, genuine = scores_of(run(line_in(message, beginning)))
        np.testing.assert_allclose(opened, SCORES)
        np.testing.assert_array_equal(genuine, SAME)


@pytest.mark.parametrize("people", [WHO, PEOPLE])
def test_people_in_an_index_without_a_name_are_proposed(tmp_path, people):
    pd.DataFrame(VECTORS, people).to_csv(tmp_path / "faces.csv")
    with pytest.raises(fk.InputError) as question:
        fk.open_data(tmp_path / "faces.csv", kind="faces")
    faces = run(question.value.calls[0])
    assert faces.identity.values.tolist() == people.astype(str).tolist()


def test_labelled_scores_in_another_order_are_refused(tmp_path):
    trials = LABELLED[["genuine"]]
    scores = LABELLED["score"].sample(frac=1, random_state=0)
    path = tmp_path / "trials.csv"
    trials.assign(image1=IMAGES[FIRST], image2=IMAGES[SECOND]).to_csv(path, index=False)
    for source in (trials, path):
        with refused("scores"):
            fk.open_data(source, scores=scores)
    shuffled = trials.loc[scores.index]
    opened, genuine = scores_of(fk.open_data(shuffled, scores=scores))
    np.testing.assert_array_equal(opened, scores)
    np.testing.assert_array_equal(genuine, shuffled.genuine)
    opened, _ = scores_of(fk.open_data(path, scores=scores.sort_index()))
    np.testing.assert_array_equal(opened, SCORES)


def test_rows_that_name_nobody_are_left_out_by_the_line():
    frame = LABELLED[["score"]].assign(id1=PEOPLE[FIRST], id2=PEOPLE[SECOND])
    frame.loc[::11, "id2"] = None
    message, _ = asked_about(frame)
    opened, _ = scores_of(run(line_in(message), frame=frame))
    np.testing.assert_array_equal(opened, frame.score[frame.id2.notna()])


@pytest.mark.parametrize("form", [np.asarray, pd.Series])
def test_scores_of_a_list_stand_in_a_call_under_their_name(form):
    trials, distances = LABELLED[["genuine"]], form(-SCORES)
    _, calls = asked_about(trials, scores=distances)
    opened, _ = scores_of(run(calls[0], frame=trials, scores=distances))
    np.testing.assert_array_equal(opened, SCORES)


def test_a_mark_that_looks_like_an_option_is_proposed_with_a_sign(tmp_path, capsys):
    path = tmp_path / "list.csv"
    table = LABELLED.astype({"score": str})
    table.loc[::50, "score"] = "---"
    table.to_csv(path, index=False)
    assert main(["look", str(path)]) == 2
    command = re.search(r"frkit look \S+ (.*)", capsys.readouterr().err)[1]
    assert command == "--missing=---"
    assert main(["look", str(path), command]) == 0


def test_an_infinite_ratio_is_proposed_as_rejected():
    scores = pd.Series(SCORES).mask((SCORES < -0.3) & ~SAME, -np.inf).astype(str)
    _, [call, _] = asked_about(LABELLED.assign(score=scores))
    pairs = run(call, frame=LABELLED.assign(score=scores))
    rejected = fk.evaluate(pairs, threshold=[0.1])["empirical"]
    assert rejected.far.item() == pytest.approx(np.mean(SCORES[~SAME] > 0.1))


@pytest.mark.parametrize("names", [{}, {"image1": "file1", "image2": "file2", "genuine": "mated?"}])
def test_a_title_above_the_header_is_left_out_by_a_line(tmp_path, names):
    path = tmp_path / "titled.csv"
    table = pd.concat([NAMED, LABELLED], axis=1).rename(columns=names)
    path.write_text("Results of the matcher\n\n" + table.to_csv(index=False))
    message, _ = asked_about(path)
    pairs = run(line_in(message), path=path)
    np.testing.assert_allclose(scores_of(pairs)[0], SCORES)


def test_match_and_no_match_are_words_of_truth():
    words = np.where(LABELLED.genuine == 1, "match", "no match")
    pairs = fk.open_data(LABELLED.assign(genuine=words))
    np.testing.assert_array_equal(scores_of(pairs)[1], SAME)


# --- dead ends that a stranger found in a sixth walk ----------------------------------------------


@pytest.mark.parametrize("word", ["-inf", "Infinity"])
def test_an_infinite_mark_is_taken_by_each_call_that_is_proposed(tmp_path, capsys, word):
    path = tmp_path / "list.csv"
    is_failed = np.arange(len(SCORES)) % 50 == 0
    LABELLED.assign(score=np.where(is_failed, word, SCORES.astype(str))).to_csv(path, index=False)
    _, calls = asked_about(path)
    for data in (run(calls[-1]), fk.open_data(path, missing=float(word))):
        np.testing.assert_array_equal(np.isnan(scores_of(data)[0]), is_failed)
    assert main(["look", str(path)]) == 2
    command = re.findall(r"frkit look \S+ (.*)", capsys.readouterr().err)[-1]
    assert main(["look", str(path), *command.split()]) == 0


def test_cells_that_are_arrays_of_one_number_are_no_scores():
    frame = LABELLED.assign(score=[np.array(score) for score in SCORES])
    message, _ = asked_about(frame)
    assert "scores" in message


@pytest.mark.parametrize("has_truth", [False, True])
def test_people_without_a_header_are_read_by_the_call_that_is_proposed(tmp_path, has_truth):
    path = tmp_path / "people.txt"
    truth = {"label": SAME.astype(int)} if has_truth else {}
    frame = pd.DataFrame({"a": PEOPLE[FIRST], "b": PEOPLE[SECOND], **truth, "score": SCORES})
    frame.to_csv(path, sep=" ", header=False, index=False)
    _, [call] = asked_about(path)
    pairs = run(call)
    scores, genuine = scores_of(pairs)
    np.testing.assert_allclose(scores, SCORES)
    np.testing.assert_array_equal(genuine, SAME)
    assert {*pairs["images"].identity.values} == {*PEOPLE}


@pytest.mark.parametrize(
    "truth, odd",
    [("match", "yes"), ("label", "yes"), ("match", "unsure"), ("target", "5"), ("label", "header")],
)
def test_an_odd_word_among_flags_is_left_out_by_the_line(tmp_path, truth, odd):
    """Or it is a word of truth beside numbers, which counts."""
    table = LABELLED.rename(columns={"genuine": truth}).astype({truth: str})
    extra = pd.DataFrame({"score": ["0.7"], truth: [truth if odd == "header" else odd]})
    if odd == "header":
        extra["score"] = "score"
    path = tmp_path / "list.csv"
    pd.concat([table.astype(str)[:900], extra, table.astype(str)[900:]]).to_csv(path, index=False)
    if odd == "yes":
        assert scores_of(fk.open_data(path))[1].sum() == SAME.sum() + 1
        return
    message, _ = asked_about(path)
    if odd != "header":
        assert "line 902" in message
    line = line_in(message, "fk.open_data(frame[frame")
    scores, genuine = scores_of(run(line, frame=pd.read_csv(path).astype({"score": str})))
    np.testing.assert_array_equal(genuine, SAME)
    np.testing.assert_allclose(scores, SCORES)


@pytest.mark.parametrize("name", ["group", "gender", "race"])
def test_labels_in_one_column_of_a_list_are_asked_about(name):
    """Of the pair, of the probe, or models under that name."""
    table = NAMED.assign(**LABELLED)
    both = pd.concat([table.assign(**{name: "a"}), table.assign(**{name: "b"}, score=SCORES**3)])
    _, calls = asked_about(both.reset_index(drop=True).drop(columns=["image1", "image2"]))
    assert any(f"'model': '{name}'" in call for call in calls)
    _, calls = asked_about(table.assign(**{name: np.where(WHO[FIRST] < 5, "a", "b")}))
    pairs = run(calls[0], frame=table.assign(**{name: np.where(WHO[FIRST] < 5, "a", "b")}))
    assert name in pairs["images"]


@pytest.mark.parametrize("form", ["list", "faces"])
def test_tables_below_each_other_with_their_row_numbers_are_no_one_table(tmp_path, form):
    if form == "list":
        one = LABELLED
        other = LABELLED.assign(score=SCORES + 0.1 * RNG.normal(size=len(SCORES)))
    else:
        one = pd.DataFrame(VECTORS).add_prefix("f").assign(identity=PEOPLE)
        other = pd.DataFrame(VECTORS**3).add_prefix("f").assign(identity=PEOPLE)
    frame = pd.concat([one, other])
    path = tmp_path / "both.csv"
    frame.to_csv(path)
    for source, read in ((frame, frame.rename_axis("").reset_index()), (path, pd.read_csv(path))):
        message, _ = asked_about(source)
        named = line_in(message)
        with pytest.raises(fk.InputError) as question:  # what is model?
            run(named, frame=read)
        assert "'model'" in str(question.value)
        dropped = line_in(message[message.index(named) + len(named) :])
        run(dropped, frame=read)


def test_scores_and_qualities_without_a_header_are_no_embeddings(tmp_path):
    path = tmp_path / "scores.txt"
    quality = RNG.uniform(size=len(SCORES)).round(3)
    table = pd.DataFrame({"a": PEOPLE[FIRST], "b": PEOPLE[SECOND], "s": SCORES, "q": quality})
    table.to_csv(path, sep=" ", header=False, index=False)
    message, calls = asked_about(path)
    assert not any("embedding" in call for call in calls)


def test_pooled_models_are_no_answer_where_one_pair_has_two_scores():
    """Which has other images of the same people only where names of images say so little."""
    both = pd.concat([NAMED.assign(**LABELLED)] * 2, ignore_index=True)
    both["score"] += np.repeat([0, 0.1], len(SCORES))
    for table in (both, both.assign(id1=[*PEOPLE[FIRST]] * 2, id2=[*PEOPLE[SECOND]] * 2)):
        assert asked_about(table)[1] == []


@pytest.mark.parametrize("form", ["numpy", "postgres"])
def test_lists_as_other_programs_print_them_are_embeddings(tmp_path, form):
    rows = [vector.tolist() for vector in VECTORS]
    if form == "numpy":  # as version 2 prints them
        texts = [f"[{', '.join(f'np.float64({number!r})' for number in row)}]" for row in rows]
    else:
        texts = ["{" + ",".join(map(repr, row)) + "}" for row in rows]
    pd.DataFrame({"person": PEOPLE, "embedding": texts}).to_csv(tmp_path / "f.csv", index=False)
    faces = fk.open_data(tmp_path / "f.csv")
    np.testing.assert_array_equal(faces.embedding, VECTORS.astype("f4"))
    assert faces.identity.values.tolist() == PEOPLE.tolist()


def test_a_matrix_of_r_has_names_of_rows_that_its_header_lacks(tmp_path):
    lines = [" ".join(f'"{name}"' for name in IMAGES)]
    lines += [f'"{name}" {" ".join(map(str, row))}' for name, row in zip(IMAGES, COSINE)]
    (tmp_path / "m.txt").write_text("\n".join(lines))
    _, calls = asked_about(tmp_path / "m.txt")
    scores = run(calls[0])
    np.testing.assert_array_equal(scores, COSINE)
    assert scores.probe_identity.values.tolist() == PEOPLE.tolist()


def test_a_matrix_without_names_of_rows_gets_the_line_that_gives_them(tmp_path):
    pd.DataFrame(COSINE, columns=IMAGES).to_csv(tmp_path / "m.csv", index=False)
    _, calls = asked_about(tmp_path / "m.csv")
    message, _ = asked_about(tmp_path / "m.csv", kind="matrix")
    assert any("kind='matrix'" in call for call in calls)
    frame = pd.read_csv(tmp_path / "m.csv")
    line = line_in(message).replace("kind=", f"identity={BY_NUMBER!r}, kind=")
    np.testing.assert_allclose(run(line, frame=frame), COSINE)


def test_names_beside_numbers_are_asked_about_as_a_matrix():
    """Of which no name of a row is on a column, as of probes and a gallery."""
    gallery = [f"g_{name}" for name in IMAGES[40:]]
    _, calls = asked_about(pd.DataFrame(COSINE[:40, 40:], IMAGES[:40], gallery))
    assert calls[0].endswith("kind='matrix')")


def test_an_index_of_people_is_asked_about_and_read():
    frame = pd.DataFrame(VECTORS, index=PEOPLE)
    _, calls = asked_about(frame)
    assert run(calls[0], frame=frame).identity.values.tolist() == PEOPLE.tolist()


def test_images_that_were_not_found_are_refused_by_their_row():
    vectors = VECTORS.copy()
    vectors[7] = 999
    with refused(7, 999):
        fk.faces(vectors, PEOPLE)


@pytest.mark.parametrize("form", ["faces", "pairs", "matrix"])
@pytest.mark.parametrize("name", ["{folder}/{who}/{shot}.png", "{who}_{folder}_{shot}.png"])
def test_people_whose_images_differ_in_a_part_of_their_names_are_noticed(form, name):
    """As where ids start anew in each folder, or of two eyes of one person."""
    names = np.array(
        [
            name.format(folder="LR"[who % 2], who=f"s{who // 2}", shot=shot)
            for who, shot in zip(WHO, np.tile(range(4), 20))
        ]
    )

    def opened(people):
        if form == "faces":
            return fk.faces(VECTORS, people, image=names)
        if form == "matrix":
            return fk.score_matrix(COSINE, people, people, probe=names, reference=names)
        sides = {"probe": names[FIRST], "reference": names[SECOND]}
        people = {"probe_identity": people[FIRST], "reference_identity": people[SECOND]}
        return fk.pairs(SCORES, **sides, **people)

    one_of_two = np.char.add("s", (WHO // 2).astype(str))
    with noticed("'L'", "'R'", "names"):
        opened(one_of_two)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(PEOPLE)


def test_a_rectangle_of_scores_and_one_of_truth_get_a_line(tmp_path):
    genuine = PEOPLE[:30, None] == PEOPLE[30:]
    np.savez(tmp_path / "m.npz", scores=COSINE[:30, 30:], genuine=genuine)
    message, _ = asked_about(tmp_path / "m.npz", kind="matrix")
    line = line_in(message[message.index("two sets") :], "fk.pairs(")
    values, labels = scores_of(run(line, scores=COSINE[:30, 30:], genuine=genuine))
    np.testing.assert_array_equal(values, COSINE[:30, 30:].ravel())
    np.testing.assert_array_equal(labels, genuine.ravel())


def test_columns_of_names_are_proposed_as_images_where_people_are_known():
    table = LABELLED.assign(id1=PEOPLE[FIRST], id2=PEOPLE[SECOND])
    table = table.assign(p1=IMAGES[FIRST], p2=IMAGES[SECOND], g1="x", g2=WHO[SECOND] % 2)
    _, calls = asked_about(table)
    pairs = named(run(calls[0], frame=table))
    assert pairs.probe.values.tolist() == IMAGES[FIRST].tolist()


def test_files_that_a_folder_lists_in_another_order_are_refused_as_labels(tmp_path):
    """emb_10.npy stands before emb_2.npy there; the array may be in the order of the numbers."""
    np.save(tmp_path / "f.npy", VECTORS)
    labels = pd.DataFrame({"file": [f"emb_{row}.npy" for row in range(80)], "person": PEOPLE})
    in_order = fk.open_data(tmp_path / "f.npy", labels=labels)
    assert in_order.identity.values.tolist() == PEOPLE.tolist()
    with refused("file", "order"):
        fk.open_data(tmp_path / "f.npy", labels=labels.sort_values("file", ignore_index=True))


def test_only_columns_that_tell_two_scores_apart_are_proposed_as_models():
    both = pd.concat([NAMED.assign(**LABELLED)] * 2, ignore_index=True)
    both["score"] += np.repeat([0, 0.1], len(SCORES))
    both["network"] = np.repeat(["a", "b"], len(SCORES))
    both["accepted"] = np.resize(SCORES > 0.5, len(both))
    _, calls = asked_about(both)
    assert [call for call in calls if "model" in call] == [
        "fk.open_data(frame, columns={'model': 'network'})"
    ]


def test_constant_numbers_are_no_scores_of_another_model():
    table = NAMED.assign(**LABELLED, threshold=0.68, quality=RNG.uniform(size=len(SAME)))
    _, calls = asked_about(table)
    assert not any("'threshold'" in call for call in calls)
    assert any("['score', 'quality']" in call for call in calls)


def test_numbers_of_images_of_each_person_name_no_images():
    number = np.tile(range(4), 20)
    frame = pd.DataFrame({"subject1": WHO[FIRST], "sample1": number[FIRST]})
    frame = frame.assign(subject2=WHO[SECOND], sample2=number[SECOND], score=SCORES)
    _, [call] = asked_about(frame)
    pairs = run(call, frame=frame)
    np.testing.assert_array_equal(scores_of(pairs)[1], SAME)
    assert len(np.unique(pairs["images"].identity)) == 20


def test_numbers_of_people_and_images_without_a_header_are_no_matrix(tmp_path):
    number = np.tile(range(4), 20)
    columns = np.array([WHO[FIRST], number[FIRST], WHO[SECOND], number[SECOND], SCORES])
    order = RNG.permutation(len(SAME))
    np.savetxt(tmp_path / "list.txt", columns[:, order].T, fmt="%d %d %d %d %.4f")
    _, calls = asked_about(tmp_path / "list.txt")
    assert not any("matrix" in call for call in calls)
    roles = {"probe_identity": "1", "reference_identity": "3", "score": "5"}
    assert any("probe_identity" in call for call in calls)
    pairs = fk.open_data(tmp_path / "list.txt", columns=roles | {"2": None, "4": None})
    np.testing.assert_array_equal(scores_of(pairs)[1], SAME[order])


def test_matrices_of_several_models_in_one_file_get_a_line(tmp_path):
    path = tmp_path / "scores.npz"
    arrays = {"arcface_scores": COSINE, "cosface_distance": 1 - COSINE**3}
    np.savez(path, **arrays, labels=PEOPLE)
    message, _ = asked_about(path)
    _, calls = asked_about(path, same_images=True)
    one, other = (run(call) for call in calls)
    people = message.split("people = ")[1].splitlines()[0]
    with np.load(path) as data:
        names = {"data": data, "people": run(people, data=data)}
        both = run(line_in(message), **names)
    assert both.model.values.tolist() == [*arrays]
    for scores, expected in ((one, COSINE), (other, COSINE**3 - 1)):
        np.testing.assert_allclose(scores, expected)
    np.testing.assert_allclose(both, np.stack([one, other]))
    assert (both.probe_identity == PEOPLE).all()


@pytest.mark.parametrize("has_labels", [True, False])
def test_a_matrix_of_scores_and_one_of_truth_get_a_call_or_a_line(tmp_path, has_labels):
    path = tmp_path / "scores.npz"
    genuine = PEOPLE[:, None] == PEOPLE
    np.savez(path, scores=COSINE, genuine=genuine, **({"labels": PEOPLE} if has_labels else {}))
    message, _ = asked_about(path)
    if has_labels:
        _, [call] = asked_about(path, same_images=True)
        np.testing.assert_allclose(run(call), COSINE)
    rows = np.triu_indices(80, 1)
    line = line_in(message, "fk.pairs(")
    pairs = run(line, scores=COSINE, genuine=genuine, rows=rows)
    np.testing.assert_array_equal(scores_of(pairs)[0], SCORES)
    np.testing.assert_array_equal(scores_of(pairs)[1], SAME)


@pytest.mark.parametrize("ending", ["npy", "txt"])
@pytest.mark.parametrize("has_labels", [True, False])
def test_scores_and_labels_in_two_files_get_a_line(tmp_path, monkeypatch, ending, has_labels):
    monkeypatch.chdir(tmp_path)
    write = np.save if ending == "npy" else np.savetxt
    write(f"scores.{ending}", SCORES)
    write(f"labels.{ending}", SAME.astype(int))
    options = {"labels": f"labels.{ending}"} if has_labels else {}
    message, _ = asked_about(f"scores.{ending}", **options)
    line = line_in(
        message[message.index("text" if ending == "txt" else "fk.pairs(") :], "fk.pairs("
    )
    scores, genuine = scores_of(run(line))
    np.testing.assert_allclose(scores, SCORES)
    np.testing.assert_array_equal(genuine, SAME)


def test_arrays_of_two_columns_get_a_line(tmp_path):
    np.save(tmp_path / "both.npy", np.c_[SCORES, SAME])
    np.savez(tmp_path / "classes.npz", probs=np.c_[1 - SCORES, SCORES], labels=SAME.astype(int))
    np.savez(tmp_path / "models.npz", scores=np.c_[SCORES, SCORES**3], labels=SAME.astype(int))
    message, _ = asked_about(tmp_path / "both.npy")
    line = line_in(message[message.index("columns are a score") :], "fk.pairs(")
    _, genuine = scores_of(run(line, data=np.load(tmp_path / "both.npy")))
    np.testing.assert_array_equal(genuine, SAME)
    message, _ = asked_about(tmp_path / "classes.npz")
    line = line_in(message[message.index("probabilities") :], "fk.pairs(")
    with np.load(tmp_path / "classes.npz") as data:
        np.testing.assert_array_equal(scores_of(run(line, data=data))[0], SCORES)
    message, _ = asked_about(tmp_path / "models.npz")
    values = np.c_[SCORES, SCORES**3]
    pairs = run(line_in(message, "fk.pairs("), values=values, labels=SAME)
    np.testing.assert_array_equal(scores_of(pairs)[0], values.T)


def test_probabilities_of_two_classes_get_a_line():
    frame = pd.DataFrame({"0": 1 - SCORES, "1": SCORES, "label": SAME.astype(int)})
    message, _ = asked_about(frame)
    assert "probabilities" in message and "fk.pairs(" in message


@pytest.mark.parametrize("shape", [(80, 1, 16), (80, 16, 1, 1)])
def test_axes_of_one_number_say_nothing(tmp_path, shape):
    path = tmp_path / "faces.npz"
    np.savez(path, embeddings=VECTORS.reshape(shape), labels=PEOPLE)
    identity = {"identity": "labels"}
    np.testing.assert_allclose(fk.open_data(path, **identity).embedding, VECTORS, rtol=1e-5)
    np.savez(path, embeddings=VECTORS[None], labels=PEOPLE, model=["arc"])
    assert fk.open_data(path, **identity).model.values.tolist() == ["arc"]


def test_labels_of_another_number_of_images_are_counted(tmp_path):
    np.save(tmp_path / "faces.npy", VECTORS)
    labels = pd.DataFrame({"file": IMAGES, "label": PEOPLE}).iloc[:70]
    with refused(80, 70):
        fk.open_data(tmp_path / "faces.npy", labels=labels)


@pytest.mark.parametrize("form", ["places", "rows in turn"])
def test_pairs_of_rows_of_embeddings_get_a_line(tmp_path, form):
    path = tmp_path / "faces.npz"
    arrays = {"embeddings": VECTORS, "idx1": FIRST, "idx2": SECOND, "label": SAME.astype(int)}
    if form == "rows in turn":
        in_turn = VECTORS[np.column_stack([FIRST, SECOND]).ravel()]
        arrays = {"embeddings": in_turn, "issame_list": SAME}
    np.savez(path, **arrays)
    message, _ = asked_about(path)
    sides = re.search(r"with a, b = (.*?), or (.*?) where", message)[1 + (form != "places")]
    rows = run(re.search(r"rows = (data\[.*?\])", message)[1], data=arrays)
    a, b = run(sides, rows=rows, data=arrays)
    pairs = run(line_in(message, "fk.pairs("), a=a, b=b, genuine=SAME)
    np.testing.assert_allclose(scores_of(pairs)[0], SCORES)


@pytest.mark.parametrize("fault", ["cut", "long"])
def test_a_line_below_the_header_is_no_title(tmp_path, fault):
    path = tmp_path / "list.csv"
    words = np.where(SAME, "target", "nontarget")
    table = NAMED.replace("p", "person_", regex=True).assign(score=SCORES, label=words)
    lines = table.to_csv(index=False).splitlines()
    lines[40] = lines[40][:12] if fault == "cut" else lines[40] + ",note"
    path.write_text("\n".join(lines))
    message, _ = asked_about(path)
    assert "line 41" in message and "skiprows" not in message


def test_other_words_of_truth_get_a_line(tmp_path):
    path = tmp_path / "list.csv"
    LABELLED[["score"]].assign(label=np.where(SAME, "G", "I")).to_csv(path, index=False)
    message, _ = asked_about(path)
    pairs = run(line_in(message), frame=pd.read_csv(path))
    np.testing.assert_array_equal(scores_of(pairs)[1], SAME)


def test_codes_of_failure_with_a_number_are_proposed():
    is_failed = np.arange(len(SCORES)) % 50 == 0
    frame = LABELLED.assign(score=np.where(is_failed, "ERR_12", SCORES.astype(str)))
    _, [call] = asked_about(frame)
    np.testing.assert_array_equal(np.isnan(scores_of(run(call, frame=frame))[0]), is_failed)


@pytest.mark.parametrize("form", ["records", "list", "series"])
def test_what_becomes_a_table_in_pandas_is_told(form):
    forms = {"records": LABELLED.to_dict("records"), "list": LABELLED.to_dict("list")}
    data = forms.get(form, LABELLED.set_index("genuine").score)
    message, _ = asked_about(data)
    line = line_in(message, "pd.DataFrame(")
    frame = run(line, data=data, records=data)
    np.testing.assert_array_equal(scores_of(fk.open_data(frame))[0], SCORES)


# --- what a stranger found in a sixth walk --------------------------------------------------------


@pytest.mark.parametrize("array", ["scores of images", "scores of people"])
def test_an_embedding_with_a_column_for_each_image_or_person_may_be_scores(tmp_path, array):
    products = 100 * COSINE + RNG.random(80)
    values = products if array == "scores of images" else products[:, ::4]
    np.savez(tmp_path / "f.npz", X=values, identity=PEOPLE)
    with refused("X") as question:
        fk.open_data(tmp_path / "f.npz")
    assert question.value.answers == [{"kind": "matrix"}, {"kind": "faces"}]
    faces = fk.open_data(tmp_path / "f.npz", kind="faces")
    assert faces.sizes["feature"] == values.shape[1]


@pytest.mark.parametrize("codes", [(-1.0, 1.0), (0.0, 1.0), (0, 255)])
def test_codes_of_two_values_are_not_compared_by_cosine(codes):
    wide = np.hstack([VECTORS, VECTORS**3])
    with refused("hamming"):
        fk.faces(np.where(wide > 0, *codes), PEOPLE)


@pytest.mark.parametrize("values", [np.zeros((0, 32)), np.float64(3)])
def test_an_embedding_without_rows_is_refused_by_its_shape(values):
    with refused("embedding", values.shape):
        fk.faces(values, PEOPLE)


def test_a_file_of_arrays_without_rows_is_refused(tmp_path):
    np.savez(tmp_path / "f.npz", embedding=np.zeros((0, 32)), identity=PEOPLE[:0])
    with refused("embedding"):
        fk.open_data(tmp_path / "f.npz")


def test_a_fraction_that_is_repeated_in_few_rows_is_asked_about():
    table = LABELLED.assign(score=SCORES.round(6))
    table.loc[::200, "score"] = 0.25
    with refused("missing=") as question:
        fk.open_data(table)
    assert question.value.answers[0] == {"missing": [0.25]}


def test_a_word_of_failure_is_asked_about_in_any_column():
    table = LABELLED.assign(decision=np.where(RNG.random(len(SCORES)) < 0.01, "error", "accept"))
    with refused("decision"):
        fk.open_data(table)


@pytest.mark.parametrize("name, mark", [("quality", -1), ("yaw", -999), ("face_confidence", 255)])
def test_a_column_of_measurements_may_mark_failures(name, mark):
    quality = RNG.random(len(SCORES)).round(3)
    is_failed = RNG.random(len(SCORES)) < 0.01
    with refused(name) as question:
        fk.open_data(LABELLED.assign(**{name: np.where(is_failed, mark, quality)}))
    assert {"columns": {name: None}} in question.value.answers


def test_an_index_without_a_name_that_says_the_model_is_to_be_named():
    table = pd.concat([LABELLED, LABELLED.assign(score=SCORES**3)])
    table.index = np.repeat(["arcface", "cosface"], len(SCORES))
    message, _ = asked_about(table)
    model = {"model": "model"}
    data = fk.open_data(run(line_in(message, "frame.rename_axis("), frame=table), columns=model)
    assert data["pairs"].model.values.tolist() == ["arcface", "cosface"]


def test_rows_of_a_third_class_are_left_out_by_the_line():
    table = LABELLED.assign(genuine=np.where(RNG.random(len(SCORES)) < 0.1, 2, SAME))
    message, _ = asked_about(table)
    scores, genuine = scores_of(run(line_in(message.split("third")[1]), frame=table))
    np.testing.assert_array_equal(scores, SCORES[table.genuine < 2])
    np.testing.assert_array_equal(genuine, SAME[table.genuine < 2])


def test_other_words_of_truth_are_refused_by_their_row():
    with refused("genuine", "G"):
        fk.open_data(LABELLED.assign(genuine=np.where(SAME, "G", "I")))


@pytest.mark.parametrize("sides", [("left", "right"), ("probe", "reference")])
def test_images_compared_with_themselves_may_be_called_images(sides):
    first, second = np.triu_indices(80)
    table = pd.DataFrame(dict(zip(sides, (IMAGES[first], IMAGES[second]))))
    is_same = WHO[first] == WHO[second]
    scores = COSINE[first, second] - 1e-4 * RNG.random(len(first))
    table = table.assign(score=scores, genuine=is_same.astype(int))
    with refused("genuine", *sides) as question:
        fk.open_data(table)
    images = {"columns": dict(zip(("probe", "reference"), sides))}
    assert images in question.value.answers
    _, genuine = scores_of(fk.open_data(table, **images))
    assert genuine.sum() >= SAME.sum()


def test_a_matrix_with_people_in_its_last_column_does_not_ask_in_a_circle():
    columns = [f"s{k}" for k in range(80)]
    table = pd.DataFrame(COSINE, columns=columns).assign(person=PEOPLE)
    _, calls = asked_about(table)
    assert any("kind='matrix'" in call for call in calls)
    with refused("person", "set_index(['person'])") as refusal:
        fk.open_data(table, kind="matrix")
    assert not refusal.value.answers


def test_decimal_commas_between_cells_are_refused(tmp_path):
    """The cells were cut at them, and a proposed call read 0,8123 as 8123."""
    lines = [
        f"{a},{b},{score:.4f},{same:d}".replace(".", ",")
        for a, b, score, same in zip(FIRST, SECOND, np.abs(SCORES) / 2, SAME)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with refused("decimal", answers=[]):
        fk.open_data(tmp_path / "t.csv")


def test_an_hdf5_file_with_an_array_for_each_image_gets_the_line_that_reads_it(tmp_path):
    path = tmp_path / "images.h5"
    names = [f"p{who}_{number}.jpg" for number, who in enumerate(WHO)]
    with h5py.File(path, "w") as file:
        for name, vector in zip(names, VECTORS):
            file[name] = vector
    with refused("h5py") as refusal:
        fk.open_data(path)
    message = str(refusal.value)
    arrays = run(re.search(r"{name: array.*?}", message)[0], path=path, h5py=h5py)
    faces = run(line_in(message, "fk.open_data(pd.DataFrame("), arrays=arrays)
    assert sorted(faces.image.values) == sorted(names)


def test_a_symmetric_rectangle_compares_images_with_themselves():
    """That its equal names are people, and other images on each side, was taken silently."""
    names = [f"p{who}_{number}.jpg" for number, who in enumerate(WHO)]
    square = pd.DataFrame(VECTORS @ VECTORS.T, names, names)
    rectangle = square.iloc[:40]
    with refused("symmetric") as question:
        fk.open_data(rectangle, kind="matrix")
    assert {"same_images": False} not in question.value.answers
    with refused("symmetric"):
        fk.open_data(rectangle, kind="matrix", same_images=False)


def test_names_that_repeat_in_the_first_rows_are_proposed():
    """All pairs of one person stand first, as loops write them; no call was left."""
    table = pd.DataFrame({"u": PEOPLE[FIRST], "v": PEOPLE[SECOND], "sim": SCORES})
    _, calls = asked_about(table)
    of_people = [call for call in calls if "probe_identity" in call]
    np.testing.assert_array_equal(scores_of(run(of_people[0], frame=table))[1], SAME)


def test_a_truth_beside_people_that_is_turned_round_is_asked_about_at_once():
    table = pd.DataFrame({"id1": PEOPLE[FIRST], "id2": PEOPLE[SECOND], "score": SCORES})
    table["label"] = (~SAME).astype(int)
    _, [call] = asked_about(table)
    np.testing.assert_array_equal(scores_of(run(call, frame=table))[1], SAME)


def test_a_column_of_zeros_beside_numbers_with_points_is_no_decimal_comma(tmp_path):
    lines = [
        f"0,{a},{b},{score:.4f},{same:d}"
        for a, b, score, same in zip(WHO[FIRST], WHO[SECOND], SCORES, SAME)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    columns = {"probe_identity": "2", "reference_identity": "3", "score": "4", "genuine": "5"}
    scores, genuine = scores_of(fk.open_data(tmp_path / "t.csv", columns=columns))
    np.testing.assert_array_equal(genuine, SAME)


@pytest.mark.parametrize("word", "NA FTA FTE FTC FTX fail FAILED failure error".split())
def test_usual_words_of_failed_comparisons_need_no_option(tmp_path, word):
    failed = np.arange(len(SAME)) % 50 == 7
    table = LABELLED.assign(score=np.where(failed, word, SCORES.astype(str)))
    table.to_csv(tmp_path / "list.csv", index=False)
    with noticed(f"{failed[SAME].sum()} genuine", f"{failed[~SAME].sum()} impostor"):
        scores, _ = scores_of(fk.open_data(tmp_path / "list.csv"))
    np.testing.assert_array_equal(np.isnan(scores), failed)


def test_a_square_of_whole_scores_without_names_has_no_decimal_commas(tmp_path):
    whole = (100 * np.abs(COSINE)).astype(int) // 40
    np.savetxt(tmp_path / "square.csv", whole, fmt="%d", delimiter=",")
    options = {"kind": "matrix", "labels": pd.DataFrame({"person": PEOPLE}), "same_images": True}
    assert fk.open_data(tmp_path / "square.csv", **options).shape == whole.shape


def test_a_list_as_a_frame_without_names_is_asked_about():
    table = pd.DataFrame([*zip(PEOPLE[FIRST], PEOPLE[SECOND], SCORES)])
    with refused("score", "probe_identity"):
        fk.open_data(table)
