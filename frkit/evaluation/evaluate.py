"""`evaluate`: from scores to a labelled tree of rates: the data, their V-statistic, replicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require, warn
from frkit.evaluation.cautions import (
    cautions,
    cautions_of_failures,
    cautions_of_scheme,
    sentences_of_models,
)
from frkit.evaluation.design import draw, has_copies, labels_vary, make_design, varies
from frkit.evaluation.nodes import new_provenance, tree
from frkit.evaluation.options import (
    asked_levels,
    check_options,
    histogram_edges,
    refuse_minus,
)
from frkit.evaluation.populations import ALL
from frkit.evaluation.question import Question
from frkit.evaluation.rate_tables import check_bounds
from frkit.evaluation.sweep import swept
from frkit.resampling import Resampling
from frkit.scores.blocks import threads
from frkit.scores.groups import checked_scores
from frkit.scores.kept import model_names_of, pairs_of_models


def evaluate(
    scores: xr.DataArray | xr.Dataset | xr.DataTree,
    *,
    far: ArrayLike | None = None,
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    far_of: str = "all",
    by: str | list[str] | None = None,
    resampling: Resampling | None = None,
    weighting: str | Mapping[str, float] | None = None,
    impostors: str = "all",
    varying: str = "error",
    histogram: int | tuple[int, tuple[float, float]] | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> xr.DataTree:
    """FAR, FRR and EER of a matching system, with replicates, from one sweep over its scores.

    Accept means score > threshold. FAR is the mean over pairs of identities of the share of their
    image pairs that are accepted (Conti & Clémençon 2024, eq. 2), FRR the mean over identities of
    the share of their genuine pairs that are rejected (eq. 3); ISO/IEC 19795-1 calls them FMR and
    FNMR.

    Scores are swept once (`sweep`), which keeps all genuine pairs, all impostor pairs above the
    lowest threshold that was asked for, and of the others a part that represents them. Give kept
    pairs in place of scores to ask several questions of one sweep. All numbers of lists, and of
    tensors with up to two million impostor pairs, are exact; of larger ones `thinned` is the
    relative standard error of each FAR that is read from pairs that represent others.

    Parameters
    ----------
    scores : xr.DataArray, xr.Dataset or xr.DataTree
        From `score_tensor`, `score_matrix` or `open_data`, a list of pairs from `pairs` or
        `open_data`, or kept pairs from `sweep`; several models are evaluated on the same
        replicates.
    far : sequence of float in (0, 1), optional
        FAR levels; the threshold at each is the smallest observed impostor score that meets it
        (D.1). Default: 1e-5 to 0.1, four per decade, unless `threshold` is given.
    threshold : sequence of float, mapping or xr.DataArray, optional
        Fixed thresholds in place of FAR levels, the same for all models; or a row for each model: a
        mapping of model to thresholds, or a DataArray over `model` and one other dim, such as one
        tuned on other data. Levels come back in the order given; the coordinate threshold_level
        contains the thresholds or, where each model has its own, the DataArray's labels. If scores
        were read as distances, thresholds are distances: accept means distance < threshold.
    far_of : {"all", "worst group", "own group"}
        Whose FAR the levels refer to. "worst group": the threshold is the smallest at which the FAR
        of every group meets the level (Remark 2 of Conti & Clémençon), found again in every
        replicate. A group without impostor pairs is ignored. BFAR and BFRR of Conti et al. (2022)
        are then `far_max_min` and `frr_max_min` of this evaluation. "own group": each group has a
        threshold of its own, `threshold_group`, at which its own FAR meets the level (DeAlcala et
        al. 2023); `far_group` and `frr_group` are read there, `far` and `frr` of all as before.
    by : str or list of str, optional
        Attribute(s) whose groups get rates of their own; a list crosses them ("female & Asian").
    resampling : Resampling, optional
        Without it there are no replicates; `band` and `compare` need none for rates and what is
        made of them.
    weighting : "identity", "pair", or mapping of identity to p_k, optional
        "identity": all identities weigh the same; "pair": all pairs do; a mapping (or Series) gives
        p_k of section 2.1: two people weigh p_k p_l in FAR, and a person weighs p_k² in FRR. By
        default "identity" where all images meet all images (a tensor,
        a matrix), and "pair" for a list, which is not a sample of all pairs of two people.
        "identity" of a list: FAR is the accepted share of two people's listed comparisons, on
        average over pairs of people; FRR is a mean over people with a listed genuine pair.
        Where comparisons failed, two people weigh in FAR by the share of their pairs that is left;
        a person weighs in FRR as before.
    impostors : {"all", "same-group"}
        Which impostor pairs enter the global FAR: all, or those within the groups of `by`; the
        others are left out of every rate.
    varying : {"error", "keep", "split", "first", "most frequent"}
        For an attribute in `by` that varies within an identity. "keep": the label belongs to the
        image, and a pair counts in a group where both of its images have its label. "split": each
        label of a person makes a person of its own. "first" and "most frequent" give a person one
        label. In a pair list "error" is a warning: each pair counts in the group that its own row
        names.
    histogram : int or (int, (float, float)), optional
        A number of bins, or (bins, (low, high)), for `auc`, means, standard deviations and
        histograms. By default the bins reach from -1 to 1 for the cosine, else over all scores.
    progress : bool or callable, optional
        A progress bar with the time that is left; by default for long sweeps only. A callable is
        given the share of a model's scores that is done, from 0 to 1; an exception that it raises
        ends the evaluation.

    Returns
    -------
    xr.DataTree
        Nodes `empirical`, `vstatistic` (the centre of the replicates, eq. 19), `people` and, with
        resampling, `replicates`. Variables: `threshold`, `far`, `frr` over far_level (or
        threshold_level); `far_group`, `frr_group` over (far_level, group); of up to 50 groups
        `far_cross` over (far_level, group, reference_group); `eer`, `eer_threshold`, and per group
        `eer_group`, `eer_threshold_group`. `empirical` also has raw counts `false_accepts`,
        `false_rejects` and `resolved` (both at least 10), the same with `_group`, and
        `false_accepts_cross` between groups. Where pairs were thinned, `thinned` and
        `thinned_group` are relative standard errors of the FAR there, because only a sample of the
        pairs is kept. `people` contains what each person adds to each rate, from which intervals
        come without replicates, and `images`, where every image was compared with every other, what
        each image adds. A histogram adds `auc` (of the data alone), and for kind in genuine,
        impostor `<kind>_mean`, `<kind>_sd` (ddof 0) and `<kind>_histogram` over score_bin (sum 1),
        with weighting "pair" also `<kind>_pairs` (how many), and `images`; all of them also with
        `_group`. Further dims: `model` in front, then `replicate`. The tree's attribute
        `provenance` is one JSON text for people to read; its `notices` are the warnings below.

    Raises
    ------
    InputError
        For levels outside (0, 1), both far and threshold, unknown options or attributes, infinite
        scores, scores without a genuine or an impostor pair that did not fail, an image that stands
        twice on a side, a missing identity, or a tensor with symmetric=True that differs from its
        transpose.

    Warns
    -----
    DataWarning
        For groups too small for a rate, FAR levels below the weight of one pair, genuine
        comparisons of which half failed, the image scheme where much of the weight of FRR lies with
        people of few images, and an EER above one half (distances taken for scores).

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1)
    >>> scores = fk.score_tensor(faces)
    >>> ev = fk.evaluate(scores, far=[0.01, 0.1], resampling=fk.Resampling(n=10))
    >>> dict(ev["replicates"].frr.sizes)
    {'replicate': 10, 'far_level': 2}
    """
    require(
        getattr(resampling, "scheme", None) != "pair",
        "rates have no replicates of pairs, which share images and people: their intervals need no "
        "replicates; scheme 'pair' is for the fairness indices of lists without identities",
    )
    return evaluate_parts(
        checked_scores(scores),
        far=far,
        threshold=threshold,
        far_of=far_of,
        by=by,
        resampling=resampling,
        weighting=weighting,
        impostors=impostors,
        varying=varying,
        histogram=histogram,
        progress=progress,
    )


@threads()
def evaluate_parts(
    scores,
    *,
    far=None,
    threshold=None,
    far_of="all",
    resampling=None,
    histogram=None,
    progress=None,
    rates=True,
    people=True,
    cautioned=None,
    **options,
) -> xr.DataTree:
    """`evaluate` of scores from `checked_scores`; rates, or people, can be left out.

    cautioned : the FAR levels that warnings are about; by default all.
    """
    check_options(scores, far_of, resampling=resampling, **options)
    far, thresholds, labels = asked_levels(far, threshold, scores)
    kept = swept(scores, far if len(far) else None, threshold, progress=progress)
    refuse_minus(thresholds, kept)
    if not rates:
        far = np.empty(0)
    cautioned = far if cautioned is None else np.asarray(cautioned)
    edges = histogram_edges(histogram, kept)
    design = make_design(kept, resampling=resampling, **options)
    people = people and rates
    question = Question(
        design=design,
        levels=far if labels is None else labels,
        level_name="far_level" if labels is None else "threshold_level",
        far_of=far_of,
        edges=edges,
        drawn=None if resampling is None else draw(design, options.get("by"), resampling),
        copies=has_copies(design, resampling),
        with_rates=rates,
        with_auc=people and len(edges) > 0,
    )
    question.require_memory()
    complete = design.symmetric and not labels_vary(design)
    nodes_of_models = []
    warned: dict = {}
    n_failed = []
    models = zip(model_names_of(kept) or [None], pairs_of_models(kept), thresholds)
    for name, pairs, fixed in models:
        check_bounds(edges, pairs.lowest, pairs.highest)
        populations = question.populations(pairs)
        whole = populations[ALL]
        complete &= not (len(whole.failed.score) or whole.genuine_failed or np.any(pairs.failed))
        nodes = question.tables(populations, fixed, people=people, about_images=complete)
        data = nodes["empirical"]
        nodes_of_models.append(nodes)
        noted = data.sel(far_level=cautioned) if cautioned is not far and len(cautioned) else data
        for sentence in cautions(whole, noted, cautioned, pairs.lowest, pairs.highest):
            warned.setdefault(sentence, []).append(name)
        n_failed.append(whole.genuine_failed)
    notices = [
        *sentences_of_models(warned),
        *cautions_of_failures(max(n_failed), whole.n_genuine),
        *cautions_of_scheme(design, resampling, question.copies),
    ]
    for notice in notices:
        warn(notice)
    provenance = new_provenance(kept, design, resampling, options)
    if resampling is not None:
        provenance["varies"] = varies(design, *question.drawn)
    provenance["failed_genuine_comparisons"] = n_failed
    provenance["far_of"] = far_of
    provenance["notices"] = notices
    return tree(nodes_of_models, kept, provenance, design)
