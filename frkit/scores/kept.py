"""Kept pairs: the form of scores that every evaluation reads.

`frkit.sweep` makes them of a tensor or a matrix, `pairs` and `open_data` of a list. They are an
xarray tree: a table of images, and pairs as places in this table. Its attribute `design` says who
was compared with whom.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from zlib import crc32

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import listed, refuse_infinite, require
from frkit.data.files import file_kind
from frkit.data.labels import narrow_text
from frkit.data.sides import SIDES, Sides
from frkit.data.stores import check_hdf5, open_tree

COMPLETE = "every image with every other"
PROBES = "probes with references"
LISTED = "a list of pairs"
DESIGN = "design"
IMAGES = "images"  # the node with the table of images
PAIRS = "pairs"  # the node with the pairs, or with a node for each model
IMAGES_OF_SIDES = ("probe_image", "reference_image")  # of each pair in the table of images
FORM = 2  # version of the form; a change of what a node means is another one
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

    row, col : (pair,) rows of the table of images. score : (pair,) NaN where the comparison failed.
    lowest, highest : score of all. Of a sweep: stands_for : (pair,) for how many pairs each one
    stands. self_score : (image,). failed : (image,) whether all its comparisons failed.
    """

    row: Any
    col: Any
    score: np.ndarray
    lowest: float
    highest: float
    stands_for: Any = None
    self_score: Any = None
    failed: Any = None


REJECTED = "rejected_score"  # attribute: the highest score of comparisons that failed


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


def has_names(scores, of: str = "identity") -> bool:
    """Return whether scores name the people ("identity"), or the images, that are compared."""
    return not is_kept(scores) or of in scores[IMAGES].variables


def kept_list(pairs: xr.Dataset, sides: Mapping[str, Sides] | None = None) -> xr.DataTree:
    """Return a list of scored pairs as kept pairs, in the order of the list.

    The table has a row for each image under each set of labels, or without names for each set.

    Parameters
    ----------
    pairs : xr.Dataset
        `score` over ([model,] pair), and `genuine`.
    sides : mapping of str to Sides, optional
        Names of images ("image") and of people ("identity"), and the labels of each attribute.
    """
    sides = sides or {}
    row = np.zeros(2 * pairs.sizes["pair"], np.int64)
    columns = {}
    for name in sorted(sides, key=lambda name: (name != "image", name)):
        labels, rank = np.unique(sides[name].names.astype(str), return_inverse=True)
        code = rank[sides[name].both()]
        row = pd.factorize(row * len(labels) + code, sort=True)[0]
        columns[name] = labels, code
    first = pd.Series(row).drop_duplicates().sort_values().index  # place of each row's first side
    images = xr.Dataset()
    for name, (labels, code) in columns.items():
        of = "pairs" if sides[name].reference is None else "images"
        images[name] = "image", labels[code[first]], {"of": of}
    if {"image", "identity"} <= {*columns}:
        require_one_person(images["image"].values, images["identity"].values)
    rows_of_both = row.astype(np.int32).reshape(2, -1)
    score = pairs["score"]
    root = xr.Dataset(attrs=pairs.attrs | score.attrs | {DESIGN: LISTED})
    if "model" in pairs.coords:
        root.coords["model"] = pairs["model"].variable
    variables = {"score": (score.dims, score.values), "genuine": ("pair", pairs["genuine"].values)}
    variables |= {name: ("pair", rows) for name, rows in zip(IMAGES_OF_SIDES, rows_of_both)}
    return kept_tree(root, images, {PAIRS: xr.Dataset(variables)})


def require_one_person(image, identity) -> None:
    """Refuse an image that shows two people; both (row,), sorted by image."""
    is_same = image[1:] == image[:-1]
    first = np.flatnonzero(is_same & (identity[1:] != identity[:-1]))[:1]
    require(
        len(first) == 0,
        f"image {listed(image[first])} shows {listed(identity[np.append(first, first + 1)])}: give "
        "different images different names, or none, as by columns={'probe': None, 'reference': "
        "None} where a file is opened; if these are parts of one person whose label varies, the "
        "option varying gives a person one label",
    )


def images_in_pairs(kept: xr.DataTree) -> xr.DataTree:
    """Return a list whose table has no image without a pair, as where pairs were selected."""
    is_there = np.zeros(kept[IMAGES].sizes.get("image", 1), bool)
    is_there[rows_of_sides(kept)] = True
    return kept if is_there.all() else select_images(kept, is_there)


def rows_of_sides(kept: xr.DataTree) -> np.ndarray:
    """Return the rows of a list's table of images, (side, pair)."""
    return np.stack([kept[PAIRS][side].values for side in IMAGES_OF_SIDES])


def named_pairs(kept: xr.DataTree) -> xr.Dataset:
    """Return the pairs of a list with the names and labels of both sides as coordinates."""
    pairs = kept[PAIRS].to_dataset()
    named = pairs.drop_vars(IMAGES_OF_SIDES).set_coords("genuine").assign_attrs(kept.attrs)
    for name, labels in kept[IMAGES].to_dataset(inherit=False).variables.items():
        values = labels.values[rows_of_sides(kept)]
        n_sides = 1 if labels.attrs.get("of") == "pairs" else 2
        for column, of_side in zip(columns_of_sides(name)[:n_sides], values):
            named.coords[column] = "pair", of_side
    return named


def columns_of_sides(name: str) -> list[str]:
    """Return the names of columns with an attribute (or image, or identity) of both sides."""
    return [side if name == "image" else f"{side}_{name}" for side in SIDES]


def kept_tree(root: xr.Dataset, images: xr.Dataset, pairs_of_models: dict) -> xr.DataTree:
    """Return kept pairs with digests by which changes are noticed.

    root : its attributes describe the scores. pairs_of_models : pairs by the path of their node.
    """
    root = root.assign_attrs(form=FORM)
    nodes = {"/": root, IMAGES: images}
    for path, pairs in pairs_of_models.items():
        nodes[path] = pairs.assign_attrs(digest=_digest(root, images, pairs))
    return xr.DataTree.from_dict(nodes)


def check_kept(kept: xr.DataTree) -> None:
    """Refuse kept pairs of another version, and those that were changed after the sweep."""
    form = kept.attrs.get("form")
    require(
        form == FORM,
        f"another version of frkit made these kept pairs (form {form}; this one reads form "
        f"{FORM}): make them again, kept = fk.sweep(scores), or open the list again",
    )
    paths = [IMAGES, *paths_of_models(kept)]
    absent = [path for path in paths if f"/{path}" not in kept.groups]
    require(
        not absent,
        f"these kept pairs are not complete: they have no {', '.join(absent)}; name models before "
        "the sweep, and sweep the scores again: kept = fk.sweep(scores), or open the list again",
    )
    images = kept[IMAGES].to_dataset(inherit=False)
    for name, labels in images.variables.items():
        require(
            labels.dims == ("image",),
            f"{name!r} of the kept images must have a label for each image: set it as "
            f"kept['images'][{name!r}] = xr.DataArray(labels, dims='image')",
        )
    for pairs in nodes_of_models(kept).values():
        require(
            pairs.attrs.get("digest") == _digest(kept, images, pairs),
            "these are not the kept pairs that a sweep returned: some were selected, reordered or "
            "changed, or images have other names or identities, so that rates would be wrong; do "
            "this before the sweep, and sweep the scores again: kept = fk.sweep(scores). The pairs "
            "of a list may be selected; its scores are in kept['pairs'], and its labels in "
            "kept['images']",
        )
    if is_list(kept):
        refuse_infinite(kept[PAIRS]["score"].values)


def _digest(root, images, pairs) -> str:
    """Return a checksum of who is compared with whom, and of the pairs of a model.

    Other labels may be changed. The pairs of a list, which may be selected, are in the checksum by
    the names of their columns alone.
    """
    words = [root.attrs[DESIGN], root.attrs.get("distance")]
    words += [name for name, column in root.variables.items() if "pair" in column.dims]
    columns = WHO_IS_COMPARED if "identity" in images.variables else sorted(images.variables)
    arrays = {
        name: narrow_text(images[name].values) for name in columns if name in images.variables
    }
    if root.attrs[DESIGN] == LISTED:
        words += sorted({*pairs.variables} - {"model", "pair"})
    else:
        words += [pairs.attrs.get(name) for name in NUMBERS]
        arrays |= {name: pairs[name].values for name in COLUMNS if name in pairs}
    digest = crc32(" ".join(map(str, words)).encode())
    for name, values in arrays.items():
        digest = crc32(np.ascontiguousarray(values), crc32(name.encode(), digest))
    return f"{digest:08x}"


def model_names_of(kept: xr.DataTree) -> list | None:
    """Return the names of the models of kept pairs; None for one without a name."""
    if "model" not in kept.coords:
        return None
    return np.atleast_1d(kept["model"].values).tolist()


def node_of_model(name: str | None) -> str:
    """Return the path of a model's node."""
    return PAIRS if name is None else f"{PAIRS}/model={quote(name, safe='')}"


def paths_of_models(kept: xr.DataTree) -> list[str]:
    """Return the paths of the nodes of all models, who share one in a list."""
    names = [None] if is_list(kept) else model_names_of(kept) or [None]
    return [*map(node_of_model, names)]


def nodes_of_models(kept: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the pairs of each model, by the path of its node."""
    return {path: kept[path].to_dataset(inherit=False) for path in paths_of_models(kept)}


def pairs_of_models(kept: xr.DataTree) -> list[ModelPairs]:
    """Return the kept pairs of each model as arrays."""
    every_model = []
    for pairs in nodes_of_models(kept).values():
        row, col = (pairs[side].values for side in IMAGES_OF_SIDES)
        of_sweep = {  # which a list has not
            name: pairs[name].values
            for name in ("stands_for", "self_score", "failed")
            if name in pairs
        }
        for score in np.atleast_2d(pairs["score"].transpose(..., "pair").values):
            lowest = pairs.attrs.get("lowest_score", np.fmin.reduce(score))
            highest = pairs.attrs.get("highest_score", np.fmax.reduce(score))
            ends = float(lowest), float(highest)
            every_model.append(ModelPairs(row, col, score, *ends, **of_sweep))
    return every_model


def numbers_of_first_model(kept: xr.DataTree) -> dict:
    """Return the numbers of pairs of the first model of a complete design."""
    return next(iter(nodes_of_models(kept).values())).attrs


def failed_pairs(kept: xr.DataTree) -> tuple[int, int]:
    """Return how many comparisons of all models failed, and how many there were."""
    if is_list(kept):
        score = kept[PAIRS]["score"].values
        return int(np.isnan(score).sum()), score.size
    n_failed = 0
    n_compared = 0
    for pairs in nodes_of_models(kept).values():
        n_failed += pairs.attrs["genuine_pairs_failed"] + pairs.attrs["impostor_pairs_failed"]
        n_compared += pairs.attrs["genuine_pairs"] + pairs.attrs["impostor_pairs"]
    return n_failed, n_compared


# --- parts of kept pairs, and other scores -------------------------------------------------------


def select_images(kept: xr.DataTree, selected: np.ndarray) -> xr.DataTree:
    """Return the pairs of some images with each other; selected : (image,)."""
    new_row = np.cumsum(selected) - 1
    images = kept[IMAGES].to_dataset(inherit=False).isel(image=selected)
    pairs_of_images = {}
    for path, pairs in nodes_of_models(kept).items():
        sides = {side: pairs[side].values for side in IMAGES_OF_SIDES}
        stays = np.flatnonzero(np.logical_and(*(selected[rows] for rows in sides.values())))
        pairs = pairs.drop_vars(sides).isel(pair=stays, image=selected, missing_dims="ignore")
        for side, rows in sides.items():
            pairs[side] = "pair", new_row.astype(rows.dtype)[rows[stays]]
        sizes = {"pairs_kept": pairs.sizes["pair"], "images_swept": images.sizes["image"]}
        pairs_of_images[path] = pairs.assign_attrs(sizes)
    return kept_tree(kept.to_dataset(), images, pairs_of_images)


def with_labels(kept: xr.DataTree, **labels: np.ndarray) -> xr.DataTree:
    """Return kept pairs with other, or further, labels of the images, (image,)."""
    images = kept[IMAGES].to_dataset(inherit=False)
    for name, values in labels.items():
        attrs = images[name].attrs if name in images else {}
        images[name] = "image", values, attrs
    return kept_tree(kept.to_dataset(), images, nodes_of_models(kept))


def with_mapped_scores(kept: xr.DataTree, function, attrs: dict) -> xr.DataTree:
    """Return the pairs with scores that a function maps to others; attrs : of the new scores."""
    mapped = {}
    for path, pairs in nodes_of_models(kept).items():
        scores = function(pairs["score"].values).astype(pairs["score"].dtype)
        mapped[path] = pairs = pairs.assign(score=pairs["score"].copy(data=scores))
        if is_list(kept):
            continue
        self_scores = pairs["self_score"].values.copy()
        has_score = ~np.isnan(self_scores)
        self_scores[has_score] = function(self_scores[has_score])
        pairs["self_score"] = pairs["self_score"].copy(data=self_scores)
        for end in ("lowest_score", "highest_score"):
            pairs.attrs[end] = float(function(np.array([pairs.attrs[end]]))[0])
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
