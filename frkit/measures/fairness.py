"""Disparity measures: how far apart the groups' error rates lie (Conti & Clémençon 2024, A.1; NIST; the field)."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.base import GROUP, require
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE, Measure, register

Formula = Callable[[xr.DataArray], xr.DataArray]


def max_min(rates: xr.DataArray) -> xr.DataArray:
    """Largest group rate over the smallest; rates: any dims with `group`, each in [0, 1]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return rates.max(GROUP, skipna=False) / rates.min(GROUP, skipna=False)


def max_geomean(rates: xr.DataArray) -> xr.DataArray:
    """Largest group rate over the groups' geometric mean; rates: any dims with `group`, each in [0, 1]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.exp(np.log(rates).mean(GROUP, skipna=False))
        return rates.max(GROUP, skipna=False) / mean


def log_geomean(rates: xr.DataArray) -> xr.DataArray:
    """Sum over groups of |log10(rate / geometric mean)|; rates: any dims with `group`, each in [0, 1]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(rates)
        total = np.abs(logs - logs.mean(GROUP, skipna=False)).sum(GROUP, skipna=False)
    zero = rates == 0
    infinite = zero.any(GROUP) & ~zero.all(GROUP) & rates.notnull().all(GROUP)
    return total.where(~infinite, np.inf)


def gini(rates: xr.DataArray) -> xr.DataArray:
    """Gini coefficient with the factor |A|/(|A|-1); rates: any dims with `group`, each in [0, 1].

    The mean |a - b| over ordered pairs of groups is a weighted sum of the sorted rates.
    """
    n = rates.sizes[GROUP]
    ranks = xr.DataArray(2 * np.arange(1, n + 1) - n - 1, dims=GROUP)
    apart = (_sorted(rates) * ranks).sum(GROUP, skipna=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        return apart / ((n - 1) * rates.sum(GROUP, skipna=False))


def _sorted(rates: xr.DataArray) -> xr.DataArray:
    """The rates in ascending order along the groups; NaN stay (at the end)."""
    axis = rates.get_axis_num(GROUP)
    return xr.DataArray(np.sort(rates.values, axis=axis), dims=rates.dims)


def max_difference(rates: xr.DataArray) -> xr.DataArray:
    """Largest group rate minus the smallest; rates: any dims with `group`."""
    return rates.max(GROUP, skipna=False) - rates.min(GROUP, skipna=False)


def spread(values: xr.DataArray) -> xr.DataArray:
    """Standard deviation over groups (ddof 1); values: any dims with `group`."""
    return values.std(GROUP, ddof=1, skipna=False)


# name -> formula, scale of its intervals, value of a fair model, words
DISPARITIES: dict[str, tuple[Formula, str, float, str]] = {
    "max_min": (max_min, LOG_SCALE, 1.0, "largest / smallest group {rate}"),
    "max_geomean": (max_geomean, LOG_SCALE, 1.0, "largest group {rate} / geometric mean"),
    "log_geomean": (log_geomean, IDENTITY_SCALE, 0.0, "sum of |log10(group {rate} / geometric mean)|"),
    "gini": (gini, IDENTITY_SCALE, 0.0, "Gini coefficient of the group {rate}s"),
    "max_difference": (max_difference, IDENTITY_SCALE, 0.0, "largest minus smallest group {rate}"),
}
# measure of spread -> the variable over groups, and words
SPREADS = {
    "eer_spread": ("eer_group", "standard deviation of the EER over groups"),
    "auc_spread": ("auc_group", "standard deviation of the AUC over groups"),
}


def over_groups(tallies: xr.Dataset, name: str) -> xr.DataArray:
    """A variable over groups, of two groups at least.

    Raises
    ------
    InputError : the evaluation holds no such variable, or only one group.
    """
    remedy = "evaluate with by='the name of an attribute'"
    require(name in tallies, f"this evaluation holds no {name!r}: {remedy}{_all_pairs(name)}")
    rates = tallies[name]
    require(
        rates.sizes[GROUP] >= 2,
        f"a disparity needs two groups or more, but {name!r} has only {rates[GROUP].values.tolist()}; {remedy}",
    )
    return rates


def _all_pairs(name: str) -> str:
    return "" if name.startswith(("far", "frr", "eer")) else " and histogram=100"


def fdr(*, c: float = 0.5) -> Measure:
    """Fairness discrepancy rate: 1 - [c max|ΔFAR| + (1-c) max|ΔFRR|] over pairs of groups; 1 is fair.

    Parameters
    ----------
    c : weight of FAR in [0, 1]; the registered "fdr" has 0.5.

    Returns
    -------
    Measure : for `band`, `floor`, `uncertainty` and `compare`.

    Raises
    ------
    InputError : c outside [0, 1].

    References
    ----------
    de Freitas Pereira & Marcel (2021), Fairness in biometrics; here FAR and FRR are at equal thresholds.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.fdr(c=0.75).name
    'fdr(c=0.75)'
    """
    _check_weight(c)

    def read(tallies: xr.Dataset) -> xr.DataArray:
        far, frr = (max_difference(over_groups(tallies, name)) for name in ("far_group", "frr_group"))
        return 1 - (c * far + (1 - c) * frr)

    return Measure(_weighted_name("fdr", c), read, IDENTITY_SCALE, 1.0, f"fairness discrepancy rate (c = {c:g})")


def ir(*, c: float = 0.5) -> Measure:
    """Inequity rate: (max/min FAR)^c (max/min FRR)^(1-c); 1 is fair.

    Parameters
    ----------
    c : weight of FAR in [0, 1]; the registered "ir" has 0.5.

    Returns
    -------
    Measure : for `band`, `floor`, `uncertainty` and `compare`; its intervals are built on the log scale.

    Raises
    ------
    InputError : c outside [0, 1].

    References
    ----------
    Grother (2021), Demographic differentials in face recognition algorithms (NIST).

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.ir(c=0.5).scale
    'log'
    """
    _check_weight(c)

    def read(tallies: xr.Dataset) -> xr.DataArray:
        far, frr = (max_min(over_groups(tallies, name)) for name in ("far_group", "frr_group"))
        with np.errstate(invalid="ignore"):
            return far**c * frr ** (1 - c)

    return Measure(_weighted_name("ir", c), read, LOG_SCALE, 1.0, f"inequity rate (c = {c:g})")


def garbe(*, c: float = 0.5) -> Measure:
    """Gini aggregation rate for biometric equitability: c Gini(FAR) + (1-c) Gini(FRR); 0 is fair.

    Parameters
    ----------
    c : weight of FAR in [0, 1]; the registered "garbe" has 0.5.

    Returns
    -------
    Measure : for `band`, `floor`, `uncertainty` and `compare`.

    Raises
    ------
    InputError : c outside [0, 1].

    References
    ----------
    Howard et al. (2022), Evaluating proposed fairness models for face recognition algorithms.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.garbe(c=0.25).fair
    0.0
    """
    _check_weight(c)

    def read(tallies: xr.Dataset) -> xr.DataArray:
        far, frr = (gini(over_groups(tallies, name)) for name in ("far_group", "frr_group"))
        return c * far + (1 - c) * frr

    return Measure(_weighted_name("garbe", c), read, IDENTITY_SCALE, 0.0, f"GARBE (c = {c:g})")


def _check_weight(c: float) -> None:
    require(0 <= c <= 1, f"the weight c of FAR must lie in [0, 1], got {c}")


def _weighted_name(name: str, c: float) -> str:
    return name if c == 0.5 else f"{name}(c={c:g})"


def _reader(variable: str, formula: Formula) -> Callable[[xr.Dataset], xr.DataArray]:
    """The measure that applies a formula to one variable over groups."""
    return lambda tallies: formula(over_groups(tallies, variable))


def _register_all() -> None:
    """Enter every disparity measure."""
    for rate in ("far", "frr"):
        for name, (formula, scale, fair, words) in DISPARITIES.items():
            label = words.format(rate=rate.upper())
            register(f"{rate}_{name}", scale=scale, fair=fair, label=label)(_reader(f"{rate}_group", formula))
    for name, (variable, label) in SPREADS.items():
        register(name, fair=0.0, label=label)(_reader(variable, spread))
    for one in (fdr(), ir(), garbe()):
        register(one.name, scale=one.scale, fair=one.fair, label=one.label)(one.function)


_register_all()
