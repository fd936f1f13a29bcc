"""Whole score distributions from the same pairs: moments and histograms of every column."""

import numpy as np

from frkit.engine.rates import Tally, curves, ratio


def distribution(tally: Tally, kind: str, edges: np.ndarray) -> dict[str, np.ndarray]:
    """Mean, sd (ddof 0), total weight (column, curve) and histogram (column, bin, curve).

    kind : "genuine" or "impostor". No chunk of pairs crosses an edge.
    """
    n_groups = tally.n_groups
    if kind == "genuine":
        pairs, sums, totals = tally.genuine, tally.genuine_sums, tally.genuine_totals
    else:
        pairs, sums, totals = tally.impostors, tally.impostor_sums, tally.totals
    kept = curves(sums.sum(0), n_groups, 0).T
    middle = float(pairs.score.mean())  # around which squares lose no digits
    distance = pairs.score.astype(float) - middle
    first = ratio(curves(pairs.sums(distance).sum(0), n_groups, 0).T, kept)
    second = ratio(curves(pairs.sums(distance**2).sum(0), n_groups, 0).T, kept)
    lowest = np.nextafter(tally.upper[:-1], tally.upper.dtype.type(np.inf))
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
