"""What people add to every rate of a model, as labelled tables: the nodes `people` and `images`.

A table has for each entry of the rate (level, group) what `Added` says of it; two vectors,
`influence` and `errors`, run over `person` or `image`. Further variables:
- threshold: the FAR whose level it meets (with the vectors of `far` where that is the FAR of all);
  change, d threshold / d FAR; curve_far and curve_threshold over `place`, the data's own curve;
- frr_group and far_group: pooled, the effective number if people vary alike in all groups;
  pooled_without, the same if this group had no error; pooled_df, degrees of freedom of the test
  of equal groups; df_of_all, the people of all groups less the number of groups; several, the
  share of people who stand in several groups.
"""

from typing import Any

import numpy as np
import xarray as xr

from frkit.evaluation.borrowing import Pooled, pooled_far, pooled_frr
from frkit.evaluation.influences import (
    Added,
    PeopleOf,
    at_fixed_threshold,
    auc_of,
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
from frkit.evaluation.rate_tables import groups_of

OF_FAR = ("noise", "people", "units", "comparisons")
VECTORS = {  # variables over one more dim; of units, where it is empty
    "influence": "",
    "errors": "",
    "curve_far": "place",
    "curve_threshold": "place",
}
FIRST_DIMS = {  # how many dims of the rate a variable has, if not all
    "curve_threshold": 0,
    "pooled_df": 1,
    "df_of_all": 0,
    "several": 0,
}


def tables_of_people(populations, rates, question, *, about_images) -> dict[str, xr.Dataset]:
    """What people add to the rates of one model, by "people/RATE", and "images/RATE".

    rates : the table of rates of the data. about_images : also what images add, for intervals about
    these people.
    """
    curve_threshold = curve_thresholds(populations[ALL])
    at = question.thresholds_of(populations, rates)
    found = [*at.values(), rates.eer_threshold.values]
    if "eer_threshold_group" in rates:
        found.append(rates.eer_threshold_group.values)
    lowest = np.nanmin(np.concatenate([np.ravel(each) for each in found]))
    if question.with_auc:
        lowest = None
    people = {
        key: PeopleOf(population, curve_threshold, lowest)
        for key, population in populations.items()
    }
    far_of = question.far_of if question.is_of_far else None
    names = populations[ALL].design.images.name
    order = {"person": slice(None), "image": np.argsort(names, kind="stable")}  # by name
    tables = {}
    for node, unit in (("people", "person"), ("images", "image"))[: 1 + about_images]:
        records = _Records(people, at, far_of, rates, curve_threshold, unit == "image")
        for name, (dims, values) in records.tables(question.with_auc).items():
            table = _labelled(values, dims, unit, rates)
            tables[f"{node}/{name}"] = table.isel({unit: order[unit]}, missing_dims="ignore")
    return tables


class _Records:
    """What units add to the rates of one model."""

    def __init__(self, people, at, far_of, rates, curve_threshold, about_images):
        self.people = people
        self.at = at
        self.far_of = far_of
        self.rates = rates
        self.curve_threshold = curve_threshold
        self.about_images = about_images
        self.level = rates.far.dims[0]
        self.levels = range(rates.sizes[self.level])
        self.groups = groups_of(people)

    def added(self, key, point, is_auc=False) -> tuple[Any, Any]:
        """What units add to FAR and FRR of a population; pairs between groups have no FRR."""
        people = self.people[key]
        accepts = far_of_people(people, point)
        if self.about_images:
            accepts = far_of_images(people, point, accepts)
        if key is not ALL and key not in self.groups:
            return accepts, None
        rejects = frr_of_people(people, point)
        if self.about_images:
            rejects = frr_of_images(people, point, rejects, is_auc)
        return accepts, rejects

    def tables(self, auc):
        """Dims and values of all rates, by name."""
        tables = self.at_levels() | self.at_eer()
        return tables | self.of_auc() if auc else tables

    # --- at all levels ---------------------------------------------------------------------------

    def at_levels(self):
        """FAR, FRR and thresholds, by name: dims and values."""
        points, fixed, far, frr = {}, {}, {}, {}
        for key, people in self.people.items():
            for k in self.levels:
                points[key, k] = people.point(self.at[key][k])
                fixed[key, k] = self.added(key, points[key, k])
        for key in self.people:
            shared = None
            if self.far_of == "all" and key is not ALL:
                shared = overlap(self.people[key], self.people[ALL])
            for k in self.levels:
                met = self.met(key, k, fixed)
                far[key, k] = self._far_at_level(key, k, met, fixed, points, shared)
                frr[key, k] = self._frr_at_level(key, k, met, fixed)
        thresholds = self._thresholds([ALL], fixed)
        tables = {
            "far": ([self.level], _of_all(self._stacked(far, [ALL]))),
            "frr": ([self.level], _of_all(self._stacked(frr, [ALL]))),
            "threshold": (
                [self.level],
                _of_all(thresholds) | {"curve_threshold": self.curve_threshold},
            ),
        }
        if self.groups:
            dims = [self.level, "group"]
            of_groups = self._stacked(far, self.groups), self._stacked(frr, self.groups)
            if not self.about_images:
                self._pool(*of_groups)
            tables |= {"far_group": (dims, of_groups[0]), "frr_group": (dims, of_groups[1])}
            if self.far_of == "own group":
                of_groups = self._thresholds(self.groups, fixed)
                of_groups["curve_threshold"] = self.curve_threshold
                tables["threshold_group"] = dims, of_groups
        if len(self.people) > 1 + len(self.groups):
            tables["far_cross"] = [self.level, "group", "reference_group"], self._crossed(far)
        return tables

    def met(self, key, k, fixed):
        """The population whose FAR meets the level at the threshold of another one."""
        if self.far_of == "own group":
            return key
        if self.far_of != "worst group":
            return ALL
        rates = [np.nan_to_num(fixed[group, k][0].rate, nan=-1.0) for group in self.groups]
        return self.groups[int(np.argmax(rates))]

    def _far_at_level(self, key, k, met, fixed, points, shared) -> Added:
        """FAR with the error of the threshold."""
        accepts, reference = fixed[key, k][0], fixed[met, k][0]
        if self.far_of is None or key == met:
            return at_fixed_threshold(accepts)
        people = self.people[key]
        covariance = 0.0
        if met is ALL:
            both = points[key, k], accepts, points[ALL, k], reference
            if self.about_images:
                covariance = noise_of_images(people, shared, *both)
            else:
                covariance = far_covariance(shared, *both)
        steepness = slope(self.people[met], reference, people.curve.far)
        return far_at_level(accepts, reference, steepness, covariance)

    def _frr_at_level(self, key, k, met, fixed) -> Added | None:
        """FRR with the error of the threshold."""
        rejects, reference = fixed[key, k][1], fixed[met, k][0]
        if rejects is None:
            return None
        if self.far_of is None:
            return at_fixed_threshold(rejects)
        steepness = slope(self.people[met], reference, self.people[key].curve.frr)
        return frr_at_level(rejects, reference, steepness, self.about_images)

    def _thresholds(self, keys, fixed):
        """The FAR whose level the threshold meets, and the data's own curve of it."""
        references, curves = {}, []
        for k in self.levels:
            for key in keys:
                met = self.met(key, k, fixed)
                reference = fixed[met, k][0]
                steepness = slope(self.people[met], reference, self.curve_threshold)
                change = steepness / reference.rate if reference.rate > 0 else 0.0
                references[key, k] = at_fixed_threshold(reference)._replace(change=change)
                curves.append(self.people[met].curve.far)
        shape = len(self.levels), len(keys), -1
        without = ("influence", "errors") if self.far_of == "all" else ()  # those of `far`
        numbers = self._stacked(references, keys, without)
        return numbers | {"curve_far": np.reshape(curves, shape)}

    def _stacked(self, added, keys, without=()):
        """The fields of `Added` as arrays, (level, population, ...)."""
        rows = [[added[key, k] for key in keys] for k in self.levels]
        fields = {*Added._fields, "variance"} - {*without}
        return {
            name: np.array([[getattr(each, name) for each in row] for row in rows])
            for name in sorted(fields)
        }

    def _crossed(self, far):
        """FAR between any two groups, (level, group, group), without vectors."""
        groups = range(len(self.groups))
        keys = [(min(g, h), max(g, h)) for g in groups for h in groups]
        shape = len(self.levels), len(self.groups), len(self.groups)
        numbers = self._stacked(far, keys, without=("influence", "errors"))
        return {name: values.reshape(shape) for name, values in numbers.items()}

    def _pool(self, far, frr):
        """Add what the people of all groups say about each."""
        groups = [self.people[key] for key in self.groups]
        compared = np.array([people.compared.weight for people in groups])
        genuine = np.array([people.by_person(people.genuine_of_row) for people in groups])
        pairs = np.array([people.by_person(people.pairs_of_row) for people in groups])
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = frr["errors"] / genuine
        frr |= _numbers_of_pool(pooled_frr(rate, pairs[None], genuine[None]), genuine)
        has_two = far["people"] >= 2
        far_rate, squares = far["rate"], (far["influence"] ** 2).sum(-1)
        numbers = [far_rate, squares, *(far[name].astype(float) for name in OF_FAR)]
        numbers = [np.where(has_two, each, np.nan) for each in numbers]
        far |= _numbers_of_pool(pooled_far(*numbers), compared)

    # --- EER and AUC -----------------------------------------------------------------------------

    def at_eer(self):
        """EER of all, and of groups at their own thresholds: dims and values."""
        whole = self._eer(ALL, float(self.rates.eer_threshold), float(self.rates.eer))
        tables: dict = {
            "eer": ([], {name: values[0] for name, values in _columns([whole]).items()})
        }
        if not self.groups:
            return tables
        at, rates = self.rates.eer_threshold_group.values, self.rates.eer_group.values
        of_groups = _columns([self._eer(key, *each) for key, *each in zip(self.groups, at, rates)])
        return tables | {"eer_group": (["group"], of_groups)}

    def _eer(self, key, threshold, rate):
        """What units add to the EER of a population, by name."""
        people = self.people[key]
        accepts, rejects = self.added(key, people.point(threshold))
        return _numbers(eer_of(people, accepts, rejects, rate))

    def of_auc(self):
        """1 - AUC of all, and of groups: dims and values."""
        tables: dict = {"auc": ([], self._auc(ALL))}
        if self.groups:
            tables["auc_group"] = ["group"], _columns([self._auc(key) for key in self.groups])
        return tables

    def _auc(self, key):
        """What units add to 1 - AUC of a population, by name."""
        point, rate = self.people[key].disorder()
        return _numbers(auc_of(*self.added(key, point, is_auc=True), rate))


def _numbers(added: Added):
    """Fields by name."""
    return added._asdict() | {"variance": added.variance}


def _numbers_of_pool(pooled: Pooled, weight):
    """The numbers of a pool by name; weight : of each person in the groups, (group, person)."""
    people = np.count_nonzero(weight, axis=1)
    groups_of_person = np.count_nonzero(weight, axis=0)
    is_in_several = groups_of_person[groups_of_person > 0] > 1
    return {
        "pooled": pooled.n,
        "pooled_without": pooled.n_without,
        "pooled_df": pooled.df,
        "df_of_all": np.maximum(people - 1, 0).sum(),
        "several": is_in_several.mean() if is_in_several.size else 0.0,
    }


def _of_all(values):
    """Values of the only population, (level, ...)."""
    return {name: array[:, 0] for name, array in values.items()}


def _columns(rows):
    """Numbers and vectors of populations by name, (population, ...)."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _labelled(values, dims, unit, rates):
    """A table of the numbers and vectors of a rate."""
    variables = {}
    for name, value in values.items():
        array = np.asarray(value)
        own_dims = dims[: FIRST_DIMS.get(name, len(dims))]
        if name in VECTORS:
            own_dims = [*own_dims, VECTORS[name] or unit]
        if name == "errors":
            array = array.astype(np.float32)  # as large as the influence, which needs its digits
        variables[name] = own_dims, array
    coords = {dim: rates[dim] for dim in dims if dim in rates.coords}
    return xr.Dataset(variables, coords)
