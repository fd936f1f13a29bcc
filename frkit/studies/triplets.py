"""One dense layer trained with the triplet loss: NumPy arrays only."""

from dataclasses import dataclass

import numpy as np

from frkit.base import require
from frkit.representation.mine import Adam

SAME = -np.inf  # similarity of a pair that cannot be a negative


@dataclass(frozen=True)
class Training:
    """How a layer is trained: few steps, because a layer has many weights and a group few people.

    Attributes
    ----------
    steps : number of updates, at least 1.
    people : people in a batch, two images of each, at least 2.
    margin : of squared distances between unit vectors, in (0, 4).
    rate : step size of Adam, above 0.
    width : dimensions that the layer gives out, at most as many as go in; None for as many.

    Raises
    ------
    InputError : a number outside its range.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.studies.Training(steps=100).margin
    0.3
    """

    steps: int = 60
    people: int = 64
    margin: float = 0.3
    rate: float = 0.003
    width: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("people", 2)):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and value >= least
            require(whole, f"{name} must be a whole number of at least {least}, got {value!r}")
        require(0 < self.margin < 4, f"margin must lie in (0, 4), got {self.margin!r}")
        require(self.rate > 0, f"rate must be above 0, got {self.rate!r}")
        require(self.width is None or self.width >= 1, f"width must be at least 1, got {self.width!r}")


def apply_layer(x: np.ndarray, layer: np.ndarray) -> np.ndarray:
    """Unit rows of x @ layer."""
    y = x @ layer
    return y / np.linalg.norm(y, axis=1, keepdims=True)


def triplet_loss(layer: np.ndarray, triplets: list[np.ndarray], margin: float) -> tuple[float, np.ndarray]:
    """Mean of max(0, |a - p|² - |a - n|² + margin) after the layer, and its gradient by the layer.

    triplets: rows of anchors, positives and negatives, (n, feature) each.
    """
    raw = [x @ layer for x in triplets]
    length = [np.linalg.norm(y, axis=1, keepdims=True) for y in raw]
    anchor, positive, negative = (y / size for y, size in zip(raw, length, strict=True))
    excess = 2 * np.sum(anchor * (negative - positive), 1) + margin
    active = (excess > 0)[:, None] * (2 / len(excess))
    slopes = active * (negative - positive), -active * anchor, active * anchor
    gradient = np.zeros_like(layer)
    for x, z, size, slope in zip(triplets, (anchor, positive, negative), length, slopes, strict=True):
        gradient += x.T @ ((slope - z * np.sum(z * slope, 1, keepdims=True)) / size)
    return float(np.maximum(excess, 0).mean()), gradient


@dataclass(frozen=True, eq=False)
class People:
    """Where the images of people stand among the rows: (person,) the first row, and how many, two at least."""

    first: np.ndarray
    count: np.ndarray

    def couples(self, which: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows of two different images of each of these people."""
        n = self.count[which]
        one = (rng.random(len(n)) * n).astype(int)
        other = (one + 1 + (rng.random(len(n)) * (n - 1)).astype(int)) % n
        return self.first[which] + one, self.first[which] + other


def train_layer(
    x: np.ndarray, people: People, drawn: np.ndarray, rng: np.random.Generator, how: Training
) -> tuple[np.ndarray, np.ndarray]:
    """Train a layer on drawn people: (layer, loss of every step). It begins as the identity.

    x: (image, feature), the images of a person in consecutive rows. drawn: people, as often as they were drawn.
    """
    layer = np.eye(x.shape[1], how.width or x.shape[1])
    adam, losses = Adam({"layer": layer}, how.rate), np.empty(how.steps)
    for step in range(how.steps):
        batch = drawn[rng.permutation(len(drawn))[: how.people]]
        one, other = people.couples(batch, rng)
        losses[step], gradient = triplet_loss(layer, _hardest(x[one], x[other], layer, batch), how.margin)
        adam.step({"layer": gradient})
    return layer, losses


def _hardest(anchor: np.ndarray, positive: np.ndarray, layer: np.ndarray, owner: np.ndarray) -> list[np.ndarray]:
    """Triplets with the other person of the batch whose image is most like the anchor."""
    alike = apply_layer(anchor, layer) @ apply_layer(positive, layer).T
    alike[owner[:, None] == owner] = SAME
    return [anchor, positive, positive[alike.argmax(1)]]
