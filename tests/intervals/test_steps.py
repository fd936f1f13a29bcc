"""An error more never lowers the upper end of a rate, and all that err mirror none that errs."""

import numpy as np
import pytest
from refusals import noticed
from scipy import stats

import frkit as fk

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::frkit.DataWarning")]
ERRORS = (0, 1, 2, 5, 28)


def listed(errors_of_people, n_pairs, accepted=0, group=None):
    """Genuine pairs of each person, of which so many are rejected, and all pairs of people."""
    n_people = len(errors_of_people)
    probe, reference = np.triu_indices(n_people, 1)
    if group is not None:
        within = group[probe] == group[reference]
        probe, reference = probe[within], reference[within]
    person = np.repeat(np.arange(n_people), n_pairs)
    is_rejected = np.tile(np.arange(n_pairs), n_people) < np.repeat(errors_of_people, n_pairs)
    scores = np.append(1.0 - is_rejected, np.arange(len(probe)) < accepted)
    labels = {} if group is None else {"group": group[np.append(person, probe)]}
    return fk.pairs(
        scores,
        probe_identity=np.append(person, probe),
        reference_identity=np.append(person, reference),
        **labels,
    )


def ends(pairs, rate, weighting="identity", **options):
    evaluation = fk.evaluate(pairs, threshold=[0.5], weighting=weighting, **options)
    band = fk.band(evaluation, rate).isel(threshold_level=0)
    return band.lower.values, band.upper.values


@pytest.mark.parametrize("n_people", [30, 200])
@pytest.mark.parametrize("rate", ["frr", "far"])
def test_an_error_more_never_lowers_the_upper_end(n_people, rate):
    """Each error is that of another person, or of another pair of people."""
    uppers = []
    for number in ERRORS:
        errors = np.arange(n_people) < (number if rate == "frr" else 0)
        accepted = number if rate == "far" else 0
        uppers.append(ends(listed(errors.astype(int), 10, accepted), rate)[1].item())
    assert (np.diff(uppers) >= 0).all(), uppers
    assert uppers[-1] > 1.2 * uppers[0]


def test_without_an_error_the_upper_end_is_that_of_one_comparison_for_each_person():
    n = 30 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 29)) ** 2
    expected = stats.beta.ppf(0.975, 0.5, n + 0.5)
    for number in (0, 1, 2):
        _, upper = ends(listed((np.arange(30) < number).astype(int), 10), "frr")
        assert upper.item() == pytest.approx(expected), number


@pytest.mark.parametrize("rate", ["frr", "far"])
def test_all_that_err_mirror_none_that_errs(rate):
    n_pairs_of_people = 30 * 29 // 2
    none = listed(np.zeros(30, int), 10, accepted=0)
    every = listed(np.full(30, 10), 10, accepted=n_pairs_of_people)
    lower, upper = ends(every, rate)
    assert upper.item() == 1
    assert lower.item() == pytest.approx(1 - ends(none, rate)[1].item())
    numbers = [
        fk.band(fk.evaluate(pairs, threshold=[0.5]), rate).n_effective.item()
        for pairs in (every, none)
    ]
    assert numbers[0] == pytest.approx(numbers[1])


@pytest.mark.parametrize("rate", ["frr", "far"])
def test_a_success_more_never_raises_the_lower_end(rate):
    lowers = []
    for number in (0, 1, 2, 5):
        errors = 10 - (np.arange(30) < (number if rate == "frr" else 0))
        accepted = 30 * 29 // 2 - (number if rate == "far" else 0)
        lowers.append(ends(listed(errors, 10, accepted), rate)[0].item())
    assert (np.diff(lowers) <= 0).all(), lowers


@pytest.mark.parametrize("size", [2, 3, 10, 60])
@pytest.mark.parametrize("errors_of_others", [0, 20])
def test_an_error_more_of_a_group_never_lowers_its_upper_end(size, errors_of_others):
    group = np.repeat(["a", "b"], [size, 40])
    uppers = []
    for number in ERRORS[:4]:
        errors = np.bincount(np.arange(number) % size, minlength=size)
        others = (np.arange(40) < errors_of_others).astype(int)
        pairs = listed(np.append(errors, others), 10, group=group)
        uppers.append(ends(pairs, "frr_group", by="group")[1][0])
    assert (np.diff(uppers) >= 0).all(), uppers


def test_a_group_without_an_error_has_the_number_of_people_who_differ_as_all_do():
    """n of the pooled variance, with the degrees of freedom of all groups."""
    group = np.repeat(["a", "b", "c"], 12)
    errors = np.concatenate([np.zeros(12, int), np.arange(12) % 9, np.arange(12) % 7])
    tree = fk.evaluate(
        listed(errors, 10, group=group), threshold=[0.5], by="group", weighting="identity"
    )
    rates = errors.reshape(3, 12) / 10
    p0 = rates.mean()
    rho = rates.var(1, ddof=1).mean() / (p0 * (1 - p0))
    rho = (rho - 0.1) / 0.9
    n = 12 / (rho + (1 - rho) / 10) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 33)) ** 2
    band = fk.band(tree, "frr_group").isel(threshold_level=0, group=0)
    assert band.n_effective.item() == pytest.approx(n)
    assert band.upper.item() == pytest.approx(stats.beta.ppf(0.975, 0.5, n + 0.5))


def test_groups_of_one_and_of_two_people_are_named():
    group = np.repeat(["alone", "many", "two"], [1, 20, 2])
    pairs = listed(np.arange(23) % 3, 10, accepted=30, group=group)
    tree = fk.evaluate(pairs, threshold=[0.5], by="group")
    for rate in ("frr_group", "far_group"):
        with noticed("two"):
            band = fk.band(tree, rate).isel(threshold_level=0)
        assert np.isnan(band.upper.sel(group="alone").item())
        assert band.upper.sel(group="two").item() > band.upper.sel(group="many").item()


@pytest.mark.parametrize("size", [10, 20])
def test_without_an_accept_two_people_of_a_group_are_one_comparison(size):
    group = np.repeat(["a", "b"], [size, 40])
    pairs = listed(np.zeros(size + 40, int), 10, 0, group)
    evaluation = fk.evaluate(pairs, threshold=[0.5], by="group", weighting="identity")
    n = fk.band(evaluation, "far_group").n_effective.sel(group="a").item()
    pairs_of_people = size * (size - 1) / 2
    assert 0.94 * pairs_of_people < n < pairs_of_people  # by Student's in place of the normal law
