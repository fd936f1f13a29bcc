"""What results say about themselves: each limit once, and which places are resolved."""

import warnings

import numpy as np
import pytest
from refusals import noticed, refused

import frkit as fk

WHO = np.repeat([f"person {number:02d}" for number in range(20)], 3)
BELOW_ALL, ABOVE_ALL = -2.0, 2.0


def tensor(*groups):
    """Scores of 20 people, whose groups are given with the number of people in each."""
    rng = np.random.default_rng(3)
    embedding = np.repeat(rng.normal(size=(20, 5)), 3, axis=0) + 0.4 * rng.normal(size=(60, 5))
    labels = [label for label, n_people in groups for _ in range(3 * n_people)]
    return fk.score_tensor(fk.faces(embedding, WHO, group=labels or ["one"] * 60))


def warned(function, *arguments, **options):
    """The result of a call, and the messages of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **options)
    return result, [str(warning.message) for warning in caught]


# --- one limit, one warning -----------------------------------------------------------------------
@pytest.mark.parametrize("question", [fk.band, fk.fair_floor])
def test_rates_without_an_error_get_one_warning(question):
    evaluation = fk.evaluate(tensor(("a", 10), ("b", 10)), threshold=[BELOW_ALL], by="group")
    result, [message] = warned(question, evaluation, "frr_max_min")
    assert np.isnan(result.estimate).all() and "no error in frr_group" in message


def test_an_infinite_ratio_gets_one_warning():
    """One genuine pair is rejected, so that the other group has no error."""
    scores = tensor(("a", 10), ("b", 10))
    lowest_genuine = scores.values[WHO[:, None] == WHO].min()
    evaluation = fk.evaluate(scores, threshold=[lowest_genuine], by="group")
    assert evaluation["empirical"].false_rejects.item() == 1
    result, [message] = warned(fk.band, evaluation, "frr_max_min")
    assert np.isinf(result.estimate).all() and "no error in frr_group" in message


def test_a_group_that_takes_no_part_is_named_once():
    scores = tensor(("a", 10), ("b", 9), ("c", 1))
    with noticed("FAR", "c"):
        evaluation = fk.evaluate(scores, threshold=[0.5], by="group")
    assert evaluation["empirical"].frr_group.sel(group="c").item() == 0
    _, messages = warned(fk.band, evaluation, "frr_max_min")
    assert ["'c'" in message for message in messages].count(True) == 1
    assert any("computed without 'c'" in message for message in messages)


def test_a_disparity_of_one_group_names_those_that_are_too_small():
    with noticed("FAR", "c"):
        evaluation = fk.evaluate(tensor(("a", 19), ("c", 1)), threshold=[0.5], by="group")
    for question in (fk.band, fk.fair_floor):
        with refused("c"):
            question(evaluation, "frr_max_min")


def test_few_errors_are_named_where_others_have_none():
    """The level without an error is named as such, the other one as not resolved."""
    scores = tensor(("a", 10), ("b", 10))
    evaluation = fk.evaluate(scores, threshold=[BELOW_ALL, 0.5], by="group")
    rejects = evaluation["empirical"].false_rejects_group.values
    assert rejects[0].sum() == 0 and 0 < rejects[1].min() < 10
    _, [no_error, few_errors] = warned(fk.band, evaluation, "frr_max_min")
    assert "threshold -2 of" in no_error and "at threshold 0.5," in few_errors


# --- resolved -------------------------------------------------------------------------------------
def test_at_fixed_thresholds_the_errors_of_each_rate_count():
    """All 60 genuine pairs are rejected and nobody is accepted, or the other way round."""
    thresholds = [ABOVE_ALL, BELOW_ALL]
    evaluation = fk.evaluate(tensor(("a", 10), ("b", 10)), threshold=thresholds, by="group")
    for name, resolved in (
        ("frr", [True, False]),
        ("frr_max_difference", [True, False]),
        ("far", [False, True]),
        ("fdr", [False, False]),
    ):
        result, _ = warned(fk.band, evaluation, name)
        assert result.resolved.values.tolist() == resolved, name
    far = fk.evaluate(tensor(("a", 10), ("b", 10)), far=[0.3])
    assert far["empirical"].false_rejects < 10 <= far["empirical"].false_accepts
    assert warned(fk.band, far, "threshold")[0].resolved.all()  # false accepts alone set it
    band, messages = warned(fk.band, evaluation.sel(threshold_level=[ABOVE_ALL]), "frr")
    assert messages == [] and float(band.estimate.item()) == 1


def test_at_a_far_level_an_frr_also_needs_false_accepts():
    """The threshold of the FAR level rests on them."""
    evaluation = fk.evaluate(tensor(), far=[1e-3, 0.3])
    errors = evaluation["empirical"].dataset
    result, _ = warned(fk.band, evaluation, "frr")
    both = (errors.false_accepts >= 10) & (errors.false_rejects >= 10)
    assert errors.false_accepts[0] < 10 <= errors.false_rejects[0]
    assert result.resolved.values.tolist() == both.values.tolist()


# --- two evaluations ------------------------------------------------------------------------------
def test_several_levels_are_compared_with_the_same_ones():
    first, second = (fk.evaluate(tensor(), far=levels) for levels in ([0.1], [0.1, 0.2]))
    with refused("far_level"):
        fk.compare(first, second, "frr")
