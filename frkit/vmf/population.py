"""Exact rates of a mixture or a law: FAR from the impostor scores, FRR from the genuine scores.

Rates weigh identities as Conti & Clemencon do (2024, eq. 2-3): FAR is the mean over identity
pairs k < l and FRR the mean over identities. No image is drawn, so the values have no sampling
noise, and each FAR has a bound on its error. Where the bound is not small, the functions raise an
error.
"""

from __future__ import annotations

from typing import NamedTuple

import xarray as xr
from numpy.typing import ArrayLike

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
        Attribute of a mixture: adds the rates of each of its groups (both identities in the group),
        at the thresholds of the whole population.

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
    everyone, *groups = mix.subpopulations(by)
    threshold = everyone.impostors.threshold_at(levels)
    roc = xr.Dataset({"threshold": ("far_level", threshold)})
    roc = roc.merge(_rates(everyone, threshold, levels))
    if groups:
        names = xr.Variable("group", [group.name for group in groups])
        rates = xr.concat([_rates(group, threshold, levels) for group in groups], names)
        of_groups = {f"{name}_group": rate for name, rate in rates.items()}
        roc = roc.assign(of_groups).transpose("far_level", "group")
    return roc.assign_attrs(source="exact von Mises-Fisher population rates")


class Subpopulation(NamedTuple):
    """The exact scores of all identities, or of those of one group."""

    name: str
    impostors: ImpostorScores
    genuine: GenuineScores


def _rates(members, threshold, levels):
    """Exact rates of a subpopulation at thresholds, and the error bound of FAR."""
    far, error_bound = members.impostors.far(threshold, f"'{members.name}'")
    rates = {"far": far, "frr": members.genuine.frr(threshold), "error_bound": error_bound}
    variables = {name: ("far_level", values) for name, values in rates.items()}
    return xr.Dataset(variables, {"far_level": levels})


def require_population(name, value):
    """Refuse what has no exact rates."""
    require(
        hasattr(value, "population_roc"),
        f"{name} must be what fk.vmf.mixture or fk.vmf.IdentityLaw returned, got "
        f"{type(value).__name__}",
    )
