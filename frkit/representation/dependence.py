"""Distance correlation of an embedding and an attribute, from distances in blocks."""

import numpy as np
import xarray as xr
from sklearn.metrics.pairwise import euclidean_distances

from frkit.base import require
from frkit.representation.problem import Problem, for_each_model

BLOCK = 1_000_000  # distances held at a time: 8 MB


def distance_correlation(
    faces: xr.Dataset,
    attribute: str | tuple[str, ...],
    *,
    permutations: int = 199,
    by: str = "identity",
    seed: int = 0,
) -> xr.Dataset:
    """Squared distance correlation of an embedding and an attribute: 0 for independence, 1 at most.

    The bias-corrected U-statistic. Two images are at distance 1 in the attribute where their classes differ, at
    distance 0 where they agree; so the second matrix is made of blocks, and all sums over it are sums over classes.
    Distances of the embeddings are made in blocks of rows, once for the data and all permutations together.

    Parameters
    ----------
    faces : faces Dataset, dims image and feature (and model).
    attribute : name of the attribute, of two classes or more; a tuple crosses its attributes.
    permutations : how many random orders of the labels the p-value compares with, 0 or more.
    by : "identity" permutes labels over people, each with all of their images; "image" over images, as if no two
        were of the same person.
    seed : non-negative integer; the same seed gives the same permutations.

    Returns
    -------
    xr.Dataset
        `dcor2` (bias-corrected; it can be below 0), `dcor2_biased` (the V-statistic, which is above 0 for
        independent data too), `p_value` (share of orders that reach `dcor2`, the given one counted), `null_mean` and
        `null_95` (mean and 95 % point of the permutations' dcor2: images of a person are alike, which alone lifts it
        above 0). Dimension model where the faces have it.

    Raises
    ------
    InputError : an attribute with one class, one with fewer than three people in a class, or (by identity) one that
        varies within an identity; features that are constant or not finite.

    References
    ----------
    Székely, Rizzo & Bakirov (2007); Székely & Rizzo (2014) for the U-statistic; Li & Abd-Almageed (2021), Tables
    III and IV.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).rotated_copies()
    >>> found = fk.representation.distance_correlation(mix.sample(per_identity=2), "group")
    >>> bool(-0.1 < found.dcor2 < 0.2)
    True
    """
    require(permutations >= 0, f"permutations must be 0 or more, got {permutations}")
    return for_each_model(
        faces, attribute, by, lambda x, one: _estimate(x, one, permutations, seed)
    )


def _estimate(x: np.ndarray, one: Problem, permutations: int, seed: int) -> xr.Dataset:
    """The data's values and those of the permutations, whose labels are dealt to people at random."""
    of_person = one.z[np.unique(one.person, return_index=True)[1]]
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    dealt = rng.permuted(np.tile(of_person, (permutations, 1)), axis=1)
    corrected, biased = _correlations(
        x, np.concatenate([one.z[None], dealt[:, one.person]]), len(one.classes)
    )
    null = corrected[1:] if permutations else np.array([np.nan])
    p_value = (1 + (null >= corrected[0]).sum()) / (1 + permutations)
    values = {"dcor2": corrected[0], "dcor2_biased": biased[0], "p_value": p_value}
    values |= {"null_mean": null.mean(), "null_95": np.quantile(null, 0.95)}
    return xr.Dataset(values, attrs={"n_images": len(x), "permutations": permutations})


def _correlations(
    features: np.ndarray, orders: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Squared distance correlation with each row of labels: U-statistic (corrected) and V-statistic (biased)."""
    n = orders.shape[1]
    count = np.stack([(orders == k).sum(1) for k in range(n_classes)])
    places = _simplex(n_classes)
    rows, forms = _distance_sums(features, places[orders.T].reshape(n, -1))
    of_class = np.stack([(orders == k) @ rows for k in range(n_classes)])
    radius = (1 - 1 / n_classes) / 2
    differing = 2 * (radius * rows.sum() - forms.reshape(len(orders), -1).sum(1))
    square = 2 * (n * (features**2).sum() - (features.sum(0) ** 2).sum())
    # For each pair of matrices: sums of products of their entries, of their row sums, and the product of their totals.
    sums = (
        (differing, (of_class * (n - count)).sum(0), rows.sum() * (count * (n - count)).sum(0)),
        (square, (rows**2).sum(), rows.sum() ** 2),
        (
            (count * (n - count)).sum(0),
            (count * (n - count) ** 2).sum(0),
            (count * (n - count)).sum(0) ** 2,
        ),
    )
    found = []
    for of_rows, of_totals, whole in (
        (n - 2, (n - 1) * (n - 2), n * (n - 3)),
        (n, n**2, n**2),
    ):  # U, V
        ab, aa, bb = (
            (cross - 2 * by_rows / of_rows + totals / of_totals) / whole
            for cross, by_rows, totals in sums
        )
        require(
            np.all(aa > 0),
            "all embeddings are equal, or nearly: no distance correlation is defined",
        )
        found.append(ab / np.sqrt(aa * bb))
    return tuple(found)


def _simplex(n_classes: int) -> np.ndarray:
    """A point (K - 1 coordinates) for each class, any two at distance 1, all at the same distance from 0.

    The sum of distances over pairs of different classes is then a sum of quadratic forms in these coordinates.
    """
    apart = np.eye(n_classes) - 1 / n_classes
    return np.linalg.eigh(apart)[1][:, 1:] / np.sqrt(2)


def _distance_sums(features: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row sums (n,) of the distances, and w'Aw for each column w of the weights; each pair is visited once."""
    n, centred = len(features), features - features.mean(0)
    rows, forms, height = np.zeros(n), np.zeros(weights.shape[1]), max(1, BLOCK // n)
    for start in range(0, n, height):
        block = euclidean_distances(centred[start : start + height], centred[start:])
        square, mine = block[:, : len(block)], weights[start : start + len(block)]
        rows[start:] += block.sum(0)
        rows[start : start + len(block)] += block[:, len(block) :].sum(1)
        forms += np.einsum("ik,ik->k", mine, 2 * (block @ weights[start:]) - square @ mine)
    return rows, forms
