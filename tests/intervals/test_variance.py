"""What people add to rates: loops over pairs, and properties that a wrong formula would break."""

from itertools import combinations, product

import numpy as np
import pytest
from refusals import noticed
from scipy import stats

import frkit as fk
from frkit.intervals.contributions import contributions

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


def faces(n_people=12, n_images=3, seed=0, spread=(5, 30), **options):
    mixture = fk.vmf.mixture(n_people, 12, kappa=spread, seed=seed, **options)
    return mixture.sample(n_images, seed=seed + 1)


def worth(rate, variance, most, units, erring, people, unseen=2):
    """Effective number: p (1 - p) / v, at most so many, drawn to the units, for few people."""
    n = min(rate * (1 - rate) / variance, most)
    if units < n:
        n *= (units / n) ** (unseen / (erring + unseen))
    return n * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, people - 1)) ** 2


def effective_count(errors):
    return sum(errors) ** 2 / sum(error**2 for error in errors)


class ByHand:
    """Rates of persons, and of pairs of persons, of a matrix of scores."""

    def __init__(self, scores, who):
        self.scores, self.who, self.k = scores, who, who.max() + 1

    def rejected(self, t):
        shares = []
        for person in range(self.k):
            own_scores = self.scores[np.ix_(self.who == person, self.who == person)]
            shares.append(np.mean(own_scores[np.triu_indices(len(own_scores), 1)] <= t))
        return np.array(shares)

    def accepted(self, t):
        table = np.zeros((self.k, self.k))
        for i in range(self.k):
            for j in range(self.k):
                if i != j:
                    table[i, j] = np.mean(self.scores[np.ix_(self.who == i, self.who == j)] > t)
        return table

    def frr(self, t):
        shares = self.rejected(t)
        rate = shares.mean()
        return rate, (shares - rate) / self.k * np.sqrt(self.k / (self.k - 1))

    def far(self, t):
        """FAR, what each person adds, and the noise D of single pairs of people."""
        table, k = self.accepted(t), self.k
        n_pairs = k * (k - 1) / 2
        rate = table.sum() / 2 / n_pairs
        excess = (table - rate) * (1 - np.eye(k))
        added = excess.sum(1) / n_pairs * np.sqrt(k / (k - 1))
        return rate, added, (excess**2).sum() / 2 / n_pairs**2

    def curve(self):
        """Log FAR, FRR and threshold, from the highest threshold down; as many images each."""
        rows, cols = np.triu_indices(len(self.who), 1)
        same = self.who[rows] == self.who[cols]
        scores = self.scores[rows, cols]
        genuine, impostor = scores[same], np.sort(scores[~same])[::-1]
        rank = np.arange(1, len(impostor), max(1, len(impostor) // 1000))
        frr = [np.mean(genuine <= impostor[place]) for place in rank]
        return np.log(rank / len(impostor)), np.array(frr), impostor[rank]


def by_hand(data):
    scores = fk.score_tensor(data).values.astype(float)
    return ByHand(scores, np.unique(data.identity.values, return_inverse=True)[1])


@pytest.mark.parametrize(("n_people", "level"), [(12, 0.02), (40, 0.2)])
def test_the_error_of_the_threshold_by_hand(n_people, level):
    """The slope of FRR between log FAR ± 2 standard deviations, but .5 to 2, of the data's curve.

    With 12 people the window is 2 standard deviations wide, with 40 people .5.
    """
    data = faces(n_people)
    hand = by_hand(data)
    tree = fk.evaluate(fk.score_tensor(data), far=[level])
    t = tree["empirical"].threshold.item()
    rate, frr_influence = hand.frr(t)
    far, far_influence, noise = hand.far(t)
    variance_of_far = max((far_influence**2).sum() - noise, noise)
    width = 2 * np.sqrt(variance_of_far) / far
    assert (0.5 < width < 2) == (n_people == 12)
    width = np.clip(width, 0.5, 2)
    ends = np.log(far) + width * np.array([-1, 1])
    log_far, frr, _ = hand.curve()
    low, high = np.interp(ends, log_far, frr)
    change = (high - low) / (2 * width) / far
    added = frr_influence - change * far_influence
    variance = max((added**2).sum() - change**2 * noise, (added**2).sum() / 2)
    erring = effective_count(hand.rejected(t))
    n = worth(rate, variance, n_people * 3, n_people, erring, n_people)
    band = fk.band(tree, "frr")
    assert band.n_effective.item() == pytest.approx(n, rel=0.01)


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_an_interval_has_the_thresholds_whose_far_may_be_the_level(similarity):
    """Jeffreys' interval at the observed FAR of every score, with n of the FAR at the level."""
    level = 0.05
    scores = fk.score_tensor(faces(14), similarity=similarity)
    hand = ByHand(scores.values.astype(float), np.arange(14 * 3) // 3)
    tree = fk.evaluate(scores, far=[level])
    rate, added, noise = hand.far(tree["empirical"].threshold.item())
    variance = max((added**2).sum() - noise, noise)
    pairs = hand.accepted(tree["empirical"].threshold.item())[np.triu_indices(14, 1)]
    n = worth(rate, variance, 91 * 9, 91, effective_count(pairs), 14)
    log_far, _, places = hand.curve()
    errors = np.exp(log_far) * n
    tails = stats.beta.cdf(level, errors + 0.5, n - errors + 0.5)
    accepted = places[(0.025 <= tails) & (tails <= 0.975)]
    band = fk.band(tree, "threshold")
    assert band.lower.item() == pytest.approx(accepted.min(), abs=0.01)
    assert band.upper.item() == pytest.approx(accepted.max(), abs=0.01)
    function = fk.band(tree, lambda data: 2 * data.threshold)
    width = (band.upper - band.lower).item()
    assert (function.upper - function.lower).item() == pytest.approx(2 * width, rel=0.2)


def test_a_threshold_has_no_upper_end_where_hardly_a_pair_is_accepted():
    """Two and a half independent errors are not enough: e^-2.5 is more than .025."""
    data = faces(12)
    tree = fk.evaluate(fk.score_tensor(data), far=[0.004, 0.2])
    with noticed("threshold"):
        band = fk.band(tree, "threshold")
    assert np.isinf(band.upper).values.tolist() == [True, False]
    assert np.isfinite(band.lower).all()


def test_the_eer_by_hand_has_one_unseen_person():
    """(b φ + a ψ) / (a + b), without an upper bound of n, drawn to people with 1 / (seen + 1)."""
    data = faces(40, 6, spread=(10, 60))
    hand = by_hand(data)
    tree = fk.evaluate(fk.score_tensor(data), far=[0.1])
    t = tree["empirical"].eer_threshold.item()
    far, far_influence, noise = hand.far(t)
    frr, frr_influence = hand.frr(t)
    variance_of_far = max((far_influence**2).sum() - noise, noise)
    width = np.clip(2 * np.sqrt(variance_of_far) / far, 0.5, 2)
    ends = np.log(far) + width * np.array([-1, 1])
    log_far, frr_at, _ = hand.curve()
    low, high = np.interp(ends, log_far, frr_at)
    a, b = np.diff(np.exp(ends))[0], low - high
    added = (b * far_influence + a * frr_influence) / (a + b)
    noise *= (b / (a + b)) ** 2
    variance = max((added**2).sum() - noise, noise)
    erring = effective_count(hand.rejected(t))
    eer = tree["empirical"].eer.item()
    n = worth(eer, variance, np.inf, 40, erring, 40, unseen=1)
    assert n > 60  # so that unseen people matter
    assert fk.band(tree, "eer").n_effective.item() == pytest.approx(n, rel=0.03)


def test_these_people_by_hand():
    """New images of the same people; pairs without a common image are independent."""
    n_images = 4
    data = faces(10, n_images)
    hand = by_hand(data)
    tree = fk.evaluate(fk.score_tensor(data), threshold=[0.35])
    k, t = hand.k, 0.35
    images = k * n_images  # 40, of 45 pairs of people
    rejected = hand.scores <= t
    variance = least = 0
    for person in range(k):
        mine = np.flatnonzero(hand.who == person)
        pairs = list(combinations(mine, 2))
        share_rejected = np.mean([rejected[pair] for pair in pairs])
        apart = [
            rejected[first] * rejected[second]
            for first, second in product(pairs, pairs)
            if not {*first} & {*second}
        ]
        variance += (share_rejected**2 - np.mean(apart)) / k**2
        least += share_rejected * (1 - share_rejected) / len(pairs) / k**2
    variance = max(variance, least)
    errors = [rejected[i, hand.who == hand.who[i]].sum() for i in range(k * n_images)]
    rate = hand.frr(t)[0]
    n = worth(rate, variance, 6 * k, images, effective_count(errors), images)
    band = fk.band(tree, "frr", target="these people")
    assert band.n_effective.item() == pytest.approx(n, rel=1e-4)

    table, n_pairs = hand.accepted(t), k * (k - 1) / 2
    accepted = (hand.scores > t) & (hand.who[:, None] != hand.who)
    rate = table.sum() / 2 / n_pairs
    variances_of_images = []
    for person in range(k):
        mine = accepted[hand.who == person].sum(1) / n_images**2 / n_pairs
        variances_of_images += [value - np.mean(mine) for value in mine]
    squares = sum(added**2 for added in variances_of_images) * n_images / (n_images - 1)
    within = (table - table**2).sum() / 2 / n_pairs  # F - mean of a²
    noise = within / (n_pairs * n_images**2)
    variance = max(squares - noise, noise)
    erring = effective_count(accepted.sum(1))
    n = worth(rate, variance, n_pairs * n_images**2, images, erring, images)
    band = fk.band(tree, "far", target="these people")
    assert band.n_effective.item() == pytest.approx(n, rel=1e-4)


@pytest.mark.slow
def test_auc_of_these_people_varies_as_much_as_its_interval_says():
    """A genuine pair errs in a share of impostor pairs, so its square is no share of pairs."""
    mixture = fk.vmf.mixture(15, 16, kappa=(5, 30), seed=3)
    estimates, variances = [], []
    for seed in range(40):
        scores = fk.score_tensor(mixture.sample(6, seed=seed))
        tree = fk.evaluate(scores, far=[0.1], histogram=100)
        estimates.append(tree["empirical"].auc.item())
        variances.append(contributions(tree, "auc", "these people").variance.item())
    assert 0.6 < np.mean(variances) / np.var(estimates, ddof=1) < 3


# --- properties -----------------------------------------------------------------------------------


def test_a_group_of_everybody_keeps_to_the_level():
    """Its FAR is the level: less is left of the noise than at a fixed threshold."""
    data = faces(20, 3).assign_coords(everybody=("image", ["all"] * 60))
    scores = fk.score_tensor(data)
    at_level = fk.evaluate(scores, far=[0.1], by="everybody")
    fixed = fk.evaluate(scores, threshold=at_level["empirical"].threshold.values, by="everybody")
    widths = [fk.band(tree, "far_group") for tree in (at_level, fixed)]
    at_level, fixed = [(band.upper - band.lower).item() for band in widths]
    assert at_level < 0.7 * fixed


def list_of_two_models(differing, people=30):
    """Two models that agree on all genuine pairs but those of some people."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(people), 6)
    first = np.where(rng.random(len(who)) < 0.3, 0.0, 1.0)
    second = first.copy()
    second[who < differing] = 0.0
    first[who < differing] = 1.0
    a, b = np.triu_indices(people, 1)
    impostors = np.where(rng.random(len(a)) < 0.1, 1.0, 0.0)
    trees = []
    for scores in (first, second):
        pairs = fk.pairs(
            np.append(scores, impostors),
            probe_identity=np.append(who, a), reference_identity=np.append(who, b),
        )  # fmt: skip
        trees.append(fk.evaluate(pairs, threshold=[0.5]))
    return trees


@pytest.mark.parametrize("differing", [1, 2, 3])
def test_two_people_cannot_show_more_than_a_coin_that_falls_twice(differing):
    """The sign test of so many people who differ is the smallest p-value."""
    comparison = fk.compare(*list_of_two_models(differing, people=300), "frr")
    assert comparison.p.item() >= 2.0 ** (1 - differing) - 1e-12


def test_models_that_err_on_the_same_pairs_are_compared_closely():
    """The noise of pairs of people that both models have in common is not in the difference."""
    data = faces(30, 4, spread=(10, 40))
    noise = np.random.default_rng(1).normal(size=data.embedding.shape) * 0.01
    other = data.assign(embedding=data.embedding + noise.astype(np.float32))
    trees = [fk.evaluate(fk.score_tensor(each), threshold=[0.45]) for each in (data, other)]
    band = fk.band(trees[0], "far")
    comparison = fk.compare(*trees, "far")
    se_of_one = (band.upper - band.lower).item() / 4
    assert comparison.se.item() < 0.35 * se_of_one


def test_a_simultaneous_band_has_a_width_where_there_is_no_error():
    tree = fk.evaluate(fk.score_tensor(faces(40, 4, spread=(60, 200))), far=[0.001, 0.3])
    assert tree["empirical"].frr.values[1] == 0
    band = fk.band(tree, "frr", simultaneous=True)
    assert 0.005 < float(band.upper[1]) < 0.5
    assert float(band.lower[1]) == 0


def test_a_group_with_few_errors_is_taken_to_be_like_the_others():
    """Its variance is its own, and that of people who differ alike in all groups, as of four."""
    rng = np.random.default_rng(3)
    people = np.arange(60)
    rejected = np.where(people < 50, rng.integers(0, 4, 60), people == 55)
    who = np.repeat(people, 5)
    genuine = np.where(np.tile(np.arange(5), 60) < rejected[who], 0.0, 1.0)
    a, b = np.triu_indices(60, 1)
    group = np.where(people < 50, "many", "few")
    same = group[a] == group[b]
    a, b = a[same], b[same]
    pairs = fk.pairs(
        np.append(genuine, np.where(np.arange(len(a)) % 5, 0.0, 1.0)),
        probe_identity=np.append(who, a), reference_identity=np.append(who, b),
        group=group[np.append(who, a)],
    )  # fmt: skip
    tree = fk.evaluate(pairs, threshold=[0.5], by="group", weighting="identity")
    r = rejected / 5
    p0 = r.mean()
    variances = [np.var(r[:50], ddof=1), np.var(r[50:], ddof=1)]
    rho = np.average(variances, weights=[50, 10]) / (p0 * (1 - p0))
    rho = (rho - 1 / 5) / (1 - 1 / 5)
    alike = 10 / (max(rho, 0) + (1 - max(rho, 0)) / 5)
    rate, k = 1 / 50, 10
    beyond = r[50:] - rate
    own_variance = np.var(r[50:], ddof=1) / k
    people_who_vary = sum(beyond**2) ** 2 / sum(beyond**4)
    borrowed = 4 * rate * (1 - rate) / alike + (people_who_vary - 1) * own_variance
    n = min(rate * (1 - rate) * (people_who_vary + 3) / borrowed, 50)
    n *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, people_who_vary + 3)) ** 2
    band = fk.band(tree, "frr_group").sel(group="few")
    assert band.estimate.item() == pytest.approx(rate)
    assert band.n_effective.item() == pytest.approx(n, rel=1e-4)


# --- people with more pairs than others -----------------------------------------------------------


def listed(rejected, pairs):
    """A list of genuine pairs, of which so many of each person are rejected at .5."""
    rows = [
        (person, k >= r) for person, (r, m) in enumerate(zip(rejected, pairs)) for k in range(m)
    ]
    person, accepted = np.array(rows).T
    person, score = [*person, 0, 1], [*accepted.astype(float), 0.0, 0.0]
    reference = [*person[:-2], 1, 2]  # two impostor pairs
    return fk.pairs(np.array(score), probe_identity=person, reference_identity=reference)


def frr_of_list(rejected, pairs):
    evaluation = fk.evaluate(listed(rejected, pairs), threshold=[0.5])
    return fk.band(evaluation, "frr").isel(threshold_level=0)


def variance_by_hand(rejected, pairs):
    """Variance of the pooled FRR and its degrees of freedom, person by person."""
    k = len(pairs)
    weights = [m / sum(pairs) for m in pairs]
    rates = [r / m for r, m in zip(rejected, pairs)]
    counted = [min(m, np.median(pairs)) for m in pairs]
    shares = [c / sum(counted) for c in counted]
    free = [s * (1 - s) for s in shares]
    mean = sum(s * r for s, r in zip(shares, rates))
    between = sum(s * (r - mean) ** 2 for s, r in zip(shares, rates)) / sum(free)
    mean_pair_share = sum(f / m for f, m in zip(free, pairs)) / sum(free)
    rho = (between / (mean * (1 - mean)) - mean_pair_share) / (1 - mean_pair_share)
    rho = min(max(rho, 0), 1)
    shape = [rho + (1 - rho) / m for m in pairs]
    mean_shape = sum(f * each for f, each in zip(free, shape)) / sum(free)
    people_variance = [between * each / mean_shape for each in shape]
    frr = sum(w * r for w, r in zip(weights, rates))
    seen = sum(w**2 * (r - frr) ** 2 for w, r in zip(weights, rates))
    hidden = sum(2 * w**3 * v for w, v in zip(weights, people_variance))
    variance = (seen + hidden) / (1 + sum(w**2 for w in weights))
    shown = [w**2 * (1 - w) ** 2 for w in weights]
    variance_of_all = sum(2 * w**3 for w in weights)
    df = (sum(shown) + variance_of_all) ** 2 / (
        sum(s**2 for s in shown) + variance_of_all**2 / (1 / sum(s**2 for s in shares) - 1)
    )
    return variance, min(df, k - 1)


@pytest.mark.parametrize("pairs", [(3, 4, 6, 10, 90), (6, 6, 6, 6, 6)])
def test_people_with_many_pairs_by_hand(pairs):
    rejected = [1, 0, 2, 3, pairs[-1] // 3]
    band = frr_of_list(rejected, pairs)
    rate = sum(rejected) / sum(pairs)
    variance, df = variance_by_hand(rejected, pairs)
    erring = effective_count(rejected)
    by_hand = worth(rate, variance, sum(pairs), len(pairs), erring, people=df + 1)
    assert band.n_effective.item() == pytest.approx(by_hand)


def test_variance_has_no_bias_where_a_few_people_have_most_pairs():
    """Of 20 people with rates of their own: the mean variance against that of the pooled FRR."""
    rng = np.random.default_rng(20261127)
    pairs = np.array([60, 40, 20] + 17 * [6])
    rejected = rng.binomial(pairs, rng.beta(2, 6, (4000, 20)))
    frr = rejected.sum(1) / pairs.sum()
    variances = [variance_by_hand(each, pairs)[0] for each in rejected[:1000]]
    assert np.mean(variances) == pytest.approx(frr.var(), rel=0.1)
    from_deviations = np.mean((pairs / pairs.sum()) ** 2 * (rejected / pairs - frr[:, None]) ** 2)
    assert 20 * from_deviations < 0.75 * frr.var()


def test_one_person_with_nearly_all_pairs_is_one_person():
    others = [0, 0, 1, 4] * 5
    large = frr_of_list([300, *others], [1000, *20 * [5]])
    equal = frr_of_list([2, *others], [5, *20 * [5]])
    assert large.n_effective < 5 < 20 < equal.n_effective


def test_the_only_pair_of_one_person_moves_the_interval_little():
    """Of 1,306 pairs; this rate is 1, but a single pair says little about how people differ."""
    rng = np.random.default_rng(0)
    pairs = [435, *58 * [15], 1]
    rejected = rng.binomial(pairs, 0.015)
    accepted, refused = (frr_of_list([*rejected[:-1], last], pairs) for last in (0, 1))
    assert refused.upper < 2 * accepted.upper


@pytest.mark.slow
def test_the_threshold_takes_at_most_half_of_the_variance_of_frr():
    """What single pairs of people add is taken off; where they are most of it, half stays."""
    at_least = 0
    for seed in range(6):
        mixture = fk.vmf.mixture(12, 8, kappa=(5, 30), seed=seed)
        scores = fk.score_tensor(mixture.sample(3, seed=seed))
        evaluation = fk.evaluate(scores, far=[0.002, 0.005, 0.02])
        added = contributions(evaluation, "frr", "new people")
        half = (added.influence**2).sum("unit") / 2
        assert (added.variance >= half * (1 - 1e-9)).all()
        at_least += int(np.isclose(added.variance, half).sum())
    assert at_least > 0


def test_a_group_borrows_the_variance_of_all_and_that_of_its_threshold_by_hand():
    """The threshold adds variance to most groups; some it takes away, in proportion."""
    data = faces(60, 4, seed=3, groups={"a": {}, "b": {}, "c": {}})
    evaluation = fk.evaluate(fk.score_tensor(data), far=[0.003, 0.02, 0.1], by="group")
    added = contributions(evaluation, "frr_group", "new people")
    band = fk.band(evaluation, "frr_group")
    kinds = set()
    for level, group in product(range(3), range(3)):
        part = added.isel(far_level=level, group=group)
        rate, own, fixed, pooled, most, own_df = (
            float(part[name])
            for name in ("rate", "variance", "fixed_variance", "pooled", "most", "own_df")
        )
        if not 0 < rate < 1:
            continue
        borrowed = rate * (1 - rate) / pooled
        borrowed = borrowed + own - fixed if own >= fixed else borrowed * own / fixed
        kinds.add(own >= fixed)
        moderated = (4 * borrowed + own_df * own) / (4 + own_df)
        df = min(4 + own_df, float(part.df))
        few = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, max(df, 1))) ** 2
        expected = min(rate * (1 - rate) / moderated, most) * few
        shown = band.n_effective.isel(far_level=level, group=group).item()
        assert shown == pytest.approx(expected, rel=1e-6), (level, group)
    assert kinds == {True, False}
