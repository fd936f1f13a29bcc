"""N-Sigma: subsets against a brute-force twin, statistics against scipy and published tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from published_n_sigma import published
from refusals import noticed, refused
from scipy import stats

import frkit as fk
from frkit.nsigma import floor, parity, summarise
from frkit.papers.nsigma.subsets import group_seed, subset_rates

GROUPS = {"a": {"share": 5, "kappa": (10, 40)}, "b": {"share": 3, "kappa": (10, 40)}}


def small_faces(seed=0, groups=GROUPS, n=40):
    """Two groups of unequal sizes, people with two to six images."""
    mix = fk.vmf.mixture(n, 16, seed=seed, groups=groups)
    return mix.sample(np.arange(n) % 5 + 2, seed=seed)


def tied(faces):
    """Scores with few distinct values, so that genuine and impostor scores tie."""
    return fk.score_tensor(faces, lambda x, y: np.round(x @ y.T, 1))


# --- the twin ------------------------------------------------------------------------------------


def equal_error(genuine, impostor):
    """The EER: the first score at which FNMR >= FMR, interpolated from the rates below it."""
    before = 1.0, 0.0
    for t in np.unique(np.concatenate([genuine, impostor])):
        fmr, fnmr = np.mean(impostor > t), np.mean(genuine <= t)
        if fnmr - fmr >= -1e-12:
            gap, after = before[0] - before[1], fnmr - fmr
            return before[0] + gap / (gap + after) * (fmr - before[0])
        before = fmr, fnmr


def true_positives(genuine, impostor, fpr):
    """The TPR at the smallest impostor score whose FMR is at most fpr."""
    t = min(s for s in np.unique(impostor) if np.mean(impostor > s) <= fpr + 1e-12)
    return np.mean(genuine > t)


def pairs_of_subset(scores, identity, people):
    """Genuine and impostor scores of drawn people; copies of a person make no pair."""
    images = {name: np.flatnonzero(identity == name) for name in people}
    genuine = [scores[i, j] for name in people for i, j in itertools.combinations(images[name], 2)]
    others = [(a, b) for a, b in itertools.combinations(people, 2) if a != b]
    impostor = [scores[i, j] for a, b in others for i in images[a] for j in images[b]]
    return np.array(genuine), np.array(impostor)


def drawn_people(identity, group, seed, size, number):
    """The people of each subset of a group, each as often as drawn."""
    draws = fk.Resampling("subset", n=number, seed=group_seed(seed, group), subset_size=size)
    counts = draws.weights(identity).identity_count
    return [np.repeat(counts.identity.values, row) for row in counts.values]


@pytest.mark.parametrize("make, size", [(fk.score_tensor, None), (tied, 9)], ids=["cosine", "ties"])
def test_rates_of_subsets_are_those_of_the_twin(make, size):
    faces = small_faces()
    scores = make(faces)
    rates = subset_rates(scores, by="group", subsets=8, subset_size=size, seed=3, fpr=0.1)
    for group in "ab":
        mine = faces.group.values == group
        values, identity = scores.values[np.ix_(mine, mine)], faces.identity.values[mine]
        for number, people in enumerate(drawn_people(identity, group, 3, size, 8)):
            genuine, impostor = pairs_of_subset(values, identity, people)
            rates_of_subset = rates.sel(group=group, batch=0, subset=number)
            assert rates_of_subset.eer.item() == pytest.approx(
                equal_error(genuine, impostor), abs=1e-12
            )
            assert rates_of_subset.tpr.item() == pytest.approx(
                true_positives(genuine, impostor, 0.1), abs=1e-12
            )


def as_pairs(faces):
    """All pairs of the faces as a list, those across groups too."""
    scores = fk.score_tensor(faces).values
    row, col = np.triu_indices(faces.sizes["image"], 1)
    sides = {"probe": row, "reference": col}
    named = {side: faces.image.values[places] for side, places in sides.items()}
    named |= {f"{side}_identity": faces.identity.values[places] for side, places in sides.items()}
    groups = tuple(faces.group.values[places] for places in (row, col))
    same = faces.identity.values[row] == faces.identity.values[col]
    return fk.pairs(scores[row, col], same, race=groups, **named)


@pytest.mark.parametrize("step", [1, -1])
def test_a_list_of_pairs_gives_what_the_tensor_gives(step):
    """Whether its images stand in the order of their names or not."""
    faces = small_faces().isel(image=slice(None, None, step))
    options = dict(subsets=5, seed=2, fpr=0.1, subset_size=8)
    first = subset_rates(fk.score_tensor(faces), by="group", **options)
    second = subset_rates(as_pairs(faces), by="race", **options)
    for name in ("eer", "tpr", "eer_all"):
        np.testing.assert_allclose(first[name], second[name], atol=1e-9)


# --- invariances ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_order_of_images_and_of_groups_changes_nothing():
    faces = small_faces()
    turned = faces.isel(image=np.random.default_rng(0).permutation(faces.sizes["image"]))
    options = dict(by="group", subsets=6, fpr=0.1)
    first, second = (fk.n_sigma(fk.score_tensor(ordered), **options) for ordered in (faces, turned))
    xr.testing.assert_identical(first, second)
    backwards = summarise(first[["eer", "tpr"]].isel(group=[1, 0]))
    xr.testing.assert_allclose(backwards.n_signed.isel(group=[1, 0]), first.n_signed)


@pytest.mark.slow
def test_further_groups_and_models_leave_the_subsets_alone():
    faces = small_faces(groups={**GROUPS, "c": {"share": 5, "kappa": (10, 40)}}, n=65)
    options = dict(by="group", subsets=5, fpr=0.1)
    models = fk.open_data({"first": faces, "second": faces})
    three = fk.n_sigma(fk.score_tensor(models), **options)
    two = subset_rates(fk.score_tensor(faces.isel(image=faces.group.values != "c")), **options)
    np.testing.assert_array_equal(three.eer.sel(group=["a", "b"], model="second"), two.eer)
    assert three.reference_eer.dims == ("model",)


# --- the statistics ------------------------------------------------------------------------------


def given(means, spread, n=20):
    """Subsets of two groups with exactly these mean EERs and this standard deviation."""
    noise = np.random.default_rng(0).normal(size=(1, n, 2))
    noise = (noise - noise.mean(1)) / noise.std(1, ddof=1)
    eer = xr.DataArray(np.asarray(means) + spread * noise, dims=("batch", "subset", "group"))
    return xr.Dataset({"eer": eer, "tpr": 1 - eer}, coords={"group": ["a", "b"]})


def test_each_statistic_by_hand():
    eer = np.array([[0.01, 0.05], [0.02, 0.04], [0.03, 0.09]])
    tpr = np.array([[0.7, 0.95], [0.8, 0.85], [0.9, 0.9]])
    dims = ("batch", "subset", "group")
    rates = xr.Dataset(
        {"eer": (dims, eer[None]), "tpr": (dims, tpr[None])}, coords={"group": ["a", "b"]}
    )
    result = summarise(rates)
    assert (result.reference_eer.item(), result.reference_tpr.item()) == ("a", "b")
    np.testing.assert_allclose(result.sp, [1, 1 - (0.04 + 0.02 + 0.06) / 3])
    np.testing.assert_allclose(result.eop, [1 - (0.25 + 0.05 + 0.0) / 3, 1])
    # mean |difference| of normals
    floors = [1 - np.sqrt(2 / np.pi * rate.var(0, ddof=1).sum()) for rate in (eer, tpr)]
    np.testing.assert_allclose(result.sp_floor, [1, floors[0]])
    np.testing.assert_allclose(result.eop_floor, [floors[1], 1])
    np.testing.assert_allclose(result.n_signed, [0, -4.0])
    np.testing.assert_allclose(result.n_absolute, [0, 4.0])
    welch = stats.ttest_ind(eer[:, 0], eer[:, 1], equal_var=False)
    np.testing.assert_allclose(result.welch_t, [0, welch.statistic])
    np.testing.assert_allclose(result.p_value, [1, welch.pvalue])
    np.testing.assert_allclose(result.eer_sd, eer.std(0, ddof=1))
    assert result.risk.values.tolist() == ["minimal", "unacceptable"]


def test_batches_are_averaged_and_a_reference_without_spread_is_announced():
    first, second = given((0.01, 0.02), 0.001), given((0.02, 0.01), 0.004)
    both = summarise(xr.concat([first, second], "batch"), reference="a")
    np.testing.assert_allclose(both.n_signed.sel(group="b"), (-10 + 2.5) / 2)
    np.testing.assert_allclose(both.n_absolute.sel(group="b"), (10 + 2.5) / 2)
    with noticed("σ"):
        result = summarise(given((0.0, 0.01), 0.0))
    assert result.n_absolute.values.tolist() == [0, np.inf]
    assert result.risk.values.tolist() == ["minimal", "unacceptable"]
    with noticed("σ"):
        result = summarise(given((0.01, 0.01), 0.0))
    assert result.risk.values.tolist() == ["minimal", "unknown"]


def test_an_fpr_that_subsets_are_too_small_for_is_announced():
    scores = fk.score_tensor(small_faces())
    with noticed("group", "impostor"):
        subset_rates(scores, by="group", subsets=5, subset_size=3, fpr=1e-3)


def test_a_reference_with_a_longer_name_than_the_best_group_is_itself():
    rates = given((0.01, 0.02), 0.001).assign_coords(group=["a", "ab"])
    result = summarise(rates, reference="ab")
    assert result.reference_eer.item() == result.reference_tpr.item() == "ab"
    np.testing.assert_allclose(result.n_signed, [10, 0])
    with refused("reference", "c"):
        summarise(rates, reference="c")


def test_parity_at_a_threshold_is_equation_1():
    dims = ("threshold_level", "batch", "subset", "group")
    fmr, fnmr = np.random.default_rng(0).random((2, 1, 1, 6, 2))
    rates = given((0.01, 0.02), 0.001, n=6).assign(fmr=(dims, fmr), fnmr=(dims, fnmr))
    gap = [np.abs(rate[0, 0, :, 0] - rate[0, 0, :, 1]).mean() for rate in (fmr, fnmr)]
    sp = parity(summarise(rates), alpha=0.25)
    np.testing.assert_allclose(sp.values, [[1, 1 - 0.25 * gap[0] - 0.75 * gap[1]]])


# --- the published tables ------------------------------------------------------------------------


@pytest.mark.slow
def test_table_2_follows_from_table_1_and_the_printed_sigma_but_for_two_cells():
    table = published()
    groups = ("African", "Caucasian", "Indian")
    off = []
    for tuned, group in itertools.product(table.finetuned.values.tolist(), groups):
        row = table.sel(finetuned=tuned)
        means = row.eer_mean.sel(group=["Asian", group]).values
        printed = row.n_absolute.sel(group=group).item()
        sigma = row.eer_sd.item()
        n = summarise(given(means, sigma)).n_absolute.values[1]
        # two means to .01 %, σ to .001 %, N to .01
        rounding = 0.0001 / sigma + 0.005 + n * 0.000005 / sigma
        if abs(n - printed) > rounding:
            off.append((tuned, group))
    assert off == [("Caucasian", "Indian"), ("Indian", "African")]
    best = table.tpr_mean.sel(group="Caucasian")
    np.testing.assert_allclose(1 - abs(table.tpr_mean - best), table.eop, atol=0.00205)


# --- what p and N depend on ----------------------------------------------------------------------


def test_p_depends_on_the_number_of_subsets():
    """Two groups half a σ apart."""
    p = [summarise(given((0.01, 0.011), 0.002, n=n)).p_value.values[1] for n in (20, 1000)]
    assert p[0] == pytest.approx(0.12, abs=0.005)
    assert p[1] == pytest.approx(3e-28, rel=0.2)


@pytest.mark.slow
def test_sigma_falls_with_the_root_of_the_subset_size():
    mix = fk.vmf.mixture(400, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    scores = fk.score_tensor(mix.sample(4))
    options = dict(by="group", subsets=200, fpr=0.1)
    small, large = (fk.n_sigma(scores, subset_size=size, **options) for size in (25, 100))
    ratio = small.eer_sd / large.eer_sd
    np.testing.assert_allclose(ratio, 2, rtol=0.2)


def test_the_floor_permutes_people_and_not_images():
    faces = small_faces()
    options = dict(by="group", permutations=4, subsets=20, fpr=0.1)
    assert len(np.unique(floor(fk.score_tensor(faces), **options).eer_all)) == 8
    n_people = min(len(set(faces.identity.values[faces.group.values == group])) for group in "ab")
    with pytest.raises(fk.InputError, match=f"subset_size must be at most {n_people}"):
        floor(fk.score_tensor(faces), subset_size=n_people + 1, **options)


# --- refusals ------------------------------------------------------------------------------------


def refuse(message, scores, **options):
    with refused(message):
        fk.n_sigma(scores, **{"by": "group", "subsets": 4, "fpr": 0.1, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "race"}, "race"),
        ({"by": None}, "by="),
        ({"subsets": 1}, "subsets"),
        ({"fpr": 1.0}, "fpr"),
        ({"subset_size": 16}, "at most 15"),
        ({"subset_size": 2, "subsets": 60}, "impostor pair"),
    ],
)
def test_bad_options_are_refused(options, message):
    refuse(message, fk.score_tensor(small_faces()), **options)


def test_groups_without_pairs_are_refused():
    faces = small_faces()
    in_a = faces.group.values == "a"
    refuse("a", fk.score_tensor(faces.isel(image=in_a)))
    is_first = ~pd.Series(faces.identity.values).duplicated().values
    lone = faces.isel(image=in_a | is_first)
    refuse("b", fk.score_tensor(lone))


def test_lists_with_failed_comparisons_or_without_people_are_refused():
    pairs = as_pairs(small_faces())
    score = pairs["pairs"].score.values.copy()
    same = pairs["pairs"].genuine.values
    nobody = fk.pairs(score, same, race=["a"] * len(score))
    refuse("identities", nobody, by="race")
    pairs["pairs"].score.values[3] = np.nan
    refuse("NaN", pairs, by="race")
    pairs["pairs"].score.values[3] = score[3]
    with refused("groups"):
        floor(pairs, by="race")
