"""Files of embeddings in every format."""

import shutil
import warnings

import numpy as np
import pandas as pd
import pytest

from frkit.io.faces import faces

IDENTITY = ["anna", "anna", "bo", "bo", "çy"]


GENDER = ["f", "f", "m", "m", "unknown"]


AGE = ["20", "30", "20", "20", "30"]


def embedding(n_features=3, seed=0):
    return np.random.default_rng(seed).normal(size=(5, n_features)).astype(np.float32)


def faces_of_an_encoder(n_features=3):
    labels = dict(image=list("vwxyz"), gender=GENDER, age=AGE)
    return faces(embedding(n_features), IDENTITY, **labels)


def as_arrays(ds):
    return {name: ds[name].values for name in [*ds.coords, "embedding"]}


def write_zarr(ds, path):
    pytest.importorskip("zarr")
    from zarr.errors import UnstableSpecificationWarning

    folder = path.with_suffix("") if path.suffix == ".zip" else path
    with warnings.catch_warnings():  # Zarr 3 has no final word on text yet
        warnings.simplefilter("ignore", UnstableSpecificationWarning)
        ds.to_zarr(folder, consolidated=False)
    if path.suffix == ".zip":
        shutil.make_archive(str(folder), "zip", folder)


def labels_of(ds):
    return pd.DataFrame({name: ds[name].values for name in ds.coords})


def write_parquet(ds, path):
    labels_of(ds).assign(embedding=list(ds.embedding.values)).to_parquet(path)


def write_table(ds, path):
    frame = labels_of(ds).join(pd.DataFrame(ds.embedding.values).add_prefix("f"))
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.replace("unknown", "").to_csv(path, sep="\t" if ".tsv" in path.name else ",")


def write_npy(ds, path):
    np.save(path, ds.embedding.values)
    labels_of(ds).to_csv(path.with_suffix(".csv"), index=False)


def write_mat(ds, path):
    from scipy.io import savemat

    cells = {name: np.array(ds[name].values, object)[:, None] for name in ds.coords}
    columns = cells | {"embedding": ds.embedding.values, "age": np.array(AGE, float)}
    savemat(path, columns, do_compression=True)


def write_mat73(ds, path):
    """What MATLAB writes with -v7.3: axes reversed, cells as references, text as UTF-16 units."""
    pytest.importorskip("pymatreader")  # which reads it
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in [("embedding", ds.embedding.values.T), ("age", np.array([AGE], float))]:
            file.create_dataset(name, data=values).attrs["MATLAB_class"] = np.bytes_("double")
        for name in ("identity", "gender", "image"):
            texts = enumerate(ds[name].values)
            refs = [_char(file, f"#refs#/{name}{k}", word) for k, word in texts]
            cell = file.create_dataset(name, data=np.array([refs], h5py.ref_dtype))
            cell.attrs["MATLAB_class"] = np.bytes_("cell")
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")


def _char(file, name, word):
    if word == "unknown":  # an empty cell, which MATLAB stores as its size, of class double
        item = file.create_dataset(name, data=np.zeros(2, np.uint64))
        item.attrs["MATLAB_empty"] = np.uint8(1)
    else:
        units = np.array([[ord(letter)] for letter in word], np.uint16)
        item = file.create_dataset(name, data=units)
    item.attrs["MATLAB_class"] = np.bytes_("double" if word == "unknown" else "char")
    return item.ref


def write_hdf5(ds, path):
    import h5py

    with h5py.File(path, "w") as file:
        file["embedding"] = ds.embedding.values
        for name in ds.coords:
            file[name] = ds[name].values.astype(object)


WRITERS = {
    "faces.csv": write_table,
    "faces.csv.gz": write_table,
    "faces.tsv": write_table,
    "wide.parquet": write_table,
    "lists.parquet": write_parquet,
    "faces.npy": write_npy,
    "five.mat": write_mat,
    "seven.mat": write_mat73,
    "faces.h5": write_hdf5,
}
