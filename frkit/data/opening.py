"""Embeddings from files: find embedding, identity, image names and attributes by their names."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import dask.array as da
import numpy as np
import xarray as xr

from frkit.base import InputError, listed, require, require_path
from frkit.data.arrays import (
    OnDisk,
    read_hdf5,
    read_mat,
    read_netcdf,
    read_npy,
    read_npz,
    read_zarr,
)
from frkit.data.checks import ROWS, checked_embedding
from frkit.data.dataset import collected
from frkit.data.files import beside, file_kind, named, not_read, reading
from frkit.data.joins import identities_from, is_pattern, joined
from frkit.data.tables import EMBEDDING_NAMES, open_text, read_table

IDENTITY_NAMES = (
    "identities subject subjects subject_id person person_id label labels name names id ids class "
    "target targets y"
).split()
IMAGE_NAMES = "images image_name image_names image_id filename filenames file path paths".split()
ARGUMENTS = ("embedding", "identity", "image", "model", "varying")  # of `faces`, so no attributes
LABEL_FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".txt")
TABLES = ("text", "parquet")


def open_faces(
    path: str | Path,
    *,
    labels: str | Path | None = None,
    embedding: str | Sequence[str] | None = None,
    identity: str | None = None,
    image: str | None = None,
    attributes: Sequence[str] | None = None,
    varying: str | Mapping[str, str] | None = None,
    metadata: str | Path | None = None,
) -> xr.Dataset:
    """Open a file of embeddings and labels as a faces Dataset.

    Reads .npz, .npy with a table of labels beside it, .csv and .tsv (plain or .gz), .parquet, .mat
    (5 and 7.3), .h5 (HDF5), netCDF, and Zarr (a directory, or .zarr.zip). Nothing is unpickled.

    Parameters
    ----------
    path : str or Path
        The file. A text table has a header; a blank cell, NA, N/A, null and nan are missing labels.
    labels : str or Path, optional
        A table of labels, one row per image in the same order (or a .txt with one identity per
        line). For .npy the default is the file of the same stem beside it; for other formats its
        columns are added.
    embedding : str or sequence of str, optional
        Name of the embedding. In a text or Parquet table: the prefix of numbered columns (f0, f1,
        ...), or the names of the columns. Default: a usual name, where only one is there.
    identity, image : str, optional
        Names of the columns with identities and with image names. Default: "identity" and "image",
        or a usual name, where only one is there. An identity with fields in braces is a pattern of
        the image names that says who is in them, such as "{name}_{number}.jpg".
    attributes : sequence of str, optional
        Which columns become attributes. Default: every other column with one label per image.
    varying : str or mapping of attribute to str, optional
        What to do where an attribute varies within an identity, as in `faces`. Default: "keep" for
        the attributes that the file lists in `image_attributes` (or marks so), "error" for the
        others.
    metadata : str or Path, optional
        A table of people or images in any order, joined on whichever of its columns names them; its
        other columns become attributes, in lower case.

    Returns
    -------
    xr.Dataset
        As `faces` makes it, `embedding` (image, feature), or (model, image, feature) where the file
        contains three dimensions and the names `model`.

    Raises
    ------
    InputError
        If the file is absent, malformed (with its line where it is text), pickled, of an unknown
        format, or needs a package that is not installed; if names are absent or ambiguous, the
        pattern does not fit a name, or no column of the metadata names anybody; and as `faces`
        does.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "faces.npz")
    >>> np.savez(path, embeddings=np.eye(3), subject_id=["anna", "anna", "bo"])
    >>> open_faces(path).identity.values.tolist()
    ['anna', 'anna', 'bo']
    """
    path = require_path("path", path)
    with named(path):
        kind = file_kind(path)
        columns = read_columns(path, embedding)
        if labels is None and kind == "npy":
            labels = beside(path, LABEL_FILES, "labels")
        if labels is not None:
            _add_labels(columns, labels)
        wanted = None if kind in TABLES else embedding
        values = take_column(columns, "embedding", wanted, EMBEDDING_NAMES)
        model = columns.pop("model", None) if values.ndim == 3 else None
        names = _image_and_identity(columns, image, identity)
        n_images = np.size(names["identity"])
        person = columns.pop("person", None)
        keep = np.atleast_1d(columns.pop("image_attributes", [])).astype(str).tolist()
        chosen = _chosen(columns, n_images, attributes)
        if metadata is not None:
            keys = {what: [column] for what, column in names.items()}
            for name, [column] in joined(metadata, keys, chosen).items():
                chosen[name] = column
        if varying is None or isinstance(varying, Mapping):
            varying = dict.fromkeys(keep, "keep") | dict(varying or {})
        values = checked_embedding(values, model)
        return collected(values, names["identity"], names["image"], model, varying, chosen, person)


def _add_labels(columns, labels):
    """Add the columns of a table of labels to those of the embeddings."""
    with named(labels):
        more = read_columns(require_path("labels", labels), embedding=False)
    twice = sorted(set(columns) & set(more))
    where = f"stand both in the file and in {labels}; leave them in one"
    require(not twice, f"{listed(twice)} {where}")
    columns |= more


def demo_file(name: str) -> Path:
    """Find a file that comes with frkit, wherever it is installed.

    Parameters
    ----------
    name : str
        Such as "demo_truth.nc" or "interval_coverage.csv": the exact rates of the demo faces, and
        the stored studies that the notebooks show. `data/README.md` describes them.

    Returns
    -------
    pathlib.Path
        For `xr.open_dataset` or `pd.read_csv`, whatever the working folder is.

    Raises
    ------
    InputError
        If no file of this name came with the installation.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.demo_file("demo_truth.nc").name
    'demo_truth.nc'
    """
    package = Path(__file__).resolve().parent.parent
    # an installed package has its own folder, a checkout data/
    for folder in (package / "demo", package.parent / "data"):
        if (folder / name).is_file():
            return folder / name
    remedy = "install frkit from its wheel or a clone"
    raise InputError(f"{name} did not come with this installation: {remedy}")


def demo_faces() -> xr.Dataset:
    """Open the demo faces: synthetic, 2,809 images of 360 people as three encoders see them.

    Returns
    -------
    xr.Dataset
        `embedding` (model, image, feature) with the attributes gender, race and, of images, age.
        One encoder is clearly worse than the others, and error rates differ between groups: both
        were built in (data/README.md says how).

    Raises
    ------
    InputError
        If the file was lost from this installation.

    Examples
    --------
    >>> import frkit as fk
    >>> dict(fk.demo_faces().sizes)
    {'model': 3, 'image': 2809, 'feature': 64}
    """
    return open_faces(demo_file("demo_faces.npz"))


def read_columns(path, embedding=None):
    """Read any format with named columns; `embedding=False` reads labels alone."""
    kind = file_kind(path)
    if kind in TABLES:
        return read_table(path, embedding)
    if kind == "lines":
        with reading("the list"), open_text(path) as lines:
            return {"identity": np.array([line.strip() for line in lines], object)}
    if kind == "npy":
        return {"embedding": _on_disk(path)}
    readers = {
        "npz": read_npz,
        "mat": read_mat,
        "hdf5": read_hdf5,
        "netcdf": read_netcdf,
        "zarr": read_zarr,
    }
    return readers[kind](path)


def _on_disk(path):
    """Return the array of an .npy; an embedding stays on disk until it is compared."""
    stored = OnDisk(path)
    if stored.ndim < 2:
        return read_npy(path)
    chunks = (*(1,) * (stored.ndim - 2), ROWS, -1)
    return da.from_array(stored, chunks=chunks, asarray=False)


def take_column(columns, what, wanted, aliases, optional=False):
    """Remove a column and return it: the wanted one, the one named so, or the only alias."""
    candidates = [wanted or what]
    if wanted is None and what not in columns:
        candidates = [name for name in columns if name.lower() in (what, *aliases)]
        if optional:  # an array of pixels has no names
            candidates = [name for name in candidates if np.ndim(columns[name]) == 1]
            if not candidates:
                return None
    words = f"no {wanted or what}; say {what}='name'; there is {listed(columns, 12)}"
    require(any(name in columns for name in candidates), words)
    words = f"{listed(candidates)} could all be the {what}; say {what}='name'"
    require(len(candidates) == 1, words)
    return columns.pop(candidates[0])


def _image_and_identity(columns, image, identity):
    """Take the names of images and of people; a pattern reads these from those."""
    by_pattern = is_pattern(identity)
    images = take_column(columns, "image", image, IMAGE_NAMES, optional=not by_pattern)
    if by_pattern:
        people = identities_from(images, identity)
    else:
        people = take_column(columns, "identity", identity, IDENTITY_NAMES)
    return {"image": images, "identity": people}


def _chosen(columns, n_images, attributes):
    """Return the columns that become attributes: those asked for, or all with one label each."""
    usable = {}
    for name, column in columns.items():
        if np.shape(column) == (n_images,):
            usable[name] = column
    if attributes is not None:
        absent = [name for name in attributes if name not in usable]
        require(not absent, f"no labels of images {listed(absent)}; there is {listed(usable, 12)}")
        return {name: usable[name] for name in attributes}
    chosen = {name: usable[name] for name in usable if name not in ARGUMENTS}
    others = [name for name in columns if name not in chosen]
    reason = "not one label per image, or the name of something else"
    not_read(others, f"{reason}; attributes=[...] says which columns to take")
    return chosen
