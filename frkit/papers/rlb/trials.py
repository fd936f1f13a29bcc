"""RLB where there is nothing to find (Table II), and RLB compared with a known truth."""

import numpy as np
import xarray as xr

from frkit.base import require_one_of, seed_sequence
from frkit.data.checks import check_faces
from frkit.papers.along import along
from frkit.papers.rlb.probes import probe
from frkit.papers.rlb.representation_bias import representation_bias
from frkit.papers.rlb.truth import shifted_classes

DISTANCES = tuple(np.linspace(0, 6, 13))
EQUAL = (0.5, 0.5)  # shares of the classes


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


def true_bias() -> xr.Dataset:
    """Compute the exact RLB of two equal Gaussian classes, up to six standard deviations apart.

    Returns
    -------
    xr.Dataset
        `rlb` over distance.

    Examples
    --------
    >>> from frkit.studies import true_bias
    >>> true_bias().rlb.sel(distance=[0, 2]).values.round(3).tolist()
    [0.0, 0.486]
    """

    def exact(distance):
        law = shifted_classes(1, 1, distance=distance, shares=EQUAL)
        return xr.Dataset({"rlb": law.attrs["rlb"]})

    return along("distance", DISTANCES, exact)


def trial(
    distance: float,
    n_images: int = 1000,
    n_features: int = 64,
    *,
    by: str = "identity",
    both_sides: bool = False,
) -> xr.Dataset:
    """Draw one data set with a known RLB, and estimate it.

    Parameters
    ----------
    distance : float
        Distance of the classes in standard deviations, at least 0.
    n_images, n_features : int
        Size of the data set.
        The classes are equal, and there are 10 images of each person.
    by : {"identity", "image"}
        What is divided into folds.
    both_sides : bool
        As in `shifted_classes`.

    Returns
    -------
    xr.Dataset
        `truth`, `rlb`, `rlb_se`, `rlb_dv`, `rlb_in_sample`, `smallest_detectable`, `dataset_bias`
        and `distance`.

    Raises
    ------
    InputError
        As `shifted_classes` and `representation_bias`.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1; Gaussian classes in place of faces.

    Examples
    --------
    >>> from frkit.studies import trial
    >>> result = trial(4.0, 400, 8)
    >>> bool(abs(result.truth - result.rlb) < 0.4)
    True
    """
    faces = shifted_classes(
        n_images,
        n_features,
        distance=distance,
        shares=EQUAL,
        both_sides=both_sides,
        per_identity=10,
    )
    bias = representation_bias(faces, "group", by=by, seeds=1, progress=False)
    estimates = ["rlb", "rlb_se", "rlb_dv", "rlb_in_sample", "smallest_detectable"]
    return bias[estimates].assign(
        truth=faces.attrs["rlb"],
        dataset_bias=probe(faces, "group", by=by).dataset_bias,
        distance=float(distance),
    )
