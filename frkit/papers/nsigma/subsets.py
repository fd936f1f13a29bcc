"""EER and TPR of many subsets of every group, from the same pairs."""

from __future__ import annotations

import hashlib

import numpy as np
import xarray as xr

from frkit.base import (
    InputError,
    gathered_notices,
    listed,
    require,
    require_inside,
    require_whole,
    warn,
)
from frkit.data.labels import attributes_of
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.sweep import swept
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores
from frkit.scores.images import images_of
from frkit.scores.kept import (
    IMAGES,
    failed_pairs,
    has_names,
    is_list,
    select_images,
    with_labels,
)

BATCH, SUBSET = "batch", "subset"
RATES = {"weighting": "pair", "people": False}  # options of all evaluations


def subset_rates(
    scores: xr.DataArray, *, by: str | list[str], varying: str = "error", **options
) -> xr.Dataset:
    """Draw subsets of the people of every group, and compute the EER and the TPR of each subset.

    The people of a subset are drawn with replacement from those of the group; a person drawn twice
    counts twice and makes no pair with the copy. All pairs weigh the same. Every group has its own
    ROC curve: its subsets' TPR is 1 - FRR at the threshold at which their own FAR is `fpr`. Groups
    draw from separate seeds, which follow their names: other groups, and the order of the
    images, change nothing.

    Parameters
    ----------
    scores, by, varying
        As in `n_sigma`.
    **options
        `subsets`, `subset_size`, `seed`, `fpr` and `threshold` of `n_sigma`.

    Returns
    -------
    xr.Dataset
        Over ([model,] batch, subset, group), with one batch: `eer`, `tpr`, and with thresholds
        `fmr` and `fnmr`, also over threshold_level. `eer_all` is that of all people of a group.

    Raises
    ------
    InputError
        For fewer than two groups; a group without genuine or impostor pairs, or with a subset that
        has none; NaN scores; an impossible number, size, rate or attribute.

    References
    ----------
    DeAlcala et al. (2023), sections IV-B to IV-D.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> rates = subset_rates(scores, by="group", subsets=10, fpr=0.1)
    >>> dict(rates.eer.sizes)
    {'batch': 1, 'subset': 10, 'group': 2}
    """
    require(by is not None, "N-Sigma compares groups: name an attribute with by=")
    kept = swept(checked_scores(scores), threshold=options.get("threshold"), by=by)
    parts = parts_of_groups(*compared_groups(kept, by, varying))
    return checked(rates_of_groups(parts, **options)).assign_attrs(by=" & ".join(attributes_of(by)))


def compared_groups(kept, by, varying):
    """Kept pairs of people as the rule for labels has them, their images, and groups of these.

    Of a list, people who have no pair within a group are in none.
    """
    n_failed, n_pairs = failed_pairs(kept)
    require(
        n_failed == 0,
        f"{n_failed:,} of {n_pairs:,} scores are NaN (failed comparisons): every subset needs all "
        "of its pairs; leave out the images that failed, or give their comparisons a score (the "
        "lowest one counts as a rejection)",
    )
    require(
        has_names(kept),
        "these pairs carry no identities, and subsets are drawn of people: give probe_identity= "
        "and reference_identity=",
    )
    images = images_of(kept, by, varying)
    n_groups = len(images.groups)
    require(n_groups >= 2, f"N-Sigma compares groups, but {by!r} has only {listed(images.groups)}")
    group = images.group_code
    options = {}
    if is_list(kept):
        options = {"by": by, "varying": varying, "impostors": "same-group"}
        probe_group, reference_group = group[images.sides]
        within = images.sides[:, probe_group == reference_group]
        is_compared = np.isin(np.arange(group.size), within)
        group = np.where(is_compared, group, n_groups)
    evaluate_parts(kept, far=[0.5], cautioned=[], **RATES, **options)  # warns of odd scores
    return with_labels(kept, identity=images.identity, person=images.person), images, group


def parts_of_groups(kept, images, group):
    """The kept pairs of each group, by its name; group : (image,) its number."""
    names = images.groups.tolist()
    return {name: select_images(kept, group == number) for number, name in enumerate(names)}


def rates_of_groups(parts, *, subsets=100, subset_size=None, seed=0, fpr=0.01, threshold=None):
    """EER and TPR of subsets of each group, over ([model,] batch, subset, group)."""
    require_whole("seed", seed, 0)
    require_whole("subsets", subsets, 2)
    require_inside("fpr", fpr, 0, 1)
    _require_people(parts, subset_size)
    tables = []
    for name, part in parts.items():
        draws = Resampling("subset", subsets, group_seed(seed, name), None, subset_size)
        try:
            table = _rates_of_group(part, fpr, threshold, draws)
        except InputError as error:
            raise InputError(f"group {name!r}: {error}") from error
        tables.append(table)
    rates = xr.concat(tables, xr.Variable("group", np.array([*parts])))
    dims = "model", "threshold_level", BATCH, SUBSET, "group"
    return rates.transpose(*dims, missing_dims="ignore").assign_attrs(
        fpr=float(fpr),
        subset_size=subset_size or "as many as the group has",
        seed=int(seed),
    )


def _require_people(parts, subset_size):
    """Refuse groups that have too few people for subsets of this size."""
    n_people = {name: len(np.unique(part[IMAGES].identity)) for name, part in parts.items()}
    smallest = min(n_people, key=n_people.get)
    fewest = n_people[smallest]
    require(fewest > 0, f"group '{smallest}' has no pair of two of its images")
    require(
        subset_size is None or require_whole("subset_size", subset_size, 2) <= fewest,
        f"subset_size must be at most {fewest}, the people of the smallest group ('{smallest}'): "
        f"larger subsets only repeat people and make σ too small; got {subset_size!r}",
    )


def _rates_of_group(kept, fpr, threshold, draws):
    """EER, TPR at a FAR level, FMR and FNMR at fixed thresholds of a group and its subsets."""
    with gathered_notices():  # those of all groups together are given
        evaluation = evaluate_parts(kept, far=[fpr], resampling=draws, **RATES)
    everybody, subsets = (
        evaluation[node].to_dataset().isel(far_level=0, drop=True)
        for node in ("empirical", "replicates")
    )
    rates = subsets[["eer", "far"]].assign(tpr=1 - subsets.frr)
    if threshold is not None:
        with gathered_notices():
            fixed = evaluate_parts(kept, threshold=threshold, resampling=draws, **RATES)
        fixed = fixed["replicates"]
        rates = rates.assign(fmr=fixed.far, fnmr=fixed.frr)
    rates = rates.rename(replicate=SUBSET).expand_dims({BATCH: [0]})
    return rates.assign(eer_all=everybody.eer).drop_attrs()


def checked(rates):
    """The rates, if every subset has some; a warning where the TPR is read at another FPR."""
    fpr, subset_size = rates.attrs["fpr"], rates.attrs["subset_size"]
    remedy = f"a subset_size above {subset_size}" if np.isreal(subset_size) else "more people"
    for group in rates["group"].values.tolist():
        subsets = rates.sel(group=group)
        require(
            subsets.tpr.notnull().all(),
            f"group {group!r}: some subsets have no genuine or no impostor pair; the group needs "
            f"{remedy}, or more people with two images",
        )
        if subsets.far.median() <= fpr / 2:
            warn(
                f"most subsets of group {group!r} have too few impostor pairs for fpr={fpr:g}: "
                "their TPR is read at an FPR of at most half of that; take a larger fpr, or larger "
                "subsets"
            )
    return rates.drop_vars("far")


def group_seed(seed, group):
    """The seed of one group's draws: it depends on the group's name, not on the other groups."""
    numbers = np.frombuffer(hashlib.sha256(group.encode()).digest(), np.uint32)
    return int(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0])
