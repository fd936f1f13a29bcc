"""Coloured digits: handwritten digits whose colour is tied to what they show, more or less (Figs. 2 and 3)."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, require
from frkit.representation.probes import fit

# Name and RGB of the colours; digit k has colour k * number of colours // 10.
PALETTES = {
    "moderate": {"red": (0.9, 0.2, 0.2), "green": (0.2, 0.9, 0.2)},
    "extreme": {
        "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0), "magenta": (1, 0, 1),
        "cyan": (0, 1, 1), "white": (1, 1, 1), "orange": (1, 0.5, 0), "violet": (0.5, 0, 1), "grey": (0.5, 0.5, 0.5),
    },
}  # fmt: skip


def coloured_digits(case: str, sigma: float, *, part: str = "test", copies: int = 1, seed: int = 0) -> xr.Dataset:
    """Digits painted in a colour that is drawn around the colour of what they show.

    Parameters
    ----------
    case : "moderate" (two colours for two groups of digits) or "extreme" (ten colours for ten digits).
    sigma : standard deviation of each of red, green and blue around the digit's colour, 0 or more; values are then
        cut to [0, 1]. Large sigma = colour says little about the digit.
    part : "train" or "test": halves of scikit-learn's 1,797 digits, always the same two.
    copies : how many times each digit is painted, 1 or more, in a new colour each time.
    seed : non-negative integer, for the colours.

    Returns
    -------
    xr.Dataset
        Like faces: `embedding` (image, feature) the 8 x 8 x 3 values in [0, 1]; coordinates `digit(image)`,
        `colour(image)` (the palette's colour nearest to the drawn one: the protected attribute z), `identity(image)`
        (every image its own); and `drawn(image, rgb)`.

    Raises
    ------
    InputError : another case or part, a negative sigma, copies below 1.

    References
    ----------
    Li & Abd-Almageed (2021), Section V-B, with Colored MNIST replaced by digits that need no download.

    Examples
    --------
    >>> digits = coloured_digits("moderate", sigma=0.1)
    >>> dict(digits.sizes), sorted(set(digits.colour.values.tolist()))
    ({'image': 899, 'feature': 192, 'rgb': 3}, ['green', 'red'])
    """
    require(case in PALETTES, f"case must be 'moderate' or 'extreme', got {case!r}")
    require(part in ("train", "test"), f"part must be 'train' or 'test', got {part!r}")
    require(sigma >= 0, f"sigma must be 0 or more, got {sigma}")
    require(copies >= 1, f"copies must be 1 or more, got {copies}")
    pixels, digit = _grey_digits(part)
    pixels, digit = np.repeat(pixels, copies, axis=0), np.repeat(digit, copies)
    names, palette = np.array(list(PALETTES[case])), np.array(list(PALETTES[case].values()), float)
    rng = np.random.default_rng(np.random.SeedSequence((seed, part == "test")))
    drawn = palette[digit * len(palette) // 10] + sigma * rng.standard_normal((digit.size, 3))
    drawn = drawn.clip(0, 1)
    nearest = ((drawn[:, None] - palette) ** 2).sum(-1).argmin(1)
    values = (pixels[:, :, None] * drawn[:, None]).reshape(digit.size, -1).astype(np.float32)
    image = np.arange(digit.size).astype(str)
    coords = {IMAGE: image, IDENTITY: (IMAGE, image), "digit": (IMAGE, digit.astype(str))}
    coords["colour"] = (IMAGE, names[nearest])
    return xr.Dataset({"embedding": ((IMAGE, FEATURE), values), "drawn": ((IMAGE, "rgb"), drawn)}, coords)


def _grey_digits(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Grey values (n, 64) in [0, 1] and what the digits show, for one half."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, digit = load_digits(return_X_y=True)
    halves = train_test_split(pixels / 16, digit, test_size=0.5, random_state=0, stratify=digit)
    return (halves[0], halves[2]) if part == "train" else (halves[1], halves[3])


def digit_encoder(digits: xr.Dataset, *, width: int = 64, seed: int = 0) -> Callable[[xr.Dataset], xr.Dataset]:
    """A small network trained to read coloured digits; its hidden layer is the representation.

    Parameters
    ----------
    digits : what `coloured_digits` returned, the training part.
    width : units of the one hidden layer, 1 or more.
    seed : non-negative integer, for the network.

    Returns
    -------
    function of another such Dataset: the same with `embedding` (image, feature) the hidden layer's values, and
        `score` (image, label), the network's probability of each digit.

    Raises
    ------
    InputError : a width below 1.

    Examples
    --------
    >>> train = coloured_digits("moderate", 0.1, part="train")
    >>> encode = digit_encoder(train.isel(image=slice(200)), width=8)
    >>> encode(coloured_digits("moderate", 0.1)).sizes["feature"]
    8
    """
    from sklearn.neural_network import MLPClassifier

    require(width >= 1, f"width must be 1 or more, got {width}")
    network = MLPClassifier((width,), max_iter=60, random_state=seed)
    fit(network, digits["embedding"].values, digits["digit"].values)

    def encode(others: xr.Dataset) -> xr.Dataset:
        values = others["embedding"].values
        hidden = np.maximum(values @ network.coefs_[0] + network.intercepts_[0], 0).astype(np.float32)
        score = xr.DataArray(network.predict_proba(values), {"label": network.classes_}, (IMAGE, "label"))
        return others.assign(embedding=((IMAGE, FEATURE), hidden), score=score)

    return encode
