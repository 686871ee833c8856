"""A stored run of exports, shown where a framework is not installed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import ExportError
from ..tables import Page, Report
from .running import Row, table_of

STORED = Path(__file__).with_name("stored_run.json")


@dataclass(frozen=True, repr=False)
class StoredRun(Report):
    """Recorded answers of the export of one function to a framework; none of it was run here.

    Attributes
    ----------
    name, to : str
        The function, and the framework that it was exported to.
    on : str
        The date of the run.
    versions : dict
        The versions of the software used, by name.
    text : str
        The file that was run.
    rows : tuple of Row
        Its answers compared with the rule, with a verdict each.
    """

    name: str
    to: str
    on: str
    versions: dict[str, str]
    text: str
    rows: tuple[Row, ...]

    def page(self) -> Page:
        known = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        caption = f"Stored run of {self.on}, {known}"
        return Page(
            (f"Not run here: what {self.name}, exported to {self.to}, answered in a stored run",),
            (table_of(self.rows, caption),),
        )

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "rows": [row.to_dict() for row in self.rows]}


def stored_run(to: str) -> StoredRun:
    """The stored run of an export to "jax" or "torch", an example of such a table, with versions and date.

    >>> from rulelab.portability import stored_run
    >>> run = stored_run("jax")
    >>> run.name, {row.verdict for row in run.rows}, sorted(run.versions)
    ('softplus', {'right'}, ['JAX', 'NumPy', 'Python'])
    """
    runs = _runs()
    if to not in runs:
        raise ExportError(f"there are stored runs of {', '.join(runs)}, not of {to!r}", asked="a stored run")
    return runs[to]


@cache
def _runs() -> dict[str, StoredRun]:
    told = json.loads(STORED.read_text(encoding="utf-8"))
    return {to: StoredRun(to=to, **{**run, "rows": _rows(run["rows"])}) for to, run in told.items()}


def _rows(told: list[dict[str, Any]]) -> tuple[Row, ...]:
    """Rows from the result of `Row.to_dict`."""
    return tuple(Row(**{key: x for key, x in row.items() if x is not None}) for row in told)
