"""`look`: what frkit sees in a file, before anything is computed."""

import shlex
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, DataWarning
from frkit.reporting.opening import columns_read, kind_of, open_data
from frkit.scores.kept import IMAGES, facts_of_first_model

MOST_LABELS = 8  # of an attribute, whose images are counted one by one
NO_ATTRIBUTES = ("identity", "image", "model", "person", "pair", "genuine", "probe", "reference")
COLUMN_OPTIONS = "columns"


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
    >>> _ = path.write_text("id1,id2,score\nann,ann,0.9\nann,bob,0.1\n")
    >>> print(fk.look(path).split("frkit report")[0])
    a list of scored pairs
      score: 'score'
      probe_identity: 'id1'
      reference_identity: 'id2'
    2 pairs: 1 genuine, 1 impostor; 2 people
    report:
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        data = open_data(path, **options)
    kind = kind_of(data)
    lines = [
        KINDS.get(kind, kind),
        *(f"  {line}" for line in columns_read(data)),
        _sizes(data, kind),
    ]
    attributes = _attributes(data)
    unit = COUNTED.get(kind, "images")
    lines += [_groups(f"{name} ({unit})", labels) for name, labels in attributes.items()]
    lines += [f"notice: {warning.message}" for warning in caught]
    if not isinstance(path, pd.DataFrame):
        lines.append(f"report: {_command(path, options, attributes)}")
    return Text("\n".join(lines))


COUNTED = {"pairs": "sides of pairs", "a score tensor": "probes and references"}
KINDS = {
    "faces": "embeddings of images",
    "pairs": "a list of scored pairs",
    "a score tensor": "a matrix of scores",
    "kept pairs": "kept pairs of a sweep",
}


def _sizes(data, kind):
    """Count images, people and pairs."""
    models = (
        f"; models: {', '.join(data['model'].values.astype(str))}" if "model" in data.dims else ""
    )
    if kind == "faces":
        people = data["identity"].to_series().value_counts()
        several = int((people > 1).sum())
        words = (
            f"{data.sizes['image']:,} images of {len(people):,} people, {several:,} of whom have"
        )
        return f"{words} two or more; {data.sizes['feature']:,} features{models}"
    if kind == "kept pairs":
        images = data[IMAGES].dataset
        n_people = len(np.unique(images["identity"].values))
        facts = facts_of_first_model(data)
        words = f"{images.sizes['image']:,} images of {n_people:,} people"
        every = f"{facts['genuine_pairs']:,} genuine and {facts['impostor_pairs']:,} impostor pairs"
        return f"{words}; {every}, of which {facts['pairs_kept']:,} are kept{models}"
    names = [name for name in ("probe_identity", "reference_identity") if name in data.coords]
    people = np.unique(np.concatenate([data[name].values for name in names])) if names else []
    who = f"{len(people):,} people" if names else "the identities of people are unknown"
    if kind == "pairs":
        genuine = int(data["genuine"].sum())
        n_pairs = data.sizes["pair"]
        words = f"{n_pairs:,} pairs: {genuine:,} genuine, {n_pairs - genuine:,} impostor"
        return f"{words}; {who}{models}"
    return (
        f"{data.sizes['probe']:,} probes and {data.sizes['reference']:,} references; {who}{models}"
    )


def _attributes(data):
    """Labels of every attribute; of both sides together."""
    labels = {}
    if kind_of(data) == "kept pairs":
        table = data[IMAGES].dataset
        names = [name for name in table.data_vars if name not in NO_ATTRIBUTES]
        return {name: table[name].values for name in names}
    for name, column in data.coords.items():
        bare = str(name).removeprefix("probe_").removeprefix("reference_")
        if bare not in NO_ATTRIBUTES and column.ndim == 1:
            labels.setdefault(bare, []).append(column.values)
    return {name: np.concatenate(sides) for name, sides in labels.items()}


def _groups(name, labels):
    """Count the groups of an attribute, and what is missing."""
    counts = Counter(labels.tolist())
    n_missing = counts.pop(UNKNOWN, 0)
    shown = ", ".join(f"{label} {n:,}" for label, n in sorted(counts.items()))
    words = shown if len(counts) <= MOST_LABELS else f"{len(counts):,} labels"
    return f"{name}: {words}" + (f"; blank in {n_missing:,}" if n_missing else "")


def _command(path, options, attributes):
    """The command that makes a report."""
    paths = [path] if isinstance(path, (str, Path)) else path
    words = ["frkit", "report", *map(str, paths)]
    for name, value in options.items():
        if name == COLUMN_OPTIONS and value:
            words += ["--columns", *column_words(value)]
        elif value is not None and name != COLUMN_OPTIONS:
            several = value if isinstance(value, (list, tuple)) else [value]
            words += [f"--{name}", *map(str, several if value is not True else [])]
    few = [
        name for name, labels in attributes.items() if 1 < len({*labels} - {UNKNOWN}) <= MOST_LABELS
    ]
    if few:
        words += ["--by", few[0]]
    return shlex.join(words)


def column_words(columns):
    """Write a mapping of roles to columns as the command line does: role=column."""
    words = []
    for role, source in columns.items():
        several = [source] if isinstance(source, str) or source is None else list(source)
        words += [f"{role}={name or ''}" for name in several]
    return words
