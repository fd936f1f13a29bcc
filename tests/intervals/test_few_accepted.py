"""FAR levels below the share of single pairs, and models that do not differ."""

import numpy as np
import pytest
from refusals import noticed
from scipy import stats

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
PEOPLE = 40
FIRST, SECOND = np.triu_indices(PEOPLE, 1)
IMPOSTORS = len(FIRST)
PER_PERSON = 10


def list_of_pairs(seed, models=("a",)):
    """Ten genuine pairs of each person, and one pair of every two people."""
    rng = np.random.default_rng(seed)
    quality = np.repeat(rng.lognormal(0, 0.35, PEOPLE), PER_PERSON)
    probe = np.append(np.repeat(np.arange(PEOPLE), PER_PERSON), FIRST)
    reference = np.append(np.repeat(np.arange(PEOPLE), PER_PERSON), SECOND)
    scores = {
        model: np.append(rng.normal(90 * quality, 30), rng.exponential(6, IMPOSTORS))
        for model in models
    }
    return fk.pairs(
        scores,
        probe == reference,
        probe_identity=probe.astype(str),
        reference_identity=reference.astype(str),
    )


ACCEPTED = np.array([0.5, 1, 2, 3, 10])
LEVELS = (ACCEPTED + 0.01) / IMPOSTORS


@pytest.mark.parametrize("seed", range(5))
def test_the_frr_ends_at_one_where_fewer_than_three_pairs_are_accepted(seed):
    frr = fk.band(fk.evaluate(list_of_pairs(seed), far=LEVELS), "frr").squeeze("model", drop=True)
    frr = frr.sel(far_level=LEVELS)
    np.testing.assert_array_equal(frr.upper == 1, [True, True, True, False, False])
    assert (frr.lower < frr.estimate).all()


@pytest.mark.slow
def test_intervals_below_the_far_of_one_pair_contain_the_true_frr():
    """The exact FRR where half an impostor pair is accepted, in 20 data sets."""
    rng = np.random.default_rng(0)
    genuine = rng.normal(90 * rng.lognormal(0, 0.35, 1_000_000), 30)
    truth = (genuine <= -6 * np.log(LEVELS[0])).mean()
    covered = 0
    for seed in range(20):
        frr = fk.band(fk.evaluate(list_of_pairs(seed), far=LEVELS[:1]), "frr")
        covered += bool(((frr.lower <= truth) & (truth <= frr.upper)).all())
    assert covered >= 17


def test_a_simultaneous_band_ends_at_one_there_too():
    ev = fk.evaluate(list_of_pairs(0), far=LEVELS)
    single, whole = (
        fk.band(ev, "frr", simultaneous=simultaneous) for simultaneous in (False, True)
    )
    assert (single.upper == 1).any()
    assert (whole.upper >= single.upper).all()


def test_the_caution_names_the_level():
    with noticed("FRR", "FAR 0.000654", "a"):
        fk.band(fk.evaluate(list_of_pairs(9), far=LEVELS), "frr")


def test_models_have_no_p_value_where_no_impostor_pair_is_accepted():
    evaluation = fk.evaluate(list_of_pairs(0, "ab"), far=LEVELS)
    difference = fk.compare(evaluation, "frr").sel(far_level=LEVELS)
    np.testing.assert_array_equal(difference.p.isnull(), [True, False, False, False, False])
    assert (difference.lower[0], difference.upper[0]) == (-1, 1)


def test_a_model_compared_with_itself_differs_by_at_most_two_people():
    """Two more people, each rejected by one model alone: variance 2 / K²."""
    pairs = list_of_pairs(0)
    evaluation = fk.evaluate(pairs, far=LEVELS)
    difference = fk.compare(evaluation, evaluation, "frr")
    reach = stats.t.ppf(0.975, PEOPLE - 1) * np.sqrt(2) / PEOPLE
    np.testing.assert_allclose(difference.upper, reach)
    np.testing.assert_allclose(difference.lower, -reach)
    np.testing.assert_array_equal(difference.p, 1)
