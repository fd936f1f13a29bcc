"""What the benchmarks measure with: data, clocks, memory, and the bare matrix product."""

import os
import resource
import statistics
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

import frkit as fk

THREADS = min(2, os.cpu_count() or 1)
TILE = 512
RACES = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}  # shares of the identities
COHESION = {
    "a": 0,
    "b": 8,
    "c": 12,
    "d": 15,
}  # faces of a group look a little alike, so that rates differ


def images_of_identities(n_images: int, few: int, many: int, seed: int = 0) -> np.ndarray:
    """Numbers of images per identity, uniform on few..many, that add up to n_images."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(few, many + 1, size=n_images // few)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), n_images, side="right")]
    rest = n_images - sizes.sum()
    if rest >= few:
        return np.append(sizes, rest)
    sizes[rng.choice(np.flatnonzero(sizes < many), rest, replace=False)] += 1
    return sizes


def make_faces(n_images: int, dim: int, few: int, many: int) -> xr.Dataset:
    """Faces of a von Mises-Fisher mixture with four races; errors are about as frequent in every
    dimension."""
    sizes = images_of_identities(n_images, few, many)
    scale = (dim / 128) ** 0.75  # impostor scores scatter by dim ** -0.5
    groups = {name: {"share": RACES[name], "cohesion": COHESION[name] * scale} for name in RACES}
    mix = fk.vmf.mixture(len(sizes), dim, kappa=(100 * scale, 800 * scale), groups=groups, seed=0)
    return mix.sample(sizes, seed=1).rename(group="race")


def bare_product(rows: np.ndarray) -> None:
    """All inner products of float32 rows, upper triangle, tile by tile, one BLAS thread in each
    thread.

    Nothing is kept: this is the least that any evaluation of these rows can cost.
    """
    own = threading.local()

    def product(at: tuple[int, int]) -> None:
        if not hasattr(own, "tile"):
            own.tile = np.empty((TILE, TILE), np.float32)
        a, b = rows[at[0] : at[0] + TILE], rows[at[1] : at[1] + TILE]
        np.matmul(a, b.T, out=own.tile[: len(a), : len(b)])

    starts = range(0, len(rows), TILE)
    tiles = [(i, j) for i in starts for j in starts if j >= i]
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(product, tiles))


@dataclass(frozen=True)
class Times:
    """Seconds of one piece of work in every round."""

    cpu: list
    wall: list

    def over(self, base: "Times") -> tuple[float, float]:
        """Medians over the rounds of the ratios to other work of the same round: (CPU, wall)."""
        return tuple(
            statistics.median(
                a / b for a, b in zip(getattr(self, clock), getattr(base, clock), strict=True)
            )
            for clock in ("cpu", "wall")
        )


def alternate(works: dict, rounds: int) -> dict[str, Times]:
    """Time every piece of work once per round, in turn: A B C A B C, so that a slow spell hits all
    alike."""
    times = {name: Times([], []) for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            cpu, wall = clock(work)
            times[name].cpu.append(cpu)
            times[name].wall.append(wall)
    return times


def clock(work) -> tuple[float, float]:
    """(CPU seconds of all threads, wall seconds) of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def peak_memory() -> float:
    """Largest resident memory of this process so far, in GB.

    Linux's own high-water mark where there is one: `ru_maxrss` also remembers the process that
    started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e9
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
