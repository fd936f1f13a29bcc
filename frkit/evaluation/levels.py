"""FAR levels and fixed thresholds: where rates are asked for."""

import numpy as np

from frkit.base import require


def far_levels(lowest: float, highest: float, *, per_decade: int = 4) -> np.ndarray:
    """FAR levels at equal steps of the logarithm, both ends included.

    Parameters
    ----------
    lowest, highest : float
        In (0, 1).
    per_decade : int
        Levels in a factor of ten, at least 1.

    Returns
    -------
    np.ndarray
        (far_level,), ascending.

    Raises
    ------
    InputError
        Unless 0 < lowest < highest < 1.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.far_levels(1e-5, 1e-1, per_decade=1).tolist()
    [1e-05, 0.0001, 0.001, 0.01, 0.1]
    """
    require(0 < lowest < highest < 1, f"far levels need 0 < lowest < highest < 1, got {lowest} and {highest}")
    require(per_decade >= 1, f"per_decade must be at least 1, got {per_decade}")
    decades = np.log10(highest / lowest)
    levels = np.logspace(np.log10(lowest), np.log10(highest), max(2, round(decades * per_decade) + 1))
    levels = np.array([float(f"{level:.12g}") for level in levels])  # 1e-5 is 1e-5, so that .sel finds it
    levels[[0, -1]] = lowest, highest
    return levels


def asked_levels(far, threshold) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Distinct FAR levels or fixed thresholds, ascending: one of the two is None."""
    require(far is None or threshold is None, "give far= or threshold=, not both")
    if threshold is not None:
        fixed = np.atleast_1d(np.asarray(threshold, float))
        require(
            fixed.ndim == 1 and fixed.size and np.all(np.isfinite(fixed)),
            f"threshold must be finite numbers, got {threshold!r}",
        )
        return None, np.unique(fixed)
    levels = far_levels(1e-5, 1e-1) if far is None else np.atleast_1d(np.asarray(far, float))
    inside = levels.ndim == 1 and levels.size and np.all((levels > 0) & (levels < 1))
    require(inside, f"far must lie in (0, 1), got {far!r}")
    return np.unique(levels), None
