"""`report`: everything that the kit can say about scores or faces, in one call."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cached_property
from pathlib import Path

import xarray as xr
from numpy.typing import ArrayLike
from tqdm import tqdm

from frkit.base import DataWarning, InputError, require, require_flag, require_inside, require_whole
from frkit.measures import measure, names
from frkit.reporting import card, fairness, page, people, rates
from frkit.reporting.opening import kind_of, open_data, together
from frkit.reporting.tables import Table
from frkit.reporting.words import describe
from frkit.reporting.work import Section, Work
from frkit.scores.groups import checked_scores
from frkit.scores.tensor import score_tensor

# name -> title, what makes the part, its usual share of the time, whether quick=True leaves it out
PARTS: dict[str, tuple[str, Callable[[Work], Section], float, bool]] = {
    "data": ("The data", card.card, 1, False),
    "errors": ("Error rates", rates.errors, 2, False),
    "models": ("Which model is better", rates.models, 2, False),
    "groups": ("Groups", fairness.groups, 2, False),
    "fairness": ("Fairness measures", fairness.disparities, 12, False),
    "indices": ("SFI, CFI and DFI", fairness.distributions, 12, True),
    "n_sigma": ("N-Sigma", fairness.sigmas, 6, True),
    "rlb": ("RLB", fairness.leakage, 20, True),
    "people": ("People who drive the errors", people.drivers, 3, False),
    "plan": ("How many more people", people.plans, 15, True),
}
EVALUATION = 10.0  # share of the time of the sweeps before them
OPTIONS = ("weighting", "impostors", "varying")


class Report:
    """What `report` found: sections with sentences, tables and results; a short text, or a page in a notebook.

    Attributes
    ----------
    sections : dict of str to Section
        `title`, `answers` (sentences), `lines`, `tables` (DataFrames by caption), `results` (xarray), `figures`.
    evaluation : xr.DataTree
        What `evaluate` returned for these scores.
    cautions, left_out : list of str
        What limits the numbers, each once; what was left out, and why.
    made : dict
        The arguments of the call.
    """

    title = "Report of frkit"

    def __init__(self, sections: dict[str, Section], evaluation: xr.DataTree, left_out: list[str]):
        self.sections, self.evaluation, self.left_out = sections, evaluation, left_out
        self.made, self.cautions, self.seconds = {}, [], 0.0

    @property
    def answers(self) -> list[str]:
        """The first sentences of all sections."""
        return [line for section in self.sections.values() for line in section.answers]

    @property
    def results(self) -> dict[str, object]:
        """Results of all sections, by section and name."""
        return {
            (key, name): held
            for key, part in self.sections.items()
            for name, held in part.results.items()
        }

    @property
    def tables(self) -> dict[str, Table]:
        """Tables of all sections, by caption."""
        return {
            caption: held
            for part in self.sections.values()
            for caption, held in part.tables.items()
        }

    @property
    def figures(self) -> dict[str, Callable]:
        """Figures of all sections, by name: functions that draw on matplotlib Axes."""
        return {
            name: draw for part in self.sections.values() for name, draw in part.figures.items()
        }

    @cached_property
    def pictures(self) -> dict[str, page.Picture]:
        """The figures, drawn once for the page, the notebook and the files."""
        return {name: page.pictured(draw) for name, draw in self.figures.items()}

    @property
    def bands(self) -> list:
        """What `table` puts together: rates for new people, differences, disparities, indices, N-Sigma and RLB."""
        wanted = ("errors", "models", "groups", "fairness", "indices", "n_sigma", "rlb")
        found = [(name, held) for (key, name), held in self.results.items() if key in wanted]
        return [held for name, held in found if not name.endswith("these people")]

    def save(self, folder: str | Path) -> Path:
        """Write report.html, evaluation.nc, tables (CSV, LaTeX), figures (SVG, PDF), a notebook that makes them again.

        Parameters
        ----------
        folder : str or Path
            A new folder, or one that an earlier report left, which is replaced. Nothing half-written stays.

        Returns
        -------
        Path : the folder.

        Raises
        ------
        InputError : the folder holds something else than a report.
        """
        from frkit.reporting.writing import write

        return write(self, Path(folder))

    def __str__(self) -> str:
        return page.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return page.fragment(self)


def report(
    data: xr.Dataset | xr.DataArray | str | Path | Mapping,
    *,
    by: str | list[str] | None = None,
    far: ArrayLike = (1e-2, 1e-3, 1e-4),
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    level: float = 0.95,
    quick: bool = False,
    seed: int = 0,
    opening: Mapping | None = None,
    progress: bool | Callable[[float, str], None] | None = None,
    **options,
) -> Report:
    """Say everything about a matching system in one call: how good, which is better, how fair, who errs, how sure.

    Parameters
    ----------
    data : faces, scores, path, or mapping of model name to such
        From `faces`, `open_faces`, `stack_models`, `score_tensor`, `score_matrix` or `pairs`; or the path of a file of
        embeddings, of a score matrix, or of a table of scored pairs. Several models must hold the same images.
    by : str or list of str, optional
        Attribute(s) whose groups are compared; without it all that compares groups is left out.
    far, threshold : sequence of float, optional
        FAR levels, or fixed thresholds in their place.
    level : float
        Nominal coverage of the intervals, in (0, 1).
    quick : bool
        True leaves out what takes long: permutation tests, SFI/CFI/DFI, N-Sigma, RLB and plans.
    seed : int
        Of all draws.
    opening : mapping, optional
        Options of `open_data` for the file or files, such as {"score": ["arcface", "cosface"]}.
    progress : bool or function, optional
        A progress bar; or a function that is called with the share that is done and what comes next, and ends the
        report by raising. By default a bar where the report takes long.
    **options
        `weighting`, `impostors`, `varying` of `evaluate`.

    Returns
    -------
    Report
        Prints as a short text, shows as a page in a notebook; `sections`, `tables`, `results` and `evaluation` hold the
        numbers, `save(folder)` writes a page that opens without network, with tables, figures and a notebook. What the
        data do not allow is left out with a line that says why.

    Raises
    ------
    InputError
        Where the data can not be evaluated at all, as `evaluate`; for files as the functions that open them.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> found = fk.report(faces, far=[0.1, 0.2], quick=True, progress=False)
    >>> print(found.tables["EER with 95% intervals"].columns.tolist())
    ['EER, new people', 'EER, these people']
    """
    require_inside("level", level, 0, 1)
    quick, seed = require_flag("quick", quick), require_whole("seed", seed, 0)
    extra = sorted(set(options) - set(OPTIONS))
    require(
        not extra,
        f"report has no option {', '.join(map(repr, extra))}; it takes {', '.join(OPTIONS)}",
    )
    at = {"far": list(far)} if threshold is None else {"threshold": threshold}
    made = {"by": by, **at, "level": level, "quick": quick, "seed": seed, **options}
    begin, source = time.monotonic(), _source(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores, faces = _scores_of(data, dict(opening or {}))
        work = Work(scores, faces, by, at, level, seed, quick, options)
        with closing(_Steps(progress, quick)) as steps:
            found = _made(work, steps)
    found.made = {"data": source, **({"opening": dict(opening)} if opening else {}), **made}
    _sort_warnings(found, caught)
    found.seconds = time.monotonic() - begin
    return found


def _made(work: Work, steps: _Steps) -> Report:
    """The report, part by part."""
    steps.next("error rates at all levels", EVALUATION)
    evaluation, sections, left_out = work.evaluation, {}, {}
    for name, (title, make, share, dear) in PARTS.items():
        if dear and work.quick:
            continue
        steps.next(title, share)
        try:
            sections[name] = make(work)
        except InputError as error:
            left_out.setdefault(str(error), []).append(title)
    steps.next("done", 0)
    if work.quick:
        dear = [title for title, _, _, dear in PARTS.values() if dear]
        left_out["quick=True"] = [*dear, "permutation tests", "auc_spread"]
    said = describe(
        evaluation, used=[name for name in ("indices", "n_sigma", "rlb") if name in sections]
    )
    sections["methods"] = Section("Methods", lines=[said.paragraph], blocks=[said.bibtex])
    return Report(
        sections, evaluation, [f"{', '.join(titles)}: {why}" for why, titles in left_out.items()]
    )


def _source(data) -> object:
    """The paths that the data came from, as far as they did."""
    if isinstance(data, (str, Path)):
        return str(data)
    if isinstance(data, Mapping) and all(isinstance(part, (str, Path)) for part in data.values()):
        return {str(name): str(part) for name, part in data.items()}
    return None


def _scores_of(data, opening: dict) -> tuple:
    """The scores, and the faces that they come from, where they do."""

    def there(part):
        return open_data(part, **opening) if isinstance(part, (str, Path)) else part

    several = isinstance(data, Mapping) and not isinstance(data, xr.Dataset)
    data = (
        together({str(name): there(part) for name, part in data.items()})
        if several
        else there(data)
    )
    kind_of(data)
    if isinstance(data, xr.Dataset) and "embedding" in data:
        return score_tensor(data), data
    return checked_scores(data), None


def _sort_warnings(found: Report, caught: list) -> None:
    """Cautions of the kit into the report, one for all measures of which it holds; any other warning is given again."""
    fair = [name for name in names() if measure(name).fair is not None]
    measures = re.compile(rf"\b({'|'.join(sorted(fair, key=len, reverse=True))})\b")
    told: dict[str, list[str]] = {}
    for one in caught:
        if issubclass(one.category, DataWarning):
            message = str(one.message)
            named = measures.findall(message)[:1]
            held = told.setdefault(
                re.sub(r"\d+", "#", measures.sub("@", message)) if named else message, [message]
            )
            held += [name for name in named if name not in held]
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    cautions = [
        measures.sub(", ".join(named), text, count=1) if named else text
        for text, *named in told.values()
    ]
    # a measure's "in some group" is not said beside the rates' own caution, which names the groups
    named = tuple(text.partition(" of group ")[0] for text in cautions if " of group " in text)
    found.cautions += [
        text for text in cautions if text.partition(", in some group:")[0] not in named
    ]


class _Steps:
    """Tells what comes next, and how much is done: by a bar, or by the caller's function."""

    def __init__(self, progress: bool | Callable | None, quick: bool):
        self.tell = progress if callable(progress) else None
        total = EVALUATION + sum(
            share for _, _, share, dear in PARTS.values() if not (dear and quick)
        )
        self.done, self.ahead, self.total = 0.0, 0.0, total
        hidden = self.tell is not None or progress is False
        form = "{desc:32s} {percentage:3.0f}% |{bar:20}| {elapsed}, about {remaining} to go"
        self.bar = tqdm(
            total=total, disable=hidden, leave=False, bar_format=form, delay=0 if progress else 2
        )

    def next(self, words: str, share: float) -> None:
        """The last step is done, another one begins."""
        self.done, self.ahead = self.done + self.ahead, share
        if self.tell is not None:
            self.tell(self.done / self.total, words)
        self.bar.set_description_str(words, refresh=False)
        self.bar.update(self.done - self.bar.n)
        self.bar.refresh()

    def close(self) -> None:
        """No bar is left behind."""
        self.bar.close()
