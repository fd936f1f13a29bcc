"""The law of the bootstrap's errors θ* - θ~, compared with that of the actual errors θ^ - θ."""

import numpy as np
import xarray as xr

from frkit.studies.store import DATA_SET

PROBABILITIES = np.linspace(0.005, 0.995, 100)
FINE = 10  # points of the pooled law per data set
DRAWS = 200  # simulated studies


def error_laws(evaluation, truth, seed, chosen):
    """Quantiles of θ* - θ~, pooled over data sets, and of θ^ - θ; the distances of the two laws.

    `kolmogorov_chance` and `wasserstein_chance` are distances by chance: the 95 % points over
    studies whose errors are drawn from the pooled law itself.
    """
    empirical = chosen(evaluation["empirical"].to_dataset())
    centre = chosen(evaluation["vstatistic"].to_dataset())
    replicates = chosen(evaluation["replicates"].to_dataset())
    bootstrap = (replicates - centre).transpose("far_level", DATA_SET, "replicate").values
    actual = np.sort((empirical - truth).transpose("far_level", DATA_SET).values)
    pooled = np.sort(bootstrap.reshape(len(bootstrap), -1))
    n = actual.shape[1]
    middles = (np.arange(FINE * n) + 0.5) / (FINE * n)
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    levels = []
    for law, errors in zip(pooled, actual, strict=True):
        fine = np.quantile(law, middles)
        simulated = np.sort(rng.choice(law, (DRAWS, n)), axis=1)
        kolmogorov_by_chance = [kolmogorov(fine, drawn) for drawn in simulated]
        wasserstein_by_chance = [wasserstein(fine, drawn) for drawn in simulated]
        quantiles = [np.quantile(sample, PROBABILITIES) for sample in (law, errors)]
        numbers = {
            "kolmogorov": kolmogorov(fine, errors),
            "kolmogorov_chance": np.quantile(kolmogorov_by_chance, 0.95),
            "wasserstein": wasserstein(fine, errors),
            "wasserstein_chance": np.quantile(wasserstein_by_chance, 0.95),
            "law": (("errors", "probability"), quantiles),
        }
        levels.append(xr.Dataset(numbers))
    result = xr.concat(levels, truth["far_level"])
    names = {"errors": ["bootstrap", "actual"], "probability": PROBABILITIES}
    return result.assign_coords(names).transpose("errors", "probability", "far_level")


def kolmogorov(law, errors):
    """Largest difference of the distribution functions of two sorted samples."""
    places = np.concatenate([law, errors])
    shares = [np.searchsorted(sample, places, "right") / len(sample) for sample in (law, errors)]
    return np.abs(shares[0] - shares[1]).max()


def wasserstein(law, errors):
    """Mean distance of the quantiles of two sorted samples; the first is a multiple as large."""
    repeats = len(law) // len(errors)
    return np.abs(np.repeat(errors, repeats) - law).mean()
