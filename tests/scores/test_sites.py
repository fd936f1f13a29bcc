"""Kept pairs of several sites as one, against the list of all pairs within each site."""

import numpy as np
import pytest
import xarray as xr

import frkit as fk

FAR = [0.1, 0.3]
SITES = {"Oslo": 8, "Lima": 14, "Rome": 5}

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def faces():
    """Faces of three sites, with different numbers of people; two genders in each."""
    faces_of_sites = {}
    for seed, (site, n_people) in enumerate(SITES.items()):
        mixture = fk.vmf.mixture(n_people, 16, kappa=(5, 40), seed=seed)
        images = mixture.sample(3, seed=seed)
        identity = np.char.add(f"{site}-", images["identity"].values.astype(str))
        gender = np.where(np.unique(identity, return_inverse=True)[1] % 2, "female", "male")
        faces_of_sites[site] = fk.faces(
            images["embedding"].values,
            identity,
            gender=gender,
            image=[f"{site}/{i}" for i in range(len(identity))],
        )
    return faces_of_sites


@pytest.fixture(scope="module")
def merged(faces):
    kept = {site: fk.sweep(fk.score_tensor(images)) for site, images in faces.items()}
    return fk.merge_sites(kept)


@pytest.fixture(scope="module")
def listed(faces):
    """Every pair of images of one site, written down one by one."""
    rows = []
    for site, images in faces.items():
        score = fk.score_tensor(images).values
        identity, gender = images["identity"].values, images["gender"].values
        for i in range(len(identity)):
            for j in range(i):
                rows.append(
                    (
                        score[i, j],
                        identity[i],
                        identity[j],
                        gender[i],
                        gender[j],
                        site,
                        f"{site}/{i}",
                        f"{site}/{j}",
                    )
                )
    score, first, second, gender, other_gender, site, probe, reference = zip(*rows, strict=True)
    return fk.pairs(
        score,
        probe=probe,
        reference=reference,
        probe_identity=first,
        reference_identity=second,
        gender=(gender, other_gender),
        site=(site, site),
    )


def by_brute_force(listed, threshold):
    """FAR: mean over pairs of people of a site; FRR: mean over people."""
    table = listed.to_dataset().to_dataframe().reset_index()
    accepted = table["score"] > threshold
    people = [table["probe_identity"], table["reference_identity"]]
    genuine = table["probe_identity"] == table["reference_identity"]
    two = np.sort(np.array(people).astype(str), axis=0)
    far = accepted[~genuine].groupby([two[0][~genuine], two[1][~genuine]]).mean().mean()
    frr = (~accepted[genuine]).groupby(two[0][genuine]).mean().mean()
    return far, frr


def test_rates_are_those_of_pairs_within_sites(merged, listed):
    rates = fk.evaluate(merged, threshold=[0.3])["empirical"]
    far, frr = by_brute_force(listed, 0.3)
    assert rates["far"].item() == pytest.approx(far, abs=1e-12)
    assert rates["frr"].item() == pytest.approx(frr, abs=1e-12)


@pytest.mark.parametrize(
    ("by", "impostors", "weighting"),
    [
        (None, "all", "identity"),
        (None, {"gender": "same"}, "pair"),
        ("gender", "all", "identity"),
        ("gender", "all", "pair"),
        ("gender", "same-group", "identity"),
        ("site", "all", "identity"),
        ("site", {"gender": "other"}, "pair"),
    ],
)
def test_a_merged_tensor_equals_the_list_of_its_pairs(merged, listed, by, impostors, weighting):
    options = {"far": FAR, "by": by, "impostors": impostors, "weighting": weighting}
    from_tensor, from_list = (fk.evaluate(scores, **options) for scores in (merged, listed))
    xr.testing.assert_allclose(
        from_tensor["empirical"].to_dataset()[["far", "frr", "threshold"]].drop_attrs(),
        from_list["empirical"].to_dataset()[["far", "frr", "threshold"]].drop_attrs(),
    )
    for measure in ("far", "frr", "far_group", "frr_group")[: 2 if by is None else 4]:
        bands = [fk.band(evaluation, measure) for evaluation in (from_tensor, from_list)]
        for value in ("estimate", "lower", "upper"):
            np.testing.assert_allclose(bands[0][value], bands[1][value], rtol=1e-6, err_msg=measure)


@pytest.mark.parametrize("attribute", ["gender"])
@pytest.mark.parametrize("impostors", ["same", "other"])
def test_impostors_of_an_attribute_have_the_interval_of_their_own_pairs(
    faces, listed, attribute, impostors
):
    [images] = [images for site, images in faces.items() if site == "Lima"]
    is_lima = listed["probe_site"].values == "Lima"
    list_of_site = listed.to_dataset().isel(pair=is_lima)
    options = {"far": FAR, "impostors": {attribute: impostors}, "weighting": "identity"}
    from_tensor = fk.evaluate(fk.score_tensor(images), **options)
    from_list = fk.evaluate(xr.DataTree(list_of_site), **options)
    for value in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(
            fk.band(from_tensor, "far")[value], fk.band(from_list, "far")[value], rtol=1e-6
        )


def test_a_merged_list_equals_its_parts_written_as_one(listed):
    table = listed.to_dataset().drop_vars(["probe_site", "reference_site"])
    site = listed["probe_site"].values
    lists = {name: xr.DataTree(table.isel(pair=site == name)) for name in SITES}
    evaluations = [
        fk.evaluate(scores, far=FAR, by="site")["empirical"]
        for scores in (fk.merge_sites(lists), listed)
    ]
    xr.testing.assert_allclose(*evaluations)


def test_merged_pairs_are_stored_and_read(merged, tmp_path):
    merged.to_netcdf(tmp_path / "sites.nc")
    again = fk.open_data(tmp_path / "sites.nc")
    rates = [fk.evaluate(kept, far=FAR, by="site")["empirical"] for kept in (merged, again)]
    xr.testing.assert_identical(*rates)


def test_anonymous_sites_may_use_the_same_numbers(faces):
    named, anonymous = (
        fk.merge_sites(
            {
                site: fk.sweep(fk.score_tensor(images), anonymous=hidden)
                for site, images in faces.items()
            }
        )
        for hidden in (False, True)
    )
    rates = [fk.evaluate(kept, far=FAR)["empirical"].frr for kept in (named, anonymous)]
    xr.testing.assert_allclose(*rates)


def test_images_without_names_are_told_apart_by_their_site():
    sites = {}
    for seed, site in enumerate(SITES):
        faces = fk.vmf.mixture(6, 16, seed=seed).sample(3, seed=seed)
        identity = np.char.add(site, faces["identity"].values.astype(str))
        unnamed = fk.faces(faces["embedding"].values, identity)
        sites[site] = fk.sweep(fk.score_tensor(unnamed))
    assert fk.merge_sites(sites)["images"].sizes["image"] == 3 * 6 * 3


def test_a_person_in_two_sites_is_refused(faces):
    kept = fk.sweep(fk.score_tensor(faces["Oslo"]))
    with pytest.raises(fk.InputError, match="person are in 'a' and in 'b'"):
        fk.merge_sites({"a": kept, "b": kept})


@pytest.mark.parametrize("change", ["model", "attribute", "similarity", "design", "one", "taken"])
def test_sites_of_another_kind_are_refused(faces, listed, change):
    first = fk.sweep(fk.score_tensor(faces["Oslo"]))
    images = faces["Lima"]
    attribute = "site"
    second = fk.sweep(fk.score_tensor(images))
    if change == "model":
        second = fk.sweep(fk.score_tensor(fk.stack_models({"x": images, "y": images})))
    elif change == "attribute":
        second = fk.sweep(fk.score_tensor(images.drop_vars("gender")))
    elif change == "similarity":
        second = fk.sweep(fk.score_tensor(images, similarity="euclidean"))
    elif change == "design":
        second = listed
    elif change == "taken":
        attribute = "gender"
    sites = {"a": first} if change == "one" else {"a": first, "b": second}
    with pytest.raises(fk.InputError):
        fk.merge_sites(sites, attribute=attribute)


def test_pairs_across_sites_cannot_be_asked_for(merged):
    with pytest.raises(fk.InputError, match="were not compared"):
        fk.evaluate(merged, far=FAR, impostors={"site": "other"})
