"""Columns of the two sides of a pair, which differ in a mark only: id_probe and id_reference."""

from frkit.data.names import SIDES
from frkit.data.tables import numbered_runs


def side_columns(header):
    """Return columns that differ in the mark of a side only: {"race": ("race1", "race2")}."""
    pairs = {}
    taken = {name for run in numbered_runs(header).values() if len(run) > 2 for name in run}
    by_lower_case = {name.lower(): name for name in reversed(header)}
    for first, second in SIDES:
        for name in header:
            for start in _places(name.lower(), first):
                before = name[:start].lower()
                after = name[start + len(first) :].lower()
                other = by_lower_case.get(before + second + after)
                if other is not None and not {name, other} & taken:
                    stem = f"{before} {after}".strip("_-. ")
                    pairs.setdefault(stem, (name, other))
                    taken |= {name, other}
    return pairs


def _places(name, mark):
    """Return where the mark of a side stands in a name; a short one stands apart."""
    starts = [place for place in range(len(name)) if name.startswith(mark, place)]
    if len(mark) > 2:
        return starts
    kind = str.isdigit if mark.isdigit() else str.isalpha
    around = [(name[:start][-1:], name[start + 1 :][:1]) for start in starts]
    is_apart = [not any(kind(letter) for letter in both if letter) for both in around]
    return [start for start, alone in zip(starts, is_apart) if alone]
