"""Execute notebooks and write them back so that two runs give the same bytes.

    python3 binder/local.py execute                       every notebook, and the README's picture
    python3 binder/local.py execute notebooks/01_*.ipynb  these only, no picture
    python3 binder/local.py execute --fast                with the tests' small parameters; writes nothing

A notebook has one code cell tagged "parameters". Its metadata hold `{"frkit": {"fast": {"n": 20}}}`: values
of some of those parameters that make it run in seconds. Pictures are stored with 64 colours; `"colours": 128` beside
it asks for more. The caption behind a picture, a cell that begins with "**Figure", is its alternative text, too.
"""

import argparse
import base64
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import numpy as np
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
PICTURE = ROOT / "data/readme_roc.png"
WIDGET = "application/vnd.jupyter.widget-view+json"
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
UNIQUE = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
)  # names of parts of xarray's tables
ARRAY_NAME = re.compile(r"\barray-[0-9a-f-]{8,}")
VISIBLE, HARDLY = (
    24,
    0.001,
)  # levels of 255 that an eye tells apart; share of pixels that may be off by more
LINE, EVEN = (
    25,
    6,
)  # pixels of a short line in a legend; levels by which a colour of that area may be off
ONCE = "frkit: compiling"  # a line that stands in the first run on a machine only
LONG = 500  # characters of a table from which its copy in plain text is left out
COLOURS = 64  # of a stored picture, unless a notebook's metadata say otherwise
SYMBOLS = {
    r"\hat\theta": "θ^",
    r"\tilde\theta": "θ~",
    r"\theta^*": "θ*",
}  # in formulas, as the glossary calls them
MARKUP = re.compile(r"[`$]|(?<!θ)\*|\[(?P<words>[^]]*)\]\([^)]*\)|\\\\?(?=[a-z])")
BETWEEN_TAGS, TABLE_STYLE = (
    re.compile(r">\s+<"),
    re.compile(r"<style scoped>.*?</style>\s*", re.DOTALL),
)
WARNED_AT = re.compile(r"^\S*\.py:\d+: (?=\w*Warning: )", re.MULTILINE)


def paths():
    """All notebooks of the kit, in their order."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read(path):
    """The notebook in this file, as nbformat's newest form."""
    return nbformat.read(path, as_version=4)


def tagged(notebook, tag):
    """Positions of the cells that carry the tag."""
    return [at for at, cell in enumerate(notebook.cells) if tag in cell.metadata.get("tags", [])]


def with_fast_parameters(notebook):
    """Add a cell behind the parameters cell that sets the small values; the notebook itself is changed."""
    values = notebook.metadata.get("frkit", {}).get("fast", {})
    source = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    cell = nbformat.v4.new_code_cell(source, id="fast-parameters")
    [at] = tagged(notebook, "parameters")
    notebook.cells.insert(at + 1, cell)
    return notebook


def kernel_environment():
    """This process's environment, without what would change the pictures in a notebook."""
    return {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}


def execute(notebook, folder, timeout=900, kernel=None):
    """Run all cells in a kernel, a fresh one whose working folder is `folder` unless a manager of one that runs is
    given; the first error is raised."""
    path = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, km=kernel, timeout=timeout, resources=path, coalesce_streams=True
    )
    try:
        return client.execute(env=kernel_environment())
    finally:
        if kernel is not None:
            client.kc.stop_channels()


def with_few_colours(picture, colours):
    """A PNG (base64 text) with so many colours, or fewer where hardly a pixel then looks otherwise.

    Every colour kept is one of the picture's own. The next is always that which is farthest from all kept, and
    counts for more the larger its area: lines, words and legends stay as they were drawn, soft edges become coarser.
    """
    image, buffer = Image.open(io.BytesIO(base64.b64decode(picture))), io.BytesIO()
    if image.mode == "P":
        return picture
    pixels = np.asarray(image.convert("RGB")).astype(np.int32)
    codes, place, area = np.unique(
        pixels @ (65536, 256, 1), return_inverse=True, return_counts=True
    )
    own = codes[:, None] // (65536, 256, 1) % 256
    weight = np.sqrt(np.minimum(area, LINE))
    palette, nearest, off = [], np.zeros(len(own), int), np.full(len(own), np.inf)
    while len(palette) < colours:
        if (
            area[off > VISIBLE].sum() <= HARDLY * area.sum()
            and off[area >= LINE].max(initial=0) <= EVEN
        ):
            break
        palette.append(own[np.argmax(off * weight) if palette else np.argmax(area)])
        distance = np.abs(own - palette[-1]).max(axis=1)
        nearest[distance < off], off = len(palette) - 1, np.minimum(off, distance)
    fewer = Image.fromarray(nearest[place].reshape(pixels.shape[:2]).astype(np.uint8), mode="P")
    fewer.putpalette(np.array(palette, np.uint8).tobytes())
    fewer.save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def caption_behind(notebook, at):
    """The words of the caption that follows the cell, or nothing."""
    below = notebook.cells[at + 1] if at + 1 < len(notebook.cells) else None
    if below is None or below.cell_type != "markdown" or not below.source.startswith("**Figure"):
        return ""
    words = below.source.split("\n\n")[0]
    for formula, symbol in SYMBOLS.items():
        words = words.replace(formula, symbol)
    return " ".join(MARKUP.sub(lambda found: found["words"] or "", words).split())


def normalise_output(output, colours=COLOURS, words=""):
    """Take out what differs from run to run: addresses of objects, names of arrays, places of warnings; shrink pictures
    and give them their words."""
    data = output.get("data", {})
    if "metadata" in output:
        picture = {"image/png": {"alt": words}} if words and "image/png" in data else {}
        output.metadata = nbformat.from_dict(picture)
    if "image/png" in data:
        data["image/png"] = with_few_colours(data["image/png"], colours)
    if "text/html" in data:  # a page's own style sheet lays tables out
        data["text/html"] = BETWEEN_TAGS.sub("><", TABLE_STYLE.sub("", data["text/html"]))
    if "text/html" in data and len(data.get("text/plain", "")) > LONG:
        data["text/plain"] = "(a table)"  # it stands in the file as HTML already
    texts = [(output, "text")] if "text" in output else []
    texts += [(data, key) for key in data if key.startswith("text/")]
    for holder, key in texts:
        holder[key] = WARNED_AT.sub("", ADDRESS.sub("0x...", ARRAY_NAME.sub("array", holder[key])))
    return output


def normalise(notebook):
    """Keep sources, tags, pictures and texts; drop times, widget state and all that a page without a kernel
    cannot show. Cells are numbered from 1."""
    kept = {"frkit": notebook.metadata["frkit"]} if "frkit" in notebook.metadata else {}
    colours = notebook.metadata.get("frkit", {}).get("colours", COLOURS)
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
            **kept,
        }
    )
    number = 0
    for at, cell in enumerate(notebook.cells):
        cell.metadata = nbformat.from_dict(
            {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        )
        if cell.cell_type != "code":
            continue
        number += 1
        cell.execution_count = number
        shown = [output for output in cell.outputs if WIDGET not in output.get("data", {})]
        shown = [output for output in shown if not output.get("text", "").startswith(ONCE)]
        cell.outputs = [
            normalise_output(output, colours, caption_behind(notebook, at)) for output in shown
        ]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook


def with_thumbnails(notebook):
    """Attachments named like 03.png become small copies of the first picture of that notebook."""
    for cell in notebook.cells:
        for name, attached in cell.get("attachments", {}).items():
            for path in NOTEBOOKS.glob(f"{name.removesuffix('.png')}_*.ipynb"):
                outputs = [
                    output for other in read(path).cells for output in other.get("outputs", [])
                ]
                first = next(
                    output["data"]["image/png"]
                    for output in outputs
                    if "image/png" in output.get("data", {})
                )
                attached["image/png"] = thumbnail(first)
    return notebook


def thumbnail(picture):
    """A PNG (base64 text) 200 pixels wide with a few colours."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    small = image.resize((200, round(200 * image.height / image.width)), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.quantize(32, method=Image.Quantize.MAXCOVERAGE).save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def readme_example():
    """The README's Python example, as one string."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [source] = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return source


def draw_picture():
    """Run the README's example, which leaves its Axes in `ax`, and store the figure the README shows."""
    save = f"\nax.figure.savefig({str(PICTURE)!r}, dpi=110, bbox_inches='tight')\n"
    environment = os.environ | {"MPLBACKEND": "agg"}
    subprocess.run(
        [sys.executable, "-c", readme_example() + save], cwd=ROOT, env=environment, check=True
    )
    print(f"{PICTURE.relative_to(ROOT)}: drawn")


def run(path, fast):
    """Execute one notebook file; write it back unless the parameters were the fast ones."""
    start = time.monotonic()
    notebook = read(path)
    execute(with_fast_parameters(notebook) if fast else notebook, path.parent)
    if not fast:
        text, numbered = nbformat.writes(with_thumbnails(normalise(notebook))), {}
        text = UNIQUE.sub(lambda found: numbered.setdefault(found[0], f"{len(numbered):04x}"), text)
        path.write_text(text + "\n", encoding="utf-8")
    print(
        f"{path.name}: {time.monotonic() - start:.0f} s, {path.stat().st_size // 1000} kB",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description="Execute notebooks and write them back.")
    parser.add_argument("--fast", action="store_true", help="small parameters; write nothing")
    parser.add_argument(
        "notebooks", nargs="*", type=Path, help="all, and the README's picture, by default"
    )
    arguments = parser.parse_args()
    for path in arguments.notebooks or paths():
        run(path.resolve(), arguments.fast)
    if not arguments.notebooks and not arguments.fast:
        draw_picture()


if __name__ == "__main__":
    main()
