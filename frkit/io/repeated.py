"""Pairs that a list contains twice: which rows repeat one, and which contradict each other."""

import numpy as np
import pandas as pd

from frkit.base import warn

FEWEST_NAMES = 3  # of images that are compared with themselves
DISTINCT = 0.9  # share of scores that differ from all others, from which on equal ones are copies


def repeated_rows(sides, values):
    """Return the rows whose two names meet several times, in either direction.

    Parameters
    ----------
    sides : Sides
    values : dict of array, (pair,)
        Scores, and whether the pair is genuine where that is known.

    Returns
    -------
    pd.DataFrame
        The values with numbers of the ordered pair, `pair`, and of the other one, `either_way`.
    """
    either_way = pd.Series(sides.either_way())
    rows = np.flatnonzero(either_way.duplicated(keep=False))
    columns = values | {"pair": sides.pair(), "either_way": either_way.to_numpy()}
    return pd.DataFrame({name: column[rows] for name, column in columns.items()}, index=rows)


def differing_rows(repeated):
    """Return two rows of one pair with different values; none where there are no such.

    repeated : pd.DataFrame of values, with a number of the `pair`
    """
    distinct = repeated.drop_duplicates()
    differing = distinct["pair"][distinct["pair"].duplicated()]
    return distinct.index[distinct["pair"].isin(differing[:1])][:2]


def first_of_each(repeated, n_pairs):
    """Return which rows are the first of their pair with these values; a warning counts others.

    Those with another score of the same images are comparisons of their own. So are pairs with
    exchanged sides, where some scores depend on which image is the probe.

    Parameters
    ----------
    repeated : pd.DataFrame
        See `repeated_rows`.
    n_pairs : int
        Number of all rows.
    """
    keep = np.ones(n_pairs, bool)
    unordered = repeated.drop(columns="pair")
    have_one_score = unordered.drop_duplicates()["either_way"].is_unique
    is_again = unordered.duplicated() if have_one_score else repeated.duplicated()
    if is_again.any():
        warn(
            f"{is_again.sum():,} pairs occur twice with the same score, perhaps with exchanged "
            "sides: each counts once"
        )
    keep[repeated.index[is_again]] = False
    return keep


def are_of_themselves(sides, score):
    """Return whether names that are paired with themselves always have one score: images."""
    scores = np.asarray(score)[sides.is_same()]
    return len(scores) >= FEWEST_NAMES and np.allclose(scores, scores[0], atol=1e-6)


def warn_of_equal_rows(people, score):
    """Warn of pairs of the same people with one score, where images have no names.

    score : (pair,). Where scores often repeat, such as whole numbers, they are equal by chance. The
    lowest and the highest do not count: they may be marks, or images compared with themselves.
    """
    pairs = pd.DataFrame({"people": people.pair(), "score": score})
    ends = pairs["score"].min(), pairs["score"].max()
    pairs = pairs[pairs["score"].between(*ends, inclusive="neither")]
    n_again = pairs.duplicated().sum()
    if n_again > 0 and pairs["score"].nunique() > DISTINCT * (len(pairs) - n_again):
        warn(
            f"{n_again:,} lines are equal to another one in people and score: they count, because "
            "they may compare other images of the same people; remove them if they are copies, or "
            "name the images"
        )
