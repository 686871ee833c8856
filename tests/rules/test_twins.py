"""Tests of twins."""

import functools
import inspect
import linecache
import math

import numpy as np
import pytest

from rulelab.errors import RuleRegistrationError
from rulelab.rules.authoring import rrule_for
from rulelab.rules.registry import Registry
from rulelab.rules.twins import is_twin, twin, written
from rulelab.tangents.zeros import NoTangent


def make(source, name="f"):
    """A function as a cell would define it, in a namespace of its own."""
    space = {"__name__": "__main__"}
    exec(source, space)
    return space[name], space


def test_a_twin_calls_whatever_has_the_name_now():
    """After I define f again, f_cr computes the new f: it looks f up when it is called."""
    f, space = make("def f(x, /, y=2.0, *rest, k=1, **more): return (x, y, rest, k, more)")
    f_cr = twin(f, "f_cr")
    assert f_cr(1, 2, 3, k=4, z=5) == f(1, 2, 3, k=4, z=5) and f_cr(1) == f(1)
    assert inspect.signature(f_cr) == inspect.signature(f) and f_cr.__name__ == "f_cr"
    exec("def f(x, /, *a, **k): return 'new'", space)
    assert f_cr(1) == "new"


def test_of_a_twin_that_calls_itself_nobody_wrote_anything():
    """Whoever gives the twin the name of its function has a function without an end, and is to hear of it."""
    f, space = make("def f(x): return x")
    space["f"] = f_cr = twin(f, "f_cr")
    assert written(f_cr) is f_cr
    g_cr = twin(make("def g(x): return x", "g")[0], "g_cr")
    g_cr.__globals__["g"], space["f"] = f_cr, g_cr
    assert written(f_cr) in (f_cr, g_cr)


def test_a_twin_of_something_not_found_by_name_holds_it():
    """A local function, a C function and a function whose name is a parameter have twins too."""

    def local(x):
        return x + 1

    f, _ = make("def f(f): return f + 1")
    assert (
        twin(local, "local_cr")(1) == 2 and twin(math.hypot, "h")(3.0, 4.0) == 5.0 and twin(f, "f_cr")(1) == 2
    )


def test_a_twin_is_recognised_and_its_source_is_readable():
    """A twin is told from a function of mine, also from a wrapper of it, and its text is there for
    tracebacks.
    """
    f, _ = make("def f(x): return x")
    f_cr = twin(f, "f_cr")

    @functools.wraps(f_cr)
    def mine(x):
        return x

    assert is_twin(f_cr) and not is_twin(f) and not is_twin(mine) and not is_twin(3)
    assert inspect.getsource(f_cr) == "def f_cr(x):\n    return f(x)\n"
    assert linecache.getline(f_cr.__code__.co_filename, 2).strip() == "return f(x)"


@pytest.mark.parametrize("name", ["f", "1x", "class", "a b", "f(x): import os #"])
def test_bad_names_are_refused(name):
    """A name that is no name, or that would make the twin call itself, is refused."""
    f, _ = make("def f(x): return x")
    with pytest.raises(RuleRegistrationError):
        twin(f, name)


def test_the_twin_of_a_ufunc_takes_its_inputs():
    """`out=` and the like stay with the ufunc itself."""
    t = twin(np.sin, "t")
    assert t(0.5) == np.sin(0.5) and list(inspect.signature(t).parameters) == ["x"]
    two = twin(np.hypot, "two")
    assert two(3.0, 4.0) == 5.0
    rrule_for(t, registry=Registry())(lambda x: (np.sin(x), lambda y_bar: (NoTangent(), y_bar * np.cos(x))))
