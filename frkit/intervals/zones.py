"""Where a choice between two models depends on whether one looks at the estimate or at the band."""

import numpy as np
import xarray as xr

from frkit.base import MODEL, require

FIRST, TORN, SECOND = "A", "B", "C"


def decision_zones(bands: xr.Dataset | dict[str, xr.Dataset]) -> xr.Dataset:
    """Tell which of two models is fairer at each level: by the estimate, and by the worse end of the band.

    Zone A: the first model is fairer by both. Zone C: the second is. Zone B: the estimate is for one and the
    worse end of the band for the other, so that the decision depends on how much risk one takes.

    Parameters
    ----------
    bands : what `band` returned of a disparity measure for an evaluation of two models; or two bands by name.

    Returns
    -------
    xr.Dataset over the levels: `zone` ("A", "B", "C", or "" where a number is missing or both are alike),
    `by_estimate` and `by_band` (names of the fairer model).

    Raises
    ------
    InputError : not two models, no disparity measure, or bands of different measures or levels.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4.

    Examples
    --------
    >>> import xarray as xr
    >>> ends = {"estimate": [2.0, 3.0], "upper": [3.0, 6.0], "lower": [1.5, 2.0]}
    >>> a = xr.Dataset({name: ("far_level", v) for name, v in ends.items()}, attrs={"measure": "m", "fair": 1.0})
    >>> b = a.assign(estimate=a.estimate - 0.5, upper=a.upper + xr.DataArray([1.0, -2.0], dims="far_level"))
    >>> "".join(decision_zones({"x": a, "y": b}).zone.values)
    'BC'
    """
    names, pair = _two(bands)
    fair = {one.attrs.get("fair") for one in pair}
    require(
        len({one.attrs.get("measure") for one in pair}) == 1 and len(fair) == 1 and None not in fair,
        "zones need two bands of the same disparity measure, which has a fair value",
    )
    first, second = _aligned(*pair)
    [fair_value] = fair
    away = 1 if float((first.estimate + second.estimate - 2 * fair_value).sum()) >= 0 else -1
    worse_end = "upper" if away > 0 else "lower"
    words = {}
    for name, variable in (("by_estimate", "estimate"), ("by_band", worse_end)):
        gap = away * (first[variable] - second[variable])
        words[name] = xr.where(gap < 0, names[0], xr.where(gap > 0, names[1], ""))
    agree = words["by_estimate"] == words["by_band"]
    zone = xr.where(agree, xr.where(words["by_estimate"] == names[0], FIRST, SECOND), TORN)
    known = (words["by_estimate"] != "") & (words["by_band"] != "")
    result = xr.Dataset({"zone": xr.where(known, zone, ""), **words})
    return result.assign_attrs(models=list(names), measure=first.attrs["measure"])


def _two(bands: xr.Dataset | dict[str, xr.Dataset]) -> tuple[list[str], list[xr.Dataset]]:
    """Names and bands of the two models."""
    if not isinstance(bands, dict):
        require(MODEL in bands.dims, "one band holds one model: give two bands by name, {'A': ..., 'B': ...}")
        bands = {str(name): bands.sel({MODEL: name}, drop=True) for name in bands[MODEL].values}
    require(len(bands) == 2, f"zones compare two models, got {len(bands)}: {', '.join(bands)}")
    return list(bands), list(bands.values())


def _aligned(first: xr.Dataset, second: xr.Dataset) -> tuple[xr.Dataset, xr.Dataset]:
    """Both bands, if they lie at the same levels."""
    same = first.estimate.dims == second.estimate.dims and all(
        np.array_equal(first[dim], second[dim]) for dim in first.estimate.dims if dim in first.coords
    )
    require(same, "the two bands lie at other levels")
    return first, second
