"""Coloured digits: handwritten digits whose colour is tied to what they show, and networks that read them (Fig. 3)."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import xarray as xr
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from frkit.base import FEATURE, IDENTITY, IMAGE, require
from frkit.representation import Critic, dataset_bias, distance_correlation, representation_bias
from frkit.representation.probes import fit
from frkit.studies.along import along

# Name and RGB of the colours; digit k has colour k * number of colours // 10.
PALETTES = {
    "moderate": {"red": (0.9, 0.2, 0.2), "green": (0.2, 0.9, 0.2)},
    "extreme": {
        "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0), "magenta": (1, 0, 1),
        "cyan": (0, 1, 1), "white": (1, 1, 1), "orange": (1, 0.5, 0), "violet": (0.5, 0, 1), "grey": (0.5, 0.5, 0.5),
    },
}  # fmt: skip


def coloured_digits(
    case: str, sigma: float, *, part: str = "test", copies: int = 1, seed: int = 0
) -> xr.Dataset:
    """Digits painted in a colour that is drawn around the colour of what they show (Fig. 2).

    case: "moderate" (two colours for two groups of digits) or "extreme" (ten for ten). sigma: standard deviation of
    red, green and blue around it, 0 or more, values cut to [0, 1]. part: "train" or "test", halves of scikit-learn's
    1,797 digits. copies: how often each digit is painted. Returns a Dataset like faces: `embedding` the 8 x 8 x 3
    values; coordinates `digit`, `colour` (the palette's nearest to the drawn one: the protected attribute) and
    `identity` (every image its own); `drawn` (image, rgb). Raises InputError for another case or part, a negative
    sigma, copies below 1. Li & Abd-Almageed (2021), V-B, with digits that need no download for Colored MNIST.

    >>> digits = coloured_digits("moderate", sigma=0.1)
    >>> dict(digits.sizes), sorted(set(digits.colour.values.tolist()))
    ({'image': 899, 'feature': 192, 'rgb': 3}, ['green', 'red'])
    """
    require(case in PALETTES, f"case must be 'moderate' or 'extreme', got {case!r}")
    require(part in ("train", "test"), f"part must be 'train' or 'test', got {part!r}")
    require(sigma >= 0, f"sigma must be 0 or more, got {sigma}")
    require(copies >= 1, f"copies must be 1 or more, got {copies}")
    grey, shown = load_digits(return_X_y=True)
    halves = train_test_split(grey / 16, shown, test_size=0.5, random_state=0, stratify=shown)
    pixels, digit = (np.repeat(half, copies, axis=0) for half in halves[part == "test" :: 2])
    names, palette = np.array(list(PALETTES[case])), np.array(list(PALETTES[case].values()), float)
    rng = np.random.default_rng(np.random.SeedSequence((seed, part == "test")))
    drawn = (
        palette[digit * len(palette) // 10] + sigma * rng.standard_normal((digit.size, 3))
    ).clip(0, 1)
    nearest = ((drawn[:, None] - palette) ** 2).sum(-1).argmin(1)
    values = (pixels[:, :, None] * drawn[:, None]).reshape(digit.size, -1).astype(np.float32)
    image = np.arange(digit.size).astype(str)
    coords = {IMAGE: image, IDENTITY: (IMAGE, image), "digit": (IMAGE, digit.astype(str))}
    coords["colour"] = (IMAGE, names[nearest])
    return xr.Dataset(
        {"embedding": ((IMAGE, FEATURE), values), "drawn": ((IMAGE, "rgb"), drawn)}, coords
    )


ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")  # more of them sum in another order


@ONE_THREAD
def digit_encoder(
    digits: xr.Dataset, *, width: int = 64, seed: int = 0
) -> Callable[[xr.Dataset], xr.Dataset]:
    """A small network trained to read coloured digits; its hidden layer is the representation.

    digits: what `coloured_digits` returned, the training part. width: units of the hidden layer, 1 or more. seed: of
    the network. Returns a function of another such Dataset: the same with the hidden layer as `embedding` and
    `score` (image, label), the network's probability of each digit. Raises InputError for a width below 1.

    >>> encode = digit_encoder(coloured_digits("moderate", 0.1, part="train").isel(image=slice(200)), width=8)
    >>> encode(coloured_digits("moderate", 0.1)).sizes["feature"]
    8
    """
    require(width >= 1, f"width must be 1 or more, got {width}")
    network = MLPClassifier((width,), max_iter=60, random_state=seed)
    fit(network, digits["embedding"].values, digits["digit"].values)

    @ONE_THREAD
    def encode(others: xr.Dataset) -> xr.Dataset:
        values = others["embedding"].values
        hidden = np.maximum(values @ network.coefs_[0] + network.intercepts_[0], 0).astype(
            np.float32
        )
        score = xr.DataArray(
            network.predict_proba(values), {"label": network.classes_}, (IMAGE, "label")
        )
        return others.assign(embedding=((IMAGE, FEATURE), hidden), score=score)

    return encode


def digit_bias(
    case: str,
    sigma: Sequence[float],
    *,
    sigma_test: float | None = None,
    width: int = 64,
    copies: int = 2,
    seeds: Iterable[int] = (0, 1, 2),
    critic: Critic | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """Fig. 3b and 3c: bias of networks trained on coloured digits, against the spread of the training colours.

    case, copies (of the test digits): as in `coloured_digits`. sigma: spreads of the colours in training. sigma_test:
    of the test colours; left out, that of training (Fig. 3b); the paper fixes .5 (Fig. 3c). width: hidden units.
    seeds: one network, with colours of its own, for each. critic: as in `representation_bias`. Returns, over seed and
    sigma, `rlb`, `mutual_information` (nats), `dcor2` of hidden layer and `colour`; `dataset_bias` (how well the test
    colour names the digit); `entropy` of `colour` (nats); `accuracy` in reading digits. Raises InputError as
    `coloured_digits`.

    >>> how = dict(seeds=[0], copies=1, critic=Critic(iterations=100), progress=False)
    >>> bool(digit_bias("moderate", [0.1], **how).rlb > 0.5)
    True
    """

    def row(seed: int, spread: float) -> xr.Dataset:
        encode = digit_encoder(
            coloured_digits(case, spread, part="train", seed=seed), width=width, seed=seed
        )
        test = encode(
            coloured_digits(
                case, spread if sigma_test is None else sigma_test, copies=copies, seed=seed
            )
        )
        colours = test.drop_vars(["embedding", "score"]).rename(drawn="embedding", rgb="feature")
        bias = representation_bias(test, "colour", seeds=1, critic=critic, progress=False)
        return bias[["rlb", "mutual_information", "entropy"]].assign(
            dcor2=distance_correlation(test, "colour", permutations=0).dcor2,
            dataset_bias=dataset_bias(colours, "digit"),
            accuracy=(test.score.idxmax("label") == test.digit).mean(),
        )

    found = along("seed", seeds, lambda seed: along("sigma", sigma, partial(row, seed)), progress)
    return found.assign_attrs(case=case, width=width, copies=copies)
