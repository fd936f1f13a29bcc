"""From columns of images, by their roles, to the faces Dataset."""

import numpy as np

from frkit.data.checks import checked_embedding
from frkit.data.collect import collected
from frkit.data.face_roles import face_roles
from frkit.data.files import not_read
from frkit.data.joins import identities_from, joined
from frkit.data.labels import can_be_named
from frkit.data.notices import warn_of_parts

# roles, and an array of files that an earlier frkit wrote
NO_ATTRIBUTES = {"embedding", "identity", "image", "model", "image_attributes"}


def faces_of_columns(columns, given, metadata=None, pattern=None):
    """Return the faces Dataset of columns whose roles are said or guessed.

    Parameters
    ----------
    columns : dict of str to array
    given : mapping
        Role or attribute to columns.
    metadata : path, optional
        A table of more attributes.
    pattern : str, optional
        A pattern of names of images that says who is in them.
    """
    roles, identity = face_roles(columns, given, pattern is not None)
    values, model = _values(columns, roles)
    image = columns.get(roles.column("image"))
    if pattern is not None:
        identity = identities_from(image, pattern)
        roles.who = f"by the pattern {pattern!r} of names of images"
    attributes, others = _attributes(columns, roles, values.shape[-2])
    not_read(others, "not one label per image")
    warn_of_parts(roles, columns)
    if metadata is not None:
        more = joined(metadata, {"image": [image], "identity": [identity]}, attributes)
        attributes |= {name: labels for name, [labels] in more.items()}
    faces = collected(values, identity, image, model, attributes)
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
    return np.stack(padded), names


def _attributes(columns, roles, n_images):
    """Return the attributes: what is named, and all labels with usable names; and the rest."""
    attributes = {name: columns[column] for name, [column] in roles.attributes.items()}
    others = []
    for name in roles.free(columns):
        if name not in NO_ATTRIBUTES:
            if np.shape(columns[name]) != (n_images,):
                others.append(name)
            elif can_be_named(name):
                attributes.setdefault(name, columns[name])
    return attributes, sorted(others)
