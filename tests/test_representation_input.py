"""What representation_bias refuses, leaves out and warns of."""

import numpy as np
import pytest
import xarray as xr

import frkit as fk
from frkit.representation import Critic, shifted_classes

QUICK = Critic(hidden=8, iterations=25)
TWO = ["a", "b"] * 8


def bias(faces, attribute="group", **options):
    options = {"critic": QUICK, "seeds": 1, "progress": False} | options
    return fk.representation_bias(faces, attribute, **options)


def faces_of(who, labels, **options):
    embedding = np.random.default_rng(0).standard_normal((len(who), 4))
    return fk.faces(embedding, who, group=labels, **options)


def people(groups):
    """Two images of each person, with a label of the person."""
    return faces_of(np.repeat(np.arange(len(groups)), 2), np.repeat(groups, 2))


def varying():
    """Sixteen people with an image of each class, but for the first, who has two of b."""
    return faces_of(np.repeat(np.arange(16), 2), ["b", "b"] + ["a", "b"] * 15, varying="keep")


@pytest.mark.parametrize(
    ("faces", "options", "message"),
    [
        (people(["a"] * 10), {}, r"has 1 class\(es\), 'a'; at least two"),
        (people([None] * 10), {}, r"0 class\(es\), none"),
        (people(["a"] * 10 + ["b"] * 4), {}, "has 4 people for 5 folds.*at most 4 folds"),
        (people(["a"] * 10 + ["b"] * 4), dict(by="image", folds=9), "has 8 images for 9 folds"),
        (
            faces_of(np.repeat([0, 1], 8), TWO, varying="keep"),
            dict(varying="keep", by="image"),
            "show 2 people; a standard error needs at least 3",
        ),
        (varying(), {}, "varies within 15 of 16 identities.*varying="),
        (varying(), dict(varying="first"), "class 'b' of 'group' has 1 people"),
        (people(TWO).embedding, {}, "must be a faces Dataset"),
        (people(TWO).rename(feature="layer"), {}, "must have dims"),
        (people(TWO), dict(folds=2), "folds must be a whole number of at least 3"),
        (people(TWO), dict(seeds=0), "seeds must be a whole number of at least 1"),
        (people(TWO), dict(seeds=[1, 1]), "distinct whole numbers"),
        (people(TWO), dict(seeds="two"), "distinct whole numbers, got 'two'"),
        (people(TWO), dict(by="person"), "by must be one of identity, image"),
        (people(TWO), dict(varying="drop"), "varying must be one of"),
        (people(TWO), dict(critic="big"), "critic must be a Critic"),
        (people(TWO), dict(attribute="sex"), "'sex' is none of these faces'; known: group"),
        (people(TWO), dict(attribute=[]), "attribute is empty"),
        (people(TWO), dict(attribute=[["group"]]), "a tuple of names to cross"),
    ],
)
def test_bad_input_is_refused(faces, options, message):
    with pytest.raises(fk.InputError, match=message):
        bias(faces, **options)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_no_numbers(value):
    stacked = fk.stack_models({"A": people(TWO), "B": people(TWO)})
    stacked.embedding[1, 5, 0] = value
    with pytest.raises(fk.InputError, match="row 5, column 0, model 'B'"):
        bias(stacked)


def test_constant_features():
    """Folds run side by side: any of them may be the first to complain."""
    faces = people(TWO)
    padded = fk.stack_models({"A": faces, "B": faces})
    padded.embedding[1] = 2.0
    with pytest.raises(fk.InputError, match="is constant among (18|20) images of a fold"):
        bias(padded)


def test_an_attribute_that_varies_can_be_kept():
    kept = bias(varying(), varying="keep")
    assert (kept.n_identities, kept.n_images, kept.n_classes) == (16, 32, 2)


def test_identities_that_were_split_stay_one_person_in_the_folds():
    faces = faces_of(np.repeat(np.arange(8), 4), ["young", "old"] * 16, varying="split")
    assert len(np.unique(faces.identity)) == 16
    assert bias(faces).n_identities == 8


def test_images_without_a_label_are_left_out_with_a_warning():
    whole = people(TWO + [None] * 3)
    with pytest.warns(fk.DataWarning, match="6 of 38 images have no group; they are left out"):
        some = bias(whole)
    xr.testing.assert_identical(some, bias(whole.isel(image=whole.group != "unknown")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(shares=[1.0]), "two or more positive numbers"),
        (dict(shares=[0.5, 0.6]), "sum 1"),
        (dict(shares="half"), "shares must be numbers"),
        (dict(distance=-1), "distance must be a number"),
        (dict(likeness=1.0), "likeness must be below 1"),
        (dict(shares=[0.25] * 4, both_sides=True), "two classes"),
        (dict(per_identity=0), "at least 1"),
    ],
)
def test_generator(options, message):
    with pytest.raises(fk.InputError, match=message):
        shifted_classes(20, 3, **options)
