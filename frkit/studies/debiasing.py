"""Four families of debiasing in small: linear encoders of labels that are tied to sex or race (Tables III, IV)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import xarray as xr
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

from frkit.base import FEATURE, IDENTITY, IMAGE, listed, require
from frkit.representation import (
    Critic,
    bias_amplification,
    cohort_spread,
    distance_correlation,
    representation_bias,
)
from frkit.studies.along import along
from frkit.studies.crossed import RACE, SEX, TETRAHEDRON

METHODS = ("baseline", "resampling", "subspace removed", "groups aligned", "classifier per group")
GROUPS = {"sex": SEX, "race": RACE}
TASK, N_TASKS = "task", 8


def biased_tasks(
    n: int = 2000, *, female: float = 0.614, tie: float = 0.25, strength: float = 3.0, seed: int = 0
) -> xr.Dataset:
    """Images as vectors, with eight yes-no labels: 0 to 3 go along with sex, 4 to 7 with one race each.

    n: images, each of a person of its own. female: share in (0, 1); the paper's CelebA has .614 (sex entropy .667);
    the four races are equally frequent. tie: how far P(label) moves from 1/2 with the group, in [0, 0.5). strength:
    distance between the sexes, and between any two races, in standard deviations of the noise. A label moves an image
    along an axis of its own, and along two more by amounts whose sign depends on sex and on race, so that no
    classifier suits all groups equally. Returns a Dataset like faces with `label` (image, task) of 0 and 1 and
    coordinates `sex`, `race`. Raises InputError for a share or a tie outside its range. Li & Abd-Almageed (2021), V-E.

    >>> dict(biased_tasks(50).sizes)
    {'image': 50, 'feature': 28, 'task': 8}
    """
    require(0 < female < 1, f"female must be a share in (0, 1), got {female}")
    require(0 <= tie < 0.5, f"tie must lie in [0, 0.5), got {tie}")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    sex, race = (rng.random(n) >= female).astype(int), rng.integers(len(RACE), size=n)
    with_sex = np.where(sex[:, None] == np.arange(4) % 2, tie, -tie)
    with_race = np.where(race[:, None] == np.arange(4), tie, -tie / 3)
    label = (rng.random((n, N_TASKS)) < 0.5 + np.hstack([with_sex, with_race])).astype(int)
    signal = 2.0 * label - 1
    of_groups = [
        signal * (2 * code[:, None] % 4 - 1) * np.linspace(0, 1, N_TASKS) for code in (sex, race)
    ]
    shift = strength * np.column_stack([sex - 0.5, TETRAHEDRON[race]])
    values = np.hstack([shift, signal, *of_groups]) + rng.standard_normal((n, 4 + 3 * N_TASKS))
    image = np.arange(n).astype(str)
    coords = {IMAGE: image, IDENTITY: (IMAGE, image)}
    coords |= {"sex": (IMAGE, np.array(SEX)[sex]), "race": (IMAGE, np.array(RACE)[race])}
    data = {
        "embedding": ((IMAGE, FEATURE), values.astype(np.float32)),
        "label": ((IMAGE, TASK), label),
    }
    return xr.Dataset(data, coords)


def debiased(train: xr.Dataset, attribute: str, method: str) -> Callable[[xr.Dataset], xr.Dataset]:
    """A linear encoder, the directions of logistic classifiers of the labels, and classifiers on top of it.

    train: from `biased_tasks`. attribute: "sex" or "race", to be made invisible. method: "baseline"; "resampling"
    (every label equally frequent in every group, as weights); "subspace removed" (no linear function of the features
    tells the groups apart); "groups aligned" (features of each group standardised by its own mean and covariance);
    "classifier per group" (directions and classifiers from each group alone). The last two ask for the group of a test
    image. Returns a function of another such Dataset: the same with the encoder's `embedding`, `score` and
    `predicted` (image, task). Raises InputError for another method or attribute. Li & Abd-Almageed (2021), V-E.

    >>> debiased(biased_tasks(500), "sex", "resampling")(biased_tasks(100, seed=1)).predicted.shape
    (100, 8)
    """
    require(method in METHODS, f"method must be one of {listed(METHODS)}, got {method!r}")
    require(attribute in GROUPS, f"attribute must be 'sex' or 'race', got {attribute!r}")
    x, y, z = (
        train["embedding"].values.astype(float),
        train["label"].values,
        train[attribute].values,
    )
    weight, members = np.ones(y.shape), {name: z == name for name in np.unique(z)}
    if method == "resampling":  # label and group independent, and all cells equal
        cells = [np.char.add(z, label.astype(str)) for label in y.T]
        weight = np.column_stack([compute_sample_weight("balanced", cell) for cell in cells])
    per_group = method == "classifier per group"
    parts = members if per_group else {"all": slice(None)}
    directions = np.concatenate(
        [_logistic(x[rows], y[rows], weight[rows])[0] for rows in parts.values()]
    )
    if per_group:  # the directions that these use most: as many as two for every label
        directions = np.linalg.svd(directions, full_matrices=False)[2][: 2 * N_TASKS]
    rules = _rules(method, x @ directions.T, members)
    features = _by_group(x @ directions.T, z, rules)
    heads = {name: _logistic(features[rows], y[rows], weight[rows]) for name, rows in parts.items()}

    def encode(others: xr.Dataset) -> xr.Dataset:
        group = others[attribute].values
        found = _by_group(others["embedding"].values.astype(float) @ directions.T, group, rules)
        score = np.empty((len(found), N_TASKS))
        for name, (slope, offset) in heads.items():
            rows = group == name if per_group else slice(None)
            score[rows] = (found @ slope.T + offset)[rows]
        encoded = {
            "embedding": ((IMAGE, FEATURE), found.astype(np.float32)),
            "score": ((IMAGE, TASK), score),
        }
        return others.assign(encoded | {"predicted": others.label.copy(data=score > 0)})

    return encode


def _logistic(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes (task, feature) and offsets (task,) of logistic classifiers of every label."""
    fits = [LogisticRegression().fit(x, label, sample_weight=w) for label, w in zip(y.T, weight.T)]
    return np.concatenate([fit.coef_ for fit in fits]), np.concatenate(
        [fit.intercept_ for fit in fits]
    )


def _rules(
    method: str, features: np.ndarray, members: dict
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What the method takes off the features of each group, and the matrix that it then multiplies them by."""
    if method == "groups aligned":
        return {name: _whitening(features[rows]) for name, rows in members.items()}
    centre, matrix = np.zeros(features.shape[1]), np.eye(features.shape[1])
    if (
        method == "subspace removed"
    ):  # the directions in which the groups' means differ, after whitening
        centre, whiten = _whitening(features)
        means = np.stack(
            [((features[rows] - centre) @ whiten).mean(0) for rows in members.values()]
        )
        basis = np.linalg.svd(means - means.mean(0))[2][: len(means) - 1]
        matrix = whiten @ (matrix - basis.T @ basis)
    return dict.fromkeys(members, (centre, matrix))


def _by_group(features: np.ndarray, group: np.ndarray, rules: dict) -> np.ndarray:
    """Features by the rule of each image's group."""
    found = np.empty_like(features)
    for name, (centre, matrix) in rules.items():
        found[group == name] = (features[group == name] - centre) @ matrix
    return found


def _whitening(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean, and the inverse square root of the covariance."""
    values, vectors = np.linalg.eigh(np.cov(features.T))
    return features.mean(0), vectors / np.sqrt(values) @ vectors.T


def debiasing_table(
    attribute: str,
    *,
    n: int = 2000,
    seeds: Iterable[int] = (0,),
    methods: Sequence[str] = METHODS,
    critic: Critic | None = None,
    progress: bool = True,
    **design,
) -> xr.Dataset:
    """Tables III and IV and Fig. 7: what each measure says of encoders debiased in five ways.

    attribute, methods (all where left out): as in `debiased`. n: images to train on, and as many others to test on.
    seeds: one such pair for each. critic: as in `representation_bias`. design: female, tie, strength, as in
    `biased_tasks`. Returns, over seed and family, `accuracy` and `average_precision` (also over group: sex, or race
    and sex), means over the labels; `overall_accuracy`, `overall_average_precision`; `bias_score`, `amplification`,
    `dcor2`, `mutual_information` (nats), `rlb`, and `rlb_plain` of a network without mapping layers. Raises InputError
    as `biased_tasks` and `debiased`.

    >>> how = dict(n=400, methods=["baseline"], critic=Critic(iterations=20), progress=False)
    >>> debiasing_table("sex", **how).average_precision.dims
    ('seed', 'family', 'group')
    """

    def of_seed(seed: int) -> xr.Dataset:
        train, test = (biased_tasks(n, seed=2 * seed + part, **design) for part in (0, 1))
        encoded = partial(debiased, train, attribute)
        return along(
            "family",
            methods,
            lambda name: _row(train, encoded(name)(test), attribute, critic or Critic()),
        )

    return along("seed", seeds, of_seed, progress).assign_attrs(attribute=attribute, n=n)


def _row(train: xr.Dataset, test: xr.Dataset, attribute: str, critic: Critic) -> xr.Dataset:
    """All measures of one method on one test set."""
    group = test[attribute].values
    cohort = (
        group
        if attribute == "sex"
        else np.char.add(np.char.add(test.race.values, ", "), test.sex.values)
    )
    tasks = zip(test.label.values.T, test.predicted.values.T, test.score.values.T)
    spread = [cohort_spread(truth, guess, cohort, score=score) for truth, guess, score in tasks]
    spread = xr.concat(spread, TASK).mean(TASK)
    found = {
        name: spread.value.sel(metric=name, drop=True) for name in ("accuracy", "average_precision")
    }
    found |= {f"overall_{name}": spread.overall.sel(metric=name, drop=True) for name in found}
    score = bias_amplification(
        train.label.values, train[attribute].values, test.predicted.values, group
    )
    dependence = distance_correlation(test, attribute, permutations=0)
    bias = representation_bias(test, attribute, seeds=1, critic=critic, progress=False)
    plain = representation_bias(
        test, attribute, seeds=1, critic=replace(critic, mapping=0), progress=False
    )
    found |= {name: score[name] for name in ("bias_score", "amplification")} | {
        "dcor2": dependence.dcor2
    }
    found |= {name: bias[name] for name in ("mutual_information", "rlb")} | {"rlb_plain": plain.rlb}
    return xr.Dataset(found)
