"""Paired comparison of two models on the same images and the same resamples."""

import numpy as np
import xarray as xr

from frkit.base import MODEL, require, warn
from frkit.intervals.arithmetic import Values, interval, logarithm
from frkit.intervals.bands import AnyMeasure
from frkit.intervals.choice import choose
from frkit.intervals.nodes import attributes, cautions, provenance, values_of, with_resolved
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE
from frkit.measures.registry import measure as find_measure


def compare(
    evaluation_a: xr.DataTree,
    evaluation_b: xr.DataTree | AnyMeasure,
    measure: AnyMeasure | None = None,
    *,
    models: tuple[str, str] | None = None,
    method: str | None = None,
    level: float = 0.95,
) -> xr.Dataset:
    """Compare two models on the same images and the same resamples: the paired difference with its band.

    Pairing makes the band of the difference narrower than two separate bands suggest, because both models
    meet the same easy and hard images in every resample. Differences are A - B; measures on the log scale are
    compared as a ratio A / B, whose interval is built on the log scale.

    Parameters
    ----------
    evaluation_a, evaluation_b : evaluations of the two models, with the same images, scheme, seed and n.
        Or give one evaluation that holds both: `compare(evaluation, measure, models=("A", "B"))`.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    models : names of the two models inside one evaluation; with two evaluations, names for the picture.
    method, level : as in `band`; "corrected" is not known for differences, and "auto" never takes it.

    Returns
    -------
    xr.Dataset as `band` returns it, of the difference (attrs["contrast"] = "difference", attrs["null"] = 0)
    or of the ratio ("ratio", 1). `resolved` is true where it is true for both models.

    Raises
    ------
    InputError : the evaluations are of other images, other draws or other levels; a model is not there.

    Warns
    -----
    DataWarning : as `band`.

    References
    ----------
    Conti & Clémençon (2024), section 4 (the comparison of Fig. 1, here with one band for the difference).

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> how = dict(far=[0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> cosine = fk.evaluate(fk.score_tensor(faces), **how)
    >>> euclid = fk.evaluate(fk.score_tensor(faces, similarity="euclidean"), **how)
    >>> bool(abs(fk.compare(cosine, euclid, "frr").estimate).max() < 1e-9)
    True
    """
    a, b, measure = _two_sides(evaluation_a, evaluation_b, measure, models)
    chosen = find_measure(measure)
    method, _ = choose(method, a, chosen, paired=True)
    _require_paired(a, b)
    sides = zip(values_of(a, chosen, method), values_of(b, chosen, method), strict=True)
    result = _contrast([_aligned(x, y) for x, y in sides], method, level, chosen.scale)
    result = with_resolved(result, a, b)
    first, second = models or ("A", "B")
    result.attrs |= {**attributes(a, chosen, method, level), "a": str(first), "b": str(second)}
    for message in cautions(a, result):
        warn(message)
    return result


def _contrast(pairs: list, method: str, level: float, scale: str) -> xr.Dataset:
    """The interval of A - B, or of A / B for a measure on the log scale."""
    if scale != LOG_SCALE:
        result = interval(Values(*(x - y for x, y in pairs)), method, level, IDENTITY_SCALE)
        return result.assign_attrs(contrast="difference", null=0)
    with np.errstate(invalid="ignore"):
        logarithms = Values(*(logarithm(x) - logarithm(y) for x, y in pairs))
    result = interval(logarithms, method, level, IDENTITY_SCALE)
    ratios = {name: np.exp(result[name]) for name in ("estimate", "lower", "upper", "centre")}
    return result.assign(ratios).assign_attrs(contrast="ratio", null=1)


def _two_sides(evaluation_a, evaluation_b, measure, models) -> tuple:
    """The two evaluations and the measure, from either form of the call."""
    require(models is None or len(models) == 2, f"models must name two models, got {models!r}")
    if measure is not None:
        return evaluation_a, evaluation_b, measure
    require(
        models is not None,
        "compare takes two evaluations and a measure, or one evaluation, a measure and models=(A, B)",
    )
    held = evaluation_a["empirical"].coords
    known = [str(name) for name in held[MODEL].values] if MODEL in held else []
    for name in models:
        require(name in known, f"no model is called {name!r} in this evaluation; it holds {known}")
    sides = (_one_model(evaluation_a, name) for name in models)
    return *sides, evaluation_b


def _one_model(evaluation: xr.DataTree, name: str) -> xr.DataTree:
    """The part of a stacked evaluation that belongs to one model."""
    nodes = {key: child.to_dataset().sel({MODEL: name}, drop=True) for key, child in evaluation.children.items()}
    result = xr.DataTree.from_dict(nodes)
    result.attrs = dict(evaluation.attrs)
    return result


def _require_paired(a: xr.DataTree, b: xr.DataTree) -> None:
    """Refuse to pair evaluations whose replicates are not the same resamples of the same images."""
    first, second = provenance(a), provenance(b)
    for key in ("scheme", "n", "seed", "n_images", "n_identities", "fingerprint"):
        require(
            first.get(key) == second.get(key),
            f"a paired comparison needs the same images and the same draws, but {key} differs: "
            f"{first.get(key)!r} and {second.get(key)!r}. Evaluate both models on the same images with the "
            "same Resampling(scheme, n, seed)",
        )


def _aligned(x: xr.DataArray, y: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Both arrays, if they lie at exactly the same levels and groups."""
    try:
        return xr.align(x, y, join="exact")
    except ValueError as error:
        require(False, f"the two evaluations lie at other levels or groups: {error}")
