"""Every call of NumPy that writes is refused before it writes, from the list of all that there are."""

import inspect
import operator
import random

import numpy as np
import pytest
from rule_points import registry_of

import rulelab as rl
from rulelab.errors import MutationError
from rulelab.rules.targets import name_of, resolve
from rulelab.rulesets.catalogue import tables

EVERYTHING = registry_of(*tables())


def public_callables():
    """The functions of NumPy, the methods of its arrays and those of its ufuncs."""
    for module in (np, np.linalg, np.fft):
        for name in dir(module):
            if not name.startswith("_") and callable(getattr(module, name)):
                yield getattr(module, name)
    for name in dir(np.ndarray):
        if not name.startswith("_"):
            yield getattr(np.ndarray, name)
    for name in dir(np):
        ufunc = getattr(np, name)
        if isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None:
            yield from (resolve(getattr(ufunc, m))[0] for m in ("reduce", "accumulate", "reduceat", "outer"))


def out_position(target):
    """Where `out` stands among the positional parameters, None where it is a keyword or not there."""
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return None
    for position, parameter in enumerate(parameters):
        if parameter.name == "out" and parameter.kind is not parameter.KEYWORD_ONLY:
            return position
    return None


# The signature of `ndarray.choose` has `out` second; what stands there is one more choice, and not written.
WRITERS = {
    name_of(t): t
    for t in public_callables()
    if EVERYTHING.entry(t) is not None and out_position(t) is not None and not isinstance(t, np.ufunc)
    if t is not np.ndarray.choose
}
UFUNCS = {
    name_of(t): t
    for t in public_callables()
    if isinstance(t, np.ufunc) and t.signature is None and EVERYTHING.entry(t) is not None
}


def arguments(target):
    """The arguments of a check point of the target, or of one that takes an array."""
    found = [args for table in tables() for t, args, kwargs in table.points if t is target and not kwargs]
    whole = [args for args in found if isinstance(args[0], np.ndarray) and len(args) <= out_position(target)]
    count = {"take": 2, "reduceat": 2}.get(target.__name__, 1)
    return whole[0] if whole else FURTHER.get(name_of(target)) or accepted(target, count)


def accepted(target, count):
    """As many arrays as are asked for, of the first kind of numbers that the target takes."""
    for dtype in (float, int, bool, "M8[s]"):
        args = (np.array([1, 2]).astype(dtype), np.array([0, 1]).astype(dtype))[:count]
        try:
            with np.errstate(all="ignore"):
                target(*args)
        except TypeError:
            continue
        return args
    raise AssertionError(f"{name_of(target)} takes no numbers")


FURTHER = {
    "np.compress": ([True, False], np.array([1.5, 2.5])),
    "np.concatenate": ([np.array([1.5, 2.5])],),
    "np.stack": ([np.array([1.5, 2.5])],),
}


def up_to_out(target, args, out):
    """The call's arguments with their defaults up to `out`, given by position."""
    parameters = list(inspect.signature(target).parameters.values())[: out_position(target)]
    defaults = [None if p.default in (p.empty, np._NoValue) else p.default for p in parameters[len(args) :]]
    return (*args, *defaults, out)


def calls(target, args):
    """A function of an unused x that makes the call: a starred call is not differentiated through."""
    by_count = {
        1: lambda v: (target(args[0]), v)[1],
        2: lambda v: (target(args[0], args[1]), v)[1],
        3: lambda v: (target(args[0], args[1], args[2]), v)[1],
        4: lambda v: (target(args[0], args[1], args[2], args[3]), v)[1],
        5: lambda v: (target(args[0], args[1], args[2], args[3], args[4]), v)[1],
        6: lambda v: (target(args[0], args[1], args[2], args[3], args[4], args[5]), v)[1],
    }
    return by_count[len(args)]


def assert_refused(f, buffer):
    before = buffer.copy()
    with pytest.raises(MutationError), np.errstate(all="ignore"):
        rl.gradient(f, 2.0)
    np.testing.assert_array_equal(buffer, before)


def buffer_for(target, args):
    """An array that the call could write to."""
    y = target(*args)
    y = y if isinstance(y, np.ndarray) else np.asarray(y)
    return np.full(y.shape, 7, y.dtype)


def test_the_list_is_not_empty():
    """The tests below are made from the signatures: should NumPy hide them, this fails."""
    assert {"np.take", "np.sum", "np.dot", "np.argmax", "np.isneginf", "np.quantile"} <= set(WRITERS)
    assert len(WRITERS) > 60 and len(UFUNCS) > 60


@pytest.mark.every(5)
@pytest.mark.parametrize("name", WRITERS)
def test_out_by_position_is_refused(name):
    """`np.take(a, i, 0, buffer)`: a rule that does not know where `out` stands would let it write."""
    target = WRITERS[name]
    args = arguments(target)
    buffer = buffer_for(target, args)
    assert_refused(calls(target, up_to_out(target, args, buffer)), buffer)


@pytest.mark.every(5)
@pytest.mark.parametrize("name", WRITERS)
def test_out_by_name_is_refused(name):
    """`out=buffer`, for constants as for values with a gradient."""
    target = WRITERS[name]
    args = arguments(target)
    buffer = buffer_for(target, args)
    by_count = {
        1: lambda v: (target(args[0], out=buffer), v)[1],
        2: lambda v: (target(args[0], args[1], out=buffer), v)[1],
        3: lambda v: (target(args[0], args[1], args[2], out=buffer), v)[1],
        4: lambda v: (target(args[0], args[1], args[2], args[3], out=buffer), v)[1],
    }
    assert_refused(by_count[len(args)], buffer)


@pytest.mark.every(5)
@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_never_write(name):
    """Of every ufunc: the extra positional argument and `out=`, and a tuple of them."""
    ufunc = UFUNCS[name]
    x = accepted(ufunc, ufunc.nin)
    with np.errstate(all="ignore"):
        y = ufunc(*x)
    buffer = np.full(np.shape(y), 7).astype(np.asarray(y[0] if ufunc.nout > 1 else y).dtype)
    outs = (buffer,) * ufunc.nout
    assert_refused(calls(ufunc, (*x, *outs)), buffer)
    if ufunc.nin == 1:
        assert_refused(lambda v: (ufunc(x[0], out=outs), v)[1], buffer)
        assert_refused(lambda v: (ufunc(v, buffer), v)[1], buffer)
    else:
        assert_refused(lambda v: (ufunc(x[0], x[1], out=outs), v)[1], buffer)
        assert_refused(lambda v: (ufunc(v, x[1], buffer), v)[1], buffer)
        assert_refused(lambda v: (ufunc(v, x[1], out=buffer), v)[1], buffer)


A = np.array([3.0, 1.0, 2.0])
WRITES = {
    "copyto": lambda b: np.copyto(b, 0.0),
    "put": lambda b: np.put(b, [0], 5.0),
    "place": lambda b: np.place(b, b > 0, [1.0]),
    "putmask": lambda b: np.putmask(b, b > 0, 1.0),
    "fill_diagonal": lambda b: np.fill_diagonal(b.reshape(1, 3), 0.0),
    "put_along_axis": lambda b: np.put_along_axis(b, np.array([0]), 1.0, 0),
    "np.random.shuffle": lambda b: np.random.shuffle(b),
    "Generator.shuffle": lambda b: np.random.default_rng(0).shuffle(b),
    "random.shuffle": lambda b: random.shuffle(b),
    "fill": lambda b: b.fill(1.0),
    "sort": lambda b: b.sort(),
    "partition": lambda b: b.partition(1),
    "resize": lambda b: b.resize((1,), refcheck=False),
    "setfield": lambda b: b.setfield(1, np.int8),
    "setflags": lambda b: b.setflags(write=True),
    "byteswap": lambda b: b.byteswap(True),
    "method put": lambda b: b.put([0], 5.0),
    "__setitem__": lambda b: b.__setitem__(0, 1.0),
    "__iadd__": lambda b: b.__iadd__(1.0),
    "operator.iadd": lambda b: operator.iadd(b, 1.0),
    "operator.setitem": lambda b: operator.setitem(b, 0, 1.0),
    "add.at": lambda b: np.add.at(b, [0], 1.0),
    "negative.at": lambda b: np.negative.at(b, [0]),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_writes_by_itself_is_refused(name):
    """Sorting, filling, shuffling in place and the rest: an error, and the array as it was."""
    write, buffer = WRITES[name], A.copy()

    def f(v):
        kept = v * np.sum(buffer)
        write(buffer)
        return kept

    assert_refused(f, buffer)


def test_no_array_method_that_returns_nothing_is_forgotten():
    """A method of arrays that is called for its effect alone is among the mutators."""
    known = {"dump", "setflags"}  # a file, and flags, which are among them too
    silent = {"fill", "put", "sort", "partition", "resize", "setfield"} | {"setflags"}
    for name in silent - known:
        assert EVERYTHING.mutator(getattr(np.ndarray, name)), name
    for name in dir(np.ndarray):
        if (
            name.startswith("__i")
            and name.endswith("__")
            and name
            not in ("__init__", "__int__", "__index__", "__invert__", "__iter__", "__init_subclass__")
        ):
            assert EVERYTHING.mutator(getattr(np.ndarray, name)), name
