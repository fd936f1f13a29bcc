"""`report`: everything that frkit can say about scores or faces, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from tqdm import tqdm

from frkit.base import (
    DataWarning,
    InputError,
    require_flag,
    require_inside,
)
from frkit.reporting import accuracy, fairness, page, people, writing
from frkit.reporting import data as data_card
from frkit.reporting.contents import Section
from frkit.reporting.formats import LEVEL_NAMES
from frkit.reporting.inputs import ENOUGH, Inputs
from frkit.reporting.opening import Opened, opened
from frkit.reporting.words import describe


@dataclass
class Part:
    """A part of a report: what makes it, its usual share of the time, whether it takes long."""

    title: str
    make: Callable[[Inputs], Section]
    share: float
    long: bool = False


PARTS = {
    "errors": Part("Error rates", accuracy.errors, 2),
    "groups": Part("Groups", fairness.groups, 2),
    "fairness": Part("Fairness measures", fairness.fairness_measures, 12),
    "indices": Part("SFI, CFI and DFI", fairness.index_section, 12, long=True),
    "n_sigma": Part("N-Sigma", fairness.sigmas, 6, long=True),
    "rlb": Part("RLB", fairness.representation_section, 20, long=True),
    "models": Part("Which model is better", accuracy.models, 2),
    "people": Part("People who drive the errors", people.drivers, 3),
    "plan": Part("How many more people", people.plans, 15, long=True),
    "data": Part("The data", data_card.data, 1),
}
BAR = "{desc:28s} {percentage:3.0f}% |{bar:20}| {elapsed}, about {remaining} left"
EVALUATION = 10.0  # share of the time of the sweep before them
DESCRIBED = ("models", "indices", "n_sigma", "rlb")  # in the methods paragraph, where they are made


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
    title: str
    files: list
    command: str = ""
    created: str = field(default_factory=lambda: datetime.now().isoformat(" ", "minutes"))

    def __post_init__(self):
        self.tiles, self.answers = [], []
        self.tables, self.figures, self.results = {}, {}, {}
        for key, section in self.sections.items():
            self.tiles += section.tiles
            self.answers += section.answers
            self.tables |= section.tables
            self.figures |= section.figures
            self.results |= {(key, name): result for name, result in section.results.items()}

    @cached_property
    def pictures(self):
        """The figures, drawn once for the page, the notebook and the files."""
        return {name: page.picture(draw) for name, draw in self.figures.items()}

    def save(self, folder: str | Path, *, pdf: bool = False) -> Path:
        """Write report.html, report.json, evaluation.nc, tables, figures and a notebook.

        Parameters
        ----------
        folder : str or Path
            A new folder, or one that an earlier report left, which is replaced. Nothing
            half-written stays.
        pdf : bool
            Whether the figures are written as PDF, too. They are always there as SVG.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InputError
            The folder contains files that are not part of a report, or cannot be written.
        """
        return writing.write(self, Path(folder), require_flag("pdf", pdf))

    def __str__(self):
        return page.text(self)

    __repr__ = __str__

    def _repr_html_(self):
        return page.first_screen(self)


def report(
    data: xr.Dataset | xr.DataArray | pd.DataFrame | str | Path | Mapping | Opened,
    *,
    by: str | list[str] | None = None,
    far: ArrayLike = (1e-2, 1e-3, 1e-4),
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    level: float = 0.95,
    quick: bool = False,
    seed: int = 0,
    weighting: ArrayLike | Mapping[str, float] | None = None,
    impostors: str | Mapping[str, str] = "all",
    varying: str = "error",
    opening: Mapping | None = None,
    progress: bool | Callable[[float, str], None] | None = None,
) -> Report:
    """Evaluate a matching system in one call: how good, which model is better, how fair.

    Parameters
    ----------
    data : faces, scores, path, DataFrame, or mapping of model name to such
        From `faces`, `open_faces`, `stack_models`, `score_tensor`, `score_matrix` or `pairs`; or
        the path of a file of embeddings, of a score matrix, or of a table of scored pairs. Several
        models must have the same images.
    by : str or list of str, optional
        Attribute(s) whose groups are compared; without it no groups are compared.
    far, threshold : sequence of float, optional
        FAR levels, or fixed thresholds in their place.
    level : float
        Nominal coverage of the intervals, in (0, 1).
    quick : bool
        True leaves out what takes long: permutation tests, SFI/CFI/DFI, N-Sigma, RLB and plans.
    seed : int
        Of all draws.
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
    >>> print(report.tables["EER (mean over people, 95% intervals)"].columns.tolist())
    ['EER, new people', 'EER, these people', 'EER, pooled over pairs']
    """
    require_inside("level", level, 0, 1)
    levels = {"far": list(far)} if threshold is None else {"threshold": threshold}
    opening = dict(opening or {})
    options = {"weighting": weighting, "impostors": impostors, "varying": varying}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        source = opened(data, opening)
        for notice in source.notices:
            warnings.warn(notice, DataWarning, stacklevel=2)
        paths = source.paths
        evaluated = partial(Inputs, source.data, by, levels, options, level, quick, seed)
        inputs, sections, left_out = _make(evaluated, quick, progress)
        methods = describe(inputs.evaluation, used=_described(sections))
    sections["methods"] = Section("Methods", lines=[methods.paragraph])
    if not inputs.has_enough_people:
        _say_that_data_are_too_few(inputs, sections)
    names = paths.values() if isinstance(paths, dict) else filter(None, [paths])
    files = [Path(name).name for name in names]
    subject = ", ".join(inputs.models) or ", ".join(files) or "a matching system"
    arguments = {"data": paths, "by": by, **levels, "level": level, "quick": quick, "seed": seed}
    return Report(
        sections=sections,
        evaluation=inputs.evaluation,
        arguments={**arguments, **options, "opening": opening},
        cautions=_cautions(caught),
        left_out=left_out,
        leading=_leading(inputs),
        bibtex=methods.bibtex,
        title=f"{'Accuracy and fairness' if by else 'Accuracy'} of {subject}",
        files=files,
    )


def _make(evaluated, quick, progress):
    """Evaluate, and make every part; what the data do not support is left out with its reason."""
    chosen_parts = {name: part for name, part in PARTS.items() if not (quick and part.long)}
    sections = {}
    reasons = {}
    if quick:
        titles = [part.title for part in PARTS.values() if part.long]
        reasons["quick=True"] = [*titles, "permutation tests"]
    total = EVALUATION + sum(part.share for part in chosen_parts.values())
    with _bar(progress, total) as step:
        step(0, "error rates at all levels")
        inputs = evaluated()
        done = EVALUATION
        for name, part in chosen_parts.items():
            step(done, part.title)
            try:
                sections[name] = part.make(inputs)
            except InputError as error:
                reasons.setdefault(str(error), []).append(part.title)
            done += part.share
        step(total, "done")
    left_out = [f"{', '.join(titles)}: {why}" for why, titles in reasons.items()]
    return inputs, sections, left_out


def _described(sections):
    """What the methods paragraph says of the analyses that were made."""
    described = {*DESCRIBED} & {*sections}
    if "fairness" in sections and fairness.contains_permutation_tests(sections["fairness"]):
        described.add("permutations")
    return described


def _say_that_data_are_too_few(inputs, sections):
    """One tile in place of all, and no figure: the tables contain what there is."""
    for section in sections.values():
        section.tiles = []
        section.figures = {}
    sections["errors"].tiles = [accuracy.too_few_people(inputs)]


@contextmanager
def _bar(progress, total):
    """A function that is called with what is done and what comes next, and shows both."""
    # by default a bar where the report takes longer than two seconds
    delay = 0 if progress else 2
    hidden = progress is False or callable(progress)
    with tqdm(total=total, disable=hidden, bar_format=BAR, leave=False, delay=delay) as bar:

        def step(done, next_part):
            bar.set_description_str(next_part)
            bar.update(done - bar.n)
            if callable(progress):
                progress(done / total, next_part)

        yield step


def _cautions(caught):
    """Warnings about the data, each once; other warnings are given again."""
    cautions = []
    for warning in caught:
        sentence = str(warning.message)
        if not issubclass(warning.category, DataWarning):
            warnings.warn(warning.message, stacklevel=2)
        # of replicates without a number there is one caution for each measure: tables show "–"
        elif sentence not in cautions and "n_nonfinite" not in sentence:
            cautions.append(sentence)
    return cautions


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
