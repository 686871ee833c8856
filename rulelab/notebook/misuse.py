"""Names in a line that do not exist, cannot be called or do not fit, and what was probably intended."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import types
from collections.abc import Iterable, Mapping
from typing import Any

from IPython.utils.process import arg_split

from ..annotations import signature_of_callable
from ..errors import an
from ..nearest import did_you_mean
from ..rules.twins import is_twin, primal_of
from .cells import MagicError
from .invocations import Invocation
from .names import parameters_of
from .session import lookup, meant_by


def refuse_misfit(method, f: Any, name: str, given: Invocation) -> None:
    """Raise MagicError if the arguments do not fit a function, in Python's words: Python's own error would
    come from a frame inside rulelab.
    """
    if not isinstance(f, (types.FunctionType, types.MethodType)) or not (given.args or given.kwargs):
        return
    signature = signature_of_callable(f, follow_wrapped=False)
    if hasattr(f, "__signature__"):  # which need not be true
        return
    bind = signature.bind if given.args else signature.bind_partial  # only keywords: held fixed
    try:
        bind(*given.args, **given.kwargs)
    except TypeError as error:
        called = f"{name}({', '.join(signature.parameters)})"
        raise MagicError(f"{method.spelled}: the arguments do not fit {called}: {error}") from None


def called_by_words(text: str, names: Mapping[str, Any]) -> str | None:
    """A call for the name of a function, alone or followed by its arguments after a space or `--at`; None for
    anything else.
    """
    found = re.fullmatch(r"([^\W\d][\w.]*)(?:\s+(?:--at\s+)?([\w\s.,]+))?", text)
    f = None if found is None or keyword.iskeyword(found[1]) else lookup(found[1], names)
    if found is None or not callable(f):
        return None
    return f"{found[1]}({', '.join(found[2].replace(',', ' ').split()) if found[2] else parameters_of(f)})"


def with_its_pair(method, options: str, names: Mapping[str, Any]) -> tuple[Any, str] | None:
    """A function, and the line with its copy added, where a magic about both was given only one of them; None
    if the other is not known.
    """
    words = arg_split(options, strict=False)
    named = [word for word in words if all(part.isidentifier() for part in word.split("."))]
    if len(named) != 1 or not any(action.dest == "twin" for action in method.parser._actions):
        return None
    found = lookup(named[0], names)
    if is_twin(found):
        f = primal_of(found)
        pair = getattr(f, "__name__", ""), named[0]
    else:
        f = found
        copies = [name for name, value in names.items() if is_twin(value) and primal_of(value) is f]
        pair = named[0], copies[-1] if copies else ""
    if f is None or not all(pair) or lookup(pair[0], names) is not f:
        return None
    return f, " ".join(" ".join(pair) if word == named[0] else word for word in words)


def refuse_unknown(method, call: ast.Call, called: str | None, names: Mapping[str, Any]) -> None:
    """Raise MagicError for a function or an argument that does not exist: Python's own error comes with a
    traceback and does not suggest a name.
    """
    if called is not None and re.fullmatch(r"[^\W\d][\w.]*", called):
        if called not in names and lookup(called, names) is None:
            raise MagicError(f"{method.spelled}: there is no function {called}{meant_by(called, names)}")
    for given in (*call.args, *(one.value for one in call.keywords)):
        if isinstance(given, ast.Name) and given.id not in names and not hasattr(builtins, given.id):
            known = [name for name in names if not name.startswith("_")]
            raise MagicError(f"{method.spelled}: {given.id} is not defined{did_you_mean(given.id, known)}")


def callable_only(method, found, name: str):
    """`found`, which is called `name` in the line; MagicError if it cannot be called."""
    if not callable(found):
        raise MagicError(f"{method.spelled}: {name} is {an(type(found).__name__)}, which cannot be called")
    return found


def refuse_to_overwrite(method, output: str | None, names: Iterable[str | None]) -> None:
    """Raise MagicError if the result would replace a function that the line names."""
    for name in names:
        if output is not None and name is not None and name.split(".")[0] == output:
            raise MagicError(f"{method.spelled}: -o {output} would overwrite {output}, which the line names")
