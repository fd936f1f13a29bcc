"""Explorers of error rates: ROC curves with their bands, and a threshold that moves."""

import ipywidgets as widgets
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import ndtri

from frkit import plot
from frkit.base import gathered_notices, require_whole, warn
from frkit.evaluation.evaluate import evaluate_parts
from frkit.explore.controls import LEVEL, menu, number, slider, tick
from frkit.explore.panel import Panel, cached
from frkit.explore.question_controls import NO_GROUPS, Questions
from frkit.intervals import band
from frkit.intervals.reading import FEW_ERRORS
from frkit.scores.groups import ends_of_scores


def roc(
    scores: xr.DataArray | xr.DataTree,
    *,
    far: ArrayLike | None = None,
    by: str | list | None = None,
    varying: str = "error",
    **start,
) -> widgets.VBox:
    """Explore ROC curves with their bands: groups, intervals, impostor pairs and weighting.

    Scores are swept once. Every control is answered from the kept pairs, and no control has a
    button.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        A score tensor, a score matrix, a list of pairs, or kept pairs from `sweep`.
    far : sequence of float, optional
        FAR levels; by default those of `evaluate`.
    by : str, or sequence of str or lists of str, optional
        The attributes whose groups can be shown; by default all with up to 20 labels.
    varying : str
        The rule for attributes that vary within an identity, as in `evaluate`.
    **start
        Values to begin with: attribute, far_range (two levels), method, level, scheme, replicates,
        weighting, impostors, models.

    Returns
    -------
    ipywidgets.VBox
        Controls above a figure that follows them; cautions beneath it.

    Raises
    ------
    InputError
        As `sweep` and `evaluate`.

    References
    ----------
    Conti & Clémençon (2024), Figs. 1 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> box = fk.explore.roc(fk.sweep(fk.score_tensor(faces)), far=[0.05, 0.1, 0.2])
    >>> [control.description for control in box.children[0].children[:3]]
    ['groups', 'FAR range', 'interval']
    """
    questions = Questions(scores, far, by, varying, seed=0)
    controls = questions.controls(without_groups=True)
    controls["level"] = number("nominal level", **LEVEL)

    @cached
    def band_of(level, method, **question):
        measure = "frr_group" if question["attribute"] else "frr"
        evaluation = questions.answer(method=method, **question)
        return band(evaluation, measure, method=method, level=level)

    def draw(ax, far_range, **question):
        plot.roc(band_of(**question).sel(far_level=slice(*far_range)), ax)

    return Panel(controls, draw, **start).box()


def threshold(
    scores: xr.DataArray | xr.DataTree,
    *,
    by: str | list | None = None,
    varying: str = "error",
    bins: int = 150,
    **start,
) -> widgets.VBox:
    """Move a threshold through the genuine and the impostor scores, and see both errors.

    Scores are swept once. On the left FAR and FRR are areas of the histograms, of all pairs or of
    each group; on the right the same threshold is a point on the ROC curve. The slider is dragged,
    or moved with the arrow keys.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        A score tensor, a score matrix, a list of pairs, or kept pairs from `sweep`.
    by : str, or sequence of str or lists of str, optional
        The attributes whose groups can be shown; by default all with up to 20 labels.
    varying : str
        The rule for attributes that vary within an identity, as in `evaluate`.
    bins : int
        Bins of the histograms, 2 or more; the threshold moves from edge to edge.
    **start
        Values to begin with: threshold (by default where both errors are equal), attribute, log
        (the shares), model.

    Returns
    -------
    ipywidgets.VBox
        Controls above two figures that follow them; cautions beneath.

    Raises
    ------
    InputError
        As `sweep` and `evaluate`.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> box = fk.explore.threshold(fk.score_tensor(faces))
    >>> [control.description for control in box.children[0].children]
    ['threshold', 'groups', 'shares on a log axis']
    """
    require_whole("bins", bins, 2)
    questions = Questions(scores, None, by, varying, seed=0)
    lowest, highest = ends_of_scores(questions.kept)
    edges = np.linspace(lowest, highest, bins + 1)
    levels = edges[1:-1]
    options = [(f"{level:.4g}", level) for level in levels.tolist()]
    attributes = {"none": NO_GROUPS} | {name: name for name in questions.attributes}
    controls = {
        "threshold": slider("threshold", options=options, index=len(options) // 2),
        "attribute": menu("groups", options=attributes),
    }
    controls["threshold"].layout.width = "74em"
    controls["log"] = tick("shares on a log axis", value=False)
    if questions.models:
        controls["model"] = menu("model", options=questions.models)

    @cached
    def answer(attribute, model=None):
        evaluation = evaluate_parts(
            questions.kept if model is None else questions.kept.sel(model=model),
            threshold=levels,
            by=questions.attributes.get(attribute),
            histogram=(bins, (edges[0], edges[-1])),
            varying=varying,
            auc=False,
        )
        suffix = "_group" if attribute else ""
        with gathered_notices() as notices:
            far, frr = (band(evaluation, f"{rate}{suffix}") for rate in ("far", "frr"))
        for notice in notices:
            if notice.code != FEW_ERRORS:  # which the panel says of the chosen threshold
                warn(notice.text)
        thinned = evaluation["empirical"].get(f"thinned{suffix}", 0)
        return evaluation["empirical"], with_thinning(far, thinned), frr

    def errors(ax, threshold, log, **question):
        histograms, far, frr = answer(**question)
        plot.threshold(histograms, far, frr, threshold, ax, log=log)
        resolved = far.resolved & frr.resolved
        if not resolved.sel(threshold_level=threshold).all():
            warn(f"{FEW_ERRORS} at this threshold")

    def points(ax, threshold, log, **question):
        _, far, frr = answer(**question)
        plot.points_on_roc(far, frr, threshold, ax)

    models = questions.models or [None]
    equal_errors = answer(NO_GROUPS, models[0])[0].eer_threshold.item()
    start = {"threshold": equal_errors, **start}
    return Panel(controls, errors, points, margins=(0.75, 1.1), height=4.2, **start).box()


def with_thinning(far, thinned):
    """The interval of a FAR, widened where kept pairs represent others.

    thinned : relative standard error of the FAR because pairs were thinned; 0 where all are there.
    """
    reach = ndtri((1 + far.attrs["level"]) / 2) * thinned * far.estimate
    lower = far.estimate - np.hypot(far.estimate - far.lower, reach)
    upper = far.estimate + np.hypot(far.upper - far.estimate, reach)
    return far.assign(lower=lower.clip(0), upper=upper.clip(max=1))
