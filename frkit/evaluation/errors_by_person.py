"""Who drives the number: each identity's share of the errors, and the pairs behind the worst."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require, require_one_of, require_returned, require_whole
from frkit.engine.people import of_rows
from frkit.engine.protocol import make_protocol
from frkit.engine.rates import ratio
from frkit.engine.tally import tally_pairs
from frkit.evaluation.options import asked_levels, check_options
from frkit.evaluation.sweep import swept
from frkit.evaluation.tables import rates_table
from frkit.scores.groups import checked_scores, turned
from frkit.scores.kept import is_list, pairs_of_models

KINDS = ("genuine", "impostor")


def errors_by_person(
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
        image) over (model,) far_level or threshold_level, and identity; `false_rejects_identity`
        of its `genuine_pairs_identity`, and `false_accepts_identity`, in which it is one of two;
        `frr_effective`, `far_effective`, `threshold`, `far`, `frr` over the levels. Shares are NaN
        where there is no error. Coordinate `images`: images of each identity.

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
    >>> who = fk.errors_by_person(scores, far=[0.1])
    >>> float(who.frr_share.sum().round(6))
    1.0
    """
    scores = checked_scores(scores)
    named = not is_list(scores) or "probe_identity" in scores.coords
    require(named, "these pairs carry no identities, so nobody can be named")
    options = {"by": by, "weighting": weighting, "impostors": impostors, "varying": varying}
    check_options(scores, **options)
    kept = swept(scores, far, threshold)
    far, thresholds, labels = asked_levels(far, threshold, scores)
    protocol = make_protocol(kept, **options)
    of_models = []
    for pairs, fixed in zip(pairs_of_models(kept), thresholds):
        tally = tally_pairs(pairs, protocol)
        of_models.append(_shares(tally, far, fixed, by is not None))
    result = of_models[0]
    if "model" in kept.dims:
        result = xr.concat(of_models, kept["model"].variable.astype(str))
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
    images = protocol.images
    names = images.identities
    thresholds = rates.threshold.values
    impostors, genuine = tally.impostors, tally.genuine

    def by_identity(of_rows):
        return np.array([np.bincount(protocol.identity, sums, len(names)) for sums in of_rows])

    accepted = by_identity(
        of_rows(impostors, impostors.weight, np.greater, level) for level in thresholds
    )
    rejected = by_identity(
        of_rows(genuine, genuine.weight, np.less_equal, level) for level in thresholds
    )
    compared = by_identity([of_rows(genuine, genuine.weight)])
    n_rejected = by_identity(  # a pair counts in both of its rows
        of_rows(genuine, genuine.stands_for, np.less_equal, level) / 2 for level in thresholds
    )
    n_accepted = by_identity(
        of_rows(impostors, impostors.stands_for, np.greater, level) for level in thresholds
    )
    n_genuine = by_identity([of_rows(genuine, genuine.stands_for) / 2])[0]
    dims = (*rates.threshold.dims, "identity")
    result["false_rejects_identity"] = dims, n_rejected
    result["genuine_pairs_identity"] = "identity", n_genuine
    result["false_accepts_identity"] = dims, n_accepted
    for rate, weight in (("frr", rejected), ("far", accepted)):
        share = ratio(weight, weight.sum(1, keepdims=True))
        result[f"{rate}_share"] = dims, share
        result[f"{rate}_effective"] = dims[:-1], 1 / (share**2).sum(1)
    result["frr_identity"] = dims, ratio(rejected, compared)
    n_images, _ = protocol.images_and_pairs()
    coords = {"identity": names, "images": ("identity", n_images)}
    if grouped:
        _, first = np.unique(protocol.identity, return_index=True)
        coords["group"] = "identity", images.stratum[first]
    return result.assign_coords(coords)


def worst_pairs(
    scores: xr.DataArray,
    who: xr.Dataset,
    *,
    kind: str = "genuine",
    identities: int | list[str] = 5,
    pairs: int = 20,
) -> xr.Dataset:
    """List the pairs behind the identities with the largest share of the errors.

    Wrong labels show up here.

    Parameters
    ----------
    scores : xr.DataArray
        The tensor or list that `errors_by_person` was given, without a model dimension (select one
        with .sel).
    who : xr.Dataset
        What `errors_by_person` returned, at one level (and one model): `.sel(far_level=1e-3)`.
    kind : {"genuine", "impostor"}
        "genuine": rejected pairs, the least alike first; "impostor": accepted pairs, the most alike
        first.
    identities : int or list of str
        How many identities, those with the largest share first; or their names.
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
    >>> who = fk.errors_by_person(scores, far=[0.1]).isel(far_level=0)
    >>> fk.worst_pairs(scores, who, pairs=3).sizes["pair"]
    3
    """
    require_one_of("kind", kind, KINDS)
    by_name = not isinstance(identities, (int, np.integer))
    if not by_name:
        require_whole("identities", identities, 1)
    pairs = require_whole("pairs", pairs, 1)
    require_returned("who", who, "fk.errors_by_person", "threshold", "frr_share")
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
    sign = -1.0 if turned(scores) else 1.0
    threshold = 0.0 + sign * float(who.threshold)
    kept = swept(scores, threshold=[float(who.threshold)])
    protocol = make_protocol(kept, by=by or None, impostors=impostors, varying=varying)
    [pairs_of_model] = pairs_of_models(kept)
    tally = tally_pairs(pairs_of_model, protocol)
    names = protocol.images.identities
    n_images, _ = protocol.images_and_pairs()
    require(
        np.array_equal(who["identity"].values, names)
        and np.array_equal(who["images"].values, n_images),
        "who was made of other scores: give both the same, who = fk.errors_by_person(scores, ...)",
    )
    share = who["frr_share" if kind == "genuine" else "far_share"]
    share = np.nan_to_num(share.reindex(identity=names).values)
    among_worst = np.isin(names, identities)
    if not by_name:
        among_worst[np.argsort(-share, kind="stable")[:identities]] = True
    among_worst &= share > 0
    compared = tally.genuine if kind == "genuine" else tally.impostors
    table = pd.DataFrame({"row": compared.row, "col": compared.col, "score": compared.score})
    if kind == "genuine":
        wrong = compared.score <= threshold
    else:
        wrong = compared.score > threshold
    person = protocol.identity
    wrong &= among_worst[person[table.row]] | among_worst[person[table.col]]
    table = table[wrong].sort_values(
        ["score", "row", "col"], ascending=[kind == "genuine", True, True]
    )
    table = table.head(pairs)
    image_names = protocol.images.name
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
