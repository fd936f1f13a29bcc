"""Which column of a file of embeddings is what, by names that the data confirm."""

import re
from itertools import chain

import numpy as np
import pandas as pd

from frkit.base import listed, real_numbers, require
from frkit.data.checks import loaded, refuse_scores
from frkit.data.files import not_read, reading
from frkit.data.sides import Sides
from frkit.io.cells import (
    are_names_of_rows,
    as_numbers,
    is_number_column,
    refuse_cells,
    to_numbers,
)
from frkit.io.file_contents import names_without_header
from frkit.io.frames import check_header
from frkit.io.joins import ask_who
from frkit.io.labels_table import occur_again
from frkit.io.names import (
    IDS,
    NAMES,
    NO_SCORE,
    PREFIXES,
    WEAK,
    numbered_runs,
    simplified,
    words_of,
)
from frkit.io.pair_roles import role_of_score
from frkit.io.roles import ask_about_others, roles_of_user, some_rows

COMPARED = 400  # images that show what patterns of their names would say
UNNAMED = "first column"  # of text without a name
EMBEDDING_OF_COLUMNS = "fk.faces(frame[columns].to_numpy(), frame['person'])"
COSINES = (
    "fk.pairs(np.sum(a * b, 1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1), genuine)"
)
SEVERAL_SETS = (
    "could all be embeddings; name one, or those of all models. With data = np.load(path), the "
    "images of two sets, such as a gallery and probes, are fk.faces(np.concatenate([data['X_a'], "
    "data['X_b']]), np.concatenate([data['people_a'], data['people_b']])), and both images of each "
    f"pair {COSINES} with a, b = data['X_a'], data['X_b']"
)
OTHER_LAYOUTS = (
    "\n  where columns are images: fk.faces(data['embeddings'].T, data['labels'])"
    "\n  where one column has labels: fk.faces(data[:, 1:], data[:, 0].astype(int))"
    f"\n  where rows are of pairs: {COSINES} with a, b = rows[data['idx1']], rows[data['idx2']], "
    "or rows[::2], rows[1::2] where the rows of a pair follow each other; rows = data['embeddings']"
    "\n  where columns are a score and its label: fk.pairs(*data.T)"
    "\n  where they are scores: fk.score_matrix(data, people_of_rows, people_of_columns)"
    "\n  where they are probabilities of two classes: fk.pairs(data['probs'][:, 1], data['labels'])"
    "\n  where labels are one column for each person: data['onehot'].argmax(1)"
    "\n  where copies of each image have an axis of their own: fk.faces(data['embeddings']"
    ".mean(1), data['labels'])"
    "\n  where images of each person have one: fk.faces(np.concatenate(data['embeddings']), "
    "np.repeat(data['labels'], data['embeddings'].shape[1]))"
    "\n  (with data = np.load(path))"
)
SEVERAL_ROWS = (
    "{0!r} names one image in several rows, as of flips, crops or frames, whose pairs are no "
    "genuine pairs: keep one row of each, such as frame.drop_duplicates({0!r}), or the mean of its "
    "rows; or it names no image"
)
BETWEEN_NUMBERS = r"(?:np\.float[0-9]+\(|[\s,;)])+"  # of a list as text, also as NumPy writes it
MANY = 8  # numbers, or numbered columns, that are no labels


def face_roles(columns, user_columns=None, by_name=False):
    """Find out what the columns of a file of embeddings are.

    Parameters
    ----------
    columns : dict of str to array
        Embeddings have a row for each image, labels one entry.
    user_columns : dict, optional
        What the user says: role or attribute to column(s).
    by_name : bool
        Whether a pattern of names of images says who is in them, and no column.

    Returns
    -------
    Roles
    """
    roles = roles_of_user("faces", user_columns, list(columns))
    if "embedding" not in roles.from_user:
        name = _embedding(roles, columns)
        roles.columns["embedding"] = [name]
        refuse_scores(columns[name], [{"kind": "matrix"}])
    embedding = roles.column("embedding")
    require(
        np.ndim(columns.get(embedding)) > 1,
        f"column {embedding!r} is no embedding: it has one number for each image; numbered "
        "columns, such as f0, f1, ..., are named by the text before the number, and others are one "
        f"embedding by {EMBEDDING_OF_COLUMNS}",
    )
    labels = free_labels(roles, columns)
    if "image" not in roles.from_user:
        roles.columns["image"] = _images(roles, columns, labels)[:1]
    if by_name and not roles.column("image"):
        roles.ask(columns, "no column has names of images", {"image": "..."})
    if not by_name and "identity" not in roles.from_user:
        people = _usual(labels, NAMES["identity"])
        if len(people) != 1:
            _ask_who(roles, columns, labels, people)
        roles.columns["identity"] = people
    return roles


def free_labels(roles, columns):
    """Return the columns without a role that have one label for each image."""
    shape = np.shape(columns[roles.column("embedding")])[-2:-1]
    free = {name: columns[name] for name in roles.free(columns)}
    return {
        name: values
        for name, values in free.items()
        if np.shape(values) == shape and not any(map(_is_vector, values))
    }


def _is_vector(cell):
    """Return whether a cell has several numbers."""
    return isinstance(cell, (list, tuple, np.ndarray))


def _is_unnamed(name):
    """Return whether a column has no name, or only a number."""
    return name == UNNAMED or name.isdigit()


def _usual(names, usual):
    """Return the columns with a usual name."""
    return [name for name in names if simplified(name) in usual]


def _images(roles, columns, labels):
    """Return the columns with names of images; ask about one that names an image twice."""
    distinct = [name for name in labels if pd.Series(labels[name]).is_unique]
    usual, images = (_usual(names, NAMES["image"]) for names in (labels, distinct))
    if usual and not images:
        known = {UNNAMED, *usual, *_usual(labels, NAMES["identity"])}
        ask_about_others(roles, columns, [name for name in labels if name not in known])
        roles.ask(columns, SEVERAL_ROWS.format(usual[0]), {usual[0]: None})
    return images or [name for name in distinct if simplified(name) in IDS or _is_unnamed(name)]


def _embedding(roles, columns):
    """Return the only array with a usual word in its name, or the only one without another."""
    arrays = [name for name, values in columns.items() if np.ndim(values) > 1]
    usual = NAMES["embedding"] | PREFIXES
    embeddings = [name for name in arrays if words_of(name) & usual] or [
        name for name in arrays if not (role_of_score(name) or words_of(name) & NO_SCORE)
    ]
    if len(embeddings) == 1:
        return embeddings[0]
    if not embeddings:
        why = (
            "no column is an embedding: numbered columns such as f0, f1, ..., others by the text "
            "before their number, or lists of numbers"
        )
        roles.ask(columns, why, {"embedding": "..."}, answers=[{"kind": "matrix"}])
    remedies = [{"embedding": name} for name in embeddings]
    if len({len(columns[name]) for name in embeddings}) == 1:
        remedies.insert(0, {"embedding": embeddings})
    roles.ask(columns, f"{listed(embeddings)} {SEVERAL_SETS}", *remedies)


# --- who is in the images ------------------------------------------------------------------------


def _ask_who(roles, columns, labels, people):
    """Ask who is in images: name labels that may say it, and what patterns of names would say.

    people : labels that are called like identities
    """
    people = people or [
        name
        for name in labels
        if occur_again(labels[name]) and (simplified(name) in WEAK["identity"] or _is_unnamed(name))
    ]
    name = roles.column("embedding")
    *_, n_rows, n_features = np.shape(columns[name])
    why = (
        f"no column says whom an image shows: a label for each of the {n_rows:,} rows of {name!r} "
        "(a table of labels may have a row for each image)"
    )
    if people:
        why += f"; {listed(people)} may say it, or name classes or groups"
    if n_features == 2 or not labels:
        shapes = {label: np.shape(values) for label, values in columns.items()}
        why += f"; shapes are {shapes}{OTHER_LAYOUTS}"
    remedies = [{"identity": label} for label in people or ["..."]]
    image = roles.column("image")
    if image is None:
        roles.ask(labels, why, *remedies, answers=[{"labels": "..."}])
    names = np.asarray(columns[image]).astype(str)
    rows = np.sort(np.argsort(names)[:COMPARED])
    values = columns[name]
    first, second, cosines = cosines_of_rows(values[0] if values.ndim == 3 else values, rows)
    ask_who(roles, columns, why, Sides(first, second, names[rows]), cosines, *remedies)


def cosines_of_rows(values, rows):
    """Return the places of all pairs of some rows of an embedding, and their cosines."""
    values = loaded(values[rows]).astype(float)  # others stay on disk
    with np.errstate(all="ignore"):
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        cosines = values @ values.T
    first, second = np.triu_indices(len(rows), 1)
    return first, second, cosines[first, second]


# --- columns of a table --------------------------------------------------------------------------


def gathered(table, user_columns):
    """Return the columns of a table of images, with those of an embedding as one array.

    An embedding is a column of lists (also as JSON text), or numbered columns. Numbered columns go
    by the text before their number, such as "f" of f0, f1, ...

    Parameters
    ----------
    table : pd.DataFrame
    user_columns : dict
        What the user says; the names of its embeddings are replaced by those that are returned.
    """
    check_header(list(table.columns))
    if table.columns[0] == "" and are_names_of_rows(table[""]):
        table = table.rename(columns={"": UNNAMED})
    names = np.ravel(user_columns.get("embedding") or []).tolist()
    names = [name if name in table else simplified(name) for name in names]
    if names:
        user_columns["embedding"] = names
    blocks = numbered_blocks(table, {*names}.difference(table))
    features = {*chain(*blocks.values())}
    runs = numbered_runs(list(table.columns))
    unread = [name for name, run in runs.items() if len(run) >= MANY and features.isdisjoint(run)]
    not_read(unread, "numbered columns of no embedding that is usual or named")
    numbered = features.union(*map(runs.get, unread))
    others = [
        name for name in table if name and (name in user_columns.values() or name not in numbered)
    ]
    columns = {name: _rows_of_lists(table[name]) for name in others}
    for name, block in blocks.items():
        numbers = [to_numbers(table[each], blank=False) for each in block if each not in columns]
        columns[name] = np.column_stack(numbers)
    return columns


def has_embedding(table):
    """Return whether some columns are an embedding: lists, or numbered ones."""
    return bool(numbered_blocks(table)) or any(_is_list(table[name]) for name in table)


def numbered_blocks(table, named=()):
    """Return the sets of numbered columns that are embeddings by the text before the number.

    named : such texts beside the usual ones
    """
    header = list(table.columns)
    sample = some_rows(table)
    if header == names_without_header(table):
        numbers = [name for name in header if (as_numbers(sample[name])[0] % 1 > 0).any()]
        return {"numbers": numbers} if len(numbers) >= MANY else {}
    blocks = {}
    for prefix, names in numbered_runs(header).items():
        is_usual = prefix in PREFIXES and len(names) > 1
        if is_usual:  # unless most are text
            is_usual = np.mean([is_number_column(sample[name]) for name in names]) >= 0.5
        if is_usual or prefix in named:
            blocks[prefix or "embedding"] = names
    return blocks


def _is_list(column):
    """Return whether a column has a list of numbers in each row, also as text."""
    numbers = _numbers_in(column.iloc[0])
    # a note such as "[blurred]" is no list of numbers
    return len(numbers) > 0 and is_number_column(pd.Series(numbers))


def _numbers_in(cell):
    """Return the numbers of a list in a cell, as text where JSON or NumPy wrote it."""
    if not isinstance(cell, str):
        return cell if _is_vector(cell) else []
    numbers = [number for number in re.split(BETWEEN_NUMBERS, cell.strip("[]{} \n")) if number]
    return numbers if cell.startswith(("[", "{")) or len(numbers) >= MANY else []


def _rows_of_lists(column):
    """Return a column of lists as an array, and another one as it is."""
    if not _is_list(column):
        return column
    rows = [_numbers_in(cell) for cell in column.astype(object)]
    lengths = np.array([*map(len, rows)])
    other = f"is a list of another length than the first, which has {lengths[0]:,} numbers"
    refuse_cells(column, lengths != lengths[0], other)
    with reading(f"column {column.name!r}"):
        is_text = isinstance(rows[0][0], str)
        return np.array(rows, float) if is_text else real_numbers(column.name, rows)
