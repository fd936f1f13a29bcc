"""Two lower bounds of mutual information, from T (n, K) of images and classes: NumPy arrays only."""

import numpy as np


def pointwise(t: np.ndarray, z: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Terms (n,) of SN = E[T(r, z)] - E log sum_k p_k exp T(r, k): log of the class's probability by T over p_z."""
    return t[np.arange(len(z)), z] - log_marginal(t, shares)


def log_marginal(t: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """log sum_z p_z exp T(r, z) of each image, (n,)."""
    peak = t.max(axis=1)
    return peak + np.log(np.exp(t - peak[:, None]) @ shares)


def donsker_varadhan(t: np.ndarray, z: np.ndarray, shares: np.ndarray) -> tuple[float, np.ndarray]:
    """DV = E[T(r, z)] - log E exp T over the product of marginals (eq. 3), and its linear terms (n,) with that mean."""
    joint, marginal = t[np.arange(len(z)), z], log_marginal(t, shares)
    peak = marginal.max()
    weight = np.exp(marginal - peak)
    value = joint.mean() - peak - np.log(weight.mean())
    return float(value), value + (joint - joint.mean()) - (weight / weight.mean() - 1)


def entropy(shares: np.ndarray) -> float:
    """Shannon's entropy in nats."""
    return float(-(shares * np.log(shares)).sum())
