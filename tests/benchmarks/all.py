"""What frkit costs: python tests/benchmarks/all.py [--quick] [--only PART ...]

    first       `import frkit` and the README's example, in a process that compiles, in one that
                finds what was compiled, and in one that can keep nothing
    images      10,000 to 200,000 images, FAR levels from 1e-7 to 1e-3
    kept        the sweep alone, and questions that are asked of its kept pairs

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
import statistics
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import workload

import frkit as fk

ROOT = Path(__file__).resolve().parent.parent.parent
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
    small, faces, call = WORKS[work](**options)
    small()
    product = partial(workload.bare_product, faces.embedding.values)
    seconds = {"product": [], "work": []}
    for _ in range(rounds):
        seconds["product"].append(workload.clock(product)[0])
        seconds["work"].append(workload.clock(call))
    cpu, wall = np.transpose(seconds["work"])
    ratio = statistics.median(cpu / np.array(seconds["product"]))
    print(
        json.dumps([statistics.median(cpu), statistics.median(wall), ratio, workload.peak_memory()])
    )


def evaluation(images, dim, far, replicates):
    """An evaluation at 21 FAR levels with four groups."""

    def evaluate(faces):
        resampling = fk.Resampling("image", n=replicates) if replicates else None
        levels = np.logspace(*np.log10(far), 21)
        options = {"far": levels, "by": "race", "resampling": resampling, "progress": False}
        return fk.evaluate(fk.score_tensor(faces), **options)

    faces = workload.make_faces(images, dim)
    few_faces = workload.make_faces(300, dim)
    return partial(evaluate, few_faces), faces, partial(evaluate, faces)


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
        return partial(sweep, few_faces), faces, partial(sweep, faces)
    return partial(sweep, few_faces), faces, partial(ask, sweep(faces))


WORKS = {"evaluation": evaluation, "kept": kept}


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
    for images, dim, lowest in ((400, 128, 1e-6),) if quick else sizes:
        options = {"images": images, "dim": dim, "far": (lowest, 1e4 * lowest)}
        rounds = 3 if images < 50_000 else 1
        for question in (None, "rates", "replicates"):
            title = f"{images:,} images of dimension {dim}, {question or 'sweep'}"
            show(title, "kept", question=question, rounds=rounds, **options)


PARTS = {"first": show_first, "images": show_images, "kept": show_kept}


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
