"""Training one statistics network on some people, stopped by others, read on yet others."""

from dataclasses import dataclass

import numpy as np

from frkit.base import require
from frkit.representation.bounds import donsker_varadhan, pointwise
from frkit.representation.network import Adam, forward, gradients, initial

CHECK = 25  # iterations between two looks at the validation people
BLOCK = 4096  # images whose T is computed at once


@dataclass(frozen=True)
class Critic:
    """The statistics network of MINE and how it is trained.

    Parameters
    ----------
    mapping : int
        Width of the mapping layers, one on each side; 0 leaves them out (Li & Abd-Almageed, Fig. 7c).
    hidden : int
        Width of the two hidden layers.
    iterations : int
        At most so many steps.
    patience : int or None
        Stop when the validation value has not grown for so many steps, and keep the best network (the
        untrained one included). None: train to the end and keep the last, as the authors do.
    batch : int
        Images in a step.
    learning_rate : float
        Adam's.
    smoothing : float in (0, 1]
        Weight of the new value in the moving average of mean exp(T) (eq. 7).

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
    smoothing: float = 0.01

    def __post_init__(self) -> None:
        require(self.mapping >= 0, f"mapping must be a width, or 0 for no mapping layers, got {self.mapping}")
        for name in ("hidden", "iterations", "batch"):
            require(getattr(self, name) >= 1, f"{name} must be at least 1, got {getattr(self, name)}")
        require(self.patience is None or self.patience >= 1, f"patience must be positive or None, got {self.patience}")
        require(self.learning_rate > 0, f"learning_rate must be positive, got {self.learning_rate}")
        require(0 < self.smoothing <= 1, f"smoothing must lie in (0, 1], got {self.smoothing}")


@dataclass(frozen=True, eq=False)
class Fold:
    """One split of the rows, and the seed of the network that is trained on it."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    seed: np.random.SeedSequence


@dataclass(frozen=True, eq=False)
class Reading:
    """What one network says.

    t: T (n_test, K) of the test images. in_sample: DV of the last network on its own training images.
    steps: of the network that was kept. curve: (check, 3) step, in-sample DV, validation SN.
    """

    t: np.ndarray
    in_sample: float
    steps: int
    curve: np.ndarray


def read(x: np.ndarray, z: np.ndarray, shares: np.ndarray, fold: Fold, critic: Critic) -> Reading:
    """Train on the fold's training rows and read its test rows.

    x: (n, d) float32; z: (n,) classes; shares: (K,) of the classes among all rows.
    """
    centre, scale = _standard(x[fold.train])
    parts = {name: (x[rows] - centre) / scale for name, rows in vars(fold).items() if name != "seed"}
    training = _Training(parts["train"], z[fold.train], shares.astype(np.float32), critic, fold.seed)
    z_validation, curve = z[fold.validation], []
    best, kept, kept_at, step = -np.inf, {}, 0, 0
    while True:
        value = pointwise(outputs(training.parameters, parts["validation"]), z_validation, shares).mean()
        curve.append((step, training.recent, value))
        if value > best or critic.patience is None:
            best, kept_at = value, step
            kept = {name: values.copy() for name, values in training.parameters.items()}
        if step >= critic.iterations or step - kept_at >= (critic.patience or np.inf):
            break
        n_steps = min(CHECK, critic.iterations - step)
        training.run(n_steps)
        step += n_steps
    in_sample = donsker_varadhan(outputs(training.parameters, parts["train"]), z[fold.train], shares)[0]
    return Reading(outputs(kept, parts["test"]), in_sample, kept_at, np.array(curve))


def loss(t: np.ndarray, z: np.ndarray, shares: np.ndarray, average: float | None, smoothing: float) -> tuple:
    """A batch's own DV (eq. 4), the new moving average of mean exp T (eq. 7), and the gradient of eq. 6 by T (n, K)."""
    rows = np.arange(len(z))
    by_output = np.exp(t) * shares
    mean = float(by_output.sum()) / len(z)
    average = mean if average is None else smoothing * mean + (1 - smoothing) * average
    value = float(t[rows, z].mean()) - np.log(mean)
    by_output *= by_output.dtype.type(1 / (len(z) * average))
    by_output[rows, z] -= by_output.dtype.type(1 / len(z))
    return value, average, by_output


def outputs(parameters: dict, x: np.ndarray) -> np.ndarray:
    """T (n, K) in float64, in blocks."""
    blocks = [forward(parameters, x[start : start + BLOCK])[0] for start in range(0, len(x), BLOCK)]
    return np.concatenate(blocks).astype(np.float64)


def _standard(x: np.ndarray) -> tuple[np.ndarray, np.float32]:
    """Mean of each feature and one scale for all, so that the encoder's geometry stays."""
    centre = x.mean(0, dtype=np.float64).astype(np.float32)
    scale = np.float32(np.sqrt(np.mean(np.square(x - centre), dtype=np.float64)))
    require(scale > 0, f"embedding is constant among {len(x)} images of a fold, so there is nothing to learn")
    return centre, scale


class _Training:
    """A network with its moving average and its optimiser."""

    def __init__(self, x: np.ndarray, z: np.ndarray, shares: np.ndarray, critic: Critic, seed):
        self.x, self.z, self.shares, self.critic = x, z, shares, critic
        self.rng = np.random.Generator(np.random.SFC64(seed))
        self.parameters = initial(self.rng, x.shape[1], len(shares), critic.mapping, critic.hidden)
        self.optimiser = Adam(self.parameters, critic.learning_rate)
        self.average, self.recent = None, 0.0

    def run(self, n_steps: int) -> None:
        """Some steps of the moving-average loss (eq. 6); `recent` is the mean DV of their batches."""
        values = []
        for rows in self.rng.integers(0, len(self.x), (n_steps, self.critic.batch)):
            t, inside = forward(self.parameters, self.x.take(rows, axis=0))
            value, self.average, by_output = loss(t, self.z[rows], self.shares, self.average, self.critic.smoothing)
            self.optimiser.step(gradients(self.parameters, inside, by_output))
            values.append(value)
        self.recent = float(np.mean(values))
