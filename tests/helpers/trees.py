"""Small evaluations made by hand, in the shape that `evaluate` returns them."""

import json

import numpy as np
import xarray as xr

FAR = np.array([1e-4, 1e-3, 1e-2, 1e-1])
EMPIRICAL = np.array([0.4, 0.2, 0.1, 0.05])


def made_by(**changes) -> dict:
    about = dict(scheme="image", n=50, seed=0, target="these 30 identities, new images")
    about |= dict(weighting="identity", impostors="all", by=None, n_images=300, n_identities=30)
    return {**about, "images_per_identity": [10, 10, 10], **changes}


def node(frr, **variables) -> xr.Dataset:
    """One node: frr over (model, replicate, far_level), as many of them as `frr` has dimensions."""
    frr = np.asarray(frr, float)
    dims = ("model", "replicate", "far_level")[-frr.ndim :]
    data = xr.Dataset({"frr": (dims, frr)}, coords={"far_level": FAR})
    return data.assign(far=0.9 * data.far_level, threshold=1 - data.far_level, **variables)


def tree(empirical=EMPIRICAL, centre=None, replicates=None, *, resolved=None, **about):
    """An evaluation with 50 replicates around a centre below the empirical curve."""
    empirical = np.asarray(empirical, float)
    centre = 0.9 * empirical if centre is None else np.asarray(centre, float)
    if replicates is None:
        noise = np.random.default_rng(0).normal(1, 0.1, (50, FAR.size))
        replicates = centre * noise
    resolved = np.ones(FAR.size, bool) if resolved is None else np.asarray(resolved)
    nodes = {"vstatistic": node(centre), "replicates": node(replicates)}
    nodes["empirical"] = node(empirical, resolved=("far_level", resolved))
    result = xr.DataTree.from_dict(nodes)
    about = made_by(**about)
    result.attrs = {name: value for name, value in about.items() if value is not None}
    result.attrs["provenance"] = json.dumps(about)
    return result


def two_models(**about) -> xr.DataTree:
    """Two encoders of the same images in one evaluation: B rejects 20 % more at every level."""
    model = xr.Variable("model", ["A", "B"])

    def both(data):
        return xr.concat([data, data.assign(frr=1.2 * data.frr)], dim=model, data_vars="all")

    result = tree(**about)
    return result.map_over_datasets(lambda data: both(data) if data else data)
