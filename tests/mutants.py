"""Do the tests notice a wrong formula? Run them against wrong ones, one at a time.

python tests/mutants.py [WORD ...]     all mutants, or those whose file contains a word

Each mutant of mutants.txt changes one formula in a copy of the project. Prints "killed" where a
test of its files fails, a slow one too, and "SURVIVES" where none does: then a test is missing.
Takes about half a minute each.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("frkit", "tests", "binder", "data", "pyproject.toml", "CITATION.cff")
HERE = "not notebooks and not browser"


@dataclass
class Mutant:
    """A formula, what replaces it, and the files of tests that should notice."""

    file: str
    tests: str
    formula: str
    wrong: str


def read_mutants():
    """Yield the mutants of mutants.txt."""
    file = tests = ""
    lines = (ROOT / "tests" / "mutants.txt").read_text(encoding="utf-8").splitlines()
    for line in lines[2:]:
        if line.startswith(" "):
            yield Mutant(file, tests, *line.strip().split("  ->  "))
        elif line:
            file, tests = line.split(": ")


def check(mutant):
    """Stop if a mutant's formula does not stand exactly once in its file."""
    count = (ROOT / "frkit" / mutant.file).read_text(encoding="utf-8").count(mutant.formula)
    if count != 1:
        sys.exit(f"{mutant.file} contains {mutant.formula!r} {count} times")


def survives(mutant, copy):
    """Say whether all tests of a mutant's files pass."""
    path = copy / "frkit" / mutant.file
    source = path.read_text(encoding="utf-8")
    for cache in path.parent.glob("__pycache__/*.nb?"):
        cache.unlink()  # compiled code that calls what is changed
    path.write_text(source.replace(mutant.formula, mutant.wrong), encoding="utf-8")
    tests = [str(next(copy.glob(f"tests/**/{name}.py"))) for name in mutant.tests.split()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", HERE]
    environment = os.environ | {"PYTHONPATH": str(copy)}
    answer = subprocess.run([*command, *tests], cwd=copy, env=environment, capture_output=True)
    path.write_text(source, encoding="utf-8")
    return answer.returncode in (0, 5)  # 5: no test was chosen


def main(wanted_files):
    mutants = list(read_mutants())
    chosen = [
        m for m in mutants if not wanted_files or any(word in m.file for word in wanted_files)
    ]
    if not chosen:
        files = ", ".join(sorted({mutant.file for mutant in mutants}))
        sys.exit(f"no file with mutants contains {' or '.join(wanted_files)}; there are {files}")
    for mutant in chosen:
        check(mutant)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            take = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            take(ROOT / name, copy / name)
        tests = " ".join(sorted({name for mutant in chosen for name in mutant.tests.split()}))
        unchanged = replace(chosen[0], wrong=chosen[0].formula, tests=tests)
        if not survives(unchanged, copy):
            sys.exit(f"without a mutant, a test fails already: {tests}")
        for mutant in chosen:
            alive = survives(mutant, copy)
            survivors += alive
            outcome = "SURVIVES" if alive else "killed  "
            print(f"{outcome} {mutant.file}: {mutant.formula} -> {mutant.wrong}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants are killed")


if __name__ == "__main__":
    main(sys.argv[1:])
