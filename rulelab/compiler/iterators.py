"""Iteration at run time: functions of Python that hand items on or call a function for each, one item at a
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

from ..errors import MutationError, NotDifferentiableError, Place, UnsupportedSyntaxError
from ..tangents.algebra import is_number
from ..tangents.generated import generated, tested
from ..tangents.in_step import Nothings
from ..tangents.structural import Tangent, make
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero
from . import heap, outlines, support
from .borrowed import look_at
from .handlers import NO, ZERO, Handler, Unsettled, no_cotangents
from .operands import carries
from .protocols import hands_out_its_own, is_author_class, is_of_c
from .sites import call_finder
from .walks import (
    DICT_ITEMS,
    DICT_KEYS,
    DICT_VALUES,
    Backwards,
    Called,
    Drawn,
    OfIndexed,
    OfIterator,
    OfNames,
    OfObject,
    OfRows,
    OfSequence,
    OfView,
    Part,
    Source,
    Sums,
    Token,
    Unfollowed,
    Walk,
    Whole,
    bars_by_number,
    changed_while_read,
    drawn,
    give,
    tokens,
    valued,
)

if TYPE_CHECKING:
    from .pullbacks import Pullbacks

Args = tuple[Any, ...]
Words = dict[str, Any]

# Which positional arguments are walked ("i"), handed on whole ("v"), or asked only ("-"); the last letter is
# that of all further ones.
_REARRANGED: dict[Any, str] = {
    zip: "i",
    enumerate: "i-",
    iter: "i-",
    reversed: "i-",
    itertools.chain: "i",
    itertools.product: "i",
    itertools.zip_longest: "i",
    itertools.islice: "i-",
    itertools.cycle: "i-",
    itertools.pairwise: "i-",
    itertools.combinations: "i-",
    itertools.combinations_with_replacement: "i-",
    itertools.permutations: "i-",
    itertools.compress: "i-",
    itertools.tee: "i-",
    itertools.repeat: "v-",
}
if hasattr(itertools, "batched"):
    _REARRANGED[itertools.batched] = "i-"
_WHOLE_WORDS = ("fillvalue", "object")  # keywords whose value is handed on
_FILTERS = frozenset({filter, itertools.filterfalse, itertools.takewhile, itertools.dropwhile})


_FROM_ITERABLE = itertools.chain.__dict__["from_iterable"]
_PLAINLY = frozenset({*_REARRANGED, next, itertools.count, itertools.groupby, list, tuple, dict})


def hands_on_plainly(target: Any, args: Args) -> bool:
    """Whether a call does no more than hand items on, without code of the author's: where nothing is
    differentiated, Python's own function will do.
    """
    if not is_of_c(target) or target not in _PLAINLY:
        return False
    return not any(isinstance(x, (Drawn, Walk)) or is_author_class(type(x)) for x in args)


class Iteration:
    """Answers for Python's functions of iterables, over one finder of pullbacks.

    Where nothing is `followed`, nobody asks for the cotangents of the items, and any iterable will do.
    """

    def __init__(self, pullbacks: Pullbacks, followed: bool = True) -> None:
        self.pullbacks = pullbacks
        self.followed = followed
        self.makers: dict[Any, Callable[..., Handler | None]] = {
            map: self.mapped,
            itertools.starmap: self.mapped,
            itertools.accumulate: self.accumulated,
            functools.reduce: self.reduced,
            next: self.following,
            list: self.collected,
            tuple: self.collected,
            dict: self.paired,
            set: self.refused_set,
            frozenset: self.refused_set,
            itertools.groupby: self.refused,
            itertools.count: self.refused,
            generated: self.mapped,
            tested: self.filtered,
            **dict.fromkeys(_FILTERS, self.filtered),
            **dict.fromkeys(_REARRANGED, self.rearranged),
        }

    def handler(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler | None:
        """What answers for a call of one of these functions; None for any other."""
        known = is_of_c(target) or target is generated or target is tested
        maker = self.makers.get(target) if known else None
        if maker is not None:
            return maker(target, args, kwargs, active, place)
        if target is _FROM_ITERABLE:
            return self.chained(target, args, kwargs, active, place)
        stand_in = self.pullbacks.cache.registry.stand_in(target)
        if stand_in is not None and stand_in.reads_items and args:
            unlisted = not _is_sequence(args[0]) or isinstance(args[0], range) or "default" in kwargs
            if unlisted and (len(args) == 1 or target not in (max, min)):
                return self.listed_first(target, active, place)
        return None

    # -- what is walked --------------------------------------------------------------------------------------

    def source(self, owner: Any, on: bool, place: Place | None) -> Source:
        """The items of a value; `on` tells whether their cotangents are wanted."""
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
        if isinstance(owner, Drawn):
            return OfIterator(owner)
        if isinstance(getattr(kind, "__iter__", None), types.FunctionType):
            return self.of_object(owner, place)
        if isinstance(getattr(kind, "__getitem__", None), types.FunctionType):
            finder = self.pullbacks.find_target
            state = heap.KINDS[kind].state if kind in heap.KINDS else None
            start = state and state(owner)

            def take(number: int) -> Any:
                if state and state(owner) != start:  # the reads are undone where they are asked for
                    raise changed_while_read(kind.__name__)
                method = kind.__getitem__
                flags = (False, True, False)
                return finder(method, (owner, number), {}, flags, place)(owner, number)

            return OfIndexed(take)
        if not carries(owner) or kind is itertools.count:  # made of what varies, it was refused there
            return Source(owner)
        if not self.followed:
            return Unfollowed(owner)
        raise NotDifferentiableError(
            f"The items of a {kind.__name__} cannot be differentiated",
            place=place,
            fixes=("make a list of them first",),
            read="limitations#iteration",
        )

    def of_object(self, owner: Any, place: Place | None) -> Source:
        __tracebackhide__ = True
        method = type(owner).__iter__
        try:
            handler = self.pullbacks.find_target(method, (owner,), {}, (False, True), place)
        except UnsupportedSyntaxError as error:
            if method.__code__.co_flags & 0x20:
                error.fixes = ("return iter([...]) of a list instead of yield", *error.fixes[1:])
            raise
        items, back = handler(owner)
        changes = isinstance(getattr(type(items), "__next__", None), types.FunctionType)
        if not self.followed:
            return OfObject(Unfollowed(items), back)
        if items is owner or (changes and not isinstance(items, Drawn)):
            raise NotDifferentiableError(
                f"The items of a {type(owner).__name__} cannot be differentiated: "
                f"its iterator, a {type(items).__name__}, changes as it goes",
                place=place,
                fixes=("return iter([...]) of a list from __iter__",),
                read="limitations#iteration",
            )
        return OfObject(self.source(items, True, place), back)

    def walk(self, owner: Any, place: Place) -> Any:
        """What a loop runs over: the value itself if `gather` knows its kind, else a Walk."""
        __tracebackhide__ = True
        if isinstance(owner, (np.ndarray, range, str)) or _is_sequence(owner):
            return owner
        return Walk(self.source(owner, True, place), owner)

    def unpacked(self, owner: Any, count: int, or_more: bool, place: Place) -> Any:
        """(the items, what takes their cotangent to that of the value) of `a, b = value`."""
        if _is_sequence(owner) or is_number(owner):
            return support.unpack(owner, count, or_more=or_more), _same
        walk = self.walk(owner, place)
        items = support.unpack(walk, count, or_more=or_more)
        if walk is owner:
            return items, _same
        return items, lambda y_bar: ZERO if isinstance(y_bar, AbstractZero) else walk.cotangent(y_bar)

    # -- functions that hand items on ------------------------------------------------------------------------

    def rearranged(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        letters = _REARRANGED[target]
        if target is iter and len(args) == 2:
            raise NotDifferentiableError(
                "iter() of a function and a sentinel is not differentiated",
                place=place,
                fixes=("call the function in a while loop",),
                read="limitations#iteration",
            )
        if target is iter and args and isinstance(args[0], Drawn):
            return lambda x: (x, lambda y_bar: (NO, y_bar))

        def call(*args: Any, **kwargs: Any) -> Any:
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
                if name in _WHOLE_WORDS:
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

        return Unsettled(call)

    def chained(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`chain.from_iterable(xs)`: the items of the items."""

        def call(cls: Any, /, iterables: Any) -> Any:
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

        return _as_python_calls(target, args, kwargs, call, 2, 2)

    def filtered(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`filter(test, xs)` and its like: the test is asked, and the items are handed on."""

        def call(test: Any, iterable: Any, /) -> Any:
            source = self.source(iterable, active[2], place)

            def passes(token: Token) -> Any:
                x = token.value
                if test is None and target in (filter, itertools.filterfalse):
                    return x
                if not callable(test):
                    return test(x)  # raises Python's own error
                return self.pullbacks.run_plain(test, (x,), {}, active[1:], place)

            y = drawn(target(passes, tokens(source)), target.__name__)
            return y, lambda y_bar: (NO, NO, *_of_sources([source], [(y, y_bar)])[1:])

        return _as_python_calls(target, args, kwargs, call, 2, 2)

    # -- functions that call a function ----------------------------------------------------------------------

    def calls_of(self, function: Any, place: Place | None) -> Callable[[Args, tuple[bool, ...]], Any]:
        """What calls the function for values and flags of each item, and gives `(y, back)`."""
        finders: dict[tuple[bool, ...], Handler] = {}
        start = heap.now()  # the calls are undone where the iterator was made

        def call(values: Args, flags: tuple[bool, ...]) -> Any:
            __tracebackhide__ = True
            if outlines.any_changed(start, function, *values):
                raise changed_while_read("list, dict or object")
            finder = finders.get(flags)
            if finder is None:
                finder = finders[flags] = call_finder(self.pullbacks, flags, place)
            before, mark = heap.now(), heap.mark()
            found = finder(function, *values)(*values)
            if heap.changed_since(mark):
                raise _changes_what_others_hold(place)
            heap.settle_made(before)
            return found

        return call

    def mapped(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`map(f, xs, …)` and `starmap(f, rows)`: a pullback of f for each item that is taken."""

        def call(function: Any, /, *iterables: Any) -> Any:
            __tracebackhide__ = True
            sources = [self.source(x, on, place) for x, on in zip(iterables, active[2:], strict=True)]
            own, calls = Whole(), self.calls_of(function, place)

            def called(*given: Any) -> Called:
                __tracebackhide__ = True
                values = tuple(map(valued, given))
                flags = (active[1], *map(_is_active, given))
                return Called(Token(own, 0, function), given, *calls(values, flags))

            if target is generated:
                shapes = generated(called, *map(tokens, sources))
            elif target is map:
                shapes = map(called, *map(tokens, sources))
            else:
                shapes = map(lambda row: called(*_apart(row)), *map(tokens, sources))
            if not callable(function):  # Python says so when it takes the first item
                shapes = target(function, *map(tokens, sources))
            y = drawn(shapes, "generator" if target is generated else target.__name__)
            return y, heap.effectful(lambda y_bar: _of_sources([own, *sources], [(y, y_bar)]))

        return _as_python_calls(target, args, kwargs, call, 2, len(args) if target is map else 2)

    def accumulated(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        names = [*("iterable", "func")[: len(args)], *kwargs]
        on = dict(zip(names, active[1:], strict=False))

        def call(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
            __tracebackhide__ = True
            source, own, first = self.source(iterable, on["iterable"], place), Whole(), Whole()
            adds = operator.add if func is None else func
            calls = self.calls_of(adds, place)

            def step(total: Any, item: Token) -> Called:
                __tracebackhide__ = True
                flags = (on.get("func", False), True, on["iterable"])
                values = (valued(total), item.value)
                return Called(Token(own, 0, func), (total, item), *calls(values, flags))

            start = None if initial is None else Token(first, 0, initial)
            y = drawn(itertools.accumulate(tokens(source), step, initial=start), "accumulate")

            def back(y_bar: Any) -> Any:
                by_name = dict(
                    zip(
                        ("iterable", "func", "initial"),
                        _chained_back(y, y_bar, (source, own, first)),
                        strict=True,
                    )
                )
                return (NO, *(by_name[name] for name in names))

            return y, heap.effectful(back)

        return _as_python_calls(target, args, kwargs, call, 1, 2, ("iterable", "func", "initial"))

    def reduced(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`reduce(f, xs, initial)`: f again and again, and its pullbacks in the other order."""

        def call(function: Any, iterable: Any, *initial: Any) -> Any:
            __tracebackhide__ = True
            source, own, first = self.source(iterable, active[2], place), Whole(), Whole()
            steps: list[Called] = []
            calls = self.calls_of(function, place)
            items = tokens(source)
            total: Any = Token(first, 0, initial[0]) if initial else next(items, None)
            if total is None:
                return target(function, ())  # raises Python's own error
            flags = (active[1], True, active[2])
            for item in items:
                values = (total.value, item.value)
                total = Called(Token(own, 0, function), (total, item), *calls(values, flags))
                steps.append(total)
            last = total

            def back(y_bar: Any) -> Any:
                sums: dict[Any, Sums] = {}
                pending = {id(last): y_bar}
                for step in reversed(steps):
                    _step_back(step, pending, sums)
                if not isinstance(last, Called):
                    give(last, y_bar, sums)
                elif (rest := pending.pop(id(steps[0].given[0]), None)) is not None:
                    give(steps[0].given[0], rest, sums)
                found = (own, source, first)[: 2 + len(initial)]
                return (NO, *(part.cotangent(sums.get(part, {})) for part in found))

            for step in steps:
                heap.like(step.back, back)
            return last.value, back

        return _as_python_calls(target, args, kwargs, call, 2, 3)

    # -- functions that take items ---------------------------------------------------------------------------

    def following(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`next(it)`: one item, by its number."""

        def call(iterator: Any, *default: Any) -> Any:
            if not isinstance(iterator, Drawn):
                if active[1] and carries(iterator) and hasattr(type(iterator), "__next__"):
                    raise NotDifferentiableError(
                        f"The items of a {type(iterator).__name__} cannot be differentiated",
                        place=place,
                        fixes=("make a list of them first",),
                        read="limitations#iteration",
                    )
                return next(iterator, *default), lambda y_bar: NO
            before = len(iterator.drawn)
            y = next(iterator, *default)
            if len(iterator.drawn) == before:
                return y, lambda y_bar: (NO, ZERO, y_bar)
            return y, lambda y_bar: (NO, make(dict, {before: y_bar}), *[ZERO] * len(default))

        return Unsettled(call)

    def collected(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`list(xs)` and `tuple(xs)` of anything that has items."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) != 1 or kwargs:
                return target(*args, **kwargs), lambda y_bar: NO
            walk = Walk(self.source(args[0], active[1], place))
            y = target(walk)
            return y, lambda y_bar: (NO, walk.cotangent(support.settle(unthunk(y_bar))))

        return Unsettled(call)

    def listed_first(self, target: Any, active: tuple[bool, ...], place: Place | None) -> Handler:
        """A function that reads an iterable once from end to end: it is given the list of its items."""

        def call(iterable: Any, /, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            walk = Walk(self.source(iterable, active[1], place))
            items = list(walk)
            if "default" in kwargs:
                if not items:
                    return kwargs["default"], lambda y_bar: (
                        NO,
                        walk.cotangent(()),
                        *(y_bar if name == "default" else NO for name in kwargs),
                    )
                return self.without_default(target, walk, items, kwargs, active, place)
            y, inner = self.pullbacks.find_target(target, (items, *args), kwargs, active, place)(
                items, *args, **kwargs
            )

            def back(y_bar: Any) -> Any:
                got = inner(y_bar)
                if got is NO:
                    return NO
                items_bar = support.settle(unthunk(got[1]))
                bars = ZERO if isinstance(items_bar, AbstractZero) else walk.cotangent(items_bar)
                return (NO, bars, *tuple(got)[2:])

            return y, heap.like(inner, back)

        return Unsettled(call)

    def without_default(
        self,
        target: Any,
        walk: Walk,
        items: list[Any],
        kwargs: Words,
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Any:
        """`max(xs, default=d)` where there are items."""
        words = {name: x for name, x in kwargs.items() if name != "default"}
        flags = (active[0], active[1], *(False,) * len(words))
        y, inner = self.pullbacks.find_target(target, (items,), words, flags, place)(items, **words)
        return y, lambda y_bar: (
            NO,
            walk.cotangent(support.settle(unthunk(inner(y_bar)[1]))),
            *(ZERO if name == "default" else NO for name in kwargs),
        )

    def paired(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """`dict(pairs, name=value)`: each key's last value has its cotangent."""

        def call(*args: Any, **kwargs: Any) -> Any:
            given = args[0] if args else ()
            if len(args) > 1:
                return dict(*args), lambda y_bar: NO  # raises Python's own error
            if isinstance(given, dict):
                y = dict(given, **kwargs)
                return y, lambda y_bar: _dict_back(given, args, kwargs, y_bar)
            walk = Walk(self.source(given, bool(args) and active[1], place))
            rows = list(walk)
            if not all(isinstance(row, (list, tuple)) for row in rows) and any(map(carries, rows)):
                dict(rows)  # raises Python's own error where it would
                raise NotDifferentiableError(
                    "The pairs of a dict must be tuples to be differentiated",
                    place=place,
                    fixes=("make each pair (key, value)",),
                    read="limitations#iteration",
                )
            y = dict(rows, **kwargs)
            owner = {key: number for number, (key, _) in enumerate(rows) if key not in kwargs}

            def back(y_bar: Any) -> Any:
                bars: list[Any] = [ZERO] * len(rows)
                for key, number in owner.items():
                    bars[number] = Tangent.at(rows[number], 1, support.part(y_bar, key))
                of_pairs = (walk.cotangent(bars),) if args else ()
                return (NO, *of_pairs, *(support.part(y_bar, name) for name in kwargs))

            return y, back

        return Unsettled(call)

    def refused_set(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler | None:
        if not any(map(carries, args)):
            return None
        raise NotDifferentiableError(
            "The items of a set cannot be differentiated: equal ones are one",
            place=place,
            fixes=("make a list of them",),
            read="limitations#iteration",
        )

    def refused(
        self, target: Any, args: Args, kwargs: Words, active: tuple[bool, ...], place: Place | None
    ) -> Handler | None:
        if not any(map(carries, (*args, *kwargs.values()))):
            return None
        raise NotDifferentiableError(
            f"itertools.{target.__name__} of values that vary is not differentiated",
            place=place,
            fixes=(_INSTEAD[target],),
            read="limitations#iteration",
        )


_INSTEAD = {
    itertools.groupby: "group them in a loop, in a dict of lists",
    itertools.count: "start + k * step, with the k of enumerate or itertools.count()",
}


def _step_back(step: Called, pending: dict[int, Any], sums: dict[Any, Sums]) -> None:
    """One step of a chain of calls backwards: its first argument is the result of the step before."""
    bar = support.settle(unthunk(pending.pop(id(step), ZERO)))
    if heap.is_idle(step.back, bar):
        return
    got = step.back(bar)
    give(step.function, got[0], sums)
    give(step.given[1], got[2], sums)
    before = id(step.given[0])
    pending[before] = support.add(pending.get(before, ZERO), got[1])


def _chained_back(y: Drawn, y_bar: Any, sources: tuple[Any, ...]) -> list[Any]:
    """The cotangents of the sources of running totals, each of which was made from the one before."""
    sums: dict[Any, Sums] = {}
    entries = bars_by_number(y_bar)
    pending: dict[int, Any] = {}
    for number in range(len(y.drawn) - 1, -1, -1):
        shape = y.drawn[number]
        pending[id(shape)] = support.add(pending.get(id(shape), ZERO), entries.get(number, ZERO))
        if isinstance(shape, Called):
            _step_back(shape, pending, sums)
        else:
            give(shape, pending.pop(id(shape)), sums)
    return [source.cotangent(sums.get(source, {})) for source in sources]


def _changes_what_others_hold(place: Place | None) -> MutationError:
    return MutationError(
        "A function that changes a list, dict or object of its surroundings is called item by item",
        place=place,
        fixes=("call it in a loop of your own: for x in xs: f(x)",),
        read="limitations#iteration",
    )


def _of_sources(sources: list[Any], given: list[tuple[Drawn, Any]]) -> Any:
    """The cotangents of a call that made iterators, from those of the iterators."""
    sums: dict[Any, Sums] = {}
    for y, y_bar in given:
        y.spread(y_bar, sums)
    return (NO, *(NO if s is None else s.cotangent(sums[s]) if s in sums else ZERO for s in sources))


def _dict_back(given: dict[Any, Any], args: Args, kwargs: Words, y_bar: Any) -> Any:
    y_bar = support.settle(unthunk(y_bar))
    of_first = make(type(given), {key: support.part(y_bar, key) for key in given if key not in kwargs})
    return (NO, of_first, *(support.part(y_bar, name) for name in kwargs))


def _apart(row: Token) -> Args:
    """The arguments that starmap takes from one row: a token for each item of it."""
    return tuple(Part(row, number, x) for number, x in enumerate(row.value))


def _is_active(shape: Any) -> bool:
    source = getattr(shape, "source", None)
    if isinstance(shape, Part):
        source = shape.row.source
    return source is None or type(source) is not Source


def _own_dict_of(view: Any) -> Any:
    """The dict that a view shows, if it is one of this sweep."""
    return next(filter(heap.is_own, gc.get_referents(view)), None)


def _is_sequence(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return not hands_out_its_own(x)
    return (isinstance(x, np.ndarray) and x.ndim > 0) or isinstance(x, range)


def _backwards(x: Any, place: Place | None) -> Any:
    reversed(x)  # raises Python's own error
    raise NotDifferentiableError(
        f"The items of a {type(x).__name__} cannot be differentiated backwards",
        place=place,
        fixes=("make a list of them first",),
        read="limitations#iteration",
    )


def _same(y_bar: Any) -> Any:
    return y_bar


def _as_python_calls(
    target: Any,
    args: Args,
    kwargs: Words,
    call: Callable[..., Any],
    least: int,
    most: int,
    words: tuple[str, ...] = (),
) -> Handler:
    """The handler, unless the call is one that Python refuses: then the function is left to say so."""
    count = len(args) + sum(name in words[len(args) : most] for name in kwargs)
    if not least <= count <= most or any(name not in words[len(args) :] for name in kwargs):
        return Unsettled(lambda *args, **kwargs: (target(*args, **kwargs), no_cotangents))
    return Unsettled(call)
