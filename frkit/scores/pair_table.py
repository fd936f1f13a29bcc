"""Lists of scored pairs from files and tables, by the roles of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import listed, require, require_one_of, warn
from frkit.data.evidence import people_of_names, strangers_called_genuine
from frkit.data.files import named, require_data
from frkit.data.joins import identities_from, joined
from frkit.data.notices import warn_of_parts
from frkit.data.pair_roles import OPPOSITE, check_unconfirmed, pair_roles, refuse_truth
from frkit.data.roles import SIDES, WHO, as_mapping
from frkit.data.sides import coded_sides, show_two_people
from frkit.data.tables import refuse_cells, to_numbers
from frkit.scores.pair_formats import PAIR_FORMATS, WITHOUT_SCORES, two_kinds
from frkit.scores.pair_list import listed_pairs
from frkit.scores.pair_scores import read_scores, refuse_two, repeats

TWO_KINDS = {"score": "score", "genuine": "genuine"}
UNSAID = (
    "no column says which pairs are genuine: it takes a column such as genuine or label (1 or 0), "
    "identities of both sides such as id1 and id2, or names of images that say who it is, with "
    "identity='{name}_{number}.jpg'"
)


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
    path : str or Path; for "vectors" a pair of them; for "rfw" also a folder
    format : str
        "columns" (any table), "rfw" (protocol `<Race>_pairs.txt`, or a score table), "lfw"
        (pairs.txt, or a list in its form), "bfw" (data table), "bob4", "bob5", "bob-csv",
        "voxceleb" (`label enrol test`), "kaldi" (`enrol test target`), "speechbrain" (`enrol test
        label score`), "pyeer" (`probe gallery score`), "bozorth3" (`score probe gallery`), "ijbc"
        (`tid1 tid2 label`) or "vectors" (genuine and impostor scores). `open_data` recognises most
        of them.
    scores : path, array, or mapping of model name to such, optional
        For "lfw", "rfw" protocols, "voxceleb", "kaldi" and "ijbc": one score per line in the pairs'
        order; for trials also lines `enrol test score` in any order.
    metadata : path, optional
        A table of people or images (of VoxCeleb's speakers, say), joined on whichever of its
        columns names them; its other columns become attributes, in lower case.
    columns : mapping, optional
        What the columns are, as in `open_data`: roles or attributes to columns, e.g. {"score":
        ["arcface", "cosface"], "distance": "l2", "genuine": "mated?", "probe": "img1", "race":
        ("race1", "race2"), "age_gap": ("gap", None)}. What is not named is guessed.
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
    if not (format == "vectors" and isinstance(path, (list, tuple))):
        path = require_data("path", path)
    with named(path):
        require(
            format not in WITHOUT_SCORES or scores is not None,
            "this list has no scores: give scores=, a file with one score per line, or with lines "
            "`enrol test score`",
        )
        table, preset, rule = PAIR_FORMATS[format](path)
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


def pairs_of_table(
    table,
    given,
    *,
    preset=None,
    rule="",
    scores=None,
    metadata=None,
    identity=None,
    distance=None,
    **options,
):
    """Return the kept pairs of a table.

    Parameters
    ----------
    table : pd.DataFrame
    given, preset : dict
        Roles to columns, as the user and as a format says.
    rule : str
        Of a format: "linked", "models" or "repeats" (see `pair_formats`).
    scores, metadata, identity, distance, **options
        As in `open_pairs`.
    """
    require(len(table) > 0, "the table has no row")
    needs_score = scores is None
    if not preset and given in ({}, {"distance": "score"}):
        pairs = two_kinds(table)
        if pairs is not None:
            table, preset = pairs, TWO_KINDS
    columns = {
        role: source
        for role, source in (preset or {}).items()
        if OPPOSITE.get(role) not in given  # as where the user calls scores distances
    }
    roles, genuine = pair_roles(
        table, columns | given, needs_score=needs_score, distance=distance, from_user=given
    )
    warn_of_parts(roles, table)
    images = _sides(table, roles, SIDES)
    people = _sides(table, roles, WHO)
    require(images or not identity, "identity= reads the names of images, but this file has none")
    scores, distances = _scores(table, roles, scores, images, distance)
    if rule == "models" and images and not images.are_one_set():
        images = images.apart()
    if images and people and not preset and not roles.given & {*SIDES}:
        images = _unless_two_people(images, people, roles)
    if images and identity:
        people = images.mapped(identities_from(images.names, identity))
        roles.who = f"by the pattern {identity!r} of names of images"
    elif images and not people:
        model, values = next(iter(scores.items()))
        similarity = -values if model in distances else values
        people = _people_by_name(images, genuine, similarity, rule, roles, table)
    if not people:
        if genuine is None:
            remedies = [{"genuine": "..."}]
            if images:
                remedies.append({who: roles.column(side) for who, side in zip(WHO, SIDES)})
            roles.ask(table, UNSAID, *remedies)
        check_unconfirmed(roles, table, genuine, bool(preset))
    if images and rule != "repeats":
        keep, images = _first_of_each(table, images, scores, genuine, roles)
        if not keep.all():
            table, images = table[keep], images.rows(keep)
            people = people and people.rows(keep)
            genuine = genuine if genuine is None else genuine[keep]
            scores = {name: values[keep] for name, values in scores.items()}
    attributes = _attributes(table, roles)
    if metadata is not None:
        sides = {"image": images, "identity": people}
        keys = {kind: names.columns() for kind, names in sides.items() if names}
        attributes |= joined(metadata, keys, attributes)
    if len(scores) == 1 and not (roles.are_models and needs_score):
        [scores] = scores.values()
        distances = bool(distances)
    pairs = listed_pairs(scores, genuine, images, people, attributes, distance=distances, **options)
    pairs.attrs.update(roles.attrs())
    return pairs


def _scores(table, roles, scores, images, distance):
    """Return scores by model, and the models of distances."""
    if scores is None:
        scores = {name: to_numbers(table[name]) for name in roles.scores()}
        return scores, roles.columns.get("distance", [])
    require(not roles.scores(), "the file contains its scores: leave scores= out")
    scores = read_scores(scores, table, images)
    return scores, [*scores] if distance else []


def _sides(table, roles, names):
    """Return the names in two columns as numbers; None where a column is absent."""
    columns = [table[roles.column(name)] for name in names if roles.column(name)]
    for column in columns:
        refuse_cells(column, column.isna().to_numpy(), "names nobody")
    return coded_sides(columns, names, len(table)) if len(columns) == 2 else None


def _attributes(table, roles):
    """Return labels of both sides, or of the pair, for each attribute."""
    attributes = {}
    for name, columns in roles.attributes.items():
        labels = [column and table[column] for column in columns]
        attributes[name] = labels[0] if len(labels) == 1 else tuple(labels)
    return attributes


def _unless_two_people(images, people, roles):
    """Return names of images that were guessed, unless one would show two people."""
    if not show_two_people(images, people).any():
        return images
    for side in SIDES:
        roles.unused += roles.columns.pop(side)
    return None


def _people_by_name(images, genuine, similarity, rule, roles, table):
    """Return who is in images, by their names, or as genuine pairs link them; else None."""
    people, way = people_of_names(images, genuine, similarity)
    if people is not None:
        roles.who = f"from names of images, {way}"
    elif genuine is not None:
        if people_of_names(images, ~genuine)[1]:
            refuse_truth(roles, table, "names of images", np.ones(len(table), bool))
        n_strangers, n_genuine = strangers_called_genuine(images, genuine, similarity)
        if n_strangers > 0:
            warn(
                f"by the names of images {n_strangers:,} of {n_genuine:,} genuine pairs show "
                "two people, and their scores are lower: make sure that "
                f"{roles.column('genuine') or roles.column('impostor')!r} is about people"
            )
        if rule == "linked":
            roles.who = "names that genuine pairs link are one person"
            people = _linked(images, genuine)
    return people


def _linked(images, genuine):
    """Return people as components of the graph of genuine pairs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = images.rows(genuine)
    n_names = len(images.names)
    graph = coo_array((genuine[genuine], (links.probe, links.reference)), shape=(n_names,) * 2)
    _, component = connected_components(graph, directed=False)
    n_alone = n_names - len(np.unique(links.both()))
    if n_alone > 0:
        warn(
            f"the list does not say who is who; {n_alone:,} of {n_names:,} names occur in no "
            "genuine pair: each counts as a person of its own"
        )
    return images.mapped([f"person {number}" for number in component])


def _first_of_each(table, images, scores, genuine, roles):
    """Return which rows are the first of their ordered pair; and the images, unless they are none.

    A pair with two scores, or called genuine and impostor, is refused.
    """
    values = {f"score {name}": values for name, values in scores.items()}
    again, differing = repeats(images, values | ({} if genuine is None else {"genuine": genuine}))
    keep = np.ones(len(table), bool)
    if len(differing) == 0:
        keep[again] = False
        return keep, images
    if roles.column("reference") == roles.column("reference_identity"):
        warn(
            "a probe meets a person several times with different scores: the file names no "
            "template of the reference, so intervals draw people and no images"
        )
        return keep, None
    first, second = differing
    is_same = genuine is None or genuine[first] == genuine[second]
    columns = [roles.column(side) for side in SIDES]
    remedy = "leave one out; scores of several models need a column each"
    if not roles.given & {*SIDES} and not roles.column(WHO[0]):
        people = dict(zip(WHO, columns))
        remedy += f"; or, if {listed(columns)} name people and no images, columns={people!r}"
    what = "has two scores" if is_same else "is called genuine and impostor"
    refuse_two(images, differing, table.index, what, remedy)
