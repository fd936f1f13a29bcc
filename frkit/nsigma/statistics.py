"""SP, EOP, Welch's t, N and its level of risk from the rates of subsets, over batch, subset and group."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy import stats

from frkit.base import GROUP, listed, require, warn
from frkit.nsigma.subsets import BATCH, SUBSET, subset_rates

RISK_LEVELS = {"minimal": 0.0, "limited": 1.0, "high": 2.0, "unacceptable": 3.0}
LONG_NAMES = {
    "eer_mean": "mean EER of the subsets",
    "tpr_mean": "mean TPR of the subsets",
    "eer_sd": "σ, standard deviation of the EER over subsets (ddof 1)",
    "tpr_sd": "standard deviation of the TPR over subsets (ddof 1)",
    "sp": "statistical parity, 1 - mean |difference of EERs| (eq. 3)",
    "eop": "equality of opportunity, 1 - mean |difference of TPRs| (eq. 4)",
    "sp_floor": "SP of two groups with these σ and equal mean EERs",
    "eop_floor": "EOP of two groups with these standard deviations and equal mean TPRs",
    "welch_t": "Welch's t of the EERs (eq. 5)",
    "p_value": "the paper's p of Welch's t over subsets: no test of fairness, depends on their number",
    "n_signed": "N, (mean of the reference - mean of the group) / σ of the reference (eq. 6)",
    "n_absolute": "|N|, distance to the reference group in σ",
    "n_by_batch": "N of each batch",
}


def n_sigma(
    scores: xr.DataArray,
    *,
    by: str | list[str],
    subsets: int = 100,
    subset_size: int | None = None,
    batches: int = 1,
    seed: int = 0,
    reference: str | None = None,
    fpr: float = 0.01,
    threshold: ArrayLike | None = None,
    risk_levels: Mapping[str, float] | None = None,
    varying: str = "error",
) -> xr.Dataset:
    """Say how far the groups lie from the best one, in standard deviations of its EER over subsets.

    N is no test: σ shrinks as the subsets grow, so N depends on `subset_size`, and p on `subsets`, both the
    user's choice (`by_subset_size` and `by_subsets` show how). A reference group that is chosen as the best one
    of these very data makes |N| larger than it is (`floor` shows by how much).

    Parameters
    ----------
    scores : score tensor over ([model,] probe, reference), or a list of pairs with identities.
    by : attribute, or several to cross, whose groups are compared.
    subsets : K, number of subsets in a batch, at least 2.
    subset_size : people in a subset, from 2 to the number of people of the smallest group; None takes as many as
        each group has.
    batches : M, number of times that K fresh subsets are drawn, at least 1.
    seed : seed of all draws.
    reference : group that all are compared with; None takes the one with the lowest mean EER, and for EOP the
        one with the highest mean TPR, as the paper does.
    fpr : in (0, 1), false positive rate (FAR) at which the TPR is read.
    threshold : fixed score threshold or thresholds, for SP(τ) of eq. 1: adds `fmr` and `fnmr`, by a second sweep.
    risk_levels : name to the lowest |N| at which the level begins; one must begin at 0. Default: minimal, limited,
        high, unacceptable from 0, 1, 2, 3 (the paper names no numbers).
    varying : rule for an attribute that varies within an identity, as in `evaluate`.

    Returns
    -------
    xr.Dataset with the rates of `nsigma.subset_rates` and, over ([model,] group), averaged over the batches:
    `eer_mean`, `tpr_mean`, `eer_sd` (σ), `tpr_sd`; `sp` (eq. 3), `eop` (eq. 4), `welch_t` (eq. 5), `p_value`,
    `n_signed` (eq. 6; negative where the group is worse), `n_absolute`; the reference itself has 1, 1, 0, 1, 0, 0.
    `sp_floor` and `eop_floor` are what equal groups would have, about 1 - 2σ/√π and not 1. `risk` names the level
    of |N|; `n_by_batch` is N before it is averaged. `p_value` is the paper's and no test of fairness: its samples
    are subsets of the same people, so that it calls equal groups different in most data sets (.87 at a nominal .05
    with the paper's numbers) and falls with the number of subsets; for a test take `frkit.band` of a disparity or
    `frkit.compare(..., groups=...)`. Coordinates `reference_eer` and `reference_tpr` name the
    reference groups.

    Raises
    ------
    InputError : as in `nsigma.subset_rates`; an unknown reference; risk levels that do not begin at 0.

    Warns
    -----
    DataWarning : the EER of the reference does not vary between subsets, so that N is infinite or unknown.

    References
    ----------
    DeAlcala et al. (2023), eq. 1-6 and section IV.

    Examples
    --------
    >>> import frkit as fk
    >>> groups = {"easy": {"kappa": 60}, "hard": {"kappa": 20}}
    >>> mix = fk.vmf.mixture(60, 16, seed=0, groups=groups)
    >>> found = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=50, fpr=0.1)
    >>> found.n_absolute.sel(group="easy").item(), found.risk.sel(group="hard").item()
    (0.0, 'unacceptable')
    """
    how = dict(
        subsets=subsets,
        subset_size=subset_size,
        batches=batches,
        fpr=fpr,
        threshold=threshold,
        varying=varying,
    )
    return summarise(
        subset_rates(scores, by=by, seed=seed, **how), reference=reference, risk_levels=risk_levels
    )


def summarise(
    rates: xr.Dataset,
    *,
    reference: str | None = None,
    risk_levels: Mapping[str, float] | None = None,
) -> xr.Dataset:
    """Compare the groups' subsets with those of a reference group, batch by batch, and average over the batches.

    Parameters
    ----------
    rates : `eer` and `tpr` over batch, subset, group (and more), from `nsigma.subset_rates` or a study. A result
        of `n_sigma` will do: its comparisons are made anew.
    reference, risk_levels : as in `n_sigma`.

    Returns
    -------
    xr.Dataset : as from `n_sigma`.

    Raises
    ------
    InputError : an unknown reference, one group, fewer than two subsets, NaN rates, bad risk levels.

    References
    ----------
    DeAlcala et al. (2023), section V.

    Examples
    --------
    >>> import numpy as np, xarray as xr, frkit as fk
    >>> eer = xr.DataArray([[[0.01, 0.03], [0.02, 0.04]]], dims=("batch", "subset", "group"))
    >>> rates = xr.Dataset({"eer": eer, "tpr": 1 - eer}, coords={"group": ["a", "b"]})
    >>> fk.nsigma.summarise(rates).n_signed.round(3).values.tolist()
    [0.0, -2.828]
    """
    _check(rates, reference)
    of_eer = _reference(rates.eer.mean([BATCH, SUBSET]).argmin(GROUP), rates, reference)
    of_tpr = _reference(rates.tpr.mean([BATCH, SUBSET]).argmax(GROUP), rates, reference)
    return with_risk(compared(rates, of_eer, of_tpr), risk_levels)


def with_risk(result: xr.Dataset, risk_levels: Mapping[str, float] | None = None) -> xr.Dataset:
    """Name the risk level of every |N|: limits that the user can set, at once and without new subsets.

    Parameters
    ----------
    result : any Dataset with `n_absolute`, such as what `n_sigma` returned.
    risk_levels : as in `n_sigma`.

    Returns
    -------
    xr.Dataset : with `risk`, the level's name ("unknown" where N is NaN), and the attribute `risk_levels`.

    Raises
    ------
    InputError : levels that do not ascend from 0.

    References
    ----------
    DeAlcala et al. (2023), section V-B and Fig. 1.

    Examples
    --------
    >>> import frkit as fk, xarray as xr
    >>> found = xr.Dataset({"n_absolute": ("group", [1.3, 0.0, 0.58])})
    >>> fk.nsigma.with_risk(found, {"fine": 0, "alarming": 0.5}).risk.values.tolist()
    ['alarming', 'fine', 'alarming']
    """
    levels = dict(RISK_LEVELS if risk_levels is None else risk_levels)
    starts = np.array(list(levels.values()), float)
    ascend = len(levels) > 0 and starts[0] == 0 and bool(np.all(np.diff(starts) > 0))
    require(
        ascend,
        f"risk_levels must name the |N| at which each level begins, ascending from 0; got {levels}",
    )
    place = np.searchsorted(starts, result.n_absolute.values, side="right") - 1
    names = np.array([*levels, "unknown"])[np.where(result.n_absolute.isnull(), len(levels), place)]
    result = result.assign(risk=(result.n_absolute.dims, names, {"long_name": "risk level of |N|"}))
    return result.assign_attrs(
        risk_levels=json.dumps({name: float(start) for name, start in levels.items()})
    )


def compared(rates: xr.Dataset, of_eer: xr.DataArray, of_tpr: xr.DataArray) -> xr.Dataset:
    """The rates with the groups' comparisons to reference groups, averaged over batches."""
    values = _moments(rates.eer, of_eer, "eer", "sp") | _moments(rates.tpr, of_tpr, "tpr", "eop")
    values |= _distances(values["eer_mean"], values["eer_sd"], rates.sizes[SUBSET], of_eer)
    result = rates.assign({name: value.mean(BATCH, skipna=False) for name, value in values.items()})
    result = result.assign(n_by_batch=values["n_signed"])
    for name, words in LONG_NAMES.items():
        result[name].attrs = {"long_name": words}
    return result.assign_coords(reference_eer=of_eer, reference_tpr=of_tpr)


def parity(result: xr.Dataset, *, alpha: float = 0.5) -> xr.DataArray:
    """SP(τ) of eq. 1 at fixed thresholds: 1 - (α A(τ) + (1 - α) B(τ)), the form of the fairness discrepancy rate.

    A and B are the mean absolute differences of FMR and FNMR between the subsets of a group and of the
    reference. α = 0 gives EOP(τ) of eq. 4, because a difference of TPRs is one of FNMRs.

    Parameters
    ----------
    result : what `n_sigma(..., threshold=...)` returned.
    alpha : α in [0, 1], the weight of false matches.

    Returns
    -------
    xr.DataArray over ([model,] threshold_level, group), 1 for the reference group, averaged over the batches.

    Raises
    ------
    InputError : no rates at thresholds in the result; α outside [0, 1].

    References
    ----------
    DeAlcala et al. (2023), eq. 1; de Freitas Pereira & Marcel (2021).

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> found = fk.n_sigma(scores, by="group", subsets=10, fpr=0.1, threshold=[0.3, 0.5])
    >>> fk.nsigma.parity(found).dims
    ('threshold_level', 'group')
    """
    require(
        "fmr" in result,
        "this result has no rates at thresholds: call n_sigma(..., threshold=[...])",
    )
    require(0 <= alpha <= 1, f"alpha must lie in [0, 1], got {alpha!r}")
    gaps = [
        abs(rate - of_group(rate, result.reference_eer)).mean(SUBSET)
        for rate in (result.fmr, result.fnmr)
    ]
    return (1 - (alpha * gaps[0] + (1 - alpha) * gaps[1])).mean(BATCH).rename("sp")


def _check(rates: xr.Dataset, reference: str | None) -> None:
    """Two groups and two subsets at least, every rate known, and the reference among the groups."""
    for name in ("eer", "tpr"):
        there = name in rates and {BATCH, SUBSET, GROUP} <= set(rates[name].dims)
        require(
            there,
            f"rates must hold {name!r} over batch, subset and group; make them with nsigma.subset_rates",
        )
        require(
            not bool(rates[name].isnull().any()),
            f"{name} is NaN for some subsets: each needs pairs of both kinds",
        )
    groups = rates[GROUP].values.astype(str)
    require(len(groups) >= 2, f"N-Sigma compares groups, but there is only one: {listed(groups)}")
    require(rates.sizes[SUBSET] >= 2, f"σ takes at least 2 subsets, got {rates.sizes[SUBSET]}")
    known = reference is None or reference in groups
    require(known, f"reference={reference!r} is no group; the groups are {listed(groups, 20)}")


def _reference(best: xr.DataArray, rates: xr.Dataset, name: str | None) -> xr.DataArray:
    """Label of the reference group, which may differ between models unless it is named."""
    groups = rates[GROUP].values.astype(str)
    return best.copy(
        data=groups[best.values] if name is None else np.full(best.shape, name, groups.dtype)
    )


def _moments(
    rate: xr.DataArray, chosen: xr.DataArray, name: str, parity: str
) -> dict[str, xr.DataArray]:
    """Means, standard deviations, parity with the reference and the floor of parity, batch by batch."""
    sd = rate.std(SUBSET, ddof=1).where(
        rate.max(SUBSET) > rate.min(SUBSET), 0.0
    )  # not 1e-18 by rounding
    # the mean distance of two independent normal numbers is sqrt(2 / pi) times the deviation of their difference
    by_chance = np.sqrt(2 / np.pi * (sd**2 + of_group(sd, chosen) ** 2))
    equal = 1 - abs(rate - of_group(rate, chosen)).mean(SUBSET)
    floor = (1 - by_chance).where(rate[GROUP].astype(str) != chosen, 1.0)
    return {
        f"{name}_mean": rate.mean(SUBSET),
        f"{name}_sd": sd,
        parity: equal,
        f"{parity}_floor": floor,
    }


def _distances(
    mean: xr.DataArray, sd: xr.DataArray, n: int, chosen: xr.DataArray
) -> dict[str, xr.DataArray]:
    """N and Welch's test of (reference, group), batch by batch, from the moments of n subsets."""
    others = mean[GROUP].astype(str) != chosen  # the groups that are not their own reference
    of_mean, of_sd = of_group(mean, chosen), of_group(sd, chosen)
    if bool((of_sd == 0).any()):
        warn(
            "the EER of the reference group is the same in every subset (σ = 0), so N is infinite, or unknown (NaN) "
            "where a group's mean is the same; take harder data, more people, or another reference"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        both = of_mean, of_sd, n, mean, sd, n
        n_signed = ((of_mean - mean) / of_sd).where(others, 0.0)
        t, p = xr.apply_ufunc(
            stats.ttest_ind_from_stats,
            *both,
            kwargs={"equal_var": False},
            output_core_dims=[[], []],
        )
    welch = {"welch_t": t.where(others, 0.0), "p_value": p.where(others, 1.0)}
    return welch | {"n_signed": n_signed, "n_absolute": abs(n_signed)}


def of_group(rate: xr.DataArray, chosen: xr.DataArray) -> xr.DataArray:
    """The rate of the reference group, which may differ between models."""
    return rate.sel({GROUP: chosen}).drop_vars(GROUP)
