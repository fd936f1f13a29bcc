"""Identities crossed with sex and race at preset shares, and an encoder trained to tell identities apart (Fig. 4)."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, require

SEX = ("female", "male")
RACE = ("Black", "White", "East Asian", "Indian")


def crossed_faces(
    n_identities: int = 40,
    per_identity: int = 10,
    *,
    female: float = 0.5,
    black: float = 0.25,
    crossed: bool = True,
    dim: int = 12,
    strength: float = 4.0,
    seed: int = 0,
) -> xr.Dataset:
    """Images as vectors: who is shown, plus sex, plus race, plus noise.

    As in the paper's synthetic faces, the same identity is painted with every sex and race, so that these are no part
    of who is shown. Sex moves an image along one axis, race along three others; identity moves it along all.

    Parameters
    ----------
    n_identities, per_identity : int, people and images of each.
    female, black : shares in (0, 1); the other races have equal parts of the rest.
    crossed : whether every image draws its sex and race anew. Otherwise each person has one of both, with counts as
        near to the shares as can be: the form of a test set.
    dim : number of features, 4 or more.
    strength : distance between the two sexes, and between any two races, in standard deviations of the identities.
    seed : non-negative integer.

    Returns
    -------
    faces Dataset (image, feature) with the attributes `sex` and `race`.

    Raises
    ------
    InputError : a share outside (0, 1), too few features.

    References
    ----------
    Li & Abd-Almageed (2021), Sections V-C and V-D, with vectors in place of StyleGAN2's images.

    Examples
    --------
    >>> faces = crossed_faces(20, 4, female=0.2)
    >>> dict(faces.sizes), sorted(set(faces.sex.values.tolist()))
    ({'image': 80, 'feature': 12}, ['female', 'male'])
    """
    require(0 < female < 1 and 0 < black < 1, f"shares must lie in (0, 1), got female {female}, black {black}")
    require(dim >= 4, f"dim must be 4 or more, for sex and race have four axes; got {dim}")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    person = np.repeat(np.arange(n_identities), per_identity)
    shares = np.outer([female, 1 - female], [black, *3 * [(1 - black) / 3]]).ravel()
    if crossed:
        cell = rng.choice(shares.size, person.size, p=shares)
    else:
        cell = _dealt(n_identities, shares, rng)[person]
    values = rng.standard_normal((n_identities, dim))[person] + rng.standard_normal((person.size, dim))
    sex, race = np.divmod(cell, len(RACE))
    values[:, 0] += strength * (sex - 0.5)
    values[:, 1:4] += strength * tetrahedron()[race]
    labels = {"sex": np.array(SEX)[sex], "race": np.array(RACE)[race]}
    coords = {IMAGE: np.arange(person.size).astype(str), IDENTITY: (IMAGE, np.array([f"id{k:04d}" for k in person]))}
    how = {"varying": "keep"} if crossed else {}
    coords |= {name: (IMAGE, label, how) for name, label in labels.items()}
    return xr.Dataset({"embedding": ((IMAGE, FEATURE), values.astype(np.float32))}, coords)


def _dealt(n: int, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Cells (n,) in the given shares, as near as can be, in random order."""
    return rng.permutation(np.searchsorted(np.cumsum(shares), (np.arange(n) + 0.5) / n))


def tetrahedron() -> np.ndarray:
    """Four points (4, 3) around 0, any two at distance 1."""
    return np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(8)


def identity_encoder(faces: xr.Dataset, *, width: int = 8) -> Callable[[xr.Dataset], xr.Dataset]:
    """A linear discriminant encoder, trained to tell the identities of `faces` apart.

    Parameters
    ----------
    faces : faces Dataset (image, feature), several images of every identity.
    width : features that the encoder keeps, 1 or more.

    Returns
    -------
    function of another faces Dataset: the same with `embedding` (image, feature) the encoder's `width` features.

    Raises
    ------
    InputError : a width that the data do not allow.

    Examples
    --------
    >>> encode = identity_encoder(crossed_faces(40, 6), width=3)
    >>> encode(crossed_faces(20, 4, seed=1)).sizes["feature"]
    3
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    limit = min(faces.sizes[FEATURE], np.unique(faces[IDENTITY]).size - 1)
    require(1 <= width <= limit, f"width must lie in 1 to {limit} for these faces, got {width}")
    discriminant = LinearDiscriminantAnalysis(n_components=width)
    discriminant.fit(faces["embedding"].values, faces[IDENTITY].values)

    def encode(others: xr.Dataset) -> xr.Dataset:
        values = discriminant.transform(others["embedding"].values).astype(np.float32)
        return others.assign(embedding=((IMAGE, FEATURE), values))

    return encode


def dominant_share(entropy: float, classes: int) -> float:
    """The share of one class at which the entropy is reached while the other classes are equal.

    Parameters
    ----------
    entropy : nats, in (0, log(classes)].
    classes : number of classes, 2 or more.

    Returns
    -------
    float in [1/classes, 1).

    Raises
    ------
    InputError : an entropy outside that range.

    References
    ----------
    Li & Abd-Almageed (2021), Section V-D: datasets of a preset entropy.

    Examples
    --------
    >>> round(dominant_share(0.5, 2), 4), dominant_share(np.log(4), 4)
    (0.8003, 0.25)
    """
    from scipy.optimize import brentq
    from scipy.special import entr

    highest = np.log(classes)
    require(0 < entropy <= highest + 1e-9, f"entropy must lie in (0, {highest:.4g}] nats, got {entropy}")

    def excess(share: float) -> float:
        return float(entr(share) + (classes - 1) * entr((1 - share) / (classes - 1))) - entropy

    return float(brentq(excess, 1 / classes, 1 - 1e-12)) if excess(1 / classes) > 0 else 1 / classes
