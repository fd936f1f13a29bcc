"""A computation beside the notebook: a button that starts it, one that stops it, and a bar."""

import time
import warnings
from html import escape
from threading import Event, Thread

import ipywidgets as widgets
from IPython import get_ipython

from frkit.base import DataWarning, InputError

AS_WIDE_AS_ITS_WORDS = {"width": "max-content", "flex": "0 0 auto"}


class Stopped(Exception):
    """The button that stops was pressed."""


class Work:
    """Two buttons that start and stop a computation, a bar, and a line of words.

    Parameters
    ----------
    label : str
        The words on the first button.
    compute : function
        Called in a thread of its own with a function to which it tells now and then the share
        that is done and, optionally, what comes next. That function ends the work by raising
        `Stopped` once the second button was pressed.
    controls : widgets
        What cannot be moved meanwhile.
    """

    def __init__(self, label, compute, controls=()):
        self.compute = compute
        self.button = widgets.Button(description=label, layout=AS_WIDE_AS_ITS_WORDS)
        self.stop_button = widgets.Button(
            description="Stop", disabled=True, layout=AS_WIDE_AS_ITS_WORDS
        )
        self.bar = widgets.FloatProgress(max=1, layout={"visibility": "hidden"})
        self.buttons = widgets.HBox([self.button, self.stop_button, self.bar])
        self.words = widgets.HTML()
        self.controls = [self.button, *controls]
        self.stopping = Event()
        self.button.on_click(self.start)
        self.stop_button.on_click(self.stop)

    def start(self, _button=None):
        """Begin, in a thread where a page waits for its answers."""
        self.stopping.clear()
        self.begun = time.monotonic()
        self.bar.value = 0
        self.let(running=True)
        self.say("running")
        self.thread = Thread(target=self.run, daemon=True)
        self.thread.start()
        if getattr(get_ipython(), "kernel", None) is None:
            self.thread.join()

    def stop(self, _button=None):
        """Ask the computation to end when it next tells how much is done."""
        self.stopping.set()
        self.stop_button.disabled = True
        self.say("stops after this step")

    def run(self):
        """Compute; errors become words, and the controls are free again."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # they stand beneath the result
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
        """Show how much is done, and end the computation if that was asked for."""
        if self.stopping.is_set():
            raise Stopped
        seconds = time.monotonic() - self.begun
        left = f", about {seconds * (1 - share) / share:.0f} s to go" if share > 0.05 else ""
        self.bar.value = share
        self.say(f"{next_step}: {seconds:.0f} s{left}")

    def let(self, running):
        """While it runs nothing can be moved: two drawings at a time would disturb each other."""
        for control in self.controls:
            control.disabled = running
        self.stop_button.disabled = not running
        self.bar.layout.visibility = "visible" if running else "hidden"

    def say(self, words, alert=False):
        """A line beneath the buttons."""
        self.words.value = message(words, alert)


def message(words: str, alert: bool = False) -> str:
    """A paragraph that screen readers announce; what is wrong stands out."""
    kind = 'role="alert" style="color:#B34700;' if alert else 'role="status" style="'
    return f'<p {kind}line-height:1.4;overflow-wrap:anywhere">{escape(words)}</p>'
