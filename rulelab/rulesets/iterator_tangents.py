"""Forward rules of iteration: of what hands items on, of what calls a function for each, of what reads them.

Where all that is read are sequences, which reading does not change, Python's own function runs over them and
over their tangents side by side. Where one is an iterator, it runs over pairs
(`tangents/paired_iteration.py`).
"""

import functools
import itertools
import math
import operator
from collections import deque

import numpy as np

from ..errors import NotDifferentiableError, items_refused
from ..python_facts import HANDED_ON, HANDING_ON
from ..rules.rule_table import RuleTable
from ..tangents.generator_expressions import generated, tested
from ..tangents.paired_iteration import (
    Nothings,
    authors_method,
    beside_entry,
    beside_number,
    first,
    is_iterator,
    pairs,
    split,
    split_rows,
)
from ..tangents.shadows import is_constant, settled
from ..tangents.zeros import NoTangent
from .container_tangents import (
    FORWARDS,
    answer_about_items,
    check_in_step,
    has_only,
    items_and_tangents,
    ranks_of,
)
from .numpy_elementwise import Number, remainder_partials
from .operators import winner, winner_of_several

TABLE = RuleTable("iterator_tangents", hands_out=True)

NO = NoTangent()
_SEQUENCES = (list, tuple, deque, range, str, bytes)


def is_sequence(x):
    """Whether reading the items of `x` leaves it as it is, and goes by Python's own way."""
    return type(x) in _SEQUENCES or (isinstance(x, np.ndarray) and x.ndim > 0)


def tangents_of_items(x, x_dot):
    """Something to iterate over beside the sequence `x`, as long as `x` is when it is read."""
    return Nothings(x) if is_constant(x_dot) else x_dot


TABLE.non_differentiable(is_sequence, authors_method, Nothings)


# -- iter, next, reversed ------------------------------------------------------------------------------------


@TABLE.frule(iter, requires=FORWARDS)
def iter_frule(config, tangents, x, *sentinel):
    if sentinel:

        def call(_):
            return config.frule_via_ad((tangents[1],), x)

        results = map(call, itertools.repeat(None))
        return split(itertools.takewhile(lambda row: not row[0] == sentinel[0], results))
    if is_constant(tangents[1]):
        return iter(x), NO
    if is_iterator(x):
        return x, tangents[1]
    if is_sequence(x):
        return iter(x), iter(tangents[1])
    return split(pairs(config, x, tangents[1]))


_END = object()


@TABLE.frule(next, requires=FORWARDS)
def next_frule(config, tangents, iterator, *default):
    if not default:
        return _next(config, iterator, tangents[1])
    if authors_method(type(iterator), "__next__") is None:  # a handler has no derivative backwards
        y = next(iterator, _END)
        if y is _END:
            return default[0], tangents[2]
        return y, NO if is_constant(tangents[1]) else next(tangents[1])
    try:
        return _next(config, iterator, tangents[1])
    except StopIteration:
        return default[0], tangents[2]


def _next(config, iterator, iterator_dot):
    method = authors_method(type(iterator), "__next__")
    if method is not None:
        return config.frule_via_ad((NO, iterator_dot), method, iterator)
    return next(iterator), NO if is_constant(iterator_dot) else next(iterator_dot)


@TABLE.frule(reversed, requires=FORWARDS)
def reversed_frule(config, tangents, x, /):
    method = authors_method(type(x), "__reversed__")
    if method is not None:
        return config.frule_via_ad((NO, tangents[1]), method, x)
    if is_constant(tangents[1]) or isinstance(x, dict):
        return reversed(x), NO
    if is_sequence(x) or isinstance(x, type({}.values())):
        check_in_step(x, tangents[1])
        return reversed(x), reversed(tangents[1])
    if isinstance(x, type({}.items())):
        return reversed(x), map(beside_entry, reversed(tangents[1]))
    reversed(x)  # raises Python's own error
    raise items_refused(type(x), because=" backwards")


# -- zip, enumerate and what else hands items on -------------------------------------------------------------


_ONE_BY_ONE = (itertools.islice, itertools.cycle, itertools.compress, itertools.repeat)
_OF_ITS_OWN = (enumerate, iter, reversed, itertools.chain, itertools.tee)


_BY_PAIRS = [target for target in HANDING_ON if target not in _OF_ITS_OWN]


@TABLE.frules(*_BY_PAIRS, requires=FORWARDS, keyword_tangents=True)
def _handing_on(target):
    """One of the functions that only hand items on: it is given pairs of item and tangent in their place."""
    letters = HANDING_ON[target]
    parted = split if target in _ONE_BY_ONE else split_rows
    filled = {"fillvalue": (None, NO)} if target is itertools.zip_longest else {}

    def handing_on_frule(config, tangents, *args, **words):
        count = 1 + len(args)
        if all(map(is_constant, tangents[1:])):
            return target(*args, **words), NO
        if target in (zip, itertools.product) and all(map(is_sequence, args)):
            dots = [tangents_of_items(x, x_dot) for x, x_dot in zip(args, tangents[1:count], strict=True)]
            return target(*args, **words), target(*dots, **words)
        kinds = for_each(letters, len(args))
        given = [_handed_over(config, *of_one) for of_one in zip(kinds, args, tangents[1:count])]
        whole = dict(zip(words, zip(words.values(), tangents[count:], strict=True), strict=True))
        of_words = {name: whole[name] if name in HANDED_ON else words[name] for name in words}
        return parted(target(*given, **{**filled, **of_words}))

    return handing_on_frule


def for_each(letters, count):
    """A letter for each argument."""
    return tuple(letters.ljust(count, letters[-1]))


TABLE.non_differentiable(for_each)


def _handed_over(config, letter, x, x_dot):
    """What stands for an argument of such a function."""
    if letter == "v":
        return x, x_dot
    if letter == "-" or is_constant(x_dot) and letter == "t":
        return x
    return map(first, pairs(config, x, x_dot)) if letter == "t" else pairs(config, x, x_dot)


@TABLE.frule(enumerate, requires=FORWARDS)
def enumerate_frule(config, tangents, iterable, start=0):
    if is_constant(tangents[1]):
        return enumerate(iterable, start), NO
    if is_sequence(iterable):
        return enumerate(iterable, start), map(beside_number, tangents[1])
    rows = enumerate(pairs(config, iterable, tangents[1]), start)
    return split(map(_numbered, rows))


def _numbered(row):
    number, (x, x_dot) = row
    return (number, x), (NO, x_dot)


@TABLE.frule(itertools.chain, requires=FORWARDS)
def chain_frule(config, tangents, *xs):
    if all(map(is_constant, tangents[1:])):
        return itertools.chain(*xs), NO
    if all(map(is_sequence, xs)):
        dots = [tangents_of_items(x, x_dot) for x, x_dot in zip(xs, tangents[1:], strict=True)]
        return itertools.chain(*xs), itertools.chain(*dots)
    return _chained(config, zip(xs, tangents[1:], strict=True))


def _chained(config, given):
    """The items of iterables, of which there are pairs with their tangents."""

    def of_one(row):
        return pairs(config, row[0], row[1])

    return split(itertools.chain.from_iterable(map(of_one, given)))


@TABLE.frule(itertools.chain.__dict__["from_iterable"], requires=FORWARDS)
def from_iterable_frule(config, tangents, cls, iterables, /):
    return _chained(config, pairs(config, iterables, tangents[2]))


@TABLE.frule(itertools.count, keyword_tangents=True)
def count_frule(tangents, *args, **words):
    names = [*("start", "step")[: len(args)], *words]
    by_name = dict(zip(names, tangents[1:], strict=True))
    start_dot, step_dot = by_name.get("start", NO), by_name.get("step", NO)
    y = itertools.count(*args, **words)
    if is_constant(start_dot) and is_constant(step_dot):
        return y, NO
    return y, itertools.count(settled(0.0, start_dot), settled(0.0, step_dot))


@TABLE.frule(itertools.tee, requires=FORWARDS)
def tee_frule(config, tangents, iterable, n=2, /):
    if is_constant(tangents[1]):
        return itertools.tee(iterable, n), NO
    several = [split(rows) for rows in itertools.tee(pairs(config, iterable, tangents[1]), n)]
    return tuple([row[0] for row in several]), tuple([row[1] for row in several])


@TABLE.frule(itertools.groupby, requires=FORWARDS, keyword_tangents=True)
def groupby_frule(config, tangents, iterable, *args, **words):
    key = args[0] if args else words.get("key")
    key_dot = tangents[2] if len(tangents) > 2 else NO
    rows = itertools.groupby(pairs(config, iterable, tangents[1]), _key_of_pair(config, key, key_dot))
    return split(map(_group, rows))


def _key_of_pair(config, key, key_dot):
    def key_of(pair):
        x, x_dot = pair
        if key is not None:
            x, x_dot = config.frule_via_ad((key_dot, x_dot), key, x)
        if not is_constant(x_dot) and not isinstance(x, (int, str, bytes, type(None))):
            raise NotDifferentiableError(
                "itertools.groupby by a key that varies is not differentiated",
                fixes=("group them in a loop, in a dict of lists",),
                read="limitations#iteration",
            )
        return x

    return key_of


def _group(row):
    key, group = row
    items, dots = split(group)
    return (key, items), (NO, dots)


# -- what calls a function for each item ---------------------------------------------------------------------


def called(config, f, f_dot, row):
    """`f` of the items of a row of pairs, with its tangent."""
    return config.frule_via_ad((f_dot, *[dot for _, dot in row]), f, *[x for x, _ in row])


@TABLE.frules(map, generated, itertools.starmap, requires=FORWARDS)
def _calling(target):
    """`map` and its like: a function is called for each row of items."""

    def calling_frule(config, tangents, f, *xs):
        if not xs or not callable(f):
            return target(f, *xs), NO  # raises Python's own error, now or at the first item

        def call(*row):
            return called(config, f, tangents[1], row)

        def call_of_row(row):
            return called(config, f, tangents[1], list(pairs(config, row[0], row[1])))

        given = [pairs(config, x, x_dot) for x, x_dot in zip(xs, tangents[2:], strict=True)]
        return split(map(call_of_row, *given) if target is itertools.starmap else target(call, *given))

    return calling_frule


@TABLE.frules(
    filter, tested, itertools.filterfalse, itertools.takewhile, itertools.dropwhile, requires=FORWARDS
)
def _filter(target):
    """`filter`, `takewhile` and their like: a test is asked, the items are passed on."""

    def filter_frule(config, tangents, test, iterable, /):
        given = pairs(config, iterable, tangents[2])
        if test is None and target in (filter, itertools.filterfalse):
            return split(target(lambda pair: answer_about_items(config, bool, NO, pair), given))
        if not callable(test):
            return target(test, iterable), NO  # raises Python's own error at the first item
        return split(target(lambda pair: answer_about_items(config, test, tangents[1], pair), given))

    return filter_frule


@TABLE.frule(itertools.accumulate, requires=FORWARDS, keyword_tangents=True)
def accumulate_frule(config, tangents, *args, **words):
    names = [*("iterable", "func")[: len(args)], *words]
    given = dict(zip(names, zip((*args, *words.values()), tangents[1:], strict=True), strict=True))
    x, x_dot = given["iterable"]
    func, func_dot = given.get("func", (None, NO))
    start = given.get("initial", (None, NO))
    adds = operator.add if func is None else func
    totals = itertools.accumulate(
        pairs(config, x, x_dot),
        lambda total, item: called(config, adds, func_dot, (total, item)),
        initial=None if start[0] is None else start,
    )
    return split(totals)


@TABLE.frule(functools.reduce, requires=FORWARDS)
def reduce_frule(config, tangents, function, iterable, *initial):
    given = pairs(config, iterable, tangents[2])
    total = (initial[0], tangents[3]) if initial else next(given, None)
    if total is None:
        return functools.reduce(function, ()), NO  # raises Python's own error
    for item in given:
        total = called(config, function, tangents[1], (total, item))
    return total[0], total[1]


# -- what reads items ----------------------------------------------------------------------------------------

_NUMBERS = (int, float, complex, np.number, np.bool_, np.ndarray)


def are_numbers(xs):
    """Whether all of a list are numbers or arrays of numbers."""
    return all(isinstance(x, _NUMBERS) and not (isinstance(x, np.ndarray) and x.dtype.hasobject) for x in xs)


TABLE.non_differentiable(are_numbers)


@TABLE.frule(sum, requires=FORWARDS, keyword_tangents=True)
def sum_frule(config, tangents, iterable, /, start=0):
    start_dot = tangents[2] if len(tangents) > 2 else NO
    xs, dots = items_and_tangents(config, iterable, tangents[1])
    if len(xs) == 0 and not isinstance(start, (str, bytes, bytearray)):
        return start, start_dot  # Python gives `start` itself
    if are_numbers([start, *xs]):
        y = sum(xs, start)
        return y, sum_of_tangents(y, [start, *xs], [start_dot, *dots])
    if isinstance(start, (str, bytes, bytearray)):
        return sum(xs, start), NO  # raises Python's own error
    total = (start, start_dot)
    for item in zip(xs, dots, strict=True):
        total = called(config, operator.add, NO, (total, item))
    return total


def sum_of_tangents(y, xs, dots):
    """The sum of the tangents of numbers and arrays, in the shape of their sum `y`."""
    total = np.zeros(np.shape(y)) if isinstance(y, np.ndarray) else 0.0
    for x_dot in dots:
        if not is_constant(x_dot):
            total = total + x_dot
    return total


@TABLE.frule(math.fsum, requires=FORWARDS)
def fsum_frule(config, tangents, seq, /):
    xs, dots = items_and_tangents(config, seq, tangents[1])
    return math.fsum(xs), math.fsum([float(x_dot) for x_dot in dots if not is_constant(x_dot)])


@TABLE.frule(math.prod, requires=FORWARDS, keyword_tangents=True)
def prod_frule(config, tangents, iterable, /, **words):
    xs, dots = items_and_tangents(config, iterable, tangents[1])
    y, total = math.prod(xs, **words), words.get("start", 1)
    total_dot = settled(total, tangents[2] if words else NO)
    for x, x_dot in zip(xs, dots, strict=True):
        total, total_dot = total * x, total_dot * x + (0.0 if is_constant(x_dot) else total * x_dot)
    return y, total_dot


@TABLE.frules(max, min, requires=FORWARDS, keyword_tangents=True)
def _extreme(extreme):
    def extreme_frule(config, tangents, *args, **words):
        """The tangent of the item that is chosen; ties of several numbers go by our convention."""
        count = 1 + len(args)
        word_dots = dict(zip(words, tangents[count:], strict=True))
        if not args or not has_only(words, "key", "default") or (len(args) > 1 and "default" in words):
            return extreme(*args, **words), NO  # raises Python's own error
        xs, dots = (
            (args, tangents[1:count]) if len(args) > 1 else items_and_tangents(config, args[0], tangents[1])
        )
        if len(xs) == 0:
            return extreme(xs, **words), word_dots.get("default", NO)
        ranks = ranks_of(config, xs, dots, words, word_dots)
        chosen = by_convention = winner(extreme, ranks, None)
        if len(args) > 1 and words.get("key") is None:
            chosen, by_convention = winner_of_several(extreme, xs, None)
        return xs[chosen], dots[by_convention]

    return extreme_frule


TABLE.non_differentiable(winner, winner_of_several)


# -- numbers -------------------------------------------------------------------------------------------------


@TABLE.frule(float)
def float_frule(tangents, x: int | float | np.number | np.bool_ | np.ndarray = 0.0, /):
    y = float(x)
    if len(tangents) < 2 or is_constant(tangents[1]):
        return y, 0.0
    return y, float(np.real(tangents[1]))


@TABLE.frule(complex)
def complex_frule(tangents, real: Number = 0, imag: Number = 0):
    parts = [0.0 if is_constant(dot) else dot for dot in (*tangents[1:], NO, NO)[:2]]
    return complex(real, imag), complex(parts[0] + 1j * parts[1])


@TABLE.frules(int, round)
def _step(target):
    """A function that is constant between its jumps."""

    def step_frule(tangents, x: Number, /, *digits):
        y = target(x, *digits)
        return y, settled(y, NO)

    return step_frule


@TABLE.frule(divmod)
def divmod_frule(tangents, x: Number, y: Number, /):
    quotient, rest = out = divmod(x, y)
    rest_dot = 0.0 * rest
    for partial, x_dot in zip(remainder_partials(rest, x, y), tangents[1:], strict=True):
        if not is_constant(x_dot):
            rest_dot = rest_dot + partial * x_dot
    return out, (0.0 * quotient, rest_dot)
