"""What a user sees of frkit: its names, and what editors and type checkers know."""

import ast
import importlib

from paths import ROOT

import frkit as fk

STUB = ROOT / "frkit/__init__.pyi"


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
    assert (ROOT / "frkit/py.typed").exists()
