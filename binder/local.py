#!/usr/bin/env python3
"""Set up and start frkit on this machine.

    python3 binder/local.py                 open the notebooks in JupyterLab
    python3 binder/local.py lab [ARGS]      the same; ARGS go to JupyterLab
    python3 binder/local.py app [ARGS]      your own data in a browser, without code; (Voila)
    python3 binder/local.py test [ARGS]     run the quick tests; ARGS go to pytest (-n 0, say)
    python3 binder/local.py test --full     run all tests, those of notebooks and browser too
    python3 binder/local.py test-oldest     test the oldest versions of all that frkit needs
    python3 binder/local.py execute [ARGS]  execute the notebooks anew and write them back
    python3 binder/local.py docs [ARGS]     build the documentation and print its address
    python3 binder/local.py course FOLDER   the notebooks for a class, with checks of answers
    python3 binder/local.py address [URL]   write the repository's address wherever it stands
    python3 binder/local.py python [ARGS]   the Python that has everything

The first call makes .venv in the repository and installs into it; later calls do so again only when
requirements.txt or pyproject.toml has changed. Needs nothing but Python 3.11 or later with venv.
"""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "frkit-stamp"
PIP = ("-m", "pip", "install", "--disable-pip-version-check", "-q")
WORKERS = min(4, os.cpu_count() or 1)  # processes that test at once: each needs up to a gigabyte
PYTEST = ("-m", "pytest", "-n", str(WORKERS), "--dist", "worksteal")

START = "/lab/tree/notebooks/00_start_here.ipynb"
# Lab asks at its first start whether to fetch news, in a box over the page: nothing is fetched.
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
}
# what a page may send in one piece, such as an upload
MESSAGES = {"websocket_max_message_size": 200_000_000}
# Voila's page asks the network for icons that nobody needs.
APP_HEADERS = {
    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: ws:"
}
# Checks of internet addresses in events, which nobody needs here, would take two seconds to load.
START_APP = "import sys; sys.modules['rfc3987_syntax'] = None; from voila.app import main; main()"

DOCS = "-m sphinx -q -W -j auto -b html binder/docs build/docs".split()

OLDEST = ROOT / ".venv-oldest"
OLDEST_TOOLS = ("pytest", "hypothesis", "mpmath")
OLDEST_TESTS = ("docstrings", "explore", "demo", "own_data")  # every public function is called


def main(verb="lab", *arguments):
    if verb in ("-h", "--help", "help"):
        print(__doc__)
        return
    commands = {
        "lab": lab(arguments),
        "app": app(arguments),
        "test": tests(arguments),
        "test-oldest": oldest_tests(arguments),
        "execute": ["binder/run_notebooks.py", *arguments],
        "address": ["binder/address.py", *arguments],
        "course": ["binder/course.py", *arguments],
        "docs": [*DOCS, *arguments],
        "python": list(arguments),
    }
    if verb not in commands:
        sys.exit(__doc__)
    check_python()
    python = PYTHON
    if verb in ("address", "course"):  # they need nothing but Python
        python = sys.executable
    elif verb == "test-oldest":
        python = oldest_environment()
        os.environ.update(PYTHONPATH=str(ROOT), NUMBA_CACHE_DIR=str(OLDEST / "numba"))
    else:
        environment({"test": "test", "docs": "test,docs"}.get(verb, ""))
    os.chdir(str(ROOT))
    command = [str(python), *commands[verb]]
    if os.name == "nt":  # there, exec would hand the prompt back at once
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


def check_python():
    """Say what is missing before anything is made."""
    if sys.version_info < (3, 11):
        version = "{}.{}".format(*sys.version_info)
        remedy = "for example: python3.11 binder/local.py"
        stop("frkit needs Python 3.11 or later, not {}; {}".format(version, remedy))
    if not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
        stop("this Python has no venv; on Debian or Ubuntu: sudo apt install python3-venv")


def environment(extra=""):
    """Make .venv, or bring it up to date; `extra` is one of pyproject's extras."""
    stamp = STAMP.read_text() if PYTHON.exists() and STAMP.exists() else ""
    needed = "{} {}".format(fingerprint(), extra).strip()
    if stamp.startswith(needed):
        return
    if not PYTHON.exists():
        run(sys.executable, "-m", "venv", "--clear", VENV)
    print("local.py: installing into .venv; this takes some minutes", file=sys.stderr)
    more = ["-e", ".[{}]".format(extra)] if extra else []
    run(PYTHON, *PIP, "-r", "requirements.txt", *more)
    run(PYTHON, "binder/postBuild")  # compiles kernels and finds fonts, as on Binder
    settings = VENV / "share/jupyter/lab/settings/overrides.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(LAB_SETTINGS))
    STAMP.write_text(needed)


def fingerprint():
    """What .venv was made from; its place counts, because it cannot be moved."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in ("requirements.txt", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def oldest_environment():
    """Make .venv-oldest, of the lowest versions that pyproject.toml allows; return its Python."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needs = project["dependencies"] + extras["zarr"] + extras["cluster"]
    needs += [tool for tool in extras["test"] if tool.startswith(OLDEST_TOOLS)]
    lowest = [need.replace(">=", "==") for need in needs]
    python, stamp = OLDEST / PYTHON.relative_to(VENV), OLDEST / STAMP.name
    if not stamp.exists() or stamp.read_text() != " ".join(lowest):
        run(sys.executable, "-m", "venv", "--clear", OLDEST)
        run(python, *PIP, *lowest)
        run(python, *PIP, "--no-deps", "-e", ".")
        stamp.write_text(" ".join(lowest))
    return python


def lab(arguments):
    """JupyterLab's command line: for this machine alone, opened on the start page."""
    command = ["-m", "jupyterlab", "--ip=127.0.0.1", *arguments]
    command.append("--ServerApp.tornado_settings={}".format(MESSAGES))
    if getattr(os, "geteuid", lambda: 1)() == 0:  # in a container, say; Lab refuses root otherwise
        command.append("--allow-root")
    if all(argument.startswith("-") for argument in arguments):
        command.append("--LabApp.default_url=" + START)
    return command


def app(arguments):
    """Voila's command line: the controls for own data, without code.

    It is for this machine alone, and for those who know the token in its address.
    """
    return [
        "-c",
        START_APP,
        "binder/app.ipynb",
        "--strip_sources=True",
        "--show_tracebacks=False",
        "--Voila.ip=127.0.0.1",
        "--Voila.auto_token=True",
        "--Voila.tornado_settings={}".format({"headers": APP_HEADERS, **MESSAGES}),
        *arguments,
    ]


def tests(arguments):
    """pytest's command line: a process per core, each with a run of neighbouring tests."""
    chosen = [] if "--full" in arguments else ["-m", "not slow and not notebooks and not browser"]
    arguments = [argument for argument in arguments if argument != "--full"]
    return [*PYTEST, *chosen, *arguments]


def oldest_tests(arguments):
    """pytest's command line for the oldest versions, whose warnings are about newer ones."""
    files = [str(next(ROOT.glob("tests/**/test_{}.py".format(name)))) for name in OLDEST_TESTS]
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning"]
    return [*PYTEST, "-m", "not slow", *options, *files, *arguments]


def run(*command):
    """Run a step of the set-up, and end where it fails."""
    print("+", *command, file=sys.stderr, flush=True)
    if subprocess.call([str(part) for part in command], cwd=str(ROOT)):
        stop("the command above failed; nothing was started")


def stop(message):
    sys.exit("local.py: " + message)


if __name__ == "__main__":
    main(*sys.argv[1:])
