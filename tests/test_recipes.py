"""What surrounds the code agrees with it: metadata, citation, README, Binder's recipe, the set-up script."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

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
    for program in ("binder/postBuild", "binder/local.py", ".ci/run"):
        assert os.access(ROOT / program, os.X_OK), f"{program} is not executable"


def test_repo2docker_reads_the_recipe():
    """What Binder would build, asked without Docker."""
    pytest.importorskip("repo2docker")
    command = [sys.executable, "-W", "ignore", "-m", "repo2docker", "--no-build", "--debug", str(ROOT)]
    answer = subprocess.run(command, capture_output=True, text=True)
    recipe = (answer.stdout + answer.stderr).replace("\\n", "\n")
    assert answer.returncode == 0, recipe
    copied = recipe.index("COPY --chown=0:0 src/ ")
    installed = recipe.index('install --no-cache-dir -r "binder/requirements.txt"')
    assert copied < installed < recipe.index("RUN ./binder/postBuild")
    assert "python=3.11" in recipe


def run_python(arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg", "PYTHONWARNINGS": "error"}
    answer = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_binders_last_step_runs():
    assert "kernels compiled" in run_python(["binder/postBuild"])


def test_readme_example_runs():
    example = run_notebooks.readme_example()
    assert len(example.splitlines()) <= 12
    assert "Axes" in run_python(["-c", example + "\nprint(type(ax))"])


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
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_set_up_explains_itself():
    with pytest.raises(SystemExit, match="python3 binder/local.py test"):
        local.main("unknown-verb")


def test_set_up_names_the_python_it_needs(monkeypatch):
    monkeypatch.setattr(local, "sys", SimpleNamespace(version_info=(3, 9, 2), exit=sys.exit))
    with pytest.raises(SystemExit, match="needs Python 3.11 or later, not 3.9; for example"):
        local.check_python()


def test_set_up_says_how_to_get_venv(monkeypatch):
    monkeypatch.setattr(local.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="sudo apt install python3-venv"):
        local.check_python()


def test_set_up_stops_where_a_step_fails():
    with pytest.raises(SystemExit, match="the command above failed"):
        local.run(sys.executable, "-c", "raise SystemExit(3)")


@pytest.fixture
def steps(monkeypatch, tmp_path):
    """The commands that the set-up would run, in a place of its own; nothing is installed."""
    steps = []

    def pretend(*command):
        steps.append([str(part) for part in command])
        local.PYTHON.parent.mkdir(parents=True, exist_ok=True)
        local.PYTHON.touch()

    monkeypatch.setattr(local, "run", pretend)
    monkeypatch.setattr(local, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(local, "PYTHON", tmp_path / ".venv/bin/python")
    monkeypatch.setattr(local, "STAMP", tmp_path / ".venv/frkit-stamp")
    return steps


def test_set_up_installs_once(steps):
    local.environment()
    assert [step[1:3] for step in steps[:2]] == [["-m", "venv"], ["-m", "pip"]]
    assert [step[1:] for step in steps[2:]] == [["binder/postBuild"]]
    local.environment()
    assert len(steps) == 3


def test_set_up_for_tests_serves_the_notebooks_too(steps):
    local.environment()
    local.environment("test")
    assert steps[-2][-2:] == ["-e", ".[test]"]
    local.environment()
    assert len(steps) == 5


def test_set_up_follows_changed_requirements(steps, monkeypatch, tmp_path):
    for name in ("requirements.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    monkeypatch.setattr(local, "ROOT", tmp_path)
    local.environment()
    (tmp_path / "requirements.txt").write_text("numpy")
    local.environment()
    assert [step[2] for step in steps if step[1] == "-m"] == ["venv", "pip", "pip"]


def test_tests_run_on_all_cores_and_take_pytests_own_options():
    assert local.tests(("-n", "0", "-x"))[-3:] == ["-n", "0", "-x"]
    assert 1 <= int(local.tests(())[3]) <= 4
    extra = " ".join(project()["optional-dependencies"]["test"])
    assert "pytest-xdist" in extra and "frkit[parquet,zarr,cluster]" in extra


def test_lab_is_reached_from_this_machine_only():
    assert "--ip=127.0.0.1" in local.lab(())
    assert local.lab(("--no-browser",))[-1] == "notebooks"
    assert "notebooks" not in local.lab(("notebooks/01_roc_consistency.ipynb",))
