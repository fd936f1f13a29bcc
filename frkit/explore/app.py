"""Your own data without code: choose files, say what their columns are, evaluate, look, export."""

import base64
import json
import re
import shutil
import tempfile
import warnings
import weakref
from contextlib import contextmanager
from pathlib import Path

import ipywidgets as widgets
import numpy as np

from frkit.base import InputError, require
from frkit.data.opening import demo_faces
from frkit.explore.controls import labelled
from frkit.explore.reading import may_crash, read_apart
from frkit.explore.work import AS_WIDE_AS_ITS_WORDS, Work, button, message
from frkit.reporting.opening import (
    ENDINGS,
    by_model,
    columns_read,
    kind_of,
    open_with_names,
)

ACCEPTED = ",".join(ending for ending in ENDINGS if ending != ".zarr")  # a folder is no upload
NONE = "(none)"
KINDS = {
    "as recognised": None,
    "embeddings": "faces",
    "a list of scored pairs": "columns",
    "a matrix of scores": "matrix",
}
ROLES = {
    "score": "scores",
    "distance": "distances",
    "genuine": "genuine",
    "impostor": "impostor",
    "probe_identity": "probe's person",
    "reference_identity": "reference's person",
    "probe": "probe's image",
    "reference": "reference's image",
    "embedding": "embedding",
    "identity": "person",
    "image": "image",
}
SEVERAL = ("score", "distance", "embedding")  # several columns are several models
NO_ATTRIBUTES = ("identity", "image", "model", "person")
COUNTED = ("image", "pair", "probe")  # dims whose sizes are shown
MOST_LABELS = 50  # of an attribute whose groups can be compared
DATA = (
    "Shows what was read, at first the sample data. Name a file of embeddings, a score matrix or a "
    "table of scored pairs and press Read, or upload it. Several files (a.npz; b.npz) are models "
    "that see the same images."
)
COLUMNS = (
    "What the columns are. Choose what was not recognised, and correct what is wrong. Larger "
    "scores and smaller distances are more alike; genuine and impostor are yes or no."
)
CHOOSE = "Choose the columns in the menus below."
QUESTION = "Choose the attribute whose groups are compared, the models, and the false accept rates."
EVALUATE = "Press Evaluate. The report appears beside these controls, or below them."
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
        The file with which it begins; by default the sample faces that come with frkit. Where it
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
        sources = self.data_controls(path)
        columns = [self.kind, *self.columns.values()]
        settings = self.question_controls()
        self.work = Work("Evaluate", self.evaluate, [self.path, *sources, *columns, *settings])
        self.work.button.button_style = "primary"
        self.folder = control(widgets.Text, "folder", value="frkit-report")
        self.save_button = button("Write report", self.save, disabled=True)
        self.link = widgets.HTML()
        self.result = widgets.HTML()
        self.mapping = widgets.VBox([self.preview, *columns])
        buttons = widgets.HBox(sources, layout={"flex_flow": "row wrap"})
        panes = [
            pane("1. Data", DATA, self.path, buttons, self.status, self.mapping),
            pane("2. Question", QUESTION, *settings),
            pane("3. Evaluate", EVALUATE, self.work.buttons, self.work.words),
            pane("4. Export", EXPORT, self.link, self.folder, self.save_button),
        ]
        controls = widgets.VBox(panes, layout=NARROW)
        result = widgets.VBox([self.result], layout=WIDE)
        self.box = widgets.HBox([controls, result], layout=WRAPPED)
        for column in columns:
            column.observe(self.map_columns, names="value")
        self.read()

    def data_controls(self, path):
        """Controls of the files and their columns; the buttons are returned."""
        self.path = control(widgets.Text, "files", value=str(path or ""), placeholder="path")
        self.upload = widgets.FileUpload(accept=ACCEPTED, multiple=True, description="Upload")
        self.upload.layout = AS_WIDE_AS_ITS_WORDS
        self.upload.observe(self.receive, names="value")
        self.read_button = button("Read", self.read)
        self.sample_button = button("Use sample data", self.read_sample)
        self.status = widgets.HTML()
        self.preview = widgets.HTML()
        self.kind = control(widgets.Dropdown, "kind of data", options=list(KINDS.items()))
        self.columns = {}
        for role, label in ROLES.items():
            if role in SEVERAL:
                self.columns[role] = control(widgets.SelectMultiple, label, rows=3)
            else:
                self.columns[role] = control(widgets.Dropdown, label, options=[NONE])
        self.is_filling = False
        return [self.upload, self.read_button, self.sample_button]

    def question_controls(self):
        """Controls of what is asked."""
        self.by = control(widgets.Dropdown, "groups of", options=[NONE])
        self.models = control(widgets.SelectMultiple, "models", rows=3)
        self.far = control(widgets.Text, "FAR levels", value="0.01, 0.001")
        self.quick = control(widgets.Checkbox, "quick (no long tests)", value=True)
        return [self.by, self.models, self.far, self.quick]

    def receive(self, change):
        """Store uploaded files, and read them."""
        if not change["new"]:
            return
        folder = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        paths = []
        for file in change["new"]:
            # without folders: a name such as ../../x must not leave the folder
            path = folder / Path(file["name"].replace("\\", "/")).name
            path.write_bytes(file["content"])
            paths.append(str(path))
        self.upload.value = ()
        self.path.value = "; ".join(paths)
        self.read()

    def read_sample(self, _button=None):
        """Read the faces that come with frkit."""
        self.path.value = ""
        self.read()

    def read(self, _button=None):
        """Read the files that are named."""
        names = [name.strip() for name in self.path.value.split(";")]
        self.paths = [Path(name).expanduser() for name in names if name]
        self.opening = {}
        with self.reading():
            self.offer_columns([], None)
            if not self.paths:
                self.show(demo_faces())
                return
            self.say(f"reading {self.path.value} ...")
            self.open(self.offer_columns)

    def open(self, use_names=None):
        """Open the file, or several, which are models; and use the names of its columns."""
        files = self.paths if len(self.paths) > 1 else self.paths[0]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            opened = read_apart(open_with_names, files, **self.opening)
        names, rows, data, refusal = opened
        if use_names is not None:
            use_names(names, rows)
        require(data is not None, refusal)
        self.show(data, caught)

    def offer_columns(self, header, rows):
        """Show the first rows of a table, and a menu of its columns for each role."""
        how = {"index": False, "border": 0, "max_cols": 8, "col_space": "5em", "justify": "left"}
        shown = "" if rows is None else rows.to_html(**how)
        style = "overflow-x:auto;contain:inline-size"
        self.preview.value = f'{message(COLUMNS)}<div tabindex="0" style="{style}">{shown}</div>'
        self.mapping.layout.display = "" if header else "none"
        self.is_filling = True
        self.kind.value = None
        self.fill(header, {})

    def fill(self, header, roles):
        """Set the menus to the roles that were found."""
        self.is_filling = True
        for role, menu in self.columns.items():
            columns = [name for name in roles.get(role, []) if name in header]
            if role in SEVERAL:
                menu.options = header
                menu.value = columns
            else:
                menu.options = [NONE, *header]
                menu.value = columns[0] if columns else NONE
        self.is_filling = False

    def map_columns(self, change):
        """Read again with another choice."""
        if self.is_filling or not self.paths:
            return
        if change["owner"] is self.kind:
            self.opening = {"format": self.kind.value} if self.kind.value else {}
        else:
            role = next(role for role, menu in self.columns.items() if menu is change["owner"])
            chosen = list(change["new"]) if role in SEVERAL else change["new"]
            columns = {**self.opening.get("columns", {}), role: chosen}
            columns[role] = None if chosen in ([], NONE) else chosen
            self.opening["columns"] = columns
        with self.reading():
            self.open()

    def show(self, data, caught=()):
        """Say what was opened, and offer what can be asked of it."""
        self.data = data
        if self.paths:
            header = list(self.columns["identity"].options[1:])
            self.fill(header, json.loads(data.attrs.get("roles", "{}")))
        attributes = attributes_of(data)
        models = data["model"].values.tolist() if "model" in data.dims else []
        self.by.options = [NONE, *attributes]
        self.by.value = self.by.options[min(1, len(attributes))]
        self.models.options = self.models.value = models
        self.models.layout.display = "" if models else "none"
        self.result.value = heading("Report", REPORT)
        self.link.value = ""
        self.save_button.disabled = True
        sizes = [f"{n:,} {dim}s" for dim, n in data.sizes.items() if dim in COUNTED]
        contents = [f"{kind_of(data)}: {'; '.join(sizes)}"]
        if models:
            contents.append(f"models: {', '.join(models)}")
        contents.append(f"attributes: {', '.join(attributes) or 'none'}")
        contents += [line for line in columns_read(data) if line.startswith(("ident", "not"))]
        words = "; ".join(contents)
        self.say(". ".join([words, *(str(caution.message) for caution in caught)]))

    def evaluate(self, progress):
        """Make the report and show it."""
        progress(0, "loading the libraries of the evaluation")
        from frkit.reporting import page
        from frkit.reporting.report import report

        try:
            far = [float(level) for level in self.far.value.split(",")]
        except ValueError:
            raise InputError(
                f"FAR levels must be numbers such as 0.01, 0.001; got {self.far.value!r}"
            ) from None
        data = self.data
        models = list(self.models.value)
        opening = {}
        if 0 < len(models) < len(self.models.options):
            data = data.sel(model=models).squeeze()
        elif self.paths and not may_crash(self.paths):
            # the report's notebook opens the files again, as the report does now
            opening = self.opening
            data = by_model(self.paths) if len(self.paths) > 1 else self.paths[0]
        by = None if self.by.value == NONE else self.by.value
        self.report = report(
            data, by=by, far=far, quick=self.quick.value, opening=opening, progress=progress
        )
        # without `contain` the widest folded table would make the column too wide
        shown = page.fragment(self.report)
        self.result.value = f'<div style="contain:inline-size">{shown}</div>'
        whole = base64.b64encode(page.page(self.report).encode()).decode()
        address = f"data:text/html;base64,{whole}"
        link = f'<a download="report.html" style="text-decoration:underline" href="{address}">'
        self.link.value = f"{link}download the page</a>"
        self.save_button.disabled = False

    def save(self, _button=None):
        """Write the report's folder."""
        folder = self.folder.value.strip() or "frkit-report"
        try:
            self.say(f"written: {self.report.save(folder).resolve()}")
        except (InputError, OSError) as error:
            self.say(str(error), alert=True)

    def say(self, words, alert=False):
        """A sentence beneath the controls of the files."""
        self.status.value = message(words, alert)

    @contextmanager
    def reading(self):
        """What cannot be read becomes words, and nothing can be evaluated then."""
        self.work.button.disabled = True
        try:
            yield
            self.work.button.disabled = False
        except (InputError, OSError) as error:
            words = re.sub(r"say (which it is|what they are): .*", CHOOSE, str(error))
            for path in self.paths:
                words = words.replace(f"{path.parent}/{path.name}", path.name)
            self.say(words, alert=True)


def attributes_of(data):
    """Attributes whose groups can be compared: of images, or of both sides of a pair."""
    side = "" if "image" in data.dims else "probe_"
    sides = {name.removeprefix(side): name for name in data.coords if name.startswith(side)}
    return [
        attribute
        for attribute, name in sides.items()
        if attribute not in NO_ATTRIBUTES and np.unique(data[name]).size <= MOST_LABELS
    ]


def pane(title, words, *contents):
    """One step: its title, what to do there, and its controls."""
    return widgets.VBox([widgets.HTML(heading(title, words)), *contents])


def heading(title, words):
    """The title of a pane, and what it shows or what to do there."""
    return f'<h2 style="font-size:1.2em;margin:.6em 0 0">{title}</h2>{message(words)}'


def control(kind, label, **settings):
    """A control that fits into the narrow column."""
    widget = labelled(kind, label, **settings)
    widget.layout = {"width": "auto", "max_width": "38em"}
    widget.style.description_width = "10em"
    return widget
