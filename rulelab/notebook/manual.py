"""The manual that comes with the package: find the section that answers a question, and make its pages for a
browser.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import re
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from ..annotations import signature_of_callable
from ..mathml import formula_html
from ..nearest import OF_MANY_WORDS, did_you_mean
from ..screen import fitted, width
from ..tables import Page, Report, Table
from . import docstrings

PACKAGE = Path(__file__).resolve().parents[1]
ADDRESS = "RULELAB_MANUAL"
"""The variable in which `rulelab lab` tells its kernels where it serves the pages."""
MOST = 8
"""The largest number of sections that a search lists."""


class NoPageError(LookupError):
    """The manual has nothing about the topic; the message suggests similar ones."""


class Section(NamedTuple):
    """A heading of the manual and the text below it, up to the next heading of its level."""

    page: str
    anchor: str
    title: str
    text: str

    @property
    def topic(self) -> str:
        """The topic that finds it: `howto/check-a-rule#in-a-test`."""
        return f"{self.page}#{self.anchor}" if self.anchor else self.page


def folder() -> Path:
    """The folder with the pages: in the installed package, or beside it in a clone."""
    installed = PACKAGE / "manual"
    return installed if installed.is_dir() else PACKAGE.parent / "docs"


@cache
def pages() -> dict[str, str]:
    """The text of each page by its name, `howto/check-a-rule`; empty if the manual was not installed."""
    root = folder()
    found = sorted(root.rglob("*.md")) if (root / "index.md").is_file() else []
    names = {path.relative_to(root).with_suffix("").as_posix(): path for path in found}
    left_out = ("design/", "_", "tutorial/notebooks/")
    return {
        name: _with_includes(path.read_text(encoding="utf-8"), path)
        for name, path in names.items()
        if not name.startswith(left_out)
    }


def _with_includes(text: str, path: Path) -> str:
    """The text without its head, with the files in it that it includes, the names of sections that stand
    above their headings behind these, and cards as lists.
    """
    text = text[text.index("\n---\n", 3) + 5 :].lstrip() if text.startswith("---\n") else text
    text = re.sub(r"^\(([\w-]+)\)=\n(#+ .+)$", r"\2 {#\1}", text, flags=re.MULTILINE)

    def included(found: re.Match[str]) -> str:
        places = path.parent / found[1], path.parent / "_included" / Path(found[1]).name
        return next((place.read_text(encoding="utf-8") for place in places if place.is_file()), "")

    text = re.sub(r"^```\{include\} (\S+)\n```", included, text, flags=re.MULTILINE)
    return _CARD.sub(_as_item, _GRID.sub(lambda found: "" if "{grid}" in found[0] else "\n", text))


_GRID = re.compile(r"^::::(?:\{grid\}.*\n(?::[\w-]+:.*\n)*\n?|\n)", re.MULTILINE)
_CARD = re.compile(
    r"^:::\{grid-item-card\} (?P<title>.+)\n(?P<options>(?::[\w-]+:.*\n)*)(?P<said>(?:(?!:::).*\n)*):::\n\n?",
    re.MULTILINE,
)


def _as_item(card: re.Match[str]) -> str:
    """A card of a page as a list item: its title, its link, and its text.

    >>> _CARD.sub(_as_item, ":::{grid-item-card} Softmax\\n:link: softmax\\n\\nOne sum\\n:::\\n")
    '- [Softmax](softmax.md): One sum\\n'
    """
    link = re.search(r"^:link: (\S+)$", card["options"], re.MULTILINE)
    title = f"[{card['title']}]({link[1]}.md)" if link else card["title"]
    return f"- {title}: {' '.join(card['said'].split())}\n"


# -- what is asked for ---------------------------------------------------------------------------------------


def found(topic: str) -> list[Section]:
    """The sections about a topic, the best one first: a page, `page#section`, a public name, or words.

    Raises NoPageError if there is none.

    >>> found("limitations#array-mutation")[0].title
    'Array mutation'
    >>> found("rl.gradient")[0].page
    'reference/gradients'
    """
    asked = topic.strip()
    sections = all_sections()
    if not sections:
        raise NoPageError("this installation has no manual; in a clone it is in the folder docs")
    hits = _named(asked, sections) or _offered(asked) or _searched(asked, sections)
    if not hits:
        known = {section.page for section in sections} | {section.page.split("/")[-1] for section in sections}
        known |= set(title_words())
        there = {f"{section.page}#{section.anchor}" for section in sections}
        there |= {topic.rpartition("/")[2] for topic in there}
        advice = did_you_mean(asked, there) if "#" in asked else ""
        advice = advice or did_you_mean(
            asked.partition("#")[0], known | set(_documented()), alike=OF_MANY_WORDS
        )
        raise NoPageError(f"the manual has nothing about {asked!r}{advice}")
    return hits


@cache
def all_sections() -> tuple[Section, ...]:
    """Each page as a whole, and each of its headings with the text below it."""
    return tuple(section for page, text in pages().items() for section in _sections(page, text))


def _sections(page: str, text: str) -> Iterator[Section]:
    lines, fenced, seen = text.split("\n"), False, dict[str, int]()
    heads: list[tuple[int, int, str, str]] = []  # line, level, title, anchor
    for number, line in enumerate(lines):
        fenced ^= line.startswith(("```", "~~~"))
        head = None if fenced else re.match(r"(#{1,4}) +(.+)", line)
        if head is not None:
            heads.append((number, len(head[1]), *_titled(head[2], seen)))
    for place, (number, level, title, anchor) in enumerate(heads):
        later = (n for n, other, *_ in heads[place + 1 :] if other <= level)
        body = _NAMED.sub("", "\n".join(lines[number : next(later, len(lines))]).strip())
        yield Section(page, anchor if place else "", title, body)


_NAMED = re.compile(r" \{#([\w-]+)\}$", re.MULTILINE)


def _titled(head: str, seen: dict[str, int]) -> tuple[str, str]:
    """The words of a heading, and its anchor: the name that it was given, or one made of its words."""
    own = _NAMED.search(head)
    title = _plain(_NAMED.sub("", head))
    anchor = _anchor(title, seen)
    return title, own[1] if own else anchor


def _plain(title: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").strip()


def _anchor(title: str, seen: dict[str, int]) -> str:
    """The anchor of a heading, as on GitHub: a repeated heading gets a number at its end."""
    anchor = re.sub(r"[^\w\- ]", "", _plain(title).lower()).replace(" ", "-")
    seen[anchor] = seen.get(anchor, -1) + 1
    return f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor


@cache
def title_words() -> tuple[str, ...]:
    """The words in the titles of all sections, in lower case and as they are written, sorted."""
    words = {word for section in all_sections() for word in re.findall(r"[\w-]+", section.title)}
    return tuple(sorted(words | {word.lower() for word in words}))


def _named(asked: str, sections: tuple[Section, ...]) -> list[Section]:
    page, _, anchor = asked.removesuffix(".md").partition("#")
    page = page.removesuffix(".html").removesuffix(".md") or "index"
    hits = [s for s in sections if s.anchor == anchor and page in (s.page, s.page.rpartition("/")[2])]
    return sorted(hits, key=lambda section: section.page != page)[:1] if page == "index" else hits


def _offered(asked: str) -> list[Section]:
    name = asked.removeprefix("rulelab.").removeprefix("rl.").removesuffix("()")
    page, qualified = _documented().get(name, ("", ""))
    if not page:
        return []
    return [Section(page, qualified, name, _of_docstring(_object(qualified), name))]


def _searched(asked: str, sections: tuple[Section, ...]) -> list[Section]:
    words = asked.lower().split()
    if not words:
        return []
    in_titles = [s for s in sections if all(word in s.title.lower() for word in words)]
    in_texts = [s for s in sections if all(word in s.text.lower() for word in words)]
    narrow = sorted(in_texts, key=lambda s: len(s.text))  # the page that holds a section comes behind it
    return list(dict.fromkeys([*in_titles, *narrow]))[:MOST]


# -- the reference, whose text is in the package -------------------------------------------------------------

_DIRECTIVE = re.compile(
    r"^\.\. (auto(?:function|class|exception|module)|currentmodule|py:data):: ([\w.]+)", re.MULTILINE
)


@cache
def _documented() -> dict[str, tuple[str, str]]:
    """The page and the full name of each name in the reference, by the last part of it."""
    names = [(qualified, page) for page, text in pages().items() for qualified in _names_in(text)]
    names.sort(key=lambda name: -name[0].count("."))  # what `rulelab` itself offers comes last, and counts
    return {qualified.rpartition(".")[2]: (page, qualified) for qualified, page in names}


def public_names() -> list[str]:
    """The names that the reference documents."""
    return sorted(_documented())


def _names_in(text: str) -> Iterator[str]:
    module = "rulelab"
    for kind, name in _DIRECTIVE.findall(text):
        if kind == "currentmodule":
            module = name
        elif kind == "automodule":
            offered = importlib.import_module(name)
            yield from (f"{name}.{public}" for public in getattr(offered, "__all__", ()))
        else:
            yield name if name.startswith("rulelab.") else f"{module}.{name}"


def _object(qualified: str) -> Any:
    module, _, name = qualified.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None


def _of_docstring(thing: Any, name: str) -> str:
    """A name of the package as Markdown: how it is called, and what its docstring says."""
    called = f"```python\n{name}{_signature(thing)}\n```"
    return "\n\n".join([f"## {name}", called, docstrings.as_markdown(inspect.getdoc(thing) or "")])


def _signature(thing: Any) -> str:
    """The parameters of something that can be called, without the quotes around what they are."""
    try:
        found = str(signature_of_callable(thing)) if callable(thing) else ""
        return re.sub(r"(: |-> )'([^']*)'", r"\1\2", found)
    except (TypeError, ValueError):
        return ""


class Shown(Report):
    """A section of the manual as a cell or a terminal shows it, and where else to read."""

    def __init__(self, section: Section, others: tuple[str, ...] = ()) -> None:
        self.section, self.others = section, others

    def page(self) -> Page:
        return Page((self.section.title,), (), (self.section.text.partition("\n")[2].strip(),))

    def to_dict(self) -> dict[str, Any]:
        return {**self.section._asdict(), "see_also": list(self.others)}

    def _see_also(self, before: str, after: str) -> str:
        if not self.others:
            return ""
        return f"\n\nSee also {', '.join(before + other + after for other in self.others)}."

    def __str__(self) -> str:
        return f"{_for_markdown(self.section)}{self._see_also('', '')}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        columns = width()
        if columns is None:
            printer.text(str(self))
            return
        more = self._see_also("", "").lstrip()
        shown = for_terminal(self.section, columns, "%rule_docs")
        printer.text("\n".join([shown, "", *_filled([], more, columns)]).rstrip())

    def to_markdown(self) -> str:
        """The section as Markdown, whose links are what `%rule_docs` takes."""
        return f"{_for_markdown(self.section)}{self._see_also('`%rule_docs ', '`')}"

    def _repr_html_(self) -> str:
        body = _markdown(self.section.page, self.to_markdown())
        return f'<div class="rulelab-report tex2jax_ignore mathjax_ignore">{body}</div>'


def docs(topic: str = "") -> Shown:
    """The section of the manual about a topic: a page, `page#section`, a public name, or words to search for.

    Raises NoPageError if there is none.

    >>> from rulelab.notebook import docs
    >>> print(str(docs("limitations#text"))[:7])
    ## Text
    """
    first, *others = found(topic)
    return Shown(first, tuple(other.topic for other in others))


def _for_markdown(section: Section, asks: str = "%rule_docs") -> str:
    """The text of a section where Sphinx is not at hand: its links are what one asks for there."""
    text = re.sub(r"\{(?:term|func)\}`([^`<]+?)(?: <[^`]*)?`", r"\1", section.text)
    text = re.sub(r"```\{toctree\}.*?```\n?", "", text, flags=re.DOTALL)
    text = re.sub(r"```\{image\}.*\n:alt: (.*)\n(?:.*\n)*?```", r"(Picture: \1)", text)
    text = re.sub(r"```\{code-cell\}.*", "```python", text)
    text = re.sub(r"```\{glossary\}\n(.*?)```", lambda found: _as_list(found[1]), text, flags=re.DOTALL)
    text = re.sub(r"```\{eval-rst\}", "```text", text)

    def named(found: re.Match[str]) -> str:
        page = os.path.normpath((Path(section.page).parent / found[2]).as_posix()).replace(os.sep, "/")
        return f"{found[1]} (`{asks} {page}{found[3] or ''}`)" if page in pages() else found[1]

    return re.sub(r"\[([^\]]+)\]\((?!https?:)([^)#\s]+?)(?:\.md|\.ipynb)(#[\w-]+)?\)", named, text)


def _as_list(terms: str) -> str:
    """A glossary as a list, whose lines are filled like any others: a term, and what it means.

    >>> print(_as_list("seed\\n  The cotangent that\\n  goes in.\\n"))
    - **seed**: The cotangent that
      goes in.
    <BLANKLINE>
    """
    return re.sub(r"^(\S.*)\n[ \t]+(?=\S)", r"- **\1**: ", terms, flags=re.MULTILINE)


def for_terminal(section: Section, columns: int | None, asks: str = "rulelab docs --text") -> str:
    """The text of a section as one reads it in a terminal: code is set in, and paragraphs fill the lines. For
    other sections one `asks` with that command.
    """
    lines: list[str] = []
    table: list[str] = []
    fenced = False
    for line in [*_for_markdown(section, asks).split("\n"), ""]:
        if line.startswith("|") and not fenced:
            table.append(line)
            continue
        lines += _laid_out(table, columns)
        table = []
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced:
            lines.append(f"    {line}".rstrip())
        else:
            lines += _filled(lines, line, columns)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _laid_out(table: list[str], columns: int | None) -> list[str]:
    """A table of Markdown as it is shown in a terminal."""
    bare = [line.strip().strip("|") for line in table]
    rows = [[cell.strip().replace("\\|", "|") for cell in _BAR.split(line)] for line in bare]
    rows = [row for row in rows if not all(re.fullmatch(":?-+:?", cell) for cell in row)]
    if len(rows) < 2:
        return table
    heads, *cells = rows
    with fitted(columns):
        even = tuple(tuple((row + [""] * len(heads))[: len(heads)]) for row in cells)
        shown = Table("", tuple(heads), even)
        return [line.rstrip() for line in shown.text().strip("\n").split("\n")]


_BAR = re.compile(r"(?<!\\)\|")


def _filled(before: list[str], line: str, columns: int | None) -> list[str]:
    """A line of prose as lines that fit, joined to what the line before has left; `before` loses that."""
    if columns is None or not line.strip() or line.startswith(("#", "|", "    ")):
        return [line]
    bullet = re.match(r"\s*(?:[-*]|\d+\.) +|\s*", line)
    indent = len(bullet[0]) if bullet else 0
    goes_on = before and before[-1].strip() and not before[-1].startswith(("#", "|", "    "))
    if goes_on and bullet is not None and not bullet[0].strip():
        line = f"{before.pop()} {line.strip()}"
        head = re.match(r"\s*(?:[-*]|\d+\.) +|\s*", line)
        indent = len(head[0]) if head else 0
    return textwrap.wrap(
        line, columns, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


# -- what errors tell to read --------------------------------------------------------------------------------


def where_to_read(topic: str) -> str:
    """How a notebook says where to read on: a link where `rulelab lab` serves the manual, else a magic."""
    served = os.environ.get(ADDRESS)
    page, _, anchor = topic.partition("#")
    if not served:
        return f"%rule_docs {topic}"
    return f"{served}{page}.html" + (f"#{anchor}" if anchor else "")


# -- for a browser -------------------------------------------------------------------------------------------


def built(cache_folder: Path | None = None) -> Path:
    """The folder with the pages as HTML, written again if they have changed: all of them or none."""
    home = _cache_folder() if cache_folder is None else cache_folder
    ready = folder_for_html(home)
    if (ready / "index.html").is_file():
        return ready
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(".writing-*"):  # by a process that was ended meanwhile
        if time.time() - left.stat().st_mtime > 600:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=home, prefix=".writing-") as scratch:
        made = Path(scratch) / "manual"
        _write(made)
        if ready.exists():
            shutil.rmtree(ready)
        os.replace(made, ready)
    for old in home.glob("manual-*"):
        if old != ready:
            shutil.rmtree(old, ignore_errors=True)
    return ready


def folder_for_html(home: Path | None = None) -> Path:
    """The folder for the pages as HTML: a different one for each state of the pages and of the package."""
    digest = hashlib.sha256()
    for source in (*sorted(PACKAGE.rglob("*.py")), *sorted(folder().rglob("*.md"))):
        digest.update(source.read_bytes())
    return (_cache_folder() if home is None else home) / f"manual-{digest.hexdigest()[:12]}"


def _cache_folder() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rulelab"


def address_of(section: Section, root: Path) -> str:
    """The address of a section among the pages in a folder."""
    page = (root / f"{section.page}.html").as_uri()
    return f"{page}#{section.anchor}" if section.anchor else page


def _write(target: Path) -> None:
    for name, text in pages().items():
        file = target / f"{name}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page_html(name, text), encoding="utf-8")
    for place in ("images", "gallery/thumbnails"):
        for picture in (p for kind in ("*.png", "*.svg") for p in (folder() / place).glob(kind)):
            (target / place).mkdir(exist_ok=True)
            shutil.copyfile(picture, target / place / picture.name)


def page_html(name: str, text: str) -> str:
    """A page of the manual as HTML that fetches nothing."""
    up = "../" * name.count("/")
    title = next((section.title for section in _sections(name, text)), name)
    title = title if name == "index" else f"{title} · rulelab"
    return _PAGE.format(title=escape(title), up=up, body=_markdown(name, text))


def _markdown(name: str, text: str) -> str:
    import mistune  # here, because only who opens a page needs it

    class Pages(mistune.HTMLRenderer):
        seen: dict[str, int] = {}  # noqa: RUF012  # a class of this one page

        def heading(self, text: str, level: int, **attrs: Any) -> str:
            _, anchor = _titled(re.sub(r"<[^>]+>", "", text), self.seen)
            return f'<h{level} id="{anchor}">{_NAMED.sub("", text)}</h{level}>\n'

        def link(self, text: str, url: str, title: str | None = None) -> str:
            address = _address(name, url)
            return text if address is None else super().link(text, address, title)

        def inline_math(self, text: str) -> str:
            return str(formula_html(text, text))

        def block_math(self, text: str) -> str:
            return f"<p>{formula_html(text, text)}</p>\n"

        def block_code(self, code: str, info: str | None = None) -> str:
            made = _directive(name, (info or "").strip(), code)
            if made is not None:
                return made
            return super().block_code(code.rstrip() + "\n", (info or "").split(" ")[0].strip("{}"))

    plain = re.sub(r"\{(?:term|func)\}`([^`<]+?)(?: <[^`]*)?`", r"\1", text)
    plugins = ["table", "strikethrough", "def_list", "url", "math"]
    return str(mistune.create_markdown(renderer=Pages(escape=True), plugins=plugins)(plain))


def _address(page: str, url: str) -> str | None:
    """Where a link of a page leads; None for what did not come along: notebooks, files of the repository."""
    if re.match(r"[a-z]+:|#", url):
        return url
    target, mark, anchor = url.partition("#")
    name = os.path.normpath((Path(page).parent / target).as_posix()).replace(os.sep, "/")
    known = target.endswith(".md") and name.removesuffix(".md") in pages()
    return f"{target.removesuffix('.md')}.html{mark}{anchor}" if known else None


def _directive(page: str, kind: str, body: str) -> str | None:
    """What a block of Sphinx's is on a page without Sphinx; None for code."""
    if kind == "{eval-rst}":
        return "".join(_entry(page, qualified) for qualified in _names_in(body))
    if kind == "{toctree}":
        return _contents(page, body)
    if kind.startswith("{image} "):
        says = re.search(r"^:alt: (.+)$", body, re.MULTILINE)
        return f'<p><img src="{escape(kind.split()[1])}" alt="{escape(says[1] if says else "")}"></p>\n'
    if kind == "{glossary}":
        terms = re.findall(r"^(\S.*)\n((?:[ \t]+.*\n?|\n)+)", body, re.MULTILINE)
        rows = (f"<dt>{escape(term)}</dt><dd>{escape(said.strip())}</dd>" for term, said in terms)
        return f"<dl>{''.join(rows)}</dl>\n"
    return None


def _entry(page: str, qualified: str) -> str:
    name, thing = qualified.rpartition(".")[2], _object(qualified)
    said = ""
    if thing is not None:
        said = f'<pre class="called">{escape(name + _signature(thing))}</pre>\n'
        said += _markdown(page, docstrings.as_markdown(inspect.getdoc(thing) or ""))
    return f'<h3 id="{qualified}"><code>{escape(name)}</code></h3>\n{said}'


def _contents(page: str, body: str) -> str:
    """The pages that a table of contents names, but for those that are already linked above it."""
    if ":hidden:" in body:
        return ""
    base, rows = Path(page).parent, []
    for line in body.split("\n"):
        name = os.path.normpath((base / line.strip()).as_posix()).replace(os.sep, "/")
        if line.strip() and name in pages():
            title = next(_sections(name, pages()[name])).title
            rows.append(f'<li><a href="{os.path.relpath(name, base)}.html">{escape(title)}</a></li>')
    return f"<ul>{''.join(rows)}</ul>\n"


_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 52rem; padding: 0 1.2rem 4rem; }}
nav {{ padding: 0.8rem 0; border-bottom: 1px solid #8886; margin-bottom: 1rem; }}
nav a {{ margin-right: 1.2rem; }}
h1, h2, h3 {{ line-height: 1.25; margin: 1.8em 0 0.5em; }}
h1 {{ margin-top: 0.5em; }}
code, pre {{ font: 0.9em/1.45 ui-monospace, Menlo, Consolas, monospace; }}
pre {{ overflow-x: auto; padding: 0.7em 0.9em; border: 1px solid #8884; border-radius: 4px; }}
pre.called {{ white-space: pre-wrap; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; }}
th, td {{ text-align: left; vertical-align: top; padding: 0.3em 0.9em 0.3em 0;
  border-bottom: 1px solid #8884; }}
img {{ max-width: 100%; }}
:target {{ outline: 2px solid #e6a800; outline-offset: 4px; }}
</style></head><body>
<nav><a href="{up}index.html">rulelab</a><a href="{up}tutorial/index.html">Tutorial</a>\
<a href="{up}howto/index.html">How-to</a><a href="{up}coming-from/index.html">Coming from</a>\
<a href="{up}reference/index.html">Reference</a><a href="{up}explanation/index.html">Explanation</a>\
<a href="{up}glossary.html">Glossary</a></nav>
<main>{body}</main></body></html>
"""
