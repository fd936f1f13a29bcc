"""The effective number of comparisons: what a rate is worth, and the interval that follows.

A rate p whose variance over new people is v is worth n = p (1 - p) / v independent comparisons
(design effect: Kish 1965). The variance comes from what each person adds to the rate
(`frkit.intervals.contributions`). Few people make most errors: where few of them were seen, the
variance is too small, and n is drawn towards the number of people (`effective_number`).
"""

import json

import numpy as np
import xarray as xr
from scipy import stats

from frkit.base import (
    FAR_LEVEL,
    GROUP,
    MODEL,
    REFERENCE_GROUP,
    THRESHOLD_LEVEL,
    require,
    require_one_of,
)
from frkit.intervals.contributions import (
    NEW_PEOPLE,
    TARGETS,
    Added,
    Contributions,
)
from frkit.intervals.these_people import TheseImages

UNSEEN = 2  # units with errors that are supposed beside those that were seen
RATES = (
    "far", "frr", "far_group", "frr_group", "far_cross", "eer", "eer_group", "auc", "auc_group",
)  # fmt: skip


def effective_number(added: Added, level: float = 0.95) -> float:
    """Independent comparisons that a rate is worth.

    added: what each unit (a person, or an image) adds to the rate. The last factor lets a normal
    quantile stand for that of t, of as many people.
    """
    rate, n = added.rate, added.comparisons
    if added.variance > 0 and 0 < rate < 1:
        n = min(rate * (1 - rate) / added.variance, n)
    if added.units < n:  # what was not seen may be all comparisons of a unit
        n *= (added.units / n) ** (UNSEEN / (added.seen + UNSEEN))
    tail = (1 + level) / 2
    few_people = stats.norm.ppf(tail) / stats.t.ppf(tail, max(added.people - 1, 1))
    return n * few_people**2


def jeffreys(rate: np.ndarray, n: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Jeffreys' interval of a rate with n comparisons (Brown, Cai & DasGupta 2001)."""
    tail = (1 - level) / 2
    errors, others = rate * n + 0.5, (1 - rate) * n + 0.5
    lower = np.where(rate > 0, stats.beta.ppf(tail, errors, others), 0.0)
    upper = np.where(rate < 1, stats.beta.ppf(1 - tail, errors, others), 1.0)
    unknown = np.isnan(rate) | np.isnan(n)
    return np.where(unknown, np.nan, lower), np.where(unknown, np.nan, upper)


def effective_rates(
    evaluation: xr.DataTree,
    name: str,
    target: str,
    *,
    level: float = 0.95,
    fixed_threshold: bool = False,
) -> xr.Dataset:
    """Estimate, `n_effective`, `variance` and `people` of a rate, over the rate's own dims.

    fixed_threshold: whether the threshold is taken as it was found, as where groups are compared.
    """
    estimate = evaluation["empirical"][name]
    found = added_to(evaluation, name, target, fixed_threshold=fixed_threshold)

    def table(read) -> xr.DataArray:
        values = np.array([read(added) for added in found.ravel()], float)
        return xr.DataArray(values.reshape(found.shape), estimate.coords, estimate.dims)

    return xr.Dataset(
        {
            "estimate": estimate.drop_attrs(),
            "n_effective": table(lambda added: effective_number(added, level)),
            "variance": table(lambda added: added.variance),
            "people": table(lambda added: added.people),
        }
    ).where(estimate.notnull())


def contributions_of(evaluation: xr.DataTree, target: str, model: int | None) -> Contributions:
    """What people add to the rates of an evaluation, or of one of its models."""
    require_one_of("target", target, TARGETS)
    require(
        "people" in evaluation.children,
        "this evaluation does not say what people add to its rates: make it with fk.evaluate, "
        "without scheme 'pair' for known people, or name a method that reads replicates",
    )
    node = evaluation["people"].to_dataset()
    node = node if model is None else node.isel({MODEL: model})
    if target == NEW_PEOPLE:
        return Contributions(node)
    require(
        bool(node.attrs["complete"]),
        "target='these people' needs every image compared with every other, without failures, but "
        "these scores are no whole square: take target='new people'",
    )
    return TheseImages(node)


def added_to(
    evaluation: xr.DataTree, name: str, target: str, *, fixed_threshold: bool = False
) -> np.ndarray:
    """What units add to a rate: an array of `Added` over the rate's dims."""
    estimate = evaluation["empirical"][name]
    models = range(estimate.sizes[MODEL]) if MODEL in estimate.dims else [None]
    people = [contributions_of(evaluation, target, model) for model in models]
    numbers = _numbers_of_labels(evaluation, estimate)
    out = np.empty(estimate.shape, object)
    for place in np.ndindex(out.shape):
        at = dict(zip(estimate.dims, place, strict=True))
        number = {dim: every[at.get(dim, 0)] for dim, every in numbers.items()}
        level = number.get(FAR_LEVEL, number.get(THRESHOLD_LEVEL))
        group = number.get(GROUP, people[0].n_groups)
        partner = number.get(REFERENCE_GROUP, group)
        model = people[at.get(MODEL, 0)]
        out[place] = _read(model, name, level, group, partner, fixed_threshold)
    return out


def _numbers_of_labels(evaluation: xr.DataTree, estimate: xr.DataArray) -> dict:
    """The numbers that levels and groups of a rate have among those that were evaluated.

    A part of an evaluation may have fewer of them, or in another order.
    """
    known = json.loads(evaluation.attrs["provenance"])
    name, numbers = str(estimate.name), {}
    require(
        name.startswith(("eer", "auc")) or {FAR_LEVEL, THRESHOLD_LEVEL} & {*estimate.coords},
        "this part of an evaluation does not say of which level it is: select one without drop=True",
    )
    for dim in (FAR_LEVEL, THRESHOLD_LEVEL, GROUP, REFERENCE_GROUP):
        if dim not in estimate.coords:
            continue
        labels, every = np.atleast_1d(estimate[dim].values).tolist(), known.get(dim, [])
        unknown = [label for label in labels if label not in every]
        require(
            not unknown,
            f"this evaluation was made at other labels of {dim} than {unknown}: pass what "
            "evaluate(...) returned, or a part of it",
        )
        numbers[dim] = [every.index(label) for label in labels]
    if not name.endswith(("_group", "_cross")):
        numbers.pop(GROUP, None)
    if not name.endswith("_cross"):
        numbers.pop(REFERENCE_GROUP, None)
    return numbers


def _read(people: Contributions, name: str, level, group: int, partner: int, fixed: bool) -> Added:
    """What units add to one rate of one model."""
    if name == "threshold":
        return people.threshold(level)
    if name.startswith("eer"):
        return people.eer(group)
    if name.startswith("auc"):
        return people.auc(group)
    return people.at_level(name[:3], level, group, partner, fixed)
