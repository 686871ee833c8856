"""Plain Python that does what functions without Python code do, and is differentiated in their place."""

import bisect
import builtins
import collections
import copy
import dataclasses
import functools
import heapq
import inspect
import itertools
import math
import operator

import numpy as np

from ..errors import MutationError, NotDifferentiableError
from ..rules.rule_table import RuleTable
from ..rules.vectorized import check_along
from ..tangents.ranks import places_of_largest, places_of_smallest
from ..tangents.zeros import NoTangent
from . import numpy_elementwise
from .array_likes import dense

TABLE = RuleTable("standins")

TABLE.reads_items(max, min, sorted, math.fsum, math.prod)
_NUMBERS = (int, float, complex, np.number, np.bool_, np.ndarray)


def _adds_other_things(iterable, start=0):
    """Whether `sum` meets something that is not a number and no array, which its rule does not know."""
    if isinstance(iterable, np.ndarray):
        return iterable.dtype.hasobject
    if not isinstance(iterable, (list, tuple)):
        return False
    return not isinstance(start, _NUMBERS) or not all(isinstance(x, _NUMBERS) for x in iterable)


@TABLE.stands_in(inspect.unwrap)
def unwrap(func, *, stop=None):
    """By the attribute, which is refused where it is a function that holds what may vary."""
    for _ in wrappers(func, stop):
        func = func.__wrapped__
    return func


def wrappers(func, stop):
    """The functions that `inspect.unwrap` goes through; ValueError where they go round."""
    found = []
    inspect.unwrap(func, stop=lambda f: (stop is not None and stop(f)) or found.append(f) is not None)
    return found


TABLE.non_differentiable(wrappers)


@TABLE.stands_in(sum, instead=_adds_other_things, reads_items=True)
def sum_(iterable, /, start=0):
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    for item in iterable:
        total = total + item
    return total


@TABLE.stands_in(np.apply_along_axis, rest=3)
def apply_along_axis(func1d, axis, arr, further=(), **words):
    array = np.asarray(arr)
    at = _axis(axis, array.ndim)
    lines = np.moveaxis(array, at, -1)
    shape = lines.shape[:-1]
    flat = np.reshape(lines, (math.prod(shape), lines.shape[-1]))
    if len(flat) == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = [func1d(line, *further, **words) for line in flat]
    results = np.array(found)
    check_along(found[0], results)
    inner = results.shape[1:]
    whole = np.reshape(results, shape + inner)
    return np.moveaxis(whole, _from(len(shape), len(inner)), _from(at, len(inner)))


def _axis(axis, ndim):
    """The number of an axis, counted from the front."""
    return range(ndim)[axis] if -ndim <= axis < ndim else np.lib.array_utils.normalize_axis_index(axis, ndim)


def _from(first, count):
    return tuple(range(first, first + count))


TABLE.non_differentiable(_axis, _from, check_along)


@TABLE.stands_in(np.ndarray.__getitem__)
def item_of_array(array, key, /):
    """As a function: `sorted(places, key=x.__getitem__)`."""
    return array[key]


@TABLE.stands_in(np.fromiter)
def fromiter(iter, dtype, count=-1):
    items = list(iter)
    if count >= 0:
        if len(items) < count:
            raise ValueError(
                f"iterator too short: Expected {count} but iterator had only {len(items)} items."
            )
        items = items[:count]
    return np.array(items, dtype=dtype)


@TABLE.stands_in(np.piecewise, rest=3)
def piecewise(x, condlist, funclist, further=(), **words):
    array = np.asanyarray(x)
    masks = _masks(array, condlist, len(funclist))
    whole = np.zeros_like(array)
    for mask, piece in zip(masks, funclist):
        if not callable(piece):
            whole = _placed(whole, mask, _held_in(array, piece))
        elif np.any(mask):
            whole = _placed(whole, mask, _held_in(array, piece(array[mask], *further, **words)))
    return whole


def _held_in(array, values):
    """What an array of this kind holds of the values: one of whole numbers cuts them off. A single whole
    number may be an argument that varies, written without a decimal point: nothing is cut off from such ones.
    """
    whole = array.ndim == 0 and np.asarray(values).dtype.kind in "iu"
    return values if array.dtype.kind in "fc" or whole else _cut_off(array, values)


def _cut_off(array, values):
    return np.asarray(values).astype(array.dtype)


def _masks(x, condlist, count):
    """The conditions as arrays of bools, with that of the function for the rest if there is one."""
    if not isinstance(condlist[0], (list, np.ndarray)) and x.ndim != 0:
        condlist = [condlist]
    masks = np.asarray(condlist, dtype=bool)
    if count == len(masks) + 1:
        masks = np.concatenate([masks, ~np.any(masks, axis=0, keepdims=True)])
    elif count != len(masks):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected"
        )
    return list(masks)


TABLE.non_differentiable(_masks, _cut_off)


def _placed(whole, mask, values):
    """A copy of `whole` with `values` where the mask says so."""
    out = whole.copy()
    out[mask] = values
    return out


@TABLE.rrule(_placed, leading=3)
def placed_rrule(whole, mask, values, /):
    out = _placed(whole, mask, values)

    def placed_pullback(y_bar):
        of_values = y_bar[mask]
        if np.ndim(values) == 0:
            of_values = np.sum(of_values)
        return NoTangent(), np.where(mask, 0.0, y_bar), NoTangent(), of_values

    return out, placed_pullback


@TABLE.frule(_placed)
def placed_frule(tangents, whole, mask, values, /):
    whole_dot, values_dot = dense(whole, tangents[1]), dense(values, tangents[3])
    return _placed(whole, mask, values), _placed(whole_dot, mask, values_dot)


# -- lists and tuples where the rules want arrays ------------------------------------------------------------


def has_items(*args):
    """Whether NumPy makes arrays of some of these."""
    return any(type(x) is list or type(x) is tuple for x in args)


def _beside_array(x, y, *modulus):
    """Whether an operator on these is NumPy's, which makes an array of the other operand; `pow` may have a
    third argument, and is Python's then.
    """
    numpys = (np.ndarray, np.generic)
    return not modulus and has_items(x, y) and (isinstance(x, numpys) or isinstance(y, numpys))


def as_array(x):
    """A list or tuple as the array that NumPy makes of it."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def _state_of_items(target, count, only):
    if count == 1:

        @TABLE.stands_in(target, only=only)
        def of_items(x, /):
            return target(as_array(x))

    elif count == 2:

        @TABLE.stands_in(target, only=only)
        def of_two(x, y, /):
            return target(as_array(x), as_array(y))


for _target in dict.fromkeys(target for target, _ in numpy_elementwise.TABLE.rules):
    if isinstance(_target, np.ufunc):
        _state_of_items(_target, _target.nin, has_items)
for _target in (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.floordiv,
    operator.pow, operator.matmul, builtins.pow, builtins.divmod,
):  # fmt: skip
    _state_of_items(_target, 2, _beside_array)
_state_of_items(np.real_if_close, 1, has_items)


def _state_of_numbers(target):
    """The same of a Python function, whose numbers come first, and its options by their names or after."""

    @TABLE.stands_in(target, only=has_items)
    def of_numbers(*args, **options):
        return target(*[as_array(x) for x in args], **options)


for _target in (
    np.sinc, np.i0, np.real, np.imag, np.angle, np.nan_to_num, np.clip, np.unwrap,
    np.linspace, np.logspace, np.geomspace,
):  # fmt: skip
    _state_of_numbers(_target)


@TABLE.stands_in(operator.getitem, only=lambda a, b: isinstance(a, np.number))
def item_of_number(a, b, /):
    return np.asarray(a)[b]


# -- functions of NumPy made of others -----------------------------------------------------------------------


if hasattr(np, "row_stack") and np.row_stack is not np.vstack:

    @TABLE.stands_in(np.row_stack)
    def row_stack(tup):
        return np.vstack(tup)


if hasattr(np, "trapz"):  # the old names of `trapezoid` and `isin`, which newer versions do not have

    @TABLE.stands_in(np.trapz)
    def trapz(y, x=None, dx=1.0, axis=-1):
        return np.trapezoid(y, x, dx, axis)


if hasattr(np, "in1d"):
    TABLE.non_differentiable(np.in1d)


# -- heaps and sorted lists ----------------------------------------------------------------------------------
# Which item goes where is constant; the items take their cotangents along.


@TABLE.stands_in(heapq.heappush)
def heappush(heap, item, /):
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


@TABLE.stands_in(heapq.heappop)
def heappop(heap, /):
    last = heap.pop()
    if len(heap) == 0:
        return last
    return heapreplace(heap, last)


@TABLE.stands_in(heapq.heapreplace)
def heapreplace(heap, item, /):
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


@TABLE.stands_in(heapq.heappushpop)
def heappushpop(heap, item, /):
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


@TABLE.stands_in(heapq.heapify)
def heapify(heap, /):
    for place in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, place)


def _rise(heap, top, place):
    """Move the item at `place` up, to where none above it is greater."""
    item = heap[place]
    while place > top and item < heap[(place - 1) // 2]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = item


def _sink(heap, top):
    """Move the item at `top` down along the lesser children to the end, and from there up again: the order in
    which `heapq` compares.
    """
    item, place, count = heap[top], top, len(heap)
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and not heap[child] < heap[child + 1]:
            child = child + 1
        heap[place] = heap[child]
        place = child
    heap[place] = item
    _rise(heap, top, place)


@TABLE.stands_in(heapq.nsmallest)
def nsmallest(n, iterable, key=None):
    return _first_ones(places_of_smallest, n, iterable, key)


@TABLE.stands_in(heapq.nlargest)
def nlargest(n, iterable, key=None):
    return _first_ones(places_of_largest, n, iterable, key)


def _first_ones(places, n, iterable, key):
    if n <= 0:
        return []
    items = list(iterable)
    keys = items if key is None else [key(item) for item in items]
    return [items[k] for k in places(n, keys, iterable)]


@TABLE.stands_in(heapq.merge, rest=0)
def merge(iterables=(), *, key=None, reverse=False):
    _check_ends(iterables)
    rows = [list(items) for items in iterables]
    places, heads = _merged_places(rows, key, reverse)
    going = itertools.takewhile(_unchanged(iterables, rows), heads)
    return map(operator.itemgetter(1), zip(going, [rows[number][k] for number, k in places]))


def _merged_places(rows, key, reverse):
    """Where each item of the merged rows comes from: the number of its row, and its place there. Also where
    in each row Python looks next, before each of the items and at the end.
    """

    def rank(place):
        item = rows[place[0]][place[1]]
        return item if key is None else key(item)

    every = [[(number, k) for k in range(len(row))] for number, row in enumerate(rows)]
    places, heads = list(heapq.merge(*every, key=rank, reverse=reverse)), [(0,) * len(rows)]
    for number, k in places:
        heads.append((*heads[-1][:number], k + 1, *heads[-1][number + 1 :]))
    return places, heads


def _unchanged(iterables, rows):
    """A function that raises MutationError if a list has changed where Python would look now, since all items
    are taken before.
    """

    def is_unchanged(heads):
        for x, row, k in zip(iterables, rows, heads, strict=True):
            if not isinstance(x, list):
                continue
            if len(x) != len(row) or (k < len(row) and list.__getitem__(x, k) is not row[k]):
                raise MutationError(
                    "A list was changed while heapq.merge was reading it",
                    fixes=("merge copies: heapq.merge(list(xs), list(ys))",),
                    read="limitations#iteration",
                )
        return True

    return is_unchanged


def _check_ends(iterables):
    """NotDifferentiableError for iterators, since each is read to its end: Python takes their items in turn
    and only when they are needed, so that others that read the same items find fewer.
    """
    if any(hasattr(type(x), "__next__") for x in iterables):
        raise NotDifferentiableError(
            "heapq.merge of iterators is not differentiated",
            fixes=("merge lists of their items: heapq.merge(list(xs), list(ys))",),
            read="limitations#iteration",
        )


TABLE.non_differentiable(_check_ends, _merged_places, _unchanged, bisect.bisect_left, bisect.bisect_right)


@TABLE.stands_in(bisect.insort_right)
def insort_right(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect.bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


@TABLE.stands_in(bisect.insort_left)
def insort_left(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect.bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


# -- objects that hold what they are called for --------------------------------------------------------------
# A call of one is asked for as a call of its class's `__call__`, with the object first.


@TABLE.stands_in(operator.itemgetter.__call__)
def itemgetter_call(getter, x, /):
    keys = made_with(getter)
    return x[keys[0]] if len(keys) == 1 else tuple([x[key] for key in keys])


@TABLE.stands_in(operator.attrgetter.__call__)
def attrgetter_call(getter, x, /):
    paths = made_with(getter)
    return at_path(x, paths[0]) if len(paths) == 1 else tuple([at_path(x, path) for path in paths])


def at_path(x, path):
    """`x.a.b` for the path "a.b"."""
    for name in path.split("."):
        x = getattr(x, name)
    return x


@TABLE.stands_in(operator.methodcaller.__call__)
def methodcaller_call(caller, x, /):
    name, args, words = made_with(caller)
    return getattr(x, name)(*args, **words)


def made_with(getter):
    """What a getter of `operator` was made with: keys, paths, or the name and arguments of a method."""
    maker, held = getter.__reduce__()[:2]
    if isinstance(maker, functools.partial):  # of a methodcaller with keywords
        return (maker.args[0], held, maker.keywords)
    return held if not isinstance(getter, operator.methodcaller) else (held[0], held[1:], {})


TABLE.non_differentiable(made_with)


@TABLE.stands_in(getattr, only=lambda *args: len(args) == 3)
def attribute_or(x, name, default, /):
    return getattr(x, name) if hasattr(x, name) else default


# -- dataclasses ---------------------------------------------------------------------------------------------


@TABLE.stands_in(dataclasses.replace)
def replace(obj, /, **changes):
    """A new object by the constructor of the class, with the fields that are not changed."""
    check_replaced(obj, changes)
    kept = {name: getattr(obj, name) for name in kept_fields(type(obj), list(changes))}
    return type(obj)(**kept, **changes)


def check_fields(obj, changes):
    """Python's own error for what is no dataclass, or for a field that its constructor does not take."""
    is_one = dataclasses.is_dataclass(obj) and not isinstance(obj, type)
    if not is_one or any(f.name in changes and not f.init for f in dataclasses.fields(obj)):
        dataclasses.replace(obj, **changes)


def check_replaced(obj, changes):
    """Python's own error for what `replace` refuses, of another class from Python 3.13 on: also where
    there is no value for a parameter that only `__post_init__` gets.
    """
    check_fields(obj, changes)
    fields = type(obj).__dataclass_fields__
    asked = [name for name, field in fields.items() if field._field_type is dataclasses._FIELD_INITVAR]
    if any(name not in changes and fields[name].default is dataclasses.MISSING for name in asked):
        dataclasses.replace(obj, **changes)


def kept_fields(cls, changed):
    """What `replace` reads from the old object: the other parameters of the constructor, those that only
    `__post_init__` gets among them.
    """
    kept = []
    for name, field in cls.__dataclass_fields__.items():
        only = field._field_type is dataclasses._FIELD_INITVAR
        if name not in changed and (only or (field.init and field._field_type is dataclasses._FIELD)):
            kept.append(name)
    return kept


@TABLE.stands_in(dataclasses.asdict)
def asdict(obj, /, *, dict_factory=dict):
    check_fields(obj, {})
    return unfolded(obj, lambda names, values: dict_factory(list(zip(names, values))))


@TABLE.stands_in(dataclasses.astuple)
def astuple(obj, /, *, tuple_factory=tuple):
    check_fields(obj, {})
    return unfolded(obj, lambda names, values: tuple_factory(values))


def unfolded(x, fold):
    """Dataclasses within become dicts or tuples, the rest is copied."""
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = [field.name for field in dataclasses.fields(x)]
        return fold(names, [unfolded(getattr(x, name), fold) for name in names])
    if isinstance(x, (list, tuple)):
        items = [unfolded(part, fold) for part in x]
        if isinstance(x, list):
            return items
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, dict):
        return {key: unfolded(part, fold) for key, part in x.items()}
    return copy.deepcopy(x)


TABLE.non_differentiable(check_fields, check_replaced, kept_fields)


# -- counting ------------------------------------------------------------------------------------------------

_count_elements = collections.Counter.update.__globals__["_count_elements"]  # in C, where Python has it


def count_elements(mapping, iterable, /):
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


if not hasattr(_count_elements, "__code__"):
    TABLE.stands_in(_count_elements)(count_elements)


def keys_by_count(counts, n):
    """The keys of a Counter in the order of `most_common(n)`."""
    ranked = sorted(counts.items(), key=operator.itemgetter(1), reverse=True)
    return [key for key, _ in (ranked if n is None else ranked[: max(n, 0)])]


TABLE.non_differentiable(keys_by_count)


@TABLE.stands_in(collections.Counter.most_common)
def most_common(self, n=None):
    """Not by its own text, which in Python 3.14 imports what it needs into a global."""
    if type(self) is collections.Counter:
        return [(key, self[key]) for key in keys_by_count(self, n)]
    by_count = sorted(self.items(), key=operator.itemgetter(1), reverse=True)
    return by_count if n is None else by_count[: max(n, 0)]
