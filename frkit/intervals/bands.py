"""Bands, normalised uncertainty and the fan of replicates of one evaluation (Conti & Clémençon, 3.2)."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, REPLICATE, require, require_inside
from frkit.intervals.methods import INTERVALS, WITHOUT_REPLICATES, choose, reads_rates, sup_t, target_of
from frkit.intervals.reading import attributes, values_of, warn_of, with_fair, with_resolved
from frkit.measures.registry import Measure
from frkit.measures.registry import measure as find_measure

AnyMeasure = str | Callable[[xr.Dataset], xr.DataArray] | Measure


def band(
    evaluation: xr.DataTree,
    measure: AnyMeasure,
    *,
    method: str | None = None,
    target: str | None = None,
    level: float = 0.95,
    simultaneous: bool = False,
) -> xr.Dataset:
    """Put an interval around a measure, at every FAR level, group and model of the evaluation.

    Without a method the kit takes the one that held best in its coverage studies (notebook 4): "influence" for rates
    and what is made of them, "inverted" for disparity measures of rates, and for whatever else replicates tell
    "recentered", or "pivotal" for a disparity.

    - influence: no replicates. From what each image adds to the error rates come their variances, with the noise of
      single pairs counted once, the slope of the curve, and the ends of a shifted gamma law; a rate without an error
      gets [0, upper]. Other measures of rates are drawn from the joint law of all rates. Groups of fewer than 100
      people cannot tell how much their FAR varies over new people: they borrow the rest of it from all people. Fewer
      than 30 hardly show the worst of them: an unseen rejection of theirs weighs up to all pairs of a person. Where a
      few of 30 to 60 people look like many others, FAR over new people is held by .70 to .91 of its intervals only.
    - inverted: a disparity cannot fall below its fair value. Group rates are supposed λ times as far from each other
      as they were seen, and those λ are accepted at which the measure that was seen is no rarity. It never passes the
      fair value, and gives `p`, the p-value of fairness. A ratio has no upper end (inf) where a group has no error: its
      rate may be as near to 0 as one likes. Its lower end can lie too high there: of four unfair groups with 300 pairs
      each it held in 25 of 31 data sets in which one group had no rejection.
    - With replicates θ*, estimate θ and centre θ~ (the V-statistic where the scheme resamples images): recentered, the
      paper's, gives θ + quantiles of (θ* - θ~); naive the quantiles of θ*; gaussian the normal quantiles at the mean
      and standard deviation of θ + (θ* - θ~); pivotal θ - the opposite quantiles of (θ* - θ~), on the log scale for
      ratios.

    Parameters
    ----------
    evaluation : what `evaluate(...)` returned.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    method : one of the names above; None takes what held best, and attrs["rule"] says why.
    target : "new people", or "these people" (new images of the people that are there), for methods without replicates;
        None takes that of the scheme of the replicates, and new people where there are none. Other methods are about
        what their scheme draws.
    level : nominal coverage, in (0, 1).
    simultaneous : True gives one band for the whole curve (sup-t): the truth lies inside at all resolved
        levels at once with the nominal probability.

    Returns
    -------
    xr.Dataset with `estimate`, `lower`, `upper`, where replicates are read `centre` and `n_nonfinite` (replicates that
    are not finite), for inverted `p`, and, for curves, `resolved` (at least ten errors), over the measure's dimensions.
    A disparity measure also has `includes_fair`: the band reaches the value of a fair model, or an end lies beyond it;
    missing where an end is. Replicates that are NaN are left out of the interval with a warning; infinite ones count as
    larger than any number. The attrs name measure, method, level, in words whose rates the band is about (target), and
    scheme and n of the replicates that were read.

    Raises
    ------
    InputError : a method that reads replicates where there are none; an unknown method, target or measure; a level
        outside (0, 1); simultaneous=True for a measure that does not run over levels, or together with a method;
        target="these people" for scores that are not a whole square.

    Warns
    -----
    DataWarning : few images per identity, levels below the resolution of the data, unresolved levels.

    References
    ----------
    Conti & Clémençon (2024), Algorithms 1 and 2 and eq. 10; appendix B.1 for the gaussian variant.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> scores = fk.score_tensor(faces)
    >>> ev = fk.evaluate(scores, far=[0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> fk.band(ev, "frr", target="new people").attrs["method"]
    'influence'
    >>> fk.band(ev, "frr", method="recentered").attrs["target"]
    'these 20 identities, new images'
    """
    chosen = find_measure(measure)
    require(method is None or not simultaneous, "a simultaneous band has a method of its own: leave method out")
    require_inside("level", level, 0, 1)
    method, rule = choose(method, evaluation, chosen)
    data = evaluation["empirical"].to_dataset()
    given = chosen.name == "threshold" and FAR_LEVEL not in data.coords
    require(not given, "these thresholds were given and do not vary; evaluate at far=... for those of FAR levels")
    target = target_of(evaluation, target)
    if simultaneous:
        result = sup_t(evaluation, chosen, method, level, target)
    else:
        result = INTERVALS[method](evaluation, chosen, level, target)
    result = with_fair(with_resolved(result, chosen, evaluation), chosen)
    of = target if method in WITHOUT_REPLICATES and reads_rates(data, chosen) else None
    result.attrs = attributes(evaluation, chosen, "sup-t" if simultaneous else method, level, of) | {"rule": rule}
    warn_of(evaluation, chosen, result)
    return result


def uncertainty(evaluation: xr.DataTree, measure: AnyMeasure) -> xr.DataArray:
    """Give the normalised uncertainty: sd(θ* - θ~) / θ, one number that compares measures and levels.

    Parameters
    ----------
    evaluation : what `evaluate(..., resampling=...)` returned.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.

    Returns
    -------
    xr.DataArray over the measure's dimensions, without unit; NaN where the estimate is 0, and where a
    replicate is not finite. The standard deviation has n - 1 in its denominator.

    Raises
    ------
    InputError : no replicates in the evaluation, or an unknown measure.

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
    chosen = find_measure(measure)
    estimate, centre, replicates = values_of(evaluation, chosen)
    finite = np.isfinite(replicates).all(REPLICATE)
    gap = (replicates - centre).where(finite)
    result = gap.std(REPLICATE, ddof=1, skipna=False) / estimate.where(estimate != 0)
    result = result.rename("uncertainty")
    result.attrs = attributes(evaluation, chosen, "standard deviation over estimate", None)
    return result


def fan(evaluation: xr.DataTree, measure: AnyMeasure = "frr", *, recentered: bool = False) -> xr.Dataset:
    """Collect the replicate curves of a measure with their centre and the estimate, for a picture.

    Parameters
    ----------
    evaluation : what `evaluate(..., resampling=...)` returned.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    recentered : False gives the replicates θ* as they are (Fig. 2), True gives θ + (θ* - θ~).

    Returns
    -------
    xr.Dataset with `estimate`, `centre` and `replicates`, the last one over `replicate` too.

    Raises
    ------
    InputError : no replicates in the evaluation, or an unknown measure.

    References
    ----------
    Conti & Clémençon (2024), Fig. 2 and section 3.2.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.1], resampling=fk.Resampling("image", n=50))
    >>> fk.fan(ev).replicates.sizes["replicate"]
    50
    """
    chosen = find_measure(measure)
    estimate, centre, replicates = values_of(evaluation, chosen)
    curves = (replicates - centre) + estimate if recentered else replicates
    result = xr.Dataset({"estimate": estimate, "centre": centre, "replicates": curves})
    result = with_resolved(result, chosen, evaluation)
    result.attrs = attributes(evaluation, chosen, "recentered" if recentered else "naive", None)
    return result
