"""What a coverage study costs: python tests/benchmarks/coverage_study.py [--quick] [--data-sets 20]

The study of Conti & Clémençon (2024), B.1: 1,000 identities of dimension 128 with 10 images each, image scheme, 200
replicates, here at 21 FAR levels from 1e-6 to 1e-1, every method at 19 nominal levels. In each of two rounds these
are timed in turn within this process:

    bare products   as many bare matrix products as there are data sets (see workload.py), the least that scores cost
    study           `fk.studies.coverage`, from drawing the images to the shares; the exact truth is timed apart: it
                    is computed once for any number of data sets
    kept            the same with a store, in which every finished data set is kept
    Algorithm 1     the paper's bootstrap as written, in NumPy: ONE replicate of one data set, multiplied by 200 and by
                    the number of data sets

    cpu s, wall s   seconds, the median over the rounds
    x cpu, x wall   over those of the bare products of the same round, the median over the rounds
    target          largest "x cpu" that the project allows itself

and the peak memory of a study in a fresh process: "own" leaves out what was there before (interpreter, compiled
kernels, the mixture with its truth). With the default 20 data sets ratios are those of 200, but for the reading of
the results, which is somewhat cheaper by the data set when there are more. --quick runs toy sizes.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import warnings
from functools import partial

import dask
import numpy as np
import rivals
import workload

import frkit as fk

METHODS = ("recentered", "naive", "gaussian", "pivotal", "effective")
FAR = fk.far_levels(1e-6, 1e-1, per_decade=4)
TARGET = 3.0
COLUMNS = "{:<34}{:>10}{:>10}{:>9}{:>9}{:>9}"


def population(quick: bool):
    """The paper's mixture, and the number of replicates."""
    return (
        (fk.vmf.mixture(40, 128, kappa=(100, 800), seed=0), 8)
        if quick
        else (fk.vmf.mixture(1000, seed=0), 200)
    )


def study(mixture, replicates: int, n_datasets: int, store: str | None = None) -> None:
    """The call that is timed."""
    methods = METHODS if n_datasets > 2 else METHODS[:1]
    how = dict(methods=methods, replicates=replicates, store=store, progress=False)
    fk.studies.coverage(mixture, n_datasets=n_datasets, far=FAR, **how)


def kept(mixture, replicates: int, n_datasets: int) -> None:
    """The same with a new store."""
    with tempfile.TemporaryDirectory() as folder:
        study(mixture, replicates, n_datasets, folder)


def products(embedding: np.ndarray, n_datasets: int) -> None:
    """The bare products of all data sets."""
    for _ in range(n_datasets):
        workload.bare_product(embedding)


def measure_memory(quick: bool, n_datasets: int) -> None:
    """In the fresh process: print the peak after the study and before it, in GB."""
    mixture, replicates = population(quick)
    mixture.population_roc(FAR)
    study(fk.vmf.mixture(10, 128, seed=1), 2, 2)
    before = workload.peak_memory()
    study(mixture, replicates, n_datasets)
    print(workload.peak_memory(), before)


def show(
    name: str, times: workload.Times, base: workload.Times, target: str = "", factor: float = 1.0
) -> None:
    """Print one line of the table."""
    seconds = [f"{factor * statistics.median(clock):.3f}" for clock in (times.cpu, times.wall)]
    ratios = [f"{factor * ratio:.2f}" for ratio in times.over(base)]
    print(COLUMNS.format(name, *seconds, *ratios, target), flush=True)


def works_of(mixture, replicates: int, n: int) -> dict:
    """What is timed, by name."""
    faces = mixture.sample(per_identity=10, seed=1)
    codes = np.unique(faces.identity.values, return_inverse=True)[1]
    counts = fk.Resampling("image", n=2).weights(faces.identity.values).image_count.values[0]
    return {
        "products": partial(products, faces.embedding.values, n),
        "study": partial(study, mixture, replicates, n),
        "kept": partial(kept, mixture, replicates, n),
        "literal": partial(rivals.algorithm_1, faces.embedding.values, codes, None, FAR, counts),
    }


def show_times(quick: bool, n: int) -> None:
    """Print the table."""
    mixture, replicates = population(quick)
    study(fk.vmf.mixture(10, 128, seed=1), 2, 2)  # kernels are loaded or compiled
    truth = workload.clock(partial(mixture.population_roc, FAR))
    times = workload.alternate(works_of(mixture, replicates, n), 1 if quick else 2)
    base = times["products"]
    print(COLUMNS.format("work", "cpu s", "wall s", "x cpu", "x wall", "target"))
    print(COLUMNS.format("exact truth, once", *(f"{clock:.3f}" for clock in truth), "", "", ""))
    show(f"bare products of {n} data sets", base, base)
    show(f"study of {n} data sets", times["study"], base, "" if quick else f"{TARGET:g}")
    show(f"study of {n} data sets, kept", times["kept"], base)
    show(
        f"Algorithm 1, one, times {replicates} x {n}", times["literal"], base, factor=replicates * n
    )


def main() -> None:
    """Print the table, and the memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="toy sizes")
    parser.add_argument("--data-sets", type=int, default=20)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    warnings.simplefilter(
        "ignore", fk.DataWarning
    )  # levels without errors, rates below the resolution of toy data
    dask.config.set(num_workers=workload.THREADS)
    n = 2 if asked.quick else asked.data_sets
    if asked.memory:
        return measure_memory(asked.quick, n)
    print(
        f"{workload.THREADS} threads; "
        + "; ".join(f"{m.__name__} {m.__version__}" for m in (fk, np, dask))
    )
    show_times(asked.quick, n)
    command = [
        sys.executable,
        __file__,
        "--memory",
        "--data-sets",
        str(n),
        *(["--quick"] if asked.quick else []),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    total, before = map(float, done.stdout.split())
    print(f"memory: own {total - before:.2f} GB, total {total:.2f} GB")


if __name__ == "__main__":
    main()
