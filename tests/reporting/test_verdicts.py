"""What a report says about groups: only what was tested, and which groups it leaves out."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import noticed
from report_faces import only_parts
from scipy.stats import chi2_contingency, fisher_exact

import frkit as fk
from frkit.findings.formats import cell, decimals_of, fixed, ratio_cell

quiet = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
pytestmark = pytest.mark.usefixtures("brief_reports")


def three_groups(rates, people=250, seed=0, best="", groups="ABC"):
    """A list of genuine and impostor pairs; groups with these FRRs at threshold 3.

    Half of the best group's people have genuine scores above 4.5, too.
    """
    rng = np.random.default_rng(seed)
    frames = []
    for group, rate in zip(groups, rates):
        rejected = np.arange(people) < round(rate * people)
        first = rng.integers(people, size=3000)
        second = (first + rng.integers(1, people, size=3000)) % people
        id1 = np.append(np.arange(people), first)
        id2 = np.append(np.arange(people), second)
        score = np.append(np.where(rejected, 2.0, 4.0), np.clip(rng.normal(size=3000), -3, 2.9))
        if group == best:
            score[: people // 2] = np.where(rejected[: people // 2], 2.0, 5.0)
        frame = pd.DataFrame({"id1": id1, "id2": id2, "score": score})
        frames.append(frame.assign(group1=group, group2=group))
    table = pd.concat(frames, ignore_index=True)
    for side in ("id1", "id2"):
        table[side] = table.group1 + table[side].astype(str)
    table["genuine"] = table.id1 == table.id2
    return fk.open_data(table, missing=[], columns={"group": ["group1", "group2"]})


def report_of_groups(data, **options):
    with only_parts("groups", "fairness"):
        return fk.report(data, by="group", quick=True, progress=False, **options)


def groups_tile(report, rate="FRR"):
    title = f"Do groups differ in {rate}?"
    return next(tile for tile in report.tiles if tile.title == title)


def by_other_tests(errors, people=250):
    """p of equal groups (chi-square), and of each two groups (Fisher, Bonferroni)."""
    table = [[n, people - n] for n in errors]
    pairs = {"AB": (0, 1), "AC": (0, 2), "BC": (1, 2)}
    p = {name: 3 * fisher_exact([table[a], table[b]])[1] for name, (a, b) in pairs.items()}
    return chi2_contingency(table)[1], p


@pytest.mark.slow
@quiet
@pytest.mark.parametrize(
    ("errors", "headline", "phrase"),
    [
        ((20, 20, 75), "Groups differ.", "“C” is rejected 3.75 times ["),
        ((1, 20, 75), "Groups differ.", "“C” is rejected at least "),
        ((10, 23, 23), "Groups differ; which ones is not resolved.", "no single pair differs"),
        ((20, 22, 24), "No clear difference ", "would be compatible with the data."),
    ],
)
def test_two_groups_are_named_only_where_their_own_contrast_is_significant(
    errors, headline, phrase
):
    scores = three_groups(np.array(errors) / 250)
    report = report_of_groups(scores, threshold=[3.0])
    tile = groups_tile(report)
    assert tile.value.startswith(headline) and phrase in tile.text, tile
    p, p_of_pairs = by_other_tests(errors)
    assert (p <= 0.05) == headline.startswith("Groups differ")
    assert (p_of_pairs["AC"] <= 0.05) == ("“C” is rejected" in tile.text)
    if "at least" in phrase:
        pairs = report.results["groups", "frr_group, pairs"].isel(threshold_level=0)
        (pair,) = [k for k in range(3) if (pairs.a[k], pairs.b[k]) == ("A", "C")]
        least, most = 1 / float(pairs.ratio_upper[pair]), 1 / float(pairs.ratio_lower[pair])
        digits = fixed(least, decimals_of(least, most, "log"), 1)
        assert f"at least {digits} times as often as “A”" in tile.text


@pytest.mark.slow
@quiet
def test_a_pair_of_groups_is_no_surer_than_the_test_of_all():
    """Of two groups both have one p; that of all allows for the test of the FAR, too."""
    report = report_of_groups(three_groups((0.08, 0.164), groups="AB"), threshold=[2.0])
    (caption,) = [name for name in report.tables if name.startswith("Do groups differ")]
    row = report.tables[caption].set_index("rate").loc["FRR"]
    pairs = report.results["groups", "frr_group, pairs"]
    stated = float(row["verdict"].partition("p = ")[2].rstrip(")."))
    assert stated == pytest.approx(float(row["p (Holm)"]), abs=5e-4)
    assert float(pairs.p_holm.squeeze()) < 0.9 * stated


@pytest.mark.slow
@quiet
def test_a_ratio_to_a_group_without_errors_is_not_limited():
    report = report_of_groups(three_groups(np.array((0, 2, 1)) / 250), threshold=[3.0])
    assert np.isinf(report.results["fairness", "frr_max_min"].upper.item())
    assert "Any ratio in FRR" in groups_tile(report).text


@pytest.mark.slow
@quiet
def test_the_largest_possible_ratio_names_its_model():
    alike = fk.vmf.mixture(40, 16, seed=0, kappa=(9, 20), groups={"a": {}, "b": {}})
    faces = alike.sample(5, seed=1)
    noise = np.random.default_rng(0).normal(scale=0.1, size=faces.embedding.shape)
    noisy = faces.assign(embedding=faces.embedding + noise)
    models = fk.open_data({"plain": faces, "noisy": noisy})
    report = report_of_groups(models, far=[0.1])
    for rate in ("frr", "far"):
        upper = report.results["fairness", f"{rate}_max_min"].upper.squeeze()
        text = groups_tile(report, rate.upper()).text
        assert f"in {rate.upper()} ({upper.idxmax().item()})" in text


@pytest.mark.slow
def test_a_group_of_one_person_does_not_silence_the_others():
    faces = fk.vmf.mixture(60, 16, kappa=(10, 60), seed=0).sample(4, seed=1)
    k = np.array([int(name[2:]) for name in faces.identity.values])
    group = np.where(k == 0, "rare", np.where(k % 2, "b", "a"))
    faces = faces.assign_coords(group=("image", group))
    report = report_of_groups(faces, threshold=[0.45])
    tile = groups_tile(report, "FAR")
    assert tile.value == "Groups differ."
    assert "“b” is falsely accepted 1.75 times" in tile.text
    assert "Too few people or pairs to compare: “rare”." in report.answers
    without = report.results["fairness", "far_max_min"]
    assert without.estimate.item() == pytest.approx(1.746, abs=1e-3)
    assert without.p.item() == pytest.approx(0.0167, abs=1e-4)


@pytest.mark.slow
@quiet
def test_ages_as_groups_are_named_in_one_sentence_with_what_to_do():
    faces = fk.vmf.mixture(40, 16, kappa=(10, 60), seed=0).sample(3, seed=1)
    ages = np.repeat(np.r_[np.arange(20, 30).repeat(3), np.arange(30, 40)], 3)  # ten stand alone
    faces = faces.assign_coords(age=("image", ages))
    with only_parts("groups", "fairness"):
        report = fk.report(faces, by="age", far=[0.1], quick=True, progress=False)
    alone = "Too few people or pairs to compare: “30”, “31”, “32”, “33” and 6 more."
    assert alone in report.answers
    (hint,) = [line for line in report.cautions if "pd.cut" in line]
    assert hint.startswith("age makes 20 groups") and "pd.cut" in str(report)


def test_ends_are_not_rounded_across_the_fair_value():
    assert cell(3.2, 1.31, 60.4, decimals=0, fair=1) == "3 [1.3, 60]"
    assert ratio_cell([1.31, 1.004, 2.0]) == "1.31 [1.004, 2.00]"


@pytest.mark.slow
@quiet
def test_few_people_and_few_errors_are_said_so():
    faces = fk.vmf.mixture(8, 16, kappa=(10, 40), seed=0).sample(6, seed=1)
    report = fk.report(faces, far=[0.1], quick=True, progress=False)
    assert [*report.sections] == ["errors", "data", "methods"]
    assert [*report.figures] == ["Scores and threshold"]
    (tile,) = report.tiles
    assert (tile.value, tile.state) == ("Too little data.", "too little data")
    assert tile.text.startswith("8 people have a genuine pair.")
    good = fk.vmf.mixture(30, 64, kappa=(3000, 3001), seed=0).sample(4, seed=1)
    report = fk.report(good, far=[0.01], quick=True, progress=False)
    upper = report.results["errors", "frr, new people"].upper.item()
    assert report.tiles[0].value == f"FRR at most {100 * upper:.1f} %"
    assert "no error in 180 genuine pairs" in report.tiles[0].text


def test_two_models_are_compared_without_their_names():
    faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(4, seed=1)
    worse = faces.assign(embedding=faces.embedding.round(1))
    scores = fk.score_tensor(fk.open_data({"x": faces, "y": worse}))
    evaluation = fk.evaluate(scores, far=[0.1])
    named = fk.compare(evaluation, "frr", models=("x", "y"))
    xr.testing.assert_identical(fk.compare(evaluation, "frr"), named)


def test_levels_that_tied_scores_skip_are_explained():
    genuine = np.arange(300) < 100
    score = np.where(genuine, 1.0, np.arange(300) % 10 == 0)  # 20 of 200 impostors at 1
    pairs = fk.pairs(score, genuine)
    with noticed("FAR levels 0.05"):
        fk.evaluate(pairs, far=[0.05])


@pytest.mark.filterwarnings("default::frkit.DataWarning")
def test_a_group_that_most_replicates_lack_has_no_interval():
    faces = fk.vmf.mixture(25, 16, kappa=(15, 40), seed=0).sample(4, seed=1)
    k = np.array([int(name[2:]) for name in faces.identity.values])
    faces = faces.assign_coords(group=("image", np.where(k < 2, "rare", "others")))
    options = {"by": "group", "resampling": fk.Resampling(n=300, seed=1)}
    evaluation = fk.evaluate(fk.score_tensor(faces), threshold=[0.5], **options)
    with noticed("replicates"):
        band = fk.band(evaluation, "far_group", method="naive").isel(threshold_level=0)
    assert int(band.n_nonfinite.sel(group="rare")) > 150
    assert np.isnan(band.lower.sel(group="rare")) and np.isnan(band.upper.sel(group="rare"))
    assert np.isfinite(band.upper.sel(group="others"))


def with_groups(group_of_person, seed=5):
    """Embeddings of as many people as there are groups in the list."""
    faces = fk.vmf.mixture(len(group_of_person), 16, kappa=(8, 60), seed=seed).sample(4, seed=1)
    return faces.assign_coords(group=("image", np.repeat(group_of_person, 4)))


@pytest.mark.slow
@quiet
@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (25 * ["A"] + ["one"], "“one”."),
        (25 * ["A"] + ["b", "c"], "“b”, “c”."),
        ([f"g{k}" for k in range(12)], "“g0”, “g1”, “g10”, “g11” and 8 more."),
    ],
)
def test_one_group_with_a_rate_is_said_so_and_its_rates_are_shown(groups, sentence):
    faces = with_groups(groups)
    report = report_of_groups(faces, far=[0.05, 0.1])
    for rate in ("FRR", "FAR"):
        tile = groups_tile(report, rate)
        assert (tile.value, tile.state) == ("Cannot be decided.", "too little data")
        assert tile.text == f"Too few people or pairs to compare: {sentence}"
    evaluation = fk.evaluate(fk.score_tensor(faces), by="group", far=[0.05, 0.1])
    shown = report.results["groups", "frr_group"]
    xr.testing.assert_equal(shown.estimate, fk.band(evaluation, "frr_group").estimate)
    (name,) = [name for name in report.tables if name.startswith("Rates of the groups")]
    assert len(report.tables[name]) == 2 * len({*groups})
    (line,) = [line for line in report.left_out if line.startswith("Measures of disparity: ")]
    assert "needs two groups with two people each" in line and "frr_group" not in str(report)


@pytest.mark.slow
@quiet
def test_measures_of_the_rate_that_two_groups_have_are_shown():
    """Nobody of the second group is compared with another one of it: it has an FRR, and no FAR."""
    rng = np.random.default_rng(0)
    people = [f"{group}{k}" for group in "ab" for k in range(15)]
    rows = [(person, person, rng.normal(3)) for person in people for _ in range(4)]
    rows += [(p, q, rng.normal()) for p in people for q in people if p < q and p[0] == "a"]
    frame = pd.DataFrame(rows, columns=["id1", "id2", "score"])
    for side in "12":
        frame[f"group{side}"] = frame[f"id{side}"].str[0]
    frame["genuine"] = frame.id1 == frame.id2
    scores = fk.open_data(frame, columns={"group": ["group1", "group2"]})
    report = report_of_groups(scores, far=[0.1])
    assert ("fairness", "frr_max_min") in report.results
    assert ("fairness", "far_max_min") not in report.results
    (line,) = [line for line in report.sections["fairness"].lines if "FAR max/min" in line]
    assert line.endswith("which is not so of 'b'")
    tile = groups_tile(report, "FAR")
    assert tile.text == "Too few people or pairs to compare: “b”."
    assert (tile.value, tile.state) == ("Cannot be decided.", "too little data")


@quiet
def test_a_test_that_people_in_two_groups_prevent_is_not_called_too_little_data():
    faces = with_groups(np.array(12 * ["A"] + 12 * ["B"]))
    groups = faces.group.values.copy()
    groups[::12] = groups[1::12] = "B"  # two images of every third person
    report = report_of_groups(
        faces.assign_coords(group=("image", groups)), varying="split", far=[0.1]
    )
    tile = groups_tile(report)
    assert tile.state == "not tested"
    assert "in several groups" in tile.text and "identities" not in tile.text


@pytest.mark.slow
@quiet
def test_people_without_a_label_are_counted():
    groups = np.array(12 * ["A"] + 12 * ["B"] + 6 * [""])
    whole = with_groups(groups)
    report = report_of_groups(whole, far=[0.1])
    assert "group: A 12, B 12 (images of 6 people have no label)" in report.answers
    counts = report.tables["Groups"]
    assert counts.loc["no label: in no group"].tolist() == ["6", "24"]
    fewer = whole.isel(image=np.r_[0:110])  # two people less, and half of one
    counts = report_of_groups(fewer, far=[0.1]).tables["Groups"]
    assert counts.loc["no label: in no group"].tolist() == ["4", "14"]
    all_have = report_of_groups(whole.isel(image=slice(0, 96)), far=[0.1]).tables["Groups"]
    assert all_have.index.tolist() == ["A", "B"]


@pytest.mark.slow
@quiet
def test_a_verdict_names_its_level_and_the_table_has_the_others():
    """Rejects at threshold 3 are equal; at 4.5 the third group has half as many."""
    for shifted in (False, True):
        scores = three_groups((0.1, 0.1, 0.1), best="C" if shifted else "")
        report = report_of_groups(scores, threshold=[3.0, 3.5, 4.5])
        tile = groups_tile(report)
        assert tile.value == "No clear difference at threshold 3."
        assert tile.note.startswith("At threshold 3, one threshold for all groups")
        p = fk.band(report.evaluation, "frr_max_min").p.values
        assert p[0] > 0.05 and p[1] > 0.05 and (p[2] < 0.001) == shifted


@pytest.mark.slow
@quiet
@pytest.mark.parametrize(("errors", "state"), [(8, "undecided"), (14, "clear")])
def test_few_errors_in_both_groups_are_undecided_and_counted(errors, state):
    scores = three_groups((0, 0, errors / 40), people=40)
    tile = groups_tile(report_of_groups(scores, threshold=[3.0]))
    assert tile.state == state and "“C” is rejected at least" in tile.text
    assert (f"{errors} errors in all" in tile.text) == (state == "undecided")
    assert (tile.value == "Groups differ.") == (state == "clear")


@pytest.mark.slow
@quiet
def test_intervals_of_pairs_are_told_from_those_of_measures():
    report = report_of_groups(three_groups((0.1, 0.1, 0.3)), threshold=[3.0])
    assert any("not adjusted" in line for line in report.sections["groups"].lines)


@quiet
@pytest.mark.parametrize("errors", [7, 3])
def test_people_with_equal_shares_are_counted_together(errors):
    scores = three_groups((errors / 60, 0, 0), people=60)
    report = fk.report(scores, threshold=[3.0], quick=True, progress=False)
    (answer,) = [line for line in report.answers if "of the FRR" in line]
    assert answer.startswith(f"{errors} of 180 people make 100 % of the FRR")


@pytest.mark.slow
@quiet
def test_ends_and_estimates_at_the_fair_value_are_that_value():
    n_at_fair = 0
    for seed in range(4):
        faces = with_groups(np.repeat(list("ABCDE"), 12), seed)
        evaluation = fk.evaluate(fk.score_tensor(faces), by="group", far=[0.05, 0.1, 0.2])
        for name in ("far_max_geomean", "frr_max_geomean", "far_log_geomean", "eer_spread"):
            band = fk.band(evaluation, name)
            for end in ("estimate", "lower", "upper"):
                near = np.isclose(band[end], band.attrs["fair"], rtol=0, atol=1e-10)
                assert np.all(band[end].values[near] == band.attrs["fair"])
                n_at_fair += near.sum()
            assert np.all((band.lower <= band.estimate) & (band.estimate <= band.upper))
    assert n_at_fair > 5
