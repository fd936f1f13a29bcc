"""Questions that people bring, each answered again in a few lines of NumPy."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from paths import REAL_DATA

import frkit as fk

LFW = {name: REAL_DATA / f"lfw158_{name.lower()}.npz" for name in ("FaceNet", "InsightFace")}
RFW = REAL_DATA / "rfw_pairs_l2.csv.gz"
FAR = [1e-2, 1e-3]

pytestmark = [
    pytest.mark.usefixtures("brief_reports"),
    pytest.mark.slow,
    pytest.mark.skipif(not REAL_DATA.is_dir(), reason="the real data are not beside this checkout"),
    pytest.mark.filterwarnings("ignore::frkit.DataWarning"),
]


@cache
def all_pairs(name):
    """Scores of all pairs of images, and labels, by NumPy alone."""
    with np.load(LFW[name]) as file:
        x, who, gender = file["embedding"].astype(float), file["identity"], file["gender"]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    row, col = np.triu_indices(len(x), 1)
    return (x @ x.T)[row, col], who[row], who[col], gender[row], gender[col]


def threshold_at(impostor, far):
    """The smallest impostor score that no more than a share of them exceeds."""
    ordered = np.sort(impostor)
    return ordered[int(np.ceil(len(ordered) * (1 - far) - 1e-9)) - 1]


def frr_at(name, far):
    score, a, b, *_ = all_pairs(name)
    return np.mean(score[a == b] <= threshold_at(score[a != b], far))


@cache
def quick_report():
    return fk.report(LFW, by="gender", far=FAR, quick=True, progress=False)


def test_1_which_encoder_is_better_and_how_sure():
    report = quick_report()
    assert "FaceNet is better than InsightFace" in report.sections["models"].tiles[0].text
    for target, largest_p in (("new people", 0.01), ("these people", 0.001)):
        difference = report.results["models", f"frr, {target}"].isel(contrast=0)
        for far in FAR:
            by_hand = frr_at("FaceNet", far) - frr_at("InsightFace", far)
            assert float(difference.estimate.sel(far_level=far)) == pytest.approx(by_hand, abs=2e-4)
        assert float(difference.p.max()) <= largest_p
    rng, (score, a, b, *_) = np.random.default_rng(0), all_pairs("FaceNet")
    # FRR of drawn people at the threshold of all: as wide as the interval, without its threshold
    people = np.unique(a)
    rejected = score <= threshold_at(score[a != b], 1e-3)
    frr = np.array([np.mean(rejected[(a == b) & (a == person)]) for person in people])
    drawn = np.std([rng.choice(frr, len(frr)).mean() for _ in range(2000)])
    band = report.results["errors", "frr, new people"].sel(model="FaceNet", far_level=1e-3)
    assert 2 * 1.96 * drawn < float(band.upper - band.lower) < 4 * 1.96 * drawn


def test_3_who_drives_the_errors():
    report = quick_report()
    shares = report.tables["False rejects of FaceNet at FAR 0.001"]
    score, a, b, *_ = all_pairs("FaceNet")
    lost = pd.Series(a[(a == b) & (score <= threshold_at(score[a != b], 1e-3))])
    share = lost.value_counts(normalize=True)
    assert shares.index[0] == share.index[0]
    assert shares["share in the FRR"].tolist() == [f"{each:.1%}" for each in share.head(10)]


def test_4_how_many_more_people():
    faces = fk.open_data(LFW["FaceNet"])
    plan = fk.studies.sample_size(faces, "relative_half_width", 0.2, far=1e-3)
    score, a, b, *_ = all_pairs("FaceNet")
    names, code = np.unique(np.concatenate([a, b]), return_inverse=True)
    first, second = np.split(code, 2)
    genuine = first == second
    frr = []
    for person in range(len(names)):  # who is left out, the threshold set anew
        others = (first != person) & (second != person)
        impostors = score[others & ~genuine]
        place = len(impostors) - 1 - int(1e-3 * len(impostors))
        threshold = np.partition(impostors, place)[place]
        frr.append(np.mean(score[others & genuine] <= threshold))
    jackknife = np.sqrt((len(names) - 1) * np.var(frr))
    by_hand = len(names) * (1.96 * jackknife / (0.2 * frr_at("FaceNet", 1e-3))) ** 2
    assert int(plan.n_identities) == pytest.approx(by_hand, rel=0.25)
    assert "people like these, with as many images each" in plan.answer.item()


def test_5_which_race_has_the_highest_far_and_is_it_significant():
    report = fk.report(RFW, by="ethnicity", far=[1e-2], quick=True, progress=False)
    (groups,) = [tile for tile in report.tiles if tile.title == "Do groups differ in FAR?"]
    assert groups.text.startswith("“African” is falsely accepted") and "(p < 0.001)" in groups.text
    table = pd.read_csv(RFW)
    impostor = table[table.label == 0]
    threshold = threshold_at(-impostor.dist.to_numpy(), 1e-2)
    rates = (-impostor.dist > threshold).groupby(impostor.ethnicity).mean()
    estimates = report.results["groups", "far_group"].estimate.isel(far_level=0).to_series()
    np.testing.assert_allclose(estimates, rates[estimates.index], atol=1e-9)
    n = impostor.ethnicity.value_counts()
    # pairs as if independent: 5 standard errors apart and more
    for race in ("Asian", "Caucasian", "Indian"):
        p = (rates["African"] * n["African"] + rates[race] * n[race]) / (n["African"] + n[race])
        error = np.sqrt(p * (1 - p) * (1 / n["African"] + 1 / n[race]))
        assert rates["African"] - rates[race] > 5 * error
