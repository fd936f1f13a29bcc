"""Explorers of computed results: each gives the values of its controls to what selects, computes and draws."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import indices, nsigma, plot, studies
from frkit.base import (
    FAR_LEVEL,
    GROUP,
    MODEL,
    PROBE,
    REFERENCE,
    REPLICATE,
    Result,
    require,
    require_one_of,
    require_whole,
    takes,
)
from frkit.evaluation.evaluate import evaluate
from frkit.explore.panel import (
    MARK,
    Panel,
    far_names,
    far_range,
    labelled,
    menu,
    number,
    remembered,
    say,
    several,
    slider,
    tick,
)
from frkit.faces.labels import VARYING_RULES
from frkit.intervals import band, decision_zones, floor, provenance
from frkit.measures import measure, names
from frkit.plot.coverage import STUDY
from frkit.plot.nsigma import SUBSETS
from frkit.plot.studies import BIAS, GROWTH
from frkit.resampling import TARGETS, Resampling
from frkit.vmf import Mixture, mixture

LEVEL = {"value": 0.95, "min": 0.5, "max": 0.99, "step": 0.01}
OF_REPLICATES = ("recentered", "naive", "gaussian", "pivotal")
SIZES = {
    "n_identities": ("identities K", 20, 1000, 20),
    "per_identity": ("images per identity n_k", 2, 20, 1),
    "dim": ("dimension p", 16, 256, 16),
    "n_datasets": ("data sets", 20, 200, 20),
}
SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05)
MAPS = {"cosine: (1 + s) / 2": "cosine", "angular: 1 - arccos(s) / π": "angular"}
SUBSET, SUBSET_SIZE = "subset", "subset_size"
BEST = "the best group"
SPLITS = {"people: no one in two folds": "identity", "images: a person may be in several": "image"}

TREE = Result("frkit.evaluate(scores, far=...)", ("empirical",), (), ("provenance",), xr.DataTree, several=True)
TENSOR = Result("frkit.score_tensor(faces)", dims=(PROBE, REFERENCE), kind=xr.DataArray)
LAW = Result("vmf.mixture(n_identities, dim)", kind=Mixture)
FANS = BIAS._replace(
    holds=(*BIAS.holds, "replicates", "truth"), dims=(*BIAS.dims, REPLICATE), attrs=(*BIAS.attrs, "seed", "level")
)


def _within(far: tuple[float, float]) -> dict[str, slice]:
    """What selects a range of FAR levels, both ends with it."""
    return {FAR_LEVEL: slice(far[0] * (1 - 1e-9), far[1] * (1 + 1e-9))}


@takes(evaluation=TREE)
def roc(evaluation: xr.DataTree | dict[str, xr.DataTree], **start) -> widgets.VBox:
    """Explore ROC curves with their bands: curves, kind of interval, nominal level and range of FAR.

    Parameters
    ----------
    evaluation : what `evaluate` returned, or several of them by name; with replicates in all of them more methods can
        be chosen.
    start : values to begin with: method, level, far (two levels), curves.

    Returns
    -------
    ipywidgets.VBox : controls above a figure that follows them; cautions of the chosen bands beneath it.

    Raises
    ------
    InputError : an evaluation without FAR levels, or nothing to make intervals of.

    References
    ----------
    Conti & Clémençon (2024), Figs. 1 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> how = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> box = fk.explore.roc(fk.evaluate(fk.score_tensor(faces), **how))
    >>> [child.description for child in box.children[:2]]
    ['interval', 'nominal level']
    """
    evaluations = {"": evaluation} if isinstance(evaluation, xr.DataTree) else evaluation
    choices = {}
    for name, one in evaluations.items():
        coords = one["empirical"].coords
        require(FAR_LEVEL in coords, "this evaluation has no FAR levels: call evaluate(..., far=...)")
        for model in coords[MODEL].values.tolist() if MODEL in coords else [""]:
            choices[", ".join(part for part in (name, model) if part) or "empirical curve"] = (name, model)
    without = all("influence" in one.children for one in evaluations.values())
    resampled = all("replicates" in one.children for one in evaluations.values())
    methods = ("influence",) * without + OF_REPLICATES * resampled
    require(len(methods) > 0, "this evaluation has no replicates: call evaluate(..., resampling=...)")
    controls = {
        "method": menu("interval", options=methods),
        "level": number("nominal level", **LEVEL),
        "far": far_range(next(iter(evaluations.values()))["empirical"].coords[FAR_LEVEL].values),
        "curves": several("curves", list(choices.items()), list(choices.values())),
    }

    def show(axes: list[Axes], method, level, far, curves) -> None:
        bands = chosen_bands(evaluations, curves, method, level, far)
        if not bands:
            return say(axes[0], "choose at least one curve")
        plot.roc(bands, axes[0])

    return Panel(controls, show, start=start).box()


def chosen_bands(evaluations: dict, curves: Iterable, method: str, level: float, far: tuple) -> dict[str, xr.Dataset]:
    """The bands of some curves, each given by its evaluation and model, within a range of FAR, by evaluation."""
    found = {}
    for name in dict.fromkeys(name for name, _ in curves):
        models = {MODEL: [model for data, model in curves if data == name and model]}
        bands = band(evaluations[name], "frr", method=method, level=level).sel(_within(far))
        found[name] = bands.sel(models) if MODEL in bands.dims else bands
    return found


@takes(result=GROWTH)
def consistency(result: xr.Dataset, **start) -> widgets.VBox:
    """Explore how the empirical ROC comes closer to its goal: size, range of FAR and model.

    Parameters
    ----------
    result : what `studies.consistency` returned.
    start : values to begin with: size, far (two levels), model.

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them.

    Raises
    ------
    InputError : the result holds no FAR level.

    References
    ----------
    Conti & Clémençon (2024), Proposition 1.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> result = fk.studies.consistency(mix, sizes=(4, 8), far=[0.1, 0.2], seeds=2)
    >>> [child.description for child in fk.explore.consistency(result).children[:2]]
    ['images per identity', 'FAR range']
    """
    label = "images per identity" if result.attrs["exact"] else "share of the images"
    sizes = [(f"{size:g}", size) for size in result["size"].values.tolist()]
    controls = {"size": slider(label, options=sizes), "far": far_range(result[FAR_LEVEL].values)}
    if MODEL in result.dims:
        controls["model"] = menu("model", options=result[MODEL].values.tolist())

    def show(axes: list[Axes], size, far, model=None) -> None:
        one = result if model is None else result.sel({MODEL: model})
        plot.growth(one, size, axes[0], far=far)
        plot.consistency(studies.sup_distance(one, far), axes[1])
        axes[1].axvline(int(one.n_images.sel(size=size)), **MARK)

    return Panel(controls, show, columns=2, start=start).box()


@takes(study=FANS, mixture=LAW)
def bootstrap_bias(study: xr.Dataset, mixture=None, **start) -> widgets.VBox:
    """Explore when the naive bootstrap goes wrong: images per identity, FAR level, and kind of fan.

    Parameters
    ----------
    study : what `studies.bootstrap_bias` returned.
    mixture : the vmf Mixture it was made of; then a button draws new data and bootstraps them, with a
        progress bar.
    start : values to begin with: per_identity, far (a level), moved (True: recentered).

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them.

    Raises
    ------
    InputError : the study holds no intervals.

    References
    ----------
    Conti & Clémençon (2024), Figs. 2 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.bootstrap_bias(mix, per_identity=(5, 10), far=[0.1, 0.2], n=20)
    >>> [child.description for child in fk.explore.bootstrap_bias(study).children[:3]]
    ['images per identity', 'FAR level', 'bootstrap curves']
    """
    shown = {"study": study}
    levels, sizes = far_names(study[FAR_LEVEL].values), study.per_identity.values.tolist()
    controls = {
        "per_identity": slider("images per identity", options=sizes),
        "far": slider("FAR level", options=levels, index=len(levels) // 2),
        "moved": menu("bootstrap curves", options={"naive: θ*": False, "recentered: θ + (θ* − θ~)": True}),
    }

    def show(axes: list[Axes], per_identity, far, moved) -> None:
        now = shown["study"]
        fan = now.sel(per_identity=per_identity)
        truth = xr.Dataset({"frr": now.truth})
        plot.fan(recentered(fan) if moved else fan, axes[0], truth=truth).axvline(far, **MARK)
        plot.bootstrap_bias(now, far, axes[1]).axvline(sizes.index(per_identity), **MARK)

    def compute(**_chosen) -> None:
        attrs = shown["study"].attrs
        how = {"n": study.sizes[REPLICATE], "seed": attrs["seed"] + 1, "level": attrs["level"]}
        far = study[FAR_LEVEL].values
        shown["study"] = studies.bootstrap_bias(mixture, per_identity=tuple(sizes), far=far, **how)

    panel = Panel(controls, show, columns=2, foot=1.35, start=start)
    words = "Draw new data and bootstrap them"
    return panel.box() if mixture is None else panel.box(words, compute)


def recentered(fan: xr.Dataset) -> xr.Dataset:
    """The fan moved from its centre to the empirical curve."""
    moved = fan.replicates - fan.centre + fan.estimate
    return fan.assign(replicates=moved).assign_attrs(method="recentered")


@takes(study=STUDY._replace(holds=(*STUDY.holds, "scheme"), dims=(*STUDY.dims, "scheme"), attrs=("study",)))
def coverage(study: xr.Dataset, **start) -> widgets.VBox:
    """Explore how often intervals hold the truth: FAR, nominal level, scheme; and studies of another size.

    Parameters
    ----------
    study : what `studies.coverage` returned.
    start : values to begin with: far (a level), level, scheme, beside ("along" or "laws").

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them, and controls of the size of a new study, which
        a button computes with a progress bar.

    Raises
    ------
    InputError : the study holds no coverage.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1, Figs. 6 and 9; Theorems 2 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.coverage(mix, n_datasets=4, far=[0.1, 0.2], replicates=20, progress=False)
    >>> [child.description for child in fk.explore.coverage(study).children[:4]]
    ['FAR level', 'nominal coverage', 'scheme', 'on the right']
    """
    shown, made, fars = {"study": study}, json.loads(study.attrs["study"]), far_names(study[FAR_LEVEL].values)
    levels = [(f"{level:.2f}", level) for level in study.level.values.tolist()]
    controls = {
        "far": slider("FAR level", options=fars, index=len(fars) // 2),
        "level": slider("nominal coverage", options=levels, index=len(levels) - 1),
        "scheme": menu("scheme", options=study.scheme.values.tolist()),
        "beside": menu("on the right", options={"coverage along FAR": "along", "laws of the error": "laws"}),
    }
    asked = {}
    for name, (label, low, high, step) in SIZES.items():
        value = made[name] if isinstance(made[name], int) else low
        limits = {"min": min(low, value), "max": max(high, value), "step": step}
        asked[name] = labelled(widgets.IntSlider, label, value=value, **limits)
    limits = {"min": 1, "max": max(1000, made["concentrations"][1]), "step": 1}
    asked["kappa"] = labelled(widgets.FloatRangeSlider, "concentrations κ", value=made["concentrations"], **limits)

    def show(axes: list[Axes], far, level, scheme, beside) -> None:
        one = shown["study"].sel({"scheme": scheme})
        plot.coverage(one, far, axes[0]).axvline(level, **MARK)
        if beside == "laws":
            plot.error_laws(one, far, axes[1])
        else:
            plot.coverage_along(one.sel(level=level), ax=axes[1]).axvline(far, **MARK)

    def compute(n_identities, per_identity, dim, n_datasets, kappa, **_chosen) -> None:
        kept = {"schemes": "scheme", "methods": "method", "levels": "level"}
        kept = {name: tuple(study[coord].values.tolist()) for name, coord in kept.items()}
        population = mixture(n_identities, dim, kappa=kappa, seed=made["seed"])
        sizes = {"n_datasets": n_datasets, "per_identity": per_identity, "replicates": made["replicates"]}
        far = study[FAR_LEVEL].values
        shown["study"] = studies.coverage(population, far=far, seed=made["seed"], **sizes, **kept)

    def seconds(n_identities, per_identity, n_datasets, **_chosen) -> float:
        return n_datasets * (0.03 + 0.3 * (n_identities * per_identity / 1e4) ** 2)  # two cores

    return Panel(controls, show, columns=2, start=start).box("Run a study of this size", compute, seconds, **asked)


@takes(evaluation=TREE, scores=TENSOR)
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
    for rule in varying.values() if isinstance(varying, dict) else [varying]:
        require_one_of("varying", rule, VARYING_RULES)
    by, held = {}, {}  # held: evaluations by attribute, scheme, and whether impostors come from the same group only
    for one in [evaluation] if isinstance(evaluation, xr.DataTree) else evaluation.values():
        known = provenance(one)
        require(known["by"] is not None, "this evaluation has no groups: call evaluate(..., by=...)")
        require(FAR_LEVEL in one["empirical"].coords, "this evaluation has no FAR levels: call evaluate(..., far=...)")
        require("replicates" in one.children, "this evaluation has no replicates: call evaluate(..., resampling=...)")
        words = known["by"] if isinstance(known["by"], str) else " & ".join(known["by"])
        by[words] = known["by"]
        key = words, known["scheme"], known["impostors"] == "same-group"
        held.setdefault(key if scores is not None else key[:1], one)
    first = next(iter(held.values()))
    known = provenance(first)
    data, n = first["empirical"].to_dataset(), first["replicates"].sizes[REPLICATE]
    metrics = [name for name in names() if measure(name).fair is not None and name.startswith(("far_", "frr_"))]
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
        names_of_models = data[MODEL].values.tolist()  # those asked for first: zones A and C follow the order
        models = [name for name in asked if name in names_of_models]
        models += [name for name in names_of_models if name not in models]
        controls["models"] = several("models", models, models[:2])
    if scores is not None:
        schemes = [name for name in TARGETS if name not in ("subset", "pair")]  # these need other scores
        controls["scheme"] = menu("scheme", options=schemes, value=known["scheme"])
        controls["same"] = tick("same-group pairs only", value=known["impostors"] == "same-group")

    @remembered
    def band_and_floor(key, metric, level, replicates) -> tuple[xr.Dataset, xr.Dataset]:
        one = first_replicates(held[key], replicates)  # of which the floor is made, however few they are
        return band(one, metric, level=level), floor(one.drop_nodes("influence", errors="ignore"), metric, level=level)

    def show(axes: list[Axes], attribute, metric, far, level, replicates, models=(), **settings) -> None:
        key = attribute, *settings.values()
        if key not in held:
            return say(axes[0], "not evaluated yet: press the button")
        chosen = _within(far) | ({MODEL: list(models)} if models else {})
        bands, floors = (found.sel(chosen) for found in band_and_floor(key, metric, level, replicates))
        zones = decision_zones(bands) if bands.sizes.get(MODEL) == 2 else None
        plot.fairness(bands, axes[0], floors=floors, zones=zones)

    def compute(attribute, scheme, same, **_chosen) -> None:
        if (attribute, scheme, same) not in held:
            drawn = Resampling(scheme, n=n, seed=known["seed"])
            how = {"far": data[FAR_LEVEL].values, "by": by[attribute], "resampling": drawn, "varying": varying}
            pairs = "same-group" if same else "all"
            held[attribute, scheme, same] = evaluate(scores, impostors=pairs, progress=True, **how)

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
    usable = [isinstance(words, str) and (isinstance(one, str) or callable(one)) for words, one in named.items()]
    require(any(usable) and all(usable), "score_maps must name at least one score map: {'words': a name or a function}")
    first = indices.fairness_indices(scores, by=by, score_map=next(iter(score_maps.values())), bins=10)
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
        return indices.fairness_indices(stays, by=by, score_map=score_maps[score_map], deals=deals, **how)

    def show(axes: list[Axes], group, share, **how) -> None:
        found = found_with(group if share < 1 else None, share, **how)
        weights = ", ".join(f"{float(weight):.3f}" for weight in found.weights)
        plot.score_histograms(found, axes[0]).set_title(f"weights of the groups: {weights}", loc="left")
        plot.fairness_indices(found, axes[1])

    return Panel(controls, show, columns=2, foot=0.95, start=start).box()


@takes(result=SUBSETS._replace(holds=("eer", "tpr", GROUP), dims=(*SUBSETS.dims, "batch")))
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
    rates, most = result[["eer", "tpr"]].assign_attrs(result.attrs), result.sizes[SUBSET]
    counts = sorted({count for count in (5, 10, 20, 50, 100, 200, 500, 1000, 2000) if count < most} | {most})
    controls = {"count": slider("number K of subsets", options=counts, value=most)}
    for dim in (dim for dim in rates.eer.dims if dim not in ("batch", SUBSET, GROUP)):
        options, kind = rates[dim].values.tolist(), slider if dim == SUBSET_SIZE else menu
        controls[dim] = kind("people in a subset" if dim == SUBSET_SIZE else dim, options=options, value=options[-1])
    controls |= {
        "reference": menu("reference group", options=[BEST, *rates[GROUP].values.tolist()]),
        "step": number("σ from level to level", value=1.0, min=0.25, max=4.0, step=0.25),
        "signed": tick("N with its sign", value=False),
        "beside": menu("on the right", options={"EERs of the subsets": "eer", "p against the number of subsets": "p"}),
    }

    def show(axes: list[Axes], count, reference, step, signed, beside, **at) -> None:
        found = first_subsets(rates, count, None if reference == BEST else reference, step, **at)
        plot.n_sigma(found, axes[0], signed=signed)
        if beside == "p":
            plot.dependence(nsigma.by_subsets(found), "p_value", axes[1])
        else:
            plot.eer_distributions(found, axes[1])

    return Panel(controls, show, columns=2, start=start).box()


def first_subsets(rates: xr.Dataset, count: int, reference: str | None, step: float, **at) -> xr.Dataset:
    """N of the first `count` subsets, with risk levels at multiples of `step`; `at` selects size and model."""
    risk = {"minimal": 0, "limited": step, "high": 2 * step, "unacceptable": 3 * step}
    found = nsigma.summarise(rates.sel(at).isel({SUBSET: slice(0, count)}), reference=reference, risk_levels=risk)
    return found.assign_attrs({SUBSET_SIZE: at[SUBSET_SIZE]} if SUBSET_SIZE in at else {})


def representation_bias(per_identity: int = 10, **start) -> widgets.VBox:
    """Explore estimates of representation bias where the truth is known.

    Two Gaussian classes of people lie a chosen distance apart. The exact curve follows the class balance; a button
    draws people and estimates RLB, held out and in sample, with the comparators beside it, and shows its progress.

    Parameters
    ----------
    per_identity : images of each person, 1 or more; half of their noise is common to them.
    start : values to begin with: distance, share.

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them. Estimates stay until the class balance changes.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1 and Section IV-B.

    Examples
    --------
    >>> import frkit as fk
    >>> [child.description for child in fk.explore.representation_bias().children[:2]]
    ['attribute strength', 'share of class 1']
    """
    require_whole("per_identity", per_identity, 1)
    done: dict[float, list] = {}
    controls = {
        "distance": number("attribute strength", value=2, min=0, max=6, step=0.5),
        "share": slider("share of class 1", options=[0.1, 0.25, 0.5, 0.75, 0.9], value=0.5),
    }
    asked = {
        "n_images": slider("images n", options=[300, 1000, 3000], value=1000),
        "n_features": slider("dimension", options=[8, 64, 256], value=64),
        "by": menu("folds of", options=SPLITS),
        "hidden": slider("network width", options=[8, 64, 200], value=64),
    }

    true_bias = cache(studies.true_bias)

    def show(axes: list[Axes], distance, share) -> None:
        own = done.get(share, [])
        plot.trials(true_bias(share), own, axes[0]).axvline(distance, **MARK)
        if not own:
            return say(axes[1], "not estimated yet: press the button")
        plot.comparators(own[-1], axes[1])

    def compute(share, **chosen) -> None:
        before = done.setdefault(share, [])
        law = {"shares": (share, 1 - share), "per_identity": per_identity}
        before.append(studies.trial(**chosen, **law, seed=len(before), progress=True))

    def seconds(n_images, hidden, **_chosen) -> float:
        return 1 + n_images * (20 + hidden) / 40_000  # two cores

    return Panel(controls, show, columns=2, start=start).box("Draw people and estimate", compute, seconds, **asked)
