"""Two models, or two groups: the difference with its interval and p-value."""

from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import stdtr, stdtrit

from frkit.base import listed, require, require_inside, warn
from frkit.evaluation.nodes import provenance_of
from frkit.intervals.bands import EFFECTIVE, AnyMeasure, choose
from frkit.intervals.contributions import UNIT, contributions, effective_count
from frkit.intervals.effective import RATES, SCALES, drawn_to_units, linearised
from frkit.intervals.equality import equal_groups, group_contrasts
from frkit.intervals.reading import (
    NEW_PEOPLE,
    data_of,
    warn_of,
    with_attrs,
    with_resolved,
)
from frkit.intervals.replicates import interval, values_of
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE, with_reads
from frkit.measures.registry import measure as find_measure

REST = "all others"
CONTRAST = "contrast"
LEVELS = {"far_level": "FAR", "threshold_level": "threshold"}  # what thresholds are named by
DIFFERENCE = {"contrast": "difference", "null": 0}  # attrs
SAME = (  # of the provenance: must be the same in two evaluations
    "scheme", "n", "seed", "weighting", "impostors", "n_images", "n_identities", "by",
)  # fmt: skip


def compare(
    evaluation_a: xr.DataTree,
    evaluation_b: xr.DataTree | AnyMeasure,
    measure: AnyMeasure | None = None,
    *,
    models: tuple[str, str] | str | None = None,
    groups: tuple[str, str] | str | None = None,
    method: str | None = None,
    target: str = NEW_PEOPLE,
    level: float = 0.95,
) -> xr.Dataset:
    """Compare two models or two thresholds on the same images, or two groups under one model.

    Two evaluations must be of the same images, in any order if images and people have names and no
    replicates were drawn; other names, identities or attributes are refused. They have the same
    levels, or one level each; other levels, or another `far_of`, give names to both sides, of which
    FRRs are compared, and FARs of given thresholds. Models and thresholds meet the same people.
    What each person adds to the difference is compared with zero in a paired t-test
    (cluster-robust, Liang & Zeger 1986), the errors of thresholds that were found included, as in
    `band`. Where few people differ, p of a rate is at least that of a sign test of these; the
    interval of a rate excludes no difference exactly where p < 1 - level. Models that do not differ
    have p = 1, and an interval as wide as two more people could make it.
    Differences are A - B; measures on the log scale are compared as a ratio A / B.

    Groups are compared at the threshold that was found, which is held fixed. The p-value and the
    intervals of their difference and ratio are those of `band` for two groups; the variance comes
    from the people of all groups, since people vary equally in groups that are equal.

    Parameters
    ----------
    evaluation_a, evaluation_b : xr.DataTree
        Evaluations of the two models or thresholds, with the same images and draws. Or give one
        evaluation of both models: `compare(evaluation, measure)`, or
        `compare(evaluation, measure, models=("A", "B"))` if it has more.
    measure : str or callable
        A registered name such as "frr", or a function Dataset -> DataArray.
    models : (str, str) or "all", optional
        Names of the two models in one evaluation, which may be left out if it has two; "all"
        compares every pair of its models, over `contrast`.
    groups : (str, str), "all" or "rest", optional
        Names of two groups, for a rate that runs over them ("far_group"):
        `compare(evaluation, "frr_group", groups=("female", "male"))`; "all" compares every pair of
        groups, "rest" every group with all others together, over `contrast`. Of two groups "rest"
        is their one pair.
    method : str, optional
        Of models: None as above; or one of the methods of `band` that read replicates.
    target, level
        As in `band`.

    Returns
    -------
    xr.Dataset
        `estimate`, `lower`, `upper` of the difference (attrs["contrast"] = "difference",
        attrs["null"] = 0) or of the ratio ("ratio", 1), and the two-sided `p`. Of models without
        replicates also the standard error `se` (of the difference, or of the logarithm of the
        ratio) and the degrees of freedom `df` of the t-test. Of rates
        `n_effective`: how many pairs of independent comparisons would show as much of the
        difference of two models; of two groups, the sum of both numbers. Of groups also their
        `ratio` A / B with `ratio_lower` and `ratio_upper` (inf if B has no error). With "all" or
        "rest" `p_holm` allows for the number of comparisons. `p` is NaN where the estimate is
        infinite or undefined, and of groups where nobody's identity is known. `resolved` is true
        where it is true for both models, or both groups.

    Raises
    ------
    InputError
        The evaluations are of other images or other draws, or have other levels, groups or dims; a
        model or group is not there; the measure does not run over groups, or is not a rate.

    Warns
    -----
    DataWarning
        As `band`; an estimate that is infinite or undefined.

    References
    ----------
    Liang & Zeger (1986), Biometrika 73. Rao & Scott (1984), Annals of Statistics 12.
    Holm (1979).
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
    require_inside("level", level, 0, 1)
    is_of_two_evaluations = measure is not None
    data = data_of(evaluation_a)
    name: Any = measure if is_of_two_evaluations else evaluation_b
    measure = with_reads(find_measure(name), data)
    method = choose(method, evaluation_a, measure)
    asked = measure, method, target
    if is_of_two_evaluations:
        require(
            models is None and groups is None,
            "models= and groups= name what is compared in one evaluation, but two were given",
        )
        _require_same_images(evaluation_a, evaluation_b)
        evaluations = evaluation_a, evaluation_b
        sides = [_values(evaluation, *asked) for evaluation in evaluations]
        policies = [_policy(*both) for both in zip(sides, evaluations)]
        pairs = [("A", "B")]
        if policies[0] != policies[1]:
            _refuse_far_of_its_level(measure, policies)
            pairs = [tuple(policies)]
        sides = _at_one_level(*sides)
        _require_same_labels(*sides)
        result = _contrasts([sides], measure, method, level)
    elif groups is not None:
        require(
            method == EFFECTIVE,
            "groups are compared without replicates, by a rate that runs over them, such as "
            "'far_group': leave method out",
        )
        pairs = _pairs(data, "group", groups)
        result = _group_contrasts(evaluation_a, pairs, measure, target, level)
    else:
        pairs = _pairs(data, "model", models)
        result = _contrasts(_sides_of_models(evaluation_a, pairs, *asked), measure, method, level)
    if "all" in (models, groups) or groups == "rest":
        result = _with_pairs(result, pairs)
    else:
        a, b = pairs[0]
        result = result.isel({CONTRAST: 0}).assign_attrs(a=a, b=b)
    about = {"target": target} if method == EFFECTIVE else {}
    result = with_attrs(result, evaluation_a, measure, method, kind="compare", level=level, **about)
    warn_of(evaluation_a, measure, result)
    undefined = int((~np.isfinite(result.estimate)).sum())
    if undefined:
        why = "fewer than two people of a group were compared" if groups else "a rate has no error"
        warn(
            f"the {result.attrs['contrast']} of {measure.name} is infinite or undefined at "
            f"{undefined} place(s), where {why}: it has no p-value there"
        )
    return result


def _pairs(data, dim, asked_pairs):
    """The two names of each comparison: those that are wanted, or all pairs."""
    names = np.atleast_1d(data.get(dim, [])).tolist()
    require(
        len(names) > 1,
        f"{dim}s are compared in an evaluation of several {dim}s, and this one has "
        f"{listed(names) if names else 'none'}",
    )
    if asked_pairs is None and len(names) == 2:
        asked_pairs = names
    if isinstance(asked_pairs, str) and asked_pairs in ("all", "rest"):
        if asked_pairs == "all" or len(names) == 2:
            return list(combinations(names, 2))
        if dim == "group":
            return [(name, REST) for name in names]
    is_pair = isinstance(asked_pairs, (list, tuple)) and len({*asked_pairs}) == 2
    require(
        is_pair and {*asked_pairs} <= {*names},
        f"{dim}s={asked_pairs!r} must be 'all', or two of {names}",
    )
    return [tuple(asked_pairs)]


def _require_same_images(a, b):
    """Refuse evaluations of other images or other draws."""
    first, second = provenance_of(a), provenance_of(b)
    differ = [name for name in SAME if first.get(name) != second.get(name)]
    labels, others = first.get("labels", {}), second.get("labels", {})
    differ += [name for name in labels if others.get(name, labels[name]) != labels[name]]
    require(
        not differ,
        f"a paired comparison needs the same images and the same draws, but {listed(differ)} of "
        "the two evaluations differ: evaluate both models on the same images, in the same order "
        "where they have no names, with the same Resampling(scheme, n, seed)",
    )
    require(
        first.get("images") == second.get("images"),
        "a paired comparison needs the same images, but these have no names and other embeddings: "
        "nothing says that image 0 of one is image 0 of the other. Name them, fk.faces(..., "
        "image=names), open both models with one fk.open_data, or evaluate the same faces",
    )


def _policy(side, evaluation):
    """How thresholds were set, in words: 'threshold 0.4', or 'FAR 0.001 of worst group'."""
    words = ""
    for dim, name in LEVELS.items():
        if dim in side.estimate.dims:
            words = f"{name} {side[dim].item():g}" if side[dim].size == 1 else name
    far_of = provenance_of(evaluation).get("far_of", "all")
    return f"{words} of {far_of}" if words.startswith("FAR") and far_of != "all" else words


def _refuse_far_of_its_level(measure, policies):
    """Refuse a measure of FAR where a threshold was found by the FAR that it lets through."""
    reads_far = any(name.startswith("far") for name in measure.reads)
    is_found = any(policy.startswith("FAR") for policy in policies)
    require(
        not (reads_far and is_found),
        f"{measure.name} is what a FAR level sets, and found thresholds differ by it alone: "
        "compare FRR, or evaluate at threshold=, where thresholds are held fixed",
    )


def _at_one_level(*sides):
    """Values without their level, where each side has one and the two are not the same."""
    levels = [side.get(dim) for side in sides for dim in LEVELS if dim in side.estimate.dims]
    if len(levels) < 2 or levels[0].equals(levels[1]) or any(level.size > 1 for level in levels):
        return sides
    return [side.squeeze(level.name, drop=True) for side, level in zip(sides, levels)]


def _require_same_labels(a, b):
    """Refuse values of two evaluations that run over other dims, or labels."""
    same_dims = {*a.estimate.dims} == {*b.estimate.dims}
    require(
        same_dims,
        "the two run over other levels, groups or models: take the same ones, or one level of each",
    )
    shared = {*a.dims} & {*b.dims}
    differ = [dim for dim in shared if not a[dim].variable.equals(b[dim].variable)]
    require(
        not differ,
        f"the two evaluations have other labels along {listed(sorted(differ))}: evaluate both at "
        "the same far= or threshold=, or at one level each, with the same by=",
    )


def _sides_of_models(evaluation, pairs, measure, method, target):
    """The values of both models of each pair."""
    names = {name: None for pair in pairs for name in pair}  # each once, in order
    values = _values(evaluation.sel(model=[*names]), measure, method, target)
    require("model" in values.estimate.dims, f"{measure.name!r} does not run over models")
    return [[values.sel(model=name, drop=True) for name in pair] for pair in pairs]


def _values(evaluation, measure, method, target):
    """What is compared, of all models: `estimate`, and what its variance comes from."""
    if method != EFFECTIVE:
        values = values_of(evaluation, measure)
    elif measure.name in RATES:
        require(
            measure.name != "far_cross",
            "the FAR between groups is compared by a method that reads replicates: name one",
        )
        values = contributions(evaluation, measure.name, target)
        values = values.assign(estimate=evaluation["empirical"][measure.name])
    else:
        values = linearised(evaluation, measure, target)
    return with_resolved(values, measure, evaluation)


def _contrasts(sides_of_pairs, measure, method, level):
    """The contrasts of pairs of models, over `contrast`."""
    contrasts = [_contrast(a, b, measure, method, level) for a, b in sides_of_pairs]
    return xr.concat(contrasts, CONTRAST)


def _contrast(a, b, measure, method, level):
    """The difference of two models, or their ratio where the measure's scale is log."""
    if method == EFFECTIVE:
        result = paired_t_test(a, b, measure, level)
    else:
        result = _from_replicates(a, b, method, level, measure.scale)
    if "resolved" in a:
        result["resolved"] = a.resolved & b.resolved
    if measure.scale != LOG_SCALE:
        return result.assign_attrs(DIFFERENCE)
    names = [name for name in ("estimate", "lower", "upper", "centre") if name in result]
    return result.assign(np.exp(result[names])).assign_attrs(contrast="ratio", null=1)


# --- models --------------------------------------------------------------------------------------


def paired_t_test(a, b, measure, level):
    """Difference of two models on the measure's scale, with its interval and p-value.

    The variance is that of what paired people add to the difference: of rates with what
    `paired_contributions` says, of other measures by the delta method. The p-value of a rate is
    never below that of a sign test of the people who differ; where this is not significant, the
    interval reaches no difference, too.
    """
    on_scale, _ = SCALES[measure.scale]
    result = xr.Dataset()
    unknown = xr.zeros_like(a.estimate, bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = on_scale(a.estimate) - on_scale(b.estimate)
        if measure.name in RATES:
            pair = paired_contributions(a, b)
            variance = difference_variance(pair)
            result["df"] = np.maximum(pair.df, 1)
            smallest_p = np.minimum(2.0 ** (1 - pair.differing), 1.0)
            spread = a.estimate * (1 - a.estimate) + b.estimate * (1 - b.estimate)
            result["n_effective"] = spread / variance
            for side in (a, b):
                if "accepting" in side:  # a true threshold may be any higher one
                    unknown |= (side.accepting == 0) & (pair.differing > 0)
        else:
            variance = _variance_of_influence(a, b)
            result["df"] = np.minimum(a.df, b.df)
            smallest_p = 0.0
        se = np.sqrt(variance).where(np.isfinite(estimate))
        p = 2 * stdtr(result.df, -np.abs(estimate) / se)
    reach = stdtrit(result.df, (1 + level) / 2) * se
    reach = xr.where(smallest_p >= 1 - level, np.maximum(reach, np.abs(estimate)), reach)
    result = result.assign(
        estimate=estimate,
        se=se,
        lower=(estimate - reach).where(~unknown, -1.0),
        upper=(estimate + reach).where(~unknown, 1.0),
        p=np.maximum(p, smallest_p).where(np.isfinite(estimate) & ~unknown),
    )
    return result.transpose(*estimate.dims, ...)


def _variance_of_influence(a, b):
    """Variance of the difference of two models by the delta method.

    Where no person differs, it is that of two people who move only one model by the average.
    """
    variance = ((a.influence - b.influence) ** 2).sum(UNIT)
    squares = (a.influence**2 + b.influence**2).sum(UNIT) / 2
    n_people = ((a.influence != 0) | (b.influence != 0)).sum(UNIT)
    nobody_differs = variance <= 1e-20 * squares
    return variance.where(~nobody_differs, 2 * squares / np.maximum(n_people, 1))


def paired_contributions(a, b):
    """What people add to the difference of a rate of two models: Var = Σ d_k² - D.

    The noise of pairs of people is in the squares twice and is subtracted once; for the difference
    it is reduced by the correlation of the models' influences.
    """
    products = (a.influence * b.influence).sum(UNIT)
    squares_of_both = (a.influence**2).sum(UNIT) * (b.influence**2).sum(UNIT)
    lengths = np.sqrt(squares_of_both)
    correlation = np.maximum(products / lengths.where(lengths > 0, np.inf), 0.0)
    common_noise = correlation * np.sqrt(np.maximum(a.noise * b.noise, 0))
    noise = a.noise + b.noise - 2 * np.sign(a.noise) * common_noise
    squares = ((a.influence - b.influence) ** 2).sum(UNIT)
    variance = np.maximum(squares - noise, noise).clip(min=0)
    differences = np.abs(a.errors - b.errors)
    half_an_error = 0.5 / np.maximum(a.comparisons, 1.0)
    rates = [side.rate.clip(half_an_error, 1 - half_an_error) for side in (a, b)]
    result = {
        "variance": variance,
        "observed": (variance > 0) & (a.rate > 0) & (b.rate > 0) & (differences > 0).any(UNIT),
        "spread": sum(rate * (1 - rate) for rate in rates),
        "erring": effective_count(differences),
        "differing": (differences > 1e-12).sum(UNIT),
    }
    return a[["units", "people", "df", "comparisons"]].assign(result)


def difference_variance(pair):
    """Variance of the difference of a rate of two models, from their `paired_contributions`.

    Where a model has no error it is drawn towards that of whole people, as for one rate. Where
    nobody differs it is that of two more people, each rejected by one model alone (Agresti & Min
    2005).
    """
    n = np.minimum(pair.spread / pair.variance, np.maximum(pair.comparisons, 1.0))
    n = drawn_to_units(n, pair.units, pair.erring)
    unseen = (pair.spread / n).where(pair.differing > 0, 2 / pair.units**2)
    return pair.variance.where(pair.observed, unseen)


# --- groups, replicates --------------------------------------------------------------------------


def _group_contrasts(evaluation, pairs, measure, target, level):
    """The differences and ratios of two groups, or of one and all others."""
    name = measure.name
    rate = xr.Dataset({"estimate": data_of(evaluation).get(name, xr.DataArray())})
    require(
        name in RATES and "group" in rate.estimate.dims,
        f"groups are compared by a rate that runs over them, such as 'far_group', not by {name!r}",
    )
    require(
        "threshold_group" not in data_of(evaluation),
        "with far_of='own group' each threshold has an error of its own, which this test does not "
        "contain; band gives the interval of each group",
    )
    resolved = with_resolved(rate, measure, evaluation).get("resolved")
    names = rate["group"].values.tolist()
    groups = equal_groups(evaluation, name, target)
    sides = []
    for a, b in pairs:
        others = [group for group in names if group != a] if b == REST else [b]
        sides.append(([a], others))
    result = group_contrasts(evaluation, groups, sides, level).assign_attrs(DIFFERENCE)
    if resolved is not None:
        of_both = [resolved.sel(group=[*a, *others]).all("group") for a, others in sides]
        result["resolved"] = xr.concat(of_both, CONTRAST)
    return result


def _from_replicates(a, b, method, level, scale):
    """The interval of A - B on the measure's scale, and the p-value of no difference.

    p counts how often the replicates, moved to the estimate, lie beyond zero, seen from the
    estimate.
    """
    on_scale, _ = SCALES[scale]
    names = ["estimate", "centre", "replicates"]
    with np.errstate(invalid="ignore"):
        values = on_scale(a[names]) - on_scale(b[names])
        moved = values.estimate + (values.replicates - values.centre)
    n = moved.sizes["replicate"]
    beyond = (np.sign(values.estimate) * moved <= 0).sum("replicate")
    p = np.minimum(2 * (1 + beyond) / (n + 1), 1)
    result = interval(values, method, level, IDENTITY_SCALE)
    return result.assign(p=p.where(np.isfinite(values.estimate)))


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
    defined = np.isfinite(p).sum(-1, keepdims=True)
    comparisons_left = np.maximum(defined - np.arange(p.shape[-1]), 1)
    adjusted = np.sort(p) * comparisons_left
    rising = np.minimum(np.maximum.accumulate(adjusted, -1), 1)
    return np.take_along_axis(rising, np.argsort(order), -1)
