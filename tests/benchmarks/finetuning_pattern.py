"""How often does tuning to a group lower its |N|? Several populations, so that luck shows.

    python tests/benchmarks/finetuning_pattern.py --populations 8 --models 5

Takes about half a minute of processor time for 8 populations.
"""

import argparse

import numpy as np

import frkit as fk

FACTORS = {"African": 0.93, "Asian": 1.12, "Caucasian": 1.0, "Indian": 0.87}  # of concentrations
STRONG = {"n_identities": 800, "common": 4, "own": 8, "own_share": 0.8}  # as in notebook 6
WEAK = {"n_identities": 480, "common": 8, "own": 6, "own_share": 0.6}  # groups have more in common


def changes(seed: int, models: int, weak: bool) -> tuple[list, list]:
    """Change of |N| against the model tuned to all groups.

    Returns the changes of groups to which a model was tuned, and of all others when it was tuned
    to the reference. A group that is the reference in either row is left out: its N is 0.
    """
    groups = {name: {"kappa": (80 * factor, 190 * factor)} for name, factor in FACTORS.items()}
    options = WEAK if weak else STRONG
    faces = fk.vmf.subspace_mixture(groups, dim=64, seed=seed, **options).sample(5, seed=1)
    study = fk.studies.finetuning(
        faces, by="group", models=models, subset_size=40, seed=seed, progress=False
    )
    change = study.n_absolute - study.n_absolute.sel(finetuned="all", drop=True)
    reference = study.reference_eer.to_series()
    tuned_to_itself, tuned_to_reference = [], []
    for group in FACTORS:
        if group not in (reference["all"], reference[group]):
            tuned_to_itself.append(change.sel(finetuned=group, group=group).item())
        if group not in (reference["all"], reference[reference["all"]]):
            tuned_to_reference.append(change.sel(finetuned=reference["all"], group=group).item())
    return tuned_to_itself, tuned_to_reference


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--populations", type=int, default=8)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--weak", action="store_true", help="groups have more in common")
    arguments = parser.parse_args()
    studies = [
        changes(seed, arguments.models, arguments.weak) for seed in range(arguments.populations)
    ]
    for reference, lists in zip(("the group itself", "the reference"), zip(*studies), strict=True):
        change = np.concatenate(lists)
        falls = f"{np.sum(change < 0)} of {len(change)}"
        print(f"tuned to {reference}: |N| falls in {falls}, mean {change.mean():+.2f}")


if __name__ == "__main__":
    main()
