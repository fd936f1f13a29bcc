"""Cells of tables as numbers; a cell that is none is refused by its line."""

import re

import numpy as np
import pandas as pd

from frkit.base import LARGEST_WHOLE, InputError, listed, require
from frkit.io.names import are_places

# of a comparison that failed, or of an image that was not acquired, enrolled or found
FAILURES = """FTA fta FTE fte FTC FTX fail Fail FAIL failed Failed FAILED
    failure Failure FAILURE error Error ERROR""".split()
NO_NUMBER = ["", "nan", "NaN", "NA", "N/A", "n/a", "null", "NULL", "None", "<NA>", *FAILURES]
# up to 999, or with a point that may separate thousands or precede three decimals
THOUSANDS = re.compile(r"[+-]?(0|[1-9][0-9]{0,2}([.,][0-9]{3})?)")
# of lines of pandas in messages
WITH_FRAME = (
    "with frame = pd.read_csv(path), of an .npz pd.DataFrame(dict((name, [*array]) for name, array "
    "in np.load(path).items()))"
)
MOST_MARKS = 5  # of failed comparisons, in a proposal
LONGEST = 80  # characters of a cell in a message


def several_marks(missing):
    """Return marks of failed comparisons, of which the user may give one or several, as a list."""
    if missing is None:
        return []
    return [*missing] if pd.api.types.is_list_like(missing) else [missing]


def without_words(table, missing):
    """Return a table whose columns of numbers are blank where the user says "failed".

    That is by words, or by infinite numbers; others are left to who reads the scores.
    """
    marks = several_marks(missing)
    words = [mark for mark in marks if isinstance(mark, str)]
    infinite = [*{np.inf, -np.inf}.intersection(marks)]

    def without(column):
        """Return a column; blank where it has a word, if its other cells are numbers."""
        is_word = column.astype(str).isin(words) | np.isin(as_numbers(column)[0], infinite)
        is_score = is_word.any() and is_number_column(column[~is_word])
        return column.mask(is_word) if is_score else column

    return table.apply(without) if words or infinite else table


def to_numbers(column, blank=True):
    """Return the cells as finite float64; NaN where missing, if that is allowed."""
    values, is_missing = as_numbers(column)
    is_allowed = np.isfinite(values) | (is_missing & blank)
    _refuse_words(column, ~is_allowed, blank)
    _refuse_thousands(column, values)
    is_large = np.abs(values) >= LARGEST_WHOLE
    if is_large.any() and pd.Series(values).nunique() < column.nunique():
        refuse_cells(
            column, is_large, "is so large that different scores become equal: subtract a constant"
        )
    return values


def _refuse_thousands(column, values):
    """Ask where points may separate thousands: 1.234 and 987, but nothing like 0.5 or 1.2.

    values : the numbers that the cells are.
    """
    if pd.api.types.is_numeric_dtype(column):
        return
    texts = pd.Series(column[np.isfinite(values)].unique(), dtype=str)
    wholes = texts[~texts.str.contains("[.]|^0$")]
    if len(wholes) > 0 and texts.str.fullmatch(THOUSANDS).all():
        refuse_cells(
            column,
            values % 1 > 0,
            "may have a decimal point, or one behind thousands: which is it? All numbers with a "
            "point have three digits behind it, and others, such as "
            f"{listed(wholes, 1)}, have no point; write thousands without it, or three decimals "
            "everywhere",
        )


def _refuse_words(column, is_bad, blank):
    """Refuse the first cell that is no number; ask about a word, where cells may be blank."""
    reason, answers = "is not a finite number", []
    words = column[is_bad].dropna().astype(str)
    is_word = words.str.fullmatch("[^0-9]+|[A-Za-z]+[-_ ]?[0-9]+")  # or a code such as ERR_12
    is_word &= words != column.name  # as of a header that is repeated
    if blank and is_word.any():
        marks = words[is_word].unique().tolist()
        reason += f"; failed comparisons are marked by {listed(marks)}, if these say so"
        answers = [{"missing": marks[:MOST_MARKS]}]
        if marks == ["-inf"]:  # as of likelihood ratios: below every threshold
            answers.insert(0, answers[0] | {"failed": "rejected"})
    refuse_cells(column, is_bad, reason, answers)


def as_numbers(column):
    """Return cells as float64, NaN where they are not numbers; and which are missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):  # each text is read once
        codes, texts = pd.factorize(column)
        values, is_missing = as_numbers(pd.Series(np.asarray(texts)))
        return np.append(values, np.nan)[codes], np.append(is_missing, True)[codes]
    is_missing = column.isna().to_numpy()
    if not pd.api.types.is_numeric_dtype(column):
        # as text, because pandas then reads neither 1_0 nor digits that are not ASCII
        column = column.astype(str).str.strip()
        is_missing = is_missing | column.isin(NO_NUMBER).to_numpy()
    values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return values, is_missing


def is_number_column(column, least=0.9):
    """Return whether almost all cells of a column are numbers."""
    values, is_missing = as_numbers(column)
    return not is_missing.all() and np.isfinite(values[~is_missing]).mean() > least


def are_names_of_rows(column):
    """Return whether a column without a name names rows, and does not only count them."""
    return not are_places(column.astype(str).tolist())


def refuse_repeated_index(table):
    """Refuse a first column without a name whose labels occur again, as in joined tables."""
    require(
        "" not in table or table[""].is_unique,
        "the first column has no name, and its labels occur again, as where rows of several tables "
        "follow each other\n"
        "  name it, as person or model: "
        "fk.open_data(frame.rename(columns={frame.columns[0]: 'model'}))\n"
        "  or leave it out: fk.open_data(frame.drop(columns=frame.columns[0]))\n"
        "  an index by frame.rename_axis('model') or frame.reset_index(drop=True)\n"
        f"  ({WITH_FRAME})",
    )


def refuse_cells(column, is_bad, reason, answers=()):
    """Refuse the first bad cell; the message names its line, or its row."""
    if np.any(is_bad):
        row = int(np.argmax(is_bad))
        cell = column.iloc[row]
        cell = "a blank cell" if np.all(pd.isna(cell)) else repr(str(cell)[:LONGEST])
        where = f"{column.index.name or 'line'} {column.index[row]}, column {column.name!r}"
        raise InputError(f"{where}: {cell} {reason}", answers)
