"""Calls whose numbers are frozen: a rewrite of the core must give them again.

Each call has a name, "data | options | question", and returns an array of numbers. The table
`tests/project/frozen_numbers.npz` is written by `python tests/helpers/frozen_calls.py`.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from paths import REAL_DATA

import frkit as fk

TABLE = Path(__file__).parents[1] / "project" / "frozen_numbers.npz"
FARS = [0.01, 0.1, 0.3]
RATES = ("frr", "far", "eer", "threshold")
OF_GROUPS = ("frr_group", "far_group", "frr_max_min", "far_max_min", "fdr", "frr_gini")


# --- data ----------------------------------------------------------------------------------------


def crossed_faces():
    """Thirty people of two genders and three ages, with one to seven images."""
    mixture = fk.vmf.mixture(
        30, 8, kappa=(10, 40), seed=4,
        groups={"women": {}, "men": {"kappa": (8, 30)}},
    )  # fmt: skip
    faces = mixture.sample(np.arange(30) % 7 + 1, seed=5)
    ages = np.array(["young", "middle", "old"])[np.arange(faces.sizes["image"]) % 3]
    person = pd.factorize(faces.identity.values)[0]
    region = np.where(person % 3, "N", "S")
    return faces.assign_coords(age=("image", ages), region=("image", region))


def noisy_scores(n_probes, n_references, n_people, seed):
    """A matrix of scores that depend on which side is the probe, with names of people."""
    rng = np.random.default_rng(seed)
    probe, reference = np.arange(n_probes) % n_people, np.arange(n_references) % n_people
    scores = rng.normal(size=(n_probes, n_references)) + 2.0 * (probe[:, None] == reference)
    return scores, [f"p{k}" for k in probe], [f"p{k}" for k in reference]


def rectangular():
    """Probes and references, with failed comparisons, a failed row and a failed column."""
    scores, probe, reference = noisy_scores(40, 30, 15, seed=1)
    failed = np.random.default_rng(2).random(scores.shape) < 0.05
    failed[3] = True
    failed[:, 7] = True
    return fk.score_matrix(np.where(failed, np.nan, scores), probe, reference)


def listed(with_people):
    """A list of 600 pairs of 80 images of 20 people, with two models."""
    rng = np.random.default_rng(7)
    first, second = rng.integers(0, 80, (2, 3000))
    pairs = np.unique(np.stack([first, second])[:, first < second], axis=1)
    first, second = pairs
    genuine = first % 20 == second % 20
    kept = genuine | (rng.random(len(first)) < 0.4)
    first, second, genuine = first[kept], second[kept], genuine[kept]
    scores = {name: rng.normal(size=len(first)) + 2 * genuine for name in ("A", "B")}
    if not with_people:
        return fk.pairs(scores, genuine)
    sides = [np.array([f"i{k}" for k in side]) for side in (first, second)]
    people = [np.array([f"p{k % 20}" for k in side]) for side in (first, second)]
    groups = [np.where(side % 20 < 9, "a", "b") for side in (first, second)]
    return fk.pairs(
        scores, genuine, *sides,
        probe_identity=people[0], reference_identity=people[1], group=tuple(groups),
    )  # fmt: skip


def thinned():
    """More than two million impostor pairs, of which some are thinned."""
    mixture = fk.vmf.mixture(300, 16, kappa=(20, 60), seed=8, groups={"a": {}, "b": {}})
    return fk.sweep(fk.score_tensor(mixture.sample(8, seed=9)), far=0.1)


def nameless(table):
    """The pairs of RFW without names of images and people."""
    return fk.pairs(table["dist"], table["label"], distance=True)


def lfw(folder):
    """Two encoders; cosines computed in float64, as float32 ones differ between processors."""
    faces = fk.open_data([folder / f"lfw158_{name}.npz" for name in ("facenet", "insightface")])
    scores = fk.score_tensor(faces)
    rows = faces.embedding.values.astype(float)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    return scores.copy(data=(rows @ rows.swapaxes(-1, -2)).astype(np.float32))


def some_demo_faces():
    """The first sixty people of the demo faces, as two models see them."""
    faces = fk.demo_faces().isel(model=[0, 2])
    return faces.isel(image=np.isin(faces.identity, np.unique(faces.identity)[:60]))


DATA = {
    "demo": lambda: fk.score_tensor(some_demo_faces()),
    "crossed": lambda: fk.score_tensor(crossed_faces()),
    "distance": lambda: fk.score_tensor(crossed_faces(), similarity="euclidean"),
    "asymmetric": lambda: fk.score_matrix(*noisy_scores(40, 50, 10, seed=3)),
    "failures": rectangular,
    "list": lambda: listed(True),
    "list without people": lambda: listed(False),
    "thinned": thinned,
}
REAL = {
    "lfw": lfw,
    "rfw": lambda folder: fk.open_data(folder / "rfw_pairs_l2.csv.gz"),
    "rfw without people": lambda folder: nameless(pd.read_csv(folder / "rfw_pairs_l2.csv.gz")),
    "bssr1": lambda folder: fk.open_data(
        folder / "bssr1_face_c.csv.gz", missing=-1, same_images=False
    ),
}


# --- options and questions -----------------------------------------------------------------------


def people_weights(scores):
    """p_k: every second person counts for two."""
    names = np.unique(scores.probe_identity.values)
    return {name: 1.0 + place % 2 for place, name in enumerate(names.tolist())}


def draws(scheme, n=25, **options):
    return {"far": FARS, "resampling": fk.Resampling(scheme, n=n, seed=1, **options)}


PLAIN = {"far": FARS}
ALONE = {
    "plain": PLAIN,
    "pooled": PLAIN | {"weighting": "pair"},
    "averaged": PLAIN | {"weighting": "identity"},
}
OF_FACES = {name: ALONE[name] for name in ("plain", "pooled")}  # which are averaged by default
REPLICATES = {
    scheme: draws(scheme)
    for scheme in ("image", "identity", "two-level", "double-or-nothing")
}  # fmt: skip
OPTIONS = {
    "demo": {"pooled": ALONE["pooled"], "by gender": PLAIN | {"by": "gender"}},
    "crossed": OF_FACES | REPLICATES | {
        "subset": draws("subset", subset_size=12),
        "strata": draws("identity", strata="group") | {"by": "group"},
        "by group": PLAIN | {"by": "group"},
        "by two attributes": PLAIN | {"by": ["group", "region"]},
        "by group of images": draws("image") | {"by": "group"},
        "thresholds": {"threshold": [0.2, 0.5, 0.8], "by": "group"},
        "worst group": PLAIN | {"far_of": "worst group", "by": "group"},
        "same group": PLAIN | {"impostors": "same-group", "by": "group"},
        "weights": PLAIN | {"weighting": people_weights, "by": "group"},
        "histogram": draws("identity") | {"histogram": 30, "by": "group"},
        "ages kept": PLAIN | {"by": "age", "varying": "keep"},
        "ages split": PLAIN | {"by": "age", "varying": "split"},
        "ages first": PLAIN | {"by": "age", "varying": "first"},
    },
    "distance": OF_FACES,
    "asymmetric": ALONE | REPLICATES,
    "failures": ALONE | {"identity": draws("identity")},
    "list": ALONE | {"identity": draws("identity"), "by group": PLAIN | {"by": "group"}},
    "list without people": {"plain": PLAIN},
    "thinned": {"plain": {"far": [1e-4, 1e-3, 1e-2]}, "by group": {"far": [1e-3], "by": "group"}},
    "lfw": {
        "by gender": {"far": [1e-3, 1e-2], "by": "gender"},
        "images": {"far": [1e-3, 1e-2], "resampling": fk.Resampling("image", n=20)},
    },
    "rfw": {
        "by ethnicity": {"far": [1e-3, 1e-2], "by": "ethnicity"},
        "averaged": ALONE["averaged"],
    },
    "rfw without people": {"plain": {"far": [1e-3, 1e-2]}},
    "bssr1": ALONE,
}  # fmt: skip


def numbers(result):
    """All numbers of a result, one after another in the order of their names."""
    if isinstance(result, xr.DataTree):
        result = result.to_dataset()
    parts = [np.zeros(0)]
    for name in sorted(result.data_vars):
        values = result[name].transpose(*sorted(map(str, result[name].dims))).values
        if values.dtype.kind in "fiub":
            parts.append(values.astype(float).ravel())
    return np.concatenate(parts)


def summary_of_replicates(evaluation):
    """Mean and standard deviation over replicates of the rates."""
    rates = evaluation["replicates"].to_dataset()
    rates = rates[[name for name in rates.data_vars if not name.startswith("auc")]]
    return xr.concat([rates.mean("replicate"), rates.std("replicate")], "moment")


def questions(evaluation, options):
    """The questions that an evaluation with these options can answer."""
    yield "rates", lambda: evaluation["empirical"]
    measures = list(RATES) if "far" in options else ["frr", "far"]
    if "by" in options:
        measures += OF_GROUPS
    for measure in measures:
        yield f"band of {measure}", lambda measure=measure: fk.band(evaluation, measure)
    if "by" in options:
        yield "floor", lambda: fk.fair_floor(evaluation, "frr_max_min")
        yield "two groups", lambda: fk.compare(evaluation, "far_group", groups="all")
    if evaluation["empirical"].sizes.get("model", 1) > 1:
        for measure in ("frr", "eer"):
            yield f"models by {measure}", lambda measure=measure: fk.compare(evaluation, measure)
    if "images" in evaluation.children:
        yield "these people", lambda: fk.band(evaluation, "frr", target="these people")
        yield "FAR of these people", lambda: fk.band(evaluation, "far", target="these people")
    if "resampling" in options:
        yield "centre", lambda: evaluation["vstatistic"]
        yield "replicates", lambda: summary_of_replicates(evaluation)
        yield "recentered", lambda: fk.band(evaluation, "frr", method="recentered")
        yield "uncertainty", lambda: xr.Dataset({"u": fk.uncertainty(evaluation, "frr")})
    if "histogram" in options:
        yield "band of auc", lambda: fk.band(evaluation, "auc")


def other_calls(scores):
    """Calls beside `evaluate`, of the crossed faces."""
    draws_of_people = fk.Resampling("identity", n=10)
    tensor = scores.drop_vars(["probe_age", "reference_age"])
    yield "indices", lambda: fk.fairness_indices(tensor, by="group", resampling=draws_of_people)
    yield "n_sigma", lambda: fk.n_sigma(tensor, by="group", subsets=10, fpr=0.1)
    yield "verification", lambda: fk.verification_metrics(tensor)
    yield "people", lambda: fk.errors_by_person(tensor, far=0.1)


def calls_of(name, folder=None):
    """The names and the functions of all calls of a data set; folder : of the real data."""
    scores = DATA[name]() if name in DATA else REAL[name](folder)
    for label, options in OPTIONS[name].items():
        filled = options
        if callable(options.get("weighting")):
            filled = options | {"weighting": options["weighting"](scores)}
        evaluation = fk.evaluate(scores, **filled)
        for question, answer in questions(evaluation, options):
            yield f"{name} | {label} | {question}", answer
    if name == "crossed":
        for question, answer in other_calls(scores):
            yield f"{name} | {question}", answer


def results(folder):
    """The numbers of all calls, by their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            call: numbers(answer())
            for name in (DATA | REAL)
            for call, answer in calls_of(name, folder)
        }


if __name__ == "__main__":
    np.savez_compressed(sys.argv[1] if len(sys.argv) > 1 else TABLE, **results(REAL_DATA))
