"""MINE: a statistics network with gradients by hand, its training and its bounds of mutual information.

T(r, z) stands for every image r and every class z at once: the product of the marginals is then exact over the
classes, and needs no shuffled samples. Adding a function of r alone to T changes no self-normalised term.
NumPy arrays only.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frkit.base import require, require_whole

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
        for name, least in (("mapping", 0), ("hidden", 1), ("iterations", 1), ("batch", 1)):
            require_whole(name, getattr(self, name), least)
        require(
            self.patience is None or self.patience >= 1,
            f"patience must be positive or None, got {self.patience}",
        )
        require(self.learning_rate > 0, f"learning_rate must be positive, got {self.learning_rate}")
        require(0 < self.smoothing <= 1, f"smoothing must lie in (0, 1], got {self.smoothing}")


class Fold(NamedTuple):
    """Rows of one split, and the seed of the network that is trained on it."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    seed: np.random.SeedSequence


class Reading(NamedTuple):
    """What one network says."""

    t: np.ndarray  # (n_test, K) T of the test images
    in_sample: float  # DV of the last network on its own training images
    steps: int  # of the network that was kept
    curve: np.ndarray  # (check, 3) step, in-sample DV, validation SN


def read(x: np.ndarray, z: np.ndarray, shares: np.ndarray, fold: Fold, critic: Critic) -> Reading:
    """Train on the fold's training rows, let its validation rows choose the network, and read its test rows.

    x: (n, d) float32; z: (n,) classes; shares: (K,) of the classes among all rows.
    """
    train = x[fold.train]
    centre = train.mean(0, dtype=np.float64).astype(np.float32)
    # one scale for all features, so that the encoder's geometry stays
    scale = np.float32(np.sqrt(np.mean(np.square(train - centre), dtype=np.float64)))
    require(
        scale > 0,
        f"embedding is constant among {len(train)} images of a fold, so there is nothing to learn",
    )
    train, validation, test = ((x[rows] - centre) / scale for rows in fold[:3])
    z_train, z_validation, shares_32 = z[fold.train], z[fold.validation], shares.astype(np.float32)
    rng = np.random.Generator(np.random.SFC64(fold.seed))
    parameters = initial(rng, x.shape[1], len(shares), critic.mapping, critic.hidden)
    optimiser = Adam(parameters, critic.learning_rate)
    step, average, batch_values, curve = 0, None, [0.0], []
    best, kept, kept_at = -np.inf, {}, 0
    while True:
        held_out = pointwise(outputs(parameters, validation), z_validation, shares).mean()
        curve.append((step, np.mean(batch_values), held_out))
        if held_out > best or critic.patience is None:
            best, kept, kept_at = (
                held_out,
                {name: values.copy() for name, values in parameters.items()},
                step,
            )
        if step >= critic.iterations or step - kept_at >= (critic.patience or np.inf):
            break
        n_steps, batch_values = min(CHECK, critic.iterations - step), []
        for rows in rng.integers(0, len(train), (n_steps, critic.batch)):
            t, inside = forward(parameters, train.take(rows, axis=0))
            value, average, by_output = loss(t, z_train[rows], shares_32, average, critic.smoothing)
            optimiser.step(gradients(parameters, inside, by_output))
            batch_values.append(value)
        step += n_steps
    in_sample = donsker_varadhan(outputs(parameters, train), z_train, shares)[0]
    return Reading(outputs(kept, test), in_sample, kept_at, np.array(curve))


def outputs(parameters: dict, x: np.ndarray) -> np.ndarray:
    """T (n, K) in float64, in blocks."""
    blocks = [forward(parameters, x[start : start + BLOCK])[0] for start in range(0, len(x), BLOCK)]
    return np.concatenate(blocks).astype(np.float64)


# --- bounds, from T (n, K) of images and classes ------------------------------------------------------------
def pointwise(t: np.ndarray, z: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Terms (n,) of SN = E[T(r, z)] - E log sum_k p_k exp T(r, k): log of the class's probability by T over p_z."""
    return t[np.arange(len(z)), z] - _log_marginal(t, shares)


def _log_marginal(t: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """log sum_z p_z exp T(r, z) of each image, (n,)."""
    peak = t.max(axis=1)
    return peak + np.log(np.exp(t - peak[:, None]) @ shares)


def donsker_varadhan(t: np.ndarray, z: np.ndarray, shares: np.ndarray) -> tuple[float, np.ndarray]:
    """DV = E[T(r, z)] - log E exp T over the product of marginals (eq. 3), and its linear terms (n,) with that mean."""
    joint, marginal = t[np.arange(len(z)), z], _log_marginal(t, shares)
    peak = marginal.max()
    weight = np.exp(marginal - peak)
    value = joint.mean() - peak - np.log(weight.mean())
    return float(value), value + (joint - joint.mean()) - (weight / weight.mean() - 1)


def loss(
    t: np.ndarray, z: np.ndarray, shares: np.ndarray, average: float | None, smoothing: float
) -> tuple:
    """A batch's own DV (eq. 4), the new moving average of mean exp T (eq. 7), and the gradient of eq. 6 by T (n, K)."""
    rows = np.arange(len(z))
    by_output = np.exp(t) * shares
    mean = float(by_output.sum()) / len(z)
    average = mean if average is None else smoothing * mean + (1 - smoothing) * average
    value = float(t[rows, z].mean()) - np.log(mean)
    by_output *= by_output.dtype.type(1 / (len(z) * average))
    by_output[rows, z] -= by_output.dtype.type(1 / len(z))
    return value, average, by_output


# --- the network --------------------------------------------------------------------------------------------
def initial(
    rng: np.random.Generator, n_features: int, n_classes: int, mapping: int, hidden: int
) -> dict:
    """Parameters before training, by name; the last layer is 0, so that T = 0 and nothing is claimed.

    mapping: width of the mapping layers on each side, 0 for none. hidden: width of both hidden layers.
    """
    widths = (mapping, mapping) if mapping else (n_features, n_classes)
    shapes = {"map_r": (n_features, mapping), "map_z": (n_classes, mapping)} if mapping else {}
    shapes |= {
        "first_r": (widths[0], hidden),
        "first_z": (widths[1], hidden),
        "second": (hidden, hidden),
    }
    scales = {"first_r": np.sqrt(0.5), "first_z": np.sqrt(0.5)}  # two halves of one layer
    parameters = {
        name: (rng.standard_normal(shape) * (scales.get(name, 1.0) / np.sqrt(shape[0]))).astype(
            np.float32
        )
        for name, shape in shapes.items()
    }
    return parameters | {
        name: np.zeros(hidden, np.float32) for name in ("first_bias", "second_bias", "last")
    }


def elu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x above 0, exp(x) - 1 below, written over x; and its derivative."""
    slope = np.minimum(x, 0)
    np.exp(slope, out=slope)  # NumPy has vector code of exp for every processor, of expm1 for few
    np.maximum(x, slope - 1, out=x)  # exp(x) - 1 is 0 above 0, and never less than x below
    return x, slope


def forward(p: dict, x: np.ndarray) -> tuple[np.ndarray, tuple]:
    """T (n, K) of images x (n, d) and all classes, and the values and slopes inside that `gradients` needs."""
    mapped = elu(x @ p["map_r"]) if "map_r" in p else (x, None)
    classes = (
        elu(p["map_z"].copy()) if "map_z" in p else (np.eye(len(p["first_z"]), dtype=x.dtype), None)
    )
    from_z = classes[0] @ p["first_z"] + p["first_bias"]
    first = elu(((mapped[0] @ p["first_r"])[:, None] + from_z).reshape(-1, from_z.shape[1]))
    second = first[0] @ p["second"]
    second += p["second_bias"]
    second = elu(second)
    return (second[0] @ p["last"]).reshape(len(x), -1), (x, mapped, classes, first, second)


def gradients(p: dict, inside: tuple, by_output: np.ndarray) -> dict:
    """Gradients of all parameters from those of the output T (n, K); `inside` is written over."""
    (
        x,
        (mapped, mapped_slope),
        (classes, classes_slope),
        (first, first_slope),
        (second, second_slope),
    ) = inside
    flat = by_output.reshape(-1)
    second_slope *= np.multiply(
        flat[:, None], p["last"]
    )  # half as long as the outer product into new memory
    to_second = second_slope
    to_first = to_second @ p["second"].T
    to_first *= first_slope
    to_first = to_first.reshape(*by_output.shape, -1)
    images, labels = np.einsum("nkh->nh", to_first), to_first.sum(0)
    found = {
        "first_r": mapped.T @ images,
        "first_z": classes.T @ labels,
        "first_bias": labels.sum(0),
    }
    found |= {
        "second": first.T @ to_second,
        "second_bias": to_second.sum(0),
        "last": second.T @ flat,
    }
    if "map_r" in p:
        found["map_r"] = x.T @ ((images @ p["first_r"].T) * mapped_slope)
        found["map_z"] = (labels @ p["first_z"].T) * classes_slope
    return found


class Adam:
    """Kingma & Ba's steps with their usual constants; parameters, a dict of arrays, are changed in place."""

    def __init__(self, parameters: dict, rate: float):
        self.values, self.rate, self.t = (
            np.concatenate([x.ravel() for x in parameters.values()]),
            rate,
            0,
        )
        self.mean, self.square = np.zeros((2, self.values.size), self.values.dtype)
        ends = np.cumsum([x.size for x in parameters.values()])
        for (name, x), part in zip(
            parameters.items(), np.split(self.values, ends[:-1]), strict=True
        ):
            parameters[name] = part.reshape(
                x.shape
            )  # one array holds them all, so that a step is a few passes
        self.names = list(parameters)

    def step(self, found: dict) -> None:
        """One step down the gradients."""
        self.t += 1
        rate, correction = self.rate / (1 - 0.9**self.t), 1 / np.sqrt(1 - 0.999**self.t)
        gradient = np.concatenate([found[name].ravel() for name in self.names])
        self.mean += (1 - 0.9) * (gradient - self.mean)
        self.square += (1 - 0.999) * (gradient * gradient - self.square)
        self.values -= rate * self.mean / (np.sqrt(self.square) * correction + 1e-8)
