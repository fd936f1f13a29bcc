#!/usr/bin/env python3
"""Write the address of the repository into every file that names it, or take it out of them.

    python3 binder/local.py address https://github.com/you/frkit    set it
    python3 binder/local.py address                                 take it out

It is in pyproject.toml, [project.urls]. From it follow the badges of README and notebooks, the
installation of frkit in the notebooks' first cell, and the citation.
"""

import json
import re
import sys
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
BADGE = re.compile(r"\[!\[Open on Binder\][^\n]*\n\n")
IMPORT = re.compile(
    r"^(?:try:\n    import frkit as fk\n.*?\n    )?import frkit as fk$", re.M | re.S
)
INSTALL = """\
try:
    import frkit as fk
except ImportError:  # Colab, or a Python without frkit; demo faces and stored studies come with it
    %pip install -q git+{}
    import frkit as fk"""


def main(url=""):
    if url and not re.fullmatch(r"https://[^\s\"/]+/[^\s\"]+", url):
        sys.exit(f"address: {url} is no address of a repository; give https://HOST/OWNER/NAME")
    repository, *page = re.split(r"/(?:-/)?(?:tree|blob|src)/", url)
    if page:
        sys.exit(f"address: {url} is a page of the repository; give {repository}")
    url = url.rstrip("/").removesuffix(".git")
    for name, (place, line) in LINES.items():
        replace_line(ROOT / name, place, line.format(url) if url else "")
    readme = ROOT / "README.md"
    text = BADGE.sub("", readme.read_text(encoding="utf-8"))
    first_lines, rest = text.split("<picture>", 1)
    badge = badge_of(url, "00_start_here.ipynb")
    readme.write_text(f"{first_lines}{badge}<picture>{rest}", encoding="utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        in_notebook(notebook, path.name, url)
        text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8")


# in each file: the text before the line, and the line
LINES = {
    "pyproject.toml": (r"^\[project\.urls\]\n", 'Repository = "{}"\n'),
    "CITATION.cff": (r"^license: .*\n", 'repository-code: "{}"\n'),
}


def replace_line(path, place, line):
    """Put the line behind its place, in the stead of one that begins alike."""
    text = path.read_text(encoding="utf-8")
    behind = re.search(place, text, re.MULTILINE).end()
    old = re.compile(r"(?:Repository|repository-code:) .*\n").match(text, behind)
    rest = text[old.end() if old else behind :]
    path.write_text(text[:behind] + line + rest, encoding="utf-8")


def badge_of(url, notebook):
    """The badge that opens this notebook on Binder, which takes any git repository."""
    if not url:
        return ""
    place = f"https://mybinder.org/v2/git/{quote(url, safe='')}/HEAD"
    image = "https://mybinder.org/badge_logo.svg"
    return f"[![Open on Binder]({image})]({place}?urlpath=lab/tree/notebooks/{notebook})\n\n"


def in_notebook(notebook, name, url):
    """Set the badge above the question, and the import of the first cell with code."""
    title = notebook["cells"][0]
    before, mark, question = BADGE.sub("", "".join(title["source"])).partition("\n\n**")
    if not mark:
        sys.exit(f"address: the first cell of {name} has no question, a paragraph in **bold**")
    text = f"{before}\n\n{badge_of(url, name)}**{question}"
    title["source"] = text.splitlines(keepends=True)
    code = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    line = INSTALL.format(url) if url else "import frkit as fk"
    text, match = IMPORT.subn(lambda _: line, "".join(code["source"]))
    if not match:
        sys.exit(f"address: the first code cell of {name} does not import frkit")
    code["source"] = text.splitlines(keepends=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
