"""The nodes of an evaluation: slices of the table of rates, with names and what made them."""

import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray as xr

import frkit
from frkit.base import UNKNOWN, require, require_path, warn
from frkit.data.arrays import open_tree
from frkit.data.files import named
from frkit.data.labels import narrow_text
from frkit.data.opening import demo_file
from frkit.engine.protocol import Protocol
from frkit.evaluation.cautions import small_groups
from frkit.evaluation.tables import COLUMN
from frkit.scores.kept import IMAGES, is_list

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
LABELLED = ("far_level", "threshold_level", "group", "reference_group")
THRESHOLDS = ("threshold", "eer_threshold", "eer_threshold_group")


def tree(tables, people, names, facts):
    """The tables of all models as one tree, with a warning where groups are too small.

    people : what entries add to the rates of each model, or none. names : of the models, or None
    for a single table without one. facts : the provenance.
    """
    table = tables[0]
    model = None
    if names is not None:
        model = names.rename("model").variable.to_index_variable()
        table = xr.concat(tables, dim=model)
    long_names = LONG_NAMES
    if facts["distance"]:
        table = _as_distances(table)
        long_names = LONG_NAMES | OF_DISTANCES
    for name, variable in table.data_vars.items():
        rate = name.removesuffix("_group").removesuffix("_cross")
        variable.attrs = {"long_name": long_names[rate]} if rate in long_names else {}
    table.attrs = {}
    data_names = [name for name in table.data_vars if COLUMN not in table[name].dims]
    columns = table.drop_vars(data_names)
    nodes = {"empirical": table.isel({COLUMN: 0}), "vstatistic": columns.isel({COLUMN: -1})}
    if "scheme" in facts:
        replicates = columns.isel({COLUMN: slice(1, -1)}).rename({COLUMN: "replicate"})
        numbers = np.arange(replicates.sizes["replicate"])
        nodes["replicates"] = replicates.assign_coords(replicate=numbers)
    if people:
        nodes["people"] = _people_of_model(people, model).assign_attrs(
            complete=int(facts["complete"]),
            far_of=facts["far_of"],
            level_of="threshold" if "threshold_level" in table.dims else "far",
        )
    for message in small_groups(nodes["empirical"]):
        warn(message)
    labels = {dim: table[dim].values.tolist() for dim in LABELLED if dim in table.coords}
    result = xr.DataTree.from_dict(nodes)
    result.attrs["provenance"] = json.dumps(facts | labels)
    return result


def at_levels(evaluation: xr.DataTree, far) -> xr.DataTree:
    """An evaluation at some of its FAR levels."""
    part = evaluation.sel(far_level=far)
    part.attrs["provenance"] = json.dumps(facts_of(part) | {"far_level": list(far)})
    return part


def facts_of(evaluation: xr.DataTree) -> dict:
    """What an evaluation is about; `labels` are digests by name."""
    require("provenance" in getattr(evaluation, "attrs", ()), NO_EVALUATION)
    return json.loads(evaluation.attrs["provenance"])


def _people_of_model(people, model):
    """What images add to the rates of every model; curves of fewer places repeat the last one."""
    if model is None:
        return people[0]
    most = max(part.sizes["place"] for part in people)
    even = [part.pad(place=(0, most - part.sizes["place"]), mode="edge") for part in people]
    codes = ["person", "image", "group_of_row", "cells"]
    sums = [part.drop_vars(codes) for part in even]
    return xr.concat(sums, dim=model, data_vars="all").merge(people[0][codes])


def _as_distances(table):
    """Thresholds, means and ascending bins as distances, where scores are distances times -1."""
    turned = [name for name in table.data_vars if name in THRESHOLDS or "_mean" in name]
    table = table.assign({name: 0.0 - table[name] for name in turned})
    if "score_bin" not in table.coords:
        return table
    table = table.isel(score_bin=slice(None, None, -1))
    return table.assign_coords(score_bin=0.0 - table["score_bin"])


@cache
def versions():
    """Versions of the libraries on which the numbers depend."""
    libraries = ("numpy", "scipy", "xarray", "dask", "numba")
    return {"frkit": frkit.__version__} | {name: version(name) for name in libraries}


def facts_of_origin(scores, protocol: Protocol, resampling, options) -> dict:
    """What made these numbers, as JSON can contain it; options are those of `evaluate`."""
    weighting, by = options.get("weighting"), options.get("by")
    impostors = options.get("impostors", "all")
    averages = "pair" if protocol.pooled else "identity"
    if weighting is not None and not isinstance(weighting, str):
        averages = "p_k"
    facts = {
        "weighting": averages,
        "impostors": impostors if isinstance(impostors, str) else dict(impostors),
        "by": by if by is None or isinstance(by, str) else list(by),
        "similarity": scores.attrs.get("similarity", "given"),
        "distance": bool(scores.attrs.get("distance")),
        "versions": versions(),
        "labels": _digests(scores, protocol, in_order=resampling is not None),
        "images": scores.attrs.get("images"),
    }
    images, _ = protocol.images_and_pairs()
    if protocol.people_are_named:
        facts["n_identities"] = len(images)
        n_people = len(np.unique(protocol.person))
        if n_people < len(images):  # split where an attribute varies within a person
            facts["n_people"] = n_people
    if protocol.images_are_named:
        facts["n_images"] = int(images.sum())
        summary = [int(images.min()), float(np.median(images)), int(images.max())]
        facts["images_per_identity"] = summary
    if protocol.listed is not None:
        facts |= _facts_of_list(protocol, by)
    if resampling is not None:
        facts |= {name: getattr(resampling, name) for name in ("scheme", "n", "seed", "strata")}
        facts["varies"] = _varies(protocol)
        facts["target"] = resampling.target(len(np.unique(protocol.person)))
    return facts


def _digests(scores, protocol: Protocol, in_order: bool) -> dict:
    """A digest of each column of labels of images or pairs, which are sorted by name.

    in_order : replicates are drawn in the order of the data, which then matters. It always does
    for pairs without names of images and people.
    """
    table = scores.to_dataset() if is_list(scores) else scores[IMAGES].dataset
    names = sorted({*map(str, table.variables)} - {"score", "model"})
    order = slice(None)
    if "image" in names and not in_order:
        order = np.argsort(table["image"].values)
    elif {"probe", "probe_identity"} <= {*names} and not in_order:
        row, col, *_ = protocol.listed
        image = protocol.images.image  # the place of the name among all
        order = np.lexsort([image[col], image[row]])
    digests = {}
    for name in names:
        labels = narrow_text(table[name].values)
        digests[name] = hashlib.sha256(labels[order]).hexdigest()[:16]
    return digests


def _facts_of_list(protocol: Protocol, by) -> dict:
    """Numbers of pairs of a list."""
    row, col, is_genuine, _, with_itself = protocol.listed
    is_of_two_people = protocol.person[row] != protocol.person[col]
    facts = {
        "n_genuine_pairs": is_genuine.sum(),
        "n_impostor_pairs": (is_of_two_people & ~with_itself).sum(),
        "n_pairs_of_an_image_with_itself": with_itself.sum(),
    }
    if by is not None:
        unlabelled = protocol.images.label == UNKNOWN
        facts["n_pairs_without_label"] = (unlabelled[row] | unlabelled[col]).sum()
    return {name: int(number) for name, number in facts.items()}


def _varies(protocol):
    """Whether some replicate that contains impostors differs from the data."""
    has_other_counts = np.ptp(protocol.counts[:, 1:-1], axis=0) > 0
    people = protocol.identity_counts[1:-1]
    has_impostors = np.count_nonzero(people, axis=1) >= min(2, people.shape[1])
    return bool(np.any(has_other_counts & has_impostors))


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
        require(
            "people" not in evaluation or "people_pairs_all" in evaluation["people"],
            "an earlier version of frkit made this evaluation: evaluate the scores again",
        )
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
