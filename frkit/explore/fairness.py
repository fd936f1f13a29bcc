"""Explorers of what compares groups: disparities of rates, SFI/CFI/DFI, and N-Sigma."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import indices, nsigma, plot
from frkit.base import (
    FAR_LEVEL,
    GROUP,
    MODEL,
    PROBE,
    REFERENCE,
    REPLICATE,
    require,
    require_one_of,
    require_returned,
    require_whole,
)
from frkit.data.labels import VARYING_RULES
from frkit.evaluation.evaluate import evaluate
from frkit.explore.panel import (
    Panel,
    far_range,
    menu,
    number,
    remembered,
    say,
    several,
    slider,
    tick,
)
from frkit.explore.roc import LEVEL, TREE, within
from frkit.intervals import band, decision_zones, fair_floor, provenance
from frkit.measures import measure, names
from frkit.plot.nsigma import SUBSETS
from frkit.resampling import OF_IMAGES, Resampling

SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05)
MAPS = {"cosine: (1 + s) / 2": "cosine", "angular: 1 - arccos(s) / π": "angular"}
SUBSET, SUBSET_SIZE = "subset", "subset_size"
BEST = "the best group"
TENSOR = ("frkit.score_tensor(faces)", PROBE, REFERENCE)


def fairness(
    evaluation: xr.DataTree | dict[str, xr.DataTree],
    scores: xr.DataArray | None = None,
    *,
    varying: str = "error",
    **start,
) -> widgets.VBox:
    """Explore disparity measures with their bands, and with their floors, which follow the number of replicates.

    Parameters
    ----------
    evaluation : what `evaluate(..., by=..., resampling=...)` returned at FAR levels, or several by attribute.
    scores : the tensor they were made of; then scheme and impostors can be changed, and a button evaluates anew,
        with a progress bar; what has been evaluated once is kept.
    varying : the rule for attributes that vary within an identity, as in `evaluate`.
    start : values to begin with: attribute, metric, far (two levels), level, replicates, models.

    Returns
    -------
    ipywidgets.VBox : controls above a figure that follows them; cautions beneath it.

    Raises
    ------
    InputError : an evaluation without groups, FAR levels or replicates.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4 and Figs. 15-22.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> how = dict(far=[0.05, 0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), **how)
    >>> [child.description for child in fk.explore.fairness(ev).children[:3]]
    ['attribute', 'metric', 'FAR range']
    """
    require_returned("evaluation", evaluation, *TREE)
    if scores is not None:
        require_returned("scores", scores, *TENSOR)
    for rule in varying.values() if isinstance(varying, dict) else [varying]:
        require_one_of("varying", rule, VARYING_RULES)
    by, held = (
        {},
        {},
    )  # held: evaluations by attribute, scheme, and whether impostors come from the same group only
    for one in [evaluation] if isinstance(evaluation, xr.DataTree) else evaluation.values():
        known = provenance(one)
        require(
            known["by"] is not None, "this evaluation has no groups: call evaluate(..., by=...)"
        )
        require(
            FAR_LEVEL in one["empirical"].coords,
            "this evaluation has no FAR levels: call evaluate(..., far=...)",
        )
        require(
            "replicates" in one.children,
            "this evaluation has no replicates: call evaluate(..., resampling=...)",
        )
        words = known["by"] if isinstance(known["by"], str) else " & ".join(known["by"])
        by[words] = known["by"]
        key = words, known["scheme"], known["impostors"] == "same-group"
        held.setdefault(key if scores is not None else key[:1], one)
    first = next(iter(held.values()))
    known = provenance(first)
    data, n = first["empirical"].to_dataset(), first["replicates"].sizes[REPLICATE]
    metrics = [
        name
        for name in names()
        if measure(name).fair is not None and name.startswith(("far_", "frr_"))
    ]
    counts = sorted({min(n, count) for count in (25, 50, 100, 200, 500, 1000)} | {n})
    controls = {
        "attribute": menu("attribute", options=list(by)),
        "metric": menu("metric", options=[*metrics, "fdr", "garbe", "ir"], value="frr_max_geomean"),
        "far": far_range(data[FAR_LEVEL].values),
        "level": number("nominal level", **LEVEL),
        "replicates": slider("replicates", options=counts, value=n),
    }
    if MODEL in data.dims:
        asked = start.get("models") if isinstance(start.get("models"), list | tuple) else ()
        names_of_models = data[
            MODEL
        ].values.tolist()  # those asked for first: zones A and C follow the order
        models = sorted(
            names_of_models, key=lambda name: asked.index(name) if name in asked else len(asked)
        )
        controls["models"] = several("models", models, models[:2])
    if scores is not None:
        controls["scheme"] = menu("scheme", options=OF_IMAGES, value=known["scheme"])
        controls["same"] = tick("same-group pairs only", value=known["impostors"] == "same-group")

    @remembered
    def band_and_floor(key, metric, level, replicates) -> tuple[xr.Dataset, xr.Dataset]:
        one = first_replicates(
            held[key], replicates
        )  # of which the floor is made, however few they are
        of_replicates = one.drop_nodes("people", errors="ignore")
        return band(one, metric, level=level), fair_floor(of_replicates, metric, level=level)

    def show(ax: Axes, attribute, metric, far, level, replicates, models=(), **settings) -> None:
        key = attribute, *settings.values()
        if key not in held:
            return say(ax, "not evaluated yet: press the button")
        chosen = within(far) | ({MODEL: list(models)} if models else {})
        bands, floors = (
            found.sel(chosen) for found in band_and_floor(key, metric, level, replicates)
        )
        zones = decision_zones(bands) if bands.sizes.get(MODEL) == 2 else None
        plot.fairness(bands, ax, floors=floors, zones=zones)

    def compute(attribute, scheme, same, **_chosen) -> None:
        if (attribute, scheme, same) not in held:
            drawn = Resampling(scheme, n=n, seed=known["seed"])
            how = {
                "far": data[FAR_LEVEL].values,
                "by": by[attribute],
                "resampling": drawn,
                "varying": varying,
            }
            pairs = "same-group" if same else "all"
            held[attribute, scheme, same] = evaluate(scores, impostors=pairs, **how)

    def seconds(**_chosen) -> float:
        return 0.5 + 5e-9 * scores.size * (1 + n / 200)  # two cores

    panel = Panel(controls, show, start=start)
    return panel.box() if scores is None else panel.box("Evaluate these settings", compute, seconds)


def first_replicates(evaluation: xr.DataTree, n: int) -> xr.DataTree:
    """The evaluation as it would be with n replicates: the first n of any number are the same."""
    result = evaluation.copy()
    result["replicates"] = evaluation["replicates"].isel({REPLICATE: slice(0, n)})
    result.attrs["provenance"] = json.dumps(provenance(evaluation) | {"n": n})
    return result


def fairness_indices(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str],
    score_maps: Mapping[str, Any] = MAPS,
    deals: int = 40,
    **start,
) -> widgets.VBox:
    """Explore what the sizes of the groups, the bins and the score map do to SFI, CFI and DFI.

    Each position is computed once, which takes as long as `fairness_indices` on these scores.

    Parameters
    ----------
    scores : score tensor or pair table of one model.
    by : attribute(s) whose groups are compared.
    score_maps : mapping of words to score maps, at least one; by default "cosine" and "angular".
    deals : how often people are dealt to groups at random, for the floor.
    start : values to begin with: group, share, bins, score_map, balance.

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them; cautions beneath.

    Raises
    ------
    InputError : as `fairness_indices`; no score map.

    References
    ----------
    Kotwal & Marcel (2022), section 3.1 and Tables 1-3.

    Examples
    --------
    >>> import frkit as fk
    >>> box = fk.explore.fairness_indices(fk.canonical_scores(), by="group", score_maps={"as they are": "identity"})
    >>> [child.description for child in box.children[:3]]
    ['group that loses people', 'share of it that stays', 'bins']
    """
    require_whole("deals", deals, 0)
    named = score_maps if isinstance(score_maps, dict) else {}
    usable = [
        isinstance(words, str) and (isinstance(one, str) or callable(one))
        for words, one in named.items()
    ]
    require(
        any(usable) and all(usable),
        "score_maps must name at least one score map: {'words': a name or a function}",
    )
    first = indices.fairness_indices(
        scores, by=by, score_map=next(iter(score_maps.values())), bins=10
    )
    shares = [(f"{100 * share:g} %", share) for share in SHARES]
    later = {"continuous_update": False}
    controls = {
        "group": menu("group that loses people", options=first[GROUP].values.tolist()),
        "share": slider("share of it that stays", options=shares, **later),
        "bins": slider("bins", options=(10, 20, 50, 100, 200), value=100, **later),
        "score_map": menu("score map", options=list(score_maps)),
        "balance": tick("DFI: half of the mass to each kind of pair", value=False),
    }

    @remembered
    def found_with(group, share, score_map, **how) -> xr.Dataset:
        stays = indices.thinned(scores, by=by, keep={group: share} if share < 1 else {})
        return indices.fairness_indices(
            stays, by=by, score_map=score_maps[score_map], deals=deals, **how
        )

    def histograms(ax: Axes, group, share, **how) -> None:
        found = found_with(group if share < 1 else None, share, balance=False, **how)
        weights = ", ".join(f"{float(weight):.3f}" for weight in found.weights)
        plot.score_histograms(found, ax).set_title(f"weights of the groups: {weights}", loc="left")

    def values(ax: Axes, group, share, balance, **how) -> None:
        plot.fairness_indices(
            found_with(group if share < 1 else None, share, balance=balance, **how), ax
        )

    return Panel(controls, histograms, values, room=(1.1, 0.95), start=start).box()


def n_sigma(result: xr.Dataset, **start) -> widgets.VBox:
    """Explore what N and p depend on: number and size of the subsets, the reference, and the limits of risk.

    Parameters
    ----------
    result : what `n_sigma`, `nsigma.by_subset_size` or `studies.finetuning` returned; the second has a control for
        the people in a subset, the third one for the models.
    start : values to begin with: count, reference, step, signed, beside ("eer" or "p"), subset_size.

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them; cautions beneath.

    Raises
    ------
    InputError : a result without the subsets' rates.

    References
    ----------
    DeAlcala et al. (2023), Fig. 1 and section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> found = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=50, fpr=0.1)
    >>> [child.description for child in fk.explore.n_sigma(found).children[:2]]
    ['number K of subsets', 'reference group']
    """
    require_returned("result", result, *SUBSETS, "eer", "tpr", GROUP, "batch")
    rates, most = result[["eer", "tpr"]].assign_attrs(result.attrs), result.sizes[SUBSET]
    counts = sorted(
        {count for count in (5, 10, 20, 50, 100, 200, 500, 1000, 2000) if count < most} | {most}
    )
    controls = {"count": slider("number K of subsets", options=counts, value=most)}
    for dim in (dim for dim in rates.eer.dims if dim not in ("batch", SUBSET, GROUP)):
        options, kind = rates[dim].values.tolist(), slider if dim == SUBSET_SIZE else menu
        controls[dim] = kind(
            "people in a subset" if dim == SUBSET_SIZE else dim, options=options, value=options[-1]
        )
    controls |= {
        "reference": menu("reference group", options=[BEST, *rates[GROUP].values.tolist()]),
        "step": number("σ from level to level", value=1.0, min=0.25, max=4.0, step=0.25),
        "signed": tick("N with its sign", value=False),
        "beside": menu(
            "on the right",
            options={"EERs of the subsets": "eer", "p against the number of subsets": "p"},
        ),
    }

    found_with = remembered(partial(first_subsets, rates))
    by_number = remembered(lambda *which, **at: nsigma.by_subsets(found_with(*which, **at)))

    def bars(ax: Axes, count, reference, step, signed, **at) -> None:
        plot.n_sigma(with_steps(found_with(count, reference, **at), step), ax, signed=signed)

    def subsets(ax: Axes, count, reference, beside, **at) -> None:
        if beside == "p":
            plot.dependence(by_number(count, reference, **at), "p_value", ax)
        else:
            plot.eer_distributions(found_with(count, reference, **at), ax)

    return Panel(controls, bars, subsets, start=start).box()


def with_steps(found: xr.Dataset, step: float) -> xr.Dataset:
    """The same with risk levels at multiples of `step`."""
    return nsigma.with_risk(
        found, {"minimal": 0, "limited": step, "high": 2 * step, "unacceptable": 3 * step}
    )


def first_subsets(rates: xr.Dataset, count: int, reference: str, **at) -> xr.Dataset:
    """N of the first `count` subsets; `at` selects size and model."""
    one = rates.sel(at).isel({SUBSET: slice(0, count)})
    found = nsigma.summarise(one, reference=None if reference == BEST else reference)
    return found.assign_attrs({SUBSET_SIZE: at[SUBSET_SIZE]} if SUBSET_SIZE in at else {})
