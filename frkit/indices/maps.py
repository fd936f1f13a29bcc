"""Maps of scores to [0, 1], where the fairness indices are defined."""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from frkit.base import PAIR, listed, require
from frkit.scores.groups import checked_scores

ROUNDING = 1e-5  # how far a mapped score may lie outside [0, 1]; it is then cut off
N_TRIED = 256  # scores that show whether a map increases


def unit_scores(
    scores: xr.DataArray | xr.Dataset, score_map: str | Callable = "cosine"
) -> xr.DataArray:
    """Map scores to [0, 1], as the fairness indices need them; a tensor stays lazy.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        Score tensor, score matrix or list of pairs.
    score_map : str or callable
        "cosine" is (1 + s) / 2 and "angular" 1 - arccos(s) / pi, for cosines; "identity" leaves
        scores as they are; "euclidean" is 1 / (1 + distance) and "chord" 1 - distance / 2 (unit
        vectors), for scores that are minus a distance; or an increasing function that takes an
        array of scores and returns one of the same shape.

    Returns
    -------
    xr.DataArray
        With the dims and coordinates of the scores, in [0, 1].

    Raises
    ------
    InputError
        For an unknown map. When a block is computed: for NaN scores, or a mapped score outside
        [0, 1] (by more than 1e-5, which is rounding).

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
    named = isinstance(score_map, str) and score_map in SCORE_MAPS
    require(
        named or callable(score_map),
        f"score_map must be one of {', '.join(SCORE_MAPS)}, or a function of an array of scores; "
        f"got {score_map!r}",
    )
    function = SCORE_MAPS[score_map] if named else partial(_increasing, score_map)
    apply = partial(_mapped, function=function, name=map_name(score_map))
    if PAIR in scores.dims:
        data = apply(scores.values)
    else:
        data = scores.data.map_blocks(apply, dtype=scores.dtype)
    similarity = f"{scores.attrs.get('similarity', 'given')}, map {map_name(score_map)}"
    attrs = scores.attrs | {"similarity": similarity, "distance": 0}  # now larger is more alike
    if "self_score" in attrs:
        attrs["self_score"] = float(apply(np.array([attrs["self_score"]], float))[0])
    return scores.copy(data=data).assign_attrs(attrs)


def map_name(score_map: str | Callable) -> str:
    """What a map is called."""
    return score_map if isinstance(score_map, str) else getattr(score_map, "__name__", "callable")


def _mapped(scores: np.ndarray, function: Callable, name: str) -> np.ndarray:
    """Scores in [0, 1]; what does not lie there is refused."""
    n_failed = int(np.isnan(scores).sum())
    require(
        n_failed == 0,
        f"{n_failed} score(s) are NaN (failed comparisons), which have no place in a distribution: "
        "leave those pairs out, or give them the score that the system acts upon",
    )
    mapped = np.asarray(function(scores), scores.dtype)
    outside = ~((mapped >= -ROUNDING) & (mapped <= 1 + ROUNDING))
    require(
        not outside.any(),
        f"score_map {name!r} maps scores such as {listed(scores[outside][:1])} to "
        f"{listed(mapped[outside][:1])}, outside [0, 1]; name the map of these scores: "
        f"{', '.join(SCORE_MAPS)}, or a function of an array of scores",
    )
    return np.clip(mapped, 0, 1)


def _increasing(score_map: Callable, scores: np.ndarray) -> np.ndarray:
    """What a user's map returns; one that decreases somewhere is refused."""
    some = np.sort(scores, axis=None)[:: max(1, scores.size // N_TRIED)]
    steps = np.diff(np.asarray(score_map(some), float))
    require(
        np.all(steps >= -ROUNDING),
        f"score_map {map_name(score_map)!r} decreases: larger must stay more alike; map distances "
        "with 1 - d, say",
    )
    return score_map(scores)


def _angular(cosine: np.ndarray) -> np.ndarray:
    """1 - angle / pi; a number that is no cosine has no angle."""
    cosine = np.where(np.abs(cosine) <= 1 + ROUNDING, np.clip(cosine, -1, 1), np.nan)
    return 1 - np.arccos(cosine) / np.pi


# name -> map; Euclidean scores are minus a distance
SCORE_MAPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cosine": lambda score: (1 + score) / 2,
    "angular": _angular,
    "identity": lambda score: score,
    "euclidean": lambda score: 1 / (1 - score),
    "chord": lambda score: 1 + score / 2,
}
