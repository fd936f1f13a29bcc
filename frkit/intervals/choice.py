"""Which interval is taken: the one that was named, the measure's default, or the one that `auto` recommends."""

import xarray as xr

from frkit.base import InputError, require
from frkit.intervals.corrected import obstacle
from frkit.intervals.nodes import provenance, values_of
from frkit.intervals.simultaneous import IMPOSTOR_RATES
from frkit.measures.registry import Measure

WITHOUT_FRR = ("threshold", *IMPOSTOR_RATES)
AUTO, CORRECTED = "auto", "corrected"
METHODS = ("recentered", "naive", "gaussian", "pivotal", "rescaled", CORRECTED, AUTO)


def choose(method: str | None, evaluation: xr.DataTree, chosen: Measure, *, paired: bool = False) -> tuple[str, str]:
    """The method to use, and why; paired: for the difference of two evaluations, which has no corrected interval."""
    require(method is None or method in METHODS, f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method == AUTO:
        return _recommended(evaluation, chosen, paired)
    if method is None:
        return ("recentered" if chosen.fair is None else "pivotal"), "the default of the measure"
    require(
        not paired or method != CORRECTED,
        "method='corrected' is for the rates of one model; for a difference take method='auto' or 'rescaled'",
    )
    return method, "named"


def _recommended(evaluation: xr.DataTree, chosen: Measure, paired: bool) -> tuple[str, str]:
    """The rule of method="auto", in the words of `band`."""
    if chosen.fair is not None:
        return "pivotal", "a disparity measure"
    known = provenance(evaluation)
    if not known.get("copies", False):
        return "recentered", f"replicates of the {known.get('scheme')} scheme hold no copies of images"
    if not paired and not obstacle(evaluation, chosen.name):
        few, median, many = known["images_per_identity"]
        return CORRECTED, f"{chosen.name} with its variance over draws of images, {few:g} to {many:g} per identity"
    if chosen.name in WITHOUT_FRR:
        return "recentered", f"{chosen.name} reads no FRR, which alone has copies of images"
    try:
        values_of(evaluation, chosen, "rescaled")
    except InputError:
        return "recentered", f"{chosen.name} does not read FAR and FRR alone"
    return "rescaled", f"{chosen.name} reads FAR and FRR, and its variance over draws of images is not known"
