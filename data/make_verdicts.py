"""How often a report names groups, and wrong ones: python data/make_verdicts.py

Makes data/verdicts.csv: a row for each kind of data, with the share of data sets whose headline
names two groups, names two groups in the wrong order or two equal ones, or says that groups differ.
Every data set has other people. In data sets of equal groups every name is wrong.

Embeddings: 40 people with five images in each of three groups; in unequal data the images of group
"c" have noise. Lists: 250 genuine and 4,000 impostor pairs in each of three groups, with true FRRs
of 2.5, 4.6 and 11.4 %, or of 4.6 % in all. About ten minutes of CPU time.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm
from threadpoolctl import threadpool_limits

import frkit as fk
from frkit.findings.inputs import Inputs
from frkit.reporting.verdicts import verdicts_of

HERE = Path(__file__).parent
SEED = 20261129  # no choice was made with it
GROUPS = np.array(["a", "b", "c"])
FAR = [1e-2, 1e-3]
PEOPLE, IMAGES, DIM, NOISE = 40, 5, 16, 0.35
PAIRS, IMPOSTORS = 250, 4_000
FRR = {"equal": (0.046, 0.046, 0.046), "unequal": (0.025, 0.046, 0.114)}
OPTIONS = {"weighting": None, "impostors": "all", "varying": "error"}


def embeddings(kind, rng, people=PEOPLE):
    """Faces of three groups; of unequal ones the third has noise."""
    mixture = fk.vmf.mixture(3 * people, DIM, kappa=(30, 90), seed=int(rng.integers(2**32)))
    faces = mixture.sample(IMAGES, seed=int(rng.integers(2**32)))
    group = np.repeat(GROUPS, people * IMAGES)
    embedding = faces.embedding.values
    if kind == "unequal":
        noise = rng.normal(size=embedding.shape) * NOISE / np.sqrt(DIM)
        embedding = np.where(group[:, None] == "c", embedding + noise, embedding)
    return fk.faces(embedding, faces.identity.values, group=group)


def pairs(kind, rng):
    """A list of pairs of three groups; the threshold of the rates is that of FAR 1e-3."""
    frames = []
    for group, frr in zip(GROUPS, FRR[kind]):
        genuine = norm.isf(1e-3) - norm.ppf(frr) + rng.normal(size=PAIRS)
        first = rng.integers(PAIRS, size=IMPOSTORS)
        second = (first + rng.integers(1, PAIRS, size=IMPOSTORS)) % PAIRS
        first = np.append(np.arange(PAIRS), first)
        second = np.append(np.arange(PAIRS), second)
        score = np.append(genuine, rng.normal(size=IMPOSTORS))
        people = {"id1": first, "id2": second}
        frames.append(pd.DataFrame(people | {"score": score, "group1": group, "group2": group}))
    table = pd.concat(frames)
    for side in ("id1", "id2"):
        table[side] = table.group1 + table[side].astype(str)
    table["genuine"] = table.id1 == table.id2
    return fk.open_data(table.reset_index(drop=True))


def true_order(kind, data):
    """Pairs of groups that may be named: (rate, higher, lower)."""
    if kind == "equal":
        return set()
    if data is pairs:  # people differ in FRR alone
        return {("frr", "c", "a"), ("frr", "c", "b"), ("frr", "b", "a")}
    many = embeddings(kind, np.random.default_rng(SEED), people=800)
    rates = fk.evaluate(fk.score_tensor(many), far=[FAR[-1]], by="group")["empirical"]
    allowed = set()
    for rate in ("frr", "far"):
        rate_of_groups = rates[f"{rate}_group"].isel(far_level=0).to_series()
        for other in "ab":
            order = ("c", other) if rate_of_groups["c"] > rate_of_groups[other] else (other, "c")
            allowed.add((rate, *order))
    return allowed


def main(n):
    """Write the table."""
    rows = []
    for data in (embeddings, pairs):
        for kind in ("equal", "unequal"):
            allowed = true_order(kind, data)
            counts = {"names a pair": 0, "names a wrong pair": 0, "groups differ": 0}
            for seed in range(n):
                rng = np.random.default_rng([SEED, seed, kind == "equal", data is pairs])
                levels = {"far": FAR}
                inputs = Inputs(data(kind, rng), "group", levels, OPTIONS, 0.95, True, 0)
                verdicts, _, _ = verdicts_of(inputs)
                named = []
                for verdict in verdicts:
                    if verdict.clearest:
                        pair = verdict.clearest
                        named.append((verdict.rate, pair["higher"], pair["lower"]))
                counts["names a pair"] += bool(named)
                counts["names a wrong pair"] += bool({*named} - allowed)
                counts["groups differ"] += any(verdict.differ for verdict in verdicts)
            shares = {name: count / n for name, count in counts.items()}
            rows.append({"data": data.__name__, "groups": kind, "data sets": n, **shares})
            print(rows[-1], flush=True)
    pd.DataFrame(rows).to_csv(HERE / "verdicts.csv", index=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200, help="data sets of each kind")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(parser.parse_args().n)
