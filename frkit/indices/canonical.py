"""Systems whose fairness is known: scores drawn from Beta distributions, and groups that lose part of their people."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from scipy.stats import beta

from frkit.base import (
    GROUP,
    IDENTITY,
    PAIR,
    PROBE,
    REFERENCE,
    SCORE_BIN,
    require,
    require_one_of,
    require_whole,
)
from frkit.scores.groups import checked_scores, labels_of_sides
from frkit.scores.pairs import pairs

# Figure of the paper -> kind -> (genuine mean, genuine sd, impostor mean, impostor sd) of three groups. The paper
# prints the resulting indices only; these give nearly the same ones for 1,000 scores of each kind in a group.
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
SYSTEMS = {
    "sfi": {
        kind: [((1 + z) / 2, 0.1, (1 - z) / 2, 0.1) for z in three]
        for kind, three in SEPARATIONS.items()
    },
    "cfi": {kind: [(0.7, z / 2, 0.3, z / 2) for z in three] for kind, three in SPREADS.items()},
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

    Scores follow Beta distributions, which live on [0, 1] and whose means and standard deviations are chosen.

    Parameters
    ----------
    kind : "fair", "unfair" or "highly unfair".
    index : what differs between the groups: "sfi" the separation (Fig. 3), "cfi" the spread (Fig. 4), "dfi" the
        place of all scores (Fig. 5).
    sizes : genuine scores, and as many impostor scores, of each of up to three groups; the paper takes
        (1000, 1000, 1000) and (100, 1000, 2000).
    seed : whole number; a group's first scores are the same whatever its size and that of the others.

    Returns
    -------
    xr.Dataset : a pair table with the attribute `group` ("group 1" and so on); scores in [0, 1], so
        score_map="identity". No person is behind the scores: every pair is independent of the others.

    Raises
    ------
    InputError : an unknown kind or index, fewer than two or more than three sizes, sizes below 2.

    References
    ----------
    Kotwal & Marcel (2022), Figs. 1 and 3-5, Tables 1-3, whose distributions are not given in numbers.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.canonical_scores("unfair", index="cfi", sizes=(100, 1000, 2000)).sizes["pair"]
    6200
    """
    system, seed = _system(kind, index, sizes), require_whole("seed", seed, 0)
    scores, labels = [], []
    generators = [
        np.random.default_rng(child)
        for child in np.random.SeedSequence(seed).spawn(2 * len(system))
    ]
    for g, (four, size) in enumerate(zip(system, sizes, strict=True)):
        for k, (mean, sd) in enumerate((four[:2], four[2:])):
            scores.append(beta(*shape(mean, sd)).ppf(generators[2 * g + k].random(size)))
            labels.append(np.full(size, f"group {g + 1}"))
    genuine = np.repeat(np.tile([True, False], len(sizes)), np.repeat(sizes, 2))
    return pairs(np.concatenate(scores), genuine, **{GROUP: np.concatenate(labels)})


def canonical_population(
    kind: str = "fair",
    *,
    index: str = "sfi",
    sizes: Sequence[int] = (1000, 1000, 1000),
    bins: int = 100,
) -> xr.Dataset:
    """Exact moments and histograms of the distributions that `canonical_scores` draws from.

    Parameters
    ----------
    kind, index, sizes : as in `canonical_scores`; the sizes decide about the weights only.
    bins : equal bins on [0, 1], at least 2.

    Returns
    -------
    xr.Dataset : the variables of an evaluation of whole distributions, over group and (score_bin, group); measures
        such as "sfi_normal" can be applied to it.

    Raises
    ------
    InputError : as `canonical_scores`.

    Examples
    --------
    >>> import frkit as fk
    >>> exact = fk.indices.canonical_population("fair", index="dfi")
    >>> float(fk.measures.measure("dfi_normal")(exact))
    1.0
    """
    system = np.array(_system(kind, index, sizes))
    require(bins >= 2, f"bins must be at least 2, got {bins}")
    edges, data = np.linspace(0, 1, bins + 1), {"images_group": np.multiply(sizes, 2)}
    for k, word in enumerate(("genuine", "impostor")):
        mean, sd = system[:, 2 * k], system[:, 2 * k + 1]
        masses = np.diff(beta(*shape(mean, sd)).cdf(edges[:, None]), axis=0)
        data |= {
            f"{word}_mean_group": mean,
            f"{word}_sd_group": sd,
            f"{word}_pairs_group": np.array(sizes),
        }
        data[f"{word}_histogram_group"] = masses
    dims = {
        name: ((SCORE_BIN, GROUP) if values.ndim == 2 else GROUP, values)
        for name, values in data.items()
    }
    names = [f"group {g + 1}" for g in range(len(system))]
    return xr.Dataset(dims, coords={GROUP: names, SCORE_BIN: (edges[1:] + edges[:-1]) / 2})


def shape(mean, sd) -> tuple:
    """Both parameters of the Beta distribution with this mean and standard deviation."""
    total = mean * (1 - mean) / sd**2 - 1
    return mean * total, (1 - mean) * total


def _system(kind: str, index: str, sizes: Sequence[int]) -> list[tuple]:
    """The distributions of the groups asked for."""
    require_one_of("index", index, SYSTEMS)
    require_one_of("kind", kind, SYSTEMS[index])
    few = isinstance(sizes, (list, tuple, np.ndarray)) and 2 <= len(sizes) <= 3
    whole = few and all(isinstance(size, (int, np.integer)) and size >= 2 for size in sizes)
    require(whole, f"sizes must be two or three whole numbers from 2, got {sizes!r}")
    return SYSTEMS[index][kind][: len(sizes)]


def thinned(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str],
    keep: Mapping[str, float],
    seed: int = 0,
) -> xr.DataArray:
    """Keep a share of some groups' people at random, so that groups become unequal.

    Parameters
    ----------
    scores : symmetric score tensor or pair table. Of a pair table without people, scores are kept.
    by : attribute(s) of the groups.
    keep : mapping of group to the share of its people that stay, in (0, 1].
    seed : the order in which people leave: a smaller share is a part of a larger one.

    Returns
    -------
    xr.DataArray : part of the scores, as lazy as they were.

    Raises
    ------
    InputError : a share outside (0, 1], an unknown group or attribute.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.canonical_scores("fair", sizes=[500, 500])
    >>> fk.indices.thinned(scores, by="group", keep={"group 1": 0.1}).sizes["pair"]
    1100
    """
    scores = checked_scores(scores)
    dim = PAIR if PAIR in scores.dims else PROBE
    group, _ = labels_of_sides(scores, by)
    owner = f"{PROBE}_{IDENTITY}"
    unit = (
        scores[owner].values.astype(str) if owner in scores.coords else np.arange(scores.sizes[dim])
    )
    stays = np.ones(len(group), bool)
    rng = np.random.default_rng(seed)
    for name, share in sorted(keep.items()):
        require(0 < share <= 1, f"keep must hold shares in (0, 1], got {share!r} for {name!r}")
        mine = np.flatnonzero(group == name)
        require(
            len(mine) > 0, f"no group is called {name!r}; there are {', '.join(np.unique(group))}"
        )
        people = rng.permutation(np.unique(unit[mine]))
        stays[mine] = np.isin(unit[mine], people[: max(1, round(share * len(people)))])
    at = np.flatnonzero(stays)
    return scores.isel({PAIR: at} if dim == PAIR else {PROBE: at, REFERENCE: at})
