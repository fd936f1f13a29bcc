"""Explorers that go step by step; those of replicates and intervals stand with their paper."""

import ipywidgets as widgets
import numpy as np
import xarray as xr
from scipy.special import ndtri

from frkit import plot
from frkit.base import gathered_notices, require_sequence, warn
from frkit.data.labels import attributes_of
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.sweep import MOST_LABELS, sweep
from frkit.figures.controls import control_of, labelled_control, menu, start_at
from frkit.figures.panel import Panel
from frkit.intervals import band
from frkit.intervals.reading import FEW_ERRORS
from frkit.papers.roc.explorer import control_of_models, intervals, of_model, resample
from frkit.reporting.look import attributes_with_groups
from frkit.scores.groups import ends_of_scores

__all__ = ["intervals", "resample", "threshold"]
NO_GROUPS = "none"
BINS = 150


def threshold(
    scores: xr.DataArray | xr.DataTree,
    *,
    by: str | list | None = None,
    varying: str = "error",
    **start,
) -> widgets.Box:
    """Move a threshold through the genuine and the impostor scores, and see both errors.

    On the left FAR and FRR are areas of the histograms, of all pairs or of each group; on the right
    the same threshold is a point on the ROC curve. Scores are swept once.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        A score tensor, a score matrix, a list of pairs, or kept pairs from `sweep`.
    by : str, or sequence of str or lists of str, optional
        The attributes whose groups can be shown; by default all with up to 20 labels.
    varying : str
        The rule for attributes that vary within an identity, as in `evaluate`.
    **start
        Values to begin with: threshold (by default where both errors are equal), attribute, log
        (the shares), model.

    Returns
    -------
    ipywidgets.Box
        A slider above two figures that follow it, further controls beside them.

    Raises
    ------
    InputError
        As `sweep` and `evaluate`.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> controls, figures = fk.explore.threshold(fk.score_tensor(faces)).children
    >>> [control.description for control in controls.children]
    ['groups', 'shares on a log axis']
    """
    kept = sweep(scores)
    if by is None:
        by = attributes_with_groups(kept, MOST_LABELS)
    names = require_sequence("by", by, "names")
    attributes = {" & ".join(attributes_of(name)): name for name in names}
    lowest, highest = ends_of_scores(kept)
    levels = np.linspace(lowest, highest, BINS + 1)[1:-1].tolist()
    number = control_of("threshold", levels)
    number.layout.width = "100%"
    controls = {
        "threshold": number,
        "attribute": menu("groups", options=[NO_GROUPS, *attributes]),
        "log": labelled_control(widgets.Checkbox, "shares on a log axis", value=False),
    }
    controls |= control_of_models(kept)

    def rates(attribute, model=None):
        evaluation = evaluate_parts(
            of_model(kept, model),
            threshold=levels,
            by=attributes.get(attribute),
            histogram=(BINS, (lowest, highest)),
            varying=varying,
        )
        suffix = "_group" if attribute in attributes else ""
        with gathered_notices() as notices:
            far, frr = (band(evaluation, f"{rate}{suffix}") for rate in ("far", "frr"))
        for notice in notices:
            if notice.code != FEW_ERRORS:  # which the panel says of the chosen threshold
                warn(notice.text)
        thinned = evaluation["empirical"].get(f"thinned{suffix}", 0)
        return evaluation["empirical"], with_thinning(far, thinned), frr

    def errors(ax, data, threshold, log):
        histograms, far, frr = data
        plot.threshold(histograms, far, frr, threshold, ax, log=log)
        resolved = far.resolved & frr.resolved
        if not resolved.sel(threshold_level=threshold).all():
            warn(f"{FEW_ERRORS} at this threshold")

    def points(ax, data, threshold):
        _, far, frr = data
        plot.points_on_roc(far, frr, threshold, ax)

    panel = Panel(controls, errors, points, prepare=rates, margins=(0.75, 1.1), height=4.2, **start)
    if "threshold" not in start:
        start_at(controls, {"threshold": panel.data[0].eer_threshold.item()})
    return panel.box(above=[number])


def with_thinning(far, thinned):
    """The interval of a FAR, widened where kept pairs represent others.

    thinned : relative standard error of the FAR because pairs were thinned; 0 where all are there.
    """
    reach = ndtri((1 + far.attrs["level"]) / 2) * thinned * far.estimate
    lower = far.estimate - np.hypot(far.estimate - far.lower, reach)
    upper = far.estimate + np.hypot(far.upper - far.estimate, reach)
    return far.assign(lower=lower.clip(0), upper=upper.clip(max=1))
