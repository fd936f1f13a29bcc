"""Who is compared with whom: labels and options of a tensor or a list as codes and counts."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, require
from frkit.engine.entries import (
    Protocol,
    draw_people,
    group_cells,
    label_fits,
)
from frkit.engine.listed import list_protocol
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.groups import (
    People,
    group_codes,
    is_symmetric,
    labels_of_sides,
    people,
    shares,
)


def make_protocol(
    scores: xr.DataArray,
    *,
    by=None,
    varying: str = "error",
    weighting=None,
    impostors: str | Mapping = "all",
    resampling: Resampling | None = None,
) -> Protocol:
    """The protocol of a score tensor or of a list of pairs; options are those of `evaluate`."""
    if "pair" in scores.dims:
        return list_protocol(scores, by, varying, weighting, impostors, resampling)
    images = people(scores, by, varying)
    several = len(np.unique(images.person)) > 1
    require(
        several, "there is no impostor pair: all images show one person; at least two are needed"
    )
    symmetric = is_symmetric(scores)
    image = images.probe if symmetric else np.concatenate([images.probe, images.reference])
    offset = 0 if symmetric else len(images.probe)
    identity = images.identity_code[image]
    weighting = "identity" if weighting is None else weighting
    share = shares(weighting, np.unique(images.identity))
    pooled = isinstance(weighting, str) and weighting == "pair"
    scale = np.ones(len(image)) if pooled else _identity_scale(identity, share, offset)
    group = group_codes(images.group, images.groups)[image]
    cells = group_cells(len(images.groups), impostors)
    kind = group
    cells_of_kinds = cells
    if isinstance(impostors, Mapping):
        kind, cells_of_kinds = _kinds(scores, group, cells, impostors, symmetric)
    copies = resampling is not None and resampling.scheme in DIAGONAL_SCHEMES
    row, col, n_genuine = _genuine_pairs(images, symmetric, copies)
    return Protocol(
        images=images,
        image=image,
        group=group,
        kind=kind,
        cells_of_groups=cells,
        cells_of_kinds=cells_of_kinds,
        scale=scale,
        drawn=draw_people(images, by, resampling),
        share=share,
        pooled=pooled,
        symmetric=symmetric,
        n_probes=len(images.probe),
        offset=offset,
        genuine_row=row,
        genuine_col=col + offset,
        genuine_identity=identity[row],
        n_genuine=n_genuine,
    )


def _identity_scale(identity, share, offset):
    """p_k / n_k of each entry (eq. 2); n_k counts the identity's images on the entry's side."""
    scale = np.empty(len(identity))
    sides = [slice(0, offset), slice(offset, None)] if offset else [slice(None)]
    for side in sides:
        images = np.bincount(identity[side])
        scale[side] = share[identity[side]] / images[identity[side]]
    equal = np.ptp(scale) <= 1e-14 * scale[0]  # then sums of ones are exact, and rates the same
    return np.ones(len(scale)) if equal else scale


def _kinds(scores, group, cells, impostors, symmetric):
    """Kind of each entry, and the cell of two kinds, where `impostors=` names attributes.

    A kind is a group together with the labels of these attributes.
    """
    columns = [group]
    for name in impostors:
        probe, reference = labels_of_sides(scores, name)
        labels = probe if symmetric else np.concatenate([probe, reference])
        codes = np.unique(labels, return_inverse=True)[1]
        columns.append(np.where(labels == UNKNOWN, -1, codes))
    kinds, kind = np.unique(np.stack(columns, 1), axis=0, return_inverse=True)
    groups = kinds[:, 0]
    cells_of_kinds = cells[groups[:, None], groups]
    for column, wanted in enumerate(impostors.values(), start=1):
        codes = kinds[:, column]
        cells_of_kinds[~label_fits(codes[:, None], codes, wanted, -1)] = -1
    return kind.ravel(), cells_of_kinds


def _genuine_pairs(images: People, symmetric, copies):
    """Rows and columns of the pairs of two images of one identity, and how many these are.

    copies : whether the pairs of an image with itself follow.
    """
    rows = pd.DataFrame({"identity": images.identity_code[images.probe]})
    cols = pd.DataFrame({"identity": images.identity_code[images.reference]})
    pairs = rows.reset_index(names="row").merge(cols.reset_index(names="col"), on="identity")
    row = pairs.row.to_numpy()
    col = pairs.col.to_numpy()
    probe = images.probe[row]
    reference = images.reference[col]
    chosen = np.flatnonzero(probe < reference if symmetric else probe != reference)
    n_genuine = len(chosen)
    require(
        n_genuine > 0,
        "there is no genuine pair: no identity has two images to compare; check the identities",
    )
    if copies:
        chosen = np.append(chosen, np.flatnonzero(probe == reference))
    return row[chosen], col[chosen], n_genuine
