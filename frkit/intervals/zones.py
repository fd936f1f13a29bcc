"""Zones of decision: which of two models is fairer, by the estimate and by the end of the band."""

import xarray as xr

from frkit.base import require, require_kind


def decision_zones(bands: xr.Dataset) -> xr.Dataset:
    """Say which of two models is fairer at each level: by the estimate, and by the end of the band.

    Zone A: the first model is fairer by the estimate and by the worse end of the band. Zone C: the
    second is. Zone B: the estimate favours one model and the worse end the other, so the decision
    depends on how much risk one accepts.

    Parameters
    ----------
    bands : xr.Dataset
        What `band` returned of a disparity measure for an evaluation of two models.

    Returns
    -------
    xr.Dataset
        Over the levels: `zone` ("A", "B", "C", or "" where a number is missing or both are equal),
        `by_estimate` and `by_band` (names of the fairer model).

    Raises
    ------
    InputError
        Not two models, or no disparity measure.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4.

    Examples
    --------
    >>> import xarray as xr
    >>> ends = {"estimate": [[2.0, 3.0], [1.5, 2.5]], "upper": [[3.0, 6.0], [4.0, 4.0]]}
    >>> ends = {name: (("model", "far_level"), values) for name, values in ends.items()}
    >>> about = {"kind": "band", "measure": "m", "fair": 1.0}
    >>> bands = xr.Dataset(ends, {"model": ["x", "y"]}, about)
    >>> "".join(decision_zones(bands).zone.values)
    'BC'
    """
    require_kind("bands", bands, "band")
    require(bands.sizes.get("model") == 2, "zones compare two models: give a band of two models")
    fair = bands.attrs.get("fair")
    require(fair is not None, "zones need bands of a disparity measure, which has a fair value")
    mostly_below = float((bands.estimate - fair).sum()) < 0
    by_estimate = _fairer(-bands.estimate if mostly_below else bands.estimate)
    by_band = _fairer(-bands.lower if mostly_below else bands.upper)
    first, second = bands["model"].values.tolist()
    zone = xr.where(by_estimate == first, "A", "C").where(by_estimate == by_band, "B")
    zone = zone.where((by_estimate != "") & (by_band != ""), "")
    result = xr.Dataset({"zone": zone, "by_estimate": by_estimate, "by_band": by_band})
    about = {"kind": "decision_zones", "measure": bands.attrs["measure"]}
    return result.assign_attrs(about, models=[first, second])


def _fairer(unfairness):
    """The name of the fairer model; none where both are equal or a number is missing."""
    first, second = unfairness.transpose("model", ...).drop_vars("model")
    name_of_first, name_of_second = unfairness["model"].values.tolist()
    name = xr.where(first < second, name_of_first, "")
    return xr.where(second < first, name_of_second, name)
