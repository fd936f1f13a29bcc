"""Disparity measures: how far apart the groups' error rates lie (Conti & Clémençon 2024, A.1; NIST; the field)."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.base import GROUP, real_numbers, require
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE, Measure, enter, over_groups

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
    ascending = xr.DataArray(np.sort(rates.values, axis=rates.get_axis_num(GROUP)), dims=rates.dims)
    apart = (ascending * ranks).sum(GROUP, skipna=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        return apart / ((n - 1) * rates.sum(GROUP, skipna=False))


def max_difference(rates: xr.DataArray) -> xr.DataArray:
    """Largest group rate minus the smallest; rates: any dims with `group`."""
    return rates.max(GROUP, skipna=False) - rates.min(GROUP, skipna=False)


def spread(values: xr.DataArray) -> xr.DataArray:
    """Standard deviation over groups (ddof 1); values: any dims with `group`."""
    return values.std(GROUP, ddof=1, skipna=False)


def _weighted(far: xr.DataArray, frr: xr.DataArray, c: float) -> xr.DataArray:
    """The mean of two disparities with weights c and 1 - c."""
    return c * far + (1 - c) * frr


# name -> formula, scale of its intervals, value of a fair model, words
DISPARITIES: dict[str, tuple[Formula, str, float, str]] = {
    "max_min": (max_min, LOG_SCALE, 1.0, "largest / smallest group {rate}"),
    "max_geomean": (max_geomean, LOG_SCALE, 1.0, "largest group {rate} / geometric mean"),
    "log_geomean": (
        log_geomean,
        IDENTITY_SCALE,
        0.0,
        "sum of |log10(group {rate} / geometric mean)|",
    ),
    "gini": (gini, IDENTITY_SCALE, 0.0, "Gini coefficient of the group {rate}s"),
    "max_difference": (max_difference, IDENTITY_SCALE, 0.0, "largest minus smallest group {rate}"),
}
# name -> disparity of each rate, FAR's and FRR's put together with a weight c, scale, value of a fair model, words
OF_BOTH_RATES = {
    "fdr": (
        max_difference,
        lambda *rates: 1 - _weighted(*rates),
        IDENTITY_SCALE,
        1.0,
        "fairness discrepancy rate",
    ),
    "ir": (max_min, lambda far, frr, c: far**c * frr ** (1 - c), LOG_SCALE, 1.0, "inequity rate"),
    "garbe": (gini, _weighted, IDENTITY_SCALE, 0.0, "GARBE"),
}


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
    return _of_both("fdr", c)


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
    return _of_both("ir", c)


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
    return _of_both("garbe", c)


def _of_both(name: str, c: float) -> Measure:
    """The measure that puts the disparities of FAR (with weight c) and of FRR together."""
    weight = real_numbers("c", c)
    require(
        weight.ndim == 0 and 0 <= weight <= 1, f"the weight c of FAR must lie in [0, 1], got {c}"
    )
    formula, together, scale, fair, words = OF_BOTH_RATES[name]

    def read(tallies: xr.Dataset) -> xr.DataArray:
        far, frr = (formula(over_groups(tallies, rate)) for rate in ("far_group", "frr_group"))
        with np.errstate(invalid="ignore"):
            return together(far, frr, c)

    return Measure(
        name if c == 0.5 else f"{name}(c={c:g})", read, scale, fair, f"{words} (c = {c:g})"
    )


def _of_one(variable: str, formula: Formula) -> Callable[[xr.Dataset], xr.DataArray]:
    """The function that applies a formula to one variable over groups."""
    return lambda tallies: formula(over_groups(tallies, variable))


enter(
    *(
        Measure(
            f"{rate}_{name}",
            _of_one(f"{rate}_group", formula),
            scale,
            fair,
            words.format(rate=rate.upper()),
        )
        for rate in ("far", "frr")
        for name, (formula, scale, fair, words) in DISPARITIES.items()
    ),
    Measure(
        "eer_spread",
        _of_one("eer_group", spread),
        fair=0.0,
        label="standard deviation of the EER over groups",
    ),
    Measure(
        "auc_spread",
        _of_one("auc_group", spread),
        fair=0.0,
        label="standard deviation of the AUC over groups",
    ),
    *(make() for make in (fdr, ir, garbe)),
)
