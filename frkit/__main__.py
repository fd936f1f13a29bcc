"""The command `frkit`: reports on files or demo faces, and checks of reports."""

import argparse
import gc
import logging
import os
import shlex
import signal
import sys
from pathlib import Path

from frkit.base import InputError, parse_number
from frkit.io.command_words import READING, SEVERAL, add_options, option_words, options_of

BAD, STOPPED = 2, 130
ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
BAD_CHECK = 3  # of `frkit check`, where 2 says that the data cannot decide
FAR = [1e-2, 1e-3, 1e-4]  # where no levels are given


def _number(text):
    """Read a number of an option, such as 0.001 or 0.1%."""
    try:
        return parse_number(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


EPILOG = """\
examples
  frkit demo                                       a report on faces that come with frkit
  frkit report faces.npz --by gender               embeddings with identities and gender
  frkit report a.npz b.npz --by gender -o out      two models on the same images, compared
  frkit report scores.csv --columns score=arc score=cos     scored pairs, two columns of scores
  frkit report genuine.txt impostor.txt            scores of the two kinds, one a line
  frkit look pairs.csv                             what frkit sees in a file
  frkit report pairs.csv --columns genuine="mated?" distance="L2 dist"    which column is what
  frkit report matrix.csv --far 1e-2 1e-3          a matrix of scores, ids in first row and column
  frkit check out/report.json --max frr@1e-3=0.05  whether the numbers stay below limits

The files: embeddings (.npz, .npy, .csv, .parquet, .mat, .h5), a matrix of scores (text,
.npy) or a list of scored pairs (text, .parquet, .json). What the columns are is read from their
names, and shown; --columns says it. Nothing is ever unpickled. In the report FAR is the
share of comparisons of different people that are accepted, FRR the share of comparisons of one
person that are rejected.
"""
CHECK_EPILOG = """\
Each limit is MEASURE@LEVEL=VALUE, such as frr@0.1%=5%, frr_max_min@1e-3=2 or eer=0.03. LEVEL is a
FAR level (or threshold) of the report; without it all levels count. Every group counts, and every
model unless --model names one.

exit status
  0  no interval reaches above its limit
  1  the lower end of some interval is above its limit
  2  the data cannot decide
  3  an argument or a file cannot be used
"""
REPORT = {
    "by": {**SEVERAL, "metavar": "ATTRIBUTE", "help": "groups to compare; several are crossed"},
    "quick": {
        "action": "store_true",
        "help": "skip slow analyses (N-Sigma, SFI/CFI/DFI, RLB, plans)",
    },
    "weighting": {
        "choices": ["identity", "pair"],
        "help": "how rates average: the mean over people, or pooled over pairs (default: identity; "
        "for a list of pairs, pair)",
    },
    "varying": {
        "choices": ["error", "split", "first", "most frequent"],
        "default": "error",
        "help": "what to do where an attribute varies within a person",
    },
}
LEVELS = {
    "far": {
        **SEVERAL,
        "type": _number,
        "metavar": "LEVEL",
        "help": "false acceptance rates at which to read the system (default: 1e-2 1e-3 1e-4)",
    },
    "threshold": {
        **SEVERAL,
        "type": _number,
        "metavar": "SCORE",
        "help": "fixed score thresholds instead",
    },
}
OUTPUT = {"metavar": "DIR", "help": "folder for the report (default: %(default)s)"}
FILE_HELP = "one file, or one for each model (of the same images)"


def main(command_line: list[str] | None = None) -> int:
    """Run one command; 0 where it went well, 2 for bad input, 130 where it was interrupted.

    `frkit check` returns its outcome, and 3 for bad input.
    """
    gc.set_threshold(100_000, 50, 50)  # else a tenth of a report's time goes into collections
    command_line = sys.argv[1:] if command_line is None else command_line
    bad = BAD_CHECK if command_line[:1] == ["check"] else BAD
    try:
        arguments = parser().parse_args(command_line)
    except SystemExit as end:  # argparse has said what is wrong, or has shown the help
        sys.exit(bad if end.code else 0)
    arguments.line = shlex.join(["frkit", *command_line])
    shown = logging.StreamHandler()
    log = logging.getLogger("frkit")
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    previous = {sign: signal.getsignal(sign) for sign in ENDS}
    for sign, handler in previous.items():
        if handler != signal.SIG_IGN:  # as of nohup
            signal.signal(sign, signal.default_int_handler)  # which leaves no half-written folder
    try:
        return arguments.run(arguments)
    except BrokenPipeError:  # as of `frkit report ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (InputError, OSError) as error:
        words = [option_words(answer) for answer in getattr(error, "answers", ())]
        print(f"frkit: {getattr(error, 'text', error)}", file=sys.stderr)
        for answer in words:  # the whole command with each answer to a question
            print(f"command: {shlex.join(['frkit', *command_line, *answer])}", file=sys.stderr)
        return bad
    except KeyboardInterrupt:
        print("\nfrkit: stopped; nothing was written", file=sys.stderr)
        return STOPPED
    finally:
        log.removeHandler(shown)
        for sign, handler in previous.items():
            signal.signal(sign, handler)


def parser() -> argparse.ArgumentParser:
    """All commands and options."""
    raw = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    question = "How good is this matching system, how fair is it, and how sure are we?"
    top = argparse.ArgumentParser("frkit", description=question, epilog=EPILOG, **raw)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    whole = "evaluate files and write a report"
    report = commands.add_parser("report", help=whole, epilog=EPILOG, **raw)
    look = commands.add_parser("look", help="say what frkit sees in files")
    demo = commands.add_parser("demo", help="the same on faces that come with frkit")
    limits = "compare the numbers of a report with limits"
    check = commands.add_parser("check", help=limits, epilog=CHECK_EPILOG, **raw)
    for command in (report, look):
        command.add_argument("files", nargs="+", metavar="FILE", help=FILE_HELP)
        reading = command.add_argument_group("how to read the file, where it does not say")
        add_options(reading, READING)
    for command in (report, demo):
        add_options(command, REPORT)
        add_options(command.add_mutually_exclusive_group(), LEVELS)
        command.add_argument("-o", "--output", **OUTPUT)
    report.set_defaults(run=_report, output="frkit-report")
    look.set_defaults(run=_look)
    demo.set_defaults(run=_demo, output="frkit-demo")
    check.set_defaults(run=_check)
    check.add_argument("file", metavar="REPORT", help="a report's folder, or its report.json")
    value = {"metavar": "LIMIT", "help": "MEASURE@LEVEL=VALUE"}
    check.add_argument("--max", **SEVERAL, required=True, **value)
    check.add_argument("--model", metavar="NAME", help="the model that is checked (default: all)")
    return top


def _files(arguments):
    """One file, or files of several models."""
    return arguments.files if len(arguments.files) > 1 else arguments.files[0]


def _report(arguments):
    """Files to a folder."""
    print("frkit: reading", file=sys.stderr)
    return _write(arguments, _files(arguments), options_of(arguments))


def _look(arguments):
    """What frkit sees in files."""
    from frkit.reporting.look import look

    logging.getLogger("frkit").setLevel(logging.WARNING)  # the text contains the columns
    print(look(_files(arguments), **options_of(arguments)))
    return 0


def _demo(arguments):
    """Write the bundled faces to a folder."""
    from frkit.io.demo import demo_faces

    arguments.by = arguments.by or ["gender"]
    return _write(arguments, demo_faces(), {})


def _write(arguments, data, opening):
    """Evaluate, write the folder, and say what came out."""
    from frkit.reporting.report import report
    from frkit.reporting.writing import NUMBERS, PAGE, earlier_files

    earlier_files(Path(arguments.output))  # refuses a folder that cannot be written
    finished_report = report(
        data,
        by=arguments.by[0] if arguments.by and len(arguments.by) == 1 else arguments.by,
        far=arguments.far or FAR,
        threshold=arguments.threshold,
        quick=arguments.quick,
        weighting=arguments.weighting,
        varying=arguments.varying,
        opening=opening,
        progress=sys.stderr.isatty() or _say_step,
    )
    finished_report.command = arguments.line
    folder = finished_report.save(arguments.output)
    print(finished_report, "-" * 60, sep="\n")
    print(f"{folder / PAGE}: the report; {folder / NUMBERS}: its numbers")
    return 0


def _say_step(_share, step):
    """A line for each step, where no bar can be drawn."""
    print(f"frkit: {step}", file=sys.stderr)


def _check(arguments):
    """A report's numbers against limits."""
    from frkit.reporting import check

    limits = [check.parse_limit(text) for text in arguments.max]
    try:
        checked = check.check(arguments.file, limits, model=arguments.model)
    except Exception as error:  # Python would end with 1, which says "above"
        if isinstance(error, InputError):
            raise
        raise InputError(f"{arguments.file} cannot be checked: {error!r}") from error
    print(*map(check.line_of, checked.itertuples()), sep="\n")
    return check.status_of(checked)


if __name__ == "__main__":
    sys.exit(main())
