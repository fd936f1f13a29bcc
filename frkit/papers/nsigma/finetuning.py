"""The fine-tuning experiment of N-Sigma: models tuned to one group or to all, compared by N."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

from frkit.base import UNKNOWN, listed, require, require_one_of, require_whole, seed_sequence
from frkit.data.checks import check_faces
from frkit.data.labels import resolve_varying
from frkit.evaluation.sweep import sweep
from frkit.io.faces import stacked_faces
from frkit.papers.along import along
from frkit.papers.nsigma.statistics import summarise
from frkit.papers.nsigma.subsets import BATCH, checked, rates_of_groups
from frkit.papers.rlb.mine import Adam
from frkit.scores.tensor import score_tensor

FINETUNED, UNTUNED, ALL = "finetuned", "none", "all"
FEWEST = 4  # people of a group: two train, two are evaluated
SHARE = 0.75  # of the training people, drawn with replacement for every model
BATCH_SIZE = 64  # people in a batch, two images of each
MARGIN = 0.3  # of squared distances between unit vectors
RATE = 0.003  # step size of Adam


def finetuning(
    faces: xr.Dataset,
    *,
    by: str,
    models: int = 20,
    subsets: int = 100,
    subset_size: int | None = None,
    fpr: float = 0.01,
    steps: int = 60,
    seed: int = 0,
    progress: bool = True,
) -> xr.Dataset:
    """Tune a dense layer on top of embeddings to one group or to all, and compare with N-Sigma.

    Half of the people of every group are for training, the other half for evaluation. For each
    group, and for all together, `models` layers are trained with the triplet loss, each on people
    drawn with replacement, 75 % of the number for training. Batch m contains the m-th model of each
    kind. It is evaluated on its own subsets, the same for its models.

    Parameters
    ----------
    faces : xr.Dataset
        Faces of one model.
    by : str
        Attribute whose groups are tuned to and compared; it does not vary within an identity.
    models : int
        M, models of each kind, at least 1.
    subsets, subset_size, fpr
        As in `n_sigma`, of the people that are evaluated.
    steps : int
        Updates of a layer, at least 1; few, because it has many weights and groups few people.
    seed : int
        Seed of halves, draws, training and subsets.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    xr.Dataset
        What `n_sigma` returns, averaged over the M batches, with finetuned as the first dim: "none"
        (the embeddings as they are), "all", and every group. `n_by_batch` is the signed N of every
        model.

    Raises
    ------
    InputError
        Fewer than two groups; a group with fewer than four people with two images; and as in
        `n_sigma`.

    References
    ----------
    DeAlcala et al. (2023), sections IV-A and IV-D, Tables I and II.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.subspace_mixture({"a": {}, "b": {}}, n_identities=60, dim=32, common=8, own=4)
    >>> options = dict(models=2, subsets=10, fpr=0.1, steps=20)
    >>> study = fk.studies.finetuning(mix.sample(4), by="group", **options)
    >>> dict(study.n_absolute.sizes)
    {'finetuned': 4, 'group': 2}
    """
    require_whole("steps", steps, 1)
    require_whole("models", models, 1)
    check_faces(faces)
    require_one_of("by", by, sorted(faces.coords))
    people = people_of(faces, by)
    halves_seed, *batch_seeds = seed_sequence(seed).spawn(models + 1)
    training_people, tested = people.halves(np.random.default_rng(halves_seed))
    kinds = {ALL: np.concatenate([*training_people.values()]), **training_people}
    evaluated = faces.isel(image=np.isin(faces["identity"].values, tested))
    x = unit_rows(evaluated["embedding"].transpose("image", "feature").values)

    def rates_of_batch(number):
        batch_seed = batch_seeds[number]
        versions = {UNTUNED: evaluated}
        for kind, kind_seed in zip(kinds, batch_seed.spawn(len(kinds))):
            rng = np.random.default_rng(kind_seed)
            n_drawn = max(2, round(SHARE * len(kinds[kind])))
            drawn = rng.choice(kinds[kind], n_drawn)
            with threadpool_limits(1, user_api="blas"):  # the same bits for any number of threads
                layer = train_layer(people, drawn, rng, steps)
            tuned = unit_rows(x @ layer)
            versions[kind] = evaluated.assign(embedding=(("image", "feature"), tuned))
        groups = stacked_faces(versions).groupby(by)
        rates = rates_of_groups(
            # of each group alone: pairs across groups count nowhere
            {name: sweep(score_tensor(members), by=by) for name, members in groups},
            subsets=subsets,
            subset_size=subset_size,
            fpr=fpr,
            seed=int(batch_seed.generate_state(1)[0]),
        )
        return checked(rates).squeeze(BATCH, drop=True)

    rates = along(BATCH, range(models), rates_of_batch, progress)
    del rates.attrs["seed"]
    rates.attrs["by"] = by
    return summarise(rates.rename(model=FINETUNED).transpose(FINETUNED, ...))


class People(NamedTuple):
    """People with two images or more, their groups, and the unit embeddings x of all images.

    The `count` rows of a person begin at row `first`.
    """

    names: np.ndarray
    group: np.ndarray
    first: np.ndarray
    count: np.ndarray
    x: np.ndarray

    def halves(self, rng):
        """Draw half of the people of every group, by group; and the names of the others."""
        train = {}
        for group in np.unique(self.group):
            members = rng.permutation(np.flatnonzero(self.group == group))
            train[str(group)] = members[: len(members) // 2]
        return train, np.delete(self.names, np.concatenate([*train.values()]))

    def couples(self, which, rng):
        """Draw rows of two different images of each of these people."""
        n = self.count[which]
        image = (rng.random(len(n)) * n).astype(int)
        step = 1 + (rng.random(len(n)) * (n - 1)).astype(int)
        return self.first[which] + image, self.first[which] + (image + step) % n


def people_of(faces, by):
    """Find the people who can train and be evaluated; refuse groups that have too few of them."""
    group, identity, _ = resolve_varying(faces[by].values, faces["identity"].values, "error", by)
    order = np.argsort(identity, kind="stable")
    names, first, count = np.unique(identity[order], return_index=True, return_counts=True)
    group = group[order][first]
    useful = (count >= 2) & (group != UNKNOWN)
    groups, sizes = np.unique(group[useful], return_counts=True)
    require(len(groups) >= 2, f"fine-tuning compares groups, but {by!r} has only {listed(groups)}")
    small = listed(groups[sizes < FEWEST])
    require(
        not small,
        f"fine-tuning takes {FEWEST} people with two images in every group; {small} has fewer",
    )
    x = faces["embedding"].transpose("image", "feature").values[order].astype(float)
    return People(names[useful], group[useful], first[useful], count[useful], unit_rows(x))


def unit_rows(x):
    """Scale rows to length 1."""
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def train_layer(people, drawn, rng, steps):
    """Train a layer, at first the identity, on people that were drawn."""
    x = people.x
    parameters = {"layer": np.eye(x.shape[1])}
    adam = Adam(parameters, RATE)
    layer = parameters["layer"]  # Adam changes it in place
    for _ in range(steps):
        batch = drawn[rng.permutation(len(drawn))[:BATCH_SIZE]]
        anchor, positive = people.couples(batch, rng)
        triplets = _hardest(x[anchor], x[positive], layer, batch)
        _, gradient = triplet_loss(layer, triplets, MARGIN)
        adam.step({"layer": gradient})
    return layer


def _hardest(anchor, positive, layer, person):
    """Make triplets with the image of another person in the batch that is most like the anchor."""
    alike = unit_rows(anchor @ layer) @ unit_rows(positive @ layer).T
    alike[person[:, None] == person] = -np.inf  # images of one person are not negatives
    return [anchor, positive, positive[alike.argmax(1)]]


def triplet_loss(layer, triplets, margin):
    """Mean of max(0, |a - p|² - |a - n|² + margin) after the layer, and its gradient by the layer.

    triplets: rows of anchors, positives and negatives, (n, feature) each.
    """
    x = np.array(triplets)
    mapped = x @ layer
    lengths = np.linalg.norm(mapped, axis=2, keepdims=True)
    anchor, positive, negative = units = mapped / lengths
    excess = 2 * np.sum(anchor * (negative - positive), axis=1) + margin
    active = (excess > 0)[:, None] * (2 / len(excess))
    slopes = active * np.array([negative - positive, -anchor, anchor])
    # only the part of the slope that is perpendicular to the unit vector moves it
    perpendicular = slopes - units * np.sum(units * slopes, axis=2, keepdims=True)
    gradients = x.transpose(0, 2, 1) @ (perpendicular / lengths)
    return float(np.maximum(excess, 0).mean()), gradients.sum(axis=0)
