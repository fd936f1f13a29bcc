"""MINE: the critic, how it is trained and read on one split of the people, and its network.

The network computes T(r, k) for every image r and every class k at once; its gradients are by hand.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frkit.base import require, require_inside, require_whole
from frkit.papers.rlb.bounds import donsker_varadhan, self_normalised

CHECK = 25  # iterations between two checks on the validation people
BLOCK = 4096  # images whose T is computed at once
SMOOTHING = 0.01  # weight of the new value in the moving average of mean exp(T), eq. 7


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


def train_and_read(x, problem, critic, fold):
    """Train on the training images, choose the network by the validation images, and apply it.

    x: (images, d) float32; some may have no label.
    """
    shares = problem.shares
    x = x[problem.rows]
    train, validation, test = _scaled(x[fold.train], x[fold.validation], x[fold.test])
    z_train = problem.z[fold.train]
    z_validation = problem.z[fold.validation]
    rng = np.random.Generator(np.random.SFC64(fold.seed))
    parameters = initial(rng, x.shape[1], len(shares), critic.mapping, critic.hidden)
    optimiser = Adam(parameters, critic.learning_rate)
    step = best_step = 0
    average = None
    batch_values = [0.0]
    curve = []
    best = -np.inf
    while True:
        held_out = self_normalised(_outputs(parameters, validation), z_validation, shares).mean()
        curve.append((step, np.mean(batch_values), held_out))
        if held_out > best or critic.patience is None:
            best = held_out
            best_step = step
            best_parameters = deepcopy(parameters)
        if step >= critic.iterations or step - best_step >= (critic.patience or np.inf):
            break
        n_steps = min(CHECK, critic.iterations - step)
        batch_values = []
        for rows in rng.integers(0, len(train), (n_steps, critic.batch)):
            t, gradients = forward(parameters, train[rows])
            value, average, by_t = loss(t, z_train[rows], shares.astype(t.dtype), average)
            optimiser.step(gradients(by_t))
            batch_values.append(value)
        step += n_steps
    in_sample = donsker_varadhan(_outputs(parameters, train), z_train, shares)
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


# --- the network ----------------------------------------------------------------------------------


def initial(rng, n_features, n_classes, mapping, hidden):
    """Parameters before training, by name. The last layer is 0, so T and the bound are 0.

    mapping is the width of the mapping layers on each side, 0 for none; hidden that of both hidden
    layers.
    """
    shapes = {}
    if mapping:
        shapes = {"map_r": (n_features, mapping), "map_z": (n_classes, mapping)}
    shapes["first_r"] = (mapping or n_features, hidden)
    shapes["first_z"] = (mapping or n_classes, hidden)
    shapes["second"] = (hidden, hidden)
    parameters = {}
    for name, shape in shapes.items():
        # first_r and first_z are the two halves of one layer, so each has half the variance
        scale = np.sqrt(0.5) if name.startswith("first") else 1.0
        weights = rng.standard_normal(shape) * (scale / np.sqrt(shape[0]))
        parameters[name] = weights.astype(np.float32)
    for name in ("first_bias", "second_bias", "last"):
        parameters[name] = np.zeros(hidden, np.float32)
    return parameters


def forward(p, x):
    """T (n, K) of images x (n, d) and all classes, and the function that gives its gradients.

    That function takes the gradient of the loss by T (n, K), and returns those by all parameters.
    """
    if "map_r" in p:
        mapped, mapped_slope = elu(x @ p["map_r"])
        classes, classes_slope = elu(p["map_z"])
    else:
        mapped = x
        classes = np.eye(len(p["first_z"]), dtype=x.dtype)  # one-hot
    from_images = mapped @ p["first_r"]
    from_classes = classes @ p["first_z"] + p["first_bias"]
    together = from_images[:, None] + from_classes
    n_images, n_classes, hidden = together.shape
    first, first_slope = elu(together.reshape(-1, hidden))
    second, second_slope = elu(first @ p["second"] + p["second_bias"])
    t = (second @ p["last"]).reshape(n_images, n_classes)

    def gradients(by_t):
        by_t = by_t.reshape(-1)
        by_second = by_t[:, None] * p["last"] * second_slope
        by_first = by_second @ p["second"].T * first_slope
        by_pairs = by_first.reshape(together.shape)
        by_images = by_pairs.sum(1)
        by_classes = by_pairs.sum(0)
        by_name = {
            "first_r": mapped.T @ by_images,
            "first_z": classes.T @ by_classes,
            "first_bias": by_classes.sum(0),
            "second": first.T @ by_second,
            "second_bias": by_second.sum(0),
            "last": second.T @ by_t,
        }
        if "map_r" in p:
            by_mapped = by_images @ p["first_r"].T * mapped_slope
            by_name["map_r"] = x.T @ by_mapped
            by_name["map_z"] = by_classes @ p["first_z"].T * classes_slope
        return by_name

    return t, gradients


def elu(x):
    """The activation, x above 0 and exp(x) - 1 below; and its derivative."""
    slope = np.exp(np.minimum(x, 0))  # NumPy's exp is faster than its expm1 on most processors
    return np.maximum(x, slope - 1), slope


def loss(t, z, shares, average):
    """A batch's bound (eq. 4), the moving average of mean exp T (eq. 7), and the gradient by T.

    The loss is that of Li & Abd-Almageed (2021), eq. 6, whose denominator is the moving average.
    """
    rows = np.arange(len(z))
    gradient = np.exp(t) * shares
    mean = float(gradient.sum()) / len(z)
    average = mean if average is None else SMOOTHING * mean + (1 - SMOOTHING) * average
    value = float(t[rows, z].mean()) - np.log(mean)
    gradient *= t.dtype.type(1 / (len(z) * average))
    gradient[rows, z] -= t.dtype.type(1 / len(z))
    return value, average, gradient


class Adam:
    """Kingma & Ba's steps with their usual constants; parameters, by name, are changed in place."""

    def __init__(self, parameters, rate):
        self.parameters = parameters
        self.rate = rate
        self.t = 0
        self.mean = dict.fromkeys(parameters, 0.0)
        self.square = dict.fromkeys(parameters, 0.0)

    def step(self, gradients):
        """Take one step against the gradients."""
        self.t += 1
        rate = self.rate / (1 - 0.9**self.t)
        correction = 1 / np.sqrt(1 - 0.999**self.t)
        for name, gradient in gradients.items():
            self.mean[name] += (1 - 0.9) * (gradient - self.mean[name])
            self.square[name] += (1 - 0.999) * (gradient * gradient - self.square[name])
            size = np.sqrt(self.square[name]) * correction + 1e-8
            self.parameters[name] -= rate * self.mean[name] / size
