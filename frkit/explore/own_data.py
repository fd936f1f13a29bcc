"""Your own data without code: choose a file, say what its columns are, evaluate, look, export."""

import base64
import os
import tempfile
import threading
import time
import warnings
from html import escape
from pathlib import Path

import ipywidgets as widgets
import numpy as np

from frkit.base import IDENTITY, IMAGE, MODEL, PAIR, PROBE, InputError, require
from frkit.data.files import file_kind, named
from frkit.data.opening import demo_faces
from frkit.explore.panel import Stopped, end, labelled, start_at
from frkit.reporting import page
from frkit.reporting.opening import ENDINGS, guess, kind_of, open_data, preview
from frkit.reporting.report import Report, report

# bytes: what Jupyter's connection to the browser lets through in one piece, unless who started it has allowed more
MOST_UPLOADED = int(os.environ.get("FRKIT_MOST_UPLOADED", 9_000_000))
MOST_READ = 4_000_000_000  # bytes of a file that is named by its path
ACCEPTED = tuple(end for end in ENDINGS if end != ".zarr")  # a folder is no upload
NONE, SEVERAL = "(none)", "Ctrl for several"
SIDES = ("probe_identity", "reference_identity")
SECONDS = {
    True: (4.0, 1e-7),
    False: (18.0, 5e-7),
}  # quick -> of any report, and of each comparison of images
WIDE = {"width": "auto", "max_width": "38em"}


def own_data(path: str | Path | None = None, **start) -> widgets.HBox:
    """Evaluate a file without code: path or upload, columns, attribute and models, then the report and its export.

    Parameters
    ----------
    path : str or Path, optional
        The file with which it begins; by default the faces that come with the kit. A file that cannot be read is told
        beside the controls.
    **start
        What the controls begin with: `by`, `models`, `far` (a text such as "0.01, 0.001"), `quick`, `folder`.

    Returns
    -------
    ipywidgets.HBox : choices to the left, the report to the right.

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
    require(
        path is None or isinstance(path, (str, Path)),
        f"path must be that of a file, got {type(path).__name__}",
    )
    one = OwnData(path)
    choices = {
        "by": one.by,
        "models": one.models,
        "far": one.far,
        "quick": one.quick,
        "folder": one.folder,
    }
    start_at(choices, start)
    return one.box


class OwnData:
    """The controls and what they hold: `data` that was read, and the last report as `found`."""

    def __init__(self, path: str | Path | None = None):
        self.data, self.found, self.thread = None, None, None
        self.stopping = threading.Event()
        self.path = labelled(
            widgets.Text, "file", value=str(path or ""), placeholder="path; empty: the demo's faces"
        )
        self.upload = widgets.FileUpload(
            accept=",".join(ACCEPTED), multiple=False, description="or upload"
        )
        self.read_button = widgets.Button(description="Read")
        self.said, self.preview = widgets.HTML(), widgets.HTML()
        self.columns = {
            "score": labelled(widgets.SelectMultiple, "scores", rows=4, tooltip=SEVERAL),
            "genuine": labelled(widgets.Dropdown, "genuine (1 or 0)", options=[NONE]),
            **{
                side: labelled(widgets.Dropdown, side.replace("_", " "), options=[NONE])
                for side in SIDES
            },
        }
        self.mapping = widgets.VBox([*self.columns.values()])
        self.by = labelled(widgets.Dropdown, "groups of", options=[NONE])
        self.models = labelled(widgets.SelectMultiple, "models", rows=3, tooltip=SEVERAL)
        self.far = labelled(widgets.Text, "FAR levels", value="0.01, 0.001")
        self.quick = labelled(widgets.Checkbox, "quick (no long tests)", value=True)
        self.run_button = widgets.Button(
            description="Evaluate", button_style="primary", disabled=True
        )
        self.stop_button = widgets.Button(description="Stop", disabled=True)
        self.bar, self.step = widgets.FloatProgress(max=1, layout={"width": "12em"}), widgets.HTML()
        self.result = widgets.HTML("<p>The report stands here.</p>")
        self.folder = labelled(widgets.Text, "folder", value="frkit-report")
        self.save_button, self.link = (
            widgets.Button(description="Write report", disabled=True),
            widgets.HTML(),
        )
        self.box = self._laid_out()
        self._connect()
        self.read()

    def _laid_out(self) -> widgets.HBox:
        """Two columns, one beneath the other where the page is narrow."""
        for one in (
            self.path,
            self.by,
            self.models,
            self.far,
            self.quick,
            self.folder,
            *self.columns.values(),
        ):
            one.layout = widgets.Layout(**WIDE)
            one.style.description_width = "10em"
        buttons = widgets.HBox([self.run_button, self.stop_button, self.bar])
        left = [
            widgets.HTML("<b>1. Data</b>"), self.path, widgets.HBox([self.upload, self.read_button]), self.said,
            self.preview, self.mapping, widgets.HTML("<b>2. Question</b>"), self.by, self.models, self.far, self.quick,
            widgets.HTML("<b>3. Evaluate</b>"), buttons, self.step,
            widgets.HTML("<b>4. Export</b>"), self.folder, self.save_button, self.link,
        ]  # fmt: skip
        columns = [
            widgets.VBox(left, layout={"flex": "1 1 22em", "max_width": "40em", "min_width": "0"}),
            widgets.VBox(
                [self.result], layout={"flex": "2 1 30em", "min_width": "0", "overflow": "auto"}
            ),
        ]
        return widgets.HBox(
            columns,
            layout={"flex_flow": "row wrap", "align_items": "flex-start", "grid_gap": "1.5em"},
        )

    def _connect(self) -> None:
        """Each button to what it does."""
        acts = {"read": self.read, "run": self.start, "stop": self.stop, "save": self.save}
        for name, act in acts.items():
            getattr(self, f"{name}_button").on_click(lambda _, act=act: act())
        self.upload.observe(lambda change: self.read() if change.new else None, names="value")
        for control in self.columns.values():
            control.observe(self._map, names="value")
        for control in (self.quick, self.models):
            control.observe(self._guess, names="value")

    # --- data --------------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Read the file that is named or was uploaded; what is wrong with it stands beneath."""
        self.data, self.run_button.disabled, self.preview.value = None, True, ""
        self.source, self.roles = None, None
        try:
            self.source = self._file()
            if self.source is not None:
                self._say(f"reading {self.source.name} ...")
                self._look(self.source)
            self._load()
        except (InputError, OSError) as error:
            self._say(str(error), bad=True)

    def _file(self) -> Path | None:
        """The file, its size and format checked; None for the demo."""
        if self.upload.value:
            (uploaded, *_), self.upload.value = self.upload.value, ()
            name, size = Path(str(uploaded["name"]).replace("\\", "/")).name, int(uploaded["size"])
            require(
                size <= MOST_UPLOADED,
                f"{name} has {size / 1e6:.0f} MB; uploads may have {MOST_UPLOADED / 1e6:.0f}: give its path instead",
            )
            words = f"{name}: frkit reads {', '.join(ACCEPTED)}; nothing is ever unpickled"
            require(name.lower().endswith(ACCEPTED), words)
            self.folder_of_upload = tempfile.TemporaryDirectory()  # gone with this object
            path = Path(self.folder_of_upload.name, name)
            path.write_bytes(bytes(uploaded["content"]))
            self.path.value = str(path)
            return path
        if not self.path.value.strip():
            return None
        path = Path(self.path.value.strip()).expanduser()
        with named(path):
            file_kind(path)
            size = path.stat().st_size
            require(
                size <= MOST_READ,
                f"has {size / 1e9:.1f} GB; a report in a notebook takes {MOST_READ / 1e9:.0f}",
            )
        return path

    def _look(self, path: Path) -> None:
        """The first rows of a table, and what its columns seem to be."""
        with named(path):
            form, guessed = guess(path)
            if file_kind(path) in ("text", "parquet"):
                table = preview(path, 5)
                shown = table.iloc[:, :8].to_html(index=False, border=0, max_cols=8)
                more = f" (8 of {table.shape[1]} columns)" if table.shape[1] > 8 else ""
                self.preview.value = (
                    f'<div style="overflow-x:auto">{shown}</div><small>first rows{more}</small>'
                )
            if form == "columns":
                self._offer([str(name) for name in preview(path, 1).columns], guessed["columns"])

    def _offer(self, header: list[str], roles: dict) -> None:
        """Put the columns of a table of pairs into the controls, as they were guessed."""
        self.columns["score"].options, self.columns["score"].value = (
            header,
            [*np.atleast_1d(roles["score"])],
        )
        for name in ("genuine", *SIDES):
            self.columns[name].options = [NONE, *header]
            self.columns[name].value = roles.get(name, NONE)
        self.roles = roles  # from now on another choice reads again

    def _map(self, _change: object) -> None:
        """Read again with other columns."""
        if self.source is None or self.roles is None:
            return
        try:
            own = {
                name: control.value
                for name, control in self.columns.items()
                if control.value not in (NONE, ())
            }
            kept = {name: role for name, role in self.roles.items() if name not in self.columns}
            require("score" in own, "choose at least one column of scores")
            self.roles = (
                kept
                | own
                | {"score": list(own["score"]) if len(own["score"]) > 1 else own["score"][0]}
            )
            self._load()
        except (InputError, OSError) as error:
            self.run_button.disabled = True
            self._say(str(error), bad=True)

    def _load(self) -> None:
        """The data themselves, and what can be asked of them."""
        how = {} if self.roles is None else {"format": "columns", "columns": self.roles}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.data = demo_faces() if self.source is None else open_data(self.source, **how)
        self.mapping.layout.display = "none" if self.roles is None else ""
        names = self._attributes()
        self.by.options = [NONE, *names]
        self.by.value = names[0] if names else NONE
        models = self.data[MODEL].values.astype(str).tolist() if MODEL in self.data.dims else []
        self.models.options, self.models.value = models, models
        self.models.layout.display = "" if models else "none"
        sizes = ", ".join(
            f"{size:,} {dim}s"
            for dim, size in self.data.sizes.items()
            if dim in (IMAGE, PAIR, PROBE)
        )
        self._say(
            f"{kind_of(self.data)}: {sizes}; attributes: {', '.join(names) or 'none'}", *caught
        )
        self.run_button.disabled = False
        self._guess()

    def _attributes(self) -> list[str]:
        """Attributes of the people, of at most 50 labels."""
        side = "" if IMAGE in self.data.dims else f"{PROBE}_"
        known = {
            str(name): self.data[name].values
            for name in self.data.coords
            if self.data[name].ndim == 1
        }
        labels = {
            name.removeprefix(side): held for name, held in known.items() if name.startswith(side)
        }
        names = [name for name in labels if name not in (IDENTITY, IMAGE, MODEL, "person")]
        return [name for name in names if len(np.unique(labels[name].astype(str))) <= 50]

    # --- evaluation --------------------------------------------------------------------------------------------------

    def _guess(self, _change: object = None) -> None:
        """How long an evaluation will take."""
        if self.data is not None:
            sizes = self.data.sizes
            pairs = (
                sizes[IMAGE] ** 2 if IMAGE in sizes else sizes.get(PAIR, sizes.get(PROBE, 0) ** 2)
            )
            each, of_pair = SECONDS[self.quick.value]
            seconds = max(1, len(self.models.value)) * (each + of_pair * pairs)
            self.step.value = f"<small>takes about {seconds:.0f} s on two cores</small>"

    def start(self) -> None:
        """Evaluate beside the notebook, so that the stop button can be pressed."""
        try:
            levels = [
                float(word) for word in self.far.value.replace(";", ",").split(",") if word.strip()
            ]
        except ValueError:
            self._say(
                f"FAR levels must be numbers such as 0.01, 0.001; got {self.far.value!r}", bad=True
            )
            return
        self.stopping.clear()
        self.run_button.disabled, self.stop_button.disabled = True, False
        data, chosen = self.data, [*self.models.value]
        if 0 < len(chosen) < len(self.models.options):
            data = data.sel({MODEL: chosen if len(chosen) > 1 else chosen[0]})
        how = {
            "by": None if self.by.value == NONE else self.by.value,
            "far": levels,
            "quick": self.quick.value,
        }
        self.thread = threading.Thread(target=self._run, args=(data, how), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """End the evaluation at its next line of Python; where a library keeps that to itself, after the step."""
        self.stopping.set()
        self.stop_button.disabled, self.step.value = True, "<small>stops</small>"
        end(self.thread)

    def _run(self, data, how: dict) -> None:
        """The report, in a thread of its own; whatever is wrong becomes text, and the buttons are as they were."""
        begin = time.monotonic()

        def tell(share: float, words: str) -> None:
            if self.stopping.is_set():
                raise Stopped
            self.bar.value, spent = share, time.monotonic() - begin
            left = f", about {spent * (1 - share) / share:.0f} s to go" if share > 0.05 else ""
            self.step.value = f"<small>{escape(words)}: {spent:.0f} s{left}</small>"

        try:
            found = report(data, **how, progress=tell)
            found.made["data"] = None if self.source is None else str(self.source)
            if self.roles is not None:
                found.made["opening"] = {"format": "columns", "columns": self.roles}
            self.show(found)
        except Stopped:
            self.step.value = "<small>stopped</small>"
        except Exception as error:
            self._say(
                str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}",
                bad=True,
            )
        finally:
            self.bar.value, self.run_button.disabled, self.stop_button.disabled = 0, False, True

    def show(self, found: Report) -> None:
        """The report, with its figures, beside the controls."""
        self.found = found
        self.result.value = body = page.fragment(found)
        whole = base64.b64encode(page.page(found, body).encode("utf-8")).decode("ascii")
        self.link.value = (
            f'<a download="report.html" href="data:text/html;base64,{whole}">download the page</a>'
        )
        self.save_button.disabled = False
        self.step.value = f"<small>done in {found.seconds:.0f} s</small>"

    def save(self) -> None:
        """Write the report's folder."""
        try:
            folder = self.found.save(self.folder.value.strip() or "frkit-report")
            self._say(f"written: {folder.resolve()}")
        except (InputError, OSError) as error:
            self._say(str(error), bad=True)

    def _say(self, words: str, *warned, bad: bool = False) -> None:
        """A sentence beneath the file's controls; errors stand out."""
        more = "".join(f"<br>{escape(str(one.message))}" for one in warned)
        mark = (
            'role="alert" style="color:#D55E00;font-weight:bold;'
            if bad
            else 'role="status" style="'
        )
        self.said.value = (
            f'<p {mark}overflow-wrap:anywhere;line-height:1.4">{escape(words)}{more}</p>'
        )
