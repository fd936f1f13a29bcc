"""RLB where nothing is there (Table II), and beside a known truth: classes some standard deviations apart."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, require
from frkit.representation import (
    Critic,
    dataset_bias,
    distance_correlation,
    probe,
    representation_bias,
    shifted_classes,
)  # fmt: skip
from frkit.studies.along import along


def spurious(faces: xr.Dataset, attribute: str, *, seed: int = 0) -> dict[str, xr.Dataset]:
    """The faces as they are, and four versions in which embedding and attribute are independent (Table II).

    faces: of one encoder; `attribute` does not vary within an identity. Returns a dict of faces Datasets: "normal";
    "R_S": the features of every image in an order of its own; "R_G": every image with the embedding of somebody else's
    image, a person's images together; "Z_S": the labels of the people permuted; "Z_G": new labels, dealt to the people
    with as many of each class as before, so that the entropy stays (with that condition it has the law of Z_S). Raises
    InputError for several encoders at once, or no such attribute. Li & Abd-Almageed (2021), V-A.

    >>> list(spurious(shifted_classes(20, 3), "group"))
    ['normal', 'R_S', 'R_G', 'Z_S', 'Z_G']
    """
    require(attribute in faces.coords, f"the faces have no attribute {attribute!r}")
    require(
        faces["embedding"].ndim == 2, "spurious takes one encoder: select it with .isel(model=0)"
    )
    _, first, person = np.unique(faces[IDENTITY].values, return_index=True, return_inverse=True)
    labels, values = (
        faces[attribute].values[first],
        faces["embedding"].transpose(IMAGE, FEATURE).values,
    )
    shuffle, unpair, permute, draw = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)
    )
    elsewhere = np.empty_like(values)
    # Images in the order of their people take embeddings in another order of the same people.
    elsewhere[np.argsort(person, kind="stable")] = values[
        np.argsort(unpair.permutation(labels.size)[person])
    ]
    return {
        "normal": faces,
        "R_S": faces.assign(embedding=((IMAGE, FEATURE), shuffle.permuted(values, axis=1))),
        "R_G": faces.assign(embedding=((IMAGE, FEATURE), elsewhere)),
        "Z_S": faces.assign_coords({attribute: (IMAGE, permute.permutation(labels)[person])}),
        "Z_G": faces.assign_coords({attribute: (IMAGE, draw.permutation(labels)[person])}),
    }


def spurious_table(
    faces: xr.Dataset,
    attribute: str,
    *,
    seeds: int = 3,
    folds: int = 5,
    critic: Critic | None = None,
    seed: int = 0,
    progress: bool = True,
) -> xr.Dataset:
    """Table II: what predictor and RLB say where embedding and attribute have nothing to do with each other.

    faces, attribute, seed: as in `spurious`. seeds, critic: as in `representation_bias`. folds: by identity, 3 or more.
    Returns, over case (normal, R_S, R_G, Z_S, Z_G), `accuracy`, `loss` of a linear predictor and `rlb`, `rlb_se`, all
    held out, with `accuracy_in_sample`, `loss_in_sample`, `rlb_in_sample`, `majority`; `dcor2` and its `p_value`.
    Raises InputError as `spurious` and `representation_bias`.

    >>> faces = shifted_classes(120, 8, distance=4, per_identity=2)
    >>> critic = Critic(iterations=100)
    >>> table = spurious_table(faces, "group", seeds=1, folds=3, critic=critic, progress=False)
    >>> bool(table.rlb.sel(case="normal") > table.rlb.sel(case="R_G"))
    True
    """
    cases = spurious(faces, attribute, seed=seed)

    def row(case: str) -> xr.Dataset:
        bias = representation_bias(
            cases[case], attribute, seeds=seeds, folds=folds, critic=critic, progress=False
        )
        found = probe(cases[case], attribute, folds=folds).assign(
            bias[["rlb", "rlb_se", "rlb_in_sample"]]
        )
        return found.assign(
            distance_correlation(cases[case], attribute)[["dcor2", "p_value"]]
        ).drop_attrs()

    return along("case", cases, row, progress)


def true_bias(
    share: float = 0.5, distances: Sequence[float] = tuple(np.linspace(0, 6, 13))
) -> xr.Dataset:
    """The exact RLB of two Gaussian classes, `rlb`, against their distance in standard deviations, 0 or more.

    share: probability of the first class. Raises InputError for a share outside (0, 1) or a negative distance.

    >>> true_bias(0.61384, [0, 2]).rlb.values.round(3).tolist()
    [0.0, 0.483]
    """
    rlb = [
        shifted_classes(1, 1, distance=one, shares=(share, 1 - share)).attrs["rlb"]
        for one in distances
    ]
    return xr.Dataset({"rlb": ("distance", rlb)}, {"distance": list(distances)})


def trial(
    distance: float,
    n_images: int = 1000,
    n_features: int = 64,
    *,
    by: str = "identity",
    hidden: int = 64,
    seed: int = 0,
    progress: bool = False,
    **law,
) -> xr.Dataset:
    """One data set with a known truth, and what the estimators say of it.

    distance: between the classes, in standard deviations, 0 or more. by: "identity" or "image", what is dealt to folds.
    hidden: width of the statistics network. law: shares (default: equal), per_identity (default: 10), likeness,
    both_sides, as in `shifted_classes`. Returns `truth`, `rlb`, `rlb_se`, `rlb_in_sample`, `smallest_detectable`,
    `dataset_bias`, `dcor2`; `distance` and `by` as given. Raises InputError as `shifted_classes` and
    `representation_bias`. Li & Abd-Almageed (2021), eq. 1; Gaussian classes in place of faces.

    >>> found = trial(4.0, 400, 8, hidden=16)
    >>> bool(abs(found.truth - found.rlb) < 0.4)
    True
    """
    law = {"shares": (0.5, 0.5), "per_identity": 10} | law
    faces = shifted_classes(n_images, n_features, distance=distance, seed=seed, **law)
    found = representation_bias(
        faces, "group", by=by, seeds=1, critic=Critic(hidden=hidden), progress=progress
    )
    found = found[["rlb", "rlb_se", "rlb_in_sample", "smallest_detectable"]].assign(
        truth=faces.attrs["rlb"]
    )
    found["dataset_bias"] = dataset_bias(faces, "group", by=by)
    found["dcor2"] = distance_correlation(faces, "group", permutations=0).dcor2
    return found.assign(distance=float(distance), by=by)
