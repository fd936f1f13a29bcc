"""The slow twin of the engine on pair lists: every pair with its weight."""

from collections import Counter

import numpy as np
from named import named
from twin_rates import UNKNOWN, PairList

SIDES = ("probe", "reference")


def rows_of(pairs, by=None, model=None) -> list[dict]:
    """The pairs as plain records; a failed comparison and an image with itself are no pair."""
    pairs = named(pairs)
    score = (pairs.score if model is None else pairs.score.sel(model=model)).values
    rows = []
    for p in range(len(score)):
        row = {"place": p, "score": score[p], "genuine": bool(pairs.genuine.values[p])}
        for side in SIDES:
            for key, name in [
                ("", side),
                ("_identity", f"{side}_identity"),
                ("_group", f"{side}_{by}"),
            ]:
                row[side + key] = str(pairs[name].values[p]) if name in pairs.coords else UNKNOWN
        row["itself"] = "probe" in pairs.coords and row["probe"] == row["reference"]
        if "probe" not in pairs.coords:  # then a person counts as one image
            row |= {side: row[f"{side}_identity"] for side in SIDES}
        rows.append(row)
    return rows


def images_of(rows) -> tuple[dict, dict]:
    """Of each image its urn, and (identity, side) -> number of images n_k on that side.

    One set of images where any is on both sides; otherwise probes and references are two sets.
    """
    sides = {side: {row[side]: row[f"{side}_identity"] for row in rows} for side in SIDES}
    if set(sides["probe"]) & set(sides["reference"]):
        everyone = sides["probe"] | sides["reference"]
        sides = {side: everyone for side in SIDES}
        urn = everyone
    else:
        urn = {name: f"{k}\x1f{side}" for side in SIDES for name, k in sides[side].items()}
    many = {side: Counter(sides[side].values()) for side in SIDES}
    return urn, many


def drawn(rows, resampling, replicate, strata=None) -> tuple[Counter, Counter]:
    """c by identity and w by image of one replicate."""
    urn, _ = images_of(rows)
    identity = {row[side]: row[f"{side}_identity"] for row in rows for side in SIDES}
    names = sorted(urn)
    counts = resampling.weights(
        [urn[name] for name in names],
        image=names,
        strata=None if strata is None else [strata[identity[name]] for name in names],
        person=[identity[name] for name in names],
    ).isel(replicate=replicate)
    count_of_pair = dict(
        zip(counts.identity.values.tolist(), counts.identity_count.values.tolist())
    )
    c = {identity[name]: count_of_pair[urn[name]] for name in names}
    return c, dict(zip(names, counts.image_count.values.tolist()))


def weighted(rows, c=None, w=None, weighting="identity") -> tuple[PairList, PairList]:
    """Impostor and genuine pairs of a resample; without counts those of the data."""
    c, w = c or Counter(), w or Counter()
    shares_of_pairs = shares_of(rows, weighting)
    present = [row for row in rows if not np.isnan(row["score"]) and not row["itself"]]
    lists = {True: [], False: []}
    for row in present:
        k, m = row["probe_identity"], row["reference_identity"]
        count = w.get(row["probe"], 1) * w.get(row["reference"], 1) * c.get(k, 1)
        count *= 1 if row["genuine"] else c.get(m, 1)
        lists[row["genuine"]].append((row, count * shares_of_pairs[row["place"]]))
    return as_list(lists[False]), as_list(lists[True])


def shares_of(rows, weighting) -> dict[int, float]:
    """Weight of every pair in the data: those of the same people share what these weigh."""
    if isinstance(weighting, str) and weighting == "pair":
        return {row["place"]: 1.0 for row in rows}
    p = {} if isinstance(weighting, str) else weighting
    who = {
        row["place"]: tuple(sorted((row["probe_identity"], row["reference_identity"])))
        for row in rows
    }
    listed = [row for row in rows if not row["itself"]]
    failed = [row for row in listed if np.isnan(row["score"]) and row["genuine"]]
    many = Counter(who[row["place"]] for row in listed) - Counter(
        who[row["place"]] for row in failed
    )
    return {
        place: p.get(k, 1.0) * p.get(m, 1.0) / max(many[k, m], 1) for place, (k, m) in who.items()
    }


def as_list(items) -> PairList:
    """Records with their weights, as the twin's rates take them."""
    left, right = (np.array([row[f"{side}_group"] for row, _ in items], object) for side in SIDES)
    score = np.array([row["score"] for row, _ in items], float)
    return PairList(score, np.array([weight for _, weight in items], float), left, right)
