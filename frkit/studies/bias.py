"""The bias of the naive bootstrap, as a function of the number of images per identity (Figs. 2 and 3)."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require
from frkit.evaluation.evaluate import evaluate, far_levels
from frkit.intervals import fan
from frkit.intervals.bands import interval
from frkit.intervals.reading import Values
from frkit.resampling import Resampling
from frkit.scores.tensor import score_tensor
from frkit.studies.along import along
from frkit.vmf import Mixture

INTERVALS = ("naive", "recentered")


def bootstrap_bias(
    mixture: Mixture,
    *,
    per_identity: tuple[int, ...] = (2, 3, 5, 10, 20),
    far: ArrayLike | None = None,
    n: int = 200,
    seed: int = 0,
    level: float = 0.95,
    progress: bool = True,
) -> xr.Dataset:
    """Bootstrap one data set for each number of images per identity, and keep both intervals and the truth.

    Naive replicates hold copies of one image as genuine pairs with the self-score, so with n_k images they
    surround (1 - 1/n_k) FRR and not FRR; recentering moves them back. With 20 images the shift is a
    twentieth, with 2 images a half.

    Parameters
    ----------
    mixture : vmf Mixture, from which each data set is drawn and whose exact ROC is the truth.
    per_identity : images per identity of the data sets, each at least 2.
    far : FAR levels in (0, 1), ascending; 1e-4 to 1e-1 with 4 per decade when left out.
    n : number of replicates, at least 2.
    seed : seed of the data sets and of the draws.
    level : nominal coverage of the intervals, in (0, 1).
    progress : show a progress bar.

    Returns
    -------
    xr.Dataset over per_identity and far_level: `estimate`, `centre` (V-statistic), `replicates` (over
    replicate too), `lower` and `upper` (over interval: naive, recentered), `resolved`; and `truth`.

    Raises
    ------
    InputError : fewer than two images per identity.

    References
    ----------
    Conti & Clémençon (2024), section 3.2, eq. 10, Figs. 2 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.bootstrap_bias(mix, per_identity=(5, 10), far=[0.1, 0.2], n=20)
    >>> bool((study.centre < study.estimate).all())
    True
    """
    require(
        min(per_identity) >= 2,
        f"a genuine pair needs 2 images per identity, got {min(per_identity)}",
    )
    far = far_levels(1e-4, 1e-1, per_decade=4) if far is None else np.asarray(far, float)

    def of_number(number: int) -> xr.Dataset:
        scores = score_tensor(mixture.sample(per_identity=number, seed=seed))
        curves = fan(evaluate(scores, far=far, resampling=Resampling("image", n=n, seed=seed)))
        values = Values(curves.estimate, curves.centre, curves.replicates)
        ends = along(
            "interval", INTERVALS, lambda method: interval(values, method, level, "identity")
        )
        return curves.merge(ends[["lower", "upper"]])

    result = along("per_identity", per_identity, of_number, progress).assign(
        truth=mixture.population_roc(far).frr
    )
    words = f"{100 * level:.4g} % intervals, image scheme, {n} resamples\nabout {result.attrs['target']}"
    return result.assign_attrs(level=level, seed=seed, words=words)
