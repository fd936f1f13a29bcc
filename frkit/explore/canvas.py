"""The picture of an explorer, quickly drawn again: words and ticks stay from one picture to the next."""

import struct
import zlib
from math import hypot

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from frkit.plot.style import THEME

# Where titles stand is said: to find their place would lay out all text of a picture twice.
LOOK = THEME | {"axes.titley": 1.0, "figure.constrained_layout.use": False}
EDGE = 0.12  # inches between axes and the right edge of a picture
# Ends of a log axis: this far apart they need no small ticks, which cost a third of a picture's time, or few, whose
# labels have room.
WIDE, SHORT = 100, 6
MOST = 200  # texts that are kept


class Canvas(FigureCanvasAgg):
    """A figure of one Axes, whose size and place stay, with room for labels and a legend left of it and below.

    `values` are those of the controls when it was drawn, `cautions` and `failed` what was said then.
    """

    def __init__(self, width: float, side: float, foot: float):
        height = 3.5 + foot
        super().__init__(Figure(figsize=(width, height)))
        self.ax, self.values, self.cautions, self.failed = self.figure.subplots(), {}, [], ""
        # margins wide enough for every label: to find them anew for each picture would double its time
        ends = {
            "left": side / width,
            "right": 1 - EDGE / width,
            "bottom": foot / height,
            "top": 1 - 0.65 / height,
        }
        self.figure.subplots_adjust(**ends)
        for axis in (self.ax.xaxis, self.ax.yaxis):
            axis.reset_ticks = lambda: (
                None
            )  # when axes are cleared; made anew, ticks take a sixth of a picture's time
        self.renderer = Renderer(*self.figure.bbox.size, self.figure.dpi)

    def get_renderer(self) -> RendererAgg:
        """The renderer that keeps words, always the same one."""
        return self.renderer

    def png(self) -> bytes:
        """The picture as a PNG, which is seen at once and kept nowhere; log axes lose most small ticks."""
        for axis in (self.ax.xaxis, self.ax.yaxis):
            low, high = axis.get_view_interval()
            if isinstance(axis.get_minor_locator(), LogLocator) and high > SHORT * low:
                axis.set_minor_locator(
                    NullLocator() if high > WIDE * low else LogLocator(subs=(2, 5))
                )
        self.draw()
        return _png(np.asarray(self.buffer_rgba())[..., :3])


def _png(image: np.ndarray) -> bytes:
    """Red, green and blue (height, width, 3) as a PNG, in 4 ms; Pillow tries filters and takes 8 or more."""
    rows = np.pad(image.reshape(len(image), -1), ((0, 0), (1, 0)))  # before each row a 0: no filter
    size = struct.pack(">2I5B", image.shape[1], image.shape[0], 8, 2, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", size), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")):
        out += (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )
    return out


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
        self.draw_image(
            self.new_gc(), x // 2 * 2 + right, int(self.height) - y // 2 * 2 + up, image
        )
