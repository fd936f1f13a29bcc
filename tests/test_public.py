"""What a user sees of the kit: its names, its help, and what an editor and a type checker know of both."""

import ast
import importlib
import inspect
import os
import pydoc
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

faces = fk.open_faces("faces.npz")
evaluation = fk.evaluate(fk.score_tensor(faces), far=fk.far_levels(1e-3, 1e-1), resampling=fk.Resampling("image", n=9))
children = evaluation.children
band = fk.band(evaluation, "frr")
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


def test_only_public_names_are_shown():
    assert dir(fk) == fk.__all__
    assert [name for name in dir(fk) if name.startswith("_")] == []
    assert {"evaluate", "faces", "band", "plot", "InputError"} <= set(dir(fk))


@pytest.mark.parametrize("name", fk.__all__)
def test_every_name_leads_to_what_the_stub_says(name):
    imports = [
        node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)
    ]
    [(home, source)] = [
        (f"frkit.{node.module}" if node.module else "frkit", alias.name)
        for node in imports
        for alias in node.names
        if alias.asname == name
    ]
    assert source == name
    module = importlib.import_module(home if home != "frkit" else f"frkit.{name}")
    assert getattr(fk, name) is (module if home == "frkit" else getattr(module, name))


@pytest.mark.parametrize(
    "lines",
    [
        "import frkit as fk; fk.faces; import frkit.data.labels",
        "import frkit.data.labels; import frkit as fk",
        "from frkit.data import faces, labels; import frkit as fk",
        "from frkit import faces, plot; import frkit as fk; import frkit.data.files",
    ],
)
def test_faces_is_the_function_whatever_is_loaded_first(lines):
    """The room has the same name, and the import system binds rooms to the package."""
    check = "import sys; assert fk.faces.__module__ == 'frkit.data.dataset' and callable(fk.faces)"
    code = f"{lines}; {check}; assert sys.modules['frkit.data'].__path__"
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, check=True)


FIRST_CALL = """\
import sys
import frkit as fk
from frkit.base import compiled

twice = compiled(nogil=True)(lambda x: 2 * x)
twice.py_func.__module__ = "frkit.engine"
assert twice(3) == 6 and twice(3.5) == 7.0
print(twice.stats.cache_path, file=sys.stderr)
"""


def test_help_begins_with_what_the_kit_is_for_and_where_to_start():
    text = pydoc.plain(pydoc.render_doc(fk))
    assert re.search(r"NAME\n +frkit - How good is this matching system, how fair .*\?\n", text)
    start = text[: text.index("PACKAGE CONTENTS")]
    assert "fk.open_faces" in start and "fk.evaluate" in start and "fk.band" in start


def test_a_type_checker_sees_every_call(tmp_path):
    """evaluate returns a DataTree, fk.faces is a function, and a wrong name is the one error.

    In place of the libraries stand a few words about xarray, because reading them takes half a minute.
    """
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(SNIPPET)
    (tmp_path / "xarray.pyi").write_text(XARRAY)
    options = [
        "--no-site-packages",
        "--ignore-missing-imports",
        "--follow-imports=silent",
        f"--cache-dir={tmp_path}",
    ]
    command = [sys.executable, "-m", "mypy", *options, str(tmp_path / "snippet.py")]
    environment = os.environ | {"MYPYPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    said = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True
    ).stdout
    tree, function, dataset = re.findall(r'Revealed type is "(.*)"', said)
    assert (tree, dataset) == ("xarray.DataTree", "xarray.Dataset")
    assert function.startswith("def (") and function.endswith("-> xarray.Dataset")
    assert re.findall(r":(\d+): error: (.*)  ", said) == [
        ("10", 'Module has no attribute "evaluatte"')
    ], said


def functions(name, made):
    """A public function, or the constructor and the public methods of a class, with their parameters."""
    if inspect.isfunction(inspect.unwrap(made)):
        yield name, [*inspect.signature(made).parameters.values()]
    elif inspect.isclass(made) and not issubclass(made, (Exception, Warning)):
        for method, function in vars(made).items():
            if inspect.isfunction(function) and (
                method == "__init__" or not method.startswith("_")
            ):
                yield f"{name}.{method}", [*inspect.signature(function).parameters.values()][1:]


ROOMS = [name for name in fk.__all__ if inspect.ismodule(getattr(fk, name))]
OWNERS = {"": fk} | {f"{room}.": getattr(fk, room) for room in ROOMS}
PUBLIC = {
    f"{front}{name}": getattr(owner, name)
    for front, owner in OWNERS.items()
    for name in owner.__all__
}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_says_what_it_takes(name):
    """Arrays too, as numpy.typing.ArrayLike; what is passed on (`**options`) is said by those that take it."""
    passed_on = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    for function, parameters in functions(name, PUBLIC[name]):
        silent = [
            one.name
            for one in parameters
            if one.annotation is one.empty and one.kind not in passed_on
        ]
        assert silent == [], function
        assert not any(one.name.startswith("_") for one in parameters), (
            f"{function} shows a private argument"
        )
        assert "numpy._typing" not in " ".join(map(str, parameters)), (
            f"{function}: help() must stay readable"
        )


def test_the_marker_for_types_is_in_the_package():
    assert (ROOT / "frkit/py.typed").exists()
