"""Bands, normalised uncertainty and the fan of replicates of one evaluation (Conti & Clémençon, 3.2)."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.base import REPLICATE, require
from frkit.intervals.methods import AUTO, INTERVALS, choose, sup_t
from frkit.intervals.reading import attributes, values_of, warn_of, with_fair, with_resolved
from frkit.measures.registry import Measure
from frkit.measures.registry import measure as find_measure

AnyMeasure = str | Callable[[xr.Dataset], xr.DataArray] | Measure


def band(
    evaluation: xr.DataTree,
    measure: AnyMeasure,
    *,
    method: str | None = None,
    level: float = 0.95,
    simultaneous: bool = False,
) -> xr.Dataset:
    """Put an interval around a measure, at every FAR level, group and model of the evaluation.

    With replicates θ*, estimate θ and centre θ~ (the V-statistic where the scheme resamples images):
    recentered gives θ + quantiles of (θ* - θ~); naive the quantiles of θ*; gaussian the normal quantiles at
    the mean and standard deviation of θ + (θ* - θ~); pivotal θ - the opposite quantiles of (θ* - θ~), on the
    log scale for ratios. Nothing is clipped: an end may lie below 0.
    rescaled is for few images per identity, where schemes draw images: FRR* without the copies of an image (pairs
    of a drawn image with itself), each identity's part divided by 1 - 1/n_k, so that its centre is θ itself; then
    as recentered. Where replicates hold no copies it is the recentered interval.
    corrected is for "frr" of the image scheme, at FAR levels or fixed thresholds: a normal interval on the root scale,
    with the variance that counts of pairs give; see `frkit.intervals.methods`. Replicates spread too little with few
    images per identity, and up to √3 too widely where pairs are nearly independent (many dimensions, low FAR, few
    errors); this variance does neither. With two or three images per identity it can be too wide: nobody can tell
    from so few whether it is the person or the image that is difficult.
    auto recommends, and attrs["rule"] says why: pivotal for disparity measures; recentered where replicates hold no
    copies of images (schemes that draw identities or pairs) and for what reads no FRR; corrected where it is known;
    rescaled for any other measure of FAR and FRR, such as "frr_group", and for the two-level scheme.

    Parameters
    ----------
    evaluation : what `evaluate(..., resampling=...)` returned.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    method : "recentered", "naive", "gaussian", "pivotal", "rescaled", "corrected" or "auto"; None takes "pivotal" for
        disparity measures and "recentered", the paper's, for all others.
    level : nominal coverage, in (0, 1).
    simultaneous : True gives one band for the whole curve (sup-t): the truth lies inside at all resolved
        levels at once with the nominal probability. Rates are then handled on the scale √(rate + 3/(8N)),
        N pairs; ratios on the log scale; replicates around the centre.

    Returns
    -------
    xr.Dataset with `estimate`, `lower`, `upper`, `centre`, `n_nonfinite` (replicates that are not finite)
    and, for curves, `resolved` (at least ten errors), over the measure's own dimensions. A disparity measure
    also has `includes_fair`: the band reaches the value of a fair model, or an end lies beyond it. Replicates that are
    NaN are left out of the interval with a warning; infinite ones count as larger than any number. The attrs
    name measure, method, level, scheme, n (replicates) and, in words, whose rates the band is about (target).

    Raises
    ------
    InputError : no replicates in the evaluation; an unknown method or measure; a level outside (0, 1);
        simultaneous=True for a measure that does not run over levels, or together with a method; method="rescaled"
        for a measure of something else than FAR and FRR, or for an evaluation that was stored without what it needs;
        method="corrected" where it is not known.

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
    >>> roc = fk.band(ev, "frr")
    >>> roc.attrs["method"]
    'recentered'
    """
    chosen = find_measure(measure)
    require(method is None or not simultaneous, "a simultaneous band has a method of its own: leave method out")
    asked, (method, rule) = method, choose(method, evaluation, chosen)
    result = (sup_t if simultaneous else INTERVALS[method])(evaluation, chosen, level)
    result = with_fair(with_resolved(result, evaluation), chosen)
    result.attrs = attributes(evaluation, chosen, "sup-t" if simultaneous else method, level)
    result.attrs |= {"rule": rule} if asked == AUTO else {}
    warn_of(evaluation, result)
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
    result = with_resolved(result, evaluation)
    result.attrs = attributes(evaluation, chosen, "recentered" if recentered else "naive", None)
    return result
