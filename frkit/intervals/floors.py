"""The fair floor: what a disparity measure would print for a perfectly fair model, on these data.

Three ways to such a model: binomial draws of equal rates with the groups' effective numbers of
comparisons; where other things than rates are read, replicates whose group rates are divided by
their centre (`made_fair`); and people dealt to groups at random (`deal`), for whole score
distributions and for N-Sigma.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import (
    GENUINE,
    GROUP,
    IDENTITY,
    IMAGE,
    MODEL,
    PAIR,
    PROBE,
    REFERENCE,
    REPLICATE,
    SCORE_BIN,
    UNKNOWN,
    InputError,
    require,
    require_inside,
)
from frkit.evaluation.evaluate import evaluate_parts
from frkit.intervals.bands import AnyMeasure, quantiles
from frkit.intervals.contributions import NEW_PEOPLE
from frkit.intervals.equality import equal_draws, lines_of
from frkit.intervals.reading import attributes, warn_of, with_resolved
from frkit.measures.registry import Measure
from frkit.measures.registry import measure as find_measure
from frkit.scores.groups import People, labels_of_sides, people

RATES = (
    "far_group",
    "frr_group",
    "far_cross",
    "eer_group",
    "impostor_sd_group",
    "genuine_sd_group",
)
PLACES = ("eer_threshold_group", "impostor_mean_group", "genuine_mean_group")
DEAL = "deal"
DEALT = "dealt"  # the node of an evaluation whose people, or scores, were dealt to groups
TIE = 1e-12  # a floor this close to the estimate reaches it
SIZES = {  # what `p` is worth as a test
    "rates": "the chi-square test of equal rates (Rao & Scott 1984)",
    "replicates": "as a test not counted: permutation_test is exact, for new people",
    "people": "deals people to groups at random: exact where people could change groups",
    "scores": "deals scores to groups at random: liberal where pairs share people",
}


def fair_floor(
    evaluation: xr.DataTree, measure: AnyMeasure, *, target: str | None = None, level: float = 0.95
) -> xr.Dataset:
    """Show what a perfectly fair model would print: the noise floor of a disparity measure.

    A disparity cannot fall below its fair value, so noise alone lifts it. Equal rates of all
    groups, with the groups' effective numbers of comparisons, are drawn 1,000 times from binomials:
    the measure of these draws is the floor. `p` is that of the chi-square test of equal rates, as
    in `band`. What is no rate comes from replicates, divided by their own centre and multiplied by
    the mean over groups. For SFI, CFI and DFI, which compare whole distributions, the people
    themselves are dealt to groups of the same sizes at random (the shuffle baseline); only an
    evaluation by `indices.evaluate` contains such deals.

    Parameters
    ----------
    evaluation : what `evaluate(..., by=...)` or `indices.evaluate` returned.
    measure : a disparity measure: a registered name such as "frr_max_geomean", or one registered by
        you with `fair=`. AUCs are made fair through 1 - AUC; means of scores and thresholds by a
        shift.
    target : "new people" (default) or "these people", as in `band`.
    level : the quantile of the floor that is given as `limit`, in (0, 1).

    Returns
    -------
    xr.Dataset
        `estimate`, `median` and `limit` (quantiles of the floor, away from the fair value), `p`,
        `n_nonfinite` (draws of the floor that are not finite) and `resolved`, over the measure's
        own dimensions; with effective numbers `n_effective`, that of all groups together. Infinite
        draws count as the largest, NaN are left out. attrs["size"] says what `p` is worth as a
        test, which `permutation_test` makes exact.

    Raises
    ------
    InputError
        The measure has no fair value, there are no replicates or deals where these are read, an
        unknown target, or a level outside (0, 1).

    Warns
    -----
    DataWarning
        As `band`.

    References
    ----------
    The same idea as the floor of SP (DeAlcala et al. 2023) and the shuffle baseline of DFI.

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.vmf.mixture(20, 16, kappa=(10, 20), seed=0).rotated_copies()
    >>> scores = fk.score_tensor(fair.sample(per_identity=6))
    >>> ev = fk.evaluate(scores, far=[0.02], by="group")
    >>> bool(fk.fair_floor(ev, "frr_max_min").p[0] > 0.05)
    True
    """
    chosen = find_measure(measure)
    require_inside("level", level, 0, 1)
    require(
        chosen.fair is not None,
        f"{chosen.name!r} has no fair value, so it has no floor; register a disparity measure with "
        "fair=",
    )
    known = isinstance(evaluation, xr.DataTree) and "empirical" in evaluation.children
    require(known, "this is no evaluation: pass what evaluate or indices.evaluate returned")
    data = evaluation["empirical"].to_dataset()
    estimate = chosen(data)  # says what it lacks
    target = NEW_PEOPLE if target is None else target
    about, more = None, {}
    if chosen.dealt:
        require(
            DEALT in evaluation.children,
            f"the floor of {chosen.name!r} deals people to groups at random, which needs the "
            "scores: make the evaluation with fk.indices.evaluate(scores, by=..., deals=200)",
        )
        draws, size = chosen(evaluation[DEALT].to_dataset()), evaluation[DEALT].attrs["dealt"]
    elif "people" in evaluation.children and lines_of(chosen, data):
        draws, more = equal_draws(evaluation, chosen, target)
        about, size = target, "rates"
    else:
        draws, size = _of_fair(evaluation, chosen), "replicates"
    result = against(estimate, draws, chosen.fair, level).assign(more)
    result = with_resolved(result, chosen, evaluation)
    result.attrs = attributes(evaluation, chosen, "fair floor", level, about)
    result.attrs["size"] = SIZES[size]
    warn_of(evaluation, chosen, result)
    return result


def _of_fair(evaluation: xr.DataTree, chosen: Measure) -> xr.DataArray:
    """The measure of replicates of a model whose groups are all alike."""
    require(
        "replicates" in evaluation.children,
        f"the floor of {chosen.name!r} needs replicates: evaluate(..., resampling=Resampling(...))",
    )
    fair = made_fair(
        *(evaluation[node].to_dataset() for node in ("empirical", "vstatistic", "replicates"))
    )
    require(
        set(fair.data_vars) & {*RATES, *PLACES, "auc_group"},
        "a floor needs groups: evaluate with by='the name of an attribute'",
    )
    try:
        return chosen(fair)
    except (KeyError, AttributeError) as error:
        known = ", ".join((*RATES, *PLACES, "auc_group"))
        message = f"{chosen.name!r} reads {error.args[0]}, which cannot be made fair; a floor is known for {known}"
        raise InputError(message) from error


def made_fair(data: xr.Dataset, centre: xr.Dataset, replicates: xr.Dataset) -> xr.Dataset:
    """Replicates in which groups no longer differ: what has no groups is kept, what cannot be made fair left out."""
    kept = {name: value for name, value in replicates.items() if GROUP not in value.dims}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name in set(replicates.data_vars) & set(
            RATES
        ):  # a group without an error has no noise to be seen: NaN
            fair = replicates[name] / centre[name].where(centre[name] > 0) * _common(data[name])
            kept[name] = fair if "_sd_" in name else fair.clip(max=1)
        for name in set(replicates.data_vars) & set(PLACES):
            kept[name] = replicates[name] - centre[name] + _common(data[name])
        if "auc_group" in replicates:
            ratio = (1 - replicates.auc_group) / (1 - centre.auc_group)
            kept["auc_group"] = 1 - ratio * (1 - _common(data.auc_group))
        if "frr_group" in kept and "frr" in kept:
            kept["frr"] = replicates.frr / centre.frr * _common(data.frr_group)
    return xr.Dataset(kept, coords=replicates.coords)


def _common(rates: xr.DataArray) -> xr.DataArray:
    """One rate for all groups."""
    return rates.mean([dim for dim in rates.dims if str(dim).endswith(GROUP)])


def against(
    estimate: xr.DataArray, replicates: xr.DataArray, fair: float, level: float
) -> xr.Dataset:
    """Quantiles of the floor, counted away from the fair value, and how much of it reaches the estimate."""
    away = -1.0 if float((replicates - fair).where(np.isfinite(replicates)).sum()) < 0 else 1.0
    distance = away * (replicates - fair)
    median, limit = (fair + away * end for end in quantiles(distance, (0.5, level)))
    known = distance.notnull()
    reached = ((distance >= away * (estimate - fair) - TIE) & known).sum(REPLICATE)
    n = known.sum(REPLICATE)
    p = ((1 + reached) / (1 + n)).where(estimate.notnull() & (n > 0))
    n_nonfinite = (~np.isfinite(replicates)).sum(REPLICATE)
    return xr.Dataset(
        {"estimate": estimate, "median": median, "limit": limit, "p": p, "n_nonfinite": n_nonfinite}
    )


# --- people dealt to groups ----------------------------------------------------------------------------------


def deal(code: np.ndarray, rng: np.random.Generator, kind: np.ndarray | int = 0) -> np.ndarray:
    """Codes of groups, dealt anew within each kind; who is in no group (-1) stays there."""
    dealt, kind = code.copy(), np.where(code < 0, -1, kind)
    for same in np.unique(kind[code >= 0]):
        dealt[kind == same] = rng.permutation(code[kind == same])
    return dealt


def generators(deals: int, seed: int) -> list[np.random.Generator]:
    """One generator for each deal: the first of many deals are the deals of few."""
    return [
        np.random.Generator(np.random.SFC64(child))
        for child in np.random.SeedSequence((seed, 1)).spawn(deals)
    ]


def grouped_people(who: People) -> tuple[np.ndarray, np.ndarray]:
    """The person of each image, as a number, and the group of each person, as a code; -1 is no group."""
    group = who.group[np.unique(who.identity, return_index=True)[1]]
    return who.identity_code, np.where(group == UNKNOWN, -1, np.searchsorted(who.groups, group))


@dataclass(frozen=True, eq=False)
class PeopleDealt:
    """Deals in the form of a resampling scheme: replicate d K + g holds the people of group g in deal d, once.

    owner: the person of each image, (image,). dealt: the group of each person in each deal, (deal, person). together:
    the groups of each of K replicates, where these are not the groups one by one.
    """

    owner: np.ndarray
    dealt: np.ndarray
    seed: int
    together: tuple[tuple[int, ...], ...] | None = None
    scheme: ClassVar[str] = "deal"
    strata: ClassVar[None] = None

    @property
    def n(self) -> int:
        """Replicates."""
        return len(self.dealt) * len(self.groups)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The groups of each replicate of a deal."""
        return self.together or tuple((group,) for group in range(int(self.dealt.max()) + 1))

    def target(self, _n_identities: int) -> str:
        """What these replicates are about, in words."""
        return "groups dealt at random"

    def weights(self, identity, image=None, strata=None, person=None) -> xr.Dataset:
        """Counts of every replicate, as `Resampling.weights` gives them, for the same images in the same order."""
        names, first = np.unique(identity, return_index=True)
        group = self.dealt[:, self.owner[first]]
        held = np.stack([np.isin(group, groups) for groups in self.groups], 1)
        counts = held.reshape(self.n, len(names)).astype(np.uint16)
        images = np.ones((self.n, len(identity)), np.uint16)
        dims = {
            "identity_count": ((REPLICATE, IDENTITY), counts),
            "image_count": ((REPLICATE, IMAGE), images),
        }
        return xr.Dataset(dims, coords={IDENTITY: names})


def deal_people(
    scores: xr.DataArray, by, varying: str, deals: int, seed: int, **options
) -> xr.Dataset:
    """Tallies of all deals of a tensor, from one sweep: the variables of a node over (replicate, group)."""
    who = people(scores, by, varying)
    owner, code = grouped_people(who)
    dealt = np.stack([deal(code, rng) for rng in generators(deals, seed)])
    found = evaluate_parts(
        who.relabel(scores), resampling=PeopleDealt(owner, dealt, seed), **options
    )
    nodes = found["replicates"].to_dataset()
    tallies = nodes[
        [name for name in nodes if name.split("_")[0] in ("genuine", "impostor", "images")]
    ]
    pairs = pd.MultiIndex.from_product([range(deals), who.groups], names=[DEAL, GROUP])
    by_group = tallies.assign_coords(
        xr.Coordinates.from_pandas_multiindex(pairs, REPLICATE)
    ).unstack(REPLICATE)
    return by_group.rename({DEAL: REPLICATE} | {name: f"{name}_group" for name in tallies})


def deal_pairs(
    scores: xr.DataArray, by, deals: int, seed: int, bins: int, images: xr.DataArray
) -> xr.Dataset:
    """Tallies of all deals of a pair list: a pair goes with the person of its probe, or, without people, alone.

    Without people every group keeps its numbers of genuine and of impostor scores. images: of each group, which stay.
    """
    labels = labels_of_sides(scores, by)
    keep = (labels[0] == labels[1]) & (labels[0] != UNKNOWN)
    if PROBE in scores.coords:
        keep &= scores[PROBE].values != scores[REFERENCE].values
    scores = scores.isel({PAIR: keep})
    groups, code = np.unique(labels[0][keep], return_inverse=True)
    genuine, owner = scores[GENUINE].values.astype(bool), f"{PROBE}_{IDENTITY}"
    if owner in scores.coords:
        unit, kind = np.unique(scores[owner].values, return_inverse=True)[1], 0
    else:
        unit, kind = np.arange(len(code)), genuine.astype(int)
    code_of_unit = np.zeros(unit.max() + 1, int)
    code_of_unit[unit] = code
    dims = {name: (MODEL, GROUP) for name in ("pairs", "mean", "sd")} | {
        "histogram": (MODEL, SCORE_BIN, GROUP)
    }
    kinds, models = (
        {"genuine": genuine, "impostor": ~genuine},
        np.atleast_2d(scores.transpose(..., PAIR).values),
    )

    def tallied(code: np.ndarray) -> xr.Dataset:
        found = {}
        for kind, own in kinds.items():
            each = zip(
                *(_of_kind(score[own], code[own], len(groups), bins) for score in models),
                strict=True,
            )
            found |= {
                f"{kind}_{name}_group": (dims[name], np.array(values))
                for name, values in zip(dims, each)
            }
        return xr.Dataset(found)

    each = [tallied(deal(code_of_unit, rng, kind)[unit]) for rng in generators(deals, seed)]
    tallies = xr.concat(each, REPLICATE).assign_coords(
        {GROUP: groups, SCORE_BIN: (np.arange(bins) + 0.5) / bins}
    )
    tallies = (
        tallies.assign_coords({MODEL: scores[MODEL]})
        if MODEL in scores.dims
        else tallies.isel({MODEL: 0})
    )
    return tallies.assign(images_group=images)


def _of_kind(
    score: np.ndarray, code: np.ndarray, n_groups: int, bins: int
) -> tuple[np.ndarray, ...]:
    """The four tallies of the genuine, or of the impostor, pairs of one model."""
    many = np.bincount(code, minlength=n_groups)
    cell = np.minimum((score * bins).astype(int), bins - 1) * n_groups + code
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, square = (np.bincount(code, score**power, n_groups) / many for power in (1, 2))
        histogram = np.bincount(cell, minlength=bins * n_groups).reshape(bins, n_groups) / many
    return many.astype(float), mean, np.sqrt(np.maximum(square - mean**2, 0)), histogram
