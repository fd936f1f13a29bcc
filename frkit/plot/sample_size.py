"""The plan of a study: what each number of identities buys."""

import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require
from frkit.plot.style import COLOURS, SMALL, new_axes, print_captions


def sample_size(plan: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw half-width or power against the number of identities, for each number of images per identity.

    Parameters
    ----------
    plan : what `studies.sample_size` returned.
    ax : Axes to draw on; a new one when left out.

    Returns
    -------
    Axes with the predicted curves, what was measured in the data with as many images (circles), the recommended sizes
    (diamonds), the goal (dashed) and, where the plan holds it, a simulation at the recommended size (star).

    Raises
    ------
    InputError : the Dataset is no plan.

    Examples
    --------
    >>> import frkit as fk
    >>> pilot = fk.vmf.IdentityLaw(16, kappa=(20, 80)).draw(60).sample(5)
    >>> ax = fk.plot.sample_size(fk.studies.sample_size(pilot, "half_width", 0.02, far=0.05, progress=False))
    >>> ax.get_xlabel()
    'people'
    """
    require("curve_value" in plan, "this is no plan: pass what studies.sample_size returned")
    ax = new_axes(ax)
    for colour, number in zip(COLOURS, plan.per_identity.values, strict=False):
        one = plan.sel(per_identity=number)
        ax.plot(one.curve_identities, one.curve_value, color=colour, label=f"{number} images per identity")
        measured = plan.isel(part=plan.part_images.values == number)
        ax.plot(measured.part_identities, measured.part_value, "o", color=colour, mfc="white")
        ax.plot(one.n_identities, one.predicted, "D", color=colour, markersize=8, zorder=4)
    ax.axhline(
        plan.attrs["line"], color="#555555", linestyle="--", linewidth=1, label=f"goal: {plan.attrs['line']:.3g}"
    )
    if "confirmed" in plan:
        best = plan.isel(per_identity=plan.n_images.argmin("per_identity"))
        error = 2 * plan.confirmed_se
        style = dict(
            fmt="*", color="black", markersize=11, capsize=3, zorder=5, label="simulated at the size recommended"
        )
        ax.errorbar(best.n_identities, plan.confirmed, error, **style)
    ax.plot([], [], "o", color="#555555", mfc="white", label="measured in the data given")
    ax.plot([], [], "D", color="#555555", label="recommended")
    ax.set_xscale("log")
    ax.set_xlabel("people")
    ax.set_ylabel(plan.attrs["value"].replace(", ", ",\n"))
    ax.grid(True, color="#E5E5E5", linewidth=0.6)
    given = plan.attrs
    print_captions(
        ax, [f"FAR {given['far']:g}, FRR {given['frr']:.3g}; {given['scheme']} scheme, about {given['target']}"]
    )
    ax.legend(fontsize=SMALL, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    return ax
