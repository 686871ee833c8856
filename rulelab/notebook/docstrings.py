"""Docstrings as Markdown: prose, the sections of NumPy's style, and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Examples")
_SECTION = re.compile(rf"^({'|'.join(SECTIONS)})\n-+\n", re.MULTILINE)


def sections(docstring: str) -> dict[str, str]:
    """The text of each section by its name; the text before the first section has the name "".

    >>> sections("Adds.\\n\\nParameters\\n----------\\nx : int\\n    A number.\\n")
    {'': 'Adds.', 'Parameters': 'x : int\\n    A number.'}
    """
    before, *rest = _SECTION.split(docstring)
    found = {"": before.rstrip()}
    return found | {name: text.rstrip() for name, text in zip(rest[::2], rest[1::2])}


def entries(section: str) -> Iterator[tuple[str, str, str]]:
    """Name, type and description of each entry in a section of parameters, results or errors.

    >>> list(entries("x, y : int, optional\\n    Two\\n    numbers.\\n*args"))
    [('x, y', 'int, optional', 'Two\\nnumbers.'), ('*args', '', '')]
    """
    for found in re.finditer(r"^(\S.*)((?:\n(?:[ \t].*)?)*)", section, re.MULTILINE):
        name, _, kind = found[1].partition(" : ")
        yield name, kind, "\n".join(line.strip() for line in found[2].strip().split("\n"))


def names_of(section: str) -> list[str]:
    """The names that a section lists, without the stars.

    >>> names_of("x, y : int\\n*args\\n    More.")
    ['x', 'y', 'args']
    """
    return [name.strip().lstrip("*") for names, _, _ in entries(section) for name in names.split(",")]


def as_markdown(docstring: str) -> str:
    """A docstring as Markdown.

    >>> print(as_markdown("Adds.\\n\\nReturns\\n-------\\nint\\n    A sum."))
    Adds.
    <BLANKLINE>
    **Returns**
    <BLANKLINE>
    - `int`: A sum.
    """
    parts = []
    for name, text in sections(docstring).items():
        parts += [f"**{name}**"] if name else []
        parts += _prose(text) if name in ("", "Examples") else ["\n".join(map(_entry, entries(text)))]
    return "\n\n".join(filter(None, parts))


def _prose(text: str) -> list[str]:
    examples = (">>>", "...")
    return [
        f"```python\n{part}\n```" if part.lstrip().startswith(examples) else part
        for part in text.split("\n\n")
    ]


def _entry(entry: tuple[str, str, str]) -> str:
    name, kind, words = entry
    lines = re.sub(r"\n(?!- )", " ", words).split("\n")  # an item of a list in a line
    has_list = lines[0].startswith("- ")
    head = f"- `{name}`" + (f" ({kind})" if kind else "")
    if not words:
        return head
    below = "\n".join(f"  {line}" for line in lines)
    return f"{head}:\n\n{below}\n" if has_list else f"{head}: {' '.join(lines)}"
