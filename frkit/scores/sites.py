"""`merge_sites`: kept pairs of several sites as one, whose impostors are of one site."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import xarray as xr

from frkit.base import listed, require
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

PAIR_COLUMNS = ["probe_image", "reference_image", "score", "stands_for"]
IMAGE_COLUMNS = ["self_score", "failed"]
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
        of anonymous kept pairs get the name of their site in front: "Oslo/017".
    attribute : str
        Name of the new attribute that says from which site an image is, for `by=`.

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
    kept = {name: _named_by_site(tree, name) for name, tree in kept.items()}
    _require_strangers(kept)
    trees = [*kept.values()]
    if is_list(trees[0]):
        return kept_list(_joined_lists(kept, attribute))
    root = trees[0].to_dataset().assign_attrs({WITHIN: attribute})
    root.attrs.pop("images", None)  # where the images of one site were numbered
    nodes = {"/": root, IMAGES: _joined_images(kept, attribute)}
    for model in model_names_of(trees[0]) or [None]:
        node = node_of_model(model)
        nodes[node] = _joined_pairs([tree[node].to_dataset(inherit=False) for tree in trees])
    return xr.DataTree.from_dict(nodes)


def _require_alike(kept, attribute):
    """Refuse sites whose pairs cannot stand in one table."""
    is_mapping = isinstance(kept, Mapping) and len(kept) > 1 and all(map(is_kept, kept.values()))
    require(
        is_mapping,
        "kept must name two or more sites and their kept pairs: "
        'fk.merge_sites({"Oslo": fk.sweep(scores), "Lima": fk.open_data("lima.nc")})',
    )
    first_name, first = next(iter(kept.items()))
    columns = _attributes(first)
    require(
        attribute not in columns | {"identity", "person", "image", *SIDES},
        f"attribute={attribute!r} is a column of these kept pairs already: choose another name",
    )
    for name, tree in kept.items():
        asked = {
            "models": model_names_of(tree) == model_names_of(first),
            "attributes": _attributes(tree) == columns,
        }
        asked |= {key: tree.attrs.get(key) == first.attrs.get(key) for key in SAME_EVERYWHERE}
        different = [key for key, is_same in asked.items() if not is_same]
        require(
            not different,
            f"the kept pairs of {name!r} have other {' and other '.join(different)} than those of "
            f"{first_name!r}: merge data of one kind",
        )


def _attributes(tree):
    """Names of the columns of images, or of pairs."""
    if is_list(tree):
        return {str(name) for name in tree.coords} - {"model", "pair"}
    return {str(name) for name in tree[IMAGES].data_vars}


def _named_by_site(tree, site):
    """Kept pairs with the name of the site in front of what is only a number.

    Anonymous people and images are numbers, and images of embeddings without image names.
    """
    is_anonymous = tree.attrs.get(ANONYMOUS)
    if is_list(tree):
        names = [name for name in (*SIDES, *WHO) if is_anonymous and name in tree.coords]
        table = tree.to_dataset()
        columns = {name: ("pair", _prefixed(table[name], site)) for name in names}
        return kept_list(table.assign_coords(columns))
    names = ["identity", "person"] if is_anonymous else []
    if is_anonymous or "images" in tree.attrs:
        names.append("image")
    images = tree[IMAGES].to_dataset(inherit=False)
    columns = {name: ("image", _prefixed(images[name], site)) for name in names if name in images}
    return tree.assign({IMAGES: xr.DataTree(images.assign(columns))})


def _prefixed(names, site):
    """Names with the site in front."""
    return np.char.add(f"{site}/", names.values.astype(str))


def _require_strangers(kept):
    """Refuse a person, or an image, that is in two sites."""
    for kind in ("person", "image"):
        for first, second in combinations(kept, 2):
            shared = sorted(_names(kept[first], kind) & _names(kept[second], kind))
            require(
                not shared,
                f"{len(shared)} name(s) of a {kind} are in {first!r} and in {second!r}, such as "
                f"{listed(shared[:1])}: sites must share nobody; give different people and images "
                "different names",
            )


def _names(tree, kind):
    """Names of all people, or of all images; none of a list without them."""
    if not is_list(tree):
        images = tree[IMAGES].dataset
        columns = [images["image"]]
        if kind == "person":
            columns = [images["person" if "person" in images else "identity"]]
    else:
        sides = WHO if kind == "person" else SIDES
        columns = [tree[side] for side in sides if side in tree.coords]
    return {name for column in columns for name in column.values.tolist()}


# --- tables of all sites -------------------------------------------------------------------------


def _joined_lists(kept, attribute):
    """The lists of all sites, one below the other."""
    tables = []
    for site, tree in kept.items():
        table = tree.to_dataset()
        label = "pair", np.full(table.sizes["pair"], site)
        tables.append(table.assign_coords({f"{side}_{attribute}": label for side in SIDES}))
    return xr.concat(tables, "pair", combine_attrs="override")


def _joined_images(kept, attribute):
    """The tables of images of all sites, one below the other."""
    tables = []
    for site, tree in kept.items():
        images = tree[IMAGES].to_dataset(inherit=False)
        tables.append(images.assign({attribute: ("image", np.full(images.sizes["image"], site))}))
    return xr.concat(tables, "image", combine_attrs="override")


def _joined_pairs(sites):
    """The pairs of one model: places count on through the images of all sites."""
    first_image = 0
    shifted = []
    for pairs in sites:
        places = PAIR_COLUMNS[:2]
        shifted.append(pairs.assign({name: pairs[name] + first_image for name in places}))
        first_image += pairs.sizes["image"]
    joined = xr.merge(
        [
            xr.concat([pairs[PAIR_COLUMNS] for pairs in shifted], "pair", combine_attrs="override"),
            xr.concat(
                [pairs[IMAGE_COLUMNS] for pairs in shifted], "image", combine_attrs="override"
            ),
        ]
    )
    facts = [pairs.attrs for pairs in sites]
    joined.attrs = {name: sum(of_site[name] for of_site in facts) for name in facts[0]}
    joined.attrs["lowest_score"] = min(of_site["lowest_score"] for of_site in facts)
    joined.attrs["highest_score"] = max(of_site["highest_score"] for of_site in facts)
    return joined
