"""Explorer of the bootstrap's bias: images per identity, FAR level, naive or recentered, and fresh data."""

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot
from frkit.base import FAR_LEVEL
from frkit.explore.panel import Panel, far_names, labelled
from frkit.studies import bootstrap_bias as study_of

FANS = {"naive: θ*": "naive", "recentered: θ + (θ* − θ~)": "recentered"}


def select(study: xr.Dataset, per_identity: int, kind: str) -> xr.Dataset:
    """The fan at one number of images per identity, as it is or moved to the empirical curve."""
    one = study.sel(per_identity=per_identity)
    if kind == "naive":
        return one
    return one.assign(replicates=one.replicates - one.centre + one.estimate).assign_attrs(method="recentered")


def draw(fan: xr.Dataset, study: xr.Dataset, far: float, axes: list[Axes]) -> list[Axes]:
    """The fan on the left with the FAR level marked, the intervals at that level on the right."""
    truth = xr.Dataset({"frr": study.truth})
    plot.fan(fan, axes[0], truth=truth)
    axes[0].axvline(far, color="#F0E442", linewidth=6, alpha=0.4, zorder=0)
    plot.bootstrap_bias(study, far, axes[1])
    chosen = study.per_identity.values.tolist().index(int(fan.per_identity))
    axes[1].axvspan(chosen - 0.35, chosen + 0.35, color="#F0E442", alpha=0.2, linewidth=0, zorder=0)
    return axes


def bootstrap_bias(study: xr.Dataset, mixture=None) -> widgets.VBox:
    """Explore when the naive bootstrap goes wrong: images per identity, FAR level, and kind of fan.

    Parameters
    ----------
    study : what `studies.bootstrap_bias` returned.
    mixture : the vmf Mixture it was made of; then a button draws new data and bootstraps them, with a
        progress bar.

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
    shown = {"study": study}
    numbers = [(str(number), number) for number in study.per_identity.values.tolist()]
    levels = far_names(study[FAR_LEVEL].values)
    controls = {
        "per_identity": labelled(widgets.SelectionSlider, "images per identity", options=numbers),
        "far": labelled(widgets.SelectionSlider, "FAR level", options=levels, index=len(levels) // 2),
        "kind": labelled(widgets.Dropdown, "bootstrap curves", options=FANS),
    }

    def show(axes: list[Axes], per_identity, far, kind) -> None:
        draw(select(shown["study"], per_identity, kind), shown["study"], far, axes)

    panel = Panel(controls, show, columns=2, foot=1.25)
    return panel.box() if mixture is None else panel.box(*_fresh_data(panel, shown, mixture))


def _fresh_data(panel: Panel, shown: dict[str, xr.Dataset], mixture) -> tuple[widgets.Widget, widgets.Widget]:
    """A button that draws the next data set and bootstraps it, and the place of its progress bar."""
    button = widgets.Button(description="Draw new data and bootstrap them", layout={"width": "22em"})
    progress = widgets.Output()

    def run(_button: widgets.Button) -> None:
        old = shown["study"]
        button.disabled = True
        try:
            with progress:
                shown["study"] = study_of(
                    mixture,
                    per_identity=tuple(old.per_identity.values.tolist()),
                    far=old[FAR_LEVEL].values,
                    n=old.sizes["replicate"],
                    seed=old.attrs["seed"] + 1,
                    level=old.attrs["level"],
                )
                panel.redraw()
        finally:
            button.disabled = False

    button.on_click(run)
    return button, progress
