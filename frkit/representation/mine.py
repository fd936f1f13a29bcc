"""MINE: the critic's options, and its training and reading on one split of the people."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frkit.base import require, require_inside, require_whole
from frkit.representation.bounds import donsker_varadhan, self_normalised
from frkit.representation.network import Adam, forward, initial, loss

CHECK = 25  # iterations between two checks on the validation people
BLOCK = 4096  # images whose T is computed at once


@dataclass(frozen=True)
class Critic:
    """The statistics network of MINE and how it is trained.

    Parameters
    ----------
    mapping : int
        Width of the mapping layers, one on each side; 0 leaves them out (Li & Abd-Almageed, Fig.
        7c).
    hidden : int
        Width of the two hidden layers.
    iterations : int
        Largest number of steps.
    patience : int or None
        Stop after this many steps without a larger validation value, and keep the best network
        (the untrained one included). None: train to the end and keep the last, as the authors do.
    batch : int
        Images in each step.
    learning_rate : float
        Step size of Adam.

    Raises
    ------
    InputError
        For a width, number or rate that is not positive.

    Examples
    --------
    >>> Critic(mapping=0).hidden
    64
    >>> published = Critic(hidden=1000, iterations=40_000, patience=None)
    """

    mapping: int = 10
    hidden: int = 64
    iterations: int = 1000
    patience: int | None = 200
    batch: int = 256
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        require_whole("mapping", self.mapping, 0)
        for name in ("hidden", "iterations", "batch"):
            require_whole(name, getattr(self, name), 1)
        if self.patience is not None:
            require_whole("patience", self.patience, 1)
        require_inside("learning_rate", self.learning_rate, 0, np.inf)


class Fold(NamedTuple):
    """Places of images in a problem, and the seed of the network that is trained on them."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    seed: np.random.SeedSequence


class Reading(NamedTuple):
    """Values of one trained network."""

    t: np.ndarray  # (n_test, K) T of the test images
    in_sample: float  # DV of the last network on its own training images
    curve: np.ndarray  # (check, 3) step, in-sample DV, validation SN


def train_and_read(x, problem, fold, critic):
    """Train on the training images, choose the network by the validation images, and apply it.

    x: (images, d) float32; some may have no label.
    """
    shares = problem.shares
    shares_32 = shares.astype(np.float32)
    x = x[problem.rows]
    train, validation, test = _scaled(x[fold.train], x[fold.validation], x[fold.test])
    z_train = problem.z[fold.train]
    z_validation = problem.z[fold.validation]
    rng = np.random.Generator(np.random.SFC64(fold.seed))
    parameters = initial(rng, x.shape[1], len(shares), critic.mapping, critic.hidden)
    optimiser = Adam(parameters, critic.learning_rate)
    step = 0
    average = None
    batch_values = [0.0]
    curve = []
    best = -np.inf
    best_step = 0
    while True:
        held_out = self_normalised(_outputs(parameters, validation), z_validation, shares).mean()
        curve.append((step, np.mean(batch_values), held_out))
        if held_out > best or critic.patience is None:
            best = held_out
            best_step = step
            best_parameters = {name: values.copy() for name, values in parameters.items()}
        if step >= critic.iterations or step - best_step >= (critic.patience or np.inf):
            break
        n_steps = min(CHECK, critic.iterations - step)
        batch_values = []
        for rows in rng.integers(0, len(train), (n_steps, critic.batch)):
            t, gradients = forward(parameters, train[rows])
            value, average, by_t = loss(t, z_train[rows], shares_32, average)
            optimiser.step(gradients(by_t))
            batch_values.append(value)
        step += n_steps
    in_sample, _ = donsker_varadhan(_outputs(parameters, train), z_train, shares)
    return Reading(_outputs(best_parameters, test), in_sample, np.array(curve))


def _scaled(train, *others):
    """Training, validation and test images, centred and scaled by the training images.

    All features have one scale, so that the encoder's geometry stays.
    """
    centre = train.mean(0, dtype=np.float64).astype(np.float32)
    variance = np.mean(np.square(train - centre), dtype=np.float64)
    scale = np.float32(np.sqrt(variance))
    require(
        scale > 0,
        f"embedding is constant among {len(train)} images of a fold, so there is nothing to learn",
    )
    return [(x - centre) / scale for x in (train, *others)]


def _outputs(parameters, x):
    """T (n, K) in float64, in blocks."""
    blocks = [x[start : start + BLOCK] for start in range(0, len(x), BLOCK)]
    return np.concatenate([forward(parameters, block)[0] for block in blocks]).astype(np.float64)
