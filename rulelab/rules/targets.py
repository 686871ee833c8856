"""The target of a call: the one object that rules are registered for, however it is called."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy as np

from ..errors import an

# Names of modules in messages; C modules go by the name that is imported.
_MODULES = {"numpy": "np", **{f"_{name}": name for name in ("operator", "functools", "bisect", "heapq")}}
_C_METHODS = (types.BuiltinFunctionType, types.MethodWrapperType)
# np.add.reduce is a new object at each access; the first one represents all
_ufunc_methods: dict[tuple[np.ufunc, str], Any] = {}


def resolve(g):
    """Return `(target, bound)`: the object that rules for `g` are registered for, and a tuple of the
    arguments bound in `g`.

    For a bound method they are the function of the class and `(self,)`; for a bound C method the descriptor
    on the type; for an instance with a Python `__call__` that method; everything else is its own target, with
    nothing bound.

    >>> resolve(np.zeros(2).sum)
    (<method 'sum' of 'numpy.ndarray' objects>, (array([0., 0.]),))
    """
    kind = type(g)
    if kind is types.FunctionType or kind is np.ufunc or isinstance(g, type):
        return g, ()
    if kind is types.MethodType:
        target, bound = resolve(g.__func__)
        return target, (*bound, g.__self__)
    if kind in _C_METHODS:
        return _resolve_c_method(g)
    call = getattr(kind, "__call__", None)  # noqa: B004 (which one, not whether)
    if type(call) is types.FunctionType:
        return call, (g,)
    return g, ()


def _resolve_c_method(g):
    owner = g.__self__
    if owner is None or isinstance(owner, types.ModuleType) or g.__name__ == "__new__":
        return g, ()  # a static method, although it has an owner
    if isinstance(owner, np.ufunc):
        return _ufunc_methods.setdefault((owner, g.__name__), g), ()
    for cls in owner.__mro__ if isinstance(owner, type) else type(owner).__mro__:
        found = cls.__dict__.get(g.__name__)
        if found is not None and type(found) is not types.FunctionType:  # None if super() skipped it
            return (found, (owner,)) if callable(found) else (g, ())
    return g, ()


def key_of(g):
    """The key under which rules for `g` are registered, in words: a function, a class, a method and its
    class.

    >>> key_of(np.sin), key_of(int), key_of(np.zeros(2).sum)
    ('the ufunc np.sin', 'the class int: its constructor', 'the method ndarray.sum, which the ndarray has')
    >>> class Base:
    ...     def __call__(self, x): return x
    >>> class Sub(Base): pass
    >>> key_of(Sub())
    'the method Base.__call__ of the base class Base of Sub: for calls of a Sub'
    """
    target, bound = resolve(g)
    name = name_of(target)
    if isinstance(target, type):
        return f"the class {name}: its constructor"
    if bound:
        kind = type(bound[-1]).__name__
        owner = _class_with(type(bound[-1]), target)
        inherited = owner is not None and owner is not type(bound[-1])
        base = f" of the base class {owner.__name__} of {kind}" if inherited else ""
        use = f": for calls of {an(kind)}" if g is bound[-1] else f", which the {kind} has"
        return f"the method {name}{base}{use}"
    if isinstance(target, np.ufunc):
        return f"the ufunc {name}"
    if isinstance(getattr(target, "__self__", None), np.ufunc):
        return f"the method {name} of a ufunc"
    if isinstance(target, types.FunctionType):
        return f"the function {name}"
    if isinstance(target, (*_C_METHODS, types.MethodDescriptorType, types.WrapperDescriptorType)):
        return f"the C function {name}"
    return f"the object {name}, of the class {type(target).__name__}"


def _class_with(kind, target):
    """The class in the MRO of `kind` that defines a method."""
    return next((cls for cls in kind.__mro__ if any(value is target for value in vars(cls).values())), None)


def name_of(target):
    """The name of a target in messages: `f`, `Bar.method`, `math.sin`, `np.sum`, `ndarray.sum`.

    >>> name_of(np.sin), name_of(np.ndarray.sum), name_of(np.add.reduce), name_of(int)
    ('np.sin', 'ndarray.sum', 'np.add.reduce', 'int')
    """
    if isinstance(target, np.ufunc):
        short = target.__name__
        return f"np.{short}" if getattr(np, short, None) is target else short
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None) or repr(target)
    name = name.rsplit("<locals>.", 1)[-1]
    owner = getattr(target, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"{name_of(owner)}.{target.__name__}"
    module = getattr(target, "__module__", None)
    if isinstance(target, (type, types.MethodDescriptorType, types.WrapperDescriptorType)) or "." in name:
        return name
    if isinstance(module, str) and not isinstance(target, types.FunctionType) and module != "builtins":
        return f"{_MODULES.get(module) or module.replace('numpy.', 'np.', 1)}.{name}"
    return name


def input_parameters(ufunc: np.ufunc) -> list[inspect.Parameter]:
    """The array parameters of a ufunc, without `out=` and other keyword-only parameters.

    >>> [p.name for p in input_parameters(np.add)]
    ['x1', 'x2']
    """
    names = ["x"] if ufunc.nin == 1 else [f"x{number + 1}" for number in range(ufunc.nin)]
    return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
