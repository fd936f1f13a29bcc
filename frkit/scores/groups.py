"""Scores, checked once; who is on their two sides, under which labels; weights p_k."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, listed, real_numbers, require, require_one_of
from frkit.data.labels import (
    attributes_of,
    clean_labels,
    complete_labels,
    crossed,
    image_names,
    reading_order,
    require_attributes,
)
from frkit.scores.kept import (
    WHO_IS_COMPARED,
    check_kept,
    images_in_pairs,
    is_kept,
    is_list,
    pairs_of_models,
    refuse_file_name,
)
from frkit.scores.tensor import block_side


def checked_scores(scores) -> xr.DataArray | xr.DataTree:
    """Return scores with clean labels: a lazy tensor over (probe, reference), or kept pairs.

    Every public function passes its scores through this once; what it calls relies on that.
    """
    if is_kept(scores):
        check_kept(scores)
        return images_in_pairs(scores) if is_list(scores) else scores
    if isinstance(scores, xr.Dataset) and "score" in scores:
        scores = scores["score"]
    dims = {*getattr(scores, "dims", ())} - {"model"}
    names = {*getattr(scores, "coords", ())}
    sides = {"probe", "reference", "probe_identity", "reference_identity"}
    refuse_file_name(scores)
    require(
        "embedding" not in getattr(scores, "data_vars", ()),
        "these are embeddings, not scores: compare them with fk.score_tensor",
    )
    require(
        dims == {"probe", "reference"} and sides <= names,
        "scores must be a tensor over (probe, reference) that names images and identities, a list "
        "of pairs, or kept pairs: make them with fk.score_tensor, fk.score_matrix, fk.pairs, "
        "fk.open_data or fk.sweep",
    )
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(float)
    scores = scores.assign_coords(_clean_coords(scores))
    scores = scores.transpose(..., "probe", "reference")
    if scores.chunks is None:
        side = block_side(max(scores.shape))
        scores = scores.chunk(probe=side, reference=side)
    return scores


def _clean_coords(scores) -> dict:
    """Return all labels as clean text; refuse images and identities without a name."""
    labels = {}
    for name, column in scores.coords.items():
        if column.ndim != 1:
            continue
        [dim] = column.dims
        clean = clean_labels
        if name == dim:
            clean = image_names
        elif name.endswith("_identity"):
            clean = complete_labels
        labels[name] = dim, clean(column.values, column.size, name, dim), column.attrs
    return labels


def ends_of_scores(kept):
    """The lowest and the highest score of all models, of distances as distances."""
    models = pairs_of_models(kept)
    lowest = min(pairs.lowest for pairs in models)
    highest = max(pairs.highest for pairs in models)
    return (-highest, -lowest) if turned(kept) else (lowest, highest)


def turned(scores: xr.DataArray | xr.DataTree) -> bool:
    """Return whether scores are distances with their sign changed."""
    return bool(scores.attrs.get("distance"))


# --- labels --------------------------------------------------------------------------------------


def labels_of_images(table: xr.Dataset, by) -> np.ndarray:
    """Return one label for each row of a table of images; several attributes are crossed."""
    if by is None:
        return np.full(table.sizes.get("image", 1), UNKNOWN)
    require_attributes(by, {*table.variables} - {*WHO_IS_COMPARED, "model"})
    return crossed([table[name].values for name in attributes_of(by)])


def groups_among(labels: np.ndarray, by) -> np.ndarray:
    """Return the group labels without "unknown", in reading order; refuse an empty attribute."""
    groups = reading_order(labels)
    require(
        by is None or len(groups) > 0,
        f"attribute {by!r} has no label other than {UNKNOWN!r}: there is no group",
    )
    return groups


def group_codes(labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the place of each label among the groups; "unknown" comes behind the last one."""
    codes = pd.Index(groups).get_indexer(labels)  # -1 where it is "unknown"
    return np.where(codes < 0, len(groups), codes).astype(np.int32)


# --- weights of people ----------------------------------------------------------------------------


def shares(weighting, identities: np.ndarray) -> np.ndarray:
    """Return p_k of every identity, with mean 1 (section 2.1); identities: sorted names."""
    if isinstance(weighting, str):
        require_one_of("weighting (or p_k of every identity)", weighting, ("identity", "pair"))
        return np.ones(len(identities))
    require(
        isinstance(weighting, Mapping | pd.Series),
        "weighting must be 'identity', 'pair', or a mapping (or Series) of identity to p_k; got "
        f"{weighting!r}",
    )
    by_name = pd.Series(weighting)
    by_name.index = clean_labels(by_name.index, len(by_name), "weighting", "p_k")
    require(by_name.index.is_unique, "weighting names an identity twice: give one p_k for each")
    of_identities = by_name.reindex(identities)
    lost = identities[of_identities.isna().to_numpy()]
    require(len(lost) == 0, f"weighting has no p_k for identities {listed(lost)}")
    share = real_numbers("weighting", of_identities).astype(float)
    require(np.all(np.isfinite(share) & (share > 0)), "weighting: p_k must be positive numbers")
    return share / share.mean()
