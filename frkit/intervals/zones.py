"""Zones of decision: which of two models is fairer, by the estimate and by the end of the band."""

import xarray as xr

from frkit.base import MODEL, require
from frkit.intervals.compare import aligned


def decision_zones(bands: xr.Dataset | dict[str, xr.Dataset]) -> xr.Dataset:
    """Say which of two models is fairer at each level: by the estimate, and by the end of the band.

    Zone A: the first model is fairer by the estimate and by the worse end of the band. Zone C: the
    second is. Zone B: the estimate is for one and the worse end for the other, so that the decision
    depends on how much risk one takes.

    Parameters
    ----------
    bands : xr.Dataset or dict of str to xr.Dataset
        What `band` returned of a disparity measure for an evaluation of two models; or two bands by
        name.

    Returns
    -------
    xr.Dataset
        Over the levels: `zone` ("A", "B", "C", or "" where a number is missing or both are equal),
        `by_estimate` and `by_band` (names of the fairer model).

    Raises
    ------
    InputError
        Not two models, no disparity measure, or bands of different measures or levels.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4.

    Examples
    --------
    >>> import xarray as xr
    >>> ends = {"estimate": [2.0, 3.0], "upper": [3.0, 6.0], "lower": [1.5, 2.0]}
    >>> ends = {name: ("far_level", values) for name, values in ends.items()}
    >>> a = xr.Dataset(ends, attrs={"measure": "m", "fair": 1.0})
    >>> upper = a.upper + xr.DataArray([1.0, -2.0], dims="far_level")
    >>> b = a.assign(estimate=a.estimate - 0.5, upper=upper)
    >>> "".join(decision_zones({"x": a, "y": b}).zone.values)
    'BC'
    """
    if not isinstance(bands, dict):
        names = bands[MODEL].values if MODEL in bands.dims else ()
        bands = {str(name): bands.sel({MODEL: name}, drop=True) for name in names}
    message = "zones compare two models: give two bands by name, {'A': ..., 'B': ...}"
    require(len(bands) == 2, message)
    a, b = bands.values()
    fair = a.attrs.get("fair")
    measure = a.attrs.get("measure")
    message = "zones need two bands of the same disparity measure, which has a fair value"
    require(fair is not None and measure == b.attrs.get("measure"), message)
    a, b = aligned(a, b)
    mostly_below = float((a.estimate + b.estimate - 2 * fair).sum()) < 0
    away, worse_end = (-1, "lower") if mostly_below else (1, "upper")
    by_estimate = _fairer(away * (a.estimate - b.estimate), *bands)
    by_band = _fairer(away * (a[worse_end] - b[worse_end]), *bands)
    for_first = by_estimate == next(iter(bands))
    zone = xr.where(for_first, "A", "C").where(by_estimate == by_band, "B")
    zone = zone.where((by_estimate != "") & (by_band != ""), "")
    result = xr.Dataset({"zone": zone, "by_estimate": by_estimate, "by_band": by_band})
    return result.assign_attrs(models=list(bands), measure=measure)


def _fairer(gap, name_a, name_b):
    """The name of the fairer model: the first where the gap is negative, none where it is 0."""
    return xr.where(gap < 0, name_a, xr.where(gap > 0, name_b, ""))
