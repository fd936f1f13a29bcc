"""Representation-level bias: how much an embedding tells about a protected attribute, read on held-out people."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from frkit.base import require
from frkit.representation.bounds import donsker_varadhan, entropy, pointwise
from frkit.representation.crossfit import joined, plan, run
from frkit.representation.detection import smallest_detectable
from frkit.representation.problem import Problem, asked, embeddings, problem
from frkit.representation.training import Critic, Fold, Reading

ATTRIBUTE, SEED = "attribute", "seed"
DETECTED, UNDETECTED = "detected", "not detectable"


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
          that the networks imply. `rlb_se`, `mutual_information_se`: from per-identity sums.
        - `rlb_dv`, `mutual_information_dv`, and their `_se`: the paper's bound (eq. 3), mean over seeds, held out too.
        - `rlb_by_seed`, `rlb_dv_by_seed` over seed: one network each; `rlb_seed_sd`: their standard deviation.
        - `rlb_in_sample`: the paper's readout, on the training images of the last network: a sign of overfitting.
        - `verdict`: "detected" where rlb exceeds two standard errors, else "not detectable".
        - `smallest_detectable`: the true RLB that 19 of 20 data sets with so many independent images and directions
          show (Gaussian classes; half of it shows in about every other).
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
    seeds, wanted = _seeds(seeds), asked(attribute)
    encoders, names = embeddings(faces)
    problems = [problem(faces, one, by=by, folds=folds, varying=varying) for one in wanted]
    plans = [plan(one, by, folds, seeds) for one in problems]
    critic = critic or Critic()
    readings = iter(run(encoders, problems, plans, critic, progress))
    tables = []
    for x in encoders:
        rows = [_summary(x, one, splits, next(readings), folds) for one, splits in zip(problems, plans, strict=True)]
        labels = xr.Variable(ATTRIBUTE, [one.name for one in problems])
        tables.append(xr.concat(rows, labels) if isinstance(attribute, list) else rows[0])
    found = tables[0] if names is None else xr.concat(tables, names)
    found = found.assign_coords({SEED: seeds})
    return found.assign_attrs(by=by, folds=folds, varying=varying, critic=str(critic))


def _seeds(seeds) -> list[int]:
    whole = (int, np.integer)
    found = list(range(seeds)) if isinstance(seeds, whole) else list(seeds) if isinstance(seeds, Sequence) else []
    good = found and all(isinstance(seed, whole) and seed >= 0 for seed in found) and len(set(found)) == len(found)
    require(good, f"seeds must be at least 1, or distinct whole numbers of at least 0, got {seeds!r}")
    return found


def _summary(x: np.ndarray, one: Problem, splits: list[Fold], readings: list[Reading], folds: int) -> xr.Dataset:
    """All numbers of one encoder and one attribute."""
    h, n = entropy(one.shares), len(one.z)
    t = joined(splits, readings, n, folds)
    dv, dv_terms = np.zeros(len(t)), np.zeros(n)
    for k, fold in enumerate(splits):
        value, terms = donsker_varadhan(t[k // folds, fold.test], one.z[fold.test], one.shares)
        dv[k // folds] += value * len(fold.test) / n
        dv_terms[fold.test] += terms / len(t)
    sn = np.array([pointwise(seed, one.z, one.shares).mean() for seed in t])
    values = _bound("", pointwise(t.mean(0), one.z, one.shares), one) | _bound("_dv", dv_terms, one)
    values |= {
        "entropy": h,
        "rlb_seed_sd": (sn / h).std(ddof=1) if len(t) > 1 else np.nan,
        "rlb_in_sample": np.mean([reading.in_sample for reading in readings]) / h,
        "smallest_detectable": smallest_detectable(x[one.rows], one.person, len(one.classes), 1 - 2 / folds) / h,
        "verdict": DETECTED if values["rlb"] > 2 * values["rlb_se"] else UNDETECTED,
        "steps": np.mean([reading.steps for reading in readings]),
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
        f"mutual_information{suffix}_se": _standard_error(terms - value, one.person),
        f"rlb{suffix}": value / h,
        f"rlb{suffix}_se": _standard_error(by_share, one.person),
    }


def _standard_error(deviation: np.ndarray, person: np.ndarray) -> float:
    """Of a mean over images, whose deviations from it are dependent within people."""
    sums = np.bincount(person, weights=deviation)
    n_people = len(sums)
    return float(np.sqrt(n_people / (n_people - 1) * np.square(sums).sum()) / len(deviation))
