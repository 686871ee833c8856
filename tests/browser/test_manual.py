"""The manual and an exported notebook, opened in a browser that has no network."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.browser

PAGES = {
    "index.html": "A bench for people who write derivative rules",
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


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.campaign)])
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


@pytest.mark.every(2)
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
