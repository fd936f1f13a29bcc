"""Two models, or two groups: the difference with its interval; and zones of decision."""

from itertools import combinations

import numpy as np
import xarray as xr
from scipy import stats

from frkit.base import GROUP, MODEL, REPLICATE, InputError, listed, require, require_inside, warn
from frkit.intervals.bands import (
    EFFECTIVE,
    AnyMeasure,
    choose,
    interval,
    linearised,
    scale_of,
)
from frkit.intervals.contributions import NEW_PEOPLE, Added, count_alike
from frkit.intervals.effective import RATES, UNSEEN, added_to, effective_rates, jeffreys
from frkit.intervals.equality import equality_test
from frkit.intervals.reading import (
    Values,
    attributes,
    provenance,
    values_of,
    warn_of,
    with_resolved,
)
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE, Measure
from frkit.measures.registry import measure as find_measure

CONTRAST = "contrast"


def compare(
    evaluation_a: xr.DataTree,
    evaluation_b: xr.DataTree | AnyMeasure,
    measure: AnyMeasure | None = None,
    *,
    models: tuple[str, str] | None = None,
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
    evaluation_a, evaluation_b : evaluations of the two models, with the same images and draws.
        Or give one evaluation of both: `compare(evaluation, measure, models=("A", "B"))`.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    models : names of the two models in one evaluation; with two evaluations, names for the picture.
    groups : names of two groups, for a rate that runs over them ("far_group"):
        `compare(evaluation, "frr_group", groups=("female", "male"))`; "all" compares every pair of
        groups, over `contrast`.
    method : None as above; or one of the methods of `band` that read replicates.
    target, level : as in `band`.

    Returns
    -------
    xr.Dataset
        `estimate`, `lower`, `upper` of the difference (attrs["contrast"] = "difference",
        attrs["null"] = 0) or of the ratio ("ratio", 1), and the two-sided `p`. Of rates `n_effective`:
        how many pairs of independent comparisons would tell as much of the difference of two models;
        of two groups, the sum of both numbers. With groups="all"
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
    sides = {"evaluation_a": evaluation_a}
    sides |= {} if measure is None else {"evaluation_b": evaluation_b}
    for name, value in sides.items():
        known = isinstance(value, xr.DataTree) and "empirical" in value.children
        kind = type(value).__name__
        require(known, f"{name} is no evaluation: pass what evaluate(...) returned, got {kind}")
    require_inside("level", level, 0, 1)
    target = NEW_PEOPLE if target is None else target
    if groups is not None:
        require(
            measure is None and models is None,
            "groups= compares groups of one evaluation of one model",
        )
        chosen, evaluations = find_measure(evaluation_b), [evaluation_a]
        method, _ = choose(method, evaluation_a, chosen)
        result = _groups(evaluation_a, chosen, groups, method, level, target)
    else:
        *evaluations, measure = _two_sides(evaluation_a, evaluation_b, measure, models)
        _require_paired(*evaluations)
        chosen = find_measure(measure)
        method, _ = choose(method, evaluations[0], chosen)
        if method == EFFECTIVE:
            result = _paired(*evaluations, chosen, level, target)
        else:
            result = _from_replicates(*evaluations, chosen, method, level)
        a, b = map(str, models or ("A", "B"))
        result = result.assign_attrs(a=a, b=b)
    result = with_resolved(result, chosen, *evaluations)
    about = target if method == EFFECTIVE else None
    result.attrs = attributes(evaluations[0], chosen, method, level, about) | result.attrs
    warn_of(evaluation_a, chosen, result)
    undefined = ~np.isfinite(result.estimate)
    if bool(undefined.any()):
        warn(
            f"the {result.attrs['contrast']} of {chosen.name} is infinite or undefined at "
            f"{int(undefined.sum())} place(s), where a rate has no error: it has no p-value there"
        )
    return result


# --- models --------------------------------------------------------------------------------------


def _paired(a: xr.DataTree, b: xr.DataTree, chosen: Measure, level: float, target: str):
    """The difference of two models, from what each person adds to it."""
    rate = chosen.name in RATES
    difference, sd, df, floor, more = (_of_rate if rate else _of_measure)(a, b, chosen, target)
    reach = stats.t.ppf((1 + level) / 2, df) * sd
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * stats.t.sf(np.abs(difference) / sd, df)
    p = difference.copy(data=np.asarray(p)).where(np.isfinite(difference))
    p = np.maximum(p, floor)
    ends = {"estimate": difference, "lower": difference - reach, "upper": difference + reach}
    if chosen.scale != LOG_SCALE:
        result = xr.Dataset(ends | {"p": p, "se": sd, "df": df} | more)
        return result.assign_attrs(contrast="difference", null=0)
    ends = {name: np.exp(end) for name, end in ends.items()}
    result = xr.Dataset(ends | {"p": p, "se": sd, "df": df} | more)
    return result.assign_attrs(contrast="ratio", null=1)


def _of_rate(a: xr.DataTree, b: xr.DataTree, chosen: Measure, target: str) -> tuple:
    """Difference of a rate, its standard deviation, degrees of freedom, smallest p, and n_effective."""
    first, second = _aligned(*(tree["empirical"][chosen.name] for tree in (a, b)))
    sides = (added_to(tree, chosen.name, target) for tree in (a, b))
    pairs = list(zip(*(side.ravel() for side in sides), strict=True))

    def table(values) -> xr.DataArray:
        return xr.DataArray(np.reshape(values, first.shape), first.coords, first.dims)

    difference = first - second
    sd = table([np.sqrt(difference_variance(*pair)) for pair in pairs])
    df = table([max(pair[0].people - 1, 1) for pair in pairs])
    floor = table([smallest_p(*pair) for pair in pairs])
    spread = first * (1 - first) + second * (1 - second)
    return difference, sd, df, floor, {"n_effective": spread / sd**2}


def difference_variance(a: Added, b: Added) -> float:
    """Variance of the difference of a rate of two models on the same people.

    The noise of pairs of people that stands in the squares twice is taken off once; of the
    difference it is as much smaller as both models' contributions correlate. Where a model has no
    error, or nobody differs, the variance is drawn towards that of whole people, as for one rate.
    """
    influence = a.influence - b.influence
    noise = a.noise + b.noise - 2 * _correlation(a, b) * np.sqrt(max(a.noise * b.noise, 0))
    variance = max(float(influence @ influence) - noise, noise, 0.0)
    differs = np.abs(a.own_errors - b.own_errors)
    if variance > 0 and min(a.rate, b.rate) > 0 and differs.any():
        return variance
    comparisons = max(a.comparisons, 1.0)
    rates = [np.clip(one.rate, 0.5 / comparisons, 1 - 0.5 / comparisons) for one in (a, b)]
    spread = sum(rate * (1 - rate) for rate in rates)
    n = min(spread / variance, comparisons) if variance > 0 else comparisons
    seen = a.repeats * count_alike((differs**2).sum(), differs.sum())
    if a.units < n:
        n *= (a.units / n) ** (UNSEEN / (seen + UNSEEN))
    return spread / n


def _correlation(a: Added, b: Added) -> float:
    lengths = np.linalg.norm(a.influence) * np.linalg.norm(b.influence)
    return max(float(a.influence @ b.influence) / lengths, 0.0) if lengths > 0 else 0.0


def smallest_p(a: Added, b: Added) -> float:
    """What a sign test of the people who differ could give at best: 2 ** (1 - people)."""
    differ = np.count_nonzero(np.abs(a.own_errors - b.own_errors) > 1e-12)
    return float(min(2.0 ** (1 - differ), 1.0))


def _of_measure(a: xr.DataTree, b: xr.DataTree, chosen: Measure, target: str) -> tuple:
    """The same for a function of rates, on its scale, by the delta method."""
    sides = [linearised(tree, chosen, target) for tree in (a, b)]
    there, _ = scale_of(chosen)
    first, second = _aligned(*(there(side[0]) for side in sides))
    with np.errstate(invalid="ignore"):
        difference = first - second
    of_units = sides[0][3] - sides[1][3]
    sd = np.sqrt((of_units**2).sum(REPLICATE)).where(np.isfinite(difference))
    return difference, sd, sides[0][2], 0.0, {}


def _from_replicates(a, b, chosen: Measure, method: str, level: float) -> xr.Dataset:
    """The difference (or ratio) of two models from shared replicates."""
    sides = zip(values_of(a, chosen), values_of(b, chosen), strict=True)
    return _drawn([_aligned(*side) for side in sides], method, level, chosen.scale)


def _drawn(sides: list, method: str, level: float, scale: str) -> xr.Dataset:
    """The interval of A - B, or A / B on the log scale, and the p-value of no difference.

    sides: of estimate, centre and replicates, each of A and of B. p counts how often the
    replicates, moved to the estimate, lie beyond zero, seen from the estimate.
    """
    there, back = scale_of(Measure("", None, scale))
    with np.errstate(invalid="ignore"):
        values = Values(*(there(a) - there(b) for a, b in sides))
        moved = values.estimate + (values.replicates - values.centre)
    beyond = (np.sign(values.estimate) * moved <= 0).sum(REPLICATE)
    p = np.minimum(2 * (1 + beyond) / (moved.sizes[REPLICATE] + 1), 1)
    p = p.where(np.isfinite(values.estimate))
    result = interval(values, method, level, IDENTITY_SCALE).assign(p=p)
    if scale != LOG_SCALE:
        return result.assign_attrs(contrast="difference", null=0)
    ratios = {name: back(result[name]) for name in ("estimate", "lower", "upper", "centre")}
    return result.assign(ratios).assign_attrs(contrast="ratio", null=1)


# --- groups --------------------------------------------------------------------------------------


def _groups(evaluation, chosen: Measure, groups, method: str, level: float, target: str):
    """The difference of two groups, or of all pairs of groups with Holm's correction."""
    estimate = chosen(evaluation["empirical"].to_dataset())
    require(
        GROUP in estimate.dims,
        f"{chosen.name!r} does not run over groups; take 'far_group' or 'frr_group'",
    )
    known = estimate[GROUP].values.tolist()
    every = isinstance(groups, str) and groups == "all"
    two = isinstance(groups, (tuple, list)) and len(groups) == len({*map(str, groups)}) == 2
    require(every or two, f"groups must name two groups, or 'all'; got {groups!r}")
    pairs = list(combinations(known, 2)) if every else [tuple(groups)]
    for name in {name for pair in pairs for name in pair}:
        names = ", ".join(map(repr, known))
        require(name in known, f"no group is called {name!r}; there are {names}")
    if method == EFFECTIVE:
        require(
            chosen.name in RATES,
            f"{chosen.name!r} is no rate: groups are compared by their rates (far_group, "
            "frr_group, eer_group), or name a method that reads replicates",
        )
        found = effective_rates(evaluation, chosen.name, target, level=level, fixed_threshold=True)
        contrasts = [_newcombe(found, pair, level) for pair in pairs]
    else:
        values = values_of(evaluation, chosen)
        contrasts = []
        for pair in pairs:
            sides = [tuple(part.sel({GROUP: one}, drop=True) for one in pair) for part in values]
            contrasts.append(_drawn(sides, method, level, chosen.scale))
    first, second = zip(*pairs, strict=True)
    if len(contrasts) == 1:
        return contrasts[0].assign_attrs(a=first[0], b=second[0])
    result = xr.concat(contrasts, CONTRAST, combine_attrs="override")
    core = [[CONTRAST]]
    holm = xr.apply_ufunc(_holm_row, result.p, input_core_dims=core, output_core_dims=core)
    names = {"a": (CONTRAST, list(first)), "b": (CONTRAST, list(second))}
    return result.assign_coords(names).assign(p_holm=holm)


def _newcombe(found: xr.Dataset, pair: tuple[str, str], level: float) -> xr.Dataset:
    """Newcombe's hybrid interval of the difference of two groups' rates, and the chi-square test."""
    a, b = (found.sel({GROUP: name}, drop=True) for name in pair)
    (low_a, high_a), (low_b, high_b) = (
        jeffreys(side.estimate.values, side.n_effective.values, level) for side in (a, b)
    )
    difference = a.estimate - b.estimate
    lower = difference - np.hypot(a.estimate - low_a, high_b - b.estimate)
    upper = difference + np.hypot(high_a - a.estimate, b.estimate - low_b)
    rates = np.stack([a.estimate.values, b.estimate.values], -1)
    n = np.stack([a.n_effective.values, b.n_effective.values], -1)
    p = difference.copy(data=equality_test(rates, n)[1])
    result = xr.Dataset({"estimate": difference, "lower": lower, "upper": upper, "p": p})
    both = a.n_effective + b.n_effective
    return result.assign(n_effective=both).assign_attrs(contrast="difference", null=0)


def _holm_row(p: np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values along the last axis: valid for all comparisons together."""
    order = np.argsort(p)
    times_left = np.take_along_axis(p, order, -1) * np.arange(p.shape[-1], 0, -1)
    rising = np.minimum(np.maximum.accumulate(times_left, -1), 1)
    return np.take_along_axis(rising, np.argsort(order), -1)


def _two_sides(evaluation_a, evaluation_b, measure, models) -> tuple:
    """The two evaluations and the measure, from either form of the call."""
    two = models is None or isinstance(models, (tuple, list)) and len(models) == 2
    require(two, f"models must name two models, got {models!r}")
    if measure is not None:
        return evaluation_a, evaluation_b, measure
    require(
        models is not None,
        "compare takes two evaluations and a measure, or one evaluation, a measure and models=(A, B)",
    )
    held = evaluation_a["empirical"].coords
    known = [str(name) for name in held[MODEL].values] if MODEL in held else []
    for name in models:
        require(name in known, f"no model is called {name!r} in this evaluation; it holds {known}")
    return *(evaluation_a.sel({MODEL: name}, drop=True) for name in models), evaluation_b


def _require_paired(a: xr.DataTree, b: xr.DataTree) -> None:
    """Refuse to pair evaluations whose replicates are not the same resamples of the same images."""
    first, second = provenance(a), provenance(b)
    for key in (
        "scheme",
        "n",
        "seed",
        "weighting",
        "impostors",
        "n_images",
        "n_identities",
        "by",
        "far_of",
    ):
        require(
            first.get(key) == second.get(key),
            f"a paired comparison needs the same images and the same draws, but {key} differs: "
            f"{first.get(key)!r} and {second.get(key)!r}. Evaluate both models on the same images with the "
            "same Resampling(scheme, n, seed)",
        )
    labels, others = (known.get("labels", {}) for known in (first, second))
    differ = [name for name in labels if name in others and labels[name] != others[name]]
    require(
        not differ,
        f"a paired comparison needs the same images, but {listed(differ)} of the two evaluations' images or pairs "
        "differ: evaluate both models on the same images, in the same order",
    )
    images = {known.get("images") for known in (first, second)}
    require(
        len(images) == 1,
        "a paired comparison needs the same images, but these have no names and other embeddings: nothing says that "
        "image 0 of one is image 0 of the other. Name them, fk.faces(..., image=names), stack both models with "
        "fk.stack_models, or evaluate the same faces",
    )


def _aligned(first, second) -> tuple:
    """What is known of both models, if it lies at exactly the same levels and groups."""
    one_sided = {*first.dims} ^ {*second.dims} - {MODEL}
    require(
        not one_sided,
        f"the two models lie at other levels or groups: one alone has {listed(sorted(one_sided))}",
    )
    try:
        return xr.align(first, second, join="exact")
    except ValueError as error:
        raise InputError(f"the two models lie at other levels or groups: {error}") from error


def decision_zones(bands: xr.Dataset | dict[str, xr.Dataset]) -> xr.Dataset:
    """Tell which of two models is fairer at each level: by the estimate, and by the worse end of the band.

    Zone A: the first model is fairer by both. Zone C: the second is. Zone B: the estimate is for one and the
    worse end of the band for the other, so that the decision depends on how much risk one takes.

    Parameters
    ----------
    bands : what `band` returned of a disparity measure for an evaluation of two models; or two bands by name.

    Returns
    -------
    xr.Dataset over the levels: `zone` ("A", "B", "C", or "" where a number is missing or both are alike),
    `by_estimate` and `by_band` (names of the fairer model).

    Raises
    ------
    InputError : not two models, no disparity measure, or bands of different measures or levels.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4.

    Examples
    --------
    >>> import xarray as xr
    >>> ends = {"estimate": [2.0, 3.0], "upper": [3.0, 6.0], "lower": [1.5, 2.0]}
    >>> a = xr.Dataset({name: ("far_level", v) for name, v in ends.items()}, attrs={"measure": "m", "fair": 1.0})
    >>> b = a.assign(estimate=a.estimate - 0.5, upper=a.upper + xr.DataArray([1.0, -2.0], dims="far_level"))
    >>> "".join(decision_zones({"x": a, "y": b}).zone.values)
    'BC'
    """
    if not isinstance(bands, dict):
        require(
            MODEL in bands.dims,
            "one band holds one model: give two bands by name, {'A': ..., 'B': ...}",
        )
        bands = {str(name): bands.sel({MODEL: name}, drop=True) for name in bands[MODEL].values}
    require(len(bands) == 2, f"zones compare two models, got {len(bands)}: {', '.join(bands)}")
    names, pair = list(bands), list(bands.values())
    fair = {band.attrs.get("fair") for band in pair}
    require(
        len({band.attrs.get("measure") for band in pair}) == 1
        and len(fair) == 1
        and None not in fair,
        "zones need two bands of the same disparity measure, which has a fair value",
    )
    require(
        pair[0].estimate.dims == pair[1].estimate.dims, "the two bands run over other dimensions"
    )
    first, second = _aligned(*pair)
    away = 1 if float((first.estimate + second.estimate - 2 * fair.pop()).sum()) >= 0 else -1
    words = {}
    for name, variable in (
        ("by_estimate", "estimate"),
        ("by_band", "upper" if away > 0 else "lower"),
    ):
        gap = away * (first[variable] - second[variable])
        words[name] = xr.where(gap < 0, names[0], xr.where(gap > 0, names[1], ""))
    agree = words["by_estimate"] == words["by_band"]
    zone = xr.where(agree, xr.where(words["by_estimate"] == names[0], "A", "C"), "B")
    known = (words["by_estimate"] != "") & (words["by_band"] != "")
    result = xr.Dataset({"zone": xr.where(known, zone, ""), **words})
    return result.assign_attrs(models=names, measure=first.attrs["measure"])
