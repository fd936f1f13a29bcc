"""Every result says which public function returned it, whatever is selected, also from a file."""

from operator import attrgetter

import numpy as np
import pytest
import xarray as xr
from study_results import MIX, biased, growing

import frkit as fk
from frkit.intervals.rows import rows_of

pytestmark = pytest.mark.filterwarnings("ignore")  # cautions of small data
PEOPLE = fk.vmf.mixture(24, 8, kappa=(8, 30), seed=0, groups={"a": {}, "b": {}})
FACES = fk.open_data({"Ash": PEOPLE.sample(5, 1), "Birch": PEOPLE.sample(5, 2)})
SCORES = fk.score_tensor(FACES)
ASH = SCORES.sel(model="Ash")
OPTIONS = {"n_datasets": 2, "far": [0.1], "replicates": 4, "progress": False}
CLASSES = fk.representation.shifted_classes(60, 4)
LABELS = [0, 1, 0, 1], [0, 1, 1, 1], [*"aabb"]
BRIEF = {"critic": fk.representation.Critic(iterations=25), "progress": False}


@pytest.fixture(scope="module")
def evaluation():
    draws = fk.Resampling("image", n=20)
    return fk.evaluate(SCORES, far=[0.1, 0.3], by="group", resampling=draws)


OF_AN_EVALUATION = {
    "band": lambda ev: fk.band(ev, "frr_group"),
    "compare": lambda ev: fk.compare(ev, "frr"),
    "fair_floor": lambda ev: fk.fair_floor(ev, "frr_max_min"),
    "uncertainty": lambda ev: fk.uncertainty(ev, "frr"),
    "replicate_curves": lambda ev: fk.replicate_curves(ev),
    "decision_zones": lambda ev: fk.decision_zones(fk.band(ev, "frr_gini")),
}
OTHERS = {
    "errors_by_person": lambda: fk.errors_by_person(SCORES, far=0.1),
    "worst_pairs": lambda: fk.worst_pairs(ASH, fk.errors_by_person(ASH, far=0.1).isel(far_level=0)),
    "nearest_people": lambda: fk.nearest_people(ASH),
    "verification_metrics": lambda: fk.verification_metrics(SCORES),
    "fairness_indices": lambda: fk.fairness_indices(SCORES, by="group", permutations=3),
    "n_sigma": lambda: fk.n_sigma(SCORES, by="group", subsets=5, fpr=0.1),
    "representation_bias": lambda: fk.representation_bias(CLASSES, "group", seeds=1, **BRIEF),
    "representation.convergence": lambda: fk.representation.convergence(CLASSES, "group", **BRIEF),
    "representation.probe": lambda: fk.representation.probe(CLASSES, "group"),
    "representation.distance_correlation": lambda: fk.representation.distance_correlation(
        CLASSES, "group", permutations=3
    ),
    "representation.parity_gaps": lambda: fk.representation.parity_gaps(*LABELS),
    "representation.cohort_spread": lambda: fk.representation.cohort_spread(*LABELS),
    "studies.consistency": growing,
    "studies.sup_distance": lambda: fk.studies.sup_distance(growing()),
    "studies.bootstrap_bias": biased,
    "studies.coverage": lambda: fk.studies.coverage(MIX, **OPTIONS),
    "studies.sample_size": lambda: fk.studies.sample_size(ASH, "relative_half_width", 0.2, far=0.1),
}
WITH_ROWS = ("band", "compare", "fair_floor", "fairness_indices", "n_sigma", "representation_bias")


def check(kind, result, path):
    """The kind names a public function; it stays when a part is selected, and in a file."""
    assert result.attrs["kind"] == kind
    assert callable(attrgetter(kind)(fk))
    for dim in result.dims:
        assert result.isel({dim: [0]}).attrs["kind"] == kind
        assert result.isel({dim: 0}).attrs["kind"] == kind
    if isinstance(result, xr.Dataset):
        result.to_netcdf(path, engine="h5netcdf")
        stored = xr.load_dataset(path, engine="h5netcdf")
        assert stored.attrs["kind"] == kind
        if kind in WITH_ROWS:
            np.testing.assert_array_equal(rows_of(stored), rows_of(result))


@pytest.mark.parametrize("kind", OF_AN_EVALUATION)
def test_results_of_an_evaluation(evaluation, kind, tmp_path):
    check(kind, OF_AN_EVALUATION[kind](evaluation), tmp_path / "result.nc")


def of_studies(kind):
    """Studies repeat an evaluation many times."""
    return pytest.param(kind, marks=[pytest.mark.slow] * kind.startswith("studies"))


@pytest.mark.parametrize("kind", [of_studies(kind) for kind in OTHERS])
def test_results_of_scores_faces_and_labels(kind, tmp_path):
    check(kind, OTHERS[kind](), tmp_path / "result.nc")
