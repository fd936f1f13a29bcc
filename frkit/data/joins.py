"""What image names and tables of metadata tell: identities by a pattern, labels joined on the column that matches."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, listed, require, warn
from frkit.data.files import named, not_read
from frkit.data.labels import RESERVED, clean_labels
from frkit.data.tables import read_frame

_WHO = (
    "identity",
    "name",
    "person",
    "subject",
    "speaker",
    "id",
)  # fields of a pattern that say who it is
MANY = 20  # rows from which a column without two equal labels holds names
_DIGITS = ("number", "n")  # fields that hold digits only


def is_pattern(text) -> bool:
    """Whether identity= is a pattern of image names and not the name of a column."""
    return isinstance(text, str) and "{" in text


def identities_from(names, pattern: str) -> np.ndarray:
    """Who is in each image, read from its name by a pattern such as "{name}_{number}.jpg".

    A field holds any text without a slash, {number} and {n} digits only; {identity} (or name, person, subject, speaker,
    id) says who it is; folders in front of the pattern are passed over. A name that does not fit is an error.
    """
    require(
        is_pattern(pattern),
        f"identity must be a pattern such as '{{name}}_{{number}}.jpg', got {pattern!r}",
    )
    texts_and_fields = re.split(r"\{(\w+)\}", pattern.replace("\\", "/"))
    fields = texts_and_fields[1::2]
    saying = {field for field in fields if field in _WHO}
    require(
        len(saying) == 1,
        f"identity={pattern!r} must hold one field that says who it is: one of {', '.join(_WHO)}",
    )
    [who] = saying
    expression = re.escape(texts_and_fields[0])
    for place, (field, after) in enumerate(zip(fields, texts_and_fields[2::2])):
        text = r"\d+" if field in _DIGITS else "[^/]+"
        expression += f"(?P={field})" if field in fields[:place] else f"(?P<{field}>{text})"
        expression += re.escape(after)
    rule = re.compile(f"(?:.*/)?{expression}")
    distinct, where = np.unique(np.asarray(names, str), return_inverse=True)
    matches = [
        rule.fullmatch(name.replace("\\", "/")) for name in distinct.tolist()
    ]  # Windows' folders too
    odd = [name for name, match in zip(distinct.tolist(), matches) if match is None]
    require(
        not odd,
        f"identity={pattern!r} does not fit {len(odd)} of {len(distinct)} image names: {listed(odd, 3)}",
    )
    return np.array([match[who] for match in matches], str)[where]


def joined(metadata, keys: dict[str, tuple], taken=()) -> dict[str, tuple[np.ndarray, ...]]:
    """Labels from a table of metadata for every side, joined on whichever of its columns names these people or images.

    metadata: a table with a header. keys: names that its rows may go by, e.g. {"identity": (probes', references')}.
    taken: attributes that are known already. Returns attribute (in lower case) -> labels of each side, None where the
    table does not know them.
    """
    with named(metadata):
        table = read_frame(Path(metadata))
        texts = {
            name: clean_labels(table[name].to_numpy(), len(table), name) for name in table if name
        }
        kind, column = _matching(texts, keys)
        frame = pd.DataFrame(texts, index=table.index)
        frame = frame[frame[column] != UNKNOWN].drop_duplicates()
        attributes = _constant(frame, column, [name for name in texts if name != column])
        again = [name for name in attributes if name.lower() in taken]
        require(
            not again,
            f"columns {listed(again)} stand in the file of the scores or embeddings too: leave one out",
        )
        row_of = pd.Index(frame[column].drop_duplicates())
        places = [row_of.get_indexer(side) for side in keys[kind]]
        lost = np.unique(
            np.concatenate([side[place < 0] for side, place in zip(keys[kind], places)])
        )
        if len(lost):
            many = len(np.unique(np.concatenate(keys[kind])))
            words = f"{len(lost)} of {many} {kind} names ({listed(lost, 3)}): they are in no group"
            warn(f"{metadata}: column {column!r} does not hold {words}")
    first = frame.drop_duplicates(column)
    labels = {name.lower(): np.append(first[name].to_numpy(object), None) for name in attributes}
    return {name: tuple(values[place] for place in places) for name, values in labels.items()}


def _matching(texts: dict[str, np.ndarray], keys: dict) -> tuple[str, str]:
    """What the rows go by, and the column that holds most of those names; none that holds any is an error."""
    best, most = None, 0.0
    for kind, sides in keys.items():
        wanted = np.unique(np.concatenate(sides))
        for name, labels in texts.items():
            share = np.isin(wanted, labels).mean()
            best, most = ((kind, name), share) if share > most else (best, most)
    shown = "; ".join(f"{name!r} ({listed(labels, 2)})" for name, labels in texts.items())
    sought = " nor ".join(
        f"{kind} names such as {listed(sides[0][:1])}" for kind, sides in keys.items()
    )
    require(
        best is not None,
        f"no column holds {sought}, so nothing can be joined; the columns are {shown}",
    )
    return best


def _constant(frame: pd.DataFrame, key: str, names: list[str]) -> list[str]:
    """The columns that say one thing of each name in the key and can be attributes; the others are told."""
    taken = [name for name in names if name.lower() in RESERVED or "/" in name]
    not_read(
        [repr(name) for name in taken], "frkit uses the name itself, or cannot store it; rename it"
    )
    varies = [
        name for name in names if name not in taken and frame.groupby(key)[name].nunique().max() > 1
    ]
    not_read([repr(name) for name in varies], f"rows of one {key!r} differ in it")
    own = [name for name in names if len(frame) >= MANY and frame[name].is_unique]
    not_read(
        [repr(name) for name in own if name not in taken], "every row has its own: names, no groups"
    )
    kept = [name for name in names if name not in taken + varies + own]
    require(len(kept) > 0, f"has no column of labels beside {key!r}")
    again = [name for name in kept if [other.lower() for other in kept].count(name.lower()) > 1]
    require(not again, f"columns {listed(again)} differ in capitals only; rename one")
    return kept
