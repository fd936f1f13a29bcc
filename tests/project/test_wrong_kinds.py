"""A value of the wrong kind is refused in frkit's words, whichever function it is given to."""

import numpy as np
import pytest
import xarray as xr
from refusals import refused

import frkit as fk

MIX = fk.vmf.mixture(8, 8, kappa=(20, 40), seed=0)
FACES = MIX.sample(4, seed=1).assign_coords(gender=("image", np.repeat(["f", "m"] * 4, 4)))
SCORES = fk.score_tensor(FACES)
GROWN = fk.studies.consistency(MIX, sizes=(2, 3), far=[0.1], seeds=1, progress=False)
OTHER_TREE = xr.DataTree(xr.Dataset({"x": 1}))
NO_MAPPINGS = {
    "a list": ["a", "b"],
    "faces": FACES,
    "scores": SCORES,
    "another tree": OTHER_TREE,
    "text": "a",
}


@pytest.fixture(scope="module")
def evaluation():
    return fk.evaluate(SCORES, far=[0.1, 0.3], by="gender")


@pytest.mark.parametrize("value", NO_MAPPINGS.values(), ids=NO_MAPPINGS)
@pytest.mark.parametrize(
    "question",
    {
        "mixture": lambda value: fk.vmf.mixture(10, 8, groups=value),
        "subspace_mixture": fk.vmf.subspace_mixture,
        "sample_encoders": fk.vmf.sample_encoders,
        "score_matrix": lambda value: fk.score_matrix(np.eye(2), *["ab"] * 2, attributes=value),
        "columns": lambda value: fk.open_data("pairs.csv", columns=value),
    }.items(),
    ids=lambda item: item[0],
)
def test_a_mapping_is_asked_for_with_an_example(question, value):
    with pytest.raises(fk.InputError, match=r"must be a mapping such as \{.*, got "):
        question[1](value)


@pytest.mark.parametrize("question", [fk.vmf.sample_encoders])
def test_an_empty_mapping_of_models_is_refused(question):
    with refused("mapping", "empty"):
        question({})


WRONG = {
    "weighting": (lambda ev: fk.evaluate(SCORES, weighting=["a", "b"]), "weighting"),
    "attributes": (lambda ev: fk.sweep(SCORES, by=SCORES), "by"),
    "target": (lambda ev: fk.band(ev, "frr", target=["new people"]), "target"),
    "floor": (lambda ev: fk.fair_floor(ev, "frr_gini", target=[]), "target"),
    "flag": (lambda ev: fk.band(ev, "frr", simultaneous=SCORES), "simultaneous"),
    "groups": (lambda ev: fk.compare(ev, "frr_group", groups=3), "groups"),
    "letters": (lambda ev: fk.compare(ev, "frr_group", groups="fm"), "groups"),
    "models": (lambda ev: fk.compare(ev, "frr", models=SCORES), "models"),
    "bands": (lambda ev: fk.decision_zones(None), "bands"),
    "tree": (lambda ev: fk.band(OTHER_TREE, "frr"), "evaluate(...)"),
    "c": (lambda ev: fk.measures.fdr(c=None), "c"),
    "risk": (lambda ev: fk.nsigma.summarise(None), "rates"),
    "rate": (lambda ev: fk.representation.Critic(learning_rate=None), "learning_rate"),
    "law": (lambda ev: fk.studies.coverage(FACES), "population"),
    "sizes": (lambda ev: fk.measures.fusion_weights(FACES), "sizes"),
    "kappa": (lambda ev: fk.vmf.mixture(10, 8, kappa=["a", "b"]), "kappa"),
    "number": (lambda ev: fk.vmf.mixture(None), "n_identities"),
    "seed": (lambda ev: fk.vmf.mixture(10, 8, seed="a"), "seed"),
    "images": (lambda ev: MIX.sample(0), "per_identity"),
    "scheme": (
        lambda ev: fk.indices.distributions(SCORES, by="gender", resampling=[5]),
        "resampling",
    ),
    "critic": (lambda ev: fk.representation_bias(FACES, "gender", critic=[1]), "Critic"),
    "seeds": (
        lambda ev: fk.representation_bias(FACES, "gender", seeds=["a"]),
        "seeds",
    ),
    "no attribute": (
        lambda ev: fk.representation_bias(FACES.drop_vars("gender"), "gender"),
        "gender",
    ),
    "nothing": (lambda ev: fk.representation_bias(FACES, None), "attribute"),
    "mixture": (lambda ev: fk.studies.bootstrap_bias(None), "mixture"),
    "curves": (lambda ev: fk.studies.sup_distance(FACES), "result"),
    "path": (lambda ev: fk.open_data(None), "path"),
    "kind": (
        lambda ev: fk.open_data("README.md", kind=["lfw"]),
        "kind",
    ),
    "figure": (
        lambda ev: fk.plot.score_histograms(SCORES),
        "result",
    ),
    "figure of people": (lambda ev: fk.plot.errors_by_person(ev), "who"),
    "labels": (
        lambda ev: fk.representation.parity_gaps(FACES, [0, 1], ["a", "b"]),
        "truth",
    ),
    "groups sizes": (lambda ev: fk.canonical_scores(sizes=30), "sizes"),
    "negative": (lambda ev: fk.nsigma.floor(SCORES, by="gender", seed=-1), "seed"),
    "list": (lambda ev: MIX.population_roc(0.1, by=["a"]), "attributes"),
    "column": (lambda ev: fk.studies.spurious(FACES, "zz"), "attribute"),
    "plan": (lambda ev: fk.plot.sample_size(FACES), "plan"),
    "matrix": (lambda ev: fk.plot.cross_matrix(3), "rates"),
    "size": (lambda ev: fk.plot.growth(GROWN, size=5), "size"),
    "share": (lambda ev: fk.measures.unnormalised_weight(95, 2), "share"),
    "people": (lambda ev: MIX.draw(95), "n_identities"),
    "no copies": (lambda ev: MIX.rotated_copies([]), "distinct"),
    "patience": (lambda ev: fk.representation.Critic(patience=-1), "patience"),
    "percent": (lambda ev: fk.report(FACES, far=95), "far"),
    "permutations": (
        lambda ev: fk.fairness_indices(SCORES, by="gender", permutations="a"),
        "permutations",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_and_what_is_expected(name, evaluation):
    question, message = WRONG[name]
    with refused(message):
        question(evaluation)
