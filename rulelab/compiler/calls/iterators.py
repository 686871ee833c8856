"""Iteration at run time: Python functions that pass items on, or call a function for each, one item at a
time.
"""

from __future__ import annotations

import functools
import gc
import itertools
import operator
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import MutationError, NotDifferentiableError, Place, an, items_refused
from ...python_facts import HANDED_ON, HANDING_ON
from ...tangents.algebra import is_number
from ...tangents.generator_expressions import generated, tested
from ...tangents.paired_iteration import Nothings
from ...tangents.structural import Tangent, make
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base.classes import hands_out_its_own, is_author_class, is_of_c
from ..memory import heap, outlines, support
from ..memory.handlers import NO, ZERO, Handler, Uncached, no_cotangents, rearranged
from ..memory.operands import carries
from ..memory.walks import (
    DICT_ITEMS,
    DICT_KEYS,
    DICT_VALUES,
    Backwards,
    Called,
    OfIndexed,
    OfIterator,
    OfNames,
    OfObject,
    OfRows,
    OfSequence,
    OfView,
    Part,
    RecordedIterator,
    Source,
    Sums,
    Token,
    Unfollowed,
    Walk,
    Whole,
    changed_while_read,
    drawn,
    give,
    tokens,
    valued,
)
from . import questions
from .borrowed import look_at
from .call import Call
from .remembered import call_finder

if TYPE_CHECKING:
    from ..base.question import Question

Args = tuple[Any, ...]
Words = dict[str, Any]

_FILTERS = frozenset({filter, itertools.filterfalse, itertools.takewhile, itertools.dropwhile})


_FROM_ITERABLE = itertools.chain.__dict__["from_iterable"]
_PLAINLY = frozenset({*HANDING_ON, next, itertools.count, itertools.groupby, list, tuple, dict})


def hands_on_plainly(target: Any, args: Args) -> bool:
    """Whether a call only passes items on and runs no code of the author's: without a derivative, Python's
    own function will do.
    """
    if not is_of_c(target) or target not in _PLAINLY:
        return False
    return not any(isinstance(x, (RecordedIterator, Walk)) or is_author_class(type(x)) for x in args)


_MOST_FINDERS = 256


class Iteration:
    """The handlers of Python's functions of iterables, over one finder of pullbacks.

    Unless `followed`, no cotangents of items are wanted, and any iterable is accepted.
    """

    def __init__(self, pullbacks: Question, followed: bool = True) -> None:
        self.pullbacks = pullbacks
        self.followed = followed
        self._finders: dict[tuple[tuple[bool, ...], int], tuple[Place | None, Handler]] = {}
        self.makers: dict[Any, Callable[..., Handler | None]] = {
            map: self.mapped,
            itertools.starmap: self.mapped,
            itertools.accumulate: self.accumulated,
            functools.reduce: self.reduced,
            next: self.following,
            list: self.collected,
            tuple: self.collected,
            dict: self.paired,
            set: self.refused,
            frozenset: self.refused,
            itertools.groupby: self.refused,
            itertools.count: self.refused,
            generated: self.mapped,
            tested: self.filtered,
            **dict.fromkeys(_FILTERS, self.filtered),
            **dict.fromkeys(HANDING_ON, self.rearranged),
            _FROM_ITERABLE: self.chained,
        }

    def handler(self, call: Call) -> Handler | None:
        """The handler of a call of one of these functions; None for any other."""
        known = is_of_c(call.target) or isinstance(call.target, (types.FunctionType, type(_FROM_ITERABLE)))
        maker = self.makers.get(call.target) if known else None
        if maker is not None:
            return maker(call)
        stand_in = self.pullbacks.cache.registry.stand_in(call.target)
        if stand_in is not None and stand_in.reads_items and call.args:
            unlisted = (
                not _is_sequence(call.args[0]) or isinstance(call.args[0], range) or "default" in call.kwargs
            )
            if unlisted and (len(call.args) == 1 or call.target not in (max, min)):
                return self.listed_first(call.target, call.active, call.place)
        return None

    # -- what is walked --------------------------------------------------------------------------------------

    def source(self, owner: Any, on: bool, place: Place | None) -> Source:
        """The items of a value; `on` says whether their cotangents are wanted."""
        __tracebackhide__ = True
        kind = type(owner)
        constant = isinstance(owner, (range, str, bytes, DICT_KEYS, Nothings)) or is_number(owner)
        names = isinstance(owner, DICT_KEYS) and _own_dict_of(owner) is not None
        if on and (names or isinstance(owner, (dict, set, frozenset)) and heap.is_own(owner)):
            return OfNames(owner, place)
        if not on and not constant:
            look_at(self.pullbacks, (owner,), place)
        if not on or constant or (isinstance(owner, dict) and not hands_out_its_own(owner)):
            return Source(owner)
        if isinstance(owner, (list, tuple)) and not hands_out_its_own(owner):
            return OfSequence(owner)
        if type(owner) is deque and heap.is_own(owner):
            return OfSequence(owner)
        if isinstance(owner, np.ndarray):
            return OfRows(owner) if owner.dtype.kind in "fciuO" else Source(owner)
        if isinstance(owner, (DICT_VALUES, DICT_ITEMS)):
            return OfView(owner, _own_dict_of(owner))
        if isinstance(owner, RecordedIterator):
            return OfIterator(owner)
        if isinstance(getattr(kind, "__iter__", None), types.FunctionType):
            return self.of_object(owner, place)
        if isinstance(getattr(kind, "__getitem__", None), types.FunctionType):
            finder = self.pullbacks.find_target
            state = heap.KINDS[kind].state if kind in heap.KINDS else None
            start = state and state(owner)

            def take(number: int) -> Any:
                if state and state(owner) != start:  # the reads are undone where their items are used
                    raise changed_while_read(kind.__name__)
                method = kind.__getitem__
                flags = (False, True, False)
                return finder(method, (owner, number), {}, flags, place)(owner, number)

            return OfIndexed(take)
        if not carries(owner) or kind is itertools.count:  # one that varies was refused when made
            return Source(owner)
        if not self.followed:
            return Unfollowed(owner)
        raise items_refused(kind, place)

    def of_object(self, owner: Any, place: Place | None) -> Source:
        """The items of an object whose class has an `__iter__` in Python."""
        __tracebackhide__ = True
        method = type(owner).__iter__
        handler = self.pullbacks.find_target(method, (owner,), {}, (False, True), place)
        items, back = handler(owner)
        changes = isinstance(getattr(type(items), "__next__", None), types.FunctionType)
        if not self.followed:
            return OfObject(Unfollowed(items), back)
        if items is owner or (changes and not isinstance(items, RecordedIterator)):
            because = f": its iterator, {an(type(items).__name__)}, changes while it is read"
            raise items_refused(type(owner), place, because, "return iter([...]) of a list from __iter__")
        return OfObject(self.source(items, True, place), back)

    def walk(self, owner: Any, place: Place) -> Any:
        """The value that a loop runs over: the value itself if `gather` knows its type, else a Walk."""
        __tracebackhide__ = True
        if isinstance(owner, (np.ndarray, range, str)) or _is_sequence(owner):
            return owner
        return Walk(self.source(owner, True, place), owner)

    def unpacked(self, owner: Any, count: int, or_more: bool, place: Place) -> Any:
        """For `a, b = value`: the items, and a function from their cotangent to that of the value."""
        if _is_sequence(owner) or is_number(owner):
            return support.unpack(owner, count, or_more=or_more), _same
        walk = self.walk(owner, place)
        items = support.unpack(walk, count, or_more=or_more)
        if walk is owner:
            return items, _same
        return items, lambda y_bar: ZERO if isinstance(y_bar, AbstractZero) else walk.cotangent(y_bar)

    # -- functions that hand items on ------------------------------------------------------------------------

    def rearranged(self, call: Call) -> Handler:
        """A function such as `zip` or `enumerate`, which passes items on."""
        target, active, place = call.target, call.active, call.place
        letters = HANDING_ON[call.target]
        if call.target is iter and len(call.args) == 2:
            raise NotDifferentiableError(
                "iter() of a function and a sentinel is not differentiated",
                place=call.place,
                fixes=("call the function in a while loop",),
                read="limitations#iteration",
            )
        if call.target is iter and call.args and isinstance(call.args[0], RecordedIterator):
            return lambda x: (x, lambda y_bar: (NO, y_bar))

        def run(*args: Any, **kwargs: Any) -> Any:
            sources: list[Any] = [None] * (len(args) + len(kwargs))
            given = list(args)
            for number, x in enumerate(args):
                letter = letters[min(number, len(letters) - 1)]
                if letter == "i":
                    sources[number] = source = self.source(x, active[1 + number], place)
                    given[number] = tokens(source)
                    if target is reversed:
                        given[number] = Backwards(source, x) if _is_sequence(x) else _backwards(x, place)
                elif letter == "v":
                    sources[number] = whole = Whole()
                    given[number] = Token(whole, 0, x)
            words = dict(kwargs)
            for number, (name, x) in enumerate(kwargs.items()):
                if name in HANDED_ON:
                    sources[len(args) + number] = whole = Whole()
                    words[name] = Token(whole, 0, x)
            made = target(*given, **words)
            if type(made) is not tuple:
                y = drawn(made, type(iter(args[0]) if target is iter else made).__name__)
                return y, lambda y_bar: _of_sources(sources, [(y, y_bar)])
            several = tuple(drawn(iterator, type(iterator).__name__) for iterator in made)
            return several, lambda y_bar: _of_sources(
                sources, [(y, part) for y, part in zip(several, y_bar, strict=True)]
            )

        return Uncached(run)

    def chained(self, call: Call) -> Handler:
        """`chain.from_iterable(xs)`: the items of the items."""

        active, place = call.active, call.place

        def run(cls: Any, /, iterables: Any) -> Any:
            outer = self.source(iterables, active[2], place)
            inner: list[tuple[Any, Source]] = []

            def shapes() -> Iterator[Token]:
                for key, item in outer.pairs():
                    source = self.source(item, active[2] and carries(item), place)
                    inner.append((key, source))
                    yield from tokens(source)

            y = drawn(shapes(), "chain")

            def back(y_bar: Any) -> Any:
                sums: dict[Any, Sums] = {}
                y.spread(y_bar, sums)
                found = {key: source.cotangent(sums[source]) for key, source in inner if source in sums}
                return NO, NO, outer.cotangent(found)

            return y, back

        return _as_python_calls(call, run, 2, 2)

    def filtered(self, call: Call) -> Handler:
        """`filter(test, xs)` and the like: the test runs plainly, and the items are passed on."""
        target, flags, place = call.target, call.active[1:], call.place
        empty = target in (filter, itertools.filterfalse)

        def run(test: Any, iterable: Any, /) -> Any:
            def passes(token: Token) -> Any:
                if test is None and empty:
                    return questions.answered(operator.truth, (token.value,), {}, place)
                if not callable(test):
                    return test(token.value)  # raises Python's own error
                return self.pullbacks.run_plain(test, (token.value,), {}, flags, place)

            source = self.source(iterable, flags[1], place)
            y = drawn(target(passes, tokens(source)), target.__name__)
            return y, lambda y_bar: _of_sources([None, source], [(y, y_bar)])

        return _as_python_calls(call, run, 2, 2)

    # -- functions that call a function ----------------------------------------------------------------------

    def calls_of(self, function: Any, place: Place | None) -> Callable[[Args, tuple[bool, ...]], Any]:
        """A function that calls `function` on the values of an item, with their flags, and returns
        `(y, back)`.
        """
        finders: dict[tuple[bool, ...], Handler] = {}
        start = heap.now()  # the calls are undone where the iterator was made

        def call(values: Args, flags: tuple[bool, ...]) -> Any:
            __tracebackhide__ = True
            if outlines.any_changed(start, function, *values):
                raise changed_while_read("list, dict or object")
            finder = finders.get(flags)
            if finder is None:
                finder = finders[flags] = self.finder(flags, place)
            before, mark = heap.now(), heap.mark()
            found = finder(function, *values)(*values)
            if heap.changed_since(mark):
                raise MutationError(
                    "A function that changes a list, dict or object outside it is called for each item",
                    place=place,
                    fixes=("call it in a loop of your own: for x in xs: f(x)",),
                    read="limitations#iteration",
                )
            heap.settle_made(before)
            return found

        return call

    def finder(self, flags: tuple[bool, ...], place: Place | None) -> Handler:
        """The finder of the handlers for calls at one place; the same one is returned the next time."""
        key = flags, id(place)
        known = self._finders.get(key)
        if known is None or known[0] is not place:
            if len(self._finders) >= _MOST_FINDERS:
                self._finders.clear()
            known = self._finders[key] = place, call_finder(self.pullbacks, flags, place)
        return known[1]

    def mapped(self, call: Call) -> Handler:
        """`map(f, xs, …)` and `starmap(f, rows)`: a pullback of f for each item that is taken."""

        target, active, place = call.target, call.active, call.place

        def run(function: Any, /, *iterables: Any) -> Any:
            __tracebackhide__ = True
            sources = [self.source(x, on, place) for x, on in zip(iterables, active[2:], strict=True)]
            own, calls = Whole(), self.calls_of(function, place)

            def called(*given: Any) -> Called:
                __tracebackhide__ = True
                values = tuple(map(valued, given))
                flags = (active[1], *map(_is_active, given))
                return Called(Token(own, 0, function), given, *calls(values, flags))

            if target is itertools.starmap and callable(function):
                shapes = map(lambda row: called(*_apart(row)), *map(tokens, sources))
            else:  # Python refuses a function that cannot be called when the first item is taken
                shapes = target(called if callable(function) else function, *map(tokens, sources))
            y = drawn(shapes, "generator" if target is generated else target.__name__)
            return y, heap.effectful(lambda y_bar: _of_sources([own, *sources], [(y, y_bar)]))

        return _as_python_calls(call, run, 2, len(call.args) if call.target is map else 2)

    def accumulated(self, call: Call) -> Handler:
        """`accumulate(xs, f, initial=…)`: the running totals."""
        names = [*("iterable", "func")[: len(call.args)], *call.kwargs]
        on = dict(zip(names, call.active[1:], strict=False))

        def run(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
            __tracebackhide__ = True
            start = () if initial is None else (initial,)
            y, totals_back = self.totals(
                func, on.get("func", False), iterable, on["iterable"], start, call.place
            )

            def back(y_bar: Any) -> Any:
                by_name = dict(zip(("func", "iterable", "initial"), totals_back(y_bar), strict=True))
                return (NO, *(by_name[name] for name in names))

            return y, heap.effectful(back)

        return _as_python_calls(call, run, 1, 2, ("iterable", "func", "initial"))

    def reduced(self, call: Call) -> Handler:
        """`reduce(f, xs, initial)`: the last of the running totals."""
        of_function, of_items = call.active[1:3]

        def run(function: Any, iterable: Any, *initial: Any) -> Any:
            __tracebackhide__ = True
            totals, totals_back = self.totals(function, of_function, iterable, of_items, initial, call.place)
            totals.drawn.extend(totals.shapes)
            if not totals.drawn:
                return call.target(function, ())  # raises Python's own error

            def back(y_bar: Any) -> Any:
                found = totals_back({len(totals.drawn) - 1: y_bar})
                return (NO, *found[: 2 + len(initial)])

            for step in totals.drawn:
                heap.like(getattr(step, "back", None), back)
            return totals.drawn[-1].value, back

        return _as_python_calls(call, run, 2, 3)

    def totals(
        self, func: Any, of_func: bool, iterable: Any, of_items: bool, start: Args, place: Place | None
    ) -> Any:
        """The running totals, and a function from their cotangents to those of the function, the items and
        the start.
        """
        source, own, first = self.source(iterable, of_items, place), Whole(), Whole()
        calls = self.calls_of(operator.add if func is None else func, place)

        def step(total: Any, item: Token) -> Called:
            __tracebackhide__ = True
            found = calls((total.value, item.value), (of_func, True, of_items))
            return Called(Token(own, 0, func), (total, item), *found)

        beginning = Token(first, 0, start[0]) if start else None
        y = drawn(itertools.accumulate(tokens(source), step, initial=beginning), "accumulate")
        return y, lambda y_bar: _chained_back(y, y_bar, (own, source, first))

    # -- functions that take items ---------------------------------------------------------------------------

    def following(self, call: Call) -> Handler:
        """`next(it)`: one item, by its number."""

        def run(iterator: Any, *default: Any) -> Any:
            if not isinstance(iterator, RecordedIterator):
                if call.active[1] and carries(iterator) and hasattr(type(iterator), "__next__"):
                    raise items_refused(type(iterator), call.place)
                return next(iterator, *default), lambda y_bar: NO
            before = len(iterator.drawn)
            y = next(iterator, *default)
            if len(iterator.drawn) == before:
                return y, lambda y_bar: (NO, ZERO, y_bar)
            return y, lambda y_bar: (NO, make(dict, {before: y_bar}), *[ZERO] * len(default))

        return Uncached(run)

    def collected(self, call: Call) -> Handler:
        """`list(xs)` and `tuple(xs)` of anything that has items."""

        def run(*args: Any, **kwargs: Any) -> Any:
            if len(args) != 1 or kwargs:
                return call.target(*args, **kwargs), no_cotangents
            walk = Walk(self.source(args[0], call.active[1], call.place))
            return call.target(walk), lambda y_bar: (NO, walk.cotangent(support.settle(unthunk(y_bar))))

        return Uncached(run)

    def listed_first(self, target: Any, active: tuple[bool, ...], place: Place | None) -> Handler:
        """A function that reads an iterable once from end to end: it is passed a list of the items."""

        def call(iterable: Any, /, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            walk = Walk(self.source(iterable, active[1], place))
            items = list(walk)
            if "default" in kwargs and not items:
                return kwargs["default"], lambda y_bar: (
                    NO,
                    walk.cotangent(()),
                    *(y_bar if name == "default" else NO for name in kwargs),
                )
            words = {name: x for name, x in kwargs.items() if name != "default"}
            flags = (
                *active[: 2 + len(args)],
                *(on for name, on in zip(kwargs, active[2 + len(args) :]) if name in words),
            )
            y, inner = self.pullbacks.find_target(target, (items, *args), words, flags, place)(
                items, *args, **words
            )

            def of_given(got: tuple[Any, ...]) -> tuple[Any, ...]:
                items_bar = support.settle(unthunk(got[1]))
                bars = ZERO if isinstance(items_bar, AbstractZero) else walk.cotangent(items_bar)
                of_words = dict(zip(words, got[2 + len(args) :]))
                return (NO, bars, *got[2 : 2 + len(args)], *(of_words.get(name, ZERO) for name in kwargs))

            return y, rearranged(inner, of_given)

        return Uncached(call)

    def paired(self, call: Call) -> Handler:
        """`dict(pairs, name=value)`: the last value of each key has its cotangent."""

        def run(*args: Any, **kwargs: Any) -> Any:
            given = args[0] if args else ()
            if len(args) > 1:
                return dict(*args), no_cotangents  # raises Python's own error
            walk = None
            if not isinstance(given, dict):
                walk = Walk(self.source(given, bool(args) and call.active[1], call.place))
            rows: Any = given if walk is None else list(walk)
            if walk and not all(isinstance(row, (list, tuple)) for row in rows) and any(map(carries, rows)):
                dict(rows)  # raises Python's own error where it would
                raise NotDifferentiableError(
                    "The pairs of a dict must be tuples to be differentiated",
                    place=call.place,
                    fixes=("make each pair (key, value)",),
                    read="limitations#iteration",
                )
            y = dict(rows, **kwargs)
            last = {key: key for key in given} if walk is None else {row[0]: k for k, row in enumerate(rows)}
            owner = {last[key]: key for key in last if key not in kwargs}

            def back(y_bar: Any) -> Any:
                y_bar = support.settle(unthunk(y_bar))
                parts = {number: support.part(y_bar, key) for number, key in owner.items()}
                if walk is None:
                    of_first = make(type(given), parts)
                else:
                    of_first = walk.cotangent(
                        [Tangent.at(row, 1, parts.get(k, ZERO)) for k, row in enumerate(rows)]
                    )
                return (NO, *((of_first,) if args else ()), *(support.part(y_bar, name) for name in kwargs))

            return y, back

        return Uncached(run)

    def refused(self, call: Call) -> Handler | None:
        """Raises for functions that are not differentiated if an argument can have a cotangent; otherwise
        None.
        """
        if not any(map(carries, call.values())):
            return None
        if call.target not in _INSTEAD:
            raise items_refused(set, call.place)
        raise NotDifferentiableError(
            f"itertools.{call.target.__name__} of values that vary is not differentiated",
            place=call.place,
            fixes=(_INSTEAD[call.target],),
            read="limitations#iteration",
        )


_INSTEAD = {
    itertools.groupby: "group them in a loop, in a dict of lists",
    itertools.count: "use start + k * step, with the k of enumerate or itertools.count()",
}


def _chained_back(y: RecordedIterator, y_bar: Any, sources: tuple[Any, ...]) -> list[Any]:
    """The cotangents of the sources of running totals, each of which was computed from the one before."""
    sums: dict[Any, Sums] = {}
    entries = outlines.entries_in(y_bar)
    rest: Any = ZERO
    for number in range(len(y.drawn) - 1, -1, -1):
        shape, bar = y.drawn[number], support.add(rest, entries.get(number, ZERO))
        if not isinstance(shape, Called):
            give(shape, bar, sums)
        elif not heap.is_idle(shape.back, bar := support.settle(unthunk(bar))):
            got = shape.back(bar)
            give(shape.function, got[0], sums)
            give(shape.given[1], got[2], sums)
            rest = got[1]
        else:
            rest = ZERO
    return [source.cotangent(sums.get(source, {})) for source in sources]


def _of_sources(sources: list[Any], given: list[tuple[RecordedIterator, Any]]) -> Any:
    """The cotangents of the arguments of a call that made iterators, from those of the iterators."""
    sums: dict[Any, Sums] = {}
    for y, y_bar in given:
        y.spread(y_bar, sums)
    return (NO, *(NO if s is None else s.cotangent(sums[s]) if s in sums else ZERO for s in sources))


def _apart(row: Token) -> Args:
    """The arguments that starmap takes from one row: a token for each item."""
    return tuple(Part(row, number, x) for number, x in enumerate(row.value))


def _is_active(shape: Any) -> bool:
    source = shape.row.source if isinstance(shape, Part) else getattr(shape, "source", None)
    return source is None or type(source) is not Source


def _own_dict_of(view: Any) -> Any:
    """The dict behind a view, if it was made during this sweep."""
    return next(filter(heap.is_own, gc.get_referents(view)), None)


def _is_sequence(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return not hands_out_its_own(x)
    return (isinstance(x, np.ndarray) and x.ndim > 0) or isinstance(x, range)


def _backwards(x: Any, place: Place | None) -> Any:
    reversed(x)  # raises Python's own error
    raise items_refused(type(x), place, " backwards")


def _same(y_bar: Any) -> Any:
    return y_bar


def _as_python_calls(
    call: Call,
    run: Callable[..., Any],
    least: int,
    most: int,
    words: tuple[str, ...] = (),
) -> Handler:
    """The handler `run`; if Python refuses the number or names of the arguments, one that calls the function
    itself, which raises.
    """
    target, given = call.target, len(call.args)
    count = given + sum(name in words[given:most] for name in call.kwargs)
    if not least <= count <= most or any(name not in words[given:] for name in call.kwargs):
        return Uncached(lambda *args, **kwargs: (target(*args, **kwargs), no_cotangents))
    return Uncached(run)
