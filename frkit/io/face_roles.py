"""Which column of a file of embeddings is what: guessed from names and contents."""

import re

import numpy as np
import pandas as pd

from frkit.base import listed, real_numbers, require
from frkit.data.checks import loaded, refuse_scores
from frkit.data.files import reading
from frkit.data.sides import Sides
from frkit.io.cells import are_names_of_rows, as_numbers, is_number_column, refuse_cells, to_numbers
from frkit.io.file_contents import names_without_header
from frkit.io.frames import check_header
from frkit.io.joins import ask_who, share_above
from frkit.io.names import (
    IDS,
    NAMES,
    NO_SCORE,
    PREFIXES,
    WEAK,
    numbered_runs,
    side_columns,
    simplified,
    words_of,
)
from frkit.io.notices import ALIKE, FEW
from frkit.io.pair_roles import role_of_score
from frkit.io.roles import FLAGS, models_column, roles_of_user, some_rows

COMPARED = 400  # images that show whether one label is one person
MOST_CLASSES = 10  # labels of groups, such as race, that have many images each
MANY_OF_CLASS = 20
FEWEST = 20  # images that can show it, or what a number means
UNNAMED = "first column"  # of text without a name
EMBEDDING_OF_COLUMNS = "fk.faces(frame[columns].to_numpy(), frame['person'])"
OF_TWO_SIDES = (
    "fk.pairs(np.sum(a * b, 1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1), genuine)"
)
COLUMNS_OF_IMAGES = (
    "where each column is an image, the line is fk.faces(data[{name!r}].T, data[{label!r}]), with "
    "data = np.load(path)"
)
PAIRS_OF_ROWS = (
    f"where it says which pairs of rows are genuine, they are {OF_TWO_SIDES}, with a, b = "
    "rows[data['idx1']], rows[data['idx2']], or rows[::2], rows[1::2] where the rows of a pair "
    "follow each other, rows = data[{name!r}] and data = np.load(path)"
)
TWO_COLUMNS = (
    "; columns of a score and of its label are fk.pairs(*np.load(path).T), and probabilities of "
    "two classes fk.pairs(data['probs'][:, 1], data['labels']), with data = np.load(path)"
)
NO_FEATURE = frozenset(  # words of numbered columns of scores
    "score scores similarity sim dist distance prob probability logit gallery probe".split()
)
ZEROS = re.compile("(?<![0-9])0[0-9]")  # of names of people or images, such as S001
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
        Whether a pattern of names of images says who is in them, and no column.

    Returns
    -------
    Roles
    """
    roles = roles_of_user("faces", user_columns, list(columns))
    if "embedding" not in roles.from_user:
        name = _embedding(roles, columns)
        roles.columns["embedding"] = [name]
        refuse_scores(columns[name], [{"kind": "matrix"}, {"columns": {"embedding": name}}])
    embedding = roles.column("embedding")
    require(
        np.ndim(columns.get(embedding)) > 1,
        f"column {embedding!r} is no embedding: it has one number for each image; numbered "
        "columns, such as f0, f1, ..., are named by the text before the number, and others are one "
        f"embedding by {EMBEDDING_OF_COLUMNS}",
    )
    n_images = np.shape(columns[embedding])[-2]
    if "image" not in roles.from_user:
        images = _images(free_labels(roles, columns, n_images), by_name)
        if len(images) > 1 and by_name:
            why = f"{listed(images)} could all be names of images"
            roles.ask(columns, why, {"image": images[0]})
        roles.columns["image"] = images[:1]
    if by_name and not roles.column("image"):
        roles.ask(columns, "no column has names of images", {"image": "..."})
    if not by_name and "identity" not in roles.from_user:
        labels = free_labels(roles, columns, n_images)
        roles.columns["identity"] = [_identity(roles, columns, labels)]
    if "image" not in roles.from_user:
        _ask_about_rows_of_an_image(roles, columns, n_images)
    return roles


def _ask_about_rows_of_an_image(roles, columns, n_images):
    """Ask about names of images that one person has in several rows, as of flips or crops."""
    people = columns.get(roles.column("identity"))
    labels = free_labels(roles, columns, n_images)
    if people is None or models_column(labels) is not None:  # of which each has a row
        return
    for name in _usual(labels, "image"):
        rows = pd.DataFrame({"person": np.asarray(people), "image": np.asarray(labels[name])})
        if rows.dropna().duplicated().any():
            why = (
                f"{name!r} names one image in several rows, as of flips, crops or frames, whose "
                "pairs are no genuine pairs: keep one row of each, such as "
                f"frame.drop_duplicates({name!r}), or the mean of its rows; or it names no image"
            )
            roles.ask(columns, why, {name: None})


def free_labels(roles, columns, n_images):
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


def _images(labels, by_name):
    """Return the columns that may have names of images; by_name : so does any text."""
    distinct = [name for name in labels if pd.Series(labels[name]).is_unique]
    images = _usual(distinct, "image") or _usual(distinct, "image", IDS)
    images = images or [name for name in distinct if _is_unnamed(name)]
    if images or not by_name:
        return images
    return [name for name in distinct if not is_number_column(pd.Series(labels[name]))]


def _embedding(roles, columns):
    """Return the column of embeddings: with a usual name, one of its words, or the only array."""
    arrays = [name for name, values in columns.items() if np.ndim(values) > 1]
    embeddings = _usual(arrays, "embedding", NAMES["embedding"] | PREFIXES)
    if not embeddings:
        embeddings = [name for name in arrays if words_of(name) & NAMES["embedding"]]
    arrays = [name for name in arrays if not role_of_score(name)]
    if not embeddings and len(arrays) == 1 and not words_of(arrays[0]) & NO_SCORE:
        embeddings = arrays
    if len(embeddings) == 1:
        return embeddings[0]
    arrays = embeddings or arrays
    if not arrays:
        why = "no column is an embedding: numbered columns such as f0, f1, ..., or lists of numbers"
        roles.ask(columns, why, {"embedding": "..."}, answers=[{"kind": "matrix"}])
    why = f"{listed(arrays)} could all be embeddings; name one, or those of all models"
    remedies = [{"embedding": name} for name in arrays]
    if len({len(columns[name]) for name in arrays}) == 1:
        remedies = [{"embedding": arrays}, *remedies]
        for first, second in side_columns(arrays).values():
            why += f". If they are of both images of each pair, a list of pairs is {OF_TWO_SIDES}"
            why += f", with a, b = data[{first!r}], data[{second!r}] and data = np.load(path)"
    people = [_labels_of_set(name, columns) for name in arrays]
    if all(people):
        why += (
            ". If they are sets of images, such as of a gallery and probes, all these images are "
            f"fk.faces(np.concatenate([data[name] for name in {arrays}]), np.concatenate("
            f"[data[name] for name in {people}])), with data = np.load(path)"
        )
    roles.ask(columns, why, *remedies)


def _labels_of_set(array, columns):
    """Return the only labels of the rows of an array that share a word with it, or None."""
    labels = [
        name
        for name, values in columns.items()
        if np.shape(values) == np.shape(columns[array])[:1] and words_of(name) & words_of(array)
    ]
    return labels[0] if len(labels) == 1 else None


# --- who is in the images ------------------------------------------------------------------------


def _identity(roles, columns, labels):
    """Return the column that is named like identities, some of which occur twice."""
    sure = _usual(labels, "identity")
    repeating = [name for name in labels if _can_be_people(labels[name])]
    people = sure or _usual(repeating, "identity", WEAK["identity"])
    people = people or [name for name in repeating if _is_unnamed(name)]
    if not people:
        _ask_who(roles, columns)
    if len(people) > 1:
        why = f"{listed(people)} could all be the identity"
        roles.ask(columns, why, {"identity": people[0]})
    if not sure and _is_class(roles, columns, people[0]):
        why = f"{people[0]!r} may be the identity, but images with the same {people[0]!r} are "
        why += "hardly more alike than others, or it has few labels of many images, as of groups"
        roles.ask(columns, why, {"identity": people[0]})
    return people[0]


def _can_be_people(labels):
    """Return whether labels can be people: many occur twice, and they are not flags or classes."""
    distinct = {*pd.Series(labels).dropna().astype(str)}
    is_class = len(distinct) <= 2 and len(labels) > 20
    are_several = pd.Series(labels).duplicated(keep=False).mean() > FEW
    return are_several and not distinct <= FLAGS and not is_class


def _is_class(roles, columns, name):
    """Return whether images with one label are hardly more alike than others, or labels few."""
    labels = pd.Series(np.asarray(columns[name]).astype(str))
    if labels.nunique() <= MOST_CLASSES and len(labels) > MANY_OF_CLASS * labels.nunique():
        return True
    several = labels[labels.duplicated(keep=False)].sort_values(kind="stable")
    rows = np.sort(several.index[:COMPARED])
    first, second, cosines = _some_cosines(roles, columns, rows)
    area, _ = share_above(cosines, labels[rows[first]].array == labels[rows[second]].array)
    return area < ALIKE and len(rows) >= FEWEST


def _ask_who(roles, columns):
    """Ask who is in images, and show what patterns of their names would say."""
    name = roles.column("embedding")
    *_, n_rows, n_features = np.shape(columns[name])
    vectors = [label for label, values in columns.items() if np.ndim(values) == 1]
    why = (
        f"no column says whom an image shows: a label for each of the {n_rows:,} rows of {name!r} "
        "(a table of labels may have a row for each image)"
    )
    others = [label for label in vectors if len(columns[label]) != n_rows]
    for label in (_usual(others, "identity") or others)[:1]:
        n_labels = len(columns[label])
        line = COLUMNS_OF_IMAGES if n_labels == n_features else PAIRS_OF_ROWS
        line = line.format(name=name, label=label)
        why += f"; {label} has {n_labels:,} labels, but there are {n_rows:,} images: {line}"
    if n_features == 2:
        why += TWO_COLUMNS
    if not roles.column("image"):
        fitting = free_labels(roles, columns, n_rows)
        roles.ask(fitting, why, {"identity": "..."}, answers=[{"labels": "..."}])
    names = np.asarray(columns[roles.column("image")]).astype(str)
    rows = np.sort(np.argsort(names)[:COMPARED])
    first, second, cosines = _some_cosines(roles, columns, rows)
    if len(rows) < len(names):
        why += f". Of the first {len(rows):,} of {len(names):,} names"
    ask_who(roles, columns, why, Sides(first, second, names[rows]), cosines, {"identity": "..."})


def _some_cosines(roles, columns, rows):
    """Return the places of all pairs of some images, and their cosines."""
    values = columns[roles.column("embedding")]
    return cosines_of_rows(values[0] if values.ndim == 3 else values, rows)


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
    blocks = numbered_blocks(table)
    if user_columns.get("embedding"):
        names = user_columns["embedding"]
        names = [names] if isinstance(names, str) else names
        names = [name if name in table else simplified(name) for name in names]
        user_columns["embedding"] = names
        runs = numbered_runs(list(table.columns))
        blocks |= {name: runs[name] for name in names if name in runs and name not in table}
    of_user = [source for role, source in user_columns.items() if role != "embedding"]
    for name, numbers in blocks.items():  # perhaps with a label in a numbered column
        blocks[name] = [number for number in numbers if number not in of_user]
    in_blocks = {number for numbers in blocks.values() for number in numbers}
    columns = {name: table[name] for name in table if name and name not in in_blocks}
    for name, column in columns.items():
        if _is_list(column):
            columns[name] = _rows_of_lists(column)
    for name, numbers in blocks.items():
        numbers = [to_numbers(table[number], blank=False) for number in numbers]
        columns[name] = np.column_stack(numbers)
    return columns


def has_embedding(table):
    """Return whether some columns are an embedding: lists, or numbered ones.

    Numbered columns may also be scores, and those of which some begin with 0, such as S001, may be
    named like people or images.
    """
    blocks = [
        names
        for prefix, names in numbered_blocks(table).items()
        if prefix in PREFIXES | {"embedding", "numbers"}
        or not (words_of(prefix) & NO_FEATURE or any(map(ZEROS.search, names)))
    ]
    return bool(blocks) or any(_is_list(table[name]) for name in table)


def numbered_blocks(table):
    """Return the sets of numbered columns that can be embeddings."""
    header = list(table.columns)
    sample = some_rows(table)
    if header == names_without_header(table):
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
