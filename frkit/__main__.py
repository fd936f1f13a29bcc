"""The command `frkit`: reports on files or demo faces, and checks of reports."""

import argparse
import ast
import logging
import os
import re
import shlex
import signal
import sys
import warnings
from pathlib import Path

from frkit.base import DataWarning, InputError, require

BAD, STOPPED = 2, 130
FAR = [1e-2, 1e-3, 1e-4]  # where no levels are asked for
SEVERAL = {"nargs": "+", "action": "extend"}  # "--far 0.1 --far 0.2" is both
EPILOG = """\
examples
  frkit demo                                       a report on faces that come with frkit
  frkit report faces.npz --by gender               embeddings with identities and gender
  frkit report a.npz b.npz --by gender -o out      two models on the same images, compared
  frkit report scores.csv --score arcface cosface  a table of scored pairs, two columns of scores
  frkit look pairs.csv                             what frkit sees in a file
  frkit report pairs.csv --columns genuine="mated?" distance="L2 dist"    which column is what
  frkit report matrix.csv --far 1e-2 1e-3          a matrix of scores, ids in first row and column
  frkit check out/report.json --max frr@1e-3=0.05  whether the numbers stay below limits

The files: embeddings (.npz, .npy with .csv, .csv, .parquet, .mat, .nc), a matrix of scores (text,
.npy) or a list of scored pairs (text, .parquet, .json). What the columns are is guessed from names
and contents, and shown; --columns says it. Nothing is ever unpickled. In the report FAR is the
share of comparisons of different people that are accepted, FRR the share of comparisons of one
person that are rejected.
"""
CHECK_EPILOG = """\
Each limit is MEASURE@LEVEL=VALUE, such as frr@1e-3=0.05, frr_max_min@1e-3=2 or eer=0.03. LEVEL is a
FAR level (or threshold) of the report; without it all levels count. Every model and group counts.

exit status
  0  the upper end of every interval is below its limit
  1  the lower end of some interval is above its limit
  2  the data cannot decide, or the arguments cannot be used
"""
READING = {  # options of `open_data`
    "format": {
        "metavar": "NAME",
        "help": "faces, matrix, or a list of pairs: rfw, lfw, bfw, bob4, bob5, bob-csv, voxceleb, "
        "kaldi, speechbrain, pyeer, ijbc, json, columns",
    },
    "columns": {
        **SEVERAL,
        "metavar": "ROLE=COLUMN",
        "help": "which column is what: score, distance, genuine, impostor, probe, reference, "
        "probe_identity, reference_identity, identity, image, embedding, or an attribute's name; "
        "a role that is given several times has several columns",
    },
    "score": {**SEVERAL, "metavar": "COLUMN", "help": "column(s) of scores in a table of pairs"},
    "scores": {"metavar": "FILE", "help": "the scores of a list of pairs, one per line"},
    "metadata": {"metavar": "FILE", "help": "a table about people or templates of a list of pairs"},
    "labels": {"metavar": "FILE", "help": "a table of labels, one row per image"},
    "identity": {
        "metavar": "COLUMN",
        "help": "the column that says whom an image shows, or a pattern of image names such as "
        "{name}_{number}.jpg",
    },
    "missing": {**SEVERAL, "type": float, "metavar": "SCORE", "help": "marks a failed comparison"},
    "failed": {"choices": ["left out", "rejected"], "help": "what failed comparisons count as"},
    "distance": {
        "action": "store_true",
        "default": None,
        "help": "smaller scores mean more alike",
    },
}
REPORT = {
    "by": {**SEVERAL, "metavar": "ATTRIBUTE", "help": "groups to compare; several are crossed"},
    "quick": {
        "action": "store_true",
        "help": "leave out what takes long (permutation tests, N-Sigma, ...)",
    },
    "seed": {"type": int, "default": 0, "metavar": "N", "help": "of all random draws (default: 0)"},
    "level": {
        "type": float,
        "default": 0.95,
        "metavar": "P",
        "help": "of the intervals (default: 0.95)",
    },
    "varying": {
        "choices": ["error", "split", "first", "most frequent"],
        "default": "error",
        "help": "what to do where an attribute varies within a person",
    },
    "pdf": {"action": "store_true", "help": "write the figures as PDF, too (always as SVG)"},
    "open": {"action": "store_true", "help": "show the report in the browser"},
}
FAR_HELP = "false acceptance rates at which to read the system (default: 1e-2 1e-3 1e-4)"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 where it went well, 2 for bad input, 130 where it was interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    asked = parser().parse_args(arguments)
    asked.line = shlex.join(["frkit", *arguments])
    commands = {"report": _report, "look": _look, "demo": _demo, "check": _check}
    shown = logging.StreamHandler()
    log = logging.getLogger("frkit")
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # the report says them
            return commands[asked.command](asked)
    except (InputError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # as of `frkit report ... | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"frkit: {spoken(str(error))}", file=sys.stderr)
        return BAD
    except KeyboardInterrupt:
        print("\nfrkit: stopped; nothing was written", file=sys.stderr)
        return STOPPED
    finally:
        log.removeHandler(shown)
        signal.signal(signal.SIGTERM, previous)


def spoken(message):
    """Write the options in a message as the command line does: columns={...} is --columns ..."""
    from frkit.reporting.look import column_words

    def as_words(found):
        return "--columns " + shlex.join(column_words(ast.literal_eval(found[1])))

    message = re.sub(r"\bdistance=True\b(, or --distance)?", "--distance", message)
    names = "|".join({*READING, *REPORT} - {"columns", "distance"})
    message = re.sub(rf"(?<![\w-])({names})=", r"--\1 ", message)
    return re.sub(r"columns=(\{[^{}]*\})", as_words, message)


def parser() -> argparse.ArgumentParser:
    """All commands and options."""
    raw = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    words = "How good is this matching system, how fair, and how sure is that?"
    top = argparse.ArgumentParser("frkit", description=words, epilog=EPILOG, **raw)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    report = commands.add_parser(
        "report", help="evaluate files and write a report", epilog=EPILOG, **raw
    )
    several = "one file, or one for each model (of the same images)"
    report.add_argument("files", nargs="+", metavar="FILE", help=several)
    look = commands.add_parser("look", help="say what frkit sees in files")
    look.add_argument("files", nargs="+", metavar="FILE", help=several)
    demo = commands.add_parser("demo", help="the same on faces that come with frkit")
    for command, folder in ((report, "frkit-report"), (demo, "frkit-demo")):
        _add_options(command, REPORT)
        levels = command.add_mutually_exclusive_group()
        levels.add_argument("--far", **SEVERAL, type=_level, metavar="LEVEL", help=FAR_HELP)
        fixed = "fixed score thresholds instead"
        levels.add_argument("--threshold", **SEVERAL, type=float, metavar="SCORE", help=fixed)
        where = f"folder for the report (default: {folder})"
        command.add_argument("-o", "--output", default=folder, metavar="DIR", help=where)
    for command in (report, look):
        reading = command.add_argument_group("how to read the file, where it does not say")
        _add_options(reading, READING)
    check = commands.add_parser(
        "check",
        help="whether the numbers of a report stay below limits",
        epilog=CHECK_EPILOG,
        **raw,
    )
    check.add_argument("file", metavar="report.json")
    check.add_argument(
        "--max", **SEVERAL, required=True, metavar="LIMIT", help="MEASURE@LEVEL=VALUE"
    )
    return top


def _level(text):
    """Read a level such as 0.001 or 0.1%."""
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _add_options(command, options):
    for name, how in options.items():
        command.add_argument(f"--{name}", **how)


def _report(asked):
    """Files to a folder."""
    from frkit.reporting.opening import by_model, opened

    print(f"frkit: reading {', '.join(asked.files)}", file=sys.stderr)
    data = by_model(asked.files) if len(asked.files) > 1 else asked.files[0]
    opening = _opening(asked)
    return _write(asked, opened(data, opening), opening)


def _look(asked):
    """What frkit sees in files."""
    from frkit.reporting.look import look

    logging.getLogger("frkit").setLevel(logging.WARNING)  # the text contains the columns
    print(look(asked.files if len(asked.files) > 1 else asked.files[0], **_opening(asked)))
    return 0


def _opening(asked):
    """Options of `open_data`."""
    options = vars(asked)
    opening = {name: options[name] for name in READING if options[name] is not None}
    if asked.columns is not None:
        opening["columns"] = _columns(asked.columns)
    return opening


def _columns(words):
    """Read ROLE=COLUMN; a role that is given several times has a list."""
    columns = {}
    for word in words:
        role, sign, name = word.partition("=")
        require(sign and role, f"--columns takes ROLE=COLUMN, such as genuine=mated; got {word!r}")
        columns.setdefault(role, []).append(name or None)
    return {role: names if len(names) > 1 else names[0] for role, names in columns.items()}


def _demo(asked):
    """The bundled faces to a folder."""
    from frkit.data.opening import demo_faces

    asked.by = asked.by or ["gender"]
    return _write(asked, demo_faces(), {})


def _write(asked, data, opening):
    """Evaluate, write the folder, and say what came out."""
    import webbrowser

    from frkit.reporting.report import report
    from frkit.reporting.writing import NUMBERS, PAGE, check_free

    check_free(Path(asked.output))
    finished_report = report(
        data,
        by=asked.by[0] if asked.by and len(asked.by) == 1 else asked.by,
        far=asked.far or FAR,
        threshold=asked.threshold,
        level=asked.level,
        quick=asked.quick,
        seed=asked.seed,
        varying=asked.varying,
        opening=opening,
        progress=sys.stderr.isatty(),
    )
    finished_report.command = asked.line
    folder = finished_report.save(asked.output, pdf=asked.pdf)
    print(finished_report, "-" * 60, sep="\n")
    print(f"{folder / PAGE}: the report; {folder / NUMBERS}: its numbers")
    if asked.open:
        webbrowser.open((folder / PAGE).absolute().as_uri())
    return 0


def _check(asked):
    """A report's numbers against limits."""
    from frkit.reporting.check import check, parse_limit

    outcome, lines = check(asked.file, [parse_limit(limit) for limit in asked.max])
    print(*lines, sep="\n")
    return outcome


if __name__ == "__main__":
    sys.exit(main())
