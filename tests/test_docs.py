"""The manual: every public name is in it, its pages run, and nothing is fetched when it is read."""

from __future__ import annotations

import html
import importlib.util
import inspect
import json
import math
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import rulelab
from rulelab.checking.advice.advices import KINDS

READ = re.compile(r'read="(\w+)#([\w-]+)"')
DOCUMENTED = re.compile(r"^\.\. (?:auto\w+|py:data):: ([\w.]+)$", re.MULTILINE)
FETCHED = re.compile(
    r"<(?:script|img|iframe|source|embed)\b[^>]*?\ssrc=\"([^\"]*)\"|<link\b[^>]*?\shref=\"([^\"]*)\""
)
IN_STYLES = re.compile(r"(?:url\(|@import )\s*[\"']?((?:https?:)?//[^\"')\s]+)")
ELSEWHERE = re.compile(r"(?:https?:)?//")
SUBPACKAGES = ("bench", "checking", "symbolic", "notebook")
# Called by IPython alone; their example is `%load_ext rulelab`.
WITHOUT_EXAMPLE = {"load_ipython_extension", "unload_ipython_extension"}


def public_names() -> list[str]:
    """What `rulelab` offers: not its packages, not what begins with an underscore."""
    offered = ((name, getattr(rulelab, name)) for name in dir(rulelab) if name[0] != "_")
    return sorted(name for name, value in offered if not isinstance(value, types.ModuleType))


def reference(repository: Path) -> str:
    return "\n".join(
        page.read_text(encoding="utf-8") for page in sorted((repository / "docs" / "reference").glob("*.md"))
    )


def test_every_public_name_is_in_the_reference(repository):
    """What `import rulelab` offers can be looked up, once."""
    named = [name for name in DOCUMENTED.findall(reference(repository)) if "." not in name]
    assert set(public_names()) - set(named) == set(), "no page in docs/reference has these"
    assert sorted(named) == public_names(), "docs/reference has a name twice, or one that is gone"


def test_every_error_is_in_the_reference(repository):
    """Whatever may be raised can be looked up, also where `rulelab` itself does not offer the class."""
    named = {name.rpartition(".")[2] for name in DOCUMENTED.findall(reference(repository))}
    classes = [value for value in vars(rulelab.errors).values() if isinstance(value, type)]
    assert {cls.__name__ for cls in classes if issubclass(cls, rulelab.RuleLabError)} <= named


EXPORTED_BY_ZYGOTE = (
    "Params withgradient gradient withjacobian jacobian hessian diaghessian pullback pushforward "
    "@code_adjoint rrule_via_ad"
).split()


def test_the_table_of_zygotes_interface(repository):
    """It has each name that Zygote exports, and each of ours in it is one that `rulelab` offers."""
    page = (repository / "docs" / "coming-from" / "zygote.md").read_text(encoding="utf-8")
    theirs = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| "))
    assert [name for name in EXPORTED_BY_ZYGOTE if f"`{name}" not in theirs] == []
    ours = set(re.findall(r"\brl\.(\w+)", page))
    assert ours <= set(public_names())


@pytest.mark.parametrize("name", SUBPACKAGES)
def test_every_subpackage_is_in_the_reference(name, repository):
    """Its page lists all that it offers, also what is added tomorrow."""
    assert f".. automodule:: rulelab.{name}\n   :members:\n" in reference(repository)


@pytest.mark.parametrize("name", public_names())
def test_a_docstring_says_what_it_means(name):
    """The first line is a sentence on its own; a function has an example, which the tests run."""
    value = getattr(rulelab, name)
    text = inspect.getdoc(value) or ""
    first = text.split("\n\n")[0]
    assert len(first.split()) >= 4 and re.search(r"[.:)]$", first), first
    if isinstance(value, types.FunctionType) and name not in WITHOUT_EXAMPLE:
        assert ">>>" in text


@pytest.mark.parametrize("name", SUBPACKAGES)
def test_what_a_subpackage_offers_has_docstrings(name):
    """One sentence at least, for each function and class, and their public methods."""
    package = importlib.import_module(f"rulelab.{name}")
    assert inspect.getdoc(package)
    for public in getattr(package, "__all__", ()):
        assert len((inspect.getdoc(getattr(package, public)) or "").split()) >= 4, public


def test_the_manual_builds_without_a_warning(manual):
    """Every link, term and docstring is in order: `-W` makes an error of each warning."""
    assert (manual / "index.html").is_file()


def test_every_notebook_is_in_the_manual(manual, repository):
    """A notebook put into `notebooks` is part of the tutorial, with no other page to be changed."""
    tutorial = (manual / "tutorial" / "index.html").read_text(encoding="utf-8")
    for notebook in (repository / "notebooks").glob("*.ipynb"):
        assert f'href="notebooks/{notebook.stem}.html"' in tutorial


def extension(repository: Path, name: str):
    """A module of docs/extensions, which is no package."""
    path = repository / "docs" / "extensions" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_table_that_scrolls_has_a_name(repository):
    """Tab stops at it, and whoever hears the page is told where they are; no two on a page are alike."""
    module = extension(repository, "tables_named")
    title, box = 'Exit <code class="docutils">codes</code> &amp; more', module.CONTAINER
    heading = f'<h2>{title}<a class="headerlink" href="#e">#</a></h2>'
    body = module.named(f"{box}{heading}{box}{box}<p>{box}")
    labels = [html.unescape(label) for label in re.findall(r'role="region" aria-label="([^"]*)"', body)]
    said = "Table: Exit codes & more"
    assert labels == ["Table", said, f"{said} (2)", f"{said} (3)"]
    assert heading in body and body.count("<div") == 4


def test_every_column_has_a_header(repository):
    """A table that is heard has no column without a word above it."""
    found = []
    for page in sorted((repository / "docs").rglob("*.md")):
        lines = page.read_text(encoding="utf-8").splitlines()
        for number, (line, below) in enumerate(zip(lines, lines[1:], strict=False), 1):
            if re.fullmatch(r"\|(?: ?:?-+:? ?\|)+", below) and re.search(r"\|\s*\|", line):
                found.append(f"{page.relative_to(repository).as_posix()}, line {number}: {line}")
    assert found == []


def test_a_notebook_that_is_gone_leaves_the_manual(repository, tmp_path):
    """The tutorial has the notebooks that there are, as they are, and no others."""
    module = extension(repository, "mirror")
    source, target = tmp_path / "notebooks", tmp_path / "tutorial"
    source.mkdir()
    (source / "01.ipynb").write_text("one")
    (source / "02.ipynb").write_text("two")
    module.mirror(source, target)
    (source / "01.ipynb").unlink()
    (source / "02.ipynb").write_text("new")
    module.mirror(source, target)
    assert {path.name: path.read_text() for path in target.iterdir()} == {"02.ipynb": "new"}


def test_the_tutorial_is_not_copied_through_links(repository, tmp_path):
    """A link among the notebooks cannot put somebody's other file into the manual, nor be written through."""
    module = extension(repository, "mirror")
    source, target, theirs = tmp_path / "notebooks", tmp_path / "tutorial", tmp_path / "theirs"
    source.mkdir()
    target.mkdir()
    theirs.write_text("theirs")
    (source / "01.ipynb").write_text("one")
    (target / "01.ipynb").symlink_to(theirs)
    module.mirror(source, target)
    assert (target / "01.ipynb").read_text() == "one" and theirs.read_text() == "theirs"
    (source / "02.ipynb").symlink_to(theirs)
    with pytest.raises(OSError):
        module.mirror(source, target)
    assert not (target / "02.ipynb").exists()


def test_the_body_of_a_rule_cell_is_in_colour(manual):
    """A `%%rrule` cell is Python below its first line, and looks it."""
    page = (manual / "tutorial" / "three-cells.html").read_text(encoding="utf-8")
    cell = page[page.index("%%rrule mse_cr") :][:400]
    assert '<span class="k">def</span>' in cell


def test_what_errors_tell_to_read_is_there(manual, repository):
    """`read: limitations#syntax` is the section #syntax of limitations.html."""
    sources = [path.read_text(encoding="utf-8") for path in (repository / "rulelab").rglob("*.py")]
    places = {place for text in sources for place in READ.findall(text)}
    assert ("limitations", "array-mutation") in places
    for page, anchor in sorted(places):
        assert f'id="{anchor}"' in (manual / f"{page}.html").read_text(encoding="utf-8"), f"{page}#{anchor}"


def test_every_advice_has_its_section(manual):
    """`read: howto/write-good-rules#zeros` leads somewhere."""
    page = (manual / "howto" / "write-good-rules.html").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f'id="{kind}"' not in page] == []


def test_a_name_leads_from_the_index_to_its_page(manual):
    """The general index knows the names, as they are called."""
    index = (manual / "genindex.html").read_text(encoding="utf-8")
    for name in ("gradient", "rrule_for", "MutationError", "ProjectTo"):
        assert re.search(rf'href="reference/\w+\.html#rulelab\.{name}"', index), name


def test_nothing_is_fetched_when_a_page_is_read(manual):
    """No script, style, picture or font comes from elsewhere: the manual can be read without a network."""
    pages = sorted(manual.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        text = page.read_text(encoding="utf-8")
        fetched = [html.unescape(a or b) for a, b in FETCHED.findall(text)]
        assert [address for address in fetched if ELSEWHERE.match(address)] == [], page.name
    for style in manual.rglob("*.css"):
        assert IN_STYLES.findall(style.read_text(encoding="utf-8")) == [], style.name


def test_formulas_are_set_without_a_script(manual):
    """They are MathML, which browsers set themselves, and no TeX is left standing in the text."""
    page = (manual / "explanation" / "compiler.html").read_text(encoding="utf-8")
    assert page.count("<math") >= 5
    assert "\\bar" not in page


@pytest.mark.parametrize(
    "expression", ["math.sqrt(x) / (1 + x**2)", "math.exp(-x * x) * math.log(x)", "abs(x) ** 1.5"]
)
def test_formulas_that_a_cell_shows_are_set(expression):
    """What SymPy finds stands in the manual as mathematics, not as TeX between dollars."""
    from rulelab.symbolic import prove

    space: dict = {"math": math}
    exec(f"def f(x): return {expression}\ndef rule(x): return f(x), lambda y_bar: (None, y_bar)", space)
    shown = prove(space["f"], space["rule"])._repr_html_()
    assert shown.count("<math") >= 4 and "$" not in shown


GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
RECIPES = sorted(path.stem for path in GALLERY.glob("*.md") if path.stem != "index")


def test_the_gallery_has_twenty_recipes_and_their_pictures():
    """A card for each page and a page for each card, with pictures that are small."""
    cards = re.findall(r"^:link: (.+)$", (GALLERY / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    pictures = sorted((GALLERY / "thumbnails").iterdir())
    assert sorted(cards) == RECIPES and len(RECIPES) >= 20
    assert [path.name for path in pictures] == [f"{name}.svg" for name in RECIPES]
    assert sum(path.stat().st_size for path in pictures) < 400_000


def test_pictures_of_the_gallery_are_those_of_the_script(tmp_path):
    """The script draws each recipe, and the same at every run: no date and no random name is in a file."""
    path = GALLERY / "thumbnails.py"
    specification = importlib.util.spec_from_file_location("thumbnails", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert sorted(module.DRAWN) == RECIPES
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        module.save("softmax", tmp_path / folder)
    first, second = ((tmp_path / folder / "softmax.svg").read_bytes() for folder in ("first", "second"))
    assert first == second and b"<svg" in first


TERMINALS = Path(__file__).parents[1] / "docs" / "images"


def lines_of(picture: str) -> list[str]:
    """The lines of a picture of a terminal, without its colours, the time it took and the last digits."""
    marked = re.findall("<text [^>]*>(.*)</text>", picture)
    rows = [re.sub(r"\b[\d.]+ m?s$", "", html.unescape(re.sub("<[^>]*>", "", row))) for row in marked]
    return [re.sub(r"\b(\d+\.\d{5})\d+|\b\de-\d+", r"\1", row) for row in rows]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such terminal")
@pytest.mark.parametrize("name", ["terminal-check", pytest.param("terminal-session", marks=pytest.mark.rest)])
def test_pictures_of_terminals_are_what_is_printed_now(name):
    """A reader who types the same sees the same, within 80 columns; seconds aside."""
    path = TERMINALS / "terminals.py"
    specification = importlib.util.spec_from_file_location("terminals", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    kept = lines_of((TERMINALS / f"{name}.svg").read_text(encoding="utf-8"))
    assert kept == lines_of(module.picture(name))
    assert len(kept) > 15 and max(map(len, kept)) <= module.COLUMNS


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_whole(name):
    """The function, its rule, the verdict, the gradient beside differences, and what it saves."""
    page = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
    assert re.search(r"^>>> @rl\.rrule_for\(", page, re.MULTILINE)
    assert "rl.rule_check(" in page and ".verdict\n'right'\n" in page
    assert "fd_gradient(" in page and "np.allclose(" in page
    assert "## When it pays" in page and "| times as fast with the rule |" in page


BANNED = (
    "gone is", "what is taken", "rules of the house", "house's rules", "of the good one", "advices",
    "inside of", "is handed", "are handed", "hands it", "nobody asks", "as they stand", "has the words",
    "may stand in", "commonest", "takes nobody", "an index says", "made anew", "without a word",
    "says nothing of", "asked with", "gives to who", "who gives", "beside it lies", "brings the magics",
    "in words of its own",
)  # fmt: skip
READ_BY_USERS = (
    "*", "howto/*", "tutorial/*", "gallery/*", "explanation/*", "coming-from/*", "reference/*", "design/*",
)  # fmt: skip


def prose(text: str) -> str:
    """A page without its code, in one line and in small letters."""
    without_code = re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)
    return " ".join(without_code.lower().split())


def glossary(repository: Path) -> list[str]:
    """The terms of the glossary, in its order."""
    text = (repository / "docs/glossary.md").read_text(encoding="utf-8")
    return re.findall(r"^(\w[\w -]*)\n  \S", text, re.MULTILINE)


def test_the_glossary_has_the_words_we_use(repository):
    """In order, each of them on a page or in a message, and a link to it from the front page."""
    terms = glossary(repository)
    assert len(terms) > 40 and terms == sorted(terms, key=str.lower)
    assert "(glossary.md)" in (repository / "docs/index.md").read_text(encoding="utf-8")
    pages = [path for path in (repository / "docs").rglob("*.md") if path.name != "glossary.md"]
    package = [*(repository / "rulelab").rglob("*.py")]
    used = " ".join(path.read_text(encoding="utf-8").lower() for path in (*pages, *package))
    assert not [term for term in terms if not re.search(rf"\b{re.escape(term.lower())}s?\b", used)]


@pytest.mark.parametrize("pattern", READ_BY_USERS)
def test_pages_are_plain_english(pattern, repository):
    """Turns of phrase that readers stumbled over do not come back."""
    found = [
        f"{page.name}: {phrase}"
        for page in sorted((repository / "docs").glob(f"{pattern}.md"))
        for phrase in BANNED
        if phrase in prose(page.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_notebooks_are_plain_english(repository):
    """Neither do they in the texts of notebooks."""
    found = [
        f"{path.name}: {phrase}"
        for path in sorted((repository / "notebooks").glob("*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for phrase in BANNED
        if cell["cell_type"] == "markdown" and phrase in prose("".join(cell["source"]))
    ]
    assert found == []


def code_cells(page: Path):
    """The notebook that a page with code cells is."""
    from myst_nb.core.read import read_myst_markdown_notebook

    return read_myst_markdown_notebook(page.read_text(encoding="utf-8"))


def run(notebook, folder: Path) -> list[str]:
    """What each code cell shows as plain text, after a run in a fresh kernel; an error fails."""
    from nbclient import NotebookClient

    where = {"metadata": {"path": str(folder)}}
    # A busy kernel sends what is printed in pieces: they are joined.
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=where, coalesce_streams=True
    )
    client.execute()
    return ["\n".join(map(plain, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"]


def plain(output) -> str:
    return output["text"] if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")


@pytest.mark.slow
def test_the_first_rule_takes_three_cells(repository, tmp_path):
    """From install to the first rule compared and timed: three cells, and each does what the page says. The
    same cells run in the kernel of `tests/notebook/test_kernel.py`.
    """
    pytest.importorskip("myst_nb")
    shown = run(code_cells(repository / "docs" / "tutorial" / "three-cells.md"), tmp_path)
    assert len(shown) == 3
    assert "mse_cr, a copy of mse, now has the rule" in shown[1]
    timed = ("Time of one call", "Nothing timed yet")  # by a machine that has no second for a first look
    assert "mse and mse_cr agree" in shown[2] and any(words in shown[2] for words in timed)


def test_the_miniature_compiler_is_right(repository, tmp_path):
    """On the page about the compiler, the miniature's gradient is that of rulelab; it stays a miniature."""
    pytest.importorskip("myst_nb")
    notebook = code_cells(repository / "docs" / "explanation" / "compiler.md")
    shown = run(notebook, tmp_path)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    lines = [line for source in sources[:2] for line in source.splitlines() if line.strip()]
    assert len(lines) <= 80
    ours, theirs = shown[3].strip().splitlines()
    numbers = [[float(n) for n in re.findall(r"\d+\.\d+", line)] for line in (ours, theirs)]
    assert len(numbers[0]) == 3 and numbers[0] == pytest.approx(numbers[1], rel=1e-12)
    assert "def polynomial_pullback(y_bar)" in shown[4]
    assert "cube_at(cube, x)(x)" in shown[5]


NOTEBOOKS = sorted(Path(__file__).parents[1].glob("notebooks/*.ipynb"))


@pytest.mark.campaign  # each is executed in tests/notebook, and an export is read in tests/browser
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_an_exported_notebook_can_be_read_without_a_network(notebook, tmp_path):
    """Text, tables and pictures are in the file; what it asks for are two scripts, that it can do without."""
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "--output-dir", str(tmp_path)]
    done = subprocess.run(
        [*command, "--ExecutePreprocessor.timeout=300", str(notebook)],
        env=os.environ | {"RULELAB_WIDGETS": "0"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / f"{notebook.stem}.html").read_text(encoding="utf-8")
    fetched = [html.unescape(a or b) for a, b in FETCHED.findall(page)]
    elsewhere = [address for address in fetched if ELSEWHERE.match(address)]
    assert len(elsewhere) <= 2 and all(re.search(r"(?i)mathjax|require", address) for address in elsewhere)
    assert all(a.startswith("data:") for a in re.findall(r"<img\b[^>]*?\ssrc=\"([^\"]*)\"", page))
    assert IN_STYLES.findall(page) == []
    assert "jp-OutputArea-output" in page and "application/vnd.jupyter.widget-view" not in page
