"""`look`: what frkit sees in a file, before anything is computed."""

import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader

from frkit.base import UNKNOWN, gathered_notices
from frkit.io.command_words import report_words
from frkit.io.door import columns_read, kind_of, open_data
from frkit.scores.kept import IMAGES, named_pairs, numbers_of_first_model

# its own, because those of reports import what evaluates
TEMPLATES = Environment(loader=PackageLoader("frkit.findings"))
TEMPLATES.filters["thousands"] = "{:,}".format
MOST_LABELS = 8  # of an attribute, whose images are counted one by one
NO_ATTRIBUTES = "image model person pair genuine score probe reference feature".split()


class Text(str):
    """Text that is shown as it is."""

    def __repr__(self):
        return str(self)


def look(path: str | Path | pd.DataFrame, **options) -> str:
    r"""Say what frkit sees in a file or DataFrame, and the command that makes a report of it.

    Parameters
    ----------
    path : str or Path, or pd.DataFrame
    **options
        Of `open_data`, such as `columns`.

    Returns
    -------
    str
        Lines: the kind of data, the role of each column, numbers of images, people, pairs and
        groups, labels that are missing, notices, and the command.

    Raises
    ------
    InputError
        Where it is not clear what a column is, as `open_data`.

    Examples
    --------
    >>> import pathlib, tempfile, frkit as fk
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pairs.csv")
    >>> _ = path.write_text("person1,person2,score\nann,ann,0.9\nann,bob,0.1\n")
    >>> print(fk.look(path).split("frkit report")[0])
    a list of scored pairs
      score: 'score'
      probe_identity: 'person1'
      reference_identity: 'person2'
    2 pairs: 1 genuine, 1 impostor; 2 people
    report:
    """
    with gathered_notices() as notices:
        data = open_data(path, **options)
    lines = [*contents_of(data), *(f"notice: {notice.text}" for notice in notices)]
    if not isinstance(path, pd.DataFrame):
        by = [f"--by {shlex.quote(name)}" for name in attributes_with_groups(data, MOST_LABELS)]
        command = [shlex.join(report_words(path, options)), *by[:1]]
        lines.append(f"report: {' '.join(command)}")
    return Text("\n".join(lines))


def contents_of(data):
    """Describe data in lines: their kind, columns, sizes, and labels of attributes."""
    kind = kind_of(data)
    labels = labels_of(data)
    people = Counter(labels.pop("identity", []))
    if kind == "pairs":
        data = named_pairs(data)
    numbers = {
        "kind": kind,
        "columns": columns_read(data),
        "sizes": dict(data.sizes),
        "n_people": len(people),
        "n_with_several_images": sum(n > 1 for n in people.values()),
        "models": data["model"].values.astype(str) if "model" in data.dims else (),
        "attributes": {name: Counter(column) for name, column in labels.items()},
        "units": {name: _unit(kind, len(column), data.sizes) for name, column in labels.items()},
        "most_labels": MOST_LABELS,
        "unknown": UNKNOWN,
    }
    if kind == "pairs":
        is_genuine = data["genuine"].values
        with_itself = np.zeros(len(is_genuine), bool)
        if "probe" in data.coords:
            with_itself = data["probe"].values == data["reference"].values
        numbers["pairs_with_itself"] = int(with_itself.sum())
        numbers["genuine_pairs"] = int((is_genuine & ~with_itself).sum())
    if kind == "kept pairs":
        numbers |= numbers_of_first_model(data) | {"n_images": data[IMAGES].sizes["image"]}
    return TEMPLATES.get_template("look.txt.j2").render(numbers).splitlines()


def _unit(kind, n_labels, sizes):
    """Return what the labels of an attribute are counted of."""
    if kind == "pairs" and n_labels in (sizes["pair"], 2 * sizes["pair"]):
        return "sides of pairs"
    return "people" if kind in ("pairs", "a score tensor") else "images"


def labels_of(data):
    """Return labels of every attribute, of a list once for each person, and the identities."""
    kind = kind_of(data)
    columns = data[IMAGES].variables if kind == "kept pairs" else data.coords
    if kind == "pairs":
        columns = named_pairs(data).coords
    sides = {}
    for column, values in columns.items():
        name = str(column).removeprefix("probe_").removeprefix("reference_")
        if name not in NO_ATTRIBUTES and values.ndim == 1:
            sides.setdefault(name, []).append(values.values)
    labels = {name: np.concatenate(columns) for name, columns in sides.items()}
    people = labels.get("identity", [])
    if kind in ("pairs", "a score tensor"):
        for name, column in labels.items():
            if name != "identity" and len(column) == len(people):
                rows = pd.DataFrame({"person": people, "label": column})
                labels[name] = rows.drop_duplicates()["label"]
    return {name: column.tolist() for name, column in labels.items()}


def attributes_with_groups(data, most):
    """Return the attributes that have two or more labels, but no more than so many."""
    n_groups = {name: len({*column} - {UNKNOWN}) for name, column in labels_of(data).items()}
    return [name for name, n in n_groups.items() if name != "identity" and 2 <= n <= most]
