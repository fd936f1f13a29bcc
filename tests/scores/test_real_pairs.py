"""Rates known from elsewhere for the RFW pairs; the data stay outside the project."""

import json

import numpy as np
import pandas as pd
import pytest
from paths import REAL_DATA
from refusals import noticed

import frkit as fk

TABLE = REAL_DATA / "rfw_pairs_l2.csv.gz"
pytestmark = pytest.mark.skipif(not TABLE.is_file(), reason=f"the real data are not here: {TABLE}")
GROUPS = ["African", "Asian", "Caucasian", "Indian"]
KNOWN = [0.025, 0.007, 0.003, 0.005]


@pytest.fixture(scope="module")
def rfw():
    """24,000 pairs of four races; 27 are "ambiguous": 13 people stand under two races."""
    with noticed("27 pairs", "ambiguous"):
        return fk.open_data(TABLE)


def evaluated(pairs, scheme=None, **options):
    """All pairs weighing the same, at FAR 1e-2, with the warning of the 13 people."""
    resampling = None if scheme is None else fk.Resampling(scheme, n=200, seed=0)
    options = dict(far=[1e-2], by="ethnicity", weighting="pair", resampling=resampling) | options
    with noticed("ethnicity", "13 of 11416"):
        return fk.evaluate(pairs, **options)


@pytest.mark.slow
def test_known_rates(rfw):
    ev = evaluated(rfw)
    data = ev["empirical"].dataset.isel(far_level=0)
    assert abs(float(data.frr) - 0.2518) <= 5.1e-5 and int(data.false_rejects) == 3021
    assert data.group.values.tolist() == GROUPS
    np.testing.assert_array_equal(data.far_group.values.round(3), KNOWN)
    frame = pd.read_csv(TABLE)
    for race, rate in zip(GROUPS, data.frr_group.values, strict=True):
        pairs = frame[(frame.ethnicity == race) & (frame.label == 1)]
        assert rate == pytest.approx((pairs.dist >= float(data.threshold)).mean(), abs=1e-12)
    provenance = json.loads(ev.attrs["provenance"])
    assert (provenance["n_genuine_pairs"], provenance["n_impostor_pairs"]) == (12000, 12000)
    assert (provenance["n_images"], provenance["n_identities"]) == (40570, 11416)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_group_rates_with_intervals(rfw):
    ev = evaluated(rfw, "identity")
    band = fk.band(ev, "far_group", method="recentered").isel(far_level=0)
    assert band.attrs["target"] == "new identities"
    np.testing.assert_array_equal(band.estimate.values.round(3), KNOWN)
    assert ((band.lower > 0) & (band.lower < band.estimate) & (band.estimate < band.upper)).all()
    assert band.lower.sel(group="African") > band.upper.drop_sel(group="African").max()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_n_sigma_of_the_papers_own_database(rfw):
    """Another encoder than theirs: the EERs of all people, by their definition."""
    result = fk.n_sigma(rfw, by="ethnicity", subsets=20)
    frame = pd.read_csv(TABLE)
    for race in GROUPS:
        pairs = frame[frame.ethnicity == race]
        genuine, impostor = (-pairs.dist[pairs.label == kind].values for kind in (1, 0))
        levels = np.unique(-pairs.dist)
        far = 1 - np.searchsorted(np.sort(impostor), levels, "right") / len(impostor)
        frr = np.searchsorted(np.sort(genuine), levels, "right") / len(genuine)
        place = int(np.argmax(frr >= far))
        eer = result.eer_all.sel(group=race).item()
        assert min(far[place], frr[place - 1]) <= eer <= max(far[place - 1], frr[place])
        result_of_race = result.sel(group=race)
        assert abs(result_of_race.eer_mean.item() - eer) < result_of_race.eer_sd.item()
    assert result.reference_eer.item() == "Caucasian"
    assert bool((result.n_signed.drop_sel(group="Caucasian") < -0.5).all())
