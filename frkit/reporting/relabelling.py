"""Data with other labels: of groups that are too small, and of people without a label."""

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


def with_named_blanks(data, attribute, name):
    """Faces, scores or kept pairs in which people without any label have this one."""
    sides = _labels_of_sides(data, [attribute, "identity"]) or _labels_of_sides(data, [attribute])
    labelled = set()
    for columns in sides.values():
        people = columns.get("identity", np.empty(0))
        labelled.update(people[columns[attribute][: len(people)] != UNKNOWN])
    changed = {}
    for side, columns in sides.items():
        label = columns[attribute]
        has_none = ~np.isin(columns.get("identity", label), [*labelled])
        changed[side + attribute] = np.where((label == UNKNOWN) & has_none, name, label)
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
