"""What a report advises: in the syntax of the functions, and what a magic shows instead."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import RuleLabError

ONE_SIZE = (
    "only one size was tried, and a rule that is right for this size only would pass too; "
    "try others with sizes="
)
FLOATS = "give floats and arrays of floats with at=: 2.0 for 2, np.array([1.0, 2.0]) for a list"
AT_OR_DOMAIN = "with at= or domain="
MORE_TIME = "give it more time with time_limit=, or shorter arrays"
NO_SCALAR = "leave out scalar=True"
NO_PLANE = "use NumPy's functions, or leave out plane=True"
IN_THE_PLANE = "give plane=True and no complex arguments"

_IN_MAGICS = {
    "try others with sizes=": "try others with --sizes",
    "arrays of floats with at=: ": "arrays of floats after --at: ",
    AT_OR_DOMAIN: "with --at or --domain",
    "time with time_limit=": "time with --seconds N",
    NO_SCALAR: "leave out --scalar",
    NO_PLANE: "use NumPy's functions, or leave out --plane",
    IN_THE_PLANE: "give --plane and no complex arguments",
    "say with domain= which": "say with --domain which",
    "as an integer with at=": "as an integer with --at",
    "that the rule accepts with at=": "that the rule accepts after --at",
}
_NAMES = r"((?:\w+, )*\w+)"
_SAMPLES = re.compile(rf"(give (?:[\w ]+)): at=\({_NAMES},?\)")
_CALLED = re.compile(rf"((?:give arguments[\w ]*|for arrays)): derive_rule\([\w.]+, {_NAMES}\)")


def with_at(asked: str, names: Sequence[str]) -> str:
    """Advice to give arguments, by the names of the parameters.

    >>> with_at("give sample arguments", ("y", "yh")), with_at("give smaller arrays", ("x",))
    ('give sample arguments: at=(y, yh)', 'give smaller arrays: at=(x,)')
    """
    return f"{asked}: at=({', '.join(names)}{',' * (len(names) == 1)})"


def with_arguments(asked: str, f: Callable[..., Any]) -> str:
    """The same for a function whose rule is to be derived.

    >>> def area(w, h): return w * h
    >>> with_arguments("give arguments", area)
    'give arguments: derive_rule(area, w, h)'
    """
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    return f"{asked}: derive_rule({', '.join([f.__name__, *names])})"


def in_magics(text: str) -> str:
    """A text with its advice in the syntax of magics.

    >>> in_magics("no such sample (give sample arguments: at=(y, yh))")
    'no such sample (give sample arguments: --at y, yh)'
    >>> in_magics("give arguments: derive_rule(area, w)"), in_magics("f() got domain=3")
    ('give arguments: --at w', 'f() got domain=3')
    """
    for plain, magic in _IN_MAGICS.items():
        text = text.replace(plain, magic)
    return _CALLED.sub(r"\1: --at \2", _SAMPLES.sub(r"\1: --at \2", text))


def shown_in_magics(found: Any) -> Any:
    """A report, or a verdict, with its advice in the syntax of magics. An error is changed in its place.

    >>> error = RuleLabError("found", fixes=MORE_TIME)
    >>> shown_in_magics(error).fixes
    ('give it more time with --seconds N, or shorter arrays',)
    """
    if isinstance(found, RuleLabError):
        found.fixes = tuple(map(in_magics, found.fixes))
        return found
    if not dataclasses.is_dataclass(found) or isinstance(found, type):
        return found
    changed: dict[str, Any] = {}
    for name in ("why", "advice"):
        if isinstance(words := getattr(found, name, None), str):
            changed[name] = in_magics(words)
    for name in ("verdict", "proof"):
        if dataclasses.is_dataclass(part := getattr(found, name, None)):
            changed[name] = shown_in_magics(part)
    if isinstance(notes := getattr(found, "notes", None), tuple):
        changed["notes"] = tuple(map(in_magics, notes))
    return dataclasses.replace(found, **changed)
