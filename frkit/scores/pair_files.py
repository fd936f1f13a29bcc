"""Pair lists from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require, require_one_of
from frkit.data.files import named
from frkit.data.roles import as_mapping
from frkit.scores.pair_formats import PAIR_FORMATS, WITHOUT_SCORES
from frkit.scores.pair_table import pairs_of_table


def open_pairs(
    path: str | Path | Sequence[str | Path],
    *,
    format: str = "columns",
    scores: str | Path | ArrayLike | Mapping | None = None,
    metadata: str | Path | None = None,
    columns: Mapping | None = None,
    identity: str | None = None,
    distance: bool | None = None,
    missing: ArrayLike | None = None,
    failed: str = "left out",
) -> xr.Dataset:
    """Read a list of scored pairs from a file in one of the field's formats, also as .gz.

    Parameters
    ----------
    path : str or Path; for "vectors" a pair of them; for "rfw" also several, or a folder
    format : str
        "columns" (any table), "json" ({probe: {reference: score}}, one such for each model, or a
        table), "rfw" (protocol `<Race>_pairs.txt`, or a score table), "lfw" (pairs.txt, or a list
        in its form), "bfw" (data table), "bob4", "bob5", "bob-csv", "voxceleb" (`label enrol
        test`), "kaldi" (`enrol test target`), "speechbrain" (`enrol test label score`), "pyeer"
        (`probe gallery score`), "ijbc" (`tid1 tid2 label`) or "vectors" (genuine and impostor
        scores). `open_data` recognises most of them.
    scores : path, array, or mapping of model name to such, optional
        For "lfw", "rfw" protocols, "voxceleb", "kaldi" and "ijbc": one score per line in the pairs'
        order; for trials also lines `enrol test score` in any order.
    metadata : path, optional
        A table of people or images (of VoxCeleb's speakers, say), joined on whichever of its
        columns names them; its other columns become attributes, in lower case.
    columns : mapping, optional
        What the columns are, as in `open_data`: roles or attributes to columns, e.g. {"score":
        ["arcface", "cosface"], "distance": "l2", "genuine": "mated?", "probe": "img1", "race":
        ("race1", "race2"), "trial": ["age_gap"]}. What is not named is guessed.
    identity : str, optional
        A pattern of image names that says who is in them, such as "{name}_{number}.jpg" or
        "{id}/{video}/{file}".
    distance : bool, optional
        True where smaller means more alike in all columns of scores. Default: as the names of the
        columns say, such as `dist` of RFW's score table.
    missing : float or sequence of float, optional
        The value(s) that mark a failed comparison; blank cells always do.
    failed : {"left out", "rejected"}
        What a failed comparison counts as, as in `frkit.pairs`.

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
    with named(path):
        require(
            format not in WITHOUT_SCORES or scores is not None,
            "this list has no scores: give scores=, a file with one score per line, or with lines "
            "`enrol test score`",
        )
        paths = Path(path) if isinstance(path, (str, Path)) else path
        table, preset, rule = PAIR_FORMATS[format](paths)
        return pairs_of_table(
            table,
            as_mapping(columns),
            preset=preset,
            rule=rule,
            scores=scores,
            metadata=metadata,
            identity=identity,
            distance=distance,
            missing=missing,
            failed=failed,
        )
