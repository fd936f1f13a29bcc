"""SP, EOP, Welch's t, N and its level of risk from the rates of subsets."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import stdtr

from frkit.base import (
    listed,
    real_numbers,
    require,
    require_number,
    require_one_of,
    require_returned,
    warn,
)
from frkit.papers.nsigma import RISK_LEVELS
from frkit.papers.nsigma.subsets import BATCH, SUBSET, subset_rates


def n_sigma(
    scores: xr.DataArray,
    *,
    by: str | list[str],
    subsets: int = 100,
    subset_size: int | None = None,
    seed: int = 0,
    fpr: float = 0.01,
    threshold: ArrayLike | None = None,
    varying: str = "error",
) -> xr.Dataset:
    """Say how far the groups lie from the best one, in standard deviations of its EER over subsets.

    N is not a test: σ falls about as 1/√`subset_size`, so N grows with the size of the subsets, and
    p falls with their number. The user chooses both; compare systems at the same size and number.
    The reference is the group with the lowest mean EER, and for EOP the one with the highest mean
    TPR, as in the paper. Choosing it from the same data makes |N| too large (`floor` shows by how
    much); `nsigma.summarise(result, reference=...)` compares with another group.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        Score tensor over ([model,] probe, reference), or a list of pairs with identities.
    by : str or list of str
        Attribute, or several to cross, whose groups are compared.
    subsets : int
        K, number of subsets, at least 2.
    subset_size : int, optional
        People in a subset, from 2 to the number of people of the smallest group; None takes as many
        as each group has.
    seed : int
        Seed of all draws.
    fpr : float in (0, 1)
        False positive rate (FAR) at which the TPR is read.
    threshold : float or sequence of float, optional
        Fixed score thresholds, for SP(τ) of eq. 1: adds `fmr` and `fnmr`.
    varying : str
        Rule for an attribute that varies within an identity, as in `evaluate`.

    Returns
    -------
    xr.Dataset
        Over ([model,] batch, subset, group), with one batch: `eer`, `tpr`, and with thresholds
        `fmr` and `fnmr`, also over threshold_level. `eer_all` is that of all people of a group.
        Over ([model,] group), averaged over the batches: `eer_mean`, `tpr_mean`, `eer_sd` (σ),
        `tpr_sd`; `sp` (eq. 3), `eop` (eq. 4), `welch_t` (eq. 5), `p_value`, `n_signed` (eq. 6;
        negative where the group is worse), `n_absolute`; the reference itself has 1, 1, 0, 1, 0, 0.
        `sp_floor` and `eop_floor` are what equal groups would have, about 1 - 2σ/√π and not 1.
        `risk` names the level of |N|: minimal from 0, limited from 1, high from 2, unacceptable
        from 3 (the paper names no numbers); `n_by_batch` is N before it is averaged. Coordinates
        `reference_eer` and `reference_tpr` name the reference groups. `p_value` is the paper's and
        no test of fairness: its samples are subsets of the same people, so that it calls equal
        groups different in most data sets (.87 at a nominal .05 with the paper's numbers) and falls
        with the number of subsets; for a test take `frkit.band` of a disparity or
        `frkit.compare(..., groups=...)`.

    Raises
    ------
    InputError
        For fewer than two groups; a group without genuine or impostor pairs, or with a subset that
        has none; NaN scores; an impossible number, size, rate or attribute.

    Warns
    -----
    DataWarning
        The EER of the reference does not vary between subsets, so that N is infinite or unknown.

    References
    ----------
    DeAlcala et al. (2023), eq. 1-6 and section IV.

    Examples
    --------
    >>> import frkit as fk
    >>> groups = {"easy": {"kappa": 60}, "hard": {"kappa": 20}}
    >>> mix = fk.vmf.mixture(60, 16, seed=0, groups=groups)
    >>> result = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=50, fpr=0.1)
    >>> result.n_absolute.sel(group="easy").item(), result.risk.sel(group="hard").item()
    (0.0, 'unacceptable')
    """
    rates = subset_rates(
        scores,
        by=by,
        subsets=subsets,
        subset_size=subset_size,
        seed=seed,
        fpr=fpr,
        threshold=threshold,
        varying=varying,
    )
    return summarise(rates)


def summarise(rates: xr.Dataset, *, reference: str | None = None) -> xr.Dataset:
    """Compare the groups' subsets with those of a reference group, averaged over the batches.

    Parameters
    ----------
    rates : xr.Dataset
        `eer` and `tpr` over batch, subset, group (and more), from `n_sigma` or a study: the
        comparisons are made again.
    reference : str, optional
        Group that all are compared with; None takes the one with the lowest mean EER, and for EOP
        the one with the highest mean TPR, as the paper does.

    Returns
    -------
    xr.Dataset
        As from `n_sigma`.

    Raises
    ------
    InputError
        For an unknown reference, one group, fewer than two subsets, NaN rates.

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
    require_returned("rates", rates, "fk.n_sigma", "eer", "tpr", BATCH, SUBSET, "group")
    groups = rates["group"].values.astype(str)
    require(len(groups) >= 2, f"N-Sigma compares groups, but there is only one: {listed(groups)}")
    require(rates.sizes[SUBSET] >= 2, f"σ takes at least 2 subsets, got {rates.sizes[SUBSET]}")
    complete = rates[["eer", "tpr"]].to_array().notnull().all()
    require(complete, "some rates are NaN: each subset needs pairs of both kinds")
    eer_reference = rates.eer.mean([BATCH, SUBSET]).idxmin("group").astype(str)
    tpr_reference = rates.tpr.mean([BATCH, SUBSET]).idxmax("group").astype(str)
    if reference is not None:
        require_one_of("reference", reference, groups.tolist())
        eer_reference = tpr_reference = xr.full_like(eer_reference, reference, dtype=groups.dtype)
    return with_risk(with_comparisons(rates, eer_reference, tpr_reference))


def with_comparisons(rates, eer_reference, tpr_reference):
    """The rates with the groups' comparisons to reference groups, averaged over batches.

    eer_reference, tpr_reference: labels of the reference groups, which may differ between models.
    """
    values = _parities(rates.eer, eer_reference, "eer", "sp") | _parities(
        rates.tpr, tpr_reference, "tpr", "eop"
    )
    mean = values["eer_mean"]
    sd = values["eer_sd"]
    values["welch_t"], values["p_value"] = welch(mean, sd, rates.sizes[SUBSET], eer_reference)
    n = signed_n(mean, sd, eer_reference)
    values |= {"n_signed": n, "n_absolute": abs(n)}
    means = xr.Dataset(values).mean(BATCH, skipna=False)
    return rates.assign(means.assign(n_by_batch=n)).assign_coords(
        reference_eer=eer_reference, reference_tpr=tpr_reference
    )


def _parities(rate, reference, name, parity_name):
    """Mean, standard deviation, parity with the reference (eq. 3, 4) and its floor, by batch."""
    varies = rate.max(SUBSET) > rate.min(SUBSET)
    sd = rate.std(SUBSET, ddof=1).where(varies, 0.0)  # not 1e-18 by rounding
    # the mean distance of two normal numbers is sqrt(2 / pi) times the sd of their difference
    by_chance = np.sqrt(2 / np.pi * (sd**2 + at_reference(sd, reference) ** 2))
    return {
        f"{name}_mean": rate.mean(SUBSET),
        f"{name}_sd": sd,
        parity_name: 1 - abs(rate - at_reference(rate, reference)).mean(SUBSET),
        f"{parity_name}_floor": (1 - by_chance).where(rate["group"] != reference, 1.0),
    }


def at_reference(rate, reference):
    """The rate of the reference group, which may differ between models."""
    return rate.sel(group=reference).drop_vars("group")


def welch(mean, sd, n_subsets, reference):
    """Welch's t and p (eq. 5) of the reference and each group, from moments of their subsets."""
    from scipy import stats  # slow to import, and only here

    with np.errstate(divide="ignore", invalid="ignore"):
        t, p = xr.apply_ufunc(
            stats.ttest_ind_from_stats,
            *(at_reference(mean, reference), at_reference(sd, reference), n_subsets),
            *(mean, sd, n_subsets, False),
            output_core_dims=[[], []],
        )
    is_other = mean["group"] != reference
    return t.where(is_other, 0.0), p.where(is_other, 1.0)


def signed_n(mean, sd, reference):
    """N of eq. 6: (mean of the reference - mean of the group) / σ of the reference; EERs."""
    reference_mean = at_reference(mean, reference)
    reference_sd = at_reference(sd, reference)
    if (reference_sd == 0).any():
        warn(
            "the EER of the reference group is the same in every subset (σ = 0), so N is infinite, "
            "or unknown (NaN) where a group's mean is the same; take harder data, more people, or "
            "another reference"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        n = (reference_mean - mean) / reference_sd
    return n.where(mean["group"] != reference, 0.0)


def with_risk(result):
    """The result with the name of each |N|'s level of risk: "unknown" where N is NaN."""
    n = result.n_absolute
    level = np.searchsorted([*RISK_LEVELS.values()], n.values, side="right") - 1  # NaN comes last
    names = np.where(n.isnull(), "unknown", np.array([*RISK_LEVELS])[level])
    return result.assign(risk=n.copy(data=names)).assign_attrs(kind="n_sigma")


def parity(result: xr.Dataset, *, alpha: float = 0.5) -> xr.DataArray:
    """SP(τ) of eq. 1 at fixed thresholds: 1 - (α A(τ) + (1 - α) B(τ)).

    A and B are the mean absolute differences of FMR and FNMR between the subsets of a group and of
    the reference: the form of the fairness discrepancy rate. α = 0 gives EOP(τ) of eq. 4, because a
    difference of TPRs is one of FNMRs.

    Parameters
    ----------
    result : xr.Dataset
        What `n_sigma(..., threshold=...)` returned.
    alpha : float in [0, 1]
        α, the weight of false matches.

    Returns
    -------
    xr.DataArray
        Over ([model,] threshold_level, group), 1 for the reference group, averaged over batches.

    Raises
    ------
    InputError
        For no rates at thresholds in the result, or α outside [0, 1].

    References
    ----------
    DeAlcala et al. (2023), eq. 1; de Freitas Pereira & Marcel (2021).

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> result = fk.n_sigma(scores, by="group", subsets=10, fpr=0.1, threshold=[0.3, 0.5])
    >>> fk.nsigma.parity(result).dims
    ('threshold_level', 'group')
    """
    require_returned("result", result, "fk.n_sigma(..., threshold=[...])", "fmr", "reference_eer")
    require_number("alpha", alpha, 0, 1)
    rates = result[["fmr", "fnmr"]]
    gap = abs(rates - at_reference(rates, result.reference_eer)).mean(SUBSET)
    sp = (1 - (alpha * gap.fmr + (1 - alpha) * gap.fnmr)).mean(BATCH).rename("sp")
    return sp.assign_attrs(kind="nsigma.parity")


def p_value(n: ArrayLike, subsets: ArrayLike) -> np.ndarray:
    """The p of Welch's test for two groups at distance N with equal σ.

    t is N √(K/2) with 2K - 2 degrees of freedom: whatever the difference, p falls below any limit
    when the number K of subsets grows.

    Parameters
    ----------
    n : float or array
        Distance in σ, any sign; broadcast against `subsets`.
    subsets : int or array of int
        K, subsets of each group, at least 2.

    Returns
    -------
    np.ndarray
        Two-sided p in [0, 1], of the broadcast shape.

    Raises
    ------
    InputError
        For fewer than 2 subsets.

    References
    ----------
    DeAlcala et al. (2023), eq. 5 and 6 with equal σ.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.nsigma.p_value(0.5, 20).round(2).item()
    0.12
    """
    n = real_numbers("n", n)
    subsets = real_numbers("subsets", subsets)
    require(np.all(subsets >= 2), f"σ takes at least 2 subsets, got {subsets}")
    return 2 * stdtr(2 * subsets - 2, -np.abs(n) * np.sqrt(subsets / 2))
