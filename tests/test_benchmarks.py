"""The benchmark command works, and what it compares with computes the same thing."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import dask
import numpy as np
import pytest
from benchmarks import finetuning_pattern, rivals, workload

import frkit as fk

COMMAND = Path(__file__).parent / "benchmarks" / "sweep.py"
FAR = np.logspace(-3, -1, 9)
# The command that measures every size in a process of its own; here the first only, the others take its figures.
FEWER = """
import functools, all
once = functools.cache(all.python)
all.python = lambda path, kind, *asked: once(path, kind, *((400, 0) if kind == "--images" else asked))
all.main()
"""


def codes(labels):
    return np.unique(labels, return_inverse=True)[1]


@pytest.fixture
def run(monkeypatch, capsys):
    """A benchmark command as it is run from its folder, but in this process, and the lines that it prints."""
    monkeypatch.syspath_prepend(COMMAND.parent)

    def command(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        with dask.config.set(num_workers=2):  # which commands set, too, and do not take back
            import_module(f"benchmarks.{name.removesuffix('.py')}").main()
        return capsys.readouterr().out.splitlines()

    return command


def test_command_prints_a_ratio_for_every_kind_of_case(run):
    """Toy sizes; no time is judged."""
    only = ["rates-128-equal", "all-128", "literal-128", "packages", "memory"]
    lines = [line.split() for line in run("sweep.py", "--quick", "--only", *only)[2:]]
    assert [line[0] for line in lines].count("rates-128-equal") == 3
    assert {line[0] for line in lines} == {"rates-128-equal", "all-128", "literal-128", "packages-128", "memory"}
    product = next(line for line in lines if line[1:3] == ["bare", "product"])
    assert product[-2:] == ["1.00", "1.00"]


def test_the_one_command_prints_every_part_that_is_asked_for():
    """Toy sizes; no time is judged. The parts that are other commands have tests of their own."""
    command = [sys.executable, "-c", FEWER, "--quick", "--only", "rooms", "images", "rivals"]
    done = subprocess.run(command, cwd=COMMAND.parent, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("== ")] == ["== rooms", "== images", "== rivals"]
    for begin in ("RLB", "N-Sigma", "fairness indices", "800 images, 200", "1,000,000 images, 200", "scipy.stats"):
        assert any(line.startswith(begin) for line in lines), begin


@pytest.mark.filterwarnings("ignore:.*of fewer than 5 images:frkit.DataWarning")  # of (2, 9); its replicates are wanted
@pytest.mark.parametrize("few, many", [(5, 5), (2, 9)])
def test_literal_algorithm_gives_the_replicates_of_evaluate(few, many):
    faces = workload.make_faces(300, 64, few, many)
    resampling = fk.Resampling("image", n=3)
    drawn = resampling.weights(faces.identity.values, faces.image.values).image_count.values
    ev = fk.evaluate(fk.score_tensor(faces), far=FAR, by="race", resampling=resampling)
    for b, counts in enumerate(drawn):
        literal = rivals.algorithm_1(
            faces.embedding.values, codes(faces.identity.values), codes(faces.race.values), FAR, counts
        )
        ours = ev["replicates"].isel(replicate=b)
        np.testing.assert_allclose(literal.pop("threshold"), ours.threshold, atol=1e-6)  # products may round apart
        for name, values in literal.items():
            np.testing.assert_allclose(values, ours[name], atol=1e-12, err_msg=name)


def test_packages_estimate_the_plain_pair_rates():
    """They agree with the pooled rates, which is what makes their cost comparable."""
    pytest.importorskip("score_analysis")
    faces = workload.make_faces(300, 64, 5, 5)
    genuine, impostor = rivals.pair_scores(faces.embedding.values, faces.identity.values)
    plain = fk.evaluate(fk.score_tensor(faces), far=FAR, weighting="pair")["empirical"].frr.values
    scipys = rivals.with_scipy(genuine, impostor, FAR, 200).bootstrap_distribution.mean(1)
    theirs = rivals.with_score_analysis(genuine, impostor, FAR, 200).mean(0)
    np.testing.assert_allclose(scipys, plain, atol=0.01)
    np.testing.assert_allclose(theirs, plain, atol=0.01)


@pytest.mark.parametrize("few, many", [(10, 10), (2, 20), (2, 6)])
def test_data_have_the_size_asked_for(few, many):
    sizes = workload.images_of_identities(10_000, few, many)
    assert sizes.sum() == 10_000
    assert few <= sizes.min() and sizes.max() <= many


def test_the_finetuning_pattern_is_counted():
    """One model each; a group that is the reference in either row has no change, and is left out."""
    own, others = finetuning_pattern.changes(0, 1)
    assert 1 <= len(own) <= 3 and 2 <= len(others) <= 3
    assert np.all(own != 0) and others.mean() > 0


def test_the_cost_of_a_coverage_study_is_printed_as_ratios(run):
    """Toy sizes; no time is judged."""
    works = ["work", "exact truth", "bare products", "study", "study", "Algorithm 1", "memory"]
    lines = run("coverage_study.py", "--quick")[1:]
    assert all(line.startswith(work) for line, work in zip(lines, works, strict=True))
    assert lines[2].split()[-2:] == ["1.00", "1.00"]
