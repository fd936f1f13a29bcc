"""Results as tables for papers: "0.074 [0.044, 0.134]" in a cell, as LaTeX or CSV."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import require
from frkit.findings.formats import (
    MOST_DECIMALS,
    cell,
    count_words,
    decimals_of,
    fixed,
    p_words,
)
from frkit.intervals.reading import AVERAGED, AVERAGES
from frkit.intervals.rows import ENDS, LIMIT, MEASURE, ROWS, WORTH, rows_of

VALUE = "value"
UNRESOLVED = " *"  # behind a value that rests on fewer than ten errors of a kind
ABBREVIATIONS = ("frr", "far", "eer", "auc", "fdr", "ir", "garbe")
SHORT = {  # behind the rate in the name of a measure -> in its short name
    "": "",
    "group": " of the group",
    "cross": " between groups",
    "max_min": " max/min",
    "max_geomean": " max/geomean",
    "log_geomean": " log/geomean",
    "gini": " Gini",
    "max_difference": " max − min",
    "spread": " spread",
}
HEADS = {  # column of tidy rows -> of a table
    "far": "FAR",
    "with_group": "with group",
    WORTH: "n effective",
    LIMIT: "fair model up to",
    "p_fair": "p (fair)",
    "p_floor": "p (floor)",
    "p_random_groups": "p (random groups)",
    "p_holm": "p (Holm)",
}
KEYS = [HEADS.get(name, name) for name in ROWS]  # names of rows of a table
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs what begins with one of them
OPTION_BEHIND_A_ROW = re.compile(r"^(?=[\[*])", re.MULTILINE)  # LaTeX takes "[" and "*" for one
LATEX = {  # what pandas does not escape
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    "∞": r"$\infty$",
    "±": r"$\pm$",
}


def table(*results: object, n_effective: bool = False) -> "Table":
    """Put results with their intervals into one table for a paper.

    Parameters
    ----------
    *results
        What `band`, `compare`, `fair_floor`, `fairness_indices`, `n_sigma`,
        `representation_bias` or `uncertainty` returned. Rows of the same measure, model, level and
        group are joined. One mapping of name to result gives each result a column, such as
        {"new people": ..., "these people": ...}.
    n_effective : bool
        Whether a column says how many independent comparisons each value is worth.

    Returns
    -------
    Table
        A DataFrame of texts, "0.074 [0.044, 0.134]": estimate and interval, with as many decimals
        as give the narrowest interval of the result two digits. A value that rests on fewer than
        ten errors is marked with "*". The column `fair model up to` is the limit of floors and
        permutations; columns of p-values name their kind in brackets. "–" if missing, "∞" if
        unbounded. It has `to_latex`, and `to_csv`, which writes numbers.

    Raises
    ------
    InputError
        If an argument is no such result.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.1, 0.2])
    >>> fk.table(fk.band(ev, "frr")).columns.tolist()
    ['FRR (mean over people)']
    """
    require(results, "table() needs a result, such as what fk.band returned")
    if len(results) == 1 and isinstance(results[0], dict):
        columns = [_column(name, result) for name, result in results[0].items()]
        joined = pd.concat(columns, axis=1, sort=False)
    else:
        rows = pd.concat([texts_of(result) for result in results], sort=False)
        joined = rows.groupby(KEYS, sort=False).first()
    if not n_effective:
        joined = joined.loc[:, ~joined.columns.str.endswith(HEADS[WORTH])]
    return Table(_without_empty(joined))


def _column(name, result):
    """A result of a mapping: its name takes the place of the measure's."""
    frame = texts_of(result).set_index(KEYS)
    if frame.index.unique(MEASURE).size == 1:
        frame = frame.rename(index=lambda _: "", level=MEASURE)
    heads = [name if head == VALUE else f"{name}, {head}" for head in frame]
    return frame.set_axis(heads, axis=1)


def _without_empty(joined):
    """Drop names of rows that say nothing, and columns without a value."""
    filled = joined.dropna(axis=1, how="all").astype(object)
    filled = filled.where(filled.notna(), "–")
    measures = joined.index.unique(MEASURE)
    if len(measures) == 1:
        filled = filled.rename(columns={VALUE: measures[0] or VALUE}).droplevel(MEASURE)
    empty = [key for key in filled.index.names if filled.index.unique(key).tolist() == [""]]
    if len(empty) == filled.index.nlevels:
        return filled.reset_index(drop=True)
    return filled.droplevel(empty)


def decimals_of_result(result):
    """Decimals of all values of one result with intervals."""
    return decimals_of(result.lower, result.upper, result.attrs.get("scale"))


def texts_of(result):
    """Cells of one result: the value with its interval, and a column for each other number.

    In front stand the names of the rows, KEYS.
    """
    rows = rows_of(result)
    attrs = getattr(result, "attrs", {})
    texts = {name: [_label(label) for label in rows[name]] for name in ROWS}
    texts[MEASURE] = [short_name(name, attrs.get("weighting")) for name in rows[MEASURE]]
    decimals = MOST_DECIMALS + 1
    if "lower" in rows:
        decimals = decimals_of(rows.lower, rows.upper, attrs.get("scale"))
    digits = {"decimals": decimals, "fair": attrs.get("fair")}
    texts[VALUE] = [_value(row, digits) for row in rows.to_dict("records")]
    for name in rows.columns.difference([*ROWS, *ENDS, "risk", "resolved"], sort=False):
        as_text = count_words if name == WORTH else p_words
        if name == LIMIT:
            as_text = partial(fixed, decimals=decimals_of_column(rows[LIMIT], 3))
        texts[name] = cells(rows[name].astype(float), as_text)
    return pd.DataFrame(texts, dtype=object).rename(columns=HEADS)


def _label(label):
    """The name of a row: a level in few digits, or a label as it is."""
    return f"{label:g}" if isinstance(label, float) else str(label)


def _value(row, digits):
    """The cell of a value with its interval, its risk, and a mark where errors are few."""
    numbers = {name: row[name] for name in (*ENDS, "risk") if name in row}
    text = cell(*[numbers[end] for end in ENDS if end in row], **digits)
    risk = f" ({row['risk']})" if row.get("risk") else ""
    mark = "" if row.get("resolved", True) else UNRESOLVED
    return Cell(f"{text}{risk}{mark}", {"": numbers.pop("estimate"), **numbers})


def short_name(measure, weighting=None):
    """The short name of a registered measure: "FRR max/min" of "frr_max_min".

    For a rate it says how the rate averages, if that is known.
    """
    head, comma, rest = measure.partition(", ")
    rate, _, kind = head.partition("_")
    average = f" ({AVERAGES[weighting]})" if head in AVERAGED and weighting in AVERAGES else ""
    is_known = rate in ABBREVIATIONS and kind in SHORT
    name = f"{rate.upper()}{SHORT[kind]}" if is_known else head
    return f"{name}{average}{comma}{rest}"


def column_cells(values, index, digits=5, decimals=None):
    """Numbers as cells of one column, with enough decimals for the digits of the largest."""
    if decimals is None:
        decimals = decimals_of_column(values, digits)
    as_text = partial(fixed, decimals=decimals, separator=",")
    return pd.Series(cells(values, as_text), index, dtype=object)


def cells(values, as_text):
    """Numbers as cells of one column."""
    return [Cell(as_text(value), {"": value}) for value in values]


def decimals_of_column(values, digits):
    """How many decimals give the largest number so many digits; 0 for whole numbers."""
    sizes = np.abs(values)[np.isfinite(values) & (values != 0)]
    if not sizes.size or np.all(sizes == np.round(sizes)):
        return 0
    return max(digits - 1 - int(np.floor(np.log10(sizes.max()))), 0)


# --- tables as files ------------------------------------------------------------------------------


class Cell(str):
    """Text in a table that keeps its numbers: by the name that a CSV file adds to the column's."""

    def __new__(cls, text, numbers):
        """Text, and its numbers."""
        cell = super().__new__(cls, text)
        cell.numbers = numbers
        return cell


class Table(pd.DataFrame):
    """A DataFrame of texts that writes itself as LaTeX (booktabs) and as CSV."""

    @property
    def _constructor(self):
        return Table

    def to_latex(self, buf: str | Path | None = None) -> str | None:
        r"""Write the table for LaTeX's booktabs; every label is escaped.

        Parameters
        ----------
        buf : str or Path, optional
            The file; without it the text is returned.

        Returns
        -------
        str or None

        Examples
        --------
        >>> print(Table({"a_b": ["1 %"]}).to_latex().splitlines()[2])
        a\_b \\
        """
        texts = self.shown()
        columns = "l" * texts.shape[1]
        latex = texts.to_latex(index=False, escape=True, column_format=columns)
        latex = latex.translate(str.maketrans(LATEX))
        latex = OPTION_BEHIND_A_ROW.sub("{}", latex)
        if buf is None:
            return latex
        Path(buf).write_text(latex, encoding="utf-8")
        return None

    def to_csv(self, path_or_buf=None, **options) -> str | None:
        """Write numbers: an estimate with its interval is three columns.

        Parameters
        ----------
        path_or_buf : str, Path or file, optional
            Where to; without it the text is returned.
        **options
            Of `pandas.DataFrame.to_csv`.

        Returns
        -------
        str or None

        Examples
        --------
        >>> print(Table({"name": ["=1+1"]}).to_csv().splitlines()[1])
        '=1+1
        """
        protected = self.numbers().map(_no_formula).rename(columns=_no_formula)
        return protected.to_csv(path_or_buf, **{"index": False} | options)

    def numbers(self):
        """Numbers in place of texts: an estimate with its interval is three columns."""
        columns = []
        for head, cells in self.flat().items():
            numbers = pd.DataFrame([getattr(cell, "numbers", {}) for cell in cells])
            heads = [f"{head}, {end}" if end else head for end in numbers]
            columns.append(cells if numbers.empty else numbers.set_axis(heads, axis=1))
        return pd.concat(columns, axis=1)

    def flat(self):
        """The table with the names of its rows, if there are any, as columns."""
        unnamed = isinstance(self.index, pd.RangeIndex)
        return pd.DataFrame(self).reset_index(drop=unnamed, allow_duplicates=True)

    def shown(self):
        """The table as it is printed: rows are named only where the name changes."""
        texts = self.flat().map(_in_one_line).rename(columns=_in_one_line)
        n_names = self.index.nlevels - 1
        names = texts.iloc[:, :n_names]
        repeated = (names == names.shift()).cumprod(axis=1).astype(bool)
        texts.iloc[:, :n_names] = names.mask(repeated, "")
        return texts


def _in_one_line(label):
    return str(label).replace("\n", " ")


def _no_formula(label):
    """A label that no spreadsheet takes for a formula; numbers stay as they are."""
    formula = isinstance(label, str) and label.startswith(FORMULA_SIGNS)
    return f"'{label}" if formula and not NUMBER.fullmatch(label) else label
