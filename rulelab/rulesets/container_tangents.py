"""Forward rules of lists, dicts, deques, tuples and arrays as containers: what is done to one is done to
its tangent.

Tangents are in the inner form (`tangents/shadows.py`). A container whose tangent is NoTangent is a constant:
a global, a captured one, one of another's making. It may be given constants; a value that varies is refused,
for nobody would find its tangent there again. The primal goes first, so that an error of Python's comes as it
is, and before the tangent is touched.
"""

import operator
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

from ..errors import MutationError, NotDifferentiableError, an
from ..rules.rule_table import RuleTable
from ..tangents.paired_iteration import check_in_step, check_key, check_keys, first, is_iterator, pairs
from ..tangents.shadows import has_numbers, is_constant, settled, zero_kept, zero_of
from ..tangents.tracked import check_untracked
from ..tangents.zeros import NoTangent
from .array_likes import dense

TABLE = RuleTable("container_tangents", hands_out=True)

FORWARDS = frozenset({"forwards"})
Items = list | tuple
NO = NoTangent()


# -- what may be put where -----------------------------------------------------------------------------------


def check_kept(xs, xs_dot, *dots):
    """MutationError if something that varies is put where nobody keeps its tangent."""
    if is_constant(xs_dot):
        check_untracked(xs)
        for x_dot in dots:
            if not is_constant(x_dot):
                raise MutationError(
                    f"A value that varies is written to {an(type(xs).__name__)} that is a constant here: "
                    "its derivative would be lost",
                    fixes=("make it inside the function", "pass it as an argument"),
                    read="limitations#array-mutation",
                )


def dots_of(xs, xs_dot):
    """The tangents of the items of a list, tuple, deque or array, as a list."""
    if is_constant(xs_dot):
        return [NO] * len(xs)
    check_in_step(xs, xs_dot)
    return list(xs_dot)


def parts_beside(xs, dots):
    """The tangents that a container keeps for the items `xs`."""
    return [settled(x, x_dot) for x, x_dot in zip(xs, dots, strict=True)]


def part_of(xs_dot, key):
    """The tangent of `xs[key]`."""
    return NO if is_constant(xs_dot) else xs_dot[key]


TABLE.non_differentiable(is_constant, zero_kept, zero_of, has_numbers, is_iterator)
TABLE.non_differentiable(check_in_step, check_key, check_keys)
TABLE.non_differentiable(set.issubset, set.issuperset, set.isdisjoint)
TABLE.non_differentiable(frozenset.issubset, frozenset.issuperset)
TABLE.non_differentiable(check_untracked)


# -- the same done to both -----------------------------------------------------------------------------------


@TABLE.frules(
    *(list.pop, list.reverse, list.clear, list.__delitem__),
    *(deque.pop, deque.popleft, deque.reverse, deque.clear, deque.rotate, deque.__delitem__),
    *(dict.values, dict.items, dict.clear, dict.__delitem__),
    *(OrderedDict.values, OrderedDict.items, OrderedDict.clear, OrderedDict.__delitem__),
    OrderedDict.move_to_end,
)
def _the_same(method):
    """A method that moves the parts, takes some away, or hands them out."""

    def same_frule(tangents, xs: list | dict | deque, *args):
        if is_constant(tangents[1]):
            return method(xs, *args), NO
        check_in_step(xs, tangents[1])
        y = method(xs, *args)
        y_dot = method(tangents[1], *args)
        return y, NO if y is None else y_dot

    return same_frule


@TABLE.frule(dict.keys, OrderedDict.keys)
def keys_frule(tangents, d):
    return d.keys(), NO


# -- putting items in ----------------------------------------------------------------------------------------


@TABLE.frules(list.append, deque.append, deque.appendleft)
def _putting(method):
    """`xs.append(item)` and its like."""

    def putting_frule(tangents, xs, item):
        check_kept(xs, tangents[1], tangents[2])
        method(xs, item)
        if not is_constant(tangents[1]):
            method(tangents[1], settled(item, tangents[2]))
        return None, NO

    return putting_frule


@TABLE.frules(list.insert, deque.insert)
def _insertion(method):
    def insert_frule(tangents, xs, index, item):
        check_kept(xs, tangents[1], tangents[3])
        method(xs, index, item)
        if not is_constant(tangents[1]):
            method(tangents[1], index, settled(item, tangents[3]))
        return None, NO

    return insert_frule


def items_and_tangents(config, x, x_dot):
    """The items of an iterable and their tangents, two lists."""
    if isinstance(x, (list, tuple)) and type(x) in (list, tuple):
        return list(x), dots_of(x, x_dot)
    rows = list(pairs(config, x, x_dot))
    return [row[0] for row in rows], [row[1] for row in rows]


_GIVING_ITSELF = (list.__iadd__, deque.__iadd__, operator.iadd, operator.iconcat)


@TABLE.frules(list.extend, deque.extend, deque.extendleft, *_GIVING_ITSELF, requires=FORWARDS)
def _extension(method):
    def extend_frule(config, tangents, xs: list | deque, items):
        xs_dot = tangents[1]
        if method is operator.iadd and hasattr(items, "__radd__"):  # an array adds item by item
            return config.frule_via_ad((NO, xs_dot, tangents[2]), operator.add, xs, items)
        if is_constant(tangents[2]) and is_constant(xs_dot):
            extend(xs, items)
        else:
            new, dots = items_and_tangents(config, items, tangents[2])
            check_kept(xs, xs_dot, *dots)
            extend(xs, new)
            if not is_constant(xs_dot):
                extend(xs_dot, parts_beside(new, dots))
        return (xs, xs_dot) if gives_itself else (None, NO)

    def extend(xs, items):
        return xs.extendleft(items) if method is deque.extendleft else xs.extend(items)

    gives_itself = method in _GIVING_ITSELF
    return extend_frule


@TABLE.frules(operator.imul, list.__imul__, deque.__imul__, requires=FORWARDS)
def _repetition(method):
    def repeat_frule(config, tangents, xs: list | deque, n):
        xs_dot = tangents[1]
        if method is operator.imul and not isinstance(n, (int, np.integer)):  # an array decides itself
            return config.frule_via_ad((NO, xs_dot, tangents[2]), operator.mul, xs, n)
        repeat = deque.__imul__ if isinstance(xs, deque) else list.__imul__
        repeat(xs, n)
        if not is_constant(xs_dot):
            repeat(xs_dot, n)
        return xs, xs_dot

    return repeat_frule


# -- finding items -------------------------------------------------------------------------------------------


@TABLE.frules(list.remove, deque.remove)
def _removal(method):
    def remove_frule(tangents, xs, item):
        for k in range(len(xs)):
            if xs[k] is item or xs[k] == item:
                del xs[k]
                if not is_constant(tangents[1]):
                    del tangents[1][k]
                return None, NO
        return method(xs, item), NO  # which raises Python's own error

    return remove_frule


TABLE.non_differentiable(deque.index, deque.count, deque.__len__, deque.__contains__)
for _base in (list, tuple):
    TABLE.non_differentiable(_base.__len__, _base.__contains__)


def is_in_python(f):
    """Whether calling `f` runs Python code: a function, a method, or an object with a `__call__`."""
    return hasattr(f, "__code__") or hasattr(getattr(type(f), "__call__", None), "__code__")  # noqa: B004 (which one)


TABLE.non_differentiable(is_in_python)


def answer_about_items(config, f, f_dot, *items):
    """The value of a question about items: the author's own function goes by the forward question, which
    sees what it changes.
    """
    y, _ = config.frule_via_ad((f_dot, *[dot for _, dot in items]), f, *[item for item, _ in items])
    return y


def ranks_of(config, xs, dots, words, word_dots):
    """What items are compared by: what the function of `key=` says of them, or they themselves."""
    key = words.get("key")
    if key is None:
        return list(xs)
    return [answer_about_items(config, key, word_dots["key"], pair) for pair in zip(xs, dots, strict=True)]


@TABLE.frule(list.sort, requires=FORWARDS, keyword_tangents=True)
def sort_frule(config, tangents, xs, /, **words):
    order = _order_by_words(config, tangents, xs, dots_of(xs, tangents[1]), words)
    xs[:] = [xs[k] for k in order]
    if not is_constant(tangents[1]):
        tangents[1][:] = [tangents[1][k] for k in order]
    return None, NO


@TABLE.frule(sorted, requires=FORWARDS, keyword_tangents=True)
def sorted_frule(config, tangents, iterable, /, **words):
    xs, dots = items_and_tangents(config, iterable, tangents[1])
    order = _order_by_words(config, tangents, xs, dots, words)
    return [xs[k] for k in order], [settled(xs[k], dots[k]) for k in order]


def has_only(words, *names):
    """Whether a call has no other keywords than these."""
    return set(words).issubset(names)


TABLE.non_differentiable(has_only)


def _order_by_words(config, tangents, xs, dots, words):
    """The positions of the items in the order that `key=` and `reverse=` say."""
    if not has_only(words, "key", "reverse"):
        sorted((), **words)  # which raises Python's own error
    ranks = ranks_of(config, xs, dots, words, dict(zip(words, tangents[2:], strict=True)))
    return sorted(range(len(ranks)), key=ranks.__getitem__, reverse=words.get("reverse", False))


# -- x[key] --------------------------------------------------------------------------------------------------


@TABLE.frule(operator.getitem, *[kind.__getitem__ for kind in (list, tuple, dict, deque)])
def getitem_frule(tangents, a: list | tuple | dict | deque, b, /):
    if is_constant(tangents[1]):
        y = stored(a, b)
        new = isinstance(b, slice) and isinstance(y, list)
        return y, [settled(x, NO) for x in y] if new else NO
    if isinstance(a, dict):
        check_key(b, tangents[2])
        if not dict.__contains__(a, b):
            return made_of_key(a, b), NO
    check_in_step(a, tangents[1])
    return stored(a, b), stored(tangents[1], b)


def stored(a, b):
    """`a[b]` as it is stored, whatever an author's class makes of it."""
    if type(a) in (list, tuple, dict):
        return a[b]
    for kind in (tuple, list, dict):
        if isinstance(a, kind):
            return kind.__getitem__(a, b)
    return a[b]


def made_of_key(a, b):
    """What `__missing__` of a class makes of a key, or KeyError."""
    y = dict.__getitem__(a, b)
    if type(a) is not Counter and has_numbers(np.asarray(y)):
        raise NotDifferentiableError(
            f"What __missing__ of {an(type(a).__name__)} makes for a key is not differentiated",
            fixes=("look the key up with get(key, default)",),
            read="limitations#attributes",
        )
    return y


TABLE.non_differentiable(made_of_key)


@TABLE.frule(operator.getitem, dict.__getitem__, defaultdict.__missing__, requires=FORWARDS)
def default_item_frule(config, tangents, a: defaultdict, b, /):
    """An entry, which the factory makes if there is none."""
    a_dot = tangents[1]
    if b in a or a.default_factory is None:
        return a[b], part_of(a_dot, b)
    check_key(b, tangents[2])
    held = NO if is_constant(a_dot) or a_dot.default_factory is None else a_dot.default_factory()
    y, y_dot = config.frule_via_ad((held,), a.default_factory)
    check_kept(a, a_dot, y_dot)
    a[b] = y
    if is_constant(a_dot):
        return y, NO
    a_dot[b] = settled(y, y_dot)
    return y, a_dot[b]


@TABLE.frule(operator.getitem)
def array_item_frule(tangents, a: np.ndarray, b, /):
    """The same index for both: a view of a view, a number of a number."""
    return a[b], NO if is_constant(tangents[1]) else tangents[1][b]


@TABLE.frule(operator.getitem)
def range_item_frule(tangents, a: range | str | bytes, b, /):
    return a[b], NO


@TABLE.frules(
    operator.setitem,
    list.__setitem__,
    dict.__setitem__,
    OrderedDict.__setitem__,
    deque.__setitem__,
    requires=FORWARDS,
)
def _assignment(write):
    def setitem_frule(config, tangents, a: list | dict | deque, b, c, /):
        _, a_dot, b_dot, c_dot = tangents
        if isinstance(a, dict):
            check_key(b, b_dot)
        if not is_constant(a_dot):
            check_in_step(a, a_dot)
        if isinstance(b, slice):
            c, dots = items_and_tangents(config, c, c_dot)
            check_kept(a, a_dot, *dots)
            c_dot = parts_beside(c, dots)
        else:
            check_kept(a, a_dot, c_dot)
            c_dot = settled(c, c_dot)
        if write is operator.setitem:
            a[b] = c
        else:  # as it is stored, whatever an author's class makes of it
            write(a, b, c)
        if not is_constant(a_dot):
            a_dot[b] = c_dot
        return None, NO

    return setitem_frule


@TABLE.frule(operator.setitem, np.ndarray.__setitem__)
def array_setitem_frule(tangents, a: np.ndarray, b, c, /):
    """`a[b] = c` and `a_dot[b] = c_dot`; a constant writes zeros."""
    _, a_dot, _, c_dot = tangents
    check_kept(a, a_dot, c_dot)
    check_exact(a, c, c_dot)
    a[b] = c
    if not is_constant(a_dot):
        a_dot[b] = 0.0 if is_constant(c_dot) else _real_beside(a, dense(c, c_dot))
    return None, NO


def check_exact(a, c, c_dot):
    """NotDifferentiableError if a float that varies is written to an array of integers, which rounds it."""
    if a.dtype.kind in "iu" and not is_constant(c_dot) and np.asarray(c).dtype.kind in "fc":
        raise NotDifferentiableError(
            f"A float that varies is written to an array of {a.dtype}, which truncates it",
            fixes=("make it an array of floats: dtype=float",),
            read="limitations#array-mutation",
        )


TABLE.non_differentiable(check_exact)


def _real_beside(a, c_dot):
    """A tangent as an array can hold it: real in a real one, where NumPy drops the imaginary part too."""
    return np.real(c_dot) if np.iscomplexobj(c_dot) and not np.iscomplexobj(a) else c_dot


@TABLE.frule(operator.delitem)
def delitem_frule(tangents, a: list | dict | deque, b, /):
    if not is_constant(tangents[1]):
        check_in_step(a, tangents[1])
    del a[b]
    if not is_constant(tangents[1]):
        del tangents[1][b]
    return None, NO


@TABLE.frules(any, all, operator.contains, operator.countOf, operator.indexOf, requires=FORWARDS)
def _question(target):
    """A question about items; one that reads an iterator takes the tangents along."""

    def question_frule(config, tangents, xs, *args):
        if is_constant(tangents[1]) or type(xs) in (list, tuple) or (args and not is_iterator(xs)):
            return target(xs, *args), NO
        return target(map(first, pairs(config, xs, tangents[1])), *args), NO

    return question_frule


# -- a + b, a * n, a | b -------------------------------------------------------------------------------------


def beside(x, x_dot):
    """The tangents that a new container keeps for the items of `x`, in the kind of container that `x` is."""
    if isinstance(x, dict):
        return like_dict(x, entries_of_both(x, x_dot), factory_beside(x, x_dot))
    dots = parts_beside(x, dots_of(x, x_dot))
    if isinstance(x, deque):
        return deque(dots, x.maxlen)
    return dots if isinstance(x, list) else tuple(dots)


def _state_joined(join, left, right):
    """`a + b`, `a * n` and `a | b`: a new container."""

    @TABLE.frule(join)
    def joined_frule(tangents, a: left, b: right, /):
        return join(a, b), join(*[
            x if isinstance(x, (int, np.integer)) else beside(x, x_dot)
            for x, x_dot in zip((a, b), tangents[1:], strict=True)
        ])  # fmt: skip


Number = int | np.integer
for _method in (operator.add, operator.concat, list.__add__, tuple.__add__):
    _state_joined(_method, Items, Items)
for _method in (operator.add, deque.__add__):
    _state_joined(_method, deque, deque)
for _method in (operator.mul, list.__mul__, tuple.__mul__):
    _state_joined(_method, Items, Number)
_state_joined(operator.mul, Number, Items)
for _method in (operator.or_, dict.__or__):
    _state_joined(_method, dict, dict)


@TABLE.frules(
    *(list.copy, dict.copy, OrderedDict.copy, defaultdict.copy, defaultdict.__copy__),
    *(deque.copy, deque.__copy__),
)
def _copy(method):
    def copy_frule(tangents, x, /):
        return method(x), beside(x, tangents[1])

    return copy_frule


def entries_of_both(d, d_dot):
    """The tangents of the entries of a dict, by key, as a new dict."""
    if not is_constant(d_dot):
        check_in_step(d, d_dot)
    return {key: settled(x, part_of(d_dot, key)) for key, x in d.items()}


def like_dict(y, dots, factory=None):
    """A dict of tangents in the kind of dict that `y` is, a defaultdict with this factory."""
    if isinstance(y, OrderedDict):
        return OrderedDict(dots)
    return defaultdict(factory, dots) if isinstance(y, defaultdict) else dots


def factory_beside(x, x_dot):
    """What gives out the tangent of the factory of a dict, or None."""
    return x_dot.default_factory if isinstance(x, defaultdict) and not is_constant(x_dot) else None
