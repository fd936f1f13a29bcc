"""Bias read from predictions: hand cases, and the libraries' numbers against counts written out."""

import numpy as np
import pandas as pd
import pytest
from refusals import noticed, refused

from frkit.representation import cohort_spread, parity_gaps

TRUTH = np.array([1, 1, 1, 0, 0, 0, 1, 1, 0, 0])
GUESS = np.array([1, 1, 0, 1, 0, 0, 1, 0, 0, 0])
GROUP = np.array(list("aaaaaabbbb"))
SCORE = np.array([0.9, 0.8, 0.3, 0.7, 0.2, 0.1, 0.6, 0.4, 0.45, 0.05])


# --- parity gaps
def test_parity_gaps_by_hand():
    """Predicted 1: a 3/6, b 1/4. True positives: a 2/3, b 1/2. False positives: a 1/3, b 0/2."""
    gaps = parity_gaps(TRUTH, GUESS, GROUP).sel(label=1)
    assert gaps.demographic_parity.item() == pytest.approx(1 / 4)
    assert gaps.equal_opportunity.item() == pytest.approx(2 / 3 - 1 / 2)
    assert gaps.equalized_odds.item() == pytest.approx(1 / 3)
    with noticed("label"):
        gaps = parity_gaps([0, 1, 0, 0], [0, 1, 1, 0], list("aabb"))
    assert np.isnan(gaps.equal_opportunity).all() and np.isfinite(gaps.demographic_parity).all()


# --- missing values, order
TWO = {"truth": [1, 0, 1, 0, 1, 0, 1, 0], "predicted": [1, 0, 1, 0, 1, 1, 0, 1]}
SEX = ["f", "f", "m", "m", "f", "m"]  # of the first six images


@pytest.mark.filterwarnings("ignore:.* images have no")
@pytest.mark.parametrize(
    "missing",
    [None, np.nan, pd.NA, "", "nan", "unknown"],
    ids=["None", "NaN", "NA", "", "nan", "?"],
)
def test_images_without_a_group_are_in_none(missing):
    """Women 2/3 predicted, men 2/3; true positives 2/2 and 1/1, false ones 0/1 and 1/2."""
    sex = [*SEX, missing, missing]
    for group in (sex, pd.Series(sex), np.array(sex, object)):
        gaps = parity_gaps(**TWO, group=group).sel(label=1)
        assert gaps.demographic_parity == 0 and gaps.equal_opportunity == 0
        assert gaps.equalized_odds == 0.5
        spread = cohort_spread(**TWO, group=group)
        assert spread.group.values.tolist() == ["f", "m"]
        accuracy = spread.sel(metric="accuracy")
        assert accuracy.value.values.tolist() == pytest.approx([1, 2 / 3])
        assert accuracy.overall == 5 / 8, "all images count there"


@pytest.mark.parametrize("truth", [["a", None] * 4, [1.0, np.nan] * 4, ["a", ""] * 4])
def test_a_missing_label_is_refused(truth):
    for call in (parity_gaps, cohort_spread):
        with refused("truth", 4):
            call(truth, truth, list("fmfmfmfm"))
    with refused("score", 1):
        cohort_spread(**TWO, group=list("fmfmfmfm"), score=[np.nan] + [0.5] * 7)


def test_columns_of_pandas_are_never_joined_by_position():
    sex = pd.Series([*SEX, "f", "m"])
    columns = {name: pd.Series(values) for name, values in TWO.items()}
    for group in (sex[::-1], sex.set_axis(range(1, 9))):
        for call in (parity_gaps, cohort_spread):
            with refused("indexes"):
                call(columns["truth"], columns["predicted"], group)
    with refused("indexes"):
        cohort_spread(**columns, group=sex, score=pd.Series(range(8))[::-1])


@pytest.mark.filterwarnings("ignore:a cohort lacks a label")
def test_groups_stand_in_the_order_in_which_people_read_them():
    ages = ["10-19", "3-9", "<3", "60+"] * 2
    assert cohort_spread(**TWO, group=ages).group.values.tolist() == ["<3", "3-9", "10-19", "60+"]
    age_names = pd.Categorical(["old", "young"] * 4, ["young", "middle", "old"], ordered=True)
    assert cohort_spread(**TWO, group=age_names).group.values.tolist() == ["young", "old"]


# --- cohorts
def auc(truth, score):
    """Share of pairs of a positive and a negative that are in the right order."""
    return np.mean([(p > n) + (p == n) / 2 for p in score[truth == 1] for n in score[truth == 0]])


def average_precision(truth, score):
    """Mean, over the positives, of the precision at their score."""
    return np.mean([truth[score >= s].mean() for s in score[truth == 1]])


def test_cohorts_by_hand():
    spread = cohort_spread(TRUTH, GUESS, GROUP, score=SCORE)
    a, b = GROUP == "a", GROUP == "b"
    expected = {
        "accuracy": [4 / 6, 3 / 4],
        "false_positive_rate": [1 / 3, 0],
        "f1": [2 * 2 / (2 * 2 + 1 + 1), 2 * 1 / (2 * 1 + 1)],
        "auc": [auc(TRUTH[cohort], SCORE[cohort]) for cohort in (a, b)],
        "average_precision": [average_precision(TRUTH[cohort], SCORE[cohort]) for cohort in (a, b)],
    }
    for name, values in expected.items():
        cohort = spread.sel(metric=name)
        np.testing.assert_allclose(cohort.value, values, err_msg=name)
        assert cohort.sd.item() == pytest.approx(np.std(values, ddof=1))
    assert spread.overall.sel(metric="accuracy").item() == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parity_gaps([1, 0], [1, 0], ["a", "a"]), "groups"),
        (lambda: cohort_spread([1, 1], [1, 1], ["a", "b"]), "labels"),
        (lambda: cohort_spread([1, 0, 2], [1, 0, 2], list("aba")), "labels"),
        (
            lambda: cohort_spread([1, 0], [1, 0], list("ab"), score=np.eye(2)),
            "(2, 2)",
        ),
        (lambda: parity_gaps([1, 0], ["1", "0"], ["a", "b"]), "different kinds"),
        (lambda: parity_gaps([1, 0, 1], [1, 0], ["a", "b"]), "equal length"),
    ],
)
def test_bad_input_is_refused(call, message):
    with refused(message):
        call()
