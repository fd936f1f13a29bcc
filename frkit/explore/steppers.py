"""Explorers that go step by step: one replicate, or one data set, after the other."""

import ipywidgets as widgets
import xarray as xr

from frkit import plot
from frkit.base import require, require_returned
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.sweep import sweep
from frkit.explore.controls import far_names, menu, stepper
from frkit.explore.panel import Panel, cached
from frkit.intervals import replicate_curves
from frkit.io.demo import demo_file
from frkit.plot.coverage_figures import STUDY
from frkit.resampling import Resampling
from frkit.scores.kept import IMAGES, is_symmetric, model_names_of

STORED = "one_by_one_intervals.nc"


def resample(
    scores: xr.DataArray | xr.DataTree,
    *,
    far: float = 0.01,
    n: int = 500,
    people: int = 8,
    **start,
) -> widgets.VBox:
    """Draw one replicate after the other, and see what becomes of the FRR.

    On the left is how often the replicate contains each image. Two copies of one image are a
    genuine pair that no system rejects. On the right are the FRRs of the replicates so far: they
    pile up around the V-statistic, below the FRR of the data. All replicates are evaluated once,
    from the kept pairs.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        A score tensor, or its kept pairs from `sweep`.
    far : float in (0, 1)
        The FAR level, at which every replicate has its own threshold.
    n : int
        Number of replicates.
    people : int
        Number of people shown.
    **start
        Values to begin with: number (of replicates), model.

    Returns
    -------
    ipywidgets.VBox
        A slider, buttons ("next", "100 more", play) and two figures that follow them; cautions
        beneath.

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
    controls = {"number": number}
    models = model_names_of(kept)
    if models:
        controls["model"] = menu("model", options=models)

    @cached
    def replicates(model=None):
        pairs_of_model = kept if model is None else kept.sel(model=model)
        evaluation = evaluate_parts(pairs_of_model, far=[far], resampling=draws, people=False)
        return replicate_curves(evaluation).isel(far_level=0)

    def images(ax, number):
        plot.image_counts(counts.isel(replicate=number - 1), ax, people=people)

    def rates(ax, number, **model):
        plot.replicates(replicates(**model), number, ax)

    return Panel(controls, images, rates, margins=(1.2, 1.45), height=4.0, **start).box(steps=steps)


def intervals(study: xr.Dataset | None = None, **start) -> widgets.VBox:
    """See intervals of one data set after the other, and how often they contain the truth.

    Methods are drawn side by side. A menu says whose error rate is the truth: that of the people in
    each data set, or that of new people from the same population.

    Parameters
    ----------
    study : xr.Dataset, optional
        What `data/make_one_by_one_intervals.py` makes. By default the stored one of 200 data sets:
        100 new people in each, 5 images of each person.
    **start
        Values to begin with: number (of data sets), people, level, far (a level).

    Returns
    -------
    ipywidgets.VBox
        A slider, buttons ("next", "100 more", play) and two figures that follow them.

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
    >>> box = fk.explore.intervals()
    >>> [control.description for control in box.children[0].children]
    ['data sets', 'next', '100 more', '', 'truth', 'nominal level', 'FAR level']
    """
    if study is None:
        study = xr.load_dataset(demo_file(STORED), engine="h5netcdf")
    require_returned("study", study, *STUDY, "people", "level", "far_level")
    number, steps = stepper("data sets", study.sizes["data_set"])
    levels = study["level"].values.tolist()
    truths = {f"the FRR of {people}": people for people in study["people"].values.tolist()}
    controls = {
        "number": number,
        "people": menu("truth", options=truths),
        "level": menu("nominal level", options=levels, value=levels[-1]),
        "far": menu("FAR level", options=far_names(study["far_level"].values)),
    }

    def chosen(people, level, far):
        return study.sel(people=people, level=level, far_level=far)

    def stack(ax, number, **selected):
        plot.interval_stack(chosen(**selected), number, ax)

    def shares(ax, number, **selected):
        plot.running_hits(chosen(**selected), number, ax)

    return Panel(controls, stack, shares, margins=(0.65, 1.4), height=4.2, **start).box(steps=steps)
