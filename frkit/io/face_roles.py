"""Which column of a file of embeddings is what: guessed from names and contents."""

import re

import numpy as np
import pandas as pd

from frkit.base import listed, real_numbers, require
from frkit.data.checks import loaded, refuse_scores
from frkit.data.files import reading
from frkit.data.labels import clean_labels
from frkit.data.sides import Sides
from frkit.io.cells import as_numbers, is_number_column, refuse_cells, to_numbers
from frkit.io.frames import check_header
from frkit.io.joins import ask_who, share_above
from frkit.io.names import IDS, NAMES, NO_SCORE, PREFIXES, WEAK, numbered_runs, simplified, words_of
from frkit.io.roles import FLAGS, SHOWN, roles_of_user, some_rows

COMPARED = 400  # images that show whether one label is one person
FEWEST = 20  # pairs of images that can show it; also the most images of one label
ALIKE = 0.7  # share of genuine cosines above others that is expected of people
UNNAMED = "first column"  # of text without a name
MANY = 8  # numbered columns that can be an embedding, whatever their name


def face_roles(columns, user_columns=None, by_name=False):
    """Find out what the columns of a file of embeddings are.

    Parameters
    ----------
    columns : dict of str to array
        Embeddings have a row for each image, labels one entry.
    user_columns : mapping, optional
        What the user says: role or attribute to column(s).
    by_name : bool
        Whether a pattern of names of images says who is in them.

    Returns
    -------
    Roles
    array or None
        Who is in each image, where a column says it.
    """
    roles = roles_of_user("faces", user_columns, list(columns))
    if "embedding" not in roles.from_user:
        name = _embedding(roles, columns)
        roles.columns["embedding"] = [name]
        refuse_scores(columns[name], [{"kind": "matrix"}, {"columns": {"embedding": name}}])
    embedding = roles.column("embedding")
    require(
        np.ndim(columns.get(embedding)) > 1,
        f"column {embedding!r} is no embedding: it has one number for each image",
    )
    n_images = np.shape(columns[embedding])[-2]
    if "image" not in roles.from_user:
        labels = _labels(roles, columns, n_images)
        distinct = [name for name in labels if pd.Series(labels[name]).is_unique]
        images = (
            _usual(distinct, "image")
            or _usual(distinct, "image", IDS)
            or [name for name in distinct if _is_unnamed(name)]
        )
        if by_name and not images:
            images = [name for name in distinct if not is_number_column(pd.Series(labels[name]))]
        if len(images) > 1 and by_name:
            why = f"{listed(images)} could all be names of images"
            roles.ask(columns, why, {"image": images[0]})
        roles.columns["image"] = images[:1]
    if by_name:
        if not roles.column("image"):
            roles.ask(columns, "no column has names of images", {"image": "..."})
        return roles, None
    if "identity" not in roles.from_user:
        name = _identity(roles, columns, _labels(roles, columns, n_images))
        if name is None:
            vectors = [name for name, values in columns.items() if np.ndim(values) == 1]
            for name in _usual(vectors, "identity"):
                clean_labels(columns[name], n_images, name)  # says that lengths differ
            _ask_who(roles, columns)
        roles.columns["identity"] = [name]
    return roles, columns.get(roles.column("identity"))


def _labels(roles, columns, n_images):
    """Return the columns without a role that have one label for each image."""
    free = roles.free(columns)
    return {name: columns[name] for name in free if np.shape(columns[name]) == (n_images,)}


def _is_unnamed(name):
    """Return whether a column has no name, or only a number."""
    return name == UNNAMED or name.isdigit()


def _usual(names, role, usual_names=None):
    """Return the columns with a usual name; one that is called like the role comes alone."""
    usual = [name for name in names if simplified(name) in (usual_names or NAMES[role])]
    return [name for name in usual if name.lower() == role] or usual


def _embedding(roles, columns):
    """Return the column of embeddings: with a usual name, one of its words, or the only array."""
    arrays = [name for name, values in columns.items() if np.ndim(values) > 1]
    embeddings = _usual(arrays, "embedding", NAMES["embedding"] | PREFIXES)
    if not embeddings:
        embeddings = [name for name in arrays if words_of(name) & NAMES["embedding"]]
        if len(arrays) == 1 and not words_of(arrays[0]) & NO_SCORE:
            embeddings = arrays
    elif len(embeddings) > 1:
        why = f"there are several embeddings: {listed(embeddings)}; name one, or those of all "
        roles.ask(columns, f"{why}models", {"embedding": embeddings[0]})
    if not embeddings:
        why = "no column is an embedding: numbered columns such as f0, f1, ..., or lists of numbers"
        why = f"{listed(arrays)} could all be embeddings" if arrays else why
        are_models = len({len(columns[name]) for name in arrays}) == 1
        remedies = [{"embedding": arrays}] if are_models else []
        for name in arrays if not are_models else ():
            labels = _labels(roles, columns, len(columns[name]))
            people = next((label for label in labels if _can_be_people(labels[label])), "...")
            remedies.append({"embedding": name, "identity": people})
        is_matrix = [] if arrays else [{"kind": "matrix"}]
        roles.ask(columns, why, *(remedies or [{"embedding": "..."}]), answers=is_matrix)
    return embeddings[0]


# --- who is in the images ------------------------------------------------------------------------


def _identity(roles, columns, labels):
    """Return the column that is named like identities, some of which occur twice; or None."""
    sure = _usual(labels, "identity")
    repeating = [name for name in labels if _can_be_people(labels[name])]
    unnamed = [name for name in repeating if _is_unnamed(name)]
    people = sure or _usual(repeating, "identity", WEAK["identity"])
    if not people and len(unnamed) == 1:
        people = unnamed
    if len(people) > 1:
        why = f"{listed(people)} could all be the identity"
        roles.ask(columns, why, {"identity": people[0]})
    if people and not sure and _is_class(roles, columns, people[0]):
        why = f"{people[0]!r} may be the identity, but images with the same {people[0]!r} are "
        roles.ask(columns, f"{why}hardly more alike than others", {"identity": people[0]})
    return people[0] if people else None


def _can_be_people(labels):
    """Return whether labels can be people: some occur twice, and they are not flags or classes."""
    distinct = {*pd.Series(labels).dropna().astype(str)}
    is_class = len(distinct) <= 2 and len(labels) > 20
    return len(distinct) < len(labels) and not distinct <= FLAGS and not is_class


def _is_class(roles, columns, name):
    """Return whether images with one label are hardly more alike than others."""
    labels = pd.Series(np.asarray(columns[name]).astype(str))
    several = labels[labels.duplicated(keep=False)].sort_values(kind="stable")
    several = several.groupby(several.to_numpy()).head(FEWEST)
    rows = np.sort(several.index[:COMPARED].to_numpy())
    first, second, cosines = _some_cosines(roles, columns, rows)
    labels = labels.to_numpy()[rows]
    area, _ = share_above(cosines, labels[first] == labels[second])
    return area < ALIKE and len(rows) >= FEWEST


def _ask_who(roles, columns):
    """Ask who is in images, and show what patterns of their names would say."""
    name = roles.column("embedding")
    n_rows = np.shape(columns[name])[-2]
    why = f"no column says whom an image shows: a label for each of the {n_rows:,} rows of {name!r}"
    why += " (a table of labels may have a row for each image)"
    if not roles.column("image"):
        roles.ask(columns, why, {"identity": "..."})
    names = np.asarray(columns[roles.column("image")]).astype(str)
    rows = np.sort(np.argsort(names)[:COMPARED])
    first, second, cosines = _some_cosines(roles, columns, rows)
    if len(rows) < len(names):
        why += f". Of the first {len(rows):,} of {len(names):,} names"
    ask_who(roles, columns, why, Sides(first, second, names[rows]), cosines, {"identity": "..."})


def _some_cosines(roles, columns, rows):
    """Return the places of all pairs of some images, and their cosines."""
    values = columns[roles.column("embedding")]
    values = values[0] if values.ndim == 3 else values
    values = loaded(values[rows]).astype(float)  # others stay on disk
    with np.errstate(all="ignore"):
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        cosines = values @ values.T
    first, second = np.triu_indices(len(rows), 1)
    return first, second, cosines[first, second]


# --- columns of a table --------------------------------------------------------------------------


def gathered(table, user_columns=None):
    """Return the columns of a table of images, with those of an embedding as one array.

    An embedding is a column of lists (also as JSON text), or numbered columns. Numbered columns go
    by the text before their number, such as "f" of f0, f1, ...

    Parameters
    ----------
    table : pd.DataFrame
    user_columns : dict, optional
        What the user says; the names of its embeddings are replaced by those that are returned.
    """
    check_header(list(table.columns))
    if table.columns[0] == "" and not is_number_column(table[""]):
        table = table.rename(columns={"": UNNAMED})
    columns = {name: table[name] for name in table if name}
    for name, column in columns.items():
        if _is_list(column):
            columns[name] = _rows_of_lists(column)
    blocks = _blocks(table)
    for role, source in (user_columns or {}).items():
        if role != "embedding":  # a label in a numbered column
            labels = source if isinstance(source, (list, tuple)) else [source]
            for name, numbers in blocks.items():
                blocks[name] = [number for number in numbers if number not in labels]
    if user_columns is not None and user_columns.get("embedding"):
        user_columns["embedding"] = _named_blocks(user_columns["embedding"], columns, blocks)
    for name, numbers in blocks.items():
        columns = {key: column for key, column in columns.items() if key not in numbers}
        numbers = [to_numbers(table[number], blank=False) for number in numbers]
        columns[name] = np.column_stack(numbers)
    return columns


def _named_blocks(given_names, columns, blocks):
    """Return the names of the embeddings that the user names, which may be text before numbers."""
    runs = numbered_runs(list(columns))
    names = []
    for name in [given_names] if isinstance(given_names, str) else given_names:
        if name not in columns and name not in blocks:
            name = simplified(name)
            require(
                name in runs,
                f"there is no column {name!r}, and no columns {name}0, {name}1, ... without gaps; "
                f"the columns are {listed(columns, SHOWN)}",
            )
            blocks[name] = runs[name]
        names.append(name)
    if len(names) == 1 or any(np.ndim(columns.get(name, [[]])) > 1 for name in names):
        return names
    for name in [name for name in blocks if {*blocks[name]} & {*names}]:
        del blocks[name]
    blocks["embedding"] = names  # several columns of numbers are one embedding
    return ["embedding"]


def has_embedding(table):
    """Return whether some columns can be an embedding: numbered ones, or lists."""
    return bool(_blocks(table)) or any(_is_list(table[name]) for name in table)


def _blocks(table):
    """Return the sets of numbered columns that can be embeddings."""
    header = list(table.columns)
    sample = some_rows(table)
    if header == [str(number) for number in range(1, len(header) + 1)]:  # there is no header
        numbers = [name for name in header if (as_numbers(sample[name])[0] % 1 > 0).any()]
        return {"numbers": numbers} if len(numbers) > 1 else {}
    blocks = {}
    for prefix, names in numbered_runs(header).items():
        is_usual = prefix in PREFIXES and len(names) > 1
        is_usual |= len(names) >= MANY and not words_of(prefix) & NO_SCORE
        if is_usual and np.mean([is_number_column(sample[name]) for name in names]) >= 0.5:
            blocks[prefix or "embedding"] = names
    return blocks


def _is_list(column):
    """Return whether a column has a list of numbers in each row, also as JSON text."""
    first = column.iloc[0]
    if isinstance(first, (list, tuple, np.ndarray)):
        return len(first) > 0 and not isinstance(first[0], (str, dict, list))
    if not isinstance(first, str):
        return False
    numbers = _words_in_list(first)
    # a note such as "[blurred]" is no list of numbers
    return len(numbers) > 0 and is_number_column(pd.Series(numbers))


def _words_in_list(cell):
    """Return the numbers, as text, of a list that JSON or NumPy wrote."""
    numbers = re.split(r"[\s,;]+", cell.strip("[] \n"))
    is_enclosed = cell.startswith("[") and cell.rstrip().endswith("]")
    return numbers if is_enclosed or len(numbers) >= MANY else []


def _rows_of_lists(column):
    """Return a column of lists as an array."""
    refuse_cells(column, column.isna().to_numpy(), "has no numbers")
    cells = column.astype(object).tolist()
    is_text = isinstance(cells[0], str)  # as JSON or NumPy writes them
    rows = [_words_in_list(cell) for cell in cells] if is_text else cells
    lengths = np.array([*map(len, rows)])
    other = f"is a list of another length than the first, which has {lengths[0]:,} numbers"
    refuse_cells(column, lengths != lengths[0], other)
    with reading(f"column {column.name!r}"):
        return np.array(rows, float) if is_text else real_numbers(column.name, rows)
