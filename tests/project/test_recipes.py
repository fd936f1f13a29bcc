"""What surrounds the code agrees with it: citation, README, Binder's recipe, the set-up script."""

import os
import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import address
import pytest
import yaml
from paths import ROOT


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version():
    source = (ROOT / "frkit/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE).group(1)


def requirement_lines(path):
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def test_binder_recipe_agrees_with_the_rest():
    assert requirement_lines(ROOT / "binder/requirements.txt")[0] == "-r ../requirements.txt"
    assert (ROOT / "binder/runtime.txt").read_text().strip() == "python-3.11"
    assert project()["requires-python"] == ">=3.11"
    for program in ("binder/postBuild", "binder/start", "binder/local.py", ".ci/run"):
        assert os.access(ROOT / program, os.X_OK), f"{program} is not executable"


def test_conda_pip_and_the_tests_need_the_same():
    recipe = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, packages = recipe["dependencies"]
    minimum = project()["requires-python"].removeprefix(">=")
    assert (python, pip, packages) == (f"python={minimum}", "pip", {"pip": ["-r requirements.txt"]})
    *tools, package = requirement_lines(ROOT / "requirements.txt")
    test_tools = project()["optional-dependencies"]["test"]
    for_notebooks = {tool for tool in tools if tool not in test_tools}
    assert {tool.split(">")[0] for tool in for_notebooks} == {"jupyterlab", "voila"}
    assert package == "-e ."


def test_the_lock_has_every_requirement_in_a_version_that_will_do():
    requirements = pytest.importorskip("packaging.requirements")
    assert requirement_lines(ROOT / "binder/requirements.txt")[1:] == ["-c lock.txt"]
    locked = dict(line.split("==") for line in requirement_lines(ROOT / "binder/lock.txt"))
    locked = {name.lower().replace("_", "-"): number for name, number in locked.items()}
    for line in [*project()["dependencies"], *requirement_lines(ROOT / "requirements.txt")[:-1]]:
        requirement = requirements.Requirement(line)
        assert requirement.specifier.contains(locked[requirement.name.lower()]), line


def test_the_address_is_written_everywhere_and_taken_out_again(tmp_path, monkeypatch):
    """Badges, installation and citation follow it; without one no file names an account."""
    names = ["pyproject.toml", "CITATION.cff", "README.md"]
    notebooks = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "notebooks").glob("*.ipynb"))
    (tmp_path / "notebooks").mkdir()
    for name in [*names, *notebooks]:
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    monkeypatch.setattr(address, "ROOT", tmp_path)
    address.main("")
    before = {name: (tmp_path / name).read_bytes() for name in [*names, *notebooks]}
    address.main("https://example.org/first-owner/frkit")
    texts = {name: (tmp_path / name).read_text(encoding="utf-8") for name in before}
    urls = tomllib.loads(texts["pyproject.toml"])["project"]["urls"]
    assert urls == {"Repository": "https://example.org/first-owner/frkit"}
    assert 'repository-code: "https://example.org/first-owner/frkit"\n' in texts["CITATION.cff"]
    for name in ["README.md", *notebooks]:
        target = Path(name).name if name in notebooks else "00_start_here.ipynb"
        place = "mybinder.org/v2/git/https%3A%2F%2Fexample.org%2Ffirst-owner%2Ffrkit/HEAD"
        assert f"{place}?urlpath=lab/tree/notebooks/{target})" in texts[name]
    for name in notebooks:
        assert "%pip install -q git+https://example.org/first-owner/frkit\\n" in texts[name]
    address.main("https://example.org/other/frkit")  # another one takes the place of the first
    assert all(
        "first-owner" not in (tmp_path / name).read_text(encoding="utf-8") for name in before
    )
    address.main("")
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_only_the_address_of_the_project_is_named():
    """No badge, link or installation leads to an account that is not ours."""
    ours = project()["urls"].get("Repository", "none")
    pattern = r"(?:mybinder\.org/v2/|git\+)[^\s)\"\\]*|https://[^\s\"})]*/frkit\b"
    for page in [*ROOT.glob("*.md"), ROOT / "CITATION.cff", *ROOT.glob("notebooks/*.ipynb")]:
        named = re.findall(pattern, page.read_text(encoding="utf-8"))
        assert [place for place in named if ours not in unquote(place)] == [], page.name


def test_the_address_of_a_page_is_refused_with_that_of_the_repository():
    for page in ("tree/main", "blob/main/README.md", "-/tree/main"):
        with pytest.raises(SystemExit, match=r"give https://git\.example/you/frkit$"):
            address.main(f"https://git.example/you/frkit/{page}")


def test_a_notebook_without_a_question_is_named():
    title = {"cell_type": "markdown", "source": ["# A title\n", "\n", "no question"]}
    with pytest.raises(SystemExit, match=r"11_new\.ipynb has no question"):
        address.in_notebook({"cells": [title]}, "11_new.ipynb", "")
