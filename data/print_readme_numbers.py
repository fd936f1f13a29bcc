"""Print the numbers that the README compares with: python data/print_readme_numbers.py

Those of intervals, groups and representations stand in tables of this folder, each of which says
how it was made; the first is computed anew from the demo's faces. Half a minute.
"""

from pathlib import Path

import pandas as pd
from scipy.stats import beta

import frkit as fk

HERE = Path(__file__).parent


def main():
    for sentence in (people(), coverage(), equal_groups(), representation()):
        print(sentence)


def people():
    """How many comparisons the demo's are worth, and how wide an interval that ignores it is."""
    faces = fk.demo_faces().sel(model="Ash")
    frr = fk.band(fk.evaluate(fk.score_tensor(faces), far=[1e-3]), "frr").isel(far_level=0)
    images = faces.identity.to_series().value_counts()
    pairs = int((images * (images - 1)).sum() // 2)
    errors = frr.estimate.item() * pairs
    low, high = beta.ppf([0.025, 0.975], errors + 0.5, pairs - errors + 0.5)
    ratio = (frr.upper - frr.lower).item() / (high - low)
    worth = f"{frr.n_effective.item():.0f}"
    return f"{pairs:,} genuine comparisons, worth {worth}: {ratio:.1f} times as wide"


def coverage():
    """How often intervals of FAR, FRR and EER contain the truth."""
    stored = table("interval_coverage.csv")
    rates = stored[stored.measure.isin(["far", "frr", "eer"]) & (stored.method == "effective")]
    rates = rates[rates.kind.isin(["rates", "these people"])].coverage
    return f"covered in {rates.mean():.2f} over {len(rates)} settings, worst {rates.min():.2f}"


def equal_groups():
    """How often intervals of the ratio of groups contain 1 where groups are equal."""
    stored = table("interval_coverage.csv")
    equal = stored.measure.isin(["far_max_min", "frr_max_min"]) & (stored.truth == 1)
    ours = stored[equal & (stored.method == "effective")].coverage
    published = table("fairness_coverage.csv")
    published = published[(published.population == "fair") & (published.method == "recentered")]
    return (
        f"equality covered in {ours.mean():.2f} over {len(ours)} settings, {ours.min():.2f} to "
        f"{ours.max():.2f}; published {published.share.min():.2f} to {published.share.max():.2f}"
    )


def representation():
    """What is read of genders that were dealt anew to the people of LFW."""
    stored = table("representation_checks.csv")
    dealt = stored[stored.study == "permuted"]
    return f"in-sample {dealt.rlb_in_sample.mean():.2f} of 1, held out {abs(dealt.rlb.mean()):.2f}"


def table(name):
    return pd.read_csv(HERE / name, comment="#")


if __name__ == "__main__":
    main()
