"""Tests of equal groups, disparity intervals, floors and contrasts, by hand on few people."""

from itertools import product

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import frkit as fk
from frkit.evaluation.borrowing import pooled_far, pooled_frr
from frkit.intervals.contributions import contributions
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
    """Rates of the groups and their effective numbers if they are equal; person by person."""
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
    return np.array([rate for rate, *_ in groups]), np.array(numbers)


def p_by_hand(rates, numbers, people):
    """The test of equality: X² / (G - 1) has an F distribution."""
    p0 = sum(rates * numbers) / sum(numbers)
    square = sum(numbers * (rates - p0) ** 2) / (p0 * (1 - p0))
    groups = len(rates)
    return stats.f.sf(square / (groups - 1), groups - 1, people - groups)


@pytest.mark.parametrize("weighting", ["pair", "identity"])
def test_frr_of_five_people_by_hand(weighting):
    weights = [pairs if weighting == "pair" else 1 for _, _, pairs in FIVE]
    rates, numbers = frr_by_hand(FIVE, weights)
    band = fk.band(evaluated(FIVE, weighting), "frr_max_difference").isel(threshold_level=0)
    assert float(band.estimate) == pytest.approx(np.ptp(rates))
    assert float(band.n_effective) == pytest.approx(sum(numbers))
    assert float(band.p) == pytest.approx(p_by_hand(rates, numbers, 5))


def test_people_with_equal_weights_make_an_analysis_of_variance():
    rates_of_people = [
        [rejected / pairs for g, rejected, pairs in SIX if g == name] for name in "ab"
    ]
    expected = stats.f_oneway(*rates_of_people).pvalue
    band = fk.band(evaluated(SIX), "frr_max_min")
    assert band.p.item() == pytest.approx(expected)


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
        n = pooled_frr(in_group * rate, in_group * pairs, weight)
        rate_of_groups = (weight * rate).sum(1) / weight.sum(1)
        groups = Groups(rate_of_groups, n, 100, np.eye(2), 0 * n, 1 / n)
        called.append(p_of_equality(groups) < 0.05)
    assert 0.02 < np.mean(called) < 0.08


def deviance_by_hand(rate, p0, a, b):
    """2 ∫ (r - u) / V(u) du from p0 to r, with V(u) = A u² + B u (1 - u)."""
    return 2 * integrate.quad(lambda u: (rate - u) / (a * u**2 + b * u * (1 - u)), p0, rate)[0]


def p_of_far_by_hand(rates, people_variance, pairs_variance, p0, n):
    """X² is chi-square, or gamma with the moments that negative binomial errors have."""
    square, mean, variance = 0.0, 0.0, 2 * (len(rates) - 1)
    for rate, a, b, number in zip(rates, people_variance, pairs_variance, n):
        square += deviance_by_hand(rate, p0, a, b)
        errors = range(200)
        chance = stats.nbinom.pmf(errors, 1 / a, 1 / (1 + a * p0 / b))
        deviance = np.array([deviance_by_hand(min(k * b, 1), p0, a, b) for k in errors])
        mean_of_group = sum(chance * deviance)
        mean += (1 - number / sum(n)) * mean_of_group
        excess = sum(chance * (deviance - mean_of_group) ** 2) - 2
        variance += (1 - number / sum(n)) ** 2 * excess
    gamma = stats.gamma(mean**2 / variance, scale=variance / mean)
    return max(gamma.sf(square), stats.chi2.sf(square, len(rates) - 1))


def own_far_by_hand(a, comparisons):
    """A and B of the variance by the people of a group, and how many people and pairs err."""
    k = len(a)
    cells = a[np.triu_indices(k, 1)]
    rate, u = cells.mean(), len(cells)
    noise = sum((cells - rate) ** 2) / u**2
    added = (a.sum(1) - (k - 1) * rate) / u * np.sqrt(k / (k - 1))
    variance = max(sum(added**2) - noise, noise)
    b = max(noise / (rate * (1 - rate)), 1 / comparisons)
    errors = a.sum(1)
    people_who_err = sum(errors) ** 2 / sum(errors**2)
    return (variance - noise) / rate**2, b, people_who_err, sum(cells) ** 2 / sum(cells**2)


def far_limit_by_hand(rate, a, b, q):
    """The quantile of Jeffreys' posterior: errors in units of b, negative binomial if a > b."""
    if a > b:
        return b / (a - b) * stats.betaprime.ppf(q, rate / b + 0.5, 1 / (a - b))
    n = 1 / (b - a)
    return b * n * stats.beta.ppf(q, rate / b + 0.5, n - rate / b + 0.5)


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
        own.append(own_far_by_hand(np.array([a[i, people] for i in people]), 9 * u))
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
    common = sum(n * rate) / sum(n)
    expected = p_of_far_by_hand(rate, c / k, m / u, common, n)
    assert float(band.p) == pytest.approx(expected, rel=1e-4)
    rates = fk.band(evaluation, "far_group").isel(threshold_level=0)
    diagonal = fk.band(evaluation, "far_cross").isel(threshold_level=0)
    for g, (own_a, own_b, people_who_err, pairs_that_err) in enumerate(own):
        weight = 4 / (people_who_err + 4)
        a = weight * c / k[g] + (1 - weight) * own_a
        b = weight * m / u[g] + (1 - weight) * own_b
        n = 1 / (a * rate[g] / (1 - rate[g]) + b)
        wider = min(u[g] / n, 1) ** (2 / (pairs_that_err + 2))
        wider *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, k[g] - 1)) ** 2
        expected = [far_limit_by_hand(rate[g], a / wider, b / wider, q) for q in (0.025, 0.975)]
        assert rates.n_effective[g].item() == pytest.approx(n * wider, rel=1e-5)
        for band in (rates.isel(group=g), diagonal.isel(group=g, reference_group=g)):
            assert [band.lower.item(), band.upper.item()] == pytest.approx(expected, rel=1e-5)


def test_eers_are_equal_where_frr_and_far_of_each_group_are_one_number():
    """X² of FRR - p at each group's own threshold of FAR p; with the FAR's variance there."""
    faces = faces_of("a" * 15 + "b" * 15)  # ten genuine pairs each
    tree = fk.evaluate(fk.score_tensor(faces), far=[0.1], by="group")
    scores = faces.embedding.values @ faces.embedding.values.T
    who = np.unique(faces.identity.values, return_inverse=True)[1]
    thresholds = tree["people/threshold"].curve_threshold.values
    upper = np.triu(np.ones((75, 75), bool), 1)
    curves, rates_of_people, far_variance = [], [], []
    eer_of_all = tree["empirical"].eer_threshold.item()
    for group, name in enumerate("ab"):
        mine = np.flatnonzero(faces["group"].values == name)
        own_scores = scores[np.ix_(mine, mine)]
        same = who[mine][:, None] == who[mine]
        far = np.array([(own_scores[upper & ~same] > t).mean() for t in thresholds])
        frr = np.array([(own_scores[upper & same] <= t).mean() for t in thresholds])
        curves.append((np.log(np.maximum(far, 1e-300)), frr))
        crossing = tree["empirical"].eer_threshold_group.values[group]
        people = [np.flatnonzero(who[mine] == person) for person in np.unique(who[mine])]
        rates_of_people += [
            (own_scores[np.ix_(k, k)] <= eer_of_all)[upper[:5, :5]].mean() for k in people
        ]
        accepted = np.array(
            [[(own_scores[np.ix_(k, m)] > crossing).mean() for m in people] for k in people]
        )
        cells = accepted[np.triu_indices(15, 1)]
        beyond = (accepted - cells.mean()) * (1 - np.eye(15))
        noise = np.sum((cells - cells.mean()) ** 2) / 105**2
        squares = np.sum((beyond.sum(1) / 105) ** 2) * 15 / 14
        far_variance.append(max(squares - noise, noise))

    def excess(p):
        return np.array([np.interp(np.log(p), *curve) for curve in curves]) - p

    p0 = optimize.brentq(lambda p: excess(p).sum(), 1e-4, 0.9)
    mean = np.mean(rates_of_people)
    variances = [np.var(rates_of_people[:15], ddof=1), np.var(rates_of_people[15:], ddof=1)]
    spread = np.mean(variances) / (mean * (1 - mean))
    rho = max((spread - 1 / 10) / (1 - 1 / 10), 0)
    frr_variance = (rho + (1 - rho) / 10) / 15
    w = contributions(tree, "eer_group", "new people").share_of_frr.values.mean()
    eer = tree["empirical"].eer_group.values.mean()
    far_share = np.mean(far_variance) / (eer * (1 - eer))
    numbers = np.full(2, 1 / (frr_variance + ((1 - w) / w) ** 2 * far_share))
    expected = p_by_hand(p0 + excess(p0), numbers, 30)
    band = fk.band(tree, "eer_spread")
    assert band.p.item() == pytest.approx(expected, rel=0.02)
    assert band.n_effective.item() == pytest.approx(sum(numbers) / w**2, rel=0.01)


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


@pytest.mark.parametrize(
    ("name", "n_people"), [*((name, 36) for name in DISPARITIES), ("frr_max_min", 12)]
)
def test_a_disparity_runs_over_the_rates_that_the_test_accepts(name, n_people):
    """A grid of λ, and of levels where the measure changes with them, one place at a time."""
    measure = DISPARITIES[name]
    people = MANY[:n_people]
    band = fk.band(evaluated(people), name).isel(threshold_level=0)
    rates, numbers = frr_by_hand(people, [pairs for *_, pairs in people])
    limit = 2 * stats.f.ppf(0.95, 2, n_people - 3)
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
    rates, numbers = frr_by_hand(MANY, [pairs for *_, pairs in MANY])
    common = sum(rates * numbers) / sum(numbers)
    trials = numbers.round().astype(int)
    drawn = np.random.default_rng(1).binomial(trials, common, (20_000, 3)) / trials
    differences = drawn.max(1) - drawn.min(1)
    floor = fk.fair_floor(evaluated(MANY), "frr_max_difference").isel(threshold_level=0)
    assert float(floor["median"]) == pytest.approx(np.median(differences), rel=0.1)
    lowest, highest = np.quantile(differences, [0.935, 0.965])  # of a thousand draws
    assert lowest <= float(floor.limit) <= highest
    assert float(floor.p) == pytest.approx(p_by_hand(rates, numbers, 36))


# --- who takes part -------------------------------------------------------------------------------


def renamed(people, names):
    return [(names[group], *numbers) for group, *numbers in people]


def faces_of(groups, seed=3):
    faces = fk.vmf.mixture(len(groups), 16, kappa=(5, 25), seed=seed).sample(5, seed=seed)
    who = np.unique(faces.identity.values, return_inverse=True)[1]
    return fk.faces(faces.embedding.values, who, group=np.array(list(groups))[who])


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


def test_a_group_of_one_person_is_left_out_and_named():
    groups = "a" * 12 + "b" * 12
    alone = fk.evaluate(fk.score_tensor(faces_of(groups)), threshold=[0.3], by="group")
    faces = faces_of(groups + "d")  # the same people, and one more
    same = np.flatnonzero(faces["group"].values != "d")
    without_it = fk.evaluate(fk.score_tensor(faces.isel(image=same)), threshold=[0.3], by="group")
    tree = fk.evaluate(fk.score_tensor(faces), threshold=[0.3], by="group")
    assert alone["empirical"].sizes["group"] == 2
    for name in ("far_max_min", "frr_max_difference", "garbe"):
        with pytest.warns(fk.DataWarning, match="without 'd'.*two of its people"):
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
    with pytest.warns(fk.DataWarning, match="no p-value of groups"):
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
    rates, numbers = frr_by_hand(MANY, [pairs for *_, pairs in MANY])
    tree = evaluated(MANY)
    contrasts = fk.compare(tree, "frr_group", groups="all").isel(threshold_level=0)
    expected = [p_by_hand(rates[[i, j]], numbers[[i, j]], 36) for i, j in [(0, 1), (0, 2), (1, 2)]]
    np.testing.assert_allclose(contrasts.p, expected, rtol=1e-6)
    order = np.argsort(expected)
    steps = [min(1, (3 - place) * expected[which]) for place, which in enumerate(order)]
    np.testing.assert_allclose(contrasts.p_holm.values[order], np.maximum.accumulate(steps))
    rest = fk.compare(tree, "frr_group", groups="rest").isel(threshold_level=0)
    others = sum(rates[1:] * numbers[1:]) / sum(numbers[1:])
    two = np.array([rates[0], others]), np.array([numbers[0], sum(numbers[1:])])
    assert rest.a.values.tolist() == ["a", "b", "c"]
    assert float(rest.p[0]) == pytest.approx(p_by_hand(*two, 36))


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


def test_eers_are_not_tested_where_people_stand_in_several_groups():
    faces = fk.vmf.mixture(30, 16, kappa=(5, 25), seed=3).sample(8, seed=3)
    light = np.where(np.arange(240) % 2, "dark", "light")
    faces = fk.faces(faces.embedding.values, faces.identity.values, light=light)
    tree = fk.evaluate(fk.score_tensor(faces), far=[0.05], by="light", varying="split")
    assert np.isfinite(fk.band(tree, "frr_max_difference").p.item())
    with pytest.warns(fk.DataWarning, match="in several groups"):
        band = fk.band(tree, "eer_spread")
    assert np.isnan(band.p.item())
    assert np.isnan(fk.compare(tree, "eer_group", groups=("dark", "light")).p.item())


def test_people_in_two_groups_are_compared_with_themselves():
    """X² = (r - p0)ᵀ V⁻¹ (r - p0), with the correlation of what people add to both groups."""
    light = [("light", rejected, 6) for rejected in (0, 1, 3, 0, 4, 2, 1, 5)]
    dark = [("dark", rejected, 6) for rejected in (1, 3, 4, 0, 6, 2, 2, 6)]
    rates, numbers = frr_by_hand(dark + light, [1] * 16)
    added = np.array([[rejected / 6 for _, rejected, _ in people] for people in (dark, light)])
    rho = np.corrcoef(added)[0, 1]
    scale = np.sqrt(np.outer(1 / numbers, 1 / numbers))  # in units of p0 (1 - p0)
    inverse = np.linalg.inv(scale * [[1, rho], [rho, 1]])
    p0 = inverse.sum(0) @ rates / inverse.sum()
    square = (rates - p0) @ inverse @ (rates - p0) / (p0 * (1 - p0))
    expected = stats.f.sf(square, 1, 6)
    tree = evaluated(dark + light, names=[*range(8), *range(8)])
    assert fk.band(tree, "frr_max_difference").p.item() == pytest.approx(expected)
    strangers = fk.band(evaluated(dark + light), "frr_max_difference").p.item()
    assert expected < 0.5 * strangers


@pytest.mark.parametrize("rate_of_few", [0.0, 0.05])
def test_three_people_neither_hide_a_difference_nor_move_its_lower_end(rate_of_few):
    """Two large groups of which one has 2.4 times the FAR, and 20 comparisons of a third."""
    rate, n = np.array([0.01, 0.024, rate_of_few]), np.array([4000.0, 4000.0, 20.0])
    three_groups = Groups(rate, n, np.inf, np.eye(3), 0 * n, 1 / n)
    two_groups = Groups(rate[:2], n[:2], np.inf, np.eye(2), np.zeros(2), 1 / n[:2])
    p_of_two = p_of_equality(two_groups)
    assert p_of_two < 1e-5 and p_of_equality(three_groups) <= 2 * p_of_two
    options = {"level": 0.95, "free_level": False}
    rows = compatible_rates(three_groups, **options)
    ratio = rows.max(1) / np.maximum(rows.min(1), 1e-12)
    rows_of_two = compatible_rates(two_groups, **options)
    lowest = (rows_of_two.max(1) / rows_of_two.min(1)).min()
    assert 1.3 < ratio.min() <= lowest < 2.4


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
        n, *_ = pooled_far(rate, *others)
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
            n, *parts = pooled_far(rate, *others)
        called += p_of_equality(Groups(rate, n, np.inf, np.eye(8), *parts)) < 0.05
    assert called <= 16


def test_a_small_group_beside_a_large_one_has_an_interval_that_covers():
    """The FAR of 30 people is twice that of 200: at .95, 180 of 200 has probability .002."""
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(200):
        small, large = far_of_groups(rng, [30], 0.7, 0.02), far_of_groups(rng, [200], 0.7)
        rate, *others = np.hstack([small, large])
        n, *parts = pooled_far(rate, *others)
        groups = Groups(rate, n, np.inf, np.eye(2), *parts)
        rates = compatible_rates(groups, level=0.95, free_level=False)
        ratio = rates.max(1) / rates.min(1)
        covered += ratio.min() <= 2 <= ratio.max()
    assert covered > 180


def test_two_of_six_groups_with_a_higher_far_are_seldom_called_different():
    """Their people vary as much, in units of the FAR, as those of all; as above."""
    rng = np.random.default_rng(10)
    called = 0
    for _ in range(200):
        groups = [far_of_groups(rng, [40] * 4, 0.8, 0.005), far_of_groups(rng, [40] * 2, 0.8, 0.03)]
        rate, *others = np.hstack(groups)
        n, *parts = pooled_far(rate, *others)
        pair = np.eye(6)[4:]
        all_groups = Groups(rate, n, np.inf, np.eye(6), *parts)
        [values] = contrasts(all_groups, weights=pair[None], level=0.95)
        called += values[3] < 0.05
    assert called <= 16


def test_a_contrast_of_two_fars_has_the_test_of_two_groups():
    numbers = np.array([[0.02, 0.01], [400.0, 900.0], [0.1, 0.05], [1 / 1000, 1 / 2000]])
    rate, n, *parts = numbers
    groups = Groups(rate, n, np.inf, np.eye(2), *parts)
    [values] = contrasts(groups, weights=np.eye(2)[None], level=0.95)
    p = values[3]
    assert p == pytest.approx(p_of_equality(groups))
