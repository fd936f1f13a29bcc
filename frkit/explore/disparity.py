"""Explorer of disparity measures: attribute, metric, models, FAR range, level, replicates, scheme, impostors."""

import json

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot
from frkit.base import FAR_LEVEL, MODEL, REPLICATE, require
from frkit.evaluation.evaluate import evaluate
from frkit.explore.panel import Panel, far_range, labelled
from frkit.intervals import band, decision_zones, floor, provenance
from frkit.measures import measure, names
from frkit.resampling import TARGETS, Resampling

SCHEMES = [name for name in TARGETS if name != "subset"]
WAITING = "not evaluated yet: press the button"


def select(
    evaluation: xr.DataTree, metric: str, models: tuple[str, ...], far: tuple[float, float], level: float, n: int
) -> tuple[xr.Dataset, xr.Dataset]:
    """Band and floor of a metric from the first n replicates, of some models, within a range of FAR."""
    part = first_replicates(evaluation, n)
    chosen = {FAR_LEVEL: slice(far[0] * (1 - 1e-9), far[1] * (1 + 1e-9))}
    chosen |= {MODEL: list(models)} if models else {}
    return band(part, metric, level=level).sel(chosen), floor(part, metric, level=level).sel(chosen)


def first_replicates(evaluation: xr.DataTree, n: int) -> xr.DataTree:
    """The evaluation as it would be with n replicates: the first n of any number are the same."""
    nodes = {name: child.to_dataset() for name, child in evaluation.children.items()}
    nodes["replicates"] = nodes["replicates"].isel({REPLICATE: slice(0, n)})
    result = xr.DataTree.from_dict(nodes)
    result.attrs["provenance"] = json.dumps({**provenance(evaluation), "n": nodes["replicates"].sizes[REPLICATE]})
    return result


def draw(found: tuple[xr.Dataset, xr.Dataset] | None, ax: Axes) -> Axes:
    """The chosen bands with floors, and zones where two models are compared; or words where nothing is chosen."""
    if found is None:
        ax.text(0.5, 0.5, WAITING, ha="center", va="center", transform=ax.transAxes)
        return ax
    bands, floors = found
    zones = decision_zones(bands) if bands.sizes.get(MODEL) == 2 else None
    return plot.fairness(bands, ax, floors=floors, zones=zones)


def fairness(
    evaluation: xr.DataTree | dict[str, xr.DataTree], scores: xr.DataArray | None = None, *, varying: str = "error"
) -> widgets.VBox:
    """Explore disparity measures with their bands and floors.

    Parameters
    ----------
    evaluation : what `evaluate(..., by=..., resampling=...)` returned at FAR levels, or several by attribute.
    scores : the tensor they were made of; then scheme and impostors can be changed, and a button evaluates anew,
        with a progress bar; what has been evaluated once is kept.
    varying : the rule for attributes that vary within an identity, as in `evaluate`.

    Returns
    -------
    ipywidgets.VBox : controls above a figure that follows them; cautions beneath it.

    Raises
    ------
    InputError : an evaluation without groups, FAR levels or replicates.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4 and Figs. 15-22.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> how = dict(far=[0.05, 0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), **how)
    >>> [child.description for child in fk.explore.fairness(ev).children[:3]]
    ['attribute', 'metric', 'FAR range']
    """
    store = _Store(evaluation, scores, varying)
    controls = _controls(store)

    def show(axes: list[Axes], attribute, metric, far, level, replicates, models=(), scheme=None, same=None) -> None:
        held = store.find(attribute, scheme, same)
        draw(None if held is None else select(held, metric, models, far, level, replicates), axes[0])

    panel = Panel(controls, show)
    return panel.box() if scores is None else panel.box(*_button(panel, store))


class _Store:
    """Evaluations by attribute, scheme and whether impostors come from the same group only."""

    def __init__(self, evaluation, scores, varying: str) -> None:
        given = evaluation if isinstance(evaluation, dict) else {"": evaluation}
        self.scores, self.varying, self.held = scores, varying, {}
        for one in given.values():
            known = provenance(one)
            require(known["by"] is not None, "explore.fairness needs groups: evaluate with by='an attribute'")
            require(FAR_LEVEL in one["empirical"].coords, "explore.fairness needs FAR levels: evaluate(..., far=...)")
            require("replicates" in one.children, "explore.fairness needs replicates: evaluate(..., resampling=...)")
            self.held[_words(known["by"]), known["scheme"], known["impostors"] == "same-group"] = one
        self.first = next(iter(self.held.values()))
        self.by = {_words(provenance(one)["by"]): provenance(one)["by"] for one in given.values()}

    def find(self, attribute: str, scheme: str | None, same: bool | None) -> xr.DataTree | None:
        """The evaluation with these settings, or None where it is still to be made."""
        if scheme is None:
            return next(one for (name, *_), one in self.held.items() if name == attribute)
        return self.held.get((attribute, scheme, same))

    def add(self, attribute: str, scheme: str, same: bool) -> None:
        """Evaluate the scores with these settings."""
        known = provenance(self.first)
        self.held[attribute, scheme, same] = evaluate(
            self.scores,
            far=self.first["empirical"][FAR_LEVEL].values,
            by=self.by[attribute],
            resampling=Resampling(scheme, n=known["n"], seed=known["seed"]),
            impostors="same-group" if same else "all",
            varying=self.varying,
            progress=True,
        )


def _words(by: str | list[str]) -> str:
    return by if isinstance(by, str) else " & ".join(by)


def _controls(store: _Store) -> dict[str, widgets.Widget]:
    """The controls, by the name under which their values are shown."""
    data = store.first["empirical"].to_dataset()
    n = store.first["replicates"].sizes[REPLICATE]
    metrics = [name for name in names() if measure(name).fair is not None and name.startswith(("far_", "frr_"))]
    metrics += ["fdr", "garbe", "ir"]
    counts = sorted({min(n, count) for count in (25, 50, 100, 200, 500, 1000)} | {n})
    controls = {
        "attribute": labelled(widgets.Dropdown, "attribute", options=list(store.by)),
        "metric": labelled(widgets.Dropdown, "metric", options=metrics, value="frr_max_geomean"),
        "far": far_range(data[FAR_LEVEL].values),
        "level": labelled(widgets.FloatSlider, "nominal level", value=0.95, min=0.5, max=0.99, step=0.01),
        "replicates": labelled(widgets.SelectionSlider, "replicates", options=counts, value=n),
    }
    if MODEL in data.dims:
        models = [str(name) for name in data[MODEL].values]
        several = {"options": models, "value": models[:2], "rows": min(6, len(models))}
        controls["models"] = labelled(widgets.SelectMultiple, "models (Ctrl for several)", **several)
    if store.scores is not None:
        known = provenance(store.first)
        controls["scheme"] = labelled(widgets.Dropdown, "scheme", options=SCHEMES, value=known["scheme"])
        same = known["impostors"] == "same-group"
        controls["same"] = labelled(widgets.Checkbox, "same-group pairs only", value=same)
    return controls


def _button(panel: Panel, store: _Store) -> tuple[widgets.Widget, widgets.Widget]:
    """A button that evaluates what the controls ask for, and the place of its progress bar."""
    button = widgets.Button(description="Evaluate these settings", layout={"width": "22em"})
    progress = widgets.Output()

    def run(_button: widgets.Button) -> None:
        wanted = [panel.controls[name].value for name in ("attribute", "scheme", "same")]
        button.disabled = True
        try:
            with progress:
                if store.find(*wanted) is None:
                    store.add(*wanted)
                panel.redraw()
        finally:
            button.disabled = False

    button.on_click(run)
    return button, progress
