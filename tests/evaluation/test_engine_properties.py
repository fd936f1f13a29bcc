"""What must not matter to the engine (chunks, order, threads, where the pilot looked), and exact
means."""

import tracemalloc

import dask
import numpy as np
import pytest
import xarray as xr
from engine_cases import FAR, check_evaluation, looked_up, people, table
from hypothesis import given, settings
from hypothesis import strategies as st
from twin import every_image_resample, symmetric_scores, vstatistic

import frkit as fk

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::frkit.DataWarning")]
NODES = ("empirical", "vstatistic", "replicates")
slow = settings(max_examples=5, deadline=None, derandomize=True)


def assert_same(first, second, tolerance=0.0):
    """Two evaluations agree in every node: in every bit, or within a tolerance."""
    for node in NODES:
        left, right = first[node].dataset, second[node].dataset
        assert left.data_vars.keys() == right.data_vars.keys()
        for name in left.data_vars:
            where = f"{name} in {node}"
            if tolerance and name != "threshold":
                xr.testing.assert_allclose(left[name], right[name], rtol=tolerance, atol=tolerance)
            else:
                np.testing.assert_array_equal(left[name].values, right[name].values, err_msg=where)


def evaluation(faces, chunks, *, seed=0, scheme="image", **options):
    """An evaluation by gender with five replicates."""
    scores = fk.score_tensor(faces).chunk(probe=chunks, reference=chunks)
    resampling = fk.Resampling(scheme, n=5, seed=seed)
    return fk.evaluate(scores, far=FAR, by="gender", resampling=resampling, **options)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "tolerance"), [("equal", 0.0), ("unequal", 1e-12)])
def test_chunks_do_not_matter(sizes, tolerance):
    faces = people(sizes, dim=40)
    whole = evaluation(faces, 24)

    @slow
    @given(st.integers(8, 24))
    def check(chunks):
        assert_same(evaluation(faces, chunks), whole, tolerance)

    check()


@pytest.mark.parametrize("chunks", [7, 20, 32])
def test_intervals_do_not_depend_on_chunks(chunks):
    faces = people([3] * 20, dim=8)
    whole, chunked = (
        fk.evaluate(
            fk.score_tensor(faces).chunk(probe=size, reference=size), far=[0.01, 0.1], by="gender"
        )
        for size in (60, chunks)
    )
    xr.testing.assert_identical(chunked["people"], whole["people"])
    for measure in ("eer", "frr_group", "far_max_min"):
        xr.testing.assert_identical(fk.band(chunked, measure), fk.band(whole, measure))


@pytest.mark.slow
@slow
@given(st.permutations(range(24)), st.integers(1, 24))
def test_image_order_does_not_matter(order, chunks):
    faces = people("equal", dim=40)
    assert_same(evaluation(faces.isel(image=list(order)), chunks), evaluation(faces, 24))


@pytest.mark.slow
@slow
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 5), min_size=4, max_size=8).filter(lambda sizes: max(sizes) > 1),
    st.sampled_from(["image", "identity", "two-level", "double-or-nothing", "subset"]),
    st.sampled_from(["identity", "pair"]),
    st.integers(0, 3),
)
def test_any_data_and_seed_agree_with_the_twin(seed, sizes, scheme, weighting, decimals):
    score, faces = table(sizes, seed=seed, decimals=decimals)
    scores = looked_up(score, faces)
    options = dict(
        by="gender", resampling=fk.Resampling(scheme, n=2, seed=seed), weighting=weighting
    )
    ev = fk.evaluate(scores, far=FAR, **options)
    check_evaluation(ev, scores, far=FAR, **options)


def test_the_scheduler_does_not_matter():
    faces = people("equal", dim=40)
    threads = evaluation(faces, 5)
    with dask.config.set(scheduler="synchronous"):
        assert_same(evaluation(faces, 5), threads)


# --- exact means over every resample -------------------------------------------------------------


class Listed(fk.Resampling):
    """The image scheme with given counts in place of draws."""

    def weights(self, identity, image=None, strata=None, person=None):
        counts = super().weights(identity, image, strata, person)
        rows = [[draw[name] for name in image] for draw, _ in LISTED]
        return counts.assign(image_count=(counts.image_count.dims, np.array(rows, np.uint16)))


LISTED = []


@pytest.mark.parametrize("weighting", ["identity", "pair"])
def test_mean_of_all_resamples_is_far_and_vstatistic(weighting):
    """E*[FAR*(t)] = FAR(t) and E*[FRR*(t)] = V-statistic, over every draw of 2, 3 and 1 images."""
    score, faces = table([2, 3, 1], seed=8, decimals=1)
    twin = symmetric_scores(score, faces.identity.values, image=faces.image.values)
    LISTED[:] = list(every_image_resample(twin))
    share = np.array([probability for _, probability in LISTED])
    levels = np.unique(score)
    resampling = Listed("image", n=len(LISTED))
    ev = fk.evaluate(
        looked_up(score, faces), threshold=levels, resampling=resampling, weighting=weighting
    )
    far, frr = (share @ ev["replicates"][name].values for name in ("far", "frr"))
    np.testing.assert_allclose(far, ev["empirical"].far, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(frr, ev["vstatistic"].frr, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(frr, vstatistic(twin, weighting)[1].rejected(levels), atol=1e-12)
    assert np.abs(frr - ev["empirical"].frr.values).max() > 0.1


# --- laziness and bounded memory -----------------------------------------------------------------


def refuse(*_, **__):
    """A dask scheduler that fails the test."""
    raise AssertionError("something was computed")


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_building_a_tensor_computes_nothing(similarity):
    faces = people("equal")
    with dask.config.set(scheduler=refuse):
        scores = fk.score_tensor(faces, similarity)
        stacked = fk.score_tensor(fk.open_data({"a": faces, "b": faces}), similarity)
        repr(scores)
        with pytest.raises(AssertionError, match="computed"):
            scores.compute()
    assert stacked.dims == ("model", "probe", "reference")


@pytest.mark.slow
def test_the_whole_matrix_is_never_in_memory():
    n = 10_000
    faces = people([10] * (n // 10), dim=64)
    options = dict(far=[1e-4, 1e-3], resampling=fk.Resampling("image", n=4))
    fk.evaluate(fk.score_tensor(people("equal")), far=FAR, resampling=fk.Resampling("image", n=4))
    tracemalloc.start()
    try:
        fk.evaluate(fk.score_tensor(faces), **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.4 * 4 * n * n, (
        f"peak {peak / 1e6:.0f} MB, the matrix has {4 * n * n / 1e6:.0f} MB"
    )


@pytest.mark.slow
def test_impostors_that_all_score_the_same():
    score, faces = table("unequal", seed=11)
    identity = faces.identity.values
    score[identity[:, None] != identity] = 0.5
    scores = looked_up(score, faces)
    options = dict(by="gender", resampling=fk.Resampling("image", n=3))
    ev = fk.evaluate(scores, far=FAR, **options)
    check_evaluation(ev, scores, far=FAR, **options)
    assert (ev["replicates"].threshold == 0.5).all()


HARD = {"a": {"share": 5, "kappa": (10, 40)}, "b": {"share": 3, "kappa": (5, 10)}}
EASY = {"a": {"share": 6, "kappa": (30, 80)}, "b": {"share": 1, "kappa": (30, 80)}}


@pytest.mark.parametrize("far_of", ["all", "worst group", "own group"])
@pytest.mark.parametrize(
    ("decimals", "groups", "far"),
    [(0, HARD, [0.02, 0.1]), (1, EASY, [0.02, 0.3]), (3, HARD, [0.02, 0.1])],
)
def test_replicates_at_a_level_do_not_depend_on_higher_levels(decimals, groups, far, far_of):
    """With a higher level they read more pairs; scores that are rounded are often equal."""
    faces = fk.vmf.mixture(40, 16, seed=0, groups=groups).sample(np.arange(40) % 5 + 2)
    scores = fk.score_tensor(faces, lambda a, b: np.round(3 * a @ b.T, decimals))
    options = dict(by="group", far_of=far_of, resampling=fk.Resampling("identity", n=40, seed=3))
    few, many = (
        fk.evaluate(scores, far=levels, **options)["replicates"].to_dataset()
        for levels in (far, [*far, 0.99])
    )
    xr.testing.assert_allclose(many.sel(far_level=far), few, rtol=1e-12)
