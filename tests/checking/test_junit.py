"""What CI services are given is XML by the usual schema, whatever the words in it."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rulelab.checking.batch.junit import Case, document, save
from rulelab.errors import RecordError

CASES = [
    Case("rrule of f(x)", "shapes", "right", seconds=0.25),
    Case("rrule of g<y>", "shapes", "wrong", 'says "2 < 3"', "first line\n  & second", 0.5),
    Case("frule of h", "np", "inconclusive", "a kink", "a kink"),
    Case("frule of k", "np", "error", "died"),
    Case("frule of m", "np", "skipped", "not reached"),
]

# The elements that the usual readers take: children, attributes that they need, attributes that they allow.
SCHEMA = {
    "testsuites": ({"testsuite"}, {"name"}, {"name", "tests", "failures", "errors", "time"}),
    "testsuite": (
        {"testcase"},
        {"name", "tests"},
        {"name", "tests", "failures", "errors", "skipped", "time"},
    ),
    "testcase": ({"failure", "error", "skipped"}, {"name", "classname"}, {"name", "classname", "time"}),
    "failure": (set(), {"type"}, {"message", "type"}),
    "error": (set(), {"type"}, {"message", "type"}),
    "skipped": (set(), set(), {"message"}),
}


def assert_valid(element):
    """By the schema: known elements and attributes, the needed ones there, numbers where numbers belong."""
    children, needed, allowed = SCHEMA[element.tag]
    assert needed <= set(element.attrib) <= allowed
    for name in {"tests", "failures", "errors", "skipped"} & set(element.attrib):
        assert int(element.get(name)) >= 0
    assert float(element.get("time", "0")) >= 0
    for child in element:
        assert child.tag in children
        assert_valid(child)
    if element.tag == "testcase":
        assert len(element) <= 1
    if element.tag == "testsuite":
        for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(name)) == len(element.findall(f"testcase/{kind}"))
        assert int(element.get("tests")) == len(element.findall("testcase"))


def test_the_document_follows_the_schema():
    """A wrong rule is a failure; what is not known is an error, so that nobody takes it for passed."""
    root = ElementTree.fromstring(document("checks", CASES, 1.5))
    assert_valid(root)
    kinds = [[child.tag for child in case] for case in root.iter("testcase")]
    assert kinds == [[], ["failure"], ["error"], ["error"], ["skipped"]]


def test_words_arrive_as_they_are():
    """Quotes, angle brackets and lines survive; characters that XML cannot hold are replaced by a sign."""
    root = ElementTree.fromstring(document("checks", CASES, 0.0))
    failure = root.find(".//failure")
    assert failure.get("message") == 'says "2 < 3"' and failure.text == "first line\n  & second"
    odd = Case("\x00\x1b[31m\ud800\uffff", "m", "wrong", "\x08", "\x0b\nnext")
    case = ElementTree.fromstring(document("\x07", [odd], 0.0)).find(".//testcase")
    assert case.get("name") == "␀␛[31m\ufffd\ufffd" and case.find("failure").text == "␋\nnext"
    document("checks", [odd], 0.0).encode()


def test_a_document_without_cases_is_one():
    """Nothing checked is a suite of nothing."""
    assert_valid(ElementTree.fromstring(document("checks", [], 0.0)))


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    """Whoever reads the file finds the old or the new one; nothing else is left in the folder."""
    path = tmp_path / "out.xml"
    path.write_text("old")
    usual = path.stat().st_mode
    save("new", path)
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["out.xml"]
    assert path.stat().st_mode == usual
    with pytest.raises(RecordError, match="cannot be written"):
        save("new", tmp_path / "nowhere" / "out.xml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(RecordError, match="cannot be written"):
        save("new", tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["folder", "out.xml"]


def test_the_path_may_be_a_bare_name(tmp_path, monkeypatch):
    """`--junit out.xml` writes into the folder one is in."""
    monkeypatch.chdir(tmp_path)
    save("new", Path("out.xml"))
    assert (tmp_path / "out.xml").read_text() == "new"
