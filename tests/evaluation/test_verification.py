"""What the field prints: each number against a few lines that anybody can read, printed rows, and
the RFW files."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from paths import REAL_DATA
from refusals import noticed, refused
from scipy.special import ndtri

import frkit as fk

TABLE = REAL_DATA / "rfw_pairs_l2.csv.gz"


def brute(genuine, impostor, p=0.01, miss=1.0, fa=1.0):
    """All numbers but the folds', by trying every threshold."""
    genuine, impostor = np.sort(genuine), np.sort(impostor)
    values = np.unique([*genuine, *impostor])
    points = [values[0] - 1, *values]
    frr = np.searchsorted(genuine, points, side="right") / len(genuine)  # share up to each point
    far = 1 - np.searchsorted(impostor, points, side="right") / len(impostor)
    right = (1 - frr) * len(genuine) + (1 - far) * len(impostor)
    costs = miss * p * frr + fa * (1 - p) * far
    spread = np.sqrt((np.var(genuine) + np.var(impostor)) / 2)
    bits = np.log2(1 + np.exp(-genuine)).mean() + np.log2(1 + np.exp(impostor)).mean()
    return {
        "best_accuracy": right.max() / (len(genuine) + len(impostor)),
        "min_dcf": costs.min() / min(miss * p, fa * (1 - p)),
        "d_prime": (genuine.mean() - impostor.mean()) / spread,
        "cllr": bits / 2,
        "min_cllr": least_cllr(genuine.tolist(), impostor.tolist()),
        "zero_fmr": frr[far == 0].min(),
        "fmr100": frr[far <= 0.01 + 1e-12].min(),
        "fmr1000": frr[far <= 0.001 + 1e-12].min(),
    }


def least_cllr(genuine, impostor):
    """Neighbours whose share of genuine scores falls are pooled until none does (both kinds weigh
    half)."""
    n_of = Counter(genuine), Counter(impostor)
    values = sorted({*genuine, *impostor})
    blocks = [[n_of[0][v] / len(genuine), n_of[1][v] / len(impostor)] for v in values]
    k = 0
    while k < len(blocks) - 1:
        (a, b), (c, d) = blocks[k], blocks[k + 1]
        if a / (a + b) > c / (c + d):
            blocks[k : k + 2] = [[a + c, b + d]]
            k = max(k - 1, 0)
        else:
            k += 1
    bits = 0.0
    for g, i in blocks:
        bits -= g * np.log2(g / (g + i)) if g else 0
        bits -= i * np.log2(i / (g + i)) if i else 0
    return bits / 2


def fold_accuracies(genuine, impostor):
    """The best threshold of the other folds, applied to each; the strictest of equals, halfway to
    the next score. Both kinds in their order are cut into ten folds."""
    folds = [np.arange(len(scores)) * 10 // len(scores) for scores in (genuine, impostor)]
    accuracies = []
    for k in range(10):
        train = np.sort(genuine[folds[0] != k]), np.sort(impostor[folds[1] != k])
        values = np.unique(np.concatenate(train))
        middles = np.array([values[0] - 1, *(values[1:] + values[:-1]) / 2, values[-1]])
        rejected, kept_out = (np.searchsorted(scores, middles, side="right") for scores in train)
        right = len(train[0]) - rejected + kept_out
        best = middles[right == right.max()].max()
        test = genuine[folds[0] == k] > best, impostor[folds[1] == k] <= best
        accuracies.append(np.concatenate(test).mean())
    return accuracies


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("twin_options", [{}, {"p": 0.3, "miss": 10.0, "fa": 2.0}])
def test_numbers_of_a_list(ties, twin_options):
    rng = np.random.default_rng(0)
    genuine = rng.uniform(size=600) < 0.4
    score = rng.normal(size=600) + 2 * genuine * rng.choice([1, 0.7], 600)
    if ties:
        score = score.round(1)
    p_target = 3 / (3 + 0.7 * 2) if twin_options else 0.01  # costs are part of the prior
    metrics = fk.verification_metrics(fk.pairs(score, genuine), p_target=p_target)
    for name, value in brute(score[genuine], score[~genuine], **twin_options).items():
        assert float(metrics[name]) == pytest.approx(value, abs=1e-12), name


def test_equal_folds():
    rng = np.random.default_rng(1)
    genuine, impostor = rng.normal(1.5, 1, (10, 20)), rng.normal(0, 1, (10, 30))
    scores = np.concatenate([genuine, impostor], 1).round(2).ravel()
    kinds = np.tile(np.repeat([True, False], [20, 30]), 10)
    metrics = fk.verification_metrics(fk.pairs(scores, kinds))
    expected = fold_accuracies(genuine.round(2).ravel(), impostor.round(2).ravel())
    np.testing.assert_allclose(metrics.accuracy_fold, expected, atol=1e-12)
    assert float(metrics.accuracy) == pytest.approx(np.mean(expected))
    assert float(metrics.accuracy_error) == pytest.approx(np.std(expected, ddof=1) / np.sqrt(10))


def test_known_values():
    """Cllr of scores 0 is one bit; separated scores cost nothing; d' of two normal laws is their
    distance."""
    blind = fk.verification_metrics(fk.pairs([0.0] * 40, [True, False] * 20))
    assert [float(blind[name]) for name in ("cllr", "min_cllr", "min_dcf")] == [1, 1, 1]
    assert float(blind.best_accuracy) == 0.5
    pairs = fk.pairs([*range(20), *range(-20, 0)], [True] * 20 + [False] * 20)
    apart = fk.verification_metrics(pairs)
    assert [float(apart[name]) for name in ("min_cllr", "min_dcf", "zero_fmr", "fmr100")] == [0] * 4
    assert float(apart.best_accuracy) == 1 and float(apart.best_threshold) == -0.5
    normal = ndtri((np.arange(20_000) + 0.5) / 20_000)
    pairs = fk.pairs(np.r_[normal + 3, normal], np.repeat([True, False], 20_000))
    two = fk.verification_metrics(pairs)
    assert float(two.d_prime) == pytest.approx(3, rel=1e-3)
    assert float(two.best_accuracy) == pytest.approx(0.93319, abs=2e-4)


def test_tensors_and_models():
    mixture = fk.vmf.mixture(12, 8, kappa=(5, 30), seed=0, groups={"a": {}, "b": {}})
    faces = mixture.sample(4, seed=1)
    noise = np.random.default_rng(0).normal(size=faces.embedding.shape)
    other = faces.assign(embedding=(faces.embedding + 0.2 * noise).astype("float32"))
    scores = fk.score_tensor(fk.open_data({"A": faces, "B": other}))
    metrics, who = fk.verification_metrics(scores), faces.identity.values
    i, j = np.triu_indices(len(who), 1)
    same = who[i] == who[j]
    for model in "AB":
        values = scores.sel(model=model).values[i, j].astype(float)
        metrics_of_model = metrics.sel(model=model)
        expected = brute(values[same], values[~same])
        for name in ("best_accuracy", "min_cllr", "d_prime", "fmr100"):
            assert float(metrics_of_model[name]) == pytest.approx(expected[name], rel=1e-5)


def test_thinned_pairs_count_for_all_for_which_they_stand(few_are_kept):
    """Kept pairs of low scores are few: without their weights all numbers would be others."""
    faces = fk.vmf.mixture(100, 16, kappa=(10, 60), seed=0).sample(4, seed=1)
    scores = fk.score_tensor(faces)
    kept = fk.sweep(scores, far=1e-3)
    assert int(kept["pairs"].stands_for.max()) > 4
    metrics = fk.verification_metrics(kept)
    row, col = np.triu_indices(len(faces.identity), 1)
    values = scores.values[row, col].astype(float)
    same = faces.identity.values[row] == faces.identity.values[col]
    expected = brute(values[same], values[~same])
    for name in ("d_prime", "cllr", "min_cllr", "min_dcf", "best_accuracy", "fmr100"):
        assert float(metrics[name]) == pytest.approx(expected[name], rel=0.03), name


def test_fmr_of_thinned_pairs_are_those_of_evaluate(few_are_kept):
    """The number of all impostor pairs is known; what kept pairs stand for is near it only."""
    faces = fk.vmf.mixture(60, 16, kappa=(5, 30), seed=2).sample(6, seed=1)
    kept = fk.sweep(fk.score_tensor(faces), far=1e-3)
    metrics = fk.verification_metrics(kept)
    rates = fk.evaluate(kept, far=[0.001, 0.01], weighting="pair")["empirical"]
    agreed = [float(metrics[name]) for name in ("fmr1000", "fmr100")]
    np.testing.assert_allclose(agreed, rates.frr, atol=1e-12)


def test_failed_comparisons_and_distances():
    kinds = [True, True, True, False, False, False]
    with noticed("1 genuine and 0 impostor"):
        pairs = fk.pairs([np.nan, 3, 2, 1, 0, 0.5], kinds)
    with noticed("accuracy", "10 folds"):
        gone = fk.verification_metrics(pairs)
    assert float(gone.best_accuracy) == 1 and np.isnan(float(gone.accuracy))
    pairs = fk.pairs([1.0, 1.2, 2.0, 2.2], [True, True, False, False], distance=True)
    metrics = fk.verification_metrics(pairs, folds=2)
    assert float(metrics.best_threshold) == pytest.approx(1.6)


def test_fewer_pairs_than_folds():
    """The accuracy of ten folds of five genuine pairs was NaN without a word."""
    pairs = fk.pairs(np.arange(10.0)[::-1], [True] * 5 + [False] * 5)
    with noticed("accuracy", "10 folds") as warnings:
        metrics = fk.verification_metrics(pairs)
    assert np.isnan(metrics.accuracy) and metrics.best_accuracy == 1 and len(warnings) == 1
    assert np.isfinite(fk.verification_metrics(pairs, folds=5).accuracy)


def test_what_cannot_be_had():
    pairs = fk.pairs([3, 2, 1, 0], [True, True, False, False])
    with refused("folds", 1):
        fk.verification_metrics(pairs, folds=1)
    with refused("p_target", 1.0):
        fk.verification_metrics(pairs, p_target=1.0)


@pytest.mark.slow
@pytest.mark.skipif(not TABLE.is_file(), reason=f"the real data are not here: {TABLE}")
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_accuracy_of_the_rfw_protocol():
    """Each race's 6,000 pairs in ten folds of 300 + 300, from the table as it is."""
    accuracy = {}
    table = pd.read_csv(TABLE)
    table = table[table.ethnicity != "ambiguous"]  # which has no impostor pair
    for race, rows in table.groupby("ethnicity"):
        pairs = fk.pairs(rows.dist, rows.label, distance=True)
        accuracy[race] = float(fk.verification_metrics(pairs).accuracy)
        scores = (-rows.dist[rows.label == kind].to_numpy() for kind in (1, 0))
        expected = np.mean(fold_accuracies(*scores))
        assert accuracy[race] == pytest.approx(expected, abs=1e-12)
    assert min(accuracy, key=accuracy.get) == "African"
    metrics = fk.verification_metrics(fk.open_data(TABLE))
    assert float(metrics.fmr100) == pytest.approx(0.25175)
