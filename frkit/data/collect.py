"""The faces Dataset of arrays, with every check of its labels."""

import hashlib

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import listed, require, warn
from frkit.data.checks import is_lazy, loaded, row_pieces
from frkit.data.labels import (
    check_names,
    clean_labels,
    complete_labels,
    image_names,
    model_names,
)
from frkit.data.notices import warn_of_shift, warn_of_spellings

FIRST = 10_000  # rows that show what embeddings are
WIDE = 8  # equal embeddings with at least this many features are no coincidence
NUMBERED = "numbered"  # attribute of images without names: a hash of their embeddings


def collected(values, identity, image, model, attributes):
    """Return the faces Dataset of a checked embedding, which may be on disk."""
    n_images = values.shape[-2]
    identity = complete_labels(identity, n_images, "identity")
    _check_people(identity)
    if values.shape[-1] >= WIDE:
        rows = values if values.ndim == 2 else values[0]
        first_rows = loaded(rows[:FIRST])
        warn_of_shift(first_rows, identity[:FIRST])
        if not is_lazy(values):
            _warn_of_copies(rows)
    check_names(attributes)
    if image is None:
        names = image_names(range(n_images), n_images), {NUMBERED: _fingerprint(values)[:16]}
    else:
        names = (image_names(image, n_images),)
    coords = {"image": ("image", *names), "identity": ("image", identity)}
    if model is not None:
        coords["model"] = model_names(model, len(values))
    for name, labels in attributes.items():
        coords[name] = "image", clean_labels(labels, n_images, name)
    warn_of_spellings({name: [coords[name][1]] for name in ("identity", *attributes)})
    dims = ("model", "image", "feature")[-values.ndim :]
    return xr.Dataset({"embedding": (dims, values)}, coords=coords)


def _check_people(identity):
    """Refuse identities that make no pair, or no genuine pair."""
    people, counts = np.unique(identity, return_counts=True)
    require(
        len(people) >= 2,
        f"at least two identities are needed, got {len(people)}: {listed(people)}",
    )
    require(
        counts.max() >= 2,
        "no identity has two images, so there is no genuine pair; check that identity "
        "contains people, not image names",
    )


def _warn_of_copies(rows):
    """Warn of images with exactly the embedding of another one."""
    beginnings = pd.Series(np.ascontiguousarray(rows[:, :2]).view(np.uint64).ravel())
    alike = rows[beginnings.duplicated(keep=False).to_numpy()]
    n_copies = pd.DataFrame(alike).duplicated(keep=False).sum()
    if n_copies > 0:
        warn(
            f"{n_copies:,} images have exactly the embedding of another image: as copies of a file "
            "they make genuine pairs too easy, and as faces that were not found impostor pairs too "
            "hard; leave such images out"
        )


def _fingerprint(embedding):
    """Return a hash of the values of an embedding, in memory or on disk."""
    digest = hashlib.sha256()
    for _, rows in row_pieces(embedding):
        digest.update(np.ascontiguousarray(rows))
    return digest.hexdigest()
