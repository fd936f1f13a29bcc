"""The report: its numbers are the API's, its sentences say what the numbers do, labels stay text."""

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import frkit as fk
from frkit.reporting import page
from frkit.reporting.tables import cell, number, p_words

FAR = [0.05, 0.1]
NASTY = "<script>alert('x')</script> $\\frac{1}{0}$ & \"b\""
AT = {"far_level": 0.05}


def two_models(groups=("a", "b"), n=40, per_identity=6):
    """Two encoders, the second worse, on the same images of two groups; the second group is harder."""
    kinds = {groups[0]: {"kappa": 20}, groups[1]: {"kappa": 9}}
    faces = fk.vmf.mixture(n, 16, seed=0, groups=kinds).sample(per_identity, seed=1)
    noise = (
        np.random.default_rng(2).normal(scale=0.12, size=faces.embedding.shape).astype(np.float32)
    )
    return fk.stack_models({"good": faces, "bad": faces.assign(embedding=faces.embedding + noise)})


@pytest.fixture(scope="module")
def faces():
    return two_models()


@pytest.fixture(scope="module")
def found(faces):
    return fk.report(faces, by="group", far=FAR, progress=False)


def test_every_part_is_there(found):
    assert [*found.sections] == [
        "data", "errors", "models", "groups", "fairness", "indices", "n_sigma", "rlb", "people", "plan", "methods",
    ]  # fmt: skip
    assert found.left_out == []
    assert all(isinstance(held, xr.Dataset) for held in found.results.values())
    assert all(isinstance(held, pd.DataFrame) for held in found.tables.values())


def test_numbers_are_those_of_the_api(found, faces):
    scores = fk.score_tensor(faces)
    evaluation = fk.evaluate(scores, far=FAR, by="group")
    for target in ("new people", "these people"):
        xr.testing.assert_equal(
            found.results["errors", f"frr, {target}"], fk.band(evaluation, "frr", target=target)
        )
    compared = fk.compare(evaluation, "frr", models=("good", "bad"), target="new people")
    xr.testing.assert_equal(found.results["models", "frr, good - bad, new people"], compared)
    for name in ("frr_max_min", "far_gini", "fdr", "ir", "eer_spread"):
        band = fk.band(evaluation, name, target="new people")
        xr.testing.assert_equal(found.results["fairness", name], band)
    contrast = fk.compare(
        evaluation.sel(model="bad", drop=True), "frr_group", groups="all", target="new people"
    )
    xr.testing.assert_equal(found.results["groups", "frr_group, contrasts of bad"], contrast)
    xr.testing.assert_equal(found.results["n_sigma", "n_sigma"], fk.n_sigma(scores, by="group"))
    who = fk.contributions(scores, far=FAR, by="group")
    xr.testing.assert_equal(found.results["people", "contributions"], who)


def test_three_groups_have_a_page(tmp_path):
    """The table of contrasts of FAR had a column named FAR beside the levels."""
    mix = fk.vmf.mixture(40, 16, seed=0, kappa=(8, 20), groups={name: {} for name in "abc"})
    found = fk.report(mix.sample(5, seed=1), by="group", far=FAR, quick=True, progress=False)
    shown = found.tables["Differences of the groups' FAR, new people"]
    assert shown.columns.tolist() == ["difference of FAR", "p", "p (Holm)"]
    assert found.save(tmp_path / "out").joinpath("report.html").exists()


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_figure_shows_as_many_groups_as_there_are_colours():
    """With 24 groups the legend left no room for the axes."""
    mix = fk.vmf.mixture(32, 16, seed=0, kappa=(8, 20), groups={name: {} for name in "abcdefgh"})
    found = fk.report(mix.sample(5, seed=1), by="group", far=FAR, quick=True, progress=False)
    (name,) = (name for name in found.pictures if name.startswith("Groups"))
    assert name == "Groups, the 7 with the highest FRR"
    (legend,) = found.pictures[name].figure.legends
    rates = fk.evaluate(fk.score_tensor(mix.sample(5, seed=1)), far=fk.far_levels(*FAR), by="group")
    best = str(rates["empirical"].frr_group.mean("far_level").idxmin().values)
    assert set("abcdefgh") - {text.get_text() for text in legend.get_texts()} == {best}


@pytest.mark.parametrize(
    "name", ["frr_max_min", "far_max_difference", "fdr", "garbe", "frr_log_geomean", "eer_spread"]
)
def test_one_sweep_gives_every_permutation_test(found, faces, name):
    alone = fk.permutation_test(fk.score_tensor(faces), name, by="group", far=FAR, n=999)
    together = found.results["fairness", f"{name}, permutation"]
    xr.testing.assert_allclose(together.p, alone.p.transpose(*together.p.dims))


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_floors_are_those_of_the_api(found, faces):
    scores = fk.score_tensor(faces)
    evaluation = fk.evaluate(scores, far=FAR, by="group")
    floor = fk.fair_floor(evaluation, "frr_max_min", target="new people")
    xr.testing.assert_equal(found.results["fairness", "frr_max_min, floor"], floor)
    draws = fk.Resampling("identity", n=200, seed=0)
    drawn = fk.evaluate(scores, far=FAR, by="group", resampling=draws, histogram=100)
    floor = fk.fair_floor(drawn, "auc_spread", target="new people")
    xr.testing.assert_equal(found.results["fairness", "auc_spread, floor"], floor)


def test_two_models_have_the_intervals_of_each_alone(found, faces):
    for model in ("good", "bad"):
        own = fk.evaluate(fk.score_tensor(faces.sel(model=model, drop=True)), far=FAR, by="group")
        for name in ("frr_max_min", "far_gini"):
            both = found.results["fairness", name].sel(model=model, drop=True)
            xr.testing.assert_allclose(both, fk.band(own, name, target="new people"))


def test_cells_hold_the_results(found):
    table = found.tables["FRR with 95% intervals"]
    one = found.results["errors", "frr, new people"].sel(model="bad", **AT)
    ends = [float(one[name]) for name in ("estimate", "lower", "upper")]
    assert table.loc[("bad", "0.05"), "FRR, new people"] == cell(*ends)
    counts = found.evaluation["empirical"].sel(model="bad", **AT)
    assert table.loc[("bad", "0.05"), "false rejects"] == f"{int(counts.false_rejects):,}"
    (table,) = (
        held
        for caption, held in found.tables.items()
        if caption.startswith("Measures of disparity")
    )
    row = table.loc[("ir", "good", "0.1")]
    assert row["p (permutation)"] == p_words(
        float(found.results["fairness", "ir, permutation"].p.sel(model="good")[1])
    )
    frr = found.tables["Rates of the groups at one threshold for all, new people"].loc[
        ("good", "0.1", "b")
    ]
    one = found.results["groups", "far_group"].sel(model="good", far_level=0.1, group="b")
    assert frr["FAR of the group"] == cell(*(float(one[k]) for k in ("estimate", "lower", "upper")))


def test_sentences_say_which_model_is_better_and_which_group_is_worst(found):
    answers = "\n".join(found.answers)
    assert "good is better than bad at every level" in answers
    assert "bad: most rejected at FAR 0.05: b, FRR" in answers
    assert re.search(r"the difference is clear \(p [=<] 0\.00\d\)", answers)
    frr, eer = (
        found.results["errors", f"{rate}, new people"].sel(model="bad") for rate in ("frr", "eer")
    )
    worth = float(frr.sel(AT).n_effective)
    frr, eer = (
        cell(*(float(one[k]) for k in ("estimate", "lower", "upper"))) for one in (frr.sel(AT), eer)
    )
    said = f"FRR of bad at FAR 0.05: {frr}, worth {worth:,.0f} independent comparisons; EER: {eer} "
    assert f"{said}(95% intervals for new people)." in answers
    rlb = found.results["rlb", "rlb"].sel(model="bad")
    ends = [float(rlb.rlb + times * rlb.rlb_se) for times in (0, -1.96, 1.96)]
    assert f"(RLB {cell(*ends)}, {rlb.verdict.item()})" in answers
    sfi = found.results["indices", "indices"].sel(model="bad", variant="normal")
    assert f"Score distributions of bad: SFI {float(sfi.sfi):.4g} (p " in answers
    worst = found.results["people", "contributions"].sel(model="bad", **AT)
    share = np.sort(worst.frr_share.values)[::-1]
    half = next(n for n in range(1, share.size + 1) if share[:n].sum() >= 0.5)
    assert f"Half of the FRR of bad at FAR 0.05 comes from {half} of {share.size} people" in answers
    table = found.tables["False rejections of bad at FAR 0.05"]
    assert table["own FRR"].tolist() == [
        number(float(worst.frr_identity.sel(identity=who))) for who in table.index
    ]
    assert f"most from {worst.identity.values[int(np.argmax(worst.frr_share.values))]}" in answers


def test_models_that_are_alike_leave_the_question_open():
    faces = fk.vmf.mixture(20, 16, kappa=(8, 20), seed=0).sample(5, seed=1)
    noise = (
        np.random.default_rng(0).normal(scale=1e-3, size=faces.embedding.shape).astype(np.float32)
    )
    same = fk.stack_models({"x": faces, "y": faces.assign(embedding=faces.embedding + noise)})
    found = fk.report(same, far=FAR, quick=True, progress=False)
    assert any("remains open" in line for line in found.sections["models"].answers)
    assert any(
        line.startswith("Groups, Fairness measures: no attribute was named")
        for line in found.left_out
    )
    (line,) = (line for line in found.left_out if "quick=True" in line)
    assert "auc_spread" in line


def test_the_card_counts_by_hand(faces):
    faces = faces.sel(model="good", drop=True)
    copied = faces.embedding.values.copy()
    copied[1] = copied[0]  # of one person
    copied[-1] = copied[2]  # of two people
    found = fk.report(
        faces.assign(embedding=(faces.embedding.dims, copied)), by="group", far=FAR, quick=True
    )
    card = found.tables["What was compared"].iloc[:, 0]
    assert (
        card["images"] == "240" and card["people"] == "40" and card["images per person"] == "6 each"
    )
    assert card["genuine comparisons"] == "600, none failed"
    assert card["impostor comparisons"] == f"{240 * 239 // 2 - 600:,}, none failed"
    assert found.sections["data"].lines == [
        "4 images share their embedding with another image: duplicates, which make FRR look lower; 2 of them with an "
        "image of another person: wrong labels."
    ]
    assert found.tables["Groups"].loc["a"].tolist() == ["20", "120"]


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_failed_comparisons_are_counted_on_both_sides():
    rng = np.random.default_rng(0)
    people = np.repeat([f"p{k}" for k in range(12)], 2)
    same = people[:, None] == people[None, :]
    scores = rng.normal(size=same.shape) + 1.5 * same
    scores[0, 0] = scores[0, 1] = scores[3, 7] = np.nan
    found = fk.report(fk.score_matrix(scores, people, people), far=[0.1, 0.2], progress=False)
    card = found.tables["What was compared"].iloc[:, 0]
    assert card["genuine comparisons"] == f"{same.sum()}, 2 failed and left out"
    assert card["impostor comparisons"] == f"{(~same).sum()}, 1 failed and left out"
    row, col = np.indices(same.shape).reshape(2, -1)
    names = [f"i{k}" for k in range(24)]
    pairs = fk.pairs(
        scores.ravel(), same.ravel(), probe=np.char.add("r", row.astype(str)), reference=np.array(names)[col],
        probe_identity=people[row], reference_identity=people[col],
    )  # fmt: skip
    card = fk.report(pairs, far=[0.1, 0.2], progress=False).tables["What was compared"].iloc[:, 0]
    assert card["genuine comparisons"] == "48, 2 failed and left out"
    assert card["impostor comparisons"].endswith(", 1 failed and left out")


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_impostor_comparisons_fail_alone_in_a_symmetric_tensor():
    scores = fk.score_tensor(two_models(n=12).sel(model="good", drop=True)).copy()
    one, other = scores.probe.values[[0, -1]]
    between = scores.probe.isin([one, other]) & scores.reference.isin([one, other])
    failed = between & (scores.probe != scores.reference)
    card = (
        fk.report(scores.where(~failed), far=[0.1, 0.2], progress=False)
        .tables["What was compared"]
        .iloc[:, 0]
    )
    assert card["genuine comparisons"] == "180, none failed"
    assert card["impostor comparisons"] == f"{72 * 71 // 2 - 180:,}, 1 failed and left out"


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_measure_of_variables_that_are_not_there_is_left_out(faces):
    fk.measures.register("of_a_stranger", fair=0.0)(lambda tallies: tallies.stranger.std("group"))
    report = fk.report(faces.sel(model="good"), by="group", far=[0.1], quick=True, progress=False)
    lines = report.sections["fairness"].lines
    assert any(line.startswith("Left out, of_a_stranger") for line in lines)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("names", ["ab", "abc"])
def test_groups_without_an_error_are_said_to_be_equal(names):
    people = fk.vmf.mixture(24, 16, kappa=(2000, 3000), seed=1, groups={name: {} for name in names})
    found = fk.report(
        fk.score_tensor(people.sample(4, seed=2)), by="group", far=[0.1], quick=True, progress=False
    )
    text = " ".join(str(found).split())  # whole sentences: the text breaks its lines
    assert "All groups have the same FRR at FAR 0.1: 0." in text and "nan" not in text
    assert "Group FRRs at FAR 0.1: no ratio is known, for want of errors (p = 1.000)" in text


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_pairs_without_names_give_what_they_can():
    rng = np.random.default_rng(0)
    genuine = np.arange(2000) % 2 == 0
    found = fk.report(
        fk.pairs(rng.normal(size=2000) + 2 * genuine, genuine), far=FAR, progress=False
    )
    assert "errors" in found.sections and "people" not in found.sections
    assert any("do not say who the images show" in line for line in found.left_out)
    (left,) = (line for line in found.sections["errors"].lines if "these people" in line)
    assert left.startswith("Left out, FRR and EER for these people: ")
    assert found.tables["EER with 95% intervals"].columns.tolist() == ["EER, independent pairs"]
    assert any(
        "nobody is named: intervals are about independent pairs" in line for line in found.cautions
    )
    assert "new people" not in str(found) + " ".join([*found.figures, *found.tables])


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_comparisons_that_stand_twice_in_a_list_are_told():
    rng = np.random.default_rng(0)
    row, col = np.triu_indices(40, 1)
    scores, same = rng.normal(size=row.size) + (row // 4 == col // 4), row // 4 == col // 4
    names = np.array([f"i{k}" for k in range(40)])
    once = {"probe": names[row], "reference": names[col]}
    again = {
        "probe": np.r_[names[row], names[col[:7]]],
        "reference": np.r_[names[col], names[row[:7]]],
    }
    both = [fk.pairs(np.resize(scores, len(held["probe"])), np.resize(same, len(held["probe"])), **held)
            for held in (once, again)]  # fmt: skip
    told = [
        [line for line in fk.report(one, far=[0.1], progress=False).cautions if "repeat" in line]
        for one in both
    ]
    words = f"7 of {row.size + 7} comparisons repeat the two images of another one, in this or the other order"
    assert told == [[], [words]]


def test_cautions_are_about_the_levels_that_were_asked(faces):
    some = faces.sel(model="bad").isel(image=slice(60, 180))
    at = {
        far: fk.report(some, by="group", far=[far], quick=True, progress=False).cautions
        for far in (0.1, 0.4)
    }
    assert at[0.1] == []  # the curves of its figures reach levels with fewer errors
    lines = [line.partition(":")[0] for line in at[0.4] if line.startswith("fewer than ten errors")]
    assert lines == [
        "fewer than ten errors at FAR 0.4 of group 'a'"
    ]  # "in some group" would say it again


def test_fixed_thresholds_take_the_place_of_levels(faces):
    found = fk.report(faces, by="group", threshold=[0.3, 0.5], quick=True, progress=False)
    assert {"FAR with 95% intervals", "FRR with 95% intervals"} <= set(found.tables)
    assert not any(
        "auc_spread" in line for line in found.sections["fairness"].lines
    )  # quick=True says it
    assert ("good", "0.3") in found.tables["FAR with 95% intervals"].index
    resolved = found.results["errors", "frr, new people"].resolved
    for name in ("good", "bad"):  # of what is resolved the highest threshold
        highest = float(resolved.threshold_level[resolved.sel(model=name)].max())
        assert f"FRR of {name} at threshold {highest:g}: " in str(found)


def test_cautions_stand_once_and_none_is_given_outside(faces):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fk.report(
            faces.isel(image=slice(0, 120)),
            by="group",
            far=[1e-4, 0.05],
            quick=True,
            progress=False,
        )
    assert len(found.cautions) == len(set(found.cautions)) > 0
    assert (
        sum("below the weight of one impostor pair" in line for line in found.cautions) == 2
    )  # one for each model


def test_progress_is_told_and_can_stop(faces):
    told = []
    fk.report(faces, far=FAR, quick=True, progress=lambda share, words: told.append((share, words)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == pytest.approx(1)

    def halt(share, words):
        if words == "Error rates":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fk.report(faces, far=FAR, quick=True, progress=halt)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 1.5}, "level"),
        ({"quick": "no"}, "quick must be True or False"),
        ({"colour": 1}, "report has no option 'colour'"),
        ({"by": "age"}, "by='age' is no attribute of these scores; known: group, identity"),
        ({"far": [2.0]}, r"far must lie in \(0, 1\)"),
    ],
)
def test_bad_options_are_one_line(faces, options, words):
    with pytest.raises(fk.InputError, match=words) as error:
        fk.report(faces, progress=False, **options)
    assert "\n" not in str(error.value)


def test_what_is_no_data_is_refused():
    for wrong in (3, xr.Dataset(), {"a": 3}, np.eye(3)):
        with pytest.raises(fk.InputError, match="a report is made from faces, scores or the path"):
            fk.report(wrong)


# --- how it shows --------------------------------------------------------------------------------------------------


class Texts(HTMLParser):
    """All tags and all text of a page."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.addresses = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [
            value
            for name, value in attrs
            if name in ("src", "href", "xlink:href", "action", "data")
        ]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def nasty():
    faces = two_models(groups=(NASTY, "_b $x\x1b[2J\nc"))
    faces = faces.assign_coords(
        model=[NASTY, "plain"], identity=("image", np.char.add(NASTY, faces.identity.values))
    )
    return fk.report(faces, by="group", far=FAR, quick=True, progress=False)


@pytest.fixture(scope="module")
def html(nasty):
    return page.page(nasty)


def test_labels_stay_text_in_the_page(html):
    seen = Texts(html)
    assert "script" not in seen.tags and "<script" not in html
    assert any(NASTY in text for text in seen.texts)
    svg = next(iter(re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)))
    assert "<script" not in svg


def test_the_page_asks_for_nothing(html):
    assert [address for address in Texts(html).addresses if not address.startswith("#")] == []
    assert "http" not in "".join(re.findall(r"url\([^)]*\)|@import.*", html))
    assert "default-src 'none'" in html


def test_names_inside_the_figures_of_one_page_do_not_meet(html):
    names = re.findall(r'\bid="([^"]+)"', html)
    assert len(names) == len(set(names)) > 0
    assert {name[1:] for name in Texts(html).addresses} <= set(names)


def test_a_caption_is_whole_where_its_lines_were_broken(html):
    words = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    paired = [one for one in words if "band of the paired" in one]
    ending = ": 95 % effective band of the paired difference; about new people"
    assert paired and all(one.endswith(ending) for one in paired)


def test_the_text_is_short_and_holds_no_control_sign(nasty, found):
    assert str(nasty) == repr(nasty) and len(str(found).splitlines()) < 60
    assert "\x1b" not in str(nasty) and "_b $x" in str(nasty)


def test_the_page_of_a_notebook_is_the_same_without_its_frame(nasty, html):
    own = nasty._repr_html_()
    assert own in html and "<html" not in own and "<body" not in own
