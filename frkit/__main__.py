"""The command `frkit`: a report on files, on the bundled faces, and files turned into another form."""

import argparse
import re
import shutil
import signal
import sys
import warnings
from pathlib import Path

from frkit.base import DataWarning, InputError

BAD, STOPPED = 2, 130
FAR = [1e-2, 1e-3, 1e-4]  # where no levels are asked for
SEVERAL = {"nargs": "+", "action": "extend"}  # "--far 0.1 --far 0.2" is both
EPILOG = """\
examples
  frkit demo                                       a report on faces that come with the kit
  frkit report faces.npz --by gender               embeddings with identities and gender
  frkit report a.npz b.npz --by gender -o out      two models on the same images, compared
  frkit report scores.csv --score arcface cosface  a table of scored pairs, two columns of scores
  frkit report matrix.csv --far 1e-2 1e-3          a matrix of scores, ids in the first row and column

The files: embeddings (.npz, .npy with .csv, .csv, .parquet, .mat, .nc), a matrix of scores (.csv, .npy) or a list of
scored pairs (.csv, .tsv, .parquet; other formats by --format). Nothing is ever unpickled. In the report FAR is the
share of comparisons of strangers that are accepted, FRR the share of comparisons of one person that are rejected.
"""


def parser() -> argparse.ArgumentParser:
    """All commands and options."""
    raw = argparse.RawDescriptionHelpFormatter
    words = "How good is this matching system, how fair, and how sure is that? A report on your own data."
    top = argparse.ArgumentParser("frkit", description=words, epilog=EPILOG, formatter_class=raw)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    report = commands.add_parser(
        "report", help="evaluate files and write a report", epilog=EPILOG, formatter_class=raw
    )
    report.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="one file, or one for each model (of the same images)",
    )
    demo = commands.add_parser("demo", help="the same on faces that come with the kit")
    for one in (report, demo):
        _add_report_options(one, "frkit-report" if one is report else "frkit-demo")
    _add_reading(report)
    convert = commands.add_parser(
        "convert", help="write what a file holds as .npz (faces) or .csv (scored pairs)"
    )
    convert.add_argument("file", metavar="FILE")
    convert.add_argument(
        "output", metavar="OUT", help="a name that ends in .npz (faces), .csv or .csv.gz (pairs)"
    )
    _add_reading(convert)
    return top


def _add_report_options(one: argparse.ArgumentParser, folder: str) -> None:
    one.add_argument(
        "--by",
        **SEVERAL,
        metavar="ATTRIBUTE",
        help="groups to compare, e.g. gender; several are crossed",
    )
    levels = one.add_mutually_exclusive_group()
    levels.add_argument("--far", **SEVERAL, type=float, metavar="LEVEL", help="false "
                        "acceptance rates at which to read the system (default: 1e-2 1e-3 1e-4)")  # fmt: skip
    levels.add_argument(
        "--threshold", **SEVERAL, type=float, metavar="SCORE", help="fixed score thresholds instead"
    )
    one.add_argument(
        "--quick",
        action="store_true",
        help="leave out what takes long (permutation tests, N-Sigma, ...)",
    )
    one.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of all random draws (default: 0)"
    )
    one.add_argument(
        "--level", type=float, default=0.95, metavar="P", help="of the intervals (default: 0.95)"
    )
    one.add_argument(
        "-o",
        "--output",
        default=folder,
        metavar="DIR",
        help=f"folder for the report (default: {folder})",
    )


def _add_reading(one: argparse.ArgumentParser) -> None:
    group = one.add_argument_group("how to read the file, where it does not say so itself")
    group.add_argument("--format", metavar="NAME", help="faces, matrix, or a list of pairs: rfw, lfw, bfw, bob4, bob5, "
                       "bob-csv, voxceleb, kaldi, ijbc, json, columns")  # fmt: skip
    group.add_argument(
        "--score", **SEVERAL, metavar="COLUMN", help="column(s) of scores in a table of pairs"
    )
    group.add_argument(
        "--scores", metavar="FILE", help="the scores of a list of pairs, one per line"
    )
    group.add_argument(
        "--metadata",
        metavar="FILE",
        help="a table about the people or templates of a list of pairs",
    )
    group.add_argument("--labels", metavar="FILE", help="a table of labels, one row per image")
    group.add_argument("--identity", metavar="COLUMN", help="the column that says who an image shows, "
                       "or a pattern of image names such as {name}_{number}.jpg")  # fmt: skip
    group.add_argument(
        "--missing", **SEVERAL, type=float, metavar="SCORE", help="what marks a failed comparison"
    )
    group.add_argument(
        "--failed", choices=["left out", "rejected"], help="what failed comparisons count as"
    )
    group.add_argument(
        "--distance", action="store_true", default=None, help="smaller scores mean more alike"
    )
    group.add_argument("--varying", choices=["error", "split", "first", "most frequent"], help="what to do where an "
                       "attribute varies within a person")  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 where it went well, 2 for bad input, 130 where it was interrupted."""
    asked = parser().parse_args(arguments)
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # the report holds them
            return {"report": _report, "demo": _demo, "convert": _convert}[asked.command](asked)
    except (InputError, OSError) as error:
        print(f"frkit: {' '.join(_as_typed(str(error), asked).split())}", file=sys.stderr)
        return BAD
    except KeyboardInterrupt:
        print("\nfrkit: stopped; nothing was written", file=sys.stderr)
        return STOPPED
    finally:
        signal.signal(signal.SIGTERM, previous)


def _as_typed(words: str, asked: argparse.Namespace) -> str:
    """A message in the words of the command line: far=[0.1, 0.2] is --far 0.1 0.2, by='race' is --by 'race'."""
    names, given = (
        "|".join(vars(asked)),
        "|".join(name for name, value in vars(asked).items() if value),
    )
    words = re.sub(rf"^({given})(?= must )", r"--\1", words)
    words = re.sub(rf"(?<![\w.])({names})=True\b", r"--\1", words)
    words = re.sub(rf"(?<![\w.])({names})= ?", r"--\1 ", words)
    return re.sub(r"(--\w+ )\[(.*?)\]", lambda found: found[1] + found[2].replace(",", ""), words)


def _reading(asked: argparse.Namespace) -> dict:
    """Options of `open_data` that were given."""
    names = (
        "format",
        "score",
        "scores",
        "metadata",
        "labels",
        "identity",
        "missing",
        "failed",
        "distance",
    )
    return {name: value for name in names if (value := getattr(asked, name)) is not None}


def _report(asked: argparse.Namespace) -> int:
    """Files to a folder."""
    from frkit.reporting.opening import model_names

    names = model_names(map(Path, asked.files))
    print(f"frkit: reading {', '.join(asked.files)}", file=sys.stderr)
    data = asked.files[0] if len(names) == 1 else dict(zip(names, asked.files))
    how = {"opening": _reading(asked)} | (
        {} if asked.varying is None else {"varying": asked.varying}
    )
    return _written(asked, data, how)


def _demo(asked: argparse.Namespace) -> int:
    """The bundled faces to a folder."""
    from frkit.data.opening import demo_faces

    asked.by = asked.by or ["gender"]
    return _written(asked, demo_faces(), {})


def _written(asked: argparse.Namespace, data, options: dict) -> int:
    """Evaluate, write the folder, and say what came out."""
    from frkit.reporting.report import report
    from frkit.reporting.writing import PAGE, check_free

    check_free(Path(asked.output))
    by = asked.by[0] if asked.by and len(asked.by) == 1 else asked.by
    at = {"threshold": asked.threshold} if asked.threshold else {"far": asked.far or FAR}
    how = {
        "by": by,
        **at,
        "level": asked.level,
        "quick": asked.quick,
        "seed": asked.seed,
        **options,
    }
    found = report(data, **how, progress=True)
    folder = found.save(asked.output)
    width = shutil.get_terminal_size((100, 20)).columns
    print(_as_typed(str(found), asked), "-" * min(width, 60), sep="\n")
    print(f"{folder / PAGE}: the report; beside it tables, figures, evaluation.nc and a notebook")
    return 0


def _convert(asked: argparse.Namespace) -> int:
    """One file to another form."""
    from frkit.reporting.opening import converted, open_data

    converted(open_data(asked.file, **_reading(asked)), Path(asked.output))
    print(f"{asked.output}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
