"""Labels that are correlated with sex or race, for measures of bias in predictions."""

import numpy as np
import xarray as xr

from frkit.base import require_inside, require_whole, seed_sequence

TASK, N_TASKS = "task", 8
SEX = ("female", "male")
RACE = ("Black", "White", "East Asian", "Indian")
# corners of a tetrahedron: any two have the distance 1
CORNERS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(8)
SHIFT = 0.25  # by how much P(label) differs from 1/2 in a group
DISTANCE = 3.0  # of the sexes, and of any two races, in standard deviations of the noise


def biased_tasks(n: int = 2000, *, female: float = 0.614, seed: int = 0) -> xr.Dataset:
    """Draw images as vectors, with eight yes-no labels that are tied to sex or race.

    Labels 0 to 3 go along with sex, labels 4 to 7 with one race each: in that group they are 25
    percentage points more, or less, frequent than one half. Sexes, and races, are 3 standard
    deviations of the noise apart. A label moves an image along an axis of its own, and along two
    more by amounts whose sign depends on sex and on race, so that no classifier suits all groups
    equally.

    Parameters
    ----------
    n : int
        Number of images, each of another person.
    female : float
        Share in (0, 1). The paper's CelebA has .614 (sex entropy .667). The four races are equally
        frequent.
    seed : int
        Seed of all that is drawn.

    Returns
    -------
    xr.Dataset
        Like faces, with `label` (image, task) of 0 and 1 and the coordinates `sex` and `race`.

    Raises
    ------
    InputError
        A share outside its range.

    References
    ----------
    Li & Abd-Almageed (2021), V-E.

    Examples
    --------
    >>> from frkit.studies import biased_tasks
    >>> dict(biased_tasks(50).sizes)
    {'image': 50, 'feature': 28, 'task': 8}
    """
    require_whole("n", n, 1)
    require_inside("female", female, 0, 1)
    rng = np.random.default_rng(seed_sequence(seed))
    sex = (rng.random(n) >= female).astype(int)
    race = rng.integers(len(RACE), size=n)
    with_sex = np.where(sex[:, None] == np.arange(4) % 2, SHIFT, -SHIFT)
    with_race = np.where(race[:, None] == np.arange(4), SHIFT, -SHIFT / 3)
    chance = 0.5 + np.hstack([with_sex, with_race])
    label = (rng.random((n, N_TASKS)) < chance).astype(int)
    signal = 2.0 * label - 1
    amount = signal * np.linspace(0, 1, N_TASKS)
    values = np.hstack([
        DISTANCE * (sex[:, None] - 0.5),
        DISTANCE * CORNERS[race],
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
