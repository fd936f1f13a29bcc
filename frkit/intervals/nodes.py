"""What an interval needs to know of an evaluation: a measure on its nodes, its provenance, its cautions."""

import json

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, REPLICATE, InputError, require
from frkit.evaluation.nodes import small_groups
from frkit.intervals.arithmetic import Values
from frkit.measures.registry import Measure
from frkit.resampling import DIAGONAL_SCHEMES

FEW_IMAGES = 5
TELLING_IMAGES = 4  # of one identity make two pairs that share no image
GENUINE_RATES = ("frr", "frr_group")
RATES = (*GENUINE_RATES, "far", "far_group", "far_cross", "threshold")
FOR_FEW_IMAGES = ("rescaled", "corrected")
PAIR_NOISE = {"two-level": 15.0, "pair": 1.0}  # variance of a pair's count in a replicate; 3 in other schemes
DRAWN_PEOPLE = ("identity", "two-level", "double-or-nothing")


def provenance(evaluation: xr.DataTree) -> dict:
    """Read what an evaluation says about its own making.

    Parameters
    ----------
    evaluation : what `evaluate(...)` returned.

    Returns
    -------
    dict : scheme, n, seed, target in words, weighting, sizes, versions, fingerprint of images and draws.

    Raises
    ------
    InputError : the evaluation carries no provenance.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> fk.intervals.provenance(fk.evaluate(fk.score_tensor(faces), far=[0.1]))["n_images"]
    120
    """
    require("provenance" in evaluation.attrs, "this evaluation carries no provenance: pass what evaluate returned")
    return json.loads(evaluation.attrs["provenance"])


def values_of(evaluation: xr.DataTree, chosen: Measure, method: str | None = None) -> Values:
    """Apply a measure to the three nodes, as the method reads them."""
    for name in ("empirical", "vstatistic"):
        require(
            isinstance(evaluation, xr.DataTree) and name in evaluation.children,
            f"this is no evaluation: it has no node {name!r}; pass what evaluate(...) returned",
        )
    require(
        "replicates" in evaluation.children,
        "this evaluation has no replicates: call evaluate(..., resampling=Resampling(...))",
    )
    nodes = [evaluation[name].to_dataset() for name in ("empirical", "vstatistic", "replicates")]
    values = _rescaled(evaluation, chosen, nodes) if method == "rescaled" else Values(*map(chosen, nodes))
    n = values.replicates.sizes.get(REPLICATE, 0)
    require(n >= 2, f"an interval needs at least 2 replicates, got {n}: ask for Resampling(..., n=200)")
    return _eased(values, provenance(evaluation).get("scheme")) if chosen.binned else values


def _eased(values: Values, scheme: str | None) -> Values:
    """Values of a measure of histograms, whose replicates are biased more than the data are.

    The noise of single pairs lies a bin's share apart from the truth, which a divergence never forgives. A pair's
    count in a replicate is a product of two (or four) counts, so that its noise there is PAIR_NOISE times as large.
    Only that part of the replicates' bias is the data's own: the centre moves towards their mean accordingly.
    """
    mean = values.replicates.mean(REPLICATE)
    return values._replace(centre=mean + (values.centre - mean) / PAIR_NOISE.get(scheme, 3.0))


def _rescaled(evaluation: xr.DataTree, chosen: Measure, nodes: list[xr.Dataset]) -> Values:
    """A measure of rates where FRR leaves out the copies of an image; the centre is the estimate."""
    known, (empirical, centre, replicates) = provenance(evaluation), nodes
    if not known.get("copies", known.get("scheme") in DIAGONAL_SCHEMES):
        return Values(chosen(empirical), chosen(centre), chosen(replicates))
    require(
        "frr_rescaled" in replicates,
        "this evaluation holds no 'frr_rescaled', which method='rescaled' reads: it was stored by an earlier version; "
        "call evaluate(...) again",
    )
    estimate, rates = chosen(empirical), [name for name in RATES if name in replicates]
    instead = {name: replicates[f"{name}_rescaled"] for name in GENUINE_RATES if f"{name}_rescaled" in replicates}
    try:
        return Values(estimate, estimate, chosen(replicates[rates].assign(instead)))
    except (KeyError, AttributeError, InputError) as error:
        message = f"method='rescaled' is for measures of {', '.join(RATES)}; {chosen.name!r} reads something else"
        raise InputError(message) from error


def attributes(evaluation: xr.DataTree, chosen: Measure, method: str, level: float | None) -> dict:
    """What every interval says about itself."""
    known = provenance(evaluation)
    attrs = {key: known[key] for key in ("scheme", "target", "n") if known.get(key) is not None}
    attrs |= {"measure": chosen.name, "label": chosen.label or chosen.name, "method": method, "scale": chosen.scale}
    if chosen.fair is not None:
        attrs["fair"] = chosen.fair
    return attrs if level is None else {**attrs, "level": level}


def with_resolved(result: xr.Dataset, *evaluations: xr.DataTree) -> xr.Dataset:
    """Add `resolved` where it has the dimensions of the curve."""
    for evaluation in evaluations:
        found = evaluation["empirical"].to_dataset()
        if "resolved" not in found or not set(found.resolved.dims) <= set(result.estimate.dims):
            return result
        before = result.get("resolved", True)
        result = result.assign(resolved=found.resolved & before)
    return result


def with_fair(result: xr.Dataset, chosen: Measure) -> xr.Dataset:
    """Add `includes_fair` for a disparity measure: whether the end towards the fair value reaches it."""
    if chosen.fair is None:
        return result
    above = result.estimate >= chosen.fair
    reaches = xr.where(above, result.lower <= chosen.fair, result.upper >= chosen.fair)
    return result.assign(includes_fair=reaches & result.estimate.notnull())


def cautions(evaluation: xr.DataTree, result: xr.Dataset) -> list[str]:
    """Everything that makes this band mean less than its level says."""
    known = provenance(evaluation)
    messages = []
    _, median, most = known.get("images_per_identity", (np.inf, np.inf, np.inf))
    if known.get("scheme") == "image" and median < FEW_IMAGES and result.attrs["method"] not in FOR_FEW_IMAGES:
        messages.append(
            f"half of the identities have {median:g} images or fewer: with so few the image scheme covers "
            "less than its level says (.59 to .89 at .95 with 2 or 3 images); method='auto' takes this into account"
        )
    if result.attrs["method"] == "corrected" and most < TELLING_IMAGES:
        messages.append(
            f"no identity has more than {most:g} images, so that a difficult person looks like a difficult image: the "
            "corrected interval is too wide where identities differ much"
        )
    if known.get("scheme") in DRAWN_PEOPLE and result.attrs["measure"].startswith("far_"):
        messages.append(
            f"bands of {result.attrs['measure']} that draw identities can be up to √3 times too wide at low FAR, "
            "where single pairs decide"
        )
    messages += _level_warnings(evaluation, result) + _group_warnings(evaluation, result)
    return messages + _replicate_warnings(result)


def _group_warnings(evaluation: xr.DataTree, result: xr.Dataset) -> list[str]:
    """Groups too small for a rate, where they leave the estimate without a number."""
    missing = bool(result.estimate.isnull().any())
    return small_groups(evaluation["empirical"].to_dataset()) if missing else []


def _level_warnings(evaluation: xr.DataTree, result: xr.Dataset) -> list[str]:
    """Levels at which the data cannot say much."""
    if FAR_LEVEL not in result.dims:
        return []
    found = evaluation["empirical"].to_dataset()
    messages = []
    maximum = _levels_where(found.far <= 0) if "far" in found and FAR_LEVEL in found.far.dims else ""
    if maximum:
        messages.append(
            f"FAR {maximum} lies below the resolution of the data: the threshold there is the largest "
            "impostor score, and the bootstrap of a maximum is not valid"
        )
    unresolved = _levels_where(~result.resolved) if "resolved" in result else ""
    if unresolved:
        messages.append(f"fewer than ten errors at FAR {unresolved}: marked as not resolved and drawn grey")
    return messages


def _levels_where(condition: xr.DataArray) -> str:
    """The range of FAR levels at which a condition holds for any model, in words."""
    others = [dim for dim in condition.dims if dim != FAR_LEVEL]
    held = condition.any(others)
    levels = held[FAR_LEVEL].values[held.values]
    if levels.size == 0:
        return ""
    return f"{levels[0]:.3g}" if levels.size == 1 else f"{levels.min():.3g} to {levels.max():.3g}"


def _replicate_warnings(result: xr.Dataset) -> list[str]:
    """How many replicates are not finite, where any is."""
    most = int(result.n_nonfinite.max())
    if most == 0:
        return []
    name, n = result.attrs["measure"], result.attrs["n"]
    return [
        f"up to {most} of {n} replicates of {name} are not finite: infinite ones count as the largest, "
        "undefined ones (NaN) are left out; n_nonfinite says how many at each place"
    ]
