"""The numbers of hundreds of calls are those of the table: a rewrite may not change them unseen."""

import warnings

import numpy as np
import pytest
from frozen_calls import DATA, REAL, TABLE, calls_of, numbers
from paths import REAL_DATA

QUICK = ("list without people", "asymmetric", "failures")


@pytest.fixture(scope="module")
def frozen():
    with np.load(TABLE) as table:
        return dict(table)


def check(frozen, name, folder=None):
    """All calls of a data set, within 1e-9; intervals, which are searched for, within 1e-6."""
    asked = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call, answer in calls_of(name, folder):
            tolerance = 1e-9 if call.endswith(("rates", "centre", "replicates")) else 1e-6
            values = numbers(answer())
            np.testing.assert_allclose(
                values, frozen[call], rtol=tolerance, atol=1e-12, err_msg=call
            )
            asked.add(call)
    assert asked == {call for call in frozen if call.split(" | ")[0] == name}


@pytest.mark.parametrize("name", QUICK)
def test_numbers_of_small_data(frozen, name):
    check(frozen, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*DATA} - {*QUICK}))
def test_numbers_of_larger_data(frozen, name):
    check(frozen, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REAL))
def test_numbers_of_real_data(frozen, name):
    if not REAL_DATA.exists():
        pytest.skip("the real data are not there (FRKIT_REAL_DATA)")
    check(frozen, name, REAL_DATA)
