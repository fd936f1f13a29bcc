"""Lists of scored pairs from arrays and DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require
from frkit.data.alignment import require_one_order
from frkit.data.sides import SIDES, WHO
from frkit.io.pair_list import listed_pairs
from frkit.scores.kept import refuse_file_name


def pairs(
    score: ArrayLike | Mapping[str, ArrayLike],
    genuine: ArrayLike | None = None,
    probe: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    *,
    probe_identity: ArrayLike | None = None,
    reference_identity: ArrayLike | None = None,
    model: Sequence[str] | None = None,
    distance: bool | Sequence[str] = False,
    missing: ArrayLike | None = None,
    failed: str = "left out",
    **attributes: ArrayLike | tuple,
) -> xr.DataTree:
    """Collect scored pairs, with labels of their two sides, as kept pairs.

    pandas and xarray inputs have the same labels in one order; others are refused.

    Parameters
    ----------
    score : array-like, shape (n_pairs,) or (n_models, n_pairs), or mapping of model name to scores
        Any finite numbers, larger = more alike unless `distance`. NaN is a comparison that failed.
    genuine : array-like of bool (or 0 and 1), shape (n_pairs,), optional
        Whether both sides are the same person. May be left out where both identities are given.
    probe, reference : array-like of str, shape (n_pairs,), optional
        Image names; a name means the same image wherever it occurs, and a pair that is listed twice
        with one score counts once. Without them images cannot be drawn.
    probe_identity, reference_identity : array-like of str, shape (n_pairs,), optional
        Who the images show. Without them only the pair bootstrap is possible, which is too narrow.
    model : sequence of str, shape (n_models,), optional
        Names of the models where `score` has two dimensions.
    distance : bool or sequence of str
        True where smaller means more alike: the sign is changed. Or the names of the models whose
        scores are distances.
    missing : float, str or sequence of such, optional
        The value(s), before a change of sign, that mark a comparison which failed; [] for none.
        Where a score such as -1 stands apart from all others, frkit asks.
    failed : {"left out", "rejected"}
        What a failed comparison counts as: it is left out of every rate, which a warning counts, or
        it is rejected at every threshold (its score becomes one just below all others).
    **attributes : array-like of str, shape (n_pairs,), or a tuple of two such
        One label per pair (both sides have it), or a tuple (labels of probes, labels of
        references). Missing labels become "unknown". Where one side of the tuple is None, a pair
        counts in the group of the other side's label: so an attribute of the comparison and not
        of people, such as an age gap in classes, is (labels, None).

    Returns
    -------
    xr.DataTree
        Kept pairs, of the form that `sweep` makes of a tensor. Node `pairs`, in the order given:
        `score` float64 over ([model,] pair), larger = more alike, NaN where the comparison failed;
        `genuine` (bool); `probe_image` and `reference_image`, places in the table of images. Node
        `images`, this table: `image` and `identity` (names, where given) and the attributes, with a
        row for each image under each set of its labels. A pair belongs to a group where both sides
        have that label; otherwise it is a cross-group pair. Pairs and models may be selected
        (`.isel(pair=...)`), and attributes of images added, changed or removed.

    Raises
    ------
    InputError
        Where lengths differ, scores are not finite numbers, names or identities are given for one
        side only or are missing, an image shows two people, or `genuine` contradicts the
        identities. Pairs are counted from 0.

    Warns
    -----
    DataWarning
        Where comparisons failed: how many genuine and how many impostor ones are left out.

    Examples
    --------
    >>> import frkit as fk
    >>> race = ["A", "A", None], ["A", "W", None]
    >>> kept = fk.pairs([0.9, 0.2, 0.4], [True, False, False], race=race)
    >>> probes, references = kept["pairs"].probe_image, kept["pairs"].reference_image
    >>> kept["images"].race.values[probes].tolist()
    ['A', 'A', 'unknown']
    >>> kept["images"].race.values[references].tolist()
    ['A', 'W', 'unknown']
    """
    refuse_file_name(score)
    sides = dict(zip((*SIDES, *WHO), (probe, reference, probe_identity, reference_identity)))
    require(
        not isinstance(score, pd.DataFrame),
        "a table of pairs is opened by fk.open_data(frame), columns= says which column is what",
    )
    scores = score if isinstance(score, Mapping) else {"score": score}
    inputs = {"genuine": genuine, **sides}
    require_one_order(scores, inputs, attributes)
    if not isinstance(score, Mapping):
        [scores] = scores.values()
    images, people = ([inputs[name] for name in names] for names in (SIDES, WHO))
    return listed_pairs(
        scores,
        inputs["genuine"],
        images,
        people,
        attributes,
        model=model,
        distance=distance,
        missing=missing,
        failed=failed,
    )
