"""Intervals without replicates: sums by image against a slow twin, variances, ends, joint draws and inverted tests."""

import numpy as np
import pytest
import xarray as xr
from engine_cases import FAR, THRESHOLD, as_twin, groups_of, looked_up, people, table
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import beta, gamma, poisson
from test_engine import rectangle
from test_pairs import a_list
from twin_influence import (
    clump_of_people,
    far_variance,
    frr_variance_of_people,
    group_codes,
    image_sums,
    pairs_of_list,
    pairs_of_scores,
    squares,
    with_unseen_clumps,
)

import frkit as fk
from frkit.engine import pilot, rates
from frkit.evaluation.evaluate import prepared
from frkit.intervals.compare import _contrast, _holm_row
from frkit.intervals.gamma_satterthwaite import Law, Move
from frkit.intervals.influence import NEW_PEOPLE, THESE_PEOPLE, Part
from frkit.intervals.inversion import Spread, ray_of
from frkit.intervals.joint import drawn_values, draws
from frkit.intervals.laws import Place, Rates, rates_of
from frkit.measures import measure
from frkit.measures.registry import IDENTITY_SCALE

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
NAMES = ("accepted", "compared", "rejected", "genuine", "square", "blocks")
TARGETS = (NEW_PEOPLE, THESE_PEOPLE)


def thresholds_of(ev):
    """Where the sums are known: at the levels, at the EER of each group, and at that of all."""
    data = ev["empirical"].to_dataset()
    groups = data.eer_threshold_group.values if "eer_threshold_group" in data else []
    return np.concatenate([data.threshold.values, groups, [float(data.eer_threshold)]])


def check_sums(ev, names, pairs, groups, listed=False, blocks=True):
    """Every sum of an evaluation against the twin; scales of images are rounded at 2^-28."""
    node = ev["influence"].to_dataset()
    whole = node.compared.values.sum()
    for point, threshold in enumerate(thresholds_of(ev)):
        if np.isnan(threshold):  # the EER of a group without pairs: there is nothing to be above
            continue
        where = f"at {threshold}"
        expected = image_sums(names, pairs, threshold, groups)
        total = expected.compared.sum()
        found = node.accepted.values[point], node.compared.values
        for mine, its in zip(found, (expected.accepted, expected.compared), strict=True):
            np.testing.assert_allclose(mine / whole, its / total, rtol=1e-6, atol=1e-12, err_msg=where)
        np.testing.assert_array_equal(node.rejected.values[point], expected.rejected, err_msg=where)
        np.testing.assert_array_equal(node.genuine.values, expected.genuine, err_msg=where)
        if blocks:
            found, upper = (node.square.values, node.blocks.values[point]), np.triu_indices(1 + len(groups))
            for mine, its in zip(found, squares(pairs, threshold, groups, listed), strict=True):
                np.testing.assert_allclose((mine / whole**2)[upper], (its / total**2)[upper], rtol=1e-6, atol=1e-12)


def check_matrix(ev, scores, by=None, weighting="identity", impostors="all", blocks=True):
    """The sums of a tensor or a matrix."""
    twin = as_twin(scores, by)
    names, groups = sorted({*twin.probe, *twin.reference}), groups_of(twin) if by else []
    check_sums(ev, names, pairs_of_scores(twin, weighting, impostors), groups, blocks=blocks)


# --- sums by image -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", ["equal", "unequal", "pairs"])
@pytest.mark.parametrize("weighting", ["identity", "pair"])
@pytest.mark.parametrize("by", [None, "gender"])
def test_sums_by_image(sizes, weighting, by):
    score, faces = table(sizes, seed=3, decimals=1)
    scores = looked_up(score, faces, chunks=7)
    check_matrix(fk.evaluate(scores, far=FAR, by=by, weighting=weighting), scores, by, weighting)


def test_sums_at_fixed_thresholds():
    score, faces = table("unequal", seed=4, decimals=1)
    scores = looked_up(score, faces)
    check_matrix(fk.evaluate(scores, threshold=THRESHOLD, by="gender"), scores, "gender")


def test_sums_of_pairs_within_groups_only():
    score, faces = table("unequal", seed=5)
    scores = looked_up(score, faces)
    ev = fk.evaluate(scores, far=FAR, by="gender", impostors="same-group")
    check_matrix(ev, scores, "gender", impostors="same-group", blocks=False)


@pytest.mark.parametrize("weighting", ["identity", "pair"])
def test_sums_of_a_rectangle_with_failed_comparisons(weighting):
    score, probe, reference, attributes = rectangle(5)
    scores = fk.score_matrix(score, probe, reference, missing=-1, attributes=attributes, chunks=4)
    assert np.isnan(scores.values).any()
    ev = fk.evaluate(scores, far=FAR, by="gender", weighting=weighting)
    check_matrix(ev, scores, "gender", weighting, blocks=False)  # where a comparison failed, blocks are estimates


def test_squares_of_a_whole_rectangle():
    score, probe, reference, attributes = rectangle(5, missing=0.3)
    scores = fk.score_matrix(score, probe, reference, attributes=attributes, chunks=4)
    check_matrix(fk.evaluate(scores, far=FAR, by="gender", weighting="pair"), scores, "gender", "pair")


@pytest.mark.parametrize("weighting", ["identity", "pair"])
@pytest.mark.parametrize("apart", [False, True])
def test_sums_of_a_list(weighting, apart):
    pairs = a_list(seed=6, apart=apart)
    ev = fk.evaluate(pairs, far=FAR, by="gender", weighting=weighting)
    own = pairs_of_list(pairs, "gender", weighting)
    names = sorted({str(name) for side in ("probe", "reference") for name in pairs[side].values})
    groups = [str(name) for name in ev["empirical"].group.values]
    check_sums(ev, names, own, groups, listed=True)


def test_sums_of_pairs_without_names():
    """Each pair has two images of its own, so that only sums by group have names; scores of one decimal tie."""
    pairs = a_list(seed=6, names=False, identities=False)
    ev = fk.evaluate(pairs, far=FAR, by="gender")
    node, groups = ev["influence"].to_dataset(), ev["empirical"].group.values.tolist()
    own = [
        pair._replace(images=(f"{n} probe", f"{n} reference"), people=(f"{n} probe", f"{n} reference"))
        for n, pair in enumerate(pairs_of_list(pairs, "gender", "pair"))
    ]
    names, code = [name for pair in own for name in pair.images], group_codes(groups)
    group = np.array([code[name] for pair in own for name in pair.groups])
    scores, ties = {pair.score for pair in own if not pair.genuine}, 0
    for point, threshold in enumerate(thresholds_of(ev)):
        ties += threshold in scores
        expected, upper = image_sums(names, own, threshold, groups), np.triu_indices(len(code))
        for name in ("accepted", "compared", "rejected", "genuine"):
            mine = node[name].values[point] if name in ("accepted", "rejected") else node[name].values
            for g in code.values():
                its = getattr(expected, name)[group == g].sum(0)
                np.testing.assert_array_equal(mine[node.group.values == g].sum(0), its, err_msg=name)
        found = node.square.values, node.blocks.values[point]
        for mine, its in zip(found, squares(own, threshold, groups, listed=True), strict=True):
            np.testing.assert_allclose(mine[upper], its[upper], rtol=1e-12)
    assert ties >= 3


@pytest.mark.parametrize("sizes", ["equal", "unequal"])
def test_chunks_and_threads_give_the_same_bits(sizes):
    faces = people(sizes, dim=40)
    whole = fk.evaluate(fk.score_tensor(faces, chunks=24), far=FAR, by="gender")["influence"].to_dataset()
    for chunks in (1, 5, 7, 23):
        again = fk.evaluate(fk.score_tensor(faces, chunks=chunks), far=FAR, by="gender")["influence"].to_dataset()
        for name in NAMES:
            np.testing.assert_array_equal(again[name].values, whole[name].values, err_msg=f"{name}, chunks {chunks}")


def test_a_group_without_an_eer_takes_no_pairs_from_the_others(monkeypatch):
    """Its threshold is lost; the pairs between the plan's kept bins belong to the thresholds that exist."""
    for name, value in dict(PILOT_PAIRS=3000, TAIL_PAIRS=20, TOP_PAIRS=5).items():
        monkeypatch.setattr(pilot, name, value)
    faces = people([6] * 30 + [1] * 6, dim=20, groups=("f", "m") * 15 + ("x",) * 6)
    scores = fk.score_tensor(faces, chunks=64)
    ev = fk.evaluate(scores, far=(2e-4, 1e-3, 1e-2, 0.1), by="gender")
    assert np.isnan(ev["empirical"].eer_group.sel(group="x"))
    check_matrix(ev, scores, "gender")


def test_a_plan_that_misses_is_swept_again(monkeypatch):
    """The plan of other people, who are all alike, keeps no pair near the levels of these."""
    scores, others = (
        fk.score_tensor(fk.vmf.mixture(60, 16, kappa=kappa, seed=0).sample(6, seed=1), chunks=100)
        for kappa in ((5, 20), (400, 500))
    )
    asked, sweep = [], rates.sweep

    def noting(scores, request, **how):
        asked.append(request)
        return sweep(scores, request, **how)

    monkeypatch.setattr(rates, "sweep", noting)
    missed = prepared(others, far=FAR)(scores)["influence"].to_dataset()
    assert len(asked) > 1 and not asked[-1].asking
    hit = fk.evaluate(scores, far=FAR)["influence"].to_dataset()
    for name in NAMES:
        np.testing.assert_array_equal(missed[name].values, hit[name].values, err_msg=name)


# --- variances ---------------------------------------------------------------------------------------------


def law_at(ev, target, point=0):
    """The joint law at a point of an evaluation without groups: of FAR, then of FRR."""
    return rates_of(ev, target)[None].law(point)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sizes", ["equal", "unequal", "pairs"])
def test_variances_of_rates_at_a_fixed_threshold(sizes, target):
    scores = fk.score_tensor(people(sizes, seed=2))
    ev = fk.evaluate(scores, threshold=THRESHOLD)
    matrix, identity = scores.values, scores.probe_identity.values
    of_eer = far_variance(matrix, identity, float(ev["empirical"].eer_threshold), target)
    for point, threshold in enumerate(THRESHOLD):
        law = law_at(ev, target, point)
        far, frr = np.diag(law.covariance)
        rate, variance, clump = far_variance(matrix, identity, threshold, target)
        if target == NEW_PEOPLE:
            variance = with_unseen_clumps(rate, variance, clump, clump_of_people(of_eer[0], of_eer[2], identity))
        elif rate < of_eer[0]:
            variance = with_unseen_clumps(rate, variance, clump, of_eer[2])
        assert far == pytest.approx(variance, rel=1e-6)
        if target == NEW_PEOPLE:
            assert frr == pytest.approx(frr_variance_of_people(matrix, identity, threshold), rel=1e-6)


def test_clumps_that_were_not_seen():
    """Four accepted pairs of two clumps; where many are accepted five come together: 2**.4 5**.6, by 2 seen and 3."""
    known = [4.0], [[8.0]], [[2.0], [2.0]], [2.0], [1.0], [1.0], [0.5], [2.0]
    part = Part(*map(np.array, known))
    more, clump = part.with_clumps(np.array([5.0])), 2**0.4 * 5**0.6
    assert more.own == pytest.approx(8 + (clump - 2) * 4)
    assert (more.influence**2).sum() == pytest.approx(more.own)
    assert more.least == pytest.approx(clump)
    assert part.with_clumps(np.array([1.5])).own == part.own
    none = [0.0], [[0.0]], [[0.0], [0.0]], [0.0], [0.1], [0.1], [0.5], [0.0], [20.0]
    for known, weight in ((0.7, 0.7), (5.0, 1.0), (0.05, 0.1)):  # at most all pairs, at least a single one
        found = Part(*map(np.array, none)).with_clumps(np.array([known])).borrowed(alike=False)
        assert found.none == pytest.approx(weight)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_list_of_all_pairs_has_the_ends_of_their_tensor():
    """Of people with 2 to 8 images, where few pairs are accepted and where none is."""
    images = np.tile([2, 5, 8], 4)
    scores = fk.score_tensor(fk.vmf.mixture(12, 16, kappa=(30, 120), seed=2).sample(images, seed=2)).compute()
    row, col = np.triu_indices(scores.sizes["probe"], 1)
    names, who = ([str(label) for label in scores[name].values] for name in ("probe", "probe_identity"))
    sides = {"probe": row, "reference": col}
    labels = {side: [names[i] for i in at] for side, at in sides.items()}
    labels |= {f"{side}_identity": [who[i] for i in at] for side, at in sides.items()}
    pairs, levels = fk.pairs(scores.values[row, col], **labels), [0.4, 0.6, 0.9]
    ends = [fk.band(fk.evaluate(pairs, threshold=levels, weighting="identity"), "far")]
    ends += [fk.band(fk.evaluate(scores, threshold=levels), "far", target=NEW_PEOPLE)]
    assert ends[0].estimate[1] > 0 == ends[0].estimate[2]
    np.testing.assert_allclose(ends[0].upper, ends[1].upper, rtol=0.02)  # two people are not counted alike to the last
    np.testing.assert_allclose(ends[0].lower, ends[1].lower, rtol=0.02, atol=1e-9)


def test_small_groups_borrow_from_all():
    """All (200 people), a group of 25 with errors, one of 25 without, and one of 100, which needs nothing."""
    rate, own = np.array([0.01, 0.03, 0, 0.02]), np.array([4e-6, 1e-4, 0, 9e-6])
    single, clump = np.array([1e-6, 4e-5, 4e-5, 4e-6]), np.array([1e-4, 1e-3, 0, 5e-4])
    influence, noise = np.diag(np.sqrt(own)), np.full(4, 0.1)
    part = Part(rate, np.diag(own), influence, clump, single, single, noise, clump, np.array([200.0, 25, 25, 100]))
    found, alike = part.borrowed(alike=False), part.borrowed(alike=True)
    # a clump weighs more where there are fewer pairs: 1e-4 * 4e-5 / 1e-6; of the variance of all, 1e-4 * .01 is clumps'
    theirs = 0.03**2 * (4e-6 - 1e-6) / 0.01**2 * 200 / 25 + 0.03 * 4e-3
    np.testing.assert_allclose(found.own, [4e-6, 0.25 * 1e-4 + 0.75 * theirs, 0, 9e-6])
    np.testing.assert_allclose((found.influence**2).sum(0), found.own)
    np.testing.assert_allclose(found.none, [1e-4, 4e-3, 4e-3, 4e-4])
    np.testing.assert_allclose(found.least[1], 4e-5**0.25 * 4e-3**0.75)
    np.testing.assert_allclose(found.noise, [0.1, 0.025, 0.025, 0.1])
    np.testing.assert_array_equal(found.rate, rate)
    np.testing.assert_allclose(alike.rate, [0.01, 0.03**0.25 * 0.01**0.75, 0.01, 0.02])
    np.testing.assert_allclose(alike.own[2], 0.75 * ((4e-6 - 1e-6) * 200 / 25 + 0.01 * 4e-3))


def test_groups_of_four_people_are_not_told_apart_by_chance():
    """Pairs of people agree wholly or not at all here: of four people there are six, and mostly none is accepted."""
    law, p = fk.vmf.IdentityLaw(16, kappa=(400, 1000)), []
    for seed in range(20):
        faces = law.draw(80, seed=seed).sample(per_identity=6, seed=seed)
        group = np.where(np.isin(faces.identity, np.unique(faces.identity)[:4]), "few", "many")
        scores = fk.score_tensor(faces.assign_coords(group=("image", group)))
        ev = fk.evaluate(scores, far=[0.01], by="group")
        p.append([fk.band(ev, "far_max_min").p[0], fk.compare(ev, "far_group", groups=("few", "many")).p[0]])
    assert (np.array(p) <= 0.05).sum(0).max() <= 3  # of fair models at 5 %: more than 3 of 20 in one of 60


@pytest.mark.parametrize("target", TARGETS)
def test_variances_are_those_of_many_data_sets(target):
    """FAR and FRR at a fixed threshold, and FRR at a FAR level, whose threshold moves: 50 data sets of 30 people."""
    mix, far, threshold = fk.vmf.mixture(30, 16, kappa=(10, 40), seed=21), [0.02], [0.45]
    at_threshold, at_level = [], []
    for seed in range(50):
        people_now = mix if target == THESE_PEOPLE else fk.vmf.mixture(30, 16, kappa=(10, 40), seed=2100 + seed)
        scores = fk.score_tensor(people_now.sample(6, seed=seed))
        for asked, found in (({"threshold": threshold}, at_threshold), ({"far": far}, at_level)):
            law = law_at(fk.evaluate(scores, **asked), target)
            found.append([*law.rate, *np.diag(law.covariance)])
    for found, columns in ((at_threshold, (0, 1)), (at_level, (1,))):
        found = np.array(found)
        for column in columns:  # sd of a variance of 50: 20 %
            ratio = found[:, 2 + column].mean() / found[:, column].var(ddof=1)
            assert 0.55 < ratio < 1.8, (target, column, ratio)


def test_slopes_know_nothing_below_the_first_accepted_pair():
    """FRR = .1 - .02 log(FAR / 1e-4), known from FAR 1e-4 on: the same slope at any level and half-width."""
    far = np.geomspace(1, 1e-4, 200)
    frr = 0.1 - 0.02 * np.log(far / 1e-4)
    node = xr.Dataset(
        {
            "curve_far": (("place", "far_of"), np.stack([far, far], 1)),
            "curve_frr": (("place", "frr_of"), frr[:, None]),
            "cells": (("partner", "partner_b"), [[0]]),
        }
    )
    nowhere = np.empty(0, int)
    one = Rates(node, nowhere, nowhere, nowhere, False, NEW_PEOPLE)
    for alpha, half in ((1.5e-4, 2.0), (1e-3, 0.5), (1e-2, 1.0)):
        by_log, odds = one.slopes(alpha, 0, half)
        np.testing.assert_allclose(by_log, [alpha_slope(alpha, half), -0.02], rtol=3e-3)
        away = window(alpha, half)
        rate = 0.1 - 0.02 * (np.log(alpha / 1e-4) + away)
        assert odds[1] == pytest.approx(-0.02 / np.average(rate * (1 - rate), weights=np.exp(away)), rel=3e-3)


def window(alpha, half):
    """The part of the window that is known."""
    return np.linspace(max(-half, np.log(1e-4 / alpha)), half, 41)


def alpha_slope(alpha, half):
    """The slope of FAR by its own logarithm, by regression with the numbers of accepted pairs as weights."""
    away = window(alpha, half)
    return np.polyfit(away, alpha * np.exp(away), 1, w=np.exp(away / 2))[0]


# --- ends --------------------------------------------------------------------------------------------------


def list_of(n_genuine, n_impostor, n_rejected=0):
    """A list in which every pair is of two new people, or of one; so many genuine pairs score 0, impostors .5 to .6."""
    score = np.concatenate([np.zeros(n_rejected), np.ones(n_genuine - n_rejected), np.linspace(0.5, 0.6, n_impostor)])
    genuine = np.arange(len(score)) < n_genuine
    probe = np.array([f"p{row}" for row in range(len(score))])
    reference = np.where(genuine, probe, np.char.add("q", probe))
    names = dict(probe=np.char.add(probe, "/1"), reference=np.char.add(reference, "/2"))
    return fk.pairs(score, genuine, probe_identity=probe, reference_identity=reference, **names)


def test_no_error_among_3000_pairs():
    """Gamma's law of half an event: 2.51 pairs at .975, where the rule of three says 3 at .95 of one side."""
    ev = fk.evaluate(list_of(3000, 3000), threshold=[0.4, 0.7], weighting="pair")
    frr, far = (fk.band(ev, rate) for rate in ("frr", "far"))
    assert float(frr.estimate[0]) == float(frr.lower[0]) == 0
    assert float(frr.upper[0]) == pytest.approx(2.512 / 3000, rel=1e-3)
    assert float(far.estimate[1]) == float(far.lower[1]) == 0
    assert float(far.upper[1]) == pytest.approx(2.512 / 3000, rel=1e-3)


def test_all_errors_are_the_mirror_image():
    ev = fk.evaluate(list_of(500, 500, n_rejected=500), threshold=[0.4])
    for rate in ("frr", "far"):  # every genuine pair is rejected, every impostor accepted
        band = fk.band(ev, rate)
        assert float(band.estimate[0]) == float(band.upper[0]) == 1
        assert 1 - float(band.lower[0]) == pytest.approx(2.512 / 500, rel=1e-3)


def test_a_few_errors_have_the_ends_of_counts():
    """Independent pairs: about the exact (Clopper-Pearson) and Jeffreys' ends, 5 of 400."""
    band = fk.band(fk.evaluate(list_of(400, 50, n_rejected=5), threshold=[0.4], weighting="pair"), "frr")
    assert float(band.lower[0]) == pytest.approx(beta.ppf(0.025, 5.5, 395.5), rel=0.2)
    assert float(band.upper[0]) == pytest.approx(beta.ppf(0.975, 5.5, 395.5), rel=0.2)


def a_law(rate, *, df=np.inf, variance=1e-4, event=0.01, own=None):
    """The law of one rate by itself; own: the variance at a fixed threshold."""
    one, own = np.array, variance if own is None else own
    return Law(one([rate]), one([[variance]]), one([[variance**0.5]]), one([own]), *(one([event]),) * 3, one([df]))


def test_quantiles_rise_and_have_the_mean_and_variance_of_the_law():
    probability = (np.arange(20_000) + 0.5) / 20_000
    for rate in (0.02, 0.3, 0.9):
        drawn = a_law(rate).quantiles(probability, 0)
        assert np.all(np.diff(drawn) > 0)
        assert drawn.mean() == pytest.approx(rate + (0.005 if rate < 0.5 else -0.005), rel=1e-3)  # half an event
        assert drawn.var() == pytest.approx(1e-4 + 0.01**2 / 2, rel=0.02)


def a_level(far, rate, *, cov, odds, event, own=None):
    """The law of a FAR and of a rate at its level; own: both variances at a fixed threshold, cov between them."""
    one, own = np.array, (far * event, rate * event) if own is None else own
    move = Move(0, one([1.0, odds]), one([1.0, cov / np.sqrt(own[0] * own[1])]))
    events = (one([event, event]),) * 3
    return Law(one([far, rate]), np.diag(own), np.zeros((1, 2)), one(own), *events, one([np.inf, np.inf]), move)


def test_a_group_with_nearly_all_accepted_pairs():
    """Ten of twelve accepted pairs of 3,000: a threshold that lets twelve pass leaves a binomial of 12."""
    law = a_level(12 / 3000, 10 / 3000, cov=10 / 3000**2, odds=1.0, event=1 / 3000)
    lower, upper = law.quantiles(np.array([0.025, 0.975]), 1)
    assert 6.2 / 3000 < lower < 8.2 / 3000  # exact binomial: 6.2 and 11.7
    assert 11.5 / 3000 < upper < 14 / 3000  # that twelve are the most the law does not know


def test_many_errors_have_the_variance_of_a_threshold_that_moves():
    """Distances of two laws that are nearly normal add up as in the delta method, with their correlation."""
    far, rate, odds, event = 1e-3, 0.2, -0.7, 1e-9
    own, cov = (4e-10, 1e-5), 3e-8
    law = a_level(far, rate, cov=cov, odds=odds, event=event, own=own)
    slope = odds * rate * (1 - rate) / far
    spread = np.sqrt(own[1] + slope**2 * own[0] - 2 * slope * cov)
    height = np.array([-1.0, 0.0, 1.0])
    np.testing.assert_allclose(law.quantiles(ndtr(height), 1), rate + spread * height, rtol=2e-3)


@pytest.mark.parametrize("threshold", [[0.5, 0.8], [0.9]])
def test_an_eer_has_one_interval_however_levels_are_given(threshold):
    """Twelve people: thresholds among the highest scores cut the curve there, and its slope was that of two places."""
    scores = fk.score_tensor(fk.vmf.mixture(12, 16, kappa=(60, 120), seed=2).sample(6, seed=0))
    bands = [fk.band(fk.evaluate(scores, **how), "eer") for how in ({"far": [0.01]}, {"threshold": threshold})]
    for end in ("estimate", "lower", "upper"):
        assert float(bands[1][end]) == pytest.approx(float(bands[0][end]), rel=1e-3), end


def test_an_eer_gives_way_along_a_curve_that_falls_as_a_power():
    """FRR is q (FAR / e)^-β, q being a quantile of its law at the FAR e: the two cross at another EER."""
    law, eer, beta_ = a_law(0.02), 0.02, 0.6
    probability = np.array([0.025, 0.5, 0.975])
    crossed = [
        brentq(lambda far, frr=frr: frr * (far / eer) ** -beta_ - far, 1e-6, 1) for frr in law.quantiles(probability, 0)
    ]
    np.testing.assert_allclose(Place(law, 0, share=1 / (1 + beta_)).quantiles(probability), crossed, rtol=1e-6)


@pytest.mark.parametrize("accepted", [1, 4, 20])
def test_the_far_of_a_threshold_that_was_found_has_the_law_of_an_order_statistic(accepted):
    """Of 5,000 independent pairs m are accepted: the true FAR of the score below them is Gamma(m + 1) / 5,000."""
    ev = fk.evaluate(list_of(50, 5000), far=[accepted / 5000], weighting="pair")
    band = fk.band(ev, "far")
    assert int(ev["empirical"].false_accepts[0]) == accepted
    ends = gamma.ppf([0.025, 0.975], accepted + 1) / 5000
    np.testing.assert_allclose([band.lower[0], band.upper[0]], ends, rtol=2e-2)


def test_draws_of_few_degrees_of_freedom_are_finite():
    """The far tail of t with 3 degrees of freedom is beyond any normal height."""
    assert np.isfinite(a_law(0.02, df=3.0).quantiles(ndtr(np.array([-6.0, 6.0])), 0)).all()


# --- the joint law -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grouped():
    """Two groups that differ, with replicates over people."""
    mix = fk.vmf.mixture(80, 16, groups={"a": {"kappa": (10, 40)}, "b": {"kappa": (8, 30), "cohesion": 2}}, seed=31)
    scores = fk.score_tensor(mix.sample(6, seed=32))
    return fk.evaluate(scores, far=[0.02, 0.1], by="group", resampling=fk.Resampling("identity", n=800, seed=33))


@pytest.fixture(scope="module")
def equal_groups():
    """Rotated copies: groups whose rates are exactly equal."""
    mix = fk.vmf.mixture(30, 16, kappa=(10, 40), seed=41).rotated_copies()
    return [fk.evaluate(fk.score_tensor(mix.sample(6, seed=seed)), far=[0.02], by="group") for seed in range(8)]


def flat(rates):
    """(draw, rate) of several variables."""
    return np.concatenate([rates[name].values.reshape(rates.sizes["replicate"], -1) for name in CORRELATED], 1)


CORRELATED = ("frr", "frr_group", "far_group")


def test_draws_have_the_correlations_and_spreads_of_the_bootstrap(grouped):
    drawn = flat(draws(grouped, CORRELATED, NEW_PEOPLE, 2000))
    bootstrap = flat(grouped["replicates"].to_dataset())
    np.testing.assert_allclose(np.corrcoef(drawn.T), np.corrcoef(bootstrap.T), atol=0.25)
    ratio = drawn.std(0) / bootstrap.std(0)
    assert ratio.min() > 0.55 and ratio.max() < 1.3  # replicates hold the noise of single pairs three times


def test_draws_are_the_same_at_every_call(grouped):
    one, again = (draws(grouped, ("frr",), NEW_PEOPLE, 50).frr.values for _ in range(2))
    np.testing.assert_array_equal(one, again)


# --- inverted tests ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["frr_max_min", "far_max_geomean", "frr_gini", "far_max_difference", "fdr"])
def test_inverted_intervals_never_pass_the_fair_value(name, equal_groups):
    side = -1 if name == "fdr" else 1
    reached = 0
    for ev in equal_groups:
        for target in TARGETS:
            band, fair = fk.band(ev, name, target=target), measure(name).fair
            near = band.lower if side > 0 else band.upper
            assert float(side * (near - fair)[0]) >= 0
            assert float(side * (band.estimate - near)[0]) >= 0
            assert float(band.p[0]) >= 1 / 1001
            reached += float(near[0]) == fair  # exactly, not nearly
            assert bool(band.includes_fair[0]) == (float(near[0]) == fair)
    assert reached >= 12  # of 16; at least this many with probability .999 if each is .95


def test_an_interval_reaches_fairness_exactly_where_the_test_does_not_reject_it(grouped, equal_groups):
    for ev in (grouped, *equal_groups):
        band = fk.band(ev, "frr_max_min", target=NEW_PEOPLE)
        np.testing.assert_array_equal(band.lower.values == 1, band.p.values > 0.0255)  # p counts one draw more


def test_a_group_without_an_error_has_an_interval():
    """No genuine pair of the second group is rejected: half an event is put there, and no end is infinite."""
    score, faces = table("equal", seed=9)
    who, second = faces.identity.values, faces.gender.values == "m"
    score[(who[:, None] == who) & second] += 10.0
    ev = fk.evaluate(looked_up(score, faces), far=[0.02], by="gender")
    assert ev["empirical"].frr_group.values[0, 0] > ev["empirical"].frr_group.values[0, 1] == 0
    band = fk.band(ev, "frr_max_min")
    assert float(band.estimate[0]) == np.inf
    assert 1 <= float(band.lower[0]) < np.inf
    difference, rates = fk.band(ev, "frr_max_difference"), fk.band(ev, "frr_group")
    assert float(difference.upper[0]) > 0.8 * float(rates.upper[0, 0])  # the whole rate of the first may be higher
    gini = fk.band(ev, "frr_gini")
    assert 0 <= float(gini.lower[0]) < float(gini.estimate[0]) == float(gini.upper[0]) == 1  # it holds the estimate
    for target in TARGETS:  # draws that would be counted as no error reach what was seen: the end lies nearer to fair
        ray, end = ray_of(ev, measure("frr_max_min"), target), fk.band(ev, "frr_max_min", target=target).lower[0]
        reached = [(part >= ray.seen - 1e-9).mean("replicate")[0] for part in (ray.counted, ray.noisy)]
        assert bool((reached[0] >= reached[1]).all()) and bool((reached[0] > reached[1]).any())
        assert float(end) <= float(ray.truth[0][reached[0].values >= 0.025][0])
        ps = [float(call(ev, "frr_max_min", target=target).p[0]) for call in (fk.band, fk.floor)]
        assert ps[0] == ps[1] == pytest.approx((1 + 1000 * float(reached[0][0])) / 1001)


def test_less_than_one_error_counts_as_fewer_than_were_seen():
    """Where less than one was seen .4 and .7 of one are none, at most half of that; 1.2 is one. Elsewhere all stay."""
    seen, one = (xr.DataArray(np.log(values), dims="group") for values in ([0.5, 0.8, 4.0], [1.0, 1.0, 1.0]))
    noisy = xr.DataArray(np.log([[0.2, 0.4, 0.7, 1.2]] * 3), dims=("group", "replicate"))
    truth = noisy.max("replicate") + 1  # a count of which shows none in .04 of all cases
    counted = np.exp(Spread(seen, noisy, one=one).counted(truth, noisy)).transpose("group", "replicate")
    np.testing.assert_allclose(counted[:2], [[0.2, 0.25, 0.25, 1.2], [0.2, 0.4, 0.4, 1.2]])
    np.testing.assert_allclose(counted[2], [0.2, 0.4, 0.7, 1.2])


@pytest.mark.parametrize("supposed", [0.02, 0.3, 0.7, 1.5, 4.0])
def test_no_error_is_as_frequent_as_in_a_count(supposed):
    """Draws that all show an error are none, lowest first, as often as Poisson's count; others stay."""
    one, rng = xr.DataArray(np.log([1.0, 1.0]), dims="group"), np.random.default_rng(1)
    noisy = xr.DataArray(np.log(rng.uniform(2, 3, (2, 200))), dims=("group", "replicate"))
    spread = Spread(xr.DataArray(np.log([0.5, 4.0]), dims="group"), noisy, one=one)
    counted = np.exp(spread.counted(np.log(supposed) + 0 * one, noisy)).transpose("group", "replicate").values
    none = counted[0] <= 0.5
    assert none.sum() == round(200 * float(poisson.pmf(0, supposed)))
    kept = np.exp(noisy.values)
    assert none.all() or kept[0, none].max(initial=0) < kept[0, ~none].min()
    np.testing.assert_allclose(counted[0, ~none], kept[0, ~none])
    np.testing.assert_allclose(counted[1], kept[1])  # of a group with four errors nothing is counted anew


@pytest.mark.parametrize(("apart", "pairs", "end"), [(1.2, 1, 5.8), (2.0, 0, 5.0)])
def test_one_accepted_pair_where_pairs_come_together_is_less_than_one_error(apart, pairs, end):
    """Draws of less than one error count as no more than was seen: the end lies nearer to the fair value."""
    rng, far = np.random.default_rng(0), 0.005
    who = np.repeat(np.arange(120), 3)
    person, second = rng.normal(size=120)[who] / 2, who >= 90
    score = rng.normal(size=(360, 360)) + person[:, None] + person + 3 * (who[:, None] == who)
    score = np.maximum(score, score.T) - apart * (second[:, None] & second)
    faces = fk.faces(np.ones((360, 2)), who, image=np.arange(360), gender=np.where(second, "m", "f"))
    ev = fk.evaluate(looked_up(score.astype(np.float32), faces), far=[far], by="gender")
    accepted = ev["empirical"].far_group[0] * 90 * 87 / 2
    assert float(accepted[1]) == pytest.approx(pairs)
    ray, band = ray_of(ev, measure("far_max_min"), THESE_PEOPLE), fk.band(ev, "far_max_min", target=THESE_PEOPLE)
    reached = [(part >= ray.seen - 1e-9).mean("replicate")[0] for part in (ray.counted, ray.noisy)]
    assert bool((reached[0] >= reached[1]).all()) and bool((reached[0] > reached[1]).any())
    assert 1 < float(band.lower[0]) < end  # 6.6 and 10.4 where none is as frequent as in draws of a law without a gap


# --- contrasts of groups -----------------------------------------------------------------------------------


def test_holm_by_hand():
    """Sorted .01, .03, .04 times 3, 2, 1, and never falling; at most 1."""
    np.testing.assert_allclose(_holm_row(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])
    np.testing.assert_allclose(_holm_row(np.array([0.5, 0.6])), [1.0, 1.0])


def test_the_contrast_of_two_groups_by_hand(grouped):
    """The difference of two columns of the draws, recentred on the estimate."""
    found = fk.compare(grouped, "frr_group", groups=("a", "b"), target=NEW_PEOPLE)
    rates = grouped["empirical"].frr_group
    drawn = drawn_values(grouped, measure("frr_group"), NEW_PEOPLE).replicates
    estimate = (rates.sel(group="a") - rates.sel(group="b")).values
    np.testing.assert_allclose(found.estimate, estimate)
    np.testing.assert_array_equal(found.lower <= found.estimate, True)
    spread = (drawn.sel(group="a") - drawn.sel(group="b")).std("replicate").values
    width = (found.upper - found.lower).values / (2 * 1.96 * spread)
    np.testing.assert_allclose(width, 1, atol=0.25)
    assert (found.p.values >= 1 / (drawn.sizes["replicate"] + 1)).all()


def test_all_pairs_of_groups_name_their_sides():
    mix = fk.vmf.mixture(60, 16, groups={"a": {}, "b": {}, "c": {"kappa": (4, 8)}}, kappa=(30, 60), seed=51)
    ev = fk.evaluate(fk.score_tensor(mix.sample(5, seed=52)), far=[0.05], by="group")
    found = fk.compare(ev, "frr_group", groups="all")
    assert list(zip(found.a.values, found.b.values, strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    p, holm = found.p.isel(far_level=0).values, found.p_holm.isel(far_level=0).values
    np.testing.assert_allclose(holm, _holm_row(p))
    assert holm[1] < 0.05 and holm[2] < 0.05 < holm[0]
    alone = fk.compare(ev, "frr_group", groups=("a", "c"))
    np.testing.assert_allclose(alone.p, found.p.isel(contrast=1))


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_ends_stay_within_0_and_1_and_bad_requests_name_the_argument():
    people = fk.vmf.mixture(12, 16, kappa=(30, 120), seed=4)
    ev = fk.evaluate(fk.score_tensor(people.sample(3, seed=4)), far=[0.003, 0.03, 0.3, 0.9])
    for target in ("these people", "new people"):
        for name in ("frr", "far", "eer"):
            band = fk.band(ev, name, target=target)
            assert bool((band.lower >= 0).all() & (band.upper <= 1).all() & (band.lower < band.upper).all())
    for level in ("x", None, [0.9, 0.95], 0, 1, 95):
        for call in (fk.band, fk.floor, lambda *a, **k: fk.compare(ev, *a, **k)):
            with pytest.raises(fk.InputError, match="level must"):
                call(ev, "frr_max_min" if call is fk.floor else "frr", level=level)
    fixed = fk.evaluate(fk.score_tensor(people.sample(3, seed=4)), threshold=[0.3, 0.5])
    with pytest.raises(fk.InputError, match="thresholds were given and do not vary"):
        fk.band(fixed, "threshold")
    assert fk.band(ev, "threshold").sizes == {"far_level": 4}


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_with_two_images_the_rates_of_groups_err_by_themselves():
    """Their images tell no projections: what two groups have in common must not be the threshold alone."""
    fair = fk.vmf.mixture(60, 64, kappa=(50, 220), seed=5).rotated_copies()
    ev = fk.evaluate(fk.score_tensor(fair.sample(2, seed=5)), far=[1e-3], by="group")
    drawn = draws(ev, ("frr_group",), "these people").frr_group.isel(far_level=0)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.7


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("target", ["these people", "new people"])
def test_an_equal_error_rate_of_few_errors_holds(target):
    """One or two errors at the EER: of 20 intervals at 95 % more than 3 miss with probability .016."""
    law = fk.vmf.IdentityLaw(24, kappa=(90, 180))
    same, missed = law.draw(60, seed=31), 0
    for seed in range(20):
        people = same if target == "these people" else law.draw(60, seed=3100 + seed)
        truth = (same if target == "these people" else law).population_roc(np.geomspace(1e-5, 0.1, 200))
        at = np.argmin(np.abs(np.log(truth.frr.values) - np.log(truth.far_level.values)))
        band = fk.band(fk.evaluate(fk.score_tensor(people.sample(5, seed=seed)), far=[0.01]), "eer", target=target)
        missed += not band.lower.item() <= truth.far_level.values[at] <= band.upper.item()
    assert missed <= 3


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize(("rate", "people", "dim", "images", "threshold"), [
    ("far", 8, 16, 10, 0.5577),  # FAR .01 of tight clouds, whose pairs come together; EER mostly 0
    ("far", 30, 16, 10, 0.694),  # FAR .001
    ("frr", 3, 64, 10, 0.6667),  # FRR .3
    ("frr", 10, 64, 20, 0.3426),  # FRR .03
])  # fmt: skip
def test_errors_that_few_people_do_not_show(rate, people, dim, images, threshold):
    """An error of few people is a pair of two people, or a person: of 25 intervals more than 4 miss by chance .007."""
    law, missed = fk.vmf.IdentityLaw(dim, kappa=(50, 400) if rate == "frr" else (100, 800)), 0
    truth = law.population_rates(threshold)[rate].item()
    for seed in range(25):
        scores = fk.score_tensor(law.draw(people, seed=seed).sample(images, seed=seed))
        band = fk.band(fk.evaluate(scores, threshold=threshold), rate, target=NEW_PEOPLE)
        missed += not band.lower.item() <= truth <= band.upper.item()
    assert missed <= 4


# --- where nobody has an error -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without_errors():
    """Three groups, one thrice as large; no genuine pair is rejected at 0, no impostor pair accepted at .97."""
    shares = {"a": {"share": 1}, "b": {"share": 3}, "c": {"share": 1}}
    people = fk.vmf.mixture(60, 64, kappa=(50, 220), seed=1, groups=shares)
    encoders = {"A": people, "B": people.correlated(centroid_correlation=1.0)}
    faces = fk.vmf.sample_encoders(encoders, 4, correlation=0.6, seed=2)
    ev = fk.evaluate(fk.score_tensor(faces), threshold=[0.0, 0.97], by="group")
    assert not ev["empirical"].frr_group.sel(threshold_level=0).any()
    assert not ev["empirical"].far_group.sel(threshold_level=0.97).any()
    return ev


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("rate", "at"), [("frr", 0), ("far", 0.97)])
def test_groups_without_an_error_do_not_differ(without_errors, rate, at, target):
    ev = without_errors.sel(model="A", drop=True)
    for name in ("max_min", "max_geomean", "gini", "max_difference"):
        band = fk.band(ev, f"{rate}_{name}", target=target).sel(threshold_level=at)
        fair = band.attrs["fair"]
        assert float(band.p) == 1 and float(band.lower) == fair < fair + 1e-4 < float(band.upper)
        assert (float(band.upper) == np.inf) == (fair == 1), "no ratio of two rates that may be 0 is too large"
        assert float(fk.floor(ev, f"{rate}_{name}", target=target).p.sel(threshold_level=at)) == 1
    own = fk.band(ev, f"{rate}_group", target=target).upper.sel(threshold_level=at)
    difference = fk.band(ev, f"{rate}_max_difference", target=target).upper.sel(threshold_level=at)
    assert 0.8 * float(own.min()) < float(difference) < 1.25 * float(own.max())  # the rates' own upper ends
    assert float(fk.band(ev, f"{rate}_gini", target=target).upper.sel(threshold_level=at)) == 1  # one may have them all
    assert float(fk.band(ev, f"{rate}_log_geomean", target=target).upper.sel(threshold_level=at)) == np.inf
    fdr = fk.band(ev, "fdr", target=target).sel(threshold_level=at)
    assert float(fdr.lower) < float(fdr.upper) == 1
    pairs = fk.compare(ev, f"{rate}_group", groups="all", target=target).sel(threshold_level=at)
    assert (pairs.p == 1).all() and (pairs.lower <= 0).all() and (0 <= pairs.upper).all()
    assert (pairs.upper - pairs.lower > 1e-4).all()


@pytest.mark.parametrize("target", TARGETS)
def test_groups_without_an_error_at_a_found_threshold_do_not_err_alike(target):
    """The curve falls to 0 near the level: its slope, the same for both groups, must not be all that they err by."""
    law = fk.vmf.IdentityLaw(64, groups={"a": {"kappa": (60, 240)}, "b": {"kappa": (75, 300)}})
    scores = fk.score_tensor(law.draw(80, seed=30).sample(5, seed=10_030))
    ev = fk.evaluate(scores, far=[1e-2], by="group")
    own, apart = (fk.band(ev, f"frr_{name}", target=target).upper for name in ("group", "max_difference"))
    assert not ev["empirical"].frr_group.any() and fk.band(ev, "frr_gini", target=target).upper.item() == 1
    assert 0.8 * own.min().item() < apart.item() < 1.25 * own.max().item()


def test_draws_of_what_nobody_saw_are_those_of_a_level_asked_alone(without_errors):
    """However many levels are asked for; and their ends are those of 10,000 draws, not of 1,000."""
    alone = without_errors.isel(threshold_level=[1])
    for groups in (("a", "b"), ("b", "c")):
        both = [fk.compare(ev.sel(model="A", drop=True), "far_group", groups=groups) for ev in (without_errors, alone)]
        for name in ("lower", "upper", "p"):
            assert both[0][name].values[1] == both[1][name].values[0]


@pytest.mark.parametrize("target", TARGETS)
def test_models_without_an_error_have_a_difference_of_some_width(without_errors, target):
    apart = fk.compare(without_errors, "frr", models=("A", "B"), target=target).sel(threshold_level=0)
    assert float(apart.estimate) == 0 and float(apart.p) == 1
    assert float(apart.lower) < -1e-4 and 1e-4 < float(apart.upper)


@pytest.mark.parametrize("target", TARGETS)
def test_groups_that_lose_everything_do_not_differ(without_errors, target):
    band = fk.band(without_errors, "frr_max_min", target=target).sel(threshold_level=0.97)
    assert (band.estimate == 1).all() and (band.lower == 1).all() and (band.upper > 1.001).all() and (band.p == 1).all()


def test_a_contrast_holds_its_estimate_and_counts_from_its_side():
    """Two draws in ten lie beyond zero, seen from .3; seen from the other side, or from zero, all speak against it."""
    draws = xr.DataArray([-0.1, -0.2, *np.linspace(0.1, 0.8, 8)], dims="replicate")
    for estimate, p in ((0.3, 2 * 3 / 11), (-0.05, 1), (0.0, 1)):
        here = xr.DataArray(estimate)
        found = _contrast([(one, 0 * one) for one in (here, here, draws)], "influence", 0.95, IDENTITY_SCALE)
        assert float(found.p) == pytest.approx(p)
        assert found.lower <= estimate <= found.upper


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("how", [{"far": [1e-3, 1e-2, 0.1, 0.5]}, {"threshold": [-0.9, 0.0, 0.3, 0.6, 0.99]}])
@pytest.mark.parametrize("seed", range(3))
def test_every_interval_of_few_people_has_a_width_and_holds_the_estimate(seed, how, target):
    """Groups of 3 to 12 people with 2 to 5 images, at levels where all, some or none of the pairs are errors."""
    rng = np.random.default_rng(seed)
    groups = {name: {"share": share} for name, share in zip("abc", rng.integers(1, 5, 3), strict=True)}
    people = fk.vmf.mixture(24, 16, kappa=(20 * 3**seed, 60 * 3**seed), seed=seed, groups=groups)
    ev = fk.evaluate(fk.score_tensor(people.sample(rng.integers(2, 6, 24), seed=seed)), by="group", **how)
    found = [fk.compare(ev, name, groups="all", target=target) for name in ("far_group", "frr_group")]
    for name in ("far_cross", "eer_group", "frr", "far", "fdr", "far_gini", "frr_gini", "far_max_min", "frr_max_min"):
        found.append(fk.band(ev, name, target=target))
    for band in found:
        known = band.estimate.notnull()
        assert (known <= (band.upper - band.lower > 0)).all()
        assert (known <= (band.lower <= band.estimate + 1e-7)).all()
        assert (known <= (band.estimate <= band.upper + 1e-7)).all()  # sums of single precision lie below it
        assert "p" not in band or (known <= (band.p >= 1 / 10_001)).all()


def test_draws_that_a_band_and_its_floor_share_are_those_of_the_rates_as_they_stand(grouped):
    ev = grouped.copy(deep=True)
    before = fk.band(ev, "frr_max_min")
    ev["empirical"].frr_group.values[..., 0] *= 2  # written into, in place
    after = fk.band(ev, "frr_max_min")
    assert (after.upper != before.upper).any()
    xr.testing.assert_identical(after, fk.band(ev.copy(deep=True), "frr_max_min"))
