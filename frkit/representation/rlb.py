"""Representation-level bias (RLB): how much an embedding tells about an attribute, read on held-out people."""

from collections.abc import Sequence
from dataclasses import replace

import dask
import numpy as np
import pandas as pd
import xarray as xr
from threadpoolctl import threadpool_limits
from tqdm.dask import TqdmCallback

from frkit.base import MODEL, require
from frkit.representation.mine import Critic, Fold, Reading, donsker_varadhan, pointwise, read
from frkit.representation.problem import (
    Problem,
    embeddings,
    entropy,
    problem,
    standard_error,
    stratified,
)

ATTRIBUTE, SEED = "attribute", "seed"
DETECTED, UNDETECTED = "detected", "not detectable"
DISTINCT = (
    4.0**2
)  # squared standard errors: two to be called detected, the rest for the chance of the data
MOST_ROWS = 2000  # images from which the effective dimension is taken


def representation_bias(
    faces: xr.Dataset,
    attribute: str | tuple[str, ...] | list,
    *,
    seeds: int | Sequence[int] = 3,
    folds: int = 5,
    by: str = "identity",
    varying: str = "error",
    critic: Critic | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """How much of a protected attribute an embedding gives away: RLB = I(R, Z) / H(Z).

    A statistics network is trained to tell real pairs of image and class from arbitrary ones (MINE), stopped
    by a second and read on a third group of people, so that what it learned by heart does not count.

    Parameters
    ----------
    faces : xr.Dataset
        From `fk.faces` or `fk.open_faces`; with a dim `model` every encoder (or layer) is read on the same folds.
    attribute : str, tuple of str, or list of these
        A name; a tuple crosses its attributes ("female & Asian"); a list gives a dim `attribute`. Images whose
        label is "unknown" are left out, with a warning.
    seeds : int or sequence of int
        How many (0, 1, ...) or which; each has its own networks and folds, and gives the same whatever the others.
    folds : int
        At least 3: of five, three train, one stops, one is read, in turn.
    by : {"identity", "image"}
        What is dealt to folds. Images of a person share the attribute, so that "image" reads people again
        whom the network knows: too large, up to .65 where nothing is there.
    varying : {"error", "keep", "split", "first", "most frequent"}
        For an attribute that varies within an identity; "keep" and "split": it belongs to the image, and all
        images of a person still go to one fold.
    critic : Critic, optional
        The network and its training; by default mapping layers of 10, hidden layers of 64, early stopping.
    progress : bool
        Show a progress bar. An interrupt leaves nothing behind.

    Returns
    -------
    xr.Dataset
        Over `model` and `attribute`, where there are several. Nothing is clipped: below 0 means "nothing found".

        - `rlb` = `mutual_information` / `entropy`, from the networks' mean over the seeds and the self-normalised
          bound SN = E T(r, z) - E log Σ_k p_k exp T(r, k) (nats): entropy minus the cross entropy of the classifier
          that the networks imply: a lower bound of the truth. `rlb_se`, `mutual_information_se`: from per-identity
          sums, the error of this bound alone. The bound's distance from the truth is not in it: where the true
          value is .49, rlb ± 2 standard errors covers it in .47 of the data sets.
        - `rlb_dv`, `mutual_information_dv`, and their `_se`: the paper's bound (eq. 3), mean over seeds, held out too.
        - `rlb_by_seed`, `rlb_dv_by_seed` over seed: one network each; `rlb_seed_sd`: their standard deviation.
        - `rlb_in_sample`: the paper's readout, on the training images of the last network: a sign of overfitting.
        - `verdict`: "detected" where rlb exceeds two standard errors, else "not detectable".
        - `smallest_detectable`: how small an RLB may be and still show in data like these. By a law for Gaussian
          classes, 19 of 20 data sets with so many independent images and directions show a true RLB of that size,
          about every other one half of it. At most 1; and what these data show goes before the law: it is never above
          an `rlb` that is detected, never below one that is not.
        - `steps`: mean number of training steps kept. `n_images`, `n_identities`, `n_classes`.

    Raises
    ------
    InputError
        For an attribute that is absent, has one class, or varies within an identity; a class with fewer people
        (by="image": images) than folds; features that are constant, NaN or infinite; unknown options.

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
    >>> found = fk.representation_bias(faces, "group", seeds=1, progress=False)
    >>> float(found.rlb.round(1)), str(found.verdict.values)
    (0.9, 'detected')
    """
    seeds, wanted = _seeds(seeds), attribute if isinstance(attribute, list) else [attribute]
    require(len(wanted) > 0, "attribute is empty: name one, e.g. 'gender'")
    encoders, names = embeddings(faces)
    problems = [problem(faces, one, by=by, folds=folds, varying=varying) for one in wanted]
    labels = xr.Variable(ATTRIBUTE, [one.name for one in problems])
    plans = [splits(one, by, folds, seeds) for one in problems]
    critic = critic or Critic()
    readings = iter(_run(encoders, problems, plans, critic, progress))
    tables = []
    for x in encoders:
        rows = [
            _summary(x, one, plan, next(readings), folds)
            for one, plan in zip(problems, plans, strict=True)
        ]
        tables.append(xr.concat(rows, labels) if isinstance(attribute, list) else rows[0])
    found = tables[0] if names is None else xr.concat(tables, names)
    found = found.assign_coords({SEED: seeds})
    return found.assign_attrs(by=by, folds=folds, varying=varying, critic=str(critic))


def convergence(
    faces: xr.Dataset,
    attribute: str | tuple[str, ...],
    *,
    folds: int = 5,
    critic: Critic | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """Mutual information along the training, without early stopping: in-sample, as the paper reads it, and held out.

    Parameters
    ----------
    faces, folds, progress
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
    one = problem(faces, attribute, by="identity", folds=folds, varying="error")
    critic = replace(critic or Critic(), patience=None)
    readings = _run(encoders, [one], [splits(one, "identity", folds, [0])], critic, progress)
    curves = np.array([[reading.curve for reading in of_encoder] for of_encoder in readings])
    dims = (MODEL, "fold", "step")
    values = {
        "in_sample": (dims, curves[..., 1]),
        "held_out": (dims, curves[..., 2]),
        "entropy": entropy(one.shares),
    }
    found = xr.Dataset(values, {"step": curves[0, 0, :, 0].astype(int)})
    return found.isel({MODEL: 0}) if names is None else found.assign_coords({MODEL: names})


def _seeds(seeds) -> list[int]:
    """The seeds that are asked for, each by its number."""
    whole = (int, np.integer)
    found = (
        list(range(seeds))
        if isinstance(seeds, whole)
        else list(seeds)
        if isinstance(seeds, Sequence)
        else []
    )
    good = (
        found
        and all(isinstance(seed, whole) and seed >= 0 for seed in found)
        and len(set(found)) == len(found)
    )
    require(
        good, f"seeds must be at least 1, or distinct whole numbers of at least 0, got {seeds!r}"
    )
    return found


def splits(one: Problem, by: str, folds: int, seeds: Sequence[int]) -> list[Fold]:
    """Folds of all seeds, seed after seed: each is the test of one, the next its validation, the others its training.

    by: "identity" keeps the images of a person together, "image" does not.
    """
    person = np.arange(len(one.z)) if by == "image" else one.person
    found = []
    for number in seeds:
        seed = np.random.SeedSequence(0, spawn_key=(number,))
        tests = [
            test for _, test in stratified(one.z, person, folds, int(seed.generate_state(1)[0]))
        ]
        for k, child in enumerate(seed.spawn(folds)):
            ahead = (k + 1) % folds
            train = np.concatenate([rows for j, rows in enumerate(tests) if j not in (k, ahead)])
            found.append(Fold(np.sort(train), tests[ahead], tests[k], child))
    return found


def _run(
    encoders: Sequence, problems: Sequence, plans: Sequence, critic: Critic, progress: bool
) -> list:
    """Readings of all splits, as one list for every encoder and attribute, in that order.

    Each network has its own seed and one BLAS thread, so that the numbers do not depend on the threads.
    """
    train, tasks = dask.delayed(read, pure=False), []
    for x in encoders:
        for one, plan in zip(problems, plans, strict=True):
            rows = x if len(one.rows) == len(x) else x[one.rows]  # a copy only where it is needed
            shared = dask.delayed(rows, pure=False, traverse=False)
            tasks.append([train(shared, one.z, one.shares, fold, critic) for fold in plan])
    with (
        threadpool_limits(1, user_api="blas"),
        TqdmCallback(desc="networks", disable=not progress, leave=False),
    ):
        return list(dask.compute(*tasks))


def _summary(
    x: np.ndarray, one: Problem, plan: list[Fold], readings: list[Reading], folds: int
) -> xr.Dataset:
    """All numbers of one encoder and one attribute."""
    n, n_seeds, h = len(one.z), len(plan) // folds, entropy(one.shares)
    t = np.empty(
        (n_seeds, n, len(one.classes))
    )  # of every image from the network that knew nothing of it
    dv, dv_terms = np.zeros(n_seeds), np.zeros(n)
    for k, (fold, reading) in enumerate(zip(plan, readings, strict=True)):
        t[k // folds, fold.test] = reading.t
        value, terms = donsker_varadhan(reading.t, one.z[fold.test], one.shares)
        dv[k // folds] += value * len(fold.test) / n
        dv_terms[fold.test] += terms / n_seeds
    sn = np.array([pointwise(of_seed, one.z, one.shares).mean() for of_seed in t])
    values = _bound("", pointwise(t.mean(0), one.z, one.shares), one) | _bound("_dv", dv_terms, one)
    detected = values["rlb"] > 2 * values["rlb_se"]
    limit = min(
        1.0, detectable_information(x[one.rows], one.person, len(one.classes), 1 - 2 / folds) / h
    )
    values |= {
        "entropy": h,
        "rlb_seed_sd": (sn / h).std(ddof=1) if n_seeds > 1 else np.nan,
        "rlb_in_sample": np.mean([reading.in_sample for reading in readings]) / h,
        "smallest_detectable": min(limit, values["rlb"]) if detected else max(limit, values["rlb"]),
        "verdict": DETECTED if detected else UNDETECTED,
        "steps": np.mean([reading.steps for reading in readings]),
    }
    values |= {
        "n_images": n,
        "n_identities": len(np.unique(one.person)),
        "n_classes": len(one.classes),
    }
    return xr.Dataset(values | {"rlb_by_seed": (SEED, sn / h), "rlb_dv_by_seed": (SEED, dv / h)})


def _bound(suffix: str, terms: np.ndarray, one: Problem) -> dict:
    """A bound, its share of the entropy, and their standard errors, from terms (n,) whose mean it is."""
    surprise, value = -np.log(one.shares)[one.z], terms.mean()
    h = surprise.mean()
    by_share = (terms - value) / h - value * (surprise - h) / h**2
    return {
        f"mutual_information{suffix}": value,
        f"mutual_information{suffix}_se": standard_error(terms - value, one.person),
        f"rlb{suffix}": value / h,
        f"rlb{suffix}_se": standard_error(by_share, one.person),
    }


def detectable_information(
    x: np.ndarray, person: np.ndarray, n_classes: int, train_share: float
) -> float:
    """The true mutual information (nats) from which a held-out estimate exceeds two standard errors in most data sets.

    Derived for Gaussian classes that differ in their means, each estimated from the training people: of the
    information I a linear critic keeps I² / (I + N/2) on new people, where N = (K - 1) d / n_train is the noise
    of the means, and its standard error is sqrt(2 · kept / n). Kept = 4 standard errors, so kept = 2 · 4² / n,
    is solved for I. n counts independent images (images over the design effect of people), d independent
    directions (participation ratio of the covariance). Simulated, 38 of 40 data sets with that much show it,
    18 of 40 with half of it and all with twice as much (data/representation_checks.csv, `detection`). Classes that
    differ in few, strong directions show earlier; where the entropy allows less than I, the law says nothing.

    x: (n, d); person: (n,) codes; train_share: of the images that a network is trained on.
    """
    n = independent_images(x, person)
    noise = (n_classes - 1) * independent_directions(x, person) / (train_share * n)
    return float(DISTINCT / n + np.sqrt((DISTINCT / n) ** 2 + DISTINCT * noise / n))


def independent_images(x: np.ndarray, person: np.ndarray) -> float:
    """n over the design effect, at least 1: the variance of a mean with people's images together over that without."""
    deviation = x - x.mean(0, dtype=np.float64).astype(x.dtype)
    sums = pd.DataFrame(deviation).groupby(person).sum().to_numpy()
    design_effect = np.square(sums).sum(dtype=np.float64) / np.square(deviation).sum(
        dtype=np.float64
    )
    return float(len(x) / max(1.0, design_effect))


def independent_directions(x: np.ndarray, person: np.ndarray) -> float:
    """(tr C)² / tr C² without the bias of few images (Bai & Saranadasa), one image of each person."""
    first = np.unique(person, return_index=True)[1]
    rows = first[np.linspace(0, len(first) - 1, min(len(first), MOST_ROWS)).astype(int)]
    centred = x[rows] - x[rows].mean(0)
    m = len(rows) - 1
    gram = centred @ centred.T if len(rows) < x.shape[1] else centred.T @ centred
    trace = float(np.trace(gram, dtype=np.float64)) / m
    square = float(np.square(gram).sum(dtype=np.float64)) / m**2
    unbiased = m**2 / ((m - 1) * (m + 2)) * (square - trace**2 / m)
    return float(np.clip(trace**2 / unbiased, 1, x.shape[1])) if unbiased > 0 else float(x.shape[1])
