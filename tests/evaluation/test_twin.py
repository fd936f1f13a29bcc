"""The slow twin against numbers worked out by hand, and against itself: two forms of one resample
agree."""

import numpy as np
import pytest
from twin import (
    empirical,
    ordered_scores,
    resample,
    symmetric_scores,
    vstatistic,
    weighted,
)
from twin_rates import PairList, auc, equal_error, pseudo_inverse, summary


def hand_example():
    """Three identities of 2, 3 and 1 images; the diagonal is 1 as for cosine similarity."""
    score = np.eye(6)
    score[np.triu_indices(6, 1)] = [
        0.9,  # 0-1 genuine of a
        0.5, 0.2, 0.1, 0.4,  # 0 with b, b, b, c
        0.3, 0.2, 0.1, 0.6,  # 1 with b, b, b, c
        0.8, 0.3, 0.1,  # 2-3, 2-4 genuine of b; 2 with c
        0.7, 0.1,  # 3-4 genuine of b; 3 with c
        0.2,  # 4 with c
    ]  # fmt: skip
    return symmetric_scores(
        np.maximum(score, score.T), "a a b b b c".split(), group="f f f f f m".split()
    )


def random_example(rng, *, person=False, ordered=False, images=(2, 3, 1, 4)):
    """A random matrix with ties, unequal n_k and two groups; ordered: asymmetric, with missing
    cells."""
    identity = np.repeat([f"k{index}" for index in range(len(images))], images)
    group = dict(zip(np.unique(identity), np.resize(["f", "m"], len(images)), strict=True))
    n = len(identity)
    score = np.round(rng.normal(size=(n, n)) + (identity[:, None] == identity), 1)
    if ordered:
        return ordered_scores(
            score, identity, identity, probe=range(n), reference=range(n), group=group
        )
    score = np.maximum(score, score.T)
    np.fill_diagonal(score, 9.0)
    people = ["x" if k in ("k0", "k1") else k for k in identity] if person else None
    return symmetric_scores(score, identity, person=people, group=[group[k] for k in identity])


def test_identity_weighting_is_the_mean_over_identity_pairs():
    impostor, genuine = empirical(hand_example())
    # a-b: 1 of 6 above .45 (0.5); a-c: 1 of 2 (0.6); b-c: 0 of 3
    assert impostor.accepted(0.45) == pytest.approx((1 / 6 + 1 / 2 + 0) / 3)
    # a: 0 of 1 at or below .75; b: 2 of 3; c has no pair
    assert genuine.rejected(0.75) == pytest.approx((0 + 2 / 3) / 2)


def test_pair_weighting_pools_all_pairs():
    impostor, genuine = empirical(hand_example(), "pair")
    assert impostor.accepted(0.45) == pytest.approx(2 / 11)
    assert genuine.rejected(0.75) == pytest.approx(2 / 4)


def test_identity_probabilities_weigh_pairs_by_their_product():
    impostor, genuine = empirical(hand_example(), {"a": 0.5, "b": 0.3, "c": 0.2})
    far = (0.15 / 6 + 0.10 / 2 + 0.06 * 0) / (0.15 + 0.10 + 0.06)
    assert impostor.accepted(0.45) == pytest.approx(far)
    assert genuine.rejected(0.75) == pytest.approx((0.25 * 0 + 0.09 * 2 / 3) / (0.25 + 0.09))


def test_accept_means_strictly_above():
    impostor, genuine = empirical(hand_example(), "pair")
    assert impostor.accepted(0.6) == 0
    assert genuine.rejected(0.3) == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(1e-6, 0.6), (1 / 11, 0.5), (0.17, 0.5), (2 / 11, 0.4), (3 / 11, 0.3), (0.999, 0.1)],
)
def test_pseudo_inverse_is_the_smallest_observed_score_within_the_level(alpha, expected):
    assert pseudo_inverse(empirical(hand_example(), "pair")[0], alpha) == expected


def test_vstatistic_has_the_diagonal_and_leaves_out_one_image_identities():
    _, genuine = vstatistic(hand_example())
    # a: 4 cells, none <= .75; b: 9 cells, two pairs twice <= .75; c out
    assert genuine.rejected(0.75) == pytest.approx((0 + 4 / 9) / 2)
    # at the self-score everything is rejected
    assert genuine.rejected(1.0) == pytest.approx(1)
    _, pooled = vstatistic(hand_example(), "pair")
    assert pooled.rejected(0.75) == pytest.approx((1 * 0 + 3 * 4 / 9) / 4)


def test_groups_and_cross_groups():
    result = summary(empirical(hand_example()), threshold=[0.45], groups=["f", "m"])
    np.testing.assert_allclose(result["far_cross"][0], [[1 / 6, 1 / 4], [1 / 4, np.nan]])
    np.testing.assert_allclose(result["far_group"][0], [1 / 6, np.nan])
    np.testing.assert_allclose(result["frr_group"][0], [(0 + 1 / 3) / 2, np.nan])
    same = summary(
        empirical(hand_example()), threshold=[0.45], groups=["f", "m"], impostors="same-group"
    )
    assert same["far"][0] == pytest.approx(1 / 6)


def test_resample_by_hand():
    counts = {"0": 2, "1": 0, "2": 1, "3": 0, "4": 2, "5": 1}
    impostor, genuine = weighted(hand_example(), {"a": 1, "b": 2, "c": 0}, counts)
    # a = (0, 0) against each of two copies of b = (2, 4, 4): scores .5, .1, .1, so 2 of 6
    assert impostor.accepted(0.45) == pytest.approx(2 / 6)
    # a: one pair, the self-score; each copy of b: 2-4 twice (.3), 4-4 once (1)
    assert genuine.rejected(0.45) == pytest.approx((0 + 2 * 2 / 3) / 3)


@pytest.mark.parametrize(
    "weighting", ["identity", "pair", {"k0": 0.4, "k1": 0.3, "k2": 0.1, "k3": 0.2}]
)
@pytest.mark.parametrize(("person", "ordered"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("seed", range(3))
def test_counts_and_literal_resample_agree(weighting, person, ordered, seed):
    rng = np.random.default_rng(seed)
    scores = random_example(rng, person=person, ordered=ordered)
    names, starts = np.unique(scores.probe_identity, return_index=True)
    images = np.diff([*starts, len(scores.probe)])
    c = dict(
        zip(names, rng.multinomial(len(names), np.full(len(names), 1 / len(names))), strict=True)
    )
    w = dict(
        zip(
            scores.probe,
            np.concatenate([rng.multinomial(n, np.full(n, 1 / n)) for n in images]),
            strict=True,
        )
    )
    copied = weighting
    if isinstance(weighting, dict):
        copied = {f"{k}#{copy}": p for k, p in weighting.items() for copy in range(9)}
    options = dict(far=[0.5, 0.2, 0.05], groups=["f", "m"])
    literal = summary(empirical(resample(scores, c, w), copied), **options)
    counted = summary(weighted(scores, c, w, weighting), **options)
    for name, value in literal.items():
        np.testing.assert_allclose(counted[name], value, rtol=1e-12, atol=1e-14, err_msg=name)


def pairs_of(score, weight=None):
    """A PairList without groups."""
    none = np.full(len(score), "unknown", object)
    return PairList(
        np.array(score, float), np.ones(len(score)) if weight is None else weight, none, none
    )


def test_equal_error_interpolates_between_the_points_of_the_steps():
    impostor, genuine = pairs_of([0.1, 0.2, 0.3, 0.6]), pairs_of([0.4, 0.5, 0.7, 0.8, 0.9])
    # t=.4: FAR 1/4, FRR 1/5; t=.5: FAR 1/4, FRR 2/5: they meet at FAR 1/4
    assert equal_error(impostor, genuine) == pytest.approx((0.25, 0.5))
    # t=.3: FAR 2/3, FRR 1/2; t=.5: 1/3, 1/2 and t=.6: 0: the crossing is half way between the
    # first two
    assert equal_error(pairs_of([0.2, 0.5, 0.6]), pairs_of([0.3, 0.9])) == pytest.approx((0.5, 0.5))


def test_equal_error_at_the_ends():
    assert equal_error(pairs_of([0.1, 0.2]), pairs_of([0.8, 0.9])) == pytest.approx((0.0, 0.2))
    # everything wrong: the crossing lies before the second score
    assert equal_error(pairs_of([0.8, 0.9]), pairs_of([0.1, 0.2])) == pytest.approx((1.0, 0.2))
    # all tied: from (FAR 1, FRR 0) to (0, 1) at one score
    assert equal_error(pairs_of([0.5, 0.5]), pairs_of([0.5])) == pytest.approx((0.5, 0.5))
    assert np.isnan(equal_error(pairs_of([]), pairs_of([0.5]))).all()


def test_auc_counts_ties_half_and_weighs():
    assert auc(pairs_of([0.1, 0.5]), pairs_of([0.5, 0.9])) == pytest.approx((1 + 0.5 + 1 + 1) / 4)
    assert auc(pairs_of([0.1, 0.5], np.array([3.0, 1.0])), pairs_of([0.5])) == pytest.approx(
        3.5 / 4
    )
