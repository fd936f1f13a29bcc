"""An exact test of "no difference between groups": labels permuted over people, at the data's own thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    FAR_LEVEL,
    GROUP,
    MODEL,
    REFERENCE_GROUP,
    REPLICATE,
    THRESHOLD_LEVEL,
    require,
    require_inside,
)
from frkit.engine.protocol import make_protocol
from frkit.engine.rates import needs_of, tally_pairs
from frkit.evaluation.evaluate import evaluate
from frkit.evaluation.tables import COLUMN, rates_table
from frkit.intervals.bands import AnyMeasure
from frkit.intervals.floors import PeopleDealt, against, deal, generators, grouped_people
from frkit.intervals.reading import with_resolved
from frkit.measures.registry import measure as find_measure
from frkit.measures.registry import rates_read
from frkit.scores.groups import checked_scores, turned

COLUMNS = 1_000  # groups of deals that one sweep adds up
SAME = 1e-9  # relatively: rates of the labels as they are, found in two ways


def permutation_test(
    scores: xr.DataArray,
    measure: AnyMeasure,
    *,
    by: str | list[str],
    far: ArrayLike | None = None,
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    n: int = 999,
    seed: int = 0,
    weighting: ArrayLike | Mapping[str, float] | None = None,
    varying: str = "error",
    level: float = 0.95,
) -> xr.Dataset:
    """Test whether groups differ at all: how often labels dealt to people at random look as unequal as the real ones.

    The test is exact where people could have changed groups, that is, where the groups' people are drawn from one
    population, whatever the number of people, images or errors: under this hypothesis p <= 5 % happens at most 5 % of
    the time, at each level. Thresholds are those of the data, which know no groups; people keep their images together.

    Parameters
    ----------
    scores : a tensor, a matrix, or a list of pairs with identities; with a `model` dim every model.
    measure : a disparity measure of group rates: a registered name such as "frr_max_min", or one registered by you
        with `fair=`, of far_group, frr_group, eer_group and far_cross.
    by : attribute(s) whose groups are compared; people without a label take no part.
    far, threshold, weighting, varying : as in `evaluate`; an attribute must be a property of the person ("split" is
        refused).
    n : deals of the labels; the smallest p is 1 / (n + 1).
    seed : of the deals; the first of many deals are the deals of few.
    level : the quantile of the permuted measure that is given as `limit`, in (0, 1).

    Returns
    -------
    xr.Dataset with `estimate`, `p`, and of the permuted measure `median` and `limit` (away from the fair value) and
    `n_nonfinite`, over the measure's dimensions. Groups without an error have infinite ratios, among the deals as in
    the data, which the test takes as they are.

    Raises
    ------
    InputError : as `evaluate`; the measure has no fair value or reads no group rates; n below 1; labels that vary
        within a person; pairs without identities.

    Warns
    -----
    DataWarning : as `evaluate`.

    References
    ----------
    Good (2005), Permutation, parametric and bootstrap tests of hypotheses; Phipson & Smyth (2010) for 1 / (n + 1).

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> scores = fk.score_tensor(fair.sample(per_identity=6))
    >>> found = fk.permutation_test(scores, "frr_max_difference", by="group", far=[0.1], n=99)
    >>> bool(found.p[0] > 0.05)
    True
    """
    chosen, scores = find_measure(measure), checked_scores(scores)
    require(
        chosen.fair is not None,
        f"{chosen.name!r} has no fair value; take a disparity measure of group rates",
    )
    require(isinstance(n, (int, np.integer)) and n >= 1, f"n must be at least 1 deal, got {n!r}")
    require_inside("level", level, 0, 1)
    require(
        varying != "split",
        "varying='split' makes several people of one, which cannot be dealt one by one",
    )
    evaluation = evaluate(
        scores, far=far, threshold=threshold, by=by, weighting=weighting, varying=varying
    )
    data = evaluation["empirical"].to_dataset()
    names = rates_read(chosen, data)
    require(
        len(names) > 0,
        f"{chosen.name!r} reads no rates of groups: a permutation of the labels cannot change it",
    )
    models = [{MODEL: m} for m in range(scores.sizes[MODEL])] if MODEL in scores.dims else [{}]
    parts = []
    for at in models:
        options = (varying, weighting, n, seed, names)
        parts.append(
            _dealt_rates(scores.isel(at, drop=True), data.isel(at, drop=True), by, options)
        )
    dealt = parts[0] if MODEL not in scores.dims else xr.concat(parts, data[MODEL])
    of_groups = [name for name in data.data_vars if GROUP in data[name].dims]
    dealt = chosen(data.drop_vars(of_groups).assign(dealt))
    result = against(chosen(data), dealt.isel({REPLICATE: slice(1, None)}), chosen.fair, level)
    result = with_resolved(result, chosen, evaluation)
    attrs = {
        "measure": chosen.name,
        "label": chosen.label or chosen.name,
        "method": "permutation of labels",
    }
    attrs |= {
        "n": n,
        "fair": chosen.fair,
        "level": level,
        "by": by if isinstance(by, str) else " & ".join(by),
    }
    return result.assign_attrs(attrs)


def _dealt_rates(scores: xr.DataArray, data: xr.Dataset, by, options: tuple) -> xr.Dataset:
    """Group rates of one model over `replicate`: first of the labels as they are, then of every deal."""
    varying, weighting, n, seed, names = options
    who = make_protocol(scores, by=by, varying=varying, weighting=weighting).images
    owner, code = grouped_people(who)
    require(
        owner.max() > 0,
        "these pairs carry no identities, so that there is nobody to deal labels to",
    )
    dealt = np.stack([code, *(deal(code, rng) for rng in generators(n, seed))])
    n_groups = len(who.groups)
    together = [(g,) for g in range(n_groups)]
    together += list(combinations(range(n_groups), 2)) if "far_cross" in names else []
    step = max(1, COLUMNS // len(together))
    found = []
    for begin in range(0, len(dealt), step):
        draws = PeopleDealt(owner, dealt[begin : begin + step], seed, tuple(together))
        found.append(_rates(scores, data, weighting, draws))
    rates = xr.concat(found, REPLICATE)[list(names)].assign_coords({GROUP: who.groups})
    if "far_cross" in names:
        rates = rates.assign_coords({REFERENCE_GROUP: who.groups})
    for name in names:
        same = np.isclose(
            rates[name].isel({REPLICATE: 0}), data[name], rtol=SAME, atol=1e-15, equal_nan=True
        )
        require(
            bool(same.all()),
            f"labels of {by!r} differ between the images or pairs of a person, so that people cannot be dealt to "
            "groups; say varying='first' or 'most frequent'",
        )
    return rates


def _rates(scores: xr.DataArray, data: xr.Dataset, weighting, draws: PeopleDealt) -> xr.Dataset:
    """Rates of the dealt groups, (replicate, ..., group), at the thresholds of the data."""
    protocol = make_protocol(scores, weighting=weighting, resampling=draws)
    fixed = 0.0 - data.threshold.values if turned(scores) else data.threshold.values
    needs = needs_of(protocol, np.empty(0), fixed, "all")
    tally = tally_pairs(scores, protocol, needs, np.empty(0), False)
    table = rates_table(tally, np.empty(0), fixed, "all").isel({COLUMN: slice(1, -1)})
    n_groups = sum(len(groups) == 1 for groups in draws.groups)
    total = tally.totals.sum(0)[1:-1].reshape(len(draws.dealt), -1)
    line = (REPLICATE, FAR_LEVEL if FAR_LEVEL in data.threshold.dims else THRESHOLD_LEVEL, GROUP)

    def by_deal(name: str) -> np.ndarray:
        values = table[name].values  # (deal and groups, level)
        return np.moveaxis(values.reshape(len(draws.dealt), -1, *values.shape[1:]), 1, -1)

    far, of_groups = by_deal("far"), slice(0, n_groups)
    rates = {
        "far_group": (line, far[..., of_groups]),
        "frr_group": (line, by_deal("frr")[..., of_groups]),
    }
    rates["eer_group"] = ((REPLICATE, GROUP), by_deal("eer")[..., of_groups])
    if len(draws.groups) > n_groups:
        accepted = far * total[:, None]
        cross = np.stack([far[..., of_groups]] * n_groups, -1)
        for place, (g, h) in enumerate(draws.groups[n_groups:], start=n_groups):
            between = accepted[..., place] - accepted[..., g] - accepted[..., h]
            pairs = (total[:, place] - total[:, g] - total[:, h])[:, None]
            cross[..., g, h] = cross[..., h, g] = np.divide(
                between, pairs, where=pairs > 0, out=between * np.nan
            )
        rates["far_cross"] = ((*line, REFERENCE_GROUP), cross)
    return xr.Dataset(rates)
