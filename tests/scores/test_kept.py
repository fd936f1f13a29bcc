"""Kept pairs that were changed after the sweep are refused; labels and models may be chosen."""

import pickle
import shutil

import h5py
import numpy as np
import pytest
import xarray as xr
from refusals import refused

import frkit as fk

FAR = [0.1, 0.3]
OPTIONS = {"far": FAR, "by": "gender"}
NAMES = ["model", "a/b", "a%2Fb", "..", ".", "it's one", "größe ☃", "images"]

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


def faces_of(seed=1):
    """Six people with three images each."""
    faces = fk.vmf.mixture(6, 8, seed=0).sample(3, seed=seed)
    return faces.assign_coords(gender=("image", np.repeat(["f", "m"], 9)))


FACES = faces_of()
MODELS = {"one": FACES, "two": FACES.assign(embedding=FACES.embedding.roll(feature=1) ** 3)}


def kept_of(design):
    """Kept pairs of each form."""
    scores = fk.score_tensor(fk.open_data(MODELS) if design == "models" else FACES)
    if design == "rectangle":
        scores = scores.isel(probe=slice(0, 12), reference=slice(2, None)).assign_attrs(symmetric=0)
    return fk.sweep(scores)


def changed(value):
    """Another value of the same kind."""
    if isinstance(value, (str, bytes)):
        return value + type(value)(b"?" if isinstance(value, bytes) else "?")
    return 1 - value if value in (0, 1) else np.nan_to_num(value) + 1


def assert_refused(path):
    """A changed file is refused with its name and what to do."""
    with pytest.raises(fk.InputError, match=rf"{path.name}.*fk\.sweep\(scores\)"):
        fk.open_data(path)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["tensor", "rectangle", "models"])
def test_a_file_of_which_any_variable_or_number_was_changed_is_refused(design, tmp_path):
    kept_of(design).to_netcdf(tmp_path / "kept.nc")
    path = tmp_path / "changed.nc"
    n_refused = 0
    with h5py.File(tmp_path / "kept.nc") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if hasattr(item, "dtype") else None)
        groups = [name.rpartition("/")[0] for name in names if name.endswith("/score")]
        places = [(name, None) for name in names if name != "images/gender"]
        places += [(group, number) for group in groups for number in file[group].attrs]
    places += [("/", number) for number in ("design", "distance", "form")]
    for name, number in places:
        if name.rpartition("/")[2] in ("image", "pair") and not name.startswith("images"):
            continue  # the length of a dimension
        shutil.copy(tmp_path / "kept.nc", path)
        with h5py.File(path, "r+") as file:
            if number is None:
                file[name][0] = changed(file[name][0])
            else:
                file[name].attrs[number] = changed(file[name].attrs[number])
        assert_refused(path)
        n_refused += 1
    assert n_refused == {"tensor": 20, "rectangle": 22, "models": 36}[design]


@pytest.mark.parametrize("design", ["probes with references", "a list of pairs"])
def test_another_design_in_a_file_is_refused(design, tmp_path):
    kept = kept_of("tensor")
    kept.attrs["design"] = design
    kept.to_netcdf(tmp_path / "kept.nc")
    assert_refused(tmp_path / "kept.nc")


SHUFFLED = np.random.default_rng(0).permutation(FACES.sizes["image"])


def with_images(kept, images):
    """Kept pairs with another table of images."""
    return kept.assign({"images": xr.DataTree(images)})


CHANGES = {
    "permuted images": lambda kept: kept.isel(image=SHUFFLED),
    "people exchanged": lambda kept: kept.isel(image=np.roll(np.arange(18), 3)),
    "some images": lambda kept: kept.isel(image=slice(0, 9)),
    "sorted table": lambda kept: with_images(
        kept, kept["images"].dataset.sortby("image", ascending=False)
    ),
    "some pairs": lambda kept: kept.isel(pair=slice(0, 50)),
    "permuted pairs": lambda kept: kept.isel(pair=slice(None, None, -1)),
    "permuted table": lambda kept: with_images(kept, kept["images"].dataset.isel(image=SHUFFLED)),
    "merged people": lambda kept: with_images(
        kept, kept["images"].dataset.assign(identity=("image", np.repeat(["p", "q"], 9)))
    ),
    "place out of range": lambda kept: kept.map_over_datasets(
        lambda node: node.assign(probe_image=node.probe_image + 18) if "score" in node else node
    ),
    "no number of pairs": lambda kept: kept.map_over_datasets(
        lambda node: node.drop_vars("stands_for", errors="ignore")
    ),
    "no table": lambda kept: kept.drop_nodes("images"),
    "other table": lambda kept: with_images(
        kept, kept["images"].dataset.assign_coords(image=[f"i{k}" for k in range(18)])
    ),
}


@pytest.mark.parametrize("design", ["tensor", pytest.param("models", marks=pytest.mark.slow)])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_parts_permutations_and_edits_are_refused(change, design):
    kept = change(kept_of(design))
    for question in (fk.evaluate, fk.sweep, fk.errors_by_person, fk.verification_metrics):
        with refused("fk.sweep"):
            question(kept)


def test_scores_changed_in_place_are_refused():
    kept = kept_of("tensor")
    fk.evaluate(kept, far=FAR)
    kept["pairs"]["score"].values[3] -= 0.5
    with refused("fk.sweep"):
        fk.evaluate(kept, far=FAR)


def test_pairs_of_another_sweep_are_refused():
    other = fk.sweep(fk.score_tensor(FACES.assign_coords(image=FACES.image.values[::-1])))
    kept = kept_of("tensor").assign(pairs=other["pairs"].copy())
    with refused("fk.sweep"):
        fk.evaluate(kept, far=FAR)


def test_models_with_new_names_are_refused():
    kept = kept_of("models").map_over_datasets(
        lambda node: node.assign_coords(model=["one", "three"]) if "model" in node.dims else node
    )
    with refused("three"):
        fk.evaluate(kept, far=FAR)


@pytest.mark.slow
def test_labels_may_be_added_replaced_renamed_and_removed(tmp_path):
    kept = kept_of("tensor")
    labels = np.resize(["x", "y", "y"], 18)
    images = kept["images"].dataset
    of_people = np.repeat(["x", "y", "x"], 6)
    added = with_images(kept, images.assign(site=("image", of_people)))
    replaced = with_images(kept, images.assign(gender=("image", of_people)))
    renamed = with_images(kept, images.rename(gender="site").assign(site=("image", of_people)))
    removed = with_images(kept, images.drop_vars("gender"))
    before = fk.score_tensor(FACES.assign_coords(site=("image", of_people)))
    right = fk.evaluate(before, far=FAR, by="site")["empirical"]
    for data, by in ((added, "site"), (replaced, "gender"), (renamed, "site")):
        data.to_netcdf(tmp_path / f"{by}.nc")
        for each in (data, fk.open_data(tmp_path / f"{by}.nc")):
            rates = fk.evaluate(each, far=FAR, by=by)["empirical"]
            np.testing.assert_array_equal(rates.frr_group, right.frr_group)
            np.testing.assert_array_equal(rates.far_group, right.far_group)
        (tmp_path / f"{by}.nc").unlink()
    np.testing.assert_array_equal(fk.evaluate(removed, far=FAR)["empirical"].frr, right.frr)
    with refused("site"):
        varying = with_images(kept, images.assign(site=("image", labels)))
        fk.evaluate(varying, far=FAR, by="site")


@pytest.mark.slow
@pytest.mark.parametrize("design", ["tensor", "rectangle", "models"])
def test_kept_pairs_travel(design, tmp_path):
    kept = kept_of(design)
    right = fk.evaluate(kept, **OPTIONS)["empirical"]
    copies = [pickle.loads(pickle.dumps(kept)), kept.copy(deep=True)]
    kept.to_netcdf(tmp_path / "kept.nc")
    copies.append(fk.open_data(tmp_path / "kept.nc"))
    copies.append(xr.open_datatree(tmp_path / "kept.nc", engine="h5netcdf"))
    for copy in copies:
        copy["pairs"].attrs["note"] = "attributes may be added"
        xr.testing.assert_equal(fk.evaluate(copy, **OPTIONS)["empirical"].dataset, right.dataset)
    copies[-1].close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::Warning")  # Zarr says that its form of text may change
def test_kept_pairs_travel_by_zarr(tmp_path):
    pytest.importorskip("zarr")
    kept = kept_of("models")
    kept.to_zarr(tmp_path / "kept.zarr")
    rates = [
        fk.evaluate(each, **OPTIONS)["empirical"].dataset
        for each in (kept, fk.open_data(tmp_path / "kept.zarr"))
    ]
    xr.testing.assert_equal(*rates)


def test_rows_of_a_list_may_be_selected():
    row, col = np.triu_indices(18, 1)
    who = FACES.identity.values
    score = np.round(np.random.default_rng(0).normal(size=len(row)) + 2 * (who[row] == who[col]), 6)
    listed = fk.pairs(score, probe_identity=who[row], reference_identity=who[col])
    part = np.random.default_rng(1).permutation(len(row))[:100]
    selected = fk.evaluate(listed.isel(pair=part), far=FAR)["empirical"]
    same = who[row[part]] == who[col[part]]
    for far, threshold, frr in zip(FAR, selected.threshold.values, selected.frr.values):
        assert (score[part][~same] > threshold).mean() <= far
        assert frr == pytest.approx((score[part][same] <= threshold).mean(), abs=1e-12)


# --- lists ---------------------------------------------------------------------------------------

SIDES = ("probe", "reference")


def columns_of_list(n=400, named=True):
    """Pairs of 48 images of 12 people; ages vary within images, and sites belong to pairs."""
    rng = np.random.default_rng(3)
    sides = rng.integers(0, 48, (2, n))
    sides[1, : n // 3] = sides[0, : n // 3] // 4 * 4 + rng.integers(0, 4, n // 3)
    sides = rng.permutation(np.unique(sides, axis=1), axis=1)
    n = sides.shape[1]
    genuine = sides[0] // 4 == sides[1] // 4
    columns = {"score": np.round(rng.normal(size=n) + 1.5 * genuine, 2), "genuine": genuine}
    if named:
        for side, places in zip(SIDES, sides):
            columns[side] = np.array([f"image {place:02d}" for place in places])
            columns[f"{side}_identity"] = np.array([f"person {place // 4}" for place in places])
    ages = rng.choice(["young", "old", None], (2, n), p=[0.5, 0.3, 0.2])
    columns["gender"] = tuple(np.where(places // 4 % 2, "f", "m") for places in sides)
    columns["age"] = tuple(ages)
    columns["site"] = rng.choice(["x", "y"], n), None
    return columns


def listed(columns, part=slice(None)):
    """A list of some of the pairs."""
    some = {
        name: tuple(side if side is None else side[part] for side in column)
        if isinstance(column, tuple)
        else column[part]
        for name, column in columns.items()
    }
    return fk.pairs(**some)


def test_a_list_is_a_table_of_images_and_places_in_it():
    columns = columns_of_list()
    kept = listed(columns)
    images = kept["images"].to_dataset()
    rows = images.to_dataframe().reset_index()
    assert rows.equals(rows.drop_duplicates().sort_values([*rows]))  # each once, in order
    of_side = {"image": "", "identity": "_identity"}
    for number, side in enumerate(SIDES):
        table = rows.iloc[kept["pairs"][f"{side}_image"].values]
        for name, ending in of_side.items():
            np.testing.assert_array_equal(table[name], columns[side + ending])
        np.testing.assert_array_equal(table.gender, columns["gender"][number])
        known = columns["age"][number] != None  # noqa: E711
        np.testing.assert_array_equal(table.age[known], columns["age"][number][known])
        assert set(table.age[~known]) == {"unknown"}
        np.testing.assert_array_equal(table.site, columns["site"][0])


RULES = {
    "own labels": {"by": "age"},
    "first": {"by": "age", "varying": "first"},
    "most frequent": {"by": "age", "varying": "most frequent"},
    "crossed": {"by": ["gender", "site"]},
    "same": {"by": "gender", "impostors": "same-group"},
    "drawn": {"by": "gender", "resampling": fk.Resampling("image", n=3)},
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("named", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_selected_pairs_are_those_of_a_list_of_them_alone(named, rule):
    """Also in another order; images, people and labels without a pair count no longer."""
    options = {"far": FAR} | RULES[rule]
    if not named:
        options.pop("resampling", None)
    columns = columns_of_list(named=named)
    part = np.random.default_rng(1).permutation(250)[:90]
    selected = fk.evaluate(listed(columns).isel(pair=part), **options)
    alone = fk.evaluate(listed(columns, part), **options)
    xr.testing.assert_identical(selected, alone)
    assert selected.attrs["provenance"] == alone.attrs["provenance"]


@pytest.mark.parametrize("named", [True, False])
def test_lists_are_compared_by_their_pairs(named):
    """In any order where pairs have names, and beside labels that only one of them has."""
    columns = columns_of_list(named=named)
    other = columns | {"score": columns["score"][::-1].copy()}
    order = np.arange(len(columns["score"]))
    if named:
        order = np.random.default_rng(2).permutation(order)
    del other["age"]
    evaluation = fk.evaluate(listed(columns), far=FAR)
    right = fk.compare(evaluation, fk.evaluate(listed(other), far=FAR), "frr")
    compared = fk.compare(evaluation, fk.evaluate(listed(other, order), far=FAR), "frr")
    xr.testing.assert_allclose(compared, right)
    changed = other | {"genuine": np.roll(columns["genuine"], 1)}
    if named:
        changed = other | {name: np.char.replace(other[name], "person 3", "x") for name in WHO}
    with refused("images"):
        fk.compare(evaluation, fk.evaluate(listed(changed), far=FAR), "frr")


WHO = ("probe_identity", "reference_identity")


def with_pairs(kept, **columns):
    """A list with other columns of its pairs."""
    pairs = kept["pairs"].to_dataset().assign(columns)
    return kept.assign({"pairs": xr.DataTree(pairs)})


def genders(kept):
    """Labels of the probes of a list."""
    return xr.Variable("pair", kept["images"].gender.values[kept["pairs"].probe_image])


EDITS = {
    "labels at the root": lambda kept: kept.assign(probe_gender=genders(kept)),
    "scores at the root": lambda kept: kept.assign(score=-kept["pairs"].score),
    "labels of pairs": lambda kept: with_pairs(kept, probe_gender=genders(kept)),
    "no verdicts": lambda kept: kept.assign(
        {"pairs": xr.DataTree(kept["pairs"].to_dataset().drop_vars("genuine"))}
    ),
    "permuted table": lambda kept: kept.isel(image=slice(None, None, -1)),
    "no table": lambda kept: kept.drop_nodes("images"),
}
OF_NAMES = {
    "some images": lambda kept: kept.isel(image=slice(0, 9)),
    "merged people": lambda kept: with_images(
        kept, kept["images"].to_dataset().assign(identity=kept["images"].identity.str.slice(0, 8))
    ),
    "no people": lambda kept: with_images(kept, kept["images"].to_dataset().drop_vars("identity")),
}


@pytest.mark.parametrize("edit", EDITS | OF_NAMES)
@pytest.mark.parametrize("named", [True, False])
def test_edits_of_a_list_that_would_not_be_read_are_refused(edit, named):
    if edit in OF_NAMES and not named:
        pytest.skip("nobody has a name")
    kept = (EDITS | OF_NAMES)[edit](listed(columns_of_list(named=named)))
    for question in (fk.evaluate, fk.sweep, fk.verification_metrics):
        with pytest.raises(fk.InputError, match=r"kept\['images'\]|open the list again"):
            question(kept)


def test_labels_and_scores_of_a_list_may_be_changed():
    columns = columns_of_list()
    kept = listed(columns)
    images = kept["images"].to_dataset()
    other = images.assign(gender=("image", np.where(images.gender == "f", "w", "m")))
    genders = tuple(np.where(side == "f", "w", "m") for side in columns["gender"])
    right = listed(columns | {"gender": genders, "score": 2 * columns["score"]})
    changed = with_pairs(with_images(kept, other), score=2 * kept["pairs"].score)
    options = {"far": FAR, "by": "gender"}
    xr.testing.assert_identical(fk.evaluate(changed, **options), fk.evaluate(right, **options))


@pytest.mark.slow
@pytest.mark.parametrize("models", [None, ["one", "two"]])
@pytest.mark.parametrize("named", [True, False])
def test_a_list_travels(named, models, tmp_path):
    columns = columns_of_list(named=named)
    if models:
        columns |= {"score": np.stack([columns["score"], columns["score"] ** 3]), "model": models}
    kept = fk.pairs(**columns)
    kept.to_netcdf(tmp_path / "list.nc")
    options = {"far": FAR, "by": ["gender", "site"]}
    right = fk.evaluate(kept, **options)
    for copy in (fk.open_data(tmp_path / "list.nc"), pickle.loads(pickle.dumps(kept))):
        again = fk.evaluate(copy, **options)
        xr.testing.assert_identical(again, right)
        assert again.attrs["provenance"] == right.attrs["provenance"]


# --- names of models -----------------------------------------------------------------------------


@pytest.mark.slow
def test_models_may_have_any_name(tmp_path):
    embedding = FACES.embedding
    models = {
        name: FACES.assign(embedding=embedding.roll(feature=place) ** 3)
        for place, name in enumerate(NAMES)
    }
    scores = fk.score_tensor(fk.open_data(models))
    kept = fk.sweep(scores)
    kept.to_netcdf(tmp_path / "kept.nc")
    right = [
        fk.evaluate(fk.score_tensor(faces), far=FAR)["empirical"].frr for faces in models.values()
    ]
    for data in (scores, kept, fk.open_data(tmp_path / "kept.nc")):
        rates = fk.evaluate(data, far=FAR)["empirical"]
        assert rates.model.values.tolist() == NAMES
        np.testing.assert_array_equal(rates.frr.transpose("model", ...), right)
    comparison = fk.compare(fk.evaluate(kept.isel(model=[0, 1]), far=FAR), "frr")
    difference = abs(comparison.estimate.values.ravel())
    np.testing.assert_allclose(difference, abs(right[0] - right[1]), atol=1e-12)


def test_models_may_be_selected_and_reordered():
    kept = kept_of("models")
    right = fk.evaluate(kept, far=FAR)["empirical"].frr
    turned = fk.evaluate(kept.isel(model=[1, 0]), far=FAR)["empirical"].frr
    np.testing.assert_array_equal(turned, right.isel(model=[1, 0]))
    assert turned.model.values.tolist() == ["two", "one"]
    for model in ("one", "two"):
        alone = fk.evaluate(kept.sel(model=model), far=FAR)["empirical"].frr
        np.testing.assert_array_equal(alone, right.sel(model=model))


@pytest.mark.parametrize("names", [["", "b"], ["a", "a"], [None, "b"]])
def test_models_without_a_name_of_their_own_are_refused(names):
    scores = fk.score_tensor(fk.open_data(MODELS)).assign_coords(model=names)
    for question in (fk.evaluate, fk.sweep):
        with refused("model"):
            question(scores)


def test_numbers_that_name_models_are_text():
    scores = fk.score_tensor(fk.open_data(MODELS))
    dims = "model", "threshold_level"
    threshold = xr.DataArray([[0.9], [0.99]], {"model": ["one", "two"]}, dims)
    right = fk.evaluate(scores, threshold=threshold)["empirical"].frr
    numbered = scores.assign_coords(model=[1, 2])
    threshold = threshold.assign_coords(model=[1, 2])
    rates = fk.evaluate(numbered, threshold=threshold)["empirical"].frr
    np.testing.assert_array_equal(rates, right)
    assert rates.model.values.tolist() == ["1", "2"]
    assert right.values[0] != right.values[1]
