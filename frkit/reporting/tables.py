"""Results as tables for papers: "0.074 [0.044, 0.134]" in a cell, as LaTeX, Markdown or CSV."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, MODEL, REFERENCE_GROUP, THRESHOLD_LEVEL, listed, require

MEASURE, VALUE, CONTRAST = "measure", "value", "contrast"
ENDS = ("estimate", "lower", "upper")
WORTH, LIMIT, RISK = "independent comparisons", "fair model up to", "risk"
HEADS = {FAR_LEVEL: "FAR", THRESHOLD_LEVEL: "threshold", REFERENCE_GROUP: "with group"}
KEYS = [MEASURE, MODEL, "FAR", "threshold", CONTRAST, "attribute", GROUP, "with group"]
P_KINDS = {
    "effective": "fair",
    "fair floor": "floor",
    "permutation of labels": "permutation",
}
INDICES = ("sfi", "cfi", "dfi")
MOST_DECIMALS = 7
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs what begins with one of them
LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " "}
    | {"−": "$-$", "–": "--", "∞": r"$\infty$", "±": r"$\pm$", "≤": r"$\leq$", "×": r"$\times$"}
)
MARKDOWN = str.maketrans(
    {"|": r"\|", "\n": " ", "<": "&lt;", "`": r"\`", "*": r"\*", "_": r"\_", "$": r"\$"}
)


def table(*results: object, across: str | None = None, n_effective: bool = False) -> "Table":
    """Put results with their intervals into one table for a paper.

    Parameters
    ----------
    *results
        What `band`, `compare`, `fair_floor`, `permutation_test`, `fairness_indices`, `n_sigma`,
        `representation_bias` or `uncertainty` returned. Rows of the same measure, model, level and
        group are joined. One mapping of name to result gives each result a column, such as
        {"new people": ..., "these people": ...}. Or one report.
    across : str, optional
        A name of rows to spread over columns: "model", "FAR", "group", ...
    n_effective : bool
        Whether a column says how many independent comparisons each value is worth.

    Returns
    -------
    Table
        A DataFrame of texts, "0.074 [0.044, 0.134]": estimate and interval, rounded to two digits
        of the interval's width. The column `fair model up to` is the limit of floors and
        permutations; columns of p-values name their kind in brackets. "–" is not known, "∞" is an
        end without a number. It has `to_latex`, `to_markdown` and `to_csv`, which writes numbers.

    Raises
    ------
    InputError
        For something else than such results, or a name that no row has.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.1, 0.2])
    >>> fk.table(fk.band(ev, "frr")).columns.tolist()
    ['frr']
    """
    require(results, "table() needs a result, such as what fk.band returned")
    if len(results) == 1 and hasattr(results[0], "bands"):
        results = results[0].bands
    if len(results) == 1 and type(results[0]) is dict:
        columns = []
        for name, result in results[0].items():
            frame = texts_of(result)
            if frame.index.unique(MEASURE).size == 1:  # the name takes its place
                frame = frame.rename(index=lambda _: "", level=MEASURE)
            heads = [name if head == VALUE else f"{name}, {head}" for head in frame]
            columns.append(frame.set_axis(heads, axis=1))
        joined = pd.concat(columns, axis=1, sort=False)
    else:
        rows = pd.concat([texts_of(result) for result in results], sort=False)
        joined = rows.groupby(level=KEYS, sort=False).first()
    if not n_effective:
        joined = joined[[head for head in joined if not head.endswith(WORTH)]]
    filled = _without_empty(joined)
    return filled if across is None else _spread(filled, across)


def _without_empty(joined):
    """Drop names of rows that all rows share, and columns without a value."""
    filled = joined.dropna(axis=1, how="all").astype(object)
    filled = Table(filled.where(filled.notna(), "–"))
    for key in KEYS:
        labels = filled.index.unique(key)
        if len(labels) > 1 or filled.index.nlevels == 1:
            continue
        if key == MEASURE and labels[0]:
            filled = filled.rename(columns={VALUE: labels[0]})
        if key == MEASURE or labels[0] == "":
            filled.index = filled.index.droplevel(key)
    return filled if any(filled.index.get_level_values(0)) else filled.reset_index(drop=True)


def _spread(filled, across):
    """One name of rows over columns."""
    names = filled.index.names
    message = f"across={across!r} is no name of rows that can be spread; there are {listed(names)}"
    require(across in names and filled.index.nlevels > 1, message)
    order = filled.index.unique(across)
    wide = filled.unstack(across, fill_value="–", sort=False)
    wide = wide[[(column, label) for label in order for column in filled.columns]]
    single = len(filled.columns) == 1
    wide.columns = [label if single else f"{label}, {column}" for column, label in wide.columns]
    return Table(wide)


# --- every kind of result as rows of numbers ------------------------------------------------------


def texts_of(result) -> pd.DataFrame:
    """Cells of one result: the value with its interval, and what stands beside it."""
    numbers = numbers_of(result)
    cells = []
    for row in numbers.to_dict("records"):
        ends = {end: row[end] for end in ENDS if end in row}
        if RISK in row:  # N with its level of risk
            text = f"{number(row['estimate'])} ({row[RISK]})"
            ends[RISK] = row[RISK]
        else:
            text = cell(**ends)
        cells.append(Cell(text, {"": ends.pop("estimate"), **ends}))
    columns = {VALUE: cells}
    formats = {WORTH: count_words, LIMIT: number}
    for head in numbers.columns.difference([*ENDS, RISK], sort=False):
        words = formats.get(head, p_words)
        columns[head] = [Cell(words(value), {"": float(value)}) for value in numbers[head]]
    labels = numbers.index.to_frame()
    labels = labels.map(lambda label: f"{label:g}" if isinstance(label, float) else str(label))
    return pd.DataFrame(columns, index=pd.MultiIndex.from_frame(labels), dtype=object)


def numbers_of(result) -> pd.DataFrame:
    """Numbers of one result: a row for each place, named by all of KEYS ("" where it has none)."""
    if isinstance(result, xr.DataArray):
        attrs = {"measure": str(result.name or VALUE)} | result.attrs
        result = result.to_dataset(name="estimate").assign_attrs(attrs)
    kinds = {"estimate", "sfi", "n_signed", "rlb"}
    require(
        isinstance(result, xr.Dataset) and bool(kinds & set(result.data_vars)),
        "a table takes what band, compare, fair_floor, permutation_test, fairness_indices, n_sigma "
        f"or representation_bias returned, got {type(result).__name__}",
    )
    if "sfi" in result:
        return pd.concat([_of_index(result, name) for name in INDICES])
    if "n_signed" in result:
        names = {"n_signed": "estimate", RISK: RISK, "p_value": "p (Welch, over subsets; no test)"}
        return _rows(result, names, "N")
    if "rlb" in result:
        reach = 1.96 * result.rlb_se
        ends = {"lower": result.rlb - reach, "upper": result.rlb + reach}
        names = {"rlb": "estimate", "lower": "lower", "upper": "upper"}
        return _rows(result.assign(ends), names, "RLB")
    return _of_band(result)


def _of_index(result, name):
    """SFI, CFI or DFI in its variants, each a measure of its own."""
    names = {name: "estimate", f"{name}_lower": "lower", f"{name}_upper": "upper"}
    names |= {f"{name}_floor_limit": LIMIT, f"{name}_p": "p (random groups)"}
    rows = []
    for variant in result["variant"].values.astype(str):
        rows.append(_rows(result.sel(variant=variant), names, f"{name.upper()} {variant}"))
    return pd.concat(rows)


def _of_band(result):
    """A band, a comparison, a floor or a permutation."""
    attrs = result.attrs
    measure, p_head = attrs.get("measure", VALUE), "p"
    if "contrast" not in attrs and attrs.get("method") in P_KINDS:
        p_head = f"p ({P_KINDS[attrs['method']]})"
    if "a" in attrs:
        sign = "/" if attrs["contrast"] == "ratio" else "−"
        measure = f"{measure}, {attrs['a']} {sign} {attrs['b']}"
    names = {name: name for name in ENDS} | {"n_effective": WORTH, "limit": LIMIT}
    return _rows(result, names | {"p": p_head, "p_holm": "p (Holm)"}, measure)


def _rows(result, names, measure):
    """Variables of a result as columns of these names, under the names of their rows."""
    names = {name: head for name, head in names.items() if name in result}
    values = result[list(names)].rename(names)
    dims = values["estimate"].dims
    heads = {dim: HEADS.get(dim, str(dim)) for dim in dims}
    extra = [head for head in heads.values() if head not in KEYS]
    require(not extra, f"a table has no rows for {listed(extra)}: select one with .sel")
    if CONTRAST in dims and "a" in values.coords:
        pairs = zip(values["a"].values, values["b"].values)
        sign = "/" if result.attrs.get(CONTRAST) == "ratio" else "−"
        values = values.assign_coords({CONTRAST: [f"{a} {sign} {b}" for a, b in pairs]})
    values = values.reset_coords(drop=True).expand_dims("row")
    frame = values.to_dataframe(dim_order=["row", *dims]).reset_index().rename(columns=heads)
    absent = [key for key in KEYS if key not in frame]
    frame = frame.assign(**dict.fromkeys(absent, "") | {MEASURE: measure})
    return frame.set_index(KEYS)[list(names.values())]


# --- numbers as text ------------------------------------------------------------------------------


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, and words for what is none."""
    if np.isnan(value):
        return "–"
    size = abs(value)
    text = f"{size:.{digits}g}" if size >= 1e-4 or size == 0 else f"{size:.{digits - 1}e}"
    text = text.replace("inf", "∞")
    return f"−{text}" if value < 0 else text


def cell(estimate: float, lower: float | None = None, upper: float | None = None) -> str:
    """An estimate with its interval, rounded to two digits of the width: "0.074 [0.044, 0.134]"."""
    if lower is None or np.isnan([estimate, lower, upper]).all():
        return number(estimate)
    width = upper - lower
    fixed = np.isfinite(width) and width > 0
    decimals = max(1 - int(np.floor(np.log10(width))), 0) if fixed else 0
    fixed = fixed and decimals <= MOST_DECIMALS
    words = []
    for value in (estimate, lower, upper):
        round_it = fixed and np.isfinite(value)
        words.append(f"{value:.{decimals}f}".replace("-", "−") if round_it else number(value))
    return f"{words[0]} [{words[1]}, {words[2]}]"


def count_words(n: float) -> str:
    """A number of comparisons."""
    if np.isnan(n):
        return "–"
    return f"{n:,.0f}" if n >= 10 else f"{n:.1f}"


def p_words(p: float) -> str:
    """A p-value in a cell."""
    if np.isnan(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_text(p: float) -> str:
    """A p-value in a sentence."""
    return "p < 0.001" if p < 0.001 else f"p = {p:#.2g}"


class Cell(str):
    """Text in a table that keeps its numbers: by the name that a CSV file adds to the column's."""

    numbers: dict[str, object]

    def __new__(cls, text: str, numbers: dict[str, object]):
        """Text, and its numbers."""
        made = super().__new__(cls, text)
        made.numbers = numbers
        return made


class Table(pd.DataFrame):
    """A DataFrame of texts that writes itself as LaTeX (booktabs), as Markdown, and as CSV."""

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
        head, *body = [" & ".join(map(_latex, row)) + r" \\" for row in self.rows()]
        columns = "l" * self.flat().shape[1]
        begin, end = rf"\begin{{tabular}}{{{columns}}}", "\\end{tabular}\n"
        lines = [begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", end]
        return _given(buf, "\n".join(lines))

    def to_markdown(self, buf: str | Path | None = None) -> str | None:
        r"""Write the table as Markdown; every label is escaped.

        Parameters
        ----------
        buf : str or Path, optional
            The file; without it the text is returned.

        Returns
        -------
        str or None

        Examples
        --------
        >>> print(Table({"a|b": ["1"]}).to_markdown())
        | a\|b |
        |---|
        | 1 |
        """
        cells = [[text.translate(MARKDOWN) for text in row] for row in self.rows()]
        head, *rows = [f"| {' | '.join(row)} |" for row in cells]
        return _given(buf, "\n".join([head, "|" + "---|" * len(cells[0]), *rows]))

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

    def numbers(self) -> pd.DataFrame:
        """Numbers in place of texts: an estimate with its interval is three columns."""
        flat, columns = self.flat(), []
        for place, head in enumerate(flat.columns):
            cells = flat.iloc[:, place]
            numbers = pd.DataFrame([getattr(value, "numbers", {}) for value in cells])
            heads = [f"{head}, {end}" if end else head for end in numbers]
            columns.append(cells if numbers.empty else numbers.set_axis(heads, axis=1))
        return pd.concat(columns, axis=1)

    def flat(self) -> pd.DataFrame:
        """The table with the names of its rows, if there are any, as columns."""
        plain = pd.DataFrame(self)
        if isinstance(self.index, pd.RangeIndex):
            return plain
        return plain.reset_index(allow_duplicates=True)

    def rows(self) -> list[list[str]]:
        """Head and body as texts; rows are named only where the name changes."""
        texts = self.flat().astype(str)
        shown = texts.copy()
        for place in range(texts.shape[1] - self.shape[1] - 1):
            names = texts.iloc[:, : place + 1]
            repeated = (names == names.shift()).all(axis=1)
            shown.iloc[repeated.to_numpy(), place] = ""
        return [list(map(str, texts.columns)), *shown.to_numpy().tolist()]


def _latex(text):
    """Text for LaTeX; after the end of a row [ and * would be read as an option."""
    escaped = text.translate(LATEX)
    return f"{{{escaped}}}" if escaped.startswith(("[", "*")) else escaped


def _no_formula(label):
    """A label that no spreadsheet takes for a formula; numbers stay as they are."""
    formula = isinstance(label, str) and label.startswith(FORMULA_SIGNS)
    return f"'{label}" if formula and not NUMBER.fullmatch(label) else label


def _given(buf, text):
    """The text, or nothing where it went to a file."""
    if buf is None:
        return text
    Path(buf).write_text(text, encoding="utf-8")
    return None
