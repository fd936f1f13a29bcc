"""Small data sets for the engine's tests, and the comparison with the slow twin."""

import numpy as np
import xarray as xr
from twin import Scores, empirical, urns, vstatistic, weighted
from twin_rates import UNKNOWN, summary

import frkit as fk
from frkit.data.labels import resolve_varying

FAR = (0.02, 0.05, 0.1, 0.3)
THRESHOLD = (-0.2, 0.1, 0.5)
SIZES = {"equal": [4] * 6, "unequal": [1, 2, 3, 5, 4, 1, 6, 2], "pairs": [2] * 9}
DIMS = (
    "model",
    "replicate",
    "far_level",
    "threshold_level",
    "group",
    "reference_group",
    "score_bin",
)


def split_by(faces, attribute):
    """Faces whose people are split where a label varies, as `varying="split"` does when used."""
    labels, who = faces[attribute].values, faces.identity.values
    _, split_names, person = resolve_varying(labels, who, "split", attribute)
    return faces.assign_coords(identity=("image", split_names), person=("image", person))


def people(
    sizes="unequal", *, seed=0, ties=False, dim=8, groups=("f", "m", "f", "unknown", "m")
) -> xr.Dataset:
    """Faces with one group per identity, in shuffled order; with ties every score is a multiple of
    1/8."""
    rng = np.random.default_rng(seed)
    sizes = SIZES[sizes] if isinstance(sizes, str) else sizes
    identity = np.repeat([f"id{index}" for index in range(len(sizes))], sizes)
    gender = np.repeat(np.resize(groups, len(sizes)), sizes)
    centre = np.repeat(rng.normal(size=(len(sizes), 16 if ties else dim)), sizes, axis=0)
    embedding = centre + 0.9 * rng.normal(size=centre.shape)
    if ties:
        embedding = np.where(embedding > 0, 0.25, -0.25)  # rows of length one: products are exact
    order = rng.permutation(len(identity))
    names = np.array([f"image {position:03d}" for position in range(len(identity))])
    return fk.faces(
        embedding[order].astype(np.float32), identity[order], image=names, gender=gender[order]
    )


def table(sizes="unequal", *, seed=0, decimals=2):
    """A symmetric random score matrix with its own diagonal, and the labels of its images."""
    faces = people(sizes, seed=seed)
    rng = np.random.default_rng(seed + 1)
    identity = faces.identity.values
    score = rng.normal(size=(len(identity),) * 2) + 2 * (identity[:, None] == identity)
    score = np.round(np.maximum(score, score.T), decimals).astype(np.float32)
    np.fill_diagonal(score, rng.choice([3.0, 5.0], len(identity)))
    return score, faces


def looked_up(score, faces, **options) -> xr.DataArray:
    """A score tensor with these very scores: an embedding is a row number, the similarity looks it
    up."""
    rows = np.repeat(np.arange(1.0, 1 + len(score))[:, None], 2, 1)
    labels = {"gender": faces.gender.values}
    faces = fk.faces(rows, faces.identity.values, image=faces.image.values, **labels)

    def similarity(probe, reference):
        return score[np.ix_(probe[:, 0].astype(int) - 1, reference[:, 0].astype(int) - 1)]

    return fk.score_tensor(faces, similarity, **options)


def as_twin(scores, by=None) -> Scores:
    """The twin's form of a score tensor."""
    matrix = np.array(scores.values, float)
    names = [scores[side].values.tolist() for side in ("probe", "reference")]
    identity = [scores[f"{side}_identity"].values.tolist() for side in ("probe", "reference")]
    if "self_score" in scores.attrs:
        np.fill_diagonal(matrix, scores.attrs["self_score"])
    person, group = {}, {}
    for side, ids in zip(("probe", "reference"), identity, strict=True):
        if f"{side}_person" in scores.coords:
            person |= dict(zip(ids, scores[f"{side}_person"].values.tolist(), strict=True))
        if by is not None:
            group |= dict(zip(ids, scores[f"{side}_{by}"].values.tolist(), strict=True))
    return Scores(
        matrix, *names, *identity, bool(scores.attrs["symmetric"]), person=person, group=group
    )


def counts(twin, resampling, replicate) -> tuple[dict, dict]:
    """Identity and image counts of one replicate, by name, over the images of both sides."""
    urn = urns(twin)
    names, apart = sorted(urn), any(sides != "both" for _, sides in urn.values())
    identity = [urn[name][0] for name in names]
    drawn_from = ["\x1f".join(urn[name]) for name in names] if apart else identity
    strata = [twin.group[k] for k in identity] if resampling.strata else None
    people = [twin.person.get(k, k) for k in identity]
    drawn = resampling.weights(drawn_from, image=names, strata=strata, person=people).isel(
        replicate=replicate
    )
    count_of_pair = dict(
        zip(drawn.identity.values.tolist(), drawn.identity_count.values.tolist(), strict=True)
    )
    by_identity = {k: count_of_pair[source] for k, source in zip(identity, drawn_from, strict=True)}
    return by_identity, dict(zip(names, drawn.image_count.values.tolist(), strict=True))


def groups_of(twin) -> list:
    """The groups that have a column: sorted, without "unknown"."""
    return sorted(set(twin.group.values()) - {UNKNOWN})


def check_node(node, expected, where) -> None:
    """One node has all of the twin's dictionary: thresholds equal, rates within 1e-12."""
    for name, value in expected.items():
        if name.startswith("auc") and where != "empirical":
            continue  # the AUC is that of the data alone
        values = node[name].transpose(*[dim for dim in DIMS if dim in node[name].dims])
        label = f"{name} in {where}"
        if "_sd" in name:  # the root of a variance of 0 would be a rounding error of 1e-8
            variance = np.square(value)
            np.testing.assert_allclose(values**2, variance, rtol=1e-12, atol=1e-12, err_msg=label)
        elif "threshold" in name:
            np.testing.assert_array_equal(values, value, err_msg=label)
        else:
            np.testing.assert_allclose(values, value, rtol=1e-12, atol=1e-12, err_msg=label)


def check_evaluation(ev, scores, *, by=None, resampling=None, weighting="identity", **options):
    """Every node and replicate of an evaluation against the twin.

    options: far or threshold, impostors, edges (of a histogram).
    """
    twin = as_twin(scores, by)
    options["groups"] = groups_of(twin) if by else None
    plain = summary(empirical(twin, weighting), **options)
    check_node(ev["empirical"].dataset, plain, "empirical")
    if by:
        assert ev["empirical"].group.values.tolist() == options["groups"]
    if resampling is None:
        return
    diagonal = resampling.scheme in ("image", "two-level")
    centre = summary(vstatistic(twin, weighting), **options) if diagonal else plain
    check_node(ev["vstatistic"].dataset, centre, "vstatistic")
    assert ev["replicates"].sizes["replicate"] == resampling.n
    for b in range(resampling.n):
        drawn = weighted(twin, *counts(twin, resampling, b), weighting)
        node = ev["replicates"].dataset.isel(replicate=b)
        check_node(node, summary(drawn, **options), f"replicate {b}")


def evaluate_and_check(scores, *, threshold=None, far=FAR, bins=20, bounds=(-8.0, 8.0), **options):
    """Evaluate with a histogram, compare with the twin, return the evaluation."""
    levels = {"far": far} if threshold is None else {"threshold": threshold}
    ev = fk.evaluate(scores, histogram=(bins, bounds), **levels, **options)
    edges = np.linspace(*bounds, bins + 1)
    np.testing.assert_allclose(ev["empirical"].score_bin, (edges[1:] + edges[:-1]) / 2, atol=1e-12)
    check_evaluation(ev, scores, edges=edges, **levels, **options)
    return ev
