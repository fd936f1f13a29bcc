"""The people who drive the errors, and how many more would settle what is open."""

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import FAR_LEVEL, GROUP, IDENTITY, MODEL, require
from frkit.evaluation.contributions import contributions
from frkit.intervals import band, compare
from frkit.intervals.contributions import NEW_PEOPLE
from frkit.reporting.tables import Table, number
from frkit.reporting.work import SURE, Section, Work, level_words, of_model, strictest
from frkit.studies import sample_size

MOST_PEOPLE, MOST_PLANS = 10, 3


def drivers(work: Work) -> Section:
    """Who drives the errors."""
    require(work.named, "the comparisons do not say who the images show")
    section = Section("People who drive the errors")
    found = contributions(work.scores, by=work.by, **work.at, **work.options)
    section.results["contributions"] = found
    for (name, own), (_, rates) in zip(work.of_models(found), work.of_models(work.data)):
        one = own.isel(strictest(rates))
        section.tables[f"False rejections{of_model(name)} {level_words(one)}"] = _top(
            one, "frr_share"
        )
        section.tables[f"False accepts{of_model(name)} {level_words(one)}"] = _top(one, "far_share")
        section.figures[f"Shares in the FRR{of_model(name)} {level_words(one)}"] = partial(
            plot.contributions, one
        )
        share = np.sort(np.nan_to_num(one.frr_share.values))[::-1]
        half = int(np.searchsorted(np.cumsum(share), 0.5) + 1)
        if share.sum() > 0:
            first = one[IDENTITY].values[int(np.nanargmax(one.frr_share.values))]
            section.answers.append(
                f"Half of the FRR{of_model(name)} {level_words(one)} comes from {half} of {len(share):,} people (as if "
                f"{float(one.frr_effective):.0f} erred alike); most from {first}."
            )
    section.lines.append(
        "Look at their images: a wrong label shows up here first (fk.worst_pairs lists the pairs)."
    )
    return section


def _top(one: xr.Dataset, share: str) -> Table:
    """The people with the largest share of the errors."""
    frame = one[[share, "frr_identity"]].to_dataframe().reset_index()
    frame = (
        frame[frame[share] > 0].sort_values(share, ascending=False, kind="stable").head(MOST_PEOPLE)
    )
    columns = {
        "images": frame["images"].astype(str),
        "share of the errors": frame[share].map("{:.1%}".format),
    }
    if share == "frr_share":
        columns["own FRR"] = frame["frr_identity"].map(number)
    columns = ({GROUP: frame[GROUP]} if GROUP in frame else {}) | columns
    return Table(
        pd.DataFrame(columns).set_axis(pd.Index(frame[IDENTITY].astype(str), name="person"), axis=0)
    )


def plans(work: Work) -> Section:
    """How many more people would settle what is open."""
    require(work.along == FAR_LEVEL, "a plan is made for a FAR level, and thresholds were given")
    work.need_all_impostors()
    section = Section("How many more people")
    level = float(work.data[FAR_LEVEL].isel(strictest(work.data)))
    source = work.scores if work.faces is None else work.faces
    for words, goal, part, options in _open_questions(work, level)[:MOST_PLANS]:
        one = source.sel({MODEL: part}) if part else source
        plan = sample_size(
            one, goal, far=level, level=work.level, **options, **work.given("weighting")
        )
        section.results[words] = plan
        section.figures[words] = partial(plot.sample_size, plan)
        section.answers.append(f"{words} at FAR {level:g}: {_more_people(plan)}.")
        section.lines.append(plan.attrs["answer"])
    return section


def _more_people(plan: xr.Dataset) -> str:
    """How many people are missing, in words."""
    if np.isnan(plan.n_identities):
        return "this cannot be decided with data like these"
    needed, have = int(plan.n_identities), int(plan.n_identities_now)
    more = f"{needed - have:,} more people" if needed > have else "no more people than there are"
    return f"{more} ({needed:,} in all, with as many images each)"


def _open_questions(work: Work, level: float) -> list[tuple]:
    """What the data leave open at a level: words, goal, models, options of `sample_size`."""
    found = []
    at = {FAR_LEVEL: level}
    for pair in combinations(work.models, 2):
        result = compare(work.evaluation, "frr", models=pair, target=NEW_PEOPLE).sel(at)
        if float(result.p) > SURE and float(result.estimate) != 0:
            found.append((f"To tell {pair[0]} from {pair[1]}", "difference", list(pair), {}))
    if work.by is not None and isinstance(work.by, str) and work.data.sizes[GROUP] > 1:
        for name, one in work.of_models(work.evaluation):
            rates = one["empirical"].to_dataset().frr_group.sel(at)
            result = band(one, "frr_max_min", target=NEW_PEOPLE).sel(at)
            if float(result.p) > SURE and bool((rates > 0).all()):
                found.append(
                    (
                        f"To tell whether the groups{of_model(name)} differ",
                        "ratio",
                        name,
                        {"by": work.by},
                    )
                )
    if not found:
        name = work.models[0]
        words = "No difference of FRR that a plan could be made for is open. For an interval of ± 20 % around the FRR"
        found.append((f"{words}{of_model(name)}", "relative_half_width", name, {"size": 0.2}))
    return found
