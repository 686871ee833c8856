"""Operations of forward mode that take more than one call, as plain Python: each returns a value and its
tangent.

They are themselves differentiated, in either mode, like an author's functions, so that derivatives of any
order pass through them. `push` is the primitive of forward mode (`compiler/calls/pushing.py`).
"""

import dataclasses
import functools
import itertools
import operator
import types
from collections import OrderedDict, deque

import numpy as np

from ..annotations import signature_of_callable
from ..errors import An, MutationError, NotDifferentiableError, RuleError, an
from ..own_code import change_nothing, holds_no_authors, only_look, stands_in
from ..tangents.algebra import is_number
from ..tangents.holding import carrier, everything_held, inside
from ..tangents.moments import Run, StateSnapshot
from ..tangents.paired_iteration import check_in_step
from ..tangents.pairings import (
    added,
    cotangent_from,
    gradient_by_cotangent,
    gradient_by_tangent,
    in_form_of,
    leaves_in,
    leaves_of,
    moving,
    pairing,
    part_at,
    tangent_from,
)
from ..tangents.projection import number_type
from ..tangents.shadows import kind_of, settled, zero_kept, zero_of
from ..tangents.structural import Tangent, make
from ..tangents.thunks import thunk
from ..tangents.tracked import check_untracked
from ..tangents.zeros import AbstractZero, NoTangent
from .calling import check_cotangents, check_pair
from .capabilities import RuleConfig, check_tangents
from .kinds import ANY, Array, is_real
from .results import stated_by
from .rule_table import RuleTable

holds_no_authors(__name__)

stands_in(__file__)

TABLE = RuleTable("programs")

NO = NoTangent()


def no_tangents(count):
    return (NO,) * count


def no_words(words):
    return dict.fromkeys(words, NO)


def is_none(x_dot):
    """Whether a tangent is a zero object, which cannot be written to."""
    return isinstance(x_dot, AbstractZero)


def is_sequence(x):
    return isinstance(x, (list, tuple, np.ndarray, deque))


def zero_beside(y, args):
    """The tangent of the result of a NumPy function for constants: zeros for a new array, which may be
    written to later.
    """
    if isinstance(y, np.ndarray):
        known = any(isinstance(x, np.ndarray) and np.may_share_memory(x, y) for x in args)
        return NO if known else zero_of(y)
    return zero_kept(y)


TABLE.non_differentiable(no_tangents, no_words, is_none, is_sequence, zero_beside, zero_kept, zero_of)


def constant(function, args, words):
    """A call with constants. Other code may hold the result, so nothing that varies may be stored in it."""
    y = function(*args, **words)
    return y, zero_kept(y)


def constant_of_numpy(function, args, words):
    y = function(*args, **words)
    return y, zero_beside(y, args)


def attribute(x, x_dot, name):
    """`x.name`, for a value that is stored in an object."""
    if hasattr(x_dot, name):
        return getattr(x, name), getattr(x_dot, name)
    y = getattr(x, name)
    check_followed(x, x_dot, name, y)
    return y, NO


def factory_of(x, x_dot):
    """`x.default_factory`; its tangent is what a factory in the tangent returns."""
    return x.default_factory, NO if x_dot.default_factory is None else x_dot.default_factory()


WITH_PARTS = (types.FunctionType, types.MethodType, types.CellType)


def part_of_callable(x, x_dot, name):
    """`x.name` of a function, a method, a cached function or the cell of a captured variable."""
    y = getattr(x, name)
    if is_none(x_dot):
        return y, NO
    if name == "__defaults__":
        return y, x_dot[1]
    if name == "__closure__":
        return y, x_dot[0]
    if name == "cell_contents":
        return y, content_of(x_dot)
    if stands_for(x, y):
        return y, x_dot
    if name == "__kwdefaults__":
        refuse_keyword_defaults()
    refuse_attribute(name, y)
    return y, NO


def refuse_keyword_defaults():
    """Raise NotDifferentiableError: the dict belongs to the function, and could be written to."""
    raise NotDifferentiableError(
        "There is no rule in forward mode for the attribute __kwdefaults__ of a function",
        fixes=("make the default a variable, and read that",),
        read="limitations#attributes",
    )


def stands_for(x, y):
    """Whether a value has the same tangent as a method or cached function."""
    return carrier(x) is carrier(y) and not isinstance(x, types.FunctionType)


def refuse_attribute(name, y, place=None):
    """Raise NotDifferentiableError for a function stored in an attribute of a callable or container, such as
    `__wrapped__`, if it holds values: these may vary, and no derivative is kept for such an attribute.
    """
    if callable(y) and next(inside(y), None) is not None:
        raise NotDifferentiableError(
            f"The attribute {name} is a function that holds values, whose derivatives would be lost",
            place=place,
            fixes=("call the function by its own name",),
            read="limitations#attributes",
        )


def refuse_dict(x):
    """Raise NotDifferentiableError for an assignment to the dict of all attributes of an object, which would
    lose their derivatives.
    """
    raise NotDifferentiableError(
        f"The attributes of {an(type(x).__name__)} are not differentiated as a dict",
        fixes=("set them by their names",),
        read="limitations#attributes",
    )


class Behind:
    """Replaces a function that holds values when it is read from the attribute `__wrapped__`, in whatever
    way: it has the function's name and signature, but cannot be called.
    """

    def __init__(self, function):
        self._function = function

    def __call__(self, *args, **words):
        refuse_attribute("__wrapped__", self._function)

    def __getattr__(self, name: str):
        if name in functools.WRAPPER_ASSIGNMENTS:
            return getattr(self._function, name)
        if name == "__signature__":  # if present, `inspect` looks no further
            return signature_of_callable(self._function)
        if not name.startswith("__") or name in _HELD_BY:
            refuse_attribute("__wrapped__", self._function)
        raise AttributeError(name)

    def __eq__(self, other):
        return other is self._function or type(other) is Behind and other._function is self._function

    def __hash__(self):
        return hash(self._function)


_HELD_BY = ("__closure__", "__defaults__", "__kwdefaults__", "__func__", "__self__", "__dict__")


TABLE.non_differentiable(stands_for, refuse_attribute, refuse_keyword_defaults, Behind.__call__)


def check_followed(x, x_dot, name, y):
    """Raise NotDifferentiableError for an attribute of anything but a plain object, if its tangent is not
    known.
    """
    by_item = isinstance(x, (list, dict, deque))  # their attributes are constants: a write would be refused
    if (
        not isinstance(x_dot, types.SimpleNamespace)
        and not is_none(x_dot)
        and not by_item
        and kind_of(y) is not None
    ):
        raise NotDifferentiableError(
            f"There is no rule for the attribute {name} of {an(type(x).__name__)}",
            read="limitations#attributes",
        )


TABLE.non_differentiable(check_followed)


def method(x, x_dot, name):
    """A bound method as a value: its tangent is that of its object."""
    return getattr(x, name), x_dot


def partial_method(x, x_dot, name):
    """A partial of a method as a value: its tangent is that of a partial whose object varies."""
    y = getattr(x, name)
    beside = types.SimpleNamespace(func=x_dot, args=no_tangents(len(y.args)), keywords=no_words(y.keywords))
    return y, beside


def entries(x, x_dot):
    """The tangents of the entries of a list or mapping, also if it has none."""
    if not is_none(x_dot):
        return x_dot
    if isinstance(x, list):
        return [NO for _ in x]
    return {key: NO for key in x}  # noqa: C420 - `fromkeys` is not known in reverse mode


def push_all(push, function, function_dot, args, args_dot, words, words_dot, method):
    """`function(*args, **words)`"""
    if is_none(args_dot):
        args_dot = no_tangents(len(args))
    if words is None:
        return push(function, function_dot, args, args_dot, (), method)
    names = tuple(words)
    given = (*args, *[words[name] for name in names])
    if is_none(words_dot):
        given_dot = (*args_dot, *no_tangents(len(names)))
    else:
        given_dot = (*args_dot, *[words_dot[name] for name in names])
    return push(function, function_dot, given, given_dot, names, method)


def unless_zero(x_dot):
    """A tangent, or NoTangent if it is a number or an array of zeros."""
    return NO if is_all_zero(x_dot) else x_dot


def is_all_zero(x_dot):
    return isinstance(x_dot, (float, complex, np.ndarray)) and not np.any(x_dot)


TABLE.non_differentiable(is_all_zero)


def sequence(push, x, x_dot, any_length, backwards):
    """The items of a loop and their tangents, in step; with `any_length` the loop may change their number."""
    if backwards:
        x, x_dot = push(reversed, NO, (x,), (x_dot,), (), None)
    if is_none(x_dot):
        if any_length:
            return x, endless()
        items = x if is_sequence(x) else all_of(x)
        return items, no_tangents(len(items))
    if is_sequence(x):
        check_in_step(x, x_dot)
        return x, x_dot
    if hasattr(x, "__next__"):
        return x, x_dot
    walk, walk_dot = push(iter, NO, (x,), (x_dot,), (), None)
    if is_none(walk_dot):
        return sequence(push, walk, walk_dot, any_length, False)
    return walk, walk_dot


def endless():
    """Return an endless iterator of NoTangent, for an unknown number of items."""
    return itertools.repeat(NO)


def all_of(x):
    """The items of an iterable that can be iterated over again, as a list."""
    if hasattr(x, "__next__"):
        raise NotDifferentiableError(
            f"The items of {an(type(x).__name__)} of constants cannot be known in advance",
            fixes=("convert it to a list first",),
            read="limitations#iteration",
        )
    return list(x)


TABLE.non_differentiable(endless, all_of, check_in_step)


def unpacked(push, x, x_dot):
    """A value whose items are taken by position, with the tangents of the items."""
    if is_sequence(x) and not isinstance(x, deque):
        if is_none(x_dot):
            return x, no_tangents(len(x))
        return x, x_dot
    if is_none(x_dot):
        return push(list, NO, (x,), (NO,), (), None)
    items, items_dot = sequence(push, x, x_dot, False, False)
    return push(list, NO, (items,), (items_dot,), (), None)


def new_object(cls):
    """A new object of a class, before `__init__`."""
    return cls.__new__(cls)


@TABLE.frule(new_object)
def new_object_frule(tangents, cls):
    """It gets an empty tangent, to be filled when the object is written to."""
    kind = kind_beside(cls)
    return new_object(cls), kind()


def kind_beside(cls):
    """The class of the tangents of new objects of a class."""
    kinds = (list, deque, OrderedDict, dict)
    return next((kind for kind in kinds if issubclass(cls, kind)), types.SimpleNamespace)


TABLE.non_differentiable(kind_beside)


def made_object(push, cls, args, dots, names):
    """A new object of a class with a Python `__init__`, or with none."""
    x = new_object(cls)
    x_dot = types.SimpleNamespace()
    if cls.__init__ is not object.__init__:
        push(cls.__init__, NO, (x, *args), (x_dot, *dots), names, None)
    return x, x_dot


def made_items(push, cls, base, args, dots, names):
    """A new object of a subclass of list, dict or deque; its tangent is of the class that it inherits
    from.
    """
    x = new_object(cls)
    x_dot = base()
    push(cls.__init__, NO, (x, *args), (x_dot, *dots), names, None)
    return x, x_dot


def made_fields(push, cls, args, words, fields_dot):
    """A new object of a dataclass, whose fields have these tangents."""
    x = cls(*args, **words)
    x_dot = types.SimpleNamespace(**fields_dot)
    for name in made_by_factory(cls, fields_dot):
        setattr(x_dot, name, new_zero(getattr(x, name)))
    return x, x_dot


def new_zero(x):
    """The zero tangent of a new container, as a new container."""
    if isinstance(x, list):
        return [zero_of(part) for part in x]
    if isinstance(x, dict):
        return {key: zero_of(part) for key, part in x.items()}
    return zero_of(x)


def of_namedtuple(name, x, x_dot, words, word_dots):
    """`x._replace(**words)` or `x._asdict()` of a NamedTuple."""
    if is_none(x_dot):
        x_dot = zero_part(x)
    if name == "_asdict":
        return x._asdict(**words), x_dot._asdict()
    return x._replace(**words), x_dot._replace(**{key: settled(words[key], word_dots[key]) for key in words})


def zero_part(x):
    return zero_kept(x)


def made_by_factory(cls, given):
    """The names of the fields that a default factory has filled in."""
    missing = dataclasses.MISSING
    fields = [f for f in dataclasses.fields(cls) if f.default_factory is not missing]
    return [f.name for f in fields if f.name not in given]


def made_exception(cls, args, words):
    """A new exception made from values that vary, to be raised."""
    return cls(*args, **words), unread()


class Unread:
    """The tangent of an exception, which is not kept: reading attributes of the exception is refused."""


def unread():
    return Unread()


TABLE.non_differentiable(unread)


def made_super(cls, this, this_dot):
    """`super(cls, this)`, with the tangent of its object."""
    return super(cls, this), this_dot


TABLE.non_differentiable(made_by_factory, zero_part)


def made_from_items(push, cls, items, items_dot):
    """`cls._make(items)`: a NamedTuple made from an iterable."""
    given, given_dot = push(list, NO, (items,), (items_dot,), (), None)
    y = cls._make(given)
    return y, NO if is_none(given_dot) else cls._make(given_dot)


def check_namespace(given, place=None):
    """Raise Python's own error for a SimpleNamespace with positional arguments, or NotDifferentiableError
    where Python accepts a mapping.
    """
    types.SimpleNamespace(*given)
    raise NotDifferentiableError(
        "A SimpleNamespace is differentiated only if it is made from keywords",
        place=place,
        fixes=("write types.SimpleNamespace(**mapping)",),
        read="limitations#attributes",
    )


def made_tuple(cls, args, words, fields_dot):
    """A new NamedTuple."""
    return cls(*args, **words), cls(*fields_dot)


def operated(push, operator, rule, methods, args, dots, operands, operand_dots):
    """A binary operator through the methods of the author's classes, in Python's order; if these return
    NotImplemented, the operator itself is applied, with its `rule`.
    """
    y, y_dot = push(methods[0], NO, args[0], dots[0], (), None)
    if y is NotImplemented and len(methods) > 1:
        y, y_dot = push(methods[1], NO, args[1], dots[1], (), None)
    if y is not NotImplemented:
        return y, y_dot
    if rule is None:
        return operator(*operands), NO
    return rule((NO, *operand_dots), *operands)


def operated_from_numpy(push, convert, operator, rule, methods, orders, operands, operand_dots):
    """The same if the left operand is a NumPy scalar, which is converted to a Python number for a reflected
    method.
    """
    left, left_dot = push(convert, NO, operands[:1], operand_dots[:1], (), None)
    args = tuple([(operands[1], left) if swapped else operands for swapped in orders])
    dots = tuple([(operand_dots[1], left_dot) if swapped else operand_dots for swapped in orders])
    return operated(push, operator, rule, methods, args, dots, operands, operand_dots)


def converted(push, method, kind, x, x_dot):
    """`float(x)` and similar conversions through an author's method."""
    y, y_dot = push(method, NO, (x,), (x_dot,), (), None)
    check_converted(y, kind, x, method)
    return y, y_dot


def check_converted(y, kind, x, method):
    """Raise Python's own error if a conversion returns the wrong type."""
    if not isinstance(y, kind):
        raise TypeError(
            f"{type(x).__name__}.{method.__name__} returned non-{kind.__name__} (type {type(y).__name__})"
        )


TABLE.non_differentiable(check_converted)


def called_attribute(push, owner, owner_dot, name, args, dots, names):
    """`owner.name(...)`, where `owner.name` is a value with its own tangent."""
    function, function_dot = push(getattr, NO, (owner, name), (owner_dot, NO), (), None)
    return push(function, function_dot, args, dots, names, None)


class Stated:
    """An author's rule and its target, as an argument of `transposed`; both are constants."""

    __slots__ = ("function", "rule", "target")

    def __init__(self, rule, target):
        self.rule, self.target, self.function = rule, target, rule.function


def with_others_still(rule, target, names, dots, given, words):
    """The result of a forward rule that does not use the tangents `dots` of the arguments `names`."""
    check_still(target, names, dots)
    return rule(*given, **words)


def stands_still(x_dot):
    """Whether a tangent is zero, also that of an array or of the contents of lists, tuples and dicts."""
    if isinstance(x_dot, AbstractZero):
        return True
    if isinstance(x_dot, (list, tuple, dict)):
        return all(map(stands_still, x_dot.values() if isinstance(x_dot, dict) else x_dot))
    return not np.any(x_dot)


def check_still(target, names, dots):
    """Raise NotDifferentiableError unless the tangents of these arguments are zero, at every order that is
    asked for.
    """
    for name, x_dot in zip(names, dots, strict=True):
        if not stands_still(x_dot):
            raise NotDifferentiableError(
                f"The rule of {target} gives no derivative for its argument {name}",
                fixes=(
                    f"use rl.ignore_derivatives({name}) if it is a constant",
                    "write a rule for the calling function",
                ),
                read="limitations#keywords",
            )


@TABLE.frule(check_still)
def check_still_frule(tangents, target, names, dots):
    _, _, _, dots_dot = tangents
    if not isinstance(dots_dot, AbstractZero):
        check_still(target, names, dots_dot)
    return check_still(target, names, dots), NO


def transposed(vjp, stated, leading, args, dots, words):
    """The pushforward of a rule that only has a pullback: for a real number y it is J v = <J' 1, v>."""
    answer = stated.function(*leading, *args, **words)
    check_answer(stated, answer)
    y, pullback = answer
    unit = unit_of(y)
    if unit is not None:
        return y, paired(stated, args, dots, pullback(unit))
    return y, transposed_for_value(vjp, stated, leading, args, dots, words, y, pullback)


def transposed_for_value(vjp, stated, leading, args, dots, words, y, pullback):
    """J v for a value y that is not a real number.

    A pullback is linear over the real numbers only, so for a complex number J v is <J' 1, v> + i <J' i, v>.
    For other values it is the derivative of <J' w, v> with respect to w, the numbers in the cotangent of y.
    """
    if is_number(y):
        along_real = paired(stated, args, dots, pullback(number_type(y)(1.0)))
        return along_real + 1j * paired(stated, args, dots, pullback(number_type(y)(1j)))
    if isinstance(y, np.ndarray):
        return along_array(vjp, stated, leading, args, dots, words, leaves_of(y))
    return along_leaves(vjp, stated, leading, args, dots, words, y, leaves_of(y))


def along_array(vjp, stated, leading, args, dots, words, ones):
    if len(ones) == 0:
        return NO

    rule = stated.function

    def along(w):
        return paired(stated, args, dots, rule(*leading, *args, **words)[1](w))

    along_ones, (y_dot,) = vjp(along, ones, 1.0)
    if y_dot is None:
        check_zero(stated, along_ones)
        return NO
    return y_dot


def along_leaves(vjp, stated, leading, args, dots, words, y, leaves):
    if len(leaves) == 0:
        return NO

    def along(leaves):
        y, pullback = stated.function(*leading, *args, **words)
        return paired(stated, args, dots, pullback(cotangent_from(y, leaves)))

    along_ones, (leaves_dot,) = vjp(along, (leaves,), 1.0)
    if leaves_dot is None:
        check_zero(stated, along_ones)
        return NO
    return tangent_from(y, leaves_dot)


def check_zero(stated, along_ones):
    """Raise RuleError unless a pullback that ignores its cotangent returns zeros: a linear map takes zero to
    zero.
    """
    if along_ones != 0:
        raise RuleError(
            f"The pullback of {stated.rule.target_name} ignores its cotangent, and returns values other "
            "than zero",
            fixes=("multiply each cotangent that it returns by the one that it is given",),
            place=stated.rule.place,
            read="howto/write-a-rule",
        )


def check_answer(stated, answer):
    """Raise RuleError unless a rule returned a value and its pullback."""
    check_pair(stated.rule, answer)


def unit_of(y):
    """The cotangent 1 of a real number; None for anything else."""
    if type(y) is float:
        return 1.0
    return number_type(y)(1.0) if is_number(y) and not np.iscomplexobj(y) else None


TABLE.non_differentiable(check_answer, check_zero, unit_of, leaves_of, is_number, number_type)


def paired(stated, args, dots, bars):
    """<x̄, ẋ> over the arguments, a real number, for what a pullback returned, checked and projected as in
    reverse mode.
    """
    return _total(args, dots, check_cotangents(stated.rule, stated.target, args, bars)[1:])


def _total(args, dots, bars):
    total = 0.0
    for x, bar, dot in zip(args, bars, dots, strict=True):
        total = total + pairing(x, bar, dot)
    return total


@TABLE.rrule(paired, leading=4)
def paired_rrule(stated, args, dots, bars):
    """It is bilinear: the gradient with respect to one factor is the other. A projection is its own
    transpose.
    """
    projected = check_cotangents(stated.rule, stated.target, args, bars)[1:]
    first = len(bars) - len(args)

    def paired_pullback(y_bar):
        rows = list(enumerate(zip(args, projected, dots)))

        def of_dots():
            found = {k: gradient_by_tangent(x, bar, dot, y_bar) for k, (x, bar, dot) in rows}
            return make(tuple, found, len(args))

        of_bars = {k: gradient_by_cotangent(x, bar, dot, y_bar) for k, (x, bar, dot) in rows}
        returned = {first + k: in_form_of(bars[first + k], bar) for k, bar in of_bars.items()}
        return NO, NO, NO, thunk(of_dots), make(tuple, returned, len(bars))

    return _total(args, dots, projected), paired_pullback


@TABLE.frule(paired)
def paired_frule(tangents, stated, args, dots, bars):
    """It is linear in the tangents and in the cotangents."""
    y_dot = 0.0
    if not is_none(tangents[3]):
        y_dot = y_dot + paired(stated, args, tangents[3], bars)
    if not is_none(tangents[4]):
        y_dot = y_dot + paired(stated, args, dots, tangents[4])
    return paired(stated, args, dots, bars), y_dot


@TABLE.rrule(cotangent_from, leading=2)
def cotangent_from_rrule(y, leaves):
    def cotangent_from_pullback(bar):
        return NO, NO, Tangent(tuple, *leaves_in(y, bar))

    return cotangent_from(y, leaves), cotangent_from_pullback


@TABLE.frule(cotangent_from)
def cotangent_from_frule(tangents, y, leaves):
    dots = tangents[2]
    return cotangent_from(y, leaves), NO if is_none(dots) else cotangent_from(y, dots)


@TABLE.rrule(tangent_from, leading=2)
def tangent_from_rrule(y, leaves):
    def tangent_from_pullback(bar):
        return NO, NO, Tangent(tuple, *leaves_in(y, bar))

    return tangent_from(y, leaves), tangent_from_pullback


@TABLE.frule(tangent_from)
def tangent_from_frule(tangents, y, leaves):
    dots = tangents[2]
    return tangent_from(y, leaves), NO if is_none(dots) else tangent_from(y, dots)


def vjp_forward(push, vjp, f, f_dot, args, dots, seed, seed_dot, words, words_dot):
    """The tangent of a pullback `x_bar = J' y_bar`: J' of the tangent of y_bar, plus the derivative of
    <y_bar, J v> with respect to x, where v is the tangent of x and of the keyword arguments.
    """
    if is_none(dots):
        dots = no_tangents(len(args))

    names = names_of(words)
    values = tuple([words[name] for name in names])
    if is_none(words_dot):
        all_dots = (*dots, *no_tangents(len(names)))
    else:
        all_dots = (*dots, *[words_dot[name] for name in names])

    y, x_bars = vjp(f, args, seed, words)
    run = run_of(f, args, words, y)

    def along(*xs):
        given = (*xs, *values) if names else xs
        again, y_dot = push(f, f_dot, given, all_dots, names, None)
        check_run(run, again)  # this is the run that gives the second derivative
        return y_dot

    y_bar = plain_seed(seed, y, f, args)
    y_dot, bars = vjp(along, args, y_bar)
    if is_none(f_dot) and is_none(words_dot):
        check_slope(run, x_bars[1:] if vjp.own else x_bars, dots, y_bar, y_dot)
    if vjp.own:  # `along` captures f, among other things
        second = moving(bars)
        second = (part_at(second[0], "f"), *second[1:])
    else:
        second = beside_gradient(x_bars, bars)
    if is_none(seed_dot):
        return (y, x_bars), (y_dot, second)
    first = moving(vjp(f, args, seed_dot, words)[1])
    return (y, x_bars), (y_dot, tuple([added(first[k], second[k]) for k in range(len(first))]))


def names_of(words):
    """The names of keyword arguments."""
    return tuple(words or ())


def run_of(f, args, words, y):
    """A record of a run, with which the next one is compared."""
    return Run(f, args, words, y)


def check_run(run, again):
    """Raise NotDifferentiableError if the next run returned a different value."""
    run.check_value(again)


def check_slope(run, x_bars, dots, seed, y_dot):
    """Raise NotDifferentiableError if the next run had a different derivative."""
    run.check_slope(x_bars, dots, seed, y_dot)


TABLE.non_differentiable(names_of, run_of, check_run, check_slope)


def plain_seed(seed, y, f, args):
    """The cotangent itself, if a Seed was given instead."""
    if is_seed(seed):
        return seeded(seed, y, f, args)
    return seed


def seeded(seed, y, f, args):
    return seed(y, f, args)


def is_seed(seed):
    return isinstance(seed, Seed)


class Seed:
    """A cotangent that is made from a value, as a function of its type only."""

    def __init__(self, function):
        self.function = function

    def __call__(self, y, f, args):
        __tracebackhide__ = True
        return self.function(y, f, args)


TABLE.non_differentiable(is_seed, seeded)


@TABLE.rrule(moving, leading=1)
def moving_rrule(x_bar):
    def moving_pullback(bar):
        return NO, in_form_of(x_bar, bar)

    return moving(x_bar), moving_pullback


@TABLE.frule(moving)
def moving_frule(tangents, x_bar):
    return moving(x_bar), tangents[1]


def beside_gradient(x_bars, bars):
    """The tangent of the gradient `x_bars`, from what `gradient` gives for it: a zero is written out for a
    number, as in any tuple.
    """
    return _settled_parts(x_bars, moving(bars))


def _settled_parts(xs, dots):
    return settled(xs, dots) if is_none(dots) else tuple(map(settled, xs, dots))


@TABLE.rrule(beside_gradient, leading=2)
def beside_gradient_rrule(x_bars, bars):
    def beside_gradient_pullback(bar):
        return NO, NO, in_form_of(bars, bar)

    return beside_gradient(x_bars, bars), beside_gradient_pullback


@TABLE.frule(beside_gradient)
def beside_gradient_frule(tangents, x_bars, bars):
    return beside_gradient(x_bars, bars), _settled_parts(x_bars, tangents[2])


@TABLE.rrule(added, leading=2)
def added_rrule(first, second):
    def added_pullback(bar):
        return NO, in_form_of(first, bar), in_form_of(second, bar)

    return added(first, second), added_pullback


@TABLE.frule(added)
def added_frule(tangents, first, second):
    return added(first, second), added(tangents[1], tangents[2])


@TABLE.rrule(part_at, leading=1)
def part_at_rrule(structure, key):
    def part_at_pullback(bar):
        return NO, make(dict, {key: bar}) if is_none(structure) else Tangent.at(structure, key, bar)

    return part_at(structure, key), part_at_pullback


@TABLE.frule(part_at)
def part_at_frule(tangents, structure, key):
    return part_at(structure, key), part_at(tangents[1], key)


def made_with_post_init(push, cls, args, words, fields_dot):
    """A new object of a dataclass with a `__post_init__`."""
    x, passed = before_post_init(cls, args, words)
    x_dot = types.SimpleNamespace(**{name: d for name, d in fields_dot.items() if name not in passed})
    for name in made_by_factory(cls, fields_dot):
        setattr(x_dot, name, new_zero(getattr(x, name)))
    given_dot = [fields_dot.get(name, NO) for name in passed]
    push(cls.__post_init__, NO, (x, *passed.values()), (x_dot, *given_dot), (), None)
    return x, x_dot


def before_post_init(cls, args, words):
    """What the generated `__init__` of a dataclass makes before it calls `__post_init__`, and the arguments
    of that call.
    """
    given = signature_of_callable(cls).bind(*args, **words).arguments
    x = object.__new__(cls)
    for field in dataclasses.fields(cls):
        if field.init and field.name in given:
            object.__setattr__(x, field.name, given[field.name])
        elif field.default_factory is not dataclasses.MISSING:
            object.__setattr__(x, field.name, field.default_factory())
        elif field.default is not dataclasses.MISSING:
            object.__setattr__(x, field.name, field.default)
    kinds = getattr(cls, "__dataclass_fields__", {})
    only = [name for name, f in kinds.items() if f._field_type is dataclasses._FIELD_INITVAR]  # type: ignore[attr-defined]
    return x, {name: given.get(name, getattr(cls, name, None)) for name in only}


def in_place_array(push, update, function, left, left_dot, right, right_dot):
    """`left op= right` for an array, also applied to its tangent."""
    check_in_place(update, left, right)
    _y, y_dot = push(function, NO, (left, right), (left_dot, right_dot), (), None)
    if is_none(left_dot):
        check_untracked(left)
        if not is_zero(y_dot):
            raise refused_write(left)
    update(left, right)
    if not is_none(left_dot):
        left_dot[...] = y_dot
    return left, left_dot


def check_in_place(update, left, right):
    """Raise NumPy's own error if `left` cannot hold the result of `left op right`, because of its dtype."""
    operand = np.asarray(right) if isinstance(right, (list, tuple)) else right
    if np.result_type(left, operand) != left.dtype:
        update(left.copy(), right)


TABLE.non_differentiable(check_in_place)


def into_out(push, function, args, dots, names, given, words, out, out_dot):
    """`function(*given, **words)`, which writes its result to the array `out`."""
    _, y_dot = push(function, NO, args, dots, names, None)
    if is_none(out_dot):
        check_untracked(out)
        if not is_zero(y_dot):
            raise refused_write(out)
    y = function(*given, **words)
    if not is_none(out_dot):
        if is_none(y_dot):
            out_dot[...] = 0.0
        elif np.size(y_dot) == np.size(out_dot):
            out_dot[...] = np.reshape(y_dot, np.shape(out_dot))  # `a.cumsum(out=b)` accepts any shape
        else:
            out_dot[...] = y_dot
    return y, out_dot


def constant_into_out(function, given, words, out, out_dot):
    """The same for a function without a derivative. It runs only once, since it may draw random numbers."""
    if is_none(out_dot):
        check_untracked(out)
    y = function(*given, **words)
    if not is_none(out_dot):
        out_dot[...] = 0.0
    return y, out_dot


def _parts_of_caught(x):
    """What an exception, possibly a group, or a container in it holds."""
    if isinstance(x, BaseException):
        return (*x.args, *vars(x).values())
    return x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple, set, deque)) else ()


def check_caught(error):
    """Raise NotDifferentiableError for a caught exception that carries numbers, since their tangents are not
    kept.
    """
    carried = everything_held([error], _parts_of_caught)
    if any(isinstance(x, (float, complex, np.number, np.ndarray)) for x in carried):
        raise NotDifferentiableError(
            f"{An(type(error).__name__)} that was caught carries a number, and its derivative would be lost",
            fixes=("return the number instead of raising it",),
            read="limitations#try-and-except",
        )


def is_zero(x_dot):
    return is_none(x_dot) or not np.any(x_dot)


def refused_write(x):
    """The error for writing a value that varies to where its tangent would be lost."""
    return MutationError(
        "Something that varies is written to an array whose tangent is not tracked: a global or captured one",
        fixes=("create the array inside the function", "pass it as an argument"),
    )


def refuse_lost(name, x_dot):
    """Raise NotDifferentiableError if a value that varies is assigned to a variable whose tangent is not
    kept.
    """
    if not is_zero(x_dot):
        raise NotDifferentiableError(
            f"The variable {name}, of a function called with constants, is assigned a value that varies",
            fixes=("keep what changes in a list or an object",),
            read="limitations#syntax",
        )


def key_asked_once(key):
    """`key` in `x[key]`, for an array or sequence x, with objects in it replaced by the indices that they
    convert to: the tangent is indexed with it too, and a second conversion might give a different index.
    """
    kind = type(key)
    if kind is int or kind is np.ndarray:
        return key
    if kind is tuple:
        parts = [key_asked_once(part) for part in key]
        return key if all(a is b for a, b in zip(parts, key)) else tuple(parts)
    if kind is slice:
        ends = (key.start, key.stop, key.step)
        found = [key_asked_once(end) for end in ends]
        return key if all(a is b for a, b in zip(found, ends)) else slice(*found)
    if isinstance(key, (int, str, np.ndarray, np.generic)):
        return key
    if hasattr(kind, "__index__"):
        return operator.index(key)
    return np.asarray(key) if hasattr(kind, "__array__") else key


def takes_positions(owner):
    """Whether `owner[key]` converts an object to an int; a dict looks up the object itself."""
    kind = type(owner)
    return isinstance(owner, _SEQUENCES) and not isinstance(
        getattr(kind, "__getitem__", None), types.FunctionType
    )


_SEQUENCES = (np.ndarray, np.generic, list, tuple, deque, str, range, bytes, bytearray, memoryview)


def slice_of(owner, lower, upper, step):
    """`lower:upper:step` in `owner[...]`, with objects among them replaced by the indices that they convert
    to.
    """
    made = slice(lower, upper, step)
    if type(lower) in _ENDS and type(upper) in _ENDS and type(step) in _ENDS:
        return made
    return key_asked_once(made) if takes_positions(owner) else made


_ENDS = (int, type(None))


def refuse_moved_slice(owner, key, name="__getitem__"):
    """Raise NotDifferentiableError if a class written in Python is indexed with a slice that has a bound that
    varies: the item may be computed from the bound, and a slice has no tangent.
    """
    if isinstance(getattr(type(owner), name, None), types.FunctionType) and _holds_float(key):
        raise NotDifferentiableError(
            f"A number that varies bounds a slice that {type(owner).__name__}.{name} reads: "
            "its derivative would be lost",
            fixes=("pass the number to a method or a function", "use np.linspace, not np.mgrid or np.r_"),
            read="limitations#syntax",
        )


def _holds_float(key):
    if isinstance(key, tuple):
        return any(map(_holds_float, key))
    bounds = (key.start, key.stop, key.step) if isinstance(key, slice) else ()
    return any(isinstance(x, (float, np.floating)) for x in bounds)


TABLE.non_differentiable(
    is_zero, refused_write, refuse_lost, refuse_moved_slice, check_caught, key_asked_once
)


def moment_of(f, args):
    """A snapshot of what a function and its arguments can reach."""
    return StateSnapshot(f, args, arrays=True)


def check_unchanged(moment, f):
    """Raise NotDifferentiableError if a pullback would have to run a function after its surroundings have
    changed.
    """
    if moment.changed():
        raise NotDifferentiableError(
            f"What {getattr(f, '__name__', 'the function')} depends on was changed after its pullback was "
            "made",
            fixes=("call the pullback before the change", "pass a copy to the function"),
            read="limitations#second-derivatives",
        )


def check_same(moment, run, again):
    """Raise NotDifferentiableError if a function returns a different value each time it runs."""
    run.check_value(again)
    moment.take()


TABLE.non_differentiable(moment_of, check_unchanged, check_same)


def push_of(config):
    return config._forwards.__self__


def vjp_of(config):
    return config._reverse.__self__.own_vjp


TABLE.non_differentiable(push_of, vjp_of, check_tangents)


@TABLE.stands_in(RuleConfig.frule_via_ad, rest=3)
def frule_via_ad(config, tangents, f, args=(), **words):
    check_tangents(len(tangents), args, words)
    dots = (*tangents[1:], *no_tangents(1 + len(args) + len(words) - len(tangents)))
    return push_of(config)(f, tangents[0], (*args, *words.values()), dots, tuple(words), None)


@TABLE.stands_in(RuleConfig.rrule_via_ad, rest=2)
def rrule_via_ad(config, f, args=(), **words):
    y, vjp = f(*args, **words), vjp_of(config)
    moment = moment_of(f, (args, words))
    run = run_of(f, args, words, y)

    def back(y_bar):
        check_unchanged(moment, f)
        again, bars = vjp(f, args, y_bar, words)
        check_same(moment, run, again)
        return bars

    return y, back


@TABLE.stands_in(settled)
def settled_(x, x_dot):
    return zero_kept(x) if is_none(x_dot) else x_dot


def content_of(x_dot):
    """The tangent of a captured variable; if the variable may be rebound, its cell is passed on."""
    return x_dot.cell_contents if isinstance(x_dot, types.CellType) else x_dot


@stated_by(content_of)
def _kind_of_content(x_dot):
    """The kind of a number or an array; anything else is determined at run time."""
    return x_dot.kind if is_real(x_dot.kind) or isinstance(x_dot.kind, Array) else ANY


@TABLE.frule(content_of)
def content_of_frule(tangents, x_dot):
    return content_of(x_dot), content_of(tangents[1])


def cached(push, function, x, x_dot, name, second_way):
    """A cached property: its first read computes and stores the value and its tangent. A value that was
    stored before has no tangent yet, and must equal what the function returns now. `second_way` says that
    the class has a `__getattr__`.
    """
    if is_kept(x, name) and is_kept(x_dot, name):
        return getattr(x, name), getattr(x_dot, name)
    if second_way:
        y, y_dot = read_beside_getattr(push, function, (x,), (x_dot,), x, name)
    else:
        y, y_dot = push(function, NO, (x,), (x_dot,), (), None)
    if is_kept(x, name):
        check_same_result(x, name, y)
    else:
        object.__setattr__(x, name, y)  # bypasses the class's own __setattr__, as Python does
    setattr(x_dot, name, y_dot)
    return y, y_dot


def read_beside_getattr(push, function, args, dots, x, name):
    """What a property or another descriptor gives, in a class with a `__getattr__`."""
    try:
        return push(function, NO, args, dots, (), None)
    except AttributeError:
        return refuse_second_way(x, name)


def refuse_second_way(x, name, place=None):
    """Raise NotDifferentiableError for an attribute for which Python calls `__getattr__` after what the class
    has under this name raised an AttributeError: a handler has run.
    """
    raise NotDifferentiableError(
        f"The {name} of {an(type(x).__name__)} raises AttributeError, and Python then calls __getattr__",
        place=place,
        fixes=("call a method instead", "test beforehand what raises the error"),
        read="limitations#attributes",
    )


def is_kept(x, name):
    """Whether an attribute is in the object itself, not only in its class."""
    return name in getattr(x, "__dict__", ())


def check_same_result(x, name, y, place=None):
    """Raise NotDifferentiableError unless the stored value of a cached property equals what its function
    returns now, `y`.
    """
    kept = vars(x)[name]
    try:
        same = kept is y or (type(kept) is type(y) and bool(np.all(np.asarray(kept == y))))
    except (TypeError, ValueError):  # objects that cannot be compared
        same = False
    if not same:
        raise NotDifferentiableError(
            f"The cached {name} of {an(type(x).__name__)} is not what its function returns now",
            place=place,
            fixes=(f"del the cached {name} when what it depends on changes", "use a property instead"),
            read="limitations#attributes",
        )


TABLE.non_differentiable(is_kept, check_same_result, refuse_dict, refuse_second_way)
only_look(check_answer, check_run)
change_nothing(check_run)


for _program in (push_all, sequence, unpacked):
    vars(_program)["gives_pair"] = True
