"""`Evaluator`: the one path from scores to an evaluation, kept for many evaluations of the same kind."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr

from frkit.base import GENUINE, IDENTITY, MODEL, PAIR, PERSON, PROBE, REFERENCE, require, warn
from frkit.engine.distributions import score_bounds, tally_distributions
from frkit.engine.plan import Ladder
from frkit.engine.protocol import Protocol, make_protocol
from frkit.engine.tallies import Rates, plan_rates, tally_rates
from frkit.evaluation import nodes
from frkit.evaluation.levels import asked_levels
from frkit.evaluation.provenance import provenance
from frkit.faces.labels import attributes_of
from frkit.resampling import DIAGONAL_SCHEMES, Resampling

FEW_IMAGES = 5  # images per identity below which the image scheme covers too little
LONG_SWEEP = 2e9  # scores from which a progress bar is shown unless told otherwise


@dataclass(frozen=True, eq=False)
class _Known:
    """What an evaluator has prepared: labels of the scores, the codes and draws for them, a plan for each model."""

    labels: dict
    protocol: Protocol
    seed: int | None
    plans: list[Ladder | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluator:
    """Evaluations of the same kind: call it with scores, and it does what `evaluate` does with these options.

    `prepared` looks at some scores once and keeps what further evaluations of the same kind have in common: the
    plan of the sweep, and the draws for these images. That pays for many small data sets, in a coverage study, say.
    No result depends on it: what a plan does not cover is swept again. (Where n_k are unequal, sums are rounded in
    an order that follows the plan: rates then differ by about 1e-15 from those of `evaluate`.)

    Parameters
    ----------
    far, threshold, by, resampling, weighting, impostors, varying, mode, bins, bounds, progress
        As in `evaluate`.

    Raises
    ------
    InputError
        For levels outside (0, 1), both far and threshold, or an unknown mode; when called, as `evaluate`.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, seed=0)
    >>> some = [fk.score_tensor(mix.sample(6, seed=seed)) for seed in (1, 2)]
    >>> kind = fk.Evaluator(far=[0.1], resampling=fk.Resampling(n=10)).prepared(some[0])
    >>> [kind(scores, seed=seed)["replicates"].sizes["replicate"] for seed, scores in enumerate(some)]
    [10, 10]
    """

    far: Sequence[float] | None = None
    threshold: Sequence[float] | None = None
    by: str | list[str] | None = None
    resampling: Resampling | None = None
    weighting: object = "identity"
    impostors: str = "all"
    varying: str = "error"
    mode: str = "tail"
    bins: int = 100
    bounds: tuple[float, float] | None = None
    progress: bool | None = None
    _known: _Known | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        asked_levels(self.far, self.threshold)
        require(self.mode in ("tail", "all"), f"mode must be 'tail' or 'all', got {self.mode!r}")

    def prepared(self, scores: xr.DataArray) -> "Evaluator":
        """Keep labels, draws and plan of these scores for later calls.

        Parameters
        ----------
        scores : xr.DataArray or xr.Dataset
            As in `evaluate`; later scores should be of about the same distribution and number.

        Returns
        -------
        Evaluator
            A new one, with the same options, which any number of threads may call at once.

        Raises
        ------
        InputError
            As `evaluate`.

        Examples
        --------
        >>> import frkit as fk
        >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, seed=0).sample(6, seed=1))
        >>> rates = fk.Evaluator(far=[0.1]).prepared(scores)(scores)["empirical"]
        >>> float(rates.frr[0]) == float(fk.evaluate(scores, far=[0.1])["empirical"].frr[0])
        True
        """
        scores = checked_scores(scores)
        protocol = self._protocol(scores, self.resampling)
        plans = [plan_rates(model, protocol, *asked_levels(self.far, self.threshold)) for model in _models(scores)]
        seed = None if self.resampling is None else self.resampling.seed
        return replace(self, _known=_Known(_labels(scores, self.by), protocol, seed, plans))

    def __call__(self, scores: xr.DataArray, *, seed: int | None = None) -> xr.DataTree:
        """Evaluate scores; `seed` draws other replicates than the options say."""
        require(seed is None or self.resampling is not None, "seed= draws replicates, but resampling is None")
        resampling = self.resampling if seed is None else replace(self.resampling, seed=seed)
        scores = checked_scores(scores)
        protocol = self._protocol(scores, resampling)
        levels, fixed = asked_levels(self.far, self.threshold)
        bar = scores.size > LONG_SWEEP if self.progress is None else self.progress
        models = _models(scores)
        plans = self._known.plans if self._known and len(self._known.plans) == len(models) else [None] * len(models)
        results = [
            tally_rates(model, protocol, levels, fixed, ladder=plan, progress=bar)
            for model, plan in zip(models, plans, strict=True)
        ]
        _warn(protocol, resampling, levels, results)
        trees = [nodes.of_rates(rates, protocol, levels, fixed, self.impostors) for rates in results]
        if self.mode == "all":
            self._add_distributions(trees, scores, protocol, results, bar)
        tree = _tree(trees, scores[MODEL] if MODEL in scores.dims else None, resampling is not None)
        made = provenance(scores, protocol, resampling, self.weighting, self.impostors, self.by, results)
        tree.attrs["provenance"] = json.dumps(made)
        return tree

    def _protocol(self, scores: xr.DataArray, resampling: Resampling | None) -> Protocol:
        """Codes, counts and weights: those that are known, where images, labels and draws are the same."""
        known = self._known
        seed = None if resampling is None else resampling.seed
        if known is not None and known.seed == seed and _same(known.labels, _labels(scores, self.by)):
            return known.protocol
        options = self.varying, self.weighting, self.impostors
        return make_protocol(_models(scores)[0], self.by, *options, resampling)

    def _add_distributions(
        self, trees: list, scores: xr.DataArray, protocol: Protocol, results: list[Rates], bar: bool
    ) -> None:
        """What mode "all" adds, in the same bins for every model."""
        bounds = self.bounds or score_bounds(scores)
        for tree, model, rates in zip(trees, _models(scores), results, strict=True):
            found = tally_distributions(model, protocol, rates, bins=self.bins, bounds=bounds, progress=bar)
            nodes.add_distributions(tree, found, len(protocol.groups))


def _models(scores: xr.DataArray) -> list[xr.DataArray]:
    """The scores of each model."""
    return [scores.isel({MODEL: m}) for m in range(scores.sizes[MODEL])] if MODEL in scores.dims else [scores]


def _labels(scores: xr.DataArray, by) -> dict:
    """All that codes and draws depend on, besides the options."""
    names = [IDENTITY, PERSON, *(() if by is None else attributes_of(by))]
    wanted = [PROBE, REFERENCE, GENUINE, *(f"{side}_{name}" for side in (PROBE, REFERENCE) for name in names)]
    facts = {"dims": scores.dims[-2:], "symmetric": scores.attrs.get("symmetric"), "own": "self_score" in scores.attrs}
    return facts | {name: scores[name].values for name in wanted if name in scores.coords}


def _same(one: dict, other: dict) -> bool:
    """Whether two sets of labels agree."""
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def _tree(trees: list[dict], names: xr.DataArray | None, drawn: bool) -> xr.DataTree:
    """The nodes of all models as one tree, with a word where groups are too small for a rate."""
    stacked = {key: _stacked([tree[key] for tree in trees], names) for key in trees[0]}
    if not drawn:
        stacked.pop("replicates")
    for message in nodes.small_groups(stacked["empirical"]):
        warn(message)
    return xr.DataTree.from_dict(stacked)


def checked_scores(scores) -> xr.DataArray:
    """A tensor over (probe, reference), or the scores of a pair list over (pair)."""
    if isinstance(scores, xr.Dataset) and "score" in scores and GENUINE in scores.coords:
        scores = scores["score"]
    dims = set(scores.dims) if isinstance(scores, xr.DataArray) else set()
    listed = PAIR in dims and GENUINE in scores.coords
    require(
        {PROBE, REFERENCE} <= dims or listed,
        "scores must be a tensor over (probe, reference) or a list of pairs: make it with fk.score_tensor, "
        "fk.score_matrix, fk.pairs or fk.open_pairs",
    )
    return scores


def _warn(protocol: Protocol, resampling: Resampling | None, levels, results: list[Rates]) -> None:
    median = float(np.median(np.bincount(protocol.people.identity_code)))
    n_impostors = len(protocol.probe.person) * len(protocol.reference.person) / 2
    n_impostors = n_impostors if protocol.listed is None else len(protocol.listed.impostor)
    if resampling is not None and resampling.scheme in DIAGONAL_SCHEMES and median < FEW_IMAGES:
        warn(
            f"half of the identities have at most {median:g} images: the {resampling.scheme} scheme covers too little "
            "below 5 images per identity (.59-.89 at nominal .95 with 2-3); read its intervals as too narrow"
        )
    if resampling is not None and resampling.scheme in DIAGONAL_SCHEMES and not protocol.diagonal:
        warn(
            "these scores hold no comparison of an image with itself, so copies of an image make no genuine pairs: "
            f"the {resampling.scheme} scheme is centred on the estimate itself, and identities with one genuine pair "
            "cannot vary; scheme 'identity' says more here"
        )
    if levels is not None:
        smallest = 1 / max(n_impostors, 1)
        low = levels[levels < smallest]
        if low.size:
            warn(
                f"FAR levels {', '.join(f'{a:g}' for a in low)} lie below the weight of one impostor pair (about "
                f"{smallest:.2g}): the threshold there is the largest impostor score, whose bootstrap is not valid"
            )


def _stacked(parts: list[xr.Dataset], names: xr.DataArray | None) -> xr.Dataset:
    return parts[0] if names is None else xr.concat(parts, dim=names.rename(MODEL).variable.to_index_variable())
