"""Controls that teach: what they show is what `evaluate` gives, and pictures without a kernel."""

import re

import make_one_by_one_intervals
import numpy as np
import pytest
from drawn_ends import band_ends, interval_ends
from matplotlib.colors import to_hex
from refusals import refused
from widget_checks import cautions, find, picture

import frkit as fk
from frkit import plot
from frkit.figures.threshold import KINDS, genuine_and_impostor, share_in_percent
from frkit.papers.roc import coverage_figures, replicate_figures

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
PEOPLE = fk.vmf.mixture(12, 8, seed=0, groups={"a": {"kappa": 9}, "b": {"kappa": (12, 30)}})


@pytest.fixture(scope="module")
def scores():
    return fk.score_tensor(PEOPLE.sample(per_identity=6, seed=1))


# --- threshold -----------------------------------------------------------------------------------
def areas(ax) -> dict[str, float]:
    """The dark areas of each kind, in units of the histograms' bins."""
    sums = {}
    for kind, colour in KINDS.items():
        dark = [patch for patch in ax.patches if patch.get_alpha() is None]
        (stairs,) = [patch for patch in dark if to_hex(patch.get_facecolor()) == colour.lower()]
        heights, edges, _ = stairs.get_data()
        sums[kind] = heights @ np.diff(edges)
    return sums


def test_shaded_areas_are_the_two_error_rates(scores, ax):
    thresholds = np.linspace(-1, 1, 101)[1:-1]
    ev = fk.evaluate(scores, threshold=thresholds, histogram=100)
    far, frr = fk.band(ev, "far"), fk.band(ev, "frr")
    for threshold in (0.2, 0.5):
        ax.clear()
        fk.plot.threshold(ev["empirical"], far, frr, threshold, ax)
        rates = ev["empirical"].dataset.sel(threshold_level=threshold, method="nearest")
        expected = {"genuine": float(rates.frr), "impostor": float(rates.far)}
        assert areas(ax) == pytest.approx({k: 0.02 * rate for k, rate in expected.items()})
        assert f"FRR {100 * expected['genuine']:.3g} %" in ax.get_title(loc="left")
    with refused("genuine_histogram"):
        fk.plot.threshold(far, far, frr, 0.5, ax)


def test_distances_are_accepted_below_the_threshold(scores, ax):
    distance = 1 - scores.values
    names = scores.probe_identity.values, scores.reference_identity.values
    matrix = fk.score_matrix(distance, *names, same_images=True, distance=True)
    ev = fk.evaluate(matrix, threshold=np.linspace(0, 2, 101)[1:-1], histogram=(100, (0, 2)))
    bands = fk.band(ev, "far"), fk.band(ev, "frr")
    fk.plot.threshold(ev["empirical"], *bands, 0.6, ax)
    rates = ev["empirical"].dataset.sel(threshold_level=0.6, method="nearest")
    expected = {"genuine": 0.02 * float(rates.frr), "impostor": 0.02 * float(rates.far)}
    assert areas(ax) == pytest.approx(expected, rel=1e-6)
    assert ax.get_xlabel() == "distance"


def test_rates_near_0_and_100_per_cent_can_be_read():
    shares = [0, 0.0000834, 0.0206, 0.171, 0.9965, 0.9998, 1 - 1e-15, np.nan]
    percentages = ["0", "0.00834", "2.06", "17.1", "99.65", "99.98", "100", "–"]
    assert [share_in_percent(share) for share in shares] == percentages


def test_a_group_without_a_genuine_pair_has_a_row(ax):
    score = [0.9, 0.8, 0.2, 0.1, 0.3, 0.4]
    listed = fk.pairs(score, genuine=[1, 1, 0, 0, 0, 0], group=[*"aaaabb"])
    ev = fk.evaluate(listed, threshold=[0.35], by="group", histogram=(10, (0, 1)))
    bands = fk.band(ev, "far_group"), fk.band(ev, "frr_group")
    fk.plot.threshold(ev["empirical"], *bands, at=0.35, ax=ax)
    _, without = ax.child_axes
    assert "FRR – % [–, –]" in without.get_title(loc="left")
    assert areas(without) == pytest.approx({"genuine": 0, "impostor": 0.1 * 0.5})


def test_points_lie_at_the_rates_of_the_groups(scores, ax):
    ev = fk.evaluate(scores, threshold=[0.3, 0.4, 0.5], by="group")
    fk.plot.points_on_roc(fk.band(ev, "far_group"), fk.band(ev, "frr_group"), 0.4, ax)
    points = [line.get_xydata()[0] for line in ax.lines if line.get_marker() == "o"]
    rates = ev["empirical"].dataset.sel(threshold_level=0.4)
    np.testing.assert_array_equal(points, np.transpose([rates.far_group, rates.frr_group]))
    for axis, rate in enumerate(("far_group", "frr_group")):
        band = fk.band(ev, rate).sel(threshold_level=0.4)
        drawn = np.concatenate([interval_ends(bar, axis) for bar in ax.collections[axis::2]])
        foot = (ax.get_xlim(), ax.get_ylim())[axis][0]
        np.testing.assert_allclose(drawn, np.maximum(np.transpose([band.lower, band.upper]), foot))


def test_the_threshold_of_a_level_stands_between_the_scores(scores, ax):
    ev = fk.evaluate(scores, far=[0.1], histogram=(100, (-1, 1)))
    rates = ev["empirical"].to_dataset().isel(far_level=0)
    threshold = float(rates.threshold)
    rates = rates.assign(lower=threshold - 0.1, upper=threshold + 0.2)
    genuine_and_impostor(rates, ax)
    expected = {"genuine": 0.02 * float(rates.frr), "impostor": 0.02 * float(rates.far)}
    assert areas(ax) == pytest.approx(expected, abs=2e-3), "to a bin"
    assert ax.lines[0].get_xdata() == [threshold, threshold]
    interval = ax.patches[-1]
    ends = interval.get_x(), interval.get_x() + interval.get_width()
    assert ends == pytest.approx((threshold - 0.1, threshold + 0.2))
    assert ax.get_xlabel() == "score (more alike to the right)"


@pytest.mark.slow
def test_the_threshold_moves_through_both_figures(scores, monkeypatch):
    box = fk.explore.threshold(fk.sweep(scores))
    control = find(box, "threshold")
    for place in (0, len(control.options) // 2, len(control.options) - 1):
        control.index = place
        assert "image/png;base64" in picture(box)
    titles, scales = [], []
    draw = plot.threshold

    def recorded(*args, **options):
        ax = draw(*args, **options)
        rows = args[4].child_axes or [args[4]]
        titles[:] = [row.get_title(loc="left") for row in rows]
        scales[:] = [row.get_yscale() for row in rows]
        return ax

    monkeypatch.setattr(plot, "threshold", recorded)
    control.index = 30
    evaluation = fk.evaluate(scores, threshold=[control.value], by="group")
    shown = evaluation["empirical"].dataset.isel(threshold_level=0)
    rates = [float(number) for number in re.findall(r"(\S+) %", titles[0])]
    assert rates == pytest.approx([100 * float(shown.far), 100 * float(shown.frr)], rel=0.05)
    find(box, "groups").value = "group"
    for title, far, frr in zip(titles, shown.far_group, shown.frr_group, strict=True):
        rates = [float(number) for number in re.findall(r"(\S+) %", title)]
        assert rates == pytest.approx([100 * float(far), 100 * float(frr)], rel=0.05)
    assert scales == ["linear", "linear"]
    find(box, "shares on a log axis").value = True
    assert scales == ["log", "log"]


@pytest.mark.slow
def test_few_errors_are_said_of_the_threshold_that_is_shown(scores):
    box = fk.explore.threshold(scores)  # a warning here would fail the test
    control = find(box, "threshold")
    assert cautions(box) == ""
    for place in (0, len(control.options) - 1):
        control.index = place
        (caution,) = re.findall("<li>(.*?)</li>", cautions(box))
        assert caution == "fewer than ten false accepts or false rejects at this threshold"


@pytest.mark.slow
def test_the_interval_of_a_far_allows_for_pairs_that_stand_for_others(monkeypatch):
    """At low thresholds nearly all pairs are accepted, and the sample is what is uncertain."""
    faces = fk.vmf.mixture(450, 16, kappa=(10, 40), seed=0).sample(6, seed=1)
    scores = fk.score_tensor(faces)  # three million impostor pairs, of which not all are kept
    kept = fk.sweep(scores)
    drawn = []
    draw = plot.threshold
    monkeypatch.setattr(plot, "threshold", lambda *args, **_: drawn.append(args) or draw(*args))
    box = fk.explore.threshold(kept)
    find(box, "threshold").index = 0
    far, level = drawn[-1][1], drawn[-1][3]
    exact = fk.evaluate(scores, threshold=[level])["empirical"].far.item()
    shown = far.sel(threshold_level=level)
    assert shown.lower < exact < shown.upper
    rates = fk.evaluate(kept, threshold=[level])
    plain = fk.band(rates, "far").isel(threshold_level=0)
    reach = 1.96 * rates["empirical"].thinned.item()
    lower = plain.estimate - np.hypot(plain.estimate - plain.lower, reach * plain.estimate)
    assert shown.lower.item() == pytest.approx(lower.item(), rel=1e-3)


# --- resample ------------------------------------------------------------------------------------
def rates_by_hand(scores, counts, level):
    """FRR at a FAR level of one resample: pairs weigh the product of their images' counts."""
    score = scores.values
    same = scores.probe_identity.values[:, None] == scores.reference_identity.values
    weight = counts[:, None] * counts - np.diag(counts)
    score[np.diag_indices_from(score)] = 1.0  # an image and its own copy
    impostor, weights = score[~same], weight[~same]
    above = [weights[impostor > t].sum() / weights.sum() for t in np.unique(impostor)]
    threshold = np.unique(impostor)[np.argmax(np.array(above) <= level + 1e-12)]
    rates = []
    for name in np.unique(scores.probe_identity):
        mine = same & (scores.probe_identity.values == name)[:, None]
        rates.append((weight * (score <= threshold))[mine].sum() / weight[mine].sum())
    return np.mean(rates)


@pytest.mark.slow
def test_each_resample_is_the_one_that_is_drawn(scores, monkeypatch):
    given = []
    monkeypatch.setattr(replicate_figures, "image_counts", lambda counts, ax: given.append(counts))
    monkeypatch.setattr(
        replicate_figures, "replicates", lambda fan, number, ax: given.append((fan, number))
    )
    box = fk.explore.resample(fk.sweep(scores), far=0.1, n=120)
    for move, number in (("next", 2), ("next", 3), ("100 more", 103), ("100 more", 120)):
        find(box, move).click()
        counts, (fan, last) = given[-2:]
        assert (last, find(box, "replicate").value) == (number, number)
        drawn = float(fan.replicates.isel(replicate=number - 1))
        assert drawn == pytest.approx(rates_by_hand(scores, counts.values.astype(float), 0.1))
    assert counts.sum() == scores.sizes["probe"]


def test_copies_are_counted_and_lit(ax):
    identity = ("image", ["ann"] * 3 + ["bob"] * 3)
    counts = fk.Resampling("image", n=2).weights(identity[1]).image_count
    counts = counts.assign_coords(identity=identity).isel(replicate=0)
    counts.values[:] = [3, 0, 0, 1, 2, 0]
    fk.plot.image_counts(counts, ax)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == ["ann\n3 of 3 pairs", "bob\n1 of 3 pairs"]
    assert ax.get_title(loc="left").startswith("67 %"), "the mean over people of 3/3 and 1/3"


def test_the_histogram_grows_in_place(scores, ax):
    ev = fk.evaluate(scores, far=[0.1], resampling=fk.Resampling("image", n=60))
    fan = fk.replicate_curves(ev).isel(far_level=0)
    edges = []
    for number in (1, 30, 60):
        ax.clear()
        fk.plot.replicates(fan, number, ax)
        heights, bins, _ = ax.patches[0].get_data()
        assert heights.sum() == number
        edges.append(bins)
        lines = {line.get_label().split(":")[0]: line.get_xdata()[0] for line in ax.lines}
        assert lines["V-statistic"] == float(ev["vstatistic"].frr[0])
        assert lines["estimate"] == float(ev["empirical"].frr[0])
        first = ev["replicates"].frr.isel(replicate=slice(number))
        assert lines["mean of the replicates"] == pytest.approx(float(first.mean()))
    np.testing.assert_array_equal(edges[0], edges[2])


# --- intervals -----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def study():
    law = fk.vmf.IdentityLaw(16, kappa=(10, 40))
    options = dict(far=[0.05, 0.1], n_datasets=6, replicates=30, progress=False)
    return make_one_by_one_intervals.intervals(law, 20, **options)


@pytest.mark.slow
def test_the_study_keeps_what_a_coverage_study_counts(study):
    law = fk.vmf.IdentityLaw(16, kappa=(10, 40))
    options = dict(n_datasets=6, n_identities=20, per_identity=5, far=[0.05, 0.1], replicates=30)
    methods = {"naive": "naive", "recentered": "recentered", "effective": "effective, new people"}
    options |= dict(methods=tuple(methods), levels=(0.8, 0.95), progress=False)
    counted = fk.studies.coverage(law, **options).isel(scheme=0)
    truth = study.truth.sel(people="new people")
    inside = ((study.lower <= truth) & (truth <= study.upper)).mean("data_set")
    for method, interval in methods.items():
        xr_method = counted.sel({"method": method})
        np.testing.assert_allclose(inside.sel(interval=interval), xr_method.coverage)
        width = (study.upper - study.lower).sel(interval=interval).mean("data_set")
        np.testing.assert_allclose(width, xr_method.width)
    assert float(study.truth.sel(people="these people").std("data_set").min()) > 0
    again = make_one_by_one_intervals.intervals(
        law, 20, far=[0.05, 0.1], n_datasets=2, replicates=30
    )
    assert again.drop_attrs().identical(study.isel(data_set=slice(2)).drop_attrs())


@pytest.mark.slow
def test_hits_and_misses_are_those_of_the_intervals(study, ax):
    intervals = study.isel(far_level=0).sel(people="these people", level=0.8)
    fk.plot.interval_stack(intervals, 5, ax)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    drawn = [lines.get_segments() for lines in ax.collections]
    for place, (truth, name) in enumerate(zip(ax.get_xticks(), study.interval.values)):
        ends = intervals.sel(interval=name).isel(data_set=slice(5))
        inside = ((ends.lower <= ends.truth) & (ends.truth <= ends.upper)).values
        assert labels[place].endswith(f"\n{inside.sum()} of 5")
        blue, orange = drawn[2 * place : 2 * place + 2]
        expected = np.transpose([ends.lower - ends.truth, ends.upper - ends.truth])[inside]
        np.testing.assert_allclose([line[:, 0] - truth for line in blue], expected, atol=1e-12)
        assert len(orange) == 5 - inside.sum()
    with refused("study", "data_set", ".sel"):
        fk.plot.interval_stack(study, 5, ax)


@pytest.mark.slow
def test_the_share_of_hits_runs_along(study, ax):
    intervals = study.isel(far_level=0).sel(people="new people", level=0.8)
    fk.plot.running_hits(intervals, 4, ax)
    lines = {line.get_label().split(":")[0]: line.get_ydata() for line in ax.lines}
    for name in study.interval.values:
        ends = intervals.sel(interval=name)
        inside = ((ends.lower <= ends.truth) & (ends.truth <= ends.upper)).values
        expected = [inside[: k + 1].mean() for k in range(4)]
        np.testing.assert_allclose(lines[name], expected)
    n = np.arange(1, study.sizes["data_set"] + 1)
    noise = 2 * np.sqrt(0.8 * 0.2 / n)
    ends = np.transpose([0.8 - noise, np.minimum(0.8 + noise, 1)])
    np.testing.assert_allclose(band_ends(ax.collections[0], n), ends, atol=1e-12)


@pytest.mark.slow
def test_every_control_of_the_intervals_selects(study, monkeypatch):
    given = []
    for name in ("interval_stack", "running_hits"):
        monkeypatch.setattr(
            coverage_figures, name, lambda study, number, ax: given.append((study, number))
        )
    box = fk.explore.intervals(study)
    find(box, "next").click()
    find(box, "whose FRR is the truth").value = "new people"
    find(box, "nominal coverage").value = 0.8
    find(box, "FAR level").value = 0.1
    expected = study.sel(people="new people", level=0.8, far_level=0.1)
    for shown, number in given[-2:]:
        assert number == 2 and shown.identical(expected)


@pytest.mark.slow
def test_the_stored_study_is_the_default():
    box = fk.explore.intervals()
    assert find(box, "data sets").max == 200
    find(box, "100 more").click()
    assert "image/png;base64" in picture(box)
