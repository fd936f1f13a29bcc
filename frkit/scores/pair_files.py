"""Pair lists from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import IDENTITY, IMAGE, PROBE, listed, require, warn
from frkit.data.files import named
from frkit.data.joins import identities_from, joined
from frkit.scores.pair_columns import SIDES, refuse
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
    """Read a list of scored pairs from the files that the field keeps them in; .gz is read as it is.

    Parameters
    ----------
    path : str or Path; for "vectors" a pair of them; for "rfw" also several, or a folder
    format : str
        "rfw" (protocol `<Race>_pairs.txt`, or a score table), "lfw" (pairs.txt), "bfw" (data table, .csv or
        .parquet), "bob4", "bob5", "bob-csv", "voxceleb" (`label enrol test`), "kaldi" (`enrol test target`),
        "ijbc" (`tid1 tid2 label`), "columns" (any text table with a header, or .parquet), "json" ({probe: {reference:
        score}}, one such for each model, or a table) or "vectors" (genuine and impostor scores).
    scores : path, array, or mapping of model name to such, optional
        For "lfw", "rfw" protocols, "voxceleb", "kaldi" and "ijbc": one score per line in the pairs' order; for trials
        also lines `enrol test score` in any order.
    metadata : path, optional
        A table of people or images (of VoxCeleb's speakers, say), joined on whichever of its columns names them; its
        other columns become attributes, in lower case. For "ijbc" the table `img tid mid`.
    columns : mapping, or list of str, optional
        For "columns" and "json": names of `frkit.pairs` to columns, e.g. {"score": ["arcface", "cosface"], "genuine":
        "label", "probe": "img1", "race": ("race1", "race2"), "trial": ["age_gap"]}. For "bfw": the encoders to read.
    identity : str, optional
        A pattern of image names that says who is in them, such as "{name}_{number}.jpg" or "{id}/{video}/{file}".
    distance : bool, optional
        True where smaller means more alike. Default: True for RFW's score table (column `dist`), else False.
    missing : float or sequence of float, optional
        The value(s) that mark a failed comparison; blank cells always do.
    failed : {"left out", "rejected"}
        What a failed comparison counts as, as in `frkit.pairs`.
    unknown : sequence of str
        Labels that say no group; such pairs count in global rates and in no group, and are counted in a warning.

    Returns
    -------
    xr.Dataset
        As from `frkit.pairs`.

    Raises
    ------
    InputError
        For a malformed file, with its name and line number; for an unknown format, or an option it does not have; where
        the pattern does not fit a name, or metadata label nobody (the message names their columns).

    Examples
    --------
    >>> import frkit as fk
    >>> ds = fk.open_pairs("rfw_pairs_l2.csv.gz", format="rfw")  # doctest: +SKIP
    """
    require(
        format in PAIR_FORMATS, f"format must be one of {', '.join(PAIR_FORMATS)}; got {format!r}"
    )
    reader = PAIR_FORMATS[format]
    own = "metadata" in signature(reader).parameters
    options = {"scores": scores, "columns": columns} | ({"metadata": metadata} if own else {})
    given = {name: value for name, value in options.items() if value is not None}
    extra = [name for name in given if name not in signature(reader).parameters]
    require(not extra, f"format {format!r} has no option {listed(extra)}")
    with named(path):
        columns = reader(path, **given)
        lines = columns.pop("lines", None)
        of_file = columns.pop("distance", False)
        attributes = {
            name: columns.pop(name)
            for name in list(columns)
            if name not in signature(pairs).parameters
        }
        if identity is not None:
            require(PROBE in columns, "identity= reads the names of images, but this file has none")
            columns |= {
                f"{side}_{IDENTITY}": identities_from(columns[side], identity) for side in SIDES
            }
        if metadata is not None and not own:
            attributes |= joined(metadata, _names(columns), attributes)
        _check_verdicts(columns, lines)
        options = dict(
            distance=of_file if distance is None else distance, missing=missing, failed=failed
        )
        return pairs(**columns, **options, **_without_words(attributes, unknown))


def _names(columns: dict) -> dict:
    """What rows of metadata may go by: images and people of both sides."""
    known = {IMAGE: SIDES, IDENTITY: [f"{side}_{IDENTITY}" for side in SIDES]}
    found = {
        kind: tuple(columns[name] for name in names)
        for kind, names in known.items()
        if {*names} <= {*columns}
    }
    require(
        len(found) > 0,
        "metadata= is joined by names of images or people, but this file has neither",
    )
    return found


def _check_verdicts(columns: dict, lines) -> None:
    """A label that contradicts the identities is named by its line."""
    if lines is None or "genuine" not in columns or "probe_identity" not in columns:
        return
    differs = lines[
        columns["genuine"] != (columns["probe_identity"] == columns["reference_identity"])
    ]
    more = f"here and in {len(differs) - 1} more line(s); are these ids of people?"
    refuse(differs, f": the label contradicts the identities, {more}")


def _without_words(attributes: dict, unknown) -> dict:
    """Labels that say no group become missing, and are counted."""
    out, unknown = {}, list(unknown)
    for name, labels in attributes.items():
        two = isinstance(labels, tuple)
        sides = [
            None if side is None else np.array(side, object)
            for side in (labels if two else (labels,))
        ]
        known = [side for side in sides if side is not None]
        says_none = [np.isin(side.astype(str), unknown) for side in known]
        if many := int(np.any(says_none, axis=0).sum()):
            warn(
                f"{many} pairs have no clear {name} ({listed(unknown)}): they count in global rates and in no group"
            )
        for side, none in zip(known, says_none, strict=True):
            side[none] = None
        out[name] = tuple(sides) if two else sides[0]
    return out
