"""Rates of a list of weighted pairs, written as their definitions read: the twin's second half."""

from dataclasses import dataclass

import numpy as np

UNKNOWN = "unknown"
TOLERANCE = 1 + 1e-12  # a FAR within this factor of a level keeps to it
EQUAL = 1e-12  # FAR and FRR this close have crossed


@dataclass(frozen=True)
class PairList:
    """Scores and weights of pairs of one kind, with the groups of their two sides."""

    score: np.ndarray
    weight: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def within(self, mask) -> "PairList":
        """The pairs that the mask selects."""
        return PairList(self.score[mask], self.weight[mask], self.left[mask], self.right[mask])

    def cell(self, left, right) -> "PairList":
        """The pairs between two groups, whichever side each group is on."""
        there = (self.left == left) & (self.right == right)
        back = (self.left == right) & (self.right == left)
        return self.within(there | back)

    def accepted(self, threshold) -> np.ndarray:
        """Share of the weight with score > threshold, for one threshold or an array of them."""
        order = np.argsort(-self.score)
        so_far = np.concatenate([[0.0], np.cumsum(self.weight[order])])
        return self._share(
            so_far[np.searchsorted(-self.score[order], -np.asarray(threshold))], threshold
        )

    def rejected(self, threshold) -> np.ndarray:
        """Share of the weight with score <= threshold, for one threshold or an array of them."""
        order = np.argsort(self.score)
        so_far = np.concatenate([[0.0], np.cumsum(self.weight[order])])
        return self._share(
            so_far[np.searchsorted(self.score[order], threshold, side="right")], threshold
        )

    def _share(self, counted, threshold) -> np.ndarray:
        total = self.weight.sum()
        return np.where(np.isnan(threshold), np.nan, counted / (total if total > 0 else np.nan))

    def distinct(self) -> np.ndarray:
        """The scores that some positive weight has, ascending."""
        return np.unique(self.score[self.weight > 0])


def pseudo_inverse(impostor, alpha) -> float:
    """D.1: the smallest observed impostor score v with FAR(v) <= alpha, with a tolerance."""
    candidates = impostor.distinct()
    candidates = candidates[impostor.accepted(candidates) <= alpha * TOLERANCE]
    return candidates.min() if len(candidates) else np.nan


def equal_error(impostor, genuine) -> tuple[float, float]:
    """EER and its threshold: the smallest observed score at which FRR >= FAR.

    The EER is where the lines from the rates at the score before it to the rates at it cross.
    """
    if not impostor.weight.sum() > 0 or not genuine.weight.sum() > 0:
        return np.nan, np.nan
    distinct = np.union1d(impostor.distinct(), genuine.distinct())
    fars, frrs = (
        np.append(1.0, impostor.accepted(distinct)),
        np.append(0.0, genuine.rejected(distinct)),
    )
    place = np.argmax(frrs >= fars - EQUAL)
    far0, frr0, far, frr = fars[place - 1], frrs[place - 1], fars[place], frrs[place]
    part = (far0 - frr0) / ((far0 - frr0) + (frr - far))
    return far0 + part * (far - far0), distinct[place - 1]


def auc(impostor, genuine) -> float:
    """P(genuine score > impostor score), a tie counting half."""
    if not impostor.weight.sum() > 0 or not genuine.weight.sum() > 0:
        return np.nan
    won = [impostor.weight[impostor.score < s].sum() for s in genuine.score]
    tied = [impostor.weight[impostor.score == s].sum() for s in genuine.score]
    wins = genuine.weight @ (np.array(won) + 0.5 * np.array(tied))
    return wins / (genuine.weight.sum() * impostor.weight.sum())


def distribution(pairs, edges) -> dict:
    """Mean, standard deviation (ddof 0) and histogram (sum 1) of one kind of pairs."""
    total = pairs.weight.sum()
    if not total > 0:
        return {"mean": np.nan, "sd": np.nan, "histogram": np.full(len(edges) - 1, np.nan)}
    mean = pairs.weight @ pairs.score / total
    counts = np.histogram(pairs.score, edges, weights=pairs.weight)[0]
    return {
        "mean": mean,
        "sd": np.sqrt(pairs.weight @ (pairs.score - mean) ** 2 / total),
        "histogram": counts / total,
    }


def entering(impostor, impostors) -> PairList:
    """The impostor pairs that count in the global FAR."""
    if impostors == "all":
        return impostor
    return impostor.within((impostor.left == impostor.right) & (impostor.left != UNKNOWN))


def summary(pairs, *, far=None, threshold=None, groups=None, impostors="all", edges=None) -> dict:
    """The variables of an evaluation, in its dims: level or bin, group, reference group."""
    impostor, genuine = pairs
    counted = entering(impostor, impostors)
    if threshold is None:
        threshold = [pseudo_inverse(counted, alpha) for alpha in far]
    result = {"threshold": np.array(threshold, float)}
    result |= rates(counted, genuine, threshold, edges)
    if not groups:
        return result
    rates_of_groups = [
        rates(impostor.cell(g, g), genuine.cell(g, g), threshold, edges) for g in groups
    ]
    for name in rates_of_groups[0]:
        result[f"{name}_group"] = np.stack([part[name] for part in rates_of_groups], -1)
        if name.endswith("histogram"):  # dims are group, score_bin
            result[f"{name}_group"] = result[f"{name}_group"].T
    if impostors == "all":
        cross = [[impostor.cell(g, h).accepted(threshold) for h in groups] for g in groups]
        result["far_cross"] = np.moveaxis(np.array(cross), -1, 0)
    return result


def rates(impostor, genuine, threshold, edges) -> dict:
    """FAR (eq. 2, of groups eq. 21), FRR (eq. 3, eq. 22), EER, and what needs every pair."""
    result = {"far": impostor.accepted(threshold), "frr": genuine.rejected(threshold)}
    result["eer"], result["eer_threshold"] = equal_error(impostor, genuine)
    if edges is not None:
        result["auc"] = auc(impostor, genuine)
        for kind, pairs in (("impostor", impostor), ("genuine", genuine)):
            for name, value in distribution(pairs, edges).items():
                result[f"{kind}_{name}"] = value
    return result
