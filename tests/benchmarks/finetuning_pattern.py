"""How often does tuning to a group lower its |N|? Several populations, so that no lucky one is
shown alone.

    python tests/benchmarks/finetuning_pattern.py --populations 8 --models 5

Takes about half a minute of processor time for 8 populations.
"""

import argparse

import numpy as np

import frkit as fk

FACTORS = {
    "African": 0.93,
    "Asian": 1.12,
    "Caucasian": 1.0,
    "Indian": 0.87,
}  # of the concentrations


STRONG = {"n_identities": 800, "common": 4, "own": 8, "own_share": 0.8}  # as in notebook 6
WEAK = {"n_identities": 480, "common": 8, "own": 6, "own_share": 0.6}  # groups have more in common


def population(seed: int, weak: bool = False) -> fk.vmf.Mixture:
    """The mixture of notebook 6 with another seed, or one whose groups differ less."""
    groups = {name: {"kappa": (80 * factor, 190 * factor)} for name, factor in FACTORS.items()}
    return fk.vmf.subspace_mixture(groups, dim=64, seed=seed, **(WEAK if weak else STRONG))


def changes(seed: int, models: int, weak: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Change of |N| against "all": of the group tuned to, and of all others when the reference is
    tuned to.

    Groups that are the reference in either row are left out: their N is 0.
    """
    how = dict(by="group", models=models, subset_size=40, seed=seed, progress=False)
    found = fk.studies.finetuning(population(seed, weak).sample(5, seed=1), **how)
    change = found.n_absolute - found.n_absolute.sel(finetuned="all", drop=True)
    best = found.reference_eer.sel(finetuned="all").item()
    of_row = {name: found.reference_eer.sel(finetuned=name).item() for name in FACTORS}
    own = [
        change.sel(finetuned=name, group=name).item()
        for name in FACTORS
        if name not in (best, of_row[name])
    ]
    others = [
        change.sel(finetuned=best, group=name).item()
        for name in FACTORS
        if name not in (best, of_row[best])
    ]
    return np.array(own), np.array(others)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--populations", type=int, default=8)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--weak", action="store_true", help="groups have more in common")
    asked = parser.parse_args()
    found = [changes(seed, asked.models, asked.weak) for seed in range(asked.populations)]
    for words, part in zip(
        ("tuned to the group itself", "tuned to the reference"), zip(*found), strict=True
    ):
        all_of_them = np.concatenate(part)
        print(
            f"{words}: |N| falls in {np.sum(all_of_them < 0)} of {len(all_of_them)}, "
            f"mean {all_of_them.mean():+.2f}"
        )


if __name__ == "__main__":
    main()
