"""`report`: everything that frkit can say about scores or faces, in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from tqdm import tqdm

from frkit.base import (
    InputError,
    checked_far,
    gathered_notices,
    require,
    require_flag,
    require_inside,
    require_mapping,
    require_progress,
)
from frkit.findings.contents import Section
from frkit.findings.formats import LEVEL_NAMES, say
from frkit.findings.inputs import ENOUGH, Inputs
from frkit.intervals.reading import FEW_ERRORS, NONFINITE
from frkit.io.door import by_model, open_data
from frkit.papers.indices import section as indices
from frkit.papers.nsigma import section as nsigma
from frkit.papers.rlb import section as rlb
from frkit.papers.roc import section as plan
from frkit.reporting import accuracy, fairness, page, people, writing
from frkit.reporting import data as data_card
from frkit.reporting.words import TOPICS, methods
from frkit.scores.kept import model_names_of

PARTS = {  # section of a report -> its title, and what fills it
    "errors": ("Error rates", accuracy.errors),
    "groups": ("Rates of the groups", fairness.groups),
    "fairness": ("Measures of disparity", fairness.fairness_measures),
    "indices": ("SFI, CFI and DFI", indices.fill),
    "n_sigma": ("N-Sigma", nsigma.fill),
    "rlb": ("RLB", rlb.fill),
    "models": ("Which model is better", accuracy.models),
    "people": ("People who drive the errors", people.drivers),
    "plan": ("How many more people", plan.fill),
    "data": ("The data", data_card.data),
}
BAR = "{desc:28s} {percentage:3.0f}% |{bar:20}| {elapsed}"
LONG = ("indices", "n_sigma", "rlb", "plan")
OF_FEW_PEOPLE = ("errors", "data")
SHOWN_IN_TABLES = (FEW_ERRORS, NONFINITE)  # notices: tables mark the first, and show "–"


@dataclass(repr=False)
class Report:
    """What `report` found: a short text when printed, its first screen in a notebook.

    Attributes
    ----------
    sections : dict of str to Section
        `title`, `answers` (sentences), `lines`, `tables` (DataFrames by caption), `results`
        (xarray), `figures`.
    evaluation : xr.DataTree
        What `evaluate` returned for these scores.
    tiles, answers, results, tables, figures
        Those of all sections.
    cautions, left_out : list of str
        What limits the numbers, each once; what was left out, and why.
    arguments : dict
        The arguments of the call, with the paths of the data.
    """

    sections: dict
    evaluation: xr.DataTree
    arguments: dict
    cautions: list
    left_out: list
    leading: dict
    bibtex: str
    command: str = ""

    def __post_init__(self):
        sections = self.sections.values()
        self.created = datetime.now().isoformat(" ", "minutes")
        self.tiles = [tile for section in sections for tile in section.tiles]
        self.answers = [answer for section in sections for answer in section.answers]
        self.tables, self.figures, self.results = {}, {}, {}
        for key, section in self.sections.items():
            self.tables |= section.tables
            self.figures |= section.figures
            self.results |= {(key, name): result for name, result in section.results.items()}

    @property
    def files(self):
        """Names of the files that the data are from."""
        paths = self.arguments["data"] or {}
        paths = [paths] if isinstance(paths, str) else paths.values()
        return [Path(path).name for path in paths]

    @property
    def title(self):
        """What the report is about: models, files, or a matching system."""
        models = model_names_of(self.evaluation["empirical"])
        subject = ", ".join(models or self.files) or "a matching system"
        return f"{'Accuracy and fairness' if self.arguments['by'] else 'Accuracy'} of {subject}"

    @cached_property
    def pictures(self):
        """The figures, drawn once for the page, the notebook and the files."""
        return {name: page.picture(draw) for name, draw in self.figures.items()}

    def save(self, folder: str | Path) -> Path:
        """Write report.html, report.json, evaluation.nc, tables, figures and a notebook.

        Parameters
        ----------
        folder : str or Path
            A new or empty folder, or one with an earlier report, whose files are replaced; other
            files in it stay. Nothing half-written stays.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InputError
            The folder contains files that are not part of a report, or cannot be written.
        """
        return writing.write(self, Path(folder))

    def __str__(self):
        return page.text(self)

    __repr__ = __str__

    def _repr_html_(self):
        return page.fragment(self, chapters={})


def report(
    data: xr.Dataset | xr.DataArray | pd.DataFrame | str | Path | Mapping,
    *,
    by: str | list[str] | None = None,
    far: ArrayLike = (1e-2, 1e-3, 1e-4),
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    level: float = 0.95,
    quick: bool = False,
    weighting: str | Mapping[str, float] | None = None,
    impostors: str = "all",
    varying: str = "error",
    opening: Mapping | None = None,
    progress: bool | Callable[[float, str], None] | None = None,
) -> Report:
    """Evaluate a matching system in one call: how good, which model is better, how fair.

    Parameters
    ----------
    data : faces, scores, path, DataFrame, or mapping of model name to such
        From `faces`, `open_data`, `score_tensor`, `score_matrix` or `pairs`; or
        the path of a file of embeddings, of a score matrix, or of a table of scored pairs. Several
        models must have the same images.
    by : str or list of str, optional
        Attribute(s) whose groups are compared; without it no groups are compared.
    far, threshold : sequence of float, optional
        FAR levels, or fixed thresholds in their place.
    level : float
        Nominal coverage of the intervals, in (0, 1).
    quick : bool
        True leaves out what takes long: SFI/CFI/DFI, N-Sigma, RLB and plans.
    weighting, impostors, varying
        As in `evaluate`.
    opening : mapping, optional
        Options of `open_data` for the file or files, such as {"score": ["arcface", "cosface"]}.
    progress : bool or function, optional
        A progress bar; or a function that is called with the share that is done and what comes
        next, and ends the report by raising. By default a bar where the report takes long.

    Returns
    -------
    Report
        Prints as a short text, shows its first screen in a notebook; `sections`, `tables`,
        `results` and `evaluation` contain the numbers. `save(folder)` writes a page that opens
        without a network connection, with its numbers as JSON, tables, figures and a notebook.
        Analyses that the data do not support are skipped, and the report says why.

    Raises
    ------
    InputError
        Where the data cannot be evaluated at all, as `evaluate`; for files as the functions that
        open them.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> report = fk.report(faces, far=[0.1, 0.2], quick=True, progress=False)
    >>> print(report.tables["EER (mean over people, 95 % intervals)"].columns.tolist())
    ['EER, new people', 'EER, these people', 'EER, pooled over pairs']
    """
    require_inside("level", level, 0, 1)
    require_flag("quick", quick)
    require_progress(progress)
    levels = {"far": checked_far(far).tolist()} if threshold is None else {"threshold": threshold}
    opening = {} if opening is None else opening
    require_mapping("opening", opening, "{'score': 'arcface'}", least=0)
    opening = dict(opening)
    options = {"weighting": weighting, "impostors": impostors, "varying": varying}
    with gathered_notices() as notices:
        source = open_data(data, **opening)
        if callable(progress):
            progress(0, "error rates at all levels")
        inputs = Inputs(source, by, levels, options, level, quick)
        sections, left_out = _sections(inputs, progress)
        description = methods(inputs.evaluation, {*sections} & {*TOPICS})
    sections["methods"] = Section("Methods", lines=[description.paragraph])
    arguments = {"data": _paths(data), "by": by, **levels, "level": level, "quick": quick}
    return Report(
        sections=sections,
        evaluation=inputs.evaluation,
        arguments={**arguments, **options, "opening": opening},
        cautions=[notice.text for notice in notices if notice.code not in SHOWN_IN_TABLES],
        left_out=left_out,
        leading=_leading(inputs),
        bibtex=description.bibtex,
    )


def _paths(data):
    """The path of the data, or of each model's; None where not all are from files."""
    if isinstance(data, (str, Path)):
        return str(data)
    models = by_model(data) if isinstance(data, (list, tuple)) else data
    are_models = isinstance(models, Mapping) and not hasattr(models, "dims")
    if are_models and all(isinstance(path, (str, Path)) for path in models.values()):
        return {str(name): str(path) for name, path in models.items()}
    return None


def _sections(inputs, progress):
    """Make every part; what the data do not support is left out with its reason."""
    sections = {}
    reasons = {}  # why -> titles of the parts that are left out
    # by default a bar where the report takes longer than two seconds
    hidden = progress is False or callable(progress)
    shown = {"disable": hidden, "bar_format": BAR, "leave": False, "delay": 0 if progress else 2}
    with tqdm(PARTS.items(), **shown) as bar:
        for number, (name, (title, fill)) in enumerate(bar, 1):
            bar.set_description_str(title)
            if callable(progress):
                progress(number / (len(PARTS) + 1), title)
            try:
                require(not (inputs.quick and name in LONG), "the report is quick")
                is_possible = inputs.has_enough_people or name in OF_FEW_PEOPLE
                require(is_possible, say("too_few_for_parts"))
                section = Section(title)
                fill(inputs, section)
                sections[name] = section
            except InputError as error:
                reasons.setdefault(error.text, []).append(title)
    if callable(progress):
        progress(1, "done")
    return sections, [f"{', '.join(titles)}: {why}" for why, titles in reasons.items()]


def _leading(inputs):
    """The leading level, and the levels with fewer errors than it takes to lead."""
    level = inputs.rates[inputs.along].isel(inputs.leading)
    return {
        "kind": LEVEL_NAMES[inputs.along],
        "value": float(level),
        "below": inputs.too_few_errors,
        "errors": ENOUGH,
        "named": inputs.named,
    }
