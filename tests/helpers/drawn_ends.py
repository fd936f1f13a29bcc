"""The ends of bands and intervals as they are drawn."""

import numpy as np


def band_ends(shade, x):
    """The lower and the upper end of a shaded band at each place."""
    drawn = np.concatenate([path.vertices for path in shade.get_paths()])
    heights = [drawn[np.isclose(drawn[:, 0], place), 1] for place in x]
    return np.array([(ends.min(), ends.max()) for ends in heights])


def interval_ends(lines, axis=1):
    """The lower and the upper end of each interval, which are vertical lines (1) or horizontal."""
    return np.array([segment[:, axis] for segment in lines.get_segments()])
