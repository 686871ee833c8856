"""Constructors that do nothing but keep what they are given, `self.a = a`, perhaps beside constants and empty
lists and dicts.

Such an `__init__` needs no pass. It runs as it is, and the cotangent of an argument is that of the attributes
that were set to it, as it is for the fields of a dataclass.
"""

from __future__ import annotations

import ast
import inspect
import types
import weakref
from typing import Any, NamedTuple

from ...errors import NotDifferentiableError, Place, RuleLabError, an
from ..base.libraries import compiled_function
from ..base.question import Question
from ..base.source import find_source
from ..memory import crossings, heap, outlines, support
from ..memory.handlers import NO, ZERO

_IMMUTABLE = (int, float, complex, str, bytes, bool, type(None))
_NOTHING: tuple[()] = ()  # there is only one
_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_KEPT: dict[int, tuple[weakref.ref[types.CodeType], Kept | None]] = {}  # by the id of the code


class Kept(NamedTuple):
    """What an `__init__` keeps."""

    of: dict[str, str | None]  # for each attribute the parameter that it is set to; None for any other value
    fresh: tuple[str, ...]  # the attributes that are set to a new list or dict


class Filled:
    """How the objects of a class are filled by an `__init__` that only keeps its arguments, for as long as
    the class is as it was and there is no rule for the `__init__`.
    """

    __slots__ = ("_epoch", "_init", "kept")

    def __init__(self, init: types.FunctionType, kept: Kept) -> None:
        self._init = weakref.ref(init)
        self._epoch = -1  # of the registry, when it was last seen to have nothing for the `__init__`
        self.kept = kept

    @classmethod
    def of(cls, made: type) -> Filled | None:
        """How the objects of a class are filled; None if its `__init__` does anything else."""
        init = made.__init__  # type: ignore[misc]
        if type(init) is not types.FunctionType or compiled_function(init) is not init:
            return None
        kept = _kept_by(init.__code__)
        return None if kept is None else cls(init, kept)

    def stands(self, pullbacks: Question, made: type) -> bool:
        """Whether an object of the class may be filled in this way now."""
        init = self._init()
        if init is None or made.__init__ is not init or pullbacks.implicit or pullbacks.keeps:  # type: ignore[misc]
            return False
        if made.__setattr__ is not object.__setattr__ or not _are_constant(init):
            return False
        if self.kept.fresh and made.__getattribute__ is not object.__getattribute__:
            return False
        registry = pullbacks.cache.registry
        if self._epoch != (epoch := registry.snapshot.epoch):
            if not registry.has_nothing_for(init):
                return False
            self._epoch = epoch
        return _sets_itself(made, self.kept.of)


def fill(cls: Any, kept: Kept, place: Place | None, /, *args: Any, **kwargs: Any) -> Any:
    """The object of such a class, and its pullback."""
    x = heap.own(cls.__new__(cls), True)
    init = cls.__init__
    init(x, *args, **kwargs)
    for name in kept.fresh:
        heap.own(getattr(x, name), True)
    names = init.__code__.co_varnames[1 : 1 + len(args)]
    where: dict[str, Any] = {}  # the outlines of lists and tuples, as for the arguments of a pass
    for name, value in zip((*names, *kwargs), (*args, *kwargs.values())):
        if (type(value) is tuple or isinstance(value, list)) and (found := crossings.first_layer(value)):
            where[name] = found

    def back(x_bar: Any) -> Any:
        if x_bar is not ZERO:
            outlines.hand_in((x, {}), x_bar)
        left, bars = heap.take_all(x), dict.fromkeys((*names, *kwargs), ZERO)
        for name, parameter in kept.of.items():
            if name in left:
                bar = left.pop(name)
                if parameter in bars:
                    bars[parameter] = support.add(bars[parameter], bar)
        if left:
            refuse_leftover(cls, left, place)
        for name, found in where.items():
            bars[name] = outlines.hand_in(found, bars[name])
        return (NO, *bars.values())

    return x, heap.effectful(back)


def fill_plain(cls: Any, kept: Kept, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The object of such a class where no cotangent is wanted."""
    x = heap.own(cls.__new__(cls), False)
    cls.__init__(x, *args, **kwargs)
    for name in kept.fresh:
        heap.own(getattr(x, name), False)
    return x


def refuse_leftover(cls: type, left: dict[Any, Any], place: Place | None) -> None:
    """Raises NotDifferentiableError for a cotangent left at an attribute that no followed code set and that
    the class does not define.
    """
    for name in left:
        if not hasattr(cls, str(name)):
            raise NotDifferentiableError(
                f"The attribute {name} of {an(cls.__name__)} was set in code that cannot be followed",
                place=place,
                fixes=(f"set it by self.{name} = ...",),
                read="limitations#attributes",
            )


def _are_constant(init: types.FunctionType) -> bool:
    """Whether the defaults of a function may neither vary nor change."""
    defaults = init.__defaults__ or ()
    return not init.__kwdefaults__ and all(type(x) in _IMMUTABLE or x is _NOTHING for x in defaults)


def _sets_itself(cls: type, names: dict[str, str | None]) -> bool:
    """Whether an assignment to these attributes of an object sets nothing else."""
    for kind in cls.__mro__:
        if not names.keys().isdisjoint(kind.__dict__):
            break
    else:
        return True
    for kind in cls.__mro__:
        for name in names.keys() & kind.__dict__.keys():
            found = kind.__dict__[name]
            if type(found) is not types.MemberDescriptorType and hasattr(type(found), "__set__"):
                return False
    return True


def _kept_by(code: types.CodeType) -> Kept | None:
    """What a function with this code keeps of its arguments; None if it does anything else."""
    known = _KEPT.get(id(code))
    if known is not None and known[0]() is code:
        return known[1]
    number, kept = id(code), _read(code)
    _KEPT[number] = weakref.ref(code, lambda _: _KEPT.pop(number, None)), kept
    return kept


def _read(code: types.CodeType) -> Kept | None:
    if code.co_flags & _STARS or code.co_kwonlyargcount or code.co_freevars or not code.co_argcount:
        return None
    try:
        node = find_source(code).node
    except RuleLabError:
        return None
    own, *others = code.co_varnames[: code.co_argcount]
    kept: dict[str, str | None] = {}
    fresh: dict[str, bool] = {}
    for number, statement in enumerate(node.body if isinstance(node, ast.FunctionDef) else ()):
        if isinstance(statement, ast.Pass) or (number == 0 and _is_text(statement)):
            continue
        for name, value in _assignments(statement, own):
            if name is None or name.startswith("__"):  # Python changes such names
                return None
            fresh[name] = _is_empty(value)
            if isinstance(value, ast.Name) and value.id in others:
                kept[name] = value.id
            elif fresh[name] or (isinstance(value, ast.Constant) and type(value.value) in _IMMUTABLE):
                kept[name] = None
            else:
                return None
    return Kept(kept, tuple(name for name in fresh if fresh[name])) if kept else None


def _is_empty(value: ast.expr | None) -> bool:
    if isinstance(value, ast.List):
        return not value.elts
    return isinstance(value, ast.Dict) and not value.keys


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _assignments(statement: ast.stmt, own: str) -> list[tuple[str | None, ast.expr | None]]:
    """The attributes that a statement sets, each with its value; without a name if it does anything else."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.annotation, ast.Name):
        target = statement.target
    else:
        return [(None, None)]
    value = statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [(_attribute(one, own), x) for one, x in zip(target.elts, value.elts)]
    return [(_attribute(target, own), value)]


def _attribute(target: ast.expr, own: str) -> str | None:
    """The name that is set in `self.name = ...`; None if the target is anything else."""
    of_own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    return target.attr if of_own and target.value.id == own else None  # type: ignore[attr-defined]
