"""Bounds of mutual information from a critic's values, their errors, and what data can show.

T (n, K) is the critic's value for every image and every class, z (n,) are the images' classes, and
shares (K,) those of the classes. The product of the marginals is then exact over the classes, and
needs no shuffled samples. All numbers are in nats.
"""

import numpy as np
import pandas as pd
from scipy.special import logsumexp

DISTINCT = 4.0**2  # squared standard errors: two to be called detected, the rest for chance
MOST_ROWS = 2000  # most images that the effective dimension is computed from


def donsker_varadhan(t, z, shares):
    """Donsker-Varadhan bound E T(r, z) - log E exp T(r, z'), Li & Abd-Almageed (2021), eq. 3.

    The first mean pairs an image r with its own class z, the second one with every class z',
    weighted by its share.
    """
    joint = t[np.arange(len(z)), z]
    log_marginal = logsumexp(t, axis=1, b=shares)  # log of the mean over z', of each image
    log_mean = logsumexp(log_marginal) - np.log(len(z))
    return float(joint.mean() - log_mean)


def self_normalised(t, z, shares):
    """Terms (n,) of the bound SN = E T(r, z) - E log sum_k p_k exp T(r, k).

    Each is the log of the probability that T implies for the image's class, over the class's share.
    Adding a function of r alone to T changes none of them.
    """
    return t[np.arange(len(z)), z] - logsumexp(t, axis=1, b=shares)


def entropy(shares):
    """Shannon's entropy."""
    return float(-(shares * np.log(shares)).sum())


def standard_error(deviation, person):
    """Standard error of a mean over images, whose deviations (n,) are dependent within people."""
    sums = np.bincount(person, weights=deviation)
    n_people = len(sums)
    variance = n_people / (n_people - 1) * np.square(sums).sum()
    return float(np.sqrt(variance) / len(deviation))


def detectable_information(x, person, n_classes, train_share):
    """The mutual information (nats) above which most estimates exceed two standard errors.

    Derived for Gaussian classes that differ in their means, each estimated from the training
    people: of the information I a linear critic keeps I² / (I + N/2) on new people, where N = (K
    - 1) d / n_train is the noise of the means, and its standard error is sqrt(2 · kept / n). Kept
    = 4 standard errors, so kept = 2 · 4² / n, is solved for I. n counts independent images
    (images over the design effect of people), d independent directions (participation ratio of
    the covariance). In simulations, this amount was detected in 38 of 40 data sets, half of it in
    18, and twice as much in all 40 (data/representation_checks.csv, `detection`). Classes that
    differ strongly in a few directions are detected earlier. Where the entropy of the attribute is
    less than I, the formula does not apply.

    x: (n, d); person: (n,) codes; train_share: of the images that a network is trained on.
    """
    n = independent_images(x, person)
    noise = (n_classes - 1) * independent_directions(x, person) / (train_share * n)
    half_kept = DISTINCT / n
    return float(half_kept + np.sqrt(half_kept**2 + half_kept * noise))


def independent_images(x, person):
    """Number of images over the design effect of people, which is at least 1.

    The design effect is the variance of a mean with people's images together over that without.
    """
    deviation = x - x.mean(0, dtype=np.float64).astype(x.dtype)
    sums = pd.DataFrame(deviation).groupby(person).sum().to_numpy()
    together = np.square(sums).sum(dtype=np.float64)
    apart = np.square(deviation).sum(dtype=np.float64)
    return float(len(x) / max(1.0, together / apart))


def independent_directions(x, person):
    """(tr C)² / tr C² from one image of each person, without the bias of few images.

    Bai & Saranadasa (1996), eq. 3.3.
    """
    _, first = np.unique(person, return_index=True)
    n_rows = min(len(first), MOST_ROWS)
    n_features = x.shape[1]
    evenly = np.linspace(0, len(first) - 1, n_rows).astype(int)
    rows = x[first[evenly]].astype(np.float64)
    m = n_rows - 1
    deviation = rows - rows.mean(0)
    products = deviation @ deviation.T / m  # has the traces of the covariance and of its square
    trace = np.trace(products)
    square = np.square(products).sum()
    factor = m**2 / ((m - 1) * (m + 2))
    unbiased_square = factor * (square - trace**2 / m)
    if unbiased_square <= 0:
        return float(n_features)
    return float(np.clip(trace**2 / unbiased_square, 1, n_features))
