"""The faces Dataset of arrays that were found, with every check of its labels."""

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
    is_rule = isinstance(varying, (str, Mapping))
    words = f"varying is {', '.join(VARYING_RULES)}, or a mapping of attributes to these"
    require(is_rule, f"{words}; got {varying!r}")
    rules = dict.fromkeys(attributes, varying if isinstance(varying, str) else "error")
    if not isinstance(varying, str):
        rules |= varying
    labels = {}
    # splits come last: other rules see whole identities
    for name in sorted(attributes, key=lambda name: rules[name] == "split"):
        given = clean_labels(attributes[name], n_images, name)
        if rules[name] == AS_IT_IS:
            rules[name] = "keep" if varies(given, identity) else ""
            labels[name] = given
            continue
        labels[name], identity, person = resolve_varying(given, identity, rules[name], name, person)
    _check_people(identity, "" if person is None else " after splitting")
    image_attrs = {}
    if image is None:
        image = range(n_images)
        image_attrs[NUMBERED] = fingerprint(values)[:16]
    names = image_names(image, n_images)
    coords = {"image": ("image", names, image_attrs), "identity": ("image", identity)}
    if model is not None:
        coords["model"] = model_names(model, len(values))
    if person is not None:
        coords["person"] = ("image", person)
    for name in attributes:
        attrs = {"varying": "keep"} if rules[name] == "keep" else {}
        coords[name] = ("image", labels[name], attrs)
    dims = ("model", "image", "feature")[-values.ndim :]
    return xr.Dataset({"embedding": (dims, values)}, coords=coords)


def _check_people(identity, when):
    """Refuse identities of which no pair, or no genuine pair, can be made."""
    people, counts = np.unique(identity, return_counts=True)
    words = f"at least two identities are needed{when}, got {len(people)}: {listed(people)}"
    require(len(people) >= 2, words)
    words = f"no identity has two images{when}, so there is no genuine pair"
    require(counts.max() >= 2, f"{words}; check that identity contains people, not image names")


def fingerprint(embedding):
    """Return a hash of the values of an embedding, in memory or on disk."""
    digest = hashlib.sha256()
    for _, rows in row_pieces(embedding):
        digest.update(np.ascontiguousarray(rows))
    return digest.hexdigest()
