"""Resampling schemes: what is drawn, from what, and that only seed and names decide it."""

import numpy as np
import pytest
from refusals import refused

import frkit as fk

IDENTITY = np.repeat(["ann", "bob", "cem", "dan", "eva", "fay"], [4, 2, 1, 3, 5, 2])
IMAGE = np.array([f"img{position:02d}" for position in range(len(IDENTITY))])
GROUP = {"ann": "f", "bob": "m", "cem": "m", "dan": "m", "eva": "f", "fay": "f"}
SCHEMES = ["image", "identity", "two-level", "double-or-nothing", "subset"]
N = 400


def draws(scheme, n=N, seed=0, **options):
    """Counts over the six identities."""
    return fk.Resampling(scheme, n=n, seed=seed, **options).weights(IDENTITY, image=IMAGE)


def inside(counts):
    """Sums of the image counts inside each identity, (replicate, identity)."""
    return np.stack(
        [counts.image_count.values[:, k == IDENTITY].sum(1) for k in np.unique(IDENTITY)], 1
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_images_are_drawn_within_their_identity(scheme):
    counts = draws(scheme)
    np.testing.assert_array_equal(inside(counts), np.tile([4, 2, 1, 3, 5, 2], (N, 1)))
    assert (counts.image_count.values == 1).all() == (scheme not in ("image", "two-level"))


def test_identity_counts_follow_the_scheme():
    assert (draws("image").identity_count == 1).all()
    for scheme in ("identity", "two-level", "subset"):
        assert (draws(scheme).identity_count.sum("identity") == 6).all()
    assert set(np.unique(draws("double-or-nothing").identity_count)) == {0, 2}
    assert (draws("subset", subset_size=3).identity_count.sum("identity") == 3).all()


@pytest.mark.parametrize(
    ("scheme", "variance"),
    [("identity", 5 / 6), ("two-level", 5 / 6), ("double-or-nothing", 1.0), ("subset", 5 / 6)],
)
def test_identities_are_drawn_evenly(scheme, variance):
    """Mean 1 and the variance of the draw, to five standard errors of 4,000 replicates."""
    c = draws(scheme, n=4000).identity_count.values.astype(float)
    np.testing.assert_allclose(c.mean(0), 1, atol=5 * np.sqrt(variance / 4000))
    np.testing.assert_allclose(c.var(0), variance, rtol=0.15)


@pytest.mark.parametrize("scheme", ["image", "two-level"])
def test_images_are_drawn_evenly_and_apart_from_other_identities(scheme):
    w = draws(scheme, n=4000).image_count.values.astype(float)
    n_k = np.array([np.sum(k == IDENTITY) for k in IDENTITY])
    np.testing.assert_allclose(w.mean(0), 1, atol=5 / np.sqrt(4000))
    np.testing.assert_allclose(w.var(0), 1 - 1 / n_k, rtol=0.2)
    varying = n_k > 1
    covariance = np.cov(w[:, varying].T)
    apart = IDENTITY[varying][:, None] != IDENTITY[varying]
    np.testing.assert_allclose(covariance[apart], 0, atol=5 / np.sqrt(4000))
    between = w[:, [0, 1]]  # two images of ann: covariance -1/n_k
    assert np.cov(between.T)[0, 1] == pytest.approx(-1 / 4, abs=5 / np.sqrt(4000))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_fewer_replicates_are_the_first_of_more(scheme):
    few, many = draws(scheme, n=20, seed=3), draws(scheme, n=100, seed=3)
    assert few.identical(many.isel(replicate=slice(20)))


@pytest.mark.parametrize("scheme", [*SCHEMES, "pair"])
def test_neighbouring_seeds_share_no_replicate(scheme):
    """A seed of seed + b would share them: an average over seeds would have fewer draws."""
    names = np.repeat([f"id{k:02d}" for k in range(40)], 3)
    drawn = [fk.Resampling(scheme, n=10, seed=seed).weights(names) for seed in range(4)]
    rows = np.vstack(
        [np.hstack([counts.identity_count.values, counts.image_count.values]) for counts in drawn]
    )
    assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_image_order_does_not_matter(scheme):
    order = np.random.default_rng(0).permutation(len(IDENTITY))
    plain = draws(scheme, n=30)
    moved = fk.Resampling(scheme, n=30).weights(IDENTITY[order], image=IMAGE[order])
    np.testing.assert_array_equal(moved.identity_count, plain.identity_count)
    np.testing.assert_array_equal(moved.image_count, plain.image_count.values[:, order])


@pytest.mark.parametrize("scheme", ["identity", "two-level", "subset"])
def test_strata_keep_group_sizes(scheme):
    groups = np.array([GROUP[k] for k in IDENTITY])
    resampling = fk.Resampling(scheme, n=50, strata="gender")
    c = resampling.weights(IDENTITY, image=IMAGE, strata=groups).identity_count
    female = np.array([GROUP[k] == "f" for k in c.identity.values])
    assert (c.values[:, female].sum(1) == 3).all() and (c.values[:, ~female].sum(1) == 3).all()
    without = draws(scheme, n=50).identity_count.values[:, female].sum(1)
    assert (without != 3).any()


@pytest.mark.parametrize("scheme", ["identity", "two-level", "double-or-nothing", "subset"])
def test_split_identities_of_a_person_are_drawn_together(scheme):
    identity = np.array(["ann|20", "ann|20", "ann|30", "ann|30", "bob|20", "cem|30", "cem|30"])
    person = np.array([k.split("|")[0] for k in identity])
    c = fk.Resampling(scheme, n=60).weights(identity, person=person).identity_count
    np.testing.assert_array_equal(c.sel(identity="ann|20"), c.sel(identity="ann|30"))
    people = c.sel(identity=["ann|20", "bob|20", "cem|30"])
    assert scheme == "double-or-nothing" or (people.sum("identity") == 3).all()
    assert (people.sel(identity="bob|20").values != people.sel(identity="cem|30").values).any()


def test_labels_that_do_not_fit_are_refused():
    with refused("image", 2, 3):
        fk.Resampling("image", n=2).weights(["a", "a", "b"], image=["x", "y"])
    draws = fk.Resampling("identity", n=2, strata="age")
    with refused("strata", "images [0]"):
        draws.weights(["a", "a", "b"], strata=["20", "30", "20"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(scheme="jackknife"), "jackknife"),
        (dict(n=1), "n"),
        (dict(n=10**7), "n=10,000,000"),
        (dict(seed=-1), "-1"),
        (dict(subset_size=3), "subset_size"),
        (dict(scheme="pair", strata="gender"), "strata"),
        (dict(scheme="subset", subset_size=0), "subset_size"),
    ],
)
def test_bad_schemes_are_refused_in_words(options, message):
    with refused(message):
        fk.Resampling(**options)


def test_the_pair_scheme_draws_within_each_kind():
    kind = np.array(["genuine"] * 30 + ["impostor"] * 50)
    drawn = fk.Resampling("pair", n=20, seed=3).weights(kind)
    counts = drawn.image_count.values
    assert (counts[:, :30].sum(1) == 30).all() and (counts[:, 30:].sum(1) == 50).all()
    assert counts.max() > 2 and (drawn.identity_count == 1).all()
    assert "too narrow" in drawn.attrs["target"]
