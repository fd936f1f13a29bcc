"""Exact population rates of a mixture against Monte Carlo: python
tests/benchmarks/vmf_monte_carlo.py [pairs]

Draws independent data sets until more than `pairs` (default 1.2e9) impostor pairs are counted and
prints FAR and FRR, exact and counted, overall, per group and across groups. The standard error
comes from the spread between data sets, so it is right although pairs that share an image are not
independent.
"""

import sys
import time

import numpy as np

from frkit import vmf

LEVELS = np.array([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
PER_IDENTITY = 4
CELLS = {"a": (0, 0), "b": (1, 1), "a x b": (0, 1)}


def population(n_identities: int = 1000) -> vmf.Mixture:
    """The paper's dimension and concentrations in group a; group b is harder and its faces are
    more alike."""
    groups = {"a": {}, "b": {"kappa": (60, 500), "cohesion": 15}}
    return vmf.mixture(n_identities, 128, groups=groups, seed=5)


def count_data_set(mix: vmf.Mixture, thresholds: np.ndarray, seed) -> tuple[np.ndarray, np.ndarray]:
    """FAR by cell (3, L) and FRR by group (2, L) of one data set, PER_IDENTITY images of each
    identity."""
    points = mix.sample(PER_IDENTITY, seed).embedding.values.reshape(
        2, mix.n_identities // 2, PER_IDENTITY, mix.dim
    )
    inner = np.einsum("gkip,gkjp->gkij", points, points)
    upper = np.triu_indices(PER_IDENTITY, 1)
    frr = [[np.mean(scores[:, *upper] <= t) for t in thresholds] for scores in inner]
    far = []
    for g, h in CELLS.values():
        scores = points[g].reshape(-1, mix.dim) @ points[h].reshape(-1, mix.dim).T
        own = inner[g].size if g == h else 0
        accepted = [
            np.count_nonzero(scores > t) - (np.count_nonzero(inner[g] > t) if own else 0)
            for t in thresholds
        ]
        far.append(np.array(accepted) / (scores.size - own))
    return np.array(far), np.array(frr)


def compare(
    n_pairs: float, n_identities: int = 1000, levels: np.ndarray = LEVELS
) -> tuple[list, float]:
    """Rows (rate, cell, level, exact, counted, standard error, z), and the number of impostor
    pairs."""
    mix = population(n_identities)
    exact = mix.population_roc(levels, by="group", cross=True)
    half, size = n_identities // 2, PER_IDENTITY**2
    pairs = np.array([half * (half - 1) / 2, half * (half - 1) / 2, half * half]) * size
    seeds = np.random.SeedSequence(11).spawn(max(20, 1 + int(n_pairs // pairs.sum())))
    far, frr = map(
        np.array, zip(*(count_data_set(mix, exact.threshold.values, seed) for seed in seeds))
    )
    counted = {
        ("far", "all"): np.tensordot(far, pairs / pairs.sum(), (1, 0)),
        ("frr", "all"): frr.mean(1),
    }
    counted |= {("far", name): far[:, c] for c, name in enumerate(CELLS)}
    counted |= {("frr", name): frr[:, g] for g, name in enumerate("ab")}
    truth = {("far", "all"): exact.far.values, ("frr", "all"): exact.frr.values}
    truth |= {("far", name): exact.far_cross.values[:, g, h] for name, (g, h) in CELLS.items()}
    truth |= {("frr", name): exact.frr_group.values[:, g] for g, name in enumerate("ab")}
    rows = []
    for key, values in counted.items():
        mean, error = values.mean(0), values.std(0, ddof=1) / np.sqrt(len(seeds))
        z = (mean - truth[key]) / error
        rows += [(*key, *row) for row in zip(levels, truth[key], mean, error, z)]
    return rows, len(seeds) * pairs.sum()


def main() -> None:
    """Print the table."""
    start = time.perf_counter()
    rows, pairs = compare(float(sys.argv[1]) if len(sys.argv) > 1 else 1.2e9)
    print(f"{pairs:.3g} impostor pairs in {time.perf_counter() - start:.0f} s")
    print("rate cell   FAR level  exact          counted        std. error  z")
    for rate, cell, level, exact, counted, error, z in rows:
        print(
            f"{rate}  {cell:6} {level:<10.0e} {exact:<14.7g} {counted:<14.7g} "
            f"{error:<11.2g} {z:+.2f}"
        )
    z = np.array([row[-1] for row in rows])
    print(
        f"largest |z| of {z.size}: {np.abs(z).max():.2f}; "
        f"root mean square {np.sqrt(np.mean(z**2)):.2f}"
    )


if __name__ == "__main__":
    main()
