"""No silent wrong number: what is refused is named, what is accepted gives the right number."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused

import frkit as fk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:[0-9]+ genuine and [0-9]+ impostor comparisons failed"),
]

MIX = fk.vmf.mixture(8, 8, kappa=(3, 12), seed=0)
FACES = MIX.sample(5, seed=1).assign_coords(gender=("image", np.repeat(["f", "m"] * 4, 5)))
SCORES = fk.score_tensor(FACES)
LEVELS = dict(far=[0.1, 0.3])


def matrix(values, scores, **options):
    """A matrix with the names, people and gender of a tensor."""
    sides = ("probe", "reference")
    names = {side: scores[side].values for side in sides}
    people = [scores[f"{side}_identity"].values for side in sides]
    gender = tuple(scores[f"{side}_gender"].values for side in sides)
    return fk.score_matrix(values, *people, **dict(attributes={"gender": gender}) | names | options)


def rates(scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        tree = fk.evaluate(scores, **LEVELS | options)
    return tree["empirical"].to_dataset()


def assert_same(scores, expected, **options):
    for name in ("far", "frr", "eer"):
        actual, expected_rate = (rates(given, **options)[name] for given in (scores, expected))
        np.testing.assert_allclose(actual, expected_rate, rtol=1e-9, err_msg=name)


# --- selections and arithmetic ---


@pytest.mark.slow
def test_a_selection_and_a_tensor_with_holes_are_what_they_are():
    """Even images against odd ones, the same images in another order, failed comparisons."""
    even_odd = SCORES.isel(probe=slice(0, None, 2), reference=slice(1, None, 2))
    shuffled = SCORES.isel(reference=np.random.default_rng(0).permutation(40))
    for part in (even_odd, shuffled):
        assert_same(part, matrix(part.values, part))
    holes = np.triu(np.random.default_rng(1).random((40, 40)) < 0.2, 1)
    holes = xr.DataArray(~(holes | holes.T), dims=("probe", "reference"))
    part = SCORES.where(holes)
    assert_same(part.assign_attrs(SCORES.attrs), matrix(part.values, part))


def test_an_asymmetric_similarity_is_noticed():
    scores = fk.score_tensor(FACES, lambda a, b: a @ b.T + a[:, :1])
    with pytest.raises(fk.InputError, match="symmetric=False"):
        fk.evaluate(scores, **LEVELS)
    fk.evaluate(fk.score_tensor(FACES, lambda a, b: a @ b.T + a[:, :1], symmetric=False), **LEVELS)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("part", [dict(far_level=[1, 0]), dict(far_level=0, group=[1, 0])])
def test_a_part_of_an_evaluation_has_the_bands_of_that_part(part):
    evaluation = fk.evaluate(SCORES, by="gender", **LEVELS)
    for measure in ("frr", "frr_group"):
        expected = fk.band(evaluation, measure).isel(part, missing_dims="ignore")
        band = fk.band(evaluation.isel(part), measure)
        for end in ("estimate", "lower", "upper"):
            np.testing.assert_array_equal(band[end], expected[end])


# --- labels ---

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


def test_whole_numbers_beside_fractions_name_different_people():
    """NumPy would make floats of them, of which the first four are equal."""
    numbers = [2**60 + 1, 2**60 + 1, 2**60 + 2, 2**60 + 2, 0.5, 0.5]
    people = fk.faces(np.eye(6), numbers).identity.values
    assert people.tolist() == [str(number) for number in numbers]


LARGE = np.array([2**60 + 1, 2**60 + 1, 2**60 + 2, 2**60 + 2], float)


@pytest.mark.parametrize(
    "numbers", [LARGE, pd.Series(LARGE), LARGE.tolist(), np.float32([2**24, 2**24 + 1, 1, 1])]
)
def test_numbers_that_were_rounded_are_no_identities(numbers):
    with refused("identity"):
        fk.faces(np.eye(4), numbers)


NO_LABELS = {
    "lists": [["a"], ["a", "b"], ["c"], ["c"]],
    "a column of lists": pd.Series([["a"], ["a", "b"], ["c"], ["c"]]),
    "a Dataset": FACES,
    "damaged text": np.frombuffer(bytes([255] * 16), "<U1"),
    "complex numbers": [1j, 1j, 2.0, 2.0],
}


@pytest.mark.parametrize("case", NO_LABELS)
def test_what_is_no_label_is_refused(case):
    with pytest.raises(fk.InputError, match="identity"):
        fk.faces(np.eye(4), NO_LABELS[case])


SAME = [("a", " a "), ("1", 1), (1, 1.0), ("1", 1.0), ("a", b"a"), (1, np.float32(1))]
SAME += [("Jos\u00e9", "Jose\u0301")]  # names of files on a Mac have their own code for an accent


@pytest.mark.parametrize(("first", "second"), SAME, ids=repr)
def test_two_ways_to_write_a_label(first, second):
    labels, turned = [first, second, "b", "c"], [second, first, "b", "c"]
    for names in (labels, turned):
        assert len(set(fk.faces(np.eye(4), names).identity.values.tolist())) == 3
        assert fk.Resampling("image", n=2).weights(names).sizes["identity"] == 3
    scores = fk.score_matrix(
        np.eye(4), labels, turned, same_images=False, attributes={"g": (labels, turned)}
    )
    for name in ("identity", "g"):
        np.testing.assert_array_equal(scores[f"probe_{name}"], scores[f"reference_{name}"])


MISSING = [None, float("nan"), "", " ", "nan", "unknown"]


@pytest.mark.parametrize("word", MISSING, ids=repr)
def test_a_missing_attribute_is_no_group(word):
    labels = np.repeat(["f", "m"] * 4, 5).astype(object)
    labels[:5] = word
    at_threshold = dict(by="gender", far=None, threshold=[0.5])
    labelled_images = dict(probe=slice(5, None), reference=slice(5, None))
    labelled = rates(SCORES.isel(labelled_images), **at_threshold)
    lists = labels.tolist()
    for scores in (
        fk.score_tensor(fk.faces(FACES.embedding, FACES.identity, gender=lists)),
        matrix(SCORES.values, SCORES, attributes={"gender": (lists, lists)}),
    ):
        with_missing = rates(scores, **at_threshold)
        assert with_missing.group.values.tolist() == ["f", "m"]
        np.testing.assert_allclose(with_missing.frr_group, labelled.frr_group)


# --- weights of identities ---

WHO = np.arange(40) // 5 + 7  # people called 7 to 14, of whom 10 is the first by name
OF_NUMBERS = SCORES.assign_coords(
    probe_identity=("probe", WHO), reference_identity=("reference", WHO)
)
P_K = dict(zip(sorted(map(str, range(7, 15))), np.arange(1.0, 9)))
WEIGHTS = {
    "Series": pd.Series(P_K)[::-1],
    "numbers as names": {int(name): p_k for name, p_k in P_K.items()},
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_go_by_their_names(name):
    """A Series in another order gave each person the weight of another."""
    first, second = (rates(OF_NUMBERS, weighting=weights) for weights in (WEIGHTS[name], P_K))
    np.testing.assert_array_equal(first.frr, second.frr)


# --- failed comparisons ---

PART = SCORES.isel(probe=slice(0, None, 2), reference=slice(1, None, 2))
VALUES = PART.values
FAILED = np.random.default_rng(2).random(VALUES.shape) < 0.2
HOLED = np.where(FAILED, np.nan, VALUES)


def as_list(values, scores, **options):
    """The same as a list of pairs."""
    cells = scores.stack(pair=("probe", "reference"), create_index=False)
    names = ("probe", "reference", "probe_identity", "reference_identity")
    sides = {name: cells[name].values for name in names}
    return fk.pairs(values.ravel(), **sides, **options)


MARKED = {
    "a number": (np.where(FAILED, -1, VALUES), dict(missing=-1)),
    "float32": (np.where(FAILED, -0.1, VALUES).astype(np.float32), dict(missing=-0.1)),
    "masked": (np.ma.array(np.where(FAILED, 9.0, VALUES), mask=FAILED), {}),
    "infinite mark": (np.where(FAILED, -np.inf, VALUES), dict(missing=-np.inf)),
}


@pytest.mark.parametrize("form", [matrix, as_list])
@pytest.mark.parametrize("name", MARKED)
def test_failed_comparisons_are_left_out(name, form):
    values, options = MARKED[name]
    scores = form(values, PART, **options)
    score_array = scores["pairs"].score if form is as_list else scores
    np.testing.assert_array_equal(np.isnan(score_array.values).ravel(), FAILED.ravel())
    assert_same(scores, form(HOLED.astype(values.dtype), PART))


PLACES = {"genuine": (0, 0), "impostor": (0, -1)}


def as_tensor(values, scores):
    """A tensor whose similarity returns the values."""
    return scores.copy(data=values)


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("form", [matrix, as_list, as_tensor])
def test_an_infinite_score_is_refused_wherever_it_stands(form, kind, infinite):
    """An infinite genuine score of a matrix gave an ordinary FRR, and d' was NaN."""
    values = VALUES.copy()
    values[PLACES[kind]] = infinite
    for question in (fk.evaluate, fk.errors_by_person, fk.verification_metrics):
        with refused(1, "missing"):
            question(form(values, PART))


@pytest.mark.slow
def test_a_symmetric_square_counts_each_pair_once(tmp_path):
    """An array with or without names, and a file, have the numbers of the tensor."""
    who, names = FACES.identity.values, FACES.image.values
    square = SCORES.values
    assert_same(fk.score_matrix(square, who, who, probe=names, reference=names), SCORES)
    with refused("one image", answers=[{"same_images": True}, {"same_images": False}]):
        fk.score_matrix(square, who, who)
    unnamed = fk.score_matrix(square, who, who, same_images=True)
    assert_same(unnamed, SCORES)
    ids = [f"{person}_{number}" for number, person in enumerate(who)]
    pd.DataFrame(square, ids, ids).to_csv(tmp_path / "square.csv")
    filed = fk.open_data(tmp_path / "square.csv", kind="matrix", identity="{name}_{number}")
    assert_same(filed, SCORES)
    assert filed.attrs["symmetric"] == 1
    lopsided = square + np.triu(np.ones_like(square))
    kept = fk.score_matrix(lopsided, who, who, probe=names, reference=names)
    assert kept.attrs["symmetric"] == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* images have exactly the embedding")
def test_no_cosine_lies_beyond_one():
    rows = np.random.default_rng(3).normal(size=(200, 128)).repeat(2, axis=0)
    scores = fk.score_tensor(fk.faces([*rows, *-rows], np.arange(800) // 2)).values
    assert scores.max() == 1 and scores.min() == -1
    assert np.isfinite(np.arccos(scores)).all()
