"""Forward rules of objects, and of callables that hold others: attributes, copies, partials, getters.

Beside an object stands a namespace with the tangents of its attributes; beside a bound method the tangent of
its object. Code of the class (a property, a descriptor, `__getattr__`, `__setattr__`) is
asked for its own derivative.
"""

import copy
import dataclasses
import functools
import operator
import types

import numpy as np

from ..rules.capabilities import RuleConfig
from ..rules.programs import check_namespace, refuse_dict
from ..rules.recalling import decorated, recalled
from ..rules.rule_table import RuleTable
from ..rules.vectorized import check_vectorized, dtype_of_results
from ..tangents.cached_answers import key_of, note_made
from ..tangents.holding import CACHED
from ..tangents.shadows import has_numbers, is_constant, settled, zero_of
from ..tangents.zeros import NoTangent
from .array_likes import dense, refuse
from .container_tangents import FORWARDS, check_kept
from .containers import check_all_copied, check_copied_field_by_field

TABLE = RuleTable("object_tangents", hands_out=True)

NO = NoTangent()

# -- attributes ----------------------------------------------------------------------------------------------


def found_in_class(kind, name):
    """What the classes of an object have under a name, not asked for its value; None if nothing."""
    for cls in kind.__mro__:
        if name in cls.__dict__:
            return cls.__dict__[name]
    return None


def python_method(kind, name):
    """The method of a class that an author's code gives it, or None; `dataclass` is no author."""
    found = getattr(kind, name, None)
    code = getattr(found, "__code__", None)
    return found if code is not None and not code.co_filename.startswith(("<string>", "<dataclass")) else None


TABLE.non_differentiable(found_in_class, python_method)


def write_attribute(config, x, x_dot, name, value, value_dot):
    """`x.name = value`, and its tangent."""
    if isinstance(x, np.ndarray):
        write_array_attribute(x, x_dot, name, value, value_dot)
        return
    kind = type(x)
    if python_method(kind, "__setattr__") is not None:
        config.frule_via_ad((NO, x_dot, NO, value_dot), kind.__setattr__, x, name, value)
    elif "__setattr__" in vars(kind):  # that of a frozen class, which raises
        keep_attribute(setattr, x, x_dot, name, value, value_dot)
    else:
        write_by_descriptor(config, setattr, x, x_dot, name, value, value_dot)


def write_by_descriptor(config, write, x, x_dot, name, value, value_dot):
    """`write(x, name, value)`, which runs the setter of a property or another descriptor of the class."""
    found = found_in_class(type(x), name)
    if isinstance(found, property) and found.fset is not None:
        config.frule_via_ad((NO, x_dot, value_dot), found.fset, x, value)
        return
    setter = None if found is None else python_method(type(found), "__set__")
    if setter is not None:
        config.frule_via_ad((NO, NO, x_dot, value_dot), setter, found, x, value)
        return
    keep_attribute(write, x, x_dot, name, value, value_dot)


def write_array_attribute(x, x_dot, name, value, value_dot):
    """`x.real = value` and `x.imag = value`; a shape or a dtype may be set where there is no tangent."""
    check_kept(x, x_dot, value_dot)
    if name not in ("real", "imag"):
        if not is_constant(x_dot):
            refuse(
                f"The attribute {name} of an array that varies was assigned", "make a new array with astype"
            )
        setattr(x, name, value)
        return
    setattr(x, name, value)
    if not is_constant(x_dot):
        setattr(x_dot, name, np.real(dense(value, value_dot)))


def keep_attribute(write, x, x_dot, name, value, value_dot):
    """`write(x, name, value)`, and the same beside it; MutationError if what varies is to be kept by an
    object beside which no namespace stands.
    """
    followed = isinstance(x_dot, types.SimpleNamespace)
    if not followed:
        check_kept(x, NO, value_dot)
    elif name == "__dict__":
        refuse_dict(x)
    write(x, name, value)
    if followed and name != "__class__":  # what stands beside an object has no class of the author's
        setattr(x_dot, name, settled(value, value_dot))


@TABLE.frule(setattr, requires=FORWARDS)
def setattr_frule(config, tangents, x, name, value, /):
    write_attribute(config, x, tangents[1], name, value, tangents[3])
    return None, NO


@TABLE.frule(object.__setattr__, requires=FORWARDS)
def plain_setattr_frule(config, tangents, x, name, value, /):
    write_by_descriptor(config, object.__setattr__, x, tangents[1], name, value, tangents[3])
    return None, NO


@TABLE.frules(delattr, object.__delattr__, requires=FORWARDS)
def _deletion(target):
    def delattr_frule(config, tangents, x, name, /):
        method = python_method(type(x), "__delattr__")
        found = found_in_class(type(x), name)
        if target is delattr and method is not None:
            return config.frule_via_ad((NO, tangents[1], NO), method, x, name)
        if isinstance(found, property) and found.fdel is not None:
            return config.frule_via_ad((NO, tangents[1]), found.fdel, x)
        deleter = None if found is None else python_method(type(found), "__delete__")
        if deleter is not None:
            return config.frule_via_ad((NO, NO, tangents[1]), deleter, found, x)
        target(x, name)
        if isinstance(tangents[1], types.SimpleNamespace):
            delattr(tangents[1], name)
        return None, NO

    return delattr_frule


@TABLE.frule(vars)
def vars_frule(tangents, x):
    """The attributes as a dict, which writes through; so does that of the tangents. Those of a function have
    none.
    """
    still = is_constant(tangents[1]) or isinstance(x, types.FunctionType)
    return vars(x), NO if still else vars(tangents[1])


@TABLE.frule(types.SimpleNamespace, keyword_tangents=True)
def namespace_frule(tangents, *given, **words):
    if given:
        check_namespace(given)
    beside = {name: settled(words[name], x_dot) for name, x_dot in zip(words, tangents[1:], strict=True)}
    return types.SimpleNamespace(**words), types.SimpleNamespace(**beside)


TABLE.non_differentiable(check_namespace)


# -- copies and dataclasses ----------------------------------------------------------------------------------

TABLE.non_differentiable(check_copied_field_by_field, check_all_copied)


@TABLE.frule(copy.copy)
def copy_frule(tangents, x, /):
    check_copied_field_by_field(x)
    same = is_constant(tangents[1]) or isinstance(x, (types.FunctionType, tuple))
    return copy.copy(x), tangents[1] if same else copy.copy(tangents[1])


@TABLE.frule(copy.deepcopy)
def deepcopy_frule(tangents, x, /):
    """The copy of the tangent shares what the copy of `x` shares, for the tangent does."""
    check_all_copied(x)
    y = copy.deepcopy(x)
    if is_constant(tangents[1]):
        return y, zero_of(y)
    return y, tangents[1] if isinstance(x, types.FunctionType) else copy.deepcopy(tangents[1])


TABLE.non_differentiable(dataclasses.fields, dataclasses.is_dataclass)


# -- callables that hold another -----------------------------------------------------------------------------
# A call of one is asked for as a call of `type(f).__call__`, with the object and its tangent first.


@TABLE.frule(functools.partial, keyword_tangents=True)
def partial_frule(tangents, f, *args, **words):
    y, count = functools.partial(f, *args, **words), 2 + len(args)
    if all(map(is_constant, tangents)):
        return y, NO
    f_dot, dots = tangents[1], tuple(tangents[2:count])
    word_dots = dict(zip(words, tangents[count:], strict=True))
    if y.func is not f:  # Python makes one of two partials, unless the inner one has attributes
        if not is_constant(f_dot):
            dots, word_dots = (*f_dot.args, *dots), {**f_dot.keywords, **word_dots}
        else:
            word_dots = {name: word_dots.get(name, NO) for name in y.keywords}
            dots = (*(NO,) * len(f.args), *dots)
        f_dot = NO if is_constant(f_dot) else f_dot.func
    word_dots = {name: word_dots[name] for name in y.keywords}
    return y, types.SimpleNamespace(func=f_dot, args=dots, keywords=word_dots)


@TABLE.frule(functools.partial.__call__, requires=FORWARDS, keyword_tangents=True)
def partial_call_frule(config, tangents, held, /, *args, **words):
    count, held_dot = 2 + len(args), tangents[1]
    word_dots = dict(zip(words, tangents[count:], strict=True))
    f_dot, dots, kept = NO, (NO,) * len(held.args), {name: NO for name in held.keywords}
    if not is_constant(held_dot):
        f_dot, dots, kept = held_dot.func, held_dot.args, held_dot.keywords
    all_words, all_dots = {**held.keywords, **words}, {**kept, **word_dots}
    tail = tuple([all_dots[name] for name in all_words])
    given = (f_dot, *dots, *tangents[2:count], *tail)
    return config.frule_via_ad(given, held.func, *held.args, *args, **all_words)


@TABLE.frule(functools.cache)
def cache_frule(tangents, user_function, /):
    """The wrapper has the tangent of what it wraps."""
    y = functools.cache(user_function)
    note_made(y)
    return y, tangents[1]


@TABLE.frule(functools.lru_cache)
def lru_cache_frule(tangents, maxsize=128, typed=False):
    y = functools.lru_cache(maxsize, typed)
    if not callable(maxsize):
        return y, NO
    note_made(y)
    return y, tangents[1]


TABLE.non_differentiable(note_made)


@TABLE.frule(decorated)
def decorated_frule(tangents, decorate, f, /):
    """`functools.lru_cache(...)(f)`"""
    y = decorate(f)
    note_made(y)
    return y, tangents[2]


@TABLE.frule(CACHED.__call__, requires=FORWARDS, keyword_tangents=True)
def cached_call_frule(config, tangents, held, /, *args, **words):
    """What it keeps has no tangents: where something varies, the function itself is called."""
    if all(map(is_constant, tangents)):
        return held(*args, **words), NO
    key = key_of(held, args, words)
    return recalled(config, held, key, 1, tangents[1:], held.__wrapped__, *args, **words)


TABLE.non_differentiable(key_of)


@TABLE.frule(recalled, requires=FORWARDS, keyword_tangents=True)
def recalled_frule(config, tangents, outer, held, key, depth, dots, f, /, *args, **words):
    """Each level of differentiation keeps its own answers."""
    given, call = (NO, NO, *tangents[5:]), (RuleConfig.frule_via_ad, outer, dots, f)
    return recalled(config, held, key, depth + 1, given, *call, *args, **words)


@TABLE.frule(operator.call, requires=FORWARDS, keyword_tangents=True)
def call_frule(config, tangents, f, /, *args, **words):
    return config.frule_via_ad(tangents[1:], f, *args, **words)


# -- np.vectorize --------------------------------------------------------------------------------------------


@TABLE.frule(np.vectorize)
def make_vectorize_frule(tangents, pyfunc=None, *args, **words):
    y = np.vectorize(pyfunc, *args, **words)
    held = NO if len(tangents) < 2 else tangents[1]
    return y, NO if is_constant(held) else types.SimpleNamespace(pyfunc=held)


@TABLE.frule(np.vectorize.__call__, requires=FORWARDS, keyword_tangents=True)
def vectorize_frule(config, tangents, held, /, *args, **words):
    """The function is called for each element, as a loop would, and the results are an array."""
    check_vectorized(held, words)
    f_dot = NO if is_constant(tangents[1]) else tangents[1].pyfunc
    wide = [dense(x, x_dot) for x, x_dot in zip(args, tangents[2:], strict=True)]
    spread = np.broadcast_arrays(*[np.asarray(x) for x in args], *[np.asarray(x_dot) for x_dot in wide])
    shape, count = spread[0].shape, len(args)
    flat = [np.reshape(a, -1).tolist() for a in spread]
    if not flat[0]:
        y = held(*args)
        return y, zero_of(y)
    rows = []
    for row in zip(*flat, strict=True):
        rows.append(config.frule_via_ad((f_dot, *row[count:]), held.pyfunc, *row[:count]))
    results, dots = [row[0] for row in rows], [settled(*row) for row in rows]
    dtype = dtype_of_results(held, results)
    y, y_dot = np.reshape(np.array(results, dtype=dtype), shape), np.reshape(np.array(dots), shape)
    return y, y_dot if has_numbers(y) else NO


TABLE.non_differentiable(check_vectorized, dtype_of_results)
