"""What spoils a figure and a machine can see: words over words, a legend over the data.

`watch` is called in a notebook's kernel; `FOUND` then lists what was wrong with the figures of each
cell.
"""

from unittest import mock

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle
from matplotlib.text import Text

FOUND = []
TOUCH = 1.0  # pixels by which boxes may overlap: they are a little larger than their letters


def words_of(figure):
    """All upright words that are drawn, with their boxes in pixels, except in 3D."""
    drawn, draw = {}, Text.draw

    def noted(text, renderer):
        drawn[text] = None
        draw(text, renderer)

    with mock.patch.object(Text, "draw", noted):
        figure.canvas.draw()
    words = [text for text in drawn if text.get_visible() and text.get_text().strip()]
    words = [text for text in words if getattr(text.axes, "name", "") != "3d"]
    upright = [text for text in words if text.get_rotation() % 90 == 0]
    return [(text.get_text(), text.get_window_extent()) for text in upright]


def over(one, other):
    """Whether two boxes lie over each other by more than a touch."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return width > TOUCH and height > TOUCH


def along(line):
    """Points of a line in pixels; between its own ones others, where it is drawn there."""
    own = line.axes.transData.transform(np.column_stack(line.get_data(orig=False)).astype(float))
    if line.get_linestyle() == "None":
        return own
    steps = np.linspace(0, 1, 20)[:, None, None]
    return (own[:-1] * (1 - steps) + own[1:] * steps).reshape(-1, 2)


def across(patch):
    """Points of a bar, or of the edge of another patch, in pixels."""
    if not isinstance(patch, Rectangle):
        return patch.get_transform().transform(patch.get_path().vertices)
    box = patch.get_window_extent()
    x, y = np.meshgrid(np.linspace(box.x0, box.x1, 9), np.linspace(box.y0, box.y1, 9))
    return np.column_stack([x.ravel(), y.ravel()])


def data_points(ax):
    """What is drawn in the axes, in pixels, except what spans all of them, such as a zone."""
    lines = [line for line in ax.lines if line.get_transform() == ax.transData]
    lines = [line for line in lines if line.get_visible()]
    branches = [patch.get_transform().contains_branch_seperately for patch in ax.patches]
    bars = [patch for patch, of in zip(ax.patches, branches) if all(of(ax.transData))]
    bars = [patch for patch in bars if patch.get_window_extent().height]
    points = np.concatenate([np.empty((0, 2)), *map(along, lines), *map(across, bars)])
    return points[np.isfinite(points).all(axis=1)]


def faults(figure):
    """Sentences about what is wrong."""
    words, found = words_of(figure), []
    for place, (text, box) in enumerate(words):
        found += [f"{text!r} over {other!r}" for other, its in words[place + 1 :] if over(box, its)]
    legends = [(legend, [ax]) for ax in figure.axes if (legend := ax.get_legend())]
    for legend, axes in legends + [(legend, figure.axes) for legend in figure.legends]:
        box = legend.get_window_extent()
        for ax in axes:
            inside = [box.contains(*point) for point in data_points(ax) if ax.bbox.contains(*point)]
            if any(inside):
                found.append(f"legend over {sum(inside)} points of {ax.get_ylabel()!r}")
    return found


def look():
    """Note what is wrong with the open figures."""
    for number in plt.get_fignums():
        figure = plt.figure(number)
        FOUND.extend(f"{figure.get_suptitle()[:40]}: {fault}" for fault in faults(figure))


def watch(shell):
    """Look at every figure of every cell from now on, before it is shown and closed."""
    FOUND.clear()
    # figures are not drawn once more to be cut
    shell.run_line_magic("config", "InlineBackend.print_figure_kwargs = {}")
    shown = list(shell.events.callbacks["post_execute"])
    for callback in shown:
        shell.events.unregister("post_execute", callback)
    for callback in [look, *(one for one in shown if one is not look)]:
        shell.events.register("post_execute", callback)
