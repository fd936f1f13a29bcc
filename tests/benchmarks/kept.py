"""What the sweep costs, and questions of the pairs that it keeps: the table of binder/docs/cost.md.

    python tests/benchmarks/kept.py [--quick]

Each row is measured in a process of its own, after a small call that compiles the kernels. The bare
matrix product of the same embeddings is timed in the same rounds, so that the ratios mean something
on a busy machine, too. --quick takes a toy size, to see that the command works.

    cpu s       CPU seconds of all threads
    x product   over those of the bare matrix product of the same round
    peak GB     largest memory of the process
"""

import argparse
import multiprocessing
import os
import resource
import statistics
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

import frkit as fk

SIZES = ((10_000, 128, 1e-6), (10_000, 512, 1e-6), (100_000, 128, 1e-7))  # images, dim, lowest FAR
QUESTIONS = ("sweep", "rates", "replicates")
ROW = "{:<50}{:>9}{:>9}{:>11}{:>9}"
TILE = 512
RACES = {  # share of the people, and how much their faces look alike, so that rates differ
    "a": {"share": 0.4, "cohesion": 0},
    "b": {"share": 0.3, "cohesion": 8},
    "c": {"share": 0.2, "cohesion": 12},
    "d": {"share": 0.1, "cohesion": 15},
}


def make_faces(n_images: int, dim: int) -> xr.Dataset:
    """Faces of four races, ten images of each person; errors are as frequent in every dimension."""
    scale = (dim / 128) ** 0.75  # impostor scores scatter by dim ** -0.5
    groups = {name: race | {"cohesion": race["cohesion"] * scale} for name, race in RACES.items()}
    kappa = 100 * scale, 800 * scale
    mixture = fk.vmf.mixture(n_images // 10, dim, kappa=kappa, groups=groups, seed=0)
    return mixture.sample(10, seed=1).rename(group="race")


def bare_product(rows: np.ndarray) -> None:
    """All inner products of float32 rows: upper triangle, tile by tile, two threads.

    Nothing is kept: this is the least that any evaluation of these rows can cost.
    """

    def products(tiles: list[tuple[int, int]]) -> None:
        scores = np.empty((TILE, TILE), np.float32)
        for first, second in tiles:
            probes, references = rows[first : first + TILE], rows[second : second + TILE]
            np.matmul(probes, references.T, out=scores[: len(probes), : len(references)])

    starts = range(0, len(rows), TILE)
    tiles = [(first, second) for first in starts for second in starts if second >= first]
    threads = min(2, os.cpu_count() or 1)
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        list(pool.map(products, [tiles[thread::threads] for thread in range(threads)]))


def clock(work) -> tuple[float, float]:
    """(CPU seconds of all threads, wall seconds) of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def sweep(faces, far):
    """The kept pairs of all scores."""
    return fk.sweep(fk.score_tensor(faces), far=far, progress=False)


def ask(pairs, far, question):
    """Rates of groups and what people add to them, or also replicates."""
    resampling = fk.Resampling("image", n=200) if question == "replicates" else None
    return fk.evaluate(pairs, far=far, by="race", resampling=resampling)


def measure(images: int, dim: int, lowest: float, question: str) -> None:
    """Print a row: CPU and wall seconds, their ratio to the bare product, and peak memory."""
    warnings.simplefilter("ignore")  # levels below the resolution of toy data
    far = np.geomspace(lowest, 1e4 * lowest, 13)
    faces, few_faces = make_faces(images, dim), make_faces(300, dim)
    ask(sweep(few_faces, far), far, question)
    if question != "sweep":
        pairs = sweep(faces, far)
    seconds, ratios = [], []
    for _ in range(3 if images < 50_000 else 1):
        product, _ = clock(lambda: bare_product(faces.embedding.values))
        if question == "sweep":
            seconds.append(clock(lambda: sweep(faces, far)))
        else:
            seconds.append(clock(lambda: ask(pairs, far, question)))
        ratios.append(seconds[-1][0] / product)
    cpu, wall = np.median(seconds, axis=0)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
    title = f"{images:,} images of dimension {dim}, {question}"
    figures = cpu, wall, statistics.median(ratios), peak
    print(ROW.format(title, *(f"{figure:,.2f}" for figure in figures)), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a toy size")
    quick = parser.parse_args().quick
    print(ROW.format("", "cpu s", "wall s", "x product", "peak GB"), flush=True)
    context = multiprocessing.get_context("spawn")
    for images, dim, lowest in ((400, 128, 1e-6),) if quick else SIZES:
        for question in QUESTIONS:
            process = context.Process(target=measure, args=(images, dim, lowest, question))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
