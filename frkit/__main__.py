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
from contextlib import suppress
from pathlib import Path

from frkit.base import DataWarning, InputError, parse_number, require

BAD, STOPPED = 2, 130
BAD_CHECK = 3  # of `frkit check`, where 2 says that the data cannot decide
FAR = [1e-2, 1e-3, 1e-4]  # where no levels are asked for


def _number(text):
    """Read a number of an option, such as 0.001 or 0.1%."""
    try:
        return parse_number(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


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
Each limit is MEASURE@LEVEL=VALUE, such as frr@0.1%=5%, frr_max_min@1e-3=2 or eer=0.03. LEVEL is a
FAR level (or threshold) of the report; without it all levels count. Every group counts, and every
model unless --model names one.

--no-worse-than compares with an earlier report: new minus old must stay below the margin, of FRR
below 0 unless --margin says otherwise. Reports on the same images are compared image by image.

exit status
  0  the upper end of every interval is below its limit
  1  the lower end of some interval is above its limit
  2  the data cannot decide
  3  an argument or a file cannot be used
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
    "missing": {
        **SEVERAL,
        "type": _number,
        "metavar": "SCORE",
        "help": "marks a failed comparison",
    },
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
        "type": _number,
        "default": 0.95,
        "metavar": "P",
        "help": "of the intervals (default: 0.95)",
    },
    "weighting": {
        "choices": ["identity", "pair"],
        "help": "how rates average: the mean over people, or pooled over pairs (default: identity, "
        "of a list of pairs: pair)",
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
    """Run one command; 0 where it went well, 2 for bad input, 130 where it was interrupted.

    `frkit check` returns what it found, and 3 for bad input.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    bad = BAD_CHECK if arguments[:1] == ["check"] else BAD
    try:
        asked = parser().parse_args(arguments)
    except SystemExit as end:  # argparse has said what is wrong, or has shown the help
        sys.exit(bad if end.code else 0)
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
        return bad
    except KeyboardInterrupt:
        print("\nfrkit: stopped; nothing was written", file=sys.stderr)
        return STOPPED
    finally:
        log.removeHandler(shown)
        signal.signal(signal.SIGTERM, previous)


PYTHON_CALL = r"(\b(?:fk|np|pd|xr)\.[\w.]+\((?:[^()]|\([^()]*\))*\))"


def spoken(message):
    """Write the options in a message as the command line does; lines of Python stay as they are."""
    pieces = re.split(PYTHON_CALL, message)
    pieces[::2] = map(_with_options, pieces[::2])
    return "".join(pieces)


def _with_options(message):
    """Turn columns={...} into --columns ..., and the like."""
    from frkit.reporting.look import column_words

    def as_words(found):
        return "--columns " + shlex.join(column_words(ast.literal_eval(found[1])))

    message = re.sub(r"\b(distance|quick)=True\b(, or --distance)?", r"--\1", message)
    roles = r"(?<![\w-])((?:probe|reference)(?:_identity)?|genuine)="
    message = re.sub(rf"{roles} and {roles}", r"--columns \1=... \2=...", message)
    message = re.sub(rf"{roles}(?=[ ,;]|$)", r"--columns \1=...", message)
    names = "|".join({*READING, *REPORT} - {"columns", "distance"})
    message = re.sub(rf"(?<![\w-])({names})=(?=-)", r"--\1=", message)  # a negative number
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
        levels.add_argument("--far", **SEVERAL, type=_number, metavar="LEVEL", help=FAR_HELP)
        fixed = "fixed score thresholds instead"
        levels.add_argument("--threshold", **SEVERAL, type=_number, metavar="SCORE", help=fixed)
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
    check.add_argument("file", metavar="REPORT", help="a report's folder, or its report.json")
    limits = check.add_argument_group("limits, of which at least one must be given")
    limits.add_argument("--max", **SEVERAL, metavar="LIMIT", help="MEASURE@LEVEL=VALUE")
    limits.add_argument("--no-worse-than", metavar="OLD", help="an earlier report")
    margin = "by how much a rate may be higher than in OLD (default: frr=0)"
    limits.add_argument("--margin", **SEVERAL, metavar="LIMIT", help=margin)
    check.add_argument("--model", metavar="NAME", help="the model that is checked (default: all)")
    check.add_argument("--junit", metavar="FILE", help="write the outcomes as JUnit XML, too")
    check.add_argument("--json", metavar="FILE", help="write the outcomes as JSON, too")
    return top


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
    seen = look(asked.files if len(asked.files) > 1 else asked.files[0], **_opening(asked))
    for line in seen.splitlines():
        print(spoken(line) if line.startswith("notice: ") else line)
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
        weighting=asked.weighting,
        varying=asked.varying,
        opening=opening,
        progress=sys.stderr.isatty(),
    )
    finished_report.command = asked.line
    sections = finished_report.sections.values()
    lines_of_sections = [section.lines for section in sections]
    for lines in (finished_report.cautions, finished_report.left_out, *lines_of_sections):
        lines[:] = map(spoken, lines)
    folder = finished_report.save(asked.output, pdf=asked.pdf)
    print(finished_report, "-" * 60, sep="\n")
    print(f"{folder / PAGE}: the report; {folder / NUMBERS}: its numbers")
    if asked.open:
        webbrowser.open((folder / PAGE).absolute().as_uri())
    return 0


def _check(asked):
    """A report's numbers against limits, and against those of an earlier report."""
    from frkit.reporting import check

    old = asked.no_worse_than
    require(asked.max or old, "nothing to check: give --max or --no-worse-than")
    require(old or not asked.margin, "--margin needs --no-worse-than")
    limits = [check.parse_limit(text) for text in asked.max or []]
    margins = [check.parse_limit(text) for text in asked.margin or ["frr=0"]]
    try:
        checked = check.check(asked.file, limits, model=asked.model, old=old, margins=margins)
    except Exception as error:  # Python would end with 1, which says "above"
        if isinstance(error, InputError):
            raise
        raise InputError(f"{asked.file} cannot be checked: {error!r}") from error
    if asked.junit:
        check.write_junit(checked, asked.junit)
    if asked.json:
        check.write_json(checked, asked.json)
    with suppress(BrokenPipeError):  # the outcome counts, also where nobody reads the lines
        print(*map(check.line_of, checked.itertuples()), sep="\n", flush=True)
    return check.status_of(checked)


if __name__ == "__main__":
    sys.exit(main())
