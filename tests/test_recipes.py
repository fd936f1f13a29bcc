"""What surrounds the code agrees with it: citation, README, Binder's recipe, the set-up script."""

import os
import re
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
