"""Who drives the number: each identity's share of the errors, and the pairs behind the worst."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import stdtr

from frkit.base import require, require_kind, require_one_of, require_whole
from frkit.evaluation.design import codes_of_couples, images_and_pairs, make_design
from frkit.evaluation.error_rates import (
    far,
    frr,
    number_accepted,
    number_rejected,
    ratio,
    thresholds,
    weights_of_data,
)
from frkit.evaluation.influences import sums_by_row
from frkit.evaluation.options import asked_levels, check_options, refuse_minus
from frkit.evaluation.populations import whole_population
from frkit.evaluation.rate_tables import of_models
from frkit.evaluation.sweep import swept
from frkit.scores.groups import checked_scores, turned
from frkit.scores.kept import has_names, pairs_of_models

KINDS = ("genuine", "impostor")
FEWEST_IMAGES, FEWEST_PEOPLE, FEWEST_ERRORS = 4, 10, 30  # for a test whether people differ


def errors_by_person(
    scores: xr.DataArray | xr.Dataset,
    *,
    far: ArrayLike | None = None,
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    by: str | list[str] | None = None,
    weighting: str | Mapping[str, float] | None = None,
    impostors: str = "all",
    varying: str = "error",
) -> xr.Dataset:
    """Share of every identity in FRR and FAR, and the effective number of erring identities.

    An accepted impostor pair counts one half for each of its two identities. The shares at a level
    add up to 1. The effective number 1 / Σ share² is the number of erring identities if all of them
    had equally many errors: where it is small, a rate depends on a few people, or on wrong labels.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        From `score_tensor`, `score_matrix` or `open_data`, swept block by block; or a list of
        pairs from `pairs` or `open_data` that names identities.
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
        image) over (model,) far_level or threshold_level, and identity; `false_rejects_identity` of
        its `genuine_pairs_identity`, and `false_accepts_identity`, pairs with this identity on one
        side; `frr_effective`, `far_effective`, `threshold`, `far`,
        `frr` over the levels. Shares are NaN where there is no error. Coordinate `images`: images
        of each identity. `p_people_differ` over the levels: the p-value of a one-sided test whether
        people differ in FRR by more than the quality of their images explains. A large p does not
        show that people are alike. It is NaN with fewer than ten people, all pairs of whose four or
        more images were compared, or with fewer than thirty false rejects of them.

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
    require(has_names(scores), "these pairs carry no identities, so nobody can be named")
    options = {"by": by, "weighting": weighting, "impostors": impostors, "varying": varying}
    check_options(scores, **options)
    levels, fixed_thresholds, labels = asked_levels(far, threshold, scores)
    kept = swept(scores, levels if len(levels) else None, threshold)
    refuse_minus(fixed_thresholds, kept)
    design = make_design(kept, **options)
    tables = []
    for pairs, fixed in zip(pairs_of_models(kept), fixed_thresholds):
        population = whole_population(design, pairs)
        tables.append(_shares(population, levels, fixed, by is not None))
    result = of_models(tables, kept)
    if labels is not None:
        result = result.assign_coords(threshold_level=labels)
    if turned(scores):
        result["threshold"] = 0.0 - result.threshold
    asked = {"impostors": impostors, "varying": varying, "by": "" if by is None else by}
    return result.assign_attrs(asked, kind="errors_by_person")


def _shares(population, levels, fixed, grouped):
    """Share of every identity in the errors of one model."""
    images = population.design.images
    impostors, genuine = population.impostors, population.genuine
    weights = weights_of_data(population)
    level = "threshold_level" if fixed.size else "far_level"
    at = fixed if fixed.size else thresholds(population, weights, levels)
    n_accepted = number_accepted(population, at)
    n_rejected = number_rejected(population, at)

    def by_identity(pairs, value, n_errors):
        identity, n_identities = images.identity_code, len(images.identities)
        sums = [sums_by_row(population, pairs, value, n) for n in n_errors]
        return np.array([np.bincount(identity, of_row, n_identities) for of_row in sums])

    accepted = by_identity(impostors, impostors.weight, n_accepted)
    rejected = by_identity(genuine, genuine.weight, n_rejected)
    [compared] = by_identity(genuine, genuine.weight, [None])
    ones = genuine.number / 2  # a pair is in the sums of both of its images
    dims = level, "identity"
    variables = {
        "threshold": (level, at),
        "far": (level, far(population, weights, at)),
        "frr": (level, frr(population, weights, at)),
        "false_rejects_identity": (dims, by_identity(genuine, ones, n_rejected)),
        "genuine_pairs_identity": ("identity", by_identity(genuine, ones, [None])[0]),
        "false_accepts_identity": (dims, by_identity(impostors, impostors.number, n_accepted)),
        "frr_identity": (dims, ratio(rejected, compared)),
        "p_people_differ": (level, _p_people_differ(population, n_rejected)),
    }
    for rate, weight in (("frr", rejected), ("far", accepted)):
        share = ratio(weight, weight.sum(1, keepdims=True))
        variables[f"{rate}_share"] = dims, share
        variables[f"{rate}_effective"] = level, 1 / (share**2).sum(1)
    n_images, _ = images_and_pairs(population.design)
    coords = {"identity": images.identities, "images": ("identity", n_images)}
    if not fixed.size:  # thresholds may differ between models
        coords[level] = levels
    if grouped:
        _, first = np.unique(images.identity_code, return_index=True)
        coords["group"] = "identity", images.stratum[first]
    return xr.Dataset(variables, coords)


def _p_people_differ(population, n_rejected):
    """(level,) p-values of people all of whose pairs were compared, each pair once."""
    images, genuine = population.design.images, population.genuine
    person = images.person_code[images.first_row]  # of each image
    couples = codes_of_couples(images.image[genuine.a], images.image[genuine.b], len(person))
    pairs = pd.DataFrame({"person": images.person_code[genuine.a], "couple": couples})
    pairs = pairs.groupby("person").couple.agg(["size", "nunique"])
    n = pd.Series(person).value_counts().reindex(pairs.index)
    is_full = (pairs["size"] == pairs["nunique"]) & (pairs["nunique"] == n * (n - 1) // 2)
    is_tested = np.isin(person, pairs.index[is_full & (n >= FEWEST_IMAGES)])
    _, person = np.unique(person[is_tested], return_inverse=True)
    ones = np.ones(len(genuine.score))
    p = []
    for number in n_rejected:
        rejected = np.bincount(images.image, sums_by_row(population, genuine, ones, number))
        p.append(p_people_differ(rejected[is_tested], person))
    return p


def p_people_differ(rejected, person):
    """Return the p-value of a test whether people differ by more than their images explain.

    Two pairs of a person without a common image are independent, whatever the quality of images.
    So h_k estimates (r_k - p0)² without bias, from all couples of such pairs. Where people are
    alike its mean is 0: a one-sided t-test.

    rejected : (image,) R_i, how many pairs of the image are rejected. person : (image,) number of
    its person, who has at least four images, all compared with each other.
    """
    n = np.bincount(person)
    errors = np.bincount(person, rejected) / 2  # S_k: each pair is in the sums of both images
    if len(n) < FEWEST_PEOPLE or errors.sum() < FEWEST_ERRORS:
        return np.nan
    squares = np.bincount(person, rejected**2)
    pairs = n * (n - 1) / 2
    couples_apart = pairs * (n - 2) * (n - 3) / 2
    own_rate = errors / pairs
    p0 = own_rate.mean()
    h = (errors**2 - squares + errors) / couples_apart - 2 * p0 * own_rate + p0**2
    standard_error = h.std(ddof=1) / np.sqrt(len(h))
    if standard_error < 1e-12:  # everybody's pairs are rejected, or all of half the people's
        return float(h.mean() < 1e-12)
    return stdtr(len(h) - 1, -h.mean() / standard_error)


def worst_pairs(
    scores: xr.DataArray,
    who: xr.Dataset,
    *,
    kind: str = "genuine",
    identities: int = 5,
    pairs: int = 20,
) -> xr.Dataset:
    """List the pairs behind the identities with the largest share of the errors.

    Some are pairs of difficult people, others of people with wrong labels; `nearest_people` finds
    single images with a wrong label.

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
    identities : int
        How many identities, those with the largest share first.
    pairs : int
        Largest number of pairs.

    Returns
    -------
    xr.Dataset
        (pair,): `probe`, `reference` (image names), `probe_identity`, `reference_identity`, `score`
        (a distance where the scores were read as distances), and `share`: that of the worse
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
    pairs = require_whole("pairs", pairs, 1)
    identities = require_whole("identities", identities, 1)
    require_kind("who", who, "errors_by_person")
    scores = checked_scores(scores)
    require(
        "model" not in scores.dims, "scores contain several models: select one with .sel(model=...)"
    )
    over = ", ".join(map(str, who.threshold.dims))
    require(not over, f"who runs over {over}: select one level and model with .sel or .isel")
    by, impostors, varying = (who.attrs[name] for name in ("by", "impostors", "varying"))
    sign = -1.0 if turned(scores) else 1.0
    threshold = 0.0 + sign * float(who.threshold)
    kept = swept(scores, threshold=[float(who.threshold)])
    design = make_design(kept, by=by or None, impostors=impostors, varying=varying)
    images = design.images
    n_images, _ = images_and_pairs(design)
    require(
        np.array_equal(who["identity"].values, images.identities)
        and np.array_equal(who["images"].values, n_images),
        "who is of other scores: use the same for both, who = fk.errors_by_person(scores, ...)",
    )
    share = np.nan_to_num(who["frr_share" if kind == "genuine" else "far_share"].values)
    is_worst = share > 0
    is_worst[np.argsort(-share, kind="stable")[identities:]] = False
    [pairs_of_model] = pairs_of_models(kept)
    population = whole_population(design, pairs_of_model)
    if kind == "genuine":
        wrong = population.genuine.take(slice(number_rejected(population, threshold)))
    else:
        wrong = population.impostors.take(slice(number_accepted(population, threshold)))
    identity = images.identity_code
    wrong = wrong.take(is_worst[identity[wrong.a]] | is_worst[identity[wrong.b]])
    worst_first = wrong.score if kind == "genuine" else -wrong.score
    wrong = wrong.take(np.lexsort([wrong.b, wrong.a, worst_first])[:pairs])
    columns = {
        "probe": images.name[wrong.a],
        "reference": images.name[wrong.b],
        "probe_identity": images.identity[wrong.a],
        "reference_identity": images.identity[wrong.b],
        "score": 0.0 + sign * wrong.score,
        "share": np.maximum(share[identity[wrong.a]], share[identity[wrong.b]]),
    }
    variables = {name: ("pair", values) for name, values in columns.items()}
    coords = {"pair": np.arange(len(wrong.score))}
    return xr.Dataset(variables, coords, {"kind": "worst_pairs"})
