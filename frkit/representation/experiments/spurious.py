"""Embeddings and attributes that have nothing to do with each other (Table II)."""

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, require

CASES = ("normal", "R_S", "R_G", "Z_S", "Z_G")


def spurious(faces: xr.Dataset, attribute: str, *, seed: int = 0) -> dict[str, xr.Dataset]:
    """The faces as they are, and four versions in which embedding and attribute are independent.

    Parameters
    ----------
    faces : faces Dataset (image, feature) of one encoder; `attribute` does not vary within an identity.
    attribute : name of the attribute.
    seed : non-negative integer; the same seed gives the same versions.

    Returns
    -------
    dict of case to faces Dataset
        "normal"; "R_S": the features of every image in an order of its own; "R_G": every image with the embedding of
        somebody else's image, a person's images together; "Z_S": the labels of the people permuted; "Z_G": new labels,
        dealt to the people with as many of each class as before, so that the entropy stays. (With that condition Z_G
        has the law of Z_S.)

    Raises
    ------
    InputError : several encoders at once, or no such attribute.

    References
    ----------
    Li & Abd-Almageed (2021), Section V-A and Table II.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).rotated_copies().sample(per_identity=2)
    >>> list(spurious(faces, "group"))
    ['normal', 'R_S', 'R_G', 'Z_S', 'Z_G']
    """
    require(attribute in faces.coords, f"the faces have no attribute {attribute!r}")
    embedding = faces["embedding"]
    require(embedding.ndim == 2, "spurious takes one encoder: select it with .isel(model=0)")
    _, first, person = np.unique(faces[IDENTITY].values, return_index=True, return_inverse=True)
    labels = faces[attribute].values[first]
    shuffle, unpair, permute, draw = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(len(CASES) - 1)
    )
    values = embedding.transpose(IMAGE, FEATURE).values
    elsewhere = np.empty_like(values)
    # Images in the order of their people take embeddings in another order of the same people.
    elsewhere[np.argsort(person, kind="stable")] = values[np.argsort(unpair.permutation(labels.size)[person])]
    return {
        "normal": faces,
        "R_S": faces.assign(embedding=((IMAGE, FEATURE), shuffle.permuted(values, axis=1))),
        "R_G": faces.assign(embedding=((IMAGE, FEATURE), elsewhere)),
        "Z_S": faces.assign_coords({attribute: (IMAGE, permute.permutation(labels)[person])}),
        "Z_G": faces.assign_coords({attribute: (IMAGE, draw.permutation(labels)[person])}),
    }
