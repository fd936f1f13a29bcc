"""Files and calls that once gave a wrong number in silence: the right one, or one clear error."""

import re
import warnings
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import noticed, refused

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
N_PEOPLE = 30
WHO = np.repeat(np.arange(N_PEOPLE), 2 + np.arange(N_PEOPLE) % 4)
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N_PEOPLE, 16))[WHO] + 0.9 * RNG.normal(size=(len(WHO), 16))
X /= np.linalg.norm(X, axis=1, keepdims=True)
S = X @ X.T
PEOPLE = np.array([f"s{k}" for k in WHO])
IMAGES = np.array([f"s{k}_{place}.png" for place, k in enumerate(WHO)])
FIRST, SECOND = np.triu_indices(len(WHO), 1)
SAME = WHO[FIRST] == WHO[SECOND]
ORDER = RNG.permutation(len(WHO))


def rates(scores, genuine, far=0.1):
    """FRR, pooled over pairs, at the lowest threshold whose FAR is at most `far`."""
    impostor = np.sort(scores[~genuine])[::-1]
    threshold = impostor[int(np.floor(far * len(impostor)))]
    return np.mean(scores[genuine] <= threshold)


def frr_of(data, **options):
    scores = fk.score_tensor(data) if isinstance(data, xr.Dataset) else data
    evaluation = fk.evaluate(scores, far=[0.1], **{"weighting": "pair"} | options)
    return evaluation["empirical"].frr.values.squeeze()


ALL_PAIRS = rates(S[FIRST, SECOND], SAME)

# --- one object of pandas among arrays ------------------------------------------------------------

BY_IMAGE = pd.Series(PEOPLE, IMAGES).sort_index()
IN_ORDER = BY_IMAGE.loc[IMAGES]
LABELLED = xr.DataArray(PEOPLE[ORDER], coords={"image": IMAGES[ORDER]}, dims="image")
SQUARE = pd.DataFrame(S, IMAGES, IMAGES)
TWICE = dict(probe=IMAGES, reference=IMAGES)
JOINED = {
    "a Series by names": lambda: fk.faces(X, IN_ORDER, image=IMAGES),
    "a Series by names, beside a frame": lambda: fk.faces(pd.DataFrame(X), IN_ORDER, image=IMAGES),
    "an array of xarray": lambda: fk.faces(X, LABELLED.sel(image=IMAGES), image=[*IMAGES]),
    "a frame by names": lambda: fk.faces(pd.DataFrame(X, IMAGES), PEOPLE, image=IMAGES),
    "both sides of a matrix": lambda: fk.score_matrix(S, IN_ORDER, IN_ORDER, **TWICE),
    "a matrix": lambda: fk.score_matrix(SQUARE, IN_ORDER, IN_ORDER),
    "rows in order": lambda: fk.faces(X, pd.Series(PEOPLE)),
    "numbers as names": lambda: fk.faces(X, fk.faces(X, PEOPLE).identity),
}


@pytest.mark.parametrize("case", JOINED)
def test_labelled_objects_in_one_order_are_taken(case):
    np.testing.assert_allclose(frr_of(JOINED[case]()), ALL_PAIRS)


SHUFFLED = SQUARE.iloc[ORDER]
UNORDERED = {
    "a Series by names": lambda: fk.faces(X, BY_IMAGE, image=IMAGES),
    "an array of xarray by names": lambda: fk.faces(X, LABELLED, image=[*IMAGES]),
    "a frame by names": lambda: fk.faces(pd.DataFrame(X, IMAGES).iloc[ORDER], PEOPLE, image=IMAGES),
    "both sides of a matrix": lambda: fk.score_matrix(S, BY_IMAGE, BY_IMAGE, **TWICE),
    "people of a matrix": lambda: fk.score_matrix(SQUARE, BY_IMAGE, BY_IMAGE),
    "rows of a frame": lambda: fk.score_matrix(SHUFFLED, PEOPLE, PEOPLE, **TWICE),
    "columns of a frame": lambda: fk.score_matrix(SHUFFLED.T, PEOPLE, PEOPLE, **TWICE),
    "numbers as names": lambda: fk.faces(
        pd.DataFrame(X, np.arange(len(WHO))).iloc[ORDER], PEOPLE, image=np.arange(len(WHO))
    ),
    "an attribute": lambda: fk.faces(X, PEOPLE, image=IMAGES, group=BY_IMAGE),
    "names that are not given": lambda: fk.faces(X, BY_IMAGE),
    "coordinates that are not given": lambda: fk.faces(X, LABELLED),
    "sorted": lambda: fk.faces(X, pd.Series(PEOPLE).sort_values()),
    "rows of a larger table": lambda: fk.faces(X, pd.Series(PEOPLE, range(7, len(WHO) + 7))),
    "a matrix": lambda: fk.score_matrix(S, BY_IMAGE, BY_IMAGE),
    "truth of pairs": lambda: fk.pairs(
        S[FIRST, SECOND], pd.Series(SAME).sample(frac=1, random_state=0)
    ),
    "scores of pairs": lambda: fk.pairs(pd.Series(S[FIRST, SECOND]).sort_values(), SAME),
    "one side of an attribute": lambda: fk.pairs(
        S[FIRST, SECOND], SAME, sex=(pd.Series(PEOPLE[FIRST]).sort_values(), None)
    ),
}


@pytest.mark.parametrize("case", UNORDERED)
def test_one_labelled_object_in_an_order_of_its_own_is_refused(case):
    with refused("to_numpy()"):
        UNORDERED[case]()


# --- an evaluation whose nodes no longer agree ----------------------------------------------------


def evaluated():
    faces = fk.faces(X, PEOPLE, group=np.where(WHO % 2, "A", "B"))
    return fk.evaluate(fk.score_tensor(faces), far=[0.01, 0.1], by="group")


def in_another_order(evaluation, dim):
    rates = evaluation["empirical"].to_dataset()
    evaluation["empirical"] = xr.DataTree(rates.sortby(dim, ascending=False))


def edited(evaluation, name):
    evaluation["empirical"][name].values[..., 0] = 0.015


CHANGED = {
    "levels": lambda evaluation: in_another_order(evaluation, "far_level"),
    "groups": lambda evaluation: in_another_order(evaluation, "group"),
    "values": lambda evaluation: [edited(evaluation, name) for name in ("frr", "frr_group")],
}
ASKED = {
    "band": lambda evaluation: fk.band(evaluation, "frr_group"),
    "comparison": lambda evaluation: fk.compare(evaluation, "frr_group", groups=("A", "B")),
    "floor": lambda evaluation: fk.fair_floor(evaluation, "frr_max_min"),
}


@pytest.mark.parametrize("case", CHANGED)
def test_rates_that_were_changed_have_no_interval(case):
    evaluation = evaluated()
    for question in ASKED.values():
        question(evaluation)
    CHANGED[case](evaluation)
    for question in ASKED.values():
        with refused("frr_group", "empirical"):
            question(evaluation)


@pytest.mark.slow
def test_an_edited_file_of_an_evaluation_has_no_interval(tmp_path):
    path = tmp_path / "evaluation.nc"
    evaluation = evaluated()
    edited(evaluation, "frr")
    evaluation.to_netcdf(path, engine="h5netcdf")
    stored = fk.open_evaluation(path)
    with refused("frr", "empirical"):
        fk.band(stored, "frr")
    fk.band(stored, "frr_group")


# --- cells and lines of text ----------------------------------------------------------------------

PLACES = np.sort(
    np.r_[
        RNG.choice(np.flatnonzero(SAME), 80, replace=False),
        RNG.choice(np.flatnonzero(~SAME), 400, replace=False),
    ]
)
A, B = FIRST[PLACES], SECOND[PLACES]
SCORE, GENUINE = np.round(S[A, B], 6), SAME[PLACES]
LIST = pd.DataFrame(
    {"probe": IMAGES[A], "reference": IMAGES[B], "same": GENUINE.astype(int), "score": SCORE}
)
OF_PEOPLE = pd.DataFrame({"subject_1": PEOPLE[A], "subject_2": PEOPLE[B], "score": SCORE})
OF_LIST = rates(SCORE, GENUINE)


def frr_of_text(folder, table, **options):
    """FRR of a table, or of lines, that are written and opened."""
    path = folder / "list.csv"
    lines = table if isinstance(table, list) else table.to_csv(index=False).splitlines()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return frr_of(fk.open_data(path, **options))


@pytest.mark.parametrize("character", ["\u200b", "\ufeff", "\u2060", " \u200b ", "\u00a0"])
def test_characters_without_width_are_no_part_of_a_name(tmp_path, character):
    table = OF_PEOPLE.copy()
    table.loc[::7, "subject_2"] += character
    table.loc[::5, "subject_1"] = character + table.subject_1[::5]
    assert frr_of_text(tmp_path, table) == OF_LIST
    sides = dict(probe_identity=table.subject_1, reference_identity=table.subject_2)
    assert frr_of(fk.pairs(SCORE, **sides)) == OF_LIST


def test_two_forms_of_unicode_are_one_name(tmp_path):
    names = [f"Zoé{k}" for k in WHO]
    one, other = ([normalize(form, name) for name in names] for form in ("NFC", "NFD"))
    table = pd.DataFrame({"subject_1": np.array(one)[A], "subject_2": np.array(other)[B]})
    table["score"] = SCORE
    assert frr_of_text(tmp_path, table) == OF_LIST
    assert frr_of(fk.open_data(table)) == OF_LIST


LINES = LIST.to_csv(index=False).splitlines()
WITH_COMMENTS = {
    "lines of data": lambda lines: [f"#{line}" if k in (3, 200) else line for k, line in lines],
    "a remark": lambda lines: [
        text for k, line in lines for text in ["# more"] * (k == 150) + [line]
    ],
}


@pytest.mark.parametrize("case", WITH_COMMENTS)
@pytest.mark.parametrize("turned", [False, True], ids=["names first", "scores first"])
def test_lines_of_comment_are_refused_below_data(tmp_path, case, turned):
    lines = [",".join(line.split(",")[::-1]) for line in LINES] if turned else LINES
    lines = WITH_COMMENTS[case](list(enumerate(lines)))
    with refused("#"):
        frr_of_text(tmp_path, lines)


def test_comments_in_a_list_of_lfw_name_nobody(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("ann 1 2\n#cat 1 2\nbob 1 ann 1\nbob 1 2\n")
    with refused(path.name):
        fk.open_data(path, scores=[3.0, 1.0, 2.0])


def test_texts_of_pandas_in_an_array_of_xarray_are_labels():
    names = pd.Series(PEOPLE).array
    labels = xr.DataArray(names, coords={"image": IMAGES}, dims="image")
    faces = fk.faces(X, labels, image=IMAGES, group=labels)
    np.testing.assert_array_equal(faces.identity, PEOPLE)
    np.testing.assert_array_equal(faces.group, PEOPLE)


# --- the same pair again --------------------------------------------------------------------------

AGAIN = slice(0, 60)
TWO_WAYS = {
    "twice": (np.r_[A, A[AGAIN]], np.r_[B, B[AGAIN]], "60 pairs occur twice"),
    "in both directions": (np.r_[A, B[AGAIN]], np.r_[B, A[AGAIN]], "60 pairs occur twice"),
}


@pytest.mark.parametrize("case", TWO_WAYS)
@pytest.mark.parametrize("models", [None, ["one", "two"]])
def test_a_pair_in_arrays_that_is_listed_again_counts_once(case, models):
    first, second, notice = TWO_WAYS[case]
    score = np.r_[SCORE, SCORE[AGAIN]]
    score = score if models is None else np.stack([score, score])
    names = dict(probe=IMAGES[first], reference=IMAGES[second])
    people = dict(probe_identity=PEOPLE[first], reference_identity=PEOPLE[second])
    with pytest.warns(fk.DataWarning, match=notice):
        pairs = fk.pairs(score, **names, **people, model=models)
    assert pairs["pairs"].sizes["pair"] == len(SCORE)
    np.testing.assert_array_equal(frr_of(pairs), OF_LIST)


def test_a_pair_in_arrays_with_another_score_is_another_comparison():
    names = dict(probe=["a", "c", "a", "a"], reference=["b", "d", "b", "b"])
    with noticed("1 pairs"):
        pairs = fk.pairs([0.1, 0.2, 0.3, 0.1], [True, False, True, True], **names)
    np.testing.assert_array_equal(pairs["pairs"].score, [0.1, 0.2, 0.3])


def test_lines_without_names_of_images_that_are_equal_are_counted(tmp_path):
    table = pd.concat([OF_PEOPLE, OF_PEOPLE.iloc[AGAIN]], ignore_index=True)
    expected = rates(table.score, (table.subject_1 == table.subject_2).to_numpy())
    sides = dict(probe_identity=table.subject_1, reference_identity=table.subject_2)
    for opened in (
        lambda: frr_of_text(tmp_path, table),
        lambda: frr_of(fk.open_data(table)),
        lambda: frr_of(fk.pairs(table.score, **sides)),
    ):
        with noticed("60 lines"):
            assert opened() == expected


def test_lines_with_few_scores_are_equal_by_chance():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fk.open_data(OF_PEOPLE.assign(score=OF_PEOPLE.score.round(1)))
    assert not any("are equal to another one" in str(warning.message) for warning in caught)


# --- questions ------------------------------------------------------------------------------------

MODEL_COLUMNS = "network Net backbone matcher_name algo algorithm system_id method encoder model"
MODEL_COLUMNS += " metric similarity_metric"


@pytest.mark.parametrize("name", MODEL_COLUMNS.split())
def test_a_column_of_models_is_asked_about(name):
    rows = pd.DataFrame({name: "A", "same": LIST.same, "score": SCORE})
    both = pd.concat([rows, rows.assign(**{name: "B", "score": SCORE[::-1]})])
    with refused("model") as caught:
        fk.open_data(both)
    assert caught.value.answers[0] == {"columns": {"model": name}}


def test_rows_of_two_models_have_their_own_rates(tmp_path):
    rows = LIST[["same", "score"]].assign(network="A")
    both = pd.concat([rows, rows.assign(network="B", score=SCORE[::-1])])
    expected = [OF_LIST, rates(SCORE[::-1], GENUINE)]
    found = frr_of_text(tmp_path, both, columns={"model": "network"})
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("n_marked", [1, 2, 3])
def test_minus_one_far_below_all_cosines_is_asked_about(n_marked):
    score = SCORE.copy()
    marked = np.flatnonzero(GENUINE)[:n_marked]
    score[marked] = -1
    with refused(-1, answers=[{"missing": [-1.0]}, {"missing": []}]) as caught:
        fk.pairs(score, GENUINE)
    assert caught.value.answers[0] == {"missing": [-1.0]}
    kept = np.delete(np.arange(len(SCORE)), marked)
    assert frr_of(fk.pairs(score, GENUINE, missing=-1)) == rates(SCORE[kept], GENUINE[kept])


def test_minus_one_near_other_scores_is_a_score():
    score = np.linspace(-1, 1, len(SCORE))[np.argsort(np.argsort(SCORE))]
    assert frr_of(fk.pairs(score, GENUINE)) == OF_LIST


NUMBERS = pd.DataFrame(X, columns=range(1, 17))
NUMBERED = {
    "with a header": lambda path: NUMBERS.assign(id=WHO + 1)[["id", *NUMBERS]].to_csv(
        path, index=False
    ),
    "without a header": lambda path: np.savetxt(path, np.c_[WHO, X], delimiter=","),
}


@pytest.mark.parametrize("case", NUMBERED)
def test_numbered_columns_beside_numbered_people_are_asked_about(tmp_path, case):
    path = tmp_path / "numbers.csv"
    NUMBERED[case](path)
    with refused(answers=[{"kind": "matrix"}, {"kind": "faces"}]) as caught:
        fk.open_data(path)
    assert caught.value.answers == [{"kind": "matrix"}, {"kind": "faces"}]
    with refused("classes") as whom:
        fk.open_data(path, kind="faces")
    faces = fk.open_data(path, kind="faces", **whom.value.answers[0])
    np.testing.assert_allclose(frr_of(faces), ALL_PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize("identity", ["0", "7", "16"])
def test_a_numbered_column_can_be_the_identity(tmp_path, identity):
    path = tmp_path / "numbers.csv"
    np.savetxt(path, np.insert(X, int(identity), WHO, axis=1), delimiter=",")
    table = pd.read_csv(path, header=None)
    table.to_csv(path)
    np.testing.assert_allclose(frr_of(fk.open_data(path, identity=identity)), ALL_PAIRS)
    named = {"identity": identity}
    np.testing.assert_allclose(frr_of(fk.open_data(path, columns=named)), ALL_PAIRS)
    faces = fk.open_data(table, columns=named, kind="faces")
    np.testing.assert_allclose(frr_of(faces), ALL_PAIRS)


@pytest.mark.filterwarnings("ignore:[0-9]+ genuine and [0-9]+ impostor comparisons failed")
@pytest.mark.parametrize("sides", ["some are missing", "in another order"])
def test_a_symmetric_matrix_of_overlapping_images_counts_pairs_once(tmp_path, sides):
    rows, columns = np.arange(len(WHO)), ORDER
    if sides == "some are missing":
        rows, columns = np.delete(rows, [3, 40]), np.delete(rows, [7, 20, 50])
    path = tmp_path / "matrix.csv"
    SQUARE.iloc[rows, columns].to_csv(path)
    is_row, is_column = (np.isin(np.arange(len(WHO)), side) for side in (rows, columns))
    there = is_row[FIRST] & is_column[SECOND] | is_row[SECOND] & is_column[FIRST]
    source = path
    if sides == "some are missing":
        with refused("frame.combine_first(frame.T)"):
            fk.open_data(path, identity="{name}_{number}.png")
        frame = pd.read_csv(path, index_col=0)
        source = frame.combine_first(frame.T)
    scores = fk.open_data(source, identity="{name}_{number}.png")
    expected = rates(S[FIRST, SECOND][there], SAME[there])
    np.testing.assert_allclose(frr_of(scores), expected)
    assert scores.attrs["symmetric"] == 1
    assert np.isfinite(scores.values[np.triu_indices(len(WHO), 1)]).sum() == there.sum()


def test_labels_of_kept_images_are_one_for_each_image():
    kept = fk.sweep(fk.score_tensor(fk.faces(X, PEOPLE)))
    labels = np.where(WHO % 2, "A", "B")
    kept["images"]["group"] = ("image", labels)
    with refused("group", "xr.DataArray"):
        fk.evaluate(kept, far=[0.1])
    del kept["images"]["group"]
    kept["images"]["group"] = xr.DataArray(labels, dims="image")
    fk.evaluate(kept, far=[0.1], by="group")


# --- what a stranger found in a third walk -------------------------------------------------------


def spread_faces(n_people=30, n_images=4, seed=0):
    """People of whom every second one has much noisier images; their numbers are the identities."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_people), n_images)
    noise = np.where(who % 2 == 0, 1.4, 0.4)[:, None] * rng.normal(size=(len(who), 16))
    return rng.normal(size=(n_people, 16))[who] + noise, who


def frr_of_groups(data, by):
    rates = fk.evaluate(fk.score_tensor(data), threshold=[0.5], by=by, varying="keep")["empirical"]
    return rates.frr_group.isel(threshold_level=0).values


@pytest.mark.parametrize("counter", ["Unnamed: 0", "n"])
def test_labels_are_joined_by_the_names_of_people_and_not_by_numbers_of_rows(tmp_path, counter):
    vectors, who = spread_faces()
    np.savez(tmp_path / "f.npz", embedding=vectors, identity=who)
    gender = np.where(np.arange(30) % 2, "M", "F")
    people = pd.DataFrame({"person": np.arange(30), "gender": gender})
    people = people.sample(frac=1, random_state=1).reset_index(drop=True)
    people.insert(0, counter, np.arange(30))
    people.to_csv(tmp_path / "people.csv", index=False)
    joined = fk.open_data(tmp_path / "f.npz", labels=tmp_path / "people.csv")
    direct = fk.faces(vectors, who, gender=gender[who])
    np.testing.assert_allclose(frr_of_groups(joined, "gender"), frr_of_groups(direct, "gender"))
    people.rename(columns={"person": "p"}).to_csv(tmp_path / "people.csv", index=False)
    with refused("p"):
        fk.open_data(tmp_path / "f.npz", labels=tmp_path / "people.csv")


def test_a_changed_truth_that_contradicts_the_identities_is_refused():
    sides = dict(probe_identity=list("aabbccab"), reference_identity=list("aabbccbc"))
    data = fk.pairs([0.9, 0.2, 0.8, 0.7, 0.9, 0.8, 0.3, 0.1], [1, 1, 1, 1, 1, 1, 0, 0], **sides)
    same = data["pairs"].genuine.values.copy()
    same[1] = False
    data["pairs"]["genuine"] = xr.DataArray(same, dims="pair")
    with refused("`genuine`", "fk.pairs"):
        fk.evaluate(data, threshold=[0.5])


def test_separators_at_the_end_of_lines_shift_nothing(tmp_path):
    vectors, who = spread_faces()
    table = pd.DataFrame(vectors).add_prefix("f")
    table.insert(0, "identity", [f"p{person}" for person in who])
    table.insert(1, "family", [f"fam{person // 2}" for person in who])
    head, *rows = (
        table.assign(quality=np.random.default_rng(0).random(120)).to_csv(index=False).splitlines()
    )
    files = {"rows.csv": [head, *(f"{row}," for row in rows)]}
    files["all.csv"] = [f"{line}," for line in (head, *rows)]
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines))
        with refused(name):
            fk.open_data(tmp_path / name)


@pytest.mark.parametrize("form", ["list", "matrix"])
def test_failed_comparisons_are_rejected_at_no_threshold_that_accepts_them(form):
    scores = np.array([60.0, 70, 80, np.nan, 20, 30, 40, 50])
    data = fk.pairs(scores, [1, 1, 1, 1, 0, 0, 0, 0], failed="rejected")
    if form == "matrix":
        values = np.array([[60, 20], [30, np.nan]])
        who = [["a", "b"]] * 2
        data = fk.score_matrix(values, *who, same_images=False, failed="rejected")
    share = 1 / 4 if form == "list" else 1 / 2
    assert fk.evaluate(data, threshold=[55])["empirical"].frr.item() == share
    with refused("threshold", "failed"):
        fk.evaluate(data, threshold=[10])


def test_a_list_with_attributes_and_without_people_is_evaluated(tmp_path):
    table = pd.DataFrame({"img1": list("abcdef"), "img2": list("ghijkl")})
    table["sex1"], table["sex2"] = list("FMFMFM"), list("FMFMMF")
    table["same"], table["score"] = [1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.2, 0.3, 0.1, 0.6]
    data = fk.open_data(table, columns={"genuine": "same"})
    assert fk.evaluate(data, threshold=[0.5])["empirical"].frr.item() == pytest.approx(1 / 3)


def test_blank_labels_in_a_list_are_those_of_the_person(tmp_path):
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(12), 3)
    names = np.array([f"p{person}_{k % 3}.jpg" for k, person in enumerate(who)])
    first, second = np.triu_indices(36, 1)
    table = pd.DataFrame({"img1": names[first], "img2": names[second]})
    table["person1"], table["person2"] = who[first], who[second]
    for side, rows in (("1", first), ("2", second)):
        table[f"sex{side}"] = np.where(who[rows] % 2, "F", "M")
    table["score"] = (who[first] == who[second]) + 0.4 * rng.normal(size=len(first))
    rates = [fk.evaluate(fk.open_data(table), threshold=[0.5], by="sex")["empirical"].frr_group]
    for side in "12":
        table.loc[table[f"img{side}"] == "p1_0.jpg", f"sex{side}"] = None
    with noticed("sex", "1 images"):
        blank = fk.evaluate(fk.open_data(table), threshold=[0.5], by="sex")["empirical"]
    np.testing.assert_allclose(blank.frr_group, rates[0])


def test_models_that_differ_in_failures_are_not_called_one():
    scores = np.random.default_rng(0).random(100)
    failing = np.where(np.arange(100) % 7 == 0, np.nan, scores)
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        fk.pairs({"A": scores, "B": failing}, np.arange(100) % 3 == 0)
    assert not any("same order" in str(notice.message) for notice in notices)


def test_pairs_of_another_model_in_the_other_direction_are_named(tmp_path):
    table = pd.DataFrame(
        {"img1": list("abcd"), "img2": list("efgh"), "score": [0.1, 0.2, 0.8, 0.9]}
    )
    table["same"] = [0, 0, 1, 1]
    turned = table.rename(columns={"img1": "img2", "img2": "img1"})
    table.to_csv(tmp_path / "a.csv", index=False)
    turned[[*table]].to_csv(tmp_path / "b.csv", index=False)
    with refused("pairs", 4, "'a', 'e'", "'e', 'a'"):
        fk.open_data([tmp_path / "a.csv", tmp_path / "b.csv"], columns={"genuine": "same"})


def test_a_truth_that_contradicts_a_few_identities_is_asked_about():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id1": rng.integers(0, 10, 300), "id2": rng.integers(0, 10, 300)})
    table["same"] = (table.id1 == table.id2).astype(int)
    table["score"] = table.same + rng.normal(size=300)
    table.loc[3, "same"] = 1 - table.same[3]
    with refused("same", "id1", "id2", "1 pairs") as asked:
        fk.open_data(table)
    people, attribute = [fk.open_data(table, **answer) for answer in asked.value.answers]
    assert "identity" in people["images"] and "identity" not in attribute["images"]
    assert attribute["pairs"].genuine.values.sum() == table.same.sum()


def test_another_column_that_may_be_scores_is_asked_about():
    table = pd.DataFrame({"id1": list("aabb") * 5, "id2": list("abba") * 5})
    table["score"] = np.random.default_rng(0).random(20)
    table["arcface_score"] = table.score**2
    with refused("arcface_score") as asked:
        fk.open_data(table)
    both = fk.open_data(table, **asked.value.answers[-2])
    assert both["pairs"].model.values.tolist() == ["score", "arcface_score"]


def test_options_of_data_that_were_opened_are_refused(tmp_path):
    faces = fk.demo_faces().isel(model=0, image=slice(50), drop=True)
    with refused("labels"):
        fk.open_data({"A": faces, "B": faces}, labels=pd.DataFrame({"image": ["a"], "sex": ["f"]}))
    assert fk.open_data({"A": faces, "B": faces}).model.values.tolist() == ["A", "B"]


@pytest.mark.parametrize("noise", [0, 0.15])
def test_a_decision_that_contradicts_names_of_images_is_asked_about(noise):
    vectors, who = spread_faces()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    names = np.array([f"p{person:02d}_{k % 4}.jpg" for k, person in enumerate(who)])
    first, second = np.triu_indices(len(who), 1)
    rng = np.random.default_rng(0)
    same = who[first] == who[second]
    some = same | (rng.random(len(same)) < (0.1 if noise else 1))
    first, second, same = first[some], second[some], same[some]
    score = (unit[first] * unit[second]).sum(1)
    table = pd.DataFrame({"img1": names[first], "img2": names[second], "score": score})
    of_other_system = score + noise * rng.normal(size=len(score))
    table["match"] = (of_other_system > 0.5).astype(int)
    with refused("match", "{name}_{number}.jpg") as asked:
        fk.open_data(table)
    by_decision, by_names = [fk.open_data(table, **answer) for answer in asked.value.answers]
    np.testing.assert_array_equal(by_names["pairs"].genuine, same)
    np.testing.assert_array_equal(by_decision["pairs"].genuine, table.match == 1)


def test_a_decision_is_not_proposed_as_the_truth():
    score = np.random.default_rng(0).random(20)
    names = {"img1": [f"a{k}" for k in range(20)], "img2": [f"b{k}" for k in range(20)]}
    table = pd.DataFrame(names | {"score": score, "verified": score > 0.5})
    with refused("genuine") as asked:
        fk.open_data(table)
    assert {"genuine": "verified"} not in [each.get("columns") for each in asked.value.answers]


# --- what a stranger found in a fourth walk ------------------------------------------------------

LIGHT = np.where(np.arange(120) % 4 < 2, "dark", "bright")


@pytest.mark.parametrize("counter, first", [("image", 1), ("index", 0), ("", 0), ("", 1)])
def test_labels_whose_rows_are_numbered_in_another_order_are_refused(tmp_path, counter, first):
    vectors, who = spread_faces()
    np.save(tmp_path / "f.npy", vectors)
    labels = pd.DataFrame({counter: np.arange(120) + first, "person": who, "light": LIGHT})
    turned = labels.sample(frac=1, random_state=0)
    with pytest.raises(fk.InputError, match="numbers the rows in another order"):
        fk.open_data(tmp_path / "f.npy", labels=written(tmp_path, turned))
    options = {"labels": written(tmp_path, labels), "columns": {"light": "light"}}
    joined = fk.open_data(tmp_path / "f.npy", **options)
    direct = frr_of_groups(fk.faces(vectors, who, light=LIGHT), "light")
    np.testing.assert_allclose(frr_of_groups(joined, "light"), direct)


@pytest.mark.slow
def test_labels_of_a_numbered_matrix_are_refused_in_another_order(tmp_path):
    vectors, who = spread_faces()
    numbers = np.arange(120) + 1
    pd.DataFrame(vectors @ vectors.T, numbers, numbers).to_csv(tmp_path / "m.csv")
    labels = pd.DataFrame({"image": numbers, "person": who}).sample(frac=1, random_state=0)
    with pytest.raises(fk.InputError, match="numbers the rows in another order"):
        fk.open_data(tmp_path / "m.csv", kind="matrix", labels=written(tmp_path, labels))
    scores = fk.open_data(
        tmp_path / "m.csv", kind="matrix", labels=written(tmp_path, labels.sort_values("image"))
    )
    assert scores.probe_identity.values.tolist() == who.astype(str).tolist()


def written(folder, table):
    """A file of labels; a column without a name is first."""
    table.to_csv(folder / "labels.csv", index=False)
    return folder / "labels.csv"


def test_numbers_of_images_are_not_those_of_people(tmp_path):
    vectors, who = spread_faces()
    np.savez(tmp_path / "f.npz", embedding=vectors, identity=who)
    labels = pd.DataFrame({"image": np.arange(120), "light": LIGHT})
    with refused("identity"):
        fk.open_data(tmp_path / "f.npz", labels=labels)
    np.savez(tmp_path / "g.npz", embedding=vectors, identity=who, image=np.arange(120))
    labels = pd.DataFrame({"number": np.arange(120), "light": LIGHT})
    joined = fk.open_data(tmp_path / "g.npz", labels=labels.sample(frac=1, random_state=0))
    direct = frr_of_groups(fk.faces(vectors, who, light=LIGHT), "light")
    np.testing.assert_allclose(frr_of_groups(joined, "light"), direct)


def list_of_all(n_people=20, n_images=3, seed=0):
    """All pairs of some images, with their names and people, and each image with itself."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_people), n_images)
    first, second = np.triu_indices(len(who))
    same = who[first] == who[second]
    score = (same + rng.normal(size=len(first))).round(6)
    people = np.array([f"p{k:02d}" for k in who])
    names = np.array([f"{person}_{k}.jpg" for k, person in enumerate(people)])
    sides = {"img1": names[first], "img2": names[second]}
    sides |= {"person1": people[first], "person2": people[second]}
    return pd.DataFrame(sides | {"score": np.where(first == second, 9, score)})


def pooled_frr(table):
    """Of different images, by sorting."""
    table = table[table.img1 != table.img2]
    same = table.person1 == table.person2
    impostors = np.sort(table.score[~same])[::-1]
    return np.mean(table.score[same] <= impostors[int(0.1 * len(impostors) + 1e-9)])


def test_an_image_of_two_people_is_a_question():
    table = list_of_all()
    options = dict(far=[0.1], weighting="pair")
    frr = fk.evaluate(fk.open_data(table), **options)["empirical"].frr
    assert float(frr[0]) == pytest.approx(pooled_frr(table))
    table.loc[table.index[table.person1 != table.person2][5], "person2"] = "p9999"
    answer = {"columns": {"probe": None, "reference": None}}
    with refused("p9999", f"columns={answer['columns']}"):
        fk.open_data(table)
    with refused(9) as asked:
        fk.open_data(table, **answer)
    without_names = fk.open_data(table, **answer, **asked.value.answers[0])
    assert "image" not in without_names["images"]


@pytest.mark.parametrize("word", ["unknown", "ignore"])
def test_a_third_class_beside_people_is_refused_and_may_be_left_out(word):
    table = list_of_all()
    label = (table.person1 == table.person2).astype(int).astype(str)
    table["label"] = label.where(np.arange(len(table)) % 40 > 0, word)
    with refused("row 1", "label", word) as asked:
        fk.open_data(table)
    [answer] = asked.value.answers
    assert answer == {"columns": {"genuine": None}}
    fk.open_data(table, **answer)
    rest = table[table.label != word]
    evaluation = fk.evaluate(fk.open_data(rest), far=[0.1], weighting="pair")
    assert float(evaluation["empirical"].frr[0]) == pytest.approx(pooled_frr(rest))


def test_a_mean_beside_scores_without_a_usual_name_is_asked_about():
    table = (
        list_of_all().rename(columns={"score": "arcface"}).assign(mean_score=np.arange(1830) / 7)
    )
    with refused("arcface") as asked:
        fk.open_data(table)
    both, one = asked.value.answers[-2:]
    assert fk.open_data(table, **both)["pairs"].model.values.tolist() == ["mean_score", "arcface"]
    assert "model" not in fk.open_data(table, **one)["pairs"].dims


def test_embeddings_of_two_files_without_names_are_joined_with_a_notice(tmp_path):
    vectors, who = spread_faces()
    for name in "ab":
        np.savez(tmp_path / f"{name}.npz", embedding=vectors, identity=who)
    with noticed("a", "b"):
        fk.open_data([tmp_path / "a.npz", tmp_path / "b.npz"])


@pytest.mark.parametrize("role", ["score", "distance"])
def test_zeros_among_fractions_are_asked_about(role):
    table = list_of_all()
    table = table[table.img1 != table.img2].reset_index(drop=True)
    failed = np.arange(7, 400, 100)
    marked = table.assign(**{role: 8 - table.score if role == "distance" else table.score})
    marked.loc[failed, role] = 0
    marked = marked[["img1", "img2", "person1", "person2", role]]
    with refused(0) as asked:
        fk.open_data(marked)
    assert asked.value.answers[1] == {"missing": []}
    with noticed("genuine", "failed"):
        data = fk.open_data(marked, **asked.value.answers[0])
    frr = fk.evaluate(data, far=[0.1], weighting="pair")["empirical"].frr
    assert float(frr[0]) == pytest.approx(pooled_frr(table.drop(index=failed)))


def test_whole_scores_may_often_be_zero():
    table = list_of_all()
    fk.open_data(table.assign(score=np.maximum(table.score * 10, 0).astype(int)))


def test_labels_say_who_is_in_the_images_of_a_list():
    table = list_of_all()
    people = pd.DataFrame(
        {"image": table.img1.unique(), "subject": table.groupby("img1").person1.first().values}
    )
    people = people.sample(frac=1, random_state=0)
    data = fk.open_data(table[["img1", "img2", "score"]], labels=people)
    frr = fk.evaluate(data, far=[0.1], weighting="pair")["empirical"].frr
    assert float(frr[0]) == pytest.approx(pooled_frr(table))


def test_a_header_that_is_repeated_is_named_by_its_line(tmp_path):
    names = ["probe", "reference", "probe_identity", "reference_identity", "score"]
    table = list_of_all().set_axis(names, axis=1)
    text = table.to_csv(index=False).splitlines()
    (tmp_path / "t.csv").write_text("\n".join([*text[:50], text[0], *text[50:]]))
    with refused("line 51"):
        fk.open_data(tmp_path / "t.csv")


def test_an_answer_takes_the_column_from_its_other_role():
    table = list_of_all()[["img1", "img2", "score"]]
    table["label"] = (list_of_all().person1 != list_of_all().person2).astype(int)
    with refused("score") as asked:
        fk.open_data(table)
    for call in asked.value.calls:
        assert not ("'genuine': 'label'" in call and "'impostor': 'label'" in call)


def test_lists_of_two_lengths_in_cells_are_named_by_their_row(tmp_path):
    for bad in ("", "[1.5]"):
        cells = ["[1.0, 2.0]", "[1.5, 0.5]", bad, "[2.0, 1.0]"]
        table = pd.DataFrame({"identity": list("aabb"), "embedding": cells})
        table.to_csv(tmp_path / "t.csv", index=False)
        with refused("line 4", "embedding"):
            fk.open_data(tmp_path / "t.csv")


def test_a_matrix_with_two_levels_of_names_is_refused():
    names = pd.MultiIndex.from_product([["ann", "bob"], ["1.jpg", "2.jpg"]])
    with refused("probe_identity=", "reference_identity="):
        fk.score_matrix(pd.DataFrame(np.eye(4), names, names))


# --- what a stranger found in a fifth walk -------------------------------------------------------


def scores_with_people(n_people=14, n_images=3):
    """Scores of images with people, by names such as s00, and who is in the images."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(n_people), n_images)
    scores = (who[:, None] == np.arange(n_people)) + rng.normal(size=(len(who), n_people))
    return scores.round(6), who


@pytest.mark.parametrize(
    "name, form",
    [
        ("s{:02}", "a column"),
        ("{}", "a column"),
        ("n{:06}", "labels"),
        ("{}", "labels"),
        ("person{}", "an array"),
    ],
)
def test_columns_that_are_called_like_the_people_are_a_question(tmp_path, name, form):
    scores, who = scores_with_people()
    names = [name.format(number) for number in range(14)]
    table = pd.DataFrame(scores, columns=names)
    people = np.array(names)[who]
    options = {}
    if form == "a column":
        source = table.assign(subject=people)
    elif form == "labels":
        images = [f"i{number}.jpg" for number in range(len(who))]
        source = table.assign(image=images)
        options["labels"] = pd.DataFrame({"image": images, "subject": people})
    else:
        source = tmp_path / "s.npz"
        np.savez(source, logits=scores, subject=people)
    with refused() as asked:
        fk.open_data(source, **options)
    assert {"kind": "matrix"} in asked.value.answers
    if form == "a column":
        with refused() as asked:
            fk.open_data(source, identity="subject")
        assert {"kind": "matrix"} in asked.value.answers
    if form == "a column" and name != "{}":
        with refused("subject"):
            fk.open_data(source, kind="matrix")
        data = fk.open_data(source.set_index("subject")[names], kind="matrix")
        assert data.probe_identity.values.tolist() == people.tolist()
    prefix = name.partition("{")[0]
    options |= {"columns": {"embedding": prefix}} if prefix and form != "an array" else {}
    assert fk.open_data(source, kind="faces", **options).sizes["feature"] == 14


@pytest.mark.parametrize("shape", ["floats", "one column", "one row"])
def test_names_of_images_that_are_floats_or_one_column_join_labels(tmp_path, shape):
    vectors, who = spread_faces()
    number = np.arange(1000, 1120)
    forms = {"floats": number.astype(float), "one column": number[:, None], "one row": number[None]}
    np.savez(tmp_path / "f.npz", embedding=vectors, image=forms[shape])
    labels = pd.DataFrame({"image": number, "subject": who, "light": LIGHT})
    joined = fk.open_data(tmp_path / "f.npz", labels=labels.sample(frac=1, random_state=0))
    assert joined.identity.values.tolist() == who.astype(str).tolist()
    with refused("light"):
        fk.open_data(tmp_path / "f.npz", labels=labels.drop(columns="image"))


@pytest.mark.parametrize("word", ["nan", "FTA"])
def test_failed_lines_of_genuine_and_impostor_scores_are_counted(tmp_path, word):
    table = list_of_all()
    table = table[table.img1 != table.img2]
    same = (table.person1 == table.person2).to_numpy()
    for kind, rows in (("genuine", same), ("impostor", ~same)):
        lines = table.score[rows].astype(str).tolist()
        lines[-5:] = [word] * 5
        (tmp_path / f"{kind}.txt").write_text("\n".join(lines))
    files = [tmp_path / "genuine.txt", tmp_path / "impostor.txt"]
    with noticed("5 genuine and 5 impostor"):
        fk.open_data(files)
    data = fk.open_data(files, failed="rejected")
    assert data["pairs"].sizes["pair"] == len(table)


def test_a_blank_line_or_a_word_among_scores_of_a_list_is_a_failed_comparison(tmp_path):
    table = list_of_all()
    table = table[table.img1 != table.img2].reset_index(drop=True)
    lines = table.score.astype(str).tolist()
    lines[10], lines[20] = "nan", ""
    (tmp_path / "s.txt").write_text("\n".join(lines) + "\n\n")
    with noticed("genuine", "failed"):
        data = fk.open_data(table.drop(columns="score"), scores=tmp_path / "s.txt")
    frr = fk.evaluate(data, far=[0.1], weighting="pair")["empirical"].frr
    assert float(frr[0]) == pytest.approx(pooled_frr(table.drop(index=[10, 20])))
    (tmp_path / "s.txt").write_text("\n".join([*lines, "0.5"]))
    with refused(1770, "s.txt", 1771):
        fk.open_data(table.drop(columns="score"), scores=tmp_path / "s.txt")


def test_distances_of_a_list_in_a_file_of_their_own_are_a_question(tmp_path):
    table = list_of_all()
    table = table[table.img1 != table.img2].reset_index(drop=True)
    (8 - table.score).rename("distance").to_csv(tmp_path / "d.csv", index=False)
    options = dict(scores=tmp_path / "d.csv")
    with refused("score") as asked:
        fk.open_data(table.drop(columns="score"), **options)
    data = fk.open_data(table.drop(columns="score"), **options, **asked.value.answers[0])
    frr = fk.evaluate(data, far=[0.1], weighting="pair")["empirical"].frr
    assert float(frr[0]) == pytest.approx(pooled_frr(table))


@pytest.mark.parametrize("mark", [-1, 2, 0])
def test_a_whole_number_that_is_frequent_among_fractions_is_asked_about(mark):
    table = list_of_all()
    table = table[table.img1 != table.img2].reset_index(drop=True)
    table.loc[::30, "score"] = mark
    with refused(mark) as asked:
        fk.open_data(table)
    assert asked.value.answers == [{"missing": [mark]}, {"missing": []}]


def test_labels_that_contradict_the_people_of_a_list_are_refused():
    table = list_of_all()
    table = table[table.img1 != table.img2]
    people = table.groupby("img1").person1.first().rename("subject").rename_axis("image")
    people = people.reset_index()
    last = pd.DataFrame({"image": [table.img2.iloc[-1]], "subject": [table.person2.iloc[-1]]})
    people = pd.concat([people, last], ignore_index=True)
    fk.open_data(table, labels=people.assign(subject="another " + people.subject, light="dark"))
    people.loc[3, "subject"] = "p00"
    with refused("subject"):
        fk.open_data(table, labels=people)


def test_a_first_line_that_names_the_separator_for_excel_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=;\n" + list_of_all().to_csv(index=False, sep=";"))
    with refused(path.name):
        fk.open_data(path)


@pytest.mark.parametrize("words", ["pos neg", "gen imp"])
def test_short_words_of_truth_need_a_name(words):
    table = list_of_all()
    table = table[table.img1 != table.img2]
    same = table.person1 == table.person2
    bare = table[["score"]].assign(genuine=np.where(same, *words.split()))
    frr = fk.evaluate(fk.open_data(bare), far=[0.1], weighting="pair")["empirical"].frr
    assert float(frr[0]) == pytest.approx(pooled_frr(table))
    with pytest.raises(fk.InputError):
        fk.open_data(bare.rename(columns={"genuine": "mood"}))


def test_names_of_images_that_contradict_the_truth_are_a_question():
    table = list_of_all(30).rename(columns={"person1": "id_photo", "person2": "selfie"})
    order = np.arange(len(table))
    table = table.assign(mated=(order % 9 == 0).astype(int), score=order * 7 % 101 / 3)
    with refused("id_photo", "selfie"):
        fk.open_data(table[["id_photo", "selfie", "mated", "score"]])


def test_people_of_a_list_under_two_names_are_no_contradiction_of_its_labels():
    table = list_of_all()
    table = table[table.img1 != table.img2]
    table = table.assign(client_1="c" + table.person1, client_2="d" + table.person2)
    labels = pd.DataFrame({"image": pd.unique(table[["img1", "img2"]].to_numpy().ravel())})
    clients = {"client": ["client_1", "client_2"]}
    fk.open_data(table, labels=labels.assign(light="dark"), columns=clients)


# --- a walk through lists with their scores apart, decisions and half matrices ---
@pytest.mark.parametrize(
    "header", ["enrol test score", "reference probe score", "model utterance x"]
)
def test_what_was_enrolled_is_the_reference_in_trials_and_in_their_scores(tmp_path, header):
    rng = np.random.default_rng(0)
    names = [f"{who}-{k}" for who in "abcdefgh" for k in range(3)]
    trials = pd.DataFrame(
        [(e, t) for e in names for t in names if e < t], columns=["enrol", "test"]
    )
    same = trials.enrol.str[0] == trials.test.str[0]
    forth = rng.normal(size=len(trials)) + 3 * same
    kinds = np.where(same, "target", "nontarget")
    trials.assign(kind=kinds).to_csv(tmp_path / "trials", sep=" ", header=False, index=False)
    scored = trials.assign(score=forth)
    text = scored[["enrol", "test", "score"]].to_csv(sep=" ", header=False, index=False)
    (tmp_path / "scores").write_text(f"{header}\n{text}")
    data = fk.open_data(tmp_path / "trials", scores=tmp_path / "scores")
    frr = fk.evaluate(data, threshold=[1.5], weighting="pair")["empirical"].frr.item()
    assert frr == pytest.approx(np.mean(forth[same] <= 1.5))


def test_a_decision_beside_the_truth_is_asked_about_with_both_answers():
    rng = np.random.default_rng(0)
    same = np.arange(200) % 4 == 0
    score = rng.normal(size=200) + same
    table = pd.DataFrame({"score": score, "match": score > 1, "same": same})
    with refused("match", "same") as asked:
        fk.open_data(table)
    for answer, truth in zip(asked.value.answers, (score > 1, same)):
        pairs = fk.open_data(table, **answer)["pairs"]
        np.testing.assert_array_equal(pairs.genuine, truth)


def test_a_half_matrix_on_disk_is_refused(tmp_path):
    np.save(tmp_path / "half.npy", np.where(np.triu(np.ones(S.shape), 1) > 0, S, np.nan))
    (tmp_path / "half.txt").write_text("\n".join(PEOPLE))
    options = {"kind": "matrix", "same_images": True, "labels": tmp_path / "half.txt"}
    with refused("half"):
        fk.open_data(tmp_path / "half.npy", **options)


def test_rejected_comparisons_are_counted_in_a_notice():
    table = pd.DataFrame(
        {"score": [0.9, np.nan, 0.4, 0.1, np.nan, np.nan], "genuine": [1, 1, 1, 0, 0, 0]}
    )
    with noticed("1 genuine and 2 impostor", "rejected"):
        data = fk.open_data(table, failed="rejected")
    rates = fk.evaluate(data, threshold=[0.5], weighting="pair")["empirical"]
    assert rates.frr.item() == pytest.approx(2 / 3)


@pytest.mark.parametrize("options", [{"kind": "matrix"}, {"columns": {"embedding": "1"}}])
def test_one_number_a_line_is_no_matrix_and_no_embedding(tmp_path, options):
    (tmp_path / "one.txt").write_text("0.1\n0.5\n0.9\n")
    with pytest.raises(fk.InputError, match="one column|no embedding"):
        fk.open_data(tmp_path / "one.txt", **options)


@pytest.mark.parametrize(
    ("name", "ok", "states"),
    [
        ("status", "OK", ("FTA", "failed")),
        ("remark", None, ("no face", "no face")),
        ("error_code", 0, (12, 12)),
        ("excluded", "no", ("yes", "yes")),
    ],
)
def test_a_column_that_calls_comparisons_failed_which_have_a_score_is_asked_about(name, ok, states):
    table = pd.DataFrame(
        {"score": [0.9, 0.0, 0.4, 0.1, 0.2, 0.3], "genuine": [1, 1, 1, 0, 0, 0]}
    ).assign(**{name: [ok, states[0], ok, ok, states[1], ok]})
    with refused(name):
        fk.open_data(table)
    fk.open_data(table, columns={name: name})
    fk.open_data(table.assign(**{name: ok}))
    failed = table[name].isin(states)
    table["score"] = table.score.mask(failed)
    with noticed("1 genuine and 1 impostor"):
        data = fk.open_data(table, columns={name: None})
    rates = fk.evaluate(data, threshold=[0.35], weighting="pair")["empirical"]
    assert rates.frr.item() == 0


# --- what a stranger found in a sixth walk -------------------------------------------------------


def scored_pairs(n_people=40, n_images=4, seed=0):
    """Pairs of images with names of people and cosines, of two decimals."""
    vectors, who = spread_faces(n_people, n_images, seed)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = np.triu_indices(len(who), 1)
    score = (unit[first] * unit[second]).sum(1)
    people = {"id1": who[first], "id2": who[second]}
    pairs = pd.DataFrame(people | {"score": score.round(4)})
    kept = (pairs.id1 == pairs.id2) | (np.random.default_rng(seed).random(len(pairs)) < 0.2)
    return pairs[kept].reset_index(drop=True)


CODES = [-2, -1], [-8, -7, -6, -5, -4, -3, -2, -1], [-110, -103, -101], [900, 901, 904]


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("are_whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_several_codes_of_failure_are_proposed_together(codes, are_whole):
    pairs = scored_pairs()
    if are_whole:
        pairs["score"] = (50 + 50 * pairs.score).round()
    failed = np.arange(len(pairs)) % 20 == 3
    pairs.loc[failed, "score"] = np.resize(codes, failed.sum())
    with refused(*codes, "failed") as asked:
        fk.open_data(pairs)
    assert asked.value.answers[0] == {"missing": codes}
    with noticed("failed"):
        data = fk.open_data(pairs, missing=codes)
    np.testing.assert_array_equal(np.isnan(data["pairs"].score), failed)


@pytest.mark.parametrize("word", ["UNK", "n/a", "?", "-", "unlabeled", "Distractor", "NA", "anon"])
def test_strangers_under_one_word_are_no_person(tmp_path, word):
    vectors, who = spread_faces()
    people = np.where(who < 6, word, who.astype(str))
    with refused(word, 24):
        fk.faces(vectors, people)
    pairs = scored_pairs().astype({"id1": str})
    pairs.loc[:5, "id1"] = word
    with refused(word, 6):
        fk.open_data(written(tmp_path, pairs))


@pytest.mark.parametrize("are_pairs", [False, True])
@pytest.mark.parametrize("n_strangers", [1, 6])
def test_strangers_under_the_name_of_one_person_are_noticed(are_pairs, n_strangers):
    people = np.repeat(np.arange(20), 5)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 16))[people] + 0.6 * rng.normal(size=(100, 16))
    names = np.where(people < n_strangers, "lost", people.astype(str))
    first, second = np.triu_indices(100, 1)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = (unit[first] * unit[second]).sum(1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if are_pairs:
            fk.pairs(scores, probe_identity=names[first], reference_identity=names[second])
        else:
            fk.faces(vectors, names)
    assert any("lost" in str(notice.message) for notice in caught) == (n_strangers > 1)


@pytest.mark.parametrize(
    ("name", "attack", "other"),
    [
        ("attack", "print", "none"),
        ("pai_species", "replay", ""),
        ("presentation", "mask", "bona fide"),
        ("is_spoof", 1, 0),
        ("isLive", 0, 1),
        ("liveness", "no", "yes"),
    ],
)
def test_a_column_of_presentation_attacks_is_asked_about(name, attack, other):
    pairs = scored_pairs()
    is_attack = np.arange(len(pairs)) % 7 == 3
    with refused("attacks", name):
        fk.open_data(pairs.assign(**{name: np.where(is_attack, attack, other)}))
    fk.open_data(pairs.assign(**{name: np.where(is_attack, attack, other)}), columns={name: None})
    fk.open_data(pairs.assign(**{name: other}))


@pytest.mark.parametrize("n_labels", [4, 7])
def test_labels_of_a_few_groups_are_no_people_without_a_question(n_labels):
    people = np.repeat(np.arange(42), 5)
    rng = np.random.default_rng(0)
    group = people % n_labels
    vectors = 2 * rng.normal(size=(7, 16))[group] + rng.normal(size=(210, 16))
    table = pd.DataFrame(vectors).add_prefix("f").assign(label=group)
    for labels in (group, people):
        with refused("label", "classes") as asked:
            fk.open_data(table.assign(label=labels))
        assert asked.value.answers[0] == {"columns": {"identity": "label"}}
    data = fk.open_data(table.assign(label=people), **asked.value.answers[0])
    assert data.identity.values.tolist() == people.astype(str).tolist()


@pytest.mark.parametrize("begin_anew", [False, True])
def test_names_of_files_that_several_folders_have_are_noticed(begin_anew):
    vectors, who = spread_faces()
    site, number = np.divmod(who, 10) if begin_anew else (who % 3, who)
    names = [f"site{a}/{b}_{k % 4}.jpg" for k, (a, b) in enumerate(zip(site, number))]
    table = pd.DataFrame({"image": names, "embedding": list(vectors)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fk.open_data(table, identity="{site}/{name}_{number}.jpg")
    assert any("folders" in str(notice.message) for notice in caught) == begin_anew


@pytest.mark.parametrize("decimals", [2, 4])
def test_a_code_within_the_scores_is_asked_about_by_its_frequency(decimals):
    pairs = scored_pairs()
    pairs["score"] = pairs.score.round(decimals)
    fk.open_data(pairs)
    pairs.loc[np.arange(len(pairs)) % 20 == 3, "score"] = 0.5
    with refused(0.5, "failed") as asked:
        fk.open_data(pairs)
    assert asked.value.answers[0] == {"missing": [0.5]}


@pytest.mark.parametrize("form", ["table", "matrix"])
def test_distances_of_people_in_two_sessions_are_asked_about(tmp_path, form):
    """Row i and column i are two images of one person: the diagonal has all genuine distances."""
    _, first = np.unique(WHO, return_index=True)
    scores, people = S[np.ix_(first, first + 1)], PEOPLE[first]
    distances = pd.DataFrame(1 - scores, people, people)
    distances.to_csv(tmp_path / "sessions.csv")
    with pytest.raises(fk.InputError) as question:
        source = tmp_path / "sessions.csv" if form == "table" else distances
        fk.open_data(source, same_images=False)
    answer = {"columns": {"distance": "all cells"}}
    assert question.value.answers[0] == answer
    data = fk.open_data(tmp_path / "sessions.csv", same_images=False, **answer)
    assert frr_of(data) == rates(scores.ravel(), np.eye(N_PEOPLE, dtype=bool).ravel())


# --- what a stranger found in a seventh walk: matrices and embeddings ----------------------------


def spread_scores():
    """Cosines of all images, the people in them, and names of the images."""
    vectors, who = spread_faces()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [f"p{person:02d}_{k % 4}.jpg" for k, person in enumerate(who)]
    return unit @ unit.T, who, names


@pytest.mark.parametrize("column", ["score_{}", "dist_{}", "prob_{}", "gallery_{}", "S{:03}"])
def test_numbered_columns_of_scores_or_people_are_no_embedding(column):
    scores, who, _ = spread_scores()
    columns = [column.format(k) for k in range(30)]
    table = pd.DataFrame(scores[:, ::4], columns=columns).assign(person=who)
    with refused("scores", "embedding") as asked:
        fk.open_data(table)
    assert {"kind": "matrix"} in asked.value.answers


@pytest.mark.parametrize("shape", [(-1, 1), (1, -1)])
def test_labels_with_an_axis_of_length_one_are_labels(tmp_path, shape):
    vectors, who = spread_faces()
    np.save(tmp_path / "f.npy", vectors)
    np.save(tmp_path / "y.npy", who.reshape(shape))
    with refused("label", "classes") as asked:
        fk.open_data(tmp_path / "f.npy", labels=tmp_path / "y.npy")
    answer = asked.value.answers[0]
    data = fk.open_data(tmp_path / "f.npy", labels=tmp_path / "y.npy", **answer)
    np.testing.assert_array_equal(data.identity, who.astype(str))
    np.save(tmp_path / "y.npy", np.eye(30, dtype=int)[who])
    with refused("y.npy"):
        fk.open_data(tmp_path / "f.npy", labels=tmp_path / "y.npy")


def test_a_name_that_occurs_twice_makes_no_people_of_images(tmp_path):
    scores, _, names = spread_scores()
    names[7] = names[6]
    with refused(names[6]):
        fk.open_data(pd.DataFrame(scores, names, names), identity="{name}_{number}.jpg")
    vectors, _ = spread_faces()
    with refused("name", "whom"):
        fk.open_data(pd.DataFrame(vectors).add_prefix("f").assign(name=names))
    np.save(tmp_path / "f.npy", vectors)
    (tmp_path / "names.txt").write_text("\n".join(names))
    with refused("image"):
        fk.open_data(tmp_path / "f.npy", labels=tmp_path / "names.txt", identity="{name}_{n}.jpg")
    options = {"labels": tmp_path / "names.txt"}
    with refused("image", answers=[{"columns": {"image": None}}]) as asked:
        fk.open_data(tmp_path / "f.npy", **options)
    with refused("whom"):
        fk.open_data(tmp_path / "f.npy", **options, **asked.value.answers[0])


@pytest.mark.parametrize("name", ["image", None])
def test_a_square_whose_rows_alone_have_names_is_a_matrix_if_the_user_says_so(tmp_path, name):
    scores, _, names = (part[:40] for part in spread_scores())
    frame = pd.DataFrame(scores[:, :40], index=pd.Index(names, name=name))
    frame.to_csv(tmp_path / "square.csv")
    for source in (frame, tmp_path / "square.csv"):
        with refused("scores") as asked:
            fk.open_data(source)
        assert {"kind": "matrix"} in asked.value.answers
        data = fk.open_data(source, kind="matrix", identity="{name}_{number}.jpg")
        assert data.attrs["symmetric"] and data.probe.values.tolist() == names


def test_rows_of_one_image_are_asked_about():
    vectors, who = spread_faces()
    noise = np.random.default_rng(0).normal(size=vectors.shape)
    table = pd.concat(
        [pd.DataFrame(rows).add_prefix("f") for rows in (vectors, vectors + 0.1 * noise)],
        ignore_index=True,
    ).assign(image=[*spread_scores()[2]] * 2, person=[*who] * 2)
    with refused("image", "flips") as asked:
        fk.open_data(table)
    assert asked.value.answers == [{"columns": {"image": None}}]
    assert fk.open_data(table.drop_duplicates("image")).sizes["image"] == 120
    with refused("model") as asked:
        fk.open_data(table.assign(model=np.repeat(["a", "b"], 120)))
    assert asked.value.answers[0] == {"columns": {"model": "model"}}
    begun_anew = table[:120].assign(image=[f"{k % 4}.jpg" for k in range(120)])
    with refused(answers=[{"columns": {"image": None}}]) as asked:
        fk.open_data(begun_anew)
    assert fk.open_data(begun_anew, **asked.value.answers[0]).sizes["image"] == 120


@pytest.mark.parametrize("name", ["set", "role", "subset"])
def test_a_gallery_and_probes_in_one_table_are_asked_about(name):
    vectors, who = spread_faces()
    table = pd.DataFrame(vectors).add_prefix("f").assign(person=who)
    table[name] = np.where(np.arange(120) % 4 == 0, "gallery", "probe")
    with refused(name):
        fk.open_data(table)


@pytest.mark.parametrize("place", [0, 7])
@pytest.mark.parametrize("number", ["row", "camera", "person"])
def test_whole_numbers_among_features_are_refused(tmp_path, number, place):
    vectors, who = spread_faces()
    numbers = {"row": np.arange(120), "camera": np.arange(120) % 3, "person": who + 5}[number]
    mixed = np.insert(vectors, place, numbers, axis=1)
    with refused(place) as refusal:
        fk.faces(mixed, who)
    line = re.search(r"np\.delete\(.*?\)", str(refusal.value))[0]
    np.testing.assert_array_equal(eval(line, {"np": np, "embedding": mixed}), vectors)
    np.save(tmp_path / "f.npy", mixed)
    with refused(place, "delete"):
        fk.open_data(tmp_path / "f.npy", labels=pd.DataFrame({"person": who}))
    fk.faces(np.insert(vectors, place, 0, axis=1), who)
    fk.faces(np.insert(vectors, place, numbers + 0.5, axis=1), who)


def test_codes_of_zeros_and_ones_are_not_compared_by_cosine():
    codes = np.random.default_rng(0).integers(0, 2, (40, 64)).astype(np.uint8)
    with refused("hamming"):
        fk.faces(codes, np.arange(40) // 4)


def test_people_called_by_fractions_stay_apart(tmp_path):
    vectors, who = spread_faces()
    names = np.char.add("1.", who.astype(str))
    features = pd.DataFrame(np.hstack([vectors, vectors])).add_prefix("f")
    path = written(tmp_path, features.assign(person=names))
    assert len(np.unique(fk.open_data(path).identity)) == 30


def test_a_model_may_be_called_none():
    vectors, who = spread_faces()
    faces = fk.faces(np.stack([vectors, vectors + 1]), who, model=["none", "other"])
    assert faces.model.values.tolist() == ["none", "other"]
