"""Numbers as text, and the templates that contain every sentence."""

import json
from functools import partial
from textwrap import fill

import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape

ENDS = ("estimate", "lower", "upper")
LEVEL_NAMES = {"far_level": "FAR", "threshold_level": "threshold"}
MOST_DECIMALS = 7
SIGNIFICANT = 0.05
LINE = 72  # letters of a line in a terminal
SENTENCES = "sentences.txt.j2"


def number(value, digits=3):
    """A number with so many significant digits: "–" is not known, "∞" an end without a number."""
    if np.isnan(value):
        return "–"
    size = abs(value)
    text = f"{size:.{digits}g}" if size >= 1e-4 or size == 0 else f"{size:.{digits - 1}e}"
    text = text.replace("inf", "∞")
    return f"−{text}" if value < 0 else text


def cell(estimate, lower=None, upper=None):
    """An estimate with its interval, rounded to two digits of the width: "0.074 [0.044, 0.134]"."""
    if lower is None or np.isnan([estimate, lower, upper]).all():
        return number(estimate)
    width = upper - lower
    decimals = MOST_DECIMALS + 1
    if np.isfinite(width) and width > 0:
        decimals = max(1 - int(np.floor(np.log10(width))), 0)
    words = []
    for value in (estimate, lower, upper):
        rounded = decimals <= MOST_DECIMALS and np.isfinite(value)
        words.append(f"{value:.{decimals}f}".replace("-", "−") if rounded else number(value))
    return "{} [{}, {}]".format(*words)


def count_words(n):
    """A number of comparisons."""
    if np.isnan(n):
        return "–"
    return f"{n:,.0f}" if n >= 10 else f"{n:.1f}"


def p_words(p):
    """A p-value in a cell."""
    if np.isnan(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_text(p):
    """A p-value in a sentence."""
    return "p < 0.001" if p < 0.001 else f"p = {p:#.2g}"


def cell_of(band, times=1):
    """Estimate and interval of a single place."""
    return cell(*(times * float(band[end]) for end in ENDS))


def level_words(values):
    """The level of a value: "at FAR 0.001"."""
    for dim, word in LEVEL_NAMES.items():
        if dim in values.coords:
            return f"at {word} {float(values[dim]):g}"
    return "at its EER"


def say(sentence, *values):
    """Fill values into one of the sentences of the templates."""
    macros = TEMPLATES.get_template(SENTENCES).module
    return " ".join(getattr(macros, sentence)(*values).split())


# labels are escaped in HTML, and nowhere else
ESCAPED = select_autoescape(["html.j2"])
TEMPLATES = Environment(loader=PackageLoader("frkit.reporting"), autoescape=ESCAPED)
TEMPLATES.globals.update(infinity=np.inf, significant=SIGNIFICANT)
TEMPLATES.filters.update(
    cell=cell_of,
    count=count_words,
    number=number,
    p=p_text,
    level_words=level_words,
    json=partial(json.dumps, ensure_ascii=False),
    python=repr,
    thousands="{:,}".format,
    paragraph=partial(
        fill, width=LINE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    ),
)
