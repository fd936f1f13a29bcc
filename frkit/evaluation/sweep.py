"""`sweep`: from scores to kept pairs, which answer every later question."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import UNKNOWN, listed, require, require_progress
from frkit.data.labels import attributes_of, require_attributes
from frkit.data.sides import SIDES
from frkit.evaluation.options import asked_levels
from frkit.scores.blocks import Sides, sweep_scores
from frkit.scores.groups import checked_scores
from frkit.scores.kept import (
    COLUMNS,
    COMPLETE,
    DESIGN,
    PROBES,
    REJECTED,
    is_kept,
    kept_tree,
    node_of_model,
)
from frkit.scores.selection import MOST_EXACT, PRECISE, PRECISE_IN_GROUP, WHOLE

FAR = 1e-2  # the deepest level that is exact unless another one is named
MANY_SCORES = 1e6  # before which memory is freed
LONG_SWEEP = 2e9  # with more scores a progress bar is shown unless progress= is given
MARGIN = 1.2  # of the pairs that a FAR level needs: people may weigh unequally
MOST_LABELS = 20  # of an attribute by whose groups pairs are thinned unless by= names others
ROUNDING = 1e-4  # of the largest score: so far may the score of an image with itself be off
PASSED_ON = ("similarity", "distance", "self_score", "images", REJECTED)  # attributes of the scores


def sweep(
    scores: xr.DataArray | xr.Dataset | xr.DataTree,
    *,
    far: ArrayLike = FAR,
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    by: str | list[str] | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> xr.DataTree:
    """Read all scores once and keep the pairs that answer every later question.

    `evaluate` and all that follows take kept pairs in place of scores: other groups, FAR levels,
    weights and replicates then take a fraction of a second. Kept pairs contain no embedding, need
    little memory (15 MB for 10,000 images) and can be stored: `kept.to_netcdf("kept.nc")`, and
    back with `fk.open_data("kept.nc")`.

    All genuine pairs are kept, all comparisons that failed, and all impostor pairs above the
    threshold of the deepest FAR level. Of the other impostor pairs, which have lower scores, one in
    two, in four, in eight ... is kept and represents that many. Where there are up to two million
    impostor pairs, all are kept and every number is exact. Pairs within a small group are thinned
    apart from the others, so that the FAR of each group is precise, too: `evaluate` returns the
    relative standard error as `thinned`, which is below 0.25 % for all pairs and 1 % for a group.

    Parameters
    ----------
    scores : xr.DataArray, xr.Dataset or xr.DataTree
        From `score_tensor`, `score_matrix` or `open_data`; with a `model` dim every model is
        swept. A list of pairs, or kept pairs, are returned as they are.
    far : float or sequence of float in (0, 1)
        The deepest FAR level that will be asked for: impostor pairs above its threshold are all
        kept, up to 20 million.
    threshold : sequence of float or mapping, optional
        As in `evaluate`; impostor pairs above the lowest one are all kept, too.
    by : str or list of str, optional
        Attributes whose groups will be asked for. Default: all with up to 20 labels.
    progress : bool or callable, optional
        As in `evaluate`.

    Returns
    -------
    xr.DataTree
        Node `images`: a table of the images with their identities and attributes, over `image`;
        `probe` and `reference` say on which side an image is where sides differ. Node `pairs`, or
        in it a node for each of several models, such as `pairs/model=Ash`: `probe_image` and
        `reference_image` (places in that table), `score` (larger = more alike, NaN where the
        comparison failed) and `stands_for` (how many pairs each represents) over `pair`, in the
        order of the images; `self_score` (of an image with itself) and `failed` (all its
        comparisons with others failed) over `image`. The attribute `design` says who was compared
        with whom. Models may be selected, and attributes of images added, changed or removed. Kept
        pairs that were changed otherwise are refused, because their rates would be wrong.

    Raises
    ------
    InputError
        As `evaluate`, for scores and labels; for FAR levels outside (0, 1) and unknown attributes.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1)
    >>> scores = fk.score_tensor(faces)
    >>> kept = fk.sweep(scores)
    >>> kept["pairs"].sizes["pair"]
    3160
    >>> float(fk.evaluate(kept, far=[0.1])["empirical"].far[0].round(3))
    0.1

    Without names: images in a random order, people as numbers. Scores and labels stay personal
    data: whoever knows the scores of some people can recognise them.

    >>> import numpy as np, pandas as pd
    >>> shuffled = faces.isel(image=np.random.default_rng().permutation(80))
    >>> person = pd.factorize(shuffled["identity"].values)[0]
    >>> nameless = fk.faces(shuffled["embedding"].values, person)
    >>> kept = fk.sweep(fk.score_tensor(nameless))
    """
    return swept(checked_scores(scores), far, threshold, by, progress)


def swept(scores, far=None, threshold=None, by=None, progress=None) -> xr.DataTree:
    """`sweep` of scores from `checked_scores`; far and threshold as in `evaluate`."""
    far, thresholds, _ = asked_levels(FAR if far is None else far, None, scores)
    if threshold is not None:
        _, thresholds, _ = asked_levels(None, threshold, scores)
    if is_kept(scores):
        return scores
    require(scores.size > 0, "these scores contain no image, and so no pair")
    if scores.size > MANY_SCORES:
        gc.collect()  # earlier kept pairs, whose trees refer to themselves, take much memory
    symmetric = _is_triangle_enough(scores)
    images, probe, reference = _table_of_images(scores, symmetric)
    sides = _sides(images, probe, reference, symmetric, by)
    n_pairs = _n_impostor_pairs(sides)
    n_exact = min(MARGIN * max(far) * n_pairs, MOST_EXACT)
    if n_pairs <= WHOLE:
        n_exact = n_pairs
    require_progress(progress)
    if progress is None:
        progress = scores.size > LONG_SWEEP
    pairs_of_models = {}
    models = scores["model"].values.tolist() if "model" in scores.dims else [None]
    arrays = scores.data if "model" in scores.dims else [scores.data]
    for name, array, fixed in zip(models, arrays, thresholds):
        columns, numbers = sweep_scores(array, sides, int(n_exact), fixed.tolist(), progress)
        if "self_score" in scores.attrs:
            columns["self_score"] = _exact_self_scores(columns, numbers, scores.attrs["self_score"])
        numbers["impostor_pairs"] = n_pairs
        pairs_of_models[node_of_model(name)] = _node_of_pairs(columns, numbers)
    attrs = {DESIGN: COMPLETE if symmetric else PROBES, "similarity": "given", "distance": 0}
    attrs |= {name: scores.attrs[name] for name in PASSED_ON if name in scores.attrs}
    coords = {"model": scores["model"].variable} if "model" in scores.dims else {}
    return kept_tree(xr.Dataset(coords=coords, attrs=attrs), images, pairs_of_models)


def _is_triangle_enough(scores: xr.DataArray) -> bool:
    """Whether both sides of a tensor are the same images in the same order, with equal scores."""
    same_images = np.array_equal(scores["probe"].values, scores["reference"].values)
    return bool(scores.attrs.get("symmetric")) and same_images


def _table_of_images(scores, symmetric):
    """The table of images, and the image of each probe and of each reference."""
    tables = []
    for side in SIDES:
        names = [name for name in scores.coords if name.startswith(f"{side}_")]
        labels = {name.removeprefix(f"{side}_"): scores[name].values for name in names}
        tables.append(pd.DataFrame(labels | {"image": scores[side].values}))
    images = pd.concat(tables, join="inner").drop_duplicates()
    others = images.image[images.image.duplicated()].tolist()
    require(
        len(others) == 0,
        f"{len(others)} image(s) have other labels as reference than as probe; the first is "
        f"{listed(others[:1])}: give different images different names",
    )
    images = images.set_index("image")
    if not symmetric:
        images = images.sort_index()
    probe, reference = (images.index.get_indexer(scores[side].values) for side in SIDES)
    columns = {name: images[name].to_numpy(str) for name in images}
    if not symmetric:
        columns["probe"] = np.isin(np.arange(len(images)), probe)
        columns["reference"] = np.isin(np.arange(len(images)), reference)
    variables = {name: ("image", values) for name, values in columns.items()}
    return xr.Dataset(variables, {"image": images.index.to_numpy(str)}), probe, reference


def _sides(images: xr.Dataset, probe, reference, symmetric, by) -> Sides:
    """What the sweep must know of the images."""
    person = images["person"] if "person" in images else images["identity"]
    person = pd.factorize(person.values.astype(object))[0].astype(np.int32)
    attributes = _attributes_to_thin(images, by)
    groups = np.full((len(attributes), len(person)), -1, np.int32)
    probe, reference = probe.astype(np.int32), reference.astype(np.int32)
    sides = Sides(probe, reference, person, groups, symmetric)
    n_pairs = _n_impostor_pairs(sides)
    if n_pairs <= WHOLE:
        return sides._replace(groups=groups[:0])
    n_small = 0
    for row, name in zip(groups, attributes):
        for label in np.unique(images[name].values).tolist():
            is_member = images[name].values == label
            within = sides._replace(
                probe=probe[is_member[probe]], reference=reference[is_member[reference]]
            )
            share_of_precise = PRECISE * _n_impostor_pairs(within) / n_pairs
            if label != UNKNOWN and share_of_precise < PRECISE_IN_GROUP:
                row[is_member] = n_small
                n_small += 1
    return sides._replace(groups=groups[(groups >= 0).any(1)])


def _attributes_to_thin(images: xr.Dataset, by) -> list[str]:
    """The attributes by whose groups pairs are thinned: those of `by`, or all with few labels."""
    attributes = sorted({*images.data_vars} - {"identity", "person", "probe", "reference"})
    if by is None:
        return [name for name in attributes if len(np.unique(images[name])) <= MOST_LABELS]
    if isinstance(by, list) and not by:
        return []
    require_attributes(by, attributes)
    return attributes_of(by)


def _n_impostor_pairs(sides: Sides) -> int:
    """How many impostor pairs there are, failed ones included."""
    n_people = int(sides.person.max(initial=0)) + 1
    n_probes = np.bincount(sides.person[sides.probe], minlength=n_people).astype(float)
    n_references = np.bincount(sides.person[sides.reference], minlength=n_people)
    n_pairs = n_probes.sum() * n_references.sum() - n_probes @ n_references
    return int(n_pairs) // 2 if sides.symmetric else int(n_pairs)


def _exact_self_scores(columns, numbers, exact: float):
    """The exact score of images with themselves, where computed ones differ only by rounding."""
    computed = columns["self_score"]
    largest = max(abs(numbers["lowest_score"]), abs(numbers["highest_score"]))
    if np.any(np.abs(computed - exact) > ROUNDING * largest):
        return computed
    return np.where(np.isnan(computed), computed, computed.dtype.type(exact))


def _node_of_pairs(columns, numbers) -> xr.Dataset:
    """The node of a model, whose highest score may be that of an image with itself."""
    highest = np.fmax.reduce(columns["self_score"], initial=numbers["highest_score"])
    variables = {}
    for name, (dim, long_name) in COLUMNS.items():
        variables[name] = dim, columns[name], {"long_name": long_name}
    return xr.Dataset(variables, attrs=numbers | {"highest_score": float(highest)})
