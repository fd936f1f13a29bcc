"""Exact score distributions of a mixture: moments in closed form, histograms from exact rates."""

import numpy as np
import xarray as xr

from frkit.base import require, require_whole
from frkit.vmf.densities import mean_resultants
from frkit.vmf.population import groups_of_mixture

LARGEST_MASS_ERROR = 1e-9  # of a bin: the error that the impostor series may have


def population_distributions(mix, per_identity: int, *, by: str, bins: int = 100) -> xr.Dataset:
    """Exact moments and histograms of the scores of each group, in the form of an evaluation.

    All pairs weigh the same and every identity has as many images, so each identity and each pair
    of identities has the same share: the values are what `evaluate(..., weighting="pair",
    histogram=bins)` estimates.

    Parameters
    ----------
    mix : Mixture
    per_identity : int >= 2
        Images of each identity: they decide how many genuine and impostor pairs there are.
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
        concentrations for which the series is not precise enough.

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
    edges = np.linspace(-1, 1, require_whole("bins", bins, 2) + 1)
    inner = edges[1:-1]
    centres = (edges[1:] + edges[:-1]) / 2
    groups = []
    for members in groups_of_mixture(mix, by)[1:]:
        above, error = members.impostors.survival(inner)
        require(
            bool(error.max() <= LARGEST_MASS_ERROR),
            f"the mass of a bin may be wrong by {error.max():.2g}: use smaller concentrations or "
            "fewer bins",
        )
        genuine_masses = _masses(members.genuine.frr(inner))
        impostor_masses = _masses(1 - above.clip(0, 1))
        n = float(len(members.concentrations))
        values = {
            "genuine_histogram": ("score_bin", genuine_masses),
            "impostor_histogram": ("score_bin", impostor_masses),
            "images": n * per_identity,
            "genuine_pairs": n * (per_identity * (per_identity - 1) / 2),
            "impostor_pairs": n * (n - 1) / 2 * per_identity**2,
            **_moments(members.directions, members.concentrations),
        }
        named = {f"{name}_group": value for name, value in values.items()}
        groups.append(xr.Dataset(named, {"score_bin": centres, "group": members.name}))
    return xr.concat(groups, "group").transpose("score_bin", "group")


def _masses(below):
    """Masses of the bins, from those below their inner edges; rounding makes none less than 0."""
    return np.diff(below, prepend=0.0, append=1.0).clip(0)


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
    along_mean = (across + excess) ** 2
    genuine_square = np.mean(along_mean + (dim - 1) * across**2)

    # sums over ordered pairs of identities: over all pairs, less those of an identity with itself
    n_pairs = n * (n - 1)
    centre = length @ directions
    impostor_mean = (centre @ centre - np.sum(length**2)) / n_pairs
    across_across = across.sum() ** 2 - np.sum(across**2)
    across_excess = across.sum() * excess.sum() - across @ excess
    scatter = (directions * excess[:, None]).T @ directions
    excess_excess = np.sum(scatter**2) - np.sum(excess**2)
    square_sum = dim * across_across + 2 * across_excess + excess_excess
    impostor_square = square_sum / n_pairs

    return {
        "genuine_mean": genuine_mean,
        "genuine_sd": np.sqrt(genuine_square - genuine_mean**2),
        "impostor_mean": impostor_mean,
        "impostor_sd": np.sqrt(impostor_square - impostor_mean**2),
    }
