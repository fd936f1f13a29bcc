"""Labelled inputs have one order of rows; models are joined by names, and never by position."""

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
    "{0} and {1} have different labels (an index, or coordinates), or the same in another order, "
    "or one has none. Bring them into one order by their labels, {0}.loc[{1}.index], or by the "
    "names of images, {0}.loc[names]; or give {0}.to_numpy() if its rows are in the order of the "
    "others"
)


def require_one_order(*inputs, named_by=None):
    """Refuse pandas and xarray inputs whose rows do not have the same labels in one order.

    The labels are those of the first input. If it has none, or 0, 1, ... in order, as pandas counts
    rows, they are that or the names of the rows. Arrays without labels are in the order of others.

    Parameters
    ----------
    *inputs : dict of name to array-like, or to a tuple of such
    named_by : str, optional
        The input that names the rows.
    """
    (first, main), *others = [item for each in inputs for item in each.items()]
    names = dict(others).get(named_by)
    names = pd.Index(np.asarray(names)) if np.ndim(names) == 1 else None
    order = _row_labels(main)
    if order is not None and _counts_rows(order):
        order = None
    is_shuffled = order is not None and any(
        _is_permuted(order, usual) for usual in (names, pd.RangeIndex(len(order)))
    )
    sides = [
        (name, side)
        for name, value in others
        for side in (value if isinstance(value, tuple) else (value,))
        if side is not None
    ]
    for name, side in sides:
        labels = _row_labels(side)
        if labels is None:
            is_same = not is_shuffled
        elif order is None:
            is_same = _counts_rows(labels) or labels.equals(names)
        else:
            is_same = labels.equals(order) and labels.is_unique
        require(is_same, OTHER_LABELS.format(name, first))


def _is_permuted(labels, order):
    """Return whether labels are these in another order."""
    if order is None or len(labels) != len(order) or labels.equals(order):
        return False
    return labels.isin(order).all()


def _counts_rows(labels):
    """Return whether labels are 0, 1, ... in order, also as text, which name nothing."""
    positions = pd.RangeIndex(len(labels))
    return labels.equals(positions) or labels.equals(positions.astype(str))


def _row_labels(value):
    """Return the labels of rows of a pandas or xarray object; None where it has none."""
    if isinstance(value, (pd.Series, pd.DataFrame)):
        return value.index
    if isinstance(value, xr.DataArray) and value.ndim > 0:
        dims = [name for name in ("image", "pair") if name in value.dims]
        return value.indexes.get((dims or value.dims)[0])
    return None


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
