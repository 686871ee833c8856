"""What kind of attribute `x.name` is, judged by the class of `x`, and the handler or program for it."""

from __future__ import annotations

import enum
import functools
import types
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError, Place, an
from ...rules import programs
from ...rules.programs import refuse_attribute
from ...rules.registry import Found, Registry
from ...rules.rule import Rule
from ...rules.signatures import types_of
from ...tangents.algebra import is_number
from ...tangents.holding import CACHED, carrier, cells_of, defaults_of, keyword_defaults_of
from ...tangents.missing import NotImplementedTangent
from ...tangents.projection import FieldGradients
from ...tangents.shadows import kind_of
from ...tangents.structural import is_sequence, make, one_part
from ...tangents.zeros import AbstractZero
from ..base.classes import in_class, written_in_python
from ..base.question import Question
from ..implicit import hidden
from ..memory import containers, heap, support
from ..memory.handlers import (
    NO,
    Handler,
    Uncached,
    attribute_of,
    imaginary_part,
    is_bound_to,
    method_of,
    real_part,
    rearranged,
)
from ..memory.operands import carries, describe
from .call import here
from .templates import ARGS, SELF, Forward, Program, Raw, Ref, arg, build, constant_program, dot, varies


class Kind(enum.Enum):
    """What `x.name` is."""

    RULED = "of an array, by the rule of its descriptor"
    CONSTANT = "the same for all objects of the class or whatever the value, or nothing: Python says so"
    PART = "the real or imaginary part of a number"
    UNKNOWN = "of a number or an array, without a rule"
    NAMESPACE = "of a module or class, which hands out what it has under the name"
    DICT = "the dict of an object"
    OF_FUNCTION = "of a function: its defaults, its closure, or its name and the like"
    CARRIED = "what a method or cached function carries"
    FACTORY = "the factory of a defaultdict"
    COMPUTED = "of a class with a __getattribute__"
    CALLED = "what a function gives: of a property, a descriptor in Python, a __getattr__"
    PARTIAL_METHOD = "of a functools.partialmethod"
    CACHED = "of a cached property"
    METHOD = "a method"
    FIELD = "a part of the object"


def what_is(registry: Registry, x: Any, name: str) -> tuple[Kind, Any]:
    """What `x.name` is, and what the class defines under that name where it matters. For `Kind.CALLED` that
    is the function to call and templates of its arguments, with `x` as argument 0.
    """
    kind = type(x)
    if _is_plain_field(x, kind, name):
        return Kind.FIELD, None
    if isinstance(x, (types.ModuleType, type)):
        return Kind.NAMESPACE, None
    if isinstance(x, (np.ndarray, np.generic)) or is_number(x):
        return _of_number(registry, x, name)
    if name == "__dict__":
        return Kind.DICT, None
    if isinstance(x, super):
        found = behind(x, name)
        if isinstance(found, property) and found.fget is not None:
            return Kind.CALLED, (found.fget, (Ref((ARGS, 0, SELF)),))
        return (Kind.METHOD if _is_method(found) else Kind.CONSTANT), None
    if isinstance(x, types.FunctionType):
        return Kind.OF_FUNCTION, None
    if name == "__func__" and isinstance(x, types.MethodType):
        behind_it = x.__func__  # the function in the class holds nothing that a derivative follows
        of_class = getattr(type(x.__self__), behind_it.__name__, None) is behind_it
        return (Kind.CONSTANT if of_class or isinstance(x.__self__, type) else Kind.FIELD), None
    if name in _CARRYING and carrier(x) is not x:
        return Kind.CARRIED, None
    if name == "default_factory" and isinstance(x, defaultdict):
        return Kind.FACTORY, None
    if isinstance(kind.__getattribute__, types.FunctionType):
        return Kind.COMPUTED, None
    return _of_object(x, kind, name)


def _is_plain_field(x: Any, kind: type, name: str) -> bool:
    """Whether an attribute is certainly the object's own: a fast path for by far the most common case."""
    return (
        kind.__getattribute__ is object.__getattribute__
        and in_class(kind, name) is None  # `hasattr` would run a descriptor, which may raise on the class
        and not hasattr(kind, "__float__")  # numbers and arrays; complex ones have the other
        and not hasattr(kind, "__complex__")
        and kind is not types.FunctionType
        and name not in _CARRYING
        and name in getattr(x, "__dict__", ())
    )


def is_plain_field(args: tuple[Any, ...], dots: tuple[Any, ...], names: tuple[str, ...]) -> bool:
    """Whether `getattr(x, name)`, with `x` varying, certainly reads a part of an object."""
    if len(args) != 2 or names or type(args[1]) is not str or not varies(args[0], dots[0]):
        return False
    return _is_plain_field(args[0], type(args[0]), args[1]) and not isinstance(args[0], programs.WITH_PARTS)


_CARRYING = ("__self__", "__wrapped__")


def _of_number(registry: Registry, x: Any, name: str) -> tuple[Kind, Any]:
    """`what_is` for a number or an array."""
    found = getattr(type(x), name, None)
    entry = registry.entry(found) if isinstance(found, types.GetSetDescriptorType) else None
    if entry is not None:  # the shape and dtype of a NumPy scalar do not depend on its value
        stated = entry.built_in if isinstance(x, np.generic) else ()
        rules = [rule for rule in stated if isinstance(rule, Rule)]
        fixed = rules and not any(rule.differentiable for rule in rules)
        return (Kind.CONSTANT if fixed else Kind.RULED), found
    if name in ("real", "imag") and is_number(x):
        return Kind.PART, None
    if callable(found):
        return Kind.METHOD, found
    if found is not None and not hasattr(type(found), "__get__") and name not in getattr(x, "__dict__", ()):
        return Kind.CONSTANT, None
    return (Kind.UNKNOWN if hasattr(x, name) else Kind.CONSTANT), None


def _of_object(x: Any, kind: type, name: str) -> tuple[Kind, Any]:
    """`what_is` for an object of any other class."""
    found = in_class(kind, name)
    in_instance = name in getattr(x, "__dict__", ())
    if found is None:
        if in_instance or kind is FieldGradients:
            return Kind.FIELD, None
        fallback = written_in_python(kind, "__getattr__")
        return (Kind.FIELD, None) if fallback is None else (Kind.CALLED, (fallback, (arg(0), name)))
    if found is _CLASS:
        return Kind.CONSTANT, None
    if isinstance(found, property):
        return (Kind.CONSTANT, None) if found.fget is None else (Kind.CALLED, (found.fget, (arg(0),)))
    if isinstance(found, functools.partialmethod):
        return Kind.PARTIAL_METHOD, found
    if isinstance(found, functools.cached_property):
        return Kind.CACHED, found
    getter = written_in_python(type(found), "__get__")
    if getter is not None and (hasattr(type(found), "__set__") or not in_instance):
        return Kind.CALLED, (getter, (found, arg(0), kind))
    if in_instance:
        return Kind.FIELD, found
    if _is_method(found):
        return Kind.METHOD, found
    return (Kind.FIELD if hasattr(type(found), "__get__") else Kind.CONSTANT), found


_CLASS = vars(object)["__class__"]


def behind(x: Any, name: str) -> Any:
    """What the classes that a `super()` searches define under a name; None if nothing."""
    kinds = x.__self_class__.__mro__
    kinds = kinds[kinds.index(x.__thisclass__) + 1 :]
    return next((cls.__dict__[name] for cls in kinds if name in cls.__dict__), None)


def _is_method(found: Any) -> bool:
    return callable(found) or isinstance(found, (staticmethod, classmethod))


# -- refusals ------------------------------------------------------------------------------------------------


def _refuse(what: Kind, x: Any, name: str, place: Place | None) -> None:
    """Raises NotDifferentiableError for an attribute that neither mode supports."""
    if what is Kind.UNKNOWN:
        raise _without_rule(x, name, place)
    if what is Kind.COMPUTED:
        raise NotDifferentiableError(
            f"The attributes of {an(type(x).__name__)}, which has a __getattribute__, are not differentiated",
            place=here(place)[0],
            fixes=("use __getattr__ or properties instead", "call a function"),
            read="limitations#attributes",
        )


def _without_rule(x: Any, name: str, place: Place | None) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"There is no rule for the attribute {name} of {describe(x)}",
        place=here(place)[0],
        read="limitations#attributes",
    )


# -- reverse -------------------------------------------------------------------------------------------------


def attribute_finder(pullbacks: Question, name: str, place: Place | None) -> Handler:
    """The function that finds the handler of `x.name` for each `x`."""
    registry, of_field = pullbacks.cache.registry, field(name)

    def find(x: Any) -> Handler:
        what, found = what_is(registry, x, name)
        if what is Kind.FIELD:
            return of_field
        _refuse(what, x, name, place)
        handler = _HANDLERS[what](pullbacks, x, name, found, place)
        return _refusing_second_way(handler, name, place) if has_second_way(x, what, found) else handler

    return find


def has_second_way(x: Any, what: Kind, found: Any) -> bool:
    """Whether Python calls a `__getattr__` of the author's where the attribute raises an AttributeError."""
    if what is not Kind.CALLED and what is not Kind.CACHED:
        return False
    fallback = written_in_python(type(x), "__getattr__")
    return fallback is not None and not (what is Kind.CALLED and found[0] is fallback)


def _refusing_second_way(handler: Handler, name: str, place: Place | None) -> Handler:
    def read(x: Any) -> Any:
        __tracebackhide__ = True
        try:
            return handler(x)
        except AttributeError:
            programs.refuse_second_way(x, name, place)

    return Uncached(read)


def _by_rule(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    answer = pullbacks.cache.ask(found, types_of((x,)))
    if not isinstance(answer, Found):
        raise _without_rule(x, name, place)
    return answer.rule.function if answer.rule.differentiable else _constant(pullbacks, x, name, found, place)


def _constant(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    return pullbacks.unseen(functools.partial(attribute_of, name))


def _part(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    return real_part if name == "real" else imaginary_part


def _dict(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    """The handler of `x.__dict__`; refused for an object made during this sweep, whose attributes may still
    be set.
    """
    if heap.is_own(x) or kind_of(x) != "object":
        raise NotDifferentiableError(
            f"The attributes of {an(type(x).__name__)} are not differentiated as a dict",
            place=place,
            fixes=("read them by their names",),
            read="limitations#attributes",
        )

    def read(x: Any) -> Any:
        y = getattr(x, name)
        return y, lambda y_bar: (NO, make(type(x), {key: support.part(y_bar, key) for key in y}))

    return Uncached(read)


def of_namespace(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    """The handler of an attribute of a module or class."""
    if pullbacks.implicit:
        hidden.refuse_computed(x, name, place)
    return _constant(pullbacks, x, name, found, place)


def _of_function(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    """The handler of an attribute of a function, whose parts are its captured variables and its defaults."""
    parts_in = _PARTS_OF_FUNCTIONS.get(name)
    if parts_in is None:
        if name in vars(x):
            refuse_attribute(name, vars(x)[name], place)
        return _constant(pullbacks, x, name, found, place)

    def read(x: Any) -> Any:
        return getattr(x, name), lambda y_bar: (NO, support.captured(**parts_in(x, y_bar)))

    return read


def _carried(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    return lambda x: (getattr(x, name), lambda y_bar: (NO, y_bar))


def _factory(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    refuse_attribute(name, x.default_factory, place)
    what, found = _of_object(x, type(x), name)
    return field(name) if what is Kind.FIELD else _HANDLERS[what](pullbacks, x, name, found, place)


def _called(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    """The handler of an attribute that a function computes; through a `super()`, the cotangent goes to the
    object behind it.
    """
    function, given = found
    if len(given) == 1 and not isinstance(x, super):
        return pullbacks.find(function, (x,), {}, (False, True), place)
    of_owner = tuple([type(part) is Ref for part in given])

    def read(x: Any) -> Any:
        __tracebackhide__ = True
        values = build(given, (None, NO, (x,)))
        y, back = pullbacks.find_target(function, values, {}, (False, *of_owner), place)(*values)
        return y, rearranged(back, lambda got: (NO, got[1 + of_owner.index(True)]))

    return read


def _partial_method(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    return lambda x: (getattr(x, name), lambda y_bar: (NO, support.part(y_bar, "func")))


def _cached(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    """The handler of a cached property: its function is differentiated at each read, and a value that is
    already cached must equal the result.

    An object made during this sweep caches the value, as it keeps any attribute that is set.
    """
    if heap.is_followed(x):
        if name in getattr(x, "__dict__", {}):
            return Uncached(lambda x: containers.read_attribute(x, name))
        return Uncached(functools.partial(_kept_from_now, pullbacks, found, name, place))
    inner = pullbacks.find(found.func, (x,), {}, (False, True), place)
    kept = getattr(x, "__dict__", {})

    def call(x: Any) -> Any:
        __tracebackhide__ = True
        y, back = inner(x)
        if name in kept:
            programs.check_same_result(x, name, y, place)
        return y, back

    return Uncached(call)


def _kept_from_now(pullbacks: Question, found: Any, name: str, place: Place | None, x: Any) -> Any:
    """The first read of a cached property on an object made during this sweep: compute, set and read it."""
    y, compute_back = pullbacks.find(found.func, (x,), {}, (False, True), place)(x)
    _, write_back = containers.set_attribute(x, name, y)  # like Python, bypasses the class's __setattr__
    _, read_back = containers.read_attribute(x, name)

    def back(y_bar: Any) -> Any:
        read_back(y_bar)
        y_bar = write_back(NO)[3]
        return NO if heap.is_idle(compute_back, y_bar) else compute_back(y_bar)

    return y, heap.effectful(back)


def _method(pullbacks: Question, x: Any, name: str, found: Any, place: Place | None) -> Handler:
    return functools.partial(method_of, name)


def field(name: str) -> Handler:
    """The handler of an attribute that is a part of its object."""

    def read(x: Any) -> Any:
        if heap.is_own(x):
            return containers.read_attribute(x, name)
        kind, y = type(x), getattr(x, name)
        if is_sequence(kind):
            return y, lambda y_bar: (NO, _beside_positions(kind, name, y, y_bar))
        return y, lambda y_bar: (NO, one_part(kind, None, name, y_bar))

    return read


def _beside_positions(kind: type, name: str, y: Any, y_bar: Any) -> Any:
    """The cotangent of a tuple or list from that of one of its attributes: none if the attribute is constant
    (such as `tm_year` of a date), else a NotImplementedTangent, since a tangent by position has no room for
    it.
    """
    if not carries(y) or isinstance(y_bar, AbstractZero):
        return NO
    whose = f"{an(kind.__name__)}, whose parts go by position"
    return NotImplementedTangent(f"by the attribute {name} of {whose}")


# For each such attribute of a function: the cotangents of what the function holds, by name.
_PARTS_OF_FUNCTIONS: dict[str, Callable[[types.FunctionType, Any], dict[str, Any]]] = {
    "__defaults__": lambda x, y_bar: {name: support.part(y_bar, k) for k, name in enumerate(defaults_of(x))},
    "__kwdefaults__": lambda x, y_bar: {name: support.part(y_bar, name) for name in keyword_defaults_of(x)},
    "__closure__": lambda x, y_bar: {
        name: support.part(support.part(y_bar, k), heap.CELL) for k, name in enumerate(cells_of(x))
    },
}
_HANDLERS: dict[Kind, Callable[[Question, Any, str, Any, Place | None], Handler]] = {
    Kind.RULED: _by_rule,
    Kind.CONSTANT: _constant,
    Kind.PART: _part,
    Kind.NAMESPACE: of_namespace,
    Kind.DICT: _dict,
    Kind.OF_FUNCTION: _of_function,
    Kind.CARRIED: _carried,
    Kind.FACTORY: _factory,
    Kind.CALLED: _called,
    Kind.PARTIAL_METHOD: _partial_method,
    Kind.CACHED: _cached,
    Kind.METHOD: _method,
}


# -- forward -------------------------------------------------------------------------------------------------


def pushed_forward(push: Forward, call: Raw) -> Program:
    """The program of `getattr(x, name)` when `x` varies."""
    x, name = call[ARGS]
    what, found = what_is(push.cache.registry, x, name)
    _refuse(what, x, name, None)
    if what is Kind.RULED:
        return _pushed_by_rule(push, call, found)
    if what is Kind.PART:
        return push.through(call, np.real if name == "real" else np.imag, (arg(0),), (dot(0),))
    if what is Kind.CALLED:
        function, given = found
        dots = tuple([dot(0) if type(x) is Ref else NO for x in given])
        if has_second_way(x, what, found):
            return Program(
                programs.read_beside_getattr, (push, function, given, dots, arg(0), name), trusted=True
            )
        return push.through(call, function, given, dots)
    if what is Kind.CACHED:
        also = has_second_way(x, what, found)
        return Program(programs.cached, (push, found.func, arg(0), dot(0), name, also), trusted=True)
    if what is Kind.FACTORY:
        return Program(programs.factory_of, (arg(0), dot(0)), trusted=True)
    if what in (Kind.CONSTANT, Kind.NAMESPACE):
        return constant_program(call)
    of_callable = isinstance(x, programs.WITH_PARTS) or (type(x) is CACHED and name == "__wrapped__")
    by_name = programs.part_of_callable if of_callable else _PROGRAMS[what]
    if by_name is programs.method and not is_bound_to(getattr(x, name), x):
        return constant_program(call)
    return Program(by_name, (arg(0), dot(0), name), trusted=True)


def _pushed_by_rule(push: Forward, call: Raw, found: Any) -> Program:
    x, name = call[ARGS]
    answer = push.cache.ask(found, types_of((x,)), push.config, "frule")
    if not isinstance(answer, Found):
        raise _without_rule(x, name, None)
    if not answer.rule.differentiable:
        return constant_program(call)
    return Program(answer.rule.function, ((NO, dot(0)), arg(0)))


_PROGRAMS = {
    Kind.OF_FUNCTION: programs.part_of_callable,
    Kind.DICT: programs.attribute,
    Kind.CARRIED: programs.part_of_callable,
    Kind.PARTIAL_METHOD: programs.partial_method,
    Kind.METHOD: programs.method,
    Kind.FIELD: programs.attribute,
}
