"""Names, docstrings, keys, units and errors are shown as words, in every form, and never run."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from IPython.lib.pretty import pretty

from rulelab.notebook.displays import error_lines
from rulelab.tables import engineering

from .payloads import WORDS, error, reports

TAGS = {
    "div", "style", "p", "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre",
    "span", "strong", "code", "img", "h3", "h4", "section", "br",
}  # fmt: skip
ATTRIBUTES = {"class", "scope", "alt", "src", "style", "role", "aria-label", "open", "colspan", "id"}
COMMANDS = re.compile(r"(?<!\\)(?:\\\\)*\\([a-zA-Z]+|[()\[\]])")
VERBATIM = re.compile(r"\\begin\{verbatim\}.*?\\end\{verbatim\}", re.S)
LATEX = {
    "begin", "end", "toprule", "midrule", "bottomrule", "textbackslash", "textasciitilde",
    "textasciicircum", "textless", "textgreater", "mu", "textbar", "texttt", "newline", "par",
    "ensuremath",
}  # fmt: skip


ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")


class Reader(HTMLParser):
    """Notes every tag and attribute, and the words between."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.words, self.styles = set(), set(), "", []
        self.open = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        for name, value in attrs:
            if name == "src":
                assert value.startswith("data:image/png;base64,"), value[:60]
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "a tag was closed that was not the one open"

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.styles.append(data)
        else:
            self.words += data


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


@pytest.fixture(scope="module", params=range(len(WORDS)), ids=[w[:24] for w in map(ascii, WORDS)])
def made(request, tmp_path_factory):
    """The word, and one of everything that is shown with it in."""
    word = WORDS[request.param]
    return word, reports(word, tmp_path_factory.mktemp("reports"))


def test_html_has_our_tags_and_nothing_of_theirs(made):
    """Only the few elements and attributes we write ourselves; all nested as they should be."""
    for name, report in made[1].items():
        reader = read(report._repr_html_())
        assert reader.tags <= TAGS, name
        assert reader.attributes <= ATTRIBUTES, name
        assert all("display:none" not in style for style in reader.styles), name


def test_html_shows_the_words(made):
    """Escaping loses nothing: who reads the page sees what the name is."""
    word, shown = made
    wanted = "".join(word.split())
    for name in ("rules", "refreshed", "source", "timings"):
        if "\x1b" not in word:
            assert wanted in "".join(read(shown[name]._repr_html_()).words.split()), name


def test_formulas_in_names_are_not_typeset(made):
    """Every report tells MathJax to leave it alone."""
    for name, report in made[1].items():
        if name != "symbolic":  # which has formulas, and names only within them and in code
            assert "tex2jax_ignore mathjax_ignore" in report._repr_html_(), name


def test_latex_knows_our_commands_only(made):
    """No command from a name reaches LaTeX, and every brace that opens closes."""
    for name, report in made[1].items():
        latex = VERBATIM.sub("", report.to_latex())
        commands = set(COMMANDS.findall(latex))
        if name == "symbolic":  # formulas have many commands of their own, none of them one of these
            assert not commands & {"href", "input", "write", "unicode", "require", "class", "end{document}"}
        else:
            assert commands <= LATEX, name
        assert latex.count("\\end{") == latex.count("\\begin{"), name
        bare = re.sub(r"\\[\\{}]", "", latex)
        assert bare.count("{") == bare.count("}"), name


def test_markdown_has_no_html_and_no_links(made):
    """Shown as they are by any Markdown reader: every bracket and angle of theirs is escaped."""
    for name, report in made[1].items():
        markdown = report.to_markdown()
        if name in ("source", "stub"):
            continue  # one fenced block; checked below
        assert not re.search(r"(?<!\\)<", markdown), name
        assert not re.search(r"(?<!\\)\]\(", markdown), name


def test_a_fence_around_source_cannot_be_closed_from_within():
    """However many backticks the source has."""
    from rulelab.notebook.displays import Source

    markdown = Source('x = """\n```\n<b>\n````\n"""\n').to_markdown()
    fence = re.match(r"`{3,}", markdown)[0]
    assert len(fence) > 4 and markdown.rstrip().endswith(fence)


def test_json_reads_back(made):
    """Whatever the names are."""
    for name, report in made[1].items():
        assert isinstance(json.loads(report.to_json()), (dict, list, str)), name


def test_text_sends_nothing_to_the_terminal(made):
    """No escape sequence, no bell, nothing that turns the direction of the text reaches a terminal."""
    for name, report in made[1].items():
        assert not ACTING.search(pretty(report)), name


@pytest.mark.parametrize("word", WORDS, ids=[w[:24] for w in map(ascii, WORDS)])
def test_errors_are_words_in_at_most_six_lines(word):
    """What a message quotes cannot add lines or reach the terminal."""
    lines = error_lines(error(word))
    assert len(lines) <= 6
    assert not ACTING.search("".join(lines)) and "\n" not in "".join(lines)


@pytest.mark.parametrize("unit", WORDS[:3])
def test_a_unit_is_a_word_too(unit):
    """A number with a hostile unit is still one line of text, which the page escapes."""
    assert engineering(2.0, unit) == f"2 {unit}"
