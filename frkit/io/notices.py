"""Notices about data that may not be what they seem; they change nothing."""

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, listed, warn
from frkit.data.labels import NOBODY
from frkit.io.cells import FAILURES, WITH_FRAME
from frkit.io.names import simplified, words_of
from frkit.io.roles import FLAGS

MOST_GROUPS = 100  # labels of an attribute that can be groups
FEWEST = 20  # scores, or rows, that show what they are
MOST_ROWS = 5  # most rows by which labels are tried shifted
CLEAR = 5.0  # standard errors from which on labels are shifted
# words of the name of a column of flags
OF_FAILURES = frozenset("fta fte failure failed fail detected acquired ok valid status".split())
NAMES_OF_SPLIT = frozenset("split splits subset fold partition set".split())  # columns
SPLITS = frozenset("train training val valid validation dev development test testing eval".split())


def warn_of_spellings(labels):
    """Warn of people, and of groups, that may be the same under names that differ in spelling.

    Parameters
    ----------
    labels : dict of str to sequence of arrays
        The labels of one side or of both, by attribute; those of people as "identity".
    """
    for name, sides in labels.items():
        distinct = np.unique(np.concatenate([pd.unique(side) for side in sides]).astype(str))
        distinct = pd.Series(distinct[distinct != UNKNOWN], dtype=object)
        bare = distinct.str.lower().str.replace(r"[\s_-]+", " ", regex=True)
        bare = bare.str.replace(r"(?<![0-9.])0+(?=[0-9])", "", regex=True)
        is_group = name != "identity"
        nothing = distinct[distinct.isin(NOBODY)]
        if len(nothing) > 0:
            warn(
                f"{listed(nothing)} counts as a label of {name!r} like any other; if it means that "
                "nothing is known, leave these cells blank"
            )
        if is_group:
            whole_words = bare[bare.str.isalpha() & (bare.str.len() > 1)]
            bare = bare.replace(dict(zip(whole_words.str[:1], whole_words)))
        bare = bare[bare.duplicated(keep=False)].sort_values(kind="stable")
        if len(bare) > 0 and not (is_group and len(distinct) > MOST_GROUPS):
            unit, letter = ("group", " or are its first letter") if is_group else ("person", "")
            warn(
                f"{len(bare):,} labels of {name!r} may mean the same as another, as they differ in "
                f"capital letters, leading zeros, blanks, '_' or '-'{letter}, such as "
                f"{listed(distinct[bare.index], 6)}; each stays a {unit} of its own: write them "
                "alike if they are the same"
            )


def warn_of_parts(roles, columns):
    """Warn of rows of training and test, and of ranks, unless the user named their column.

    Parameters
    ----------
    roles : Roles
    columns : mapping of str to array
    """
    for name in columns:
        bare = simplified(name)
        if name in roles.from_user or bare not in NAMES_OF_SPLIT | {"rank"}:
            continue
        labels = {*pd.Series(np.ravel(columns[name])).dropna().astype(str).str.lower()}
        if bare == "rank" and roles.scores():
            warn(
                f"{name!r} suggests that the list has only the best candidates of each probe: then "
                "its impostor pairs are the most similar ones, and FAR is too high"
            )
        elif len(labels) > 1 and labels <= SPLITS:
            warn(
                f"the rows of all parts in column {name!r} are used: {listed(sorted(labels))}; a "
                "model may have been trained on some of them; for one part, keep only its rows, as "
                f"in frame[frame[{name!r}] == 'test'], {WITH_FRAME}"
            )


def warn_of_failures(roles, table, scores, marks):
    """Warn of pairs with a score that another column calls failed, unless the user named it.

    scores : of each model, (row,). marks : numbers that mark failed comparisons
    """
    has_score = np.any([np.isfinite(each) & ~np.isin(each, marks) for each in scores], axis=0)
    taken = {*roles.from_user}.union(*roles.columns.values())
    for name in [name for name in table if name not in taken]:
        words = {*table[name][has_score].dropna().astype(str).str.lower().unique()[:3]}
        if len(words) == 2 and words <= FLAGS and words_of(name) & OF_FAILURES:
            warn(
                f"column {name!r} may say which comparisons failed, and all that have a score "
                "count; make the scores of those that failed blank"
            )
        is_failed = table[name].isin(FAILURES).to_numpy() & has_score
        if is_failed.any():
            words = table[name][is_failed].unique().tolist()
            warn(
                f"{is_failed.sum():,} rows with {listed(words)} in column {name!r} have a score, "
                "which counts like any other; if these comparisons failed, make their scores blank"
            )


def warn_of_decisions(scores):
    """Warn of scores, NaN where missing, that have only two values."""
    scores = scores[np.isfinite(scores)]
    if len(scores) < FEWEST:
        return
    low, high = scores.min(), scores.max()
    if low < high and ((scores == low) | (scores == high)).all():
        warn(
            f"the scores have only two values, {low:g} and {high:g}, as decisions have: so there "
            "is only one threshold, with one FAR and one FRR; give the scores on which the "
            "decisions rest"
        )


def warn_of_shift(rows, identity):
    """Warn of labels that are shifted by a few rows against their images.

    Where images of a person follow each other, neighbours are least alike where the person changes.
    """
    changes = np.flatnonzero(identity[1:] != identity[:-1])
    changes = changes[(changes >= MOST_ROWS) & (changes < len(rows) - 1 - MOST_ROWS)]
    if len(changes) < FEWEST:
        return
    norms = np.linalg.norm(rows, axis=1)
    alike = np.einsum("ij,ij->i", rows[1:], rows[:-1]) / (norms[1:] * norms[:-1])
    shifts = sorted(range(-MOST_ROWS, MOST_ROWS + 1), key=abs)
    means = [alike[changes + shift].mean() for shift in shifts]
    is_low = np.array(means) < (means[0] + min(means)) / 2
    shift = shifts[int(np.argmax(is_low))]
    excess = alike[changes] - alike[changes + shift]
    if excess.mean() > CLEAR * excess.std() / np.sqrt(len(changes)):
        direction = "later" if shift > 0 else "earlier"
        warn(
            f"images of another person begin {abs(shift)} row(s) {direction} than their labels "
            "say: labels and embeddings are probably shifted, as by a header that was read as a "
            "label, or by an image without an embedding; row k of both must be the same image"
        )
