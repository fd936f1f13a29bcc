"""Scores of several models of the same pairs, and kept pairs of several sites, as one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import listed, require, require_text, warn
from frkit.data.alignment import in_one_order, places_in_order, stacked
from frkit.data.roles import SIDES, WHO
from frkit.scores.kept import (
    ANONYMOUS,
    DESIGN,
    IMAGES,
    WITHIN,
    is_kept,
    is_list,
    kept_list,
    model_names_of,
    node_of_model,
)
from frkit.scores.pair_list import warn_of_distances, warn_of_same_order

SAME_EVERYWHERE = (DESIGN, "similarity", "distance", "self_score")


def merge_sites(kept: Mapping[str, xr.DataTree], *, attribute: str = "site") -> xr.DataTree:
    """Join kept pairs of several sites, or sessions, that share no person.

    No image of one site was compared with one of another: impostors are pairs of two people of the
    same site, and all rates are means over the people, or the pairs of people, of all sites.

    Parameters
    ----------
    kept : mapping of str to xr.DataTree
        The name of each site and its kept pairs, from `sweep`, `pairs` or `open_data`: all from
        tensors or all from lists, with the same models and the same similarity. Images and people
        of anonymous kept pairs get the name of their site in front: "Oslo/4839201933".
    attribute : str
        Name of the new attribute, the site of each image, for `by=`.

    Returns
    -------
    xr.DataTree
        Kept pairs of all sites, as `sweep` returns them.

    Raises
    ------
    InputError
        For a person or an image in two sites, and for sites with other models, another similarity
        or another form of data.

    Examples
    --------
    >>> import frkit as fk
    >>> sites = {}
    >>> for seed, name in enumerate(["Oslo", "Lima"]):
    ...     faces = fk.vmf.mixture(20, 16, seed=seed).sample(4, seed=seed)
    ...     sites[name] = fk.sweep(fk.score_tensor(faces), anonymous=True)
    >>> merged = fk.merge_sites(sites)
    >>> evaluation = fk.evaluate(merged, far=[0.1], by="site")
    >>> evaluation["empirical"].frr_group.sizes["group"]
    2
    """
    _require_alike(kept, attribute)
    tables = {site: _named_by_site(tree, site) for site, tree in kept.items()}
    trees = [*kept.values()]
    is_listed = is_list(trees[0])
    _require_strangers(tables, is_listed)
    names = [f"{side}_{attribute}" for side in SIDES] if is_listed else [attribute]
    labelled = []
    for site, table in tables.items():
        [dim] = {*table.sizes} - {"model"}
        label = dim, np.full(table.sizes[dim], site)
        labelled.append(table.assign_coords(dict.fromkeys(names, label)))
    joined = xr.concat(labelled, dim, combine_attrs="override")
    if is_listed:
        return kept_list(joined)
    root = trees[0].to_dataset().assign_attrs({WITHIN: attribute})
    root.attrs.pop("images", None)  # where the images of one site were numbered
    nodes = {"/": root, IMAGES: joined.reset_coords(attribute)}
    for model in model_names_of(trees[0]) or [None]:
        node = node_of_model(model)
        nodes[node] = _joined_pairs([tree[node].to_dataset(inherit=False) for tree in trees])
    return xr.DataTree.from_dict(nodes)


def _require_alike(kept, attribute):
    """Refuse sites whose pairs cannot be in one table."""
    is_mapping = isinstance(kept, Mapping) and len(kept) > 1 and all(map(is_kept, kept.values()))
    require(
        is_mapping,
        "kept must name two or more sites and their kept pairs: "
        'fk.merge_sites({"Oslo": fk.sweep(scores), "Lima": fk.open_data("lima.nc")})',
    )
    require_text("attribute", attribute, "the name of a new attribute")
    forms = {site: _form(tree) for site, tree in kept.items()}
    first_site, first = next(iter(forms.items()))
    require(
        attribute not in first["attributes"] | {"identity", "person", "image", *SIDES},
        f"attribute={attribute!r} is a column of these kept pairs already: choose another name",
    )
    for site, form in forms.items():
        different = [key for key in form if form[key] != first[key]]
        require(
            not different,
            f"the kept pairs of {site!r} have other {' and other '.join(different)} than those of "
            f"{first_site!r}: merge data of one kind",
        )


def _form(tree):
    """Return what must be the same at every site: models, attributes, and how pairs were made."""
    names = _table(tree).variables
    form = {"models": model_names_of(tree), "attributes": {*map(str, names)} - {"model", "score"}}
    return form | {key: tree.attrs.get(key) for key in SAME_EVERYWHERE}


def _table(tree):
    """Return the table of images; for a list, that of pairs."""
    return tree.to_dataset() if is_list(tree) else tree[IMAGES].to_dataset(inherit=False)


def _named_by_site(tree, site):
    """Return the table of a site, with the site's name in front of numbers that serve as names.

    Anonymous people and images are numbers, and images of embeddings without image names.
    """
    table = _table(tree)
    is_anonymous = tree.attrs.get(ANONYMOUS)
    names = _columns_of("person", table, is_list(tree)) if is_anonymous else []
    if is_anonymous or "images" in tree.attrs:
        names += _columns_of("image", table, is_list(tree))
    for name in names:
        numbers = table[name].values.astype(str)
        table = table.assign_coords({name: (table[name].dims, np.char.add(f"{site}/", numbers))})
    return table


def _columns_of(kind, table, is_listed):
    """Return the columns with names of people, or of images."""
    people = WHO if is_listed else ("identity", "person")
    names = people if kind == "person" else SIDES if is_listed else ("image",)
    return [name for name in names if name in table.variables]


def _require_strangers(tables, is_listed):
    """Refuse a person or an image that occurs at two sites."""
    for kind in ("person", "image"):
        names = {
            site: {*np.ravel([table[name] for name in _columns_of(kind, table, is_listed)])}
            for site, table in tables.items()
        }
        for first, second in combinations(names, 2):
            shared = sorted(names[first] & names[second])
            require(
                not shared,
                f"{len(shared)} name(s) of a {kind} are in {first!r} and in {second!r}, such as "
                f"{listed(shared[:1])}: sites must share nobody; give different people and images "
                "different names",
            )


def _joined_pairs(sites):
    """Return the pairs of one model; places count through the images of all sites."""
    facts = [pairs.attrs for pairs in sites]
    places = ["probe_image", "reference_image"]
    n_before = 0
    shifted = []
    for pairs in sites:
        shifted.append(pairs.assign({name: pairs[name] + n_before for name in places}))
        n_before += pairs.sizes["image"]
    dims = []
    for dim, other in (("pair", "image"), ("image", "pair")):
        tables = [pairs.drop_dims(other) for pairs in shifted]
        dims.append(xr.concat(tables, dim, combine_attrs="override"))
    joined = xr.merge(dims)
    joined.attrs = {name: sum(facts_of_site[name] for facts_of_site in facts) for name in facts[0]}
    joined.attrs["lowest_score"] = min(facts_of_site["lowest_score"] for facts_of_site in facts)
    joined.attrs["highest_score"] = max(facts_of_site["highest_score"] for facts_of_site in facts)
    return joined


def stack_lists(models: dict[str, xr.DataTree]) -> xr.DataTree:
    """Join lists of the same pairs, each scored by one model.

    Pairs whose images have names are joined by these, in the order of the first list.
    """
    lists = {name: tree.to_dataset() for name, tree in models.items()}
    first_name, first = next(iter(lists.items()))
    in_order = {first_name: first}
    for name, pairs in [*lists.items()][1:]:
        in_order[name] = _in_order(first_name, first, name, pairs)
    warn_of_same_order({name: pairs["score"].values for name, pairs in in_order.items()})
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
            places = places_in_order("pairs", (first_name, name), order, names)
            return pairs.isel(pair=places)
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
    """Join score matrices of the same images, each of one model, by the names of images."""
    tensors = {name: scores.to_dataset(name="score") for name, scores in models.items()}
    scores = _stacked(in_one_order(tensors, SIDES))["score"]
    is_symmetric = all(scores.attrs["symmetric"] for scores in models.values())
    return scores.assign_attrs(symmetric=int(is_symmetric))


def _stacked(models):
    """Return scores of models in the same order along a new dimension `model`."""
    scores = stacked(models, "score")
    is_distance = [name for name, data in models.items() if data["score"].attrs["distance"]]
    if 0 < len(is_distance) < len(models):
        warn_of_distances(is_distance)
        scores["score"].attrs["distance"] = 0
    return scores
