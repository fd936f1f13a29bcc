"""The statistics network and its bounds: finite differences, plain loops, known truths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frkit.papers.rlb.bounds import donsker_varadhan, entropy, self_normalised
from frkit.papers.rlb.mine import Adam, forward, initial, loss
from frkit.papers.rlb.truth import true_information

SHARES = np.array([0.5, 0.3, 0.2])
SEX = np.array([0.61384, 0.38616])


def network(mapping, seed=0):
    """Small parameters in float64, none of them 0."""
    rng = np.random.default_rng(seed)
    start = initial(rng, 5, 3, mapping, 4)
    return {name: w + 0.3 * rng.standard_normal(w.shape) for name, w in start.items()}


def batch(n=7, seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)), rng.integers(0, 3, n)


# --- twins


def slow_t(p, r, k):
    """T of one image and one class, layer by layer."""
    act = np.vectorize(lambda x: x if x > 0 else np.exp(x) - 1)
    one_hot = np.eye(3)[k]
    w = act(r @ p["map_r"]) if "map_r" in p else r
    s = act(one_hot @ p["map_z"]) if "map_z" in p else one_hot
    hidden = act(w @ p["first_r"] + s @ p["first_z"] + p["first_bias"])
    return act(hidden @ p["second"] + p["second_bias"]) @ p["last"]


def slow_loss(p, x, z, average):
    """Eq. 6 with the product of the marginals written out."""
    joint = np.mean([slow_t(p, r, k) for r, k in zip(x, z)])
    marginal = np.mean([sum(SHARES[k] * np.exp(slow_t(p, r, k)) for k in range(3)) for r in x])
    return -(joint - marginal / average)


def slow_bounds(t, z, shares):
    """SN and DV by loops."""
    inner = [sum(p * np.exp(value) for p, value in zip(shares, row)) for row in t]
    joint = [row[k] for row, k in zip(t, z)]
    return np.mean(joint) - np.mean(np.log(inner)), np.mean(joint) - np.log(np.mean(inner))


@pytest.mark.parametrize("mapping", [2, 0])
def test_output_and_gradients_are_those_of_the_network_written_out(mapping):
    p, (x, z) = network(mapping), batch()
    t, gradients = forward(p, x)
    slow = [[slow_t(p, r, k) for k in range(3)] for r in x]
    np.testing.assert_allclose(t, slow, rtol=1e-12)
    _, average, by_output = loss(t, z, SHARES, 1.7)
    by_name = gradients(by_output)
    assert by_name.keys() == p.keys()
    for name, values in p.items():
        numeric = np.empty_like(values)
        for place in np.ndindex(values.shape):
            step = np.zeros_like(values)
            step[place] = 1e-6
            above = slow_loss(p | {name: values + step}, x, z, average)
            below = slow_loss(p | {name: values - step}, x, z, average)
            numeric[place] = (above - below) / 2e-6
        np.testing.assert_allclose(by_name[name], numeric, rtol=1e-5, atol=1e-9, err_msg=name)


def test_moving_average_starts_at_the_first_value_and_follows():
    (_, z), t = batch(), np.random.default_rng(3).standard_normal((7, 3))
    mean = np.mean(np.exp(t) @ SHARES)
    value, first, _ = loss(t, z, SHARES, None)
    assert first == pytest.approx(mean)
    assert loss(t, z, SHARES, 2.0)[1] == pytest.approx(0.01 * mean + 0.99 * 2)
    assert value == pytest.approx(slow_bounds(t, z, SHARES)[1])


def test_adam_is_kingma_and_bas_algorithm():
    x, m, v = 1.0, 0.0, 0.0
    parameters = {"x": np.array([1.0])}
    adam = Adam(parameters, 0.1)
    for t in range(1, 6):
        g = 2 * x
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        adam.step({"x": 2 * parameters["x"]})
        x -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        assert parameters["x"][0] == pytest.approx(x, rel=1e-9)


# --- bounds
@given(seed=st.integers(0, 10_000), scale=st.floats(0, 30), n=st.integers(3, 40))
def test_bounds_agree_with_loops_and_keep_their_order(seed, scale, n):
    """DV <= SN <= H, whatever T is, where the shares are those of the rows."""
    rng = np.random.default_rng(seed)
    z = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    t, shares = scale * rng.standard_normal((n, 3)), np.bincount(z) / n
    sn, dv = self_normalised(t, z, shares), donsker_varadhan(t, z, shares)
    np.testing.assert_allclose([sn.mean(), dv], slow_bounds(t, z, shares), rtol=1e-9, atol=1e-9)
    assert dv <= sn.mean() + 1e-9 and sn.mean() <= entropy(shares) + 1e-9


# --- truths
@pytest.mark.parametrize(
    ("distance", "shares", "both", "truth"),
    [
        (0, SEX, False, 0),
        (2, SEX, False, 0.322),
        (10, SEX, False, 0.667),
        (4, SEX, True, 0.586),
        (2, np.full(4, 0.25), False, 0.845),
    ],
)
def test_known_mutual_information(distance, shares, both, truth):
    assert round(true_information(distance, shares, both), 3) == pytest.approx(truth, abs=1e-12)
