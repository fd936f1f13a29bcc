"""The law of the bootstrap's errors θ* - θ~, compared with that of the actual errors θ^ - θ."""

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, REPLICATE
from frkit.measures.registry import Measure
from frkit.studies.store import DATA_SET

PROBABILITIES = np.linspace(0.005, 0.995, 100)
FINE, DRAWS = (
    10,
    200,
)  # points of the pooled law per data set; simulated studies
CHANCE = 0.95
WORDS = "quantiles of the error: θ* - θ~ of the bootstrap, θ^ - θ of the data sets"


def error_laws(
    evaluation: xr.DataTree, truth: xr.DataArray, seed: int, chosen: Measure
) -> xr.Dataset:
    """Quantiles of θ* - θ~, pooled over data sets, and of θ^ - θ; the distances of the two laws."""
    empirical = chosen(evaluation["empirical"].to_dataset())
    centre = chosen(evaluation["vstatistic"].to_dataset())
    replicates = chosen(evaluation["replicates"].to_dataset())
    bootstrap = (replicates - centre).transpose(FAR_LEVEL, DATA_SET, REPLICATE).values
    pooled = np.sort(bootstrap.reshape(len(bootstrap), -1))
    actual = np.sort((empirical - truth).transpose(FAR_LEVEL, DATA_SET).values)
    n = actual.shape[1]
    fine = np.quantile(pooled, (np.arange(FINE * n) + 0.5) / (FINE * n), axis=1).T
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    distances = np.empty((len(pooled), 2, 1 + DRAWS))
    for level, law in enumerate(pooled):
        # by chance: as many errors as there are data sets, drawn from the pooled law itself
        by_chance = np.sort(rng.choice(law, (DRAWS, n)), axis=1)
        samples = np.vstack([actual[level], by_chance])
        distances[level, 0] = kolmogorov(fine[level], samples)
        distances[level, 1] = wasserstein(fine[level], samples)
    chance = np.quantile(distances[..., 1:], CHANCE, axis=-1)
    quantiles = [np.quantile(law, PROBABILITIES, axis=1) for law in (pooled, actual)]
    data = {
        "kolmogorov": (FAR_LEVEL, distances[:, 0, 0]),
        "kolmogorov_chance": (FAR_LEVEL, chance[:, 0]),
        "wasserstein": (FAR_LEVEL, distances[:, 1, 0]),
        "wasserstein_chance": (FAR_LEVEL, chance[:, 1]),
        "law": (
            ("errors", "probability", FAR_LEVEL),
            np.stack(quantiles),
            {"long_name": WORDS},
        ),
    }
    coords = {
        "errors": ["bootstrap", "actual"],
        "probability": PROBABILITIES,
        FAR_LEVEL: truth[FAR_LEVEL],
    }
    return xr.Dataset(data, coords)


def kolmogorov(fine: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Largest difference of the distribution functions of a sorted law and of sorted rows."""
    n = samples.shape[1]
    below = np.searchsorted(fine, samples, side="left") / len(fine)
    upto = np.searchsorted(fine, samples, side="right") / len(fine)
    # at a value v the row's own function runs from the share below v to the share up to v
    own_below = np.stack([np.searchsorted(row, row, side="left") for row in samples]) / n
    own_upto = np.stack([np.searchsorted(row, row, side="right") for row in samples]) / n
    return np.maximum(abs(below - own_below), abs(upto - own_upto)).max(1)


def wasserstein(fine: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Mean distance of the quantiles of a sorted law and of sorted rows, which have fewer."""
    repeats = len(fine) // samples.shape[1]
    return abs(np.repeat(samples, repeats, axis=1) - fine).mean(1)
