"""What grows with the number of images: passes over the scores, and what memory holds while rates are resolved."""

import hashlib
import tracemalloc

import numpy as np
import pytest
from engine_cases import check_evaluation, people

import frkit as fk
from frkit.engine import pairs, pilot, rates
from frkit.engine.protocol import make_protocol

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
FAR = [1e-3, 1e-2, 0.1]
UNEQUAL = [2 + (index * 7) % 9 for index in range(40)]


def crowd(n, dim=16):
    """People of ten images in four groups, none of them sampled or compared yet; EERs are about .005."""
    rng = np.random.default_rng(0)
    groups = rng.choice(4, n // 10, p=[0.4, 0.3, 0.2, 0.1])
    rows = np.repeat(rng.normal(size=(n // 10, dim)), 10, axis=0) + 0.5 * rng.normal(size=(n, dim))
    identity = np.repeat([f"p{k:06d}" for k in range(n // 10)], 10)
    labels = np.repeat(np.array([*"abcd"])[groups], 10)
    return fk.score_tensor(fk.faces(rows.astype(np.float32), identity, group=labels))


def test_the_plan_of_many_images_keeps_all_that_it_wants(monkeypatch):
    """What is left out, or guessed from few people, costs more sweeps: 200,000 images took four times their share."""
    seen, looked_at, sample = [], [], pilot._patch
    monkeypatch.setattr(pilot, "_patch", lambda *given: looked_at.append(given[1]) or sample(*given))

    def noted(keep, pairs, limit):
        seen.append((pairs[keep].sum(), limit))
        return affordable(keep, pairs, limit)

    affordable = pilot._affordable
    monkeypatch.setattr(pilot, "_affordable", noted)
    scores = crowd(200_000)
    protocol = make_protocol(scores, "group", "error", None, "all", None)
    rates.plan_rates(scores, protocol, fk.far_levels(1e-7, 1e-3), np.empty(0))
    ((wanted, limit),) = seen
    assert wanted < limit, f"{wanted:.3g} pairs are wanted, {limit:.3g} may be kept"
    people_seen = np.unique(protocol.probe.person[np.concatenate(looked_at)])
    assert len(people_seen) > 0.5 * protocol.n_people, "the pilot's FARs are those of a few people"


@pytest.mark.parametrize(("scheme", "size", "width"), [("image", None, 1), ("subset", 3_000, 2)])
def test_counts_of_replicates_take_as_few_bytes_as_they_need(scheme, size, width):
    """Of 200,000 images they took 188 MB, now 144; what the provenance remembers of them is as ever."""
    how = fk.Resampling(scheme, n=3, seed=1, subset_size=size)
    protocol = make_protocol(crowd(60), "group", "error", None, "all", how)
    counts = how.weights(protocol.people.urn, protocol.people.names)
    digest = hashlib.sha256()
    for labels in (protocol.people.names, protocol.people.identity, protocol.people.group):
        digest.update("\n".join(labels.tolist()).encode())
    for name in ("image_count", "identity_count"):
        part = getattr(protocol, name)
        np.testing.assert_array_equal(part[1:], counts[name])
        digest.update(np.vstack([np.ones(part.shape[1], np.uint16), counts[name]]).tobytes())
    assert max(protocol.image_count.itemsize, protocol.identity_count.itemsize) == width
    assert protocol.image_count.itemsize == 1 and protocol.fingerprint == digest.hexdigest()[:32]


def nothing_kept(*_, **__):
    """A plan with twenty bins over all scores, of which no pair is kept."""
    return pilot.Ladder(-1.0, -np.inf, 100.0, (np.arange(201) // 10).astype(np.int16), np.zeros(21, bool))


@pytest.mark.parametrize("keeping", [True, False], ids=["kept", "fetched"])
@pytest.mark.parametrize("sizes", [[6] * 40, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("levels", [dict(far=FAR), dict(threshold=[0.2, 0.21, 0.5])], ids=["far", "threshold"])
def test_portions_of_one_bin_have_the_rates_of_the_twin(sizes, levels, keeping, monkeypatch):
    monkeypatch.setattr(pairs, "PORTION", 1)
    if not keeping:
        monkeypatch.setattr(pilot, "make_plan", nothing_kept)
    scores = fk.score_tensor(people(sizes, dim=20, groups=("f", "m", "x", "unknown", "m")), chunks=64)
    options = dict(by="gender", resampling=fk.Resampling("image", n=2), **levels)
    check_evaluation(fk.evaluate(scores, **options), scores, **options)


def peak_of_resolution(scores, monkeypatch):
    """Bytes that numpy holds at most while the table of rates is made, beyond what was there before."""

    def measured(*given):
        tracemalloc.start()
        table = make(*given)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        return table

    peaks, make = [], rates._table
    with monkeypatch.context() as patch:
        patch.setattr(rates, "_table", measured)
        table = fk.evaluate(scores, far=np.linspace(0.02, 0.5, 25), by="group", resampling=fk.Resampling(n=5))
    return peaks[0], table


def test_memory_does_not_grow_with_the_kept_pairs(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_PAIRS", 20_000)
    scores = crowd(1500)
    whole, table = peak_of_resolution(scores, monkeypatch)
    monkeypatch.setattr(pairs, "PORTION", 50_000)
    parts, same = peak_of_resolution(scores, monkeypatch)
    assert parts < 0.5 * whole, f"{parts / 1e6:.1f} MB in portions, {whole / 1e6:.1f} MB at once"
    for node in ("empirical", "replicates", "vstatistic"):
        for name, values in table[node].data_vars.items():
            np.testing.assert_array_equal(same[node][name].values, values.values, err_msg=name)
