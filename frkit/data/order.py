"""The natural order of labels: that of their categories, or by the number at their start."""

import re

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN
from frkit.data.labels import clean_labels

BEGINS_WITH_NUMBER = re.compile(r"([<>]?)=?\s*(-?\d+(?:\.\d+)?)")


def reading_order(labels, values=None):
    """Return the distinct labels without "unknown", in their natural order.

    Labels that begin with a number are sorted by it and come before words.

    Parameters
    ----------
    labels : array of str
        Clean labels.
    values : array-like, optional
        What the labels were made of: ordered categories of pandas keep their order.

    Examples
    --------
    >>> reading_order(np.array(["10-19", "3-9", "<3", "old"])).tolist()
    ['<3', '3-9', '10-19', 'old']
    """
    distinct = np.unique(labels[labels != UNKNOWN])
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        categories = clean_labels(dtype.categories, len(dtype.categories), "categories")
        return categories[np.isin(categories, distinct)]
    return np.array(sorted(distinct.tolist(), key=_reading_key), str)


def _reading_key(label):
    """Return the number at the start of a label, if any, and the label."""
    number = BEGINS_WITH_NUMBER.match(label)
    if number is None:
        return 1, 0.0, 0, label
    sign = {"<": -1, ">": 1}.get(number[1], 0)
    return 0, float(number[2]), sign, label
