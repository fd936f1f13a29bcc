"""Any file of faces or scores, recognised by its name and its header; several of them as models."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
import xarray as xr

from frkit.base import InputError, listed, require, require_path
from frkit.data.dataset import stack_models
from frkit.data.files import KINDS, file_kind, named
from frkit.data.joins import is_pattern
from frkit.data.opening import IDENTITY_NAMES, open_faces
from frkit.data.tables import read_frame, read_text
from frkit.scores.matrix_files import open_scores
from frkit.scores.pair_files import open_pairs
from frkit.scores.pair_formats import BFW_TABLE, RFW_TABLE

DISTANCES = "dist distance l2 l2_distance euclidean".split()
SCORES = ["score", "scores", "similarity", "sim", "cosine", "cos", *DISTANCES]
VERDICTS = "genuine label labels mated match same is_same issame target y".split()
IMAGES = ["", *"img image images file filename path name template p".split()]
SIDES = (
    ("probe", "reference"),
    ("probe", "gallery"),
    ("enrol", "test"),
    ("left", "right"),
    ("a", "b"),
    ("1", "2"),
)
COLUMNS_OF_FORMATS = {  # columns that a table of this format has
    "rfw": {*RFW_TABLE.values()},
    "bfw": {*BFW_TABLE.values(), "att1", "att2"},
    "bob-csv": {"probe_subject_id", "bio_ref_subject_id", "score"},
}
OF_FACES = "labels embedding identity image attributes varying metadata".split()
OF_MATRIX = "missing distance labels identity metadata failed".split()
OF_PAIRS = "scores metadata columns distance missing identity failed".split()
ID_FILES = ("_probe.txt", "_probe.csv", "_probe.npy")  # beside the .npy of a matrix
ENDINGS = (*sorted(KINDS, key=len, reverse=True), ".json", ".gz")
FORMATS = "--format lfw, rfw, voxceleb, kaldi, ijbc, bob4 or bob5"
PREVIEW = 200  # rows that show what a column contains


def open_data(
    path: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,
    score: Iterable[str] | None = None,
    **options,
) -> xr.Dataset | xr.DataArray:
    r"""Open a file of embeddings, a matrix of scores or a list of scored pairs, whichever it is.

    Parameters
    ----------
    path : str or Path, or a sequence of such
        Several files are models, named after their files, of the same images or pairs.
    format : str, optional
        "faces", "matrix", or a format of `open_pairs`, where name and header do not tell.
    score : list of str, optional
        Columns of scores in a table of pairs, one for each model. A name such as "distance" or
        "l2" means that smaller is more alike, unless `distance` says otherwise.
    **options
        Of `open_faces`, `open_scores` or `open_pairs`, whichever reads the file; None is as left
        out.

    Returns
    -------
    xr.Dataset or xr.DataArray
        What that function returns.

    Raises
    ------
    InputError
        As that function; where files of several models differ in images or names; where a table
        has no column that looks like scores, or none that says what is genuine.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pairs.csv")
    >>> _ = path.write_text("id1,id2,score\nann,ann,0.9\nann,bob,0.1\n")
    >>> open_data(path).genuine.values.tolist()
    [True, False]
    """
    if isinstance(path, (list, tuple)):
        files = by_model(path)
        how = {"format": format, "score": score, **options}
        return together({name: open_data(file, **how) for name, file in files.items()})
    path = require_path("path", path)
    options = {name: value for name, value in options.items() if value is not None}
    with named(path):
        format = format or guess_format(path, score)
        takes = {"faces": OF_FACES, "matrix": OF_MATRIX}.get(format, OF_PAIRS)
        extra = listed(name for name in options if name not in takes)
        require(not extra, f"read as {format}, it takes no {extra}; it takes {', '.join(takes)}")
        if format == "faces":
            return open_faces(path, **options)
        if format == "matrix":
            return open_scores(path, **options)
        if format == "bfw" and score:
            options.setdefault("columns", list(score))
        if format == "columns":
            if "columns" not in options:
                by_name = is_pattern(options.get("identity"))
                options["columns"] = column_roles(preview(path), score, by_name)
            # one name, several, or those of models by the models' names
            scores = pd.Series(options["columns"].get("score", []), dtype=str)
            options.setdefault("distance", bool(scores.str.lower().isin(DISTANCES).any()))
        return open_pairs(path, format=format, **options)


def preview(path):
    """Return the first rows of a table, as they are."""
    is_parquet = file_kind(path) == "parquet"
    table = read_frame(path) if is_parquet else read_text(path, n_rows=PREVIEW)
    return table.head(PREVIEW)


def guess_format(path, score=None):
    """Return "faces", "matrix" or a format of `open_pairs`, from the file's name and header."""
    if path.name.lower().endswith((".json", ".json.gz")):
        return "json"
    kind = file_kind(path)
    if kind == "npy" and any(path.with_name(path.stem + end).exists() for end in ID_FILES):
        return "matrix"
    require(
        kind != "lines",
        f"a .txt says not what it contains: name it, {FORMATS}, and the file of its --scores",
    )
    if kind not in ("text", "parquet"):
        return "faces"
    header = list(preview(path).columns)
    for name, columns in COLUMNS_OF_FORMATS.items():
        if columns <= set(header):
            return name
    names = {name.lower() for name in header}
    has_verdicts = names.intersection(VERDICTS) and side_columns(header)
    if score or names.intersection(SCORES) or has_verdicts:
        return "columns"
    has_identity = names.intersection([*IDENTITY_NAMES, "identity"])
    return "matrix" if header[0] == "" and not has_identity else "faces"


def column_roles(table, score=None, by_name=False):
    """Return what the columns of a table of pairs are to `open_pairs`.

    Parameters
    ----------
    table : pd.DataFrame
        Some rows of the table.
    score : names of columns, optional
        The columns of scores; default: those with a usual name, or else with fractions.
    by_name : bool
        Whether names of images say who is in them.
    """
    header = list(table.columns)
    scores = list(score or [name for name in header if name.lower() in SCORES])
    sides = side_columns([name for name in header if name not in scores])
    roles = _roles_of_sides(sides)
    used = {"", *scores, *sum(sides.values(), ())}
    others = [name for name in header if name not in used]
    verdicts = [name for name in others if name.lower() in VERDICTS]
    if verdicts:
        roles["genuine"] = verdicts[0]
    labels = table[[name for name in others if name not in verdicts]]
    numbers = labels.apply(pd.to_numeric, errors="coerce")
    numbers = numbers.loc[:, numbers.notna().mean() > 0.5]
    scores = scores or numbers.columns[(numbers % 1 > 0).any()].tolist()
    shown = f"the columns are {listed(header, 30)}"
    require(
        scores,
        "no column looks like scores: name them (--score), or the --format of a file without a "
        f"header; {shown}",
    )
    says_genuine = "genuine" in roles or "probe_identity" in roles
    require(
        says_genuine or (by_name and "probe" in roles),
        "no column says which pairs are genuine: it takes a column such as genuine or label (1 "
        "or 0), identities of both sides such as id1 and id2, or names of images that say who "
        f"it is, with --identity '{{name}}_{{number}}.jpg'; {shown}",
    )
    attributes = {name: name for name in labels if name not in numbers}
    return {"score": scores[0] if len(scores) == 1 else scores, **roles, **attributes}


def side_columns(header):
    """Return columns that differ in the mark of a side only: {"race": ("race1", "race2")}."""
    pairs = {}
    for first, second in SIDES:
        mark = re.compile(rf"(?<![a-z]){first}(?![a-z])" if first.isalpha() else first)
        for name in header:
            for match in mark.finditer(name.lower()):
                before = name[: match.start()]
                after = name[match.end() :]
                other = before + second + after
                if other in header:
                    stem = (before + after).strip("_-. ").lower()
                    pairs.setdefault(stem, (name, other))
    return pairs


def _roles_of_sides(sides):
    """Return which pairs of columns are identities, images and attributes."""
    roles = {}
    for stem, (first, second) in sides.items():
        if stem in IMAGES:
            roles.setdefault("probe", first)
            roles.setdefault("reference", second)
        elif stem in (*IDENTITY_NAMES, "identity") and "probe_identity" not in roles:
            roles["probe_identity"] = first
            roles["reference_identity"] = second
        else:
            roles[stem] = (first, second)
    return roles


# --- several models -------------------------------------------------------------------------------


def together(models):
    """Return the faces or scores of several models of the same images as one."""
    require(models, "there is no model: give at least one")
    kinds = {kind_of(model) for model in models.values()}
    several = [name for name, model in models.items() if "model" in model.dims]
    if len(models) == 1 and several:
        return models[several[0]]  # whose models have names
    require(
        len(kinds) == 1,
        f"models must all be of one kind, but there are {' and '.join(sorted(kinds))}",
    )
    if kinds == {"faces"}:
        return stack_models(models)
    require(not several, f"{listed(several)} contains several models already")
    names = xr.Variable("model", list(models))
    try:
        stacked = xr.concat(
            [*models.values()],
            names,
            combine_attrs="override",
            join="exact",
            coords="minimal",
            compat="equals",
        )
    except ValueError as error:
        raise InputError(
            "models must have the same comparisons of the same images, identities and attributes, "
            f"in the same order: {error}"
        ) from error
    return stacked.assign_coords(model=names)


def kind_of(data):
    """Tell whether something is faces, pairs or a score tensor."""
    dims = set(getattr(data, "dims", ()))
    kinds = {
        "faces": {"image", "feature"},
        "pairs": {"pair"},
        "a score tensor": {"probe", "reference"},
    }
    for kind, needed in kinds.items():
        if needed <= dims:
            return kind
    raise InputError(
        "a report is made from faces, scores or the path of a file of such, got "
        f"{type(data).__name__}"
    )


def by_model(paths):
    """Return files by the names of their models: the files' names without their endings."""
    endings = re.compile(rf"({'|'.join(map(re.escape, ENDINGS))})+$", re.IGNORECASE)
    names = [endings.sub("", Path(path).name) for path in paths]
    require(
        len(set(names)) == len(names),
        f"files of several models need distinct names, got {listed(names)}",
    )
    return dict(zip(names, paths))
