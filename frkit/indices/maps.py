"""Score maps: from what a system prints to scores in [0, 1], lazily."""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from frkit.base import PAIR, InputError, require
from frkit.evaluation.evaluate import checked_scores

ROUNDING = 1e-5  # by so much may a mapped score lie outside [0, 1]: that is rounding, and is cut off
FEW = 256  # scores that tell whether a map increases


def _angular(score: np.ndarray) -> np.ndarray:
    """1 - angle / pi; a number that is no cosine has no angle."""
    with np.errstate(invalid="ignore"):
        return 1 - np.arccos(np.where(np.abs(score) <= 1 + ROUNDING, np.clip(score, -1, 1), np.nan)) / np.pi


# name -> map; Euclidean scores are minus a distance
SCORE_MAPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cosine": lambda score: (1 + score) / 2,
    "angular": _angular,
    "identity": lambda score: score,
    "euclidean": lambda score: 1 / (1 - score),
    "chord": lambda score: 1 + score / 2,
}


def map_name(score_map: str | Callable) -> str:
    """What a map is called."""
    return score_map if isinstance(score_map, str) else getattr(score_map, "__name__", "callable")


def _mapped(score: np.ndarray, score_map: str | Callable) -> np.ndarray:
    """Scores in [0, 1]; what a map returns is checked."""
    score = np.asarray(score)
    failed = int(np.isnan(score).sum())
    require(
        failed == 0,
        f"{failed} score(s) are NaN (failed comparisons), which have no place in a distribution: leave those pairs "
        "out, or give them the score that the system acts upon",
    )
    function, name = SCORE_MAPS[score_map] if isinstance(score_map, str) else score_map, map_name(score_map)
    mapped = np.asarray(function(score), score.dtype)
    require(mapped.shape == score.shape, f"score_map {name!r} must return one number for every score")
    few = np.sort(score, axis=None)[:: max(1, score.size // FEW)] if callable(score_map) else score[:0]
    require(
        len(few) == 0 or np.all(np.diff(np.asarray(function(few), float)) >= -ROUNDING),
        f"score_map {name!r} decreases: larger must stay more alike; map distances with 1 - d, say",
    )
    bad = ~((mapped >= -ROUNDING) & (mapped <= 1 + ROUNDING))
    if bad.any():
        first = np.unravel_index(np.argmax(bad), bad.shape)
        raise InputError(
            f"score_map {name!r} sends a score of {score[first]:.6g} to {mapped[first]:.6g}, outside [0, 1]; "
            f"name the map that fits these scores: {', '.join(SCORE_MAPS)}, or a function of an array of scores"
        )
    return np.clip(mapped, 0, 1)


def unit_scores(scores: xr.DataArray | xr.Dataset, score_map: str | Callable = "cosine") -> xr.DataArray:
    """Map scores to [0, 1], as the fairness indices need them; a tensor stays lazy.

    Parameters
    ----------
    scores : score tensor, score matrix or pair table.
    score_map : "cosine" is (1 + s) / 2 and "angular" 1 - arccos(s) / pi, for cosines; "identity" leaves scores as
        they are; "euclidean" is 1 / (1 + distance) and "chord" 1 - distance / 2 (unit vectors), for scores that are
        minus a distance; or an increasing function that takes an array of scores and returns one of the same shape.

    Returns
    -------
    xr.DataArray with the dims and coordinates of the scores, in [0, 1].

    Raises
    ------
    InputError : an unknown map. When a block is computed: NaN scores, or a mapped score outside [0, 1] (by more
        than 1e-5, which is rounding).

    References
    ----------
    Kotwal & Marcel (2022), section 2.2: scores in [0, 1], higher values indicating a better match.

    Examples
    --------
    >>> import frkit as fk
    >>> table = fk.pairs([0.8, -1.0], [True, False])
    >>> fk.indices.unit_scores(table, "cosine").values.tolist()
    [0.9, 0.0]
    """
    scores = checked_scores(scores)
    require(
        callable(score_map) or score_map in SCORE_MAPS,
        f"score_map must be one of {', '.join(SCORE_MAPS)}, or a function of an array of scores; got {score_map!r}",
    )
    apply = partial(_mapped, score_map=score_map)
    similarity = f"{scores.attrs.get('similarity', 'given')}, map {map_name(score_map)}"
    attrs = dict(scores.attrs) | {"similarity": similarity}
    if "self_score" in attrs:
        attrs["self_score"] = float(apply(np.array([float(attrs["self_score"])]))[0])
    data = apply(scores.values) if PAIR in scores.dims else scores.data.map_blocks(apply, dtype=scores.dtype)
    return scores.copy(data=data).assign_attrs(attrs)
