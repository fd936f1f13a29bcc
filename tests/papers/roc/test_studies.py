"""Studies: the MORPH split, Proposition 1 on a mixture and on faces, the bias of the bootstrap."""

import numpy as np
import pytest
import xarray as xr
from refusals import noticed, refused
from trees import EMPIRICAL, FAR

import frkit as fk

FAR_RANGE = np.geomspace(1e-2, 1e-1, 5)


@pytest.fixture(scope="module")
def mixture():
    return fk.vmf.mixture(40, 16, kappa=(10, 40), seed=3)


def faces_of_sizes(*sizes):
    identity = np.repeat([f"id{k}" for k in range(len(sizes))], sizes)
    embedding = np.random.default_rng(0).normal(size=(identity.size, 4))
    return fk.faces(embedding, identity, image=[f"image {k}" for k in range(identity.size)])


# --- split ---------------------------------------------------------------------------------------
def test_the_split_halves_every_identity_and_gives_the_odd_images_in_turn():
    faces = faces_of_sizes(1, 4, 3, 6, 5, 7, 3)
    first, second = fk.studies.split(faces, seed=0)
    counts = [dict(zip(*np.unique(part.identity, return_counts=True))) for part in (first, second)]
    assert counts[0] == {"id1": 2, "id2": 2, "id3": 3, "id4": 2, "id5": 4, "id6": 1}
    assert counts[1] == {"id1": 2, "id2": 1, "id3": 3, "id4": 3, "id5": 3, "id6": 2}
    names = [set(part.image.values.tolist()) for part in (first, second)]
    assert not names[0] & names[1]
    assert names[0] | names[1] == set(faces.image.values.tolist()) - {"image 0"}


# --- sup distance --------------------------------------------------------------------------------
def curves(error, **attrs) -> xr.Dataset:
    truth = xr.DataArray(EMPIRICAL, dims="far_level", coords={"far_level": FAR})
    frr = xr.DataArray(EMPIRICAL + np.asarray(error), dims=("seed", "size", "far_level"))
    data = {"frr": frr, "truth": truth, "n_images": ("size", [100, 400])}
    about = {"kind": "studies.consistency", "exact": 1, "n_full": 0}
    return xr.Dataset(data, attrs=about | attrs)


def test_the_distance_is_the_largest_of_all_levels():
    result = curves([[[0.1, -0.03, 0.02, 0], [0.05, 0.01, -0.02, 0]]])
    np.testing.assert_allclose(fk.studies.sup_distance(result).distance, [[0.1, 0.05]])


def test_the_bound_holds_between_the_levels():
    result = curves([[[0, 0, 0, 0], [0.1, 0, 0, 0]]])
    # on (1e-4, 1e-3) the curve is at most .4 (.5) and the truth at least .2
    np.testing.assert_allclose(fk.studies.sup_distance(result).bound, [[0.2, 0.3]])


def test_the_reference_passes_through_distances_that_follow_it():
    error = [[[0.1, 0, 0, 0], [0.05, 0, 0, 0]], [[-0.1, 0, 0, 0], [0.05, 0, 0, 0]]]
    distances = fk.studies.sup_distance(curves(error))
    np.testing.assert_allclose(distances.typical, [0.1, 0.05])
    np.testing.assert_allclose(distances.reference, [0.1, 0.05])
    reference = fk.studies.sup_distance(curves(error, exact=0, n_full=500)).reference
    expected = np.sqrt((1 / 100 - 1 / 500) / (1 / 400 - 1 / 500))
    np.testing.assert_allclose(reference[0] / reference[1], expected)


# --- consistency ---------------------------------------------------------------------------------
@pytest.mark.slow
def test_the_distance_to_the_exact_truth_shrinks_with_the_root_of_n(mixture):
    options = dict(sizes=(4, 12, 36), far=FAR_RANGE, seeds=4, progress=False)
    distances = fk.studies.sup_distance(fk.studies.consistency(mixture, **options))
    np.testing.assert_array_equal(distances.n_images, [160, 480, 1440])
    slope = np.polyfit(np.log(distances.n_images), np.log(distances.typical), 1)[0]
    assert -0.7 < slope < -0.3


@pytest.mark.slow
def test_samples_grow_image_by_image_towards_the_exact_truth(mixture):
    options = dict(far=FAR_RANGE, seeds=1, progress=False)
    result = fk.studies.consistency(mixture, sizes=(4, 8), **options)
    faces = mixture.sample(per_identity=8, seed=0)
    whole = fk.evaluate(fk.score_tensor(faces), far=FAR_RANGE)["empirical"].frr
    np.testing.assert_allclose(result.frr.sel(seed=0, size=8), whole, rtol=1e-12)
    np.testing.assert_array_equal(result.truth, mixture.population_roc(FAR_RANGE).frr)


@pytest.mark.slow
def test_parts_of_faces_approach_the_full_set_for_every_model(mixture):
    faces = mixture.sample(per_identity=20, seed=0)
    both = fk.open_data({"A": faces, "B": faces})
    options = dict(sizes=(0.3, 0.95), far=FAR_RANGE, seeds=2, progress=False)
    result = fk.studies.consistency(both, **options)
    assert set(result.frr.dims) == {"seed", "size", "model", "far_level"}
    np.testing.assert_array_equal(result.frr.sel(model="A"), result.frr.sel(model="B"))
    distances = fk.studies.sup_distance(result)
    np.testing.assert_array_equal(distances.n_images, [240, 760])
    assert bool((distances.typical[1] < distances.typical[0]).all())


def test_wrong_arguments_of_consistency_are_named(mixture):
    options = dict(far=FAR_RANGE, progress=False)
    with refused("genuine"):
        fk.studies.consistency(mixture, sizes=(1, 4), **options)
    with refused("genuine"):
        fk.studies.bootstrap_bias(mixture, per_identity=(1, 4), far=FAR_RANGE, progress=False)


# --- bias ----------------------------------------------------------------------------------------
def test_naive_replicates_surround_the_v_statistic_and_recentered_ones_the_estimate(mixture):
    options = dict(per_identity=(2, 10), far=FAR_RANGE, n=60, progress=False)
    with noticed("40 of 40 people"):
        study = fk.studies.bootstrap_bias(mixture, **options)
    shrink = xr.DataArray([1 / 2, 9 / 10], dims="per_identity")
    np.testing.assert_allclose(study.centre, shrink * study.estimate, rtol=1e-12)
    mean = study.replicates.mean("replicate")
    assert float(abs(mean / study.centre - 1).max()) < 0.15
    inside = (study.lower < study.estimate) & (study.estimate < study.upper)
    assert bool(inside.sel(interval="recentered").all())
    assert not bool(inside.sel(interval="naive", per_identity=2).any())
