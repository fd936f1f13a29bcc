"""A table of labels of images or people: read, and joined by the names in the data."""

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, listed, require, warn
from frkit.data.files import named, not_read, require_data
from frkit.data.labels import can_be_named, clean_labels
from frkit.io.arrays import CELLS
from frkit.io.cells import as_numbers, is_number_column
from frkit.io.file_contents import read_file, table_of
from frkit.io.names import IDS, NAMES, simplified
from frkit.io.notices import FEW

KEYS = NAMES["image"] | NAMES["identity"] | IDS


def occur_again(labels):
    """Return whether labels occur several times, as people do, and not only a few, as copies do."""
    return pd.Series(np.asarray(labels)).duplicated(keep=False).mean() > FEW


def read_labels(labels):
    """Read a table of labels, or one label or image name in each line.

    labels : path or pd.DataFrame
    """
    labels = require_data("labels", labels)
    with named(labels):
        table = table_of(read_file(labels))
    if [*table] in (["1"], [CELLS]):  # without a name
        return table.set_axis(["label" if occur_again(table.iloc[:, 0]) else "image"], axis=1)
    if "" in table and not is_number_column(table[""]):
        return table.rename(columns={"": "image"})  # names of rows
    return table


def labels_in_order(labels):
    """Read labels of data that name nothing: a row for each image, in their order.

    A column that numbers the rows in another order is refused: which order is meant?
    """
    table = read_labels(labels)
    for name, column in table.items():
        last_digits = column.astype(str).str.extract("([0-9]+)[^0-9]*$")[0]  # of emb_10.npy: 10
        numbers, _ = as_numbers(last_digits)
        in_order = np.sort(numbers)
        is_counter = any(np.array_equal(in_order, np.arange(len(table)) + k) for k in (0, 1))
        require(
            not is_counter or np.array_equal(numbers, in_order),
            f"column {name or 'without a name'!r} of the labels numbers the rows in another order "
            "than they have. If a number is the row of the array, sort the table by this column; "
            "if not, remove it (in pandas an index goes with table.reset_index(drop=True))",
        )
    return table.drop(columns="", errors="ignore")


def labels_by_name(labels, names, taken=()):
    """Return the labels of every side, joined on the column that has most of its names.

    Parameters
    ----------
    labels : path or pd.DataFrame
    names : mapping of str to list of sequences
        Names that may identify rows of the table, of both sides or of one: {"image": [probes',
        references']}.
    taken : iterable of str
        Names of labels that exist already, which are refused here.

    Returns
    -------
    dict of str to tuple of array
        The other columns of the table, for each side; None where the table lacks the name.
    """
    table = read_labels(labels).drop(columns="", errors="ignore")
    names = {
        kind: [clean_labels(side, len(side), kind) for side in sides]
        for kind, sides in names.items()
    }
    with named(labels):
        rows = pd.DataFrame({name: clean_labels(table[name], len(table), name) for name in table})
        kind, key = _best_column(rows, names)
        rows = rows[rows[key] != UNKNOWN].groupby(key)
        is_varying = (rows.nunique() > 1).any()
        varying = is_varying.index[is_varying]
        not_read(varying, f"rows of one {key!r} differ in them")
        labels_of_name = rows.first().drop(columns=varying)
        require(
            not labels_of_name.empty,
            f"has no column of labels besides {key!r} that is the same in all rows of one {key!r}",
        )
        lower_case = {name.lower() for name in taken}
        again = [name for name in labels_of_name if name.lower() in lower_case]
        require(not again, f"columns {listed(again)} are also in the data: leave them in one")
    in_table, in_data = labels_of_name.index, pd.Index(np.concatenate(names[kind])).unique()
    absent = in_data.difference(in_table)
    if len(absent) > 0:
        warn(
            f"labels: column {key!r} lacks {len(absent)} of {len(in_data)} {kind} names "
            f"({listed(absent, 3)}): they are in no group"
        )
    sides = [labels_of_name.reindex(side) for side in names[kind]]
    return {name: tuple(side[name].to_numpy(object) for side in sides) for name in labels_of_name}


def attributes_by_name(labels, names, taken):
    """Return attributes of both sides of pairs, as `labels_by_name`.

    Where no people are known, and one column says who is in the images, it is called "identity".

    taken : names of attributes that exist already
    """
    attributes = labels_by_name(labels, names, taken)
    people = [name for name in attributes if simplified(name) in NAMES["identity"]]
    who = {}
    if len(people) == 1 and "identity" not in names:
        who = {"identity": attributes.pop(people[0])}
    return who | {name: sides for name, sides in attributes.items() if can_be_named(name)}


def _best_column(rows, names):
    """Return which kind of names identifies the rows, and the column that contains most of them.

    A column that is called like names of images or people goes before others, such as numbers of
    rows, which may be equal to numbers of people. The share of names that are in a column counts
    times that of the column among the names, so that numbers of images are told from those of
    people, which they contain.
    """
    shares = {}
    for kind, sides in names.items():
        distinct = pd.Index(np.concatenate(sides)).unique()
        for column in rows:
            share = distinct.isin(rows[column]).mean() * rows[column].isin(distinct).mean()
            if share > 0 and _may_match(kind, column):
                shares[kind, column] = share
    require(
        shares,
        f"no column contains names of {' or '.join(names)} as in the data, such as "
        f"{listed(names[kind][0][:1])}, so nothing can be joined; the columns are "
        f"{listed(rows, 12)}. Add a column with these names; rows are never joined by their order "
        "where the data name images or people",
    )
    usual = {match: share for match, share in shares.items() if simplified(match[1]) in KEYS}
    shares = usual or shares
    kind, key = max(shares, key=shares.get)
    equal = [name for name in rows if shares.get((kind, name)) == shares[kind, key]]
    require(
        len(equal) < 2,
        f"columns {listed(equal)} contain the same names: nothing says which of them names the "
        "images or people; leave one",
    )
    return kind, key


def _may_match(kind, column):
    """Return whether a column may have such names; numbers of images may equal those of people."""
    both = {simplified(kind), simplified(column)}
    return not (both & NAMES["image"] and both & NAMES["identity"])
