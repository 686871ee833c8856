"""Modules of rules, written to a folder for one test and forgotten after it."""

from __future__ import annotations

import sys

import pytest

from rulelab.checking import doctor


@pytest.fixture
def write(tmp_path):
    """`write("name", text)` gives the path of a module; the import of it is undone at the end."""
    path, modules = list(sys.path), set(sys.modules)

    def written(name, text):
        file = tmp_path / f"{name}.py"
        file.write_text(text)
        return str(file)

    yield written
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


@pytest.fixture
def without_diagnoses(request, monkeypatch):
    """A verdict alone: to look for the mistake and its correction takes most of the time of a wrong rule."""
    if request.node.get_closest_marker("diagnosed") is None:
        monkeypatch.setattr(doctor, "diagnose", lambda *_: ())
