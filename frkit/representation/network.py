"""The statistics network of MINE: its values, its loss with gradients by hand, and Adam.

T(r, k) is computed for every image r and every class k at once. NumPy arrays only.
"""

from typing import NamedTuple

import numpy as np


class Layers(NamedTuple):
    """Values of the layers and slopes of their activations, which the gradients need."""

    x: np.ndarray  # (n, d) images
    mapped: np.ndarray  # (n, mapping)
    mapped_slope: np.ndarray | None
    classes: np.ndarray  # (K, mapping)
    classes_slope: np.ndarray | None
    first: np.ndarray  # (n K, hidden)
    first_slope: np.ndarray
    second: np.ndarray  # (n K, hidden)
    second_slope: np.ndarray


def initial(rng, n_features, n_classes, mapping, hidden):
    """Parameters before training, by name. The last layer is 0, so T = 0: nothing is claimed.

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
    """T (n, K) of images x (n, d) and all classes, and the layers that `gradients` needs."""
    if "map_r" in p:
        mapped, mapped_slope = elu(x @ p["map_r"])
        classes, classes_slope = elu(p["map_z"].copy())
    else:
        mapped, mapped_slope = x, None
        classes, classes_slope = np.eye(len(p["first_z"]), dtype=x.dtype), None
    from_images = mapped @ p["first_r"]
    from_classes = classes @ p["first_z"] + p["first_bias"]
    hidden = from_classes.shape[1]
    first, first_slope = elu((from_images[:, None] + from_classes).reshape(-1, hidden))
    second = first @ p["second"]
    second += p["second_bias"]
    second, second_slope = elu(second)
    t = (second @ p["last"]).reshape(len(x), -1)
    layers = Layers(
        x, mapped, mapped_slope, classes, classes_slope, first, first_slope, second, second_slope
    )
    return t, layers


def elu(x):
    """The activation, x above 0 and exp(x) - 1 below, written over x; and its derivative."""
    slope = np.minimum(x, 0)
    np.exp(slope, out=slope)  # NumPy has vector code of exp for every processor, of expm1 for few
    np.maximum(x, slope - 1, out=x)  # exp(x) - 1 is 0 above 0, and never less than x below
    return x, slope


def loss(t, z, shares, average, smoothing):
    """A batch's bound (eq. 4), the moving average of mean exp T (eq. 7), and the gradient by T.

    The loss is that of Li & Abd-Almageed (2021), eq. 6, whose denominator is the moving average.
    """
    rows = np.arange(len(z))
    gradient = np.exp(t) * shares
    mean = float(gradient.sum()) / len(z)
    average = mean if average is None else smoothing * mean + (1 - smoothing) * average
    value = float(t[rows, z].mean()) - np.log(mean)
    gradient *= t.dtype.type(1 / (len(z) * average))
    gradient[rows, z] -= t.dtype.type(1 / len(z))
    return value, average, gradient


def gradients(p, layers, t_gradient):
    """Gradients of all parameters from those of the output T (n, K); slopes are written over."""
    flat = t_gradient.reshape(-1)
    by_second = layers.second_slope  # in place: half as long as an outer product in new memory
    by_second *= np.multiply(flat[:, None], p["last"])
    by_first = by_second @ p["second"].T
    by_first *= layers.first_slope
    by_first = by_first.reshape(*t_gradient.shape, -1)
    by_images, by_classes = np.einsum("nkh->nh", by_first), by_first.sum(0)
    found = {
        "first_r": layers.mapped.T @ by_images,
        "first_z": layers.classes.T @ by_classes,
        "first_bias": by_classes.sum(0),
        "second": layers.first.T @ by_second,
        "second_bias": by_second.sum(0),
        "last": layers.second.T @ flat,
    }
    if "map_r" in p:
        found["map_r"] = layers.x.T @ ((by_images @ p["first_r"].T) * layers.mapped_slope)
        found["map_z"] = (by_classes @ p["first_z"].T) * layers.classes_slope
    return found


class Adam:
    """Kingma & Ba's steps with their usual constants; parameters, by name, are changed in place."""

    def __init__(self, parameters, rate):
        # one array contains them all, so that a step is a few passes
        self.values = np.concatenate([values.ravel() for values in parameters.values()])
        self.names, self.rate, self.t = list(parameters), rate, 0
        self.mean, self.square = np.zeros((2, self.values.size), self.values.dtype)
        start = 0
        for name, values in parameters.items():
            end = start + values.size
            parameters[name] = self.values[start:end].reshape(values.shape)
            start = end

    def step(self, gradients):
        """One step down the gradients."""
        self.t += 1
        gradient = np.concatenate([gradients[name].ravel() for name in self.names])
        self.mean += (1 - 0.9) * (gradient - self.mean)
        self.square += (1 - 0.999) * (gradient * gradient - self.square)
        rate, correction = self.rate / (1 - 0.9**self.t), 1 / np.sqrt(1 - 0.999**self.t)
        self.values -= rate * self.mean / (np.sqrt(self.square) * correction + 1e-8)
