"""Explorer of N-Sigma: number of subsets, people in each, reference group, risk levels, model."""

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot
from frkit.base import GROUP, require
from frkit.explore.panel import Panel, labelled
from frkit.nsigma import by_subsets, summarise

SUBSET, SUBSET_SIZE = "subset", "subset_size"
BEST = "the best group"
BESIDE = {"EERs of the subsets": "eer", "p against the number of subsets": "p"}
LEVELS = ("minimal", "limited", "high", "unacceptable")


def select(rates: xr.Dataset, count: int, reference: str | None, step: float, **at) -> xr.Dataset:
    """N of the first `count` subsets, with risk levels at multiples of `step`; `at` selects size and model."""
    levels = {name: step * place for place, name in enumerate(LEVELS)}
    return summarise(rates.sel(at).isel({SUBSET: slice(0, count)}), reference=reference, risk_levels=levels)


def draw(found: xr.Dataset, axes: list[Axes], *, signed: bool, beside: str) -> list[Axes]:
    """N over bands of risk on the left; on the right the subsets' EERs, or p against K."""
    plot.n_sigma(found, axes[0], signed=signed)
    if beside == "p":
        plot.dependence(by_subsets(found), "p_value", axes[1])
    else:
        plot.eer_distributions(found, axes[1])
    return axes


def n_sigma(result: xr.Dataset) -> widgets.VBox:
    """Explore what N and p depend on: number and size of the subsets, the reference, and the limits of risk.

    Parameters
    ----------
    result : what `n_sigma`, `nsigma.by_subset_size` or `studies.finetuning` returned; the second has a control for
        the people in a subset, the third one for the models.

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them; cautions beneath.

    Raises
    ------
    InputError : a result without the subsets' rates.

    References
    ----------
    DeAlcala et al. (2023), Fig. 1 and section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> found = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=50, fpr=0.1)
    >>> [child.description for child in fk.explore.n_sigma(found).children[:2]]
    ['number K of subsets', 'reference group']
    """
    there = {"eer", "tpr"} <= set(result.data_vars) and SUBSET in result.eer.dims
    require(there, "explore.n_sigma needs the subsets' rates: pass what n_sigma returned")
    rates = result[["eer", "tpr"]]
    rates.attrs = result.attrs
    controls = _controls(rates)

    def show(axes: list[Axes], count, reference, step, signed, beside, **at) -> None:
        chosen = None if reference == BEST else reference
        found = select(rates, count, chosen, step, **at)
        if SUBSET_SIZE in at:
            found.attrs[SUBSET_SIZE] = at[SUBSET_SIZE]
        draw(found, axes, signed=signed, beside=beside)

    return Panel(controls, show, columns=2).box()


def _controls(rates: xr.Dataset) -> dict[str, widgets.Widget]:
    """The controls, by the name under which their values are shown."""
    most = rates.sizes[SUBSET]
    counts = sorted({count for count in (5, 10, 20, 50, 100, 200, 500, 1000, 2000) if count < most} | {most})
    groups = [BEST, *(str(group) for group in rates[GROUP].values)]
    controls = {}
    for dim in rates.eer.dims:
        if dim in ("batch", SUBSET, GROUP):
            continue
        options = rates[dim].values.tolist()
        kind, words = (
            (widgets.SelectionSlider, "people in a subset") if dim == SUBSET_SIZE else (widgets.Dropdown, str(dim))
        )
        controls[dim] = labelled(kind, words, options=options, value=options[-1])
    return {
        "count": labelled(widgets.SelectionSlider, "number K of subsets", options=counts, value=most),
        **controls,
        "reference": labelled(widgets.Dropdown, "reference group", options=groups),
        "step": labelled(widgets.FloatSlider, "σ from level to level", value=1.0, min=0.25, max=4.0, step=0.25),
        "signed": labelled(widgets.Checkbox, "N with its sign", value=False),
        "beside": labelled(widgets.Dropdown, "on the right", options=BESIDE),
    }
