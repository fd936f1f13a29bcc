"""What a figure shows, in words and numbers: its text in a stored notebook.

`run_notebooks.py` loads this extension of IPython. A picture cannot be compared with that of
another machine, whose letters differ; points, colours and words of a figure can.
"""

import numpy as np
from matplotlib.axis import Axis
from matplotlib.collections import Collection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.spines import Spine
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

DECIMALS = 9
NOTHING = 10.0**-DECIMALS  # smaller differences are rounding


def load_ipython_extension(shell):
    """Let every figure of this kernel be shown with its description."""
    Figure._repr_pretty_ = lambda figure, out, cycle: out.text(description(figure))


def description(figure):
    """The figure's words, and for each of its axes a line for each label of what is drawn."""
    figure.draw_without_rendering()
    lines = [" | ".join(words(figure))]
    for number, ax in enumerate(figure.axes, 1):
        for name, marks in marks_by_name(ax).items():
            lines.append(f"axes {number}, {name}: {summary(ax, marks)}")
    return "\n".join(lines)


def words(figure):
    """All texts that are shown, but for the ticks' numbers: these depend on the letters' size."""
    along_axes = {text for axis in figure.findobj(Axis) for text in axis.findobj(Text)}
    texts = [text for text in figure.findobj(Text) if text.get_visible()]
    shown = [
        " ".join(text.get_text().split())
        for text in texts
        if text.get_text().strip() and (text not in along_axes or has_word(text.get_text()))
    ]
    return list(dict.fromkeys(shown))


def has_word(text):
    """Whether a text contains more than a number or a formula."""
    return any(part[:1].isalpha() for part in text.split())


def marks_by_name(ax):
    """What is drawn inside the axes: lists of artists by label, or by kind without one."""
    by_name = {}
    for artist in ax.get_children():
        is_mark = isinstance(artist, (Line2D, Patch, Collection))
        is_frame = artist is ax.patch or isinstance(artist, Spine)
        if is_mark and not is_frame and artist.get_visible():
            label = str(artist.get_label())
            name = type(artist).__name__ if label.startswith("_") or not label else label
            by_name.setdefault(name, []).append(artist)
    return by_name


def summary(ax, marks):
    """How many points, where they lie along both axes, and the colours."""
    pixels = np.concatenate([places(mark) for mark in marks])
    to_data = (ax.transLimits + ax.transAxes).inverted()  # the logarithm, where an axis has that
    x, y = to_data.transform(np.ma.filled(pixels.astype(float), np.nan)).T
    shades = np.concatenate([colours(mark) for mark in marks]).ravel()
    along = f"x {extent(x)} ({checksum(x)}), y {extent(y)} ({checksum(y)})"
    return f"{len(x)} points, {along}, colour {checksum(shades)}"


def places(mark):
    """The points of an artist, in pixels."""
    if not isinstance(mark, Collection):
        return mark.get_transform().transform_path(mark.get_path()).vertices
    to_pixels = mark.get_offset_transform()
    if not isinstance(to_pixels, IdentityTransform):
        return to_pixels.transform(mark.get_offsets())
    paths = [mark.get_transform().transform_path(path).vertices for path in mark.get_paths()]
    return np.concatenate([np.empty((0, 2)), *paths])


def colours(mark):
    """Red, green, blue and opacity of an artist, in rows."""
    if isinstance(mark, Line2D):
        return to_rgba_array(mark.get_color())
    return np.concatenate(
        [to_rgba_array(mark.get_facecolor()), to_rgba_array(mark.get_edgecolor())]
    )


def extent(values):
    """Smallest and largest finite value."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return "nowhere"
    least, most = np.round([finite.min(), finite.max()], DECIMALS) + 0.0  # without -0
    return f"{least:.4g} to {most:.4g}"


def checksum(values):
    """A sum that changes with every finite value and with their order."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0
    shares = (finite - finite.min()) / max(np.ptp(finite), NOTHING)
    total = shares @ np.cos(np.arange(len(finite)))
    return round(float(total), 3) + 0.0
