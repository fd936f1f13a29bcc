"""What N and p depend on besides the groups: the number of subsets, their size, and chance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import stdtr

from frkit.base import (
    real_numbers,
    require,
    require_returned,
    require_whole,
    seed_sequence,
)
from frkit.data.labels import attributes_of
from frkit.evaluation.sweep import swept
from frkit.intervals.permutation import groups_of_people, permute
from frkit.nsigma.statistics import n_sigma, summarise, with_comparisons, with_risk
from frkit.nsigma.subsets import SUBSET, compared_groups, rates_of_labels
from frkit.scores.groups import checked_scores
from frkit.scores.images import images_of
from frkit.scores.kept import is_list

N_SUBSETS, SUBSET_SIZE = "n_subsets", "subset_size"


def by_subsets(result: xr.Dataset, counts: Sequence[int] | None = None) -> xr.Dataset:
    """SP, p and N as they would be with fewer subsets: N stays the same, p falls towards 0.

    Parameters
    ----------
    result : xr.Dataset
        What `n_sigma` returned, with K subsets.
    counts : sequence of int, optional
        Numbers of subsets, from 2 to K; by default about ten of them, evenly on a log scale.

    Returns
    -------
    xr.Dataset
        The variables of `n_sigma` without the subsets' rates, over n_subsets. The
        reference groups stay those of the whole result.

    Raises
    ------
    InputError
        For a number below 2 or above K.

    References
    ----------
    DeAlcala et al. (2023), section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> result = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=40, fpr=0.1)
    >>> fk.nsigma.by_subsets(result, [10, 40]).p_value.dims
    ('n_subsets', 'group')
    """
    require_returned("result", result, "fk.n_sigma", "reference_eer", SUBSET)
    most = result.sizes[SUBSET]
    if counts is None:
        counts = np.unique(np.geomspace(min(5, most), most, 10).astype(int))
    counts = np.atleast_1d(real_numbers("counts", counts))
    require(
        counts.size > 0 and 2 <= counts.min() <= counts.max() <= most,
        f"counts must be whole numbers from 2 to the {most} subsets of the result, got {counts}",
    )
    each = []
    for count in counts.tolist():
        fewer = result.isel({SUBSET: slice(0, count)})
        fewer = with_comparisons(fewer, result.reference_eer, result.reference_tpr)
        each.append(fewer.drop_dims(SUBSET))
    return with_risk(_stacked(each, N_SUBSETS, counts), json.loads(result.attrs["risk_levels"]))


def by_subset_size(scores: xr.DataArray, sizes: Sequence[int], **options) -> xr.Dataset:
    """σ, SP, p and N as functions of the people in a subset: σ falls about as 1/√size.

    So N rises about as √size, and says as much about the size as about the groups; σ falls still
    faster where the subsets are small. Compare N between systems at the same size only.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        Score tensor or list of pairs with identities.
    sizes : sequence of int
        Numbers of people in a subset, each from 2 to the people of the smallest group.
    **options
        Further options of `n_sigma`, `by` among them; all sizes use the same seed.

    Returns
    -------
    xr.Dataset
        The variables of `n_sigma` over subset_size.

    Raises
    ------
    InputError
        As `n_sigma`.

    References
    ----------
    DeAlcala et al. (2023), section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> result = fk.nsigma.by_subset_size(scores, [8, 30], by="group", fpr=0.1)
    >>> bool((result.eer_sd.sel(subset_size=30) < result.eer_sd.sel(subset_size=8)).all())
    True
    """
    sizes = np.ravel(real_numbers("sizes", sizes)).tolist()
    require(len(sizes) > 0, "sizes is empty: give one number of people or more")
    each = [n_sigma(scores, subset_size=size, **options) for size in sizes]
    return _stacked(each, SUBSET_SIZE, sizes)


def floor(
    scores: xr.DataArray,
    *,
    by: str | list[str],
    permutations: int = 20,
    seed: int = 0,
    reference: str | None = None,
    risk_levels: Mapping[str, float] | None = None,
    **options,
) -> xr.Dataset:
    """N, SP and EOP of groups that are alike: labels of groups are permuted over people.

    Such groups differ by chance alone, yet SP and EOP stay below 1, and |N| above 0: the reference
    is the best group of these data, so all others look worse (the winner's curse). An estimate
    within this range is not evidence of unfairness.

    Parameters
    ----------
    scores : xr.DataArray
        Score tensor over ([model,] probe, reference); a list of pairs cannot be used, because
        pairs across groups are absent from most lists.
    by : str or list of str
        Attribute, or several to cross; it must be a property of the identity. People without a
        label are left out.
    permutations : int
        Number of permutations, at least 1.
    seed : int
        Seed of the permutations and of the subsets, fresh for each permutation.
    reference, risk_levels, **options
        Further options of `n_sigma`.

    Returns
    -------
    xr.Dataset
        The variables of `n_sigma`, over `permutation`.

    Raises
    ------
    InputError
        For a list of pairs; as `n_sigma`.

    References
    ----------
    DeAlcala et al. (2023), eq. 3, 4 and 6, under the hypothesis of equal groups.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> result = fk.nsigma.floor(scores, by="group", permutations=3, subsets=20, fpr=0.1)
    >>> bool((result.n_absolute.max("group") > 0).all())
    True
    """
    require_whole("permutations", permutations, 1)
    kept = swept(checked_scores(scores), by=by)
    require(
        not is_list(kept),
        "people of a list cannot change groups: most lists have no pairs across groups",
    )
    design, _, names = compared_groups(kept, by, "error")
    person, group = groups_of_people(images_of(kept, by, "error"))
    labels = []
    for child in seed_sequence(seed).spawn(permutations):
        rng = np.random.default_rng(child)
        permuted = permute(group, rng)[person] % (len(names) + 1)  # "in no group" comes last
        labels.append((permuted, int(rng.integers(2**32))))
    rates = rates_of_labels(kept, design, names, labels, **options)
    rates = rates.rename(labels="permutation").assign_coords(permutation=np.arange(permutations))
    result = summarise(rates, reference=reference, risk_levels=risk_levels)
    return result.transpose("permutation", ...).assign_attrs(by=" & ".join(attributes_of(by)))


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


def _stacked(results, dim, labels):
    """Stack results along a new first dimension; their references may differ."""
    return xr.concat(
        results,
        dim=xr.Variable(dim, np.asarray(labels)),
        data_vars="all",
        coords="different",
        compat="equals",
        combine_attrs="drop_conflicts",
        join="exact",
    )
