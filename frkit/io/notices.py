"""Notices about data that may not be what they seem; they change nothing."""

import re
from itertools import zip_longest

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, listed, warn
from frkit.data.labels import name_nobody
from frkit.io.cells import WITH_FRAME
from frkit.io.joins import share_above

ALIKE = 0.7  # share of genuine scores above impostors' that is expected of people
UNLIKE = 0.4  # of what other genuine pairs are above one half, from which on pairs are noticed
FEWEST_OF_ONE = 100  # genuine pairs of one person, which show that it is several
FEW = 0.05  # share of names that copies may repeat, and people do more often
MARKS = r"[-_./\\ ]+"  # between parts of names of images
FEWEST = 20  # pairs that show what they are


def warn_of_spellings(labels):
    """Warn of people, and of groups, that may be the same under names that differ in spelling.

    Parameters
    ----------
    labels : dict of str to sequence of arrays
        The labels of one side or of both, by attribute; those of people as "identity".
    """
    for name, sides in labels.items():
        distinct = np.unique(np.concatenate([pd.unique(side) for side in sides]).astype(str))
        distinct = pd.Series(distinct[distinct != UNKNOWN], dtype=object)
        bare = distinct.str.lower().str.replace(r"[\s_-]+", " ", regex=True)
        bare = bare.str.replace(r"(?<![0-9.])0+(?=[0-9])", "", regex=True)
        nothing = distinct[name_nobody(distinct)]
        if len(nothing) > 0:
            warn(
                f"{listed(nothing)} counts as a label of {name!r} like any other; if it means that "
                "nothing is known, leave these cells blank"
            )
        bare = bare[bare.duplicated(keep=False)].sort_values(kind="stable")
        if len(bare) > 0:
            warn(
                f"{len(bare):,} labels of {name!r} may mean the same as another, as they differ in "
                "capital letters, leading zeros, blanks, '_' or '-', such as "
                f"{listed(distinct[bare.index], 6)}: write them alike if they are the same"
            )


def warn_of_strangers(scores, is_genuine, people, attributes, images=None):
    """Warn of genuine pairs that are hardly more alike than strangers'.

    Those of the person who has most of them, those that differ in an attribute, and those whose
    names of images differ in one part, as by a folder, an eye or a finger.

    Parameters
    ----------
    scores : array, (pair,)
        Larger is more alike.
    is_genuine : array of bool
    people : Sides or None
    attributes : dict of str to Sides
    images : Sides, optional
    """
    is_genuine = is_genuine & np.isfinite(scores)
    if people is not None and is_genuine.any():
        code = np.bincount(people.probe[is_genuine]).argmax()
        if np.sum(is_genuine & (people.probe == code)) >= FEWEST_OF_ONE:
            which = f"of {listed(people.names[[code]])}"
            why = "people whose names are not known may have this one"
            _warn_if_unlike(scores, is_genuine, people.probe == code, which, why)
    for name, sides in attributes.items():
        if sides.reference is not None:
            which = f"that differ in {name!r}"
            why = (
                "if they are of two people, eyes or fingers, make the names of both, such as "
                f"frame.person + '_' + frame.{name}, {WITH_FRAME}; if it says that images failed, "
                "leave these out"
            )
            _warn_if_unlike(scores, is_genuine, ~sides.is_same(), which, why)
    for place, parts in _parts_of_names(images).items():
        sides = images.mapped(parts)
        which = f"whose images have other names in part {place + 1}, as {listed(sides.names, 2)},"
        why = (
            "if names of people begin anew there, as in folders, or these are eyes or fingers, "
            "make the names of both, such as frame.person + '_' + frame.image.str"
            f".split({MARKS!r}).str[{place}], {WITH_FRAME}"
        )
        _warn_if_unlike(scores, is_genuine, ~sides.is_same(), which, why)


def _parts_of_names(images):
    """Return the parts of names of images, between marks, by their place."""
    if images is None:
        return {}
    names = [re.split(MARKS, str(name)) for name in images.names]
    parts = enumerate(zip_longest(*names, fillvalue=""))
    return {place: part for place, part in parts if 1 < len({*part}) < len(part)}


def _warn_if_unlike(scores, is_genuine, is_part, which, why):
    """Warn if the genuine pairs of a part are hardly more alike than impostor pairs.

    which, why : what these pairs are, and what to do
    """
    n_pairs = np.sum(is_part & is_genuine)
    of_part, of_others = (
        share_above(scores[rows], is_genuine[rows])[0]
        for rows in (is_part | ~is_genuine, ~is_part | ~is_genuine)
    )
    is_unlike = of_part - 0.5 < UNLIKE * (of_others - 0.5)
    if n_pairs >= FEWEST and of_others > ALIKE and is_unlike:
        warn(
            f"{n_pairs:,} genuine pairs {which} score above impostor pairs in {of_part:.2f} of "
            f"cases, others in {of_others:.2f}: {why}"
        )
