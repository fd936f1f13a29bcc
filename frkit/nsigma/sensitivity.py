"""What N and p depend on beside the groups: the number of subsets, the people in each, and chance."""

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr
from scipy import stats

from frkit.base import PAIR, PROBE, REFERENCE, UNKNOWN, require, require_whole
from frkit.intervals.floors import deal, grouped_people
from frkit.nsigma.statistics import compared, n_sigma, with_risk
from frkit.nsigma.subsets import SUBSET
from frkit.scores.groups import checked_scores, people

N_SUBSETS, SUBSET_SIZE, DEALT = "n_subsets", "subset_size", "dealt_group"


def by_subsets(result: xr.Dataset, counts: Sequence[int] | None = None) -> xr.Dataset:
    """SP, p and N as they would be with fewer subsets: N stays where it is, p falls without end.

    Parameters
    ----------
    result : what `n_sigma` returned, with K subsets.
    counts : numbers of subsets, from 2 to K; by default about ten of them, evenly on a log scale.

    Returns
    -------
    xr.Dataset : the variables of `n_sigma` without the subsets' rates, over n_subsets in front. The reference
    groups stay those of the whole result.

    Raises
    ------
    InputError : a number below 2 or above K.

    References
    ----------
    DeAlcala et al. (2023), section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> found = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=40, fpr=0.1)
    >>> fk.nsigma.by_subsets(found, [10, 40]).p_value.dims
    ('n_subsets', 'group')
    """
    most = result.sizes[SUBSET]
    counts = (
        np.unique(np.geomspace(min(5, most), most, 10).astype(int))
        if counts is None
        else np.asarray(counts)
    )
    fits = (
        counts.size > 0 and counts.dtype.kind in "iu" and counts.min() >= 2 and counts.max() <= most
    )
    require(
        fits,
        f"counts must be whole numbers from 2 to the {most} subsets of the result, got {counts.tolist()}",
    )
    references = result.reference_eer, result.reference_tpr
    each = [compared(result.isel({SUBSET: slice(0, int(count))}), *references) for count in counts]
    whole = _stacked([one.drop_dims(SUBSET) for one in each], N_SUBSETS, counts)
    return with_risk(whole, json.loads(result.attrs["risk_levels"]))


def by_subset_size(scores: xr.DataArray, sizes: Sequence[int], **options) -> xr.Dataset:
    """σ, SP, p and N as functions of the people in a subset: σ falls about as 1/√size.

    So N rises about as √size, and says as much about the size as about the groups; σ falls still faster where
    the subsets are small. Compare N between systems at the same size only.

    Parameters
    ----------
    scores : score tensor or list of pairs with identities.
    sizes : numbers of people in a subset, each from 2 to the people of the smallest group.
    options : further options of `n_sigma`, `by` among them; all sizes use the same seed.

    Returns
    -------
    xr.Dataset : the variables of `n_sigma` over subset_size in front.

    Raises
    ------
    InputError : no size; as in `n_sigma`.

    References
    ----------
    DeAlcala et al. (2023), section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> found = fk.nsigma.by_subset_size(scores, [8, 30], by="group", fpr=0.1)
    >>> bool((found.eer_sd.sel(subset_size=30) < found.eer_sd.sel(subset_size=8)).all())
    True
    """
    require(len(sizes) > 0, "sizes is empty: give at least one number of people")
    each = [n_sigma(scores, subset_size=size, **options) for size in sizes]
    return _stacked(each, SUBSET_SIZE, list(sizes))


def floor(
    scores: xr.DataArray, *, by: str | list[str], deals: int = 20, seed: int = 0, **options
) -> xr.Dataset:
    """N, SP and EOP of groups that are alike: the people are dealt anew to groups of the same sizes.

    Dealt groups differ by chance alone, yet SP and EOP stay below 1, and |N| above 0: the reference is the best
    group of these data, so all others look worse (the winner's curse). An estimate within this range is no sign
    of unfairness.

    Parameters
    ----------
    scores : score tensor over ([model,] probe, reference); a list of pairs cannot be dealt, because pairs across
        groups are absent from most lists.
    by : attribute, or several to cross; it must be a property of the identity. People without label stay out.
    deals : how often people are dealt, at least 1.
    seed : seed of the deals and of the subsets, fresh for each deal.
    options : further options of `n_sigma`.

    Returns
    -------
    xr.Dataset : the variables of `n_sigma` over deal in front.

    Raises
    ------
    InputError : a list of pairs; no deal; as in `n_sigma`.

    References
    ----------
    DeAlcala et al. (2023), eq. 3, 4 and 6, under the hypothesis of equal groups.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> found = fk.nsigma.floor(scores, by="group", deals=3, subsets=20, fpr=0.1)
    >>> bool((found.n_absolute.max("group") > 0).all())
    True
    """
    scores = checked_scores(scores)
    require(
        PAIR not in scores.dims,
        "a list of pairs cannot be dealt to groups: most hold no pairs across groups",
    )
    require_whole("deals", deals, 1)
    require_whole("seed", seed, 0)
    who = people(scores, by, "error")
    owner, code = grouped_people(who)
    each = []
    for child in np.random.SeedSequence(seed).spawn(deals):
        rng = np.random.default_rng(child)
        label = np.append(who.groups, UNKNOWN)[deal(code, rng)[owner]]
        sides = {
            f"{side}_{DEALT}": (side, label[at])
            for side, at in ((PROBE, who.probe), (REFERENCE, who.reference))
        }
        each.append(
            n_sigma(scores.assign_coords(sides), by=DEALT, seed=int(rng.integers(2**32)), **options)
        )
    return _stacked(each, "deal", np.arange(deals))


def p_value(n: float | np.ndarray, subsets: int | np.ndarray) -> np.ndarray:
    """The p of Welch's test for two groups at distance N with equal σ, as a function of the number of subsets.

    t is N √(K/2) with 2K - 2 degrees of freedom: whatever the difference, p falls below any limit when K grows.

    Parameters
    ----------
    n : distance in σ, any sign; broadcast against `subsets`.
    subsets : K, subsets of each group, at least 2.

    Returns
    -------
    np.ndarray : two-sided p in [0, 1], of the broadcast shape.

    Raises
    ------
    InputError : fewer than 2 subsets.

    References
    ----------
    DeAlcala et al. (2023), eq. 5 and 6 with equal σ.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.nsigma.p_value(0.5, 20).round(2).item()
    0.12
    """
    subsets = np.asarray(subsets)
    require(bool(np.all(subsets >= 2)), f"σ takes at least 2 subsets, got {subsets.tolist()}")
    return 2 * stats.t.sf(np.abs(n) * np.sqrt(subsets / 2), 2 * subsets - 2)


def _stacked(results: list[xr.Dataset], dim: str, labels) -> xr.Dataset:
    """Results along a new dimension in front; references may differ between them."""
    along = xr.Variable(dim, np.asarray(labels))
    attrs = {"combine_attrs": "drop_conflicts", "join": "exact"}
    return xr.concat(
        results, dim=along, data_vars="all", coords="different", compat="equals", **attrs
    )
