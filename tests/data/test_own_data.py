"""What people bring: JSON, names of images that say who it is, metadata, labels of one side.

And chosen impostors, distances, failed comparisons and text under any name.
"""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from named import named
from refusals import noticed, refused
from small_files import put

import frkit as fk
from frkit.io.joins import identities_from

NAMES = ["ann_1.jpg", "ann_2.jpg", "bo_1.jpg", "bo_2.jpg", "cy_x_1.jpg"]
WHO = ["ann", "ann", "bo", "bo", "cy_x"]


def scores_of(names, seed=0):
    """A score for every ordered couple of different names."""
    rng = np.random.default_rng(seed)
    return {a: {b: round(float(rng.uniform()), 6) for b in names if b != a} for a in names}


# --- who is in an image ---
@pytest.mark.parametrize(
    ("pattern", "names", "who"),
    [
        ("{name}_{number}.jpg", NAMES, WHO),
        ("{name}/{name}_{number}.jpg", ["lfw/J_B/J_B_0001.jpg"], ["J_B"]),
        ("{id}/{video}/{file}", ["wav/id1/v/1.wav", "id2/w/2.wav"], ["id1", "id2"]),
        ("{race}-{identity}.(png)", ["A-k.(png)", "B-a.b.(png)"], ["k", "a.b"]),
        ("{name}", ["x/k", "m"], ["k", "m"]),
    ],
)
def test_names_say_who_it_is(pattern, names, who):
    assert identities_from(names, pattern).tolist() == who


@pytest.mark.parametrize("pattern", ["{name}_{number}.png", "{a}_{number}.jpg"])
def test_a_pattern_that_says_nothing_is_refused(pattern):
    with pytest.raises(fk.InputError, match="pattern|identity"):
        identities_from(NAMES, pattern)


@pytest.mark.filterwarnings("ignore:the EER is 0.44")  # of random scores
def test_a_matrix_whose_ids_are_image_names(tmp_path):
    values = np.random.default_rng(0).uniform(size=(5, 5)).round(3) + 0.4 * np.equal.outer(WHO, WHO)
    rows = [",".join([name, *map(str, row)]) for name, row in zip(NAMES, values)]
    path = put(tmp_path, "m.csv", "\n".join([",".join(["", *NAMES]), *rows]))
    meta = put(tmp_path, "people.csv", "Person,Gender\nann,female\nbo,male\ncy_x,male\n")
    options = {"kind": "matrix", "identity": "{name}_{number}.jpg", "labels": meta}
    with refused(answers=[{"columns": {role: "all cells"}} for role in ("distance", "score")]):
        fk.open_data(path, **options)
    scores = fk.open_data(path, columns={"score": "all cells"}, **options)
    assert scores.probe_identity.values.tolist() == WHO and scores.probe.values.tolist() == NAMES
    assert scores.reference_Gender.values.tolist() == ["female", "female", "male", "male", "male"]
    ev = fk.evaluate(scores, threshold=[0.5], weighting="pair")["empirical"]
    genuine = [values[i, j] for i, j in product(range(5), repeat=2) if i != j and WHO[i] == WHO[j]]
    assert float(ev.frr[0]) == pytest.approx(np.mean(np.array(genuine) <= 0.5))


# --- JSON ---
def test_json_is_a_list_of_objects(tmp_path):
    scores = scores_of(NAMES)
    options = {"identity": "{name}_{number}.jpg"}
    rows = [
        {"probe": probe, "reference": reference, "score": score}
        for probe, row in scores.items()
        for reference, score in row.items()
    ]
    table = named(fk.open_data(put(tmp_path, "t.json.gz", json.dumps(rows)), **options))
    assert table.score.values.tolist() == [row["score"] for row in rows]
    assert table.sizes["pair"] == 20 and int(table.genuine.sum()) == 4


BAD_JSON = [
    '{"genuine": [0.9, 0.8], "impostor": [0.1]}',
    '{"genuine": [1, 0], "score": [0.9, 0.1]}',
    '{"ann": {"ann": 0.9, "bo": 0.1}, "bo": {"ann": 0.1, "bo": 0.8}}',
    '{"0": {"probe": "a", "score": 0.9}, "1": {"probe": "b", "score": 0.8}}',
    '{"columns": ["probe", "score"], "data": [["a", 0.9], ["b", 0.8]]}',
    "",
    "[3]",
    '{"a": {"b": 1}, "a": {"c": 1}}',
    '{"a": {"b": "high"}}',
    '[{"a": 1}]',
    '[{"probe": {"id": "a"}, "reference": {"id": "a"}, "score": 0.9}]',
]


@pytest.mark.parametrize("text", BAD_JSON)
def test_bad_json_is_refused(tmp_path, text):
    with refused("b.json"):
        fk.open_data(put(tmp_path, "b.json", text))


# --- labels ---

TRIALS = "1 id1/v/1.wav id1/w/2.wav\n0 id1/v/1.wav id2/v/1.wav\n0 id2/v/1.wav id3/v/1.wav\n"


def trials(folder, meta):
    options = {
        "scores": put(folder, "s", "0.9\n0.1\n0.2\n"),
        "labels": put(folder, "m.tab", meta),
    }
    return named(fk.open_data(put(folder, "trials", TRIALS), **options))


def test_labels_of_some_say_how_many(tmp_path):
    with noticed("ID", "1 of 3", "id2"):
        pairs = trials(tmp_path, "ID\tGender\nid1\tm\nid3\tf\n")
    assert pairs.probe_Gender.values.tolist() == ["m", "unknown", "f"]


OF_PEOPLE = "n name\tVGG\tnoise\nx\tid1\tmid\ny\tid2\tlow\nz\tid3\tlow\n"
OF_IMAGES = """who file noise
id1 id1/v/1.wav low\nid1 id1/w/2.wav high\nid2 id2/v/1.wav low\nid3 id3/v/1.wav mid"""


@pytest.mark.parametrize(
    ("labels", "probe", "reference"),
    [
        (OF_PEOPLE, ["mid", "low", "low"], ["mid", "mid", "low"]),
        (OF_IMAGES, ["high", "low", "mid"], ["low", "low", "low"]),
    ],
)
def test_labels_are_joined_on_the_column_that_matches(tmp_path, labels, probe, reference):
    """The second one here; those of images go before those of people."""
    pairs = trials(tmp_path, labels)
    assert pairs.probe_noise.values.tolist() == probe
    assert pairs.reference_noise.values.tolist() == reference


def test_labels_do_not_overrule_the_file(tmp_path):
    path = put(tmp_path, "t.csv", "k,m,s,sex\nx,x,.9,f\nx,y,.1,f\n")
    columns = dict(score="s", probe_identity="k", reference_identity="m", sex="sex")
    meta = put(tmp_path, "m.csv", "who,Sex\nx,m\ny,m\n")
    with refused("Sex"):
        fk.open_data(path, kind="pairs", columns=columns, labels=meta)


# --- labels of one side ---
def listed_pairs(n=1200, seed=0, **more):
    """Pairs of twelve people, their scores, which are genuine, and labels of the trials."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 12, (2, n))
    second = np.where(rng.uniform(size=n) < 0.4, first, second)
    score = rng.normal(size=n) + 1.5 * (first == second)
    probe = [f"{who}_{k}" for who, k in zip(first, rng.integers(0, 9, n))]
    reference = [f"{who}_{k}" for who, k in zip(second, rng.integers(9, 18, n))]
    sides = dict(probe=probe, reference=reference, probe_identity=first, reference_identity=second)
    labels = rng.choice(["low", "high"], n)
    return fk.pairs(score, **sides, **more), score, first == second, labels


@pytest.mark.parametrize("side", ["probe", "reference"])
def test_each_pair_counts_in_the_group_of_its_own_label(side):
    labels = listed_pairs()[3]
    labels_of_sides = {"probe": (labels, None), "reference": (None, labels)}
    pairs, score, genuine, _ = listed_pairs(noise=labels_of_sides[side])
    # no warning: the label is none of people
    ev = fk.evaluate(pairs, threshold=[0.3, 1.0], by="noise")
    for value, (level, threshold) in product(("low", "high"), enumerate([0.3, 1.0])):
        far = (score[(labels == value) & ~genuine] > threshold).mean()
        frr = (score[(labels == value) & genuine] <= threshold).mean()
        rates = ev["empirical"].sel(group=value).isel(threshold_level=level)
        np.testing.assert_allclose([rates.far_group, rates.frr_group], [far, frr], atol=1e-12)
    band = fk.band(ev, "frr_group")
    assert bool(((band.lower < band.estimate) & (band.estimate < band.upper)).all())
    with refused("strata", "noise"):
        fk.evaluate(pairs, by="noise", resampling=fk.Resampling("identity", n=5, strata="noise"))


# --- kinds of impostors ---


@pytest.mark.parametrize("by", ["race", ["gender", "race"]], ids=str)
@pytest.mark.parametrize("form", ["tensor", "list"])
@pytest.mark.parametrize("weighting", ["identity", pytest.param("pair", marks=pytest.mark.slow)])
def test_impostors_of_the_same_group(by, form, weighting):
    groups = {f"{g}/{r}": {} for g in "fm" for r in "xyz"}
    faces = fk.vmf.mixture(24, 8, kappa=(4, 30), seed=0, groups=groups).sample(3, seed=1)
    gender, race = np.array([label.split("/") for label in faces.group.values], "U7").T
    race[:3] = "unknown"
    labels, who = {"gender": gender, "race": race}, faces.identity.values
    faces = fk.faces(faces.embedding.values, who, image=faces.image.values, **labels)
    scores = fk.score_tensor(faces)
    i, j = np.triu_indices(len(who), 1)
    value = scores.values[i, j].astype(float)
    if form == "list":
        both = {name: (values[i], values[j]) for name, values in labels.items()}
        sides = dict(probe_identity=who[i], reference_identity=who[j])
        images = dict(probe=faces.image.values[i], reference=faces.image.values[j])
        scores = fk.pairs(value, **images, **sides, **both)
    allowed = who[i] != who[j]
    for name in [by] if isinstance(by, str) else by:
        first, second = labels[name][i], labels[name][j]
        allowed &= (first != "unknown") & (second != "unknown") & (first == second)
    options = {"by": by, "impostors": "same-group", "weighting": weighting}
    ev = fk.evaluate(scores, threshold=[0.1, 0.3], **options)
    for level, threshold in enumerate([0.1, 0.3]):
        table = pd.DataFrame({"a": who[i], "b": who[j], "accepted": value > threshold})[allowed]
        shares = table.groupby(["a", "b"]).accepted.mean()
        far = table.accepted.mean() if weighting == "pair" else shares.mean()
        assert float(ev["empirical"].far[level]) == pytest.approx(far, abs=1e-9)


@pytest.mark.parametrize("kind", [{"race": "same"}, "same-group", "none"])
def test_kinds_of_impostors_that_are_none(kind):
    pairs = listed_pairs(race=np.where(np.arange(1200) % 2, "a", "b"))[0]
    with refused("impostors"):
        fk.evaluate(pairs, far=[0.1], impostors=kind)


# --- distances ---
def distances(seed=0):
    """A matrix of distances of ten people's images, who they are, and which pairs are genuine."""
    who = np.repeat(np.arange(10), 3)
    same = who[:, None] == who
    values = np.random.default_rng(seed).uniform(0.5, 2, (30, 30)).round(3) - 0.5 * same
    return values, who, same


def scores_in(form, values, who, **how):
    """A whole matrix as it is, or as a list of its pairs."""
    if form == "matrix":
        return fk.score_matrix(values, who, who, same_images=False, **how)
    probe, reference = (side.ravel() for side in np.meshgrid(who, who, indexing="ij"))
    return fk.pairs(values.ravel(), probe_identity=probe, reference_identity=reference, **how)


@pytest.mark.parametrize("form", ["list", "matrix"])
@pytest.mark.filterwarnings("ignore:.*lie below the weight of one impostor pair")
def test_thresholds_of_distances_keep_their_sign(form):
    distance, who, same = distances()
    scores = scores_in(form, distance, who, distance=True)
    flipped = scores_in(form, -distance, who)
    options = dict(far=[0.05, 0.2], weighting="pair")
    ev, mirror = fk.evaluate(scores, **options), fk.evaluate(flipped, **options)
    rates = ev["empirical"]
    np.testing.assert_array_equal(rates.threshold, -mirror["empirical"].threshold)
    for far, threshold in zip(rates.far.values, rates.threshold.values):
        assert (distance[~same] < threshold).mean() == pytest.approx(far, abs=1e-12)
    fixed = fk.evaluate(scores, threshold=[1.2, 0.9], weighting="pair")["empirical"]
    expected = [(distance[same] >= threshold).mean() for threshold in (1.2, 0.9)]
    np.testing.assert_allclose(fixed.frr, expected, atol=1e-12)
    band, mirrored = (fk.band(tree, "threshold", target="new people") for tree in (ev, mirror))
    np.testing.assert_allclose([band.lower, band.upper], [-mirrored.upper, -mirrored.lower])


def test_distributions_are_those_of_distances():
    distance, who, same = distances()
    distance = distance + 0.0003  # on no edge of a bin
    scores = fk.score_matrix(distance, who, who, same_images=False, distance=True)
    options = dict(threshold=[0.9], weighting="pair", histogram=(6, (-0.5, 2.5)))
    rates = fk.evaluate(scores, **options)["empirical"]
    np.testing.assert_allclose(rates.score_bin, np.arange(6) / 2 - 0.25)
    for kind, which in (("impostor", ~same), ("genuine", same)):
        shares = np.histogram(distance[which], np.arange(7) / 2 - 0.5)[0] / which.sum()
        np.testing.assert_allclose(rates[f"{kind}_histogram"], shares, atol=1e-12)
        assert float(rates[f"{kind}_mean"]) == pytest.approx(distance[which].mean())
    nearer = np.mean(distance[same][:, None] < distance[~same])
    assert float(rates.auc) == pytest.approx(nearer, abs=0.01)


# --- failed comparisons ---
def test_failed_comparisons_are_counted_by_kind():
    table = [[-1.0, 0.2, 0.3], [-1.0, 0.5, np.nan]]
    with noticed("1 genuine and 2 impostor"):
        fk.score_matrix(table, ["a", "b"], ["a", "b", "c"], missing=-1)


@pytest.mark.parametrize("form", ["list", "matrix"])
@pytest.mark.parametrize("distance", [False, True])
def test_a_failure_counts_as_rejection_on_request(form, distance):
    value, who, same = distances()
    value = value if distance else -value
    failed = np.random.default_rng(1).uniform(size=value.shape) < 0.1
    options = dict(missing=99, failed="rejected", distance=distance)
    with noticed(f"{(failed & same).sum()} genuine", "rejected"):
        scores = scores_in(form, np.where(failed, 99, value), who, **options)
    thresholds = [1.1, 1.9] if distance else [-1.1, -1.9]
    rates = fk.evaluate(scores, threshold=thresholds, weighting="pair")["empirical"]
    for level, threshold in enumerate(thresholds):
        accepted = ~failed & ((value < threshold) if distance else (value > threshold))
        assert float(rates.far[level]) == pytest.approx(accepted[~same].mean(), abs=1e-12)
        assert float(rates.frr[level]) == pytest.approx(1 - accepted[same].mean(), abs=1e-12)
