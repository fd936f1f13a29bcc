"""A report as one page that needs nothing else, as HTML for a notebook, and as a short text."""

import base64
import io
from dataclasses import dataclass

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from frkit.reporting.formats import TEMPLATES, printable
from frkit.reporting.tables import UNRESOLVED

MOST_ROWS = 150  # of a table on the page; the files have all
LONG_X, LONG_Y = 48, 34  # letters of a label that fit beneath a narrow figure, and to its left
WIDEST = 100  # letters of a line of a table in a terminal
COLUMN = (3.45, 3.0)  # inches: the width of a column of a paper
POINTS = 72  # of an inch, in which SVG measures
WIDE = 30  # letters of a label, of which two do not stand side by side in a legend
FIRST_FIGURES = ("FRR against FAR", "Scores and threshold")  # of the first model
STYLE = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
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
    "Precision": ["plan"],
    "Method and data": ["data", "methods"],
}


@dataclass
class Picture:
    """The caption of a figure, and its SVG, the same one each time."""

    caption: str
    svg: bytes

    @property
    def base64(self):
        """The SVG as an address of data contains it."""
        return base64.b64encode(self.svg).decode("ascii")


# --- HTML -----------------------------------------------------------------------------------------


def page(report):
    """One page that needs nothing else: no script, no address, figures inside."""
    return TEMPLATES.get_template("page.html.j2").render(report=report, body=fragment(report))


def fragment(report, chapters=CHAPTERS):
    """The whole report inside another page."""
    first = []
    for start in FIRST_FIGURES:
        first += [name for name in report.figures if name.startswith(start)][:1]
    return TEMPLATES.get_template("report.html.j2").render(
        report=report, chapters=chapters, first=first, most_rows=MOST_ROWS, unresolved=UNRESOLVED
    )


def first_screen(report):
    """Only the first screen: what a notebook shows."""
    return fragment(report, chapters={})


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
        for axis, longest in ((ax.xaxis, LONG_X), (ax.yaxis, LONG_Y)):
            label = axis.label.get_text()
            if max(map(len, label.splitlines()), default=0) > longest:
                axis.label.set_text(label.replace(" (", "\n(", 1))
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
        return Picture(caption, svg.getvalue())
