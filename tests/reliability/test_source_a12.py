"""A12: the text of a function is that of the code that runs; on text nobody changed there is no false alarm.

Cross-references: the cases (a) to (f) in both refresh modes are in tests/compiler/test_staleness.py, more in
tests/compiler/base/test_source.py.
"""

import ast
import dataclasses
import functools
import importlib
import importlib.util
import itertools
import os
import subprocess
import sys
import time
from collections import Counter

import pytest
from installed import codes_of, modules_of
from sessions import Session

import rulelab as rl
from rulelab.compiler.base.source import find_source
from rulelab.errors import SourceMismatchError, SourceNotFoundError

SOME = ("ipywidgets", "mpmath", "jinja2", "tabulate")
MANY = ("hypothesis", "IPython", "traitlets", "numpy", "sympy", "mypy", "jupyter_server", "jupyterlab", *SOME)


def survey(packages, most):
    """How many functions have their source found, how many have none; those that raised a false alarm."""
    counts, alarms = Counter(), []
    codes = itertools.chain.from_iterable(map(codes_of, modules_of(packages)))
    codes = (code for code in codes if code.co_name != "__annotate__")  # Python's own, from 3.14 on
    for code in itertools.islice(codes, most):
        try:
            source = find_source(code)
        except SourceNotFoundError:
            counts["none"] += 1
            if not code.co_filename.startswith("<"):
                alarms.append(code)
            continue
        except SourceMismatchError:
            alarms.append(code)
            continue
        counts["found"] += 1
        assert getattr(source.node, "name", "<lambda>") == code.co_name
        first = min([source.node.lineno, *(d.lineno for d in getattr(source.node, "decorator_list", ()))])
        assert first == code.co_firstlineno
    return counts, alarms


def test_a12_no_false_alarm():
    """The functions of installed packages have their source found, or come from no file at all."""
    counts, alarms = survey(SOME, 400)
    assert not alarms and counts["found"] > 300


@pytest.mark.campaign
def test_a12_no_false_alarm_on_thousands():
    """The same for more packages."""
    start = time.perf_counter()
    counts, alarms = survey(MANY, 6000)
    print(f"\n{dict(counts)} in {time.perf_counter() - start:.0f} s")
    assert not alarms and counts["found"] >= 3000


# --- files ---


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Writes a module, each time with a new time of change, and imports or reloads it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / f"module_of_{tmp_path.name}.py"
    times = itertools.count(int(time.time()) - 1000)

    class File:
        name, path_of = path.stem, path

        def write(self, text):
            path.write_text(text)
            os.utime(path, (stamp := next(times), stamp))

        def load(self):
            importlib.invalidate_caches()
            return importlib.import_module(self.name)

    yield File()
    sys.modules.pop(path.stem, None)


def test_a12_edited_then_reloaded(file):
    """An edited file is refused for what was loaded before; reloaded, its functions are the new ones."""
    file.write("def f(x):\n    return x * x\n")
    module = file.load()
    old = module.f
    assert rl.gradient(old, 3.0) == (6.0,)
    file.write("\n\ndef f(x):\n    return 5.0 * x\n")
    fresh = file.load()
    assert fresh is module and rl.gradient(module.f, 3.0) == (6.0,)  # known from before the edit
    importlib.reload(module)
    assert rl.gradient(module.f, 3.0) == (5.0,)
    assert rl.gradient(old, 3.0) == (6.0,)


REWRITTEN = """\
class Box:
    # what it does
    def act(self, x):
        return SLOPE * x  # a comment


def plain(x):
    '''What it does.'''
    inner = lambda v: SLOPE * v   # spaces that nobody keeps
    return inner(x)
"""


def test_a12_autoreload(file):
    """`%autoreload` compiles a changed function anew from its syntax tree, and that one counts."""
    reloading = pytest.importorskip("IPython.extensions.deduperreload.deduperreload").DeduperReloader()
    file.write(REWRITTEN.replace("SLOPE", "2.0"))
    module = file.load()
    plain, act = module.plain, module.Box().act
    reloading.source_by_modname[file.name] = file.path_of.read_text()
    for slope in (3.0, 5.0):
        file.write(REWRITTEN.replace("SLOPE", str(slope)))
        assert reloading.maybe_reload_module(module)
        assert plain.__code__.co_firstlineno == 1  # or it was compiled with its file, which is no test
        for f in (plain, act):
            assert rl.gradient(f, 2.0) == (slope,)


def test_a12_edited_before_the_first_gradient(file):
    """A file that was edited between its import and the first gradient is refused."""
    file.write("def f(x):\n    return x * x\n")
    f = file.load().f
    file.write("def f(x):\n    return x * 9\n")
    with pytest.raises(SourceMismatchError):
        rl.gradient(f, 3.0)


@pytest.mark.parametrize("line", ["", "# a comment\n", "import math\n"])
def test_a12_lines_inserted_above(file, line):
    """Lines above a function that move it: refused until it is reloaded, whatever the lines are."""
    file.write("K = 1.0\ndef f(x):\n    return x * x\n")
    module = file.load()
    file.write(line + "K = 1.0\ndef f(x):\n    return x * x\n")
    if line:
        with pytest.raises(SourceMismatchError):
            rl.gradient(module.f, 3.0)
        importlib.reload(module)
    assert rl.gradient(module.f, 3.0) == (6.0,)


def test_a12_future_annotations(file):
    """A file with `from __future__ import annotations` is read as it was compiled."""
    file.write(
        "from __future__ import annotations\nimport numpy as np\n\n\n"
        "def f(x: Undefined, k: 'also undefined' = 2.0) -> Nothing:\n"
        "    y: Later = np.sum(x)\n    return y * k\n"
    )
    assert rl.gradient(file.load().f, 3.0) == (2.0,)


def test_a12_exec_under_the_name_of_a_file(file):
    """Code run under the name of a file that has another text is refused, with the same text it is right."""
    file.write("def f(x):\n    return x * x\n")
    file.load()
    names = {}
    exec(compile("def f(x):\n    return x * 9.0\n", str(file.path_of), "exec"), names)
    with pytest.raises(SourceMismatchError):
        rl.gradient(names["f"], 3.0)
    exec(compile("def f(x):\n    return x * x\n", str(file.path_of), "exec"), names)
    assert rl.gradient(names["f"], 3.0) == (6.0,)


def test_a12_pytest_rewrites_assertions(tmp_path):
    """In a test module, whose assertions pytest rewrites, functions are right or refused."""
    (tmp_path / "test_inside.py").write_text(
        "import rulelab as rl\n\n"
        "def plain(x):\n    return x * x\n\n"
        "def asserting(x):\n    assert x > 0\n    return x * x * 2.0\n\n"
        "def test_plain():\n    assert rl.gradient(plain, 3.0) == (6.0,)\n\n"
        "def test_asserting():\n"
        "    try:\n        found = rl.gradient(asserting, 3.0)\n"
        "    except (rl.SourceMismatchError, rl.UnsupportedSyntaxError):\n        return\n"
        "    assert found == (12.0,)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_inside.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # others' take longer than the tests
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


# --- cells ---


def test_a12_cell_edited_in_place():
    """A cell edited and run again under its name: the new function, also for a caller in another cell."""
    session = Session()
    session.run("def g(x):\n    return x * x\n", "in place")
    session.run("def f(x):\n    return g(x) + x\n")
    assert rl.gradient(session["f"], 3.0) == (7.0,)
    for k in (2, 3, 4):
        session.run(f"def g(x):\n    return x * {k}.0\n", "in place")
        assert rl.gradient(session["f"], 3.0) == (k + 1.0,)


def test_a12_function_kept_from_a_cell_that_was_edited():
    """A function kept from a cell that was edited since stays what it was, or is refused."""
    session = Session()
    session.run("def g(x):\n    return x * x\n", "kept")
    kept = session["g"]
    session.run("def g(x):\n    return x * 9.0\n", "kept")
    with pytest.raises(SourceMismatchError):
        rl.gradient(kept, 3.0)
    assert rl.gradient(session["g"], 3.0) == (9.0,)


# --- functions that look alike ---


def test_a12_two_lambdas_on_a_line():
    """Two lambdas on one line are told apart, with other code and with the same."""
    other = [lambda x: 2.0 * x, lambda x: 3.0 * x]
    assert [rl.gradient(f, 1.0) for f in other] == [(2.0,), (3.0,)]
    scale = (2.0, 5.0)
    same = [lambda x, k=scale[0]: k * x, lambda x, k=scale[1]: k * x]
    assert [rl.gradient(f, 1.0) for f in same] == [(2.0,), (5.0,)]
    nested = [lambda x: (lambda y: y * y)(x), lambda x: (lambda y: y * y * y)(x)]
    assert [rl.gradient(f, 2.0) for f in nested] == [(4.0,), (12.0,)]


def test_a12_lambdas_in_comprehensions():
    """Lambdas made in comprehensions are found, each with what it captured."""
    bound = [lambda x, k=k: k * x for k in (1.0, 2.0, 3.0)]
    late = [lambda x: k * x for k in (1.0, 2.0, 3.0)]
    keyed = {k: (lambda x: x * x * k) for k in (1.0, 2.0)}
    assert [rl.gradient(f, 1.0)[0] for f in bound] == [1.0, 2.0, 3.0]
    assert [rl.gradient(f, 1.0)[0] for f in late] == [3.0, 3.0, 3.0]
    assert [rl.gradient(f, 1.0)[0] for f in keyed.values()] == [4.0, 4.0]
    pairs = [(lambda x: x * k, lambda x: x * x * k) for k in (2.0,)][0]
    assert [rl.gradient(f, 3.0)[0] for f in pairs] == [2.0, 12.0]


def twice(f):
    @functools.wraps(f)
    def wrapper(x):
        return f(f(x))

    return wrapper


@twice
@twice
def squared(x):
    return x * x


def test_a12_wraps():
    """A wrapper that borrows a name and `__wrapped__` is differentiated as the wrapper it is."""
    assert rl.gradient(squared, 1.1)[0] == pytest.approx(16 * 1.1**15)
    assert rl.gradient(squared.__wrapped__, 1.1)[0] == pytest.approx(4 * 1.1**3)
    assert "f(f(x))" in ast.unparse(find_source(squared.__code__).node)


@dataclasses.dataclass(order=True)
class Point:
    a: float
    b: float = 2.0

    def norm(self):
        return self.a * self.a + self.b


def test_a12_methods_that_a_dataclass_generates():
    """The methods that a dataclass writes have no source, and say so; its own methods have theirs."""
    for name in ("__init__", "__eq__", "__lt__", "__repr__"):
        code = getattr(Point, name)
        code = getattr(code, "__wrapped__", code).__code__
        with pytest.raises(SourceNotFoundError if code.co_filename == "<string>" else SourceMismatchError):
            find_source(code)
    assert "self.b" in ast.unparse(find_source(Point.norm.__code__).node)
    assert rl.gradient(lambda p: p.norm(), Point(3.0))[0].a == 6.0
