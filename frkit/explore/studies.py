"""Explorers of experiments: consistency, bias of the bootstrap, coverage, and representation bias."""

import json
from functools import cache

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot, studies
from frkit.base import FAR_LEVEL, MODEL, REPLICATE, require, require_returned, require_whole
from frkit.explore.panel import (
    MARK,
    Panel,
    far_names,
    far_range,
    labelled,
    menu,
    number,
    say,
    slider,
)
from frkit.plot.coverage import STUDY
from frkit.plot.studies import BIAS, GROWTH
from frkit.vmf import Mixture, mixture

SIZES = {
    "n_identities": ("identities K", 20, 1000, 20),
    "per_identity": ("images per identity n_k", 2, 20, 1),
    "dim": ("dimension p", 16, 256, 16),
    "n_datasets": ("data sets", 20, 200, 20),
}
SPLITS = {"people: no one in two folds": "identity", "images: a person may be in several": "image"}
FANS = (*BIAS, "replicates", "truth", REPLICATE, "seed", "level")


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
    require_returned("result", result, *GROWTH)
    label = "images per identity" if result.attrs["exact"] else "share of the images"
    sizes = [(f"{size:g}", size) for size in result["size"].values.tolist()]
    controls = {"size": slider(label, options=sizes), "far": far_range(result[FAR_LEVEL].values)}
    if MODEL in result.dims:
        controls["model"] = menu("model", options=result[MODEL].values.tolist())

    def curves(ax: Axes, size, far, model=None) -> None:
        plot.growth(result if model is None else result.sel({MODEL: model}), size, ax, far=far)

    def distances(ax: Axes, size, far, model=None) -> None:
        one = result if model is None else result.sel({MODEL: model})
        plot.consistency(studies.sup_distance(one, far), ax).axvline(
            int(one.n_images.sel(size=size)), **MARK
        )

    return Panel(controls, curves, distances, start=start).box()


def bootstrap_bias(study: xr.Dataset, mixture: Mixture | None = None, **start) -> widgets.VBox:
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
    require_returned("study", study, *FANS)
    known = mixture is None or isinstance(mixture, Mixture)
    require(known, "mixture must be what vmf.mixture(n_identities, dim) returned")
    shown = {"study": study}
    levels, sizes = far_names(study[FAR_LEVEL].values), study.per_identity.values.tolist()
    controls = {
        "per_identity": slider("images per identity", options=sizes),
        "far": slider("FAR level", options=levels, index=len(levels) // 2),
        "moved": menu(
            "bootstrap curves", options={"naive: θ*": False, "recentered: θ + (θ* − θ~)": True}
        ),
    }

    def curves(ax: Axes, per_identity, far, moved) -> None:
        fan, truth = (
            shown["study"].sel(per_identity=per_identity),
            xr.Dataset({"frr": shown["study"].truth}),
        )
        plot.fan(recentered(fan) if moved else fan, ax, truth=truth).axvline(far, **MARK)

    def intervals(ax: Axes, per_identity, far) -> None:
        plot.bootstrap_bias(shown["study"], far, ax).axvline(sizes.index(per_identity), **MARK)

    def compute(**_chosen) -> None:
        attrs = shown["study"].attrs
        how = {"n": study.sizes[REPLICATE], "seed": attrs["seed"] + 1, "level": attrs["level"]}
        far = study[FAR_LEVEL].values
        shown["study"] = studies.bootstrap_bias(
            mixture, per_identity=tuple(sizes), far=far, progress=False, **how
        )

    def seconds(**_chosen) -> float:
        people, n = len(mixture.concentrations), study.sizes[REPLICATE]
        return sum(0.2 + 5e-9 * (people * size) ** 2 * (1 + n / 200) for size in sizes)  # two cores

    panel = Panel(controls, curves, intervals, room=(0.85, 1.35), start=start)
    return (
        panel.box()
        if mixture is None
        else panel.box("Draw new data and bootstrap them", compute, seconds)
    )


def recentered(fan: xr.Dataset) -> xr.Dataset:
    """The fan moved from its centre to the empirical curve."""
    moved = fan.replicates - fan.centre + fan.estimate
    return fan.assign(replicates=moved).assign_attrs(method="recentered")


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
    require_returned("study", study, *STUDY, "scheme", "study")
    shown, made, fars = (
        {"study": study},
        json.loads(study.attrs["study"]),
        far_names(study[FAR_LEVEL].values),
    )
    levels = [(f"{level:.2f}", level) for level in study.level.values.tolist()]
    controls = {
        "far": slider("FAR level", options=fars, index=len(fars) // 2),
        "level": slider("nominal coverage", options=levels, index=len(levels) - 1),
        "scheme": menu("scheme", options=study.scheme.values.tolist()),
        "beside": menu(
            "on the right", options={"coverage along FAR": "along", "laws of the error": "laws"}
        ),
    }
    asked = {}
    for name, (label, low, high, step) in SIZES.items():
        value = made[name] if isinstance(made[name], int) else low
        limits = {"min": min(low, value), "max": max(high, value), "step": step}
        asked[name] = labelled(widgets.IntSlider, label, value=value, **limits)
    limits = {
        "min": 1,
        "max": max(1000, made["concentrations"][1]),
        "step": 1,
        "readout_format": ".0f",
    }
    ends = [float(round(end)) for end in made["concentrations"]]  # on the slider's steps
    asked["kappa"] = labelled(widgets.FloatRangeSlider, "concentrations κ", value=ends, **limits)

    def levels_of(ax: Axes, far, level, scheme) -> None:
        plot.coverage(shown["study"].sel({"scheme": scheme}), far, ax).axvline(level, **MARK)

    def rest(ax: Axes, far, level, scheme, beside) -> None:
        one = shown["study"].sel({"scheme": scheme})
        if beside == "laws":
            plot.error_laws(one, far, ax)
        else:
            plot.coverage_along(one.sel(level=level), ax=ax).axvline(far, **MARK)

    def compute(n_identities, per_identity, dim, n_datasets, kappa, **_chosen) -> None:
        kept = {
            f"{name}s": tuple(study[name].values.tolist()) for name in ("scheme", "method", "level")
        }
        population = mixture(n_identities, dim, kappa=kappa, seed=made["seed"])
        sizes = {
            "n_datasets": n_datasets,
            "per_identity": per_identity,
            "replicates": made["replicates"],
        }
        sizes |= {"far": study[FAR_LEVEL].values, "seed": made["seed"], "progress": False}
        shown["study"] = studies.coverage(population, **sizes, **kept)

    def seconds(n_identities, per_identity, n_datasets, **_chosen) -> float:
        return n_datasets * (0.03 + 0.3 * (n_identities * per_identity / 1e4) ** 2)  # two cores

    return Panel(controls, levels_of, rest, start=start).box(
        "Run a study of this size", compute, seconds, **asked
    )


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

    def estimates(ax: Axes, distance, share) -> None:
        plot.trials(true_bias(share), done.get(share, []), ax).axvline(distance, **MARK)

    def measures(ax: Axes, share) -> None:
        if not done.get(share):
            return say(ax, "not estimated yet: press the button")
        plot.comparators(done[share][-1], ax)

    def compute(share, **chosen) -> None:
        before = done.setdefault(share, [])
        law = {"shares": (share, 1 - share), "per_identity": per_identity}
        before.append(studies.trial(**chosen, **law, seed=len(before)))

    def seconds(n_images, hidden, **_chosen) -> float:
        return 1 + n_images * (20 + hidden) / 40_000  # two cores

    return Panel(controls, estimates, measures, start=start).box(
        "Draw people and estimate", compute, seconds, **asked
    )
