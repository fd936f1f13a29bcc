"""Pair lists: against their slow twin; what is refused."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import twin_pairs
from engine_cases import FAR, check_node
from refusals import noticed, refused
from twin_rates import summary

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
NAMED = ["image", "identity", "two-level", "double-or-nothing", "subset"]
SHARES = {f"id{index}": 0.5 + 0.25 * index for index in range(12)}


def a_list(n=220, *, seed=0, apart=False, names=True, identities=True, failed=0.05, models=None):
    """A random list: some pairs twice, some failed, labels of both sides that may differ."""
    rng = np.random.default_rng(seed)
    who = np.char.add("id", rng.integers(0, 12, (2, n)).astype(str))
    who[1] = np.where(rng.random(n) < 0.4, who[0], who[1])
    image = np.char.add(np.char.add(who, "/"), rng.integers(0, 4, (2, n)).astype(str))
    if apart:
        image = np.stack([np.char.add("p ", image[0]), np.char.add("r ", image[1])])
    genuine = who[0] == who[1]
    score = np.round(rng.normal(size=(models or 1, n)) + 1.5 * genuine, 1)
    score[rng.random(score.shape) < failed] = np.nan
    genders = "f m x unknown m x f f m unknown x m".split()
    labels = tuple(np.array([genders[int(k[2:])] for k in side]) for side in who)
    given = dict(probe=image[0], reference=image[1]) if names else {}
    given |= dict(probe_identity=who[0], reference_identity=who[1]) if identities else {}
    model = None if models is None else [f"model {m}" for m in range(models)]
    return fk.pairs(score if models else score[0], genuine, model=model, gender=labels, **given)


def check(pairs, *, by="gender", weighting=None, resampling=None, model=None, **options):
    """Every node and replicate of an evaluation against the twin."""
    if "threshold" not in options:
        options["far"] = FAR
    common_options = dict(by=by, weighting=weighting, resampling=resampling)
    ev = fk.evaluate(pairs, **common_options, **options, histogram=(20, (-8, 8)))
    options["edges"] = np.linspace(-8, 8, 21)
    rows = twin_pairs.rows_of(pairs, by, model)
    group_of = {
        row[f"{side}_identity"]: row[f"{side}_group"] for row in rows for side in twin_pairs.SIDES
    }
    labels = {row[f"{side}_group"] for row in rows for side in twin_pairs.SIDES}
    options["groups"] = sorted(labels - {"unknown"}) if by else None
    weighting = weighting or "pair"
    # no scheme changes the weights; the centre is the estimate: no pair of an image with itself
    plain = summary(twin_pairs.weighted(rows, weighting=weighting), **options)
    nodes = {name: node.dataset for name, node in ev.children.items()}
    if model is not None:
        nodes = {
            name: nodes[name].sel(model=model) for name in nodes if "model" in nodes[name].dims
        }
    for name in ("empirical", "vstatistic"):
        check_node(nodes[name], plain, name)
    for b in range(0 if resampling is None else resampling.n):
        stratum = group_of if resampling.strata else None
        counts = twin_pairs.drawn(rows, resampling, b, stratum)
        resample = twin_pairs.weighted(rows, *counts, weighting)
        node = nodes["replicates"].isel(replicate=b)
        check_node(node, summary(resample, **options), f"replicate {b}")
    return ev


CASES = [(scheme, weighting) for scheme in NAMED for weighting in ("identity", "pair", SHARES)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "weighting"), CASES, ids=lambda case: case if isinstance(case, str) else "shares"
)
@pytest.mark.parametrize("apart", [False, True], ids=["one set", "two sets"])
def test_schemes_and_weightings(scheme, weighting, apart):
    resampling = fk.Resampling(scheme, n=4, seed=1)
    ev = check(a_list(apart=apart), weighting=weighting, resampling=resampling)
    assert {"far_cross", "frr_group", "eer_group"} <= set(ev["replicates"].data_vars)


@pytest.mark.parametrize("impostors", ["all", "same-group"])
@pytest.mark.parametrize(
    "levels", [dict(far=FAR), dict(threshold=(-0.5, 0.3, 1.2))], ids=["far", "threshold"]
)
def test_impostors_and_fixed_thresholds(impostors, levels):
    resampling = fk.Resampling("two-level", n=3, strata="gender")
    check(a_list(seed=3), impostors=impostors, resampling=resampling, **levels)


@pytest.mark.parametrize("weighting", [None, "identity"])
def test_identities_without_image_names_draw_people(weighting):
    ev = check(a_list(names=False), resampling=fk.Resampling("identity", n=3), weighting=weighting)
    assert json.loads(ev.attrs["provenance"])["weighting"] == (weighting or "pair")


def test_rates_of_pairs_without_names_have_no_replicates():
    pairs = a_list(names=False, identities=False)
    ev = check(pairs, by=None)
    assert json.loads(ev.attrs["provenance"])["weighting"] == "pair"
    with refused("pairs"):
        fk.evaluate(pairs, far=FAR, resampling=fk.Resampling("pair", n=4))


@pytest.mark.slow
def test_several_models_fail_at_different_pairs():
    pairs = a_list(models=3, failed=0.2)
    for model in pairs.model.values.tolist():
        ev = check(pairs, model=model, resampling=fk.Resampling("identity", n=3))
    assert ev["replicates"].frr.dims == ("model", "replicate", "far_level")


# --- what is said aloud and what is refused ------------------------------------------------------


NAMELESS, IMAGELESS = dict(names=False, identities=False), dict(names=False)
BY_PERSON, BY_IMAGE = fk.Resampling("identity", n=2), fk.Resampling("image", n=2)
REFUSED = [
    (NAMELESS, dict(resampling=BY_PERSON), "pairs"),
    (NAMELESS, dict(weighting="identity"), "identities"),
    (IMAGELESS, dict(resampling=BY_IMAGE), "Resampling('identity')"),
]


@pytest.mark.parametrize(("given", "options", "message"), REFUSED)
def test_what_needs_names_is_refused_without_them(given, options, message):
    with refused(message):
        fk.evaluate(a_list(**given), far=FAR, **options)


def test_what_a_scheme_cannot_say_of_a_list_is_warned_of():
    with noticed("image"):
        fk.evaluate(a_list(), far=FAR, resampling=fk.Resampling("image", n=2))


def test_a_list_pools_its_pairs_unless_people_are_asked_for():
    who = [list("aaabb"), list("aaabb")], [list("aaab"), list("bbcc")]
    probes, references = (np.concatenate(side) for side in zip(*who, strict=True))
    scores = [0.1, 0.9, 0.9, 0.1, 0.1] + [0.8, 0.2, 0.8, 0.8]
    names = {"probe": [f"p{k}" for k in range(9)], "reference": [f"r{k}" for k in range(9)]}
    pairs = fk.pairs(scores, probe_identity=probes, reference_identity=references, **names)
    rates = {}
    for weighting in (None, "pair", "identity"):
        ev = fk.evaluate(pairs, threshold=[0.5], weighting=weighting)
        rates[weighting] = (ev["empirical"].far.item(), ev["empirical"].frr.item())
        assert fk.band(ev, "frr").attrs["weighting"] == (weighting or "pair")
    assert rates[None] == rates["pair"] == (3 / 4, 3 / 5)
    # FAR: a and b 1/2, a and c 1, b and c 1; FRR: a 1/3, b 1
    np.testing.assert_allclose(rates["identity"], [(1 / 2 + 1 + 1) / 3, (1 / 3 + 1) / 2])


def test_lists_without_one_kind_of_pair_are_refused():
    with refused("genuine"):
        fk.evaluate(fk.pairs([0.1, 0.2], [0, 0]), far=[0.1])
    with refused("impostor"):
        fk.evaluate(fk.pairs([0.1, 0.2], [1, 1]), far=[0.1])


def test_an_image_with_itself_is_left_out_and_counted():
    pairs = fk.pairs(
        [0.9, 0.8, 0.1, 0.2, 0.7],
        probe=list("abcca"),
        reference=list("abxyb"),
        probe_identity=list("kkmmk"),
        reference_identity=list("kkkkk"),
    )
    with noticed(2, "image"):
        ev = fk.evaluate(pairs, threshold=[0.75], weighting="pair")
    assert ev["empirical"].frr.values.tolist() == [1.0]


VARYING = dict(
    score=[0.9, 0.2, 0.4, 0.8, 0.3],
    probe=list("aacce"),
    reference=list("bcedb"),
    probe_identity=list("kkmmn"),
    reference_identity=list("kmnmk"),
    race=["x", "x", "y", None, "y"],
)


def test_labels_that_vary_within_a_person_count_as_each_row_says():
    pairs = fk.pairs(**VARYING)
    own_words = "race", "2 of 3 people", "k", "m"
    with noticed(*own_words):
        ev = fk.evaluate(pairs, threshold=[0.25], by="race")
    assert ev["empirical"].far_group.sel(group="y").values.tolist() == [1.0]
    # the label of the first row fills the gap
    ev = fk.evaluate(pairs, threshold=[0.25], by="race", varying="first", weighting="pair")
    first = ev["empirical"]
    assert first.far_cross.sel(group="x", reference_group="y").values.tolist() == [0.5]
    assert first.frr_group.sel(group="y").values.tolist() == [0.0]


def test_a_pair_without_a_verdict_is_named():
    for genuine in (pd.array([True, None, True], dtype="boolean"), [True, None, True]):
        with refused("genuine", "nan", "pairs '1'"):
            fk.pairs([0.9, 0.1, 0.8], genuine)


LARGE = [2**60 + 3, 2**60 + 1, 2**60 + 2, 2**60]


@pytest.mark.parametrize(
    "scores", [LARGE, np.array(LARGE), pd.Series(LARGE), [*LARGE[:3], 0.5], [*LARGE[:3], None]]
)
def test_scores_that_float64_cannot_tell_apart_are_refused(scores):
    with refused("float64"):
        fk.pairs(scores, [1, 0, 1, 0])
    shifted = [score - 2**60 for score in LARGE]
    rates = fk.evaluate(fk.pairs(shifted, [1, 0, 1, 0]), threshold=[1.5])["empirical"]
    assert (rates.far, rates.frr) == (0, 0)


@pytest.mark.parametrize("ask", [fk.pairs, fk.evaluate, fk.sweep, fk.verification_metrics])
def test_the_name_of_a_file_is_refused_with_what_opens_it(ask):
    with refused("fk.open_data('scores.csv')"):
        ask("scores.csv")


def test_embeddings_in_place_of_scores_are_refused_with_what_compares_them():
    with refused("fk.score_tensor"):
        fk.evaluate(fk.demo_faces())


@pytest.mark.slow
def test_a_list_is_stored_as_zarr_without_warnings_of_the_library(tmp_path):
    pytest.importorskip("zarr")
    script = "import frkit as fk; fk.pairs([0.9, 0.1], [1, 0], ['a', 'b'], ['c', 'd'])"
    script = f"{script}.to_zarr({str(tmp_path / 'pairs.zarr')!r}, zarr_format=2)"
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert process.stderr == b""
    assert fk.open_data(tmp_path / "pairs.zarr")["pairs"].genuine.values.tolist() == [True, False]
