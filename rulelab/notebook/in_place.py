"""Results that are shown where the bar of their magic was, so that no empty output is left there.

A magic hands its result to IPython, which shows it in a new output. Where the cell ends with that magic, and
a bar was shown meanwhile, nothing else can stand between the two: then the result takes the bar's place. In
`Out[n]` it is as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..ad.progress import place_of_bar, places_of_bars

_awaited: tuple[Any, Any, str] | None = None
"""The result that is to be shown next, where, and in which run of a cell."""


@contextmanager
def of_magic(shell: Any, spelled: str) -> Iterator[list[Any]]:
    """For the run of a magic, `%name` or `%%name`; its result is appended to the list that this gives."""
    global _awaited
    _awaited = None
    result: list[Any] = []
    with places_of_bars():
        yield result
        place = place_of_bar() if result and result[0] is not None and _is_last(shell, spelled) else None
    if place is not None:
        _awaited = (result[0], place, _run(shell))


def _run(shell: Any) -> str:
    parent: dict = getattr(shell, "get_parent", dict)() or {}
    return (parent.get("header") or {}).get("msg_id", "")


def _is_last(shell: Any, spelled: str) -> bool:
    """Whether the cell that runs ends with this magic, whose result is nothing else's argument."""
    parent: dict = getattr(shell, "get_parent", dict)() or {}
    code = str((parent.get("content") or {}).get("code", "")).strip()
    line = code if spelled.startswith("%%") else code.rpartition("\n")[2]
    return line.split(" ")[0].split("\n")[0] == spelled


def place_of(shell: Any, result: Any) -> Any | None:
    """The handle of the output that waits for this result, to be used once; None where none does."""
    global _awaited
    found, _awaited = _awaited, None
    if found is None or found[0] is not result or found[2] != _run(shell):
        return None
    return found[1]


def show_in_place(shell: Any, result: Any) -> None:
    """IPython's function to display a report: in the place that waits for it, else as every object is."""
    place = place_of(shell, result)
    if place is None:
        raise NotImplementedError  # which IPython takes for "not by this function"
    data, metadata = shell.display_formatter.format(result)
    place.update(data, metadata=metadata, raw=True)
