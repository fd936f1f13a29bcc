"""What all parts of a report read: scores, options, one evaluation, and the leading level."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, checked_far, gathered_notices, listed, require
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.nodes import at_levels
from frkit.evaluation.options import far_levels
from frkit.evaluation.sweep import sweep
from frkit.intervals import band, provenance
from frkit.intervals.contributions import contributions
from frkit.intervals.reading import NEW_PEOPLE
from frkit.io.door import kind_of
from frkit.scores.images import images_of
from frkit.scores.kept import has_names, model_names_of
from frkit.scores.tensor import score_tensor

ENOUGH_PEOPLE = 10  # with a genuine pair, of whom a rate can be estimated
NEAR_CHANCE = 0.45  # from such an EER on, a report has nothing to say
ENOUGH = 30  # errors of either kind that make a level precise enough to lead
CURVE_OF_THRESHOLDS = (1e-3, 1e-1)  # FAR levels of the curves of a report of thresholds
PAIRS = "independent pairs"  # the target of intervals without identities


@dataclass
class Inputs:
    """The data, the arguments of the report, and what all parts read.

    `levels` are FAR levels or thresholds, `options` those of `evaluate` (weighting, impostors,
    varying). `faces` is None where the data are scores. `curve` is the evaluation at many FAR
    levels, for figures. `leading` is the place of the leading level. `models` is [""] where there
    is a single model without a name.
    """

    data: xr.Dataset | xr.DataArray
    by: str | list[str] | None
    levels: dict
    options: dict
    level: float
    quick: bool

    def __post_init__(self):
        """Evaluate the scores."""
        self.faces = self.data if kind_of(self.data) == "faces" else None
        scores = self.data if self.faces is None else score_tensor(self.data)
        given_levels = checked_far(self.levels.get("far", CURVE_OF_THRESHOLDS))
        least, most = min(given_levels), max(given_levels)
        if most == least:
            most = min(10 * least, (1 + least) / 2)
        self.scores = sweep(scores, far=most, threshold=self.levels.get("threshold"))
        self._evaluate(far_levels(least, most), {"by": self.by, **self.options})
        self.rates = self.evaluation["empirical"].to_dataset()
        self.along = "far_level" if "far_level" in self.rates.dims else "threshold_level"
        self.models = model_names_of(self.scores) or [""]
        self.named = has_names(self.scores)
        self.require_directions()
        self.leading, self.too_few_errors = leading_level(self.rates, self.along)

    def _evaluate(self, curve, options):
        """Evaluate the scores at the levels asked for and at those of curves, at once for FARs."""
        if "far" in self.levels:
            given_levels = self.levels["far"]
            every = np.union1d(given_levels, curve)
            whole = evaluate_parts(self.scores, far=every, cautioned=given_levels, **options)
            self.evaluation = at_levels(whole, given_levels)
            self.curve = at_levels(whole, curve)
            return
        self.evaluation = evaluate_parts(self.scores, **self.levels, **options)
        with gathered_notices():
            self.curve = evaluate_parts(self.scores, far=curve, **options)

    def require_directions(self):
        """Stop where strangers are as alike as images of one person, or more, beyond doubt."""
        for name, eer in self.by_model(self.band("eer")):
            model = repr(name) if name else "these scores"
            role, other = "score", "distance"
            if self.scores.attrs.get("distance"):
                role, other = other, role
            require(
                not np.all(eer.lower > 0.5),
                f"read as {role}, {model} would have an EER above one half: strangers are more "
                f"alike than images of one person; are they {other}s?",
                [{"columns": {other: name or "..."}}],
            )
            require(
                not np.all(eer.lower > NEAR_CHANCE),
                f"{model} cannot tell people apart: the EER is close to one half. Are the rows in "
                "another order than the labels? fk.evaluate takes such scores, too",
            )

    @cached_property
    def images(self):
        """The images, or sides of pairs, under their labels."""
        return images_of(self.scores, self.by, self.options["varying"])

    @property
    def weighting(self):
        """How rates average: "identity", "pair", or "p_k"."""
        return provenance(self.evaluation)["weighting"]

    @property
    def n_people(self):
        """People with a genuine pair; where nobody is known, genuine pairs."""
        return int(contributions(self.evaluation, "frr", NEW_PEOPLE).people.max())

    @property
    def has_enough_people(self):
        """Whether rates can be estimated at all."""
        return self.n_people >= ENOUGH_PEOPLE

    @property
    def names_of_rates(self):
        """The global rates that a report of these levels shows."""
        return ["frr", "eer"] if self.along == "far_level" else ["frr", "far", "eer"]

    def band(self, measure, target=NEW_PEOPLE):
        """A measure with its intervals at the levels asked for."""
        return band(self.evaluation, measure, target=target, level=self.level)

    def band_of_curve(self, measure):
        """A measure with its intervals along the curve, for new people."""
        with gathered_notices():
            return band(self.curve, measure, target=NEW_PEOPLE, level=self.level)

    def about(self, target=NEW_PEOPLE):
        """Whom intervals of a target are about."""
        return target if self.named else PAIRS

    def by_model(self, result):
        """What all models have as one for every model, with the model's name."""
        for name in self.models:
            yield name, result_of_model(result, name)

    def scores_of(self, name):
        """The scores of one model."""
        return self.scores.sel(model=name) if name else self.scores

    def require_groups(self):
        """Refuse what compares groups where there are none."""
        require(self.by is not None, "no attribute is named")
        require(
            self.rates.sizes["group"] > 1,
            f"there is only one group, {self.rates['group'].values.tolist()}",
        )

    def require_people(self, fewest):
        """Refuse groups of fewer people."""
        self.require_groups()
        if self.named:
            people = counts_of_groups(self).people.drop(UNKNOWN, errors="ignore")
            small = people.index[people < fewest]
            advice = f"give those of {listed(small)} no label"
            require(small.empty, f"each group needs {fewest} people or more: {advice}")


def leading_level(rates, along):
    """Choose the lowest FAR at which every model makes enough errors, else that of most errors.

    For a system without false rejects it is the lowest FAR with enough false accepts.

    Returns
    -------
    dict, list of float
        The place of the level along its dimension; the levels with too few errors to lead.
    """
    errors = np.minimum(rates.false_accepts, rates.false_rejects)
    fewest = errors.min({*errors.dims} - {along})
    enough = fewest >= ENOUGH
    estimated = enough
    if not fewest.any():  # a system without false rejects, or without false accepts
        estimated = rates.false_accepts.min({*errors.dims} - {along}) >= ENOUGH
    highest_far = rates.far.where(estimated).max({*rates.far.dims} - {along})
    position = highest_far.fillna(np.inf).argmin(along)
    if not estimated.any():
        position = fewest.argmax(along)
    return {along: int(position)}, rates[along].values[~enough.values].tolist()


def result_of_model(result, name):
    """The part of one model; all of it where there is one model without a name."""
    return result.sel(model=name, drop=True) if name else result


def counts_of_groups(inputs):
    """How many people and images each group has, and how many there are without a label."""
    images = inputs.images
    labels = {"group": images.label, "people": images.identity, "images": images.image}
    return pd.DataFrame(labels).groupby("group").nunique()


def suffix(name):
    """Write "of FaceNet", or nothing where there is one model without a name."""
    return f" of {name}" if name else ""
