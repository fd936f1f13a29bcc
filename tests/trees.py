"""Small evaluations made by hand, in the shape that `evaluate` returns them."""

import json

import numpy as np
import xarray as xr

FAR = np.array([1e-4, 1e-3, 1e-2, 1e-1])
EMPIRICAL = np.array([0.4, 0.2, 0.1, 0.05])


def provenance(**changes) -> str:
    known = {
        "scheme": "image",
        "n": 50,
        "seed": 0,
        "target": "these 30 identities, new images",
        "weighting": "identity",
        "impostors": "all",
        "by": None,
        "n_images": 300,
        "n_identities": 30,
        "images_per_identity": [10, 10, 10],
    }
    return json.dumps({**known, **changes})


def node(frr, **variables) -> xr.Dataset:
    """One node: frr over (model, replicate, far_level), as many of them as `frr` has dimensions."""
    frr = np.asarray(frr, float)
    dims = ("model", "replicate", "far_level")[-frr.ndim :]
    data = {
        "frr": (dims, frr),
        "far": ("far_level", 0.9 * FAR),
        "threshold": ("far_level", 1 - FAR),
    }
    return xr.Dataset({**data, **variables}, coords={"far_level": FAR})


def tree(
    empirical=EMPIRICAL, centre=None, replicates=None, *, resolved=None, **known
) -> xr.DataTree:
    """An evaluation with 50 replicates around a centre below the empirical curve."""
    empirical = np.asarray(empirical, float)
    centre = 0.9 * empirical if centre is None else np.asarray(centre, float)
    if replicates is None:
        noise = np.random.default_rng(0).normal(1, 0.1, (50, FAR.size))
        replicates = centre * noise
    resolved = np.ones(FAR.size, bool) if resolved is None else np.asarray(resolved)
    found = node(empirical, resolved=("far_level", resolved))
    result = xr.DataTree.from_dict(
        {"empirical": found, "vstatistic": node(centre), "replicates": node(replicates)}
    )
    result.attrs["provenance"] = provenance(**known)
    return result


def two_models(**known) -> xr.DataTree:
    """Two encoders of the same images in one evaluation: B rejects 20 % more at every level."""
    one = tree(**known)
    nodes = {}
    for name, child in one.children.items():
        first = child.to_dataset()
        second = first.assign(frr=1.2 * first.frr)
        nodes[name] = xr.concat(
            [first, second], dim=xr.Variable("model", ["A", "B"]), data_vars="all"
        )
    result = xr.DataTree.from_dict(nodes)
    result.attrs = dict(one.attrs)
    return result
