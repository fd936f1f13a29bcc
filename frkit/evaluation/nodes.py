"""Labels for tallies: arrays of rates and distributions to the nodes of an evaluation."""

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, REPLICATE, SCORE_BIN, THRESHOLD_LEVEL, listed
from frkit.engine.distributions import Distributions
from frkit.engine.protocol import Protocol
from frkit.engine.tallies import Rates

RESOLVED = 10  # errors of either kind that a level needs before its band means something

LONG_NAMES = {
    "threshold": "score threshold; accept means score > threshold",
    "far": "false acceptance rate",
    "frr": "false rejection rate",
    "frr_rescaled": "false rejection rate without copies of an image, over 1 - 1/n_k",
    "frr_group_rescaled": "false rejection rate of the group without copies of an image, over 1 - 1/n_k",
    "far_variance": "variance of FAR at its threshold over draws of the images",
    "frr_variance": "variance of FRR at its threshold over draws of the images",
    "far_data": "false acceptance rate of the data at the replicate's threshold",
    "frr_data": "false rejection rate of the data at the replicate's threshold",
    "far_group": "false acceptance rate within the group",
    "frr_group": "false rejection rate of the group",
    "far_cross": "false acceptance rate between two groups",
    "eer": "equal error rate",
    "eer_group": "equal error rate of the group",
    "eer_threshold": "smallest observed score at which FRR >= FAR",
    "eer_threshold_group": "smallest observed score at which the group's FRR >= FAR",
    "false_accepts": "accepted impostor pairs, each counted once",
    "false_rejects": "rejected genuine pairs, each counted once",
    "resolved": "at least 10 errors of either kind",
}
SMALL_GROUPS = (
    ("far_group", "FAR", "it takes two identities in the group"),
    ("frr_group", "FRR", "it takes an identity with two images in the group"),
)


def small_groups(found: xr.Dataset) -> list[str]:
    """A message for each rate that some groups are too small for: they stay, with NaN."""
    messages = []
    for variable, rate, need in SMALL_GROUPS:
        if variable in found:
            empty = found[variable].isnull().all([dim for dim in found[variable].dims if dim != GROUP])
            lost = found[GROUP].values[empty.values]
            messages += [f"no {rate} for {listed(lost)}, so NaN: {need}"] if lost.size else []
    return messages


def of_rates(rates: Rates, protocol: Protocol, levels, fixed, impostors: str) -> dict[str, xr.Dataset]:
    """The three nodes of one model: the data, their V-statistic, and the replicates."""
    dim = FAR_LEVEL if fixed is None else THRESHOLD_LEVEL
    coords = {dim: levels if fixed is None else fixed}
    if len(protocol.groups):
        coords[GROUP] = protocol.groups
        coords |= {REFERENCE_GROUP: protocol.groups} if impostors == "all" else {}
    lone = _variables(rates, 0, (), dim, impostors)
    resolved = (rates.n_accepted >= RESOLVED) & (rates.n_rejected >= RESOLVED)
    counts = {
        "false_accepts": (dim, rates.n_accepted),
        "false_rejects": (dim, rates.n_rejected),
        "resolved": (dim, resolved),
    }
    if rates.spread is not None:
        counts |= {name: (dim, getattr(rates.spread, name)) for name in ("far_variance", "frr_variance")}
    many = _variables(rates, slice(1, None), (REPLICATE,), dim, impostors) | _rescaled(rates, dim, len(protocol.groups))
    if rates.spread is not None and fixed is None:
        many |= {name: ((REPLICATE, dim), getattr(rates.spread, name)[1:]) for name in ("far_data", "frr_data")}
    return {
        "empirical": _dataset(lone | counts, coords),
        "vstatistic": _dataset(lone | _centre(rates, dim, len(protocol.groups)), coords),
        "replicates": _dataset(many, coords | {REPLICATE: np.arange(len(rates.frr) - 1)}),
    }


def _dataset(variables: dict, coords: dict) -> xr.Dataset:
    described = {name: (*given, {"long_name": LONG_NAMES[name]}) for name, given in variables.items()}
    return xr.Dataset(described, coords)


def _centre(rates: Rates, dim: str, n_groups: int) -> dict:
    """What the V-statistic has of its own: FRR and EER; its FAR and thresholds are the data's."""
    out = {"frr": (dim, rates.centre_frr), "eer": ((), rates.centre_eer[-1])}
    out["eer_threshold"] = ((), rates.centre_eer_threshold[-1])
    if n_groups:
        out["frr_group"] = ((dim, GROUP), rates.centre_frr_group)
        out["eer_group"] = (GROUP, rates.centre_eer[:-1])
        out["eer_threshold_group"] = (GROUP, rates.centre_eer_threshold[:-1])
    return out


def _rescaled(rates: Rates, dim: str, n_groups: int) -> dict:
    """FRR of the replicates without copies of an image, where they hold any."""
    if rates.frr_rescaled is None:
        return {}
    out = {"frr_rescaled": ((REPLICATE, dim), rates.frr_rescaled[1:])}
    return out | ({"frr_group_rescaled": ((REPLICATE, dim, GROUP), rates.frr_group_rescaled[1:])} if n_groups else {})


def _variables(rates: Rates, columns, lead: tuple, dim: str, impostors: str) -> dict:
    """Rates of some columns, as variables over ([replicate,] level[, group])."""
    n_groups = rates.frr_group.shape[2]
    line, curve = (*lead, dim), (*lead, GROUP)
    out = {name: (line, getattr(rates, name)[columns]) for name in ("threshold", "far", "frr")}
    out |= {name: (lead, getattr(rates, name)[columns, -1]) for name in ("eer", "eer_threshold")}
    if n_groups:
        out["far_group"] = ((*line, GROUP), rates.far_cell[columns][..., :n_groups])
        out["frr_group"] = ((*line, GROUP), rates.frr_group[columns])
        out["eer_group"] = (curve, rates.eer[columns, :-1])
        out["eer_threshold_group"] = (curve, rates.eer_threshold[columns, :-1])
    if n_groups and impostors == "all":
        out["far_cross"] = ((*line, GROUP, REFERENCE_GROUP), _square(rates.far_cell[columns], n_groups))
    return out


def _square(cells: np.ndarray, n_groups: int) -> np.ndarray:
    """(…, cell) to a symmetric (…, group, reference_group) matrix: FAR within groups on the diagonal."""
    index = np.empty((n_groups, n_groups), int)
    index[np.diag_indices(n_groups)] = np.arange(n_groups)
    a, b = np.triu_indices(n_groups, 1)
    index[a, b] = index[b, a] = n_groups + np.arange(len(a))
    return cells[..., index]


def add_distributions(tree: dict[str, xr.Dataset], found: Distributions, n_groups: int) -> None:
    """AUC, moments, histograms, and numbers of images and pairs into the three nodes."""
    parts = {"auc": found.auc, "images": found.images}
    parts |= {f"{kind}_pairs": many for kind, many in found.pairs.items()}
    for kind in ("genuine", "impostor"):
        parts |= dict(zip((f"{kind}_mean", f"{kind}_sd", f"{kind}_histogram"), getattr(found, kind), strict=True))
    centres = (found.edges[1:] + found.edges[:-1]) / 2
    columns = {"empirical": 0, "vstatistic": -1, "replicates": slice(1, -1)}
    for node, at in columns.items():
        lead = (REPLICATE,) if node == "replicates" else ()
        new = {}
        for name, values in parts.items():
            dims = (*lead, SCORE_BIN) if name.endswith("histogram") else lead
            new[name] = (dims, values[at][..., -1])
            if n_groups:
                new[f"{name}_group"] = ((*dims, GROUP), values[at][..., :-1])
        tree[node] = tree[node].assign(new).assign_coords({SCORE_BIN: centres})
