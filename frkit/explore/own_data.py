"""Your own data without code: choose files, say what their columns are, evaluate, look, export."""

import base64
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import ipywidgets as widgets
import numpy as np
import xarray as xr

from frkit.base import IDENTITY, IMAGE, MODEL, PAIR, PERSON, PROBE, InputError, require
from frkit.data.files import file_kind, named
from frkit.data.opening import demo_faces
from frkit.explore.panel import labelled, start_at
from frkit.explore.work import Work, message
from frkit.reporting import page
from frkit.reporting.opening import (
    ENDINGS,
    guess,
    kind_of,
    model_names,
    open_data,
    preview,
    together,
)
from frkit.reporting.report import report

ACCEPTED = ",".join(ending for ending in ENDINGS if ending != ".zarr")  # a folder is no upload
NONE = "(none)"
ROLES = {
    "genuine": "genuine (1 or 0)",
    "probe_identity": "probe identity",
    "reference_identity": "reference identity",
}
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
        For a path that is none, or a start that no control offers.

    Examples
    --------
    >>> import frkit as fk
    >>> type(fk.explore.own_data()).__name__
    'HBox'
    """
    is_path = path is None or isinstance(path, (str, Path))
    require(is_path, f"path must be that of a file, got {type(path).__name__}")
    app = OwnData(path)
    names = ("by", "models", "far", "quick", "folder")
    start_at({name: getattr(app, name) for name in names}, start)
    return app.box


class OwnData:
    """The controls, the data that were read, and the last report."""

    def __init__(self, path: str | Path | None = None):
        self.data, self.report, self.roles = None, None, None
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
        inputs = [self.path, self.upload, self.read_button, self.sample_button]
        inputs += [*self.mapping.children, self.by, self.models, self.far, self.quick]
        self.work = Work("Evaluate", self.evaluate, inputs)
        self.box = self.layout()
        self.read_button.on_click(lambda _button: self.read())
        self.sample_button.on_click(lambda _button: self.read_sample())
        self.save_button.on_click(lambda _button: self.save())
        self.upload.observe(lambda change: self.receive(change.new), names="value")
        for column in self.mapping.children:
            column.observe(lambda _change: self.map_columns(), names="value")
        self.read()

    def layout(self) -> widgets.HBox:
        """Controls and report side by side; one beneath the other where the page is narrow."""
        left = [
            *heading("1. Data", DATA),
            self.path,
            widgets.HBox([self.upload, self.read_button, self.sample_button]),
            self.status,
            self.preview,
            self.mapping,
            *heading("2. Question", QUESTION),
            *(self.by, self.models, self.far, self.quick),
            *heading("3. Evaluate", EVALUATE),
            *(self.work.buttons, self.work.words),
            *heading("4. Export", EXPORT),
            *(self.link, self.folder, self.save_button),
        ]
        narrow = {"flex": "1 1 22em", "max_width": "40em", "min_width": "0"}
        wide = {"flex": "2 1 30em", "min_width": "0", "overflow": "auto"}
        columns = [widgets.VBox(left, layout=narrow), widgets.VBox([self.result], layout=wide)]
        wrapped = {"flex_flow": "row wrap", "align_items": "flex-start", "grid_gap": "1.5em"}
        return widgets.HBox(columns, layout=wrapped)

    def receive(self, uploads: tuple) -> None:
        """Store uploaded files, and read them."""
        if not uploads:
            return
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        paths = []
        for file in uploads:
            # without folders: a name such as ../../x must not leave the folder
            name = Path(str(file["name"]).replace("\\", "/")).name
            path = Path(folder, name)
            path.write_bytes(file["content"])
            paths.append(str(path))
        self.upload.value = ()
        self.path.value = "; ".join(paths)
        self.read()

    def read_sample(self) -> None:
        """Read the faces that come with frkit."""
        self.path.value = ""
        self.read()

    def read(self) -> None:
        """Look at the files that are named, guess what their columns are, and load them."""
        names = [name.strip() for name in self.path.value.split(";")]
        self.paths = [Path(name).expanduser() for name in names if name]
        self.roles, self.preview.value = None, ""
        self.work.button.disabled = True
        with self.refusing():
            if self.paths:
                self.say(f"reading {', '.join(path.name for path in self.paths)} ...")
                self.look(self.paths[0])
            self.load()

    def look(self, path: Path) -> None:
        """Show the first rows of a table, and offer its columns as they were guessed."""
        with named(path):
            is_table = file_kind(path) in ("text", "parquet")
            form, guessed = guess(path)
            table = preview(path, 5) if is_table else None
        if table is not None:
            shown = table.to_html(index=False, border=0, max_cols=8)
            self.preview.value = f'<div style="overflow-x:auto">{shown}</div>first rows'
        if form == "columns":
            header, roles = table.columns.astype(str).tolist(), guessed["columns"]
            self.scores.options, self.scores.value = header, [*np.atleast_1d(roles["score"])]
            for role, column in self.columns.items():
                column.options = [NONE, *header]
                column.value = roles.get(role, NONE)
            self.roles = roles  # from now on another choice reads again

    def map_columns(self) -> None:
        """Load again with other columns."""
        if self.roles is None:
            return
        self.work.button.disabled = True
        scores = list(self.scores.value)
        chosen = {role: column.value for role, column in self.columns.items()}
        others = {role: name for role, name in self.roles.items() if role not in chosen}
        self.roles = others | {role: name for role, name in chosen.items() if name != NONE}
        self.roles["score"] = scores if len(scores) > 1 else "".join(scores)
        with self.refusing():
            require(scores, "choose at least one column of scores")
            self.load()

    def load(self) -> None:
        """Load the data, and offer what can be asked of them."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.data = self.opened()
        attributes = attributes_of(self.data)
        self.by.options = [NONE, *attributes]
        self.by.value = attributes[0] if attributes else NONE
        models = self.data[MODEL].values.astype(str).tolist() if MODEL in self.data.dims else []
        self.models.options = self.models.value = models
        self.models.layout.display = "" if models else "none"
        self.mapping.layout.display = "none" if self.roles is None else ""
        sizes = self.data.sizes
        counts = [f"{sizes[dim]:,} {dim}s" for dim in (IMAGE, PAIR, PROBE) if dim in sizes]
        said = f"{kind_of(self.data)}: {', '.join(counts)}; "
        said += f"attributes: {', '.join(attributes) or 'none'}"
        self.say(". ".join([said, *(str(caution.message) for caution in caught)]))
        self.work.button.disabled = False

    def opened(self) -> xr.Dataset | xr.DataArray:
        """The faces or scores in the files; the sample where none is named."""
        if not self.paths:
            return demo_faces()
        parts = [open_data(path, **self.opening()) for path in self.paths]
        return parts[0] if len(parts) == 1 else together(dict(zip(model_names(self.paths), parts)))

    def opening(self) -> dict:
        """What `open_data` is told about the columns."""
        return {} if self.roles is None else {"format": "columns", "columns": self.roles}

    def evaluate(self, progress: Callable) -> None:
        """Make the report and show it."""
        try:
            far = [float(level) for level in self.far.value.split(",")]
        except ValueError:
            raise InputError(
                f"FAR levels must be numbers such as 0.01, 0.001; got {self.far.value!r}"
            ) from None
        data, models = self.data, list(self.models.value)
        every_model = len(models) in (0, len(self.models.options))
        if not every_model:
            data = data.sel({MODEL: models if len(models) > 1 else models[0]})
        by = None if self.by.value == NONE else self.by.value
        self.report = report(data, by=by, far=far, quick=self.quick.value, progress=progress)
        if self.paths and every_model:  # its notebook opens the files again
            names = dict(zip(model_names(self.paths), map(str, self.paths)))
            source = names if len(names) > 1 else str(self.paths[0])
            self.report.made |= {"data": source}
            self.report.made |= {"opening": self.opening()} if self.roles else {}
        self.result.value = page.fragment(self.report)
        whole = base64.b64encode(page.page(self.report).encode("utf-8")).decode("ascii")
        address = f"data:text/html;base64,{whole}"
        self.link.value = f'<a download="report.html" href="{address}">download the page</a>'
        self.save_button.disabled = False

    def save(self) -> None:
        """Write the report's folder."""
        with self.refusing():
            folder = self.report.save(self.folder.value.strip() or "frkit-report")
            self.say(f"written: {folder.resolve()}")

    def say(self, words: str, alert: bool = False) -> None:
        """A sentence beneath the controls of the files."""
        self.status.value = message(words, alert)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """What cannot be read or written becomes words beneath the controls of the files."""
        try:
            yield
        except (InputError, OSError) as error:
            self.say(str(error), alert=True)


def attributes_of(data: xr.Dataset | xr.DataArray) -> list[str]:
    """Attributes whose groups can be compared."""
    side = "" if IMAGE in data.dims else f"{PROBE}_"
    attributes = []
    for coord, values in data.coords.items():
        name = str(coord).removeprefix(side)
        if not str(coord).startswith(side) or name in (IDENTITY, IMAGE, MODEL, PERSON):
            continue
        if values.ndim == 1 and len(np.unique(values.astype(str))) <= MOST_LABELS:
            attributes.append(name)
    return attributes


def heading(title: str, words: str) -> tuple[widgets.HTML, widgets.HTML]:
    """The title of a step, and what to do there."""
    return widgets.HTML(f"<h3>{title}</h3>"), widgets.HTML(message(words))


def control(kind: type[widgets.Widget], label: str, **settings) -> widgets.Widget:
    """A control that fits into the narrow column."""
    made = labelled(kind, label, **settings)
    made.layout = widgets.Layout(width="auto", max_width="38em")
    made.style.description_width = "10em"
    return made
