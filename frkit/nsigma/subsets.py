"""EER and TPR of many subsets of every group: one sweep over the scores within each group."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import dask.array as da
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    FAR_LEVEL,
    GROUP,
    IDENTITY,
    MODEL,
    PAIR,
    PROBE,
    REFERENCE,
    REPLICATE,
    THRESHOLD_LEVEL,
    UNKNOWN,
    InputError,
    listed,
    require,
    require_inside,
    require_whole,
)
from frkit.data.labels import attributes_of
from frkit.evaluation.evaluate import evaluate_parts
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores, labels_of_sides, people

BATCH, SUBSET = "batch", "subset"
WITHOUT_NAN = ("cosine", "euclidean")  # similarities that embeddings always have
LONG_NAMES = {
    "eer": "equal error rate of a subset",
    "tpr": "true positive rate of a subset at its own FPR",
    "fmr": "false match rate of a subset at a fixed threshold (FAR)",
    "fnmr": "false non-match rate of a subset at a fixed threshold (FRR)",
    "eer_all": "equal error rate of all people of the group",
    "tpr_all": "true positive rate of all people of the group",
    "n_people": "people in the group",
}


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

    The people of a subset are drawn with replacement from those of the group; a person drawn twice counts twice
    and makes no pair with the copy. All pairs weigh the same. Every group has its own ROC curve: its subsets'
    TPR is 1 - FRR at the threshold at which their own FAR is `fpr`. Groups draw from seeds of their own, which
    follow their names: other groups, and the order of the images, change nothing.

    Parameters
    ----------
    scores, ..., varying : as in `n_sigma`.

    Returns
    -------
    xr.Dataset over ([model,] batch, subset, group): `eer`, `tpr`, and with thresholds `fmr` and `fnmr`, which run
    over threshold_level too. `eer_all` and `tpr_all` are those of all people of a group, `n_people` their number.

    Raises
    ------
    InputError : fewer than two groups; a group without genuine or impostor pairs, or with a subset that has none;
        NaN scores; an impossible number, size, rate or attribute.

    References
    ----------
    DeAlcala et al. (2023), sections IV-B to IV-D.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> rates = fk.nsigma.subset_rates(fk.score_tensor(mix.sample(5)), by="group", subsets=10, batches=2, fpr=0.1)
    >>> dict(rates.eer.sizes)
    {'batch': 2, 'subset': 10, 'group': 2}
    """
    for name, value, least in (("subsets", subsets, 2), ("batches", batches, 1), ("seed", seed, 0)):
        require_whole(name, value, least)
    require_inside("fpr", fpr, 0, 1)
    parts = within_groups(scores, by, varying)
    sides = {
        group: [part[f"{side}_{IDENTITY}"].values for side in (PROBE, REFERENCE)]
        for group, part in parts.items()
    }
    n_people = {group: len(np.unique(np.concatenate(both))) for group, both in sides.items()}
    _check_size(subset_size, n_people)
    draws = Resampling("subset", n=subsets * batches, subset_size=subset_size)
    rates = []
    for group, part in parts.items():
        own = replace(draws, seed=group_seed(seed, group))
        try:
            rates.append(_rates_of(part, fpr, own, threshold))
        except InputError as error:
            raise InputError(f"group {group!r}: {error}") from error
    result = xr.concat(rates, dim=xr.Variable(GROUP, list(parts)), join="exact")
    result["n_people"] = (GROUP, list(n_people.values()))
    places = pd.MultiIndex.from_product([range(batches), range(subsets)], names=[BATCH, SUBSET])
    result = result.assign_coords(xr.Coordinates.from_pandas_multiindex(places, REPLICATE)).unstack(
        REPLICATE
    )
    result = result.transpose(MODEL, THRESHOLD_LEVEL, BATCH, SUBSET, GROUP, missing_dims="ignore")
    for name, variable in result.data_vars.items():
        variable.attrs = {"long_name": LONG_NAMES[name]}
    attrs = {"by": " & ".join(attributes_of(by)), "fpr": float(fpr), "seed": int(seed)}
    return result.assign_attrs(attrs | {"subset_size": subset_size or "as many as the group has"})


def _rates_of(part: xr.DataArray, fpr: float, draws: Resampling, threshold) -> xr.Dataset:
    """EER and TPR of one group's subsets, over ([model,] replicate); with thresholds also the rates there."""
    how = {"resampling": draws, "weighting": "pair", "people": False}
    found = evaluate_parts(part, far=[fpr], **how)
    nodes = (found[node].to_dataset() for node in ("empirical", "replicates"))
    whole, drawn = (node.isel({FAR_LEVEL: 0}, drop=True) for node in nodes)
    result = xr.Dataset(
        {"eer": drawn.eer, "tpr": 1 - drawn.frr, "eer_all": whole.eer, "tpr_all": 1 - whole.frr}
    )
    if threshold is not None:
        fixed = evaluate_parts(part, threshold=threshold, **how)["replicates"]
        result["fmr"], result["fnmr"] = fixed.far, fixed.frr
    empty = (result.eer.isnull() | result.tpr.isnull()).any(
        [dim for dim in result.eer.dims if dim != REPLICATE]
    )
    lost = np.flatnonzero(empty.values)
    more = (
        "more people" if draws.subset_size is None else f"a subset_size above {draws.subset_size}"
    )
    require(
        lost.size == 0,
        f"{lost.size} of {empty.size} subsets have no genuine or no impostor pair (subset {listed(lost, 3)}); "
        f"the group needs {more}, or more people with two images",
    )
    return result


def group_seed(seed: int, group: str) -> int:
    """The seed of one group's draws: it depends on the group's name and not on the other groups."""
    words = np.frombuffer(hashlib.sha256(group.encode()).digest(), np.uint32)
    return int(np.random.SeedSequence([seed, *words]).generate_state(1, np.uint64)[0])


def _check_size(subset_size: int | None, sizes: dict[str, int]) -> None:
    """No subset may have more people than the smallest group; sizes: people by group."""
    smallest = min(sizes, key=sizes.get)
    require(sizes[smallest] >= 2, f"group {smallest!r} has one person: an impostor pair takes two")
    require(
        subset_size is None
        or isinstance(subset_size, (int, np.integer))
        and 2 <= subset_size <= sizes[smallest],
        f"subset_size must be a whole number from 2 to {sizes[smallest]}, the people of the smallest group "
        f"({smallest!r}): larger subsets only repeat people and make σ too small; got {subset_size!r}",
    )


def within_groups(scores, by, varying: str) -> dict[str, xr.DataArray]:
    """The scores within each group, by the group's label; pairs across groups and of unknown people are left out."""
    scores = checked_scores(scores)
    require(by is not None, "N-Sigma compares groups: name an attribute with by=")
    lost = (
        0
        if scores.attrs.get("similarity") in WITHOUT_NAN
        else int(da.isnan(da.asarray(scores.data)).sum())
    )
    require(
        lost == 0,
        f"{lost} of {scores.size} scores are NaN (failed comparisons): every subset needs all of its pairs; leave out "
        "the images that failed, or give their comparisons a score (the lowest one counts as a rejection)",
    )
    if PAIR in scores.dims:
        require(
            f"{PROBE}_{IDENTITY}" in scores.coords,
            "these pairs carry no identities, and subsets are drawn of people: give probe_identity= and "
            "reference_identity= to frkit.pairs",
        )
        probe, reference = labels_of_sides(scores, by)
        groups = [group for group in np.unique(probe) if group != UNKNOWN]
        places = {
            group: {PAIR: np.flatnonzero((probe == group) & (reference == group))}
            for group in groups
        }
    else:
        who = people(scores, by, varying)
        sides = {PROBE: who.group[who.probe], REFERENCE: who.group[who.reference]}
        places = {
            group: {side: np.flatnonzero(label == group) for side, label in sides.items()}
            for group in who.groups
        }
    for group, own in places.items():
        for dim, at in own.items():
            require(len(at) > 0, f"group {str(group)!r} has no {dim} of its own: it makes no pairs")
    require(len(places) >= 2, f"N-Sigma compares groups, but {by!r} has only one: {listed(places)}")
    return {str(group): scores.isel(own) for group, own in places.items()}
