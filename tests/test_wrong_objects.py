"""Every plot and explorer called with the wrong object says which argument is wrong, and which call makes it.

The cases come from the signatures: each argument of each public function, with results of all other calls, with
values of other kinds, and with its own result after a variable or an attribute was lost.
"""

import inspect
import warnings
from functools import cache

import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import frkit as fk
from frkit.explore import canvas

FAR = [0.05, 0.1, 0.2]
THINGS = {
    "None": None, "number": 5, "negative": -1, "text": "x", "bytes": b"x", "list": [], "list of text": ["x"],
    "dict": {}, "names of nothing": {"a": None}, "NaN": float("nan"), "object": object(), "function": print,
    "array": np.eye(3),
    "empty Dataset": xr.Dataset(), "a Dataset": xr.Dataset({"x": ("y", [1.0, 2.0])}), "DataArray": xr.DataArray([1.0]),
    "empty DataTree": xr.DataTree(), "by number": {1: xr.Dataset()}, "type": int, "set": {1},
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    """Explorers draw, but their pictures are not written, which would take most of the time."""
    monkeypatch.setattr(canvas, "_png", lambda part: b"")


@cache
def results():
    """What each call returned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        mix = fk.vmf.mixture(20, 8, kappa=(4, 9), seed=0)
        two = fk.vmf.mixture(40, 8, seed=0, groups={"a": {"kappa": (8, 14)}, "b": {"kappa": (6, 10)}})
        faces = two.sample(5, seed=1)
        scores = fk.score_tensor(faces)
        pair = fk.score_tensor(fk.stack_models({"A": faces, "B": faces}))
        draws = fk.Resampling("image", n=20)
        alone = fk.evaluate(scores, far=FAR, resampling=draws)
        grouped = fk.evaluate(scores, far=FAR, by="group", resampling=draws)
        n = fk.n_sigma(scores, by="group", subsets=30, fpr=0.1)
        study = fk.studies.coverage(mix, n_datasets=4, far=[0.1, 0.2], replicates=20, progress=False)
        growing = fk.studies.consistency(mix, sizes=(4, 8), far=[0.1, 0.2], seeds=2)
        curve = ("fold", "step"), [[0, 0.2]]
        zone = xr.Dataset({"zone": ("far_level", list("ABC"))}, {"far_level": FAR})
        return {
            "mixture": mix,
            "faces": faces,
            "scores": scores,
            "evaluation": alone,
            "groups": grouped,
            "band": fk.band(alone, "frr"),
            "far of groups": fk.band(grouped, "far_group"),
            "frr of groups": fk.band(grouped, "frr_group"),
            "eer of groups": fk.band(grouped, "eer_group"),
            "disparity": fk.band(grouped, "frr_max_min"),
            "floor": fk.floor(grouped, "frr_max_min"),
            "zones": zone,
            "fan": fk.fan(alone),
            "difference": fk.compare(alone, alone, "frr"),
            "crossed": grouped["empirical"].far_cross.isel(far_level=0),
            "indices": fk.fairness_indices(fk.canonical_scores(), by="group", score_map="identity", bins=20),
            "pairs": fk.canonical_scores(),
            "n": n,
            "n by subsets": fk.nsigma.by_subsets(n),
            "rlb": xr.Dataset({"rlb": ("model", [0.1]), "rlb_se": ("model", [0.02])}, {"model": ["A"]}),
            "training": xr.Dataset({"in_sample": curve, "held_out": curve}, {"step": [0, 25]}),
            "true bias": fk.studies.true_bias(0.5),
            "trial": fk.studies.trial(2.0, 200, 4, hidden=8),
            "coverage": study,
            "coverage of a level": study.sel(level=0.95).isel(scheme=0),
            "consistency": growing,
            "distances": fk.studies.sup_distance(growing),
            "bias": fk.studies.bootstrap_bias(mix, per_identity=(5, 10), far=[0.1, 0.2], n=20),
            "plan": fk.studies.sample_size(faces, "half_width", 0.05, far=0.1, progress=False),
            "population": mix.population_roc(FAR),
            "who": fk.contributions(scores, far=[0.1]).isel(far_level=0),
            "frr of models": fk.band(fk.evaluate(pair, far=FAR, by="group", resampling=None), "frr_group"),
        }


# function -> argument -> the result that is right for it; "=" before a value that is meant itself
RIGHT = {
    "explore.predict": {
        "question": ("=", "How high?"), "draw": ("=", lambda ax: ax.plot([0, 1])), "low": ("=", 0), "high": ("=", 9),
        "answer": ("=", 7),
    },  # fmt: skip
    "plot.bootstrap_bias": {"study": "bias", "far": ("=", 0.1)},
    "plot.comparators": {"one": "trial"},
    "plot.consistency": {"result": "distances"},
    "plot.contributions": {"who": "who", "rate": ("=", "frr"), "people": ("=", 3)},
    "plot.convergence": {"result": {"noise": "training"}},
    "plot.coverage": {"study": "coverage", "far": ("=", 0.1), "printed": None},
    "plot.coverage_along": {"study": "coverage of a level", "along": ("=", "far_level")},
    "plot.cross_matrix": {"rates": "crossed"},
    "plot.dependence": {"found": "n by subsets", "variable": ("=", "p_value")},
    "plot.difference": {"comparison": "difference"},
    "plot.eer_distributions": {"result": "n", "intervals": "eer of groups"},
    "plot.error_laws": {"study": "coverage", "far": ("=", 0.1)},
    "plot.fairness": {"bands": "disparity", "floors": "floor", "zones": "zones"},
    "plot.fairness_indices": {"found": "indices"},
    "plot.fan": {"replicates": "fan", "truth": "population"},
    "plot.group_roc": {"far": "far of groups", "frr": "frr of groups"},
    "plot.headline": {"figure": ("=", Figure()), "finding": ("=", "Both fall"), "one_legend": ("=", False)},
    "plot.set_theme": {},
    "plot.growth": {"result": "consistency", "size": ("=", 4), "far": ("=", (0.1, 0.2))},
    "plot.n_matrix": {"result": "n"},
    "plot.n_sigma": {"result": "n", "signed": ("=", False)},
    "plot.representation_bias": {"result": "rlb"},
    "plot.roc": {"bands": {"a": "band"}, "curves": None, "truth": "population"},
    "plot.roc_by_model": {"bands": "frr of models", "scale": ("=", "log")},
    "plot.sample_size": {"plan": "plan"},
    "plot.score_histograms": {"found": "indices"},
    "plot.trials": {"truth": "true bias", "done": ["trial"]},
    "explore.bootstrap_bias": {"study": "bias", "mixture": "mixture"},
    "explore.consistency": {"result": "consistency"},
    "explore.coverage": {"study": "coverage"},
    "explore.fairness": {"evaluation": "groups", "scores": "scores", "varying": ("=", "error")},
    "explore.fairness_indices": {"scores": "pairs", "by": ("=", "group"), "deals": ("=", 2),
                                 "score_maps": ("=", {"as they are": "identity"})},
    "explore.n_sigma": {"result": "n"},
    "explore.representation_bias": {"per_identity": ("=", 3)},
    "explore.own_data": {"path": ("=", None)},
    "explore.roc": {"evaluation": "evaluation"},
}  # fmt: skip
ROOMS = {"plot": fk.plot, "explore": fk.explore}
FUNCTIONS = {f"{room}.{name}": getattr(module, name) for room, module in ROOMS.items() for name in module.__all__}
CASES = [
    (name, argument)
    for name, function in FUNCTIONS.items()
    for argument, parameter in inspect.signature(function).parameters.items()
    if parameter.kind is not parameter.VAR_KEYWORD  # an explorer's controls, tested below
]


def of(right):
    """The value that an argument is given where it is right."""
    if isinstance(right, tuple):
        return right[1]
    if isinstance(right, dict):
        return {name: of(one) for name, one in right.items()}
    if isinstance(right, list):
        return [of(one) for one in right]
    return None if right is None else results()[right]


def call(name, argument=None, value=None):
    """Call with the right arguments but for one, and close what was drawn."""
    given = {key: of(right) for key, right in RIGHT[name].items()} | ({argument: value} if argument else {})
    with warnings.catch_warnings(), plt.rc_context():
        warnings.simplefilter("ignore", fk.DataWarning)
        try:
            return FUNCTIONS[name](**given)
        finally:
            plt.close("all")


def outcome(name, argument, value):
    """What became of it: "taken", "refused", or what should not have been."""
    try:
        call(name, argument, value)
    except fk.InputError as error:
        return "refused" if argument in str(error) else f"does not name {argument}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "taken"


def spoiled(value):
    """A result that lost a variable, an attribute, or everything along a dimension."""
    if isinstance(value, xr.Dataset):
        yield from ((f"without {part}", value.drop_vars(part)) for part in value.variables)
        yield from ((f"one {dim}", value.isel({dim: 0})) for dim in value.dims)
        yield "transposed", value.transpose(...)
    if isinstance(value, xr.DataTree):
        yield from ((f"without {part}", value.drop_nodes(part)) for part in value.children)
    if isinstance(value, xr.Dataset | xr.DataTree):
        for key in value.attrs:
            lost = value.copy()
            lost.attrs = {name: held for name, held in value.attrs.items() if name != key}
            yield f"without attribute {key}", lost


def wrong(name, argument):
    """Every object that is not meant for this argument, with its name."""
    right = RIGHT[name].get(argument)
    meant = next(iter(right.values())) if isinstance(right, dict) else right
    yield from THINGS.items()
    yield from ((f"result: {key}", value) for key, value in results().items() if key != meant)
    if isinstance(meant, str):
        yield from spoiled(results()[meant])


# what is meant for something else and can be drawn for what it is: bands of rates by group, say, are curves, too
TAKEN = {
    "explore.predict.answer": ["number", "negative"],
    "explore.predict.draw": ["function", "type"],
    "explore.predict.high": ["number"],
    "explore.predict.low": ["number", "negative"],
    "explore.predict.question": ["text"],
    "plot.coverage.printed": ["None"],
    "plot.eer_distributions.intervals": ["None"],
    "plot.error_laws.study": ["result: coverage of a level"],
    "plot.contributions.people": ["number"],
    "plot.fairness.bands": ["result: band", "result: far of groups", "result: frr of groups", "result: frr of models"],
    "plot.fairness.floors": ["None"],
    "plot.fairness.zones": ["None"],
    "plot.fan.truth": ["None"],
    "plot.growth.far": ["None"],
    "plot.headline.finding": ["text"],
    "plot.n_matrix.result": ["result: n by subsets"],
    "plot.n_sigma.result": ["result: n by subsets"],
    "plot.representation_bias.result": ["result: trial"],
    "plot.roc.bands": [
        "result: far of groups", "result: frr of groups", "result: disparity", "result: frr of models",
    ],
    "plot.roc.curves": ["None", "result: consistency", "result: population"],
    "plot.roc.truth": ["None"],
    "plot.trials.done": ["list"],
    "explore.bootstrap_bias.mixture": ["None"],
    "explore.fairness.scores": ["None"],
    "explore.fairness.varying": ["dict"],
    "explore.fairness_indices.deals": ["number"],
    "explore.representation_bias.per_identity": ["number"],
    "explore.own_data.path": ["None", "text"],
    "explore.roc.evaluation": ["result: groups"],
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_right_objects_are_drawn(name):
    call(name)


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_a_wrong_object_is_refused_by_the_name_of_the_argument(name, argument):
    found = {words: outcome(name, argument, value) for words, value in wrong(name, argument)}
    assert len(found) >= 40
    odd = {words: what for words, what in found.items() if what not in ("taken", "refused")}
    assert odd == {}
    kinds = [*THINGS, *(f"result: {key}" for key in results())]
    taken = [words for words in kinds if found.get(words) == "taken"]
    assert taken == (["None"] if argument == "ax" else TAKEN.get(f"{name}.{argument}", []))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_refusal_says_which_call_makes_the_right_one(name):
    (argument, right), *_ = [*RIGHT[name].items(), ("", ())]
    if isinstance(right, tuple):
        pytest.skip("it takes no result")
    with pytest.raises(fk.InputError, match=r"must be what .*(\(|\.).* returned|score tensor|score_tensor"):
        call(name, argument, 5)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.startswith("explore.")])
def test_an_explorer_starts_at_what_its_controls_offer_or_says_so(name):
    given = {key: of(right) for key, right in RIGHT[name].items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        with pytest.raises(fk.InputError, match="'no_such'"):
            FUNCTIONS[name](**given, no_such=5)
        controls = str(pytest.raises(fk.InputError, FUNCTIONS[name], **given, no_such=5).value).partition("are ")[2]
        for control in controls.split(", "):
            for value in (None, 5, "x", [], float("nan"), object()):
                try:
                    FUNCTIONS[name](**given, **{control: value})
                except fk.InputError as error:
                    assert control in str(error)


def test_nothing_is_drawn_before_a_result_is_refused():
    before = plt.get_fignums()
    with pytest.raises(fk.InputError):
        fk.plot.roc(5)
    assert plt.get_fignums() == before
