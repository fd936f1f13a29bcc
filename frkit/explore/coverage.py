"""Explorer of coverage studies: FAR, level and scheme of a computed one, and new ones of another size."""

import json

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot
from frkit.base import FAR_LEVEL
from frkit.explore.panel import Panel, far_names, labelled
from frkit.studies import coverage as study_of
from frkit.vmf import mixture

BESIDE = {"coverage along FAR": "along", "laws of the error": "laws"}
SIZES = {
    "n_identities": ("identities K", 20, 1000, 20),
    "per_identity": ("images per identity n_k", 2, 20, 1),
    "dim": ("dimension p", 16, 256, 16),
    "n_datasets": ("data sets", 20, 200, 20),
}


def select(study: xr.Dataset, scheme: str) -> xr.Dataset:
    """The study of one scheme."""
    return study.sel({"scheme": scheme})


def draw(study: xr.Dataset, far: float, level: float, beside: str, axes: list[Axes]) -> list[Axes]:
    """Coverage against the nominal level on the left; along FAR, or the laws of the error, on the right."""
    marked = dict(color="#F0E442", linewidth=6, alpha=0.4, zorder=0)
    plot.coverage(study, far, axes[0])
    axes[0].axvline(level, **marked)
    if beside == "laws":
        plot.error_laws(study, far, axes[1])
        return axes
    plot.coverage_along(study.sel(level=level), ax=axes[1])
    axes[1].axvline(far, **marked)
    return axes


def coverage(study: xr.Dataset) -> widgets.VBox:
    """Explore how often intervals hold the truth: FAR, nominal level, scheme; and studies of another size.

    Parameters
    ----------
    study : what `studies.coverage` returned.

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
    shown = {"study": study}
    levels = [(f"{level:.2f}", level) for level in study.level.values.tolist()]
    fars = far_names(study[FAR_LEVEL].values)
    schemes = [str(name) for name in study.scheme.values]
    controls = {
        "far": labelled(widgets.SelectionSlider, "FAR level", options=fars, index=len(fars) // 2),
        "level": labelled(widgets.SelectionSlider, "nominal coverage", options=levels, index=len(levels) - 1),
        "scheme": labelled(widgets.Dropdown, "scheme", options=schemes),
        "beside": labelled(widgets.Dropdown, "on the right", options=BESIDE),
    }

    def show(axes: list[Axes], far, level, scheme, beside) -> None:
        draw(select(shown["study"], scheme), far, level, beside, axes)

    panel = Panel(controls, show, columns=2)
    return panel.box(*_new_study(panel, shown))


def _sizes(study: xr.Dataset) -> dict[str, widgets.Widget]:
    """Controls of the size of a new study, set to that of the study at hand."""
    made = json.loads(study.attrs["study"])
    controls = {}
    for name, (label, low, high, step) in SIZES.items():
        value = made[name] if isinstance(made[name], int) else low
        limits = {"min": low, "max": max(high, value), "step": step}
        controls[name] = labelled(widgets.IntSlider, label, value=max(value, low), **limits)
    low, high = made["concentrations"]
    limits = {"min": 1, "max": max(1000, high), "step": 1}
    controls["kappa"] = labelled(widgets.FloatRangeSlider, "concentrations κ", value=(low, high), **limits)
    return controls


def _new_study(panel: Panel, shown: dict[str, xr.Dataset]) -> list[widgets.Widget]:
    """Controls of a new study, the button that computes it, and the place of its progress bar."""
    sizes = _sizes(shown["study"])
    button = widgets.Button(description="Run a study of this size", layout={"width": "22em"})
    progress = widgets.Output()

    def run(_button: widgets.Button) -> None:
        asked = {name: control.value for name, control in sizes.items()}
        button.disabled = True
        try:
            with progress:
                shown["study"] = _computed(shown["study"], **asked)
                panel.redraw()
        finally:
            button.disabled = False

    button.on_click(run)
    return [*sizes.values(), button, progress]


def _computed(old: xr.Dataset, n_identities, per_identity, dim, n_datasets, kappa) -> xr.Dataset:
    """A study of a new mixture, with the FAR levels, schemes and methods of the old one."""
    made = json.loads(old.attrs["study"])
    return study_of(
        mixture(n_identities, dim, kappa=kappa, seed=made["seed"]),
        n_datasets=n_datasets,
        per_identity=per_identity,
        far=old[FAR_LEVEL].values,
        schemes=tuple(old.scheme.values.tolist()),
        methods=tuple(old["method"].values.tolist()),
        levels=tuple(old.level.values.tolist()),
        replicates=made["replicates"],
        seed=made["seed"],
    )
