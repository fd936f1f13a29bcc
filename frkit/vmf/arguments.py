"""Checks of the arguments that several functions of mixtures take."""

import numpy as np

from frkit.base import real_numbers, require, require_mapping


def require_population(name, value):
    """Refuse what has no exact rates."""
    require(
        hasattr(value, "population_roc"),
        f"{name} must be what fk.vmf.mixture or fk.vmf.IdentityLaw returned, got "
        f"{type(value).__name__}",
    )


def one_per_identity(name, values, n_identities):
    """Return numbers (K,), from one for each identity or from one for all."""
    given = real_numbers(name, values)
    require(
        given.shape in ((), (n_identities,)),
        f"{name} must be one number or have shape ({n_identities},), got shape {given.shape}",
    )
    return np.broadcast_to(given, n_identities)


def kappa_range(kappa):
    """Return (low, high), from a range of concentrations or from one number for both."""
    ends = real_numbers("kappa", kappa)
    low, high = np.broadcast_to(ends, 2).tolist() if ends.shape in ((), (1,), (2,)) else (0, 0)
    require(
        0 < low <= high < np.inf,
        f"kappa must be a number or (low, high) with 0 < low <= high, got {kappa}",
    )
    return low, high


def options_of_groups(groups, allowed):
    """Return options by group name, and shares (groups,); None is one group, named ""."""
    if groups is not None:
        require_mapping("groups", groups, '{"a": {"share": 2}, "b": {}}')
    options_of = {"": {}} if groups is None else dict(groups)
    for name, options in options_of.items():
        require_mapping(f"groups[{name!r}]", options, '{"share": 2}', 0)
        unknown = set(options).difference(allowed)
        message = f"unknown options {unknown}; use {', '.join(allowed)}"
        require(not unknown, f"group {name!r}: {message}")
    shares = real_numbers("share", [options.get("share", 1) for options in options_of.values()])
    positive = np.all(shares > 0)
    require(positive, f"shares must be positive, got {shares.tolist()}")
    return options_of, shares
