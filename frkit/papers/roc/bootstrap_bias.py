"""Bias of the naive bootstrap, by the number of images per identity (Figs. 2 and 3)."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import checked_far, real_numbers
from frkit.evaluation.evaluate import evaluate
from frkit.evaluation.options import far_levels
from frkit.intervals import replicate_curves
from frkit.intervals.replicates import interval
from frkit.papers.along import along
from frkit.resampling import Resampling
from frkit.scores.tensor import score_tensor
from frkit.vmf import Mixture
from frkit.vmf.population import require_population

LEVEL = 0.95  # of the intervals


def bootstrap_bias(
    mixture: Mixture,
    *,
    per_identity: ArrayLike = (2, 3, 5, 10, 20),
    far: ArrayLike | None = None,
    n: int = 200,
    seed: int = 0,
    progress: bool = True,
) -> xr.Dataset:
    """Bootstrap one data set for each number of images per identity, with both intervals.

    Replicates contain copies of one image, which are genuine pairs with the self-score. With n_k
    images per identity the naive replicates therefore surround (1 - 1/n_k) FRR, and not FRR.
    Recentering moves them back.

    Parameters
    ----------
    mixture : Mixture
        The vmf mixture that each data set is drawn from. Its exact ROC is the truth.
    per_identity : sequence of int
        Images per identity of the data sets, each at least 2.
    far : sequence of float, optional
        FAR levels in (0, 1); by default 1e-4 to 1e-1, 4 per decade.
    n : int
        Number of replicates, at least 2.
    seed : int
        Seed of the data sets and of the replicates.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    xr.Dataset
        Over per_identity and far_level: `estimate`, `centre` (V-statistic), `resolved`, `lower` and
        `upper` (also over interval: naive, recentered) and `replicates` (also over replicate). Over
        far_level: `truth`.

    Raises
    ------
    InputError
        Fewer than two images per identity.

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
    require_population("mixture", mixture)
    numbers = real_numbers("per_identity", per_identity)
    far = far_levels(1e-4, 1e-1) if far is None else np.unique(checked_far(far))
    truth = mixture.population_roc(far).frr
    resampling = Resampling("image", n=n, seed=seed)

    def for_number(images):
        scores = score_tensor(mixture.sample(per_identity=images, seed=seed))
        curves = replicate_curves(evaluate(scores, far=far, resampling=resampling))

        def ends(method):
            return interval(curves, method, LEVEL, "identity")[["lower", "upper"]]

        return curves.merge(along("interval", ("naive", "recentered"), ends))

    study = along("per_identity", np.ravel(numbers).tolist(), for_number, progress)
    caption = f"{100 * LEVEL:.4g} % intervals, image scheme, {n} replicates\nabout {study.target}"
    return study.assign(truth=truth).assign_attrs(kind="studies.bootstrap_bias", words=caption)
