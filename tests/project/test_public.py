"""What a user sees of frkit: its names, and what editors and type checkers know."""

import ast
import importlib
import inspect

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


def functions_of(module):
    """The public functions of a module of frkit."""
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isfunction(thing) and not name.startswith("_"):
            yield thing


def test_every_public_function_says_its_types():
    """Of all arguments and of the result, since the package promises types (py.typed)."""
    packages = [getattr(fk, name) for name in fk.__all__ if inspect.ismodule(getattr(fk, name))]
    functions = set().union(*map(functions_of, [fk, *packages]))
    assert len(functions) > 80
    for function in functions:
        signature = inspect.signature(function)
        several = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        named = [each for each in signature.parameters.values() if each.kind not in several]
        untyped = [each.name for each in named if each.annotation is inspect.Parameter.empty]
        assert not untyped, f"{function.__qualname__}: {untyped}"
        assert signature.return_annotation is not inspect.Signature.empty, function.__qualname__
