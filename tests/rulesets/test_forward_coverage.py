"""What reverse mode knows of containers, iterators and builtins, forward mode knows too."""

import bisect
import builtins
import collections
import copy
import dataclasses
import functools
import heapq
import inspect
import itertools
import operator
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from rulelab.compiler.base import classes as of_classes
from rulelab.compiler.calls import iterators as of_iterators
from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.calls.holders import CALLING
from rulelab.compiler.calls.pullbacks import Pullbacks
from rulelab.compiler.memory import containers as of_containers
from rulelab.python_facts import CONSUMING
from rulelab.rules.registry import Registry
from rulelab.rules.targets import name_of
from rulelab.rulesets import containers, standins
from rulelab.rulesets.catalogue import install

REGISTRY = Registry()
install(REGISTRY)
PULLBACKS = Pullbacks(Cache(REGISTRY))

BY_THE_COMPILER = {  # asked at the call site, of the class that is met there; not by a rule on one target
    super: "what it gives is an attribute of the object",
}
FORMS = {  # objects that are called: their rules sit on the `__call__` of their class
    functools.partial: functools.partial.__call__,
    operator.itemgetter: operator.itemgetter.__call__,
    operator.attrgetter: operator.attrgetter.__call__,
    operator.methodcaller: operator.methodcaller.__call__,
}


def known_in_reverse():
    """Every callable that reverse mode has an answer for, of containers, iterators and builtins."""
    found = [*of_containers._METHODS, *of_containers._OF_SETS]
    found += [*PULLBACKS.iteration.makers, of_iterators._FROM_ITERABLE, *CONSUMING]
    found += [*filter(of_classes.is_of_c, CALLING), *FORMS.values(), np.vectorize.__call__]
    found += [*of_classes.FIRST, *of_classes.BINARY]
    found += [target for target, _ in (*containers.TABLE.rules, *standins.TABLE.rules)]
    found += [target for target, _ in standins.TABLE.stand_ins]
    each = {id(target): target for target in found}.values()
    # Some come from sets, and each process has to list them in the same order.
    return sorted(each, key=lambda target: (name_of(target), str(getattr(target, "__qualname__", ""))))


@pytest.mark.parametrize("target", known_in_reverse(), ids=name_of)
def test_forward_mode_has_an_answer(target):
    """A forward rule, a stand-in whose own tangent is taken, or a reason."""
    stand_in = REGISTRY.stand_in(target)
    by_stand_in = stand_in is not None and stand_in.function is not None
    rule = REGISTRY.entry_in("frule", target)
    own = getattr(target, "__module__", "") == standins.__name__  # Python code that stands in for something
    assert rule is not None or by_stand_in or own or target in BY_THE_COMPILER, name_of(target)


STAND_INS = {
    *(np.apply_along_axis, np.fromiter, np.piecewise, np.ndarray.__getitem__),
    *([np.row_stack] if getattr(np, "row_stack", np.vstack) is not np.vstack else []),
    *(heapq.heappush, heapq.heappop, heapq.heapreplace, heapq.heappushpop, heapq.heapify),
    *(heapq.nsmallest, heapq.nlargest, heapq.merge, bisect.insort_left, bisect.insort_right),
    *(collections._count_elements, collections.Counter.most_common, inspect.unwrap, getattr),
    *(dataclasses.replace, dataclasses.asdict, dataclasses.astuple),
    *(getter.__call__ for getter in (operator.itemgetter, operator.attrgetter, operator.methodcaller)),
}


def test_which_functions_go_by_their_stand_in():
    """These have no forward rule: the tangent of the plain Python that stands in for them is taken."""
    without = {
        target
        for target, stand_in in standins.TABLE.stand_ins
        if stand_in.function is not None and REGISTRY.entry_in("frule", target) is None
    }
    assert without == STAND_INS


def is_known(target):
    """Whether there is a forward rule, or Python code whose own tangent is taken."""
    return REGISTRY.entry_in("frule", target) is not None or target in STAND_INS


def public(owner, kinds):
    """The public callables of a module or the methods of a class."""
    return [f for n, f in vars(owner).items() if not n.startswith("_") and isinstance(f, kinds)]


METHODS = (type(list.append), type(dict.__dict__["fromkeys"]))
CONTAINERS = (list, dict, tuple, set, frozenset, deque, OrderedDict, defaultdict)


@pytest.mark.parametrize("owner", CONTAINERS, ids=lambda owner: owner.__name__)
def test_every_public_method_of_a_container_is_known(owner):
    """No method of Python's containers is left without a forward rule."""
    missing = [name_of(f) for f in public(owner, METHODS) if REGISTRY.entry_in("frule", f) is None]
    assert missing == []


def test_all_of_itertools_is_known():
    """Each function of itertools, of this version of Python."""
    functions = [f for n, f in vars(itertools).items() if isinstance(f, type) and not n.startswith("_")]
    missing = [f.__name__ for f in (*functions, itertools.tee) if REGISTRY.entry_in("frule", f) is None]
    assert missing == []


REFUSED = {  # builtins that no rule answers: what they read or make cannot be seen into
    "aiter", "anext", "breakpoint", "bytearray", "bytes", "classmethod", "compile", "copyright", "credits",
    "eval", "exec", "exit", "globals", "help", "input", "license", "locals", "memoryview", "open",
    "property", "quit", "staticmethod", "super",
}  # fmt: skip


def test_every_builtin_is_known_or_listed():
    """A builtin has a forward rule or is on the list."""
    for name, f in vars(builtins).items():
        if name in ("display", "get_ipython"):  # a session of IPython adds them
            continue
        if name.startswith("_") or not callable(f) or (isinstance(f, type) and issubclass(f, BaseException)):
            continue
        assert is_known(f) or name in REFUSED, name


def test_the_other_functions_that_were_promised():
    """Copies, dataclasses, caches and what operators do to containers."""
    for f in (
        copy.copy, copy.deepcopy, dataclasses.replace, dataclasses.asdict, dataclasses.astuple,
        dataclasses.fields, functools.reduce, functools.partial, functools.cache, functools.lru_cache,
        operator.getitem, operator.setitem, operator.delitem, operator.iadd, operator.imul, operator.concat,
        operator.contains, operator.ior, getattr, setattr, delattr, hasattr, vars, isinstance, type, id, repr,
        str, format, print, float, int, bool, complex, round, abs, divmod, pow, len, range,
    ):  # fmt: skip
        assert is_known(f), name_of(f)
