"""Files in: each format comes back as it was written, and what does not fit is refused by name and line."""

import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frkit.base import DataWarning, InputError
from frkit.data.dataset import faces, stack_models
from frkit.data.opening import open_faces

SHARED = Path(__file__).parents[2] / "shared" / "data"
IDENTITY = ["anna", "anna", "bo", "bo", "çy"]
GENDER = ["f", "f", "m", "m", "unknown"]
AGE = ["20", "30", "20", "20", "30"]


def embedding(n_features=3, seed=0):
    return np.random.default_rng(seed).normal(size=(5, n_features)).astype(np.float32)


def one_encoder(n_features=3):
    return faces(
        embedding(n_features),
        IDENTITY,
        image=list("vwxyz"),
        gender=GENDER,
        age=AGE,
        varying={"age": "keep"},
    )


def two_encoders():
    return stack_models({"A": one_encoder(), "B": one_encoder(5)})


def split_identities():
    return faces(embedding(), IDENTITY[:3] + ["bo", "anna"], age=AGE, varying="split")


CASES = {"plain": one_encoder, "stacked": two_encoders, "split": split_identities}


def as_arrays(ds):
    columns = {name: ds[name].values for name in [*ds.coords, "embedding"]}
    return columns | {"image_attributes": [name for name in ds.coords if ds[name].attrs]}


def write_zarr(ds, path):
    pytest.importorskip("zarr")
    from zarr.errors import UnstableSpecificationWarning

    folder = path.with_suffix("") if path.suffix == ".zip" else path
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UnstableSpecificationWarning
        )  # Zarr 3 has no final word on text yet
        ds.to_zarr(folder, consolidated=False)
    if path.suffix == ".zip":
        shutil.make_archive(str(folder), "zip", folder)


def write_parquet(ds, path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({name: ds[name].values for name in ds.coords})
    frame["embedding"] = list(ds.embedding.values)
    frame.to_parquet(path)


def write_table(ds, path):
    numbers = pd.DataFrame(ds.embedding.values).add_prefix("f")
    frame = pd.concat(
        [pd.DataFrame({name: ds[name].values for name in ds.coords}), numbers], axis=1
    )
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.replace("unknown", "NA").to_csv(path, sep="\t" if ".tsv" in path.name else ",")


def write_npy(ds, path):
    np.save(path, ds.embedding.values)
    pd.DataFrame({name: ds[name].values for name in ds.coords}).to_csv(
        path.with_suffix(".csv"), index=False
    )


def write_mat(ds, path):
    from scipy.io import savemat

    cells = {name: np.array(ds[name].values, object)[:, None] for name in ds.coords}
    savemat(path, cells | {"embedding": ds.embedding.values, "age": np.array(AGE, float)})


def write_mat73(ds, path):
    """What MATLAB writes with -v7.3: axes reversed, cells as references, text as UTF-16 units."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in [("embedding", ds.embedding.values.T), ("age", np.array([AGE], float))]:
            file.create_dataset(name, data=values).attrs["MATLAB_class"] = np.bytes_("double")
        for name in ("identity", "gender"):
            refs = [
                _char(file, f"#refs#/{name}{k}", word) for k, word in enumerate(ds[name].values)
            ]
            cell = file.create_dataset(name, data=np.array([refs], h5py.ref_dtype))
            cell.attrs["MATLAB_class"] = np.bytes_("cell")
        image = np.array([[ord(word) for word in ds.image.values]], np.uint16)
        file.create_dataset("image", data=image).attrs["MATLAB_class"] = np.bytes_("char")


def _char(file, name, word):
    if word == "unknown":  # an empty cell, which MATLAB stores as its size, of class double
        item = file.create_dataset(name, data=np.zeros(2, np.uint64))
        item.attrs["MATLAB_empty"] = np.uint8(1)
    else:
        item = file.create_dataset(
            name, data=np.array([[ord(letter)] for letter in word], np.uint16)
        )
    item.attrs["MATLAB_class"] = np.bytes_("double" if word == "unknown" else "char")
    return item.ref


def check_same(back, ds):
    """Everything comes back; images that were only numbered have names from then on."""
    for one in (back, ds):
        one.image.attrs.pop("numbered", None)
    xr.testing.assert_identical(back, ds)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["faces.nc", "faces.zarr", "faces.zarr.zip", "faces.npz"])
def test_any_faces_dataset_comes_back(tmp_path, case, name):
    ds, path = CASES[case](), tmp_path / name
    if name.endswith("npz"):
        np.savez(path, **as_arrays(ds))
    elif name.endswith("nc"):
        ds.to_netcdf(path)
    else:
        write_zarr(ds, path)
    back = open_faces(path)
    check_same(back, ds)
    assert back.embedding.dtype == np.float32


WRITERS = {
    "faces.csv": write_table,
    "faces.csv.gz": write_table,
    "faces.tsv": write_table,
    "wide.parquet": write_table,
    "lists.parquet": write_parquet,
    "faces.npy": write_npy,
    "five.mat": write_mat,
    "seven.mat": write_mat73,
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_and_matlab_files_come_back(tmp_path, name):
    ds, path = one_encoder(), tmp_path / name
    WRITERS[name](ds, path)
    xr.testing.assert_identical(open_faces(path, varying={"age": "keep"}), ds)


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_both_netcdf_formats_are_read(tmp_path, engine):
    one_encoder().to_netcdf(tmp_path / "faces.nc", engine=engine)
    xr.testing.assert_identical(open_faces(tmp_path / "faces.nc"), one_encoder())


def test_the_order_of_stored_dimensions_does_not_matter(tmp_path):
    two_encoders().transpose("feature", "image", "model").to_netcdf(tmp_path / "faces.nc")
    xr.testing.assert_identical(open_faces(tmp_path / "faces.nc"), two_encoders())


def test_an_identity_is_one_person(tmp_path):
    np.savez(tmp_path / "f.npz", embedding=embedding(), identity=IDENTITY, person=list("abccc"))
    with pytest.raises(
        InputError, match="'person' varies within 1 of 3 identities; the first is 'anna'"
    ):
        open_faces(tmp_path / "f.npz")


def test_version_5_char_matrices_are_padded_text(tmp_path):
    from scipy.io import savemat

    savemat(
        tmp_path / "f.mat",
        {"features": embedding(), "label": ["anna", "anna ", "bo  ", "bo  ", "cy  "]},
    )
    assert open_faces(tmp_path / "f.mat").identity.values.tolist() == [
        "anna",
        "anna",
        "bo",
        "bo",
        "cy",
    ]


def test_what_matlab_keeps_to_itself_is_named(tmp_path):
    from scipy.io import savemat

    columns = {
        "emb": embedding(),
        "id": [1, 1, 2, 2, 3],
        "info": {"a": 1},
        "phase": 1j * embedding(),
    }
    for packed in (False, True):
        savemat(tmp_path / "f.mat", columns, do_compression=packed)
        with pytest.warns(
            DataWarning, match="not read: 'info', 'phase' .a MATLAB string array, struct"
        ):
            assert open_faces(tmp_path / "f.mat").identity.values.tolist() == list("11223")


@pytest.mark.parametrize("place", [-1, -40])
def test_a_packed_table_of_matlab_is_checked_to_its_end(tmp_path, place):
    """The numbers come out of their archive before its check sum does."""
    from scipy.io import savemat

    values = (
        np.random.default_rng(0).normal(size=(5, 20_001)).astype(np.float32)
    )  # not whole words of eight bytes
    savemat(tmp_path / "f.mat", {"id": [1, 1, 2, 2, 3], "emb": values}, do_compression=True)
    content = bytearray((tmp_path / "f.mat").read_bytes())
    content[place] ^= 1
    (tmp_path / "f.mat").write_bytes(content)
    with pytest.raises(InputError, match="f.mat: .*cannot be read: .*write it again"):
        open_faces(tmp_path / "f.mat")


def test_bytes_behind_a_packed_table_come_to_an_end(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "f.mat", {"id": [1, 1, 2, 2, 3], "emb": embedding()}, do_compression=True)
    content, place = bytearray((tmp_path / "f.mat").read_bytes()), 128
    while (end := place + 8 + int.from_bytes(content[place + 4 : place + 8], "little")) < len(
        content
    ):
        place = end
    content[place + 4 : place + 8] = (end - place - 8 + 70_000).to_bytes(4, "little")
    (tmp_path / "f.mat").write_bytes(content + bytes(70_000))
    np.testing.assert_array_equal(
        open_faces(tmp_path / "f.mat").embedding, embedding().astype(np.float32)
    )


def test_other_names_are_found_and_the_caller_may_say_which(tmp_path):
    np.savez(
        tmp_path / "f.npz", emb=embedding(), subject_id=IDENTITY, filename=list("vwxyz"), y=AGE
    )
    with pytest.raises(
        InputError, match="'subject_id', 'y' could all be the identity; say identity='name'"
    ):
        open_faces(tmp_path / "f.npz")
    ds = open_faces(tmp_path / "f.npz", identity="subject_id", attributes=[])
    assert ds.identity.values.tolist() == IDENTITY
    assert ds.image.values.tolist() == list("vwxyz")
    assert "y" not in ds


def test_the_file_says_which_attributes_belong_to_the_image(tmp_path):
    np.savez(
        tmp_path / "f.npz",
        embedding=embedding(),
        identity=IDENTITY,
        age=AGE,
        image_attributes=["age"],
    )
    assert open_faces(tmp_path / "f.npz").age.attrs == {"varying": "keep"}
    assert open_faces(tmp_path / "f.npz", varying="first").age.values.tolist() == ["20"] * 4 + [
        "30"
    ]
    with pytest.raises(InputError, match=r"f\.npz: attribute 'age' varies"):
        open_faces(tmp_path / "f.npz", varying="error")


def test_columns_that_are_no_labels_are_left_aside_aloud(tmp_path):
    np.savez(
        tmp_path / "f.npz",
        embedding=embedding(),
        identity=IDENTITY,
        box=np.zeros((5, 4)),
        made=2020,
    )
    with pytest.warns(DataWarning, match=r"not read: 'box' \(5, 4\), 'made' \(\)"):
        assert set(open_faces(tmp_path / "f.npz").coords) == {"image", "identity"}
    assert set(open_faces(tmp_path / "f.npz", attributes=[]).coords) == {"image", "identity"}


def test_labels_from_another_file(tmp_path):
    np.save(tmp_path / "f.npy", embedding())
    (tmp_path / "who.txt").write_text("\n".join(IDENTITY) + "\n", encoding="utf-8")
    assert (
        open_faces(tmp_path / "f.npy", labels=tmp_path / "who.txt").identity.values.tolist()
        == IDENTITY
    )
    np.savez(tmp_path / "f.npz", embedding=embedding(), identity=IDENTITY)
    pd.DataFrame({"gender": GENDER}).to_csv(tmp_path / "more.csv")
    assert (
        open_faces(tmp_path / "f.npz", labels=tmp_path / "more.csv").gender.values.tolist()
        == GENDER
    )
    with pytest.raises(InputError, match="'identity' stand both in the file and in .*who.txt"):
        open_faces(tmp_path / "f.npz", labels=tmp_path / "who.txt")


@pytest.mark.parametrize("embedding_columns", ["q", "q_", ["q_0", "q_2", "q_1"]])
def test_columns_of_the_embedding_by_prefix_or_name(tmp_path, embedding_columns):
    (tmp_path / "f.csv").write_text("identity,q_0,q_2,q_1\na,1,2,3\na,4,5,6\nb,7,8,9\n")
    got = open_faces(tmp_path / "f.csv", embedding=embedding_columns).embedding.values[0].tolist()
    assert got == ([1, 2, 3] if isinstance(embedding_columns, list) else [1, 3, 2])


def test_semicolons_quotes_and_a_byte_order_mark(tmp_path):
    text = '\ufeffidentity;f0;f1\n"a;x";1;2\n"a;x";3;4\nb;5;6\n'
    (tmp_path / "f.csv").write_text(text, encoding="utf-8")
    assert open_faces(tmp_path / "f.csv").identity.values.tolist() == ["a;x", "a;x", "b"]


@pytest.mark.parametrize("module", ["pyarrow.parquet", "h5py", "zarr"])
def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch, module):
    name = {"pyarrow.parquet": "lists.parquet", "h5py": "seven.mat"}.get(module, "faces.zarr")
    if module == "zarr":
        (tmp_path / name).mkdir()
    else:
        WRITERS[name](one_encoder(), tmp_path / name)
    monkeypatch.setitem(__import__("sys").modules, module, None)
    package = {"pyarrow.parquet": "frkit.parquet.", "zarr": "frkit.zarr."}.get(module, module)
    with pytest.raises(InputError, match=f"pip install {package}"):
        open_faces(tmp_path / name)


letters = st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp", "Cs", "Cn"])
people = st.lists(st.text(letters, min_size=1), min_size=2, max_size=4, unique=True)


@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(people, st.sampled_from(["f.csv", "f.tsv", "f.npz", "f.nc"]))
def test_any_text_and_any_number_come_back(tmp_path, people, name):
    people = [f"p{word}" for word in people]
    who = [*people, people[0]]
    values = (
        np.random.default_rng(len(people)).lognormal(0, 5, size=(len(who), 4)).astype(np.float32)
    )
    ds = faces(values, who, note=[word[::-1] for word in who])
    if name.endswith("npz"):
        np.savez(tmp_path / name, **as_arrays(ds))
    elif name.endswith("nc"):
        ds.to_netcdf(tmp_path / name)
    else:
        write_table(ds, tmp_path / name)
    check_same(open_faces(tmp_path / name), ds)


@pytest.mark.skipif(not SHARED.exists(), reason="the folder of real data is not here")
@pytest.mark.parametrize("encoder", ["facenet", "insightface"])
def test_real_templates(encoder):
    """That a file as others store it opens; the format itself is held by the tests above."""
    ds = open_faces(SHARED / f"lfw158_{encoder}.npz")
    assert ds.sizes == {"image": 1580, "feature": 512}
    assert len(set(ds.identity.values)) == 158
    assert set(ds.gender.values) == {"male", "female"}
