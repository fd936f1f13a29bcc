"""Labelled inputs are brought into one order by their labels, and never joined by position."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, listed, require
from frkit.data.labels import model_names

ONE_TABLE = (
    "parts of one table, in several files, are joined by fk.open_data(pd.concat([pd.read_csv(path) "
    "for path in paths], ignore_index=True))"
)
OTHER_LABELS = (
    "{0} and {1} have different labels (an index, or coordinates), or one has none, so they cannot "
    "be joined: give both the same distinct labels, or names of images that are among them (image= "
    "or, of a matrix, probe= and reference=); or give {0}.to_numpy() if its rows are in the order "
    "of the others"
)


def aligned(*inputs, named_by=None):
    """Bring pandas and xarray inputs into one order of rows, by their labels.

    The order is that of the first input, which arrays without labels have, too. Labels are those of
    the first input, the names of the rows, or 0, 1, ... in order, as pandas counts rows.

    Parameters
    ----------
    *inputs : dict of name to array-like, or to a tuple of such
        Inputs without labels (arrays, lists) are taken as they are.
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
    values = [item for each in inputs for item in each.items()]
    first, main = values[0]
    order = _row_labels(main)
    names = _names_of_rows(dict(values).get(named_by), order)
    if order is not None and not _counts_rows(order):
        if names is not None and _positions(order, names) is not None:
            order = names
        elif _positions(order, pd.RangeIndex(len(order))) is not None:
            sides = [side for _, value in values for side in _sides(value)]
            is_plain = [side is not None and _row_labels(side) is None for side in sides]
            require(not any(is_plain), OTHER_LABELS.format(first, "others"))
    return [
        {name: _in_order(value, order, names, (name, first)) for name, value in each.items()}
        for each in inputs
    ]


def _in_order(value, order, names, whose):
    """Return an input in the order of these labels or names, or refuse it.

    whose : the names of this input and of the first one, for messages.
    """
    if isinstance(value, tuple):
        return tuple(_in_order(side, order, names, whose) for side in value)
    labels = _row_labels(value)
    if labels is None or labels.equals(order) or order is None and _counts_rows(labels):
        return value
    positions = None if order is None else _positions(labels, order)
    if positions is None and names is not None:
        positions = _positions(labels, names)
    absent = [] if order is None else order.difference(labels)
    example = f"; {whose[0]} lacks {listed(absent)}" if 0 < len(absent) < len(labels) else ""
    require(positions is not None, OTHER_LABELS.format(*whose) + example)
    if isinstance(value, xr.DataArray):
        if not isinstance(value.dtype, np.dtype):  # texts of pandas, which xarray cannot select
            value = value.copy(data=value.to_numpy())
        return value.isel({_row_dim(value): positions})
    return value.iloc[positions]


def _names_of_rows(names, order):
    """Return names that are given for the rows, in the order of these labels if they have some."""
    if names is None:
        return None
    labels = _row_labels(names)
    if labels is not None and order is not None and not labels.equals(order):
        return None  # which is refused, unless labels of both are the same
    names = np.asarray(names)
    return pd.Index(names) if names.ndim == 1 else None


def _counts_rows(labels):
    """Return whether labels are 0, 1, ... in order, also as text, which name nothing."""
    positions = pd.RangeIndex(len(labels))
    return labels.equals(positions) or labels.equals(positions.astype(str))


def _positions(labels, order):
    """Return where labels stand that are to be in this order; None if they are not the same."""
    if not (labels.is_unique and order.is_unique and len(labels) == len(order)):
        return None
    positions = labels.get_indexer(order)
    return positions if (positions >= 0).all() else None


def _sides(value):
    """Return an input, or both sides of one."""
    return value if isinstance(value, tuple) else (value,)


def _row_labels(value):
    """Return the labels of rows of a pandas or xarray object; None where it has none."""
    if isinstance(value, (pd.Series, pd.DataFrame)):
        return value.index
    if isinstance(value, xr.DataArray) and value.ndim > 0:
        return value.indexes.get(_row_dim(value))
    return None


def _row_dim(value):
    """Return the dimension of an array along which its rows are labelled."""
    dims = [name for name in ("image", "pair") if name in value.dims]
    return (dims or value.dims)[0]


# --- several models -------------------------------------------------------------------------------


def in_one_order(models, dims):
    """Return data of several models in the order of the first, by names along some dimensions."""
    (first_model, first), *others = models.items()
    in_order = {first_model: first}
    for model, data in others:
        for dim in dims:
            order = first.indexes[dim]
            require_same_names(f"{dim}s", (first_model, model), order, data.indexes[dim])
        in_order[model] = data.reindex({dim: first[dim] for dim in dims}, copy=False)
    return in_order


def require_same_names(what, models, order, names):
    """Refuse names of one model's rows, a pd.Index, that another model lacks.

    what : such as "images"; models : the first one and the other one.
    """
    only_first, only_other = order.difference(names), names.difference(order)
    require(
        len(only_first) == len(only_other) == 0,
        f"models must have the same {what}, but {len(only_first):,} are only in {models[0]!r} "
        f"and {len(only_other):,} only in {models[1]!r}, such as "
        f"{listed([*only_first[:2], *only_other[:2]])}: remove them from all files, or add them; "
        f"{ONE_TABLE}",
    )


def stacked(models, variable):
    """Return a variable of several models, in one order, along a new dimension `model`."""
    coords = _merged_labels(models)
    coords["model"] = xr.Variable("model", model_names([*models], len(models)))
    arrays = [data[variable].drop_vars([*data.coords]) for data in models.values()]
    joined = xr.concat(arrays, coords["model"], combine_attrs="override")
    attrs = next(iter(models.values())).attrs
    return joined.assign_coords(coords).to_dataset(name=variable).assign_attrs(attrs)


def _merged_labels(models):
    """Return the labels of several models, whose rows are in one order, as variables by name.

    A label that is "unknown" in one model is taken from another. Labels that contradict each other
    are refused.
    """
    merged = {}
    for model, data in models.items():
        for name, labels in data.coords.items():
            others = labels.values
            values = merged.get(name, labels).values
            values = np.where(values == UNKNOWN, others, values)
            positions = np.flatnonzero((values != others) & (others != UNKNOWN))
            require(
                len(positions) == 0,
                f"model {model!r} must agree in {name!r} with those before it, but differs in "
                f"{len(positions):,} of {len(values):,} positions, such as "
                f"{listed([*values[positions[:1]], *others[positions[:1]]])}: correct one of them, "
                "or name the images, so that they are put in one order",
            )
            merged[name] = labels.variable.copy(data=values)
    return merged
