"""A question to the user ends with the line of Python, and the command, that answer it."""

import shlex
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from frkit.base import InputError


@contextmanager
def asking(source, options):
    """Add to a question, an error with answers, the calls that open the data with each answer.

    Parameters
    ----------
    source : path, list of paths, or pd.DataFrame
    options : dict
        Of `open_data`, as they are now.
    """
    try:
        yield
    except InputError as error:
        if error.answers:
            error.question = getattr(error, "question", str(error))
            error.calls = [python_line(source, options, answer) for answer in error.answers]
            lines = [f"Python: {call}" for call in error.calls]
            if not isinstance(source, pd.DataFrame):
                commands = [report_words(source, with_answer(options, it)) for it in error.answers]
                lines += [f"command: {shlex.join(command)}" for command in commands]
            error.args = ("\n".join([error.question, *lines]),)
        raise


def with_answer(options, answer):
    """Return options with those of an answer; columns are added to the columns given."""
    answered = {name: value for name, value in (options | answer).items() if value is not None}
    if "columns" in answer:
        answered["columns"] = dict(options.get("columns") or {}) | answer["columns"]
    return answered


def python_line(source, options, answer):
    """Return the call of `open_data` with an answer."""
    if isinstance(source, pd.DataFrame):
        arguments = ["frame"]
    elif isinstance(source, (str, Path)):
        arguments = [repr(str(source))]
    else:
        arguments = [repr([str(path) for path in source])]
    for name, value in with_answer(options, answer).items():
        value = str(value) if isinstance(value, Path) else value
        arguments.append(f"{name}={value!r}")
    return f"fk.open_data({', '.join(arguments)})"


def report_words(source, options):
    """Return the words of the command that makes a report."""
    paths = [source] if isinstance(source, (str, Path)) else source
    return ["frkit", "report", *map(str, paths), *option_words(options)]


def option_words(options):
    """Return options of `open_data` as words of the command line."""
    words = []
    for name, value in options.items():
        option = name.replace("_", "-")
        if name == "columns":
            value = column_words(value or {})
        if value is False:
            words.append(f"--no-{option}")
        elif value is not None:
            several = value if isinstance(value, (list, tuple)) else [value]
            several = ["none"] if name == "missing" and not several else several
            words += [f"--{option}", *map(str, several if value is not True else [])]
    return words


def column_words(columns):
    """Write a mapping of roles to columns as the command line does: role=column."""
    assignments = []
    for role, source in columns.items():
        several = [source] if isinstance(source, str) or source is None else list(source)
        assignments += [f"{role}={name or ''}" for name in several]
    return assignments
