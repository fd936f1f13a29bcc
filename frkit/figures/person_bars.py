"""Who drives the errors, as bars."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from frkit.base import UNKNOWN
from frkit.figures.marks import checked_axes
from frkit.figures.style import COLOURS, UNRESOLVED, colours_of, finish, plain

MOST_PEOPLE = 12
LETTERS = 24  # of a name
FEW_PAIRS = 10  # of a person: with fewer, one bad image may reject them all
ERRORS = {"frr": "false_rejects_identity", "far": "false_accepts_identity"}
COLUMNS = {  # variable of `errors_by_person` -> column of a table
    "images": "images",
    "group": "group",
    "genuine_pairs_identity": "pairs",
    "frr_identity": "own",
}


def errors_by_person(who: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the people with the largest shares in the FRR as bars.

    A few long bars show that a rate depends on a few people, or on wrong labels: `worst_pairs`
    lists their pairs.

    Parameters
    ----------
    who : xr.Dataset
        What `errors_by_person` returned, of one model at one level: `.sel(far_level=1e-3)`.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A bar for each of at most twelve people with errors: the share in the FRR. "91 of 91" at its
        end says how many of the person's genuine pairs are rejected. Bars of people with fewer than
        ten pairs are pale. Groups have different colours. The words above name the effective number
        of people with errors.

    Raises
    ------
    InputError
        Several levels or models at once.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, kappa=(5, 15), seed=0).sample(4, seed=1))
    >>> who = fk.errors_by_person(scores, far=[0.1]).isel(far_level=0)
    >>> len(fk.plot.errors_by_person(who).patches)
    12
    """
    ax = checked_axes(ax, "who", who, "errors_by_person", ERRORS["frr"], ("identity",))
    table = most_errors(who, "frr")
    bars = table[:MOST_PEOPLE]
    names = bars.index.map(lambda name: plain(str(name)[:LETTERS]))
    style = {"color": COLOURS[0]}
    if "group" in bars:
        groups = np.setdiff1d(who["group"].values, UNKNOWN)  # of all people: one colour on a page
        colours = colours_of(groups) | {UNKNOWN: UNRESOLVED}
        style = {"color": [*bars.group.map(colours)], "label": [*bars.group.map(plain)]}
    y = np.arange(len(bars))
    drawn = ax.barh(y, bars.share, **style)
    ax.bar_label(drawn, [f"{row.errors:,.0f} of {row.pairs:,.0f}" for row in bars.itertuples()])
    has_few = bars.pairs < FEW_PAIRS
    for place in np.flatnonzero(has_few):
        drawn[place].set_alpha(0.4)
    ax.set_xlim(0, 1.3 * bars.share.max() if len(bars) else 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_yticks(y, names)
    ax.invert_yaxis()
    captions = [
        f"{len(table)} of {who.sizes['identity']} people have errors; "
        f"effective number {float(who.frr_effective):.1f}",
        "at the end of a bar: rejected genuine pairs of the person",
    ]
    if has_few.any():
        captions.append(f"pale: people with fewer than {FEW_PAIRS} genuine pairs")
    return finish(ax, "share in the FRR", "", captions, grid="x", loc="lower right")


def most_errors(who, rate):
    """People with errors as a table, by their share in the rate, then by number of errors."""
    columns = COLUMNS | {ERRORS[rate]: "errors", f"{rate}_share": "share"}
    present = [name for name in columns if name in who.variables]
    table = who.reset_coords()[present].to_dataframe().rename(columns=columns)
    return table[table.errors > 0].sort_values(["share", "errors"], ascending=False, kind="stable")
