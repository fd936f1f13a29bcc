"""Exact score distributions of a von Mises-Fisher mixture: moments in closed form, histograms from exact rates."""

import numpy as np
import xarray as xr

from frkit.base import GROUP, SCORE_BIN, require
from frkit.vmf.densities import mean_resultants
from frkit.vmf.impostors import ImpostorScores, SeriesError
from frkit.vmf.population import answered

LARGEST_MASS_ERROR = 1e-9  # of a bin: the error that the impostor series may have


def distributions(mix, per_identity: int, *, by: str, bins: int = 100) -> xr.Dataset:
    """Exact moments and histograms of the cosines of each group, in the form of an evaluation of all pairs.

    All pairs weigh the same and every identity has as many images, so each identity and each pair of identities
    has the same share: the values are what `evaluate(..., weighting="pair", histogram=bins)` estimates.

    Parameters
    ----------
    mix : Mixture
    per_identity : int >= 2
        Images of each identity: they decide how many genuine pairs stand beside the impostor pairs.
    by : str
        Attribute of the mixture whose groups are told apart; impostors are of the same group.
    bins : int >= 2
        Equal bins on [-1, 1].

    Returns
    -------
    xr.Dataset
        For kind in genuine, impostor: `<kind>_mean_group`, `<kind>_sd_group`, `<kind>_pairs_group` over group,
        `<kind>_histogram_group` over (score_bin, group), sum 1; and `images_group`. Measures of whole
        distributions, `sfi_normal` say, can be applied to it.

    Raises
    ------
    InputError
        For fewer than two images or bins, an unknown attribute, a group of one identity, or concentrations
        that the series cannot do.

    References
    ----------
    Mardia & Jupp (2000), Directional Statistics, 9.3.2: E<X, mu> = A_p(kappa), and E X X' = (A / kappa) I +
    (1 - p A / kappa) mu mu'.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> truth = mix.population_distributions(10, by="group")
    >>> float(fk.measures.measure("sfi_normal")(truth).round(12))
    1.0
    """
    require(
        per_identity >= 2,
        f"per_identity must be at least 2, or there is no genuine pair; got {per_identity}",
    )
    require(bins >= 2, f"bins must be at least 2, got {bins}")
    edges = np.linspace(-1, 1, bins + 1)
    return answered(mix, by, None, lambda found: _of_groups(mix, found, per_identity, edges))


def _of_groups(mix, found, per_identity: int, edges: np.ndarray) -> xr.Dataset:
    """Moments and histograms of every group of the population."""
    members = [np.flatnonzero(mix.labels(found.by) == name) for name in found.groups]
    moments = [_moments(mix.mean_directions[m], mix.concentrations[m]) for m in members]
    people = np.array([len(m) for m in members])
    data = {"images_group": people * per_identity}
    data["genuine_pairs_group"] = people * (per_identity * (per_identity - 1) // 2)
    data["impostor_pairs_group"] = people * (people - 1) // 2 * per_identity**2
    for name in moments[0]:
        data[f"{name}_group"] = np.array([one[name] for one in moments])
    data = {name: (GROUP, values.astype(float)) for name, values in data.items()}
    genuine = [_masses(one.frr(edges[1:-1])) for one in found.genuine[1:]]
    impostor = [_impostor_masses(found.cells[g, g], edges) for g in range(len(members))]
    data["genuine_histogram_group"] = ((SCORE_BIN, GROUP), np.transpose(genuine))
    data["impostor_histogram_group"] = ((SCORE_BIN, GROUP), np.transpose(impostor))
    return xr.Dataset(data, coords={GROUP: found.groups, SCORE_BIN: (edges[1:] + edges[:-1]) / 2})


def _masses(below: np.ndarray) -> np.ndarray:
    """Mass of every bin, from the distribution function at the inner edges; rounding makes none negative."""
    return np.maximum(np.diff(np.concatenate([[0.0], below, [1.0]])), 0)


def _impostor_masses(scores: ImpostorScores, edges: np.ndarray) -> np.ndarray:
    """Mass of the impostor scores in every bin."""
    above, error = scores.survival(edges[1:-1])
    if not (worst := error.max()) <= LARGEST_MASS_ERROR:
        raise SeriesError(
            f"the mass of a bin may be wrong by {worst:.2g}: use smaller concentrations or fewer bins"
        )
    return _masses(1 - np.clip(above, 0, 1))


def _moments(mean: np.ndarray, kappa: np.ndarray) -> dict[str, float]:
    """Mean and standard deviation of genuine and impostor cosines, pairs of identities weighing the same.

    With A = A_p(kappa), E X = A mu and E X X' = across I + (along - across) mu mu', where along + (p - 1) across
    = 1 and across = A / kappa. Then E<X, Y> = <E X, E Y> and E<X, Y>² = tr(E X X' E Y Y').
    """
    n, dim = mean.shape
    length = mean_resultants(kappa, dim)
    across = length / kappa
    excess = 1 - dim * across
    genuine = np.mean(length**2), np.mean((across + excess) ** 2 + (dim - 1) * across**2)
    centre = length @ mean
    product = (mean * excess[:, None]).T @ mean
    pairs = n * (n - 1)
    first = (centre @ centre - (length**2).sum()) / pairs
    crossed = dim * (across.sum() ** 2 - (across**2).sum())
    crossed += 2 * (across.sum() * excess.sum() - (across * excess).sum())
    crossed += (product**2).sum() - (excess**2).sum()
    found = {}
    for kind, (one, two) in (("genuine", genuine), ("impostor", (first, crossed / pairs))):
        found |= {f"{kind}_mean": float(one), f"{kind}_sd": float(np.sqrt(two - one**2))}
    return found
