"""The examples of all docstrings run, beside the names of their module, and print what they promise."""

import ast
import doctest
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).resolve().parent.parent
PARSER = doctest.DocTestParser()
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def examples():
    """One DocTest per docstring that holds an example; nothing of the kit is imported to find them."""
    found = []
    for path in sorted((ROOT / "frkit").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            if text and ">>>" in text:
                name = f"{module}:{getattr(node, 'name', '__doc__')}"
                found.append(
                    PARSER.get_doctest(text, {}, name, str(path), getattr(node, "lineno", 1))
                )
    return found


EXAMPLES = examples()


@pytest.mark.filterwarnings(
    "ignore::frkit.DataWarning"
)  # small examples are told that they are small
@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda example: example.name.removeprefix("frkit.")
)
def test_example_runs(example, monkeypatch):
    monkeypatch.chdir(ROOT)  # some read a file of data/
    example.globs = vars(import_module(example.name.split(":")[0])).copy()
    report = []
    try:
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
            example, out=report.append
        )
    finally:
        plt.close("all")
    assert not report, "".join(report)


def test_all_are_found_and_none_is_skipped_but_those_that_read_files_of_the_users():
    steps = [step for example in EXAMPLES for step in example.examples]
    assert len(EXAMPLES) > 80 and len(steps) > 250
    skipped = [step.source for step in steps if doctest.SKIP in step.options]
    assert [source for source in skipped if "open_" not in source] == []
