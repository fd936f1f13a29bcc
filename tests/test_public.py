"""What a user sees of frkit: its names, and what editors and type checkers know."""

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import frkit as fk

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "frkit/__init__.pyi"
SNIPPET = """\
import frkit as fk

evaluation = fk.evaluate(fk.score_tensor(fk.open_faces("faces.npz")), far=[0.1])
children = evaluation.children
reveal_type(evaluation)
reveal_type(fk.faces)
reveal_type(fk.fair_floor(evaluation, "frr_gini"))
fk.evaluatte
"""
XARRAY = """\
from typing import Any
class DataArray: ...
class Dataset: ...
class DataTree:
    children: dict[str, DataTree]
def __getattr__(name: str) -> Any: ...
"""


def test_every_name_leads_to_what_the_stub_says():
    assert dir(fk) == fk.__all__ and not any(name.startswith("_") for name in dir(fk))
    homes = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            home = f"frkit.{node.module}" if node.module else "frkit"
            homes |= {alias.asname or alias.name: (home, alias.name) for alias in node.names}
    for name in fk.__all__:
        home, source = homes[name]
        if home == "frkit":
            assert getattr(fk, name) is importlib.import_module(f"frkit.{name}")
        else:
            assert getattr(fk, name) is getattr(importlib.import_module(home), source), name


@pytest.mark.slow
def test_a_type_checker_sees_every_call(tmp_path):
    """evaluate returns a DataTree, fk.faces is a function, and a wrong name is the one error.

    A few words about xarray stand in its place, because reading it takes half a minute.
    """
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(SNIPPET)
    (tmp_path / "xarray.pyi").write_text(XARRAY)
    options = ["--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent"]
    command = [sys.executable, "-m", "mypy", *options, f"--cache-dir={tmp_path}", "snippet.py"]
    environment = os.environ | {"MYPYPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    answer = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    tree, function, dataset = re.findall(r'Revealed type is "(.*)"', answer.stdout)
    assert (tree, dataset) == ("xarray.DataTree", "xarray.Dataset")
    assert function.startswith("def (") and function.endswith("-> xarray.Dataset")
    errors = re.findall(r":(\d+): error: (.*)  ", answer.stdout)
    assert errors == [("8", 'Module has no attribute "evaluatte"')], answer.stdout
    assert (ROOT / "frkit/py.typed").exists()
