"""The pages that errors point to."""

import re

import pytest

READ = re.compile(r'read="(\w+)#([\w-]+)"')
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def pointed_to(repository):
    """Every (page, anchor) that the package's errors name."""
    sources = sorted((repository / "rulelab").rglob("*.py"))
    return sorted({found for path in sources for found in READ.findall(path.read_text(encoding="utf-8"))})


def anchors(page):
    """The anchors of a page, made of its headings as Markdown renderers make them."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}


def test_every_place_an_error_says_to_read_is_there(repository):
    """`read: limitations#syntax` leads to a section of docs/limitations.md."""
    named = pointed_to(repository)
    assert ("limitations", "array-mutation") in named
    for page, anchor in named:
        path = repository / "docs" / f"{page}.md"
        assert path.is_file() and anchor in anchors(path), f"{page}#{anchor}"


@pytest.mark.parametrize("page", ["limitations", "rules", "support"])
def test_links_between_the_pages_lead_somewhere(repository, page):
    """Both the file and the section."""
    docs = repository / "docs"
    text = (docs / f"{page}.md").read_text(encoding="utf-8")
    for file, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", text):
        path = docs / file if file else docs / f"{page}.md"
        assert path.is_file(), file
        assert not anchor or anchor in anchors(path), f"{file}#{anchor}"
