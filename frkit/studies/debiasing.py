"""Four families of debiasing on a small scale: labels that are correlated with sex or race."""

from collections.abc import Callable

import numpy as np
import xarray as xr
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

from frkit.base import listed, require, require_inside, require_one_of

METHODS = ("baseline", "resampling", "subspace removed", "groups aligned", "classifier per group")
TASK, N_TASKS = "task", 8
SEX = ("female", "male")
RACE = ("Black", "White", "East Asian", "Indian")
# corners of a tetrahedron: any two have the distance 1
CORNERS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(8)


def biased_tasks(
    n: int = 2000, *, female: float = 0.614, tie: float = 0.25, strength: float = 3.0, seed: int = 0
) -> xr.Dataset:
    """Draw images as vectors, with eight yes-no labels that are tied to sex or race.

    Labels 0 to 3 go along with sex, labels 4 to 7 with one race each. A label moves an image along
    an axis of its own, and along two more by amounts whose sign depends on sex and on race, so that
    no classifier suits all groups equally.

    Parameters
    ----------
    n : int
        Number of images, each of a person of its own.
    female : float
        Share in (0, 1). The paper's CelebA has .614 (sex entropy .667). The four races are equally
        frequent.
    tie : float
        How far P(label) moves from 1/2 with the group, in [0, 0.5).
    strength : float
        Distance between the sexes, and between any two races, in standard deviations of the noise.
    seed : int
        Seed of all that is drawn.

    Returns
    -------
    xr.Dataset
        Like faces, with `label` (image, task) of 0 and 1 and the coordinates `sex` and `race`.

    Raises
    ------
    InputError
        A share or a tie outside its range.

    References
    ----------
    Li & Abd-Almageed (2021), V-E.

    Examples
    --------
    >>> from frkit.studies import biased_tasks
    >>> dict(biased_tasks(50).sizes)
    {'image': 50, 'feature': 28, 'task': 8}
    """
    require_inside("female", female, 0, 1)
    require(0 <= tie < 0.5, f"tie must lie in [0, 0.5), got {tie}")
    rng = np.random.default_rng(seed)
    sex = (rng.random(n) >= female).astype(int)
    race = rng.integers(len(RACE), size=n)
    with_sex = np.where(sex[:, None] == np.arange(4) % 2, tie, -tie)
    with_race = np.where(race[:, None] == np.arange(4), tie, -tie / 3)
    chance = 0.5 + np.hstack([with_sex, with_race])
    label = (rng.random((n, N_TASKS)) < chance).astype(int)
    signal = 2.0 * label - 1
    amount = signal * np.linspace(0, 1, N_TASKS)
    values = np.hstack([
        strength * (sex[:, None] - 0.5),
        strength * CORNERS[race],
        signal,
        amount * (2 * sex[:, None] % 4 - 1),
        amount * (2 * race[:, None] % 4 - 1),
    ])  # fmt: skip
    values += rng.standard_normal(values.shape)
    image = np.arange(n).astype(str)
    data = {
        "embedding": (("image", "feature"), values.astype(np.float32)),
        "label": (("image", TASK), label),
    }
    coords = {
        "image": image,
        "identity": ("image", image),
        "sex": ("image", np.array(SEX)[sex]),
        "race": ("image", np.array(RACE)[race]),
    }
    return xr.Dataset(data, coords)


def debiased(train: xr.Dataset, attribute: str, method: str) -> Callable[[xr.Dataset], xr.Dataset]:
    """Train a linear encoder, debiased by one of five methods, and classifiers of its features.

    The encoder's directions are those of logistic classifiers of the labels.

    Parameters
    ----------
    train : xr.Dataset
        What `biased_tasks` returned.
    attribute : {"sex", "race"}
        What the encoder must not reveal.
    method : str
        "baseline": nothing is done. "resampling": weights make every label equally frequent in
        every group. "subspace removed": no linear function of the features separates the groups.
        "groups aligned": the features of each group are standardised by its own mean and
        covariance. "classifier per group": each group has its own directions and classifiers. The
        last two need the group of a test image.

    Returns
    -------
    callable
        A function that takes another such Dataset and returns it with the encoder's `embedding`,
        and with `score` and `predicted` (image, task).

    Raises
    ------
    InputError
        Another method or attribute; and by the callable, a group that did not train.

    References
    ----------
    Li & Abd-Almageed (2021), V-E.

    Examples
    --------
    >>> from frkit.studies import biased_tasks, debiased
    >>> encode = debiased(biased_tasks(500), "sex", "resampling")
    >>> encode(biased_tasks(100, seed=1)).predicted.shape
    (100, 8)
    """
    require_one_of("method", method, METHODS)
    require_one_of("attribute", attribute, ("sex", "race"))
    x = train["embedding"].values.astype(float)
    label = train["label"].values
    group = train[attribute].values
    weight = np.ones(label.shape)
    if method == "resampling":  # label and group become independent, all cells equal
        for task in range(N_TASKS):
            cell = np.char.add(group, label[:, task].astype(str))
            weight[:, task] = compute_sample_weight("balanced", cell)
    members = {name: group == name for name in np.unique(group)}
    trained_on = members if method == "classifier per group" else {"all": slice(None)}

    def classifiers_of(features):
        return {
            name: _logistic(features[rows], label[rows], weight[rows])
            for name, rows in trained_on.items()
        }

    directions = np.concatenate([slopes for slopes, _ in classifiers_of(x).values()])
    if method == "classifier per group":  # those that the groups use most, two for every label
        directions = np.linalg.svd(directions, full_matrices=False)[2][: 2 * N_TASKS]
    rules = _rules(method, x @ directions.T, members)
    classifiers = classifiers_of(_by_group(x @ directions.T, group, rules))

    def encode(others):
        other_group = others[attribute].values
        strangers = set(other_group).difference(members)
        require(not strangers, f"no image of the training set is {listed(strangers)}")
        raw = others["embedding"].values.astype(float) @ directions.T
        encoded = _by_group(raw, other_group, rules)
        score = np.empty((len(encoded), N_TASKS))
        for name, (slope, offset) in classifiers.items():
            rows = slice(None) if name == "all" else other_group == name
            score[rows] = encoded[rows] @ slope.T + offset
        return others.assign(
            embedding=(("image", "feature"), encoded.astype(np.float32)),
            score=(("image", TASK), score),
            predicted=others.label.copy(data=score > 0),
        )

    return encode


def _logistic(x, label, weight):
    """Slopes (task, feature) and offsets (task,) of logistic classifiers of every label."""
    fits = [
        LogisticRegression().fit(x, task_label, sample_weight=task_weight)
        for task_label, task_weight in zip(label.T, weight.T, strict=True)
    ]
    slopes = np.concatenate([fit.coef_ for fit in fits])
    offsets = np.concatenate([fit.intercept_ for fit in fits])
    return slopes, offsets


def _rules(method, features, members):
    """Return centre and matrix for each group: features become (features - centre) @ matrix."""
    if method == "groups aligned":
        return {name: _whitening(features[rows]) for name, rows in members.items()}
    rule = 0.0, np.eye(features.shape[1])
    if method == "subspace removed":
        # after whitening, the directions in which the groups' means differ
        centre, whiten = _whitening(features)
        white = (features - centre) @ whiten
        means = np.stack([white[rows].mean(0) for rows in members.values()])
        _, _, directions = np.linalg.svd(means - means.mean(0))
        basis = directions[: len(means) - 1]
        rule = centre, whiten @ (np.eye(len(centre)) - basis.T @ basis)
    return dict.fromkeys(members, rule)


def _whitening(features):
    """Return the mean, and the inverse square root of the covariance."""
    values, vectors = np.linalg.eigh(np.cov(features.T))
    inverse_root = vectors / np.sqrt(values) @ vectors.T
    return features.mean(0), inverse_root


def _by_group(features, group, rules):
    """Change features by the rule of each image's group."""
    changed = np.empty_like(features)
    for name, (centre, matrix) in rules.items():
        rows = group == name
        changed[rows] = (features[rows] - centre) @ matrix
    return changed
