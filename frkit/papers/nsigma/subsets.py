"""EER and TPR of many subsets of every group, from the same pairs."""

from __future__ import annotations

import hashlib

import numpy as np
import xarray as xr

from frkit.base import (
    listed,
    require,
    require_inside,
    require_one_of,
    require_whole,
    warn,
)
from frkit.data.labels import VARYING_RULES, attributes_of
from frkit.evaluation.cautions import cautions, sentences_of_models
from frkit.evaluation.design import make_design
from frkit.evaluation.error_rates import (
    eer,
    far,
    frr,
    thresholds,
    weights_of_data,
    weights_of_replicate,
)
from frkit.evaluation.options import asked_levels
from frkit.evaluation.populations import populations_of_groups, whole_population
from frkit.evaluation.rate_tables import of_models, stacked
from frkit.evaluation.sweep import swept
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores
from frkit.scores.images import images_of
from frkit.scores.kept import (
    failed_pairs,
    has_names,
    is_list,
    model_names_of,
    pairs_of_models,
    with_labels,
)

BATCH, SUBSET = "batch", "subset"
NONE = np.empty(0)


def subset_rates(
    scores: xr.DataArray,
    *,
    by: str | list[str],
    seed: int = 0,
    varying: str = "error",
    **options,
) -> xr.Dataset:
    """Draw subsets of the people of every group, and compute the EER and the TPR of each subset.

    The people of a subset are drawn with replacement from those of the group; a person drawn twice
    counts twice and makes no pair with the copy. All pairs weigh the same. Every group has its own
    ROC curve: its subsets' TPR is 1 - FRR at the threshold at which their own FAR is `fpr`. Groups
    draw from separate seeds, which follow their names: other groups, and the order of the
    images, change nothing.

    Parameters
    ----------
    scores, by, seed, varying
        As in `n_sigma`.
    **options
        `subsets`, `subset_size`, `fpr` and `threshold` of `n_sigma`.

    Returns
    -------
    xr.Dataset
        Over ([model,] batch, subset, group), with one batch: `eer`, `tpr`, and with thresholds
        `fmr` and `fnmr`, also over threshold_level. `eer_all` and `tpr_all` are those of all people
        of a group, `n_people` their number.

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
    require_one_of("varying", varying, VARYING_RULES)
    require_whole("seed", seed, 0)
    kept = swept(checked_scores(scores), threshold=options.get("threshold"), by=by)
    design, group, names = compared_groups(kept, by, varying)
    rates = rates_of_labels(kept, design, names, [(group, seed)], **options)
    return rates.isel(labels=0).assign_attrs(by=" & ".join(attributes_of(by)), seed=int(seed))


def compared_groups(kept, by, varying):
    """The design of kept pairs, the number of the group of each row, and the groups' names.

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
    names = images.groups.tolist()
    require(len(names) >= 2, f"N-Sigma compares groups, but {by!r} has only {listed(names)}")
    if not is_list(kept):  # in any two groups: labels may be permuted
        people = {"identity": images.identity, "person": images.person}
        design = make_design(with_labels(kept, **people), weighting="pair")
        return design, images.group_code, names
    design = make_design(kept, by=by, varying=varying, weighting="pair", impostors="same-group")
    row, col = images.sides
    group = images.group_code
    is_within = group[row] == group[col]
    compared = np.zeros(len(group), bool)
    compared[row[is_within]] = compared[col[is_within]] = True
    return design, np.where(compared, group, len(names)), names


def rates_of_labels(
    kept, design, names, labels, *, subsets=100, subset_size=None, fpr=0.01, threshold=None
):
    """EER and TPR of subsets, over ([model,] labels, batch, subset, group).

    names : of the groups. labels : for each labelling of the rows the number of the group of each
    row, and a seed.
    """
    require_whole("subsets", subsets, 2)
    require_inside("fpr", fpr, 0, 1)
    levels = [fpr] if threshold is None else None
    _, fixed_thresholds, level_labels = asked_levels(levels, threshold, kept)
    n_people = _people_of_groups(design, names, labels[0][0], subset_size)
    drawn = [
        _draws(design, names, *group_and_seed, subsets, subset_size) for group_and_seed in labels
    ]
    tables = []
    warned: dict = {}
    models = model_names_of(kept) or [None]
    for model, pairs, fixed in zip(models, pairs_of_models(kept), fixed_thresholds):
        whole = whole_population(design, pairs)
        noted = {"eer": eer(whole, weights_of_data(whole))[0]}
        for sentence in cautions(whole, noted, NONE, pairs.lowest, pairs.highest):
            warned.setdefault(sentence, []).append(model)
        of_labels = [
            _rates_of_subsets(whole, group, counts, fpr, fixed)
            for (group, _), counts in zip(labels, drawn)
        ]
        tables.append(xr.concat(of_labels, "labels"))
    for sentence in sentences_of_models(warned):
        warn(sentence)
    rates = of_models(tables, kept).assign_coords(group=names)
    of_all, of_subsets = rates.isel(replicate=0), rates.isel(replicate=slice(1, None))
    _check_subsets(of_all, of_subsets, fpr, subset_size)
    result = of_subsets.drop_vars("far").rename(replicate=SUBSET).expand_dims({BATCH: [0]})
    result = result.assign(eer_all=of_all.eer, tpr_all=of_all.tpr, n_people=("group", n_people))
    result = result.assign_coords({SUBSET: np.arange(subsets)})
    if level_labels is not None:
        result = result.assign_coords(threshold_level=level_labels)
    dims = "model", "threshold_level", "labels", BATCH, SUBSET, "group"
    return result.transpose(*dims, missing_dims="ignore").assign_attrs(
        fpr=float(fpr), subset_size=subset_size or "as many as the group has"
    )


def _people_of_groups(design, names, group, subset_size):
    """How many people each group has; there are enough for subsets of this size."""
    identity = design.images.identity_code
    n_people = [len(np.unique(identity[group == number])) for number in range(len(names))]
    fewest = min(n_people)
    smallest = names[n_people.index(fewest)]
    require(fewest > 0, f"group {smallest!r} has no pair of two of its images")
    require(
        subset_size is None or require_whole("subset_size", subset_size, 2) <= fewest,
        f"subset_size must be at most {fewest}, the people of the smallest group ({smallest!r}): "
        f"larger subsets only repeat people and make σ too small; got {subset_size!r}",
    )
    return n_people


def _draws(design, names, group, seed, n, size):
    """How often each identity counts: all people of a group once, then in each of n subsets.

    A table (1 + n, identity) for each group of one labelling.
    """
    images = design.images
    _, first = np.unique(images.identity_code, return_index=True)
    person = images.person[first]
    drawn_of_groups = []
    for number, name in enumerate(names):
        present = np.unique(images.identity_code[group == number])
        draws = Resampling("subset", n, group_seed(seed, name), None, size)
        drawn = draws.weights(images.identities[present], person=person[present])
        counts = np.zeros((1 + n, len(first)), np.uint16)
        counts[0, present] = 1
        counts[1:, present] = drawn.identity_count.values
        drawn_of_groups.append(counts)
    return drawn_of_groups


def _rates_of_subsets(whole, group, drawn_of_groups, fpr, fixed):
    """EER, TPR at a FAR level, FMR and FNMR at fixed thresholds, over (replicate, group)."""
    populations = populations_of_groups(whole, group, len(drawn_of_groups))
    once = np.ones(len(group), np.uint8)
    tables = []
    for population, counts in zip(populations.values(), drawn_of_groups):
        subsets = [
            _rates(population, weights_of_replicate(population, once, of_subset), fpr, fixed)
            for of_subset in counts
        ]
        tables.append(xr.Dataset(stacked(subsets)))
    return xr.concat(tables, "group")


def _rates(population, weights, fpr, fixed):
    """The rates of a subset, as variables."""
    at = thresholds(population, weights, [fpr])
    [miss], [reached] = frr(population, weights, at), far(population, weights, at)
    variables = {"tpr": ([], 1 - miss), "far": ([], reached)}
    variables["eer"] = [], eer(population, weights)[0]
    if fixed.size:
        variables["fmr"] = ["threshold_level"], far(population, weights, fixed)
        variables["fnmr"] = ["threshold_level"], frr(population, weights, fixed)
    return variables


def _check_subsets(of_all, of_subsets, fpr, subset_size):
    """Refuse groups, and subsets, without a rate; warn where their TPR is read elsewhere."""
    remedy = "more people" if subset_size is None else f"a subset_size above {subset_size}"
    for group in of_all["group"].values.tolist():
        everybody, subsets = of_all.sel(group=group), of_subsets.sel(group=group)
        require(
            everybody.tpr.notnull().all(),
            f"group {group!r}: there is no genuine pair, or no impostor pair",
        )
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


def group_seed(seed, group):
    """The seed of one group's draws: it depends on the group's name, not on the other groups."""
    numbers = np.frombuffer(hashlib.sha256(group.encode()).digest(), np.uint32)
    return int(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0])
