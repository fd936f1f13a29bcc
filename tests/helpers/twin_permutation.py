"""The slow twin of the test of equal groups: labels of people, permuted at random."""

import warnings

import numpy as np

import frkit as fk


def p_of_permutations(faces, measure, *, far, n, seed=0):
    """How often a disparity of gender is as large where genders are dealt to people at random.

    measure : whose fair value is below all others. The thresholds are those of the data.
    """
    person = np.unique(faces.identity.values, return_inverse=True)[1]
    _, first = np.unique(person, return_index=True)
    gender_of_person = faces.gender.values[first]
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fk.DataWarning)
        scores = fk.sweep(fk.score_tensor(faces))
        whole = fk.evaluate(scores, far=[far])
        threshold = whole["empirical"].threshold.values
        values = []
        for number in range(1 + n):
            dealt = gender_of_person if number == 0 else rng.permutation(gender_of_person)
            images = faces.assign_coords(gender=("image", dealt[person]))
            rates = fk.evaluate(fk.score_tensor(images), threshold=threshold, by="gender")
            values.append(fk.measures.measure(measure)(rates["empirical"].to_dataset()).item())
    return np.mean(np.array(values) >= values[0] - 1e-12)
