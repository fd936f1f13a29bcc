"""What equal groups would show: SP, EOP and N with the labels of groups permuted over people."""

from __future__ import annotations

import numpy as np
import xarray as xr

from frkit.base import require, require_whole, seed_sequence
from frkit.data.labels import attributes_of
from frkit.evaluation.sweep import swept
from frkit.intervals.permutation import groups_of_people, permute
from frkit.papers.nsigma.statistics import summarise
from frkit.papers.nsigma.subsets import checked, compared_groups, parts_of_groups, rates_of_groups
from frkit.scores.groups import checked_scores
from frkit.scores.kept import is_list


def floor(
    scores: xr.DataArray,
    *,
    by: str | list[str],
    permutations: int = 20,
    seed: int = 0,
    **options,
) -> xr.Dataset:
    """N, SP and EOP of groups that are alike: labels of groups are permuted over people.

    Such groups differ by chance alone, yet SP and EOP stay below 1, and |N| above 0: the reference
    is the best group of these data, so all others look worse (the winner's curse). An estimate
    within this range is not evidence of unfairness.

    Parameters
    ----------
    scores : xr.DataArray
        Score tensor over ([model,] probe, reference); a list of pairs cannot be used, because
        pairs across groups are absent from most lists.
    by : str or list of str
        Attribute, or several to cross; it must be a property of the identity. People without a
        label are left out.
    permutations : int
        Number of permutations, at least 1.
    seed : int
        Seed of the permutations and of the subsets, fresh for each permutation.
    **options
        Further options of `n_sigma`.

    Returns
    -------
    xr.Dataset
        The variables of `n_sigma`, over `permutation`.

    Raises
    ------
    InputError
        For a list of pairs; as `n_sigma`.

    References
    ----------
    DeAlcala et al. (2023), eq. 3, 4 and 6, under the hypothesis of equal groups.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> result = fk.nsigma.floor(scores, by="group", permutations=3, subsets=20, fpr=0.1)
    >>> bool((result.n_absolute.max("group") > 0).all())
    True
    """
    require_whole("permutations", permutations, 1)
    kept = swept(checked_scores(scores), by=by)
    require(
        not is_list(kept),
        "people of a list cannot change groups: most lists have no pairs across groups",
    )
    kept, images, _ = compared_groups(kept, by, "error")
    person, group = groups_of_people(images)
    tables = []
    for child in seed_sequence(seed).spawn(permutations):
        rng = np.random.default_rng(child)
        # "in no group" comes last
        permuted = permute(group, rng)[person] % (len(images.groups) + 1)
        options["seed"] = int(rng.integers(2**32))
        tables.append(rates_of_groups(parts_of_groups(kept, images, permuted), **options))
    permutation = xr.Variable("permutation", np.arange(permutations))
    rates = checked(xr.concat(tables, permutation, data_vars="all", combine_attrs="override"))
    del rates.attrs["seed"]  # of one permutation
    result = summarise(rates)
    return result.transpose("permutation", ...).assign_attrs(by=" & ".join(attributes_of(by)))
