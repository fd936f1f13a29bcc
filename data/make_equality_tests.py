"""Size and power of four tests of equal FRR: python data/make_equality_tests.py

Makes data/equality_tests.csv. Every person has an FRR of his own, from a beta distribution, and
errors in so many genuine pairs; the threshold is fixed. Groups are equal, or some have a higher
FRR. Four tests ask whether the groups' FRRs are equal, at 5 %:

own        chi-square with each group's own effective number, drawn towards its people
pooled     frkit's test: variance of the people of all groups
bootstrap  people drawn with replacement within groups; the largest difference, centred
truth      chi-square with the true difference between people, which nobody knows

About three minutes for 1,000 data sets of each design.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from frkit.evaluation.borrowing import pooled_frr
from frkit.intervals.pooled import Groups, p_of_equality

HERE = Path(__file__).parent
SEED, DATA_SETS, REPLICATES = 20261129, 1000, 199
FRR, SPREAD = 0.06, 0.15  # of people: mean, and variance in units of FRR (1 - FRR)
SKEWED = [1, 1, 3, 3, 6, 10, 15, 28, 91, 190]  # genuine pairs of people of a list
DESIGNS = {  # people and genuine pairs of each group, FRR of each where they differ
    "2 x 20": ([20] * 2, [10] * 2, [1, 2.5]),
    "2 x 100": ([100] * 2, [10] * 2, [1, 1.8]),
    "20 + 200": ([20, 200], [10, 10], [2.2, 1]),
    "8 x 20": ([20] * 8, [10] * 8, [1, 1, 1, 1, 1, 1, 1.5, 3]),
    "8 x 50": ([50] * 8, [10] * 8, [1, 1, 1, 1, 1, 1, 1.5, 2]),
    "40 with 3 + 160 with 45": ([40, 160], [3, 45], [2, 1]),
    "4 x 12, 1 to 190 pairs": ([12] * 4, [SKEWED] * 4, [1, 1, 1, 3]),
    "8 x 20, 1 to 190 pairs": ([20] * 8, [SKEWED] * 8, [1, 1, 1, 1, 1, 1, 1.5, 3]),
}


def data_set(rng, people, pairs, rates):
    """FRR, number of pairs and group of each person."""
    group = np.repeat(np.arange(len(people)), people)
    mean = np.array(rates)[group]
    size = 1 / SPREAD - 1
    frr = rng.beta(mean * size, (1 - mean) * size)
    pairs = np.concatenate([np.resize(each, count) for each, count in zip(pairs, people)])
    return rng.binomial(pairs, frr) / pairs, pairs, group


def means(values, group):
    """Mean of the people of each group, over the last axis."""
    return np.stack([values[..., group == g].mean(-1) for g in range(group.max() + 1)], -1)


def groups(rate, group, n, df):
    """The groups with these effective numbers, as frkit tests them."""
    return Groups(means(rate, group), n, df)


def own_effective(rate, pairs, group):
    """Each group's own effective number."""
    n = []
    for g in range(group.max() + 1):
        mine = rate[group == g]
        p, people = mine.mean(), len(mine)
        variance = mine.var(ddof=1) / people
        number = p * (1 - p) / variance if variance > 0 else np.inf
        number = min(number, pairs[group == g].sum())
        seen = mine.sum() ** 2 / max((mine**2).sum(), 1e-300)
        n.append(number * min(people / number, 1) ** (2 / (seen + 2)))
    return p_of_equality(groups(rate, group, np.array(n), np.inf))


def pooled(rate, pairs, group):
    """Frkit's test."""
    weight = (group == np.arange(group.max() + 1)[:, None]).astype(float)
    of_all = pooled_frr(rate * weight, pairs * weight, weight)
    return p_of_equality(groups(rate, group, of_all.n, of_all.df))


def bootstrap(rate, _pairs, group, rng):
    """Largest difference of groups whose people are drawn with replacement."""
    observed = means(rate, group)
    drawn = []
    for g, mean in enumerate(observed):
        mine = rate[group == g]
        drawn.append(rng.choice(mine, (REPLICATES, len(mine))).mean(1) - mean)
    reached = np.ptp(drawn, axis=0) >= np.ptp(observed) - 1e-12
    return (1 + reached.sum()) / (REPLICATES + 1)


def truth(rate, pairs, group):
    """True share of the variance that is people's own."""
    within = np.array([(1 / pairs[group == g]).mean() for g in range(group.max() + 1)])
    people = np.bincount(group)
    n = people / (SPREAD + (1 - SPREAD) * within)
    return p_of_equality(groups(rate, group, n, np.inf))


def main():
    """Count how often each test calls the groups different."""
    rows = []
    for design, (people, pairs, unequal) in DESIGNS.items():
        for kind, factors in (("equal", [1] * len(people)), ("unequal", unequal)):
            rates = FRR * np.array(factors)
            p = []
            for number in range(DATA_SETS):
                rng = np.random.default_rng([SEED, number])
                rate, rates_of_people, group = data_set(rng, people, pairs, rates)
                data = rate, rates_of_people, group
                tests = {
                    "own": own_effective(*data),
                    "pooled": pooled(*data),
                    "bootstrap": bootstrap(*data, rng),
                    "truth": truth(*data),
                }
                p.append(tests)
            called = (pd.DataFrame(p) < 0.05).mean()
            about = {"design": design, "groups are": kind, "data_sets": DATA_SETS}
            rows += [about | {"test": test, "called": share} for test, share in called.items()]
    with open(HERE / "equality_tests.csv", "w", encoding="utf-8") as file:
        file.write(f"# python data/make_equality_tests.py; seed {SEED}\n")
        pd.DataFrame(rows).to_csv(file, index=False)


if __name__ == "__main__":
    main()
