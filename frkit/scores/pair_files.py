"""Pair lists from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path

import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import UNKNOWN, listed, require, require_one_of, warn
from frkit.data.files import named
from frkit.data.joins import identities_from, joined
from frkit.scores.pair_columns import IDENTITIES, SIDES
from frkit.scores.pair_formats import PAIR_FORMATS
from frkit.scores.pairs import attribute_labels, pairs


def open_pairs(
    path: str | Path | Sequence[str | Path],
    *,
    format: str,
    scores: str | Path | ArrayLike | Mapping | None = None,
    metadata: str | Path | None = None,
    columns: Mapping | Sequence[str] | None = None,
    identity: str | None = None,
    distance: bool | None = None,
    missing: ArrayLike | None = None,
    failed: str = "left out",
    unknown: Sequence[str] = ("ambiguous",),
) -> xr.Dataset:
    """Read a list of scored pairs from the files that the field keeps them in, also as .gz.

    Parameters
    ----------
    path : str or Path; for "vectors" a pair of them; for "rfw" also several, or a folder
    format : str
        "rfw" (protocol `<Race>_pairs.txt`, or a score table), "lfw" (pairs.txt), "bfw" (data table,
        .csv or .parquet), "bob4", "bob5", "bob-csv", "voxceleb" (`label enrol test`), "kaldi"
        (`enrol test target`), "ijbc" (`tid1 tid2 label`), "columns" (any text table with a header,
        or .parquet), "json" ({probe: {reference: score}}, one such for each model, or a table) or
        "vectors" (genuine and impostor scores).
    scores : path, array, or mapping of model name to such, optional
        For "lfw", "rfw" protocols, "voxceleb", "kaldi" and "ijbc": one score per line in the pairs'
        order; for trials also lines `enrol test score` in any order.
    metadata : path, optional
        A table of people or images (of VoxCeleb's speakers, say), joined on whichever of its
        columns names them; its other columns become attributes, in lower case.
    columns : mapping, or list of str, optional
        For "columns" and "json": names of `frkit.pairs` to columns, e.g. {"score": ["arcface",
        "cosface"], "genuine": "label", "probe": "img1", "race": ("race1", "race2"), "trial":
        ["age_gap"]}. For "bfw": the encoders to read.
    identity : str, optional
        A pattern of image names that says who is in them, such as "{name}_{number}.jpg" or
        "{id}/{video}/{file}".
    distance : bool, optional
        True where smaller means more alike. Default: True for RFW's score table (column `dist`),
        else False.
    missing : float or sequence of float, optional
        The value(s) that mark a failed comparison; blank cells always do.
    failed : {"left out", "rejected"}
        What a failed comparison counts as, as in `frkit.pairs`.
    unknown : sequence of str
        Labels that say no group; such pairs count in global rates and in no group, and are counted
        in a warning.

    Returns
    -------
    xr.Dataset
        As from `frkit.pairs`.

    Raises
    ------
    InputError
        For a malformed file, with its name and line number; for an unknown format, or an option it
        does not have; where the pattern does not fit a name, or metadata label nobody (the message
        names their columns).

    Examples
    --------
    >>> import frkit as fk
    >>> ds = fk.open_pairs("rfw_pairs_l2.csv.gz", format="rfw")  # doctest: +SKIP
    """
    require_one_of("format", format, PAIR_FORMATS)
    reader = PAIR_FORMATS[format]
    given = {"scores": scores, "columns": columns}
    given = {name: value for name, value in given.items() if value is not None}
    extra = [name for name in given if name not in signature(reader).parameters]
    require(not extra, f"format {format!r} has no option {listed(extra)}")
    with named(path):
        arguments = reader(path, **given)
        attributes = arguments.pop("attributes", {})
        is_distance = arguments.pop("distance", False)
        if identity is not None:
            words = "identity= reads the names of images, but this file has none"
            require("probe" in arguments, words)
            for side, who in zip(SIDES, IDENTITIES):
                arguments[who] = identities_from(arguments[side], identity)
        if metadata is not None:
            keys = {
                "image": [arguments.get(side) for side in SIDES],
                "identity": [arguments.get(side) for side in IDENTITIES],
            }
            attributes |= joined(metadata, keys, attributes)
        if distance is None:
            distance = is_distance
        out = pairs(**arguments, distance=distance, missing=missing, failed=failed)
        # apart from the others, because `pairs` has arguments `failed` and `missing` of its own
        twice = [name for name in attributes if name in out.coords]
        require(not twice, f"{listed(twice)} cannot belong to the comparison and to its sides")
        labels = pd.DataFrame(attribute_labels(attributes, out.sizes["pair"]), dtype=object)
        unclear = labels.isin(list(unknown))
        n_unclear = unclear.any(axis=1).sum()
        if n_unclear > 0:
            words = f"{n_unclear} pairs have no clear label ({listed(unknown)})"
            warn(f"{words}: they count in global rates and in no group of that attribute")
        labels = labels.mask(unclear, UNKNOWN)
        return out.assign_coords({name: ("pair", labels[name].to_numpy(str)) for name in labels})
