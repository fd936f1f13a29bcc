"""The warnings of `evaluate`: data and options that do not support a rate or its interval."""

import numpy as np

from frkit.base import listed
from frkit.evaluation.design import weight_on_few_images
from frkit.evaluation.error_rates import auc, weights_of_data
from frkit.resampling import DIAGONAL_SCHEMES

FEW_IMAGES = 5  # images per identity below which intervals of the image scheme are too narrow
NEAR_HALF = 0.1  # from one half, beyond which an EER is not near it however few the pairs
SHARE_WITH_ITSELF = 0.1  # of genuine pairs with the highest score that causes a warning
ROUNDED = 1e-6  # of the range of scores: so far may the score of an image with itself be off
VARIED = 20  # distinct genuine scores, below which many are equal anyway
FEW_SHARE = 0.1  # of FRR's weight with such identities that causes a warning
SMALL_GROUPS = (
    ("far_group", "FAR", "it needs two people of the group who were compared with each other"),
    ("frr_group", "FRR", "it needs a person of the group with two images that were compared"),
)


def sentences_of_models(models):
    """Each sentence of `cautions` once, with its models; models : a list of names by sentence."""
    for sentence, names in models.items():
        of_models = "" if names == [None] else f" (model {listed(names)})"
        yield f"{sentence}{of_models}"


def cautions(population, data, far, lowest, highest):
    """Say where the pairs of a model do not support its rates at FAR levels.

    data : its rates. lowest, highest : of all scores.
    """
    share_of_a_pair = 1 / population.impostors.number.sum(dtype=float)
    below = far[far < share_of_a_pair]
    if below.size:
        yield (
            f"FAR levels {_levels(below)} lie below the weight of one impostor pair (about "
            f"{share_of_a_pair:.2g}): the threshold there is the largest impostor score; "
            "take levels above, or compare more images"
        )
    if far.size:
        skipped = (far >= share_of_a_pair) & (data.far.values <= far / 2)
        if skipped.any():
            reached = ", ".join(f"{value:.2g}" for value in np.unique(data.far.values[skipped]))
            yield (
                f"no threshold lies close to FAR levels {_levels(far[skipped])}: they are "
                f"read at FAR {reached}, because many impostor pairs have the same score, or those "
                "with the next score weigh much; take other levels, or scores with more digits"
            )
    scores = population.genuine.score[population.genuine.number > 0]
    n_highest = np.count_nonzero(scores >= highest - ROUNDED * (highest - lowest))
    if n_highest >= SHARE_WITH_ITSELF * len(scores) and len(np.unique(scores)) >= VARIED:
        yield (
            f"{n_highest:,} of {len(scores):,} genuine pairs have the highest score of all: if "
            "they compare an image with itself or with its copy, leave them out, as they make the "
            "FRR too low"
        )
    value = (
        float(data["eer"]) if "eer" in data else 1 - auc(population, weights_of_data(population))
    )
    if value > 0.5 - min(NEAR_HALF, population.n_genuine**-0.5):  # two standard errors of a rate
        yield (
            f"the {'EER' if 'eer' in data else '1 - AUC'} is {value:.2f}: images of one "
            "person score no higher, or hardly higher, than strangers. Near one half the labels "
            "may not belong to the scores (rows in another order?). If larger scores mean less "
            "alike (distances), turn their sign, or call their column "
            "a distance"
        )


def cautions_of_failures(n_failed, n_genuine):
    """Say where half of the genuine comparisons failed."""
    if n_failed >= n_genuine / 2:
        yield (
            f"{n_failed} of {n_genuine} genuine comparisons failed (NaN or marked as "
            "missing) and are left out: the rates are those of the others, which may be the easier "
            "ones"
        )


def _levels(far):
    """FAR levels in words."""
    return ", ".join(f"{level:g}" for level in far)


def cautions_of_scheme(design, resampling, copies):
    """Say where replicates that draw images vary too little: people of few images, no copies."""
    scheme = getattr(resampling, "scheme", None)
    if scheme not in DIAGONAL_SCHEMES:
        return
    share, n_few, n_people = weight_on_few_images(design, FEW_IMAGES)
    if share >= FEW_SHARE:
        yield (
            f"{share:.0%} of the weight of FRR lies with people of fewer than {FEW_IMAGES} images "
            f"({n_few} of {n_people} people): intervals from replicates of "
            f"the {scheme} scheme are too narrow then (they cover .64 to .94 at nominal .95 with "
            "2 or 3 images). Name no method in fk.band, which then reads no replicates of rates, "
            "or draw people, Resampling('identity')"
        )
    if not copies:
        yield (
            "these scores contain no comparison of an image with itself, so copies of an image "
            f"make no genuine pairs: the {scheme} scheme is centred on the estimate itself, and "
            "identities with one genuine pair cannot vary; scheme 'identity' is more useful here"
        )


def small_groups(data):
    """A message for each rate that some groups are too small for: they stay, with NaN."""
    messages = []
    for name, rate, need in SMALL_GROUPS:
        if name in data:
            other_dims = [dim for dim in data[name].dims if dim != "group"]
            empty = data[name].isnull().all(other_dims).values
            if empty.any():
                groups = listed(data["group"].values[empty])
                messages.append(f"{rate} of {groups} is not known: {need}")
    return messages
