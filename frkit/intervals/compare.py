"""Two models, or two groups: the difference with its interval and p-value."""

from itertools import combinations

import numpy as np
import xarray as xr
from scipy import stats
from scipy.special import stdtrit

from frkit.base import (
    GROUP,
    MODEL,
    REPLICATE,
    InputError,
    listed,
    require,
    require_inside,
    require_one_of,
    warn,
)
from frkit.intervals.bands import EFFECTIVE, AnyMeasure, choose
from frkit.intervals.contributions import TARGETS, UNIT, contributions, effective_count
from frkit.intervals.effective import (
    RATES,
    SCALES,
    drawn_to_units,
    effective_rates,
    linearised,
    standard_error,
)
from frkit.intervals.equality import at_each_place, equality_p
from frkit.intervals.reading import (
    NEW_PEOPLE,
    data_of,
    labelled,
    provenance,
    warn_of,
    with_resolved,
)
from frkit.intervals.replicates import Values, interval, values_of
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE
from frkit.measures.registry import measure as find_measure

CONTRAST = "contrast"
SAME = (  # facts that must be the same of two evaluations
    "scheme", "n", "seed", "weighting", "impostors", "n_images", "n_identities", "by", "far_of",
)  # fmt: skip


def compare(
    evaluation_a: xr.DataTree,
    evaluation_b: xr.DataTree | AnyMeasure,
    measure: AnyMeasure | None = None,
    *,
    models: tuple[str, str] | str | None = None,
    groups: tuple[str, str] | str | None = None,
    method: str | None = None,
    target: str | None = None,
    level: float = 0.95,
) -> xr.Dataset:
    """Compare two models on the same images, or two groups under one model.

    Models meet the same people. What each person adds to the difference is compared with zero in a
    paired t-test (cluster-robust, Liang & Zeger 1986), the thresholds' own errors included.
    Differences are A - B; measures on the log scale are compared as a ratio A / B.

    Groups share no people: their rates are independent, each with its own effective number of
    comparisons at the threshold that was found, which is held fixed. The interval of their
    difference is Newcombe's, the p-value that of the chi-square test of `band` with two groups.

    Parameters
    ----------
    evaluation_a, evaluation_b : xr.DataTree
        Evaluations of the two models, with the same images and draws. Or give one evaluation of
        both: `compare(evaluation, measure, models=("A", "B"))`.
    measure : str or callable
        A registered name such as "frr", or a function Dataset -> DataArray.
    models : (str, str) or "all", optional
        Names of the two models in one evaluation; "all" compares every pair of its models, over
        `contrast`. With two evaluations, names for the picture.
    groups : (str, str) or "all", optional
        Names of two groups, for a rate that runs over them ("far_group"):
        `compare(evaluation, "frr_group", groups=("female", "male"))`; "all" compares every pair of
        groups, over `contrast`.
    method : str, optional
        None as above; or one of the methods of `band` that read replicates.
    target, level
        As in `band`.

    Returns
    -------
    xr.Dataset
        `estimate`, `lower`, `upper` of the difference (attrs["contrast"] = "difference",
        attrs["null"] = 0) or of the ratio ("ratio", 1), and the two-sided `p`. Of rates
        `n_effective`: how many pairs of independent comparisons would show as much of the
        difference of two models; of two groups, the sum of both numbers. With "all"
        `p_holm` allows for the number of comparisons. `p` is NaN where the estimate is infinite or
        undefined. `resolved` is true where it is true for both models.

    Raises
    ------
    InputError
        The evaluations are of other images, other draws or other levels; a model or group is not
        there; the measure does not run over groups, or is no rate.

    Warns
    -----
    DataWarning
        As `band`; an estimate that is infinite or undefined.

    References
    ----------
    Liang & Zeger (1986), Biometrika 73. Newcombe (1998), Statistics in Medicine 17. Holm (1979).
    Conti & Clémençon (2024), section 4.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> cosine = fk.evaluate(fk.score_tensor(faces), far=[0.1, 0.2])
    >>> euclid = fk.evaluate(fk.score_tensor(faces, similarity="euclidean"), far=[0.1, 0.2])
    >>> bool(abs(fk.compare(cosine, euclid, "frr").estimate).max() < 1e-9)
    True
    """
    data_of(evaluation_a)
    require_inside("level", level, 0, 1)
    target = target or NEW_PEOPLE
    require_one_of("target", target, TARGETS)
    if measure is None:
        evaluations = [evaluation_a]
        chosen = find_measure(evaluation_b)
    else:
        data_of(evaluation_b)
        evaluations = [evaluation_a, evaluation_b]
        chosen = find_measure(measure)
    if models == "all":
        require(measure is None and groups is None, "models='all' takes one evaluation, no groups=")
        how = {"method": method, "target": target, "level": level}
        return _all_models(evaluation_a, chosen, how)
    if groups is None:
        evaluations = _two_models(evaluations, models)
        method, _ = choose(method, evaluations[0], chosen)
        a, b = map(str, models or ("A", "B"))
        result = compare_models(*evaluations, chosen, method, level, target).assign_attrs(a=a, b=b)
    else:
        alone = measure is None and models is None
        require(alone, "groups= compares groups of one evaluation of one model")
        method, _ = choose(method, evaluation_a, chosen)
        result = compare_groups(evaluation_a, chosen, groups, method, level, target)
    result = with_resolved(result, chosen, *evaluations)
    about = {"target": target} if method == EFFECTIVE else {}
    result = labelled(result, evaluations[0], chosen, method, level=level, **about)
    warn_of(evaluation_a, chosen, result)
    undefined = int((~np.isfinite(result.estimate)).sum())
    if undefined:
        warn(
            f"the {result.attrs['contrast']} of {chosen.name} is infinite or undefined at "
            f"{undefined} place(s), where a rate has no error: it has no p-value there"
        )
    return result


# --- models --------------------------------------------------------------------------------------


def _all_models(evaluation, chosen, how):
    """Every pair of the models of one evaluation, with Holm's correction."""
    names = _models_of(evaluation)
    require(len(names) > 1, "models='all' needs an evaluation of several models")
    pairs = list(combinations(names, 2))
    rows = [compare(evaluation, chosen, models=pair, **how) for pair in pairs]
    rows = [row.drop_vars("measure", errors="ignore") for row in rows]
    return _with_pairs(xr.concat(rows, CONTRAST, combine_attrs="drop_conflicts"), pairs)


def _models_of(evaluation):
    """The names of the models of an evaluation, or none."""
    names = data_of(evaluation).get(MODEL, [])
    return np.atleast_1d(names).tolist()


def _two_models(evaluations, models):
    """The evaluations of two models, which must be of the same images and draws."""
    if len(evaluations) == 1:
        require(
            models is not None and len(models) == 2,
            "compare takes two evaluations and a measure, or one evaluation, a measure and "
            f"models=(A, B); got models={models!r}",
        )
        [evaluation] = evaluations
        names = [str(name) for name in _models_of(evaluation)]
        for name in models:
            message = f"no model is called {name!r} in this evaluation; its models are {names}"
            require(name in names, message)
        return [evaluation.sel({MODEL: name}, drop=True) for name in models]
    first, second = map(provenance, evaluations)
    differ = [fact for fact in SAME if first.get(fact) != second.get(fact)]
    others = second.get("labels", {})
    for name, digest in first.get("labels", {}).items():
        if others.get(name, digest) != digest:
            differ.append(name)
    require(
        not differ,
        f"a paired comparison needs the same images and the same draws, but {listed(differ)} of "
        "the two evaluations differ: evaluate both models on the same images, in the same order, "
        "with the same Resampling(scheme, n, seed)",
    )
    require(
        first.get("images") == second.get("images"),
        "a paired comparison needs the same images, but these have no names and other embeddings: "
        "nothing says that image 0 of one is image 0 of the other. Name them, fk.faces(..., "
        "image=names), stack both models with fk.stack_models, or evaluate the same faces",
    )
    return evaluations


def compare_models(a, b, chosen, method, level, target):
    """Difference, or ratio on the log scale, of two models on the same people."""
    if method != EFFECTIVE:
        sides = zip(values_of(a, chosen), values_of(b, chosen))
        return _from_replicates([aligned(*side) for side in sides], method, level, chosen.scale)
    if chosen.name in RATES:
        result = _paired_rates(a, b, chosen.name, target)
    else:
        result = _paired_measures(a, b, chosen, target)
    estimate = result.estimate
    se = result.se
    df = result.df
    reach = stdtrit(df, (1 + level) / 2) * se
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.abs(estimate) / se
    p = 2 * xr.apply_ufunc(stats.t.sf, t, df)
    p = np.maximum(p, result.get("smallest_p", 0.0))
    p = p.where(np.isfinite(estimate))
    result = result.assign(lower=estimate - reach, upper=estimate + reach, p=p)
    return _as_contrast(result.drop_vars("smallest_p", errors="ignore"), chosen.scale)


def _paired_rates(a, b, name, target):
    """Difference of a rate with `se`, `df`, `n_effective`, and the smallest p of a sign test."""
    first, second = aligned(a["empirical"][name], b["empirical"][name])
    pair = paired_contributions(contributions(a, name, target), contributions(b, name, target))
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = difference_variance(pair)
        n = (first * (1 - first) + second * (1 - second)) / variance
    result = {
        "estimate": first - second,
        "se": np.sqrt(variance),
        "df": np.maximum(pair.people - 1, 1),
        "n_effective": n,
        "smallest_p": np.minimum(2.0 ** (1 - pair.differing), 1.0),
    }
    return xr.Dataset(result).transpose(*first.dims)


def paired_contributions(a, b):
    """What people add to the difference of a rate of two models: Var = Σ d_k² - D.

    The noise of pairs of people that is in the squares twice is taken off once; of the difference
    it is as much smaller as both models' influences correlate.
    """
    products = (a.influence * b.influence).sum(UNIT)
    squares_of_both = (a.influence**2).sum(UNIT) * (b.influence**2).sum(UNIT)
    lengths = np.sqrt(squares_of_both)
    correlation = np.maximum(products / lengths.where(lengths > 0, np.inf), 0.0)
    common_noise = correlation * np.sqrt(np.maximum(a.noise * b.noise, 0))
    noise = a.noise + b.noise - 2 * common_noise
    squares = ((a.influence - b.influence) ** 2).sum(UNIT)
    variance = np.maximum(squares - noise, noise).clip(min=0)
    differences = np.abs(a.errors - b.errors)
    erring = xr.apply_ufunc(effective_count, differences, input_core_dims=[[UNIT]], vectorize=True)
    half_an_error = 0.5 / np.maximum(a.comparisons, 1.0)
    rates = [side.rate.clip(half_an_error, 1 - half_an_error) for side in (a, b)]
    result = {
        "variance": variance,
        "observed": (variance > 0) & (a.rate > 0) & (b.rate > 0) & (erring > 0),
        "spread": sum(rate * (1 - rate) for rate in rates),
        "erring": erring,
        "differing": (differences > 1e-12).sum(UNIT),
    }
    return a[["units", "people", "comparisons"]].assign(result)


def difference_variance(pair):
    """Variance of the difference of a rate of two models, from their `paired_contributions`.

    Where a model has no error, or nobody differs, it is drawn towards that of whole people, as for
    one rate.
    """
    n = np.minimum(pair.spread / pair.variance, np.maximum(pair.comparisons, 1.0))
    n = drawn_to_units(n, pair.units, pair.erring)
    return xr.where(pair.observed, pair.variance, pair.spread / n)


def _paired_measures(a, b, chosen, target):
    """Difference of a function of rates, on its scale, by the delta method."""
    first, second = (linearised(tree, chosen, target) for tree in (a, b))
    forth, _ = SCALES[chosen.scale]
    with np.errstate(invalid="ignore"):
        difference = np.subtract(*aligned(forth(first.estimate), forth(second.estimate)))
    se = standard_error(first.influence - second.influence, difference)
    return xr.Dataset({"estimate": difference, "se": se, "df": first.df})


def aligned(first, second):
    """Both, if they lie at exactly the same levels and groups."""
    message = "the two lie at other levels or groups"
    require({*first.dims} == {*second.dims}, message)
    try:
        return xr.align(first, second, join="exact")
    except ValueError as error:
        raise InputError(f"{message}: {error}") from error


def _from_replicates(sides, method, level, scale):
    """The interval of A - B, or A / B on the log scale, and the p-value of no difference.

    sides : of estimate, centre and replicates, each of A and of B. p counts how often the
    replicates, moved to the estimate, lie beyond zero, seen from the estimate.
    """
    forth, _ = SCALES[scale]
    with np.errstate(invalid="ignore"):
        values = Values(*(forth(a) - forth(b) for a, b in sides))
        moved = values.estimate + (values.replicates - values.centre)
    n = moved.sizes[REPLICATE]
    beyond = (np.sign(values.estimate) * moved <= 0).sum(REPLICATE)
    p = np.minimum(2 * (1 + beyond) / (n + 1), 1)
    result = interval(values, method, level, IDENTITY_SCALE)
    result["p"] = p.where(np.isfinite(values.estimate))
    return _as_contrast(result, scale)


def _as_contrast(result, scale):
    """A difference; on the log scale the ratio that it is the logarithm of."""
    if scale != LOG_SCALE:
        return result.assign_attrs(contrast="difference", null=0)
    names = [name for name in ("estimate", "lower", "upper", "centre") if name in result]
    return result.assign(np.exp(result[names])).assign_attrs(contrast="ratio", null=1)


# --- groups --------------------------------------------------------------------------------------


def compare_groups(evaluation, chosen, groups, method, level, target):
    """The difference of two groups, or of all pairs of groups with Holm's correction."""
    estimate = chosen(data_of(evaluation))
    message = f"{chosen.name!r} does not run over groups; take 'far_group' or 'frr_group'"
    require(GROUP in estimate.dims, message)
    names = estimate[GROUP].values.tolist()
    pairs = list(combinations(names, 2)) if groups == "all" else [tuple(groups)]
    for pair in pairs:
        require(
            len(pair) == 2 and len({*pair} & {*names}) == 2,
            f"groups must be 'all', or two of {listed(names)}; got {groups!r}",
        )
    if method == EFFECTIVE:
        require(
            chosen.name in RATES,
            f"{chosen.name!r} is no rate: groups are compared by their rates (far_group, "
            "frr_group, eer_group), or name a method that reads replicates",
        )
        rates = effective_rates(evaluation, chosen.name, target, level, fixed_threshold=True)
        result = newcombe(*_sides(rates, pairs))
    else:
        values = [_sides(each, pairs) for each in values_of(evaluation, chosen)]
        result = _from_replicates(values, method, level, chosen.scale)
    if len(pairs) == 1:
        [(a, b)] = pairs
        return result.isel({CONTRAST: 0}).assign_attrs(a=a, b=b)
    return _with_pairs(result, pairs)


def _sides(values, pairs):
    """The first and the second group of each pair, over `contrast`."""
    sides = [xr.DataArray(list(names), dims=CONTRAST) for names in zip(*pairs)]
    return [values.sel({GROUP: names}).drop_vars(GROUP) for names in sides]


def newcombe(a, b):
    """Newcombe's hybrid interval of the difference of two groups' rates, with the chi-square p."""
    difference = a.estimate - b.estimate
    result = {
        "estimate": difference,
        "lower": difference - np.hypot(a.estimate - a.lower, b.upper - b.estimate),
        "upper": difference + np.hypot(a.upper - a.estimate, b.estimate - b.lower),
        "p": at_each_place(equality_p, xr.concat([a, b], GROUP)),
        "n_effective": a.n_effective + b.n_effective,
    }
    return xr.Dataset(result, attrs={"contrast": "difference", "null": 0})


# --- several comparisons -------------------------------------------------------------------------


def _with_pairs(result, pairs):
    """The names of both sides along `contrast`, and p-values valid for all pairs together."""
    p_holm = xr.apply_ufunc(
        holm, result.p, input_core_dims=[[CONTRAST]], output_core_dims=[[CONTRAST]]
    )
    a, b = map(list, zip(*pairs))
    result = result.assign(p_holm=p_holm).assign_coords(a=(CONTRAST, a), b=(CONTRAST, b))
    return result.transpose(CONTRAST, ...)


def holm(p):
    """Holm's adjusted p-values along the last axis: valid for all comparisons together."""
    order = np.argsort(p)
    comparisons_left = np.arange(p.shape[-1], 0, -1)
    adjusted = np.sort(p) * comparisons_left
    rising = np.minimum(np.maximum.accumulate(adjusted, -1), 1)
    return np.take_along_axis(rising, np.argsort(order), -1)
