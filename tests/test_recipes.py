"""What surrounds the code agrees with it: citation, README, Binder's recipe, the set-up script."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import local
import pytest
import run_notebooks
import yaml

ROOT = Path(__file__).resolve().parent.parent


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version():
    source = (ROOT / "frkit/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE).group(1)


def test_citation_names_the_kit_and_the_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
    assert citation["version"] == version()
    entry = re.search(
        r"@software{frkit,.*?^}", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )[0]
    own = version(), citation["repository-code"], citation["authors"][0]["name"]
    assert all(f"{{{words}}}" in entry for words in own)
    assert citation["license"] == project()["license"]
    papers = citation["references"]
    assert [paper["year"] for paper in papers] == [2024, 2022, 2022, 2023, 2021]
    assert all({"type", "title", "authors"} <= set(paper) for paper in papers)


def requirement_lines(path):
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def test_requirements_end_with_the_kit():
    assert requirement_lines(ROOT / "requirements.txt")[-1] == "-e ."
    assert "dependencies" in project()
    assert "dependencies" not in project()["dynamic"]


def test_binder_recipe_agrees_with_the_rest():
    assert requirement_lines(ROOT / "binder/requirements.txt")[0] == "-r ../requirements.txt"
    assert (ROOT / "binder/runtime.txt").read_text().strip() == "python-3.11"
    assert project()["requires-python"] == ">=3.11"
    for program in ("binder/postBuild", "binder/start", "binder/local.py", ".ci/run"):
        assert os.access(ROOT / program, os.X_OK), f"{program} is not executable"


def run_python(arguments, **more):
    environment = (
        os.environ
        | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg", "PYTHONWARNINGS": "error"}
        | more
    )
    answer = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_readme_example_prints_what_stands_there():
    example = run_notebooks.readme_example()
    assert len(example.splitlines()) <= 12
    [output] = re.findall(
        r"^```text\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    printed, kind = run_python(["-c", example + "\nprint(type(ax))"]).rsplit("\n", 2)[:2]
    assert [line.rstrip() for line in printed.splitlines()] == [
        line.rstrip() for line in output.splitlines()
    ]
    assert "Axes" in kind


def test_readme_commands_are_understood():
    from frkit.__main__ import parser

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^frkit ((?:demo|report).*)$", text, re.MULTILINE)
    assert [parser().parse_args(line.split()).command for line in lines] == ["demo", "report"]
    for verb in re.findall(r"^python3 binder/local.py +(\w+) +#", text, re.MULTILINE):
        assert f"local.py {verb}" in local.__doc__


def test_changelog_knows_this_version():
    assert f"## {version()}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_lock_has_every_requirement_in_a_version_that_will_do():
    requirements = pytest.importorskip("packaging.requirements")
    assert requirement_lines(ROOT / "binder/requirements.txt")[1:] == ["-c lock.txt"]
    locked = dict(line.split("==") for line in requirement_lines(ROOT / "binder/lock.txt"))
    locked = {name.lower().replace("_", "-"): number for name, number in locked.items()}
    for line in [*project()["dependencies"], *requirement_lines(ROOT / "requirements.txt")[:-1]]:
        wanted = requirements.Requirement(line)
        assert wanted.specifier.contains(locked[wanted.name.lower()]), line


def test_conda_installs_what_pip_does():
    recipe = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert recipe["name"] == "frkit" and recipe["dependencies"][-1] == {
        "pip": ["-r requirements.txt"]
    }
    assert "python=3.11" in recipe["dependencies"]


@pytest.mark.slow
def test_the_reference_has_every_public_name(tmp_path):
    """Made as `local.py docs` makes it, into a folder that is thrown away."""
    pytest.importorskip("pdoc")
    answer = run_python(
        ["-W", "ignore", "-m", "pdoc", "--docformat", "numpy", "frkit", "-o", str(tmp_path)]
    )
    page = (tmp_path / "frkit.html").read_text(encoding="utf-8")
    import frkit as fk

    rooms = [name for name in fk.__all__ if (ROOT / "frkit" / name).is_dir()]
    shown = set(re.findall(r'<section id="(\w+)"', page))
    assert set(fk.__all__) - set(rooms) <= shown, answer
    assert all((tmp_path / f"frkit/{room}.html").exists() for room in rooms)
    for heading in ("Parameters", "Returns", "Raises", "Examples"):  # numpydoc's, read as such
        assert len(re.findall(rf"<h\d[^>]*>{heading}</h\d>", page)) > 20, heading


def test_readme_lists_every_notebook():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\((notebooks/\w+\.ipynb)\)", text))
    assert listed == {f"notebooks/{path.name}" for path in run_notebooks.paths()}


def test_readme_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_set_up_needs_the_standard_library_only():
    tree = ast.parse((ROOT / "binder/local.py").read_text(encoding="utf-8"), feature_version=(3, 7))
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_tests_run_on_all_cores_and_take_pytests_own_options():
    assert local.tests(("-n", "0", "-x"))[-3:] == ["-n", "0", "-x"]
    assert 1 <= int(local.tests(())[3]) <= 4
    extra = " ".join(project()["optional-dependencies"]["test"])
    assert "pytest-xdist" in extra and "frkit[parquet,zarr,matlab,cluster]" in extra
