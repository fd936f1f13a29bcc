"""The statistics network of MINE: its values, its loss with gradients by hand, and Adam.

T(r, k) is computed for every image r and every class k at once. NumPy arrays only.
"""

import numpy as np

SMOOTHING = 0.01  # weight of the new value in the moving average of mean exp(T), eq. 7


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
        # one array of all parameters, so that a step takes few operations; names are parts of it
        self.values = np.concatenate([values.ravel() for values in parameters.values()])
        ends = np.cumsum([values.size for values in parameters.values()])
        for (name, values), part in zip(parameters.items(), np.split(self.values, ends)):
            parameters[name] = part.reshape(values.shape)
        self.names = [*parameters]
        self.rate = rate
        self.t = 0
        self.mean = 0.0
        self.square = 0.0

    def step(self, gradients):
        """Take one step against the gradients."""
        gradient = np.concatenate([gradients[name].ravel() for name in self.names])
        self.t += 1
        rate = self.rate / (1 - 0.9**self.t)
        correction = 1 / np.sqrt(1 - 0.999**self.t)
        self.mean += (1 - 0.9) * (gradient - self.mean)
        self.square += (1 - 0.999) * (gradient * gradient - self.square)
        size = np.sqrt(self.square) * correction + 1e-8
        self.values -= rate * self.mean / size
