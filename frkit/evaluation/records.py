"""What people add to every rate of a model, as labelled tables: the nodes `people` and `images`.

Variables are called PART_of_RATE. Parts are:
- moments, over `moment`: the numbers of `Added`, at every level and group;
- influence and errors, over `person` or `image`. Those of a threshold are of the FAR whose level it
  meets; they are stored where that is the FAR of the worst group;
- curve_far and curve_threshold, of a threshold over `place`: the data's own curve;
- pooled, of FAR and FRR of groups over `of_all`: pooled, the effective number if people vary alike
  in all groups; pooled_without, the same if this group had no error; pooled_df, degrees of freedom
  of the test of equal groups; df_of_all, the people of all groups less the number of groups;
  several, the share of people who stand in several groups.
"""

from typing import Any

import numpy as np

from frkit.evaluation.borrowing import pooled_far, pooled_frr
from frkit.evaluation.influences import (
    Added,
    PeopleOf,
    at_fixed_threshold,
    auc_of,
    change_at,
    curve_thresholds,
    eer_of,
    far_at_level,
    far_covariance,
    far_of_images,
    far_of_people,
    frr_at_level,
    frr_of_images,
    frr_of_people,
    noise_of_images,
    overlap,
    slope,
)
from frkit.evaluation.populations import ALL
from frkit.evaluation.rate_tables import gathered, groups_of, lowest_threshold

MOMENTS = (
    "rate", "erring", "units", "people", "df", "comparisons", "noise", "change", "noise_at_level",
    "variance_at_level", "variance",
)  # fmt: skip
OF_ALL = ("pooled", "pooled_without", "pooled_df", "df_of_all", "several")
OF_FAR = ("rate", "squares", "noise", "people", "units", "comparisons")


def tables_of_people(populations, at, rates, question, *, about_images):
    """The tables `people` and `images` of one model.

    at : thresholds by population. rates : of the data, by population and name. about_images : also
    what images add, for intervals about these people.
    """
    curve_threshold = curve_thresholds(populations[ALL])
    lowest = None if question.with_auc else lowest_threshold(rates)
    people = {key: PeopleOf(each, curve_threshold, lowest) for key, each in populations.items()}
    names = populations[ALL].design.images.name
    order = {"person": slice(None), "image": np.argsort(names, kind="stable")}  # by name
    tables = {}
    for node, unit in (("people", "person"), ("images", "image"))[: 1 + about_images]:
        records = _Records(people, at, rates, question, unit)
        table = question.labelled(records.variables(curve_threshold))
        tables[node] = table.isel({unit: order[unit]})
    return tables


class _Records:
    """What units add to the rates of one model; a unit is a person or an image."""

    def __init__(self, people, at, rates, question, unit):
        self.people = people
        self.at = at
        self.rates = rates
        self.far_of = question.far_of if question.is_of_far else None
        self.with_auc = question.with_auc
        self.level = question.level_name
        self.unit = unit
        self.groups = groups_of(people)
        self.overlaps = {}
        if self.far_of == "all":
            parts = [key for key in people if key is not ALL]
            self.overlaps = {key: overlap(people[key], people[ALL]) for key in parts}

    def added(self, key, point, is_auc=False) -> tuple[Any, Any]:
        """What units add to FAR and FRR of a population; pairs between groups have no FRR."""
        people = self.people[key]
        about_images = self.unit == "image"
        accepts = far_of_people(people, point)
        if about_images:
            accepts = far_of_images(people, point, accepts)
        if key is not ALL and key not in self.groups:
            return accepts, None
        rejects = frr_of_people(people, point)
        if about_images:
            rejects = frr_of_images(people, point, rejects, is_auc)
        return accepts, rejects

    def variables(self, curve_threshold):
        """The variables of the table."""
        levels = [self.at_level(k, curve_threshold) for k in range(len(self.at[ALL]))]
        added: dict = {
            key: {rate: _of_levels([level[key][rate] for level in levels]) for rate in of_rates}
            for key, of_rates in levels[0].items()
        }
        for key in [ALL, *self.groups]:
            added[key]["eer"] = self.at_eer(key)
            if self.with_auc:
                added[key]["auc"] = self.of_auc(key)
        stored = {key: self._stored(key, added[key], curve_threshold) for key in added}
        variables = gathered(stored)
        variables["moment"] = ["moment"], [*MOMENTS]
        if self.groups and self.unit == "person":
            variables |= self._pooled([added[key] for key in self.groups])
        return variables

    def _stored(self, key, of_rates, curve_threshold):
        """The moments of a population, and its vectors if it is not of pairs between groups."""
        variables: dict = {}
        for rate, added in of_rates.items():
            levels = [self.level] * np.ndim(added.rate)
            moments = [getattr(added, name) for name in MOMENTS]
            variables[f"moments_of_{rate}"] = [*levels, "moment"], np.stack(moments, -1)
            if rate == "threshold":
                variables["curve_far_of_threshold"] = [*levels, "place"], added.curve_far
                variables["curve_threshold_of_threshold"] = ["place"], curve_threshold
            has_vectors = rate != "threshold" or self.far_of == "worst group"
            if has_vectors and (key is ALL or key in self.groups):
                errors = added.errors.astype(np.float32)  # only the influence needs its digits
                variables[f"influence_of_{rate}"] = [*levels, self.unit], added.influence
                variables[f"errors_of_{rate}"] = [*levels, self.unit], errors
        return variables

    # --- at one level ----------------------------------------------------------------------------

    def at_level(self, k, curve_threshold) -> dict:
        """What units add to FAR, FRR and threshold at a level, by population and name."""
        points = {key: each.point(self.at[key][k]) for key, each in self.people.items()}
        fixed = {key: self.added(key, point) for key, point in points.items()}
        of_all = ALL
        if self.far_of == "worst group":
            fars = [fixed[group][0].rate for group in self.groups]
            of_all = self.groups[np.nan_to_num(fars, nan=-1.0).argmax()]
        added: dict = {}
        for key, people in self.people.items():
            accepts, rejects = fixed[key]
            met = key if self.far_of == "own group" else of_all  # whose FAR meets the level
            reference, level = fixed[met][0], self.people[met]
            rates = {"far": at_fixed_threshold(accepts)}
            if self.far_of is not None and key != met:
                covariance = 0.0
                if self.far_of == "all":
                    both = points[key], accepts, points[ALL], reference
                    covariance_of = noise_of_images if self.unit == "image" else far_covariance
                    covariance = covariance_of(self.overlaps[key], *both)
                steepness = slope(level, reference, people.curve_far)
                rates["far"] = far_at_level(accepts, reference, steepness, covariance)
            if rejects is not None:
                rates["frr"] = at_fixed_threshold(rejects)
                if self.far_of is not None:
                    steepness = slope(level, reference, people.curve_frr)
                    rates["frr"] = frr_at_level(rejects, reference, steepness, self.unit == "image")
            if "threshold" in self.rates[key] and self.far_of is not None:
                steepness = slope(level, reference, curve_threshold)
                rates["threshold"] = at_fixed_threshold(reference)._replace(
                    change=change_at(reference, steepness),
                    curve_far=level.curve_far,
                )
            added[key] = rates
        return added

    def _pooled(self, added):
        """What the people of all groups say about each group's FAR and FRR; added : by group."""

        def of_groups(rate, name):
            return np.stack([getattr(each[rate], name) for each in added], 1)

        groups = [self.people[key] for key in self.groups]
        compared = np.array([people.compared.weight for people in groups])
        genuine = np.array([people.genuine_of_person for people in groups])
        pairs = np.array([people.pairs_of_person for people in groups])
        with np.errstate(divide="ignore", invalid="ignore"):
            rejected = of_groups("frr", "errors") / genuine
        has_two = of_groups("far", "people") >= 2
        of_far = [np.where(has_two, of_groups("far", name), np.nan) for name in OF_FAR]
        variables: dict = {"of_all": (["of_all"], [*OF_ALL])}
        for rate, pooled, weight in (
            ("frr", pooled_frr(rejected, pairs[None], genuine[None]), genuine),
            ("far", pooled_far(*of_far), compared),
        ):
            df_of_all = np.maximum(np.count_nonzero(weight, axis=1) - 1, 0).sum()
            groups_of_person = np.count_nonzero(weight, axis=0)
            n_people = (groups_of_person > 0).sum()
            several = (groups_of_person > 1).sum() / np.maximum(n_people, 1)
            numbers = np.broadcast_arrays(
                pooled.n, pooled.n_without, pooled.df[:, None], df_of_all, several
            )
            dims = [self.level, "group", "of_all"]
            variables[f"pooled_of_{rate}_group"] = dims, np.stack(numbers, -1)
        return variables

    # --- EER and AUC -----------------------------------------------------------------------------

    def at_eer(self, key):
        """What units add to the EER of a population, at its own threshold."""
        people = self.people[key]
        rate, threshold = (self.rates[key][name][1] for name in ("eer", "eer_threshold"))
        return eer_of(people, *self.added(key, people.point(threshold)), rate)

    def of_auc(self, key):
        """What units add to 1 - AUC of a population."""
        point, rate = self.people[key].disorder()
        return auc_of(*self.added(key, point, is_auc=True), rate)


def _of_levels(added):
    """What units add at all levels: arrays over levels first."""
    return Added(*map(np.array, zip(*added)))
