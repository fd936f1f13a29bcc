"""The law of the bootstrap's errors, θ* - θ~, beside that of the errors that data sets make, θ^ - θ."""

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, REPLICATE
from frkit.measures.registry import Measure
from frkit.studies.store import DATA_SET

PROBABILITIES = np.linspace(0.005, 0.995, 100)
FINE, DRAWS = 10, 200  # points of the pooled law per data set; simulated studies
CHANCE = 0.95


def error_laws(
    evaluation: xr.DataTree, truth: xr.DataArray, seed: int, chosen: Measure
) -> xr.Dataset:
    """Quantiles of θ* - θ~, pooled over data sets, and of θ^ - θ, and how far apart the two laws are."""
    nodes = {
        name: chosen(evaluation[name].to_dataset())
        for name in ("empirical", "vstatistic", "replicates")
    }
    drawn = (
        (nodes["replicates"] - nodes["vstatistic"]).transpose(FAR_LEVEL, DATA_SET, REPLICATE).values
    )
    pooled = np.sort(drawn.reshape(len(drawn), -1))
    actual = np.sort((nodes["empirical"] - truth).transpose(FAR_LEVEL, DATA_SET).values)
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    n = actual.shape[1]
    fine = np.quantile(pooled, (np.arange(FINE * n) + 0.5) / (FINE * n), axis=1).T
    # by chance: as many errors as there are data sets, drawn from the pooled law itself
    samples = [
        np.vstack([own, np.sort(rng.choice(law, (DRAWS, n)), axis=1)])
        for law, own in zip(pooled, actual)
    ]
    quantiles = np.stack([np.quantile(law, PROBABILITIES, axis=1) for law in (pooled, actual)])
    words = {
        "long_name": "quantiles of the error: θ* - θ~ of the bootstrap, θ^ - θ of the data sets"
    }
    found = {}
    for distance in (kolmogorov, wasserstein):
        of_actual, *by_chance = np.transpose([distance(*pair) for pair in zip(fine, samples)])
        found[distance.__name__] = FAR_LEVEL, of_actual
        found[f"{distance.__name__}_chance"] = FAR_LEVEL, np.quantile(by_chance, CHANCE, axis=0)
    coords = {
        "errors": ["bootstrap", "actual"],
        "probability": PROBABILITIES,
        FAR_LEVEL: truth[FAR_LEVEL],
    }
    return xr.Dataset(
        found | {"law": (("errors", "probability", FAR_LEVEL), quantiles, words)}, coords
    )


def kolmogorov(fine: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Largest difference of the distribution functions of a sorted law and of each sorted row of samples."""
    n = samples.shape[1]
    below, upto = (
        np.searchsorted(fine, samples, side=side) / len(fine) for side in ("left", "right")
    )
    # at a value v the row's own function runs from the share below v to the share up to v
    own_below = np.stack([np.searchsorted(row, row, side="left") for row in samples]) / n
    own_upto = np.stack([np.searchsorted(row, row, side="right") for row in samples]) / n
    return np.maximum(abs(below - own_below), abs(upto - own_upto)).max(1)


def wasserstein(fine: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Mean distance of the quantiles of a sorted law and of each sorted row of samples, FINE points of it a value."""
    return abs(np.repeat(samples, len(fine) // samples.shape[1], axis=1) - fine).mean(1)
