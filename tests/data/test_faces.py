"""Faces: what is accepted, what is refused and in which words, and attributes that vary."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused

import frkit as fk
from frkit.base import UNKNOWN
from frkit.data.labels import clean_labels
from frkit.io.faces import faces

IDENTITY = ["anna", "anna", "bo", "bo", "cy"]


def embedding(n_images=5, n_features=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n_images, n_features))


def spoiled(row, column, value):
    values = embedding()
    values[row, column] = value
    return values


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.uint16])
def test_numbers_of_any_kind_become_float32(dtype):
    ds = faces(np.array([[1, 0], [1, 1], [0, 1]], dtype), ["a", "a", "b"])
    assert ds.embedding.dtype == np.float32
    assert ds.embedding.values.tolist() == [[1, 0], [1, 1], [0, 1]]
    assert ds.image.values.tolist() == ["0", "1", "2"]


def test_the_callers_arrays_are_neither_changed_nor_shared():
    values, gender = embedding().astype(np.float32), np.array(["f", "f", "m", "m", ""])
    before = values.copy(), gender.copy()
    ds = faces(values, IDENTITY, gender=gender)
    ds["embedding"][:] = 7
    ds["gender"][:] = "x"
    np.testing.assert_array_equal(values, before[0])
    np.testing.assert_array_equal(gender, before[1])


TWO = np.stack([embedding(seed=1), embedding(seed=2)])
ZERO_ROW = np.where(np.arange(5)[:, None] == 2, 0, embedding())
BAD_EMBEDDINGS = {
    "nan": (spoiled(3, 1, np.nan), {}, "row 3, column 1: nan"),
    "overflow": (spoiled(1, 0, 1e39), {}, "row 1, column 0: inf"),
    "zero vector": (ZERO_ROW, {}, "row 2"),
    "huge norm": (spoiled(1, 0, 1e25), {}, "1e+25"),
    "cube without names": (TWO, {}, "model= names, got shape (2, 5, 3)"),
    "of a model": (np.where(TWO == TWO[1, 4, 0], np.nan, TWO), {"model": ["A", "B"]},
                   "model 1 at row 4, column 0"),
    "lengths": (embedding(4), {}, "4 images"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_EMBEDDINGS)
def test_a_bad_embedding_is_refused_with_its_place(case):
    values, more, message = BAD_EMBEDDINGS[case]
    with refused(message):
        faces(values, IDENTITY, **more)


def test_a_data_frame_has_embedding_and_labels_in_columns():
    values = embedding()
    labels = {"person": IDENTITY, "sex": list("ffmmm"), "file": list("vwxyz"), "score": [5] * 5}
    expected = faces(values, IDENTITY, image=list("vwxyz"), gender=list("ffmmm"))
    names = dict(identity="person", image="file", gender="sex")
    frame = pd.DataFrame(labels).assign(emb=list(values))
    from_frame = fk.open_data(frame, columns=names).drop_attrs(deep=False)
    xr.testing.assert_identical(from_frame, expected)
    wide = pd.concat([pd.DataFrame(labels), pd.DataFrame(values).add_prefix("q_")], axis=1)
    from_frame = fk.open_data(wide, columns={"embedding": "q"} | names)
    from_frame = from_frame[[*expected.coords, "embedding"]].drop_attrs(deep=False)
    xr.testing.assert_identical(from_frame, expected)
    with refused("q_0"):
        fk.open_data(wide, columns={"embedding": ["q_0", "q_1", "q_2"]} | names)


def test_a_data_frame_names_what_it_lacks():
    frame = pd.DataFrame({"person": IDENTITY, "emb": list(embedding())})
    with refused("sex", "person", "emb"):
        fk.open_data(frame, columns={"gender": "sex"})
    with refused("identity=", "fk.open_data"):
        faces(frame, "person")
    with refused("row 2", "emb"):
        fk.open_data(frame.assign(emb=[[1, 2, 3], [1]] + [[1, 2, 3]] * 3))


BAD_LABELS = {
    "identity missing": ({"identity": ["a", None, "b", "unknown", " "]}, "rows [1, 3, 4]"),
    "one identity": ({"identity": ["a"] * 5}, "1: 'a'"),
    "no genuine pair": ({"identity": list("abcde")}, "identity"),
    "image twice": ({"image": list("vwxwv")}, "'w', 'v'"),
    "image missing": ({"image": ["v", "w", "", "y", "z"]}, "rows [2]"),
    "reserved": ({"person": ["f"] * 5}, "person"),
    "another code": ({"gender": [b"\xff"] + [b"m"] * 4}, "gender"),
    "half a character": ({"gender": [chr(0xD800)] + ["m"] * 4}, "gender"),
    "NUL": ({"gender": ["a\0b"] + ["m"] * 4}, "gender"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused_with_their_rows(case):
    more, message = BAD_LABELS[case]
    with refused(message):
        faces(embedding(), **{"identity": IDENTITY, **more})


LABELS = {
    "pandas": (pd.array([pd.NA, "b"], dtype="string"), [UNKNOWN, "b"]),
    "masked": (np.ma.array(["a", "b"], mask=[True, False]), [UNKNOWN, "b"]),
    "bytes": (np.array([b"", b"b"]), [UNKNOWN, "b"]),
    "floats": ([23.0, np.nan, 24.5], ["23", UNKNOWN, "24.5"]),
    "flags": ([True, False, True], ["True", "False", "True"]),
    "dates": (np.array(["2020-01-01", "NaT"], "M8[D]"), ["2020-01-01", UNKNOWN]),
    "mixed": ([pd.NaT, 3, "c "], [UNKNOWN, "3", "c"]),
    "xarray": (xr.DataArray(["x", "y", "None"]), ["x", "y", "None"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_become_text(kind):
    values, expected = LABELS[kind]
    labels = clean_labels(values, len(expected), "x")
    assert labels.tolist() == expected
    assert labels.dtype.kind == "U"


@pytest.mark.parametrize(("dtype", "largest"), [("float32", 2**24), ("float64", 2**53)])
def test_floats_by_which_people_may_have_merged_are_refused(dtype, largest):
    exact = np.array([largest - 1, largest - 1, 1, 2, 3], dtype)
    assert faces(embedding(), exact).identity.values[0] == str(largest - 1)
    with refused("identity"):
        faces(embedding(), np.array([largest, largest, 1, 2, 3], dtype))


AGE = ["20", "30", "20", "20", "30"]


def two_encoders():
    labels = dict(identity=IDENTITY, image=list("vwxyz"), age=AGE)
    return faces(embedding(), **labels), faces(embedding(n_features=5, seed=1), **labels)


def test_stacking_pads_with_zeros_and_aligns_images():
    a, b = two_encoders()
    stacked = fk.open_data({"A": a, "B": b.isel(image=[4, 2, 0, 1, 3])})
    assert stacked.embedding.dims == ("model", "image", "feature")
    assert stacked.sizes == {"model": 2, "image": 5, "feature": 5}
    np.testing.assert_array_equal(stacked.embedding.sel(model="A")[:, :3], a.embedding)
    assert not stacked.embedding.sel(model="A")[:, 3:].any()
    np.testing.assert_array_equal(stacked.embedding.sel(model="B"), b.embedding)
    xr.testing.assert_identical(stacked.identity.drop_vars("age"), a.identity.drop_vars("age"))
    without = fk.open_data({"A": a.drop_vars("age"), "B": b})
    np.testing.assert_array_equal(without.age, a.age)


BAD_STACKS = {
    "images": (lambda a, b: {"A": a, "B": b.isel(image=[0, 1, 2, 3])}, "1 are only in 'A'"),
    "labels": (lambda a, b: {"A": a, "B": b.assign_coords(identity=("image", ["anna"] * 5))},
               "3 of 5"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_STACKS)
def test_models_of_other_images_are_not_stacked(case):
    make, message = BAD_STACKS[case]
    with refused(message):
        fk.open_data(make(*two_encoders()))


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_labels_in_which_rows_of_one_person_differ_are_not_read():
    people = sorted({*IDENTITY})
    labels = pd.DataFrame({"identity": people * 2, "age": range(2 * len(people)), "sex": "f"})
    frame = pd.DataFrame(embedding()).add_prefix("f").assign(identity=IDENTITY)
    data = fk.open_data(frame, labels=labels)
    assert "age" not in data.coords and (data.sex == "f").all()
