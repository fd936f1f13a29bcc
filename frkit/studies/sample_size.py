"""How many people, with how many images each, until a band is narrow enough or an effect is seen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from scipy.stats import norm
from tqdm.auto import tqdm

from frkit.base import (
    FAR_LEVEL,
    GROUP,
    IDENTITY,
    IMAGE,
    MODEL,
    PROBE,
    REFERENCE,
    REPLICATE,
    DataWarning,
    require,
    require_inside,
    require_one_of,
    require_whole,
)
from frkit.evaluation.evaluate import evaluate_parts
from frkit.resampling import Resampling
from frkit.scores.groups import shares
from frkit.scores.tensor import score_tensor
from frkit.studies.consistency import rank_within_identity
from frkit.studies.plan import GOALS, REPLICATES, SCHEME, TESTS, Contrast, Plan

FEWER_IMAGES, DRAWS = (2, 3, 5, 10, 20), 4  # images kept of each person, and how often these, or people, are drawn
FEWEST = 10  # people of a part


def sample_size(
    data: xr.Dataset | xr.DataArray,
    goal: str,
    size: float | None = None,
    *,
    far: float = 1e-3,
    by: str | None = None,
    per_identity: tuple[int, ...] = (3, 5, 10),
    level: float = 0.95,
    power: float = 0.8,
    weighting: ArrayLike | Mapping[str, float] | None = None,
    seed: int = 0,
    progress: bool = True,
) -> xr.Dataset:
    """Find the smallest number of people that reaches a goal, from data of the kind that will be collected.

    The data tell how the variance of an estimate falls. People are drawn with replacement (identity scheme, models and
    groups paired), once with all of their images and again with 2, 3, 5, ... images of each person, drawn at random.
    FRR averages over K people what each of them, their n images and pairs of these contribute, hence

        variance = (a + b / n + c / (n (n - 1))) / K

    whose a, b and c (not negative) are fitted to what was measured, and which is solved for K. The kit's interval of
    few people is wider than a normal one: it is read on all people and on halves, quarters, ... of them, down to ten,
    and half of it is h = (u + v / K²) sd with u and v fitted to these, none of them below a normal law's. Half a band
    is h; an effect is seen with the probability Phi((|effect| - h) / sd).

    Parameters
    ----------
    data : faces or score tensor
        A pilot study, or a part of what there is: its people should be like the ones to come. For goal "difference" of
        two models. From a law of identities draw a pilot: `law.draw(200).sample(5)`.
    goal, size : str, float
        "half_width": the band of FRR at the level has half this width, in units of FRR; "relative_half_width": as a
        share of FRR; "difference": FRR of the second model minus that of the first; "ratio": FRR of the worst group
        over that of the best (above 1; needs `by`). Size None, for the last two: what it is in the data.
    far : float
        FAR level in (0, 1); every model's threshold is set on the data themselves.
    by : str, optional
        Attribute of the people, for goal "ratio"; groups keep their shares.
    per_identity : tuple of int
        Numbers n of images per person to plan for, each at least 2.
    level, power : float
        Nominal coverage of bands (1 - size of tests); probability with which an effect is to be seen. In (0, 1).
    weighting : as in `evaluate`
        "pair", or a weight for each person; the people to come are supposed to weigh as these do.
    seed : int
        Of the people and images that are drawn.
    progress : bool
        Show a progress bar.

    Returns
    -------
    xr.Dataset
        Over per_identity: `n_identities` (recommended: reaches the goal, and 10 errors of either kind are expected),
        `n_images`, `predicted` (half-width, or power, there). Over (per_identity, curve): `curve_identities`,
        `curve_value`. Over part of the data: `part_images` (of each person at most), `part_identities`, `part_value`
        (half-width or power by the variance measured there), `part_predicted` (by the law). Over term: `law`, the a, b
        and c. attrs["answer"] says in sentences which n needs the fewest images, and what limits the answer; `effect`
        and `effect_se` (of a ratio: of its logarithm) are those of the data; `frr` is theirs too (of the first model).

    Raises
    ------
    InputError
        For an unknown goal, a size or level out of range, fewer than two images per identity, groups or models that
        the data have not, a list of pairs, or an FRR of 0.

    References
    ----------
    The variance is Hoeffding's for U-statistics (van der Vaart 1998, section 12.1); bands: Conti & Clemencon 2024.

    Examples
    --------
    >>> import frkit as fk
    >>> pilot = fk.vmf.IdentityLaw(16, kappa=(20, 80)).draw(60).sample(5)
    >>> plan = fk.studies.sample_size(pilot, "half_width", 0.02, far=0.05, progress=False)
    >>> plan.n_identities.dims
    ('per_identity',)
    """
    require_one_of("goal", goal, GOALS)
    require(size is not None or goal in TESTS, f"goal {goal!r} needs a size: {GOALS[goal]}")
    if size is not None:
        wished = abs(size) if goal == "difference" else size
        require_inside(f"size of goal {goal!r}", wished, int(goal == "ratio"), np.inf)
    for name, value in (("far", far), ("level", level), ("power", power)):
        require_inside(name, value, 0, 1)
    require_whole("per_identity", min(per_identity, default=0), 2)
    identity = _labels(data, IDENTITY)
    who, code, counts = np.unique(identity, return_inverse=True, return_counts=True)
    require(counts.max() > 1, "no person of these data has two images: there is no FRR to plan for")
    pooled, mass = (
        isinstance(weighting, str) and weighting == "pair",
        shares("identity" if weighting is None else weighting, who),
    )
    how = {"far": [far], "by": by, "weighting": "pair" if pooled else dict(zip(who.tolist(), mass, strict=True))}
    draws = Resampling(SCHEME, n=REPLICATES, seed=seed)
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    parts = [counts.max()] + [n for n in FEWER_IMAGES if n < counts.max() for _ in range(DRAWS)]
    contrast, variances = None, {}
    for most in tqdm(parts, desc="parts of the data", disable=not progress, leave=False):
        images = np.flatnonzero(rank_within_identity(identity, rng.permutation(identity.size)) < most)
        tree = _evaluated(data, images, people=False, resampling=draws, **how)
        contrast = contrast or _contrast(goal, tree["empirical"].to_dataset(), data, by)  # the first part is the whole
        value = contrast.value(tree["replicates"].to_dataset().isel({FAR_LEVEL: 0}))
        variances.setdefault(int(most), []).append(float(value.var(REPLICATE, ddof=1)))
    measured = {most: np.mean(variances[most]) for most in sorted(variances)}
    told = all(0 < variance < np.inf for variance in measured.values())
    require(told, f"{who.size} people are too few to tell how much their FRR varies: take data of more people")
    several, halves = np.flatnonzero(counts > 1), {}
    sizes = [len(several) >> halved for halved in range(1, 12) for _ in range(DRAWS)]
    for people in [len(several), *(size for size in sizes if size >= FEWEST)]:
        images = np.flatnonzero(np.isin(code, rng.permutation(several)[:people]))
        half = contrast.half_width(_evaluated(data, images, **how), level)
        if np.isfinite(half):  # a small part may lack a group
            halves.setdefault(people, []).append(half)
    people = np.array(list(halves))
    sds = [np.mean(half) for half in halves.values()] / np.sqrt(measured[counts.max()] * len(several) / people)
    sds = np.maximum(sds, norm.ppf((1 + level) / 2))  # parts without the worst people look surer than they are
    width = nnls(np.stack([people**0, 1 / people**2], 1) / sds[:, None], np.ones(len(sds)))[0]  # equal relative errors
    wished = contrast.effect if size is None else size
    plan = Plan(contrast, wished, far, level, power, counts[several], mass[several], pooled, width, people.min())
    return plan.result(measured, per_identity, observed=size is None)


def _labels(data, name: str) -> np.ndarray:
    """Whom every image shows, or an attribute of it."""
    known = isinstance(data, xr.Dataset | xr.DataArray) and bool({IMAGE, PROBE} & set(data.dims))
    require(known, f"a plan is made from faces or from a score tensor of them, got {type(data).__name__}")
    sides = [name] if IMAGE in data.dims else [f"{side}_{name}" for side in (PROBE, REFERENCE)]
    require(set(sides) <= set(data.coords), f"by={name!r} is no attribute of these data")
    labels = [data[side].values for side in sides]
    require(np.array_equal(labels[0], labels[-1]), "a plan is made from all images against all; here probes differ")
    return labels[0]


def _evaluated(data, images: np.ndarray, **how) -> xr.DataTree:
    """An evaluation of some of the images."""
    part = data.isel({side: images for side in (IMAGE, PROBE, REFERENCE) if side in data.dims})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # parts hold few errors; the answer speaks of the whole
        return evaluate_parts(score_tensor(part) if IMAGE in data.dims else part, **how)


def _contrast(goal: str, rates: xr.Dataset, data, by: str | None) -> Contrast:
    """Weights of the rates, and the effect that the data show."""
    rates, models = rates.isel({FAR_LEVEL: 0}, drop=True), rates.sizes.get(MODEL, 1)
    if goal == "difference":
        require(models == 2, f"goal 'difference' takes two models, these data hold {models}")
    else:
        require(models == 1, f"goal {goal!r} is about one model: give one, such as faces.sel(model=name)")
    frr, share, effect = rates.frr, 1.0, np.nan
    if goal == "ratio":
        require(by is not None, "goal 'ratio' compares groups: name an attribute of the people with by=")
        frr = rates.frr_group.sortby(rates.frr_group, ascending=False).isel({GROUP: [0, -1]})
        share = np.mean(_labels(data, by).astype(str) == frr[GROUP].values[:, None], axis=1)
    some = bool((frr > 0).all() & (frr < 1).all())
    require(some, f"the FRR of these data is {frr.values}: no errors to plan from; take another FAR level")
    weights = 1 / frr if goal == "relative_half_width" else xr.ones_like(frr)
    if goal == "difference":
        weights = frr.copy(data=[-1.0, 1.0])
        effect = float(frr @ weights)
    if goal == "ratio":
        weights = frr.copy(data=[1.0, -1.0]) / frr
        effect = float(frr[0] / frr[1])
    return Contrast(goal, weights, effect, frr, float((frr * share).min()), bool(rates.resolved.all()))
