"""Tables with a row for each model and image, or for each model and pair."""

from dataclasses import replace

from frkit.base import listed, require
from frkit.io.cells import refuse_cells


def names_models(options):
    """Return whether the user names a column that says which model a row is of."""
    return options.get("columns", {}).get("model") is not None


def read_by_model(contents, options, read):
    """Return the data of every model in a table, and put its column into their attributes.

    Parameters
    ----------
    contents : Contents
    options : dict
        Of `open_data`; the role `model` in `columns` is a column of the table.
    read : function of contents and options
    """
    table = contents.data
    column = options["columns"]["model"]
    require(
        isinstance(column, str) and column in table,
        f"there is no column {column!r}; the columns are {listed(table, 30)}",
    )
    refuse_cells(table[column], table[column].isna().to_numpy(), "names no model")
    others = {role: source for role, source in options["columns"].items() if role != "model"}
    models = {}
    for model, rows in table.groupby(column, sort=False):
        part = replace(contents, data=rows.drop(columns=column))
        data = read(part, options | {"columns": others | {"model": None}})
        require(
            "model" not in data.dims,
            f"{column!r} says which model a row is of, so only one column can be its score, and "
            "one its embedding: name it",
            [{"columns": {"score": "..."}}],
        )
        data.attrs["columns"] = f"model: {column!r}\n{data.attrs['columns']}"
        models[str(model)] = data
    return models
