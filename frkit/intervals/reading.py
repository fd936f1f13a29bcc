"""What an interval needs to know of an evaluation: a measure on its nodes, its provenance, its cautions."""

import json
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.base import (
    FAR_LEVEL,
    GROUP,
    MODEL,
    REPLICATE,
    THRESHOLD_LEVEL,
    listed,
    require,
    require_inside,
    warn,
)
from frkit.evaluation.nodes import small_groups
from frkit.evaluation.tables import RESOLVED
from frkit.intervals.contributions import NEW_PEOPLE, THESE_PEOPLE
from frkit.measures.registry import Measure, rates_read
from frkit.resampling import SCHEMES

ERRORS_OF = {
    "far_group": "false_accepts_group",
    "frr_group": "false_rejects_group",
    "far_cross": "false_accepts_cross",
}
_KEPT: dict[int, dict] = {}  # of each evaluation that is there
_ANEW = ContextVar("anew", default=False)


class Values(NamedTuple):
    """One measure of the data, of replicates (or of draws from the law of the rates), and what these vary about."""

    estimate: xr.DataArray
    centre: xr.DataArray
    replicates: xr.DataArray


def tails(level: float) -> np.ndarray:
    """Probabilities of the two ends of an interval."""
    require_inside("level", level, 0, 1)
    return np.array([(1 - level) / 2, (1 + level) / 2])


def provenance(evaluation: xr.DataTree) -> dict:
    """Read what an evaluation says about its own making.

    Parameters
    ----------
    evaluation : what `evaluate(...)` returned.

    Returns
    -------
    dict : scheme, n, seed, target in words, weighting, sizes, versions, digests of the labels.

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
    known = getattr(evaluation, "attrs", ())
    require(
        "provenance" in known, "this evaluation carries no provenance: pass what evaluate returned"
    )
    return json.loads(evaluation.attrs["provenance"])


def values_of(evaluation: xr.DataTree, chosen: Measure) -> Values:
    """Apply a measure to the data, the V-statistic and the replicates."""
    children = evaluation.children if isinstance(evaluation, xr.DataTree) else ()
    for name in ("empirical", "vstatistic"):
        require(
            name in children,
            f"this is no evaluation: it has no node {name!r}; pass what evaluate(...) returned",
        )
    chosen(evaluation["empirical"].to_dataset())  # says what it lacks
    require(
        "replicates" in children,
        "this evaluation has no replicates: call evaluate(..., resampling=Resampling(...))",
    )
    known = provenance(evaluation)
    require(
        known.get("varies", True),
        f"scheme {known.get('scheme')!r} cannot vary these data: there is nothing to draw from but one image of each "
        "person on each side, one person in each stratum, or two people, so that of "
        f"{known.get('n')} replicates all that hold impostors are the data and every interval from them would have "
        "width zero; draw more people with Resampling('identity', n=...), without strata, or name no method, which "
        "needs no replicates",
    )
    nodes = ("empirical", "vstatistic", "replicates")
    values = Values(*(chosen(evaluation[name].to_dataset()) for name in nodes))
    n = values.replicates.sizes.get(REPLICATE, 0)
    require(
        n >= 2, f"an interval needs at least 2 replicates, got {n}: ask for Resampling(..., n=200)"
    )
    return _eased(values, SCHEMES[known["scheme"]].pair_noise) if chosen.binned else values


def _eased(values: Values, pair_noise: float) -> Values:
    """Values of a measure of histograms, whose replicates are biased more than the data are.

    The noise of single pairs lies a bin's share apart from the truth, which a divergence never forgives. A pair's
    count in a replicate is a product of two (or four) counts, so that its noise there is `pair_noise` times as large.
    Only that part of the replicates' bias is the data's own: the centre moves towards their mean accordingly.
    """
    mean = values.replicates.mean(REPLICATE)
    return values._replace(centre=mean + (values.centre - mean) / pair_noise)


def attributes(
    evaluation: xr.DataTree,
    chosen: Measure,
    method: str,
    level: float | None,
    target: str | None = None,
) -> dict:
    """What every interval says about itself; target: whose rates it is about, where no replicates are read."""
    known = provenance(evaluation)
    attrs = {
        key: known[key]
        for key in ("scheme", "target", "n", "weighting")
        if known.get(key) is not None
    }
    if target is not None:
        people = known.get("n_identities")
        new = NEW_PEOPLE if people else "new pairs that share nobody (too narrow where they do)"
        these = f"these {people} people, new images"
        attrs = {
            "target": these if target == THESE_PEOPLE else new,
            "weighting": known["weighting"],
        }
    attrs |= {
        "measure": chosen.name,
        "label": chosen.label or chosen.name,
        "method": method,
        "scale": chosen.scale,
    }
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
    resolved, read = data.resolved, rates_read(chosen, data)
    for name, errors in ERRORS_OF.items():
        if errors in data and name in read:
            own = data[errors] >= RESOLVED
            resolved = resolved & own.all(
                [dim for dim in own.dims if str(dim).endswith(GROUP) and dim not in dims]
            )
    return resolved


def with_fair(result: xr.Dataset, chosen: Measure) -> xr.Dataset:
    """Add `includes_fair` for a disparity measure: whether the end towards the fair value reaches it."""
    if chosen.fair is None:
        return result
    above = result.estimate >= chosen.fair
    reaches = xr.where(above, result.lower <= chosen.fair, result.upper >= chosen.fair)
    known = result.estimate.notnull() & result.lower.notnull() & result.upper.notnull()
    return result.assign(
        includes_fair=reaches.where(known)
    )  # missing, not False, where an end cannot be had


@contextmanager
def each_time() -> Iterator[None]:
    """Within it every caution is given, however often it was said before: for figures that are drawn anew."""
    before = _ANEW.set(True)
    try:
        yield
    finally:
        _ANEW.reset(before)


def warn_of(evaluation: xr.DataTree, chosen: Measure, result: xr.Dataset) -> None:
    """Say everything that makes this interval mean less than its level says, each thing once for an evaluation."""
    data = evaluation["empirical"].to_dataset()
    messages = _scheme_cautions(result.attrs) + _error_cautions(data, chosen, result)
    if bool(result.estimate.isnull().any()):
        messages += small_groups(data)
    most = int(result.n_nonfinite.max()) if "n_nonfinite" in result else 0
    if most > 0:
        messages.append(
            f"up to {most} replicates of {result.attrs['measure']} are not finite: infinite ones count as the largest, "
            "undefined ones (NaN) are left out; n_nonfinite says how many at each place"
        )
    said = kept_with(evaluation).setdefault("said", set())
    for message in messages:
        if message not in said or _ANEW.get():
            said.add(message)
            warn(message)


def kept_with(evaluation: xr.DataTree) -> dict:
    """What is remembered of an evaluation for as long as it is there."""
    if id(evaluation) not in _KEPT:
        _KEPT[id(evaluation)] = {}
        weakref.finalize(evaluation, _KEPT.pop, id(evaluation), None).atexit = False
    return _KEPT[id(evaluation)]


def _scheme_cautions(attrs: dict) -> list[str]:
    """What the scheme cannot do for this measure and this method."""
    name, scheme = (
        attrs["measure"],
        SCHEMES.get(attrs.get("scheme")),
    )  # of replicates that were read, if any
    if (
        scheme is None
        or not scheme.target.startswith("new identities")
        or not name.startswith("far_")
    ):
        return []
    return [
        f"bands of {name} that draw people can be up to √3 times too wide at low FAR, where single pairs decide"
    ]


def _error_cautions(data: xr.Dataset, chosen: Measure, result: xr.Dataset) -> list[str]:
    """Levels, groups and models with too few errors to say much."""
    messages, of_groups = [], [name for name in rates_read(chosen, data) if name in ERRORS_OF]
    if chosen.fair is not None:
        for name in of_groups:
            where = _where(data[name] == 0)
            if where:
                messages.append(
                    f"no error in {name} {where}: a ratio to that rate is infinite or undefined there, and "
                    f"{chosen.name} rests on a rate nobody has seen. Read it at levels at which every "
                    "group has errors, or merge groups"
                )
    where = _where(~result.resolved) if "resolved" in result else ""
    if where:
        where += ", in some group" if of_groups and GROUP not in result.estimate.dims else ""
        messages.append(
            f"fewer than ten errors {where}: marked as not resolved and drawn grey; take more pairs, or other levels"
        )
    return messages


def _where(condition: xr.DataArray) -> str:
    """The levels, groups and models at which a condition holds, in words; empty where it holds nowhere."""
    if not bool(condition.any()):
        return ""
    words = []
    for dim in condition.dims:
        held = condition.any([other for other in condition.dims if other != dim])
        names = held[dim].values[held.values]
        if dim in (FAR_LEVEL, THRESHOLD_LEVEL):
            many = (
                f"{names.min():.3g} to {names.max():.3g}" if len(names) > 1 else f"{names[0]:.3g}"
            )
            words.insert(0, f"at {'FAR' if dim == FAR_LEVEL else 'threshold'} {many}")
        elif dim in (GROUP, MODEL):
            words.append(f"of {dim} {listed(names)}")
    return " ".join(words)
