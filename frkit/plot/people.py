"""Who drives the errors, as bars."""

import xarray as xr
from matplotlib.axes import Axes

from frkit.plot.style import COLOURS, curve_colours, finish, new_axes, plain, require_dims

WORDS = {
    "frr": "rejections of genuine pairs (FRR)",
    "far": "acceptances of impostor pairs (FAR)",
}


def contributions(
    who: xr.Dataset, ax: Axes | None = None, *, rate: str = "frr", people: int = 12
) -> Axes:
    """Draw the people with the largest shares of the errors as bars, the largest on top.

    A few long bars show that a rate depends on a few people, or on wrong labels: `worst_pairs`
    lists their pairs.

    Parameters
    ----------
    who : xr.Dataset
        What `contributions` returned, of one model at one level: `.sel(far_level=1e-3)`.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    rate : {"frr", "far"}
        Whose errors.
    people : int
        Most bars to draw; people without an error have none.

    Returns
    -------
    matplotlib.axes.Axes
        Groups have different colours. The words above name the effective number of people with
        errors.

    Raises
    ------
    InputError
        Several levels or models at once.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, kappa=(5, 15), seed=0).sample(4, seed=1))
    >>> who = fk.contributions(scores, far=[0.1]).isel(far_level=0)
    >>> ax = fk.plot.contributions(who, people=3)
    >>> len(ax.patches)
    3
    """
    import seaborn as sns

    share = who[f"{rate}_share"]
    require_dims("who", share, ("identity",))
    largest = share.where(share > 0, drop=True).sortby(share, ascending=False)
    bars = largest[:people].to_dataframe("share").reset_index()
    bars["identity"] = bars["identity"].map(plain)
    colours = {"color": COLOURS[0]}
    if "group" in bars:
        groups = sorted(bars["group"].unique())
        bars["group"] = bars["group"].map(plain)
        colours = {"hue": "group", "palette": dict(zip(map(plain, groups), curve_colours(groups)))}
    ax = new_axes(ax)
    sns.barplot(bars, x="share", y="identity", ax=ax, saturation=1, **colours)
    words = (
        f"{largest.size} of {share.size} people have errors; "
        f"effective number {float(who[f'{rate}_effective']):.1f}"
    )
    return finish(ax, f"share of the {WORDS[rate]}", "", [words], grid="x", loc="lower right")
