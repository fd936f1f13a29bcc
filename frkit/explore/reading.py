"""Files read in a process of their own, so that no damaged file ends the app.

Some libraries crash on a damaged file, or never end (a .mat in SciPy's C code, for one). What that
would do to the app's kernel it does to a helper, and the app shows a message.
"""

import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from frkit.base import DataWarning, InputError

SECONDS = 60.0  # that any file may take
BYTES_PER_SECOND = 1e6  # a large file may take longer
START = "import sys; sys.path[:] = {path!r}; from frkit.explore.reading import answer; answer()"
REMEDY = "the file is probably damaged: copy or write it again, or save it in another format"
_WERE_READ: set[tuple] = set()  # function, file, size and time


def read_apart(function: Callable, paths, *, seconds: float = SECONDS, **options):
    """Call `function(paths, **options)` in a process of its own, until that has succeeded once.

    Starting one takes a second or two. Files that were read in one are read here from then on, such
    as when another column is chosen; but not a .mat, which may crash SciPy at the second time only.

    Parameters
    ----------
    function : function of a module
        It returns what can be pickled, such as `open_data`.
    paths : Path or list of Path
        The files, of which a missing one is left to the function.
    seconds : float
        How long to wait for an answer; one second more for each megabyte.
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
    >>> from frkit.data.opening import demo_file, open_faces
    >>> read_apart(open_faces, demo_file("demo_faces.npz")).sizes["image"]
    2809
    """
    files = [Path(file) for file in (paths if isinstance(paths, (list, tuple)) else [paths])]
    files += [value for value in options.values() if isinstance(value, Path)]  # of labels
    versions = {version for file in files for version in _versions(file)}
    readings = {(function, *version) for version in versions}
    if readings <= _WERE_READ and not _may_crash(files):
        return function(paths, **options)
    limit = seconds + sum(size for _, size, _ in versions) / BYTES_PER_SECOND
    names = ", ".join(file.name for file in files)
    request = pickle.dumps((function, paths, options))
    result, refusal, cautions = pickle.loads(_answered(request, limit, names))
    for caution in cautions:
        warnings.warn(caution, DataWarning, stacklevel=2)
    if refusal is not None:
        raise InputError(refusal)
    _WERE_READ.update(readings)
    return result


def _may_crash(files) -> bool:
    """Say whether reading files can end the process: SciPy's reader of .mat can."""
    return any(file.suffix.lower() == ".mat" for file in files)


def _answered(request, limit, names):
    """Return the answer of a helper process; refuse the files where it gives none."""
    command = [sys.executable, "-c", START.format(path=sys.path)]
    try:
        helper = subprocess.run(command, input=request, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        reason = f"{names}: reading did not end within {limit:.0f} seconds and was stopped"
        raise InputError(f"{reason}; {REMEDY}") from None
    if helper.returncode != 0:
        raise InputError(f"{names}: reading ended with {_reason(helper)}; {REMEDY}")
    return helper.stdout


def _versions(path):
    """Yield each file of a path, which may be a folder, with its size and its time of change."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        if file.exists():
            state = file.stat()
            yield file, state.st_size, state.st_mtime_ns


def _reason(helper):
    """Say how a process ended: the signal, or the last line of its error."""
    if helper.returncode < 0:
        return f"a crash of a library ({signal.Signals(-helper.returncode).name})"
    lines = helper.stderr.decode(errors="replace").strip().splitlines()
    return f"an error ({lines[-1] if lines else helper.returncode})"


def answer() -> None:
    """Read what is asked for on standard input, and write the result to standard output."""
    output = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no part of the answer
    function, paths, options = pickle.load(sys.stdin.buffer)
    result = refusal = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(paths, **options)
        except (InputError, OSError) as error:
            refusal = str(error)
    cautions = [str(each.message) for each in caught if issubclass(each.category, DataWarning)]
    with open(output, "wb") as file:
        pickle.dump((result, refusal, cautions), file, protocol=pickle.HIGHEST_PROTOCOL)
