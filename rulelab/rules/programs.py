"""Plain Python by which forward mode does what is more than one call: each gives a value and its tangent.

They are differentiated and taken to their tangent like an author's function, so that derivatives of any order
go through them. `push` is the forward question (`compiler/calls/pushing.py`).
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
from ..own_code import holds_no_authors, only_look, stands_in
from ..tangents.algebra import is_number
from ..tangents.holding import carrier, everything_held, inside
from ..tangents.in_step import check_in_step
from ..tangents.moments import Moment, Run
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
    """Whether a tangent is a zero that nothing can be written to."""
    return isinstance(x_dot, AbstractZero)


def is_sequence(x):
    return isinstance(x, (list, tuple, np.ndarray, deque))


def zero_beside(y, args):
    """The tangent of what a function of NumPy gives for constants: zeros for a new array, which may be
    written to later.
    """
    if isinstance(y, np.ndarray):
        known = any(isinstance(x, np.ndarray) and np.may_share_memory(x, y) for x in args)
        return NO if known else zero_of(y)
    return zero_kept(y)


TABLE.non_differentiable(no_tangents, no_words, is_none, is_sequence, zero_beside, zero_kept, zero_of)


def constant(function, args, words):
    """A call with constants: others may hold what it gives, so that nothing that varies may be put there."""
    y = function(*args, **words)
    return y, zero_kept(y)


def constant_of_numpy(function, args, words):
    y = function(*args, **words)
    return y, zero_beside(y, args)


def attribute(x, x_dot, name):
    """`x.name` of what is stored in an object."""
    if hasattr(x_dot, name):
        return getattr(x, name), getattr(x_dot, name)
    y = getattr(x, name)
    check_followed(x, x_dot, name, y)
    return y, NO


def factory_of(x, x_dot):
    """`x.default_factory`, whose tangent a factory in the tangent gives out."""
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
    """NotDifferentiableError: this dict is the function's own, and could be written to."""
    raise NotDifferentiableError(
        "There is no rule in forward mode for the attribute __kwdefaults__ of a function",
        fixes=("make the default a variable, and read that",),
        read="limitations#attributes",
    )


def stands_for(x, y):
    """Whether the tangent of a method or cached function is that of a value."""
    return carrier(x) is carrier(y) and not isinstance(x, types.FunctionType)


def refuse_attribute(name, y, place=None):
    """NotDifferentiableError for a function that a callable or container has for an attribute, such as
    `__wrapped__`: what it holds may vary, and nothing keeps the derivative of such an attribute.
    """
    if callable(y) and next(inside(y), None) is not None:
        raise NotDifferentiableError(
            f"The attribute {name} is a function that holds values, whose derivatives would be lost",
            place=place,
            fixes=("call the function by its own name",),
            read="limitations#attributes",
        )


class Behind:
    """What stands for a function that holds values in the attribute `__wrapped__`, by whatever way that is
    read: it has the function's name and signature, and cannot be called.
    """

    def __init__(self, function):
        self._function = function

    def __call__(self, *args, **words):
        refuse_attribute("__wrapped__", self._function)

    def __getattr__(self, name: str):
        if name in functools.WRAPPER_ASSIGNMENTS:
            return getattr(self._function, name)
        if name == "__signature__":  # where it says so, `inspect` looks no further
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
    """NotDifferentiableError for an attribute of what is no plain object, where its tangent is not known."""
    by_item = isinstance(x, (list, dict, deque))  # whose attributes are constants: a write would be refused
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
    """A method taken as a value: its tangent is that of its object."""
    return getattr(x, name), x_dot


def partial_method(x, x_dot, name):
    """A partial of a method, taken as a value: its tangent is that of a partial of which the object moves."""
    y = getattr(x, name)
    beside = types.SimpleNamespace(func=x_dot, args=no_tangents(len(y.args)), keywords=no_words(y.keywords))
    return y, beside


def entries(x, x_dot):
    """The tangents of the entries of a list or mapping, also where it has none."""
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


def sequence(push, x, x_dot, any_length, backwards):
    """What a loop runs over and its tangents, in step; of `any_length` where the loop may change it."""
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
    """A NoTangent for each item that there may be."""
    return itertools.repeat(NO)


def all_of(x):
    """The items of what can be gone through again, as a list."""
    if hasattr(x, "__next__"):
        raise NotDifferentiableError(
            f"The items of {an(type(x).__name__)} of constants cannot be known in advance",
            fixes=("convert it to a list first",),
            read="limitations#iteration",
        )
    return list(x)


TABLE.non_differentiable(endless, all_of, check_in_step)


def unpacked(push, x, x_dot):
    """A value whose items are taken by position, and their tangents."""
    if is_sequence(x) and not isinstance(x, deque):
        if is_none(x_dot):
            return x, no_tangents(len(x))
        return x, x_dot
    if is_none(x_dot):
        return push(list, NO, (x,), (NO,), (), None)
    items, items_dot = sequence(push, x, x_dot, False, False)
    return push(list, NO, (items,), (items_dot,), (), None)


def new_object(cls):
    """An object of a class before its `__init__`."""
    return cls.__new__(cls)


@TABLE.frule(new_object)
def new_object_frule(tangents, cls):
    """What will be written to it has its tangents beside it."""
    kind = kind_beside(cls)
    return new_object(cls), kind()


def kind_beside(cls):
    """The class of the tangents of new objects of a class."""
    kinds = (list, deque, OrderedDict, dict)
    return next((kind for kind in kinds if issubclass(cls, kind)), types.SimpleNamespace)


TABLE.non_differentiable(kind_beside)


def made_object(push, cls, args, dots, names):
    """An object of a class with an `__init__` in Python, or with none."""
    x = new_object(cls)
    x_dot = types.SimpleNamespace()
    if cls.__init__ is not object.__init__:
        push(cls.__init__, NO, (x, *args), (x_dot, *dots), names, None)
    return x, x_dot


def made_items(push, cls, base, args, dots, names):
    """An object of a class of lists, dicts or deques; beside it stands one of the class it inherits from."""
    x = new_object(cls)
    x_dot = base()
    push(cls.__init__, NO, (x, *args), (x_dot, *dots), names, None)
    return x, x_dot


def made_fields(push, cls, args, words, fields_dot):
    """An object of a dataclass, whose fields have these tangents."""
    x = cls(*args, **words)
    x_dot = types.SimpleNamespace(**fields_dot)
    for name in made_by_factory(cls, fields_dot):
        setattr(x_dot, name, new_zero(getattr(x, name)))
    return x, x_dot


def new_zero(x):
    """The zero tangent of a container that was just made, as one that was just made too."""
    if isinstance(x, list):
        return [zero_of(part) for part in x]
    if isinstance(x, dict):
        return {key: zero_of(part) for key, part in x.items()}
    return zero_of(x)


def of_namedtuple(name, x, x_dot, words, word_dots):
    """`x._replace(**words)` or `x._asdict()`"""
    if is_none(x_dot):
        x_dot = zero_part(x)
    if name == "_asdict":
        return x._asdict(**words), x_dot._asdict()
    return x._replace(**words), x_dot._replace(**{key: settled(words[key], word_dots[key]) for key in words})


def zero_part(x):
    return zero_kept(x)


def made_by_factory(cls, given):
    """The names of the fields that a factory has filled in."""
    missing = dataclasses.MISSING
    fields = [f for f in dataclasses.fields(cls) if f.default_factory is not missing]
    return [f.name for f in fields if f.name not in given]


def made_exception(cls, args, words):
    """An exception made of what varies, to be raised."""
    return cls(*args, **words), unread()


class Unread:
    """The tangent of an exception, which nobody keeps: what is read from the exception is refused."""


def unread():
    return Unread()


TABLE.non_differentiable(unread)


def made_super(cls, this, this_dot):
    """`super(cls, this)`, which stands for its object."""
    return super(cls, this), this_dot


TABLE.non_differentiable(made_by_factory, zero_part)


def made_from_items(push, cls, items, items_dot):
    """`cls._make(items)`: a NamedTuple of what has items."""
    given, given_dot = push(list, NO, (items,), (items_dot,), (), None)
    y = cls._make(given)
    return y, NO if is_none(given_dot) else cls._make(given_dot)


def check_namespace(given, place=None):
    """Python's own error for a SimpleNamespace that is given something by position, or
    NotDifferentiableError where Python takes a mapping.
    """
    types.SimpleNamespace(*given)
    raise NotDifferentiableError(
        "A SimpleNamespace is differentiated only if it is made from keywords",
        place=place,
        fixes=("types.SimpleNamespace(**mapping)",),
        read="limitations#attributes",
    )


def made_tuple(cls, args, words, fields_dot):
    """A NamedTuple."""
    return cls(*args, **words), cls(*fields_dot)


def operated(push, operator, rule, methods, args, dots, operands, operand_dots):
    """A binary operator by the methods of the author's classes, in Python's order; where these decline it is
    left to C, whose rule is `rule`.
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
    """The same of a number of NumPy's, which is Python's when a reflected method gets it."""
    left, left_dot = push(convert, NO, operands[:1], operand_dots[:1], (), None)
    args = tuple([(operands[1], left) if swapped else operands for swapped in orders])
    dots = tuple([(operand_dots[1], left_dot) if swapped else operand_dots for swapped in orders])
    return operated(push, operator, rule, methods, args, dots, operands, operand_dots)


def converted(push, method, kind, x, x_dot):
    """`float(x)` and the like by a method of the author's."""
    y, y_dot = push(method, NO, (x,), (x_dot,), (), None)
    check_converted(y, kind, x, method)
    return y, y_dot


def check_converted(y, kind, x, method):
    """Python's own error where a conversion gives something of another kind."""
    if not isinstance(y, kind):
        raise TypeError(
            f"{type(x).__name__}.{method.__name__} returned non-{kind.__name__} (type {type(y).__name__})"
        )


TABLE.non_differentiable(check_converted)


def called_attribute(push, owner, owner_dot, name, args, dots, names):
    """`owner.name(...)` where `owner.name` is a value of its own."""
    function, function_dot = push(getattr, NO, (owner, name), (owner_dot, NO), (), None)
    return push(function, function_dot, args, dots, names, None)


class Stated:
    """An author's rule and the function that it is for, as `turned` is given them: constants."""

    __slots__ = ("function", "rule", "target")

    def __init__(self, rule, target):
        self.rule, self.target, self.function = rule, target, rule.function


def with_others_still(rule, target, names, dots, given, words):
    """What a forward rule gives that has no use for the tangents `dots` of the arguments `names`."""
    check_still(target, names, dots)
    return rule(*given, **words)


def stands_still(x_dot):
    """Whether a tangent is zero: that of an array, or of what lists, tuples and dicts hold."""
    if isinstance(x_dot, AbstractZero):
        return True
    if isinstance(x_dot, (list, tuple, dict)):
        return all(map(stands_still, x_dot.values() if isinstance(x_dot, dict) else x_dot))
    return not np.any(x_dot)


def check_still(target, names, dots):
    """NotDifferentiableError unless these arguments stand still, at every order that is asked for."""
    for name, x_dot in zip(names, dots, strict=True):
        if not stands_still(x_dot):
            raise NotDifferentiableError(
                f"The rule of {target} gives no derivative for its argument {name}",
                fixes=(
                    f"rl.ignore_derivatives({name}) if it is a constant",
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


def turned(vjp, stated, leading, args, dots, words):
    """The pushforward of a rule that has a pullback alone: for a real number y it is J v = <J' 1, v>."""
    answer = stated.function(*leading, *args, **words)
    check_answer(stated, answer)
    y, pullback = answer
    unit = unit_of(y)
    if unit is not None:
        return y, paired(stated, args, dots, pullback(unit))
    return y, turned_round(vjp, stated, leading, args, dots, words, y, pullback)


def turned_round(vjp, stated, leading, args, dots, words, y, pullback):
    """J v where the value y is no real number.

    A pullback is linear over the real numbers alone, so of a complex number it is <J' 1, v> + i <J' i, v>.
    Else J v is the derivative of <J' w, v> by w, the numbers in the cotangent of y.
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
    """RuleError unless a pullback that does not look at its cotangent gives zeros: of a linear map nothing
    else comes of zero.
    """
    if along_ones != 0:
        raise RuleError(
            f"The pullback of {stated.rule.target_name} ignores its cotangent, and returns others than zero",
            fixes=("multiply each cotangent that it returns by the one that it is given",),
            place=stated.rule.place,
            read="howto/write-a-rule",
        )


def check_answer(stated, answer):
    """RuleError unless a rule returned a value and its pullback."""
    check_pair(stated.rule, answer)


def unit_of(y):
    """The cotangent 1 of a real number; None for anything else."""
    if type(y) is float:
        return 1.0
    return number_type(y)(1.0) if is_number(y) and not np.iscomplexobj(y) else None


TABLE.non_differentiable(check_answer, check_zero, unit_of, leaves_of, is_number, number_type)


def paired(stated, args, dots, bars):
    """<x̄, ẋ> over the arguments, a real number: of what a pullback returned, checked and projected as in
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
    """The gradient by the one is the other; a projection is its own transpose."""
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
    """The tangent of a pullback `x_bar = J' y_bar`: J' of the tangent of y_bar, and the derivative of
    <y_bar, J v> by x, where v is the tangent of x and of the keyword arguments.
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
        again, y_dot = push(f, f_dot, (*xs, *values), all_dots, names, None)
        check_run(run, again)  # the very run that gives the second derivative
        return y_dot

    y_bar = plain_seed(seed, y, f, args)
    y_dot, bars = vjp(along, args, y_bar)
    if is_none(f_dot) and is_none(words_dot):
        check_slope(run, x_bars[1:] if vjp.own else x_bars, dots, y_bar, y_dot)
    second = moving(bars)
    if vjp.own:  # what `along` holds is f, among others
        second = (part_at(second[0], "f"), *second[1:])
    if is_none(seed_dot):
        return (y, x_bars), (y_dot, second)
    first = moving(vjp(f, args, seed_dot, words)[1])
    return (y, x_bars), (y_dot, tuple([added(first[k], second[k]) for k in range(len(first))]))


def names_of(words):
    """The names of keyword arguments."""
    return tuple(words or ())


def run_of(f, args, words, y):
    """What is remembered of a run, to hold the next one against it."""
    return Run(f, args, words, y)


def check_run(run, again):
    """NotDifferentiableError where the next run gave something else."""
    run.check_value(again)


def check_slope(run, x_bars, dots, seed, y_dot):
    """NotDifferentiableError where the next run had another derivative."""
    run.check_slope(x_bars, dots, seed, y_dot)


TABLE.non_differentiable(names_of, run_of, check_run, check_slope)


def plain_seed(seed, y, f, args):
    """The cotangent itself, where what was given is how to make it."""
    if is_seed(seed):
        return seeded(seed, y, f, args)
    return seed


def seeded(seed, y, f, args):
    return seed(y, f, args)


def is_seed(seed):
    return isinstance(seed, Seed)


class Seed:
    """The cotangent of a value that depends on nothing but its kind."""

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
    """An object of a dataclass with a `__post_init__`."""
    x, passed = before_post_init(cls, args, words)
    x_dot = types.SimpleNamespace(**{name: d for name, d in fields_dot.items() if name not in passed})
    for name in made_by_factory(cls, fields_dot):
        setattr(x_dot, name, new_zero(getattr(x, name)))
    given_dot = [fields_dot.get(name, NO) for name in passed]
    push(cls.__post_init__, NO, (x, *passed.values()), (x_dot, *given_dot), (), None)
    return x, x_dot


def before_post_init(cls, args, words):
    """What the generated `__init__` of a dataclass makes before it calls `__post_init__`, and what it passes
    on to that.
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
    """`left op= right` of an array, done on its tangent too."""
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
    """NumPy's own error where the dtype of the result is not one that `left` takes: `left op right` has none,
    or another.
    """
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
            out_dot[...] = np.reshape(y_dot, np.shape(out_dot))  # `a.cumsum(out=b)` takes any shape
        else:
            out_dot[...] = y_dot
    return y, out_dot


def constant_into_out(function, given, words, out, out_dot):
    """The same of a function without a derivative. It runs once: a draw is another the second time."""
    if is_none(out_dot):
        check_untracked(out)
    y = function(*given, **words)
    if not is_none(out_dot):
        out_dot[...] = 0.0
    return y, out_dot


def _parts_of_caught(x):
    """What an exception carries, a group of them too, and what is in its containers."""
    if isinstance(x, BaseException):
        return (*x.args, *vars(x).values())
    return x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple, set, deque)) else ()


def check_caught(error):
    """NotDifferentiableError for an exception that carries numbers, whose tangents nobody keeps."""
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
    """The error for a varying value that is written where its tangent would be lost."""
    return MutationError(
        "Something that varies is written to an array whose tangent is not tracked: a global or captured one",
        fixes=("create the array inside the function", "pass it as an argument"),
    )


def refuse_lost(name, x_dot):
    """NotDifferentiableError where a value that varies is put in a variable whose tangent nobody keeps."""
    if not is_zero(x_dot):
        raise NotDifferentiableError(
            f"The variable {name}, of a function called with constants, is given a value that varies",
            fixes=("keep what changes in a list or an object",),
            read="limitations#syntax",
        )


def key_asked_once(key):
    """`key` in `x[key]`, where x is an array or a sequence, with what the objects in it stand for: they
    would be asked again for the tangent, and might answer something else then.
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
    """Whether `owner[key]` makes an integer of an object; a dict looks for the object itself."""
    kind = type(owner)
    return isinstance(owner, _SEQUENCES) and not isinstance(
        getattr(kind, "__getitem__", None), types.FunctionType
    )


_SEQUENCES = (np.ndarray, np.generic, list, tuple, deque, str, range, bytes, bytearray, memoryview)


def slice_of(owner, lower, upper, step):
    """`lower:upper:step` in `owner[...]`, with the positions that objects among them stand for."""
    made = slice(lower, upper, step)
    if type(lower) in _ENDS and type(upper) in _ENDS and type(step) in _ENDS:
        return made
    return key_asked_once(made) if takes_positions(owner) else made


_ENDS = (int, type(None))


def refuse_moved_slice(owner, key, name="__getitem__"):
    """NotDifferentiableError where a class of Python code gets a slice that a number that varies bounds: the
    item may be made of the number, and a slice has no tangent.
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
    """What a function and its arguments reach, as it is now."""
    return Moment(f, args, arrays=True)


def check_unchanged(moment, f):
    """NotDifferentiableError where a pullback would have to run a function under other circumstances."""
    if moment.changed():
        raise NotDifferentiableError(
            f"What {getattr(f, '__name__', 'the function')} depends on was changed after its pullback was "
            "made",
            fixes=("call the pullback before the change", "pass a copy to the function"),
            read="limitations#second-derivatives",
        )


def check_same(moment, run, again):
    """NotDifferentiableError where a function gives something else each time it runs."""
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
    """The tangent of a captured variable; where that may be rebound, its cell is passed on."""
    return x_dot.cell_contents if isinstance(x_dot, types.CellType) else x_dot


@stated_by(content_of)
def _kind_of_content(x_dot):
    """A number's or an array's is its own; what else it may be is read at run time."""
    return x_dot.kind if is_real(x_dot.kind) or isinstance(x_dot.kind, Array) else ANY


@TABLE.frule(content_of)
def content_of_frule(tangents, x_dot):
    return content_of(x_dot), content_of(tangents[1])


def cached(push, function, x, x_dot, name):
    """A cached property: its first read works it out and keeps it with its tangent. One that was kept before
    has no tangent yet; it must be what the function gives now.
    """
    if is_kept(x, name) and is_kept(x_dot, name):
        return getattr(x, name), getattr(x_dot, name)
    y, y_dot = push(function, NO, (x,), (x_dot,), (), None)
    if is_kept(x, name):
        check_same_result(x, name, y)
    else:
        object.__setattr__(x, name, y)  # as Python does, past the class's own __setattr__
    setattr(x_dot, name, y_dot)
    return y, y_dot


def is_kept(x, name):
    """Whether an object itself has an attribute, not its class alone."""
    return name in getattr(x, "__dict__", ())


def check_same_result(x, name, y, place=None):
    """NotDifferentiableError unless what a cached property has kept is what its function gives now, `y`."""
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


TABLE.non_differentiable(is_kept, check_same_result)
only_look(check_answer, check_run)


for _program in (push_all, sequence, unpacked):
    vars(_program)["gives_pair"] = True
