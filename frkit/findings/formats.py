"""Numbers as text, and the templates that contain every sentence."""

import json
from decimal import Decimal
from functools import partial
from textwrap import fill

import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape

from frkit.intervals.reading import AVERAGES
from frkit.intervals.rows import ENDS
from frkit.measures.registry import LOG_SCALE

LEVEL_NAMES = {"far_level": "FAR", "threshold_level": "threshold"}
MOST_DECIMALS = 7
TIE = 1e-9  # a number this close to the fair value is that value
SIGNIFICANT = 0.05
LINE = 72  # letters of a line in a terminal
SENTENCES = "sentences.txt.j2"


def number(value, digits=3):
    """A number with so many significant digits: "–" if missing, "∞" if unbounded."""
    if np.isnan(value):
        return "–"
    size = abs(value)
    text = f"{size:.{digits}g}" if size >= 1e-4 or size == 0 else f"{size:.{digits - 1}e}"
    text = text.replace("inf", "∞")
    return f"−{text}" if value < 0 else text


def cell(estimate, lower=np.nan, upper=np.nan, *, decimals, fair=None):
    """An estimate with its interval, if there is one: "0.074 [0.044, 0.134]".

    fair : no end is rounded to this value, across which a reader decides.
    """
    text = fixed(estimate, decimals)
    if np.isnan([lower, upper]).all():
        return text
    return f"{text} [{fixed(lower, decimals, fair)}, {fixed(upper, decimals, fair)}]"


def decimals_of(lower, upper, scale=None):
    """The rule for every interval of a result: two digits of the narrowest one's width.

    Ratios have two decimals or more. More than MOST_DECIMALS means that no number of decimals fits.
    """
    width = np.ravel(upper) - np.ravel(lower)
    width = width[np.isfinite(width) & (width > 0)]
    decimals = np.maximum(1 - np.floor(np.log10(width)).astype(int), 0)
    decimals = decimals[decimals <= MOST_DECIMALS].tolist()
    if scale == LOG_SCALE:
        decimals.append(2)
    return max(decimals, default=MOST_DECIMALS + 1)


def fixed(value, decimals, fair=None, separator=""):
    """A number with so many decimals, or more where it would be rounded to the fair value."""
    if decimals > MOST_DECIMALS or not np.isfinite(value):
        return number(value)
    text = f"{value:z{separator}.{decimals}f}"  # z: no "-0"
    if fair is not None and abs(value - fair) > TIE and float(text) == fair:
        return fixed(value, decimals + 1, fair)
    return text.replace("-", "−")


def percent(value, decimals, fair=None):
    """A number in percent, rounded as `fixed` rounds it in a table."""
    shown = fixed(abs(value), decimals, fair)
    size = f"{Decimal(shown).scaleb(2):f}" if np.isfinite(value) else shown
    return f"−{size}" if value < 0 and float(shown) > 0 else size


def share_text(share):
    """A share that a user gave, such as the level of intervals, in percent."""
    return f"{100 * share:.6g} %"


def ratio_cell(ratios):
    """A ratio with its ends, where no end is rounded to 1: "3.10 [1.42, 6.51]"."""
    ratio, lower, upper = ratios
    return cell(ratio, lower, upper, decimals=decimals_of(lower, upper, LOG_SCALE), fair=1)


def up_to(value):
    """A limit with two decimals, rounded upwards."""
    return f"{np.ceil(100 * value) / 100:.6g}"


def count_words(n):
    """A number of comparisons."""
    return f"{n:,.0f}" if n >= 10 else number(n, 2)


def p_words(p):
    """A p-value in a cell."""
    if np.isnan(p):
        return "–"
    if p > 0.995:  # after Holm it may be 1
        return "> 0.99"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_text(p):
    """A p-value in a sentence."""
    return f"p = {p:#.2g}" if 0.001 <= p <= 0.995 else f"p {p_words(p)}"


def cell_of(band, decimals):
    """The value and interval of a single place."""
    ends = (float(getattr(band, end)) for end in ENDS)
    return cell(*ends, decimals=decimals, fair=getattr(band, "fair", None))


def level_words(values):
    """The level of a value: "at FAR 0.001"."""
    for dim, word in LEVEL_NAMES.items():
        if dim in values.coords:
            return f"at {word} {float(values[dim]):g}"
    return "at its EER"


def unbroken(text):
    """Text whose lines do not break within "25 %" or "p = 0.02"."""
    for sign in ("%", "= ", "< "):
        text = text.replace(f" {sign}", f" {sign}".replace(" ", "\u00a0"))
    return text


def printable(text):
    """Text without control characters, by which a label could move a terminal's cursor."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in text)


def say(sentence, *values):
    """Fill values into one of the sentences of the templates."""
    macros = TEMPLATES.get_template(SENTENCES).module
    return " ".join(getattr(macros, sentence)(*values).split())


# labels are escaped in HTML and SVG, and nowhere else
ESCAPED = select_autoescape(["html.j2", "svg.j2"])
TEMPLATES = Environment(loader=PackageLoader("frkit.findings"), autoescape=ESCAPED)
TEMPLATES.globals.update(infinity=np.inf, significant=SIGNIFICANT)
TEMPLATES.filters.update(
    cell=cell_of,
    averaged=AVERAGES.get,
    fixed=fixed,
    count=count_words,
    percent=percent,
    capitalize_first=lambda text: text[:1].upper() + text[1:],
    share=share_text,
    ratio=ratio_cell,
    p=p_text,
    level_words=level_words,
    up_to=up_to,
    json=partial(json.dumps, ensure_ascii=False),
    unbroken=unbroken,
    thousands="{:,}".format,
    paragraph=partial(
        fill, width=LINE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    ),
)
