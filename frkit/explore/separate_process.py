"""Files read in a separate process, so that a damaged file cannot end the app.

Some libraries crash on a damaged file, or never end (a .mat in SciPy's C code, for one). What that
would do to the app's kernel it does to a helper, and the app shows a message.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from frkit.base import InputError, warn, with_cautions

SECONDS = 600.0  # most that reading a file may take
START = (
    "import sys; sys.path[:] = {path!r}; "
    "from frkit.explore.separate_process import answer; answer()"
)
REMEDY = "the file is probably damaged: copy or write it again, or save it in another format"
_WERE_READ: set[tuple] = set()  # function, file, and when it was written


def read_apart(function: Callable, paths, *, seconds: float = SECONDS, **options):
    """Call `function(paths, **options)` in a separate process, until that has succeeded once.

    Starting one takes a second or two. Files that were read in one are read here from then on, such
    as when another column is chosen; but not a .mat, which may crash SciPy at the second time only.

    Parameters
    ----------
    function : function of a module
        It returns what can be pickled, such as `open_data`.
    paths : Path or list of Path
        The files; a missing one is left to the function.
    seconds : float
        How long to wait for an answer.
    **options
        Passed on.

    Returns
    -------
    object
        What the function returns; its warnings are given again.

    Raises
    ------
    InputError
        As the function; and where the process crashes, or does not answer in time.

    Examples
    --------
    >>> from frkit.io.demo import demo_file
    >>> from frkit.io.door import open_data
    >>> read_apart(open_data, demo_file("demo_faces.npz")).sizes["image"]
    2809
    """
    files = [Path(file) for file in (paths if isinstance(paths, (list, tuple)) else [paths])]
    files += [value for value in options.values() if isinstance(value, Path)]  # of labels
    versions = {(function, file, file.stat().st_mtime_ns) for file in files if file.exists()}
    may_crash = any(file.suffix.lower() == ".mat" for file in files)
    if versions <= _WERE_READ and not may_crash:
        return function(paths, **options)
    names = ", ".join(file.name for file in files)
    request = pickle.dumps((function, paths, options))
    result, cautions = pickle.loads(_answered(request, seconds, names))
    for caution in cautions:
        warn(caution)
    if isinstance(result, InputError):
        raise result
    _WERE_READ.update(versions)
    return result


def _answered(request, seconds, names):
    """Return the answer of a helper process; refuse the files where it gives none."""
    command = [sys.executable, "-c", START.format(path=sys.path)]
    try:
        helper = subprocess.run(command, input=request, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        reason = f"{names}: reading did not end within {seconds:.0f} seconds and was stopped"
        raise InputError(f"{reason}; {REMEDY}") from None
    if helper.returncode == 0:
        return helper.stdout
    lines = helper.stderr.decode(errors="replace").strip().splitlines()
    reason = f"an error ({lines[-1] if lines else helper.returncode})"
    if helper.returncode < 0:
        reason = f"a crash of a library ({signal.Signals(-helper.returncode).name})"
    raise InputError(f"{names}: reading ended with {reason}; {REMEDY}")


def answer() -> None:
    """Read what is asked for on standard input, and write the result to standard output."""
    output = os.dup(1)
    os.dup2(2, 1)  # what a library prints is not part of the answer
    function, paths, options = pickle.load(sys.stdin.buffer)
    try:
        result_and_cautions = with_cautions(function, paths, **options)
    except (InputError, OSError) as error:
        result_and_cautions = InputError(str(error)), []
    with open(output, "wb") as file:
        pickle.dump(result_and_cautions, file, protocol=pickle.HIGHEST_PROTOCOL)
