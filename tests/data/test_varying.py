"""Attributes that vary within an identity: the rules, against a twin in plain words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from frkit.base import UNKNOWN
from frkit.data.labels import resolve_varying


def test_two_splits_compose_with_another_rule():
    identity = ["anna"] * 5 + ["bo"] * 2
    _, who, person = resolve_varying(list("1122211"), identity, "split", "age")
    _, who, person = resolve_varying(list("lrlrrll"), who, "split", "pose", person)
    split_names = ["anna|1|l", "anna|1|r", "anna|2|l", "anna|2|r", "anna|2|r", "bo", "bo"]
    assert who.tolist() == split_names and person.tolist() == identity
    sex = resolve_varying(list("fffmfmm"), identity, "most frequent", "sex")[0]
    assert sex.tolist() == ["f"] * 5 + ["m"] * 2


def test_a_split_never_merges_people():
    identity = ["a", "a", "a|1", "a|1"]
    with refused("a|1"):
        resolve_varying(["1", "2", "1", "1"], identity, "split", "age")


def twin(labels, identity, rule):
    """The rules in the plainest words."""
    out = {}
    for who in set(identity):
        mine = [label for label, k in zip(labels, identity, strict=True) if k == who]
        labelled = [label for label in mine if label != UNKNOWN] or [UNKNOWN]
        most = max(labelled, key=labelled.count)  # the first of equals
        out[who] = labelled[0] if rule == "first" else most
    return [out[who] for who in identity]


images = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["1", "2", "3", UNKNOWN])), min_size=1
)


@pytest.mark.slow
@given(images, st.sampled_from(["first", "most frequent"]))
def test_rules_agree_with_the_plain_twin(rows, rule):
    identity, labels = zip(*rows, strict=True)
    assert resolve_varying(labels, identity, rule, "x")[0].tolist() == twin(labels, identity, rule)


@pytest.mark.slow
@given(images)
def test_split_makes_one_part_per_person_and_label_and_is_idempotent(rows):
    who, labels = zip(*rows, strict=True)
    _, identity, person = resolve_varying(labels, who, "split", "x")
    expected = {(a, b): k for a, b, k in zip(who, labels, identity.tolist(), strict=True)}
    assert len(set(expected.values())) == len(set(zip(who, labels, strict=True)))
    assert [expected[row] for row in rows] == identity.tolist()
    assert person is None or person.tolist() == list(who)
    again = resolve_varying(labels, identity, "split", "x", person)
    assert again[1].tolist() == identity.tolist()
