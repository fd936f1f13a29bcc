"""Bands, normalised uncertainty and replicate curves of one evaluation.

The default rests on effective numbers of comparisons (`frkit.intervals.effective`, and of
disparities `frkit.intervals.equality`). The papers' intervals are in `frkit.intervals.replicates`.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy.special import expit, logit, ndtri

from frkit.base import require, require_flag, require_inside, require_one_of
from frkit.intervals.contributions import TARGETS, UNIT, contributions
from frkit.intervals.effective import (
    MOVED,
    RATES,
    THRESHOLDS,
    effective_rates,
    linearised_interval,
    threshold_interval,
)
from frkit.intervals.equality import disparity_interval, rates_of_line, with_enough_people
from frkit.intervals.reading import (
    NEW_PEOPLE,
    data_of,
    warn_of,
    with_attrs,
    with_resolved,
)
from frkit.intervals.replicates import FROM_REPLICATES, interval, values_of
from frkit.measures.registry import Measure, with_reads
from frkit.measures.registry import measure as find_measure

EFFECTIVE = "effective"
METHODS = (EFFECTIVE, *FROM_REPLICATES)
TIE = 1e-12  # an end this close to the fair value reaches it
DRAWS = 10_000  # of the largest height along a curve
AnyMeasure = str | Callable[[xr.Dataset], xr.DataArray] | Measure


def band(
    evaluation: xr.DataTree,
    measure: AnyMeasure,
    *,
    method: str | None = None,
    target: str = NEW_PEOPLE,
    level: float = 0.95,
    simultaneous: bool = False,
) -> xr.Dataset:
    """Put an interval around a measure, at every FAR level, group and model of the evaluation.

    By default ("effective") the interval rests on an effective number of comparisons and reads no
    replicates. 13,173 genuine comparisons of 360 people are not 13,173 independent ones. A rate p
    whose variance over new people is v is worth n = p (1 - p) / v independent comparisons (Kish
    1965; Korn & Graubard 1998). v adds up what each person adds to the rate, the threshold's own
    error included; pairs of people are counted with both (Cameron, Gelbach & Miller 2011; Davezies
    et al. 2021; see also Fogliato, Patil & Perona 2024). Few people make most errors; where few of
    them were seen, n is moved towards the number of people, assuming two further people with
    errors. A group borrows the variance of all groups, as if from four people (moderated variance,
    Smyth 2004). The interval is Jeffreys' for n trials (Brown, Cai & DasGupta 2001), and an error
    never lowers its upper end. That of a threshold contains the thresholds at which the interval of
    the FAR contains the FAR level; with fewer than about 2.5 independent false accepts it has no
    upper end (inf). Other functions of rates get estimate ± t standard errors (delta method), which
    may end below 0 even if the function cannot. A disparity of your own ends where it can if it is
    registered with its fair value: `frkit.measures.register(..., fair=0)`.

    `p` tests whether groups have equal rates. If they do, people vary equally in all of them, so
    the variance comes from the people of all groups: X² is the sum of the squared differences from
    the common rate, in units of that variance. For FRR it is an analysis of variance over people,
    for FAR chi-square (Rao & Scott 1984). EERs have no such test. The interval of a disparity
    contains its values for all rates on the line from equal ones to those seen, and beyond, that
    X² accepts; of a measure that also changes with the level of all rates (the largest difference,
    FDR), at every level that it accepts. The interval of a ratio contains the fair value exactly
    where p >= 1 - level. Groups of which fewer than two people were compared, for FAR three, take
    no part.

    With replicates θ*, estimate θ and centre θ~ (the V-statistic where the scheme resamples
    images): "recentered", the paper's, gives θ + quantiles of (θ* - θ~); "naive" the quantiles of
    θ*; "gaussian" the normal quantiles at the mean and standard deviation of θ + (θ* - θ~);
    "pivotal" θ - the opposite quantiles of (θ* - θ~), on the log scale for ratios.

    Parameters
    ----------
    evaluation : xr.DataTree
        What `evaluate(...)` returned.
    measure : str or callable
        A registered name such as "frr", or a function Dataset -> DataArray.
    method : str, optional
        One of the names above. None uses "effective" wherever only rates are read and people are
        known, and replicates elsewhere ("recentered", or "pivotal" for a disparity).
    target : {"new people", "these people"}
        Whom the interval is about, for "effective": other people from the same population
        (default), or new images of the people in the data. Other methods are about what their
        scheme draws.
    level : float
        Nominal coverage, in (0, 1).
    simultaneous : bool
        True gives one band for the whole curve of a rate (sup-t): the truth lies inside at all
        resolved levels at once with the nominal probability. It contains each level's interval.

    Returns
    -------
    xr.Dataset
        `estimate`, `lower`, `upper`; of a rate `n_effective`; of a disparity of one rate
        `n_effective` (of all groups together, if they are equal); of a disparity `p` (of equal
        groups; NaN without an error, where nobody's identity is known, and where more than 5 % of
        the people stand in several groups) and `includes_fair`
        (1.0: the band reaches the value of a fair model, 0.0: it does not, NaN: an end is missing);
        where replicates are read `centre` and `n_nonfinite` (replicates that are not
        finite); for curves `resolved` (at least ten errors of its own; of an FRR at a FAR level
        also ten false accepts, because they set the threshold); over the measure's dimensions. A
        ratio has no upper end (inf) where a group has no error. The attrs name measure, method,
        level and target; `left_out`: groups that take no part; `warning`: why an interval is too
        narrow.

    Raises
    ------
    InputError
        A method that reads replicates where there are none; an unknown method, measure or (without
        replicates) target; a level outside (0, 1); simultaneous=True for anything but a rate over
        levels, or together with a method; target="these people" where some images were not
        compared.

    Warns
    -----
    DataWarning
        Levels at which there are fewer than ten errors, groups without an error or too small for a
        rate, replicates that are not finite.

    References
    ----------
    Kish (1965), Survey sampling. Korn & Graubard (1998), Survey Methodology 24. Brown, Cai &
    DasGupta (2001), Statistical Science 16. Rao & Scott (1984), Annals of Statistics 12.
    Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3. Cameron, Gelbach &
    Miller (2011), JBES 29. Davezies, D'Haultfoeuille & Guyonvarch (2021), Annals of Statistics 49.
    Fogliato, Patil & Perona (2024). Conti & Clémençon (2024), Algorithms 1 and 2 and
    eq. 10; appendix B.1 for the gaussian variant.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> scores = fk.score_tensor(faces)
    >>> ev = fk.evaluate(scores, far=[0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> fk.band(ev, "frr").attrs["method"]
    'effective'
    >>> fk.band(ev, "frr", method="recentered").attrs["target"]
    'these 20 identities, new images'
    """
    require_flag("simultaneous", simultaneous)
    require_one_of("target", target, TARGETS)
    require(
        method is None or not simultaneous,
        "a simultaneous band has its own method: leave method out",
    )
    require_inside("level", level, 0, 1)
    whole = evaluation
    measure = with_reads(find_measure(measure), data_of(whole))
    method = choose(method, whole, measure)
    evaluation, left_out = with_enough_people(whole, measure, target)
    about: dict = {"level": level, "left_out": left_out or None}
    if method != EFFECTIVE:
        result = interval(values_of(evaluation, measure), method, level, measure.scale)
    else:
        about["target"] = target
        result = effective_interval(evaluation, measure, level, target)
    result = with_resolved(result, measure, evaluation)
    if simultaneous:
        result = sup_t(evaluation, measure, result, level, target)
        method = "sup-t"
    if measure.fair is not None:
        result = _with_fair_value(result, measure.fair)
    result = with_attrs(result, evaluation, measure, method, kind="band", **about)
    warn_of(whole, measure, result)
    return result


def choose(method, evaluation, measure):
    """The method that was named, or effective numbers where only rates are read."""
    data = data_of(evaluation)
    measure(data)  # raises if a variable is missing
    require(
        measure.name not in THRESHOLDS or "far_level" in data.coords,
        "these thresholds were given and do not vary; evaluate at far=... for those of FAR levels",
    )
    if method is not None:
        require_one_of("method", method, METHODS)
        return method
    reads_rates = measure.name in RATES or {*measure.reads} <= {*MOVED}
    if "people" in evaluation.children and reads_rates:
        return EFFECTIVE
    return "recentered" if measure.fair is None else "pivotal"


def effective_interval(evaluation, measure, level, target):
    """The interval of a rate, a threshold or a function of rates from effective numbers."""
    if measure.name in RATES:
        return effective_rates(evaluation, measure.name, target, level)
    if measure.name in THRESHOLDS:
        return threshold_interval(evaluation, measure.name, level, target)
    if rates_of_line(measure, data_of(evaluation)):
        return disparity_interval(evaluation, measure, level, target)
    return linearised_interval(evaluation, measure, level, target)


def _with_fair_value(result, fair):
    """Ends that are the fair value, and whether the end towards it reaches it, or is missing."""
    ends = {name: result[name].variable for name in ("estimate", "lower", "upper")}
    # a mean of equal rates is not always equal to them in the last bit
    ends = {name: end.where(~(np.abs(end - fair) <= TIE), fair) for name, end in ends.items()}
    estimate, lower, upper = ends.values()
    reaches = (lower <= fair).where(estimate >= fair, upper >= fair)
    missing = estimate.isnull() | lower.isnull() | upper.isnull()
    return result.assign(ends | {"includes_fair": reaches.where(~missing)})


# --- simultaneous bands --------------------------------------------------------------------------


def sup_t(evaluation, measure, result, level, target):
    """Simultaneous band of a rate: at all resolved levels at once, from the largest height.

    On the logit scale estimate ± c sd, c being the quantile of the largest |z| of normal variables
    that correlate as what people add does; nowhere narrower than the interval of a single level.
    """
    estimate = result.estimate
    curve = [*{"far_level", "threshold_level"} & {*estimate.dims}]
    require(
        curve and measure.name in {*RATES} - {"far_cross"},
        f"a simultaneous band is of a rate that runs over levels, but {measure.name!r} is none or "
        f"has {estimate.dims}",
    )
    n = result.n_effective
    middle = (estimate * n + 0.5) / (n + 1)
    sd = 1 / np.sqrt(n * middle * (1 - middle))
    influence = contributions(evaluation, measure.name, target).influence
    resolved = result.get("resolved", estimate.notnull())
    critical = xr.apply_ufunc(
        _largest_height,
        influence.fillna(0),
        resolved & (influence.std(UNIT) > 0),
        input_core_dims=[[*curve, UNIT], curve],
        kwargs={"level": level},
        vectorize=True,
    )
    lower, upper = (expit(logit(middle) + sign * critical * sd) for sign in (-1, 1))
    lower = np.minimum(lower, result.lower)
    upper = np.maximum(upper, result.upper)
    return result.assign(lower=lower, upper=upper, critical=critical)


def _largest_height(influence, resolved, level):
    """The height that the largest |z| at the resolved levels exceeds with probability 1 - level.

    influence : (level, unit). resolved : (level,).
    """
    if not resolved.any():
        return ndtri((1 + level) / 2)
    influence = influence[resolved]
    directions = influence / np.linalg.norm(influence, axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(directions @ directions.T)
    root = vectors * np.sqrt(np.maximum(values, 0))
    rng = np.random.Generator(np.random.SFC64(0))
    z = rng.standard_normal((DRAWS, len(root))) @ root.T
    return np.quantile(np.abs(z).max(1), level)


# --- replicates as they are ----------------------------------------------------------------------


def uncertainty(evaluation: xr.DataTree, measure: AnyMeasure) -> xr.DataArray:
    """Give the normalised uncertainty sd(θ* - θ~) / θ, which compares measures and levels.

    Parameters
    ----------
    evaluation : xr.DataTree
        What `evaluate(..., resampling=...)` returned.
    measure : str or callable
        A registered name such as "frr", or a function Dataset -> DataArray.

    Returns
    -------
    xr.DataArray
        Over the measure's dimensions, without unit; NaN where the estimate is 0, and where a
        replicate is not finite. The standard deviation has n - 1 in its denominator.

    Raises
    ------
    InputError
        No replicates in the evaluation, or an unknown measure.

    References
    ----------
    Conti & Clémençon (2024), eq. 11 and Algorithm 3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.1], resampling=fk.Resampling("image", n=50))
    >>> bool(fk.uncertainty(ev, "frr")[0] > 0)
    True
    """
    measure = find_measure(measure)
    values = values_of(evaluation, measure)
    finite = np.isfinite(values.replicates).all("replicate")
    deviations = (values.replicates - values.centre).where(finite)
    sd = deviations.std("replicate", ddof=1, skipna=False)
    result = (sd / values.estimate.where(values.estimate != 0)).rename("uncertainty").drop_attrs()
    method = "standard deviation over estimate"
    return with_attrs(result, evaluation, measure, method, kind="uncertainty")


def replicate_curves(
    evaluation: xr.DataTree, measure: AnyMeasure = "frr", *, recentered: bool = False
) -> xr.Dataset:
    """Collect the replicate curves of a measure with their centre and the estimate, for a picture.

    Parameters
    ----------
    evaluation : xr.DataTree
        What `evaluate(..., resampling=...)` returned.
    measure : str or callable
        A registered name such as "frr", or a function Dataset -> DataArray.
    recentered : bool
        False gives the replicates θ* as they are (Fig. 2), True gives θ + (θ* - θ~).

    Returns
    -------
    xr.Dataset
        `estimate`, `centre` and `replicates`, the last one over `replicate` too.

    Raises
    ------
    InputError
        No replicates in the evaluation, or an unknown measure.

    References
    ----------
    Conti & Clémençon (2024), Fig. 2 and section 3.2.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.1], resampling=fk.Resampling("image", n=50))
    >>> fk.replicate_curves(ev).replicates.sizes["replicate"]
    50
    """
    require_flag("recentered", recentered)
    measure = find_measure(measure)
    result = values_of(evaluation, measure)
    if recentered:
        moved = (result.replicates - result.centre) + result.estimate
        result = result.assign(replicates=moved)
    result = with_resolved(result, measure, evaluation)
    method = "recentered" if recentered else "naive"
    return with_attrs(result, evaluation, measure, method, kind="replicate_curves")
