"""Wherever it is installed, it works: without a place for compiled code, without the extras, beside other packages."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

import benchmarks
import pytest

ROOT = Path(__file__).resolve().parent.parent
EVALUATE = """
import frkit as fk
mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), far=[0.1], resampling=fk.Resampling("image", n=5))
print(float(ev["empirical"].frr[0]), float(mix.population_roc([0.1]).frr[0]), fk.__file__)
"""
WITHOUT = """
import sys
sys.modules["pyarrow"] = None  # as if it were not installed
import pytest
sys.exit(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", "-k", "parquet", *sys.argv[1:]]))
"""


def nobody():
    """What comes before a command that may write nothing, and a Python that it can run; None where there is none."""
    if os.name != "posix":
        return None
    if os.geteuid() != 0:
        return [], sys.executable
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    own = "python{}.{}".format(*sys.version_info)
    for python in (sys.executable, f"/usr/bin/{own}", f"/usr/local/bin/{own}"):
        try:
            if subprocess.run([*drop, python, "-c", "1"], capture_output=True).returncode == 0:
                return drop, python
        except OSError:
            return None
    return None


@pytest.fixture
def open_folder():
    """A folder that others may read: pytest closes its own to them, anew whenever another run begins beside this."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.xfail(
    "@compiled" not in (ROOT / "frkit/engine/kernels.py").read_text(encoding="utf-8"),
    reason="cached",
)
def test_code_is_compiled_where_nothing_can_be_written(open_folder):
    """A read-only installation, and a home that is not there: compiled anew in each process, without a complaint."""
    if (found := nobody()) is None:
        pytest.skip("no user without rights, or no Python for one")
    drop, python = found
    shutil.copytree(
        ROOT / "frkit", open_folder / "frkit", ignore=shutil.ignore_patterns("__pycache__")
    )
    for path in [open_folder, *open_folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    packages = os.pathsep.join([str(open_folder), sysconfig.get_path("purelib")])
    clean = {
        "HOME": "/nonexistent",
        "PYTHONPATH": packages,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": os.environ["PATH"],
    }
    try:
        answer = subprocess.run(
            [*drop, python, "-c", EVALUATE], env=clean, cwd="/", capture_output=True, text=True
        )
    finally:
        for path in [open_folder, *open_folder.rglob("*")]:
            path.chmod(0o755)
    if "No module named 'numpy'" in answer.stderr:
        pytest.skip("a user without rights cannot read the packages")
    assert answer.returncode == 0, answer.stderr
    frr, exact, file = answer.stdout.split()
    assert (
        0 <= float(frr) <= 1 and 0 <= float(exact) <= 1 and Path(file).is_relative_to(open_folder)
    )


def test_our_benchmarks_are_not_those_of_pyarrow():
    assert Path(benchmarks.__file__).is_relative_to(ROOT / "tests")


def test_without_the_parquet_extra_its_tests_are_skipped():
    files = ["test_io.py", "test_fuzz.py"]
    command = [sys.executable, "-c", WITHOUT, *(str(ROOT / "tests" / file) for file in files)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout
    assert all(re.search(rf"^SKIPPED .*{file}", answer.stdout, re.MULTILINE) for file in files), (
        answer.stdout
    )


def test_help_is_help():
    for words in ("-h", "--help"):
        answer = subprocess.run(
            [sys.executable, ROOT / "binder/local.py", words], capture_output=True, text=True
        )
        assert answer.returncode == 0 and "test-oldest" in answer.stdout and answer.stderr == ""


def test_every_need_has_a_lowest_version_that_is_tested():
    """What `local.py test-oldest` installs is what pyproject.toml promises; .ci/run calls it before the other tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needs = project["dependencies"] + extras["parquet"] + extras["zarr"] + extras["cluster"]
    assert [need for need in needs if need.count(">=") != 1 or "," in need] == []
    script = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert script.index("python3 binder/local.py test-oldest") < script.index(
        "exec python3 binder/local.py test --full"
    )
