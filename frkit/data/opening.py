"""Embeddings from files: find embedding, identity, image names and attributes by their names."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import xarray as xr

from frkit.base import InputError, listed, require, require_path
from frkit.data.arrays import READERS, are_vectors_by_name, labels_beside, read_npy, vectors_by_name
from frkit.data.dataset import faces_of_columns
from frkit.data.face_roles import gathered
from frkit.data.files import file_kind, named, require_data
from frkit.data.joins import is_pattern
from frkit.data.json_files import read_json
from frkit.data.roles import as_mapping
from frkit.data.tables import read_frame

PREVIEW = 200  # rows that show what a table contains
TABLES = ("text", "parquet", "json lines", "json", "frame")


def open_faces(
    path: str | Path,
    *,
    labels: str | Path | None = None,
    identity: str | None = None,
    metadata: str | Path | None = None,
    columns: Mapping | None = None,
) -> xr.Dataset:
    """Open a file of embeddings and labels as a faces Dataset.

    Reads .npz, .npy with a table of labels next to it, .csv and .tsv (plain or .gz), .parquet, .mat
    (5 and 7.3), .h5 (HDF5), netCDF, and Zarr (a directory, or .zarr.zip). Nothing is unpickled.

    Parameters
    ----------
    path : str or Path
        The file. In a text table a blank cell and "nan" are missing labels.
    labels : str or Path, optional
        A table of labels, one row per image in the same order (or a .txt with one identity per
        line). For .npy the default is the file of the same stem next to it; for other formats its
        columns are added.
    identity : str, optional
        The column of identities; default: a usual name, where only one is there. Or a pattern of
        the image names that says who is in them, such as "{name}_{number}.jpg".
    metadata : str or Path, optional
        A table of people or images in any order, joined on whichever of its columns names them; its
        other columns become attributes, in lower case.
    columns : mapping, optional
        What the columns are, as in `open_data`: {"embedding": ["arc", "face"]} are two models (in a
        table also the text before their numbers, or the names of all columns of one), {"gender":
        "sex"} is an attribute under another name.

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
    path = require_data("path", path)
    with named(path):
        pattern = identity if is_pattern(identity) else None
        given = as_mapping(columns)
        if identity and pattern is None:
            given["identity"] = identity
        contents = read_columns(path, given)
        if labels is None and file_kind(path) == "npy" and len(contents) == 1:
            labels = labels_beside(path)
        if labels is not None:
            with named(labels):
                more = read_labels(require_path("labels", labels))
            twice = sorted({*contents} & {*more})
            require(
                not twice,
                f"columns in both the file and {labels}: {listed(twice)}; leave them in one",
            )
            contents |= more
        return faces_of_columns(contents, given, metadata, pattern)


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
    require_path("name", name)
    package = Path(__file__).resolve().parent.parent
    # an installed package has its own folder, a checkout data/
    for folder in (package / "demo", package.parent / "data"):
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        f"{name} did not come with this installation: install frkit from its wheel or a clone"
    )


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


def read_columns(path, given=None):
    """Read the columns of any file by name; the numbered ones of an embedding are one array."""
    reader = READERS.get(file_kind(path), read_frame)
    contents = read_json(path) if file_kind(path) == "json" else reader(path)
    if isinstance(contents, pd.DataFrame):
        return gathered(contents, given)
    are_named_vectors = not given and are_vectors_by_name(contents)
    return vectors_by_name(contents) if are_named_vectors else contents


def column_names(path):
    """Return the names of a file's columns, and of a table also the first rows, else None."""
    kind = file_kind(path)
    if kind in ("json", "npy", "folder"):
        return [], None
    if kind in TABLES:
        table = read_frame(path, n_rows=PREVIEW)
        return [name for name in table if name], table.head()
    return list(read_columns(path)), None


def read_labels(path):
    """Read labels: a table, or a text file with one identity or image name per line."""
    kind = file_kind(path)
    if kind == "npy":  # which says less of its labels than a list of people
        labels = pd.Series(read_npy(path))
        return {"image" if labels.is_unique else "label": labels.to_numpy()}
    if kind not in TABLES:
        return read_columns(path)
    table = read_frame(path)
    if [*table] == ["1"]:
        table.columns = ["image" if table["1"].is_unique else "identity"]
    return {name: table[name] for name in table if name}
