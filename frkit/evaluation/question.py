"""What is asked of every model: levels, groups, replicates; and the tables that answer it."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from frkit.base import affordable
from frkit.evaluation.design import Design
from frkit.evaluation.error_rates import (
    TOLERANCE,
    auc,
    far,
    frr,
    number_accepted,
    ratio,
    thresholds,
    v_statistic,
    weights_of_data,
    weights_of_replicate,
)
from frkit.evaluation.populations import ALL, populations_of_groups, whole_population
from frkit.evaluation.rate_tables import (
    counts_of_errors,
    distributions_of,
    gathered,
    groups_of,
    lowest_threshold,
    rates_of,
    stacked,
    thresholds_at,
)
from frkit.evaluation.records import tables_of_people

MOST_CROSSED = 50  # groups whose pairs of groups get rates, too


class Question(NamedTuple):
    """What is asked of every model.

    levels : (level,) labels of FAR levels, or of fixed thresholds. level_name : their dim. far_of :
    whose FAR the levels refer to. edges : of the bins of a histogram; none without one. drawn :
    counts of replicates, (replicate, row) and (replicate, identity), or None. copies : whether
    replicates contain pairs of an image with itself. with_rates, with_auc : whether rates and the
    AUC are asked for.
    """

    design: Design
    levels: Any
    level_name: str
    far_of: str
    edges: np.ndarray
    drawn: Any
    copies: bool
    with_rates: bool
    with_auc: bool

    @property
    def is_of_far(self):
        """Whether thresholds are found at FAR levels."""
        return self.level_name == "far_level"

    @property
    def n_groups(self):
        """How many groups there are."""
        return len(self.design.images.groups)

    @property
    def is_crossed(self):
        """Whether the pairs of two groups have rates of their own."""
        return self.with_rates and not self.design.within_groups and self.n_groups <= MOST_CROSSED

    def populations(self, pairs):
        """All pairs of a model, those within groups, and between them."""
        whole = whole_population(self.design, pairs, self.copies)
        group = self.design.images.group_code
        return {ALL: whole} | populations_of_groups(whole, group, self.n_groups, self.is_crossed)

    def tables(self, populations, fixed, *, people, about_images) -> dict[str, xr.Dataset]:
        """The tables of a model by node: rates of the data, the V-statistic and the replicates.

        fixed : (level,) the model's thresholds where these were given. people, about_images :
        whether to add what people, and images, add to each rate.
        """
        weights = {key: weights_of_data(each) for key, each in populations.items()}
        data = self._values(populations, weights, fixed)
        variables = gathered(data)
        nodes = {}
        if self.with_rates:
            at = self._thresholds(populations, weights, fixed)
            variables |= gathered(counts_of_errors(populations, at, self.level_name))
            if people:
                nodes = tables_of_people(populations, at, data, self, about_images=about_images)
        if self.with_auc:
            keys = [ALL, *groups_of(populations)]
            areas: dict = {key: {"auc": ([], auc(populations[key], weights[key]))} for key in keys}
            variables |= gathered(areas)
        of_vstatistic = {
            key: v_statistic(each, weights[key], self.copies) for key, each in populations.items()
        }
        vstatistic = gathered(self._values(populations, of_vstatistic, fixed))
        # the V-statistic has as many genuine pairs as the data
        numbers = {name: variables[name] for name in vstatistic if "genuine_pairs" in name}
        nodes["empirical"] = self.labelled(variables)
        nodes["vstatistic"] = self.labelled(vstatistic | numbers)
        if self.drawn is not None:
            replicates = self._replicates(populations, weights, data, fixed)
            nodes["replicates"] = self.labelled(stacked(replicates))
        return nodes

    def _replicates(self, populations, weights, data, fixed):
        """The variables of every replicate.

        Most need only the highest impostor scores, up to twice the FAR of any threshold in the
        data. Where a threshold of a replicate does not lie among them, all of its pairs are read.
        """
        lowest = -np.inf
        if self.design.listed is None and not len(self.edges):
            deepest = far(populations[ALL], weights[ALL], lowest_threshold(data))
            [lowest] = thresholds(populations[ALL], weights[ALL], [min(2 * deepest, 1)])
        highest = {}
        for key, population in populations.items():
            accepted = population.impostors.take(slice(number_accepted(population, lowest)))
            highest[key] = population._replace(impostors=accepted)
        for image_counts, identity_counts in zip(*self.drawn):
            read = highest
            weights = _weights_of_replicate(read, image_counts, identity_counts)
            if lowest > -np.inf and not self._lie_above(lowest, read, weights):
                read = populations
                weights = _weights_of_replicate(read, image_counts, identity_counts)
            times = image_counts * identity_counts[self.design.images.identity_code]
            yield gathered(self._values(read, weights, fixed, times))

    def _lie_above(self, score, populations, weights):
        """Whether every threshold lies above a score; populations : with the pairs above it alone.

        At this score a FAR level, and the FRR, are exceeded by the FAR.
        """
        for key in [ALL, *groups_of(populations)]:
            far_here = ratio(weights[key].accepted[-1], weights[key].compared)
            frr_here = frr(populations[key], weights[key], score)
            has_levels = self.is_of_far and (key is ALL or self.far_of != "all")
            highest_level = max(self.levels) if has_levels else -np.inf
            # a rate is NaN where there are no pairs
            if far_here <= np.fmax(frr_here, highest_level) + TOLERANCE:
                return False
        return True

    def _values(self, populations, weights, fixed, image_counts=None):
        """Rates and distributions by population and name, from the weights of populations."""
        values: dict = {key: {} for key in populations}
        if self.with_rates:
            at = self._thresholds(populations, weights, fixed)
            values = rates_of(populations, weights, at, self.level_name, self.far_of)
        if len(self.edges):
            for key in [ALL, *groups_of(populations)]:
                values[key] |= distributions_of(
                    key, populations[key], weights[key], self.edges, image_counts
                )
        return values

    def _thresholds(self, populations, weights, fixed):
        """The thresholds of every population: found, or given."""
        if self.is_of_far:
            return thresholds_at(populations, weights, self.levels, self.far_of)
        return dict.fromkeys(populations, fixed)

    def labelled(self, variables):
        """A table of variables with the labels of their dims."""
        groups = self.design.images.groups
        labels = {
            "group": groups,
            "reference_group": groups,
            "score_bin": (self.edges[1:] + self.edges[:-1]) / 2,
            self.level_name: self.levels,
        }
        dims = {dim for own_dims, _ in variables.values() for dim in own_dims}
        coords = {dim: values for dim, values in labels.items() if dim in dims}
        return xr.Dataset(variables, coords)

    def require_memory(self):
        """Refuse more groups than tables of rates and of people can have."""
        n_groups = self.n_groups
        n_levels = max(len(self.levels), 1) if self.with_rates else 1
        n_replicates = 0 if self.drawn is None else len(self.drawn[0])
        n_cells = n_groups**2 if self.is_crossed else n_groups
        of_people = 6 * n_groups * self.design.n_people  # what people add to each level
        affordable(
            8 * n_levels * (of_people + 4 * (n_cells + 1) * (n_replicates + 1)),
            f"rates of {n_groups:,} groups at {n_levels} levels in {n_replicates:,} replicates; "
            "merge groups, or take an attribute with fewer labels",
        )


def _weights_of_replicate(populations, image_counts, identity_counts):
    """The weights of every population in a replicate."""
    return {
        key: weights_of_replicate(population, image_counts, identity_counts)
        for key, population in populations.items()
    }
