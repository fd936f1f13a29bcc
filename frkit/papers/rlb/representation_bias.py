"""Representation-level bias (RLB): how much an embedding reveals about an attribute."""

from dataclasses import replace
from functools import partial

import numpy as np
import xarray as xr

from frkit.base import require, require_whole
from frkit.papers.along import side_by_side
from frkit.papers.rlb.bounds import (
    detectable_information,
    donsker_varadhan,
    entropy,
    self_normalised,
    standard_error,
)
from frkit.papers.rlb.mine import Critic, Fold, train_and_read
from frkit.papers.rlb.problem import for_each_model, gather_problem, stratified

ATTRIBUTE, SEED = "attribute", "seed"


def representation_bias(
    faces: xr.Dataset,
    attribute: str | tuple[str, ...] | list,
    *,
    seeds: int = 3,
    folds: int = 5,
    by: str = "identity",
    varying: str = "error",
    critic: Critic | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """Estimate how much an embedding reveals of a protected attribute: RLB = I(R, Z) / H(Z).

    A statistics network (MINE) learns to distinguish real pairs of image and class from arbitrary
    pairs. It is trained on one group of people, a second group decides when to stop, and RLB is
    computed on a third group, so that overfitting does not count.

    Parameters
    ----------
    faces : xr.Dataset
        From `fk.faces` or `fk.open_data`. With a dim `model`, all encoders (or layers) have the
        same folds.
    attribute : str, tuple of str, or list of these
        A name; a tuple crosses its attributes ("female & Asian"); a list gives a dim `attribute`.
        Images whose label is "unknown" are left out, with a warning.
    seeds : int
        How many seeds (0, 1, ...). Each has its own networks and folds, and its result does not
        depend on the other seeds.
    folds : int
        At least 3. In turn, one fold is the test, one decides when to stop, the others train.
    by : {"identity", "image"}
        What is divided into folds. Images of a person share the attribute, so with "image" the
        network recognises people from its training: RLB is too large, up to .65 where it is 0.
    varying : {"error", "keep", "split", "first", "most frequent"}
        For an attribute that varies within an identity. With "keep" and "split" it belongs to the
        image, and all images of a person still go to one fold.
    critic : Critic, optional
        The network and its training; by default mapping layers of 10, hidden layers of 64, early
        stopping.
    progress : bool
        Show a progress bar.

    Returns
    -------
    xr.Dataset
        Over `model` and `attribute`, where there are several. Nothing is clipped: values below 0
        mean that nothing was detected.

        - `rlb` = `mutual_information` / `entropy`, from the networks' mean over the seeds and the
          self-normalised bound SN = E T(r, z) - E log Σ_k p_k exp T(r, k) (nats). SN is the
          entropy minus the cross entropy of the classifier that the networks imply. It is a lower
          bound of the truth.
        - `rlb_se`, `mutual_information_se`: standard errors from per-identity sums. They do not
          include the distance of the bound from the truth: where the true value is .49,
          rlb ± 2 standard errors covers it in 47 % of the data sets.
        - `rlb_dv`, `mutual_information_dv`: the paper's bound (eq. 3), mean over seeds, on the same
          held-out people.
        - `rlb_by_seed` over seed: one network each; `rlb_seed_sd`: their standard deviation.
        - `rlb_in_sample`: the paper's value, from the training images of the last networks. It
          shows how far they overfit.
        - `verdict`: "detected" where rlb exceeds two standard errors, else "not detectable".
        - `smallest_detectable`: how small a true RLB may be and still be detected in data of this
          size. For Gaussian classes, an RLB of this size is detected in 19 of 20 data sets with as
          many independent images and directions, and half of it in about every second one. It is
          at most 1, at most `rlb` where that is detected, and at least `rlb` where it is not.
        - `n_images`, `n_identities`, `n_classes`.

    Raises
    ------
    InputError
        For an attribute that is absent, has one class, or varies within an identity; a class with
        fewer people (by="image": images) than folds; features that are constant, NaN or infinite;
        unknown options.

    Warns
    -----
    DataWarning
        Where images without a label are left out.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1-8; eq. 7 as the moving average it is meant to be.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.representation.shifted_classes(400, 8, distance=4, seed=0)
    >>> result = fk.representation_bias(faces, "group", seeds=1, progress=False)
    >>> float(result.rlb.round(1)), str(result.verdict.values)
    (0.9, 'detected')
    """
    require_whole("seeds", seeds, 1)
    critic = _checked(critic)
    attributes = attribute if isinstance(attribute, list) else [attribute]
    require(len(attributes) > 0, "attribute is an empty list: name an attribute")
    options = {"by": by, "folds": folds, "varying": varying}
    problems = [gather_problem(faces, name, **options) for name in attributes]
    plans = [_splits(problem, folds, seeds) for problem in problems]
    labels = xr.Variable(ATTRIBUTE, [problem.name for problem in problems])

    def for_encoder(x):
        estimates = []
        for problem, plan in zip(problems, plans):
            readings = _run(x, problem, plan, critic, progress)
            estimates.append(_summary(x, problem, plan, readings, folds))
        return xr.concat(estimates, labels) if isinstance(attribute, list) else estimates[0]

    table = for_each_model(faces, for_encoder).assign_coords({SEED: np.arange(seeds)})
    return table.assign_attrs(options, critic=str(critic), kind="representation_bias")


def convergence(
    faces: xr.Dataset,
    attribute: str | tuple[str, ...],
    *,
    folds: int = 5,
    critic: Critic | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """Mutual information along the training: in sample, as the paper reads it, and held out.

    There is no early stopping.

    Parameters
    ----------
    faces, folds, progress
        As in `representation_bias`; one seed.
    attribute : str or tuple of str
        One attribute, or several crossed.
    critic : Critic, optional
        All `iterations` are done; `patience` is ignored.

    Returns
    -------
    xr.Dataset
        Over step and fold, and `model` where there are several: `in_sample` (DV of the latest
        batches, eq. 4) and `held_out` (SN of people who were not used in training), both in nats;
        and `entropy`.

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
    >>> result = fk.representation.convergence(faces, "group", critic=critic, progress=False)
    >>> result.held_out.sizes["step"]
    3
    """
    critic = replace(_checked(critic), patience=None)
    problem = gather_problem(faces, attribute, by="identity", folds=folds, varying="error")
    plan = _splits(problem, folds, 1)

    def for_encoder(x):
        readings = _run(x, problem, plan, critic, progress)
        curves = np.array([reading.curve for reading in readings])
        names = {"step": curves[0, :, 0].astype(int), "bound": ["in_sample", "held_out"]}
        return xr.DataArray(curves[..., 1:], names, ("fold", "step", "bound")).to_dataset("bound")

    curves = for_each_model(faces, for_encoder).assign(entropy=entropy(problem.shares))
    return curves.assign_attrs(kind="representation.convergence")


def _checked(critic):
    """The critic that is given, or the default one."""
    critic = Critic() if critic is None else critic
    require(isinstance(critic, Critic), f"critic must be a Critic, got {type(critic).__name__}")
    return critic


def _splits(problem, folds, seeds):
    """Folds of all seeds, seed after seed.

    Each part of the people is the test set of one fold and the validation set of the fold before.
    The other parts are for training.
    """
    images = np.arange(len(problem.z))
    plan = []
    for number in range(seeds):
        seed = np.random.SeedSequence(0, spawn_key=(number,))
        state = int(seed.generate_state(1)[0])
        tests = [test for _, test in stratified(problem.z, problem.unit, folds, state)]
        following = [*tests[1:], tests[0]]
        for test, validation, network_seed in zip(tests, following, seed.spawn(folds)):
            train = np.setdiff1d(images, np.concatenate([test, validation]))
            plan.append(Fold(train, validation, test, network_seed))
    return plan


def _run(x, problem, plan, critic, progress):
    """Train the networks of all folds.

    Each network has its own seed and one BLAS thread, so that the numbers do not depend on the
    threads.
    """
    return side_by_side(partial(train_and_read, x, problem, critic), plan, "networks", progress)


def _summary(x, problem, plan, readings, folds):
    """All results for one encoder and one attribute."""
    z, person, shares = problem.z, problem.person, problem.shares
    n = len(z)
    n_seeds = len(plan) // folds
    # T of every image, from the network that has not seen its person, and the DV bound of its fold
    t = np.empty((n_seeds, n, len(shares)))
    dv = np.empty((n_seeds, n))
    for k, (fold, reading) in enumerate(zip(plan, readings)):
        seed = k // folds
        t[seed, fold.test] = reading.t
        dv[seed, fold.test] = donsker_varadhan(reading.t, z[fold.test], shares)
    h = entropy(shares)
    terms = self_normalised(t.mean(axis=0), z, shares)
    information = terms.mean()
    # the entropy is estimated from the same images: the ratio's linear terms
    surprise = -np.log(shares)[z]
    ratio_terms = (terms - information) / h - information * (surprise - h) / h**2
    rlb = information / h
    rlb_se = standard_error(ratio_terms, person)
    rlb_by_seed = np.array([self_normalised(of_seed, z, shares).mean() for of_seed in t]) / h
    detected = rlb > 2 * rlb_se
    train_share = 1 - 2 / folds
    detectable = detectable_information(x[problem.rows], person, len(shares), train_share)
    smallest = min(1.0, detectable / h)
    return xr.Dataset(
        {
            "mutual_information": information,
            "mutual_information_se": standard_error(terms - information, person),
            "rlb": rlb,
            "rlb_se": rlb_se,
            "mutual_information_dv": dv.mean(),
            "rlb_dv": dv.mean() / h,
            "entropy": h,
            "rlb_by_seed": (SEED, rlb_by_seed),
            "rlb_seed_sd": rlb_by_seed.std(ddof=1) if n_seeds > 1 else np.nan,
            "rlb_in_sample": np.mean([reading.in_sample for reading in readings]) / h,
            "verdict": "detected" if detected else "not detectable",
            # the estimate itself limits what the formula says
            "smallest_detectable": min(smallest, rlb) if detected else max(smallest, rlb),
            "n_images": n,
            "n_identities": len(np.unique(person)),
            "n_classes": len(shares),
        }
    )
