"""Representation-level bias: known truths, arithmetic, what is refused."""

import dask
import numpy as np
import pytest
import xarray as xr
from paths import REAL_DATA
from refusals import noticed, refused

import frkit as fk
from frkit.papers.rlb.bounds import (
    detectable_information,
    entropy,
    independent_directions,
    independent_images,
    standard_error,
)
from frkit.representation import Critic, convergence, shifted_classes

QUICK = Critic(hidden=16, iterations=100, batch=64)


def bias(faces, attribute="group", critic=QUICK, **options):
    return fk.representation_bias(faces, attribute, critic=critic, progress=False, **options)


def people(n_people=40, per_identity=5, seed=0, dim=12, **attributes):
    """Faces of people far apart, so that a network knows again whom it has seen."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_people), per_identity)
    embedding = 3 * rng.standard_normal((n_people, dim))[who] + rng.standard_normal((len(who), dim))
    labels = {
        name: np.asarray(label_of_person)[who] for name, label_of_person in attributes.items()
    }
    return fk.faces(embedding, who, **labels)


@pytest.fixture(scope="module")
def two_attributes():
    rng = np.random.default_rng(1)
    gender, race = rng.choice(["f", "m"], 60), rng.choice(["a", "b"], 60)
    return people(60, 4, seed=1, gender=gender, race=race)


# --- the paper
@pytest.mark.parametrize(
    ("shares", "h", "information", "rlb"),
    [
        ([0.61384, 0.38616], 0.667, [0.636, 0.628, 0.620, 0.612, 0.553],
         [0.954, 0.942, 0.929, 0.918, 0.829]),
        ([0.5] * 2, 0.693, [0.480, 0.468, 0.448, 0.437, 0.361],
         [0.693, 0.675, 0.646, 0.631, 0.521]),
        ([0.25] * 4, 1.386, [0.762, 0.757, 0.736, 0.729, 0.658],
         [0.550, 0.546, 0.531, 0.526, 0.475]),
    ],
)  # fmt: skip
def test_printed_rlb_is_printed_mutual_information_over_entropy(shares, h, information, rlb):
    """Tables III and IV: sex on CelebA, sex and race on FairFace; Shannon's entropy in nats."""
    np.testing.assert_allclose(np.array(information) / h, rlb, atol=1e-3)
    assert round(entropy(np.array(shares)), 3) == h


# --- known truths
@pytest.mark.parametrize(
    ("options", "least"),
    [
        (dict(distance=0), -0.01),
        pytest.param(dict(distance=2), 0.24, marks=pytest.mark.slow),
        pytest.param(dict(distance=4, both_sides=True), 0.40, marks=pytest.mark.slow),
        pytest.param(dict(distance=10), 0.64, marks=pytest.mark.slow),
        pytest.param(dict(distance=2, shares=[0.25] * 4), 0.70, marks=pytest.mark.slow),
    ],
)
def test_estimates_come_near_the_truth_from_below(options, least):
    faces = shifted_classes(1200, 16, seed=3, **options)
    result = bias(faces, seeds=1, critic=Critic(hidden=32, iterations=400, batch=128))
    truth = faces.attrs["mutual_information"]
    assert least < result.mutual_information < truth + 2 * result.mutual_information_se + 1e-12
    assert result.verdict == ("detected" if options["distance"] > 0 else "not detectable")
    assert result.mutual_information_dv <= result.mutual_information + 1e-12


@pytest.mark.slow
def test_noise_reads_high_in_sample_and_nothing_held_out():
    """What the published readout takes for bias, with the curve of both along the training."""
    faces = shifted_classes(600, 128, distance=0, seed=0)
    critic = Critic(patience=None, iterations=300, batch=128)
    result = bias(faces, seeds=1, critic=critic)
    assert result.rlb_in_sample > 0.8 and result.rlb < 0
    curve = convergence(faces, "group", folds=3, critic=critic, progress=False)
    assert curve.in_sample.dims == ("fold", "step")
    assert curve.step.values.tolist() == list(range(0, 301, 25))
    assert curve.in_sample[:, -1].mean() > 0.6 * curve.entropy and curve.held_out[:, -1].mean() < 0


@pytest.mark.slow
def test_image_folds_read_people_and_not_the_attribute():
    rng = np.random.default_rng(5)
    faces = people(40, 8, seed=5, group=rng.permutation(np.repeat(["a", "b"], 20)))
    critic = Critic(iterations=200, batch=128)
    by_image = bias(faces, seeds=1, by="image", critic=critic)
    by_identity = bias(faces, seeds=1, critic=critic)
    assert by_image.rlb > 0.5 and by_image.verdict == "detected"
    assert by_identity.rlb < 2 * by_identity.rlb_se + 0.01
    assert by_identity.verdict == "not detectable"


# --- arithmetic
@pytest.mark.slow
def test_numbers_of_a_result_fit_each_other(two_attributes):
    result = bias(two_attributes, ["gender", ("gender", "race")], seeds=2)
    for kind in ("", "_dv"):
        information = result[f"rlb{kind}"] * result.entropy
        np.testing.assert_allclose(information, result[f"mutual_information{kind}"], rtol=1e-12)
    np.testing.assert_allclose(
        result.rlb_by_seed.std("seed", ddof=1), result.rlb_seed_sd, atol=1e-12
    )
    assert (result.rlb >= result.rlb_by_seed.mean("seed") - 1e-12).all(), "SN is concave in T"
    assert result.attribute.values.tolist() == ["gender", "gender & race"]
    assert result.n_classes.values.tolist() == [2, 4]
    shares = np.unique(two_attributes.gender, return_counts=True)[1] / two_attributes.sizes["image"]
    assert result.entropy.values[0] == pytest.approx(entropy(shares))
    between = bias(shifted_classes(400, 8, distance=0.7, seed=2), seeds=1)
    assert between.rlb_se < between.rlb < 2 * between.rlb_se
    assert between.verdict == "not detectable"


@pytest.mark.parametrize("scale", [1e30, 1e-15])
def test_no_number_depends_on_the_scale_of_an_embedding(scale):
    faces = shifted_classes(400, 8, distance=0, seed=0)
    scaled = faces.assign(embedding=faces.embedding * np.float32(scale))
    plain, other = (bias(each, seeds=1) for each in (faces, scaled))
    assert plain.verdict == "not detectable"
    # of five folds a network is trained on three
    information = detectable_information(faces.embedding.values, np.arange(400), 2, 3 / 5)
    limit = pytest.approx(information / float(plain.entropy), rel=1e-3)
    assert float(plain.smallest_detectable) == limit
    for name in ("smallest_detectable", "rlb", "rlb_dv"):
        assert float(other[name]) == pytest.approx(float(plain[name]), rel=1e-3), name


def test_standard_error_is_that_of_identity_means():
    """With equal numbers of images: sd of the identities' means over root of their number."""
    rng = np.random.default_rng(0)
    terms, person = rng.standard_normal(40), np.repeat(np.arange(8), 5)
    expected = terms.reshape(8, 5).mean(1).std(ddof=1) / np.sqrt(8)
    assert standard_error(terms - terms.mean(), person) == pytest.approx(expected, rel=1e-12)


def test_effective_sizes_of_known_laws():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(400), 5)
    noise, common = rng.standard_normal((2000, 40)), rng.standard_normal((400, 40))[person]
    assert independent_images(noise, np.arange(2000)) == 2000
    assert independent_images(noise + common, person) == pytest.approx(2000 / 3, rel=0.1)
    assert independent_directions(noise, np.arange(2000)) == pytest.approx(40, rel=0.05)


# --- same numbers, however they are asked for
@pytest.mark.slow
def test_threads_and_order_change_no_bit(two_attributes):
    options = {"critic": Critic(hidden=8, iterations=25, batch=32), "seeds": 2}
    with dask.config.set(scheduler="synchronous"):
        alone = bias(two_attributes, "race", **options)
    xr.testing.assert_identical(bias(two_attributes, "race", **options), alone)
    listed = bias(two_attributes, ["gender", "race"], **options)
    xr.testing.assert_identical(listed.sel(attribute="race", drop=True), alone)
    first = bias(two_attributes, "race", **options | {"seeds": 1})
    xr.testing.assert_identical(first.rlb_by_seed, alone.rlb_by_seed.sel(seed=[0]))


def test_generated_faces_follow_their_seed_and_description():
    options = dict(distance=3, per_identity=4, seed=7)
    faces = shifted_classes(4000, 6, **options)
    xr.testing.assert_identical(faces, shifted_classes(4000, 6, **options))
    values = faces.embedding.values.astype(float)
    means = [values[faces.group == k].mean(0) for k in ("0", "1")]
    assert np.linalg.norm(means[1] - means[0]) == pytest.approx(3, abs=0.2)
    rest = values - np.where((faces.group == "1").values[:, None], means[1], means[0])
    assert rest.var() == pytest.approx(1, abs=0.05)
    first, second = rest[::4].ravel(), rest[1::4].ravel()
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(0.5, abs=0.05)


# --- real embeddings
@pytest.mark.slow
@pytest.mark.skipif(not REAL_DATA.is_dir(), reason=f"the real data are not here: {REAL_DATA}")
def test_gender_shows_in_real_embeddings_and_a_permuted_one_does_not():
    """That real embeddings give what made ones with a known truth give in the tests above."""
    faces = fk.open_data(REAL_DATA / "lfw158_facenet.npz")
    permuted = np.repeat(np.random.default_rng(0).permutation(faces.gender.values[::10]), 10)
    faces = faces.assign_coords(permuted=("image", permuted))
    result = bias(faces, ["gender", "permuted"], critic=None, seeds=1)
    assert result.verdict.values.tolist() == ["detected", "not detectable"]
    assert result.rlb[0] > 0.3 and result.rlb[1] < 2 * result.rlb_se[1] + 1e-12


# --- what is refused, left out and warned of
TWO = ["a", "b"] * 8


def faces_of(who, labels, **options):
    embedding = np.random.default_rng(0).standard_normal((len(who), 4))
    return fk.faces(embedding, who, group=labels, **options)


def pairs_of_images(groups):
    """Two images of each person, with a label of the person."""
    return faces_of(np.repeat(np.arange(len(groups)), 2), np.repeat(groups, 2))


def spoiled(groups, value, *place):
    """Two encoders, of which the second has this value there."""
    faces = pairs_of_images(groups)
    stacked = fk.open_data({"A": faces, "B": faces})
    stacked.embedding[(1, *place)] = value
    return stacked


def varying():
    """Sixteen people with an image of each class, but for the first, who has two of b."""
    return faces_of(np.repeat(np.arange(16), 2), ["b", "b"] + ["a", "b"] * 15)


@pytest.mark.parametrize(
    ("faces", "options", "message"),
    [
        (pairs_of_images(["a"] * 10), {}, "a"),
        (pairs_of_images(["a"] * 10 + ["b"] * 4), {}, "4 of the 5 people"),
        (varying(), {}, "15 of 16 identities"),
        (spoiled(TWO, np.nan, 5, 0), {}, "model 1 at row 5, column 0"),
        (spoiled(TWO, 2.0), {}, "images of a fold"),
    ],
)
def test_bad_input_is_refused(faces, options, message):
    with refused(message):
        bias(faces, **{"seeds": 1} | options)


def test_an_attribute_that_varies_can_be_kept():
    kept = bias(varying(), critic=QUICK, seeds=1, varying="keep")
    assert (kept.n_identities, kept.n_images, kept.n_classes) == (16, 32, 2)


def test_images_without_a_label_are_left_out_with_a_warning():
    whole = pairs_of_images(TWO + [None] * 3)
    with noticed("6 of 38 images"):
        labelled = bias(whole, seeds=1)
    xr.testing.assert_identical(labelled, bias(whole.isel(image=whole.group != "unknown"), seeds=1))


@pytest.mark.slow
def test_where_everything_is_revealed_the_share_is_certain_though_the_information_is_not():
    """Information and entropy then vary together, so that their ratio hardly varies at all."""
    faces = shifted_classes(400, 8, distance=12, shares=(0.8, 0.2), seed=0)
    result = fk.representation_bias(faces, "group", seeds=1, progress=False)
    assert result.rlb > 0.95
    assert result.rlb_se < 0.2 * result.mutual_information_se / result.entropy


def test_directions_of_few_people_are_counted_as_published():
    """Bai & Saranadasa (1996), eq. 3.3, of n = 6 - 1 degrees of freedom, as it is printed."""
    x = np.random.default_rng(3).normal(size=(6, 4)) * [3, 2, 1, 1]
    n = 5
    covariance = np.cov(x.T)
    trace = np.trace(covariance)
    sum_of_squares = np.trace(covariance @ covariance)
    square = n**2 / ((n + 2) * (n - 1)) * (sum_of_squares - trace**2 / n)
    assert 1 < trace**2 / square < 4
    assert independent_directions(x, np.arange(6)) == pytest.approx(trace**2 / square)


def test_detectable_information_solves_its_equation():
    """A critic keeps I² / (I + N / 2) of it, and that is 2 · 4² / n."""
    x = np.random.default_rng(0).normal(size=(300, 12))
    person = np.arange(300)
    information = detectable_information(x, person, 3, 0.6)
    noise = 2 * independent_directions(x, person) / (0.6 * 300)
    assert information**2 / (information + noise / 2) == pytest.approx(2 * 4**2 / 300)
