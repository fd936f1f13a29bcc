"""Labels of groups, permuted over people or scores: an exact test, and how much chance does."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import UNKNOWN, DataWarning, require, require_inside, require_whole, warn
from frkit.engine.protocol import make_protocol
from frkit.engine.tally import tally_pairs
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.options import asked_levels
from frkit.evaluation.sweep import swept
from frkit.evaluation.tables import COLUMN, distribution_table, of_models, rates_table
from frkit.intervals.bands import AnyMeasure
from frkit.intervals.equality import RATES_OF_GROUPS, rates_of_line, with_two_people
from frkit.intervals.floors import against
from frkit.intervals.reading import (
    NEW_PEOPLE,
    data_of,
    with_attrs,
    with_resolved,
    without_groups,
    words_of_places,
)
from frkit.measures.registry import measure as find_measure
from frkit.scores.groups import checked_scores, group_codes, groups_among, labels_of_sides
from frkit.scores.images import Images, images_of
from frkit.scores.kept import is_list, kept_list, pairs_of_models, with_labels

CELLS = 100_000_000  # counts of images at once
NONE = np.empty(0)


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
    """Test whether groups differ at all: how often random labels look as unequal as the real ones.

    The test is exact where people could have changed groups, that is, where the groups' people are
    drawn from one population, whatever the number of people, images or errors: under this
    hypothesis p <= 5 % happens at most 5 % of the time, at each level. Thresholds are those of the
    data, which do not depend on groups; each person keeps all images.

    Parameters
    ----------
    scores : xr.DataArray
        A tensor, a matrix, or a list of pairs with identities; with a `model` dim every model.
    measure : str or callable
        A disparity measure of group rates: a registered name such as "frr_max_min", or one
        registered by you with `fair=`, of far_group, frr_group and eer_group.
    by : str or list of str
        Attribute(s) whose groups are compared; people without a label take no part.
    far, threshold, weighting, varying
        As in `evaluate`; an attribute must be a property of the person ("split" is refused).
    n : int
        Random permutations of the labels; the smallest p is 1 / (n + 1).
    seed : int
        Seed of the permutations; with a larger n the first ones stay the same.
    level : float
        The quantile of the permuted measure that is given as `limit`, in (0, 1).

    Returns
    -------
    xr.Dataset
        `estimate`, `p`, and of the permuted measure `median` and `limit` (away from the fair value)
        and `n_nonfinite`, over the measure's dimensions. Groups without an error have infinite
        ratios, in the data and after a permutation; the test takes them as they are. Groups of
        which fewer than two people were compared take no part; attrs["left_out"] names them.

    Raises
    ------
    InputError
        As `evaluate`; the measure has no fair value or reads no group rates; n below 1; labels that
        vary within a person; pairs without identities.

    Warns
    -----
    DataWarning
        As `evaluate`; groups that take no part; levels at which the measure is undefined.

    References
    ----------
    Good (2005), Permutation, parametric and bootstrap tests of hypotheses; Phipson & Smyth (2010)
    for 1 / (n + 1).

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> scores = fk.score_tensor(fair.sample(per_identity=6))
    >>> test = fk.permutation_test(scores, "frr_max_difference", by="group", far=[0.1], n=99)
    >>> bool(test.p[0] > 0.05)
    True
    """
    chosen = find_measure(measure)
    require_whole("n", n, 1)
    require_whole("seed", seed, 0)
    require_inside("level", level, 0, 1)
    require(
        varying != "split",
        "varying='split' makes several people of one, whose labels cannot be permuted one by one",
    )
    options = {"by": by, "varying": varying, "weighting": weighting}
    kept = swept(checked_scores(scores), far, threshold)
    require(
        not is_list(kept) or "probe_identity" in kept.coords,
        "these pairs carry no identities, so there are no people whose labels can be permuted",
    )
    whole = evaluate_parts(kept, far=far, threshold=threshold, **options)
    chosen(data_of(whole))  # raises if a variable is missing
    names = rates_of_line(chosen, data_of(whole))
    require(
        names,
        f"{chosen.name!r} has no fair value or does not read {', '.join(RATES_OF_GROUPS)} alone: "
        "take a disparity measure of group rates",
    )
    evaluation, left_out = with_two_people(whole, chosen, NEW_PEOPLE)
    data = data_of(evaluation)
    estimate = chosen(data)
    options["groups"] = data["group"].values
    rates = _rates_of_permutations(kept, data[[*names, "threshold"]], n, seed, **options)
    draws = chosen(data.assign(rates.isel(replicate=slice(1, None))))
    result = against(estimate, draws, chosen.fair, level)
    result = with_resolved(result, chosen, evaluation)
    if estimate.isnull().any():
        places = words_of_places(estimate.isnull()) or "in these data"
        warn(
            f"{chosen.name} is undefined {places}, where no group has an error, or one has no "
            "pairs: there is no p-value; take levels at which every group has errors"
        )
    by = by if isinstance(by, str) else " & ".join(by)
    about = {"n": n, "level": level, "by": by}
    if left_out:
        about["left_out"] = left_out
        warn(without_groups(chosen, left_out))
    return with_attrs(result, evaluation, chosen, "permutation of labels", **about)


def _rates_of_permutations(kept, data, n, seed, *, by, varying, weighting, groups):
    """Rates of groups, first as they are and then of n permutations, over `replicate`.

    data : of the evaluation, the rates of these groups and the thresholds.
    """
    images = replace(images_of(kept, by, varying), groups=groups)  # others are in no group
    person, group = groups_of_people(images)
    permuted = np.append([group], permutations(group, n, seed), axis=0)
    level_dim = "far_level" if "far_level" in data.dims else "threshold_level"
    _, thresholds, _ = asked_levels(None, data.threshold.drop_vars(level_dim), kept)
    names = [*data.data_vars.keys() - {"threshold"}]
    with warnings.catch_warnings():  # the data's own evaluation has given them
        warnings.simplefilter("ignore", DataWarning)
        rates = evaluate_permutations(
            kept, person, permuted, groups, weighting, thresholds=thresholds
        )
    rates = rates.rename(threshold_level=level_dim)[names]
    for name in names:
        observed = rates[name].isel(replicate=0).transpose(*data[name].dims)
        require(
            np.allclose(observed, data[name], rtol=1e-9, atol=1e-15, equal_nan=True),
            f"labels of {by!r} differ between the images or pairs of a person, so that people "
            "cannot change groups; say varying='first' or 'most frequent'",
        )
    return rates


# --- permuted groups -----------------------------------------------------------------------------


def permute(group, rng, kind=0):
    """Numbers of groups, permuted within each kind; -1 means none and stays."""
    permuted = group.copy()
    kind = np.where(group < 0, -1, kind)
    for same in np.unique(kind[group >= 0]):
        permuted[kind == same] = rng.permutation(group[kind == same])
    return permuted


def permutations(group, n, seed, kind=0):
    """Permuted numbers of groups, (permutation, person); with a larger n the first ones stay."""
    seeds = np.random.SeedSequence((seed, 1)).spawn(n)
    generators = [np.random.Generator(np.random.SFC64(child)) for child in seeds]
    return np.array([permute(group, rng, kind) for rng in generators], np.int16)


def groups_of_people(images: Images):
    """The number of the person of each row, and of the group of each person; -1 means none."""
    _, first = np.unique(images.identity_code, return_index=True)
    label = images.stratum[first]
    group = group_codes(label, images.groups)
    group[~np.isin(label, images.groups)] = -1
    return images.identity_code, group


def distributions_of_permuted(kept, by, varying, n, seed, edges):
    """Moments and histograms of all permutations, over ([model,] replicate, group).

    In a list a pair goes with the person of its probe. Without people each score is permuted
    separately, and every group keeps its numbers of genuine and of impostor scores.
    """
    kind = 0
    if is_list(kept):
        label, partner = labels_of_sides(kept, by)
        within = (label == partner) & (label != UNKNOWN)
        if "probe" in kept.coords:
            within &= kept["probe"].values != kept["reference"].values
        pairs = kept.to_dataset().isel(pair=within)
        groups = groups_among(label[within], by)
        group_of_pair = group_codes(label[within], groups)
        owner = np.arange(len(group_of_pair))
        if "probe_identity" in pairs.coords:
            owner = np.unique(pairs["probe_identity"].values, return_inverse=True)[1]
        else:
            kind = pairs["genuine"].values.astype(int)
        group = np.zeros(owner.max() + 1, int)
        group[owner] = group_of_pair
        person = np.tile(owner, 2)  # of both sides of each pair
        labels = [name for name, column in pairs.coords.items() if "pair" in column.dims]
        kept = kept_list(pairs.drop_vars({*labels} - {"genuine"}))
    else:
        images = images_of(kept, by, varying)
        kept = with_labels(kept, identity=images.identity, person=images.person)
        groups = images.groups
        person, group = groups_of_people(images)
    permuted = permutations(group, n, seed, kind)
    return evaluate_permutations(kept, person, permuted, groups, weighting="pair", edges=edges)


def evaluate_permutations(
    kept, person, permuted, groups, weighting, *, thresholds=None, edges=NONE
):
    """Rates at thresholds, or distributions, of permuted groups: ([model,] replicate, group).

    Each group of each permutation is a column of the protocol, as a replicate is: its people count
    once, and all others never. The scores are tallied once for many permutations.

    person : the person of each row. permuted : the group of each person, (permutation, person).
    thresholds : (model, level). edges : of the bins of histograms.
    """
    models = pairs_of_models(kept)
    if thresholds is None:
        thresholds = [NONE] * len(models)
    protocol = make_protocol(kept, weighting=weighting)
    _, first = np.unique(protocol.images.identity_code, return_index=True)
    n_images = len(protocol.images.first_row)
    step = max(1, CELLS // (len(groups) * n_images))
    every = []
    for begin in range(0, len(permuted), step):
        group_of_identity = permuted[begin : begin + step, None, person[first]]
        identities = group_of_identity == np.arange(len(groups))[:, None]
        identities = identities.reshape(-1, len(first))
        images = np.ones((len(identities), n_images), np.uint8)
        columns = replace(protocol, drawn=(images, identities))
        tables = []
        for pairs, fixed in zip(models, thresholds):
            tally = tally_pairs(pairs, columns)
            if len(edges):
                table = distribution_table(tally, edges, with_auc=False)
            else:
                table = rates_table(tally, NONE, fixed, "all").drop_vars("threshold_level")
            tables.append(table[[name for name in table if COLUMN in table[name].dims]])
        table = of_models(tables, kept)
        every.append(table.isel({COLUMN: slice(1, -1)}))  # without the data, the V-statistic
    result = xr.concat(every, COLUMN).coarsen({COLUMN: len(groups)})
    result = result.construct({COLUMN: ("replicate", "group")}).assign_coords(group=groups)
    return result.rename({name: f"{name}_group" for name in result})
