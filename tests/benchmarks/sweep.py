"""What an evaluation costs: python tests/benchmarks/sweep.py [--quick] [--only NAME ...]

Every timing is one call of the public API, `fk.evaluate(fk.score_tensor(faces), far=..., by="race",
resampling=fk.Resampling("image", n=...))` at 21 FAR levels with four groups, on a von Mises-Fisher
mixture. In each round the bare product and the evaluations are timed in turn within this process,
so that the ratios mean something on a busy machine too.

    cpu s     CPU seconds of all threads, the median over the rounds
    wall s    seconds on the clock, the median over the rounds
    x cpu     CPU seconds over those of the base in the same round, the median over the rounds
    x wall    the same of the clock
    target    largest "x cpu" that the project allows itself

The base is the bare matrix product: float32 tiles of 512, upper triangle, as many threads, one BLAS
thread in each, nothing kept. Scores cost at least that. Data ("equal": 10 images of each identity,
"2-20": uneven, "2-6": about 4 of each, as in MORPH):

    rates-*     FAR levels from 1e-5 to 1e-1 and from 1e-6 to 1e-2, 200 replicates, 10,000 images
    none-*      the same without replicates
    thousand-*  the same with 1,000 replicates
    all-*       histogram=100: AUC, moments and histograms from every pair, besides the rates
    large-*     53,500 images (MORPH has 55,000), one round
    many-*      `fk.studies.coverage` of 20 data sets without groups, FAR 1e-6 to 1e-1: drawing
                them, evaluating them and the bands, against as many bare products
    literal-*   base: one evaluation with 200 replicates. The paper's Algorithm 1 as written, in
                NumPy: copies of images, all scores anew, for each replicate; timed on few
                replicates and multiplied to 200
    memory      of the sweeps above, FAR to 1e-1: peak memory of one evaluation in a fresh process
                each, "total", and "own", which leaves out what was there before (interpreter,
                imports, compiled kernels, embeddings)

--quick runs the same on toy sizes, to see that the command works: its ratios mean nothing.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import dask
import numpy as np
import rivals
import workload
import xarray as xr
from workload import Times

import frkit as fk

WIDE, NARROW = np.logspace(-5, -1, 21), np.logspace(-6, -2, 21)
LEVELS = {"FAR to 1e-1": WIDE, "FAR to 1e-2": NARROW}
TARGETS = {
    (128, "FAR to 1e-1"): 4.0,
    (128, "FAR to 1e-2"): 2.0,
    (512, "FAR to 1e-1"): 2.0,
    (512, "FAR to 1e-2"): 1.5,
}
MEMORY_TARGETS = {10_000: 0.5, 53_500: 1.5}
REPLICATES = 200
COLUMNS = "{:<18}{:<30}{:>10}{:>10}{:>9}{:>9}{:>9}"


@dataclass(frozen=True)
class Case:
    """One data set and what is timed on it; few, many: smallest and largest number of images per
    identity."""

    name: str
    dim: int
    few: int = 10
    many: int = 10
    images: int = 10_000
    replicates: int = REPLICATES
    histogram: int | None = None
    rounds: int = 5

    @property
    def faces(self) -> xr.Dataset:
        """The data set."""
        return workload.make_faces(self.images, self.dim, self.few, self.many)

    def evaluate(self, faces: xr.Dataset, far: np.ndarray) -> xr.DataTree:
        """The call that is timed."""
        resampling = fk.Resampling("image", n=self.replicates) if self.replicates else None
        scores = fk.score_tensor(faces)
        return fk.evaluate(
            scores,
            far=far,
            by="race",
            resampling=resampling,
            histogram=self.histogram,
            progress=False,
        )


def cases(quick: bool) -> dict[str, list[Case]]:
    """All cases, by kind."""
    dims = (128, 512)
    sweeps = [Case(f"rates-{dim}-equal", dim) for dim in dims]
    sweeps += [Case(f"rates-{dim}-2-20", dim, 2, 20) for dim in dims]
    sweeps += [Case(f"none-{dim}", dim, replicates=0) for dim in dims]
    sweeps += [Case(f"thousand-{dim}", dim, replicates=1000, rounds=3) for dim in dims]
    sweeps += [Case(f"all-{dim}", dim, histogram=100, rounds=3) for dim in dims]
    sweeps += [Case(f"large-{dim}", dim, 2, 6, images=53_500, rounds=1) for dim in dims]
    kinds = {
        "sweep": sweeps,
        "many": [Case("many-128", 128, rounds=2)],
        "literal": [Case(f"literal-{dim}", dim, rounds=2) for dim in dims],
        "memory": sweeps,
    }
    if not quick:
        return kinds
    small = dict(images=600, rounds=1)
    toys = {
        kind: [replace(c, replicates=min(c.replicates, 8), **small) for c in some]
        for kind, some in kinds.items()
    }
    return toys | {"memory": toys["memory"][:1]}


def time_sweeps(case: Case) -> None:
    """Evaluations against the bare product."""
    faces = case.faces
    works = {"bare product": partial(workload.bare_product, faces.embedding.values)}
    works |= {name: partial(case.evaluate, faces, far) for name, far in LEVELS.items()}
    times = workload.alternate(works, case.rounds)
    for name in works:
        promised = case.histogram is None and case.replicates == REPLICATES
        target = TARGETS.get((case.dim, name)) if promised else None
        show(case.name, name, times[name], times["bare product"], target)


def time_many(case: Case) -> None:
    """A coverage study against as many bare products; its truth, which is computed once, is not
    counted."""
    n, far = 20, np.logspace(-6, -1, 21)
    mix = fk.vmf.mixture(case.images // case.few, case.dim, kappa=(100, 800), seed=0)
    mix.population_roc(far)
    rows = mix.sample(case.few, seed=0).embedding.values
    options = dict(per_identity=case.few, far=far, replicates=case.replicates, progress=False)
    works = {
        "bare products": lambda: [workload.bare_product(rows) for _ in range(n)],
        f"coverage, {n} data sets": lambda: fk.studies.coverage(mix, n_datasets=n, **options),
    }
    times = workload.alternate(works, case.rounds)
    for name, target in zip(works, (None, 5.0), strict=True):
        show(case.name, name, times[name], times["bare products"], target)


def time_literal(case: Case) -> None:
    """The paper's algorithm, replicate by replicate, against one evaluation."""
    faces = case.faces
    codes = [np.unique(faces[name].values, return_inverse=True)[1] for name in ("identity", "race")]
    drawn = fk.Resampling("image", n=case.replicates).weights(
        faces.identity.values, faces.image.values
    )
    replicates = iter(drawn.image_count.values)
    works = {
        "evaluate, all replicates": partial(case.evaluate, faces, WIDE),
        "Algorithm 1": lambda: rivals.algorithm_1(
            faces.embedding.values, *codes, WIDE, next(replicates)
        ),
    }
    times = workload.alternate(works, case.rounds)
    base, one = times.values()
    show(case.name, "evaluate, all replicates", base, base)
    show(
        case.name, f"Algorithm 1, one, times {case.replicates}", scaled(one, case.replicates), base
    )


def scaled(times: Times, factor: int) -> Times:
    """Times multiplied."""
    return Times(*([seconds * factor for seconds in clock] for clock in (times.cpu, times.wall)))


def show(case: str, name: str, times: Times, base: Times, target: float | None = None) -> None:
    """Print one line of the table."""
    cpu, wall = times.over(base)
    medians = [f"{statistics.median(clock):.3f}" for clock in (times.cpu, times.wall)]
    limit = f"{target:g}" if target else ""
    print(COLUMNS.format(case, name, *medians, f"{cpu:.2f}", f"{wall:.2f}", limit), flush=True)


def show_memory(case: Case) -> None:
    """Peak memory of the evaluation, measured in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path, faces = Path(folder) / "faces.npz", case.faces
        np.savez(path, embedding=faces.embedding, identity=faces.identity, race=faces.race)
        own = [
            f"{name}={getattr(case, name) or 0}"
            for name in ("dim", "images", "replicates", "histogram")
        ]
        command = [sys.executable, __file__, "--memory-of", str(path), *own]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    total, before = map(float, done.stdout.split())
    promised = case.histogram is None and case.replicates == REPLICATES
    limit = f", target {MEMORY_TARGETS[case.images]} GB" if promised else ""
    print(
        f"{'memory':<8}{case.name:<18}own {total - before:.2f} GB, total {total:.2f} GB{limit}",
        flush=True,
    )


def measure_memory(path: str, given: list[str]) -> None:
    """In the fresh process: print the peak after the evaluation and before it, in GB."""
    options = dict(pair.split("=") for pair in given)
    sizes = {name: int(options[name]) for name in ("dim", "images", "replicates")}
    case = Case("memory", histogram=int(options["histogram"]) or None, **sizes)
    warm_up(case.histogram)
    faces = fk.open_faces(path)
    before = workload.peak_memory()
    case.evaluate(faces, WIDE)
    print(workload.peak_memory(), before)


def warm_up(histogram: int | None = 100) -> None:
    """Load or compile the kernels, so that nobody pays for that."""
    for few, many in ((10, 10), (2, 20)):
        case = Case("warm up", 128, few, many, images=600, replicates=2, histogram=histogram)
        case.evaluate(case.faces, WIDE)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="toy sizes")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="beginnings of the names of the cases to run"
    )
    parser.add_argument("--memory-of", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    warnings.simplefilter(
        "ignore", fk.DataWarning
    )  # levels below the resolution of toy data, few images
    dask.config.set(num_workers=workload.THREADS)
    if asked.memory_of:
        return measure_memory(asked.memory_of[0], asked.memory_of[1:])
    print(
        f"{workload.THREADS} threads; "
        + "; ".join(f"{m.__name__} {m.__version__}" for m in (fk, np, dask))
    )
    print(
        COLUMNS.format("case", "work", "cpu s", "wall s", "x cpu", "x wall", "target"), flush=True
    )
    warm_up()
    runners = {
        "sweep": time_sweeps,
        "many": time_many,
        "literal": time_literal,
        "memory": show_memory,
    }
    for kind, some in cases(asked.quick).items():
        for case in some:
            label = f"{kind}-{case.name}" if kind == "memory" else case.name
            if label.startswith(tuple(asked.only)):
                runners[kind](case)


if __name__ == "__main__":
    main()
