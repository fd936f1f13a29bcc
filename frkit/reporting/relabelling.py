"""Data in which the images of groups that are too small have no label."""

import numpy as np

from frkit.base import UNKNOWN
from frkit.data.labels import attributes_of, crossed
from frkit.scores.kept import IMAGES, is_kept, with_labels


def without_labels(data, by, groups):
    """Faces or kept pairs in which the images of some groups have no label."""
    names = attributes_of(by)
    changed = {}
    for side, columns in _labels_of_sides(data, names).items():
        unlabelled = np.isin(crossed([*columns.values()]), groups)
        changed[side + names[0]] = np.where(unlabelled, UNKNOWN, columns[names[0]])
    return _relabelled(data, changed)


def _labels_of_sides(data, names):
    """The labels of images, or of probes and references, that have all of these names."""
    columns = data[IMAGES].variables if is_kept(data) else data.coords
    sides = {}
    for side in ("", "probe_", "reference_"):
        if all(side + name in columns for name in names):
            sides[side] = {name: columns[side + name].values for name in names}
    return sides


def _relabelled(data, changed):
    """The same data with other labels, by column."""
    if is_kept(data):
        return with_labels(data, **changed)
    coords = {name: (data[name].dims, labels) for name, labels in changed.items()}
    return data.assign_coords(coords)
