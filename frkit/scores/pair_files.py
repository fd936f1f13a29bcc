"""Pair lists from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import UNKNOWN, InputError, listed, real_numbers, require, require_one_of, warn
from frkit.data.arrays import read_npy
from frkit.data.evidence import joint_codes
from frkit.data.files import named
from frkit.data.joins import identities_from, joined
from frkit.data.pair_roles import pair_roles
from frkit.data.roles import SIDES, WHO, as_mapping
from frkit.data.tables import read_frame, to_numbers
from frkit.scores.kept import with_pair_labels
from frkit.scores.pair_columns import once_each, pair_arguments, with_people
from frkit.scores.pair_formats import PAIR_FORMATS, WITHOUT_SCORES
from frkit.scores.pairs import attribute_labels, pairs


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
    unknown: Sequence[str] = ("ambiguous",),
) -> xr.Dataset:
    """Read a list of scored pairs from the files that the field keeps them in, also as .gz.

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
    with named(path):
        words = "this list has no scores: give scores=, a file with one score per line"
        has_scores = format not in WITHOUT_SCORES or scores is not None
        require(has_scores, f"{words}, or with lines `enrol test score`")
        paths = Path(path) if isinstance(path, (str, Path)) else path
        table, roles_of_format, rule = PAIR_FORMATS[format](paths)
        given = as_mapping(columns)
        how = {"needs_score": scores is None, "distance": distance, "said": {*given}}
        roles = pair_roles(table, roles_of_format | given, **how)
        arguments = pair_arguments(table, roles)
        if rule == "models" and "reference" in arguments:
            arguments["reference"] = "model " + arguments["reference"].astype(str)
        if scores is not None:
            require(not roles.scores(), "the file contains its scores: leave scores= out")
            arguments |= {"score": read_scores(scores, table), "distance": bool(distance)}
        if identity is not None:
            arguments |= _people_by_pattern(arguments, identity)
            roles.who = f"by the pattern {identity!r} of names of images"
        arguments = with_people(arguments, roles, table, rule == "linked")
        if rule != "repeats":
            arguments = once_each(arguments, table.index, roles)
        attributes = arguments.pop("attributes")
        if metadata is not None:
            keys = {"image": SIDES, "identity": WHO}
            keys = {kind: [arguments.get(side) for side in sides] for kind, sides in keys.items()}
            attributes |= joined(metadata, keys, attributes)
        out = with_attributes(
            pairs(**arguments, missing=missing, failed=failed), attributes, unknown
        )
        out.attrs.update(roles.attrs())
        return out


def _people_by_pattern(arguments, pattern):
    """Return who is in the images of both sides, by a pattern of their names."""
    words = "identity= reads the names of images, but this file has none"
    require("probe" in arguments, words)
    codes, names = joint_codes([arguments[side] for side in SIDES])
    people = identities_from(names, pattern)
    return {who: people[places] for who, places in zip(WHO, codes)}


def with_attributes(pairs, attributes, unknown):
    """Return pairs with attributes of both sides; labels that say no group are counted.

    They come apart from the other arguments of `frkit.pairs`, which has some called `failed` and
    `missing`, as attributes may be.
    """
    twice = [name for name in attributes if name in pairs.coords]
    require(not twice, f"{listed(twice)} cannot belong to the comparison and to its sides")
    labels = _labels(attributes, pairs.sizes["pair"], unknown)
    return with_pair_labels(pairs, labels)


def _labels(attributes, n, unknown):
    """Return labels of both sides; those that say no group are counted in a warning."""
    labels = attribute_labels(attributes, n)
    is_unclear = np.zeros(n, bool)
    for name, values in labels.items():
        of_this = np.isin(values, list(unknown))
        labels[name] = np.where(of_this, UNKNOWN, values)
        is_unclear |= of_this
    if is_unclear.any():
        words = f"{is_unclear.sum()} pairs have no clear label ({listed(unknown)})"
        warn(f"{words}: they count in global rates and in no group of that attribute")
    return labels


# --- scores in a file of their own ----------------------------------------------------------------


def read_scores(scores, table):
    """Read the scores of pairs, from a file or an array; or of several models."""
    if isinstance(scores, Mapping):
        return {str(name): read_scores(model, table) for name, model in scores.items()}
    if isinstance(scores, (str, Path)):
        with named(scores):
            values, source = _score_lines(Path(scores), table), scores
    else:
        values, source = real_numbers("scores", scores), "scores="
    words = f"there are {len(table)} pairs, but the scores in {source} have shape {values.shape}"
    require(values.shape == (len(table),), words)
    return values


def _score_lines(path, table):
    """Read one score per line, or an .npy; or lines `reference probe score` in any order."""
    if path.suffix == ".npy":
        values = real_numbers("scores", read_npy(path))
        require(values.ndim == 1, f"scores must have one dimension, got shape {values.shape}")
        return values.astype(np.float64)
    scored = read_frame(path)
    if len(scored.columns) == 1:
        return to_numbers(scored.iloc[:, 0].rename("score"))
    words = f"a line of scores is: score, or enrol test score; it has {len(scored.columns)} cells"
    require(len(scored.columns) == 3 and {*SIDES} <= {*table}, words)
    scored.columns = ["reference", "probe", "score"]
    scored["score"] = to_numbers(scored.score, blank=False)
    return _joined_scores(scored, table)


def _joined_scores(scored, trials):
    """Return the scores of trials, joined by the names of both sides."""
    names = {side: pd.Index(_distinct(trials[side])) for side in SIDES}
    keys = []
    for frame in (scored, trials):
        reference, probe = (_places(names[side], frame[side]) for side in ("reference", "probe"))
        key = reference.astype(np.int64) * len(names["probe"]) + probe
        keys.append(np.where((reference < 0) | (probe < 0), -1, key))
    lookup = pd.Series(scored.score.to_numpy(), keys[0])
    lookup = lookup[lookup.index >= 0]
    is_repeated = lookup.index.duplicated(keep=False)
    if is_repeated.any():
        lookup = _each_once(lookup, scored, keys[0])
    values = lookup.reindex(keys[1]).to_numpy()
    lines = trials.index[np.isnan(values)]
    require(len(lines) == 0, f"there is no score for the trials of lines {listed(lines)}")
    return values


def _each_once(lookup, scored, keys):
    """Return each pair's score once; two different ones are refused with their lines."""
    n_scores = lookup.groupby(level=0).nunique()
    wrong = n_scores.index[n_scores > 1]
    if len(wrong) > 0:
        lines = scored.index[keys == wrong[0]]
        pair = scored.loc[lines[0], ["reference", "probe"]].tolist()
        raise InputError(f"{listed(pair)} has two scores (lines {listed(lines)}): leave one out")
    is_first = ~lookup.index.duplicated()
    warn(f"{(~is_first).sum():,} pairs stand twice with the same score: each counts once")
    return lookup[is_first]


def _distinct(column):
    return column.cat.categories if column.dtype == "category" else column.unique()


def _places(names, column):
    """Return the place of each cell among names; -1 where it is none."""
    if column.dtype == "category":
        place = names.get_indexer(column.cat.categories)
        return np.append(place, -1)[column.cat.codes]
    return names.get_indexer(column)
