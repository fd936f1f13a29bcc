"""The picture of an explorer, quickly drawn again: words and ticks stay from one picture to the next."""

import io
from math import hypot

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.image import imsave
from matplotlib.ticker import LogLocator, NullLocator

from frkit.plot.style import THEME

# Where titles stand is said: to find their place would lay out all text of a picture twice.
LOOK = THEME | {"axes.titley": 1.0, "figure.constrained_layout.use": False}
# Ends of a log axis: this far apart they need no small ticks, which cost a third of a picture's time, or few, whose
# labels have room.
WIDE, SHORT = 100, 6
MOST = 200  # texts that are kept


class Canvas(FigureCanvasAgg):
    """A canvas of a figure whose size stays."""

    def get_renderer(self) -> RendererAgg:
        """The renderer that keeps words, always the same one."""
        if not hasattr(self, "renderer"):
            self.renderer = Renderer(*self.figure.bbox.size, self.figure.dpi)
        return self.renderer

    def clear(self, axes: list[Axes]) -> None:
        """Empty axes, whose ticks stay: made anew, they take a sixth of a picture's time."""
        for ax in axes:
            for axis in (ax.xaxis, ax.yaxis):
                axis.reset_ticks = lambda: None
            ax.clear()

    def parts(self, axes: list[Axes]) -> list[bytes]:
        """The picture as PNGs, one for each of the axes, which stand side by side; log axes lose most small ticks."""
        for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
            low, high = axis.get_view_interval()
            if isinstance(axis.get_minor_locator(), LogLocator) and high > SHORT * low:
                axis.set_minor_locator(NullLocator() if high > WIDE * low else LogLocator(subs=(2, 5)))
        self.draw()
        return [_png(part) for part in np.array_split(np.asarray(self.buffer_rgba()), len(axes), axis=1)]


def _png(part: np.ndarray) -> bytes:
    """The bytes of a picture that is seen at once and kept nowhere."""
    out = io.BytesIO()
    imsave(out, part, format="png", pil_kwargs={"compress_level": 1})
    return out.getvalue()


class Renderer(RendererAgg):
    """Draws a text aside, and copies it from there as long as its place moves by whole pairs of pixels."""

    def __init__(self, width: int, height: int, dpi: float):
        super().__init__(width, height, dpi)
        self.kept = {}

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None) -> None:
        """Draw a line of text at x and y, pixels from the left and from above."""
        # two pixels, not one: before 3.11 matplotlib rounds to the next even one
        key = s, hash(prop), angle, gc.get_rgb(), ismath, round(x % 2, 6), round(y % 2, 6)
        if key not in self.kept:
            if len(self.kept) >= MOST:
                self.kept.clear()
            half = 2 * int(hypot(*self.get_text_width_height_descent(s, prop, ismath)[:2]) / 2) + 4
            aside = RendererAgg(2 * half, 2 * half + self.height % 1, self.dpi)
            aside.draw_text(gc, half + x % 2, half + y % 2, s, prop, angle, ismath, mtext)
            drawn = np.asarray(aside.buffer_rgba())[::-1]  # images stand on their feet
            rows, cols = (np.flatnonzero(drawn[..., 3].any(axis)) for axis in (1, 0))
            foot, left = min(rows, default=0), min(cols, default=0)
            image = drawn[foot : max(rows, default=0) + 1, left : max(cols, default=0) + 1].copy()
            self.kept[key] = left - half, foot - half, image
        right, up, image = self.kept[key]
        self.draw_image(self.new_gc(), x // 2 * 2 + right, int(self.height) - y // 2 * 2 + up, image)
