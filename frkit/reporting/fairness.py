"""Groups: their rates, measures of disparity, SFI/CFI/DFI, N-Sigma and RLB."""

from functools import partial

import numpy as np
import xarray as xr

from frkit import plot
from frkit.base import FAR_LEVEL, GROUP, MODEL, InputError, require
from frkit.data.labels import attributes_of
from frkit.indices import fairness_indices
from frkit.intervals import band, compare, fair_floor, permutation_test
from frkit.intervals.contributions import NEW_PEOPLE
from frkit.measures import measure, names
from frkit.measures.registry import IDENTITY_SCALE, Measure
from frkit.nsigma import n_sigma
from frkit.reporting.tables import INDICES, number, rlb_cell, table
from frkit.reporting.work import (
    SURE,
    Section,
    Work,
    cell_of,
    level_words,
    of_model,
    of_one,
    p_text,
    strictest,
    unsaid,
)

DEALS = 999
MOST_GROUPS = 7  # in one figure: as many colours are told apart
DISPARITY = "disparity"


def groups(work: Work) -> Section:
    """Rates of the groups, their contrasts, and the worst group by name."""
    work.need_groups()
    section = Section("Groups")
    for rate in ("frr_group", "far_group", "eer_group"):
        section.results[rate] = band(work.evaluation, rate, target=NEW_PEOPLE, level=work.level)
    frr, far, eer = (
        {f"{name[:3].upper()} of the group": held} for name, held in section.results.items()
    )
    section.tables[f"Rates of the groups at one threshold for all, {work.about}"] = table(frr | far)
    section.tables[f"EER of the groups, {work.about}"] = table(eer)
    for name, one in work.of_models(work.curve):
        with unsaid():
            both = [
                band(one, rate, target=NEW_PEOPLE, level=work.level)
                for rate in ("far_group", "frr_group")
            ]
        most = np.sort(np.argsort(-both[1].estimate.mean(FAR_LEVEL).values)[:MOST_GROUPS])
        which = (
            f", the {MOST_GROUPS} with the highest FRR"
            if both[1].sizes[GROUP] > MOST_GROUPS
            else ""
        )
        both = [one.isel({GROUP: most}) for one in both]
        section.figures[f"Groups{of_model(name)}{which}"] = partial(plot.group_roc, *both)
    for rate in ("frr_group", "far_group"):
        found = []
        for name, one in work.of_models(work.evaluation):
            result = compare(one, rate, groups="all", target=NEW_PEOPLE, level=work.level)
            section.results[f"{rate}, contrasts{of_model(name)}"] = result
            section.answers.append(_worst(section.results[rate], result, rate, name))
            words = rate[:3].upper() if "a" in result.attrs else f"difference of {rate[:3].upper()}"
            result = result.assign_attrs(measure=words)
            found.append(result if not name else result.expand_dims({MODEL: [name]}))
        words = f"Differences of the groups' {rate[:3].upper()}, {work.about}"
        section.tables[words] = table(
            xr.concat(found, MODEL, combine_attrs="override") if len(found) > 1 else found[0]
        )
    return section


def _worst(rates: xr.Dataset, contrasts: xr.Dataset, rate: str, name: str) -> str:
    """The group with the highest rate at the strictest level that says something, and how sure that is."""
    rates = of_one(rates, name)
    place = strictest(rates)
    one = rates.isel(place)
    known = one.estimate.dropna(GROUP)
    if known.size < 2:
        return f"The {rate[:3].upper()}{of_model(name)} is known of fewer than two groups."
    if known.max() == known.min():
        same = f"{rate[:3].upper()}{of_model(name)} {level_words(one)}"
        return f"All groups have the same {same}: {number(known.values[0])}."
    worst, best = (
        str(known[GROUP].values[int(at)]) for at in (known.values.argmax(), known.values.argmin())
    )
    p = _p_of(contrasts.isel(place), worst, best)
    words = "clear" if p <= SURE else "open"  # NaN, of a group without pairs, is open too
    rate_words = "rejected" if rate == "frr_group" else "falsely accepted"
    return (
        f"{name + ': most' if name else 'Most'} {rate_words} {level_words(one)}: {worst}, {rate[:3].upper()} "
        f"{cell_of(one.sel({GROUP: worst}))}, least {best}, {cell_of(one.sel({GROUP: best}))}; the difference is "
        f"{words} ({p_text(p)})."
    )


def _p_of(contrasts: xr.Dataset, first: str, second: str) -> float:
    """The p-value of one contrast, allowing for the number of contrasts where there are several."""
    if "contrast" not in contrasts.dims:
        return float(contrasts.p)
    pairs = zip(contrasts["a"].values.astype(str), contrasts["b"].values.astype(str))
    (place,) = [at for at, pair in enumerate(pairs) if set(pair) == {first, second}]
    return float(contrasts.p_holm.isel(contrast=place))


def disparities(work: Work) -> Section:
    """Every registered fairness measure with interval, floor and the permutation test."""
    work.need_groups()
    section = Section("Fairness measures of error rates")
    rows, tested = [], []
    for name in names():
        chosen = measure(name)
        if chosen.fair is None or chosen.dealt or name == "auc_spread" and work.quick:
            continue
        source = (
            work.evaluation if name != "auc_spread" else work.drawn
        )  # which alone has histograms
        try:
            found = band(source, name, target=NEW_PEOPLE, level=work.level)
            noise = fair_floor(source, name, target=NEW_PEOPLE, level=work.level)
        except (
            InputError,
            AttributeError,
            KeyError,
        ) as error:  # a user's measure of other variables
            section.lines.append(f"Left out, {name}: {error}")
            continue
        section.results |= {name: found, f"{name}, floor": noise}
        rows += [found, noise.drop_vars("p") if "p" in found else noise]  # one test, not two
        tested.append(chosen)
    if not work.quick:
        rows += _permuted(work, tested, section)
    section.tables[f"Measures of disparity with {work.level:.0%} intervals, {work.about}"] = table(
        *rows
    )
    section.lines += [
        "fair model up to: what 95 of 100 perfectly fair models would print at most on data as noisy as these. "
        "p (fair): by the interval's own test; p (permutation): exact, labels of groups dealt to the people at random."
    ]
    for name in ("frr_max_min", "far_max_min"):
        if name in section.results:
            with unsaid():
                shown = band(work.curve, name, target=NEW_PEOPLE, level=work.level)
            words = shown.attrs["label"]
            section.figures[f"{words[0].upper()}{words[1:]}"] = partial(plot.fairness, shown)
    for name in work.models:
        section.answers.append(_unfair_words(section, name))
    return section


def _permuted(work: Work, tested: list[Measure], section: Section) -> list[xr.Dataset]:
    """The permutation test of all measures of group rates at once: one sweep for all."""
    of_rates = [one for one in tested if one.name != "auc_spread"]

    def together(tallies: xr.Dataset) -> xr.DataArray:
        # the distance from the fair value, so that one value, 0, is fair for all
        parts = [abs(one(tallies) - one.fair) for one in of_rates]
        labels = xr.DataArray([one.name for one in of_rates], dims=DISPARITY, name=DISPARITY)
        return xr.concat(xr.broadcast(*parts), labels)

    every = Measure(DISPARITY, together, IDENTITY_SCALE, 0.0)
    how = {
        "n": DEALS,
        "seed": work.seed,
        "level": work.level,
        **work.at,
        **work.given("weighting", "varying"),
    }
    try:
        require(work.named, "it deals labels to people, and nobody is named here")
        work.need_all_impostors()
        found = permutation_test(work.scores, every, by=work.by, **how)
    except InputError as error:
        section.lines.append(f"Left out, the permutation test: {error}")
        return []
    results = []
    for one in of_rates:
        own = section.results[one.name]
        p = found.p.sel({DISPARITY: one.name}, drop=True)
        p = p.isel({dim: 0 for dim in p.dims if dim not in own.estimate.dims}, drop=True)
        result = xr.Dataset({"estimate": own.estimate, "p": p.transpose(*own.estimate.dims)})
        results.append(
            result.assign_attrs(measure=one.name, method="permutation of labels", n=DEALS)
        )
        section.results[f"{one.name}, permutation"] = results[-1]
    return results


def _unfair_words(section: Section, name: str) -> str:
    """How unequal FRR and FAR are, and whether chance can do that, in a sentence."""
    words = []
    for rate in ("frr", "far"):
        key = f"{rate}_max_min"
        if key not in section.results:
            continue
        result = of_one(section.results[key], name)
        place = strictest(result)
        one = result.isel(place)
        source = of_one(section.results.get(f"{key}, permutation", section.results[key]), name)
        if "p" not in source:
            continue
        p = float(source.p.isel(place))
        verdict = "more than chance" if p <= SURE else "within what chance does"
        ratio = f"the highest group {rate.upper()} is {cell_of(one)} times the lowest {level_words(one)}"
        if one.estimate.isnull():
            ratio, verdict = (
                f"group {rate.upper()}s {level_words(one)}",
                "no ratio is known, for want of errors",
            )
        words.append(f"{ratio}: {verdict}" + ("" if np.isnan(p) else f" ({p_text(p)})"))
    text = "; ".join(words) or "no ratio of group rates is known"
    return f"{name}: {text}." if name else f"{text[0].upper()}{text[1:]}."


def distributions(work: Work) -> Section:
    """SFI, CFI and DFI."""
    work.need_groups()
    section = Section("Fairness of score distributions (SFI, CFI, DFI)")
    cosine = work.scores.attrs.get("similarity") == "cosine"
    how = {
        "score_map": "cosine" if cosine else "identity",
        "level": work.level,
        **work.given("varying"),
    }
    how |= {} if work.quick else {"resampling": work.draws()}
    found = fairness_indices(work.scores, by=work.by, **how)
    section.results["indices"] = found
    section.tables["Indices, 1 is fair"] = table(found)
    section.lines.append(
        "They compare the distributions of all scores, not the errors at a threshold."
    )
    for name, own in work.of_models(found):
        section.figures[f"Indices{of_model(name)}"] = partial(plot.fairness_indices, own)
        if "sfi_p" in own:
            one = own.sel(variant="normal")
            words = [
                f"{key.upper()} {number(float(one[key]), 4)} ({p_text(float(one[f'{key}_p']))})"
                for key in INDICES
            ]
            section.answers.append(
                f"Score distributions{of_model(name)}: {', '.join(words)}; p against random groups."
            )
    return section


def sigmas(work: Work) -> Section:
    """N-Sigma."""
    work.need_groups()
    section = Section("N-Sigma")
    found = n_sigma(work.scores, by=work.by, seed=work.seed, **work.given("varying"))
    section.results["n_sigma"] = found
    section.tables["Distance to the best group, in standard deviations of its EER over subsets"] = (
        table(found)
    )
    section.figures["N-Sigma"] = partial(plot.n_sigma, found)
    section.lines.append(
        "N is no test: it depends on the size of the subsets. p (Welch) depends on their number, and "
        "calls equal groups different in most data sets."
    )
    return section


def leakage(work: Work) -> Section:
    """RLB: what the embeddings tell about the attribute."""
    work.need_groups()
    require(work.faces is not None, "it reads embeddings, and these are scores")
    from frkit.representation import representation_bias  # scikit-learn, only here

    section = Section("What the embeddings tell about the attribute (RLB)")
    attribute = work.by if isinstance(work.by, str) else tuple(work.by)
    found = representation_bias(work.faces, attribute, progress=False, **work.given("varying"))
    section.results["rlb"] = found
    section.tables["RLB with ± 1.96 standard errors, 1 is all of the attribute"] = table(found)
    for name, one in work.of_models(found):
        verdict, what = str(one.verdict.values), " & ".join(attributes_of(work.by))
        share = (
            f"{float(one.rlb):.0%}"
            if verdict == "detected"
            else "nothing that these data could show"
        )
        ends = f"RLB {rlb_cell(float(one.rlb), float(one.rlb_se))}, {verdict}"
        section.answers.append(
            f"The embeddings{of_model(name)} give away {share} of {what} ({ends})."
        )
    return section
