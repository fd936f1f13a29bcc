"""Fit a von Mises-Fisher mixture to faces: a direction and a concentration for each identity."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import elementwise

from frkit.base import listed, require, warn
from frkit.data.checks import check_faces, check_rows
from frkit.vmf.densities import log_normaliser, mean_resultants
from frkit.vmf.mixture import Mixture

COPIES = 1 - 1e-6  # mean genuine score of copies, as far as float32 can tell
EM_STEPS, EM_TOLERANCE = 500, 1e-9
GRID_STEP = 0.4  # of log kappa, in standard deviations of the most precise estimate
SMALLEST_GRID, LARGEST_GRID = 101, 2000


def fit(faces: xr.Dataset) -> Mixture:
    """Fit mean directions and concentrations to the embeddings of every identity.

    The mean direction is that of the sum of the identity's images (scaled to length 1), which is
    the maximum likelihood estimate. The maximum likelihood kappa solves A_p(kappa) = |mean image|.
    With few images it is too large, because the mean direction follows the images: with two
    images it is twice too large. Therefore `fit` takes the likelihood of kappa with the mean
    direction integrated out, log h(kappa |sum|) - n log h(kappa), and log kappa normal over
    identities (empirical Bayes). The normal's mean and spread are estimated from all identities
    (EM), and kappa is exp of the posterior mean of log kappa. With many images that is the
    identity's own estimate, with one image the population's.

    Parameters
    ----------
    faces : xr.Dataset
        Dims (image, feature), one model; rows of any length. Features that are 0 in every image
        are left out.

    Returns
    -------
    Mixture
        Identities sorted by name, with the attributes of the faces. Its attribute `fitted` is a
        Dataset over identity: `n_images`, `resultant` (length of the mean image), `kappa` and
        `log_kappa_sd` (of the posterior), and two estimates of the identity alone, NaN where it has
        one image: `kappa_likelihood`, and `kappa_marginal`, which solves A_p(kappa)^2 = mean
        genuine score. Its attrs are the population's `log_kappa_mean` and `log_kappa_spread`, and
        `residual_dimension`, the number of directions in which images scatter around their means.
        It is dim - 1 for a mixture. Real embeddings have far fewer, and then the rates of the
        fitted mixture are not those of the data.

    Raises
    ------
    InputError
        For several models, images that are copies of one another, or no identity with two images.

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
    names, images = _images(faces)
    count = np.array([len(points) for points in images])
    total = np.stack([points.sum(axis=0) for points in images])
    length = np.linalg.norm(total, axis=1)
    n = np.where(count > 1, count, np.nan)  # one image has no genuine score
    mean_score = (length**2 - n) / (n * (n - 1))
    copies = names[mean_score > COPIES]
    require(
        copies.size == 0,
        f"the images of {listed(copies)} are copies of one another: no concentration fits; "
        "drop them",
    )
    are_alike = mean_score > 0
    require(bool(are_alike.any()), "no identity has two images that are alike; nothing to fit")
    dim = total.shape[1]
    resultant = length / n
    likelihood = solve_concentrations(resultant, dim)
    marginal = solve_concentrations(np.sqrt(mean_score.clip(0)), dim)
    log_kappa, log_kappa_sd, mean, spread = _posterior(length, count, marginal, dim)
    kappa = np.exp(log_kappa)
    mix = Mixture(total, kappa, _groups(faces))
    values = {
        "n_images": count,
        "resultant": resultant,
        "kappa": kappa,
        "log_kappa_sd": log_kappa_sd,
        "kappa_likelihood": likelihood,
        "kappa_marginal": marginal,
    }
    mix.fitted = xr.Dataset(
        {name: ("identity", of_identity) for name, of_identity in values.items()},
        {"identity": names},
        {
            "log_kappa_mean": mean,
            "log_kappa_spread": spread,
            "residual_dimension": _residual_dimension(images, mix),
        },
    )
    return mix


def _images(faces):
    """Names (K,) of the identities, and a list of their unit embeddings (n_k, p)."""
    check_faces(faces)
    require(
        "model" not in faces["embedding"].dims,
        "these faces contain several models: fit each, as in fk.vmf.fit(faces.sel(model=name))",
    )
    values = faces["embedding"].transpose("image", "feature").values
    check_rows(values)
    points = values.astype(float)
    points = points[:, np.any(points != 0, axis=0)]
    points /= np.linalg.norm(points, axis=1)[:, None]
    identity = faces["identity"].values
    rows_of = pd.Series(identity).groupby(identity).indices
    images = [points[rows] for rows in rows_of.values()]
    return np.array(list(rows_of)), images


def solve_concentrations(length, dim):
    """Concentrations (K,) with A_p(kappa) = length; NaN where the length is NaN or 0."""
    kappa = np.full(length.shape, np.nan)
    solvable = length > 0
    length = length[solvable]
    # Banerjee et al. (2005), eq. 4.4
    square = length**2
    rough = np.log(length * (dim - square) / (1 - square))

    def excess(log_kappa, target):
        return mean_resultants(np.exp(log_kappa), dim) - target

    root = elementwise.find_root(excess, (rough - 1, rough + 1), args=(length,))
    kappa[solvable] = np.exp(root.x)
    return kappa


def _posterior(length, count, marginal, dim):
    """Posterior mean (K,) and standard deviation (K,) of log kappa, and both of the population."""
    rough = np.log(marginal[np.isfinite(marginal)])
    degrees_of_freedom = (count.max() - 1) * (dim - 1)
    most_precise = np.sqrt(2 / degrees_of_freedom)  # sd of an estimated log kappa
    mean = rough.mean()
    spread = max(rough.std(), most_precise)
    margin = 1 + 3 * spread
    low = rough.min() - margin
    high = rough.max() + margin
    n_points = int((high - low) / (GRID_STEP * most_precise))
    grid = np.linspace(low, high, np.clip(n_points, SMALLEST_GRID, LARGEST_GRID))

    # likelihood (K, grid) with the mean direction integrated out, 1 at its largest
    kappa = np.exp(grid)
    log_h_of_sum = np.stack([log_normaliser(kappa * sum_length, dim) for sum_length in length])
    log_likelihood = log_h_of_sum - count[:, None] * log_normaliser(kappa, dim)
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))

    # EM: the posterior of every identity, then the population's mean and spread
    for _ in range(EM_STEPS):
        prior = np.exp(-0.5 * ((grid - mean) / spread) ** 2)
        posterior = likelihood * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        centre = posterior @ grid
        variance = np.maximum(posterior @ grid**2 - centre**2, 0)
        old = mean, spread
        mean = centre.mean()
        mean_square = np.mean((centre - mean) ** 2 + variance)
        spread = max(np.sqrt(mean_square), 1e-3)
        if np.allclose(old, (mean, spread), rtol=0, atol=EM_TOLERANCE):
            break
    return centre, np.sqrt(variance), float(mean), float(spread)


def _groups(faces):
    """Attributes (K,) of the identities; those that vary within one are left out with a warning."""
    labels = {
        name: coord.values
        for name, coord in faces.coords.items()
        if coord.dims == ("image",) and name not in ("image", "identity", "person")
    }
    of_identity = pd.DataFrame(labels, faces["identity"].values).groupby(level=0)
    varies = (of_identity.nunique() > 1).any()
    varying = varies.index[varies]
    if len(varying) > 0:
        warn(f"{listed(varying)} varies within identities, so the fitted mixture does not carry it")
    groups = of_identity.first().drop(columns=varying)
    return {name: groups[name].to_numpy(str) for name in groups}


def _residual_dimension(images, mix):
    """Directions in which images scatter around their means.

    It is 1 over the mean squared cosine of residuals of different identities, because directions
    share the variance.
    """
    residuals = []
    for points, mean in zip(images, mix.mean_directions):
        if len(points) > 1:
            across = points - np.outer(points @ mean, mean)
            length = np.linalg.norm(across, axis=1)
            residuals.append(across / length[:, None])
    n_within = sum(len(of_identity) ** 2 for of_identity in residuals)
    within = sum(np.sum((of_identity @ of_identity.T) ** 2) for of_identity in residuals)
    residuals = np.concatenate(residuals)
    n_pairs = len(residuals) ** 2 - n_within
    if n_pairs == 0:
        return np.nan
    everything = np.sum((residuals.T @ residuals) ** 2)
    return float(n_pairs / (everything - within))
