"""Images that resemble another person more than their own, against loops and planted labels."""

import numpy as np
import pytest
from refusals import refused

import frkit as fk


@pytest.fixture(scope="module")
def faces():
    return fk.vmf.mixture(12, 16, kappa=(10, 40), seed=0).sample([1, 2, 3, 5] * 3, seed=1)


def nearest_by_hand(scores, image):
    """The own person's mean score, the nearest other person and its mean score, pair by pair."""
    who = dict(zip(scores.reference.values, scores.reference_identity.values))
    scores_of_people = {}
    for reference, score in zip(scores.reference.values, scores.sel(probe=image).values):
        if reference != image and np.isfinite(score):
            scores_of_people.setdefault(who[reference], []).append(score)
    means = {person: np.mean(each) for person, each in scores_of_people.items()}
    own_mean = means.pop(scores.probe_identity.sel(probe=image).item(), np.nan)
    other = max(means, key=means.get)
    return own_mean, other, means[other]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [4, 1000])
def test_every_image_has_the_person_of_the_loop(faces, chunk):
    scores = fk.score_tensor(faces).chunk(probe=chunk, reference=5)
    nearest = fk.nearest_people(scores)
    assert set(nearest.image.values) == set(faces.image.values)
    for image in nearest.image.values:
        own_score, other, score = nearest_by_hand(scores.compute(), image)
        row = nearest.sel(image=image)
        np.testing.assert_allclose(row.own_score, own_score, rtol=1e-6)
        np.testing.assert_allclose(row.other_score, score, rtol=1e-6)
        np.testing.assert_allclose(row.difference, own_score - score, rtol=1e-5, atol=1e-7)
        assert row.other_identity == other
    assert nearest.difference.isnull().sum() == 3  # an image alone has no own person to resemble
    assert (np.diff(nearest.difference.dropna("image")) >= 0).all()


def test_swapped_images_come_first_and_a_divided_person_is_its_own_neighbour():
    faces = fk.demo_faces().sel(model="Ash").isel(image=slice(1200))
    names = faces.identity.values.astype("U12")
    rng = np.random.default_rng(0)
    many = [person for person in np.unique(names) if (names == person).sum() >= 4]
    swapped = [rng.choice(np.flatnonzero(names == person)) for person in many[:16]]
    for i, j in zip(swapped[::2], swapped[1::2]):
        names[i], names[j] = names[j], names[i]
    divided = np.flatnonzero(names == many[20])
    names[divided[: len(divided) // 2]] = "again"
    nearest = fk.nearest_people(fk.score_tensor(faces.assign_coords(identity=("image", names))))
    assert set(nearest.image.values[:16]) == set(faces.image.values[swapped])
    divided_rows = nearest.sel(image=faces.image.values[divided])
    assert set(divided_rows.other_identity.values) == {"again", many[20]}


@pytest.mark.filterwarnings("ignore:0 genuine and 4 impostor:frkit.DataWarning")
def test_distances_and_failed_comparisons(faces):
    values = fk.score_tensor(faces).values.copy()
    values[0, 1:5] = np.nan
    names = faces.image.values
    sides = {"probe": names, "reference": names}
    who = faces.identity.values
    near = fk.nearest_people(fk.score_matrix(values, who, who, **sides))
    far = fk.nearest_people(fk.score_matrix(1 - values, who, who, **sides, distance=True))
    far = far.sel(image=near.image)
    assert (near.other_identity == far.other_identity).all()
    np.testing.assert_allclose(1 - far.other_score, near.other_score, rtol=1e-6)
    np.testing.assert_allclose(far.difference, near.difference, atol=1e-7)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_an_image_of_which_all_comparisons_failed_has_no_nearest_person(faces):
    values = fk.score_tensor(faces).values.copy()
    values[2] = values[:, 2] = np.nan
    names = faces.image.values
    who = faces.identity.values
    nearest = fk.nearest_people(fk.score_matrix(values, who, who, probe=names, reference=names))
    last = nearest.sel(image=names[2])
    assert last.other_identity == "unknown"
    assert np.isnan([last.own_score, last.other_score, last.difference]).all()
    assert (nearest.other_identity != "unknown").sum() == len(names) - 1


def test_what_cannot_be_answered_is_refused(faces):
    scores = fk.score_tensor(faces)
    with refused("kept pairs"):
        fk.nearest_people(fk.sweep(scores))
    with refused(".sel(model=...)"):
        fk.nearest_people(scores.expand_dims(model=["a", "b"]))
    with refused("references"):
        fk.nearest_people(fk.score_tensor(faces.isel(image=[3, 4, 5])))
