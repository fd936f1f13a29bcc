"""Execute notebooks and write them back so that two runs give the same bytes.

    python3 binder/local.py execute                       all notebooks
    python3 binder/local.py execute notebooks/01_*.ipynb  these only
    python3 binder/local.py execute --check               writes nothing; says which cells differ

Two run at a time. Numbers of stored outputs and of new ones may differ by a thousandth. The text of
a figure says what it shows (`drawn.py`), so its points and colours are compared, too.

A notebook has one code cell tagged "parameters". Pictures are stored with 64 colours; its metadata
`{"frkit": {"colours": 128}}` ask for more. The caption behind a picture, a cell that begins with
"**Figure", is its alternative text, too.
"""

import argparse
import base64
import io
import math
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

import nbformat
import numpy as np
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"
COLOURS = 64  # of a stored picture, unless a notebook's metadata say otherwise
VISIBLE = 24  # levels of 255 that an eye tells apart
HARDLY = 0.001  # share of pixels that may be off by more
LINE = 25  # pixels of a short line in a legend
EVEN = 6  # levels by which a colour of that area may be off
LONG = 500  # characters of a table from which its copy in plain text is left out
ONCE = "frkit: compiling"  # a line of the first run on a machine only
AT_ONCE = 2  # notebooks
TOLERANCE = 1e-3  # of each number: other processors round otherwise
NOTHING = 1e-12  # differs from zero by rounding only
NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+(?:e[-+]?\d+)?)")
AROUND = 150  # characters that are shown before and behind a difference
MEMORY = re.compile(r"VmHWM:\s+(\d+) kB")
# what differs from run to run
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
ARRAY_NAME = re.compile(r"\barray-[0-9a-f-]{8,}")
TABLE_PART = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
MOMENT = re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b")
WARNED_AT = re.compile(r"^\S*\.py:\d+: (?=\w*Warning: )", re.MULTILINE)
# what a picture's words and a table do without
SYMBOLS = {r"\hat\theta": "θ^", r"\tilde\theta": "θ~", r"\theta^*": "θ*"}
MARKUP = re.compile(r"[`$]|(?<!θ)\*|\[(?P<words>[^]]*)\]\([^)]*\)|\\\\?(?=[a-z])")
BETWEEN_TAGS = re.compile(r">\s+<")
TABLE_STYLE = re.compile(r"<style scoped>.*?</style>\s*", re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description="Execute notebooks and write them back.")
    parser.add_argument(
        "--check", action="store_true", help="say which cells differ; write nothing"
    )
    defaults = "all by default"
    parser.add_argument("notebooks", nargs="*", type=Path, help=defaults)
    arguments = parser.parse_args()
    files = [path.resolve() for path in arguments.notebooks or paths()]
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        names = ", ".join(path.name for path in paths())
        sys.exit(f"execute: there is no {', '.join(missing)}; notebooks/ contains {names}")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(check if arguments.check else write, files))
    sys.exit("\n\n".join(text for texts in found for text in texts) or None)


def paths():
    """All notebooks, in their order."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read(path):
    """The notebook in this file, as nbformat's newest form."""
    return nbformat.read(path, as_version=4)


def write(path):
    """Execute one notebook file and write it back; nothing to say about it."""
    path.write_text(nbformat.writes(run(path)) + "\n", encoding="utf-8")
    return []


def check(path):
    """Execute one notebook file as it is stored; say which cells show something else."""
    return [f"{path.name}, {text}" for text in differences(read(path), run(path))]


def run(path):
    """The notebook of this file as it is executed now; prints its time and peak of memory."""
    start = time.monotonic()
    notebook = read(path)
    kilobytes = execute(notebook, path.parent)
    minutes = (time.monotonic() - start) / 60
    print(f"{path.name}: {minutes:.1f} min, peak {kilobytes / 1000:.0f} MB", flush=True)
    return as_stored(notebook)


def as_stored(notebook):
    """An executed notebook as its file contains it; changes the notebook."""
    text, numbers = nbformat.writes(normalise(notebook)), {}
    text = TABLE_PART.sub(lambda part: numbers.setdefault(part[0], f"{len(numbers):04x}"), text)
    return nbformat.reads(text, as_version=4)


def differences(stored, executed):
    """Sentences about the cells whose outputs differ: both texts around the first difference."""
    sentences = []
    for old, new in zip(stored.cells, executed.cells, strict=True):
        before, now = output_texts(old), output_texts(new)
        if (place := first_difference(before, now)) is not None:
            part = slice(max(place - AROUND, 0), place + AROUND)
            sentence = f"cell [{old.execution_count}]\nstored: {before[part]}\nnow:    {now[part]}"
            sentences.append(sentence)
    return sentences


def output_texts(cell):
    """All that a cell shows but its pictures, whose text says what was drawn."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {"text/plain": output.get("text", "")})
        texts += [f"{kind}: {text}" for kind, text in data.items() if kind.startswith("text/")]
    return "\n".join(texts)


def first_difference(stored, now):
    """Where a word differs, or a number by more than the tolerance; None if nothing does."""
    place = 0
    parts, others = NUMBER.split(stored), NUMBER.split(now)
    for part, other in zip_longest(parts, others, fillvalue=""):
        if part != other and not are_close(part, other):
            return place + len(os.path.commonprefix([part, other]))
        place += len(part)
    return None


def are_close(text, other):
    """Whether both are numbers and differ by rounding only."""
    if not (NUMBER.fullmatch(text) and NUMBER.fullmatch(other)):
        return False
    values = [float(number.replace(",", "")) for number in (text, other)]
    return math.isclose(*values, rel_tol=TOLERANCE, abs_tol=NOTHING)


def execute(notebook, folder, timeout=900):
    """Run all cells in a fresh kernel, whose working folder is `folder`; the first error is raised.

    Returns its peak of memory in kB.
    """
    peaks = [math.nan]
    client = NotebookClient(
        notebook,
        timeout=timeout,
        resources={"metadata": {"path": str(folder)}},
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.extra_extensions=drawn"],
        on_cell_executed=lambda **_: peaks.append(peak_memory(client.km.provisioner.pid)),
    )
    client.execute(env=kernel_environment())
    return peaks[-1]


def peak_memory(process):
    """The most memory that a process has used so far, in kB; unknown outside Linux."""
    status = Path(f"/proc/{process}/status")
    return int(MEMORY.search(status.read_text())[1]) if status.exists() else math.nan


def kernel_environment():
    """This process's environment, without what would change the pictures in a notebook.

    Kernels find `drawn.py` there.
    """
    kept = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    folders = [str(Path(__file__).parent), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {"PYTHONPATH": os.pathsep.join(folders)}


def normalise(notebook):
    """Keep sources, tags, folds, pictures and texts, and number the cells from 1.

    Times, widgets and all that a page without a kernel cannot show are dropped.
    """
    settings = notebook.metadata.get("frkit")
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    notebook.metadata = nbformat.from_dict(metadata | ({"frkit": settings} if settings else {}))
    colours = (settings or {}).get("colours", COLOURS)
    number = 0
    for place, cell in enumerate(notebook.cells):
        kept = {key: cell.metadata[key] for key in ("jupyter", "tags") if key in cell.metadata}
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type != "code":
            continue
        number += 1
        cell.execution_count = number
        caption = caption_behind(notebook, place)
        cell.outputs = [
            normalise_output(output, colours, caption)
            for output in cell.outputs
            if WIDGET not in output.get("data", {}) and not output.get("text", "").startswith(ONCE)
        ]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook


def caption_behind(notebook, place):
    """The words of the caption that follows the cell, or nothing."""
    below = notebook.cells[place + 1 : place + 2]
    if not below or below[0].cell_type != "markdown" or not below[0].source.startswith("**Figure"):
        return ""
    paragraph = below[0].source.split("\n\n")[0]
    for formula, symbol in SYMBOLS.items():
        paragraph = paragraph.replace(formula, symbol)
    return " ".join(MARKUP.sub(lambda match: match["words"] or "", paragraph).split())


def normalise_output(output, colours, caption):
    """Take out what differs from run to run; shrink pictures and give them their words."""
    data = output.get("data", {})
    if "metadata" in output:
        picture = {"image/png": {"alt": caption}} if caption and "image/png" in data else {}
        output.metadata = nbformat.from_dict(picture)
    if "image/png" in data:
        data["image/png"] = with_few_colours(data["image/png"], colours)
    if "text/html" in data:  # a page's own style sheet lays tables out
        data["text/html"] = BETWEEN_TAGS.sub("><", TABLE_STYLE.sub("", data["text/html"]))
        if len(data.get("text/plain", "")) > LONG:
            data["text/plain"] = "(a table)"  # the file contains it as HTML already
    texts = [(output, "text")] if "text" in output else []
    texts += [(data, key) for key in data if key.startswith("text/")]
    for holder, key in texts:
        text = ADDRESS.sub("0x...", ARRAY_NAME.sub("array", holder[key]))
        holder[key] = MOMENT.sub("", WARNED_AT.sub("", text))
    return output


def with_few_colours(picture, colours):
    """A PNG (base64 text) with so many colours, or fewer where it hardly looks otherwise.

    Every colour kept is one of the picture's own. The next is always that which is farthest from
    all kept, and counts for more the larger its area: lines, words and legends stay as they were
    drawn, soft edges become coarser.
    """
    image = Image.open(io.BytesIO(base64.b64decode(picture)))
    if image.mode == "P":
        return picture
    pixels = np.asarray(image.convert("RGB")).astype(np.int32)
    codes, place, area = np.unique(
        pixels @ (65536, 256, 1), return_inverse=True, return_counts=True
    )
    channels = codes[:, None] // (65536, 256, 1) % 256
    weight = np.sqrt(np.minimum(area, LINE))
    palette = [channels[np.argmax(area)]]
    nearest, distance = np.zeros(len(channels), int), np.abs(channels - palette[0]).max(axis=1)
    while len(palette) < colours:
        visible = area[distance > VISIBLE].sum()
        if visible <= HARDLY * area.sum() and distance[area >= LINE].max(initial=0) <= EVEN:
            break
        palette.append(channels[np.argmax(distance * weight)])
        to_new = np.abs(channels - palette[-1]).max(axis=1)
        nearest[to_new < distance] = len(palette) - 1
        distance = np.minimum(distance, to_new)
    fewer = Image.fromarray(nearest[place].reshape(pixels.shape[:2]).astype(np.uint8), mode="P")
    fewer.putpalette(np.array(palette, np.uint8).tobytes())
    return as_png(fewer)


def as_png(image):
    """The picture as a PNG in base64 text."""
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode("ascii")


if __name__ == "__main__":
    main()
