"""Exact rates of a mixture or a law: FAR from the impostor scores, FRR from the genuine scores.

Rates weigh identities as Conti & Clemencon do (2024, eq. 2-3): FAR is the mean over identity
pairs k < l and FRR the mean over identities. No image is drawn, so the values have no sampling
noise, and each FAR has a bound on its error. Where the bound is not small, the functions raise an
error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from frkit.base import checked_far, require
from frkit.vmf.exact import GenuineScores, ImpostorScores


def population_roc(
    mix,
    far: ArrayLike,
    *,
    by: str | None = None,
) -> xr.Dataset:
    """Exact population ROC: thresholds where FAR reaches each level, and rates there.

    Parameters
    ----------
    mix : Mixture or IdentityLaw
    far : float or array (far_level,)
        FAR levels in (0, 1).
    by : str, optional
        Attribute ("group" of a law): adds the rates of each of its groups (both identities in the
        group), at the thresholds of the whole population.

    Returns
    -------
    xr.Dataset
        `threshold, far, frr, error_bound` (far_level); with `by` also `far_group, frr_group,
        error_bound_group` (far_level, group). Error bounds are those of FAR, relative to it.

    Raises
    ------
    InputError
        Where an error bound exceeds 1e-6 of its FAR, a level is outside (0, 1), an attribute is
        unknown, or a group has one identity. At the paper's sizes the bound is small enough down to
        FAR 1e-20.

    References
    ----------
    Conti & Clemencon 2024, eq. 2-4, 21-22.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> mixture(50, dim=32).population_roc([1e-3, 1e-2]).frr.dims
    ('far_level',)
    """
    levels = checked_far(far)
    population = mix.subpopulations(by)
    threshold = population[0].impostors.threshold_at(levels)
    rates = []
    for members in population:
        far, error_bound = members.impostors.far(threshold, f"'{members.name}'")
        frr = members.genuine.frr(threshold)
        rates.append({"far": far, "frr": frr, "error_bound": error_bound})
    dataset = xr.Dataset(
        {"threshold": ("far_level", threshold)},
        {"far_level": levels},
        {"source": "exact von Mises-Fisher population rates"},
    )
    return with_groups(dataset, rates, [group.name for group in population[1:]])


def population_summary(mix, *, by: str | None = None) -> xr.Dataset:
    """Exact equal error rate with its threshold, and area under the ROC curve.

    The area is P(genuine > impostor).

    Parameters
    ----------
    mix, by
        As in `population_roc`; groups have their own EER and threshold.

    Returns
    -------
    xr.Dataset
        `eer, eer_threshold, auc` (); with `by` also `eer_group, eer_threshold_group, auc_group`
        (group).

    Raises
    ------
    InputError
        As in `population_roc`.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> 0.99 < float(mixture(50, dim=64).population_summary().auc) < 1
    True
    """
    population = mix.subpopulations(by)
    values = [_summary(members.impostors, members.genuine) for members in population]
    return with_groups(xr.Dataset(), values, [members.name for members in population[1:]])


class Subpopulation(NamedTuple):
    """The exact scores of all identities, or of those of one group."""

    name: str
    impostors: ImpostorScores
    genuine: GenuineScores


def with_groups(dataset, values, groups):
    """Add values of all and of every group to a dataset.

    `values` are dicts of variables over the dataset's dims: of all, then of each group.
    """
    dims = tuple(dataset.dims)
    for name in values[0]:
        everyone, *group_values = [member_values[name] for member_values in values]
        dataset[name] = (dims, everyone)
        if len(groups) > 0:
            dataset[f"{name}_group"] = ((*dims, "group"), np.transpose(group_values))
    return dataset.assign_coords(group=groups) if len(groups) > 0 else dataset


def _summary(impostor, genuine):
    """EER, its threshold, and AUC of one population's impostor and genuine scores."""

    def far(t):
        return impostor.survival(t)[0]

    def excess(t):
        return genuine.frr(t) - far(t)

    end = 1 - 1e-9
    threshold = brentq(excess, -end, end, xtol=1e-14)
    eer, _ = impostor.far(np.array([threshold]), "the pairs at the equal error rate")
    # the area above the ROC curve is P(impostor > genuine)
    area_above = genuine.mean(far)
    return {"eer": eer[0], "eer_threshold": threshold, "auc": 1 - area_above}


def require_population(name, value):
    """Refuse what has no exact rates."""
    require(
        hasattr(value, "population_roc"),
        f"{name} must be what fk.vmf.mixture or fk.vmf.IdentityLaw returned, got "
        f"{type(value).__name__}",
    )
