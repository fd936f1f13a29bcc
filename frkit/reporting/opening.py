"""Any file of faces or scores, told apart by its name and its header; several of them as models."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import (
    FEATURE,
    IDENTITY,
    IMAGE,
    MODEL,
    PAIR,
    PROBE,
    REFERENCE,
    listed,
    require,
    require_path,
    writing,
)
from frkit.data.dataset import stack_models
from frkit.data.files import KINDS, file_kind, named
from frkit.data.joins import is_pattern
from frkit.data.opening import IDENTITY_NAMES, open_faces
from frkit.data.tables import read_frame, read_text
from frkit.scores.matrix_files import open_scores
from frkit.scores.pair_files import open_pairs

DISTANCES = ("dist", "distance", "l2", "l2_distance", "euclidean")
SCORES = ("score", "scores", "similarity", "sim", "cosine", "cos", *DISTANCES)
VERDICTS = (
    "genuine",
    "label",
    "labels",
    "mated",
    "match",
    "same",
    "is_same",
    "issame",
    "target",
    "y",
)
IMAGES = ("", "img", "image", "images", "file", "filename", "path", "name", "template", "p")
SIDES = (
    ("probe", "reference"),
    ("probe", "gallery"),
    ("enrol", "test"),
    ("left", "right"),
    ("a", "b"),
    ("1", "2"),
)
KNOWN = {  # columns that a table of this format has
    "rfw": {"img_1", "img_2", "id_1", "id_2", "label", "ethnicity", "dist"},
    "bfw": {"p1", "p2", "id1", "id2", "att1", "att2", "label"},
    "bob-csv": {"probe_subject_id", "bio_ref_subject_id", "score"},
}
OF_FACES = ("labels", "embedding", "identity", "image", "attributes", "varying", "metadata")
OF_MATRIX = ("missing", "distance", "labels", "identity", "metadata", "failed")
OF_PAIRS = ("scores", "metadata", "columns", "distance", "missing", "identity", "failed")
ENDINGS = (*sorted(KINDS, key=len, reverse=True), ".json", ".gz")
PREVIEW = 200  # rows that tell what a column holds


def open_data(
    path: str | Path, *, format: str | None = None, score: Iterable[str] | None = None, **options
) -> xr.Dataset | xr.DataArray:
    """Open a file of embeddings, a matrix of scores or a list of scored pairs, whichever it is.

    Parameters
    ----------
    path : str or Path
    format : str, optional
        "faces", "matrix", or a format of `open_pairs`, where name and header do not tell.
    score : list of str, optional
        Columns of scores in a table of pairs, one for each model.
    **options
        Of `open_faces`, `open_scores` or `open_pairs`, whichever reads the file; None is as left out.

    Returns
    -------
    xr.Dataset or xr.DataArray
        What that function returns.

    Raises
    ------
    InputError
        As that function; where a table has no column that looks like scores, or none that says what is genuine.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pairs.csv")
    >>> _ = path.write_text("id1,id2,score\\nann,ann,0.9\\nann,bob,0.1\\n")
    >>> open_data(path).genuine.values.tolist()
    [True, False]
    """
    path = require_path("path", path)
    options = {name: value for name, value in options.items() if value is not None}
    with named(path):
        guessed = {}
        pattern = is_pattern(options.get("identity"))
        if format is None:
            format, guessed = guess(path, score, pattern)
        elif format == "columns" and "columns" not in options:
            guessed = {"columns": column_roles(preview(path), score, pattern)}
        if format == "bfw" and score:
            guessed = {"columns": list(score)}
        takes = {"faces": OF_FACES, "matrix": OF_MATRIX}.get(format, OF_PAIRS)
        extra = [name for name in options if name not in takes]
        require(
            not extra, f"read as {format}, it takes no {listed(extra)}; it takes {', '.join(takes)}"
        )
        if format in ("faces", "matrix"):
            return (open_faces if format == "faces" else open_scores)(path, **options)
        return open_pairs(path, format=format, **(guessed | options))


def preview(path: Path, rows: int = PREVIEW) -> pd.DataFrame:
    """The first rows of a table, as they are."""
    kind = file_kind(path)
    require(kind in ("text", "parquet"), f"is no table with a header but {kind}")
    table = read_text(path, n_rows=rows) if kind == "text" else read_frame(path)
    return table.head(rows)


def guess(
    path: Path, score: Iterable[str] | None = None, pattern: bool = False
) -> tuple[str, dict]:
    """The format of a file, and what `open_pairs` must be told about its columns; pattern: names say who it is."""
    if path.name.lower().endswith((".json", ".json.gz")):
        return "json", {}
    kind = file_kind(path)
    if kind == "npy" and any(
        path.with_name(f"{path.stem}_{PROBE}{end}").exists() for end in (".txt", ".csv", ".npy")
    ):
        return "matrix", {}
    formats = "--format lfw, rfw, voxceleb, kaldi, ijbc, bob4 or bob5"
    require(
        kind != "lines",
        f"a .txt says not what it holds: name it, {formats}, and the file of its --scores, if any",
    )
    if kind not in ("text", "parquet"):
        return "faces", {}
    table = preview(path)
    header = {str(name) for name in table.columns}
    for name, needed in KNOWN.items():
        if needed <= header:
            return name, {}
    verdict = any(name.lower() in VERDICTS for name in table) and side_columns(
        table.columns
    )  # of two sides
    if score or any(name.lower() in SCORES for name in header) or verdict:
        roles = column_roles(table, score, pattern)
        far = [name for name in np.atleast_1d(roles["score"]) if name.lower() in DISTANCES]
        return "columns", {"columns": roles} | ({"distance": True} if far else {})
    labelled = bool(
        {name.lower() for name in header} & {*IDENTITY_NAMES, IDENTITY}
    )  # images, in a table of embeddings
    if str(table.columns[0]) == "" and not labelled:
        return "matrix", {}
    named = _numeric(table) and not any(
        re.fullmatch(r"-?\d*\.\d+(e-?\d+)?", name) for name in header
    )
    first = f"the first line ({listed(table.columns, 4)}) names neither scores nor an embedding"
    require(
        named,
        f"{first}: where it is no header, name the file's format, {formats}; else its column, --score",
    )
    return "faces", {}


def _numeric(table: pd.DataFrame) -> list[str]:
    """Columns that hold numbers, for the most part."""
    return [
        name for name in table if pd.to_numeric(table[name], errors="coerce").notna().mean() > 0.5
    ]


def side_columns(header: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Columns of the two sides that differ in one mark only, by what is left: {"race": ("race1", "race2")}."""
    header, found = [str(name) for name in header], {}
    for first, second in SIDES:
        for name in header:
            for match in re.finditer(
                rf"(?<![a-z]){first}(?![a-z])" if first.isalpha() else first, name.lower()
            ):
                begin, end = match.span()
                other = name[:begin] + second + name[end:]
                stem = (name[:begin] + name[end:]).strip("_-. ").lower()
                if other in header and other != name and stem not in found:
                    found[stem] = (name, other)
    return found


def column_roles(
    table: pd.DataFrame, score: Iterable[str] | None = None, pattern: bool = False
) -> dict:
    """What the columns of a table of pairs are to `open_pairs`: scores, verdicts, identities, images, attributes.

    pattern: whether names of images say who is in them.
    """
    header = [str(name) for name in table.columns]
    wanted = list(score or [name for name in header if name.lower() in SCORES])
    absent = [name for name in wanted if name not in header]
    require(
        not absent,
        f"there is no column {listed(absent)} of scores; the columns are {listed(header, 30)}",
    )
    sides = {
        stem: pair for stem, pair in side_columns(header).items() if not set(pair) & set(wanted)
    }
    roles: dict = {}
    for stem, pair in sides.items():
        if (
            stem in (*IDENTITY_NAMES, IDENTITY, "id")
            and stem not in IMAGES
            and f"{PROBE}_{IDENTITY}" not in roles
        ):
            roles |= {f"{PROBE}_{IDENTITY}": pair[0], f"{REFERENCE}_{IDENTITY}": pair[1]}
        elif stem in IMAGES:
            roles |= {} if PROBE in roles else {PROBE: pair[0], REFERENCE: pair[1]}
        else:
            roles[stem] = pair
    taken = {column for pair in sides.values() for column in pair}
    verdicts = [
        name for name in header if name.lower() in VERDICTS and name not in taken | set(wanted)
    ]
    roles |= {"genuine": verdicts[0]} if verdicts else {}
    others = [name for name in header if name and name not in taken | set(wanted) | set(verdicts)]
    numeric = _numeric(table[others])
    if not wanted:
        wanted = [
            name for name in numeric if (pd.to_numeric(table[name], errors="coerce") % 1 > 0).any()
        ]
    remedy = f"name them (--score), or the --format of a file without a header; the columns are {listed(header, 30)}"
    require(wanted, f"no column looks like scores: {remedy}")
    enough = "genuine" in roles or f"{PROBE}_{IDENTITY}" in roles or (pattern and PROBE in roles)
    require(
        enough,
        "no column says which pairs are genuine: it takes a column such as genuine or label (1 or 0), identities of "
        "both sides such as id1 and id2, or names of images that say who it is, with --identity '{name}_{number}.jpg'; "
        f"the columns are {listed(header, 30)}",
    )
    roles |= {name: name for name in others if name not in numeric}
    return {"score": wanted[0] if len(wanted) == 1 else wanted} | roles


def together(models: Mapping[str, object]) -> xr.Dataset | xr.DataArray:
    """The faces or scores of several models of the same images as one."""
    parts = dict(models)
    require(len(parts) > 0, "there is no model: give at least one")
    kinds = {kind_of(part) for part in parts.values()}
    if len(parts) == 1 and MODEL in (alone := next(iter(parts.values()))).dims:
        return alone  # whose models have names of their own
    require(
        len(kinds) == 1,
        f"models must all be of one kind, but there are {' and '.join(sorted(kinds))}",
    )
    if kinds == {"faces"}:
        return stack_models(parts)
    (first_name, first), *others = parts.items()
    for name, part in others:
        two = f"models {first_name!r} and {name!r}"
        require(
            MODEL not in part.dims and MODEL not in first.dims,
            f"{two}: one holds several models already",
        )
        sizes = [dict(one.sizes) for one in (first, part)]
        require(
            sizes[0] == sizes[1],
            f"{two} must hold the same comparisons, but have {sizes[0]} and {sizes[1]}",
        )
        same = set(first.coords) == set(part.coords) and all(
            first[c].equals(part[c]) for c in first.coords
        )
        require(
            same, f"{two} must hold the same images, identities and attributes, in the same order"
        )
    names = xr.Variable(MODEL, list(parts))
    return xr.concat(list(parts.values()), names, combine_attrs="override").assign_coords(
        {MODEL: names}
    )


def kind_of(part) -> str:
    """Whether something is faces, pairs or a score tensor."""
    dims = set(getattr(part, "dims", ()))
    kinds = {"faces": {IMAGE, FEATURE}, "pairs": {PAIR}, "a score tensor": {PROBE, REFERENCE}}
    found = [name for name, needed in kinds.items() if needed <= dims]
    require(
        found,
        f"a report is made from faces, scores or the path of a file of such, got {type(part).__name__}",
    )
    return found[0]


def model_names(paths: Iterable[Path]) -> list[str]:
    """Names of models from those of their files, which must differ."""
    ends = re.compile(rf"({'|'.join(map(re.escape, ENDINGS))})+$", re.IGNORECASE)
    names = [ends.sub("", Path(path).name) for path in paths]
    require(
        len(set(names)) == len(names),
        f"files of several models need distinct names, got {listed(names)}",
    )
    return names


def converted(data, path: Path) -> None:
    """Write faces as .npz, or scored pairs as a table, that `open_data` reads without being told anything."""
    kind = kind_of(data)
    ends = {"faces": (".npz",), "pairs": (".csv", ".csv.gz")}.get(kind)
    require(ends is not None, "a matrix of scores needs no other form: it is read as it is")
    require(
        path.name.endswith(ends),
        f"{kind} are written to a name that ends in {' or '.join(ends)}, got {path.name}",
    )
    if kind == "faces":
        columns = {
            str(name): values.values for name, values in data.reset_coords().data_vars.items()
        }
        keep = [str(name) for name in data.coords if data[name].attrs.get("varying") == "keep"]
        more = {IMAGE: data[IMAGE].values} | ({"image_attributes": keep} if keep else {})
        with writing(path, "free some space, or name a file elsewhere"):
            np.savez_compressed(path, **columns, **more)
        return
    sign = -1 if data["score"].attrs.get("distance") else 1
    scores = data["score"] * sign
    several = data[MODEL].values if MODEL in data.dims else []
    columns = {str(name): scores.sel({MODEL: name}) for name in several} or {"score": scores}
    labels = {str(name): data[name] for name in data.coords if data[name].dims == (PAIR,)}
    frame = pd.DataFrame({name: values.values for name, values in (labels | columns).items()})
    frame["genuine"] = frame["genuine"].astype(int)
    with writing(path, "free some space, or name a file elsewhere"):
        frame.rename(columns={"score": "distance"} if sign < 0 else {}).to_csv(path, index=False)
