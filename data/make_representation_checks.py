"""Held-out information and known truths: python data/make_representation_checks.py [STUDY ...]

Makes data/representation_checks.csv, row by row; those that are there are not made again. Studies:
`truths` (known classes at n = 5000, d = 512), `sizes` (n and d), `detection` (how often the
smallest detectable value is detected), `permuted` (genders permuted over people of LFW, or of a
mixture of that size where FRKIT_REAL_DATA names no folder with it). `cost` prints CPU times. Each
run has its number as seed. About an hour of CPU time.
"""

import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq

import frkit as fk
from frkit.papers.rlb.bounds import detectable_information
from frkit.papers.rlb.truth import true_information

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "data/representation_checks.csv"
REAL_DATA = Path(os.environ.get("FRKIT_REAL_DATA", ROOT.parent / "shared/data"))
LFW = REAL_DATA / "lfw158_facenet.npz"
SEX, FOUR = (0.61384, 0.38616), (0.25,) * 4
CASES = {
    "independent": dict(distance=0.0),
    "two, 2 sd": dict(distance=2.0),
    "two, 10 sd": dict(distance=10.0),
    "0 and ±4 sd": dict(distance=4.0, both_sides=True),
    "four, 2 sd": dict(distance=2.0, shares=FOUR),
}
NUMBERS = [
    "mutual_information", "mutual_information_se", "mutual_information_dv",
    "entropy", "rlb", "rlb_se", "rlb_seed_sd",
    "rlb_in_sample", "smallest_detectable",
]  # fmt: skip


def row(study: str, case: str, run: int, faces: xr.Dataset) -> dict:
    """One estimate with the usual settings."""
    result = fk.representation_bias(faces, "group", progress=False)
    labels = {"study": study, "case": case, "run": run}
    labels |= {"n_images": faces.sizes["image"], "n_features": faces.sizes["feature"]}
    labels |= {
        "n_identities": int(result.n_identities),
        "truth": faces.attrs.get("mutual_information", 0.0),
    }
    numbers = {name: float(result[name]) for name in NUMBERS}
    rounded = {
        name: round(x, 5) if isinstance(x, float) else x for name, x in (labels | numbers).items()
    }
    return rounded | {"verdict": str(result.verdict.values)}


def truths(n_runs: int = 3):
    """The known truths at n = 5000, d = 512."""
    for run in range(n_runs):
        for case, options in CASES.items():
            yield case, run, (5000, 512), options


def sizes(n_runs: int = 1):
    """Two classes 2 sd apart, and independent ones, over n and d."""
    for n in (500, 1000, 2000, 5000):
        for d in (32, 128, 512):
            for case in ("two, 2 sd", "independent"):
                for run in range(n_runs):
                    yield f"{case}, {n} x {d}", run, (n, d), CASES[case]


def detection(n_runs: int = 10):
    """Classes whose true mutual information is half, once and twice the smallest detectable
    value."""
    for n, d, shares, per_identity in [
        (1000, 64, SEX, 1), (1000, 512, SEX, 1), (2000, 128, FOUR, 1), (2000, 128, SEX, 10),
    ]:  # fmt: skip
        smallest = _smallest(n, d, shares, per_identity)
        for factor in (0.5, 1.0, 2.0):
            distance = brentq(_beyond, 0.01, 12, (shares, factor * smallest))
            case = f"{len(shares)} classes, {n} x {d}, {per_identity} per person, {factor:g} times"
            for run in range(n_runs):
                yield (
                    case,
                    run,
                    (n, d),
                    dict(distance=distance, shares=shares, per_identity=per_identity),
                )


def _beyond(distance: float, shares: tuple, goal: float) -> float:
    return true_information(distance, np.array(shares)) - goal


def _smallest(n: int, d: int, shares: tuple, per_identity: int) -> float:
    """The smallest detectable mutual information of such data, from one of them."""
    nothing = fk.representation.shifted_classes(
        n, d, distance=0.0, seed=99, shares=shares, per_identity=per_identity
    )
    _, person = np.unique(nothing.identity, return_inverse=True)
    return detectable_information(nothing.embedding.values, person, len(shares), 0.6)


def permuted(n_runs: int = 100):
    """The attribute permuted over people, so that the embedding knows nothing of it."""
    for run in range(n_runs):
        yield f"{'LFW, FaceNet' if LFW.is_file() else 'mixture'}, gender dealt anew", run, None, {}


def permuted_lfw(run: int) -> xr.Dataset:
    """LFW's people with each other's gender."""
    faces = (
        fk.open_data(LFW)
        if LFW.is_file()
        else fk.vmf.mixture(158, 512, kappa=(300, 900)).sample(10)
    )
    _, first, person = np.unique(faces.identity.values, return_index=True, return_inverse=True)
    gender = (
        faces.gender.values[first]
        if "gender" in faces.coords
        else np.repeat(["female", "male"], [32, 126])
    )
    return faces.assign_coords(
        group=("image", np.random.default_rng(run).permutation(gender)[person])
    )


def cost() -> None:
    """CPU seconds of one estimate, and of the authors' setting, from its first 100 iterations."""
    faces = fk.representation.shifted_classes(5000, 512)
    published = dict(hidden=1000, patience=None)
    ours = min(_cpu(faces, fk.representation.Critic()) for _ in range(3))
    few, more = (
        _cpu(faces, fk.representation.Critic(iterations=k, **published)) for k in (20, 120)
    )
    step = (more - few) / (5 * 100)
    print(f"one estimate, five folds, one seed, n = 5000, d = 512: {ours:.2f} CPU s")
    print(
        "the authors' setting (hidden 1000, 40,000 iterations, one network): "
        f"{1e3 * step:.1f} ms a step,"
    )
    print(f"so {40_000 * step:.0f} CPU s, extrapolated: {40_000 * step / ours:.0f} times ours")


def _cpu(faces: xr.Dataset, critic) -> float:
    start = time.process_time()
    fk.representation_bias(faces, "group", seeds=1, critic=critic, progress=False)
    return time.process_time() - start


STUDIES = {"truths": truths, "sizes": sizes, "detection": detection, "permuted": permuted}


def stored() -> pd.DataFrame:
    """The rows that are there."""
    return (
        pd.read_csv(TABLE, comment="#")
        if TABLE.is_file()
        else pd.DataFrame(columns=["study", "case", "run"])
    )


def store(new_row: dict) -> None:
    """Add a row."""
    table = (
        pd.concat([stored(), pd.DataFrame([new_row])])
        if TABLE.is_file()
        else pd.DataFrame([new_row])
    )
    table = table.sort_values("study", kind="stable")
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn"))
    head = (
        f"# python data/make_representation_checks.py {' '.join(STUDIES)}\n"
        f"# seeds are the runs; {versions}\n"
    )
    TABLE.write_text(head + table.to_csv(index=False, lineterminator="\n"), encoding="utf-8")


def main() -> None:
    """Run the studies named."""
    for name in sys.argv[1:] or [*STUDIES, "cost"]:
        if name == "cost":
            cost()
            continue
        done = set(stored()[["study", "case", "run"]].itertuples(index=False, name=None))
        for case, run, size, options in STUDIES[name]():
            if (name, case, run) not in done:
                faces = (
                    permuted_lfw(run)
                    if size is None
                    else fk.representation.shifted_classes(*size, seed=run, **options)
                )
                store(row(name, case, run, faces))
        table = stored()
        print(
            table[table.study == name]
            .groupby("case", sort=False)[["truth", *NUMBERS]]
            .mean()
            .round(3)
            .to_string()
        )


if __name__ == "__main__":
    main()
