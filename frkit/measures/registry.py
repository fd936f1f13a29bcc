"""The register of measures: a name, a function Dataset -> DataArray, its scale and fair value."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import xarray as xr

from frkit.base import require, require_one_of, require_text

IDENTITY_SCALE, LOG_SCALE = "identity", "log"


@dataclass(frozen=True, eq=False)  # a user's function need not be hashable
class Measure:
    """A number computed from one node of an evaluation, and what its interval depends on.

    Attributes
    ----------
    name : str
        The name it is registered under, or the function's own name.
    function : callable
        Dataset of a node -> DataArray; it keeps every dimension that it does not itself reduce.
    scale : {"identity", "log"}
        Pivotal intervals and comparisons of ratios work on the log scale.
    fair : float or None
        The value of a perfectly fair model for a disparity measure, None for any other measure.
    label : str
        Words for an axis, with the unit.
    permuted : bool
        Whether its floor comes from permutations of people's labels (`indices.distributions`).
    binned : bool
        Whether it compares histograms: noise within bins moves it to one side, and resampling
        exaggerates that.
    reads : tuple of str or None
        The variables of a node that the function is given. With None it is given all of them, and
        `with_reads` finds out which ones it reads.
    """

    name: str
    function: Callable[[xr.Dataset], xr.DataArray]
    scale: str = IDENTITY_SCALE
    fair: float | None = None
    label: str = ""
    permuted: bool = False
    binned: bool = False
    reads: tuple[str, ...] | None = None

    @property
    def words(self):
        """The label without its unit."""
        return (self.label or self.name).partition(" (")[0]

    def __call__(self, tallies: xr.Dataset) -> xr.DataArray:
        """The measure of one node of an evaluation."""
        if self.reads is not None:  # what it does not say to read is an error
            known = [name for name in self.reads if name in tallies]
            tallies = tallies[[*known, *tallies.coords]]
        with np.errstate(divide="ignore", invalid="ignore"):  # rates without an error
            values = self.function(tallies)
        require(
            isinstance(values, xr.DataArray) and values.dtype.kind in "fiu",
            f"measure {self.name!r} must return a DataArray of numbers, not "
            f"{type(values).__name__}",
        )
        return values


# the variables of an evaluation, which need no formula -> words for an axis
_VARIABLES = {
    "threshold": "score threshold",
    "threshold_group": "score threshold of each group",
    "far": "FAR (share of impostor pairs accepted)",
    "frr": "FRR (share of genuine pairs rejected)",
    "eer": "EER (share of pairs)",
    "eer_threshold": "score threshold at the EER",
    "auc": "AUC (share of genuine-impostor couples in order)",
    "far_group": "FAR of the group (share of impostor pairs accepted)",
    "frr_group": "FRR of the group (share of genuine pairs rejected)",
    "far_cross": "FAR between groups (share of impostor pairs accepted)",
    "eer_group": "EER of the group (share of pairs)",
    "eer_threshold_group": "score threshold at the EER of the group",
    "auc_group": "AUC of the group (share of genuine-impostor couples in order)",
}
_REGISTER: dict[str, Measure] = {}
_ISO_NAMES = {"fmr": "far", "fnmr": "frr"}  # as ISO/IEC 19795-1 calls the rates of comparisons


def measure(measure: str | Callable[[xr.Dataset], xr.DataArray] | Measure) -> Measure:
    """Find a measure by its name, or make one of a function.

    Parameters
    ----------
    measure : str, callable or Measure
        A registered name such as "frr" (`names()` lists them; ISO's fmr and fnmr, and upper case,
        are understood too: "FNMR_max_min" is "frr_max_min"), a function that takes the Dataset of
        one evaluation node and returns a DataArray, or a Measure, which is returned as it is.

    Returns
    -------
    Measure
        Call it with the Dataset of a node; the result keeps its dimensions.

    Raises
    ------
    InputError
        If the name is not registered, or the argument is neither a name nor a function.

    Examples
    --------
    >>> import xarray as xr
    >>> import frkit as fk
    >>> tallies = xr.Dataset({"frr": ("far_level", [0.2, 0.1])})
    >>> fk.measures.measure("frr")(tallies).values
    array([0.2, 0.1])
    """
    if isinstance(measure, Measure):
        return measure
    if callable(measure):
        return Measure(getattr(measure, "__name__", "measure"), measure)
    is_name = isinstance(measure, str)
    require(is_name, f"a measure is a name or a function, got {type(measure).__name__}")
    if measure in _REGISTER:
        return _REGISTER[measure]
    name_parts = [_ISO_NAMES.get(word, word) for word in measure.lower().split("_")]
    require(
        "_".join(name_parts) in _REGISTER,
        f"no measure is called {measure!r}; registered: {', '.join(names())}. "
        "Pass a function Dataset -> DataArray, or register one with frkit.measures.register",
    )
    return _REGISTER["_".join(name_parts)]


def names() -> list[str]:
    """List the registered names, in alphabetical order.

    Returns
    -------
    list of str
        Every name that `measure`, `band`, `uncertainty` and `compare` understand.

    Examples
    --------
    >>> import frkit as fk
    >>> "eer" in fk.measures.names()
    True
    """
    return sorted(_REGISTER)


def register(
    name: str,
    *,
    scale: str = IDENTITY_SCALE,
    fair: float | None = None,
    label: str = "",
) -> Callable[[Callable], Callable]:
    """Give a function a name that every interval, comparison and plot understands.

    Parameters
    ----------
    name : str
        The name; one of frkit's own variables (frr, far, ...) cannot be taken. Your own
        names can be registered again, so that a notebook cell may run twice.
    scale : {"identity", "log"}
        Use "log" for ratios, whose intervals are then built on the log scale.
    fair : float, optional
        The value that a perfectly fair model has, for disparity measures.
    label : str
        Words for an axis, with the unit; the name when left out.

    Returns
    -------
    decorator
        It keeps the function as it is, and registers it.

    Raises
    ------
    InputError
        If the scale is unknown, or the name belongs to one of frkit's own variables.

    Examples
    --------
    >>> import frkit as fk
    >>> add = fk.measures.register("half_total_error")
    >>> half_total = add(lambda tallies: (tallies.far + tallies.frr) / 2)
    >>> fk.measures.measure("half_total_error").scale
    'identity'
    """
    require_one_of("scale", scale, (IDENTITY_SCALE, LOG_SCALE))
    require_text("name", name)
    require_text("label", label)
    taken = name in _VARIABLES
    require(not taken, f"{name!r} is a variable of every evaluation: choose another name")

    def add(function):
        enter(Measure(name, function, scale, fair, label or name))
        return function

    return add


def enter(measure):
    """Register a measure as it is, under its own name."""
    _REGISTER[measure.name] = measure


def variable(tallies, name):
    """One variable of a node; where it is missing, the message says how to get it."""
    remedies = []
    if name.endswith(("_group", "_cross")):
        remedies.append("by='the name of an attribute'")
    if not name.startswith(("far", "frr", "eer", "threshold")):
        remedies.append("histogram=100")
    if name.startswith("auc"):
        remedies.append("its interval without a method, as replicates have no AUC")
    require(
        name in tallies,
        f"this evaluation contains no {name!r}: evaluate with {' and '.join(remedies) or 'scores'}",
    )
    return tallies[name]


def over_groups(tallies, name):
    """A variable over groups, of two groups at least."""
    values = variable(tallies, name)
    require(
        values.sizes.get("group", 1) >= 2,
        f"a disparity needs two groups or more, but {name!r} has only "
        f"{values['group'].values.tolist()}; evaluate with by='the name of an attribute'",
    )
    return values


# --- what a measure reads ------------------------------------------------------------------------


def with_reads(measure: Measure, tallies) -> Measure:
    """Return the measure with the names of the variables that it reads, known or found by trial.

    A function may ask for a variable in any way, such as `tallies.get("eer", 0)`. So each
    variable is changed in turn: if the result changes, the variable is read.
    """
    if measure.reads is None:
        value = measure(tallies)  # raises if a variable is missing
        names = (name for name in tallies.data_vars if _changes(measure, tallies, name, value))
        return replace(measure, reads=tuple(names))
    return measure


def variables_read(measure, tallies):
    """Return the names of the variables that a measure reads, known or found by trial."""
    return with_reads(measure, tallies).reads


def _changes(measure, tallies, name, before):
    """Whether a measure changes, or fails, where a variable has other values: none, or random."""
    values = tallies[name]
    missing = np.full(values.shape, np.nan)
    random = np.random.Generator(np.random.SFC64(0)).random(values.shape)
    for others in (missing, random):
        try:
            after = measure(tallies.assign({name: values.copy(data=others)}))
        except Exception:  # whatever a user's function raises
            return True
        if not before.equals(after):
            return True
    return False


for name, label in _VARIABLES.items():
    enter(Measure(name, partial(variable, name=name), label=label, reads=(name,)))
