"""Results as tables for papers: "0.074 [0.044, 0.134]" in a cell, as LaTeX, Markdown or CSV."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, MODEL, REFERENCE_GROUP, THRESHOLD_LEVEL, listed, require

MEASURE, VALUE, LIMIT, CONTRAST = "measure", "value", "fair model up to", "contrast"
WORTH = "independent comparisons"  # an effective number
HEADS = {FAR_LEVEL: "FAR", THRESHOLD_LEVEL: "threshold", REFERENCE_GROUP: "with group"}
KEYS = (MEASURE, MODEL, "FAR", "threshold", CONTRAST, "attribute", GROUP, "with group")
DEALT = "random groups"
MOST_DECIMALS = 7
P_OF = {
    "effective": "fair",
    "fair floor": "floor",
    "permutation of labels": "permutation",
    DEALT: DEALT,
}
INDICES = ("sfi", "cfi", "dfi")
LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"−": "$-$", "–": "--", "∞": r"$\infty$", "±": r"$\pm$", "≤": r"$\leq$", "\n": " "}
)
MARKDOWN = str.maketrans(
    {"|": r"\|", "\n": " ", "<": "&lt;", "`": r"\`", "*": r"\*", "_": r"\_", "$": r"\$"}
)


class Table(pd.DataFrame):
    """A DataFrame of texts that writes itself as LaTeX (booktabs) and Markdown without another package."""

    @property
    def _constructor(self):
        return Table

    def to_latex(self, buf: str | Path | None = None) -> str | None:
        """Write the table for LaTeX's booktabs; every label is escaped.

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
        a\\_b \\\\
        """
        head, *rows = ([cell.translate(LATEX) for cell in row] for row in self.rows())
        lines = [" & ".join(row) + r" \\" for row in (head, *rows)]
        begin = rf"\begin{{tabular}}{{{'l' * len(head)}}}"
        return _given(
            buf,
            "\n".join([begin, r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"])
            + END,
        )

    def to_markdown(self, buf: str | Path | None = None) -> str | None:
        """Write the table as Markdown; every label is escaped.

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
        | a\\|b |
        |---|
        | 1 |
        """
        head, *rows = ([cell.translate(MARKDOWN) for cell in row] for row in self.rows())
        lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
        return _given(buf, "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]))

    def flat(self) -> pd.DataFrame:
        """The table with the names of its rows, if there are any, as columns."""
        plain = pd.DataFrame(self)
        return (
            plain
            if isinstance(self.index, pd.RangeIndex)
            else plain.reset_index(allow_duplicates=True)
        )

    def rows(self, sparse: bool = True) -> list[list[str]]:
        """Head and body as texts; `sparse` names rows only where the name changes."""
        flat = self.flat()
        rows = [[str(cell) for cell in row] for row in flat.itertuples(index=False)]
        shown = [list(row) for row in rows]
        names = len(flat.columns) - len(self.columns) if sparse else 0
        for row, before, out in zip(rows[1:], rows, shown[1:]):
            for place in range(names - 1):
                if row[: place + 1] != before[: place + 1]:
                    break
                out[place] = ""
        return [[str(name) for name in flat.columns], *shown]


END = "\n\\end{tabular}\n"


def _given(buf, text: str) -> str | None:
    """The text, or nothing where it went to a file."""
    if buf is None:
        return text
    Path(buf).write_text(text, encoding="utf-8")
    return None


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, and words for what is none."""
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return (
        f"{value:.{digits}g}".replace("-", "−", 1)
        if abs(value) >= 1e-4 or value == 0
        else f"{value:.{digits - 1}e}"
    )


def cell(estimate: float, lower: float | None = None, upper: float | None = None) -> str:
    """An estimate with its interval, rounded to two digits of the interval's width: "0.074 [0.044, 0.134]"."""
    if lower is None or np.isnan([estimate, lower, upper]).all():
        return number(float(estimate))
    three = [float(value) for value in (estimate, lower, upper)]
    width = three[2] - three[1]
    known = np.isfinite(width) and width > 0
    decimals = int(max(1 - np.floor(np.log10(width)), 0)) if known else MOST_DECIMALS + 1
    fixed = decimals <= MOST_DECIMALS
    words = [
        f"{x:.{decimals}f}".replace("-", "−", 1) if fixed and np.isfinite(x) else number(x)
        for x in three
    ]
    return f"{words[0]} [{words[1]}, {words[2]}]"


def rlb_cell(rlb: float, se: float) -> str:
    """An RLB within 1.96 standard errors."""
    return cell(rlb, rlb - 1.96 * se, rlb + 1.96 * se)


def count_words(n: float) -> str:
    """A number of comparisons in a cell."""
    return "–" if np.isnan(n) else f"{n:,.0f}" if n >= 10 else f"{n:.1f}"


def p_words(p: float) -> str:
    """A p-value in a cell."""
    return "–" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def table(*results: object, across: str | None = None, n_effective: bool = False) -> Table:
    """Put results with their intervals into one table for a paper.

    Parameters
    ----------
    *results
        What `band`, `compare`, `floor`, `permutation_test`, `fairness_indices`, `n_sigma`, `representation_bias` or
        `uncertainty` returned: rows of the same measure, model, level and group are joined. One mapping of name to
        result gives each a column of its own, such as {"new people": ..., "these people": ...}. Or one report.
    across : str, optional
        A name of rows to spread over columns: "model", "FAR", "group", ...
    n_effective : bool
        Whether a column says how many independent comparisons each value is worth.

    Returns
    -------
    Table
        A DataFrame of texts, "0.074 [0.044, 0.134]": estimate and interval, rounded to two digits of its width. Beside
        the values stand `fair model up to` (what floors and permutations give) and p-values, each with its kind in
        brackets. "–" is not known, "∞" an end without a number. It has `to_latex`, `to_markdown` and `to_csv`.

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
    if len(results) == 1 and hasattr(results[0], "sections"):
        results = results[0].bands
    if not n_effective:
        results = [_without_worth(result) for result in results]
    if (
        len(results) == 1
        and isinstance(results[0], Mapping)
        and not isinstance(results[0], xr.Dataset)
    ):
        parts = [_named(str(name), result) for name, result in results[0].items()]
        joined = pd.concat(parts, axis=1, sort=False)
        joined = joined.loc[:, ~joined.columns.duplicated()]
    else:
        long = pd.concat([_frame(result) for result in results], sort=False)
        joined = long.groupby(level=list(range(long.index.nlevels)), sort=False).first()
    return _spread(_tidy(joined), across)


def _without_worth(result):
    """A result, or a mapping of several, without effective numbers."""
    if isinstance(result, Mapping) and not isinstance(result, xr.Dataset):
        return {name: _without_worth(part) for name, part in result.items()}
    return (
        result.drop_vars("n_effective", errors="ignore")
        if isinstance(result, xr.Dataset)
        else result
    )


def _named(name: str, result) -> pd.DataFrame:
    """One result whose column of values has a name."""
    frame = _frame(result)
    if frame.index.unique(MEASURE).size == 1:  # the name takes its place
        frame = frame.rename(index=lambda _: "", level=MEASURE)
    return frame.rename(columns=lambda head: name if head == VALUE else f"{name}, {head}")


def _tidy(joined: pd.DataFrame) -> Table:
    """Drop names of rows that nobody needs, and columns that hold nothing."""
    out = Table(joined.dropna(axis=1, how="all").fillna("–"))
    for key in list(out.index.names):
        held = out.index.get_level_values(key).unique()
        if len(held) == 1 and (held[0] == "" or key == MEASURE) and out.index.nlevels > 1:
            out.index = out.index.droplevel(key)
            if key == MEASURE and held[0]:
                out = out.rename(columns={VALUE: held[0]})
    return out if any(out.index.get_level_values(0)) else out.reset_index(drop=True)


def _spread(out: Table, across: str | None) -> Table:
    """One name of rows over columns."""
    if across is None:
        return out
    known = across in out.index.names and out.index.nlevels > 1
    require(
        known,
        f"across={across!r} is no name of rows that can be spread; there are {listed(out.index.names)}",
    )
    order = out.index.get_level_values(across).unique()
    wide = out.unstack(across, fill_value="–", sort=False)
    wide = wide[[(column, value) for value in order for column in out.columns]]
    wide.columns = [
        f"{value}" if len(out.columns) == 1 else f"{value}, {column}"
        for column, value in wide.columns
    ]
    return Table(wide)


# --- each kind of result as rows --------------------------------------------------------------------------------


def _frame(result) -> pd.DataFrame:
    """Cells of one result, indexed by all of KEYS, "" where it does not have one."""
    if isinstance(result, xr.DataArray):
        result = result.to_dataset(name="estimate").assign_attrs(
            {"measure": str(result.name or VALUE)} | result.attrs
        )
    require(
        isinstance(result, xr.Dataset)
        and bool({"estimate", "sfi", "n_signed", "rlb"} & set(result.data_vars)),
        f"a table takes what band, compare, floor, permutation_test, fairness_indices, n_sigma or representation_bias "
        f"returned, got {type(result).__name__}",
    )
    if "sfi" in result:
        return pd.concat([_of_index(result, name) for name in INDICES])
    if "n_signed" in result:
        words = [f"{number(n)} ({risk})" for n, risk in _pairs(result.n_signed, result.risk)]
        welch = list(map(p_words, result.p_value.values.ravel()))
        return _rows(
            result.n_signed, "N", {VALUE: words, "p (Welch, over subsets; no test)": welch}
        )
    if "rlb" in result:
        ends = zip(*(part.values.ravel() for part in (result.rlb, result.rlb_se)))
        return _rows(result.rlb, "RLB", {VALUE: [rlb_cell(*both) for both in ends]})
    return _of_band(result)


def _pairs(*parts: xr.DataArray) -> zip:
    """Values of several arrays side by side, in the order of the first one's dims."""
    return zip(*(part.transpose(*parts[0].dims).values.ravel() for part in parts))


def _of_band(result: xr.Dataset) -> pd.DataFrame:
    """A band, a comparison, a floor or a permutation."""
    attrs, estimate = result.attrs, result.estimate
    ends = [result[name] for name in ("lower", "upper") if name in result]
    cells = {VALUE: [cell(*three) for three in _pairs(estimate, *ends)]}
    kind = P_OF.get(attrs.get("method")) if "contrast" not in attrs else None
    p_head = f"p ({kind})" if kind else "p"
    columns = [
        ("n_effective", WORTH, count_words),
        ("limit", LIMIT, number),
        ("p", p_head, p_words),
        ("p_holm", "p (Holm)", p_words),
    ]
    for name, head, words in columns:
        if name in result:
            cells[head] = [
                words(value) for value in result[name].transpose(*estimate.dims).values.ravel()
            ]
    words = attrs.get("measure", estimate.name or VALUE)
    if "a" in attrs:
        words = f"{words}, {attrs['a']} {'/' if attrs['contrast'] == 'ratio' else '−'} {attrs['b']}"
    return _rows(estimate, words, cells)


def _of_index(result: xr.Dataset, name: str) -> pd.DataFrame:
    """SFI, CFI or DFI in its three variants, each as a band."""
    parts = {end: f"{name}_{end}" for end in ("lower", "upper", "p")}
    parts |= {"estimate": name, "limit": f"{name}_floor_limit"}
    whole = xr.Dataset(
        {end: result[own] for end, own in parts.items() if own in result}, attrs={"method": DEALT}
    )
    bands = {
        variant: whole.sel(variant=variant, drop=True)
        for variant in whole["variant"].values.astype(str)
    }
    return pd.concat(
        [
            _of_band(one.assign_attrs(measure=f"{name.upper()} {kind}"))
            for kind, one in bands.items()
        ]
    )


def _rows(values: xr.DataArray, measure: str, cells: Mapping) -> pd.DataFrame:
    """Cells under the names of the rows."""
    heads = [HEADS.get(dim, str(dim)) for dim in values.dims]
    extra = [head for head in heads if head not in KEYS]
    require(not extra, f"a table has no rows for {listed(extra)}: select one with .sel")
    if CONTRAST in values.dims and "a" in values.coords:
        pairs = zip(values["a"].values, values["b"].values)
        values = values.assign_coords({CONTRAST: [f"{a} − {b}" for a, b in pairs]})
    each = (values[dim].values for dim in values.dims)
    words = (
        [f"{name:g}" if isinstance(name, (float, np.floating)) else str(name) for name in names]
        for names in each
    )
    along, labels = dict(zip(heads, words)), dict.fromkeys(KEYS, "") | {MEASURE: measure}
    places = pd.MultiIndex.from_tuples(
        [
            tuple(
                (labels | {head: names[i] for (head, names), i in zip(along.items(), at)}).values()
            )
            for at in np.ndindex(*values.shape)
        ],
        names=KEYS,
    )
    return pd.DataFrame({head: list(column) for head, column in cells.items()}, index=places)
