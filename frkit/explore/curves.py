"""The explorer of ROC curves and their bands."""

import ipywidgets as widgets
import xarray as xr
from numpy.typing import ArrayLike

from frkit import plot
from frkit.explore.controls import LEVEL, number
from frkit.explore.panel import Panel, cached
from frkit.explore.questions import Questions
from frkit.intervals import band


def roc(
    scores: xr.DataArray | xr.DataTree,
    *,
    far: ArrayLike | None = None,
    by: str | list | None = None,
    varying: str = "error",
    **start,
) -> widgets.VBox:
    """Explore ROC curves with their bands: groups, intervals, impostor pairs and weighting.

    Scores are swept once. Every control is answered from the kept pairs, and no control has a
    button.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        A score tensor, a score matrix, a list of pairs, or kept pairs from `sweep`.
    far : sequence of float, optional
        FAR levels; by default those of `evaluate`.
    by : str, or sequence of str or lists of str, optional
        The attributes whose groups can be shown; by default all with up to 20 labels.
    varying : str
        The rule for attributes that vary within an identity, as in `evaluate`.
    **start
        Values to begin with: attribute, far_range (two levels), method, level, scheme, replicates,
        weighting, impostors, models.

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
    questions = Questions(scores, far, by, varying, seed=0)
    controls = questions.controls(without_groups=True)
    controls["level"] = number("nominal level", **LEVEL)

    @cached
    def band_of(level, method, **question):
        measure = "frr_group" if question["attribute"] else "frr"
        evaluation = questions.answer(method=method, **question)
        return band(evaluation, measure, method=method, level=level)

    def draw(ax, far_range, **question):
        plot.roc(band_of(**question).sel(far_level=slice(*far_range)), ax)

    return Panel(controls, draw, **start).box()
