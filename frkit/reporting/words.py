"""A methods paragraph from an evaluation's provenance, and the references of its methods."""

from collections.abc import Iterable
from pathlib import Path

import xarray as xr
from jinja2 import Environment, PackageLoader, select_autoescape

from frkit.base import GROUP, REPLICATE, listed, require
from frkit.intervals import band, provenance
from frkit.reporting.inputs import no_cautions
from frkit.reporting.tables import count_words

REFERENCES = Path(__file__).with_name("references.bib")  # what CITATION.cff says, as BibTeX
CITES = {  # entry of references.bib -> what cites it
    "conti2024": "rates",
    "conti2022": "disparities",
    "kotwal2022": "indices",
    "dealcala2023": "n_sigma",
    "li2021": "rlb",
}
WEIGHTING = {
    "identity": "FAR is the mean over pairs of people of the share of their image pairs that are "
    "accepted, FRR the mean over people of the share of their genuine pairs that are rejected (all "
    "people weigh the same)",
    "pair": "FAR and FRR are the shares of impostor pairs accepted and of genuine pairs rejected "
    "(all pairs weigh the same)",
    "p_k": "FAR and FRR are means over (pairs of) people with weights that were given",
}
LIBRARIES = {"numpy": "NumPy", "scipy": "SciPy", "numba": "Numba"}


ESCAPED = select_autoescape(["html.j2"])  # labels in HTML
TEMPLATES = Environment(loader=PackageLoader("frkit.reporting"), autoescape=ESCAPED)
TEMPLATES.filters["thousands"] = "{:,}".format


class Description(str):
    """A methods paragraph and its references, also as attributes `paragraph` and `bibtex`."""

    paragraph: str
    bibtex: str

    def __new__(cls, paragraph: str, bibtex: str):
        """The paragraph above the references."""
        made = super().__new__(cls, f"{paragraph}\n\n{bibtex}")
        made.paragraph, made.bibtex = paragraph, bibtex
        return made

    __repr__ = str.__str__


def describe(evaluation: xr.DataTree, *, used: Iterable[str] = ()) -> Description:
    """Write the methods paragraph of an evaluation, and BibTeX entries of the methods used.

    Parameters
    ----------
    evaluation : xr.DataTree
        What `evaluate`, `indices.evaluate` or `open_evaluation` returned.
    used : sequence of str
        What else was used of "disparities", "indices", "n_sigma", "rlb": their references are
        added. "rates", and "disparities" where there are groups, are known from the evaluation.

    Returns
    -------
    Description
        A text (str): the paragraph, a blank line, BibTeX; also as its attributes `paragraph` and
        `bibtex`.

    Raises
    ------
    InputError
        For something that is no evaluation, or an unknown word in `used`.

    Examples
    --------
    >>> import frkit as fk
    >>> words = fk.describe(fk.open_evaluation("data/demo_evaluation.nc"))
    >>> "frkit" in words.paragraph, "@inproceedings{conti2024" in words.bibtex
    (True, True)
    """
    facts, used = provenance(evaluation), set(used)
    unknown = used - set(CITES.values())
    takes = ", ".join(CITES.values())
    require(not unknown, f"used names {listed(sorted(unknown))}; it takes {takes}")
    used.add("rates")
    if facts.get("by"):
        used.add("disparities")
    versions = dict(facts["versions"])
    context = {**facts, "version": versions.pop("frkit", None)}
    context["libraries"] = ", ".join(
        f"{LIBRARIES.get(name, name)} {number}" for name, number in versions.items()
    )
    context["weighting_words"] = WEIGHTING[facts["weighting"]]
    context["accepted"] = accepted(facts)
    context["failed"] = max(facts.get("failed_genuine_comparisons", [0]))
    if facts.get("by"):
        context["group"] = evaluation["empirical"][GROUP].values.astype(str)
    if facts.get("images_per_identity"):
        least, median, most = facts["images_per_identity"]
        each = f"{least}" if least == most else f"{least} to {most}, median {median:g}"
        context["images_each"] = each
    if "people" in evaluation.children:
        context["worth"] = _worth(evaluation)
    if "replicates" in evaluation.children:
        context["replicates"] = evaluation["replicates"].sizes[REPLICATE]
    lines = TEMPLATES.get_template("methods.txt.j2").render(context)
    return Description(" ".join(lines.split()), bibtex(used))


def accepted(facts: dict) -> str:
    """What passes a threshold."""
    return "distance < threshold" if facts.get("distance") else "score > threshold"


def _worth(evaluation):
    """How many independent comparisons the FRR is worth, over levels and models."""
    with no_cautions():
        n = band(evaluation, "frr").n_effective
    least, most = (count_words(float(end)) for end in (n.min(), n.max()))
    return least if least == most else f"{least} to {most}"


def bibtex(used: Iterable[str]) -> str:
    """BibTeX entries of frkit and of the methods that were used."""
    keys = ["frkit", *(key for key, what in CITES.items() if what in set(used))]
    entries = REFERENCES.read_text("utf-8").strip().split("\n\n")
    return "\n\n".join(
        entry for entry in entries if entry.partition("{")[2].partition(",")[0] in keys
    )
