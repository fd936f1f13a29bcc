"""The fine-tuning experiment of N-Sigma: models tuned to one group or to all, and what N says of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from frkit.base import (
    FEATURE,
    IDENTITY,
    IMAGE,
    MODEL,
    UNKNOWN,
    listed,
    require,
    require_inside,
    require_whole,
)
from frkit.data.dataset import stack_models
from frkit.data.labels import resolve_varying
from frkit.nsigma.statistics import summarise
from frkit.nsigma.subsets import BATCH, subset_rates
from frkit.representation.mine import Adam
from frkit.scores.tensor import score_tensor

FINETUNED, TRAINED, UNTUNED, ALL = "finetuned", "trained", "none", "all"
FEWEST = 4  # people of a group: two train, two are evaluated
SHARE = 0.75  # of the training people, drawn with replacement for every model


@dataclass(frozen=True)
class Training:
    """How a layer is trained: few steps, because a layer has many weights and a group few people.

    Attributes
    ----------
    steps : number of updates, at least 1.
    people : people in a batch, two images of each, at least 2.
    margin : of squared distances between unit vectors, in (0, 4).
    rate : step size of Adam, above 0.

    Raises
    ------
    InputError : a number outside its range.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.studies.Training(steps=100).margin
    0.3
    """

    steps: int = 60
    people: int = 64
    margin: float = 0.3
    rate: float = 0.003

    def __post_init__(self) -> None:
        require_whole("steps", self.steps, 1)
        require_whole("people", self.people, 2)
        require_inside("margin", self.margin, 0, 4)
        require_inside("rate", self.rate, 0, np.inf)


def finetuning(
    faces: xr.Dataset,
    *,
    by: str,
    models: int = 20,
    subsets: int = 100,
    subset_size: int | None = None,
    fpr: float = 0.01,
    reference: str | None = None,
    training: Training | None = None,
    seed: int = 0,
    progress: bool = True,
) -> xr.Dataset:
    """Tune a dense layer on top of embeddings to one group, or to all, and compare the groups with N-Sigma.

    Half of the people of every group train, the other half is evaluated. For each group, and for all together,
    `models` layers are trained with the triplet loss, each on 75 % as many people as train, drawn with replacement.
    Batch m holds the m-th model of each kind; it is evaluated on subsets of its own, the same for its models.

    Parameters
    ----------
    faces : faces Dataset of one model.
    by : attribute whose groups are tuned to and compared; a property of the identity.
    models : M, models of each kind.
    subsets, subset_size, fpr, reference : as in `n_sigma`, of the people that are evaluated.
    training : steps, batch, margin, step size; `studies.Training()` when left out.
    seed : seed of halves, draws, training and subsets.
    progress : show a progress bar.

    Returns
    -------
    xr.Dataset : what `n_sigma` returns, over finetuned in front: "none" (the embeddings as they are), "all", and
    every group; averaged over the M batches. `n_by_batch` keeps the signed N
    of every model, `loss` (batch, trained, step) its training.

    Raises
    ------
    InputError : several models in faces; fewer than two groups; a group with fewer than four people with two images;
        as in `n_sigma`.

    References
    ----------
    DeAlcala et al. (2023), section IV-A, IV-D, Tables I and II.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.subspace_mixture({"a": {}, "b": {}}, n_identities=60, dim=32, common=8, own=4)
    >>> quick = fk.studies.Training(steps=20)
    >>> found = fk.studies.finetuning(mix.sample(4), by="group", models=2, subsets=10, fpr=0.1, training=quick)
    >>> dict(found.n_absolute.sizes)
    {'finetuned': 4, 'group': 2}
    """
    how = Training() if training is None else training
    require_whole("models", models, 1)
    people = people_of(faces, by)
    halves, *batches = np.random.SeedSequence(seed).spawn(models + 1)
    train, tested = people.halves(np.random.default_rng(halves))
    held_out = faces.isel({IMAGE: np.flatnonzero(np.isin(faces[IDENTITY].values, tested))})
    x = unit_rows(held_out["embedding"].transpose(IMAGE, FEATURE).values)
    kinds = {ALL: np.concatenate(list(train.values())), **train}
    subset = dict(by=by, subsets=subsets, subset_size=subset_size, fpr=fpr)
    rates, losses = [], []
    for child in tqdm(batches, desc="batches of models", disable=not progress, leave=False):
        seeds = child.spawn(len(kinds))
        with threadpool_limits(1, user_api="blas"):  # the same bits whatever the number of threads
            trained = [
                _trained(people, kind, one, how)
                for kind, one in zip(kinds.values(), seeds, strict=True)
            ]
        tuned = [
            held_out.assign(embedding=((IMAGE, FEATURE), unit_rows(x @ layer)))
            for layer, _ in trained
        ]
        scores = score_tensor(
            stack_models({UNTUNED: held_out, **dict(zip(kinds, tuned, strict=True))})
        )
        own = subset_rates(scores, seed=int(child.generate_state(1)[0]), **subset)
        rates.append(own.drop_vars("n_people").assign_coords({BATCH: [len(rates)]}))
        losses.append([loss for _, loss in trained])
    joined = xr.concat(
        rates, dim=BATCH, data_vars="all", coords="minimal", combine_attrs="drop_conflicts"
    )
    found = summarise(
        joined.assign(n_people=own.n_people).rename({MODEL: FINETUNED}), reference=reference
    )
    return found.assign(loss=((BATCH, TRAINED, "step"), losses)).assign_coords(
        {TRAINED: list(kinds)}
    )


class People(NamedTuple):
    """People with two images, their groups, and unit embeddings x: a person's `count` rows follow on the `first`."""

    names: np.ndarray
    group: np.ndarray
    first: np.ndarray
    count: np.ndarray
    x: np.ndarray

    def couples(self, which: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows of two different images of each of these people."""
        n = self.count[which]
        one = (rng.random(len(n)) * n).astype(int)
        other = (one + 1 + (rng.random(len(n)) * (n - 1)).astype(int)) % n
        return self.first[which] + one, self.first[which] + other

    def halves(self, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Half of the people of every group, by group, and the names of the others."""
        train = {}
        for group in np.unique(self.group):
            members = rng.permutation(np.flatnonzero(self.group == group))
            train[str(group)] = members[: len(members) // 2]
        return train, np.delete(self.names, np.concatenate(list(train.values())))


def people_of(faces: xr.Dataset, by: str) -> People:
    """The people whose layer can be trained and evaluated; raises InputError where a group has too few of them."""
    require(
        MODEL not in faces.dims,
        "fine-tuning takes the faces of one model: select one with faces.sel(model=...)",
    )
    require(isinstance(by, str) and by in faces.coords, f"by={by!r} is no attribute of these faces")
    group, identity, _ = resolve_varying(faces[by].values, faces[IDENTITY].values, "error", by)
    order = np.argsort(identity, kind="stable")
    names, first, count = np.unique(identity[order], return_index=True, return_counts=True)
    group = group[order][first]
    useful = (count >= 2) & (group != UNKNOWN)
    groups, sizes = np.unique(group[useful], return_counts=True)
    require(len(groups) >= 2, f"fine-tuning compares groups, but {by!r} has only {listed(groups)}")
    few = listed(groups[sizes < FEWEST])
    require(
        not few,
        f"fine-tuning takes {FEWEST} people with two images in every group; {few} has fewer",
    )
    x = faces["embedding"].transpose(IMAGE, FEATURE).values[order].astype(float)
    return People(names[useful], group[useful], first[useful], count[useful], unit_rows(x))


def unit_rows(x: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1."""
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _trained(
    people: People, kind: np.ndarray, seed: np.random.SeedSequence, how: Training
) -> tuple:
    """A layer trained on people of one kind, drawn with replacement, and its losses."""
    rng = np.random.default_rng(seed)
    return train_layer(people, rng.choice(kind, max(2, round(SHARE * len(kind)))), rng, how)


def triplet_loss(
    layer: np.ndarray, triplets: list[np.ndarray], margin: float
) -> tuple[float, np.ndarray]:
    """Mean of max(0, |a - p|² - |a - n|² + margin) after the layer, and its gradient by the layer.

    triplets: rows of anchors, positives and negatives, (n, feature) each.
    """
    raw = [x @ layer for x in triplets]
    length = [np.linalg.norm(y, axis=1, keepdims=True) for y in raw]
    anchor, positive, negative = (y / size for y, size in zip(raw, length, strict=True))
    excess = 2 * np.sum(anchor * (negative - positive), 1) + margin
    active = (excess > 0)[:, None] * (2 / len(excess))
    slopes = active * (negative - positive), -active * anchor, active * anchor
    gradient = np.zeros_like(layer)
    for x, z, size, slope in zip(
        triplets, (anchor, positive, negative), length, slopes, strict=True
    ):
        gradient += x.T @ ((slope - z * np.sum(z * slope, 1, keepdims=True)) / size)
    return float(np.maximum(excess, 0).mean()), gradient


def train_layer(
    people: People, drawn: np.ndarray, rng: np.random.Generator, how: Training
) -> tuple:
    """Train a layer, at first the identity, on people as often as they were drawn: (layer, loss of every step)."""
    x = people.x
    parameters = {"layer": np.eye(x.shape[1])}
    adam, losses = Adam(parameters, how.rate), np.empty(how.steps)
    layer = parameters["layer"]
    for step in range(how.steps):
        batch = drawn[rng.permutation(len(drawn))[: how.people]]
        one, other = people.couples(batch, rng)
        losses[step], gradient = triplet_loss(
            layer, _hardest(x[one], x[other], layer, batch), how.margin
        )
        adam.step({"layer": gradient})
    return layer, losses


def _hardest(
    anchor: np.ndarray, positive: np.ndarray, layer: np.ndarray, owner: np.ndarray
) -> list[np.ndarray]:
    """Triplets with the other person of the batch whose image is most like the anchor."""
    alike = unit_rows(anchor @ layer) @ unit_rows(positive @ layer).T
    alike[owner[:, None] == owner] = -np.inf  # a pair that cannot be a negative
    return [anchor, positive, positive[alike.argmax(1)]]
