"""Coloured digits: the colour is tied to the digit that is shown; and networks that read them."""

from __future__ import annotations  # help() then shows ArrayLike by its name

from collections.abc import Callable

import numpy as np
import xarray as xr
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from frkit.base import require_number, require_one_of, require_whole
from frkit.data.checks import check_faces
from frkit.representation.probes import fit_quietly

# Name and RGB of the colours; digit k has colour k * number of colours // 10.
PALETTES = {
    "moderate": {"red": (0.9, 0.2, 0.2), "green": (0.2, 0.9, 0.2)},
    "extreme": {
        "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0),
        "magenta": (1, 0, 1), "cyan": (0, 1, 1), "white": (1, 1, 1), "orange": (1, 0.5, 0),
        "violet": (0.5, 0, 1), "grey": (0.5, 0.5, 0.5),
    },
}  # fmt: skip
ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")  # more of them sum in another order


def coloured_digits(
    case: str, sigma: float, *, part: str = "test", copies: int = 1, seed: int = 0
) -> xr.Dataset:
    """Paint digits in a colour that is drawn around the colour of the digit that is shown (Fig. 2).

    Parameters
    ----------
    case : {"moderate", "extreme"}
        Two colours for two groups of digits, or ten colours for ten digits.
    sigma : float
        Standard deviation of red, green and blue, at least 0. Values are cut to [0, 1].
    part : {"train", "test"}
        Halves of scikit-learn's 1,797 digits.
    copies : int
        How often each digit is painted, at least 1.
    seed : int
        Seed of the colours.

    Returns
    -------
    xr.Dataset
        Like faces: `embedding` (image, feature), the 8 x 8 x 3 values; `drawn` (image, rgb);
        coordinates `digit`, `colour` (the palette's nearest to the drawn one, the protected
        attribute) and `identity` (every image its own).

    Raises
    ------
    InputError
        Another case or part, a negative sigma, or a number of copies that is not whole.

    References
    ----------
    Li & Abd-Almageed (2021), V-B, with digits that need no download in place of Colored MNIST.

    Examples
    --------
    >>> from frkit.studies import coloured_digits
    >>> digits = coloured_digits("moderate", sigma=0.1)
    >>> dict(digits.sizes), sorted(set(digits.colour.values.tolist()))
    ({'image': 899, 'feature': 192, 'rgb': 3}, ['green', 'red'])
    """
    require_one_of("case", case, PALETTES)
    require_one_of("part", part, ("train", "test"))
    require_whole("copies", copies, 1)
    require_whole("seed", seed, 0)
    require_number("sigma", sigma, 0)
    grey, shown = load_digits(return_X_y=True)
    halves = train_test_split(grey / 16, shown, test_size=0.5, random_state=0, stratify=shown)
    pixels, digit = halves[0::2] if part == "train" else halves[1::2]
    pixels = np.repeat(pixels, copies, axis=0)
    digit = np.repeat(digit, copies)
    names = np.array(list(PALETTES[case]))
    palette = np.array(list(PALETTES[case].values()), float)
    rng = np.random.default_rng((seed, part == "test"))
    noise = sigma * rng.standard_normal((digit.size, 3))
    drawn = (palette[digit * len(palette) // 10] + noise).clip(0, 1)
    nearest = ((drawn[:, None] - palette) ** 2).sum(-1).argmin(1)
    values = (pixels[:, :, None] * drawn[:, None]).reshape(digit.size, -1)
    image = np.arange(digit.size).astype(str)
    data = {
        "embedding": (("image", "feature"), values.astype(np.float32)),
        "drawn": (("image", "rgb"), drawn),
    }
    coords = {
        "image": image,
        "identity": ("image", image),
        "digit": ("image", digit.astype(str)),
        "colour": ("image", names[nearest]),
    }
    return xr.Dataset(data, coords)


@ONE_THREAD
def digit_encoder(
    digits: xr.Dataset, *, width: int = 64, seed: int = 0
) -> Callable[[xr.Dataset], xr.Dataset]:
    """Train a small network to read coloured digits; its hidden layer is the representation.

    Parameters
    ----------
    digits : xr.Dataset
        What `coloured_digits` returned, the training part.
    width : int
        Units of the hidden layer, at least 1.
    seed : int
        Seed of the network.

    Returns
    -------
    callable
        A function that takes other digits and returns them with the hidden layer as `embedding`
        and with `score` (image, label), the network's probability of each digit.

    Examples
    --------
    >>> from frkit.studies import coloured_digits, digit_encoder
    >>> train = coloured_digits("moderate", 0.1, part="train").isel(image=slice(200))
    >>> encode = digit_encoder(train, width=8)
    >>> encode(coloured_digits("moderate", 0.1)).sizes["feature"]
    8
    """
    check_faces(digits, "digits")
    require_whole("width", width, 1)
    require_whole("seed", seed, 0)
    network = MLPClassifier((width,), max_iter=60, random_state=seed)
    fit_quietly(network, digits["embedding"].values, digits["digit"].values)

    @ONE_THREAD
    def encode(others):
        values = others["embedding"].values
        hidden = np.maximum(values @ network.coefs_[0] + network.intercepts_[0], 0)
        labels = {"label": network.classes_}
        score = xr.DataArray(network.predict_proba(values), labels, ("image", "label"))
        return others.assign(
            embedding=(("image", "feature"), hidden.astype(np.float32)), score=score
        )

    return encode
