"""Which column is what: one mapping of roles to columns, which everything that is opened has.

A guess is used only where exactly one column can be meant and the data agree with it. Otherwise
frkit stops, shows the columns and the roles that it found, and says which option to give.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from frkit.base import InputError, listed, require
from frkit.data.tables import check_header

SIDES = ("probe", "reference")
WHO = ("probe_identity", "reference_identity")
OF_PAIRS = ("score", "distance", "genuine", "impostor", *SIDES, *WHO, "trial")
OF_FACES = ("embedding", "identity", "image")
FLAGS = frozenset("1 0 -1 1.0 0.0 true false yes no y n".split())  # words that may say anything
SAMPLE = 2000  # rows that show what a column contains
SHOWN = 30  # columns of a message


@dataclass
class Roles:
    """What the columns of some data are.

    Attributes
    ----------
    kind : str
        "faces", "pairs" or "matrix".
    columns : dict of str to list of str
        The columns of each role.
    attributes : dict of str to list of str or None
        One column for each attribute, or one for each side.
    unused : list of str
        Columns that are left aside.
    models : dict of str to str
        Names of models by their columns, where they are not the columns' own.
    who : str
        How it is known who is who, where no column says so.
    given : set of str
        The roles that the user gave.
    """

    kind: str
    columns: dict = field(default_factory=dict)
    attributes: dict = field(default_factory=dict)
    unused: list = field(default_factory=list)
    models: dict = field(default_factory=dict)
    who: str = ""
    given: set = field(default_factory=set)

    def one(self, role):
        """Return the column of a role, or None."""
        return (self.columns.get(role) or [None])[0]

    def scores(self):
        """Return the columns of scores and of distances."""
        return [*self.columns.get("score", []), *self.columns.get("distance", [])]

    def free(self, header):
        """Return columns that have no role yet; one without a name contains row numbers."""
        taken = [*self.columns.values(), *self.attributes.values()]
        used = {name for several in taken for name in several}
        return [name for name in header if name and name not in used]

    def lines(self):
        """Return one line for each role."""
        meanings = {"distance": " (smaller is more alike)", "impostor": " (genuine turned round)"}
        lines = []
        for role, columns in self.columns.items():
            if columns:
                lines.append(f"{role}: {_quoted(columns)}{meanings.get(role, '')}")
        for name, columns in self.attributes.items():
            lines.append(f"attribute {name}: {_quoted(column for column in columns if column)}")
        if self.who:
            lines.append(f"identities: {self.who}")
        if self.unused:
            lines.append(f"not used: {_quoted(self.unused)}")
        return lines

    def attrs(self):
        """Return attributes of data: `columns` in lines for people, `roles` as JSON."""
        roles = {role: columns for role, columns in self.columns.items() if columns}
        roles = json.dumps(roles | self.attributes, ensure_ascii=False)
        return {"columns": "\n".join(self.lines()), "roles": roles}

    def ask(self, header, why, *remedies):
        """Stop with the columns, the roles that were found, and the options that would do."""
        roles = "; ".join(self.lines()) or "none"
        words = f"{why}\ncolumns: {listed(header, SHOWN)}\nroles found: {roles}"
        options = ", or ".join(f"columns={remedy!r}" for remedy in remedies)
        raise InputError(words + (f"\nsay which it is: {options}" if remedies else ""))


def _quoted(columns):
    return listed(columns, 6)


# --- what the user says --------------------------------------------------------------------------


def as_mapping(columns):
    """Return what the user says of columns as a dict."""
    example = {"genuine": "mated", "distance": "l2"}
    words = f"columns= must be a mapping of roles to columns, such as {example}; got {columns!r}"
    require(columns is None or isinstance(columns, Mapping), words)
    return dict(columns or {})


def given_roles(kind, columns, header):
    """Return the roles that the user gave, checked against the columns that are there.

    Parameters
    ----------
    kind : str
    columns : mapping, optional
        Role or attribute to a column, to several, or (scores) to a mapping of models to columns;
        None or "" says that no column has the role.
    header : sequence of str
    """
    check_header(header)
    roles = Roles(kind)
    known = OF_FACES if kind == "faces" else OF_PAIRS
    others = {*OF_FACES, *OF_PAIRS}.difference(known)
    for role, source in as_mapping(columns).items():
        require(
            role not in others,
            f"{role!r} is no role in data of {kind}; the roles are {', '.join(known)}, and names "
            "of attributes",
        )
        if isinstance(source, Mapping):
            roles.models |= {column: str(model) for model, column in source.items()}
            source = list(source.values())
        elif role in ("score", "distance") and isinstance(source, (list, tuple)):
            roles.models |= {column: column for column in source if column}
        several = list(source) if isinstance(source, (list, tuple)) else [source]
        is_text = all(name is None or isinstance(name, str) for name in several)
        require(is_text, f"columns= names columns, but {role!r} is {source!r}")
        absent = [name for name in several if name and name not in header]
        words = f"there is no column {listed(absent)}; the columns are {listed(header, SHOWN)}"
        require(not absent, words)
        roles.given.add(role)
        named = [name for name in several if name]
        if role in known:
            roles.columns[role] = named
        elif not named:
            roles.unused.append(role)
        else:
            most = 1 if kind == "faces" else 2
            words = f"attribute {role!r} has a column, or one for each side of a pair"
            require(len(several) <= most, f"{words}; got {source!r}")
            roles.attributes[role] = several
    return roles


def some_rows(table):
    """Return rows that show what columns contain."""
    return table.iloc[:: max(1, len(table) // SAMPLE)]
