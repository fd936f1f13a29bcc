"""Labelled inputs are brought into one order by their labels, and never joined by position."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, InputError, listed, require
from frkit.data.labels import model_names


def aligned(*inputs, dim=None):
    """Bring pandas and xarray inputs into the order of the first one that has labels.

    Parameters
    ----------
    *inputs : dict of name to array-like, or to a tuple of such
        Inputs without labels (arrays, lists) are taken as they are.
    dim : str, optional
        The dimension of xarray inputs along which labels are read. Default: their only one, or
        "image" or "pair".

    Returns
    -------
    list of dict
        The same inputs, with rows in one order.

    Raises
    ------
    InputError
        Where labels of two inputs differ, or repeat in another order.
    """
    first = order = None
    for named_inputs in inputs:
        for name, value in named_inputs.items():
            for side in value if isinstance(value, tuple) else (value,):
                if order is None:
                    first, order = name, _row_labels(side, dim)
    return [
        {name: _in_order(value, order, f"{name} and {first}", dim) for name, value in each.items()}
        for each in inputs
    ]


def _in_order(value, order, names, dim):
    """Return an input in the order of these labels, or refuse it; names : for messages."""
    if isinstance(value, tuple):
        return tuple(_in_order(side, order, names, dim) for side in value)
    labels = _row_labels(value, dim)
    if labels is None or labels.equals(order):
        return value
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


def _row_labels(value, dim):
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


# --- several models -------------------------------------------------------------------------------


def in_one_order(models, dims):
    """Return data of several models in the order of the first, by names along some dimensions."""
    first_model, first = next(iter(models.items()))
    in_order = {}
    for model, data in models.items():
        for dim in dims:
            order, names = first[dim].to_index(), data[dim].to_index()
            if not names.equals(order):
                places = places_in_order(f"{dim}s", (first_model, model), order, names)
                data = data.isel({dim: places})
        in_order[model] = data
    return in_order


def places_in_order(what, models, order, names):
    """Return where the names of one model's rows are among those of another model.

    Parameters
    ----------
    what : str
        Such as "images".
    models : (str, str)
        The first model and the other one.
    order, names : pd.Index
        The names of either model's images or pairs; a name that the other lacks is refused.
    """
    only_first, only_other = order.difference(names), names.difference(order)
    require(
        len(only_first) == len(only_other) == 0,
        f"models must have the same {what}, but {len(only_first):,} are only in {models[0]!r} "
        f"and {len(only_other):,} only in {models[1]!r}, such as "
        f"{listed([*only_first[:2], *only_other[:2]])}: remove them from all files, or add them",
    )
    return names.get_indexer(order)


def stacked(models, variable):
    """Return a variable of several models, in one order, along a new dimension `model`."""
    coords = merged_labels(models)
    coords["model"] = xr.Variable("model", model_names([*models], len(models)))
    arrays = [data[variable].drop_vars([*data.coords]) for data in models.values()]
    joined = xr.concat(arrays, coords["model"], combine_attrs="override")
    attrs = next(iter(models.values())).attrs
    return joined.assign_coords(coords).to_dataset(name=variable).assign_attrs(attrs)


def merged_labels(models):
    """Return the labels of the images or pairs of several models, which are in the same order.

    A label that is "unknown" in one model is taken from another. Labels that contradict each other
    are refused.

    Parameters
    ----------
    models : dict of model to xr.Dataset

    Returns
    -------
    dict of str to xr.Variable
    """
    merged = {}
    for model, data in models.items():
        for name, labels in data.coords.items():
            values, others = merged.get(name, labels).values, labels.values
            if values.dtype.kind == "U":
                values = np.where(values == UNKNOWN, others, values)
                others = np.where(others == UNKNOWN, values, others)
            places = np.flatnonzero(values != others)
            if len(places) > 0:
                raise InputError(
                    f"model {model!r} must agree in {name!r} with those before it, but differs in "
                    f"{len(places):,} of {len(values):,} places, such as "
                    f"{listed([values[places[0]], others[places[0]]])}: correct one of them, "
                    "or name the images, so that they are put in one order"
                )
            merged[name] = labels.variable.copy(data=values)
    return merged
