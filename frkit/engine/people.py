"""What each image adds to the data's error rates: the sums that intervals are made of.

A row is an image under its labels. A point is a threshold, or, for the AUC, every pair. A member is
a person in a group: a person whose images have several labels is several members. The last group
means "in no group".
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from frkit.engine.compared import Compared, both_orders, couples, members_of_rows
from frkit.engine.rates import (
    false_acceptance,
    false_rejection,
    number_above,
    number_up_to,
    ratio,
    sums_of_errors,
    thresholds_at,
)
from frkit.engine.tally import PLACES, Pairs, Tally


class Points(NamedTuple):
    """Sums at some points: thresholds, or for 1 - AUC all pairs.

    accepted : (point, row, group of the partner) impostor weight. rejected, rejected_within :
    (point, row) genuine weight, of all pairs, and of those whose two images are in one group.
    square, cross : (point, group, group) over pairs of people, of the squares of what two have
    accepted together and of its products with the weight of all their pairs. At points of groups,
    which concern pairs within a group, the dims of groups are missing: (row,) and (group,).
    """

    accepted: np.ndarray
    rejected: np.ndarray
    rejected_within: np.ndarray
    square: np.ndarray
    cross: np.ndarray


def errors_at(tally: Tally, compared: Compared, thresholds) -> Points:
    """What each row adds to FAR and FRR at thresholds."""
    impostors, genuine = kinds_of_data(tally)
    n_accepted = number_above(impostors, thresholds)
    n_rejected = number_up_to(genuine, thresholds)
    return _points(tally, compared, impostors, genuine, n_accepted, n_rejected)


def errors_within_groups(tally: Tally, compared: Compared, thresholds) -> Points:
    """The same where each group has a threshold: what each row adds to the rates of its group."""
    impostors, genuine = kinds_of_data(tally)
    own_thresholds = np.append(thresholds, np.nan)  # no pair errs at NaN
    group = tally.protocol.group
    rejected = genuine.select(genuine.score <= own_thresholds[group[genuine.row]])
    lowest = np.nanmin(own_thresholds) if np.isfinite(own_thresholds).any() else np.inf
    impostors = impostors.select(slice(number_above(impostors, lowest)))
    group_of_row, group_of_col = group[impostors.row], group[impostors.col]
    accepted = impostors.select(
        (group_of_row == group_of_col) & (impostors.score > own_thresholds[group_of_row])
    )
    return _within_groups(tally, _sums_of_all(tally, compared, accepted, rejected))


def disorder(tally: Tally, compared: Compared) -> tuple[Points, float]:
    """What each row adds to 1 - AUC, as a single point, and 1 - AUC."""
    impostors, genuine, rate = _lost(*kinds_of_data(tally))
    return _sums_of_all(tally, compared, impostors, genuine), rate


def area_above(tally: Tally) -> float:
    """1 - AUC of the data."""
    _, _, rate = _lost(*kinds_of_data(tally))
    return float(rate)


def disorder_within_groups(tally: Tally, compared: Compared) -> tuple[Points, np.ndarray]:
    """The same of the groups, and 1 - AUC of each."""
    sums = []
    rates = np.empty(tally.n_groups)
    for group in range(tally.n_groups):
        within = (pairs.select(pairs.cell == group) for pairs in kinds_of_data(tally))
        impostors, genuine, rates[group] = _lost(*within)
        sums.append(_sums_of_all(tally, compared, impostors, genuine))
    whole = Points(*(np.sum(values, 0) for values in zip(*sums)))
    return _within_groups(tally, whole), rates


def kinds_of_data(tally: Tally) -> tuple[Pairs, Pairs]:
    """Both kinds of pairs without images with themselves, which the data do not contain."""
    genuine = tally.genuine
    if tally.protocol.has_copies:
        genuine = genuine.select(genuine.stands_for > 0)
    return tally.impostors, genuine


def _lost(impostors: Pairs, genuine: Pairs):
    """The pairs with what they add to 1 - AUC as their weights, and 1 - AUC.

    An impostor pair counts the share of genuine weight below it, a genuine pair the share of
    impostor weight above it, and half of what has the same score.
    """
    below = _share_before(genuine.score, genuine.weight, impostors.score)
    above = _share_before(-impostors.score, impostors.weight, -genuine.score)
    lost = above * genuine.weight
    rate = ratio(lost.sum(), genuine.weight.sum())
    return impostors._replace(weight=below * impostors.weight), genuine._replace(weight=lost), rate


def _share_before(rising, weight, scores):
    """The share of weight before each of some scores, with half of that at the score."""
    so_far = np.append(0, np.cumsum(weight))
    first, last = (so_far[np.searchsorted(rising, scores, side)] for side in ("left", "right"))
    return ratio((first + last) / 2, so_far[-1])


def sums_of_rows(pairs: Pairs, n_errors, weight):
    """Sums over the pairs of each row that err, (point, row): a pair is in both of its rows."""
    n_rows = len(pairs.row_counts)
    return sum(sums_of_errors(n_errors, weight, rows, n_rows) for rows in (pairs.row, pairs.col))


def _sums_of_all(tally, compared, impostors, genuine) -> Points:
    """Sums over all of these pairs, as a single point."""
    n_pairs = [len(impostors.row)], [len(genuine.row)]
    return _points(tally, compared, impostors, genuine, *n_pairs)


def _points(tally, compared, impostors, genuine, n_accepted, n_rejected) -> Points:
    """Sums of the weights of the first impostor and genuine pairs.

    n_accepted, n_rejected : (point,) how many of each kind.
    """
    impostors = impostors.select(slice(max(n_accepted, default=0)))
    group = tally.protocol.group
    n_groups = tally.n_groups + 1
    row, col = impostors.row, impostors.col
    n_places = len(group) * n_groups
    accepted = sum(
        sums_of_errors(
            n_accepted, impostors.weight, image.astype(int) * n_groups + group[partner], n_places
        )
        for image, partner in ((row, col), (col, row))
    )
    within = genuine.weight * (genuine.cell < tally.n_groups)
    sums_of_genuine = (sums_of_rows(genuine, n_rejected, each) for each in (genuine.weight, within))
    values_of_rows = accepted.reshape(-1, len(group), n_groups), *sums_of_genuine
    sums_of_groups = []
    for values in _squares_and_products(tally, compared, impostors):
        sums = sums_of_errors(n_accepted, values, group[row] * n_groups + group[col], n_groups**2)
        sums_of_groups.append(both_orders(sums.reshape(-1, n_groups, n_groups)))
    # in float32, because these are the largest tables
    return Points(*(sums.astype(np.float32) for sums in values_of_rows), *sums_of_groups)


def _squares_and_products(tally: Tally, compared: Compared, impostors: Pairs):
    """What each impostor pair adds to the sums over two people, of squares and of products.

    The square (t + w)² of the weight of two people rises by w (2 t + w) with each pair of theirs.
    Where pairs were thinned, the squares contain the variance of thinning, as the sums of rows do
    twice: FAR's variance, which is the difference of the two, contains it once.
    """
    weight = impostors.weight
    member = members_of_rows(tally.protocol)
    first, second = member[impostors.row], member[impostors.col]
    weight_of_couple = pd.Series(weight).groupby(
        couples(first, second, member.max() + 1), sort=False
    )
    before = weight_of_couple.cumsum().to_numpy() - weight  # of the pairs that err more
    squares = weight * (2 * before + weight)
    return squares, weight * compared.weight_of_pairs(first, second)


def _within_groups(tally: Tally, points: Points) -> Points:
    """Sums over pairs within groups, from those of a single point."""
    group = tally.protocol.group
    has_group = group < tally.n_groups
    accepted = np.where(has_group, points.accepted[0, np.arange(len(group)), group], 0)
    within = points.rejected_within[0]
    sums_of_groups = (np.diagonal(sums[0])[:-1] for sums in (points.square, points.cross))
    return Points(accepted, within, within, *sums_of_groups)


def data_curve(tally: Tally) -> dict[str, np.ndarray]:
    """The data's own curve at PLACES levels of the FAR, from the highest threshold down.

    threshold, far_all : (place,). far : (place, group, group). frr : (place, group or all).
    """
    n_pairs = float(tally.impostors.stands_for.sum(dtype=float))
    levels = np.geomspace(1 / max(n_pairs, 2), 0.999, PLACES)
    thresholds = np.unique(thresholds_at(tally, levels, tally.n_groups, 1))[::-1]
    far_of_cells, [far_of_all] = false_acceptance(tally, thresholds[None])
    [frr_of_groups], [frr_of_all] = false_rejection(tally, thresholds[None])
    cells = tally.protocol.cells_of_groups
    far_of_groups = np.where(cells >= 0, far_of_cells[0][:, cells], 0.0)
    frr_of_curves = np.column_stack([frr_of_groups[:, :-1], frr_of_all])
    return {
        "threshold": thresholds,
        "far": np.nan_to_num(far_of_groups),
        "far_all": far_of_all,
        "frr": np.nan_to_num(frr_of_curves),
    }
