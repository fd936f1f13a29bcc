"""How Sphinx builds the documentation: `python3 binder/local.py docs`."""

import os
import shutil
import sys
from pathlib import Path

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE)]
# The pages run the frkit of this checkout, in this Python, and call its command `frkit`.
os.environ["PYTHONPATH"] = str(ROOT)
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

import frkit  # noqa: E402

# The pages of the notebooks are copies among the other pages.
shutil.copytree(ROOT / "notebooks", HERE / "notebooks", dirs_exist_ok=True)

project = "frkit"
author = copyright = "frkit developers"
version = release = frkit.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
templates_path = ["templates"]

# Every name of api.md gets a page of its own; pages of names that are gone are deleted.
names = (HERE / "api.md").read_text(encoding="utf-8").split()
for page in (HERE / "api").glob("*.rst"):
    if page.stem.rpartition(".")[2] not in names:
        page.unlink()
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

# The page of a function of fk.plot shows the figure that its example draws.
plot_include_source = True
plot_formats = ["svg"]
plot_html_show_formats = plot_html_show_source_link = False
plot_pre_code = "import warnings; warnings.simplefilter('ignore')"  # small data, many warnings
plot_rcparams = {"figure.figsize": (6, 4), "figure.constrained_layout.use": True}

# Pages with code are executed when the site is built; the notebooks are shown as they are stored.
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_heading_slug_func = "conf.jupyter_anchor"
nb_execution_mode = "force"
nb_execution_excludepatterns = ["notebooks/*"]
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_code_prompt_show, nb_code_prompt_hide = "Show the code", "Hide the code"
nb_ipywidgets_js = {}  # a page asks no other host for anything

html_theme = "pydata_sphinx_theme"
html_title = "frkit"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_static_path = ["static"]
html_css_files = ["frkit.css"]
html_js_files = ["frkit.js"]
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"*": []}  # only the pages of functions and the course have siblings
html_show_sourcelink = False
html_math_renderer = "mathml"


def jupyter_anchor(heading):
    """Name a heading as JupyterLab does, so that links between notebooks lead there."""
    return heading.strip().replace(" ", "-")


def keep_bars(app, kind, name, obj, options, lines):
    """Show |N| as it is: in reStructuredText bars stand for a substitution."""
    for place, line in enumerate(lines):
        if line.strip() == "Examples":
            break
        lines[place] = line.replace("|", r"\|")


def draw_example(app, kind, name, obj, options, lines):
    """Make the example of a function of fk.plot a plot directive, which also shows the code."""
    if name.startswith("frkit.plot.") and "Examples" in lines:
        first = lines.index("Examples") + 2
        lines[first:] = [".. plot::", "", *("   " + line for line in lines[first:])]


def say_where(app, error):
    """Print the address of the first page, which is another one where only that was asked for."""
    page = Path(app.outdir) / f"{app.config.root_doc}.html"
    if not error and app.statuscode == 0 and page.exists():
        print(f"The documentation: {page.as_uri()}")


def inline_math(translator, node):
    """Write a formula as MathML, which browsers draw without a script."""
    translator.body.append(convert(node.astext()))
    raise SkipNode


def displayed_math(translator, node):
    """Write a formula on a line of its own as MathML."""
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="formula" tabindex="0">{formula}</div>')
    raise SkipNode


def setup(app):
    """Register what this file adds to Sphinx."""
    app.connect("autodoc-process-docstring", keep_bars, priority=400)  # before numpydoc
    app.connect("autodoc-process-docstring", draw_example, priority=401)
    app.connect("build-finished", say_where)
    app.add_html_math_renderer("mathml", (inline_math, None), (displayed_math, None))
