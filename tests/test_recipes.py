"""What surrounds the code agrees with it: citation, README, Binder's recipe, the set-up script."""

import ast
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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


def test_the_lock_has_every_requirement_in_a_version_that_will_do():
    requirements = pytest.importorskip("packaging.requirements")
    assert requirement_lines(ROOT / "binder/requirements.txt")[1:] == ["-c lock.txt"]
    locked = dict(line.split("==") for line in requirement_lines(ROOT / "binder/lock.txt"))
    locked = {name.lower().replace("_", "-"): number for name, number in locked.items()}
    for line in [*project()["dependencies"], *requirement_lines(ROOT / "requirements.txt")[:-1]]:
        wanted = requirements.Requirement(line)
        assert wanted.specifier.contains(locked[wanted.name.lower()]), line


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
