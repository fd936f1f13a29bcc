"""What frkit costs: python tests/benchmarks/all.py [--quick] [--only PART ...]

    first       `import frkit` and the README's example, in a process that compiles, in one that
                finds what was compiled, and in one that can keep nothing
    evaluate    10,000 images: two dimensions and ranges of FAR, with and without replicates, with
                histograms of every pair
    images      10,000 to 200,000 images, FAR levels from 1e-7 to 1e-3
    kept        the sweep alone, and questions that are asked of its kept pairs
    coverage    a coverage study of 20 data sets, against 20 products
    others      RLB (one seed of five folds), N-Sigma and the fairness indices of 1,500 images
    rivals      bootstraps of general packages, which need every score at once

Every row is measured in a process of its own, after a small call that loads the kernels. The bare
product of the same embeddings is timed in turn with the work, and ratios are medians of the
rounds, so that they mean something on a busy machine, too.

    cpu s       CPU seconds of all threads
    x product   over those of the bare matrix product of the same round
    peak GB     largest memory of the process

--quick takes toy sizes, to see that the command works.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import rivals
import workload

import frkit as fk

ROOT = Path(__file__).resolve().parent.parent.parent
RIVAL_MEMORY = 4_000_000_000  # bytes that a rival may take
ROW = "{:<62}{:>9}{:>9}{:>11}{:>9}"
# The README's example, and its CPU seconds: import, first evaluation, whole process.
FIRST = """\
import time
import frkit as fk
imported = time.process_time()
scores = fk.score_tensor(fk.open_faces("data/demo_faces.npz"))
before = time.process_time()
fk.band(fk.evaluate(scores, far=fk.far_levels(1e-4, 1e-2)), "frr")
print(imported, time.process_time() - before, time.process_time())
"""


def python(*arguments: str, **environment: str) -> str:
    """What a new process of this Python prints."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path} | environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def show(title: str, work: str, **options) -> None:
    """Measure a work in a process of its own and print its row."""
    try:
        figures = json.loads(python(__file__, "--measure", work, json.dumps(options)))
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.splitlines() or ["killed"])[-1]
        print(f"{title}: {reason}", flush=True)
        return
    print(ROW.format(title, *(f"{figure:,.2f}" for figure in figures)), flush=True)


# --- works, each in a process of its own -------------------------------------------------------


def measure(work: str, rounds: int = 3, **options) -> None:
    """Print CPU and wall seconds of a work, its ratio to the bare product, and peak memory."""
    small, faces, call, products = WORKS[work](**options)
    small()
    product = partial(workload.bare_product, faces.embedding.values, products)
    seconds = {"product": [], "work": []}
    for _ in range(rounds):
        seconds["product"].append(workload.clock(product)[0])
        seconds["work"].append(workload.clock(call))
    cpu, wall = np.transpose(seconds["work"])
    ratio = statistics.median(cpu / np.array(seconds["product"]))
    print(
        json.dumps([statistics.median(cpu), statistics.median(wall), ratio, workload.peak_memory()])
    )


def evaluation(images, dim, far, replicates=0, histogram=None):
    """An evaluation at 21 FAR levels with four groups."""

    def evaluate(faces):
        resampling = fk.Resampling("image", n=replicates) if replicates else None
        levels = np.logspace(*np.log10(far), 21)
        options = {"resampling": resampling, "histogram": histogram, "progress": False}
        return fk.evaluate(fk.score_tensor(faces), far=levels, by="race", **options)

    faces = workload.make_faces(images, dim)
    few_faces = workload.make_faces(300, dim)
    return partial(evaluate, few_faces), faces, partial(evaluate, faces), 1


def kept(images, dim, far, question=None):
    """The sweep; or a question of kept pairs: rates of groups, with what people add, replicates."""
    levels = np.logspace(*np.log10(far), 13)

    def sweep(faces):
        return fk.sweep(fk.score_tensor(faces), far=levels, progress=False)

    def ask(pairs):
        resampling = fk.Resampling("image", n=200) if question == "replicates" else None
        return fk.evaluate(pairs, far=levels, by="race", resampling=resampling)

    faces = workload.make_faces(images, dim)
    few_faces = workload.make_faces(300, dim)
    ask(sweep(few_faces))
    if question is None:
        return partial(sweep, few_faces), faces, partial(sweep, faces), 1
    return partial(sweep, few_faces), faces, partial(ask, sweep(faces)), 1


def coverage(data_sets, people):
    """A coverage study: data sets are drawn and evaluated, and bands are counted."""

    def count(n_datasets):
        options = {"per_identity": 10, "far": np.logspace(-6, -1, 21), "replicates": 200}
        return fk.studies.coverage(mixture, n_datasets=n_datasets, progress=False, **options)

    mixture = fk.vmf.mixture(people, 128, kappa=(100, 800), seed=0)
    faces = mixture.sample(10, seed=0)
    return partial(count, 2), faces, partial(count, data_sets), data_sets


def other(name, images):
    """Another function of frkit on faces of four races."""
    faces = workload.make_faces(images, 128, per_person=5)
    scores = fk.score_tensor(faces)
    calls = {
        "rlb": partial(fk.representation_bias, faces, "race", seeds=1, progress=False),
        "n_sigma": partial(fk.n_sigma, scores, by="race"),
        "indices": partial(fk.fairness_indices, scores, by="race"),
    }
    return calls[name], faces, calls[name], 1


def rival(name, images, replicates):
    """Replicates of FRR by a general package."""
    faces = workload.make_faces(images, 128)
    resource.setrlimit(resource.RLIMIT_AS, (RIVAL_MEMORY, RIVAL_MEMORY))
    pairs = rivals.pair_scores(faces.embedding.values, faces.identity.values)
    bootstrap = partial(getattr(rivals, name), *pairs, np.logspace(-3, -1, 9))
    return partial(bootstrap, 2), faces, partial(bootstrap, replicates), 1


WORKS = {
    "evaluation": evaluation,
    "kept": kept,
    "coverage": coverage,
    "other": other,
    "rival": rival,
}


# --- tables --------------------------------------------------------------------------------------


def show_first(quick: bool) -> None:
    """The first evaluation in three kinds of process."""
    with tempfile.TemporaryDirectory() as folder:
        processes = {
            "kernels are compiled": {"NUMBA_CACHE_DIR": folder},
            "kernels were compiled before": {"NUMBA_CACHE_DIR": folder},
            "nothing can be kept": {"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"},
        }
        for name, environment in processes.items():
            imported, first, whole = map(float, python("-c", FIRST, **environment).split())
            seconds = f"import {imported:.2f}, first evaluation {first:.2f}, in all {whole:.2f} s"
            print(f"{name}: {seconds}", flush=True)


def show_evaluate(quick: bool) -> None:
    """Evaluations of two dimensions and ranges of FAR."""
    images = 600 if quick else 10_000
    for dim in (128, 512):
        for far in ((1e-5, 1e-1), (1e-6, 1e-2)):
            for replicates in (0, 200, 1000):
                title = f"dimension {dim}, FAR to {far[1]}, {replicates} replicates"
                show(title, "evaluation", images=images, dim=dim, far=far, replicates=replicates)
            title = f"dimension {dim}, FAR to {far[1]}, histograms"
            show(title, "evaluation", images=images, dim=dim, far=far, histogram=100)


def show_images(quick: bool) -> None:
    """Evaluations of more and more images."""
    for images in (400, 800) if quick else (10_000, 50_000, 100_000, 200_000):
        for replicates in (0, 200):
            options = {"far": (1e-7, 1e-3), "replicates": replicates, "rounds": 1}
            title = f"{images:,} images of dimension 128, {replicates} replicates"
            show(title, "evaluation", images=images, dim=128, **options)


def show_kept(quick: bool) -> None:
    """The sweep, and questions of what it keeps."""
    sizes = ((10_000, 128, 1e-6), (10_000, 512, 1e-6), (100_000, 128, 1e-7))
    for images, dim, lowest in ((400, 128, 1e-3),) if quick else sizes:
        options = {"images": images, "dim": dim, "far": (lowest, 1e4 * lowest)}
        rounds = 3 if images < 50_000 else 1
        for question in (None, "rates", "replicates"):
            title = f"{images:,} images of dimension {dim}, {question or 'sweep'}"
            show(title, "kept", question=question, rounds=rounds, **options)


def show_coverage(quick: bool) -> None:
    """A coverage study."""
    people = 60 if quick else 1000
    show("coverage of 20 data sets", "coverage", data_sets=20, people=people, rounds=1)


def show_others(quick: bool) -> None:
    """The other methods."""
    for name in ("rlb", "n_sigma", "indices"):
        show(name, "other", name=name, images=300 if quick else 1500)


def show_rivals(quick: bool) -> None:
    """General packages at the sizes at which their memory suffices."""
    for name in ("with_scipy", "with_score_analysis"):
        for images in (200,) if quick else (300, 1000, 3000):
            title = f"{name}, {images:,} images, 20 replicates"
            show(title, "rival", name=name, images=images, replicates=20, rounds=1)


PARTS = {
    "first": show_first,
    "evaluate": show_evaluate,
    "images": show_images,
    "kept": show_kept,
    "coverage": show_coverage,
    "others": show_others,
    "rivals": show_rivals,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="toy sizes")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # levels below the resolution of toy data, few images
    if arguments.measure:
        work, options = arguments.measure
        measure(work, **json.loads(options))
        return
    for part in arguments.only:
        print(ROW.format(part, "cpu s", "wall s", "x product", "peak GB"), flush=True)
        PARTS[part](quick=arguments.quick)


if __name__ == "__main__":
    main()
