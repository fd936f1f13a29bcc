"""The law of the bootstrap's errors θ* - θ~, compared with that of the actual errors θ^ - θ."""

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, REPLICATE
from frkit.measures.registry import Measure
from frkit.studies.store import DATA_SET

PROBABILITIES = np.linspace(0.005, 0.995, 100)
FINE = 10  # points of the pooled law per data set
DRAWS = 200  # simulated studies


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
    distances = {kolmogorov: [], wasserstein: []}
    for law, fine_law, errors in zip(pooled, fine, actual, strict=True):
        # by chance: as many errors as there are data sets, drawn from the pooled law itself
        by_chance = np.sort(rng.choice(law, (DRAWS, n)), axis=1)
        samples = np.vstack([errors, by_chance])
        for distance, values in distances.items():
            values.append(distance(fine_law, samples))
    quantiles = [np.quantile(law, PROBABILITIES, axis=1) for law in (pooled, actual)]
    data = {}
    for distance, values in distances.items():
        own, by_chance = np.split(np.array(values), [1], axis=1)
        data[distance.__name__] = FAR_LEVEL, own[:, 0]
        data[f"{distance.__name__}_chance"] = FAR_LEVEL, np.quantile(by_chance, 0.95, axis=1)
    data["law"] = ("errors", "probability", FAR_LEVEL), np.stack(quantiles)
    coords = {"errors": ["bootstrap", "actual"], "probability": PROBABILITIES}
    return xr.Dataset(data, {**coords, FAR_LEVEL: truth[FAR_LEVEL]})


def kolmogorov(fine, samples):
    """Largest difference of the distribution functions of a sorted law and of sorted rows."""
    n = samples.shape[1]
    below = np.searchsorted(fine, samples, side="left") / len(fine)
    upto = np.searchsorted(fine, samples, side="right") / len(fine)
    # at a value v the row's own function runs from the share below v to the share up to v
    own_below = np.stack([np.searchsorted(row, row, side="left") for row in samples]) / n
    own_upto = np.stack([np.searchsorted(row, row, side="right") for row in samples]) / n
    return np.maximum(abs(below - own_below), abs(upto - own_upto)).max(1)


def wasserstein(fine, samples):
    """Mean distance of the quantiles of a sorted law and of sorted rows, which have fewer."""
    repeats = len(fine) // samples.shape[1]
    return abs(np.repeat(samples, repeats, axis=1) - fine).mean(1)
