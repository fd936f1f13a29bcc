"""Whether groups differ: two groups are named only where their own contrast is significant."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from frkit.evaluation.tables import RESOLVED
from frkit.intervals import band, compare
from frkit.intervals.compare import REST, holm
from frkit.intervals.equality import with_two_people
from frkit.intervals.reading import NEW_PEOPLE
from frkit.measures import measure
from frkit.reporting.contents import CLEAR, MOST_SENTENCES, TOO_LITTLE, UNDECIDED, Tile
from frkit.reporting.formats import SIGNIFICANT, level_words, p_words, ratio_cell, say
from frkit.reporting.inputs import no_cautions, people_of_groups, result_of_model
from frkit.reporting.tables import Cell, Table

RATES = {"frr": "false_rejects_group", "far": "false_accepts_group"}
MOST_GROUPS = 12  # of which every two are compared; of more, each with all others


@dataclass
class Verdict:
    """What the groups' rates of one kind say about one model.

    `p` is that of equal groups and `pairs.p_holm` those of single pairs, valid for all models,
    rates and pairs of a report together. `largest` is the upper end of highest over lowest rate.
    """

    model: str
    rate: str
    p: float
    largest: float
    pairs: xr.Dataset
    errors: pd.Series

    @property
    def differ(self):
        """Whether equal groups are rejected."""
        return self.p <= SIGNIFICANT

    @property
    def clearest(self):
        """The significant pair with the smallest p, the higher rate first; None without one.

        Its names, the ratio of higher to lower rate, and whether the lower one has few errors.
        """
        if not self.differ:
            return None
        pairs = self.pairs.to_dataframe()
        with np.errstate(divide="ignore"):  # of a group without an error
            pairs["distance"] = -np.abs(np.log(pairs.ratio))
        pair = pairs.sort_values(["p_holm", "distance"]).iloc[0]
        if not pair.p_holm <= SIGNIFICANT:
            return None
        names = [pair.a, pair.b]
        ratios = pair[["ratio", "ratio_lower", "ratio_upper"]].to_numpy(float)
        if pair.estimate < 0:
            names = names[::-1]
            with np.errstate(divide="ignore"):
                ratios = 1 / ratios[[0, 2, 1]]
        higher, lower = names
        few = lower != REST and self.errors[lower] < RESOLVED
        p = max(self.p, pair.p_holm)
        errors = [self._errors_of(name, names) for name in names]
        few_in_both = sum(errors) if max(errors) < RESOLVED else None
        return {
            "higher": higher,
            "lower": lower,
            "ratios": ratios,
            "few": few,
            "few_in_both": few_in_both,
            "p": p,
        }

    def _errors_of(self, name, pair):
        """Errors of one side of a pair: of a group, or of all groups that are not the other."""
        if name != REST:
            return int(self.errors[name])
        return int(self.errors.drop([other for other in pair if other != REST]).sum())

    @property
    def rests_on_few(self):
        """Whether there are fewer than ten errors on both sides, or in every group."""
        clearest = self.clearest
        if clearest is None:
            return bool((self.errors < RESOLVED).all())
        return clearest["few_in_both"] is not None

    @property
    def sentence(self):
        """The verdict in words, as far as it was tested."""
        if np.isnan(self.p):
            return say("groups_untested", self.rate, self.errors)
        if not self.differ:
            return say("groups_alike", self.largest)
        if self.clearest is None:
            few = self.errors.sum() if self.rests_on_few else None
            return say("groups_differ", self.p, few)
        return say("group_pair", self.rate, self.clearest, REST)


def verdicts_of(inputs):
    """The verdict of each model and rate at the leading level.

    Returns
    -------
    list of Verdict
    list of str
        What cannot be decided.
    dict
        The comparisons of groups, by rate.
    """
    level = {along: [place] for along, place in inputs.leading.items()}
    evaluation = inputs.evaluation.isel(level)
    which = "all" if inputs.rates.sizes["group"] <= MOST_GROUPS else "rest"
    verdicts = []
    open_questions = []
    comparisons = {}
    for rate, errors in RATES.items():
        options = {"level": inputs.level}
        usable, left_out = comparable(evaluation, f"{rate}_max_min")
        open_questions += _why_left_out(inputs, rate, left_out, usable)
        if len(usable) < 2:
            continue
        with no_cautions():
            disparity = band(evaluation, f"{rate}_max_min", **options).isel({inputs.along: 0})
            comparisons[rate] = compare(evaluation, f"{rate}_group", groups=which, **options)
        pairs = comparisons[rate].isel({inputs.along: 0})
        count = inputs.rates[errors].isel(inputs.leading)
        for name, disparity_of_model in inputs.by_model(disparity):
            verdicts.append(
                Verdict(
                    name,
                    rate,
                    disparity_of_model.p.item(),
                    disparity_of_model.upper.item(),
                    result_of_model(pairs, name),
                    result_of_model(count, name).to_series().drop(left_out),
                )
            )
    for verdict, p in zip(verdicts, holm(np.array([verdict.p for verdict in verdicts]))):
        verdict.p = p
    return verdicts, list(dict.fromkeys(open_questions)), comparisons


def comparable(evaluation, name):
    """The groups that a disparity compares, and those whose rate cannot be estimated."""
    with_rates, left_out = with_two_people(evaluation, measure(name), NEW_PEOPLE)
    return with_rates["empirical"]["group"].values.tolist(), left_out


def _why_left_out(inputs, rate, groups, usable):
    """A sentence for groups of one person, one for others whose rate cannot be estimated.

    The last one names the only group that there is besides, if it is one.
    """
    people = people_of_groups(inputs) if groups else {}
    groups_of_one_person = [group for group in groups if people.get(group, 0) == 1]
    others = [group for group in groups if group not in groups_of_one_person]
    kinds = [left_out for left_out in (groups_of_one_person, others) if left_out]
    only = usable[0] if len(usable) == 1 else ""
    return [
        say(
            "groups_left_out",
            rate,
            left_out,
            left_out is groups_of_one_person,
            left_out is kinds[-1] and only,
        )
        for left_out in kinds
    ]


def tile_of(verdicts, open_questions, level):
    """The tile of the first screen."""
    tested = [verdict for verdict in verdicts if not np.isnan(verdict.p)]
    differ = [verdict for verdict in tested if verdict.differ]
    differ.sort(key=lambda verdict: (verdict.rests_on_few, not verdict.clearest, verdict.p))
    is_clear = bool(differ) and not differ[0].rests_on_few
    sentences = [say("of_model", each.model, each.rate, each.sentence) for each in differ]
    more = len(sentences) - MOST_SENTENCES
    if more > 0:
        sentences[MOST_SENTENCES:] = [say("more_differences", more)]
    largest = {}
    for verdict in tested:
        if not verdict.differ:
            largest[verdict.rate] = max(verdict.largest, largest.get(verdict.rate, 0))
    if largest:
        sentences.append(say("compatible", largest, bool(differ)))
    sentences += dict.fromkeys(verdict.sentence for verdict in verdicts if np.isnan(verdict.p))
    rates = [rate for rate in RATES if rate in {verdict.rate for verdict in tested}]
    value = say("groups_value", differ[:1], is_clear, rates, level)
    state = CLEAR if is_clear else UNDECIDED if tested else TOO_LITTLE
    if not tested:  # which the value says
        open_questions = [line.removeprefix("Cannot be decided: ") for line in open_questions]
    text = "\n".join([*sentences, *open_questions])
    has_interval = any(each.clearest and not each.clearest["few"] for each in differ)
    n_pairs = max((verdict.pairs.sizes["contrast"] for verdict in tested), default=0)
    note = say("group_tests", level, len(tested), rates, n_pairs, has_interval)
    return Tile("Do groups differ?", value, text, state, note)


def other_tests(inputs):
    """A sentence on p below 0.05 that the verdict is not about: of other levels, and of EERs."""
    significant = []
    for rate in (*RATES, "eer"):
        name = "eer_spread" if rate == "eer" else f"{rate}_max_min"
        if len(comparable(inputs.evaluation, name)[0]) < 2:
            continue
        with no_cautions():
            result = inputs.band(name)
        for model, p in inputs.by_model(result.p):
            tests = [p]
            if inputs.along in p.dims:
                others = p.drop_isel({inputs.along: inputs.leading[inputs.along]})
                tests = [others.isel({inputs.along: k}) for k in range(others.size)]
            for test in tests:
                if test <= SIGNIFICANT:
                    level = level_words(test) if inputs.along in p.dims else ""
                    row = {"model": model, "rate": rate, "level": level, "p": float(test)}
                    significant.append(row)
    significant.sort(key=lambda row: row["p"])
    return say("other_tests", significant) if significant else ""


def table_of(verdicts):
    """A row for each model and rate: the verdict, and p."""
    rows = [
        {
            "model": verdict.model,
            "rate": verdict.rate.upper(),
            "verdict": verdict.sentence,
            "p (Holm)": Cell(p_words(verdict.p), {"": verdict.p}),
        }
        for verdict in verdicts
    ]
    return Table(pd.DataFrame(rows, dtype=object))


def table_of_pairs(verdicts):
    """A row for each pair of groups: the ratio of their rates, and p."""
    rows = []
    for verdict in verdicts:
        for pair in verdict.pairs.to_dataframe().itertuples():
            p = np.maximum(pair.p_holm, verdict.p)
            ratios = {"": pair.ratio, "lower": pair.ratio_lower, "upper": pair.ratio_upper}
            cells = {
                "model": verdict.model,
                "rate": verdict.rate.upper(),
                "groups": f"{pair.a} / {pair.b}",
                "ratio": Cell(ratio_cell(ratios.values()), ratios),
                "p (Holm)": Cell(p_words(p), {"": p}),
            }
            rows.append(cells)
    return Table(pd.DataFrame(rows, dtype=object))
