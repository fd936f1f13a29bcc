"""The names of both sides of pairs, as numbers."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from frkit.base import require
from frkit.data.labels import coded_labels, complete_codes

SIDES = ("probe", "reference")
WHO = ("probe_identity", "reference_identity")


class Sides(NamedTuple):
    """Names of both sides of pairs: (pair,) places among the distinct names.

    Labels of an attribute of the pairs, and not of their sides, have no reference.
    """

    probe: np.ndarray
    reference: Any
    names: np.ndarray

    def is_same(self):
        """Return which pairs have the same name on both sides."""
        return self.probe == self.reference

    def pair(self):
        """Return a number for each ordered pair of names."""
        return self.probe.astype(np.int64) * len(self.names) + self.reference

    def either_way(self):
        """Return a number for each pair of names, whichever of them is the probe."""
        first = np.minimum(self.probe, self.reference)
        second = np.maximum(self.probe, self.reference)
        return Sides(first, second, self.names).pair()

    def rows(self, selected):
        """Return the names of some pairs."""
        reference = None if self.reference is None else self.reference[selected]
        return Sides(self.probe[selected], reference, self.names)

    def mapped(self, others):
        """Return both sides under other names, one for each distinct name."""
        positions, names = pd.factorize(np.asarray(others, object))
        return Sides(positions[self.probe], positions[self.reference], names)

    def columns(self):
        """Return the names of each pair's sides."""
        names = self.names.astype(str)
        return [names[self.probe], names[self.reference]]

    def both(self):
        """Return the places of all probes, then of all references."""
        reference = self.probe if self.reference is None else self.reference
        return np.concatenate([self.probe, reference])


def coded_sides(columns, roles, n, *, complete=True):
    """Return clean names of both sides.

    Parameters
    ----------
    columns : pair of array-like
        None in place of a reference: labels of the pairs.
    roles : pair of str
        What the columns are, for messages.
    n : int
        Number of pairs.
    complete : bool
        Refuse missing names; otherwise they become "unknown".
    """
    codes_of = complete_codes if complete else coded_labels
    codes, names = [], []
    for column, role in zip(columns, roles):
        if column is not None:
            code, labels = codes_of(column, n, role, "pair")
            codes.append(code)
            names.append(labels[:-1] if complete else labels)  # the last is "unknown"
    require(names, f"{roles[0]} is None on both sides: leave it out")
    positions, distinct = pd.factorize(np.concatenate(names))
    first = positions[: len(names[0])][codes[0]]
    second = positions[len(names[0]) :][codes[1]] if len(codes) > 1 else None
    return Sides(first, second, distinct)
