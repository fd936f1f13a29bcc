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
        ratio(curves(impostors.sums(beside**power).sum(0), n_groups, 0).T, kept) for power in (1, 2)
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
    everything = np.array([np.inf])
    middle = float(genuine.score.mean())
    beside = genuine.score.astype(float) - middle
    total, first, second = (
        curves(genuine.sums(everything, "right", beside**power)[0], n_groups, 0).T
        for power in range(3)
    )
    first, second = ratio(first, total), ratio(second, total)
    binned = curves(genuine.sums(np.append(edges[1:-1], np.inf), "left"), n_groups, 1)
    return {
        "total": total,
        "mean": middle + first,
        "sd": np.sqrt(np.maximum(second - first**2, 0)),
        "histogram": ratio(np.moveaxis(binned, 2, 0), total[:, None]),
    }
