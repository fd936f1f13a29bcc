"""Intervals agree with p-values, with higher levels and with each other."""

import numpy as np
import pytest
from scipy import stats

import frkit as fk
from frkit.intervals.effective import linearised
from frkit.intervals.pooled import Groups, compatible_rates
from frkit.measures import measure as find_measure

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
RATIOS = ("frr_max_min", "far_max_min", "ir")
DIFFERENCES = ("far_max_difference", "fdr", "eer_spread")


def faces(seed, n_people, n_groups, images, spread=(0.3, 0.6)):
    """Faces of two models; most groups have other numbers of people."""
    rng = np.random.default_rng(seed)
    names = list("abcd")[:n_groups]
    group = rng.choice(names, n_people, p=rng.dirichlet(np.full(n_groups, 2.0)))
    person = np.repeat(np.arange(n_people), images)
    middle = np.repeat(rng.normal(size=(n_people, 6)), images, 0)
    embedding = [middle + sd * rng.normal(size=middle.shape) for sd in spread]
    return fk.faces(np.stack(embedding), person, model=["A", "B"], group=group[person])


def evaluation(*args, far=(0.001, 0.01, 0.1)):
    return fk.evaluate(fk.score_tensor(faces(*args)), far=far, by="group")


@pytest.fixture(scope="module")
def evaluations():
    cases = (7, 40, 3, 4), (6, 16, 4, 5)  # of the second some groups have few people
    return [evaluation(*case) for case in cases]


def without_errors():
    """Ten people in each of two groups, whose images are equal but for a little noise."""
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(20), 3)
    embedding = np.eye(20)[person] + 0.01 * rng.normal(size=(60, 20))
    tensor = fk.score_tensor(fk.faces(embedding, person, group=["a"] * 30 + ["b"] * 30))
    return fk.evaluate(tensor, threshold=[0.5], by="group")


def test_groups_without_an_error_differ_by_what_they_may_hide():
    """The largest t with n t / (1 - t) within the limit: of a person, or a pair of people, each."""
    ev = without_errors()
    f_limit, chi_square_limit = stats.f.isf(0.05, 1, 18), stats.chi2.isf(0.05, 1)
    by_hand = {"frr": f_limit / (10 + f_limit), "far": chi_square_limit / (45 + chi_square_limit)}
    for rate, expected in by_hand.items():
        contrast = fk.compare(ev, f"{rate}_group", groups=("a", "b"))
        band = fk.band(ev, f"{rate}_max_difference")
        ends = [contrast.lower.item(), contrast.upper.item(), band.upper.item()]
        np.testing.assert_allclose(ends, [-expected, expected, expected], rtol=1e-3)
        assert contrast.estimate.item() == band.lower.item() == 0


@pytest.mark.slow
@pytest.mark.parametrize("target", ["new people", "these people"])
def test_intervals_include_equality_exactly_where_p_says_so(evaluations, target):
    """Of disparities, and of two groups (at .3 half an error of a group without any is refused)."""
    n_small = n_large = 0
    for ev in evaluations:
        results = []
        for level in (0.3, 0.95):
            for measure in (*RATIOS, *DIFFERENCES):
                band = fk.band(ev, measure, level=level, target=target)
                results.append((band.includes_fair, band.p, level))
            for rate in ("frr_group", "far_group", "eer_group") if level > 0.5 else ():
                both = fk.compare(ev, rate, groups="all", level=level, target=target)
                contains = (both.lower <= 1e-12) & (both.upper >= -1e-12)
                results.append((contains, both.p, level))
                contains = (both.ratio_lower <= 1 + 1e-12) & (both.ratio_upper >= 1 - 1e-12)
                results.append((contains, both.p, level))
        for includes, p, level in results:
            tested = p.notnull() & includes.notnull()
            agrees = (includes == 1) == (p >= 1 - level)
            assert agrees.where(tested, True).all()
            n_small += int((tested & (p < 1 - level)).sum())
            n_large += int((tested & (p >= 1 - level)).sum())
    assert min(n_small, n_large) > 20


@pytest.mark.slow
def test_a_higher_level_gives_an_interval_that_contains_that_of_a_lower_one(evaluations):
    levels = (0.8, 0.95, 0.999)
    for ev in evaluations:
        rows = [
            [fk.band(ev, measure, level=level) for level in levels]
            for measure in ("frr_max_min", "ir", "fdr", "eer_spread", "frr", "far_group")
        ]
        rows += [
            [fk.compare(ev, rate, groups="all", level=level) for level in levels]
            for rate in ("frr_group", "far_group", "eer_group")
        ]
        rows += [
            [fk.compare(ev, measure, level=level) for level in levels]
            for measure in ("eer", "frr", "frr_max_min")
        ]
        for intervals in rows:
            for inner, outer in zip(intervals, intervals[1:]):
                reaches_down = (outer.lower <= inner.lower + 1e-7) | inner.lower.isnull()
                reaches_up = (outer.upper >= inner.upper - 1e-7) | inner.upper.isnull()
                assert reaches_down.all() and reaches_up.all(), inner.attrs


def test_high_rates_have_wider_intervals_at_higher_levels():
    """The likeliest level of unequal rates would make one of them larger than 1."""
    groups = Groups(np.array([0.772, 0.692, 0.856]), np.array([16.27, 19.45, 29.22]), 24)
    widest = []
    for level in (0.95, 0.99, 0.999):
        rates = compatible_rates(groups, level=level, free_level=True)
        widest.append(np.ptp(rates, axis=1).max())
    assert widest[0] + 0.05 < widest[1] < widest[2] - 0.05


@pytest.mark.slow
def test_an_interval_of_two_models_contains_no_difference_where_few_people_differ():
    """p is at least that of a sign test of those people, however small the standard error is."""
    n_widened = 0
    for seed in range(4):
        ev = evaluation(seed, 12, 2, 3, (0.6, 0.75))
        for measure in ("eer", "frr", "far"):
            contrast = fk.compare(ev, measure)
            contains = (contrast.lower <= 0) & (contrast.upper >= 0)
            tested = contrast.p.notnull()
            assert (contains == (contrast.p >= 0.05)).where(tested, True).all()
            p_of_t = 2 * stats.t.sf(abs(contrast.estimate) / contrast.se, contrast.df)
            n_widened += int(((p_of_t < 0.05) & (contrast.p >= 0.05)).sum())
    assert n_widened > 0


@pytest.mark.slow
def test_a_simultaneous_band_is_nowhere_narrower_than_a_single_interval():
    for seed in range(3):
        ev = evaluation(seed, 15, 2, 4, far=[0.01, 0.03, 0.1, 0.3])
        single = fk.band(ev, "frr")
        whole = fk.band(ev, "frr", simultaneous=True)
        assert ((whole.lower <= single.lower) & (whole.upper >= single.upper)).all()


@pytest.mark.slow
def test_a_model_compared_with_itself_has_p_one_and_an_interval():
    plain = faces(5, 50, 3, 4)
    twice = fk.open_data({name: plain.isel(model=1, drop=True) for name in "AB"})
    ev = fk.evaluate(fk.score_tensor(twice), far=[0.01, 0.1], by="group")
    for measure in ("frr", "eer", "threshold", *RATIOS, *DIFFERENCES):
        contrast = fk.compare(ev, measure)
        is_known = np.isfinite(contrast.estimate)
        assert is_known.any(), measure
        assert (contrast.p == 1).where(is_known, True).all(), measure
        null = contrast.attrs["null"]
        inside = (contrast.lower < null) & (contrast.upper > null)
        assert inside.where(is_known, True).all(), measure


def test_two_copies_of_a_model_differ_in_two_people_of_average_influence():
    """The threshold: se² = 2 / K of what its own standard error squared is, by its squares."""
    plain = faces(5, 50, 3, 4)
    twice = fk.open_data({name: plain.isel(model=1, drop=True) for name in "AB"})
    ev = fk.evaluate(fk.score_tensor(twice), far=[0.1], by="group")
    influence = linearised(ev, find_measure("threshold"), "new people").influence.values[0].ravel()
    squares = sum(value**2 for value in influence)
    expected = np.sqrt(2 * squares / np.count_nonzero(influence))
    assert fk.compare(ev, "threshold").se.item() == pytest.approx(expected)


@pytest.mark.slow
def test_models_are_compared_alike_whatever_groups_are_called():
    """Groups of unequal numbers of people, in the reverse order."""
    plain = faces(7, 40, 3, 4)
    renamed = {"a": "z", "b": "y", "c": "x"}
    others = plain.assign_coords(group=("image", [renamed[name] for name in plain.group.values]))
    evaluations = [
        fk.evaluate(fk.score_tensor(data), far=[0.03, 0.1], by="group") for data in (plain, others)
    ]
    people = np.unique(plain.identity).size
    for measure in ("frr_max_min", "frr_gini", "far_max_min", "fdr", "eer_spread"):
        first, second = (fk.compare(evaluation, measure) for evaluation in evaluations)
        for name in ("estimate", "lower", "upper", "p", "df"):
            np.testing.assert_allclose(second[name], first[name], rtol=1e-9, err_msg=measure)
        assert first.p.notnull().any() and (first.df > people / 2).all(), measure
