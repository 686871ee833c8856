"""Making objects of the author's classes: plain ones by their `__init__`, dataclasses and NamedTuples by
their fields.

What a class generates for itself has no source, so its meaning is written out here; code of the author's in
it (`__init__`, `__post_init__`) goes through the same question as every call.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import NotDifferentiableError, Place
from ..rules.programs import refuse_attribute
from ..tangents.structural import is_namedtuple, make
from ..tangents.zeros import AbstractZero
from . import containers, heap, hidden, outlines, support
from .handlers import NO, ZERO, Handler
from .libraries import is_of_library
from .protocols import is_author_class

if TYPE_CHECKING:
    from .pullbacks import Pullbacks


def constructor(
    pullbacks: Pullbacks, cls: type, active: tuple[bool, ...], place: Place | None
) -> Handler | None:
    """What makes an object of the class and gives its pullback; None for a class that C code makes."""
    if type(cls).__call__ is not type.__call__:
        return None
    if cls in heap.KINDS:
        return heap.KINDS[cls].make
    if is_namedtuple(cls) and is_generated(cls.__new__) and cls.__init__ is object.__init__:  # type: ignore[misc]
        return functools.partial(_make_namedtuple, cls)
    if cls in _CONTAINERS:
        return functools.partial(_make_container, pullbacks, cls, place)
    if cls is set:
        return functools.partial(_make_set, active)
    if cls is types.SimpleNamespace:
        return _make_namespace
    if container_base(cls) is not None:
        return functools.partial(_make_items, pullbacks, cls, active, place)
    if cls.__new__ not in _PLAIN_NEW:
        return None
    if dataclasses.is_dataclass(cls) and is_generated(cls.__init__):
        return functools.partial(_make_dataclass, pullbacks, cls, place)
    init = cls.__init__  # type: ignore[misc]
    if init is object.__init__ or (isinstance(init, types.FunctionType) and pullbacks.may_compile(init)):
        return functools.partial(_make_object, pullbacks, cls, active, place)
    return None


def make_plain(
    pullbacks: Pullbacks, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any], place: Any
) -> Any:
    """An object of the class where no cotangent is wanted; its attributes may be written from then on."""
    init = cls.__init__  # type: ignore[misc]
    if container_base(cls) is not None:
        x = heap.own(cls.__new__(cls), False)  # type: ignore[call-overload]
        pullbacks.run_plain(init, (x, *args), kwargs, (False,) * (1 + len(args) + len(kwargs)), place)
        return x
    if cls.__new__ not in _PLAIN_NEW or not isinstance(init, types.FunctionType) or is_generated(init):
        x = heap.own(cls(*args, **kwargs), False)
        if dataclasses.is_dataclass(cls):
            _own_defaults(cls, x, len(args), kwargs)
        return x
    x = heap.own(cls.__new__(cls), False)  # type: ignore[call-overload]
    pullbacks.run_plain(init, (x, *args), kwargs, (False,) * (2 + len(args) + len(kwargs)), place)
    return x


def _own_defaults(cls: type, x: Any, count: int, kwargs: dict[str, Any]) -> None:
    """Note the containers that the factories of a dataclass have made for a new object."""
    for number, field in enumerate(f for f in dataclasses.fields(cls) if f.init):
        if field.default_factory is not dataclasses.MISSING and number >= count and field.name not in kwargs:
            made = getattr(x, field.name)
            if isinstance(made, (list, dict, set, collections.deque)):
                heap.own(made, False)


def is_authors(cls: Any) -> bool:
    """Whether the objects of a class are made of its arguments alone and keep them in sight."""
    if isinstance(cls, type) and is_namedtuple(cls) and is_generated(cls.__new__):
        return True
    return (
        isinstance(cls, type)
        and type(cls).__call__ is type.__call__
        and not issubclass(cls, (BaseException, tuple, int, float, str))
        and (cls in _MADE_WHOLE or cls.__new__ in _PLAIN_NEW)
        and (cls in _MADE_WHOLE or cls.__module__ not in ("builtins", "numpy"))
    )


def container_base(cls: type) -> type | None:
    """The class of Python's own that a class of lists, dicts, deques or sets inherits from; None for a class
    of anything else, and for one that says itself what is in it.
    """
    if not (is_author_class(cls) and (cls is collections.Counter or not is_of_library(cls))):
        return None
    base = next((base for base in _INHERITED if issubclass(cls, base)), None)
    if base is None or cls.__new__ is not base.__new__ or issubclass(cls, collections.defaultdict):
        return None
    kinds = cls.__mro__[: cls.__mro__.index(base)]
    said = {name for kind in kinds if kind is not collections.Counter for name in vars(kind)}
    return None if said & set(_SAYS_ITSELF) else base


def keeps_in_sight(cls: Any) -> bool:
    """Whether the objects of a class hold what they are given where it can be followed."""
    return is_authors(cls) or (isinstance(cls, type) and container_base(cls) is not None)


_INHERITED = (list, collections.deque, collections.OrderedDict, dict, set)
_SAYS_ITSELF = (
    *("__len__", "__iter__", "__contains__", "__getattribute__"),
    *("__getitem__", "__setitem__", "__delitem__"),
)


def is_opaque(cls: type) -> bool:
    """Whether the objects of a library's class keep what they hold to themselves."""
    if cls in _CONTAINERS or cls in heap.KINDS or cls.__module__.lstrip("_") in _HANDING_OUT:
        return False
    return is_of_library(cls)


# Modules with classes whose objects hand out the very things they were given.
_HANDING_OUT = frozenset(
    {"builtins", "collections", "contextlib", "functools", "itertools", "operator", "queue", "types"}
    | {"weakref"}
)


def is_generated(function: Any) -> bool:
    """Whether a method was written by `dataclass` or `namedtuple`, not by an author."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(("<string>", "<dataclass"))


# --- plain classes ------------------------------------------------------------------------------------------


def _make_object(
    pullbacks: Pullbacks,
    cls: type,
    active: tuple[bool, ...],
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    x = heap.own(cls.__new__(cls, *(() if cls.__init__ is not object.__init__ else args)), True)  # type: ignore[misc]
    initial = _no_init if cls.__init__ is object.__init__ else None  # type: ignore[misc]
    flags = (False, True, *active[1:])
    run = initial or pullbacks.find_target(cls.__init__, (x, *args), kwargs, flags, place)  # type: ignore[misc]
    nothing, pullback = run(x, *args, **kwargs)
    if nothing is not None:
        raise TypeError(f"__init__() should return None, not '{type(nothing).__name__}'")

    def back(x_bar: Any) -> Any:
        _spread(x, x_bar)
        got = ZERO if heap.is_idle(pullback, ZERO) else pullback(ZERO)
        _refuse_leftover(cls, heap.take_all(x), place)
        return got if isinstance(got, AbstractZero) else (NO, *tuple(got)[2:])

    return x, heap.effectful(back)


def _no_init(x: Any) -> Any:
    return None, lambda _: (NO, ZERO)


def _spread(x: Any, x_bar: Any) -> None:
    """What is said of an object as a whole goes to its attributes."""
    outlines.hand_in((x, {}), x_bar)


def _refuse_leftover(cls: type, left: dict[Any, Any], place: Place | None) -> None:
    """An attribute that nobody seems to have written and that is not the class's has lost its cotangent."""
    for name in left:
        if not hasattr(cls, str(name)):
            raise NotDifferentiableError(
                f"The attribute {name} of a {cls.__name__} was set where that cannot be followed",
                place=place,
                fixes=(f"set it by self.{name} = ...",),
                read="limitations#attributes",
            )


def _make_items(
    pullbacks: Pullbacks,
    cls: type,
    active: tuple[bool, ...],
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """An object of an author's class of lists, dicts, deques or sets."""
    x = heap.own(cls.__new__(cls), not issubclass(cls, set))  # type: ignore[call-overload]
    flags = (False, True, *active[1:])
    init = cls.__init__  # type: ignore[misc]
    if init is set.__init__:
        refuse_in_set([x for x, on in zip(args, active[1:]) if on], place)
        set.__init__(x, *args)
        return x, _nothing
    nothing, pullback = pullbacks.find_target(init, (x, *args), kwargs, flags, place)(x, *args, **kwargs)
    if nothing is not None:
        raise TypeError(f"__init__() should return None, not '{type(nothing).__name__}'")

    def back(x_bar: Any) -> Any:
        _spread(x, x_bar)
        got = ZERO if heap.is_idle(pullback, ZERO) else pullback(ZERO)
        return got if isinstance(got, AbstractZero) else (NO, *tuple(got)[2:])

    return x, heap.effectful(back)


# --- dataclasses and NamedTuples ----------------------------------------------------------------------------


def _make_dataclass(
    pullbacks: Pullbacks, cls: type, place: Place | None, /, *args: Any, **kwargs: Any
) -> Any:
    given = inspect.signature(cls).bind(*args, **kwargs).arguments
    x = heap.own(object.__new__(cls), True)
    for field in dataclasses.fields(cls):
        if field.init and field.name in given:
            object.__setattr__(x, field.name, given[field.name])
        elif field.default_factory is not dataclasses.MISSING:
            made = field.default_factory()
            if pullbacks.implicit:
                hidden.refuse_reading(f"the field {field.name}", (field.default_factory, made), place)
            object.__setattr__(x, field.name, _owned_if_container(made))
        elif field.default is not dataclasses.MISSING and (field.init or "__slots__" in vars(cls)):
            object.__setattr__(x, field.name, field.default)
    names = {field.name for field in dataclasses.fields(cls)}
    passed = {name: _value(cls, given, name) for name in _init_only(cls) if name not in names}
    post = getattr(cls, "__post_init__", None)
    run = _no_init if post is None else None
    values = (x, *passed.values())
    handler = run or pullbacks.find_target(post, values, {}, (False, *(True,) * len(values)), place)
    _, pullback = handler(*values)
    count = len(args)

    def back(x_bar: Any) -> Any:
        _spread(x, x_bar)
        got = ZERO if heap.is_idle(pullback, ZERO) else pullback(ZERO)
        only = {name: got[2 + k] for k, name in enumerate(passed)}
        left = heap.take_all(x)
        bars = {name: only[name] if name in only else left.pop(name, ZERO) for name in given}
        positional = list(given)[:count]
        _refuse_leftover(cls, {k: v for k, v in left.items() if k not in names}, place)
        return (NO, *(bars[name] for name in positional), *(bars[name] for name in kwargs))

    return x, heap.effectful(back)


def _owned_if_container(made: Any) -> Any:
    return heap.own(made, True) if isinstance(made, (list, dict, collections.deque)) else made


def _init_only(cls: type) -> list[str]:
    """The names of the pseudo-fields that only `__post_init__` gets, in order."""
    kinds = getattr(cls, "__dataclass_fields__", {})
    return [name for name, field in kinds.items() if field._field_type is dataclasses._FIELD_INITVAR]  # type: ignore[attr-defined]


def _value(cls: type, given: dict[str, Any], name: str) -> Any:
    return given[name] if name in given else getattr(cls, name)


def _make_namedtuple(cls: type, /, *args: Any, **kwargs: Any) -> Any:
    y = cls(*args, **kwargs)
    fields = cls._fields  # type: ignore[attr-defined]

    def back(y_bar: Any) -> Any:
        bars = {name: support.part(y_bar, name) for name in fields}
        return (NO, *(bars[name] for name in fields[: len(args)]), *(bars[name] for name in kwargs))

    return y, back


def copier(pullbacks: Pullbacks, target: Any, args: tuple[Any, ...], place: Place | None) -> Handler | None:
    """What answers for `dataclasses.replace(x, name=value)`, `x._replace(name=value)`, `Kind._make(xs)`."""
    if len(args) == 2 and isinstance(args[0], type) and is_namedtuple(args[0]):
        return _make_from_items if target is args[0]._make.__func__ else None  # type: ignore[attr-defined]
    if len(args) != 1:
        return None
    if target is dataclasses.replace and is_generated(getattr(type(args[0]), "__init__", None)):
        return functools.partial(_replace_fields, pullbacks, place)
    if is_namedtuple(type(args[0])) and target is getattr(type(args[0]), "_replace", None):
        return _replace_items
    return None


def _replace_fields(pullbacks: Pullbacks, place: Place | None, x: Any, /, **changes: Any) -> Any:
    cls, own = type(x), heap.is_own(x)
    kept = [f.name for f in dataclasses.fields(cls) if f.init and f.name not in changes]
    read = [containers.read_attribute(x, name) if own else (getattr(x, name), None) for name in kept]
    values = {name: value for name, (value, _) in zip(kept, read)}
    dataclasses.replace(x, **changes)  # raises Python's own errors
    y, pullback = _make_dataclass(pullbacks, cls, place, **values, **changes)

    def back(y_bar: Any) -> Any:
        got = dict(zip([*values, *changes], tuple(pullback(y_bar))[1:]))
        for name, (_, of_field) in zip(kept, read):
            if of_field is not None:
                of_field(got[name])
        x_bar = ZERO if own else make(cls, {name: got[name] for name in kept})
        return (NO, x_bar, *(got[name] for name in changes))

    return y, heap.effectful(back)


def _replace_items(x: Any, /, **changes: Any) -> Any:
    cls = type(x)

    def back(y_bar: Any) -> Any:
        bars = {name: support.part(y_bar, name) for name in cls._fields}
        kept = {name: bar for name, bar in bars.items() if name not in changes}
        return (NO, make(cls, kept), *(bars[name] for name in changes))

    return x._replace(**changes), back


def _make_from_items(cls: Any, items: Any) -> Any:
    given = containers.Given(items)

    def back(y_bar: Any) -> Any:
        return NO, NO, given.cotangent([support.part(y_bar, name) for name in cls._fields])

    return cls._make(given.items), back


# --- containers of the standard library ---------------------------------------------------------------------

_CONTAINERS = (collections.deque, collections.defaultdict, collections.OrderedDict)
_MADE_WHOLE = (*_CONTAINERS, types.SimpleNamespace)  # classes of C whose objects hold what they are given
_PLAIN_NEW = (object.__new__, typing.Generic.__new__)  # those that make an object and do nothing with it


def _make_container(
    pullbacks: Pullbacks, cls: Callable[..., Any], place: Place | None, /, *args: Any, **kwargs: Any
) -> Any:
    """A deque, defaultdict or OrderedDict, empty or filled from a list or dict."""
    source = args[-1] if args and (len(args) == 2 or cls is not collections.defaultdict) else None
    if cls is collections.deque:
        return _make_deque(*args, **kwargs)
    where = outlines.outline(source)
    y = heap.own(cls(*args, **kwargs), True)
    if not isinstance(source, dict | None) or not set(kwargs).isdisjoint(source or ()):
        raise NotDifferentiableError(
            f"A {type(y).__name__} is differentiated if it is made empty or from a dict",
            place=place,
            fixes=("make it empty and fill it",),
            read="limitations#iteration",
        )
    if cls is collections.defaultdict and y.default_factory is not None:
        heap.made_by(y, functools.partial(_made_entry, pullbacks, y, y.default_factory, place))

    def back(y_bar: Any) -> Any:
        outlines.hand_in((y, {}), y_bar)
        left = heap.take_all(y)
        found: Any = ZERO
        if source:
            bars = {key: left[key] for key in source if key in left}
            found = outlines.hand_in(where, support.make(dict, bars))
        made = left.get(heap.FACTORY, ZERO)
        return (NO, *(found if x is source else made for x in args), *(left.get(k, ZERO) for k in kwargs))

    return y, heap.effectful(back)


def _made_entry(
    pullbacks: Pullbacks, y: collections.defaultdict[Any, Any], factory: Any, place: Place | None
) -> Any:
    """The entry of a defaultdict and its pullback, which ends in the factory that the dict was made with."""
    if y.default_factory is not factory:
        refuse_attribute("default_factory", y.default_factory, place)
    return _entry(pullbacks, y.default_factory, place)


def _entry(pullbacks: Pullbacks, factory: Any, place: Place | None) -> Any:
    """The entry that a defaultdict's factory makes, and its pullback."""
    if isinstance(factory, type) and factory.__module__ == "builtins":
        y = factory()
        return heap.own(y, type(y) is not set) if isinstance(y, (list, dict, set)) else y, _nothing
    return pullbacks.find(factory, (), {}, (True,), place)()


def _nothing(y_bar: Any) -> Any:
    return NO


def _make_deque(*args: Any, **kwargs: Any) -> Any:
    source = args[0] if args else kwargs.get("iterable")
    items = containers.Given(source if source is not None else ())
    most = args[1] if len(args) > 1 else kwargs.get("maxlen")
    y = heap.own(collections.deque(items.items, most), True)
    size = len(y)
    dropped = len(items) - size  # the first ones, where `maxlen` is less

    def back(y_bar: Any) -> Any:
        outlines.hand_in((y, {}), y_bar)
        left = heap.take_all(y)
        bars = [ZERO] * dropped + [left.get(key, ZERO) for key in range(size)]
        found = items.cotangent(bars) if source is not None else NO
        return (NO, *(found if x is source else NO for x in (*args, *kwargs.values())))

    return y, heap.effectful(back)


def _make_set(active: tuple[bool, ...], *args: Any) -> Any:
    """A set, of what loses no cotangent in it."""
    refuse_in_set([x for x, on in zip(args, active[1:]) if on], None)
    return heap.own(set(*args), False), _nothing


def refuse_in_set(items: list[Any], place: Place | None) -> None:
    """NotDifferentiableError for items that would lose their cotangents in a set."""
    if not all(map(containers.may_be_in_set, items)):
        raise NotDifferentiableError(
            "The items of a set cannot be differentiated: equal ones are one",
            place=place,
            fixes=("make a list of them",),
            read="limitations#iteration",
        )


def _make_namespace(**kwargs: Any) -> Any:
    y = heap.own(types.SimpleNamespace(**kwargs), True)

    def back(y_bar: Any) -> Any:
        _spread(y, y_bar)
        left = heap.take_all(y)
        return (NO, *(left.get(name, ZERO) for name in kwargs))

    return y, heap.effectful(back)
