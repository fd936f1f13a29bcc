"""Coverage of the default intervals, for these people and for new ones: python data/make_interval_coverage.py

Makes data/interval_coverage.csv: one row for each population, target, measure, FAR level and method, with the share of
data sets whose 95 % interval holds the exact truth. Four kinds of populations (mixtures of von Mises-Fisher clouds):

rates      FRR at FAR 1e-6 to 1e-1 and the FAR of the thresholds that were found; images per identity,
           dimension, number of people and concentrations vary. About "new people" every data set has other
           people, and the truth is that of the law they are drawn from; about "these people" a batch shares them.
disparity  max/min, max over geometric mean, Gini and largest difference of group FRR and FAR at FAR 1e-3 and 1e-2,
           for groups that differ and for groups that are exactly equal; differences of all pairs of groups.
eer        the EER in the populations of rates.
models     the difference in FRR of two encoders that are equally good, on correlated images.

Data sets are made in batches, round after round through all populations, so that a run can be stopped at any time; each
finished batch is a file in --store, and a second process with the same store takes other batches. `--table` only reads
the store. An hour and a quarter of CPU time for 300 data sets of each population.
"""

import argparse
import os
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import dask
import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq
from scipy.special import ndtri
from threadpoolctl import threadpool_limits

import frkit as fk

HERE = Path(__file__).parent
THESE, NEW = "these people", "new people"
SCHEME = {THESE: "image", NEW: "identity"}
SEEDS = dict.fromkeys(("rates", "eer", "models"), 20301122) | {"disparity": 20321124}  # no law was made with them
LEVEL, REPLICATES, BATCH = 0.95, 200, 25
WITH_REPLICATES = 25  # data sets of the populations that are also read by a method of the bootstrap
FAR, FAR_OF_GROUPS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1), (1e-3, 1e-2)
DISPARITIES = ("max_min", "max_geomean", "gini", "max_difference")
WIDE, EVEN = (100, 800), (90, 180)
MIXED = (2, 3, 5, 10, 20)
UNFAIR = {"a": {"kappa": (60, 240)}, "b": {"kappa": (45, 200), "cohesion": 16}, "c": {"kappa": (50, 220)}}
UNFAIR["d"] = UNFAIR["c"]
DEALS = 99
FOR_QUANTILES = 100  # data sets; with fewer the central 95 % is that of a normal law
GOAL, WIDEST = (0.93, 0.97), 1.15  # of coverage, and of the mean width as a multiple of the ideal
READ = ["estimate", "lower", "upper", "truth", "p", "rejects", "accepts"]


class Cell(NamedTuple):
    """One population. images: of each person. shares: of the groups; () for none."""

    kind: str
    images: int | tuple
    dim: int
    people: int
    kappa: tuple
    shares: tuple = ()
    population: str = ""

    @property
    def name(self) -> str:
        """In words, for files and tables."""
        images = "2-20" if self.images == MIXED else self.images
        shares = f", shares {':'.join(map(str, self.shares))}" if self.shares else ""
        low, high = self.kappa
        words = f"{self.kind} n_k {images}, p {self.dim}, K {self.people}, kappa {low}-{high}{shares}"
        return f"{words} {self.population}".strip()

    @property
    def per_identity(self):
        """Images of each person, as `sample` takes them."""
        return np.resize(self.images, self.people) if isinstance(self.images, tuple) else self.images


# every value of a factor with several of the others, and no factorial: that would be 192 populations
RATES = [
    Cell("rates", 2, 128, 150, WIDE),
    Cell("rates", 2, 16, 300, EVEN),
    Cell("rates", 2, 512, 1000, WIDE),
    Cell("rates", 3, 512, 60, WIDE),
    Cell("rates", 3, 64, 1000, EVEN),
    Cell("rates", 5, 16, 60, EVEN),
    Cell("rates", 5, 128, 300, WIDE),
    Cell("rates", 5, 512, 150, EVEN),
    Cell("rates", 10, 64, 150, WIDE),
    Cell("rates", 10, 128, 60, EVEN),
    Cell("rates", 10, 128, 1000, WIDE),
    Cell("rates", 20, 16, 60, WIDE),
    Cell("rates", 20, 64, 60, EVEN),
    Cell("rates", MIXED, 128, 60, WIDE),
    Cell("rates", MIXED, 64, 300, WIDE),
    Cell("rates", MIXED, 512, 150, WIDE),
]
BOOTSTRAPPED = (RATES[0], RATES[3], RATES[5], RATES[8])  # by a method of the bootstrap too
DISPARITY = [
    Cell("disparity", 3, 64, 80, (50, 220), (1, 1), f"fair {NEW}"),
    Cell("disparity", 5, 64, 120, (50, 220), (1, 1, 1, 1), f"fair {NEW}"),
    Cell("disparity", 5, 64, 300, (50, 220), (1, 9), f"fair {NEW}"),
    Cell("disparity", 5, 64, 160, (50, 220), (1, 15), f"fair {NEW}"),  # ten people or so
    Cell("disparity", 2, 64, 120, (50, 220), (1, 1), f"fair {THESE}"),
    Cell("disparity", 5, 64, 120, (50, 220), (1, 1, 1, 1), f"fair {THESE}"),
    Cell("disparity", 5, 64, 120, (45, 240), (1, 1), "unfair"),
    Cell("disparity", 5, 64, 300, (45, 240), (1, 9), "unfair"),
    Cell("disparity", 5, 64, 120, (45, 240), (1, 1, 1, 1), "unfair"),
]
PERMUTED = DISPARITY[:3]  # by the permutation test too
MODELS = [Cell("models", images, 64, 100, (50, 220)) for images in (2, 5)]


def rows_of(band: xr.Dataset, truth, **said) -> pd.DataFrame:
    """The rows of one interval at all levels."""
    columns = ["estimate", "lower", "upper"] + (["p"] if "p" in band else [])
    found = band[columns].assign(truth=("far_level", np.broadcast_to(truth, band.far_level.shape)))
    return found.reset_coords(drop=True).to_dataframe().reset_index().assign(**said)


def replicates(target: str, seed: int, drawn: bool) -> fk.Resampling | None:
    """Replicates about the target."""
    return fk.Resampling(SCHEME[target], n=REPLICATES, seed=seed + 2) if drawn else None


@cache
def law_of(dim: int, kappa: tuple, shares: tuple = ()) -> fk.vmf.IdentityLaw:
    """The law of new people, of groups that are alike where they have shares."""
    groups = {f"g{g}": {"share": share} for g, share in enumerate(shares)}
    return fk.vmf.IdentityLaw(dim, kappa=kappa, groups=groups or None)


@cache
def same_people(cell: Cell, seed: int) -> fk.vmf.Mixture:
    """The people of a whole batch; their exact rates are computed once."""
    return law_of(cell.dim, cell.kappa).draw(cell.people, seed=seed)


def rates(cell: Cell, seed: int, people: int, drawn: bool) -> Iterator[pd.DataFrame]:
    """FRR and the FAR of the thresholds in one data set of the same people, and in one of new people."""
    law, drawn = law_of(cell.dim, cell.kappa), drawn and cell in BOOTSTRAPPED
    these = same_people(cell, people)
    for target, population, truth in ((THESE, these, these), (NEW, law.draw(cell.people, seed=seed), law)):
        scores = fk.score_tensor(population.sample(cell.per_identity, seed=seed + 1))
        images = scores.sizes["probe"]
        far = tuple(level for level in FAR if level * images * (images - images / cell.people) / 2 >= 1)
        found = fk.evaluate(scores, far=far, resampling=replicates(target, seed, drawn))
        data, there = found["empirical"], exact(truth, far)
        counted = pd.DataFrame({"far_level": far, "rejects": data.false_rejects, "accepts": data.false_accepts})
        for method in ("influence", "recentered")[: 1 + drawn]:
            band = fk.band(found, "frr", method=None if method == "influence" else method, target=target)
            yield rows_of(band, there.frr.values, target=target, measure="frr", method=method).merge(counted)
        # levels rise and thresholds fall; rates are given at rising thresholds
        accepted = truth.population_rates(data.threshold.values[::-1]).far.values[::-1]
        band = fk.band(found, "far", target=target)
        yield rows_of(band, accepted, target=target, measure="far", method="influence").merge(counted)


def equal(cell: Cell, seed: int, people: int, _drawn: bool) -> Iterator[pd.DataFrame]:
    """The EER in one data set of the same people, and in one of new people."""
    law = law_of(cell.dim, cell.kappa)
    these = same_people(cell, people)
    for target, population, truth in ((THESE, these, these), (NEW, law.draw(cell.people, seed=seed), law)):
        scores = fk.score_tensor(population.sample(cell.per_identity, seed=seed + 1))
        band = fk.band(fk.evaluate(scores, far=(1e-2,)), "eer", target=target).expand_dims(far_level=[np.nan])
        yield rows_of(band, equal_errors(truth), target=target, measure="eer", method="influence")


@cache
def equal_errors(population) -> float:
    """The exact EER: where FAR and FRR cross."""

    def apart(log_far: float) -> float:
        return float(np.log(population.population_roc([np.exp(log_far)]).frr.item())) - log_far

    return float(np.exp(brentq(apart, np.log(1e-5), np.log(0.4), xtol=1e-6)))


@cache
def exact(population, far: tuple, by: str | None = None) -> xr.Dataset:
    """Exact rates, once for each population."""
    return population.population_roc(far, by=by)


@cache
def many_people(shares: tuple, dim: int) -> fk.vmf.Mixture:
    """2,000 people of groups that differ, of which data sets draw theirs."""
    groups = {name: UNFAIR[name] | {"share": share} for name, share in zip(UNFAIR, shares, strict=False)}
    return fk.vmf.mixture(2000, dim, seed=SEEDS["disparity"], groups=groups)


def grouped(cell: Cell, seed: int, people: int) -> dict:
    """The people of one data set, and the population that holds the truth, for each target that it tells of."""
    if cell.population == f"fair {THESE}":
        copies = same_copies(cell, people)
        return {THESE: (copies, copies)}
    if cell.population == f"fair {NEW}":
        law = law_of(cell.dim, cell.kappa, cell.shares)
        return {NEW: (law.draw(cell.people, seed=seed), law)}
    every = many_people(cell.shares, cell.dim)
    these = some_of(cell, people)
    return {THESE: (these, these), NEW: (every.draw(cell.people, seed=seed), every)}


@cache
def some_of(cell: Cell, seed: int) -> fk.vmf.Mixture:
    """The people of a whole batch."""
    return many_people(cell.shares, cell.dim).draw(cell.people, seed=seed)


@cache
def same_copies(cell: Cell, seed: int) -> fk.vmf.Mixture:
    """Rotated copies of some people: groups whose rates are exactly equal."""
    some = fk.vmf.mixture(cell.people // len(cell.shares), cell.dim, kappa=cell.kappa, seed=seed)
    return some.rotated_copies([f"g{g}" for g in range(len(cell.shares))], seed=seed)


def from_fair(rate: str) -> fk.measures.Measure:
    """How far all disparities of a rate lie from their fair values, over `disparity`: one draw of rates serves all."""
    every = [fk.measures.measure(f"{rate}_{name}") for name in DISPARITIES]
    names = xr.Variable("disparity", [one.name for one in every])
    return fk.measures.Measure(
        f"{rate} disparities", lambda data: xr.concat([one(data) - one.fair for one in every], names), fair=0.0
    )


def disparity(cell: Cell, seed: int, people: int, _drawn: bool) -> Iterator[pd.DataFrame]:
    """Disparities of one data set, the differences of its groups, and the tests of none."""
    fair, several = cell.population.startswith("fair"), len(cell.shares) > 2
    for target, (population, true) in grouped(cell, seed, people).items():
        scores = fk.score_tensor(population.sample(cell.per_identity, seed=seed + 1))
        found = fk.evaluate(scores, far=FAR_OF_GROUPS, by="group")
        there = None if fair else exact(true, FAR_OF_GROUPS, "group")
        for rate in ("frr", "far"):
            chosen = from_fair(rate)
            band = fk.band(found, chosen, target=target)
            truth = xr.zeros_like(band.estimate) if fair else chosen(there)
            for name in band.disparity.values:
                one = band.sel(disparity=name, drop=True)
                said = dict(target=target, measure=name, method=band.attrs["method"])
                yield rows_of(one, truth.sel(disparity=name).values, **said)
            group, truth = f"{rate}_group", 0.0
            if not fair:
                both = fk.band(found, group, target=target), there
                first, exactly = (part.isel(group=0, drop=True) for part in both)
                yield rows_of(first, exactly[group].values, target=target, measure=group, method="influence")
                truth = (there[group].sel(group="a") - there[group].sel(group="b")).values
            apart = fk.compare(found, group, groups="all", target=target)
            first = apart.isel(contrast=0, drop=True) if several else apart
            yield rows_of(first, truth, target=target, measure=group, method="contrast")
            if several and fair:
                least = first.assign(p=apart.p_holm.min("contrast"))
                yield rows_of(least, np.nan, target=target, measure=group, method="smallest of all, Holm")
            if cell in PERMUTED:
                name = f"{rate}_max_min"
                how = dict(by="group", far=FAR_OF_GROUPS, n=DEALS, seed=seed)
                dealt = fk.permutation_test(scores, name, **how).rename(median="lower", limit="upper")
                yield rows_of(dealt, np.nan, target=target, measure=name, method="permutation")


def models(cell: Cell, seed: int, _people: int, _drawn: bool) -> Iterator[pd.DataFrame]:
    """The difference of two encoders with the same rates, whose images are correlated."""
    people = law_of(cell.dim, cell.kappa).draw(cell.people, seed=seed)
    both = {"A": people, "B": people.correlated(centroid_correlation=1.0)}
    faces = fk.vmf.sample_encoders(both, cell.per_identity, correlation=0.6, seed=seed + 1)
    scores = fk.score_tensor(faces)
    found = fk.evaluate(scores, far=FAR[2:])
    rejects = found["empirical"].false_rejects.mean("model").values
    counted = pd.DataFrame({"far_level": FAR[2:], "rejects": rejects})
    for target in SCHEME:
        apart = fk.compare(found, "frr", models=("A", "B"), target=target)
        yield rows_of(apart, 0.0, target=target, measure="frr A - B", method="influence").merge(counted)


KINDS: dict[str, tuple[Callable, list[Cell]]] = {
    "rates": (rates, RATES), "disparity": (disparity, DISPARITY), "models": (models, MODELS),
    "eer": (equal, [cell._replace(kind="eer") for cell in RATES]),
}  # fmt: skip


def batch(cell: Cell, number: int) -> pd.DataFrame:
    """The data sets of one batch; data set d depends on the population and d alone, its same people on the batch."""
    parts, name = [], zlib.crc32(cell.name.encode())
    people = int(np.random.SeedSequence([SEEDS[cell.kind], name, 1, number]).generate_state(1)[0])
    for data_set in range(number * BATCH, (number + 1) * BATCH):
        seed = int(np.random.SeedSequence([SEEDS[cell.kind], name, 0, data_set]).generate_state(1)[0])
        rows = pd.concat(KINDS[cell.kind][0](cell, seed, people, data_set < WITH_REPLICATES))
        parts.append(rows.assign(data_set=data_set))
    return pd.concat(parts)


def work(kinds: list[str], n_batches: int, store: Path, seconds: float) -> None:
    """Make what is not in the store yet, the first batch of every population first."""
    begin = time.monotonic()
    for number in range(n_batches):
        for cell in (cell for kind in kinds for cell in KINDS[kind][1]):
            path = store / f"{cell.name}, batch {number}.csv.gz"
            try:
                os.close(os.open(path.with_suffix(".taken"), os.O_CREAT | os.O_EXCL))  # by this process, not the other
            except FileExistsError:
                continue
            clock = time.process_time()
            batch(cell, number).to_csv(path.with_suffix(".part.gz"), index=False)
            os.replace(path.with_suffix(".part.gz"), path)
            print(f"{path.name} {time.process_time() - clock:.0f} CPU s", flush=True)
            if time.monotonic() - begin > seconds:
                return


def counted(rows: pd.DataFrame) -> pd.Series:
    """What the intervals of one place did; widths as multiples of the central 95 % of the true law of the error.

    Infinite estimates and ends count in the coverage, and are left out of the widths.
    """
    known = rows.dropna(subset=["truth", "lower", "upper"])
    found = pd.Series({"data_sets": len(rows), "truth": rows.truth.mean(), "mean_estimate": rows.estimate.mean()})
    if len(known):
        share = ((known.lower <= known.truth) & (known.truth <= known.upper)).mean()
        below, above = (known.upper < known.truth).mean(), (known.lower > known.truth).mean()
        finite = known[np.isfinite(known.estimate) & np.isfinite(known.upper)]
        errors = finite.estimate - finite.truth
        if len(errors) < FOR_QUANTILES:  # they would lie too near each other
            ideal = 2 * ndtri((1 + LEVEL) / 2) * errors.std()
        else:
            ideal = np.subtract(*np.quantile(errors, [(1 + LEVEL) / 2, (1 - LEVEL) / 2]))
        width = (finite.upper - finite.lower).mean() / ideal if ideal > 0 else np.nan
        near = (share * len(known) + 1) / (len(known) + 2)  # Laplace's: 25 of 25 are not certainty
        error = np.sqrt(near * (1 - near) / (len(known) + 3))
        told = dict(coverage=share, mc_error=error, miss_below=below, miss_above=above, width=width)
        found = pd.concat([found, pd.Series(told)])
    if rows.p.notna().any():
        found["called"] = (rows.p.dropna() <= 1 - LEVEL).mean()
    for errors in ("rejects", "accepts"):
        if rows[errors].notna().any():
            found[errors] = rows[errors].mean()
    return found


def table(store: Path) -> pd.DataFrame:
    """Everything in the store, counted."""
    known = {cell.name: cell for _, cells in KINDS.values() for cell in cells}
    parts, places = [], ["target", "measure", "far_level", "method"]
    for name, cell in known.items():
        files = sorted(store.glob(f"{name}, batch *.csv.gz"))
        if not files:
            print(f"not run: {name}")
            continue
        rows = pd.concat(map(pd.read_csv, files)).reindex(columns=[*places, *READ])
        told = rows.groupby(places, dropna=False).apply(counted, include_groups=False)
        told = told.unstack() if isinstance(told, pd.Series) else told
        images = "2-20" if cell.images == MIXED else str(cell.images)
        said = dict(kind=cell.kind, n_k=images, dim=cell.dim, people=cell.people)
        said |= dict(kappa="{}-{}".format(*cell.kappa), groups=":".join(map(str, cell.shares)))
        said["population"] = cell.population
        parts.append(told.reset_index().assign(**said))
    found = pd.concat(parts).rename(columns={"far_level": "far"})
    found["miss"] = missed(found)
    first = ["kind", "n_k", "dim", "people", "kappa", "groups", "population", "target", "measure", "far", "method"]
    told = ["truth", "mean_estimate", "rejects", "accepts"]
    rest = ["coverage", "mc_error", "miss_below", "miss_above", "width", "miss", "called", "data_sets"]
    return found.reindex(columns=[*first, *told, *rest])


def missed(found: pd.DataFrame) -> pd.Series:
    """What each place misses of the goal, whether by chance or not: low, high or wide coverage; empty for nothing."""
    how = {"low": found.coverage < GOAL[0], "high": found.coverage > GOAL[1], "wide": found.width > WIDEST}
    words = [np.where(misses, word + " ", "") for word, misses in how.items()]
    return pd.Series(["".join(row).strip() for row in zip(*words, strict=True)], index=found.index)


def main() -> None:
    """Make batches, and the table of all that are there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="all by default")
    parser.add_argument("--batches", type=int, default=12, help=f"of {BATCH} data sets, for each population")
    parser.add_argument("--seconds", type=float, default=np.inf, help="begin no batch after this time")
    parser.add_argument("--store", type=Path, required=True, help="folder for finished batches")
    parser.add_argument("--table", action="store_true", help="make no batch, only the table")
    asked = parser.parse_args()
    asked.store.mkdir(exist_ok=True)
    warnings.simplefilter("ignore", fk.DataWarning)
    if not asked.table:
        with dask.config.set(scheduler="synchronous"), threadpool_limits(1):
            work(asked.kinds or list(KINDS), asked.batches, asked.store, asked.seconds)
        return
    found = table(asked.store)
    versions = f"frkit {fk.__version__}, numpy {np.__version__}, python {sys.version.split()[0]}"
    with open(HERE / "interval_coverage.csv", "w", encoding="utf-8") as file:
        file.write("# python data/make_interval_coverage.py --store FOLDER, then with --table\n")
        seeds = ", ".join(f"{kind} {seed}" for kind, seed in SEEDS.items())
        file.write(f"# {versions}; seeds: {seeds}\n")
        found.to_csv(file, index=False, float_format="%.4g")
    default = found[found.method.isin(["influence", "inverted"]) & found.coverage.notna()]
    beyond = (default.coverage - np.clip(default.coverage, *GOAL)).abs() > 2 * default.mc_error
    print(f"{len(default)} places of the default, {(default.miss != '').sum()} miss the goal {GOAL}, width {WIDEST}")
    print(default.miss.value_counts().to_string(), f"\nbeyond two Monte Carlo errors: {beyond.sum()}")


if __name__ == "__main__":
    main()
