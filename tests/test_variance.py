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
