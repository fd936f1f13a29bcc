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
    sides = {name: each if isinstance(each, tuple) else (each,) for name, each in inputs.items()}
    labelled = [(name, row_labels(side, dim)) for name in sides for side in sides[name]]
    first = next(((name, labels) for name, labels in labelled if labels is not None), None)
    ordered = {}
    for name, value in inputs.items():
        in_order = tuple(_in_order_of(first, name, side, dim) for side in sides[name])
        ordered[name] = in_order if isinstance(value, tuple) else in_order[0]
    return ordered


def row_labels(value, dim=None):
    """Return the labels of rows of a pandas or xarray object; None where it has none."""
    if isinstance(value, (pd.Series, pd.DataFrame)):
        return value.index
    if isinstance(value, xr.DataArray) and value.ndim > 0:
        dim = _row_dim(value, dim)
        return value.indexes.get(dim)
    return None


def _row_dim(value, dim):
    if dim in value.dims:
        return dim
    return next((name for name in ("image", "pair") if name in value.dims), value.dims[0])


def _in_order_of(first, name, value, dim):
    """Return an input in the order of the first one, or refuse it."""
    labels = row_labels(value, dim)
    if labels is None:
        return value
    other, order = first
    name, other = (each if isinstance(each, str) else each[-1] for each in (name, other))
    if labels.equals(order):
        return value
    is_distinct = labels.is_unique and order.is_unique and len(labels) == len(order)
    places = labels.get_indexer(order) if is_distinct else None
    require(
        is_distinct and (places >= 0).all(),
        f"{name} and {other} have different labels (an index, or coordinates), so they cannot be "
        "joined: give both the same distinct labels, or .to_numpy() of each to join by position",
    )
    if isinstance(value, xr.DataArray):
        return value.isel({_row_dim(value, dim): places})
    return value.iloc[places]
