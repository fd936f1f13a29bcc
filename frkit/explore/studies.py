"""Explorers of experiments: consistency, bootstrap bias, coverage, and representation bias."""

from functools import cache

import ipywidgets as widgets
import xarray as xr

from frkit import plot, studies
from frkit.base import require_returned
from frkit.explore.controls import far_names, far_range, menu, number, slider
from frkit.explore.panel import MARK, Panel
from frkit.plot.study_figures import BIAS, GROWTH

CURVES = {"naive: θ*": False, "recentered: θ + (θ* − θ~)": True}
FOLDS = {"people: no one in two folds": "identity", "images: a person may be in several": "image"}
STUDY = ("studies.coverage(mixture)", "coverage", "method", "level", "far_level", "scheme")
FANS = (*BIAS, "replicates", "truth", "replicate")


def consistency(result: xr.Dataset, **start) -> widgets.VBox:
    """Explore how the empirical ROC approaches its limit: size, range of FAR and model.

    Parameters
    ----------
    result : xr.Dataset
        What `studies.consistency` returned.
    **start
        Values to begin with: size, far (two levels), model.

    Returns
    -------
    ipywidgets.VBox
        Controls above two figures that follow them.

    Raises
    ------
    InputError
        For anything that `studies.consistency` did not return.

    References
    ----------
    Conti & Clémençon (2024), Proposition 1.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> result = fk.studies.consistency(mix, sizes=(4, 8), far=[0.1, 0.2], seeds=2)
    >>> box = fk.explore.consistency(result)
    >>> [control.description for control in box.children[0].children[:2]]
    ['images per identity', 'FAR range']
    """
    require_returned("result", result, *GROWTH)
    label = "images per identity" if result.attrs["exact"] else "share of the images"
    sizes = [(f"{size:g}", size) for size in result["size"].values.tolist()]
    controls = {"size": slider(label, options=sizes), "far": far_range(result["far_level"].values)}
    if "model" in result.dims:
        controls["model"] = menu("model", options=result["model"].values.tolist())

    def curves(ax, size, far, **model):
        plot.growth(result.sel(model), size, ax, far=far)

    def distances(ax, size, far, **model):
        chosen = result.sel(model)
        plot.consistency(studies.sup_distance(chosen, far), ax)
        ax.axvline(int(chosen.n_images.sel(size=size)), **MARK)

    return Panel(controls, curves, distances, **start).box()


def bootstrap_bias(study: xr.Dataset, **start) -> widgets.VBox:
    """Explore when the naive bootstrap goes wrong: images per identity, FAR, kind of curves.

    Parameters
    ----------
    study : xr.Dataset
        What `studies.bootstrap_bias` returned.
    **start
        Values to begin with: per_identity, far (a level), moved (True: recentered).

    Returns
    -------
    ipywidgets.VBox
        Controls above two figures that follow them.

    Raises
    ------
    InputError
        For anything that `studies.bootstrap_bias` did not return.

    References
    ----------
    Conti & Clémençon (2024), Figs. 2 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.bootstrap_bias(mix, per_identity=(5, 10), far=[0.1, 0.2], n=20)
    >>> box = fk.explore.bootstrap_bias(study)
    >>> [control.description for control in box.children[0].children[:3]]
    ['images per identity', 'FAR level', 'bootstrap curves']
    """
    require_returned("study", study, *FANS)
    levels = study["far_level"].values
    sizes = study.per_identity.values.tolist()
    controls = {
        "per_identity": slider("images per identity", options=sizes),
        "far": slider("FAR level", options=far_names(levels), index=len(levels) // 2),
        "moved": menu("bootstrap curves", options=CURVES),
    }

    def curves(ax, per_identity, far, moved):
        curves = study.sel(per_identity=per_identity)
        truth = xr.Dataset({"frr": study.truth})
        plot.replicate_curves(_recentered(curves) if moved else curves, ax, truth=truth)
        ax.axvline(far, **MARK)

    def intervals(ax, per_identity, far):
        plot.bootstrap_bias(study, far, ax)
        ax.axvline(sizes.index(per_identity), **MARK)

    return Panel(controls, curves, intervals, margins=(0.85, 1.35), **start).box()


def _recentered(curves):
    """The replicate curves moved from its centre to the empirical curve."""
    moved = curves.replicates - curves.centre + curves.estimate
    return curves.assign(replicates=moved).assign_attrs(method="recentered")


def coverage(study: xr.Dataset, **start) -> widgets.VBox:
    """Explore how often intervals cover the truth: FAR, nominal level and scheme.

    Parameters
    ----------
    study : xr.Dataset
        What `studies.coverage` returned.
    **start
        Values to begin with: far (a level), level, scheme.

    Returns
    -------
    ipywidgets.VBox
        Controls above two figures that follow them.

    Raises
    ------
    InputError
        For anything that `studies.coverage` did not return.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1, Figs. 6 and 9.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> options = dict(far=[0.1, 0.2], replicates=20, progress=False)
    >>> study = fk.studies.coverage(mix, n_datasets=4, **options)
    >>> box = fk.explore.coverage(study)
    >>> [control.description for control in box.children[0].children[:3]]
    ['FAR level', 'nominal coverage', 'scheme']
    """
    require_returned("study", study, *STUDY)
    fars = far_names(study["far_level"].values)
    levels = [(f"{level:.2f}", level) for level in study.level.values.tolist()]
    controls = {
        "far": slider("FAR level", options=fars, index=len(fars) // 2),
        "level": slider("nominal coverage", options=levels, index=len(levels) - 1),
        "scheme": menu("scheme", options=study.scheme.values.tolist()),
    }

    def coverage_of_levels(ax, far, level, scheme):
        plot.coverage(study.sel({"scheme": scheme, "far_level": far}), ax=ax)
        ax.axvline(level, **MARK)

    def along_far(ax, far, level, scheme):
        plot.coverage(study.sel({"scheme": scheme, "level": level}), "far_level", ax)
        ax.axvline(far, **MARK)

    return Panel(controls, coverage_of_levels, along_far, **start).box()


def representation_bias(**start) -> widgets.VBox:
    """Explore estimates of representation bias where the truth is known.

    Two Gaussian classes of people lie a chosen distance apart. The exact curve follows the class
    balance. A button draws people, and estimates RLB, held out and in sample, and the dataset bias.

    Parameters
    ----------
    **start
        Values to begin with: distance, share.

    Returns
    -------
    ipywidgets.VBox
        Controls above a figure that follows them. Estimates stay until the class balance changes.

    Raises
    ------
    InputError
        For a value to begin with that no control has.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1 and Section IV-B.

    Examples
    --------
    >>> import frkit as fk
    >>> box = fk.explore.representation_bias()
    >>> [control.description for control in box.children[0].children[:2]]
    ['attribute strength', 'share of class 1']
    """
    trials = {}  # by share
    controls = {
        "distance": number("attribute strength", value=2, min=0, max=6, step=0.5),
        "share": slider("share of class 1", options=[0.1, 0.25, 0.5, 0.75, 0.9], value=0.5),
    }
    true_bias = cache(studies.true_bias)

    def estimates(ax, distance, share):
        plot.trials(true_bias(share), trials.get(share, []), ax)
        ax.axvline(distance, **MARK)

    def compute(share, progress, **chosen):
        before = trials.setdefault(share, [])
        before.append(studies.trial(shares=(share, 1 - share), seed=len(before), **chosen))

    panel = Panel(controls, estimates, **start)
    return panel.box(
        "Draw people and estimate",
        compute,
        n_images=slider("images n", options=[300, 1000, 3000], value=1000),
        n_features=slider("dimension", options=[8, 64, 256], value=64),
        by=menu("folds of", options=FOLDS),
        hidden=slider("network width", options=[8, 64, 200], value=64),
    )
