"""What the README, CONTRIBUTING and the documentation promise: examples, commands, names and
links."""

import re
from contextlib import redirect_stdout
from io import StringIO

import local
import numpy as np
import print_readme_numbers
import pytest
from paths import ROOT

import frkit as fk

README = (ROOT / "README.md").read_text(encoding="utf-8")


def example(text, language="python"):
    return re.search(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]


QUESTIONS = (ROOT / "binder/docs/questions.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_readme_shows():
    printed = StringIO()
    with redirect_stdout(printed):
        exec(example(README), {})
    assert printed.getvalue().split() == example(README, "text").split()


@pytest.mark.slow
def test_the_readme_compares_with_the_numbers_of_the_tables(capsys):
    """Each number that the script prints stands in the README."""
    print_readme_numbers.main()
    printed = re.findall(r"[\d,]*\.?\d+", capsys.readouterr().out)
    text = README.split("## What it does")[1].split("## Limits")[0]
    stated = re.findall(r"(?<![\d.])[\d,]*\.?\d+", text)
    assert len(printed) == 15
    assert [number for number in printed if number.removeprefix("0") not in stated] == []


def test_the_lines_for_users_of_other_libraries_run():
    """And agree with scikit-learn, as the page asserts."""
    text = (ROOT / "binder/docs/from_others.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    names = {}
    with redirect_stdout(StringIO()) as printed:
        for block in blocks:
            exec(block, names)
    assert len(blocks) == 4 and "FRR (mean over people)" in printed.getvalue()


def test_the_commands_are_understood():
    from frkit.__main__ import parser

    commands = re.findall(r"^\S*frkit ((?:demo|report|check) .*)$", README, re.MULTILINE)
    assert len(commands) >= 1
    for command in commands:
        parser().parse_args(command.split())
    for verb in re.findall(r"^python3 binder/local.py +(\w+) +#", README, re.MULTILINE):
        assert f"local.py {verb}" in local.__doc__


def test_the_names_exist():
    names = re.findall(r"`fk\.([\w.]+)", QUESTIONS)
    assert len(names) > 15
    for name in names:
        value = fk
        for part in name.split("."):
            value = getattr(value, part)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "data/README.md"])
def test_the_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)", text)
    files = [target for target in targets if "://" not in target]
    assert [name for name in files if not (ROOT / page).parent.joinpath(name).exists()] == []


@pytest.mark.slow
def test_the_measure_of_contributing_works(monkeypatch):
    names = {}
    exec(example((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")), names)
    empirical = fk.demo_evaluation()["empirical"].to_dataset()
    total = fk.measures.measure("half_total_error")(empirical)
    np.testing.assert_allclose(total, (empirical.far + empirical.frr) / 2)


def test_the_formulas_stand_where_contributing_says():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split("Where a formula stands")[1].split("Arguments are checked")[0]
    rows = re.findall(r"^\| [^|]+ \| (`.*`) \|$", table, re.MULTILINE)
    assert len(rows) > 9
    for part in "; ".join(rows).split("; "):
        *functions, file = re.findall(r"`([^`]+)`", part)
        source = (ROOT / "frkit" / file).read_text(encoding="utf-8")
        assert [name for name in functions if f"def {name}(" not in source] == [], file


PACKAGES = "measures plot indices nsigma representation vmf studies explore".split()


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_the_reference_has_every_public_name(package):
    page = (ROOT / "binder/docs/api.md").read_text(encoding="utf-8")
    name = f"frkit.{package}".rstrip(".")
    lists = re.findall(rf"currentmodule:: {name}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    listed = set(re.findall(r"^   (\w+)$", "".join(lists), re.MULTILINE))
    place = getattr(fk, package) if package else fk
    for name in public_names(place):
        value = getattr(place, name)
        is_listed_at_top = package and value is getattr(fk, name, None)
        assert name in listed or is_listed_at_top or not callable(value)


def public_names(place):
    return getattr(place, "__all__", None) or [name for name in dir(place) if name[0] != "_"]
