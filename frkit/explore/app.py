"""Your own data without code: choose files, say what their columns are, evaluate, look, export."""

import base64
import shlex
import shutil
import tempfile
import time
import weakref
from html import escape
from pathlib import Path, PureWindowsPath

import ipywidgets as widgets

from frkit.base import InputError, gathered_notices, parse_number, require
from frkit.figures.controls import AS_WIDE_AS_ITS_WORDS, button, labelled_control, menu
from frkit.io.command_words import option_words, options_of_text
from frkit.io.demo import demo_file
from frkit.io.door import ENDINGS, by_model, open_data
from frkit.reporting.look import attributes_with_groups, contents_of

ACCEPTED = ",".join(ending for ending in ENDINGS if ending != ".zarr")  # not a folder
NONE = "(none)"
SAMPLE = "demo_faces.npz"
WEIGHTINGS = {"as usual for such data": "", "mean over people": "identity", "pooled": "pair"}
VARYING = {
    "are refused": "error",
    "split the person": "split",
    "become the first one": "first",
    "become the most frequent one": "most frequent",
}
MOST_LABELS = 50  # of an attribute whose groups can be compared
DATA = (
    "Shows what was read, at first the sample data. Name a file of embeddings, a score matrix or a "
    "table of scored pairs and press Read, or upload it. Several files (a.npz; b.npz) are models "
    "that see the same images. Where a column was taken for something else, write options of the "
    "command line, such as --columns ROLE=COLUMN or --labels FILE, and press Read. Roles are "
    "score, distance, genuine, impostor, probe, reference, probe_identity, reference_identity, "
    "identity, image, embedding, or an attribute's name."
)
QUESTION = (
    "Choose the attribute whose groups are compared, and the false accept rates (0.001 or 0.1%). "
    "A blank label is taken from other images of the same person, if these agree."
)
EVALUATE = "Press Evaluate. The report appears next to these controls, or below them."
EXPORT = "After an evaluation: download the report with its tables, figures and numbers."
REPORT = (
    "The report appears here: how accurate each model is, how sure that is, whether groups differ, "
    "and which people cause the errors. Next: press Evaluate, for the sample data or for yours."
)
LINK = '<a download="frkit-report.zip" style="text-decoration:underline" href="{}">'
NARROW = {"flex": "1 1 20em", "max_width": "36em", "min_width": "0"}
WIDE = {"flex": "3 1 30em", "min_width": "0", "overflow": "auto"}
# one column beneath the other where the page is narrow
WRAPPED = {"flex_flow": "row wrap", "align_items": "flex-start", "grid_gap": "1.5em"}


def own_data(path: str | Path | None = None) -> widgets.HBox:
    """Evaluate files without code: choose columns and groups, look, and export.

    Parameters
    ----------
    path : str or Path, optional
        The file at the start; by default the sample faces that come with frkit. Where it
        cannot be read, the app says why.

    Returns
    -------
    ipywidgets.HBox
        Controls to the left, the report to the right.

    Examples
    --------
    >>> import frkit as fk
    >>> type(fk.explore.own_data()).__name__
    'HBox'
    """
    return OwnData(path).box


class OwnData:
    """The controls, the data that were read, and the last report."""

    def __init__(self, path=None):
        self.uploads = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, self.uploads, ignore_errors=True)
        self.path = field("files", "path; sample data if empty")
        self.path.value = str(path or "")
        self.options = field("options", "--columns score=cosine genuine=mated")
        self.upload = widgets.FileUpload(accept=ACCEPTED, description="Upload", multiple=True)
        self.upload.layout = AS_WIDE_AS_ITS_WORDS
        self.status = widgets.HTML()
        self.by = menu("groups of", options=[NONE])
        self.far = labelled_control(widgets.Text, "FAR levels", value="0.01, 0.001")
        self.weighting = menu("rates are", options=WEIGHTINGS)
        self.varying = menu("labels that differ", options=VARYING)
        self.quick = labelled_control(widgets.Checkbox, "quick (no long tests)", value=True)
        self.settings = [self.by, self.far, self.weighting, self.varying, self.quick]
        self.evaluate_button = button("Evaluate", self.evaluate, button_style="primary")
        self.bar = widgets.FloatProgress(max=1)
        self.words = widgets.HTML()
        self.link = widgets.HTML()
        self.result = widgets.HTML()
        self.box = self.laid_out()
        self.upload.observe(self.receive, names="value")
        for setting in self.settings:
            setting.observe(self.forget_report, names="value")
        self.read()

    def laid_out(self):
        """Return the controls in four steps, beside the report."""
        sources = widgets.HBox([self.upload, button("Read", self.read)])
        steps = [
            pane("1. Data", DATA, self.path, self.options, sources, self.status),
            pane("2. Question", QUESTION, *self.settings),
            pane("3. Evaluate", EVALUATE, self.evaluate_button, self.bar, self.words),
            pane("4. Export", EXPORT, self.link),
        ]
        columns = widgets.VBox(steps, layout=NARROW), widgets.VBox([self.result], layout=WIDE)
        return widgets.HBox(columns, layout=WRAPPED)

    def forget_report(self, _change=None):
        """Show no report, because the data or the question have changed."""
        self.report = None
        self.bar.value = 0
        self.result.value = heading("Report", REPORT)
        self.link.value = self.words.value = ""

    def receive(self, change):
        """Store uploaded files, and read them."""
        if not change["new"]:
            return
        # without folders: a name such as ../../x must not leave the folder
        names = []
        for file in change["new"]:
            names.append(PureWindowsPath(file["name"]).name)
            (self.uploads / names[-1]).write_bytes(file["content"])
        self.upload.value = ()
        self.path.value = "; ".join(names)
        self.options.value = ""
        self.read()

    def read(self, _button=None):
        """Read the files that are named, or the sample data, and offer what can be asked."""
        self.source = self.path.value, self.options.value
        self.forget_report()
        self.by.options = [NONE]
        self.evaluate_button.disabled = True
        self.status.value = message(f"reading {self.path.value} ...")
        try:
            with gathered_notices() as self.notices:
                self.data = self.opened()
        except (InputError, OSError) as error:
            self.status.value = message(self.in_words(error), alert=True)
            return
        self.by.options = [NONE, *attributes_with_groups(self.data, MOST_LABELS)]
        self.by.value = self.by.options[:2][-1]
        notices = [notice.text for notice in self.notices]
        self.status.value = message("\n".join([*contents_of(self.data), *notices]))
        self.evaluate_button.disabled = False

    def opened(self):
        """Open the file, or several files of models, or the sample, with the options given."""
        self.opening = options_of_text(self.options.value)
        for name in {"labels", "scores"} & {*self.opening}:
            self.opening[name] = self.named(self.opening[name])
        names = [name.strip() for name in self.path.value.split(";")]
        paths = [self.named(name) for name in names if name] or [demo_file(SAMPLE)]
        self.files = by_model(paths) if len(paths) > 1 else str(paths[0])
        return open_data(self.files, **self.opening)

    def named(self, name):
        """Return the path of a file that was uploaded or that is on this machine."""
        uploaded = self.uploads / name
        is_upload = uploaded.parent == self.uploads and uploaded.exists()
        return uploaded if is_upload else Path(name).expanduser()

    def in_words(self, error):
        """Return what an error says and the options that answer it, with names of uploads."""
        lines = [getattr(error, "text", str(error))]
        for answer in getattr(error, "answers", ()):
            lines.append(f"options: {shlex.join(option_words(answer))}")
        return "\n".join(lines).replace(f"{self.uploads}/", "")

    def evaluate(self, _button=None):
        """Make the report and show it, or say why there is none."""
        self.forget_report()
        self.evaluate_button.disabled = True
        begun = time.monotonic()
        try:
            is_read = self.source == (self.path.value, self.options.value)
            require(is_read, "Other files or options are named now: press Read first.")
            self.make_report()
            self.words.value = message(f"done in {time.monotonic() - begun:.0f} s")
        except (InputError, OSError) as error:
            self.words.value = message(self.in_words(error), alert=True)
        except Exception as error:  # nobody sees what the action of a button raises
            self.words.value = message(f"{type(error).__name__}: {error}", alert=True)
        finally:
            self.evaluate_button.disabled = False

    def make_report(self):
        """Make the report, show it, and offer its folder as one file."""
        self.show_progress(0, "loading the libraries of the evaluation")
        from frkit.reporting import page
        from frkit.reporting.report import report

        result = report(
            self.data,
            by=None if self.by.value == NONE else self.by.value,
            far=[parse_number(level) for level in self.far.value.split(",")],
            weighting=self.weighting.value or None,
            varying=self.varying.value,
            quick=self.quick.value,
            progress=self.show_progress,
        )
        result.cautions[:0] = [notice.text for notice in self.notices]
        result.arguments |= {"data": self.files, "opening": self.opening}
        # without `contain` the widest folded table would make the column too wide
        self.result.value = f'<div style="contain:inline-size">{page.fragment(result)}</div>'
        archive = base64.b64encode(zipped(result)).decode()
        link = LINK.format(f"data:application/zip;base64,{archive}")
        self.link.value = f"{link}download the report</a>"
        self.report = result

    def show_progress(self, share, step):
        """Show how much is done, and what comes next."""
        self.bar.value = share
        self.words.value = message(f"{step} ...")


def zipped(report):
    """Return the folder of a report as the contents of one file."""
    with tempfile.TemporaryDirectory() as folder:
        report.save(Path(folder, "report", "frkit-report"))
        archive = shutil.make_archive(f"{folder}/archive", "zip", f"{folder}/report")
        return Path(archive).read_bytes()


def field(label, example):
    """Return a field for text that is as wide as its column."""
    text = labelled_control(widgets.Text, label, placeholder=example)
    text.layout.width = "100%"
    return text


def pane(title, instruction, *contents):
    """Return a step: its title, what to do there, and its controls."""
    return widgets.VBox([widgets.HTML(heading(title, instruction)), *contents])


def heading(title, instruction):
    """Return the title of a pane and what to do there."""
    return f'<h2 style="font-size:1.2em;margin:.6em 0 0">{title}</h2>{message(instruction)}'


def message(sentence, alert=False):
    """Return a paragraph that screen readers announce; an alert has a colour."""
    kind = 'role="alert" style="color:#B34700;' if alert else 'role="status" style="'
    lines = escape(sentence).replace("\n", "<br>")
    return f'<p {kind}line-height:1.4;overflow-wrap:anywhere">{lines}</p>'
