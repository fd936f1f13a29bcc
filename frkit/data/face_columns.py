"""From columns of images, by their roles, to the faces Dataset."""

import numpy as np

from frkit.base import listed, require
from frkit.data.alignment import aligned
from frkit.data.checks import checked_embedding
from frkit.data.collect import AS_IT_IS, collected
from frkit.data.face_roles import face_roles, gathered
from frkit.data.files import not_read
from frkit.data.joins import identities_from, is_pattern, joined
from frkit.data.labels import can_be_named
from frkit.data.roles import as_mapping

ARGUMENTS = ("embedding", "identity", "image", "model", "varying")  # of `faces`, so no attributes
OF_IMAGES = ("person", "image_attributes")  # what a stored Dataset contains beside its labels


def faces_of_frame(frame, names, columns, varying):
    """Return the faces of a DataFrame, by what is named and what can be guessed.

    Parameters
    ----------
    frame : pd.DataFrame
    names : dict
        Identity, image and attributes: names of columns, or labels of their own.
    columns : mapping, optional
        The roles of columns.
    varying : str or mapping
        The rule for attributes that are named.
    """
    names = {name: labels for name, labels in names.items() if labels is not None}
    pattern = names.pop("identity") if is_pattern(names.get("identity")) else None
    own = {name: labels for name, labels in names.items() if not isinstance(labels, str)}
    in_order = aligned({"frame": frame.rename(columns=str), **own})
    frame = in_order.pop("frame").assign(**in_order)
    given = as_mapping(columns) | {name: name if name in own else names[name] for name in names}
    contents = gathered(frame, given)
    roles = face_roles(contents, given, pattern is not None)
    only = roles.attributes if names and not columns else None
    if varying == "error":
        varying = dict.fromkeys(roles.attributes, "error")
    return faces_of_columns(contents, roles, varying, only, pattern=pattern)


def faces_of_columns(columns, roles, varying=None, only=None, metadata=None, pattern=None):
    """Return the faces Dataset of columns whose roles are known.

    Parameters
    ----------
    columns : dict of str to array
    roles : Roles
    varying : str or mapping, optional
        The rule for attributes that vary; those without one vary as they do.
    only : sequence of str, optional
        The attributes; by default all columns that have one label for each image.
    metadata : path, optional
        A table of more attributes.
    pattern : str, optional
        A pattern of names of images that says who is in them.
    """
    values, model = _values(columns, roles)
    image = columns.get(roles.one("image"))
    identity = columns.get(roles.one("identity"))
    if pattern is not None:
        identity = identities_from(image, pattern)
        roles.who = f"by the pattern {pattern!r} of names of images"
    attributes = _attributes(columns, roles, values.shape[-2], only)
    if metadata is not None:
        keys = {"image": [image], "identity": [identity]}
        more = joined(metadata, keys, attributes)
        attributes |= {name: labels for name, [labels] in more.items()}
    if not isinstance(varying, str):
        keep = np.atleast_1d(columns.get("image_attributes", [])).astype(str)
        rules = dict.fromkeys(attributes, AS_IT_IS) | dict.fromkeys(keep.tolist(), "keep")
        varying = rules | dict(varying or {})
    person = None if roles.one("identity") == "person" else columns.get("person")
    faces = collected(values, identity, image, model, varying, attributes, person)
    return faces.assign_attrs(roles.attrs())


def _values(columns, roles):
    """Return the embedding, or those of several models, and the models' names."""
    names = roles.columns["embedding"]
    if len(names) == 1:
        values = columns[names[0]]
        model = columns.get("model") if np.ndim(values) == 3 else None
        return checked_embedding(values, model), model
    several = [checked_embedding(columns[name], None) for name in names]
    width = max(values.shape[-1] for values in several)
    padded = [np.pad(values, [(0, 0), (0, width - values.shape[-1])]) for values in several]
    return np.stack(padded), [roles.models.get(name, name) for name in names]


def _attributes(columns, roles, n_images, only):
    """Return the columns that become attributes: those asked for, or all with one label each."""
    taken = {name for several in roles.columns.values() for name in several}
    usable = {
        name: labels
        for name, labels in columns.items()
        if np.shape(labels) == (n_images,) and name not in taken
    }
    named = {name: columns[column] for name, [column] in roles.attributes.items()}
    if only is not None:
        absent = [name for name in only if name not in {*usable, *named}]
        require(not absent, f"no labels of images {listed(absent)}; there is {listed(usable, 12)}")
        return {name: (usable | named)[name] for name in only}
    sources = {column for several in roles.attributes.values() for column in several}
    for name, labels in usable.items():
        passed = {*sources, *roles.unused, *ARGUMENTS, *OF_IMAGES}
        if name not in passed and can_be_named(name):
            named.setdefault(name, labels)
    left = set(columns) - {*taken, *usable, *ARGUMENTS, *OF_IMAGES, ""}
    not_read(sorted(left), "not one label per image; attributes=[...] says which columns to take")
    return named
