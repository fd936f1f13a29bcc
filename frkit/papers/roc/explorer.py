"""Explorers of replicates and of intervals, one after the other, and what those of studies draw."""

import ipywidgets as widgets
import xarray as xr

from frkit.base import require, require_returned
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.sweep import sweep
from frkit.figures import roc
from frkit.figures.controls import control_of, stepper
from frkit.figures.panel import Panel, drawn_by
from frkit.intervals import replicate_curves
from frkit.io.demo import demo_file
from frkit.papers.roc import coverage_figures, replicate_figures, study_figures
from frkit.papers.roc.consistency import sup_distance
from frkit.resampling import Resampling
from frkit.scores.kept import IMAGES, is_symmetric, model_names_of

STORED = "one_by_one_intervals.nc"
# the chosen place in a figure
MARK = {"color": "#F0E442", "linewidth": 6, "alpha": 0.4, "zorder": 0}


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
    counts = counts.assign_coords(identity=table["identity"].variable)
    number, steps = stepper("replicate", n)
    controls = {"number": number} | control_of_models(kept)

    def curves(model=None):
        evaluation = evaluate_parts(
            of_model(kept, model), far=[far], resampling=draws, people=False
        )
        return replicate_curves(evaluation).isel(far_level=0)

    def images(ax, _curves, number):
        replicate_figures.image_counts(counts.isel(replicate=number - 1), ax)

    def rates(ax, curves, number):
        replicate_figures.replicates(curves, number, ax)

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
    require_returned("study", study, *coverage_figures.STUDY, "people", "level", "far_level")
    number, steps = stepper("data sets", study.sizes["data_set"])
    dims = ("people", "level", "far_level")
    controls = {dim: control_of(dim, study[dim].values.tolist()) for dim in dims}
    controls["number"] = number
    figures = coverage_figures.interval_stack, coverage_figures.running_hits
    draws = [drawn_by(figure, controls) for figure in figures]
    frame = {"margins": (0.65, 1.4), "height": 4.2}
    panel = Panel(controls, *draws, prepare=lambda: study, **frame, **start)
    return panel.box(above=[number, *steps])


def control_of_models(kept):
    """Return a menu of the models, if there are several."""
    models = model_names_of(kept)
    return {"model": control_of("model", models)} if models else {}


def of_model(kept, model):
    """Return the kept pairs of a model; all if there is only one."""
    return kept if model is None else kept.sel(model=model)


# --- studies, with the chosen place marked --------------------------------------------------------


def distances(result, ax, size):
    """Draw the largest distances of the curves at all sizes."""
    study_figures.consistency(sup_distance(result), ax)
    ax.axvline(int(result.n_images.sel(size=size)), **MARK)


def curves_of_replicates(result, ax, far_level):
    """Draw the replicate curves of one number of images per identity."""
    curves = result.assign_attrs(kind="replicate_curves")
    roc.replicate_curves(curves, ax, truth=xr.Dataset({"frr": result.truth}))
    ax.axvline(far_level, **MARK)


def bias(result, ax, per_identity, far_level):
    """Draw the intervals of all numbers of images per identity."""
    study_figures.bootstrap_bias(result, far_level, ax)
    ax.axvline(result.indexes["per_identity"].get_loc(per_identity), **MARK)


def coverage_of_levels(result, ax, level):
    """Draw coverage over nominal levels."""
    coverage_figures.coverage(result, "level", ax)
    ax.axvline(level, **MARK)


def coverage_along_far(result, ax, far_level):
    """Draw coverage over FAR levels."""
    coverage_figures.coverage(result, "far_level", ax)
    ax.axvline(far_level, **MARK)


STUDIES = {  # kind of a study -> its figures, and dimensions without a control
    "studies.consistency": ([study_figures.growth, distances], ["far_level", "seed"]),
    "studies.bootstrap_bias": ([curves_of_replicates, bias], ["replicate", "interval"]),
    "studies.coverage": ([coverage_of_levels, coverage_along_far], ["method"]),
}
