"""Tables for papers, and the words about an evaluation."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
import yaml
from paths import ROOT
from refusals import refused

import frkit as fk
from frkit.findings.formats import cell, decimals_of, fixed, number, p_words
from frkit.findings.tables import Table
from frkit.reporting.words import bibtex

FAR = [0.05, 0.1]
FRR = "FRR (mean over people)"


@pytest.fixture(scope="module")
def evaluation():
    groups = {"a": {}, "b": {}}
    mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0, groups=groups)
    faces = mix.sample(6, seed=0)
    other = faces.assign(embedding=mix.sample(6, seed=1).embedding)
    scores = fk.score_tensor(fk.open_data({"one": faces, "two": other}))
    return fk.evaluate(scores, far=FAR, by="group", resampling=fk.Resampling("image", n=20))


@pytest.mark.parametrize(
    ("three", "text"),
    [
        ((-0.0536, -0.0698, -0.0377), "−0.054 [−0.070, −0.038]"),
        ((2.0, 1.0, np.inf), "2 [1, ∞]"),
        ((np.nan, 1.0, 10.5), "– [1.0, 10.5]"),
        ((123.4, 100.2, 151.7), "123 [100, 152]"),
        ((-0.001, -0.12, 0.11), "0.00 [−0.12, 0.11]"),
    ],
)
def test_a_cell_has_two_digits_of_its_width(three, text):
    assert cell(*three, decimals=decimals_of(*three[1:])) == text


def test_a_mapping_names_columns(evaluation):
    targets = ["new people", "these people"]
    bands = {target: fk.band(evaluation, "frr", target=target) for target in targets}
    table = fk.table(bands)
    assert table.columns.tolist() == targets
    direct = fk.table(bands["these people"]).loc[("two", "0.05"), FRR]
    assert table.loc[("two", "0.05"), "these people"] == direct


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_bands_floors_indices_and_n_sigma_join():
    mix = fk.vmf.mixture(40, 16, seed=0, groups={"a": {"kappa": 12}, "b": {"kappa": 20}})
    scores = fk.score_tensor(mix.sample(5, seed=1))
    ev = fk.evaluate(scores, far=FAR, by="group", resampling=fk.Resampling("identity", n=20))
    floor = fk.fair_floor(ev, "frr_max_min")
    sigma = fk.n_sigma(scores, by="group", subsets=10, fpr=0.1)
    indices = fk.fairness_indices(scores, by="group", bins=10, permutations=20)
    table = fk.table(fk.band(ev, "frr_max_min", target="new people"), floor, indices, sigma)
    row = table.xs(("FRR max/min", "0.05"), level=("measure", "FAR")).iloc[0]
    level = {"far_level": 0.05}
    assert row["fair model up to"] == fixed(float(floor.limit.sel(level)), 2)
    assert row["p (floor)"] == p_words(float(floor.p.sel(level)))
    sfi = indices.sel(variant="extremal")
    row = table.xs("SFI extremal", level="measure").iloc[0]
    assert row["value"] == number(float(sfi.sfi))
    assert row["p (random groups)"] == p_words(float(sfi.sfi_p))
    row = table.xs(("N", "a"), level=("measure", "group")).iloc[0]
    first = sigma.sel(group="a")
    assert row["value"] == f"{number(float(first.n_signed))} ({first.risk.item()})"
    assert "FRR max/min" in table.index.get_level_values("measure") and len(table) == 2 + 9 + 2


def test_contrasts_of_groups_are_named():
    mix = fk.vmf.mixture(30, 16, seed=0, kappa=(8, 20), groups={"a": {}, "b": {}, "c": {}})
    evaluation = fk.evaluate(fk.score_tensor(mix.sample(5, seed=1)), far=[0.1], by="group")
    differences = fk.compare(evaluation, "frr_group", groups="all", target="new people")
    table = fk.table(differences)
    assert table.index.get_level_values("contrast").tolist() == ["a − b", "a − c", "b − c"]
    assert table["p (Holm)"].tolist() == [p_words(p) for p in differences.p_holm.values.ravel()]


def test_what_is_no_result_is_refused():
    with pytest.raises(fk.InputError, match="a table takes what band"):
        fk.table(3)
    with pytest.raises(fk.InputError, match="needs a result"):
        fk.table()


NASTY = r"<script>alert(1)</script> & $\frac{1}{2}$ 50 % a_b #1 ~ ^ | ` *"


def test_labels_are_escaped_in_latex_and_csv():
    table = Table({NASTY: [NASTY]})
    latex = table.to_latex()
    assert r"\textless{}script\textgreater{}" in latex
    assert r"\$\textbackslash frac\{1\}\{2\}\$" in latex
    assert next(csv.reader(io.StringIO(table.to_csv()))) == [NASTY]


@pytest.mark.parametrize("label", ["=1+1", "+a", "-a", "@x", "\t=1"])
def test_no_label_is_a_formula_in_csv(label):
    written = list(csv.reader(io.StringIO(Table({label: [label, "-0.5", "b"]}).to_csv())))
    assert written == [[f"'{label}"], [f"'{label}"], ["-0.5"], ["b"]]


def test_a_latex_table_has_whole_rows_and_no_label_is_an_option_behind_one():
    table = Table({"[a]": ["[a]", "*"], "b": ["1", "2"]})
    rows = ["{}[a] & b", "{}[a] & 1", "{}* & 2"]
    lines = table.to_latex().splitlines()
    assert [line.removesuffix(r" \\") for line in lines if line.endswith(r"\\")] == rows
    assert lines[0] == r"\begin{tabular}{ll}" and lines[-1] == r"\end{tabular}"


def test_csv_has_numbers(evaluation):
    band = fk.band(evaluation, "frr", target="new people")
    frame = pd.read_csv(io.StringIO(fk.table(band, n_effective=True).to_csv()))
    heads = ["model", "FAR", FRR, f"{FRR}, lower", f"{FRR}, upper", "n effective"]
    assert frame.columns.tolist() == heads
    for head, name in ((FRR, "estimate"), (f"{FRR}, upper", "upper")):
        np.testing.assert_allclose(frame[head], band[name].values.ravel(), rtol=1e-12)
    part = fk.table(band).loc["two"].to_csv()  # a part of a table keeps its numbers
    assert part.splitlines()[0] == f'FAR,{FRR},"{FRR}, lower","{FRR}, upper"'


def test_the_methods_paragraph_is_made_from_the_provenance(evaluation):
    description = fk.describe(evaluation, used=["n_sigma"])
    for phrase in (
        "120 images of 20 people (6 images each)",
        "20 bootstrap replicates",
        "Groups are those of group (a, b)",
    ):
        assert phrase in description.paragraph
    cited = re.findall(r"@\w+\{(\w+),", description.bibtex)
    assert cited == ["frkit", "conti2024", "conti2022", "dealcala2023"]
    assert str(description) == f"{description.paragraph}\n\n{description.bibtex}"
    scores = fk.score_tensor(fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1))
    assert "groups" not in fk.describe(fk.evaluate(scores, far=FAR)).paragraph
    with refused("used", "rates2"):
        fk.describe(evaluation, used=["rates2"])
    with refused("used"):
        fk.describe(evaluation, used=None)


def test_entries_are_whole_and_say_what_the_citation_file_says():
    every = bibtex(["rates", "disparities", "indices", "n_sigma", "rlb"])
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert f"version = {{{citation['version']}}}" in every and citation["version"] == fk.__version__
    for entry, work in zip(every.split("\n\n"), [citation, *citation["references"]]):
        facts = [work["title"].replace("&", r"\&")]
        facts += [str(work[name]) for name in ("year", "doi", "isbn", "url") if name in work]
        facts += [author.get("name") or author["family-names"] for author in work["authors"]]
        assert all(fact in entry for fact in facts), entry
