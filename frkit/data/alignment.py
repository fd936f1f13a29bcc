"""Labelled inputs are brought into one order by their labels, and never joined by position."""

import pandas as pd
import xarray as xr

from frkit.base import require


def aligned(inputs, dim=None):
    """Bring pandas and xarray inputs into the order of the first one that has labels.

    Parameters
    ----------
    inputs : dict of name to array-like, or to a tuple of such
        A name may be a tuple, of which messages show the last. Inputs without labels of their own
        (arrays, lists) are taken as they are.
    dim : str, optional
        The dimension of xarray inputs along which labels are read. Default: their only one, or
        "image" or "pair".

    Returns
    -------
    dict
        The same inputs, with rows in one order.

    Raises
    ------
    InputError
        Where labels of two inputs differ, or repeat in another order.
    """
    order = first = None
    ordered = {}
    for name, value in inputs.items():
        label = name if isinstance(name, str) else name[-1]
        in_order = []
        for side in value if isinstance(value, tuple) else (value,):
            labels = row_labels(side, dim)
            if labels is not None and order is None:
                order, first = labels, label
            elif labels is not None and not labels.equals(order):
                side = _reordered(side, labels, order, f"{label} and {first}", dim)
            in_order.append(side)
        ordered[name] = tuple(in_order) if isinstance(value, tuple) else in_order[0]
    return ordered


def row_labels(value, dim=None):
    """Return the labels of rows of a pandas or xarray object; None where it has none."""
    if isinstance(value, (pd.Series, pd.DataFrame)):
        return value.index
    if isinstance(value, xr.DataArray) and value.ndim > 0:
        return value.indexes.get(_row_dim(value, dim))
    return None


def _row_dim(value, dim):
    """Return the dimension of an array along which its rows are labelled."""
    dims = [name for name in (dim, "image", "pair") if name in value.dims]
    return (dims or value.dims)[0]


def _reordered(value, labels, order, names, dim):
    """Return an input in another order of its labels, or refuse it."""
    is_distinct = labels.is_unique and order.is_unique and len(labels) == len(order)
    places = labels.get_indexer(order) if is_distinct else None
    require(
        is_distinct and (places >= 0).all(),
        f"{names} have different labels (an index, or coordinates), so they cannot be joined: give "
        "both the same distinct labels, or .to_numpy() of each to join by position",
    )
    if isinstance(value, xr.DataArray):
        return value.isel({_row_dim(value, dim): places})
    return value.iloc[places]
