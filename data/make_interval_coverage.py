"""Coverage of the default intervals: python data/make_interval_coverage.py --store FOLDER [--table]

Makes data/interval_coverage.csv: a row for each place (population, rate, FAR level, method), with
the share of data sets whose 95 % interval covers the truth, its width, and how often equality is
rejected at 5 %. Every data set has other people, but for the kind "these people", where a batch
shares them and only images are new.

Truth comes from the laws themselves: images of strangers are uniform on the sphere, so that the
law of their scores is known (of blurred ones, from 400 million pairs); FRR is the share of 400,000
people whose two images score below the threshold.

Batches are files in --store, so that a run can be stopped and two processes can share it. About an
hour and a half of CPU time for 200 data sets of each place.
"""

import argparse
import os
import time
import warnings
import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import dask
import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import frkit as fk

HERE = Path(__file__).parent
SEED = 20261129  # no choice was made with it
LEVEL, REPLICATES, BATCH = 0.95, 200, 25
BOOTSTRAPPED = 4  # batches that the bootstrap over people reads, too
BINS = 40_000  # of the score, from -1.2 to 1.2
DIM, IMPOSTOR_IMAGES, ROUNDS, GENUINE_PEOPLE = 64, 20_000, 2, 200_000
MIXED = "2-20"
FAR_FIXED = (1e-3, 1e-2)


class Law(NamedTuple):
    """How images of people are drawn: the narrower a person's images (high kappa), the fewer
    errors."""

    kappa: tuple = (40, 200)
    even: bool = True  # kappa is uniform; else its logarithm is
    bad: float = 0.0  # share of people with kappa 25
    quality: float = 0.0  # spread of the logarithm of kappa between images of a person
    blurred: float = 0.0  # share of images that resemble each other
    related: float = 0.0  # correlation of two people of one family


LAWS = {
    "usual": Law(),
    "few errors": Law(kappa=(80, 300)),
    "unequal spread": Law(kappa=(25, 400), even=False),
    "5 % bad people": Law(kappa=(80, 200), bad=0.05),
    "unequal quality": Law(kappa=(60, 240), quality=0.5),
    "blurred alike": Law(kappa=(60, 240), blurred=0.1),
    "families": Law(related=0.4),
    "worse": Law(kappa=(32, 160)),
    "twice the FRR": Law(kappa=(35.3, 176.5)),
}


class Place(NamedTuple):
    """A population, and how much of it a data set has."""

    kind: str
    law: str
    people: int
    images: int | str
    far: tuple
    groups: tuple = ()  # (law, people) of each

    @property
    def name(self) -> str:
        """In words, for files and tables."""
        description = f"{self.kind}, {self.law}, {self.people} people, {self.images} images"
        return description + "".join(f", {people} {law}" for law, people in self.groups)

    @property
    def per_identity(self) -> np.ndarray:
        """Images of each person."""
        return np.resize((2, 3, 5, 10, 20) if self.images == MIXED else self.images, self.people)


FEW, MANY = (1e-4, 1e-2), (1e-5, 1e-3, 1e-1)
RATES = [
    Place("rates", "usual", 20, 20, MANY),
    Place("rates", "usual", 60, 5, FEW),
    Place("rates", "usual", 60, 10, MANY),
    Place("rates", "usual", 100, MIXED, FEW),
    Place("rates", "usual", 200, 3, MANY),
    Place("rates", "usual", 1000, 3, FEW),
    Place("rates", "few errors", 150, 3, FEW),
    Place("rates", "few errors", 300, 2, MANY),
    Place("rates", "few errors", 100, 5, FEW),
    Place("rates", "unequal spread", 80, 6, FEW),
    Place("rates", "unequal spread", 200, MIXED, MANY),
    Place("rates", "5 % bad people", 100, 5, MANY),
    Place("rates", "5 % bad people", 30, 5, FEW),
    Place("rates", "unequal quality", 60, 5, FEW),
    Place("rates", "unequal quality", 40, 12, MANY),
    Place("rates", "blurred alike", 100, 4, FEW),
    Place("rates", "blurred alike", 60, 10, MANY),
    Place("rates", "families", 100, 5, FEW),
]
AT = (1e-2,)
GROUPS = [
    Place("groups", "usual", 80, 5, AT, (("usual", 40), ("usual", 40))),
    Place("groups", "usual", 220, 5, AT, (("usual", 200), ("usual", 20))),
    Place("groups", "usual", 200, 5, AT, (("usual", 50),) * 4),
    Place("groups", "usual", 120, 5, AT, (("usual", 20),) * 6),
    Place("groups", "usual", 200, 5, AT, (("usual", 25),) * 8),
    Place("groups", "mixed", 220, 5, AT, (("usual", 200), ("twice the FRR", 20))),
    Place("groups", "mixed", 120, 5, AT, (("usual", 60), ("worse", 60))),
    Place(
        "groups", "mixed", 200, 5, AT, (("usual", 50), ("usual", 50), ("usual", 50), ("worse", 50))
    ),
    Place("groups", "mixed", 200, 5, AT, (("usual", 25), ("twice the FRR", 25)) * 4),
]
LISTS = [place._replace(kind="lists") for place in GROUPS[:3]]
MODELS = [
    Place("models", "usual", 60, 5, FAR_FIXED),
    Place("models", "few errors", 150, 3, FAR_FIXED),
    Place("models", "usual", 100, 5, FAR_FIXED, (("usual", 100), ("worse", 100))),
]
THESE = [
    Place("these people", "usual", 60, 5, FAR_FIXED),
    Place("these people", "usual", 100, MIXED, FAR_FIXED),
    Place("these people", "unequal spread", 80, 10, FAR_FIXED),
]


class People(NamedTuple):
    """Directions and concentrations of some people."""

    centre: np.ndarray
    kappa: np.ndarray
    law: Law


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def draw_people(law: Law, n: int, rng) -> People:
    """New people; with `related` every second one is of the family of the one before."""
    centre = unit(rng.normal(size=(n, DIM)))
    if law.related:
        sibling = law.related * centre[0::2][: n // 2] + np.sqrt(1 - law.related**2) * centre[1::2]
        centre[1::2] = unit(sibling)
    kappa = rng.uniform(*law.kappa, n) if law.even else np.exp(rng.uniform(*np.log(law.kappa), n))
    return People(centre, np.where(rng.random(n) < law.bad, 25.0, kappa), law)


def draw_images(people: People, person: np.ndarray, rng, noise=None) -> np.ndarray:
    """One image of each person named."""
    law = people.law
    kappa = people.kappa[person] * np.exp(law.quality * rng.normal(size=len(person)))
    noise = rng.normal(size=(len(person), DIM)) if noise is None else noise
    images = people.centre[person] + noise / np.sqrt(kappa)[:, None]
    images[:, 0] += 0.7 * (rng.random(len(person)) < law.blurred)
    return unit(images).astype(np.float32)


def binned(scores: np.ndarray) -> np.ndarray:
    """How many scores lie in each bin."""
    return np.bincount(((scores.ravel() + 1.2) * (BINS / 2.4)).astype(np.int32), minlength=BINS)


def between(images: np.ndarray, person: np.ndarray) -> np.ndarray:
    """Scores of all pairs of different people, in bins."""
    counts = np.zeros(BINS, int)
    for begin in range(0, len(images), 500):
        rows = slice(begin, begin + 500)
        scores = images[rows] @ images[begin:].T
        later = np.triu(person[rows, None] != person[None, begin:], 1)
        counts += binned(scores[later])
    return counts


class Truth(NamedTuple):
    """Score distributions of a law: the shares of impostor and of genuine pairs above each bin."""

    far: np.ndarray
    frr: np.ndarray

    def bin_at(self, level: float) -> int:
        """The bin of the threshold of a FAR level."""
        return int(np.searchsorted(-self.far, -level))

    @property
    def eer(self) -> float:
        crossing = np.argmax(self.frr >= self.far)
        return float((self.frr[crossing] + self.far[crossing]) / 2)

    @property
    def auc(self) -> float:
        return float(1 - np.sum(self.frr[:-1] * -np.diff(self.far)))


def from_bins(impostor: np.ndarray, genuine: np.ndarray) -> Truth:
    """Rates at the lower edge of each bin."""
    accepted = impostor[::-1].cumsum()[::-1] / impostor.sum()
    rejected = np.append(0, genuine.cumsum()[:-1]) / genuine.sum()
    return Truth(accepted, rejected)


@cache
def truth_of(name: str, n_people: int = 0) -> Truth:
    """Rates of a law about new people; where they come in families, among so many of them."""
    law, rng = LAWS[name], np.random.default_rng([SEED, zlib.crc32(name.encode())])
    genuine = np.zeros(BINS, int)
    for _ in range(ROUNDS):
        people = draw_people(law, GENUINE_PEOPLE, rng)
        first, second = (draw_images(people, np.arange(GENUINE_PEOPLE), rng) for _ in range(2))
        genuine += binned(np.einsum("ij,ij->i", first, second))
    impostor = between_strangers(law, rng)
    if law.related:
        family = binned(np.einsum("ij,ij->i", first[0::2], second[1::2]))
        impostor = impostor + family / family.sum() / (n_people - 2)
    return from_bins(impostor, genuine)


def between_strangers(law: Law, rng) -> np.ndarray:
    """Law of the score of two strangers, in bins.

    Images of strangers lie anywhere on the sphere, unless they are blurred alike.
    """
    if not law.blurred:
        edges = np.arange(BINS + 1) * (2.4 / BINS) - 1.2
        return np.diff(stats.beta.cdf((1 + edges) / 2, (DIM - 1) / 2, (DIM - 1) / 2))
    counts = np.zeros(BINS, int)
    everyone = np.arange(IMPOSTOR_IMAGES)
    for _ in range(ROUNDS):
        people = draw_people(law, IMPOSTOR_IMAGES, rng)
        counts += between(draw_images(people, everyone, rng), everyone)
    return counts / counts.sum()


def truth_of_these(people: People, rng) -> Truth:
    """Rates of some people, over new images of them."""
    n = len(people.kappa)
    person = np.repeat(np.arange(n), 20_000 // n)
    images = draw_images(people, person, rng)
    genuine = np.zeros(BINS, int)
    for who in range(n):
        mine = images[person == who]
        genuine += binned((mine @ mine.T)[np.triu_indices(len(mine), 1)])
    return from_bins(between(images, person), genuine)


def faces_of(place: Place, rng, people: People | None = None):
    """One data set."""
    per_identity = place.per_identity
    person = np.repeat(np.arange(place.people), per_identity)
    if not place.groups:
        people = people or draw_people(LAWS[place.law], place.people, rng)
        return fk.faces(draw_images(people, person, rng), person.astype(str))
    images, labels, first = [], [], 0
    for number, (law, n) in enumerate(place.groups):
        drawn_people = draw_people(LAWS[law], n, rng)
        count = per_identity[first : first + n]
        images.append(draw_images(drawn_people, np.repeat(np.arange(n), count), rng))
        labels += [f"g{number}"] * int(count.sum())
        first += n
    return fk.faces(np.concatenate(images), person.astype(str), group=labels)


def rows_of(band, truth, measure: str, method: str | None = None) -> pd.DataFrame:
    """The rows of one interval."""
    table = band.reset_coords(drop=True)
    level = next((str(dim) for dim in table.estimate.dims), None)
    if level is None:
        table = table.expand_dims(far_level=[np.nan])
    elif level != "far_level":
        table = table.rename({level: "far_level"}).assign_coords(far_level=list(FAR_FIXED))
    columns = [name for name in ("estimate", "lower", "upper", "p") if name in table]
    rows = table[columns].to_dataframe().reset_index()
    return rows.assign(truth=truth, measure=measure, method=method or band.attrs["method"])


def bands_of(evaluation, truth: dict, drawn: bool, target: str = "new people"):
    """Intervals of several measures, by default and, where replicates were drawn, from these."""
    for measure, value in truth.items():
        yield rows_of(fk.band(evaluation, measure, target=target), value, measure)
        if drawn:
            band = fk.band(evaluation, measure, method="recentered")
            yield rows_of(band, value, measure, "bootstrap")


def resampling(drawn: bool, seed: int):
    """Replicates of people."""
    return fk.Resampling("identity", n=REPLICATES, seed=seed) if drawn else None


def rates(place: Place, rng, drawn: bool, people=None, target: str = "new people", truth=None):
    """FRR at FAR levels, FAR at fixed thresholds, EER and AUC."""
    truth = truth or truth_of(place.law, place.people if LAWS[place.law].related else 0)
    scores = fk.score_tensor(faces_of(place, rng, people))
    images = scores.sizes["probe"]
    far = [level for level in place.far if level * images**2 / 2 >= 2]
    options = dict(resampling=resampling(drawn, 1), histogram=100)
    evaluation = fk.evaluate(scores, far=far, **options)
    frr = [truth.frr[truth.bin_at(level)] for level in far]
    yield from bands_of(evaluation, {"frr": frr, "eer": truth.eer, "auc": truth.auc}, drawn, target)
    if target == "new people":
        edges = np.array([truth.bin_at(level) for level in far]) * (2.4 / BINS) - 1.2
        yield rows_of(fk.band(evaluation, "threshold"), edges, "threshold")
    bins = [truth.bin_at(level) for level in FAR_FIXED]
    thresholds = np.array(bins) * (2.4 / BINS) - 1.2
    fixed = fk.evaluate(scores, threshold=thresholds, resampling=options["resampling"])
    yield from bands_of(fixed, {"far": truth.far[bins]}, drawn, target)


def threshold_of_groups(place: Place) -> tuple[float, list, list]:
    """Group FRR and FAR where the FAR of all pairs is at the level: laws of groups differ in kappa
    only.

    The score of two strangers hardly depends on kappa, so that the FAR of all pairs is a mean over
    the pairs of groups; those of two groups are taken as the geometric mean of both.
    """
    laws = [truth_of(law) for law, _ in place.groups]
    share = np.array([n for _, n in place.groups], float)
    share /= share.sum()
    within = np.array([law.far for law in laws])
    both = np.sqrt(within[:, None] * within[None])
    overall = np.einsum("g,h,ghb->b", share, share, both)
    edge = int(np.searchsorted(-overall, -place.far[0]))
    return edge, [law.frr[edge] for law in laws], [law.far[edge] for law in laws]


def measures_of(rates_of_groups: list) -> dict:
    """True disparities."""
    rate = np.array(rates_of_groups)
    differences = np.abs(rate[:, None] - rate).sum() / 2 / (len(rate) - 1)
    return {
        "max_min": rate.max() / rate.min(),
        "gini": differences / rate.sum(),
        "max_difference": rate.max() - rate.min(),
    }


def joint_measures_of(frr: list, far: list) -> dict:
    """True values of measures that join FRR and FAR."""
    frr, far = measures_of(frr), measures_of(far)
    return {
        "fdr": 1 - (frr["max_difference"] + far["max_difference"]) / 2,
        "ir": np.sqrt(frr["max_min"] * far["max_min"]),
        "garbe": (frr["gini"] + far["gini"]) / 2,
    }


def groups(place: Place, rng, drawn: bool):
    """Disparities of FRR and FAR, differences of two groups, and the tests that there are none."""
    _, frr, far = threshold_of_groups(place)
    scores = fk.score_tensor(faces_of(place, rng))
    evaluation = fk.evaluate(scores, far=place.far, by="group", resampling=resampling(drawn, 1))
    truth = {f"frr_{name}": value for name, value in measures_of(frr).items()}
    truth |= {f"far_{name}": value for name, value in measures_of(far).items()}
    truth |= joint_measures_of(frr, far)
    yield from bands_of(evaluation, truth, drawn)
    yield from rates_of_groups(evaluation, frr, far)
    yield from contrasts(evaluation, frr, far)


def rates_of_groups(evaluation, frr: list, far: list):
    """Rates of the first group and of the last one, and FAR between these two."""
    last = len(frr) - 1
    for measure, true in (("frr_group", frr), ("far_group", far)):
        band = fk.band(evaluation, measure)
        for number in (0, last):
            band_of_group = band.sel(group=f"g{number}")
            yield rows_of(band_of_group, true[number], f"{measure} {number + 1}")
    cross = fk.band(evaluation, "far_cross").sel(group="g0", reference_group=f"g{last}")
    yield rows_of(cross, np.sqrt(far[0] * far[-1]), "far_cross")


def contrasts(evaluation, frr: list, far: list):
    """The difference of the first group and the last one."""
    for measure, true in (("frr_group", frr), ("far_group", far)):
        apart = fk.compare(evaluation, measure, groups=("g0", f"g{len(true) - 1}"))
        apart = apart.squeeze([dim for dim in apart.dims if dim != "far_level"], drop=True)
        yield rows_of(apart, true[0] - true[-1], measure, "contrast")


def lists(place: Place, rng, _drawn: bool):
    """The same of a list: all genuine pairs, and twenty impostor pairs of each image, within
    groups."""
    _, frr, far = threshold_of_groups(place)
    faces = faces_of(place, rng)
    images = faces.embedding.values
    who, group = faces.identity.values, faces.group.values
    row, col = np.triu_indices(len(images), 1)
    genuine = who[row] == who[col]
    chosen = genuine | ((group[row] == group[col]) & (rng.random(len(row)) < 40 / len(images)))
    row, col = row[chosen], col[chosen]
    names = np.arange(len(images)).astype(str)
    listed = fk.pairs(
        np.einsum("ij,ij->i", images[row], images[col]),
        probe=names[row],
        reference=names[col],
        probe_identity=who[row],
        reference_identity=who[col],
        group=(group[row], group[col]),
    )
    evaluation = fk.evaluate(listed, far=place.far, by="group")
    if place.law == "mixed":
        return
    yield from contrasts(evaluation, frr, far)


def models(place: Place, rng, _drawn: bool):
    """The difference of two encoders of the same images; of unequal ones where laws are given."""
    first, second = (
        (LAWS[law] for law, _ in place.groups) if place.groups else (LAWS[place.law],) * 2
    )
    people = draw_people(first, place.people, rng)
    spread = second.kappa[0] / first.kappa[0]
    others = people._replace(kappa=people.kappa * spread)
    person = np.repeat(np.arange(place.people), place.per_identity)
    shared, *model_noises = (rng.normal(size=(len(person), DIM)) for _ in range(3))
    noise = [np.sqrt(0.6) * shared + np.sqrt(0.4) * model_noise for model_noise in model_noises]
    encoders = {
        "A": draw_images(people, person, rng, noise[0]),
        "B": draw_images(others, person, rng, noise[1]),
    }
    faces = fk.open_data({name: fk.faces(x, person.astype(str)) for name, x in encoders.items()})
    evaluation = fk.evaluate(fk.score_tensor(faces), far=place.far)
    names = [law for law, _ in place.groups] or [place.law] * 2
    exact = [
        [truth_of(name).frr[truth_of(name).bin_at(level)] for level in place.far] for name in names
    ]
    apart = fk.compare(evaluation, "frr", models=("A", "B"), target="new people")
    yield rows_of(apart, np.subtract(*exact), "frr A - B", "paired")


KINDS = {
    "rates": (rates, RATES),
    "groups": (groups, GROUPS),
    "lists": (lists, LISTS),
    "models": (models, MODELS),
    "these people": (rates, THESE),
}


def batch(place: Place, number: int, bootstrap: bool) -> pd.DataFrame:
    """The data sets of one batch; data set d depends on the place and on d alone."""
    name, tables, more = zlib.crc32(place.name.encode()), [], {}
    drawn = bootstrap and number < BOOTSTRAPPED and place.kind in ("rates", "groups")
    if place.kind == "these people":
        rng = np.random.default_rng([SEED, name, 1, number])
        people = draw_people(LAWS[place.law], place.people, rng)
        more = dict(people=people, target="these people", truth=truth_of_these(people, rng))
    for data_set in range(number * BATCH, (number + 1) * BATCH):
        rng = np.random.default_rng([SEED, name, 0, data_set])
        rows = pd.concat(list(KINDS[place.kind][0](place, rng, drawn, **more)))
        tables.append(rows.assign(data_set=data_set))
    return pd.concat(tables)


def work(kinds: list[str], n_batches: int, store: Path, bootstrap: bool) -> None:
    """Make what is not in the store yet, the first batch of every place first."""
    for number in range(n_batches):
        for place in (place for kind in kinds for place in KINDS[kind][1]):
            path = store / f"{place.name}, batch {number}.csv.gz"
            try:
                os.close(os.open(path.with_suffix(".taken"), os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            clock = time.process_time()
            batch(place, number, bootstrap).to_csv(path.with_suffix(".part.gz"), index=False)
            os.replace(path.with_suffix(".part.gz"), path)
            print(f"{path.name} {time.process_time() - clock:.0f} CPU s", flush=True)


def counted(rows: pd.DataFrame) -> pd.Series:
    """What the intervals of one place did; widths in units of the central 95 % of all estimates."""
    intervals = rows.dropna(subset=["lower", "upper"])
    covers = (intervals.lower <= intervals.truth * (1 + 1e-9)) & (
        intervals.truth <= intervals.upper * (1 + 1e-9)
    )
    finite = intervals[np.isfinite(intervals.estimate) & np.isfinite(intervals.upper)]
    spread = (
        np.quantile(finite.estimate, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if len(finite) else [0, 0]
    )
    ideal = spread[1] - spread[0]
    return pd.Series(
        {
            "truth": rows.truth.mean(),
            "mean_estimate": rows.estimate[np.isfinite(rows.estimate)].mean(),
            "coverage": covers.mean(),
            "miss_below": (intervals.upper < intervals.truth).mean(),
            "miss_above": (intervals.lower > intervals.truth).mean(),
            "width": (finite.upper - finite.lower).mean() / ideal if ideal > 0 else np.nan,
            "called": (rows.p.dropna() <= 1 - LEVEL).mean(),
            "data_sets": len(rows),
        }
    )


def table(store: Path) -> pd.DataFrame:
    """Everything in the store, counted."""
    tables = []
    for place in (place for _, places in KINDS.values() for place in places):
        files = sorted(store.glob(f"{place.name}, batch *.csv.gz"))
        if not files:
            print(f"not run: {place.name}")
            continue
        rows = pd.concat(map(pd.read_csv, files)).reset_index(drop=True)
        rows["p"] = rows.get("p", np.nan)
        counts = rows.groupby(["measure", "far_level", "method"], dropna=False).apply(
            counted, include_groups=False
        )
        labels = dict(kind=place.kind, population=place.law, people=place.people, n_k=place.images)
        labels["groups"] = ":".join(str(n) for _, n in place.groups)
        counts = counts.reset_index().rename(columns={"far_level": "far"})
        tables.append(pd.DataFrame([labels] * len(counts)).join(counts))
    return pd.concat(tables)


def main() -> None:
    """Make batches, or the table of all that are there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", help=", ".join(KINDS))
    parser.add_argument(
        "--batches", type=int, default=8, help=f"of {BATCH} data sets, for each place"
    )
    parser.add_argument("--store", type=Path, required=True, help="folder for finished batches")
    parser.add_argument("--no-bootstrap", action="store_true", help="without replicates")
    parser.add_argument("--table", action="store_true", help="make no batch, only the table")
    arguments = parser.parse_args()
    arguments.store.mkdir(exist_ok=True)
    warnings.simplefilter("ignore", fk.DataWarning)
    if not arguments.table:
        with dask.config.set(scheduler="synchronous"), threadpool_limits(1):
            work(
                arguments.kinds or list(KINDS),
                arguments.batches,
                arguments.store,
                not arguments.no_bootstrap,
            )
        return
    coverage = table(arguments.store)
    with open(HERE / "interval_coverage.csv", "w", encoding="utf-8") as file:
        file.write("# python data/make_interval_coverage.py --store FOLDER, then with --table\n")
        file.write(f"# seed {SEED}, {BATCH} data sets a batch\n")
        coverage.to_csv(file, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
