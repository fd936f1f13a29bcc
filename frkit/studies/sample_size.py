"""How many identities, with how many images each, until a band is narrow enough or a difference is seen."""

import xarray as xr
from tqdm.auto import tqdm

from frkit.base import require
from frkit.resampling import Resampling
from frkit.studies.people import people
from frkit.studies.plan import GOALS, Plan

SCHEMES = ("image", "identity", "two-level", "double-or-nothing")


def sample_size(
    population,
    goal: str,
    size: float | None = None,
    *,
    far: float = 1e-3,
    per_identity: tuple[int, ...] = (3, 5, 10),
    by: str | None = None,
    level: float = 0.95,
    power: float = 0.8,
    resampling: Resampling | None = None,
    support: tuple[int, ...] | None = None,
    data_sets: int = 20,
    confirm: int = 0,
    progress: bool = True,
) -> xr.Dataset:
    """Find the smallest number of identities that reaches a goal, for each number of images per identity.

    Data sets of two sizes are drawn and evaluated as real ones would be: `evaluate`, then `band`, `compare` or `floor`.
    Squared half-widths (for tests: critical values, and variances of the margin by which an effect exceeds them) follow

        variance = (a + b / n + c / (n (n - 1))) / K        (K identities, n images each)

    because FRR averages over K identities an identity's own rate (a), the rates of its images (b) and single pairs (c).
    The three are fitted (not negative) and solved for K; the margin's variance is taken to be one share of the
    squared critical value, whatever K and n. A difference is seen where its band excludes 0, a ratio where
    its floor's p is at most 1 - level; both happen with the probability Phi((effect - critical) / sd of the margin).

    Parameters
    ----------
    population : law, Mixture or faces
        New identities are drawn from a law (`vmf.IdentityLaw`, `vmf.Likeness`); in the likeness of a Mixture
        (`vmf.Likeness`); or in the likeness of faces, fitted with `vmf.fit` in as many dimensions as their residuals
        have, concentrations scaled until FRR at the level is that of the faces. For goal "difference": two mixtures of
        the same identities {name: Mixture}, or faces with two models. Model A is then drawn as above, model B from A's
        identities so that cosines between identities, concentrations and the images' noise correlate as in the two
        (the noise of mixtures, which do not say: .9).
        Real faces are no mixture: attrs["calibration"] is how many times as wide the band of the faces given is as that
        of a data set of their size in their likeness. Half-widths are multiplied by it. Power is not corrected for the
        misfit. Where the recommended size holds few errors, power comes out higher than predicted (.95 for .8
        measured), because an estimate and its band grow together.
    goal, size : str, float
        "half_width": the band of FRR at the level has half this width, in units of FRR; "relative_half_width": as a
        share of FRR; "difference": FRR of model B minus that of A (None: what it is in the population);
        "ratio": FRR of the worst group over that of the others, which are made alike (above 1; needs `by`).
    far : float
        FAR level in (0, 1).
    per_identity : tuple of int
        Numbers n of images per identity to plan for, each at least 2.
    by : str, optional
        Attribute of the population, for goal "ratio".
    level, power : float
        Nominal coverage of bands (1 - size of tests); probability with which an effect is to be seen. In (0, 1).
    resampling : Resampling, optional
        Scheme, replicates and seed; default "identity" with 200. With "image" every data set has the same identities.
    support : tuple of int, optional
        Numbers of identities to simulate; default: as many as give 20 expected false rejects, and twice as many.
    data_sets : int
        Simulated for each n and each support size, at least 5.
    confirm : int
        Data sets to simulate at the recommended size (0: none).
    progress : bool
        Show a progress bar.

    Returns
    -------
    xr.Dataset
        Over per_identity: `n_identities` (recommended), `n_images`, `predicted` (half-width, or power, there).
        Over (per_identity, support): `support_identities`, `support_value` and `support_se` (half-width, or share of
        data sets in which the effect was seen, with its standard error), `support_predicted`. Over (quantity, term):
        `law`, the a, b, c of each quantity. Over (per_identity, curve): `curve_identities`, `curve_value`. With
        `confirm`: `confirmed`, `confirmed_se`. attrs["answer"] says in a sentence which n needs the fewest images;
        `frr` is the population's.

    Raises
    ------
    InputError
        For an unknown goal, a size or level out of range, fewer than two images per identity, groups or models that
        the population has not, or an FRR of 0.

    References
    ----------
    The variance is Hoeffding's for U-statistics (van der Vaart 1998, section 12.1); bands: Conti & Clemencon 2024.

    Examples
    --------
    >>> import frkit as fk
    >>> law = fk.vmf.IdentityLaw(16, kappa=(20, 80))
    >>> how = dict(far=0.05, per_identity=(3,), data_sets=5, support=(40, 80), progress=False)
    >>> plan = fk.studies.sample_size(law, "half_width", 0.02, **how)
    >>> plan.n_identities.dims
    ('per_identity',)
    """
    resampling = resampling or Resampling("identity")
    _check(goal, size, far, per_identity, level, power, resampling, data_sets, support)
    who = people(population, far, goal, size, by if goal == "ratio" else None)
    frr = float(who.frr() @ who.share)
    size = who.difference if size is None else size
    plan = Plan(who, goal, size, far, level, power, resampling, frr, float(min(who.share)))
    points = [(n, k) for n in per_identity for k in (support or plan.support(n))]
    with tqdm(total=len(points) * data_sets + confirm, desc="data sets", disable=not progress, leave=False) as bar:
        runs = [plan.simulate(k, n, range(data_sets), bar) for n, k in points]
        law = plan.fitted_law(points, runs)
        if isinstance(population, xr.Dataset) and not plan.is_test:
            plan = plan._replace(calibration=plan.against(population, law))
            law = law * plan.calibration**2
        result = plan.result(points, runs, law, per_identity)
        if confirm:
            n, k = plan.best(result)
            value, error = plan.value(plan.simulate(k, n, range(data_sets, data_sets + confirm), bar))
            result = result.assign(confirmed=value, confirmed_se=error)
    return result.assign_attrs(answer=plan.answer(result))


def _check(goal, size, far, per_identity, level, power, resampling, data_sets, support) -> None:
    require(goal in GOALS, f"goal must be one of {', '.join(GOALS)}, got {goal!r}")
    require(size is not None or goal == "difference", f"goal {goal!r} needs a size: {GOALS[goal]}")
    if goal == "ratio":
        require(size > 1, f"size of goal 'ratio' must be above 1, got {size}")
    elif goal != "difference":
        require(size > 0, f"size must be positive, got {size}")
    for name, value in (("far", far), ("level", level), ("power", power)):
        require(0 < value < 1, f"{name} must lie in (0, 1), got {value}")
    require(
        len(per_identity) > 0 and min(per_identity) >= 2, f"per_identity must hold numbers >= 2, got {per_identity}"
    )
    require(resampling.scheme in SCHEMES, f"the scheme must be one of {', '.join(SCHEMES)}, got {resampling.scheme!r}")
    require(data_sets >= 5, f"data_sets must be at least 5, got {data_sets}")
    require(support is None or min(support, default=0) >= 4, f"support must hold numbers >= 4, got {support}")
