"""The examples of all docstrings run and print what they promise."""

import ast
import doctest
from importlib import import_module

import matplotlib.pyplot as plt
import pytest
from paths import ROOT

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def examples():
    """One DocTest for each docstring with an example; frkit is not imported to find them."""
    parser, doctests = doctest.DocTestParser(), []
    for path in sorted((ROOT / "frkit").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            if text and ">>>" in text:
                name = f"{module}:{getattr(node, 'name', '__doc__')}"
                line = getattr(node, "lineno", 1)
                doctests.append(parser.get_doctest(text, {}, name, str(path), line))
    return doctests


EXAMPLES = examples()
# studies that repeat an evaluation, networks that are trained, and a stored evaluation
LONG = ("explore", "papers.rlb", "papers.roc", "papers.nsigma.finetuning", "reporting.words")
LONG += ("evaluation.nodes:demo_evaluation",)


def case(example):
    name = example.name.removeprefix("frkit.")
    return pytest.param(example, id=name, marks=[pytest.mark.slow] * name.startswith(LONG))


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")  # small examples warn that they are small
@pytest.mark.parametrize("example", [case(example) for example in EXAMPLES])
def test_example_runs(example, monkeypatch):
    monkeypatch.chdir(ROOT)  # some read a file of data/
    example.globs = vars(import_module(example.name.split(":")[0])).copy()
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example, out=report.append)
    plt.close("all")
    assert not report, "".join(report)


def test_only_examples_that_read_files_of_the_users_are_skipped():
    steps = [step for example in EXAMPLES for step in example.examples]
    skipped = [step.source for step in steps if doctest.SKIP in step.options]
    assert len(EXAMPLES) > 80 and all("open_" in source for source in skipped)
