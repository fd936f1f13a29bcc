"""Entropy, the bounds of mutual information from a critic's values, and their standard errors.

T (n, K) is the critic's value for every image and every class, z (n,) are the images' classes, and
shares (K,) those of the classes. The product of the marginals is then exact over the classes, and
needs no shuffled samples. All numbers are in nats.
"""

import numpy as np
from scipy.special import logsumexp


def donsker_varadhan(t, z, shares):
    """Donsker-Varadhan bound E T(r, z) - log E exp T(r, z'), Li & Abd-Almageed (2021), eq. 3.

    The first mean pairs an image r with its own class z, the second one with every class z',
    weighted by its share. Returns the bound and its linear terms (n,), whose mean is the bound.
    """
    joint = t[np.arange(len(z)), z]
    log_marginal = logsumexp(t, axis=1, b=shares)  # log of the mean over z', of each image
    log_mean = logsumexp(log_marginal) - np.log(len(z))
    value = joint.mean() - log_mean
    marginal_terms = np.exp(log_marginal - log_mean) - 1
    terms = value + (joint - joint.mean()) - marginal_terms
    return float(value), terms


def self_normalised(t, z, shares):
    """Terms (n,) of the bound SN = E T(r, z) - E log sum_k p_k exp T(r, k).

    Each is the log of the probability that T implies for the image's class, over the class's share.
    Adding a function of r alone to T changes none.
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
