"""The effective number of comparisons: what a rate is worth, and the interval that follows.

A rate p whose variance over new people is v is worth n = p (1 - p) / v independent comparisons
(design effect: Kish 1965). The variance comes from what each person adds to the rate
(`frkit.intervals.contributions`). Few people make most errors: where few of them were seen, the
variance is too small, and n is drawn towards the number of people (`effective_number`).
"""

import numpy as np
import xarray as xr
from scipy import stats

from frkit.base import MODEL, require, require_one_of
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
    data = evaluation["empirical"].to_dataset()
    dims = data[name].dims
    models = range(data.sizes[MODEL]) if MODEL in dims else [None]
    of_models = []
    for model in models:
        people = contributions_of(evaluation, target, model)
        of_models.append(_of_model(people, name, fixed_threshold))
    return np.stack(of_models) if MODEL in dims else of_models[0]


def _of_model(people: Contributions, name: str, fixed_threshold: bool) -> np.ndarray:
    """The same for one model."""
    levels, groups = range(people.n_levels), range(people.n_groups)
    everyone = people.n_groups
    if name in ("far", "frr"):
        found = [people.at_level(name, p, everyone, everyone, fixed_threshold) for p in levels]
    elif name in ("far_group", "frr_group"):
        rate = name.removesuffix("_group")
        found = [
            [people.at_level(rate, p, g, g, fixed_threshold) for g in groups] for p in levels
        ]
    elif name == "far_cross":
        found = [
            [[people.at_level("far", p, g, h, fixed_threshold) for h in groups] for g in groups]
            for p in levels
        ]
    else:
        read = people.eer if name.startswith("eer") else people.auc
        found = [read(g) for g in groups] if name.endswith("_group") else read(everyone)
    shape = np.shape(found) if isinstance(found, list) else ()
    out = np.empty(shape, object)
    out[...] = found
    return out

