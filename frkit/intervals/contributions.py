"""What people add to a rate of an evaluation, at every model, level and group, with labels.

`frkit.evaluation.records` says what the variables mean. A unit is a person, or an image for
intervals about these people.
"""

import numpy as np
import xarray as xr

from frkit.base import require, require_one_of
from frkit.evaluation.nodes import EARLIER
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE

TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
UNIT = "unit"
OWN_THRESHOLD = ("eer", "auc")  # rates that are no shares of comparisons at a level
UNSEEN = 2  # further units that are assumed to err
NODES = {NEW_PEOPLE: ("people", "person"), THESE_PEOPLE: ("images", "image")}


def contributions(evaluation, name, target, *, fixed_threshold=False) -> xr.Dataset:
    """What units add to a rate (or to the threshold), over the dims of the rate and `unit`.

    fixed_threshold : whether the threshold is held fixed, without its own error. Beside the
    variables of the table: rate; most, the largest possible effective number; unseen, further units
    that are assumed to err. Of groups that borrow from all people also fixed_variance, at a fixed
    threshold, and own_df, how many people make the variance, less one (Satterthwaite 1946).
    """
    added = _table(evaluation, name, target)
    # an EER without an unseen person moves the threshold, too, which takes back half
    added["unseen"] = 1 if name.startswith("eer") else UNSEEN
    added["most"] = np.inf if name.startswith(OWN_THRESHOLD) else added.comparisons
    if name.startswith("threshold"):
        return added
    added["fixed_variance"] = added.variance
    if not fixed_threshold:
        added = _at_level(added, evaluation, name, target)
    if "pooled" in added:
        added["own_df"] = (effective_count(added.influence**2) - 1).clip(min=0)
    return added


def thresholds_were_found(evaluation):
    """Whether thresholds were found at FAR levels, and so have an error of their own."""
    return evaluation["people"].attrs["level_of"] == "far"


def _at_level(added, evaluation, name, target):
    """What units add where the threshold errs, too."""
    added = added.assign(noise=added.noise_at_level, variance=added.variance_at_level)
    if not name.startswith(OWN_THRESHOLD) and thresholds_were_found(evaluation):
        of_groups = "threshold_group" in evaluation["empirical"] and name.endswith("_group")
        threshold = "threshold_group" if of_groups else "threshold"
        reference = _table(evaluation, threshold, target)
        if "influence" in added:
            added["influence"] = added.influence - added.change * reference.influence
        if name.startswith("frr"):
            added["accepting"] = reference.erring
    return added


def _table(evaluation, name, target):
    """The table of a rate, over `unit`; `identity` names people."""
    require_one_of("target", target, TARGETS)
    require(
        "people" in evaluation.children,
        "this evaluation does not say what people add to its rates: make it with fk.evaluate, "
        "without scheme 'pair' for known people, or name a method that reads replicates",
    )
    node, unit = NODES[target]
    require(
        node in evaluation.children,
        "target='these people' needs every image compared with every other, without failures, "
        "and labels that do not vary within a person, which is not so here: take target='new "
        "people'",
    )
    table = evaluation[node].to_dataset()
    require("moment" in table.coords, EARLIER)
    table = table.rename({unit: UNIT})
    stored = table.variables  # without labels, which takes less time
    of_rate = f"_of_{name}"
    parts = {each.removesuffix(of_rate): stored[each] for each in table if each.endswith(of_rate)}
    if name.startswith("threshold") and "influence" not in parts:
        parts["influence"] = stored[f"influence_of_{name.replace('threshold', 'far')}"]
    for part, dim in {"moments": "moment", "pooled": "of_all"}.items():
        if part in parts:
            numbers = parts.pop(part).transpose(dim, ...)
            parts |= dict(zip(table[dim].values.tolist(), numbers))
    dims = {dim for variable in parts.values() for dim in variable.dims}
    coords = {label: each for label, each in table.coords.items() if {*each.dims} <= dims}
    added = xr.Dataset(parts, coords)
    _check_rate(added.rate, name, evaluation["empirical"].to_dataset())
    return added


def _check_rate(rate, name, rates):
    """Refuse a rate that has changed, or changed its order, since people's parts were computed."""
    current = 1 - rates[name] if name.startswith("auc") else rates[name]
    is_same = rate.sizes == current.sizes and all(
        labels.equals(current.indexes.get(dim)) for dim, labels in rate.indexes.items()
    )
    if is_same and not name.startswith("threshold"):  # whose table contains the FAR it meets
        # the weights of thinned pairs may exceed 1 in all
        rate = np.clip(rate.transpose(*current.dims), 0, 1)
        is_same = np.allclose(rate, current, equal_nan=True)
    require(
        is_same,
        f"{name!r} in the node 'empirical' differs from what people add to it, so its values or "
        "its order were changed: take the evaluation as fk.evaluate returned it; to select or sort "
        "all nodes alike, evaluation.sel(...) or evaluation.isel(...)",
    )


def effective_count(errors):
    """How many units err if all that err did so equally: (Σ e)² / Σ e²."""
    squares = (errors**2).sum(UNIT)
    return (errors.sum(UNIT) ** 2 / squares).where(squares > 0, 0.0)
