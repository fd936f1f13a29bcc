"""Intervals from replicates, by hand."""

from statistics import NormalDist


def quantile_by_hand(values, probability):
    """Type 7: the order statistic at (n - 1) times the probability, with linear interpolation."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * probability
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def interval_by_hand(estimate, centre, replicates, method, level):
    """Algorithm 2: collect the gaps, take their quantiles, shift them to the estimate."""
    tail = (1 - level) / 2
    gaps = [replicate - centre for replicate in replicates]
    if method == "naive":
        return quantile_by_hand(replicates, tail), quantile_by_hand(replicates, 1 - tail)
    if method == "recentered":
        return estimate + quantile_by_hand(gaps, tail), estimate + quantile_by_hand(gaps, 1 - tail)
    if method == "pivotal":
        return estimate - quantile_by_hand(gaps, 1 - tail), estimate - quantile_by_hand(gaps, tail)
    mean = estimate + sum(gaps) / len(gaps)
    sd = sd_by_hand(gaps)
    return mean - NormalDist().inv_cdf(1 - tail) * sd, mean + NormalDist().inv_cdf(1 - tail) * sd


def sd_by_hand(values):
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
