"""Checks as JUnit XML, the format of test results that CI services read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from ...errors import RecordError, printable
from ...files import write_whole

_ELEMENTS = {"wrong": "failure", "inconclusive": "error", "error": "error", "skipped": "skipped"}


@dataclass(frozen=True)
class Case:
    """One test case: what was checked, the family it belongs to, and how it ended, "right" or another
    verdict.
    """

    name: str
    family: str
    verdict: str
    message: str = ""
    details: str = ""
    seconds: float = 0.0


def document(name: str, cases: Sequence[Case], seconds: float) -> str:
    """The XML of one test suite with these cases.

    >>> print(document("checks", [Case("rrule of f", "shapes", "right", seconds=0.25)], 0.25).split("\\n")[1])
    <testsuites name="checks" tests="1" failures="0" errors="0" time="0.250">
    """
    kinds = [_ELEMENTS.get(case.verdict) for case in cases]
    facts = {
        "name": _text(name),
        "tests": str(len(cases)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "time": f"{seconds:.3f}",
    }
    root = ElementTree.Element("testsuites", facts)
    suite = ElementTree.SubElement(root, "testsuite", {**facts, "skipped": str(kinds.count("skipped"))})
    for case in cases:
        _add(suite, case)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(suite: ElementTree.Element, case: Case) -> None:
    facts = {"classname": _text(case.family), "name": _text(case.name), "time": f"{case.seconds:.3f}"}
    element = ElementTree.SubElement(suite, "testcase", facts)
    kind = _ELEMENTS.get(case.verdict)
    if kind is None:
        return
    told = {"message": _text(case.message)} | ({} if kind == "skipped" else {"type": case.verdict})
    inner = ElementTree.SubElement(element, kind, told)
    if kind != "skipped":
        inner.text = "\n".join(map(_text, case.details.split("\n")))


def _text(words: str) -> str:
    """Words without the characters that XML cannot hold."""
    return "".join(c if c not in "\ufffe\uffff" else "\ufffd" for c in printable(words))


def save(text: str, path: Path) -> None:
    """Write a file in one step, so that a reader finds either the old or the new one complete. RecordError on
    failure.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise RecordError(f"{path} cannot be written: {error.strerror or error}") from None
