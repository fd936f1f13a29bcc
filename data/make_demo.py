"""Make the demo data from a seed: python data/make_demo.py

Makes demo_faces.npz (faces as three encoders see them), demo_truth.nc (the exact population rates
behind them) and demo_evaluation.nc (a stored evaluation, so that a first figure needs no sweep).
Less than a minute.
Everything is synthetic: see README.md in this folder.
"""

from pathlib import Path

import numpy as np
import xarray as xr

import frkit as fk
from frkit import vmf

HERE = Path(__file__).resolve().parent
SEED = 20240
N_IDENTITIES, DIM = 360, 64
FEWEST, MOST = 2, 20  # images of an identity
FAR = np.logspace(-5, -1, 17)

# Share of the identities; concentrations (larger = images of a person closer together: lower FRR);
# cohesion
# (larger = people of the group look more alike: higher FAR).
RACES = {
    "African": {"share": 0.2, "kappa": (66, 260), "cohesion": 20},
    "Asian": {"share": 0.2, "kappa": (50, 240), "cohesion": 24},
    "Caucasian": {"share": 0.4, "kappa": (82, 310), "cohesion": 0},
    "Indian": {"share": 0.2, "kappa": (74, 280), "cohesion": 12},
}
GENDERS = {"female": {"share": 0.45, "kappa": 0.85}, "male": {"share": 0.55, "kappa": 1.0}}
AGES = np.array(["18-29", "30-44", "45-59", "60+"])


def population() -> vmf.Mixture:
    """Identities with gender and race, as the encoder Ash sees them."""
    cells = {
        f"{gender}/{race}": {
            "share": law_of_gender["share"] * law_of_race["share"],
            "kappa": law_of_gender["kappa"] * np.array(law_of_race["kappa"]),
            "cohesion": law_of_race["cohesion"],
        }
        for gender, law_of_gender in GENDERS.items()
        for race, law_of_race in RACES.items()
    }
    mix = vmf.mixture(N_IDENTITIES, DIM, seed=SEED, groups=cells)
    gender, race = np.array([cell.split("/") for cell in mix.groups["group"]]).T
    shuffle = np.random.default_rng(SEED).permutation(N_IDENTITIES)
    groups = {"gender": gender[shuffle], "race": race[shuffle]}
    return vmf.Mixture(mix.mean_directions[shuffle], mix.concentrations[shuffle], groups)


def encoders() -> dict[str, vmf.Mixture]:
    """Three encoders of the same people: Ash and Birch nearly alike, Cedar clearly worse."""
    ash = population()
    wobble = np.exp(0.1 * np.random.default_rng(SEED + 1).standard_normal(N_IDENTITIES))
    birch = another_encoder(ash, 0.95, wobble, SEED + 2)
    cedar = another_encoder(ash, 0.9, 0.7, SEED + 3)
    return {"Ash": ash, "Birch": birch, "Cedar": cedar}


def another_encoder(mixture, correlation, factor, seed) -> vmf.Mixture:
    """As `Mixture.correlated`, with the random numbers that it drew when the demo was made."""
    noise = np.random.default_rng(seed).standard_normal(mixture.mean_directions.shape)
    noise *= np.sqrt((1 - correlation**2) / DIM)
    directions = correlation * mixture.mean_directions + noise
    return vmf.Mixture(directions, mixture.concentrations * factor, mixture.groups)


def images_per_identity(rng: np.random.Generator) -> np.ndarray:
    """Two to twenty images, most people with few."""
    return FEWEST + np.floor((MOST - FEWEST + 1) * rng.beta(1, 2, N_IDENTITIES)).astype(int)


def ages(identity: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Age group of every image: a first picture at 18 to 65, the others within ten years."""
    first = rng.uniform(18, 65, N_IDENTITIES)
    years = first[identity] + rng.uniform(0, 10, identity.size)
    return AGES[np.searchsorted([30, 45, 60], years, side="right")]


def faces() -> xr.Dataset:
    """The demo faces, stacked along the encoders, with the image's age group."""
    rng = np.random.default_rng(SEED + 4)
    counts = images_per_identity(rng)
    drawn = vmf.sample_encoders(encoders(), counts, seed=SEED + 5, correlation=0.8)
    number = np.concatenate([np.arange(n) for n in counts])
    names = [f"{identity}-{image:02d}" for identity, image in zip(drawn.identity.values, number)]
    age = ages(np.repeat(np.arange(N_IDENTITIES), counts), rng)
    return drawn.assign_coords(image=names, age=("image", age, {"varying": "keep"}))


def write_faces(demo: xr.Dataset) -> None:
    """demo_faces.npz: one array for each field."""
    labels = {
        name: demo[name].values for name in ("identity", "image", "model", "gender", "race", "age")
    }
    embedding = demo.embedding.transpose("model", "image", "feature").values
    np.savez_compressed(HERE / "demo_faces.npz", embedding=embedding, **labels)


def truth() -> xr.Dataset:
    """Exact population ROC of every encoder; groups of both attributes along one dimension."""
    models = []
    for mix in encoders().values():
        by = [mix.population_roc(FAR, by=attribute) for attribute in ("gender", "race")]
        models.append(
            xr.concat(
                by, "group", data_vars="minimal", coords="minimal", compat="override", join="outer"
            )
        )
    return xr.concat(models, xr.Variable("model", list(encoders())))


def evaluation(demo: xr.Dataset) -> xr.DataTree:
    """The evaluation that notebooks and README begin with."""
    resampling = fk.Resampling("image", n=200, seed=0)
    return fk.evaluate(fk.score_tensor(demo), far=FAR, by="gender", resampling=resampling)


def main() -> None:
    """Write the three files."""
    demo = faces()
    write_faces(demo)
    truth().to_netcdf(HERE / "demo_truth.nc", engine="h5netcdf")
    tree = evaluation(demo)
    packed: dict = {}
    for node in tree.subtree:
        packed[node.path] = {name: {"zlib": True, "complevel": 9} for name in node.data_vars}
        for name in node.data_vars:
            if name.startswith("influence"):  # seven digits are enough for a demo
                packed[node.path][name]["dtype"] = "float32"
    tree.to_netcdf(HERE / "demo_evaluation.nc", engine="h5netcdf", encoding=packed)
    for path in sorted(HERE.glob("demo_*")):
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
