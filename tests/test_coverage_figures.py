"""Figures and explorer of coverage studies draw what the study holds."""

import json

import ipywidgets as widgets
import numpy as np
import pytest
import xarray as xr
from test_explore import find, follows, picture

import frkit as fk

FAR = [1e-3, 1e-2, 1e-1]
LEVELS = [0.5, 0.8, 0.95]
METHODS = ["recentered", "naive"]


def made(schemes=("image",), **attrs) -> xr.Dataset:
    """A study made by hand: recentered covers as it should, naive half as often."""
    nominal = np.array(LEVELS)[:, None] * np.ones(len(FAR))
    values = np.stack([nominal, nominal / 2])[None].repeat(len(schemes), 0)
    dims = ("scheme", "method", "level", "far_level")
    quantiles = np.array([[-0.2, 0, 0.2], [-0.1, 0, 0.1]])[None, :, :, None] * np.ones(
        (len(schemes), 1, 1, len(FAR))
    )
    by_far = ("scheme", "far_level")
    distances = {
        "kolmogorov": 0.25,
        "kolmogorov_chance": 0.2,
        "wasserstein": 0.05,
        "wasserstein_chance": 0.04,
    }
    study = {
        "n_datasets": 20,
        "n_identities": 30,
        "per_identity": 5,
        "dim": 16,
        "concentrations": [10.0, 40.0],
    }
    return xr.Dataset(
        {
            "coverage": (dims, values),
            "coverage_se": (dims, np.full(values.shape, 0.02)),
            "resolved": (by_far, np.array([[1.0, 1.0, 0.1]] * len(schemes))),
            "law": (("scheme", "errors", "probability", "far_level"), quantiles),
            **{name: (by_far, np.full((len(schemes), 3), value)) for name, value in distances.items()},
        },
        coords={
            "scheme": list(schemes), "method": METHODS, "level": LEVELS, "far_level": FAR,
            "errors": ["bootstrap", "actual"], "probability": [0.25, 0.5, 0.75],
        },
        attrs={"study": json.dumps(study | {"replicates": 20, "seed": 3}), "words": "20 data sets", **attrs},
    )  # fmt: skip


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return found


def test_coverage_stands_over_its_nominal_level():
    printed = xr.DataArray([[0.5, 0.7]], {"method": ["naive"], "level": [0.8, 0.95]})
    ax = fk.plot.coverage(made(), far=1e-3, printed=printed)
    np.testing.assert_allclose(line(ax, "recentered").get_xydata(), np.transpose([LEVELS, LEVELS]))
    np.testing.assert_allclose(line(ax, "naive").get_ydata(), np.array(LEVELS) / 2)
    np.testing.assert_allclose(line(ax, "naive, printed").get_xydata(), [[0.8, 0.5], [0.95, 0.7]])
    assert "FAR 0.001, image scheme" in ax.get_title("left")


def test_coverage_along_far_marks_levels_that_are_not_resolved():
    ax = fk.plot.coverage_along(made().sel(level=0.95).isel(scheme=0))
    np.testing.assert_allclose(line(ax, "recentered").get_xydata(), [[far, 0.95] for far in FAR])
    hollow = [
        one for one in ax.lines if one.get_markerfacecolor() == "white" and one.get_marker() == "o"
    ]
    assert [one.get_xdata().tolist() for one in hollow] == [[0.1], [0.1]]
    assert "nominal 0.95, image scheme" in ax.get_title("left")


def test_what_is_good_at_95_percent_is_shown_there_only():
    shown = [
        fk.plot.coverage_along(made().sel(level=level).isel(scheme=0))
        for level in made().level.values
    ]
    words = [any("0.92" in label for label in ax.get_legend_handles_labels()[1]) for ax in shown]
    assert words == (made().level.values == 0.95).tolist() and sum(words) == 1


def test_coverage_along_another_quantity_has_a_tick_for_each_value():
    ds = xr.Dataset({"coverage": (("method", "per_identity"), [[0.9, 0.94], [0.2, 0.3]])},
                    {"method": METHODS, "per_identity": [2, 10]})  # fmt: skip
    ax = fk.plot.coverage_along(ds, "per_identity")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2", "10"]
    np.testing.assert_allclose(line(ax, "naive").get_ydata(), [0.2, 0.3])
    schemes = made(("image", "identity")).sel({"level": 0.95, "method": "naive"})
    assert line(fk.plot.coverage_along(schemes), "identity").get_ydata().tolist() == [0.475] * 3


def test_laws_are_drawn_as_distribution_functions():
    ax = fk.plot.error_laws(made(), far=1e-2)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[-0.2, 0.25], [0, 0.5], [0.2, 0.75]])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [-0.1, 0, 0.1])
    assert "Kolmogorov distance 0.25" in ax.get_title("left")


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: fk.plot.coverage(made(("image", "identity")), far=0.1), "shows one scheme"),
        (lambda: fk.plot.coverage(xr.Dataset(), far=0.1), "has no coverage"),
        (lambda: fk.plot.coverage_along(made()), "all but one"),
        (lambda: fk.plot.coverage_along(made(), "dim"), "along, a dimension of the study"),
        (lambda: fk.plot.error_laws(xr.Dataset(), far=0.1), "has no law"),
    ],
)
def test_figures_say_what_they_need(draw, words):
    with pytest.raises(fk.InputError, match=words):
        draw()


def test_the_explorer_follows_its_controls():
    box = fk.explore.coverage(made(("image", "identity")))
    assert picture(box).startswith(b"\x89PNG")
    for description, value in (
        ("FAR level", 1e-1),
        ("nominal coverage", 0.5),
        ("on the right", "laws"),
    ):
        assert follows(box, description, value), description
    assert follows(box, "scheme", "identity")


def test_the_button_computes_a_study_of_the_size_asked_for(monkeypatch):
    asked = {}

    def compute(mixture, **settings):
        asked.update(settings, n_identities=mixture.n_identities, dim=mixture.dim)
        return made(words="the new study")

    monkeypatch.setattr(fk.studies, "coverage", compute)
    box = fk.explore.coverage(made())
    before = picture(box)
    find(box, "identities K").value = 80
    find(box, "images per identity n_k").value = 7
    find(box, "Run a study of this size").click()
    assert (asked["n_identities"], asked["dim"], asked["per_identity"], asked["n_datasets"]) == (
        80,
        16,
        7,
        20,
    )
    assert (asked["replicates"], asked["seed"]) == (20, 3)
    assert (asked["methods"], asked["levels"]) == (tuple(METHODS), tuple(LEVELS))
    assert picture(box) != before
    assert all(isinstance(child, widgets.Widget) for child in box.children)
