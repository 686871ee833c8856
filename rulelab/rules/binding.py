"""Bind the arguments of a call to the target's signature, with defaults filled in; and the parameters of rule
functions.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from ..annotations import signature_of_callable
from ..tangents.classes import made_by_python

_VARARGS, _VARKEYWORDS = 0x04, 0x08
_MOST_SIGNATURES = 4096
# id of an immortal C callable or class -> (the callable, its signature or None)
_signatures: dict[int, tuple[Any, inspect.Signature | None]] = {}


class Binder:
    """Binds calls of one target. `Binder.of(target)` returns the right kind; for a Python function, the
    signature is read again at each call.

    >>> def f(x, y=2.0, *rest, k=1): ...
    >>> Binder.of(f).bind((5.0,), {})
    ((5.0, 2.0), {'k': 1})
    """

    __slots__ = ("target",)

    def __init__(self, target):
        self.target = target

    @property
    def keyword_only(self):
        """The names of the keyword-only parameters."""
        return ()

    @staticmethod
    def of(target):
        """Return the binder of a target: of a function, a class with a Python constructor, or another
        callable with a signature.
        """
        if type(target) is types.FunctionType:
            return FunctionBinder(target)
        if isinstance(target, type):
            return _of_class(target)
        signature = _signature(target)
        return Binder(target) if signature is None else SignatureBinder(target, signature)

    def bind(self, args, kwargs):
        """Return `(positional, keyword_only)`; for a target without a signature, the arguments as they
        are.
        """
        return tuple(args), dict(kwargs)

    def names(self, count):
        """The names of the first `count` positional arguments, for messages."""
        return tuple(f"argument {i + 1}" for i in range(count))


class _Misfit(Exception):
    """Raised if the arguments of a call do not fit the parameters."""


class FunctionBinder(Binder):
    """Binds calls of a Python function, from its code and its current defaults.

    The first `hidden` parameters (`self` of a constructor) are not given by the caller.
    """

    __slots__ = ("hidden",)

    def __init__(self, target, hidden=0):
        self.target = target
        self.hidden = hidden

    @property
    def keyword_only(self):
        """The names of the keyword-only parameters."""
        code = self.target.__code__
        return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]

    def bind(self, args, kwargs):
        __tracebackhide__ = True
        code = self.target.__code__
        if not kwargs and not code.co_kwonlyargcount and len(args) == code.co_argcount - self.hidden:
            return args, {}
        try:
            return self._bind_slowly(args, dict(kwargs))
        except _Misfit:
            pass
        # The call raises Python's own message before any of the function runs.
        self.target(*(None,) * self.hidden, *args, **kwargs)
        raise TypeError(f"The arguments do not fit the signature of {self.target.__qualname__}()")

    def _bind_slowly(self, args, kwargs):
        code = self.target.__code__
        count = code.co_argcount - self.hidden
        names = code.co_varnames[self.hidden : code.co_argcount]
        if len(args) > count and not code.co_flags & _VARARGS:
            raise _Misfit
        defaults = self.target.__defaults__ or ()
        positional = list(args[:count])
        for index in range(len(positional), count):
            positional.append(
                self._value(names[index], index - count + len(defaults), defaults, kwargs, index)
            )
        keyword_only = {**self._keyword_only_values(kwargs), **kwargs}
        if kwargs and not code.co_flags & _VARKEYWORDS:
            raise _Misfit
        return (*positional, *args[count:]), keyword_only

    def _value(self, name, at, defaults, kwargs, index):
        if index + self.hidden >= self.target.__code__.co_posonlyargcount and name in kwargs:
            return kwargs.pop(name)
        if at >= 0:
            return defaults[at]
        raise _Misfit

    def _keyword_only_values(self, kwargs):
        values, defaults = {}, self.target.__kwdefaults__ or {}
        for name in self.keyword_only:
            if name in kwargs:
                values[name] = kwargs.pop(name)
            elif name in defaults:
                values[name] = defaults[name]
            else:
                raise _Misfit
        return values

    def names(self, count):
        code = self.target.__code__
        plain = code.co_varnames[self.hidden : code.co_argcount]
        if count <= len(plain) or not code.co_flags & _VARARGS:
            return (*plain, *(f"argument {i + 1}" for i in range(len(plain), count)))[:count]
        star = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        return (*plain, *(f"{star}[{i}]" for i in range(count - len(plain))))


class _Slot:
    """Placeholder for an argument, identified by its position or its name."""

    __slots__ = ("key",)

    def __init__(self, key):
        self.key = key


# (id of a signature, number of positional arguments, *names) -> (the signature, where each argument goes)
_orders: dict[tuple[Any, ...], tuple[inspect.Signature, tuple[Any, ...], dict[str, Any]]] = {}


class SignatureBinder(Binder):
    """Binds calls of a C callable or a class with a signature. Where each argument of a C callable goes
    depends only on the number of positional arguments and the names of the others, so it is determined once
    for each of these combinations.
    """

    __slots__ = ("signature",)

    def __init__(self, target, signature):
        self.target = target
        self.signature = signature

    @property
    def keyword_only(self):
        """The names of the keyword-only parameters."""
        return tuple(p.name for p in self.signature.parameters.values() if p.kind is p.KEYWORD_ONLY)

    def bind(self, args, kwargs):
        if isinstance(self.target, type):
            return self._bind_slowly(args, kwargs)
        key = (id(self.signature), len(args), *kwargs)
        known = _orders.get(key)
        if known is None or known[0] is not self.signature:
            slots = tuple(map(_Slot, range(len(args))))
            order = self._bind_slowly(slots, {name: _Slot(name) for name in kwargs})
            if len(_orders) >= _MOST_SIGNATURES:
                _orders.clear()
            known = _orders[key] = (self.signature, *order)
        given = {**dict(enumerate(args)), **kwargs}
        positional, keyword_only = known[1:]
        return (
            tuple([given[x.key] if type(x) is _Slot else x for x in positional]),
            {name: given[x.key] if type(x) is _Slot else x for name, x in keyword_only.items()},
        )

    def _bind_slowly(self, args, kwargs):
        bound = self.signature.bind(*args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        if not isinstance(self.target, type):
            _drop_defaults(self.signature, bound.arguments, given)
        positional, keyword_only = [], {}
        for name, parameter in self.signature.parameters.items():
            if name not in bound.arguments:
                continue
            value = bound.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional.extend(value)
            elif parameter.kind is parameter.VAR_KEYWORD:
                keyword_only.update(value)
            elif parameter.kind is parameter.KEYWORD_ONLY:
                keyword_only[name] = value
            else:
                positional.append(value)
        return tuple(positional), keyword_only

    def names(self, count):
        parameters = self.signature.parameters.values()
        plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        star = next(
            (p.name for p in self.signature.parameters.values() if p.kind is p.VAR_POSITIONAL), "argument"
        )
        return tuple(plain[i].name if i < len(plain) else f"{star}[{i - len(plain)}]" for i in range(count))


def _drop_defaults(signature, arguments, given):
    """Remove the keyword-only defaults, and the positional ones after the last argument that was given.

    Defaults of C functions mean nothing to a rule (`out=None`, `<no value>`), and rules seldom name all of
    them.
    """
    trailing = True
    for name, parameter in reversed(list(signature.parameters.items())):
        positional = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if name in given:
            trailing = trailing and not positional
        elif trailing or not positional:
            arguments.pop(name, None)


def parameter_names(function) -> tuple[str, ...] | None:
    """The parameter names of a rule function; None if it takes arbitrary keywords or is not a Python
    function.
    """
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & _VARKEYWORDS:
        return None
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def positional_parameters(function) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of the positional parameters of a rule function, in order, and the defaults among them."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return (), {}
    names, defaults = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
    return names, dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))


def _of_class(cls):
    """Return the binder of a class: of its Python constructor, if it has exactly one and no custom metaclass
    call.
    """
    if type(cls).__call__ is type.__call__:
        init, new = cls.__init__, cls.__new__
        if type(init) is types.FunctionType and type(new) is types.BuiltinFunctionType:
            return FunctionBinder(init, hidden=1)
        if type(new) is types.FunctionType and init is object.__init__:
            return FunctionBinder(new, hidden=1)
    # A class made in Python can change, and be garbage-collected.
    signature = _signature(cls, keep=not made_by_python(cls))
    return Binder(cls) if signature is None else SignatureBinder(cls, signature)


def _signature(target, keep=True):
    known = _signatures.get(id(target))
    if known is not None and known[0] is target:
        return known[1]
    signature = _plain_signature(target)
    if signature is None:
        try:
            signature = signature_of_callable(target)
        except (ValueError, TypeError):
            signature = None
    if keep:
        if len(_signatures) >= _MOST_SIGNATURES:
            _signatures.clear()
        _signatures[id(target)] = (target, signature)
    return signature


def plain_names(target):
    """The parameter names of a C function of a module whose parameters are all positional-only, without
    defaults, as in most of `math`; None for any other.

    `inspect` parses this text with Python's tokenizer, whose patterns cost a first gradient 3 ms.
    """
    text = getattr(target, "__text_signature__", None) if type(target) is types.BuiltinFunctionType else None
    if text is None or not text.startswith("($module, ") or not text.endswith(", /)"):
        return None
    names = text[len("($module, ") : -len(", /)")].split(", ")
    return names if all(map(str.isidentifier, names)) and inspect.unwrap(target) is target else None


def _plain_signature(target):
    names = plain_names(target)
    if names is None:
        return None
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names])
