"""Your own data without code: choose files, say what their columns are, evaluate, look, export."""

import base64
import shutil
import tempfile
import warnings
import weakref
from contextlib import contextmanager
from pathlib import Path

import ipywidgets as widgets
import numpy as np
import xarray as xr

from frkit.base import IDENTITY, IMAGE, MODEL, PAIR, PERSON, PROBE, InputError, require
from frkit.data.files import named
from frkit.data.opening import demo_faces
from frkit.explore.panel import labelled, start_at
from frkit.explore.work import Work, message
from frkit.reporting import page
from frkit.reporting.opening import ENDINGS, guess, kind_of, model_names, open_data, preview
from frkit.reporting.report import report

ACCEPTED = ",".join(ending for ending in ENDINGS if ending != ".zarr")  # a folder is no upload
NONE = "(none)"
ROLES = {
    "genuine": "genuine (1 or 0)",
    "probe_identity": "probe identity",
    "reference_identity": "reference identity",
}
NO_ATTRIBUTES = (IDENTITY, IMAGE, MODEL, PERSON)
MOST_LABELS = 50  # of an attribute whose groups can be compared
DATA = (
    "Name a file of embeddings, a score matrix or a table of scored pairs, or upload it. "
    "Several files (a.npz; b.npz) are models that see the same images."
)
QUESTION = "Choose whose groups are compared, which models, and at which false accept rates."
EVALUATE = "Press the button. The report appears beside these controls, or beneath them."
EXPORT = "Download the report's page, or write it with its tables and figures into a folder."
EMPTY = (
    "<p>The report appears here: how good each model is, how sure that is, whether groups "
    "differ, and who drives the errors.</p><p>Read your files or the sample data, then press "
    "<b>Evaluate</b>.</p>"
)
NARROW = {"flex": "1 1 22em", "max_width": "40em", "min_width": "0"}
WIDE = {"flex": "2 1 30em", "min_width": "0", "overflow": "auto"}
# one column beneath the other where the page is narrow
WRAPPED = {"flex_flow": "row wrap", "align_items": "flex-start", "grid_gap": "1.5em"}


def own_data(path: str | Path | None = None, **start) -> widgets.HBox:
    """Evaluate files without code: choose columns, groups and models, look, and export.

    Parameters
    ----------
    path : str or Path, optional
        The file with which it begins; by default the sample faces that come with frkit. Where it
        cannot be read, the reason stands beneath the controls.
    **start
        Values to begin with: by, models, far (a text such as "0.01, 0.001"), quick, folder.

    Returns
    -------
    ipywidgets.HBox
        Controls to the left, the report to the right.

    Raises
    ------
    InputError
        For a start that no control offers.

    Examples
    --------
    >>> import frkit as fk
    >>> type(fk.explore.own_data()).__name__
    'HBox'
    """
    app = OwnData(path)
    names = ("by", "models", "far", "quick", "folder")
    start_at({name: getattr(app, name) for name in names}, start)
    return app.box


class OwnData:
    """The controls, the data that were read, and the last report."""

    def __init__(self, path=None):
        self.paths: list[Path] = []
        self.path = control(widgets.Text, "files", value=str(path or ""), placeholder="path")
        self.upload = widgets.FileUpload(accept=ACCEPTED, multiple=True, description="Upload")
        self.read_button = widgets.Button(description="Read")
        self.sample_button = widgets.Button(description="Use sample data")
        self.status, self.preview = widgets.HTML(), widgets.HTML()
        self.scores = control(widgets.SelectMultiple, "scores", rows=4)
        self.columns = {
            role: control(widgets.Dropdown, label, options=[NONE]) for role, label in ROLES.items()
        }
        self.mapping = widgets.VBox([self.scores, *self.columns.values()])
        self.by = control(widgets.Dropdown, "groups of", options=[NONE])
        self.models = control(widgets.SelectMultiple, "models", rows=3)
        self.far = control(widgets.Text, "FAR levels", value="0.01, 0.001")
        self.quick = control(widgets.Checkbox, "quick (no long tests)", value=True)
        self.folder = control(widgets.Text, "folder", value="frkit-report")
        self.save_button = widgets.Button(description="Write report", disabled=True)
        self.link, self.result = widgets.HTML(), widgets.HTML(EMPTY)
        sources = [self.upload, self.read_button, self.sample_button]
        settings = [self.by, self.models, self.far, self.quick]
        inputs = [self.path, *sources, *self.mapping.children, *settings]
        self.work = Work("Evaluate", self.evaluate, inputs)
        controls = [
            *heading("1. Data", DATA),
            self.path,
            widgets.HBox(sources),
            self.status,
            self.preview,
            self.mapping,
            *heading("2. Question", QUESTION),
            *settings,
            *heading("3. Evaluate", EVALUATE),
            self.work.buttons,
            self.work.words,
            *heading("4. Export", EXPORT),
            self.link,
            self.folder,
            self.save_button,
        ]
        columns = [widgets.VBox(controls, layout=NARROW), widgets.VBox([self.result], layout=WIDE)]
        self.box = widgets.HBox(columns, layout=WRAPPED)
        self.read_button.on_click(self.read)
        self.sample_button.on_click(self.read_sample)
        self.save_button.on_click(self.save)
        self.upload.observe(self.receive, names="value")
        for column in self.mapping.children:
            column.observe(self.map_columns, names="value")
        self.read()

    def receive(self, change):
        """Store uploaded files, and read them."""
        if not change["new"]:
            return
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        paths = []
        for file in change["new"]:
            # without folders: a name such as ../../x must not leave the folder
            name = Path(file["name"].replace("\\", "/")).name
            paths.append(Path(folder, name))
            paths[-1].write_bytes(file["content"])
        self.upload.value = ()
        self.path.value = "; ".join(map(str, paths))
        self.read()

    def read_sample(self, _button=None):
        """Read the faces that come with frkit."""
        self.path.value = ""
        self.read()

    def read(self, _button=None):
        """Look at the files that are named, guess what their columns are, and load them."""
        names = [name.strip() for name in self.path.value.split(";")]
        self.paths = [Path(name).expanduser() for name in names if name]
        self.opening, self.preview.value = {}, ""
        self.work.button.disabled = True
        with self.refusing():
            if self.paths:
                self.say(f"reading {self.path.value} ...")
                self.look(self.paths[0])
            self.load()

    def look(self, path):
        """Show the first rows of a table of pairs, and offer its columns as they were guessed."""
        with named(path):
            form, guessed = guess(path)
            if form != "columns":
                return
            table = preview(path, 5)
        shown = table.to_html(index=False, border=0, max_cols=8)
        self.preview.value = f'<div style="overflow-x:auto">{shown}</div>first rows'
        header, roles = table.columns.astype(str).tolist(), guessed["columns"]
        self.scores.options, self.scores.value = header, [*np.atleast_1d(roles["score"])]
        for role, column in self.columns.items():
            column.options = [NONE, *header]
            column.value = roles.get(role, NONE)
        self.opening = {"format": form, **guessed}  # from now on another choice reads again

    def map_columns(self, _change):
        """Load again with other columns."""
        if not self.opening:
            return
        scores = list(self.scores.value)
        chosen = {role: column.value for role, column in self.columns.items()}
        chosen["score"] = scores[0] if len(scores) == 1 else scores
        roles = self.opening["columns"] | chosen
        roles = {role: name for role, name in roles.items() if name != NONE}
        self.opening = {"format": "columns", "columns": roles}
        self.work.button.disabled = True
        with self.refusing():
            require(scores, "choose at least one column of scores")
            self.load()

    def load(self):
        """Load the data, and offer what can be asked of them."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = self.data = self.opened()
        attributes = attributes_of(data)
        models = data[MODEL].values.tolist() if MODEL in data.dims else []
        self.by.options = [NONE, *attributes]
        self.by.value = self.by.options[min(1, len(attributes))]
        self.models.options = self.models.value = models
        self.models.layout.display = "" if models else "none"
        self.mapping.layout.display = "" if self.opening else "none"
        counts = [f"{n:,} {dim}s" for dim, n in data.sizes.items() if dim in (IMAGE, PAIR, PROBE)]
        names = ", ".join(attributes) or "none"
        contents = f"{kind_of(data)}: {', '.join(counts)}; attributes: {names}"
        self.say(". ".join([contents, *(str(caution.message) for caution in caught)]))
        self.work.button.disabled = False

    def opened(self):
        """The faces or scores in the files; the sample where none is named."""
        if not self.paths:
            return demo_faces()
        paths = self.paths if len(self.paths) > 1 else self.paths[0]
        return open_data(paths, **self.opening)

    def evaluate(self, progress):
        """Make the report and show it."""
        try:
            far = [float(level) for level in self.far.value.split(",")]
        except ValueError:
            words = f"FAR levels must be numbers such as 0.01, 0.001; got {self.far.value!r}"
            raise InputError(words) from None
        data, models = self.data, list(self.models.value)
        every_model = len(models) in (0, len(self.models.options))
        if not every_model:
            data = data.sel({MODEL: models}).squeeze()
        by = None if self.by.value == NONE else self.by.value
        self.report = report(data, by=by, far=far, quick=self.quick.value, progress=progress)
        if self.paths and every_model:  # its notebook opens the files again
            paths = dict(zip(model_names(self.paths), map(str, self.paths)))
            self.report.made["data"] = paths if len(paths) > 1 else str(self.paths[0])
            if self.opening:
                self.report.made["opening"] = self.opening
        self.result.value = page.fragment(self.report)
        whole = base64.b64encode(page.page(self.report).encode()).decode()
        address = f"data:text/html;base64,{whole}"
        self.link.value = f'<a download="report.html" href="{address}">download the page</a>'
        self.save_button.disabled = False

    def save(self, _button=None):
        """Write the report's folder."""
        with self.refusing():
            folder = self.report.save(self.folder.value.strip() or "frkit-report")
            self.say(f"written: {folder.resolve()}")

    def say(self, words, alert=False):
        """A sentence beneath the controls of the files."""
        self.status.value = message(words, alert)

    @contextmanager
    def refusing(self):
        """What cannot be read or written becomes words beneath the controls of the files."""
        try:
            yield
        except (InputError, OSError) as error:
            self.say(str(error), alert=True)


def attributes_of(data: xr.Dataset | xr.DataArray) -> list[str]:
    """Attributes whose groups can be compared: of images, or of both sides of a pair."""
    side = "" if IMAGE in data.dims else f"{PROBE}_"
    columns = {str(name): values for name, values in data.coords.items()}
    return [
        name.removeprefix(side)
        for name, values in columns.items()
        if name.startswith(side)
        and name.removeprefix(side) not in NO_ATTRIBUTES
        and np.unique(values).size <= MOST_LABELS
    ]


def heading(title: str, words: str) -> tuple[widgets.HTML, widgets.HTML]:
    """The title of a step, and what to do there."""
    return widgets.HTML(f"<h3>{title}</h3>"), widgets.HTML(message(words))


def control(kind: type[widgets.Widget], label: str, **settings) -> widgets.Widget:
    """A control that fits into the narrow column."""
    widget = labelled(kind, label, **settings)
    widget.layout = {"width": "auto", "max_width": "38em"}
    widget.style.description_width = "10em"
    return widget
