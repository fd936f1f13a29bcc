"""Execute notebooks and write them back so that two runs give the same bytes.

    python3 binder/local.py execute                       all notebooks
    python3 binder/local.py execute notebooks/01_*.ipynb  these only
    python3 binder/local.py execute --fast                with small parameters; writes nothing

A notebook has one code cell tagged "parameters". Its metadata `{"frkit": {"fast": {"n": 20}}}` give
values of some of those parameters that make it run in seconds. Pictures are stored with 64 colours;
`"colours": 128` next to it asks for more. The caption behind a picture, a cell that begins with
"**Figure", is its alternative text, too.
"""

import argparse
import base64
import io
import os
import re
import time
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
    parser.add_argument("--fast", action="store_true", help="small parameters; write nothing")
    defaults = "all by default"
    parser.add_argument("notebooks", nargs="*", type=Path, help=defaults)
    arguments = parser.parse_args()
    for path in arguments.notebooks or paths():
        run(path.resolve(), arguments.fast)


def paths():
    """All notebooks, in their order."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read(path):
    """The notebook in this file, as nbformat's newest form."""
    return nbformat.read(path, as_version=4)


def run(path, fast):
    """Execute one notebook file; write it back unless the parameters were the fast ones."""
    start = time.monotonic()
    notebook = read(path)
    execute(with_fast_parameters(notebook) if fast else notebook, path.parent)
    if not fast:
        text, numbers = nbformat.writes(normalise(notebook)), {}
        text = TABLE_PART.sub(lambda part: numbers.setdefault(part[0], f"{len(numbers):04x}"), text)
        path.write_text(text + "\n", encoding="utf-8")
        small = path.parent / "thumbnails" / f"{path.name[:2]}.png"  # for the map of notebook 00
        if small.exists():
            small.write_bytes(thumbnail(first_picture(notebook)))
    seconds, size = time.monotonic() - start, path.stat().st_size
    print(f"{path.name}: {seconds:.0f} s, {size // 1000} kB", flush=True)


def with_fast_parameters(notebook):
    """Add a cell behind the parameters cell that sets the small values; changes the notebook."""
    values = notebook.metadata.get("frkit", {}).get("fast", {})
    source = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    [place] = tagged(notebook, "parameters")
    cell = nbformat.v4.new_code_cell(source, id="fast-parameters")
    notebook.cells.insert(place + 1, cell)
    return notebook


def tagged(notebook, tag):
    """Positions of the cells that carry the tag."""
    return [k for k, cell in enumerate(notebook.cells) if tag in cell.metadata.get("tags", [])]


def execute(notebook, folder, timeout=900, kernel=None):
    """Run all cells in a kernel; the first error is raised.

    The kernel is a fresh one whose working folder is `folder`, unless a manager of one that runs is
    given.
    """
    path = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, km=kernel, timeout=timeout, resources=path, coalesce_streams=True
    )
    try:
        return client.execute(env=kernel_environment())
    finally:
        if kernel is not None:
            client.kc.stop_channels()


def kernel_environment():
    """This process's environment, without what would change the pictures in a notebook."""
    return {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}


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


def first_picture(notebook):
    """The first PNG among a notebook's outputs."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output.get("data", {}).get("image/png") for output in outputs]
    return next(filter(None, pictures))


def thumbnail(picture):
    """A PNG 200 pixels wide with a few colours, of one in base64 text."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    small = image.resize((200, round(200 * image.height / image.width)), Image.Resampling.LANCZOS)
    return base64.b64decode(as_png(small.quantize(32, method=Image.Quantize.MAXCOVERAGE)))


if __name__ == "__main__":
    main()
