"""Data with a known bias: coloured digits and their networks; labels tied to sex or race."""

from __future__ import annotations  # help() then shows ArrayLike by its name

import warnings
from collections.abc import Callable

import numpy as np
import xarray as xr
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from frkit.base import require_number, require_one_of, require_whole, seed_sequence
from frkit.data.checks import check_faces

# Name and RGB of the colours; digit k has colour k * number of colours // 10.
PALETTES = {
    "moderate": {"red": (0.9, 0.2, 0.2), "green": (0.2, 0.9, 0.2)},
    "extreme": {
        "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0),
        "magenta": (1, 0, 1), "cyan": (0, 1, 1), "white": (1, 1, 1), "orange": (1, 0.5, 0),
        "violet": (0.5, 0, 1), "grey": (0.5, 0.5, 0.5),
    },
}  # fmt: skip
TASK, N_TASKS = "task", 8
SEX = ("female", "male")
FEMALE = 0.614  # share in the paper's CelebA (sex entropy .667)
RACE = ("Black", "White", "East Asian", "Indian")
# corners of a tetrahedron: any two have the distance 1
CORNERS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(8)
WIDTH = 64  # units of the hidden layer of a network that reads digits
SHIFT = 0.25  # by how much P(label) differs from 1/2 in a group
DISTANCE = 3.0  # of the sexes, and of any two races, in standard deviations of the noise
ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")  # more of them sum in another order


def coloured_digits(case: str, sigma: float, *, part: str = "test", seed: int = 0) -> xr.Dataset:
    """Paint digits in a colour that is drawn around the colour of the digit that is shown (Fig. 2).

    Parameters
    ----------
    case : {"moderate", "extreme"}
        Two colours for two groups of digits, or ten colours for ten digits.
    sigma : float
        Standard deviation of red, green and blue, at least 0. Values are cut to [0, 1].
    part : {"train", "test"}
        Halves of scikit-learn's 1,797 digits.
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
        Another case or part, or a negative sigma.

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
    require_whole("seed", seed, 0)
    require_number("sigma", sigma, 0)
    grey, shown = load_digits(return_X_y=True)
    halves = train_test_split(grey / 16, shown, test_size=0.5, random_state=0, stratify=shown)
    pixels, digit = halves[0::2] if part == "train" else halves[1::2]
    names = np.array([*PALETTES[case]])
    palette = np.array([*PALETTES[case].values()], float)
    rng = np.random.default_rng((seed, part == "test"))
    noise = sigma * rng.standard_normal((digit.size, 3))
    drawn = (palette[digit * len(palette) // 10] + noise).clip(0, 1)
    nearest = ((drawn[:, None] - palette) ** 2).sum(-1).argmin(1)
    values = (pixels[:, :, None] * drawn[:, None]).reshape(digit.size, -1)
    digits = _of_strangers(values, digit=digit.astype(str), colour=names[nearest])
    return digits.assign(drawn=(("image", "rgb"), drawn))


def _of_strangers(values, **labels):
    """Faces of which each image shows another person."""
    image = np.arange(len(values)).astype(str)
    attributes = {name: ("image", of_images) for name, of_images in labels.items()}
    return xr.Dataset(
        {"embedding": (("image", "feature"), values.astype(np.float32))},
        {"image": image, "identity": ("image", image), **attributes},
    )


@ONE_THREAD
def digit_encoder(digits: xr.Dataset, *, seed: int = 0) -> Callable[[xr.Dataset], xr.Dataset]:
    """Train a small network to read coloured digits; its hidden layer is the representation.

    Parameters
    ----------
    digits : xr.Dataset
        What `coloured_digits` returned, the training part.
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
    >>> encode = digit_encoder(train)
    >>> encode(coloured_digits("moderate", 0.1)).sizes["feature"]
    64
    """
    check_faces(digits, "digits")
    require_whole("seed", seed, 0)
    network = MLPClassifier((WIDTH,), max_iter=60, random_state=seed)
    with warnings.catch_warnings():  # the number of passes is fixed on purpose
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(digits["embedding"].values, digits["digit"].values)

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


def biased_tasks(n: int = 2000, *, seed: int = 0) -> xr.Dataset:
    """Draw images as vectors, with eight yes-no labels that are tied to sex or race.

    Labels 0 to 3 go along with sex, labels 4 to 7 with one race each: in that group they are 25
    percentage points more, or less, frequent than one half. Races are equally frequent, and women
    as in the paper's CelebA (.614). Sexes, and races, are 3 standard
    deviations of the noise apart. A label moves an image along an axis of its own, and along two
    more by amounts whose sign depends on sex and on race, so that no classifier suits all groups
    equally.

    Parameters
    ----------
    n : int
        Number of images, each of another person.
    seed : int
        Seed of all that is drawn.

    Returns
    -------
    xr.Dataset
        Like faces, with `label` (image, task) of 0 and 1 and the coordinates `sex` and `race`.

    References
    ----------
    Li & Abd-Almageed (2021), V-E.

    Examples
    --------
    >>> from frkit.studies import biased_tasks
    >>> dict(biased_tasks(50).sizes)
    {'image': 50, 'feature': 28, 'task': 8}
    """
    require_whole("n", n, 1)
    rng = np.random.default_rng(seed_sequence(seed))
    sex = (rng.random(n) >= FEMALE).astype(int)
    race = rng.integers(len(RACE), size=n)
    with_sex = np.where(sex[:, None] == np.arange(4) % 2, SHIFT, -SHIFT)
    with_race = np.where(race[:, None] == np.arange(4), SHIFT, -SHIFT / 3)
    chance = 0.5 + np.hstack([with_sex, with_race])
    label = (rng.random((n, N_TASKS)) < chance).astype(int)
    signal = 2.0 * label - 1
    amount = signal * np.linspace(0, 1, N_TASKS)
    values = np.hstack([
        DISTANCE * (sex[:, None] - 0.5),
        DISTANCE * CORNERS[race],
        signal,
        amount * (2 * sex[:, None] % 4 - 1),
        amount * (2 * race[:, None] % 4 - 1),
    ])  # fmt: skip
    values += rng.standard_normal(values.shape)
    faces = _of_strangers(values, sex=np.array(SEX)[sex], race=np.array(RACE)[race])
    return faces.assign(label=(("image", TASK), label))
