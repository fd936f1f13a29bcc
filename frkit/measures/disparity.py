"""Disparity measures: how far apart the groups' error rates lie.

Conti & Clémençon (2024), appendix A.1, with the measures of NIST and of the field.
"""

import numpy as np
import xarray as xr

from frkit.base import require_number
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE, Measure, enter, over_groups

# --- formulas: rates over any dims with `group`, each in [0, 1] ----------------------------------
# of variables without labels, which are ten times as fast; or of DataArrays


def max_min(rates):
    """Largest group rate over the smallest."""
    return rates.max("group", skipna=False) / rates.min("group", skipna=False)


def max_geomean(rates):
    """Largest group rate over the groups' geometric mean."""
    geometric_mean = np.exp(np.log(rates).mean("group", skipna=False))
    return rates.max("group", skipna=False) / geometric_mean


def log_geomean(rates):
    """Sum over groups of |log10(rate / geometric mean)|."""
    logs = np.log10(rates)
    distance = np.abs(logs - logs.mean("group", skipna=False))
    # next to a rate of 0, whose distance is NaN, the others are infinitely far away
    return distance.sum("group", min_count=1)


def gini(rates):
    """Gini coefficient with the factor |A| / (|A| - 1).

    The mean |a - b| over ordered pairs of groups is a weighted sum of the sorted rates.
    """
    n = rates.sizes["group"]
    ascending = rates.copy(data=np.sort(rates.values, axis=rates.get_axis_num("group")))
    weights = xr.Variable("group", 2 * np.arange(1, n + 1) - n - 1)
    differences = (ascending * weights).sum("group", skipna=False)
    return differences / ((n - 1) * rates.sum("group", skipna=False))


def max_difference(rates):
    """Largest group rate minus the smallest."""
    return rates.max("group", skipna=False) - rates.min("group", skipna=False)


def spread(rates):
    """Standard deviation over groups (ddof 1)."""
    return rates.std("group", ddof=1, skipna=False)


# --- measures of FAR and FRR together ------------------------------------------------------------


def fdr(*, c: float = 0.5) -> Measure:
    """Fairness discrepancy rate: 1 - [c max|ΔFAR| + (1-c) max|ΔFRR|] over pairs of groups.

    Parameters
    ----------
    c : float in [0, 1]
        Weight of FAR; the registered "fdr" has 0.5.

    Returns
    -------
    Measure
        For `band`, `fair_floor`, `uncertainty` and `compare`; 1 is fair.

    Raises
    ------
    InputError
        If c lies outside [0, 1].

    References
    ----------
    de Freitas Pereira & Marcel (2021), Fairness in biometrics; here FAR and FRR are at equal
    thresholds.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.fdr(c=0.75).name
    'fdr(c=0.75)'
    """

    def formula(far, frr):
        return 1 - (c * max_difference(far) + (1 - c) * max_difference(frr))

    return _measure_of_far_and_frr(
        "fdr", formula, c, IDENTITY_SCALE, 1.0, "fairness discrepancy rate"
    )


def ir(*, c: float = 0.5) -> Measure:
    """Inequity rate: (max/min FAR)^c (max/min FRR)^(1-c).

    Parameters
    ----------
    c : float in [0, 1]
        Weight of FAR; the registered "ir" has 0.5.

    Returns
    -------
    Measure
        For `band`, `fair_floor`, `uncertainty` and `compare`; 1 is fair. Its intervals are built on
        the log scale.

    Raises
    ------
    InputError
        If c lies outside [0, 1].

    References
    ----------
    Grother (2021), Demographic differentials in face recognition algorithms (NIST).

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.ir(c=0.5).scale
    'log'
    """

    def formula(far, frr):
        return max_min(far) ** c * max_min(frr) ** (1 - c)

    return _measure_of_far_and_frr("ir", formula, c, LOG_SCALE, 1.0, "inequity rate")


def garbe(*, c: float = 0.5) -> Measure:
    """Gini aggregation rate for biometric equitability: c Gini(FAR) + (1-c) Gini(FRR).

    Parameters
    ----------
    c : float in [0, 1]
        Weight of FAR; the registered "garbe" has 0.5.

    Returns
    -------
    Measure
        For `band`, `fair_floor`, `uncertainty` and `compare`; 0 is fair.

    Raises
    ------
    InputError
        If c lies outside [0, 1].

    References
    ----------
    Howard et al. (2022), Evaluating proposed fairness models for face recognition algorithms.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.garbe(c=0.25).fair
    0.0
    """

    def formula(far, frr):
        return c * gini(far) + (1 - c) * gini(frr)

    return _measure_of_far_and_frr("garbe", formula, c, IDENTITY_SCALE, 0.0, "GARBE")


def _measure_of_far_and_frr(name, formula, c, scale, fair, phrase):
    """A measure of the groups' FAR, with weight c, and FRR."""
    require_number("the weight c of FAR", c, 0, 1)

    read = _reader(("far_group", "frr_group"), formula)
    named = name if c == 0.5 else f"{name}(c={c:g})"
    label = f"{phrase} (c = {c:g})"
    return Measure(named, read, scale, fair, label, reads=("far_group", "frr_group"))


# --- the register --------------------------------------------------------------------------------


def _reader(variables, formula):
    """The function that applies a formula to variables over groups."""

    def read(tallies):
        rates = [over_groups(tallies, name) for name in variables]
        values = formula(*(rate.variable for rate in rates))
        most_dims = max(rates, key=lambda rate: rate.ndim)
        return xr.DataArray(values, most_dims.isel(group=0, drop=True).coords)

    return read


# name, formula, scale of its intervals, value of a fair model, label
DISPARITIES = (
    ("max_min", max_min, LOG_SCALE, 1.0, "ratio of highest to lowest {}"),
    ("max_geomean", max_geomean, LOG_SCALE, 1.0, "ratio of highest {} to the geometric mean"),
    ("log_geomean", log_geomean, IDENTITY_SCALE, 0.0, "sum of |log10({} / geometric mean)|"),
    ("gini", gini, IDENTITY_SCALE, 0.0, "Gini coefficient of the {}s"),
    ("max_difference", max_difference, IDENTITY_SCALE, 0.0, "highest minus lowest {}"),
)
for rate in ("far", "frr"):
    for name, formula, scale, fair, label in DISPARITIES:
        variable = f"{rate}_group"
        read = _reader([variable], formula)
        label = label.format(rate.upper())
        enter(Measure(f"{rate}_{name}", read, scale, fair, label, reads=(variable,)))
enter(
    Measure(
        "eer_spread",
        _reader(["eer_group"], spread),
        fair=0.0,
        label="standard deviation of the EER over groups",
        reads=("eer_group",),
    )
)
for make in (fdr, ir, garbe):
    enter(make())
