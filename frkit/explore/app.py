"""Your own data without code: choose files, say what their columns are, evaluate, look, export."""

import base64
import json
import shlex
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from pathlib import Path

import ipywidgets as widgets

from frkit.base import InputError, gathered_notices, parse_number, require
from frkit.explore.controls import labelled_control
from frkit.explore.work import AS_WIDE_AS_ITS_WORDS, Work, button, message
from frkit.io.command_words import option_words, options_of_text
from frkit.io.demo import demo_faces
from frkit.io.door import ENDINGS, by_model, open_data
from frkit.reporting.look import contents_of, labels_of

ACCEPTED = ",".join(ending for ending in ENDINGS if ending != ".zarr")  # not a folder
NONE = "(none)"
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
    "that see the same images."
)
COLUMNS = (
    "Which column is what, as role=column: correct what is wrong, and leave the field. Roles are "
    "score, distance, genuine, impostor, probe, reference, probe_identity, reference_identity, "
    "identity, image, embedding, or an attribute's name. Other options of the command line may "
    "follow, such as those that a question proposes, or --labels FILE."
)
QUESTION = (
    "Choose the attribute whose groups are compared, the models, and the false accept rates (0.001 "
    "or 0.1%). A blank label is taken from other images of the same person, if these agree."
)
EVALUATE = "Press Evaluate. The report appears next to these controls, or below them."
EXPORT = "After an evaluation: download the report, or write it with its tables into a folder."
REPORT = (
    "The report appears here: how accurate each model is, how sure that is, whether groups differ, "
    "and which people cause the errors. Next: press Evaluate, for the sample data or for yours."
)
NARROW = {"flex": "1 1 20em", "max_width": "36em", "min_width": "0"}
WIDE = {"flex": "3 1 30em", "min_width": "0", "overflow": "auto"}
# one column beneath the other where the page is narrow
WRAPPED = {"flex_flow": "row wrap", "align_items": "flex-start", "grid_gap": "1.5em"}


def own_data(path: str | Path | None = None) -> widgets.HBox:
    """Evaluate files without code: choose columns, groups and models, look, and export.

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
        self.uploads = {}
        self.paths = []
        self.path = control(widgets.Text, "files", value=str(path or ""), placeholder="path")
        self.upload = widgets.FileUpload(accept=ACCEPTED, description="Upload", multiple=True)
        self.upload.layout = AS_WIDE_AS_ITS_WORDS
        self.read_button = button("Read", self.read)
        self.sample_button = button("Use sample data", self.read_sample)
        self.status = widgets.HTML()
        self.options = control(
            widgets.Textarea,
            "options",
            placeholder="--columns score=cosine genuine=mated",
            rows=5,
            continuous_update=False,
        )
        self.recognised = ""  # options that frkit found in the data
        self.by = control(widgets.Dropdown, "groups of", options=[NONE])
        self.models = control(widgets.SelectMultiple, "models", rows=3)
        self.far = control(widgets.Text, "FAR levels", value="0.01, 0.001")
        self.weighting = control(widgets.Dropdown, "rates are", options=WEIGHTINGS)
        self.varying = control(widgets.Dropdown, "labels that differ", options=VARYING)
        self.quick = control(widgets.Checkbox, "quick (no long tests)", value=True)
        sources = [self.upload, self.read_button, self.sample_button]
        settings = [self.by, self.models, self.far, self.weighting, self.varying, self.quick]
        self.work = Work("Evaluate", self.evaluate, [self.path, *sources, self.options, *settings])
        self.work.button.button_style = "primary"
        self.folder = control(widgets.Text, "folder", value=str(Path.home() / "frkit-report"))
        self.save_button = button("Write report", self.save)
        self.place = widgets.HTML()
        self.link = widgets.HTML()
        self.result = widgets.HTML()
        self.mapping = widgets.VBox([widgets.HTML(message(COLUMNS)), self.options])
        buttons = widgets.HBox(sources, layout={"flex_flow": "row wrap"})
        panes = [
            pane("1. Data", DATA, self.path, buttons, self.status, self.mapping),
            pane("2. Question", QUESTION, *settings),
            pane("3. Evaluate", EVALUATE, self.work.buttons, self.work.words),
            pane("4. Export", EXPORT, self.link, self.folder, self.save_button, self.place),
        ]
        controls = widgets.VBox(panes, layout=NARROW)
        self.box = widgets.HBox([controls, widgets.VBox([self.result], layout=WIDE)])
        self.box.layout = WRAPPED
        self.upload.observe(self.receive, names="value")
        self.options.observe(self.read_anew, names="value")
        for setting in settings:
            setting.observe(self.forget_report, names="value")
        if path is None:
            self.read_sample()
        else:
            self.read()

    def forget_report(self, _change=None):
        """Show no report, because the data or the question have changed."""
        self.report = None
        self.result.value = heading("Report", REPORT)
        self.link.value = self.place.value = self.work.words.value = ""
        self.save_button.disabled = True

    def receive(self, change):
        """Store uploaded files, and read them."""
        if not change["new"]:
            return
        folder = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        names = []
        for file in change["new"]:
            # without folders: a name such as ../../x must not leave the folder
            name = Path(file["name"].replace("\\", "/")).name
            self.uploads[name] = folder / name
            self.uploads[name].write_bytes(file["content"])
            names.append(name)
        self.upload.value = ()
        self.path.value = "; ".join(names)
        self.write_options("")
        self.read()

    def named(self, name):
        """Return the path of a file that was uploaded or that is on this machine."""
        return self.uploads.get(name, Path(name).expanduser())

    def in_words(self, error):
        """Return what an error says and the options that answer it, with names of uploads."""
        answers = [option_words(answer) for answer in getattr(error, "answers", ())]
        lines = [getattr(error, "text", str(error))]
        text = "\n".join([*lines, *(f"options: {shlex.join(words)}" for words in answers)])
        for name, path in self.uploads.items():
            text = text.replace(str(path), name)
        return text

    def read_sample(self, _button=None):
        """Read the faces that come with frkit."""
        self.path.value = ""
        self.begin_reading()
        with self.reading():
            self.show(demo_faces(), [])

    def read(self, _button=None):
        """Read the files that are named."""
        self.begin_reading()
        with self.reading():
            require(self.paths, "No file is named: write its path, upload it, or use sample data.")
            self.say(f"reading {self.path.value} ...")
            self.open()

    def begin_reading(self):
        """Note which files are read, and clear what was shown of others."""
        names = [name.strip() for name in self.path.value.split(";")]
        paths = [self.named(name) for name in names if name]
        if paths != self.paths:  # options that were written for the same files stay
            self.write_options("")
        self.paths = paths
        self.name_of_data = self.path.value
        self.mapping.layout.display = "" if paths else "none"
        self.offer_question([], [])
        self.forget_report()

    def opening(self):
        """Return the options of `open_data` that the user gave."""
        is_own = self.options.value != self.recognised
        options = options_of_text(self.options.value) if is_own else {}
        for name in {"labels", "scores"} & {*options}:
            options[name] = self.named(options[name])
        return options

    def open(self):
        """Open the file, or several files of models."""
        files = self.paths if len(self.paths) > 1 else self.paths[0]
        with gathered_notices() as notices:
            data = open_data(files, **self.opening())
        self.show(data, notices)

    def write_options(self, words):
        """Show which column was read as what, as options that can be changed."""
        self.recognised = words
        self.options.value = words

    def read_anew(self, _change):
        """Read again with other options."""
        if self.options.value == self.recognised or not self.paths:
            return
        self.forget_report()
        with self.reading():
            self.open()

    def show(self, data, notices):
        """Say what was opened, and offer what can be asked of it."""
        self.data = data
        self.notices = notices
        if self.options.value == self.recognised:
            roles = json.loads(data.attrs.get("roles", "{}"))
            self.write_options(shlex.join(option_words({"columns": roles})) if roles else "")
        labels = labels_of(data)
        labels.pop("identity", None)
        attributes = [name for name, column in labels.items() if len({*column}) <= MOST_LABELS]
        models = data["model"].values.tolist() if "model" in data.dims else []
        self.offer_question(attributes, models)
        self.say("\n".join([*contents_of(data), *(notice.text for notice in notices)]))

    def offer_question(self, attributes, models):
        """Offer the attributes and the models of the data that were read."""
        self.by.options = [NONE, *attributes]
        self.by.value = self.by.options[min(1, len(attributes))]
        self.models.options = self.models.value = models
        self.models.layout.display = "" if models else "none"

    def evaluate(self, progress):
        """Make the report and show it."""
        is_read = self.path.value == self.name_of_data
        require(is_read, "Other files are named now: press Read first.")
        progress(0, "loading the libraries of the evaluation")
        from frkit.reporting import page
        from frkit.reporting.report import report

        data = self.data
        paths = None
        models = list(self.models.value)
        if 0 < len(models) < len(self.models.options):
            data = data.sel(model=models).squeeze()
        elif self.paths:
            paths = by_model(self.paths) if len(self.paths) > 1 else str(self.paths[0])
        try:
            result = report(
                data,
                by=None if self.by.value == NONE else self.by.value,
                far=[parse_number(level) for level in self.far.value.split(",")],
                weighting=self.weighting.value or None,
                varying=self.varying.value,
                quick=self.quick.value,
                progress=progress,
            )
        except InputError as error:
            raise InputError(self.in_words(error)) from error
        result.cautions[:0] = [notice.text for notice in self.notices]
        opening = self.opening()
        if not {*self.paths, opening.get("labels")} & {*self.uploads.values()}:
            # so that its notebook can open the files, which uploads would not be
            result.arguments |= {"data": paths, "opening": opening}
        self.report = result
        # without `contain` the widest folded table would make the column too wide
        self.result.value = f'<div style="contain:inline-size">{page.fragment(result)}</div>'
        whole = base64.b64encode(page.page(result).encode()).decode()
        address = f"data:text/html;base64,{whole}"
        link = f'<a download="report.html" style="text-decoration:underline" href="{address}">'
        self.link.value = f"{link}download the page</a>"
        self.save_button.disabled = False

    def save(self, _button=None):
        """Write the report's folder."""
        try:
            folder = self.report.save(Path(self.folder.value).expanduser().absolute())
            self.place.value = message(f"written: {folder}")
        except (InputError, OSError) as error:
            self.place.value = message(str(error), alert=True)

    def say(self, sentence, alert=False):
        """Show a sentence beneath the controls of the files."""
        self.status.value = message(sentence, alert)

    @contextmanager
    def reading(self):
        """Show why something cannot be read; nothing can be evaluated then."""
        self.work.button.disabled = True
        try:
            yield
            self.work.button.disabled = False
        except (InputError, OSError) as error:
            self.say(self.in_words(error), alert=True)


def pane(title, instruction, *contents):
    """Return a step: its title, what to do there, and its controls."""
    return widgets.VBox([widgets.HTML(heading(title, instruction)), *contents])


def heading(title, instruction):
    """Return the title of a pane and what to do there."""
    return f'<h2 style="font-size:1.2em;margin:.6em 0 0">{title}</h2>{message(instruction)}'


def control(kind, label, **settings):
    """Return a control that fits into the narrow column."""
    widget = labelled_control(kind, label, **settings)
    widget.layout = {"width": "auto", "max_width": "38em"}
    widget.style.description_width = "10em"
    return widget
