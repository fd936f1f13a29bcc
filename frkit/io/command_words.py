"""Options of `open_data` as words of the command line, in both directions."""

import argparse
import re
import shlex
from pathlib import Path

from frkit.base import InputError, parse_number, require

OPTION = re.compile(r"-(?![0-9.]+$)")  # what argparse takes for one
SEVERAL = {"nargs": "+", "action": "extend"}  # "--far 0.1 --far 0.2" is both


def mark(text):
    """Read a mark of failed comparisons: a number, or a word such as FTA."""
    try:
        return parse_number(text)
    except InputError:
        return text


READING = {
    "kind": {
        "choices": ["faces", "matrix", "pairs"],
        "help": "where names and contents leave it open",
    },
    "columns": {
        **SEVERAL,
        "metavar": "ROLE=COLUMN",
        "help": "which column is what: score, distance, genuine, impostor, probe, reference, "
        "probe_identity, reference_identity, identity, image, embedding, or an attribute's name; "
        "a role that is given several times has several columns",
    },
    "identity": {
        "metavar": "COLUMN",
        "help": "the column that says who is in an image, or a pattern of image names such as "
        "{name}_{number}.jpg",
    },
    "labels": {
        "metavar": "FILE",
        "help": "a table of images or people, joined by the names in the data; where these name "
        "nothing, with a row for each image",
    },
    "scores": {"metavar": "FILE", "help": "the scores of a list of pairs, one per line"},
    "missing": {
        **SEVERAL,
        "type": mark,
        "metavar": "SCORE",
        "help": "number or word that marks a failed comparison; none: no score does",
    },
    "failed": {"choices": ["left out", "rejected"], "help": "what failed comparisons count as"},
    "same_images": {
        "action": argparse.BooleanOptionalAction,
        "help": "of a square matrix without names of images: row i and column i are one image, or "
        "two images of one person",
    },
}


def add_options(command, options):
    """Add options to a command: each name with the settings of argparse."""
    for name, settings in options.items():
        command.add_argument(f"--{name.replace('_', '-')}", **settings)


def options_of(arguments):
    """Return the options of `open_data` among the arguments of a command."""
    values = vars(arguments)
    options = {name: values[name] for name in READING if values[name] is not None}
    if "missing" in options:
        options["missing"] = [each for each in options["missing"] if each != "none"]
    if "columns" in options:
        options["columns"] = _columns(options["columns"])
    return options


def options_of_text(text):
    """Return the options of `open_data` that a line contains, as the command line takes them."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    add_options(parser, READING)
    try:
        arguments, unknown = parser.parse_known_args(shlex.split(text))
    except (argparse.ArgumentError, ValueError) as error:
        raise InputError(f"options: {error}") from None
    require(
        not unknown,
        f"options: {shlex.join(unknown)} is none; write --columns score=cosine genuine=mated",
    )
    return options_of(arguments)


def _columns(assignments):
    """Read ROLE=COLUMN; a role that is given several times has a list."""
    columns = {}
    for word in assignments:
        role, sign, name = word.partition("=")
        require(sign and role, f"--columns takes ROLE=COLUMN, such as genuine=mated; got {word!r}")
        columns.setdefault(role, []).append(name or None)
    return {role: names if len(names) > 1 else names[0] for role, names in columns.items()}


def with_answer(options, answer):
    """Return options with those of an answer; columns are added to the columns given."""
    answered = {name: value for name, value in (options | answer).items() if value is not None}
    if "columns" in answer:
        sources = [source for source in answer["columns"].values() if source]
        columns = (options.get("columns") or {}).items()
        columns = {role: source for role, source in columns if source not in sources}
        answered["columns"] = columns | answer["columns"]
    return answered


def report_words(source, options):
    """Return the words of the command that makes a report."""
    paths = [source] if isinstance(source, (str, Path)) else source
    return ["frkit", "report", *map(str, paths), *option_words(options)]


def option_words(options):
    """Return options of `open_data` as words of the command line."""
    words = []
    for name, value in options.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif value is not None:
            several = column_words(value) if name == "columns" else value
            several = several if isinstance(several, (list, tuple)) else [several]
            several = [*map(str, several)] or ["none"]
            # a word such as -inf would be read as an option
            are_options = any(map(OPTION.match, several))
            joined = [f"--{option}={word}" for word in several]
            words += joined if are_options else [f"--{option}", *several]
    return words


def column_words(columns):
    """Write a mapping of roles to columns as the command line does: role=column."""
    assignments = []
    for role, source in columns.items():
        several = [source] if isinstance(source, str) or source is None else list(source)
        assignments += [f"{role}={name or ''}" for name in several]
    return assignments
