"""Forward rules of dicts and sets, and of what makes containers: `list(...)`, `dict(...)`, copies."""

import operator
from collections import OrderedDict, defaultdict, deque

from ..errors import An, NotDifferentiableError, an
from ..python_facts import READS, methods_that
from ..rules.rule_table import RuleTable
from ..tangents.paired_iteration import check_key, is_iterator
from ..tangents.shadows import is_constant, settled
from ..tangents.zeros import NoTangent
from .container_tangents import (
    FORWARDS,
    check_kept,
    entries_of_both,
    items_and_tangents,
    like_dict,
    parts_beside,
)

TABLE = RuleTable("collection_tangents", hands_out=True)

NO = NoTangent()

# -- dicts ---------------------------------------------------------------------------------------------------


@TABLE.frules(dict.get, dict.pop, OrderedDict.pop)
def _lookup(method):
    def lookup_frule(tangents, d, key, *default):
        check_key(key, tangents[2])
        if dict.__contains__(d, key):
            return method(d, key), NO if is_constant(tangents[1]) else method(tangents[1], key)
        return method(d, key, *default), tangents[3] if default else NO

    return lookup_frule


@TABLE.frules(dict.popitem, OrderedDict.popitem)
def _popitem(method):
    def popitem_frule(tangents, d, *last):
        key, y = method(d, *last)
        return (key, y), NO if is_constant(tangents[1]) else (NO, tangents[1].pop(key))

    return popitem_frule


@TABLE.frules(dict.setdefault, OrderedDict.setdefault)
def _setdefault(method):
    def setdefault_frule(tangents, d, key, *default):
        d_dot, default_dot = tangents[1], tangents[3] if default else NO
        if not dict.__contains__(d, key):
            check_kept(d, d_dot, default_dot)
            check_key(key, tangents[2])
        y = method(d, key, *default)
        return y, NO if is_constant(d_dot) else method(d_dot, key, settled(y, default_dot))

    return setdefault_frule


def entries_given(config, given, given_dot):
    """The entries that a dict, or an iterable of pairs, brings to a dict; and their tangents."""
    if isinstance(given, dict):
        return dict(given), entries_of_both(given, given_dot)
    if hasattr(type(given), "keys"):
        if not is_constant(given_dot):
            raise NotDifferentiableError(
                f"The entries of {an(type(given).__name__)} cannot be differentiated",
                fixes=("convert it to a dict",),
            )
        new = dict(given)
        return new, {key: settled(x, NO) for key, x in new.items()}
    rows, row_dots = items_and_tangents(config, given, given_dot)
    new, dots = dict(rows), {}
    for row, row_dot in zip(rows, row_dots, strict=True):
        key, x = row
        key_dot, x_dot = (NO, NO) if is_constant(row_dot) else row_dot
        check_key(key, key_dot)
        dots[key] = settled(x, x_dot)
    return new, dots


def with_words(config, args, dots, words, word_dots):
    """The entries of `dict(*args, **words)` and their tangents."""
    new, new_dots = entries_given(config, args[0], dots[0]) if args else ({}, {})
    new.update(words)
    for name, x_dot in zip(words, word_dots, strict=True):
        new_dots[name] = settled(words[name], x_dot)
    return new, new_dots


@TABLE.frules(
    dict.update,
    OrderedDict.update,
    operator.ior,
    dict.__ior__,
    OrderedDict.__ior__,
    requires=FORWARDS,
    keyword_tangents=True,
)
def _update(method):
    def update_frule(config, tangents, d: dict, /, *others, **words):
        if len(others) > 1:
            return method(d, *others, **words), NO  # which raises Python's own error
        count = 2 + len(others)
        constant = all(map(is_constant, tangents[2:]))
        new, dots = with_words(config, others, tangents[2:count], words, tangents[count:])
        if not constant:
            check_kept(d, tangents[1], *dots.values())
        d.update(new)
        if not is_constant(tangents[1]):
            tangents[1].update(dots)
        return (d, tangents[1]) if gives_itself else (None, NO)

    gives_itself = method not in (dict.update, OrderedDict.update)

    return update_frule


def fill_keys(config, tangents, cls, keys, value=None):
    names, _ = items_and_tangents(config, keys, tangents[2])
    for key, key_dot in zip(names, _, strict=True):
        check_key(key, key_dot)
    y = cls.fromkeys(names, value)
    value_dot = settled(value, tangents[3] if len(tangents) > 3 else NO)
    return y, like_dict(y, dict.fromkeys(y, value_dot))


TABLE.frule(dict.__dict__["fromkeys"], OrderedDict.__dict__["fromkeys"], requires=FORWARDS)(fill_keys)


# -- making containers ---------------------------------------------------------------------------------------


@TABLE.frule(list.__init__, requires=FORWARDS)
def fill_list_frule(config, tangents, xs, *items):
    if not items:
        return None, NO
    return config.frule_via_ad((NO, *tangents[1:]), list.extend, xs, *items)


@TABLE.frule(deque.__init__, requires=FORWARDS)
def fill_deque_frule(config, tangents, xs, iterable=(), maxlen=None):
    if maxlen is not None:
        raise NotDifferentiableError(
            f"{An(type(xs).__name__)} with a maximum length is not differentiated",
            fixes=("use collections.deque itself, not a class derived from it",),
        )
    return config.frule_via_ad((NO, *tangents[1:3]), deque.extend, xs, iterable)


@TABLE.frule(dict.__init__, OrderedDict.__init__, requires=FORWARDS, keyword_tangents=True)
def fill_dict_frule(config, tangents, d, /, *others, **words):
    return config.frule_via_ad((NO, *tangents[1:]), dict.update, d, *others, **words)


@TABLE.frules(list, tuple, requires=FORWARDS)
def _collection(kind):
    def collected_frule(config, tangents, *args):
        if len(args) != 1:
            return kind(*args), kind()  # empty, or Python's own error
        xs, dots = items_and_tangents(config, args[0], tangents[1])
        y = args[0] if type(args[0]) is tuple and kind is tuple else kind(xs)  # Python gives a tuple itself
        return y, kind(parts_beside(xs, dots))

    return collected_frule


@TABLE.frule(deque, requires=FORWARDS, keyword_tangents=True)
def deque_frule(config, tangents, *args, **words):
    if not args and "iterable" not in words:
        return deque(**words), deque(**words)
    rest = {name: x for name, x in words.items() if name != "iterable"}
    given = args[0] if args else words["iterable"]
    given_dot = tangents[1] if args else dict(zip(words, tangents[1:], strict=True))["iterable"]
    xs, dots = items_and_tangents(config, given, given_dot)
    y = deque(xs, *args[1:], **rest)
    return y, deque(parts_beside(xs, dots), y.maxlen)


@TABLE.frule(dict, requires=FORWARDS, keyword_tangents=True)
def dict_frule(config, tangents, *args, **words):
    if len(args) > 1:
        return dict(*args, **words), {}  # which raises Python's own error
    count = 1 + len(args)
    return with_words(config, args, tangents[1:count], words, tangents[count:])


@TABLE.frule(OrderedDict, requires=FORWARDS, keyword_tangents=True)
def ordered_frule(config, tangents, *args, **words):
    y, y_dot = dict_frule(config, tangents, *args, **words)
    return OrderedDict(y), OrderedDict(y_dot)


@TABLE.frule(defaultdict, requires=FORWARDS, keyword_tangents=True)
def defaultdict_frule(config, tangents, *args, **words):
    if not args:
        y, y_dot = dict_frule(config, tangents, **words)
        return defaultdict(None, y), defaultdict(None, y_dot)
    y, y_dot = dict_frule(config, (NO, *tangents[2:]), *args[1:], **words)
    held = tangents[1]  # of the factory: its tangent is held by one that gives it out
    return defaultdict(args[0], y), defaultdict(None if is_constant(held) else lambda: held, y_dot)


@TABLE.frules(set, frozenset, requires=FORWARDS)
def _set(kind):
    def set_frule(config, tangents, *args):
        if len(args) != 1 or is_constant(tangents[1]):
            return kind(*args), NO
        xs, dots = items_and_tangents(config, args[0], tangents[1])
        for x, x_dot in zip(xs, dots, strict=True):
            check_key(x, x_dot)
        return kind(xs), NO

    return set_frule


_OF_SETS = [method for method in methods_that(READS, set, frozenset) if not method.__name__.startswith("__")]


@TABLE.frules(*_OF_SETS, requires=FORWARDS)
def _set_method(method):
    def set_method_frule(config, tangents, xs, *others):
        for other, other_dot in zip(others, tangents[2:], strict=True):
            if method is set.add:
                check_key(other, other_dot)
            elif not is_constant(other_dot) and isinstance(other, (list, tuple, deque)):
                for x, x_dot in zip(other, other_dot, strict=True):
                    check_key(x, x_dot)
            elif not is_constant(other_dot) and is_iterator(other):
                raise NotDifferentiableError(
                    f"{An(type(other).__name__)} whose items vary is read by a set",
                    fixes=("convert it to a list first",),
                )
        return method(xs, *others), NO

    return set_method_frule
