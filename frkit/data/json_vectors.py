"""Embeddings in JSON by the names of people or images, as recognition packages dump them."""

import json
from collections.abc import Mapping

import numpy as np

from frkit.base import listed, require
from frkit.data.files import encoding_of, opener, reading
from frkit.data.names import is_known_name

EMBEDDING = "embedding"  # of an object for each face, as DeepFace.represent returns


def read_json_vectors(path):
    """Return the columns of {person: [vectors]} or {image: vector}; None of any other JSON.

    A vector may be the `embedding` of an object. Names with one vector each are names of images.
    """
    with reading("the JSON"), opener(path)(path, "rt", encoding=encoding_of(path)) as file:
        data = json.load(file)
    if not isinstance(data, dict) or not data or any(map(is_known_name, data)):
        return None
    vectors = {name: _vectors(value) for name, value in data.items()}
    if not all(vectors.values()):
        return None
    rows = [(name, vector) for name, several in vectors.items() for vector in several]
    widths = sorted({str(len(vector)) for _, vector in rows})
    require(
        len(widths) == 1,
        f"embeddings of {listed(data, 3)} have {' and '.join(widths)} numbers: all need as many",
    )
    names = np.array([name for name, _ in rows], str)
    role = "image" if len(rows) == len(data) else "identity"
    return {EMBEDDING: np.array([vector for _, vector in rows], float), role: names}


def _vectors(value):
    """Return the vectors of one name, a list of numbers each; none where it is something else."""
    items = value if isinstance(value, list) else []
    if items and all(map(_is_number, items)):
        items = [items]
    items = [item.get(EMBEDDING) if isinstance(item, Mapping) else item for item in items]
    is_vector = [isinstance(item, list) and all(map(_is_number, item)) for item in items]
    return items if all(is_vector) and all(items) else []


def _is_number(cell):
    """Return whether a cell is a number, and not True or False."""
    return type(cell) in (int, float)
