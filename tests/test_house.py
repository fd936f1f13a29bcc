"""The house rules that a machine can check: imports run one way, the top level stays tidy."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "frkit"

# A room may import from rooms on lower lines only, and from itself.
STOREYS = [
    {"base"},
    {"faces"},
    {"resampling", "scores", "vmf", "measures", "representation", "plot"},
    {"engine"},
    {"evaluation"},
    {"intervals"},
    {"indices", "nsigma"},
    {"studies"},
    {"explore"},
]
STOREY_OF = {room: height for height, rooms in enumerate(STOREYS) for room in rooms}
COMPUTING = set(STOREY_OF) - {"base", "faces", "measures", "plot"}
HEAVY = ["seaborn", "ipywidgets", "sklearn", "matplotlib", "IPython"]
TOP_LEVEL = {
    "README.md", "LICENSE", "CITATION.cff", "pyproject.toml", "requirements.txt",
    "binder", "data", "frkit", "notebooks", "tests",
}  # fmt: skip
SOURCES = sorted(PACKAGE.rglob("*.py"))


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path):
    """Full names of all that a file imports, wherever in the file; relative imports are made absolute."""
    package = ("frkit", *path.relative_to(PACKAGE).parts[:-1])
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            names += [f"{module}.{alias.name}" for alias in node.names]
    return names


def rooms_imported(path):
    return {name.split(".")[1] for name in imported(path) if name.startswith("frkit.")}


def libraries(path):
    return {name.split(".")[0] for name in imported(path)}


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_every_room_has_its_storey():
    assert {room_of(path) for path in SOURCES} - {"__init__"} <= set(STOREY_OF)


def test_imports_run_one_way():
    upward = [
        f"{path.relative_to(ROOT)} imports {room}"
        for path in SOURCES
        if room_of(path) != "__init__"
        for room in rooms_imported(path) - {room_of(path)}
        if STOREY_OF.get(room, 99) >= STOREY_OF[room_of(path)]
    ]
    assert upward == []


def test_the_public_module_loads_the_bottom_room_only():
    assert rooms_imported(PACKAGE / "__init__.py") <= {"base", "faces"}


def test_kernels_know_numpy_only():
    kernels = [path for path in SOURCES if "numba" in libraries(path) and room_of(path) == "engine"]
    assert {path.name: libraries(path) - {"numpy", "numba", "frkit"} for path in kernels} == {
        path.name: set() for path in kernels
    }
    assert {room for path in kernels for room in rooms_imported(path)} <= {room_of(path) for path in kernels}


@pytest.mark.parametrize(("library", "rooms"), [("ipywidgets", {"explore"}), ("seaborn", {"plot"})])
def test_one_room_knows_the_library(library, rooms):
    assert {room_of(path) for path in SOURCES if library in libraries(path)} <= rooms


def test_plots_compute_nothing():
    plots = [path for path in SOURCES if room_of(path) == "plot"]
    assert {path.name: rooms_imported(path) & COMPUTING for path in plots} == {p.name: set() for p in plots}


def test_nothing_is_unpickled():
    words = re.compile(r"allow_pickle=True|import pickle|read_pickle|joblib\.load")
    assert [path.name for path in SOURCES if words.search(path.read_text(encoding="utf-8"))] == []


def test_importing_frkit_is_light():
    code = f"import sys, frkit; print([name for name in {HEAVY} if name in sys.modules])"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    answer = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (answer.stdout.strip(), answer.stderr) == ("[]", "")


def test_top_level_is_tidy():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    entries = {name.split("/")[0] for name in git("ls-files").splitlines()}
    assert {name for name in entries if not name.startswith(".")} <= TOP_LEVEL


def test_code_is_in_ruffs_good_books():
    pytest.importorskip("ruff")
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", str(ROOT)]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout
