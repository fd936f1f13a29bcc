"""Compare the methods of `band` over images per identity: python data/make_methods_coverage.py

Makes data/methods_coverage.nc: for each of five populations of identities (four dimensions, and
the paper's range of concentrations) and six numbers of images per identity, 200 data sets of the
same identities with 200 replicates (image scheme), at FAR 1e-5 to 1e-1. About twelve minutes on two
idle cores.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import xarray as xr

import frkit as fk

HERE = Path(__file__).parent
SEED = 0
METHODS = ("recentered", "gaussian")
LEVELS = (0.8, 0.9, 0.95)
FAR = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
# dimension and range of concentrations; FRR about .09 at FAR 1e-3, and .007 for the paper's
POPULATIONS = {
    "p = 64": (64, (60, 150)),
    "p = 128": (128, (90, 180)),
    "p = 256": (256, (140, 260)),
    "p = 512": (512, (220, 400)),
    "p = 128, the paper's": (128, (100, 800)),
}
IDENTITIES = {
    "2": 1000,
    "3": 700,
    "5": 400,
    "10": 300,
    "20": 150,
    "2 to 20": 300,
}  # by images of each
KEPT = (
    "coverage",
    "coverage_se",
    "miss_below",
    "miss_above",
    "width",
    "truth",
    "false_rejects",
    "resolved",
)


def images(label: str) -> int | np.ndarray:
    """Images of each identity: one number, or one for each."""
    if label.isdigit():
        return int(label)
    few, many = map(int, label.split(" to "))
    return np.random.default_rng(SEED).integers(few, many + 1, IDENTITIES[label])


def cell(population: str, label: str, n_datasets: int) -> xr.Dataset:
    """The study of one population and one number of images per identity."""
    dim, kappa = POPULATIONS[population]
    mixture = fk.vmf.mixture(IDENTITIES[label], dim, kappa=kappa, seed=SEED)
    per_identity = images(label)
    options = dict(
        n_datasets=n_datasets, replicates=200, seed=SEED, far=FAR, methods=METHODS, levels=LEVELS
    )
    study = fk.studies.coverage(mixture, per_identity=per_identity, progress=False, **options)
    study = study[list(KEPT)].isel(scheme=0, drop=True)
    many = np.broadcast_to(per_identity, IDENTITIES[label])
    n_impostors = (many.sum() ** 2 - (many**2).sum()) / 2
    attrs = {"long_name": "accepted impostor pairs, mean over data sets"}
    return study.assign(false_accepts=(study.far_level * n_impostors).assign_attrs(attrs))


def main() -> None:
    """Compute all cells, and store them together."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=200, help="data sets of each cell")
    arguments = parser.parse_args()
    cpu, wall, rows = time.process_time(), time.perf_counter(), []
    for population in POPULATIONS:
        rows.append([cell(population, label, arguments.datasets) for label in IDENTITIES])
        print(f"{population}: {time.perf_counter() - wall:.0f} s", flush=True)
    study = xr.combine_nested(rows, ["population", "per_identity"], combine_attrs="drop")
    labels = {
        "population": list(POPULATIONS),
        "per_identity": list(IDENTITIES),
        "dim": ("population", [dim for dim, _ in POPULATIONS.values()]),
        "n_identities": ("per_identity", list(IDENTITIES.values())),
    }
    study = study.assign_coords(labels)
    study.attrs = {
        "kind": "studies.coverage",
        "command": "python data/make_methods_coverage.py",
        "populations": json.dumps(POPULATIONS),
        "seed": SEED,
        "n_datasets": arguments.datasets,
        "replicates": 200,
        "versions": json.loads(rows[0][0].attrs["study"])["versions"],
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "wall_seconds": round(time.perf_counter() - wall, 1),
    }
    study.attrs["versions"] = json.dumps(study.attrs["versions"])
    packed = {name: {"dtype": "float32", "zlib": True} for name in study.data_vars}
    study.to_netcdf(HERE / "methods_coverage.nc", engine="h5netcdf", encoding=packed)
    print(f"{study.attrs['cpu_seconds']} CPU seconds, {study.attrs['wall_seconds']} on the clock")


if __name__ == "__main__":
    main()
