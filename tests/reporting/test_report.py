"""The report: its numbers are the API's, its first screen says what they mean, labels stay text."""

import json
import re
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from markupsafe import escape
from percents import in_percent
from refusals import refused
from report_faces import only_parts, two_models

import frkit as fk
from frkit.figures.style import finish_levels
from frkit.findings.formats import cell, decimals_of, percent
from frkit.findings.inputs import leading_level
from frkit.io.door import by_model, together
from frkit.reporting import page

FAR = [0.05, 0.1]
NASTY = "<script>alert('x')</script> $\\frac{1}{0}$ & \"b\""
ENDS = ("estimate", "lower", "upper")
quiet = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
pytestmark = pytest.mark.usefixtures("brief_reports")


@pytest.fixture(scope="module")
def faces():
    return two_models()


@pytest.fixture(scope="module")
def report(faces):
    """With every measure: what is brief is so in one test alone."""
    return fk.report(faces, by="group", far=FAR, quick=True, progress=False)


@pytest.fixture
def part_about_people():
    """Reports of this test say who drives the errors, and not more."""
    with only_parts("people"):
        yield


of_people = pytest.mark.usefixtures("part_about_people")


def tile(report, start):
    return next(tile for tile in report.tiles if tile.title.startswith(start))


@pytest.mark.slow
@quiet
def test_numbers_are_those_of_the_api(report, faces):
    evaluation = fk.evaluate(fk.score_tensor(faces), far=FAR, by="group")
    for target in ("new people", "these people"):
        direct = fk.band(evaluation, "frr", target=target)
        xr.testing.assert_equal(report.results["errors", f"frr, {target}"], direct)
    direct = fk.compare(evaluation, "frr", models="all", target="new people")
    xr.testing.assert_equal(report.results["models", "frr, new people"], direct)
    for name in ("frr_max_min", "far_gini", "fdr", "ir", "eer_spread"):
        direct = fk.band(evaluation, name, target="new people")
        xr.testing.assert_equal(report.results["fairness", name], direct)
    forms = ("gini", "log_geomean", "max_difference", "max_geomean", "max_min")
    measures = {f"{rate}_{form}" for rate in ("far", "frr") for form in forms}
    measures |= {"eer_spread", "fdr", "garbe", "ir"}
    assert measures <= {name for _, name in report.results}
    floor = fk.fair_floor(evaluation, "frr_max_min", target="new people")
    xr.testing.assert_equal(report.results["fairness", "frr_max_min, floor"], floor)
    who = fk.errors_by_person(fk.score_tensor(faces), far=FAR, by="group")
    xr.testing.assert_equal(report.results["people", "errors_by_person"], who)


@pytest.mark.slow
@quiet
def test_people_without_a_label_are_no_group():
    faces = fk.vmf.mixture(30, 16, kappa=(5, 20), seed=0).sample(4, seed=1)
    label = np.array([f"g{person % 8}" if person > 2 else "" for person in range(30)])
    faces = faces.assign_coords(team=("image", np.repeat(label, 4)))
    report = fk.report(faces, by="team", far=[0.1], quick=True, progress=False)
    assert "8 groups of team (images of 3 people have no label)" in report.answers
    assert report.tables["Groups"].shape[0] == 9


@pytest.mark.slow
def test_the_long_parts_are_those_of_the_api(faces):
    faces = faces.sel(model="good", drop=True)
    report = fk.report(faces, by="group", far=FAR, progress=False)
    assert report.left_out == ["Which model is better: there is one model; give several files, or "
                               "columns of scores"]  # fmt: skip
    scores = fk.score_tensor(faces)
    xr.testing.assert_equal(report.results["n_sigma", "n_sigma"], fk.n_sigma(scores, by="group"))
    plan = fk.studies.sample_size(faces, "relative_half_width", 0.2, far=FAR[0])
    assert any(answer.startswith(plan.answer.item()) for answer in report.answers)
    for part in ("indices", "rlb"):
        assert report.sections[part].tables and report.sections[part].results


@pytest.mark.slow
@pytest.mark.parametrize("attribute", ["group", ["group", "side"]])
@quiet
def test_long_parts_ask_for_groups_of_several_people(attribute):
    """Without a label of the only person of a group they are computed for the other groups."""
    mix = fk.vmf.mixture(30, 16, seed=0, groups={"a": {"kappa": 20}, "b": {"kappa": 12}})
    faces = mix.sample(5, seed=1)
    alone = (faces.identity == faces.identity[0]).values
    group = np.where(alone, "lonely", faces.group.values)
    faces = faces.assign_coords(group=("image", group), side=("image", ["left"] * group.size))
    with only_parts("indices", "n_sigma", "rlb"):
        report = fk.report(faces, by=attribute, far=[0.05, 0.1], progress=False)
    reasons = [line for line in report.left_out if "lonely" in line and "no label" in line]
    assert {"SFI, CFI and DFI", "N-Sigma", "RLB"} == {why.partition(":")[0] for why in reasons}
    faces = faces.assign_coords(group=("image", np.where(alone, "unknown", group)))
    with only_parts("indices", "n_sigma", "rlb"):
        report = fk.report(faces, by=attribute, far=[0.05, 0.1], progress=False)
    assert {"indices", "n_sigma", "rlb"} <= set(report.sections)
    others = fk.score_tensor(faces.isel(image=~alone))
    n_sigma = fk.n_sigma(others, by=attribute)
    shown = report.results["n_sigma", "n_sigma"]
    np.testing.assert_allclose(shown.n_absolute, n_sigma.n_absolute)
    sfi = fk.fairness_indices(others, by=attribute, score_map="cosine").sfi
    np.testing.assert_allclose(report.results["indices", "indices"].sfi, sfi)


@pytest.mark.slow
def test_the_data_are_counted(faces):
    faces = faces.sel(model="good", drop=True)
    report = fk.report(faces, by="group", far=FAR, quick=True, progress=False)
    compared = f"600 genuine and {240 * 239 // 2 - 600:,} impostor comparisons"
    answers = ["240 images, 40 people", compared, "group: a 20, b 20"]
    assert report.sections["data"].answers == answers
    assert "(6 images each)" in report.sections["methods"].lines[0]
    assert report.tables["Groups"].loc["a"].tolist() == ["20", "120"]


@quiet
def test_repeated_comparisons_of_a_list_are_counted():
    rng = np.random.default_rng(0)
    row, col = np.triu_indices(24, 1)
    probe, reference = np.r_[row, col[:7]].astype(str), np.r_[col, row[:7]].astype(str)
    genuine = np.arange(283) % 8 == 0
    genuine[-7:] = genuine[:7]
    pairs = fk.pairs(
        rng.normal(size=283) + 1.5 * genuine, genuine, probe=probe, reference=reference
    )
    cautions = fk.report(pairs, far=[0.1], quick=True, progress=False).cautions
    assert any(line.startswith("7 of 283 comparisons repeat") for line in cautions)


@pytest.mark.slow
@quiet
def test_failed_comparisons_and_people_without_label():
    rng = np.random.default_rng(0)
    people = np.repeat([f"p{k}" for k in range(12)], 2)
    same = people[:, None] == people[None, :]
    scores = rng.normal(size=same.shape) + 1.5 * same
    scores[0, 1] = scores[3, 7] = np.nan
    group = np.where(people == "p0", "", np.where(people < "p3", "a", "b"))
    attributes = {"group": (group, group)}
    matrix = fk.score_matrix(scores, people, people, same_images=False, attributes=attributes)
    report = fk.report(matrix, by="group", far=[0.1, 0.2], quick=True, progress=False)
    (compared,) = [line for line in report.answers if line.startswith(f"{same.sum()} genuine ")]
    assert compared.endswith(", 2 failed ones left out")
    methods = report.sections["methods"].lines[0]
    assert "failed comparisons were left out, 1 of them genuine" in methods
    assert report.tables["Groups"].loc["no label: in no group", "people"] == "1"


@pytest.mark.slow
def test_tiles_say_what_the_numbers_say(report):
    every_frr = report.results["errors", "frr, new people"]
    frr = every_frr.sel(model="bad", far_level=0.05)
    bad = tile(report, "bad")
    texts = in_percent(fk.table(every_frr).iloc[2, 0]).split()
    assert bad.value == f"FRR {texts[0]} %" and bad.state == "clear"
    ends = " ".join(texts[1:]).strip("[]").replace(", ", " to ")
    interval = f"95 % interval {ends} % for other people"
    assert f"at FAR 0.05, mean over people: {interval}." in bad.text
    scores = fk.score_tensor(two_models()).sel(model="bad")
    threshold = report.results["people", "errors_by_person"].threshold
    at_threshold = {"threshold": threshold.sel(model="bad", far_level=[0.05]).values}
    pooled = fk.evaluate(scores, weighting="pair", **at_threshold)["empirical"].frr.item()
    (table,) = [table for name, table in report.tables.items() if name.startswith("FRR (mean")]
    row = table.loc[("bad", "0.05")]
    assert float(row["FRR, pooled over pairs"]) == pytest.approx(pooled, abs=0.0051)
    assert row["FRR, new people, n effective"] == f"{float(frr.n_effective):,.0f}"
    assert "good is better than bad: FRR of good − bad is" in tile(report, "Which model").text
    assert tile(report, "Which model").value == "good is better."
    assert all(text in str(report).replace("\n  ", " ") for text in (bad.text, "mean over people"))


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("levels", [{"far": [0.02, 0.2]}, {"threshold": {"good": 0.5, "bad": 0.4}}])
def test_a_row_of_rates_is_at_one_threshold(faces, levels):
    """The rate pooled over pairs is the share of the rejected pairs that the row counts."""
    unequal = faces.isel(image=np.r_[0:2, 6 : faces.sizes["image"]])
    report = fk.report(unequal, quick=True, progress=False, **levels)
    table = next(iter(report.tables.values())).numbers()
    n_genuine = 39 * 15 + 1
    pooled = table["FRR, pooled over pairs"].astype(float)
    np.testing.assert_allclose(pooled, table["false rejects"].astype(float) / n_genuine)
    mean = report.results["errors", "frr, new people"].estimate.values.ravel()
    assert np.all(np.abs(pooled - mean) > 1e-4)


def models_and_groups():
    return two_models(), {"by": "group", "far": FAR}


def people_split_by_session():
    faces = two_models().assign_coords(session=("image", np.tile(["s", "t"], 120)))
    return faces, {"by": "session", "varying": "split", "far": FAR}


def errors_of_few_people():
    faces = fk.vmf.mixture(30, 16, seed=0, kappa=(300, 400), groups={"a": {}, "b": {}})
    faces = faces.sample(6, seed=1)
    embedding = faces.embedding.values.copy()
    embedding[:6] = np.random.default_rng(0).normal(size=embedding[:6].shape)
    return faces.assign(embedding=(faces.embedding.dims, embedding)), {"by": "group", "far": [1e-4]}


def groups_without_errors():
    people = fk.vmf.mixture(24, 16, kappa=(2000, 3000), seed=1, groups={"a": {}, "b": {}})
    return people.sample(4, seed=2), {"by": "group", "far": [0.1]}


def many_small_groups():
    faces = fk.vmf.mixture(12, 16, kappa=(8, 60), seed=5).sample(4, seed=1)
    groups = np.repeat([f"g{k}" for k in range(12)], 4)
    return faces.assign_coords(group=("image", groups)), {"by": "group", "far": FAR}


def pairs_without_people():
    genuine = np.arange(600) < 200
    score = np.where(genuine, np.arange(600) % 5, np.arange(600) % 50 == 0)
    return fk.pairs(score + 2 * (np.arange(600) == 599), genuine), {"far": [0.01]}


def three_models_at_thresholds():
    faces = two_models()
    models = {name: faces.sel(model=name, drop=True) for name in ("good", "bad")}
    scores = fk.score_tensor(fk.open_data(models | {"third": models["bad"]}))
    return scores, {"by": "group", "threshold": [0.4]}


def too_few_people():
    return fk.vmf.mixture(8, 16, kappa=(10, 40), seed=0).sample(6, seed=1), {"far": [0.1]}


@pytest.mark.slow
@quiet
@pytest.mark.parametrize(
    "data",
    [
        models_and_groups,
        people_split_by_session,
        errors_of_few_people,
        groups_without_errors,
        many_small_groups,
        pairs_without_people,
        three_models_at_thresholds,
        too_few_people,
    ],
)
def test_a_tile_has_at_most_25_words(data):
    faces, options = data()
    report = fk.report(faces, quick=True, progress=False, **options)
    assert report.tiles
    for finding in report.tiles:
        words = f"{finding.value} {finding.text}".split()
        assert len(words) <= 25, (len(words), finding)
        assert "\n" not in finding.text


@pytest.mark.slow
def test_histograms_count_all_pairs_of_either_kind(report, faces):
    drawn = report.figures["Scores and threshold of bad"].args[0]
    middles = drawn.score_bin.values
    half = (middles[1] - middles[0]) / 2
    edges = np.append(middles - half, middles[-1] + half)
    scores = fk.score_tensor(faces).sel(model="bad").values
    person = faces.identity.values
    row, col = np.triu_indices(len(person), 1)
    same = person[row] == person[col]
    for kind, is_of_kind in (("genuine", same), ("impostor", ~same)):
        counts, _ = np.histogram(scores[row, col][is_of_kind], edges)
        share = drawn[f"{kind}_histogram"]
        np.testing.assert_allclose(share, counts / is_of_kind.sum(), atol=2 / is_of_kind.sum())
    band = fk.band(report.evaluation, "threshold").sel(model="bad", far_level=0.05)
    assert [float(drawn[end]) for end in ("threshold", "lower", "upper")] == [
        float(band[end]) for end in ENDS
    ]
    interval = fk.table(fk.band(report.evaluation, "threshold")).iloc[2, 0]
    assert f"Accept above {interval}." in tile(report, "bad").text


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_a_picture_has_values_and_its_ticks_enclose_the_data(scale):
    drawn = []

    def draw(ax):
        ax.plot([0.001, 0.1, 0.4], [0.013, 0.01, 0.72], label="<b>")
        ax.axhline(0.5, label="a line across")
        levels = xr.DataArray([0.001, 0.4], name="far_level")
        finish_levels(ax, levels, "FRR (mean over people with weights)", [], 0.01)
        if scale == "linear":
            ax.set(xscale=scale, yscale=scale)
        else:
            ax.plot([0.1], [0.01], "v", clip_on=False, label="0: no place on a log axis")
        drawn.append(ax)

    svg = page.picture(draw).svg
    titles = re.findall("<title>(.*?)</title>", svg)
    assert titles[0] == "&lt;b&gt;: FAR 0.001, FRR 0.013"
    assert titles[-1] == "&lt;b&gt;: FAR 0.4, FRR 0.72"
    assert len(titles) == (3 if scale == "linear" else 2)
    for axis, low, high in ((drawn[0].xaxis, 0.001, 0.4), (drawn[0].yaxis, 0.013, 0.72)):
        labelled = [
            place
            for minor in (False, True)
            for place, label in zip(axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor))
            if label.get_text()
        ]
        ends = axis.get_view_interval()
        assert ends[0] <= low and high <= ends[1]
        assert np.isclose(labelled, ends[0]).any() and np.isclose(labelled, ends[1]).any()


def test_a_rate_in_percent_is_rounded_as_in_the_table():
    """.225 was 22 % in a sentence and 0.23 in the table beside it."""
    for rate in (0.225, 0.235, 0.0045, 3.2e-5):
        ends = rate / 2, 2 * rate
        text = cell(rate, *ends, decimals=decimals_of(*ends))
        shown = percent(rate, decimals_of(*ends))
        assert float(shown) == pytest.approx(100 * float(text.split()[0]))


@pytest.mark.slow
@quiet
def test_no_difference_is_said_with_what_the_data_allow():
    alike = fk.vmf.mixture(40, 16, seed=0, kappa=(9, 20), groups={"a": {}, "b": {}})
    options = {"by": "group", "far": [0.1], "quick": True, "progress": False}
    with only_parts("groups", "fairness"):
        report = fk.report(alike.sample(5, seed=1), **options)
    for rate in ("frr", "far"):
        text = tile(report, f"Do groups differ in {rate.upper()}").text
        upper = report.results["fairness", f"{rate}_max_min"].upper.item()
        printed = float(re.search(rf"up to ([0-9.]+) times in {rate}", text, re.I)[1])
        assert printed == pytest.approx(upper, abs=0.005)
    people = fk.vmf.mixture(24, 16, kappa=(2000, 3000), seed=1, groups={"a": {}, "b": {}})
    with only_parts("groups", "fairness"):
        report = fk.report(people.sample(4, seed=2), **options)
    text = tile(report, "Do groups differ in FRR").text
    assert text == "No test of equal FRRs: there is no false reject in any group."
    assert "nan" not in str(report)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_threshold_without_an_upper_end_is_undecided():
    faces = fk.vmf.mixture(12, 16, seed=0, kappa=(5, 40)).sample(6, seed=1)
    report = fk.report(faces, far=[0.001], quick=True, progress=False)
    assert np.isinf(fk.band(report.evaluation, "threshold").upper.item())
    assert "∞]" in report.tiles[0].text + report.tiles[0].note
    assert report.tiles[0].state == "undecided" and "to 100 %" in report.tiles[0].text


@pytest.mark.parametrize("n", [40, 20])
@of_people
def test_who_drives_the_errors_is_named_where_they_are_few(n):
    good = fk.vmf.mixture(n, 16, seed=0, kappa=(150, 200)).sample(6, seed=1)
    swapped = good.identity.values.copy()
    swapped[[0, -1]] = swapped[[-1, 0]]  # two wrong labels
    wrong = fk.faces(good.embedding.values, swapped)
    report = fk.report(wrong, far=[0.01], quick=True, progress=False)
    who = report.results["people", "errors_by_person"].isel(far_level=0)
    errors = np.sort(who.false_rejects_identity.values)
    share = f"2 of {n} people make {errors[-2:].sum() / errors.sum() * 100:.0f} % of the FRR: "
    (answer,) = [line for line in report.answers if line.startswith(share)]
    assert swapped[0] in answer and swapped[-1] in answer
    listed = report.tables["Pairs of the first three, false rejects at FAR 0.01"]
    assert {*listed["probe"]} | {*listed["reference"]} >= {"0", str(6 * n - 1)}


@pytest.mark.slow
@of_people
def test_errors_of_one_person_are_undecided():
    """Intervals cover too seldom where fewer than two people make most errors."""
    faces = fk.vmf.mixture(30, 16, seed=0, kappa=(300, 400)).sample(6, seed=1)
    states = {}
    for n_bad in (1, 4):
        embedding = faces.embedding.values.copy()
        noise = np.random.default_rng(0).normal(size=embedding[: 6 * n_bad].shape)
        embedding[: 6 * n_bad] = noise
        bad = faces.assign(embedding=(faces.embedding.dims, embedding))
        report = fk.report(bad, far=[0.01], quick=True, progress=False)
        first = report.tiles[0]
        states[n_bad] = first.state, "One person makes most errors." in first.text
        assert ("the interval of the FRR is too narrow" in first.note) == (n_bad == 1)
    assert states == {1: ("undecided", True), 4: ("clear", False)}


@pytest.mark.slow
@of_people
def test_who_drives_a_mean_over_people_is_no_matter_of_numbers_of_pairs():
    """One person of many images has most rejected pairs, and the weight of one person."""
    people = fk.vmf.mixture(30, 16, seed=0, kappa=(8, 10))
    faces = people.sample([40] + 29 * [4], seed=1)
    many = faces.identity.values[0]
    texts = {}
    for weighting in ("identity", "pair"):
        options = {"far": [0.01], "quick": True, "progress": False}
        report = fk.report(faces, weighting=weighting, **options)
        who = report.results["people", "errors_by_person"].isel(far_level=0)
        (texts[weighting],) = [line for line in report.answers if "of the FRR" in line]
        errors = who.false_rejects_identity / who.false_rejects_identity.sum()
        assert errors.sel(identity=many) > 0.7
    share = who.frr_share.sel(identity=many).item()
    assert texts["pair"].startswith(f"1 of 30 people makes {100 * share:.0f} % of the FRR: {many}.")
    assert texts["identity"].startswith("10 of 30 people make ")
    assert many not in texts["identity"].partition(".")[0]


@of_people
def test_people_without_more_errors_than_by_chance_do_not_stand_out():
    """Every pair is rejected with the same probability: 3 people make a third all the same."""
    rng = np.random.default_rng(3)
    person = np.repeat([f"p{k:02d}" for k in range(30)], 8)
    first, second = np.triu_indices(len(person), 1)
    genuine = person[first] == person[second]
    score = np.where(genuine, 1.0, 0.0) + 0.1 * rng.random(len(first))
    score[genuine & (rng.random(len(first)) < 0.06)] = -1
    scores = np.zeros((len(person), len(person)))
    scores[first, second] = scores[second, first] = score
    names = [f"{name}-{k}" for k, name in enumerate(person)]
    matrix = fk.score_matrix(scores, person, person, probe=names, reference=names, missing=[])
    report = fk.report(matrix, far=[0.01], quick=True, progress=False)
    people = tile(report, "Who drives the errors?")
    assert (people.value, people.state) == ("No clear difference between people.", "undecided")
    assert re.search(r"^\d of 30 people make .* \(p = ", people.text)


@pytest.mark.slow
@of_people
def test_people_who_differ_are_clear_and_a_list_is_not_tested():
    faces = fk.vmf.mixture(40, 16, seed=0, kappa=(2, 100)).sample(6, seed=1)
    options = {"far": [0.01], "quick": True, "progress": False}
    people = tile(fk.report(faces, **options), "Who drives the errors?")
    assert (people.value, people.state) == ("People differ.", "clear")
    row, col = np.triu_indices(240, 1)
    row, col = np.stack([row, col])[:, np.random.default_rng(0).random(len(row)) < 0.5]
    who = faces.identity.values
    sides = {"probe": row, "reference": col}
    sides |= {"probe_identity": who[row], "reference_identity": who[col]}
    listed = fk.pairs(fk.score_tensor(faces).values[row, col], **sides)
    report = fk.report(listed, **options)
    assert not [tile for tile in report.tiles if tile.title.startswith("Who drives")]
    assert "not tested" in report.sections["people"].lines[0]


@quiet
@of_people
def test_two_people_who_are_mistaken_for_each_other_are_named():
    faces = fk.vmf.mixture(40, 32, kappa=(40, 60), seed=0).sample(5, seed=1)
    embedding = faces.embedding.values
    embedding[5:10] = embedding[:5] + 0.02 * np.random.default_rng(0).standard_normal((5, 32))
    faces = faces.assign(embedding=(faces.embedding.dims, embedding))
    report = fk.report(faces, far=[0.002], quick=True, progress=False)
    (answer,) = [line for line in report.sections["people"].answers if "of the FAR" in line]
    assert re.fullmatch("2 of 40 people make .* of the FAR: id0000, id0001.", answer)


@of_people
def test_errors_of_two_models_are_named_apart(faces):
    report = fk.report(faces, far=[0.1], quick=True, progress=False)
    people = tile(report, "Who drives the errors?")
    counts = report.evaluation["empirical"].false_rejects.isel(far_level=0)
    (name,) = [name for name in ("good", "bad") if f"of the FRR of {name}" in people.text]
    assert f"{int(counts.sel(model=name)):,} false rejects of {name}" in people.note


@pytest.mark.parametrize("weighting", ["identity", "pair"])
@of_people
def test_people_stand_by_their_share_in_the_rate(weighting):
    """Those whom the sentence names come first."""
    faces = fk.vmf.mixture(30, 16, seed=0, kappa=(4, 20)).sample(6, seed=1)
    few = faces.isel(image=np.arange(180) % 6 < 2 + np.arange(180) // 6 % 5)  # 2 to 6 of a person
    report = fk.report(few, far=[0.05], weighting=weighting, quick=True, progress=False)
    table = report.tables["False rejects at FAR 0.05"]
    shares = [cell.numbers[""] for cell in table["share in the FRR"]]
    assert shares == sorted(shares, reverse=True)
    assert any(", ".join(table.index[:3]) in answer for answer in report.answers)
    scores = fk.score_tensor(few)
    who = fk.errors_by_person(scores, far=[0.05], weighting=weighting).isel(far_level=0)
    score, person = scores.values, few.identity.values
    row, col = np.triu_indices(len(person), 1)
    same = person[row] == person[col]
    for name in person[[0, 5, 50]]:
        mine = same & (person[row] == name)
        rejected = (score[row, col][mine] <= who.threshold.item()).sum()
        assert who.false_rejects_identity.sel(identity=name) == rejected
        assert who.genuine_pairs_identity.sel(identity=name) == mine.sum()
        both = (person[row] == name) | (person[col] == name)
        accepted = (score[row, col][~same & both] > who.threshold.item()).sum()
        assert who.false_accepts_identity.sel(identity=name) == accepted


@pytest.mark.parametrize(
    ("accepts", "rejects", "place", "fewer"),
    [
        ([300, 40, 3], [5, 50, 90], 1, [0.1, 0.001]),
        ([300, 200, 30], [30, 50, 90], 2, []),
        ([20, 9, 1], [9, 12, 15], 0, [0.1, 0.01, 0.001]),
        ([300, 40, 3], [0, 0, 0], 1, [0.1, 0.01, 0.001]),
    ],
)
def test_the_leading_level_is_the_lowest_far_with_thirty_errors(accepts, rejects, place, fewer):
    rates = {"far": [0.1, 0.01, 0.001], "false_accepts": accepts, "false_rejects": rejects}
    node = xr.Dataset({name: ("far_level", row) for name, row in rates.items()})
    node = node.assign_coords(far_level=rates["far"])
    assert leading_level(node, "far_level") == ({"far_level": place}, fewer)


@quiet
def test_pairs_without_names_give_what_they_can():
    rng = np.random.default_rng(0)
    genuine = np.arange(2000) % 2 == 0
    pairs = fk.pairs(rng.normal(size=2000) + 2 * genuine, genuine)
    report = fk.report(pairs, far=FAR, progress=False)
    assert "people" not in report.sections
    assert any("do not say whom the images show" in line for line in report.left_out)
    table = report.tables["EER (pooled over pairs, 95 % intervals)"]
    assert table.columns.tolist() == ["EER, independent pairs"]
    assert any("nothing says whom the images show" in line for line in report.cautions)
    assert "new people" not in str(report)


@pytest.mark.slow
def test_fixed_thresholds_take_the_place_of_levels(faces):
    report = fk.report(faces, by="group", threshold=[0.3, 0.5], quick=True, progress=False)
    assert ("good", "0.3") in report.tables["FAR (mean over people, 95 % intervals)"].index
    assert re.search(r"at threshold 0\.[35]", tile(report, "good").text)


@pytest.mark.slow
@quiet
def test_at_fixed_thresholds_no_model_is_better_by_frr_alone(faces):
    """The same scores, shifted, reject less and accept more; a better model does neither."""
    good = fk.score_tensor(faces.sel(model="good", drop=True)).values
    people = faces.identity.values
    lower = good - 0.1 * (people[:, None] == people)  # those of genuine pairs, so that FAR is equal
    matrices = {"good": good, "shifted": good + 0.1, "bad": lower}
    models = {
        name: fk.score_matrix(values, people, people, same_images=True)
        for name, values in matrices.items()
    }
    options = {"threshold": [0.5], "quick": True, "progress": False}
    traded = fk.report({name: models[name] for name in ("good", "shifted")}, **options)
    which = tile(traded, "Which model")
    assert which.state == "undecided" and "is better" not in which.value + which.text
    assert "shifted rejects less and good accepts less" in which.text
    decided = fk.report({name: models[name] for name in ("good", "bad")}, **options)
    assert tile(decided, "Which model").value == "good is better."


@pytest.mark.slow
def test_cautions_stand_once_and_none_is_given_outside(faces):
    few = faces.isel(image=slice(0, 120))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = fk.report(few, by="group", far=[1e-4, 0.05], quick=True, progress=False)
    assert len(report.cautions) == len(set(report.cautions)) > 0


@pytest.mark.slow
def test_progress_is_shown_and_can_stop(faces):
    steps = []
    options = {"far": FAR, "quick": True, "impostors": "all"}
    report = fk.report(faces, **options, progress=lambda *step: steps.append(step))
    assert "Rates of the groups, Measures of disparity: no attribute is named" in report.left_out
    shares = [share for share, _ in steps]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == pytest.approx(1)

    def halt(share, step):
        if step == "Error rates":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fk.report(faces, **options, progress=halt)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"progress": "yes"}, "progress"),
        ({"opening": "score"}, "opening"),
    ],
)
def test_wrong_kinds_of_options_have_a_message(faces, option, message):
    with refused(message):
        fk.report(faces, far=[0.1], **option)


def test_what_is_no_data_and_a_bad_level_are_refused(faces):
    with refused("path"):
        fk.report(3, progress=False)
    with refused("level", 1.5):
        fk.report(faces, level=1.5, progress=False)
    with refused("quick", "no"):
        fk.report(faces, quick="no")


@pytest.fixture(scope="module")
def nasty():
    faces = two_models(groups=(NASTY, "_b $x\x1b[2J\nc \ue000"))  # a letter that no font has
    people = np.char.add(NASTY, faces.identity.values)
    faces = faces.assign_coords(model=[NASTY, "plain"], identity=("image", people))
    return fk.report(faces, by="group", far=FAR, quick=True, progress=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
def test_labels_stay_text_and_the_page_asks_for_nothing(nasty):
    html = page.page(nasty)
    assert "<script" not in html and str(escape(NASTY)) in html
    addresses = re.findall(r"""\b(?:src|href|action)\s*=\s*["']?([^"'\s>]*)""", html)
    assert addresses and all(address.startswith("#") for address in addresses)
    assert "default-src 'none'" in html and html.count("<h2") <= 7
    assert "\x1b" not in str(nasty) and "_b $x" in str(nasty)
    screen = nasty._repr_html_()
    assert "<html" not in screen and screen.count("<figure>") == 3


@pytest.mark.slow
def test_json_has_every_number_typed(report, tmp_path):
    folder = report.save(tmp_path / "out")
    contents = json.loads((folder / "report.json").read_text())
    assert (contents["schema"], contents["schema_version"]) == ("frkit-report", 1)
    values = [v for v in contents["values"] if v["measure"] == "frr" and "contrast" not in v]
    values = [v for v in values if v["model"] == "bad" and v["far"] == 0.05]
    values = {(v["weighting"], v.get("target")): v for v in values}
    pooled = fk.evaluate(fk.score_tensor(two_models()), far=FAR, weighting="pair")["empirical"].frr
    assert values["pair", None]["estimate"] == float(pooled.sel(model="bad", far_level=0.05))
    value = values["identity", "new people"]
    band = report.results["errors", "frr, new people"].sel(model="bad", far_level=0.05)
    assert [value[end] for end in ENDS] == [float(band[end]) for end in ENDS]
    assert value["n_effective"] == float(band.n_effective) and value["interval_level"] == 0.95
    cells = report.tables["FRR (mean over people, 95 % intervals)"].loc[("bad", "0.05")]
    numbers = cells["FRR, new people"].numbers
    assert [numbers[""], numbers["lower"], numbers["upper"]] == [value[end] for end in ENDS]
    assert all("weighting" in value for value in contents["values"])
    row = contents["tables"]["False rejects of bad at FAR 0.05"][0]
    assert 0 < row["share in the FRR"] < 1 and row["false rejects"] <= row["genuine pairs"]
    csv = pd.read_csv(folder / "tables/frr.csv")
    row = csv[(csv.model == "bad") & (csv.FAR == 0.05)].iloc[0]
    assert csv["false accepts"].dtype == int  # written "1,234" it would be text
    assert row["FRR, new people"] == pytest.approx(float(band.estimate), rel=1e-12)
    assert row["FRR, new people, upper"] == pytest.approx(float(band.upper), rel=1e-12)


def test_models_keep_the_names_that_they_are_given():
    names = ["x/arc.face.npz", "cos.csv.gz", "y.JSON", "z.pq", "w.nc4", "v.zarr.zip", "u.zarr"]
    assert list(by_model(names)) == ["arc.face", "cos", "y", "z", "w", "v", "u"]
    with refused("names"):
        by_model(["a/x.npz", "b/x.csv"])
    who = ["ann", "ann", "bob", "bob"]
    first, second = (np.random.default_rng(seed).normal(size=(4, 4)) for seed in (0, 1))
    matrices = {"x": first, "y": second}
    both = together(
        {name: fk.score_matrix(s, who, who, same_images=False) for name, s in matrices.items()}
    )
    np.testing.assert_array_equal(both.sel(model="y").values, second)


def test_a_theme_that_lays_figures_out_gives_no_warning():
    """As in a notebook that begins with fk.plot.set_theme()."""
    faces = fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1)
    with matplotlib.rc_context({"figure.constrained_layout.use": True}):
        report = fk.report(faces, far=[0.1], quick=True, progress=False)
        assert "Scores and threshold" in report._repr_html_()


@pytest.mark.slow
@quiet
def test_people_who_are_split_are_counted_as_people():
    faces = fk.vmf.mixture(20, 16, kappa=(5, 10), seed=0).sample(6, seed=1)
    session = np.tile(["s1", "s1", "s2", "s2", "s3", "s3"], 20)
    faces = faces.assign_coords(session=("image", session))
    options = {"by": "session", "far": [0.05], "quick": True, "progress": False}
    report = fk.report(faces, varying="split", **options)
    counts = "120 images, 20 people (60 combinations of person and session)"
    assert counts in report.answers
    (left_out,) = [
        caution for caution in report.cautions if "genuine pairs are left out" in caution
    ]
    assert left_out.startswith("240 of 300 genuine pairs")
    assert any("of 60 combinations of person and session" in line for line in report.answers)
    assert ("errors", "frr, these people") not in report.results
    methods = report.sections["methods"].lines[0]
    assert "120 images of 20 people, split into 60 by an attribute that" in methods
    assert "within people (2 images each)" in methods
    whole = fk.report(faces.drop_vars("session"), far=[0.05], quick=True, progress=False)
    assert not any("left out" in caution for caution in whole.cautions)


def test_a_far_level_that_tied_scores_skip_is_not_promised():
    genuine = np.arange(600) < 200
    score = np.where(genuine, np.arange(600) % 5, np.arange(600) % 50 == 0)  # 8 of 400 tie at 1
    score = score + 2 * (np.arange(600) == 599)
    report = fk.report(fk.pairs(score, genuine), far=[0.01], quick=True, progress=False)
    reached = report.evaluation["empirical"].far.item()
    assert reached == 1 / 400
    assert "Only 1 false accept (FAR 0.0025)." in tile(report, "How good").text


@pytest.mark.slow
@quiet
def test_the_groups_in_a_figure_of_many_have_the_highest_frr_at_the_leading_level():
    kinds = {f"g{k}": {"kappa": 12} for k in range(9)}  # their curves cross
    faces = fk.vmf.mixture(54, 16, seed=1, groups=kinds).sample(3, seed=1)
    with only_parts("groups"):
        report = fk.report(faces, by="group", far=[0.05], quick=True, progress=False)
    frr = report.evaluation["empirical"].frr_group.isel(far_level=0)
    (title,) = [title for title in report.figures if title.startswith("Groups")]
    assert title.endswith("the 7 with the highest FRR at FAR 0.05")
    ax = report.figures[title](matplotlib.figure.Figure().subplots())
    drawn = {*ax.get_legend_handles_labels()[1]} & {*kinds}
    assert len(drawn) == 7
    left_out = [*{*kinds} - drawn]
    assert frr.sel(group=[*drawn]).min() >= frr.sel(group=left_out).max()


@pytest.mark.slow
@quiet
def test_an_infinite_n_is_not_drawn_as_none():
    kinds = {"easy": {"kappa": 2000}, "hard": {"kappa": 9}}
    faces = fk.vmf.mixture(24, 16, seed=0, groups=kinds).sample(3, seed=1)
    with only_parts("n_sigma"):
        report = fk.report(faces, by="group", far=[0.1], progress=False)
    assert np.isinf(report.results["n_sigma", "n_sigma"].n_absolute).any()
    assert not any("Sigma" in title for title in report.figures)
    assert any("N is infinite" in caution for caution in report.cautions)


@quiet
def test_no_false_accept_is_not_called_only_zero_and_the_other_kind_not_few():
    genuine = np.arange(600) < 200
    score = np.where(genuine, np.arange(600) % 7, np.arange(600) % 4) + np.arange(600) * 1e-5
    pairs = fk.pairs(score, genuine)
    report = fk.report(pairs, far=[0.001], quick=True, progress=False)
    rates = report.evaluation["empirical"]
    assert rates.false_accepts.item() == 0 and rates.false_rejects.item() > 100
    assert "No false accept (FAR 0)." in tile(report, "How good").text
    assert "No false accept sets this threshold." in tile(report, "How good").note
    few = "fewer than ten false accepts or false rejects"
    assert f"* {few}" in str(report) and f"* {few}." in page.page(report)
    assert "does every model make 30 or more false accepts and false rejects" in page.page(report)


@pytest.mark.slow
@quiet
def test_plans_and_shares_that_are_not_detectable():
    """Each plan names its model; RLB of unrelated labels has an upper end, and no width of zero."""
    faces = two_models()
    label = np.where(np.arange(faces.sizes["image"]) // 6 % 2, "x", "y")
    faces = faces.assign_coords(chance=("image", label))
    report = fk.report(faces, by="chance", far=[0.05], progress=False)
    plans = [answer for answer in report.answers if "bring half the width" in answer]
    assert [plan.partition(":")[0] for plan in plans] == ["good", "bad"]
    rlb = report.results["rlb", "rlb"]
    (table,) = [table for name, table in report.tables.items() if name.startswith("RLB")]
    upper = table.numbers()["RLB, upper"].astype(float)
    undetected = (rlb.verdict == "not detectable").values
    assert undetected.any()
    assert np.all(upper[undetected] >= rlb.smallest_detectable.values[undetected])
    assert sum("at most" in answer for answer in report.answers) == undetected.sum()
