"""Two data sets from one: the same identities, half of the images of each (Conti & Clémençon, A.3)."""

import numpy as np
import xarray as xr

from frkit.base import IDENTITY, IMAGE, require


def split(faces: xr.Dataset, seed: int = 0) -> tuple[xr.Dataset, xr.Dataset]:
    """Split faces in two parts that hold the same identities and the same number of images.

    Identities with one image are dropped. An even number of images is halved at random; of an odd number, the
    extra image goes to the first part, then to the second, and so on in turn.

    Parameters
    ----------
    faces : faces Dataset, dims image and feature (and model, which both parts keep).
    seed : non-negative integer; the same seed gives the same parts.

    Returns
    -------
    two faces Datasets; images keep their order. An identity with three images or fewer may have one image in
    a part, and then no genuine pair there.

    Raises
    ------
    InputError : no identity has two images.

    References
    ----------
    Conti & Clémençon (2024), appendix A.3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=7)
    >>> [part.sizes["image"] for part in fk.studies.split(faces, seed=0)]
    [70, 70]
    """
    _, codes, counts = np.unique(faces[IDENTITY].values, return_inverse=True, return_counts=True)
    require(bool((counts >= 2).any()), "no identity has two images: there is nothing to split")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    first, extra_to_first = np.zeros(codes.size, bool), True
    for code in np.flatnonzero(counts >= 2):
        images = rng.permutation(np.flatnonzero(codes == code))
        half = images.size // 2
        if images.size % 2:
            half += extra_to_first
            extra_to_first = not extra_to_first
        first[images[:half]] = True
    kept = counts[codes] >= 2
    return faces.isel({IMAGE: np.flatnonzero(first)}), faces.isel({IMAGE: np.flatnonzero(kept & ~first)})
