"""Scores of several models of the same pairs as one."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from frkit.base import listed, require, warn
from frkit.data.alignment import ONE_TABLE, in_one_order, require_same_names, stacked
from frkit.data.sides import SIDES, WHO, coded_sides
from frkit.io.joins import CLEAR, share_above
from frkit.io.matrix import shown_kinds
from frkit.io.pair_list import warn_of_distances
from frkit.scores.kept import IMAGES, columns_of_sides, kept_list, named_pairs


def stack_lists(models: dict[str, xr.DataTree]) -> xr.DataTree:
    """Join lists of the same pairs, each scored by one model.

    Pairs whose images have names are joined by these, in the order of the first list.
    """
    lists = {name: named_pairs(kept) for name, kept in models.items()}
    _refuse_two_directions(
        {name: (pairs["score"].values, pairs["genuine"].values) for name, pairs in lists.items()}
    )
    first_name, first = next(iter(lists.items()))
    in_order = {first_name: first}
    for name, pairs in [*lists.items()][1:]:
        in_order[name] = _in_order(first_name, first, name, pairs)
    joined = _stacked(in_order)
    sides = {}
    for name in {name for kept in models.values() for name in kept[IMAGES].variables}:
        columns = [joined.coords.get(column) for column in columns_of_sides(name)]
        sides[name] = coded_sides(columns, SIDES, joined.sizes["pair"], complete=False)
    return kept_list(joined, sides)


def _refuse_two_directions(models):
    """Refuse scores of some models that are clearly read the wrong way round.

    So they are where one option says that the scores of all models are distances.

    models : dict of str to arrays of scores, and whether they are genuine
    """
    turned = [name for name, scored in models.items() if share_above(*scored)[1] < -CLEAR]
    require(
        len(turned) in (0, len(models)),
        f"strangers are more alike than one person for {listed(turned)}, and not for other models: "
        "some are similarities, and others distances. Open each by itself: fk.open_data({'a': "
        "fk.open_data('a.csv', columns={'score': 'score'}), 'b': fk.open_data('b.csv', columns="
        "{'distance': 'score'})}); rows of one table are frame[frame['model'] == 'a']"
        ".drop(columns='model') in place of a file",
    )


def _in_order(first_name, first, name, pairs):
    """Return a list of pairs in the order of the first one, by names of images or of people."""
    for sides in (SIDES, WHO):
        if not {*sides} <= {*first.coords} & {*pairs.coords}:
            continue
        order, names = (
            pd.MultiIndex.from_arrays([each[side].values for side in sides])
            for each in (first, pairs)
        )
        if order.is_unique and names.is_unique:
            require_same_names("pairs", (first_name, name), order, names)
            return pairs.isel(pair=names.get_indexer(order))
        if sides == SIDES and names.equals(order):
            return pairs
    labels = [label for label in ("genuine", *WHO) if label in first.coords]
    require(
        all(label in pairs.coords and first[label].equals(pairs[label]) for label in labels),
        f"models {first_name!r} and {name!r} list other pairs, or the same in another order, and "
        "no names of images join them: name the images of each pair (probe and reference), or give "
        f"one table with a column of scores for each model; {ONE_TABLE}",
    )
    warn(
        f"nothing names the pairs of models {first_name!r} and {name!r}: the same line in both is "
        "taken as the same pair"
    )
    return pairs


def stack_matrices(models: dict[str, xr.DataArray]) -> xr.DataArray:
    """Join score matrices of the same images, each of one model, by the names of images."""
    _refuse_two_directions({name: shown_kinds(scores) for name, scores in models.items()})
    tensors = {name: scores.to_dataset(name="score") for name, scores in models.items()}
    scores = _stacked(in_one_order(tensors, SIDES))["score"]
    is_symmetric = all(scores.attrs["symmetric"] for scores in models.values())
    return scores.assign_attrs(symmetric=int(is_symmetric))


def _stacked(models):
    """Return scores of models in the same order along a new dimension `model`."""
    scores = stacked(models, "score")
    is_distance = [
        name for name, data in models.items() if (data.attrs | data["score"].attrs)["distance"]
    ]
    if 0 < len(is_distance) < len(models):
        warn_of_distances(is_distance)
        scores["score"].attrs["distance"] = 0
    return scores
