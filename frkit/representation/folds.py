"""Folds of people or of images, with all classes in each."""

from collections.abc import Iterable

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from frkit.representation.problem import Problem
from frkit.representation.training import Fold


def split(asked: Problem, by: str, folds: int, seed: np.random.SeedSequence) -> list[Fold]:
    """Deal the images to folds; each is the test of one split, the next its validation, the others its training.

    by: "identity" keeps the images of a person together, "image" does not.
    """
    person = np.arange(len(asked.z)) if by == "image" else asked.person
    tests = [test for _, test in stratified(asked.z, person, folds, int(seed.generate_state(1)[0]))]
    return [_fold(tests, k, child) for k, child in enumerate(seed.spawn(folds))]


def stratified(z: np.ndarray, person: np.ndarray, folds: int, state: int) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each fold: classes in equal shares, all images of a person in one fold."""
    if len(np.unique(person)) == len(z):  # a person with one image is an image
        return StratifiedKFold(folds, shuffle=True, random_state=state).split(z, z)
    return StratifiedGroupKFold(folds, shuffle=True, random_state=state).split(z, z, person)


def _fold(tests: list[np.ndarray], k: int, seed: np.random.SeedSequence) -> Fold:
    """Positions among the images with a label."""
    ahead = (k + 1) % len(tests)
    train = np.concatenate([rows for j, rows in enumerate(tests) if j not in (k, ahead)])
    return Fold(np.sort(train), tests[ahead], tests[k], seed)
