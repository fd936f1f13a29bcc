"""Parts of the report by themselves: what a sentence, a caption, a file name or an option must say."""

import re
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.text import Text

import frkit as fk
from frkit import __main__ as command
from frkit.reporting import card, fairness, page, people, rates, report, work, writing
from frkit.reporting.opening import converted, model_names, open_data, together
from frkit.reporting.tables import Table
from frkit.reporting.work import Section, Work

FAR = [0.05, 0.1]


def two_groups(n=24):
    kinds = {"a": {"kappa": 20}, "b": {"kappa": 9}}
    return fk.vmf.mixture(n, 16, seed=0, groups=kinds).sample(5, seed=1)


def work_of(scores, **more):
    options = {
        "faces": None,
        "by": None,
        "at": {"far": FAR},
        "level": 0.95,
        "seed": 3,
        "quick": False,
        "options": {},
    }
    return Work(scores, **(options | more))


# --- which model is better ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimates", "p", "words"),
    [
        ((-0.1, -0.2), (0.04, 0.001), "x is better than y at every level."),
        ((0.1, 0.2), (0.05, 0.05), "y is better than x at every level."),
        ((-0.1, -0.2), (0.04, 0.06), "Which of x and y is better: x at FAR 0.05; open at FAR 0.1."),
        ((-0.1, 0.2), (0.04, 0.04), "Which of x and y is better: x at FAR 0.05; y at FAR 0.1."),
        ((-0.1, -0.2), (0.06, 0.3), "Which of x and y is better remains open."),
    ],
)
@pytest.mark.parametrize("along", ["far_level", "threshold_level"])
def test_a_winner_is_named_where_it_is_sure(estimates, p, words, along):
    parts = {
        "estimate": estimates,
        "lower": np.subtract(estimates, 0.1),
        "upper": np.add(estimates, 0.1),
        "p": p,
    }
    found = xr.Dataset(
        {name: (along, list(values)) for name, values in parts.items()}, {along: FAR}
    )
    section = Section("", results={"frr, x - y, new people": found})
    said = rates._better(SimpleNamespace(along=along, about="new people"), section, ("x", "y"))
    if along == "threshold_level":  # who rejects less may accept more
        words = words.replace("is better", "rejects less").replace("at FAR", "at threshold")
    assert said.startswith(words) and "FRR of x − y for new people" in said
    assert ("differences of FAR" in said) == (along == "threshold_level")


def test_what_knows_no_chosen_impostors_is_left_out():
    faces = two_groups()
    work = work_of(fk.score_tensor(faces), by="group", options={"impostors": {"group": "same"}})
    section = Section("")
    assert (
        fairness._permuted(work, [], section) == []
    )  # its thresholds, and so its p, would be of all impostors
    assert section.lines == [
        "Left out, the permutation test: its thresholds are those of all impostor pairs"
    ]
    with pytest.raises(fk.InputError, match="all impostor pairs"):
        people.plans(work)


# --- how many more people ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("need", "words"),
    [
        (20, "no more people than there are (20 in all, with as many images each)"),
        (2400, "2,376 more people (2,400 in all, with as many images each)"),
        (np.nan, "this cannot be decided with data like these"),
    ],
)
def test_a_plan_is_told_in_people(monkeypatch, need, words):
    asked = {}

    def planned(data, goal, size=None, **how):
        asked.update(how)
        return xr.Dataset(
            {"n_identities": need, "n_identities_now": 24}, attrs={"answer": "so many"}
        )

    monkeypatch.setattr(people, "sample_size", planned)
    faces = two_groups()
    work = work_of(fk.score_tensor(faces), faces=faces, options={"weighting": "pair"})
    (said,) = people.plans(work).answers
    assert said.startswith(
        "No difference of FRR that a plan could be made for is open."
    )  # of FAR none is asked
    assert said.endswith(f": {words}.")
    assert (asked["level"], asked["weighting"]) == (0.95, "pair")


# --- words and cautions --------------------------------------------------------------------------------------------


def test_one_caution_names_all_measures_of_which_it_holds():
    held = [
        fk.DataWarning(f"{many} replicates of {name} are odd")
        for many, name in ((3, "frr_gini"), (5, "far_gini"))
    ]
    caught = [
        SimpleNamespace(message=one, category=fk.DataWarning)
        for one in [*held, fk.DataWarning("else")]
    ]
    found = SimpleNamespace(cautions=[])
    report._sort_warnings(found, caught)
    assert found.cautions == ["3 replicates of frr_gini, far_gini are odd", "else"]


def test_a_caution_of_groups_is_said_once_for_each_place():
    """Two places that differ in digits only were one, the first; and measures of group rates said it all again."""
    words = "fewer than ten errors at FAR {}{}: take more pairs"
    ends = [
        (0.1, " of group 'a'"),
        (0.2, " of group 'a'"),
        (0.1, ", in some group"),
        (0.3, ", in some group"),
    ]
    caught = [SimpleNamespace(message=words.format(*end), category=fk.DataWarning) for end in ends]
    found = SimpleNamespace(cautions=[])
    report._sort_warnings(found, caught)
    assert found.cautions == [words.format(*end) for end in ends if end != (0.1, ", in some group")]


def test_replicates_are_pairs_where_nobody_is_named():
    rng = np.random.default_rng(0)
    assert (
        work_of(fk.pairs(rng.normal(size=40), np.arange(40) % 2 == 0).score).draws().scheme
        == "pair"
    )
    draws = work_of(fk.score_tensor(two_groups())).draws()
    assert (draws.scheme, draws.seed) == ("identity", 3)


def test_the_methods_say_which_impostors_were_counted():
    faces = two_groups()
    faces = faces.assign_coords(
        eyes=("image", np.where(np.char.endswith(faces.identity.values, "1"), "blue", "brown"))
    )
    named = {"eyes": "other", "group": "same"}
    chosen = MappingProxyType(named)
    kinds = (
        ("all", None),
        ("same-group", "within a group"),
        (chosen, "of other eyes and of same group"),
    )
    for impostors, words in kinds:
        said = fk.describe(
            fk.evaluate(fk.score_tensor(faces), far=FAR, by="group", impostors=impostors)
        )
        assert re.findall("Impostor pairs are those (.*?)\\.", said) == [words] * (
            words is not None
        )


def test_the_call_in_a_notebook_is_python_that_runs_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = xr.DataArray(np.eye(2), {"far_level": FAR, "model": ["a", "b"]})
    made = {
        "data": "my.csv", "opening": {"labels": Path("people.csv"), "missing": (-1.0,)}, "far": np.array(FAR),
        "threshold": rows, "level": np.float64(0.9), "weighting": pd.Series({"ann": 1.0}), "impostors": {"h": "same"},
    }  # fmt: skip
    source = writing._call(SimpleNamespace(made=made), tmp_path / "out/report")
    names = {"fk": SimpleNamespace(report=lambda data, **options: (data, options))}
    exec(source, names)  # without NumPy, and seen from the folder of the report
    data, options = names["report"]
    assert data == "../../my.csv" and options["opening"] == {
        "labels": "../../people.csv",
        "missing": [-1.0],
    }
    assert options["threshold"] == {"a": [1.0, 0.0], "b": [0.0, 1.0]} and options["weighting"] == {
        "ann": 1.0
    }
    assert (options["far"], options["level"], options["impostors"]) == (FAR, 0.9, {"h": "same"})
    assert made["opening"]["labels"] == Path("people.csv")  # the report's own are left alone


def test_people_without_a_label_have_a_row_of_their_own():
    faces = two_groups()
    label = np.where(faces.identity == faces.identity.values[0], "", faces.group)
    found = fk.report(
        faces.assign_coords(group=("image", label)), by="group", far=FAR, quick=True, progress=False
    )
    table = found.tables["Groups"]
    assert table.loc["no label: in no group"].tolist() == ["1", "5"] and table[
        "people"
    ].tolist() == ["11", "12", "1"]


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_list_without_names_of_images_counts_no_images():
    rng, who = np.random.default_rng(0), np.arange(400).reshape(2, 200) % 12
    who[1, ::2] = who[0, ::2]
    same, names = who[0] == who[1], np.char.add("p", who.astype(str))
    sex = np.where(who % 2, "f", "m")
    people_of = {"probe_identity": names[0], "reference_identity": names[1]}
    for sides, columns in ((people_of, ["people"]), ({}, None)):
        work = work_of(
            fk.pairs(rng.normal(size=200), same, gender=tuple(sex), **sides).score, by="gender"
        )
        table = card.card(work).tables.get("Groups")
        assert columns is None if table is None else table.columns.tolist() == columns
        assert table is None or table["people"].tolist() == ["6", "6"]


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_captions_say_once_whom_a_figure_is_about():
    found = fk.report(two_groups(), by="group", far=[0.1], quick=True, progress=False)
    captions = re.findall("<figcaption>([^<]*band[^<]*)", page.page(found))
    assert [words.count("new people") for words in captions] == [1, 1, 1, 1]
    figure, ax = plt.subplots()  # drawn by hand there is no name beside it
    found.figures["FRR against FAR"](ax)
    assert any("about new people" in words.get_text() for words in figure.findobj(Text))
    plt.close(figure)
    assert found.results["errors", "frr, new people"].attrs["target"] == "new people"


# --- the page and the folder ---------------------------------------------------------------------------------------


def test_a_long_table_says_how_many_rows_are_elsewhere():
    long = Table({"a": [str(k) for k in range(157)]})
    assert "7 more rows are in the files" in page._table("long", long)
    assert page._table("long", long).count("<td>") == 150
    assert "more rows" not in page._table("short", long.head(150))
    assert "<caption>&lt;b&gt;</caption>" in page._table("<b>", long)


def test_the_words_of_a_figure_stay_text():
    shown = page._figure(
        "<i>", page.Picture(None, "<b> & 'c'", b'<svg width="1pt" height="1pt"></svg>'), 0
    )
    assert "<b>" not in shown and "<i>" not in shown and "&lt;b&gt; &amp;" in shown


def test_files_have_names_of_their_own(tmp_path):
    assert writing._distinct(["A b", "a-b", "c", "A  B"]) == ["a_b", "a_b_1", "c", "a_b_3"]
    (tmp_path / "out/tables").mkdir(parents=True)
    with pytest.raises(fk.InputError, match="holds something else than a report"):
        writing.check_free(tmp_path / "out")
    assert writing._from(tmp_path / "out", str(tmp_path / "a.npz")) == "../a.npz"


# --- files and options ---------------------------------------------------------------------------------------------


def test_distances_are_written_as_they_were_read(tmp_path):
    pairs = fk.pairs([0.1, 0.7, 0.4], [True, False, True], distance=True)
    converted(pairs, tmp_path / "pairs.csv")
    assert pd.read_csv(tmp_path / "pairs.csv").distance.tolist() == [0.1, 0.7, 0.4]
    xr.testing.assert_identical(open_data(tmp_path / "pairs.csv"), pairs)


def test_labels_of_images_stay_those_of_images(tmp_path):
    faces = two_groups()
    pose = np.where(np.arange(faces.sizes["image"]) % 2, "left", "right")
    faces = fk.faces(faces.embedding.values, faces.identity.values, pose=pose, varying="keep")
    converted(faces, tmp_path / "faces.npz")
    assert open_data(tmp_path / "faces.npz").pose.attrs["varying"] == "keep"


def test_a_contrast_of_several_groups_allows_for_their_number():
    p = {"p": ("contrast", [0.01, 0.02]), "p_holm": ("contrast", [0.02, 0.04])}
    contrasts = xr.Dataset(p, {"a": ("contrast", ["x", "y"]), "b": ("contrast", ["y", "z"])})
    assert [fairness._p_of(contrasts, *pair) for pair in ("xy", "zy")] == [0.02, 0.04]
    assert fairness._p_of(contrasts.isel(contrast=0), "x", "y") == 0.01, "the only one"


@pytest.mark.parametrize(("along", "strict"), [("far_level", 0), ("threshold_level", 2)])
def test_sentences_are_about_the_strictest_level_that_says_something(along, strict):
    for resolved, place in (([1, 1, 1], strict), ([0, 0, 0], 2 - strict), ([0, 1, 0], 1)):
        one = xr.Dataset({"resolved": (along, np.array(resolved, bool))}, {along: [0.1, 0.2, 0.3]})
        assert work.strictest(one) == {along: place}


def test_one_model_keeps_the_name_that_it_was_given(tmp_path):
    faces = fk.vmf.mixture(8, 8, kappa=9, seed=0).sample(3)
    np.savez(tmp_path / "f.npz", embedding=faces.embedding.values, identity=faces.identity.values)
    found = fk.report({"Oak": tmp_path / "f.npz"}, far=[0.2], quick=True, progress=False)
    assert found.evaluation["empirical"].model.values.tolist() == [
        "Oak"
    ] and "FRR of Oak at FAR 0.2" in str(found)
    scores = fk.score_tensor(faces)
    assert together({"Elm": scores}).model.values.tolist() == ["Elm"]
    both = fk.score_tensor(fk.stack_models({"A": faces, "B": faces}))
    assert together({"Elm": both}) is both, "whose models have names"


def test_models_are_named_by_their_files_without_endings():
    names = ["x/arc.face.npz", "cos.csv.gz", "y.JSON", "z.pq", "w.nc4", "v.zarr.zip", "u.zarr"]
    assert model_names(names) == ["arc.face", "cos", "y", "z", "w", "v", "u"]
    with pytest.raises(fk.InputError, match="distinct names"):
        model_names(["a/x.npz", "b/x.csv"])


def test_each_of_several_matrices_keeps_its_name():
    who = ["ann", "ann", "bob", "bob"]
    first, second = (np.random.default_rng(seed).normal(size=(4, 4)) for seed in (0, 1))
    both = together({"x": fk.score_matrix(first, who, who), "y": fk.score_matrix(second, who, who)})
    for name, values in (("x", first), ("y", second)):
        np.testing.assert_array_equal(both.sel(model=name).values, values)


def test_every_option_of_the_command_arrives(tmp_path, monkeypatch):
    told = {}

    def instead(data, **how):
        told.update(how, data=data)
        raise fk.InputError("enough")

    monkeypatch.setattr(report, "report", instead)
    asked = "--by gender age --level 0.9 --seed 4 --quick --threshold 0.3 --failed rejected --distance --missing -1"
    more = "--varying first --score s --scores f --metadata m --labels l --identity {id}.jpg --format lfw"
    file, out = str(tmp_path / "a.csv"), str(tmp_path / "out")
    assert command.main(["report", file, *asked.split(), *more.split(), "-o", out]) == 2
    assert told == {
        "data": file, "by": ["gender", "age"], "level": 0.9, "seed": 4, "quick": True, "threshold": [0.3],
        "varying": "first", "progress": True,
        "opening": {
            "format": "lfw", "score": ["s"], "scores": "f", "metadata": "m", "labels": "l", "identity": "{id}.jpg",
            "missing": [-1.0], "failed": "rejected", "distance": True,
        },
    }  # fmt: skip
    told.clear()
    assert (
        command.main(["report", file, file.replace("a.csv", "b.csv"), "--by", "gender", "-o", out])
        == 2
    )
    assert (
        told["by"] == "gender"
        and [*told["data"]] == ["a", "b"]
        and told["far"] == [1e-2, 1e-3, 1e-4]
    )


@pytest.mark.parametrize(("kind", "words"), [("ratio", "frr, x / y"), ("difference", "frr, x − y")])
def test_a_contrast_of_models_says_of_which_kind(kind, words):
    held = xr.Dataset({"estimate": ("far_level", [1.0, 2.0])}, {"far_level": FAR})
    assert (
        fk.table(held.assign_attrs(measure="frr", a="x", b="y", contrast=kind)).columns[0] == words
    )
