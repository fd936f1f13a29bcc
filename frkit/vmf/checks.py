"""Checks of the arguments that several functions of mixtures take."""

from collections.abc import Mapping

import numpy as np

from frkit.base import real_numbers, require

LARGEST_KAPPA = 1e7  # beyond it no two images of an identity could be told apart


def number(name: str, value, low: float, high: float) -> float:
    """Return one number in [low, high]."""
    given = real_numbers(name, value)
    require(
        given.ndim == 0 and low <= given <= high,
        f"{name} must be a number in [{low:g}, {high:g}], got {value!r}",
    )
    return float(given)


def one_each(name: str, values, n_identities: int) -> np.ndarray:
    """Return numbers (K,), from one for each identity or from one for all."""
    given = real_numbers(name, values)
    require(
        given.shape in ((), (n_identities,)),
        f"{name} must be one number or have shape ({n_identities},), got shape {given.shape}",
    )
    return np.broadcast_to(given, n_identities)


def levels_in(name: str, values, low: int) -> np.ndarray:
    """Return levels (n,) in (low, 1), from one number or several."""
    levels = np.atleast_1d(real_numbers(name, values)).astype(float)
    inside = bool(np.all((levels > low) & (levels < 1)))
    require(
        levels.ndim == 1 and levels.size > 0 and inside,
        f"{name} must be one or several numbers in ({low}, 1), got {values}",
    )
    return levels


def interval(kappa) -> tuple[float, float]:
    """Return (low, high), from a range of concentrations or from one number for both."""
    ends = real_numbers("kappa", kappa).astype(float).ravel()
    require(
        ends.size in (1, 2) and 0 < ends[0] <= ends[-1] <= LARGEST_KAPPA,
        f"kappa must be a number or (low, high) with 0 < low <= high <= {LARGEST_KAPPA:g}, "
        f"got {kappa}",
    )
    return float(ends[0]), float(ends[-1])


def options_of_groups(groups, allowed: tuple[str, ...]) -> tuple[dict[str, dict], np.ndarray]:
    """Return options by group name, and shares (groups,); None is one group, named ""."""
    if groups is None:
        groups = {"": {}}
    require(
        isinstance(groups, Mapping) and len(groups) > 0,
        "groups must map names of groups to options, {'a': {'kappa': 9}, 'b': {}}; "
        f"got {groups!r}",
    )
    options_of = {}
    for name, options in groups.items():
        require(
            isinstance(name, str | int) and isinstance(options, Mapping),
            f"groups must map names of groups to options, got {name!r}: {options!r}",
        )
        unknown = [option for option in options if option not in allowed]
        require(not unknown, f"group {name!r}: unknown options {unknown}; use {', '.join(allowed)}")
        options_of[str(name)] = options
    shares = [number("share", of.get("share", 1), 0, 1e9) for of in options_of.values()]
    require(min(shares) > 0, f"shares must be positive, got {shares}")
    return options_of, np.array(shares)
