"""The figures of Li & Abd-Almageed (2021): coloured digits, shares and entropies, debiasing methods."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require
from frkit.plot.representation import check_holds, finish_bias
from frkit.plot.style import COLOURS, SMALL, new_axes, plain

WORDS = {
    "rlb": "RLB",
    "rlb_plain": "RLB, no mapping layers",
    "dcor2": "distance correlation (squared)",
    "dataset_bias": "dataset bias",
    "bias_score": "bias score",
    "mutual_information": "mutual information (nats)",
}


def coloured_digits(digits: xr.Dataset, ax: Axes | None = None, *, per_digit: int = 6) -> Axes:
    """Draw coloured digits, one column for each of the ten (Fig. 2).

    Parameters
    ----------
    digits : what `studies.coloured_digits` returned.
    ax : matplotlib Axes; a new figure when left out.
    per_digit : how many of each, 1 or more.

    Returns
    -------
    matplotlib Axes with one picture.

    Raises
    ------
    InputError : other data.

    References
    ----------
    Li & Abd-Almageed (2021), Fig. 2.

    Examples
    --------
    >>> import frkit as fk
    >>> ax = coloured_digits(fk.studies.coloured_digits("extreme", 0.1))
    >>> len(ax.images)
    1
    """
    check_holds(digits, ["embedding", "drawn"], "what studies.coloured_digits returned")
    ax = new_axes(ax)
    rows = [np.flatnonzero(digits.digit.values == str(k))[:per_digit] for k in range(10)]
    pictures = digits.embedding.values[np.concatenate(rows)].reshape(10, per_digit, 8, 8, 3)
    ax.imshow(pictures.transpose(1, 2, 0, 3, 4).reshape(per_digit * 8, 80, 3))
    ax.set_axis_off()
    return ax


def against(result: xr.Dataset, along: str, variables: list[str], ax: Axes | None = None, *, label: str = "") -> Axes:
    """Draw measures of bias against a coordinate, one dot a seed and a line through their means (Figs. 3b, 3c, 4b).

    Parameters
    ----------
    result : variables over `along` and seed.
    along : dimension for the horizontal axis.
    variables : what to draw.
    ax : matplotlib Axes; a new figure when left out.
    label : words for the horizontal axis.

    Returns
    -------
    matplotlib Axes.

    Raises
    ------
    InputError : a variable that is not there, or runs over other dimensions.

    References
    ----------
    Li & Abd-Almageed (2021), Figs. 3 and 4b.

    Examples
    --------
    >>> result = xr.Dataset({"rlb": (("seed", "sigma"), [[0.9, 0.2], [0.8, 0.3]])}, {"sigma": [0.1, 0.5]})
    >>> against(result, "sigma", ["rlb"]).lines[0].get_ydata().round(2).tolist()
    [0.85, 0.25]
    """
    check_holds(result, variables, "a result that holds them")
    ax = new_axes(ax)
    for place, name in enumerate(variables):
        dims = set(result[name].dims)
        require(dims == {along, "seed"}, f"{name} must run over {along} and seed, got {tuple(dims)}; select first")
        colour, values = COLOURS[place % len(COLOURS)], result[name].transpose(along, "seed")
        ax.plot(result[along], values.mean("seed"), color=colour, label=plain(WORDS.get(name, name)))
        ax.plot(result[along], values, "o", color=colour, markersize=3, alpha=0.5)
    return finish_bias(ax, plain(label or along), "bias")


def shares(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the surface of RLB over the shares of women and of Black people in the training set (Fig. 4a).

    Parameters
    ----------
    result : what `studies.crossed_bias` returned for a full grid of shares, without seed and attribute:
        `rlb` (design), with coordinates `female` and `black`.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: one field for each pair of shares, with its RLB in it.

    Raises
    ------
    InputError : other dimensions.

    References
    ----------
    Li & Abd-Almageed (2021), Fig. 4a.

    Examples
    --------
    >>> coords = {"female": ("design", [0.1, 0.5]), "black": ("design", [0.25, 0.25])}
    >>> ax = shares(xr.Dataset({"rlb": ("design", [0.4, 0.2])}, coords))
    >>> [text.get_text() for text in ax.texts]
    ['.40', '.20']
    """
    check_holds(result, ["rlb", "female", "black"], "what studies.crossed_bias returned")
    require(result.rlb.dims == ("design",), f"rlb must run over design alone, got {result.rlb.dims}; select first")
    ax = new_axes(ax)
    table = result.rlb.to_pandas()
    table.index = [result.black.values, result.female.values]
    table = table.unstack()
    ax.imshow(table, cmap="cividis", origin="lower", aspect="auto")
    middle = float(table.min().min() + table.max().max()) / 2
    for (row, column), value in np.ndenumerate(table.to_numpy()):
        colour = "white" if value < middle else "black"
        text = f"{value:.2f}".replace("0.", ".", 1)
        ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=SMALL)
    ax.set_xticks(range(table.shape[1]), [f"{share:g}" for share in table.columns])
    ax.set_yticks(range(table.shape[0]), [f"{share:g}" for share in table.index])
    ax.set_xlabel("share of women in training")
    ax.set_ylabel("share of Black people in training")
    return ax


def boxes(result: xr.Dataset, variable: str, ax: Axes | None = None) -> Axes:
    """Draw one box for each debiasing method, over the seeds (Fig. 7).

    Parameters
    ----------
    result : what `studies.debiasing_table` returned.
    variable : which of its measures, over seed and family.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes.

    Raises
    ------
    InputError : a variable that is not there, or has other dimensions.

    References
    ----------
    Li & Abd-Almageed (2021), Fig. 7.

    Examples
    --------
    >>> result = xr.Dataset({"rlb": (("seed", "family"), [[0.5, 0.1], [0.6, 0.2]])}, {"family": ["none", "all"]})
    >>> [text.get_text() for text in boxes(result, "rlb").get_yticklabels()]
    ['none', 'all']
    """
    check_holds(result, [variable], "what studies.debiasing_table returned")
    one = result[variable]
    require(set(one.dims) == {"seed", "family"}, f"{variable} must run over seed and family, got {one.dims}")
    ax = new_axes(ax)
    ax.boxplot(one.transpose("seed", "family"), orientation="horizontal", widths=0.6, medianprops={"color": COLOURS[1]})
    ax.set_yticks(range(1, one.sizes["family"] + 1), [plain(name) for name in one.family.values])
    ax.set_ylim(one.sizes["family"] + 0.6, 0.4)
    ax.set_xlabel(plain(WORDS.get(variable, variable)))
    ax.grid(True, axis="x", color="#E5E5E5", linewidth=0.6)
    return ax
