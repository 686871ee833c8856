"""The manual that comes with the package: each topic that messages name is found, and pages open."""

from __future__ import annotations

import os
import re
import webbrowser

import pytest

from rulelab.checking.advice.advices import KINDS
from rulelab.notebook import cli, docs, manual
from rulelab.notebook.displays import error_lines

NAMED = re.compile(r'read="([\w/-]+(?:#[\w-]+)?)"')


def test_what_errors_tell_to_read_is_found(repository):
    """Every `read="…"` of the package is a section."""
    sources = [path.read_text(encoding="utf-8") for path in (repository / "rulelab").rglob("*.py")]
    topics = {topic for text in sources for topic in NAMED.findall(text)}
    topics |= {f"howto/write-good-rules#{kind}" for kind in KINDS}
    topics -= {"howto/write-good-rules"}
    assert len(topics) > 20
    for topic in sorted(topics):
        assert manual.found(topic)[0].topic == topic


@pytest.mark.parametrize(
    "asked, page",
    [
        ("limitations", "limitations"),
        ("check-a-rule", "howto/check-a-rule"),
        ("howto/check-a-rule.md", "howto/check-a-rule"),
        ("rl.gradient", "reference/gradients"),
        ("rule_check()", "reference/checking"),
        ("softmax cross", "explanation/derived-code"),
        ("", "index"),
    ],
)
def test_a_topic_is_asked_for_as_one_thinks_of_it(asked, page):
    """A page, its last word, a public name, or words."""
    assert manual.found(asked)[0].page == page


def test_a_topic_that_is_not_there_is_told_with_what_is_near():
    """A slip of the finger is no dead end."""
    with pytest.raises(manual.NoPageError, match="did you mean limitations"):
        manual.found("limitatoins")
    with pytest.raises(manual.NoPageError) as nothing_near:
        manual.found("nosuchthing")
    assert "did you mean" not in str(nothing_near.value)


def test_the_pages_are_written_once(tmp_path):
    """All of them, with the anchors that messages name; old ones go."""
    (tmp_path / "manual-old").mkdir()
    made = manual.built(tmp_path)
    page = (made / "limitations.html").read_text(encoding="utf-8")
    assert 'id="array-mutation"' in page and "<script" not in page
    assert 'id="rulelab.gradient"' in (made / "reference" / "gradients.html").read_text(encoding="utf-8")
    assert 'id="zeros"' in (made / "howto" / "write-good-rules.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == [made.name]
    (made / "index.html").write_text("kept")
    assert (manual.built(tmp_path) / "index.html").read_text() == "kept"
    pages = {path.relative_to(made).as_posix() for path in made.rglob("*.html")}
    for path in sorted(made.rglob("*.html")):
        for link in re.findall(r'href="([^":#]+)(?:#[^"]*)?"', path.read_text(encoding="utf-8")):
            target = os.path.relpath(path.parent / link, made)
            assert target in pages, (path, link)


def test_no_page_shows_what_only_sphinx_reads(tmp_path):
    """Its pictures are there, with words for who cannot see them, and its cards are lists of links; in a
    terminal, too.
    """
    made = manual.built(tmp_path)
    for path in sorted(made.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        options = r":(?:alt|class|link|gutter|target)(?:-\w+)*:"
        assert not re.findall(rf":::|{options}|\{{(?:grid|image|toctree)[^}}]*\}}", page), path
        for picture in re.findall(r"<img [^>]*>", page):
            source = re.search(r'src="([^"]*)"', picture)[1]
            assert (path.parent / source).is_file() and not re.search(r'alt=""', picture), (path, picture)
    gallery = (made / "gallery" / "index.html").read_text(encoding="utf-8")
    assert '<a href="softmax.html">Softmax</a>: ' in gallery and "<title>Gallery · rulelab<" in gallery
    for name in manual.pages():
        shown = manual.for_terminal(manual.found(name)[0], 80)
        assert ":::" not in shown and ":link:" not in shown and "{image}" not in shown, name
        assert "(`%rule_docs" not in shown, name    # there it is a command that is typed


def test_a_section_fills_the_lines_of_a_terminal(monkeypatch):
    """As an answer of IPython too: paragraphs are filled anew, code is set in, and one asks for others
    with the magic.
    """
    from IPython.lib.pretty import pretty

    monkeypatch.setattr(manual, "width", lambda: 80)
    for topic in ("twin", "limitations#array-mutation", "no such words"):
        prose = [line for line in pretty(docs(topic)).split("\n") if not line.startswith("    ")]
        assert max(map(len, prose)) <= 80 and not any(line.startswith("```") for line in prose)
        assert not any("rulelab docs --text" in line for line in prose)
    monkeypatch.setattr(manual, "width", lambda: None)
    assert pretty(docs("twin")) == str(docs("twin"))


@pytest.fixture
def cached(tmp_path, monkeypatch):
    made = tmp_path / "manual"
    monkeypatch.setattr(manual, "built", lambda: made)
    return made


def test_docs_opens_a_browser_where_there_is_a_screen(cached, monkeypatch, capsys):
    """And prints where the page is, and how to read it here, where there is none."""
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(cli, "has_screen", lambda *_: True)
    assert cli.main(["docs", "limitations#syntax"]) == 0
    assert opened == [f"{cached.as_uri()}/limitations.html#syntax"] and capsys.readouterr().out == ""
    monkeypatch.setattr(cli, "has_screen", lambda *_: False)
    assert cli.main(["docs", "limitations#syntax"]) == 0
    out = capsys.readouterr().out
    assert opened[0] in out and "rulelab docs --text limitations#syntax" in out and len(opened) == 1


def test_docs_prints_a_section(capsys):
    """`--text` needs no browser."""
    assert cli.main(["docs", "--text", "limitations#syntax"]) == 0
    assert capsys.readouterr().out.startswith("## Syntax\n")
    assert cli.main(["docs", "limitatoins"]) == 2
    assert "did you mean limitations?" in capsys.readouterr().err


def test_a_section_is_shown_below_a_cell(notebook):
    """As Markdown, whose links lead to the same magic; what is not there is wrong use, told in a line."""
    shown = notebook.ok("%rule_docs limitations#array-mutation")
    assert shown.to_markdown().startswith("## Array mutation") and "](" not in shown.to_markdown()
    assert "<h2" in shown._repr_html_() and "href" not in shown._repr_html_()
    assert "%rule_docs" in notebook.ok("%rule_docs limitations").to_markdown()
    recipe = str(notebook.ok("%rule_docs softmax"))
    assert recipe.startswith("# Softmax") and "(Picture: Five scores" in recipe and "{term}" not in recipe
    assert "did you mean limitations?" in notebook.fails("%rule_docs limitatoins")


def test_an_error_in_a_notebook_says_what_opens_the_section(notebook, monkeypatch):
    """The magic, or the address where the server of this notebook shows the manual."""
    error = notebook.run("rl.gradient(addone, y)").error_in_exec
    assert "read: %rule_docs limitations#array-mutation" in error_lines(error)
    monkeypatch.setenv(manual.ADDRESS, "http://127.0.0.1:8888/rulelab/manual/")
    address = "http://127.0.0.1:8888/rulelab/manual/limitations.html#array-mutation"
    assert f"read: {address}" in error_lines(error)


LINTED = """\
%%rrule f
def f_rrule(x):
    return x**2, lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)"""


def test_advice_in_a_notebook_says_what_opens_the_section(notebook, monkeypatch):
    """A link where the server of this notebook shows the manual, the magic elsewhere."""
    notebook.ok("def f(x):\n    return x**2")
    notebook.ok(LINTED)
    shown = notebook.ok("%rule_lint f")
    assert "%rule_docs howto/write-good-rules#" in shown._repr_html_()
    monkeypatch.setenv(manual.ADDRESS, "http://127.0.0.1:8888/rulelab/manual/")
    assert '<a href="http://127.0.0.1:8888/rulelab/manual/howto/write-good-rules.html#' in shown._repr_html_()


def test_formulas_of_a_page_are_mathematics():
    """As everywhere: no TeX between dollars is left, and a formula that cannot be read is shown as it is."""
    shown = docs("gallery/softmax")._repr_html_()
    assert "<math" in shown and "mathrm" not in shown
    assert "<code>\\left(x</code>" in manual._markdown("index", r"the $\left(x$")


def test_a_table_is_laid_out_in_a_terminal():
    """In columns that fit, without the bars of Markdown; a bar in a cell is one."""
    row = "| `x \\| y` | joins the two of them, whatever they are |"
    text = f"## T\n\n| a | what it does |\n| --- | --- |\n{row}\n"
    shown = manual.for_terminal(manual.Section("p", "t", "T", text), 30)
    heads, rule, *rows = shown.split("\n")[2:]
    assert heads.split() == ["a", "what", "it", "does"] and not rule.strip("- ")
    assert rows[0].startswith("`x | y`  joins the two") and all(len(row) <= 30 for row in rows)


def test_the_glossary_is_filled_like_any_text():
    """Each term begins an item, and no line is wider than the terminal."""
    (glossary, *_) = manual.found("glossary")
    shown = manual.for_terminal(glossary, 60)
    assert "- **thunk**: " in shown and all(len(line) <= 60 for line in shown.split("\n"))


def test_a_section_that_does_not_exist_has_a_neighbour_on_its_page():
    """Not the page alone."""
    with pytest.raises(manual.NoPageError, match=r"did you mean limitations#syntax\?"):
        manual.found("limitations#syntx")
