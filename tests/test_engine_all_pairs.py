"""What needs every pair (AUC, means, deviations, histograms) against the slow twin."""

import numpy as np
import pytest
from engine_cases import FAR, as_twin, check_evaluation, counts, groups_of, looked_up, people, table
from twin import empirical, vstatistic, weighted
from twin_rates import whole_summary

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
DIMS = ("replicate", "group", "score_bin")


def check_node(node, expected, where):
    """Every variable of the twin is there and agrees to 1e-12; the exact AUC lies within the stated bound."""
    for name, value in expected.items():
        if name.startswith("auc"):
            continue  # the exact one is checked
        if name.startswith("exact_"):
            found = node[name.removeprefix("exact_")]
            np.testing.assert_allclose(
                found, value, rtol=0, atol=found.attrs["error_bound"] + 1e-12, err_msg=where
            )
            continue
        found = node[name].transpose(*[dim for dim in DIMS if dim in node[name].dims]).values
        np.testing.assert_allclose(
            found, value, rtol=1e-12, atol=1e-12, err_msg=f"{name} in {where}"
        )


def evaluate_and_check(
    scores, *, bins=20, bounds=(-1.25, 1.25), by=None, resampling=None, impostors="all", **options
):
    """Evaluate with a histogram; compare point, centre and replicates with the twin."""
    levels = dict(far=FAR) if "threshold" not in options else {}
    shared = dict(by=by, resampling=resampling, impostors=impostors, **levels, **options)
    ev = fk.evaluate(scores, histogram=(bins, bounds), **shared)
    check_evaluation(ev, scores, **shared)
    twin, weighting = as_twin(scores, by), options.get("weighting", "identity")
    edges = np.linspace(*bounds, bins + 1)
    np.testing.assert_allclose(ev["empirical"].score_bin, (edges[1:] + edges[:-1]) / 2, atol=1e-12)
    how = dict(groups=groups_of(twin) if by else None, impostors=impostors)
    plain = whole_summary(empirical(twin, weighting), edges, **how)
    check_node(ev["empirical"].dataset, plain, "empirical")
    if resampling is not None:
        diagonal = resampling.scheme in ("image", "two-level")
        centre = whole_summary(vstatistic(twin, weighting), edges, **how) if diagonal else plain
        check_node(ev["vstatistic"].dataset, centre, "vstatistic")
        for b in range(resampling.n):
            drawn = weighted(twin, *counts(twin, resampling, b), weighting)
            node = ev["replicates"].dataset.isel(replicate=b)
            check_node(node, whole_summary(drawn, edges, **how), f"replicate {b}")
    return ev


@pytest.mark.parametrize(
    "scheme", ["image", "identity", "two-level", "double-or-nothing", "subset"]
)
@pytest.mark.parametrize("weighting", ["identity", "pair"])
@pytest.mark.parametrize(("sizes", "ties"), [("equal", True), ("unequal", False)])
def test_schemes_and_weightings(sizes, ties, weighting, scheme):
    scores = fk.score_tensor(people(sizes, ties=ties), chunks=7)
    options = dict(by="gender", resampling=fk.Resampling(scheme, n=3, seed=1), weighting=weighting)
    evaluate_and_check(scores, **options)


@pytest.mark.parametrize("impostors", ["all", "same-group"])
def test_impostors_and_fixed_thresholds(impostors):
    scores = fk.score_tensor(people("unequal"), chunks=9)
    options = dict(by="gender", resampling=fk.Resampling("image", n=2), impostors=impostors)
    evaluate_and_check(scores, threshold=[0.1, 0.5], **options)


@pytest.mark.parametrize("bins", [20, 100])
def test_scores_on_and_beside_the_edges_of_bins(bins):
    """As in np.histogram: a bin holds its lower edge, the last one both, and rounding moves no score."""
    _, faces = table("unequal")
    edges = np.linspace(-1, 1, bins + 1).astype(np.float32)
    beside = [edges, np.nextafter(edges, np.float32(-2)), np.nextafter(edges, np.float32(2))]
    values = np.unique(np.clip(np.concatenate(beside), -1, 1))
    score = np.random.default_rng(7).choice(values, (24, 24))
    score = np.maximum(score, score.T)
    evaluate_and_check(looked_up(score, faces, chunks=9), bins=bins, bounds=(-1.0, 1.0))


def test_a_callable_that_depends_on_the_order():
    score, faces = table("unequal", seed=3, decimals=1)
    score = score + np.triu(np.full_like(score, 0.25), 1)
    scores = looked_up(score, faces, chunks=8, symmetric=False)
    evaluate_and_check(
        scores, by="gender", bounds=(-6.0, 6.0), resampling=fk.Resampling("image", n=3)
    )


def test_failed_comparisons():
    score = np.round(np.random.default_rng(4).random((9, 10)), 2)
    score[[0, 3, 5, 8], [1, 2, 5, 9]] = -1
    scores = fk.score_matrix(score, list("aabbcddde"), list("abbccdeffa"), missing=-1, chunks=4)
    evaluate_and_check(scores, bounds=(0.0, 1.0), resampling=fk.Resampling("identity", n=4))


def test_scores_outside_the_bounds_are_refused():
    scores = fk.score_tensor(people("equal"), chunks=9)
    with pytest.raises(fk.InputError, match="bounds"):
        fk.evaluate(scores, far=[0.1], histogram=(10, (0.0, 0.5)))


def test_the_error_of_the_auc_is_small_where_scores_are_many():
    faces = fk.vmf.mixture(60, 32, kappa=(10, 30), seed=0).sample(8, seed=1)
    scores = fk.score_tensor(faces)
    found = fk.evaluate(scores, far=[0.1], histogram=20)["empirical"].auc
    pairs = np.triu_indices(480, 1)
    genuine = faces.identity.values[pairs[0]] == faces.identity.values[pairs[1]]
    impostors = np.sort(scores.values[pairs][~genuine])
    exact = np.searchsorted(impostors, scores.values[pairs][genuine]).mean() / len(impostors)
    assert abs(float(found) - exact) < 3e-5 and found.attrs["error_bound"] < 2e-3


@pytest.mark.parametrize("histogram", [0, -3, 2.5, "all", (10, (1.0, 0.0)), (0, None)], ids=str)
def test_histograms_that_make_no_sense_are_refused(histogram):
    with pytest.raises(fk.InputError, match="histogram must be"):
        fk.evaluate(fk.score_tensor(people("equal")), far=[0.1], histogram=histogram)


def test_chunks_do_not_matter():
    faces = people("equal", dim=40)
    options = dict(far=FAR, histogram=100, by="gender", resampling=fk.Resampling("image", n=4))
    whole = fk.evaluate(fk.score_tensor(faces, chunks=24), **options)
    for chunks in (1, 5, 7, 23):
        parts = fk.evaluate(fk.score_tensor(faces, chunks=chunks), **options)
        for node in ("empirical", "vstatistic", "replicates"):
            for name in whole[node].data_vars:
                left, right = parts[node][name].values, whole[node][name].values
                exact = not name.startswith(("impostor_mean", "impostor_sd"))
                np.testing.assert_allclose(
                    left, right, rtol=0 if exact else 1e-12, atol=0, err_msg=name
                )
