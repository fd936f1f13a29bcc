"""Explorers that go step by step: a threshold, one replicate, or one data set after the other."""

import ipywidgets as widgets
import numpy as np
import xarray as xr
from scipy.special import ndtri

from frkit import plot
from frkit.base import gathered_notices, require, require_returned, require_sequence, warn
from frkit.data.labels import attributes_of
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.sweep import MOST_LABELS, sweep
from frkit.explore.controls import labelled_control, menu, start_at, stepper
from frkit.explore.panel import Panel
from frkit.explore.study import control_of, drawn_by
from frkit.intervals import band, replicate_curves
from frkit.intervals.reading import FEW_ERRORS
from frkit.io.demo import demo_file
from frkit.papers.roc.coverage_figures import STUDY
from frkit.reporting.look import attributes_with_groups
from frkit.resampling import Resampling
from frkit.scores.groups import ends_of_scores
from frkit.scores.kept import IMAGES, is_symmetric, model_names_of

STORED = "one_by_one_intervals.nc"
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
            auc=False,
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


def control_of_models(kept):
    """Return a menu of the models, if there are several."""
    models = model_names_of(kept)
    return {"model": control_of("model", models)} if models else {}


def of_model(kept, model):
    """Return the kept pairs of a model; all if there is only one."""
    return kept if model is None else kept.sel(model=model)


def with_thinning(far, thinned):
    """The interval of a FAR, widened where kept pairs represent others.

    thinned : relative standard error of the FAR because pairs were thinned; 0 where all are there.
    """
    reach = ndtri((1 + far.attrs["level"]) / 2) * thinned * far.estimate
    lower = far.estimate - np.hypot(far.estimate - far.lower, reach)
    upper = far.estimate + np.hypot(far.upper - far.estimate, reach)
    return far.assign(lower=lower.clip(0), upper=upper.clip(max=1))


def resample(
    scores: xr.DataArray | xr.DataTree,
    *,
    far: float = 0.01,
    n: int = 500,
    **start,
) -> widgets.Box:
    """Draw one replicate after the other, and see what becomes of the FRR.

    On the left is how often the replicate contains each image. Two copies of one image are a
    genuine pair that no system rejects. On the right are the FRRs of the replicates so far: they
    pile up around the V-statistic, below the FRR of the data.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        A score tensor, or its kept pairs from `sweep`.
    far : float in (0, 1)
        The FAR level, at which every replicate has its own threshold.
    n : int
        Number of replicates.
    **start
        Values to begin with: number (of replicates), model.

    Returns
    -------
    ipywidgets.Box
        A slider and buttons ("next", "100 more", play) above two figures that follow them.

    Raises
    ------
    InputError
        As `sweep` and `evaluate`; for scores of anything but every image with every other.

    References
    ----------
    Conti & Clémençon (2024), Algorithm 1, eq. 10 and Fig. 2.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> box = fk.explore.resample(fk.score_tensor(faces), far=0.1, n=50)
    >>> [control.description for control in box.children[0].children]
    ['replicate', 'next', '100 more', '']
    """
    kept = sweep(scores, far=far)
    require(is_symmetric(kept), "replicates of images need scores of every image with every other")
    draws = Resampling("image", n=n)
    table = kept[IMAGES].dataset
    counts = draws.weights(table["identity"].values, table["image"].values).image_count
    counts = counts.assign_coords(identity=("image", table["identity"].values))
    number, steps = stepper("replicate", n)
    controls = {"number": number} | control_of_models(kept)

    def curves(model=None):
        evaluation = evaluate_parts(
            of_model(kept, model), far=[far], resampling=draws, people=False
        )
        return replicate_curves(evaluation).isel(far_level=0)

    def images(ax, _curves, number):
        plot.image_counts(counts.isel(replicate=number - 1), ax)

    def rates(ax, curves, number):
        plot.replicates(curves, number, ax)

    panel = Panel(controls, images, rates, prepare=curves, margins=(1.2, 1.45), height=4.0, **start)
    return panel.box(above=[number, *steps])


def intervals(study: xr.Dataset | None = None, **start) -> widgets.Box:
    """See intervals of one data set after the other, and how often they contain the truth.

    Methods are drawn side by side. A menu says whose error rate is the truth: that of the people in
    each data set, or that of new people from the same population.

    Parameters
    ----------
    study : xr.Dataset, optional
        What `data/make_one_by_one_intervals.py` makes. By default the stored one of 200 data sets:
        100 new people in each, 5 images of each person.
    **start
        Values to begin with: number (of data sets), people, level, far_level.

    Returns
    -------
    ipywidgets.Box
        A slider and buttons ("next", "100 more", play) above two figures that follow them.

    Raises
    ------
    InputError
        For anything else.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1.

    Examples
    --------
    >>> import frkit as fk
    >>> controls, figures = fk.explore.intervals().children
    >>> [control.description for control in controls.children]
    ['whose FRR is the truth', 'nominal coverage', 'FAR level']
    """
    if study is None:
        study = xr.load_dataset(demo_file(STORED), engine="h5netcdf")
    require_returned("study", study, *STUDY, "people", "level", "far_level")
    number, steps = stepper("data sets", study.sizes["data_set"])
    dims = ("people", "level", "far_level")
    controls = {dim: control_of(dim, study[dim].values.tolist()) for dim in dims}
    controls["number"] = number
    draws = [drawn_by(figure, controls) for figure in (plot.interval_stack, plot.running_hits)]
    frame = {"margins": (0.65, 1.4), "height": 4.2}
    panel = Panel(controls, *draws, prepare=lambda: study, **frame, **start)
    return panel.box(above=[number, *steps])
