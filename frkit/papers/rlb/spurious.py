"""Representations that are independent of the attribute: nothing to find for RLB (Table II)."""

import numpy as np
import xarray as xr

from frkit.base import require_one_of, seed_sequence
from frkit.data.checks import check_faces


def spurious(faces: xr.Dataset, attribute: str, *, seed: int = 0) -> dict[str, xr.Dataset]:
    """Make four versions of faces whose embedding and attribute are independent (Table II).

    Parameters
    ----------
    faces : xr.Dataset
        Faces of one encoder.
    attribute : str
        An attribute that does not vary within an identity.
    seed : int
        Seed of the permutations.

    Returns
    -------
    dict of str to xr.Dataset
        "normal", the faces as they are. "R_S": the features of every image are permuted. "R_G":
        every person gets the embeddings of other people's images, the images of a person together.
        "Z_S": the labels of the people are permuted. "Z_G": new labels are drawn for the people,
        with as many of each class as before, so that the entropy stays (with that condition it has
        the law of Z_S).

    References
    ----------
    Li & Abd-Almageed (2021), V-A.

    Examples
    --------
    >>> from frkit.representation import shifted_classes
    >>> from frkit.studies import spurious
    >>> list(spurious(shifted_classes(20, 3), "group"))
    ['normal', 'R_S', 'R_G', 'Z_S', 'Z_G']
    """
    check_faces(faces)
    require_one_of("attribute", attribute, sorted(faces.coords))
    _, first, person = np.unique(faces["identity"].values, return_index=True, return_inverse=True)
    labels = faces[attribute].values[first]
    values = faces["embedding"].transpose("image", "feature").values
    children = seed_sequence(seed).spawn(4)
    shuffle, unpair, permute, draw = (np.random.default_rng(child) for child in children)
    # images in the order of their people take the embeddings of the people in another order
    order = np.argsort(unpair.permutation(labels.size)[person])
    elsewhere = np.empty_like(values)
    elsewhere[np.argsort(person, kind="stable")] = values[order]
    shuffled = shuffle.permuted(values, axis=1)
    return {
        "normal": faces,
        "R_S": faces.assign(embedding=(("image", "feature"), shuffled)),
        "R_G": faces.assign(embedding=(("image", "feature"), elsewhere)),
        "Z_S": faces.assign_coords({attribute: ("image", permute.permutation(labels)[person])}),
        "Z_G": faces.assign_coords({attribute: ("image", draw.permutation(labels)[person])}),
    }
