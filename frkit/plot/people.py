"""Who drives the errors, as bars."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import GROUP, IDENTITY, require_one_of, require_returned, require_whole
from frkit.plot.style import curve_colours, finish, new_axes, plain, require_dims

WHO = ("frkit.contributions(scores, far=...)", "frr_share", "far_share", "frr_effective", IDENTITY)
WORDS = {"frr": "rejections of genuine pairs (FRR)", "far": "acceptances of impostor pairs (FAR)"}


def contributions(
    who: xr.Dataset, ax: Axes | None = None, *, rate: str = "frr", people: int = 12
) -> Axes:
    """Draw the people with the largest shares of the errors as bars, the largest on top.

    A few long bars say that a rate hangs on a few people, or on wrong labels: `worst_pairs` lists their pairs.

    Parameters
    ----------
    who : what `contributions` returned, of one model at one level: `.sel(far_level=1e-3)`.
    ax : matplotlib Axes; a new figure when left out.
    rate : "frr" or "far", whose errors.
    people : at most so many bars; people without an error have none.

    Returns
    -------
    matplotlib Axes; the colours are those of groups where there are some, and the words above say to how many people
    with equal shares the errors amount.

    Raises
    ------
    InputError : several levels or models at once, an unknown rate.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, kappa=(5, 15), seed=0).sample(4, seed=1))
    >>> ax = fk.plot.contributions(fk.contributions(scores, far=[0.1]).isel(far_level=0), people=3)
    >>> len(ax.patches)
    3
    """
    require_returned("who", who, *WHO)
    require_one_of("rate", rate, tuple(WORDS))
    share = who[f"{rate}_share"]
    require_dims("who", share, (IDENTITY,))
    largest = np.argsort(-np.nan_to_num(share.values), kind="stable")[
        : require_whole("people", people, 1)
    ]
    largest = largest[share.values[largest] > 0][::-1]
    ax, chosen = new_axes(ax), share.isel({IDENTITY: largest})
    groups = np.asarray(
        who[GROUP].values[largest] if GROUP in who.coords else np.full(len(largest), ""), str
    )
    names = np.unique(groups)
    for name, colour in zip(names, curve_colours(names)):
        own = np.flatnonzero(groups == name)
        ax.barh(own, chosen.values[own], color=colour, label=plain(name) if name else None)
    ax.set_yticks(np.arange(len(largest)), [plain(person) for person in chosen[IDENTITY].values])
    effective, n_people = float(who[f"{rate}_effective"]), int((share.values > 0).sum())
    words = f"{n_people} of {share.size} people err, as many errors as {effective:.1f} with equal shares"
    return finish(ax, f"share of the {WORDS[rate]}", "", [words], grid="x", loc="lower right")
