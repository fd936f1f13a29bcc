"""Figures of representation bias: the drawn data is tested, not the pixels."""

import numpy as np
import xarray as xr

import frkit as fk


def test_error_bars_are_two_standard_errors(ax):
    values = dict(rlb=[0.1, 0.3], rlb_se=[0.02, 0.03])
    values |= dict(rlb_in_sample=[0.8, 0.9], smallest_detectable=[0.05, 0.06])
    estimates = xr.Dataset(
        {name: ("model", v) for name, v in values.items()}, {"model": ["A", "B"]}
    )
    fk.plot.representation_bias(estimates, ax=ax)
    bars = ax.collections[0].get_segments()
    np.testing.assert_allclose([bar[:, 1] for bar in bars], [[0.06, 0.14], [0.24, 0.36]])
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_array_equal(drawn["in sample"], [0.8, 0.9])
    np.testing.assert_array_equal(drawn["smallest that can be detected"], [0.05, 0.06])
