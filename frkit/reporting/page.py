"""A report as one page that needs nothing else, as HTML for a notebook, and as a short text."""

import io
import re
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from frkit.findings.formats import TEMPLATES, printable
from frkit.findings.tables import UNRESOLVED

MOST_ROWS = 150  # of a table on the page; the files have all
WIDEST = 100  # letters of a line of a table in a terminal
COLUMN = (3.45, 3.0)  # inches: the width of a column of a paper
POINTS = 72  # of an inch, in which SVG measures
LONG = 34  # letters of a label that fit to the left of a narrow figure
MOST_STEPS = 6  # between ticks, so that their labels do not touch
WIDE = 25  # letters of a label, of which two do not stand side by side in a legend
FIRST_FIGURES = ("FRR against FAR", "Scores and threshold")  # beside the tiles
MOST_FIRST = 4  # of these, so that three models have their histograms
# what a figure inside a page does not need, or shares with other figures
OUTSIDE = re.compile(r'<metadata>.*?</metadata>|<style.*?</style>|(?<=<g) id="[^"]*"', re.DOTALL)
STYLE = {
    "font.size": 8,  # 11 px on a page that is as wide as a telephone
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 8,
    "legend.handlelength": 1.2,
    "legend.columnspacing": 1,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.minor.size": 3.5,  # as the major ones, so that labels stand in one line
    "ytick.minor.size": 3.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "frkit",
    "text.usetex": False,
}
CHAPTERS = {  # title on the page -> sections of the report
    "Accuracy": ["errors"],
    "Groups": ["groups", "fairness"],
    "Models compared": ["models"],
    "People who drive the errors": ["people"],
    "More measures": ["indices", "n_sigma", "rlb"],
    "Intervals and cautions": ["plan"],
    "Method and data": ["data", "methods"],
}


@dataclass
class Picture:
    """The caption of a figure, and its SVG, the same one each time."""

    caption: str
    svg: str

    @property
    def inline(self):
        """The SVG as an element of a page."""
        return OUTSIDE.sub("", self.svg[self.svg.index("<svg") :])


# --- HTML -----------------------------------------------------------------------------------------


def page(report):
    """One page that needs nothing else: no script, no address, figures inside."""
    return TEMPLATES.get_template("page.html.j2").render(report=report, body=fragment(report))


def fragment(report, chapters=CHAPTERS):
    """The report inside another page; without chapters it is the first screen, as in notebooks."""
    first = [name for name in report.figures if name.startswith(FIRST_FIGURES)][:MOST_FIRST]
    return TEMPLATES.get_template("report.html.j2").render(
        report=report, chapters=chapters, first=first, most_rows=MOST_ROWS, unresolved=UNRESOLVED
    )


# --- text -----------------------------------------------------------------------------------------


def text(report):
    """A short text: the first screen's findings, the table of error rates, cautions."""
    caption, table = next(iter(report.sections["errors"].tables.items()))
    lines = table.to_string(justify="right", line_width=WIDEST)  # names of rows in each part
    rates = f"{caption}\n{lines}"
    if UNRESOLVED in rates:
        rates += f"\n{UNRESOLVED.strip()} fewer than ten false accepts or false rejects"
    return printable(TEMPLATES.get_template("report.txt.j2").render(report=report, rates=rates))


# --- figures --------------------------------------------------------------------------------------


def picture(draw):
    """A figure as wide as a column, for the page and the files, and its caption."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=COLUMN, dpi=POINTS, layout="constrained")
        ax = figure.subplots()
        draw(ax)
        if ax.get_xscale() == "log":
            ax.xaxis.set_major_formatter("{x:g}")  # powers of ten take long to typeset
        title = ax.get_title(loc="left")
        ax.set_title("", loc="left")
        for patch in (figure.patch, ax.patch):
            patch.set(facecolor="none", edgecolor="none")
        if len(ax.get_ylabel()) > LONG:
            ax.set_ylabel(ax.get_ylabel().replace(" (", "\n(", 1))
        for axis in (ax.xaxis, ax.yaxis):
            _end_at_ticks(axis)
        legend = ax.get_legend()
        if legend is not None:  # beneath the axes, where it hides nothing
            handles, labels = legend.legend_handles, [text.get_text() for text in legend.texts]
            legend.remove()
            is_wide = len(labels) < 3 or max(map(len, labels)) >= WIDE
            options = {"ncols": 1 if is_wide else 2, "loc": "outside lower center"}
            figure.legend(handles, labels, frameon=False, **options)
        caption = title.replace(" \n", " ").replace("\n", "; ").replace(r"\$", "$").strip()
        svg = io.BytesIO()
        # not `savefig`, which draws everything once more to find its renderer
        FigureCanvasSVG(figure).print_svg(svg, metadata={"Date": None, "Description": caption})
        values = TEMPLATES.get_template("values.svg.j2").render(points=_points_of(ax))
        return Picture(caption, svg.getvalue().decode().replace("</svg>", f"{values}</svg>"))


def _end_at_ticks(axis):
    """Let an axis of numbers end at the labelled ticks around the data."""
    low, high = axis.get_view_interval()
    locator = axis.get_major_locator()
    if isinstance(locator, FixedLocator):  # names
        return
    if isinstance(locator, MaxNLocator):
        locator.set_params(nbins=MOST_STEPS)
    is_log = axis.get_scale() == "log"
    ticks = locator.tick_values(low, 10 * high if is_log else high)  # the next power of ten, too
    if axis.get_minor_formatter()(low, 0):
        ticks = np.append(ticks, axis.get_minor_locator().tick_values(low, high))
    first, last = sorted(np.clip(axis.get_data_interval(), low, high))  # without margins
    is_vertical = axis.axis_name == "y"
    marks = [line.get_data()[is_vertical] for line in axis.axes.lines if not line.get_clip_on()]
    if low not in np.concatenate([[], *marks]):  # marks of what has no place on the axis
        low = max(ticks[ticks <= first], default=low)
    high = min(ticks[ticks >= last], default=high)
    axis.axes.set(**{f"{axis.axis_name}lim": (low, high)})
    if isinstance(locator, MaxNLocator):
        axis.set_ticks(ticks[(ticks >= low) & (ticks <= high)])


def _points_of(ax):
    """The points of all curves: where they are in the picture, and their values in words."""
    labels = (" ".join(label.split()) for label in (ax.get_xlabel(), ax.get_ylabel()))
    x_name, y_name = (label.partition(" (")[0] for label in labels)
    inside = ax.bbox.padded(1)  # with points on the edge
    curves = [line for line in ax.lines if line.get_transform() is ax.transData]
    marks = [line.get_xydata().tolist() for line in curves if not line.get_clip_on()]
    without_place = sum(marks, [])  # such as a rate of 0 at the foot of a log axis
    points = []
    for curve in curves:
        label = curve.get_label()
        name = "" if label.startswith("_") else label.replace(r"\$", "$") + ": "
        values = curve.get_xydata()
        for (x, y), (left, bottom) in zip(values, ax.transData.transform(values)):
            if inside.contains(left, bottom) and [x, y] not in without_place:
                words = f"{name}{x_name} {x:.3g}, {y_name} {y:.3g}"
                points.append((left, ax.figure.bbox.height - bottom, words))
    return points
