"""Theorems 2 and 3: what one data set says about its error, and what the error is."""

import numpy as np
import xarray as xr
from scipy.stats import ks_2samp

from frkit.base import require_inside
from frkit.evaluation.evaluate import evaluate
from frkit.resampling import Resampling
from frkit.scores.tensor import score_tensor
from frkit.studies.along import Progress, along
from frkit.vmf import Mixture
from frkit.vmf.arguments import require_population

PROBABILITIES = np.linspace(0.005, 0.995, 100)
KOLMOGOROV_95 = 1.358  # 95 % point of the distance of two large samples of one continuous law


def error_laws(
    mixture: Mixture,
    *,
    per_identity: tuple[int, ...] = (5, 10, 20, 40),
    far: float = 1e-3,
    n_datasets: int = 400,
    bootstrapped: int = 10,
    replicates: int = 400,
    seed: int = 0,
    progress: Progress = True,
) -> xr.Dataset:
    """Compare the two bootstraps of a single data set with the law of the actual error of the FRR.

    Theorem 2 says that the law of the naive error θ* - θ^ of one data set comes close to that of
    θ^ - θ as images are added, Theorem 3 that the recentered error θ* - θ~ does.

    Parameters
    ----------
    mixture : Mixture
        The vmf mixture that each data set is drawn from. Its exact FRR is the truth.
    per_identity : sequence of int
        Images per identity, each at least 2.
    far : float
        FAR level in (0, 1).
    n_datasets : int
        Data sets that give the law of the actual error.
    bootstrapped : int
        How many of them are bootstrapped, each by itself.
    replicates : int
        Replicates of each, image scheme.
    seed : int
        Seed of the data sets and of the replicates.
    progress : bool or callable
        Whether to show a progress bar; or a function that is called with the share of the work that
        is done, and ends the study by raising an exception.

    Returns
    -------
    xr.Dataset
        Over per_identity: `law`, quantiles of the naive and the recentered error of the first data
        set and of the actual error; `distance`, the Kolmogorov distance to the law of the actual
        error, and `distance_absolute`, that of absolute errors, as the theorems have it (both also
        over errors and data_set); `truth`; `chance`, what two samples of one law exceed in one of
        twenty cases.

    Raises
    ------
    InputError
        Fewer than two images per identity, or a level outside (0, 1).

    References
    ----------
    Conti & Clémençon (2024), Theorems 2 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> options = dict(n_datasets=20, bootstrapped=2, replicates=20, progress=False)
    >>> laws = fk.studies.error_laws(mix, per_identity=(3, 6), far=0.1, **options)
    >>> dict(laws.distance.sizes)
    {'per_identity': 2, 'errors': 2, 'data_set': 2}
    """
    require_inside("far", far, 0, 1)
    require_population("mixture", mixture)
    truth = mixture.population_roc([far]).frr.item()
    resampling = Resampling("image", n=replicates, seed=seed)

    def for_number(images):
        bootstraps, estimates = [], []
        for number in range(n_datasets):
            scores = score_tensor(mixture.sample(images, seed=seed + number))
            drawn = resampling if number < bootstrapped else None
            evaluation = evaluate(scores, far=[far], resampling=drawn)
            estimates.append(evaluation["empirical"].frr.item())
            if drawn:
                bootstraps.append(bootstrap_errors(evaluation))
        return law_distances(np.array(bootstraps), np.array(estimates) - truth)

    laws = along("per_identity", per_identity, for_number, progress)
    chance = KOLMOGOROV_95 * np.sqrt(1 / n_datasets + 1 / replicates)
    settings = {"far": far, "n_datasets": n_datasets, "replicates": replicates, "seed": seed}
    return laws.assign(truth=truth, chance=chance).assign_attrs(settings)


def bootstrap_errors(evaluation):
    """The naive and the recentered errors of the replicates of one data set."""
    replicates = evaluation["replicates"].frr.values.ravel()
    naive = replicates - evaluation["empirical"].frr.item()
    recentered = replicates - evaluation["vstatistic"].frr.item()
    return naive, recentered


def law_distances(bootstraps, actual):
    """Quantiles of the first data set's errors and the actual ones; distances of every data set."""
    distance = distances(bootstraps, actual)
    absolute = distances(np.abs(bootstraps), np.abs(actual))
    quantiles = [np.quantile(law, PROBABILITIES) for law in (*bootstraps[0], actual)]
    dims = ("data_set", "errors")
    return xr.Dataset(
        {
            "law": (("law_of", "probability"), quantiles),
            "distance": (dims, distance),
            "distance_absolute": (dims, absolute),
        },
        {
            "law_of": ["naive", "recentered", "actual"],
            "errors": ["naive", "recentered"],
            "probability": PROBABILITIES,
        },
    ).transpose("law_of", "errors", "data_set", "probability")


def distances(bootstraps, actual):
    """Largest differences of the distribution functions, for each data set and bootstrap."""
    return [[ks_2samp(errors, actual).statistic for errors in pair] for pair in bootstraps]
