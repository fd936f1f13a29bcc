"""Figures of single replicates: which images were drawn how often, and what became of the FRR."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from frkit.base import require_returned, require_whole
from frkit.plot.style import (
    BELOW,
    COLOURS,
    DARK,
    NAIVE,
    PALE,
    finish,
    new_axes,
    plain,
    require_dims,
    require_number_shown,
)

BINS = 40
DRAWN = ("Resampling('image').weights(...).image_count", "image", "identity")
CURVES_OF = ("frkit.replicate_curves(evaluation)", "estimate", "replicates", "centre")
LETTERS = 12  # of a name
MOST_IMAGES = 20  # of a person


def image_counts(counts: xr.DataArray, ax: Axes | None = None, *, people: int = 10) -> Axes:
    """Draw how often a replicate contains each image; those that it contains twice are highlighted.

    Parameters
    ----------
    counts : xr.DataArray
        `image_count` of one replicate of `Resampling("image").weights(...)`, with the coordinate
        `identity` over image.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    people : int
        Number of people shown, one row each.

    Returns
    -------
    matplotlib.axes.Axes
        Beneath each name, how many of the person's genuine pairs are an image with its own copy;
        above, the share of such pairs among the pairs of all people, each person weighing the same.

    Raises
    ------
    InputError
        For counts of several replicates, or without identities.

    References
    ----------
    Conti & Clémençon (2024), eq. 10 and Algorithm 1.

    Examples
    --------
    >>> import frkit as fk
    >>> who = ["ann", "ann", "bob", "bob"]
    >>> counts = fk.Resampling("image", n=2).weights(who).image_count.assign_coords(
    ...     identity=("image", who)
    ... )
    >>> fk.plot.image_counts(counts.isel(replicate=1)).get_title(loc="left")
    '100 % of the genuine pairs are copies: never rejected'
    """
    import seaborn as sns

    require_returned("counts", counts, *DRAWN)
    require_whole("people", people, 1)
    require_dims("counts", counts, ("image",))
    ax = new_axes(ax)
    table = counts.to_series().astype(int).groupby(counts.identity.values)
    facts = pd.DataFrame({"images": table.size(), "copies": table.agg(_pairs_of_copies)})
    facts["pairs"] = facts.images * (facts.images - 1) / 2
    rows = [drawn.reset_index(drop=True)[:MOST_IMAGES] for _, drawn in [*table][:people]]
    names = [
        f"{plain(name[:LETTERS])}\n{row.copies:.0f} of {row.pairs:.0f} pairs"
        for name, row in facts[:people].iterrows()
    ]
    shown = pd.DataFrame(rows).set_axis(names)
    colours = {"not drawn": "white", "once": PALE, "twice or more": NAIVE}
    colour_scale = {"cmap": ListedColormap(colours.values()), "vmin": 0, "vmax": 2, "cbar": False}
    grid = {"linewidths": 3, "linecolor": "white", "annot_kws": {"weight": "bold"}}
    sns.heatmap(shown.clip(upper=2), annot=shown, fmt=".0f", ax=ax, **colour_scale, **grid)
    ax.set_xticks([])
    ax.tick_params(axis="y", rotation=0)
    share = 100 * (facts.copies / facts.pairs)[facts.pairs > 0].mean()
    ax.set_title(f"{share:.0f} % of the genuine pairs are copies: never rejected", loc="left")
    for label, colour in colours.items():
        ax.scatter([], [], 90, color=colour, edgecolor=DARK, marker="s", label=label)
    return finish(ax, "how often each image was drawn; pairs of copies", "", **BELOW | {"ncols": 3})


def _pairs_of_copies(counts):
    """How many genuine pairs are an image with its own copy, from how often images were drawn."""
    return (counts * (counts - 1)).sum() / 2


def replicates(curves: xr.Dataset, number: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the histogram of a rate's first replicates, with the estimate and the V-statistic.

    Parameters
    ----------
    curves : xr.Dataset
        What `frkit.replicate_curves` returned, at one FAR level, of one model.
    number : int, optional
        Number of replicates shown, of which the last one is marked; by default all.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The bins are those of all replicates, so that bars grow in place.

    Raises
    ------
    InputError
        For several levels or models.

    References
    ----------
    Conti & Clémençon (2024), Fig. 2 and eq. 10.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> options = dict(far=[0.1], resampling=fk.Resampling("image", n=50))
    >>> evaluation = fk.evaluate(fk.score_tensor(faces), **options)
    >>> curves = fk.replicate_curves(evaluation).isel(far_level=0)
    >>> fk.plot.replicates(curves, 20).get_ylabel()
    'replicates'
    """
    require_returned("curves", curves, *CURVES_OF)
    require_dims("curves", curves, ("replicate",), "replicates")
    require_number_shown(number)
    ax = new_axes(ax)
    everything = curves.replicates.values
    drawn = everything[:number]
    lines = {
        "estimate: FRR of the data": (curves.estimate.item(), DARK, "-"),
        "V-statistic": (curves.centre.item(), NAIVE, "-."),
        "mean of the replicates": (drawn.mean(), COLOURS[0], ":"),
    }
    marks = [value for value, _, _ in lines.values()]
    edges = np.linspace(min(everything.min(), *marks), max(everything.max(), *marks), BINS + 1)
    counts = np.histogram(drawn, edges)[0]
    ax.stairs(counts, edges, fill=True, color=PALE)
    top = max(counts.max() * 1.25, 5)
    if number is not None:
        ax.vlines(drawn[-1], 0, top, color=COLOURS[0], linewidth=1)
        ax.plot(drawn[-1], top * 0.93, "v", color=COLOURS[0], markersize=10, label="this replicate")
    for name, (value, colour, style) in lines.items():
        label = f"{name}: {value:.3g}"
        ax.axvline(value, color=colour, linestyle=style, linewidth=2, label=label)
    ax.set_ylim(0, top)
    level = curves.coords.get("far_level")
    place = "" if level is None else f" at FAR {level.item():.2g}"
    captions = [f"FRR*{place} of {len(drawn)} replicates"]
    return finish(ax, "FRR of a replicate", "replicates", captions, **BELOW | {"ncols": 1})
