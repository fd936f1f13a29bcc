"""`frr_rescaled` against copies written out one by one, and the band that reads it."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from engine_cases import FAR, as_twin, counts, looked_up, people, table
from twin import resample
from twin_rates import UNKNOWN

import frkit as fk


def original(copy):
    """The name of an image or identity, without the number of its copy."""
    return copy.rsplit("#", 1)[0]


def rescaled_by_hand(twin, c, w, threshold, group=None, weighting="identity"):
    """The resample as written down: FRR over pairs of different images, each identity's over 1 - 1/n_k."""
    images = Counter(twin.probe_identity)
    drawn = resample(twin, c, w)
    rejected = weight = 0.0
    for k in [f"{name}#{copy}" for name in images for copy in range(c[name])]:
        n_k = images[original(k)]
        if n_k < 2 or group is not None and twin.group[original(k)] != group:
            continue
        own = [i for i, identity in enumerate(drawn.probe_identity) if identity == k]
        apart = [(i, j) for i, j in combinations(own, 2) if original(drawn.probe[i]) != original(drawn.probe[j])]
        errors = sum(drawn.score[i, j] <= threshold for i, j in apart)
        n_pairs = n_k * (n_k - 1) / 2
        share = n_pairs if weighting == "pair" else 1.0
        rejected += share * errors / n_pairs / (1 - 1 / n_k)
        weight += share
    return rejected / weight if weight else np.nan


@pytest.mark.parametrize("scheme", ["image", "two-level"])
@pytest.mark.parametrize(("sizes", "ties"), [("equal", False), ("unequal", True), ("pairs", False)])
@pytest.mark.parametrize("weighting", ["identity", "pair"])
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_every_replicate_equals_the_copies_written_out(scheme, sizes, ties, weighting):
    scores, drawn = fk.score_tensor(people(sizes, ties=ties)), fk.Resampling(scheme, n=4, seed=3)
    ev = fk.evaluate(scores, far=FAR, by="gender", resampling=drawn, weighting=weighting)
    twin, found = as_twin(scores, "gender"), ev["replicates"].dataset
    for b in range(drawn.n):
        c_w = counts(twin, drawn, b)
        for level in range(len(FAR)):
            at = found.isel(replicate=b, far_level=level)
            everybody = rescaled_by_hand(twin, *c_w, float(at.threshold), None, weighting)
            np.testing.assert_allclose(at.frr_rescaled, everybody, rtol=1e-12, atol=1e-14)
            groups = [rescaled_by_hand(twin, *c_w, float(at.threshold), g, weighting) for g in found.group.values]
            np.testing.assert_allclose(at.frr_group_rescaled, groups, rtol=1e-12, atol=1e-14)
    assert set(found.group.values) == set(twin.group.values()) - {UNKNOWN}


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_the_mean_over_draws_is_the_estimate():
    """At fixed thresholds, within four standard errors; the replicates with copies lie well below."""
    drawn = fk.Resampling("image", n=4000, seed=0)
    ev = fk.evaluate(fk.score_tensor(people("unequal")), threshold=[0.5], by="gender", resampling=drawn)
    found, truth = ev["replicates"].dataset, ev["empirical"].dataset
    for name in ("frr", "frr_group"):
        rescaled = found[f"{name}_rescaled"]
        error = 4 * rescaled.std("replicate") / np.sqrt(drawn.n)
        assert bool((abs(rescaled.mean("replicate") - truth[name]) <= error + 1e-12).all())
    assert float(found.frr.mean()) < 0.8 * float(truth.frr[0])


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_self_score_below_the_threshold_counts_only_with_copies():
    score, faces = table("equal")
    np.fill_diagonal(score, -9.0)
    drawn = fk.Resampling("image", n=5)
    ev = fk.evaluate(looked_up(score, faces), threshold=[-8.0], resampling=drawn)
    assert float(ev["replicates"].frr.min()) > 0
    assert float(abs(ev["replicates"].frr_rescaled).max()) == 0


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_the_band_reads_the_rescaled_rates_around_the_estimate():
    ev = fk.evaluate(fk.score_tensor(people()), far=FAR, by="gender", resampling=fk.Resampling("image", n=40))
    band = fk.band(ev, "frr", method="rescaled", level=0.9)
    xr.testing.assert_equal(band.centre.drop_attrs(), ev["empirical"].dataset.frr.drop_attrs())
    ends = np.quantile(ev["replicates"].frr_rescaled, [0.05, 0.95], axis=0)
    np.testing.assert_allclose([band.lower, band.upper], ends)
    groups = fk.band(ev, "frr_max_min", method="rescaled")
    rates = ev["replicates"].frr_group_rescaled
    ratio = (rates.max("group") / rates.min("group")).where(rates.max("group") > 0)
    xr.testing.assert_equal(groups.n_nonfinite.drop_attrs(), (~np.isfinite(ratio)).sum("replicate").drop_attrs())
    plain = fk.band(ev, "far_group", method="recentered")
    xr.testing.assert_allclose(fk.band(ev, "far_group", method="rescaled").upper, plain.upper)
    with pytest.raises(fk.InputError, match="'eer' reads something else"):
        fk.band(ev, "eer", method="rescaled")


def test_without_copies_rescaled_is_recentered():
    ev = fk.evaluate(fk.score_tensor(people()), far=[0.1], resampling=fk.Resampling("identity", n=20))
    assert "frr_rescaled" not in ev["replicates"]
    rescaled, recentered = (fk.band(ev, "frr", method=method) for method in ("rescaled", "recentered"))
    xr.testing.assert_equal(rescaled, recentered)


def test_an_evaluation_stored_without_rescaled_rates_says_so():
    drawn = fk.Resampling("image", n=20)
    ev = fk.evaluate(fk.score_tensor(people([6] * 6)), far=[0.1], resampling=drawn)
    ev["replicates"] = ev["replicates"].to_dataset().drop_vars("frr_rescaled")
    with pytest.raises(fk.InputError, match="call evaluate\\(...\\) again"):
        fk.band(ev, "frr", method="rescaled")


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_comparison_reads_the_rescaled_rates_of_both_models():
    faces, drawn = people(), fk.Resampling("image", n=30)
    pair = [fk.evaluate(fk.score_tensor(faces, s), far=FAR, resampling=drawn) for s in ("cosine", "euclidean")]
    found = fk.compare(*pair, "frr", method="rescaled", level=0.9)
    gap = pair[0]["replicates"].frr_rescaled - pair[1]["replicates"].frr_rescaled
    np.testing.assert_allclose([found.lower, found.upper], np.quantile(gap, [0.05, 0.95], axis=0))
