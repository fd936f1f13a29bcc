"""EER and TPR of many subsets of every group, from the same pairs."""

from __future__ import annotations

import hashlib
from dataclasses import replace

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
from frkit.engine.protocol import make_protocol
from frkit.engine.tally import tally_pairs
from frkit.evaluation.cautions import cautions, warn_of_models
from frkit.evaluation.options import asked_levels
from frkit.evaluation.sweep import swept
from frkit.evaluation.tables import COLUMN, of_models, rates_table
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores
from frkit.scores.images import images_of
from frkit.scores.kept import failed_pairs, is_list, model_names_of, pairs_of_models, with_labels

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
        `subsets`, `subset_size`, `batches`, `fpr` and `threshold` of `n_sigma`.

    Returns
    -------
    xr.Dataset
        Over ([model,] batch, subset, group): `eer`, `tpr`, and with thresholds `fmr` and `fnmr`,
        also over threshold_level. `eer_all` and `tpr_all` are those of all people of a group,
        `n_people` their number.

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
    >>> rates = fk.nsigma.subset_rates(scores, by="group", subsets=10, batches=2, fpr=0.1)
    >>> dict(rates.eer.sizes)
    {'batch': 2, 'subset': 10, 'group': 2}
    """
    require(by is not None, "N-Sigma compares groups: name an attribute with by=")
    require_one_of("varying", varying, VARYING_RULES)
    require_whole("seed", seed, 0)
    kept = swept(checked_scores(scores), threshold=options.get("threshold"), by=by)
    protocol, group, names = compared_groups(kept, by, varying)
    rates = rates_of_labels(kept, protocol, names, [(group, seed)], **options)
    return rates.isel(labels=0).assign_attrs(by=" & ".join(attributes_of(by)), seed=int(seed))


def compared_groups(kept, by, varying):
    """The protocol of kept pairs, the number of the group of each row, and the groups' names.

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
        not is_list(kept) or "probe_identity" in kept.coords,
        "these pairs carry no identities, and subsets are drawn of people: give probe_identity= "
        "and reference_identity=",
    )
    images = images_of(kept, by, varying)
    names = images.groups.tolist()
    require(len(names) >= 2, f"N-Sigma compares groups, but {by!r} has only {listed(names)}")
    if not is_list(kept):  # in any two groups: labels may be permuted
        people = {"identity": images.identity, "person": images.person}
        protocol = make_protocol(with_labels(kept, **people), weighting="pair")
        return protocol, images.group_code, names
    protocol = make_protocol(kept, by=by, varying=varying, weighting="pair", impostors="same-group")
    row, col = protocol.listed.row, protocol.listed.col
    group = protocol.group
    is_within = group[row] == group[col]
    compared = np.zeros(len(group), bool)
    compared[row[is_within]] = compared[col[is_within]] = True
    rows = replace(protocol.images, image=np.arange(len(group)))  # counts are those of rows
    nothing = np.empty((0, len(group))), np.empty((0, len(rows.identities)))
    return (
        replace(protocol, images=rows, drawn=nothing),
        np.where(compared, group, len(names)),
        names,
    )


def rates_of_labels(
    kept, protocol, names, labels, *,
    subsets=100, subset_size=None, batches=1, fpr=0.01, threshold=None,
):  # fmt: skip
    """EER and TPR of subsets, over ([model,] labels, batch, subset, group).

    A column of the protocol is a subset, or all people, of one group: its people count as often as
    they were drawn, and all others never. names : of the groups. labels : for each labelling of the
    rows the number of the group of each row, and a seed.
    """
    require_whole("subsets", subsets, 2)
    require_whole("batches", batches, 1)
    require_inside("fpr", fpr, 0, 1)
    _, thresholds, level_labels = asked_levels(
        [fpr] if threshold is None else None, threshold, kept
    )
    n_people = _people_of_groups(protocol, names, labels[0][0], subset_size)
    n_columns = 1 + subsets * batches
    models = list(zip(model_names_of(kept) or [None], pairs_of_models(kept), thresholds))
    warned: dict = {}
    rates_of_each = []
    same_group = np.where(np.eye(len(names) + 1, dtype=bool), 0, -1)
    same_group[-1] = -1
    for group, seed in labels:
        counts = _counts(protocol, names, group, seed, subsets * batches, subset_size)
        columns = replace(protocol, kind=group, cells_of_kinds=same_group, drawn=counts)
        tables = []
        for name, pairs, fixed in models:
            tally = tally_pairs(pairs, columns)
            tables.append(_rates_of_model(tally, fpr, fixed))
            for sentence in cautions(tally, tables[-1], NONE):
                warned.setdefault(sentence, []).append(name)
        rates_of_each.append(of_models(tables, kept).isel({COLUMN: slice(1, -1)}))
    warn_of_models(warned)
    rates = xr.concat(rates_of_each, "labels")
    rates = rates.coarsen({COLUMN: n_columns}).construct({COLUMN: ("group", "replicate")})
    rates = rates.assign_coords(group=names)
    of_all, of_subsets = rates.isel(replicate=0), rates.isel(replicate=slice(1, None))
    _check_subsets(of_all, of_subsets, fpr, subset_size)
    result = of_subsets.drop_vars("far").assign(
        eer_all=of_all.eer, tpr_all=of_all.tpr, n_people=("group", n_people)
    )
    if level_labels is not None:
        result = result.assign_coords(threshold_level=level_labels)
    result = result.coarsen(replicate=subsets).construct(replicate=(BATCH, SUBSET))
    result = result.assign_coords({BATCH: np.arange(batches), SUBSET: np.arange(subsets)})
    dims = "model", "threshold_level", "labels", BATCH, SUBSET, "group"
    return result.transpose(*dims, missing_dims="ignore").assign_attrs(
        fpr=float(fpr), subset_size=subset_size or "as many as the group has"
    )


def _people_of_groups(protocol, names, group, subset_size):
    """How many people each group has; there are enough for subsets of this size."""
    n_people = [len(np.unique(protocol.identity[group == number])) for number in range(len(names))]
    empty = [name for name, number in zip(names, n_people) if number == 0]
    require(not empty, f"group(s) {listed(empty)} have no pair of two of their images")
    most = min(n_people)
    smallest = names[n_people.index(most)]
    require(
        subset_size is None or require_whole("subset_size", subset_size, 2) <= most,
        f"subset_size must be at most {most}, the people of the smallest group ({smallest!r}): "
        f"larger subsets only repeat people and make σ too small; got {subset_size!r}",
    )
    return n_people


def _counts(protocol, names, group, seed, n, size):
    """How often each image and each identity counts in the columns of one labelling.

    (column, row) and (column, identity); the columns of a group are all of its people, and subsets.
    """
    _, first = np.unique(protocol.identity, return_index=True)
    person = protocol.images.person[first]
    images, identities = [], []
    for number, name in enumerate(names):
        in_group = group == number
        present = np.unique(protocol.identity[in_group])
        draws = Resampling("subset", n, group_seed(seed, name), None, size)
        drawn = draws.weights(protocol.images.identities[present], person=person[present])
        counts = np.zeros((1 + n, len(first)), np.uint16)
        counts[0, present] = 1
        counts[1:, present] = drawn.identity_count.values
        identities.append(counts)
        images.append(np.broadcast_to(in_group, (1 + n, len(group))))
    return np.concatenate(images), np.concatenate(identities)


def _check_subsets(of_all, of_subsets, fpr, subset_size):
    """Refuse groups, and subsets, without a rate; warn where their TPR is read elsewhere."""
    remedy = "more people" if subset_size is None else f"a subset_size above {subset_size}"
    for group in of_all["group"].values.tolist():
        everybody, subsets = of_all.tpr.sel(group=group), of_subsets.sel(group=group)
        message = f"group {group!r}: there is no genuine pair, or no impostor pair"
        require(everybody.notnull().all(), message)
        require(
            subsets.tpr.notnull().all(),
            f"group {group!r}: some subsets have no genuine or no impostor pair; the group needs "
            f"{remedy}, or more people with two images",
        )
        if float(subsets.far.median()) <= fpr / 2:
            warn(
                f"most subsets of group {group!r} have too few impostor pairs for fpr={fpr:g}: "
                "their TPR is read at an FPR of at most half of that; take a larger fpr, or larger "
                "subsets"
            )


def group_seed(seed, group):
    """The seed of one group's draws: it depends on the group's name, not on the other groups."""
    numbers = np.frombuffer(hashlib.sha256(group.encode()).digest(), np.uint32)
    return int(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0])


def _rates_of_model(tally, fpr, fixed):
    """EER, TPR at a FAR level, FMR and FNMR at fixed thresholds, of every column."""
    at_far = rates_table(tally, np.array([fpr]), NONE, "all").isel(far_level=0, drop=True)
    rates = at_far[["eer", "far"]].assign(tpr=1 - at_far.frr)
    if fixed.size:
        at_thresholds = rates_table(tally, NONE, fixed, "all").drop_vars("threshold_level")
        rates = rates.assign(fmr=at_thresholds.far, fnmr=at_thresholds.frr)
    return rates
