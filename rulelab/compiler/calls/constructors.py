"""Construction of objects of the author's classes: plain ones by their `__init__`, dataclasses and
NamedTuples by their fields.

Generated methods have no source, so their meaning is written out here; the author's own code in a class
(`__init__`, `__post_init__`) is answered like any other call.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from ...errors import An, NotDifferentiableError, Place, items_refused
from ...rules import programs
from ...rules.binding import Binder
from ...rules.programs import refuse_attribute
from ...rules.registry import Registry
from ...tangents.structural import is_namedtuple, make
from ...tangents.zeros import AbstractZero
from ..base.classes import (
    CONTAINER_BASES,
    CONTAINERS,
    PLAIN_NEW,
    container_base,
    in_class,
    is_authors,
    is_generated,
)
from ..base.libraries import compiled_function, is_of_library
from ..base.question import Question
from ..implicit import hidden
from ..memory import containers, heap, outlines, support
from ..memory.handlers import NO, ZERO, Handler, no_cotangents
from . import questions
from .filling import Filled, fill, fill_plain, refuse_leftover
from .templates import ARGS, DOTS, Forward, Program, Pushed, carries_and_varies, constant_program


class Making(enum.Enum):
    """How an object of a class is made."""

    NAMED_TUPLE = "of its fields, by a __new__ that namedtuple wrote"
    ITEMS = "as a list, dict, deque or set of a class of the author's, then by its __init__"
    FIELDS = "of its fields, by an __init__ that dataclass wrote"
    OBJECT = "empty, then by its __init__ in Python, if it has one"


def how_made(registry: Registry, cls: type) -> Making | None:
    """How an object of the class is made; None if that is left to C code or to a method that is not followed:
    the `__call__` of a metaclass, a `__new__`, a library's `__init__`.
    """
    if type(cls).__call__ is not type.__call__:
        return None
    init = cls.__init__  # type: ignore[misc]
    if is_namedtuple(cls) and is_generated(cls.__new__) and init is object.__init__:
        return Making.NAMED_TUPLE
    if container_base(cls) is not None:
        return Making.ITEMS
    if cls.__new__ not in PLAIN_NEW:
        return None
    if dataclasses.is_dataclass(cls) and is_generated(init):
        return Making.FIELDS if _sets_fields_plainly(cls) else None
    followed = isinstance(init, types.FunctionType) and (
        compiled_function(init) is not None or registry.entry(init) is not None
    )
    return Making.OBJECT if followed or init is object.__init__ else None


def _sets_fields_plainly(cls: type) -> bool:
    """Whether setting the fields of a dataclass runs no code of the author's: a `__setattr__`, or a property
    or other descriptor that a field goes by.
    """
    put = cls.__setattr__
    held = (in_class(cls, field.name) for field in dataclasses.fields(cls))
    return (put is object.__setattr__ or is_generated(put)) and all(
        isinstance(x, types.MemberDescriptorType) or not hasattr(type(x), "__set__") for x in held
    )


# -- reverse -------------------------------------------------------------------------------------------------


def constructor(
    pullbacks: Question, cls: type, active: tuple[bool, ...], place: Place | None
) -> Handler | None:
    """The handler that makes an object of the class and its pullback; None for a class that C code makes."""
    if cls in heap.KINDS:
        return heap.KINDS[cls].make
    make = _MAKERS.get(cls) or _MAKERS.get(how_made(pullbacks.cache.registry, cls))
    return None if make is None else functools.partial(make, pullbacks, cls, active, place)


class Maker:
    """Makes the objects of a class, for as long as the class defines their construction as it did.

    It keeps neither the class nor its functions alive, since a notebook cell may redefine them.
    """

    __slots__ = ("_code", "_filled", "_make", "_new", "_of")

    def __init__(self, cls: type, make: Callable[..., Any]) -> None:
        self._of = weakref.ref(cls)
        self._make = make
        self._code, self._new = _says(cls)
        self._filled = Filled.of(cls) if make is _make_object else None

    @classmethod
    def behind(cls, handler: Handler) -> Maker | None:
        """The maker behind a handler from `constructor`; None for any other handler, and for a class of
        containers (other than Counter), whose construction depends on more.
        """
        if type(handler) is not functools.partial or handler.func not in _BY_PYTHON:
            return None
        made = handler.args[1]
        more = issubclass(made, CONTAINER_BASES) and handler.func is not _make_counter
        return None if more else cls(made, handler.func)

    def handler(
        self, pullbacks: Question, cls: type, active: tuple[bool, ...], place: Place | None
    ) -> Handler | None:
        """The handler of a call of the class; None if it is a different class, or has been changed since."""
        if self._of() is not cls or _says(cls) != (self._code, self._new):
            return None
        if self._filled is not None and self._filled.stands(pullbacks, cls):
            return functools.partial(fill, cls, self._filled.kept, place)
        return functools.partial(self._make, pullbacks, cls, active, place)


def _says(cls: type) -> tuple[Any, Any]:
    """How a class defines the construction of its objects: `__init__` and `__new__`, as code if they are in
    Python.
    """
    init, new = cls.__init__, cls.__new__  # type: ignore[misc]
    return getattr(init, "__code__", init), getattr(new, "__code__", new)


def make_plain(
    pullbacks: Question, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any], place: Any
) -> Any:
    """An object of the class, made where no cotangent is wanted; its attributes may be written from then on.
    """
    if _is_of_text(cls, args, kwargs) and _counts_as_python_does(pullbacks, cls):
        return heap.own(cls(*args), False)
    init = cls.__init__  # type: ignore[misc]
    followed = cls.__new__ in PLAIN_NEW and isinstance(init, types.FunctionType) and not is_generated(init)
    is_object = container_base(cls) is None
    if is_object and followed:
        filled = Filled.of(cls)
        if filled is not None and filled.stands(pullbacks, cls):
            return fill_plain(cls, filled.kept, args, kwargs)
    if is_object and not followed:
        x = heap.own(cls(*args, **kwargs), False)
        if dataclasses.is_dataclass(cls):
            _own_defaults(cls, x, len(args), kwargs)
        return x
    x = heap.own(cls.__new__(cls), False)  # type: ignore[call-overload]
    pullbacks.run_plain(init, (x, *args), kwargs, (False,) * (2 + len(args) + len(kwargs)), place)
    return x


def _own_defaults(cls: type, x: Any, count: int, kwargs: dict[str, Any]) -> None:
    """Record the containers that the default factories of a dataclass have made for a new object as made
    during this sweep.
    """
    by_name = cls.__dataclass_fields__  # type: ignore[attr-defined]
    if all(field.default_factory is dataclasses.MISSING for field in by_name.values()):
        return
    for number, field in enumerate(f for f in dataclasses.fields(cls) if f.init):
        if field.default_factory is not dataclasses.MISSING and number >= count and field.name not in kwargs:
            made = getattr(x, field.name)
            if isinstance(made, (list, dict, set, collections.deque)):
                heap.own(made, False)


def keeps_in_sight(cls: Any) -> bool:
    """Whether the objects of a class hold their arguments where they can be followed."""
    return is_authors(cls) or (isinstance(cls, type) and container_base(cls) is not None)


def is_opaque(cls: type) -> bool:
    """Whether the objects of a library's class hide what they hold."""
    if cls in CONTAINERS or cls in heap.KINDS or cls.__module__.lstrip("_") in _HANDING_OUT:
        return False
    return is_of_library(cls)


# Modules with classes whose objects return the very objects they were given.
_HANDING_OUT = frozenset(
    {"builtins", "collections", "contextlib", "functools", "itertools", "operator", "queue", "types"}
    | {"weakref"}
)


# --- plain classes ------------------------------------------------------------------------------------------


def _make_object(
    pullbacks: Question,
    cls: type,
    active: tuple[bool, ...],
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """An object that is created empty, then filled by its `__init__`; also for an author's list, dict, deque
    or set.
    """
    init, is_set = cls.__init__, issubclass(cls, set)  # type: ignore[misc]
    x = heap.own(cls.__new__(cls, *(() if init is not object.__init__ else args)), not is_set)
    if init is set.__init__:
        refuse_in_set([x for x, on in zip(args, active[1:]) if on], place)
        set.__init__(x, *args)
        return x, no_cotangents
    nothing, pullback = None, None
    if init is not object.__init__:
        run = pullbacks.find_target(init, (x, *args), kwargs, (False, True, *active[1:]), place)
        nothing, pullback = run(x, *args, **kwargs)
    if nothing is not None:
        raise TypeError(f"__init__() should return None, not '{type(nothing).__name__}'")

    def back(x_bar: Any) -> Any:
        got = _through_init(x, x_bar, pullback)
        if container_base(cls) is None:
            refuse_leftover(cls, heap.take_all(x), place)
        return got if isinstance(got, AbstractZero) else (NO, *tuple(got)[2:])

    return x, heap.effectful(back)


def _through_init(x: Any, x_bar: Any, pullback: Any) -> Any:
    """Pass the cotangent of a whole object to its attributes, and theirs on through the pullback of
    `__init__`.
    """
    outlines.hand_in((x, {}), x_bar)
    return ZERO if heap.is_idle(pullback, ZERO) else pullback(ZERO)


# --- dataclasses and NamedTuples ----------------------------------------------------------------------------


def _make_dataclass(
    pullbacks: Question,
    cls: type,
    active: tuple[bool, ...] | None,
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A dataclass object, made field by field, then by its `__post_init__`."""
    binder = Binder.of(cls)
    binder.bind(args, kwargs)  # raises Python's own error for wrong arguments
    given = dict(zip(binder.names(len(args)), args, strict=True)) | kwargs
    x = heap.own(object.__new__(cls), True)
    only = []  # the pseudo-fields, which only `__post_init__` gets
    for name, field in cls.__dataclass_fields__.items():  # type: ignore[attr-defined]
        if field._field_type is not dataclasses._FIELD:  # type: ignore[attr-defined]
            if field._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
                only.append(name)
        elif field.init and name in given:
            object.__setattr__(x, field.name, given[field.name])
        elif field.default_factory is not dataclasses.MISSING:
            made = field.default_factory()
            if pullbacks.implicit:
                hidden.refuse_reading(f"the field {field.name}", (field.default_factory, made), place)
            if isinstance(made, (list, dict, collections.deque)):
                heap.own(made, True)
            object.__setattr__(x, field.name, made)
        elif field.default is not dataclasses.MISSING and (field.init or "__slots__" in vars(cls)):
            object.__setattr__(x, field.name, field.default)
    post, pullback = getattr(cls, "__post_init__", None), None
    if post is not None:
        values = (x, *(given[name] if name in given else getattr(cls, name) for name in only))
        flags = (False, *(True,) * len(values))
        _, pullback = pullbacks.find_target(post, values, {}, flags, place)(*values)

    def back(x_bar: Any) -> Any:
        got = _through_init(x, x_bar, pullback)
        left = heap.take_all(x)
        left |= {name: got[2 + k] for k, name in enumerate(only)}
        bars = {name: left.pop(name, ZERO) for name in given}
        if left:
            names = {field.name for field in dataclasses.fields(cls)}
            refuse_leftover(cls, {k: v for k, v in left.items() if k not in names}, place)
        return (NO, *(bars[name] for name in list(given)[: len(args)]), *(bars[name] for name in kwargs))

    return x, heap.effectful(back)


def _make_namedtuple(
    pullbacks: Question,
    cls: type,
    active: tuple[bool, ...],
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A NamedTuple, whose fields are the arguments."""
    y = cls(*args, **kwargs)
    fields = cls._fields  # type: ignore[attr-defined]

    def back(y_bar: Any) -> Any:
        bars = {name: support.part(y_bar, name) for name in fields}
        return (NO, *(bars[name] for name in fields[: len(args)]), *(bars[name] for name in kwargs))

    return y, back


def makes_from_items(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call is `Kind._make(xs)` of a NamedTuple class."""
    if len(args) != 2 or not isinstance(args[0], type) or not is_namedtuple(args[0]):
        return False
    return target is getattr(args[0]._make, "__func__", None)  # type: ignore[attr-defined]


def copier(target: Any, args: tuple[Any, ...]) -> Handler | None:
    """The handler of `x._replace(name=value)` or `Kind._make(xs)`, else None."""
    if makes_from_items(target, args):
        return _make_from_items
    if len(args) != 1:
        return None
    if is_namedtuple(type(args[0])) and target is getattr(type(args[0]), "_replace", None):
        return _replace_items
    return None


def _replace_items(x: Any, /, **changes: Any) -> Any:
    cls = type(x)

    def back(y_bar: Any) -> Any:
        bars = {name: support.part(y_bar, name) for name in cls._fields}
        kept = {name: bar for name, bar in bars.items() if name not in changes}
        return (NO, make(cls, kept), *(bars[name] for name in changes))

    return x._replace(**changes), back


def _make_from_items(cls: Any, items: Any) -> Any:
    given = containers.InsertedItems(items)

    def back(y_bar: Any) -> Any:
        return NO, NO, given.cotangent([support.part(y_bar, name) for name in cls._fields])

    return cls._make(given.items), back


# --- containers of the standard library ---------------------------------------------------------------------


def _make_dict(
    pullbacks: Question,
    cls: Callable[..., Any],
    active: tuple[bool, ...],
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A defaultdict or OrderedDict, empty or filled from a dict."""
    source = args[-1] if args and (len(args) == 2 or cls is not collections.defaultdict) else None
    where = outlines.outline(source)
    y = heap.own(cls(*args, **kwargs), True)
    if not isinstance(source, dict | None) or not set(kwargs).isdisjoint(source or ()):
        raise NotDifferentiableError(
            f"{An(type(y).__name__)} is differentiated only if it is made empty or from a dict",
            place=place,
            fixes=("make it empty and fill it",),
            read="limitations#iteration",
        )
    if cls is collections.defaultdict and y.default_factory is not None:
        heap.made_by(y, functools.partial(_made_entry, pullbacks, y, y.default_factory, place))

    def back(y_bar: Any) -> Any:
        left = outlines.taken_from(y, y_bar)
        found: Any = ZERO
        if source:
            bars = {key: left[key] for key in source if key in left}
            found = outlines.hand_in(where, support.make(dict, bars))
        made = left.get(heap.FACTORY, ZERO)
        return (NO, *(found if x is source else made for x in args), *(left.get(k, ZERO) for k in kwargs))

    return y, heap.effectful(back)


def _made_entry(
    pullbacks: Question, y: collections.defaultdict[Any, Any], factory: Any, place: Place | None
) -> Any:
    """A new entry of a defaultdict and its pullback, to the factory that the dict was made with."""
    if y.default_factory is not factory:
        refuse_attribute("default_factory", y.default_factory, place)
    factory = y.default_factory
    if isinstance(factory, type) and factory.__module__ == "builtins":
        made = factory()
        followed = isinstance(made, (list, dict, set))
        return heap.own(made, type(made) is not set) if followed else made, no_cotangents
    return pullbacks.find(factory, (), {}, (True,), place)()


def _make_deque(
    pullbacks: Question,
    cls: type,
    active: tuple[bool, ...],
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    source = args[0] if args else kwargs.get("iterable")
    items = containers.InsertedItems(source if source is not None else ())
    most = args[1] if len(args) > 1 else kwargs.get("maxlen")
    y = heap.own(collections.deque(items.items, most), True)
    size = len(y)
    dropped = len(items.items) - size  # the first ones, where `maxlen` is less

    def back(y_bar: Any) -> Any:
        left = outlines.taken_from(y, y_bar)
        bars = [ZERO] * dropped + [left.get(key, ZERO) for key in range(size)]
        found = items.cotangent(bars) if source is not None else NO
        return (NO, *(found if x is source else NO for x in (*args, *kwargs.values())))

    return y, heap.effectful(back)


def _make_counter(
    pullbacks: Question,
    cls: Any,
    active: tuple[bool, ...],
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A Counter of a dict, of keywords or of a constant text, made empty and filled as a dict is.

    This is what its own `update` does; if that is redefined, or for other arguments, it is made like any
    object.
    """
    of_dict = len(args) <= 1 and all(type(x) in _DICTS for x in args) and not (args and kwargs)
    of_text = _is_of_text(cls, args, kwargs) and not active[1]
    if not (of_dict or of_text) or not _counts_as_python_does(pullbacks, cls):
        return _make_object(pullbacks, cls, active, place, *args, **kwargs)
    if of_text:
        return heap.own(cls(*args), True), no_cotangents
    x = heap.own(cls(), True)
    _, fill_back = containers.update(x, *args, **kwargs)

    def back(x_bar: Any) -> Any:
        outlines.hand_in((x, {}), x_bar)
        return (NO, *fill_back(ZERO)[2:])

    return x, heap.effectful(back)


def _is_of_text(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call makes a Counter of the letters of a text."""
    return cls is collections.Counter and len(args) == 1 and not kwargs and type(args[0]) is str


def _counts_as_python_does(pullbacks: Question, cls: Any) -> bool:
    """Whether the methods that fill a Counter are Python's own and have no user rule."""
    cache = pullbacks.cache
    if cache.mode != "auto" or cls.__init__ is not _FILLING[0] or cls.update is not _FILLING[1]:
        return False
    entries = [entry for f in _FILLING if (entry := cache.registry.entry(f)) is not None]
    return not any(entry.user for entry in entries)


_FILLING = (
    collections.Counter.__init__,
    collections.Counter.update,
    collections._count_elements,  # type: ignore[attr-defined]
    dict.__init__,
    dict.update,
)
_DICTS = frozenset({dict, collections.Counter, collections.OrderedDict, collections.defaultdict})


def _make_set(
    pullbacks: Question, cls: type, active: tuple[bool, ...], place: Place | None, /, *args: Any
) -> Any:
    """A set; NotDifferentiableError for a varying argument that would lose its cotangent in it."""
    refuse_in_set([x for x, on in zip(args, active[1:]) if on], place)
    return heap.own(set(*args), False), no_cotangents


def refuse_in_set(items: list[Any], place: Place | None) -> None:
    """NotDifferentiableError for items that would lose their cotangents in a set."""
    if not all(map(containers.may_be_in_set, items)):
        raise items_refused(set, place)


def set_finder(active: tuple[bool, ...], place: Place) -> Handler:
    """The function that finds the handler of a set display; varying items that would lose their cotangents
    are refused.
    """

    def make(*items: Any) -> Any:
        refuse_in_set([x for x, on in zip(items, active) if on], place)
        return heap.own(questions.answered(support.set_of, items, {}, place), False), no_cotangents

    return lambda *items: make


def _make_namespace(
    pullbacks: Question,
    cls: type,
    active: tuple[bool, ...],
    place: Place | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    if args:
        programs.check_namespace(args, place)
    y = heap.own(types.SimpleNamespace(**kwargs), True)

    def back(y_bar: Any) -> Any:
        left = outlines.taken_from(y, y_bar)
        return (NO, *(left.get(name, ZERO) for name in kwargs))

    return y, heap.effectful(back)


_MAKERS: dict[Any, Callable[..., Any]] = {
    Making.NAMED_TUPLE: _make_namedtuple,
    Making.ITEMS: _make_object,
    Making.FIELDS: _make_dataclass,
    Making.OBJECT: _make_object,
    collections.deque: _make_deque,
    collections.defaultdict: _make_dict,
    collections.OrderedDict: _make_dict,
    collections.Counter: _make_counter,
    set: _make_set,
    types.SimpleNamespace: _make_namespace,
}
_BY_PYTHON = frozenset({_make_namedtuple, _make_dataclass, _make_object, _make_counter})


# -- forward -------------------------------------------------------------------------------------------------


def pushed_forward(push: Forward, call: Pushed) -> Program | None:
    """The program that makes an object of the class and its tangent; None for a class that C code makes."""
    cls, names, count = call.target, call.names, len(call.args)
    refs, dot_refs = call.refs(), call.dot_refs()
    words, word_dots = dict(zip(names, refs[count:])), dict(zip(names, dot_refs[count:]))
    if issubclass(cls, BaseException):
        if not any(map(carries_and_varies, call.raw[ARGS], call.raw[DOTS])):
            return constant_program(call.raw)
        # The code that catches it must not take numbers from it either (`check_caught`).
        return Program(programs.made_exception, (cls, refs[:count], words), trusted=True)
    making = how_made(push.cache.registry, cls)
    if making is None:
        return None
    if making is Making.NAMED_TUPLE:
        fields = dict(zip(cls._fields, dot_refs[:count])) | word_dots
        whole = tuple([fields.get(name, NO) for name in cls._fields])
        return Program(programs.made_tuple, (cls, refs[:count], words, whole), trusted=True)
    if making is Making.ITEMS:
        base = container_base(cls)
        given = (push, cls, base, refs, dot_refs, names)
        return None if base is set else Program(programs.made_items, given, trusted=True)
    if making is Making.FIELDS:
        code = cls.__init__.__code__  # without keyword-only fields, but with InitVars
        fields = dict(zip(code.co_varnames[1 : code.co_argcount], dot_refs[:count])) | word_dots
        made = programs.made_fields if not hasattr(cls, "__post_init__") else programs.made_with_post_init
        return Program(made, (push, cls, refs[:count], words, fields), trusted=True)
    if cls.__init__ is object.__init__ and call.raw[ARGS]:
        return constant_program(call.raw)  # raises Python's own error
    return Program(programs.made_object, (push, cls, refs, dot_refs, names), trusted=True)
