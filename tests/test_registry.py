"""Measures are found by name, are functions of tallies, and say what is missing."""

import numpy as np
import pytest
import xarray as xr

import frkit as fk
from frkit.measures import measure, names, register

TALLIES = xr.Dataset({"frr": ("far_level", [0.2, 0.1]), "far": ("far_level", [0.01, 0.1])})


def test_a_plain_variable_is_a_measure_that_keeps_its_dimensions():
    found = measure("frr")(TALLIES)
    assert found.dims == ("far_level",)
    np.testing.assert_array_equal(found, [0.2, 0.1])


@pytest.mark.parametrize(
    "name", ["frr", "far", "threshold", "eer", "auc", "far_cross", "eer_threshold_group"]
)
def test_variables_of_an_evaluation_are_registered(name):
    assert name in names()
    assert measure(name).scale == "identity"
    assert measure(name).fair is None


def test_a_missing_variable_says_what_to_do():
    with pytest.raises(fk.InputError, match="by='the name of an attribute'"):
        measure("frr_group")(TALLIES)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(fk.InputError, match=r"'fnr'.*eer.*frr"):
        measure("fnr")


def test_a_function_is_a_measure():
    total = measure(lambda tallies: tallies.far + tallies.frr)
    np.testing.assert_allclose(total(TALLIES), [0.21, 0.2])


def test_a_registered_measure_carries_scale_and_fair_value():
    register("frr_over_far", scale="log", fair=1.0, label="ratio")(
        lambda tallies: tallies.frr / tallies.far
    )
    found = measure("frr_over_far")
    assert (found.scale, found.fair, found.label) == ("log", 1.0, "ratio")
    np.testing.assert_allclose(found(TALLIES), [20.0, 1.0])


def test_the_kits_own_variables_cannot_be_redefined():
    with pytest.raises(fk.InputError, match="'frr' is a variable"):
        register("frr")
