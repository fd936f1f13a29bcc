"""Figures of single replicates: which images were drawn how often, and what became of the FRR."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from frkit.base import require_returned
from frkit.figures.marks import checked_axes
from frkit.figures.style import (
    BELOW,
    COLOURS,
    DARK,
    NAIVE,
    PALE,
    finish,
    new_axes,
    plain,
    require_dims,
)

BINS = 40
LETTERS = 12  # of a name
MOST_PEOPLE = 8
MOST_IMAGES = 20  # of a person
OFTEN = {"not drawn": "white", "once": PALE, "twice or more": NAIVE}


def image_counts(counts: xr.DataArray, ax: Axes | None = None) -> Axes:
    """Draw how often a replicate contains each image; those that it contains twice are highlighted.

    Parameters
    ----------
    counts : xr.DataArray
        `image_count` of one replicate of `Resampling("image").weights(...)`, with the coordinate
        `identity` over image.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A row for each of the first eight people. Beneath each name, how many of the person's
        genuine pairs are an image with its own copy; above, the share of such pairs among the pairs
        of all people, each person weighing the same.

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

    maker = "Resampling('image').weights(...).image_count"
    require_returned("counts", counts, maker, "image", "identity")
    require_dims("counts", counts, ("image",))
    ax = new_axes(ax)
    drawn = pd.DataFrame({"identity": counts.identity.values, "count": counts.values})
    drawn["image"] = drawn.groupby("identity").cumcount()
    table = drawn.pivot(index="identity", columns="image", values="count").astype(float)
    copies = (table * (table - 1) / 2).sum(axis=1)  # pairs of an image with its own copy
    images = table.count(axis=1)
    pairs = images * (images - 1) / 2
    names = [
        f"{plain(name[:LETTERS])}\n{copies[name]:.0f} of {pairs[name]:.0f} pairs"
        for name in table.index[:MOST_PEOPLE]
    ]
    shown = table.iloc[:MOST_PEOPLE, :MOST_IMAGES].set_axis(names)
    colours = {"cmap": ListedColormap(OFTEN.values()), "vmin": 0, "vmax": 2, "cbar": False}
    grid = {"linewidths": 3, "linecolor": "white", "annot_kws": {"weight": "bold"}}
    sns.heatmap(shown.clip(upper=2), annot=shown, fmt=".0f", ax=ax, **colours, **grid)
    ax.set_xticks([])
    ax.tick_params(axis="y", rotation=0)
    share = 100 * (copies / pairs)[pairs > 0].mean()
    ax.set_title(f"{share:.0f} % of the genuine pairs are copies: never rejected", loc="left")
    for label, colour in OFTEN.items():
        ax.scatter([], [], 90, color=colour, edgecolor=DARK, marker="s", label=label)
    return finish(ax, "how often each image was drawn; pairs of copies", "", **BELOW | {"ncols": 3})


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
    ax = checked_axes(ax, "curves", curves, "replicate_curves", "replicates", ("replicate",))
    all_rates = curves.replicates.values
    drawn = all_rates[:number]
    rates = {
        "estimate: FRR of the data": (curves.estimate.item(), DARK, "-"),
        "V-statistic": (curves.centre.item(), NAIVE, "-."),
        "mean of the replicates": (drawn.mean(), COLOURS[0], ":"),
    }
    everything = [*all_rates, *(rate for rate, _, _ in rates.values())]
    counts, edges = np.histogram(drawn, BINS, (min(everything), max(everything)))
    ax.stairs(counts, edges, fill=True, color=PALE)
    top = max(counts.max() * 1.25, 5)
    if number is not None:
        ax.vlines(drawn[-1], 0, top, color=COLOURS[0])
        ax.plot(drawn[-1], top * 0.93, "v", color=COLOURS[0], label="this replicate")
    for name, (rate, colour, line) in rates.items():
        ax.axvline(rate, color=colour, linestyle=line, label=f"{name}: {rate:.3g}")
    ax.set_ylim(0, top)
    at_level = f" at FAR {curves['far_level'].item():.2g}" if "far_level" in curves.coords else ""
    captions = [f"FRR*{at_level} of {len(drawn)} replicates"]
    return finish(ax, "FRR of a replicate", "replicates", captions, **BELOW | {"ncols": 1})
