"""How often intervals hold the exact truth: many data sets, read by every method (Conti & Clémençon, B.1)."""

import json
import warnings

import numpy as np
import xarray as xr

from frkit.base import DataWarning, require
from frkit.evaluation.evaluate import far_levels
from frkit.evaluation.nodes import versions
from frkit.intervals import METHODS, band
from frkit.resampling import TARGETS, Resampling
from frkit.studies.collecting import Plan, collect
from frkit.studies.laws import laws
from frkit.studies.store import DATA_SET, Store, stacked

LEVELS = tuple(round(0.05 * step, 2) for step in range(1, 20))
MEASURE = "frr"
SCHEMES = tuple(scheme for scheme in TARGETS if scheme not in ("pair", "subset"))
LONG_NAMES = {
    "coverage": "share of data sets whose interval holds the truth",
    "coverage_se": "Monte Carlo standard error of the coverage",
    "miss_below": "share of data sets whose whole interval lies below the truth",
    "miss_above": "share of data sets whose whole interval lies above the truth",
    "width": "mean width of the interval (FRR)",
    "truth": "exact FRR of the population",
    "false_rejects": "rejected genuine pairs, mean over data sets",
    "resolved": "share of data sets in which the level has at least 10 errors of either kind",
}


def coverage(
    population,
    *,
    n_datasets: int = 200,
    per_identity=10,
    n_identities: int | None = None,
    far=None,
    schemes: tuple[str, ...] = ("image",),
    methods: tuple[str, ...] = ("recentered", "naive", "gaussian"),
    levels: tuple[float, ...] = LEVELS,
    replicates: int = 200,
    seed: int = 0,
    store=None,
    progress: bool = True,
) -> xr.Dataset:
    """Count how often intervals for the ROC curve hold the exact truth, over many data sets of a population.

    All methods, levels and schemes read the same data sets, and all methods and levels of a scheme the same
    replicates, so that their differences carry little noise. Data sets are evaluated side by side, on threads or
    on the active distributed Client. The cautions of `band` about one data set are not given: they are what the study
    measures. The data sets and replicates of a study of 200 are the first of one of 1,000,
    and the methods and levels are read afterwards: with a store, a study can be continued, enlarged, and read
    again by other methods.

    Parameters
    ----------
    population : a vmf Mixture, whose identities stand in every data set; or a vmf IdentityLaw, of which every
        data set draws `n_identities` new ones.
    n_datasets : number of data sets, at least 2.
    per_identity : images of each identity, at least 2: one number, or one for each identity.
    n_identities : identities in a data set, for an IdentityLaw only.
    far : FAR levels in (0, 1); 1e-6 to 1e-1 with 4 per decade when left out.
    schemes : of "image", "identity", "two-level", "double-or-nothing".
    methods : methods of `band`.
    levels : nominal coverages, each in (0, 1); .05 to .95 by default, as in the paper's Table 1.
    replicates : number of replicates, at least 2.
    seed : seed of everything that is drawn; data set d depends on the seed and d only.
    store : folder in which every finished data set is kept, one small file each; a study that was interrupted
        goes on from there and ends with the same bits.
    progress : show a progress bar.

    Returns
    -------
    xr.Dataset over (scheme, method, level, far_level): `coverage`, `coverage_se`, `miss_below`, `miss_above` (an
    undefined interval counts as none of these), `width`. Over far_level: `truth`; and over (scheme, far_level):
    `false_rejects` and `resolved`, and how far the law of θ* - θ~, pooled over data sets, is from that of θ^ - θ:
    `kolmogorov`, `wasserstein` (unit of FRR), each with `_chance`, the 95 % point of what as many errors drawn from the
    pooled law itself give; `law` holds quantiles of both over (errors, probability). Select a method by
    `study.sel({"method": "naive"})`: xarray's own `sel(method=...)` means something else.

    Raises
    ------
    InputError : a number out of its range, an unknown scheme or method, n_identities missing or given in vain, or
        a store that belongs to a study with other parameters.

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
    far = far_levels(1e-6, 1e-1) if far is None else np.unique(np.asarray(far, float))
    _check(population, n_datasets, per_identity, n_identities, schemes, methods, levels)
    Resampling(n=replicates, seed=seed)  # refuses what it cannot draw
    plan = Plan(population, n_identities, np.asarray(per_identity), far, tuple(schemes), replicates, seed)
    truth = population.population_roc(far).frr
    keep = None if store is None else Store(store, plan.parameters())
    evaluations = stacked(collect(plan, n_datasets, keep, progress), far)
    result = read(evaluations, truth, methods, levels, seed)
    made = {name: value for name, value in plan.parameters().items() if name not in ("far", "schemes")}
    result.attrs = {"study": json.dumps(made | {"n_datasets": n_datasets, "versions": versions()})}
    return result.assign_attrs(n_datasets=n_datasets, words=_words(plan, n_datasets))


def _words(plan: Plan, n_datasets: int) -> str:
    """The size of a study, for the caption of a figure."""
    people = f"{plan.mixture(0).n_identities:,} identities"
    people = f"the same {people}" if plan.n_identities is None else f"{people}, new in each"
    few, many = plan.per_identity.min(), plan.per_identity.max()
    images = f"{few}" if few == many else f"{few} to {many}"
    return f"{n_datasets} data sets of {people},\n{images} images of each; {plan.replicates} replicates"


def read(evaluations: dict[str, xr.DataTree], truth: xr.DataArray, methods, levels, seed: int) -> xr.Dataset:
    """Apply every method at every level to stacked evaluations, by scheme, and count."""
    names = {"scheme": list(evaluations), "method": list(methods), "level": list(levels)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # they say of one band what the study measures
        counted = [_read_scheme(tree, truth, methods, levels) for tree in evaluations.values()]
    apart = [laws(tree, truth, seed) for tree in evaluations.values()]
    result = xr.concat([xr.merge(pair) for pair in zip(counted, apart, strict=True)], dim="scheme")
    result = result.assign_coords(names).assign(truth=truth).transpose("scheme", "method", "level", ...)
    for name, words in LONG_NAMES.items():
        result[name].attrs = {"long_name": words}
    return result


def _read_scheme(tree: xr.DataTree, truth: xr.DataArray, methods, levels) -> xr.Dataset:
    """Counts of one scheme, over method and level."""
    rows = [[_counted(band(tree, MEASURE, method=m, level=one), truth) for one in levels] for m in methods]
    result = xr.combine_nested(rows, concat_dim=["method", "level"])
    share = result.coverage
    result["coverage_se"] = np.sqrt(share * (1 - share) / tree["empirical"].sizes[DATA_SET])
    found = tree["empirical"].to_dataset()
    return result.assign({name: found[name].mean(DATA_SET) for name in ("false_rejects", "resolved")})


def _counted(intervals: xr.Dataset, truth: xr.DataArray) -> xr.Dataset:
    """What one method's intervals do, over the data sets."""
    shares = {
        "coverage": (intervals.lower <= truth) & (truth <= intervals.upper),
        "miss_below": intervals.upper < truth,
        "miss_above": intervals.lower > truth,
        "width": intervals.upper - intervals.lower,
    }
    return xr.Dataset({name: value.mean(DATA_SET) for name, value in shares.items()})


def _check(population, n_datasets, per_identity, n_identities, schemes, methods, levels) -> None:
    """Everything that can be wrong before the first data set is drawn."""
    require(hasattr(population, "population_roc"), "population must be a vmf Mixture or a vmf IdentityLaw")
    fresh = hasattr(population, "draw")
    require(not fresh or n_identities is not None, "an IdentityLaw needs n_identities=, the number in each data set")
    require(fresh or n_identities is None, "n_identities= is for an IdentityLaw; a Mixture has its own identities")
    require(n_datasets >= 2, f"n_datasets must be at least 2, got {n_datasets}")
    images, known = np.asarray(per_identity), n_identities if fresh else population.n_identities
    require(
        images.shape in ((), (known,)) and np.issubdtype(images.dtype, np.integer) and bool(np.all(images >= 2)),
        f"per_identity must be whole numbers of at least 2, one for all or one for each of {known} identities; got "
        f"{per_identity}",
    )
    for what, given, known in (("scheme", schemes, SCHEMES), ("method", methods, METHODS)):
        require(not isinstance(given, str) and len(given) > 0, f"{what}s must be a sequence of names, got {given!r}")
        unknown = [name for name in given if name not in known]
        require(not unknown, f"unknown {what} {', '.join(map(repr, unknown))}; known: {', '.join(known)}")
    for level in levels:
        require(0 < level < 1, f"levels must lie in (0, 1), got {level}")
