"""Distance correlation of an embedding and an attribute, from distances in blocks."""

import numpy as np
import xarray as xr
from sklearn.metrics import pairwise_distances_chunked

from frkit.base import require, require_whole, seed_sequence
from frkit.papers.rlb.problem import FEWEST_FOLDS, for_labelled_images

BLOCK = 8  # MiB of distances in memory at once


def distance_correlation(
    faces: xr.Dataset,
    attribute: str | tuple[str, ...],
    *,
    permutations: int = 199,
    seed: int = 0,
) -> xr.Dataset:
    """Squared distance correlation of an embedding and an attribute: 0 for independence, 1 at most.

    Two images are at distance 1 in the attribute where their classes differ, and at distance 0
    where they agree. Distances of the embeddings are computed in blocks of rows, once for the
    data and all permutations together.

    Parameters
    ----------
    faces : xr.Dataset
        Faces with dims image and feature (and model).
    attribute : str or tuple of str
        Attribute of two classes or more; a tuple crosses its attributes.
    permutations : int
        Number of permutations for the p-value, 0 or more: labels are permuted over people, each
        with all of their images.
    seed : int
        Non-negative; the same seed gives the same permutations.

    Returns
    -------
    xr.Dataset
        `dcor2` (the bias-corrected U-statistic, which can be below 0), `p_value` (share of
        permutations that reach `dcor2`, the data counted), `null_mean` and `null_95` (mean and 95 %
        point of the permutations' dcor2: images of a person are alike, which alone lifts it above
        0). Over model where the faces have it.

    Raises
    ------
    InputError
        If an attribute has one class, fewer than three people in a class, or varies within an
        identity; if features are constant or not finite.

    References
    ----------
    Székely & Rizzo (2014); Li & Abd-Almageed (2021), Tables III and IV.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).rotated_copies()
    >>> result = fk.representation.distance_correlation(mix.sample(per_identity=2), "group")
    >>> bool(-0.1 < result.dcor2 < 0.2)
    True
    """
    permutations = require_whole("permutations", permutations, 0)
    return for_labelled_images(faces, attribute, FEWEST_FOLDS, _estimate, permutations, seed)


def _estimate(x, problem, permutations, seed):
    """The data's values, and those of permutations, whose labels are permuted over people."""
    _, first_images = np.unique(problem.person, return_index=True)
    person_labels = problem.z[first_images]
    rng = np.random.default_rng(seed_sequence(seed))
    permuted = rng.permuted(np.tile(person_labels, (permutations, 1)), axis=1)
    orders = np.concatenate([problem.z[None], permuted[:, problem.person]])
    value, *permuted_values = _correlations(x, orders, len(problem.classes))
    null = np.array(permuted_values if permutations else [np.nan])
    values = {
        "dcor2": value,
        "p_value": (1 + (null >= value).sum()) / (1 + permutations),
        "null_mean": null.mean(),
        "null_95": np.quantile(null, 0.95),
    }
    about = {"n_images": len(x), "permutations": permutations}
    return xr.Dataset(values, attrs=about | {"kind": "representation.distance_correlation"})


def _correlations(x, orders, n_classes):
    """Squared distance correlation with each row of labels, bias-corrected.

    A are the distances of embeddings; B is 1 where the classes differ, so its sums are sums over
    classes. The centred matrices' products follow from three sums of the plain ones: of products of
    entries, of products of row sums, and the product of the totals.
    """
    n = len(x)
    in_class = orders[:, None] == np.arange(n_classes)[:, None]  # (order, class, image)
    counts = in_class.sum(axis=2)
    rows, forms = _distance_sums(x, in_class.reshape(-1, n).T.astype(float))
    within = forms.reshape(counts.shape).sum(axis=1)  # distances between images of one class
    square_of_sum = (x.sum(axis=0) ** 2).sum()
    a_squares = 2 * (n * (x**2).sum() - square_of_sum)
    a_total = rows.sum()
    others = n - counts  # images of the other classes: the row sums of B
    b_total = (counts * others).sum(axis=1)
    row_products = ((in_class @ rows) * others).sum(axis=1)
    ab = a_total - within, row_products, a_total * b_total
    aa = a_squares, (rows**2).sum(), a_total**2
    bb = b_total, (counts * others**2).sum(axis=1), b_total**2
    a_variance = _u_product(*aa, n)
    require(
        a_variance > 0,
        "all embeddings are equal, or nearly: no distance correlation is defined",
    )
    return _u_product(*ab, n) / np.sqrt(a_variance * _u_product(*bb, n))


def _u_product(entries, rows, totals, n):
    """Inner product of two U-centred matrices, Székely & Rizzo (2014), eq. 2.2."""
    row_term = 2 * rows / (n - 2)
    total_term = totals / ((n - 1) * (n - 2))
    return (entries - row_term + total_term) / (n * (n - 3))


def _distance_sums(x, weights):
    """Row sums (n,) of the distances A, and w'Aw for each column w of the weights (n, columns)."""
    rows = []
    forms = np.zeros(weights.shape[1])
    start = 0
    for block in pairwise_distances_chunked(x - x.mean(axis=0), working_memory=BLOCK):
        rows.append(block.sum(axis=1))
        end = start + len(block)
        forms += (weights[start:end] * (block @ weights)).sum(axis=0)
        start = end
    return np.concatenate(rows), forms
