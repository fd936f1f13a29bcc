"""The stored plans: what was recommended was simulated again at that size, and held."""

from pathlib import Path

import pytest
import xarray as xr

PLANS = Path(__file__).resolve().parents[1] / "data" / "sample_size.nc"


@pytest.mark.parametrize(("name", "goal"), [("band", 0.2), ("models", 0.8)])
def test_a_stored_plan_was_confirmed(name, goal):
    with xr.open_datatree(PLANS, engine="h5netcdf") as tree:
        plan = tree[name].to_dataset().load()
    assert plan.attrs["line"] == goal
    noise = 2 * float(plan.confirmed_se)
    if name == "band":
        assert float(plan.confirmed) == pytest.approx(goal, abs=0.05 * goal + noise)
    else:  # where errors are few, more is seen than predicted
        assert float(plan.confirmed) > goal - 0.05 - noise
    assert plan.attrs["command"] == f"python data/make_sample_size.py {name}"
