"""Wherever it is installed, it works: where nothing can be written, and without the extras."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from paths import ROOT

EVALUATE = """
import frkit as fk
faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
ev = fk.evaluate(fk.score_tensor(faces), far=[0.1], resampling=fk.Resampling("image", n=5))
print(float(ev["empirical"].frr[0]), fk.__file__)
"""
WITHOUT = """
import sys, tempfile
sys.modules["zarr"] = None  # as if it were not installed
import frkit as fk
path = tempfile.mkdtemp() + "/evaluation.zarr.zip"
open(path, "wb").write(b"PK" + bytes(20))
try:
    fk.open_evaluation(path)
except fk.InputError as error:
    print(error)
"""


def nobody():
    """What comes before a command that may write nothing, and a Python that it can run."""
    if os.name != "posix":
        return None
    if os.geteuid() != 0:
        return [], sys.executable
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    version = "python{}.{}".format(*sys.version_info)
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            if subprocess.run([*drop, python, "-c", "1"], capture_output=True).returncode == 0:
                return drop, python
        except OSError:
            return None
    return None


@pytest.mark.slow
def test_code_is_compiled_where_nothing_can_be_written():
    """A read-only installation and a home that is not there: compiled anew, without complaint."""
    if (location := nobody()) is None:
        pytest.skip("no user without rights, or no Python for one")
    drop, python = location
    with tempfile.TemporaryDirectory() as folder:  # pytest closes its own to other users
        copy = Path(folder, "frkit")
        shutil.copytree(ROOT / "frkit", copy, ignore=shutil.ignore_patterns("__pycache__"))
        for path in [Path(folder), copy, *copy.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        packages = os.pathsep.join([folder, sysconfig.get_path("purelib")])
        clean = {"HOME": "/nonexistent", "PYTHONPATH": packages, "PATH": os.environ["PATH"]}
        command = [*drop, python, "-c", EVALUATE]
        answer = subprocess.run(command, env=clean, cwd="/", capture_output=True, text=True)
        for path in [Path(folder), copy, *copy.rglob("*")]:
            path.chmod(0o755)
    if "No module named 'numpy'" in answer.stderr:
        pytest.skip("a user without rights cannot read the packages")
    assert answer.returncode == 0, answer.stderr
    frr, file = answer.stdout.split()
    assert 0 <= float(frr) <= 1 and file.startswith(folder)


@pytest.mark.slow
def test_without_an_extra_its_files_are_refused_with_what_to_install():
    command = [sys.executable, "-c", WITHOUT]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert "pip install zarr" in answer.stdout
