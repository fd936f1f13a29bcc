"""What a user relies on without thinking: names, order, scale and copies change no conclusion."""

import numpy as np
import pytest
import xarray as xr

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
FAR = [0.02, 0.1]
MEASURES = ("frr", "eer", "far_group", "frr_group", "frr_max_min", "far_max_geomean", "threshold")
ENDS = ["estimate", "lower", "upper"]


def people(n=30, images=4, seed=0):
    groups = {"a": {"kappa": 25}, "b": {"kappa": 12}}
    faces = fk.vmf.mixture(n, 8, seed=0, groups=groups).sample(images, seed=seed)
    return faces.assign_coords(image=[f"image{k}" for k in range(faces.sizes["image"])])


def matrix(faces, values=None, **options):
    """The faces' scores, or others, as a matrix."""
    if values is None:
        values = fk.score_tensor(faces).values
    who = faces.identity.values
    names = faces.image.values
    group = (faces.group.values, faces.group.values)
    both = {"probe": names, "reference": names, "attributes": {"group": group}}
    return fk.score_matrix(values, who, who, **both, **options)


def evaluation(scores):
    return fk.evaluate(scores, far=FAR, by="group")


@pytest.fixture(scope="module")
def faces():
    return people()


@pytest.fixture(scope="module")
def scores(faces):
    return matrix(faces)


@pytest.fixture(scope="module")
def plain(scores):
    return evaluation(scores)


@pytest.mark.parametrize("measure", MEASURES)
def test_groups_may_have_other_names(faces, plain, measure):
    """Also names in another order, here the reverse."""
    renamed = {"a": "z", "b": "m"}
    others = faces.assign_coords(group=("image", [renamed[name] for name in faces.group.values]))
    other = fk.band(evaluation(matrix(others)), measure)[ENDS]
    expected = fk.band(plain, measure)[ENDS]
    if "group" in expected.dims:
        expected = expected.assign_coords(group=[renamed[name] for name in "ab"])
        other = other.sel(group=["z", "m"])
    xr.testing.assert_allclose(other.drop_attrs(), expected.drop_attrs(), rtol=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_images_may_stand_in_another_order(faces, plain, measure):
    order = np.random.default_rng(0).permutation(faces.sizes["image"])
    other = fk.band(evaluation(matrix(faces.isel(image=order))), measure)
    xr.testing.assert_allclose(other[ENDS], fk.band(plain, measure)[ENDS], rtol=1e-6)


@pytest.mark.parametrize(
    "rise", [lambda s: 7 * s - 3, np.exp, lambda s: s**3, lambda s: np.sign(s) * abs(s) ** 0.5]
)
def test_only_the_order_of_scores_counts(faces, plain, rise):
    other = evaluation(matrix(faces, rise(fk.score_tensor(faces).values.astype(float))))
    for measure in ("frr", "far_group", "frr_group", "frr_max_min"):
        expected = fk.band(plain, measure)
        xr.testing.assert_allclose(fk.band(other, measure)[ENDS], expected[ENDS], rtol=1e-9)
    moved = rise(plain["empirical"].threshold.values.astype(float))
    np.testing.assert_allclose(other["empirical"].threshold, moved, rtol=1e-5)


def test_distances_are_scores_turned_round(faces, plain):
    other = evaluation(matrix(faces, -fk.score_tensor(faces).values, distance=True))
    for measure in ("frr", "far_group", "frr_max_min"):
        expected = fk.band(plain, measure)
        xr.testing.assert_allclose(fk.band(other, measure)[ENDS], expected[ENDS], rtol=1e-9)


def test_the_same_model_twice_is_no_different(faces):
    """Each copy has the intervals of the model alone, and their difference is 0 with a width."""
    both = fk.stack_models({"first": faces, "second": faces})
    twice = evaluation(fk.score_tensor(both))
    alone = fk.band(evaluation(fk.score_tensor(faces)), "frr")[ENDS]
    bands = fk.band(twice, "frr")[ENDS]
    for name in ("first", "second"):
        band_of_model = bands.sel(model=name, drop=True)
        xr.testing.assert_allclose(band_of_model.drop_attrs(), alone.drop_attrs())
    difference = fk.compare(twice, "frr", models=("first", "second"))
    assert (difference.estimate == 0).all() and (difference.p == 1).all()
    assert (difference.lower < 0).all() and (difference.upper > 0).all()


@pytest.mark.parametrize("measure", ["frr", "eer", "far_group", "frr_max_min"])
def test_a_comparison_turned_round_has_the_opposite_sign(faces, measure):
    """A difference changes its sign, a ratio becomes its inverse, p stays."""
    noise = np.random.default_rng(1).normal(scale=0.3, size=faces.embedding.shape)
    worse = faces.assign(embedding=faces.embedding + noise)
    a, b = (evaluation(fk.score_tensor(each)) for each in (faces, worse))
    forth = fk.compare(a, b, measure)
    back = fk.compare(b, a, measure)
    opposite = np.negative if forth.attrs["contrast"] == "difference" else np.reciprocal
    np.testing.assert_allclose(back.estimate, opposite(forth.estimate), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(back.lower, opposite(forth.upper), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(back.upper, opposite(forth.lower), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(back.p, forth.p, rtol=1e-9)


def test_groups_turned_round_have_the_opposite_difference(plain):
    forth = fk.compare(plain, "frr_group", groups=("a", "b"))
    back = fk.compare(plain, "frr_group", groups=("b", "a"))
    np.testing.assert_allclose(back.estimate, -forth.estimate, rtol=1e-9)
    np.testing.assert_allclose(back.lower, -forth.upper, rtol=1e-9)
    np.testing.assert_allclose(back.ratio, 1 / forth.ratio, rtol=1e-9)
    np.testing.assert_allclose(back.ratio_lower, 1 / forth.ratio_upper, rtol=1e-9)
    np.testing.assert_allclose(back.p, forth.p, rtol=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_surer_interval_contains_the_less_sure_one(plain, measure):
    narrow = None
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        wide = fk.band(plain, measure, level=level)
        if narrow is not None:
            assert (wide.lower <= narrow.lower).all() and (wide.upper >= narrow.upper).all()
            is_wider = (wide.upper - wide.lower) > (narrow.upper - narrow.lower)
            assert is_wider.any(), "the level does something"
        narrow = wide


def test_a_person_who_never_fails_lowers_the_frr_by_her_share(faces, scores):
    """At fixed thresholds: 30 people become 31, FAR stays where she resembles nobody."""
    values = scores.values
    n = len(values)
    more = np.full((n + 4, n + 4), values.min() - 1)
    more[:n, :n] = values
    more[n:, n:] = values.max() + 1
    who = np.append(faces.identity.values, ["infallible"] * 4)
    names = [f"image{k}" for k in range(n + 4)]
    larger = fk.score_matrix(more, who, who, probe=names, reference=names)
    thresholds = np.quantile(values, [0.8, 0.9])
    before = fk.evaluate(matrix(faces), threshold=thresholds)
    after = fk.evaluate(larger, threshold=thresholds)
    frr = before["empirical"].frr
    np.testing.assert_allclose(after["empirical"].frr, frr * 30 / 31, rtol=1e-9)
    far = before["empirical"].far * (30 * 29) / (31 * 30)
    np.testing.assert_allclose(after["empirical"].far, far, rtol=1e-6)
    assert (fk.band(after, "frr").upper < fk.band(before, "frr").upper).all()


def test_accepted_pairs_lie_above_the_threshold_and_not_at_it(faces, scores):
    """Thresholds that are scores of pairs, of which many are equal."""
    values = np.round(scores.values, 1)
    thresholds = np.array([0.2, 0.5, 0.8])
    rates = fk.evaluate(matrix(faces, values), threshold=thresholds, weighting="pair")["empirical"]
    row, col = np.triu_indices(len(values), 1)
    pair = values[row, col].astype(np.float32)
    genuine = faces.identity.values[row] == faces.identity.values[col]
    for threshold, place in zip(thresholds.astype(np.float32), range(3)):
        accepts = (pair[~genuine] > threshold).sum()
        rejects = (pair[genuine] <= threshold).sum()
        at_level = rates.isel(threshold_level=place)
        assert (at_level.false_accepts, at_level.false_rejects) == (accepts, rejects)
        assert at_level.far == pytest.approx(accepts / (~genuine).sum())
        assert at_level.frr == pytest.approx(rejects / genuine.sum())


def test_a_level_has_the_same_p_alone_and_among_others():
    """At FAR 1e-4 a small group has hardly an error, and p is 1 there."""
    faces = fk.demo_faces().sel(model="Ash")
    options = {"by": "age", "varying": "split"}
    alone, among = (
        fk.evaluate(fk.score_tensor(faces), far=far, **options) for far in ([1e-3], [1e-4, 1e-3])
    )
    for measure in ("far_max_min", "frr_max_min"):
        p_alone, p_among = fk.band(alone, measure).p, fk.band(among, measure).p
        np.testing.assert_allclose(p_among[-1], p_alone[0])
        assert 0.05 < p_alone[0] < 1
