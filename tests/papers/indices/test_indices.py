"""SFI, CFI and DFI as formulas: the paper's tables, bounds, invariance, and the slow twin."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from named import named
from refusals import refused
from scipy import stats
from twin_indices import from_pairs, fusion_weights

import frkit as fk
from frkit.measures import cfi, dfi, measure, sfi
from frkit.papers.indices.canonical import SYSTEMS

VARIANTS = ("normal", "extremal", "weighted")
# Tables 1-3: fair, unfair, highly unfair; balanced, then [100, 1000, 2000]
TABLES = {
    "sfi_normal": (0.9489, 0.9064, 0.6017, 0.9833, 0.8424, 0.5975),
    "sfi_extremal": (0.9233, 0.8596, 0.4025, 0.9750, 0.7636, 0.3963),
    "sfi_weighted": (0.9489, 0.9064, 0.6017, 0.9846, 0.8292, 0.6230),
    "cfi_normal": (0.9930, 0.9157, 0.7921, 0.9888, 0.9195, 0.7901),
    "cfi_extremal": (0.9895, 0.8735, 0.6882, 0.9832, 0.8793, 0.6851),
    "cfi_weighted": (0.9930, 0.9157, 0.7921, 0.9893, 0.9191, 0.8052),
    "dfi_normal": (0.9744, 0.9206, 0.3367, 0.9293, 0.8763, 0.3364),
    "dfi_extremal": (0.9687, 0.8930, 0.1295, 0.8570, 0.7820, 0.1198),
    "dfi_weighted": (0.9744, 0.9206, 0.3367, 0.9219, 0.8622, 0.3052),
}
IMBALANCED = (100, 1000, 2000)


def node(separation=None, compactness=None, histogram=None, sizes=None, low=0.0) -> xr.Dataset:
    """Tallies with these parts of the groups; scores on [low, 1]."""
    given = next(part for part in (separation, compactness, histogram) if part is not None)
    n = np.shape(given)[-1]
    zero = np.zeros(n)
    variables = {
        "genuine_mean_group": zero if separation is None else separation,
        "impostor_mean_group": zero,
        "genuine_sd_group": zero if compactness is None else compactness,
        "impostor_sd_group": zero,
        "images_group": np.ones(n) if sizes is None else sizes,
        "genuine_pairs_group": zero + 10,
        "impostor_pairs_group": zero + 30,
    }
    tallies = xr.Dataset({name: ("group", np.asarray(v, float)) for name, v in variables.items()})
    masses = np.full((10, n), 0.1) if histogram is None else np.asarray(histogram, float)
    for kind in ("genuine", "impostor"):
        tallies[f"{kind}_histogram_group"] = ("score_bin", "group"), masses
    edges = np.linspace(low, 1, len(masses) + 1)
    names = [f"g{k}" for k in range(n)]
    return tallies.assign_coords(group=names, score_bin=(edges[1:] + edges[:-1]) / 2)


def three(index, tallies) -> list[float]:
    return [round(float(measure(f"{index}_{variant}")(tallies)), 4) for variant in VARIANTS]


# --- the paper's numbers -------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("index", "part", "deviation", "printed"),
    [
        ("sfi", "separation", (0.0325, -0.30185, 0.26935), [0.5975, 0.3963, 0.6230]),
        ("sfi", "separation", (-0.1182, 0.0806, 0.0376), [0.8424, 0.7636, 0.8292]),
        ("cfi", "compactness", (0.0112, -0.15745, 0.14625), [0.7901, 0.6851, 0.8052]),
    ],
)
def test_printed_columns_are_reached(index, part, deviation, printed):
    tallies = node(**{part: 0.5 + np.array(deviation)}, sizes=IMBALANCED)
    assert three(index, tallies) == printed
    column = [TABLES[f"{index}_{variant}"] for variant in VARIANTS]
    assert printed in [list(three_values) for three_values in zip(*column)]


def test_weights_of_the_paper():
    weights = fk.measures.fusion_weights(IMBALANCED)
    np.testing.assert_allclose(weights, [0.39286, 0.37535, 0.23179], atol=5e-6)
    twin = fusion_weights(dict(zip("abc", IMBALANCED)))
    np.testing.assert_allclose(weights, list(twin.values()), rtol=1e-14)
    share = np.linspace(0, 1, 2001)
    raw = fk.measures.unnormalised_weight(share, 4)
    assert share[np.argmax(raw)] == pytest.approx(1 / 8, abs=5e-4)


# --- properties ----------------------------------------------------------------------------------
deviations = st.lists(st.floats(0, 1, width=32), min_size=2, max_size=6)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(deviations)
def test_order_of_indices_and_their_bounds(values):
    tallies = node(separation=values, compactness=values, sizes=np.arange(1, len(values) + 1))
    for make in (sfi, cfi):
        normal, extremal, weighted = (float(make(variant)(tallies)) for variant in VARIANTS)
        assert (2 - len(values)) / len(values) - 1e-9 <= extremal <= min(normal, weighted) + 1e-12
        assert max(normal, weighted) <= 1


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), min_size=2, max_size=5
    )
)
def test_dfi_lies_between_0_and_1(counts):
    histogram = np.transpose(
        [np.array(group_counts) / sum(group_counts) for group_counts in counts]
    )
    for variant in VARIANTS:
        assert -1e-12 <= float(dfi(variant)(node(histogram=histogram))) <= 1 + 1e-12


def test_dfi_is_0_for_disjoint_histograms_and_1_for_equal_ones():
    assert three("dfi", node(histogram=np.eye(3), sizes=IMBALANCED)) == [0, 0, 0]
    assert three("dfi", node(histogram=np.full((3, 3), 1 / 3), sizes=IMBALANCED)) == [1, 1, 1]


# --- sizes, constants, refusals ------------------------------------------------------------------


TWO = node(separation=[0.1, 0.2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sfi("mean"), "normal, extremal, weighted"),
        (lambda: fk.measures.fusion_weights([10, 0]), "positive"),
        (lambda: fk.measures.fusion_weights(pd.Series({"a": 1, "b": 2})), "to_xarray"),
        (lambda: sfi()(node(separation=[0.1, 0.2], low=-0.5)), "score_map"),
        (lambda: sfi()(node(separation=[0.1])), "by='the name of an attribute'"),
        (lambda: dfi()(TWO.drop_vars("genuine_pairs_group")), "weighting='pair'"),
        (lambda: dfi()(TWO.drop_vars("genuine_histogram_group")), "histogram=100"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with refused(message):
        call()


# --- canonical systems ---------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("index", ["sfi", "cfi", "dfi"])
@pytest.mark.parametrize("kind", ["fair", "unfair", "highly unfair"])
def test_canonical_systems_lie_near_the_printed_balanced_values(index, kind):
    column = ["fair", "unfair", "highly unfair"].index(kind)
    printed = [TABLES[f"{index}_{variant}"][column] for variant in VARIANTS]
    table = fk.canonical_scores(kind, index=index, sizes=(5_000,) * 3)
    index_values = fk.fairness_indices(table, by="group", score_map="identity")[index]
    np.testing.assert_allclose(index_values.sel(variant=list(VARIANTS)), printed, atol=0.035)


def test_canonical_scores_follow_the_beta_laws_that_were_asked_for():
    table = named(fk.canonical_scores("highly unfair", index="cfi", sizes=(20_000,) * 3, seed=1))
    for number, moments in enumerate(SYSTEMS["cfi"]["highly unfair"]):
        in_group = table.probe_group == f"group {number + 1}"
        for genuine, (mean, sd) in ((True, moments[:2]), (False, moments[2:])):
            scores = table.score.values[in_group & (table.genuine == genuine)]
            assert scores.mean() == pytest.approx(mean, abs=5e-3)
            assert scores.std() == pytest.approx(sd, abs=3e-3)
            a, b = (factor * (mean * (1 - mean) / sd**2 - 1) for factor in (mean, 1 - mean))
            assert stats.kstest(scores, stats.beta(a, b).cdf).statistic < 0.02


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fewer than 100 scores")
def test_floor_of_dfi_near_the_stored_figures():
    """Fair groups of 100, 1000, 2000 scores of each kind give .934, .868, .928."""
    values = []
    for seed in range(8):
        table = fk.canonical_scores("fair", index="dfi", sizes=IMBALANCED, seed=seed)
        values.append(list(from_pairs(table, bins=100).values())[6:])
    np.testing.assert_allclose(np.mean(values, 0), [0.934, 0.868, 0.928], atol=0.01)
    ds = fk.fairness_indices(table, by="group", score_map="identity", permutations=40)
    np.testing.assert_allclose(ds.dfi_floor, [0.934, 0.868, 0.928], atol=0.01)
    assert (ds.dfi_p > 0.05).all()
