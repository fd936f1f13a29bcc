"""Kept pairs: the form of scores that every evaluation reads.

`frkit.sweep` makes them of a tensor or a matrix, `pairs` and `open_pairs` of a list. They are an
xarray tree, whose attribute `design` says who was compared with whom.
"""

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from zlib import crc32

import numpy as np
import xarray as xr

from frkit.base import require
from frkit.data.arrays import check_hdf5, open_tree
from frkit.data.files import file_kind
from frkit.data.labels import narrow_text

COMPLETE = "every image with every other"
PROBES = "probes with references"
LISTED = "a list of pairs"
DESIGN = "design"
IMAGES = "images"  # the node with the table of images
PAIRS = "pairs"  # the node with the pairs, or with a node for each model
FORM = 1  # version of the form; a change of what a node means is another one
COLUMNS = {  # of a model's pairs: their dim, and what they are
    "probe_image": ("pair", "place of the probe among the images"),
    "reference_image": ("pair", "place of the reference"),
    "score": ("pair", "similarity score; NaN: failed"),
    "stands_for": ("pair", "how many pairs it represents"),
    "self_score": ("image", "of the image with itself"),
    "failed": ("image", "all comparisons with others failed"),
}
NUMBERS = (  # attributes of a model's pairs
    "pairs_kept",
    "images_swept",
    "genuine_pairs",
    "impostor_pairs",
    "genuine_pairs_failed",
    "impostor_pairs_failed",
    "lowest_score",
    "highest_score",
)
WHO_IS_COMPARED = ("image", "identity", "person", "probe", "reference")  # in the table of images
ENGINES = {  # options with which xarray opens the root of a file
    "netcdf": {"engine": "h5netcdf"},
    "zarr": {"engine": "zarr", "consolidated": False},
}


class ModelPairs(NamedTuple):
    """The kept pairs of one model as arrays.

    row, col : (pair,) rows of the table of images; None in a list, whose rows depend on the
    question. score : (pair,) NaN where the comparison failed. stands_for : (pair,) for how many
    pairs each one stands, or None where all were kept. self_score : (image,), or None.
    failed : (image,) whether all its comparisons failed, or None. lowest, highest : score of all.
    """

    row: Any
    col: Any
    score: np.ndarray
    stands_for: Any
    self_score: Any
    failed: Any
    lowest: float
    highest: float


def refuse_file_name(scores) -> None:
    """Refuse the name of a file where scores are expected, and say how to open it."""
    require(
        not isinstance(scores, (str, Path)),
        f"scores are expected, not the name of a file: open it with fk.open_data({str(scores)!r})",
    )


def is_kept(scores) -> bool:
    """Return whether scores are kept pairs already."""
    return isinstance(scores, xr.DataTree) and DESIGN in scores.attrs


def is_list(scores) -> bool:
    """Return whether scores are a list of pairs."""
    return is_kept(scores) and scores.attrs[DESIGN] == LISTED


def is_symmetric(scores: xr.DataTree) -> bool:
    """Return whether every image was compared with every other, each pair once."""
    return scores.attrs[DESIGN] == COMPLETE


def kept_list(pairs: xr.Dataset) -> xr.DataTree:
    """Return a list of scored pairs, `score` over ([model,] pair) with labels, as kept pairs."""
    score_attrs = {name: pairs["score"].attrs[name] for name in ("similarity", "distance")}
    return xr.DataTree(pairs.assign_attrs({DESIGN: LISTED, "form": FORM} | score_attrs))


def kept_tree(root: xr.Dataset, images: xr.Dataset, pairs_of_models: dict) -> xr.DataTree:
    """Return kept pairs of a complete design, with digests by which changes are noticed.

    root : its attributes describe the scores. pairs_of_models : pairs by the path of their node.
    """
    root = root.assign_attrs(form=FORM)
    nodes = {"/": root, IMAGES: images}
    table_digest = _digest_of_table(root, images)
    for path, pairs in pairs_of_models.items():
        nodes[path] = pairs.assign_attrs(digest=_digest_of_pairs(pairs, table_digest))
    return xr.DataTree.from_dict(nodes)


def check_kept(kept: xr.DataTree) -> None:
    """Refuse kept pairs of another version, and those that were changed after the sweep."""
    form = kept.attrs.get("form")
    require(
        form == FORM,
        f"another version of frkit made these kept pairs (form {form}; this one reads form "
        f"{FORM}): make them again, kept = fk.sweep(scores), or open the list again",
    )
    if is_list(kept):
        require(
            "score" in kept and "genuine" in kept.coords,
            "these kept pairs are not complete: a list of pairs has variables score and genuine; "
            "sweep the scores again, kept = fk.sweep(scores), or open the list again",
        )
        return
    paths = {f"/{node_of_model(name)}" for name in model_names_of(kept) or [None]}
    absent = sorted({f"/{IMAGES}", *paths} - {*kept.groups})
    require(
        not absent,
        f"these kept pairs are not complete: they have no {', '.join(absent)}; name models before "
        "the sweep, and sweep the scores again: kept = fk.sweep(scores)",
    )
    for name, labels in kept[IMAGES].to_dataset(inherit=False).variables.items():
        require(
            labels.dims == ("image",),
            f"{name!r} of the kept images must have a label for each image: set it as "
            f"kept['images'][{name!r}] = xr.DataArray(labels, dims='image')",
        )
    table_digest = _digest_of_table(kept, kept[IMAGES])
    for pairs in nodes_of_models(kept).values():
        require(
            pairs.attrs.get("digest") == _digest_of_pairs(pairs, table_digest),
            "these are not the kept pairs that a sweep returned: some were selected, reordered or "
            "changed, or images have other names or identities, so that rates would be wrong; do "
            "this before the sweep, and sweep the scores again: kept = fk.sweep(scores)",
        )


def _digest_of_table(root, images) -> int:
    """Return a checksum of who is compared with whom; other labels may be changed."""
    digest = crc32(f"{root.attrs[DESIGN]} {root.attrs.get('distance')}".encode())
    for name in WHO_IS_COMPARED:
        if name in images.variables:
            digest = crc32(narrow_text(images[name].values), crc32(name.encode(), digest))
    return digest


def _digest_of_pairs(pairs, table_digest) -> str:
    """Return a checksum of the pairs of a model and of the table of images."""
    numbers = [str(pairs.attrs.get(name)) for name in NUMBERS]
    digest = crc32(" ".join(numbers).encode(), table_digest)
    for name in COLUMNS:
        if name in pairs:
            digest = crc32(np.ascontiguousarray(pairs[name].values), digest)
    return f"{digest:08x}"


def model_names_of(kept: xr.DataTree) -> list | None:
    """Return the names of the models of kept pairs; None for one without a name."""
    if "model" not in kept.coords:
        return None
    return np.atleast_1d(kept["model"].values).tolist()


def node_of_model(name: str | None) -> str:
    """Return the path of a model's node."""
    return PAIRS if name is None else f"{PAIRS}/model={quote(name, safe='')}"


def nodes_of_models(kept: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the pairs of each model of a complete design, by the path of its node."""
    paths = map(node_of_model, model_names_of(kept) or [None])
    return {path: kept[path].to_dataset(inherit=False) for path in paths}


def pairs_of_models(kept: xr.DataTree) -> list[ModelPairs]:
    """Return the kept pairs of each model as arrays."""
    if not is_list(kept):
        return [_pairs_of_node(pairs) for pairs in nodes_of_models(kept).values()]
    every_model = []
    for score in np.atleast_2d(kept["score"].transpose(..., "pair").values):
        lowest, highest = float(np.nanmin(score)), float(np.nanmax(score))
        every_model.append(ModelPairs(None, None, score, None, None, None, lowest, highest))
    return every_model


def _pairs_of_node(pairs: xr.Dataset) -> ModelPairs:
    """Return the pairs of a model's node."""
    return ModelPairs(
        row=pairs["probe_image"].values,
        col=pairs["reference_image"].values,
        score=pairs["score"].values,
        stands_for=pairs["stands_for"].values,
        self_score=pairs["self_score"].values,
        failed=pairs["failed"].values,
        lowest=pairs.attrs["lowest_score"],
        highest=pairs.attrs["highest_score"],
    )


def facts_of_first_model(kept: xr.DataTree) -> dict:
    """Return the numbers of pairs of the first model of a complete design."""
    return next(iter(nodes_of_models(kept).values())).attrs


def failed_pairs(kept: xr.DataTree) -> tuple[int, int]:
    """Return how many comparisons of all models failed, and how many there were."""
    if is_list(kept):
        score = kept["score"].values
        return int(np.isnan(score).sum()), score.size
    facts = [pairs.attrs for pairs in nodes_of_models(kept).values()]
    n_failed = sum(fact["genuine_pairs_failed"] + fact["impostor_pairs_failed"] for fact in facts)
    return n_failed, sum(fact["genuine_pairs"] + fact["impostor_pairs"] for fact in facts)


# --- parts of kept pairs, and other scores -------------------------------------------------------


def select_images(kept: xr.DataTree, chosen: np.ndarray) -> xr.DataTree:
    """Return the pairs of some images of a complete design with each other; chosen : (image,)."""
    place = np.cumsum(chosen) - 1
    images = kept[IMAGES].to_dataset(inherit=False).isel(image=chosen)
    pairs_of_images = {}
    for path, pairs in nodes_of_models(kept).items():
        sides = {side: pairs[side].values for side in ("probe_image", "reference_image")}
        stays = np.flatnonzero(np.logical_and(*(chosen[rows] for rows in sides.values())))
        pairs = pairs.drop_vars(sides).isel(pair=stays, image=chosen)
        for side, rows in sides.items():
            pairs[side] = "pair", place.astype(rows.dtype)[rows[stays]]
        sizes = {"pairs_kept": pairs.sizes["pair"], "images_swept": pairs.sizes["image"]}
        pairs_of_images[path] = pairs.assign_attrs(sizes)
    return kept_tree(kept.to_dataset(), images, pairs_of_images)


def with_labels(kept: xr.DataTree, **labels: np.ndarray) -> xr.DataTree:
    """Return the pairs of a complete design with further labels of the images, (image,)."""
    columns = {name: ("image", values) for name, values in labels.items()}
    images = kept[IMAGES].to_dataset(inherit=False).assign(columns)
    return kept.assign({IMAGES: xr.DataTree(images)})


def with_mapped_scores(kept: xr.DataTree, function, attrs: dict) -> xr.DataTree:
    """Return the pairs with scores that a function maps to others; attrs : of the new scores."""
    if is_list(kept):
        table = kept.to_dataset()
        score = table["score"].copy(data=function(table["score"].values)).assign_attrs(attrs)
        return kept_list(table.assign(score=score))
    mapped = {}
    for path, pairs in nodes_of_models(kept).items():
        self_scores = pairs["self_score"].values.copy()
        has_score = ~np.isnan(self_scores)
        self_scores[has_score] = function(self_scores[has_score])
        scores = function(pairs["score"].values).astype(pairs["score"].dtype)
        score = pairs["score"].copy(data=scores)
        pairs = pairs.assign(score=score, self_score=pairs["self_score"].copy(data=self_scores))
        for end in ("lowest_score", "highest_score"):
            pairs.attrs[end] = float(function(np.array([pairs.attrs[end]]))[0])
        mapped[path] = pairs
    images = kept[IMAGES].to_dataset(inherit=False)
    return kept_tree(kept.to_dataset().assign_attrs(attrs), images, mapped)


# --- files of kept pairs -------------------------------------------------------------------------


def contains_kept_pairs(path) -> bool:
    """Return whether a file contains kept pairs, from `kept.to_netcdf(path)` or `.to_zarr`."""
    options = ENGINES.get(file_kind(path))
    if options is None:
        return False
    try:
        if path.is_file():
            check_hdf5(path)
        with xr.open_dataset(path, **options) as root:
            return DESIGN in root.attrs
    except Exception:  # its own reader says what is wrong with it
        return False


def open_kept(path) -> xr.DataTree:
    """Read a whole file of kept pairs."""
    kept = open_tree(path, "the kept pairs")
    check_kept(kept)
    return kept
