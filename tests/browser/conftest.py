"""JupyterLab on loopback and Debian's Chromium, driven by Playwright.

These tests skip where there is no Chromium or no Playwright; FRKIT_BROWSER=1 makes that a failure.
Where they run, the notebooks that they open are not run in a kernel alone, too.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
import run_notebooks
from test_notebooks import watched

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",  # a container's root has none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SETTINGS = {
    # A question about news would lie over the page, and asks the network.
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # All cells stay in the page, also those that are scrolled out of sight.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}


class Lab:
    """A running JupyterLab server: its address, and what a test needs of it."""

    def __init__(self, url, process, log):
        self.url, self.process, self.log = url, process, log

    def answers(self):
        try:
            with urllib.request.urlopen(self.url + "/api/status", timeout=2):
                return True
        except OSError:
            return False

    def wait_until_ready(self, seconds=120):
        end = time.monotonic() + seconds
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"JupyterLab did not start:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.2)

    def close_kernels(self):
        """End all sessions, so that each test has a kernel of its own and memory stays bounded."""
        with urllib.request.urlopen(self.url + "/api/sessions") as answer:
            sessions = json.load(answer)
        for session in sessions:
            request = urllib.request.Request(
                f"{self.url}/api/sessions/{session['id']}", method="DELETE"
            )
            urllib.request.urlopen(request).close()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(
                self.process.pid, signal.SIGKILL
            )  # the server's own session: it and its kernels
            self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def find_chromium():
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


@pytest.hookimpl(trylast=True)  # after some were left out by name
def pytest_collection_modifyitems(items):
    """Notebooks that Chromium runs in this session, with the same checks, are skipped elsewhere."""
    if find_chromium() is None or find_spec("playwright") is None:
        return
    driven = [one for one in items if one.name.startswith("test_notebook_runs_and_its_controls")]
    opened = [one.callspec.params["name"] for one in driven]
    for one in items:
        if (
            one.name.startswith("test_runs_with_fast_parameters")
            and one.callspec.params["path"].name in opened
        ):
            one.add_marker(pytest.mark.skip(reason="Chromium runs it in this session"))


def absent(reason):
    """Skip, or fail where the browser tests are compulsory."""
    (pytest.fail if os.environ.get("FRKIT_BROWSER") == "1" else pytest.skip)(reason)


def private_environment(folder):
    """A server that neither reads nor writes the user's own Jupyter settings, workspaces or kernels."""
    for name, values in SETTINGS.items():
        file = folder / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    own = {variable: str(folder / place) for variable, place in places.items()}
    return run_notebooks.kernel_environment() | own


def store_fast_copies(folder):
    """Copies of the notebooks with their fast parameters and checks: Lab saves, the original stays."""
    for path in run_notebooks.paths():
        notebook = watched(path)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = []  # every picture seen later was drawn in the browser's session
        nbformat.write(notebook, folder / path.name)


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    """A folder with notebooks/ to be spoiled, and nothing of the project: as on Colab."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "notebooks").mkdir()
    store_fast_copies(folder / "notebooks")
    return folder


@pytest.fixture(scope="session")
def lab(browser, work, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={work}",
        "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", "--expose-app-in-browser",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    log = folder / "lab.log"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            env=private_environment(folder),
            cwd=work,
            start_new_session=True,
        )
    server = Lab(url, process, log)
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()


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
    context.close()


@pytest.fixture(autouse=True)
def closed_kernels(lab):
    yield
    lab.close_kernels()
