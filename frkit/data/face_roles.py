"""Which column of a file of embeddings is what: guessed from names and contents."""

import numpy as np
import pandas as pd

from frkit.base import listed, real_numbers, require
from frkit.data import names as usual
from frkit.data.checks import loaded
from frkit.data.evidence import separation
from frkit.data.files import reading
from frkit.data.names import plain, words_of
from frkit.data.roles import FLAGS, SHOWN, given_roles, some_rows
from frkit.data.tables import (
    as_numbers,
    check_header,
    is_number_column,
    numbered_runs,
    to_numbers,
)

COMPARED = 400  # images that show whether one label is one person
FEWEST = 20  # images on which that can rest, and most of one label
ALIKE = 0.7  # share of genuine cosines above others that is expected of people
MANY = 8  # numbered columns that can be an embedding, whatever their name


def face_roles(columns, given=None, by_name=False):
    """Find out what the columns of a file of embeddings are.

    Parameters
    ----------
    columns : dict of str to array
        Embeddings have a row for each image, labels one entry.
    given : mapping, optional
        What the user says: role or attribute to column(s).
    by_name : bool
        Whether names of images say who is in them.
    """
    header = list(columns)
    roles = given_roles("faces", given, header)
    if "embedding" not in roles.given:
        roles.columns["embedding"] = _embeddings(roles, columns)
    n_images = _n_images(columns, roles)
    labels = [name for name in roles.free(header) if np.shape(columns[name]) == (n_images,)]
    if "image" not in roles.given:
        images = _named(labels, usual.NAMES["image"], "image")
        is_name = [len(pd.unique(pd.Series(columns[name]))) == n_images for name in images]
        images = [name for name, is_distinct in zip(images, is_name) if is_distinct]
        if len(images) > 1 and by_name:
            why = f"{listed(images)} could all be names of images"
            roles.ask(header, why, {"image": images[0]})
        if images:
            roles.columns["image"] = images[:1]
    if by_name and not roles.one("image"):
        roles.ask(header, "no column has names of images", {"image": "..."})
    if not by_name and "identity" not in roles.given:
        roles.columns["identity"] = _identities(roles, columns, roles.free(labels))
    return roles


def face_labels(columns):
    """Return the identities in a table of labels."""
    name = _identities(given_roles("faces", None, list(columns)), columns, list(columns))[0]
    return columns[name]


def _n_images(columns, roles):
    """Return how many images there are."""
    shape = np.shape(columns[roles.one("embedding")])
    return shape[-2] if len(shape) > 1 else shape[0]


def _named(names, usual_names, role):
    """Return the columns with a usual name, or only the one with the role's own name."""
    columns = [name for name in names if plain(name) in usual_names]
    return [name for name in columns if name.lower() == role] or columns


def _embeddings(roles, columns):
    """Return the columns of embeddings: with a usual name, one of its words, or the only array."""
    arrays = [name for name, values in columns.items() if np.ndim(values) > 1]
    embeddings = _named(arrays, usual.NAMES["embedding"] | usual.PREFIXES, "embedding")
    if not embeddings:
        embeddings = [name for name in arrays if words_of(name) & usual.NAMES["embedding"]]
        if not embeddings and len(arrays) == 1 and not words_of(arrays[0]) & usual.NO_SCORE:
            embeddings = arrays
        if embeddings:
            return embeddings
    if len(embeddings) > 1:
        names = listed(embeddings)
        why = f"there are several embeddings: {names}; name one, or those of all models"
        roles.ask(columns, why, {"embedding": embeddings[0]})
    if not embeddings:
        why = "no column is an embedding: numbered columns such as f0, f1, ..., or lists of numbers"
        roles.ask(columns, why, {"embedding": arrays or "..."})
    return embeddings


def _identities(roles, columns, labels):
    """Return the column of identities: by a usual name, with people who stand in several rows."""
    for usual_names in (usual.NAMES["identity"], usual.WEAK["identity"]):
        candidates = _named(labels, usual_names, "identity")
        is_weak = usual_names is usual.WEAK["identity"]
        people = [name for name in candidates if not is_weak or _repeats(columns[name])]
        if len(people) > 1:
            why = f"{listed(people)} could all be the identity"
            roles.ask(columns, why, {"identity": people[0]})
        if people and is_weak:
            _check_people(roles, columns, people[0])
        if people:
            return people
    unnamed = [name for name in labels if name.isdigit() and _repeats(columns[name])]
    if len(unnamed) == 1:
        _check_people(roles, columns, unnamed[0])
        return unnamed
    image = roles.one("image")
    why = "no column says whom an image shows"
    if image is not None:
        example = str(np.asarray(columns[image])[0])
        why += (
            f"; if names of images such as {example!r} do, give identity='{{name}}_{{number}}.jpg'"
        )
    return roles.ask(columns, why, {"identity": "..."})


def _check_people(roles, columns, name):
    """Ask where images with one label are hardly more alike than others: it may be a class."""
    labels = pd.Series(np.asarray(columns[name]).astype(str))
    several = labels[labels.duplicated(keep=False)].sort_values(kind="stable")
    several = several.groupby(several.to_numpy()).head(FEWEST)
    rows = np.sort(several.index[:COMPARED].to_numpy())
    values = columns[roles.one("embedding")]
    values = values[0] if values.ndim == 3 else values
    values = loaded(values[rows]).astype(float)  # others stay on disk
    with np.errstate(all="ignore"):
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        cosines = values @ values.T
    first, second = np.triu_indices(len(rows), 1)
    is_same = labels.to_numpy()[rows]
    area, _ = separation(cosines[first, second], is_same[first] == is_same[second])
    if area < ALIKE and len(rows) >= FEWEST:
        why = (
            f"{name!r} may be the identity, but images with the same {name!r} are hardly more "
            "alike than others"
        )
        roles.ask(columns, why, {"identity": name})


def _repeats(labels):
    """Return whether labels can be people: some stand twice, and they are no flags or classes."""
    distinct = pd.unique(pd.Series(labels).dropna()).astype(str)
    is_flag = {*distinct} <= FLAGS
    is_class = len(distinct) <= 2 and len(labels) > 20
    return len(distinct) < len(labels) and not is_flag and not is_class


def gathered(table, given=None):
    """Return the columns of a table of images, with those of an embedding as one array.

    An embedding is a column of lists (also as JSON text), or numbered columns. Numbered columns go
    by the text before their number, such as "f" of f0, f1, ...

    Parameters
    ----------
    table : pd.DataFrame
    given : dict, optional
        What the user says; the names of its embeddings are replaced by those that are returned.
    """
    header = list(table.columns)
    check_header(header)
    columns = {name: table[name] for name in header if name}
    for name, column in columns.items():
        if _is_list(column):
            columns[name] = _rows_of_lists(column)
    blocks = _blocks(table, header)
    if given is not None and given.get("embedding"):
        given["embedding"] = _named_blocks(given["embedding"], columns, blocks)
    for name, numbers in blocks.items():
        columns = {key: column for key, column in columns.items() if key not in numbers}
        columns[name] = np.column_stack([to_numbers(table[one], blank=False) for one in numbers])
    return columns


def _named_blocks(wanted, columns, blocks):
    """Return the names of the embeddings that the user names, which may be text before numbers."""
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    runs = numbered_runs(list(columns))
    names = [name if name in columns or name in blocks else plain(name) for name in wanted]
    for name in names:
        if name in runs and name not in columns:
            blocks[name] = runs[name]
    absent = [name for name in names if name not in columns and name not in blocks]
    words = f"there is no column {listed(absent)}, nor such that are numbered without gaps from 0"
    require(not absent, f"{words} or 1; the columns are {listed(columns, SHOWN)}")
    if len(names) > 1 and all(name in columns and np.ndim(columns[name]) == 1 for name in names):
        for name in [name for name, numbers in blocks.items() if {*numbers} & {*names}]:
            del blocks[name]
        blocks["embedding"] = names
        return ["embedding"]
    return names


def has_embedding(table):
    """Return whether some columns can be an embedding: numbered ones, or lists."""
    header = list(table.columns)
    return bool(_blocks(table, header)) or any(_is_list(table[name]) for name in header)


def _blocks(table, header):
    """Return the sets of numbered columns that can be embeddings."""
    sample = some_rows(table)
    if header == [str(place) for place in range(1, len(header) + 1)]:  # there is no header
        is_fraction = [(as_numbers(sample[name])[0] % 1 > 0).any() for name in header]
        numbers = [name for name, is_one in zip(header, is_fraction) if is_one]
        return {"numbers": numbers} if len(numbers) > 1 else {}
    blocks = {}
    for prefix, names in numbered_runs(header).items():
        is_usual = prefix in usual.PREFIXES and len(names) > 1
        is_usual |= len(names) >= MANY and not words_of(prefix) & usual.NO_SCORE
        if is_usual and np.mean([is_number_column(sample[name]) for name in names]) >= 0.5:
            blocks[prefix or "embedding"] = names
    return blocks


def _is_list(column):
    """Return whether a column has a list of numbers in each row, also as JSON text."""
    first = column.iloc[0]
    if not isinstance(first, str):
        return np.ndim(first) == 1
    # a note such as "[blurred]" is none
    is_enclosed = first.startswith("[") and first.rstrip().endswith("]")
    numbers = _words_in_list(first)
    return is_enclosed and len(numbers) > 0 and is_number_column(pd.Series(numbers))


def _words_in_list(cell):
    """Return what stands in a list that JSON or NumPy wrote, as text."""
    return str(cell).strip("[] \n").replace(",", " ").split()


def _rows_of_lists(column):
    """Return a column of lists as an array."""
    cells = column.astype(object).tolist()
    if isinstance(cells[0], str):  # as JSON or NumPy writes them
        rows = [_words_in_list(cell) for cell in cells]
        with reading(f"column {column.name!r}"):
            return np.array(rows, float)
    return real_numbers(column.name, cells)
