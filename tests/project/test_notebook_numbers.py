"""A number in a notebook's prose stands in its outputs or settings, or here with its source.

Outputs are all tables and sentences that the cells leave; settings are the numbers in the code.
What is worked out on paper inside the prose is checked by the cell that follows it.
"""

import re

import pytest
import run_notebooks

PATHS = run_notebooks.paths()
ELSEWHERE = {
    "00_start_here": {
        "2,809": "images of the demo faces", "360": "people in them",
        "03": "a notebook", "05": "the same", "06": "the same", "07": "the same",
        "10": "the same", "149": "minutes of the core, which a test counts",
        "180": "words a minute", "15": "lines of code a minute",
    },
    "01_roc_consistency": {"55,076": "images of MORPH: 27,338 x 2 + 400"},
    "02_bootstrap_bias": {"1997": "a year"},
    "03_fairness_uncertainty": {".02828": "geometric mean, on paper"},
    "04_vmf_coverage": {
        ".22": "root of .6 x .4 / 5, on paper", ".17": "an end, on paper", ".19": "the same",
        "19": "nominal levels, the default of fk.studies.coverage",
        "400": "data sets of data/make_bootstrap_laws.py",
    },
    "06_n_sigma": {
        "360": "people of the demo faces", "24": "cells of tests/benchmarks/finetuning_pattern.py",
        "23": "the same", "21": "the same", "19": "the same", "17": "the same",
    },
    "07_representation_bias": {
        ".451": "nats, on paper", ".562": "nats, on paper",
        "158": "people of LFW with ten images",
        "199": "permutations, the default",
    },
    "09_intervals": {".07": "p, on paper"},
    "10_and_then": {
        "25": "minutes of reading", "19795": "a standard", "2024": "its year", "2022": "a year",
    },
}  # fmt: skip
NUMERAL = r"(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:e[-−]?\d+)?"
QUOTED = re.compile(rf"(?<![\w.,/^−-])[-−]?({NUMERAL})(?<=\d)(?!\w)")
WRITTEN = re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d*)?|\.\d+)(e[-+−]?\d+)?")
# These are no sentences; a place in a paper is no quantity.
BLOCKS = [
    r"<details>.*?</details>",
    r"^```.*?^```",
    r"\$\$.*?\$\$",
    r"^## References.*",
    r"^- [A-Z]\. .*",
    r"^\*\*References\.\*\*.*",
]
SPANS = [
    r"\$[^$\n]*\$",
    r"`[^`\n]*`",
    r"\[[^\]]*\]\([^)]*\)",
    r"^#.*$",
    r"^\|.*$",
    r"^\*\*Figure \w+",
    r"^\d+\. ",
    r"^\*\*Exercise \d\d\.\d\*\* \(\d+ min\)",
]
PLACE = (
    r"\b(?:Figs?\.|Figures?|Tables?|eq\.|Algorithms?|[Aa]ppendix|[Aa]ppendices|[Ss]ections?|Proposition|Prop\."
    r"|Theorems?|Remark|[Nn]otebooks?|part|exercise|ICLR|FG|COMPSAC)\s*\(?"
    r"[A-Z]?\.?\d+(?:\.\d+)*(?:(?:,| to| and|–) (?:[A-Z]\.)?\d+)*"
)


def prose(source):
    """The sentences of a cell."""
    for pattern in BLOCKS:
        source = re.sub(pattern, " ", source, flags=re.DOTALL | re.MULTILINE)
    for pattern in [*SPANS, PLACE]:
        source = re.sub(pattern, " ", source, flags=re.MULTILINE)
    return source


def numbers(text):
    """All numbers in a text, without their signs."""
    return {
        float("".join(digits).replace(",", "").replace("−", "-"))
        for digits in WRITTEN.findall(text)
    }


def shown(notebook):
    """All numbers that the code cells write or leave."""
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts.append(cell.source)
            for output in cell.outputs:
                texts.append(output.get("text", ""))
                data = output.get("data", {})
                if "image/png" not in data:  # a reader sees the picture, not its text
                    texts += [re.sub(r"<[^>]+>", " ", text) for text in data.values()]
    return numbers("\n".join(texts))


def rounds_to(quoted, value):
    """Whether the value, or its percentage, is the quoted number once rounded as that is."""
    digits, _, power = quoted.replace(",", "").replace("−", "-").partition("e")
    decimals, scale = len(digits.partition(".")[2]), 10.0 ** int(power or 0)
    half = 0.5 * 10.0**-decimals * (1 + 1e-9) * scale
    return any(abs(float(digits) * scale - candidate) <= half for candidate in (value, 100 * value))


def strangers(path, notebook):
    """Numbers of the prose that nothing vouches for, with the words before them."""
    values = shown(notebook)
    explained = ELSEWHERE.get(path.stem, {})
    without_source = []
    for cell in notebook.cells:
        text = prose(cell.source) if cell.cell_type == "markdown" else ""
        for match in QUOTED.finditer(text):
            is_shown = any(rounds_to(match[1], value) for value in values)
            if match[1] not in explained and not is_shown:
                without_source.append(text[max(0, match.start() - 40) : match.end()].strip())
    return without_source


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_numbers_in_prose_are_those_of_the_outputs(path):
    without_source = strangers(path, run_notebooks.read(path))
    advice = "show each number in an output, or say where it is from in ELSEWHERE of this file"
    assert without_source == [], advice
