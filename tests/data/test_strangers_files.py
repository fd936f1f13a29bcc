"""Files that a stranger made: a wrong number came of each without a word."""

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from named import named
from refusals import noticed, refused

import frkit as fk

RNG = np.random.default_rng(5)
WHO = np.repeat(np.arange(20), 4)
VECTORS = RNG.normal(size=(20, 8))[WHO] + 0.7 * RNG.normal(size=(80, 8))
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
COSINE = VECTORS @ VECTORS.T
ASYMMETRIC = COSINE + 0.15 * RNG.normal(size=COSINE.shape)
IMAGES = np.array([f"img{k:05d}" for k in RNG.permutation(80)])
PEOPLE = np.array([f"p{k:02d}" for k in WHO])
FIRST, SECOND = np.triu_indices(80, 1)
SAME = WHO[FIRST] == WHO[SECOND]
TABLE = pd.DataFrame({"id1": PEOPLE[FIRST], "id2": PEOPLE[SECOND], "score": COSINE[FIRST, SECOND]})
quiet = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@quiet
def test_scores_of_both_directions_get_the_line_that_joins_them(tmp_path):
    row, col = np.nonzero(~np.eye(80, dtype=bool))
    scores = pd.DataFrame({"probe": IMAGES[row], "reference": IMAGES[col]})
    scores["score"] = ASYMMETRIC[row, col]
    scores.to_csv(tmp_path / "scores.csv", index=False)
    trials = pd.DataFrame({"probe": IMAGES[FIRST], "reference": IMAGES[SECOND], "genuine": SAME})
    trials.to_csv(tmp_path / "pairs.csv", index=False)
    with refused("scores.csv", "probe", "two scores") as refusal:
        fk.open_data(tmp_path / "pairs.csv", scores=tmp_path / "scores.csv")
    line = re.search(r"fk[.]open_data[(]trials.*?'1:1'[)][)]", str(refusal.value))[0]
    data = eval(line, {"fk": fk, "trials": trials, "scores": scores})
    np.testing.assert_allclose(named(data).score.values, ASYMMETRIC[FIRST, SECOND])


@quiet
@pytest.mark.parametrize("forth", [True, False])
def test_scores_of_one_direction_are_found_by_both_names(tmp_path, forth):
    sides = (IMAGES[FIRST], IMAGES[SECOND]) if forth else (IMAGES[SECOND], IMAGES[FIRST])
    scored = pd.DataFrame(dict(zip("ab", sides)) | {"c": ASYMMETRIC[FIRST, SECOND]})
    scored = scored.iloc[RNG.permutation(len(scored))]
    scored.to_csv(tmp_path / "scores.txt", index=False, header=False, sep=" ")
    pairs = pd.DataFrame({"probe": IMAGES[FIRST], "reference": IMAGES[SECOND], "genuine": SAME})
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    data = fk.open_data(tmp_path / "pairs.csv", scores=tmp_path / "scores.txt")
    np.testing.assert_allclose(named(data).score.values, ASYMMETRIC[FIRST, SECOND])


def test_a_third_number_of_truth_is_no_impostor(tmp_path):
    truth = np.where(np.arange(len(SAME)) % 17 == 0, -1, SAME)
    table = TABLE[["score"]].assign(genuine=truth)
    table.to_csv(tmp_path / "t.csv", index=False)
    with refused("line 2", "genuine", "-1"):
        fk.open_data(tmp_path / "t.csv")


def test_the_same_people_in_another_order_are_asked_about():
    order = RNG.permutation(80)
    values, columns = COSINE[:, order], PEOPLE[order]
    with refused(answers=[{"same_images": False}]):
        fk.score_matrix(values, PEOPLE, columns)
    with refused(answers=[{"same_images": False}]):
        fk.open_data(pd.DataFrame(values, PEOPLE, columns), kind="matrix")
    others = fk.score_matrix(values, PEOPLE, columns, same_images=False)
    assert others.shape == (80, 80) and not others.attrs["symmetric"]


@pytest.mark.parametrize("form", ["list", "matrix with a row less"])
def test_images_with_themselves_among_genuine_pairs_are_noticed(form):
    if form == "list":
        with_itself = pd.DataFrame({"id1": PEOPLE, "id2": PEOPLE, "score": 1.0})
        scores = fk.open_data(pd.concat([TABLE, with_itself], ignore_index=True))
    else:
        scores = fk.score_matrix(COSINE[1:], PEOPLE[1:], PEOPLE)
    with noticed("genuine pairs"):
        fk.evaluate(scores, far=[0.1])


def test_ids_with_and_without_leading_zeros_are_noticed():
    numbers = [f"{k:02d}" for k in WHO[SECOND]]
    with noticed("identity", "0", "00"):
        fk.pairs(
            COSINE[FIRST, SECOND],
            probe_identity=WHO[FIRST].astype(str),
            reference_identity=numbers,
        )


def test_a_square_with_equal_diagonal_is_no_embedding(tmp_path):
    scores = COSINE + 0.01 * RNG.normal(size=COSINE.shape)
    np.fill_diagonal(scores, 1.0)
    np.clip(scores, -1, 1, out=scores)
    np.savez(tmp_path / "xy.npz", x=scores, y=PEOPLE)
    with refused("fk.score_matrix"):
        fk.open_data(tmp_path / "xy.npz")
    with refused("fk.score_matrix"):
        fk.faces(scores, PEOPLE)


@quiet
def test_a_frame_of_distances_with_people_as_names_asks_and_opens():
    frame = pd.DataFrame(1 - COSINE, PEOPLE, PEOPLE)
    with refused("fk.open_data"):
        fk.score_matrix(frame)
    with pytest.raises(fk.InputError) as question:
        fk.open_data(frame, same_images=True)
    answer = {"columns": {"distance": "all cells"}}
    assert answer in question.value.answers
    by_names = fk.open_data(frame, same_images=True, **answer)
    options = {"same_images": True, "distance": True}
    by_arrays = fk.score_matrix(frame.to_numpy(), PEOPLE, PEOPLE, **options)
    np.testing.assert_array_equal(by_names, by_arrays)


def test_a_named_square_with_itself_asks_whom_its_images_show():
    """That other images are on the columns cannot be said of a symmetric one: FRR 0 came of it."""
    names = [f"{who}_{number:02d}.jpg" for number, who in enumerate(PEOPLE)]
    square = pd.DataFrame(COSINE, names, names)
    with refused("symmetric", "same_images", answers=[]):  # as every answer beside it would be
        fk.open_data(square, kind="matrix", same_images=False)
    with pytest.raises(fk.InputError) as question:
        fk.open_data(square, kind="matrix")
    assert {"same_images": False} not in question.value.answers
    assert {"identity": "{name}_{number}.jpg"} in question.value.answers


@pytest.mark.parametrize(
    "name", ["FTA", "split", "attempt", "camera", "rank", "repeats", "threshold"]
)
@pytest.mark.parametrize("labels", [(0, 1), ("yes", "no"), ("x", "y", "z")])
def test_a_column_that_may_say_what_a_row_is_is_asked_about(name, labels):
    table = TABLE.assign(**{name: np.resize(labels, len(SAME))})
    with refused(name) as question:
        fk.open_data(table)
    for answer in question.value.answers:
        if "model" in answer["columns"]:  # the rows are no models of the same pairs
            continue
        data = fk.open_data(table, **answer)
        np.testing.assert_array_equal(data["pairs"].score.values, TABLE.score)
        is_attribute = answer["columns"][name] is not None
        assert (name in data["images"]) == is_attribute
    assert {"columns": {name: None}} in question.value.answers


@pytest.mark.filterwarnings("error::frkit.DataWarning")
@pytest.mark.parametrize("name", ["detected", "row_number"])
def test_a_column_that_says_nothing_about_its_row_is_not_asked_about(name):
    cells = {"detected": 1, "row_number": np.arange(len(SAME))}
    data = fk.open_data(TABLE.assign(**{name: cells[name]}))
    assert name not in data["images"]


@pytest.mark.parametrize("column", ["score", "distance", "value"])
def test_patterns_of_names_that_separate_come_first(column):
    """Of sessions before people; smaller may be more alike though the column does not say so."""
    names = [f"{number % 2}_{who}_{number:02d}.jpg" for number, who in enumerate(PEOPLE)]
    sides = {"image1": np.take(names, FIRST), "image2": np.take(names, SECOND)}
    similarity = COSINE[FIRST, SECOND]
    table = pd.DataFrame(sides | {column: similarity if column == "score" else 1 - similarity})
    with pytest.raises(fk.InputError) as question:
        fk.open_data(table, columns={"distance" if column == "distance" else "score": column})
    assert question.value.answers[0] == {"identity": "{first}_{name}_{number}.jpg"}


def numbered_faces(index):
    frame = pd.DataFrame(VECTORS, index).add_prefix("f")
    return frame, pd.DataFrame({"nr": index, "subject": PEOPLE})


@pytest.mark.parametrize("form", ["frame", "t.csv", "t.parquet"])
def test_numbers_of_images_in_an_index_join_labels_in_any_order(tmp_path, form):
    """They were joined by their order, silently."""
    frame, labels = numbered_faces(1000 + RNG.permutation(80))
    if form == "t.csv":
        frame.to_csv(tmp_path / form)
    elif form == "t.parquet":
        frame.to_parquet(tmp_path / form)
    data = frame if form == "frame" else tmp_path / form
    for table in (labels, labels.sort_values("nr", ignore_index=True), labels.set_index("nr")):
        people = fk.open_data(data, labels=table).identity.values
        np.testing.assert_array_equal(people, PEOPLE)
    with pytest.raises(fk.InputError, match="never joined by their order"):
        fk.open_data(data, labels=labels[["subject"]])


def test_an_index_that_counts_rows_names_nothing():
    frame, labels = numbered_faces(np.arange(80))
    np.testing.assert_array_equal(fk.open_data(frame, labels=labels).identity.values, PEOPLE)
    again = frame.assign(subject=PEOPLE).set_axis(np.arange(80) % 4)
    with pytest.raises(fk.InputError, match="occur again"):  # rows of four tables, perhaps models
        fk.open_data(again)
    np.testing.assert_array_equal(fk.open_data(again.reset_index(drop=True)).identity, PEOPLE)


def test_probes_that_are_references_too_are_no_rectangle():
    """Each pair of two probes has two equal cells, and counted twice."""
    names = np.array([f"{who}_{number:02d}.jpg" for number, who in enumerate(PEOPLE)])
    probes = np.sort(RNG.choice(80, 25, replace=False))
    frame = pd.DataFrame(COSINE[probes], names[probes], names)
    with pytest.raises(fk.InputError, match="frame.combine_first") as refusal:
        fk.open_data(frame, identity="{name}_{number}.jpg")
    assert refusal.value.answers == []
    with pytest.warns(fk.DataWarning, match="failed"):
        whole = fk.open_data(frame.combine_first(frame.T), identity="{name}_{number}.jpg")
    is_compared = np.isin(FIRST, probes) | np.isin(SECOND, probes)
    genuine = COSINE[FIRST, SECOND][is_compared & SAME]
    rates = fk.evaluate(whole, threshold=[0.5], weighting="pair")["empirical"]
    assert rates.frr.item() == pytest.approx(np.mean(genuine <= 0.5))
    assert rates.false_rejects.item() == np.sum(genuine <= 0.5)


def test_a_truth_that_contradicts_numbers_within_sites_can_be_kept():
    """Person 1 of one site is not person 1 of the other."""
    table = TABLE.assign(site_1=WHO[FIRST] // 10, site_2=WHO[SECOND] // 10, genuine=SAME)
    table[["subject_1", "subject_2"]] = np.transpose([WHO[FIRST] % 10, WHO[SECOND] % 10])
    table = table.drop(columns=["id1", "id2"])
    with pytest.raises(fk.InputError, match="'genuine' contradicts") as question:
        fk.open_data(table)
    keep_truth = {"columns": {"subject_1": None, "subject_2": None}}
    assert keep_truth in question.value.answers
    keep_truth["columns"]["site"] = ["site_1", "site_2"]
    data = fk.open_data(table, **keep_truth)
    np.testing.assert_array_equal(data["pairs"].genuine.values, SAME)


@quiet
def test_scores_given_beside_a_list_that_has_scores():
    table = TABLE.assign(FTA=np.arange(len(SAME)) % 9 == 0)
    options = {"scores": -TABLE.score.values, "columns": {"score": "score"}}
    with refused("FTA"):
        fk.open_data(table, **options)
    options["columns"]["FTA"] = None
    data = fk.open_data(table, **options)
    np.testing.assert_allclose(data["pairs"].score.values, -COSINE[FIRST, SECOND])


@quiet
def test_distances_that_are_called_scores_are_asked_about_where_a_pattern_says_who_it_is():
    names = np.array([f"{who}_{number}.jpg" for number, who in enumerate(PEOPLE)])
    table = pd.DataFrame({"image1": names[FIRST], "image2": names[SECOND]})
    table["score"] = 1 - COSINE[FIRST, SECOND]
    with refused("score") as question:
        fk.open_data(table, identity="{name}_{number}.jpg")
    data = fk.open_data(table, identity="{name}_{number}.jpg", **question.value.answers[0])
    np.testing.assert_allclose(data["pairs"].score.values, COSINE[FIRST, SECOND] - 1)


@quiet
@pytest.mark.parametrize("name", ["camera", "status", "split", "finger"])
def test_labels_of_both_sides_are_asked_about(name):
    table = TABLE.assign(**{f"{name}_1": WHO[FIRST] % 3, f"{name}_2": WHO[SECOND] % 3})
    with refused(f"{name}_1") as question:
        fk.open_data(table)
    as_labels, unused = [fk.open_data(table, **answer) for answer in question.value.answers]
    assert name in as_labels["images"] and name not in unused["images"]
    assert name not in fk.open_data(table, columns={name: None})["images"]
    gender = {"gender_1": WHO[FIRST] % 2, "gender_2": WHO[SECOND] % 2}
    assert "gender" in fk.open_data(TABLE.assign(**gender))["images"]


# --- what a stranger found in an eighth walk -----------------------------------------------------


@quiet
@pytest.mark.parametrize("name", ["aug", "run", "layer", "view"])
@pytest.mark.parametrize("form", ["table", "npz", "npy"])
def test_rows_of_the_same_images_under_labels_are_asked_about(tmp_path, form, name):
    """As flips or layers, if nothing names the images: their pairs are no genuine pairs."""
    again = VECTORS + 0.2 * RNG.normal(size=VECTORS.shape)
    both, who = np.concatenate([VECTORS, again]), np.tile(PEOPLE, 2)
    labels = pd.DataFrame({"identity": who, name: np.repeat(["a", "b"], 80)})
    options = {}
    if form == "table":
        source = pd.DataFrame(both).add_prefix("f").join(labels)
    elif form == "npz":
        source = tmp_path / "faces.npz"
        np.savez(source, embedding=both, **{key: labels[key].to_numpy(str) for key in labels})
    else:
        source = tmp_path / "faces.npy"
        np.save(source, both)
        labels.to_csv(tmp_path / "labels.csv", index=False)
        options["labels"] = tmp_path / "labels.csv"
    with refused(name) as question:
        fk.open_data(source, **options)
    of_models, of_images, _ = question.value.answers
    images = fk.open_data(source, **options | of_images)
    assert images.sizes["image"] == 160 and name in images.coords
    if form != "table":
        with refused("pd.DataFrame"):
            fk.open_data(source, **options | of_models)
        return
    models = fk.open_data(source, **of_models)
    assert dict(models.sizes) == {"model": 2, "image": 80, "feature": VECTORS.shape[1]}
    np.testing.assert_allclose(models.embedding[1], again, rtol=1e-6)


def test_presentation_attacks_among_embeddings_are_asked_about():
    table = pd.DataFrame(VECTORS).add_prefix("f").assign(identity=PEOPLE)
    table["attack_type"] = np.resize(["", "", "print"], 80)
    with refused("attack_type", "attacks"):
        fk.open_data(table)


@quiet
def test_cells_that_are_lists_are_no_labels(tmp_path):
    fk.open_data(TABLE.assign(box=[[1, 2, 3, 4]] * len(TABLE)))
    fk.open_data(TABLE.assign(box=[{1, 2}] * len(TABLE)))
    np.save(tmp_path / "e.npy", VECTORS)
    labels = pd.DataFrame({"identity": PEOPLE, "box": [[1, 2]] * 80})
    assert "box" not in fk.open_data(tmp_path / "e.npy", labels=labels).coords
    fk.open_data(TABLE, missing={-1})


def test_a_second_array_beside_a_matrix_is_named(tmp_path):
    np.savez(tmp_path / "m.npz", scores=COSINE, mask=COSINE > 0, labels=PEOPLE)
    options = {"columns": {"score": "scores"}, "same_images": True}
    with noticed("mask"):
        fk.open_data(tmp_path / "m.npz", **options)


@quiet
@pytest.mark.parametrize("word", ["FTA", "nan"])
def test_failures_among_scores_of_trials_are_read(tmp_path, word):
    trials = pd.DataFrame({"probe": IMAGES[FIRST], "reference": IMAGES[SECOND], "genuine": SAME})
    trials.to_csv(tmp_path / "trials.csv", index=False)
    scored = trials.drop(columns="genuine").assign(score=COSINE[FIRST, SECOND].round(6).astype(str))
    is_failed = np.arange(len(SAME)) % 9 == 0
    scored["score"] = scored.score.mask(is_failed, word)
    scored[::-1].to_csv(tmp_path / "scores.csv", index=False)
    data = fk.open_data(tmp_path / "trials.csv", scores=tmp_path / "scores.csv")
    np.testing.assert_array_equal(np.isnan(named(data).score.values), is_failed)


def test_scores_and_labels_in_two_columns_get_a_line():
    data = np.c_[COSINE[FIRST, SECOND], SAME]
    with refused("fk.pairs(*data.T)"):
        fk.open_data(pd.DataFrame(data))


def test_an_array_with_names_and_without_people_gets_the_line_that_reads_it():
    values = xr.DataArray(COSINE, dims=("probe", "reference"), coords={"probe": IMAGES})
    with refused("to_pandas()"):
        fk.open_data(values)
