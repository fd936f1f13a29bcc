"""The nodes of an evaluation: slices of the table of rates, with names and what made them."""

import hashlib
import json
from importlib import import_module
from pathlib import Path

import numpy as np
import xarray as xr

from frkit.base import require, require_path, warn
from frkit.data.files import named
from frkit.data.labels import narrow_text
from frkit.data.stores import open_tree
from frkit.evaluation.cautions import small_groups
from frkit.evaluation.design import Design, images_and_pairs
from frkit.evaluation.rate_tables import of_models
from frkit.io.demo import demo_file
from frkit.scores.kept import IMAGES, PAIRS, is_list, rows_of_sides

LONG_NAMES = {
    "threshold": "score threshold; accept means score > threshold",
    "far": "false acceptance rate",
    "frr": "false rejection rate",
    "auc": "area under the ROC curve",
    "eer": "equal error rate",
    "eer_threshold": "smallest observed score at which FRR >= FAR",
    "false_accepts": "accepted impostor pairs, each counted once",
    "false_rejects": "rejected genuine pairs, each counted once",
    "resolved": "at least 10 errors of either kind",
    "thinned": "relative standard error of FAR because pairs were thinned",
}
OF_DISTANCES = {
    "threshold": "distance threshold; accept means distance < threshold",
    "eer_threshold": "largest observed distance at which FRR >= FAR",
}
NO_EVALUATION = "this is not an evaluation: pass what evaluate(...) returned"
EARLIER = "an earlier version of frkit made this evaluation: evaluate the scores again"
RATES_OF_NODES = ("empirical", "vstatistic", "replicates")
LABELLED = ("far_level", "threshold_level", "group", "reference_group")
THRESHOLDS = ("threshold", "threshold_group", "eer_threshold", "eer_threshold_group")


def tree(nodes_of_models, kept, provenance, design):
    """The tables of all models as one tree, with a warning where groups are too small."""
    paths = [path for path in nodes_of_models[0] if all(path in each for each in nodes_of_models)]
    nodes = {path: of_models([each[path] for each in nodes_of_models], kept) for path in paths}
    long_names = LONG_NAMES | (OF_DISTANCES if provenance["distance"] else {})
    for node in {*RATES_OF_NODES} & {*nodes}:
        if provenance["distance"]:
            nodes[node] = _as_distances(nodes[node])
        for name, variable in nodes[node].data_vars.items():
            rate = name.removesuffix("_group").removesuffix("_cross")
            variable.attrs = {"long_name": long_names[rate]} if rate in long_names else {}
    data = nodes["empirical"]
    if "people" in nodes:
        nodes["people"].attrs["level_of"] = "far" if "far_level" in data.dims else "threshold"
        if design.people_are_named:
            nodes["people"].coords["identity"] = "person", np.unique(design.images.person)
    for notice in small_groups(data):
        warn(notice)
        provenance["notices"].append(notice)
    labels = {dim: data[dim].values.tolist() for dim in LABELLED if dim in data.coords}
    result = xr.DataTree.from_dict(nodes)
    result.attrs["provenance"] = json.dumps(provenance | labels)
    return result


def at_levels(evaluation: xr.DataTree, far) -> xr.DataTree:
    """An evaluation at some of its FAR levels."""
    part = evaluation.sel(far_level=far)
    part.attrs["provenance"] = json.dumps(provenance_of(part) | {"far_level": list(far)})
    return part


def provenance_of(evaluation: xr.DataTree) -> dict:
    """What an evaluation is about; `labels` are digests by name."""
    require("provenance" in getattr(evaluation, "attrs", ()), NO_EVALUATION)
    return json.loads(evaluation.attrs["provenance"])


def _as_distances(table):
    """Thresholds, means and ascending bins as distances, where scores are distances times -1."""
    turned = [name for name in table.data_vars if name in THRESHOLDS or "_mean" in name]
    table = table.assign({name: 0.0 - table[name] for name in turned})
    if "score_bin" not in table.coords:
        return table
    table = table.isel(score_bin=slice(None, None, -1))
    return table.assign_coords(score_bin=0.0 - table["score_bin"])


def versions():
    """Versions of the libraries on which the numbers depend."""
    libraries = ("frkit", "numpy", "scipy", "xarray", "dask", "numba")
    return {name: import_module(name).__version__ for name in libraries}


def new_provenance(scores, design: Design, resampling, options) -> dict:
    """What made these numbers, as JSON can contain it; options are those of `evaluate`."""
    weighting, by = options.get("weighting"), options.get("by")
    averages = "pair" if design.pooled else "identity"
    if weighting is not None and not isinstance(weighting, str):
        averages = "p_k"
    provenance = {
        "weighting": averages,
        "impostors": options.get("impostors", "all"),
        "by": by if by is None or isinstance(by, str) else list(by),
        "similarity": scores.attrs.get("similarity", "given"),
        "distance": bool(scores.attrs.get("distance")),
        "versions": versions(),
        "labels": _digests(scores, design, in_order=resampling is not None),
        "images": scores.attrs.get("images"),
    }
    images, _ = images_and_pairs(design)
    if design.people_are_named:
        provenance["n_identities"] = len(images)
        n_people = design.n_people
        if n_people < len(images):  # split where an attribute varies within a person
            provenance["n_people"] = n_people
    if design.images_are_named:
        provenance["n_images"] = int(images.sum())
        summary = [int(images.min()), float(np.median(images)), int(images.max())]
        provenance["images_per_identity"] = summary
    if design.listed is not None:
        person = design.images.person_code
        row, col = design.images.sides
        provenance["n_genuine_pairs"] = int(design.listed.is_genuine.sum())
        provenance["n_impostor_pairs"] = int((person[row] != person[col]).sum())
    if resampling is not None:
        for name in ("scheme", "n", "seed", "strata"):
            provenance[name] = getattr(resampling, name)
        provenance["target"] = resampling.target(design.n_people)
    return provenance


def _digests(scores, design: Design, in_order: bool) -> dict:
    """A digest of each column of labels of images or pairs, which are sorted by name.

    in_order : replicates are drawn in the order of the data, which then matters. It always does
    for pairs without names of images and people.
    """
    table = scores[IMAGES].dataset
    names = sorted({*map(str, table.variables)} - {"model"})
    is_sorted = design.images_are_named and not in_order
    order = slice(None)
    if not is_list(scores):
        if is_sorted:
            order = np.argsort(table["image"].values)
        return {name: _digest(narrow_text(table[name].values)[order]) for name in names}
    if is_sorted:
        probe, reference = design.images.image[design.images.sides]
        order = np.argsort(probe * len(design.images.image) + reference, kind="stable")
    sides = rows_of_sides(scores)[:, order]
    digests = {"genuine": _digest(scores[PAIRS]["genuine"].values[order])}
    for name in names:
        labels, code = np.unique(table[name].values, return_inverse=True)
        digests[name] = _digest(narrow_text(labels).tobytes() + code[sides].tobytes())
    return digests


def _digest(content):
    return hashlib.sha256(content).hexdigest()[:16]


def open_evaluation(path: str | Path) -> xr.DataTree:
    """Read an evaluation that was stored, all of it at once.

    Parameters
    ----------
    path : str or Path
        What `ev.to_netcdf(path)` or `ev.to_zarr(path)` wrote.

    Returns
    -------
    xr.DataTree
        As from `evaluate`.

    Raises
    ------
    InputError
        Where the file is absent or contains no evaluation.

    Examples
    --------
    >>> import frkit as fk
    >>> ev = fk.open_evaluation("data/demo_evaluation.nc")  # the file of fk.demo_evaluation()
    """
    path = require_path("path", path)
    with named(path):
        evaluation = open_tree(path, "the evaluation")
        require("empirical" in evaluation, "it has no node 'empirical': it is not an evaluation")
        require("people" not in evaluation or "moment" in evaluation["people"].coords, EARLIER)
    return evaluation


def demo_evaluation() -> xr.DataTree:
    """Open the evaluation of the demo faces by gender that comes with frkit.

    Returns
    -------
    xr.DataTree
        As `evaluate` made it of `demo_faces`: three models, 17 FAR levels from 1e-5 to 0.1, 200
        replicates of the image scheme, and what intervals without replicates read.

    Raises
    ------
    InputError
        If the file was lost from this installation.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.demo_evaluation()["empirical"].model.values.tolist()
    ['Ash', 'Birch', 'Cedar']
    """
    return open_evaluation(demo_file("demo_evaluation.nc"))
