"""Figures and explorer of coverage studies draw what the study contains."""

import json

import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection
from test_explore import find, follows, picture

import frkit as fk

FAR = [1e-3, 1e-2, 1e-1]
LEVELS = [0.5, 0.8, 0.95]


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    plt.close("all")


def made(schemes=("image",)) -> xr.Dataset:
    """A study made by hand: recentered covers as it should, naive half as often."""
    n = len(schemes)
    nominal = np.array(LEVELS)[:, None] * np.ones(len(FAR))
    values = np.stack([nominal, nominal / 2])[None].repeat(n, 0)
    dims, by_far = ("scheme", "method", "level", "far_level"), ("scheme", "far_level")
    law = np.array([[-0.2, 0, 0.2], [-0.1, 0, 0.1]])[None, :, :, None] * np.ones((n, 1, 1, 3))
    data = {
        "coverage": (dims, values),
        "coverage_se": (dims, np.full(values.shape, 0.02)),
        "resolved": (by_far, [[1.0, 1.0, 0.1]] * n),
        "law": (("scheme", "errors", "probability", "far_level"), law),
    }
    for name in ("kolmogorov", "kolmogorov_chance", "wasserstein", "wasserstein_chance"):
        data[name] = by_far, np.full((n, 3), 0.25)
    coords = {
        "scheme": list(schemes),
        "method": ["recentered", "naive"],
        "level": LEVELS,
        "far_level": FAR,
        "errors": ["bootstrap", "actual"],
        "probability": [0.25, 0.5, 0.75],
    }
    drawn = dict(n_datasets=20, n_identities=30, per_identity=5, dim=16, replicates=20, seed=3)
    study = json.dumps(drawn | {"concentrations": [10.0, 40.0]})
    return xr.Dataset(data, coords, {"study": study, "words": "20 data sets"})


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return found


def test_coverage_stands_over_its_nominal_level():
    printed = xr.DataArray([[0.5, 0.7]], {"method": ["naive"], "level": [0.8, 0.95]})
    ax = fk.plot.coverage(made(), far=1e-3, printed=printed)
    np.testing.assert_allclose(line(ax, "recentered").get_xydata(), np.transpose([LEVELS, LEVELS]))
    np.testing.assert_allclose(line(ax, "naive").get_ydata(), np.array(LEVELS) / 2)
    np.testing.assert_allclose(line(ax, "naive, printed").get_xydata(), [[0.8, 0.5], [0.95, 0.7]])


def test_coverage_along_far_marks_levels_that_are_not_resolved():
    ax = fk.plot.coverage_along(made().sel(level=0.95).isel(scheme=0))
    np.testing.assert_allclose(line(ax, "recentered").get_xydata(), [[far, 0.95] for far in FAR])
    recentered, naive = (found for found in ax.collections if isinstance(found, PathCollection))
    for points in (recentered, naive):
        hollow = (points.get_facecolors() == 1).all(axis=1)
        assert points.get_offsets()[hollow, 0].tolist() == [0.1]


def test_laws_are_drawn_as_distribution_functions():
    ax = fk.plot.error_laws(made(), far=1e-2)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[-0.2, 0.25], [0, 0.5], [0.2, 0.75]])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [-0.1, 0, 0.1])


def test_figures_say_what_they_need():
    wrong = {
        "shows one scheme": lambda: fk.plot.coverage(made(("image", "identity")), far=0.1),
        "all but one": lambda: fk.plot.coverage_along(made()),
    }
    for words, draw in wrong.items():
        with pytest.raises(fk.InputError, match=words):
            draw()


@pytest.mark.slow
def test_the_explorer_follows_its_controls():
    box = fk.explore.coverage(made(("image", "identity")))
    assert picture(box).startswith(b"\x89PNG")
    moves = {"FAR level": 1e-1, "nominal coverage": 0.5, "on the right": "laws"}
    for description, value in moves.items():
        assert follows(box, description, value), description
    assert follows(box, "scheme", "identity")


def test_the_button_computes_a_study_of_the_size_asked_for(monkeypatch):
    asked = {}

    def compute(mixture, **settings):
        asked.update(settings, n_identities=mixture.n_identities, dim=mixture.dim)
        return made()

    monkeypatch.setattr(fk.studies, "coverage", compute)
    box = fk.explore.coverage(made())
    find(box, "identities K").value = 80
    find(box, "images per identity n_k").value = 7
    find(box, "Run a study of this size").click()
    sizes = [asked[name] for name in ("n_identities", "dim", "per_identity", "n_datasets")]
    assert sizes == [80, 16, 7, 20]
    assert (asked["replicates"], asked["seed"]) == (20, 3)
