"""Make the stored results of notebook 7: python data/make_representation.py PART [PART ...]

Parts: digits, shares, entropy, debiasing, cohorts, lfw; without a name all of them, one after the
other. Each writes representation_PART.nc beside this script, with its command, seeds and versions
as attributes. A part that is stored already is left alone: delete the file to make it anew. Long
parts keep their finished seeds in the folder named by
--store, so that they can be stopped and started again.
"""

import argparse
import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray as xr

import frkit as fk
from frkit import studies
from frkit.representation import Critic

HERE = Path(__file__).resolve().parent
CRITIC = Critic(
    hidden=32, iterations=200, patience=75, learning_rate=4e-3
)  # small: there are hundreds of estimates
CASES = ("moderate", "extreme")
SIGMA = (0.02, 0.1, 0.2, 0.3, 0.5, 0.8)
FEMALE = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
BLACK = (0.02, 0.1, 0.25, 0.5, 0.8, 0.95)
LFW, ENCODERS = HERE.parent.parent / "shared/data", ("facenet", "insightface")
ENTROPY = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0)  # of the highest, log 2 or log 4


def digits(seed: int) -> xr.Dataset:
    """Fig. 3b and 3c for both cases."""
    how = {"seeds": [seed], "critic": CRITIC, "progress": False, "copies": 1}
    test = xr.Variable("test", ["as in training", "0.5"])
    panels = [
        xr.concat(
            [studies.digit_bias(case, SIGMA, sigma_test=fixed, **how) for fixed in (None, 0.5)],
            test,
        )
        for case in CASES
    ]
    return xr.concat(panels, xr.Variable("case", list(CASES)), combine_attrs="drop")


def shares(seed: int) -> xr.Dataset:
    """Fig. 4a: RLB of sex and race together over the shares of the training set."""
    grid = [(female, black) for female in FEMALE for black in BLACK]
    return studies.crossed_bias(grid, seeds=[seed], critic=CRITIC, progress=False)


def entropy(seed: int) -> xr.Dataset:
    """Fig. 4b: RLB of one attribute over its entropy in the training set, the other one
    balanced."""
    sex = [(studies.dominant_share(part * np.log(2), 2), 0.25) for part in ENTROPY]
    race = [(0.5, studies.dominant_share(part * np.log(4), 4)) for part in ENTROPY]
    how = {"seeds": [seed], "critic": CRITIC, "progress": False}
    curves = [
        studies.crossed_bias(designs, attribute=name, **how)
        for designs, name in ((sex, "sex"), (race, "race"))
    ]
    curves = [
        curve.rename(design="part").drop_vars(["female", "black"]).assign_coords(part=list(ENTROPY))
        for curve in curves
    ]
    return xr.concat(curves, xr.Variable("attribute", ["sex", "race"]))


def debiasing(seed: int) -> xr.Dataset:
    """Fig. 7 and Table III: sex, one pair of data sets."""
    return studies.debiasing_table("sex", n=1000, seeds=[seed], critic=CRITIC, progress=False)


def cohorts(seed: int) -> xr.Dataset:
    """Table IV: sex and race among people with equally many of each."""
    how = {"seeds": [seed], "critic": CRITIC, "progress": False, "female": 0.5, "n": 2000}
    sex, race = (studies.debiasing_table(name, **how) for name in ("sex", "race"))
    alike = ["accuracy", "average_precision"]
    table = xr.concat(
        [sex.drop_vars([*alike, "group"]), race.drop_vars([*alike, "group"])], "attribute"
    )
    return table.assign_coords(attribute=["sex", "race"]).assign(
        {name: race[name] for name in alike}
    )


def lfw(seed: int) -> xr.Dataset:
    """Table II on two encoders' embeddings of LFW, with gender; and what the split makes of a
    permuted gender."""
    tables = []
    for encoder in ENCODERS:
        faces = fk.open_faces(LFW / f"lfw158_{encoder}.npz")
        table = studies.spurious_table(faces, "gender", seeds=1, seed=seed, progress=False)
        permuted = studies.spurious(faces, "gender", seed=seed)["Z_S"]
        split = fk.representation_bias(permuted, "gender", by="image", seeds=1, progress=False)
        tables.append(table.assign(rlb_image_folds=split.rlb))
    return xr.concat(tables, xr.Variable("model", list(ENCODERS)))


PARTS = {
    "digits": (digits, 2),
    "shares": (shares, 2),
    "entropy": (entropy, 4),
    "debiasing": (debiasing, 50),
    "cohorts": (cohorts, 2),
    "lfw": (lfw, 3),
}


def one_seed(part: str, seed: int, store: Path) -> xr.Dataset:
    """One seed of one part, from the store where it is there."""
    store.mkdir(parents=True, exist_ok=True)
    file = store / f"{part}_{seed}.nc"
    if not file.exists():
        PARTS[part][0](seed).to_netcdf(file.with_suffix(".part"), engine="h5netcdf")
        file.with_suffix(".part").rename(file)
    print(part, seed, flush=True)
    return xr.load_dataset(file, engine="h5netcdf")


def make(part: str, store: Path) -> None:
    """All seeds of one part, in one small file."""
    n_seeds = PARTS[part][1]
    found = [one_seed(part, seed, store) for seed in range(n_seeds)]
    result = xr.concat(found, "seed", combine_attrs="drop").astype(np.float32)
    versions = {"frkit": fk.__version__} | {
        name: version(name) for name in ("numpy", "scikit-learn", "xarray")
    }
    command = f"python data/make_representation.py {part}"
    result.attrs = {
        "command": command,
        "seeds": n_seeds,
        "critic": str(CRITIC),
        "versions": json.dumps(versions),
    }
    result.to_netcdf(
        HERE / f"representation_{part}.nc", engine="scipy"
    )  # netCDF 3: a tenth of the size for so few numbers


def main() -> None:
    """The parts that are asked for and not yet stored."""
    parser = argparse.ArgumentParser(description="Make the stored results of notebook 7.")
    parser.add_argument("parts", nargs="*", default=[], metavar="PART")
    parser.add_argument("--store", type=Path, default=HERE / "representation_parts")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"unknown parts {sorted(unknown)}; known: {', '.join(PARTS)}")
    for part in arguments.parts or PARTS:
        if part == "lfw" and not LFW.is_dir():
            print("lfw: left out, for ../shared/data is not there")
        elif not (HERE / f"representation_{part}.nc").exists():
            make(part, arguments.store)


if __name__ == "__main__":
    main()
