"""Variances over draws of images against full enumeration: every data set, and every resample of each."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from engine_cases import FAR, people

import frkit as fk
from frkit.engine.pairs import Genuine, Pairs
from frkit.engine.protocol import Protocol, Side
from frkit.engine.variance import genuine_variance, impostor_variance

KINDS = (0, 1, 2)  # kinds of images that an identity can show
CHANCE = np.array([0.5, 0.3, 0.2])
GENUINE = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1]])  # 1 where a pair of these kinds is rejected
IMPOSTOR = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1]])  # 1 where it is accepted


def data_sets(n):
    """All draws of n images, with their probability."""
    return [(images, prod(CHANCE[list(images)])) for images in product(KINDS, repeat=n)]


def resamples(n):
    """All counts of n draws with replacement from n images, with their probability."""
    counts = [w for w in product(range(n + 1), repeat=n) if sum(w) == n]
    return [(np.array(w), factorial(n) / prod(factorial(x) for x in w) / n**n) for w in counts]


def moments(values):
    """Mean and variance of (value, probability)."""
    mean = sum(value * p for value, p in values)
    return mean, sum(p * (value - mean) ** 2 for value, p in values)


def genuine_of(indicators, n):
    """Genuine pairs of one identity per matrix: score 0 where rejected, else 1."""
    row, col = np.triu_indices(n, 1)
    pairs = [(1.0 - x[row, col], k * n + row, k * n + col) for k, x in enumerate(indicators)]
    score, row, col = (np.concatenate([pair[part] for pair in pairs]) for part in range(3))
    order = np.argsort(score, kind="stable")
    parts = Pairs(score, row, col, 0 * row, np.ones(len(row))).take(order)
    return Genuine(parts, None, None, None, np.array([[float(len(row))]]))


def variance_of(indicators, n):
    identity = np.repeat(np.arange(len(indicators)), n)
    return genuine_variance(genuine_of(indicators, n), identity, np.array([0.5]))[0]


def rejected(images):
    return GENUINE[np.ix_(images, images)]


def test_genuine_variance_is_without_bias_from_four_images_on():
    off = np.triu_indices(4, 1)
    _, truth = moments([(rejected(images)[off].mean(), p) for images, p in data_sets(4)])
    raw = sum(p * _unclipped(rejected(images), 4) for images, p in data_sets(4))
    assert truth == pytest.approx(raw, rel=1e-12)
    # both images of kind 0 or 2, .7 each: (6 (.49) + 24 (.343) + 6 (.2401)) / 36 - .49²
    assert truth == pytest.approx(0.11025)


def _unclipped(x, n):
    """The estimate of one identity beside two that reject half of the pairs: no clip at 0 hides a bias."""
    half = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])[:n, :n]
    return 9 * variance_of([x, half, half], n) - 2 * variance_of([half], n)


def test_three_images_on_paper():
    path = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])  # two of three pairs rejected, which share an image
    # E[r] + E[s] = 2 + 2; θ² between (2/3)² and s/M = 2/6: the middle is 7/18; (4 - 9 * 7/18) / 3²
    assert variance_of([path], 3) == pytest.approx((4 - 9 * 7 / 18) / 9)


def test_two_images_are_a_binomial():
    lost = [np.array([[0, x], [x, 0]]) for x in (1, 0, 0, 1, 0)]
    assert variance_of(lost, 2) == pytest.approx(0.4 * 0.6 / 5)


def test_identities_of_two_images_share_with_thirty_others():
    """One pair is rejected, that of two images: θ = 1/31, σ = θ² = 0, and Var = Σ m_k θ / (31 m_k)²."""
    identity = np.repeat(np.arange(31), [4] * 30 + [2])
    row, col = np.concatenate([np.triu(np.ones((4, 4)), 1).nonzero() for _ in range(30)], axis=1)
    start = np.repeat(4 * np.arange(30), 6)
    row, col = np.append(row + start, 120), np.append(col + start, 121)
    score = np.append(np.ones(180), 0.0)[::-1]
    factor = np.append(np.full(180, 1 / 6), 1.0)[::-1]
    pairs = Pairs(score, row[::-1], col[::-1], 0 * row, factor)
    found = Genuine(pairs, None, None, None, np.array([[31.0]]))
    assert genuine_variance(found, identity, np.array([0.5]))[0] == pytest.approx((30 / 6 + 1) / 31**3)


@pytest.mark.parametrize("n", [2, 3])
def test_replicates_repeat_the_part_of_pairs_three_times(n):
    """E Var* = a L + (2a + a²) D with a = 1 - 1/n, over every data set and every resample of two identities."""
    mean = CHANCE @ IMPOSTOR @ CHANCE
    own = IMPOSTOR @ CHANCE - mean
    of_images = 2 * (CHANCE @ own**2) / n
    of_pairs = CHANCE @ (IMPOSTOR - mean - own[:, None] - own) ** 2 @ CHANCE / n**2
    _, truth = moments(
        [(IMPOSTOR[np.ix_(x, y)].mean(), p * q) for (x, p), (y, q) in product(data_sets(n), data_sets(n))]
    )
    a = 1 - 1 / n
    assert truth == pytest.approx(of_images + of_pairs)
    assert _expected_spread(n) == pytest.approx(a * of_images + (2 * a + a**2) * of_pairs)


def _expected_spread(n):
    """E Var* of FAR* between two identities: the mean over data sets of the variance over resamples."""
    draws = resamples(n)
    weights, chance = np.array([w for w, _ in draws]) / n, np.array([p for _, p in draws])
    total = 0.0
    for (x, p), (y, q) in product(data_sets(n), data_sets(n)):
        far = weights @ IMPOSTOR[np.ix_(x, y)] @ weights.T
        total += p * q * (chance @ far**2 @ chance - (chance @ far @ chance) ** 2)
    return total


@pytest.mark.parametrize("n", [2, 3, 10])
def test_impostor_variance_finds_both_parts_of_the_spread(n):
    """40 identities: pairs weigh 1/780/n²; a spread made of L and D gives L + D, and less than D gives D."""
    identity = np.repeat(np.arange(40), n)
    ones = np.ones((40 * n, 1), np.uint8)
    side = Side(identity, identity.astype(np.int32), np.zeros(40 * n, np.uint16), ones, np.full(40 * n, 1 / n))
    protocol = Protocol(side, side, True, np.zeros((1, 1), np.int16))
    far, a = np.array([0.01, 0.1]), 1 - 1 / n
    of_pairs, of_images = far * (1 - far) / (780 * n**2), np.array([1e-5, 0.0])
    spread = a * of_images + (2 * a + a**2) * of_pairs
    np.testing.assert_allclose(impostor_variance(protocol, far, spread), of_images + of_pairs)
    np.testing.assert_allclose(impostor_variance(protocol, far, 0.9 * of_pairs), of_pairs)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize(("sizes", "ties"), [("equal", False), ("unequal", True), ("pairs", False)])
def test_rates_of_the_data_at_the_thresholds_of_replicates(sizes, ties):
    scores = fk.score_tensor(people(sizes, ties=ties))
    ev = fk.evaluate(scores, far=FAR, resampling=fk.Resampling("image", n=5, seed=3))
    matrix, who = scores.values, scores.probe_identity.values
    i, j = np.triu_indices(len(who), 1)
    score, genuine = matrix[i, j], who[i] == who[j]
    many = {k: np.sum(who == k) for k in np.unique(who)}
    n_i, n_j = (np.array([many[k] for k in who[part]], float) for part in (i, j))
    weight = np.where(genuine, 2 / (n_i * (n_i - 1)).clip(1), 1 / (n_i * n_j))
    for b in ev["replicates"].replicate.values:
        for level in range(len(FAR)):
            at = ev["replicates"].to_dataset().isel(replicate=b, far_level=level)
            accepted, lost = ~genuine & (score > float(at.threshold)), genuine & (score <= float(at.threshold))
            np.testing.assert_allclose(at.far_data, weight[accepted].sum() / weight[~genuine].sum(), atol=1e-12)
            np.testing.assert_allclose(at.frr_data, weight[lost].sum() / weight[genuine].sum(), atol=1e-12)
