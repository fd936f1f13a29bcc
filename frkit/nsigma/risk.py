"""Levels of risk: names for ranges of |N|."""

import json
from collections.abc import Mapping

import numpy as np
import xarray as xr

from frkit.base import require

RISK_LEVELS = {"minimal": 0.0, "limited": 1.0, "high": 2.0, "unacceptable": 3.0}


def with_risk(result: xr.Dataset, risk_levels: Mapping[str, float] | None = None) -> xr.Dataset:
    """Name the risk level of every |N|: limits that the user can set, at once and without new subsets.

    Parameters
    ----------
    result : any Dataset with `n_absolute`, such as what `n_sigma` returned.
    risk_levels : as in `n_sigma`.

    Returns
    -------
    xr.Dataset : with `risk`, the level's name ("unknown" where N is NaN), and the attribute `risk_levels`.

    Raises
    ------
    InputError : levels that do not ascend from 0.

    References
    ----------
    DeAlcala et al. (2023), section V-B and Fig. 1.

    Examples
    --------
    >>> import frkit as fk
    >>> strict = fk.nsigma.with_risk(fk.nsigma.published(), {"fine": 0, "alarming": 0.5})
    >>> strict.risk.sel(finetuned="all").values.tolist()
    ['alarming', 'fine', 'alarming', 'alarming']
    """
    levels = dict(RISK_LEVELS if risk_levels is None else risk_levels)
    starts = np.array(list(levels.values()), float)
    require(
        len(levels) > 0 and starts[0] == 0 and bool(np.all(np.diff(starts) > 0)),
        f"risk_levels must name the |N| at which each level begins, ascending from 0; got {levels}",
    )
    place = np.searchsorted(starts, result.n_absolute.values, side="right") - 1
    names = np.array([*levels, "unknown"])[np.where(result.n_absolute.isnull(), len(levels), place)]
    result = result.assign(risk=(result.n_absolute.dims, names, {"long_name": "risk level of |N|"}))
    return result.assign_attrs(risk_levels=json.dumps({name: float(start) for name, start in levels.items()}))
