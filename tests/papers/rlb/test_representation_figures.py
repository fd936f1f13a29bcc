"""Figures of representation bias: the drawn data is tested, not the pixels."""

import numpy as np
import xarray as xr

import frkit as fk


def estimate(distance):
    numbers = dict(truth=0.5, rlb=0.4, rlb_se=0.05, rlb_in_sample=0.9, dataset_bias=0.3)
    return xr.Dataset(numbers | {"distance": distance})


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


def test_trials_draw_what_was_estimated(ax):
    truth = xr.Dataset({"rlb": ("distance", [0, 0.5])}, {"distance": [0, 2]})
    fk.plot.trials(truth, [estimate(1.0), estimate(2.0)], ax=ax)
    bars = [part.get_segments()[0] for part in ax.collections]
    np.testing.assert_allclose(bars, [[[1, 0.3], [1, 0.5]], [[2, 0.3], [2, 0.5]]])
    assert {part.get_label() for part in ax.collections} == {"held out ± 2 se"}
    probes = [line.get_xydata() for line in ax.lines if line.get_label() == "linear probe"]
    np.testing.assert_array_equal(np.vstack(probes), [[1, 0.3], [2, 0.3]])
