"""Who is compared with whom, and with what weight in every replicate: arrays only, no labels."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

WHOLE_LIMIT = 255  # weights up to here are added as 16-bit products


@dataclass(frozen=True, eq=False)
class Side:
    """The images along one side of the tensor.

    person, identity, group: integer codes, (image,); the last group code means "in no group".
    weight: (image, column) small unsigned integers, column 0 all ones (the point estimate), then replicates.
    scale: (image,) the factor that the weighting gives an image's pairs (1/n_k, say).
    """

    person: np.ndarray
    identity: np.ndarray
    group: np.ndarray
    weight: np.ndarray
    scale: np.ndarray

    @cached_property
    def real_weight(self) -> np.ndarray:
        """The weights in float32, for sums with a factor."""
        return self.weight.astype(np.float32)

    @cached_property
    def by_column(self) -> np.ndarray:
        """The weights as (column, image)."""
        return np.ascontiguousarray(self.weight.T)

    def __getstate__(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if k not in ("real_weight", "by_column")}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)


@dataclass(frozen=True, eq=False)
class Design:
    """Both sides of the tensor and the cells that its impostor pairs fall into.

    cell_of: (group, group) the cell of a pair of groups; -1 where such pairs are left out.
    """

    probe: Side
    reference: Side
    symmetric: bool
    cell_of: np.ndarray

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.cell_of.max()) + 1

    @property
    def n_columns(self) -> int:
        """Replicates, and the point estimate in front of them."""
        return self.probe.weight.shape[1]

    @cached_property
    def largest_product(self) -> int:
        """Largest weight that a pair can have in a replicate."""
        return max(int(self.probe.weight.max()) * int(self.reference.weight.max()), 1)

    @cached_property
    def whole(self) -> bool:
        """Whether every pair weighs a small whole number (times one factor for all): then sums are exact."""
        sides = (self.probe, self.reference)
        same = all(np.all(side.scale == side.scale[0]) for side in sides)
        return bool(same) and max(int(side.weight.max()) for side in sides) <= WHOLE_LIMIT

    @cached_property
    def n_pairs(self) -> int:
        """Impostor and genuine pairs that the sweep visits."""
        n, m = len(self.probe.person), len(self.reference.person)
        return n * (n - 1) // 2 if self.symmetric else n * m

    def scales(self, side: Side) -> np.ndarray:
        """The factors that enter sums: 1 where all are equal, for rates do not depend on a common factor."""
        return np.ones(len(side.scale)) if self.whole else side.scale

    def cells(self, row: np.ndarray, col: np.ndarray) -> np.ndarray:
        """The cell of each of some pairs."""
        if self.cell_of.size == 1:
            return np.full(len(row), self.cell_of[0, 0], np.int64)
        return self.cell_of[self.probe.group[row], self.reference.group[col]].astype(np.int64)

    def factors(self, row: np.ndarray, col: np.ndarray) -> np.ndarray:
        """The factor of each of some pairs."""
        return np.ones(len(row)) if self.whole else self.probe.scale[row] * self.reference.scale[col]

    @cached_property
    def impostor_totals(self) -> np.ndarray:
        """Weight of all impostor pairs, (cell, column), from products of sums: no pair is visited."""
        n_groups = len(self.cell_of)
        n_people = 1 + max(int(self.probe.person.max()), int(self.reference.person.max()))
        probe = self._by_person_and_group(self.probe, n_people, n_groups)
        reference = probe if self.symmetric else self._by_person_and_group(self.reference, n_people, n_groups)
        everyone = [side.sum(1) for side in (probe, reference)]
        totals = np.zeros((self.n_cells, self.n_columns))
        for g, h in np.ndindex(n_groups, n_groups):
            if self.cell_of[g, h] >= 0:
                both = np.flatnonzero(probe[g].any(1) & reference[h].any(1))
                within = np.einsum("pb,pb->b", probe[g][both], reference[h][both])
                pairs = everyone[0][g] * everyone[1][h] - within
                totals[self.cell_of[g, h]] += pairs * (0.5 if self.symmetric else 1.0)
        return totals

    def _by_person_and_group(self, side: Side, n_people: int, n_groups: int) -> np.ndarray:
        """Weight of each person's images in each group, (group, person, column)."""
        place = side.group.astype(np.int64) * n_people + side.person
        shape = (n_groups * n_people, len(place))
        gather = sparse.csr_matrix((self.scales(side), (place, np.arange(len(place)))), shape=shape)
        return (gather @ side.weight.astype(float)).reshape(n_groups, n_people, self.n_columns)


@dataclass(frozen=True, eq=False)
class GenuinePairs:
    """Pairs of images of one identity, in a fixed order; `row == col` never stands here."""

    row: np.ndarray
    col: np.ndarray
    identity: np.ndarray

    def __len__(self) -> int:
        return len(self.row)


def genuine_pairs(probe_identity: np.ndarray, reference_identity: np.ndarray, symmetric: bool) -> GenuinePairs:
    """Every pair of images of one identity: row < col in a symmetric tensor, all (row, col) otherwise."""
    order = np.argsort(reference_identity, kind="stable")
    n_identities = 1 + max(int(probe_identity.max()), int(reference_identity.max()))
    count = np.bincount(reference_identity, minlength=n_identities)
    first = np.cumsum(count) - count
    if symmetric:
        rank = np.empty(len(order), int)
        rank[order] = np.arange(len(order))
        begin, many = rank + 1, (first + count)[probe_identity] - rank - 1
    else:
        begin, many = first[probe_identity], count[probe_identity]
    row = np.repeat(np.arange(len(probe_identity)), many)
    step = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    col = order[np.repeat(begin, many) + step]
    return GenuinePairs(row.astype(np.int32), col.astype(np.int32), probe_identity[row])
