"""Files and calls that once gave a wrong number in silence: the right one, or one clear error."""

import warnings
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
import xarray as xr

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
LABELLED = xr.DataArray(PEOPLE[ORDER], coords={"image": IMAGES[ORDER]}, dims="image")
SQUARE = pd.DataFrame(S, IMAGES, IMAGES)
TWICE = dict(probe=IMAGES, reference=IMAGES)
JOINED = {
    "a Series by names": lambda: fk.faces(X, BY_IMAGE, image=IMAGES),
    "a Series by names, beside a frame": lambda: fk.faces(pd.DataFrame(X), BY_IMAGE, image=IMAGES),
    "an array of xarray by names": lambda: fk.faces(X, LABELLED, image=[*IMAGES]),
    "a frame by names": lambda: fk.faces(pd.DataFrame(X, IMAGES).iloc[ORDER], PEOPLE, image=IMAGES),
    "both sides of a matrix": lambda: fk.score_matrix(S, BY_IMAGE, BY_IMAGE, **TWICE),
    "rows of a frame": lambda: fk.score_matrix(SQUARE.iloc[ORDER], PEOPLE, PEOPLE, **TWICE),
    "columns of a frame": lambda: fk.score_matrix(SQUARE.iloc[:, ORDER], PEOPLE, PEOPLE, **TWICE),
    "rows in order": lambda: fk.faces(X, pd.Series(PEOPLE)),
    "numbers as names": lambda: fk.faces(X, fk.faces(X, PEOPLE).identity),
    "numbers as names, in another order": lambda: fk.faces(
        pd.DataFrame(X, np.arange(len(WHO))).iloc[ORDER], PEOPLE, image=np.arange(len(WHO))
    ),
}


@pytest.mark.parametrize("case", JOINED)
def test_one_labelled_object_among_arrays_is_joined_by_names(case):
    np.testing.assert_allclose(frr_of(JOINED[case]()), ALL_PAIRS)


def test_attributes_are_joined_by_names():
    group = pd.Series(np.where(WHO % 3 == 0, "A", "B"), IMAGES)
    faces = fk.faces(X, PEOPLE, image=IMAGES, group=group.iloc[ORDER])
    np.testing.assert_array_equal(faces.group, group)


UNORDERED = {
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
    with pytest.raises(fk.InputError, match=r"give \w+\.to_numpy\(\) if its rows are in the order"):
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


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("case", CHANGED)
def test_rates_that_were_changed_have_no_interval(case, question):
    evaluation = evaluated()
    ASKED[question](evaluation)
    CHANGED[case](evaluation)
    with pytest.raises(fk.InputError, match="its values or its order were changed"):
        ASKED[question](evaluation)


def test_an_edited_file_of_an_evaluation_has_no_interval(tmp_path):
    path = tmp_path / "evaluation.nc"
    evaluation = evaluated()
    edited(evaluation, "frr")
    evaluation.to_netcdf(path, engine="h5netcdf")
    stored = fk.open_evaluation(path)
    with pytest.raises(fk.InputError, match="its values or its order were changed"):
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


def test_percent_signs_in_some_cells_are_refused(tmp_path):
    percent = [f"{100 * score:.4f}%" for score in SCORE]
    np.testing.assert_allclose(frr_of_text(tmp_path, LIST.assign(score=percent)), OF_LIST)
    some = [text if k % 2 else f"{SCORE[k]:f}" for k, text in enumerate(percent)]
    with pytest.raises(fk.InputError, match="line 3, .*is a percentage, but .* in line 2 has"):
        frr_of_text(tmp_path, LIST.assign(score=some))
    some = ["0" if k == 0 else text for k, text in enumerate(percent)]  # the same in both
    frr_of_text(tmp_path, LIST.assign(score=some))


@pytest.mark.parametrize("character", ["\u200b", "\ufeff", "\u2060", " \u200b ", "\u00a0"])
def test_characters_without_width_are_no_part_of_a_name(tmp_path, character):
    table = OF_PEOPLE.copy()
    table.loc[::7, "subject_2"] += character
    table.loc[::5, "subject_1"] = character + table.subject_1[::5]
    assert frr_of_text(tmp_path, table) == OF_LIST
    assert frr_of(fk.pairs(table)) == OF_LIST
    sides = dict(probe_identity=table.subject_1, reference_identity=table.subject_2)
    assert frr_of(fk.pairs(SCORE, **sides)) == OF_LIST


def test_two_forms_of_unicode_are_one_name(tmp_path):
    names = [f"Zoé{k}" for k in WHO]
    one, other = ([normalize(form, name) for name in names] for form in ("NFC", "NFD"))
    table = pd.DataFrame({"subject_1": np.array(one)[A], "subject_2": np.array(other)[B]})
    table["score"] = SCORE
    assert frr_of_text(tmp_path, table) == OF_LIST
    assert frr_of(fk.pairs(table)) == OF_LIST


LINES = LIST.to_csv(index=False).splitlines()
WITH_COMMENTS = {
    "lines of data": lambda lines: [f"#{line}" if k in (3, 200) else line for k, line in lines],
    "a remark": lambda lines: [
        text for k, line in lines for text in ["# more"] * (k == 150) + [line]
    ],
}


@pytest.mark.parametrize("case", WITH_COMMENTS)
@pytest.mark.parametrize("turned", [False, True], ids=["names first", "scores first"])
def test_lines_of_comment_are_counted_and_skipped(tmp_path, case, turned):
    lines = [",".join(line.split(",")[::-1]) for line in LINES] if turned else LINES
    lines = WITH_COMMENTS[case](list(enumerate(lines)))
    n_comments = sum(line.startswith("#") for line in lines)
    is_data = [k - 1 for k, line in enumerate(lines) if k and not line.startswith("#")]
    expected = OF_LIST
    if case == "lines of data":
        expected = rates(SCORE[is_data], GENUINE[is_data])
    with pytest.warns(fk.DataWarning, match=rf"^{n_comments} line\(s\) that begin with '#'"):
        assert frr_of_text(tmp_path, lines) == expected


def test_comments_in_a_list_of_lfw_name_nobody(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("ann 1 2\n#cat 1 2\nbob 1 ann 1\nbob 1 2\n")
    with pytest.warns(fk.DataWarning, match=r"^1 line\(s\) that begin with '#'"):
        pairs = fk.open_data(path, scores=[3.0, 1.0, 2.0])
    assert np.unique(pairs["images"].identity).tolist() == ["ann", "bob"]


def test_texts_of_pandas_in_an_array_of_xarray_are_labels():
    names = pd.Series(PEOPLE).array
    for order in (slice(None), ORDER):
        labels = xr.DataArray(names[order], coords={"image": IMAGES[order]}, dims="image")
        faces = fk.faces(X, labels, image=IMAGES, group=labels)
        np.testing.assert_array_equal(faces.identity, PEOPLE)
        np.testing.assert_array_equal(faces.group, PEOPLE)


# --- the same pair again --------------------------------------------------------------------------

AGAIN = slice(0, 60)
TWO_WAYS = {
    "twice": (np.r_[A, A[AGAIN]], np.r_[B, B[AGAIN]], "60 pairs occur twice"),
    "in both directions": (np.r_[A, B[AGAIN]], np.r_[B, A[AGAIN]], "60 pairs occur in both"),
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
    with pytest.warns(fk.DataWarning, match="1 pairs occur twice"):
        pairs = fk.pairs([0.1, 0.2, 0.3, 0.1], [True, False, True, True], **names)
    np.testing.assert_array_equal(pairs["pairs"].score, [0.1, 0.2, 0.3])


def test_lines_without_names_of_images_that_are_equal_are_counted(tmp_path):
    table = pd.concat([OF_PEOPLE, OF_PEOPLE.iloc[AGAIN]], ignore_index=True)
    expected = rates(table.score, (table.subject_1 == table.subject_2).to_numpy())
    sides = dict(probe_identity=table.subject_1, reference_identity=table.subject_2)
    for opened in (
        lambda: frr_of_text(tmp_path, table),
        lambda: frr_of(fk.pairs(table)),
        lambda: frr_of(fk.pairs(table.score, **sides)),
    ):
        with pytest.warns(fk.DataWarning, match="^60 lines are equal to another one"):
            assert opened() == expected


def test_lines_with_few_scores_are_equal_by_chance():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fk.pairs(OF_PEOPLE.assign(score=OF_PEOPLE.score.round(1)))
    assert not any("are equal to another one" in str(warning.message) for warning in caught)


# --- questions ------------------------------------------------------------------------------------

MODEL_COLUMNS = "network Net backbone matcher_name algo algorithm system_id method encoder model"


@pytest.mark.parametrize("name", MODEL_COLUMNS.split())
def test_a_column_of_models_is_asked_about(tmp_path, name):
    two = [
        pd.DataFrame({name: model, "same": LIST.same, "score": score})
        for model, score in (("A", SCORE), ("B", SCORE[::-1]))
    ]
    with pytest.raises(fk.InputError, match="may say which model scored the pair") as caught:
        frr_of_text(tmp_path, pd.concat(two))
    expected = [OF_LIST, rates(SCORE[::-1], GENUINE)]
    np.testing.assert_allclose(
        frr_of_text(tmp_path, pd.concat(two), **caught.value.answers[0]), expected
    )


@pytest.mark.parametrize("n_marked", [1, 2, 3])
def test_minus_one_far_below_all_cosines_is_asked_about(n_marked):
    score = SCORE.copy()
    marked = np.flatnonzero(GENUINE)[:n_marked]
    score[marked] = -1
    with pytest.raises(fk.InputError, match="the score -1 is apart from the others") as caught:
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
    with pytest.raises(fk.InputError, match="first column has such numbers, too") as caught:
        fk.open_data(path)
    assert caught.value.answers == [{"format": "matrix"}, {"format": "faces"}]
    np.testing.assert_allclose(frr_of(fk.open_data(path, format="faces")), ALL_PAIRS)


@pytest.mark.parametrize("identity", ["0", "7", "16"])
def test_a_numbered_column_can_be_the_identity(tmp_path, identity):
    path = tmp_path / "numbers.csv"
    np.savetxt(path, np.insert(X, int(identity), WHO, axis=1), delimiter=",")
    table = pd.read_csv(path, header=None)
    table.to_csv(path)
    np.testing.assert_allclose(frr_of(fk.open_data(path, identity=identity)), ALL_PAIRS)
    named = {"identity": identity}
    np.testing.assert_allclose(frr_of(fk.open_data(path, columns=named)), ALL_PAIRS)
    np.testing.assert_allclose(frr_of(fk.faces(table, columns=named)), ALL_PAIRS)


@pytest.mark.parametrize("sides", ["some are missing", "in another order"])
def test_a_symmetric_matrix_of_overlapping_images_counts_pairs_once(tmp_path, sides):
    rows, columns = np.arange(len(WHO)), ORDER
    if sides == "some are missing":
        rows, columns = np.delete(rows, [3, 40]), np.delete(rows, [7, 20, 50])
    path = tmp_path / "matrix.csv"
    SQUARE.iloc[rows, columns].to_csv(path)
    is_row, is_column = (np.isin(np.arange(len(WHO)), side) for side in (rows, columns))
    there = is_row[FIRST] & is_column[SECOND] | is_row[SECOND] & is_column[FIRST]
    with pytest.warns(fk.DataWarning, match="each pair counts once"):
        scores = fk.open_data(path, identity="{name}_{number}.png")
    expected = rates(S[FIRST, SECOND][there], SAME[there])
    np.testing.assert_allclose(frr_of(scores), expected)
    assert np.isfinite(scores.values[np.triu_indices(len(WHO), 1)]).sum() == there.sum()


def test_labels_of_kept_images_are_one_for_each_image():
    kept = fk.sweep(fk.score_tensor(fk.faces(X, PEOPLE)))
    labels = np.where(WHO % 2, "A", "B")
    kept["images"]["group"] = ("image", labels)
    with pytest.raises(fk.InputError, match=r"'group' of the kept images .* xr\.DataArray"):
        fk.evaluate(kept, far=[0.1])
    del kept["images"]["group"]
    kept["images"]["group"] = xr.DataArray(labels, dims="image")
    fk.evaluate(kept, far=[0.1], by="group")
