"""Attributes and warnings of a result: what made its evaluation, whom it is about, its limits."""

import numpy as np
import xarray as xr

from frkit.base import Notice, listed, require, warn
from frkit.evaluation.cautions import small_groups
from frkit.evaluation.nodes import NO_EVALUATION, provenance_of
from frkit.evaluation.rate_tables import RESOLVED
from frkit.measures.registry import variables_read
from frkit.resampling import SCHEMES

AVERAGES = {  # weighting of an evaluation -> how its rates average
    "identity": "mean over people",
    "pair": "pooled over pairs",
    "p_k": "mean over people with given weights",
}
AVERAGED = ("far", "frr", "eer", "far_group", "frr_group", "eer_group", "far_cross")
NEW_PEOPLE, THESE_PEOPLE = "new people", "these people"
FEW_ERRORS = "fewer than ten false accepts or false rejects"
NONFINITE = "replicates that are not finite"
NAMELESS = (
    "these pairs carry no identities: where pairs share people, intervals are too narrow (they "
    "cover .33 to .84 of the time at nominal .95), and no p-value of groups is given"
)
ERRORS_OF = {
    "far_group": "false_accepts_group",
    "frr_group": "false_rejects_group",
    "far_cross": "false_accepts_cross",
}
KINDS = {
    "far_level": "at FAR",
    "threshold_level": "at threshold",
    "group": "of group",
    "model": "of model",
}
MOST_COMBINATIONS = 4  # sets of levels, groups and models that a caution names


def data_of(evaluation):
    """The node `empirical`; refuse what is not an evaluation."""
    is_one = isinstance(evaluation, xr.DataTree) and "empirical" in evaluation.children
    require(is_one, NO_EVALUATION)
    return evaluation["empirical"].to_dataset()


# --- labels of a result --------------------------------------------------------------------------


def with_attrs(result, evaluation, measure, method, **attrs):
    """The result with attrs that name the measure, the method and whom the interval is about.

    A result without dims, such as the EER of one model, gets a dim with the measure's name: that
    makes it one row of `to_dataframe()`.

    attrs: more of them, such as the level. A `target` says that no replicates were read: then the
    interval is about new people, or these; otherwise about what the scheme draws.
    """
    provenance = provenance_of(evaluation)
    names: tuple[str, ...] = ("scheme", "target", "n", "weighting")
    if "target" in attrs:
        names = ("weighting",)
        people = provenance.get("n_people", provenance.get("n_identities"))
        if attrs["target"] == THESE_PEOPLE:
            attrs["target"] = f"these {people} people, new images"
        elif not people:
            attrs["target"] = "independent pairs (too narrow if pairs share people)"
            attrs["warning"] = NAMELESS
    about = {name: provenance.get(name) for name in names} | {
        "measure": measure.name,
        "label": _label(measure, provenance.get("weighting")),
        "method": method,
        "scale": measure.scale,
        "fair": measure.fair,
    }
    if not result.dims and isinstance(result, xr.Dataset):
        result = result.assign_coords(measure=[measure.name])
    return result.assign_attrs(
        {name: value for name, value in (about | attrs).items() if value is not None}
    )


def with_resolved(result, measure, evaluation):
    """Add `resolved`, of the groups that the measure reads, where it has the dims of the result.

    FARs and thresholds rest on no genuine pair, FRRs at a fixed threshold on no impostor pair.
    """
    data = data_of(evaluation)
    reads = variables_read(measure, data)
    dims = {*result.estimate.dims}
    if "resolved" not in data or not {*data.resolved.dims} <= dims:
        return result
    resolved = data.resolved.variable
    if all(name.startswith(("far", "threshold")) for name in reads):
        resolved = data.false_accepts.variable >= RESOLVED
    elif "threshold_level" in dims and all(name.startswith("frr") for name in reads):
        resolved = data.false_rejects.variable >= RESOLVED
    for name in {*reads} & {*ERRORS_OF}:
        errors = data[ERRORS_OF[name]]
        groups = {"group", "reference_group"} & {*errors.dims} - dims
        resolved = resolved & (errors.variable >= RESOLVED).all(groups)
    return result.assign(resolved=resolved)


def _label(measure, weighting):
    """Words for an axis; a rate says how it averages."""
    average = AVERAGES.get(weighting)
    if average and measure.name in AVERAGED:
        return f"{measure.words} ({average})"
    return measure.label or measure.name


# --- cautions ------------------------------------------------------------------------------------


def warn_of(evaluation, measure, result):
    """Warn where the interval is less certain than its level."""
    notices = [*_cautions(data_of(evaluation), measure, result)]
    if notices:
        result.attrs["notices"] = [notice.text for notice in notices]
    for notice in notices:
        warn(notice.text, notice.code)


def _cautions(data, measure, result):
    """Messages on schemes, levels, groups and models for which the interval is not reliable."""
    scheme = SCHEMES.get(result.attrs.get("scheme"))  # of replicates that were read, if any
    draws_people = scheme is not None and scheme.target.startswith("new identities")
    if draws_people and measure.name.startswith("far_"):
        yield Notice(
            f"bands of {measure.name} that draw people can be up to √3 times too wide at low FAR, "
            "where single pairs decide"
        )
    for sentence, condition, advice, code in _conditions(data, measure, result):
        where = words_of_condition(condition)
        if where:
            yield Notice(f"{sentence} {where}{advice}", code)
    left_out = result.attrs.get("left_out")
    if left_out:
        yield Notice(
            f"{measure.name} is computed without {listed(left_out)}: a group takes part if two of "
            "its people were compared, for FAR three"
        )
    few_people = result.attrs.get("few_people")
    if few_people:
        yield Notice(
            f"too few people in {listed(few_people)}: a group of one person has no interval, and "
            "that of two says next to nothing"
        )
    if result.estimate.isnull().any():
        yield from map(Notice, small_groups(data))
    if "warning" in result.attrs and "p" in result and result.p.isnull().all():
        yield Notice(result.attrs["warning"])
    if "n_nonfinite" in result:  # where the estimate itself is not finite there is a message
        most = int(result.n_nonfinite.where(np.isfinite(result.estimate), 0).max())
        draws = "draws of the floor" if "limit" in result else "replicates"
        if most > 0:
            yield Notice(
                f"up to {most} {draws} of {measure.name} are not finite: infinite ones count as "
                "the largest, undefined ones (NaN) are left out; n_nonfinite counts them at each "
                "place",
                NONFINITE,
            )


def _conditions(data, measure, result):
    """What may happen at some levels, groups and models, where it does, and what to do then."""
    group_rates = [name for name in variables_read(measure, data) if name in ERRORS_OF]
    has_errors = True
    if measure.fair is not None:
        left_out = result.attrs.get("left_out")
        for name in group_rates:
            advice = (
                f": a ratio to that rate is infinite or undefined there, and {measure.name} rests "
                "on a rate without observed errors (not resolved). Read it at levels where every "
                "group has errors, or merge groups"
            )
            rates = data[name].drop_sel(group=left_out) if left_out else data[name]
            no_error = rates == 0
            if no_error.any():
                groups = {"group", "reference_group"} & {*rates.dims}
                has_errors = has_errors & ~no_error.any(groups)
                yield f"no error in {name}", no_error, advice, ""
    if "resolved" in result and not result.resolved.all():
        in_groups = group_rates and "group" not in result.estimate.dims
        advice = ": marked as not resolved, and dotted in figures; take more pairs, or other levels"
        advice = f", in some group{advice}" if in_groups else advice
        is_few = has_errors & ~result.resolved & result.estimate.notnull()
        yield f"{measure.words}: {FEW_ERRORS}", is_few, advice, FEW_ERRORS
    if "upper" not in result:
        return
    if measure.name.startswith("threshold"):
        advice = (
            " is open: too few impostor pairs are accepted or rejected there, or too many have the "
            "same score, to say where the true threshold ends"
        )
        yield "the interval of the threshold", np.isinf(result.upper - result.lower), advice, ""
    if measure.name.startswith("frr"):
        advice = (
            ", because fewer than three pairs of people are accepted there and the true threshold "
            "may be any higher one: take more people, or a higher FAR"
        )
        at_one = (result.upper == 1) & (result.estimate < 1)
        yield f"{measure.words}: the interval reaches 1", at_one, advice, ""
    if "n_nonfinite" in result:
        missing = result.estimate.notnull() & result.lower.isnull() & result.upper.isnull()
        advice = (
            ": most replicates contain no such pair; name no method, which reads no replicates, or "
            "draw within groups, Resampling(..., strata='group')"
        )
        yield f"no interval of {measure.words}", missing, advice, ""


def words_of_condition(condition):
    """The levels, groups and models where a condition is true, in words; empty if there are none.

    Groups at the same levels are named together, and so are models with the same groups.
    """
    dims = [dim for dim in KINDS if dim in condition.dims]
    if not dims or not condition.any():
        return ""
    is_there = condition.any({*condition.dims} - {*dims}).transpose(*dims)
    places = is_there.to_series().rename("is_there").reset_index()
    places = places[places["is_there"]]
    for dim in dims:
        others = [column for column in places if column != dim]
        places = places.groupby(others, sort=False)[dim].agg(list).reset_index()
        places[dim] = [_labels(condition, dim, labels) for labels in places[dim]]
    texts = [" ".join(words) for words in places[dims].values]
    more = len(texts) - MOST_COMBINATIONS
    return "; ".join(texts[:MOST_COMBINATIONS]) + (f"; and {more} more" if more > 0 else "")


def _labels(condition, dim, labels):
    """Labels of one dim in words, "at FAR 0.001 to 0.1"; levels in between count, too."""
    if dim not in ("far_level", "threshold_level"):
        return f"{KINDS[dim]} {listed(labels)}"
    levels = condition[dim].values
    first, last = min(labels), max(labels)
    n_between = np.count_nonzero((levels >= first) & (levels <= last))
    if 1 < len(labels) == n_between:
        return f"{KINDS[dim]} {first:.3g} to {last:.3g}"
    return f"{KINDS[dim]} {', '.join(f'{level:.3g}' for level in labels)}"
