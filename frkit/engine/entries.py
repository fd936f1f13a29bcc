"""The entries of an evaluation: whom they show, which pairs of them count, and how often."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from frkit.base import require
from frkit.data.labels import CROSSED, attributes_of
from frkit.resampling import Resampling
from frkit.scores.groups import People

MOST_COPIES = 255  # of an image in a replicate: counts are bytes
COLUMNS = 32  # whose counts are converted to full precision at once


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """The pairs of a list.

    Attributes
    ----------
    row, col : (impostor,) entries of the impostor pairs.
    impostor, genuine : positions of both kinds in the list.
    factor : (impostor,) weights of the impostor pairs, or None where all are equal.
    """

    row: np.ndarray
    col: np.ndarray
    impostor: np.ndarray
    genuine: np.ndarray
    factor: np.ndarray | None


@dataclass(eq=False)
class Protocol:
    """Who is compared with whom, in the data and in every replicate; it knows no score.

    An *entry* is an image on one side of the scores, or on both sides where these are the same
    images; in a list, an image under a group label. *Columns* of counts are first the data, then
    the replicates, last the V-statistic (eq. 19), whose entries count once as in the data.

    Attributes
    ----------
    images : labels of all images.
    image, group, kind : (entry,) codes; the last group means "in no group". Kinds are groups,
        unless `impostors=` names attributes.
    cells_of_groups, cells_of_kinds : (group, group) and (kind, kind) the cell of a pair; -1 leaves
        the pair out. Cells of pairs within each group come first.
    scale : (entry,) factor of the entry's impostor pairs (p_k / n_k), equal factors being 1.
    drawn : counts of the replicates, (replicate, image) and (replicate, identity).
    share : (identity,) p_k.
    pooled : whether all pairs weigh the same.
    symmetric : whether rows and columns of the tensor are the same images.
    n_probes, offset : rows of the tensor, and the entry of its first column.
    genuine_row, genuine_col : entries of the genuine pairs; behind the first `n_genuine` are those
        of images with themselves, where replicates contain copies of images.
    genuine_identity : code of their identity.
    listed : the pairs of a list, or None for a tensor.
    people_known : False for a list whose pairs are drawn one by one although people are known.
    facts : counts of a list for the provenance.
    person, identity : (entry,) codes.
    counts : (entry, column) how often an entry counts.
    image_counts : (entry, column) how often it counts within its identity.
    identity_counts : (column, identity).
    """

    images: People
    image: np.ndarray
    group: np.ndarray
    kind: np.ndarray
    cells_of_groups: np.ndarray
    cells_of_kinds: np.ndarray
    scale: np.ndarray
    drawn: InitVar[tuple[np.ndarray, np.ndarray]]
    share: np.ndarray
    pooled: bool
    symmetric: bool
    n_probes: int
    offset: int
    genuine_row: np.ndarray
    genuine_col: np.ndarray
    genuine_identity: np.ndarray
    n_genuine: int
    listed: ListedPairs | None = None
    people_known: bool = True
    facts: dict = field(default_factory=dict)

    def __post_init__(self, drawn) -> None:
        self.groups = self.images.groups
        self.n_cells = int(self.cells_of_groups.max()) + 1
        self.has_copies = len(self.genuine_row) > self.n_genuine
        factors_differ = self.listed is not None and self.listed.factor is not None
        self.equal_weights = bool(np.all(self.scale == 1)) and not factors_differ
        # the entries of rows and of columns of a tensor
        self.rows = slice(0, self.n_probes)
        self.cols = slice(self.offset, None)
        person = np.unique(self.images.person, return_inverse=True)[1]
        self.person = person[self.image].astype(np.int32)
        self.identity = self.images.identity_code[self.image]
        most = int(np.prod([counts.max(initial=1) for counts in drawn], dtype=int))
        require(
            most <= MOST_COPIES,
            f"an image counts up to {most} times in a replicate; at most {MOST_COPIES} are "
            "possible: draw smaller subsets",
        )
        once = ((1, 1), (0, 0))  # a row of ones before and behind: the data, the V-statistic
        images, self.identity_counts = (
            np.pad(counts.astype(np.uint8), once, constant_values=1) for counts in drawn
        )
        self.counts = self.image_counts = np.ascontiguousarray(images[:, self.image].T)
        if np.any(self.identity_counts != 1):
            copies = np.ascontiguousarray(self.identity_counts[:, self.identity].T)
            self.counts = self.image_counts * copies
        self.n_columns = self.counts.shape[1]

    @cached_property
    def impostor_totals(self):
        """Weight of all impostor pairs of a tensor, (cell, column), without a look at any pair.

        All pairs of two kinds weigh the product of both sums over entries. Pairs of a person with
        itself are subtracted.
        """
        totals = np.zeros((self.n_cells, self.n_columns))
        for first in range(0, self.n_columns, COLUMNS):
            columns = slice(first, first + COLUMNS)
            weight = self.scale[:, None] * self.counts[:, columns]
            probe = self.by_person(self.rows, weight)
            reference = self.by_person(self.cols, weight)
            for g, h in np.argwhere(self.cells_of_kinds >= 0):
                all_pairs = probe[g].sum(0) * reference[h].sum(0)
                of_one_person = np.einsum("pb,pb->b", probe[g], reference[h])
                totals[self.cells_of_kinds[g, h], columns] += all_pairs - of_one_person
        return totals / 2 if self.symmetric else totals

    def by_person(self, side: slice, weight):
        """Sums of a weight, (entry, column), over the entries of a side: (kind, person, column)."""
        n_kinds = len(self.cells_of_kinds)
        n_people = int(self.person.max()) + 1
        place = self.kind[side].astype(np.int64) * n_people + self.person[side]
        entries = np.arange(len(place))
        shape = n_kinds * n_people, len(place)
        add_up = sparse.csr_matrix((np.ones(len(place)), (place, entries)), shape)
        return (add_up @ weight[side]).reshape(n_kinds, n_people, -1)


def group_cells(n_groups: int, impostors: str | Mapping):
    """Cell of each pair of groups: within groups, then across, then pairs with no group."""
    cells = np.full((n_groups + 1, n_groups + 1), -1, np.int32)
    np.fill_diagonal(cells[:-1, :-1], np.arange(n_groups))
    if impostors != "same-group":
        a, b = np.triu_indices(n_groups, 1)
        across = n_groups + np.arange(len(a))
        cells[a, b] = across
        cells[b, a] = across
        cells[-1, :] = cells[:, -1] = n_groups + len(a)
    return cells


def label_fits(probe, reference, wanted: str, unknown):
    """Whether labels are the "same" (or "other") on both sides; an unknown one is neither."""
    fits = probe == reference if wanted == "same" else probe != reference
    return fits & (probe != unknown) & (reference != unknown)


def draw_people(images: People, by, resampling: Resampling | None) -> tuple:
    """Counts of images and of identities, (replicate, image) and (replicate, identity)."""
    n_identities = int(images.identity_code.max()) + 1
    if resampling is None:
        none = np.empty((0, len(images.names)), np.uint8)
        return none, np.empty((0, n_identities), np.uint8)
    strata = None
    if resampling.strata is not None:
        names = ("group",) if by is None else ("group", CROSSED.join(attributes_of(by)))
        require(
            by is not None and resampling.strata in names,
            f"strata={resampling.strata!r} must name the attribute given as by= (or be 'group'); "
            f"got by={by!r}",
        )
        strata = images.group
    drawn = resampling.weights(images.urn, images.names, strata, images.person)
    first = np.unique(images.identity, return_index=True)[1]
    urn_of_identity = np.searchsorted(drawn["identity"].values, images.urn[first])
    return drawn["image_count"].values, drawn["identity_count"].values[:, urn_of_identity]
