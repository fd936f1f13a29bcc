"""Labelled inputs are brought into one order by their labels, and never joined by position."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, InputError, listed, require
from frkit.data.labels import model_names

NO_ORDER = (
    "{0} has an index (or coordinates) that neither counts rows as 0, 1, ... nor contains names "
    "that are given, but {1} none: give {0}.to_numpy() if its rows are in the order of the others "
    "(names of images, image= or those of a matrix, probe= and reference=, join it as well)"
)


def aligned(*inputs, dim=None, named_by=None):
    """Bring pandas and xarray inputs into one order of rows, by their labels.

    The order is that of the first input, which arrays without labels have, too. Labels are those of
    the first input, the names of the rows, or 0, 1, ... in order, as pandas counts rows.

    Parameters
    ----------
    *inputs : dict of name to array-like, or to a tuple of such
        Inputs without labels (arrays, lists) are taken as they are.
    dim : str, optional
        The dimension of xarray inputs along which labels are read. Default: their only one, or
        "image" or "pair".
    named_by : str, optional
        The input that names the rows.

    Returns
    -------
    list of dict
        The same inputs, with rows in one order.

    Raises
    ------
    InputError
        Where labels of an input are none of these, or repeat in another order.
    """
    given = [item for each in inputs for item in each.items()]
    first, main = given[0]
    order = _row_labels(main, dim)
    names = _names_of_rows(dict(given).get(named_by), order, dim)
    if order is not None and not _counts_rows(order):
        is_shuffled = _places(order, pd.RangeIndex(len(order))) is not None
        has_plain = any(_is_plain(side, dim) for _, value in given[1:] for side in _sides(value))
        if names is not None and _places(order, names) is not None:
            order = names
        elif is_shuffled and has_plain:
            raise InputError(NO_ORDER.format(first, "others have"))
    return [
        {name: _in_order(value, order, names, (name, first), dim) for name, value in each.items()}
        for each in inputs
    ]


def _in_order(value, order, names, whose, dim):
    """Return an input in the order of these labels or names, or refuse it.

    whose : the names of this input and of the first one, for messages.
    """
    if isinstance(value, tuple):
        return tuple(_in_order(side, order, names, whose, dim) for side in value)
    labels = _row_labels(value, dim)
    if labels is None or labels.equals(order) or order is None and _counts_rows(labels):
        return value
    places = [_places(labels, each) for each in (order, names) if each is not None]
    places = next((each for each in places if each is not None), None)
    name, first = whose
    require(places is not None or order is not None, NO_ORDER.format(name, f"{first} has"))
    require(
        places is not None,
        f"{name} and {first} have different labels (an index, or coordinates), so they cannot be "
        "joined: give both the same distinct labels, or .to_numpy() of each to join by position",
    )
    if isinstance(value, xr.DataArray):
        if not isinstance(value.dtype, np.dtype):  # texts of pandas, which xarray cannot select
            value = value.copy(data=value.to_numpy())
        return value.isel({_row_dim(value, dim): places})
    return value.iloc[places]


def _names_of_rows(names, order, dim):
    """Return names that are given for the rows, in the order of these labels if they have some."""
    if names is None:
        return None
    labels = _row_labels(names, dim)
    if labels is not None and order is not None and not labels.equals(order):
        return None  # which is refused, unless labels of both are the same
    names = np.asarray(names)
    return pd.Index(names) if names.ndim == 1 else None


def _counts_rows(labels):
    """Return whether labels are 0, 1, ... in order, also as text, which name nothing."""
    places = pd.RangeIndex(len(labels))
    return labels.equals(places) or labels.equals(places.astype(str))


def _places(labels, order):
    """Return where labels stand that are to be in this order; None if they are not the same."""
    if not (labels.is_unique and order.is_unique and len(labels) == len(order)):
        return None
    places = labels.get_indexer(order)
    return places if (places >= 0).all() else None


def _sides(value):
    """Return an input, or both sides of one."""
    return value if isinstance(value, tuple) else (value,)


def _is_plain(value, dim):
    """Return whether an input has rows, but no labels of them."""
    return value is not None and _row_labels(value, dim) is None


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
