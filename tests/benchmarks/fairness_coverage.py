"""How often intervals of disparity measures hold the truth, and how often the floor calls a fair model unfair.

    OPENBLAS_NUM_THREADS=1 python tests/benchmarks/fairness_coverage.py            all of it: some 15 minutes
    python tests/benchmarks/fairness_coverage.py --datasets 4 --replicates 20       a look

Two populations of von Mises-Fisher mixtures with exact rates: one with a known disparity between two groups,
one of two rotated copies, whose groups are exactly equal. The image scheme is held against the truth of fixed
identities seen in new images; the identity scheme against the truth of a pool from which each data set draws
new identities. Writes data/fairness_coverage.csv: one row for each scheme, population, measure, FAR level and
method, with the Monte Carlo standard error of the coverage.
"""

import argparse
import itertools
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import dask
import numpy as np
import pandas as pd
from tqdm import tqdm

import frkit as fk

TABLE = Path(__file__).resolve().parents[2] / "data/fairness_coverage.csv"
DIM, IMAGES, POOL = 64, 10, 3600
FAR = fk.far_levels(1e-3, 1e-2, per_decade=2)
MEASURES = ("frr_max_geomean", "far_max_geomean", "frr_max_min", "far_max_min")
METHODS = ("recentered", "naive", "pivotal")
UNFAIR = {"A": {"kappa": (60, 240)}, "B": {"kappa": (45, 200), "cohesion": 16}}
FAIR_KAPPA = (50, 220)


def population(kind: str, n_identities: int) -> fk.vmf.Mixture:
    """Identities in two groups, unequal or exactly equal."""
    if kind == "unfair":
        return fk.vmf.mixture(n_identities, DIM, seed=0, groups=UNFAIR)
    return fk.vmf.mixture(n_identities // 2, DIM, kappa=FAIR_KAPPA, seed=0).rotated_copies()


def drawn(pool: fk.vmf.Mixture, n_identities: int, seed: int) -> fk.vmf.Mixture:
    """New identities: as many of each group, each at most once."""
    rng, group = np.random.default_rng(seed), pool.groups["group"]
    names = np.unique(group)
    each = [rng.choice(np.flatnonzero(group == name), n_identities // len(names), replace=False) for name in names]
    who = np.concatenate(each)
    return fk.vmf.Mixture(pool.mean_directions[who], pool.concentrations[who], group[who])


def one_data_set(task: tuple) -> list[dict]:
    """Draw, evaluate, and note every interval and floor at every level."""
    source, scheme, kind, truth, sizes, seed = task
    n_identities, replicates = sizes
    mix = source if scheme == "image" else drawn(source, n_identities, seed)
    resampling = fk.Resampling(scheme, n=replicates, seed=seed, strata=None if scheme == "image" else "group")
    scores = fk.score_tensor(mix.sample(IMAGES, seed=10_000 + seed))
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore", fk.DataWarning)
        ev = fk.evaluate(scores, far=FAR, by="group", resampling=resampling)
        rows = [row for name in MEASURES for row in intervals(ev, name, truth)] + whole_curve(ev, truth)
    return [{"scheme": scheme, "population": kind, "seed": seed, **row} for row in rows]


def intervals(ev, name: str, truth) -> list[dict]:
    """Rows of one measure: each method, and the floor, at each level."""
    exact, rows = fk.measures.measure(name)(truth).values, []
    for method in METHODS:
        band = fk.band(ev, name, method=method)
        inside = (band.lower.values <= exact) & (exact <= band.upper.values)
        log_width = np.log(np.maximum(band.upper.values, 1e-9) / np.maximum(band.lower.values, 1e-9))
        rows += rows_of(name, method, exact, inside, band.lower.values, log_width)
    floor = fk.floor(ev, name)
    return rows + rows_of(name, "floor", exact, floor.p.values <= 0.05, floor.limit.values, np.full(len(FAR), np.nan))


def rows_of(name, method, exact, hit, end, log_width) -> list[dict]:
    """One row a level."""
    keys = ("measure", "method", "far", "truth", "hit", "lower", "log_width")
    return [
        dict(zip(keys, (name, method, *at), strict=True)) for at in zip(FAR, exact, hit, end, log_width, strict=True)
    ]


def whole_curve(ev, truth) -> list[dict]:
    """Whether one band holds the exact FRR at all resolved levels at once."""
    rows = []
    for method, options in (("pointwise, all levels", {}), ("sup-t, all levels", {"simultaneous": True})):
        band = fk.band(ev, "frr", **options)
        inside = ((band.lower <= truth.frr.values) & (truth.frr.values <= band.upper)).where(band.resolved, True)
        rows.append({"measure": "frr", "method": method, "far": FAR[0], "hit": bool(inside.all())})
    return rows


def tasks(arguments) -> list[tuple]:
    """Every data set of every scheme and population, with its exact truth."""
    found = []
    for scheme, kind in itertools.product(arguments.schemes, ("unfair", "fair")):
        source = population(kind, arguments.identities if scheme == "image" else POOL)
        truth = source.population_roc(FAR, by="group")
        sizes = arguments.identities, arguments.replicates
        found += [(source, scheme, kind, truth, sizes, seed) for seed in range(arguments.datasets)]
    return found


def table(rows: list[dict]) -> pd.DataFrame:
    """Coverage (for the floor: share of data sets with p <= .05) with its Monte Carlo standard error."""
    keys = ["scheme", "population", "measure", "far", "method"]
    grouped = pd.DataFrame(rows).groupby(keys, sort=False)
    found = grouped.agg(
        truth=("truth", "mean"),
        share=("hit", "mean"),
        lower=("lower", "mean"),
        log_width=("log_width", "median"),
        datasets=("hit", "size"),
    ).reset_index()
    found.insert(7, "mc_error", np.sqrt(found.share * (1 - found.share) / found.datasets))
    return found.round(4)


def main() -> None:
    """Run the study and store its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=200)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--identities", type=int, default=120)
    parser.add_argument("--schemes", nargs="+", default=["image", "identity"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=TABLE)
    arguments = parser.parse_args()
    every = tasks(arguments)
    with ProcessPoolExecutor(arguments.workers) as workers:
        done = tqdm(workers.map(one_data_set, every, chunksize=2), total=len(every), mininterval=20)
        rows = [row for rows in done for row in rows]
    asked = f"--datasets {arguments.datasets} --replicates {arguments.replicates} --identities {arguments.identities}"
    versions = f"frkit {fk.__version__}, numpy {np.__version__}, python {sys.version.split()[0]}"
    with open(arguments.out, "w", encoding="utf-8") as file:
        file.write(f"# python tests/benchmarks/fairness_coverage.py {asked}\n# seeds 0 to n-1; {versions}\n")
        table(rows).to_csv(file, index=False)
    print(table(rows).to_string())


if __name__ == "__main__":
    main()
