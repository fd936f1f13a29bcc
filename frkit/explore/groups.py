"""Explorers of what compares groups: disparities of rates, SFI/CFI/DFI, and N-Sigma."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import ipywidgets as widgets
import xarray as xr

from frkit import indices, nsigma, plot
from frkit.base import require, require_returned
from frkit.data.labels import attributes_of
from frkit.evaluation.evaluate import evaluate
from frkit.evaluation.nodes import facts_of
from frkit.explore.controls import far_range, menu, number, several, slider, tick
from frkit.explore.curves import LEVEL, TREE, interval_methods, within
from frkit.explore.panel import Panel, remembered, say
from frkit.intervals import band, decision_zones, fair_floor
from frkit.measures import measure, names
from frkit.plot.nsigma import SUBSETS
from frkit.resampling import OF_IMAGES, Resampling
from frkit.scores.kept import is_kept

SHARES = [(f"{percent} %", percent / 100) for percent in (100, 70, 50, 35, 25, 17, 12, 8, 5)]
MAPS = {"cosine: (1 + s) / 2": "cosine", "angular: 1 - arccos(s) / π": "angular"}
SUBSET = "subset"
SUBSET_SIZE = "subset_size"
COUNTS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
BEST = "the best group"
RIGHT = {"EERs of the subsets": "eer", "p against the number of subsets": "p"}
TENSOR = ("frkit.score_tensor(faces)", "probe", "reference")


def fairness(
    evaluation: xr.DataTree | dict[str, xr.DataTree],
    scores: xr.DataArray | xr.DataTree | None = None,
    *,
    varying: str = "error",
    **start,
) -> widgets.VBox:
    """Explore disparity measures with their bands, and with the floors of a fair system.

    Parameters
    ----------
    evaluation : xr.DataTree or dict of str to xr.DataTree
        What `evaluate(..., by=..., resampling=...)` returned at FAR levels, or several by
        attribute.
    scores : xr.DataArray or xr.DataTree, optional
        The tensor they were made of, or its kept pairs. Then scheme and impostors can be changed,
        and a button evaluates anew; what has been evaluated once is remembered.
    varying : str
        The rule for attributes that vary within an identity, as in `evaluate`.
    **start
        Values to begin with: attribute, metric, far (two levels), level, replicates, models, and
        method, the interval that `band` takes.

    Returns
    -------
    ipywidgets.VBox
        Controls above a figure that follows them; cautions beneath it.

    Raises
    ------
    InputError
        For an evaluation without groups, FAR levels or replicates.

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
    trees = [evaluation] if isinstance(evaluation, xr.DataTree) else list(evaluation.values())
    attributes = {}
    evaluations = {}
    for tree in trees:
        require_groups_and_replicates(tree)
        settings = facts_of(tree)
        words = " & ".join(attributes_of(settings["by"]))
        attributes[words] = settings["by"]
        same = settings["impostors"] == "same-group"
        key = (words,) if scores is None else (words, settings["scheme"], same)
        evaluations.setdefault(key, tree)
    rates = trees[0]["empirical"]
    n = trees[0]["replicates"].sizes["replicate"]
    far = rates["far_level"].values
    controls = {"attribute": menu("attribute", options=list(attributes))}
    controls |= fairness_controls(rates, n)
    controls["method"] = menu("interval", options=interval_methods(trees))
    if scores is not None:
        if not is_kept(scores):
            require_returned("scores", scores, *TENSOR)
        controls["scheme"] = menu("scheme", options=OF_IMAGES, value=settings["scheme"])
        controls["same"] = tick("same-group pairs only", value=same)

    @remembered
    def band_and_floor(key, metric, level, method, replicates):
        tree = first_replicates(evaluations[key], replicates)
        floor = fair_floor(tree, metric, level=level)
        return band(tree, metric, method=method, level=level), floor

    def draw(ax, metric, far, level, method, replicates, models=(), **key):
        key = tuple(key.values())
        if key not in evaluations:
            return say(ax, "not evaluated yet: press the button")
        chosen = within(far) | ({"model": list(models)} if models else {})
        results = band_and_floor(key, metric, level, method, replicates)
        bands, floors = (result.sel(chosen) for result in results)
        zones = decision_zones(bands) if bands.sizes.get("model") == 2 else None
        plot.fairness(bands, ax, floors=floors, zones=zones)

    def compute(attribute, scheme, same, progress, **_chosen):
        evaluations[attribute, scheme, same] = evaluate(
            scores,
            far=far,
            by=attributes[attribute],
            resampling=Resampling(scheme, n=n, seed=settings["seed"]),
            impostors="same-group" if same else "all",
            varying=varying,
            progress=progress,
        )

    panel = Panel(controls, draw, **start)
    return panel.box() if scores is None else panel.box("Evaluate these settings", compute)


def require_groups_and_replicates(tree):
    """Refuse an evaluation that has no groups, no FAR levels, or no replicates."""
    lacks = "this evaluation has no {}: call evaluate(..., {}=...)"
    require("by" in facts_of(tree), lacks.format("groups", "by"))
    require("far_level" in tree["empirical"].coords, lacks.format("FAR levels", "far"))
    require("replicates" in tree.children, lacks.format("replicates", "resampling"))


def fairness_controls(rates, n):
    """The controls that select a band from these rates and n replicates."""
    metrics = [name for name in names() if name.startswith(("far_", "frr_"))]
    metrics = [name for name in metrics if measure(name).fair is not None]
    counts = sorted({min(n, count) for count in (25, 50, 100, 200, 500, 1000, n)})
    controls = {
        "metric": menu("metric", options=[*metrics, "fdr", "garbe", "ir"], value="frr_max_geomean"),
        "far": far_range(rates["far_level"].values),
        "level": number("nominal level", **LEVEL),
        "replicates": slider("replicates", options=counts, value=n),
    }
    if "model" in rates.dims:
        models = rates["model"].values.tolist()
        controls["models"] = several("models", models, models[:2])
    return controls


def first_replicates(evaluation, n):
    """The evaluation as it would be with n replicates: the first n of any number are the same."""
    result = evaluation.isel(replicate=slice(n))
    result.attrs["n"] = n
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
    scores : xr.DataArray or xr.Dataset
        Score tensor or pair table of one model.
    by : str or list of str
        Attribute(s) whose groups are compared.
    score_maps : dict of str to score map
        At least one score map by its words; by default "cosine" and "angular".
    deals : int
        How often people are assigned to groups at random, for the floor.
    **start
        Values to begin with: group, share, bins, score_map, balance.

    Returns
    -------
    ipywidgets.VBox
        Controls above two figures that follow them; cautions beneath.

    Raises
    ------
    InputError
        As `fairness_indices`.

    References
    ----------
    Kotwal & Marcel (2022), section 3.1 and Tables 1-3.

    Examples
    --------
    >>> import frkit as fk
    >>> how = dict(by="group", score_maps={"as they are": "identity"})
    >>> box = fk.explore.fairness_indices(fk.canonical_scores(), **how)
    >>> [child.description for child in box.children[:3]]
    ['group that loses people', 'share of it that stays', 'bins']
    """
    first_map = next(iter(score_maps.values()))
    groups = indices.fairness_indices(scores, by=by, score_map=first_map, bins=10)["group"]
    later = {"continuous_update": False}
    controls = {
        "group": menu("group that loses people", options=groups.values.tolist()),
        "share": slider("share of it that stays", options=SHARES, **later),
        "bins": slider("bins", options=(10, 20, 50, 100, 200), value=100, **later),
        "score_map": menu("score map", options=list(score_maps)),
        "balance": tick("DFI: half of the mass to each kind of pair", value=False),
    }

    @remembered
    def indices_of(group, share, score_map, **options):
        kept = indices.thinned(scores, by=by, keep={group: share} if share < 1 else {})
        return indices.fairness_indices(
            kept, by=by, score_map=score_maps[score_map], deals=deals, **options
        )

    def histograms(ax, group, share, bins, score_map):
        result = indices_of(group, share, score_map, bins=bins)
        weights = ", ".join(f"{float(weight):.3f}" for weight in result.weights)
        plot.score_histograms(result, ax)
        ax.set_title(f"weights of the groups: {weights}", loc="left")

    def values(ax, **chosen):
        plot.fairness_indices(indices_of(**chosen), ax)

    return Panel(controls, histograms, values, room=(1.1, 0.95), **start).box()


def n_sigma(result: xr.Dataset, **start) -> widgets.VBox:
    """Explore what N and p depend on: number and size of subsets, reference, limits of risk.

    Parameters
    ----------
    result : xr.Dataset
        What `n_sigma`, `nsigma.by_subset_size` or `studies.finetuning` returned. The second has a
        control for the people in a subset, the third one for the models.
    **start
        Values to begin with: count, reference, step, signed, beside ("eer" or "p"), subset_size.

    Returns
    -------
    ipywidgets.VBox
        Controls above two figures that follow them; cautions beneath.

    Raises
    ------
    InputError
        For a result without the subsets' rates.

    References
    ----------
    DeAlcala et al. (2023), Fig. 1 and section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> result = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=50, fpr=0.1)
    >>> [child.description for child in fk.explore.n_sigma(result).children[:2]]
    ['number K of subsets', 'reference group']
    """
    require_returned("result", result, *SUBSETS, "eer", "tpr", "group", "batch")
    rates = result[["eer", "tpr"]]
    most = result.sizes[SUBSET]
    counts = sorted({count for count in COUNTS if count < most} | {most})
    controls = {"count": slider("number K of subsets", options=counts, value=most)}
    dims = [dim for dim in rates.eer.dims if dim not in ("batch", SUBSET, "group")]
    for dim in dims:
        options = rates[dim].values.tolist()
        kind, label = (slider, "people in a subset") if dim == SUBSET_SIZE else (menu, dim)
        controls[dim] = kind(label, options=options, value=options[-1])
    controls |= {
        "reference": menu("reference group", options=[BEST, *rates["group"].values.tolist()]),
        "step": number("σ from level to level", value=1.0, min=0.25, max=4.0, step=0.25),
        "signed": tick("N with its sign", value=False),
        "beside": menu("on the right", options=RIGHT),
    }

    chosen_subsets = remembered(partial(first_subsets, rates))
    by_number = remembered(lambda **chosen: nsigma.by_subsets(chosen_subsets(**chosen)))

    # all other controls select subsets
    def bars(ax, step, signed, beside, **chosen):
        plot.n_sigma(with_steps(chosen_subsets(**chosen), step), ax, signed=signed)

    def right(ax, step, signed, beside, **chosen):
        if beside == "p":
            plot.dependence(by_number(**chosen), "p_value", ax)
        else:
            plot.eer_distributions(chosen_subsets(**chosen), ax)

    return Panel(controls, bars, right, **start).box()


def with_steps(result, step):
    """The same with risk levels at multiples of `step`."""
    levels = ("minimal", "limited", "high", "unacceptable")
    return nsigma.with_risk(result, {name: step * k for k, name in enumerate(levels)})


def first_subsets(rates, count, reference, **place):
    """N of the first `count` subsets; `place` selects size and model."""
    chosen = rates.sel(place).isel({SUBSET: slice(count)})
    result = nsigma.summarise(chosen, reference=None if reference == BEST else reference)
    size = {SUBSET_SIZE: place[SUBSET_SIZE]} if SUBSET_SIZE in place else {}
    return result.assign_attrs(size)
