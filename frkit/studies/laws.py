"""The law that a bootstrap gives for the error of an estimate, beside the law that the error has."""

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, REPLICATE
from frkit.studies.store import DATA_SET

PROBABILITIES = np.linspace(0.005, 0.995, 100)
FINE, DRAWS = 10, 200  # points of the pooled law per data set; simulated studies
CHANCE = 0.95


def laws(evaluation: xr.DataTree, truth: xr.DataArray, seed: int) -> xr.Dataset:
    """Quantiles of θ* - θ~, pooled over data sets, and of θ^ - θ, and how far apart the two laws are."""
    nodes = {name: evaluation[name].to_dataset().frr for name in ("empirical", "vstatistic", "replicates")}
    drawn = (nodes["replicates"] - nodes["vstatistic"]).transpose(FAR_LEVEL, DATA_SET, REPLICATE).values
    pooled = np.sort(drawn.reshape(len(drawn), -1))
    actual = np.sort((nodes["empirical"] - truth).transpose(FAR_LEVEL, DATA_SET).values)
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    rows = [_compared(*pair, rng) for pair in zip(pooled, actual, strict=True)]
    kolmogorov, wasserstein, k_chance, w_chance = np.transpose(rows)
    quantiles = np.stack([np.quantile(law, PROBABILITIES, axis=1) for law in (pooled, actual)])
    words = {"long_name": "quantiles of the error of the FRR: θ* - θ~ of the bootstrap, θ^ - θ of the data sets"}
    return xr.Dataset(
        {
            "kolmogorov": (FAR_LEVEL, kolmogorov),
            "kolmogorov_chance": (FAR_LEVEL, k_chance),
            "wasserstein": (FAR_LEVEL, wasserstein),
            "wasserstein_chance": (FAR_LEVEL, w_chance),
            "law": (("errors", "probability", FAR_LEVEL), quantiles, words),
        },
        coords={"errors": ["bootstrap", "actual"], "probability": PROBABILITIES, FAR_LEVEL: truth[FAR_LEVEL]},
    )


def _compared(pooled: np.ndarray, actual: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Kolmogorov's and Wasserstein's distance of two sorted samples, and the 95 % point of what chance gives.

    Chance: as many errors as there are data sets, drawn from the pooled law itself.
    """
    at = (np.arange(FINE * len(actual)) + 0.5) / (FINE * len(actual))
    fine = np.quantile(pooled, at)
    by_chance = np.sort(rng.choice(pooled, (DRAWS, len(actual))), axis=1)
    return (
        *(float(distance(fine, actual[None])[0]) for distance in (kolmogorov, wasserstein)),
        *(float(np.quantile(distance(fine, by_chance), CHANCE)) for distance in (kolmogorov, wasserstein)),
    )


def kolmogorov(fine: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Largest difference of the distribution functions of a sorted law and of each sorted row of samples."""
    n = samples.shape[1]
    below, upto = (np.searchsorted(fine, samples, side=side) / len(fine) for side in ("left", "right"))
    # at a value v the row's own function runs from the share below v to the share up to v
    own_below = np.stack([np.searchsorted(row, row, side="left") for row in samples]) / n
    own_upto = np.stack([np.searchsorted(row, row, side="right") for row in samples]) / n
    return np.maximum(abs(below - own_below), abs(upto - own_upto)).max(1)


def wasserstein(fine: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Mean distance of the quantiles of a sorted law and of each sorted row of samples, FINE points of it a value."""
    return abs(np.repeat(samples, len(fine) // samples.shape[1], axis=1) - fine).mean(1)
