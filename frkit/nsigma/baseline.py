"""What N-Sigma prints where nothing lies between the groups: people dealt to the groups at random."""

import numpy as np
import xarray as xr

from frkit.base import IDENTITY, PAIR, PROBE, REFERENCE, UNKNOWN, require
from frkit.evaluation.evaluate import checked_scores
from frkit.faces.labels import attributes_of
from frkit.nsigma.statistics import n_sigma, stacked
from frkit.scores.groups import people

DEAL, DEALT = "deal", "dealt_group"


def floor(scores: xr.DataArray, *, by: str | list[str], deals: int = 20, seed: int = 0, **options) -> xr.Dataset:
    """N, SP and EOP of groups that are alike: the people are dealt anew to groups of the same sizes.

    Dealt groups differ by chance alone, yet SP and EOP stay below 1, and |N| above 0: the reference is the best
    group of these data, so all others look worse (the winner's curse). An estimate within this range is no sign
    of unfairness.

    Parameters
    ----------
    scores : score tensor over ([model,] probe, reference); a list of pairs cannot be dealt, because pairs across
        groups are absent from most lists.
    by : attribute, or several to cross; it must be a property of the identity. People without label stay out.
    deals : how often people are dealt, at least 1.
    seed : seed of the deals and of the subsets, fresh for each deal.
    options : further options of `n_sigma`.

    Returns
    -------
    xr.Dataset : the variables of `n_sigma` over deal in front.

    Raises
    ------
    InputError : a list of pairs; no deal; as in `n_sigma`.

    References
    ----------
    DeAlcala et al. (2023), eq. 3, 4 and 6, under the hypothesis of equal groups.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> found = fk.nsigma.floor(scores, by="group", deals=3, subsets=20, fpr=0.1)
    >>> bool((found.n_absolute.max("group") > 0).all())
    True
    """
    scores = checked_scores(scores)
    require(
        PAIR not in scores.dims, "a list of pairs cannot be dealt to groups: most lists hold no pairs across groups"
    )
    require(isinstance(deals, int | np.integer) and deals >= 1, f"deals must be a whole number above 0, got {deals!r}")
    one = scores.isel(model=0) if "model" in scores.dims else scores
    names, labels = _label_of_identity(one, by)
    whole = isinstance(seed, int | np.integer) and seed >= 0
    require(whole, f"seed must be a whole number of at least 0, got {seed!r}")
    each = []
    for child in np.random.SeedSequence(seed).spawn(deals):
        rng = np.random.default_rng(child)
        dealt = dict(zip(names, rng.permutation(labels), strict=True))
        sides = {
            f"{side}_{DEALT}": (side, [dealt.get(k, UNKNOWN) for k in one[f"{side}_{IDENTITY}"].values])
            for side in (PROBE, REFERENCE)
        }
        each.append(n_sigma(scores.assign_coords(sides), by=DEALT, seed=int(rng.integers(2**32)), **options))
    return stacked(each, DEAL, np.arange(deals))


def _label_of_identity(scores: xr.DataArray, by) -> tuple[np.ndarray, np.ndarray]:
    """Labelled identities, and their groups."""
    who = people(scores, attributes_of(by), "error")
    known = who.group != UNKNOWN
    names, first = np.unique(who.identity[known], return_index=True)
    return names, who.group[known][first]
