"""Tests of equal groups, disparity intervals, floors and contrasts, by hand on few people."""

from itertools import product

import numpy as np
import pytest
from refusals import noticed
from scipy import stats

import frkit as fk
from frkit.evaluation.borrowing import pooled_far, pooled_frr
from frkit.intervals.equality import equal_groups
from frkit.intervals.pooled import (
    Groups,
    compatible_rates,
    contrasts,
    p_of_equality,
)

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
T = 0.5
# group, rejected and genuine pairs of each person
FIVE = [("a", 1, 3), ("a", 0, 3), ("a", 2, 4), ("b", 2, 6), ("b", 1, 1)]
SIX = [("a", 1, 3), ("a", 0, 3), ("a", 2, 3), ("b", 2, 3), ("b", 3, 3), ("b", 1, 3)]


def listed(people, accepted=((0, 1), (3, 4)), nameless=False, names=None):
    """Pairs of these people; of the pairs of two people of one group some are accepted."""
    rows = []
    names = names or range(len(people))
    for person, (group, rejected, pairs) in zip(names, people):
        rows += [(person, person, group, 0.0 if k < rejected else 1.0) for k in range(pairs)]
    for first, (group, *_) in enumerate(people):
        for second in range(first + 1, len(people)):
            if people[second][0] == group:
                score = 1.0 if (first, second) in accepted else 0.0
                rows.append((names[first], names[second], group, score))
    probe, reference, group, score = zip(*rows)
    names = {"probe_identity": np.array(probe), "reference_identity": np.array(reference)}
    if nameless:
        names = {"genuine": np.equal(probe, reference)}
    return fk.pairs(np.array(score), **names, group=np.array(group))


def evaluated(people, weighting="pair", **options):
    return fk.evaluate(listed(people, **options), threshold=[T], by="group", weighting=weighting)


# --- by hand --------------------------------------------------------------------------------------


def frr_by_hand(people, weights):
    """Rates of the groups, their effective numbers if they are equal, and degrees of freedom."""
    groups = []
    for name in sorted({group for group, *_ in people}):
        mine = [place for place, (group, *_) in enumerate(people) if group == name]
        total = sum(weights[place] for place in mine)
        rates_of_people = [
            (weights[place] / total, people[place][1] / people[place][2], people[place][2])
            for place in mine
        ]
        rate = sum(w * r for w, r, _ in rates_of_people)
        own_variance = sum(w**2 * (r - rate) ** 2 / (1 - w) for w, r, _ in rates_of_people)
        groups.append((rate, own_variance, rates_of_people))

    def variance(rates_of_people, rho):
        return sum(w**2 * (rho + (1 - rho) / m) for w, _, m in rates_of_people)

    def own_over_pooled(rho):
        n = [1 / variance(rates_of_people, rho) for *_, rates_of_people in groups]
        p0 = np.average([rate for rate, *_ in groups], weights=n)
        ratios = [own_variance * n / (p0 * (1 - p0)) for n, (_, own_variance, _) in zip(n, groups)]
        sizes = [len(rates_of_people) for *_, rates_of_people in groups]
        return np.average(ratios, weights=sizes)

    rho, above = 0.0, 1.0  # bisection
    for _ in range(60):
        middle = (rho + above) / 2
        rho, above = (middle, above) if own_over_pooled(middle) > 1 else (rho, middle)
    numbers = [1 / variance(rates_of_people, rho) for *_, rates_of_people in groups]
    parts = [
        len(rates_of_people) * n * w**2 * (rho + (1 - rho) / m)
        for n, (*_, rates_of_people) in zip(numbers, groups)
        for w, _, m in rates_of_people
    ]
    df = sum(parts) ** 2 / sum(part**2 for part in parts) - len(groups)
    return np.array([rate for rate, *_ in groups]), np.array(numbers), df


def p_by_hand(rates, numbers, df):
    """The test of equality: X² / (G - 1) has an F distribution."""
    p0 = sum(rates * numbers) / sum(numbers)
    square = sum(numbers * (rates - p0) ** 2) / (p0 * (1 - p0))
    groups = len(rates)
    return stats.f.sf(square / (groups - 1), groups - 1, df)


@pytest.mark.parametrize("weighting", ["pair", "identity"])
def test_frr_of_five_people_by_hand(weighting):
    weights = [pairs if weighting == "pair" else 1 for _, _, pairs in FIVE]
    rates, numbers, df = frr_by_hand(FIVE, weights)
    band = fk.band(evaluated(FIVE, weighting), "frr_max_difference").isel(threshold_level=0)
    assert float(band.estimate) == pytest.approx(np.ptp(rates))
    assert float(band.n_effective) == pytest.approx(sum(numbers))
    assert float(band.p) == pytest.approx(p_by_hand(rates, numbers, df))


def test_people_with_equal_weights_make_an_analysis_of_variance():
    rates_of_people = [
        [rejected / pairs for g, rejected, pairs in SIX if g == name] for name in "ab"
    ]
    expected = stats.f_oneway(*rates_of_people).pvalue
    band = fk.band(evaluated(SIX), "frr_max_min")
    assert band.p.item() == pytest.approx(expected)


@pytest.mark.slow
def test_few_people_with_most_of_the_pairs_do_not_decide():
    """Equal groups of 20 people with 45 pairs and of 80 with 3, pairs counted alike."""
    rng = np.random.default_rng(1)
    pairs = np.repeat([45, 3], [20, 80])
    in_group = np.repeat([[1, 0], [0, 1]], [20, 80], axis=1)
    weight = in_group * pairs
    called = []
    for _ in range(500):
        frr = rng.beta(0.06 * 7 / 3, 0.94 * 7 / 3, 100)  # 0.3 of the variance is people's own
        rate = rng.binomial(pairs, frr) / pairs
        pooled = pooled_frr(in_group * rate, in_group * pairs, weight)
        rate_of_groups = (weight * rate).sum(1) / weight.sum(1)
        called.append(p_of_equality(Groups(rate_of_groups, pooled.n, pooled.df)) < 0.05)
    assert 0.02 < np.mean(called) < 0.08


def p_of_far_by_hand(rates, n):
    """X² has a chi-square distribution."""
    p0 = sum(n * rates) / sum(n)
    square = sum(n * (rates - p0) ** 2) / (p0 * (1 - p0))
    return stats.chi2.sf(square, len(rates) - 1)


def own_far_by_hand(a):
    """The variance of a group's FAR by its own people, and how many people make it."""
    k = len(a)
    cells = a[np.triu_indices(k, 1)]
    rate, u = cells.mean(), len(cells)
    noise = sum((cells - rate) ** 2) / u**2
    added = (a.sum(1) - (k - 1) * rate) / u * np.sqrt(k / (k - 1))
    return max(sum(added**2) - noise, noise), sum(added**2) ** 2 / sum(added**4)


def test_far_of_five_people_by_hand():
    """An analysis of variance of all pairs of five and of six people (Griffing 1956, method 4)."""
    faces = fk.vmf.mixture(11, 8, kappa=(5, 20), seed=4).sample(3, seed=5)
    who = np.unique(faces.identity.values, return_inverse=True)[1]
    group = np.array(["a", "b"])[(who >= 5).astype(int)]
    scores = fk.score_tensor(fk.faces(faces.embedding.values, who, group=group))
    threshold = 0.2
    accepted = scores.values > threshold
    numbers = []
    own = []
    for people in (range(5), range(5, 11)):
        k = len(people)
        a = np.zeros((11, 11))
        for i, j in product(people, people):
            a[i, j] = accepted[np.ix_(who == i, who == j)].mean() if i != j else 0
        cells = [a[i, j] for i in people for j in people if j < i]
        rate, u = np.mean(cells), len(cells)
        squares = sum((cell - rate) ** 2 for cell in cells)
        of_people = sum((sum(a[i]) - (k - 1) * rate) ** 2 for i in people) / (k - 2)
        of_pairs = (squares - of_people) / (k * (k - 3) / 2)
        variance_of_people = (of_people / (k - 1) - of_pairs) / (k - 2)
        weight = u * (k - 2) ** 2 * (k - 3) / (k - 1) ** 3
        square = rate**2 - 4 * variance_of_people / k - of_pairs / u
        numbers.append((rate, k, u, weight, 4 * variance_of_people, square, squares / u))
        own.append(own_far_by_hand(np.array([a[i, people] for i in people])))
    rate, k, u, weight, people_variance, square, noise = np.transpose(numbers)
    p0 = sum(rate * u) / sum(u)
    c = sum(weight * people_variance) / max(sum(weight * square), sum(weight) * p0**2)
    shared = (k - 2) / (2 * k) * c * p0 * rate  # of people, in the mean square of pairs
    of_single_pairs = sum(u * (noise - shared) / (1 - rate)) / sum((u - 1) * rate)
    m = max(of_single_pairs, 1 / 9)
    n = 1 / (p0 / (1 - p0) * c / k + m / u)
    assert c > 0 and m > 1 / 9
    evaluation = fk.evaluate(scores, threshold=[threshold], by="group")
    band = fk.band(evaluation, "far_max_min").isel(threshold_level=0)
    assert float(band.estimate) == pytest.approx(rate.max() / rate.min())
    assert float(band.n_effective) == pytest.approx(sum(n), rel=1e-5)
    assert float(band.p) == pytest.approx(p_of_far_by_hand(rate, n), rel=1e-4)
    rates = fk.band(evaluation, "far_group").isel(threshold_level=0)
    diagonal = fk.band(evaluation, "far_cross").isel(threshold_level=0)
    for g, (own_variance, people_who_vary) in enumerate(own):
        binomial = rate[g] * (1 - rate[g])
        borrowed = 4 * binomial / n[g] + (people_who_vary - 1) * own_variance
        number = min(binomial * (people_who_vary + 3) / borrowed, 9 * u[g])
        df = min(people_who_vary + 3, k[g] - 1)
        number *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, df)) ** 2
        errors = rate[g] * number
        ends = stats.beta.ppf([0.025, 0.975], errors + 0.5, number - errors + 0.5)
        assert rates.n_effective[g].item() == pytest.approx(number, rel=1e-5)
        for band in (rates.isel(group=g), diagonal.isel(group=g, reference_group=g)):
            np.testing.assert_allclose([band.lower.item(), band.upper.item()], ends, rtol=1e-5)


def test_a_group_with_fewer_images_is_worth_less():
    """As many people in both groups, with 3 and with 12 images each."""
    group = np.repeat(["few", "many"], 30)
    faces = fk.vmf.mixture(60, 16, kappa=(5, 25), seed=3).sample(12, seed=3)
    who = np.unique(faces.identity.values, return_inverse=True)[1]
    kept = (group[who] == "many") | (np.arange(len(who)) % 12 < 3)
    faces = fk.faces(faces.embedding.values[kept], who[kept], group=group[who[kept]])
    tree = fk.evaluate(fk.score_tensor(faces), threshold=[0.4], by="group")
    n = {
        name: equal_groups(tree, name, "new people").n_effective.squeeze()
        for name in ("far_group", "frr_group", "eer_group")
    }
    for name in n:
        assert float(n[name].sel(group="few")) < float(n[name].sel(group="many")), name


MANY = [("abc"[k % 3], (k * 7 + k // 5) % (3 + k % 3), 4 + k % 4) for k in range(36)]
DISPARITIES = {
    "frr_max_min": lambda r: max(r) / min(r),
    "frr_gini": lambda r: sum(abs(a - b) for a in r for b in r) / 4 / sum(r),
    "frr_max_difference": lambda r: max(r) - min(r),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_people"), [*((name, 36) for name in DISPARITIES), ("frr_max_min", 12)]
)
def test_a_disparity_runs_over_the_rates_that_the_test_accepts(name, n_people):
    """A grid of λ, and of levels where the measure changes with them, one place at a time."""
    measure = DISPARITIES[name]
    people = MANY[:n_people]
    band = fk.band(evaluated(people), name).isel(threshold_level=0)
    rates, numbers, df = frr_by_hand(people, [pairs for *_, pairs in people])
    limit = 2 * stats.f.ppf(0.95, 2, df)
    d = np.log(rates) - np.log(rates).mean()
    accepted = []
    for position in np.linspace(-20, 20, 3201):
        line = np.exp(position * d)
        line *= sum(rates * numbers) / sum(line * numbers)
        for level in np.geomspace(0.5, 2, 41) if "difference" in name else [1.0]:
            truth = np.minimum(level * line, 1 - 1e-9)
            square = sum(numbers * (rates - truth) ** 2 / (truth * (1 - truth)))
            if square <= limit:
                accepted.append(measure(truth))
    width = max(accepted) - min(accepted)
    assert float(band.lower) == pytest.approx(min(accepted), abs=0.015 * width)
    assert float(band.upper) == pytest.approx(max(accepted), abs=0.015 * width)


def test_a_floor_shows_binomial_draws_of_equal_rates():
    rates, numbers, df = frr_by_hand(MANY, [pairs for *_, pairs in MANY])
    common = sum(rates * numbers) / sum(numbers)
    trials = numbers.round().astype(int)
    drawn = np.random.default_rng(1).binomial(trials, common, (20_000, 3)) / trials
    differences = drawn.max(1) - drawn.min(1)
    floor = fk.fair_floor(evaluated(MANY), "frr_max_difference").isel(threshold_level=0)
    assert float(floor["median"]) == pytest.approx(np.median(differences), rel=0.1)
    lowest, highest = np.quantile(differences, [0.935, 0.965])  # of a thousand draws
    assert lowest <= float(floor.limit) <= highest
    assert float(floor.p) == pytest.approx(p_by_hand(rates, numbers, df))


# --- who takes part -------------------------------------------------------------------------------


def renamed(people, names):
    return [(names[group], *numbers) for group, *numbers in people]


def faces_of(groups, seed=3):
    faces = fk.vmf.mixture(len(groups), 16, kappa=(5, 25), seed=seed).sample(5, seed=seed)
    who = np.unique(faces.identity.values, return_inverse=True)[1]
    return fk.faces(faces.embedding.values, who, group=np.array(list(groups))[who])


@pytest.mark.slow
def test_names_of_groups_and_their_order_do_not_matter():
    groups = "aaaaaaaaabbbbbbbccccccccccc"
    results = []
    for names in ("abc", "cab", "bca"):
        faces = faces_of([names["abc".index(group)] for group in groups])
        tree = fk.evaluate(fk.score_tensor(faces), far=[0.05], by="group")
        values = []
        for measure in ("frr_max_min", "far_gini", "eer_spread", "fdr", "frr_max_difference"):
            band, floor = fk.band(tree, measure), fk.fair_floor(tree, measure)
            values += [band.lower.item(), band.upper.item(), band.p.item(), floor.limit.item()]
        values += [fk.compare(tree, "frr_group", groups="all").p.sum().item()]
        results.append(values)
    np.testing.assert_allclose(results[1:], [results[0]] * 2, rtol=1e-9)


@pytest.mark.slow
def test_a_group_of_one_person_is_left_out_and_named():
    groups = "a" * 12 + "b" * 12
    alone = fk.evaluate(fk.score_tensor(faces_of(groups)), threshold=[0.3], by="group")
    faces = faces_of(groups + "d")  # the same people, and one more
    same = np.flatnonzero(faces["group"].values != "d")
    without_it = fk.evaluate(fk.score_tensor(faces.isel(image=same)), threshold=[0.3], by="group")
    tree = fk.evaluate(fk.score_tensor(faces), threshold=[0.3], by="group")
    assert alone["empirical"].sizes["group"] == 2
    for name in ("far_max_min", "frr_max_difference", "garbe"):
        with noticed("d"):
            band = fk.band(tree, name)
        expected = fk.band(without_it, name)
        for number in ("estimate", "lower", "upper", "p"):
            np.testing.assert_allclose(band[number], expected[number], rtol=1e-6)
        assert band.attrs["left_out"] == ["d"]
        np.testing.assert_allclose(fk.fair_floor(tree, name).p, expected.p, rtol=1e-6)
    contrasts = fk.compare(tree, "far_group", groups="all").isel(threshold_level=0)
    assert np.isnan(contrasts.p.values[contrasts.b.values == "d"]).all()
    np.testing.assert_allclose(
        contrasts.p.values[contrasts.b.values == "b"], band_p(without_it), rtol=1e-6
    )


def band_p(tree):
    return fk.band(tree, "far_max_min").p.values


def test_nobody_is_tested_where_nobody_is_known():
    tree = evaluated(SIX, nameless=True)
    band = fk.band(tree, "frr_max_min")
    assert np.isnan(band.p.item())
    assert "no identities" in band.attrs["warning"]
    assert np.isnan(fk.fair_floor(tree, "frr_max_min").p.item())
    assert np.isnan(fk.compare(tree, "frr_group", groups=("a", "b")).p.item())
    with noticed("identities"):
        fk.band(evaluated(SIX, nameless=True), "frr_max_min")
    assert "warning" not in fk.band(evaluated(SIX), "frr_max_min").attrs


def test_without_an_error_there_is_no_p_value():
    tree = evaluated([(group, 0, pairs) for group, _, pairs in SIX])
    assert np.isnan(fk.band(tree, "frr_max_difference").p.item())


# --- contrasts ------------------------------------------------------------------------------------


def test_two_groups_have_the_test_and_interval_of_their_disparity():
    tree = evaluated(SIX)
    contrast = fk.compare(tree, "frr_group", groups=("b", "a")).isel(threshold_level=0)
    difference = fk.band(tree, "frr_max_difference").isel(threshold_level=0)
    ratio = fk.band(tree, "frr_max_min").isel(threshold_level=0)
    assert float(contrast.p) == pytest.approx(float(difference.p))
    assert float(contrast.estimate) == pytest.approx(float(difference.estimate))
    assert float(contrast.upper) == pytest.approx(float(difference.upper), rel=0.01)
    assert float(contrast["ratio"]) == pytest.approx(float(ratio.estimate))
    assert float(contrast.ratio_upper) == pytest.approx(float(ratio.upper), rel=0.01)
    back = fk.compare(tree, "frr_group", groups=("a", "b")).isel(threshold_level=0)
    assert float(back.ratio_lower) == pytest.approx(1 / float(contrast.ratio_upper), rel=0.01)


def test_contrasts_pool_the_people_of_all_groups_and_are_adjusted_by_holm():
    rates, numbers, df = frr_by_hand(MANY, [pairs for *_, pairs in MANY])
    tree = evaluated(MANY)
    contrasts = fk.compare(tree, "frr_group", groups="all").isel(threshold_level=0)
    expected = [p_by_hand(rates[[i, j]], numbers[[i, j]], df) for i, j in [(0, 1), (0, 2), (1, 2)]]
    np.testing.assert_allclose(contrasts.p, expected, rtol=1e-6)
    order = np.argsort(expected)
    steps = [min(1, (3 - place) * expected[which]) for place, which in enumerate(order)]
    np.testing.assert_allclose(contrasts.p_holm.values[order], np.maximum.accumulate(steps))
    rest = fk.compare(tree, "frr_group", groups="rest").isel(threshold_level=0)
    others = sum(rates[1:] * numbers[1:]) / sum(numbers[1:])
    two = np.array([rates[0], others]), np.array([numbers[0], sum(numbers[1:])])
    assert rest.a.values.tolist() == ["a", "b", "c"]
    assert float(rest.p[0]) == pytest.approx(p_by_hand(*two, df))


def test_of_two_groups_each_is_the_rest_of_the_other_and_is_tested_once():
    tree = evaluated([person for person in MANY if person[0] != "c"])
    rest, pair = (fk.compare(tree, "frr_group", groups=which) for which in ("rest", ("a", "b")))
    np.testing.assert_allclose(rest.p_holm.squeeze("contrast"), pair.p)


def test_a_ratio_to_a_group_without_an_error_has_a_lower_end_only():
    people = [("a", 2, 4)] * 8 + [("b", 0, 4)] * 8
    people[0] = ("a", 1, 4)
    contrast = fk.compare(evaluated(people), "frr_group", groups=("a", "b")).isel(threshold_level=0)
    assert np.isinf(contrast["ratio"]) and np.isinf(contrast.ratio_upper)
    assert 1 < float(contrast.ratio_lower) < np.inf
    assert float(contrast.p) < 0.001


# --- people who stand in several groups -----------------------------------------------------------


def test_groups_are_not_tested_where_people_stand_in_several_of_them():
    faces = fk.vmf.mixture(30, 16, kappa=(5, 25), seed=3).sample(8, seed=3)
    light = np.where(np.arange(240) % 2, "dark", "light")
    faces = fk.faces(faces.embedding.values, faces.identity.values, light=light)
    tree = fk.evaluate(fk.score_tensor(faces), far=[0.05], by="light", varying="split")
    for measure in ("frr_max_difference", "far_max_min"):
        with noticed("5 %", "people"):
            band = fk.band(tree, measure)
        assert np.isnan(band.p.item())
        assert band.lower.item() <= band.estimate.item() < band.upper.item()
    assert np.isnan(fk.compare(tree, "frr_group", groups=("dark", "light")).p.item())


def test_eers_of_groups_have_contrasts_and_no_common_test():
    tree = fk.evaluate(fk.score_tensor(faces_of("a" * 15 + "b" * 15)), far=[0.1], by="group")
    with noticed("EERs"):
        band = fk.band(tree, "eer_spread")
    assert np.isnan(band.p.item())
    rates = fk.band(tree, "eer_group")
    contrast = fk.compare(tree, "eer_group", groups=("a", "b"))
    n = rates.n_effective.values
    assert contrast.p.item() == pytest.approx(p_of_far_by_hand(rates.estimate.values, n))


def test_fars_between_groups_are_compared_with_the_numbers_of_their_intervals():
    """Of a and b with c, at a fixed threshold; a with a has the number of the group a."""
    scores = fk.score_tensor(faces_of("a" * 12 + "b" * 15 + "c" * 10))
    tree = fk.evaluate(scores, threshold=[0.3], by="group")
    rates = fk.band(tree, "far_cross").isel(threshold_level=0)
    contrasts = fk.compare(tree, "far_cross", groups=("a", "b")).isel(threshold_level=0)
    for reference in "abc":
        both = rates.sel(group=["a", "b"], reference_group=reference)
        expected = p_of_far_by_hand(both.estimate.values, both.n_effective.values)
        contrast = contrasts.sel(reference_group=reference)
        assert contrast.p.item() == pytest.approx(expected), reference


def test_hardly_more_people_than_groups_are_not_tested():
    """One person has most of the pairs of both groups: less than one degree of freedom."""
    people = [("a", 30, 90), ("a", 0, 1), ("b", 1, 90), ("b", 1, 1)]
    tree = evaluated(people)
    assert frr_by_hand(people, [90, 1, 90, 1])[2] < 1
    with noticed("people", "groups"):
        band = fk.band(tree, "frr_max_difference")
    assert np.isnan(band.p.item())


def far_of_groups(rng, sizes, spread, far=0.01):
    """What `pooled_far` reads of groups whose people differ, compared once with each other."""
    numbers = []
    for k in sizes:
        likeness = rng.lognormal(-(spread**2) / 2, spread, k)
        accepted = np.triu(rng.random((k, k)) < far * np.outer(likeness, likeness), 1)
        accepted = accepted + accepted.T
        pairs = k * (k - 1) / 2
        rate = accepted.sum() / 2 / pairs
        added = (accepted.sum(1) - (k - 1) * rate) / pairs * np.sqrt(k / (k - 1))
        numbers.append((rate, (added**2).sum(), rate * (1 - rate) / pairs, k, pairs, pairs))
    return np.transpose(numbers)


def test_the_variance_of_the_far_of_six_people_is_without_bias():
    """Fifty groups at a time: the variance of their FARs, and what their people say it is."""
    rng = np.random.default_rng(9)
    rates, variances = [], []
    for _ in range(40):
        rate, *others = far_of_groups(rng, [6] * 50, 0.7, 0.1)
        n = pooled_far(rate, *others).n
        rates.append(rate)
        variances.append(np.mean(rate) * (1 - np.mean(rate)) / n[0])
    assert np.mean(variances) == pytest.approx(np.var(rates), rel=0.1)


def test_equal_fars_of_small_groups_of_people_who_differ_are_seldom_called_different():
    """Eight groups of 25; 17 of 200 or more has probability .03 at size .05."""
    rng = np.random.default_rng(7)
    called = 0
    for _ in range(200):
        rate, *others = far_of_groups(rng, [25] * 8, 0.8)
        with np.errstate(invalid="ignore"):  # of groups without an error
            n = pooled_far(rate, *others).n
        called += p_of_equality(Groups(rate, n, np.inf)) < 0.05
    assert called <= 16


def test_a_small_group_beside_a_large_one_has_an_interval_that_covers():
    """The FAR of 30 people is twice that of 200: at .95, 180 of 200 has probability .002."""
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(200):
        small, large = far_of_groups(rng, [30], 0.7, 0.02), far_of_groups(rng, [200], 0.7)
        rate, *others = np.hstack([small, large])
        groups = Groups(rate, pooled_far(rate, *others).n, np.inf)
        rates = compatible_rates(groups, level=0.95, free_level=False)
        ratio = rates.max(1) / rates.min(1)
        covered += ratio.min() <= 2 <= ratio.max()
    assert covered > 180


@pytest.mark.slow
def test_two_of_six_groups_with_a_higher_far_are_seldom_called_different():
    """Their people vary as much, in units of the FAR, as those of all.

    The number of all groups' people is for the common FAR. 29 of 200 has probability .03 at .1.
    """
    rng = np.random.default_rng(10)
    called = 0
    for _ in range(200):
        groups = [far_of_groups(rng, [40] * 4, 0.8, 0.005), far_of_groups(rng, [40] * 2, 0.8, 0.03)]
        rate, *others = np.hstack(groups)
        pair = np.eye(6)[4:]
        all_groups = Groups(rate, pooled_far(rate, *others).n, np.inf)
        [values] = contrasts(all_groups, weights=pair[None], level=0.95)
        called += values[3] < 0.05
    assert called <= 28


def test_a_contrast_of_two_fars_has_the_test_of_two_groups():
    groups = Groups(np.array([0.02, 0.01]), np.array([400.0, 900.0]), np.inf)
    [values] = contrasts(groups, weights=np.eye(2)[None], level=0.95)
    p = values[3]
    assert p == pytest.approx(p_of_equality(groups))
