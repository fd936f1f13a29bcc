"""Files as people have them: in at the first try with right rates, or stopped with a question."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from door_files import (
    COSINES,
    FAR,
    FORMS,
    LABELS,
    NUMBERS,
    ODD,
    OF_FACES,
    OF_PAIRS,
    PAIRS,
    SAME,
    SUBJECT,
    VECTORS,
    WIDE,
    WORDS,
    opened,
    renamed,
)
from named import named
from refusals import noticed, refused

import frkit as fk
from frkit.__main__ import main


def frr_of(data):
    """FRR of data of any kind, pooled over pairs, of each model."""
    is_faces = "embedding" in getattr(data, "data_vars", {})
    scores = fk.score_tensor(data) if is_faces else data
    evaluation = fk.evaluate(scores, far=[FAR], weighting="pair")
    return np.ravel(evaluation["empirical"].frr.values)


def written(folder, table, name="t.csv"):
    path = folder / name
    table.to_csv(path, index=False)
    return path


BESIDE = {
    "kaldi_trials": {"scores": "scores"},
    "arc.npy": {"labels": "arc.csv"},
    "sim.npy": {"labels": "sim.txt"},
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_file_goes_in_at_the_first_try(tmp_path, name):
    write, expected = FORMS[name]
    path = write(tmp_path / name)
    options = {option: tmp_path / other for option, other in BESIDE.get(name, {}).items()}
    data = opened(tmp_path / name, **options)
    np.testing.assert_allclose(frr_of(data), path if expected is None else expected, atol=1e-12)
    assert data.attrs["columns"]


@pytest.mark.parametrize("name", ["commented.tsv", "iris.tsv"])
def test_names_of_images_say_who_is_in_them(tmp_path, name):
    FORMS[name][0](tmp_path / name)
    people = named(opened(tmp_path / name)).probe_identity.to_series()
    assert people.nunique() == people.str[:4].nunique() == PAIRS.subject1.nunique()


@pytest.mark.slow
def test_columns_of_lists(tmp_path):
    lists = LABELS.assign(embedding=list(VECTORS))
    lists.to_parquet(tmp_path / "f.parquet")
    np.testing.assert_allclose(frr_of(fk.open_data(tmp_path / "f.parquet")), OF_FACES)
    lists.to_feather(tmp_path / "f.feather")
    with refused("f.feather", "pd.read_feather"):
        fk.open_data(tmp_path / "f.feather")
    models = {"arc": list(VECTORS), "face": list(VECTORS[:, ::-1])}
    LABELS.assign(**models).to_parquet(tmp_path / "two.parquet")
    with refused("arc", "face"):
        fk.open_data(tmp_path / "two.parquet")
    both = fk.open_data(tmp_path / "two.parquet", columns={"embedding": ["arc", "face"]})
    assert both.model.values.tolist() == ["arc", "face"]
    np.testing.assert_allclose(frr_of(both), OF_FACES)


def test_an_attribute_that_is_not_there_is_asked_for_in_the_words_of_the_place(tmp_path, capsys):
    path = str(written(tmp_path, ODD))
    assert main(["report", path, "--by", "etn", "-o", str(tmp_path / "out"), "--quick"]) == 2
    message = capsys.readouterr().err
    assert "the option labels" in message
    assert "identity" not in message.split("there is")[1]
    with refused("gender", "ethn", "labels"):
        fk.evaluate(fk.open_data(path), far=[FAR], by="gender")


def test_a_label_of_look_has_its_unit(tmp_path):
    pairs = fk.look(written(tmp_path, ODD))
    assert "ethn (people): " in pairs
    assert "ethn (images): " in fk.look(written(tmp_path, WIDE))


@pytest.mark.slow
def test_numbered_columns_of_two_models(tmp_path):
    tables = [pd.DataFrame(VECTORS).add_prefix(name) for name in ("arc_", "face_")]
    path = written(tmp_path, pd.concat([LABELS.subject, *tables], axis=1))
    with refused("arc", "face"):
        fk.open_data(path)
    both = fk.open_data(path, columns={"embedding": ["arc", "face"]})
    assert both.model.values.tolist() == ["arc", "face"]
    np.testing.assert_allclose(frr_of(both), [OF_FACES, OF_FACES])
    with noticed("face"):
        np.testing.assert_allclose(
            frr_of(fk.open_data(path, columns={"embedding": "arc"})), OF_FACES
        )
    names = [f"arc_{k}" for k in range(VECTORS.shape[1])]
    with noticed("arc", "face"), refused("arc_0"):
        fk.open_data(path, columns={"embedding": names})


def test_numbered_rows_and_columns_beside_labels_are_embeddings(tmp_path):
    pd.DataFrame(VECTORS).to_csv(tmp_path / "t.csv")
    labels = written(tmp_path, LABELS, "labels.csv")
    data = fk.open_data(tmp_path / "t.csv", labels=labels)
    np.testing.assert_allclose(frr_of(data), OF_FACES)


def test_what_was_read_as_what_can_be_given_back(tmp_path):
    FORMS["odd_names.csv"][0](tmp_path / "t.csv")
    data = fk.open_data(tmp_path / "t.csv")
    roles = json.loads(data.attrs["roles"])
    assert roles["distance"] == ["L2 dist (arc)"] and roles["ethn"] == ["ethn_1", "ethn_2"]
    again = fk.open_data(tmp_path / "t.csv", columns=roles)
    np.testing.assert_allclose(frr_of(again), OF_PAIRS)


def test_the_command_line_says_the_same_words(tmp_path, capsys):
    FORMS["odd_names.csv"][0](tmp_path / "t.csv")
    columns = {"genuine": "mated?", "distance": "L2 dist (arc)", "probe_identity": "PersonID_1"}
    columns |= {"reference_identity": "PersonID_2"}
    arguments = [f"{role}={column}" for role, column in columns.items()]
    assert main(["look", str(tmp_path / "t.csv"), "--columns", *arguments]) == 0
    text = capsys.readouterr().out
    assert f"{len(PAIRS):,} pairs: {SAME.sum():,} genuine" in text
    assert "distance: 'L2 dist (arc)'" in text and "frkit report" in text
    odd = pd.DataFrame({"x": PAIRS.cosine, "y": SAME.astype(int)})
    assert main(["look", str(written(tmp_path, odd, "odd.csv"))]) == 2
    assert "--columns score=x" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.race. is blank in 11 images")
def test_attributes_under_other_names(tmp_path):
    table = renamed(x="subject1", y="subject2", r1="ethn1", r2="ethn2", s="cosine")
    columns = {"probe_identity": "x", "reference_identity": "y", "score": "s", "race": ("r1", "r2")}
    data = fk.open_data(written(tmp_path, table), columns=columns)
    evaluation = fk.evaluate(data, far=[FAR], by="race")
    assert evaluation["empirical"].group.values.tolist() == ["A", "B", "C"]
    without = fk.open_data(
        tmp_path / "t.csv", columns=columns | {"race": None, "r1": None, "r2": None}
    )
    assert "race" not in without["images"]
    with refused("z", "x", "y"):
        fk.open_data(tmp_path / "t.csv", columns={"score": "z"})
    with refused("x", "ethn", "age"):
        fk.open_data(WIDE, columns={"x": ["ethn", "age"]})


# --- questions -----------------------------------------------------------------------------------

MODELS_OR_NOT = [{"columns": {"model": "model"}}, {"columns": {"model": None}}]
SCORES_OR_DISTANCES = [{"columns": {"distance": "all cells"}}, {"columns": {"score": "all cells"}}]
RNG = np.random.default_rng(0)
NOISE = RNG.random(len(PAIRS)).round(4)
IDS = renamed(id1="subject1", id2="subject2")
FILES = renamed(img1="image1", img2="image2")
ACCEPTED = (PAIRS.cosine > 0.3).astype(int)
FEATURES = pd.DataFrame(VECTORS).add_prefix("f")
CLASSES = np.arange(len(LABELS)) * 7919 % 4
FIVE = FILES.assign(label=NUMBERS, score=PAIRS.cosine)
TRAPS = {
    "truth turned": (FILES.assign(label=1 - NUMBERS, score=PAIRS.cosine), "'impostor': 'label'"),
    "a distance called score": (FILES.assign(label=NUMBERS, score=PAIRS.distance), "'distance'"),
    "a distance called cosine": (IDS.assign(cosine=1 - PAIRS.cosine), "'distance': .'cosine'"),
    "decision": (pd.DataFrame({"decision": ACCEPTED, "score": PAIRS.cosine}), "such as genuine"),
    "own decision": (pd.DataFrame({"match": ACCEPTED, "score": PAIRS.cosine}), "own decision"),
    "values of both sides": (IDS.assign(score_1=NOISE, score_2=NOISE, sim=PAIRS.cosine),
                             "'score_1', 'score_2'"),
    "one bad score": (IDS[:3].assign(score=["0.9", "oops", "0.8"]), "line 3, .*'oops' is no"),
    "an angle": (IDS.assign(angle=PAIRS.distance), "'distance': .'angle'"),
    "quality of both": (IDS.assign(quality_1=NOISE, quality_2=NOISE), "'quality_2' could be sco"),
    "quality": (IDS.assign(quality=NOISE), "'quality' could be scores"),
    "some number": (IDS.assign(sharp=NOISE), "'sharp' could be scores"),
    "two numbers": (IDS.assign(foo=PAIRS.cosine, bar=NOISE), "'foo', 'bar' could be scores"),
    "same gender": (IDS.rename(columns={"id1": "x1", "id2": "x2"}).assign(
        same_gender=ACCEPTED, score=NOISE), "which two name the images of a pair"),
    "two truths": (FIVE.assign(genuine=ACCEPTED), "'label', 'genuine' could all say"),
    "two scores": (pd.concat([FIVE, FIVE[:3].assign(score=0.5)]), "has two scores .lines 2 and"),
    "two kinds": (pd.concat([FIVE, FIVE[:3].assign(label=1 - FIVE.label[:3])]), "is called genuin"),
    "some truth": (pd.DataFrame({"score": PAIRS.cosine, "genuine": ["maybe", *NUMBERS[1:]]}),
                   "line 2, .*'maybe' does not say whether"),
    "flags": (FEATURES.assign(label=CLASSES % 2), "no column says whom"),
    "two classes": (FEATURES.assign(label=np.where(CLASSES % 2, "m", "f")), "or name classes"),
    "four classes": (FEATURES.assign(label=np.array(list("ABCD"))[CLASSES]), "or name classes"),
    "row numbers": (FEATURES.assign(id=range(len(LABELS))), "no column says whom"),
    "a stacked matrix": (renamed(level_0="image1", level_1="image2", **{"0": "cosine"}),
                         "columns: 'level_0', 'level_1', '0'"),
    "row numbers first": (pd.DataFrame(VECTORS).rename_axis("id").reset_index(),
                          "no column says whom"),
    "two guesses that cancel": (FILES.assign(different=NUMBERS, distance=PAIRS.cosine),
                                "'genuine': 'different'"),
    "two distances": (FIVE.assign(arc=PAIRS.distance, vgg=PAIRS.distance).drop(columns="score"),
                      "'distance': .'arc', 'vgg'."),
    "unknown people": (WIDE.assign(subject=np.where(SUBJECT < "S005", "unknown", SUBJECT)),
                       "'unknown' in "),
    "minus one": (WIDE.assign(subject=np.where(SUBJECT < "S005", "-1", SUBJECT)), "'-1' in "),
    "landmarks": (LABELS[["subject"]].join(pd.DataFrame(VECTORS).add_prefix("landmark_")),
                  "not clearly a table"),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.filterwarnings("ignore:1 in 'label' is read as genuine")
def test_a_wrong_guess_is_a_question_whose_answers_open_or_ask_something_else(tmp_path, name):
    table, question = TRAPS[name]
    path = written(tmp_path, table)
    with pytest.raises(fk.InputError, match=question) as asked:
        fk.open_data(path)
    for call in getattr(asked.value, "calls", []):
        if "'...'" in call:
            continue
        try:
            with warnings.catch_warnings(action="ignore", category=fk.DataWarning):
                eval(call, {"fk": fk})
        except fk.InputError as error:
            assert str(error) != str(asked.value)


NOTICED = {
    "both turned": (
        pd.DataFrame({"label": 1 - NUMBERS, "score": PAIRS.distance}),
        "may be impostor and distance",
    ),
    "stands twice": (pd.concat([FIVE, FIVE[:3]]), "3 pairs occur twice with the same score"),
}


@pytest.mark.parametrize("name", NOTICED)
def test_what_nothing_in_the_file_can_show_is_said(tmp_path, name):
    table, notice = NOTICED[name]
    with pytest.warns(fk.DataWarning, match=notice):
        fk.open_data(written(tmp_path, table))
    if name == "both turned":
        table[["score", "label"]].to_csv(tmp_path / "t.txt", sep=" ", header=False, index=False)
        with pytest.warns(fk.DataWarning, match=notice):
            fk.open_data(tmp_path / "t.txt")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_report_stops_where_scores_are_in_another_order_than_their_labels(seed):
    """Their EER is near one half, above it or below."""
    score = -PAIRS.distance
    mixed = score.sample(frac=1, random_state=seed).to_numpy()
    table = pd.DataFrame({"mixed": mixed, "right": score, "genuine": NUMBERS})
    opening = {"columns": {"score": ["mixed", "right"], "genuine": "genuine"}}
    with refused("mixed", "fk.evaluate"):
        fk.report(table, quick=True, opening=opening)
    with noticed("EER"):
        fk.evaluate(fk.pairs(mixed, NUMBERS), far=[0.1])
    right = fk.report(
        table[["right", "genuine"]].set_axis(["score", "genuine"], axis=1), quick=True
    )
    assert "rows in another order" not in "".join(right.cautions)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_report_stops_where_a_direction_is_wrong(tmp_path):
    FORMS["two_directions.csv"][0](tmp_path / "t.csv")
    with refused("l2", answers=[{"columns": {"distance": "l2"}}]):
        options = {"opening": {"columns": {"score": ["cosine", "l2"]}}, "far": [FAR], "quick": True}
        fk.report(tmp_path / "t.csv", progress=False, **options)


# --- blanks and missing labels -------------------------------------------------------------------


def test_a_blank_matters_where_its_attribute_is_named(tmp_path):
    data = fk.open_data(written(tmp_path, WIDE))
    n_blank = int(LABELS.ethn.isna().sum())
    assert int((data.ethn == "unknown").sum()) == n_blank > 0
    with noticed("ethn", f"{n_blank} images"):
        filled = fk.evaluate(fk.score_tensor(data), far=[FAR], by="ethn")["empirical"]
    whole = WIDE.assign(ethn=["ABC"[int(name[1:]) % 3] for name in SUBJECT])
    expected = fk.open_data(written(tmp_path, whole))
    expected = fk.evaluate(fk.score_tensor(expected), far=[FAR], by="ethn")["empirical"]
    np.testing.assert_array_equal(filled.frr_group, expected.frr_group)
    with refused("age"):
        fk.evaluate(fk.score_tensor(data), far=[FAR], by="age")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_na_is_a_label_in_every_format(tmp_path, name):
    labels = np.array(["NA", "DE", "None"])[[int(who[1:]) % 3 for who in SUBJECT]]
    table = LABELS[["subject"]].assign(country=labels, embedding=VECTORS.tolist())
    if name.endswith("parquet"):
        table.to_parquet(tmp_path / name)
    elif name.endswith("jsonl"):
        table.to_json(tmp_path / name, orient="records", lines=True, double_precision=15)
    else:
        table.assign(embedding=table.embedding.map(json.dumps)).to_csv(tmp_path / name)
    with noticed("NA", "None", "country"):
        data = fk.open_data(tmp_path / name)
    assert sorted(set(data.country.values.tolist())) == ["DE", "NA", "None"]


# --- pandas and xarray ---------------------------------------------------------------------------


@pytest.mark.slow
def test_frames_are_as_good_as_files():
    np.testing.assert_allclose(frr_of(fk.open_data(WIDE)), OF_FACES)
    np.testing.assert_allclose(frr_of(fk.open_data(WIDE)), OF_FACES)
    named = {"embedding": "f", "identity": "subject", "race": "ethn"}
    scores = fk.score_tensor(fk.open_data(WIDE, columns=named))
    with noticed("race"):
        fk.evaluate(scores, by="race", far=[0.1])
    table = renamed(id1="subject1", id2="subject2", l2="distance")
    np.testing.assert_allclose(frr_of(fk.open_data(table)), OF_PAIRS)
    np.testing.assert_allclose(frr_of(fk.open_data(table)), OF_PAIRS)
    matrix = pd.DataFrame(COSINES, LABELS.image, LABELS.image)
    np.testing.assert_allclose(frr_of(opened(matrix)), OF_FACES)
    people = LABELS.set_index("image").subject.sample(frac=1, random_state=0)
    with refused("identity.loc[matrix.index]"):
        fk.score_matrix(matrix, people, people)
    people = people.loc[matrix.index]
    np.testing.assert_allclose(frr_of(fk.score_matrix(matrix, people, people)), OF_FACES)


def test_labelled_inputs_have_one_order():
    score = pd.Series(PAIRS.cosine.to_numpy(), [f"r{k}" for k in range(len(PAIRS))])
    genuine = pd.Series(SAME, score.index)
    sides = {"probe_identity": PAIRS.subject1, "reference_identity": PAIRS.subject2}
    sides = {name: pd.Series(who.to_numpy(), score.index) for name, who in sides.items()}
    np.testing.assert_array_equal(frr_of(fk.pairs(score, **sides)), OF_PAIRS)
    with refused("genuine.loc[score.index]"):
        fk.pairs(score.sort_values(), genuine)
    with refused("labels"):
        fk.pairs(score, genuine.reset_index(drop=True))
    with refused("labels"):
        fk.pairs(score.rename(lambda name: "r0"), genuine)


def test_xarray_inputs_have_one_order():
    faces = fk.faces(VECTORS, SUBJECT, image=LABELS.image)
    shuffled = faces.identity.isel(image=np.random.default_rng(0).permutation(len(LABELS)))
    with refused("labels"):
        fk.faces(faces.embedding, shuffled)
    identity = shuffled.sel(image=faces.image)
    np.testing.assert_allclose(frr_of(fk.faces(faces.embedding, identity)), OF_FACES)
    with refused("labels"):
        fk.faces(faces.embedding, shuffled.assign_coords(image=LABELS.subject.to_numpy(str)))
    import xarray as xr

    plain = xr.DataArray(COSINES)
    names = LABELS.image.to_numpy(str)
    scores = fk.score_matrix(plain, SUBJECT, SUBJECT, probe=names, reference=names)
    np.testing.assert_allclose(frr_of(scores), OF_FACES)
    with refused("probe=", "reference="):
        fk.score_matrix(COSINES, SUBJECT, SUBJECT, reference=names)


# --- matrices, lists of the field ----------------------------------------------------------------


@pytest.mark.slow
def test_a_matrix_of_distances_without_zeros_is_a_question(tmp_path, capsys):
    distances = np.sqrt(np.maximum(2 - 2 * COSINES, 0)) + np.eye(len(COSINES))
    pd.DataFrame(distances, LABELS.image, LABELS.image).to_csv(tmp_path / "m.csv")
    identity = "{name}_{number}.jpg"
    with refused(answers=SCORES_OR_DISTANCES) as caught:
        fk.open_data(tmp_path / "m.csv", identity=identity)
    command = ["look", str(tmp_path / "m.csv"), "--identity", identity]
    assert main(command) == 2
    assert "--columns 'score=all cells'" in capsys.readouterr().err
    assert main([*command, "--columns", "score=all cells"]) == 0
    assert "--columns 'score=all cells'" in capsys.readouterr().out.splitlines()[-1]
    data = fk.open_data(tmp_path / "m.csv", identity=identity, **caught.value.answers[0])
    np.testing.assert_allclose(frr_of(data), OF_FACES)


L2 = np.sqrt(np.maximum(2 - 2 * COSINES, 0))
ROUNDING = 1e-7 * np.random.default_rng(0).normal(size=COSINES.shape)
SQUARES = {
    "distances": L2,
    "distances with rounding": L2 + ROUNDING,
    "distances in single precision": L2.astype(np.float32),
    "whole distances": (1e6 * L2).astype(int),
    "cosines": COSINES,
    "cosines in single precision": COSINES.astype(np.float32),
}


def save_npy(path, square):
    np.save(path / "m.npy", square)
    return {"path": path / "m.npy", "labels": path / "labels.csv"}


def save_npz(path, square):
    columns = {name: np.array(LABELS[name].astype(str).tolist()) for name in LABELS}
    np.savez(path / "m.npz", arcface=square, **columns)
    return {"path": path / "m.npz"}


def save_text(path, square):
    np.savetxt(path / "m.txt", square)
    return {"path": path / "m.txt", "labels": path / "labels.csv"}


def save_frame(path, square):
    pd.DataFrame(square).to_csv(path / "m.csv")
    return {"path": path / "m.csv", "labels": path / "labels.csv"}


def save_named(path, square):
    pd.DataFrame(square, LABELS.image, LABELS.image).to_csv(path / "m.csv")
    LABELS[::-1].to_csv(path / "labels.csv", index=False)
    return {"path": path / "m.csv", "labels": path / "labels.csv"}


SAVES = [save_npy, save_npz, save_text, save_frame, save_named]
SQUARES_IN_FILES = [(save, "distances") for save in SAVES]
SQUARES_IN_FILES += [(save, "cosines") for save in (save_npy, save_named)]
SQUARES_IN_FILES += [(save_npy, name) for name in SQUARES if " " in name]  # of other precision


@pytest.mark.slow
@pytest.mark.parametrize(("save", "square"), SQUARES_IN_FILES)
def test_a_square_of_scores_between_images_is_no_embedding(tmp_path, square, save):
    """Whether it contains distances is asked: its diagonal does not say it."""
    LABELS.to_csv(tmp_path / "labels.csv", index=False)
    options = save(tmp_path, SQUARES[square])
    is_distance = "distance" in square
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        scores = opened(**options)
    assert scores.attrs["distance"] == is_distance
    assert scores["probe_identity"].values.tolist() == SUBJECT.astype(str).tolist()
    np.testing.assert_allclose(frr_of(scores), OF_FACES, atol=1e-6)


def test_a_square_that_people_do_not_confirm_is_a_question(tmp_path):
    """Distances between images whose people are drawn at random: the data do not agree."""
    np.save(tmp_path / "m.npy", L2)
    shuffled = LABELS.assign(subject=np.random.default_rng(0).permutation(LABELS["subject"]))
    shuffled.to_csv(tmp_path / "labels.csv", index=False)
    with refused(answers=SCORES_OR_DISTANCES):
        fk.open_data(tmp_path / "m.npy", labels=tmp_path / "labels.csv", kind="matrix")


@pytest.mark.slow
@pytest.mark.parametrize("diagonal", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["cosine", "distance"])
def test_the_diagonal_does_not_say_the_direction(tmp_path, kind, diagonal):
    one_set = {"same_images": True}
    values = COSINES if kind == "cosine" else L2
    values = np.where(np.eye(len(values)), diagonal, values)
    np.savez(tmp_path / "named.npz", **{kind: values, "identity": SUBJECT})
    pd.DataFrame(values, SUBJECT, SUBJECT).to_csv(tmp_path / "people.csv")
    if kind == "cosine":
        scores = fk.open_data(tmp_path / "people.csv", **one_set)
        np.testing.assert_allclose(frr_of(scores), OF_FACES, atol=1e-6)
    else:
        np.savez(tmp_path / "array.npz", A=values, identity=SUBJECT)
        for source, name in (("people.csv", "all cells"), ("array.npz", "A")):
            answers = [{"columns": {"distance": name}}, {"columns": {"score": name}}]
            with refused(answers=answers):
                fk.open_data(tmp_path / source, kind="matrix", **one_set)
            scores = fk.open_data(tmp_path / source, kind="matrix", **one_set, **answers[0])
            np.testing.assert_allclose(frr_of(scores), OF_FACES, atol=1e-6)
        frame = pd.DataFrame(values, SUBJECT, SUBJECT)
        with refused(answers=SCORES_OR_DISTANCES):
            fk.open_data(frame, **one_set)
    scores = fk.open_data(tmp_path / "named.npz", **one_set)
    np.testing.assert_allclose(frr_of(scores), OF_FACES, atol=1e-6)


NO_FACES = {
    "array": lambda: fk.faces(L2, SUBJECT),
    "frame": lambda: fk.faces(pd.DataFrame(L2), SUBJECT),
    "models": lambda: fk.faces([L2, COSINES], SUBJECT, model=["a", "b"]),
}


@pytest.mark.parametrize("case", NO_FACES)
def test_faces_refuse_a_matrix_of_scores(case):
    with refused("fk.score_matrix"):
        NO_FACES[case]()


@pytest.mark.slow
def test_the_command_line_reads_a_matrix_with_labels(tmp_path, capsys):
    LABELS.to_csv(tmp_path / "labels.csv", index=False)
    np.savetxt(tmp_path / "m.txt", L2)
    arguments = ["look", str(tmp_path / "m.txt"), "--labels", str(tmp_path / "labels.csv")]
    assert main([*arguments, "--kind", "matrix"]) == 2
    assert "--columns 'distance=all cells'" in capsys.readouterr().err
    assert main([*arguments, "--columns", "distance=all cells"]) == 0
    assert "smaller is more alike" in capsys.readouterr().out
    np.save(tmp_path / "f.npy", COSINES[:, :20])
    arguments[1] = str(tmp_path / "f.npy")
    assert main([*arguments, "--missing", "-1"]) == 2
    assert "--kind matrix" in capsys.readouterr().err


def test_columns_of_both_directions_have_thresholds_of_their_own(tmp_path):
    FORMS["two_directions.csv"][0](tmp_path / "t.csv")
    with noticed("l2"):
        data = fk.open_data(tmp_path / "t.csv")
    rates = fk.evaluate(data, far=[FAR], weighting="pair")["empirical"].isel(far_level=0)
    np.testing.assert_allclose(rates.frr, [OF_PAIRS, OF_PAIRS])
    cosine, distance = rates.threshold.sel(model=["cosine", "l2"]).values
    assert distance == pytest.approx(-np.sqrt(2 - 2 * cosine), abs=1e-5)


TITLED_TRUTH = renamed(**{"Probe ID": "image1", "Reference ID": "image2", "Score": "cosine"})
LONG = renamed(person1="subject1", person2="subject2", img1="image1", img2="image2", score="cosine")
OTHER = LONG.assign(score=np.random.default_rng(5).normal(LONG.score, 0.1).round(6))


@pytest.mark.slow
@pytest.mark.parametrize("names", [["img1", "img2"], ["person1", "person2"]])
def test_rows_of_several_models_are_joined_by_the_names_of_their_pairs(tmp_path, names):
    pairs = LONG.assign(other=OTHER.score).drop_duplicates(names)
    rows = {"arc": pairs.drop(columns="other"), "cos": pairs.drop(columns="score")}
    tables = [rows["arc"], rows["cos"].rename(columns={"other": "score"})[::-1]]
    long = pd.concat(tables, keys=rows, names=["model"]).reset_index("model")
    long = long[["model", *names, "score"]]
    path = written(tmp_path, long)
    with refused("model") as question:
        fk.open_data(path)
    of_models = question.value.answers[0]
    assert of_models == {"columns": {"model": "model"}}
    if names == ["img1", "img2"]:
        with pytest.raises(fk.InputError, match="has two scores"):
            fk.open_data(path, columns={"model": None})
    data = opened(path, **of_models)
    wide = opened(pairs[[*names, "score", "other"]], columns={"score": ["score", "other"]})
    np.testing.assert_array_equal(data["pairs"].score, wide["pairs"].score)
    assert data["model"].values.tolist() == ["arc", "cos"]
    renamed_column = long.rename(columns={"model": "who scored"})
    again = opened(renamed_column, columns={"model": "who scored"})
    np.testing.assert_array_equal(again["pairs"].score, data["pairs"].score)
    models = {"model": "model"}
    with pytest.raises(fk.InputError, match="only one column can be its score"):
        several = {"score": ["score", "other"]} | models
        opened(long.assign(other=-long.score), columns=several)
    with refused(1, "arc"):
        opened(written(tmp_path, long[:-1]), columns=models)


def test_a_model_that_is_an_image_or_a_remark_names_no_system(tmp_path):
    trials = renamed(model="subject1", test="image2", score="cosine")
    trials = trials.drop_duplicates(["model", "test"]).assign(
        label=lambda t: t.model.eq(t.test.str[:4])
    )
    assert "model" not in fk.open_data(written(tmp_path, trials)).dims
    remark = LONG.assign(model=np.resize(["phone", "camera"], len(LONG)))
    with refused("model") as question:
        fk.open_data(remark)
    data = fk.open_data(written(tmp_path, remark), **question.value.answers[-1])
    np.testing.assert_allclose(frr_of(data), OF_PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize("names", [["subject", "image"], ["subject"]])
def test_embeddings_of_several_models_in_one_table_are_no_further_images(names):
    tables = [pd.DataFrame(VECTORS + shift).add_prefix("f").join(LABELS[names]) for shift in (0, 1)]
    both = pd.concat([tables[0].assign(model="arc"), tables[1].assign(model="ada")])
    with refused(
        "model", answers=[{"columns": {"model": "model"}}, {"columns": {"model": None}}]
    ) as question:
        fk.open_data(both)
    if "image" in names:
        models = fk.open_data(both, **question.value.answers[0])
        assert models.model.values.tolist() == ["arc", "ada"]
        np.testing.assert_allclose(frr_of(models)[0], OF_FACES)
    cameras = WIDE.drop(columns="ethn").assign(model=np.resize(["phone", "camera"], len(WIDE)))
    with refused("model") as question:
        fk.open_data(cameras)
    data = fk.open_data(cameras, **question.value.answers[-1])
    np.testing.assert_allclose(frr_of(data), OF_FACES)


def test_scores_of_systems_a_and_b_are_no_labels_of_two_sides():
    table = renamed(ref="image1", probe="image2", match="same", sysA_score="cosine")
    table["sysB_score"] = OTHER.score
    table["sysC_score"] = np.random.default_rng(6).normal(PAIRS.cosine, 0.2)
    data = fk.open_data(table)
    assert data["model"].values.tolist() == ["sysA_score", "sysB_score", "sysC_score"]


def test_several_files_are_a_list():
    with refused("fk.open_data"):
        fk.open_data("a.npz", "b.npz")


TRIALS = "m1 u1 target\nm1 u2 target\nm2 u3 target\nm2 u1 nontarget\nm1 u9 nontarget\n"


def test_people_are_linked_by_target_trials(tmp_path):
    (tmp_path / "trials").write_text(TRIALS)
    with noticed("1 of 6 names"):
        data = fk.open_data(tmp_path / "trials", scores=[0.9, 0.8, 0.7, 0.1, 0.2])
    people = fk.errors_by_person(data, far=[0.5]).identity.values
    assert len(people) == 3, "m1 with u1 and u2, m2 with u3, and u9 alone"


OWN_LIST = "Ann Lee\t1\t2\nBo Ek\t1\t2\nAnn Lee\t1\tBo Ek\t1\nBo Ek\t2\tCy\t1\nCy\t1\tAnn Lee\t2\n"


@pytest.mark.parametrize("head", ["", "1\t2\n", "10\n"])
def test_an_own_list_in_the_form_of_lfw(tmp_path, head):
    (tmp_path / "own.txt").write_text(head + OWN_LIST)
    data = fk.open_data(tmp_path / "own.txt", scores=[0.9, 0.3, 0.5, 0.1, 0.2])
    rates = fk.evaluate(data, threshold=[0.4], weighting="pair")["empirical"]
    assert rates.frr.item() == 1 / 2 and rates.far.item() == pytest.approx(1 / 3)


@pytest.mark.slow
def test_a_pair_that_is_scored_twice(tmp_path):
    (tmp_path / "trials").write_text("a-1 a-2 target\na-1 b-1 nontarget\nb-1 b-2 target\n")
    scores = "a-1 a-2 0.9\na-1 b-1 0.1\nb-1 b-2 0.2\na-1 a-2 0.9\n"
    (tmp_path / "scores").write_text(scores)
    data = fk.open_data(tmp_path / "trials", scores=tmp_path / "scores")
    assert fk.evaluate(data, threshold=[0.5], weighting="pair")["empirical"].frr.item() == 0.5
    (tmp_path / "scores").write_text(scores + "a-1 a-2 0.8\n")
    with refused("a-1", "a-2", "lines 1 and 5"):
        fk.open_data(tmp_path / "trials", scores=tmp_path / "scores")


@pytest.mark.filterwarnings("ignore:the EER is 0.50")  # of scores by chance
def test_a_comma_in_a_number_is_a_decimal_comma_between_semicolons_only(tmp_path):
    (tmp_path / "t.csv").write_text('id1,id2,score\na,a,"1,234"\na,b,"1,1"\n')
    with refused("line 2", "score", "1,234"):
        fk.open_data(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("person1;person2;score\na;a;1,5\na;b;1\nb;b;0,5\n")
    rates = fk.evaluate(fk.open_data(tmp_path / "t.csv"), threshold=[1.2], weighting="pair")
    assert rates["empirical"].frr.item() == 0.5


def test_the_columns_of_a_file_without_a_header_have_numbers(tmp_path):
    text = "".join(
        f"{a} {b} {q} {s}\n"
        for a, b, q, s in zip(PAIRS.subject1, PAIRS.subject2, NOISE, PAIRS.cosine)
    )
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(fk.InputError):
        fk.open_data(tmp_path / "t.txt")
    columns = {"probe_identity": "1", "reference_identity": "2", "score": "4", "3": None}
    np.testing.assert_allclose(frr_of(fk.open_data(tmp_path / "t.txt", columns=columns)), OF_PAIRS)


def test_a_truth_that_is_turned_round(tmp_path):
    table = pd.DataFrame({"is_impostor": 1 - NUMBERS, "score": PAIRS.cosine})
    np.testing.assert_allclose(frr_of(fk.open_data(written(tmp_path, table))), OF_PAIRS)
    table.columns = ["label", "score"]
    data = fk.open_data(written(tmp_path, table), columns={"impostor": "label"})
    np.testing.assert_allclose(frr_of(data), OF_PAIRS)


@pytest.mark.filterwarnings("ignore:[0-9]+ pairs occur twice")
def test_pairs_that_stand_twice_count_once(tmp_path):
    names = renamed(id1="subject1", id2="subject2", img1="image1", img2="image2", score="cosine")
    rejected = names[SAME & (PAIRS.cosine < np.quantile(PAIRS.cosine[SAME], 0.05))]
    table = pd.concat([names, *[rejected] * 5])
    np.testing.assert_allclose(frr_of(fk.open_data(written(tmp_path, table))), OF_PAIRS)


def test_names_that_contradict_the_truth_name_nobody(tmp_path):
    cameras = np.random.default_rng(0).integers(0, 9, (2, len(PAIRS)))
    sides = {
        f"img{side}": [f"cam{camera}_{side}{k}.jpg" for k, camera in enumerate(cameras[side - 1])]
        for side in (1, 2)
    }
    table = pd.DataFrame(sides).assign(mated=WORDS, score=PAIRS.cosine)
    data = fk.open_data(written(tmp_path, table))
    np.testing.assert_allclose(frr_of(data), OF_PAIRS)
    assert "the identities of people are unknown" in fk.look(tmp_path / "t.csv")


def test_people_are_read_from_names_by_the_pattern_that_is_proposed(tmp_path):
    table = renamed(img1="image1", img2="image2", l2="distance", score="cosine")
    np.testing.assert_allclose(frr_of(opened(table[["img1", "img2", "l2"]])), OF_PAIRS)
    with noticed("l2"):
        np.testing.assert_allclose(frr_of(opened(table)), [OF_PAIRS, OF_PAIRS])
    noise = table[["img1", "img2"]].assign(score=NOISE)
    with refused("genuine", "{name}_{number}.jpg"):
        fk.open_data(written(tmp_path, noise))
    pattern = fk.open_data(tmp_path / "t.csv", identity="{name}_{number}.jpg")
    assert int(pattern["pairs"].genuine.sum()) == SAME.sum()


def test_the_columns_of_a_verification_script(tmp_path):
    table = renamed(file_x="image1", file_y="image2", actuals="same", distances="cosine")
    table["distances"] = 1 - table["distances"]
    table["predictions"] = table["distances"] < 0.5
    path = written(tmp_path, table)
    with refused("predictions") as question:
        fk.open_data(path)
    unused = question.value.answers[-1]
    assert frr_of(fk.open_data(path, **unused)) == pytest.approx(OF_PAIRS)
    assert "--by" not in fk.look(path, **unused)  # decisions of a system are no groups of people


def test_the_option_that_a_question_names_can_be_given(tmp_path, capsys):
    table = renamed(score="cosine", genuine="same")
    table.loc[::40, "score"] = -1e9
    path = str(written(tmp_path, table))
    assert main(["look", path]) == 2
    assert "--missing -1000000000.0" in capsys.readouterr().err
    assert main(["look", path, "--missing", "-1000000000.0"]) == 0
    assert "apart" not in capsys.readouterr().out


def test_names_read_as_images_may_be_people(tmp_path):
    table = renamed(id_a="subject1", id_b="subject2", score="cosine", genuine="same")
    table.loc[:5, "genuine"] = ~table.loc[:5, "genuine"]
    with refused("genuine", "id_a", "id_b"):
        fk.open_data(written(tmp_path, table))


@pytest.mark.filterwarnings("ignore:.*comparisons failed")
@pytest.mark.parametrize("mark, every", [(-1e9, 40), (-9999.0, 1000), (-5.0, 1000), (999.0, 40)])
def test_a_score_that_may_mark_failed_comparisons_is_a_question(tmp_path, mark, every):
    table = renamed(score="cosine", genuine="same")
    table.loc[3::every, "score"] = mark
    path = written(tmp_path, table)
    with refused("missing=") as question:
        fk.open_data(path)
    assert question.value.answers == [{"missing": [mark]}, {"missing": []}]
    n_failed = [
        int(fk.open_data(path, **answer)["pairs"].score.isnull().sum())
        for answer in question.value.answers
    ]
    assert n_failed == [(table.score == mark).sum(), 0]


@pytest.mark.filterwarnings("ignore:.*comparisons failed")
def test_every_mark_is_asked_for_and_one_that_nobody_named_is_noticed():
    scores = PAIRS.cosine.to_numpy().copy()
    scores[5:50:5], scores[7:50:7] = 999, -9999
    with pytest.raises(fk.InputError) as question:
        fk.pairs(scores, SAME)
    assert {*question.value.answers[0]["missing"]} == {999, -9999}
    with noticed(999, "missing"):
        fk.pairs(scores, SAME, missing=-9999)


def test_minus_one_below_whole_scores_is_asked_about_beside_another_mark():
    scores = np.arange(len(SAME)) % 101.0
    scores[5:50:5], scores[7:50:7] = 9999, -1
    with pytest.raises(fk.InputError) as question:
        fk.pairs(scores, SAME)
    assert {*question.value.answers[0]["missing"]} == {9999, -1}


def test_minus_one_among_positive_scores_is_asked_about_wherever_it_stands():
    scores = 1 + PAIRS.cosine.to_numpy()
    scores[5] = -1
    for distance in (False, True):
        with refused(-1, answers=[{"missing": [-1.0]}, {"missing": []}]):
            fk.pairs(scores, SAME, distance=distance)


@pytest.mark.filterwarnings("ignore:.*comparisons failed")
@pytest.mark.parametrize("word", ["FTA", "FTE", "failure", "no face"])
def test_words_of_failure_are_failed_comparisons(tmp_path, word, capsys):
    table = renamed(score="cosine", genuine="same")
    table["score"] = table["score"].astype(str)
    table.loc[::50, "score"] = word
    path = written(tmp_path, table)
    right = fk.pairs(PAIRS.cosine.where(np.arange(len(PAIRS)) % 50 > 0), SAME)
    options = {}
    if word == "no face":
        with refused("missing=") as question:
            fk.open_data(path)
        options |= question.value.answers[0]
    for pairs in (fk.open_data(path, **options), fk.open_data(table, **options)):
        np.testing.assert_array_equal(pairs["pairs"].score, right["pairs"].score)
    assert main(["look", str(path), "--missing", word, "-1"]) == 0
    assert "comparisons failed" in capsys.readouterr().out


@pytest.mark.filterwarnings("error")
def test_scores_of_a_few_values_are_no_marks():
    fk.pairs(np.round(PAIRS.cosine.to_numpy(), 1), SAME)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("lead", ["", "\n", "# a system\n\n"], ids=["plain", "blank", "comment"])
def test_lines_of_text_that_are_hard_to_count(tmp_path, encoding, lead):
    text = '"person\n1",person2,score\nann,ann,9\n"bob, b",ann,2\n\nNA1,"NA1",7\n'
    (tmp_path / "t.csv").write_bytes((lead + text).replace("\n", "\r\n").encode(encoding))
    data = named(fk.open_data(tmp_path / "t.csv"))
    assert data.score.values.tolist() == [9, 2, 7]
    assert data.genuine.values.tolist() == [True, False, True]
    assert data.probe_identity.values.tolist() == ["ann", "bob, b", "NA1"]


def test_a_table_between_blanks_may_have_several_or_tabs(tmp_path):
    rows = [
        "probe_person gallery_person score",
        "ann ann 0.9001",
        "ann  bob 0.1001",
        "bob\tbob 0.8001",
    ]
    (tmp_path / "t.txt").write_text("\n".join(rows))
    data = named(fk.open_data(tmp_path / "t.txt"))
    assert data.genuine.values.tolist() == [True, False, True]
    assert data.score.values.tolist() == [0.9001, 0.1001, 0.8001]


# --- identities as pandas writes them ------------------------------------------------------------

NUMBER_OF = {who: str(1001 + k) for k, who in enumerate(np.unique(SUBJECT))}


def with_numbers(table, columns, ending):
    """A table whose people are numbers, in one column with this ending."""
    people = {column: table[column].map(NUMBER_OF) for column in columns}
    people[columns[0]] += ending
    return table.assign(**people)


@pytest.mark.parametrize("truth", [True, False])
def test_people_that_are_whole_floats_on_one_side_are_the_same_people(tmp_path, truth):
    sides = ["id1", "id2"]
    rng = np.random.default_rng(0)
    who = np.array([*NUMBER_OF])
    pairs = pd.DataFrame({side: rng.choice(who[:9], 900) for side in sides})
    same = (pairs.id1 == pairs.id2).to_numpy()
    pairs["score"] = rng.normal(size=900) + 3 * same
    if truth:
        pairs["genuine"] = same.astype(int)
    as_integers = fk.open_data(written(tmp_path, with_numbers(pairs, sides, ""), "integers.csv"))
    path = written(tmp_path, with_numbers(pairs, sides, ".0"), "floats.csv")
    with noticed("1008.0", "1008"):
        as_floats = fk.open_data(path)
    np.testing.assert_array_equal(as_floats["pairs"].genuine, same)
    xr.testing.assert_identical(as_floats, as_integers)


def test_labels_of_which_some_are_no_whole_floats_stay_as_they_are():
    versions = np.array(["2.0", "3.1"])[np.arange(240) % 2]
    faces = fk.faces(VECTORS, SUBJECT, version=versions)
    assert {*faces["version"].values.tolist()} == {"2.0", "3.1"}
