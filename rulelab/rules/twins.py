"""The twin of a function: a copy `f_cr(x) = f(x)` that can have a rule of its own, so that the two can be
compared.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import keyword
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..annotations import signature_of_callable
from ..errors import RuleRegistrationError, an
from .targets import input_parameters

_MARK = "__rulelab_twin__"
_numbers = itertools.count(1)


def twin(f: Callable[..., Any], name: str | None) -> Callable[..., Any]:
    """Return a new function called `name`, with the signature of `f`, that calls `f`, looked up by its name
    at each call.

    So a redefined `f` takes effect. This holds for a function or class that is found under its own name in
    its module; any other callable is captured.

    >>> import math
    >>> hypot_cr = twin(math.hypot, "hypot_cr")
    >>> hypot_cr(3.0, 4.0), is_twin(hypot_cr)
    (5.0, True)
    """
    _check_name(f, name)
    parameters = _parameters(f)
    namespace = _home(f, parameters)
    if namespace is not None:
        made = _looking_up(f, name, parameters, namespace)
    else:
        made = _holding(f, name, parameters)
    made.__defaults__ = (
        tuple(p.default for p in parameters if p.default is not p.empty and _is_positional(p)) or None
    )
    made.__kwdefaults__ = {
        p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is not p.empty
    } or None
    made.__module__ = "__main__" if namespace is None else namespace.get("__name__", "__main__")
    made.__qualname__ = name
    made.__doc__ = f"The twin of {getattr(f, '__name__', f)}: calls it, and may carry a rule of its own."
    made.__dict__[_MARK] = made.__code__
    return made


def is_twin(function):
    """Whether a function was made by `twin`; false for a wrapper that copied its attributes."""
    return type(function) is types.FunctionType and function.__dict__.get(_MARK) is function.__code__


def primal_of(a_twin):
    """The function that a twin calls now; None if the name it looks up is not defined.

    >>> import math
    >>> primal_of(twin(math.hypot, "hypot_cr")) is math.hypot
    True
    """
    if a_twin.__closure__:
        return a_twin.__closure__[0].cell_contents
    return a_twin.__globals__.get(looked_up(a_twin))


def written(f):
    """The function that an author wrote: `f` itself, or for a twin the Python function that it calls now; for
    twins that call each other in a ring, the last one.

    >>> def area(r): return 3.0 * r * r
    >>> written(twin(area, "area_cr")) is area, written(area) is area
    (True, True)
    """
    met = {id(f)}
    while is_twin(f) and isinstance(primal := primal_of(f), types.FunctionType) and id(primal) not in met:
        met.add(id(primal))
        f = primal
    return f


def looked_up(a_twin):
    """The name that a twin looks up when it is called; None for one that captures its function."""
    return a_twin.__code__.co_names[0] if not a_twin.__closure__ and a_twin.__code__.co_names else None


def _check_name(f, name):
    if not callable(f):
        raise RuleRegistrationError(f"a twin must be made from a callable, not from {an(type(f).__name__)}")
    if not (isinstance(name, str) and name.isidentifier()) or keyword.iskeyword(name):
        raise RuleRegistrationError(f"{name!r} cannot name a function")
    if name == getattr(f, "__name__", None):
        raise RuleRegistrationError(f"a twin of {name} cannot be called {name}: it would call itself")


def _parameters(f):
    if isinstance(f, np.ufunc):
        return input_parameters(f)
    try:
        return list(signature_of_callable(f, follow_wrapped=False).parameters.values())
    except (ValueError, TypeError):
        kinds = (("args", inspect.Parameter.VAR_POSITIONAL), ("kwargs", inspect.Parameter.VAR_KEYWORD))
        return [inspect.Parameter(name, kind) for name, kind in kinds]


def _is_positional(parameter):
    return parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)


def _home(f, parameters):
    """The namespace in which `f` is found under its name, or None."""
    name: Any = getattr(f, "__name__", None)
    if type(f) is types.FunctionType:
        space = f.__globals__
    elif isinstance(f, type):
        space = getattr(sys.modules.get(f.__module__), "__dict__", {})
    else:
        return None
    shadowed = any(p.name == name for p in parameters)
    return space if space.get(name) is f and not shadowed else None


def _looking_up(f, name, parameters, namespace):
    tree = _module([_function(name, f.__name__, parameters)])
    made: dict[str, Any] = {}
    exec(_compiled(tree, name), namespace, made)  # our own syntax tree, made of identifiers only
    return made[name]


def _holding(f, name, parameters):
    held = "primal"
    while any(p.name == held for p in parameters) or held == name:
        held += "_"
    inner = _function(name, held, parameters)
    outer = _bare_function(f"make_{name}", [ast.arg(held)], [inner, ast.Return(ast.Name(name, ast.Load()))])
    made: dict[str, Any] = {"__name__": "__main__"}
    exec(_compiled(_module([outer]), name), made)
    return made[f"make_{name}"](f)


def _bare_function(name, args, body):
    arguments = ast.arguments(posonlyargs=[], args=args, kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[], returns=None)


def _function(name, called, parameters):
    """`def name(parameters): return called(parameters)`; the defaults are set on the function later."""
    by_kind = {kind: [p for p in parameters if p.kind is kind] for kind in inspect._ParameterKind}
    kinds = inspect.Parameter
    star, double = by_kind[kinds.VAR_POSITIONAL], by_kind[kinds.VAR_KEYWORD]
    function = _bare_function(name, [], [ast.Return(_call(called, parameters))])
    function.args.posonlyargs = [ast.arg(p.name) for p in by_kind[kinds.POSITIONAL_ONLY]]
    function.args.args = [ast.arg(p.name) for p in by_kind[kinds.POSITIONAL_OR_KEYWORD]]
    function.args.kwonlyargs = [ast.arg(p.name) for p in by_kind[kinds.KEYWORD_ONLY]]
    function.args.kw_defaults = [None] * len(by_kind[kinds.KEYWORD_ONLY])
    function.args.vararg = ast.arg(star[0].name) if star else None
    function.args.kwarg = ast.arg(double[0].name) if double else None
    return function


def _call(called, parameters):
    args: list[ast.expr] = []
    keywords: list[ast.keyword] = []
    for p in parameters:
        value = ast.Name(p.name, ast.Load())
        if p.kind is p.VAR_POSITIONAL:
            args.append(ast.Starred(value, ast.Load()))
        elif p.kind is p.KEYWORD_ONLY:
            keywords.append(ast.keyword(p.name, value))
        elif p.kind is p.VAR_KEYWORD:
            keywords.append(ast.keyword(None, value))
        else:
            args.append(value)
    return ast.Call(ast.Name(called, ast.Load()), args, keywords)


def _module(body):
    return ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))


def _compiled(tree, name):
    """Compile the tree, and store its source where tracebacks and the compiler look for it."""
    text = ast.unparse(tree) + "\n"
    filename = f"<twin {name} {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    return compile(text, filename, "exec", dont_inherit=True)
