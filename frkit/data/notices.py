"""Notices about data that may be something else than they seem; nothing is changed by them."""

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, listed, warn
from frkit.data.names import simplified

MOST_GROUPS = 100  # labels of an attribute that can be groups, and of a rank
FEWEST = 20  # scores, or rows, that show what they are
SLACK = 1e-3  # by which sums of probabilities may differ from 1
SIGNS = r"[\s_-]+"
OF_PARTS = {"split", "splits", "subset", "fold", "partition", "set"}  # names of columns
PARTS = {*"train training val valid validation dev development test testing eval".split()}


def warn_of_spellings(labels):
    """Warn of people, and of groups, that may be the same under names that differ in spelling.

    Parameters
    ----------
    labels : dict of str to sequence of arrays
        The labels of one side or of both, by attribute; those of people as "identity".
    """
    for name, sides in labels.items():
        distinct = pd.unique(np.concatenate([pd.unique(side) for side in sides]).astype(object))
        distinct = pd.Series(distinct[distinct != UNKNOWN], dtype=object).sort_values()
        is_group = name != "identity"
        if is_group and len(distinct) > MOST_GROUPS:
            continue
        bare = distinct.str.lower().str.replace(SIGNS, " ", regex=True)
        if is_group:
            words = bare[bare.str.isalpha() & (bare.str.len() > 1)]
            bare = bare.replace(dict(zip(words.str[:1], words)))
        again = distinct[bare.duplicated(keep=False)]
        again = again.iloc[np.argsort(bare[again.index], kind="stable")]
        if len(again) > 0 and is_group:
            warn(
                f"groups of {name!r} may be the same, but differ in capital letters, blanks, '_' "
                f"or '-', or are the first letter of another: {listed(again, 12)}; they stay "
                "groups of their own: write them alike if they are the same"
            )
        elif len(again) > 0:
            warn(
                f"{len(again):,} identities differ from another in capital letters, blanks, '_' or "
                f"'-' only, such as {listed(again, 2)}; they stay people of their own: write them "
                "alike if they are the same"
            )


def warn_of_columns(roles, columns):
    """Warn of a column of parts, all of which are used, and of ranks, of which nobody speaks.

    Parameters
    ----------
    roles : Roles
    columns : mapping of str to array
    """
    everything = roles.columns | roles.attributes
    named = {column for role in roles.given for column in everything.get(role, [])}
    for name in columns:
        is_rank = simplified(name) == "rank" and bool(roles.scores())
        if not name or name in named or not (is_rank or simplified(name) in OF_PARTS):
            continue
        labels = pd.Series(pd.unique(pd.Series(np.ravel(columns[name])).dropna()))
        if is_rank:
            _warn_of_ranks(name, labels)
        elif len(labels) > 1 and {*labels.astype(str).str.strip().str.lower()} <= PARTS:
            warn(
                f"column {name!r} contains {listed(sorted(labels.astype(str)))}, and the rows of "
                "all are used, also those on which a model may have been trained; for one part, "
                "keep only its rows, as in frame[frame.split == 'test']"
            )


def _warn_of_ranks(name, labels):
    """Warn where labels count from 1 to a small number."""
    ranks = np.sort(pd.to_numeric(labels, errors="coerce").to_numpy(float))
    is_count = np.array_equal(ranks, np.arange(1, len(ranks) + 1))
    if is_count and 1 < len(ranks) <= MOST_GROUPS:
        warn(
            f"column {name!r} counts from 1 to {len(ranks)}, as in a list of the best candidates "
            "of each probe: these impostor pairs are the most alike and no sample of all, so FAR "
            "is too high at every threshold; give the scores of all comparisons"
        )


def warn_of_decisions(scores):
    """Warn of scores, NaN where missing, that have only two values."""
    if np.size(scores) < FEWEST or len(_distinct(np.ravel(scores)[:1000])) > 2:
        return
    distinct = _distinct(scores)
    if len(distinct) == 2:
        warn(
            f"the scores have only two values, {distinct[0]:g} and {distinct[1]:g}, as decisions "
            "have: so there is only one threshold, with one FAR and one FRR; give the scores on "
            "which the decisions rest"
        )


def _distinct(scores):
    """Return the different scores that are not missing."""
    return np.unique(scores[~np.isnan(scores)])


def warn_of_probabilities(rows, contents):
    """Warn of rows that are all nonnegative and sum to 1.

    Parameters
    ----------
    rows : array, (row, column)
    contents : str
        What they should be, for the message.
    """
    for some in (rows[:FEWEST], rows):
        if len(some) < FEWEST or not (some >= 0).all():
            return
        if np.abs(some.sum(axis=1, dtype=float) - 1).max() > SLACK:
            return
    warn(
        f"all {len(rows):,} rows of {contents} sum to 1 and contain nothing below 0: they look "
        "like probabilities of classes, as after a softmax; give what the network computes before"
    )
