"""How often intervals of the fairness indices hold the exact truth, and how often the floor calls them unfair.

    OPENBLAS_NUM_THREADS=1 python tests/benchmarks/indices_coverage.py               all of it: some 10 minutes
    python tests/benchmarks/indices_coverage.py --datasets 4 --replicates 20          a look

Eight settings: fixed identities of a von Mises-Fisher mixture seen in new images (image scheme), new identities from
a pool of 1,500 (identity and two-level scheme), and the canonical scores, whose pairs are independent (pair scheme);
each with groups that differ and with groups that are exactly equal. Moments and histograms of all populations are
exact. Writes data/indices_coverage.csv: one row for each setting, index and method, with the Monte Carlo standard
error of the share; for the floor the share is that of data sets with p <= .05.
"""

import argparse
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import dask
import numpy as np
import pandas as pd

import frkit as fk

TABLE = Path(__file__).resolve().parents[2] / "data/indices_coverage.csv"
DIM, IMAGES, IDENTITIES, POOL, BINS, DEALS = 32, 8, 60, 1500, 50, 60
INDICES = [f"{index}_{variant}" for index in ("sfi", "cfi", "dfi") for variant in ("normal", "extremal", "weighted")]
METHODS = ("pivotal", "recentered")
UNFAIR = {"a": {"share": 1}, "b": {"share": 2, "cohesion": 15}, "c": {"share": 3, "kappa": (10, 30)}}
KAPPA = (20, 60)
SCHEMES = ("image", "identity", "two-level", "pair")
SETTINGS = [f"{scheme} {kind}" for scheme in SCHEMES for kind in ("unfair", "fair")]


def population(setting: str) -> fk.vmf.Mixture:
    """The mixture of a setting: fixed identities, or the pool from which they come."""
    scheme, kind = setting.split()
    many = IDENTITIES if scheme == "image" else POOL
    if kind == "unfair":
        return fk.vmf.mixture(many, DIM, kappa=KAPPA, seed=0, groups=UNFAIR)
    return fk.vmf.mixture(many // 3, DIM, kappa=KAPPA, seed=0).rotated_copies(("a", "b", "c"))


def drawn(pool: fk.vmf.Mixture, seed: int) -> fk.vmf.Mixture:
    """New identities: each group keeps its share."""
    rng, group = np.random.default_rng(seed), pool.groups["group"]
    groups = [np.flatnonzero(group == name) for name in np.unique(group)]
    who = np.concatenate([rng.choice(one, round(len(one) * IDENTITIES / POOL), replace=False) for one in groups])
    return fk.vmf.Mixture(pool.mean_directions[who], pool.concentrations[who], group[who])


def canonical(kind: str) -> dict:
    """Three equal groups, or groups that differ in every way, of unequal sizes."""
    return dict(kind=kind, index="dfi", sizes=(1000,) * 3 if kind == "fair" else (200, 1000, 2000))


def exact(setting: str, mix) -> dict[str, float]:
    """The nine indices of the population."""
    scheme, kind = setting.split()
    if scheme == "pair":
        truth = fk.indices.canonical_population(**canonical(kind), bins=BINS)
    else:
        truth = mix.population_distributions(IMAGES, by="group", bins=BINS)
    return {name: float(fk.measures.measure(name)(truth)) for name in INDICES}


def one_data_set(task: tuple) -> list[dict]:
    """Draw, evaluate, and note every interval and floor."""
    setting, mix, truth, replicates, seed = task
    scheme, kind = setting.split()
    score_map = "cosine"
    if scheme == "pair":
        scores, score_map = fk.canonical_scores(**canonical(kind), seed=seed), "identity"
    else:
        people = mix if scheme == "image" else drawn(mix, seed)
        scores = fk.score_tensor(people.sample(IMAGES, seed=10_000 + seed))
    resampling = fk.Resampling(scheme, n=replicates, seed=seed, strata="group" if scheme in SCHEMES[1:3] else None)
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore", fk.DataWarning)
        ev = fk.indices.evaluate(scores, by="group", score_map=score_map, bins=BINS, resampling=resampling, deals=DEALS)
        return [row | {"setting": setting} for name in INDICES for row in rows(ev, name, truth[name])]


def rows(ev, name: str, truth: float) -> list[dict]:
    """Rows of one index: each method, and the floor."""
    found = []
    for method in METHODS:
        band = fk.band(ev, name, method=method)
        low, high = float(band.lower), float(band.upper)
        one = {"hit": low <= truth <= high, "estimate": float(band.estimate), "width": high - low}
        found.append(one | {"index": name, "method": method, "truth": truth})
    floor = fk.floor(ev, name)
    last = {"hit": float(floor.p) <= 0.05, "estimate": float(floor["median"]), "width": np.nan}
    return [*found, last | {"index": name, "method": "floor", "truth": truth}]


def table(found: list[dict]) -> pd.DataFrame:
    """Share of data sets with its Monte Carlo standard error, mean estimate (floor: median) and width."""
    grouped = pd.DataFrame(found).groupby(["setting", "index", "method"], sort=False)
    out = grouped.agg(
        truth=("truth", "mean"),
        mean_estimate=("estimate", "mean"),
        share=("hit", "mean"),
        width=("width", "mean"),
        datasets=("hit", "size"),
    ).reset_index()
    out.insert(6, "mc_error", np.sqrt(out.share * (1 - out.share) / out.datasets))
    return out.round(4)


def tasks(setting: str, datasets: int, replicates: int) -> list[tuple]:
    """Every data set of one setting, with its exact truth."""
    mix = None if setting.startswith("pair") else population(setting)
    truth = exact(setting, mix)
    mix = None if mix is None else fk.vmf.Mixture(mix.mean_directions, mix.concentrations, mix.groups)
    return [(setting, mix, truth, replicates, seed) for seed in range(datasets)]


def stored(out: Path, command: str, setting: str) -> pd.DataFrame:
    """What the same command stored of other settings."""
    if not out.exists() or command not in out.read_text(encoding="utf-8"):
        return pd.DataFrame()
    found = pd.read_csv(out, comment="#")
    return found[found.setting != setting]


def main() -> None:
    """Run the study and store its table, one setting after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=100)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=TABLE)
    asked = parser.parse_args()
    command = f"indices_coverage.py --datasets {asked.datasets} --replicates {asked.replicates}"
    versions = f"frkit {fk.__version__}, numpy {np.__version__}, python {sys.version.split()[0]}"
    for setting in asked.settings:
        every = tasks(setting, asked.datasets, asked.replicates)
        with ProcessPoolExecutor(asked.workers) as workers:
            found = [row for many in workers.map(one_data_set, every, chunksize=5) for row in many]
        whole = pd.concat([stored(asked.out, command, setting), table(found)])
        with open(asked.out, "w", encoding="utf-8") as file:
            file.write(f"# python tests/benchmarks/{command}\n# seeds 0 to n-1; {versions}\n")
            whole.to_csv(file, index=False)
        print(table(found).to_string(), flush=True)


if __name__ == "__main__":
    main()
