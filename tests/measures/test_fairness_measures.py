"""Disparity measures against figures computed by hand, and their zeros, gaps and scale."""

import numpy as np
import pytest
import xarray as xr
from paths import ROOT
from refusals import refused

import frkit as fk
from frkit.findings.tables import short_name
from frkit.measures import measure
from frkit.measures.disparity import DISPARITIES

DEFINITIONS = (ROOT / "binder/docs/definitions.md").read_text(encoding="utf-8")
FOUR = [0.01, 0.02, 0.04, 0.08]
FORMS = ("max_min", "max_geomean", "log_geomean", "gini", "max_difference")


def tallies(frr, far=None):
    """A node with the rates of some groups, over (level, group) or (group,)."""
    frr = np.asarray(frr, float)
    dims = ("far_level", "group")[-frr.ndim :]
    coords = {"group": [f"g{k}" for k in range(frr.shape[-1])]}
    return xr.Dataset(
        {"frr_group": (dims, frr), "far_group": (dims, frr if far is None else far)}, coords
    )


def value(name, frr, far=None):
    return measure(name)(tallies(frr, far)).values


@pytest.mark.parametrize("rate", ["far", "frr"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("max_min", 8.0),
        ("max_geomean", 2.8284271247),
        ("log_geomean", 1.2041199827),
        ("gini", 0.5111111111),
        ("max_difference", 0.07),
    ],
)
def test_four_groups_by_hand(rate, name, expected):
    np.testing.assert_allclose(value(f"{rate}_{name}", FOUR), expected, rtol=1e-9)


def test_gini_is_the_double_sum_of_the_paper():
    rates = np.random.default_rng(0).uniform(size=5)
    double = np.abs(rates[:, None] - rates).sum() / (2 * 5**2 * rates.mean())
    np.testing.assert_allclose(value("frr_gini", rates), 5 / 4 * double)


@pytest.mark.parametrize("form", FORMS)
def test_equal_groups_zeros_and_gaps(form):
    """Equal rates are fair; one rate of zero, all zeros and a missing rate, in this order."""
    name = f"frr_{form}"
    np.testing.assert_allclose(value(name, [0.3] * 3), measure(name).fair, atol=1e-15)
    one_zero = {"gini": 2 / 3, "max_difference": 0.2}.get(form, np.inf)
    np.testing.assert_allclose(value(name, [0, 0.1, 0.2]), one_zero)
    np.testing.assert_equal(value(name, [0, 0, 0]), 0 if form == "max_difference" else np.nan)
    for missing in (name, "fdr", "ir", "garbe"):
        assert np.isnan(value(missing, [0.1, np.nan, 0.0]))


@pytest.mark.parametrize("c", [0.5, 0.9])
def test_the_measures_of_the_field_by_hand(c):
    node = tallies(frr=[0.2, 0.1], far=[0.01, 0.03])
    np.testing.assert_allclose(fk.measures.fdr(c=c)(node), 1 - (c * 0.02 + (1 - c) * 0.1))
    np.testing.assert_allclose(fk.measures.ir(c=c)(node), 3**c * 2 ** (1 - c))
    np.testing.assert_allclose(fk.measures.garbe(c=c)(node), c * 0.5 + (1 - c) / 3)
    with refused(1.5):
        fk.measures.ir(c=1.5)


def test_measures_do_not_look_at_dimensions():
    rates = np.random.default_rng(1).uniform(0.1, 1, (2, 3, 4, 5))
    node = xr.Dataset({"frr_group": (("model", "replicate", "group", "far_level"), rates)})
    for form in FORMS:
        values = measure(f"frr_{form}")(node)
        assert values.dims == ("model", "replicate", "far_level")
        np.testing.assert_allclose(values[1, 2, 3], value(f"frr_{form}", rates[1, 2, :, 3]))


@pytest.mark.parametrize("form", [name for name, *_ in DISPARITIES])
def test_each_form_has_a_short_name_and_a_row_in_the_definitions(form):
    assert short_name(f"frr_{form}") != f"frr_{form}", "add it to SHORT in frkit/findings/tables.py"
    assert f"\n| `{form}` |" in DEFINITIONS, "add a row to binder/docs/definitions.md"


def test_spread_is_the_standard_deviation_of_two_groups_or_more():
    eer = [0.1, 0.2, 0.4]
    node = xr.Dataset({"eer_group": ("group", eer)})
    np.testing.assert_allclose(measure("eer_spread")(node), np.std(eer, ddof=1))
    with pytest.raises(fk.InputError, match="two groups or more"):
        value("frr_gini", [0.1])


# --- the register --------------------------------------------------------------------------------
RATES = xr.Dataset({"frr": ("far_level", [0.2, 0.1]), "far": ("far_level", [0.01, 0.1])})


def test_a_name_or_a_function_is_a_measure():
    np.testing.assert_array_equal(measure("frr")(RATES), [0.2, 0.1])
    np.testing.assert_array_equal(measure("FNMR")(RATES), [0.2, 0.1])
    total = measure(lambda tallies: tallies.far + tallies.frr)
    np.testing.assert_allclose(total(RATES), [0.21, 0.2])


def test_what_is_missing_or_unknown_is_said():
    with refused("by="):
        measure("frr_group")(RATES)
    with refused("fnr", "eer", "frr"):
        measure("fnr")
    with refused("frr"):
        fk.measures.register("frr")


def test_a_registered_measure_carries_scale_and_fair_value():
    add = fk.measures.register("frr_over_far", scale="log", fair=1.0, label="ratio")
    add(lambda tallies: tallies.frr / tallies.far)
    registered = measure("frr_over_far")
    assert (registered.scale, registered.fair, registered.label) == ("log", 1.0, "ratio")
    np.testing.assert_allclose(registered(RATES), [20.0, 1.0])
