"""Four families of debiasing in small: linear encoders of labels that are tied to sex or race (Tables III, IV)."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, listed, require
from frkit.representation.experiments.crossed import RACE, SEX, tetrahedron

METHODS = ("baseline", "resampling", "subspace removed", "groups aligned", "classifier per group")
N_TASKS = 8
Encoder = Callable[[xr.Dataset], xr.Dataset]
Transform = Callable[[np.ndarray, np.ndarray], np.ndarray]


def biased_tasks(
    n: int = 2000, *, female: float = 0.614, tie: float = 0.25, strength: float = 3.0, seed: int = 0
) -> xr.Dataset:
    """Images as vectors, with eight yes-no labels that go along with sex or race.

    Labels 0 to 3 go along with sex, 4 to 7 with one race each. A label moves an image along an axis of its own, and
    along two more by amounts whose sign depends on sex and on race, so that no classifier suits all groups equally.

    Parameters
    ----------
    n : number of images, each of a person of its own.
    female : share in (0, 1); the paper's CelebA has .614 (sex entropy .667). The four races are equally frequent.
    tie : how far P(label) moves from 1/2 with the group, in [0, 0.5): the bias of the data.
    strength : distance between the sexes, and between any two races, in standard deviations of the noise.
    seed : non-negative integer.

    Returns
    -------
    xr.Dataset
        Like faces: `embedding` (image, feature); `label` (image, task) of 0 and 1; coordinates `sex`, `race` and
        `identity` (every image its own).

    Raises
    ------
    InputError : a share or a tie outside its range.

    References
    ----------
    Li & Abd-Almageed (2021), Section V-E, with vectors in place of CelebA and FairFace.

    Examples
    --------
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
    of_groups = [signal * (2 * code[:, None] % 4 - 1) * np.linspace(0, 1, N_TASKS) for code in (sex, race)]
    shift = strength * np.column_stack([sex - 0.5, tetrahedron()[race]])
    values = np.hstack([shift, signal, *of_groups]) + rng.standard_normal((n, 4 + 3 * N_TASKS))
    image = np.arange(n).astype(str)
    coords = {IMAGE: image, IDENTITY: (IMAGE, image)}
    coords |= {"sex": (IMAGE, np.array(SEX)[sex]), "race": (IMAGE, np.array(RACE)[race])}
    data = {"embedding": ((IMAGE, FEATURE), values.astype(np.float32)), "label": ((IMAGE, "task"), label)}
    return xr.Dataset(data, coords)


def debiased(train: xr.Dataset, attribute: str, method: str) -> Encoder:
    """A linear encoder and classifiers of the labels, trained in one of five ways.

    The encoder's features are the directions of logistic classifiers of the labels.

    Parameters
    ----------
    train : what `biased_tasks` returned.
    attribute : "sex" or "race": what the method is to make invisible.
    method : one of `METHODS`. "resampling": every label equally frequent in every group (as weights); "subspace
        removed": features projected so that no linear function of them tells the groups apart; "groups aligned": the
        features of each group standardised by its own mean and covariance; "classifier per group": directions and
        classifiers from each group alone. The last two ask for the group of a test image.

    Returns
    -------
    function of another such Dataset: the same with `embedding` (image, feature) the encoder's features, `score`
        (image, task) and `predicted` (image, task) of 0 and 1.

    Raises
    ------
    InputError : another method, or an attribute that is not there.

    References
    ----------
    Li & Abd-Almageed (2021), Section V-E: strategic sampling, representation disentanglement, domain adaptation,
    domain independent training.

    Examples
    --------
    >>> encode = debiased(biased_tasks(500), "sex", "resampling")
    >>> encode(biased_tasks(100, seed=1)).predicted.shape
    (100, 8)
    """
    require(method in METHODS, f"method must be one of {listed(METHODS)}, got {method!r}")
    require(attribute in ("sex", "race"), f"attribute must be 'sex' or 'race', got {attribute!r}")
    x, y, z = train["embedding"].values.astype(float), train["label"].values, train[attribute].values
    weight = _balancing(y, z) if method == "resampling" else np.ones(y.shape)
    per_group = method == "classifier per group"
    directions = _group_directions(x, y, z) if per_group else _logistic(x, y, weight)[0]
    raw = x @ directions.T
    transform = {"subspace removed": _without_means, "groups aligned": _aligned}.get(method, _unchanged)(raw, z)
    features = transform(raw, z)
    groups = {name: z == name for name in np.unique(z)} if per_group else {None: np.ones(z.size, bool)}
    heads = {name: _logistic(features[rows], y[rows], weight[rows]) for name, rows in groups.items()}

    def encode(others: xr.Dataset) -> xr.Dataset:
        group = others[attribute].values
        found = transform(others["embedding"].values.astype(float) @ directions.T, group)
        scores = {name: found @ slope.T + offset for name, (slope, offset) in heads.items()}
        score = next(iter(scores.values()))
        for name, values in scores.items():
            score = np.where((group == name)[:, None], values, score)
        found = ((IMAGE, FEATURE), found.astype(np.float32))
        return others.assign(
            embedding=found, score=((IMAGE, "task"), score), predicted=others.label.copy(data=score > 0)
        )

    return encode


def _logistic(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes (task, feature) and offsets (task,) of logistic classifiers of every label."""
    from sklearn.linear_model import LogisticRegression

    fits = [LogisticRegression().fit(x, label, sample_weight=w) for label, w in zip(y.T, weight.T)]
    return np.concatenate([fit.coef_ for fit in fits]), np.concatenate([fit.intercept_ for fit in fits])


def _balancing(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Weights (n, task) that make label and group independent, and all cells equal."""
    from sklearn.utils.class_weight import compute_sample_weight

    return np.column_stack([compute_sample_weight("balanced", np.char.add(z, label.astype(str))) for label in y.T])


def _group_directions(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The directions that the classifiers of the single groups use most: as many as two for every label."""
    slopes = [_logistic(x[z == name], y[z == name], np.ones(y[z == name].shape))[0] for name in np.unique(z)]
    return np.linalg.svd(np.concatenate(slopes), full_matrices=False)[2][: 2 * y.shape[1]]


def _unchanged(_features: np.ndarray, _z: np.ndarray) -> Transform:
    """Features as they are."""
    return lambda features, _group: features


def _without_means(features: np.ndarray, z: np.ndarray) -> Transform:
    """Whitened features without the directions in which the groups' means differ."""
    centre, whiten = _whitening(features)
    means = np.stack([((features[z == name] - centre) @ whiten).mean(0) for name in np.unique(z)])
    basis = np.linalg.svd(means - means.mean(0))[2][: len(means) - 1]
    erase = whiten @ (np.eye(len(whiten)) - basis.T @ basis)
    return lambda others, _group: (others - centre) @ erase


def _aligned(features: np.ndarray, z: np.ndarray) -> Transform:
    """Features standardised within each group."""
    rules = {name: _whitening(features[z == name]) for name in np.unique(z)}

    def transform(others: np.ndarray, group: np.ndarray) -> np.ndarray:
        found = np.empty_like(others)
        for name, (centre, whiten) in rules.items():
            found[group == name] = (others[group == name] - centre) @ whiten
        return found

    return transform


def _whitening(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean, and the inverse square root of the covariance."""
    values, vectors = np.linalg.eigh(np.cov(features.T))
    return features.mean(0), vectors / np.sqrt(values) @ vectors.T
