"""The smallest mutual information that a data set can show."""

import numpy as np

DISTINCT = 4.0**2  # squared standard errors: two to be called detected, the rest for the chance of the data
MOST_ROWS = 2000  # images from which the effective dimension is taken


def smallest_detectable(x: np.ndarray, person: np.ndarray, n_classes: int, train_share: float) -> float:
    """The true mutual information (nats) from which a held-out estimate exceeds two standard errors in most data sets.

    Derived for Gaussian classes that differ in their means, each estimated from the training people: of the
    information I a linear critic keeps I² / (I + N/2) on new people, where N = (K - 1) d / n_train is the noise
    of the means, and its standard error is sqrt(2 · kept / n). Kept = 4 standard errors, so kept = 2 · 4² / n,
    is solved for I. n counts independent images (images over the design effect of people), d independent
    directions (participation ratio of the covariance). Simulated, 38 of 40 data sets with that much show it,
    18 of 40 with half of it and all with twice as much (data/representation_checks.csv, `detection`).

    x: (n, d); person: (n,) codes; train_share: of the images that a network is trained on.
    """
    n = independent_images(x, person)
    noise = (n_classes - 1) * independent_directions(x, person) / (train_share * n)
    return float(DISTINCT / n + np.sqrt((DISTINCT / n) ** 2 + DISTINCT * noise / n))


def independent_images(x: np.ndarray, person: np.ndarray) -> float:
    """n / (1 + (m - 1) ρ): ρ is the share of variance between people, m the mean size of an image's person."""
    counts = np.bincount(person)
    n, n_people = len(x), len(counts)
    if n == n_people:
        return float(n)
    order = np.argsort(person, kind="stable")
    sums = np.add.reduceat(x[order], np.cumsum(counts) - counts, axis=0, dtype=np.float64)
    means, centre = sums / counts[:, None], sums.sum(0) / n
    between = float(counts @ np.square(means - centre).sum(1))
    within = float(np.square(x - means[person].astype(x.dtype)).sum(dtype=np.float64))
    size = (n - np.square(counts).sum() / n) / max(n_people - 1, 1)
    of_images = within / (n - n_people)
    of_people = max(0.0, (between / max(n_people - 1, 1) - of_images) / size)
    share = of_people / (of_people + of_images)
    return float(n / (1 + (np.square(counts).sum() / n - 1) * share))


def independent_directions(x: np.ndarray, person: np.ndarray) -> float:
    """(tr C)² / tr C² without the bias of few images (Bai & Saranadasa), one image of each person."""
    first = np.unique(person, return_index=True)[1]
    rows = first[np.linspace(0, len(first) - 1, min(len(first), MOST_ROWS)).astype(int)]
    centred = x[rows] - x[rows].mean(0)
    m = len(rows) - 1
    gram = centred @ centred.T if len(rows) < x.shape[1] else centred.T @ centred
    trace = float(np.trace(gram, dtype=np.float64)) / m
    square = float(np.square(gram).sum(dtype=np.float64)) / m**2
    unbiased = m**2 / ((m - 1) * (m + 2)) * (square - trace**2 / m)
    return float(np.clip(trace**2 / unbiased, 1, x.shape[1])) if unbiased > 0 else float(x.shape[1])
