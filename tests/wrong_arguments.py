"""What becomes of wrong arguments: every argument of the public functions with every wrong kind of value, counted.

    python tests/wrong_arguments.py now.json                 tries all cases on the frkit that is imported
    python tests/wrong_arguments.py before.json now.json     counts them, where the functions of both take the argument

Counted in November 2026 for 24 of the functions below (not those that take long: n_sigma, fairness_indices; 2,380 cases
that both take), on the code before arguments were checked in one place (dcdd646) and after:

| outcome                              | before |   now |
|--------------------------------------|-------:|------:|
| one clear line                       |  1,141 | 2,221 |
| raw error (5 now: a user's function) |    957 |     6 |
| accepted in silence, refused now     |    133 |     - |
| accepted, and fits                   |    149 |   153 |
| hung                                 |      0 |     0 |
"""

import inspect
import json
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import xarray as xr

import frkit as fk

SECONDS = 20  # of the clock, after which a call counts as hung
THINGS = {
    "None": None, "number": 5, "zero": 0, "negative": -1, "fraction": 0.5,
    "NaN": float("nan"), "infinite": float("inf"),
    "large": 10**9, "true": True,
    "text": "x", "bytes": b"x", "empty list": [], "list of text": ["x"], "dict": {},
    "names of nothing": {"a": None}, "object": object(), "function": len, "square": np.eye(3), "complex": 1j,
    "Dataset": xr.Dataset({"x": ("y", [1.0, 2.0])}), "DataArray": xr.DataArray([1.0]), "DataTree": xr.DataTree(),
    "set": {1}, "tuple": (0.3, 0.1), "date": np.datetime64("2026-01-01"),
}  # fmt: skip


def spoiled(value) -> dict[str, object]:
    """An array with something wrong in it."""
    if not (isinstance(value, np.ndarray) and value.size > 3):
        return {}
    array, holed = np.asarray(value), np.array(value, object)
    holed.flat[2] = None
    found = {
        "too short": array[:-1], "too long": np.concatenate([array, array[:1]]),
        "one axis more": array[None],
        "nothing": array[:0], "a hole": holed, "all text": np.full(array.shape, "x"), "of objects": list(holed),
        "masked": np.ma.masked_array(array, np.arange(array.size).reshape(array.shape) == 2),
    }  # fmt: skip
    if array.dtype.kind == "f":
        for name, bad in (("a NaN", np.nan), ("infinite", np.inf), ("minus infinite", -np.inf), ("huge", 1e300)):
            found[name] = array.copy()
            found[name].flat[2] = bad
        found |= {"imaginary": array * 1j, "all NaN": array * np.nan, "of whole numbers": array.astype(int)}
    return found


def calls(folder: Path) -> dict[str, tuple]:
    """Function and right arguments of each call."""
    rng = np.random.default_rng(0)
    who, names = np.repeat(np.arange(12), 4).astype(str), np.arange(48).astype(str)
    gender = np.where(np.arange(48) // 4 % 2, "f", "m")
    embedding = rng.normal(size=(48, 6)) + 2 * rng.normal(size=(12, 6)).repeat(4, 0)
    values, row, col = rng.random((48, 48)), rng.integers(0, 48, 400), rng.integers(0, 48, 400)
    np.savez(folder / "f.npz", embedding=embedding, identity=who, gender=gender)
    rows = [",".join([one, *map(str, line)]) for one, line in zip(who, values)]
    (folder / "m.csv").write_text("\n".join([",".join(["", *who]), *rows]))
    faces = fk.faces(embedding, who, gender=gender)
    scores, draws = fk.score_tensor(faces), fk.Resampling("image", n=5)
    how = dict(far=[0.1, 0.2], by="gender", resampling=draws)
    evaluation, shares = fk.evaluate(scores, **how), fk.contributions(scores, far=[0.1]).isel(far_level=0)
    band, groups = fk.band(evaluation, "frr"), [fk.band(evaluation, f"{rate}_group") for rate in ("far", "frr")]
    people = dict(probe_identity=who[row], reference_identity=who[col])
    n, indices = fk.n_sigma(scores, by="gender", subsets=30), fk.fairness_indices(scores, by="gender", bins=10)
    measured = {"evaluation": evaluation, "measure": "frr", "level": 0.9}
    return {
        "faces": (fk.faces, dict(embedding=embedding, identity=who, image=names, model=None, varying="error")),
        "stack_models": (fk.stack_models, dict(models={"A": faces, "B": faces})),
        "open_faces": (fk.open_faces, dict(path=folder / "f.npz", labels=None, embedding=None, identity=None,
                                           image=None, attributes=None, varying=None)),
        "score_tensor": (fk.score_tensor, dict(faces=faces, similarity="cosine", chunks="auto", symmetric=True)),
        "score_matrix": (fk.score_matrix, dict(values=values, probe_identity=who, reference_identity=who, probe=names,
                         reference=names, missing=None, attributes={"gender": (gender, gender)}, chunks=16)),
        "open_scores": (fk.open_scores, dict(path=folder / "m.csv", missing=-1, labels=None)),
        "pairs": (fk.pairs, dict(score=rng.random(400), genuine=who[row] == who[col], probe=names[row], model=None,
                                 reference=names[col], missing=None, **people)),
        "Resampling": (fk.Resampling, dict(scheme="image", n=5, seed=0, strata=None)),
        "far_levels": (fk.far_levels, dict(lowest=1e-3, highest=0.1, per_decade=2)),
        "evaluate": (fk.evaluate, dict(scores=scores, weighting=None, impostors="all", varying="error", **how)),
        "evaluate, thresholds": (fk.evaluate, dict(scores=scores, threshold=[0.3, 0.5], progress=False)),
        "threshold_for_all_groups": (fk.threshold_for_all_groups, dict(scores=scores, far=[0.1], by="gender")),
        "contributions": (fk.contributions, dict(scores=scores, far=[0.1], threshold=None, by="gender")),
        "worst_pairs": (fk.worst_pairs, dict(scores=scores, who=shares, kind="genuine", identities=2, pairs=3)),
        "band": (fk.band, dict(measured, method=None, target=None)),
        "uncertainty": (fk.uncertainty, measured),
        "fan": (fk.fan, dict(evaluation=evaluation, measure="frr", method="naive")),
        "floor": (fk.floor, dict(measured, measure="frr_max_min")),
        "compare": (fk.compare, dict(evaluation_a=evaluation, evaluation_b=fk.evaluate(scores, **how), measure="frr",
                                     level=0.9)),
        "fairness_indices": (fk.fairness_indices, dict(scores=scores, by="gender", bins=10, score_map="cosine", deals=3,
                                                       level=0.9, c=0.5, balance=False)),
        "n_sigma": (fk.n_sigma, dict(scores=scores, by="gender", subsets=30, seed=0, fpr=0.1, threshold=None)),
        "canonical_scores": (fk.canonical_scores, dict(kind="unfair", index="sfi", sizes=(30, 40), seed=0)),
        "vmf.mixture": (fk.vmf.mixture, dict(n_identities=10, dim=8, kappa=(5, 9), seed=0, groups=None)),
        "plot.roc": (fk.plot.roc, dict(bands=band, curves=None, truth=None)),
        "plot.group_roc": (fk.plot.group_roc, dict(far=groups[0], frr=groups[1])),
        "plot.fairness": (fk.plot.fairness, dict(bands=fk.band(evaluation, "frr_max_min"), floors=None, zones=None)),
        "plot.fan": (fk.plot.fan, dict(replicates=fk.fan(evaluation), truth=None)),
        "plot.difference": (fk.plot.difference, dict(comparison=fk.compare(evaluation, evaluation, "frr"))),
        "plot.n_sigma": (fk.plot.n_sigma, dict(result=n, signed=False)),
        "plot.fairness_indices": (fk.plot.fairness_indices, dict(found=indices)),
    }  # fmt: skip


def outcome(function, arguments: dict) -> str:
    """What became of one call."""
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(**arguments)
            if isinstance(found, xr.DataArray) and found.chunks is not None:
                found.compute()
        return "accepted"
    except fk.InputError:
        return "one clear line"
    except TimeoutError:
        return "hung"
    except Exception as error:
        return f"raw {type(error).__name__}"
    finally:
        signal.alarm(0)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


def late(*_given) -> None:
    raise TimeoutError


def tried(only=()) -> dict[str, str]:
    """Every case, by function, argument and value; only: of these functions."""
    signal.signal(signal.SIGALRM, late)
    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (function, right) in calls(Path(folder)).items():
            if only and name not in only:
                continue
            known = inspect.signature(function).parameters
            right = {argument: value for argument, value in right.items() if argument in known}
            if outcome(function, right) != "accepted":
                print(f"{name}: the right call is not accepted", file=sys.stderr)
            for argument, value in right.items():
                for words, wrong in (THINGS | spoiled(value)).items():
                    found[f"{name}, {argument}: {words}"] = outcome(function, right | {argument: wrong})
    return found


def counted(before: dict[str, str], now: dict[str, str]) -> None:
    """How many cases of each kind, and what is accepted still."""
    both = [case for case in now if case in before]
    for words, found in (("before", before), ("now", now)):
        kinds = Counter(found[case].partition(" ")[0] for case in both)
        kinds["accepted, refused now"] = sum(found[case] == "accepted" != now[case] for case in both)
        print(words, len(both), dict(kinds))
    for case in both:
        if now[case] != "one clear line":
            print(f"{now[case]} (before: {before[case]}): {case}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        Path(sys.argv[1]).write_text(json.dumps(tried(), indent=1))
    else:
        counted(*(json.loads(Path(name).read_text()) for name in sys.argv[1:]))
