"""Files that come with frkit, wherever it is installed."""

from pathlib import Path

import xarray as xr

from frkit.base import InputError, require_path
from frkit.io.door import open_data


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
    faces = open_data(demo_file("demo_faces.npz"))
    assert isinstance(faces, xr.Dataset)
    return faces
