"""Plan studies, simulate each at the size recommended, store the plans: python data/make_sample_size.py [name]

band      the paper's law of identities (dimension 128, concentrations 100 to 800): a band of FRR at FAR 1e-3 whose
          half-width is a fifth of FRR.
models    demo_faces.npz, Ash and Birch: a difference of .01 in FRR at FAR 1e-2, seen with a power of .8.

Each becomes a group of sample_size.nc. Some minutes on two cores.
"""

import sys
import time
import warnings
from pathlib import Path

import xarray as xr

import frkit as fk

HERE = Path(__file__).parent
COMMAND = "python data/make_sample_size.py"
SEED, CONFIRM = 0, 40


def band() -> xr.Dataset:
    """A narrow band of the FRR of new people."""
    return plan(fk.vmf.IdentityLaw(128, kappa=(100, 800)), "relative_half_width", 0.2, far=1e-3)


def models() -> xr.Dataset:
    """Two encoders that the demo faces hold."""
    faces = fk.open_faces(HERE / "demo_faces.npz").sel(model=["Ash", "Birch"])
    return plan(faces, "difference", 0.01, far=1e-2)


def plan(population, goal: str, size: float, **options) -> xr.Dataset:
    """A plan with what was needed to make it."""
    start, cpu = time.perf_counter(), time.process_time()
    resampling = fk.Resampling("identity", n=200, seed=SEED)
    found = fk.studies.sample_size(population, goal, size, resampling=resampling, confirm=CONFIRM, **options)
    found.attrs |= {"seed": SEED, "replicates": 200, "version": fk.__version__, "xarray": xr.__version__}
    found.attrs |= {"wall_seconds": round(time.perf_counter() - start), "cpu_seconds": round(time.process_time() - cpu)}
    return found


def main() -> None:
    """Make the plans named, or all, and put them in the file; others stay as they are."""
    warnings.simplefilter("ignore", fk.DataWarning)
    path = HERE / "sample_size.nc"
    plans = {"band": band, "models": models}
    found = {}
    if path.exists():
        with xr.open_datatree(path, engine="h5netcdf") as kept:
            found = {name: tree.to_dataset().load() for name, tree in kept.children.items()}
    for name in sys.argv[1:] or plans:
        found[name] = plans[name]()
        found[name].attrs["command"] = f"{COMMAND} {name}"
        print(name, found[name].attrs["answer"], found[name].attrs["wall_seconds"], "s", flush=True)
        xr.DataTree.from_dict(found).to_netcdf(path, engine="h5netcdf", mode="w")


if __name__ == "__main__":
    main()
