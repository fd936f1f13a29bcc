"""Scores of several models of the same images or pairs as one, joined by names."""

import pandas as pd
import xarray as xr

from frkit.base import listed, require, warn
from frkit.data.alignment import merged_labels, require_same_names
from frkit.data.roles import SIDES, WHO
from frkit.scores.kept import (
    kept_list,
)


def stack_lists(models: dict[str, xr.DataTree]) -> xr.DataTree:
    """Lists of the same pairs, each scored by one model, as one list.

    Pairs whose images have names are joined by these, in the order of the first list.
    """
    lists = {name: tree.to_dataset() for name, tree in models.items()}
    first_name, first = next(iter(lists.items()))
    in_order = {first_name: first}
    for name, pairs in [*lists.items()][1:]:
        in_order[name] = _in_order(first_name, first, name, pairs)
    return kept_list(_stacked(in_order))


def _in_order(first_name, first, name, pairs):
    """Return a list of pairs in the order of the first one, by names of images or of people."""
    for sides in (SIDES, WHO):
        if not all(side in each.coords for side in sides for each in (first, pairs)):
            continue
        order, names = (
            pd.MultiIndex.from_arrays([each[side].values for side in sides])
            for each in (first, pairs)
        )
        if order.is_unique and names.is_unique:
            require_same_names("pairs", first_name, order, name, names)
            return pairs.isel(pair=names.get_indexer(order))
        if sides == SIDES and names.equals(order):
            return pairs
    labels = [label for label in ("genuine", *WHO) if label in first.coords]
    require(
        all(label in pairs.coords and first[label].equals(pairs[label]) for label in labels),
        f"models {first_name!r} and {name!r} list other pairs, or the same in another order, and "
        "no names of images join them: name the images of each pair (probe and reference), or give "
        "one table with a column of scores for each model",
    )
    warn(
        f"nothing names the pairs of models {first_name!r} and {name!r}: the same line in both is "
        "taken as the same pair"
    )
    return pairs


def stack_matrices(models: dict[str, xr.DataArray]) -> xr.DataArray:
    """Matrices of scores of the same images, each of one model, as one; joined by image names."""
    first_name, first = next(iter(models.items()))
    in_order = {}
    for name, scores in models.items():
        for side in SIDES:
            names, others = first[side].to_index(), scores[side].to_index()
            require_same_names(f"{side}s", first_name, names, name, others)
        is_same = all(scores[side].equals(first[side]) for side in SIDES)
        in_order[name] = scores if is_same else scores.sel({s: first[s].values for s in SIDES})
    stacked = _stacked({name: scores.to_dataset(name="score") for name, scores in in_order.items()})
    is_symmetric = all(scores.attrs["symmetric"] for scores in models.values())
    return stacked["score"].assign_attrs(symmetric=int(is_symmetric))


def _stacked(datasets):
    """Return scores of models in the same order along a new dimension `model`."""
    labels = merged_labels(datasets)
    scores = [data["score"].drop_vars([*data.coords]) for data in datasets.values()]
    is_distance = [name for name, data in datasets.items() if data["score"].attrs["distance"]]
    stacked = xr.concat(scores, xr.Variable("model", [*datasets]), combine_attrs="override")
    if 0 < len(is_distance) < len(scores):
        warn(
            f"scores of {listed(is_distance)} are distances: they and their thresholds are shown "
            "with the sign changed, so that larger means more alike"
        )
        stacked.attrs["distance"] = 0
    attrs = next(iter(datasets.values())).attrs
    coords = labels | {"model": [*datasets]}
    return stacked.assign_coords(coords).to_dataset(name="score").assign_attrs(attrs)
