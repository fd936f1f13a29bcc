"""The variance of FRR over new images of the same people, on paper: what counts of pairs and couples of pairs give."""

import numpy as np
import pytest

from frkit.intervals.influence import THESE_PEOPLE, Sums, genuine_part


def variance_of(indicators):
    """Variance of FRR at a fixed threshold; one matrix for each person, 1 where a pair of images is rejected."""
    person = np.repeat(np.arange(len(indicators)), [len(one) for one in indicators])
    rejected = np.concatenate([one.sum(1) for one in indicators]).astype(float)
    genuine = np.concatenate([np.full(len(one), len(one) - 1.0) for one in indicators])
    pair_weight = np.array([2 / len(one) / (len(one) - 1) for one in indicators])
    none, every, nobody = np.zeros((len(person), 2)), np.ones((len(person), 2)), np.zeros(len(person), int)
    sums = Sums(none, every, rejected, genuine, person, nobody, np.ones((2, 2)), np.zeros((2, 2)), pair_weight)
    return genuine_part(sums, np.ones((1, 2)), THESE_PEOPLE).own[0]


def test_three_images():
    path = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])  # two of three pairs rejected, which share an image
    # E[r] + E[s] = 2 + 2; θ² between (2/3)² and s/M = 2/6: the middle is 7/18; (4 - 9 * 7/18) / 3²
    assert variance_of([path]) == pytest.approx((4 - 9 * 7 / 18) / 9)


def test_two_images_are_a_binomial():
    lost = [np.array([[0, x], [x, 0]]) for x in (1, 0, 0, 1, 0)]
    assert variance_of(lost) == pytest.approx(0.4 * 0.6 / 5)


def test_people_of_two_images_share_with_thirty_others():
    """One pair is rejected, that of two images: θ = 1/31, σ = θ² = 0, and Var = Σ m_k θ / (31 m_k)²."""
    people = [np.zeros((4, 4), int)] * 30 + [1 - np.eye(2, dtype=int)]
    assert variance_of(people) == pytest.approx((30 / 6 + 1) / 31**3)


def test_people_of_two_images_have_a_rate_of_their_own():
    """Fifteen of thirty people lose all of six pairs, and ten of two images their one: θ² is θ but for its noise.

    Of those thirty θ = σ = 1/2, θ² = 1/2 - 1/60. The rate of all is 25/40, 5/4 times theirs, and so are σ and θ².
    """
    every, two = 1 - np.eye(4, dtype=int), 1 - np.eye(2, dtype=int)
    found = variance_of([every] * 15 + [0 * every] * 15 + [two] * 10)
    apart = 5 / 4 / 60  # θ - θ²
    assert found == pytest.approx((30 * (6 + 24) * apart / 6**2 + 10 * apart) / 40**2)
