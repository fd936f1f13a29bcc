"""What the benchmarks measure with: faces, the bare matrix product, clocks and peak memory."""

import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

import frkit as fk

TILE = 512
RACES = {  # share of the people, and how much their faces look alike, so that rates differ
    "a": {"share": 0.4, "cohesion": 0},
    "b": {"share": 0.3, "cohesion": 8},
    "c": {"share": 0.2, "cohesion": 12},
    "d": {"share": 0.1, "cohesion": 15},
}


def make_faces(n_images: int, dim: int) -> xr.Dataset:
    """Faces of a von Mises-Fisher mixture with four races, ten images of each person.

    Errors are about as frequent in every dimension.
    """
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


def peak_memory() -> float:
    """Largest resident memory of this process so far, in GB.

    Linux's own figure where there is one: `ru_maxrss` also remembers the process that started
    this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024 / 1e9
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
