"""What a call of `gradient` shows of itself, the generic passes that answer where nothing is known, and the
ways in which what a quick way took for granted can end between two calls.

Nothing in the package knows of these: arguments of another kind or layout, numbers at the edge, a helper or
a constant that is bound anew, a rule that comes and goes, a copy of the function, another mode.
"""

import contextlib
import copy
import io
import itertools
import math
import sys
import types
import warnings
from dataclasses import dataclass
from unittest import mock

import numpy as np
from corpus.harness import same

import rulelab as rl
from rulelab import errors
from rulelab.ad import reverse
from rulelab.compiler.base import ir
from rulelab.compiler.calls import passes, pullbacks
from rulelab.compiler.calls.cache import DEFAULT
from rulelab.compiler.calls.entries import Entries
from rulelab.compiler.calls.sites import Sites
from rulelab.rules.kinds import ANY, CELL, FUNCTION, type_of_signature

# --------------------------------------------------------------------------------------------------
# what a call shows


@dataclass(frozen=True)
class Shown:
    """All that a caller sees of one call: what it gave or raised, warned and printed, and left behind."""

    given: object
    raised: str
    warned: tuple
    printed: str
    left: object


def shown(f, args, kwargs=None, ask=rl.gradient):
    """One call with arguments of its own, and all that can be seen of it; what it changes is put back."""
    args, kwargs = copy.deepcopy(args), copy.deepcopy(kwargs or {})
    before, given, raised = state_of(f), None, ""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("always")
        try:
            given = ask(f, *args, **kwargs)
        except Exception as error:
            raised = f"{type(error).__name__}: {error}"
    warned = tuple((each.category.__name__, str(each.message)) for each in caught)
    left = args, kwargs, state_of(f)
    put_back(f, before)
    return Shown(given, raised, warned, out.getvalue(), left)


def state_of(f):
    """What the globals of a function hold that a program may change."""
    return {
        name: copy.deepcopy(held)
        for name, held in sorted(f.__globals__.items())
        if isinstance(held, (list, dict, np.ndarray, float, int)) and not name.startswith("__")
    }


def put_back(f, state):
    """Give the globals of a function what they held."""
    for name, value in state.items():
        held = f.__globals__[name]
        if same(held, value):
            continue
        if isinstance(held, list):
            held[:] = value
        elif isinstance(held, dict):
            held.clear()
            held.update(value)
        elif isinstance(held, np.ndarray):
            held[...] = value
        else:
            f.__globals__[name] = value


def numbers_in(value):
    """The numbers of an answer, and what else there is in it."""
    if isinstance(value, dict):
        value = tuple(value.items())
    if isinstance(value, (list, tuple)):
        found = [numbers_in(item) for item in value]
        return [n for ns, _ in found for n in ns], (type(value).__name__, *[rest for _, rest in found])
    if isinstance(value, np.ndarray):
        return list(value.reshape(-1).astype(complex)), (value.dtype, value.shape)
    if isinstance(value, (float, complex, np.inexact)):
        return [complex(value)], type(value).__name__
    if hasattr(value, "__dict__"):
        return numbers_in(vars(value))
    return [], repr(value)


TINY = 1e-300  # below it products lose digits, or are 0, by the order in which they are taken


def without_zeros(value):
    """An answer with None for all zeros: where kinds are known, so is more of what no path leads from."""
    if isinstance(value, dict):
        return {key: without_zeros(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [without_zeros(item) for item in value]
        return None if all(item is None for item in items) else items
    numbers = isinstance(value, (float, np.floating, np.ndarray)) and np.size(value)
    if numbers and np.all(np.abs(value) <= TINY):
        return None
    return value


SINGLE = 2.0**29  # a last place of single precision, in last places of double precision


def furthest(found, wanted):
    """How far two answers are apart, in last places of the largest number; None if they are of two kinds."""
    if same(found, wanted):
        return 0.0
    (a, rest), (b, others) = numbers_in(without_zeros(found)), numbers_in(without_zeros(wanted))
    if len(a) != len(b) or rest != others:
        return None
    a, b = np.array(a), np.array(b)
    with np.errstate(all="ignore"):
        alike = (a == b) | ((a != a) & (b != b))
        gaps = np.abs(a - b)[~alike]
    if not gaps.size:
        return 0.0
    scale = max(np.abs(b[np.isfinite(b)]).max(initial=0.0), TINY)
    place = np.spacing(scale) * (SINGLE if "float32" in repr(others) else 1.0)
    return float(gaps.max() / place) if np.all(np.isfinite(gaps)) else math.inf


# --------------------------------------------------------------------------------------------------
# the generic passes


def _of_nothing(part):
    """The kind of a parameter of which nothing is known but that it is a function, or a cell."""
    kind = type_of_signature(part)
    return kind if kind in (FUNCTION, CELL) else ANY


def _nothing(*_, **__):
    return None


def _bound_alone(sites, op, active, bound_rule=Sites.bound_rule):
    """The rule of what has no site: cells, and dicts made of others."""
    return bound_rule(sites, op, active) if isinstance(op, (ir.MakeCell, ir.ReadCell, ir.Collect)) else None


@contextlib.contextmanager
def generic():
    """Every operation asks at run time who answers: no kinds of arguments, no formulas, nothing inlined, no
    rule bound, no entry.
    """
    with contextlib.ExitStack() as stack:
        for owner, name, instead in (
            (passes, "type_of_signature", _of_nothing),
            (passes, "_inlines", _nothing),
            (pullbacks, "may_be_on_floats", _nothing),
            *((Sites, name, _nothing) for name in ("inline", "scalar_rule", "stated_rule")),
            (Sites, "bound_rule", _bound_alone),
            *((Entries, name, _nothing) for name in ("find", "add_pass", "add_rule")),
            (reverse, "_FIND", _nothing),
            (reverse, "_AT_ONCE", False),
        ):
            stack.enter_context(mock.patch.object(owner, name, instead))
        DEFAULT.drop_passes()
        try:
            yield
        finally:
            DEFAULT.drop_passes()


# --------------------------------------------------------------------------------------------------
# what ends between two calls


@dataclass(frozen=True)
class Situation:
    """What is called, with what, after something has changed."""

    f: object
    args: tuple
    kwargs: dict


def copied(function, **changes):
    """A function of the same code, that nobody has met."""
    made = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__, made.__module__ = function.__kwdefaults__, function.__module__
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@contextlib.contextmanager
def another_epoch(at):
    """A rule for something else comes, and goes."""
    other = copied(_nothing)
    rl.rrule_for(other)(lambda *_: (0.0, lambda y_bar: (rl.NoTangent(),)))
    try:
        yield at
    finally:
        rl.remove_rule(other)


@contextlib.contextmanager
def another_era(at):
    DEFAULT.drop_passes()
    yield at


@contextlib.contextmanager
def refreshed(at):
    rl.refresh()
    yield at


@contextlib.contextmanager
def watched(at):
    """The rules are watched, and nothing goes a quick way."""
    with rl.debug_mode(rules=True, compare="first"):
        yield at


@contextlib.contextmanager
def compared(at):
    with rl.debug_mode(rules=False, compare=True):
        yield at


@contextlib.contextmanager
def another_function(at):
    """A copy to which functools.wraps gives the very dict, and with it what is remembered."""
    made = copied(at.f)
    made.__dict__.update(at.f.__dict__)
    yield Situation(made, at.args, at.kwargs)


@contextlib.contextmanager
def equal_code(at):
    """The same code in another object, as after a cell that is run again."""
    before = at.f.__code__
    at.f.__code__ = before.replace()
    try:
        yield at
    finally:
        at.f.__code__ = before


@contextlib.contextmanager
def called_by_another(at):
    """From within another function, where it is inlined or has a site."""

    def outer(*xs, **words):
        return at.f(*xs, **words)

    yield Situation(outer, at.args, at.kwargs)


def helpers(f):
    """The author's functions that a function names among its globals."""
    names = {name for code in _codes(f.__code__) for name in code.co_names}
    held = {name: f.__globals__.get(name) for name in sorted(names)}
    return {
        name: each
        for name, each in held.items()
        if type(each) is types.FunctionType and each.__module__ == f.__module__
    }


def constants(f):
    """The numbers and arrays that a function names among its globals."""
    names = {name for code in _codes(f.__code__) for name in code.co_names}
    held = {name: f.__globals__.get(name) for name in sorted(names)}
    return {name: each for name, each in held.items() if type(each) in (float, int, np.float64, np.ndarray)}


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


@contextlib.contextmanager
def bound_anew(at, **names):
    """Global names of a function mean something else."""
    namespace = at.f.__globals__
    before = {name: namespace[name] for name in names}
    namespace.update(names)
    try:
        yield at
    finally:
        namespace.update(before)


def _doubled(function):
    def twice(*args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return twice


def helper_again(at):
    """Its cell was run again: another function, of the same code."""
    return bound_anew(at, **{name: copied(each) for name, each in helpers(at.f).items()})


def helper_changed(at):
    """Another function by the helper's name."""
    return bound_anew(at, **{name: _doubled(each) for name, each in helpers(at.f).items()})


@contextlib.contextmanager
def helper_with_other_code(at):
    """The helper itself, with another body."""
    with contextlib.ExitStack() as stack:
        for each in helpers(at.f).values():
            if not each.__closure__:
                before = each.__code__
                stack.callback(setattr, each, "__code__", before)
                each.__code__ = _halved_in(before)
        yield at


def _halved_in(code):
    """Code that does the same with one of its float constants halved, or the same code in another object."""
    constants, done = [], False
    for value in code.co_consts:
        if type(value) is float and not done:
            value, done = value / 2.0, True
        constants.append(value)
    return code.replace(co_consts=tuple(constants))


@contextlib.contextmanager
def helper_with_rule(at):
    """A rule for the helper that says twice the truth."""
    with contextlib.ExitStack() as stack:
        for each in helpers(at.f).values():
            rl.rrule_for(each)(_twice_the_truth(copied(each)))
            stack.callback(rl.remove_rule, each)
        yield at


def _twice_the_truth(function):
    def rule(*args):
        y, back = rl.pullback(function, *args)

        def pullback_(y_bar):
            bars = back(y_bar)
            return (rl.NoTangent(), *[_twice(bar) for bar in bars])

        return y, pullback_

    return rule


def _twice(bar):
    if bar is None:
        return rl.NoTangent()
    if isinstance(bar, (list, tuple)):
        return type(bar)([_twice(each) for each in bar])
    return {key: _twice(each) for key, each in bar.items()} if isinstance(bar, dict) else bar * 2.0


def rule_that_came_and_went(at):
    """A helper had a rule, and has none."""
    with helper_with_rule(at) as there:
        shown(there.f, there.args, there.kwargs)
        shown(there.f, there.args, there.kwargs)
    return contextlib.nullcontext(at)


@contextlib.contextmanager
def with_a_rule(at):
    """The function itself has one."""
    rl.rrule_for(at.f)(_twice_the_truth(copied(at.f)))
    try:
        for _ in range(2):
            shown(at.f, at.args, at.kwargs)
        yield at
    finally:
        rl.remove_rule(at.f)


def constant_changed(at):
    return bound_anew(at, **{name: each * 2 for name, each in constants(at.f).items()})


def constant_of_another_kind(at):
    """A number of NumPy's for one of Python's, an array of one dimension more, single precision."""

    def other(value):
        if isinstance(value, np.ndarray):
            return value.astype(np.float32) if value.dtype.kind == "f" else value.astype(float)
        return np.float64(value) if type(value) is float else float(value)

    return bound_anew(at, **{name: other(each) for name, each in constants(at.f).items()})


def _with_args(of_number, of_array):
    """A situation in which each number and each float array among the arguments is made into another one."""

    def change(x):
        if type(x) is float:
            return of_number(x)
        if type(x) is np.ndarray and x.dtype == float and x.ndim:
            return of_array(x)
        if type(x) in (list, tuple):
            return type(x)(map(change, x))
        return {key: change(item) for key, item in x.items()} if type(x) is dict else x

    def situation(at):
        changed = tuple(map(change, copy.deepcopy(at.args)))
        return contextlib.nullcontext(Situation(at.f, changed, at.kwargs))

    return situation


def _strided(x):
    wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), 7.0)
    wide[..., ::2] = x
    return wide[..., ::2]


def _frozen(x):
    x = x.copy()
    x.setflags(write=False)
    return x


def _first_is(value):
    def put(x):
        x = x.copy()
        if x.size:
            x.flat[0] = value
        return x

    return put


def _all_are(value):
    return lambda x: np.full(x.shape, value)


WAYS = {
    "another epoch": another_epoch,
    "another era": another_era,
    "refreshed": refreshed,
    "watched": watched,
    "compared": compared,
    "another function": another_function,
    "equal code": equal_code,
    "called by another": called_by_another,
    "helper again": helper_again,
    "helper changed": helper_changed,
    "helper with other code": helper_with_other_code,
    "helper with a rule": helper_with_rule,
    "a rule that came and went": rule_that_came_and_went,
    "a rule of its own": with_a_rule,
    "constant changed": constant_changed,
    "constant of another kind": constant_of_another_kind,
    "numbers of NumPy's": _with_args(np.float64, lambda x: x),
    "arrays without dimensions": _with_args(np.array, lambda x: x),
    "single precision": _with_args(np.float32, lambda x: x.astype(np.float32)),
    "whole numbers": _with_args(int, lambda x: x.astype(int)),
    "apart in memory": _with_args(float, _strided),
    "in Fortran's order": _with_args(float, np.asfortranarray),
    "backwards": _with_args(float, lambda x: x[::-1]),
    "frozen": _with_args(float, _frozen),
    "swapped bytes": _with_args(float, lambda x: x.astype(">f8")),
    "one dimension more": _with_args(float, lambda x: x[None]),
    **{
        f"{'all' if every else 'first'} {value}": _with_args(
            (lambda value: lambda x: value)(value), (_all_are if every else _first_is)(value)
        )
        for value in (0.0, -0.0, 1e200, -1e308, 5e-324, math.inf, math.nan)
        for every in (True, False)
    },
}
EDGES = {"whole numbers"} | {name for name in WAYS if name.startswith(("all ", "first "))}


def concerns(way, f):
    """Whether a way changes anything for a function."""
    if way.startswith("helper") or way == "a rule that came and went":
        return bool(helpers(f))
    return not way.startswith("constant") or bool(constants(f))


# --------------------------------------------------------------------------------------------------
# the comparison


MOST_APART = 16.0  # last places: sums are taken in another order, and squares are products
MOST_LINES = 20_000  # run by a program that ends; with other numbers, a loop of the corpus may not
CALLS = 3  # of which the first compiles, the second opens an entry, and the third takes it


def differences(f, args, kwargs, way):
    """What is not the same after the end of what was taken for granted: in words, call by call."""
    at = Situation(f, args, kwargs)
    with WAYS[way](at) as there:
        if not ends(there):
            return []
    with generic(), WAYS[way](at) as there:
        wanted = _last_shown(there)
        plain = shown(there.f, there.args, there.kwargs, ask=lambda f, *xs, **words: f(*xs, **words))
    _last_shown(at)
    with WAYS[way](at) as there:
        found = [shown(there.f, there.args, there.kwargs) for _ in range(CALLS)]
    before = shown(f, args, kwargs)
    with generic():
        after = shown(f, args, kwargs)
    words = [word for one in found for word in differing(one, wanted, None if way not in EDGES else plain)]
    return words + [f"afterwards {word}" for word in differing(before, after)]


class _Endless(BaseException):
    pass


def ends(at):
    """Whether the program itself comes to an end, by its value or an error, within `MOST_LINES`."""
    lines = itertools.count()

    def count(frame, event, arg):
        if next(lines) > MOST_LINES:
            raise _Endless
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        shown(at.f, at.args, at.kwargs, ask=lambda f, *args, **kwargs: f(*args, **kwargs))
    except _Endless:
        return False
    finally:
        sys.settrace(before)
    return True


def _last_shown(at):
    for _ in range(CALLS):
        last = shown(at.f, at.args, at.kwargs)
    return last


def differing(found, wanted, plain=None):
    """In words, in what one call differs from another. At the edge, with `plain`, there are those warnings of
    the generic passes that the program itself gives, and perhaps others: other sums overflow elsewhere. Where
    its value is not finite, neither are slopes, and which is infinite and which is none is not compared.
    """
    if found.raised != wanted.raised:
        if is_refusal(wanted.raised) and found.raised in ("", getattr(plain, "raised", "")):
            return  # kinds that are known show more of what is wanted, and what stays as it is
        yield f"raised {found.raised or 'nothing'!r}, not {wanted.raised or 'nothing'!r}"
        return
    apart = 0.0 if found.raised else furthest(found.given, wanted.given)
    finite = plain is None or plain.raised or bool(np.all(np.isfinite(plain.given)))
    if finite and (apart is None or apart > MOST_APART):
        yield f"gave {found.given!r}, not {wanted.given!r}"
    if plain is None and set(found.warned) != set(wanted.warned):
        yield f"warned {set(found.warned)}, not {set(wanted.warned)}"
    if plain is not None and not set(plain.warned) & set(wanted.warned) <= set(found.warned):
        yield f"warned {set(found.warned)}, where the program warns {set(plain.warned)}"
    if found.printed != wanted.printed:
        yield f"printed {found.printed!r}, not {wanted.printed!r}"
    if not same(found.left, wanted.left):
        yield f"left {found.left!r}, not {wanted.left!r}"


def is_refusal(raised):
    """Whether what was raised is an error of ours."""
    kind = getattr(errors, raised.partition(":")[0], None)
    return kind is not None and issubclass(kind, errors.RuleLabError)
