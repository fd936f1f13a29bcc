"""What the data say about a guess: whether scores agree, and who is in images by their names."""

import numpy as np
import pandas as pd

from frkit.data.joins import WAYS, people_by_name

COMPARED = 20_000  # scores of each kind that show whether genuine ones are higher
FIRST = 2_000  # pairs that show whether a pattern of names can be right
CLEAR = 4.0  # scores agree with their direction if this many standard errors from one half
ALIKE = 0.75  # share of genuine scores above impostors' where names say who it is


def share_above(scores, genuine):
    """Return the share of genuine scores above impostors', and by how many standard errors.

    Parameters
    ----------
    scores : array of float
        NaN is left out; of many scores some are taken.
    genuine : array of bool
    """
    genuine_scores = _some(scores[genuine])
    impostor_scores = _some(scores[~genuine])
    n_genuine = len(genuine_scores)
    n_impostor = len(impostor_scores)
    if n_genuine == 0 or n_impostor == 0:
        return 0.5, 0.0
    ranks = pd.Series(np.concatenate([genuine_scores, impostor_scores])).rank().to_numpy()
    above = ranks[:n_genuine].sum() - n_genuine * (n_genuine + 1) / 2
    area = above / (n_genuine * n_impostor)
    error = np.sqrt((n_genuine + n_impostor + 1) / (12 * n_genuine * n_impostor))
    return area, (area - 0.5) / error


def _some(scores):
    """Return some of the scores that are not missing, at most so many."""
    scores = scores[np.isfinite(scores)]
    return scores[:: max(1, len(scores) // COMPARED)]


def people_of_names(images, genuine=None, scores=None):
    """Read who is who from names of images, where the data agree with one way to read them.

    Parameters
    ----------
    images : Sides
    genuine : array of bool, optional
        The truth: people must agree with it in every pair.
    scores : array, optional
        Where there is no truth: larger is more alike, and the same person's must be higher.

    Returns
    -------
    Sides or None, str
        Who is on both sides, and the way of WAYS; None and "" where names do not say.
    """
    for way, pattern in WAYS.items():
        if genuine is not None:  # a few of many pairs suffice to rule a pattern out
            at_first = _is_same_at_first(images, pattern)
            if not np.array_equal(at_first, genuine[:FIRST]):
                continue
        names = people_by_name(images.names, pattern)
        if names is None:
            continue
        people = images.mapped(names)
        is_same = people.is_same()
        if genuine is None:
            is_other = ~images.is_same()
            area, errors = share_above(scores[is_other], is_same[is_other])
            agrees = errors > CLEAR and area > ALIKE
        else:
            agrees = np.array_equal(is_same, genuine)
        if agrees and is_same.any() and not is_same.all():
            return people, way
    return None, ""


def strangers_called_genuine(images, genuine, scores):
    """Return how many of the first genuine pairs show two people by their names, and of how many.

    None are counted unless the scores say so, too. Then the truth may be of something else, such as
    the same sex.
    """
    genuine = genuine[:FIRST]
    scores = scores[:FIRST][genuine]
    for pattern in WAYS.values():
        is_same = _is_same_at_first(images, pattern)
        if is_same is not None and is_same.any() and genuine[is_same].all():
            is_same = is_same[genuine]
            area, errors = share_above(scores, is_same)
            if errors > CLEAR and area > ALIKE:
                return np.sum(~is_same), len(is_same)
    return 0, 0


def _is_same_at_first(images, pattern):
    """Return which of the first pairs show one person by a pattern; None where it does not fit."""
    sides = [images.names[side[:FIRST]] for side in images[:2]]
    people = people_by_name(np.concatenate(sides), pattern)
    if people is None:
        return None
    probe, reference = np.split(people, 2)
    return probe == reference
