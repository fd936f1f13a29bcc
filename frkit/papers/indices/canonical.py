"""Systems whose fairness is known: scores from Beta distributions."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from frkit.base import require, require_one_of, require_whole, seed_sequence
from frkit.io.pairs import pairs

# Figure of the paper -> kind -> what differs between three groups. The paper prints the resulting
# indices only; these give nearly the same ones for 1,000 scores of each kind in a group.
SEPARATIONS = {
    "fair": (0.5192, 0.4617, 0.5191),
    "unfair": (0.4298, 0.5479, 0.5223),
    "highly unfair": (0.5322, 0.2013, 0.7665),
}
SPREADS = {
    "fair": (0.2552, 0.2474, 0.2474),
    "unfair": (0.3133, 0.2247, 0.212),
    "highly unfair": (0.2611, 0.0941, 0.3948),
}
# index -> kind -> (genuine mean, genuine sd, impostor mean, impostor sd) of each group
SYSTEMS = {
    "sfi": {
        kind: [((1 + z) / 2, 0.1, (1 - z) / 2, 0.1) for z in separations]
        for kind, separations in SEPARATIONS.items()
    },
    "cfi": {
        kind: [(0.7, z / 2, 0.3, z / 2) for z in separations]
        for kind, separations in SPREADS.items()
    },
    "dfi": {
        "fair": [(0.7, 0.15, 0.3, 0.15)] * 3,
        "unfair": [(0.7 + shift, 0.15, 0.3 + shift, 0.15) for shift in (0.085, -0.078, 0.0)],
        "highly unfair": [
            (0.325, 0.055, 0.114, 0.055),
            (0.657, 0.055, 0.454, 0.055),
            (0.82, 0.055, 0.601, 0.055),
        ],
    },
}


def canonical_scores(
    kind: str = "fair",
    *,
    index: str = "sfi",
    sizes: Sequence[int] = (1000, 1000, 1000),
    seed: int = 0,
) -> xr.Dataset:
    """Draw the scores of a synthetic system that is fair, unfair or highly unfair between groups.

    Scores follow Beta distributions on [0, 1] with chosen means and standard deviations.

    Parameters
    ----------
    kind : {"fair", "unfair", "highly unfair"}
        How unfair the system is.
    index : {"sfi", "cfi", "dfi"}
        What differs between the groups: "sfi" the separation (Fig. 3), "cfi" the spread (Fig. 4),
        "dfi" the place of all scores (Fig. 5).
    sizes : sequence of two or three int
        Genuine scores, and as many impostor scores, of each group; the paper takes
        (1000, 1000, 1000) and (100, 1000, 2000).
    seed : int
        A group's first scores are the same whatever its size and that of the others.

    Returns
    -------
    xr.Dataset
        A list of pairs with the attribute `group` ("group 1" and so on); scores in [0, 1], so
        score_map="identity". Every pair is independent of the others.

    Raises
    ------
    InputError
        For an unknown kind or index, fewer than two or more than three sizes, or sizes below 2.

    References
    ----------
    Kotwal & Marcel (2022), Figs. 1 and 3-5, Tables 1-3, whose distributions are not given in
    numbers.

    Examples
    --------
    >>> import frkit as fk
    >>> kept = fk.canonical_scores("unfair", index="cfi", sizes=(100, 1000, 2000))
    >>> kept["pairs"].sizes["pair"]
    6200
    """
    require_one_of("index", index, SYSTEMS)
    require_one_of("kind", kind, SYSTEMS[index])
    n_groups = len(sizes) if isinstance(sizes, (list, tuple)) else 0
    require(2 <= n_groups <= 3, f"sizes must be two or three whole numbers, got {sizes!r}")
    for size in sizes:
        require_whole("sizes", size, 2)
    moments = np.reshape(SYSTEMS[index][kind], (-1, 2))  # of genuine, then of impostor scores
    n = np.repeat(sizes, 2)
    scores = []
    for law, size, child in zip(moments, n, seed_sequence(seed).spawn(len(n))):
        quantiles = np.random.default_rng(child).random(size)
        scores.append(beta_law(*law).ppf(quantiles))
    genuine = np.repeat([True, False] * n_groups, n)
    labels = [f"group {k + 1}" for k in range(n_groups)]
    return pairs(np.concatenate(scores), genuine, group=np.repeat(np.repeat(labels, 2), n))


def beta_law(mean, sd):
    """The Beta distribution with this mean and standard deviation."""
    from scipy import stats  # slow to import, and only here

    total = mean * (1 - mean) / sd**2 - 1
    return stats.beta(mean * total, (1 - mean) * total)
