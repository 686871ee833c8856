"""How Sphinx builds the manual: `make docs`."""

import hashlib
import importlib
import inspect
import os
import sys
from pathlib import Path

import rulelab

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))


def of_the_package() -> str:
    """A short name for the package as it is now: outputs made by another one are made anew."""
    digest = hashlib.sha256()
    for path in sorted(Path(rulelab.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


project = "rulelab"
author = "The rulelab authors"
project_copyright = author
version = release = rulelab.__version__

extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb", "sphinx_copybutton", "sphinx_design",
    "mirror", "mathml", "code_shown", "tables_named",
]  # fmt: skip
exclude_patterns = ["_build"]
# A group of pages may have no more than those that it names, and some pages are generated.
suppress_warnings = ["toc.empty_glob"]

# Reference. Docstrings are prose with `code` in backticks; what they say of types, they say in words.
default_role = "code"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
add_module_names = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]    # as parameters are shown, and without links

# Pages and notebooks.
myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "docs" / "executed" / of_the_package())
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True
nb_ipywidgets_js = {}  # no script from elsewhere: panels come out as tables

# What the button on a block of code copies: the code, without prompts and without what it prints.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# HTML. Nothing is fetched when a page is read: the theme brings its fonts, formulas are MathML.
html_theme = "pydata_sphinx_theme"
html_title = "rulelab"
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_show_search_summary = False  # a page opened from a file may not fetch others
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "gallery/index": [], "glossary": [], "changelog": []}  # pages without sisters
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_theme_options = {
    "logo": {"text": "rulelab"},
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}


def setup(app):
    """The kernels that run the notebooks inherit these; not set when this file is merely imported."""
    os.environ["RULELAB_WIDGETS"] = "0"
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    os.environ["IPYTHONDIR"] = str(ipython_folder(HERE.parent / "build" / "docs" / "ipython"))
    app.connect("autodoc-process-signature", without_inherited_signature)
    app.connect("builder-inited", with_options_as_written)


def with_options_as_written(app):
    """A signature of the manual ends in `**options`, as its source does, which autodoc reads the defaults in.
    What Tab shows in their place is listed below it.
    """
    for part in ("", ".checking", ".portability"):
        package = importlib.import_module("rulelab" + part)
        for function in (getattr(package, name) for name in package.__all__):
            written = inspect.unwrap(function) if callable(function) else None
            if "options" in getattr(getattr(written, "__code__", None), "co_varnames", ()):
                vars(function).pop("__signature__", None)


def without_inherited_signature(app, what, name, thing, options, signature, returns):
    """Errors are all made alike; the page says so once, at the class that they share."""
    return ("", None) if what == "exception" and signature and "__init__" not in vars(thing) else None


def ipython_folder(folder):
    """An IPython folder of the manual's own: no reader's start-up files, no remarks about the transport."""
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 'ERROR'\n")
    return folder
