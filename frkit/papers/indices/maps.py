"""Maps of scores to [0, 1], where the fairness indices are defined."""

from functools import partial

import numpy as np

from frkit.base import listed, require, require_one_of
from frkit.scores.kept import with_mapped_scores

ROUNDING = 1e-5  # how far a mapped score may lie outside [0, 1]; it is then cut off
N_TRIED = 256  # scores that show whether a map increases


def unit_scores(kept, score_map):
    """Kept pairs with scores in [0, 1], mapped by a map's name or by a function.

    Kotwal & Marcel (2022), section 2.2: higher values indicate a better match.
    """
    if not callable(score_map):
        require_one_of("score_map (or a function of an array)", score_map, SCORE_MAPS)
    apply = partial(_mapped, score_map=score_map)
    name = getattr(score_map, "__name__", score_map)
    similarity = f"{kept.attrs.get('similarity', 'given')}, map {name}"
    attrs = kept.attrs | {"similarity": similarity, "distance": 0}  # now larger is more alike
    if "self_score" in attrs:
        attrs["self_score"] = float(apply(np.array(attrs["self_score"], float)))
    return with_mapped_scores(kept, apply, attrs)


def _mapped(scores, score_map):
    """Map scores to [0, 1]; refuse values outside, and maps that decrease anywhere."""
    n_failed = int(np.isnan(scores).sum())
    require(
        n_failed == 0,
        f"{n_failed} score(s) are NaN (failed comparisons), which have no place in a distribution: "
        "leave those pairs out, or give them the score that the system acts upon",
    )
    function = SCORE_MAPS.get(score_map, score_map)
    if function is score_map:  # a user's
        tried = np.sort(scores, axis=None)[:: max(1, scores.size // N_TRIED)]
        require(
            np.all(np.diff(function(tried)) >= -ROUNDING),
            f"score_map {score_map!r} decreases: larger must stay more alike; map distances with "
            "1 - d, say",
        )
    mapped = np.asarray(function(scores), scores.dtype)
    outside = ~((mapped >= -ROUNDING) & (mapped <= 1 + ROUNDING))
    require(
        not outside.any(),
        f"score_map {score_map!r} maps scores such as {listed(scores[outside], 1)} outside [0, 1]; "
        f"name the map of these scores: {', '.join(SCORE_MAPS)}, or a function of an array of "
        "scores",
    )
    return np.clip(mapped, 0, 1)


SCORE_MAPS = {
    "cosine": lambda score: (1 + score) / 2,
    "identity": lambda score: score,
}
