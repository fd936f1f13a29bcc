"""Pair lists from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import IDENTITY, IMAGE, PROBE, listed, require, warn
from frkit.data.files import named
from frkit.data.joins import identities_from, joined
from frkit.scores.pair_columns import IDENTITIES, SIDES, refuse
from frkit.scores.pair_formats import PAIR_FORMATS
from frkit.scores.pairs import pairs


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
        columns names them; its other columns become attributes, in lower case. For "ijbc" the table
        `img tid mid`.
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
    formats = ", ".join(PAIR_FORMATS)
    require(format in PAIR_FORMATS, f"format must be one of {formats}; got {format!r}")
    reader = PAIR_FORMATS[format]
    takes = signature(reader).parameters
    given = {"scores": scores, "columns": columns}
    if "metadata" in takes:
        given["metadata"] = metadata
    given = {name: value for name, value in given.items() if value is not None}
    extra = [name for name in given if name not in takes]
    require(not extra, f"format {format!r} has no option {listed(extra)}")
    with named(path):
        table = reader(path, **given)
        lines = table.pop("lines", None)
        is_distance = table.pop("distance", False)
        others = [name for name in table if name not in signature(pairs).parameters]
        attributes = {name: table.pop(name) for name in others}
        if identity is not None:
            require(PROBE in table, "identity= reads the names of images, but this file has none")
            for side in SIDES:
                table[f"{side}_{IDENTITY}"] = identities_from(table[side], identity)
        if metadata is not None and "metadata" not in takes:
            attributes |= joined(metadata, _names(table), attributes)
        if lines is not None:
            _check_verdicts(table, lines)
        for name in attributes:
            attributes[name] = _without_unknown(attributes[name], name, list(unknown))
        return pairs(
            **table,
            distance=is_distance if distance is None else distance,
            missing=missing,
            failed=failed,
            **attributes,
        )


def _names(table: dict) -> dict:
    """Return what rows of metadata may go by: images and people of both sides."""
    sides = {IMAGE: SIDES, IDENTITY: IDENTITIES}
    keys = {
        kind: tuple(table[name] for name in names)
        for kind, names in sides.items()
        if set(names) <= set(table)
    }
    words = "metadata= is joined by names of images or people, but this file has neither"
    require(len(keys) > 0, words)
    return keys


def _check_verdicts(table: dict, lines: np.ndarray) -> None:
    """Name the line of a label that contradicts the identities."""
    if {"genuine", *IDENTITIES} <= set(table):
        probe, reference = (table[name] for name in IDENTITIES)
        wrong = lines[table["genuine"] != (probe == reference)]
        more = f"here and in {len(wrong) - 1} more line(s); are these ids of people?"
        refuse(wrong, f": the label contradicts the identities, {more}")


def _without_unknown(labels, name: str, unknown: list[str]):
    """Make labels that say no group missing, and count the pairs with such."""
    sides = labels if isinstance(labels, tuple) else (labels,)
    sides = [None if side is None else pd.Series(side, dtype=object) for side in sides]
    unclear = [side.isin(unknown) for side in sides if side is not None]
    if many := int(np.any(unclear, axis=0).sum()):
        words = f"{many} pairs have no clear {name} ({listed(unknown)})"
        warn(f"{words}: they count in global rates and in no group")
    sides = [None if side is None else side.mask(side.isin(unknown), None) for side in sides]
    return tuple(sides) if isinstance(labels, tuple) else sides[0]
