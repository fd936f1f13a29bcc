"""Whole score distributions from the same pairs: moments and histograms of every column."""

import numpy as np

from frkit.engine.rates import Tally, curves, ratio


def impostor_distribution(tally: Tally, edges: np.ndarray) -> dict[str, np.ndarray]:
    """Mean, sd (ddof 0), total weight (column, curve) and histogram (column, bin, curve)."""
    impostors, n_groups = tally.impostors, tally.n_groups
    kept = curves(tally.sums.sum(0), n_groups, 0).T
    middle = float(impostors.score.mean())
    beside = impostors.score.astype(float) - middle
    first, second = (
        ratio(curves(impostors.sums(beside**power).sum(0), n_groups, 0).T, kept)
        for power in (1, 2)
    )
    lowest = np.nextafter(impostors.upper[:-1], impostors.upper.dtype.type(np.inf))
    bins = np.searchsorted(edges, lowest, "right") - 1  # of all chunks but the first
    bins = np.append(0, np.clip(bins, 0, len(edges) - 2))
    weight = np.zeros((len(edges) - 1, *tally.sums.shape[1:]))
    np.add.at(weight, bins, tally.sums)
    histogram = np.moveaxis(curves(weight, n_groups, 1), 2, 0)
    return {
        "total": curves(tally.totals, n_groups, 0).T,
        "mean": middle + first,
        "sd": np.sqrt(np.maximum(second - first**2, 0)),
        "histogram": ratio(histogram, kept[:, None]),
    }


def genuine_distribution(tally: Tally, edges: np.ndarray) -> dict[str, np.ndarray]:
    """The same of the genuine pairs."""
    genuine, n_groups = tally.genuine, tally.n_groups
    last = len(edges) - 2
    bins = np.clip(np.searchsorted(edges, genuine.score, "right") - 1, 0, last)
    n_bins, n_kinds = len(edges) - 1, genuine.n_groups
    slot = bins * n_kinds + genuine.group
    middle = float(genuine.score.mean())
    beside = genuine.score.astype(float) - middle
    binned, powers = [], []
    for column in range(genuine.protocol.n_columns):
        weight = genuine.weights(slice(column, column + 1))[0]
        binned.append(np.bincount(slot, weight, n_bins * n_kinds).reshape(n_bins, n_kinds))
        powers.append(
            [np.bincount(genuine.group, weight * beside**p, n_kinds) for p in range(3)]
        )
    binned = curves(np.array(binned), n_groups, 2)
    total, first, second = np.moveaxis(curves(np.array(powers), n_groups, 2), 1, 0)
    first, second = ratio(first, total), ratio(second, total)
    return {
        "total": total,
        "mean": middle + first,
        "sd": np.sqrt(np.maximum(second - first**2, 0)),
        "histogram": ratio(binned, total[:, None]),
    }
