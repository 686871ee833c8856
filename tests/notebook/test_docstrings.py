"""Docstrings have what a reader looks for, and are shown as such."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import types

import pytest

from rulelab.notebook import docstrings

PACKAGES = tuple(
    "rulelab" + part for part in ("", ".bench", ".checking", ".portability", ".symbolic", ".notebook")
)
NEVER_RAISES = {"sized_text"}


def _described(function):
    """The parameters that a docstring says something of: those shown, but for what is handed on, which it
    describes together under `options`.
    """
    code = inspect.unwrap(function).__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]
    shown = inspect.signature(function).parameters
    return [*(p for p in shown if p in own), "options"] if "options" in own else list(shown)


def _with_many_parameters():
    """(name, function or method, its parameters) of what is public and takes more than two."""
    for package in map(importlib.import_module, PACKAGES):
        for public in package.__all__:
            value = getattr(package, public)
            functions = [(public, value)] if isinstance(value, types.FunctionType) else []
            if isinstance(value, type) and not issubclass(value, Warning):
                written = (x for x in vars(value).items() if isinstance(x[1], types.FunctionType))
                functions = [(f"{public}.{name}", f) for name, f in written if not name.startswith("_")]
            for name, function in functions:
                parameters = [p for p in _described(function) if p != "self"]
                if len(parameters) > 2:
                    yield pytest.param(name, function, parameters, id=f"{package.__name__}.{name}")


MADE_BY_US = {"Checking"}
"""Classes whose objects a function of ours makes, and nobody else."""
DATACLASSES_OF_USERS = {"FiniteDifferenceMethod", "Settings"}
"""The others are reports, and say of each field what it is."""


def _reports():
    """Classes with fields that a function of ours fills in, and the names of the fields they state."""
    for package in map(importlib.import_module, PACKAGES):
        for name in package.__all__:
            made = getattr(package, name)
            if not isinstance(made, type) or name in DATACLASSES_OF_USERS:
                continue
            fields = getattr(made, "_fields", None)
            if dataclasses.is_dataclass(made):
                fields = [f.name for f in dataclasses.fields(made) if f.name in made.__annotations__]
            if fields:
                yield pytest.param(made, set(fields), id=f"{package.__name__}.{name}")


def _made_by_users():
    """Classes that take more than two parameters of their own."""
    for package in map(importlib.import_module, PACKAGES):
        for name in package.__all__:
            made = getattr(package, name)
            is_ours = isinstance(made, type) and {"__init__", "__new__"} & vars(made).keys()
            if not is_ours or name in MADE_BY_US or issubclass(made, tuple | Warning):
                continue
            if dataclasses.is_dataclass(made) and name not in DATACLASSES_OF_USERS:
                continue
            parameters = list(inspect.signature(made).parameters)
            if len(parameters) > 2:
                yield pytest.param(made, parameters, id=f"{package.__name__}.{name}")


@pytest.mark.parametrize("made, parameters", list(_made_by_users()))
def test_a_class_of_many_parameters_says_what_each_is(made, parameters):
    """And how it is used."""
    found = docstrings.sections(inspect.getdoc(made))
    assert docstrings.names_of(found.get("Parameters", "")) == parameters
    assert ">>>" in found["Examples"]


@pytest.mark.parametrize("made, fields", list(_reports()))
def test_a_result_says_what_each_of_its_fields_is(made, fields):
    """Its type, and its meaning in words; where a class adds to another, its own fields at least."""
    found = list(docstrings.entries(docstrings.sections(inspect.getdoc(made)).get("Attributes", "")))
    assert fields <= {name.strip() for names, _, _ in found for name in names.split(",")}
    assert all(words for _, _, words in found) and all(kind for _, kind, _ in found[:1])


@pytest.mark.parametrize("name, function, parameters", list(_with_many_parameters()))
def test_a_function_of_many_parameters_says_what_each_is(name, function, parameters):
    """And what it returns, what it raises, and how it is used; the examples run with all others."""
    found = docstrings.sections(inspect.getdoc(function))
    assert docstrings.names_of(found.get("Parameters", "")) == parameters
    assert all(words for _, _, words in docstrings.entries(found["Parameters"]))
    assert found["Returns"] and ">>>" in found["Examples"]
    assert found.get("Raises") or name in NEVER_RAISES


def test_the_sections_are_shown_as_lists():
    """In a terminal, in a notebook and in a browser."""
    from rulelab.notebook import docs
    from rulelab.notebook.manual import page_html, pages

    text = str(docs("rule_check"))
    assert "**Parameters**" in text and "- `f` (callable): The function with the rule." in text
    assert '  - `depth`: "quick", "normal" or "deep".' in text and "-------" not in text
    html = page_html("reference/checking", pages()["reference/checking"])
    assert "<strong>Parameters</strong>" in html and "<code>*args</code>: Where to begin." in html
    assert "----" not in html
