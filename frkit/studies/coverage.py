"""How often intervals hold the exact truth: many data sets, read by every method (Conti & Clémençon, B.1)."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import FAR_LEVEL, DataWarning, InputError, require
from frkit.evaluation.evaluate import far_levels
from frkit.evaluation.nodes import versions
from frkit.intervals import METHODS, band, fair_floor
from frkit.intervals.bands import WITHOUT_REPLICATES, AnyMeasure
from frkit.intervals.contributions import NEW_PEOPLE, THESE_PEOPLE
from frkit.measures.registry import Measure
from frkit.measures.registry import measure as find_measure
from frkit.resampling import OF_IMAGES, Resampling
from frkit.studies.collecting import Study, collect
from frkit.studies.error_laws import error_laws
from frkit.studies.store import DATA_SET, Record, Store, opened, stacked
from frkit.vmf import IdentityLaw, Mixture

LEVELS = tuple(round(0.05 * step, 2) for step in range(1, 20))
SIZE = 0.05  # of the floor as a test
ROUNDING = 1e-12  # of an exact value: an interval that ends at 1 holds 1 - 1e-16
LONG_NAMES = {
    "coverage": "share of data sets whose interval holds the truth",
    "coverage_se": "Monte Carlo standard error of the coverage",
    "miss_below": "share of data sets whose whole interval lies below the truth",
    "miss_above": "share of data sets whose whole interval lies above the truth",
    "width": "mean width of the interval",
    "estimate": "mean estimate",
    "called_unfair": "share of data sets whose floor has p of at most .05",
    "truth": "exact value in the population",
    "false_rejects": "rejected genuine pairs, mean over data sets",
    "resolved": "share of data sets in which the level has at least 10 errors of either kind",
}


def coverage(
    population: Mixture | IdentityLaw,
    measure: AnyMeasure = "frr",
    *,
    by: str | None = None,
    n_datasets: int = 200,
    per_identity: ArrayLike = 10,
    n_identities: int | None = None,
    far: ArrayLike | None = None,
    schemes: tuple[str, ...] = ("image",),
    methods: tuple[str, ...] = ("recentered", "naive", "gaussian"),
    levels: tuple[float, ...] = LEVELS,
    replicates: int = 200,
    seed: int = 0,
    store: str | Path | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """Count how often intervals hold the exact truth, of the ROC curve or of any measure, over many data sets.

    All methods, levels and schemes read the same data sets, and all methods and levels of a scheme the same
    replicates, so that their differences carry little noise. Data sets are evaluated side by side, on threads or
    on the active distributed Client. The cautions of `band` about one data set are not given: they are what the study
    measures. The data sets and replicates of a study of 200 are the first of one of 1,000,
    and the measures, methods and levels are read afterwards: with a store, a study can be continued, enlarged, and read
    again by other methods ("effective" reads what people add to the rates: data sets that were stored without it are
    evaluated again).

    Parameters
    ----------
    population : a vmf Mixture, whose identities stand in every data set; with `n_identities`, a vmf Mixture or
        IdentityLaw of which every data set draws so many new ones (of each group its share).
    measure : registered name or function, as in `band`: rates, disparities, EERs. SFI, CFI and DFI are evaluated by
        `indices.evaluate`.
    by : attribute of the population, for measures of groups. Schemes that draw people draw them within groups.
    n_datasets : number of data sets, at least 2.
    per_identity : images of each identity, at least 2: one number, or one for each identity.
    n_identities : new identities in each data set; for an IdentityLaw always.
    far : FAR levels in (0, 1); 1e-6 to 1e-1 with 4 per decade when left out.
    schemes : of "image", "identity", "two-level", "double-or-nothing".
    methods : of "effective", "recentered", "naive", "gaussian" and "pivotal"; the first is about the same people where
        the study draws new images of them, else about new people, and gives the same for every scheme.
    levels : nominal coverages, each in (0, 1); .05 to .95 by default, as in the paper's Table 1.
    replicates : number of replicates, at least 2.
    seed : seed of everything that is drawn; data set d depends on the seed and d only.
    store : folder in which every finished data set is kept, one small file each; a study that was interrupted
        goes on from there and ends with the same bits.
    progress : show a progress bar.

    Returns
    -------
    xr.Dataset over (scheme, method, level) and the measure's own dimensions: `coverage`, `coverage_se`, `miss_below`,
    `miss_above` (an undefined interval counts as none of these), `width`. Over the measure's dimensions: `truth`; and
    with scheme: the mean `estimate`, `false_rejects` and `resolved`, and of a disparity `called_unfair`, the share of
    data sets in which the floor's p is at most .05. For a rate over far_level how far the law of θ* - θ~, pooled over
    data sets, is from that of θ^ - θ: `kolmogorov`, `wasserstein` (unit of the rate), each with `_chance`, the 95 %
    point of what as many errors drawn from the pooled law itself give; `law` holds quantiles of both over (errors,
    probability). Select a method by `study.sel({"method": "naive"})`: xarray's own `sel(method=...)` means something
    else.

    Raises
    ------
    InputError : a number out of its range, an unknown scheme, method or measure, one without an exact value in this
        population, n_identities missing, or a store that belongs to a study with other parameters.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1, Figs. 6 and 9, Tables 1 and 2; Theorems 2 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.coverage(mix, n_datasets=4, far=[0.1, 0.2], replicates=20, progress=False)
    >>> dict(study.coverage.sizes)
    {'scheme': 1, 'method': 3, 'level': 19, 'far_level': 2}
    """
    chosen = find_measure(measure)
    _check(population, n_datasets, per_identity, n_identities, schemes, methods, levels)
    Resampling(n=replicates, seed=seed)  # refuses what it cannot draw
    levels_of_far = far_levels(1e-6, 1e-1) if far is None else np.unique(np.asarray(far, float))
    study = Study(
        population=population,
        n_identities=n_identities,
        per_identity=np.asarray(per_identity),
        far=None if chosen.dealt else levels_of_far,
        by=by,
        schemes=tuple(schemes),
        replicates=replicates,
        seed=seed,
        influence=not chosen.dealt and any(method in WITHOUT_REPLICATES for method in methods),
    )
    truth = exact(study, chosen)
    made = study.parameters()
    people, target = f"{made['n_identities']:,} identities, new in each", NEW_PEOPLE
    if n_identities is None:
        people, target = f"the same {made['n_identities']:,} identities", THESE_PEOPLE
    with (
        TemporaryDirectory() as folder
    ):  # where influences wait that nobody keeps: they would fill the memory
        place = folder if store is None and study.influence else store
        records = collect(
            study, n_datasets, None if place is None else Store(place, made), progress
        )
        result = read(
            stacked(records),
            truth,
            methods,
            levels,
            seed,
            chosen,
            partial(one_by_one, records, target),
        )
    made = {name: value for name, value in made.items() if name not in ("far", "schemes")}
    result.attrs = {"study": json.dumps(made | {"n_datasets": n_datasets, "versions": versions()})}
    images = " to ".join(
        str(number) for number in np.unique([study.per_identity.min(), study.per_identity.max()])
    )
    words = f"{n_datasets} data sets of {people},\n{images} images of each; {replicates} replicates"
    return result.assign_attrs(
        n_datasets=n_datasets, measure=chosen.name, target=target, words=words
    )


def exact(study: Study, chosen: Measure) -> xr.DataArray:
    """The measure of the population: from its exact rates, their equal errors, or whole distributions."""
    population = study.population
    if chosen.dealt:
        return chosen(population.population_distributions(int(study.per_identity), by=study.by))
    sources = [partial(population.population_roc, study.far)]
    if hasattr(population, "population_summary"):
        sources.append(population.population_summary)
    for source in sources:
        tallies = source(by=study.by)
        with suppress(AttributeError, KeyError, InputError):  # it reads what is not there
            return chosen(tallies)
    raise InputError(
        f"{chosen.name!r} has no exact value in this population{'' if study.by else ' without by='}"
    )


def read(
    evaluations: dict[str, xr.DataTree],
    truth: xr.DataArray,
    methods: Iterable[str],
    levels: Iterable[float],
    seed: int,
    measure: AnyMeasure,
    each: Callable | None = None,
) -> xr.Dataset:
    """Apply every method at every level to stacked evaluations, by scheme, and count.

    each: gives the intervals of a scheme, method and level where the method reads no replicates.
    """
    chosen = find_measure(measure)
    names = {"scheme": list(evaluations), "method": list(methods), "level": list(levels)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # they say of one band what the study measures
        counted = []
        for scheme, tree in evaluations.items():
            bands = []
            for method in methods:
                if method in WITHOUT_REPLICATES:
                    bands.append(each(scheme, chosen, method, levels))
                else:
                    bands.append(
                        [band(tree, chosen, method=method, level=level) for level in levels]
                    )
            counted.append(_read_scheme(tree, bands, truth, chosen))
    if truth.dims == (FAR_LEVEL,) and chosen.fair is None:
        apart = [error_laws(tree, truth, seed, chosen) for tree in evaluations.values()]
        counted = [xr.merge(pair) for pair in zip(counted, apart, strict=True)]
    result = xr.concat(counted, dim="scheme")
    result = (
        result.assign_coords(names).assign(truth=truth).transpose("scheme", "method", "level", ...)
    )
    for name in set(LONG_NAMES) & set(result):
        result[name].attrs = {"long_name": LONG_NAMES[name]}
    return result


def one_by_one(
    records: list[Record], target: str, scheme: str, chosen: Measure, method: str, levels
) -> list:
    """Intervals of each data set by a method that reads what people add, which is not stacked."""
    evaluations = (opened(record)[scheme] for record in records)
    rows = [
        [band(one, chosen, target=target, method=method, level=level) for level in levels]
        for one in evaluations
    ]
    return [xr.concat(of_level, DATA_SET) for of_level in zip(*rows, strict=True)]


def _read_scheme(
    tree: xr.DataTree, bands: list[list], truth: xr.DataArray, chosen: Measure
) -> xr.Dataset:
    """Counts of one scheme, over method and level; bands: of each method at each level."""
    ends = (xr.concat([one[["lower", "upper"]] for one in row], "level") for row in bands)
    result = xr.concat([_counted(intervals, truth) for intervals in ends], "method")
    share, empirical = result.coverage, tree["empirical"].to_dataset()
    result["coverage_se"] = np.sqrt(share * (1 - share) / empirical.sizes[DATA_SET])
    result["estimate"] = chosen(empirical).mean(DATA_SET)
    if chosen.fair is not None:
        tests = [row[0].p for row in bands if "p" in row[0] and not chosen.dealt]
        p = tests[0] if tests else fair_floor(tree, chosen).p
        result["called_unfair"] = (p <= SIZE).mean(DATA_SET)
    return result.assign(
        {
            name: empirical[name].mean(DATA_SET)
            for name in ("false_rejects", "resolved")
            if name in empirical
        }
    )


def _counted(intervals: xr.Dataset, truth: xr.DataArray) -> xr.Dataset:
    """What one method's intervals do, over the data sets."""
    slack = ROUNDING * abs(truth)
    shares = {
        "coverage": (intervals.lower <= truth + slack) & (truth - slack <= intervals.upper),
        "miss_below": intervals.upper < truth - slack,
        "miss_above": intervals.lower > truth + slack,
        "width": intervals.upper - intervals.lower,
    }
    return xr.Dataset({name: value.mean(DATA_SET) for name, value in shares.items()})


def _check(population, n_datasets, per_identity, n_identities, schemes, methods, levels) -> None:
    """Everything that can be wrong before the first data set is drawn."""
    require(
        hasattr(population, "population_roc"),
        "population must be a vmf Mixture or a vmf IdentityLaw",
    )
    fresh = n_identities is not None
    require(
        fresh or hasattr(population, "sample"),
        "an IdentityLaw needs n_identities=, the number in each data set",
    )
    require(n_datasets >= 2, f"n_datasets must be at least 2, got {n_datasets}")
    images, known = np.asarray(per_identity), n_identities if fresh else population.n_identities
    require(
        images.shape in ((), (known,))
        and np.issubdtype(images.dtype, np.integer)
        and bool(np.all(images >= 2)),
        f"per_identity must be whole numbers of at least 2, one for all or one for each of {known} identities; got "
        f"{per_identity}",
    )
    for what, given, known in (("scheme", schemes, OF_IMAGES), ("method", methods, METHODS)):
        require(
            not isinstance(given, str) and len(given) > 0,
            f"{what}s must be a sequence of names, got {given!r}",
        )
        unknown = [name for name in given if name not in known]
        require(
            not unknown,
            f"unknown {what} {', '.join(map(repr, unknown))}; known: {', '.join(known)}",
        )
    for level in levels:
        require(0 < level < 1, f"levels must lie in (0, 1), got {level}")
