"""Two models: the paired difference with its band, and zones in which a choice between them depends on the band."""

from itertools import combinations

import numpy as np
import xarray as xr

from frkit.base import GROUP, MODEL, REPLICATE, InputError, listed, require
from frkit.intervals.bands import (
    WITHOUT_REPLICATES,
    AnyMeasure,
    choose,
    interval,
    logarithm,
    reads_rates,
    target_of,
    values_by,
)
from frkit.intervals.reading import Values, attributes, provenance, warn_of, with_resolved
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
    """Compare two models on the same images, or two groups under one model: the difference with its band.

    Pairing makes the band of a difference narrower than two separate bands suggest, because both models meet the same
    easy and hard images, and both groups the same threshold. Differences are A - B; measures on the log scale are
    compared as a ratio A / B, whose interval is built on the log scale.

    Parameters
    ----------
    evaluation_a, evaluation_b : evaluations of the two models, with the same images and draws.
        Or give one evaluation that holds both: `compare(evaluation, measure, models=("A", "B"))`.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    models : names of the two models inside one evaluation; with two evaluations, names for the picture.
    groups : names of two groups, for a measure that runs over them ("far_group"): `compare(evaluation, "frr_group",
        groups=("female", "male"))`; "all" compares every pair of groups, over `contrast`.
    method, target, level : as in `band`; without a method, measures of rates are drawn from their joint law, and
        replicates tell of anything else.

    Returns
    -------
    xr.Dataset as `band` returns it, of the difference (attrs["contrast"] = "difference", attrs["null"] = 0) or of the
    ratio ("ratio", 1), with `p`: two-sided, at least 1 / (n + 1) for n draws. With groups="all" `p_holm` allows for the
    number of comparisons. `resolved` is true where it is true for both models.

    Raises
    ------
    InputError : the evaluations are of other images, other draws or other levels; a model or group is not there.

    Warns
    -----
    DataWarning : as `band`.

    References
    ----------
    Conti & Clémençon (2024), section 4 (the comparison of Fig. 1, here with one band for the difference). Holm (1979).

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> cosine = fk.evaluate(fk.score_tensor(faces), far=[0.1, 0.2])
    >>> euclid = fk.evaluate(fk.score_tensor(faces, similarity="euclidean"), far=[0.1, 0.2])
    >>> bool(abs(fk.compare(cosine, euclid, "frr").estimate).max() < 1e-9)
    True
    """
    sides = {"evaluation_a": evaluation_a} | ({} if measure is None else {"evaluation_b": evaluation_b})
    for name, value in sides.items():
        known = isinstance(value, xr.DataTree) and "empirical" in value.children
        require(known, f"{name} is no evaluation: pass what evaluate(...) returned, got {type(value).__name__}")
    if groups is not None:
        require(measure is None and models is None, "groups= compares groups of one evaluation of one model")
        evaluations, measure = (evaluation_a,), evaluation_b
    else:
        *evaluations, measure = _two_sides(evaluation_a, evaluation_b, measure, models)
        _require_paired(*evaluations)
    chosen = find_measure(measure)
    method, _ = choose(method, evaluations[0], chosen)
    target = target_of(evaluations[0], target)
    if method == "inverted":
        method = "influence" if reads_rates(evaluations[0]["empirical"].to_dataset(), chosen) else "pivotal"
    target = target if method == "influence" else None
    values = [values_by(method, evaluation, chosen, target, place) for place, evaluation in enumerate(evaluations)]
    if groups is not None:
        result = _group_contrasts(values[0], chosen, groups, method, level)
    else:
        sides = [_aligned(a, b) for a, b in zip(*values, strict=True)]
        a, b = map(str, models or ("A", "B"))
        result = _contrast(sides, method, level, chosen.scale).assign_attrs(a=a, b=b)
    result = with_resolved(result, chosen, *evaluations)
    result.attrs = attributes(evaluations[0], chosen, method, level, target) | result.attrs
    warn_of(evaluation_a, chosen, result)
    return result


def _contrast(sides: list, method: str, level: float, scale: str) -> xr.Dataset:
    """The interval of A - B, or of A / B for a measure on the log scale, and the p-value of no difference.

    sides: of estimate, centre and replicates, each of A and of B.
    """
    there = logarithm if scale == LOG_SCALE else np.positive
    with np.errstate(invalid="ignore"):
        values = Values(*(there(a) - there(b) for a, b in sides))
    ends = "recentered" if method in WITHOUT_REPLICATES else method
    result = interval(values, ends, level, IDENTITY_SCALE).assign(p=_p_value(values))
    if method in WITHOUT_REPLICATES:  # a rate without an error counts half of one: draws may leave the estimate out
        lower, upper = np.minimum(result.lower, result.estimate), np.maximum(result.upper, result.estimate)
        result = result.assign(lower=lower, upper=upper)
    if scale != LOG_SCALE:
        return result.assign_attrs(contrast="difference", null=0)
    ratios = {name: np.exp(result[name]) for name in ("estimate", "lower", "upper", "centre")}
    return result.assign(ratios).assign_attrs(contrast="ratio", null=1)


def _p_value(values: Values) -> xr.DataArray:
    """Two-sided p-value of zero: how often the draws, moved to the estimate, lie beyond it, seen from the estimate."""
    moved = values.estimate + (values.replicates - values.centre)
    beyond = (np.sign(values.estimate) * moved <= 0).sum(REPLICATE)
    return np.minimum(2 * (1 + beyond) / (moved.sizes[REPLICATE] + 1), 1).where(values.estimate.notnull())


def _group_contrasts(values: Values, chosen: Measure, groups, method: str, level: float) -> xr.Dataset:
    """The difference of two groups, or of all pairs of groups with Holm's correction."""
    require(GROUP in values.estimate.dims, f"{chosen.name!r} does not run over groups; take 'far_group' or 'frr_group'")
    known = values.estimate[GROUP].values.tolist()
    every = isinstance(groups, str) and groups == "all"
    two = isinstance(groups, (tuple, list)) and len(groups) == len({*map(str, groups)}) == 2
    require(every or two, f"groups must name two groups, or 'all'; got {groups!r}")
    pairs = list(combinations(known, 2)) if every else [tuple(groups)]
    for name in {name for pair in pairs for name in pair}:
        require(name in known, f"no group is called {name!r}; there are {', '.join(map(repr, known))}")
    found = []
    for pair in pairs:
        sides = [tuple(part.sel({GROUP: name}, drop=True) for name in pair) for part in values]
        found.append(_contrast(sides, method, level, chosen.scale))
    first, second = zip(*pairs, strict=True)
    if len(found) == 1:
        return found[0].assign_attrs(a=first[0], b=second[0])
    result = xr.concat(found, CONTRAST, combine_attrs="override")
    holm = xr.apply_ufunc(_holm_row, result.p, input_core_dims=[[CONTRAST]], output_core_dims=[[CONTRAST]])
    return result.assign_coords(a=(CONTRAST, list(first)), b=(CONTRAST, list(second))).assign(p_holm=holm)


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
    for key in ("scheme", "n", "seed", "weighting", "impostors", "n_images", "n_identities", "fingerprint"):
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
    require(not one_sided, f"the two models lie at other levels or groups: one alone has {listed(sorted(one_sided))}")
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
        require(MODEL in bands.dims, "one band holds one model: give two bands by name, {'A': ..., 'B': ...}")
        bands = {str(name): bands.sel({MODEL: name}, drop=True) for name in bands[MODEL].values}
    require(len(bands) == 2, f"zones compare two models, got {len(bands)}: {', '.join(bands)}")
    names, pair = list(bands), list(bands.values())
    fair = {band.attrs.get("fair") for band in pair}
    require(
        len({band.attrs.get("measure") for band in pair}) == 1 and len(fair) == 1 and None not in fair,
        "zones need two bands of the same disparity measure, which has a fair value",
    )
    require(pair[0].estimate.dims == pair[1].estimate.dims, "the two bands run over other dimensions")
    first, second = _aligned(*pair)
    away = 1 if float((first.estimate + second.estimate - 2 * fair.pop()).sum()) >= 0 else -1
    words = {}
    for name, variable in (("by_estimate", "estimate"), ("by_band", "upper" if away > 0 else "lower")):
        gap = away * (first[variable] - second[variable])
        words[name] = xr.where(gap < 0, names[0], xr.where(gap > 0, names[1], ""))
    agree = words["by_estimate"] == words["by_band"]
    zone = xr.where(agree, xr.where(words["by_estimate"] == names[0], "A", "C"), "B")
    known = (words["by_estimate"] != "") & (words["by_band"] != "")
    result = xr.Dataset({"zone": xr.where(known, zone, ""), **words})
    return result.assign_attrs(models=names, measure=first.attrs["measure"])
