"""Explorer of the fairness indices: what unequal groups, bins, score map and balance do to them."""

from collections.abc import Callable, Mapping

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot
from frkit.base import GROUP, require
from frkit.explore.panel import Panel, labelled
from frkit.indices import fairness_indices as indices_of
from frkit.indices import thinned

SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05)
BINS = (10, 20, 50, 100, 200)


def select(scores, by, score_map: str | Callable, bins: int, balance: bool, keep: dict, deals: int) -> xr.Dataset:
    """The indices of the scores that stay where some groups lose people."""
    return indices_of(
        thinned(scores, by=by, keep=keep), by=by, score_map=score_map, bins=bins, balance=balance, deals=deals
    )


def draw(found: xr.Dataset, axes: list[Axes]) -> list[Axes]:
    """Score distributions on the left, the nine indices with their floors on the right."""
    plot.score_histograms(found, axes[0])
    plot.fairness_indices(found, axes[1])
    weights = ", ".join(f"{float(w):.3f}" for w in found.weights)
    axes[0].set_title(f"weights of the groups: {weights}", loc="left", fontsize=8.5)
    return axes


def fairness_indices(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str],
    score_maps: Mapping[str, str | Callable] | None = None,
    deals: int = 40,
) -> widgets.VBox:
    """Explore what the sizes of the groups, the bins and the score map do to SFI, CFI and DFI.

    Each position is computed once, which takes as long as `fairness_indices` on these scores.

    Parameters
    ----------
    scores : score tensor or pair table of one model.
    by : attribute(s) whose groups are compared.
    score_maps : mapping of words to score maps, at least one; by default "cosine" and "angular".
    deals : how often people are dealt to groups at random, for the floor.

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them; cautions beneath.

    Raises
    ------
    InputError : as `fairness_indices`; no score map.

    References
    ----------
    Kotwal & Marcel (2022), section 3.1 and Tables 1-3.

    Examples
    --------
    >>> import frkit as fk
    >>> box = fk.explore.fairness_indices(fk.canonical_scores(), by="group", score_maps={"as they are": "identity"})
    >>> [child.description for child in box.children[:3]]
    ['group that loses people', 'share of it that stays', 'bins']
    """
    maps = (
        {"cosine: (1 + s) / 2": "cosine", "angular: 1 - arccos(s) / π": "angular"} if score_maps is None else score_maps
    )
    require(len(maps) > 0, "score_maps must name at least one score map")
    first = indices_of(scores, by=by, score_map=next(iter(maps.values())), bins=10)
    groups = first[GROUP].values.tolist()
    shares = [(f"{100 * share:g} %", share) for share in SHARES]
    controls = {
        "group": labelled(widgets.Dropdown, "group that loses people", options=groups),
        "share": labelled(widgets.SelectionSlider, "share of it that stays", options=shares, continuous_update=False),
        "bins": labelled(widgets.SelectionSlider, "bins", options=BINS, value=100, continuous_update=False),
        "score_map": labelled(widgets.Dropdown, "score map", options=list(maps)),
        "balance": labelled(widgets.Checkbox, "DFI: half of the mass to each kind of pair", value=False),
    }
    held: dict[tuple, xr.Dataset] = {}

    def show(axes: list[Axes], group, share, bins, score_map, balance) -> None:
        place = (group if share < 1 else None, share, bins, score_map, balance)
        if place not in held:
            keep = {group: share} if share < 1 else {}
            held[place] = select(scores, by, maps[score_map], bins, balance, keep, deals)
        draw(held[place], axes)

    return Panel(controls, show, columns=2, foot=0.95).box()
