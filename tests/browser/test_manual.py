"""The manual and an exported notebook, opened in a browser that has no network."""

from __future__ import annotations

import os
import subprocess
import sys
from urllib.parse import quote

import pytest

from tests.notebook.payloads import WORDS

from .test_panel import violations

pytestmark = pytest.mark.browser

PAGES = {
    "index.html": "A bench for derivative rules",
    "gallery/index.html": "One sum instead of a Jacobian",
    "gallery/cox.html": "times as fast with the rule",
    "tutorial/notebooks/01-a-rule-in-a-cell.html": "Automatic differentiation needs to know",
    "howto/write-a-rule.html": "softplus_pullback",
    "explanation/compiler.html": "A miniature that runs",
    "reference/gradients.html": "withgradient",
}


class Reader:
    """A page in a browser without a network, with notes of what it asked for and what went wrong."""

    def __init__(self, browser, scheme: str = "light"):
        self.context = browser.new_context(offline=True, color_scheme=scheme)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))

    def read(self, file) -> str:
        """The text that is seen."""
        self.page.goto(file.as_uri(), wait_until="load")
        return self.page.locator("body").inner_text()

    @property
    def elsewhere(self) -> list[str]:
        return [address for address in self.asked if not address.startswith(("file:", "data:", "blob:"))]


@pytest.fixture
def reader(browser):
    """A function that opens a reader, in light or dark."""
    opened = []

    def open_reader(scheme: str = "light") -> Reader:
        opened.append(Reader(browser, scheme))
        return opened[-1]

    yield open_reader
    for one in opened:
        one.context.close()


@pytest.mark.parametrize(
    "scheme",
    [pytest.param("light", marks=pytest.mark.slow), pytest.param("dark", marks=pytest.mark.campaign)],
)
def test_the_manual_is_read_without_a_network(reader, manual, scheme):
    """Pages show their text and their formulas, in light and dark, and nothing is asked of anybody."""
    one = reader(scheme)
    for name, words in PAGES.items():
        assert words in one.read(manual / name)
        assert one.page.evaluate("document.documentElement.dataset.theme") == scheme
    one.read(manual / "explanation" / "compiler.html")
    assert one.page.locator("math").first.bounding_box()["height"] > 5
    assert (one.elsewhere, one.errors) == ([], [])


def test_the_manual_is_searched_without_a_network(reader, manual):
    """A word leads to its page."""
    one = reader()
    one.page.goto((manual / "search.html").as_uri() + "?q=pushforward")
    one.page.locator("#search-results li a").first.wait_for()
    assert (one.elsewhere, one.errors) == ([], [])


def test_a_search_finds_the_recipe(reader, manual):
    """Who looks for a function finds its page in the gallery first."""
    one = reader()
    one.page.goto((manual / "search.html").as_uri() + "?q=softmax")
    first = one.page.locator("#search-results li a").first
    first.wait_for()
    assert first.inner_text() == "Softmax" and "gallery/softmax" in first.get_attribute("href")
    assert (one.elsewhere, one.errors) == ([], [])


SOME_PAGES = (
    *PAGES, "magics.html", "search.html", "genindex.html", "support.html", "glossary.html",
    "howto/check-a-module.html", "howto/functions-of-scipy.html", "howto/structs.html",
    "explanation/costs.html", "coming-from/chainrules.html", "design/scipy.html",
)  # fmt: skip
ALL_OF_THEM = [pytest.param(scheme, (), marks=pytest.mark.campaign) for scheme in ("dark", "light")]


@pytest.mark.parametrize(
    "scheme, names", [("dark", SOME_PAGES[::6]), *ALL_OF_THEM], ids=["some", "all dark", "all light"]
)
def test_pages_are_accessible(reader, manual, scheme, names):
    """axe finds nothing to object to, neither in the text nor around it, beside a table or on a phone."""
    one = reader(scheme)
    for name in names or [page.relative_to(manual).as_posix() for page in sorted(manual.rglob("*.html"))]:
        for width in (1280, 390):
            one.page.set_viewport_size({"width": width, "height": 900})
            one.read(manual / name)
            assert violations(one.page, "body") == [], (name, width)


ELEMENTS = """() => {
    const found = "#search-results, .highlighted";
    const all = [...document.querySelectorAll("*")].filter((node) => !node.closest(found));
    const acting = (node) => [...node.attributes].filter(({name}) => name.startsWith("on")).length;
    return [window.ran, all.length, all.reduce((sum, node) => sum + acting(node), 0),
            document.querySelectorAll("iframe, #search-results :is(script, img, svg, style)").length];
}"""


IN_GALLERY = pytest.param("gallery/softmax.html", marks=pytest.mark.campaign)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["search.html", IN_GALLERY])
def test_words_in_an_address_are_words(reader, manual, page):
    """Whatever a link asks the manual to search for, or to mark, is text there, and nothing runs."""
    one = reader()
    asked = f"{(manual / page).as_uri()}?{'q' if page == 'search.html' else 'highlight'}={{0}}#{{0}}"
    said: list[str] = []
    one.page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    found = {}
    for word in ("gradient", *WORDS):
        one.page.goto("about:blank")  # another fragment alone would load nothing
        one.page.goto(asked.format(quote(word, errors="replace")), wait_until="load")
        if page == "search.html":
            one.page.locator("#search-results h2").filter(has_text="Search Results").wait_for()
        one.page.wait_for_timeout(100)  # time for what would run late
        found[word] = one.page.evaluate(ELEMENTS)
    assert len({str(seen) for seen in found.values()}) == 1 and found["gradient"][0] is None, found
    assert (said, one.elsewhere, one.errors) == ([], [], [])


COPIED = """() => {
    let kept = "";
    document.addEventListener("copy", () => { kept = document.getSelection().toString(); });
    document.querySelector("button.copybtn").click();
    return kept;
}"""


def test_code_is_copied_without_its_prompts(reader, manual):
    """Each block has a button, and what it copies can be run."""
    one = reader()
    one.read(manual / "gallery" / "softmax.html")
    blocks = one.page.locator("div.highlight")
    buttons = one.page.locator("button.copybtn")
    assert buttons.count() == blocks.count() > 2
    copied = one.page.evaluate(COPIED)
    assert ">>>" not in copied and "def softmax(x):" in copied


WIDTHS = (1280, 800, 390)
WIDE = ("index", "gallery/index", "gallery/softmax", "support", "magics", "reference/scipy", "howto/install")


@pytest.mark.slow
def test_no_page_is_wider_than_its_window(reader, manual):
    """Tables and code fit, or scroll by themselves: at 800 pixels no table is cut, and on a phone no page."""
    one = reader()
    for name in WIDE:
        one.read(manual / f"{name}.html")
        for width in WIDTHS:
            one.page.set_viewport_size({"width": width, "height": 900})
            root = "document.documentElement"
            assert one.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") <= 0, (name, width)
            if width >= 800:
                cut = one.page.evaluate(
                    "[...document.querySelectorAll('.bd-article table')].map((table) => table.parentElement)"
                    ".filter((box) => box.scrollWidth > box.clientWidth + 1)"
                    ".map((box) => [box.scrollWidth, box.clientWidth, box.innerText.slice(0, 80)])"
                )
                assert cut == [], (name, width)


@pytest.mark.every(2, slow=True)
@pytest.mark.parametrize("options", [(), ("--HTMLExporter.mathjax_url=", "--HTMLExporter.require_js_url=")])
def test_an_exported_notebook_is_read_without_a_network(reader, repository, tmp_path, options):
    """Its text is there at once; without formulas' script, they stand there as TeX."""
    notebook = repository / "notebooks" / "01-a-rule-in-a-cell.ipynb"
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", str(tmp_path)]
    environment = os.environ | {"RULELAB_WIDGETS": "0"}
    subprocess.run([*command, *options, str(notebook)], env=environment, check=True, capture_output=True)
    one = reader()
    text = one.read(tmp_path / f"{notebook.stem}.html")
    assert "Automatic differentiation needs to know" in text
    assert r"$\bar x$" in text
    if options:
        assert one.elsewhere == []
