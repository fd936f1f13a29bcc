"""Pair lists from arrays: what is kept, and every refusal."""

import numpy as np
import pytest
from named import named
from refusals import refused

import frkit as fk

pytestmark = pytest.mark.filterwarnings(
    "ignore:[0-9]+ genuine and [0-9]+ impostor comparisons failed"
)

NAMES = dict(probe=["a", "b", "a"], reference=["c", "c", "b"])
PEOPLE = dict(probe_identity=["k", "m", "k"], reference_identity=["k", "k", "m"])


def test_all_that_is_known_is_kept():
    ages = [20, 30, 20], [20, None, 30]
    pairs = named(fk.pairs([0.9, 0.1, np.nan], None, *NAMES.values(), **PEOPLE, age=ages))
    assert pairs.probe.values.tolist() == NAMES["probe"]
    assert pairs.score.dims == ("pair",) and pairs.score.dtype == np.float64
    assert pairs.genuine.values.tolist() == [True, False, False]
    assert set(pairs.coords) == {"genuine", "probe_age", "reference_age", *NAMES, *PEOPLE}
    assert pairs.reference_age.values.tolist() == ["20", "unknown", "30"]
    assert np.isnan(pairs.score.values).tolist() == [False, False, True]


def test_a_label_for_the_pair_is_that_of_both_sides():
    pairs = named(fk.pairs([1, 2, 3], [1, 0, 0], race=["A", "A x B", None]))
    assert pairs.probe_race.values.tolist() == ["A", "A x B", "unknown"]
    assert pairs.reference_race.equals(pairs.probe_race)


@pytest.mark.parametrize(
    "score", [{"A": [1, 2], "B": [3, 4]}, [[1, 2], [3, 4]]], ids=["mapping", "array"]
)
def test_several_models(score):
    names = None if isinstance(score, dict) else ["A", "B"]
    pairs = named(fk.pairs(score, [True, False], model=names))
    assert pairs.score.dims == ("model", "pair")
    assert pairs.score.sel(model="B").values.tolist() == [3, 4]


TWO = dict(score=[1, 2], genuine=[1, 0])
BAD = {
    "words": (dict(score=["x"], genuine=[1]), "score"),
    "shape": (dict(score=[[1.0, 2]], genuine=[1, 0]), "model= names, got shape (1, 2)"),
    "infinite": (TWO | dict(score=[0.5, np.inf]), "missing"),
    "all missing": (TWO | dict(score=[-1, -1], missing=-1), "score"),
    "no verdict": (dict(score=[1, 2]), "genuine"),
    "verdict": (TWO | dict(genuine=[1, 3]), "pairs '1'"),
    "verdict in words": (TWO | dict(genuine=["yes", "no"]), "genuine"),
    "length": (TWO | dict(genuine=[1]), "2 pairs"),
    "one side": (TWO | dict(probe=["a", "b"]), "probe= and reference="),
    "nameless": (
        TWO | dict(probe=["a", None], reference=["b", "c"]),
        "rows [1]",
    ),
    "contradiction": (dict(score=[1, 2, 3], genuine=[1, 1, 0], **PEOPLE), "1 pair(s): '1'"),
    "two people": (
        dict(score=[1, 2, 3], **NAMES | {"reference": ["c", "c", "a"]}, **PEOPLE),
        "'k', 'm'",
    ),
    "reserved": (TWO | dict(identity=["A", "B"]), "identity"),
    "prefix": (TWO | dict(probe_race=["A", "B"]), "probe_race"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case):
    given, message = BAD[case]
    with refused(message):
        fk.pairs(**given)
