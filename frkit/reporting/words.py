"""A methods paragraph from an evaluation's provenance, and the references of the methods that were used."""

import warnings
from collections.abc import Iterable
from pathlib import Path

import xarray as xr

from frkit.base import GROUP, REPLICATE, DataWarning, listed, require
from frkit.intervals import band, provenance
from frkit.reporting.tables import count_words

REFERENCES = Path(__file__).with_name("references.bib")  # what CITATION.cff says, as BibTeX
CITES = {
    "conti2024": "rates",
    "conti2022": "disparities",
    "kotwal2022": "indices",
    "dealcala2023": "n_sigma",
}
CITES |= {"li2021": "rlb"}
USES = tuple(CITES.values())
WEIGHTING = {
    "identity": "FAR is the mean over pairs of people of the share of their image pairs that are accepted, FRR the "
    "mean over people of the share of their genuine pairs that are rejected (all people weigh the same)",
    "pair": "FAR and FRR are the shares of impostor pairs accepted and of genuine pairs rejected (all pairs weigh the "
    "same)",
    "p_k": "FAR and FRR are means over (pairs of) people with weights that were given",
}


class Description(str):
    """A methods paragraph, with `bibtex`, the references of what it names; printed, the one stands above the other."""

    bibtex: str

    def __new__(cls, paragraph: str, bibtex: str):
        made = super().__new__(cls, f"{paragraph}\n\n{bibtex}")
        made.paragraph, made.bibtex = paragraph, bibtex
        return made

    def __repr__(self) -> str:
        return str(self)


def describe(evaluation: xr.DataTree, *, used: Iterable[str] = ()) -> Description:
    """Write the methods paragraph of an evaluation, and the BibTeX entries of the methods that were used.

    Parameters
    ----------
    evaluation : xr.DataTree
        What `evaluate`, `indices.evaluate` or `open_evaluation` returned.
    used : sequence of str
        What else was used of "disparities", "indices", "n_sigma", "rlb": their references are added. "rates", and
        "disparities" where there are groups, are known from the evaluation.

    Returns
    -------
    Description
        A text (str): the paragraph, a blank line, BibTeX; also as its attributes `paragraph` and `bibtex`.

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
    known, used = provenance(evaluation), set(used)
    require(
        used <= set(USES),
        f"used names {listed(sorted(used - set(USES)))}; it takes {', '.join(USES)}",
    )
    used |= {"rates"} | ({"disparities"} if known.get("by") else set())
    data = evaluation["empirical"].to_dataset()
    sentences = [
        _kit(known),
        _data(known),
        f"{WEIGHTING[known['weighting']]}; accept means {accepted(known)}.",
    ]
    if known.get("by"):
        by = known["by"] if isinstance(known["by"], str) else " and ".join(known["by"])
        sentences.append(f"Groups are those of {by} ({', '.join(map(str, data[GROUP].values))}).")
    chosen = known.get("impostors")
    if chosen not in (None, "all"):
        kinds = (
            ["within a group"]
            if isinstance(chosen, str)
            else [f"of {chosen[name]} {name}" for name in chosen]
        )
        sentences.append(f"Impostor pairs are those {' and '.join(kinds)}.")
    sentences.append(_intervals(evaluation, known))
    return Description(" ".join(sentences), bibtex(used))


def _kit(known: dict) -> str:
    """The kit and the libraries on which numbers depend."""
    versions = dict(known["versions"])
    own = versions.pop("frkit", None)
    names = {"numpy": "NumPy", "scipy": "SciPy", "numba": "Numba"}
    others = ", ".join(f"{names.get(name, name)} {number}" for name, number in versions.items())
    return f"Error rates were computed with frkit{f' {own}' if own else ''} ({others})."


def _data(known: dict) -> str:
    """What was compared."""
    if not known.get("n_identities"):
        many = known.get("n_genuine_pairs"), known.get("n_impostor_pairs")
        return f"The data are {many[0]:,} genuine and {many[1]:,} impostor comparisons of people who are not named."
    text = f"{known['n_identities']:,} people"
    if known.get("images_per_identity"):
        least, median, most = known["images_per_identity"]
        each = f"{least}" if least == most else f"{least} to {most}, median {median:g}"
        text = f"{known['n_images']:,} images of {text} ({each} images each)"
    text = f"The data are {text}"
    if "n_genuine_pairs" in known:
        text += f" in {known['n_genuine_pairs']:,} genuine and {known['n_impostor_pairs']:,} impostor pairs of a list"
    elif known.get("similarity") != "given":
        text += f", all compared with each other ({known['similarity']} similarity)"
    failed = max(known.get("failed_genuine_comparisons", [0]))
    return text + (f"; {failed} genuine comparisons failed and were left out." if failed else ".")


def accepted(known: dict) -> str:
    """What passes a threshold."""
    return "distance < threshold" if known.get("distance") else "score > threshold"


def _intervals(evaluation: xr.DataTree, known: dict) -> str:
    """How intervals are made."""
    text = ""
    if "people" in evaluation.children:
        text = (
            "Intervals rest on the effective number of independent comparisons (Korn and Graubard "
            "1998; Jeffreys ends), for new people or for new images of these people, as named beside "
            "them; groups are compared by a chi-square "
            f"test with these numbers (Rao and Scott 1984). {_worth(evaluation)}"
        )
    if "replicates" in evaluation.children:
        n, strata = evaluation["replicates"].sizes[REPLICATE], known.get("strata")
        within = f" within {strata}" if strata else ""
        text += f" {n} bootstrap replicates were drawn (scheme '{known['scheme']}'{within}, seed {known['seed']}), "
        text += f"which speak of {known['target']}."
    return text.strip() or "No intervals were made."


def _worth(evaluation: xr.DataTree) -> str:
    """How many independent comparisons the FRR is worth, over levels and models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        n = band(evaluation, "frr").n_effective
    least, most = (count_words(float(end)) for end in (n.min(), n.max()))
    worth = least if least == most else f"{least} to {most}"
    return f"The FRR is worth {worth} independent comparisons for new people."


def bibtex(used: Iterable[str]) -> str:
    """BibTeX entries of the kit and of the methods that were used."""
    kept = ["frkit", *(key for key, what in CITES.items() if what in set(used))]
    entries = REFERENCES.read_text("utf-8").strip().split("\n\n")
    return "\n\n".join(
        entry for entry in entries if entry.partition("{")[2].partition(",")[0] in kept
    )
