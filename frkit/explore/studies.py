"""Explorers of experiments: consistency, bootstrap bias, coverage, and representation bias."""

import json
from functools import cache

import ipywidgets as widgets
import xarray as xr

from frkit import plot, studies
from frkit.base import require_returned, require_whole
from frkit.explore.controls import far_names, far_range, labelled_control, menu, number, slider
from frkit.explore.panel import MARK, Panel, write_on
from frkit.plot.coverage import STUDY
from frkit.plot.studies import BIAS, GROWTH
from frkit.vmf import Mixture, mixture

SIZES = {
    "n_identities": ("identities K", 20, 1000, 20),
    "per_identity": ("images per identity n_k", 2, 20, 1),
    "dim": ("dimension p", 16, 256, 16),
    "n_datasets": ("data sets", 20, 200, 20),
}
CURVES = {"naive: θ*": False, "recentered: θ + (θ* − θ~)": True}
FOLDS = {"people: no one in two folds": "identity", "images: a person may be in several": "image"}
FANS = (*BIAS, "replicates", "truth", "replicate", "seed", "level")


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


def bootstrap_bias(study: xr.Dataset, mixture: Mixture | None = None, **start) -> widgets.VBox:
    """Explore when the naive bootstrap goes wrong: images per identity, FAR, kind of curves.

    Parameters
    ----------
    study : xr.Dataset
        What `studies.bootstrap_bias` returned.
    mixture : Mixture, optional
        The mixture that the study was made of. Then a button draws new data and bootstraps them.
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

    def compute(progress, **_chosen):
        nonlocal study
        study = studies.bootstrap_bias(
            mixture,
            per_identity=tuple(sizes),
            far=levels,
            n=study.sizes["replicate"],
            level=study.attrs["level"],
            seed=study.attrs["seed"] + 1,
            progress=progress,
        )

    panel = Panel(controls, curves, intervals, margins=(0.85, 1.35), **start)
    if mixture is None:
        return panel.box()
    return panel.box("Draw new data and bootstrap them", compute)


def _recentered(curves):
    """The replicate curves moved from its centre to the empirical curve."""
    moved = curves.replicates - curves.centre + curves.estimate
    return curves.assign(replicates=moved).assign_attrs(method="recentered")


def coverage(study: xr.Dataset, **start) -> widgets.VBox:
    """Explore how often intervals cover the truth: FAR, nominal level, scheme; and other sizes.

    Parameters
    ----------
    study : xr.Dataset
        What `studies.coverage` returned.
    **start
        Values to begin with: far (a level), level, scheme.

    Returns
    -------
    ipywidgets.VBox
        Controls above two figures that follow them. Further controls set the size of a new study,
        which a button computes.

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
    require_returned("study", study, *STUDY, "scheme", "study")
    settings = json.loads(study.attrs["study"])
    fars = far_names(study["far_level"].values)
    levels = [(f"{level:.2f}", level) for level in study.level.values.tolist()]
    controls = {
        "far": slider("FAR level", options=fars, index=len(fars) // 2),
        "level": slider("nominal coverage", options=levels, index=len(levels) - 1),
        "scheme": menu("scheme", options=study.scheme.values.tolist()),
    }

    def coverage_of_levels(ax, far, level, scheme):
        plot.coverage(study.sel({"scheme": scheme}), far, ax)
        ax.axvline(level, **MARK)

    def along_far(ax, far, level, scheme):
        plot.coverage_along(study.sel({"scheme": scheme, "level": level}), ax=ax)
        ax.axvline(far, **MARK)

    def compute(n_identities, per_identity, dim, n_datasets, kappa, progress, **_chosen):
        nonlocal study
        study = studies.coverage(
            mixture(n_identities, dim, kappa=kappa, seed=settings["seed"]),
            n_datasets=n_datasets,
            per_identity=per_identity,
            far=study["far_level"].values,
            schemes=tuple(study.scheme.values.tolist()),
            methods=tuple(study.method.values.tolist()),
            levels=tuple(study.level.values.tolist()),
            replicates=settings["replicates"],
            seed=settings["seed"],
            progress=progress,
        )

    panel = Panel(controls, coverage_of_levels, along_far, **start)
    return panel.box("Run a study of this size", compute, **size_controls(settings))


def size_controls(settings):
    """Sliders for the size of a coverage study; they begin with that of these settings."""
    sliders = {}
    for name, (label, low, high, step) in SIZES.items():
        value = settings[name] if isinstance(settings[name], int) else low
        sliders[name] = labelled_control(
            widgets.IntSlider,
            label,
            value=value,
            step=step,
            min=min(low, value),
            max=max(high, value),
        )
    kappa = [round(end) for end in settings["concentrations"]]
    sliders["kappa"] = labelled_control(
        widgets.IntRangeSlider, "concentrations κ", value=kappa, min=1, max=max(1000, kappa[1])
    )
    return sliders


def representation_bias(per_identity: int = 10, **start) -> widgets.VBox:
    """Explore estimates of representation bias where the truth is known.

    Two Gaussian classes of people lie a chosen distance apart. The exact curve follows the class
    balance. A button draws people and estimates RLB, held out and in sample, and the comparators.

    Parameters
    ----------
    per_identity : int
        Images of each person, 1 or more; half of their noise is common to them.
    **start
        Values to begin with: distance, share.

    Returns
    -------
    ipywidgets.VBox
        Controls above two figures that follow them. Estimates stay until the class balance
        changes.

    Raises
    ------
    InputError
        For `per_identity` below 1.

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
    require_whole("per_identity", per_identity, 1)
    trials = {}  # by share
    controls = {
        "distance": number("attribute strength", value=2, min=0, max=6, step=0.5),
        "share": slider("share of class 1", options=[0.1, 0.25, 0.5, 0.75, 0.9], value=0.5),
    }
    true_bias = cache(studies.true_bias)

    def estimates(ax, distance, share):
        plot.trials(true_bias(share), trials.get(share, []), ax)
        ax.axvline(distance, **MARK)

    def measures(ax, share):
        if share in trials:
            plot.comparators(trials[share][-1], ax)
        else:
            write_on(ax, "not estimated yet: press the button")

    def compute(share, progress, **chosen):
        before = trials.setdefault(share, [])
        before.append(
            studies.trial(
                shares=(share, 1 - share), per_identity=per_identity, seed=len(before), **chosen
            )
        )

    panel = Panel(controls, estimates, measures, **start)
    return panel.box(
        "Draw people and estimate",
        compute,
        n_images=slider("images n", options=[300, 1000, 3000], value=1000),
        n_features=slider("dimension", options=[8, 64, 256], value=64),
        by=menu("folds of", options=FOLDS),
        hidden=slider("network width", options=[8, 64, 200], value=64),
    )
