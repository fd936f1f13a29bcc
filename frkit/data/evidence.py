"""What the data say about a guess: who is the same, and whether scores agree."""

import numpy as np
import pandas as pd

from frkit.data.joins import people_by_name
from frkit.data.labels import clean_labels

COMPARED = 20_000  # scores of each kind that show whether genuine ones are higher
CLEAR = 4.0  # standard errors from one half at which scores agree with their direction
ALIKE = 0.75  # share of genuine scores above impostors' where names say who it is


def separation(scores, genuine):
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
    """Return at most so many of the scores that are there."""
    scores = scores[np.isfinite(scores)]
    return scores[:: max(1, len(scores) // COMPARED)]


def joint_codes(sides):
    """Return the place of each name of both sides among all names, -1 if missing, and these."""
    first, second = (_as_text(side) for side in sides)
    if first.categories is second.categories:
        return [first.codes, second.codes], first.categories
    names = first.categories.union(second.categories)
    codes = []
    for side in (first, second):
        places = names.get_indexer(side.categories)
        codes.append(np.append(places, -1)[side.codes])
    return codes, names


def _as_text(side):
    """Return categories that are clean text, whatever they were."""
    column = pd.Categorical(side)
    if pd.api.types.is_string_dtype(column.categories):
        return column
    categories = np.asarray(column.categories, object)
    codes, texts = pd.factorize(clean_labels(categories, len(categories), "names").astype(object))
    return pd.Categorical.from_codes(np.append(codes, -1)[column.codes], texts)


def same_text(first, second):
    """Return where two columns have the same text."""
    [codes, others], _ = joint_codes((first, second))
    return (codes == others) & (codes >= 0)


def show_two_people(images, people):
    """Return which images show somebody else where they occur last, by codes of both."""
    person_of = np.full(images.max(initial=0) + 1, -1)
    person_of[images] = people
    return person_of[images] != people


def people_of_names(sides, genuine=None, scores=None):
    """Read who is who from names of images, where the data agree with one way to read them.

    Parameters
    ----------
    sides : pair of sequences of str
        Names of probes and of references.
    genuine : array of bool, optional
        The truth: people must agree with it in every pair.
    scores : array, optional
        Where there is no truth: larger is more alike, and the same person's must be higher.

    Returns
    -------
    list of pd.Categorical, str
        Who is on both sides, and how that was read; None and "" where names do not say.
    """
    [probes, references], names = joint_codes(sides)
    for how, people in people_by_name(names):
        person, persons = pd.factorize(np.array(people, object))
        is_same = person[probes] == person[references]
        if genuine is not None:
            agrees = np.array_equal(is_same, genuine)
        else:
            is_other = probes != references
            area, errors = separation(scores[is_other], is_same[is_other])
            agrees = errors > CLEAR and area > ALIKE
        if agrees and is_same.any() and not is_same.all():
            who = [
                pd.Categorical.from_codes(person[side], persons) for side in (probes, references)
            ]
            return who, how
    return None, ""
