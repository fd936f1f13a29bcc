"""Fit a von Mises-Fisher mixture to faces: one mean direction and one concentration for each identity."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.optimize import elementwise

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, PERSON, listed, require, warn
from frkit.data.checks import check_rows
from frkit.vmf.densities import bessel_ratios, log_normaliser, mean_resultants
from frkit.vmf.mixture import Mixture

METHODS = ("shrunk", "marginal", "likelihood")
COPIES = (
    1 - 1e-6
)  # mean genuine score above which images are copies of one another, as far as float32 can tell
EM_STEPS, EM_TOLERANCE = 500, 1e-9
GRID_STEP = 0.4  # of the grid of log kappa, in standard deviations of the best known one
LARGEST_GRID = 2000


def fit(faces: xr.Dataset, *, method: str = "shrunk") -> Mixture:
    """Fit mean directions and concentrations to the embeddings of every identity.

    The mean direction is that of the sum of the identity's images (scaled to length 1), which is the maximum
    likelihood estimate. So would be the kappa with A_p(kappa) = |mean image|, but with few images the mean
    direction has taken up much of the scatter: with two images kappa comes out twice too large. Hence

    - "marginal" solves A_p(kappa)^2 = mean genuine score of the identity, which is unbiased for A_p^2;
    - "shrunk", the default, takes the likelihood of kappa with the mean direction integrated out,
      log h(kappa |sum|) - n log h(kappa), and log kappa normal over identities; the normal's mean and spread are
      estimated from all identities (EM), and kappa is exp of the posterior mean of log kappa. With many images that is
      the identity's own estimate, with one image the population's. It is empirical Bayes.

    Parameters
    ----------
    faces : xr.Dataset
        Dims (image, feature), one model; rows of any length. Features that are 0 in every image are left out.
    method : {"shrunk", "marginal", "likelihood"}
        Which concentrations the mixture gets.

    Returns
    -------
    Mixture
        Identities sorted by name, with the attributes of the faces. Its attribute `fitted` is a Dataset over identity:
        `n_images`, `resultant` (length of the mean image), `kappa` (used), `kappa_likelihood` and `kappa_marginal` (NaN
        where there is none), `log_kappa_sd` (posterior). Its attrs hold the population's `log_kappa_mean` and
        `log_kappa_spread`, and what the data say of the model: `residual_dimension`, the number of directions in which
        images scatter around their means (dim - 1 for a mixture; real embeddings have far fewer), and `score_sd_ratio`,
        the standard deviation of genuine scores within identities over the mixture's (1 for a mixture).

    Raises
    ------
    InputError
        For several models, an unknown method, images that are copies of one another, no identity with two images, or a
        method that leaves an identity without an estimate.

    Warns
    -----
    DataWarning
        For attributes that vary within an identity: they are left out.

    References
    ----------
    Conti & Clemencon 2024, B.1; Banerjee et al. 2005 for the likelihood equation, which
    `scipy.stats.vonmises_fisher.fit` solves for one identity.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> fitted = fit(mixture(50, dim=32, kappa=(100, 200)).sample(5))
    >>> bool(100 < fitted.concentrations.mean() < 200)
    True
    """
    require(method in METHODS, f"method must be one of {listed(METHODS)}, got {method!r}")
    points, names, codes = _points(faces)
    sums = _Sums.of(points, codes)
    copies = listed(names[sums.score > COPIES])
    require(
        not copies,
        f"the images of {copies} are copies of one another: no concentration fits; drop them",
    )
    own = {"likelihood": solve_concentrations(sums.resultant, points.shape[1])}
    own["marginal"] = solve_concentrations(np.sqrt(sums.score.clip(0)), points.shape[1])
    require(
        bool(np.isfinite(own["marginal"]).any()),
        "no identity has two images that are alike; nothing to fit",
    )
    mean, spread, posterior = _population(sums, own["marginal"])
    own["shrunk"] = np.exp(posterior[0])
    lost = listed(names[~np.isfinite(own[method])])
    require(not lost, f"method {method!r} has no estimate for {lost}; take method='shrunk'")
    mix = Mixture(sums.total, own[method], _groups(faces))
    each = {
        "n_images": sums.count,
        "resultant": sums.resultant,
        "kappa": own[method],
        "log_kappa_sd": posterior[1],
    }
    each |= {"kappa_likelihood": own["likelihood"], "kappa_marginal": own["marginal"]}
    mix.fitted = xr.Dataset(
        {name: (IDENTITY, values) for name, values in each.items()},
        {IDENTITY: names},
        {
            "method": method,
            "log_kappa_mean": mean,
            "log_kappa_spread": spread,
            **_misfit(points, codes, mix, sums),
        },
    )
    return mix


class _Sums(NamedTuple):
    """Sums of unit embeddings (K, p), images (K,), length of the mean image (K,), mean genuine score (K,)."""

    total: np.ndarray
    count: np.ndarray
    resultant: np.ndarray
    score: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, codes: np.ndarray) -> "_Sums":
        count = np.bincount(codes)
        total = np.zeros((len(count), points.shape[1]))
        np.add.at(total, codes, points)
        length = np.linalg.norm(total, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(count > 1, (length**2 - count) / (count * (count - 1.0)), np.nan)
        return cls(total, count, np.where(count > 1, length / count, np.nan), score)


def _points(faces: xr.Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit embeddings (n, p) sorted by identity, names of the identities, and the identity number of every image."""
    known = "embedding" in faces and IDENTITY in faces.coords
    require(known, "fit takes faces: make them with fk.faces or fk.open_faces")
    lone = MODEL not in faces["embedding"].dims
    require(
        lone, "these faces hold several models: fit each, as in fk.vmf.fit(faces.sel(model=name))"
    )
    values = faces["embedding"].transpose(IMAGE, FEATURE).values
    check_rows(values, values, None)
    points = values.astype(float)
    points = points[:, np.any(points != 0, axis=0)]
    points /= np.linalg.norm(points, axis=1)[:, None]
    names, codes = np.unique(faces[IDENTITY].values, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    return points[order], names, codes[order]


def _groups(faces: xr.Dataset) -> dict:
    """Attributes (K,) of the identities; those that vary within one are left out with a warning."""
    _, first, codes = np.unique(faces[IDENTITY].values, return_index=True, return_inverse=True)
    names = [
        name
        for name in faces.coords
        if faces[name].dims == (IMAGE,) and name not in (IMAGE, IDENTITY, PERSON)
    ]
    labels = {name: faces[name].values[first] for name in names}
    varying = [
        name for name in names if not np.array_equal(faces[name].values, labels[name][codes])
    ]
    if varying:
        warn(f"{listed(varying)} varies within identities, so the fitted mixture does not carry it")
    return {name: labels[name] for name in names if name not in varying}


def solve_concentrations(length: np.ndarray, dim: int) -> np.ndarray:
    """Concentrations (K,) with A_p(kappa) = length; NaN where the length is NaN or 0."""
    kappa = np.full(length.shape, np.nan)
    known = length > 0
    rough = np.log(
        length[known] * (dim - length[known] ** 2) / (1 - length[known] ** 2)
    )  # Banerjee et al.
    found = elementwise.find_root(
        lambda log_kappa, target: mean_resultants(np.exp(log_kappa), dim) - target,
        (rough - 1, rough + 1),
        args=(length[known],),
    )
    kappa[known] = np.exp(found.x)
    return kappa


def _population(sums: _Sums, marginal: np.ndarray) -> tuple[float, float, tuple]:
    """Mean and spread of log kappa over identities, and its posterior mean (K,) and standard deviation (K,)."""
    dim = sums.total.shape[1]
    precision = np.sqrt(2 / ((sums.count.max() - 1) * (dim - 1)))  # of the best known log kappa
    rough = np.log(marginal[np.isfinite(marginal)])
    mean, spread = rough.mean(), max(rough.std(), precision)
    low, high = rough.min() - 1 - 3 * spread, rough.max() + 1 + 3 * spread
    grid = np.linspace(
        low, high, int(np.clip((high - low) / (GRID_STEP * precision), 101, LARGEST_GRID))
    )
    # the likelihood (K, grid) with the mean direction integrated out, 1 at its largest
    kappa, length = np.exp(grid), np.linalg.norm(sums.total, axis=1)
    alone = sums.count[:, None] * log_normaliser(kappa, dim)
    log_likelihood = np.stack([log_normaliser(kappa * size, dim) for size in length]) - alone
    likelihood = np.exp(log_likelihood - log_likelihood.max(1, keepdims=True))
    for _ in range(EM_STEPS):
        before = mean, spread
        weight = likelihood * np.exp(-0.5 * ((grid - mean) / spread) ** 2)
        weight /= weight.sum(1, keepdims=True)
        centre = weight @ grid
        width = np.sqrt(np.maximum(weight @ grid**2 - centre**2, 0))
        mean, spread = (
            centre.mean(),
            max(np.sqrt(np.mean((centre - centre.mean()) ** 2 + width**2)), 1e-3),
        )
        if np.abs(np.subtract(before, (mean, spread))).max() < EM_TOLERANCE:
            break
    return float(mean), float(spread), (centre, width)


def _misfit(points: np.ndarray, codes: np.ndarray, mix: Mixture, sums: _Sums) -> dict:
    """What the data say of the model, for the attrs of `fitted`."""
    several = sums.count[codes] > 1
    mean = mix.mean_directions[codes]
    residual = (points - (points * mean).sum(1)[:, None] * mean)[several]
    residual /= np.linalg.norm(residual, axis=1)[:, None]
    parts = np.split(residual, np.flatnonzero(np.diff(codes[several])) + 1)
    # 1 over the mean squared cosine of residuals of different identities: directions that share their variance
    square = [np.sum((part.T @ part) ** 2) for part in (residual, *parts)]
    others = len(residual) ** 2 - sum(len(part) ** 2 for part in parts)
    dimension = float(others / (square[0] - sum(square[1:]))) if others else np.nan
    return {
        "residual_dimension": dimension,
        "score_sd_ratio": _score_sd_ratio(points, codes, mix, sums),
    }


def _score_sd_ratio(points: np.ndarray, codes: np.ndarray, mix: Mixture, sums: _Sums) -> float:
    """Standard deviation of the genuine scores around the identity's mean score, over what the mixture expects."""
    first, second = bessel_ratios(mix.concentrations, mix.dim, 3)[:, 1:].T
    share = 1 - 1 / mix.dim
    of_pair = 1 / mix.dim + share * second**2 - first**4  # variance of one score
    of_image = first**2 * (
        1 / mix.dim + share * second - first**2
    )  # covariance of two that share an image
    found = expected = 0.0
    for k in np.flatnonzero(sums.count > 2):
        own, n = points[codes == k], sums.count[k]
        scores = (own @ own.T)[np.triu_indices(n, 1)]
        found += np.sum((scores - scores.mean()) ** 2)
        expected += (len(scores) - 1) * of_pair[k] - 2 * (n - 2) * of_image[k]
    return float(np.sqrt(found / expected)) if expected else np.nan
