"""Explorers of what compares groups: disparities of rates, SFI/CFI/DFI, and N-Sigma."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import ipywidgets as widgets
import xarray as xr
from numpy.typing import ArrayLike

from frkit import indices, nsigma, plot
from frkit.base import require_returned
from frkit.evaluation.sweep import sweep
from frkit.explore.controls import LEVEL, menu, number, slider, tick
from frkit.explore.panel import Panel, cached
from frkit.explore.question_controls import Questions
from frkit.intervals import band, decision_zones, fair_floor
from frkit.measures import measure, names
from frkit.plot.nsigma import SUBSETS
from frkit.scores.kept import model_names_of

SHARES = [(f"{percent} %", percent / 100) for percent in (100, 70, 50, 35, 25, 17, 12, 8, 5)]
MAPS = {"cosine: (1 + s) / 2": "cosine", "angular: 1 - arccos(s) / π": "angular"}
SUBSET = "subset"
SUBSET_SIZE = "subset_size"
COUNTS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
BEST = "the best group"


def fairness(
    scores: xr.DataArray | xr.DataTree,
    *,
    far: ArrayLike | None = None,
    by: str | list | None = None,
    varying: str = "error",
    **start,
) -> widgets.VBox:
    """Explore disparity measures with their bands, and with the floors of a fair system.

    Scores are swept once. Every control is answered from the kept pairs, and no control has a
    button.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        A score tensor, a score matrix, a list of pairs, or kept pairs from `sweep`.
    far : sequence of float, optional
        FAR levels; by default those of `evaluate`.
    by : str, or sequence of str or lists of str, optional
        The attributes whose groups can be compared; by default all with up to 20 labels.
    varying : str
        The rule for attributes that vary within an identity, as in `evaluate`.
    **start
        Values to begin with: attribute, measure, far_range (two levels), method (the interval that
        `band` takes), level, scheme, replicates, weighting, impostors, models.

    Returns
    -------
    ipywidgets.VBox
        Controls above a figure that follows them; cautions beneath it.

    Raises
    ------
    InputError
        As `sweep` and `evaluate`; for scores without groups.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4 and Figs. 15-22.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> box = fk.explore.fairness(fk.score_tensor(mix.sample(per_identity=6)), far=[0.05, 0.1])
    >>> [control.description for control in box.children[0].children[:3]]
    ['groups', 'FAR range', 'interval']
    """
    questions = Questions(scores, far, by, varying, seed=0)
    controls = questions.controls(without_groups=False)
    controls["measure"] = menu("measure", options=disparity_names(), value="frr_max_geomean")
    controls["level"] = number("nominal level", **LEVEL)

    @cached
    def band_and_floor(measure, level, method, **question):
        evaluation = questions.answer(method=method, **question)
        bands = band(evaluation, measure, method=method, level=level)
        return bands, fair_floor(evaluation, measure, level=level)

    def draw(ax, far_range, **question):
        within = {"far_level": slice(*far_range)}
        bands, floors = (result.sel(within) for result in band_and_floor(**question))
        zones = decision_zones(bands) if bands.sizes.get("model") == 2 else None
        plot.fairness(bands, ax, floors=floors, zones=zones)

    return Panel(controls, draw, **start).box()


def disparity_names():
    """Names of the measures that compare error rates of groups."""
    candidates = [name for name in names() if name.startswith(("far_", "frr_"))]
    disparities = [name for name in candidates if measure(name).fair is not None]
    return [*disparities, "fdr", "garbe", "ir"]


def fairness_indices(
    scores: xr.DataArray | xr.DataTree,
    *,
    by: str | list[str],
    score_maps: Mapping[str, Any] = MAPS,
    permutations: int = 40,
    **start,
) -> widgets.VBox:
    """Explore what the sizes of the groups, the bins and the score map do to SFI, CFI and DFI.

    Scores are swept once. Every position is answered from the kept pairs, and cached.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        Score tensor, list of pairs or kept pairs, of one or several models.
    by : str or list of str
        Attribute(s) whose groups are compared.
    score_maps : dict of str to score map
        At least one score map by its words; by default "cosine" and "angular".
    permutations : int
        How often the people's labels are permuted, for the floor.
    **start
        Values to begin with: group, share, bins, score_map, balance, model.

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
    >>> options = dict(by="group", score_maps={"as they are": "identity"})
    >>> box = fk.explore.fairness_indices(fk.canonical_scores(), **options)
    >>> [control.description for control in box.children[0].children[:3]]
    ['group that loses people', 'share of it that stays', 'bins']
    """
    kept = sweep(scores, by=by)
    first_map = next(iter(score_maps.values()))
    groups = indices.fairness_indices(kept, by=by, score_map=first_map, bins=10)["group"]
    later = {"continuous_update": False}
    controls = {
        "group": menu("group that loses people", options=groups.values.tolist()),
        "share": slider("share of it that stays", options=SHARES, **later),
        "bins": slider("bins", options=(10, 20, 50, 100, 200), value=100, **later),
        "score_map": menu("score map", options=list(score_maps)),
        "balance": tick("DFI: half of the mass to each kind of pair", value=False),
    }
    models = model_names_of(kept)
    if models:
        controls["model"] = menu("model", options=models)

    @cached
    def indices_of(group, share, score_map, model=None, **options):
        pairs = kept if model is None else kept.sel(model=model)
        fewer = indices.with_fewer_people(pairs, by=by, keep={group: share} if share < 1 else {})
        return indices.fairness_indices(
            fewer, by=by, score_map=score_maps[score_map], permutations=permutations, **options
        )

    def histograms(ax, group, share, bins, score_map, model=None):
        result = indices_of(group, share, score_map, model, bins=bins)
        weights = ", ".join(f"{float(weight):.3f}" for weight in result.weights)
        plot.score_histograms(result, ax)
        ax.set_title(f"weights of the groups: {weights}", loc="left")

    def values(ax, **chosen):
        plot.fairness_indices(indices_of(**chosen), ax)

    return Panel(controls, histograms, values, margins=(1.1, 0.95), **start).box()


def n_sigma(result: xr.Dataset, **start) -> widgets.VBox:
    """Explore what N depends on: number and size of subsets, reference, limits of risk.

    Parameters
    ----------
    result : xr.Dataset
        What `n_sigma`, `nsigma.by_subset_size` or `studies.finetuning` returned. The second has a
        control for the people in a subset, the third one for the models.
    **start
        Values to begin with: count, reference, step, subset_size.

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
    >>> [control.description for control in fk.explore.n_sigma(result).children[0].children[:2]]
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
    }

    chosen_subsets = cached(partial(first_subsets, rates))

    # all other controls select subsets
    def bars(ax, step, **chosen):
        plot.n_sigma(with_steps(chosen_subsets(**chosen), step), ax)

    def distributions(ax, step, **chosen):
        plot.eer_distributions(chosen_subsets(**chosen), ax)

    return Panel(controls, bars, distributions, **start).box()


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
