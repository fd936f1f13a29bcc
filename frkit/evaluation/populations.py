"""A population: impostor and genuine pairs with weights, and what was compared, by people.

The whole data, a group, and the pairs between two groups are populations; no function of a rate
knows of groups or designs. The weight of all pairs of two people is an entry of a matrix
U Vᵀ + S. In a complete design U and V have few columns: sums over images. S is sparse: the pairs of
a list, or minus those that failed. So every total is a product of small matrices.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from frkit.base import require
from frkit.evaluation.design import Design, are_of_one_group, codes_of_couples
from frkit.scores.kept import ModelPairs

ALL = None  # the key of the whole among populations
ROUNDED = 1e-12  # what is left of a sum from which all was subtracted


class Pairs(NamedTuple):
    """Pairs of one kind, the worst errors first: impostors by falling score, genuine by rising.

    a, b : (pair,) rows of the table of images. weight : in a rate, of all pairs that it represents.
    number : how many these are; 0 for an image with itself, which only replicates contain.
    """

    score: np.ndarray
    a: np.ndarray
    b: np.ndarray
    weight: np.ndarray
    number: np.ndarray

    def take(self, index):
        """Some of the pairs, in the same order."""
        return Pairs(*(column[index] for column in self))

    def total(self, times):
        """Weight of all pairs; times : (row,) how often each row counts."""
        return (self.weight * times[self.a] * times[self.b]).sum()


class Population(NamedTuple):
    """Pairs of one model, with what was compared.

    failed : impostor pairs that failed. products : pairs of weights of rows, as probes and as
    references, whose products are the weights of all impostor pairs of a complete design; none of
    a list. genuine_failed : how many genuine pairs failed.
    """

    design: Design
    impostors: Pairs
    genuine: Pairs
    failed: Pairs
    products: list
    genuine_failed: int = 0

    @property
    def n_genuine(self):
        """How many genuine pairs there are, those that failed included."""
        return int(np.count_nonzero(self.genuine.number)) + self.genuine_failed

    @property
    def person(self):
        """(row,) the number of the person."""
        return self.design.images.person_code


def whole_population(design: Design, kept: ModelPairs, copies=False) -> Population:
    """All pairs of one model; copies : also the pairs of images with themselves."""
    row, col, is_genuine, is_impostor, number = kinds_of_pairs(design, kept)
    is_scored = ~np.isnan(kept.score)
    rising = np.argsort(kept.score, kind="stable")  # those that failed last

    def pairs(is_of_kind, order):
        index = order[is_of_kind[order]]
        return Pairs(kept.score[index], row[index], col[index], np.ones(len(index)), number[index])

    genuine = _weighted_genuine(design, pairs(is_genuine & is_scored, rising), kept, copies)
    weighted = _weighted_impostors(design, pairs(is_impostor, rising[::-1]))
    n_failed = np.count_nonzero(is_impostor & ~is_scored)
    population = Population(
        design=design,
        impostors=weighted.take(slice(n_failed, None)),
        genuine=genuine,
        failed=weighted.take(slice(n_failed)),
        products=_products(design, kept) if design.listed is None else [],
        genuine_failed=int(np.count_nonzero(is_genuine & ~is_scored)),
    )
    _require_some("impostor ", compared_weight(population) > 0)
    return population


def kinds_of_pairs(design: Design, kept: ModelPairs):
    """Rows and columns of the pairs, which are genuine, which impostors; how many each represents.

    A pair of two parts of a person is neither, nor is one that `impostors=` leaves out.
    """
    images = design.images
    if design.listed is not None:
        return *images.sides, *design.listed, np.ones(len(kept.score), np.float32)
    row, col = kept.row, kept.col
    is_genuine = images.identity_code[row] == images.identity_code[col]
    is_impostor = images.person_code[row] != images.person_code[col]
    if design.within_groups:
        is_impostor &= are_of_one_group(images, row, col)
    return row, col, is_genuine, is_impostor, kept.stands_for


def _require_some(kind, is_there):
    require(
        is_there,
        f"all {kind}comparisons failed (NaN or marked as missing): there is nothing to evaluate",
    )


# --- weights -------------------------------------------------------------------------------------


def _scales(design: Design):
    """p_k / n_k of each row as probe and as reference (eq. 2); all 1 where all are equal.

    n_k counts the identity's images on that side. An image that is not there has 0.
    """
    identity = design.images.identity_code
    scales = []
    for here in (design.images.probe, design.images.reference):
        scale = here.astype(float)
        if not design.pooled:
            n_images = np.bincount(identity, scale)[identity[here]]
            scale[here] = _ones_if_equal(design.share[identity[here]] / n_images)
        scales.append(scale)
    return scales


def _weighted_impostors(design: Design, impostors: Pairs) -> Pairs:
    """FAR is a mean over couples of identities of a mean over their pairs (eq. 2).

    Two identities weigh p_k p_l (section 2.1), which their pairs share.
    """
    identity = design.images.identity_code
    if design.listed is None:
        probe_scale, reference_scale = _scales(design)
        weight = probe_scale[impostors.a] * reference_scale[impostors.b]
    elif design.pooled:
        weight = np.ones(len(impostors.score))
    else:
        first, second = identity[impostors.a], identity[impostors.b]
        couple = pd.Series(codes_of_couples(first, second, len(design.share)))
        n_pairs = couple.groupby(couple).transform("size").to_numpy()
        weight = _ones_if_equal(design.share[first] * design.share[second] / n_pairs)
    return impostors._replace(weight=weight * impostors.number)


def _weighted_genuine(design: Design, genuine: Pairs, kept: ModelPairs, copies) -> Pairs:
    """FRR is a mean over identities of a mean over their pairs of images (eq. 3).

    An identity weighs p_k squared (section 2.1), which its pairs share. copies : also the pairs of
    images with themselves, which weigh half where each pair of two images stands once.
    """
    identity = design.images.identity_code
    _require_some("genuine ", len(genuine.score) > 0)
    n_pairs = np.bincount(identity[genuine.a], minlength=len(design.share))
    weight = design.share**2
    if not design.pooled:
        weight = weight / np.maximum(n_pairs, 1)
    weight[n_pairs > 0] = _ones_if_equal(weight[n_pairs > 0])
    if copies:
        genuine = _with_copies(genuine, kept.self_score, n_pairs[identity] > 0)
    weight_of_pair = weight[identity[genuine.a]]
    if design.symmetric:
        weight_of_pair = np.where(genuine.number > 0, weight_of_pair, weight_of_pair / 2)
    return genuine._replace(weight=weight_of_pair)


def _with_copies(genuine: Pairs, self_score, has_rate):
    """Genuine pairs, and those of images with themselves, of people who have a rate."""
    image = np.flatnonzero(~np.isnan(self_score) & has_rate).astype(genuine.a.dtype)
    zeros = np.zeros(len(image), np.float32)
    copies = self_score[image].astype(genuine.score.dtype), image, image, zeros, zeros
    every = Pairs(*map(np.append, genuine, copies))
    return every.take(np.argsort(every.score, kind="stable"))


def _products(design: Design, kept: ModelPairs):
    """Weights of rows whose products are the weights of all pairs, or of those within groups."""
    probe, reference = (scale * ~kept.failed for scale in _scales(design))
    if design.symmetric:  # each pair is in both orders in the products
        reference = reference / 2
    if not design.within_groups:
        return [(probe, reference)]
    images = design.images
    are_members = [images.group_code == group for group in range(len(images.groups))]
    return [(probe * is_member, reference * is_member) for is_member in are_members]


def _ones_if_equal(weight):
    """Weights, or ones where all are equal: rates do not change, and sums are exact."""
    return np.ones(len(weight)) if np.ptp(weight) <= 1e-14 * weight[0] else weight


# --- groups --------------------------------------------------------------------------------------


def populations_of_groups(whole: Population, group, n_groups, crossed=False) -> dict:
    """The population within each group, by (g, g); with those between two groups, by (g, h).

    group : (row,) the number of the group; n_groups where there is none.
    """
    cells = [(g, g) for g in range(n_groups)]
    if crossed:
        cells += [(g, h) for g in range(n_groups) for h in range(g + 1, n_groups)]
    kinds = whole.impostors, whole.genuine, whole.failed
    numbers = [_cells(pairs, group, n_groups) for pairs in kinds]
    populations = {}
    for g, h in cells:
        is_here = [cell == g * (n_groups + 1) + h for cell in numbers]
        impostors, genuine, failed = (
            pairs.take(np.flatnonzero(here)) for pairs, here in zip(kinds, is_here)
        )
        products = _products_within(whole.products, group, g, h)
        populations[g, h] = Population(whole.design, impostors, genuine, failed, products)
    return populations


def _cells(pairs: Pairs, group, n_groups):
    """(pair,) one number for the two groups of each pair, in either order, of a small type."""
    group = group.astype(np.min_scalar_type((n_groups + 1) ** 2))
    first, second = group[pairs.a], group[pairs.b]
    return np.minimum(first, second) * group.dtype.type(n_groups + 1) + np.maximum(first, second)


def _products_within(products, group, g, h):
    """The weights of the pairs between two groups: probes in one and references in the other."""
    within = []
    for first, second in [(g, h)] if g == h else [(g, h), (h, g)]:
        terms = [(p * (group == first), r * (group == second)) for p, r in products]
        within += [(p, r) for p, r in terms if p.any() and r.any()]
    return within


# --- what was compared ---------------------------------------------------------------------------


def compared_weight(population: Population, counts=1.0):
    """Weight of all impostor pairs that did not fail; counts : (row,) how often each row counts."""
    times = counts * np.ones(len(population.person))
    if population.design.listed is not None:
        return population.impostors.total(times)
    gross = of_one_person = 0.0
    for probe, reference in population.products:
        p, r = probe * times, reference * times
        gross += p.sum() * r.sum()
        of_one_person += _by_person(population, p) @ _by_person(population, r)
    left = gross - of_one_person - population.failed.total(times)
    return left if left > ROUNDED * gross else 0.0  # where nothing is left, rounding is


def _by_person(population, weight):
    return np.bincount(population.person, weight, population.design.n_people)


class Compared(NamedTuple):
    """The weight of the pairs of any two people, U Vᵀ + S; a pair of people is a couple.

    u, v : (person, term). sparse : (person, person), in both orders. weight : (person,) of all
    pairs of a person. couples, pairs : how many couples and pairs of images were compared.
    """

    u: np.ndarray
    v: np.ndarray
    sparse: sparse.csr_array
    weight: np.ndarray
    couples: float
    pairs: float

    def of(self, a, b):
        """The weight of the pairs of persons a and b, (couple,)."""
        gross = (self.u[a] * self.v[b]).sum(1)
        if not self.sparse.nnz:
            return gross
        left = gross + np.asarray(self.sparse[a, b]).ravel()
        return np.where(left > ROUNDED * gross, left, 0.0)

    def product(self, other):
        """Sum over couples of the product of their weights here and there."""
        of_all = ((self.u.T @ other.u) * (self.v.T @ other.v)).sum()
        total = of_all - (self.u * self.v).sum(1) @ (other.u * other.v).sum(1)
        for one, another in ((self, other), (other, self)):
            a, b = one.sparse.tocoo().coords
            total += one.sparse.data @ (another.u[a] * another.v[b]).sum(1)
        return (total + self.sparse.multiply(other.sparse).sum()) / 2


def compared(population: Population) -> Compared:
    """What was compared in a population."""
    u, v = _factors(population, population.products)
    pairs, sign = population.failed, -1.0
    if population.design.listed is not None:
        pairs, sign = population.impostors, 1.0
    table = sign * _couples(population, pairs)
    half = 0.5 if population.design.symmetric else 1.0
    counts = [(probe > 0, half * (reference > 0)) for probe, reference in population.products]
    n_u, n_v = _factors(population, counts)
    n_pairs = (n_u.sum(0) @ n_v.sum(0) - (n_u * n_v).sum()) / 2 + sign * pairs.number.sum()
    gross = u @ v.sum(0) - (u * v).sum(1)
    left = gross + table.sum(1)
    result = Compared(u, v, table, np.where(left > ROUNDED * gross, left, 0.0), 0.0, n_pairs)
    a, b = sparse.triu(table).tocoo().coords
    changed = np.sign(result.of(a, b)) - np.sign((u[a] * v[b]).sum(1))
    return result._replace(couples=_couples_with_weight(u, v) + changed.sum())


def _factors(population: Population, products):
    """U and V, (person, term)."""
    terms = [[_by_person(population, side) for side in sides] for sides in products]
    probe, reference = np.array(terms).reshape(-1, 2, population.design.n_people).swapaxes(0, 1)
    return np.vstack([probe, reference]).T, np.vstack([reference, probe]).T


def _couples(population: Population, pairs: Pairs):
    """Weight of pairs by couple, (person, person) in both orders."""
    shape = (population.design.n_people,) * 2
    people = population.person[pairs.a], population.person[pairs.b]
    one_order = sparse.coo_array((pairs.weight, people), shape).tocsr()
    return (one_order + one_order.T).tocsr()


def _couples_with_weight(u, v):
    """How many couples have a positive entry of U Vᵀ: people of a kind have the same partners."""
    if not u.shape[1]:
        return 0.0
    kinds, number = np.unique(np.hstack([u, v]) > 0, axis=0, return_counts=True)
    n_terms = u.shape[1]
    meet = (kinds[:, :n_terms].astype(int) @ kinds[:, n_terms:].T.astype(int)) > 0
    return (number @ meet @ number - number @ np.diag(meet)) / 2
