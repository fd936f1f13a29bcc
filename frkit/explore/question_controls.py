"""What can be asked of kept pairs: the controls of a question, and its answers, cached."""

import numpy as np
import xarray as xr

from frkit.base import UNKNOWN, require, require_sequence
from frkit.data.labels import attributes_of
from frkit.evaluation.evaluate import evaluate
from frkit.evaluation.options import far_levels
from frkit.evaluation.sweep import MOST_LABELS, sweep
from frkit.explore.controls import far_range, menu, several, slider
from frkit.explore.panel import cached
from frkit.intervals.bands import EFFECTIVE
from frkit.reporting.look import labels_of
from frkit.resampling import DIAGONAL_SCHEMES, OF_IMAGES, Resampling
from frkit.scores.kept import has_names, is_list, model_names_of

ALL = "all"
COUNTS = (25, 50, 100, 200, 500, 1000)
NO_GROUPS = ""  # a menu shows no option whose value is None
METHODS = (EFFECTIVE, "recentered", "naive", "gaussian", "pivotal")
NONE = ("none",)  # schemes for pairs without identities
WEIGHTINGS = {"identities weigh the same": "identity", "pairs weigh the same": "pair"}


class Questions:
    """Kept pairs, the controls that say how they are evaluated, and the answers.

    Parameters
    ----------
    scores : xr.DataArray or xr.DataTree
        Whatever `sweep` takes; it is swept once.
    far : sequence of float or None
        FAR levels; by default those of `evaluate`.
    by : sequence of str or lists of str, or None
        The attributes that are offered; by default all with up to 20 labels.
    varying, seed
        As in `evaluate` and `Resampling`.
    """

    def __init__(self, scores, far, by, varying, seed):
        self.far = far_levels(1e-5, 1e-1) if far is None else np.atleast_1d(far)
        self.kept = sweep(scores, far=self.far)
        self.models = model_names_of(self.kept)
        self.names = attributes_with_groups(self.kept)
        names = self.names if by is None else require_sequence("by", by, "names of attributes")
        self.attributes = {" & ".join(attributes_of(name)): name for name in names}
        self.varying = varying
        self.seed = seed
        self.evaluated = cached(self.evaluate)

    def controls(self, *, without_groups):
        """Return the controls of a question, by the names of the arguments of `answer`."""
        attributes = {"none": NO_GROUPS} if without_groups else {}
        attributes |= {name: name for name in self.attributes}
        require(attributes, "these scores have no attribute with two groups: name one with by=")
        schemes, weightings = self.possible()
        controls = {
            "attribute": menu("groups", options=attributes),
            "far_range": far_range(self.far),
            "method": menu("interval", options=METHODS if schemes != NONE else METHODS[:1]),
            "scheme": menu("resampling", options=schemes),
            "replicates": slider("replicates", options=COUNTS, value=100),
            "weighting": menu("weighting", options=weightings),
            "impostors": menu("impostor pairs", options=self.rules()),
        }
        if self.models:
            controls["models"] = several("models", self.models, self.models[:1])
        controls["method"].observe(lambda _change: only_of_replicates(controls), "value")
        only_of_replicates(controls)
        return controls

    def possible(self):
        """Return the schemes and weightings that these scores allow.

        Without identities nobody can be drawn.
        """
        if not is_list(self.kept):
            return OF_IMAGES, WEIGHTINGS
        pairs_first = dict(reversed(WEIGHTINGS.items()))
        if not has_names(self.kept):
            return NONE, dict([*pairs_first.items()][:1])
        schemes = OF_IMAGES if has_names(self.kept, "image") else {*OF_IMAGES} - {*DIAGONAL_SCHEMES}
        return sorted(schemes), pairs_first

    def rules(self):
        """Return which impostor pairs can be asked for."""
        return {"all": ALL} | {f"of the same {name}": name for name in self.names}

    def answer(self, attribute, method, scheme, replicates, weighting, impostors, models=None):
        """Return the evaluation for these values of the controls."""
        require(models != (), "choose at least one model")
        draws = None if method == EFFECTIVE else Resampling(scheme, n=replicates, seed=self.seed)
        return self.evaluated(attribute, draws, weighting, impostors, models)

    def evaluate(self, attribute, draws, weighting, impostors, models) -> xr.DataTree:
        """Evaluate the chosen models."""
        return evaluate(
            self.kept.sel(model=list(models)) if models else self.kept,
            far=self.far,
            by=self.attributes.get(attribute),
            resampling=draws,
            weighting=weighting,
            impostors=ALL if impostors == ALL else {impostors: "same"},
            varying=self.varying,
        )


def only_of_replicates(controls):
    """Disable the controls of replicates if the interval uses none."""
    for name in ("scheme", "replicates"):
        controls[name].disabled = controls["method"].value == EFFECTIVE


def attributes_with_groups(kept):
    """Return the attributes that have two to twenty labels."""
    labels = labels_of(kept)
    labels.pop("identity", None)
    n_groups = {name: len({*column} - {UNKNOWN}) for name, column in labels.items()}
    return [name for name, n in n_groups.items() if 2 <= n <= MOST_LABELS]
