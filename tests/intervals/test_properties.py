"""What a user relies on without thinking: names, order, scale and copies change no conclusion."""

import numpy as np
import pytest
import xarray as xr
from refusals import refused

import frkit as fk

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::frkit.DataWarning")]
FAR = [0.02, 0.1]
MEASURES = ("frr", "eer", "far_group", "frr_group", "frr_max_min", "far_max_geomean", "threshold")
ENDS = ["estimate", "lower", "upper"]


@pytest.fixture(scope="module")
def faces():
    """Thirty people in two groups, with three or five images each."""
    groups = {"a": {"kappa": 25}, "b": {"kappa": 12}}
    faces = fk.vmf.mixture(30, 8, seed=0, groups=groups).sample([3, 5] * 15, seed=0)
    return faces.assign_coords(image=[f"image{k}" for k in range(faces.sizes["image"])])


class Form:
    """The same scores as those of embeddings or as a list, each with its usual average."""

    def __init__(self, is_list):
        self.is_list = is_list
        self.weighting = "pair" if is_list else "identity"

    def scores(self, faces, values=None, **options):
        """The scores of the faces, or other values in their place."""
        if values is None and not self.is_list:
            return fk.score_tensor(faces)
        values = fk.score_tensor(faces).values if values is None else values
        identity, image, group = (faces[name].values for name in ("identity", "image", "group"))
        if self.is_list:
            row, col = np.triu_indices(len(image), 1)
            values = values[row, col]
            options["group"] = group[row], group[col]
        else:
            row = col = np.arange(len(image))
            options["attributes"] = {"group": (group, group)}
        options |= {"probe": image[row], "reference": image[col]}
        options |= {"probe_identity": identity[row], "reference_identity": identity[col]}
        return (fk.pairs if self.is_list else fk.score_matrix)(values, **options)

    def evaluate(self, faces, values=None, **options):
        scores = self.scores(faces, values, **options)
        return fk.evaluate(scores, far=FAR, by="group", weighting=self.weighting)


@pytest.fixture(scope="module", params=[False, True], ids=["embeddings", "list"])
def form(request):
    return Form(request.param)


@pytest.fixture(scope="module")
def plain(form, faces):
    return form.evaluate(faces)


@pytest.mark.slow
def test_groups_may_have_other_names(form, faces, plain):
    """Also names in another order, here the reverse."""
    renamed = {"a": "z", "b": "m"}
    others = faces.assign_coords(group=("image", [renamed[name] for name in faces.group.values]))
    evaluation = form.evaluate(others)
    for measure in MEASURES:
        other, expected = fk.band(evaluation, measure)[ENDS], fk.band(plain, measure)[ENDS]
        if "group" in expected.dims:
            expected = expected.assign_coords(group=[renamed[name] for name in "ab"])
            other = other.sel(group=["z", "m"])
        xr.testing.assert_allclose(other.drop_attrs(), expected.drop_attrs(), rtol=1e-9)


def test_images_may_stand_in_another_order(form, faces, plain):
    order = np.random.default_rng(0).permutation(faces.sizes["image"])
    evaluation = form.evaluate(faces.isel(image=order))
    for measure in MEASURES:
        other, expected = fk.band(evaluation, measure)[ENDS], fk.band(plain, measure)[ENDS]
        xr.testing.assert_allclose(other, expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rise", [lambda s: 7 * s - 3, np.exp, lambda s: s**3, lambda s: np.sign(s) * abs(s) ** 0.5]
)
def test_only_the_order_of_scores_counts(form, faces, plain, rise):
    other = form.evaluate(faces, rise(fk.score_tensor(faces).values.astype(float)))
    for measure in ("frr", "far_group", "frr_group", "frr_max_min"):
        expected = fk.band(plain, measure)
        xr.testing.assert_allclose(fk.band(other, measure)[ENDS], expected[ENDS], rtol=1e-9)
    moved = rise(plain["empirical"].threshold.values.astype(float))
    np.testing.assert_allclose(other["empirical"].threshold, moved, rtol=1e-5)


def test_distances_are_scores_turned_round(form, faces, plain):
    other = form.evaluate(faces, -fk.score_tensor(faces).values, distance=True)
    for measure in ("frr", "far_group", "frr_max_min"):
        expected = fk.band(plain, measure)
        xr.testing.assert_allclose(fk.band(other, measure)[ENDS], expected[ENDS], rtol=1e-9)


def test_the_same_model_twice_is_no_different(form, faces, plain):
    """Their difference is 0 with a width; embeddings: each has the intervals that it has alone."""
    difference = fk.compare(plain, form.evaluate(faces), "frr")
    assert (difference.estimate == 0).all() and (difference.p == 1).all()
    assert (difference.lower < 0).all() and (difference.upper > 0).all()
    if not form.is_list:
        twice = form.evaluate(fk.open_data({"first": faces, "second": faces}))
        for name in ("first", "second"):
            band_of_model = fk.band(twice, "frr")[ENDS].sel(model=name, drop=True)
            alone = fk.band(plain, "frr")[ENDS]
            xr.testing.assert_allclose(band_of_model.drop_attrs(), alone.drop_attrs())


@pytest.mark.slow
def test_a_comparison_turned_round_has_the_opposite_sign(form, faces, plain):
    """A difference changes its sign, a ratio becomes its inverse, p stays."""
    noise = np.random.default_rng(1).normal(scale=0.3, size=faces.embedding.shape)
    worse = form.evaluate(faces.assign(embedding=faces.embedding + noise))
    for measure in ("frr", "eer", "far_group", "frr_max_min"):
        forth, back = fk.compare(plain, worse, measure), fk.compare(worse, plain, measure)
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
def test_a_higher_level_gives_a_wider_interval(plain, measure):
    narrow = None
    for level in (0.5, 0.9, 0.99):
        wide = fk.band(plain, measure, level=level)
        if narrow is not None:
            assert (wide.lower <= narrow.lower).all() and (wide.upper >= narrow.upper).all()
            is_wider = (wide.upper - wide.lower) > (narrow.upper - narrow.lower)
            assert is_wider.any(), "the level does something"
        narrow = wide


def test_a_person_who_never_fails_lowers_both_rates(form, faces):
    """At fixed thresholds: 30 people become 31, and she resembles nobody."""
    values = fk.score_tensor(faces).values
    n = len(values)
    more = np.full((n + 4, n + 4), values.min() - 1)
    more[:n, :n] = values
    more[n:, n:] = values.max() + 1
    labels = {name: np.append(faces[name].values, ["her"] * 4) for name in ("identity", "group")}
    image = [f"image{k}" for k in range(n + 4)]
    larger = xr.Dataset(coords={"image": image} | {k: ("image", v) for k, v in labels.items()})
    options = {"threshold": np.quantile(values, [0.8, 0.9]), "weighting": form.weighting}
    before = fk.evaluate(form.scores(faces), **options)
    after = fk.evaluate(form.scores(larger, more, missing=[]), **options)
    genuine, impostors = 30, 30 * 29
    new_genuine, new_impostors = 1, 30 * 2
    if form.weighting == "pair":
        n_pairs = n * (n - 1) // 2
        genuine, new_genuine = 15 * 3 + 15 * 10, 6
        impostors, new_impostors = n_pairs - genuine, 4 * n
    for rate, share in {
        "frr": genuine / (genuine + new_genuine),
        "far": impostors / (impostors + new_impostors),
    }.items():
        expected = before["empirical"][rate] * share
        np.testing.assert_allclose(after["empirical"][rate], expected, rtol=1e-6)
        assert (fk.band(after, rate).upper < fk.band(before, rate).upper).all()


def test_accepted_pairs_lie_above_the_threshold_and_not_at_it(faces):
    """Thresholds that are scores of pairs, of which many are equal."""
    values = np.round(fk.score_tensor(faces).values.astype(float), 1)
    thresholds = np.array([0.2, 0.5, 0.8])
    scores = Form(is_list=False).scores(faces, values)
    rates = fk.evaluate(scores, threshold=thresholds, weighting="pair")["empirical"]
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


@pytest.mark.slow
def test_a_level_has_the_same_p_alone_and_among_others():
    faces = fk.demo_faces().sel(model="Ash")
    options = {"by": "gender"}
    alone, among = (
        fk.evaluate(fk.score_tensor(faces), far=far, **options) for far in ([1e-3], [1e-4, 1e-3])
    )
    for measure in ("far_max_min", "frr_max_min"):
        p_alone, p_among = fk.band(alone, measure).p, fk.band(among, measure).p
        np.testing.assert_allclose(p_among[-1], p_alone[0])
        assert 0.05 < p_alone[0] < 1


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["frr", "threshold", "frr_max_min"])
def test_models_are_compared_by_the_names_of_images(form, faces, plain, measure):
    """Not by position: the images or pairs of one model may be in another order."""
    noise = np.random.default_rng(1).normal(scale=0.1, size=faces.embedding.shape)
    other = faces.assign(embedding=faces.embedding + noise.astype(np.float32))
    scores = form.scores(other)
    n = scores["pairs"].sizes["pair"] if form.is_list else faces.sizes["image"]
    order = np.random.default_rng(2).permutation(n)
    shuffled = scores.isel(pair=order) if form.is_list else form.scores(other.isel(image=order))
    expected, shuffled = (
        fk.evaluate(data, far=FAR, by="group", weighting=form.weighting)
        for data in (scores, shuffled)
    )
    for target in ("new people",) if form.is_list else ("new people", "these people"):
        difference = fk.compare(plain, expected, measure, target=target)
        assert float(difference.se.max()) > 0
        compared = fk.compare(plain, shuffled, measure, target=target)
        xr.testing.assert_allclose(compared[[*ENDS, "p"]], difference[[*ENDS, "p"]], rtol=1e-6)


def test_images_without_names_or_with_replicates_keep_their_order(faces):
    order = np.random.default_rng(2).permutation(faces.sizes["image"])
    for data, resampling in (
        (faces.drop_vars("image"), None),
        (faces, fk.Resampling("identity", n=5)),
    ):
        first, second = (
            fk.evaluate(fk.score_tensor(each), far=FAR, resampling=resampling)
            for each in (data, data.isel(image=order))
        )
        with refused("group", "identity"):
            fk.compare(first, second, "frr")
