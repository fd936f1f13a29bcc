"""Run the study of Theorems 2 and 3: python data/make_bootstrap_laws.py

Makes data/bootstrap_laws.nc: the mixture of notebook 2, 400 data sets of 5, 10, 20 and 40 images
per identity, ten of them with 400 replicates each, at FAR 1e-3. About ten minutes of CPU time.

Theorem 2 of Conti & Clémençon (2024) says that the law of the naive error θ* - θ^ of one data set
comes close to that of θ^ - θ as images are added, Theorem 3 that the recentered error θ* - θ~ does.
"""

import time
from pathlib import Path

import numpy as np
import xarray as xr
from scipy.stats import ks_2samp

import frkit as fk
from frkit.papers.along import along

FILE = Path(__file__).with_name("bootstrap_laws.nc")
PROBABILITIES = np.linspace(0.005, 0.995, 100)
KOLMOGOROV_95 = 1.358  # 95 % point of the distance of two large samples of one continuous law


def error_laws(
    mixture,
    *,
    per_identity=(5, 10, 20, 40),
    far=1e-3,
    n_datasets=400,
    bootstrapped=10,
    replicates=400,
    seed=0,
):
    """Compare both bootstraps of single data sets with the law of the actual error of the FRR.

    per_identity: images per identity, one row each. n_datasets: data sets that give the law of the
    actual error; `bootstrapped` of them are bootstrapped, each by itself.

    Returns, over per_identity: `law`, quantiles of the naive and the recentered error of the first
    data set and of the actual error; `distance`, the Kolmogorov distance to the law of the actual
    error, and `distance_absolute`, that of absolute errors, as the theorems have it (both also over
    errors and data_set); `truth`; `chance`, what two samples of one law exceed in one of twenty
    cases.
    """
    truth = mixture.population_roc([far]).frr.item()
    resampling = fk.Resampling("image", n=replicates, seed=seed)

    def for_number(images):
        bootstraps, estimates = [], []
        for number in range(n_datasets):
            scores = fk.score_tensor(mixture.sample(images, seed=seed + number))
            drawn = resampling if number < bootstrapped else None
            evaluation = fk.evaluate(scores, far=[far], resampling=drawn)
            estimates.append(evaluation["empirical"].frr.item())
            if drawn:
                bootstraps.append(bootstrap_errors(evaluation))
        return law_distances(np.array(bootstraps), np.array(estimates) - truth)

    laws = along("per_identity", per_identity, for_number)
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


def main():
    cpu = time.process_time()
    mixture = fk.vmf.mixture(200, 64, kappa=(40, 150), seed=0)
    laws = error_laws(mixture)
    laws.attrs |= {
        "command": "python data/make_bootstrap_laws.py",
        "population": "200 identities, dimension 64, concentrations uniform on (40, 150)",
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
    packed = {variable: {"dtype": "float32", "zlib": True} for variable in laws.data_vars}
    laws.to_netcdf(FILE, engine="h5netcdf", encoding=packed)
    print(f"{FILE.name}: {laws.attrs['cpu_seconds']} CPU seconds")


if __name__ == "__main__":
    main()
