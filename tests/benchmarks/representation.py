"""Held-out mutual information against known truths: python tests/benchmarks/representation.py [STUDY ...]

Studies, each replacing its own rows of data/representation_checks.csv: `truths` (known classes at n = 5000,
d = 512), `sizes` (n and d), `detection` (how often the smallest detectable value is detected), `permuted` (genders
dealt anew to people of LFW, or of a mixture of that size where ../shared/data is absent). `cost` prints CPU times.
"""

import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq

import frkit as fk
from frkit.representation.truth import true_information

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "data/representation_checks.csv"
LFW = ROOT.parent / "shared/data/lfw158_facenet.npz"
SEX, FOUR = (0.61384, 0.38616), (0.25,) * 4
CASES = {
    "independent": dict(distance=0.0),
    "two, 2 sd": dict(distance=2.0),
    "two, 10 sd": dict(distance=10.0),
    "0 and ±4 sd": dict(distance=4.0, both_sides=True),
    "four, 2 sd": dict(distance=2.0, shares=FOUR),
}
NUMBERS = [
    "mutual_information", "mutual_information_se", "mutual_information_dv", "entropy", "rlb", "rlb_se", "rlb_seed_sd",
    "rlb_in_sample", "smallest_detectable",
]  # fmt: skip


def row(study: str, case: str, run: int, faces: xr.Dataset, truth: float) -> dict:
    """One estimate with the usual settings."""
    found = fk.representation_bias(faces, "group", progress=False)
    sizes = {"n_images": faces.sizes["image"], "n_features": faces.sizes["feature"]}
    known = {"study": study, "case": case, "run": run, **sizes, "n_identities": int(found.n_identities), "truth": truth}
    return known | {name: round(float(found[name]), 5) for name in NUMBERS} | {"verdict": str(found.verdict.values)}


def drawn(study: str, case: str, run: int, n: int, d: int, **options) -> dict:
    """An estimate on classes whose truth is known."""
    faces = fk.representation.shifted_classes(n, d, seed=run, **options)
    return row(study, case, run, faces, round(faces.attrs["mutual_information"], 5))


def truths(n_runs: int = 4):
    """The known truths at n = 5000, d = 512."""
    for run in range(n_runs):
        for case, options in CASES.items():
            yield drawn("truths", case, run, 5000, 512, **options)


def sizes(n_runs: int = 2):
    """Two classes 2 sd apart, and independent ones, over n and d."""
    for n in (500, 1000, 2000, 5000, 10_000):
        for d in (32, 128, 512):
            for case in ("two, 2 sd", "independent"):
                for run in range(n_runs):
                    yield drawn("sizes", case, run, n, d, **CASES[case])


def detection(n_runs: int = 12):
    """Classes whose true mutual information is half, once and twice the smallest detectable value."""
    for n, d, shares, per_identity in [
        (1000, 64, SEX, 1), (1000, 512, SEX, 1), (5000, 512, SEX, 1), (2000, 128, FOUR, 1), (2000, 128, SEX, 10),
    ]:  # fmt: skip
        options = dict(shares=shares, per_identity=per_identity)
        nothing = fk.representation.shifted_classes(n, d, distance=0.0, seed=99, **options)
        found = fk.representation_bias(
            nothing, "group", seeds=1, critic=fk.representation.Critic(iterations=1), progress=False
        )
        smallest = float(found.smallest_detectable * found.entropy)
        for factor in (0.5, 1.0, 2.0):
            wanted = factor * smallest
            distance = brentq(lambda x: true_information(x, np.array(shares)) - wanted, 0.01, 12)  # noqa: B023
            for run in range(n_runs):
                case = f"{len(shares)} classes, {factor:g} x smallest"
                yield drawn("detection", case, run, n, d, distance=distance, **options)


def permuted(n_runs: int = 100):
    """The attribute dealt anew to people, so that the embedding knows nothing of it."""
    faces = fk.open_faces(LFW) if LFW.is_file() else fk.vmf.mixture(158, 512, kappa=(300, 900)).sample(10)
    _, first, person = np.unique(faces.identity.values, return_index=True, return_inverse=True)
    gender = faces.gender.values[first] if "gender" in faces.coords else np.repeat(["female", "male"], [32, 126])
    case = f"{'LFW, FaceNet' if LFW.is_file() else 'mixture'}, gender permuted"
    for run in range(n_runs):
        dealt = np.random.default_rng(run).permutation(gender)[person]
        yield row("permuted", case, run, faces.assign_coords(group=("image", dealt)), 0.0)


def cost() -> None:
    """CPU seconds of one estimate, and of the authors' setting, from its first 100 iterations."""
    faces = fk.representation.shifted_classes(5000, 512)
    published = dict(hidden=1000, patience=None)
    ours = min(_cpu(faces, fk.representation.Critic()) for _ in range(3))
    few, more = (_cpu(faces, fk.representation.Critic(iterations=k, **published)) for k in (20, 120))
    step = (more - few) / (5 * 100)
    print(f"one estimate, five folds, one seed, n = 5000, d = 512: {ours:.2f} CPU s")
    print(f"the authors' setting (hidden 1000, 40,000 iterations, one network): {1e3 * step:.1f} ms a step,")
    print(f"so {40_000 * step:.0f} CPU s, extrapolated: {40_000 * step / ours:.0f} times ours")


def _cpu(faces: xr.Dataset, critic) -> float:
    start = time.process_time()
    fk.representation_bias(faces, "group", seeds=1, critic=critic, progress=False)
    return time.process_time() - start


STUDIES = {"truths": truths, "sizes": sizes, "detection": detection, "permuted": permuted}


def store(study: str, rows: list[dict]) -> None:
    """Replace the rows of a study."""
    table = pd.DataFrame(rows)
    if TABLE.is_file():
        old = pd.read_csv(TABLE, comment="#")
        table = pd.concat([old[old.study != study], table]).sort_values("study", kind="stable")
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn"))
    head = f"# python tests/benchmarks/representation.py {' '.join(STUDIES)}\n# seeds are the runs; {versions}\n"
    TABLE.write_text(head + table.to_csv(index=False, lineterminator="\n"), encoding="utf-8")


def main() -> None:
    """Run the studies named."""
    for name in sys.argv[1:] or [*STUDIES, "cost"]:
        if name == "cost":
            cost()
            continue
        rows = list(STUDIES[name]())
        store(name, rows)
        table = pd.DataFrame(rows).groupby(["case", "n_images", "n_features"], sort=False)
        print(table[["truth", *NUMBERS]].mean().round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
