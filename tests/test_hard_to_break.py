"""No silent wrong number: what is refused says which argument is wrong, what is accepted gives the right number."""

import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import sparse

import frkit as fk

pytestmark = pytest.mark.filterwarnings(
    "ignore:[0-9]+ genuine and [0-9]+ impostor comparisons failed"
)

MIX = fk.vmf.mixture(8, 8, kappa=(3, 12), seed=0)
FACES = MIX.sample(5, seed=1).assign_coords(gender=("image", np.repeat(["f", "m"] * 4, 5)))
SCORES = fk.score_tensor(FACES)
LEVELS = dict(far=[0.1, 0.3])


def matrix(values, scores, **options):
    """A matrix with the names, people and gender of a tensor."""
    people = [scores[f"{side}_identity"].values for side in ("probe", "reference")]
    gender = tuple(scores[f"{side}_gender"].values for side in ("probe", "reference"))
    names = dict(
        probe=scores.probe.values, reference=scores.reference.values, attributes={"gender": gender}
    )
    return fk.score_matrix(values, *people, **names | options)


def rates(scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        tree = fk.evaluate(scores, **LEVELS | options)
    return tree["empirical"].to_dataset()


def assert_same(scores, expected, **options):
    for name in ("far", "frr", "eer"):
        found, wanted = (rates(one, **options)[name] for one in (scores, expected))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, err_msg=name)


# --- selections and arithmetic -----------------------------------------------------------------------------

PLACES = np.random.default_rng(0).permutation(40)
SELECTIONS = {
    "even against odd": dict(probe=slice(0, None, 2), reference=slice(1, None, 2)),
    "a rectangle": dict(probe=slice(0, 12)),
    "the same images in another order": dict(reference=PLACES),
    "both sides in another order": dict(probe=PLACES, reference=PLACES),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_selection_is_what_it_is(name):
    part = SCORES.isel(SELECTIONS[name])
    assert_same(part, matrix(part.values, part))


def test_a_turned_tensor_is_the_same():
    part = SCORES.isel(probe=slice(0, 12))
    assert_same(part.transpose("reference", "probe"), part)


def centre(scores):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        tree = fk.evaluate(scores, far=[0.1, 0.3], resampling=fk.Resampling("image", n=2))
    return tree["vstatistic"].frr.values


@pytest.mark.parametrize(
    "change", [lambda s: s * 100, lambda s: s + 5, lambda s: s**3], ids=["x100", "+5", "cubed"]
)
def test_the_score_of_an_image_with_itself_follows_arithmetic(change):
    with xr.set_options(keep_attrs=True):
        changed = change(SCORES)
    np.testing.assert_allclose(centre(changed), centre(SCORES))


def test_a_tensor_with_holes_has_the_rates_of_the_matrix_with_holes():
    holes = np.triu(np.random.default_rng(1).random((40, 40)) < 0.2, 1)
    holes = xr.DataArray(~(holes | holes.T), dims=("probe", "reference"))
    part = SCORES.where(holes)
    assert_same(part.assign_attrs(SCORES.attrs), matrix(part.values, part))


def test_a_loaded_tensor_is_a_tensor():
    assert_same(SCORES.copy().load(), SCORES)


def test_an_asymmetric_similarity_is_noticed():
    scores = fk.score_tensor(FACES, lambda a, b: a @ b.T + a[:, :1])
    with pytest.raises(fk.InputError, match="symmetric=False"):
        fk.evaluate(scores, **LEVELS)
    fk.evaluate(fk.score_tensor(FACES, lambda a, b: a @ b.T + a[:, :1], symmetric=False), **LEVELS)
    with xr.set_options(keep_attrs=True), pytest.raises(fk.InputError, match="symmetric"):
        fk.evaluate(SCORES + xr.DataArray(np.linspace(0, 1, 40), dims="probe"), **LEVELS)


def test_an_image_that_stands_twice_is_refused():
    twice = dict(probe=[0, 0, *range(1, 40)], reference=[0, 0, *range(1, 40)])
    with pytest.raises(fk.InputError, match="probe names must be distinct"):
        fk.evaluate(SCORES.isel(twice), **LEVELS)
    with pytest.raises(fk.InputError, match="image names must be distinct"):
        fk.score_tensor(FACES.isel(image=twice["probe"]))


@pytest.mark.parametrize("similarity", ["cosine", "euclidean", lambda a, b: a @ b.T])
def test_embeddings_that_lost_a_value_are_refused(similarity):
    holed = (
        FACES.where(FACES.image != "image00003")
        if "image00003" in FACES.image
        else FACES.copy(deep=True)
    )
    holed["embedding"] = FACES.embedding.where(xr.DataArray(np.arange(40) != 3, dims="image"))
    with pytest.raises(fk.InputError, match="row 3"):
        fk.score_tensor(holed, similarity)


GROUPED = dict(by="race", resampling=fk.Resampling("identity", n=5))
HELD = {
    "levels turned": dict(far_level=[1, 0]),
    "one level": dict(far_level=[1]),
    "a level": dict(far_level=1),
    "groups turned": dict(group=[2, 0]),
    "a group": dict(group=1),
    "groups they meet": dict(reference_group=[2, 1]),
    "all": dict(far_level=0, group=[2, 0], reference_group=[1, 2], model=1),
}


@pytest.fixture(scope="module")
def two_models():
    race = ("image", np.repeat(list("abcabcaa"), 5))
    worse = FACES.copy(
        data={"embedding": FACES.embedding + np.random.default_rng(0).normal(0, 0.3, (40, 8))}
    )
    faces = fk.stack_models(
        {"A": FACES.assign_coords(race=race), "B": worse.assign_coords(race=race)}
    )
    return quietly(fk.evaluate, fk.score_tensor(faces), **LEVELS | GROUPED)


def quietly(function, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        return function(*given, **named)


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("measure", ["frr", "threshold", "eer_group", "far_cross", "frr_group"])
def test_a_part_of_an_evaluation_has_the_bands_of_that_part(two_models, name, measure):
    """What images add to the rates has no labels of its own: bands of another level, or group, were given."""
    whole, part = (
        quietly(fk.band, one, measure) for one in (two_models, two_models.isel(HELD[name]))
    )
    expected = whole.isel(HELD[name], missing_dims="ignore")
    for end in ("estimate", "lower", "upper"):
        np.testing.assert_array_equal(part[end], expected[end])


def test_a_disparity_of_some_groups_is_theirs(two_models):
    scores = quietly(fk.band, two_models.isel(group=[2, 0]), "frr_max_min")
    turned = quietly(fk.band, two_models.isel(group=[0, 2], far_level=[1, 0]), "frr_max_min")
    np.testing.assert_allclose(scores.lower, turned.lower.isel(far_level=[1, 0]), rtol=0.2)
    assert not np.allclose(scores.upper, quietly(fk.band, two_models, "frr_max_min").upper)
    with pytest.raises(fk.InputError, match="two groups or more"):
        fk.band(two_models.isel(group=1), "frr_max_min")


def test_a_part_without_rates_between_groups_has_its_bands(two_models):
    part = two_models.map_over_datasets(
        lambda node: node.drop_dims("reference_group", errors="ignore")
    )
    for measure in ("frr_group", "frr_max_min"):
        whole, found = (quietly(fk.band, one, measure) for one in (two_models, part))
        np.testing.assert_array_equal(found.upper, whole.upper)
    with pytest.raises(fk.InputError, match="without drop=True"):
        fk.band(two_models.isel(far_level=0, drop=True), "frr")


def test_a_part_of_the_demo_evaluation_has_its_bands():
    demo = fk.demo_evaluation()
    whole, part = (
        quietly(fk.band, one, "far_group") for one in (demo, demo.isel(far_level=[9, 4], group=[1]))
    )
    np.testing.assert_array_equal(part.upper, whole.upper.isel(far_level=[9, 4], group=[1]))


def test_bands_of_unknown_levels_are_refused(two_models):
    other = {"far_level": [0.1, 0.2]}
    renamed = two_models.map_over_datasets(
        lambda node: node.assign_coords(other) if "far_level" in node.dims else node
    )
    with pytest.raises(fk.InputError, match="other labels of far_level"):
        fk.band(renamed, "frr")


# --- labels ------------------------------------------------------------------------------------------------

NOBODY = [None, float("nan"), "", "  ", "unknown", "Unknown", "nan", "None", "NA", "N/A", "null"]
NOBODY += [np.datetime64("NaT", "D")]
PEOPLE = ["a", "a", "b", "b"]


def doors(who):
    """Every way in which names of people come in."""
    names, numbers = list("wxyz"), np.arange(16.0).reshape(4, 4)
    score = dict(score=[0.1, 0.2, 0.3, 0.4], probe=names, reference=list("stuv"))
    tensor = SCORES.isel(probe=slice(4), reference=slice(4))
    return {
        "faces": lambda: fk.faces(np.eye(4), who),
        "matrix, probes": lambda: fk.score_matrix(numbers, who, PEOPLE),
        "matrix, references": lambda: fk.score_matrix(numbers, PEOPLE, who),
        "pairs": lambda: fk.pairs(**score, probe_identity=who, reference_identity=["c"] * 4),
        "draws": lambda: fk.Resampling("identity", n=2).weights(who),
        "coordinate": lambda: fk.evaluate(
            tensor.assign_coords(probe_identity=("probe", np.array(who, object)))
        ),
    }


@pytest.mark.parametrize("door", doors(PEOPLE))
@pytest.mark.parametrize("word", NOBODY, ids=str)
def test_nobody_is_no_person(word, door):
    with pytest.raises(fk.InputError, match="identity is missing or"):
        doors([word, "a", "b", "b"])[door]()


SAME = [
    ("a", " a "),
    ("1", 1),
    (1, 1.0),
    ("1", 1.0),
    ("a", b"a"),
    (1, np.float32(1)),
    ("a", np.str_("a")),
]
SAME += [
    ("Jos\u00e9", "Jose\u0301")
]  # one code or two for a letter and its accent: names of files on a Mac have two


@pytest.mark.parametrize(("one", "other"), SAME, ids=repr)
def test_two_ways_to_write_a_label(one, other):
    for labels in ([one, other, "b", "c"], [other, one, "b", "c"]):
        assert len(set(fk.faces(np.eye(4), labels).identity.values.tolist())) == 3
        other_side = [other, one, "b", "c"]
        scores = fk.score_matrix(
            np.eye(4), labels, other_side, attributes={"g": (labels, other_side)}
        )
        for name in ("identity", "g"):
            np.testing.assert_array_equal(scores[f"probe_{name}"], scores[f"reference_{name}"])
        assert fk.Resampling("image", n=2).weights(labels).sizes["identity"] == 3


MISSING = [None, float("nan"), "", " ", "nan", "unknown"]


@pytest.mark.parametrize("word", MISSING, ids=repr)
def test_a_missing_attribute_is_no_group(word):
    labels = np.repeat(["f", "m"] * 4, 5).astype(object)
    labels[:5] = word
    known = rates(
        SCORES.isel(probe=slice(5, None), reference=slice(5, None)),
        by="gender",
        far=None,
        threshold=[0.5],
    )
    lists = labels.tolist()
    for scores in (
        fk.score_tensor(fk.faces(FACES.embedding, FACES.identity, gender=lists)),
        matrix(SCORES.values, SCORES, attributes={"gender": (lists, lists)}),
        SCORES.assign_coords(
            probe_gender=("probe", labels), reference_gender=("reference", labels)
        ),
    ):
        found = rates(scores, by="gender", far=None, threshold=[0.5])
        assert found.group.values.tolist() == ["f", "m"]
        np.testing.assert_allclose(found.frr_group, known.frr_group)


@pytest.mark.parametrize("word", MISSING, ids=repr)
def test_a_mixture_makes_no_group_of_missing_labels(word):
    mix = fk.vmf.Mixture(np.eye(4), [5] * 4, groups=["x", "x", " x ", word])
    assert mix.groups["group"].tolist() == ["x", "x", "x", "unknown"]
    with pytest.raises(fk.InputError, match="1 identities have no label"):
        mix.population_rates([0.5], by="group")


@pytest.mark.parametrize("word", [None, np.nan, ("a", "b")])
def test_a_group_of_a_mixture_has_a_name(word):
    with pytest.raises(fk.InputError, match="groups must map names of groups"):
        fk.vmf.mixture(10, 8, kappa=5, groups={word: {}, "a": {}})


def test_crossed_labels_do_not_collide():
    first = np.repeat(["a & b", "a"], 20)
    second = np.repeat(["c", "b & c"], 20)
    scores = SCORES.assign_coords({f"{s}_x": (s, first) for s in ("probe", "reference")})
    scores = scores.assign_coords({f"{s}_y": (s, second) for s in ("probe", "reference")})
    assert rates(scores, by="x").group.values.tolist() == ["a", "a & b"]
    with pytest.raises(fk.InputError, match="' & '"):
        fk.evaluate(scores, by=["x", "y"], **LEVELS)


NOT_FLAT = [
    (name for name in PEOPLE),
    dict(enumerate(PEOPLE)).values(),
    set(PEOPLE),
    map(str, PEOPLE),
]


@pytest.mark.parametrize("labels", NOT_FLAT, ids=lambda labels: type(labels).__name__)
def test_labels_that_are_no_list_say_what_they_are(labels):
    with pytest.raises(fk.InputError, match=f"of {type(labels).__name__}; make it a list"):
        fk.faces(np.eye(4), labels)


# --- weights of identities -----------------------------------------------------------------------------------

OF_NUMBERS = {f"{side}_identity": (side, np.arange(40) // 5 + 7) for side in ("probe", "reference")}
OF_NUMBERS = SCORES.assign_coords(
    OF_NUMBERS
)  # people called 7 to 14, of whom 10 is the first by name
P_K = dict(zip(sorted(map(str, range(7, 15))), np.arange(1.0, 9)))
WEIGHTS = {
    "Series": pd.Series(P_K)[::-1],
    "Series of numbers": pd.Series({int(name): p_k for name, p_k in P_K.items()})[::-1],
    "DataArray": xr.DataArray(list(P_K.values()), {"identity": list(P_K)}, "identity")[::-1],
    "numbers as names": {int(name): p_k for name, p_k in P_K.items()},
    "array": np.array(list(P_K.values())),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_go_by_their_names_where_they_have_some(name):
    """A Series in another order gave each person the weight of another."""
    found, wanted = (rates(OF_NUMBERS, weighting=weights) for weights in (WEIGHTS[name], P_K))
    np.testing.assert_array_equal(found.frr, wanted.frr)


@pytest.mark.parametrize(
    "weights", [pd.Series(np.ones(8), list("abcdefgh")), np.ones(7), {"0": 1.0}], ids=type
)
@pytest.mark.parametrize("function", [fk.evaluate])
def test_weights_of_other_people_are_refused(function, weights):
    with pytest.raises(
        fk.InputError,
        match="weighting (has no p_k for identities|must hold one positive p_k for each)",
    ):
        function(OF_NUMBERS, far=[0.3], by="gender", weighting=weights)


def test_a_person_has_one_weight():
    """Of "7" and 7, which are one person, the last was taken in silence."""
    with pytest.raises(fk.InputError, match="names an identity twice: give one p_k for each"):
        fk.evaluate(OF_NUMBERS, far=[0.3], weighting=P_K | {7: 100.0})


# --- failed comparisons ------------------------------------------------------------------------------------

VALUES = np.array(SCORES.isel(probe=slice(0, None, 2), reference=slice(1, None, 2)).values)
PART = SCORES.isel(probe=slice(0, None, 2), reference=slice(1, None, 2))
FAILED = np.random.default_rng(2).random(VALUES.shape) < 0.2
HOLED = np.where(FAILED, np.nan, VALUES)


def listed(values, **options):
    """The same as a list of pairs."""
    people = [
        np.repeat(PART.probe_identity.values, 20),
        np.tile(PART.reference_identity.values, 20),
    ]
    names = [np.repeat(PART.probe.values, 20), np.tile(PART.reference.values, 20)]
    keys = ("probe_identity", "reference_identity", "probe", "reference")
    return fk.pairs(values.ravel(), **dict(zip(keys, people + names)), **options)


MARKED = {
    "a number": (np.where(FAILED, -1, VALUES), dict(missing=-1)),
    "float32": (np.where(FAILED, -0.1, VALUES).astype(np.float32), dict(missing=-0.1)),
    "several, float32": (
        np.where(FAILED, -0.1, VALUES).astype(np.float32),
        dict(missing=[7, -0.1]),
    ),
    "an array": (np.where(FAILED, -0.1, VALUES).astype(np.float32), dict(missing=np.array([-0.1]))),
    "masked": (np.ma.array(np.where(FAILED, 9.0, VALUES), mask=FAILED), {}),
    "infinite mark": (np.where(FAILED, -np.inf, VALUES), dict(missing=-np.inf)),
    "NaN": (HOLED, {}),
}


@pytest.mark.parametrize(
    "form", [lambda v, **o: matrix(v, PART, **o), listed], ids=["matrix", "list"]
)
@pytest.mark.parametrize("name", MARKED)
def test_failed_comparisons_are_left_out(name, form):
    values, options = MARKED[name]
    np.testing.assert_array_equal(
        np.isnan(
            np.asarray(getattr(form(values, **options), "score", form(values, **options))).ravel()
        ),
        FAILED.ravel(),
    )
    assert_same(form(values, **options), form(HOLED.astype(values.dtype)))


def test_a_masked_dask_matrix_keeps_its_mask():
    values = da.from_array(MARKED["masked"][0], chunks=7)
    np.testing.assert_array_equal(np.isnan(matrix(values, PART)), FAILED)


@pytest.mark.parametrize("word", [2, np.nan, "no", ""], ids=repr)
def test_what_says_whether_a_pair_is_genuine_is_true_or_false(word):
    """A text, or NaN, counted as genuine."""
    told = fk.pairs([0.9, 0.8, 0.2, 0.1], [True, True, False, False])
    wrong = np.array([1, 0, 1, word], object if isinstance(word, str) else float)
    with pytest.raises(fk.InputError, match="genuine of a pair must be True or False"):
        fk.evaluate(told.assign_coords(genuine=("pair", wrong)), far=[0.5])


def test_an_image_of_two_people_is_named():
    table = listed(VALUES)
    who = table.probe_identity.values.copy()
    who[0] = "other"
    with pytest.raises(fk.InputError, match="image '0' shows 'id[0-9]*', 'other"):
        fk.evaluate(table.assign_coords(probe_identity=("pair", who)), **LEVELS)


REFUSED_SCORES = {
    "plus infinity": np.where(FAILED, np.inf, VALUES),
    "minus infinity": np.where(FAILED, -np.inf, VALUES),
    "complex": VALUES + 1j,
    "text": VALUES.astype(str),
    "all NaN": np.full(VALUES.shape, np.nan),
    "words": np.full(VALUES.shape, "x"),
    "dates": VALUES.astype("datetime64[s]"),
}


@pytest.mark.parametrize("form", [lambda v: matrix(v, PART), listed], ids=["matrix", "list"])
@pytest.mark.parametrize("name", REFUSED_SCORES)
def test_what_is_no_score_is_refused(name, form):
    words = "infinite|must be (real )?numbers|nothing to evaluate"
    with pytest.raises(fk.InputError, match=words):
        fk.evaluate(form(REFUSED_SCORES[name]), **LEVELS)


@pytest.mark.parametrize("mark", ["-1", ["-1"], [[None, "x"]], {"a": 1}, 1j], ids=repr)
@pytest.mark.parametrize(
    "form", [lambda v, **o: matrix(v, PART, **o), listed], ids=["matrix", "list"]
)
def test_a_mark_must_be_a_number(mark, form):
    with pytest.raises(fk.InputError, match="missing must be numbers"):
        form(VALUES, missing=mark)


def test_most_genuine_comparisons_failed():
    same = PART.probe_identity.values[:, None] == PART.reference_identity.values
    values = np.where(same & (VALUES < np.median(VALUES[same])), np.nan, VALUES)
    with pytest.warns(fk.DataWarning, match="genuine comparisons failed"):
        fk.evaluate(matrix(values, PART), **LEVELS)
    with pytest.raises(fk.InputError, match="nothing to evaluate"):
        fk.evaluate(matrix(np.where(same, np.nan, VALUES), PART), **LEVELS)
    with pytest.raises(fk.InputError, match="nothing to evaluate"):
        fk.evaluate(matrix(np.where(same, VALUES, np.nan), PART), **LEVELS)


def test_a_symmetric_square_counts_each_pair_once(tmp_path):
    """As a tensor, an array with or without names, and a file: the same numbers."""
    who, names = FACES.identity.values, FACES.image.values
    square = SCORES.values
    assert_same(fk.score_matrix(square, who, who, probe=names, reference=names), SCORES)
    with pytest.warns(fk.DataWarning, match="one image"):
        unnamed = fk.score_matrix(square, who, who)
    assert_same(unnamed, SCORES)
    ids = [f"{person}_{number}" for number, person in enumerate(who)]
    pd.DataFrame(square, ids, ids).to_csv(tmp_path / "square.csv")
    filed = fk.open_scores(tmp_path / "square.csv", identity="{name}_{number}")
    assert_same(filed, SCORES)
    assert filed.attrs["symmetric"] == 1
    np.save(tmp_path / "square.npy", square)
    np.save(tmp_path / "ids.npy", np.array(ids))
    mapped = fk.open_scores(
        tmp_path / "square.npy", labels=tmp_path / "ids.npy", identity="{name}_{number}"
    )
    assert_same(mapped, SCORES)
    lopsided = square + np.triu(np.ones_like(square))
    kept = fk.score_matrix(lopsided, who, who, probe=names, reference=names)
    assert kept.attrs["symmetric"] == 0


# --- what belongs together ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [dict(weighting="pair"), dict(impostors="same-group"), dict(weighting=np.arange(1.0, 9))],
    ids=["weighting", "impostors", "p_k"],
)
def test_evaluations_of_another_kind_are_not_compared(options):
    draw = dict(far=[0.3], by="gender", resampling=fk.Resampling("identity", n=5))
    first, second = (fk.evaluate(SCORES, **draw, **more) for more in ({}, options))
    fk.compare(first, first, "frr")
    with pytest.raises(fk.InputError, match="differs"):
        fk.compare(first, second, "frr")


def test_rates_at_levels_are_not_compared_with_rates_at_thresholds():
    """They were, every level with every threshold."""
    with pytest.raises(fk.InputError, match="one alone has 'far_level', 'threshold_level'"):
        fk.compare(fk.evaluate(SCORES, **LEVELS), fk.evaluate(SCORES, threshold=[0.3, 0.5]), "frr")


NO_MEASURE = {
    "an array": lambda rates: rates.frr.values,
    "a number": lambda rates: float(rates.frr[0]),
    "a Dataset": lambda rates: rates,
    "a decision": lambda rates: rates.frr > 0.3,
}


@pytest.mark.parametrize("name", NO_MEASURE)
@pytest.mark.parametrize("function", [fk.band, fk.uncertainty])
def test_what_a_measure_must_return(name, function):
    with pytest.raises(fk.InputError, match="must return a DataArray of numbers"):
        function(fk.evaluate(SCORES, **LEVELS), NO_MEASURE[name])


@pytest.mark.parametrize("function", [fk.band, fk.fair_floor, fk.uncertainty])
def test_groups_that_are_missing_are_asked_for(function):
    """Where the groups were missing, the message asked for replicates."""
    with pytest.raises(fk.InputError, match="holds no 'frr_group': evaluate with by="):
        function(fk.evaluate(SCORES, **LEVELS), "frr_max_min")


def test_a_measure_of_ones_own_tells_its_own_error():
    with pytest.raises(AttributeError, match="nothing"):
        fk.band(fk.evaluate(SCORES, **LEVELS), lambda rates: rates.nothing)


def test_group_rates_at_other_levels_or_groups_are_not_drawn_together(two_models):
    far, frr = (
        quietly(fk.band, two_models.isel(model=0), name) for name in ("far_group", "frr_group")
    )
    for other in (frr.isel(group=[1, 0, 2]), frr.isel(far_level=[1, 0]), frr.isel(group=[0])):
        with pytest.raises(fk.InputError, match="other levels or groups"):
            fk.plot.group_roc(far, other)


@pytest.mark.parametrize("thing", ["x", 1, None, len], ids=repr)
def test_what_is_no_evaluation_is_not_described(thing):
    with pytest.raises(fk.InputError, match="pass what evaluate returned"):
        fk.describe(thing)


@pytest.mark.parametrize("kind", ["genuine", "impostor"])
def test_the_worst_pairs_are_those_of_the_same_scores(kind):
    who = fk.contributions(SCORES, far=[0.3], weighting=np.arange(1.0, 9)).isel(far_level=0)
    assert fk.worst_pairs(SCORES, who, kind=kind).sizes["pair"] > 0
    for other in (
        fk.score_tensor(FACES, "euclidean"),
        SCORES.isel(probe=slice(30), reference=slice(30)),
    ):
        with pytest.raises(fk.InputError, match="made of other scores"):
            fk.worst_pairs(other, who, kind=kind)
    with pytest.raises(fk.InputError, match="fk.contributions"):
        fk.worst_pairs(SCORES, xr.Dataset(), kind=kind)


def test_the_worst_pairs_of_some_people_in_any_order_are_theirs():
    """Shares went by their place: of people in another order those of others were listed."""
    who = fk.contributions(SCORES, far=[0.3]).isel(far_level=0)
    worst, turned = (
        fk.worst_pairs(SCORES, one, kind="genuine")
        for one in (who, who.sortby("identity", ascending=False))
    )
    xr.testing.assert_identical(turned, worst)
    some = fk.worst_pairs(SCORES, who.isel(identity=[7, 2]), kind="genuine")
    assert {*some.probe_identity.values} == {
        *who.identity.values[[7, 2]][who.frr_share.values[[7, 2]] > 0]
    }


@pytest.mark.parametrize(
    "pair", [("f", "m", "f"), 3, "f", ("f",), ("f", "f"), {"f": 1, "m": 2}], ids=repr
)
def test_two_things_are_compared(pair):
    evaluation = fk.evaluate(SCORES, by="gender", **LEVELS)
    with pytest.raises(fk.InputError, match="groups must name two groups, or 'all'"):
        fk.compare(evaluation, "frr_group", groups=pair)
    if not isinstance(pair, tuple):
        with pytest.raises(fk.InputError, match="models must name two models"):
            fk.compare(evaluation, "frr", models=pair)


CHANGED_FACES = {
    "a dimension renamed": lambda: FACES.rename(feature="dim"),
    "images without a dimension": lambda: FACES.swap_dims(image="identity"),
    "complex": lambda: FACES.assign(embedding=FACES.embedding * 1j),
    "text": lambda: FACES.assign(embedding=FACES.embedding.astype(str)),
}


@pytest.mark.parametrize("name", CHANGED_FACES)
def test_faces_that_were_changed_are_faces_or_refused(name):
    with pytest.raises(fk.InputError, match="make it with fk.faces"):
        fk.score_tensor(CHANGED_FACES[name]())


def test_a_sparse_matrix_has_no_failed_comparisons():
    with pytest.raises(fk.InputError, match="sparse"):
        fk.score_matrix(sparse.csr_matrix(np.eye(4)), PEOPLE, PEOPLE)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_store_takes_no_data_set_of_another_seed(tmp_path, seed):
    options = dict(
        n_datasets=2, per_identity=3, far=[0.3], replicates=2, methods=("naive",), progress=False
    )
    fk.studies.coverage(MIX, store=tmp_path / "a", **options)
    fk.studies.coverage(MIX, store=tmp_path / "b", seed=seed, **options)
    (tmp_path / "a/data_set_000001.npz").write_bytes(
        (tmp_path / "b/data_set_000001.npz").read_bytes()
    )
    with pytest.raises(
        fk.InputError, match="data_set_000001.npz holds a data set of another number or seed"
    ):
        fk.studies.coverage(MIX, store=tmp_path / "a", **options)


def test_a_map_that_decreases_is_refused():
    with pytest.raises(fk.InputError, match="decreases"):
        fk.fairness_indices(SCORES, by="gender", score_map=lambda s: (1 - s) / 2)
    table = fk.pairs([0.1, 0.4, 0.9], [True, False, True])
    with pytest.raises(fk.InputError, match="decreases"):
        fk.indices.unit_scores(table, lambda s: 1 - s)
    assert fk.indices.unit_scores(table, lambda s: s**2).values.tolist() == pytest.approx(
        [0.01, 0.16, 0.81]
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_fit_names_the_image_that_has_no_value(value):
    holed = FACES.copy(deep=True)
    holed.embedding[3, 1] = value
    with pytest.raises(fk.InputError, match="row 3, column 1"):
        fk.vmf.fit(holed)


def test_unequal_weights_differ_between_chunkings_in_the_last_bits_only():
    part = FACES.isel(image=[*range(38)])
    trees = [
        fk.evaluate(fk.score_tensor(part, chunks=size), far=[0.1], by="gender") for size in (7, 512)
    ]
    for name in ("far", "frr", "eer", "far_group", "frr_group", "eer_group", "threshold"):
        np.testing.assert_allclose(*(tree["empirical"][name] for tree in trees), rtol=0, atol=2e-15)


# --- text --------------------------------------------------------------------------------------------------

NASTY = ["<script>alert(1)</script>", "$x_1^2$ & \\frac{a}{b}"]


def test_text_from_users_stays_text():
    """In the legend of a figure, in the controls of an explorer and in a table."""
    from matplotlib import pyplot as plt

    faces = FACES.assign_coords(gender=("image", np.where(FACES.gender == "f", *NASTY)))
    how = dict(by="gender", resampling=fk.Resampling("image", n=20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        ev = fk.evaluate(fk.score_tensor(faces), **LEVELS | how)
        ax = fk.plot.group_roc(fk.band(ev, "far_group"), fk.band(ev, "frr_group"))
        box = fk.explore.fairness({"a": ev})
    ax.figure.canvas.draw()  # a formula would be parsed here, or fail
    shown = [text.get_text().replace("\\$", "$") for text in ax.get_legend().get_texts()]
    assert set(NASTY) <= set(shown)
    plt.close("all")
    html = [child.value for child in box.children if type(child).__name__ == "HTML"]
    assert not any("<script" in text for text in html)
