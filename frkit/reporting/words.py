"""A methods paragraph from an evaluation's provenance, and the references of its methods."""

from collections.abc import Iterable
from pathlib import Path

import xarray as xr

from frkit.base import gathered_notices, listed, require, require_sequence
from frkit.findings.formats import TEMPLATES
from frkit.intervals import band, provenance

REFERENCES = Path(__file__).with_name("references.bib")  # what CITATION.cff says, as BibTeX
CITES = {  # entry of references.bib -> what cites it
    "conti2024": "rates",
    "conti2022": "disparities",
    "kotwal2022": "indices",
    "dealcala2023": "n_sigma",
    "li2021": "rlb",
}
TOPICS = [*CITES.values(), "models"]


class Description(str):
    """A methods paragraph and its references, also as attributes `paragraph` and `bibtex`."""

    def __new__(cls, paragraph, bibtex):
        """The paragraph above the references."""
        description = super().__new__(cls, f"{paragraph}\n\n{bibtex}")
        description.paragraph = paragraph
        description.bibtex = bibtex
        return description

    __repr__ = str.__str__


def describe(evaluation: xr.DataTree, *, used: Iterable[str] = ()) -> Description:
    """Write the methods paragraph of an evaluation, and BibTeX entries of the methods used.

    Parameters
    ----------
    evaluation : xr.DataTree
        What `evaluate`, `indices.distributions` or `open_evaluation` returned.
    used : sequence of str
        Which of "disparities", "indices", "n_sigma", "rlb" and "models" (compared) were used, too:
        sentences and references about them are added. The evaluation itself implies "rates" and,
        with groups, "disparities".

    Returns
    -------
    Description
        A text (str): the paragraph, a blank line, BibTeX; also as its attributes `paragraph` and
        `bibtex`.

    Raises
    ------
    InputError
        If `evaluation` is no evaluation, or `used` contains an unknown word.

    Examples
    --------
    >>> import frkit as fk
    >>> words = fk.describe(fk.open_evaluation("data/demo_evaluation.nc"))
    >>> "frkit" in words.paragraph, "@inproceedings{conti2024" in words.bibtex
    (True, True)
    """
    used = {*require_sequence("used", used, f"a list of these: {', '.join(TOPICS)}")}
    unknown = [topic for topic in used if topic not in TOPICS]
    require(not unknown, f"used names {listed(unknown)}; it takes {', '.join(TOPICS)}")
    return methods(evaluation, used)


def methods(evaluation, used):
    """The description of an evaluation, of which these topics were used besides its rates."""
    about = provenance(evaluation)
    if about.get("by"):
        used = {*used, "disparities"}
    rates = evaluation["empirical"]
    nodes = {"group": rates["group"].values.astype(str) if "group" in rates.coords else []}
    nodes["used"] = {"rates", *used}
    if "people" in evaluation.children:
        with gathered_notices():
            n_effective = band(evaluation, "frr").n_effective
        nodes["worth"] = float(n_effective.min()), float(n_effective.max())
    if "replicates" in evaluation.children:
        nodes["replicates"] = evaluation["replicates"].sizes["replicate"]
    paragraph = TEMPLATES.get_template("methods.txt.j2").render(about | nodes)
    return Description(" ".join(paragraph.split()), bibtex(nodes["used"]))


def bibtex(used):
    """BibTeX entries of frkit and of the methods that were used."""
    cited = {"frkit", *(key for key, topics in CITES.items() if topics in used)}
    entries = REFERENCES.read_text("utf-8").strip().split("\n\n")
    keys = [entry.partition("{")[2].partition(",")[0] for entry in entries]
    return "\n\n".join(entry for entry, key in zip(entries, keys) if key in cited)
