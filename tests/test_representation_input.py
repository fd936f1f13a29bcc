"""What representation_bias refuses, leaves out and warns of."""

import numpy as np
import pytest
import xarray as xr

import frkit as fk
from frkit.representation import Critic, shifted_classes

QUICK = Critic(hidden=8, iterations=25)


def bias(faces, attribute="group", **options):
    return fk.representation_bias(
        faces, attribute, **{"critic": QUICK, "seeds": 1, "progress": False} | options
    )


def faces_of(who, labels, **options):
    embedding = np.random.default_rng(0).standard_normal((len(who), 4))
    return fk.faces(embedding, who, group=labels, **options)


def people(groups):
    """Two images of each person, with a label of the person."""
    return faces_of(np.repeat(np.arange(len(groups)), 2), np.repeat(groups, 2))


TWO = ["a", "b"] * 8


def test_one_class():
    with pytest.raises(fk.InputError, match=r"'group' has 1 class\(es\), 'a'; at least two"):
        bias(people(["a"] * 10))


def test_no_label_at_all():
    with pytest.raises(fk.InputError, match=r"0 class\(es\), none"):
        bias(people([None] * 10))


def test_fewer_people_of_a_class_than_folds():
    with pytest.raises(
        fk.InputError, match="class 'b' of 'group' has 4 people for 5 folds.*at most 4 folds"
    ):
        bias(people(["a"] * 10 + ["b"] * 4))
    assert bias(people(["a"] * 10 + ["b"] * 4), folds=4).n_identities == 14


def test_fewer_images_of_a_class_than_folds():
    """By image it is images that count: four people are eight images."""
    faces = people(["a"] * 10 + ["b"] * 4)
    assert bias(faces, by="image").n_images == 28
    with pytest.raises(fk.InputError, match="has 8 images for 9 folds"):
        bias(faces, by="image", folds=9)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_no_numbers(value):
    faces = people(TWO)
    faces.embedding[3, 2] = value
    with pytest.raises(fk.InputError, match="row 3, column 2"):
        bias(faces)
    stacked = fk.stack_models({"A": people(TWO), "B": people(TWO)})
    stacked.embedding[1, 5, 0] = value
    with pytest.raises(fk.InputError, match="row 5, column 0, model 'B'"):
        bias(stacked)


def test_constant_features():
    faces = people(TWO)
    with pytest.raises(fk.InputError, match="is constant among (18|20) images of a fold"):
        bias(faces.assign(embedding=xr.ones_like(faces.embedding)))
    padded = fk.stack_models({"A": faces, "B": faces})
    padded.embedding[1] = 2.0
    with pytest.raises(fk.InputError, match="is constant among"):
        bias(padded)


def test_constant_features_of_those_with_a_label():
    """Folds run side by side: any of them may be the first to complain."""
    faces = people(TWO + [None] * 2)
    faces.embedding[:32] = 1.0
    with (
        pytest.warns(fk.DataWarning),
        pytest.raises(fk.InputError, match="constant among (18|20) images of a fold"),
    ):
        bias(faces)


def test_too_few_people_for_a_standard_error():
    faces = faces_of(np.repeat([0, 1], 8), TWO, varying="keep")
    with pytest.raises(fk.InputError, match="show 2 people; a standard error needs at least 3"):
        bias(faces, varying="keep", by="image")


def test_columns_of_zeros_as_stacking_makes_them_change_nothing():
    faces = people(TWO)
    wide = np.pad(faces.embedding.values, ((0, 0), (0, 3)))
    assert (
        bias(faces.drop_dims("feature").assign(embedding=(("image", "feature"), wide))).n_classes
        == 2
    )


def varying():
    """Sixteen people with an image of each class, but for the first, who has two of b."""
    return faces_of(np.repeat(np.arange(16), 2), ["b", "b"] + ["a", "b"] * 15, varying="keep")


def test_attribute_that_varies_within_an_identity():
    with pytest.raises(fk.InputError, match="'group' varies within 15 of 16 identities.*varying="):
        bias(varying())
    kept = bias(varying(), varying="keep")
    assert (kept.n_identities, kept.n_images, kept.n_classes) == (16, 32, 2)
    with pytest.raises(fk.InputError, match="class 'b' of 'group' has 1 people"):
        bias(varying(), varying="first")


def test_identities_that_were_split_stay_one_person_in_the_folds():
    faces = faces_of(np.repeat(np.arange(8), 4), ["young", "old"] * 16, varying="split")
    assert len(np.unique(faces.identity)) == 16
    assert bias(faces).n_identities == 8


def test_images_without_a_label_are_left_out_and_said_so():
    whole = people(TWO + [None] * 3)
    with pytest.warns(fk.DataWarning, match="6 of 38 images have no group; they are left out"):
        some = bias(whole)
    xr.testing.assert_identical(some, bias(whole.isel(image=whole.group != "unknown")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(folds=2), "folds must be a whole number of at least 3"),
        (dict(folds=4.0), "folds must be a whole number"),
        (dict(seeds=0), "seeds must be at least 1"),
        (dict(seeds=[1, 1]), "distinct whole numbers"),
        (dict(seeds=1.5), "got 1.5"),
        (dict(by="person"), "by must be one of 'identity', 'image'"),
        (dict(varying="drop"), "varying must be one of"),
        (dict(attribute="sex"), "'sex' is none of these faces'; known: group"),
        (dict(attribute=[]), "attribute is empty"),
        (dict(attribute=[["group"]]), "a tuple of names to cross"),
        (dict(attribute="identity"), "'identity' is none of these"),
    ],
)
def test_options(options, message):
    with pytest.raises(fk.InputError, match=message):
        bias(people(TWO), **options)


def test_something_else_than_faces():
    with pytest.raises(fk.InputError, match="must be a faces Dataset"):
        bias(people(TWO).embedding)
    turned = people(TWO).rename(feature="layer")
    with pytest.raises(fk.InputError, match="must have dims"):
        bias(turned)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(shares=[1.0]), "two or more positive numbers"),
        (dict(shares=[0.5, 0.6]), "sum 1"),
        (dict(distance=-1), "distance >= 0"),
        (dict(likeness=1.0), "likeness in"),
        (dict(shares=[0.25] * 4, both_sides=True), "two classes"),
        (dict(per_identity=0), "at least 1"),
    ],
)
def test_generator(options, message):
    with pytest.raises(fk.InputError, match=message):
        shifted_classes(20, 3, **options)
