"""Exact score distributions of a mixture: moments in closed form, histograms from exact rates."""

import numpy as np
import xarray as xr

from frkit.base import GROUP, SCORE_BIN, require, require_whole
from frkit.vmf.densities import mean_resultants
from frkit.vmf.impostors import SeriesError
from frkit.vmf.population import of_population

MOST_BINS = 100_000
LARGEST_MASS_ERROR = 1e-9  # of a bin: the error that the impostor series may have


def distributions(mix, per_identity: int, *, by: str, bins: int = 100) -> xr.Dataset:
    """Exact moments and histograms of the scores of each group, in the form of an evaluation.

    All pairs weigh the same and every identity has as many images, so each identity and each pair
    of identities has the same share: the values are what `evaluate(..., weighting="pair",
    histogram=bins)` estimates.

    Parameters
    ----------
    mix : Mixture
    per_identity : int >= 2
        Images of each identity: they decide how many genuine pairs stand beside the impostor pairs.
    by : str
        Attribute of the mixture that defines the groups; impostors are of the same group.
    bins : int >= 2
        Equal bins on [-1, 1].

    Returns
    -------
    xr.Dataset
        For kind in genuine, impostor: `<kind>_mean_group`, `<kind>_sd_group`,
        `<kind>_pairs_group` over group, `<kind>_histogram_group` over (score_bin, group), sum 1;
        and `images_group`. Measures of whole distributions, `sfi_normal` say, can be applied to
        it.

    Raises
    ------
    InputError
        For fewer than two images or bins, an unknown attribute, a group of one identity, or
        concentrations that the series cannot do.

    References
    ----------
    Mardia & Jupp (2000), Directional Statistics, 9.3.2: E<X, mu> = A_p(kappa), and E X X' = (A /
    kappa) I + (1 - p A / kappa) mu mu'.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> truth = mix.population_distributions(10, by="group")
    >>> float(fk.measures.measure("sfi_normal")(truth).round(12))
    1.0
    """
    per_identity = require_whole("per_identity", per_identity, 2)
    require_whole("bins", bins, 2)
    require(bins <= MOST_BINS, f"bins must be at most {MOST_BINS}, got {bins}")
    edges = np.linspace(-1, 1, bins + 1)
    members = [np.flatnonzero(mix.labels(by) == name) for name in np.unique(mix.labels(by))]

    def of_groups(population):
        return _histograms(population, edges).assign(
            _moments_and_counts(mix, members, per_identity)
        )

    return of_population(mix, by, None, of_groups)


def _histograms(population, edges):
    """Share of the genuine and of the impostor scores in every bin, by group."""
    genuine = [_bin_masses(scores.frr(edges[1:-1])) for scores in population.genuine[1:]]
    impostor = [_impostor_masses(scores, edges) for scores in population.impostors[1:]]
    data = {
        "genuine_histogram_group": ((SCORE_BIN, GROUP), np.transpose(genuine)),
        "impostor_histogram_group": ((SCORE_BIN, GROUP), np.transpose(impostor)),
    }
    centres = (edges[1:] + edges[:-1]) / 2
    return xr.Dataset(data, coords={GROUP: population.groups, SCORE_BIN: centres})


def _bin_masses(below):
    """Mass of every bin, from the distribution function at the inner edges."""
    masses = np.diff(np.concatenate([[0.0], below, [1.0]]))
    return np.maximum(masses, 0)  # rounding makes none negative


def _impostor_masses(scores, edges):
    """Mass of the impostor scores in every bin."""
    above, error = scores.survival(edges[1:-1])
    if not error.max() <= LARGEST_MASS_ERROR:
        raise SeriesError(
            f"the mass of a bin may be wrong by {error.max():.2g}: use smaller concentrations or "
            "fewer bins"
        )
    return _bin_masses(1 - np.clip(above, 0, 1))


def _moments_and_counts(mix, members, per_identity):
    """Moments of scores, and numbers of images and pairs, of groups with these members."""
    people = np.array([len(rows) for rows in members], float)
    values = {
        "images": people * per_identity,
        "genuine_pairs": people * (per_identity * (per_identity - 1) / 2),
        "impostor_pairs": people * (people - 1) / 2 * per_identity**2,
    }
    moments = [_moments(mix.mean_directions[rows], mix.concentrations[rows]) for rows in members]
    for name in moments[0]:
        values[name] = [of_group[name] for of_group in moments]
    return {f"{name}_group": (GROUP, of_groups) for name, of_groups in values.items()}


def _moments(directions, kappa):
    """Mean and standard deviation of the scores; pairs of identities weigh the same.

    With A = A_p(kappa), E X = A mu and E X X' = across I + excess mu mu', where across = A / kappa
    and p across + excess = 1. Then E <X, Y> = <E X, E Y> and E <X, Y>^2 = tr(E X X' E Y Y').
    """
    n, dim = directions.shape
    length = mean_resultants(kappa, dim)
    across = length / kappa
    excess = 1 - dim * across

    genuine_mean = np.mean(length**2)
    genuine_square = np.mean((across + excess) ** 2 + (dim - 1) * across**2)

    # sums over ordered pairs of identities: over all pairs, less those of an identity with itself
    n_pairs = n * (n - 1)
    centre = length @ directions
    impostor_mean = (centre @ centre - (length**2).sum()) / n_pairs
    across_across = across.sum() ** 2 - (across**2).sum()
    across_excess = across.sum() * excess.sum() - (across * excess).sum()
    scatter = (directions * excess[:, None]).T @ directions
    excess_excess = (scatter**2).sum() - (excess**2).sum()
    impostor_square = (dim * across_across + 2 * across_excess + excess_excess) / n_pairs

    return {
        "genuine_mean": genuine_mean,
        "genuine_sd": np.sqrt(genuine_square - genuine_mean**2),
        "impostor_mean": impostor_mean,
        "impostor_sd": np.sqrt(impostor_square - impostor_mean**2),
    }
