"""The house rules that a machine can check: imports run one way, the top level stays tidy, recipes agree."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import run_notebooks
import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "frkit"

# A room may import from rooms on lower lines only, and from itself.
STOREYS = [
    {"base"},
    {"checks", "labels"},
    {"faces"},
    {"vmf", "resampling", "io", "scores"},
    {"sweep"},
    {"tallies"},
    {"evaluation"},
    {"measures"},
    {"intervals"},
    {"studies"},
    {"plot"},
    {"explore"},
]
STOREY_OF = {room: height for height, rooms in enumerate(STOREYS) for room in rooms}
COMPUTING = {"vmf", "scores", "resampling", "sweep", "tallies", "evaluation", "intervals", "studies"}
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
    kernels = [path for path in SOURCES if "kernel" in path.stem]
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


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version():
    return re.search(r'^__version__ = "(.+)"$', (PACKAGE / "__init__.py").read_text(), re.MULTILINE).group(1)


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
    answer = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
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


def local(*arguments, python=sys.executable):
    return subprocess.run([python, str(ROOT / "binder/local.py"), *arguments], capture_output=True, text=True)


def test_set_up_explains_itself():
    answer = local("unknown-verb")
    assert answer.returncode == 1
    assert "python3 binder/local.py test" in answer.stderr


def test_set_up_needs_the_standard_library_only():
    tree = ast.parse((ROOT / "binder/local.py").read_text(encoding="utf-8"), feature_version=(3, 7))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
