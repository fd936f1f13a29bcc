"""What each image adds to the data's error rates: the sums that intervals are made of.

A row is an image under its labels. A point is a threshold, or, for the AUC, every pair. The last
group means "in no group".
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from frkit.engine.compared import Compared, both_orders, couples, numbers_of_parts
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
    The others : (point, group, group) over pairs of people. `square` and `cross`: of the squares of
    what is accepted of their pairs between two groups, and of its products with the weight of these
    pairs. `square_all` and `cross_all`: of its products with what is accepted of all their pairs,
    and with the weight of all; `all_cross`: of the weight between the groups with what is accepted
    of all. At points of groups, which concern pairs within a group, the dims of groups are missing:
    (row,) and (group,), and so are the last three.
    """

    accepted: np.ndarray
    rejected: np.ndarray
    rejected_within: np.ndarray
    square: np.ndarray
    cross: np.ndarray
    square_all: Any = None
    cross_all: Any = None
    all_cross: Any = None


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
    sums_of_groups = _sums_over_people(tally, compared, impostors, n_accepted)
    # in float32, because these are the largest tables
    return Points(*(sums.astype(np.float32) for sums in values_of_rows), *sums_of_groups)


def _sums_over_people(tally: Tally, compared: Compared, impostors: Pairs, n_accepted):
    """Sums over pairs of people at each point, (point, group, group): see `Points`.

    Where pairs were thinned, the squares contain the variance of thinning, as the sums of rows do
    twice: FAR's variance, which is the difference of the two, contains it once.
    """
    protocol = tally.protocol
    n_groups = tally.n_groups + 1
    person, group = protocol.person, protocol.group
    row, col = impostors.row, impostors.col
    couple = couples(person[row], person[col], int(person.max()) + 1)
    couple_of_pair, accepted_couples = pd.factorize(couple)  # those who are accepted first
    number, weight = compared.parts(np.sort(accepted_couples))
    couple_of_part = pd.Index(accepted_couples).get_indexer(number // n_groups**2)
    order = np.argsort(couple_of_part, kind="stable")
    order = order[couple_of_part[order] >= 0]
    number, weight, couple_of_part = number[order], weight[order], couple_of_part[order]
    cell = number % n_groups**2
    part_of_pair = pd.Index(number).get_indexer(
        numbers_of_parts(protocol, couple, group[row], group[col])
    )
    weight_of_couple = np.bincount(couple_of_part, weight)[couple_of_part]
    n_couples = np.append(0, np.maximum.accumulate(couple_of_pair) + 1)  # in the first pairs
    tables = np.zeros((5, len(n_accepted), n_groups, n_groups))
    for point, n in enumerate(n_accepted):
        m = np.searchsorted(couple_of_part, n_couples[n])
        accepted = np.bincount(part_of_pair[:n], impostors.weight[:n], m)
        accepted_of_couple = np.bincount(couple_of_part[:m], accepted)[couple_of_part[:m]]
        products = (
            accepted**2,
            accepted * weight[:m],
            accepted * accepted_of_couple,
            accepted * weight_of_couple[:m],
            weight[:m] * accepted_of_couple,
        )
        for table, product in zip(tables, products):
            sums = np.bincount(cell[:m], product, n_groups**2)
            table[point] = both_orders(sums.reshape(n_groups, n_groups))
    return tables


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
