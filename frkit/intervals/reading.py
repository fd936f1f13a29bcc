"""What an interval needs to know of an evaluation: a measure on its nodes, its provenance, its cautions."""

import json
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, REPLICATE, InputError, require, warn
from frkit.engine.rates import RESOLVED
from frkit.evaluation.nodes import small_groups
from frkit.intervals.influence import THESE_PEOPLE
from frkit.measures.registry import Measure, rates_read
from frkit.resampling import DIAGONAL_SCHEMES

FEW_IMAGES = 5
TELLING_IMAGES = 4  # of one identity make two pairs that share no image
GENUINE_RATES, IMPOSTOR_RATES = ("frr", "frr_group"), ("far", "far_group", "far_cross")
ERRORS_OF = {
    "far_group": "false_accepts_group",
    "frr_group": "false_rejects_group",
    "far_cross": "false_accepts_cross",
}
RATES = (*GENUINE_RATES, *IMPOSTOR_RATES, "threshold")
FOR_FEW_IMAGES = ("rescaled", "corrected")
PAIR_NOISE = {"two-level": 15.0, "pair": 1.0}  # variance of a pair's count in a replicate; 3 in other schemes
DRAWN_PEOPLE = ("identity", "two-level", "double-or-nothing")


class Values(NamedTuple):
    """One measure on the three nodes of an evaluation."""

    estimate: xr.DataArray
    centre: xr.DataArray
    replicates: xr.DataArray


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
    children = evaluation.children if isinstance(evaluation, xr.DataTree) else ()
    for name in ("empirical", "vstatistic"):
        require(name in children, f"this is no evaluation: it has no node {name!r}; pass what evaluate(...) returned")
    require(
        "replicates" in children,
        "this evaluation has no replicates: call evaluate(..., resampling=Resampling(...))",
    )
    nodes = [evaluation[name].to_dataset() for name in ("empirical", "vstatistic", "replicates")]
    known = provenance(evaluation)
    copies = known.get("copies", known.get("scheme") in DIAGONAL_SCHEMES)
    values = _rescaled(chosen, nodes) if method == "rescaled" and copies else Values(*map(chosen, nodes))
    n = values.replicates.sizes.get(REPLICATE, 0)
    require(n >= 2, f"an interval needs at least 2 replicates, got {n}: ask for Resampling(..., n=200)")
    return _eased(values, known.get("scheme")) if chosen.binned else values


def _eased(values: Values, scheme: str | None) -> Values:
    """Values of a measure of histograms, whose replicates are biased more than the data are.

    The noise of single pairs lies a bin's share apart from the truth, which a divergence never forgives. A pair's
    count in a replicate is a product of two (or four) counts, so that its noise there is PAIR_NOISE times as large.
    Only that part of the replicates' bias is the data's own: the centre moves towards their mean accordingly.
    """
    mean = values.replicates.mean(REPLICATE)
    return values._replace(centre=mean + (values.centre - mean) / PAIR_NOISE.get(scheme, 3.0))


def _rescaled(chosen: Measure, nodes: list[xr.Dataset]) -> Values:
    """A measure of rates where FRR leaves out the copies of an image; the centre is the estimate."""
    empirical, _, replicates = nodes
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


def attributes(
    evaluation: xr.DataTree, chosen: Measure, method: str, level: float | None, target: str | None = None
) -> dict:
    """What every interval says about itself; target: whose rates it is about, where no replicates are read."""
    known = provenance(evaluation)
    attrs = {key: known[key] for key in ("scheme", "target", "n", "weighting") if known.get(key) is not None}
    if target is not None:
        these = f"these {known['n_identities']} people, new images"
        attrs = {"target": these if target == THESE_PEOPLE else target, "weighting": known["weighting"]}
    attrs |= {"measure": chosen.name, "label": chosen.label or chosen.name, "method": method, "scale": chosen.scale}
    if chosen.fair is not None:
        attrs["fair"] = chosen.fair
    return attrs if level is None else {**attrs, "level": level}


def with_resolved(result: xr.Dataset, chosen: Measure, *evaluations: xr.DataTree) -> xr.Dataset:
    """Add `resolved`, of the groups that the measure reads, where it has the dimensions of the result."""
    for evaluation in evaluations:
        resolved = resolved_of(evaluation["empirical"].to_dataset(), chosen, result.estimate.dims)
        if resolved is None or not set(resolved.dims) <= set(result.estimate.dims):
            return result
        result = result.assign(resolved=resolved & result.get("resolved", True))
    return result


def resolved_of(data: xr.Dataset, chosen: Measure, dims: tuple) -> xr.DataArray | None:
    """Where a measure rests on ten errors at least: of all pairs, and of every group whose rates it reads."""
    if "resolved" not in data:
        return None
    resolved = data.resolved
    for name, errors in ERRORS_OF.items():
        if errors in data and name in rates_read(chosen, data):
            own = data[errors] >= RESOLVED
            resolved = resolved & own.all([dim for dim in own.dims if str(dim).endswith(GROUP) and dim not in dims])
    return resolved


def with_fair(result: xr.Dataset, chosen: Measure) -> xr.Dataset:
    """Add `includes_fair` for a disparity measure: whether the end towards the fair value reaches it."""
    if chosen.fair is None:
        return result
    above = result.estimate >= chosen.fair
    reaches = xr.where(above, result.lower <= chosen.fair, result.upper >= chosen.fair)
    known = result.estimate.notnull() & result.lower.notnull() & result.upper.notnull()
    return result.assign(includes_fair=reaches.where(known))  # missing, not False, where an end cannot be had


def warn_of(evaluation: xr.DataTree, result: xr.Dataset) -> None:
    """Say everything that makes this band mean less than its level says."""
    data = evaluation["empirical"].to_dataset()
    messages = _scheme_cautions(provenance(evaluation), result.attrs)
    if FAR_LEVEL in result.dims:
        messages += _level_cautions(data, result)
    if bool(result.estimate.isnull().any()):
        messages += small_groups(data)
    most = int(result.n_nonfinite.max()) if "n_nonfinite" in result else 0
    if most > 0:
        messages.append(
            f"up to {most} replicates of {result.attrs['measure']} are not finite: infinite ones count as the largest, "
            "undefined ones (NaN) are left out; n_nonfinite says how many at each place"
        )
    for message in messages:
        warn(message)


def _scheme_cautions(known: dict, attrs: dict) -> list[str]:
    """What the scheme cannot do for this measure and this method."""
    messages, scheme, method = [], known.get("scheme"), attrs["method"]
    _, median, most = known.get("images_per_identity", (np.inf, np.inf, np.inf))
    if scheme == "image" and median < FEW_IMAGES and method not in FOR_FEW_IMAGES:
        messages.append(
            f"half of the identities have {median:g} images or fewer: with so few the image scheme covers "
            "less than its level says (.59 to .89 at .95 with 2 or 3 images); method='auto' takes this into account"
        )
    if method == "corrected" and most < TELLING_IMAGES:
        messages.append(
            f"no identity has more than {most:g} images, so that a difficult person looks like a difficult image: the "
            "corrected interval is too wide where identities differ much"
        )
    if scheme in DRAWN_PEOPLE and attrs["measure"].startswith("far_"):
        messages.append(
            f"bands of {attrs['measure']} that draw identities can be up to √3 times too wide at low FAR, "
            "where single pairs decide"
        )
    return messages


def _level_cautions(data: xr.Dataset, result: xr.Dataset) -> list[str]:
    """Levels at which the data cannot say much."""
    messages = []
    maximum = _levels_where(data.far <= 0) if "far" in data and FAR_LEVEL in data.far.dims else ""
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
    held = condition.any([dim for dim in condition.dims if dim != FAR_LEVEL])
    levels = held[FAR_LEVEL].values[held.values]
    if levels.size == 0:
        return ""
    return f"{levels[0]:.3g}" if levels.size == 1 else f"{levels.min():.3g} to {levels.max():.3g}"
