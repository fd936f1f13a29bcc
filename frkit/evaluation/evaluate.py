"""`evaluate`: from a score tensor to a labelled tree of rates, for the data, their V-statistic and replicates."""

from pathlib import Path

import xarray as xr

from frkit.base import InputError, require
from frkit.evaluation.evaluator import Evaluator
from frkit.resampling import Resampling


def evaluate(
    scores: xr.DataArray,
    *,
    far=None,
    threshold=None,
    by: str | list[str] | None = None,
    resampling: Resampling | None = None,
    weighting="identity",
    impostors: str = "all",
    varying: str = "error",
    mode: str = "tail",
    bins: int = 100,
    bounds: tuple[float, float] | None = None,
    progress: bool | None = None,
) -> xr.DataTree:
    """FAR, FRR and EER of a matching system, with replicates, from one sweep over its scores.

    Accept means score > threshold. FAR is the mean over pairs of identities of the share of their image
    pairs that are accepted (Conti & Clémençon 2024, eq. 2), FRR the mean over identities of the share of
    their genuine pairs that are rejected (eq. 3); ISO/IEC 19795-1 calls them FMR and FNMR.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        From `score_tensor`, `score_matrix` or `open_scores`, or a list of pairs from `pairs` or `open_pairs`; with
        a `model` dim every model is evaluated on the same replicates.
    far : sequence of float in (0, 1), optional
        FAR levels; the threshold at each is the smallest observed impostor score that keeps to it (D.1).
        Default: 1e-5 to 0.1, four a decade, unless `threshold` is given.
    threshold : sequence of float, optional
        Fixed thresholds in place of FAR levels.
    by : str or list of str, optional
        Attribute(s) whose groups get rates of their own; a list crosses them ("female & Asian").
    resampling : Resampling, optional
        Without it there are no replicates.
    weighting : "identity", "pair", or p_k per identity
        "identity": all identities weigh the same; "pair": all pairs do; a mapping or array (identities
        sorted by name) gives p_k of section 2.1. In a pair list n_k counts the images of an identity that the list
        names (on each side apart, where no image stands on both); without image names it is "pair" in any case.
    impostors : {"all", "same-group"}
        Which impostor pairs enter the global FAR.
    varying : {"error", "split", "first", "most frequent"}
        For an attribute in `by` that varies within an identity. In a pair list "error" is a warning: each pair
        counts in the group that its own row names.
    mode : {"tail", "all"}
        "all" sweeps once more, over every pair, for `auc`, means, standard deviations and histograms.
    bins, bounds : int, (float, float)
        Histogram bins and their range, for mode "all"; by default -1 to 1 for the cosine, else all scores.
    progress : bool, optional
        A progress bar; by default for long sweeps only.

    Returns
    -------
    xr.DataTree
        Nodes `empirical`, `vstatistic` (the centre of the replicates, eq. 19) and, with resampling,
        `replicates`. Variables: `threshold`, `far`, `frr` over far_level (or threshold_level); `far_group`,
        `frr_group` over (far_level, group); `far_cross` over (far_level, group, reference_group); `eer`,
        `eer_threshold`, and per group `eer_group`, `eer_threshold_group`. `empirical` also has raw counts
        `false_accepts`, `false_rejects` and `resolved` (both at least 10). The image scheme on a square
        of scores adds `frr_variance` and `far_variance` (at the threshold, over draws of images) to it, and `far_data`
        and `frr_data` (rates of the data at the replicate's threshold) to `replicates`. Mode "all" adds `auc`, and for
        kind in genuine, impostor `<kind>_mean`, `<kind>_sd` (ddof 0) and `<kind>_histogram` over score_bin (sum 1),
        with weighting "pair" also `<kind>_pairs` (how many), and `images`; all of them also with `_group`. Further
        dims: `model` in front, then `replicate`. The tree's attribute `provenance` is one JSON text.

    Raises
    ------
    InputError
        For levels outside (0, 1), both far and threshold, unknown options or attributes, or scores without a
        genuine or an impostor pair.

    Warns
    -----
    DataWarning
        For groups too small for a rate, FAR levels below the weight of one pair, and the image scheme with few
        images per identity.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.01, 0.1], resampling=fk.Resampling(n=10))
    >>> dict(ev["replicates"].frr.sizes)
    {'replicate': 10, 'far_level': 2}
    """
    kind = Evaluator(
        far=far,
        threshold=threshold,
        by=by,
        resampling=resampling,
        weighting=weighting,
        impostors=impostors,
        varying=varying,
        mode=mode,
        bins=bins,
        bounds=bounds,
        progress=progress,
    )
    return kind(scores)


def open_evaluation(path: str | Path) -> xr.DataTree:
    """Read an evaluation that was stored with `ev.to_netcdf(path)`; the whole file is read at once.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    xr.DataTree
        As from `evaluate`.

    Raises
    ------
    InputError
        Where the file is absent or holds no evaluation.

    Examples
    --------
    >>> import frkit as fk
    >>> ev = fk.open_evaluation("data/demo_evaluation.nc")
    """
    path = Path(path)
    require(path.is_file(), f"there is no file {path}; write one with ev.to_netcdf(path)")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            loaded = tree.load()
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read as an evaluation ({error}); write one with ev.to_netcdf(path)"
        ) from error
    require("empirical" in loaded, f"{path} holds no node 'empirical': it is not an evaluation")
    return loaded
