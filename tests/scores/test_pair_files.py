"""Every format of scored pairs: a small file read as described, every malformed line named."""

import numpy as np
import pandas as pd
import pytest
from named import named
from refusals import noticed, refused
from small_files import put

import frkit as fk

pytestmark = pytest.mark.filterwarnings(
    "ignore:[0-9]+ genuine and [0-9]+ impostor comparisons failed"
)

LFW = "1\t2\nann\t1\t2\nbo\t1\t3\nann\t1\tbo\t2\nbo\t3\tcy\t1\n"
FOUR = "0.9\n0.8\n-0.1\n2e-1\n"
RFW_TABLE = """img_1,img_2,id_1,id_2,label,ethnicity,dist
a_1.jpg,a_2.jpg,a,a,1,Asian,0.5
a_1.jpg,b_1.jpg,a,b,0,Asian,1.5
c_1.jpg,c_2.jpg,c,c,1,ambiguous,0.7
c_1.jpg,b_1.jpg,c,b,0,Indian,1.2
"""
BFW = """fold,p1,p2,label,id1,id2,att1,att2,vgg16,resnet50,g1,g2,e1,e2,sphereface
1,x/0/a.jpg,x/0/b.jpg,1,0,0,asian_females,asian_females,0.8,0.9,F,F,A,A,0.7
1,x/0/a.jpg,y/1/c.jpg,0,0,1,asian_females,white_males,0.1,,F,M,A,W,0.2
"""
BOB4 = "k k img1 0.9\nk m img2 -0.3\n"
BOB5 = "k k-model k img1 0.9\nk k-model m img2 -0.3\n"
BOB_CSV = (
    "probe_key,probe_subject_id,probe_race,probe_age,"
    "bio_ref_template_id,bio_ref_subject_id,bio_ref_race,score\n"
    "p1,k,Asian,30,r1,k,Asian,0.9\np2,m,White,,r1,k,Asian,0.1\n"
)
VOX = "1 id1/v/1.wav id1/w/2.wav\n0 id1/v/1.wav id2/v/1.wav\n"
KALDI = "id1-u1 id1-u2 target\nid1-u1 id2-u1 nontarget\n"
IJBC = "1 2 1\n2 3 1\n1 4 0\n4 5 1\n"


def opened(path, **options):
    """A list with the names of its pairs."""
    return named(fk.open_data(path, **options))


def sides(pairs, name=""):
    """One coordinate of both sides."""
    return [pairs[f"{side}{name}"].values.tolist() for side in ("probe", "reference")]


def test_lfw(tmp_path):
    path, scores = put(tmp_path, "pairs.txt.gz", LFW), put(tmp_path, "scores.txt", FOUR)
    pairs = opened(path, scores=scores)
    assert pairs.score.values.tolist() == [0.9, 0.8, -0.1, 0.2]
    assert pairs.genuine.values.tolist() == [True, True, False, False]
    images = ["ann/ann_0001.jpg", "bo/bo_0001.jpg", "ann/ann_0001.jpg", "bo/bo_0003.jpg"]
    assert sides(pairs)[0] == images
    assert sides(pairs)[1][2:] == ["bo/bo_0002.jpg", "cy/cy_0001.jpg"]
    assert sides(pairs, "_identity") == [["ann", "bo", "ann", "bo"], ["ann", "bo", "bo", "cy"]]
    np.save(tmp_path / "b.npy", [1, 2, 3, 4])
    models = {"A": scores, "B": tmp_path / "b.npy", "C": [4, 3, 2, 1]}
    columns = {"distance": "score"}
    models = {
        name: fk.open_data(path, scores=each, columns=columns) for name, each in models.items()
    }
    several = opened(models)
    assert several.model.values.tolist() == ["A", "B", "C"]
    assert several.score.sel(model="B").values.tolist() == [-1, -2, -3, -4]


def test_rfw_table_is_a_distance_and_names_what_is_ambiguous(tmp_path):
    path = put(tmp_path, "t.csv", RFW_TABLE)
    with noticed("1 pairs", "ambiguous"):
        pairs = opened(path)
    assert pairs.score.values.tolist() == [-0.5, -1.5, -0.7, -1.2]
    assert sides(pairs, "_ethnicity")[0] == ["Asian", "Asian", "unknown", "Indian"]
    with noticed("ambiguous"):
        assert opened(path, columns={"score": "dist"}).score.values[0] == 0.5


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet"])
def test_bfw(tmp_path, name):
    path = put(tmp_path, "t.csv.gz", BFW)
    if name.endswith("parquet"):
        path = tmp_path / name
        pd.read_csv(tmp_path / "t.csv.gz").to_parquet(path)
    with refused("vgg16", "resnet50") as asked:
        fk.open_data(path)
    of_scores = asked.value.answers[0]["columns"]
    columns = {
        "probe": "p1",
        "reference": "p2",
        "gender": ("g1", "g2"),
        "ethnicity": ("e1", "e2"),
        "subgroup": ("att1", "att2"),
    }
    pairs = opened(path, columns=of_scores | columns)
    assert pairs.model.values.tolist() == ["vgg16", "resnet50", "sphereface"]
    np.testing.assert_array_equal(pairs.score, [[0.8, 0.1], [0.9, np.nan], [0.7, 0.2]])
    assert sides(pairs) == [["x/0/a.jpg", "x/0/a.jpg"], ["x/0/b.jpg", "y/1/c.jpg"]]
    assert sides(pairs, "_gender") == [["F", "F"], ["F", "M"]]
    assert sides(pairs, "_ethnicity")[1] == ["A", "W"]
    assert sides(pairs, "_subgroup")[1] == ["asian_females", "white_males"]


@pytest.mark.parametrize(("text", "places"), [(BOB4, "11234"), (BOB5, "12345")])
def test_bob_columns(tmp_path, text, places):
    """As the page Files says; which id is the claimed one is not guessed."""
    path = put(tmp_path, "scores-dev.gz", text)
    with refused("score"):
        fk.open_data(path)
    roles = ["reference_identity", "reference", "probe_identity", "probe", "score"]
    pairs = opened(path, columns=dict(zip(roles, places)))
    assert pairs.genuine.values.tolist() == [True, False]
    assert pairs.score.values.tolist() == [0.9, -0.3]
    model = text.split()[int(places[1]) - 1]
    assert sides(pairs) == [["img1", "img2"], [model, model]]
    assert sides(pairs, "_identity") == [["k", "m"], ["k", "k"]]


def test_bob_csv(tmp_path):
    path = put(tmp_path, "scores.csv", BOB_CSV)
    columns = {"probe": "probe_key", "reference": "bio_ref_template_id"}
    for options in ({}, {"columns": columns}):
        pairs = opened(path, **options)
        assert pairs.genuine.values.tolist() == [True, False]
        assert sides(pairs, "_race")[0] == ["Asian", "White"]
    assert sides(pairs) == [["p1", "p2"], ["r1", "r1"]]


META = "VoxCeleb1 ID\tVGGFace1 ID\tGender\tNationality\tSet\n"
META += "id1\tA\tm\tUK\tdev\nid2\tB\tf\tUSA\ttest\n"


@pytest.mark.parametrize("format", ["voxceleb", "kaldi"])
@pytest.mark.parametrize("in_order", [True, False])
def test_trials(tmp_path, format, in_order):
    text = VOX if format == "voxceleb" else KALDI
    enrol, test = (1, 2) if format == "voxceleb" else (0, 1)
    rows = [line.split() for line in text.splitlines()]
    lines = [f"{row[enrol]} {row[test]} {score}" for row, score in zip(rows, (0.7, 0.2))][::-1]
    scores = put(tmp_path, "scores", "0.7\n0.2\n" if in_order else "\n".join(lines))
    meta = put(tmp_path, "meta.csv", META)
    pairs = opened(put(tmp_path, "trials", text), scores=scores, labels=meta)
    assert pairs.score.values.tolist() == [0.7, 0.2]
    assert pairs.genuine.values.tolist() == [True, False]
    assert sides(pairs, "_identity") == [["id1", "id2"], ["id1", "id1"]]
    assert sides(pairs, "_Gender") == [["m", "f"], ["m", "m"]]
    assert sides(pairs, "_Nationality")[0] == ["UK", "USA"]
    both = {name: fk.open_data(tmp_path / "trials", scores=scores) for name in "AB"}
    assert opened(both).score.shape == (2, 2)


def test_ijbc_links_the_templates_of_a_person(tmp_path):
    scores = put(tmp_path, "s", FOUR)
    pairs = opened(put(tmp_path, "t", IJBC), kind="pairs", scores=scores)
    assert sides(pairs)[::-1] == [["1", "2", "1", "4"], ["2", "3", "4", "5"]]
    person = dict(zip(sum(sides(pairs), []), sum(sides(pairs, "_identity"), [])))
    assert person["1"] == person["2"] == person["3"] != person["4"] == person["5"]


def test_columns(tmp_path):
    rows = ["sim,cos,same,x,y,k,m,race", "9,0.9,True,a,b,1,1,Asian", "2,0.1,False,a,c,1,2,Black"]
    path = put(tmp_path, "t.csv", "\n".join(rows))
    columns = dict(score=["sim", "cos"], genuine="same", probe="x", reference="y")
    columns |= dict(probe_identity="k", reference_identity="m", race="race", both=("k", "m"))
    pairs = opened(path, kind="pairs", columns=columns)
    assert pairs.score.sel(model="cos").values.tolist() == [0.9, 0.1]
    assert sides(pairs, "_race") == [["Asian", "Black"]] * 2
    assert sides(pairs, "_both")[1] == ["1", "2"]
    for score in ("sim", ["sim"]):
        single = opened(path, kind="pairs", columns=dict(score=score, genuine="same"), missing=9)
        assert single.score.dims == ("pair",) and np.isnan(single.score.values[0])


@pytest.mark.parametrize("options", [{}, {"kind": "pairs"}, {"columns": {"distance": ["dist"]}}])
def test_a_column_of_distances_is_known_by_its_name(tmp_path, options):
    path = put(tmp_path, "t.csv", "person1,person2,dist\nann,ann,0.1\nann,bob,0.9\n")
    assert named(fk.open_data(path, **options)).score.values.ravel().tolist() == [-0.1, -0.9]
    columns = {"distance": "dist", "probe_identity": "person1", "reference_identity": "person2"}
    pairs = named(fk.open_data(path, kind="pairs", columns=columns))
    assert pairs.score.values.tolist() == [-0.1, -0.9]
    assert named(fk.open_data(path, columns={"score": "dist"})).score.values.tolist() == [0.1, 0.9]


def test_several_files_are_models_of_the_same_pairs(tmp_path):
    text = "person1,person2,score\nann,ann,0.9\nann,bob,0.1\n"
    paths = [put(tmp_path, "A.csv", text), put(tmp_path, "B.csv.gz", text.replace("0.9", "0.8"))]
    pairs = named(fk.open_data(paths))
    assert pairs.model.values.tolist() == ["A", "B"]
    assert pairs.score.values.tolist() == [[0.9, 0.1], [0.8, 0.1]]
    with refused("pairs", 1):
        named(fk.open_data([paths[0], put(tmp_path, "C.csv", text.replace("bob", "eve"))]))


def test_labels_that_scores_separate_wholly_are_a_question_without_a_header_too(tmp_path):
    """They may be the system's own decisions."""
    lines = [f"{int(number >= 40)} 0.{number}" for number in range(20, 80)]
    path = put(tmp_path, "labels.txt", "\n".join(lines))
    with refused("label") as asked:
        fk.open_data(path)
    data = fk.open_data(path, **asked.value.answers[0])
    assert data["pairs"].genuine.sum() == 40


# --- malformed files ---

FOUR_SCORES = {"scores": FOUR}
MAPPED = dict(columns=dict(score="s", genuine="g"))
BAD = {
    "lfw, twice": ("pairs", LFW.replace("1\tbo", "1\tann"), FOUR_SCORES,
                   "lines 2 and 4"),
    "lfw, cells": ("pairs", LFW + 30 * LFW[4:] + "bo\t1\n", FOUR_SCORES,
                   "line 126"),
    "lfw, score": ("pairs", LFW, {"scores": "1\n\nx\n2\n"}, "line 3, column 'score': 'x'"),
    "bob4, fields": ("pairs", BOB4 + "k m img3\n", {}, "line 3"),
    "vox, no label": ("pairs", VOX + "2 a/1 b/1\n", FOUR_SCORES, "scores"),
    "kaldi, none": ("pairs", KALDI, {"scores": "id1-u1 id1-u2 1\n"}, "lines '2'"),
    "kaldi, twice": ("pairs", KALDI, {"scores": "id1-u1 id1-u2 1\nid1-u1 id1-u2 2\n"},
                     "lines 1 and 2"),
    "rfw table, scores": ("pairs", RFW_TABLE.replace("ambiguous", "A"), FOUR_SCORES,
                          "scores"),
    "bob-csv, id": ("pairs", BOB_CSV.replace("p2,m", "p2,"), {}, "line 3"),
    "columns, blank": ("pairs", "s,g\n1,1\n2,\n", MAPPED, "line 3, column 'g'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_malformed_file_is_refused_with_its_name_and_line(tmp_path, case):
    kind, text, options, message = BAD[case]
    path = put(tmp_path, "t.csv", text)
    if "scores" in options:
        options = {"scores": put(tmp_path, "scores.txt", options["scores"])}
    with refused(message) as caught:
        opened(path, kind=kind, **options)
    assert path.name in str(caught.value) or "scores.txt" in str(caught.value)


def test_unknown_formats_and_options_and_absent_files(tmp_path):
    with refused("kind", "rwf"):
        opened(put(tmp_path, "x", "a"), kind="rwf")
    bob = put(tmp_path, "scores-dev", BOB4)
    with refused("scores"):
        opened(bob, scores=[1, 2])
    with refused("nothing.csv"):
        opened(tmp_path / "nothing.csv", kind="pairs")


def test_labels_are_checked(tmp_path):
    trials, scores = put(tmp_path, "trials", VOX), put(tmp_path, "s", "2\n1\n")
    options = dict(kind="pairs", scores=scores)
    meta = put(tmp_path, "meta", "a,b\n1,2\n")
    with refused("meta"):
        opened(trials, labels=meta, **options)
    meta = put(tmp_path, "meta", META + "id1\tA\tf\tUK\tdev\n")
    with noticed("Gender", "VoxCeleb1 ID"):
        pairs = opened(trials, labels=meta, **options)
    assert "probe_Gender" not in pairs.coords and sides(pairs, "_Nationality")[0] == ["UK", "USA"]
