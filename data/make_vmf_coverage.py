"""Run the coverage study at the paper's size and store its result: python data/make_vmf_coverage.py [store]

Writes data/vmf_coverage.nc: 200 data sets of the same 1,000 identities (dimension 128, concentrations 100 to 800,
10 images each), 200 replicates, image scheme, FAR 1e-6 to 1e-1. It takes a minute or two on two idle cores. With a
folder as `store` it can be interrupted and goes on where it stopped.
"""

import sys
import time
from pathlib import Path

import frkit as fk

HERE = Path(__file__).parent
IDENTITIES, DIM, KAPPA, SEED = 1000, 128, (100, 800), 0
METHODS = ("recentered", "naive", "gaussian", "pivotal", "rescaled")


def main() -> None:
    """Compute and store the study."""
    cpu, wall = time.process_time(), time.perf_counter()
    mixture = fk.vmf.mixture(IDENTITIES, DIM, kappa=KAPPA, seed=SEED)
    store = sys.argv[1] if len(sys.argv) > 1 else None
    study = fk.studies.coverage(mixture, n_datasets=200, per_identity=10, methods=METHODS, seed=SEED, store=store)
    study.attrs |= {
        "command": "python data/make_vmf_coverage.py",
        "population": f"fk.vmf.mixture({IDENTITIES}, {DIM}, kappa={KAPPA}, seed={SEED})",
        "seed": SEED,
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "wall_seconds": round(time.perf_counter() - wall, 1),
    }
    packed = {name: {"dtype": "float32", "zlib": True} for name in study.data_vars}
    study.to_netcdf(HERE / "vmf_coverage.nc", engine="h5netcdf", encoding=packed)
    print(f"{study.attrs['cpu_seconds']} CPU seconds, {study.attrs['wall_seconds']} on the clock")


if __name__ == "__main__":
    main()
