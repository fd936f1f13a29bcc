"""Who drives the number: each identity's share of the errors, and the pairs behind the worst."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require, require_one_of, require_returned, require_whole
from frkit.engine.people import errors_of_entries, of_entries
from frkit.engine.protocol import make_protocol
from frkit.engine.rates import ratio
from frkit.engine.tally import tally_scores
from frkit.evaluation.options import asked_levels, check_options
from frkit.evaluation.tables import rates_table
from frkit.scores.groups import checked_scores, models_of, turned

KINDS = ("genuine", "impostor")


def contributions(
    scores: xr.DataArray | xr.Dataset,
    *,
    far: ArrayLike | None = None,
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    by: str | list[str] | None = None,
    weighting: ArrayLike | Mapping[str, float] | None = None,
    impostors: str | Mapping[str, str] = "all",
    varying: str = "error",
) -> xr.Dataset:
    """Share of every identity in FRR and FAR, and the effective number of erring identities.

    An accepted impostor pair belongs half to the identity on either side. Shares of a level add up
    to 1. The effective number 1 / Σ share² is the number of identities that would err if all that
    err did so equally: where it is small, a rate hangs on a few people, or on wrong labels.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        From `score_tensor`, `score_matrix` or `open_scores`, swept block by block; or a list of
        pairs from `pairs` or `open_pairs` that names identities.
    far, threshold : sequence of float, optional
        FAR levels in (0, 1), or fixed thresholds, as in `evaluate`.
    by : str or list of str, optional
        Attribute(s): then `group` is a coordinate of the identities.
    weighting, impostors, varying
        As in `evaluate`.

    Returns
    -------
    xr.Dataset
        `frr_share`, `far_share` and `frr_identity` (the identity's own FRR, NaN with a single
        image) over (model,) far_level or threshold_level, and identity; `frr_effective`,
        `far_effective`, `threshold`, `far`, `frr` over the levels. Shares are NaN where there is no
        error. Coordinate `images`: images of each identity.

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
    named = "probe_identity" in scores.coords
    require(named, "these pairs carry no identities, so nobody can be named")
    options = {"by": by, "weighting": weighting, "impostors": impostors, "varying": varying}
    check_options(scores, **options)
    far, thresholds, labels = asked_levels(far, threshold, scores)
    models = models_of(scores)
    protocol = make_protocol(models[0], **options)
    of_models = []
    for model, fixed in zip(models, thresholds):
        tally = tally_scores(model, protocol, far=far, threshold=fixed)
        of_models.append(_shares(tally, far, fixed, by is not None))
    result = of_models[0]
    if "model" in scores.dims:
        result = xr.concat(of_models, scores["model"].variable.astype(str))
    if labels is not None:
        result = result.assign_coords(threshold_level=labels)
    if turned(scores):
        result["threshold"] = 0.0 - result.threshold
    return result.assign_attrs(impostors=impostors, varying=varying, by="" if by is None else by)


def _shares(tally, far, fixed, grouped):
    """Share of every identity in the errors of one model."""
    protocol = tally.protocol
    rates = rates_table(tally, far, fixed, "all").isel(column=0)[["threshold", "far", "frr"]]
    result = rates.drop_vars(["group", "reference_group"], errors="ignore")
    names, first = np.unique(protocol.images.identity, return_index=True)
    thresholds = rates.threshold.values
    pairs = tally.genuine

    def by_identity(of_entries):
        sums = [np.bincount(protocol.identity, of_level, len(names)) for of_level in of_entries]
        return np.array(sums)

    accepted = by_identity(errors_of_entries(tally.impostors, thresholds, np.greater))
    rejected = by_identity(errors_of_entries(pairs, thresholds, np.less_equal))
    genuine = by_identity([of_entries(pairs, pairs.weight * ~pairs.copy)])
    dims = (*rates.threshold.dims, "identity")
    for rate, weight in (("frr", rejected), ("far", accepted)):
        share = ratio(weight, weight.sum(1, keepdims=True))
        result[f"{rate}_share"] = dims, share
        result[f"{rate}_effective"] = dims[:-1], 1 / (share**2).sum(1)
    result["frr_identity"] = dims, ratio(rejected, genuine)
    images = np.bincount(protocol.images.identity_code, minlength=len(names))
    coords = {"identity": names, "images": ("identity", images), "scores": _mark(tally)}
    if grouped:
        coords["group"] = "identity", protocol.images.group[first]
    return result.assign_coords(coords)


def _mark(tally):
    """By what the same scores are known again: those of the genuine pairs."""
    return hashlib.sha256(np.sort(tally.genuine.score).tobytes()).hexdigest()[:16]


def worst_pairs(
    scores: xr.DataArray,
    who: xr.Dataset,
    *,
    kind: str = "genuine",
    identities: int = 5,
    pairs: int = 20,
) -> xr.Dataset:
    """List the pairs behind the identities with the largest share of the errors.

    Wrong labels show up here.

    Parameters
    ----------
    scores : xr.DataArray
        The tensor or list that `contributions` was given, without a model dimension (select one
        with .sel).
    who : xr.Dataset
        What `contributions` returned, at one level (and one model): `.sel(far_level=1e-3)`.
    kind : {"genuine", "impostor"}
        "genuine": rejected pairs, the least alike first; "impostor": accepted pairs, the most alike
        first.
    identities : int
        How many identities, those with the largest share first.
    pairs : int
        At most so many pairs.

    Returns
    -------
    xr.Dataset
        (pair,): `probe`, `reference` (image names), `probe_identity`, `reference_identity`, `score`
        (a distance where the scores were read with distance=True), and `share`: that of the worse
        of the two identities.

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
    identities = require_whole("identities", identities, 1)
    pairs = require_whole("pairs", pairs, 1)
    require_returned("who", who, "fk.contributions", "threshold", "scores")
    scores = checked_scores(scores)
    require(
        "model" not in scores.dims, "scores contain several models: select one with .sel(model=...)"
    )
    over = ", ".join(map(str, who.threshold.dims))
    require(
        who.threshold.ndim == 0,
        f"who runs over {over}: select one level and model with .sel or .isel",
    )
    by, impostors, varying = (who.attrs[name] for name in ("by", "impostors", "varying"))
    protocol = make_protocol(scores, by=by or None, impostors=impostors, varying=varying)
    sign = -1.0 if turned(scores) else 1.0
    threshold = 0.0 + sign * float(who.threshold)
    tally = tally_scores(scores, protocol, threshold=np.array([threshold]))
    require(
        _mark(tally) == str(who["scores"].values),
        "who was made of other scores: give both the same, who = fk.contributions(scores, ...)",
    )
    names = np.unique(protocol.images.identity)
    share = who["frr_share" if kind == "genuine" else "far_share"]
    share = np.nan_to_num(share.reindex(identity=names).values)
    worst = np.argsort(-share, kind="stable")[:identities]
    among_worst = np.zeros(len(names), bool)
    among_worst[worst] = share[worst] > 0
    compared = tally.genuine if kind == "genuine" else tally.impostors
    table = pd.DataFrame({"row": compared.row, "col": compared.col, "score": compared.score})
    if kind == "genuine":
        wrong = (compared.score <= threshold) & ~compared.copy
    else:
        wrong = compared.score > threshold
    person = protocol.identity
    wrong &= among_worst[person[table.row]] | among_worst[person[table.col]]
    table = table[wrong].sort_values(
        ["score", "row", "col"], ascending=[kind == "genuine", True, True]
    )
    table = table.head(pairs)
    image_names = protocol.images.names[protocol.image]
    probe = person[table.row]
    reference = person[table.col]
    columns = {
        "probe": image_names[table.row],
        "reference": image_names[table.col],
        "probe_identity": names[probe],
        "reference_identity": names[reference],
        "score": 0.0 + sign * table.score.to_numpy(),
        "share": np.maximum(share[probe], share[reference]),
    }
    variables = {name: ("pair", values) for name, values in columns.items()}
    return xr.Dataset(variables, {"pair": np.arange(len(table))})
