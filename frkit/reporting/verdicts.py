"""Whether groups differ: two groups are named only where their own contrast is significant."""

from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import gathered_notices
from frkit.evaluation.rate_tables import RESOLVED
from frkit.findings.contents import CLEAR, NOT_TESTED, TOO_LITTLE, UNDECIDED, Tile
from frkit.findings.formats import SIGNIFICANT, p_words, say
from frkit.findings.inputs import result_of_model
from frkit.findings.tables import VALUE, Table, cells, table
from frkit.intervals import band, compare
from frkit.intervals.compare import REST, holm
from frkit.intervals.equality import IN_SEVERAL, have_enough_people
from frkit.intervals.reading import NEW_PEOPLE

RATES = {"frr": "false_rejects_group", "far": "false_accepts_group"}
MOST_GROUPS = 12  # up to so many, every two are compared; of more, each with all others


@dataclass
class Verdict:
    """What the groups' rates of one kind say about one model.

    `p` is that of equal groups and `pairs.p_holm` those of single pairs, valid for all models,
    rates and pairs of a report together. `largest` is the upper end of highest over lowest rate.
    `in_several`: so many people stand in several groups that there is no test.
    """

    model: str
    rate: str
    p: float
    largest: float
    pairs: pd.DataFrame
    errors: pd.Series
    in_several: bool

    @property
    def is_tested(self):
        """Whether there is a test of equal groups."""
        return not np.isnan(self.p)

    @property
    def differ(self):
        """Whether equal groups are rejected."""
        return self.p <= SIGNIFICANT

    @cached_property
    def clearest(self):
        """The significant pair with the smallest p, the higher rate first; None without one."""
        with np.errstate(divide="ignore"):  # of a group without an error
            size = -np.abs(np.log(self.pairs.ratio))
            pair = self.pairs.assign(size=size).sort_values(["p_holm", "size"]).iloc[0]
            if not (self.differ and pair.p_holm <= SIGNIFICANT):
                return None
            higher, lower = pair.a, pair.b
            ratios = pair[["ratio", "ratio_lower", "ratio_upper"]].to_numpy(float)
            if pair.estimate < 0:
                higher, lower = lower, higher
                ratios = 1 / ratios[[0, 2, 1]]
        errors = [self._errors_of(higher, lower), self._errors_of(lower, higher)]
        is_few = errors[1] < RESOLVED
        names = {"higher": higher, "lower": lower, "lower_is_few": is_few}
        return names | {"ratios": ratios, "errors": errors, "p": max(self.p, pair.p_holm)}

    def _errors_of(self, name, other):
        """Errors of a group, or of all groups but the other one."""
        return int(self.errors.drop(other).sum() if name == REST else self.errors[name])

    @property
    def n_errors(self):
        """All errors, if there are fewer than ten on both sides or in every group; otherwise 0."""
        errors = self.clearest["errors"] if self.clearest else self.errors
        return int(sum(errors)) if max(errors) < RESOLVED else 0

    @property
    def rank(self):
        """What stands first: many errors, a pair that is named, a small p."""
        return self.n_errors > 0, not self.clearest, self.p

    @property
    def sentence(self):
        """The verdict in words, as far as it was tested."""
        return say("verdict", self, REST)


def verdicts_of(inputs):
    """The verdict of each model and rate at the leading level.

    Returns
    -------
    list of Verdict
    dict of str to str
        Which groups are left out, by rate.
    dict
        The comparisons of groups, by rate.
    """
    level = {along: [position] for along, position in inputs.leading.items()}
    evaluation = inputs.evaluation.isel(level)
    which = "all" if inputs.rates.sizes["group"] <= MOST_GROUPS else "rest"
    verdicts = []
    left_out = {}
    comparisons = {}
    for rate, errors in RATES.items():
        names = evaluation["empirical"]["group"].values
        enough = have_enough_people(evaluation, [f"{rate}_group"], NEW_PEOPLE)
        small = names[~enough].tolist()
        if small:
            left_out[rate] = say("groups_left_out", small)
        if enough.sum() < 2:
            continue
        with gathered_notices():
            disparity = band(evaluation, f"{rate}_max_min", level=inputs.level)
            pairs = compare(evaluation, f"{rate}_group", groups=which, level=inputs.level)
        comparisons[rate] = pairs
        count = inputs.rates[errors].isel(inputs.leading)
        for name, result in inputs.by_model(disparity):
            verdict = Verdict(
                name,
                rate,
                p=result.p.item(),
                largest=result.upper.fillna(np.inf).item(),
                pairs=result_of_model(pairs.isel({inputs.along: 0}), name).to_dataframe(),
                errors=result_of_model(count, name).to_series().drop(small),
                in_several=disparity.attrs.get("warning") == IN_SEVERAL,
            )
            verdicts.append(verdict)
    for verdict, p in zip(verdicts, holm(np.array([verdict.p for verdict in verdicts]))):
        verdict.p = p
    return verdicts, left_out, comparisons


def tile_of(rate, verdicts, left_out, level):
    """The tile of a rate: its clearest difference, or what the data allow.

    verdicts : of all models and rates, whose p allow for each other.
    """
    of_rate = [verdict for verdict in verdicts if verdict.rate == rate]
    tested = [verdict for verdict in of_rate if verdict.is_tested]
    differ = sorted((verdict for verdict in tested if verdict.differ), key=attrgetter("rank"))
    if differ:
        text = say("of_model", differ[0])
    elif tested:
        text = say("compatible", max(tested, key=attrgetter("largest")))
    else:
        text = of_rate[0].sentence if of_rate else left_out[rate]
    is_clear = bool(differ) and not differ[0].n_errors
    state = CLEAR if is_clear else UNDECIDED
    if not tested:
        has_errors = any(verdict.errors.sum() > 0 for verdict in of_rate)
        state = NOT_TESTED if has_errors else TOO_LITTLE
    n_tests = sum(verdict.is_tested for verdict in verdicts)
    n_pairs = max((len(verdict.pairs) for verdict in tested), default=0)
    note = say("group_tests", level, n_tests, n_pairs)
    value = say("groups_value", differ, len(tested), level)
    return Tile(f"Do groups differ in {rate.upper()}?", value, text, state, note)


def table_of(verdicts):
    """A row for each model and rate: the verdict, and p."""
    columns = {
        "model": [verdict.model for verdict in verdicts],
        "rate": [verdict.rate.upper() for verdict in verdicts],
        "verdict": [verdict.sentence for verdict in verdicts],
        "p (Holm)": cells([verdict.p for verdict in verdicts], p_words),
    }
    return Table(pd.DataFrame(columns, dtype=object))


def table_of_pairs(verdicts, comparisons):
    """A row for each pair of groups: the ratio of their rates, and p.

    p of a pair is at least that of equal groups.
    """
    results = []
    for rate, pairs in comparisons.items():
        p = [verdict.p for verdict in verdicts if verdict.rate == rate]
        ends = {"ratio": "estimate", "ratio_lower": "lower", "ratio_upper": "upper"}
        ratios = pairs[[*ends, "p_holm", "resolved"]].rename(ends)
        p_of_models = xr.DataArray(p, dims="model") if "model" in pairs.dims else p[0]
        ratios["p_holm"] = np.maximum(ratios.p_holm, p_of_models)
        results.append(ratios.assign_attrs(pairs.attrs, contrast="ratio", scale="log", fair=1))
    return table(*results).rename(columns={VALUE: "ratio"})
