"""Exact rates of a mixture against Monte Carlo: python tests/benchmarks/vmf_monte_carlo.py [PAIRS]

Draws independent data sets until more than PAIRS (default 1.2e9) impostor pairs are counted and
prints FAR and FRR, exact and counted, of all and of two groups. The standard error
comes from the spread between data sets, so it is right although pairs share images.
"""

import sys

import numpy as np
import pandas as pd

from frkit import vmf

LEVELS = np.array([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
PER_IDENTITY = 4
CELLS = {"a": (0, 0), "b": (1, 1), "a x b": (0, 1)}


def count_data_set(mixture, thresholds, seed):
    """FAR by cell, (cell, level), and FRR by group, (group, level), of one data set."""
    faces = mixture.sample(PER_IDENTITY, seed).embedding.values
    faces = faces.reshape(2, mixture.n_identities // 2, PER_IDENTITY, mixture.dim)
    within = np.einsum("gkip,gkjp->gkij", faces, faces)  # pairs of images of one person
    first, second = np.triu_indices(PER_IDENTITY, 1)
    frr = [[np.mean(scores[:, first, second] <= t) for t in thresholds] for scores in within]
    far = []
    for g, h in CELLS.values():
        scores = faces[g].reshape(-1, mixture.dim) @ faces[h].reshape(-1, mixture.dim).T
        same_person = within[g] if g == h else np.array([])
        accepted = [np.sum(scores > t) - np.sum(same_person > t) for t in thresholds]
        far.append(np.array(accepted) / (scores.size - same_person.size))
    return np.array(far), np.array(frr)


def compare(n_pairs: float, n_identities: int = 1000, levels=LEVELS) -> tuple[pd.DataFrame, float]:
    """Exact and counted rates with their z, and the number of impostor pairs.

    Group a has the paper's concentrations; group b is harder and its faces are more alike.
    """
    groups = {"a": {}, "b": {"kappa": (60, 500), "cohesion": 15}}
    mixture = vmf.mixture(n_identities, 128, groups=groups, seed=5)
    exact = mixture.population_roc(levels, by="group")
    half = n_identities // 2
    pairs = np.array([half * (half - 1) / 2] * 2 + [half * half]) * PER_IDENTITY**2
    n_data_sets = max(20, 1 + int(n_pairs // pairs.sum()))
    seeds = np.random.SeedSequence(11).generate_state(n_data_sets)
    thresholds = exact.threshold.values
    data_sets = [count_data_set(mixture, thresholds, seed) for seed in seeds]
    far, frr = (np.array(rates) for rates in zip(*data_sets))
    share = pairs / pairs.sum()
    rates = {
        "FAR all": (exact.far, np.einsum("dcl,c->dl", far, share)),
        "FRR all": (exact.frr, frr.mean(1)),
    }
    for g, name in enumerate("ab"):
        rates[f"FAR {name}"] = exact.far_group.values[:, g], far[:, g]
        rates[f"FRR {name}"] = exact.frr_group.values[:, g], frr[:, g]
    tables = []
    for name, (truth, counted) in rates.items():
        columns = {"level": levels, "exact": truth, "counted": counted.mean(0)}
        table = pd.DataFrame(columns | {"error": counted.std(0, ddof=1) / np.sqrt(len(seeds))})
        tables.append(table.assign(rate=name).set_index("rate"))
    table = pd.concat(tables)
    return table.assign(z=(table.counted - table.exact) / table.error), len(seeds) * pairs.sum()


def main() -> None:
    """Print the table."""
    table, pairs = compare(float(sys.argv[1]) if len(sys.argv) > 1 else 1.2e9)
    print(table.to_string(float_format="{:.4g}".format))
    spread = np.sqrt(np.mean(table.z**2))
    print(f"{pairs:.3g} impostor pairs; largest |z| {table.z.abs().max():.2f}, rms {spread:.2f}")


if __name__ == "__main__":
    main()
