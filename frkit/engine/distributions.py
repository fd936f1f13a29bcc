"""Whole score distributions from the same pairs: moments and histograms of every column."""

import numpy as np

from frkit.engine.rates import curves, ratio
from frkit.engine.tally import Tally


def moments_and_histogram(tally: Tally, kind: str, edges):
    """Mean, sd (ddof 0), total weight (column, curve) and histogram (column, bin, curve).

    kind : "genuine" or "impostor". As in NumPy a bin contains its lower edge, the last one both.
    """
    n_groups = tally.n_groups
    if kind == "genuine":
        pairs = tally.genuine
        totals = tally.genuine_totals
        ends = np.searchsorted(pairs.score, edges[1:-1], "left")
    else:
        pairs = tally.impostors
        totals = tally.totals
        ends = len(pairs.score) - np.searchsorted(pairs.score[::-1], edges[-2:0:-1], "left")
    n_pairs = len(pairs.score)
    n_cells = len(totals)
    sums = curves(pairs.sums(np.append(ends, n_pairs), n_cells), n_groups, 1)
    histogram = sums if kind == "genuine" else sums[::-1]  # (bin, curve, column)
    kept = histogram.sum(0)

    def mean(values):
        [sums] = pairs.sums([n_pairs], n_cells, values)
        return ratio(curves(sums, n_groups, 0), kept)

    middle = float(pairs.score.mean())  # around which squares lose no digits
    distance = pairs.score.astype(float) - middle
    first = mean(distance)
    variance = np.maximum(mean(distance**2) - first**2, 0)
    return {
        "total": curves(totals, n_groups, 0).T,
        "mean": (middle + first).T,
        "sd": np.sqrt(variance).T,
        "histogram": np.moveaxis(ratio(histogram, kept), 2, 0),
    }
