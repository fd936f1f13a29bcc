"""Run the studies of notebooks 4 and 9: python data/make_vmf_coverage.py [paper] [draws] [people]

paper   Makes data/vmf_coverage.nc: the study of Conti & Clémençon (2024), B.1, at its own size: 200
        data sets of the same 1,000 identities (dimension 128, concentrations 100 to 800, 10 images
        each), 200 replicates, image scheme, at 21 FAR levels. A minute or two on two idle cores.
draws   Makes data/vmf_draws_coverage.nc: the paper's study for two other draws of the 1,000
        identities, at FAR 1e-5 and 1e-1. As long again for each.
people  Makes data/vmf_people_coverage.nc: 200 data sets of 300 identities of the same law, once the
        same in all data sets and once new in each, by every scheme, at FAR 1e-4 to 1e-2. A few
        minutes.

All by default.
"""

import argparse
import time
from pathlib import Path

import xarray as xr

import frkit as fk

HERE = Path(__file__).parent
COMMAND = "python data/make_vmf_coverage.py"
DIM, KAPPA, SEED, SEEDS = 128, (100, 800), 0, (1, 2)
METHODS = ("recentered", "naive", "gaussian")
SCHEMES = ("image", "identity", "two-level", "double-or-nothing")


def paper() -> xr.Dataset:
    """The paper's study."""
    mixture = fk.vmf.mixture(1000, DIM, kappa=KAPPA, seed=SEED)
    options = dict(n_datasets=200, per_identity=10, methods=METHODS, replicates=200, seed=SEED)
    return fk.studies.coverage(mixture, **options)


def draws() -> xr.Dataset:
    """The paper's study of other people."""
    studies = []
    for seed in SEEDS:
        mixture = fk.vmf.mixture(1000, DIM, kappa=KAPPA, seed=seed)
        options = dict(n_datasets=200, per_identity=10, replicates=200, seed=seed, far=[1e-5, 1e-1])
        studies.append(fk.studies.coverage(mixture, methods=METHODS, **options))
    both = xr.concat(studies, dim=xr.Variable("draw", list(SEEDS)), combine_attrs="drop_conflicts")
    return both.assign_attrs(words=studies[0].attrs["words"])


def people() -> xr.Dataset:
    """The same people in every data set, and new ones, by every scheme."""
    law = fk.vmf.IdentityLaw(DIM, kappa=KAPPA)
    options = dict(n_datasets=200, per_identity=10, replicates=200, seed=SEED, schemes=SCHEMES)
    options |= dict(
        far=fk.far_levels(1e-4, 1e-2, per_decade=2),
        methods=("recentered",),
        levels=(0.5, 0.8, 0.9, 0.95),
    )
    by_people = {
        "the same": fk.studies.coverage(law.draw(300, SEED), **options),
        "new": fk.studies.coverage(law, n_identities=300, **options),
    }
    both = xr.concat(by_people.values(), dim=xr.Variable("people", list(by_people)))
    return both.assign_attrs(
        words="200 data sets of 300 identities,\n10 images of each; 200 replicates"
    )


STUDIES = {
    "paper": (paper, "vmf_coverage.nc"),
    "draws": (draws, "vmf_draws_coverage.nc"),
    "people": (people, "vmf_people_coverage.nc"),
}


def keep(name: str) -> None:
    """Compute one study and store its result."""
    study, file = STUDIES[name]
    cpu, wall = time.process_time(), time.perf_counter()
    result = study()
    result.attrs |= {
        "command": f"{COMMAND} {name}",
        "population": f"mean directions uniform in dimension {DIM}, "
        f"concentrations uniform on {KAPPA}",
        "seed": SEED,
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "wall_seconds": round(time.perf_counter() - wall, 1),
    }
    packed = {variable: {"dtype": "float32", "zlib": True} for variable in result.data_vars}
    result.to_netcdf(HERE / file, engine="h5netcdf", encoding=packed)
    print(
        f"{file}: {result.attrs['cpu_seconds']} CPU seconds, "
        f"{result.attrs['wall_seconds']} on the clock"
    )


def main() -> None:
    """Compute what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "studies", nargs="*", choices=[*STUDIES, []], help="paper, draws, people; all by default"
    )
    arguments = parser.parse_args()
    for name in arguments.studies or STUDIES:
        keep(name)


if __name__ == "__main__":
    main()
