"""Pairs that a list contains twice: which rows repeat one, and which contradict each other."""

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, warn
from frkit.data.sides import Sides

DISTINCT = 0.9  # share of scores that differ from all others, from which on equal rows are copies


def repeats(sides, values):
    """Return the rows that repeat an ordered pair, which are counted in a warning.

    Parameters
    ----------
    sides : Sides
    values : dict of array, (pair,)

    Returns
    -------
    again : sequence of int
    differing : sequence of int
        Two rows of a pair with different values, if there are such; `again` is empty then.
    """
    pairs = pd.DataFrame(values | {"pair": sides.pair()})
    repeated = pairs[pairs.pair.duplicated(keep=False)]
    distinct = repeated.drop_duplicates()
    differing = distinct.pair[distinct.pair.duplicated()]
    if len(differing) > 0:
        return [], distinct.index[distinct.pair == differing.iloc[0]][:2]
    again = repeated.index[repeated.pair.duplicated()]
    _warn_of_twice(len(again))
    return again, []


def _warn_of_twice(n_pairs):
    """Warn how many pairs are there again."""
    if n_pairs > 0:
        warn(f"{n_pairs:,} pairs occur twice with the same score: each counts once")


def are_turned(images, values, keep):
    """Return which rows repeat a pair with its sides exchanged, if all such have its score.

    Where some scores depend on which image is the probe, all are comparisons of their own.
    """
    first, second = np.sort([images.probe, images.reference], axis=0)
    pairs = pd.DataFrame(values | {"pair": Sides(first, second, images.names).pair()})[keep]
    is_again = pairs.pair.duplicated()
    is_turned = np.zeros(len(keep), bool)
    if is_again.any() and is_again.equals(pairs.duplicated()):
        warn(f"{is_again.sum():,} pairs occur in both directions with one score: each counts once")
        is_turned[keep] = is_again
    return is_turned


def first_of_each(images, scores, genuine):
    """Return which pairs are the first with their images and scores.

    Those with another score of the same images are comparisons of their own.

    Parameters
    ----------
    images : Sides
    scores : array, (model, pair)
    genuine : array of bool, (pair,)
    """
    values = dict(enumerate(scores)) | {"genuine": genuine}
    pairs = pd.DataFrame(values | {"pair": images.pair()})
    repeated = pairs[pairs.pair.duplicated(keep=False)]
    again = repeated.index[repeated.duplicated()]
    _warn_of_twice(len(again))
    keep = np.ones(len(genuine), bool)
    keep[again] = False
    return keep & ~are_turned(images, values, keep)


def refuse_two(sides, rows, lines, what, remedy="remove one", answers=()):
    """Refuse two rows of a pair that contradict each other."""
    first, second = rows
    pair = listed(sides.names[[sides.probe[first], sides.reference[first]]])
    where = f"lines {lines[first]} and {lines[second]}"
    raise InputError(f"the pair {pair} {what} ({where}): {remedy}", answers)


def warn_of_equal_rows(table, score):
    """Warn of rows that repeat another one in all columns, where images have no names.

    score : (pair,). Where scores often repeat, such as whole numbers, rows are equal by chance. The
    lowest and the highest do not count: they may be marks, or images compared with themselves.
    """
    score = pd.Series(np.asarray(score))
    is_inside = score.between(score.min(), score.max(), inclusive="neither")
    n_again = table[is_inside.to_numpy()].duplicated().sum()
    n_distinct = is_inside.sum() - n_again
    if n_again > 0 and score[is_inside].nunique() > DISTINCT * n_distinct:
        warn(
            f"{n_again:,} lines are equal to another one in all columns: they count, because they "
            "may compare other images of the same people; remove them if they are copies, or name "
            "the images"
        )
