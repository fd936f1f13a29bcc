"""Which column is what: one mapping of roles to columns, which everything that is opened has.

A guess is used only where exactly one column can be meant and the data agree with it. Otherwise
frkit stops, shows the columns and their roles so far, and says which option to give.
"""

import json
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, require, require_mapping
from frkit.data.labels import can_be_named
from frkit.data.sides import SIDES, WHO
from frkit.io.cells import WITH_FRAME, as_numbers, is_number_column
from frkit.io.frames import check_header
from frkit.io.names import DECISION, side_columns, words_of, words_of_truth

OF_PAIRS = ("score", "distance", "genuine", "impostor", *SIDES, *WHO)
OF_FACES = ("embedding", "identity", "image")
MEANINGS = {"distance": " (smaller is more alike)", "impostor": " (genuine turned round)"}
# may be any kind of answer; spreadsheets translate true and false
FLAGS = frozenset(
    "1 0 -1 1.0 0.0 true false yes no y n wahr falsch vrai faux verdadero falso vero ja nein oui "
    "non si sí sim tak nie não nao nee да нет pos neg gen imp".split()
)
ROWS_ALIKE = (
    "what do {0} say? Every row counts alike, as one image, or one comparison, of one model\n"
    "  where rows are of other parts, attacks, failures, flips or frames, keep the right ones: "
    "frame[frame[{1!r}] == LABEL]\n"
    "  where they are eyes, fingers or sites, they belong to the names of people: "
    "frame.assign(person=frame.person + '_' + frame[{1!r}])\n"
    "{2}"
    f"  ({WITH_FRAME})\n"
    "  where they are models, labels, further scores or nothing, a call below says so"
)
COUNTS = (
    "  where a row stands for several, repeat it: fk.open_data(frame.loc[frame.index.repeat("
    "frame[{0!r}])].reset_index(drop=True).drop(columns={0!r}))\n"
)
GAP = "..."  # a column that a question leaves open
SAMPLE = 2000  # rows that show what a column contains
SHOWN = 30  # columns of a message
MOST_MODELS = 20  # systems in one table; the "models" of many speakers are no systems


@dataclass
class Roles:
    """What the columns of some data are.

    Attributes
    ----------
    columns : dict of str to list of str
        The columns of each role.
    attributes : dict of str to list of str or None
        One column for each attribute, or one for each side.
    unused : list of str
        Columns that are ignored.
    who : str
        How it is known who is who, where no column says so.
    from_user : set of str
        The roles that the user gave.
    """

    columns: dict = field(default_factory=dict)
    attributes: dict = field(default_factory=dict)
    unused: list = field(default_factory=list)
    who: str = ""
    from_user: set = field(default_factory=set)

    def column(self, role):
        """Return the first column of a role, or None."""
        return next(iter(self.columns.get(role, [])), None)

    def scores(self):
        """Return the columns of scores and of distances."""
        return [*self.columns.get("score", []), *self.columns.get("distance", [])]

    def free(self, header):
        """Return columns that have no role yet, without that of row numbers, which has no name."""
        taken = {*self.unused}.union(*self.columns.values(), *self.attributes.values())
        return [name for name in header if name and name not in taken]

    def lines(self):
        """Return one line for each role."""
        lines = [
            f"{role}: {listed(columns, 6)}{MEANINGS.get(role, '')}"
            for role, columns in self.columns.items()
            if columns
        ]
        for name, columns in self.attributes.items():
            lines.append(f"attribute {name}: {listed(filter(None, columns), 6)}")
        if self.who:
            lines.append(f"identities: {self.who}")
        if self.unused:
            lines.append(f"not used: {listed(self.unused, 6)}")
        return lines

    def attrs(self):
        """Return attributes of data: `columns` in lines for people, `roles` as JSON."""
        roles = {role: columns for role, columns in self.columns.items() if columns}
        roles = json.dumps(roles | self.attributes, ensure_ascii=False)
        return {"columns": "\n".join(self.lines()), "roles": roles}

    def ask(self, header, why, *remedies, answers=(), **options):
        """Stop, and show the columns, the roles so far, and the options that would help.

        remedies : roles to columns, of `columns=`; options : others of `open_data`, each an
        answer; answers : several options together. Columns "..." of a remedy are named where no
        others can be meant; where none can, the remedy is left out.
        """
        taken = set().union(*self.columns.values())
        labels = {
            name: pd.Series(header[name], name=name)
            for name in header
            if name and name not in taken and np.ndim(header[name]) == 1
        }
        columns = [_filled(remedy, labels) for remedy in remedies]
        of_options = [{name: value} for name, value in options.items() if value is not None]
        if len(header) > 0:
            roles = "; ".join(self.lines()) or "none"
            why += f"\ncolumns: {listed(header, SHOWN)}\nroles found: {roles}"
        raise InputError(
            why, [*of_options, *({"columns": remedy} for remedy in columns if remedy), *answers]
        )


def _filled(remedy, labels):
    """Return roles with columns in place of "...", where no others can be meant.

    labels : dict of str to pd.Series; None is returned where too few of them have such contents.
    """
    for roles, may_be in CONTENTS.items():
        gaps = [role for role in roles if remedy.get(role) == GAP]
        free = [name for name in labels if name not in remedy.values()]
        names = [name for name in free if gaps and may_be(labels[name])]
        if len(names) < len(gaps):
            return None
        if len(names) == len(gaps):
            remedy = remedy | dict(zip(gaps, names))
    return remedy


def are_truth(column):
    """Return whether every cell says that a pair is genuine or not, and is no decision."""
    is_decision = bool(words_of(column.name) & DECISION)
    return not is_decision and np.logical_or(*words_of_truth(column)).all()


def _are_names(column):
    """Return whether cells can be names of people or images."""
    return column.nunique() > 2


CONTENTS = {  # what columns of some roles contain
    ("genuine", "impostor"): are_truth,
    ("score", "distance"): is_number_column,
    (*SIDES, *WHO, "identity", "image"): _are_names,
}


def as_mapping(columns):
    """Return the roles that the user gave to columns as a dict."""
    if columns is None:
        return {}
    require_mapping("columns=", columns, "{'genuine': 'mated', 'distance': 'l2'}", 0)
    return dict(columns)


def roles_of_user(kind, columns, header):
    """Return the roles that the user gave, checked against the columns that are there.

    Parameters
    ----------
    kind : {"faces", "pairs"}
    columns : mapping, optional
        Role or attribute to a column, or to several; None or "" says that no column has the role.
    header : sequence of str
    """
    check_header(header)
    roles = Roles()
    allowed, others, most = (OF_FACES, OF_PAIRS, 1) if kind == "faces" else (OF_PAIRS, OF_FACES, 2)
    for role, source in as_mapping(columns).items():
        require(
            role not in others,
            f"{role!r} is not a role in data of {kind}; the roles are {', '.join(allowed)}, and "
            "names of attributes",
        )
        is_list = isinstance(source, (list, tuple))
        several = list(source) if is_list else [source]
        is_text = all(name is None or isinstance(name, str) for name in several)
        require(is_text, f"columns are given by their names, but {role!r} is {source!r}")
        named = [name for name in several if name]
        absent = [name for name in named if name not in header]
        require(
            not absent,
            f"there is no column {listed(absent)}; the columns are {listed(header, SHOWN)}",
        )
        roles.from_user.add(role)
        if role in allowed:
            roles.columns[role] = named
        elif named:
            roles.attributes[role] = several
            require(
                len(several) <= most,
                f"attribute {role!r} is one column, or one for each side of a pair; got {source!r}",
            )
        if not named and role in header:
            roles.unused.append(role)
    return roles


def some_rows(table):
    """Return rows that show what columns contain."""
    return table.iloc[:: max(1, len(table) // SAMPLE)]


def ask_about_others(roles, header, names, scores=(), images=None, why=ROWS_ALIKE):
    """Ask about columns without a usual name that tell rows apart: they may not be alike.

    Parameters
    ----------
    roles : Roles
    header : pd.DataFrame or dict of array
    names : sequence of str
        These columns; those that are equal, or distinct, in all rows tell nothing apart.
    scores : sequence of str
        Some of them, which may be scores of further models.
    images : dict, optional
        Some of them, which may name the images of both sides.
    why : str
        The question; {0} stands for the columns, {1!r} for the first of them, and {2} for a line
        about one that may count.
    """
    counts = {name: pd.Series(header[name]).value_counts(dropna=False) for name in names}
    vary = [name for name in names if len(counts[name]) > 1]
    others = [name for name in vary if name in scores or counts[name].max() > 1]
    if not others:
        return
    scores = [name for name in scores if name in others]
    are_few = [name for name in others if len(counts[name]) <= MOST_MODELS and name not in scores]
    models = [{"model": name} for name in are_few if counts[name].nunique() == 1]
    are_rows = why == ROWS_ALIKE  # and not arrays beside a matrix
    labels = _as_labels([name for name in others if name not in (images or {}).values()], scores)
    answers = [*models[:are_rows], labels | (images or {})]
    if scores:
        role = next(filter(roles.column, ("score", "distance")))
        answers.append({role: [*roles.columns[role], *scores]})
    answers = [*filter(None, answers), {}]
    for number, answer in enumerate(answers):
        named = {name for source in answer.values() for name in np.ravel(source)}
        answers[number] = {name: None for name in others if name not in named} | answer
    may_count = [name for name in others if _may_count(header[name])]
    line = COUNTS.format(may_count[0]) if may_count else ""
    roles.ask(header, why.format(listed(others), others[0], line), *answers)


def _may_count(column):
    """Return whether cells are whole numbers, and not all 0 or 1."""
    values, _ = as_numbers(pd.Series(column))
    return bool((values % 1 == 0).all() and values.max() > 1)


def _as_labels(names, scores):
    """Return columns by the names of attributes, of both sides where their names say so."""
    sides = side_columns(names)
    taken = {*scores}.union(*sides.values())
    labels = {stem: list(columns) for stem, columns in sides.items()}
    labels |= {name: name for name in names if name not in taken}
    return {name: columns for name, columns in labels.items() if can_be_named(name)}
