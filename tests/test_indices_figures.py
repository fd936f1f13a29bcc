"""Figures and explorer of the fairness indices: the drawn data, and controls that are followed."""

import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from test_explore import find, picture

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def found():
    table = fk.canonical_scores("unfair", sizes=(100, 300, 200))
    drawn = fk.Resampling("pair", n=20)
    return fk.fairness_indices(table, by="group", score_map="identity", bins=20, resampling=drawn)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_histograms_stand_in_one_row_for_each_group(found, ax):
    fk.plot.score_histograms(found, ax)
    words = [label.get_text() for label in ax.get_yticklabels()]
    assert words == ["group 1\nn = 200", "group 2\nn = 600", "group 3\nn = 400"]
    filled = [patch for patch in ax.patches if patch.get_fill()]
    assert len(filled) == 6
    impostor = filled[2].get_data()  # group 2
    height = found.impostor_histogram.sel(group="group 2").values
    np.testing.assert_allclose((impostor.values + 1) / (impostor.values + 1).max(), height / height.max(), atol=1e-12)
    np.testing.assert_allclose(impostor.edges, np.linspace(0, 1, 21), atol=1e-12)
    assert (impostor.values + 1).max() <= 1


def test_nine_points_with_intervals_floors_and_printed_values(found, ax):
    fk.plot.fairness_indices(found, ax, printed={"cfi": (0.9, 0.8, 0.7)})
    lines = {line.get_label(): line for line in ax.lines}
    for index in ("sfi", "cfi", "dfi"):
        np.testing.assert_array_equal(lines[index.upper()].get_ydata(), found[index])
    np.testing.assert_array_equal(lines["printed in the paper"].get_ydata(), [0.9, 0.8, 0.7])
    tops = [bar.get_y() for bar in ax.patches]
    np.testing.assert_allclose(tops[:3], found.sfi_floor_limit)
    ends = [part.get_segments() for part in ax.collections if len(part.get_segments()) == 3]
    drawn = np.array(ends[1])[:, :, 1]
    np.testing.assert_array_equal(drawn, np.transpose([found.sfi_lower, found.sfi_upper]))
    assert "pair scheme" in ax.get_title("left")


def test_indices_without_replicates_are_points_only(found, ax):
    bare = found[["sfi", "cfi", "dfi"]].drop_attrs()
    fk.plot.fairness_indices(bare, ax)
    assert len(ax.patches) == 0 and len(ax.collections) == 0 and ax.get_title("left") == ""


def test_components_and_their_mean(found, ax):
    fk.plot.components(found, ax, of="z_compactness")
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], found.z_compactness)
    assert ax.lines[0].get_ydata()[0] == pytest.approx(float(found.z_compactness.mean()))
    with pytest.raises(fk.InputError, match="z_separation"):
        fk.plot.components(found, ax, of="sfi")


def test_weights(found, ax):
    share = np.linspace(0, 1, 11)
    curves = xr.DataArray(
        [fk.measures.unnormalised_weight(share, n) for n in (2, 5)],
        {"n_groups": [2, 5], "share": share},
        ("n_groups", "share"),
    )
    fk.plot.weight_curves(curves, ax)
    np.testing.assert_array_equal(ax.lines[2].get_ydata(), curves.sel(n_groups=5))
    assert ax.lines[3].get_xdata() == pytest.approx([0.2])
    ax.clear()
    turned = found.weights.isel(group=[2, 0, 1])
    fk.plot.group_weights({"paper": found.weights, "again": turned}, ax)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], np.tile(found.weights, 2))
    for call in (lambda: fk.plot.weight_curves(found.weights, ax), lambda: fk.plot.group_weights({}, ax)):
        with pytest.raises(fk.InputError):
            call()


def test_an_index_by_size(found, ax):
    sizes = xr.DataArray([10, 100], dims="size", name="size")
    both = xr.concat([found, found.assign(dfi=found.dfi / 2)], sizes)
    fk.plot.index_by_size(both, ax)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(lines["extremal"], both.dfi.sel(variant="extremal"))
    np.testing.assert_allclose(lines["extremal, random groups"], both.dfi_floor.sel(variant="extremal"))
    with pytest.raises(fk.InputError, match="size"):
        fk.plot.index_by_size(found, ax)


def test_several_models_are_refused(found, ax):
    two = xr.concat([found, found], xr.DataArray(["A", "B"], dims="model", name="model"))
    for draw in (fk.plot.score_histograms, fk.plot.fairness_indices, fk.plot.components):
        with pytest.raises(fk.InputError, match="model"):
            draw(two, ax)


def test_the_explorer_follows_its_controls():
    table = fk.canonical_scores("unfair", sizes=(200, 200, 200))
    box = fk.explore.fairness_indices(table, by="group", score_maps={"as": "identity", "root": np.sqrt}, deals=5)
    seen = {picture(box)}
    for words, value in (
        ("share of it that stays", 0.25),
        ("group that loses people", "group 2"),
        ("bins", 20),
        ("score map", "root"),
        ("DFI: half of the mass to each kind of pair", True),
    ):
        find(box, words).value = value
        seen.add(picture(box))
    assert len(seen) == 6
    find(box, "share of it that stays").value = 1.0
    whole = picture(box)
    find(box, "group that loses people").value = "group 3"
    assert picture(box) == whole, "nobody leaves, whichever group is named"


def test_the_explorer_needs_a_map():
    with pytest.raises(fk.InputError, match="at least one score map"):
        fk.explore.fairness_indices(fk.canonical_scores(), by="group", score_maps={})
