"""What all figures share: colours, axes with labels, captions that name the target, marks for zeros."""

from collections.abc import Iterator

import numpy as np
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from frkit.base import FAR_LEVEL, THRESHOLD_LEVEL, require

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255")
FAN, NAIVE, TRUTH, UNRESOLVED = "#B3D3E8", "#D55E00", "#000000", "#8C8C8C"
FAR_WORDS = "FAR (share of impostor pairs accepted)"
SMALL = 8.5


def new_axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure."""
    return ax if ax is not None else plt.subplots(figsize=(6.4, 4.4), layout="constrained")[1]


def plain(text: object) -> str:
    """Text of the data as it is: a dollar sign starts no formula, and an underscore hides no legend entry."""
    escaped = str(text).replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped


def level_dimension(curve: xr.Dataset | xr.DataArray) -> str:
    """The dimension along which a curve runs."""
    for name in (FAR_LEVEL, THRESHOLD_LEVEL):
        if name in curve.dims:
            return name
    require(False, f"a curve runs over {FAR_LEVEL} or {THRESHOLD_LEVEL}; this result has {tuple(curve.dims)}")


def one_curves(result: xr.Dataset, variable: str) -> Iterator[tuple[str, xr.Dataset]]:
    """Take a result apart into single curves, each with the words that set it apart (model, group)."""
    along = level_dimension(result[variable])
    others = [dim for dim in result[variable].dims if dim != along]
    if not others:
        yield "", result
        return
    for place in np.ndindex(*(result.sizes[dim] for dim in others)):
        chosen = result.isel(dict(zip(others, place, strict=True)))
        yield ", ".join(str(chosen[dim].item()) for dim in others), chosen


def caption(attrs: dict) -> str:
    """What a band is, and about whose rates it speaks."""
    parts = []
    if attrs.get("level"):
        parts.append(f"{100 * attrs['level']:.4g} % {attrs['method']} band")
    if attrs.get("scheme"):
        parts.append(f"{attrs['scheme']} scheme")
    if attrs.get("n"):
        parts.append(f"{attrs['n']} resamples")
    lines = [", ".join(parts)] if parts else []
    return "\n".join([*lines, f"about {attrs['target']}"] if attrs.get("target") else lines)


def print_captions(ax: Axes, captions: list[str]) -> None:
    """Write the lines of all captions above the axes, each once, the targets last."""
    lines = list(dict.fromkeys(line for text in captions for line in text.splitlines()))
    lines.sort(key=lambda line: line.startswith("about "))
    ax.set_title(plain("\n".join(lines)), loc="left", fontsize=SMALL)


def draw_truth(ax: Axes, truth: xr.Dataset | None) -> None:
    """The exact curve of a population, dashed and black."""
    if truth is None:
        return
    along = level_dimension(truth.frr)
    label = "exact truth of the mixture"
    ax.plot(truth[along], truth.frr, "--", color=TRUTH, linewidth=1.3, label=label, zorder=4)


def log_floor(values: list[np.ndarray]) -> float:
    """The bottom of a log axis that shows every positive value."""
    everything = np.concatenate([np.ravel(value) for value in values])
    positive = everything[np.isfinite(everything) & (everything > 0)]
    return float(positive.min()) / 1.6 if positive.size else 1e-6


def finish_rates(ax: Axes, along: str, ylabel: str, floor: float) -> Axes:
    """Scales, labels, grid and legend of a picture of rates on a log axis."""
    if along == FAR_LEVEL:
        ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(bottom=floor)
    ax.set_xlabel(FAR_WORDS if along == FAR_LEVEL else "score threshold (accept above)")
    ax.set_ylabel(plain(ylabel))
    ax.grid(True, which="major", color="#E5E5E5", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(fontsize=SMALL, frameon=False)
    return ax
