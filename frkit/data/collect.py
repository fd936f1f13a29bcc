"""The faces Dataset of arrays, with every check of its labels."""

import hashlib
from collections.abc import Mapping

import numpy as np
import xarray as xr

from frkit.base import listed, require
from frkit.data.checks import row_pieces
from frkit.data.labels import (
    VARYING_RULES,
    check_names,
    clean_labels,
    complete_labels,
    image_names,
    model_names,
    resolve_varying,
    varies,
    warn_of_spellings,
)

NUMBERED = "numbered"  # attribute of images without names: a hash of their embeddings
AS_IT_IS = "as it is"  # the rule for attributes that nobody named: they vary as they do


def collected(values, identity, image, model, varying, attributes, person=None):
    """Return the faces Dataset of a checked embedding, which may be on disk.

    `person` is who each image shows, where an earlier split has renamed identities.
    """
    n_images = values.shape[-2]
    identity = complete_labels(identity, n_images, "identity")
    if person is not None:
        person = clean_labels(person, n_images, "person")
        resolve_varying(person, identity, "error", "person")
    check_names(attributes)
    require(
        isinstance(varying, (str, Mapping)),
        f"varying is {', '.join(VARYING_RULES)}, or a mapping of attributes to these; got "
        f"{varying!r}",
    )
    if isinstance(varying, str):
        varying = dict.fromkeys(attributes, varying)
    columns = {}
    # splits come last: other rules see whole identities
    for name in sorted(attributes, key=lambda name: varying.get(name) == "split"):
        labels = clean_labels(attributes[name], n_images, name)
        rule = varying.get(name, "error")
        if rule == AS_IT_IS:
            rule = "keep" if varies(labels, identity) else ""
        else:
            labels, identity, person = resolve_varying(labels, identity, rule, name, person)
        columns[name] = "image", labels, {"varying": "keep"} if rule == "keep" else {}
    _check_people(identity, "" if person is None else " after splitting")
    if image is None:
        names = image_names(range(n_images), n_images), {NUMBERED: _fingerprint(values)[:16]}
    else:
        names = (image_names(image, n_images),)
    coords = {"image": ("image", *names), "identity": ("image", identity)}
    if model is not None:
        coords["model"] = model_names(model, len(values))
    if person is not None:
        coords["person"] = ("image", person)
    coords |= {name: columns[name] for name in attributes}
    dims = ("model", "image", "feature")[-values.ndim :]
    return xr.Dataset({"embedding": (dims, values)}, coords=coords)


def _check_people(identity, when):
    """Refuse identities of which no pair, or no genuine pair, can be made."""
    people, counts = np.unique(identity, return_counts=True)
    warn_of_spellings(people)
    require(
        len(people) >= 2,
        f"at least two identities are needed{when}, got {len(people)}: {listed(people)}",
    )
    require(
        counts.max() >= 2,
        f"no identity has two images{when}, so there is no genuine pair; check that identity "
        "contains people, not image names",
    )


def _fingerprint(embedding):
    """Return a hash of the values of an embedding, in memory or on disk."""
    digest = hashlib.sha256()
    for _, rows in row_pieces(embedding):
        digest.update(np.ascontiguousarray(rows))
    return digest.hexdigest()
