"""Whole score distributions from the same pairs: moments and histograms of every column."""

import numpy as np

from frkit.engine.rates import curves, ratio
from frkit.engine.tally import Tally, sums_of


def moments_and_histogram(tally: Tally, kind: str, edges):
    """Mean, sd (ddof 0), total weight (column, curve) and histogram (column, bin, curve).

    kind : "genuine" or "impostor". No chunk of pairs crosses an edge.
    """
    n_groups = tally.n_groups
    if kind == "genuine":
        pairs = tally.genuine
        sums = tally.genuine_sums
        totals = tally.genuine_totals
    else:
        pairs = tally.impostors
        sums = tally.impostor_sums
        totals = tally.totals

    def total(sums):
        return curves(sums.sum(0), n_groups, 0).T  # (column, curve)

    kept = total(sums)
    middle = float(pairs.score.mean())  # around which squares lose no digits
    distance = pairs.score.astype(float) - middle
    n_cells = sums.shape[1]
    first = ratio(total(sums_of(pairs, n_cells, distance)), kept)
    second = ratio(total(sums_of(pairs, n_cells, distance**2)), kept)
    infinity = tally.upper.dtype.type(np.inf)
    lowest = np.nextafter(tally.upper[:-1], infinity)
    bins = np.searchsorted(edges, lowest, "right") - 1  # of all chunks but the first
    bins = np.append(0, np.clip(bins, 0, len(edges) - 2))
    binned = np.zeros((len(edges) - 1, *sums.shape[1:]))
    np.add.at(binned, bins, sums)
    histogram = np.moveaxis(curves(binned, n_groups, 1), 2, 0)
    return {
        "total": curves(totals, n_groups, 0).T,
        "mean": middle + first,
        "sd": np.sqrt(np.maximum(second - first**2, 0)),
        "histogram": ratio(histogram, kept[:, None]),
    }
