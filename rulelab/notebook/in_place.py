"""Show a result in the output where the progress bar of its magic was, so that no empty output is left there.

A magic returns its result to IPython, which shows it in a new output. If the cell ends with that magic and a
bar was shown meanwhile, nothing else can come between the two, so the result replaces the bar. `Out[n]` is
not affected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..ad.progress import place_of_bar, places_of_bars

_awaited: tuple[Any, Any, str] | None = None
"""The result to be shown next, its output, and the run of the cell it belongs to."""


@contextmanager
def of_magic(shell: Any, spelled: str) -> Iterator[list[Any]]:
    """The context of a run of a magic, `%name` or `%%name`; its result is appended to the list that this
    yields.
    """
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
    """Whether the running cell ends with this magic, whose result is not an argument of anything else."""
    parent: dict = getattr(shell, "get_parent", dict)() or {}
    code = str((parent.get("content") or {}).get("code", "")).strip()
    line = code if spelled.startswith("%%") else code.rpartition("\n")[2]
    return line.split(" ")[0].split("\n")[0] == spelled


def place_of(shell: Any, result: Any) -> Any | None:
    """The handle of the output that waits for this result, to be used once; None if there is none."""
    global _awaited
    found, _awaited = _awaited, None
    if found is None or found[0] is not result or found[2] != _run(shell):
        return None
    return found[1]


def show_in_place(shell: Any, result: Any) -> None:
    """IPython's function to display a report: in the output that waits for it, else like every object."""
    place = place_of(shell, result)
    if place is None:
        raise NotImplementedError  # which tells IPython to display it as usual
    data, metadata = shell.display_formatter.format(result)
    place.update(data, metadata=metadata, raw=True)
