"""A report as a short text, as HTML for a notebook, and as one page that needs nothing else."""

import io
import re
from collections.abc import Callable
from html import escape
from itertools import count
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from frkit.reporting.tables import Table
from frkit.reporting.work import Section

if TYPE_CHECKING:
    from frkit.reporting.report import Report

MOST_ROWS = 150  # of a table on the page, which holds all measures of three models at three levels; the files hold all
LINE = 72  # letters of a line in a terminal, or in a notebook beside its list of files
LONG = (48, 34)  # letters of a label that fit beneath a narrow figure, and beside it
COLUMN = (3.45, 3.0)  # inches: the width of a column of a paper
POINTS = 72  # of an inch, in which SVG and PDF measure
STYLE = {
    "font.size": 8, "axes.labelsize": 8, "legend.fontsize": 7, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "axes.titlesize": 8, "svg.fonttype": "path", "pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "frkit",
    "text.usetex": False,
}  # fmt: skip
CSS = """
.frkit-report { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; max-width: 60rem; }
.frkit-report h1 { font-size: 1.6em; line-height: 1.2; margin: 0 0 .5em; }
.frkit-report h2 { font-size: 1.2em; margin: 2em 0 .5em; padding-top: .5em;
  border-top: 1px solid rgba(128,128,128,.4); }
.frkit-report p { margin: .5em 0; overflow-wrap: anywhere; }
.frkit-report ul { padding-left: 1.2em; margin: .5em 0; }
.frkit-report li { margin: .35em 0; overflow-wrap: anywhere; }
.frkit-report .answers { border-left: .3em solid #0072B2; padding-left: 1em; list-style: none; }
.frkit-report .answers p { margin: .1em 0 .35em; }
.frkit-report .cautions { border-left: .3em solid #D55E00; padding-left: 1.5em; }
.frkit-report .quiet { opacity: .8; font-size: .9em; }
.frkit-report .wide { overflow-x: auto; margin: .5em 0 1.2em; }
.frkit-report table { border-collapse: collapse; font-size: .85em; font-variant-numeric: tabular-nums; }
.frkit-report caption { text-align: left; font-weight: 600; padding: .3em 0; max-width: calc(100vw - 2.4rem); }
.frkit-report table th, .frkit-report table td { text-align: left; vertical-align: top; padding: .2em .8em .2em 0;
  white-space: nowrap; border-bottom: 1px solid rgba(128,128,128,.25); background: none; }
.frkit-report table th { white-space: normal; vertical-align: bottom; }
.frkit-report figure { margin: 1em 0; display: inline-block; width: min(100%, 29rem); vertical-align: top; }
.frkit-report figure svg { width: 100%; height: auto; display: block; background: #fff; border-radius: .3em; }
.frkit-report figcaption { font-size: .8em; opacity: .8; }
.frkit-report pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8em; }
"""
PAGE_CSS = """
:root { color-scheme: light dark; }
body { margin: 0; padding: 1.2rem; background: #fff; color: #1a1a1a; }
body > .frkit-report { margin: 0 auto; }
@media screen and (prefers-color-scheme: dark) {
  body { background: #16181c; color: #e4e6ea; }
  body > .frkit-report figure svg { filter: invert(.91) hue-rotate(180deg); }
}
@media print {
  body { background: #fff; color: #000; padding: 0; }
  body > .frkit-report { font-size: 10pt; max-width: none; }
  body > .frkit-report table { font-size: 7.5pt; }
  body > .frkit-report .wide { overflow: visible; }
  body > .frkit-report table :is(th, td) { white-space: normal; padding-right: .6em; }
  body > .frkit-report figure { width: 48%; }
  div { orphans: 1; widows: 1; } p, li { orphans: 2; widows: 2; } h2, caption, strong { break-after: avoid; }
  figure, tr, p, .wide:not(:has(tr:nth-child(25))) { break-inside: avoid; }
}
@page { margin: 1.5cm; }
"""


# --- in a terminal -----------------------------------------------------------------------------------------------


def text(report: "Report") -> str:
    """A short text: the answers, the table of error rates, cautions, and what was left out."""
    lines = [report.title, "=" * len(report.title)]
    for part in ("data", "errors"):
        if part in report.sections:
            held = report.sections[part].tables
            lines += ["", *_plain(next(iter(held.values())))] if held else []
    lines += ["", *_wrapped("* ", report.answers)]
    for title, held in (("Cautions", report.cautions), ("Left out", report.left_out)):
        lines += ["", f"{title}:", *_wrapped("- ", held)] if held else []
    return "\n".join(_printable(line) for line in lines)


def _wrapped(mark: str, sentences: list[str]) -> list[str]:
    """Sentences behind a mark, in lines that end between words."""
    form = {
        "width": LINE,
        "subsequent_indent": "  ",
        "break_long_words": False,
        "break_on_hyphens": False,
    }
    return [line for sentence in sentences for line in wrap(mark + _printable(sentence), **form)]


def _plain(table: Table) -> list[str]:
    """A table as lines of text."""
    body = [row for row in table.rows(sparse=False) if any(cell.strip() for cell in row)]
    widths = [max(len(row[place]) for row in body) for place in range(len(body[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in body
    ]


def _printable(line: str) -> str:
    """Without the control characters by which a label could move a terminal's cursor."""
    return "".join(sign if sign.isprintable() else "?" for sign in line)


# --- as HTML -------------------------------------------------------------------------------------------------------


def page(report: "Report", body: str | None = None) -> str:
    """One page that needs nothing else: no script, no address, figures inside; body: its fragment, if known."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n<style>{PAGE_CSS}</style>\n</head>\n<body>\n"
        f"{body or fragment(report)}\n</body>\n</html>\n"
    )


def fragment(report: "Report") -> str:
    """The report inside another page, such as a notebook."""
    numbers = count()
    parts = [
        f"<style>{CSS}</style>",
        '<div class="frkit-report">',
        f"<h1>{escape(report.title)}</h1>",
    ]
    parts.append(_answers(report))
    if report.cautions:
        parts += ["<p><strong>Cautions</strong></p>", _listed(report.cautions, "cautions")]
    for section in report.sections.values():
        parts.append(_section(section, report.pictures, numbers))
    if report.left_out:
        parts += ["<h2>Left out</h2>", _listed(report.left_out, "quiet")]
    return "\n".join([*parts, "</div>"])


def _answers(report: "Report") -> str:
    """The summary: what each part says, under its title."""
    items = ""
    for section in (part for part in report.sections.values() if part.answers):
        said = "".join(f"<p>{escape(line)}</p>" for line in section.answers)
        items += f"<li><strong>{escape(section.title)}</strong>{said}</li>"
    return f'<ul class="answers">{items}</ul>'


def _listed(lines: list[str], name: str) -> str:
    """Sentences as a list."""
    return f'<ul class="{name}">{"".join(f"<li>{escape(line)}</li>" for line in lines)}</ul>'


def _section(section: Section, pictures: "dict[str, Picture]", numbers: count) -> str:
    """One part: title, figures, tables, notes."""
    parts = [f"<h2>{escape(section.title)}</h2>"]
    parts += [_figure(name, pictures[name], next(numbers)) for name in section.figures]
    parts += [_table(caption, table) for caption, table in section.tables.items()]
    parts += [f'<p class="quiet">{escape(line)}</p>' for line in section.lines]
    parts += [f"<pre>{escape(block)}</pre>" for block in section.blocks]
    return "\n".join(parts)


def _table(caption: str, table: Table) -> str:
    """A table that scrolls by itself where the page is narrow."""
    with pd.option_context("display.max_colwidth", None):
        flat = table.flat()
        body = flat.head(MOST_ROWS).to_html(index=False, border=0, escape=True)
    rest = len(table) - MOST_ROWS
    more = f'<p class="quiet">{rest} more rows are in the files.</p>' if rest > 0 else ""
    if not any(name.strip() for name in flat.columns):
        body = re.sub(r"<thead>.*?</thead>", "", body, flags=re.DOTALL)
    body = body.replace(">", f"><caption>{escape(caption)}</caption>", 1)
    return f'<div class="wide" tabindex="0">{body}</div>{more}'


# --- figures -------------------------------------------------------------------------------------------------------


class Picture(NamedTuple):
    """A figure whose parts have found their places, the words of its caption, and its SVG."""

    figure: Figure
    words: str
    svg: bytes


def pictured(draw: Callable[[Axes], Axes]) -> Picture:
    """A figure of a column's width, laid out once for the page and the files; its caption stands beside it."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=COLUMN, dpi=POINTS, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure.subplots())
        for ground in (figure, *figure.axes):
            ground.patch.set(facecolor="none", edgecolor="none")
        words = [ax.get_title(loc="left") for ax in figure.axes]
        for ax in figure.axes:
            ax.set_title("", loc="left")
            _narrow(ax)
    words = " ".join(words).replace(" \n", " ").replace("\n", "; ").replace(r"\$", "$").strip()
    svg = saved(figure, words, "svg")
    figure.set_layout_engine("none")
    return Picture(figure, words, svg)


def _narrow(ax: Axes) -> None:
    """Long labels in two lines, and the legend beneath the axes, where it hides nothing in a narrow figure."""
    for axis, long in ((ax.xaxis, LONG[0]), (ax.yaxis, LONG[1])):
        words = axis.label.get_text()
        axis.label.set_text(words.replace(" (", "\n(", 1) if len(words) > long else words)
    legend = ax.get_legend()
    if legend is None:
        return
    handles, labels = legend.legend_handles, [part.get_text() for part in legend.get_texts()]
    legend.remove()
    if handles:
        ax.figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=2 if len(labels) > 2 else 1,
            frameon=False,
        )


def saved(figure: Figure, words: str, form: str) -> bytes:
    """A figure as the bytes of a file, the same ones each time; the file itself holds the words of its caption."""
    out = io.BytesIO()
    with matplotlib.rc_context(
        STYLE
    ):  # without `savefig`, which draws everything once more to find its renderer
        if form == "svg":
            FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Description": words})
        else:
            FigureCanvasPdf(figure).print_pdf(
                out, metadata={"CreationDate": None, "Subject": words}
            )
    return out.getvalue()


def _figure(name: str, picture: Picture, number: int) -> str:
    """A figure inside the page, named for those who do not see it."""
    svg = picture.svg.decode("utf-8")
    words, svg = picture.words, svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # every figure's names are its own, although they share a page
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>f{number}-", svg)
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*" height="[^"]*"|(<svg )', r"\1\2", svg, count=1)
    label = escape(f"{name}. {words}", quote=True)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return f"<figure>{svg}<figcaption>{escape(name)}{escape(f': {words}') if words else ''}</figcaption></figure>"
