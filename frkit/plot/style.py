"""What all figures share: theme, colours, labels, captions that name the target, bands, marks at the edges."""

import re
from collections.abc import Iterable, Iterator
from itertools import cycle
from textwrap import wrap

import numpy as np
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy.special import ndtr, ndtri

from frkit.base import FAR_LEVEL, THRESHOLD_LEVEL, require, require_flag, require_inside

# On white each has a contrast of 3 or more; two of them are told apart with every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#5C4A00", "#332288", "#8F1D4F")
NAMED = dict(zip(("Ash", "Birch", "Cedar"), COLOURS)) | dict(zip(("female", "male"), COLOURS[5:]))
NAMED |= dict(zip(("African", "Asian", "Caucasian", "Indian"), COLOURS[3:]))
FAN, NAIVE, TRUTH, UNRESOLVED, GRID, DARK = (
    "#B3D3E8",
    "#D55E00",
    "#000000",
    "#6E6E6E",
    "#E5E5E5",
    "#08306B",
)
FAR_WORDS = "FAR (share of impostor pairs accepted)"
LEVEL_WORDS = {FAR_LEVEL: FAR_WORDS, THRESHOLD_LEVEL: "score threshold (accept above)"}
TRUTH_WORDS = "exact truth of the mixture"
BELOW = {
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.17),
    "ncols": 2,
}  # a legend beneath the axes
ENDS = ("estimate", "lower", "upper")
LEVELS = (" or ".join(LEVEL_WORDS),)
BANDS = ("frkit.band(evaluation, measure)", *ENDS, *LEVELS)
TRUE_CURVE = ("Mixture.population_roc(far)", "frr", *LEVELS)
DET_TICKS = (
    1e-7,
    1e-6,
    1e-5,
    1e-4,
    1e-3,
    2e-3,
    5e-3,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.4,
    0.6,
    0.8,
    0.9,
)
DET_TOP = 0.99  # the highest rate on a probit axis
SMALL = 9.0  # points: at 110 dpi 14 pixels, as large as a notebook's prose
LETTERS = 14.3  # of this size in an inch, about
THEME = {
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "figure.titlesize": 10.5,
    "figure.titleweight": "bold",
    "font.size": SMALL,
    "axes.labelsize": SMALL + 0.5,
    "axes.titlesize": SMALL + 0.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": "#444444",
    "axes.linewidth": 0.8,
    "legend.framealpha": 0.75,
    "legend.edgecolor": "none",
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.6,
} | dict.fromkeys(
    ("xtick.labelsize", "ytick.labelsize", "legend.fontsize", "legend.title_fontsize"), SMALL
)


def set_theme() -> None:
    """Give all figures of the session one look: seaborn's white grid, the kit's colours, text as large as prose.

    Examples
    --------
    >>> import frkit as fk
    >>> with plt.rc_context():
    ...     fk.plot.set_theme()
    ...     plt.rcParams["figure.dpi"]
    110.0
    """
    import seaborn as sns

    sns.set_theme(style="whitegrid", palette=COLOURS, rc=THEME)


def headline(figure: Figure, finding: str, *, one_legend: bool = False) -> None:
    """Write what a figure shows above all of its axes.

    Parameters
    ----------
    figure : matplotlib Figure with constrained layout, as every figure under `set_theme` has it.
    finding : one sentence; numbers in it are best made from the results that are drawn.
    one_legend : put one legend beneath the axes in place of one in each; each entry stands there once.

    Examples
    --------
    >>> import frkit as fk
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> fk.plot.headline(figure, "Both curves fall")
    >>> figure.get_suptitle()
    'Both curves fall'
    """
    require(
        isinstance(figure, Figure),
        f"figure must be a matplotlib Figure, got {type(figure).__name__}",
    )
    require(isinstance(finding, str), f"finding must be a sentence, got {finding!r}")
    require_flag("one_legend", one_legend)
    per_line = int(11.5 * figure.get_size_inches()[0])
    figure.suptitle(
        "\n".join(even_lines(plain(finding), per_line)), x=0.01, ha="left", multialignment="left"
    )
    _drop_repeated_labels(figure)
    if not one_legend:
        return
    entries = {}
    for ax in figure.axes:
        entries |= {
            label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        if legend := ax.get_legend():
            legend.remove()
    widest = max(map(len, entries), default=1)
    columns = max(1, min(len(entries), int(per_line * 1.15) // (widest + 7)))
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns)


def _drop_repeated_labels(figure: Figure) -> None:
    """Say what a shared vertical axis means once in each row, at its left end."""
    said: dict[tuple, Axes] = {}
    for ax in figure.axes:
        if spec := ax.get_subplotspec():
            first = said.setdefault((spec.rowspan.start, ax.get_ylabel()), ax)
            if first is not ax and ax.get_shared_y_axes().joined(ax, first):
                ax.set_ylabel("")


def curve_colours(names: Iterable[str]) -> Iterator[str]:
    """A colour for each curve: models and groups of the demo data keep theirs in every figure, others go by order."""
    names = list(names)
    own = [
        next((NAMED[part] for part in str(name).split(", ")[::-1] if part in NAMED), None)
        for name in names
    ]
    if len(set(own) - {None}) < sum(colour is not None for colour in own):
        own = [None] * len(names)  # two curves of one model: order tells them apart
    free = cycle([colour for colour in COLOURS if colour not in own])
    return iter([colour or next(free) for colour in own])


def new_axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure; the colours begin anew."""
    require(
        ax is None or isinstance(ax, Axes), f"ax must be matplotlib Axes, got {type(ax).__name__}"
    )
    ax = ax if ax is not None else plt.subplots(figsize=(6.4, 4.4), layout="constrained")[1]
    ax.set_prop_cycle(color=COLOURS)
    return ax


def plain(text: object) -> str:
    """Text of the data as it is: a dollar starts no formula, an underscore hides no entry, a control sign is "?"."""
    escaped = re.sub(r"[\0-\t\v-\x1f\x7f]", "?", str(text)).replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped


def level_dimension(curve: xr.Dataset | xr.DataArray) -> str:
    """The dimension along which a curve runs."""
    for name in LEVEL_WORDS:
        if name in curve.dims:
            return name
    require(
        False,
        f"a curve runs over {FAR_LEVEL} or {THRESHOLD_LEVEL}; this result has {tuple(curve.dims)}",
    )


def named_curves(
    argument: str, results: xr.Dataset | dict[str, xr.Dataset], variables: tuple[str, ...] = ENDS
) -> list[tuple[str, xr.Dataset]]:
    """All single curves of one or several results, each with the words that set it apart (name, model, group)."""
    named = {"": results} if isinstance(results, xr.Dataset | xr.DataTree) else results
    curves, along = [], {level_dimension(result[variables[0]]) for result in named.values()}
    require(
        len(along) <= 1,
        f"{argument} must run over one dimension, got {' and '.join(sorted(along))}",
    )
    for name, result in named.items():
        differs = "contrast" in result.attrs and argument != "comparison"
        require(
            not differs,
            f"{argument} holds a difference that frkit.compare made: plot.difference draws it",
        )
        dims = {frozenset(result[variable].dims) for variable in variables}
        require(
            len(dims) == 1,
            f"{argument}: {', '.join(variables)} must have the same dimensions; select with .sel",
        )
        others = [dim for dim in result[variables[0]].dims if dim not in along]
        for place in np.ndindex(*(result.sizes[dim] for dim in others)):
            curve = result.isel(dict(zip(others, place, strict=True)))
            words = [name, *(str(curve[dim].item()) for dim in others)]
            curves.append((", ".join(part for part in words if part), curve))
    return curves


def at_far(result: xr.Dataset, far: float) -> xr.Dataset:
    """The result at the FAR level nearest to one that was asked for."""
    require_inside("far", far, 0, 1)
    return result.sel({FAR_LEVEL: far}, method="nearest")


def require_dims(name: str, values: xr.DataArray, wanted: tuple[str, ...]) -> None:
    """Refuse values over other dimensions than those that a figure has room for."""
    words = f"{name}: this figure shows values over {' and '.join(wanted)}, got {', '.join(map(str, values.dims))}"
    require(set(values.dims) == set(wanted), f"{words}: select one of the rest with .sel")


def caption(attrs: dict) -> str:
    """What a band is, and about whose rates it speaks."""
    parts = []
    if attrs.get("level"):
        parts.append(f"{100 * attrs['level']:.4g} % {attrs.get('method', '')} band")
    if attrs.get("scheme"):
        parts.append(f"{attrs['scheme']} scheme")
    if attrs.get("n"):
        parts.append(f"{attrs['n']} resamples")
    about = f"about {attrs['target']}" if attrs.get("target") else ""
    return "\n".join(line for line in (", ".join(parts), about) if line)


def worth(curve: xr.Dataset) -> str:
    """A line that says how many independent comparisons a band is worth, where that is known."""
    if "n_effective" not in curve:
        return ""
    least, most = float(curve.n_effective.min()), float(curve.n_effective.max())
    numbers = f"{least:,.0f}" if round(least) == round(most) else f"{least:,.0f} to {most:,.0f}"
    return f"\nworth {numbers} independent comparisons"


def even_lines(words: str, letters: int) -> list[str]:
    """The words in as few lines as so many letters allow, none much shorter than the others."""
    lines = wrap(words, letters)
    while len(lines) > 1 < letters and len(
        narrower := wrap(words, letters - 1, break_long_words=False)
    ) == len(lines):
        lines, letters = narrower, letters - 1
    return lines


def fitted(words: str, letters: int, broken: str = "\n") -> str:
    """The lines of the words, each broken where it is longer."""
    return "\n".join(broken.join(even_lines(line, letters)) for line in words.splitlines())


def room(ax: Axes) -> tuple[int, int]:
    """How many letters the axes are wide and high, about, with their neighbours in the grid and labels beside them."""
    grid, size = ax.get_subplotspec(), ax.figure.get_size_inches()
    shape = (1, 1) if grid is None else grid.get_gridspec().get_geometry()
    width, height = size[0] / shape[1] - 0.45, size[1] / shape[0] - 1.4
    return max(16, int(LETTERS * width)), max(16, int(LETTERS * height))


def print_captions(ax: Axes, captions: list[str]) -> None:
    """Write the lines of all captions above the axes, each once, the targets last."""
    lines = list(dict.fromkeys(line for text in captions for line in text.splitlines()))
    lines.sort(key=lambda line: line.startswith("about "))
    # a blank before a break says that the line goes on: a report writes it as one again
    ax.set_title(
        fitted(plain("\n".join(lines)), room(ax)[0], " \n"),
        loc="left",
        fontsize=SMALL,
        color="#404040",
    )


def log_floor(*values: np.ndarray) -> float:
    """The bottom of a log axis that shows every positive value."""
    everything = np.concatenate([np.ravel(value) for value in values])
    positive = everything[np.isfinite(everything) & (everything > 0)]
    return float(positive.min()) / 1.6 if positive.size else 1e-6


def draw_truth(ax: Axes, truth: xr.Dataset | None) -> None:
    """The exact curve of a population, dashed and black."""
    if truth is not None:
        require_dims("truth", truth.frr, (level_dimension(truth.frr),))
        style = {"color": TRUTH, "linewidth": 1.3, "label": TRUTH_WORDS, "zorder": 4}
        ax.plot(truth[level_dimension(truth.frr)], truth.frr, "--", **style)


def draw_band(
    ax: Axes, curve: xr.Dataset, extent: tuple[float, float], colour: str, label: str
) -> None:
    """One curve with its band, cut at the extent: coloured where resolved, grey elsewhere."""
    x = curve[level_dimension(curve.estimate)].values
    estimate, lower, upper = (
        np.clip(curve[name].values, *extent) for name in ("estimate", "lower", "upper")
    )
    estimate = np.where(np.isinf(curve.estimate), np.nan, estimate)
    resolved = curve.resolved.values if "resolved" in curve else np.ones(x.size, bool)
    # the grey line reaches the first resolved level to either side, so that no gap is left
    beside = ~resolved | np.r_[False, ~resolved[:-1]] | np.r_[~resolved[1:], False]
    grey = None if resolved.all() else "not resolved: fewer than 10 errors"
    single = x.size == 1  # one level has no line, and its band no area
    for where, shade, words in ((beside, UNRESOLVED, grey), (resolved, colour, label)):
        ax.fill_between(
            x, lower, upper, where=where, color=shade, alpha=0.22, linewidth=0, zorder=2
        )
        style = {"color": shade, "linewidth": 1.8, "label": words, "zorder": 3}
        ax.plot(x, np.where(where, estimate, np.nan), "o-" if single else "-", **style)
        if single and where.any():
            ax.vlines(
                x[where], lower[where], upper[where], color=shade, alpha=0.4, linewidth=4, zorder=2
            )


def draw_edge(ax: Axes, x: xr.DataArray, height: float, marker: str, label: str, **style) -> None:
    """Marks at the edge of the axes for what has no place inside."""
    if x.size:
        ax.plot(x, np.full(x.size, height), marker, label=label, clip_on=False, zorder=6, **style)


def add_headroom(ax: Axes, share: float) -> None:
    """Room for a legend above what is drawn."""
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top + share * (top - bottom))


def finish(
    ax: Axes, xlabel: str, ylabel: str, captions: list[str] = (), *, grid: str = "both", **legend
) -> Axes:
    """Labels, grid, captions, and a legend with each entry once."""
    ax.set(xlabel=plain(xlabel), ylabel=fitted(plain(ylabel), room(ax)[1]), axisbelow=True)
    ax.grid(True, axis=grid, which="major", color=GRID, linewidth=0.6)
    if captions:
        print_captions(ax, captions)
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    ax.legend(
        once.values(), once.keys(), fontsize=SMALL, framealpha=0.75, edgecolor="none", **legend
    )
    return ax


def finish_levels(
    ax: Axes, levels: xr.DataArray, ylabel: str, captions: list[str], floor: float | None = None
) -> Axes:
    """The same for curves along levels: FAR on a log axis, and rates on another one from a floor on."""
    ax.set_xscale("log" if levels.name == FAR_LEVEL else "linear")
    if floor is not None:
        ax.set_yscale("log")
        ax.set_ylim(bottom=floor)
    return finish(ax, levels.attrs.get("axis", LEVEL_WORDS[levels.name]), ylabel, captions)


def det_axes(ax: Axes) -> Axes:
    """Both rates on a probit scale, with ticks where DET curves have them."""
    (left, right), (bottom, _) = ax.get_xlim(), ax.get_ylim()
    highest = max((np.fmax.reduce(line.get_ydata(), initial=0.0) for line in ax.lines), default=0.5)
    top = min(max(1.6 * highest, 2 * bottom), DET_TOP)
    for set_scale, set_limits, axis, ends in (
        (ax.set_xscale, ax.set_xlim, ax.xaxis, (left, min(right, DET_TOP))),
        (ax.set_yscale, ax.set_ylim, ax.yaxis, (bottom, top)),
    ):
        set_scale("function", functions=(lambda rate: ndtri(np.clip(rate, 1e-15, 1 - 1e-15)), ndtr))
        set_limits(*ends)
        axis.set_major_locator(FixedLocator(DET_TICKS))
        axis.set_major_formatter(FuncFormatter(lambda rate, _: f"{100 * rate:g} %"))
        axis.set_minor_locator(NullLocator())
    return ax
