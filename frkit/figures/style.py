"""What all figures share: theme, colours, curves with bands, captions that name the target."""

import re
from itertools import cycle
from textwrap import fill

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
from scipy.special import ndtr, ndtri

from frkit.base import require, require_kind, require_one_of
from frkit.intervals.rows import ENDS, NAMES, rows_of

# seaborn's palette "colorblind", without its grey, yellow and light pink
COLOURS = ("#0173B2", "#DE8F05", "#029E73", "#D55E00", "#CC78BC", "#CA9161", "#56B4E9")
# the same darker, then paler, for more curves than that
MORE = (
    "#014467", "#84560A", "#015E45", "#803800", "#7B4871", "#79573A", "#346C8C",
    "#80B9D9", "#EFC782", "#81CFB9", "#EAAF80", "#E6BCDE", "#E5C8B0", "#ABDAF4",
)  # fmt: skip
# encoders and groups of the demo data, and methods, have one colour in all figures; those of groups
# differ in lightness, too, for colour-blind readers and for print in grey
NAMED = {
    "Ash": COLOURS[0],
    "Birch": COLOURS[1],
    "Cedar": COLOURS[2],
    "female": "#8E4585",
    "male": COLOURS[6],
    "African": COLOURS[3],
    "Asian": "#8E4585",
    "Caucasian": "#01402F",
    "Indian": COLOURS[6],
    "recentered": COLOURS[0],
    "naive": COLOURS[3],
    "gaussian": COLOURS[2],
    "effective": COLOURS[4],
    "effective, new people": COLOURS[4],
    "effective, these people": COLOURS[2],
    "pivotal": COLOURS[1],
}
PALE, NAIVE, DARK = "#B3D3E8", NAMED["naive"], "#08306B"
TRUTH, UNRESOLVED, QUIET = "#000000", "#6E6E6E", "#404040"
LEVEL_WORDS = {
    "far_level": "FAR (false acceptance rate)",
    "threshold_level": "score threshold (accept above)",
}
OF_A_CURVE = ["model", "contrast", "group", "with_group"]  # its names among those of its rows
TRUTH_WORDS = "exact truth of the mixture"
# what a legend says last, behind all curves
FEW_ERRORS = "fewer than ten errors"
AT_EDGES = (
    "no value: no errors to compare",
    "estimate 0: no place on a log axis",
    "band reaches 0 or below",
    "no upper end",
    "estimate is infinite",
)
BELOW = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": 2}  # a legend's place
DET_TICKS = (
    1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9,
)  # fmt: skip
DET_TOP = 0.99  # the highest rate on a probit axis
LETTERS, BOLD_LETTERS = 153, 121  # of one point in an inch, about
THEME = {
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "figure.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": "#444444",
    "legend.framealpha": 0.75,
    "legend.edgecolor": "none",
    "grid.color": "#E5E5E5",
}
# points in a notebook; elsewhere all of them grow or shrink alike
SIZES = {
    "font.size": 9,
    "legend.fontsize": 9,
    "legend.title_fontsize": 9,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.labelsize": 9.5,
    "axes.titlesize": 9.5,
    "figure.titlesize": 10.5,
    "axes.linewidth": 0.8,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 6,
}
# where figures are shown: points of their type, and inches of a figure
SHOWN_IN = {
    "notebook": (9.0, (6.4, 4.4)),
    "hall": (18.0, (12.8, 7.2)),
    "paper": (8.0, (3.5, 2.6)),
}


def set_theme(shown_in: str = "notebook") -> None:
    """Give all figures of the session one look: seaborn's white grid and colorblind palette.

    Parameters
    ----------
    shown_in : {"notebook", "hall", "paper"}
        Where figures are shown. In a lecture hall they have the sides of a slide, 16 to 9, and type
        of 18 points; in a paper they are as wide as one of two columns, 3.5 inches, with type of 8
        points. Lines and marks grow with the type.

    Raises
    ------
    InputError
        If it is none of these.

    Examples
    --------
    >>> import frkit as fk
    >>> from matplotlib import pyplot as plt
    >>> with plt.rc_context():
    ...     fk.plot.set_theme("hall")
    ...     plt.rcParams["font.size"], plt.rcParams["figure.figsize"]
    (18.0, [12.8, 7.2])
    """
    import seaborn as sns

    sns.set_theme(style="whitegrid", palette=COLOURS, rc=theme(shown_in))


def theme(shown_in="notebook"):
    """Return the settings of matplotlib for figures that are shown there."""
    require_one_of("shown_in", shown_in, SHOWN_IN)
    points, inches = SHOWN_IN[shown_in]
    scale = points / SIZES["font.size"]
    sizes = {name: scale * size for name, size in SIZES.items()}
    return THEME | sizes | {"figure.figsize": inches}


def headline(figure: Figure, finding: str, *, one_legend: bool = False) -> None:
    """Write what a figure shows above all of its axes.

    Under a theme with larger type, a figure that is narrower than the theme's grows with the type.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A figure with constrained layout, as every figure under `set_theme` has it.
    finding : str
        One sentence; numbers in it are best made from the results that are drawn.
    one_legend : bool
        Whether to put one legend beneath the axes in place of one in each.

    Examples
    --------
    >>> import frkit as fk
    >>> from matplotlib import pyplot as plt
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> fk.plot.headline(figure, "Both curves fall")
    >>> figure.get_suptitle()
    'Both curves fall'
    """
    is_figure = isinstance(figure, Figure)
    require(is_figure, f"figure must be a Figure of matplotlib, got {type(figure).__name__}")
    _grow_with_type(figure)
    inches = figure.get_size_inches()[0]
    letters = int(BOLD_LETTERS * inches / points_of("figure.titlesize"))
    figure.suptitle(fill(plain(finding), letters), x=0.01, ha="left", multialignment="left")
    for ax in figure.axes:
        # axes that share their vertical axis need its label once, in the first column
        first = min(ax.get_shared_y_axes().get_siblings(ax), key=figure.axes.index)
        same_label = ax is not first and ax.get_ylabel() == first.get_ylabel()
        if same_label and not ax.get_subplotspec().is_first_col():
            ax.set_ylabel("")
    if one_legend:
        entries = legend_entries(*figure.axes)
        for legend in [ax.get_legend() for ax in figure.axes if ax.get_legend()]:
            legend.remove()
        columns = max(1, letters // (max(map(len, entries), default=1) + 7))
        figure.legend(entries.values(), entries, loc="outside lower center", ncols=columns)


def _grow_with_type(figure):
    """Give a figure that is narrower than the theme's the sides that it needs for large type."""
    inches = figure.get_size_inches()
    is_narrow = inches[0] < mpl.rcParams["figure.figsize"][0]
    has_headline = figure.get_suptitle() != ""
    if is_narrow and not has_headline:
        scale = points_of("font.size") / SIZES["font.size"]
        figure.set_size_inches(max(scale, 1) * inches)


def legend_entries(*axes):
    """Return the handle of each entry of some legends, by its words: marks and shades come last."""
    entries = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        entries.update(zip(labels, handles))
    order = sorted(entries, key=lambda label: label in (FEW_ERRORS, *AT_EDGES))
    return {label: entries[label] for label in order}


def colours_of(names):
    """Return the colour of each curve or group: by name where all are known, else by place."""
    are_known = NAMED.keys() >= {*names}
    colours = NAMED if are_known else dict(zip(names, cycle(COLOURS + MORE)))
    return {name: colours[name] for name in names}


def parts_of(result, dim):
    """Yield the label, the colour and the part of each value of a dimension; of none, all."""
    if dim not in result.dims:
        result = result.expand_dims({dim: [""]})
    for label, colour in colours_of(result[dim].values).items():
        yield plain(label), colour, result.sel({dim: label})


def new_axes(ax):
    """Return the axes given, or those of a new figure."""
    require(
        ax is None or isinstance(ax, Axes),
        f"ax must be Axes of matplotlib, got {type(ax).__name__}: of several give one, ax=axes[0]",
    )
    if ax is None:
        return plt.subplots(layout="constrained")[1]
    return ax


def plain(text):
    """Text of the data as it is: no formula after a dollar, no entry hidden by an underscore."""
    escaped = re.sub(r"[\0-\t\v-\x1f\x7f]", "?", str(text)).replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped


def levels_of(result):
    """Return the levels along which a result runs."""
    along = [name for name in LEVEL_WORDS if name in result.dims]
    require(
        len(along) > 0,
        f"a curve runs over far_level or threshold_level; this result has {tuple(result.dims)}",
    )
    return result[along[0]]


def named_curves(argument, results, *kinds):
    """Return the levels along which results of these kinds run, and their single curves.

    A curve is tidy rows by level, with the attributes of its result. It stands under the words that
    distinguish it: the name of the result, then its other labels (model, group).
    """
    require_kind(argument, results, *kinds)
    results = results if isinstance(results, dict) else {"": results}
    levels = [levels_of(result) for result in results.values()]
    along = {each.name for each in levels}
    require(len(along) == 1, f"{argument} must run over one dimension, got {sorted(along)}")
    curves = {}
    for name, result in results.items():
        rows = rows_of(result).set_index(NAMES[levels[0].name])
        for labels, curve in rows.groupby(OF_A_CURVE, sort=False):
            names = filter(None, [name, *map(str, labels)])
            curve.attrs = result.attrs
            curves[", ".join(names)] = curve
    return levels[0], curves


def rows_of_both(far, frr):
    """Return the tidy rows of bands of FAR and FRR, by their levels and groups."""
    bands = {"far": far, "frr": frr}
    rows = {}
    for name, band in bands.items():
        require_kind(name, band, "band")
        rows[name] = rows_of(band).set_index([NAMES[levels_of(band).name], "group"])[[*ENDS]]
    are_alike = rows["far"].index.equals(rows["frr"].index)
    require(are_alike, "far and frr must be of the same levels and groups")
    return pd.concat(rows, axis=1)


def require_dims(name, values, dims):
    """Refuse values over other dimensions than a figure can show."""
    dims_of_values = getattr(values, "dims", [type(values).__name__])
    require(
        set(dims_of_values) == set(dims),
        f"{name}: this figure shows values over {' and '.join(dims)}, got "
        f"{', '.join(map(str, dims_of_values))}: select one of the rest with .sel",
    )


def caption(attrs):
    """The method and level of a band, and the people that it is about."""
    words = []
    if attrs.get("level"):
        method = attrs.get("method", "effective")
        kind = "" if method == "effective" else f"{method} "  # without replicates, the default
        words.append(f"{100 * attrs['level']:.4g} % {kind}band")
    facts = {"scheme": "{} scheme", "n": "{} replicates"}
    words += [text.format(attrs[name]) for name, text in facts.items() if attrs.get(name)]
    target = f"about {attrs['target']}" if attrs.get("target") else ""
    return "\n".join(filter(None, [", ".join(words), target]))


def log_floor(*values):
    """Return the bottom of a log axis that shows every positive value."""
    everything = np.concatenate([np.ravel(value) for value in values])
    positive = everything[np.isfinite(everything) & (everything > 0)]
    return float(positive.min()) / 1.6 if positive.size else 1e-6


def log_floor_of_bands(bands):
    """Return the bottom of a log axis that shows estimates, and ends that are not much lower."""
    lowest = log_floor(*(band[["estimate", "upper"]] for band in bands))
    with_ends = log_floor(*(band[[*ENDS]] for band in bands))
    return min(lowest, max(1.4 * with_ends, lowest / 3))


def add_headroom(ax, share):
    """Leave room for a legend above what is drawn."""
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top + share * (top - bottom))


def points_of(setting="legend.fontsize"):
    """Return a size of type that may be a word such as "medium", in points."""
    return FontProperties(size=mpl.rcParams[setting]).get_size_in_points()


def print_captions(ax, captions):
    """Write the lines of all captions above the axes, each once, the targets last."""
    lines = list(dict.fromkeys(line for text in captions for line in text.splitlines()))
    lines.sort(key=lambda line: line.startswith("about "))
    # a blank before a break means that the line continues: a report joins it again
    wrapped = [_wrapped(ax, line, side=0).replace("\n", " \n") for line in lines]
    ax.set_title("\n".join(wrapped), loc="left", fontsize=points_of(), color=QUIET)


def _wrapped(ax, text, side):
    """Break text where it is longer than the axes are wide (side 0) or high (side 1)."""
    inches = ax.get_position().size[side] * ax.figure.get_size_inches()[side]
    return fill(plain(text), max(int(LETTERS * inches / points_of()), 16))


def finish(ax, xlabel, ylabel, captions=(), *, grid="both", **legend):
    """Add labels, grid, captions, and a legend with each entry once."""
    labels = [_wrapped(ax, line, side=1) for line in ylabel.splitlines()]
    ax.set(xlabel=plain(xlabel), ylabel="\n".join(labels), axisbelow=True)
    ax.grid(True, axis=grid, color=THEME["grid.color"], linewidth=mpl.rcParams["grid.linewidth"])
    if captions:
        print_captions(ax, captions)
    entries = legend_entries(ax)
    ax.legend(entries.values(), entries, edgecolor="none", **legend)
    return ax


def finish_levels(ax, levels, ylabel, captions, floor=None):
    """Finish curves along levels: FAR on a log axis, and rates on another one from a floor on."""
    if floor is not None:
        ax.set_yscale("log")
        ax.set_ylim(bottom=floor)
        log_ticks(ax.yaxis)
    if levels.name == "far_level":
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())  # small ticks take a third of a picture's time
        if levels.max() < 11 * levels.min():
            log_ticks(ax.xaxis)
    xlabel = levels.attrs.get("axis", LEVEL_WORDS[levels.name])
    return finish(ax, xlabel, ylabel, captions)


def log_ticks(axis, most=1000):
    """Write numbers such as 0.02 at a log axis, also between powers of ten if there is room."""
    low, high = axis.get_view_interval()
    between = (2, 5)
    if high < 30 * low and axis.axis_name == "y":  # side by side, 2, 3 and 5 would touch
        between = (2, 3, 5)
    if high < 4 * low:
        between = range(2, 10)
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(LogLocator(subs=between))
    axis.set_minor_formatter("{x:g}" if high < most * low else NullFormatter())


def tick_above(value):
    """The next number on a log axis with ticks at 1, 2, 5, 10 and so on."""
    power = 10 ** np.floor(np.log10(value))
    return power * min(tick for tick in (1, 2, 5, 10) if tick * power >= value)


def det_axes(ax):
    """Put both rates on a probit scale, with ticks where DET curves have them."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    functions = _probit, ndtr
    ax.set_xscale("function", functions=functions)
    ax.set_yscale("function", functions=functions)
    labels = [f"{100 * rate:g} %" for rate in DET_TICKS]
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(DET_TICKS, labels)
        axis.set_ticks([], minor=True)
    ax.set(xlim=(left, min(right, DET_TOP)), ylim=(bottom, min(top, DET_TOP)))


def _probit(rate):
    """The normal quantile of a rate, finite at 0 and 1."""
    return ndtri(np.clip(rate, 1e-15, 1 - 1e-15))
