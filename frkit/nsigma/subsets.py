"""EER and TPR of many subsets of every group: one sweep over the scores within each group."""

from __future__ import annotations

import hashlib

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    InputError,
    listed,
    require,
    require_inside,
    require_one_of,
    require_whole,
    warn,
)
from frkit.data.labels import VARYING_RULES, attributes_of
from frkit.engine.protocol import make_protocol
from frkit.engine.rates import equal_error_rates, false_acceptance, false_rejection, thresholds_at
from frkit.engine.tally import tally_pairs
from frkit.evaluation.cautions import cautions, warn_of_models
from frkit.evaluation.options import asked_levels
from frkit.evaluation.sweep import swept
from frkit.evaluation.tables import COLUMN, of_models
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores
from frkit.scores.images import images_of, list_images
from frkit.scores.kept import (
    failed_pairs,
    is_list,
    model_names_of,
    pairs_of_models,
    select_images,
    with_labels,
)

BATCH, SUBSET = "batch", "subset"


def subset_rates(
    scores: xr.DataArray,
    *,
    by: str | list[str],
    subsets: int = 100,
    subset_size: int | None = None,
    batches: int = 1,
    seed: int = 0,
    fpr: float = 0.01,
    threshold: ArrayLike | None = None,
    varying: str = "error",
) -> xr.Dataset:
    """Draw subsets of the people of every group, and compute the EER and the TPR of each subset.

    The people of a subset are drawn with replacement from those of the group; a person drawn twice
    counts twice and makes no pair with the copy. All pairs weigh the same. Every group has its own
    ROC curve: its subsets' TPR is 1 - FRR at the threshold at which their own FAR is `fpr`. Groups
    draw from separate seeds, which follow their names: other groups, and the order of the
    images, change nothing.

    Parameters
    ----------
    scores, by, subsets, subset_size, batches, seed, fpr, threshold, varying
        As in `n_sigma`.

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
    scores = checked_scores(scores)
    require_whole("subsets", subsets, 2)
    require_whole("batches", batches, 1)
    require_whole("seed", seed, 0)
    require_inside("fpr", fpr, 0, 1)
    require(by is not None, "N-Sigma compares groups: name an attribute with by=")
    require_one_of("varying", varying, VARYING_RULES)
    far = [fpr] if threshold is None else None
    _, thresholds, labels = asked_levels(far, threshold, scores)
    kept = swept(scores, threshold=threshold, by=by)
    scores_of_groups = _within_groups(kept, by, varying)
    n_people = {
        group: len(images_of(part, None, "error").identities)
        for group, part in scores_of_groups.items()
    }
    smallest = min(n_people, key=n_people.get)
    most = n_people[smallest]
    require(
        subset_size is None or require_whole("subset_size", subset_size, 2) <= most,
        f"subset_size must be at most {most}, the people of the smallest group ({smallest!r}): "
        f"larger subsets only repeat people and make σ too small; got {subset_size!r}",
    )
    rates = []
    for group, part in scores_of_groups.items():
        draws = Resampling("subset", subsets * batches, group_seed(seed, group), None, subset_size)
        try:
            rates.append(_rates_of(part, group, fpr, draws, thresholds))
        except InputError as error:
            raise InputError(f"group {group!r}: {error}") from error
    result = xr.concat(rates, dim=xr.Variable("group", list(scores_of_groups)), join="exact")
    result["n_people"] = "group", list(n_people.values())
    if labels is not None:
        result = result.assign_coords(threshold_level=labels)
    result = result.coarsen(replicate=subsets).construct(replicate=(BATCH, SUBSET))
    result = result.assign_coords({BATCH: np.arange(batches), SUBSET: np.arange(subsets)})
    result = result.transpose(
        "model", "threshold_level", BATCH, SUBSET, "group", missing_dims="ignore"
    )
    return result.assign_attrs(
        by=" & ".join(attributes_of(by)),
        fpr=float(fpr),
        seed=int(seed),
        subset_size=subset_size or "as many as the group has",
    )


def _within_groups(kept, by, varying):
    """The kept pairs within each group; pairs across groups and of unknown people are left out."""
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
    scores_of_groups = {}
    if is_list(kept):
        images, row, col = list_images(kept, by, varying)
    else:
        images = images_of(kept, by, varying)
        identity = {"identity": images.identity, "person": images.person}
        kept = with_labels(kept, **identity)
    groups = images.groups
    require(len(groups) >= 2, f"N-Sigma compares groups, but {by!r} has only {listed(groups)}")
    for number, group in enumerate(groups.tolist()):
        in_group = images.group_code == number
        if is_list(kept):
            part = kept.isel(pair=np.flatnonzero(in_group[row] & in_group[col]))
        else:
            part = select_images(kept, in_group)
        has_pairs = part.sizes.get("pair", 1) and in_group.any()
        require(has_pairs, f"group {group!r} has no pair of two of its images")
        scores_of_groups[group] = part
    return scores_of_groups


def group_seed(seed, group):
    """The seed of one group's draws: it depends on the group's name, not on the other groups."""
    numbers = np.frombuffer(hashlib.sha256(group.encode()).digest(), np.uint32)
    return int(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0])


def _rates_of(part, group, fpr, draws, thresholds):
    """EER and TPR of one group's subsets, over ([model,] replicate), and rates at thresholds.

    thresholds : (model, level), which may be none.
    """
    far = np.array([fpr])
    protocol = make_protocol(part, weighting="pair", resampling=draws)
    tables = []
    warned: dict = {}
    names = model_names_of(part) or [None]
    for name, pairs, fixed in zip(names, pairs_of_models(part), thresholds):
        tally = tally_pairs(pairs, protocol)
        tables.append(_rates_of_model(tally, far, fixed))
        for sentence in cautions(tally, tables[-1], far[:0]):
            warned.setdefault(sentence, []).append(name)
    warn_of_models(warned)
    rates = of_models(tables, part)
    size = draws.subset_size
    remedy = "more people" if size is None else f"a subset_size above {size}"
    require(
        not (rates.eer.isnull() | rates.tpr.isnull()).any(),
        f"some subsets have no genuine or no impostor pair; the group needs {remedy}, or more "
        "people with two images",
    )
    data_rates = rates.isel({COLUMN: 0})
    subsets = rates.isel({COLUMN: slice(1, -1)}).rename({COLUMN: "replicate"})
    if float(subsets.far.median()) <= fpr / 2:
        warn(
            f"most subsets of group {group!r} have too few impostor pairs for fpr={fpr:g}: their "
            "TPR is read at an FPR of at most half of that; take a larger fpr, or larger subsets"
        )
    return subsets.drop_vars("far").assign(eer_all=data_rates.eer, tpr_all=data_rates.tpr)


def _rates_of_model(tally, far, fixed):
    """EER, TPR at a FAR level, FMR and FNMR at fixed thresholds, over column: data and subsets."""
    at_far = thresholds_at(tally, far, tally.n_groups)
    eer, _ = equal_error_rates(tally)
    rates = {
        "eer": (COLUMN, eer[:, -1]),
        "far": ((COLUMN, "far_level"), false_acceptance(tally, at_far)[1]),
        "tpr": (COLUMN, 1 - false_rejection(tally, at_far)[1][:, 0]),
    }
    if fixed.size:
        thresholds = np.tile(fixed, (tally.protocol.n_columns, 1))
        dims = (COLUMN, "threshold_level")
        rates["fmr"] = dims, false_acceptance(tally, thresholds)[1]
        rates["fnmr"] = dims, false_rejection(tally, thresholds)[1]
    return xr.Dataset(rates)
