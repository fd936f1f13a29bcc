"""The nodes of an evaluation: slices of the table of rates, with names, what made them, and what they cannot tell."""

import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray as xr

import frkit
from frkit.base import (
    FAR_LEVEL,
    GROUP,
    MODEL,
    REFERENCE_GROUP,
    REPLICATE,
    SCORE_BIN,
    THRESHOLD_LEVEL,
    listed,
    require,
    require_path,
    warn,
)
from frkit.data.files import check_in_child, named, reading
from frkit.data.opening import demo_file
from frkit.engine.protocol import Protocol
from frkit.resampling import DIAGONAL_SCHEMES, Resampling

LONG_NAMES = {
    "threshold": "score threshold; accept means score > threshold",
    "far": "false acceptance rate",
    "frr": "false rejection rate",
    "auc": "area under the ROC curve, from histograms",
    "eer": "equal error rate",
    "eer_threshold": "smallest observed score at which FRR >= FAR",
    "false_accepts": "accepted impostor pairs, each counted once",
    "false_rejects": "rejected genuine pairs, each counted once",
    "resolved": "at least 10 errors of either kind",
    "resolved_cross": "at least 10 accepted impostor pairs",
}
WHOSE = {
    "_group": ", of the pairs within each group",
    "_cross": ", of the pairs between two groups",
}
OF_DISTANCES = {
    "threshold": "distance threshold; accept means distance < threshold",
    "eer_threshold": "largest observed distance at which FRR >= FAR",
}
COLUMN = "column"  # the data, replicates, and last the V-statistic
LABELLED = (FAR_LEVEL, THRESHOLD_LEVEL, GROUP, REFERENCE_GROUP)
THRESHOLDS = ("threshold", "eer_threshold", "eer_threshold_group")
FEW_IMAGES = 5  # images per identity below which the image scheme covers too little
FEW_SHARE = 0.1  # of FRR's weight with such identities, from which that is said
SMALL_GROUPS = (
    ("far_group", "FAR", "it takes two identities in the group who were compared"),
    ("frr_group", "FRR", "it takes an identity with two images in the group that were compared"),
)


def tree(tables: list[xr.Dataset], people: list[xr.Dataset], names, facts: dict) -> xr.DataTree:
    """The tables of all models as one tree, with a warning where groups are too small.

    people: what entries add to the rates of each model, or none. names: of the models, or None
    for a single table without one. facts: the provenance.
    """
    table = tables[0]
    if names is not None:
        model = names.rename(MODEL).variable.to_index_variable()
        table = xr.concat(tables, dim=model)
    table = _in_users_sign(table) if facts["distance"] else table
    words = LONG_NAMES | OF_DISTANCES if facts["distance"] else LONG_NAMES
    for name in table.data_vars:
        end = next((end for end in WHOSE if name.endswith(end)), "")
        meaning = words.get(name, words.get(name.removesuffix(end)))
        table[name].attrs = {"long_name": meaning + WHOSE.get(end, "")} if meaning else {}
        if name.startswith("auc"):
            table[name].attrs["error_bound"] = max(part.attrs["auc_error"] for part in tables)
    table = table.drop_attrs(deep=False)
    of_data = [name for name in table.data_vars if COLUMN not in table[name].dims]
    centre = table.drop_vars(of_data)
    nodes = {"empirical": table.isel({COLUMN: 0}), "vstatistic": centre.isel({COLUMN: -1})}
    if "scheme" in facts:
        replicates = centre.isel({COLUMN: slice(1, -1)}).rename({COLUMN: REPLICATE})
        numbers = np.arange(replicates.sizes[REPLICATE])
        nodes["replicates"] = replicates.assign_coords({REPLICATE: numbers})
    if people:
        nodes["people"] = people[0] if names is None else _together(people, model)
        nodes["people"].attrs = _about_people(table, facts)
    for message in small_groups(nodes["empirical"]):
        warn(message)
    labels = {dim: table[dim].values.tolist() for dim in LABELLED if dim in table.coords}
    result = xr.DataTree.from_dict(nodes)
    result.attrs["provenance"] = json.dumps(facts | labels)
    if any(facts["thinned"]):
        result.attrs["thinned"] = json.dumps(facts["thinned"])
    return result


def _together(people: list[xr.Dataset], model) -> xr.Dataset:
    """What entries add to the rates of every model; curves of fewer places repeat the last one."""
    most = max(part.sizes["place"] for part in people)
    even = [part.pad(place=(0, most - part.sizes["place"]), mode="edge") for part in people]
    codes = ["person", "image", "group", "cells"]
    alike = [part.drop_vars(codes) for part in even]
    return xr.concat(alike, dim=model, data_vars="all").merge(people[0][codes])


def _about_people(table: xr.Dataset, facts: dict) -> dict:
    """What a reader of the node `people` must know of its points."""
    given = THRESHOLD_LEVEL in table.dims
    return {
        "levels": table.sizes[THRESHOLD_LEVEL if given else FAR_LEVEL],
        "groups": table.sizes.get(GROUP, 0),
        "auc": int("auc" in table),
        "complete": int(facts["complete"]),
        "level_of": "threshold" if given else "far",
        "far_of": facts["far_of"],
    }


def _in_users_sign(table: xr.Dataset) -> xr.Dataset:
    """Thresholds, and means, of scores whose sign was changed, as distances again; their bins in ascending order."""
    own = [name for name in table.data_vars if name in THRESHOLDS or "_mean" in name]
    table = table.assign({name: 0.0 - table[name] for name in own})
    if SCORE_BIN not in table.coords:
        return table
    table = table.isel({SCORE_BIN: slice(None, None, -1)})
    return table.assign_coords({SCORE_BIN: 0.0 - table[SCORE_BIN]})


def small_groups(found: xr.Dataset) -> list[str]:
    """A message for each rate that some groups are too small for: they stay, with NaN."""
    messages = []
    for variable, rate, need in SMALL_GROUPS:
        if variable in found:
            empty = (
                found[variable].isnull().all([dim for dim in found[variable].dims if dim != GROUP])
            )
            lost = found[GROUP].values[empty.values]
            messages += [f"no {rate} for {listed(lost)}, so NaN: {need}"] if lost.size else []
    return messages


def caution(
    protocol: Protocol,
    resampling: Resampling | None,
    levels: np.ndarray,
    tables: list,
    models,
    failed: int,
) -> None:
    """Say what these data and options cannot tell; models: their names, or None for a single table without one; failed:
    genuine comparisons of the model with most of these."""
    if failed >= protocol.n_genuine / 2:
        warn(
            f"{failed} of {protocol.n_genuine} genuine comparisons failed (NaN or marked as missing) and are left out: "
            "the rates are those of the others, which may be the easier ones"
        )
    drawn = resampling is not None and resampling.scheme in DIAGONAL_SCHEMES
    share, few, many = _few_images(protocol) if drawn else (0, 0, 0)
    if share >= FEW_SHARE:
        warn(
            f"{share:.0%} of the weight of FRR lies with people of fewer than {FEW_IMAGES} images ({few} of {many} "
            f"people): intervals from replicates of the {resampling.scheme} scheme are too narrow then (they cover .46 "
            "to .89 at nominal .95 with 2 or 3 images). Name no method in fk.band, which then reads no replicates of "
            "rates, or draw people, Resampling('identity')"
        )
    if drawn and not protocol.diagonal:
        warn(
            "these scores hold no comparison of an image with itself, so copies of an image make no genuine pairs: "
            f"the {resampling.scheme} scheme is centred on the estimate itself, and identities with one genuine pair "
            "cannot vary; scheme 'identity' says more here"
        )
    n_impostors = protocol.n_probes * (len(protocol.person) - protocol.offset) / 2
    smallest = 1 / max(n_impostors if protocol.pairs is None else len(protocol.pairs.impostor), 1)
    names = [""] if models is None else [f" (model {name!r})" for name in models.values.tolist()]
    for name, table in zip(names, tables, strict=True):
        data = table.isel({COLUMN: 0}, missing_dims="ignore")
        low = levels[(levels < smallest) | (data.far.values <= 0)] if levels.size else levels
        if low.size:
            warn(
                f"FAR levels {', '.join(f'{a:g}' for a in low)} lie below the weight of one impostor pair (about "
                f"{smallest:.2g}){name}: the threshold there is the largest impostor score, whose bootstrap is not "
                "valid; take levels above, or compare more images"
            )
        rate, above = ("EER", data.eer) if "eer" in data else ("1 - AUC", 1 - data.auc)
        if above > 0.5:
            warn(
                f"the {rate}{name} is {float(above):.2f}: strangers score higher than images of one person. If larger "
                "scores mean less alike (distances), turn their sign: distance=True, or --distance"
            )


def _few_images(protocol: Protocol) -> tuple[float, int, int]:
    """Share of FRR's weight that lies with people of few images, how many these are, and of how many."""
    if protocol.pairs is not None and "n_images" in protocol.pairs.facts:
        return 0.0, 0, 0  # nobody's images are known
    owner = protocol.owner[: protocol.n_genuine]
    pairs = np.bincount(owner, minlength=len(protocol.share))
    weight = protocol.share**2 * (pairs if protocol.pooled else pairs > 0)
    images = np.bincount(protocol.images.identity_code, minlength=len(pairs))
    few = (images < FEW_IMAGES) & (pairs > 0)
    return float(weight[few].sum() / weight.sum()), int(few.sum()), int(np.count_nonzero(pairs))


@cache
def versions() -> dict[str, str]:
    """Versions of the libraries on which the numbers depend."""
    return {"frkit": frkit.__version__} | {
        one: version(one) for one in ("numpy", "scipy", "xarray", "dask", "numba")
    }


def provenance(
    scores, protocol: Protocol, resampling, weighting, impostors, by, failed: list[int]
) -> dict:
    """What made these numbers, as JSON can hold it."""
    images = np.bincount(protocol.images.identity_code)
    shared = weighting is None or isinstance(weighting, str)
    known = {}
    if resampling is not None:
        known = {name: getattr(resampling, name) for name in ("scheme", "n", "seed", "strata")}
        target = resampling.target(len(np.unique(protocol.person)))
        known |= {"copies": protocol.diagonal, "varies": _varies(protocol), "target": target}
    known |= {
        "weighting": "pair" if protocol.pooled else "identity" if shared else "p_k",
        "impostors": impostors if isinstance(impostors, str) else dict(impostors),
        "by": by if by is None or isinstance(by, str) else list(by),
        "similarity": scores.attrs.get("similarity", "given"),
        "distance": bool(scores.attrs.get("distance")),
        "n_images": len(images) and int(images.sum()),
        "n_identities": len(images),
        "images_per_identity": [int(images.min()), float(np.median(images)), int(images.max())],
        "failed_genuine_comparisons": failed,
        "versions": versions(),
        "labels": _digests(scores),
        "images": scores.attrs.get("images"),
    }
    facts = {} if protocol.pairs is None else protocol.pairs.facts
    return {
        name: value for name, value in (known | facts).items() if facts.get(name, "") is not None
    }


def _varies(protocol: Protocol) -> bool:
    """Whether some replicate that contains impostors differs from the data."""
    people, images = protocol.identity_count[1:-1], protocol.image_count[:, 1:-1]
    moved = np.any(images != 1, axis=0) | np.any(people != people[:, :1], axis=1)
    several = (np.count_nonzero(people, axis=1) > 1) | (people.shape[1] < 2)
    return bool(np.any(moved & several))


def _digests(scores: xr.DataArray) -> dict[str, str]:
    """What the labels of images or pairs leave of themselves, by name."""
    found = {}
    for name in sorted(
        str(name) for name in scores.coords if MODEL not in scores[name].dims and name != MODEL
    ):
        labels = scores[name].values.astype(str)
        width = max(
            1, int(np.char.str_len(labels).max(initial=1))
        )  # the same bytes however wide they are stored
        found[name] = hashlib.sha256(np.ascontiguousarray(labels.astype(f"U{width}"))).hexdigest()[
            :16
        ]
    return found


def open_evaluation(path: str | Path) -> xr.DataTree:
    """Read an evaluation that was stored with `ev.to_netcdf(path)`; the whole file is read at once.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    xr.DataTree
        As from `evaluate`.

    Raises
    ------
    InputError
        Where the file is absent or holds no evaluation.

    Examples
    --------
    >>> import frkit as fk
    >>> ev = fk.open_evaluation("data/demo_evaluation.nc")  # the file of fk.demo_evaluation()
    """
    path = require_path("path", path)
    require(path.is_file(), f"there is no file {path}; write one with ev.to_netcdf(path)")
    with named(path):
        check_in_child(path)
        with reading("the evaluation"), xr.open_datatree(path, engine="h5netcdf") as tree:
            loaded = tree.load()
    require("empirical" in loaded, f"{path} holds no node 'empirical': it is not an evaluation")
    return loaded


def demo_evaluation() -> xr.DataTree:
    """Open the evaluation of the demo faces by gender that comes with the kit, so that a first figure needs no sweep.

    Returns
    -------
    xr.DataTree
        As `evaluate` made it of `demo_faces`: three models, 17 FAR levels from 1e-5 to 0.1, 200 replicates of the image
        scheme, and what intervals without replicates read.

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
