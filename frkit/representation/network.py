"""The statistics network of MINE with gradients by hand: NumPy arrays only.

T(r, z) for every image r and every class z at once: the product of the marginals is then exact over the
classes, and needs no shuffled samples. Adding a function of r alone to T changes no self-normalised term.
"""

import numpy as np

DECAY_MEAN, DECAY_SQUARE, TINY = 0.9, 0.999, 1e-8  # Adam, as Kingma & Ba recommend


def initial(rng: np.random.Generator, n_features: int, n_classes: int, mapping: int, hidden: int) -> dict:
    """Parameters before training, by name; the last layer is 0, so that T = 0 and nothing is claimed.

    mapping: width of the mapping layers on each side, 0 for none. hidden: width of both hidden layers.
    """

    def draw(inputs: int, outputs: int, scale: float = 1.0) -> np.ndarray:
        return (rng.standard_normal((inputs, outputs)) * (scale / np.sqrt(inputs))).astype(np.float32)

    widths = (mapping, mapping) if mapping else (n_features, n_classes)
    parameters = {"map_r": draw(n_features, mapping), "map_z": draw(n_classes, mapping)} if mapping else {}
    return parameters | {
        "first_r": draw(widths[0], hidden, np.sqrt(0.5)),
        "first_z": draw(widths[1], hidden, np.sqrt(0.5)),
        "first_bias": np.zeros(hidden, np.float32),
        "second": draw(hidden, hidden),
        "second_bias": np.zeros(hidden, np.float32),
        "last": np.zeros(hidden, np.float32),
    }


def elu(x: np.ndarray) -> np.ndarray:
    """x above 0, exp(x) - 1 below."""
    below = np.minimum(x, 0)
    np.expm1(below, out=below)
    return np.add(np.maximum(x, 0), below, out=below)


def slope(y: np.ndarray) -> np.ndarray:
    """The derivative of elu, from its value."""
    below = np.minimum(y, 0)
    below += 1
    return below


def forward(p: dict, x: np.ndarray) -> tuple[np.ndarray, tuple]:
    """T (n, K) of images x (n, d) and all classes, and the values inside that `gradients` needs."""
    mapped = elu(x @ p["map_r"]) if "map_r" in p else x
    classes = elu(p["map_z"]) if "map_z" in p else np.eye(len(p["first_z"]), dtype=x.dtype)
    from_z = classes @ p["first_z"] + p["first_bias"]
    first = elu((mapped @ p["first_r"])[:, None] + from_z)
    inner = first.reshape(-1, first.shape[-1]) @ p["second"]
    inner += p["second_bias"]
    second = elu(inner)
    return (second @ p["last"]).reshape(first.shape[:2]), (x, mapped, classes, first, second)


def gradients(p: dict, inside: tuple, by_output: np.ndarray) -> dict:
    """Gradients of all parameters from those of the output T (n, K)."""
    x, mapped, classes, first, second = inside
    n, n_classes, hidden = first.shape
    flat = by_output.reshape(-1)
    to_second = flat[:, None] * p["last"]
    to_second *= slope(second)
    to_first = to_second @ p["second"].T
    to_first = to_first.reshape(first.shape)
    to_first *= slope(first)
    images, labels = to_first.sum(1), to_first.sum(0)
    found = {
        "first_r": mapped.T @ images,
        "first_z": classes.T @ labels,
        "first_bias": labels.sum(0),
        "second": first.reshape(-1, hidden).T @ to_second,
        "second_bias": to_second.sum(0),
        "last": second.T @ flat,
    }
    if "map_r" in p:
        found["map_r"] = x.T @ ((images @ p["first_r"].T) * slope(mapped))
        found["map_z"] = (labels @ p["first_z"].T) * slope(classes)
    return found


class Adam:
    """Kingma & Ba's steps, in place."""

    def __init__(self, parameters: dict, rate: float):
        self.parameters, self.rate, self.t = parameters, rate, 0
        self.mean = {name: np.zeros_like(values) for name, values in parameters.items()}
        self.square = {name: np.zeros_like(values) for name, values in parameters.items()}

    def step(self, found: dict) -> None:
        """One step down the gradients."""
        self.t += 1
        rate = self.rate / (1 - DECAY_MEAN**self.t)
        correction = 1 / np.sqrt(1 - DECAY_SQUARE**self.t)
        for name, values in self.parameters.items():
            mean, square, gradient = self.mean[name], self.square[name], found[name]
            mean += (1 - DECAY_MEAN) * (gradient - mean)
            square += (1 - DECAY_SQUARE) * (gradient * gradient - square)
            values -= rate * mean / (np.sqrt(square) * correction + TINY)
