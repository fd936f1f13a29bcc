"""A value of the wrong kind is refused in frkit's words, whichever function it is given to."""

import numpy as np
import pytest
import xarray as xr

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
    with pytest.raises(fk.InputError, match="must be a mapping such as .*, got an empty one"):
        question({})


WRONG = {
    "weighting": (lambda ev: fk.evaluate(SCORES, weighting=["a", "b"]), "weighting must be .ident"),
    "attributes": (lambda ev: fk.sweep(SCORES, by=SCORES), "by must be the name of an attrib"),
    "target": (lambda ev: fk.band(ev, "frr", target=["new people"]), "target must be one of"),
    "floor": (lambda ev: fk.fair_floor(ev, "frr_gini", target=[]), "target must be one of"),
    "flag": (lambda ev: fk.band(ev, "frr", simultaneous=SCORES), "simultaneous must be True or"),
    "groups": (lambda ev: fk.compare(ev, "frr_group", groups=3), "must be .all., or two of"),
    "letters": (lambda ev: fk.compare(ev, "frr_group", groups="fm"), "must be 'all', or two of"),
    "models": (lambda ev: fk.compare(ev, "frr", models=SCORES), "models are compared in"),
    "bands": (lambda ev: fk.decision_zones(None), "bands must be what fk.band returned"),
    "tree": (lambda ev: fk.band(OTHER_TREE, "frr"), "this is not an evaluation"),
    "c": (lambda ev: fk.measures.fdr(c=None), "the weight c of FAR must lie in"),
    "risk": (lambda ev: fk.nsigma.summarise(None), "rates must be what fk.n_sigma returned"),
    "rate": (lambda ev: fk.representation.Critic(learning_rate=None), "learning_rate must lie in"),
    "law": (lambda ev: fk.studies.coverage(FACES), "population must be what fk.vmf.mixture"),
    "sizes": (lambda ev: fk.measures.fusion_weights(FACES), "sizes of groups must be numbers"),
    "kappa": (lambda ev: fk.vmf.mixture(10, 8, kappa=["a", "b"]), "kappa must be numbers"),
    "number": (lambda ev: fk.vmf.mixture(None), "n_identities must be a whole number"),
    "seed": (lambda ev: fk.vmf.mixture(10, 8, seed="a"), "seed must be a whole number"),
    "images": (lambda ev: MIX.sample(0), "per_identity must be the number of images"),
    "scheme": (
        lambda ev: fk.indices.distributions(SCORES, by="gender", resampling=[5]),
        "resampling must be made by",
    ),
    "critic": (lambda ev: fk.representation_bias(FACES, "gender", critic=[1]), "must be a Critic"),
    "seeds": (
        lambda ev: fk.representation_bias(FACES, "gender", seeds=["a"]),
        "seeds must be a whole",
    ),
    "no attribute": (
        lambda ev: fk.representation_bias(FACES.drop_vars("gender"), "gender"),
        "these faces have no attribute",
    ),
    "nothing": (lambda ev: fk.representation_bias(FACES, None), "attribute must be the name"),
    "mixture": (lambda ev: fk.studies.bootstrap_bias(None), "mixture must be what fk.vmf.mixt"),
    "curves": (lambda ev: fk.studies.sup_distance(FACES), "result must be what fk.studies.cons"),
    "path": (lambda ev: fk.open_data(None), "path must be the path of a file"),
    "kind": (
        lambda ev: fk.open_data("README.md", kind=["lfw"]),
        "kind must be .faces., .matrix. or .pairs.",
    ),
    "figure": (
        lambda ev: fk.plot.score_histograms(SCORES),
        "result must be what frkit.fairness_indices returned",
    ),
    "figure of people": (lambda ev: fk.plot.errors_by_person(ev), "who must be what a function"),
    "labels": (
        lambda ev: fk.representation.parity_gaps(FACES, [0, 1], ["a", "b"]),
        "truth must be labels of the images",
    ),
    "groups sizes": (lambda ev: fk.canonical_scores(sizes=30), "sizes must be two or three"),
    "negative": (lambda ev: fk.nsigma.floor(SCORES, by="gender", seed=-1), "seed must be a whole"),
    "list": (lambda ev: MIX.population_roc(0.1, by=["a"]), "the mixture's attributes are"),
    "column": (lambda ev: fk.studies.spurious(FACES, "zz"), "attribute must be one of gender, id"),
    "plan": (lambda ev: fk.plot.sample_size(FACES), "plan must be what fk.studies.sample_size"),
    "matrix": (lambda ev: fk.plot.cross_matrix(3), "rates: this figure shows values over group"),
    "size": (lambda ev: fk.plot.growth(GROWN, size=5), "size must be one of 2"),
    "share": (lambda ev: fk.measures.unnormalised_weight(95, 2), "share must lie in"),
    "people": (lambda ev: MIX.draw(95), "n_identities must be at most the mixture's 8, got 95"),
    "no copies": (lambda ev: MIX.rotated_copies([]), "one or more distinct"),
    "patience": (lambda ev: fk.representation.Critic(patience=-1), "patience must be a whole"),
    "percent": (lambda ev: fk.report(FACES, far=95), "far must lie in"),
    "permutations": (
        lambda ev: fk.fairness_indices(SCORES, by="gender", permutations="a"),
        "permutations must be a whole",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_and_what_is_expected(name, evaluation):
    question, message = WRONG[name]
    with pytest.raises(fk.InputError, match=message):
        question(evaluation)
