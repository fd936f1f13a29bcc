"""Who drives the number: each identity's share of the errors, and the pairs behind the worst of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    FAR_LEVEL,
    GROUP,
    IDENTITY,
    MODEL,
    PAIR,
    PROBE,
    THRESHOLD_LEVEL,
    require,
    require_one_of,
    require_whole,
)
from frkit.engine.pairs import ratio, weigh_genuine
from frkit.engine.protocol import Protocol, make_protocol
from frkit.engine.scan import asked_of_list
from frkit.engine.sweep import Tally, sweep
from frkit.evaluation.evaluate import evaluate
from frkit.scores.groups import checked_scores, models_of, turned, with_impostors

KINDS = ("genuine", "impostor")


def contributions(
    scores: xr.DataArray | xr.Dataset,
    *,
    far: ArrayLike | None = None,
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    by: str | list[str] | None = None,
    **options,
) -> xr.Dataset:
    """Share of every identity in FRR and FAR, and the effective number of erring identities.

    An accepted impostor pair belongs half to the identity on either side. Shares of a level add up to 1. The
    effective number 1 / Σ share² is the number of identities that would err if all that err did so equally: where
    it is small, a rate hangs on a few people, or on wrong labels.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        From `score_tensor`, `score_matrix` or `open_scores`, swept twice, block by block; or a list of pairs from
        `pairs` or `open_pairs` that names identities.
    far, threshold : sequence of float, optional
        FAR levels in (0, 1), or fixed thresholds, as in `evaluate`.
    by : str or list of str, optional
        Attribute(s): then `group` is a coordinate of the identities.
    **options
        `weighting`, `impostors` and `varying`, as in `evaluate`.

    Returns
    -------
    xr.Dataset
        `frr_share`, `far_share` and `frr_identity` (the identity's own FRR, NaN with a single image) over (model,)
        far_level or threshold_level, and identity; `frr_effective`, `far_effective`, `threshold`, `far`, `frr` over
        the levels. Shares are NaN where there is no error. Coordinate `images`: images of each identity.

    Raises
    ------
    InputError
        As `evaluate`.

    References
    ----------
    Doddington et al. (1998), Sheep, goats, lambs and wolves.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, kappa=(5, 15), seed=0).sample(4, seed=1))
    >>> who = fk.contributions(scores, far=[0.1])
    >>> float(who.frr_share.sum().round(6))
    1.0
    """
    scores = checked_scores(scores)
    require(f"{PROBE}_{IDENTITY}" in scores.coords, "these pairs carry no identities, so nobody can be named")
    scores, which = with_impostors(scores, options.get("impostors", "all"))
    how = options | {"impostors": which}
    rates = evaluate(scores, far=far, threshold=threshold, by=by, **how)["empirical"].to_dataset()
    parts = [_of_one(*both, by, how) for both in zip(models_of(scores), models_of(rates), strict=True)]
    result = xr.concat(parts, scores[MODEL].variable.astype(str)) if MODEL in scores.dims else parts[0]
    attrs = {"by": "" if by is None else by}
    attrs |= {key: options[key] for key in ("impostors", "varying") if key in options}
    return result.assign_attrs(attrs)


@dataclass(frozen=True, eq=False)
class Errors:
    """What a sweep for the pairs that go wrong is to bring back.

    thresholds: (level,) ascending or not. wanted: (identity,) of whom accepted pairs are listed, at most `limit` of
    them, or None to add up instead. asking: for the scores of genuine pairs.
    """

    protocol: Protocol
    thresholds: np.ndarray
    wanted: np.ndarray | None = None
    limit: int = 0
    asking: bool = True

    def swept(self, scores: xr.DataArray) -> Tally:
        """The errors among all pairs of a tensor, block by block, or among those of a list.

        "weight" (level, identity) of accepted pairs, half to each side, or listed "pairs"; "asked" genuine scores.
        """
        if self.protocol.listed is None:
            return sweep(scores, self, _scan)
        places, tally = self.protocol.listed, self.none()
        self.add(*places.places(places.impostor), scores.values[places.impostor], tally)
        tally.lists["asked"] += asked_of_list(scores.values, self.protocol)
        return tally

    def none(self) -> Tally:
        """The tally of nothing."""
        last = max(int(side.identity.max()) for side in (self.protocol.probe, self.protocol.reference))
        weight = np.zeros((len(self.thresholds), last + 1))
        no_pairs = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
        return Tally({"weight": weight}, {"pairs": [no_pairs], "asked": []})

    def add(self, row: np.ndarray, col: np.ndarray, score: np.ndarray, tally: Tally) -> None:
        """Add the errors among some impostor pairs to a tally, or list those with a wanted identity on either side."""
        protocol = self.protocol
        keep = (score > np.min(self.thresholds, initial=np.inf)) & (protocol.cells(row, col) >= 0)
        row, col, score = row[keep], col[keep], score[keep]
        sides = protocol.probe.identity[row], protocol.reference.identity[col]
        if self.wanted is not None:
            chosen = self.wanted[sides[0]] | self.wanted[sides[1]]
            tally.lists["pairs"].append((row[chosen], col[chosen], score[chosen]))
            return
        half = 0.5 * protocol.factors(row, col)
        for weight, threshold in zip(tally.sums["weight"], self.thresholds, strict=True):
            above = score > threshold
            for identity in sides:
                weight += np.bincount(identity[above], half[above], minlength=len(weight))

    def largest(self, tally: Tally) -> tuple:
        """Row, column and score of the listed pairs with the largest scores; of equal ones in the order of images."""
        row, col, score = (np.concatenate(part) for part in zip(*tally.lists["pairs"], strict=True))
        first = np.lexsort((col, row, -score))[: self.limit]
        return row[first], col[first], score[first]


def _scan(places: list[tuple], request: Errors, scores: Iterable[np.ndarray]) -> Tally:
    """The errors in some blocks."""
    protocol, tally = request.protocol, request.none()
    for block, (rows, cols, genuine) in zip(scores, places, strict=True):
        if genuine is not None:
            tally.lists["asked"].append((genuine[0], block[genuine[1], genuine[2]]))
        row, col = np.nonzero(block > np.min(request.thresholds, initial=np.inf))
        score, row, col = block[row, col], row + rows.start, col + cols.start
        keep = protocol.probe.person[row] != protocol.reference.person[col]
        if protocol.symmetric:
            keep &= col > row
        request.add(row[keep], col[keep], score[keep], tally)
    tally.lists["pairs"][:] = [request.largest(tally)]
    return tally


def _of_one(scores: xr.DataArray, rates: xr.Dataset, by, options: dict) -> xr.Dataset:
    """The contributions within one model."""
    protocol = make_protocol(scores, by, **options)
    names, first = np.unique(protocol.people.identity, return_index=True)
    thresholds = 0.0 - rates.threshold.values if turned(scores) else rates.threshold.values
    found = Errors(protocol, thresholds).swept(scores)
    asked = found.asked_scores(protocol, scores.dtype)
    pairs = weigh_genuine(protocol, asked).pairs
    identity = protocol.reference.identity[pairs.col]
    below = [identity[: np.searchsorted(pairs.score, t, side="right")] for t in thresholds]
    rejected = np.array([np.bincount(lost, pairs.factor[: len(lost)], minlength=len(names)) for lost in below])
    counts = np.array([np.bincount(lost, minlength=len(names)) for lost in below])
    dims = (FAR_LEVEL if FAR_LEVEL in rates.dims else THRESHOLD_LEVEL, IDENTITY)
    result = rates[["threshold", "far", "frr"]].drop_attrs()
    for rate, weight in (("frr", rejected), ("far", found.sums["weight"])):
        result[f"{rate}_share"] = (dims, ratio(weight, weight.sum(1, keepdims=True)))
        result[f"{rate}_effective"] = 1 / (result[f"{rate}_share"] ** 2).sum(IDENTITY, skipna=False)
    result["frr_identity"] = (dims, ratio(counts, np.bincount(identity, minlength=len(names)).astype(float)))
    images = np.bincount(protocol.people.identity_code, minlength=len(names))
    result = result.assign_coords({IDENTITY: names, "images": (IDENTITY, images), "scores": _mark(protocol, asked)})
    return result if by is None else result.assign_coords({GROUP: (IDENTITY, protocol.people.group[first])})


def _mark(protocol: Protocol, asked: np.ndarray) -> str:
    """By what the same scores of the same people are known again: labels, and scores of genuine pairs."""
    labels = "\n".join([*protocol.people.names, *protocol.people.identity])
    return hashlib.sha256(labels.encode() + asked.tobytes()).hexdigest()[:32]


def worst_pairs(
    scores: xr.DataArray, who: xr.Dataset, *, kind: str = "genuine", identities: int = 5, pairs: int = 20
) -> xr.Dataset:
    """List the pairs behind the identities with the largest share of the errors; wrong labels show up here.

    Parameters
    ----------
    scores : xr.DataArray
        The tensor or list that `contributions` was given, without a model dimension (select one with .sel).
    who : xr.Dataset
        What `contributions` returned, at one level (and one model): `.sel(far_level=1e-3)`.
    kind : {"genuine", "impostor"}
        "genuine": rejected pairs, the least alike first; "impostor": accepted pairs, the most alike first.
    identities : int
        How many identities, those with the largest share first.
    pairs : int
        At most so many pairs.

    Returns
    -------
    xr.Dataset
        (pair,): `probe`, `reference` (image names), `probe_identity`, `reference_identity`, `score` (a distance
        where the scores were read with distance=True), and `share`: that of the worse of the two identities.

    Raises
    ------
    InputError
        For several levels or models at once, an unknown kind, or numbers below 1.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, kappa=(5, 15), seed=0).sample(4, seed=1))
    >>> who = fk.contributions(scores, far=[0.1]).isel(far_level=0)
    >>> fk.worst_pairs(scores, who, pairs=3).sizes["pair"]
    3
    """
    require_one_of("kind", kind, KINDS)
    identities, pairs = require_whole("identities", identities, 1), require_whole("pairs", pairs, 1)
    made = isinstance(who, xr.Dataset) and {"threshold", "scores"} <= {*who.variables}
    require(made, "who must be what fk.contributions returned, at one level")
    scores = checked_scores(scores)
    require(MODEL not in scores.dims, "scores hold several models: select one with .sel(model=...)")
    require(
        who.threshold.ndim == 0,
        f"who runs over {', '.join(map(str, who.threshold.dims))}: select one level and model with .sel or .isel",
    )
    options = {key: who.attrs[key] for key in ("impostors", "varying") if key in who.attrs}
    scores, which = with_impostors(scores, options.get("impostors", "all"))
    protocol = make_protocol(scores, who.attrs["by"] or None, **options | {"impostors": which})
    threshold = 0.0 - float(who.threshold) if turned(scores) else float(who.threshold)
    thresholds = np.empty(0) if kind == "genuine" else np.array([threshold])
    share = who["frr_share" if kind == "genuine" else "far_share"]
    share = share.reindex({IDENTITY: np.unique(protocol.people.identity)}).values  # of whom is left, in any order
    worst = np.argsort(-np.nan_to_num(share), kind="stable")[:identities]
    wanted = np.zeros(len(share), bool)
    wanted[worst] = np.nan_to_num(share[worst]) > 0
    request = Errors(protocol, thresholds, wanted, pairs)
    found = request.swept(scores)
    asked = found.asked_scores(protocol, scores.dtype)
    same = _mark(protocol, asked) == str(who["scores"].values)
    require(same, "who was made of other scores: give both the same, who = fk.contributions(scores, ...)")
    if kind == "impostor":
        row, col, score = request.largest(found)
    else:
        first = np.argsort(asked, kind="stable")
        first = first[(asked[first] <= threshold) & wanted[protocol.probe.identity[protocol.asked[0][first]]]][:pairs]
        row, col, score = (part[first] for part in (*protocol.asked, asked))
    return _labelled(protocol, share, (row, col, 0.0 - score if turned(scores) else score))


def _labelled(protocol: Protocol, share: np.ndarray, found: tuple) -> xr.Dataset:
    """The pairs with names."""
    row, col, score = found
    mine, other = protocol.probe.identity[row], protocol.reference.identity[col]
    names = np.unique(protocol.people.identity)
    columns = {
        "probe": protocol.people.names[protocol.people.probe[row]],
        "reference": protocol.people.names[protocol.people.reference[col]],
        "probe_identity": names[mine],
        "reference_identity": names[other],
        "score": score,
        "share": np.maximum(share[mine], share[other]),
    }
    return xr.Dataset({name: (PAIR, values) for name, values in columns.items()}, {PAIR: np.arange(len(row))})
