"""The text that is found for a function is the text of the code that runs, or there is an error."""

import argparse
import ast
import functools
import gc
import importlib.util
import inspect
import linecache
import os
import statistics
import textwrap
import weakref
from pathlib import Path

import numpy as np
import pytest

from rulelab.compiler.base import source
from rulelab.compiler.base.source import find_source
from rulelab.errors import SourceMismatchError, SourceNotFoundError


def text_of(f):
    return ast.unparse(find_source(f.__code__).node)


def test_two_lambdas_of_a_line():
    """Lambdas of one line, even with the same text, are told apart by their columns."""
    double, triple = (lambda x: 2 * x), (lambda x: 3 * x)
    assert text_of(double) == "lambda x: 2 * x"
    assert text_of(triple) == "lambda x: 3 * x"
    twins = [lambda x: x, lambda x: x]
    columns = [find_source(f.__code__).place().column for f in twins]
    assert columns[0] < columns[1]


def test_a_lambda_inside_a_lambda():
    """`lambda k: lambda x: …` on one line is two functions, and both are found."""
    outer = lambda k: lambda x: k * x
    assert text_of(outer) == "lambda k: lambda x: k * x"
    assert text_of(outer(2)) == "lambda x: k * x"


def test_a_lambda_in_the_default_of_a_lambda():
    """A lambda that is a default value is not the lambda it belongs to."""
    outer = lambda x, g=lambda y: y + 1: g(x)
    assert text_of(outer.__defaults__[0]) == "lambda y: y + 1"
    assert text_of(outer) == "lambda x, g=lambda y: y + 1: g(x)"


def twice(f):
    @functools.wraps(f)
    def wrapper(x):
        return f(f(x))

    return wrapper


@twice
@twice
def decorated(x):
    return x + 1


def test_decorated_function():
    """functools.wraps lends a wrapper the name of another function, but not its text."""
    assert decorated.__name__ == "decorated"
    assert "f(f(x))" in text_of(decorated)
    inner = decorated.__wrapped__.__wrapped__
    assert find_source(inner.__code__).node.name == "decorated"
    assert find_source(inner.__code__).node.body[0].value.op.__class__ is ast.Add


def test_functions_of_one_name():
    """Nested functions of one name in one file are each their own."""

    def first():
        def same(x):
            return x + 1

        return same

    def second():
        def same(x):
            return x + 2

        return same

    assert "x + 1" in text_of(first())
    assert "x + 2" in text_of(second())


class Methods:
    def method(self, x):
        return x + 1

    @staticmethod
    def static(x):
        return x + 2

    by_lambda = lambda self, x: x + 3


@pytest.mark.parametrize("name, fragment", [("method", "x + 1"), ("static", "x + 2"), ("by_lambda", "x + 3")])
def test_methods(name, fragment):
    """The text of a method is found, also if it is static or a lambda."""
    assert fragment in text_of(getattr(Methods, name))


def module_of(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def edit(path, text):
    """Write the file anew with a time of change that differs for certain."""
    before = path.stat().st_mtime
    path.write_text(text)
    os.utime(path, (before + 2, before + 2))


def test_file_edited_after_loading(tmp_path):
    """A function whose file has changed is refused, with the line it was loaded from."""
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x + 1\n")
    f = module_of(path, "edited").f
    edit(path, "def f(x):\n    return x + 2\n")
    with pytest.raises(SourceMismatchError) as caught:
        find_source(f.__code__)
    assert caught.value.place.line == 1
    assert caught.value.place.filename == str(path)
    assert "f()" in str(caught.value) and "reload" in str(caught.value)


def test_file_edited_elsewhere(tmp_path):
    """Lines inserted above a function put another text at its place: refused, not taken."""
    path = tmp_path / "moved.py"
    path.write_text("k = 1\ndef f(x):\n    return x + 1\n")
    f = module_of(path, "moved").f
    edit(path, "k = 1\ndef g(x):\n    return x + 1\n\ndef f(x):\n    return x + 1\n")
    with pytest.raises(SourceMismatchError):
        find_source(f.__code__)


def test_file_put_back(tmp_path):
    """When the text is again what was loaded, it is found again."""
    path, text = tmp_path / "back.py", "def f(x):\n    return x + 1\n"
    path.write_text(text)
    f = module_of(path, "back").f
    edit(path, "def f(x):\n    return x + 2\n")
    with pytest.raises(SourceMismatchError):
        find_source(f.__code__)
    edit(path, text)
    assert "x + 1" in text_of(f)


def test_exec_under_the_name_of_a_file():
    """Code run under the name of a file that holds another text is refused."""
    names = {}
    exec(compile("def twice(f):\n    return f\n", __file__, "exec"), names)
    with pytest.raises(SourceMismatchError):
        find_source(names["twice"].__code__)


def test_without_text():
    """Code that came from no file or cell is an error that says so."""
    names = {}
    exec(compile("def f(x):\n    return x\n", "<nowhere>", "exec"), names)
    with pytest.raises(SourceNotFoundError, match=r"f\(\).*<nowhere>"):
        find_source(names["f"].__code__)


def test_cell_run_statement_by_statement(cells):
    """A cell that imports and uses NumPy is found, although Python compiles its statements one by one."""
    f = cells.run("import numpy as np\n\ndef f(x):\n    return np.sum(x)\n\ng = lambda x: np.sum(x)\n")["f"]
    assert "np.sum(x)" in text_of(f)
    assert text_of(cells.names["g"]) == "lambda x: np.sum(x)"


def test_cell_text_replaced(cells):
    """A cell whose text was changed and not run again is refused."""
    f = cells.run("def f(x):\n    return x + 1\n", "<cell replaced>")["f"]
    text = "def f(x):\n    return x + 2\n"
    linecache.cache["<cell replaced>"] = (len(text), None, text.splitlines(keepends=True), "<cell replaced>")
    with pytest.raises(SourceMismatchError):
        find_source(f.__code__)


def test_future_import(tmp_path):
    """A file with `from __future__ import annotations` is compiled as it was."""
    path = tmp_path / "future.py"
    path.write_text("from __future__ import annotations\n\ndef f(x: Unknown) -> None:\n    return x\n")
    assert "x: Unknown" in text_of(module_of(path, "future").f)


def test_coroutine():
    """An asynchronous function has its text found, so that it can be refused at its line."""

    async def wait(x):
        return x

    assert isinstance(find_source(wait.__code__).node, ast.AsyncFunctionDef)


def test_place():
    """A place is the file, the line, the columns and the text of the expression."""
    f = lambda x: x + 12345
    source = find_source(f.__code__)
    place = source.place(source.node.body.right)
    assert place.filename == __file__
    assert place.line == f.__code__.co_firstlineno
    assert place.text[place.column : place.end_column] == "12345"


def test_place_of_several_lines():
    """The place of an expression over several lines ends with its first line."""
    # fmt: off
    f = lambda x: max(x,
                      12345)
    # fmt: on
    source = find_source(f.__code__)
    place = source.place(source.node.body)
    assert place.text[place.column : place.end_column] == "max(x,"


def test_memory(cells):
    """What was found for a function is forgotten with its code."""
    cells.run("def f(x):\n    return x\n")
    find_source(cells.names["f"].__code__)
    held = weakref.ref(cells.names["f"].__code__)
    del cells.names["f"]
    gc.collect()
    assert held() is None


def test_lambdas_that_give_constants_are_told_apart():
    """Python 3.12 keeps no columns of them: by their constants, and where these are alike either will do."""
    one, two, same = (lambda x: 3.0), (lambda x: 4.0 + 1j), (lambda x: 3.0)
    for f, constant in ((one, "3.0"), (two, "4.0 + 1j"), (same, "3.0")):
        assert ast.unparse(find_source(f.__code__).node.body) == constant


def test_a_text_that_nests_too_deep_is_named_as_such(monkeypatch):
    """Where Python's own parser gives up, the file is not said to have changed."""

    def too_deep(text, filename):
        raise RecursionError

    monkeypatch.setattr(source, "parse", too_deep)
    monkeypatch.setattr(source, "_FILES", {})
    with pytest.raises(SourceNotFoundError, match=r"is nested more deeply than") as caught:
        find_source(test_two_lambdas_of_a_line.__code__.replace(co_name="new"))
    assert "break up the longest expression" in str(caught.value)


def test_only_the_statement_around_a_function_is_compiled(monkeypatch):
    """Once for all functions in it: a long file takes long to read."""
    read = []
    monkeypatch.setattr(source, "parse", lambda text, name="": read.append(text.strip()) or ast.parse(text))
    monkeypatch.setattr(source, "_STATEMENTS", {})
    for f in (lambda x: x + 1, twice, lambda x: x + 2):
        source._search(f.__code__)
    begun = [text.splitlines()[0] for text in read]
    assert begun.count("def test_only_the_statement_around_a_function_is_compiled(monkeypatch):") == 1
    assert all(text.startswith(("def ", "import ", "from ")) for text in read)


@pytest.mark.parametrize("module", [argparse, statistics, textwrap, source, np.lib._polynomial_impl])
def test_the_statement_alone_gives_what_the_whole_text_gives(module):
    """Of every function of some modules; most are found in their statement."""
    text = Path(module.__file__).read_text(encoding="utf-8")
    whole = compile(text, module.__file__, "exec", dont_inherit=True)
    functions = [code for code in source.codes_inside(whole) if code.co_flags & inspect.CO_OPTIMIZED]
    functions = [code for code in functions if code.co_name != "__annotate__"]  # from Python 3.14 on
    found = 0
    for code in functions:
        alone, wanted = source._in_statement(code, text), source._match(code, text)
        if alone is not None:
            found += 1
            assert wanted is not None and alone.lines == wanted.lines and alone.name == wanted.name
            assert ast.dump(alone.node, include_attributes=True) == ast.dump(
                wanted.node, include_attributes=True
            )
    assert found > 0.8 * sum(code.co_name.isidentifier() for code in functions)


def test_what_a_statement_alone_does_not_tell(tmp_path):
    """Imports that are no statement of their own, and texts that reach the margin."""
    path = tmp_path / "margins.py"
    path.write_text(
        "try:\n    import math\nexcept ImportError:\n    math = None\n\n\n"
        "def f(x):\n    return math.sin(x)\n\n\n"
        'def g(x):\n    """One line\n' + 'another = """\n    return x * 3.0\n\n\n'
        "@staticmethod\n@(lambda f: f)\ndef h(x):\n    return x * 4.0\n\n\n"
        "if True:\n    def k(x):\n        return x * 5.0\nelse:\n    def k(x):\n        return x\n"
    )
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    for name, line in (("f", 7), ("g", 11), ("h", 19), ("k", 24)):
        f = namespace[name]
        found = find_source(getattr(f, "__func__", f).__code__)
        assert (found.node.name, found.node.lineno) == (name, line)
