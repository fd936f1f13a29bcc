"""What spoils a figure and a machine can see: words over words, a legend over the data.

`watch` is called in a notebook's kernel; `FOUND` then lists what was wrong with the figures of each
cell.
"""

from itertools import combinations
from unittest import mock

from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

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
    texts = [text for text in drawn if text.get_visible() and text.get_text().strip()]
    texts = [text for text in texts if getattr(text.axes, "name", "") != "3d"]
    upright = [text for text in texts if text.get_rotation() % 90 == 0]
    return [(text.get_text(), text.get_window_extent()) for text in upright]


def over(box, other):
    """Whether two boxes lie over each other by more than a touch."""
    width = min(box.x1, other.x1) - max(box.x0, other.x0)
    height = min(box.y1, other.y1) - max(box.y0, other.y0)
    return width > TOUCH and height > TOUCH


def covers_data(box, ax):
    """Whether a box covers a line or a bar, except what spans all of the axes, such as a zone."""
    inside = Bbox.intersection(box, ax.bbox)
    if inside is None:
        return False
    lines = [line for line in ax.lines if line.get_transform() == ax.transData]
    for line in filter(Line2D.get_visible, lines):
        path = ax.transData.transform_path(line.get_path())
        only_marks = line.get_linestyle() == "None"
        if (
            inside.count_contains(path.vertices)
            if only_marks
            else path.intersects_bbox(inside, False)
        ):
            return True
    branches = [patch.get_transform().contains_branch_seperately for patch in ax.patches]
    bars = [patch for patch, of in zip(ax.patches, branches) if all(of(ax.transData))]
    bars = [patch for patch in bars if patch.get_window_extent().height]
    paths = [patch.get_transform().transform_path(patch.get_path()) for patch in bars]
    return any(path.intersects_bbox(inside) for path in paths)


def faults(figure):
    """Sentences about what is wrong."""
    texts = words_of(figure)
    pairs = combinations(texts, 2)
    overlaps = [f"{text!r} over {other!r}" for (text, box), (other, its) in pairs if over(box, its)]
    legends = [(ax.get_legend(), [ax]) for ax in figure.axes if ax.get_legend()]
    for legend, axes in legends + [(legend, figure.axes) for legend in figure.legends]:
        covered = [ax for ax in axes if covers_data(legend.get_window_extent(), ax)]
        overlaps += [f"legend over data of {ax.get_ylabel()!r}" for ax in covered]
    return overlaps


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
    for callback in [look, *(listener for listener in shown if listener is not look)]:
        shell.events.register("post_execute", callback)
