"""How often intervals cover the exact truth, over many data sets (Conti & Clémençon, B.1)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    InputError,
    checked_far,
    gathered_notices,
    real_numbers,
    require,
    require_inside,
    require_one_of,
    require_sequence,
    require_whole,
)
from frkit.evaluation.nodes import versions
from frkit.evaluation.options import far_levels
from frkit.intervals import METHODS, band, fair_floor
from frkit.intervals.bands import EFFECTIVE, AnyMeasure
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE
from frkit.measures.registry import measure as find_measure
from frkit.papers.along import side_by_side
from frkit.papers.roc.collecting import DATA_SET, Study, stacked
from frkit.resampling import OF_IMAGES, Resampling
from frkit.vmf import IdentityLaw, Mixture
from frkit.vmf.population import require_population

LEVELS = tuple(round(0.05 * step, 2) for step in range(1, 20))
OF_PEOPLE = ("people", "images")  # nodes of an evaluation
SIZE = 0.05  # of the test of equal groups
ROUNDING = 1e-12  # of an exact value: an interval that ends at 1 covers 1 - 1e-16


def coverage(
    population: Mixture | IdentityLaw,
    measure: AnyMeasure = "frr",
    *,
    by: str | None = None,
    n_datasets: int = 200,
    per_identity: ArrayLike = 10,
    n_identities: int | None = None,
    far: ArrayLike | None = None,
    schemes: Sequence[str] = ("image",),
    methods: Sequence[str] = ("recentered", "naive", "gaussian"),
    levels: ArrayLike = LEVELS,
    replicates: int = 200,
    seed: int = 0,
    progress: bool = True,
) -> xr.Dataset:
    """Count how often the intervals of a measure cover its exact value, over many data sets.

    All methods, levels and schemes read the same data sets, and all methods and levels of a scheme
    read the same replicates. Data sets are evaluated side by side, on threads. The cautions of
    `band` about one data set are not given.

    A study of 200 data sets is the first part of one of 1,000.

    Parameters
    ----------
    population : Mixture or IdentityLaw
        A vmf mixture, whose identities are in every data set. With `n_identities`, every data set
        draws that many new identities of it (of each group its share).
    measure : str or callable
        Registered name or function of rates, as in `band`.
    by : str, optional
        Attribute of the population, for measures of groups. Schemes that draw people draw them
        within groups.
    n_datasets : int
        Number of data sets, at least 2.
    per_identity : int or array (identity,)
        Images of each identity, at least 2.
    n_identities : int, optional
        New identities in each data set; for an IdentityLaw it must be given.
    far : sequence of float, optional
        FAR levels in (0, 1); by default 1e-6 to 1e-1, 4 per decade.
    schemes : sequence of {"image", "identity", "two-level", "double-or-nothing"}
        Schemes of resampling.
    methods : sequence of {"effective", "recentered", "naive", "gaussian", "pivotal"}
        Methods of `band`. "effective" is about these people where every data set has the same
        identities, and about new people otherwise.
    levels : sequence of float
        Nominal coverages in (0, 1); by default .05 to .95, as in the paper's Table 1.
    replicates : int
        Number of replicates, at least 2.
    seed : int
        Seed of all that is drawn. Data set d depends on the seed and on d only.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    xr.Dataset
        Over (scheme, method, level) and the dims of the measure: `coverage`, `coverage_se`,
        `miss_below`, `miss_above` (an undefined interval counts as none of these) and `width`. Over
        scheme and the dims of the measure: the mean `estimate`, `false_rejects`, `resolved` and, of
        a disparity with "effective" among the methods, `called_unfair`, the share of data sets with
        p <= .05 of equal groups. Over the dims of the measure: `truth`.
        Select a method by `study.sel({"method": "naive"})`: `sel(method=...)` has another meaning
        in xarray.

    Raises
    ------
    InputError
        A number outside its range, an unknown scheme, method or measure, a measure without an exact
        value in this population, or n_identities missing.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1, Table 1, Figs. 6 and 9.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> options = dict(far=[0.1, 0.2], replicates=20, progress=False)
    >>> study = fk.studies.coverage(mix, n_datasets=4, **options)
    >>> dict(study.coverage.sizes)
    {'scheme': 1, 'method': 3, 'level': 19, 'far_level': 2}
    """
    measure = find_measure(measure)
    require_population("population", population)
    sampled = n_identities is not None or hasattr(population, "sample")
    require(sampled, "an IdentityLaw needs n_identities=, the number in each data set")
    require_whole("n_datasets", n_datasets, 2)
    per_identity = real_numbers("per_identity", per_identity)
    require(min(per_identity.flat, default=0) >= 2, "per_identity must be at least 2")
    schemes = _names("schemes", schemes, OF_IMAGES)
    methods = _names("methods", methods, METHODS)
    levels = np.ravel(real_numbers("levels", levels)).tolist()
    for level in levels:
        require_inside("levels", level, 0, 1)
    Resampling(n=replicates, seed=seed)  # refuses other numbers
    far = far_levels(1e-6, 1e-1) if far is None else np.unique(checked_far(far))
    study = Study(
        population=population,
        n_identities=n_identities,
        per_identity=per_identity,
        far=far,
        by=by,
        schemes=schemes,
        replicates=replicates,
        seed=seed,
        people=EFFECTIVE in methods,
    )
    truth = exact(study, measure)
    target = THESE_PEOPLE if n_identities is None else NEW_PEOPLE

    def evaluated(number):
        """Evaluations by every scheme, with the intervals that read what people add to rates."""
        evaluations = study.data_set(number).values()
        for evaluation in evaluations:
            if EFFECTIVE in methods:
                rows = _intervals(evaluation, measure, EFFECTIVE, levels, target)
                evaluation[EFFECTIVE] = xr.DataTree(rows)
        # what people and images add to the rates takes much space
        return [each.drop_nodes(OF_PEOPLE, errors="ignore") for each in evaluations]

    of_data_sets = side_by_side(evaluated, range(n_datasets), "data sets", progress)
    evaluations = dict(zip(schemes, map(stacked, zip(*of_data_sets))))
    result = count_covering(evaluations, truth, measure, methods, levels)
    return result.assign_attrs(_description(study, n_datasets, measure, target))


def _names(name, values, allowed):
    """Return one or several allowed names as a tuple."""
    values = require_sequence(name, values, f"one or more of {', '.join(allowed)}")
    require(values, f"{name} is empty: name one or more of {', '.join(allowed)}")
    for value in values:
        require_one_of(name, value, allowed)
    return values


def exact(study, measure):
    """Return the measure of the population, from its exact rates."""
    rates = study.population.population_roc(study.far, by=study.by)
    try:
        return measure(rates)
    except (AttributeError, KeyError, InputError) as error:  # the measure reads more than these
        raise InputError(
            f"{measure.name!r} has no exact value in this population: FAR and FRR have one, those "
            "of groups with by=, and what is computed from them"
        ) from error


def count_covering(evaluations, truth, measure, methods, levels):
    """Count how often intervals cover the truth, by every scheme, method and level.

    evaluations: of all data sets, by scheme; a node named like a method contains its intervals.
    """
    counted = []
    with gathered_notices():  # they say of one interval what the study measures
        for evaluation in evaluations.values():
            intervals = []
            for method in methods:
                if method in evaluation.children:
                    intervals.append(evaluation[method].to_dataset())
                else:
                    intervals.append(_intervals(evaluation, measure, method, levels))
            counted.append(_counts(evaluation, intervals, truth, measure))
    names = {"scheme": [*evaluations], "method": [*methods], "level": [*levels]}
    result = xr.concat(counted, "scheme").assign_coords(names).assign(truth=truth)
    return result.transpose("scheme", "method", "level", ...).drop_attrs(deep=False)


def _intervals(evaluation, measure, method, levels, target=NEW_PEOPLE):
    """Intervals of one evaluation, over level."""
    about = {"method": method, "target": target}
    rows = [band(evaluation, measure, level=level, **about) for level in levels]
    return xr.concat(rows, "level")


def _counts(evaluation, intervals, truth, measure):
    """Counts of one scheme, over method and level; intervals: of each method."""
    result = xr.concat([_shares(rows, truth) for rows in intervals], "method")
    data = evaluation["empirical"].to_dataset()
    share = result.coverage
    result["coverage_se"] = np.sqrt(share * (1 - share) / data.sizes[DATA_SET])
    result["estimate"] = measure(data).mean(DATA_SET)
    if measure.fair is not None:
        tests = [rows.p.isel(level=0) for rows in intervals if "p" in rows]
        if measure.permuted:
            tests = [fair_floor(evaluation, measure).p]
        if tests:
            result["called_unfair"] = (tests[0] <= SIZE).mean(DATA_SET)
    for name in ("false_rejects", "resolved"):
        if name in data:
            result[name] = data[name].mean(DATA_SET)
    return result


def _shares(ends, truth):
    """Shares of the data sets whose intervals cover or miss the truth, and the mean width."""
    slack = ROUNDING * abs(truth)
    below = ends.upper < truth - slack
    above = ends.lower > truth + slack
    inside = (ends.lower <= truth + slack) & (truth - slack <= ends.upper)
    width = ends.upper - ends.lower
    shares = {"coverage": inside, "miss_below": below, "miss_above": above, "width": width}
    return xr.Dataset(shares).mean(DATA_SET)


def _description(study, n_datasets, measure, target):
    """Attributes of the result: what was drawn, in JSON and in words."""
    people = f"{study.mixture(0).n_identities:,} identities"
    people = f"the same {people}" if study.n_identities is None else f"{people}, new in each"
    images = study.per_identity
    images = " to ".join(map(str, np.unique([images.min(), images.max()])))
    text = (
        f"{n_datasets} data sets of {people},\n"
        f"{images} images of each; {study.replicates} replicates"
    )
    about = {"by": study.by, "seed": study.seed, "versions": versions()}
    return {
        "kind": "studies.coverage",
        "study": json.dumps(about),
        "n_datasets": n_datasets,
        "measure": measure.name,
        "target": target,
        "words": text,
    }
