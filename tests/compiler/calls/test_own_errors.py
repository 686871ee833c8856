"""Calls that Python itself refuses: its own error at the author's line, in both modes and at both orders."""

import importlib.util
import math
import operator
import sys
import traceback
import types
from collections import OrderedDict, defaultdict, deque
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.guards import generic  # noqa: E402

import rulelab as rl
from rulelab.compiler.calls import own_errors
from rulelab.errors import KeywordError
from rulelab.python_facts import STUBS
from rulelab.rules.binding import Binder

# Of a function of ours for each row: too many arguments, too few, names that it does not take.
WRONG = """
max(xs, wrong=1); max([xs, xs], wrong=1); max(*xs, wrong=1); max(xs, key=abs, wrong=1); max()
max(xs, xs, default=1); max(xs, key=lambda x: x, wrong=1); min(xs, wrong=1); sorted(xs, wrong=1)
sorted(xs, None); sorted(); sorted(xs, key=lambda x: x, wrong=1); sum(xs, wrong=1); sum(xs, 1, 2)
sum(iterable=xs); abs(x=xs[0]); abs(*xs); abs(); round(xs[0], wrong=1); round(*xs, 1); pow(xs[0])
pow(*xs, 1, 2); pow(xs[0], y=2); divmod(xs[0]); divmod(*xs, 1); divmod(xs[0], y=1); len(xs, 1); any(xs, 1)
all(iterable=xs); hash(xs, 1); isinstance(xs); getattr(xs, "a", 1, 2); getattr(xs[0], "real", default=1)
setattr(xs, "a"); delattr(xs); vars(xs, 1); list(xs, xs); list(iterable=xs); tuple(xs, xs); set(xs, xs)
frozenset(xs, xs); float(xs[0], 1); float(x=xs[0]); zip(xs, wrong=1); enumerate(xs, 0, 1)
enumerate(xs, starts=1); reversed(xs, 1); map(abs); map(abs, xs, wrong=1); map(lambda x: x, xs, wrong=1)
filter(None, xs, 1); filter(lambda x: True, xs, 1); iter(xs, 1, 2); iter(iterable=xs); next()
next(iter(xs), 1, 2); next(iter(xs), default=1); range(1, 2, 3, 4); slice(); {}.get(key=1); {1: xs}.get()
{1: xs}.get(1, 2, 3); {1: xs}.pop(); {1: xs}.pop(1, 2, 3); {1: xs}.pop(key=1); {1: xs}.setdefault()
{1: xs}.setdefault(key=1); {1: xs}.setdefault(1, xs, xs); {1: xs}.update(1, 2); {1: xs}.items(1)
{1: xs}.items(a=1); {1: xs}.keys(1); {1: xs}.values(a=1); {1: xs}.copy(1); {1: xs}.clear(1)
{1: xs}.popitem(1); dict.fromkeys(); dict.fromkeys([1], xs, xs); dict.fromkeys([1], value=xs)
collections.OrderedDict({1: xs}).pop(); collections.OrderedDict({1: xs}).popitem(wrong=1); deque(xs, 1, 2)
deque(xs, None, None); deque(wrong=xs); deque(xs).append(); deque(xs).append(1, 2); deque(xs).append(x=1)
deque(xs).appendleft(); deque(xs).pop(1); deque(xs).popleft(1); deque(xs).rotate(1, 2)
deque(xs).rotate(n=1); deque(xs).extend(); deque(xs).extend(iterable=xs); deque(xs).extendleft(xs, xs)
deque(xs).insert(1); deque(xs).insert(0, 1, 2); deque(xs).remove(); deque(xs).reverse(1); deque(xs).copy(1)
[xs].append(); [xs].append(xs, xs); [xs].append(object=xs); [xs].extend(); [xs].extend(iterable=xs)
[xs].insert(0); [xs].insert(0, xs, xs); [xs].pop(0, 1); [xs].pop(index=0); [xs].remove()
[xs].remove(xs, xs); [xs].sort(1); [xs].sort(wrong=1); [xs].index(); [xs].count(value=xs); [xs].copy(1)
[xs].clear(1); [xs].reverse(1); (xs,).index(); (xs,).count(value=xs); {1}.add(1, 2); {1}.add(elem=1)
{1}.pop(1); {1}.remove(1, 2); math.sin(); math.sin(*xs); math.sin(x=xs[0]); math.atan2(xs[0]); math.dist(xs)
math.ldexp(xs[0]); math.hypot(*xs, a=1); math.prod(xs, 1); math.fsum(xs, 1); math.log(1, 2, 3)
operator.add(xs[0]); operator.add(*xs, 1); operator.add(a=xs[0], b=1); operator.getitem(xs)
operator.getitem(xs, 0, 0); operator.setitem(xs, 0); operator.iadd(xs[0]); operator.itemgetter(0)(xs, 1)
operator.attrgetter("real")(*xs); operator.pow(xs[0]); functools.reduce(operator.add)
functools.reduce(operator.add, xs, 1, 2); functools.partial()
functools.reduce(lambda x, y: x + y, xs, 1, 2); functools.reduce(function=operator.add, iterable=xs)
itertools.chain(xs, wrong=1); itertools.chain.from_iterable(); itertools.accumulate(xs, wrong=1)
itertools.tee(); itertools.accumulate(xs, operator.add, 1); itertools.starmap(abs, [xs], 1)
itertools.islice(xs); copy.copy(xs, 1); copy.copy(wrong=xs); copy.deepcopy(xs, 1, 2, 3)
copy.deepcopy(xs, wrong=1); np.sin(); np.maximum(xs); np.add.reduce(); np.dot(xs); np.outer(xs)
np.sum(xs, wrong=1); np.concatenate(xs, wrong=1); np.interp(xs); np.linspace(xs[0]); np.linalg.solve(xs)
np.sort(xs, wrong=1); np.clip(xs[0], 1.0); np.array(xs).dot()
np.add.outer(xs); Pair(1, xs)._asdict(1); Pair(xs); Record()
Record(xs, 1); Record(wrong=xs); Plain(); Plain(1, 2); Plain(b=xs)
"""
EXPRESSIONS = [x.strip() for line in WRONG.strip().splitlines() for x in line.split(";")]
OPENING = """
import collections, copy, dataclasses, functools, itertools, math, operator
from collections import deque
import numpy as np

Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Record:
    kept: list


class Plain:
    def __init__(self, kept):
        self.kept = kept

"""
POINTS = {"list": [1.5, 2.5], "array": np.array([1.5, 2.5])}


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    """A module with a function for each expression, and one that computes it of constants."""
    path = tmp_path_factory.mktemp("wrong") / "wrong_calls.py"
    functions = [
        f"def f{k}(xs):\n    return {x}\n\n\ndef g{k}(ys):\n    xs = [1.5, 2.5]\n    {x}\n    return ys[0]\n"
        for k, x in enumerate(EXPRESSIONS)
    ]
    path.write_text(OPENING + "\n\n".join(functions))
    spec = importlib.util.spec_from_file_location("wrong_calls", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raised(ask):
    """The type of an error, its words, and the author's line. A method's words begin with the name of its
    class where Python found it by that.
    """
    with pytest.raises(Exception) as info:
        ask()
    lines = [f.lineno for f in traceback.extract_tb(info.value.__traceback__) if "wrong_calls" in f.filename]
    message, _, words = str(info.value).partition("() ")
    return info.type, (message.rpartition(".")[2], words), lines[-1]


@pytest.mark.every(41)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("number", range(len(EXPRESSIONS)), ids=EXPRESSIONS)
def test_what_python_refuses_has_pythons_own_error(wrong, number, point):
    """The type, the words and the line are those of the call without us, whether arguments vary or not."""
    x = POINTS[point]
    x_dot = np.ones(2) if isinstance(x, np.ndarray) else [1.0, 1.0]
    for f in (getattr(wrong, f"f{number}"), getattr(wrong, f"g{number}")):
        said = raised(lambda: f(x))
        assert issubclass(said[0], TypeError)
        assert raised(lambda: rl.gradient(f, x)) == said
        assert raised(lambda: rl.pushforward(f, x)(x_dot)) == said
        assert raised(lambda: rl.pushforward(lambda x: rl.gradient(f, x)[0], x)(x_dot)) == said
        assert raised(lambda: rl.gradient(lambda x: rl.pushforward(f, x)(x_dot), x)) == said


def test_nothing_is_changed_by_hearing_the_error():
    """What a container of others holds when the error has been raised is what it held before."""
    kept = [1.0]

    def refused(x):
        kept.append(x, x)
        return x

    for ask in (lambda: rl.gradient(refused, 3.0), lambda: rl.pushforward(refused, 3.0)(1.0)):
        with pytest.raises(TypeError, match="takes exactly one argument"):
            ask()
    assert kept == [1.0]


@pytest.mark.parametrize("ask", [lambda f, x: rl.gradient(f, x), lambda f, x: rl.pushforward(f, x)(x)])
def test_a_ufunc_that_would_write_is_not_tried(ask):
    """Before it is refused: with `where=` functions of `scipy.special` write beyond their memory."""
    tried, x = [], np.array([0.0, 1.3])
    f = lambda x: np.sum(np.log(x, where=np.array([True, False])))
    with np.errstate(divide="call", call=lambda *what: tried.append(what)):
        with pytest.raises(KeywordError, match="where"):
            ask(f, x)
    assert tried == []


OWNERS = {
    dict: {1: 2.0},
    set: {1},
    OrderedDict: OrderedDict({1: 2.0}),
    defaultdict: defaultdict(float, {1: 2.0}),
    operator.attrgetter: operator.attrgetter("real"),
    operator.itemgetter: operator.itemgetter(0),
}


@pytest.mark.parametrize("target", STUBS, ids=lambda x: x.__qualname__)
def test_a_stub_refuses_what_its_function_refuses(target):
    """The stub of a function without a signature takes no other call than the function does."""
    owner = getattr(target, "__objclass__", list)
    for count in range(6):
        for words in ({}, {"wrong": 1}):
            args = (OWNERS.get(owner) or owner([1.0, 2.0]), *[0] * (count - 1)) if count else ()
            try:
                Binder.of(STUBS[target]).bind(args, words)
            except TypeError:
                with pytest.raises(TypeError):
                    target(*args, **words)


@pytest.mark.parametrize(
    "given", [(super, ()), (lambda: {}.get, (1,)), (lambda: np.add.reduce, ([1.0],)), (math.sin, (1.0,))],
    ids=["class", "method", "of a ufunc", "function"],
)
def test_what_a_call_takes_is_worked_out_once(given, monkeypatch):
    """Signatures of functions of C are texts, which take longer to read than most calls: also of methods of
    objects, each of which is new, and of `super`.
    """
    target, args = given

    def asked():
        return own_errors.fits(target() if type(target) is types.FunctionType else target, args, {})

    assert asked()
    monkeypatch.setattr(own_errors, "_binds", lambda *_: pytest.fail("asked again"))
    assert asked()


def test_what_another_call_of_a_method_takes_is_asked():
    for method in ([1.0].insert, {}.setdefault):
        assert own_errors.fits(method, (1, 1.0), {})
        assert not own_errors.fits(method, (1.0,) * 9, {})
        assert not own_errors.fits(method, (1.0,), {"wrong": 1})
        assert own_errors.fits(method, (2, 2.0), {})


class Plain:
    """No operator means anything for it."""

    def __init__(self, x):
        self.x = x


# What no operator below is for, made of a number that varies.
STRANGERS = {
    "a list": lambda x: [x],
    "a list of lists": lambda x: [[x], x],
    "a list of objects": lambda x: [Plain(x)],
    "a list of arrays": lambda x: [np.array([x])],
    "a tuple of tuples": lambda x: (x, (x,)),
    "a tuple of objects": lambda x: (Plain(x),),
    "a dict": lambda x: {"a": [x]},
    "a dict in order": lambda x: OrderedDict(a=x),
    "a dict with defaults": lambda x: defaultdict(list, {1: x}),
    "a deque": lambda x: deque([x, [x]]),
    "a set": lambda x: {1, 2},
    "a function of C": lambda x: math.sin,
    "a function": lambda x: lambda y: y * x,
    "an iterator": lambda x: iter([x]),
    "an object": Plain,
    "a class": lambda x: Plain,
    "a slice": lambda x: slice(0, 1),
    "a range": lambda x: range(3),
    "a module": lambda x: math,
    "none at all": lambda x: None,
}
DONE = {
    "times": lambda a, x: a * x,
    "plus": lambda a, x: a + x,
    "minus": lambda a, x: a - x,
    "by": lambda a, x: a / x,
    "to the power": lambda a, x: a**x,
    "times matrix": lambda a, x: a @ x,
    "behind": lambda a, x: x - a,
    "beside an array": lambda a, x: a - x if hasattr(a, "__len__") else np.array([x]) - a,
    "less": lambda a, x: -a,
    "as a number": lambda a, x: float(a),
    "rounded": lambda a, x: round(a),
    "upwards": lambda a, x: math.ceil(a),
}


def said_by(ask):
    with pytest.raises(Exception) as info:
        ask()
    return info.type, str(info.value)


@pytest.mark.first(6)
@pytest.mark.parametrize("stranger", STRANGERS)
def test_what_no_class_has_a_method_for_is_pythons_own_error(stranger):
    """With the words that Python has, whatever is in it, and whether kinds are known or not."""
    for does in DONE.values():
        f = lambda x: does(STRANGERS[stranger](x), x)
        said = said_by(lambda: f(1.3))
        assert issubclass(said[0], TypeError)
        assert said_by(lambda: rl.gradient(f, 1.3)) == said
        assert said_by(lambda: rl.pushforward(f, 1.3)(1.0)) == said
        with generic():
            assert said_by(lambda: rl.gradient(f, 1.3)) == said


CONTAINERS = [name for name in STRANGERS if name.split()[1] in ("list", "dict", "deque", "set")]


def scaled_in_place(a, x):
    a *= x
    return a


def lessened_in_place(a, x):
    a -= x
    return a


@pytest.mark.parametrize("stranger", CONTAINERS)
@pytest.mark.parametrize("does", [scaled_in_place, lessened_in_place])
def test_what_fails_in_place_is_pythons_own_error(stranger, does):
    """Of a container of others, too, which stays as it is."""
    kept = STRANGERS[stranger](2.0)
    before = repr(kept)
    f = lambda x: does(kept, x)
    said = said_by(lambda: f(1.3))
    assert issubclass(said[0], TypeError)
    assert said_by(lambda: rl.gradient(f, 1.3)) == said
    assert said_by(lambda: rl.gradient(lambda x: does(STRANGERS[stranger](x), x), 1.3)) == said
    assert repr(kept) == before


def test_no_method_of_the_authors_is_tried():
    """Items that would answer, or be asked, are not: what cannot be followed is refused unseen."""
    asked = []

    class Answering:
        def __rsub__(self, other):
            asked.append(other)
            raise TypeError("not this")

        def __eq__(self, other):
            asked.append(other)
            raise TypeError("not this")

        __hash__ = object.__hash__

    for f in (
        lambda x: np.array([x]) - [Answering()],
        lambda x: {Answering(): x}.keys() - [x],
    ):
        for ask in (lambda: rl.gradient(f, 1.3), lambda: rl.pushforward(f, 1.3)(1.0)):
            with pytest.raises(rl.errors.RuleLabError):
                ask()
    assert asked == []


def test_a_result_given_by_position_is_not_written():
    """A ufunc that is refused is not tried where it has an array to write to."""
    out, x = np.zeros(2), np.array([0.5, 1.3])
    assert own_errors.own_error(np.add, (x, "text", out), {}) is None
    assert own_errors.own_error(np.add, (x, x, out), {}) is None
    assert not out.any()


def test_lists_that_hold_themselves_end():
    loop = [1.0]
    loop.append(loop)
    assert isinstance(own_errors.own_error(math.sin, (loop,), {}), TypeError)
