"""JupyterLab on loopback and Debian's Chromium, driven by Playwright.

These tests skip where there is no Chromium or no Playwright; FRKIT_BROWSER=1 makes that a failure.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import local
import nbformat
import pytest
import run_notebooks

# a container's root has no sandbox
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
# all cells stay in the page, also those that are scrolled out of sight
WHOLE_PAGE = '{"windowingMode": "none"}'
END_KERNELS = "window.jupyterapp?.serviceManager.sessions.shutdownAll()"
NO_NEWS = '{"fetchNews": "false", "checkForUpdates": false}'


def find_chromium():
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


def absent(reason):
    """Skip, or fail where the browser tests are compulsory."""
    (pytest.fail if os.environ.get("FRKIT_BROWSER") == "1" else pytest.skip)(reason)


@pytest.fixture(scope="session")
def browser():
    chromium = find_chromium() or absent("no Chromium found: sudo apt install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("Playwright is not installed: pip install playwright")
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
        yield program
        program.close()


@pytest.fixture(scope="session")
def shots(tmp_path_factory):
    """Where pictures of the pages go."""
    folder = Path(os.environ.get("FRKIT_SHOTS") or tmp_path_factory.mktemp("shots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def page(browser, shots, request):
    """One page. What it asks for outside loopback is refused and listed in `page.outside`."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.outside, page.messages = [], []
    page.on("console", lambda message: page.messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.messages.append(f"page error: {error}"))

    def gate(route):
        if urlsplit(route.request.url).hostname in ("127.0.0.1", None):
            return route.continue_()
        page.outside.append(route.request.url)
        return route.abort()

    context.route("**/*", gate)
    yield page
    page.screenshot(path=shots / f"{request.node.name}.png")
    (shots / f"{request.node.name}.txt").write_text("\n".join(page.messages))
    page.evaluate(END_KERNELS)  # memory stays bounded
    context.close()


def private_environment(folder):
    """A server that neither reads nor writes the user's own Jupyter settings or kernels."""
    settings = folder / "settings/@jupyterlab"
    texts = {"notebook-extension/tracker": WHOLE_PAGE, "apputils-extension/notification": NO_NEWS}
    for name, text in texts.items():
        file = settings / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    places = [f"JUPYTER_{kind}_DIR" for kind in ("CONFIG", "DATA", "RUNTIME")]
    places += ["IPYTHONDIR", "JUPYTERLAB_WORKSPACES_DIR"]
    private = {place: str(folder / place) for place in places}
    private["JUPYTERLAB_SETTINGS_DIR"] = str(settings.parent)
    return run_notebooks.kernel_environment() | private | {"PYTHONPATH": str(run_notebooks.ROOT)}


@contextmanager
def running(folder, *command, cwd):
    """Start a server, wait until it answers, give its address, and stop it afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, *command, f"--port={port}", "--no-browser"]
    log = folder / "log"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            env=private_environment(folder),
            cwd=cwd,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}/"
        end = time.monotonic() + 180
        while not answers(url):
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"{url} did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:  # the server's own session: it and its kernels
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def answers(url):
    """True where a server answers, whatever it says."""
    try:
        urllib.request.urlopen(url + "api/status", timeout=2).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    """A folder with notebooks/ to be spoiled, and nothing of the project: as on Colab.

    The first notebook has no outputs: every picture that is seen later was drawn in the browser's
    session.
    """
    folder = tmp_path_factory.mktemp("work") / "notebooks"
    folder.mkdir()
    first = run_notebooks.paths()[0]
    notebook = run_notebooks.read(first)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    nbformat.write(notebook, folder / first.name)
    return folder.parent


@pytest.fixture(scope="session")
def lab(browser, work, tmp_path_factory):
    options = [
        "--allow-root",
        "--ip=127.0.0.1",
        f"--ServerApp.root_dir={work}",
        "--IdentityProvider.token=",
        "--expose-app-in-browser",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]
    folder = tmp_path_factory.mktemp("lab")
    with running(folder, "-m", "jupyterlab", *options, cwd=work) as server:
        yield server


@pytest.fixture(scope="session")
def app(browser, tmp_path_factory):
    """The app as `binder/local.py app` starts it."""
    pytest.importorskip("voila")
    command = local.app(["--Voila.token=secret"])
    with running(tmp_path_factory.mktemp("app"), *command, cwd=run_notebooks.ROOT) as server:
        yield server
