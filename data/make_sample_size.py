"""Plan studies from pilots, and simulate each as planned: python data/make_sample_size.py [name]

Makes data/sample_size.nc, a group for each plan. It is made from a pilot study of 200 people, and
confirmed by 60 new data sets of the recommended size, from the law that the pilot's people were
drawn from. Some minutes on two cores.

band      the paper's law of identities (dimension 128, concentrations 100 to 800): a band of FRR at
          FAR 1e-3 whose half-width is a fifth of FRR.
models    two encoders (dimension 64, concentrations 60 to 150, and .93 times that): their
          difference in FRR at FAR 1e-2, seen with a power of .8.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

import frkit as fk

PATH = Path(__file__).parent / "sample_size.nc"
COMMAND = "python data/make_sample_size.py"
PILOT, IMAGES, SEED, DATA_SETS = 200, 10, 0, 60
PAPER = fk.vmf.IdentityLaw(128, kappa=(100, 800))
EVEN = fk.vmf.IdentityLaw(64, kappa=(60, 150))
WORSE = 0.93  # times the concentrations of model A are those of model B
GOALS = {
    "band": dict(goal="relative_half_width", size=0.2, far=1e-3),
    "models": dict(goal="difference", far=1e-2),
}


def exact(name: str) -> float:
    """The FRR of the population of "band", the effect in that of "models"."""
    if name == "models":
        second = fk.vmf.IdentityLaw(64, kappa=(60 * WORSE, 150 * WORSE))
        return float((second.population_roc(1e-2).frr - EVEN.population_roc(1e-2).frr)[0])
    return float(PAPER.population_roc(1e-3).frr[0])


def faces(name: str, n_identities: int, per_identity: int, seed: int) -> xr.Dataset:
    """New people of a plan's population, and images of them."""
    law = {"band": PAPER, "models": EVEN}[name]
    people = law.draw(n_identities, seed)
    if name != "models":
        return people.sample(per_identity, seed + 1)
    second = people.correlated(centroid_correlation=0.95, concentration_factor=WORSE, seed=seed + 2)
    return fk.vmf.sample_encoders(
        {"A": people, "B": second}, per_identity, seed + 1, correlation=0.8
    )


def outcome(name: str, data: xr.Dataset) -> float:
    """Half-width of the band, or whether the effect is seen, in one data set, by the default
    intervals."""
    goal = GOALS[name]
    evaluation = fk.evaluate(fk.score_tensor(data), far=[goal["far"]])
    if name == "models":
        return float(fk.compare(evaluation, "frr", models=("A", "B")).p[0]) <= 0.05
    band = fk.band(evaluation, "frr")
    return float((band.upper - band.lower)[0]) / 2


def confirmed(name: str, plan: xr.Dataset, data_sets: int) -> tuple[float, float]:
    """Mean outcome at the recommended size (of a band: over the exact FRR), and its standard
    error."""
    size = int(plan.n_identities), IMAGES
    seeds = range(1000, 1000 + 10 * data_sets, 10)
    values = np.array([outcome(name, faces(name, *size, seed)) for seed in seeds], float)
    values /= exact(name) if name == "band" else 1
    return values.mean(), values.std(ddof=1) / np.sqrt(data_sets)


def main() -> None:
    """Make the plans named, or all, and put them in the file; others stay as they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plans", nargs="*", choices=[*GOALS, []])
    parser.add_argument("--datasets", type=int, default=DATA_SETS)
    parser.add_argument("--out", type=Path, default=PATH)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", fk.DataWarning)
    plans = {}
    if arguments.out.exists():
        with xr.open_datatree(arguments.out, engine="h5netcdf") as kept:
            plans = {name: tree.to_dataset().load() for name, tree in kept.children.items()}
    for name in arguments.plans or GOALS:
        wall, cpu = time.perf_counter(), time.process_time()
        goal = {"size": None if name == "band" else exact(name)} | GOALS[name]
        plan = fk.studies.sample_size(faces(name, PILOT, IMAGES, SEED), **goal)
        value, error = confirmed(name, plan, arguments.datasets)
        plan = plan.assign(confirmed=value, confirmed_se=error)
        plan.attrs |= {
            "command": f"{COMMAND} {name}",
            "seed": SEED,
            "data_sets": arguments.datasets,
        }
        plan.attrs |= {"version": fk.__version__, "xarray": xr.__version__}
        plan.attrs |= {"wall_seconds": round(time.perf_counter() - wall)}
        plan.attrs |= {"cpu_seconds": round(time.process_time() - cpu)}
        plans[name] = plan
        print(
            name,
            plan.answer.item(),
            f"Simulated there: {value:.3g} ({error:.2g})",
            plan.attrs["cpu_seconds"],
            "s",
        )
        xr.DataTree.from_dict(plans).to_netcdf(arguments.out, engine="h5netcdf", mode="w")


if __name__ == "__main__":
    main()
