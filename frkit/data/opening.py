"""Embeddings from files: find embedding, identity, image names and attributes, whatever they are called."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import dask.array as da
import numpy as np
import xarray as xr

from frkit.base import IDENTITY, IMAGE, MODEL, PERSON, listed, require, require_path
from frkit.data.checks import ROWS, checked_embedding
from frkit.data.dataset import collected
from frkit.data.files import (
    OnDisk,
    beside,
    file_kind,
    named,
    not_read,
    read_dataset,
    read_npy,
    read_npz,
    reading,
)
from frkit.data.joins import identities_from, is_pattern, joined
from frkit.data.labels import clean_labels, resolve_varying
from frkit.data.tables import open_text, read_table

_EMBEDDING_NAMES = (
    "embeddings",
    "emb",
    "embs",
    "features",
    "feats",
    "feat",
    "vectors",
    "templates",
    "x",
)
IDENTITY_NAMES = (
    "identities", "subject", "subjects", "subject_id", "person", "person_id", "label", "labels", "name",
    "names", "id", "ids", "class", "target", "targets", "y",
)  # fmt: skip
_IMAGE_NAMES = (
    "images", "image_name", "image_names", "image_id", "filename", "filenames", "file", "path", "paths",
)  # fmt: skip
_TAKEN = ("embedding", IDENTITY, IMAGE, MODEL, "varying")  # arguments of `faces`
_BESIDE = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".txt")


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

    Reads .npz, .npy with a table of labels beside it, .csv and .tsv (plain or .gz), .parquet, .mat (5 and
    7.3), netCDF, and Zarr (a directory, or .zarr.zip). Nothing is ever unpickled.

    Parameters
    ----------
    path : str or Path
        The file. A text table has a header; a blank cell, NA, N/A, null and nan are missing labels.
    labels : str or Path, optional
        A table of labels, one row per image in the same order (or a .txt with one identity per line). For
        .npy the default is the file of the same stem beside it; for other formats its columns are added.
    embedding : str or sequence of str, optional
        Name of the embedding. In a text or Parquet table: the prefix of numbered columns (f0, f1, ...), or
        the names of the columns. Default: a usual name, where only one is there.
    identity, image : str, optional
        Names of the columns with identities and with image names. Default: "identity" and "image", or a usual
        name, where only one is there. An identity with fields in braces is a pattern of the image names that says
        who is in them, such as "{name}_{number}.jpg".
    attributes : sequence of str, optional
        Which columns become attributes. Default: every other column with one label per image.
    varying : str or mapping of attribute to str, optional
        What to do where an attribute varies within an identity, as in `faces`. Default: "keep" for the
        attributes that the file lists in `image_attributes` (or marks so), "error" for the others.
    metadata : str or Path, optional
        A table of people or images in any order, joined on whichever of its columns names them; its other columns
        become attributes, in lower case.

    Returns
    -------
    xr.Dataset
        As `faces` makes it, `embedding` (image, feature), or (model, image, feature) where the file holds
        three dimensions and the names `model`.

    Raises
    ------
    InputError
        If the file is absent, malformed (with its line where it is text), pickled, of an unknown format, or
        needs a package that is not installed; if names are absent or ambiguous, the pattern does not fit a name, or no
        column of the metadata names anybody; and as `faces` does.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "faces.npz")
    >>> np.savez(path, embeddings=np.eye(3), subject_id=["anna", "anna", "bo"])
    >>> open_faces(path).identity.values.tolist()
    ['anna', 'anna', 'bo']
    """
    path = require_path("path", path)
    for name, value in (("identity", identity), ("image", image)):
        require(
            value is None or isinstance(value, str),
            f"{name} must be the name of a column, got {value!r}",
        )
    several = isinstance(embedding, (list, tuple)) and all(
        isinstance(name, str) for name in embedding
    )
    known = several or embedding is None or isinstance(embedding, str)
    require(known, f"embedding must be the name of a column, or a list of such, got {embedding!r}")
    with named(path):
        require(
            not several or file_kind(path) in ("text", "parquet"),
            "embedding must be one name: this is no table",
        )
        columns = read_columns(path, embedding)
        table = labels
        if labels is None and file_kind(path) == "npy":
            table = beside(path, _BESIDE, "labels", "'path to a table with a header'")
        if table is not None:
            with named(table):
                more = read_columns(require_path("labels", table), embedding=False)
            twice = sorted(set(columns) & set(more))
            require(
                not twice,
                f"{listed(twice)} stand both in the file and in {table}; leave them in one",
            )
            columns |= more
        prefix = (
            file_kind(path) in ("text", "parquet") and "embedding" in columns
        )  # of columns that are one by now
        wanted = embedding if isinstance(embedding, str) and not prefix else None
        values = take_column(columns, "embedding", wanted, _EMBEDDING_NAMES)
        return _as_faces(columns, values, (identity, image), (attributes, metadata), varying)


def demo_file(name: str) -> Path:
    """Find a file that comes with the kit: beside the code where it is installed, in data/ of a checkout.

    Parameters
    ----------
    name : such as "demo_truth.nc" or "interval_coverage.csv": the exact rates of the demo faces, and the stored
        studies that the notebooks show. `data/README.md` says what each of them holds.

    Returns
    -------
    pathlib.Path : for `xr.open_dataset` or `pd.read_csv`, whatever the working folder is.

    Raises
    ------
    InputError : no file of this name came with the installation.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.demo_file("demo_truth.nc").name
    'demo_truth.nc'
    """
    require(isinstance(name, str), f"name must be the name of a file, got {name!r}")
    found = shipped(name)
    require(
        found is not None,
        f"{name} did not come with this installation: install frkit from its wheel or a clone",
    )
    return found


def shipped(name: str | Path) -> Path | None:
    """A file that comes with frkit: in the package where it is installed, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    folders = package / "demo", package.parent / "data"
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def demo_faces() -> xr.Dataset:
    """Open the demo faces that come with the kit: synthetic, 2,809 images of 360 people as three encoders see them.

    Returns
    -------
    xr.Dataset
        `embedding` (model, image, feature) with the attributes gender, race and, of images, age. One encoder is clearly
        worse than the others, and error rates differ between groups: both were built in (data/README.md says how).

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


def read_columns(path: Path, embedding=None) -> dict[str, np.ndarray]:
    """Read any format with named columns, by its name; `embedding=False` reads labels alone."""
    kind = file_kind(path)
    if kind in ("text", "parquet"):
        return read_table(path, embedding)
    if kind in ("netcdf", "zarr"):
        return read_dataset(path, kind)
    if kind == "mat":
        from frkit.data.matlab import read_mat

        return read_mat(path)
    if kind == "lines":
        with reading("the list"), open_text(path) as lines:
            return {IDENTITY: np.array([line.strip() for line in lines], str)}
    return {"embedding": _mapped(path)} if kind == "npy" else read_npz(path)


def _mapped(path: Path) -> np.ndarray | da.Array:
    """The array of an .npy: numbers stay on disk until they are swept, because they may be an embedding."""
    stored = OnDisk(path)
    if stored.ndim < 2:
        return read_npy(path)
    return da.from_array(stored, chunks=(*(1,) * (stored.ndim - 2), ROWS, -1), asarray=False)


def take_column(
    columns: dict, what: str, wanted: str | None, aliases, optional: bool = False
) -> np.ndarray | None:
    """Remove a column from the dict and return it: the wanted one, the one named so, or the only alias."""
    found = [name for name in columns if name.lower() in (what, *aliases)]
    found = [name for name in found if np.ndim(columns[name]) == 1] if optional else found
    if wanted is not None or what in columns:
        found = [wanted or what]
    if optional and not found:
        return None
    there = bool(found) and found[0] in columns
    require(there, f"no {wanted or what}; say {what}='name'; there is {listed(columns, 12)}")
    require(len(found) == 1, f"{listed(found)} could all be the {what}; say {what}='name'")
    return columns.pop(found[0])


def _as_faces(columns: dict, values, names: tuple, more: tuple, varying) -> xr.Dataset:
    """Sort the columns into their roles and build the Dataset; more: the attributes asked for, and metadata."""
    shape = values.shape if isinstance(values, np.ndarray | da.Array) else ()
    model = columns.pop(MODEL, None) if len(shape) == 3 else None
    if is_pattern(names[0]):
        image = take_column(columns, IMAGE, names[1], _IMAGE_NAMES)
        who = identities_from(image, names[0])
    else:
        who = take_column(columns, IDENTITY, names[0], IDENTITY_NAMES)
        image = take_column(columns, IMAGE, names[1], _IMAGE_NAMES, optional=True)
    n_images = len(who) if np.ndim(who) else 0
    turned = len(shape) == 2 and shape[0] != n_images and shape[1] == n_images
    require(
        not turned,
        f"embedding {shape} has a column, not a row, for each of the images; transpose it",
    )
    person = columns.pop(PERSON, None)
    kept = np.atleast_1d(columns.pop("image_attributes", [])).astype(str).tolist()
    chosen = _chosen(columns, n_images, more[0])
    if more[1] is not None:
        given = {IMAGE: image, IDENTITY: who}
        keys = {
            kind: (clean_labels(names, len(names), kind),)
            for kind, names in given.items()
            if names is not None
        }
        chosen |= {name: labels for name, (labels,) in joined(more[1], keys, chosen).items()}
    mapping = varying is None or isinstance(varying, (str, Mapping))
    require(mapping, f"varying must be a rule or a mapping to rules, got {varying!r}")
    if not isinstance(varying, str):
        varying = {name: "keep" for name in kept if name in chosen} | dict(varying or {})
    ds = collected(checked_embedding(values, model, copy=False), who, image, model, varying, chosen)
    if person is None:
        return ds
    person = clean_labels(
        person, n_images, PERSON
    )  # who each image shows, put back after an earlier split
    resolve_varying(person, ds[IDENTITY].values, "error", PERSON)
    return ds.assign_coords({PERSON: (IMAGE, person)})


def _chosen(columns: dict, n_images: int, attributes) -> dict:
    """The columns that become attributes: those asked for, or all with one label per image."""
    usable = {name: value for name, value in columns.items() if np.shape(value) == (n_images,)}
    if attributes is not None:
        fits = isinstance(attributes, (list, tuple)) and all(
            isinstance(name, str) for name in attributes
        )
        require(fits, f"attributes must be a list of names, got {attributes!r}")
        absent = [name for name in attributes if name not in usable]
        require(not absent, f"no labels of images {listed(absent)}; there is {listed(usable, 12)}")
        return {name: usable[name] for name in attributes}
    others = [
        f"{name!r} {np.shape(value)}" for name, value in columns.items() if name not in usable
    ]
    not_read(others, "not one label per image; attributes=[...] says which columns to take")
    not_read([repr(name) for name in usable if name in _TAKEN], "another column takes that part")
    return {name: value for name, value in usable.items() if name not in _TAKEN}
