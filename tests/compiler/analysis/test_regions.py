"""Which names may stand for one container, and which of these can be changed under another name."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.analysis.regions import may_hold
from rulelab.compiler.base import ir
from rulelab.compiler.calls import passes
from rulelab.compiler.calls.cache import Cache
from rulelab.rules.kinds import ANY, CELL, DICT, F8, FLOAT, FUNCTION, INT, LIST, STR, Array, Tuple


@pytest.fixture
def shared_names(monkeypatch):
    """The names of the shared regions of a function (`of`, or the one that is differentiated)."""
    seen = {}
    share = passes.share

    def noted(function, regions, types):
        share(function, regions, types)
        names = {s.target for s in ir.walk(function.body) if isinstance(s, ir.Let)} | set(function.parameters)
        seen.setdefault(function.name, {name for name in names if regions.shared(name)})

    monkeypatch.setattr(passes, "share", noted)

    def names(f, *args, of=None):
        rl.gradient(f, *args, cache=Cache())
        return seen[(of or f).__name__]

    return names


@pytest.mark.parametrize("kind", [ANY, LIST, DICT, FUNCTION, CELL, Tuple((FLOAT, LIST))])
def test_types_that_may_hold_containers(kind):
    """Containers, functions, cells, what is not known, and tuples with such in them."""
    assert may_hold(kind)


@pytest.mark.parametrize("kind", [FLOAT, F8, INT, STR, Array("f8", 1), Tuple((FLOAT, INT)), Tuple(())])
def test_types_that_hold_none(kind):
    """Numbers, strings, arrays and tuples of them are no containers that can change."""
    assert not may_hold(kind)


@pytest.mark.parametrize(
    "text, there",
    [
        ("return x * x + n", False),
        ("return np.sum(x[1:]) ** 2 if n > 1 else x[0]", False),
        ("t = x, n\n    return t[0]", False),
        ("xs = [x]\n    return xs[0]", False),
        ("xs = [x]\n    return xs[n - 3]", True),
        ("return sum(list(x)) * n", True),
        ("return helper(x)", True),
    ],
)
def test_functions_of_numbers_and_arrays_have_no_regions(text, there, tmp_path, monkeypatch):
    """Nothing in them is a container that can change, so nobody need look who has it."""
    seen = []
    share = passes.share

    def noted(function, regions, types):
        seen.append((function.name, regions.are_there))
        share(function, regions, types)

    monkeypatch.setattr(passes, "share", noted)
    path = tmp_path / "regions_or_none.py"
    path.write_text(f"import numpy as np\n\n\ndef helper(x):\n    return [x]\n\n\ndef f(x, n):\n    {text}\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    try:
        rl.gradient(names["f"], np.array([1.0, 2.0]), 3, cache=Cache())
    except rl.RuleLabError:
        pass  # not every one of these gives a number
    assert ("f", there) in seen


def adds(xs, v):
    xs.extend([v])


def test_a_list_that_only_grows_here_is_not_shared(shared_names):
    """A list that is filled, read and summed stays a value: nothing goes by identity."""

    def f(x):
        xs = []
        for k in range(3):
            xs.append(x * k)
        return sum(xs) + np.sum(np.array(xs)) + xs[0]

    assert shared_names(f, 2.0) == set()


def written(x):
    xs = [x]
    xs[:1] = [x * x]
    return xs[0]


def handed_to_a_helper(x):
    xs = [x]
    adds(xs, x)
    return xs[1]


def captured(x):
    xs = [x]
    push = lambda v: xs.extend([v])  # noqa: E731
    push(x)
    return xs[1]


@pytest.mark.parametrize("f", [written, handed_to_a_helper, captured])
def test_a_list_that_is_changed_is_shared(shared_names, f):
    """A slice that is replaced, a helper and a closure that extend it each make a list shared."""
    assert any(name.startswith("xs") for name in shared_names(f, 2.0))


def test_aliases_are_shared_together(shared_names):
    """What is written under one name is shared under all names that may mean it, and under no others."""

    def f(x):
        a, b, c = [x], [x], [x]
        d = a if x > 0 else b
        held = (d, x)
        held[0][0] = x * x
        return a[0] + b[0] + x * len(c) * len(held)

    shared = {name.rstrip("_0123456789") for name in shared_names(f, 2.0)}
    assert {"a", "b", "held"} <= shared
    assert "c" not in shared


def rows(x):
    return [[x * k] for k in range(2)]


def row(x):
    return [x * k for k in range(2)]


def record(x):
    return {"w": [x, x], "b": (x, [1.0])}


def sums_rows(x):
    given = [rows, row, record]  # called by their names they would be inlined
    return sum([r[0] for r in given[0](x)]) + sum(given[1](x)) + given[2](x)["w"][0]


def test_lists_in_lists_that_are_returned_are_shared(shared_names):
    """Rows made in a loop and returned in a list are shared, since the caller may change them; one list, or
    lists with names of their own, are not.
    """
    assert shared_names(sums_rows, 2.0, of=rows)
    assert not shared_names(sums_rows, 2.0, of=row)
    assert not shared_names(sums_rows, 2.0, of=record)
