"""A computation in the background: a button that starts it, one that stops it, and a bar."""

import time
from html import escape
from threading import Event, Thread

import ipywidgets as widgets
from IPython import get_ipython

from frkit.base import InputError, gathered_notices

AS_WIDE_AS_ITS_WORDS = {"width": "max-content", "flex": "0 0 auto"}


class Stopped(Exception):
    """Raised after the button Stop was pressed."""


class Work:
    """Two buttons that start and stop a computation, a bar, and a line of words.

    Parameters
    ----------
    label : str
        The words on the first button.
    compute : function
        Called in its own thread with a function `progress`. It calls `progress` from time to time
        with the share that is done and, optionally, the next step. After the second button was
        pressed, `progress` raises `Stopped`.
    controls : widgets
        Controls that are disabled during the work.
    """

    def __init__(self, label, compute, controls=()):
        self.compute = compute
        self.button = button(label, self.start)
        self.stop_button = button("Stop", self.stop, disabled=True)
        self.bar = widgets.FloatProgress(max=1, layout={"visibility": "hidden"})
        self.buttons = widgets.HBox([self.button, self.stop_button, self.bar])
        self.words = widgets.HTML()
        self.controls = [self.button, *controls]
        self.stopping = Event()

    def start(self, _button=None):
        """Start the work, in a thread where there is a kernel."""
        self.stopping.clear()
        self.begun = time.monotonic()
        self.bar.value = 0
        self.let(running=True)
        self.say("running")
        self.thread = Thread(target=self.run, daemon=True)
        self.thread.start()
        if not in_kernel():
            self.thread.join()

    def stop(self, _button=None):
        """End the computation at its next call of `progress`."""
        self.stopping.set()
        self.stop_button.disabled = True
        self.say("stops after this step")

    def run(self):
        """Compute, show an error in words, and enable the controls."""
        try:
            with gathered_notices():  # the result shows them
                self.compute(self.progress)
            self.say(f"done in {time.monotonic() - self.begun:.0f} s")
        except Stopped:
            self.say("stopped: what is shown is the result before")
        except InputError as error:
            self.say(str(error), alert=True)
        except Exception as error:  # nobody else sees what a thread raises
            self.say(f"{type(error).__name__}: {error}", alert=True)
        finally:
            self.let(running=False)

    def progress(self, share, next_step="running"):
        """Show how much is done; raise `Stopped` where that was asked for."""
        if self.stopping.is_set():
            raise Stopped
        seconds = time.monotonic() - self.begun
        sentence = f"{next_step}: {seconds:.0f} s"
        if share > 0.05:
            left = seconds * (1 - share) / share
            sentence += f", about {left:.0f} s to go"
        self.bar.value = share
        self.say(sentence)

    def let(self, running):
        """Disable the controls while it runs, because two drawings would disturb each other."""
        for control in self.controls:
            control.disabled = running
        self.stop_button.disabled = not running
        self.bar.layout.visibility = "visible" if running else "hidden"

    def say(self, sentence, alert=False):
        """Show words beneath the buttons."""
        self.words.value = message(sentence, alert)


def in_kernel():
    """Return whether this is a notebook or an app, where events are handled one by one."""
    return getattr(get_ipython(), "kernel", None) is not None


def button(label, action, **settings):
    """Return a button that calls a function with itself."""
    widget = widgets.Button(description=label, layout=AS_WIDE_AS_ITS_WORDS, **settings)
    widget.on_click(action)
    return widget


def message(sentence, alert=False):
    """Return a paragraph that screen readers announce; an alert has a colour."""
    kind = 'role="alert" style="color:#B34700;' if alert else 'role="status" style="'
    lines = escape(sentence).replace("\n", "<br>")
    return f'<p {kind}line-height:1.4;overflow-wrap:anywhere">{lines}</p>'
