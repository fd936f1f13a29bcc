"""The nine fairness indices from raw pairs, one equation after another: the readable twin."""

import math

import numpy as np
from named import named


def fusion_weights(sizes: dict) -> dict:
    """Eq. 1 and 2, with c = 1."""
    n_groups, total = len(sizes), sum(sizes.values())
    sigma = 1 / (2 * n_groups)
    raw = {
        group: 1 + math.exp(-1 / (2 * sigma**2) * (size / total - 1 / (2 * n_groups)) ** 2)
        for group, size in sizes.items()
    }
    return {group: value / sum(raw.values()) for group, value in raw.items()}


def divergence(a, b) -> float:
    """Eq. 10, with 0 log 0 = 0."""
    return sum(x * math.log2(x / y) for x, y in zip(a, b) if x > 0)


def nine(scores: dict, sizes: dict, *, bins: int, balance: bool = False) -> dict[str, float]:
    """Eq. 3-12. scores: group -> (genuine, impostor scores), in [0, 1]; sizes: group -> N_i."""
    separation, compactness, histogram = {}, {}, {}
    for group, (genuine, impostor) in scores.items():
        separation[group] = abs(np.mean(genuine) - np.mean(impostor))
        compactness[group] = np.std(genuine) + np.std(impostor)
        counts = [np.histogram(part, bins=bins, range=(0, 1))[0] for part in (genuine, impostor)]
        if balance:
            histogram[group] = (counts[0] / counts[0].sum() + counts[1] / counts[1].sum()) / 2
        else:
            histogram[group] = (counts[0] + counts[1]) / (len(genuine) + len(impostor))
    mean = np.mean(list(histogram.values()), axis=0)
    deviation = {
        "sfi": {g: 2 * abs(z - np.mean(list(separation.values()))) for g, z in separation.items()},
        "cfi": {
            g: 2 * abs(z - np.mean(list(compactness.values()))) for g, z in compactness.items()
        },
        "dfi": {g: divergence(z, mean) / math.log2(len(scores)) for g, z in histogram.items()},
    }
    weight, indices = fusion_weights(sizes), {}
    for index, by_group in deviation.items():
        indices[f"{index}_normal"] = 1 - sum(by_group.values()) / len(scores)
        indices[f"{index}_extremal"] = 1 - max(by_group.values())
        indices[f"{index}_weighted"] = 1 - sum(weight[g] * value for g, value in by_group.items())
    return indices


def from_tensor(scores, by: str, **options) -> dict[str, float]:
    """The nine indices of a square tensor in [0, 1]: each pair once, impostors within groups."""
    values, group = scores.values.astype(float), scores[f"probe_{by}"].values
    identity = scores.probe_identity.values
    pairs = {name: ([], []) for name in sorted(set(group.tolist()) - {"unknown"})}
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            if group[i] == group[j] and group[i] in pairs:
                pairs[group[i]][int(identity[i] != identity[j])].append(values[i, j])
    sizes = {name: int((group == name).sum()) for name in pairs}
    return nine(pairs, options.pop("sizes", sizes), **options)


def from_pairs(table, by: str = "group", **options) -> dict[str, float]:
    """The nine indices of a list of scores in [0, 1]; the size of a group is its pairs."""
    table = named(table)
    score, genuine, group = table.score.values, table.genuine.values, table[f"probe_{by}"].values
    pairs = {
        g: (score[(group == g) & genuine], score[(group == g) & ~genuine])
        for g in sorted(set(group))
    }
    sizes = {name: int((group == name).sum()) for name in pairs}
    return nine(pairs, options.pop("sizes", sizes), **options)
