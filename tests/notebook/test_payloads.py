"""Names, docstrings, keys, units and errors are shown as words, in every form, and never run."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from IPython.lib.pretty import pretty
from markdown_it import MarkdownIt

from rulelab.errors import printable
from rulelab.notebook.displays import Defined, Source, Stub, error_lines
from rulelab.notebook.pair import Listing, Words
from rulelab.tables import Page, Report, Table, engineering

from .payloads import WORDS, error, reports

TAGS = {
    "div", "style", "p", "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre",
    "span", "strong", "code", "img", "h3", "h4", "section", "br", "figure", "figcaption", "ol", "li", "dl",
    "dt", "dd",
    "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mphantom", "mover", "msup", "msub", "mfrac",
}  # fmt: skip
ATTRIBUTES = {
    "class", "scope", "alt", "src", "style", "role", "aria-label", "open", "colspan", "id", "tabindex",
    "data-label", "xmlns", "display", "stretchy", "fence", "form", "width", "mathvariant",
}  # fmt: skip
COMMANDS = re.compile(r"(?<!\\)(?:\\\\)*\\([a-zA-Z]+|[()\[\]])")
VERBATIM = re.compile(r"\\begin\{verbatim\}.*?\\end\{verbatim\}", re.S)
LATEX = {
    "begin", "end", "toprule", "midrule", "bottomrule", "textbackslash", "textasciitilde",
    "textasciicircum", "textless", "textgreater", "mu", "textbar", "texttt", "newline", "par",
    "ensuremath", "text", "mathrm", "bar",
}  # fmt: skip
WITH_FORMULAS = ("symbolic", "derivative")
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


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


def tokens(markdown):
    """What a reader of Markdown with tables makes of it."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for token in parser.parse(markdown):
        yield token
        yield from token.children or ()


def written(inline):
    """The words of a line as they are seen."""
    return "".join(token.content for token in inline.children if token.type in ("text", "code_inline"))


@pytest.fixture(scope="module", params=range(len(WORDS)), ids=[w[:24] for w in map(ascii, WORDS)])
def made(request, tmp_path_factory):
    """The word, and one of everything that is shown with it in, which takes a second."""
    word = WORDS[request.param]
    return word, reports(word, tmp_path_factory.mktemp("reports"))


@pytest.mark.every(13)
def test_html_has_our_tags_and_nothing_of_theirs(made):
    """Only the few elements and attributes we write ourselves; all nested as they should be."""
    for name, report in made[1].items():
        reader = read(report._repr_html_())
        assert reader.tags <= TAGS, name
        assert reader.attributes <= ATTRIBUTES, name
        assert all("display:none" not in style for style in reader.styles), name


@pytest.mark.every(7)
def test_html_shows_the_words(made):
    """Escaping loses nothing: who reads the page sees what the name is."""
    word, shown = made
    wanted = "".join(word.split())
    for name in ("rules", "refreshed", "source", "timings"):
        if "\x1b" not in word:
            assert wanted in "".join(read(shown[name]._repr_html_()).words.split()), name


@pytest.mark.every(7)
def test_formulas_in_names_are_not_typeset(made):
    """Every report tells MathJax to leave it alone."""
    for name, report in made[1].items():
        assert "tex2jax_ignore mathjax_ignore" in report._repr_html_(), name


@pytest.mark.every(7)
def test_latex_knows_our_commands_only(made):
    """No command from a name reaches LaTeX, and every brace that opens closes."""
    for name, report in made[1].items():
        latex = VERBATIM.sub("", report.to_latex())
        commands = set(COMMANDS.findall(latex))
        if name in WITH_FORMULAS:  # these have many commands of their own, none of them one of these
            assert not commands & {"href", "input", "write", "unicode", "require", "class", "end{document}"}
        else:
            assert commands <= LATEX, name
        assert latex.count("\\end{") == latex.count("\\begin{"), name
        bare = re.sub(r"\\[\\{}]", "", latex)
        assert bare.count("{") == bare.count("}"), name


@pytest.mark.every(7)
def test_markdown_has_no_html_and_no_links(made):
    """A reader of Markdown finds neither in it; pictures of our own are its only addresses."""
    for name, report in made[1].items():
        for token in tokens(report.to_markdown()):
            assert token.type not in ("html_block", "html_inline", "link_open"), (name, token)
            if token.type == "image":
                assert token.attrs["src"].startswith("data:image/png;base64,"), name


def test_a_fence_around_source_cannot_be_closed_from_within():
    """However many backticks the source has."""
    markdown = Source('x = """\n```\n<b>\n````\n"""\n').to_markdown()
    fence = re.match(r"`{3,}", markdown)[0]
    assert len(fence) > 4 and markdown.rstrip().endswith(fence)


@pytest.mark.every(7)
def test_every_page_of_the_panel_can_be_made(made):
    """A name that is no formula and too long for a legend does not cost a picture or a page."""
    overview = made[1]["overview"]
    assert "could not be made" not in str(overview)
    assert str(overview).count("[picture: ") == 3  # both over each other, the distribution, against N


@pytest.mark.every(7)
def test_json_reads_back(made):
    """Whatever the names are."""
    for name, report in made[1].items():
        assert isinstance(json.loads(report.to_json()), (dict, list, str)), name


@pytest.mark.every(7)
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


FRAGMENTS = (
    *WORDS, "<", ">", "&", "&amp;", '"', "'", "|", "\\|", "\\", "`", "``", "$", "$$", "{", "}", "#", "_", "*",
    "~", "[", "](", "---", "\n", "\r", "\r\n", "\t", " ", "\x00", "\x1b[2J", "\x85", "\x0c", "\x1c", "\u2028",
    "\u2029", "\u200f", "\u202e", "\ud800", "\udfff", "\ue000", "\ufeff", "é", "語", "😀", "\\begin{x}",
    "\\\\(", "]]>", "-->", "w" * 400,
)  # fmt: skip
PARTS = st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=8), st.characters())
HOSTILE = st.lists(PARTS, max_size=6).map("".join)


class Anything(Report):
    """A report of the words it is given, in every place there is."""

    def __init__(self, words):
        lead, note, caption, a, b, *cells = words
        rows = tuple(zip(cells[::2], cells[1::2]))
        self.table = Table(caption, (a, b), rows, verbatim=(b,))
        self.shown = Page((lead,), (self.table, Table(b, (b, a), rows, folded=True)), (note,))
        self.words = words

    def page(self):
        return self.shown

    def to_dict(self):
        return {"words": list(self.words), **dict.fromkeys(self.words, float("nan"))}


REPORTS = st.lists(HOSTILE, min_size=9, max_size=9).map(Anything)

INDENTED = example(Anything(["", "", "", "", " *", "", " [", "", "\xa0 *"]))  # as the words of a program are


def BROKEN(test):
    return INDENTED(example(Anything(["\ud800", "$x$", "\\|", "|", "[", "[1]", "*", "a\nb", "\ue000"]))(test))


@pytest.mark.slow
@given(REPORTS)
@BROKEN
def test_any_words_make_a_table_of_html(report):
    """Well formed, of our elements only, and what is read in the cells is what was put in."""
    html = report._repr_html_()
    html.encode()
    reader = read(html)
    assert reader.tags <= TAGS and reader.attributes <= ATTRIBUTES
    assert html.count("<tr>") == 2 * 3 and html.count("<td") + html.count("<th") >= 2 * 6
    for word in report.words:
        shown = ("".join(text.split()) for text in (printable(word), reader.words))
        in_lines = word in report.words[:2]  # in which what stands in backticks is code, without them
        word, all_of_it = (text.replace("`", "") for text in shown) if in_lines else shown
        assert word in all_of_it


@given(REPORTS)
@BROKEN
def test_any_words_make_a_table_of_markdown(report):
    """Neither bars nor ends of lines add a cell or a row, nothing is typeset, and the words can be read."""
    found = list(tokens(report.to_markdown()))
    report.to_markdown().encode()
    kinds = [token.type for token in found]
    assert not {"html_block", "html_inline", "link_open", "image", "em_open", "s_open"} & set(kinds)
    assert kinds.count("table_open") == 2 and kinds.count("tr_open") == 2 * 3
    assert kinds.count("th_open") + kinds.count("td_open") == 2 * 6
    cells = [written(after) for before, after in pairwise(found) if before.type in ("th_open", "td_open")]
    expected = [*report.table.columns, *(cell for row in report.table.rows for cell in row)]
    for cell, word in zip(cells, expected):
        assert bare(cell) == bare(word)
    for cell in found:
        if cell.type == "text":
            assert "$" not in cell.content and "\\" not in cell.content


def bare(word):
    """A word without what a table may lay out otherwise: its spaces."""
    return "".join(printable(word).replace("\ue000", "\ufffd").split())


@given(REPORTS)
@BROKEN
def test_any_words_make_balanced_latex(report):
    """No command of theirs, every brace and environment closed, no row that LaTeX would read otherwise."""
    latex = report.to_latex()
    latex.encode()
    assert set(COMMANDS.findall(latex)) <= LATEX
    assert latex.count("\\begin{tabular}{ll}") == latex.count("\\end{tabular}") == 2
    braces = re.sub(r"\\[\\{}]", "", latex)
    depth = 0
    for brace in re.findall("[{}]", braces):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"(\\\\|rule)\s*[\[*]", latex)
    rows = [line for line in latex.splitlines() if line.endswith("\\\\")]
    assert len(rows) == 2 * 3
    assert all(len(re.findall(r"(?<!\\)&", row)) == 1 for row in rows)


@given(REPORTS)
@BROKEN
@example(Anything([*[""] * 8, "\ud800\udfff"]))
def test_any_words_make_plain_text_and_json(report):
    """A row is a line, nothing reaches the terminal, and JSON gives back what it was given."""
    text = pretty(report)
    text.encode()
    assert not ACTING.search(text)
    assert len(report.table.text().split("\n")) == 3 + len(report.table.rows)
    assert json.loads(report.to_json())["words"] == [joined(word) for word in report.words]


def joined(word):
    """As JSON has it, which writes what is beyond 65535 as two halves: those that stand together are one."""
    return word.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@given(HOSTILE, HOSTILE, st.sampled_from(["s", "B", ""]))
@example("\ud800", "\ud800", "s")
def test_any_words_are_words_everywhere(a, b, unit):
    """Sources, listings, sentences, errors and units: in each face as they are, and never a crash."""
    shown = [Source(a), Stub(a, b), Words(a), Listing(a, b, (1,), a), Defined(a, b, a, b, (a,))]
    for report in shown:
        assert read(report._repr_html_()).tags <= TAGS
        assert not ACTING.search(pretty(report))
        for face in ("to_markdown", "to_latex"):
            if hasattr(report, face):
                getattr(report, face)().encode()
    for face in (shown[0], shown[1]):
        (fence,) = tokens(face.to_markdown())
        assert fence.type == "fence" and fence.info == "python"
    lines = error_lines(error(a))
    assert len(lines) <= 6 and not ACTING.search("".join(lines)) and "\n" not in "".join(lines)
    assert engineering(2.0, unit + a) == f"2 {unit}{a}"


@pytest.mark.slow
def test_no_report_is_left_out(made):
    """A new one is to be made of hostile words, too: by itself, or on a page of the panel."""
    word, shown = made
    within = {"Times", "Shapes", "FirstGradients"}  # parts of pages of the panel
    # What our own manual says, a mapping of somebody's own keys and gradients, what tuples have in common.
    own = {"Shown", "Grads", "_TupleShown"}
    tried = {type(report).__name__ for report in shown.values()} | within | own
    every = {one.__name__ for one in _below(Report) if one.__module__.startswith("rulelab.")}
    assert every <= tried


def _below(cls):
    for one in cls.__subclasses__():
        yield one
        yield from _below(one)
