"""The explorer of ROC curves and their bands."""

import ipywidgets as widgets
import xarray as xr
from numpy.typing import ArrayLike

from frkit import plot
from frkit.base import require
from frkit.explore.controls import LEVEL, number, several
from frkit.explore.panel import Panel, cached
from frkit.explore.questions import Questions
from frkit.intervals import band


def roc(
    scores: xr.DataArray | xr.DataTree | dict[str, xr.DataArray | xr.DataTree],
    *,
    far: ArrayLike | None = None,
    by: str | list | None = None,
    varying: str = "error",
    seed: int = 0,
    **start,
) -> widgets.VBox:
    """Explore ROC curves with their bands: of whom, which interval, whose pairs, how weighted.

    Scores are swept once. Every control is answered from the kept pairs, and no control has a
    button.

    Parameters
    ----------
    scores : xr.DataArray, xr.DataTree, or dict of str to these
        A score tensor, a score matrix, a list of pairs, or kept pairs from `sweep`; or several of
        them by name, with the same models and attributes.
    far : sequence of float, optional
        FAR levels; by default those of `evaluate`.
    by : str, or sequence of str or lists of str, optional
        The attributes whose groups can be shown; by default all with up to 20 labels.
    varying : str
        The rule for attributes that vary within an identity, as in `evaluate`.
    seed : int
        Of the replicates.
    **start
        Values to begin with: attribute, far_range (two levels), method, level, scheme, replicates,
        weighting, impostors, models, data (names of the scores).

    Returns
    -------
    ipywidgets.VBox
        Controls above a figure that follows them; cautions beneath it.

    Raises
    ------
    InputError
        As `sweep` and `evaluate`.

    References
    ----------
    Conti & Clémençon (2024), Figs. 1 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> box = fk.explore.roc(fk.sweep(fk.score_tensor(faces)), far=[0.05, 0.1, 0.2])
    >>> [control.description for control in box.children[0].children[:3]]
    ['groups', 'FAR range', 'interval']
    """
    named = scores if isinstance(scores, dict) else {"": scores}
    questions = {name: Questions(each, far, by, varying, seed) for name, each in named.items()}
    names = tuple(questions)
    controls = questions[names[0]].controls(without_groups=True)
    controls["level"] = number("nominal level", **LEVEL)
    if len(names) > 1:
        controls["data"] = several("data", names, names)

    @cached
    def band_of(name, level, method, **question):
        measure = "frr_group" if question["attribute"] else "frr"
        evaluation = questions[name].answer(method=method, **question)
        return band(evaluation, measure, method=method, level=level)

    def draw(ax, far_range, data=names, **question):
        require(data, "choose at least one of the data")
        within = {"far_level": slice(*far_range)}
        plot.roc({name: band_of(name, **question).sel(within) for name in data}, ax)

    return Panel(controls, draw, **start).box()
