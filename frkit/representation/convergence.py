"""How an estimate grows while the network trains, on the people it knows and on others."""

from dataclasses import replace

import numpy as np
import xarray as xr

from frkit.representation.bounds import entropy
from frkit.representation.crossfit import plan, run
from frkit.representation.problem import embeddings, problem
from frkit.representation.training import Critic


def convergence(
    faces: xr.Dataset,
    attribute: str | tuple[str, ...],
    *,
    folds: int = 5,
    by: str = "identity",
    varying: str = "error",
    critic: Critic | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """Mutual information along the training, without early stopping: in-sample, as the paper reads it, and held out.

    Parameters
    ----------
    faces, folds, by, varying, progress
        As in `representation_bias`; one seed.
    attribute : str or tuple of str
        One attribute, or several crossed.
    critic : Critic, optional
        Its `patience` is not used: all `iterations` are done.

    Returns
    -------
    xr.Dataset
        Over step and fold, and `model` where there are several: `in_sample` (DV of the latest batches, eq. 4) and
        `held_out` (SN of people on whom nothing depends), both in nats; and `entropy`.

    Raises
    ------
    InputError
        As in `representation_bias`.

    References
    ----------
    Li & Abd-Almageed (2021), Fig. 3a.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.representation.shifted_classes(400, 8, distance=0)
    >>> critic = fk.representation.Critic(iterations=50)
    >>> fk.representation.convergence(faces, "group", critic=critic, progress=False).held_out.sizes["step"]
    3
    """
    encoders, names = embeddings(faces)
    one = problem(faces, attribute, by=by, folds=folds, varying=varying)
    readings = run(encoders, [one], [plan(one, by, folds, [0])], replace(critic or Critic(), patience=None), progress)
    curves = np.array([[reading.curve for reading in folds_of] for folds_of in readings])
    found = xr.Dataset(
        {
            "in_sample": (("model", "fold", "step"), curves[..., 1]),
            "held_out": (("model", "fold", "step"), curves[..., 2]),
            "entropy": entropy(one.shares),
        },
        {"step": curves[0, 0, :, 0].astype(int)},
    )
    return found.isel(model=0) if names is None else found.assign_coords(model=names)
